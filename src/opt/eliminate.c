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

/* What a step of these factors of the product costs, of which what was reduced before has
 * left some indices; at least that, if it isn't known more exactly. */
typedef struct price {
    uint64_t of, indices;
    double cost;
    int group;
    bool known;
} price;

/* Factors of the product that are joined, as one, of which some indices are left. */
typedef struct joined {
    uint64_t of;
    factor f;
} joined;

/* What is left of a product, and which of its factors each is made of, a bit each. */
typedef struct left {
    factor f[OPT_FACTORS];
    uint64_t of[OPT_FACTORS];
    int n;
} left;

/* Powers of two: of those that meet, the last one is found again. */
enum { JOINED = 64, PRICES = 128 };

typedef struct search {
    const opt *o;
    const product *x;
    uint64_t some;      /* the factors that store some, or decide, a bit each    */
    uint64_t group[64]; /* indices                                              */
    uint64_t have[64];  /* the factors that have them, a bit each               */
    uint64_t twin[64];  /* groups whose step, of factors as written, is the same */
    int groups, width;
    int n;     /* of the layer that is being made                         */
    bool kept; /* steps of steady factors are cheaper than where they stand */
    state *layer;
    const state *best;
    double written, best_cost; /* in one nest, and the best way */
    joined *joined;            /* by their hashes; of nothing: free */
    price *price;
} search;

/* ---- the factors that are left ---------------------------------------------------- */

static uint64_t indices_of(const search *s, uint64_t groups)
{
    uint64_t set = 0;
    for (; groups; groups &= groups - 1)
        set |= s->group[__builtin_ctzll(groups)];
    return set;
}

static uint64_t hash_of(uint64_t of, uint64_t indices)
{
    const uint64_t mixed = (of ^ indices * 31) * UINT64_C(0x9e3779b97f4a7c15);
    return mixed ^ mixed >> 32;
}

/* Some factors of the product as one, of which `out` is left. */
static const factor *join(const search *s, uint64_t of, uint64_t out)
{
    joined *j = &s->joined[hash_of(of, out) % JOINED];
    if (j->of == of && j->f.indices == out) return &j->f;
    factor part[OPT_FACTORS];
    int n = 0;
    bool full = true;
    for (uint64_t set = of; set; set &= set - 1) {
        part[n] = s->x->factor[__builtin_ctzll(set)];
        full = full && part[n].full;
        n++;
    }
    const double density = cost_result(s->o, part, n, out);
    j->of = of;
    j->f = (factor){.indices = out,
                    .density = density,
                    .full = full,
                    .plain = density >= 1,
                    .steady = keep_all(part, n),
                    .of = look_of(part, n)};
    return &j->f;
}

/* Which factors some groups join, by what they are made of, the first ones first. */
static int connect(const search *s, uint64_t groups, uint64_t *of)
{
    int n = 0;
    for (; groups; groups &= groups - 1) {
        uint64_t all = s->have[__builtin_ctzll(groups)];
        int kept = 0;
        for (int k = 0; k < n; k++)
            if (of[k] & all)
                all |= of[k];
            else
                of[kept++] = of[k];
        /* those behind it make room */
        for (n = kept++; n && (of[n - 1] & -of[n - 1]) > (all & -all); n--)
            of[n] = of[n - 1];
        of[n] = all;
        n = kept;
    }
    return n;
}

