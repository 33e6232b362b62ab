/* build.h: what the files that build concrete index notation share. */
#ifndef STC_PLAN_BUILD_H
#define STC_PLAN_BUILD_H

#include "plan.h"

enum { MAX_TERMS = 16 };

/* How loops over levels meet the result: it inserts, or has the same levels. */
enum { NATIVE_NONE, NATIVE_INSERT, NATIVE_LEVELS };

typedef struct builder {
    plan *pl;
    bexpr *root; /* the right side, in the target's type            */
    bexpr *sum;  /* what the terms add up to: root without its last
                    conversions                                     */
    int nterm;
    bool reduces; /* several values may meet at one place: fn combines them, or
                     the user's ufn; else there is one term          */
    bool parted;  /* though nothing is reduced, terms have loops of their own */
    int fn;
    bfunction *ufn;
    vclass cls;
    value identity;
    const value *fill; /* the result's, in its type; NULL: its own        */
    const pset *space; /* of root                                         */
    int result[STC_MAX_ORDER], nresult; /* the index of each result level       */
    affine *sub;     /* the coordinate of each result level             */
    bool everywhere; /* where a workspace has nothing the result isn't its fill */
    bool in_place;   /* update.c: what is named is written, fills too          */
    bexpr *old;      /* update.c: what is there, if that says where there is something  */
    bool last;       /* of values in a workspace the last one stays          */
    bool counted;    /* counted.c: terms are met as they are stored, and counted     */
    int count;       /* … in this workspace                                          */
    value rest;      /* … and are this elsewhere                                     */
    int native;      /* loops run over an operand's levels: native.c    */
    uint64_t loops;  /* NATIVE_INSERT: the loops besides reductions     */
    int nloop;       /* partial.c: the loops that make the values                */
    /* not cleared */
    int loop[64];
    result_loops shared; /* the loops of the result's indices                  */
    term term[MAX_TERMS];
} builder;

/* A list of cin nodes under construction; `failed` once memory ran out. */
typedef struct list {
    cin *first, **end;
    bool failed;
} list;

void list_init(list *l);
void list_add(list *l, cin *c); /* one node, or several joined; NULL: no memory  */
void list_join(list *l, list *more);

cin *cin_new(plan *pl, cin_kind kind);
cin *cin_target(plan *pl, cin_kind kind, int target);
cin *cin_sink(plan *pl, cin_kind kind, int target, bexpr *value, int nsub, affine *sub);

/* terms.c: splits the right side; afterwards there is at least one term. */
stc_status find_terms(builder *b);

/* nests.c: loops over seq around leaf, with e's reductions as temporaries before the
 * first loop that doesn't change them. */
stc_status nest_build(plan *pl, const int *seq, int n, const pset *space, uint64_t bound,
                      bexpr *e, cin *leaf, list *out);
/* first.c: of a reduction that finds the first place where something holds, the space of
 * what is stored, and whether it holds elsewhere, NULL if it isn't one, or can't be told;
 * what is to be done then behind its loops over that space. */
bexpr *first_elsewhere(plan *pl, const bexpr *r, const pset **space);
stc_status first_of_all(plan *pl, bexpr *r, bexpr *holds, uint64_t bound, list *out);
/* The searches in e, one for each place of the result, begin by a part that is computed
 * first; what is to be done for r then, if it is one: *done. */
stc_status first_apart(builder *b, bexpr *e);
stc_status first_further(plan *pl, bexpr *r, uint64_t bound, list *out, bool *done);
/* only.c: what has to be true for e, which may not fault, to be anything but `none`; NULL:
 * that can't be told before what e reduces is. */
bexpr *only_where(plan *pl, bexpr *e, value none);
/* reach.c: leaf stores only where e had terms; own fill of e: target NULL. */
stc_status reach_ask(plan *pl, cin *leaf, const bexpr *e, const value *target);
/* Whether the result leaves coordinates out. */
bool reach_matters(const plan *pl);
/* r->had_term becomes a temporary that tells whether r had a term: at r's leaf; by loops
 * of its own, where r's visit more. */
