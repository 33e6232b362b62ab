/* plan.h: from index notation to concrete index notation.
 *
 *     bstmt ── schedule ── accesses ── algebra ── order ── build ── analyze ──► plan
 *
 * - schedule: what `with` asks for: an order, loops over other indices
 *   (relation.c, loops.c), parts that are computed first (precompute.c);
 * - accesses: the distinct accesses of a statement, each a stack of levels
 *   with the affine coordinate at which it is read;
 * - algebra: for every expression a set, over "access is stored here", outside
 *   of which it is known to equal a given constant (array programming paper,
 *   §5.2, generalised);
 * - order: the loop order and the place of the workspace, by estimated work;
 * - build: loops, temporaries, workspaces: a tree of `cin`;
 * - analyze: for each loop, which cursors walk, follow or are located, and the
 *   truth tables of its lattice (§6; formats paper §4.2–4.4). What can't be
 *   iterated in the loop order is marked for conversion, and analyzed again.
 *
 * Everything asks levels for capabilities and properties, never for a kind.
 */
#ifndef STC_PLAN_PLAN_H
#define STC_PLAN_PLAN_H

#include "../lang/lang.h"

#define PLAN_ACCESSES 64

/* ---- accesses --------------------------------------------------------- */

typedef struct plevel {
    const level_kind *kind;
    uint32_t props;
    affine at; /* the coordinate, over the statement's indices     */
} plevel;

typedef struct paccess {
    int tensor;        /* slot read: the operand's, or its conversion's    */
    int source;        /* slot of the operand itself                       */
    const affine *sub; /* by mode                                          */
    bool pad;
    bool waits;      /* in a side that may not be taken                  */
    uint8_t copied;  /* COPY_… */
    uint64_t reads;  /* accesses: what its computed subscripts are made of */
    int group;       /* accesses of different terms stay apart           */
    const char *why; /* set: it must be converted, for this reason       */
    bool converted;
    bool native; /* read by its own levels: it must be followed                */
    bool drain;  /* a workspace that is only read back in order                */
    int levels;
    plevel *level;
} paccess;

/* ---- sets: where an expression may differ from a constant --------------- */

typedef enum pset_op {
    PS_NONE,
    PS_ALL,
    PS_STORED,
    PS_ABSENT,
    PS_AND,
    PS_OR,
    PS_WHERE,   /* where a comparison of indices is true: range.c        */
    PS_HAD_TERM /* only in what reach.c asks for                    */
} pset_op;

typedef struct pset {
    int op;     /* pset_op */
    int access; /* STORED, ABSENT                                   */
    bool exact; /* STORED: and the value isn't the fill, as far as tested */
    const struct pset *a, *b;
    const bexpr *of; /* HAD_TERM: a reduction, or a condition; WHERE: the comparison */
    bool own_fill;   /* … a term: where its operand isn't its fill; else: the identity */
} pset;

/* What an expression is where none of its operands is stored. */
typedef struct fillval {
    enum { FILL_KNOWN, FILL_LATER, FILL_VARIES } kind; /* later: needs extents   */
    value v;    /* in the class of the expression's type            */
    bool omits; /* a call with an algebra: v is what it is where that leaves it out */
} fillval;

enum { RELATIONS_MAX = 32 };

typedef enum relation_kind { REL_SPLIT, REL_FUSE, REL_POS } relation_kind;

/* Indices in place of others: relation.c. */
typedef struct relation {
    relation_kind kind;
    int parent[2], child[2]; /* indices; -1: there is no second one           */
    int64_t size;            /* SPLIT: of a block                             */
    const bexpr *access;     /* POS: what is walked                           */
    const affine *sub;       /* POS: its subscripts, over the loops' indices  */
    int level, levels;       /* POS: the levels of it                         */
    int *own;                /* POS: the index of each                        */
    int split;               /* POS: what splits the positions; -1: nothing   */
    bool real;               /* the children are loops of their own           */
    const ast *at;
} relation;

/* ---- concrete index notation ---------------------------------------------- */

