/* program.h: a program: code, and the tables its operands point into.
 *
 * What lowering builds, .stb files hold, the verifier reads, and the linker
 * turns into threaded code. It depends on the expression, formats, types and
 * fills, never on shapes or data; extents are expressions over the shapes of
 * the tensors bound, evaluated when it runs.
 *
 * Registers are four files of their own: integers i0… (64-bit coordinates),
 * values v0… (class fixed by the verifier), masks m0…, cursors c0….
 */
#ifndef STC_VM_PROGRAM_H
#define STC_VM_PROGRAM_H

#include "../../formats/tensor.h"

typedef enum opcode {
#define OP(NAME, text, operands, effect) OP_##NAME,
#include "opcodes.def"
    OP_COUNT
} opcode;

#define ROOT 0xffff /* as a cursor operand: the root of a tensor */
/* How deep loops, whiles and branches may nest: the verifier's limit. */
#define BLOCKS_MAX 256

typedef struct insn {
    uint16_t op;
    uint16_t arg[7]; /* a … g */
} insn;

/* ---- extents: small expressions over shapes ------------------------------------ */

typedef enum ext_op {
    EXT_CONST,    /* k                                                */
    EXT_DIM,      /* size of mode b of tensor a                        */
    EXT_ADD,      /* ext a + ext b                                     */
    EXT_MULC,     /* ext a * k                                         */
    EXT_ADDC,     /* ext a + k                                         */
    EXT_FLOORDIV, /* floor(ext a / k), k > 0                           */
    EXT_MIN,      /* min(ext a, ext b)                                 */
    EXT_MAX0,     /* max(ext a, 0)                                     */
    EXT_MUL,      /* ext a * ext b                                     */
    EXT_SPAN,     /* what `span` or `bound` gave it last; 0 before     */
} ext_op;

typedef struct extent {
    uint8_t op;
    uint16_t a, b; /* earlier extents, or tensor and mode (EXT_DIM)     */
    int64_t k;
} extent;
/* Whether it is made of two others; what it is, a (and b) being its extents: false if it is
 * a number that 64 bits hold, or comes from elsewhere (EXT_DIM, EXT_SPAN). */
static inline bool extent_of_two(const extent *e)
{
    return e->op == EXT_ADD || e->op == EXT_MIN || e->op == EXT_MUL;
}
bool extent_value(const extent *e, int64_t a, int64_t b, int64_t *out);

/* A relation that must hold when tensors are bound. `text` completes the
 * message, e.g. "index j of A(i,j), mode 1" against "of x(j), mode 0". */
typedef enum ext_rel { REL_EQ, REL_LE } ext_rel;
typedef struct ext_check {
    uint8_t rel;
    uint16_t a, b;
    span at;
    char *text; /* printf-like: first %a, then %b are replaced by the numbers */
} ext_check;

/* ---- tensors ------------------------------------------------------------------- */

typedef enum tensor_role {
    ROLE_INPUT,  /* bound by the host                                        */
    ROLE_OUTPUT, /* a result the host can ask for                            */
    ROLE_INOUT,  /* both: bound by the host if it is, read before written    */
    ROLE_TEMP,   /* the program's own                                        */
    ROLE_WORK,   /* a workspace                                              */
} tensor_role;

typedef enum ws_policy {
    WS_AUTO,
#define WS_POLICY(NAME, name, meaning) WS_##NAME,
#include "ws_policies.def"
    WS_POLICY_COUNT
} ws_policy;

/* By what a workspace of so many indices that is left to the machine is kept, and when;
 * for people (workspace.c). */
const char *ws_rule(int order);

typedef struct prog_tensor {
    char *name; /* "" for temporaries                                     */
    uint8_t role;
    stc_type type;
    int order;
    format fmt;
    value fill;      /* in the type's class                                    */
    bool fill_later; /* set by set.fill when it runs                           */
    uint16_t shape[STC_MAX_ORDER]; /* extents: for all but inputs              */
    uint8_t policy; /* ws_policy, of a workspace                              */
    bool single;    /* its merges go through a copy (ws_merge.c)               */
    int64_t capacity;
    bool keep_while; /* a conversion: reuse while tensor `source` is unchanged */
    uint16_t source;
    uint8_t declared; /* SAID_ bits: what was declared of it, not chosen       */
    /* Of a step's result: with fewer entries than `least`, or more than `most`, a run ends
     * behind it (machine_stopped). most 0: whatever it has. Not in files. */
    int64_t least, most;
} prog_tensor;

/* Of a tensor that was declared beside the source, not in it. */
enum { SAID_NAME = 1, SAID_FORMAT = 2, SAID_TYPE = 4, SAID_FILL = 8, SAID_ALL = 15 };

