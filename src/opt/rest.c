/* rest.c: reductions under a mask, of what is the same wherever nothing is stored.
 *
 *     max(j: A(i,j) where j != i)
 *
 * goes over all of j, since the fill is a term, too, though one is as good as many: a
 * maximum, as any idempotent reduction, doesn't count them. So it is taken of what differs
 * from the fill, and then of the fill, if the mask holds at more places than those:
 *
 *     max(max(j: A(i,j) where M && A(i,j) != fill),
 *         select(sum(j: 1 where M && A(i,j) != fill) < sum(j: 1 where M), fill, none))
 *
 * with j != i as M. That pays where little is stored, and the places at which the mask
 * holds are known: it compares an index with something else, which is a range; or it has a
 * single index, so that they are counted once for all places of the result.
 */
#include "opt.h"

enum { FREE = FP_ASSOCIATIVE | FP_COMMUTATIVE | FP_IDEMPOTENT };

/* It can be read where the mask is false: its subscripts are indices. */
static bool reads_bare(const program *p, const bexpr *e)
{
    for (int m = 0; e->kind == B_ACCESS && m < p->tensor[e->tensor].order; m++)
        if (!affine_is_bare(&e->sub[m])) return false;
    if (e->kind == B_REDUCE || (e->kind == B_ACCESS && e->nargs)) return false;
    for (int k = 0; k < e->nargs; k++)
        if (!reads_bare(p, e->args[k])) return false;
    return true;
}

static bool from_zero(const bstmt *s, uint64_t indices)
{
    for (; indices; indices &= indices - 1) {
        const bindex *i = &s->index[__builtin_ctzll(indices)];
        if (i->lo >= 0 || i->value) return false;
    }
    return true;
}

/* Of a comparison of one of the indices, alone, with what it isn't in: the index, *fn with
 * it on the left, *other; -1: it isn't one. */
static int ranged(const program *p, const bexpr *m, uint64_t indices, int *fn,
                  bexpr **other)
{
    const bool compares = m->kind == B_CALL && m->nargs == 2 && m->cls == CLASS_I64 &&
                          (m->fn == FN_EQ || m->fn == FN_NE || m->fn == FN_LT ||
                           m->fn == FN_LE || m->fn == FN_GT || m->fn == FN_GE);
    for (int side = 0; compares && side < 2; side++) {
        const bexpr *const e = m->args[side];
        *other = m->args[1 - side];
        *fn = side ? fn_turned(m->fn) : m->fn;
        if (e->kind == B_INDEX && (indices >> e->index & 1) &&
            !(opt_indices(p, *other) >> e->index & 1))
            return e->index;
    }
    return -1;
}

/* Of r what is masked, of which *fill is the fill; NULL: it isn't such a reduction. */
static const bexpr *masked_in(const program *p, const bstmt *s, const bexpr *r, value *fill)
{
    product x;
    const bexpr *const e = r->args[0];
    if (r->kind != B_REDUCE || r->ufn || (reduce_flags(r) & FREE) != FREE ||
        !product_begin(r, &x) || !expr_is_masked(e, r->cls, x.identity))
        return NULL;
    const bexpr *const mask = e->args[0], *const of = e->args[1];
    const uint64_t bound = reduce_indices(r), all = opt_indices(p, mask);
    bexpr *other;
    int fn;
    const bool counted =
        ranged(p, mask, bound, &fn, &other) >= 0 || (!(all & (all - 1)) && all & bound);
    if (!counted || reads_some(p, mask) || !reads_bare(p, mask) || !reads_some(p, of) ||
        !reads_bare(p, of) || bound & ~opt_indices(p, of) || !from_zero(s, bound) ||
        type_class(of->type) != r->cls || !fill_of(p, of, fill) ||
        class_equal(r->cls, *fill, x.identity))
        return NULL;
    const fn_scalar same = fn_scalar_of(FN_EQ, r->cls);
    value is;
    return same && same(&is, fill, fill, fill) == FAULT_NONE && is.i64 ? of : NULL;
}

static bool any_masked(const program *p, const bstmt *s, const bexpr *e)
{
    value fill;
    if (e->kind == B_REDUCE && masked_in(p, s, e, &fill)) return true;
    for (int k = 0; k < e->nargs; k++)
        if (any_masked(p, s, e->args[k])) return true;
    return false;
}

bool rest_may(const program *p, const bstmt *s)
{
    return format_stores_all(&p->tensor[s->target].fmt) && any_masked(p, s, s->value);
}

