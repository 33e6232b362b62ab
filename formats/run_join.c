/* run_join.c: runs behind others, equal neighbours as one.
 *
 * Takes lanes: where runs begin, their elements, and which of them begin fibers. What is
 * like the lane before it goes, unless it begins a fiber, at `base`; bounds of fibers are
 * moved along. Nothing here branches on elements: eight lanes are compared at once, those
 * that stay are brought together by a table of permutations, and stored whole, behind which
 * the next ones go (after Lemire et al., "Roaring Bitmaps: Implementation of an Optimized
 * Software Library", §4.4).
 */
#include "base/wide.h"
#include "kinds.h"
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Lanes are looked at by eights, whose bits say who stays; of a chunk of these it is noted,
 * so that bounds can be moved by it. */
enum { EIGHT = 8, EIGHTS = 64, CHUNK = EIGHT * EIGHTS };
typedef struct stay {
    uint8_t kept[EIGHTS];
    int64_t before[EIGHTS + 1]; /* runs in front of each eight */
} stay;

/* Elements of any type, by their bits; those of 8 bytes may be two of 4. */
typedef uint16_t elem_2 __attribute__((may_alias));
typedef uint32_t elem_4 __attribute__((may_alias));
typedef uint64_t elem_8 __attribute__((may_alias, aligned(4)));

/* ---- eight lanes -------------------------------------------------------------------- */

#if defined(__x86_64__)
/* Row m: the numbers of m's bits. */
#define BIT_0(k)
#define BIT_1(k) k,
#define NUMBERS(h, g, f, e, d, c, b, a)                                                    \
    {BIT_##a(0) BIT_##b(1) BIT_##c(2) BIT_##d(3) BIT_##e(4) BIT_##f(5) BIT_##g(6)          \
         BIT_##h(7)},
#define TWO(...) NUMBERS(__VA_ARGS__, 0) NUMBERS(__VA_ARGS__, 1)
#define FOUR(...) TWO(__VA_ARGS__, 0) TWO(__VA_ARGS__, 1)
#define ROWS_8(...) FOUR(__VA_ARGS__, 0) FOUR(__VA_ARGS__, 1)
#define ROWS_16(...) ROWS_8(__VA_ARGS__, 0) ROWS_8(__VA_ARGS__, 1)
#define ROWS_64(...)                                                                       \
    ROWS_16(__VA_ARGS__, 0, 0)                                                             \
    ROWS_16(__VA_ARGS__, 0, 1) ROWS_16(__VA_ARGS__, 1, 0) ROWS_16(__VA_ARGS__, 1, 1)
static const uint8_t bits_of[256][8] = {ROWS_64(0, 0) ROWS_64(0, 1) ROWS_64(1, 0)
                                            ROWS_64(1, 1)};

/* Bit k: x[k] is as x[k-1]. */
WIDE static inline unsigned same_1(const uint8_t *x)
{
    const __m128i a = _mm_loadl_epi64((const __m128i *)x);
    const __m128i b = _mm_loadl_epi64((const __m128i *)(x - 1));
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) & 0xff;
}

WIDE static inline unsigned same_2(const elem_2 *x)
{
    const __m128i a = _mm_loadu_si128((const __m128i *)x);
    const __m128i b = _mm_loadu_si128((const __m128i *)(x - 1));
    const __m128i same = _mm_cmpeq_epi16(a, b);
    return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(same, same)) & 0xff;
}

WIDE static inline unsigned same_4(const elem_4 *x)
{
    const __m256i a = _mm256_loadu_si256((const __m256i *)x);
    const __m256i b = _mm256_loadu_si256((const __m256i *)(x - 1));
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b)));
}

WIDE static inline unsigned same_half(const elem_8 *x)
{
    const __m256i a = _mm256_loadu_si256((const __m256i *)x);
    const __m256i b = _mm256_loadu_si256((const __m256i *)(x - 1));
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(a, b)));
}

WIDE static inline unsigned same_8(const elem_8 *x)
{
    return same_half(x) | same_half(x + 4) << 4;
}

/* Those of eight elements whose numbers are given, from `to` on; what is behind them is
 * written, too. */
WIDE static inline void stay_1(uint8_t *to, const uint8_t *x, __m128i number)
{
    const __m128i a = _mm_loadl_epi64((const __m128i *)x);
    _mm_storel_epi64((__m128i *)to, _mm_shuffle_epi8(a, number));
}

