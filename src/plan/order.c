/* order.c: which loops, in which order, and where results meet.
 *
 * Candidates are judged by the work they would do: each loop's expected number
 * of steps, from what its levels look like (a full level has every coordinate,
 * others a few), plus the price of converting operands that can't be walked in
 * that order, plus the price of a workspace. Shapes and data aren't known, so
 * every extent counts as a thousand and every sparse fiber as a hundredth of
 * it: enough to tell Gustavson's loops from a table of inner products.
 *
 * The order has two parts. The `prefix` follows the result's levels and is
 * shared by all additive terms; inside it each term has loops of its own (over
 * the rest of the result's indices and its reduction), which meet in a
 * workspace, in a scalar, or in the result itself where that inserts.
 */
#include "schedule.h"
#include <float.h>
#include <string.h>

enum { EXTENT = 1000, FILTER = 5, SLOTS = 10, MAX_PERMUTED = 5 };

static const double first_level = 0.3, deeper_level = 0.01;
static const double convert_dense = 5, convert_sparse = 30;
static const double add_inserted = 0.5, add_vector = 2, add_sorted = 40;
static const double entering = 30;     /* a loop costs that before its first step */
static const double entering_side = 1; /* of a block, which is run as a whole */
static const double strided = 0.7;     /* an operand whose innermost level stays put */

typedef struct estimate {
    plan *pl;
    uint64_t uses, converted;
    int depth[PLAN_ACCESSES];
    double density[PLAN_ACCESSES]; /* of the level at this loop; 0: none here */
} estimate;

typedef struct density {
    double step, produce;
} density;

static double extent_of(const plan *pl, int index)
{
    const bindex *b = &pl->s->index[index];
    if (b->hi < 0) return EXTENT;
    if (plan_in_filter(pl, index)) return FILTER;
    const extent *hi = &pl->p->ext[b->hi];
    return hi->op == EXT_CONST && hi->k > 0 && hi->k < EXTENT ? (double)hi->k : EXTENT;
}

static double entry_price(const plan *pl, int index)
{
    const bindex *b = &pl->s->index[index];
    const bool side = b->hi >= 0 && pl->p->ext[b->hi].op == EXT_CONST &&
                      extent_of(pl, index) < EXTENT && !plan_in_filter(pl, index);
    return side ? entering_side : entering;
}

static double level_density(const paccess *x, int l)
{
    if (x->level[l].props & PROP_FULL) return 1;
    return l == 0 ? first_level : deeper_level;
}

/* The loop after which level l's coordinate is known; -1: before all. */
static int bound_at(const plan *pl, const affine *f, const int *seq, int n)
{
    uint64_t bound = 0;
    if (affine_bound(f, bound)) return -1;
    for (int k = 0; k < n; k++) {
        bound |= UINT64_C(1) << seq[k];
        if (affine_bound(f, plan_bound(pl, bound))) return k;
    }
    return n;
}

/* The loop after which all indices of a set are known; -1: before all. */
static int outside_of(const plan *pl, uint64_t set, const int *seq, int n)
{
    uint64_t bound = 0;
    int k = -1;
    while (set & ~plan_bound(pl, bound) && ++k < n)
        bound |= UINT64_C(1) << seq[k];
    return k;
}

/* Whether an access can be read as it is stored under this order. */
static bool follows(const plan *pl, const paccess *x, const int *seq, int n)
{
    if (x->why && !x->converted) return false;
    int reached = outside_of(pl, precompute_outer(pl, x->source), seq, n);
    for (int l = 0; l < x->levels; l++)
        for (int k = 0; k <= reached && k < n; k++)
            if (affine_has(&x->level[l].at, seq[k])) return false;
    for (int l = 0; l < x->levels; l++) {
        int at = bound_at(pl, &x->level[l].at, seq, n);
        bool late = at < reached && x->level[l].at.terms > 0;
        if (late && !(x->level[l].kind->caps & CAP_LOCATE)) return false;
        if (at > reached) reached = at;
    }
    return true;
}

static density judge(const estimate *e, const pset *s)
{
    if (s->op == PS_NONE) return (density){0, 0};
    if (s->op == PS_STORED && e->density[s->access] > 0)
        return (density){e->density[s->access], e->density[s->access]};
    if (s->op != PS_AND && s->op != PS_OR) return (density){1, 1};
    density a = judge(e, s->a), b = judge(e, s->b);
    if (s->op == PS_AND)
        return (density){a.step < b.step ? a.step : b.step, a.produce * b.produce};
    density sum = {a.step + b.step, a.produce + b.produce};
    return (density){sum.step > 1 ? 1 : sum.step, sum.produce > 1 ? 1 : sum.produce};
}

