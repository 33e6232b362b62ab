/* text.h: the words of the printed form, shared by disasm.c and asm.c, so that
 * what one writes the other reads.
 *
 * A program is directives, one per line and row of a table, then code:
 *
 *     .registers v 4 i 2 m 2 c 3
 *     .tensor t0 "A" input f64 (0) format 2 dense(0) compressed(1)
 *     .extent e0 dim t0 0
 *     .merge g0 lo root hi e0 produce 0x1 { follow c0 }
 *     .code
 *         loop i0, m0, g0
 *
 * A `;` outside quotes begins a comment. Values are written as the bits of
 * their class (integers as such), so that each reads back to itself; comments
 * say what they are.
 */
#ifndef STC_VM_TEXT_H
#define STC_VM_TEXT_H

#include "../fn/functions.h"
#include "program.h"

typedef struct op_row {
    const char *text, *operands, *effect;
} op_row;

/* By opcode; NULL beyond the last. */
extern const op_row op_rows[];
static inline const op_row *op_at(int op)
{
    return (unsigned)op < OP_COUNT ? &op_rows[op] : NULL;
}

/* Whether an instruction begins a block; ends one. `else` ends one and begins another. */
static inline bool op_opens(int op)
{
    return op == OP_LOOP || op == OP_IF || op == OP_WHILE;
}
static inline bool op_closes(int op)
{
    return op == OP_END || op == OP_ENDIF || op == OP_ENDWHILE;
}

/* What a reference by an operand of that letter (opcodes.def) begins with, as in v0; 0: it
 * is none. Registers may be `root`. */
char operand_prefix(char letter);
static inline bool prefix_of_registers(char prefix)
{
    return prefix == 'v' || prefix == 'i' || prefix == 'm' || prefix == 'c';
}
/* By ext_op, a letter for each operand: tensor, mode, extent, or constant k. */
extern const char *const ext_operands[];

/* Words by number, ended by NULL: for enums that have no names elsewhere. */
extern const char *const role_words[];  /* tensor_role */
extern const char *const ext_words[];   /* ext_op      */
extern const char *const merge_words[]; /* merge_role  */
extern const char *const flag_words[];  /* FMT_ bits   */
extern const char *const said_words[];  /* SAID_ bits from SAID_FORMAT on */

/* One instruction, without its comment; names: the program it belongs to. */
void insn_print(const insn *in, textbuf *out);
/* All directives: everything before .code. */
void tables_print(const program *p, textbuf *out);
/* The code, each line followed by what note prints (NULL: nothing). */
typedef void (*line_note)(void *context, int pc, textbuf *out);
void code_print(const program *p, textbuf *out, line_note note, void *context);

/* The opcode table of vm/README.md, as Markdown (opdoc.c). */
void opcode_reference(textbuf *out);

#endif
