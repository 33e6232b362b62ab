/* lift.c: factors that are computed again and again are made once.
 *
 * Takes a part of a product, or what stays of a statement; puts reads of steps where
 * factors were that aren't elements, but computed from them, and lack an index of the loops
 * around them: sum(i: (X(i,k) - m(k)) * (X(i,l) - m(l))) goes over i, k and l, and X(i,k) -
 * m(k) is the same for all l. Such a step has no reduction. It has to cost less than it
 * saves, and may be no larger than an operand that it is made of.
 */
#include "opt.h"

/* The calls of an expression; less than 0: it reduces, and may cost anything. */
static int calls_of(const bexpr *e)
{
    enum { TOO_MANY = -10000 };
    int n = e->kind == B_REDUCE ? TOO_MANY : e->kind == B_CALL || e->kind == B_USER;
    for (int k = 0; k < e->nargs; k++)
        n += calls_of(e->args[k]);
    return n;
}

/* Whether an operand stores a place for all values of the indices. */
static bool has_room(const program *p, const bexpr *e, uint64_t indices)
{
    if (e->kind == B_ACCESS) return !stores_some(p, e) && opt_indices(p, e) == indices;
    for (int k = 0; k < e->nargs; k++)
        if (has_room(p, e->args[k], indices)) return true;
    return false;
}

static bool may_be_made(const opt *o, const product *x, const factor *f, uint64_t loops)
{
    if (f->where || !f->full || !f->plain || !(loops & ~f->indices) ||
        calls_of(f->e) <= 0 || type_class(f->e->type) != x->r->cls ||
        has_window(o->p, f->e) || !has_room(o->p, f->e, f->indices))
        return false;
    for (uint64_t set = f->indices; set; set &= set - 1)
        if (o->s->index[__builtin_ctzll(set)].lo >= 0) return false;
    return true;
}

/* Whether an operand of e, which reads `all`, is such a factor, as far as it is quick to
 * tell. */
static bool may_lift(const program *p, const bexpr *e, uint64_t all)
{
    for (int k = 0; k < e->nargs; k++) {
        const bexpr *const f = e->args[k];
        const bool call = all && e->kind == B_CALL && f->kind == B_CALL && f->fn != e->fn;
        const uint64_t own = call || f->kind == B_REDUCE ? opt_indices(p, f) : 0;
        if (call && own && own != all && has_room(p, f, own)) return true;
        const bool inside = f->kind == B_REDUCE;
        if (may_lift(p, f, inside ? opt_indices(p, f->args[0]) : all)) return true;
    }
    return false;
}

bool lift_may(const program *p, const bstmt *s)
{
    const bexpr top = {.kind = B_CONV, .nargs = 1, .args = (bexpr *[]){s->value}};
    return may_lift(p, &top, 0);
}

/* Room for its steps is there. */
stc_status lift_factors(opt *o, const product *x, factor *f, int n)
{
    uint64_t loops = 0;
    for (int k = 0; k < n; k++)
        loops |= f[k].indices;
    for (int k = 0; k < n; k++) {
        if (!may_be_made(o, x, &f[k], loops)) continue;
        const double calls = calls_of(f[k].e), nest = cost_nest(o, f, n);
        const double once =
            cost_places(o, f[k].indices) * (1 + calls) + cost_write(o, f[k].indices, 1);
        if (!opt_pays(once, nest * calls)) continue;
        const bool pattern = o->pattern;
        factor own = f[k];
        own.of = 0; /* it reduces nothing: there is no guess of what it stores */
        const opt_part t = {.f = &own, .n = 1, .out = own.indices};
        const uint64_t of = f[k].of;
        o->pattern = false; /* it is stored everywhere, as the operand with room is */
        const stc_status st = make_step(o, x, &t, &f[k]);
        o->pattern = pattern;
        if (st) return st;
        f[k].of = of;
    }
    return STC_OK;
}

static void replace(bexpr *e, const bexpr *from, bexpr *to)
{
    for (int k = 0; k < e->nargs; k++)
        if (e->args[k] == from)
            e->args[k] = to;
        else
            replace(e->args[k], from, to);
}

/* In the reductions that stay where they are. */
stc_status lift_rest(opt *o, bexpr *e)
{
    product *x = e->kind == B_REDUCE ? arena_room(o->a, 1, sizeof *x) : NULL;
    if (x && product_of(o, e, x)) {
        const bexpr *was[OPT_FACTORS];
        for (int k = 0; k < x->n; k++)
            was[k] = x->factor[k].e;
        const stc_status st =
            step_room(o, x->n) ? lift_factors(o, x, x->factor, x->n) : STC_ERR_MEMORY;
        for (int k = 0; k < x->n && !st; k++)
            if (was[k] != x->factor[k].e) replace(e, was[k], (bexpr *)x->factor[k].e);
        if (st) return st;
    }
    for (int k = 0; k < e->nargs; k++) {
        const stc_status st = lift_rest(o, e->args[k]);
        if (st) return st;
    }
    return STC_OK;
}
