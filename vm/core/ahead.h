/* ahead.h: arrays that are read in order, asked for before they are needed.
 *
 * The processor sees by itself where a loop goes, but only to the end of each page:
 * there it waits for memory anew, longer than reading the page takes. What is read
 * AHEAD_BYTES further on is asked for, so that it is on its way by then. Arrays of less
 * than FROM_MEMORY bytes are taken to be in caches, from where that gains nothing.
 */
#ifndef STC_VM_AHEAD_H
#define STC_VM_AHEAD_H

#include <stddef.h>
#include <stdint.h>

enum { CACHE_LINE = 64, AHEAD_BYTES = 4 << 10, FROM_MEMORY = 16 << 20 };

/* The empty statement keeps gcc from taking this for a function without effects, whose
 * calls it leaves out. */
static inline void fetch(const void *p, int64_t bytes)
{
    for (int64_t k = 0; k < bytes; k += CACHE_LINE)
        __builtin_prefetch((const char *)p + k);
    __asm__ volatile("");
}

/* Elements [from, from + n) of a large array are about to be read, then those behind. */
static inline void fetch_ahead(const void *array, int64_t from, int64_t n, int64_t size)
{
    fetch((const char *)array + from * size + AHEAD_BYTES, n * size);
}

/* The same of an array whose size isn't known: it is large where `from` is far inside. */
static inline void fetch_far(const void *array, int64_t from, int64_t n, int64_t size)
{
    if (from * size >= FROM_MEMORY) fetch_ahead(array, from, n, size);
}

#endif
