/* interval_ranks.c: which runs coordinates are in, many at once.
 *
 * A row's coordinates each have a rank among its runs: how many of them begin at it or
 * before. Searches don't wait for each other, as steps of a merge do. In a row of few
 * runs all of their beginnings are compared with a coordinate at once, as in
 * super_ranks.c; how many fit is chosen once a strip, so that nothing branches on a
 * row's number of runs. In a row of more every sixteenth is, and then the sixteen behind
 * the last of these; rows of still more are halved. What a token of LZ77 stands for is
 * found from the token.
 */
#include "interval.h"
#include <string.h>

/* A row: its coordinates at[0 … n), which go to[0 … n); and its runs, behind the first
 * one, which begins before all of them: `more`, of which the first is at crd[0]. */
typedef struct rank_row {
    const int32_t *at, *crd;
    int64_t *to, begin, more;
    int n;
} rank_row;

static inline rank_row row_of(const ivl_loop *v, const ivl_walk *w, int64_t *pos, int f)
{
    const int64_t up = walk_parent(w, v->fiber[f]), begin = table_bound(&w->t, up);
    return (rank_row){.at = (const int32_t *)v->led->t.crd + v->of->pos[f],
                      .crd = (const int32_t *)w->t.crd + begin + 1,
                      .to = pos + v->start[f],
                      .begin = begin,
                      .more = table_bound(&w->t, up + 1) - begin - 1,
                      .n = v->start[f + 1] - v->start[f]};
}

static inline void search_row(rank_row r)
{
    for (int k = 0; k < r.n; k++) {
        int64_t x = 0;
        for (int64_t left = r.more + 1; left > 1; left -= left / 2)
            x += r.crd[x + left / 2 - 1] <= r.at[k] ? left / 2 : 0;
        r.to[k] = r.begin + x;
    }
}

static void search_rows(const ivl_loop *v, const ivl_walk *w, int64_t *pos)
{
    for (int f = 0; f < v->nfiber; f++)
        search_row(row_of(v, w, pos, f));
}

#if defined(__x86_64__) && defined(__GNUC__)

#define WIDE __attribute__((target("avx2,popcnt")))
#define HAS_WIDE (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt"))
#define INLINE WIDE static inline __attribute__((always_inline))
enum { BLOCK = 8, PAIR = 2 * BLOCK, BLOCKS = 8 };
typedef int32_t ints __attribute__((vector_size(BLOCK * sizeof(int32_t))));
typedef ints loose __attribute__((aligned(4), may_alias)); /* wherever it is */
typedef float floats __attribute__((vector_size(sizeof(ints))));
typedef int16_t shorts __attribute__((vector_size(sizeof(ints))));
typedef char bytes __attribute__((vector_size(sizeof(ints))));

/* Lanes of truth values: how many are set in 1, 2, 4 or 8 blocks. */
INLINE shorts narrow(ints a, ints b)
{
    return __builtin_ia32_packssdw256(a, b);
}
INLINE int count_bits(bytes x)
{
    return __builtin_popcount((uint32_t)__builtin_ia32_pmovmskb256(x));
}
INLINE int count_set(const ints *x, const int blocks)
{
    if (blocks == 1) return count_bits((bytes)x[0]) / 4;
    if (blocks == 2) return count_bits((bytes)narrow(x[0], x[1])) / 2;
    int n = 0;
    for (int b = 0; b < blocks; b += 4)
        n += count_bits((bytes)__builtin_ia32_packsswb256(narrow(x[b], x[b + 1]),
                                                          narrow(x[b + 2], x[b + 3])));
    return n;
}

/* Rows of up to `blocks` blocks of runs behind the first one. Behind a row's end stands
 * what is above all coordinates. */
