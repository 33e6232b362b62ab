/* work.c: the work that an order of loops would do.
 *
 * Each loop's expected number of steps, from what its levels look like (a full
 * level has every coordinate, others a few), plus the price of converting operands
 * that can't be walked in that order. At first every extent counts as a thousand and every
 * sparse fiber as a hundredth of it: enough to tell Gustavson's loops from a table of inner
 * products. Of operands that are there it is asked again (`sized`), with their extents and
 * what their levels have in the mean.
 *
 * Many orders of the same loops are asked for, up to 120 a term: what is the same
 * for all of them is settled first, and an order begins with the place of every
 * index in it, from which the rest follows by comparisons.
 */
#include "work.h"
#include <float.h>
#include <string.h>

enum { EXTENT = 1000, FILTER = 5, SLOTS = 10 };

static const double first_level = 0.3, deeper_level = 0.01;
static const double convert_dense = 5, convert_sparse = 30;
static const double entering = 30;     /* a loop costs that before its first step */
static const double entering_side = 1; /* of a block, which is run as a whole */
static const double nothing = 1e-12;   /* what is stored counts for more than none */
static const double strided = 0.7;     /* an operand whose innermost level stays put */

/* Whether an access has an index in several subscripts, one of them of two indices, as
 * A(j-i,i) has i: then it runs over the tensor, and moves no window. */
static bool skews(const plan *pl, int index)
{
    for (int k = 0; k < pl->naccess; k++) {
        const paccess *x = &pl->access[k];
        int has = 0;
        bool shared = false;
        for (int m = 0; m < pl->p->tensor[x->source].order; m++) {
            const bool in = affine_has(&x->sub[m], index);
            has += in;
            shared |= in && x->sub[m].terms > 1;
        }
        if (has > 1 && shared) return true;
    }
    return false;
}

/* Whether what is known of sizes tells what loops visit: not of runs, which are as long as
 * they like, nor of windows, of which those are visited that aren't empty. */
bool sizes_count(const plan *pl)
{
    for (int k = 0; k < pl->naccess && pl->nthere; k++)
        for (int l = 0; l < pl->access[k].levels; l++)
            if (pl->access[k].level[l].kind->caps & CAP_REGION ||
                pl->access[k].level[l].at.terms > 1)
                return false;
    return pl->nthere;
}

void price_loop(const plan *pl, loop_prices *prices, int index)
{
    const bindex *b = &pl->s->index[index];
    prices->extent[index] = EXTENT;
    prices->entry[index] = entering;
    if (b->hi < 0) return;
    if (plan_in_filter(pl, index) && !skews(pl, index)) {
        prices->extent[index] = FILTER;
        return;
    }
    const extent *hi = &pl->p->ext[b->hi];
    if (hi->op != EXT_CONST && pl->known[index] > 0 && prices->sized)
        prices->extent[index] = (double)pl->known[index];
    if (hi->op != EXT_CONST || hi->k <= 0 || hi->k >= EXTENT) return;
    prices->extent[index] = (double)hi->k;
    prices->entry[index] = entering_side;
}

/* The operand, if it is there as it is read: its levels tell how many positions they
 * have. */
static const tensor *operand_of(const plan *pl, const paccess *x)
{
    const tensor *t = x->source < pl->nthere ? pl->there[x->source] : NULL;
    return t && t->fmt.levels == x->levels ? t : NULL;
}

static double within(double part)
{
    return part > 1 ? 1 : part < nothing ? nothing : part;
}

/* Which part of `whole` coordinates a level stores below one parent, where n entries are
 * anywhere, and the levels above have room for so many positions. */
static double spread(double n, double room, double whole)
{
    const double positions = n < room * whole ? n : room * whole;
    return within(positions / ((n < room ? n : room) * whole));
}

/* The same of level l of a step's result, by what it is thought to store. */
static double thought_density(const work *w, const priced_access *p, int l)
{
    double room = 1, whole = 1;
    for (int k = 0; k <= l; k++) {
        const affine *at = &p->x->level[k].at;
        room *= whole;
        whole = at->terms == 1 ? w->prices->extent[at->term[0].index] : EXTENT;
    }
    return spread(p->entries, room, whole);
}

