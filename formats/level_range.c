/* level_range.c: the coordinates along one diagonal.
 *
 * A level above stores d = a - b, the difference of two modes; this level has
 * one of the two, and its fiber is where the other one is in range. Stores
 * nothing: coordinate i below parent p is at position p * extent + i, so
 * positions outside the range are unlabeled. Formats paper, §3.1 (DIA).
 *
 * param[0]: extent of the other mode. param[1]: how many levels up d is,
 * negative where the other mode is i - d, positive where it is i + d.
 */
#include "kinds.h"

static bool bounds(const level *lv, const cursor *up, int64_t *lo, int64_t *hi)
{
    const bool minus = lv->param[1] < 0;
    const cursor *d = up;
    for (int64_t k = minus ? -lv->param[1] : lv->param[1]; d && k > 1; k--)
        d = d->up;
    if (!d || up->at == NONE) return false;
    const int64_t shift = minus ? -d->coord : d->coord; /* other = i + shift */
    const int64_t first = -shift, last = lv->param[0] - shift;
    *lo = first > 0 ? first : 0;
    *hi = last < lv->extent ? last : lv->extent;
    return *lo < *hi;
}

static void range_open(cursor *c, const level *lv, const cursor *up)
{
    cursor_begin(c, lv, up);
    if (!bounds(lv, up, &c->lo, &c->hi)) {
        cursor_used_up(c);
        return;
    }
    c->pos = up->at * lv->extent + c->lo;
    c->pos_end = c->pos + 1;
    c->p = c->end = 0;
}

static void range_locate(cursor *c, const level *lv, const cursor *up, int64_t i)
{
    int64_t lo, hi;
    const bool found = bounds(lv, up, &lo, &hi) && i >= lo && i < hi;
    cursor_place(c, lv, up, i, found ? up->at * lv->extent + i : NONE);
}

static void range_view(const level *lv, int64_t parent, int64_t parent_coord, fiber_view *v)
{
    cursor up = {.at = parent, .at_end = parent + 1, .coord = parent_coord};
    *v = (fiber_view){.shape = VIEW_NONE};
    if (lv->param[1] != 1 && lv->param[1] != -1) return; /* d is further up */
    v->shape = VIEW_RANGE;
    if (!bounds(lv, &up, &v->lo, &v->hi)) v->lo = v->hi = 0;
    v->begin = parent * lv->extent + v->lo;
    v->end = parent * lv->extent + v->hi;
}

const level_kind level_range = {
    .name = "range",
    .caps = CAP_ITER | CAP_SEEK | CAP_LOCATE | CAP_PACK | CAP_POSITION,
    .props = PROP_ORDERED | PROP_UNIQUE,
    .fixed = PROP_ORDERED | PROP_UNIQUE,
    .open = range_open,
    .next = cursor_used_up,
    .seek = extent_seek,
    .locate = range_locate,
    .view = range_view,
    .size = extent_size,
    .pack = extent_pack,
    .check = extent_ready,
};
