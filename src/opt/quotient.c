/* quotient.c: quotients of products that are reduced.
 *
 * In g(j) = X(i,j) * e(i) / n each term would be divided by n. So the divisor goes to one
 * factor, X(i,j) * (e(i) / n): to the one with the fewest indices that has all of the
 * divisor's, if it has fewer than the product, and is stored everywhere. What is left is a
 * product, which kernels know, and the factor is computed once for each of its own places
 * (lift.c). No function is known by name: functions.def says what takes a product's operand
 * off again. Terms are rounded otherwise, as products are whose factors meet in another
 * order.
 */
#include "opt.h"

/* Whether q is a product p of r's with something taken off. */
static bool is_quotient(const bexpr *q, const bexpr *r)
{
    value identity;
    if (q->kind != B_CALL || q->nargs != 2 || q->args[0]->kind != B_CALL) return false;
    const bexpr *const p = q->args[0];
    return p->cls == q->cls && p->type == q->type && fn_inverse(p->fn, 0) == q->fn &&
           reduce_identity(r, &identity) && call_is_product(p, r, identity);
}

static bool any_quotient(const bexpr *e, const bexpr *r)
{
    if (e->kind == B_REDUCE) r = e;
    bool found = r && is_quotient(e, r);
    for (int k = 0; k < e->nargs && !found; k++)
        found = any_quotient(e->args[k], r);
    return found;
}

bool quotient_may(const bexpr *e)
{
    return any_quotient(e, NULL);
}

/* The factor of a product by `fn` that has the fewest indices, but some, and those of
 * `need`; NULL: none has fewer than `most`. Not one that is stored at some places: what it
 * is at the others would be 0 / 0. */
static bexpr **fewest(const program *p, bexpr **at, int fn, uint64_t need, int *most)
{
    const uint64_t own = opt_indices(p, *at);
    if ((*at)->kind != B_CALL || (*at)->fn != fn) {
        if (!own || need & ~own || __builtin_popcountll(own) >= *most || reads_some(p, *at))
            return NULL;
        *most = __builtin_popcountll(own);
        return at;
    }
    bexpr **const first = fewest(p, &(*at)->args[0], fn, need, most);
    bexpr **const second = fewest(p, &(*at)->args[1], fn, need, most);
    return second ? second : first;
}

/* What is the same for all terms becomes a factor of its own, 1 / n, where several indices
 * are reduced: their steps leave it to the last one. */
static void apart(const opt *o, bexpr **at, const bexpr *r)
{
    bexpr *const q = *at, *const of = q->args[0];
    value one, before, after;
    if (r->nindex < 2 || opt_indices(o->p, q->args[1]) || q->args[1]->kind == B_CONST ||
        !opt_pays(0, cost_places(o, opt_indices(o->p, q))) || /* else as it is rounded */
        !fn_identity(of->fn, of->cls, of->type, &one) || !fill_of(o->p, q, &before))
        return;
    bexpr *const by = expr_like(o->a, q, 2), *const times = expr_like(o->a, of, 2);
    if (!by || !times || !(by->args[0] = expr_const(o->a, of->type, one, q->at))) return;
    by->args[1] = q->args[1];
    times->args[0] = of;
    times->args[1] = by;
    if (fill_of(o->p, times, &after) && class_equal(q->cls, before, after)) *at = times;
}

static void move(const opt *o, bexpr **at, const bexpr *r)
{
    bexpr *const q = *at, *const of = q->args[0];
    int most = __builtin_popcountll(opt_indices(o->p, q));
    bexpr **const to =
        fewest(o->p, &q->args[0], of->fn, opt_indices(o->p, q->args[1]), &most);
    value before, after;
    if (!to) apart(o, at, r);
    if (!to || (*to)->type != q->type || !fill_of(o->p, q, &before)) return;
    q->args[0] = *to;
    *to = q;
    *at = of;
    if (fill_of(o->p, of, &after) && class_equal(q->cls, before, after)) return;
    *to = q->args[0]; /* what isn't stored would be something else */
    q->args[0] = of;
    *at = q;
}

void quotients(const opt *o, bexpr **at, const bexpr *r)
{
    if ((*at)->kind == B_REDUCE) r = *at;
    for (int k = 0; k < (*at)->nargs; k++)
        quotients(o, &(*at)->args[k], r);
    if (r && is_quotient(*at, r)) move(o, at, r);
}