typedef enum cin_kind {
    CIN_FORALL,  /* for each value of index in space: body                     */
    CIN_TEMP,    /* temp = fn's identity                                       */
    CIN_REDUCE,  /* temp = fn(temp, value)                                     */
    CIN_REST,    /* if count has less than value's elements: the fill of what
                    value reduces belongs to temp too                        */
    CIN_REQUIRE, /* temp has had an element                                   */
    CIN_LAZY,    /* body: what gives temp, to be run where temp is read, if ever */
    CIN_WHEN,    /* if value is true: body                                     */
    CIN_ONLY,    /* on to the next round of the loop around unless value is true */
    CIN_BEGIN,   /* assembly of tensor target starts                           */
    CIN_STORE,   /* target(…) = value                                          */
    CIN_ACC,     /* target(…) = fn(target(…), value)                           */
    CIN_SINCE,   /* extent source = where the range of index begins             */
    CIN_FINISH,
    CIN_WSBEGIN, /* workspace target is empty                                  */
    CIN_WSADD,   /* target(…) = fn(target(…), value), in any order             */
    CIN_WSEND,   /* target is sorted and merged: readable                      */
    CIN_CONVERT, /* target = tensor source, in target's format                 */
    CIN_MOVE,    /* target takes source's contents                             */
    CIN_UPDATE,  /* target = fn(target, source) where workspace source has entries; with
                    sub: in a block that begins there, and goes on by as many steps */
} cin_kind;

/* A level resolved at a loop: its role in the merge, or after it. */
typedef struct loop_operand {
    int access, level;
    uint8_t role; /* merge_role                                       */
    bool affine;  /* not just the loop's own index                    */
    bool subsect; /* its subsections: the level stays unresolved      */
    int root;     /* subsect: the first unresolved level              */
} loop_operand;

typedef struct loop_late {
    int access, level;
    bool located;           /* by locate; else open and seek                    */
    const relation *stored; /* not NULL: it stands where a position says      */
    int bit;                /* in the mask, -1 if its presence doesn't matter   */
} loop_late;

/* A truth table over the presence mask (program.h: merge_desc). */
typedef struct lattice_table {
    uint64_t produce;
    uint8_t *postfix; /* over six bits                                    */
    int postfix_len;
} lattice_table;

/* An index that an equality settles: pin.c. */
typedef enum pin_way {
    PIN_ROUND,    /* a loop of one round                                    */
    PIN_STRAIGHT, /* code of the loop around, which goes on to its next round if there is
                     nothing                                                */
    PIN_CHOSEN    /* the same; if there is nothing, the identity is reduced */
} pin_way;

typedef struct pin {
    bexpr *to; /* what it equals; NULL: no such                            */
    pin_way way;
} pin;

typedef struct loop_info {
    int count; /* operands of the merge, in order of mask bits     */
    loop_operand *operand;
    int late_count; /* levels whose coordinate was bound further out    */
    loop_late *late;
    int fill_count; /* bits to be cleared where the value is the fill   */
    struct {
        int bit, access;
    } * fill;
    int bits;            /* of the skip table: count and those of late       */
    bool universe, skip; /* skip: tested after late operands and fills       */
    pin pin;
    lattice_table loop_table, skip_table;
} loop_info;

enum { REACH_MAX = 16 };

/* bexpr.asked: not; where its operand isn't the identity; where it isn't its fill. */
enum { ASKED_NOT, ASKED_OF_IDENTITY, ASKED_OF_FILL };

/* What a leaf tests before it stores: reach.c. */
typedef struct reach {
    const pset *set;
    int n;
    bexpr *of[REACH_MAX]; /* in order of their bits: reductions, which had a term,
                             or conditions, which are true                     */
    int first;            /* the first of these bits in the loop's mask        */
    lattice_table table;
} reach;

