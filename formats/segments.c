/* segments.c: levels that keep a segment of coordinates per parent: pos[p] to
 * pos[p+1] bound the coordinates below parent p.
 *
 * The common half of compressed, hashed and rle: views, appending, assembly
 * from sorted entries, and the check for duplicates in unordered fibers.
 */
#include "kinds.h"

void segments_view(const level *lv, int64_t parent, int64_t parent_coord, fiber_view *v)
{
    const index_array *crd = &lv->a[STC_CRD];
    (void)parent_coord;
    *v = (fiber_view){.shape = VIEW_COORDS,
                      .crd = crd->data,
                      .width = crd->width,
                      .stride = crd->stride,
                      .begin = index_get(&lv->a[STC_POS], parent),
                      .end = index_get(&lv->a[STC_POS], parent + 1),
                      .lo = lv->base,
                      .hi = lv->base + lv->extent};
}

void segments_table(const level *lv, fiber_table *out)
{
    const index_array *crd = &lv->a[STC_CRD], *pos = &lv->a[STC_POS];
    *out = (fiber_table){.shape = pos->stride == pos->width ? VIEW_COORDS : VIEW_NONE,
                         .crd = crd->data,
                         .width = crd->width,
                         .stride = crd->stride,
                         .bounds = pos->data,
                         .bounds_width = pos->width,
                         .lo = lv->base,
                         .hi = lv->base + lv->extent};
}

/* How many there are is known without the data only if nothing is above. */
int64_t segments_size(const level *lv, int64_t parents)
{
    (void)lv;
    return parents == 0 ? 0 : NONE;
}

stc_status segments_init(ctx *cx, level *lv, int64_t parents)
{
    (void)parents;
    index_empty(cx, &lv->a[STC_CRD], largest_coord(lv), lv->width);
    if (index_ready(cx, &lv->a[STC_POS], 0, lv->width, 1)) return cx->diag.status;
    index_set(&lv->a[STC_POS], 0, 0);
    lv->size = 0;
    lv->open_count = 0;
    lv->edges = 0;
    return STC_OK;
}

static stc_status close_until(ctx *cx, level *lv, int64_t parent, int64_t bound)
{
    index_array *pos = &lv->a[STC_POS];
    /* far too many fail at once, not when memory is full */
    const int64_t more = parent - lv->edges;
    if (more > WORK_BLOCK && index_reserve(cx, pos, pos->len + more))
        return cx->diag.status;
    for (; lv->edges < parent; lv->edges++) {
        if (work_due(cx, lv->edges)) return cx->diag.status;
        if (index_push(cx, pos, bound)) return cx->diag.status;
    }
    return STC_OK;
}

int64_t group_end(const level *lv, int64_t p, int64_t end)
{
    const index_array *crd = &lv->a[STC_CRD];
    const int64_t i = index_get(crd, p++);
    while (!(lv->props & PROP_UNIQUE) && p < end && index_get(crd, p) == i)
        p++;
    return p;
}

void group_settle(cursor *c)
{
    if (c->p >= c->end) {
        cursor_used_up(c);
        return;
    }
    c->lo = index_get(&c->lv->a[STC_CRD], c->p);
    c->hi = c->lo + 1;
    c->pos = c->p;
    c->pos_end = group_end(c->lv, c->p, c->end);
}

void group_open(cursor *c, const level *lv, const cursor *up)
{
    if (segments_open(c, lv, up)) group_settle(c);
}

void group_next(cursor *c)
{
    c->p = c->pos_end;
    group_settle(c);
}

void group_seek(cursor *c, int64_t i)
{
    if (!(c->lv->props & PROP_ORDERED)) {
        while (c->hi <= i)
            group_next(c);
        return;
    }
    if (c->hi > i) return;
    const index_array *crd = &c->lv->a[STC_CRD];
    int64_t below = c->p, step = 1; /* crd[below] < i */
    while (below + step < c->end && index_get(crd, below + step) < i) {
        below += step;
        step *= 2;
    }
    int64_t above = below + step < c->end ? below + step : c->end;
    while (above - below > 1) {
        const int64_t mid = below + (above - below) / 2;
        if (index_get(crd, mid) < i) {
            below = mid;
        } else {
            above = mid;
        }
    }
    c->p = above;
    group_settle(c);
}

stc_status segments_coord(ctx *cx, level *lv, int64_t i, bool ascends, int64_t *pos)
{
    index_array *crd = &lv->a[STC_CRD];
    if (!in_extent(lv, i)) return refuse_append(cx, lv, i, 0);
    if (crd->len > lv->open_count && ascends) {
        const int64_t last = index_get(crd, crd->len - 1);
        if (i < last || (i == last && lv->props & PROP_UNIQUE))
            return refuse_append(cx, lv, i, last);
    }
    *pos = crd->len;
    if (index_push(cx, crd, i)) return cx->diag.status;
    lv->size = crd->len;
    return STC_OK;
}

