/* affine_merge.c: the entries that lead into a few neighbouring rows of a gathered nest
 * (affine_gather.c), merged from all lines side by side into the order of their pixels.
 *
 * Takes windows with tables, and gives where the rows of the factor are and the values of
 * what lies in them, cell by cell: so each entry is copied once for all rows that its pixel
 * leads to, and what leads to one row is one stretch. (A counting sort by pixel, whose
 * counts are in the tables.) How many entries a pixel has can't be foreseen, and to
 * mispredict it costs as much as three or four rows of the factor: where there are few,
 * they go to their cells one by one, else cells are filled in whole chunks.
 */
#include "affine_gather.h"
#include "../super/super.h"
#include <string.h>

enum { CHUNK = GATHER_CHUNK };
enum { FEW = 4 }; /* entries a cell */

typedef uint32_t places __attribute__((vector_size(4 * CHUNK), aligned(4), may_alias));
typedef char bytes __attribute__((vector_size(32), aligned(1), may_alias));

/* Entries and pairs, whose values have `size` bytes. */
typedef struct sides {
    const uint32_t *offset;
    const char *weight;
    uint32_t *at;
    char *value;
} sides;

INLINE sides sides_of(gather *g)
{
    return (sides){g->offset, g->weight, g->block.at, g->block.value};
}

/* Entries p … p+count-1 to the n-th pair on; what is beyond them is unset. */
INLINE void copy(sides x, int64_t p, int64_t count, uint32_t at, int64_t n, int64_t size)
{
    const char *v = x.weight + p * size;
    char *w = x.value + n * size;
    const uint32_t *offset = x.offset + p;
    uint32_t *to = x.at + n;
    int64_t k = 0;
    do {
        *(places *)(to + k) = *(const places *)(offset + k) + at;
        for (int64_t j = 0; j < CHUNK * size; j += (int64_t)sizeof(bytes))
            *(bytes *)(w + k * size + j) = *(const bytes *)(v + k * size + j);
        k += CHUNK;
        __asm__("" : "+r"(k)); /* or the compiler counts the rounds first */
    } while (k < count);
}

/* Where the pairs of cells begin, the first of which is number z of each window. */
INLINE void count(gather_block *b, const gather_input *in, int inputs, int64_t z, int cells)
{
    int32_t *restrict begin = b->begin;
    memset(begin, 0, (size_t)(cells + 1) * sizeof *begin);
    for (int w = 0; w < inputs; w++) {
        const int32_t *restrict from = in[w].begin + z, first = from[0];
        for (int c = 0; c <= cells; c++)
            begin[c] += from[c] - first;
    }
}

/* All cells in order, of all windows: those that come later write over what is beyond. */
INLINE void fill(gather *g, const gather_input *in, int inputs, int64_t z, int cells,
                 int64_t size)
{
    const sides x = sides_of(g);
    int64_t to = 0;
    for (int64_t c = z; c < z + cells; c++)
        for (const gather_input *w = in; w < in + inputs; w++) {
            const int64_t p = w->begin[c], n = w->begin[c + 1] - p;
            copy(x, p, n, (uint32_t)w->at, to, size);
            to += n;
        }
}

/* Each entry to where its cell's next one goes. */
INLINE void spread(gather *g, const gather_input *in, int inputs, int64_t z, int cells,
                   int64_t size)
{
    int32_t *next = g->block.next;
    const sides x = sides_of(g);
    const uint32_t *pixel = g->pixel;
    memcpy(next, g->block.begin, (size_t)cells * sizeof *next);
    for (const gather_input *w = in; w < in + inputs; w++) {
        const uint32_t first = (uint32_t)(w->from + z), at = (uint32_t)w->at;
        const int32_t end = w->begin[z + cells];
        for (int64_t p = w->begin[z]; p < end; p++) {
            const int64_t n = next[pixel[p] - first]++;
            x.at[n] = x.offset[p] + at;
            memcpy(x.value + n * size, x.weight + p * size, (size_t)size);
        }
    }
}

