/* level_hashed.c: a segment of coordinates for each parent, and a hash table
 * over each segment.
 *
 * STC_POS and STC_CRD are as in a compressed level, so that a coordinate's
 * position is an ordinal that never moves, values stay dense, and fibers are
 * walked as memory. STC_AUX holds the buckets: a fiber of n coordinates at
 * pos[p] has 2n of them, from 2*pos[p] on, each a position or -1; the last
 * fiber may have more, up to the array's end: so the only fiber of a vector
 * grows in place, and its buckets are made anew only when they are half full.
 * `home` gives the bucket where the search for a coordinate begins; it goes on
 * to the next bucket, cyclically. Formats paper, §3.1 (there, buckets
 * themselves are the positions). With `nonunique` a coordinate's positions are
 * neighbours, and the first of them alone has a bucket.
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

/* A fiber: its coordinates' positions [begin, end), its buckets [first, first + buckets).
 */
typedef struct fiber {
    int64_t begin, end, first, buckets;
} fiber;

/* Whether position p of a fiber has the coordinate of the one before it. */
static bool repeats(const level *lv, const fiber *f, int64_t p)
{
    const index_array *crd = &lv->a[STC_CRD];
    return !(lv->props & PROP_UNIQUE) && p > f->begin &&
           index_get(crd, p) == index_get(crd, p - 1);
}

static fiber fiber_of(const level *lv, int64_t parent)
{
    const index_array *pos = &lv->a[STC_POS];
    const int64_t begin = index_get(pos, parent), end = index_get(pos, parent + 1);
    const int64_t to = parent + 2 == pos->len ? lv->a[STC_AUX].len : 2 * end;
    return (fiber){begin, end, 2 * begin, to - 2 * begin};
}

/* The position of coordinate i in a fiber, or NONE. */
static int64_t find(const level *lv, const fiber *f, int64_t i)
{
    if (!f->buckets) return NONE;
    int64_t b = (int64_t)home(i, f->buckets);
    for (int64_t tries = 0; tries < f->buckets; tries++) {
        const int64_t p = index_get(&lv->a[STC_AUX], f->first + b);
        if (p == NONE || index_get(&lv->a[STC_CRD], p) == i) return p;
        if (++b == f->buckets) b = 0;
    }
    return NONE;
}

static void hashed_locate(cursor *c, const level *lv, const cursor *up, int64_t i)
{
    int64_t begin, end;
    cursor_place(c, lv, up, i, NONE);
    if (!parent_range(up, &begin, &end)) return;
    const fiber f = fiber_of(lv, begin);
    const int64_t p = find(lv, &f, i);
    if (p == NONE) return;
    c->at = p;
    c->at_end = group_end(lv, p, f.end);
}

/* Index arrays of 32 bits, as almost all are: no look at widths in the loop. */
static int64_t find_many(const level *lv, const fiber *f, const void *crd, int32_t width,
                         int32_t stride, int64_t n, int64_t *pos)
{
    const int32_t *const own = lv->a[STC_CRD].data;
    const int32_t *const bucket = (const int32_t *)lv->a[STC_AUX].data + f->first;
    const int64_t buckets = f->buckets;
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
    const fiber f = fiber_of(lv, parent);
    int64_t count = 0;
    if (f.buckets && own->width == 4 && own->stride == 4 && aux->width == 4 &&
        aux->stride == 4)
        return find_many(lv, &f, crd, width, stride, n, pos);
    for (int64_t k = 0; k < n; k++) {
        pos[k] = find(lv, &f, crd_at(crd, width, stride, k));
        count += pos[k] != NONE;
    }
    return count;
}

/* Puts position p, of coordinate i, in the first free bucket from its home on. */
static void settle_in(index_array *aux, const fiber *f, int64_t i, int64_t p)
{
    int64_t b = (int64_t)home(i, f->buckets);
    while (index_get(aux, f->first + b) != NONE)
        b = b + 1 == f->buckets ? 0 : b + 1;
    index_set(aux, f->first + b, p);
}

