/* interval_ranks.c: which runs coordinates are in, many at once.
 *
 * A row's coordinates each have a rank among its runs: how many of them begin at it or
 * before. Searches don't wait for each other, as steps of a merge do. Each of a row's
 * runs, if they are few, is compared with sixteen coordinates at once, so that nothing
 * branches on how many coordinates there are. In a row of more, every sixteenth run is
 * compared with a coordinate, and then the sixteen behind the last of these (as in
 * super_ranks.c); rows of still more are halved. What a token of LZ77 stands for is found
 * from the token.
 *
 * What didn't help: the elements of runs instead of their positions, taken by ranks as they
 * are found (gathered 1.15 times the time of the whole, one by one 1.08), four runs at a
 * time.
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

/* The rows of a strip: in each of them, where runs begin, and how many are behind that;
 * `most` in any. */
typedef struct rank_rows {
    const ivl_loop *v;
    const ivl_walk *w;
    int64_t *pos, most;
    int64_t begin[STRIP];
    int32_t more[STRIP];
} rank_rows;

static void find_rows(rank_rows *rows)
{
    const ivl_walk *w = rows->w;
    const fiber_table t = w->t;
    int64_t most = 0;
    for (int f = 0; f < rows->v->nfiber; f++) {
        const int64_t up = walk_parent(w, rows->v->fiber[f]), begin = fiber_bound(&t, up);
        const int64_t more = fiber_bound(&t, up + 1) - begin - 1;
        rows->begin[f] = begin;
        rows->more[f] = (int32_t)more;
        most = more > most ? more : most;
    }
    rows->most = most;
}