/* ---- merges -------------------------------------------------------------------- */

/* How an operand takes part in a loop. Bit b of the mask is operand b. */
typedef enum merge_role {
    MERGE_WALK,   /* an open cursor whose coordinates drive the loop          */
    MERGE_FOLLOW, /* an open cursor, sought at each candidate                 */
    MERGE_LOCATE, /* located at each candidate below its parent               */
    MERGE_KNOWN,  /* resolved further out: its bit is fixed during the loop   */
} merge_role;

typedef struct merge_operand {
    uint8_t role;
    uint16_t cursor;            /* the cursor (WALK, FOLLOW: open; LOCATE: to be placed)  */
    uint16_t tensor, level, up; /* LOCATE: where, below which cursor           */
    uint16_t shift; /* LOCATE: integer register added to coef * index, or ROOT */
    int64_t coef;   /* LOCATE: 1 for a bare index                             */
} merge_operand;

#define MERGE_TABLE_MAX 6 /* operands that a one-word table serves */

typedef struct merge_desc {
    uint16_t lo, hi; /* extents of the loop's range; lo may be ROOT: 0        */
    bool universe;   /* coordinates where no operand drives may produce       */
    /* `skip` uses a merge's table alone: its operands only count the bits.     */
    uint8_t count;
    merge_operand *operand;
    uint64_t produce; /* truth table over the mask, for count <= 6             */
    uint8_t *postfix; /* else: postfix Boolean program over its bits           */
    int postfix_len;
} merge_desc;

enum { PF_AND = 64, PF_OR, PF_NOT, PF_TRUE, PF_FALSE }; /* 0…63: push a bit */

/* Whether mask produces. */
bool merge_produces(const merge_desc *m, uint64_t mask);
/* Whether it produces whatever is present; it may say no for postfix programs that do. */
bool merge_always(const merge_desc *m);
/* Whether it may produce a mask whose bits in `care` are those of `fixed`; it may say yes
 * for postfix programs that don't. */
bool merge_may(const merge_desc *m, uint64_t care, uint64_t fixed);

/* Tables with operand bits put in; see tables.c. */
uint64_t table_fix(uint64_t table, int bit, bool set); /* bit's value is known     */
uint64_t table_live(uint64_t table);                   /* OR over subsets          */
bool postfix_eval(const uint8_t *pf, int len, uint64_t mask);
/* Whether some mask with exactly `fixed` bits among `care`, others free, may
 * produce: never false when one does. */
bool postfix_may(const uint8_t *pf, int len, uint64_t care, uint64_t fixed);
/* masks of a six-bit table in which bit b is set */
uint64_t table_bit(int b);

/* ---- the program --------------------------------------------------------------- */

typedef struct constant {
    uint8_t cls; /* vclass; integers for ICONST, OPENAT are CLASS_I64 */
    value v;
} constant;

/* A user's function; or the host's, which has a name and classes, no code, and
 * as many registers as parameters. */
typedef struct user_fn {
    char *name;
    bool host;
    uint16_t params;
    uint8_t cls[8];      /* classes of the parameters                            */
    uint8_t result;      /* class                                                */
    uint32_t begin, end; /* its instructions; parameters arrive in v0, v1, …   */
    uint16_t nv;         /* value registers of its frame                         */
} user_fn;

typedef struct program {
    ctx *cx;
    arena own; /* this and all that is below */
    insn *code;
    int ncode, code_cap;
    span *at;                  /* per instruction: the place in `source` (debug lines) */
    const char *source, *file; /* the source may belong to the program's maker */
    prog_tensor *tensor;
    int ntensor, tensor_cap;
    extent *ext;
    int next, ext_cap;
    ext_check *check;
    int ncheck, check_cap;
    constant *konst;
    int nconst, const_cap;
    merge_desc *merge;
    int nmerge, merge_cap;
    user_fn *fn;
    int nfn, fn_cap;
    int nv, ni, nm, nc; /* registers of the main code                          */
    /* Instructions before it are left out by runs whose operands are what they were
     * (keep.c); 0: none are. Of tensors KEPT_ bits, NULL before that is settled. */
    int kept;
    uint8_t *in_kept;
    /* The source and what was declared are what the program was compiled from, and a plan
     * of it depends on what is bound; `like`: statistics it was planned for, 0: none. */
    bool notation;
    uint64_t like;
    bool foreign; /* not from our compiler: its results are checked before
                     anything reads them                                 */
} program;