/* A conversion has a level for each mode, in the loops' order. */
static void enter_converted(estimate *e, int k, int index, uint64_t bound)
{
    const paccess *x = &e->pl->access[k];
    const prog_tensor *t = &e->pl->p->tensor[x->source];
    for (int m = 0; m < t->order; m++) {
        if (!affine_has(&x->sub[m], index) || !affine_bound(&x->sub[m], bound)) continue;
        const int l = e->depth[k]++;
        const bool full = converted_level(&t->fmt, t->order, l)->props & PROP_FULL;
        e->density[k] = full ? 1 : l == 0 ? first_level : deeper_level;
    }
}

/* Levels of access k that the loop over `index` resolves. */
static void enter(estimate *e, int k, int index, uint64_t bound)
{
    const paccess *x = &e->pl->access[k];
    e->density[k] = 0;
    if ((e->converted >> k) & 1) {
        enter_converted(e, k, index, bound);
        return;
    }
    while (e->depth[k] < x->levels && affine_bound(&x->level[e->depth[k]].at, bound)) {
        if (affine_has(&x->level[e->depth[k]].at, index))
            e->density[k] = level_density(x, e->depth[k]);
        e->depth[k]++;
    }
}

/* What a level counts for, when all of a tensor is walked. */
static double level_extent(const level_map *m)
{
    switch ((map_op)m->op) {
    case MAP_DIV:
        return m->k < EXTENT ? (double)EXTENT / (double)m->k : 1;
    case MAP_MOD:
        return m->k < EXTENT ? (double)m->k : EXTENT;
    case MAP_COUNT:
        return SLOTS;
    default:
        return EXTENT;
    }
}

static double conversion_price(const plan *pl, const paccess *x)
{
    const format *f = &pl->p->tensor[x->source].fmt;
    double stored = 1, price = convert_dense;
    for (int l = 0; l < x->levels; l++) {
        stored *= level_extent(&f->level[l].map) * level_density(x, l);
        if (!(x->level[l].props & PROP_FULL)) price = convert_sparse;
    }
    return stored * price;
}

/* Whether the innermost loop jumps through an access: it moves a level that
 * has others below. */
static bool strides(const paccess *x, int index)
{
    for (int l = 0; l + 1 < x->levels; l++)
        if (affine_has(&x->level[l].at, index)) return true;
    return false;
}

/* The work of one order, or something greater if it is no less than `limit`; *inner
 * gets how often the innermost body runs. */
static double work(plan *pl, const pset *space, uint64_t uses, const int *seq, int n,
                   double limit, double *inner)
{
    estimate e;
    double cost = 0, rounds = 1;
    uint64_t bound = 0;
    *inner = 0;
    e.pl = pl;
    e.uses = uses;
    e.converted = 0;
    for (int k = 0; k < pl->naccess; k++) {
        e.depth[k] = 0;
        e.density[k] = 0;
    }
    for (int k = 0; k < pl->naccess; k++)
        if (((uses >> k) & 1) && !follows(pl, &pl->access[k], seq, n)) {
            if (pl->access[k].native) return DBL_MAX;
            e.converted |= UINT64_C(1) << k;
            cost += conversion_price(pl, &pl->access[k]);
        }
    for (int s = 0; s < n; s++) {
        bound |= UINT64_C(1) << seq[s];
        for (int k = 0; k < pl->naccess; k++)
            if ((uses >> k) & 1) enter(&e, k, seq[s], plan_bound(pl, bound));
        density d = judge(&e, space);
        double steps = rounds * extent_of(pl, seq[s]);
        cost += steps * d.step * (d.step < 1 ? 2 : 1) + rounds * entry_price(pl, seq[s]);
        if (cost >= limit) return DBL_MAX;
        rounds = steps * d.produce;
    }
    *inner = rounds;
    for (int k = 0; n && k < pl->naccess; k++)
        if (((uses >> k) & 1) && strides(&pl->access[k], seq[n - 1]))
            cost += rounds * strided;
    return cost;
}

/* ---- permutations -------------------------------------------------------------- */

typedef struct search {
    plan *pl;
    const pset *space;
    uint64_t uses;
    int seq[64], fixed, n; /* seq[0 … fixed) stays                            */
    int from;              /* seq[0 … from) are in no order                   */
    double add;            /* price of each run of the innermost body         */
    double best;
    int order[64];
} search;

static int place_in(const search *s, int index)
{
    for (int k = s->from; k < s->n; k++)
        if (s->seq[k] == index) return k;
    return -1;
}

static uint64_t among(const search *s)
{
    uint64_t set = 0;
    for (int k = s->from; k < s->n; k++)
        set |= UINT64_C(1) << s->seq[k];
    return set;
}