static inline rank_row row_of(const rank_rows *rows, int f)
{
    const ivl_loop *v = rows->v;
    return (rank_row){.at = (const int32_t *)v->led->t.crd + v->of->pos[f],
                      .crd = (const int32_t *)rows->w->t.crd + rows->begin[f] + 1,
                      .to = rows->pos + v->start[f],
                      .begin = rows->begin[f],
                      .more = rows->more[f],
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

static void search_rows(const rank_rows *rows)
{
    for (int f = 0; f < rows->v->nfiber; f++)
        search_row(row_of(rows, f));
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define INLINE WIDE static inline __attribute__((always_inline))
enum { BLOCK = 8, PAIR = 2 * BLOCK, BLOCKS = 8 };
typedef int32_t ints __attribute__((vector_size(BLOCK * sizeof(int32_t))));
typedef ints loose __attribute__((aligned(4), may_alias)); /* wherever it is */
typedef float floats __attribute__((vector_size(sizeof(ints))));

/* Coordinates of 16 bits, sixteen in a register. The order in which they are packed is of
 * no matter to comparisons; ranks are put where they belong. */
INLINE __m256i pack_pair(const int32_t *at)
{
    const __m256i a = _mm256_loadu_si256((const __m256i *)at);
    return _mm256_packs_epi32(a, _mm256_loadu_si256((const __m256i *)(at + BLOCK)));
}

INLINE void put_four(int64_t *to, __m128i ranks, int64_t begin)
{
    const __m256i from = _mm256_set1_epi64x(begin);
    _mm256_storeu_si256((__m256i *)to,
                        _mm256_add_epi64(_mm256_cvtepi16_epi64(ranks), from));
}

INLINE void put_pair(int64_t *to, __m256i ranks, int64_t begin)
{
    const __m128i a = _mm256_castsi256_si128(ranks), b = _mm256_extracti128_si256(ranks, 1);
    put_four(to, a, begin);
    put_four(to + 4, b, begin);
    put_four(to + 8, _mm_srli_si128(a, 8), begin);
    put_four(to + 12, _mm_srli_si128(b, 8), begin);
}

/* A row's runs behind the first, in pairs of blocks; behind them, what is above all. */
INLINE void pack_runs(const rank_row *r, bool last, int16_t *x)
{
    const __m256i number = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i top = _mm256_set1_epi32(INT32_MAX);
    const int32_t *from = r->crd;
    int32_t tail[BLOCKS * BLOCK];
    if (last) from = memcpy(tail, from, (size_t)r->more * sizeof *from);
    for (int k = 0; k < r->more; k += PAIR) {
        const __m256i left = _mm256_set1_epi32((int32_t)r->more - k);
        const __m256i a = _mm256_loadu_si256((const __m256i *)(from + k));
        const __m256i b = _mm256_loadu_si256((const __m256i *)(from + k + BLOCK));
        const __m256i in = _mm256_cmpgt_epi32(left, number);
        const __m256i also =
            _mm256_cmpgt_epi32(left, _mm256_add_epi32(number, _mm256_set1_epi32(BLOCK)));
        const __m256i packed = _mm256_packs_epi32(_mm256_blendv_epi8(top, a, in),
                                                  _mm256_blendv_epi8(top, b, also));
        _mm256_storeu_si256((__m256i *)(x + k), _mm256_permute4x64_epi64(packed, 0xd8));
    }
}

/* Rows of up to BLOCKS blocks of runs behind the first one: each of these is compared with
 * sixteen coordinates at a time. */
WIDE static void compare_rows(const rank_rows *rows)
{
    const ivl_loop *v = rows->v;
    const int32_t *end = (const int32_t *)v->led->t.crd + v->led->runs;
    for (int f = 0; f < v->nfiber; f++) {
        const rank_row r = row_of(rows, f);
        int16_t x[BLOCKS * BLOCK];
        pack_runs(&r, rows->w->runs <= r.begin + r.more + PAIR, x);
        for (int k = 0; k < r.n; k += PAIR) {
            const int32_t *at = r.at + k;
            int32_t few[PAIR] = {0};
            if (end - at < PAIR) at = memcpy(few, at, (size_t)(end - at) * sizeof *at);
            const __m256i i = pack_pair(at);
            __m256i ranks = _mm256_setzero_si256();
            for (int b = 0; b < r.more; b += BLOCK) {
                ranks = _mm256_add_epi16(ranks, _mm256_set1_epi16(BLOCK));
#pragma GCC unroll 8
                for (int j = 0; j < BLOCK; j++)
                    ranks = _mm256_add_epi16(
                        ranks, _mm256_cmpgt_epi16(_mm256_set1_epi16(x[b + j]), i));
            }
            put_pair(r.to + k, ranks, r.begin); /* behind a row, for the next one */
        }
    }
}

/* A pair of blocks of truth values, as bits. */
INLINE uint32_t bits_of(const ints *x)
{
    return (uint32_t)__builtin_ia32_movmskps256((floats)x[0]) |
           (uint32_t)__builtin_ia32_movmskps256((floats)x[1]) << BLOCK;
}

/* Rows of up to PAIR pairs of blocks, and beyond. */
WIDE static void compare_far(const rank_rows *rows)
{
    for (int f = 0; f < rows->v->nfiber; f++) {
        const rank_row r = row_of(rows, f);
        int32_t last[PAIR]; /* of each pair of blocks */
        ints above[2];
        if (r.more > PAIR * PAIR || rows->w->runs - r.begin <= r.more + PAIR) {
            search_row(r);
            continue;
        }
        for (int j = 0; j < PAIR; j++)
            last[j] = PAIR * (j + 1) <= r.more ? r.crd[PAIR * (j + 1) - 1] : INT32_MAX;
        const ints x0 = ((const loose *)last)[0], x1 = ((const loose *)last)[1];
        for (int k = 0; k < r.n; k++) {
            above[0] = x0 > r.at[k];
            above[1] = x1 > r.at[k];
            const int64_t from = PAIR * (PAIR - __builtin_popcount(bits_of(above)));
            const loose *y = (const loose *)(r.crd + from);
            above[0] = y[0] > r.at[k];
            above[1] = y[1] > r.at[k];
            /* Behind a row's end, the next one's first begins before them all. */
            const uint32_t bits =
                bits_of(above) | UINT32_C(1)
                                     << (r.more - from < PAIR ? r.more - from : PAIR);
            r.to[k] = r.begin + from + __builtin_ctz(bits);
        }
    }
}

static void rank_all(const rank_rows *rows)
{
    const ivl_loop *v = rows->v;
    const int64_t blocks = (rows->most + BLOCK - 1) / BLOCK;
    if (!HAS_WIDE) {
        search_rows(rows);
    } else if (blocks <= BLOCKS && 3 * blocks * v->nfiber <= 2 * v->g.n &&
               rows->w->t.lo >= INT16_MIN && rows->w->t.hi <= INT16_MAX) {
        compare_rows(rows);
    } else {
        compare_far(rows);
    }
}

#else

static void rank_all(const rank_rows *rows)
{
    search_rows(rows);
}

#endif

/* From tokens to what they stand for. */
static void follow_tokens(const rank_rows *rows)
{
    const fiber_table *t = &rows->w->t;
    for (int f = 0; f < rows->v->nfiber; f++) {
        const rank_row r = row_of(rows, f);
        for (int k = 0; k < r.n; k++) {
            const int64_t p = r.to[k], off = r.at[k] - ((const int32_t *)t->crd)[p];
            const int64_t size = index_at(t->aux, t->aux_width, 2 * p + 1);
            r.to[k] = index_at(t->aux, t->aux_width, 2 * p) +
                      (size > 0 && off >= size ? off % size : off);
        }
    }
}

void ranks_of_rows(const ivl_loop *v, const ivl_walk *w, int64_t *pos)
{
    rank_rows rows;
    rows.v = v;
    rows.w = w;
    rows.pos = pos;
    find_rows(&rows);
    rank_all(&rows);
    if (w->t.shape == VIEW_TOKENS) follow_tokens(&rows);
}
