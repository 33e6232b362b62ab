/* cost.c: how much there is to visit.
 *
 * Every factor has a density: the part of its coordinates at which it is stored. Those
 * of different factors count as independent, so that the entries of a join are the
 * product of extents and densities; what is reduced has at most one entry for each of
 * those, and at most one at each of its coordinates. A loop visits, for what the loops
 * around it have left, the shortest of the factors' fibers, and leaves what all of them
 * share: so a triangle's third side costs a look, and no loop.
 */
#include "opt.h"
#include <float.h>
#include <math.h>

/* Where nothing tells: an extent, the entries of a row, the density of a vector. */
enum { EXTENT = 1000, ROW = 10 };
static const double vector_density = 0.3;
/* A result is put down and read again: at a place of its own, or sorted into its place. */
static const double write_dense = 2, write_sparse = 10;
static const double write_any = 100; /* a statement more                            */

/* ---- extents ---------------------------------------------------------------------- */

static double extent_of(const opt *o, int id)
{
    const extent *x = &o->p->ext[id];
    const double k = (double)x->k;
    double n = EXTENT, m;
    switch ((ext_op)x->op) {
    case EXT_CONST:
        return k;
    case EXT_DIM:
        stats_extent(o, x->a, x->b, &n);
        return n;
    case EXT_ADD:
        return extent_of(o, x->a) + extent_of(o, x->b);
    case EXT_MUL:
        return extent_of(o, x->a) * extent_of(o, x->b);
    case EXT_MULC:
        return extent_of(o, x->a) * k;
    case EXT_ADDC:
        return extent_of(o, x->a) + k;
    case EXT_FLOORDIV:
        return extent_of(o, x->a) / k;
    case EXT_MIN:
        n = extent_of(o, x->a);
        m = extent_of(o, x->b);
        return n < m ? n : m;
    case EXT_MAX0:
        n = extent_of(o, x->a);
        return n > 0 ? n : 0;
    case EXT_SPAN:
        break;
    }
    return n;
}

double cost_range(const opt *o, int hi)
{
    return extent_of(o, hi);
}

double cost_extent(const opt *o, const bindex *i)
{
    double n = extent_of(o, i->hi);
    if (i->lo >= 0 && o->p->ext[i->lo].op == EXT_CONST) n -= extent_of(o, i->lo);
    return n < 1 ? 1 : n;
}

void cost_extents(opt *o)
{
    for (int k = 0; k < o->s->nindex; k++)
        o->extent[k] = cost_extent(o, &o->s->index[k]);
}

double cost_places(const opt *o, uint64_t indices)
{
    double n = 1;
    for (; indices; indices &= indices - 1)
        n *= o->extent[__builtin_ctzll(indices)];
    return n;
}

/* ---- densities -------------------------------------------------------------------- */

/* The places of an access, of which its format stores some. */
static double access_density(const opt *o, const bexpr *e)
{
    const prog_tensor *t = &o->p->tensor[e->tensor];
    bool full = true;
    for (int l = 0; l < t->fmt.levels; l++)
        full = full && (format_props(&t->fmt, l) & PROP_FULL);
    double part;
    if (full) return 1;
    if (stats_density(o, e->tensor, &part)) return part;
    if (t->order < 2) return vector_density;
    const double places = cost_places(o, opt_indices(o->p, e));
    const double rows = e->sub[0].terms ? o->extent[e->sub[0].term[0].index] : EXTENT;
    return rows * ROW < places ? rows * ROW / places : 1;
}

/* What a call is where operand k is v, whatever the others are. */
static bool annihilated_by(const bexpr *e, int k, value v, value *out)
{
    value none;
    for (int n = 0; e->kind == B_CALL && n < call_annihilators(e); n++)
        if (call_annihilator(e, n, k, &none) &&
            class_equal(call_operand_class(e, k), v, none)) {
            *out = call_result(e, k, none);
            return true;
        }
    return false;
}