/* Whether what binds the levels above r's positions is outside of r's loops. */
static bool parents_outside(const search *s, const relation *r)
{
    const format *f = &s->pl->p->tensor[r->access->tensor].fmt;
    uint64_t loops = loops_set(s->pl, UINT64_C(1) << r->child[0], 0), bound = 0;
    for (int k = s->from; k < s->n && !((loops >> s->seq[k]) & 1); k++)
        bound |= UINT64_C(1) << s->seq[k];
    bound = plan_bound(s->pl, bound);
    for (int l = 0; l < r->level && (loops & among(s)); l++)
        if (!affine_bound(&r->sub[f->level[l].map.mode], bound)) return false;
    return true;
}

/* Whether blocks are outside of what is in them, and fused loops nested. */
static bool keeps_relations(const search *s)
{
    for (int k = 0; k < s->pl->schedule.nrel; k++) {
        const relation *r = &s->pl->schedule.rel[k];
        if (r->kind == REL_POS && r->real && !parents_outside(s, r)) return false;
        if (r->kind == REL_POS || r->real != (r->kind == REL_SPLIT)) continue;
        const int *pair = r->kind == REL_SPLIT ? r->child : r->parent;
        int a = place_in(s, relation_loop(s->pl, pair[0], true));
        int b = place_in(s, relation_loop(s->pl, pair[1], false));
        if (a < 0 || b < 0) continue;
        if (r->kind == REL_FUSE && b != a + 1) return false;
        bool free = s->pl->schedule.rank[pair[0]] < 0 || s->pl->schedule.rank[pair[1]] < 0;
        free = free && !relation_user(s->pl, pair[0]) && !relation_user(s->pl, pair[1]);
        if (r->kind == REL_SPLIT && b < a && free) return false;
    }
    return true;
}

/* Whether an order keeps to what the schedule asks for. */
static bool as_scheduled(const search *s)
{
    int last = -1;
    for (int k = s->from ? s->from : 1; k < s->n; k++) /* threads share outermost loops */
        if ((s->pl->schedule.shared >> s->seq[k]) & 1) return false;
    for (int k = s->from; k < s->n; k++) {
        int rank = s->pl->schedule.rank[s->seq[k]];
        if (rank >= 0 && rank < last) return false;
        if (rank >= 0) last = rank;
    }
    return keeps_relations(s);
}

static void try_order(search *s)
{
    if (!as_scheduled(s)) return;
    double inner, cost = work(s->pl, s->space, s->uses, s->seq, s->n, s->best, &inner);
    cost += inner * s->add;
    if (cost >= s->best) return;
    s->best = cost;
    for (int k = 0; k < s->n; k++)
        s->order[k] = s->seq[k];
}

static void permute(search *s, int at)
{
    if (at >= s->n || s->n - s->fixed > MAX_PERMUTED) {
        try_order(s);
        return;
    }
    for (int k = at; k < s->n; k++) {
        int pick = s->seq[k]; /* rotate, so that written order is tried first */
        for (int m = k; m > at; m--)
            s->seq[m] = s->seq[m - 1];
        s->seq[at] = pick;
        permute(s, at + 1);
        for (int m = at; m < k; m++)
            s->seq[m] = s->seq[m + 1];
        s->seq[k] = pick;
    }
}

/* With too many loops to permute, orders that follow one access each. */
static void follow_accesses(search *s)
{
    int base[64];
    for (int k = 0; k < s->n; k++)
        base[k] = s->seq[k];
    for (int a = 0; a < s->pl->naccess; a++) {
        if (!((s->uses >> a) & 1)) continue;
        int n = s->fixed;
        uint64_t taken = 0;
        for (int k = 0; k < s->fixed; k++)
            taken |= UINT64_C(1) << base[k];
        for (int l = 0; l < s->pl->access[a].levels; l++)
            for (int k = s->fixed; k < s->n; k++)
                if (affine_has(&s->pl->access[a].level[l].at, base[k]) &&
                    !((taken >> base[k]) & 1)) {
                    s->seq[n++] = base[k];
                    taken |= UINT64_C(1) << base[k];
                }
        for (int k = s->fixed; k < s->n; k++)
            if (!((taken >> base[k]) & 1)) s->seq[n++] = base[k];
        try_order(s);
    }
}

/* With a schedule, the written order with those that have ranks sorted among
 * themselves, and then what is fused brought together: one that is allowed. */
