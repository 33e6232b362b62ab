/* super_ranks.c: where the coordinates of two fibers come in their union, without
 * a branch on any of them.
 *
 * A merge of fibers without a pattern mispredicts every other step, and steps
 * without branches wait for each other. Here each coordinate's place is found by
 * itself: its own number and how many of the other fiber are below it, which
 * vectors count sixteen at a time (Inoue and Taura, "SIMD- and Cache-Friendly
 * Algorithm for Sorting", VLDB 2015, section 3, compare blocks likewise). Of two
 * blocks, what is above the lesser of their ends waits for the next.
 */
#include "super_ranks.h"
#include "../../formats/base/wide.h"
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)

enum { HALF = RANK_BLOCK / 2 };
typedef int32_t ints __attribute__((vector_size(HALF * sizeof(int32_t))));
typedef float floats __attribute__((vector_size(HALF * sizeof(float))));

/* A bit for each of a block's lanes in which x holds. */
#define LANES(x0, x1)                                                                      \
    ((uint32_t)__builtin_ia32_movmskps256((floats)(x0)) |                                  \
     (uint32_t)__builtin_ia32_movmskps256((floats)(x1)) << HALF)

/* The next block of a fiber; behind its end, what is above every coordinate. */
WIDE static void block_read(const int32_t *x, int64_t left, int64_t room, ints to[2])
{
    if (room >= RANK_BLOCK) {
        const ints number = {0, 1, 2, 3, 4, 5, 6, 7};
        memcpy(to, x, RANK_BLOCK * sizeof *x);
        if (left >= RANK_BLOCK) return;
        const ints in0 = number < (int32_t)left, in1 = number + HALF < (int32_t)left;
        to[0] = (to[0] & in0) | (~in0 & INT32_MAX);
        to[1] = (to[1] & in1) | (~in1 & INT32_MAX);
        return;
    }
    int32_t copy[RANK_BLOCK];
    for (int k = 0; k < RANK_BLOCK; k++)
        copy[k] = k < left ? x[k] : INT32_MAX;
    memcpy(to, copy, sizeof copy);
}

/* How many of a block are at most x; what is behind a fiber's end isn't. */
WIDE static int block_upto(const ints block[2], int64_t left, int32_t x)
{
    const int n = RANK_BLOCK - __builtin_popcount(LANES(block[0] > x, block[1] > x));
    return n < left ? n : (int)left;
}

WIDE void ranks_find(const int32_t *a, int64_t left_a, int64_t room_a, const int32_t *b,
                     int64_t left_b, int64_t room_b, ranks *out)
{
    ints y[2];
    int na = (int)left_a, nb = (int)left_b;
    block_read(b, left_b, room_b, y);
    if (left_a > RANK_BLOCK || left_b > RANK_BLOCK) {
        const int32_t end_a = left_a > RANK_BLOCK ? a[RANK_BLOCK - 1] : INT32_MAX;
        const int32_t end_b = left_b > RANK_BLOCK ? b[RANK_BLOCK - 1] : INT32_MAX;
        const int32_t end = end_a < end_b ? end_a : end_b;
        ints x[2];
        block_read(a, left_a, room_a, x);
        na = block_upto(x, left_a, end);
        nb = block_upto(y, left_b, end);
    }
    ints below0 = {0}, below1 = {0};
    const uint32_t there = (UINT32_C(1) << nb) - 1;
    uint32_t same = 0;
    for (int j = 0; j < na; j++) {
        const uint32_t less = LANES(y[0] < a[j], y[1] < a[j]);
        out->at_a[j] = j + __builtin_popcount(less) - __builtin_popcount(same);
        same |= LANES(y[0] == a[j], y[1] == a[j]) & there;
        below0 -= y[0] > a[j];
        below1 -= y[1] > a[j];
    }
    memcpy(out->below, &below0, sizeof below0);
    memcpy(out->below + HALF, &below1, sizeof below1);
    for (int j = 0; j < nb; j++)
        out->at_b[j] =
            j + out->below[j] - __builtin_popcount(same & ((UINT32_C(1) << j) - 1));
    out->same = same;
    out->na = na;
    out->nb = nb;
    out->n = na + nb - __builtin_popcount(same);
}

#else

void ranks_find(const int32_t *a, int64_t left_a, int64_t room_a, const int32_t *b,
                int64_t left_b, int64_t room_b, ranks *out)
{
    (void)a, (void)left_a, (void)room_a, (void)b, (void)left_b, (void)room_b;
    *out = (ranks){.n = 0};
}

#endif