stc_status segments_edges(ctx *cx, level *lv, int64_t parent)
{
    if (parent < lv->edges) return refuse_edges(cx, parent, lv->edges);
    if (close_until(cx, lv, parent, lv->open_count)) return cx->diag.status;
    lv->open_count = lv->a[STC_CRD].len;
    return close_until(cx, lv, parent + 1, lv->open_count);
}

stc_status segments_finish(ctx *cx, level *lv, int64_t parents)
{
    if (parents < lv->edges ||
        (parents == lv->edges && lv->a[STC_CRD].len > lv->open_count)) {
        return fail(cx, STC_ERR_CORRUPT, "a result has %lld fibers for %lld parents",
                    (long long)lv->edges, (long long)parents);
    }
    if (lv->a[STC_CRD].len > lv->open_count && segments_edges(cx, lv, lv->edges)) {
        return cx->diag.status;
    }
    if (close_until(cx, lv, parents, lv->a[STC_CRD].len)) return cx->diag.status;
    lv->size = lv->a[STC_CRD].len;
    return segments_width(cx, lv);
}

stc_status segments_width(ctx *cx, const level *lv)
{
    if (lv->width == 4 && (lv->a[STC_POS].width == 8 || lv->size > INT32_MAX)) {
        return fail(cx, STC_ERR_OVERFLOW, "%lld positions of a level don't fit its index32",
                    (long long)lv->size);
    }
    return STC_OK;
}

stc_status segments_room(ctx *cx, level *lv, int64_t n, int64_t parents, append_room *out)
{
    index_array *crd = &lv->a[STC_CRD], *pos = &lv->a[STC_POS];
    int64_t len;
    if (!size_add(crd->len, n, &len)) {
        return fail(cx, STC_ERR_OVERFLOW, "a level has more than 2^63 positions");
    }
    if (len > INT32_MAX && index_widen(cx, pos)) return cx->diag.status;
    if (index_reserve(cx, crd, len) ||
        (parents > lv->edges && index_reserve(cx, pos, pos->len + parents - lv->edges)))
        return cx->diag.status;
    *out = (append_room){.crd = (char *)crd->data + crd->len * crd->stride,
                         .width = crd->width,
                         .pos = crd->len,
                         .bounds = (char *)pos->data + pos->len * pos->stride,
                         .bounds_width = pos->width,
                         .closed = lv->edges};
    return STC_OK;
}

void segments_done(level *lv, int64_t n, int64_t parents)
{
    index_array *crd = &lv->a[STC_CRD];
    crd->len += n;
    lv->size = crd->len;
    if (parents <= lv->edges) return;
    lv->a[STC_POS].len += parents - lv->edges;
    lv->edges = parents;
    lv->open_count = crd->len;
}

void segments_again(level *lv, int64_t parent)
{
    lv->a[STC_CRD].len = lv->size = lv->open_count = 0;
    lv->edges = parent;
    lv->a[STC_POS].len = 1;
    index_set(&lv->a[STC_POS], 0, 0);
}

bool pack_same_chain(const pack_in *in, int64_t e)
{
    if (in->chain == in->deeper) return false; /* they would be duplicates */
    for (int d = 0; d < in->chain; d++) {
        if (in->below[d][e] != in->below[d][e - 1]) return false;
    }
    return true;
}

/* One loop per pair of widths: this is where large inputs spend their time. Entries
 * [begin, end) come behind n coordinates and `closed` bounds; gives the next n. */
typedef struct packing {
    const pack_in *in;
    void *pos, *crd;
    int64_t n, closed;
    bool unique;
} packing;

#define PACK_LOOP(NAME, PT, CT)                                                            \
    static void NAME(packing *k, int64_t begin, int64_t end)                               \
    {                                                                                      \
        const pack_in *in = k->in;                                                         \
        PT *pos = k->pos;                                                                  \
        CT *crd = k->crd;                                                                  \
        const bool unique = k->unique;                                                     \
        int64_t n = k->n, closed = k->closed;                                              \
        int64_t parent = begin ? closed - 1 : NONE;                                        \
        int64_t last = begin ? crd[n - 1] : 0;                                             \
        for (int64_t e = begin; e < end; e++) {                                            \
            const int64_t p = in->pos[e], i = in->coord[e];                                \
            if (p != parent) {                                                             \
                for (; closed <= p; closed++)                                              \
                    pos[closed] = (PT)n;                                                   \
                parent = p;                                                                \
            } else if (i == last && (unique || pack_same_chain(in, e))) {                  \
                in->pos[e] = n - 1;                                                        \
                continue;                                                                  \
            }                                                                              \
            crd[n] = (CT)i;                                                                \
            in->pos[e] = n++;                                                              \
            last = i;                                                                      \
        }                                                                                  \
        k->n = n;                                                                          \
        k->closed = closed;                                                                \
    }
PACK_LOOP(pack_I32_I32, int32_t, int32_t)
PACK_LOOP(pack_I32_I64, int32_t, int64_t)
PACK_LOOP(pack_I64_I32, int64_t, int32_t)
PACK_LOOP(pack_I64_I64, int64_t, int64_t)

