/* eliminate.c: which index is reduced next.
 *
 * What is left of a product after some indices were reduced depends on their set, and
 * not on their order: so sets are searched, not orders. Layer k has the sets of k
 * groups; each is extended by every group that it lacks, and of several ways to a set
 * the cheapest stays. Up to ten groups that is all sets, and the best order is found
 * (dynamic programming, as joins are ordered); with more, each layer keeps the best few
 * (a beam). What the cheapest step each time leads to bounds the rest. Indices that are in
 * the same factors are reduced together: a group.
 *
 * A group's step multiplies its factors; where these are stored everywhere, also one that
 * stores a part of what is left of them: A(i,j) in A(i,j) * X(i,k) * Z(j,k) * X(j,l), when
 * k is reduced. The last group is reduced where the product stands, unless it would be the
 * same for each place of that.
 */
#include "opt.h"
#include <float.h>

enum { EXACT = 10, ALL_SETS = 252, BEAM = 12, GREEDY = 6 }; /* 252: 10 over 5 */

typedef struct state {
    uint64_t gone; /* groups, a bit each                                       */
    double cost;   /* of the steps to it                                       */
    const struct state *from;
} state;

typedef struct search {
    const opt *o;
    const product *x;
    uint64_t group[64]; /* indices                                              */
    uint64_t have[64];  /* the factors that have them, a bit each               */
    uint64_t twin[64];  /* groups whose step, of factors as written, is the same */
    int groups, width;
    int n;     /* of the layer that is being made                         */
    bool kept; /* steps of steady factors are cheaper than where they stand */
    state *layer;
    const state *best;
    double written, best_cost; /* in one nest, and the best way */
} search;

/* ---- the factors that are left ---------------------------------------------------- */

static uint64_t indices_of(const search *s, uint64_t groups)
{
    uint64_t set = 0;
    for (; groups; groups &= groups - 1)
        set |= s->group[__builtin_ctzll(groups)];
    return set;
}

/* The factors that `first` is joined with by indices in `gone`, as one factor. */
static factor join(const search *s, uint64_t gone, int first, uint64_t *taken)
{
    const product *x = s->x;
    factor part[OPT_FACTORS];
    uint64_t all = x->factor[first].indices;
    int n = 0;
    part[n++] = x->factor[first];
    *taken |= UINT64_C(1) << first;
    for (int k = 0; k < x->n; k++) {
        if ((*taken >> k) & 1 || !(x->factor[k].indices & all & gone)) continue;
        *taken |= UINT64_C(1) << k;
        all |= x->factor[k].indices;
        part[n++] = x->factor[k];
        k = -1; /* those before it may be joined by now */
    }
    for (int k = 0; k < x->n; k++) {
        if ((*taken >> k) & 1 || x->factor[k].indices & gone ||
            !cost_selects(part, n, all, &x->factor[k]))
            continue;
        *taken |= UINT64_C(1) << k;
        part[n++] = x->factor[k];
    }
    const uint64_t out = all & ~gone;
    const double density = cost_result(s->o, part, n, out);
    bool full = true;
    for (int k = 0; k < n; k++)
        full = full && part[k].full;
    return (factor){.indices = out,
                    .density = density,
                    .full = full,
                    .plain = density >= 1,
                    .steady = keep_all(part, n),
                    .of = look_of(part, n)};
}

static int left_over(const search *s, uint64_t groups, factor *f)
{
    const uint64_t gone = indices_of(s, groups);
    uint64_t taken = 0;
    int n = 0;
    for (int k = 0; k < s->x->n; k++)
        if (!((taken >> k) & 1) && s->x->factor[k].indices & gone)
            f[n++] = join(s, gone, k, &taken);
    for (int k = 0; k < s->x->n; k++)
        if (!((taken >> k) & 1)) f[n++] = s->x->factor[k];
    return n;
}

/* ---- the search ------------------------------------------------------------------- */

/* Adding to places of a vector here and there, beside sums of what lies in rows. */
static const double scattered = 1.25;

/* Whether entries of an operand are reduced across its rows: what comes last in its levels
 * stays. */
static bool scatters(const factor *f, int n, uint64_t indices)
{
    bool some = false;
    for (int k = 0; k < n; k++)
        some |= f[k].levels && f[k].indices & indices &&
                !(indices >> f[k].level[f[k].levels - 1] & 1);
    return some;
}

