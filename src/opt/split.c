/* split.c: a reduction of a sum is a sum of reductions.
 *
 * Takes a reduction r(i,j: e). Where e is a call that r's function goes through, as in
 * sum(i,j: a - b) or sum(i,j: -a / 7), it becomes that call of reductions, each of which
 * is then taken apart by itself. Where no factor of e depends on j, it becomes r(i: e), n
 * times: n is an operand of what repeats r's function (a sum's is a product), or doesn't
 * matter where that is idempotent. No function is known by name: functions.def says what
 * r goes through and what repeats it.
 *
 * A merged loop over all terms is cheaper than one for each: so they are split only where
 * the best steps of the terms visit much less than loops over all indices do; or where
 * each term has sparse operands of its own, of which such a loop goes through the union,
 * as in sum(j: A(i,j) * B(j,k) - B(i,j) * A(j,k)). Products of floats aren't split: 2**5000
 * * 0 isn't what 2 * 0 * 2 * ... is.
 *
 * A product with a sum that has reductions, as in sum(j: (A(i,j) + sum(k: U(i,k)*V(k,j))) *
 * x(j)), is distributed over its terms first, where their steps visit much less than these
 * reductions and the product beside them. What was reduced is rounded already, so that no
 * more is lost than was.
 */
#include "opt.h"
#include <string.h>

enum { OPERANDS = 3 };

/* ---- what it would visit ------------------------------------------------------------ */

/* The operands of e in which r goes through it. */
static unsigned operands_of(const bexpr *r, const bexpr *e)
{
    if (e->kind != B_CALL || e->cls != r->cls || e->nargs > OPERANDS ||
        fn_result_class(e->fn, e->cls) != r->cls || r->ufn)
        return 0;
    const unsigned set = fn_splits(e->fn, r->fn, r->cls);
    value none, arg[OPERANDS] = {{0}}, v;
    if (!set || !reduce_identity(r, &none)) return 0;
    for (int k = 0; k < e->nargs; k++) {
        if (!((set >> k) & 1) && e->args[k]->kind != B_CONST) return 0;
        arg[k] = (set >> k) & 1 ? none : e->args[k]->value;
    }
    /* nothing, reduced, is what it was */
    const fn_scalar f = fn_scalar_of(e->fn, e->cls);
    const bool same =
        f && f(&v, &arg[0], &arg[1], &arg[2]) == FAULT_NONE && class_equal(r->cls, v, none);
    return same ? set : 0;
}

bool split_may(const bexpr *r)
{
    return operands_of(r, r->args[0]);
}

static uint64_t indices_of(const product *x)
{
    uint64_t set = 0;
    for (int k = 0; k < x->n; k++)
        set |= x->factor[k].indices;
    return set;
}

static bexpr *reduce_of(opt *o, const bexpr *r, bexpr *e)
{
    bexpr *out = expr_like(o->a, r, 1);
    if (out) out->args[0] = e;
    return out;
}

/* What loops over all indices visit, and what steps would, over all terms. */
typedef struct costs {
    double written, best;
    int terms;
    bool stays; /* a term can't be taken apart                                 */
    bool meets; /* terms share an operand, or one has none that is sparse      */
    const product *last;
} costs;

/* What goes through the union of several operands visits, beside loops for each. */
static const double unite = 2.5;

/* Whether what both terms read of sparse operands is in part the same, or one has none. */
static bool shares_sparse(const opt *o, const product *a, const product *b)
{
    bool some = false;
    for (int k = 0; k < a->n; k++) {
        const bexpr *const e = a->factor[k].e;
        if (a->factor[k].density >= 1) continue;
        if (e->kind != B_ACCESS) return true;
        some = true;
        for (int j = 0; j < b->n; j++)
            if (b->factor[j].e->kind == B_ACCESS && same_access(o->p, e, b->factor[j].e))
                return true;
    }
    return !some;
}

