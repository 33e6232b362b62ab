/* range.c: loops over the part of their range in which comparisons of indices are true.
 *
 * What the set of a loop says of its index (../plan/range.c) becomes two extents, set in
 * front of the loop: the places at which all comparisons that must hold do, and between
 * the first and the last at which one of several does. All that is compared is kept within
 * -1 and 2^62 first, so that no sum wraps. What doesn't depend on an index is set ahead of
 * all loops, so that these stay a nest that is run as a whole.
 */
#include "../../vm/code/build.h"
#include "lower.h"

/* Registers with where a range begins and ends; -1: it is the index's own. */
typedef struct bounds {
    int lo, hi;
} bounds;

static int integer(lowering *lo, int64_t k)
{
    const int r = lower_vreg(lo);
    EMIT(lo, OP_CONST, r, lower_iconst(lo, k));
    return r;
}

static int call(lowering *lo, int fn, int a, int b)
{
    const int r = lower_vreg(lo);
    EMIT(lo, OP_FN2, r, fn, CLASS_I64, a, b);
    return r;
}

/* fn of both, or the one that is there. */
static int join(lowering *lo, int fn, int a, int b)
{
    return a < 0 ? b : b < 0 ? a : call(lo, fn, a, b);
}

static bounds of_comparison(lowering *lo, const bexpr *e, int index)
{
    bexpr *other;
    bounds out = {-1, -1};
    const int fn = range_solve(lo->pl, e, index, lo->bound, &other);
    if (fn < 0 || (expr_indices(lo->pl, other) == 0) != lo->ranges_ahead) return out;
    const int least = call(lo, FN_MAX, lower_expr(lo, other), integer(lo, -1));
    const int at = call(lo, FN_MIN, least, integer(lo, INT64_C(1) << 62));
    const int next = fn == FN_LT || fn == FN_GE ? at : call(lo, FN_ADD, at, integer(lo, 1));
    if (fn == FN_EQ || fn == FN_GE) out.lo = at;
    if (fn == FN_GT) out.lo = next;
    if (fn == FN_EQ || fn == FN_LE || fn == FN_LT) out.hi = next;
    return out;
}

static bounds of_set(lowering *lo, const pset *s, int index)
{
    bounds none = {-1, -1};
    if (s->op == PS_WHERE) return of_comparison(lo, s->of, index);
    if (s->op != PS_AND && s->op != PS_OR) return none;
    const bounds a = of_set(lo, s->a, index), b = of_set(lo, s->b, index);
    const bool both = s->op == PS_AND;
    if (both || (a.lo >= 0 && b.lo >= 0))
        none.lo = join(lo, both ? FN_MAX : FN_MIN, a.lo, b.lo);
    if (both || (a.hi >= 0 && b.hi >= 0))
        none.hi = join(lo, both ? FN_MIN : FN_MAX, a.hi, b.hi);
    return none;
}

static int extent_value(lowering *lo, int ext)
{
    const int r = lower_vreg(lo);
    EMIT(lo, OP_EXTENT, r, ext);
    return r;
}

static uint16_t set_extent(lowering *lo, int to)
{
    const int e = program_push_extent(lo->p, (extent){.op = EXT_SPAN});
    if (e < 0 && !lo->status) lo->status = STC_ERR_MEMORY;
    EMIT(lo, OP_BOUND, e < 0 ? 0 : e, to);
    return (uint16_t)(e < 0 ? 0 : e);
}

/* Where few coordinates are stored, to look at each costs less than to find the first. */
static bool walks_all(const lowering *lo, const cin *loop)
{
    const loop_info *info = loop->info;
    for (int k = 0; k < info->count; k++) {
        const loop_operand *o = &info->operand[k];
        const paccess *x = &lo->pl->access[o->access];
        if (o->role == MERGE_WALK &&
            (o->subsect || !(x->level[o->level].props & PROP_FULL)))
            return false;
    }
    return true;
}

/* Whether loops are few rounds each, so that to set their range costs more than it saves;
 * what a sparse result stores must not depend on that. */
static bool is_short(const lowering *lo, const cin *loop)
{
    enum { SHORT = 64 };
    const format *f = &lo->p->tensor[lo->pl->s->target].fmt;
    const int64_t n = lo->pl->known[loop->index];
    for (int l = 0; l < f->levels; l++)
        if (!(format_props(f, l) & PROP_FULL)) return false;
    return n > 0 && n < SHORT;
}

