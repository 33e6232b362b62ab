/* coords.h: entries of a level's index arrays, four or eight bytes each, and the
 * searches among coordinates.
 */
#ifndef STC_VM_COORDS_H
#define STC_VM_COORDS_H

#include <stdint.h>

/* Entry k of an array that is dense. */
static inline int64_t index_at(const void *array, int width, int64_t k)
{
    return width == 4 ? ((const int32_t *)array)[k] : ((const int64_t *)array)[k];
}

/* The coordinate at position p, `stride` bytes after the one before it. */
static inline int64_t coord_at(const void *crd, int width, int64_t stride, int64_t p)
{
    const char *at = (const char *)crd + p * stride;
    return width == 4 ? *(const int32_t *)at : *(const int64_t *)at;
}

/* The first of positions [p, end), whose coordinates ascend, with one of at least x. */
static inline int64_t coord_search(const void *crd, int width, int64_t stride, int64_t p,
                                   int64_t end, int64_t x)
{
    while (p < end) {
        const int64_t mid = p + (end - p) / 2;
        if (coord_at(crd, width, stride, mid) < x) {
            p = mid + 1;
        } else {
            end = mid;
        }
    }
    return p;
}

/* How many of n coordinates side by side, which ascend, are below x. Without a branch on
 * them; `width` is known where this is inlined. */
static inline __attribute__((always_inline)) int64_t
coords_below(const void *crd, int width, int64_t n, int64_t x)
{
    int64_t p = 0;
    while (n > 1) {
        const int64_t half = n / 2;
        p += index_at(crd, width, p + half - 1) < x ? half : 0;
        n -= half;
    }
    return p + (n > 0 && index_at(crd, width, p) < x);
}

#endif