WIDE static inline void stay_2(elem_2 *to, const elem_2 *x, __m128i number)
{
    const __m128i twice = _mm_add_epi8(number, number);
    const __m128i byte = _mm_unpacklo_epi8(twice, _mm_add_epi8(twice, _mm_set1_epi8(1)));
    const __m128i a = _mm_loadu_si128((const __m128i *)x);
    _mm_storeu_si128((__m128i *)to, _mm_shuffle_epi8(a, byte));
}

WIDE static inline void stay_4(elem_4 *to, const elem_4 *x, __m128i number)
{
    const __m256i a = _mm256_loadu_si256((const __m256i *)x);
    _mm256_storeu_si256((__m256i *)to,
                        _mm256_permutevar8x32_epi32(a, _mm256_cvtepu8_epi32(number)));
}

/* … of four. */
WIDE static inline void stay_half(elem_8 *to, const elem_8 *x, unsigned kept)
{
    const __m256i number =
        _mm256_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)bits_of[kept & 15]));
    const __m256i twice = _mm256_add_epi64(number, number);
    const __m256i part =
        _mm256_or_si256(_mm256_or_si256(twice, _mm256_slli_epi64(twice, 32)),
                        _mm256_set1_epi64x(1LL << 32));
    const __m256i a = _mm256_loadu_si256((const __m256i *)x);
    _mm256_storeu_si256((__m256i *)to, _mm256_permutevar8x32_epi32(a, part));
}

WIDE static inline unsigned begin_fibers(const int32_t *lo, int32_t base)
{
    const __m256i a = _mm256_loadu_si256((const __m256i *)lo);
    const __m256i b = _mm256_cmpeq_epi32(a, _mm256_set1_epi32(base));
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(b));
}
#endif

/* ---- lanes ------------------------------------------------------------------------------
 * kept_N: `lanes` lanes, of which the first comes after `last`; what stays goes to c and v,
 * which may be where the lanes are. wide_N: eights, where lanes before the first can be
 * looked at; c and v are elsewhere. Both note who stayed, and give how many did. */

#define KEPT(N, T)                                                                         \
    static int64_t kept_##N(stay *s, int e, int32_t base, int32_t *c, T *v,                \
                            const int32_t *lo, const T *x, int64_t lanes, const T *last)   \
    {                                                                                      \
        int64_t n = s->before[e];                                                          \
        const int64_t first = n;                                                           \
        bool any = last != NULL;                                                           \
        T before = any ? *last : 0;                                                        \
        for (int64_t k = 0; k < lanes; k++) {                                              \
            const int32_t i = lo[k];                                                       \
            const T y = x[k];                                                              \
            const bool stays = !any | (y != before) | (i == base);                         \
            if (k % EIGHT == 0) {                                                          \
                s->kept[e] = 0;                                                            \
                s->before[e++] = n;                                                        \
            }                                                                              \
            s->kept[e - 1] |= (uint8_t)(stays << k % EIGHT);                               \
            c[n - first] = i;                                                              \
            v[n - first] = y;                                                              \
            n += stays;                                                                    \
            any = true;                                                                    \
            before = y;                                                                    \
        }                                                                                  \
        s->before[e] = n;                                                                  \
        return n - first;                                                                  \
    }
KEPT(1, uint8_t)
KEPT(2, elem_2)
KEPT(4, elem_4)
KEPT(8, elem_8)

#if defined(__x86_64__)
#define STAY_1(to, x) stay_1(to, x, number)
#define STAY_2(to, x) stay_2(to, x, number)
#define STAY_4(to, x) stay_4(to, x, number)
#define STAY_8(to, x)                                                                      \
    stay_half(to, x, kept);                                                                \
    stay_half((to) + __builtin_popcount(kept & 15), (x) + 4, kept >> 4)
#define EIGHTS_OF(N, T)                                                                    \
    WIDE static int64_t wide_##N(stay *s, int e, int end, int32_t base, int32_t *c, T *v,  \
                                 const int32_t *lo, const T *x)                            \
    {                                                                                      \
        const int64_t first = s->before[e];                                                \
        int64_t n = first;                                                                 \
        for (; e < end; e++, lo += EIGHT, x += EIGHT) {                                    \
            const unsigned kept = (~same_##N(x) & 0xff) | begin_fibers(lo, base);          \
            if (kept == 0xff) {                                                            \
                memcpy(c + (n - first), lo, EIGHT * sizeof *lo);                           \
                memcpy(v + (n - first), x, EIGHT * sizeof *x);                             \
            } else {                                                                       \
                const __m128i number = _mm_loadl_epi64((const __m128i *)bits_of[kept]);    \
                stay_4((elem_4 *)c + (n - first), (const elem_4 *)lo, number);             \
                STAY_##N(v + (n - first), x);                                              \
            }                                                                              \
            s->kept[e] = (uint8_t)kept;                                                    \
            s->before[e] = n;                                                              \
            n += __builtin_popcount(kept);                                                 \
        }                                                                                  \
        s->before[e] = n;                                                                  \
        return n - first;                                                                  \
    }
#else
#define EIGHTS_OF(N, T)                                                                    \
    static int64_t wide_##N(stay *s, int e, int end, int32_t base, int32_t *c, T *v,       \
                            const int32_t *lo, const T *x)                                 \
    {                                                                                      \
        return kept_##N(s, e, base, c, v, lo, x, (int64_t)EIGHT * (end - e), x - 1);       \
    }