static void left_over(const search *s, uint64_t groups, left *l)
{
    const factor *const f = s->x->factor;
    const uint64_t gone = indices_of(s, groups);
    uint64_t others = s->x->n < 64 ? (UINT64_C(1) << s->x->n) - 1 : ~UINT64_C(0);
    l->n = connect(s, groups, l->of);
    for (int k = 0; k < l->n; k++)
        others &= ~l->of[k];
    for (int k = 0; k < l->n; k++) {
        uint64_t indices = 0;
        for (uint64_t set = l->of[k]; set; set &= set - 1)
            indices |= f[__builtin_ctzll(set)].indices;
        /* everywhere, but only wanted where another one is */
        for (uint64_t set = l->of[k] & s->some ? 0 : others & s->some; set; set &= set - 1)
            if (cost_selects(NULL, 0, indices, &f[__builtin_ctzll(set)])) {
                l->of[k] |= set & -set;
                others &= ~(set & -set);
                break;
            }
        l->f[k] = *join(s, l->of[k], indices & ~gone);
    }
    for (; others; others &= others - 1) {
        l->f[l->n] = f[__builtin_ctzll(others)];
        l->of[l->n++] = others & -others;
    }
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

/* Whether a step can leave some indices, and reduce others. */
static bool may_leave(const search *s, uint64_t out, uint64_t indices)
{
    if (s->o->pattern && !out) return false; /* it doesn't tell that it had no term */
    if (__builtin_popcountll(out) > STC_MAX_ORDER) return false;
    for (uint64_t set = out | indices; set; set &= set - 1)
        if (s->o->s->index[__builtin_ctzll(set)].lo >= 0) return false;
    return true;
}

/* The cost of a step of some factors; `most`: it is that, or more. */
static double cost_of(const search *s, const factor *part, int parts, uint64_t indices,
                      uint64_t out, double most)
{
    if (look_made(s->o, part, parts, out)) return 0;
    const double density = cost_result(s->o, part, parts, out);
    const double share = keep_share(s->o, s->kept && keep_all(part, parts), out, density);
    const double write = share * cost_write(s->o, out, density);
    if (write >= most) return most; /* whatever it takes to get there */
    const double least = (most - write) / share;
    double nest = cost_nest_below(s->o, part, parts, least);
    if (nest >= least) return most;
    if (s->o->looks && nest < density * cost_places(s->o, out))
        nest = density * cost_places(s->o, out); /* each is visited that is stored */
    if (!(out & (out - 1)) && scatters(part, parts, indices)) nest *= scattered;
    const double cost = share * nest + write;
    return cost < most ? cost : most;
}

/* The cost of reducing a group; negative: it can't be a step, or costs `most` or more. */
static double step_cost(const search *s, const left *l, int group, double most)
{
    const uint64_t indices = s->group[group];
    factor part[OPT_FACTORS];
    uint64_t all = 0, of = 0;
    int parts = 0;
    /* only factors that store all, and are read everywhere, ask for others beside them */
    bool some = false;
    for (int k = 0; k < l->n; k++) {
        if (!(l->f[k].indices & indices)) continue;
        some = some || l->f[k].density < 1 || l->f[k].where;
        all |= l->f[k].indices;
        of |= l->of[k];
    }
    price *p = &s->price[hash_of(of, all + (uint64_t)group) % PRICES];
    const bool same = p->of == of && p->indices == all && p->group == group && some;
    if (same && (p->known || p->cost >= most)) return p->cost < most ? p->cost : -1;
    int wheres = 0;
    for (int k = 0; k < l->n; k++) {
        if (!(l->f[k].indices & indices)) continue;
        part[parts++] = l->f[k];
        wheres += l->f[k].where != NULL;
    }
    const bool nothing = wheres == parts;
    for (int k = 0; k < l->n && !some; k++)
        if (!(l->f[k].indices & indices) && cost_selects(part, parts, all, &l->f[k]))
            part[parts++] = l->f[k];
    const uint64_t out = all & ~indices;
    const double cost = nothing || !may_leave(s, out, indices)
                            ? DBL_MAX
                            : cost_of(s, part, parts, indices, out, most);
    if (some) *p = (price){of, all, cost, group, cost < most};
    return cost < most ? cost : -1;
}

static void offer(search *s, uint64_t gone, double cost, const state *from)
{
    int at = 0;
    while (at < s->n && s->layer[at].gone != gone)
        at++;
    if (at == s->n && s->n < s->width) {
        s->layer[s->n++] = (state){gone, cost, from};
        return;
    }
    if (at == s->n) /* in place of the dearest */
        for (int k = at = 0; k < s->n; k++)
            if (s->layer[k].cost > s->layer[at].cost) at = k;
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
    return others && !(own & ~last);
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
    left l;
    left_over(s, from->gone, &l);
    const factor *const f = l.f;
    const int n = l.n;
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
        const double cost = is_twice(s, from, g) ? 0 : step_cost(s, &l, g, most);
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

/* Equal steps are computed once (share.c): each is compared with the first of its kind. */
static void find_twins(opt *o, search *s)
{
    const bexpr *step[EXACT];
    uint64_t key[EXACT], alike[EXACT]; /* by the first of a kind: all that are */
    for (int g = 0; g < s->groups && s->groups <= EXACT; g++) {
        int k = 0;
        step[g] = step_of(o, s, g);
        key[g] = step[g] ? share_key(step[g]) : 0;
        alike[g] = 0;
        while (k < g && !(step[g] && alike[k] && key[k] == key[g] &&
                          share_same(o, o->s->index, step[k], step[g])))
            k++;
        for (uint64_t set = alike[k]; set; set &= set - 1) {
            const int m = __builtin_ctzll(set);
            if (s->have[m] & s->have[g]) continue;
            s->twin[g] |= UINT64_C(1) << m;
            s->twin[m] |= UINT64_C(1) << g;
        }
        if (step[g]) alike[k] |= UINT64_C(1) << g;
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
    s.joined = arena_room(o->a, JOINED, sizeof *s.joined);
    s.price = arena_room(o->a, PRICES, sizeof *s.price);
    if (!s.joined || !s.price) return STC_ERR_MEMORY;
    for (int k = 0; k < JOINED; k++)
        s.joined[k].of = 0;
    for (int k = 0; k < PRICES; k++)
        s.price[k].of = 0;
    for (int k = 0; k < x->n; k++)
        if (x->factor[k].density < 1 || x->factor[k].where) s.some |= UINT64_C(1) << k;
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