typedef struct cin {
    cin_kind kind;
    struct cin *body, *next;
    int index;         /* FORALL                                           */
    const pset *space; /* FORALL                                           */
    loop_info *info;   /* FORALL: after analyze                            */
    int target;        /* a tensor slot                                    */
    int source;
    int temp;            /* TEMP, REDUCE, REST                               */
    int count;           /* REST: the temp that counts elements              */
    int loops;           /* REDUCE: how many loops around are the reduction's */
    uint16_t first, end; /* FORALL: the range's extents, where they are set ahead; 0: no */
    int since; /* FORALL: it begins at this extent, which is where it ended; 0: no */
    int fn;    /* fn_id                                            */
    bfunction *ufn;
    vclass cls;
    bexpr *value;
    bexpr *guard;      /* WSADD: only where this is true, if not NULL; STORE, REDUCE:
                          where it isn't, nothing changes                 */
    int nsub;          /* STORE, ACC, WSADD: the target's levels, in order: */
    affine *sub;       /* the coordinate of each                           */
    bool append;       /* STORE: levels are kept as loops close            */
    bool once;         /* LAZY: for all rounds of loops that follow        */
    bool stops;        /* REDUCE: its first term but the identity ends its loops */
    bool tells;        /* TEMP, REDUCE: whether another one had a term     */
    struct cin *after; /* … REDUCE: that one, before it in the list    */
    reach *reach;      /* leaves: NULL: whenever they are come to      */
    uint64_t uses;     /* accesses in it and below                     */
    uint64_t needs;    /* … REDUCE: of the space alone                 */
} cin;

/* What `with` asks for. */
typedef struct schedule {
    int nseq, nrel;
    uint64_t gone;   /* parents: no loops any more                           */
    uint64_t shared; /* by threads: loops outside all others                 */
    const ast *shared_at;
    uint8_t policy;   /* ws_policy                                            */
    bool single;      /* one all array: merges go through a copy              */
    int64_t capacity; /* of a workspace; 0: chosen                            */
    /* as many as there are; not cleared */
    int16_t rank[64];    /* the place of a loop in the order, -1: anywhere     */
    const char *seq[64]; /* names of loops in the order asked for             */
    relation rel[RELATIONS_MAX];
} schedule;

enum { PRECOMPUTED_MAX = 8, PRECOMPUTE_INSIDE = 1 << 20, PRECOMPUTE_LATER };

/* A part of the right side that is evaluated first: precompute.c. */
typedef struct precomputed {
    int slot;                        /* of the workspace                      */
    int order, index[STC_MAX_ORDER]; /* its indices on the producer's side    */
    bexpr *value, *whole;            /* what is put in; with the reduction that moved    */
    int fn;                          /* what reduces it over `moved`,         */
    bfunction *ufn;                  /* or the user's                         */
    stc_type type;                   /* of the reduction, if anything moved   */
    uint64_t vars, moved, outer;     /* indices: W's, reduced before, outside of it */
    bool appended;                   /* W isn't a workspace, but assembled in order     */
    const bexpr *search;             /* the reduction that W is the beginning of: first.c */
    bexpr *found;                    /* … W as it is read there                         */
    const pset *space;
    int depth; /* it is produced inside so many shared loops; INSIDE: of others;
                  LATER: not yet                                           */
    const ast *at;
} precomputed;

/* An index that isn't looped over but follows from others (native.c, relation.c). */
typedef enum derived_kind {
    DERIVED_AFFINE,    /* base + at, where 0 <= at < the extent               */
    DERIVED_QUOTIENT,  /* base + at / the extent                              */
    DERIVED_REMAINDER, /* base + at % the extent                              */
    DERIVED_POSITION,  /* the coordinate at position `at` of a level          */
} derived_kind;

typedef struct derived_index {
    derived_kind kind;
    int index;
    affine at;
    int64_t base;
    int by; /* an extent; POSITION: the level                                 */
    const relation *rel; /* by positions, or from what these are of           */
} derived_index;

/* An index that stands for a computed subscript (bindex.value): accesses.c. */
typedef struct computed_index {
    int index;
    uint64_t from; /* the indices that its value is made of, loops' or derived ones */
} computed_index;

/* A reduction that loops over the levels of what it reads: native.c. */
enum { STREAM_SUMS = 8 }; /* of a statement, at most */

