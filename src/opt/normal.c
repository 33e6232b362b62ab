/* normal.c: a reduction as a product of factors.
 *
 * Takes a reduction r(i,j: f(a, f(b, r(k: f(c, d))))) in which f distributes over r, is
 * associative and commutative, and is annihilated by r's identity; gives the set i,j,k
 * and the list a, b, c, d. That is the semiring condition of variable elimination,
 * asked of functions.def for each call. What is no call of f is a factor as it stands.
 */
#include "opt.h"

enum { FREE_ORDER = FP_ASSOCIATIVE | FP_COMMUTATIVE };

uint64_t opt_indices(const program *p, const bexpr *e)
{
    uint64_t set = 0;
    if (e->kind == B_INDEX) set |= UINT64_C(1) << e->index;
    for (int m = 0; e->kind == B_ACCESS && m < p->tensor[e->tensor].order; m++)
        for (int t = 0; t < e->sub[m].terms; t++)
            set |= UINT64_C(1) << e->sub[m].term[t].index;
    for (int k = 0; k < e->nargs; k++)
        set |= opt_indices(p, e->args[k]);
    for (int k = 0; e->kind == B_REDUCE && k < e->nindex; k++)
        set &= ~(UINT64_C(1) << e->indices[k]);
    return set;
}

/* Elements are the low bits of sums, but not of minima: those are exact only where
 * a value can't lie beyond its type. Over nothing it has to be the same, too: all bits of a
 * u32 aren't those of its class. */
static bool exact_in_class(const bexpr *r)
{
    const bool narrow = type_is_integer(r->type) && type_size(r->type) < sizeof(int64_t);
    value own, wide;
    if (!narrow || r->type == STC_BOOL) return true;
    if (!r->ufn && fn_identity(r->fn, r->cls, r->type, &own) &&
        fn_identity(r->fn, r->cls, class_type(r->cls), &wide) &&
        !class_equal(r->cls, own, wide))
        return false;
    return reduce_flags(r) & FP_WRAPS;
}

/* Whether r can be done in parts, in any order, and in any type of its class. */
static bool can_be_parted(const bexpr *r, value *identity)
{
    return r->kind == B_REDUCE && (reduce_flags(r) & FREE_ORDER) == FREE_ORDER &&
           exact_in_class(r) && reduce_identity(r, identity);
}

static bool same_function(const bexpr *a, const bexpr *b)
{
    return a->kind == b->kind && a->fn == b->fn && a->ufn == b->ufn;
}

bool same_reduction(const bexpr *e, const product *x)
{
    return same_function(e, x->r) && e->cls == x->r->cls && e->type == x->r->type;
}

bool stores_some(const program *p, const bexpr *e)
{
    return e->kind == B_ACCESS && !format_stores_all(&p->tensor[e->tensor].fmt);
}

bool reads_some(const program *p, const bexpr *e)
{
    bool some = stores_some(p, e);
    for (int k = 0; k < e->nargs && !some; k++)
        some = reads_some(p, e->args[k]);
    return some;
}

/* A subscript of several indices: of windows, which have loops of their own (vm/affine)
 * that a tensor over the indices apart would take away. */
bool has_window(const program *p, const bexpr *e)
{
    for (int m = 0; e->kind == B_ACCESS && m < p->tensor[e->tensor].order; m++)
        if (e->sub[m].terms > 1) return true;
    for (int k = 0; k < e->nargs; k++)
        if (has_window(p, e->args[k])) return true;
    return false;
}

/* The order in which a factor's levels have its indices, where they have one. */
static void note_levels(const program *p, factor *f)
{
    if (!stores_some(p, f->e)) return;
    const format *fmt = &p->tensor[f->e->tensor].fmt;
    for (int l = 0; l < fmt->levels && f->levels < OPT_LEVELS; l++) {
        const level_map *m = &fmt->level[l].map;
        const affine *at = &f->e->sub[m->mode];
        if (m->op == MAP_MODE && at->terms == 1)
            f->level[f->levels++] = (uint8_t)at->term[0].index;
    }
}