/* The cost of reducing a group; negative: it can't be a step, or costs `most` or more. */
static double step_cost(const search *s, const factor *f, int n, uint64_t indices,
                        double most)
{
    factor part[OPT_FACTORS];
    uint64_t out = 0;
    int parts = 0, wheres = 0;
    for (int k = 0; k < n; k++) {
        if (!(f[k].indices & indices)) continue;
        part[parts++] = f[k];
        out |= f[k].indices;
        wheres += f[k].where != NULL;
    }
    if (wheres == parts) return -1; /* of nothing */
    for (int k = 0; k < n; k++)
        if (!(f[k].indices & indices) && cost_selects(part, parts, out, &f[k]))
            part[parts++] = f[k];
    out &= ~indices;
    if (s->o->pattern && !out) return -1; /* a scalar doesn't tell that it had no term */
    if (__builtin_popcountll(out) > STC_MAX_ORDER) return -1;
    for (uint64_t set = out; set; set &= set - 1)
        if (s->o->s->index[__builtin_ctzll(set)].lo >= 0) return -1;
    for (uint64_t set = indices; set; set &= set - 1)
        if (s->o->s->index[__builtin_ctzll(set)].lo >= 0) return -1;
    if (look_made(s->o, part, parts, out)) return 0;
    const double density = cost_result(s->o, part, parts, out);
    const double share = keep_share(s->o, s->kept && keep_all(part, parts), out, density);
    const double write = share * cost_write(s->o, out, density);
    if (write >= most) return -1; /* whatever it takes to get there */
    const double least = (most - write) / share;
    double nest = cost_nest_below(s->o, part, parts, least);
    if (nest >= least) return -1;
    if (s->o->looks && nest < density * cost_places(s->o, out))
        nest = density * cost_places(s->o, out); /* each is visited that is stored */
    if (!(out & (out - 1)) && scatters(part, parts, indices)) nest *= scattered;
    const double cost = share * nest + write;
    return cost < most ? cost : -1;
}

static void offer(search *s, uint64_t gone, double cost, const state *from)
{
    int at = -1, worst = 0;
    for (int k = 0; k < s->n && at < 0; k++) {
        if (s->layer[k].gone == gone) at = k;
        if (s->layer[k].cost > s->layer[worst].cost) worst = k;
    }
    if (at < 0 && s->n < s->width) {
        s->layer[s->n++] = (state){gone, cost, from};
        return;
    }
    if (at < 0) at = worst;
    if (cost < s->layer[at].cost) s->layer[at] = (state){gone, cost, from};
}

/* Whether the factors that a group has are as written. */
static bool untouched(const search *s, uint64_t gone, int group)
{
    for (; gone; gone &= gone - 1)
        if (s->have[__builtin_ctzll(gone)] & s->have[group]) return false;
    return true;
}

/* Whether the group's step has been taken on the way, by other names of indices. */
static bool is_twice(const search *s, const state *from, int group)
{
    if (!(s->twin[group] & from->gone) || !untouched(s, from->gone, group)) return false;
    for (; from->from; from = from->from) {
        const int g = __builtin_ctzll(from->gone & ~from->from->gone);
        if (s->twin[group] >> g & 1 && untouched(s, from->from->gone, g)) return true;
    }
    return false;
}

/* Whether what is left to reduce has none of the indices that the product has then: for
 * each of its places it would be the same. */
static bool stands_alone(const search *s, uint64_t gone, const factor *f, int n)
{
    const uint64_t last = s->x->reduced & ~indices_of(s, gone);
    uint64_t own = 0, others = 0;
    for (int k = 0; k < n; k++)
        *(f[k].indices & last ? &own : &others) |= f[k].indices;
    return others && !(own & ~last) && s->o->s->nindex < BOUND_INDICES;
}

/* Elements of a row that is appended, each of them read down a column. */
static const double strided = 4;

/* Whether the result's rows are appended, of factors that are stored everywhere, of which
 * one is read across its rows. */
static bool strides(const search *s, uint64_t gone, const factor *f, int n)
{
    const uint64_t last = s->x->reduced & ~indices_of(s, gone);
    bool across = false;
    for (int k = 0; k < n && s->o->pattern; k++) {
        if (f[k].density < 1) return false;
        across = across || (f[k].e && reads_across(s->o->p, f[k].e, last));
    }
    return across;
}

