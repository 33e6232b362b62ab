/* lift.c: factors that are computed again and again are made once.
 *
 * Takes a part of a product, or what stays of a statement; puts reads of steps where
 * factors were that aren't elements, but computed from them, and lack an index of the loops
 * around them: sum(i: (X(i,k) - m(k)) * (X(i,l) - m(l))) goes over i, k and l, and X(i,k) -
 * m(k) is the same for all l. Such a step has no reduction. It has to cost less than it
 * saves, and may be no larger than an operand that it is made of.
 *
 * In any(k: D(i,k) != 0 && A(k,j) != 0) A's rows are gone through for each entry of D. What
 * is computed from the entries of sparse operands, or converted, is made, with their
 * places, where other sparse ones go round it: terms are products of elements then, for
 * which there are superinstructions.
 *
 * In A(i,j) * exp(x(j)), where nothing is reduced, exp(x(j)) is made once for each j.
 */
#include "opt.h"

/* What a call costs in the terms of a nest that goes by strips for it; an entry of a step
 * that has the places of an operand. */
static const double in_terms = 3, entry = 2;

/* The calls of an expression; less than 0: it reduces, and may cost anything. */
static int calls_of(const bexpr *e)
{
    enum { TOO_MANY = -10000 };
    int n = e->kind == B_REDUCE ? TOO_MANY : e->kind == B_CALL || e->kind == B_USER;
    for (int k = 0; k < e->nargs; k++)
        n += calls_of(e->args[k]);
    return n;
}

static int conversions_of(const bexpr *e)
{
    int n = e->kind == B_CONV && type_class(e->type) != type_class(e->args[0]->type);
    for (int k = 0; k < e->nargs; k++)
        n += conversions_of(e->args[k]);
    return n;
}

static int work_of(const bexpr *e)
{
    return calls_of(e) + conversions_of(e);
}

/* Whether an operand stores a place for all values of the indices. */
static bool has_room(const program *p, const bexpr *e, uint64_t indices)
{
    if (e->kind == B_ACCESS) return !stores_some(p, e) && opt_indices(p, e) == indices;
    for (int k = 0; k < e->nargs; k++)
        if (has_room(p, e->args[k], indices)) return true;
    return false;
}

/* Whether all that e reads are operands that store some coordinates, of `indices`; if
 * `known`, as many as one knows. */
static bool of_sparse(const opt *o, const program *p, const bexpr *e, uint64_t indices,
                      bool known)
{
    double part;
    if (e->kind == B_INDEX) return false;
    if (e->kind == B_ACCESS)
        return stores_some(p, e) && !e->pad && opt_indices(p, e) == indices &&
               (!known || stats_density(o, e->tensor, &part));
    for (int k = 0; k < e->nargs; k++)
        if (!of_sparse(o, p, e->args[k], indices, known)) return false;
    return true;
}

static bool may_be_made(const opt *o, const product *x, const factor *f, uint64_t loops)
{
    if (f->where || !(loops & ~f->indices) || work_of(f->e) <= 0 ||
        type_class(f->e->type) != x->r->cls || has_window(o->p, f->e))
        return false;
    for (uint64_t set = f->indices; set; set &= set - 1)
        if (o->s->index[__builtin_ctzll(set)].lo >= 0) return false;
    return true;
}

static bool is_whole(const opt *o, const factor *f)
{
    return f->full && f->plain && calls_of(f->e) > 0 && has_room(o->p, f->e, f->indices);
}

/* Whether an operand of e, in what `of` reduces, is such a factor, as far as it is quick to
 * tell; NULL: nothing reduces it. */
static bool may_lift(const program *p, const bexpr *e, const bexpr *of)
{
    for (int k = 0; k < e->nargs; k++) {
        const bexpr *const f = e->args[k];
        const bool call = of && e->kind == B_CALL &&
                          ((f->kind == B_CALL && f->fn != e->fn) || f->kind == B_CONV);
        const uint64_t own = call ? opt_indices(p, f) : 0;
        if (own && (has_room(p, f, own) || of_sparse(NULL, p, f, own, false)) &&
            own != opt_indices(p, of->args[0]))
            return true;
        if (may_lift(p, f, f->kind == B_REDUCE ? f : of)) return true;
    }
    return false;
}

/* The factor becomes a step, of which it is a read. */
static stc_status make_factor(opt *o, const product *x, factor *f)
{
    factor own = *f;
    own.of = 0; /* it reduces nothing: there is no guess of what it stores */
    const opt_part t = {.f = &own, .n = 1, .out = own.indices};
    const uint64_t of = f->of;
    const stc_status st = make_step(o, x, &t, f);
    f->of = of;
    return st;
}

/* Whether a factor that stores some coordinates has an index that this one lacks: it, or
 * this one, is then gone through again and again, and nothing lies in rows. */
static bool meets_sparse(const factor *f, int n, const factor *own)
{
    for (int k = 0; k < n; k++)
        if (f[k].density < 1 && f[k].indices & ~own->indices) return true;
    return false;
}

/* Those that are computed from sparse operands. */
static stc_status lift_sparse(opt *o, const product *x, factor *f, int n, uint64_t loops)
{
    bool can[OPT_FACTORS];
    for (int k = 0; k < n; k++) {
        const double work = work_of(f[k].e);
        const double stored = f[k].density * cost_places(o, f[k].indices);
        can[k] =
            f[k].density < 1 && may_be_made(o, x, &f[k], loops) &&
            of_sparse(o, o->p, f[k].e, f[k].indices, true) && meets_sparse(f, n, &f[k]) &&
            opt_pays(stored * (1 + work + entry), cost_nest(o, f, n) * work * in_terms);
    }
    for (int k = 0; k < n; k++) {
        const stc_status st = can[k] ? make_factor(o, x, &f[k]) : STC_OK;
        if (st) return st;
    }
    return STC_OK;
}

