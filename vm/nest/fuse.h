/* fuse.h: what a loop does, in a form that faster tiers can take over.
 *
 * A loop_summary is read off the base operations of a loop whose body is
 * straight-line but for the loops inside it: where its operands' places come
 * from, what is computed as a graph of nodes in the order of execution, and
 * where the results go. Superinstructions (super.c) are matched against it; the
 * strip engine (strip.c) runs any single loop, the cascade (cascade.c) any
 * tree of them. Nothing in it depends on data: views of fibers are asked for
 * when the loop runs.
 */
#ifndef STC_VM_FUSE_H
#define STC_VM_FUSE_H

#include "../core/machine.h"

enum { NODE_MAX = 64, PLACE_MAX = 32, ICOL_MAX = 16, STEP_MAX = 128, SINK_MAX = 4 };
enum { CHILD_MAX = 4 }; /* loops side by side in the body of another */

/* An integer of the body: the loop's coordinate, or made from it. */
typedef enum icol_kind {
    ICOL_LOOP,
    ICOL_FIXED,
    ICOL_CONST,
    ICOL_MULADD,
    ICOL_VALUE, /* a computed subscript: node a's value */
    ICOL_GIVEN, /* put there by who runs the strip */
} icol_kind;
typedef struct icol {
    uint8_t kind;
    bool varies;
    uint16_t a, b; /* FIXED: register a; MULADD: icol a * k + icol b */
    int64_t k;
    const lop *at;
} icol;

/* Where a tensor's value or fiber is. */
typedef enum place_kind {
    PLACE_OPERAND, /* of the merge: an open or located cursor             */
    PLACE_FIXED,   /* a cursor that the loop leaves alone                 */
    PLACE_LOCATE,  /* located in the body                                 */
    PLACE_SEEK,    /* opened in the body, and sought                      */
    PLACE_AT,      /* a place in a result                                 */
    PLACE_GIVEN,   /* put there by who runs the strip                     */
} place_kind;
typedef struct place {
    uint8_t kind;
    bool varies, sought, stored, kept;
    uint16_t cursor;        /* its register; ROOT: the root              */
    uint16_t operand;       /* OPERAND: number in the merge              */
    uint16_t tensor, level; /* LOCATE, SEEK, AT                          */
    uint16_t up, icol;      /* the same: below which place, at what      */
    uint16_t shift;         /* SEEK for a loop: its icol, or UNLINKED     */
    int64_t coef;           /* the same: the level is read at coef * index + shift */
    const lop *at, *keep;
} place;
#define PLACE_ROOT 0 /* the first place of a summary: the root of a tensor */

/* A value of the body. */
typedef enum node_kind {
    NODE_LIVE,   /* value register a as it was before the loop */
    NODE_CONST,  /* constant a                                 */
    NODE_LOAD,   /* tensor a at place b                        */
    NODE_FN,     /* fn in class fn_cls of arg[0 … nargs)       */
    NODE_CALL,   /* the function that `at` calls, of arg[0 … nargs)     */
    NODE_CONV,   /* arg[0] from class fn_cls to cls            */
    NODE_WRAP,   /* arg[0] through element type `type`         */
    NODE_INDEX,  /* icol a                                     */
    NODE_EXTENT, /* extent a                                   */
    NODE_GIVEN,  /* put there by who runs the strip            */
    NODE_START,  /* the neutral value of fn                    */
    NODE_INNER,  /* what a loop inside reduces, from arg[0] on   */
} node_kind;
typedef struct node {
    uint8_t kind, cls, fn_cls, type, nargs;
    bool varies;
    int16_t fn;
    uint16_t a, b, arg[3];
    uint16_t uses;
    const lop *at;
} node;

/* What happens in the body, in order, besides sinks. */
typedef enum step_kind {
    STEP_ICOL,
    STEP_PLACE,
    STEP_NODE,
    STEP_PRESENT,
    STEP_FILLBIT,
    STEP_SKIP,
    STEP_INNER,
    STEP_WITHIN,
    STEP_MARK,
    STEP_BOUNDED
} step_kind;
typedef struct step {
    uint8_t kind, bit;
    uint16_t a, b; /* icol, place or node; PRESENT: place a; FILLBIT: tensor a at
                      place b; SKIP: merge a; WITHIN: icol a is below extent b;
                      MARK: node a; BOUNDED: as WITHIN, or it is a fault              */
} step;

