/* order.c: which loops, in which order, and where results meet.
 *
 * Orders are tried, all of them if there aren't many, and the one that means the
 * least work (work.c) is taken.
 *
 * The order has two parts. The `prefix` follows the result's levels and is
 * shared by all additive terms; inside it each term has loops of its own (over
 * the rest of the result's indices and its reduction), which meet in a
 * workspace, in a scalar, or in the result itself where that inserts.
 */
#include "work.h"
#include <float.h>
#include <string.h>

enum { MAX_PERMUTED = 5 };

/* Prices aren't exact: for less than so many times, or so little work, loops stay as they
 * are without sizes. */
static const double times = 10, little = 1e6;
static const double add_inserted = 0.5, add_vector = 2, add_table = 12, add_sorted = 40;

/* ---- permutations -------------------------------------------------------------- */

typedef struct search {
    plan *pl;
    work work;
    int fixed, n; /* seq[0 … fixed) stays                            */
    int from;     /* seq[0 … from) are in no order                   */
    bool asked;   /* a schedule says something about the order       */
    double add;   /* price of each run of the innermost body         */
    int along;    /* unless its loop is over this index; -1: any     */
    double best;
    int seq[64], order[64];
} search;

static void search_init(search *s, plan *pl, double add, int along)
{
    s->pl = pl;
    s->fixed = s->n = s->from = 0;
    s->asked = pl->schedule.nseq || pl->schedule.nrel || pl->schedule.shared;
    s->add = add;
    s->along = along;
}

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
    if (s->asked && !as_scheduled(s)) return;
    double inner, cost = work_of(&s->work, s->seq, s->best, &inner);
    const bool across = s->along >= 0 && s->n > 0 && s->seq[s->n - 1] != s->along;
    cost += inner * (across ? add_sorted : s->add);
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
    /* The k-th comes first and the others stay in order, so that the written order is
     * tried first: one exchange leads from each to the next. */
    for (int k = at; k < s->n; k++) {
        const int pick = s->seq[k];
        s->seq[k] = s->seq[at];
        s->seq[at] = pick;
        permute(s, at + 1);
    }
    const int last = s->seq[at];
    for (int k = at; k + 1 < s->n; k++)
        s->seq[k] = s->seq[k + 1];
    s->seq[s->n - 1] = last;
}

