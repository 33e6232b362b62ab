/* network.c: products of hundreds of factors, over hundreds of indices.
 *
 * Elsewhere sets of a statement's indices, and of a product's factors, are 64 bits. A
 * statement that has more of them is taken apart here first: chains of matrices, the
 * partition function of a graphical model, networks of tensors, counting. Factors list
 * their indices, and indices the factors that have them. Reducing an index makes a step of
 * all factors that have it, which are replaced by its result (bucket elimination); a step
 * is a statement of its own with a few indices, numbered anew, so that everything after
 * this takes it as any other.
 *
 * Sums of as many reductions, each with an index of its own, become a step each.
 *
 * The order is found greedily, once by what the next step costs and once by how much larger
 * its result is than what it takes away; the cheaper of the two is done. What is left is a
 * statement like others.
 */
#include "network.h"
#include <float.h>
#include <string.h>

enum { FEW = 32 }; /* operands of a statement that eliminate.c orders                   */
enum { BY_COST, BY_GROWTH, CRITERIA };

/* ---- the order ------------------------------------------------------------------ */

/* Fewer factors in place of many: some of them, with few indices among them, become one. */
static stc_status merge(net *t, const list *of, bool real, bucket *b, bool *done)
{
    int chosen[MOST], n = 0, indices = 0;
    list seen = {0};
    *done = false;
    for (int fits = 0; fits <= STC_MAX_ORDER && n < 2; fits += STC_MAX_ORDER / 2) {
        n = indices = seen.n = 0;
        for (int k = 0; k < of->n && n < MOST; k++) {
            const node *f = &t->f[of->at[k]];
            int others = 0;
            for (int i = 0; i < f->n; i++)
                others += t->local[f->index[i]] < 0;
            if (n && (others > fits || indices + others > STC_MAX_ORDER)) continue;
            for (int i = 0; i < f->n; i++)
                if (!net_note(t, &seen, f->index[i])) return STC_ERR_MEMORY;
            indices = seen.n;
            chosen[n++] = of->at[k];
        }
        net_forget(t, seen.at, seen.n);
    }
    if (n < 2 || !net_gather(t, chosen, n, false, b)) return STC_OK;
    net_price(b);
    *done = true;
    return net_replace(t, b, real);
}

static stc_status merge_down(net *t, const list *of, bool real, bucket *b)
{
    stc_status st = STC_OK;
    for (bool done = true; of->n > MOST && done && !st;)
        st = merge(t, of, real, b, &done);
    return st;
}

/* How much larger the result is than what it takes away. */
static double growth(const bucket *b)
{
    double sum = b->density * cost_places(&b->o, b->out);
    for (int k = 0; k < b->n; k++)
        sum -= b->f[k].density * cost_places(&b->o, b->f[k].indices);
    return sum;
}

/* Everything is as written again. */
static stc_status begin_again(net *t, const bool *reduced, int nreduced, bool real,
                              bucket *b)
{
    stc_status st = STC_OK;
    t->n = t->first;
    t->left.n = 0;
    t->nreduced = nreduced;
    memcpy(t->reduced, reduced, (size_t)t->o->s->nindex * sizeof *reduced);
    for (int i = 0; i < t->o->s->nindex; i++)
        t->has[i].n = 0;
    for (int k = 0; k < t->first; k++)
        if (!net_enter(t, k)) return STC_ERR_MEMORY;
    for (int i = 0; i < t->o->s->nindex && !st; i++)
        if (reduced[i]) st = merge_down(t, &t->has[i], real, b);
    return st;
}

/* Gathers what has an index; negative: it can't be reduced, or would be the last. */
static double score(net *t, int index, int by, bucket *b)
{
    if (!t->reduced[index] || !t->has[index].n) return DBL_MAX;
    if (!net_gather(t, t->has[index].at, t->has[index].n, true, b)) return DBL_MAX;
    if (__builtin_popcountll(b->group) >= t->nreduced) return DBL_MAX;
    net_price(b);
    return by == BY_COST ? b->cost : growth(b);
}

/* What loops over all that is left visit; DBL_MAX: they can't be one statement. */
static double nest_of_all(net *t, bucket *b)
{
    (void)net_gather(t, t->left.at, t->left.n, true, b);
    return b->n == t->left.n ? cost_nest(&b->o, b->f, b->n) : DBL_MAX;
}

