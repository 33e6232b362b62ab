/* opt.h: a statement as written becomes steps that take reductions earlier.
 *
 *     bstmt ── split ── normal ── cost ── eliminate ── steps ──► bstmt, bstmt, …
 *
 * - split: a reduction of a sum is a sum of reductions, and what doesn't depend on an
 *   index is counted, where that visits less;
 * - normal: a reduction over a function that distributes over it, as a product: the
 *   indices that are reduced, and factors in any order;
 * - stats: what is known of operands;
 * - skew: what operands have in common along an index;
 * - cost: how many elements factors have, and what loops over some of them visit;
 * - eliminate: which index is reduced next, so that all the steps visit the fewest;
 * - window: products at sums of indices, a step for each index that is reduced;
 * - rewrite: which reductions of a statement that pays for;
 * - share: what is computed already is read again;
 * - quotient: what is taken off a product, off one factor;
 * - lift: factors that are computed again and again are made once;
 * - keep: what a loop's rounds don't change is computed in the first;
 * - shelf: what a script's statements have computed on the way;
 * - look: what steps stored, beside what was thought, for plans made after it;
 * - steps: each of them as a statement of its own, whose result is a tensor that the
 *   next ones read: its type, fill, format and order of modes.
 *
 * The idea is that of variable elimination (bucket elimination, FAQ, and what databases
 * do with aggregates): sum(j,k: A(i,j) * B(j,k) * x(k)) is sum(j: A(i,j) * t(j)) with
 * t(j) = sum(k: B(j,k) * x(k)). No function is known by name: which pairs distribute is
 * in functions.def, and a reduction's identity has to annihilate in the product, so that
 * what has no terms, and what isn't stored, stays what it was.
 */
#ifndef STC_OPT_H
#define STC_OPT_H

#include "../lang/lang.h"

enum { OPT_FACTORS = 64, OPT_LEVELS = 8 };

typedef struct opt_step opt_step;

/* What earlier statements of a program have computed, for later ones (book.c). */
typedef struct opt_want {
    int statement;
    span at;
} opt_want;
typedef struct opt_seen {
    uint64_t key,
        reads; /* of an expression; the tensors in it, a bit each, or for several */
} opt_seen;
enum { BOOK_ROWS = 64 };
typedef struct opt_book {
    arena *a; /* outlives the statements, and the program that is compiled once more */
    opt_seen seen[BOOK_ROWS]; /* to find out whether the rest is worth it            */
    int nseen;
    bool open;        /* it is                                                       */
    opt_step *step;   /* the oldest first                                          */
    int n, statement; /* the one that is compiled, from 1                        */
    opt_want *want;   /* reductions that are to be steps, since others read them     */
    int wants;
    bool again; /* the program is to be compiled once more, with what is known by now */
} opt_book;

/* A step of some plan of a statement, known by its factors and what is left of their
 * indices; what it was thought to store, and what it did (look.c). */
enum { LOOKS = 24, LOOK_LEAVES = 8, LOOK_STOPS = 4 };
typedef struct opt_look {
    uint64_t leaf[LOOK_LEAVES], by, out;
    int n;
    double guess, stored; /* without having looked; -1: not known                */
    int slot, turn;       /* in the program compiled last, -1: none; when it is made */
    int mode[STC_MAX_ORDER];
    uint64_t mask; /* its factors in the product that is looked at        */
    tensor *made;  /* a run that ended behind it has this; else NULL      */
} opt_look;
typedef struct opt_looks {
    opt_look row[LOOKS];
    int n, stops;
} opt_looks;

/* What statements of a script have computed on the way (shelf.c): a text that says what, by
 * which number of its indices each mode is; in the program compiled last its slot, -1:
 * none. Without a tensor, one that is made when that runs. */
enum { SHELVED = 16 };
typedef struct opt_shelved {
    char *text;
    tensor *t;
    int slot;
    uint64_t id;
    bool pattern; /* it stores what had a term */
    uint8_t mode[STC_MAX_ORDER];
} opt_shelved;
typedef struct opt_shelf {
    ctx *cx;
    opt_shelved row[SHELVED]; /* the oldest first                    */
    int n;
    bool keeps; /* a later statement may want what this one computes */
    bool read;  /* some statement has had what an earlier one had    */
    uint64_t made;
} opt_shelf;

/* What modes of tensors had in common, by a key of them (skew.c): the last ones asked for.
 */
enum { SKEWS = 32 };
typedef struct opt_skews {
    uint64_t key[SKEWS];
    double more[SKEWS];
    unsigned n; /* so many were */
} opt_skews;