/* A loop that goes on where it ended: it begins there, and leaves where it ends now. */
static void go_on(lowering *lo, const cin *loop, uint16_t *first, uint16_t *end)
{
    const bounds b = of_set(lo, loop->space, loop->index);
    int hi = extent_value(lo, lo->pl->s->index[loop->index].hi);
    if (b.hi >= 0) hi = call(lo, FN_MIN, hi, b.hi);
    *first = (uint16_t)loop->since;
    *end = set_extent(lo, call(lo, FN_MAX, hi, extent_value(lo, loop->since)));
}

void lower_since(lowering *lo, const cin *c)
{
    const int i = lo->pl->s->index[c->index].lo;
    EMIT(lo, OP_BOUND, c->source, i < 0 ? integer(lo, 0) : extent_value(lo, i));
}

void lower_ended(lowering *lo, const cin *loop, uint16_t end)
{
    if (loop->since) EMIT(lo, OP_BOUND, loop->since, extent_value(lo, end));
}

/* The range's extents from what comparisons leave of those it has. */
static void narrow(lowering *lo, const bounds *b, uint16_t *first, uint16_t *end)
{
    if (b->lo < 0 && b->hi < 0) return;
    int hi = extent_value(lo, *end);
    if (b->hi >= 0) hi = call(lo, FN_MIN, hi, b->hi);
    *end = set_extent(lo, hi);
    if (b->lo < 0) return;
    int from = b->lo;
    if (*first != ROOT) from = call(lo, FN_MAX, from, extent_value(lo, *first));
    *first = set_extent(lo, call(lo, FN_MIN, from, hi));
}

static void own_range(const lowering *lo, const cin *loop, uint16_t *first, uint16_t *end)
{
    const bindex *i = &lo->pl->s->index[loop->index];
    *first = (uint16_t)(i->lo < 0 ? ROOT : i->lo);
    *end = (uint16_t)i->hi;
}

/* Some comparison is in the set. */
static bool has_where(const pset *s)
{
    if (s->op == PS_AND || s->op == PS_OR) return has_where(s->a) || has_where(s->b);
    return s->op == PS_WHERE;
}

/* The one comparison that must hold throughout the set; NULL: there is none, or several. */
static const bexpr *only_where(const pset *s)
{
    if (s->op == PS_WHERE) return s->of;
    if (s->op != PS_AND || (has_where(s->a) && has_where(s->b))) return NULL;
    return only_where(has_where(s->a) ? s->a : s->b);
}

bool lower_pin(lowering *lo, const cin *loop)
{
    plan *pl = lo->pl;
    bexpr *other;
    const bexpr *e = pl->compares ? only_where(loop->space) : NULL;
    const bindex *i = &pl->s->index[loop->index];
    if (!e || e->fn != FN_EQ || i->lo >= 0 ||
        range_solve(pl, e, loop->index, lo->bound, &other) != FN_EQ ||
        !expr_indices(pl, other))
        return false;
    EMIT(lo, OP_INDEX, lo->index[loop->index], lower_expr(lo, other));
    EMIT(lo, OP_WITHIN, lo->index[loop->index], i->hi);
    return true;
}

void lower_ranges_ahead(lowering *lo, cin *c)
{
    for (; c; c = c->next) {
        if (c->body) lower_ranges_ahead(lo, c->body);
        lo->ranges_ahead = true;
        if (c->kind != CIN_FORALL || c->since || !walks_all(lo, c)) continue;
        const bounds b = of_set(lo, c->space, c->index);
        own_range(lo, c, &c->first, &c->end);
        narrow(lo, &b, &c->first, &c->end);
    }
    lo->ranges_ahead = false;
}

void lower_range(lowering *lo, const cin *loop, uint16_t *first, uint16_t *end)
{
    if (loop->since) {
        go_on(lo, loop, first, end);
        return;
    }
    own_range(lo, loop, first, end);
    if (!lo->pl->compares || !walks_all(lo, loop)) return;
    *first = loop->first;
    *end = loop->end;
    if (is_short(lo, loop)) return;
    const bounds b = of_set(lo, loop->space, loop->index);
    narrow(lo, &b, first, end);
}