static stc_status hash_fiber(ctx *cx, const level *lv, index_array *aux, const fiber *f)
{
    for (int64_t p = f->begin; p < f->end; p++) {
        if (work_due(cx, p)) return cx->diag.status;
        if (!repeats(lv, f, p)) settle_in(aux, f, index_get(&lv->a[STC_CRD], p), p);
    }
    return STC_OK;
}

static stc_status too_many(ctx *cx)
{
    return fail(cx, STC_ERR_OVERFLOW, "a hashed level has too many buckets");
}

/* Frees buckets [first, first + n), a block at a time. */
static stc_status free_range(ctx *cx, index_array *aux, int64_t first, int64_t n)
{
    for (int64_t b = 0; b < n; b += WORK_BLOCK) {
        const int64_t some = n - b < WORK_BLOCK ? n - b : WORK_BLOCK;
        index_fill(aux, first + b, first + b + some, NONE);
        if (some == WORK_BLOCK && work_done(cx, WORK_BLOCK)) return cx->diag.status;
    }
    return STC_OK;
}

/* Builds all buckets from positions and coordinates: those of a fiber are freed when it is
 * its turn, while they are near. */
static stc_status hash_all(ctx *cx, level *lv, int64_t parents)
{
    const int64_t n = lv->a[STC_CRD].len;
    index_array *aux = &lv->a[STC_AUX];
    int64_t buckets;
    if (!size_mul(n, 2, &buckets)) return too_many(cx);
    if (index_ready(cx, aux, n, lv->width, buckets)) return cx->diag.status;
    for (int64_t p = 0; p < parents; p++) {
        const fiber f = fiber_of(lv, p);
        if (work_due(cx, p) || free_range(cx, aux, f.first, f.buckets) ||
            hash_fiber(cx, lv, aux, &f))
            return cx->diag.status;
    }
    return STC_OK;
}

/* ---- growing in place ---------------------------------------------------------------- */

/* Buckets for n coordinates of the only fiber. New ones are twice as many as that asks
 * for: it has to double before they are made anew again. */
static stc_status buckets_for(ctx *cx, level *lv, int64_t n)
{
    index_array made = {.width = 4, .stride = 4, .owned = true};
    int64_t buckets;
    if (lv->a[STC_AUX].len / 2 >= n) return STC_OK;
    if (!size_mul(n, 4, &buckets)) return too_many(cx);
    const fiber f = {0, lv->a[STC_CRD].len, 0, buckets};
    if (index_ready(cx, &made, buckets, lv->width, buckets) ||
        free_range(cx, &made, 0, buckets) || hash_fiber(cx, lv, &made, &f)) {
        index_free(cx, &made);
        return cx->diag.status;
    }
    index_free(cx, &lv->a[STC_AUX]);
    lv->a[STC_AUX] = made;
    return STC_OK;
}

/* Fibers lie one behind the other: none but the only one grows where it is. */
static stc_status hashed_put_room(ctx *cx, level *lv, int64_t n, bool *room)
{
    index_array *pos = &lv->a[STC_POS], *crd = &lv->a[STC_CRD];
    int64_t all;
    *room = pos->len == 2 && pos->owned && crd->owned && lv->a[STC_AUX].owned &&
            size_add(crd->len, n, &all) &&
            (lv->width != 4 || (all <= INT32_MAX && largest_coord(lv) <= INT32_MAX));
    if (!*room) return STC_OK;
    if ((all > INT32_MAX && index_widen(cx, pos)) ||
        (largest_coord(lv) > INT32_MAX && index_widen(cx, crd)) ||
        index_reserve(cx, crd, all))
        return cx->diag.status;
    return buckets_for(cx, lv, all);
}

static int64_t hashed_put(level *lv, int64_t parent, int64_t i)
{
    index_array *crd = &lv->a[STC_CRD];
    const fiber f = fiber_of(lv, parent);
    const int64_t p = crd->len++;
    index_set(crd, p, i);
    settle_in(&lv->a[STC_AUX], &f, i, p);
    index_set(&lv->a[STC_POS], 1, crd->len);
    lv->size = lv->open_count = crd->len;
    return p;
}

/* ---- assembly ------------------------------------------------------------------------ */

