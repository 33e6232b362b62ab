/* pin.c: loops over an index of which an equality says what it is.
 *
 * Inside a loop over j, `lab(j) == l` leaves one value for l. There is nothing to walk:
 * all that is read at l is found, at a cost that doesn't depend on how much is stored.
 * Where the loop around does nothing else, the loop over l isn't one any more but code of
 * that loop, which goes on to its next round where l would be outside, or nothing is stored
 * there that is needed. Where it does more, that code reduces the identity then. What does
 * neither is a loop of one round.
 */
#include "pin.h"

/* What the index equals wherever the set holds; NULL: that isn't said. */
static bexpr *pinned_to(plan *pl, const pset *s, int index, uint64_t bound)
{
    bexpr *other;
    if (s->op == PS_AND) {
        bexpr *const a = pinned_to(pl, s->a, index, bound);
        return a ? a : pinned_to(pl, s->b, index, bound);
    }
    const bool equal = s->op == PS_WHERE && s->of->fn == FN_EQ;
    return equal && range_solve(pl, s->of, index, bound, &other) == FN_EQ ? other : NULL;
}

/* Whether all levels of x from `depth` on that the loop settles can be found at a
 * coordinate. */
static bool finds_levels(const paccess *x, int depth, uint64_t bound)
{
    for (int l = depth; l < x->levels && affine_bound(&x->level[l].at, bound); l++)
        if (!(x->level[l].kind->caps & CAP_LOCATE) && !(x->level[l].props & PROP_ORDERED))
            return false;
    return true;
}

/* Once some function has its annihilator its loops are left, and their number is known; so
 * they are at the first place that is searched for: lower.c, lower_exit(). */
static bool leaves_early(const cin *c)
{
    if (c->kind == CIN_WHEN || c->kind == CIN_ONLY || c->stops) return true;
    return c->kind == CIN_REDUCE && c->ufn && c->ufn->nannihilator;
}

/* Whether all rounds of the loop around may go on from inside: nothing is kept in order as
 * loops end, nothing is put off, no condition on what reductions found is tested. */
static bool may_go_on(const cin *c)
{
    for (; c; c = c->next) {
        if (c->append || c->kind == CIN_LAZY || leaves_early(c)) return false;
        if (c->kind == CIN_FORALL ? !may_go_on(c->body) : c->reach != NULL) return false;
    }
    return true;
}

/* Whether all that is done inside is to reduce one value, which may be the identity. */
static bool only_reduces(const cin *c)
{
    value id;
    while (c->kind == CIN_FORALL && !c->next)
        c = c->body;
    if (c->kind != CIN_REDUCE || c->next || c->reach || c->tells || leaves_early(c))
        return false;
    const bool known = c->ufn ? ufn_identity(c->ufn, &id)
                              : fn_identity(c->fn, c->cls, c->value->type, &id);
    return known && !expr_may_fault(c->value);
}

/* All levels that the loop settles can be found at a coordinate. */
static bool finds_all(plan *pl, const cin *loop, const pinned_reads *reads)
{
    for (int k = 0; k < pl->naccess; k++) {
        const paccess *x = &pl->access[k];
        const int depth = reads->depth[k];
        if (!((loop->uses >> k) & 1) || x->why || depth >= x->levels) continue;
        const bool certain = (reads->certain >> k) & 1;
        if (plan_subsect(pl, x, depth, certain, reads->before, loop->index) >= 0 ||
            !finds_levels(x, depth, reads->bound))
            return false;
    }
    return true;
}

pin pin_of(plan *pl, const cin *loop, const pinned_reads *reads, const cin *outer)
{
    if (!pl->compares || loop->since || pl->nderived || pl->schedule.nrel) return (pin){0};
    pin p = {.to = pinned_to(pl, loop->space, loop->index, reads->before)};
    if (!p.to || !finds_all(pl, loop, reads)) return (pin){0};
    const bool alone = outer && outer->body == loop && !loop->next;
    const bool inside = outer && expr_indices(pl, p.to);
    /* where that is code with an identity of its own, rounds go on elsewhere */
    const bool chosen = outer && outer->info && outer->info->pin.way == PIN_CHOSEN;
    if (inside && alone && !chosen && pl->s->index[loop->index].lo < 0 &&
        may_go_on(loop->body))
        p.way = PIN_STRAIGHT;
    else if (inside && only_reduces(loop->body))
        p.way = PIN_CHOSEN;
    return p.way != PIN_ROUND || !range_is_short(pl, loop->index) ? p : (pin){0};
}