/* Building. Those that return an id return -1 with the diag filled. */
program *program_new(ctx *cx);
void program_free(program *p);
int program_emit(program *p, span at, opcode op, const uint16_t *args, int n);
int program_const(program *p, vclass cls, value v);   /* shared if equal        */
int program_extent(program *p, extent e);             /* shared if equal        */
int program_check(program *p, ext_check c);           /* copies text            */
int program_tensor(program *p, const prog_tensor *t); /* copies name           */
int program_merge(program *p, const merge_desc *m);   /* copies operands, tables */
int program_fn(program *p, const user_fn *f);         /* copies name            */
char *program_text(program *p, const char *s);        /* a copy, NULL: no memory */
/* Forgets the rows that were added after there were so many. */
void program_rewind(program *p, int tensors, int extents, int checks);

/* Whether the first p->kept instructions can be left out; if not they are no more. */
enum { KEPT_READ = 1, KEPT_MADE = 2 };
stc_status program_keep(program *p);

/* Reading and writing (stb.c, asm.c, disasm.c). */
stc_status program_encode(const program *p, void **bytes, size_t *size);
stc_status program_decode(ctx *cx, const void *bytes, size_t size, program **out);
stc_status program_dump(const program *p, textbuf *out);
stc_status program_assemble(ctx *cx, const char *text, const char *file, program **out);

/* The plans of one text for data of several kinds, in one file: the first is the program
 * itself, which program_decode gives alone. plans_decode has room for PLANS_MAX in p; the
 * others use the first one's text, and are freed before it. */
enum { PLANS_MAX = 9 };
stc_status plans_encode(program *const *p, int n, void **bytes, size_t *size);
stc_status plans_decode(ctx *cx, const void *bytes, size_t size, program **p, int *n);

/* Proves the program safe for any tensors of its formats (verify.c). */
stc_status program_verify(const program *p);

/* ---- running (machine.h holds the rest) ---------------------------------------- */

typedef struct machine machine; /* a linked program with its registers and tensors */

/* Links a verified program; the machine keeps using p, which outlives it. */
stc_status machine_new(const program *p, machine **out);
void machine_free(machine *mc);
/* The tensor in a slot: inputs are the host's, all others the machine's own. Only inputs
 * and inouts are bound. */
stc_status machine_bind(machine *mc, int slot, tensor *t);
/* Whether t is bound to the slot, and is as the last run found it. The caller must give no
 * two tensors the same generation, since addresses are used again. */
bool machine_has(const machine *mc, int slot, const tensor *t);
/* Slots that keep a conversion while its operand is what it was. machine_stale: the operand
 * bound now, if the slot has no conversion of it as it is; NULL: it has, or keeps none.
 * machine_converted: the slot's conversion, and of what; NULL: it has none of the operand
 * as it is. machine_adopt gives the slot a conversion of the bound operand that was made
 * elsewhere; false: it isn't what the slot needs. */
const tensor *machine_stale(const machine *mc, int slot);
tensor *machine_converted(const machine *mc, int slot, const tensor **from);
bool machine_adopt(machine *mc, int slot, tensor *made);
/* What is bound there may be changed in place by the next run; if that fails, it is as it
 * was. */
void machine_yield(machine *mc, int slot);
tensor *machine_tensor(machine *mc, int slot);
/* About what its own tensors and workspaces take. */
uint64_t machine_bytes(const machine *mc);
/* Whether the last run left out what is kept of the program (p->kept). Like machine_has,
 * only for who gives no two tensors the same generation. */
bool machine_kept(const machine *mc);
/* Gives slot's tensor away; the slot gets a fresh one at the next run. */
tensor *machine_take(machine *mc, int slot);
/* The values of slot's result are stored in the host's n elements by later runs, made there
 * or copied in the end; NULL: in memory of the machine's. What was there of the result is
 * forgotten. The same of a level's array, always copied. */
void machine_lend(machine *mc, int slot, void *vals, int64_t n, bool made_there);
stc_status machine_lend_array(machine *mc, int slot, int l, stc_array_role role,
                              index_array room);
stc_status machine_run(machine *mc);
/* The slot behind which the last run ended, though it isn't done, since that has other
 * entries than thought (prog_tensor); -1: it is done. */
int machine_stopped(const machine *mc);
/* Whether runs end so; they do. */
void machine_look(machine *mc, bool looks);
/* What each loop runs on: dump with tiers; executions and times if profiled. */
stc_status machine_dump(const machine *mc, textbuf *out);
stc_status machine_profile(const machine *mc, textbuf *out);
/* The nanoseconds that the last run took for a result, from the end of the one before it
 * on; negative: not profiled, or none. */
double machine_spent(const machine *mc, int slot);

#endif
