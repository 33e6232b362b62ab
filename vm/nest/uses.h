/* uses.h: what an instruction reads, writes and names: from the letters of its row in
 * opcodes.def, and of a loop from its merge, too.
 *
 * Whoever follows registers through a program asks here. Registers of all four files are
 * cells in a row: values from 0 on, integers, masks, cursors.
 */
#ifndef STC_VM_USES_H
#define STC_VM_USES_H

#include "fuse.h"

static inline int cells_of(const program *p)
{
    return p->nv + p->ni + p->nm + p->nc;
}

/* Calls fn for each cell that an instruction reads, until fn says no; for each that it
 * writes. Loops read and write what is in their merges. */
typedef bool (*cell_test)(void *who, const insn *in, int cell);
typedef void (*cell_fn)(void *who, int cell);
bool insn_each_read(const program *p, const insn *in, cell_test fn, void *who);
void insn_each_write(const program *p, const insn *in, cell_fn fn, void *who);

bool insn_reads_value(const insn *in, uint16_t reg);

/* How often each tensor is named by instructions, added to `named`, which machines keep: so
 * that nobody goes through the whole program for one loop of it. And whether one outside of
 * a loop names tensor t. */
void tensors_named(const program *p, uint32_t *named);
bool named_outside(const machine *mc, const loop *l, uint16_t t);

/* The loop that begins at lop k. */
loop *loop_of(const machine *mc, int k);

/* The instruction before lop k that opened a cursor last, in whatever way; NULL: none. */
const insn *cursor_opened(const machine *mc, int k, uint16_t reg);

#endif