INLINE void compare_rows(const ivl_loop *v, const ivl_walk *w, int64_t *pos,
                         const int blocks)
{
    const ints number = {0, 1, 2, 3, 4, 5, 6, 7};
    for (int f = 0; f < v->nfiber; f++) {
        const rank_row r = row_of(v, w, pos, f);
        const int64_t all = r.begin + blocks * BLOCK;
        ints x[BLOCKS];
        int32_t tail[BLOCKS * BLOCK];
        const int32_t *from = r.crd;
        if (w->runs <= all) from = memcpy(tail, from, (size_t)r.more * sizeof *from);
        for (int b = 0; b < blocks; b++) {
            const ints in = number + b * BLOCK < (int32_t)r.more;
            x[b] = (((const loose *)from)[b] & in) | (~in & INT32_MAX);
        }
        for (int k = 0; k < r.n; k++) {
            ints above[BLOCKS];
            for (int b = 0; b < blocks; b++)
                above[b] = x[b] > r.at[k];
            r.to[k] = all - count_set(above, blocks);
        }
    }
}
WIDE static void compare_1(const ivl_loop *v, const ivl_walk *w, int64_t *pos)
{
    compare_rows(v, w, pos, 1);
}
WIDE static void compare_2(const ivl_loop *v, const ivl_walk *w, int64_t *pos)
{
    compare_rows(v, w, pos, 2);
}
WIDE static void compare_4(const ivl_loop *v, const ivl_walk *w, int64_t *pos)
{
    compare_rows(v, w, pos, 4);
}
WIDE static void compare_8(const ivl_loop *v, const ivl_walk *w, int64_t *pos)
{
    compare_rows(v, w, pos, 8);
}

/* Rows of up to PAIR pairs of blocks, and beyond. */
WIDE static void compare_far(const ivl_loop *v, const ivl_walk *w, int64_t *pos)
{
    for (int f = 0; f < v->nfiber; f++) {
        const rank_row r = row_of(v, w, pos, f);
        int32_t last[PAIR]; /* of each pair of blocks */
        ints above[2];
        if (r.more > PAIR * PAIR || w->runs - r.begin <= r.more + PAIR) {
            search_row(r);
            continue;
        }
        for (int j = 0; j < PAIR; j++)
            last[j] = PAIR * (j + 1) <= r.more ? r.crd[PAIR * (j + 1) - 1] : INT32_MAX;
        const ints x0 = ((const loose *)last)[0], x1 = ((const loose *)last)[1];
        for (int k = 0; k < r.n; k++) {
            above[0] = x0 > r.at[k];
            above[1] = x1 > r.at[k];
            const int64_t from = PAIR * (PAIR - count_set(above, 2));
            const loose *y = (const loose *)(r.crd + from);
            above[0] = y[0] > r.at[k];
            above[1] = y[1] > r.at[k];
            /* Behind a row's end, the next one's first begins before them all. */
            const uint32_t bits =
                (uint32_t)__builtin_ia32_movmskps256((floats)above[0]) |
                (uint32_t)__builtin_ia32_movmskps256((floats)above[1]) << BLOCK |
                UINT32_C(1) << (r.more - from < PAIR ? r.more - from : PAIR);
            r.to[k] = r.begin + from + __builtin_ctz(bits);
        }
    }
}

static void rank_rows(const ivl_loop *v, const ivl_walk *w, int64_t *pos)
{
    int64_t most = 0;
    for (int f = 0; f < v->nfiber; f++) {
        const int64_t more = row_of(v, w, pos, f).more;
        most = more > most ? more : most;
    }
    if (!HAS_WIDE) return search_rows(v, w, pos);
    if (most <= BLOCK) return compare_1(v, w, pos);
    if (most <= 2 * BLOCK) return compare_2(v, w, pos);
    if (most <= 4 * BLOCK) return compare_4(v, w, pos);
    if (most <= 8 * BLOCK) return compare_8(v, w, pos);
    compare_far(v, w, pos);
}

#else

static void rank_rows(const ivl_loop *v, const ivl_walk *w, int64_t *pos)
{
    search_rows(v, w, pos);
}

#endif

/* From tokens to what they stand for. */
static void follow_tokens(const ivl_loop *v, const ivl_walk *w, int64_t *pos)
{
    const fiber_table *t = &w->t;
    for (int f = 0; f < v->nfiber; f++) {
        const rank_row r = row_of(v, w, pos, f);
        for (int k = 0; k < r.n; k++) {
            const int64_t p = r.to[k], off = r.at[k] - ((const int32_t *)t->crd)[p];
            const int64_t size = table_entry(t->aux, t->aux_width, 2 * p + 1);
            r.to[k] = table_entry(t->aux, t->aux_width, 2 * p) +
                      (size > 0 && off >= size ? off % size : off);
        }
    }
}

void ranks_of_rows(const ivl_loop *v, const ivl_walk *w, int64_t *pos)
{
    rank_rows(v, w, pos);
    if (w->t.shape == VIEW_TOKENS) follow_tokens(v, w, pos);
}
