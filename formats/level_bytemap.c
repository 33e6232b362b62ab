/* level_bytemap.c: a place for every coordinate, and a byte that says whether
 * it is stored.
 *
 * Coordinate i below parent p is at position p * extent + (i - base), as in a
 * dense level; STC_AUX is memory with one byte a position, 0: absent, 1:
 * stored, in whole words of 8 bytes (those past the last position are 0). The
 * bitmap of GraphBLAS (paper 003, table 3): for fibers too full to be worth
 * coordinates, and too empty to be worth computing everywhere.
 */
#include "kinds.h"
#include <string.h>

#define WORD 8

static const uint8_t *flags_of(const level *lv)
{
    return lv->a[STC_AUX].data;
}

/* The first stored position in [p, end), or end. */
static int64_t next_stored(const uint8_t *flag, int64_t p, int64_t end)
{
    while (p < end) {
        uint64_t word;
        if (p % WORD == 0) { /* the array has whole words */
            memcpy(&word, flag + p, WORD);
            if (!word) {
                p += WORD;
                continue;
            }
        }
        if (flag[p]) return p;
        p++;
    }
    return end;
}

static void settle(cursor *c)
{
    c->p = next_stored(flags_of(c->lv), c->p, c->end);
    if (c->p >= c->end) {
        cursor_used_up(c);
        return;
    }
    c->pos = c->p;
    c->pos_end = c->p + 1;
    c->lo = c->lv->base + (c->p - c->aux[0]);
    c->hi = c->lo + 1;
}

static void bytemap_open(cursor *c, const level *lv, const cursor *up)
{
    int64_t parent;
    if (!fiber_opens(c, lv, up, &parent)) return;
    c->aux[0] = c->p = parent * lv->extent; /* the fiber's first position */
    c->end = c->p + lv->extent;
    settle(c);
}

static void bytemap_next(cursor *c)
{
    c->p++;
    settle(c);
}

static void bytemap_seek(cursor *c, int64_t i)
{
    if (c->lo == CURSOR_END) return;
    const int64_t p =
        i - c->lv->base >= c->lv->extent ? c->end : c->aux[0] + (i - c->lv->base);
    if (p > c->p) c->p = p;
    settle(c);
}

static void bytemap_locate(cursor *c, const level *lv, const cursor *up, int64_t i)
{
    int64_t parent, end, p = NONE;
    if (parent_range(up, &parent, &end) && in_extent(lv, i)) {
        p = parent * lv->extent + (i - lv->base);
        if (!flags_of(lv)[p]) p = NONE;
    }
    cursor_place(c, lv, up, i, p);
}

enum { TOGETHER = 16 }; /* coordinates that are looked up before a branch */

/* Whether a map may have one of so many coordinates from `from` on. */
static inline __attribute__((always_inline)) bool some_there(const uint8_t *flag,
                                                             int64_t base, int64_t extent,
                                                             const void *crd, int32_t width,
                                                             int32_t stride, int64_t from)
{
    uint64_t outside = 0;
    uint8_t some = 0;
    for (int64_t k = 0; k < TOGETHER; k++) {
        const uint64_t at = (uint64_t)(crd_at(crd, width, stride, from + k) - base);
        outside |= at | ((uint64_t)extent - 1 - at); /* its sign */
    }
    if ((int64_t)outside < 0) return true;
    for (int64_t k = 0; k < TOGETHER; k++)
        some |= flag[crd_at(crd, width, stride, from + k) - base];
    return some;
}

/* Width and stride are known where inlined. Often a map has few coordinates: whether it has
 * any of some is asked first, and which ones then without a branch on them. */