/* Tensors that are there already, by name. */
typedef struct opt_known {
    const tensor *(*find)(const void *of, const char *name); /* may be NULL      */
    const void *of;
    bool *waits; /* set if a plan depends on what tensors hold; may be NULL          */
    /* In a loop: how many rounds are expected, and whether they leave a tensor as it is. */
    double rounds;
    bool (*steady)(const void *of, const char *name); /* may be NULL: none are */
    opt_book *book;    /* may be NULL                                              */
    opt_looks **looks; /* NULL: whoever runs it doesn't look; made when needed  */
    opt_shelf *shelf;  /* may be NULL                                              */
    opt_skews *skews;  /* may be NULL: each statement counts                       */
} opt_known;

typedef struct opt {
    arena *a;
    program *p;
    bstmt *s;
    /* The result stores only what a term reached: intermediates keep to that, too. */
    bool pattern;
    double extent[BOUND_INDICES]; /* of each index, as far as it is known               */
    double skew[BOUND_INDICES];   /* of joins of two by it, 0: not known (skew.c)      */
    double rounds; /* in which steps of steady operands run once; 1: none are worth it    */
    opt_step *step;         /* in order                                              */
    const opt_known *known; /* may be NULL                                      */
    textbuf *why; /* for explain: why not further; NULL if not wanted            */
    int nstep;
    int step_room;
    bool reads_earlier; /* the statement reads what an earlier one has computed */
    opt_looks *looks;   /* what was found out, NULL: nothing                    */
} opt;

/* A factor: how it is read, and how much of it differs from the identity. */
typedef struct factor {
    const bexpr *e;
    /* e decides where the product of the others counts, and else is the identity: the
     * call that says so; NULL: it is multiplied. */
    const bexpr *where;
    uint64_t indices; /* free                                               */
    double density;   /* of all its coordinates                             */
    bool full;        /* by its format: it is stored everywhere             */
    bool plain;  /* … as far as one knows, and nothing of it is computed from indices */
    bool steady; /* the rounds of a loop leave it as it is (keep.c)    */
    int step;    /* the step that computes it, -1: it is as written    */
    uint64_t of; /* of a product's factors, a bit each, 0: not known   */
    /* In their order the indices of its levels, of which each is found below those before
     * it alone; of an intermediate none: its levels will be as its readers want them. */
    uint8_t level[OPT_LEVELS];
    uint8_t levels;
} factor;

/* What comes before a statement, and what is thought of it. */
struct opt_step {
    bstmt s;
    double visits, stored; /* by its loops; by its result                       */
    factor result;         /* as it is read at its own indices                  */
    bool steady;           /* it comes first, and is kept (keep.c)              */
    /* In a book: the statement that computed it; as its own result, whose row says the
     * rest; or it stands in it, and isn't a tensor; it stores what had a term. */
    int statement;
    uint64_t reads; /* tensors, a bit each, or for several */
    bool is_result, stands, pattern;
    uint64_t key; /* of equal steps the same (share.c)                 */
    int look;     /* its row of opt_looks, -1: none                    */
};

/* r(reduced: f(factor, …)) */
typedef struct product {
    const bexpr *r;    /* the reduction as written                       */
    const bexpr *call; /* a call of f; NULL: there is one factor         */
    uint64_t reduced;
    value identity;
    int n;
    factor factor[OPT_FACTORS];
} product;

/* A reduction of some factors: a step, or what is left in place. */
typedef struct opt_part {
    factor *f;
    int n;
    uint64_t reduced, out;
    double nest; /* what its loops visit                                       */
    bool gone;   /* reduced where it is read                                   */
    bool steady; /* all of its factors are                                     */
} opt_part;

/* Whether a statement has anything that could be taken earlier: quick. */
bool opt_may(const program *p, const bstmt *s);
/* Whether its reductions may be taken earlier, or its operands turned. */
bool opt_reduces(const program *p, const bstmt *s);
/* Takes reductions out of o->s, which then reads the steps' results. Nothing has
 * changed if there are no steps. */
stc_status opt_statement(opt *o);

/* normal.c: what a reduction is the product of, a factor alone as well; false: it has to
 * be done as it is written, or it has too many. */
bool factors_of(const opt *o, const bexpr *r, product *out);
/* … or with factors that are read at sums of indices, too. */
bool windows_of(const opt *o, const bexpr *r, product *out);
/* False: it is no product of several factors. */
bool product_of(const opt *o, const bexpr *r, product *out);
/* What r may be a product of, before its factors; whether e is a call of the same product;
 * e as a factor; a reduction that is a part of it; whether a subscript has several indices.
 */
