/* level_hashed.c: a segment of coordinates for each parent, and a hash table
 * over each segment.
 *
 * STC_POS and STC_CRD are as in a compressed level, so that a coordinate's
 * position is an ordinal that never moves, values stay dense, and fibers are
 * walked as memory. STC_AUX holds the buckets: a fiber of n coordinates at
 * pos[p] has 2n of them, from 2*pos[p] on, each a position or -1. `home` gives
 * the bucket where the search for a coordinate begins; it goes on to the next
 * bucket, cyclically. Formats paper, §3.1 (there, buckets themselves are the
 * positions).
 */
#include "kinds.h"

static uint64_t home(int64_t i, int64_t buckets)
{
    uint64_t h = (uint64_t)i * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    const uint64_t n = (uint64_t)buckets;
    return n >> 32 ? h % n : (h >> 32) * n >> 32;
}

static void settle(cursor *c)
{
    if (c->p >= c->end) {
        cursor_used_up(c);
        return;
    }
    c->lo = index_get(&c->lv->a[STC_CRD], c->p);
    c->hi = c->lo + 1;
    c->pos = c->p;
    c->pos_end = c->p + 1;
}

static void hashed_open(cursor *c, const level *lv, const cursor *up)
{
    if (segments_open(c, lv, up)) settle(c);
}

static void hashed_next(cursor *c)
{
    c->p++;
    settle(c);
}

/* The position of coordinate i in the segment [begin, end), or NONE. */
static int64_t find(const level *lv, int64_t begin, int64_t end, int64_t i)
{
    const int64_t buckets = 2 * (end - begin), first = 2 * begin;
    if (!buckets) return NONE;
    int64_t b = (int64_t)home(i, buckets);
    for (int64_t tries = 0; tries < buckets; tries++) {
        const int64_t p = index_get(&lv->a[STC_AUX], first + b);
        if (p == NONE || index_get(&lv->a[STC_CRD], p) == i) return p;
        if (++b == buckets) b = 0;
    }
    return NONE;
}

static void hashed_locate(cursor *c, const level *lv, const cursor *up, int64_t i)
{
    int64_t begin, end, p = NONE;
    if (parent_range(up, &begin, &end)) {
        p = find(lv, index_get(&lv->a[STC_POS], begin),
                 index_get(&lv->a[STC_POS], begin + 1), i);
    }
    cursor_place(c, lv, up, i, p);
}

/* Index arrays of 32 bits, as almost all are: no look at widths in the loop. */
static int64_t find_many(const level *lv, int64_t begin, int64_t end, const void *crd,
                         int32_t width, int32_t stride, int64_t n, int64_t *pos)
{
    const int32_t *const own = lv->a[STC_CRD].data;
    const int32_t *const bucket = (const int32_t *)lv->a[STC_AUX].data + 2 * begin;
    const int64_t buckets = 2 * (end - begin);
    int64_t count = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = crd_at(crd, width, stride, k);
        int64_t b = (int64_t)home(i, buckets), p = bucket[b];
        while (p != NONE && own[p] != i) { /* half of the buckets are free */
            if (++b == buckets) b = 0;
            p = bucket[b];
        }
        pos[k] = p;
        count += p != NONE;
    }
    return count;
}

static int64_t hashed_locate_many(const level *lv, int64_t parent, const void *crd,
                                  int32_t width, int32_t stride, int64_t n, int64_t *pos)
{
    const index_array *own = &lv->a[STC_CRD], *aux = &lv->a[STC_AUX];
    const int64_t begin = index_get(&lv->a[STC_POS], parent);
    const int64_t end = index_get(&lv->a[STC_POS], parent + 1);
    int64_t count = 0;
    if (begin < end && own->width == 4 && own->stride == 4 && aux->width == 4 &&
        aux->stride == 4)
        return find_many(lv, begin, end, crd, width, stride, n, pos);
    for (int64_t k = 0; k < n; k++) {
        pos[k] = find(lv, begin, end, crd_at(crd, width, stride, k));
        count += pos[k] != NONE;
    }
    return count;
}