bool fill_of(const program *p, const bexpr *e, value *out)
{
    bool known = true;
    value arg[3] = {{0}};
    if (e->kind == B_ACCESS) {
        *out = p->tensor[e->tensor].fill;
        return !p->tensor[e->tensor].fill_later;
    }
    if (e->kind == B_CONST) {
        *out = e->value;
        return true;
    }
    if ((e->kind != B_CALL && e->kind != B_CONV && e->kind != B_USER) || e->nargs > 3)
        return false;
    for (int k = 0; k < e->nargs; k++) {
        const bool own = fill_of(p, e->args[k], &arg[k]);
        if (own && annihilated_by(e, k, arg[k], out)) return true;
        known &= own;
    }
    if (!known) return false;
    if (e->kind == B_CONV) {
        *out = conv_value(e->type, e->args[0]->type, arg[0]);
        return true;
    }
    if (e->kind == B_USER) return fn_evaluate(e->ufn, arg, out);
    const fn_scalar f = fn_scalar_of(e->fn, e->cls);
    return f && f(out, &arg[0], &arg[1], &arg[2]) == FAULT_NONE;
}

double cost_density(const opt *o, const bexpr *e, const value *none)
{
    value fill;
    if (!fill_of(o->p, e, &fill) || !class_equal(type_class(e->type), fill, *none))
        return 1;
    if (e->kind == B_ACCESS) return access_density(o, e);
    double sum = 0;
    for (int k = 0; k < e->nargs; k++) {
        value own;
        sum += fill_of(o->p, e->args[k], &own) ? cost_density(o, e->args[k], &own) : 1;
    }
    return sum < 1 ? sum : 1;
}

bool cost_starts_from(const opt *o, const product *x)
{
    const bexpr *const e = x->call ? x->call : x->r->args[0];
    value fill;
    bool full = true;
    for (int k = 0; k < x->n; k++)
        full = full && x->factor[k].full;
    return full || (fill_of(o->p, e, &fill) && class_equal(x->r->cls, fill, x->identity));
}

bool cost_has_fill(const opt *o, const product *x)
{
    const bexpr *const e = x->r->args[0];
    value fill;
    return reads_some(o->p, e) &&
           !(fill_of(o->p, e, &fill) && class_equal(x->r->cls, fill, x->identity));
}

/* Of an index that several of them have that store some, by how much a join has more than
 * chance would. */
static double join_skew(const opt *o, const factor *f, int n, int index)
{
    double more = 1;
    bool other = false;
    for (int k = 0; k < n && o->skew[index] > 0; k++) {
        if (!((f[k].indices >> index) & 1) || f[k].density >= 1) continue;
        if (other) more *= o->skew[index];
        other = true;
    }
    return more;
}

double cost_result(const opt *o, const factor *f, int n, uint64_t out)
{
    uint64_t all = out;
    double stored = 1, same = 1; /* of factors that all terms of a place share */
    for (int k = 0; k < n; k++) {
        all |= f[k].indices;
        if (f[k].indices & ~out)
            stored *= f[k].density;
        else
            same *= f[k].density;
    }
    for (uint64_t set = all; set; set &= set - 1)
        stored *= join_skew(o, f, n, __builtin_ctzll(set));
    stored *= cost_places(o, all & ~out);
    stored = stored > 1 ? same : stored * same;
    if (stored > 1) stored = 1;
    return o->looks ? look_density(o, f, n, out, stored) : stored;
}

bool cost_selects(const factor *f, int n, uint64_t indices, const factor *other)
{
    for (int k = 0; k < n; k++)
        if (f[k].density < 1 || f[k].where) return false;
    return other->density < 1 && !other->where && !(other->indices & ~indices);
}

/* ---- loops ------------------------------------------------------------------------ */

/* Of two that store some of the coordinates below what is bound, one is sought in the
 * other: that is so many times the price of looking where it must be, and more where the
 * other has many times as many. */
static const double seek = 5;

/* A factor below the loops so far: the coordinates of its indices that are bound, and how
 * many of them it stores. */
typedef struct walk {
    double places, count;
} walk;

/* A loop, if it is the next one: what it visits in each round, and leaves. */
typedef struct loop_round {
    double visits, leaves;
} loop_round;

/* Loops over all indices of some factors. What doesn't depend on their order is found
 * once; by index: the factors that have it; the indices in levels above it, in some of
 * them; the loop over it. */
typedef struct nest {
    const opt *o;
    const factor *f;
    int n;
    uint64_t all, rows;      /* indices; those along which factors lie in rows */
    uint64_t partial, built; /* the factors that store some; that may be searched */
    uint64_t have[64], above[64];
    loop_round first[64], now[64]; /* as the outermost, and below the loops so far */
    double stored[OPT_FACTORS];
    walk w[OPT_FACTORS];
} nest;

/* An entry of an operand that is converted, since the loops are in another order. */
static const double convert = 10;