/* The same of level l of an operand, in the mean. */
static double level_density(const work *w, const priced_access *p, int l)
{
    if (p->x->level[l].props & PROP_FULL) return 1;
    if (!p->there && p->entries > 0) return thought_density(w, p, l);
    if (!p->there) return l == 0 ? first_level : deeper_level;
    const tensor *t = p->there;
    int64_t parents = 1, size = 1; /* nobody may have looked at its levels so far */
    for (int k = 0; k <= l; k++) {
        parents = size;
        size = tensor_level_says(t, k, parents);
    }
    const double places = (double)parents * (double)t->level[l].extent;
    return parents == NONE || size == NONE ? deeper_level
           : places > 0                    ? within((double)size / places)
                                           : 1;
}

/* What a level counts for, when all of a tensor is walked. */
static double level_extent(const level_map *m)
{
    switch ((map_op)m->op) {
    case MAP_PART:
        if (m->n) return m->n < EXTENT ? (double)m->n : EXTENT;
        return m->k < EXTENT ? (double)EXTENT / (double)m->k : 1;
    case MAP_COUNT:
        return SLOTS;
    default:
        return EXTENT;
    }
}

static double conversion_price(const plan *pl, const priced_access *p)
{
    const paccess *x = p->x;
    const format *f = &pl->p->tensor[x->source].fmt;
    double stored = 1, price = convert_dense;
    for (int l = 0; l < x->levels; l++) {
        stored *= level_extent(&f->level[l].map) * p->part[l];
        if (!(x->level[l].props & PROP_FULL)) price = convert_sparse;
    }
    return (p->there || p->entries > 0 ? p->entries : stored) * price;
}

/* Whether every coordinate is there, in the tensor as in a copy of it. */
static bool all_full(const plan *pl, const paccess *x)
{
    const prog_tensor *t = &pl->p->tensor[x->source];
    for (int l = 0; l < x->levels; l++)
        if (!(x->level[l].props & PROP_FULL)) return false;
    return t->order == 0 || converted_level(&t->fmt, x, t->order - 1)->props & PROP_FULL;
}

/* Whether a set leaves out nothing, under any order. */
static bool is_all(const work *w, const pset *s)
{
    if (s->op == PS_OR) return is_all(w, s->a) || is_all(w, s->b);
    if (s->op == PS_AND) return is_all(w, s->a) && is_all(w, s->b);
    if (s->op == PS_STORED) return (w->full >> s->access) & 1;
    return s->op != PS_NONE && s->op != PS_WHERE;
}

/* What is left of a space, of those that meet in it, if one of two leaves out nothing. */
static const pset *thinning(const work *w, const pset *s)
{
    while (s->op == PS_AND) {
        if (is_all(w, s->b))
            s = s->a;
        else if (is_all(w, s->a))
            s = s->b;
        else
            break;
    }
    return s;
}

static void add_access(work *w, int k)
{
    priced_access *p = &w->access[w->count++];
    p->x = &w->pl->access[k];
    p->access = k;
    p->outer = precompute_outer(w->pl, p->x->source);
    p->copied[0] = p->copied[1] = 0;
    p->there = w->prices->sized ? operand_of(w->pl, p->x) : NULL;
    p->entries = p->there ? (double)p->there->nvals : 0;
    if (w->prices->sized && !p->there && p->x->source < w->pl->nthere)
        p->entries = w->pl->thought[p->x->source];
    for (int l = 0; l < p->x->levels; l++)
        p->part[l] = level_density(w, p, l);
    p->conversion = conversion_price(w->pl, p);
}

void work_open(work *w, plan *pl, const loop_prices *prices, const pset *space,
               uint64_t uses, int n)
{
    w->pl = pl;
    w->prices = prices;
    w->uses = uses;
    w->n = n;
    w->count = 0;
    w->full = 0;
    memset(w->place, n, sizeof w->place);
    for (uint64_t left = pl->dropped; left; left &= left - 1)
        w->place[__builtin_ctzll(left)] = -1;
    for (uint64_t left = uses; left; left &= left - 1) {
        const int k = __builtin_ctzll(left);
        w->density[k] = (density){0, 0};
        if (all_full(pl, &pl->access[k]))
            w->full |= UINT64_C(1) << k;
        else
            add_access(w, k);
    }
    w->thin = w->count;
    for (uint64_t left = w->full; left; left &= left - 1)
        add_access(w, __builtin_ctzll(left));
    w->space = thinning(w, space);
}

