/* level_rle.c: runs of equal elements, each stored once.
 *
 * STC_POS bounds the runs of each parent, STC_CRD has the coordinate at which
 * each run begins; it ends where the next one begins, the last at the extent's
 * end. Runs cover the extent: what isn't given is a run of the fill. Above the
 * last level, a run is one of equal subtensors. Compression paper, §III-B.
 */
#include "kinds.h"
#include <string.h>

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
    c->pos_end = c->p + 1;
}

static void rle_open(cursor *c, const level *lv, const cursor *up)
{
    int64_t begin, end;
    cursor_begin(c, lv, up);
    c->period = 1;
    if (!parent_range(up, &begin, &end)) {
        cursor_used_up(c);
        return;
    }
    c->p = index_get(&lv->a[STC_POS], begin);
    c->end = index_get(&lv->a[STC_POS], begin + 1);
    settle(c);
}

static void rle_next(cursor *c)
{
    c->p++;
    settle(c);
}

static void rle_seek(cursor *c, int64_t i)
{
    if (c->hi > i) return;
    if (i >= c->lv->base + c->lv->extent) {
        cursor_used_up(c);
        return;
    }
    c->p = index_last_below(&c->lv->a[STC_CRD], c->p, c->end, i);
    settle(c);
}

static void rle_view(const level *lv, int64_t parent, int64_t parent_coord, fiber_view *v)
{
    const index_array *crd = &lv->a[STC_CRD];
    (void)parent_coord;
    *v = (fiber_view){.shape = VIEW_RUNS,
                      .crd = crd->data,
                      .width = crd->width,
                      .stride = crd->stride,
                      .begin = index_get(&lv->a[STC_POS], parent),
                      .end = index_get(&lv->a[STC_POS], parent + 1),
                      .lo = lv->base,
                      .hi = lv->base + lv->extent};
}

static int64_t rle_size(const level *lv, int64_t parents)
{
    return parents == 0 || lv->extent == 0 ? 0 : NONE;
}

/* param[0]: the first coordinate of the open fiber that no run covers yet. */
static stc_status rle_init(ctx *cx, level *lv, int64_t parents)
{
    lv->param[0] = lv->base;
    return segments_init(cx, lv, parents);
}

/* Covers the open fiber up to coordinate i by a run of the fill. */
static stc_status cover(ctx *cx, level *lv, int64_t i)
{
    if (lv->param[0] >= i) return STC_OK;
    if (index_push(cx, &lv->a[STC_CRD], lv->param[0])) return cx->diag.status;
    lv->param[0] = i;
    lv->size = lv->a[STC_CRD].len;
    return STC_OK;
}

/* Fibers of parents before `parent` that were passed over. */
static stc_status skip_fibers(ctx *cx, level *lv, int64_t parent)
{
    while (lv->edges < parent) {
        if (cover(cx, lv, lv->base + lv->extent)) return cx->diag.status;
        if (segments_edges(cx, lv, lv->edges)) return cx->diag.status;
        lv->param[0] = lv->base;
    }
    return STC_OK;
}

static stc_status rle_region(ctx *cx, level *lv, int64_t parent, int64_t lo, int64_t hi,
                             int64_t *pos)
{
    if (!in_extent(lv, lo) || hi <= lo) return refuse_append(cx, lv, lo, lo);
    if (hi - lv->base > lv->extent) return refuse_append(cx, lv, hi - 1, lo);
    if (parent < lv->edges) return refuse_edges(cx, parent, lv->edges);
    if (skip_fibers(cx, lv, parent)) return cx->diag.status;
    if (lo < lv->param[0]) return refuse_append(cx, lv, lo, lv->param[0] - 1);
    if (cover(cx, lv, lo)) return cx->diag.status;
    *pos = lv->size;
    return cover(cx, lv, hi);
}

static stc_status rle_coord(ctx *cx, level *lv, int64_t parent, int64_t i, int64_t *pos)
{
    return rle_region(cx, lv, parent, i, i + 1, pos);
}

static stc_status rle_edges(ctx *cx, level *lv, int64_t parent)
{
    if (parent < lv->edges) return refuse_edges(cx, parent, lv->edges);
    return skip_fibers(cx, lv, parent + 1);
}

static stc_status rle_finish(ctx *cx, level *lv, int64_t parents)
{
    if (skip_fibers(cx, lv, parents)) return cx->diag.status;
    return segments_finish(cx, lv, parents);
}