static stc_status hashed_coord(ctx *cx, level *lv, int64_t parent, int64_t i, int64_t *pos)
{
    (void)parent;
    return segments_coord(cx, lv, i, true, pos);
}

static stc_status hashed_pack(ctx *cx, level *lv, pack_in *in)
{
    if (segments_pack(cx, lv, in)) return cx->diag.status;
    return hash_all(cx, lv, in->parents);
}

/* As many positions of the fiber as it has coordinates, and no others. */
static stc_status check_buckets(ctx *cx, const level *lv, int64_t parent, const fiber *f)
{
    int64_t used = 0, coords = f->end - f->begin;
    for (int64_t p = f->begin; !(lv->props & PROP_UNIQUE) && p < f->end; p++)
        coords -= repeats(lv, f, p);
    for (int64_t b = f->first; b < f->first + f->buckets; b++) {
        if (work_due(cx, b)) return cx->diag.status;
        const int64_t p = index_get(&lv->a[STC_AUX], b);
        if (p == NONE) continue;
        used++;
        if (p >= f->begin && p < f->end) continue;
        return fail(cx, STC_ERR_DATA,
                    "bucket %lld holds position %lld, which is outside its fiber %lld:%lld",
                    (long long)b, (long long)p, (long long)f->begin, (long long)f->end);
    }
    if (used == coords) return STC_OK;
    return fail(cx, STC_ERR_DATA,
                "fiber %lld has %lld occupied buckets for %lld coordinates",
                (long long)parent, (long long)used, (long long)coords);
}

static stc_status check_coords(ctx *cx, const level *lv, const fiber *f)
{
    for (int64_t p = f->begin; p < f->end; p++) {
        const int64_t i = index_get(&lv->a[STC_CRD], p);
        if (work_due(cx, p)) return cx->diag.status;
        if (!in_extent(lv, i)) return bad_coord(cx, lv, p, i);
        if (repeats(lv, f, p)) continue;
        const int64_t found = find(lv, f, i);
        if (found == p) continue;
        return fail(cx, STC_ERR_DATA, "coordinate %lld at position %lld %s", (long long)i,
                    (long long)p,
                    found == NONE ? "isn't in its buckets"
                    : lv->props & PROP_UNIQUE
                        ? "occurs twice"
                        : "is stored apart from others that are equal");
    }
    return STC_OK;
}

static stc_status hashed_check(ctx *cx, level *lv, int64_t parents)
{
    const index_array *crd = &lv->a[STC_CRD], *aux = &lv->a[STC_AUX];
    int64_t buckets;
    if (check_bounds(cx, lv, parents, "coordinates")) return cx->diag.status;
    if (!size_mul(crd->len, 2, &buckets)) return too_many(cx);
    if (check_array(cx, aux, "buckets", aux->len < buckets ? buckets : aux->len))
        return cx->diag.status;
    for (int64_t p = 0; p < parents; p++) {
        const fiber f = fiber_of(lv, p);
        if (work_due(cx, p) || check_buckets(cx, lv, p, &f) || check_coords(cx, lv, &f))
            return cx->diag.status;
    }
    lv->size = crd->len;
    return STC_OK;
}

const level_kind level_hashed = {
    .name = "hashed",
    .letter = 'h',
    .caps = CAP_ITER | CAP_LOCATE | CAP_APPEND | CAP_PACK | CAP_POSITION,
    .props = PROP_UNIQUE | PROP_COMPACT,
    .fixed = PROP_COMPACT,
    .arrays = 1 << STC_POS | 1 << STC_CRD | 1 << STC_AUX,
    .open = group_open,
    .next = group_next,
    .locate = hashed_locate,
    .locate_many = hashed_locate_many,
    .put_room = hashed_put_room,
    .put = hashed_put,
    .view = segments_view,
    .table = segments_table,
    .size = segments_size,
    .append_init = segments_init,
    .append_coord = hashed_coord,
    .append_edges = segments_edges,
    .append_finish = segments_finish,
    .append_seal = hash_all,
    .join_room = segments_room,
    .join_done = segments_done,
    .join_again = segments_again,
    .pack = hashed_pack,
    .check = hashed_check,
};