/* ---- one order ------------------------------------------------------------------- */

/* The loop after which a coordinate is known; -1: before all. */
static inline int known_at(const work *w, const affine *f)
{
    int at = -1;
    if (f->terms == 1) return w->place[f->term[0].index];
    for (int t = 0; t < f->terms; t++)
        if (w->place[f->term[t].index] > at) at = w->place[f->term[t].index];
    return at;
}

/* A derived index may be a loop as well, where what it is derived from isn't. */
static void place_indices(work *w, const int *seq)
{
    const plan *pl = w->pl;
    for (int k = 0; k < pl->nderived; k++)
        w->place[pl->derived[k].index] = (int8_t)w->n;
    for (int s = 0; s < w->n; s++)
        w->place[seq[s]] = (int8_t)s;
    for (int k = 0; k < pl->nderived; k++) {
        const derived_index *d = &pl->derived[k];
        const int at = known_at(w, &d->at);
        if (at < w->place[d->index]) w->place[d->index] = (int8_t)at;
    }
    for (int k = 0; k < pl->ncomputed; k++) {
        int at = -1;
        for (uint64_t left = pl->computed[k].from; left; left &= left - 1)
            if (w->place[__builtin_ctzll(left)] > at) at = w->place[__builtin_ctzll(left)];
        w->place[pl->computed[k].index] = (int8_t)at;
    }
}

/* Whether the loops that an access must be inside of bind none of its levels;
 * *reached: the last of them. */
static bool stays_inside(const work *w, const priced_access *p, const int *seq,
                         int *reached)
{
    for (uint64_t left = p->outer; left; left &= left - 1) {
        const int at = w->place[__builtin_ctzll(left)];
        if (at > *reached) *reached = at;
    }
    for (int l = 0; l < p->x->levels; l++)
        for (int k = 0; k <= *reached && k < w->n; k++)
            if (affine_has(&p->x->level[l].at, seq[k])) return false;
    return true;
}

/* Whether an access can be read as it is stored under this order. */
static bool follows(const work *w, priced_access *p, const int *seq)
{
    const paccess *x = p->x;
    int reached = -1;
    if ((x->why && !x->converted) || (p->outer && !stays_inside(w, p, seq, &reached)))
        return false;
    for (int l = 0; l < x->levels; l++) {
        const int at = known_at(w, &x->level[l].at);
        if (at < reached && !(x->level[l].kind->caps & CAP_LOCATE) &&
            plan_indices(w->pl, &x->level[l].at))
            return false;
        if (at > reached) reached = at;
        p->at[l] = (int8_t)at;
    }
    return true;
}

/* What is bound outside of loop s: all but what it and the loops inside bind. */
static uint64_t bound_outside(const work *w, int s)
{
    uint64_t bound = UINT64_MAX;
    for (; s < w->n; s++)
        bound &= ~(UINT64_C(1) << w->seq[s]);
    return bound;
}

/* What a space comes to in loop `at`. */
static density judge(const work *w, const pset *s, int at)
{
    if (s->op == PS_NONE) return (density){0, 0};
    if (s->op == PS_WHERE) {
        const double part = range_part(w->pl, s->of, w->seq[at], bound_outside(w, at));
        return (density){part, part};
    }
    if (s->op == PS_STORED && w->density[s->access].step > 0) return w->density[s->access];
    if (s->op != PS_AND && s->op != PS_OR) return (density){1, 1};
    density a = judge(w, s->a, at), b = judge(w, s->b, at);
    if (s->op == PS_AND)
        return (density){a.step < b.step ? a.step : b.step, a.produce * b.produce};
    density sum = {a.step + b.step, a.produce + b.produce};
    return (density){sum.step > 1 ? 1 : sum.step, sum.produce > 1 ? 1 : sum.produce};
}