static inline __attribute__((always_inline)) int64_t
look_up(const level *lv, int64_t parent, const void *crd, int32_t width, int32_t stride,
        int64_t n, int64_t *pos)
{
    const uint8_t *flag = flags_of(lv) + parent * lv->extent;
    const uint64_t base = (uint64_t)lv->base, extent = (uint64_t)lv->extent;
    const int64_t first = parent * lv->extent;
    int64_t count = 0;
    for (int64_t k = 0, end; k < n; k = end) {
        end = n - k < TOGETHER ? n : k + TOGETHER;
        if (end - k == TOGETHER &&
            !some_there(flag, lv->base, lv->extent, crd, width, stride, k)) {
            memset(pos + k, -1, TOGETHER * sizeof *pos); /* all ones is NONE */
            continue;
        }
        for (int64_t q = k; q < end; q++) {
            const uint64_t off = (uint64_t)crd_at(crd, width, stride, q) - base;
            const uint64_t at = off < extent ? off : 0;
            const int64_t there = flag[at] & (off < extent);
            pos[q] = (first + (int64_t)at) | (there - 1);
            count += there;
        }
    }
    return count;
}

static int64_t bytemap_locate_many(const level *lv, int64_t parent, const void *crd,
                                   int32_t width, int32_t stride, int64_t n, int64_t *pos)
{
    if (!lv->extent) {
        for (int64_t k = 0; k < n; k++)
            pos[k] = NONE;
        return 0;
    }
    if (width == 4 && stride == 4) return look_up(lv, parent, crd, 4, 4, n, pos);
    if (width == 8 && stride == 8) return look_up(lv, parent, crd, 8, 8, n, pos);
    return look_up(lv, parent, crd, width, stride, n, pos);
}

static void bytemap_put_range(level *lv, int64_t parent, int64_t i, int64_t n)
{
    const int64_t p = parent * lv->extent + (i - lv->base);
    memset((uint8_t *)lv->a[STC_AUX].data + p, 1, (size_t)n);
}

static int64_t bytemap_put(level *lv, int64_t parent, int64_t i)
{
    bytemap_put_range(lv, parent, i, 1);
    return parent * lv->extent + (i - lv->base);
}

/* To know takes a look at all of them, once, when they are made or checked. */
static bool all_stored(const level *lv)
{
    const uint8_t *flag = flags_of(lv);
    int64_t p = 0;
    for (uint64_t word; p + WORD <= lv->size; p += WORD) {
        memcpy(&word, flag + p, WORD);
        if (word != UINT64_C(0x0101010101010101)) return false;
    }
    while (p < lv->size && flag[p])
        p++;
    return lv->size > 0 && p == lv->size;
}

/* Fibers that are all there are plain memory. */
static void bytemap_view(const level *lv, int64_t parent, int64_t parent_coord,
                         fiber_view *v)
{
    (void)parent_coord;
    *v = (fiber_view){.shape = lv->whole ? VIEW_RANGE : VIEW_NONE,
                      .begin = parent * lv->extent,
                      .end = (parent + 1) * lv->extent,
                      .lo = lv->base,
                      .hi = lv->base + lv->extent};
}

static void bytemap_table(const level *lv, fiber_table *out)
{
    *out = (fiber_table){.shape = lv->whole ? VIEW_RANGE : VIEW_NONE,
                         .lo = lv->base,
                         .hi = lv->base + lv->extent};
}

/* ---- assembly -------------------------------------------------------------------- */

static stc_status words_of(ctx *cx, int64_t size, int64_t *words)
{
    if (!size_add(size, WORD - 1, words)) {
        return fail(cx, STC_ERR_OVERFLOW, "a byte map has too many positions");
    }
    *words /= WORD;
    return STC_OK;
}

/* The map gets at least `size` flags; new ones are 0. */
static stc_status cover(ctx *cx, level *lv, int64_t size)
{
    int64_t words;
    if (words_of(cx, size, &words)) return cx->diag.status;
    return index_cover(cx, &lv->a[STC_AUX], words, 0);
}

static stc_status clear(ctx *cx, level *lv, int64_t size)
{
    index_empty(cx, &lv->a[STC_AUX], 0, WORD);
    lv->size = 0;
    lv->whole = false;
    return cover(cx, lv, size);
}