/* Reduces next what costs least, until nothing is left that can be. */
static stc_status search(net *t, int by, double *scores, list *order, double *cost,
                         bucket *b)
{
    const int n = t->o->s->nindex;
    order->n = 0;
    *cost = 0;
    for (int i = 0; i < n; i++)
        scores[i] = score(t, i, by, b);
    for (;;) {
        int best = 0;
        for (int i = 1; i < n; i++)
            if (scores[i] < scores[best]) best = i;
        if (scores[best] == DBL_MAX) break;
        scores[best] = score(t, best, by, b); /* it may be the last by now */
        if (scores[best] == DBL_MAX) continue;
        *cost += b->cost;
        bucket of = *b;
        stc_status st =
            list_put(t->o->a, order, best) ? net_replace(t, b, false) : STC_ERR_MEMORY;
        if (!st) st = work_done(t->o->p->cx, (uint64_t)of.n);
        if (st) return st;
        for (int i = 0; i < of.nindex; i++)
            scores[of.index[i]] = score(t, of.index[i], by, b);
    }
    const double rest = nest_of_all(t, b);
    if (rest < DBL_MAX) *cost += rest;
    return STC_OK;
}

/* ---- a product ------------------------------------------------------------------ */

/* What is left, in place: reduced over the indices that are. */
static stc_status put_down(net *t, bexpr **at)
{
    opt *o = t->o;
    factor *f = arena_room(o->a, t->left.n + 1, sizeof *f);
    int *indices = arena_room(o->a, t->nreduced + 1, sizeof *indices);
    if (!f || !indices) return STC_ERR_MEMORY;
    for (int k = 0; k < t->left.n; k++) {
        const node *g = &t->f[t->left.at[k]];
        rename_in(o->p, g->e, g->index);
        f[k] = (factor){.e = g->e};
    }
    bexpr *e = expression(o, t->x, &(opt_part){.f = f, .n = t->left.n});
    bexpr *r = e && t->nreduced ? expr_like(o->a, t->x->r, 1) : e;
    if (!r) return STC_ERR_MEMORY;
    if (t->nreduced) {
        r->args[0] = e;
        r->indices = indices;
        r->nindex = 0;
        for (int i = 0; i < o->s->nindex; i++)
            if (t->reduced[i]) r->indices[r->nindex++] = i;
    }
    *at = r;
    return STC_OK;
}

/* An index that is left has no values where one that is gone has none (narrow). */
static stc_status narrow_left(net *t, const bool *reduced)
{
    opt *o = t->o;
    bstmt *s = o->s;
    int left = 0, last = -1;
    while (left < s->nindex && !t->reduced[left])
        left++;
    if (left == s->nindex) return STC_OK;
    bindex *own = step_own_indices(o, 0);
    if (!own) return STC_ERR_MEMORY;
    for (int i = 0; i < s->nindex; i++) {
        if (!reduced[i] || t->reduced[i] || own[i].hi == last) continue;
        last = own[i].hi;
        own[left].hi = extent_unless_empty(o, own[left].hi, last);
        if (own[left].hi < 0) return o->p->cx->diag.status;
    }
    return STC_OK;
}

static stc_status contract(net *t, bexpr **at, bool top)
{
    opt *o = t->o;
    const int n = o->s->nindex, nreduced = t->nreduced;
    bool *reduced = arena_array(o->a, n + 1, sizeof *reduced);
    double *scores = arena_room(o->a, n + 1, sizeof *scores), cost, least = DBL_MAX;
    bucket *b = arena_room(o->a, 1, sizeof *b);
    list order[CRITERIA] = {{0}};
    int best = 0;
    if (!reduced || !scores || !b) return STC_ERR_MEMORY;
    b->o = *o;
    for (int k = 0; k < t->n; k++)
        if (!net_enter(t, k)) return STC_ERR_MEMORY;
    const double as_written = nest_of_all(t, b);
    memcpy(reduced, t->reduced, (size_t)n * sizeof *reduced);
    for (int by = 0; by < CRITERIA; by++) {
        stc_status st = begin_again(t, reduced, nreduced, false, b);
        if (!st) st = search(t, by, scores, &order[by], &cost, b);
        if (st) return st;
        if (by && cost >= least) continue;
        best = by;
        least = cost;
    }
    /* of too many indices each reduction is a step, whatever that visits */
    if (n <= BOUND_INDICES && !opt_pays(least, as_written)) return STC_OK;
    stc_status st = begin_again(t, reduced, nreduced, true, b);
    for (int k = 0; k < order[best].n && !st; k++) {
        const list *has = &t->has[order[best].at[k]];
        if (net_gather(t, has->at, has->n, true, b))
            net_price(b), st = net_replace(t, b, true);
    }
    if (!st) st = merge_down(t, &t->left, true, b);
    if (!st && !type_is_integer(class_type(t->x->r->cls))) st = narrow_left(t, reduced);
    if (!st && !top && net_gather(t, t->left.at, t->left.n, true, b)) {
        net_price(b);
        st = net_replace(t, b, true);
    }
    return st ? st : put_down(t, at);
}

static stc_status visit(opt *o, bexpr **at, bool top);

/* A factor, whose own reductions become steps first. */
static stc_status add_factor(net *t, const bexpr *e, bool *ok)
{
    bexpr *own = copy_of(t->o, e);
    const stc_status st = own ? visit(t->o, &own, false) : STC_ERR_MEMORY;
    return st ? st : net_add(t, own, ok);
}