/* An element of a row that every factor has whole: rows are taken as such. */
static const double in_row = 0.3;

static loop_round step_into(const nest *t, int index)
{
    const double whole = t->o->extent[index];
    loop_round r = {whole, whole};
    double longest = 0;
    int sought = 0;
    for (uint64_t having = t->have[index]; having; having &= having - 1) {
        const int k = __builtin_ctzll(having);
        const double places = t->w[k].places * whole;
        double fiber = (t->stored[k] < places ? t->stored[k] : places) / t->w[k].count;
        if (fiber > whole) fiber = whole;
        if (fiber < r.visits) r.visits = fiber;
        r.leaves *= fiber / whole;
        if (!(t->built & having & -having) || t->w[k].places <= 1) continue;
        if (fiber > longest) longest = fiber;
        sought++;
    }
    if (sought < 2) return r;
    const int halves = r.visits > 0 ? ilogb(longest / r.visits) : 0;
    r.visits *= seek * (halves > 2 ? 0.5 * halves : 1);
    return r;
}

static void nest_open(nest *t, const opt *o, const factor *f, int n)
{
    t->o = o;
    t->f = f;
    t->n = n;
    t->all = t->partial = t->built = 0;
    for (int k = 0; k < n; k++)
        t->all |= f[k].indices;
    t->rows = t->all;
    for (uint64_t set = t->all; set; set &= set - 1)
        t->have[__builtin_ctzll(set)] = t->above[__builtin_ctzll(set)] = 0;
    for (int k = 0; k < n; k++) {
        uint64_t above = 0;
        t->stored[k] = f[k].density;
        t->w[k] = (walk){1, 1};
        if (!f[k].plain) t->rows &= ~f[k].indices;
        const bool some = f[k].density < 1;
        const bool made = f[k].of & (f[k].of - 1); /* it has levels that are searched */
        t->partial |= (uint64_t)some << k;
        t->built |= (uint64_t)(!f[k].full && (some || made)) << k;
        for (uint64_t set = f[k].indices; set; set &= set - 1) {
            t->stored[k] *= o->extent[__builtin_ctzll(set)];
            t->have[__builtin_ctzll(set)] |= UINT64_C(1) << k;
        }
        for (int l = 0; l < f[k].levels; l++) {
            t->above[f[k].level[l]] |= above;
            above |= UINT64_C(1) << f[k].level[l];
        }
    }
    for (uint64_t set = t->all; set; set &= set - 1)
        t->first[__builtin_ctzll(set)] = step_into(t, __builtin_ctzll(set));
}

/* Whether a factor has levels above that of an index whose loops are still left. */
static bool is_below(const factor *f, int index, uint64_t left)
{
    uint64_t above = 0;
    for (int l = 0; l < f->levels; l++) {
        if (f->level[l] == index && above & left) return true;
        above |= UINT64_C(1) << f->level[l];
    }
    return false;
}

/* Of some indices those that have none of them above, in any factor; all, if that is none.
 */
static uint64_t can_be_next(const nest *t, uint64_t some)
{
    uint64_t next = some;
    for (uint64_t set = some; set; set &= set - 1)
        if (t->above[__builtin_ctzll(set)] & some) next &= ~(set & -set);
    return next ? next : some;
}

/* Below an index that factors share, those coordinates are found most that have most: the
 * fibers of all but one are longer than the mean. */
static void weigh_fibers(nest *t, int index, uint64_t left)
{
    const double skew = t->o->skew[index];
    const uint64_t some = t->have[index] & t->partial;
    int first = -1;
    if (!(skew > 1)) return;
    for (uint64_t set = some; set; set &= set - 1)
        if (first < 0 || !(t->f[__builtin_ctzll(set)].indices & left))
            first = __builtin_ctzll(set);
    for (uint64_t set = some; set; set &= set - 1) {
        const int k = __builtin_ctzll(set);
        if (k != first) t->w[k].count = t->w[k].count > skew ? t->w[k].count / skew : 1;
    }
}

/* A loop over an index is put below the others; gives the factors that are converted, since
 * they have levels above it that are left. */