static void extend(search *s, const state *from)
{
    if (from->cost >= s->best_cost) return; /* more steps don't make it cheaper */
    factor f[OPT_FACTORS];
    const int n = left_over(s, from->gone, f);
    const double more = s->best_cost - from->cost;
    const double stride = strides(s, from->gone, f, n) ? strided : 1;
    const double rest =
        from->gone ? stride * cost_nest_below(s->o, f, n, more / stride) : s->written;
    if (rest < more) {
        s->best = from;
        s->best_cost = from->cost + rest;
    }
    /* the last one is reduced in place, unless other factors have other indices */
    if (__builtin_popcountll(from->gone) + 1 == s->groups &&
        !stands_alone(s, from->gone, f, n))
        return;
    for (int g = 0; g < s->groups; g++) {
        if ((from->gone >> g) & 1) continue;
        const double most = s->best_cost - from->cost;
        const double cost =
            is_twice(s, from, g) ? 0 : step_cost(s, f, n, s->group[g], most);
        if (cost >= 0) offer(s, from->gone | UINT64_C(1) << g, from->cost + cost, from);
    }
}

/* Indices by the factors that have them. */
static void find_groups(search *s)
{
    uint64_t *const have = s->have;
    s->groups = 0;
    for (uint64_t set = s->x->reduced; set; set &= set - 1) {
        const int i = __builtin_ctzll(set);
        uint64_t in = 0;
        for (int k = 0; k < s->x->n; k++)
            in |= ((s->x->factor[k].indices >> i) & 1) << k;
        int g = 0;
        while (g < s->groups && have[g] != in)
            g++;
        if (g == s->groups) {
            have[s->groups] = in;
            s->group[s->groups++] = 0;
        }
        s->group[g] |= UINT64_C(1) << i;
    }
}

/* A group's step if nothing was reduced before it; NULL: no memory, or none that is
 * compared. */
static const bexpr *step_of(opt *o, const search *s, int group)
{
    factor f[OPT_FACTORS];
    opt_part t = {.f = f, .reduced = s->group[group]};
    for (uint64_t set = s->have[group]; set; set &= set - 1)
        f[t.n++] = s->x->factor[__builtin_ctzll(set)];
    for (int k = 0; k < t.n; k++)
        if (f[k].where) return NULL;
    return t.n > 1 ? expression(o, s->x, &t) : NULL;
}

/* Equal steps are computed once (share.c). */
static void find_twins(opt *o, search *s)
{
    const bexpr *step[EXACT];
    uint64_t key[EXACT];
    for (int g = 0; g < s->groups && s->groups <= EXACT; g++) {
        step[g] = step_of(o, s, g);
        key[g] = step[g] ? share_key(step[g]) : 0;
        for (int k = 0; k < g && step[g]; k++) {
            if (!step[k] || key[k] != key[g] || s->have[k] & s->have[g] ||
                !share_same(o, o->s->index, step[k], step[g]))
                continue;
            s->twin[g] |= UINT64_C(1) << k;
            s->twin[k] |= UINT64_C(1) << g;
        }
    }
}

/* Layer by layer, at most `width` sets in each; what isn't cheaper than the best way that
 * is known is left out. */
static stc_status search_sets(opt *o, search *s, int width)
{
    int before = 1;
    state *layer = arena_array(o->a, 1, sizeof *layer);
    if (!layer) return STC_ERR_MEMORY;
    for (int k = 0; k <= s->groups && before; k++) {
        /* of the layer there is room for */
        s->width = width < before * s->groups ? width : before * s->groups;
        s->n = 0;
        s->layer = arena_room(o->a, s->width + 1, sizeof *s->layer);
        if (!s->layer) return STC_ERR_MEMORY;
        for (int m = 0; m < before; m++)
            extend(s, &layer[m]);
        layer = s->layer;
        before = s->n;
        const stc_status st = work_done(o->p->cx, (uint64_t)before);
        if (st) return st;
    }
    return STC_OK;
}

stc_status eliminate(opt *o, const product *x, elimination *out)
{
    search s = {.o = o, .x = x, .best_cost = DBL_MAX, .kept = !keep_all(x->factor, x->n)};
    s.written = out->written = cost_nest(o, x->factor, x->n);
    find_groups(&s);
    find_twins(o, &s);
    stc_status st = s.groups > GREEDY ? search_sets(o, &s, 1) : STC_OK;
    if (!st) st = search_sets(o, &s, s.groups > EXACT ? BEAM : ALL_SETS);
    if (st) return st;
    out->cost = s.best_cost;
    int n = 0;
    for (const state *at = s.best; at && at->from; at = at->from)
        n++;
    out->n = n;
    for (const state *at = s.best; at && at->from; at = at->from)
        out->group[--n] = indices_of(&s, at->gone & ~at->from->gone);
    return STC_OK;
}