typedef struct stream {
    const bexpr *sum;
    const affine *sub; /* at which all that it reads is read                  */
    int n, index[STC_MAX_ORDER];
} stream;

typedef struct plan {
    arena *a;
    program *p;
    const source *src;
    bstmt *s;
    int npre, nderived, nstream, ncomputed;
    uint64_t derived_set, computed_set;
    uint64_t dropped; /* … those that nothing has any more: modes that share a level */
    int naccess, group, ntemp;
    bool compares; /* indices are compared: ranges of loops may follow from it (range.c) */
    cin *root;
    bexpr *root_value;       /* the right side, in the target's type             */
    const bexpr *given_fill; /* a call that is the right side, if the fill is given */
    const bexpr *chosen;     /* the select that stands for a mask, or NULL          */
    loop_late *before;       /* constant subscripts: placed before all loops     */
    int nbefore;
    int target;           /* the slot assembled: s->target or a temporary     */
    textbuf *why;         /* remarks for explain, NULL if not wanted          */
    int64_t known[64];    /* of the statement's indices: their extents now, 0: not known */
    const tensor **there; /* by slot, of the first nthere: operands that are there */
    double *thought;      /* … and what steps are thought to store; 0: not known   */
    int nthere;
    struct { /* derivations by expr_space(): calls around, and how many have been */
        int depth, serial;
        bool asks; /* reductions stand for "it had a term"                        */
    } spaces;
    schedule schedule;
    /* as many as there are; not cleared: from schedule.rank on */
    paccess access[PLAN_ACCESSES];
    derived_index derived[64];
    computed_index computed[64];
    precomputed pre[PRECOMPUTED_MAX];
    stream stream[STREAM_SUMS];
} plan;

/* accesses.c */
stc_status plan_accesses(plan *pl, bexpr *e);
int plan_access_add(plan *pl, bexpr *e); /* -1: the diag is filled    */
void plan_computed(plan *pl);            /* enters the computed indices */
/* The indices of a coordinate; of computed ones what they are made of. */
uint64_t plan_indices(const plan *pl, const affine *f);
uint64_t expr_uses(const bexpr *e); /* bit set of access ids     */
/* Whether a call is its second operand or its third one, as the first one says. */
static inline bool expr_selects(const bexpr *e)
{
    return e->kind == B_CALL && fn_at(e->fn)->typing == TY_SELECT;
}
static inline bool affine_has(const affine *f, int index)
{
    for (int t = 0; t < f->terms; t++)
        if (f->term[t].index == index) return true;
    return false;
}
/* All its indices are bound. */
static inline bool affine_bound(const affine *f, uint64_t bound)
{
    return (affine_indices(f) & ~bound) == 0;
}
uint64_t expr_indices(const plan *pl, const bexpr *e); /* free indices           */
stc_status access_set_format(plan *pl, paccess *x, const format *f);

/* pset.c: NULL for lack of memory, also as an operand */
const pset *pset_none(void);
const pset *pset_all(void);
pset *pset_leaf(plan *pl, int op, int access);
const pset *pset_stored(plan *pl, int access);
const pset *pset_absent(plan *pl, int access);
const pset *pset_make(plan *pl, int op, const pset *a, const pset *b);
/* What is left of s where the access stores nothing. */
const pset *pset_without(plan *pl, const pset *s, int access);
uint64_t pset_accesses(const pset *s);
/* Whether nothing is produced where the access stores nothing. */
bool pset_requires(const pset *s, int access);
void pset_print(const plan *pl, const pset *s, textbuf *out);

/* range.c: where a comparison of indices is true (false), as a set; NULL: it isn't one. The
 * same with an index alone on its left side: index fn *other; -1: it can't be so. What part
 * of a loop inside those that bind `outer` such a set leaves, as far as that can be told.
 */
const pset *pset_where(plan *pl, const bexpr *e);
const pset *pset_where_not(plan *pl, const bexpr *e);
int range_solve(plan *pl, const bexpr *e, int index, uint64_t bound, bexpr **other);
/* What is reduced, without the comparison *until by which the range grows with the rounds
 * of the loop over `index`; NULL: that isn't so. */
