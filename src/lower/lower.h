/* lower.h: from concrete index notation to bytecode.
 *
 * lower_plan appends a statement's code to the plan's program. What a loop
 * iterates and how was settled by src/plan; here every node becomes the few
 * instructions that it stands for, and registers are handed out.
 */
#ifndef STC_LOWER_LOWER_H
#define STC_LOWER_LOWER_H

#include "../plan/plan.h"

/* A reduction that is evaluated where it is read: lazy.c. */
typedef struct lazy_value {
    const cin *node; /* NULL: it isn't lazy                                  */
    int value, done; /* registers, if it is evaluated once                   */
    uint64_t bound;  /* what was so where it was planned                     */
    uint16_t *subsect;
} lazy_value;

typedef struct lowering {
    plan *pl;
    program *p;
    span at;                         /* the place that emitted code belongs to      */
    stc_status status;               /* the first failure; emitting goes on idly    */
    int ni, nv, nm, nc;              /* registers handed out                        */
    uint16_t index[64];              /* the register of each index                  */
    uint16_t *cursor[PLAN_ACCESSES]; /* by level                                  */
    uint16_t *subsect;       /* by access and level: a cursor at subsections; ROOT: none */
    int load[PLAN_ACCESSES]; /* a register that holds the value, -1: none   */
    uint16_t place[STC_MAX_ORDER]; /* cursors of what is assembled: the result, …    */
    int placed;                    /* … how many of its levels stand on a coordinate */
    int target;                    /* … or a part of it that is computed first       */
    uint64_t bound;
    uint64_t computed, checked; /* computed indices: registers hold them; not outside */
    uint64_t inside_all;        /* those that were found inside before all loops  */
    bool ranges_ahead;          /* ranges are set that depend on no index         */
    bool ahead;                 /* a subscript is computed, and may not be needed */
    int chosen;               /* where this register is false the identity is reduced; -1 */
    const bexpr *held;        /* the condition that rounds around are left for; NULL     */
    int mask;                 /* the mask register of the loop that nodes are in         */
    const cin *inside;        /* that loop                                               */
    int first[RELATIONS_MAX]; /* registers: where a relation's positions begin   */
    bool in_function;
    int *local;    /* inside an inlined function: the register of each of its locals */
    bool on_fills; /* expressions are lowered over fills          */
    int taken;     /* whether the side of a choice that is lowered is; -1: it is */
    /* by temporary: as many as there are, not cleared */
    uint16_t temp[256];    /* its register                                            */
    uint16_t rest[256];    /* fills that are reduced before all loops, ROOT: none     */
    uint16_t started[256]; /* of those without identity: has one come?                */
    bool told[256];        /* it has its register: what tells of a lazy one             */
    lazy_value lazy[256];
} lowering;

stc_status lower_plan(plan *pl);
void lower_nodes(lowering *lo, const cin *c); /* a list of nodes */
void lower_forget(lowering *lo);              /* what has been loaded */
/* A merge of so many operands, from one extent to another. */
int lower_merge(lowering *lo, const lattice_table *t, int count, uint16_t first,
                uint16_t end, merge_operand *operand, bool universe);

/* skips.c: on to the next round of a loop unless the table over its mask says otherwise;
 * unless terms have reached the leaf; unless the node's value is true; the same of a leaf's
 * guard, or *ends: what is guarded ends with an endif. */
void lower_skip(lowering *lo, int mask, int index, const lattice_table *t, int bits);
void lower_reach(lowering *lo, const cin *c, bool evaluated);
void lower_only(lowering *lo, const cin *c);
void lower_guard(lowering *lo, const cin *c, bool *ends);

/* lazy.c: remembers a reduction; the register of one, which is evaluated now if it is
 * lazy and has to be. */
void lower_lazy(lowering *lo, const cin *c);
int lower_demanded(lowering *lo, const bexpr *r);

/* emit.c */
int lower_emit(lowering *lo, opcode op, int n, const int *args);
#define EMIT(lo, op, ...)                                                                  \
    lower_emit(lo, op, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)),                  \
               (int[]){__VA_ARGS__})
int lower_ireg(lowering *lo);
int lower_vreg(lowering *lo);
int lower_mreg(lowering *lo);
int lower_creg(lowering *lo);
int lower_const(lowering *lo, vclass cls, value v);
int lower_iconst(lowering *lo, int64_t k);
int lower_zero(lowering *lo); /* an integer register that holds 0 */
/* A register with the value of f, leaving out `without` (an index, or -1);
 * ROOT if what is left is nothing and `maybe_none`. */
int lower_affine(lowering *lo, const affine *f, int without, bool maybe_none);
int lower_extent_length(lowering *lo, int index); /* hi - lo of an index         */
/* How many places there are for a reduction's indices, in f64, which doesn't wrap. */
int lower_rounds_of(lowering *lo, const bexpr *r);

/* expr.c: a value register with the value of e, in the class of its type. */
int lower_expr(lowering *lo, const bexpr *e);
/* The same where no operand is stored. */
int lower_fill(lowering *lo, const bexpr *e);

/* gather.c: computed subscripts. Those of f have their values in their registers; one
 * of a place's, or of an access's, is outside: an error; so is one of e's, or of what e's
 * are made of. */
void lower_computed(lowering *lo, const affine *f);
void lower_bounds(lowering *lo, const affine *sub, int order);
void lower_inside(lowering *lo, const paccess *x);
void lower_taken(lowering *lo, const bexpr *e);
/* All nodes; twice where subscripts that are the same throughout stand in sides that may
 * not be taken. Whether an access may lie outside, as far as that isn't known. */
void lower_all(lowering *lo);
bool lower_may_leave(const lowering *lo, const bexpr *e);

/* subsect.c: a cursor over the subsections of an access's level l, that the loop
 * over `index` visits (-1: where all that is bound puts it); root: the first
 * level without a coordinate. */
int lower_subsect(lowering *lo, int access, int l, int root, int index);

/* range.c: the extents of a loop's range, those set here that comparisons leave. */
void lower_range(lowering *lo, const cin *loop, uint16_t *first, uint16_t *end);
void lower_ranges_ahead(lowering *lo, cin *c); /* in a list of nodes, those that can be */
void lower_since(lowering *lo, const cin *c);
void lower_ended(lowering *lo, const cin *loop, uint16_t end); /* behind it */
/* In place of a loop: its index gets what an equality says that it is. Where that is
 * outside, the loop around goes on, or `chosen` is false. */
void lower_pin(lowering *lo, const cin *loop);

/* inline.c: whether a function becomes straight-line code where it is called; that
 * code; the built-in that it is another name of, -1 if none. */
bool inline_fits(const bfunction *f);
int lower_inline(lowering *lo, const bfunction *f, const int *args);
int inline_builtin(const bfunction *f, vclass cls);

/* function.c: the user's functions that e calls, before the code of e; calls;
 * acc = f(acc, v); v combined with itself as often as e reduces. */
void lower_functions(lowering *lo, const bexpr *e);
void lower_merging(lowering *lo, const cin *c); /* those that workspaces merge by */
int lower_user(lowering *lo, const bexpr *e);
void lower_combine(lowering *lo, int fn, const bfunction *ufn, vclass cls, int acc, int v);
int lower_repeated(lowering *lo, const bexpr *e, int v);

#endif
