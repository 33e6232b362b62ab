/* bind_range.c: ranges of a reduction's indices that depend on others, `k in 0:i+1`.
 *
 * Such a range is a mask on what is reduced, 0 <= k && k < i + 1, which drives the loop
 * over k (src/plan/range.c). The subscripts give k its range, and the mask narrows it.
 * Where i has no range of its own, it goes as far as i + 1 stays within that of k; where k
 * has none, it goes as far as i + 1 does.
 */
#include "bind.h"

/* Adds scale * e to f; false: e isn't affine. */
static bool affine_of(const binder *b, const bexpr *e, int64_t scale, affine *f)
{
    int64_t k;
    if (e->kind == B_CONST)
        return !__builtin_mul_overflow(scale, e->value.i64, &k) &&
               !__builtin_add_overflow(f->constant, k, &f->constant);
    if (e->kind == B_INDEX) {
        int t = 0;
        while (t < f->terms && f->term[t].index != e->index)
            t++;
        if (t == f->terms && t == BIND_MAX_TERMS) return false;
        if (t == f->terms) {
            f->terms++;
            f->term[t].index = e->index;
            f->term[t].coef = 0;
        }
        return !__builtin_add_overflow(f->term[t].coef, scale, &f->term[t].coef);
    }
    if (e->kind != B_CALL || e->cls != CLASS_I64) return false;
    if (e->fn == FN_NEG) return affine_of(b, e->args[0], -scale, f);
    if (e->fn == FN_ADD || e->fn == FN_SUB)
        return affine_of(b, e->args[0], scale, f) &&
               affine_of(b, e->args[1], e->fn == FN_SUB ? -scale : scale, f);
    for (int side = 0; side < 2 && e->fn == FN_MUL; side++)
        if (e->args[side]->kind == B_CONST)
            return !__builtin_mul_overflow(scale, e->args[side]->value.i64, &k) &&
                   k != INT64_MIN && affine_of(b, e->args[1 - side], k, f);
    return false;
}

static bexpr *bound_value(binder *b, const ast *e)
{
    bexpr *const x = bind_expr(b, e);
    if (!x) return NULL;
    if (!type_is_integer(x->type))
        return bind_null(b, e->at, "a bound is an integer, and this is of type %s",
                         type_name(x->type));
    return bind_convert(b, bind_strong(b, x), STC_I64);
}

/* *mask && index fn bound. */
static bool join(binder *b, const ast *at, int index, int fn, bexpr *bound, bexpr **mask)
{
    bexpr *const i = bind_node(b, B_INDEX, STC_I64, at->at);
    if (!i || !bound) return false;
    i->index = index;
    bexpr *const one = bind_call(b, at->at, fn, (bexpr *[]){i, bound}, 2);
    *mask = *mask && one ? bind_call(b, at->at, FN_AND, (bexpr *[]){one, *mask}, 2) : one;
    return *mask != NULL;
}

bool bind_range(binder *b, const ast *binding, int index, bexpr **mask)
{
    if (!binding->count) return true;
    const ast *const lo = binding->child[0], *const hi = binding->child[1];
    family *const f = &b->family[b->family_of[index]];
    if (hi->kind == N_INT && lo->kind == N_INT) return true;
    if ((lo->kind != N_INT || (int64_t)lo->u > 0) &&
        !join(b, lo, index, FN_GE, bound_value(b, lo), mask))
        return false;
    if (hi->kind == N_INT) return true; /* it is the index's range already */
    bexpr *const end = bound_value(b, hi);
    affine *const a = arena_alloc(b->a, sizeof *a);
    if (!end || !a || !join(b, hi, index, FN_LT, end, mask)) return false;
    if (affine_of(b, end, 1, a)) f->end = a;
    return true;
}

/* The index in term t of what ends at n: as many values as leave that within n. */
static int within(binder *b, const access *x, int t, int n)
{
    const int64_t c = x->sub->term[t].coef;
    const int rest = c > 0 ? bind_reach(b, x, true, 0) : -1;
    return rest < 0 ? -1
                    : bind_rooms(
                          b, bind_linear(b, (int[]){n, rest}, (int64_t[]){1, -1}, 2, c), c);
}

stc_status bind_range_ends(binder *b, bool *progress)
{
    for (int k = 0; k < b->nfamily; k++) {
        family *const f = &b->family[k], *other = NULL;
        if (!f->end) continue;
        const access x = {.sub = f->end, .at = f->at};
        int unknown = 0, which = 0;
        for (int t = 0; t < f->end->terms; t++)
            if (!b->family[b->family_of[f->end->term[t].index]].known) {
                unknown++;
                which = t;
            }
        if (f->known ? unknown != 1 || f->end->term[which].coef <= 0 : unknown > 0)
            continue;
        other = f->known ? &b->family[b->family_of[f->end->term[which].index]] : f;
        other->hi = f->known ? within(b, &x, which, f->hi)
                             : bind_rooms(b, bind_reach(b, &x, true, 0), 1);
        if (other->hi < 0) return b->p->cx->diag.status;
        other->known = *progress = true;
        return STC_OK;
    }
    return STC_OK;
}
