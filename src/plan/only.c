/* only.c: rounds in which nothing comes of what they would compute.
 *
 *     r(i) = sum(j: A(i,j) * x(j)) where z(i) < 0.5
 *     C(i,j) = m(i) && any(k: A(i,k) && B(k,j))
 *
 * Where the condition is false the element is the result's fill, whatever the reduction
 * would give. So the condition is tested as soon as its indices are bound, before the loops
 * of reductions, and a round in which it doesn't hold goes on to the next one; tiers leave
 * such lanes out many at a time. The same goes for a choice whose other side is the
 * identity of a reduction around it.
 *
 * Takes the expression of a leaf, and the value that is as good as nothing there; gives the
 * condition. Sparse results have it among what they store by (algebra.c, reach.c).
 */
#include "build.h"

/* Whether e is a constant, of value v. */
static bool is_constant(const bexpr *e, value v)
{
    if (e->kind == B_CONST) return class_equal(type_class(e->type), e->value, v);
    if (e->kind != B_CONV) return false;
    const value u = conv_value(e->args[0]->type, e->type, v);
    return class_equal(type_class(e->type), conv_value(e->type, e->args[0]->type, u), v) &&
           is_constant(e->args[0], u);
}

static bexpr *both(plan *pl, bexpr *a, bexpr *b)
{
    return a && b ? expr_call(pl->a, FN_AND, STC_BOOL, CLASS_I64, a, b) : a ? a : b;
}

/* What e needs, else it is v; NULL: nothing that is known without what it reduces. */
static bexpr *needed(plan *pl, bexpr *e, value v)
{
    if (!expr_has(e, B_REDUCE)) return NULL;
    if (e->kind == B_CONV) {
        const value u = conv_value(e->args[0]->type, e->type, v);
        const value back = conv_value(e->type, e->args[0]->type, u);
        const bool same = class_equal(type_class(e->type), back, v);
        return same ? needed(pl, e->args[0], u) : NULL;
    }
    if (e->kind != B_CALL || e->ufn) return NULL;
    if (expr_selects(e) && is_constant(e->args[2], v))
        return both(pl, expr_has(e->args[0], B_REDUCE) ? NULL : e->args[0],
                    needed(pl, e->args[1], v));
    if (e->fn != FN_AND || v.i64) return NULL;
    bexpr *of[2];
    for (int k = 0; k < 2; k++) {
        bexpr *const x = e->args[k];
        const value zero = conv_value(x->type, STC_I64, (value){.i64 = 0});
        of[k] = expr_has(x, B_REDUCE) ? needed(pl, x, zero)
                : x->type == STC_BOOL ? x
                                      : NULL;
    }
    return both(pl, of[0], of[1]);
}

bexpr *only_where(plan *pl, bexpr *e, value none)
{
    return expr_may_fault(e) ? NULL : needed(pl, e, none);
}
