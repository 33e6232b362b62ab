/* level.c: the table of level kinds, and what holds for cursors of any kind. */
#include "kinds.h"
#include <string.h>

#define LEVEL(name) extern const level_kind level_##name;
#include "levels.def"

static const level_kind *const kinds[] = {
#define LEVEL(name) &level_##name,
#include "levels.def"
};

const level_kind *level_kind_at(int id)
{
    return id >= 0 && id < LEVEL_COUNT ? kinds[id] : NULL;
}

const level_kind *level_kind_named(const char *name, size_t len, bool takes)
{
    for (int i = 0; i < LEVEL_COUNT; i++) {
        const level_kind *k = kinds[i];
        if (strlen(k->name) == len && !memcmp(k->name, name, len) && !k->takes == !takes)
            return k;
    }
    return NULL;
}

int level_kind_number(const level_kind *k)
{
    for (int i = 0; i < LEVEL_COUNT; i++) {
        if (kinds[i] == k) return i;
    }
    return -1;
}

const level_kind *level_kind_with(uint32_t caps, uint32_t props, uint32_t without)
{
    for (int i = 0; i < LEVEL_COUNT; i++) {
        const level_kind *k = kinds[i];
        if ((k->caps & caps) == caps && (k->props & props) == props &&
            !(k->props & without))
            return k;
    }
    return NULL;
}

const level_kind *level_full(void)
{
    return level_kind_with(CAP_INSERT, PROP_FULL, 0);
}

const level_kind *level_sparse(void)
{
    return level_kind_with(CAP_APPEND | CAP_CHAIN, PROP_ORDERED | PROP_COMPACT, PROP_FULL);
}

const level_kind *level_runs(void)
{
    return level_kind_with(CAP_APPEND_REGION, PROP_FULL, 0);
}

void cursor_seek(cursor *c, int64_t i)
{
    if (i == CURSOR_END) i--; /* where nothing can be, and used up cursors stand */
    if (c->hi > i) return;
    if (c->lv->kind->seek) {
        c->lv->kind->seek(c, i);
        return;
    }
    while (c->hi <= i)
        c->lv->kind->next(c);
}

/* ---- checks that several kinds share -------------------------------------------- */

stc_status check_array(ctx *cx, const index_array *a, const char *what, int64_t len)
{
    if ((a->width != 4 && a->width != 8) || a->stride < a->width) {
        return fail(cx, STC_ERR_DATA, "%s: %d bytes an element, %d apart; expected 4 or 8",
                    what, (int)a->width, (int)a->stride);
    }
    if (((uintptr_t)a->data | (uintptr_t)a->stride) % (uintptr_t)a->width) {
        return fail(cx, STC_ERR_DATA, "%s: not aligned to its %d bytes an element", what,
                    (int)a->width);
    }
    if (a->len < 0 || (len >= 0 && a->len != len) || (a->len && !a->data)) {
        return fail(cx, STC_ERR_DATA, "%s: %lld elements, expected %lld", what,
                    a->data ? (long long)a->len : 0LL, len >= 0 ? (long long)len : 0LL);
    }
    return STC_OK;
}

/* Elements next to each other in memory: loops that become vectors. */
#define LOOK(W, I, U)                                                                      \
    static bool within_##W(const I *restrict c, int64_t n, U lo, U wide)                   \
    {                                                                                      \
        U out = 0;                                                                         \
        for (int64_t q = 0; q < n; q++)                                                    \
            out |= (U)((U)c[q] - lo >= wide);                                              \
        return !out;                                                                       \
    }                                                                                      \
    static int64_t falls_##W(const I *restrict c, int64_t n, bool strict)                  \
    {                                                                                      \
        U falls = 0; /* n is a block */                                                    \
        for (int64_t q = 0; strict && q < n; q++)                                          \
            falls += (U)(c[q] <= c[q - 1]);                                                \
        for (int64_t q = 0; !strict && q < n; q++)                                         \
            falls += (U)(c[q] < c[q - 1]);                                                 \
        return (int64_t)falls;                                                             \
    }                                                                                      \
    static int64_t falls_at_##W(const I *c, const I *bound, int64_t n, int64_t len,        \
                                bool strict)                                               \
    {                                                                                      \
        int64_t falls = 0;                                                                 \
        for (int64_t p = 0; p < n; p++) {                                                  \
            const int64_t q = bound[p];                                                    \
            if (q == bound[p - 1] || q == len) continue;                                   \
            falls += c[q] < c[q - 1] || (strict && c[q] == c[q - 1]);                      \
        }                                                                                  \
        return falls;                                                                      \
    }
LOOK(4, int32_t, uint32_t)
LOOK(8, int64_t, uint64_t)

static bool falls(int64_t before, int64_t i, bool strict)
{
    return i < before || (strict && i == before);
}

static bool close_by(const index_array *a)
{
    return a->stride == a->width;
}

bool index_within(const index_array *a, int64_t at, int64_t end, int64_t lo, int64_t wide)
{
    if (close_by(a) && a->width == 8)
        return within_8((int64_t *)a->data + at, end - at, (uint64_t)lo, (uint64_t)wide);
    if (close_by(a) && lo >= 0 && lo <= INT32_MAX) {
        const int64_t most = (int64_t)INT32_MAX + 1 - lo; /* which are all that fit */
        return within_4((int32_t *)a->data + at, end - at, (uint32_t)lo,
                        (uint32_t)(wide < most ? wide : most));
    }
    bool out = false;
    for (int64_t q = at; q < end; q++)
        out |= index_get(a, q) < lo || index_get(a, q) - lo >= wide;
    return !out;
}

