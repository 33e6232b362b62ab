/* level_compressed.c: a segment of coordinates for each parent.
 *
 * STC_POS has a bound per parent and one more, STC_CRD the coordinates: those
 * below parent p are crd[pos[p]] … crd[pos[p+1]-1], and a coordinate's place in
 * crd is its position. With `nonunique` equal neighbours are one coordinate
 * with several positions; with `unordered` coordinates come as they are
 * stored. Formats paper, §3.1 and appendix A.
 */
#include "kinds.h"
#include <string.h>

/* The first of positions [p, p + n) with a coordinate of at least i, by halves that are
 * chosen without a branch; narrow: 32 bits each, side by side. */
static inline __attribute__((always_inline)) int64_t
first_from(const index_array *crd, bool narrow, int64_t p, int64_t n, int64_t i)
{
    const int32_t *const own = crd->data;
    while (n > 0) {
        const int64_t half = (n + 1) / 2, last = p + half - 1;
        p += (narrow ? own[last] : index_get(crd, last)) < i ? half : 0;
        n -= half;
    }
    return p;
}

static inline __attribute__((always_inline)) int64_t
find_many(const level *lv, bool narrow, int64_t begin, int64_t end, const void *crd,
          int32_t width, int32_t stride, int64_t n, int64_t *pos)
{
    int64_t there = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = crd_at(crd, width, stride, k);
        const int64_t p = first_from(&lv->a[STC_CRD], narrow, begin, end - begin, i);
        const bool found = p < end && index_get(&lv->a[STC_CRD], p) == i;
        pos[k] = found ? p : NONE;
        there += found;
    }
    return there;
}

static int64_t compressed_locate_many(const level *lv, int64_t parent, const void *crd,
                                      int32_t width, int32_t stride, int64_t n,
                                      int64_t *pos)
{
    const index_array *own = &lv->a[STC_CRD];
    const int64_t begin = index_get(&lv->a[STC_POS], parent);
    const int64_t end = index_get(&lv->a[STC_POS], parent + 1);
    int64_t there = 0;
    if (lv->props & PROP_ORDERED && own->width == 4 && own->stride == 4)
        return find_many(lv, true, begin, end, crd, width, stride, n, pos);
    if (lv->props & PROP_ORDERED)
        return find_many(lv, false, begin, end, crd, width, stride, n, pos);
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = crd_at(crd, width, stride, k);
        int64_t p = begin;
        while (p < end && index_get(own, p) != i)
            p++;
        pos[k] = p < end ? p : NONE;
        there += p < end;
    }
    return there;
}

/* ---- storing one by one -------------------------------------------------------------- */

/* Arrays of its own, and no number too large. */
static stc_status room_between(ctx *cx, level *lv, int64_t n, bool *room)
{
    index_array *pos = &lv->a[STC_POS], *crd = &lv->a[STC_CRD];
    int64_t all;
    *room = lv->props & PROP_ORDERED && lv->props & PROP_UNIQUE && pos->owned &&
            crd->owned && size_add(crd->len, n, &all) &&
            (lv->width != 4 || all <= INT32_MAX) &&
            (crd->width == 8 || lv->base + lv->extent - 1 <= INT32_MAX);
    if (!*room) return STC_OK;
    if (index_reserve(cx, crd, all)) return cx->diag.status;
    return all > INT32_MAX ? index_widen(cx, pos) : STC_OK;
}

/* Coordinates move up once, those behind the last new one first. */
static stc_status compressed_put_between(ctx *cx, level *lv, int64_t n,
                                         const int64_t *parent, const int64_t *i,
                                         int64_t *before, bool *room)
{
    index_array *pos = &lv->a[STC_POS], *crd = &lv->a[STC_CRD];
    if (room_between(cx, lv, n, room) || !*room) return cx->diag.status;
    for (int64_t k = 0; k < n; k++) {
        const int64_t begin = index_get(pos, parent[k]),
                      end = index_get(pos, parent[k] + 1);
        before[k] = first_from(crd, false, begin, end - begin, i[k]);
    }
    const size_t size = (size_t)crd->stride;
    for (int64_t k = n, end = crd->len; k-- > 0; end = before[k]) {
        char *const at = (char *)crd->data + (size_t)before[k] * size;
        memmove(at + (size_t)(k + 1) * size, at, (size_t)(end - before[k]) * size);
        index_set(crd, before[k] + k, i[k]);
    }
    for (int64_t p = parent[0] + 1, k = 0; p < pos->len; p++) {
        while (k < n && parent[k] < p)
            k++;
        index_set(pos, p, index_get(pos, p) + k);
    }
    lv->size = lv->open_count = crd->len += n;
    return STC_OK;
}

