/* affine_walk.c: the walk over the levels of an affine nest's sparse operand.
 *
 * Each stored coordinate is solved for the index of its level, once for all taps.
 */
#include "affine.h"
#include "../super/super.h"

static stc_status walk_level(machine *mc, affine *a, int l, const int64_t *at,
                             int64_t begin, int64_t end);

/* The lines that are still of use below level l, with index d at value v. */
static void bind(const affine *a, int l, int64_t *out, const int64_t *at, int d, int64_t v)
{
    const int lines = a->nload + a->nlevel;
    for (int k = 0; k < a->nload; k++)
        out[k] = at[k] + a->line[k].coef[d] * v;
    for (int k = a->nload + l; k < lines; k++)
        out[k] = at[k] + a->line[k].coef[d] * v;
}

/* The coordinate of level l is x, of its window, at positions begin … end-1: it is solved
 * for all taps at once, where their `back` is 0. */
static stc_status coordinate(machine *mc, affine *a, int l, const int64_t *at, int64_t x,
                             int64_t begin, int64_t end)
{
    const affine_level *lv = &a->level[l];
    const affine_window *w = &a->window[l];
    const int64_t y = x - at[lv->line], c = w->step, n = c < 0 ? -c : c;
    int64_t here[AFFINE_FORMS], r = 0, v = y;
    if (n != 1) r = y % n < 0 ? y % n + n : y % n;
    if (c != 1) v = (y - r) / c;
    const affine_stand up = l ? a->stand[l - 1] : (affine_stand){0, 0};
    const bool inside = v >= w->all_lo && v < w->all_hi;
    a->x[l] = v;
    a->stand[l].class = up.class + (int)(r * w->radix);
    a->stand[l].edges = up.edges | (uint32_t)!inside << l;
    bind(a, l + 1, here, at, lv->solved, v);
    return walk_level(mc, a, l + 1, here, begin, end);
}

/* The coordinates of level l that matter lie between these. */
static int64_t least(const affine *a, int l, const int64_t *at)
{
    return at[a->level[l].line] + a->window[l].min;
}
static int64_t most(const affine *a, int l, const int64_t *at)
{
    return at[a->level[l].line] + a->window[l].max;
}

static stc_status walk_range(machine *mc, affine *a, int l, const int64_t *at,
                             int64_t parent)
{
    const affine_level *lv = &a->level[l];
    const int64_t first = least(a, l, at), last = most(a, l, at);
    const int64_t from = first > lv->lo ? first : lv->lo;
    for (int64_t x = from; x <= last && x < lv->lo + lv->extent; x++) {
        const int64_t p = parent * lv->extent + x - lv->lo;
        a->rounds++;
        if (coordinate(mc, a, l, at, x, p, p + 1)) return mc->cx->diag.status;
    }
    return super_poll(mc, &a->rounds);
}

/* The last level's entries, some at a time. */
static stc_status walk_fiber(machine *mc, affine *a, const int64_t *at, int64_t begin,
                             int64_t end)
{
    enum { SOME = 1024 };
    const affine_level *lv = &a->level[a->nlevel - 1];
    for (int64_t next; begin < end; begin = next) {
        next = end - begin < SOME ? end : begin + SOME;
        if (a->sink.kind == SINK_ACC &&
            affine_room_fill(mc, a, at, affine_coord(lv, next - 1)))
            return mc->cx->diag.status;
        a->fiber(a, at, begin, next);
        if (a->room.mark) affine_room_mark(a, at, begin, next);
        if (super_poll(mc, &a->rounds)) return mc->cx->diag.status;
    }
    return STC_OK;
}

/* Level l below parents begin … end-1, which share a coordinate. */
static stc_status walk_level(machine *mc, affine *a, int l, const int64_t *at,
                             int64_t begin, int64_t end)
{
    const affine_level *lv = &a->level[l];
    if (l == a->nlevel) {
        for (; begin < end; begin++)
            a->entry(a, at, begin);
        return super_poll(mc, &a->rounds);
    }
    if (!lv->walked) return walk_range(mc, a, l, at, begin);
    machine_saw(mc, SEEN_FIBERS, 1);
    begin = affine_children(lv, begin);
    end = affine_children(lv, end);
    const int64_t first = least(a, l, at), last = most(a, l, at);
    if (lv->ordered && begin < end && affine_coord(lv, begin) < first)
        begin = coord_search(lv->crd, lv->width, lv->stride, begin, end, first);
    a->rounds++;
    if (begin == end || (lv->ordered && affine_coord(lv, begin) > last))
        return super_poll(mc, &a->rounds);
    if (a->fiber && l + 1 == a->nlevel) return walk_fiber(mc, a, at, begin, end);
    for (int64_t p = begin, next; p < end; p = next) {
        const int64_t x = affine_coord(lv, p);
        for (next = p + 1; lv->grouped && next < end && affine_coord(lv, next) == x;)
            next++;
        a->rounds++;
        if (x > last && lv->ordered) break;
        if (x < first || x > last) continue;
        if (coordinate(mc, a, l, at, x, p, next)) return mc->cx->diag.status;
    }
    return super_poll(mc, &a->rounds);
}

stc_status affine_walk(machine *mc, affine *a)
{
    int64_t at[AFFINE_FORMS];
    for (int k = 0; k < a->nload + a->nlevel; k++)
        at[k] = a->line[k].base;
    a->rounds = 1;
    const stc_status st = walk_level(mc, a, 0, at, a->begin, a->end);
    return st ? st : machine_count(mc, a->rounds);
}