static void try_ranked(search *s)
{
    const schedule *sc = &s->pl->schedule;
    int kept[64];
    memcpy(kept, s->seq, sizeof kept);
    for (int k = 1; k < s->n && s->fixed == 0; k++) {
        const int pick = s->seq[k];
        if (!((sc->shared >> pick) & 1)) continue;
        memmove(s->seq + 1, s->seq, (size_t)k * sizeof *s->seq);
        s->seq[0] = pick;
    }
    for (int k = s->fixed; k < s->n; k++)
        for (int m = k + 1; m < s->n && sc->rank[s->seq[k]] >= 0; m++)
            if (sc->rank[s->seq[m]] >= 0 && sc->rank[s->seq[m]] < sc->rank[s->seq[k]]) {
                int swap = s->seq[m];
                s->seq[m] = s->seq[k];
                s->seq[k] = swap;
            }
    for (int k = 0; k < sc->nrel; k++) {
        const relation *r = &sc->rel[k];
        if (r->kind != REL_FUSE || r->real) continue;
        int a = place_in(s, relation_loop(s->pl, r->parent[0], true));
        int b = place_in(s, relation_loop(s->pl, r->parent[1], false));
        if (a < 0 || b < s->fixed || (b > a && a + 1 < s->fixed)) continue;
        int moved = s->seq[b];
        if (b > a)
            memmove(s->seq + a + 2, s->seq + a + 1, (size_t)(b - a - 1) * sizeof *s->seq);
        else
            memmove(s->seq + b, s->seq + b + 1, (size_t)(a - b) * sizeof *s->seq);
        s->seq[b > a ? a + 1 : a] = moved;
    }
    try_order(s);
    memcpy(s->seq, kept, sizeof kept);
}

/* The least work, if it is less than `limit`. */
static double search_run(search *s, double limit)
{
    s->best = limit;
    const schedule *sc = &s->pl->schedule;
    if (sc->nseq || sc->nrel || sc->shared) try_ranked(s);
    permute(s, s->fixed);
    if (s->n - s->fixed > MAX_PERMUTED) follow_accesses(s);
    return s->best;
}

void plan_inner_order(plan *pl, const pset *space, uint64_t uses, uint64_t bound,
                      const int *index, int n, int *order)
{
    search s = {.pl = pl, .space = space, .uses = uses};
    if (n == 1) order[0] = index[0];
    if (n <= 1) return;
    for (int k = 0; k < 64; k++)
        if ((bound >> k) & 1) s.seq[s.fixed++] = k;
    s.from = s.n = s.fixed;
    for (int k = 0; k < n; k++)
        s.seq[s.n++] = index[k];
    bool found = search_run(&s, DBL_MAX) < DBL_MAX;
    for (int k = 0; k < n; k++)
        order[k] = found ? s.order[s.fixed + k] : index[k];
}

/* ---- the choice ------------------------------------------------------------------ */

/* The best order of one term's own loops below the shared ones. */
static double term_order(plan *pl, const term *t, const result_loops *result, int prefix,
                         double add, double limit, int *order, int *norder)
{
    search s = {.pl = pl, .space = t->space, .uses = expr_uses(t->value), .add = add};
    for (int k = 0; k < result->n; k++)
        s.seq[s.n++] = result->index[k];
    for (int k = 0; k < 64; k++)
        if ((t->own >> k) & 1) s.seq[s.n++] = k;
    s.fixed = prefix;
    double cost = search_run(&s, limit);
    *norder = s.n - prefix;
    for (int k = 0; k < *norder; k++)
        order[k] = s.order[prefix + k];
    return cost;
}

bool plan_order(plan *pl, term *terms, int nterms, const result_loops *result,
                bool splittable, int inserts, choice *out)
{
    choice best = {.prefix = result->n, .cost = DBL_MAX};
    for (int prefix = result->n; prefix >= 0; prefix--) {
        bool whole = result->complete && prefix == result->n;
        bool inside = prefix > 0 && result->cover[prefix] == result->cover[prefix - 1];
        const bool insertable = result->cover[prefix] >= inserts;
        if ((!whole && !splittable) || (inside && result->apart)) continue;
        double add = whole                                         ? 0
                     : insertable                                  ? add_inserted
                     : result->levels - result->cover[prefix] == 1 ? add_vector
                                                                   : add_sorted;
        int order[16][64], norder[16];
        double cost = 0;
        for (int t = 0; t < nterms; t++)
            cost += term_order(pl, &terms[t], result, prefix, add, best.cost, order[t],
                               &norder[t]);
        if (!(cost < best.cost)) continue;
        best = (choice){prefix, whole, !whole && insertable, cost};
        for (int t = 0; t < nterms; t++) {
            terms[t].norder = norder[t];
            for (int k = 0; k < norder[t]; k++)
                terms[t].order[k] = order[t][k];
        }
    }
    *out = best;
    return best.cost < DBL_MAX;
}