static stc_status bytemap_init(ctx *cx, level *lv, int64_t parents)
{
    int64_t size = 0;
    lv->open_count = lv->edges = 0;
    if (parents != NONE && level_size(cx, parents, lv->extent, &size)) {
        return cx->diag.status;
    }
    return clear(cx, lv, size);
}

static stc_status bytemap_coord(ctx *cx, level *lv, int64_t parent, int64_t i, int64_t *pos)
{
    int64_t first, end;
    if (!in_extent(lv, i)) return refuse_append(cx, lv, i, 0);
    if (level_size(cx, parent, lv->extent, &first)) return cx->diag.status;
    if (!size_add(first, lv->extent, &end)) {
        return fail(cx, STC_ERR_OVERFLOW, "a byte map has too many positions");
    }
    if (cover(cx, lv, end)) return cx->diag.status;
    *pos = first + (i - lv->base);
    ((uint8_t *)lv->a[STC_AUX].data)[*pos] = 1;
    return STC_OK;
}

static stc_status bytemap_finish(ctx *cx, level *lv, int64_t parents)
{
    if (level_size(cx, parents, lv->extent, &lv->size) || cover(cx, lv, lv->size))
        return cx->diag.status;
    lv->whole = all_stored(lv);
    return STC_OK;
}

static stc_status bytemap_pack(ctx *cx, level *lv, pack_in *in)
{
    int64_t size;
    if (level_size(cx, in->parents, lv->extent, &size) || clear(cx, lv, size)) {
        return cx->diag.status;
    }
    uint8_t *flag = lv->a[STC_AUX].data;
    int64_t e = 0;
    for (int64_t end; (end = work_block(cx, e, in->count)) > e;)
        for (; e < end; e++) {
            in->pos[e] = in->pos[e] * lv->extent + (in->coord[e] - lv->base);
            flag[in->pos[e]] = 1;
        }
    lv->size = size;
    if (e < in->count) return cx->diag.status;
    lv->whole = all_stored(lv);
    return STC_OK;
}

static stc_status bytemap_check(ctx *cx, level *lv, int64_t parents)
{
    const index_array *aux = &lv->a[STC_AUX];
    int64_t size, words;
    if (level_size(cx, parents, lv->extent, &size) || words_of(cx, size, &words) ||
        check_array(cx, aux, "flags, in words,", words)) {
        return cx->diag.status;
    }
    if (words && (aux->width != WORD || aux->stride != WORD)) {
        return fail(cx, STC_ERR_DATA, "flags: words of %d bytes, expected 8, contiguous",
                    (int)aux->width);
    }
    const uint8_t *flag = aux->data;
    for (int64_t p = 0; p < words * WORD; p++) {
        if (work_due(cx, p)) return cx->diag.status;
        if (flag[p] <= (p < size)) continue;
        return fail(cx, STC_ERR_DATA, "the flag of position %lld is %d, expected %s",
                    (long long)p, flag[p], p < size ? "0 or 1" : "0 after the last");
    }
    lv->size = size;
    lv->whole = all_stored(lv);
    return STC_OK;
}

const level_kind level_bytemap = {
    .name = "bytemap",
    .letter = 'b',
    .caps = CAP_ITER | CAP_SEEK | CAP_LOCATE | CAP_APPEND | CAP_PACK | CAP_SUBSECT |
            CAP_POSITION,
    .props = PROP_ORDERED | PROP_UNIQUE,
    .fixed = PROP_ORDERED | PROP_UNIQUE,
    .arrays = 1 << STC_AUX,
    .open = bytemap_open,
    .next = bytemap_next,
    .seek = bytemap_seek,
    .locate = bytemap_locate,
    .locate_many = bytemap_locate_many,
    .put = bytemap_put,
    .put_range = bytemap_put_range,
    .view = bytemap_view,
    .table = bytemap_table,
    .size = extent_size,
    .append_init = bytemap_init,
    .append_coord = bytemap_coord,
    .append_edges = places_edges,
    .append_finish = bytemap_finish,
    .pack = bytemap_pack,
    .check = bytemap_check,
};