static uint64_t bind(nest *t, int index, uint64_t left)
{
    uint64_t converted = 0, others = 0;
    const bool turned = t->above[index] & left;
    for (uint64_t having = t->have[index]; having; having &= having - 1) {
        const int k = __builtin_ctzll(having);
        walk *w = &t->w[k];
        if (turned && is_below(&t->f[k], index, left)) converted |= UINT64_C(1) << k;
        w->places *= t->o->extent[index];
        w->count = t->stored[k] < w->places ? t->stored[k] : w->places;
        if (w->count < 1) w->count = 1;
        others |= t->f[k].indices;
    }
    left &= ~(UINT64_C(1) << index);
    weigh_fibers(t, index, left);
    for (others &= left; others; others &= others - 1)
        t->now[__builtin_ctzll(others)] = step_into(t, __builtin_ctzll(others));
    return converted;
}

/* Loops in the order that visits the fewest next; `stored`: in an order that levels have
 * wherever there is one. Factors whose levels have another one are converted. What costs
 * `most` isn't looked at further. */
static double nest_in(nest *t, bool stored, double most, bool *converts)
{
    uint64_t left = t->all, converted = 0;
    double rounds = 1, cost = 0;
    for (uint64_t set = left; set; set &= set - 1)
        t->now[__builtin_ctzll(set)] = t->first[__builtin_ctzll(set)];
    while (left) {
        uint64_t set = left & ~t->rows ? left & ~t->rows : left; /* rows are innermost */
        if (stored) set = can_be_next(t, set);
        int best = __builtin_ctzll(set);
        for (set &= set - 1; set; set &= set - 1)
            if (t->now[__builtin_ctzll(set)].visits < t->now[best].visits)
                best = __builtin_ctzll(set);
        const loop_round r = t->now[best];
        converted |= bind(t, best, left);
        left &= ~(UINT64_C(1) << best);
        const double each = !left && t->rows >> best & 1 ? in_row : 1;
        cost += rounds * (r.visits > r.leaves ? r.visits : r.leaves) * each;
        rounds *= r.leaves;
        if (cost < most) continue;
        *converts = converted; /* else the order that levels have is no other so far */
        return cost;
    }
    *converts = converted;
    for (; converted; converted &= converted - 1)
        cost += convert * t->stored[__builtin_ctzll(converted)];
    return cost;
}

double cost_nest_below(const opt *o, const factor *f, int n, double most)
{
    nest t;
    bool converts;
    nest_open(&t, o, f, n);
    const double any = nest_in(&t, false, most, &converts);
    if (!converts) return any;
    for (int k = 0; k < n; k++)
        t.w[k] = (walk){1, 1};
    const double as_stored = nest_in(&t, true, any < most ? any : most, &converts);
    return any < as_stored ? any : as_stored;
}

double cost_nest(const opt *o, const factor *f, int n)
{
    return cost_nest_below(o, f, n, DBL_MAX);
}

double cost_write(const opt *o, uint64_t out, double density)
{
    const double places = cost_places(o, out);
    const double dense = places * write_dense, sparse = places * density * write_sparse;
    return write_any + (dense < sparse ? dense : sparse);
}

/* Reading along a mode that isn't the innermost one stored. */
static const double across = 5;

bool reads_across(const program *p, const bexpr *e, uint64_t reduced)
{
    if (e->kind == B_REDUCE) reduced |= reduce_indices(e);
    if (e->kind == B_ACCESS) {
        const uint64_t last = innermost_index(p, e);
        return last && !(last & reduced) && opt_indices(p, e) & reduced;
    }
    bool some = false;
    for (int k = 0; k < e->nargs && !some; k++)
        some = reads_across(p, e->args[k], reduced);
    return some;
}

bool cost_across(const opt *o, const product *x, bool turned)
{
    bool some = false;
    for (int k = 0; k < x->n; k++) /* fibers of two that store some are merged anyway */
        turned = turned && (x->factor[k].full || x->factor[k].steady);
    for (int k = 0; k < x->n && !some; k++)
        some = !(turned && o->rounds > 1 && x->factor[k].steady) &&
               reads_across(o->p, x->factor[k].e, x->reduced);
    return some;
}

double cost_each(const opt *o, const product *x, bool turned)
{
    double least = cost_places(o, x->reduced);
    for (int k = 0; k < x->n; k++) {
        const factor *f = &x->factor[k];
        if (!(f->indices & x->reduced)) continue;
        const double fiber = f->density * cost_places(o, f->indices & x->reduced);
        if (fiber < least) least = fiber;
    }
    return (cost_across(o, x, turned) ? across : 1) * (least > 1 ? least : 1);
}