/* Up to `most` rows: how many fit. */
INLINE int merge(gather *g, const gather_input *in, int inputs, int64_t z, int most,
                 int64_t size)
{
    const int32_t *begin = g->block.begin;
    int n = most, cells = (int)(g->step * (n - 1) + g->span);
    count(&g->block, in, inputs, z, cells);
    while (n > 0 && begin[g->step * (n - 1) + g->span] > GATHER_PAIRS)
        n--;
    if (!n) return 0;
    cells = (int)(g->step * (n - 1) + g->span);
    if (begin[cells] > FEW * cells)
        fill(g, in, inputs, z, cells, size);
    else
        spread(g, in, inputs, z, cells, size);
    return n;
}

/* All of n stretches, which fit, as one cell. */
INLINE void join(gather *g, const gather_stretch *x, int n, int64_t size)
{
    const sides both = sides_of(g);
    int64_t to = 0;
    for (const gather_stretch *s = x; s < x + n; to += s->count, s++)
        copy(both, s->first, s->count, (uint32_t)s->at, to, size);
    g->block.begin[0] = 0;
    g->block.begin[1] = (int32_t)to;
}

/* 64 bytes that are 0 or 1 as bits. */
INLINE uint64_t ones(const uint8_t *x)
{
    uint64_t bits = 0;
    for (int k = 0; k < 64; k += 8) {
        uint64_t eight; /* they meet in the highest byte */
        memcpy(&eight, x + k, sizeof eight);
        bits |= (eight * UINT64_C(0x0102040810204080) >> 56) << k;
    }
    return bits;
}

/* The block's rows: how many entries lead to each, and to which any does; how many to all
 * of them. */
INLINE int64_t list(const gather *g, gather_rows *r, int32_t *restrict count,
                    int32_t *restrict x)
{
    const int32_t *begin = g->block.begin, *end = begin + g->span;
    uint8_t any[GATHER_ROWS + 63];
    const int n = r->indices;
    int32_t all = 0;
    for (int k = 0; k < n; k++)
        count[k] = end[k * g->step] - begin[k * g->step];
    for (int k = 0; k < n; k++) {
        all += count[k];
        any[k] = count[k] > 0;
    }
    memset(any + n, 0, 63);
    r->n = 0;
    for (int k = 0; k < n; k += 64)
        for (uint64_t bits = ones(any + k); bits; bits &= bits - 1)
            x[r->n++] = k + __builtin_ctzll(bits);
    return all;
}

/* Variants by target, and by the size of values. */
#define FOR(NAME, ATTRIBUTE)                                                               \
    ATTRIBUTE static int64_t list_##NAME(const gather *g, gather_rows *r, int32_t *count,  \
                                         int32_t *x)                                       \
    {                                                                                      \
        return list(g, r, count, x);                                                       \
    }                                                                                      \
    FOR_SIZE(NAME, ATTRIBUTE, 4)                                                           \
    FOR_SIZE(NAME, ATTRIBUTE, 8)
#define FOR_SIZE(NAME, ATTRIBUTE, SIZE)                                                    \
    ATTRIBUTE static int merge_##NAME##_##SIZE(gather *g, const gather_input *in,          \
                                               int inputs, int64_t z, int most)            \
    {                                                                                      \
        return merge(g, in, inputs, z, most, SIZE);                                        \
    }                                                                                      \
    ATTRIBUTE static void join_##NAME##_##SIZE(gather *g, const gather_stretch *x, int n)  \
    {                                                                                      \
        join(g, x, n, SIZE);                                                               \
    }
FOR(wide, WIDE)
FOR(plain, )

void gather_mergers(const machine *mc, gather *g, size_t size)
{
    const bool wide = super_wide(mc);
    g->list = wide ? list_wide : list_plain;
    if (size == 4) {
        g->merge = wide ? merge_wide_4 : merge_plain_4;
        g->join = wide ? join_wide_4 : join_plain_4;
    } else {
        g->merge = wide ? merge_wide_8 : merge_plain_8;
        g->join = wide ? join_wide_8 : join_plain_8;
    }
}