static stc_status add_costs(opt *o, const bexpr *r, bexpr *e, costs *all)
{
    const unsigned set = operands_of(r, e);
    for (int k = 0; set && k < e->nargs; k++) {
        if (!((set >> k) & 1)) continue;
        const stc_status st = add_costs(o, r, e->args[k], all);
        if (st) return st;
    }
    if (set) return STC_OK;
    const bexpr *term = reduce_of(o, r, e);
    product *x = arena_room(o->a, 1, sizeof *x);
    if (!term || !x) return STC_ERR_MEMORY;
    if (!factors_of(o, term, x) || x->n + 1 > OPT_FACTORS) {
        all->stays = true;
        return STC_OK;
    }
    const uint64_t counted = x->reduced & ~indices_of(x);
    all->meets |= shares_sparse(o, x, all->last ? all->last : &(product){0});
    all->last = x;
    x->factor[x->n] = (factor){.indices = counted, .density = 1, .step = -1};
    all->terms++;
    all->written += cost_nest(o, x->factor, x->n + 1);
    x->reduced &= ~counted;
    elimination el = {.cost = cost_nest(o, x->factor, x->n)};
    const stc_status st = x->reduced & (x->reduced - 1) ? eliminate(o, x, &el) : STC_OK;
    all->best += el.cost;
    return st;
}

/* ---- terms -------------------------------------------------------------------------- */

void rename_in(const program *p, bexpr *e, const int *to)
{
    if (e->kind == B_INDEX) e->index = to[e->index];
    for (int m = 0; e->kind == B_ACCESS && m < p->tensor[e->tensor].order; m++)
        for (int t = 0; t < e->sub[m].terms; t++)
            e->sub[m].term[t].index = to[e->sub[m].term[t].index];
    for (int k = 0; e->kind == B_REDUCE && k < e->nindex; k++)
        e->indices[k] = to[e->indices[k]];
    for (int k = 0; k < e->nargs; k++)
        rename_in(p, e->args[k], to);
}

bexpr *copy_of(opt *o, const bexpr *e)
{
    bexpr *c = expr_like(o->a, e, e->nargs);
    if (!c) return NULL;
    const int order = e->kind == B_ACCESS ? o->p->tensor[e->tensor].order : 0;
    if (order && !(c->sub = arena_array(o->a, order, sizeof *c->sub))) return NULL;
    if (order) memcpy(c->sub, e->sub, (size_t)order * sizeof *c->sub);
    if (e->kind == B_REDUCE) {
        if (!(c->indices = arena_array(o->a, e->nindex + 1, sizeof *c->indices)))
            return NULL;
        memcpy(c->indices, e->indices, (size_t)e->nindex * sizeof *c->indices);
    }
    for (int k = 0; k < e->nargs; k++)
        if (!(c->args[k] = copy_of(o, e->args[k]))) return NULL;
    return c;
}

bool rename_indices(opt *o, bexpr *r)
{
    bstmt *s = o->s;
    int to[BOUND_INDICES];
    bindex *all = step_own_indices(o, r->nindex);
    if (!all) return false;
    for (int k = 0; k < s->nindex; k++)
        to[k] = k;
    for (int k = 0; k < r->nindex; k++) {
        to[r->indices[k]] = s->nindex;
        o->extent[s->nindex] = o->extent[r->indices[k]];
        all[s->nindex++] = s->index[r->indices[k]];
    }
    rename_in(o->p, r, to);
    return true;
}

/* e with r of its operands in it; all terms but the first have indices of their own. */
static bexpr *through(opt *o, const bexpr *r, const bexpr *e, int *terms)
{
    const unsigned set = operands_of(r, e);
    if (!set) {
        bexpr *term = reduce_of(o, r, (bexpr *)e);
        if (term) term = copy_of(o, term);
        return term && ((*terms)++ == 0 || rename_indices(o, term)) ? term : NULL;
    }
    bexpr *c = expr_like(o->a, e, e->nargs);
    if (!c) return NULL;
    c->type = r->type;
    for (int k = 0; k < e->nargs; k++) {
        c->args[k] = (set >> k) & 1 ? through(o, r, e->args[k], terms) : e->args[k];
        if (!c->args[k]) return NULL;
    }
    return c;
}

/* A 0 that ends a reduction of floats must meet all of it: a power on the way to it that is
 * beyond all numbers, and then times 0, is none. */
