/* covers.c: levels whose intervals cover every fiber, one after the other: the common
 * half of rle and lz77.
 *
 * STC_POS bounds the intervals of each parent, STC_CRD has the coordinate at which
 * each begins; it ends where the next one does, the last at the extent's end. Where
 * an interval's elements are is its own position, or what STC_AUX says: the first
 * position, and how many it goes round (0: one for each coordinate).
 *
 * While appending, param[0] is the first coordinate of the open fiber that isn't
 * covered yet; what is passed over is covered by the fill.
 */
#include "kinds.h"

/* ---- reading ----------------------------------------------------------------------- */

static void settle(cursor *c)
{
    const level *lv = c->lv;
    if (c->p >= c->end) {
        cursor_used_up(c);
        return;
    }
    c->lo = index_get(&lv->a[STC_CRD], c->p);
    c->hi =
        c->p + 1 < c->end ? index_get(&lv->a[STC_CRD], c->p + 1) : lv->base + lv->extent;
    c->pos = c->p;
    c->period = 1;
    if (lv->kind->arrays & 1 << STC_AUX) {
        const int64_t pattern = index_get(&lv->a[STC_AUX], 2 * c->p + 1);
        c->pos = index_get(&lv->a[STC_AUX], 2 * c->p);
        c->period = pattern ? pattern : PERIOD_ENDLESS;
    }
    c->pos_end = c->pos + 1;
}

void cover_open(cursor *c, const level *lv, const cursor *up)
{
    if (segments_open(c, lv, up)) settle(c);
}

void cover_step(cursor *c)
{
    c->p++;
    settle(c);
}

void cover_seek(cursor *c, int64_t i)
{
    if (c->hi > i) return;
    if (i >= c->lv->base + c->lv->extent) {
        cursor_used_up(c);
        return;
    }
    c->p = index_last_below(&c->lv->a[STC_CRD], c->p, c->end, i);
    settle(c);
}

int64_t cover_size(const level *lv, int64_t parents)
{
    return parents == 0 || lv->extent == 0 ? 0 : NONE;
}

/* ---- appending --------------------------------------------------------------------- */

stc_status cover_until(ctx *cx, level *lv, int64_t i)
{
    int64_t pos;
    const int64_t lo = lv->param[0], len = i - lo;
    if (len <= 0) return STC_OK;
    return lv->kind->append_regions(cx, lv, lv->edges, 1, &lo, &len, &pos);
}

stc_status cover_fibers(ctx *cx, level *lv, int64_t parent)
{
    while (lv->edges < parent) {
        if (work_due(cx, lv->edges)) return cx->diag.status;
        if (cover_until(cx, lv, lv->base + lv->extent)) return cx->diag.status;
        if (segments_edges(cx, lv, lv->edges)) return cx->diag.status;
        lv->param[0] = lv->base;
    }
    return STC_OK;
}

stc_status cover_edges(ctx *cx, level *lv, int64_t parent)
{
    if (parent < lv->edges) return refuse_edges(cx, parent, lv->edges);
    return cover_fibers(cx, lv, parent + 1);
}

int64_t cover_next(const level *lv, int64_t parent, int64_t i)
{
    int64_t pos = lv->size, from = lv->param[0];
    if (parent > lv->edges) {
        pos += (from < lv->base + lv->extent) + parent - lv->edges - 1;
        from = lv->base;
    }
    return pos + (i > from);
}
