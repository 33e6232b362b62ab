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
#include "plan.h"
#include <float.h>

enum { EXTENT = 1000, FILTER = 5, MAX_PERMUTED = 5 };

static const double first_level = 0.3, deeper_level = 0.01;
static const double convert_dense = 5, convert_sparse = 30;
static const double add_inserted = 0.5, add_vector = 2, add_sorted = 40;
static const double entering = 30; /* a loop costs that before its first step */
static const double strided = 0.7; /* an operand whose innermost level stays put */

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

/* Whether an access can be read as it is stored under this order. */
static bool follows(const plan *pl, const paccess *x, const int *seq, int n)
{
    int reached = -1;
    if (x->why && !x->converted) return false;
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

/* Levels of access k that the loop over `index` resolves. */
static void enter(estimate *e, int k, int index, uint64_t bound)
{
    const paccess *x = &e->pl->access[k];
    e->density[k] = 0;
    if ((e->converted >> k) & 1) { /* its levels will be in loop order */
        for (int l = 0; l < x->levels; l++)
            if (affine_has(&x->level[l].at, index) && affine_bound(&x->level[l].at, bound))
                e->density[k] = level_density(x, e->depth[k]++);
        return;
    }
    while (e->depth[k] < x->levels && affine_bound(&x->level[e->depth[k]].at, bound)) {
        if (affine_has(&x->level[e->depth[k]].at, index))
            e->density[k] = level_density(x, e->depth[k]);
        e->depth[k]++;
    }
}

static double conversion_price(const paccess *x)
{
    double stored = 1, price = convert_dense;
    for (int l = 0; l < x->levels; l++) {
        stored *= EXTENT * level_density(x, l);
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

/* The work of one order; *inner gets how often the innermost body runs. */
static double work(plan *pl, const pset *space, uint64_t uses, const int *seq, int n,
                   double *inner)
{
    estimate e = {.pl = pl, .uses = uses};
    double cost = 0, rounds = 1;
    uint64_t bound = 0;
    for (int k = 0; k < pl->naccess; k++)
        if (((uses >> k) & 1) && !follows(pl, &pl->access[k], seq, n)) {
            if (pl->access[k].native) return DBL_MAX;
            e.converted |= UINT64_C(1) << k;
            cost += conversion_price(&pl->access[k]);
        }
    for (int s = 0; s < n; s++) {
        bound |= UINT64_C(1) << seq[s];
        for (int k = 0; k < pl->naccess; k++)
            if ((uses >> k) & 1) enter(&e, k, seq[s], plan_bound(pl, bound));
        density d = judge(&e, space);
        double steps = rounds * extent_of(pl, seq[s]);
        cost += steps * d.step * (d.step < 1 ? 2 : 1) + rounds * entering;
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
    double add;            /* price of each run of the innermost body         */
    double best;
    int order[64];
} search;

/* Whether an order keeps to what `reorder` asks for. */
static bool as_scheduled(const plan *pl, const int *seq, int n)
{
    int last = -1;
    for (int k = 0; k < n && pl->schedule.ordered; k++) {
        int rank = pl->schedule.rank[seq[k]];
        if (rank >= 0 && rank < last) return false;
        if (rank >= 0) last = rank;
    }
    return true;
}

static void try_order(search *s)
{
    if (!as_scheduled(s->pl, s->seq, s->n)) return;
    double inner, cost = work(s->pl, s->space, s->uses, s->seq, s->n, &inner);
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

/* With a schedule, the written order first sorted by rank: always allowed. */
static void try_ranked(search *s)
{
    int kept[64];
    for (int k = 0; k < s->n; k++)
        kept[k] = s->seq[k];
    for (int k = s->fixed + 1; k < s->n; k++)
        for (int m = k; m > s->fixed; m--) {
            int a = s->pl->schedule.rank[s->seq[m - 1]],
                b = s->pl->schedule.rank[s->seq[m]];
            if (b < 0 || a <= b) break;
            int swap = s->seq[m];
            s->seq[m] = s->seq[m - 1];
            s->seq[m - 1] = swap;
        }
    try_order(s);
    for (int k = 0; k < s->n; k++)
        s->seq[k] = kept[k];
}

static double search_run(search *s)
{
    s->best = DBL_MAX;
    if (s->pl->schedule.ordered) try_ranked(s);
    permute(s, s->fixed);
    if (s->n - s->fixed > MAX_PERMUTED) follow_accesses(s);
    return s->best;
}

void plan_inner_order(plan *pl, const pset *space, uint64_t uses, uint64_t bound,
                      const int *index, int n, int *order)
{
    search s = {.pl = pl, .space = space, .uses = uses};
    for (int k = 0; k < 64; k++)
        if ((bound >> k) & 1) s.seq[s.fixed++] = k;
    s.n = s.fixed;
    for (int k = 0; k < n; k++)
        s.seq[s.n++] = index[k];
    bool found = search_run(&s) < DBL_MAX;
    for (int k = 0; k < n; k++)
        order[k] = found ? s.order[s.fixed + k] : index[k];
}

/* ---- the choice ------------------------------------------------------------------ */

/* The best order of one term's own loops below a prefix of the result's. */
static double term_order(plan *pl, term *t, const int *result, int nresult, int prefix,
                         double add, int *order, int *norder)
{
    search s = {.pl = pl, .space = t->space, .uses = expr_uses(t->value), .add = add};
    for (int k = 0; k < nresult; k++)
        s.seq[s.n++] = result[k];
    for (int k = 0; k < 64; k++)
        if ((t->reduced >> k) & 1) s.seq[s.n++] = k;
    s.fixed = prefix;
    double cost = search_run(&s);
    *norder = s.n - prefix;
    for (int k = 0; k < *norder; k++)
        order[k] = s.order[prefix + k];
    return cost;
}

stc_status plan_order(plan *pl, term *terms, int nterms, const int *result, int nresult,
                      bool splittable, bool insertable, choice *out)
{
    choice best = {.prefix = nresult, .cost = DBL_MAX};
    for (int prefix = nresult; prefix >= 0; prefix--) {
        bool whole = prefix == nresult;
        if (!whole && !splittable) break;
        double add = whole                   ? 0
                     : insertable            ? add_inserted
                     : nresult - prefix == 1 ? add_vector
                                             : add_sorted;
        int order[16][64], norder[16];
        double cost = 0;
        for (int t = 0; t < nterms; t++)
            cost += term_order(pl, &terms[t], result, nresult, prefix, add, order[t],
                               &norder[t]);
        if (!(cost < best.cost)) continue;
        best = (choice){prefix, !whole && insertable, cost};
        for (int t = 0; t < nterms; t++) {
            terms[t].norder = norder[t];
            for (int k = 0; k < norder[t]; k++)
                terms[t].order[k] = order[t][k];
        }
    }
    if (best.cost == DBL_MAX)
        return schedule_fail(pl, splittable ? "the result's indices don't allow this order"
                                            : "a reduction inside a function, or one that "
                                              "doesn't start from the result's fill, is "
                                              "evaluated inside the loops of the result");
    *out = best;
    return STC_OK;
}
