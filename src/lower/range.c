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

static int extent_of(lowering *lo, int ext)
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

/* A loop that goes on where it ended: it begins there, and leaves where it ends now. */
static void go_on(lowering *lo, const cin *loop, uint16_t *first, uint16_t *end)
{
    const bounds b = of_set(lo, loop->space, loop->index);
    int hi = extent_of(lo, lo->pl->s->index[loop->index].hi);
    if (b.hi >= 0) hi = call(lo, FN_MIN, hi, b.hi);
    *first = (uint16_t)loop->since;
    *end = set_extent(lo, call(lo, FN_MAX, hi, extent_of(lo, loop->since)));
}

void lower_since(lowering *lo, const cin *c)
{
    const int i = lo->pl->s->index[c->index].lo;
    EMIT(lo, OP_BOUND, c->source, i < 0 ? integer(lo, 0) : extent_of(lo, i));
}

void lower_ended(lowering *lo, const cin *loop, uint16_t end)
{
    if (loop->since) EMIT(lo, OP_BOUND, loop->since, extent_of(lo, end));
}

/* The range's extents from what comparisons leave of those it has. */
static void narrow(lowering *lo, const bounds *b, uint16_t *first, uint16_t *end)
{
    if (b->lo < 0 && b->hi < 0) return;
    int hi = extent_of(lo, *end);
    if (b->hi >= 0) hi = call(lo, FN_MIN, hi, b->hi);
    *end = set_extent(lo, hi);
    if (b->lo < 0) return;
    int from = b->lo;
    if (*first != ROOT) from = call(lo, FN_MAX, from, extent_of(lo, *first));
    *first = set_extent(lo, call(lo, FN_MIN, from, hi));
}

static void own_range(const lowering *lo, const cin *loop, uint16_t *first, uint16_t *end)
{
    const bindex *i = &lo->pl->s->index[loop->index];
    *first = (uint16_t)(i->lo < 0 ? ROOT : i->lo);
    *end = (uint16_t)i->hi;
}

void lower_pin(lowering *lo, const cin *loop)
{
    const bindex *const i = &lo->pl->s->index[loop->index];
    const int at = lo->index[loop->index];
    int to = lower_expr(lo, loop->info->pin.to);
    if (loop->info->pin.way == PIN_STRAIGHT) {
        EMIT(lo, OP_INDEX, at, to);
        EMIT(lo, OP_WITHIN, at, i->hi);
        return;
    }
    const int lo_end = i->lo < 0 ? integer(lo, 0) : extent_of(lo, i->lo);
    const int above = call(lo, FN_GE, to, lo_end);
    const int here = call(lo, FN_AND, above, call(lo, FN_LT, to, extent_of(lo, i->hi)));
    const int pinned = lower_vreg(lo);
    EMIT(lo, OP_FN3, pinned, FN_SELECT, CLASS_I64, here, to, integer(lo, -1));
    EMIT(lo, OP_INDEX, at, pinned);
    lo->chosen = join(lo, FN_AND, lo->chosen, here);
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
    if (range_is_short(lo->pl, loop->index)) return;
    const bounds b = of_set(lo, loop->space, loop->index);
    narrow(lo, &b, first, end);
}
