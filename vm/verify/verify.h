/* verify.h: what the verifier's files share: its abstract state.
 *
 * Every register of main code and every tensor has a cell. A cell's value says
 * what is known of it: 0 is nothing (never written, or not the same on all
 * paths). Values of cursors and tensors are unique to the instruction that set
 * them, so that "unchanged" is one comparison; a cursor remembers the value of
 * its tensor and of its parent's cell, and is valid while both still hold it.
 *
 * A result is assembled in order: the coordinate that `at` places on a level that
 * appends, or above one, is closed by `keep` before the next one is placed. Each such
 * level of a result has a cell, too, its *place*: P_CLOSED, or the value of the cursor
 * whose coordinate is open there. So an append always finds the fibers before it
 * complete, whatever path led to it, and nothing has to be checked when the program runs.
 *
 * Clocks and passes have 64 bits: no file is long enough to bring them round.
 *
 * Loops and branches are one pass: changes go into a log, each with the cell
 * as it was. At a loop's end, what differs from the loop's start is unknown
 * from there on, and must not have been read, as it was at the start, within
 * the loop: the second round would find something else there. Integers and masks
 * that a loop writes differ: none is carried on from round to round, or out of it.
 */
#ifndef STC_VM_VERIFY_H
#define STC_VM_VERIFY_H

#include "../fn/functions.h"
#include "../code/program.h"

typedef struct cell {
    uint64_t v;           /* what is known                                    */
    uint64_t up_v, t_v;   /* cursors: values of the parent's and tensor's cell */
    uint64_t bits;        /* masks: those that loop and `present` have set or cleared */
    uint64_t stamp, read; /* clock when it was set, and last read              */
    uint16_t up;          /* cursors: the parent's register or ROOT           */
    uint16_t chain;       /* subsections: how many of one level are one in the other */
} cell;

typedef struct change {
    int idx;
    bool dirty; /* a jump left with something else in the cell */
    cell old;
} change;

/* A branch's outcome, kept while the other one is looked at. */
typedef struct outcome {
    int idx;
    uint64_t v;
} outcome;

typedef struct vblock {
    int op, pc;
    uint64_t start; /* clock                     */
    int64_t log;    /* length of the log then     */
    int64_t then;   /* outcomes, for else         */
    int64_t other;  /* else: length of the log    */
    const merge_desc *merge;
} vblock;

/* Tensor states, in the low bits of their cells' values. */
enum { T_READY = 1, T_ASSEMBLING, T_COLLECTING, T_MASK = 3 };
/* A place where no coordinate is open: no cursor has this value. */
enum { P_CLOSED = 1 };
/* Subsections of one level, one in the other: a statement has no more indices. */
enum { SUBSECT_CHAIN = 64 };
/* Cursor states: opened, and not moved yet; placed at a coordinate or on nothing, since it
 * was located, sought, or is walked by a loop around; a result's place; the first two for
 * subsections. */
enum { C_OPEN = 1, C_PLACED, C_RESULT, C_SUBSECT, C_WINDOW };

/* What operands number, and where that has cells. */
enum {
    FILE_V, /* registers */
    FILE_I,
    FILE_M,
    FILE_C,
    FILE_T, /* rows of the program's tables */
    FILE_E,
    FILE_K,
    FILE_G,
    FILE_U,
    FILE_F, /* of the machine's */
    FILE_Y,
    FILE_Z,
    FILE_NUMBER,
    FILE_COUNT
};
typedef struct operand_file {
    int limit, first; /* operands are below it; registers: their first cell */
} operand_file;

typedef struct verifier {
    ctx *cx;
    arena own;
    const program *p;
    int pc;
    const user_fn *fn; /* the function looked at, NULL in main code      */
    cell *cell;
    int ncell;
    int v0, i0, m0, c0, t0, p0; /* first cell of each kind                */
    int *place;                 /* per tensor: the first place of its levels */
    int nv;                     /* value registers of what is looked at   */
    operand_file file[FILE_COUNT];
    uint64_t *seen, *changed; /* per cell: number of the pass             */
    uint64_t pass, clock;
    uint64_t epoch;
    change *log;
    int64_t nlog, log_cap;
    outcome *out;
    int64_t nout, out_cap;
    int64_t work, told; /* steps of the proof beyond one an instruction: bounded;
                           those that the machine has been told of */
    vblock block[BLOCKS_MAX];
    int depth;
} verifier;

stc_status refuse(verifier *vf, const char *text, ...) ERROR_LIKE(2, 3);

/* verify_state.c */
stc_status cell_set(verifier *vf, int idx, cell c);
stc_status
verify_account(verifier *vf); /* bounds the work done, and tells the machine of it */
/* Steps of work: of instructions, and of what nested blocks have changed. */
static inline stc_status verify_spend(verifier *vf, int64_t n)
{
    enum { TELL = 1 << 12 };
    vf->work += n;
    return vf->work - vf->told < TELL ? STC_OK : verify_account(vf);
}
stc_status cell_put(verifier *vf, int idx, uint64_t v); /* value registers */
stc_status cell_known(verifier *vf, int idx);           /* integers: written */
stc_status mask_known(verifier *vf, int m, uint64_t bits);
static inline void cell_read(verifier *vf, int idx)
{
    vf->cell[idx].read = ++vf->clock;
}
stc_status block_push(verifier *vf, int op, const merge_desc *m);
stc_status block_else(verifier *vf);
stc_status block_endif(verifier *vf);
stc_status loop_close(verifier *vf);
/* A jump to the end of the n-th enclosing loop or while, or out of it. */
stc_status loop_leave(verifier *vf, int n, bool loops_only);

/* The value of a tensor's cell: when it came to that, and to what. */
static inline uint64_t tensor_value(verifier *vf, int state)
{
    return ++vf->epoch << 2 | (uint64_t)state;
}

/* The value of a cursor's cell: when it was set, and what it walks. */
static inline uint64_t cursor_value(verifier *vf, int kind, int t, int l)
{
    return ++vf->epoch << 24 | (uint64_t)t << 8 | (uint64_t)l << 3 | (uint64_t)kind;
}
static inline int cursor_kind(uint64_t v)
{
    return (int)(v & 7);
}
static inline int cursor_level(uint64_t v)
{
    return (int)(v >> 3 & 31);
}
static inline int cursor_tensor(uint64_t v)
{
    return (int)(v >> 8 & 0xffff);
}

/* verify_cursor.c: cursors, merges, results. */
/* Whether cursor register c (not ROOT) stands where it says; marks it read. */
bool cursor_valid(verifier *vf, int c);
stc_status verify_cursor(verifier *vf, const insn *in);
stc_status verify_loop(verifier *vf, const insn *in);
/* Register x of a file is no coordinate or mask of a loop that is open. */
stc_status verify_own(verifier *vf, int file, int x);
/* The bits of a mask that a merge's operands have. */
uint64_t merge_bits(const merge_desc *m);
stc_status verify_result(verifier *vf, const insn *in);
/* verify.c: so many integer registers, from one on, are written. */
stc_status verify_integers(verifier *vf, int first, int n);
stc_status tensor_state(verifier *vf, int t, int state);

/* verify_tables.c: everything but the code. */
stc_status verify_tables(const program *p);

#endif