bexpr *range_running(plan *pl, const bexpr *r, int index, const bexpr **until);
double range_part(plan *pl, const bexpr *e, int index, uint64_t bound);
/* Whether loops are few rounds each, so that to set their range costs more than it saves;
 * what a sparse result stores must not depend on that. */
bool range_is_short(const plan *pl, int index);

/* algebra.c */
fillval expr_fill(const plan *pl, const bexpr *e);
const pset *expr_space(plan *pl, const bexpr *e, const value *target); /* NULL: its fill */
const pset *plan_mask_space(plan *pl); /* where the statement's mask may be true */
const pset *space_false(plan *pl, const bexpr *e); /* where e may be false */

/* schedule.c: reads s->schedule; what can't be done is an error. */
stc_status plan_schedule(plan *pl);
stc_status schedule_fail(const plan *pl, const char *why, ...) ERROR_LIKE(2, 3);

/* relation.c: the extent of an index's range, -1: no memory. */
int plan_length(plan *pl, int index);

/* The result's loops, outermost first, as far as their order is that of its
 * levels: the first k of them, if shared by all terms, settle cover[k] levels. */
typedef struct result_loops {
    int index[64], n;
    int cover[65], levels;
    bool complete; /* all of them settle all levels                   */
    bool apart;    /* not to be shared up to within a level           */
} result_loops;

/* loops.c: the loops of a set or a list of the statement's indices where the
 * accesses in `uses` are read; the result's; subscripts over loops' indices. */
uint64_t loops_set(const plan *pl, uint64_t set, uint64_t uses);
int loops_list(const plan *pl, const int *index, int n, uint64_t uses, int *seq);
void loops_of_result(const plan *pl, const int *result, int n, uint64_t uses, bool shared,
                     result_loops *out);
stc_status loops_subscripts(plan *pl, const affine **sub, int order);
/* Whether a relation of positions walks this access. */
bool loops_read(const plan *pl, const relation *r, int access);
/* … and the one that walks all levels of it; NULL: none. */
const relation *loops_all_levels(const plan *pl, int access);
/* An error if positions of an index in `set` are asked for where others are needed. */
stc_status loops_check_space(const plan *pl, uint64_t set, const pset *space,
                             uint64_t uses);

/* precompute.c. Accesses of the producers; the outer indices of a workspace; a space
 * for loops inside `depth` shared ones, where what is produced further in is still
 * what its producer reads; producers that are due, for what is read by `uses`. */
stc_status precompute_accesses(plan *pl);
const precomputed *precompute_of(const plan *pl, int slot); /* NULL: no such workspace */
uint64_t precompute_outer(const plan *pl, int slot);
const pset *precompute_space(plan *pl, const pset *s, int depth);

/* schedule_check.c: whether the loops that were built are those asked for. */
stc_status schedule_check(plan *pl);

/* `bound` and the derived indices that follow from it. */
static inline uint64_t plan_bound(const plan *pl, uint64_t bound)
{
    for (int k = 0; k < pl->nderived; k++)
        if (affine_bound(&pl->derived[k].at, bound))
            bound |= UINT64_C(1) << pl->derived[k].index;
    for (int k = 0; k < pl->ncomputed; k++)
        if (!(pl->computed[k].from & ~bound)) bound |= UINT64_C(1) << pl->computed[k].index;
    return bound | pl->dropped;
}

/* order.c */
typedef struct term { /* an additive term of the right side               */
    bexpr *value;     /* what is reduced (or the term itself)             */
    int fn;           /* the reduction that combines terms, -1: none      */
    uint64_t reduced; /* its reduction indices                            */
    uint64_t own;     /* loops that aren't among the shared ones          */
    int *order;       /* loops inside the shared prefix, outermost first  */
    int norder;
    const pset *space;
} term;
typedef struct choice {
    int prefix;  /* loops of the result that all terms share         */
    bool whole;  /* these are all: every result is evaluated at once */
    bool insert; /* terms write the result itself, at any place      */
    double cost;
} choice;
enum { NEVER_INSERTS = STC_MAX_ORDER + 1 };
/* The cheapest order that the schedule allows; false: there is none. `inserts`: the
 * result's first level from which on it takes values at any place in any order. */
