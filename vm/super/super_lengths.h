/* super_lengths.h: lanes whose fibers have one length, one after the other.
 *
 * A loop over a short fiber ends where nothing foretells it if lengths differ from row to
 * row, as in most graphs: guessing wrong takes as long as ten elements do. Lanes are put in
 * the order of their lengths first, a batch of them at a time, so that a loop ends where
 * the one before it did. What a lane computes, and in which order, is as it was.
 */
#ifndef STC_VM_SUPER_LENGTHS_H
#define STC_VM_SUPER_LENGTHS_H

#include "super.h"

/* Lanes of a batch, whose elements stay in the nearest cache; the longest lengths count as
 * one. So many lanes are asked what lengths are like. Where a lane has more elements in the
 * mean, or there are more in all, they are read faster in their order. */
enum {
    LENGTHS_BATCH = 128,
    LENGTHS = 32,
    LENGTHS_ASKED = 32,
    LENGTHS_MEAN = 6,
    LENGTHS_NEAR = 1 << 18
};

#define BY_LENGTH(W)                                                                       \
    /* Whether that pays for the fibers between n + 1 bounds: one in four differs from     \
     * that before it, and three of four elements are in short ones. */                    \
    static inline bool lengths_differ_##W(const index_##W *bounds, int n)                  \
    {                                                                                      \
        const int asked = n < LENGTHS_ASKED ? n : LENGTHS_ASKED;                           \
        int differ = 0, brief = 0;                                                         \
        index_##W before = bounds[1] - bounds[0];                                          \
        for (int k = 0; k < asked; k++) {                                                  \
            const index_##W m = bounds[k + 1] - bounds[k];                                 \
            differ += m != before;                                                         \
            brief += m < LENGTHS ? (int)m : 0;                                             \
            before = m;                                                                    \
        }                                                                                  \
        return differ > LENGTHS_ASKED / 4 &&                                               \
               (bounds[asked] - bounds[0]) / 4 * 3 <= (index_##W)brief;                    \
    }                                                                                      \
                                                                                           \
    /* The lanes by length. */                                                             \
    static inline void lengths_sort_##W(const index_##W *bounds, int n, uint16_t *order)   \
    {                                                                                      \
        int at[LENGTHS] = {0};                                                             \
        uint8_t length[STRIP + LENGTHS_BATCH];                                             \
        for (int k = 0; k < n; k++) {                                                      \
            const index_##W m = bounds[k + 1] - bounds[k];                                 \
            length[k] = (uint8_t)(m < LENGTHS ? m : LENGTHS - 1);                          \
            at[length[k]]++;                                                               \
        }                                                                                  \
        for (int m = 0, before = 0; m < LENGTHS; m++) {                                    \
            const int lanes = at[m];                                                       \
            at[m] = before;                                                                \
            before += lanes;                                                               \
        }                                                                                  \
        for (int k = 0; k < n; k++)                                                        \
            order[at[length[k]]++] = (uint16_t)k;                                          \
    }
BY_LENGTH(32)
BY_LENGTH(64)

#endif
