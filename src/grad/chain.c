/* chain.c: the chain rule down an expression. `d` is the derivative of the scalar by the
 * expression, for each value of the indices `over`, and is 0 where they don't reach.
 *
 * What a reduction reduces depends on d at fewer indices: where d is more than a product of
 * elements, or has other indices, it becomes a tensor of its own first, which costs what d
 * visits: the samples of a mask, not all pairs.
 */
#include "inside.h"

#include <string.h>

static bool down_call(grad *g, const bexpr *e, ast *d, uint64_t over)
{
    for (int k = 0; k < e->nargs; k++) {
        if (!is_active(e->args[k]) || !strcmp(fn_derivative(e->fn, k), "0")) continue;
        ast *const part = rule_apply(g, e, k, d);
        if (!part || !chain_down(g, e->args[k], part, over)) return false;
    }
    return true;
}

/* ---- a user's function by its body: by its parameters, then on in the arguments ----- */

static ast *add(grad *g, ast *x, ast *y)
{
    return x ? tree_binary(g, OPR_ADD, x, y) : y;
}

/* Marks what depends on the parameter. */
static bool mark_local(grad *g, bexpr *e, int param)
{
    bool some = e->kind == B_LOCAL && e->index == param;
    for (int k = 0; k < e->nargs; k++)
        some |= mark_local(g, e->args[k], param);
    e->mark = some && type_is_float(e->type) ? ACTIVE : 0;
    return some;
}

static bool by_local(grad *g, const bexpr *e, ast *d, ast **sum);

/* d times the derivative of a call of a user's function by operand k. */
static ast *user_part(grad *g, const bexpr *e, int k, ast *d)
{
    const ast *own;
    if (!rule_of(g, e, k, &own)) return NULL;
    if (own) return rule_apply(g, e, k, d);
    bexpr *const body = rule_body(g, e);
    const locals in = {e->args, g->local};
    ast *part = NULL;
    if (!body) return NULL;
    mark_local(g, body, k);
    g->local = &in;
    const bool ok = !is_active(body) || by_local(g, body, tree_number(g, 1), &part);
    g->local = in.outer;
    if (!ok) return NULL;
    return part ? tree_times(g, d, part) : tree_number(g, 0);
}

/* The derivative of a body by its parameter. */
static bool by_local(grad *g, const bexpr *e, ast *d, ast **sum)
{
    if (e->kind == B_LOCAL) {
        *sum = add(g, *sum, d);
        return *sum != NULL;
    }
    for (int k = 0; k < e->nargs; k++) {
        if (!is_active(e->args[k])) continue;
        ast *part = d;
        if (e->kind == B_CALL) {
            const char *const rule = fn_derivative(e->fn, k);
            if (!strcmp(rule, "0")) continue;
            part =
                *rule ? rule_apply(g, e, k, d)
                      : grad_refuse(g, e->at, "`%s`, in a function here, has no derivative",
                                    fn_at(e->fn)->name);
        } else if (e->kind == B_USER) {
            part = user_part(g, e, k, d);
        }
        if (!part || !by_local(g, e->args[k], part, sum)) return false;
    }
    return true;
}

static bool down_user(grad *g, const bexpr *e, ast *d, uint64_t over)
{
    for (int k = 0; k < e->nargs; k++) {
        if (!is_active(e->args[k])) continue;
        ast *const part = user_part(g, e, k, d);
        if (!part || (!tree_is(part, 0) && !chain_down(g, e->args[k], part, over)))
            return false;
    }
    return true;
}

/* ---- reductions ----------------------------------------------------------------- */

static int names_of(const grad *g, uint64_t set, const char **name)
{
    int n = 0;
    for (int i = 0; i < g->step->st->nindex; i++)
        if (set >> i & 1) name[n++] = g->index[i];
    return n;
}

static ast *element(grad *g, const char *name, uint64_t set)
{
    const char *index[64];
    ast *child[64];
    const int n = names_of(g, set, index);
    if (!n) return tree_name(g, name);
    for (int k = 0; k < n; k++)
        child[k] = tree_name(g, index[k]);
    ast *const e = tree_call(g, name, child, n);
    if (e) e->op = ACCESS;
    return e;
}