/* The factors of e, and what reductions in it reduce. */
static stc_status add_factors(net *t, const bexpr *e, bool *ok)
{
    if (is_times(t->x, e)) {
        const stc_status st = add_factors(t, e->args[0], ok);
        return st || !*ok ? st : add_factors(t, e->args[1], ok);
    }
    if (e != t->x->r && !same_reduction(e, t->x)) return add_factor(t, e, ok);
    for (int k = 0; k < e->nindex; k++) {
        *ok = *ok && !t->reduced[e->indices[k]];
        t->reduced[e->indices[k]] = true;
        t->nreduced++;
    }
    return *ok ? add_factors(t, e->args[0], ok) : STC_OK;
}

static stc_status visit_reduction(opt *o, bexpr **at, bool top, bool *done)
{
    const int n = o->s->nindex;
    product *x = arena_room(o->a, 1, sizeof *x);
    net *t = arena_alloc(o->a, sizeof *t);
    double *runs = arena_room(o->a, n + 1, sizeof *runs);
    if (!x || !t || !runs) return STC_ERR_MEMORY;
    *t = (net){.o = o, .x = x, .runs = runs};
    t->has = arena_array(o->a, n + 1, sizeof *t->has);
    t->reduced = arena_array(o->a, n + 1, sizeof *t->reduced);
    t->local = arena_room(o->a, n + 1, sizeof *t->local);
    if (!t->has || !t->reduced || !t->local) return STC_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        t->local[i] = -1;
        runs[i] = cost_extent(o, &o->s->index[i]);
    }
    if (!product_begin(*at, x)) return STC_OK;
    *done = true;
    stc_status st = add_factors(t, *at, done);
    t->first = t->n;
    return st || !*done ? st : contract(t, at, top);
}

static stc_status visit(opt *o, bexpr **at, bool top)
{
    bool done = false;
    stc_status st = (*at)->kind == B_REDUCE ? visit_reduction(o, at, top, &done) : STC_OK;
    top = top && (*at)->kind == B_CONV;
    for (int k = 0; !done && !st && k < (*at)->nargs; k++)
        st = visit(o, &(*at)->args[k], top);
    return st;
}

/* ---- the statement ------------------------------------------------------------------ */

int opt_accesses(const bexpr *e)
{
    int n = e->kind == B_ACCESS;
    for (int k = 0; k < e->nargs; k++)
        n += opt_accesses(e->args[k]);
    return n;
}

bool network_needed(const bstmt *s)
{
    return (s->nindex > BOUND_INDICES || opt_accesses(s->value) > FEW) &&
           expr_reduction(s->value);
}

bool network_only(const bstmt *s)
{
    return s->nindex > BOUND_INDICES || opt_accesses(s->value) > OPT_FACTORS;
}

static void note_used(const program *p, const bexpr *e, int *to)
{
    if (e->kind == B_INDEX) to[e->index] = 0;
    for (int m = 0; e->kind == B_ACCESS && m < p->tensor[e->tensor].order; m++)
        for (int k = 0; k < e->sub[m].terms; k++)
            to[e->sub[m].term[k].index] = 0;
    for (int k = 0; e->kind == B_REDUCE && k < e->nindex; k++)
        to[e->indices[k]] = 0;
    for (int k = 0; k < e->nargs; k++)
        note_used(p, e->args[k], to);
}

/* The indices that are left get numbers without gaps. */
static stc_status renumber(opt *o)
{
    bstmt *s = o->s;
    int *to = arena_room(o->a, s->nindex + 1, sizeof *to), n = 0;
    bindex *own = arena_array(o->a, s->nindex + 1, sizeof *own);
    bexpr *e = copy_of(o, s->value);
    affine *sub = arena_array(o->a, s->nsub + 1, sizeof *sub);
    if (!to || !own || !e || !sub) return STC_ERR_MEMORY;
    memset(to, -1, (size_t)s->nindex * sizeof *to);
    note_used(o->p, e, to);
    if (s->nsub) memcpy(sub, s->sub, (size_t)s->nsub * sizeof *sub);
    for (int m = 0; m < s->nsub; m++)
        for (int k = 0; k < sub[m].terms; k++)
            to[sub[m].term[k].index] = 0;
    for (int i = 0; i < s->nindex; i++) {
        if (to[i] < 0) continue;
        to[i] = n;
        own[n++] = s->index[i];
    }
    for (int m = 0; m < s->nsub; m++)
        for (int k = 0; k < sub[m].terms; k++)
            sub[m].term[k].index = to[sub[m].term[k].index];
    rename_in(o->p, e, to);
    s->value = e;
    s->sub = sub;
    s->index = own;
    s->nindex = n;
    return STC_OK;
}

stc_status network(opt *o)
{
    const stc_status st = visit(o, &o->s->value, o->s->op < 0);
    return st ? st : renumber(o);
}