static bool must_meet_all(const bexpr *r)
{
    const bool whole = r->cls == CLASS_I64 || r->cls == CLASS_U64;
    bool zero = false;
    for (int k = 0; k < 3 && !whole && !r->ufn; k++)
        zero |= fn_at(r->fn)->annihilator[k].value == FC_ZERO;
    return zero && !(reduce_flags(r) & FP_IDEMPOTENT);
}

/* Each term of r's operand reduced by itself, at *at, if that is less work than `stands`.
 */
static stc_status reduce_terms(opt *o, bexpr **at, const bexpr *r, const costs *all,
                               double stands, bool *done)
{
    int terms = 0;
    if (all->stays || !opt_pays(all->best, stands) ||
        o->s->nindex + (all->terms - 1) * r->nindex > BOUND_INDICES)
        return STC_OK;
    bexpr *e = through(o, r, r->args[0], &terms);
    if (!e) return STC_ERR_MEMORY;
    *at = e;
    *done = true;
    return STC_OK;
}

static stc_status split_terms(opt *o, bexpr **at, bool *done)
{
    const bexpr *r = *at;
    costs all = {0};
    if (!operands_of(r, r->args[0]) || must_meet_all(r)) return STC_OK;
    const stc_status st = add_costs(o, r, r->args[0], &all);
    if (!all.meets) all.written *= unite;
    return st ? st : reduce_terms(o, at, r, &all, all.written, done);
}

/* ---- products with sums -------------------------------------------------------------- */

/* The only factor of x in which something is reduced, if that is a sum; else NULL. */
static const bexpr *sum_among(const product *x)
{
    const bexpr *sum = NULL;
    for (int k = 0; k < x->n; k++) {
        if (!expr_has(x->factor[k].e, B_REDUCE)) continue;
        if (sum || x->factor[k].where || !operands_of(x->r, x->factor[k].e)) return NULL;
        sum = x->factor[k].e;
    }
    return sum;
}

/* The product e with a term for the sum in it. */
static bexpr *with_term(opt *o, const product *x, bexpr *e, const bexpr *sum, bexpr *term)
{
    if (e == sum) return term;
    if (!is_times(x, e)) return e;
    bexpr *c = expr_like(o->a, e, e->nargs);
    for (int k = 0; c && k < e->nargs; k++)
        if (!(c->args[k] = with_term(o, x, e->args[k], sum, term))) return NULL;
    return c;
}

/* The sum, each of its terms times what the product has beside it. */
static bexpr *distributed(opt *o, const product *x, const bexpr *sum, bexpr *e)
{
    const unsigned set = operands_of(x->r, e);
    if (!set) return with_term(o, x, x->r->args[0], sum, e);
    bexpr *c = expr_like(o->a, e, e->nargs);
    for (int k = 0; c && k < e->nargs; k++) {
        c->args[k] = (set >> k) & 1 ? distributed(o, x, sum, e->args[k]) : e->args[k];
        if (!c->args[k]) return NULL;
    }
    return c;
}

/* What the reductions in e cost as steps is added. */
static stc_status add_reductions(opt *o, const bexpr *e, double *cost)
{
    stc_status st = STC_OK;
    for (int k = 0; k < e->nargs && e->kind != B_REDUCE && !st; k++)
        st = add_reductions(o, e->args[k], cost);
    if (st || e->kind != B_REDUCE) return st;
    product *x = arena_room(o->a, 1, sizeof *x);
    elimination el = {.n = 0};
    if (!x) return STC_ERR_MEMORY;
    if (!factors_of(o, e, x)) return STC_OK; /* for nothing: the more it must be worth */
    if ((st = eliminate(o, x, &el))) return st;
    *cost +=
        el.cost + cost_write(o, left_of(x), cost_result(o, x->factor, x->n, left_of(x)));
    return STC_OK;
}

