/* sort.h: records with a key, sorted by counting passes (sort.c).
 */
#ifndef STC_FORMATS_SORT_H
#define STC_FORMATS_SORT_H

#include "internal.h"

typedef struct record {
    uint64_t key, load; /* load: the value's bits, or the entry's number */
} record;

/* How many bits coordinates below an extent take. */
static inline int bits_of(int64_t extent)
{
    return extent <= 1 ? 0 : 64 - __builtin_clzll((uint64_t)extent - 1);
}

/* Sorts n of them by bits [low, high) of their keys, by way of as many others; the result
 * is in *a (they may swap). Stable; those below `low` are in order already. */
stc_status sort_records(ctx *cx, record **a, record **b, int64_t n, int low, int high);

#endif