bool product_begin(const bexpr *r, product *out);
bool is_times(const product *x, const bexpr *e);
factor factor_as_written(const opt *o, const product *x, const bexpr *e);
bool same_reduction(const bexpr *e, const product *x);
bool has_window(const program *p, const bexpr *e);
/* An operand whose format leaves coordinates out. */
bool stores_some(const program *p, const bexpr *e);
bool reads_some(const program *p, const bexpr *e); /* one is in e */
/* The free indices of an expression. */
uint64_t opt_indices(const program *p, const bexpr *e);

/* stats.c: a key of statistics, a tensor's added: the same for what is planned alike; of an
 * operand that is known: a mode's extent; the part that it stores. */
uint64_t stats_key(uint64_t key, const tensor *t);
bool stats_extent(const opt *o, int slot, int mode, double *out);
bool stats_density(const opt *o, int slot, double *out);
const tensor *stats_tensor(const opt *o, int slot); /* NULL: not known */

/* skew.c: what is known of indices that several operands have. */
stc_status skews(opt *o);

/* rewrite.c: the indices that a product has left when it is reduced; whether e is a search,
 * or a test of whether any or all are so, which may end early. */
uint64_t left_of(const product *x);
bool may_settle(const bexpr *e);

/* turn.c: the innermost index that a format has, as a set; whether an operand is in e that
 * may be read across or searched, quick; marks those in e of which a copy pays: that are
 * read across; vectors that are searched in loops over `all`. */
uint64_t innermost_index(const program *p, const bexpr *e);
bool turn_may(const program *p, const bexpr *e);
stc_status turn(const opt *o, bexpr *e);
void turn_sought(const opt *o, const bexpr *all, bexpr *e);
/* Whether the statement's sum may be written across the result's rows; whether it is, and
 * a step of its own is worth it. */
bool turn_result_may(const program *p, const bstmt *s);
bool turns_result(const opt *o, const product *x);

/* cost.c */
double cost_extent(const opt *o, const bindex *i);
double cost_range(const opt *o, int hi); /* as it is, 0 as well */
void cost_extents(opt *o);
/* The part of e's coordinates at which it isn't `none`, at most 1. */
double cost_density(const opt *o, const bexpr *e, const value *none);
/* What an expression is where nothing of it is stored; false: that isn't known. */
bool fill_of(const program *p, const bexpr *e, value *out);
/* Whether a product is its reduction's identity where none of its factors is stored. */
bool cost_starts_from(const opt *o, const product *x);
/* … or something else, by its operands, that is reduced as often. */
bool cost_has_fill(const opt *o, const product *x);
/* The number of coordinates that some indices have. */
double cost_places(const opt *o, uint64_t indices);
/* What loops over all indices of the factors visit; `most` or more if that is so much. */
double cost_nest(const opt *o, const factor *f, int n);
double cost_nest_below(const opt *o, const factor *f, int n, double most);
/* How much of the result a product has when all but `out` is reduced. */
double cost_result(const opt *o, const factor *f, int n, uint64_t out);
/* Whether a product over such indices, of factors that are everything but 0, is only wanted
 * where another factor is stored: the step multiplies by that, too. */
bool cost_selects(const factor *f, int n, uint64_t indices, const factor *other);
/* What it costs to reduce a product at one place of its result; whether a factor is stored
 * along other indices than those that are reduced. turned: what no round of a loop changes
 * has a copy that isn't. */
double cost_each(const opt *o, const product *x, bool turned);
/* Whether an operand in e is read across its rows by what is reduced in e, or by one of the
 * indices in the set. */
bool reads_across(const program *p, const bexpr *e, uint64_t reduced);
bool cost_across(const opt *o, const product *x, bool turned);
/* What it costs to have a result of so many places, and to read it. */
double cost_write(const opt *o, uint64_t out, double density);

/* keep.c: how many rounds share what is kept, of a statement in a loop; whether no round
 * changes an expression, all factors; the part of its cost that a step of so much has in
 * each round. */
double keep_rounds(const opt *o);
bool keep_steady(const opt *o, const bexpr *e);
bool keep_all(const factor *f, int n);
double keep_share(const opt *o, bool steady, uint64_t out, double density);

/* eliminate.c: groups of indices in the order in which they are to be reduced, each by
 * a step of its own; what is left is reduced where the product stands. */
typedef struct elimination {
    uint64_t group[64];
    int n;
    double cost, written; /* with these steps, and as written */
} elimination;
stc_status eliminate(opt *o, const product *x, elimination *out);

