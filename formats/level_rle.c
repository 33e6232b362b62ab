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
    if (most > crd->cap && mem_grow(cx, &crd->data, &crd->cap, most, (size_t)crd->stride)) {
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

/* The bounds of fibers that begin before position p, of which the last `gone`
 * positions went; f: the first bound that isn't put right. */
static int64_t move_bounds(index_array *pos, int64_t f, int64_t p, int64_t gone)
{
    for (; f < pos->len && index_get(pos, f) < p; f++)
        if (gone) index_set(pos, f, index_get(pos, f) - gone);
    return f;
}

/* One loop per width of values: positions from `from` on, the first of whose fibers is
 * that of bound f. Blocks in which no run is like the one before it, in most data most
 * of them, are moved whole; in the others what is equal is told without a branch, and
 * a fiber's first run, which begins at `base`, stays. */
enum { JOIN_BLOCK = 16 };
#define JOIN(NAME, T)                                                                      \
    static int64_t join_##NAME(int32_t *c, T *v, index_array *pos, int64_t from,           \
                               int64_t total, int32_t base, int64_t f)                     \
    {                                                                                      \
        int64_t n = from;                                                                  \
        for (int64_t p = from; p < total; p += JOIN_BLOCK) {                               \
            const int64_t most = total - p < JOIN_BLOCK ? total - p : JOIN_BLOCK;          \
            const bool whole = p > 0 && most == JOIN_BLOCK;                                \
            int equal = 0;                                                                 \
            for (int k = 0; whole && k < JOIN_BLOCK; k++)                                  \
                equal |= (v[p + k] == v[p + k - 1]) & (c[p + k] != base);                  \
            if (whole && !equal) {                                                         \
                if (n < p) memmove(c + n, c + p, JOIN_BLOCK * sizeof *c);                  \
                if (n < p) memmove(v + n, v + p, JOIN_BLOCK * sizeof *v);                  \
                n += JOIN_BLOCK;                                                           \
                continue;                                                                  \
            }                                                                              \
            f = move_bounds(pos, f, p, p - n);                                             \
            for (int64_t q = p; q < p + most; q++) {                                       \
                const bool first = c[q] == base, same = q > 0 && v[q] == v[q - 1];         \
                if (first) index_set(pos, f++, n);                                         \
                c[n] = c[q];                                                               \
                v[n] = v[q];                                                               \
                n += first | !same;                                                        \
            }                                                                              \
        }                                                                                  \
        move_bounds(pos, f, total + 1, total - n);                                         \
        return n;                                                                          \
    }
JOIN(1, uint8_t)
JOIN(2, uint16_t)
JOIN(4, uint32_t)
JOIN(8, uint64_t)

static int64_t join_any(index_array *crd, char *v, index_array *pos, int64_t from,
                        int64_t base, int64_t f, size_t size)
{
    int64_t n = from;
    for (int64_t p = from; p < crd->len; p++) {
        const bool first = index_get(crd, p) == base;
        if (first) index_set(pos, f++, n);
        if (!first && !memcmp(v + (size_t)(n - 1) * size, v + (size_t)p * size, size))
            continue;
        index_set(crd, n, index_get(crd, p));
        memmove(v + (size_t)n * size, v + (size_t)p * size, size);
        n++;
    }
    if (f < pos->len) index_set(pos, f, n);
    return n;
}

static void join_from(level *lv, int64_t from, int64_t f, void *vals, size_t size)
{
    index_array *pos = &lv->a[STC_POS], *crd = &lv->a[STC_CRD];
    const bool narrow = crd->width == 4 && crd->stride == 4;
    const int64_t total = crd->len;
    const int32_t base = (int32_t)lv->base;
    void *c = crd->data;
    crd->len = narrow && size == 1   ? join_1(c, vals, pos, from, total, base, f)
               : narrow && size == 2 ? join_2(c, vals, pos, from, total, base, f)
               : narrow && size == 4 ? join_4(c, vals, pos, from, total, base, f)
               : narrow && size == 8 ? join_8(c, vals, pos, from, total, base, f)
                                     : join_any(crd, vals, pos, from, lv->base, f, size);
    lv->size = crd->len;
}

static stc_status rle_join(ctx *cx, level *lv, void *vals, size_t size)
{
    const int64_t from = lv->param[1];
    (void)cx;
    if (from < lv->a[STC_CRD].len)
        join_from(lv, from, move_bounds(&lv->a[STC_POS], 0, from, 0), vals, size);
    return STC_OK;
}

/* ---- whole fibers ----------------------------------------------------------------------
 */

/* The bounds of n fibers, each closed but the last one. */
static stc_status put_bounds(ctx *cx, level *lv, int n, const int *start, int64_t at)
{
    index_array *pos = &lv->a[STC_POS];
    if (mem_grow(cx, &pos->data, &pos->cap, pos->len + n, (size_t)pos->stride))
        return cx->diag.status;
    if (pos->width == 4 && at + start[n] - start[0] > INT32_MAX && index_widen(cx, pos))
        return cx->diag.status;
    for (int k = 1; k < n; k++)
        index_set(pos, pos->len++, at + start[k] - start[0]);
    lv->edges += n - 1;
    return STC_OK;
}

static stc_status rle_fibers(ctx *cx, level *lv, int64_t parent, int n, const int *start,
                             const int32_t *lo, int64_t next, void *vals, size_t size)
{
    index_array *crd = &lv->a[STC_CRD], *pos = &lv->a[STC_POS];
    const int lanes = start[n] - start[0];
    if (parent < lv->edges) return refuse_edges(cx, parent, lv->edges);
    if (lv->edges < parent && cover_fibers(cx, lv, parent)) return cx->diag.status;
    const int64_t at = crd->len;
    lo += start[0];
    const int64_t f = pos->len - (*lo == lv->base);
    if (mem_grow(cx, &crd->data, &crd->cap, at + lanes, (size_t)crd->stride) ||
        put_bounds(cx, lv, n, start, at))
        return cx->diag.status;
    if (crd->width == 4) {
        memcpy((int32_t *)crd->data + at, lo, (size_t)lanes * sizeof *lo);
    } else {
        for (int k = 0; k < lanes; k++)
            index_set(crd, at + k, lo[k]);
    }
    crd->len = at + lanes;
    join_from(lv, at, f, vals, size);
    if (lv->param[1] == at) lv->param[1] = lv->size;
    if (n > 1) lv->open_count = index_get(pos, pos->len - 1);
    lv->param[0] = next;
    return STC_OK;
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
    .pack = rle_pack,
    .check = rle_check,
};