static void rle_join(level *lv, void *vals, stc_type type)
{
    index_array *pos = &lv->a[STC_POS], *crd = &lv->a[STC_CRD];
    const size_t size = type_size(type);
    char *v = vals;
    int64_t n = 0, p = 0;
    for (int64_t f = 0; f + 1 < pos->len; f++) {
        const int64_t end = index_get(pos, f + 1), first = n;
        for (; p < end; p++) {
            if (n > first &&
                !memcmp(v + (n - 1) * (int64_t)size, v + p * (int64_t)size, size)) {
                continue;
            }
            if (n != p) {
                index_set(crd, n, index_get(crd, p));
                memcpy(v + n * (int64_t)size, v + p * (int64_t)size, size);
            }
            n++;
        }
        index_set(pos, f + 1, n);
    }
    crd->len = n;
    lv->size = n;
}

static stc_status rle_pack(ctx *cx, level *lv, pack_in *in)
{
    index_array *pos = &lv->a[STC_POS], *crd = &lv->a[STC_CRD];
    int64_t bounds, most;
    if (!size_add(in->parents, 1, &bounds) || !size_mul(in->count, 2, &most) ||
        !size_add(most, in->parents, &most)) {
        return fail(cx, STC_ERR_OVERFLOW, "more positions above than 64 bits can count");
    }
    if (index_ready(cx, crd, largest_coord(lv), lv->width, most) ||
        index_ready(cx, pos, most, lv->width, bounds)) {
        return cx->diag.status;
    }
    run_walk w;
    run_walk_start(&w, lv, in);
    int64_t n = 0;
    index_set(pos, 0, 0);
    for (int64_t p = 0; p < in->parents; p++) {
        if (run_walk_fiber(&w, p)) {
            while (run_walk_step(&w)) {
                if (!w.same) index_set(crd, n++, w.lo);
                const bool stands = !w.same || !in->deeper;
                for (int64_t e = w.begin; e < w.end; e++)
                    in->pos[e] = stands ? n - 1 : NONE;
            }
        }
        index_set(pos, p + 1, n);
    }
    crd->len = n;
    lv->size = n;
    index_trim(cx, crd);
    return segments_width(cx, lv);
}

static stc_status rle_check(ctx *cx, level *lv, int64_t parents)
{
    const index_array *pos = &lv->a[STC_POS], *crd = &lv->a[STC_CRD];
    if (check_bounds(cx, lv, parents, "runs")) return cx->diag.status;
    for (int64_t f = 0, p = 0; f < parents; f++) {
        const int64_t end = index_get(pos, f + 1);
        if (p == end && lv->extent) {
            return fail(cx, STC_ERR_DATA,
                        "fiber %lld has no runs, expected them to cover %lld:%lld",
                        (long long)f, (long long)lv->base,
                        (long long)(lv->base + lv->extent));
        }
        int64_t last = lv->base - 1;
        for (int64_t first = p; p < end; p++) {
            const int64_t i = index_get(crd, p);
            if (!in_extent(lv, i)) return bad_coord(cx, lv, p, i);
            if (p == first ? i != lv->base : i <= last) {
                return fail(cx, STC_ERR_DATA,
                            "the run at position %lld begins at %lld, expected %s%lld",
                            (long long)p, (long long)i, p == first ? "" : "more than ",
                            p == first ? (long long)lv->base : (long long)last);
            }
            last = i;
        }
    }
    lv->size = crd->len;
    return STC_OK;
}

const level_kind level_rle = {
    .name = "rle",
    .caps = CAP_ITER | CAP_SEEK | CAP_APPEND | CAP_PACK | CAP_REGION | CAP_APPEND_REGION |
            CAP_SUBSECT,
    .props = PROP_FULL | PROP_ORDERED | PROP_UNIQUE | PROP_COMPACT,
    .fixed = PROP_FULL | PROP_ORDERED | PROP_UNIQUE | PROP_COMPACT,
    .arrays = 1 << STC_POS | 1 << STC_CRD,
    .open = rle_open,
    .next = rle_next,
    .seek = rle_seek,
    .view = rle_view,
    .size = rle_size,
    .append_init = rle_init,
    .append_coord = rle_coord,
    .append_edges = rle_edges,
    .append_finish = rle_finish,
    .append_region = rle_region,
    .append_join = rle_join,
    .pack = rle_pack,
    .check = rle_check,
};