/* Builds all buckets from positions and coordinates. */
static stc_status hash_all(ctx *cx, level *lv, int64_t parents)
{
    const index_array *pos = &lv->a[STC_POS], *crd = &lv->a[STC_CRD];
    index_array *aux = &lv->a[STC_AUX];
    int64_t buckets;
    if (!size_mul(crd->len, 2, &buckets)) {
        return fail(cx, STC_ERR_OVERFLOW, "a hashed level has too many buckets");
    }
    if (index_ready(cx, aux, crd->len, lv->width, buckets)) return cx->diag.status;
    int64_t free = 0;
    for (int64_t end; (end = work_block(cx, free, buckets)) > free;)
        for (; free < end; free++)
            index_set(aux, free, NONE);
    if (free < buckets) return cx->diag.status;
    for (int64_t f = 0; f < parents; f++) {
        const int64_t begin = index_get(pos, f), end = index_get(pos, f + 1);
        const int64_t n = 2 * (end - begin);
        if (work_due(cx, f)) return cx->diag.status;
        for (int64_t p = begin; p < end; p++) {
            if (work_due(cx, p)) return cx->diag.status;
            int64_t b = (int64_t)home(index_get(crd, p), n);
            while (index_get(aux, 2 * begin + b) != NONE)
                b = b + 1 == n ? 0 : b + 1;
            index_set(aux, 2 * begin + b, p);
        }
    }
    return STC_OK;
}

static stc_status hashed_coord(ctx *cx, level *lv, int64_t parent, int64_t i, int64_t *pos)
{
    index_array *crd = &lv->a[STC_CRD];
    (void)parent;
    if (!in_extent(lv, i)) return refuse_append(cx, lv, i, 0);
    if (crd->len > lv->open_count && i <= index_get(crd, crd->len - 1)) {
        return refuse_append(cx, lv, i, index_get(crd, crd->len - 1));
    }
    *pos = crd->len;
    if (index_push(cx, crd, i)) return cx->diag.status;
    lv->size = crd->len;
    return STC_OK;
}

static stc_status hashed_finish(ctx *cx, level *lv, int64_t parents)
{
    if (segments_finish(cx, lv, parents)) return cx->diag.status;
    return hash_all(cx, lv, parents);
}

static stc_status hashed_pack(ctx *cx, level *lv, pack_in *in)
{
    if (segments_pack(cx, lv, in)) return cx->diag.status;
    return hash_all(cx, lv, in->parents);
}

static stc_status hashed_check(ctx *cx, level *lv, int64_t parents)
{
    const index_array *pos = &lv->a[STC_POS], *crd = &lv->a[STC_CRD],
                      *aux = &lv->a[STC_AUX];
    int64_t buckets;
    if (check_bounds(cx, lv, parents, "coordinates")) return cx->diag.status;
    if (!size_mul(crd->len, 2, &buckets)) {
        return fail(cx, STC_ERR_OVERFLOW, "a hashed level has too many buckets");
    }
    if (check_array(cx, aux, "buckets", buckets)) return cx->diag.status;
    for (int64_t f = 0; f < parents; f++) {
        const int64_t begin = index_get(pos, f), end = index_get(pos, f + 1);
        int64_t used = 0;
        if (work_due(cx, f)) return cx->diag.status;
        for (int64_t b = 2 * begin; b < 2 * end; b++) {
            if (work_due(cx, b)) return cx->diag.status;
            const int64_t p = index_get(aux, b);
            if (p == NONE) continue;
            used++;
            if (p < begin || p >= end) {
                return fail(
                    cx, STC_ERR_DATA,
                    "bucket %lld holds position %lld, which is outside its fiber %lld:%lld",
                    (long long)b, (long long)p, (long long)begin, (long long)end);
            }
        }
        if (used != end - begin) {
            return fail(cx, STC_ERR_DATA,
                        "fiber %lld has %lld occupied buckets for %lld coordinates",
                        (long long)f, (long long)used, (long long)(end - begin));
        }
        for (int64_t p = begin; p < end; p++) {
            const int64_t i = index_get(crd, p);
            if (work_due(cx, p)) return cx->diag.status;
            if (!in_extent(lv, i)) return bad_coord(cx, lv, p, i);
            const int64_t found = find(lv, begin, end, i);
            if (found == p) continue;
            return fail(cx, STC_ERR_DATA,
                        found == NONE
                            ? "coordinate %lld at position %lld isn't in its buckets"
                            : "coordinate %lld at position %lld occurs twice",
                        (long long)i, (long long)p);
        }
    }
    lv->size = crd->len;
    return STC_OK;
}

const level_kind level_hashed = {
    .name = "hashed",
    .letter = 'h',
    .caps = CAP_ITER | CAP_LOCATE | CAP_APPEND | CAP_PACK,
    .props = PROP_UNIQUE | PROP_COMPACT,
    .fixed = PROP_UNIQUE | PROP_COMPACT,
    .arrays = 1 << STC_POS | 1 << STC_CRD | 1 << STC_AUX,
    .open = hashed_open,
    .next = hashed_next,
    .locate = hashed_locate,
    .locate_many = hashed_locate_many,
    .view = segments_view,
    .table = segments_table,
    .size = segments_size,
    .append_init = segments_init,
    .append_coord = hashed_coord,
    .append_edges = segments_edges,
    .append_finish = hashed_finish,
    .pack = hashed_pack,
    .check = hashed_check,
};
