/* super_ranks.h: where the coordinates of two fibers come in their union. */
#ifndef STC_VM_SUPER_RANKS_H
#define STC_VM_SUPER_RANKS_H

#include <stdint.h>

/* Coordinates of each fiber that are looked at together. */
enum { RANK_BLOCK = 16 };

/* The first na of fiber a and nb of fiber b are the first n of the union: a's j-th
 * comes to place at_a[j], b's to at_b[j]. Below b's j-th are below[j] of a's; bit j
 * of `same`: a's next is equal to it, so that both have one place. */
typedef struct ranks {
    int na, nb, n;
    uint32_t same;
    int32_t at_a[RANK_BLOCK], at_b[RANK_BLOCK], below[RANK_BLOCK];
} ranks;

/* What the ascending, unique coordinates a[0 … left_a) and b[0 … left_b) begin with,
 * neither empty. Needs HAS_WIDE. room_a, room_b: how far memory may be read,
 * at least as far. */
void ranks_find(const int32_t *a, int64_t left_a, int64_t room_a, const int32_t *b,
                int64_t left_b, int64_t room_b, ranks *out);

#endif