typedef enum sink_kind {
    SINK_REDUCE, /* value register a = fn(a, node)      */
    SINK_STORE,  /* tensor a at place b = node          */
    SINK_ACC,    /* tensor a at place b = fn(it, node)  */
    SINK_WSADD,  /* workspace a at icols from b on      */
    SINK_HOST,   /* register a = the host's function of call `at`, of a and node */
    SINK_WSCALL, /* as WSADD, by a user's function (ws_user_fn)                  */
} sink_kind;
typedef struct sink {
    uint8_t kind, cls;
    bool right;   /* REDUCE: the register is the second argument                       */
    uint8_t moot; /* once sink number moot - 1 is settled its value doesn't matter; or 0 */
    bool tells;   /* … but for being above 0: it has to be by then                      */
    int32_t fn;
    uint16_t a, b, node;
    uint16_t icol[STC_MAX_ORDER];
    const lop *at;
} sink;

/* Into a register; others go into tensors. */
static inline bool sink_reduces(const sink *x)
{
    return x->kind == SINK_REDUCE || x->kind == SINK_HOST;
}

typedef struct loop_summary {
    loop *l;
    int nicol, nplace, nnode, nstep, nsink;
    bool effects; /* more than reductions, here or in the loops inside */
    icol icol[ICOL_MAX];
    place place[PLACE_MAX];
    node node[NODE_MAX];
    step step[STEP_MAX];
    sink sink[SINK_MAX];
} loop_summary;

/* What is there of `from`: the rest of the arrays is left as it is. */
void summary_copy(loop_summary *to, const loop_summary *from);

/* An operand that has an open cursor: followers are walked as well where fibers
 * are plain memory, since the table keeps what only they have from producing. */
static inline bool operand_walks(const merge_operand *o)
{
    return o->role == MERGE_WALK || o->role == MERGE_FOLLOW;
}

/* The operation of lop k, before linking specialised it. */
static inline const insn *insn_of(const machine *mc, int k)
{
    return &mc->p->code[mc->origin[k]];
}

/* How a loop hangs in the body of the loop around it: what it leaves alone is a
 * column of the outer loop, one lane a round of it. */
#define UNLINKED 0xffff
typedef struct nest_links {
    uint16_t up[PLACE_MAX];     /* OPERAND: outer place it is below; FIXED: itself   */
    uint16_t shift[PLACE_MAX];  /* OPERAND that is located: outer icol, or UNLINKED */
    uint16_t node[NODE_MAX];    /* node that is worked out in the outer body: there */
    uint16_t icol[ICOL_MAX];    /* FIXED: outer icol                                */
    uint16_t results[SINK_MAX]; /* REDUCE: outer NODE_INNER; else UNLINKED         */
    uint16_t result;            /* that of the first sink                          */
} nest_links;

/* A loop, and the loops in its body in their order. */
typedef struct loop_tree loop_tree;
struct loop_tree {
    loop_summary s;
    nest_links link; /* to the loop around it */
    bool read;       /* this loop, and all inside it */
    int nchild;
    loop_tree *child[CHILD_MAX];
};

/* summary_reads.c: where main code reads value registers, worked out once for all its
 * loops; NULL: no memory. */
typedef struct value_reads value_reads;
value_reads *value_reads_of(const machine *mc, arena *a);
/* Whether what loop l leaves in register reg may be read behind it, or in the next
 * round of the loop around. */
bool value_read_after(const machine *mc, const value_reads *reads, const loop *l,
                      uint16_t reg);
/* … or from lop k behind it on. */
bool value_read_from(const machine *mc, const value_reads *reads, const loop *l, int k,
                     uint16_t reg);

/* Reads loop l into all[its number - first's]; those inside it are there already.
 * False: something in its body has no place in a summary. */
bool summary_read(const machine *mc, const value_reads *reads, loop *l, const loop *first,
                  loop_tree *all);

/* The value that fn leaves what it is combined with, from either side; truth
 * values for the functions of those. False: it has none. */
bool reduction_start(int fn, vclass cls, value *out);
/* Whether that value leaves v as it is: what is no normal form (a truth value of 7, in
 * code that nobody compiled) becomes one. True of functions without it. */
bool reduction_keeps(int fn, vclass cls, value v);

/* The tiers: each takes the loop over and gives *out, or leaves it NULL. */
stc_status strip_fuse(machine *mc, const loop_summary *s, super **out);
stc_status cascade_fuse(machine *mc, const loop_tree *t, super **out);
enum { INTERVAL_LOOPS = 4 };
/* Whether a loop makes the same of all coordinates at which nothing is stored, and reduces
 * it so that they count as one. */
bool interval_gaps(const loop_summary *s);
/* The n loops s[0] (innermost) … s[n-1], links[k] from s[k] out, which are changed: *out,
 * if it is there, is what runs them where the interval tier can't after all. */
stc_status interval_fuse(machine *mc, loop_summary *s, nest_links *links, int n,
                         super **out);

#endif