/* ---- assembly and checks ------------------------------------------------------------- */

static stc_status compressed_coord(ctx *cx, level *lv, int64_t parent, int64_t i,
                                   int64_t *pos)
{
    (void)parent;
    return segments_coord(cx, lv, i, lv->props & PROP_ORDERED, pos);
}

/* The first thing that is wrong with the fibers' coordinates. */
static stc_status check_fibers(ctx *cx, const level *lv, int64_t parents)
{
    const index_array *pos = &lv->a[STC_POS], *crd = &lv->a[STC_CRD];
    const bool ordered = lv->props & PROP_ORDERED, unique = lv->props & PROP_UNIQUE;
    for (int64_t p = 0, q = 0; p < parents; p++) {
        const int64_t end = index_get(pos, p + 1);
        int64_t last = INT64_MIN;
        if (work_due(cx, p)) return cx->diag.status;
        for (; q < end; q++) {
            if (work_due(cx, q)) return cx->diag.status;
            const int64_t i = index_get(crd, q);
            if (!in_extent(lv, i)) return bad_coord(cx, lv, q, i);
            if (ordered && (i < last || (unique && i == last))) {
                return fail(
                    cx, STC_ERR_DATA, "coordinate %lld at position %lld follows %lld%s",
                    (long long)i, (long long)q, (long long)last,
                    i == last ? "; expected no duplicates" : "; expected ascending");
            }
            last = i;
        }
    }
    return STC_OK;
}

/* Coordinates are looked at without regard to fibers, in loops without a branch: those
 * that don't ascend must be as many as the fibers that begin so. Else each is looked at. */
static stc_status compressed_check(ctx *cx, level *lv, int64_t parents)
{
    const index_array *pos = &lv->a[STC_POS], *crd = &lv->a[STC_CRD];
    if (check_bounds(cx, lv, parents, "coordinates")) return cx->diag.status;
    const bool ordered = lv->props & PROP_ORDERED, unique = lv->props & PROP_UNIQUE;
    int64_t falls = 0, end, q = 0;
    bool sound = true;
    for (; sound && (end = work_block(cx, q, crd->len)) > q; q = end) {
        sound = index_within(crd, q, end, lv->base, lv->extent);
        falls += index_falls(crd, q, end, unique);
    }
    if (sound && q < crd->len) return cx->diag.status;
    for (int64_t p = 1; sound && ordered && (end = work_block(cx, p, parents)) > p; p = end)
        falls -= index_falls_at(crd, pos, p, end, unique);
    if ((!sound || (ordered && falls)) && check_fibers(cx, lv, parents))
        return cx->diag.status;
    lv->size = crd->len;
    return unique && !ordered ? segments_unique(cx, lv, parents) : STC_OK;
}

const level_kind level_compressed = {
    .name = "compressed",
    .letter = 's',
    .caps = CAP_ITER | CAP_SEEK | CAP_APPEND | CAP_PACK | CAP_CHAIN | CAP_SUBSECT |
            CAP_POSITION,
    .props = PROP_ORDERED | PROP_UNIQUE | PROP_COMPACT,
    .fixed = PROP_COMPACT,
    .arrays = 1 << STC_POS | 1 << STC_CRD,
    .open = group_open,
    .next = group_next,
    .seek = group_seek,
    .locate_many = compressed_locate_many,
    .put_between = compressed_put_between,
    .view = segments_view,
    .table = segments_table,
    .size = segments_size,
    .append_init = segments_init,
    .append_coord = compressed_coord,
    .append_edges = segments_edges,
    .append_finish = segments_finish,
    .append_room = segments_room,
    .append_done = segments_done,
    .join_room = segments_room,
    .join_done = segments_done,
    .join_again = segments_again,
    .pack = segments_pack,
    .check = compressed_check,
};
