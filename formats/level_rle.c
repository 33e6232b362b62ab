/* level_rle.c: runs of equal elements, each stored once.
 *
 * STC_POS bounds the runs of each parent, STC_CRD has the coordinate at which
 * each run begins; it ends where the next one begins, the last at the extent's
 * end. Runs cover the extent: what isn't given is a run of the fill. Above the
 * last level, a run is one of equal subtensors. Compression paper, §III-B.
 */
#include "kinds.h"
#include <string.h>

static void rle_view(const level *lv, int64_t parent, int64_t parent_coord, fiber_view *v)
{
    segments_view(lv, parent, parent_coord, v);
    v->shape = VIEW_RUNS;
}

static void rle_table(const level *lv, fiber_table *out)
{
    const bool plain = lv->a[STC_CRD].stride == lv->a[STC_CRD].width;
    segments_table(lv, out);
    if (out->shape != VIEW_NONE) out->shape = plain ? VIEW_RUNS : VIEW_NONE;
}

static stc_status rle_init(ctx *cx, level *lv, int64_t parents)
{
    lv->param[0] = lv->base;
    lv->param[1] = 0; /* positions that are joined already: see append_fibers */
    return segments_init(cx, lv, parents);
}

/* Whether the intervals follow each other from `next` on, inside the extent. */
static bool in_chain(int64_t next, int64_t top, int64_t n, const int64_t *lo,
                     const int64_t *len)
{
    bool chain = n > 0 && lo[0] == next;
    for (int64_t k = 0; k + 1 < n; k++)
        chain &= lo[k] + len[k] == lo[k + 1] && lo[k] < lo[k + 1];
    return chain && len[n - 1] > 0 && len[n - 1] <= top - lo[n - 1];
}

/* One after the other; what is passed over is a run of the fill. */
static stc_status put_regions(ctx *cx, level *lv, int64_t top, int64_t n, const int64_t *lo,
                              const int64_t *len, int64_t *pos)
{
    index_array *crd = &lv->a[STC_CRD];
    int64_t at = crd->len, next = lv->param[0];
    for (int64_t k = 0; k < n; k++) {
        if (lo[k] < next || len[k] <= 0 || len[k] > top - lo[k]) {
            return refuse_append(cx, lv, lo[k] < next ? lo[k] : lo[k] + len[k] - 1,
                                 next - 1);
        }
        if (next < lo[k]) index_set(crd, at++, next);
        index_set(crd, at, lo[k]);
        pos[k] = at++;
        next = lo[k] + len[k];
    }
    crd->len = lv->size = at;
    lv->param[0] = next;
    return STC_OK;
}

static stc_status rle_regions(ctx *cx, level *lv, int64_t parent, int64_t n,
                              const int64_t *lo, const int64_t *len, int64_t *pos)
{
    index_array *crd = &lv->a[STC_CRD];
    if (parent < lv->edges) return refuse_edges(cx, parent, lv->edges);
    if (lv->edges < parent && cover_fibers(cx, lv, parent)) return cx->diag.status;
    const int64_t top = lv->base + lv->extent, at = crd->len;
    int64_t most;
    if (!size_mul(n, 2, &most) || !size_add(most, at, &most))
        return fail(cx, STC_ERR_OVERFLOW, "a level has more than 2^63 positions");
    if (most > crd->cap && index_reserve(cx, crd, most)) {
        return cx->diag.status;
    }
    if (crd->width != 4 || !in_chain(lv->param[0], top, n, lo, len))
        return put_regions(cx, lv, top, n, lo, len, pos);
    int32_t *to = (int32_t *)crd->data + at;
    for (int64_t k = 0; k < n; k++) {
        to[k] = (int32_t)lo[k];
        pos[k] = at + k;
    }
    crd->len = lv->size = at + n;
    lv->param[0] = lo[n - 1] + len[n - 1];
    return STC_OK;
}

static stc_status rle_coord(ctx *cx, level *lv, int64_t parent, int64_t i, int64_t *pos)
{
    const int64_t one = 1;
    if (!in_extent(lv, i)) return refuse_append(cx, lv, i, i);
    return rle_regions(cx, lv, parent, 1, &i, &one, pos);
}

static stc_status rle_finish(ctx *cx, level *lv, int64_t parents)
{
    if (cover_fibers(cx, lv, parents)) return cx->diag.status;
    return segments_finish(cx, lv, parents);
}

/* ---- equal neighbours --------------------------------------------------------------- */

static void join_any(run_joining *j, index_array *crd, char *v, const int32_t *lo,
                     const char *x, int64_t total, size_t size)
{
    for (int64_t q = 0; q < total; q++, x += size) {
        const int64_t i = lo ? lo[q] : index_get(crd, j->at + q);
        char *to = v + (size_t)j->n * size;
        if (j->n > 0 && i != j->base && !memcmp(to - size, x, size)) {
            j->f = move_bounds(j->pos, j->f, j->at + q, j->at + q - j->n);
            continue;
        }
        index_set(crd, j->n++, i);
        memmove(to, x, size);
    }
    j->f = move_bounds(j->pos, j->f, j->at + total + 1, j->at + total - j->n);
}

/* `total` runs behind those that are there: coordinates `lo` (NULL: they are in place),
 * values x, which are put behind vals[0 … n). */