bool plan_order(plan *pl, term *terms, int nterms, const result_loops *result,
                bool splittable, int inserts, choice *out);
void plan_inner_order(plan *pl, const pset *space, uint64_t uses, uint64_t bound,
                      const int *index, int n, int *order);

/* subsect.c */
/* Whether an index moves a window: it is reduced, and shares a subscript. A
 * filter is small (convolutions paper, §6.3.1). */
bool plan_in_filter(const plan *pl, int index);
/* The level of x whose subsections a loop over `index` visits, -1: none. `depth`
 * levels are resolved, `before` was bound outside; certain: x is stored as far
 * as it is resolved. */
int plan_subsect(const plan *pl, const paccess *x, int depth, bool certain, uint64_t before,
                 int index);

/* A plan of s that nothing is known of yet; NULL: no memory. And only what its result
 * will be, in the target's row, as plan_build would choose it (build.c). */
plan *plan_new(arena *a, program *p, const source *src, bstmt *s);
stc_status plan_settle(plan *pl);
/* Its fill alone, of a statement of any size. */
stc_status plan_settle_fill(plan *pl);

/* result.c. space_full: whether a set is everywhere, projected onto indices. */
bool space_full(const plan *pl, const pset *s, uint64_t onto);
stc_status plan_result(plan *pl, bexpr *root, const pset **space);
/* Where e, the right side or a term of it, may differ from the result's fill; NULL: its
 * own. */
const pset *result_space(plan *pl, const bexpr *e, const value *fill);
void plan_fill(plan *pl, const bexpr *root);

/* build.c */
stc_status plan_build(plan *pl);

/* analyze.c: fills in every loop's info, converting what must be; and the kind of
 * a conversion's level l, of those in loop order, for an operand of format f. */
stc_status plan_analyze(plan *pl);
const level_kind *converted_level(const format *f, const paccess *x, int l);

/* streams.c: the format of runs in which a stream of format f is read, or made, where
 * loops are over its modes; false: it is no stream, or has none here. */
bool plan_stream_rows(const plan *pl, const format *f, const affine *sub, format *out);
bool plan_stream_made(const plan *pl, const format *f, const affine *sub, format *out);

/* lattice.c: the tables of one loop, and which operands drive it. */
typedef struct loop_bits {  /* how each access is seen in a loop                */
    int bit[PLAN_ACCESSES]; /* its bit in the mask, -1: none                    */
    uint64_t late;          /* accesses whose bit is set after the merge        */
    uint64_t exact;         /* accesses whose bit means "differs from fill"     */
    const reach *reach;     /* whose reductions have bits; NULL: none           */
} loop_bits;
stc_status lattice_table_make(plan *pl, const pset *s, const loop_bits *b, bool skip,
                              int bits, lattice_table *out);
/* reach.c: the tables of what leaves in a loop's body test, over bits of its mask from
 * `first` on. */
stc_status reach_tables(plan *pl, const cin *body, loop_bits *bits, int first);
bool lattice_produces(const lattice_table *t, uint64_t mask);
/* Bits set in every producing mask, as far as that can be told. */
uint64_t lattice_certain(const lattice_table *t, int bits);
/* The bits that no producing mask has; of larger tables none is known. */
uint64_t lattice_never(const lattice_table *t, int bits);
/* True if every producing mask has a bit of `drive`. */
bool lattice_driven(const lattice_table *t, int bits, uint64_t drive);

static inline const char *index_name(const plan *pl, int index)
{
    return pl->s->index[index].name;
}

/* print.c */
void plan_print(const plan *pl, textbuf *out);
void expr_print(const plan *pl, const bexpr *e, textbuf *out);
void lattice_print(const plan *pl, const cin *from, textbuf *out);

#endif
