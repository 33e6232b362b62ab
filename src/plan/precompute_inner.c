/* precompute_inner.c: reductions inside of functions, in the schedule's order.
 *
 * In `C(i,j) = sqrt(sum(k: A(i,k) * B(k,j)))` the sum must be whole before its root
 * is taken, so loops over k lie inside those over i and j. Where the schedule asks
 * for a loop over k outside of one of these, the sum is collected in a workspace, as
 * if precompute had said so: over the indices whose loops are to be inside. What can't
 * be collected so stays, and the schedule's order can't be had.
 */
#include "schedule.h"

/* The loops of a set whose places the schedule gives: the outermost one's, -1: none. */
static int outermost(const plan *pl, uint64_t set)
{
    int least = -1;
    for (; set; set &= set - 1) {
        const int rank = pl->schedule.rank[__builtin_ctzll(set)];
        if (rank >= 0 && (least < 0 || rank < least)) least = rank;
    }
    return least;
}

/* A workspace has modes from 0 to the end of each index, and has to have few enough. */
static bool has_modes(const plan *pl, uint64_t set)
{
    for (uint64_t all = set; all; all &= all - 1)
        if (pl->s->index[__builtin_ctzll(all)].lo >= 0) return false;
    return __builtin_popcountll(set) <= STC_MAX_ORDER;
}

/* Those indices around r that W has: loops inside of r's own, and those that other
 * reductions bind. */
static uint64_t kept(const plan *pl, const way *w, const bexpr *r)
{
    const int own = outermost(pl, reduce_indices(r));
    uint64_t set = 0;
    for (uint64_t all = own < 0 ? 0 : expr_indices(pl, r); all; all &= all - 1) {
        const int i = __builtin_ctzll(all);
        if (pl->schedule.rank[i] > own) set |= UINT64_C(1) << i;
    }
    for (int k = 0; set && k + 1 < w->n; k++)
        if ((*w->at[k])->kind == B_REDUCE)
            set |= expr_indices(pl, r) & reduce_indices(*w->at[k]);
    return set;
}

static stc_status collect(plan *pl, way *w, uint64_t set)
{
    precomputed *p = &pl->pre[pl->npre];
    prog_tensor like = {.name = "",
                        .policy = pl->schedule.policy,
                        .single = pl->schedule.single,
                        .capacity = pl->schedule.capacity};
    if (!way_down(w, &(*w->at[w->n - 1])->args[0])) return STC_OK;
    precompute_begin(p, w, pl->s->schedule);
    for (p->vars = set; set; set &= set - 1)
        p->index[p->order++] = __builtin_ctzll(set);
    return precompute_part(pl, w, &like, p);
}

/* fn: what combines the terms of which e is one, -1: it is inside of a function. */
static stc_status find_inner(plan *pl, way *w, bexpr **at, int fn)
{
    enum { FREE = FP_ASSOCIATIVE | FP_COMMUTATIVE };
    const bexpr *e = *at;
    const int depth = w->n;
    value id;
    stc_status st = STC_OK;
    if (!way_down(w, at)) return STC_OK;
    if (e->kind != B_CONV && (fn < 0 || expr_combiner(e) != fn)) fn = -1;
    const bool inner = e->kind == B_REDUCE && fn < 0;
    const uint64_t set = inner ? kept(pl, w, e) : 0;
    if (set && !expr_may_fault(e->args[0]) && (reduce_flags(e) & FREE) == FREE &&
        reduce_identity(e, &id) && has_modes(pl, set) && pl->npre < PRECOMPUTED_MAX)
        st = collect(pl, w, set);
    else
        for (int k = 0; k < e->nargs && !st; k++)
            st = find_inner(pl, w, &e->args[k], e->kind == B_REDUCE ? -1 : fn);
    w->n = depth;
    return st;
}

stc_status precompute_inner(plan *pl)
{
    bexpr **top = &pl->s->value;
    way w = {.n = 0};
    if (pl->computed_set || pl->s->mask || !pl->schedule.nseq) return STC_OK;
    while ((*top)->kind == B_CONV && way_down(&w, top))
        top = &(*top)->args[0];
    if ((*top)->kind != B_REDUCE) return find_inner(pl, &w, top, expr_combiner(*top));
    return way_down(&w, top) ? find_inner(pl, &w, &(*top)->args[0], -1) : STC_OK;
}