/* A level is resolved by the loop: the first one is walked, those below are sought. */
static void resolve(work *w, const priced_access *p, double part)
{
    density *d = &w->density[p->access];
    *d = d->step > 0 ? (density){d->step, d->produce * part} : (density){part, part};
}

/* How dense level l of a copy in the loops' order is: its first one or any other. */
static double copied_density(const work *w, priced_access *p, int l, double whole)
{
    double *d = &p->copied[l > 0];
    const bool known = p->there || p->entries > 0;
    const double n = p->entries > 0 ? p->entries : 1;
    const double room = l ? p->room : 1;
    p->room = room * whole;
    if (*d == 0) {
        const prog_tensor *t = &w->pl->p->tensor[p->x->source];
        const bool full = converted_level(&t->fmt, p->x, l)->props & PROP_FULL;
        *d = full ? 1 : l == 0 ? first_level : deeper_level;
    }
    return known && *d < 1 ? spread(n, room, whole) : *d;
}

/* A conversion has a level for each mode, in the loops' order. */
static void enter_converted(work *w, priced_access *p, int s, int index)
{
    const affine *sub = p->x->sub;
    for (int m = 0; m < w->pl->p->tensor[p->x->source].order; m++)
        if (affine_has(&sub[m], index) && known_at(w, &sub[m]) <= s)
            resolve(w, p, copied_density(w, p, p->depth++, w->prices->extent[index]));
}

/* Levels of an access that loop s, over `index`, resolves. */
static void enter(work *w, priced_access *p, int s, int index)
{
    const paccess *x = p->x;
    w->density[p->access] = (density){0, 0};
    if (p->converted) {
        enter_converted(w, p, s, index);
        return;
    }
    for (; p->depth < x->levels && p->at[p->depth] <= s; p->depth++)
        if (affine_has(&x->level[p->depth].at, index)) resolve(w, p, p->part[p->depth]);
}

bool access_strides(const paccess *x, int index)
{
    for (int l = 0; l + 1 < x->levels; l++)
        if (affine_has(&x->level[l].at, index)) return true;
    return false;
}

bool access_turns(const paccess *x, int outermost, int innermost)
{
    if (!(x->copied & COPY_PAYS)) return false;
    bool rough = x->levels == 1 && !(x->level[0].kind->caps & CAP_LOCATE);
    for (int l = 0; l < x->levels; l++)
        rough |= !(x->level[l].props & PROP_ORDERED) || !(x->level[l].props & PROP_UNIQUE);
    return access_strides(x, innermost) ||
           (rough && !affine_has(&x->level[0].at, outermost));
}

double work_of(work *w, const int *seq, double limit, double *inner)
{
    double cost = 0, rounds = 1;
    *inner = 0;
    w->seq = seq;
    place_indices(w, seq);
    for (int k = 0; k < w->count; k++) {
        priced_access *p = &w->access[k];
        p->depth = 0;
        const bool turned = w->n > 0 && access_turns(p->x, seq[0], seq[w->n - 1]);
        p->converted = !follows(w, p, seq) || turned;
        if (p->converted && p->x->native) return DBL_MAX;
        if (p->converted && !turned) cost += p->conversion; /* else it is known to pay */
        if (cost >= limit) return DBL_MAX;
    }
    for (int s = 0; s < w->n; s++) {
        for (int k = 0; k < w->thin; k++)
            enter(w, &w->access[k], s, seq[s]);
        const density d = judge(w, w->space, s);
        const double steps = rounds * w->prices->extent[seq[s]];
        cost += steps * d.step * (d.step < 1 ? 2 : 1) + rounds * w->prices->entry[seq[s]];
        if (cost >= limit) return DBL_MAX;
        rounds = steps * d.produce;
    }
    *inner = rounds;
    for (int k = 0; w->n && k < w->count; k++)
        if (!(w->access[k].x->copied & COPY_PAYS) &&
            access_strides(w->access[k].x, seq[w->n - 1]))
            cost += rounds * strided;
    return cost;
}
