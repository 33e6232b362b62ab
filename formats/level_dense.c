/* level_dense.c: every coordinate of the extent has a position.
 *
 * Stores nothing: coordinate i below parent p is at position
 * p * extent + (i - base). Formats paper, §3.1.
 */
#include "kinds.h"

static void dense_open(cursor *c, const level *lv, const cursor *up)
{
    int64_t parent;
    if (!fiber_opens(c, lv, up, &parent)) return;
    c->lo = lv->base;
    c->hi = lv->base + lv->extent;
    c->pos = parent * lv->extent;
    c->pos_end = c->pos + 1;
    c->p = c->end = 0;
}

static void dense_locate(cursor *c, const level *lv, const cursor *up, int64_t i)
{
    int64_t parent, end;
    const bool found = parent_range(up, &parent, &end) && in_extent(lv, i);
    cursor_place(c, lv, up, i, found ? parent * lv->extent + (i - lv->base) : NONE);
}

static void dense_view(const level *lv, int64_t parent, int64_t parent_coord, fiber_view *v)
{
    (void)parent_coord;
    *v = (fiber_view){.shape = VIEW_RANGE,
                      .begin = parent * lv->extent,
                      .end = (parent + 1) * lv->extent,
                      .lo = lv->base,
                      .hi = lv->base + lv->extent};
}

static void dense_table(const level *lv, fiber_table *out)
{
    *out = (fiber_table){.shape = VIEW_RANGE, .lo = lv->base, .hi = lv->base + lv->extent};
}

static stc_status dense_init(ctx *cx, level *lv, int64_t parents)
{
    lv->size = 0;
    return parents == NONE ? STC_OK : level_size(cx, parents, lv->extent, &lv->size);
}

static stc_status dense_coord(ctx *cx, level *lv, int64_t parent, int64_t i, int64_t *pos)
{
    if (!in_extent(lv, i)) return refuse_append(cx, lv, i, 0);
    if (level_size(cx, parent, lv->extent, pos)) return cx->diag.status;
    *pos += i - lv->base;
    return STC_OK;
}

const level_kind level_dense = {
    .name = "dense",
    .letter = 'd',
    .caps = CAP_ITER | CAP_SEEK | CAP_LOCATE | CAP_INSERT | CAP_PACK | CAP_SUBSECT |
            CAP_POSITION,
    .props = PROP_FULL | PROP_ORDERED | PROP_UNIQUE | PROP_COMPACT,
    .fixed = PROP_FULL | PROP_ORDERED | PROP_UNIQUE | PROP_COMPACT,
    .open = dense_open,
    .next = cursor_used_up,
    .seek = extent_seek,
    .locate = dense_locate,
    .view = dense_view,
    .table = dense_table,
    .size = extent_size,
    .append_init = dense_init,
    .append_coord = dense_coord,
    .append_finish = extent_ready,
    .pack = extent_pack,
    .check = extent_ready,
};