/* Whether all entries are below one parent, each at a coordinate of its own. */
static bool one_fiber(const pack_in *in)
{
    const int64_t *const i = in->coord, *const p = in->pos;
    int64_t wrong = 0; /* negative: some step isn't up, or from another parent */
    if (in->parents != 1 || !in->count || p[0]) return false;
    for (int64_t e = 1; e < in->count; e++)
        wrong |= (i[e] - i[e - 1] - 1) | -p[e] | p[e];
    return wrong >= 0;
}

/* The loop for such entries, whose positions are their numbers. */
#define PACK_ONE(NAME, CT)                                                                 \
    static void NAME(packing *k, int64_t begin, int64_t end)                               \
    {                                                                                      \
        const int64_t *const i = k->in->coord;                                             \
        int64_t *const pos = k->in->pos;                                                   \
        CT *const crd = k->crd;                                                            \
        for (int64_t e = begin; e < end; e++) {                                            \
            crd[e] = (CT)i[e];                                                             \
            pos[e] = e;                                                                    \
        }                                                                                  \
        k->n = end;                                                                        \
    }
PACK_ONE(pack_one_I32, int32_t)
PACK_ONE(pack_one_I64, int64_t)

stc_status segments_pack(ctx *cx, level *lv, pack_in *in)
{
    index_array *pos = &lv->a[STC_POS], *crd = &lv->a[STC_CRD];
    const bool unique = lv->props & PROP_UNIQUE;
    int64_t bounds;
    if (!size_add(in->parents, 1, &bounds)) {
        return fail(cx, STC_ERR_OVERFLOW, "more positions above than 64 bits can count");
    }
    if (index_ready(cx, crd, largest_coord(lv), lv->width, in->count) ||
        index_ready(cx, pos, in->count, lv->width, bounds)) {
        return cx->diag.status;
    }
    const bool one = one_fiber(in);
    void (*const loop)(packing *, int64_t, int64_t) =
        one               ? (crd->width == 4 ? pack_one_I32 : pack_one_I64)
        : pos->width == 4 ? (crd->width == 4 ? pack_I32_I32 : pack_I32_I64)
                          : (crd->width == 4 ? pack_I64_I32 : pack_I64_I64);
    packing k = {.in = in, .pos = pos->data, .crd = crd->data, .unique = unique};
    if (one) index_set(pos, k.closed++, 0);
    for (int64_t e = 0, end; (end = work_block(cx, e, in->count)) > e; e = end)
        loop(&k, e, end);
    for (int64_t end; (end = work_block(cx, k.closed, bounds)) > k.closed; k.closed = end)
        index_fill(pos, k.closed, end, k.n);
    if (k.closed < bounds) return cx->diag.status;
    const int64_t n = k.n;
    crd->len = n;
    index_trim(cx, crd);
    lv->size = n;
    lv->edges = in->parents;
    lv->open_count = n;
    return segments_width(cx, lv);
}

stc_status segments_unique(ctx *cx, const level *lv, int64_t parents)
{
    const index_array *pos = &lv->a[STC_POS], *crd = &lv->a[STC_CRD];
    int64_t longest = 0;
    for (int64_t p = 0; p < parents; p++) {
        if (work_due(cx, p)) return cx->diag.status;
        const int64_t n = index_get(pos, p + 1) - index_get(pos, p);
        if (n > longest) longest = n;
    }
    if (longest < 2) return STC_OK;
    int64_t slots = 4;
    while (slots < 2 * longest)
        slots *= 2;
    int64_t *seen = mem_array(cx, slots, sizeof *seen);
    if (!seen) return STC_ERR_MEMORY;
    stc_status status = STC_OK;
    for (int64_t p = 0; p < parents && !status; p++) {
        const int64_t begin = index_get(pos, p), end = index_get(pos, p + 1);
        int64_t mask = 4;
        while (mask < 2 * (end - begin))
            mask *= 2;
        for (int64_t s = 0; s < mask; s++)
            seen[s] = NONE;
        mask--;
        if (work_due(cx, p)) status = cx->diag.status;
        for (int64_t q = begin; q < end && !status; q++) {
            if (work_due(cx, q)) status = cx->diag.status;
            const int64_t i = index_get(crd, q);
            uint64_t s = ((uint64_t)i * 0x9e3779b97f4a7c15u) >> 20;
            for (s &= (uint64_t)mask; seen[s] != NONE; s = (s + 1) & (uint64_t)mask) {
                if (index_get(crd, seen[s]) != i) continue;
                status = fail(cx, STC_ERR_DATA,
                              "coordinate %lld is at positions %lld and %lld of one fiber",
                              (long long)i, (long long)seen[s], (long long)q);
                break;
            }
            seen[s] = q;
        }
    }
    mem_free(cx, seen, (size_t)slots * sizeof *seen);
    return status;
}