/* With too many loops to permute, orders that follow one access each. */
static void follow_accesses(search *s)
{
    int base[64];
    for (int k = 0; k < s->n; k++)
        base[k] = s->seq[k];
    for (int a = 0; a < s->pl->naccess; a++) {
        if (!((s->work.uses >> a) & 1)) continue;
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
static double search_run(search *s, const loop_prices *prices, const pset *space,
                         uint64_t uses, double limit)
{
    work_open(&s->work, s->pl, prices, space, uses, s->n);
    s->best = limit;
    if (s->asked) try_ranked(s);
    permute(s, s->fixed);
    if (s->n - s->fixed > MAX_PERMUTED) follow_accesses(s);
    return s->best;
}

static void append_set(search *s, uint64_t set)
{
    for (; set; set &= set - 1)
        s->seq[s->n++] = __builtin_ctzll(set);
}

/* By sizes, where they are known: takes s->order, which is the best without, and gives a
 * better one. */
static void search_sized(search *s, const pset *space, uint64_t uses)
{
    loop_prices prices = {.sized = true};
    double inner;
    int found[64];
    memcpy(found, s->order, sizeof found);
    for (int k = 0; k < s->n; k++)
        price_loop(s->pl, &prices, s->seq[k]);
    work_open(&s->work, s->pl, &prices, space, uses, s->n);
    const double cost = work_of(&s->work, s->order, DBL_MAX, &inner);
    if (cost >= little && search_run(s, &prices, space, uses, cost / times) < cost / times)
        return;
    memcpy(s->order, found, sizeof found);
}

void plan_inner_order(plan *pl, const pset *space, uint64_t uses, uint64_t bound,
                      const int *index, int n, int *order)
{
    if (n == 1) order[0] = index[0];
    if (n <= 1) return;
    search s;
    loop_prices prices = {.sized = false};
    search_init(&s, pl, 0, -1);
    append_set(&s, bound);
    s.from = s.fixed = s.n;
    for (int k = 0; k < n; k++)
        s.seq[s.n++] = index[k];
    for (int k = 0; k < s.n; k++)
        price_loop(pl, &prices, s.seq[k]);
    bool found = search_run(&s, &prices, space, uses, DBL_MAX) < DBL_MAX;
    if (found && sizes_count(pl)) search_sized(&s, space, uses);
    for (int k = 0; k < n; k++)
        order[k] = found ? s.order[s.fixed + k] : index[k];
}

/* ---- the choice ------------------------------------------------------------------ */

/* The best order of one term's own loops below the shared ones. */
static double term_order(plan *pl, const loop_prices *prices, const term *t,
                         const result_loops *result, int prefix, double add, double limit,
                         int *order, int *norder)
{
    search s;
    search_init(&s, pl, add, add == add_table ? result->index[result->n - 1] : -1);
    for (int k = 0; k < result->n; k++)
        s.seq[s.n++] = result->index[k];
    append_set(&s, t->own);
    s.fixed = prefix;
    double cost = search_run(&s, prices, t->space, expr_uses(t->value), limit);
    *norder = s.n - prefix;
    for (int k = 0; k < *norder; k++)
        order[k] = s.order[prefix + k];
    return cost;
}

/* Of all loops that the terms have. */
static void price_loops(const plan *pl, loop_prices *prices, const term *terms, int nterms,
                        const result_loops *result)
{
    uint64_t all = 0;
    for (int t = 0; t < nterms; t++)
        all |= terms[t].own;
    for (int k = 0; k < result->n; k++)
        all |= UINT64_C(1) << result->index[k];
    for (; all; all &= all - 1)
        price_loop(pl, prices, __builtin_ctzll(all));
}

/* What it takes to add to a workspace over the result's levels from `prefix` on: of
 * several, entries are sorted, unless there is room for all of them and rows are gone
 * along. */
static double add_price(const plan *pl, const result_loops *result, int prefix, bool sized)
{
    const double room = 1 << 23; /* vm/work: such a workspace is dense */
    double places = sized && result->complete ? 1 : room + 1;
    if (result->levels - result->cover[prefix] == 1) return add_vector;
    for (int k = prefix; k < result->n; k++) {
        const int64_t n = sized ? pl->known[result->index[k]] : 0;
        places *= n > 0 ? (double)n : room + 1;
    }
    return places <= room ? add_table : add_sorted;
}

/* The orders that cost least, if that is less than best->cost. */
static void choose(plan *pl, const loop_prices *prices, term *terms, int nterms,
                   const result_loops *result, bool splittable, int inserts, choice *best)
{
    for (int prefix = result->n; prefix >= 0; prefix--) {
        bool whole = result->complete && prefix == result->n;
        bool inside = prefix > 0 && result->cover[prefix] == result->cover[prefix - 1];
        const bool insertable = result->cover[prefix] >= inserts;
        if ((!whole && !splittable) || (inside && result->apart)) continue;
        double add = whole        ? 0
                     : insertable ? add_inserted
                                  : add_price(pl, result, prefix, prices->sized);
        int order[16][64], norder[16];
        double cost = 0;
        for (int t = 0; t < nterms; t++)
            cost += term_order(pl, prices, &terms[t], result, prefix, add, best->cost,
                               order[t], &norder[t]);
        if (!(cost < best->cost)) continue;
        *best = (choice){prefix, whole, !whole && insertable, cost};
        for (int t = 0; t < nterms; t++) {
            terms[t].norder = norder[t];
            memcpy(terms[t].order, order[t], (size_t)norder[t] * sizeof *order[t]);
        }
    }
}

/* What orders that were chosen cost by other prices. */
static double cost_of(plan *pl, const loop_prices *prices, const term *terms, int nterms,
                      const result_loops *result, const choice *c)
{
    double sum = 0;
    for (int t = 0; t < nterms; t++) {
        search s;
        search_init(&s, pl, 0, -1);
        for (int k = 0; k < c->prefix; k++)
            s.seq[s.n++] = result->index[k];
        memcpy(s.seq + s.n, terms[t].order, (size_t)terms[t].norder * sizeof *s.seq);
        s.n += terms[t].norder;
        s.fixed = s.n;
        const double add = c->whole    ? 0
                           : c->insert ? add_inserted
                                       : add_price(pl, result, c->prefix, prices->sized);
        s.add = add;
        s.along = add == add_table ? result->index[result->n - 1] : -1;
        sum += search_run(&s, prices, terms[t].space, expr_uses(terms[t].value), DBL_MAX);
    }
    return sum;
}

bool plan_order(plan *pl, term *terms, int nterms, const result_loops *result,
                bool splittable, int inserts, choice *out)
{
    loop_prices prices = {.sized = false};
    price_loops(pl, &prices, terms, nterms, result);
    *out = (choice){.prefix = result->n, .cost = DBL_MAX};
    choose(pl, &prices, terms, nterms, result, splittable, inserts, out);
    if (out->cost == DBL_MAX || !sizes_count(pl)) return out->cost < DBL_MAX;
    prices.sized = true;
    price_loops(pl, &prices, terms, nterms, result);
    const double cost = cost_of(pl, &prices, terms, nterms, result, out);
    choice sized = {.cost = cost / times};
    if (cost < little) return true;
    choose(pl, &prices, terms, nterms, result, splittable, inserts, &sized);
    if (sized.cost < cost / times) *out = sized;
    return true;
}