#endif
EIGHTS_OF(1, uint8_t)
EIGHTS_OF(2, elem_2)
EIGHTS_OF(4, elem_4)
EIGHTS_OF(8, elem_8)

/* ---- bounds ------------------------------------------------------------------------- */

int64_t move_bounds(index_array *pos, int64_t f, int64_t p, int64_t gone)
{
    for (; f < pos->len && index_get(pos, f) < p; f++)
        if (gone) index_set(pos, f, index_get(pos, f) - gone);
    return f;
}

static inline int bits_in(unsigned x)
{
    static const uint8_t bits[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    return bits[x & 15] + bits[x >> 4];
}

/* Those of fibers that begin among the `lanes` lanes from position p on. */
static void move_into(run_joining *j, const stay *s, int64_t p, int64_t lanes)
{
    index_array *pos = j->pos;
    int32_t *narrow = pos->width == 4 && pos->stride == 4 ? pos->data : NULL;
    for (; j->f < pos->len; j->f++) {
        const int64_t q = (narrow ? narrow[j->f] : index_get(pos, j->f)) - p;
        if (q >= lanes) return;
        const unsigned before = s->kept[q / EIGHT] & ((1u << q % EIGHT) - 1);
        const int64_t n = s->before[q / EIGHT] + bits_in(before);
        if (narrow) {
            narrow[j->f] = (int32_t)n;
        } else {
            index_set(pos, j->f, n);
        }
    }
}

/* ---- all of them -------------------------------------------------------------------- */

#define JOIN(N, T)                                                                         \
    static void join_##N(run_joining *j, int32_t *c, T *v, const int32_t *lo, const T *x,  \
                         int64_t total, bool wide)                                         \
    {                                                                                      \
        T last = j->n > 0 ? v[j->n - 1] : 0;                                               \
        bool any = j->n > 0;                                                               \
        for (int64_t p = 0; p < total; p += CHUNK) {                                       \
            const int64_t lanes = total - p < CHUNK ? total - p : CHUNK;                   \
            const int end = wide ? (int)(lanes / EIGHT) : 0;                               \
            const int64_t one = p == 0 || !end ? (end ? EIGHT : lanes) : 0;                \
            stay s;                                                                        \
            s.before[0] = j->n;                                                            \
            int64_t n = j->n;                                                              \
            const T tail = x[p + lanes - 1];                                               \
            n += kept_##N(&s, 0, j->base, c + n, v + n, lo + p, x + p, one,                \
                          any ? &last : NULL);                                             \
            if (end)                                                                       \
                n += wide_##N(&s, one > 0, end, j->base, c + n, v + n, lo + p + one,       \
                              x + p + one);                                                \
            const int64_t done = end ? (int64_t)end * EIGHT : one;                         \
            if (done < lanes)                                                              \
                n += kept_##N(&s, end, j->base, c + n, v + n, lo + p + done, x + p + done, \
                              lanes - done, &x[p + done - 1]);                             \
            last = tail;                                                                   \
            any = true;                                                                    \
            move_into(j, &s, j->at + p, lanes);                                            \
            j->n = n;                                                                      \
        }                                                                                  \
        j->f = move_bounds(j->pos, j->f, j->at + total + 1, j->at + total - j->n);         \
    }
JOIN(1, uint8_t)
JOIN(2, elem_2)
JOIN(4, elem_4)
JOIN(8, elem_8)

bool run_join(run_joining *j, int32_t *c, void *v, const int32_t *lo, const void *x,
              int64_t total, size_t size)
{
    const char *to = (const char *)v + (size_t)j->n * size;
    const bool wide = HAS_WIDE && x != to && lo != c + j->n;
    if (size == 1) {
        join_1(j, c, v, lo, x, total, wide);
    } else if (size == 2) {
        join_2(j, c, v, lo, x, total, wide);
    } else if (size == 4) {
        join_4(j, c, v, lo, x, total, wide);
    } else if (size == 8) {
        join_8(j, c, v, lo, x, total, wide);
    } else {
        return false;
    }
    return true;
}