static void join(level *lv, run_joining *j, const int32_t *lo, const void *x, int64_t total,
                 void *vals, size_t size)
{
    index_array *crd = &lv->a[STC_CRD];
    const bool narrow = crd->width == 4 && crd->stride == 4;
    int32_t *c = crd->data;
    const int32_t *from = lo || !narrow ? lo : c + j->at;
    if (!narrow || !run_join(j, c, vals, from, x, total, size))
        join_any(j, crd, vals, from, x, total, size);
    crd->len = lv->size = j->n;
}

static stc_status rle_join(ctx *cx, level *lv, void *vals, size_t size)
{
    const int64_t from = lv->param[1], total = lv->a[STC_CRD].len;
    index_array *pos = &lv->a[STC_POS];
    run_joining j = {.pos = pos, .n = from, .at = from, .base = (int32_t)lv->base};
    (void)cx;
    if (from >= total) return STC_OK;
    j.f = move_bounds(pos, 0, from, 0);
    join(lv, &j, NULL, (char *)vals + (size_t)from * size, total - from, vals, size);
    return STC_OK;
}

/* ---- whole fibers ------------------------------------------------------------------- */

/* The bounds of n fibers, each closed but the last one. */
static stc_status put_bounds(ctx *cx, level *lv, int n, const int *start, int64_t at)
{
    index_array *pos = &lv->a[STC_POS];
    if (index_reserve(cx, pos, pos->len + n)) return cx->diag.status;
    if (pos->width == 4 && at + start[n] - start[0] > INT32_MAX && index_widen(cx, pos))
        return cx->diag.status;
    const int64_t by = at - start[0];
    if (pos->width == 4 && pos->stride == 4) {
        int32_t *to = (int32_t *)pos->data + pos->len - 1;
        for (int k = 1; k < n; k++)
            to[k] = (int32_t)(start[k] + by);
        pos->len += n - 1;
    } else {
        for (int k = 1; k < n; k++)
            index_set(pos, pos->len++, start[k] + by);
    }
    lv->edges += n - 1;
    return STC_OK;
}

static stc_status rle_fibers(ctx *cx, level *lv, int64_t parent, int n, const int *start,
                             const int32_t *lo, int64_t next, const void *from, void *vals,
                             size_t size)
{
    index_array *crd = &lv->a[STC_CRD], *pos = &lv->a[STC_POS];
    const int lanes = start[n] - start[0];
    if (parent < lv->edges) return refuse_edges(cx, parent, lv->edges);
    if (lv->edges < parent && cover_fibers(cx, lv, parent)) return cx->diag.status;
    const int64_t at = crd->len;
    lo += start[0];
    run_joining j = {.pos = pos, .n = at, .at = at, .base = (int32_t)lv->base};
    j.f = pos->len - (*lo == lv->base);
    if (index_reserve(cx, crd, at + lanes) || put_bounds(cx, lv, n, start, at))
        return cx->diag.status;
    join(lv, &j, lo, from, lanes, vals, size);
    if (lv->param[1] == at) lv->param[1] = lv->size;
    if (n > 1) lv->open_count = index_get(pos, pos->len - 1);
    lv->param[0] = next;
    return STC_OK;
}

/* ---- fibers that were assembled apart ---------------------------------------------------
 */

static void rle_done(level *lv, int64_t n, int64_t parents)
{
    segments_done(lv, n, parents);
    lv->param[0] = lv->base;
}

static void rle_again(level *lv, int64_t parent)
{
    segments_again(lv, parent);
    lv->param[0] = lv->base;
    lv->param[1] = 0;
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
    int64_t n = 0, steps = 0;
    index_set(pos, 0, 0);
    for (int64_t p = 0; p < in->parents; p++) {
        if (work_due(cx, p)) return cx->diag.status;
        if (run_walk_fiber(&w, p)) {
            while (run_walk_step(&w)) {
                if (work_due(cx, ++steps)) return cx->diag.status;
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
        if (work_due(cx, f)) return cx->diag.status;
        for (int64_t first = p; p < end; p++) {
            if (work_due(cx, p)) return cx->diag.status;
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
    .letter = 'r',
    .caps = CAP_ITER | CAP_SEEK | CAP_APPEND | CAP_PACK | CAP_REGION | CAP_APPEND_REGION |
            CAP_SUBSECT,
    .props = PROP_FULL | PROP_ORDERED | PROP_UNIQUE | PROP_COMPACT,
    .fixed = PROP_FULL | PROP_ORDERED | PROP_UNIQUE | PROP_COMPACT,
    .arrays = 1 << STC_POS | 1 << STC_CRD,
    .open = cover_open,
    .next = cover_step,
    .seek = cover_seek,
    .view = rle_view,
    .table = rle_table,
    .size = cover_size,
    .append_init = rle_init,
    .append_coord = rle_coord,
    .append_edges = cover_edges,
    .append_finish = rle_finish,
    .append_regions = rle_regions,
    .append_fibers = rle_fibers,
    .append_next = cover_next,
    .append_join = rle_join,
    .join_room = segments_room,
    .join_done = rle_done,
    .join_again = rle_again,
    .pack = rle_pack,
    .check = rle_check,
};