/* split.c: whether a reduction is of several terms; *at, a reduction, becomes several where
 * that visits less: *done. */
bool split_may(const bexpr *r);
stc_status split(opt *o, bexpr **at, bool *done);
/* A copy of e and all below it; a reduction's indices get others of the same range: there
 * is room for them; e's indices get others, by number. */
bexpr *copy_of(opt *o, const bexpr *e);
bool rename_indices(opt *o, bexpr *r);
void rename_in(const program *p, bexpr *e, const int *to);

/* rest.c: whether there may be reductions under a mask of what is the same where nothing is
 * stored; *at, if it is one, is taken of what is stored and of the fill: *done. */
bool rest_may(const program *p, const bstmt *s);
stc_status rest_apart(opt *o, bexpr **at, bool *done);

/* window.c: *at, a reduction over windows, has some of its indices reduced in steps where
 * that visits less. */
stc_status windows(opt *o, bexpr **at);

/* share.c: a read of an earlier step of that type that computes e: *done; notes a step for
 * that; reductions that stand in an expression, or in the statement, and are computed
 * somewhere already, or twice.
 */
stc_status share_step(opt *o, const bexpr *e, stc_type type, factor *out, bool *done);
void share_note(opt_step *step, const factor *result);
stc_status share_in(opt *o, bexpr **at);
stc_status share_rest(opt *o);

/* The same for equal expressions of one program, in whatever order; whether two are equal.
 */
uint64_t share_key(const bexpr *e);
bool share_same(const opt *o, const bindex *index, const bexpr *a, const bexpr *b);
/* Whether two extents must be equal for the program to run. */
bool share_extent(const program *p, int x, int y);
/* Whether a tensor for a product costs less than computing it once more. */
bool share_pays(const opt *o, const product *x);

/* book.c: whether some reduction in s is in the book, or wanted; a reduction that stands in
 * o's statement: whether it is wanted as a step; it is noted, and those that it equals are
 * wanted; what s, compiled by now, has computed is noted (o: NULL if it was as written),
 * and what it has changed is forgotten. */
bool book_may(const opt_book *b, const bstmt *s);
bool book_wants(const opt_book *b, const bexpr *r);
stc_status book_stands(opt *o, const bexpr *r);
stc_status book_note(opt_book *b, program *p, const bstmt *s, const opt *o);

/* shelf.c: before a statement is planned; a read of what is there already: *done; notes a
 * step that is none. For who runs it: binds what the program reads; takes what a run has
 * made; frees all. */
void shelf_begin(opt_shelf *s);
stc_status shelf_give(opt *o, const product *x, const opt_part *t, factor *out, bool *done);
stc_status shelf_note(opt *o, const product *x, const opt_part *t, const int *mode,
                      const opt_step *step);
stc_status shelf_bind(const opt_shelf *s, machine *mc);
void shelf_take(opt_shelf *s, machine *mc);
void shelf_free(opt_shelf *s);

/* look.c: before a statement is planned; the product whose factors are looked at from now
 * on; which of them some are made of; their density by what was counted; whether the step
 * of just these is made. */
void look_begin(opt *o);
void look_match(const opt *o, const product *x);
uint64_t look_of(const factor *f, int n);
double look_density(const opt *o, const factor *f, int n, uint64_t out, double density);
bool look_made(const opt *o, const factor *f, int n, uint64_t out);
/* A read of the step that is made: *done; notes a step; and, when all are there, behind
 * which of them a run is to look. */
stc_status look_give(opt *o, const product *x, const opt_part *t, factor *out, bool *done);
/* A slot for what has been made before, as an operand without a name; -1: no memory. */
int given_slot(opt *o, const tensor *made, const int *mode);
stc_status look_note(opt *o, const product *x, const opt_part *t, const int *mode,
                     opt_step *step);
void look_limits(opt *o);
/* For who runs it: takes what a run has made that ended behind a step's slot; gives it to
 * the program that was compiled for it; it isn't needed any more; frees all. */
void looks_take(opt_looks *l, machine *mc, int stopped);
stc_status looks_bind(const opt_looks *l, machine *mc);
void looks_end(opt_looks *l);
void looks_free(ctx *cx, opt_looks *l);

/* network.c: how many accesses stand in e; whether a statement is too large for the sets of
 * the others; its reductions, taken apart until what is left isn't, if they can be. */
int opt_accesses(const bexpr *e);
bool network_needed(const bstmt *s);
/* … and for a plan as it is written, too. */
bool network_only(const bstmt *s);
stc_status network(opt *o);