/* A tensor over the indices of `set`: e, summed over the others of `over`. */
static ast *held(grad *g, const char *prefix, ast *e, uint64_t over, uint64_t set)
{
    const char *const name = grad_name(g, prefix, "part");
    if (__builtin_popcountll(set) > STC_MAX_ORDER)
        return grad_refuse(g, g->step->st->at,
                           "the derivative needs a tensor of more than %d modes",
                           STC_MAX_ORDER);
    e = range_reduce(g, "sum", over & ~set, e, NULL);
    const uint64_t open = g->open;
    g->open = set; /* what is summed gives no range any more */
    e = range_keep(g, e, set, 0, NULL);
    g->open = open;
    ast *const x = name ? element(g, name, set) : NULL;
    if (!x || !grad_emit(g, x, OPR_NONE, e, NULL)) return NULL;
    return element(g, name, set);
}

/* A reduction of e over `bound`, held over `outer`. */
static ast *held_reduction(grad *g, const char *prefix, const char *f, ast *e,
                           uint64_t outer, uint64_t bound)
{
    return held(g, prefix, range_reduce(g, f, bound, e, NULL), outer, outer);
}

/* The derivative by the terms of a minimum: for those that attain it, in equal shares.
 * Terms that are sums are held, since sums that are taken again may be rounded otherwise.
 */
static ast *share_of_least(grad *g, const bexpr *e, ast *d, uint64_t outer, uint64_t bound)
{
    const uint64_t open = g->open;
    g->open |= bound;
    ast *term = value_of(g, e->args[0]);
    if (term && ast_reduction(term))
        term = held(g, "term_", term, outer | bound, outer | bound);
    g->open = open;
    ast *const least = held_reduction(g, "value_", bound_reducer(e), term, outer, bound);
    ast *const is = tree_binary(g, OPR_EQ, term, least);
    ast *const count = held_reduction(g, "count_", "sum", is, outer, bound);
    return tree_select(g, is, tree_binary(g, OPR_DIV, d, count), tree_number(g, 0));
}

/* The derivative by the factors of a product: the product of the others, by way of the
 * product of those that aren't 0, and how many are. */
static ast *product_of_others(grad *g, const bexpr *e, ast *d, uint64_t outer,
                              uint64_t bound)
{
    const uint64_t open = g->open;
    ast *const zero = tree_number(g, 0), *const one = tree_number(g, 1);
    g->open |= bound;
    ast *const x = value_of(g, e->args[0]);
    g->open = open;
    ast *const is = tree_binary(g, OPR_EQ, x, zero);
    ast *const rest = tree_select(g, is, one, x);
    ast *const count = held_reduction(g, "count_", "sum", is, outer, bound);
    ast *const others = held_reduction(g, "value_", "prod", rest, outer, bound);
    ast *const alone = tree_select(g, tree_binary(g, OPR_EQ, count, one), others, zero);
    ast *const all = tree_select(g, tree_binary(g, OPR_EQ, count, zero),
                                 tree_binary(g, OPR_DIV, others, x), zero);
    return tree_times(g, d, tree_select(g, is, alone, all));
}

static bool down_reduction(grad *g, const bexpr *e, ast *d, uint64_t over)
{
    const uint64_t open = g->open;
    uint64_t outer = value_indices(g, e), bound = 0;
    for (uint64_t more = ~outer; more; outer |= more)
        more = range_needs(g, outer & over) & over & ~outer;
    for (int k = 0; k < e->nindex; k++)
        bound |= 1ull << e->indices[k];
    if (ast_reduction(d) || (over & ~outer)) {
        if (!(d = held(g, "d_", d, over, outer))) return false;
        over = outer;
    }
    if (e->fn == FN_MUL)
        d = product_of_others(g, e, d, outer, bound);
    else if (e->fn != FN_ADD)
        d = share_of_least(g, e, d, outer, bound);
    g->open = over | bound;
    const bool ok = d && chain_down(g, e->args[0], d, over | bound);
    g->open = open;
    return ok;
}

bool chain_down(grad *g, const bexpr *e, ast *d, uint64_t over)
{
    if (!is_active(e)) return true;
    switch (e->kind) {
    case B_ACCESS:
        return spread_access(g, e, d, over);
    case B_CONV:
        return chain_down(g, e->args[0], d, over);
    case B_CALL:
        return down_call(g, e, d, over);
    case B_USER:
        return down_user(g, e, d, over);
    case B_REDUCE:
        return down_reduction(g, e, d, over);
    default:
        return true;
    }
}