/* The sum of e over some of r's indices. */
static bexpr *sum_of(opt *o, const bexpr *r, bexpr *e, uint64_t indices)
{
    bexpr *n = expr_like(o->a, r, 1);
    if (!n || !e || !indices) return indices ? NULL : e;
    n->fn = FN_COUNTS;
    n->type = STC_I64;
    n->cls = CLASS_I64;
    n->args[0] = e;
    if (!(n->indices = arena_array(o->a, r->nindex, sizeof *n->indices))) return NULL;
    n->nindex = 0;
    for (uint64_t set = indices; set; set &= set - 1)
        n->indices[n->nindex++] = __builtin_ctzll(set);
    n = copy_of(o, n);
    return n && rename_indices(o, n) ? n : NULL;
}

/* The number of places of r at which the mask holds, one by one. */
static bexpr *count_of(opt *o, const bexpr *r, bexpr *mask)
{
    bexpr *const one = expr_int(o->a, 1, r->at), *const none = expr_int(o->a, 0, r->at);
    return sum_of(o, r, expr_select(o->a, mask, one, none, r->at), reduce_indices(r));
}

static bexpr *call(opt *o, int fn, bexpr *a, bexpr *b)
{
    return expr_call(o->a, fn, STC_I64, CLASS_I64, a, b);
}

/* … of a comparison: by where its range ends, at 0 at least and n at most. */
static bexpr *count_range(opt *o, const bexpr *r, bexpr *mask)
{
    int fn;
    bexpr *end, *upto;
    const int index = ranged(o->p, mask, reduce_indices(r), &fn, &end);
    if (index < 0) return count_of(o, r, mask);
    bexpr *const n = expr_extent(o->a, o->s->index[index].hi, r->at);
    bexpr *const zero = expr_int(o->a, 0, r->at), *const one = expr_int(o->a, 1, r->at);
    if (fn == FN_EQ || fn == FN_NE) {
        bexpr *const from = expr_call(o->a, FN_GE, STC_BOOL, CLASS_I64, end, zero);
        bexpr *const to = expr_call(o->a, FN_LT, STC_BOOL, CLASS_I64, end, n);
        bexpr *const in = expr_call(o->a, FN_AND, STC_BOOL, CLASS_I64, from, to);
        upto = in ? expr_select(o->a, in, one, zero, r->at) : NULL;
    } else {
        if (fn == FN_LE || fn == FN_GT)
            end = call(o, FN_COUNTS, call(o, FN_MIN, end, n), one);
        upto = call(o, FN_MAX, call(o, FN_MIN, end, n), zero);
    }
    if (fn == FN_NE || fn == FN_GE || fn == FN_GT) upto = call(o, FN_SUB, n, upto);
    return sum_of(o, r, upto, reduce_indices(r) & ~(UINT64_C(1) << index));
}

static bool pays_stored(const opt *o, const bexpr *r, const bexpr *of, const value *fill)
{
    const uint64_t inside = opt_indices(o->p, r->args[0]);
    const double all = cost_places(o, inside);
    const double stored = all * cost_density(o, of, fill);
    return opt_pays(3 * stored + cost_places(o, inside & ~reduce_indices(r)), all);
}

stc_status rest_apart(opt *o, bexpr **at, bool *done)
{
    const bexpr *const r = *at;
    value fill;
    const bexpr *const of = masked_in(o->p, o->s, r, &fill);
    if (!of || !format_stores_all(&o->p->tensor[o->s->target].fmt) ||
        !pays_stored(o, r, of, &fill) || o->s->nindex + 2 * r->nindex > BOUND_INDICES)
        return STC_OK;
    const bexpr *const e = r->args[0];
    bexpr *const c = expr_const(o->a, of->type, fill, r->at);
    bexpr *const differs = expr_call(o->a, FN_NE, STC_BOOL, r->cls, e->args[1], c);
    bexpr *const here = expr_call(o->a, FN_AND, STC_BOOL, CLASS_I64, e->args[0], differs);
    bexpr *const first = expr_like(o->a, r, 1);
    if (!here || !first) return STC_ERR_MEMORY;
    first->args[0] = expr_select(o->a, here, e->args[1], e->args[2], e->at);
    bexpr *const stored = count_of(o, r, here), *const all = count_range(o, r, e->args[0]);
    bexpr *const fewer = expr_call(o->a, FN_LT, STC_BOOL, CLASS_I64, stored, all);
    bexpr *const other = expr_const(o->a, of->type, e->args[2]->value, r->at);
    bexpr *const rest = fewer ? expr_select(o->a, fewer, c, other, r->at) : NULL;
    if (!first->args[0] || !rest) return STC_ERR_MEMORY;
    bexpr *const both = expr_call(o->a, r->fn, r->type, r->cls, first, rest);
    bexpr *const own = both ? copy_of(o, both) : NULL; /* parts are in several places */
    if (!own) return STC_ERR_MEMORY;
    *at = own;
    *done = true;
    return STC_OK;
}