/* gather.c: whether an operand may be searched for subscripts that are computed; what is so
 * is read from steps. The indices of loops that those of a set are made of; a new index
 * over a tensor's mode, -1: no memory; e with other subscripts, of another tensor; a copy
 * whose computed subscripts are the statement's, as accesses are noted by these. */
bool gather_may(const program *p, const bstmt *s);
stc_status gather_steps(opt *o);
uint64_t indices_made_of(const program *p, const bstmt *s, uint64_t set);
int own_index(opt *o, int slot, int m);
bexpr *access_at(opt *o, const bexpr *e, int slot, affine *sub, int order);
bexpr *gathered_copy(opt *o, const bexpr *e);

/* scatter.c: whether the left side may name rows that are computed; it names the target's
 * own rows then, under a mask. */
bool scatter_may(const program *p, const bstmt *s);
stc_status scatter_steps(opt *o);

/* block.c: whether the left side names a block of a tensor that has all places; what it is
 * assigned becomes a statement before it, of a tensor that goes there as it is. */
bool block_may(const program *p, const bstmt *s);
stc_status block_apart(arena *a, program *p, bstmt *s, bstmt *values);

/* mask.c: whether a statement has a mask and reduces; what it reduces becomes a step. */
bool mask_may(const program *p, const bstmt *s);
stc_status mask_step(opt *o);

/* many.c: whether a statement reads more than a plan has room for; parts of it become steps
 * until it doesn't, if they can. */
bool many_needed(const program *p, const bstmt *s);
bool same_access(const program *p, const bexpr *a, const bexpr *b); /* two accesses */
stc_status opt_many(opt *o);

/* Steps must promise to visit so much less than the statement as written, and that must
 * be worth planning (rewrite.c). */
bool opt_pays(double steps, double written);

/* steps.c: *at, which the product stands for, becomes what is left of it after the steps
 * of an elimination; an access of the result of one step. */
stc_status take_apart(opt *o, const product *x, const elimination *el, bexpr **at);
/* Room for more steps; the row of the next one's result, which gets its name; a step that
 * assigns all of that from `right`, NULL: no memory. */
bool step_room(opt *o, int more);
int step_slot(const opt *o, prog_tensor t);
opt_step *step_add(opt *o, int slot, affine *sub, bexpr *right);
/* The statement's indices in an array of their own, with room for more; NULL: no memory. */
bindex *step_own_indices(opt *o, int more);
/* A step that computes a part; the part as an expression. */
/* The type that a reduction's step has; a read of a step's result at some indices. */
stc_type step_type(const bexpr *r);
bexpr *step_read(opt *o, int slot, const int *index, span at);
stc_status make_step(opt *o, const product *x, const opt_part *t, factor *result);
bexpr *expression(opt *o, const product *x, const opt_part *t);
stc_status take_whole(opt *o, const product *x, bexpr **at);
/* An extent of an index: `hi`, or 0 where another index, up to `gone`, has no values. */
int extent_unless_empty(opt *o, int hi, int gone);
/* Where an index that isn't reduced here any more has no values, a product has no terms,
 * and is the identity, whatever the other factors are: 0, and not 0 * inf. So one of those
 * that are left has no values then, either. */
stc_status narrow(opt *o, uint64_t gone, uint64_t left);

/* quotient.c: whether a product is reduced with something taken off it, as X * e / n; in
 * the reductions of an expression (r: the one around it, or NULL) one factor has that. */
bool quotient_may(const bexpr *e);
void quotients(const opt *o, bexpr **at, const bexpr *r);

/* lift.c: factors that loops compute again and again become steps: whether there may be
 * any; of a part, for which there is room; in the reductions of an expression; a call's
 * operand outside of them, computed at that part of the places of `loops`. */
bool lift_may(const program *p, const bstmt *s);
stc_status lift_factors(opt *o, const product *x, factor *f, int n);
stc_status lift_rest(opt *o, bexpr *e);
stc_status lift_term(opt *o, bexpr *e, int k, uint64_t loops, double density, bool *done);

/* shape.c: the row of the program's table for what is left of a product's factors over
 * `out`: its modes' indices in an order that suits who reads it, and its format; -1: no
 * memory. *full: it is stored everywhere; whether it would be. */
int shape_slot(const opt *o, const product *x, const factor *f, int n, uint64_t out,
               int *mode, bool *full);
bool shape_full(const opt *o, const product *x, const factor *f, int n, uint64_t out);
/* Its format becomes one that stores some places of rows that are all there. */
void shape_rows(prog_tensor *t);

#endif