static stc_status distribute(opt *o, bexpr **at, bool *done)
{
    product *x = expr_has((*at)->args[0], B_REDUCE) ? arena_room(o->a, 1, sizeof *x) : NULL;
    costs all = {0};
    if (!x || !product_of(o, *at, x) || must_meet_all(*at)) return STC_OK;
    const bexpr *const sum = sum_among(x);
    if (!sum) return STC_OK;
    bexpr *r = reduce_of(o, *at, distributed(o, x, sum, (bexpr *)sum));
    double stands = cost_nest(o, x->factor, x->n);
    if (!r || !r->args[0]) return STC_ERR_MEMORY;
    stc_status st = add_reductions(o, sum, &stands);
    if (!st) st = add_costs(o, r, r->args[0], &all);
    return st ? st : reduce_terms(o, at, r, &all, stands, done);
}

/* ---- counting ----------------------------------------------------------------------- */

/* by(e, the number of values that an index has) */
static bexpr *times(opt *o, const bexpr *r, int by, bexpr *e, int index)
{
    const int hi = o->s->index[index].hi;
    const extent *x = &o->p->ext[hi];
    bexpr *call = expr_like(o->a, r, 2), *n = expr_like(o->a, r, 0),
          *conv = expr_like(o->a, r, 1);
    if (!call || !n || !conv) return NULL;
    n->kind = B_EXTENT;
    n->type = STC_I64;
    n->index = hi;
    conv->kind = B_CONV;
    conv->type = class_type(r->cls);
    conv->args[0] = n;
    if (x->op == EXT_CONST) {
        n->kind = B_CONST;
        n->type = conv->type;
        n->value = class_convert(r->cls, CLASS_I64, (value){.i64 = x->k});
    }
    call->kind = B_CALL;
    call->fn = by;
    call->args[0] = e;
    call->args[1] = type_class(n->type) == r->cls ? n : conv;
    return call;
}

/* Whether an index surely has values, and as many as its upper bound says. */
static bool from_zero(const bindex *i)
{
    return i->lo < 0 && !i->value;
}

static bool surely_some(const opt *o, uint64_t indices)
{
    for (; indices; indices &= indices - 1) {
        const extent *x = &o->p->ext[o->s->index[__builtin_ctzll(indices)].hi];
        if (x->op != EXT_CONST || x->k <= 0) return false;
    }
    return true;
}

static stc_status count(opt *o, bexpr **at, const product *x, bool *done)
{
    const bexpr *r = *at;
    const uint64_t counted = x->reduced & ~indices_of(x),
                   rest = reduce_indices(r) & ~counted;
    const bool once = reduce_flags(r) & FP_IDEMPOTENT;
    const int by = once || r->ufn ? -1 : fn_repeated(r->fn);
    if (!counted || (counted & ~reduce_indices(r)) || (!once && by < 0)) return STC_OK;
    for (uint64_t set = counted; set; set &= set - 1)
        if (!from_zero(&o->s->index[__builtin_ctzll(set)])) return STC_OK;
    /* of no values there is no term */
    stc_status st = STC_OK;
    if (!surely_some(o, counted)) {
        if (!rest) return STC_OK;
        st = narrow(o, counted, rest);
    }
    bexpr *e = rest ? expr_like(o->a, r, 1) : r->args[0];
    if (!st && e && rest) {
        e->args[0] = r->args[0];
        e->indices = arena_array(o->a, 64, sizeof *e->indices);
        e->nindex = 0;
        for (uint64_t set = e->indices ? rest : 0; set; set &= set - 1)
            e->indices[e->nindex++] = __builtin_ctzll(set);
        if (!e->indices) e = NULL;
    }
    for (uint64_t set = once ? 0 : counted; e && !st && set; set &= set - 1)
        e = times(o, r, by, e, __builtin_ctzll(set));
    if (st || !e) return st ? st : STC_ERR_MEMORY;
    *at = e;
    *done = true;
    return STC_OK;
}

stc_status split(opt *o, bexpr **at, bool *done)
{
    stc_status st = STC_OK;
    *done = false;
    if (reduce_indices(*at) & ~opt_indices(o->p, (*at)->args[0])) {
        product *x = arena_room(o->a, 1, sizeof *x);
        if (!x) return STC_ERR_MEMORY;
        if (factors_of(o, *at, x)) st = count(o, at, x, done);
    }
    if (!st && !*done) st = split_terms(o, at, done);
    return st || *done ? st : distribute(o, at, done);
}