int64_t index_falls(const index_array *a, int64_t at, int64_t end, bool strict)
{
    int64_t n = 0;
    at += at == 0;
    if (at >= end) return 0;
    if (close_by(a) && a->width == 4)
        return falls_4((int32_t *)a->data + at, end - at, strict);
    if (close_by(a)) return falls_8((int64_t *)a->data + at, end - at, strict);
    for (int64_t q = at; q < end; q++)
        n += falls(index_get(a, q - 1), index_get(a, q), strict);
    return n;
}

int64_t index_falls_at(const index_array *a, const index_array *bounds, int64_t at,
                       int64_t end, bool strict)
{
    const bool near = close_by(a) && close_by(bounds) && a->width == bounds->width;
    int64_t n = 0;
    if (near && a->width == 4)
        return falls_at_4(a->data, (int32_t *)bounds->data + at, end - at, a->len, strict);
    if (near)
        return falls_at_8(a->data, (int64_t *)bounds->data + at, end - at, a->len, strict);
    for (int64_t p = at; p < end; p++) {
        const int64_t q = index_get(bounds, p);
        if (q == index_get(bounds, p - 1) || q == a->len) continue;
        n += falls(index_get(a, q - 1), index_get(a, q), strict);
    }
    return n;
}

stc_status check_bounds(ctx *cx, const level *lv, int64_t parents, const char *what)
{
    const index_array *pos = &lv->a[STC_POS], *crd = &lv->a[STC_CRD];
    int64_t bounds;
    if (!size_add(parents, 1, &bounds)) {
        return fail(cx, STC_ERR_OVERFLOW, "more positions above than 64 bits can count");
    }
    if (check_array(cx, pos, "positions", bounds)) return cx->diag.status;
    if (check_array(cx, crd, what, -1)) return cx->diag.status;
    int64_t last = index_get(pos, 0);
    if (last != 0) {
        return fail(cx, STC_ERR_DATA, "positions[0] is %lld, expected 0", (long long)last);
    }
    for (int64_t p = 1, end; p < bounds; p = end) {
        if ((end = work_block(cx, p, bounds)) == p) return cx->diag.status;
        if (!index_falls(pos, p, end, false)) continue;
        while (index_get(pos, p) >= index_get(pos, p - 1))
            p++;
        return fail(cx, STC_ERR_DATA, "positions[%lld] is %lld, below the %lld before it",
                    (long long)p, (long long)index_get(pos, p),
                    (long long)index_get(pos, p - 1));
    }
    last = index_get(pos, parents);
    if (last != crd->len) {
        return fail(cx, STC_ERR_DATA, "positions end at %lld, but there are %lld %s",
                    (long long)last, (long long)crd->len, what);
    }
    return STC_OK;
}

stc_status bad_coord(ctx *cx, const level *lv, int64_t p, int64_t v)
{
    return fail(cx, STC_ERR_DATA, "coordinate %lld at position %lld is outside %lld:%lld",
                (long long)v, (long long)p, (long long)lv->base,
                (long long)(lv->base + lv->extent));
}

/* Appended coordinates come from programs: in range, and in order where the
 * level claims it. */
stc_status refuse_append(ctx *cx, const level *lv, int64_t i, int64_t last)
{
    if (!in_extent(lv, i)) {
        return fail(cx, STC_ERR_SHAPE, "coordinate %lld of a result is outside %lld:%lld",
                    (long long)i, (long long)lv->base, (long long)(lv->base + lv->extent));
    }
    return fail(cx, STC_ERR_CORRUPT, "coordinate %lld of a result was appended after %lld",
                (long long)i, (long long)last);
}

void no_view(const level *lv, int64_t parent, int64_t parent_coord, fiber_view *v)
{
    (void)parent;
    (void)parent_coord;
    *v = (fiber_view){.shape = VIEW_NONE, .lo = lv->base, .hi = lv->base + lv->extent};
}

stc_status places_edges(ctx *cx, level *lv, int64_t parent)
{
    (void)cx;
    (void)lv;
    (void)parent;
    return STC_OK;
}

stc_status refuse_edges(ctx *cx, int64_t parent, int64_t closed)
{
    return fail(cx, STC_ERR_CORRUPT, "fiber %lld of a result was closed after fiber %lld",
                (long long)parent, (long long)closed - 1);
}

stc_status level_size(ctx *cx, int64_t parents, int64_t extent, int64_t *size)
{
    if (size_mul(parents, extent, size)) return STC_OK;
    return fail(cx, STC_ERR_OVERFLOW,
                "%lld x %lld positions of a dense level are more than 64 bits can count",
                (long long)parents, (long long)extent);
}

/* ---- a position for each coordinate of each parent ---------------------------------- */

void extent_seek(cursor *c, int64_t i)
{
    if (c->hi <= i) cursor_used_up(c);
}

int64_t extent_size(const level *lv, int64_t parents)
{
    int64_t size;
    return parents != NONE && size_mul(parents, lv->extent, &size) ? size : NONE;
}

stc_status extent_ready(ctx *cx, level *lv, int64_t parents)
{
    return level_size(cx, parents, lv->extent, &lv->size);
}

stc_status extent_pack(ctx *cx, level *lv, pack_in *in)
{
    if (extent_ready(cx, lv, in->parents)) return cx->diag.status;
    int64_t e = 0;
    for (int64_t end; (end = work_block(cx, e, in->count)) > e;)
        for (; e < end; e++)
            in->pos[e] = in->pos[e] * lv->extent + (in->coord[e] - lv->base);
    return e < in->count ? cx->diag.status : STC_OK;
}

int64_t chain_size(const level *lv, int64_t parents)
{
    (void)lv;
    return parents;
}