/* Room for its steps is there. */
stc_status lift_factors(opt *o, const product *x, factor *f, int n)
{
    uint64_t loops = 0;
    for (int k = 0; k < n; k++)
        loops |= f[k].indices;
    for (int k = 0; k < n; k++) {
        if (!is_whole(o, &f[k]) || !may_be_made(o, x, &f[k], loops)) continue;
        const double calls = calls_of(f[k].e), nest = cost_nest(o, f, n);
        const double once =
            cost_places(o, f[k].indices) * (1 + calls) + cost_write(o, f[k].indices, 1);
        if (!opt_pays(once, nest * calls)) continue;
        const bool pattern = o->pattern;
        o->pattern = false; /* it is stored everywhere, as the operand with room is */
        const stc_status st = make_factor(o, x, &f[k]);
        o->pattern = pattern;
        if (st) return st;
    }
    return lift_sparse(o, x, f, n, loops);
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

/* ---- outside of reductions --------------------------------------------------------- */

/* Whether operand m of a call is an annihilator where nothing is stored. */
static bool is_nothing(const program *p, const bexpr *e, int m)
{
    value fill, none;
    if (!fill_of(p, e->args[m], &fill)) return false;
    for (int n = 0; n < call_annihilators(e); n++)
        if (call_annihilator(e, n, m, &none) &&
            class_equal(call_operand_class(e, m), fill, none))
            return true;
    return false;
}

/* Whether there is something in e that a constant annihilates, as 0 * x(i): it has no
 * terms, whatever x is. */
static bool has_void(const program *p, const bexpr *e)
{
    bool found = false;
    for (int m = 0; m < e->nargs && !found; m++)
        found =
            (e->kind == B_CALL && !expr_has(e->args[m], B_ACCESS) && is_nothing(p, e, m)) ||
            has_void(p, e->args[m]);
    return found;
}

/* Whether operand k of a call leaves no places out, and is no place's alone: another one
 * says which places there are. */
static bool is_everywhere(const program *p, const bexpr *e, int k)
{
    value fill;
    bool others = false;
    if (!reads_some(p, e->args[k])) return !has_void(p, e->args[k]);
    if (!fill_of(p, e->args[k], &fill) || is_nothing(p, e, k)) return false;
    for (int m = 0; m < e->nargs && !others; m++)
        others = m != k && is_nothing(p, e, m);
    return others;
}

/* Whether operand k of a call is computed from others than those of all loops. */
static bool may_be_term(const program *p, const bexpr *e, int k, uint64_t loops)
{
    const bexpr *const t = e->args[k];
    if (e->kind != B_CALL || t->kind != B_CALL || calls_of(t) <= 0 ||
        !expr_has(t, B_ACCESS))
        return false;
    const uint64_t own = opt_indices(p, t);
    return own && own != loops && !has_window(p, t) &&
           (class_type(type_class(t->type)) == t->type || t->type == STC_BOOL) &&
           is_everywhere(p, e, k);
}

/* Whether there is one in e, whose indices are found on the way up: of a sum of hundreds of
 * terms, each of which is looked at once. */
static bool may_lift_terms(const program *p, const bexpr *e, uint64_t loops, uint64_t *own)
{
    const bool call = e->kind == B_CALL || e->kind == B_CONV || e->kind == B_USER;
    bool may = false;
    *own = call ? 0 : opt_indices(p, e);
    for (int k = 0; e->kind != B_REDUCE && k < e->nargs && !may; k++) {
        uint64_t below;
        may = may_lift_terms(p, e->args[k], loops, &below) ||
              (below != loops && may_be_term(p, e, k, loops));
        *own |= below;
    }
    return may;
}

bool lift_may(const program *p, const bstmt *s)
{
    const bexpr top = {.kind = B_CONV, .nargs = 1, .args = (bexpr *[]){s->value}};
    uint64_t own;
    return may_lift(p, &top, NULL) ||
           may_lift_terms(p, s->value, opt_indices(p, s->value), &own);
}

stc_status lift_term(opt *o, bexpr *e, int k, uint64_t loops, double density, bool *done)
{
    *done = false;
    if (!may_be_term(o->p, e, k, loops)) return STC_OK;
    const bexpr *const t = e->args[k];
    const uint64_t own = opt_indices(o->p, t);
    for (uint64_t set = own; set; set &= set - 1)
        if (o->s->index[__builtin_ctzll(set)].lo >= 0) return STC_OK;
    const double calls = calls_of(t), there = density * cost_places(o, loops) * calls;
    const double once = cost_places(o, own) * (1 + calls) + cost_write(o, own, 1);
    bexpr *const r = opt_pays(once, there) ? expr_like(o->a, t, 1) : NULL;
    product *const x = r ? arena_room(o->a, 1, sizeof *x) : NULL;
    if (!x) return opt_pays(once, there) ? STC_ERR_MEMORY : STC_OK;
    r->cls = type_class(t->type);
    r->args[0] = (bexpr *)t;
    *x = (product){.r = r, .n = 1};
    x->factor[0] = (factor){.e = t, .indices = own, .density = 1, .full = true, .step = -1};
    const bool pattern = o->pattern;
    o->pattern = false;
    stc_status st = STC_OK;
    if (shape_full(o, x, x->factor, 1, own)) {
        *done = true;
        st = step_room(o, 1) ? make_factor(o, x, &x->factor[0]) : STC_ERR_MEMORY;
        if (!st) e->args[k] = (bexpr *)x->factor[0].e;
    }
    o->pattern = pattern;
    return st;
}
