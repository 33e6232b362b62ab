/* index_array.c: arrays of coordinates and positions.
 *
 * They start with 32-bit elements and are widened to 64 bits once a value
 * doesn't fit; what the host lends is never changed.
 */
#include "level.h"
#include <string.h>

static size_t bytes(const index_array *a)
{
    return (size_t)a->cap * (size_t)a->stride;
}

void index_init(index_array *a, int64_t largest, int force_width)
{
    const int width = force_width ? force_width : largest > INT32_MAX ? 8 : 4;
    *a = (index_array){.width = width, .stride = width, .owned = true};
}

void index_free(ctx *cx, index_array *a)
{
    if (a->owned) mem_free(cx, a->data, bytes(a));
    *a = (index_array){.width = 4, .stride = 4, .owned = true};
}

void index_empty(ctx *cx, index_array *a, int64_t largest, int force_width)
{
    index_array want;
    index_init(&want, largest, force_width);
    if (!a->owned || a->width != want.width || a->stride != want.stride) {
        index_free(cx, a);
        *a = want;
    }
    a->len = 0;
}

stc_status index_ready(ctx *cx, index_array *a, int64_t largest, int force_width,
                       int64_t len)
{
    index_empty(cx, a, largest, force_width);
    return index_resize(cx, a, len);
}

/* What stands in a pattern's array, in one of its own. */
static stc_status copy_shared(ctx *cx, index_array *a, int64_t cap)
{
    index_array own;
    index_init(&own, 0, a->width);
    if (mem_grow(cx, &own.data, &own.cap, cap, (size_t)own.stride)) return cx->diag.status;
    for (own.len = 0; own.len < a->len; own.len++)
        index_set(&own, own.len, index_get(a, own.len));
    *a = own;
    return STC_OK;
}

stc_status index_reserve(ctx *cx, index_array *a, int64_t cap)
{
    if (a->shared && cap > a->len) return copy_shared(cx, a, cap);
    return mem_grow(cx, &a->data, &a->cap, cap, (size_t)a->stride);
}

stc_status index_resize(ctx *cx, index_array *a, int64_t len)
{
    const stc_status status = index_reserve(cx, a, len);
    if (!status) a->len = len;
    return status;
}

void index_trim(ctx *cx, index_array *a)
{
    const int64_t cap = a->len ? a->len : 1;
    if (!a->owned || a->cap < 64 || a->cap / 2 < cap) return;
    const diag kept = cx->diag;
    void *less = mem_resize(cx, a->data, bytes(a), (size_t)cap * (size_t)a->stride);
    cx->diag = kept; /* not to shrink is no failure */
    if (!less) return;
    a->data = less;
    a->cap = cap;
}

stc_status index_widen(ctx *cx, index_array *a)
{
    if (a->width == 8) return STC_OK;
    index_array wide;
    index_init(&wide, 0, 8);
    if (index_resize(cx, &wide, a->cap)) return cx->diag.status;
    int64_t *to = wide.data;
    for (int64_t i = 0; i < a->len; i++)
        to[i] = index_get(a, i);
    wide.len = a->len;
    index_free(cx, a);
    *a = wide;
    return STC_OK;
}

void index_set(index_array *a, int64_t i, int64_t v)
{
    char *p = (char *)a->data + i * a->stride;
    if (a->width == 4) {
        *(int32_t *)p = (int32_t)v;
    } else {
        *(int64_t *)p = v;
    }
}

void index_fill(index_array *a, int64_t from, int64_t to, int64_t v)
{
    if (a->width == 4 && a->stride == 4) {
        for (int32_t *p = a->data; from < to; from++)
            p[from] = (int32_t)v;
    } else {
        for (; from < to; from++)
            index_set(a, from, v);
    }
}

stc_status index_cover(ctx *cx, index_array *a, int64_t len, int64_t v)
{
    enum { STEP = 64 };
    int64_t at = a->len;
    if (len <= at) return STC_OK;
    if (index_resize(cx, a, len)) return cx->diag.status;
    for (int64_t end; at < len; at = end) {
        end = len - at < WORK_BLOCK ? len : at + WORK_BLOCK;
        index_fill(a, at, end, v);
        if (work_done(cx, (uint64_t)(end - at) * (uint64_t)a->stride / STEP))
            return cx->diag.status;
    }
    return STC_OK;
}

stc_status index_push(ctx *cx, index_array *a, int64_t v)
{
    if (a->width == 4 && (v > INT32_MAX || v < INT32_MIN) && index_widen(cx, a)) {
        return cx->diag.status;
    }
    if (a->len == a->cap && index_reserve(cx, a, a->len + 1)) return cx->diag.status;
    index_set(a, a->len++, v);
    return STC_OK;
}