factor factor_as_written(const opt *o, const product *x, const bexpr *e)
{
    const double density = cost_density(o, e, &x->identity);
    const bool some = o->pattern ? reads_some(o->p, e) : stores_some(o->p, e);
    factor f = {.e = e,
                .indices = opt_indices(o->p, e),
                .density = density,
                .full = density >= 1 && !some,
                .plain = density >= 1 && !expr_has(e, B_INDEX),
                .steady = keep_steady(o, e),
                .step = -1};
    note_levels(o->p, &f);
    return f;
}

bool is_times(const product *x, const bexpr *e)
{
    if (!x->call || !same_function(e, x->call)) return false;
    return e == x->call || call_is_product(e, x->r, x->identity);
}

/* A call that is the reduction's identity but where its first argument holds, and there its
 * second: of a range that depends on other indices, and of `where`. What is stored it
 * doesn't tell. Of floats something has to be left: nothing is 0, and not 0 * inf. */
static bool is_where(const opt *o, const product *x, const bexpr *e)
{
    return !o->pattern && expr_is_masked(e, x->r->cls, x->identity) &&
           e->type == x->r->type &&
           (type_is_integer(class_type(x->r->cls)) ||
            expr_mask_begins(o->s, e->args[0], reduce_indices(x->r)));
}

static const bexpr *below_where(const opt *o, const product *x, const bexpr *e)
{
    while (is_where(o, x, e))
        e = e->args[1];
    return e;
}

/* False: too many factors, or one that is to stay where it is. */
static bool add_factors(const opt *o, product *x, const bexpr *e, bool windows)
{
    if (is_times(x, e))
        return add_factors(o, x, e->args[0], windows) &&
               add_factors(o, x, e->args[1], windows);
    /* a reduction of the same kind is a part of this one */
    if (same_reduction(e, x) && !(reduce_indices(e) & x->reduced)) {
        x->reduced |= reduce_indices(e);
        return add_factors(o, x, e->args[0], windows);
    }
    if (x->n < OPT_FACTORS && x->call && !windows && is_where(o, x, e) &&
        !has_window(o->p, e->args[0])) {
        x->factor[x->n] = (factor){.e = e->args[0],
                                   .where = e,
                                   .indices = opt_indices(o->p, e->args[0]),
                                   .density = 1,
                                   .full = true,
                                   .steady = keep_steady(o, e->args[0]),
                                   .step = -1,
                                   .of = UINT64_C(1) << x->n};
        x->n++;
        return add_factors(o, x, e->args[1], windows);
    }
    if (x->n == OPT_FACTORS || (!windows && has_window(o->p, e))) return false;
    x->factor[x->n] = factor_as_written(o, x, e);
    x->factor[x->n].of = UINT64_C(1) << x->n;
    x->n++;
    return true;
}

bool product_begin(const bexpr *r, product *out)
{
    out->n = 0;
    if (!can_be_parted(r, &out->identity)) return false;
    out->r = r;
    out->call = call_is_product(r->args[0], r, out->identity) ? r->args[0] : NULL;
    return true;
}

bool factors_of(const opt *o, const bexpr *r, product *out)
{
    if (!product_begin(r, out)) return false;
    const bexpr *in = below_where(o, out, r->args[0]);
    if (!out->call && call_is_product(in, r, out->identity)) out->call = in;
    out->reduced = reduce_indices(r);
    if (!add_factors(o, out, r->args[0], false)) return false;
    look_match(o, out);
    return true;
}

bool windows_of(const opt *o, const bexpr *r, product *out)
{
    if (!product_begin(r, out)) return false;
    out->reduced = reduce_indices(r);
    return add_factors(o, out, r->args[0], true);
}

bool product_of(const opt *o, const bexpr *r, product *out)
{
    return factors_of(o, r, out) && out->n > 1;
}