stc_status reach_count(plan *pl, bexpr *r, cin *leaf, list *before);
stc_status reach_apart(plan *pl, bexpr *r, const int *seq, int n, uint64_t bound,
                       list *out);
/* What loops over a set read: what is stored, and what an index is compared with. */
uint64_t read_by(const pset *s);

/* counted.c: whether terms can be met as they are stored, if they are counted, and what
 * isn't stored is one more; the counts, by a term's loops; what met, with what isn't
 * stored. */
bool terms_counted(builder *b);
stc_status count_elements(builder *b, const term *te, int first, uint64_t bound, list *out);
bexpr *with_rest(builder *b, bexpr *met, bexpr *count);

/* A workspace over the result's levels from `first` on, -1: no memory. */
int workspace_slot(builder *b, int first);
/* Reads workspace w in order into the target. */
stc_status drain_workspace(builder *b, int w, int first, int target, list *out);

/* precompute.c: the producers whose outer indices are bound by now and that nothing
 * has emitted: at a depth of shared loops, or INSIDE, for what `uses` reads. */
stc_status precompute_emit(plan *pl, uint64_t bound, uint64_t uses, int depth, list *out);

/* remark.c: for explain: which workspace was inserted, where and why. */
void remark_workspace(const builder *b, const choice *c, int slot);
void remark_precomputed(const plan *pl, const precomputed *p);

/* native.c: lets the loops run over an operand's levels where that serves;
 * inserts: the result takes values at any place in any order. */
stc_status plan_native(builder *b, bool inserts);
/* For positions of an access whose levels aren't modes: an index for each level, and from
 * these those of the modes. Whether a coordinate that modes share means the same to the
 * loops as to the tensor: it is counted by the sizes of all these modes but the first. */
stc_status native_own_levels(plan *pl, relation *r);
stc_status native_derive_modes(plan *pl, const relation *r);
bool native_strides_agree(const plan *pl, int slot, const affine *sub);

/* mask.c: what is there at the left side's subscripts; the right side of target op= e, as
 * target = op(target, e). e behind the statement's mask, if it has one: what is evaluated
 * where e is stored. A sparse operand leads to all places of a set, or (ranges) what an
 * index is equal to. The mask becomes a select, if that is as good. */
bexpr *old_element(plan *pl);
bexpr *accumulated(plan *pl);
bexpr *masked(plan *pl, bexpr *e);
bool is_led(const plan *pl, const pset *s, bool ranges);
stc_status mask_settle(plan *pl);
/* e where the mask is true, elsewhere the target's element. */
bexpr *expr_chosen(plan *pl, bexpr *mask, bexpr *e);

/* partial.c: left sides that name only some of the target's elements. A fresh index for
 * each mode of a tensor; the loops that put the right side's values into workspace w; where
 * e changes what it meets. */
stc_status build_partial(builder *b, int target, list *out);
stc_status fresh_indices(plan *pl, int slot, int *own);
stc_status partial_values(builder *b, int w, affine *at, list *out);
/* What computed subscripts of the left side read is read where its places are. */
stc_status left_needs(plan *pl, const affine *sub, int nsub, uint64_t *needs);
/* The indices of the left side; whether no two rounds of their loops name one element. */
uint64_t left_set(const plan *pl);
bool names_once(const plan *pl);
/* The fill, to workspace w, where the mask is true and the target stores something. */
stc_status partial_fills(builder *b, int w, affine *at, list *out);
const pset *meeting_space(plan *pl, const bexpr *e);

/* update.c: whether the statement changes its target in place, and does so. */
bool updates(const builder *b);
/* Whether places that a mask leads to can be written where they are. */
bool update_finds(const plan *pl);
/* Whether what isn't stored changes nothing of what is written there by op=. */
bool update_meets_fill(const plan *pl);
bexpr *update_value(plan *pl); /* the right side of op=, in the target's class */
stc_status build_update(builder *b, list *out);
stc_status build_block(builder *b, list *out);

#endif
