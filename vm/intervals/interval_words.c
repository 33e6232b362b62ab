/* interval_words.c: runs and lanes as words, for interval_pairs.c.
 *
 * A word has in its low half where a run ends, counted from the range's first coordinate,
 * and in its high half its element, if that has no more than 4 bytes. Here runs are packed
 * into words, lanes of two words each are unpacked again, and rows are found among lanes:
 * by vectors where the processor has them, what is left over one by one.
 */
#include "interval_pairs.h"
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { EIGHT = 8 };

/* ---- eight at a time ---------------------------------------------------------------- */

#ifdef __x86_64__
/* Elements as numbers of 32 bits, and back. */
WIDE static inline __m256i wide_1(const uint8_t *x)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)x));
}
WIDE static inline __m256i wide_2(const uint16_t *x)
{
    return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)x));
}
WIDE static inline __m256i wide_4(const uint32_t *x)
{
    return _mm256_loadu_si256((const __m256i *)x);
}

WIDE static inline void narrow_1(uint8_t *to, __m256i x)
{
    const __m128i first = _mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                        -1, -1); /* bytes of each */
    const __m256i bytes = _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(first));
    _mm_storel_epi64((__m128i *)to, _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes),
                                                       _mm256_extracti128_si256(bytes, 1)));
}
WIDE static inline void narrow_2(uint16_t *to, __m256i x)
{
    const __m128i first =
        _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m256i bytes = _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(first));
    _mm_storeu_si128((__m128i *)to, _mm_unpacklo_epi64(_mm256_castsi256_si128(bytes),
                                                       _mm256_extracti128_si256(bytes, 1)));
}
WIDE static inline void narrow_4(uint32_t *to, __m256i x)
{
    _mm256_storeu_si256((__m256i *)to, x);
}

/* Halves of eight words, in the order 0 1 4 5 2 3 6 7; and in order. */
typedef struct halves {
    __m256i low, high;
} halves;
WIDE static inline halves halves_of(const run_word *a)
{
    const __m256 x = _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)a));
    const __m256 y = _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(a + 4)));
    return (halves){_mm256_castps_si256(_mm256_shuffle_ps(x, y, 0x88)),
                    _mm256_castps_si256(_mm256_shuffle_ps(x, y, 0xdd))};
}
WIDE static inline __m256i in_order(__m256i x)
{
    return _mm256_permute4x64_epi64(x, 0xd8);
}

#define EIGHTS(N, T)                                                                       \
    WIDE static int64_t pack_##N(run_word *to, const int32_t *next, uint32_t first,        \
                                 const T *x, int64_t n)                                    \
    {                                                                                      \
        const __m256i from = _mm256_set1_epi32((int32_t)first);                            \
        int64_t k = 0;                                                                     \
        for (; k + EIGHT <= n; k += EIGHT) {                                               \
            const __m256i at = _mm256_loadu_si256((const __m256i *)(next + k));            \
            const __m256i end = _mm256_sub_epi32(at, from), e = wide_##N(x + k);           \
            const __m256i low = _mm256_unpacklo_epi32(end, e);                             \
            const __m256i high = _mm256_unpackhi_epi32(end, e);                            \
            _mm256_storeu_si256((__m256i *)(to + k),                                       \
                                _mm256_permute2x128_si256(low, high, 0x20));               \
            _mm256_storeu_si256((__m256i *)(to + k + 4),                                   \
                                _mm256_permute2x128_si256(low, high, 0x31));               \
        }                                                                                  \
        return k;                                                                          \
    }                                                                                      \
    WIDE static int64_t unpack_##N(const run_word *a, const run_word *b, uint32_t first,   \
                                   int32_t *at, T *x, T *y, int64_t n)                     \
    {                                                                                      \
        const __m256i from = _mm256_set1_epi32((int32_t)first);                            \
        int64_t k = 0;                                                                     \
        for (; k + EIGHT <= n; k += EIGHT) {                                               \
            const halves p = halves_of(a + k), q = halves_of(b + k);                       \
            const __m256i end = _mm256_add_epi32(_mm256_min_epu32(p.low, q.low), from);    \
            _mm256_storeu_si256((__m256i *)(at + k), in_order(end));                       \
            narrow_##N(x + k, in_order(p.high));                                           \
            narrow_##N(y + k, in_order(q.high));                                           \
        }                                                                                  \
        return k;                                                                          \
    }
#else
#define EIGHTS(N, T)                                                                       \
    static int64_t pack_##N(run_word *to, const int32_t *next, uint32_t first, const T *x, \
                            int64_t n)                                                     \
    {                                                                                      \
        return (void)to, (void)next, (void)first, (void)x, n - n;                          \
    }                                                                                      \
    static int64_t unpack_##N(const run_word *a, const run_word *b, uint32_t first,        \
                              int32_t *at, T *x, T *y, int64_t n)                          \
    {                                                                                      \
        return (void)a, (void)b, (void)first, (void)at, (void)x, (void)y, n - n;           \
    }
#endif
EIGHTS(1, uint8_t)
EIGHTS(2, uint16_t)
EIGHTS(4, uint32_t)

/* ---- and the rest ----------------------------------------------------------------- */

static inline uint32_t nearer(run_word a, run_word b)
{
    const uint32_t i = (uint32_t)a, j = (uint32_t)b;
    return i < j ? i : j;
}

#define ALL(N, T)                                                                          \
    static void pack_all_##N(run_word *to, const int32_t *next, uint32_t first,            \
                             const T *x, int64_t n)                                        \
    {                                                                                      \
        for (int64_t k = HAS_WIDE ? pack_##N(to, next, first, x, n) : 0; k < n; k++)       \
            to[k] = ((uint32_t)next[k] - first) | (run_word)x[k] << 32;                    \
    }                                                                                      \
    static void unpack_all_##N(const run_word *a, const run_word *b, uint32_t first,       \
                               int32_t *at, T *x, T *y, int64_t n)                         \
    {                                                                                      \
        for (int64_t k = HAS_WIDE ? unpack_##N(a, b, first, at, x, y, n) : 0; k < n;       \
             k++) {                                                                        \
            at[k] = (int32_t)(nearer(a[k], b[k]) + first);                                 \
            x[k] = (T)(a[k] >> 32);                                                        \
            y[k] = (T)(b[k] >> 32);                                                        \
        }                                                                                  \
    }
ALL(1, uint8_t)
ALL(2, uint16_t)
ALL(4, uint32_t)

void words_pack(run_word *to, const int32_t *next, uint32_t first, const void *x,
                size_t size, int64_t n)
{
    if (size == 1) return pack_all_1(to, next, first, x, n);
    if (size == 2) return pack_all_2(to, next, first, x, n);
    if (size == 4) return pack_all_4(to, next, first, x, n);
    for (int64_t k = 0; k < n; k++)
        to[k] = (uint32_t)next[k] - first;
}

void words_unpack(const run_word *a, const run_word *b, uint32_t first, int32_t *at,
                  void *x, void *y, size_t size, int64_t n)
{
    if (size == 1) return unpack_all_1(a, b, first, at, x, y, n);
    if (size == 2) return unpack_all_2(a, b, first, at, x, y, n);
    if (size == 4) return unpack_all_4(a, b, first, at, x, y, n);
    for (int64_t k = 0; k < n; k++)
        at[k] = (int32_t)(nearer(a[k], b[k]) + first);
}

/* ---- rows --------------------------------------------------------------------------- */

/* Bit k: at[k] == i. */
#ifdef __x86_64__
static inline uint32_t sixteen_bits(const int32_t *at, __m128i i)
{
    const __m128i *x = (const __m128i *)at;
    const __m128i a = _mm_cmpeq_epi32(_mm_loadu_si128(x), i);
    const __m128i b = _mm_cmpeq_epi32(_mm_loadu_si128(x + 1), i);
    const __m128i c = _mm_cmpeq_epi32(_mm_loadu_si128(x + 2), i);
    const __m128i d = _mm_cmpeq_epi32(_mm_loadu_si128(x + 3), i);
    return (uint32_t)_mm_movemask_epi8(
        _mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d)));
}
static inline uint32_t bits_of(const int32_t *at, int32_t i)
{
    const __m128i all = _mm_set1_epi32(i);
    return sixteen_bits(at, all) | sixteen_bits(at + 16, all) << 16;
}
#else
static inline uint32_t bits_of(const int32_t *at, int32_t i)
{
    uint32_t bits = 0;
    for (int k = 0; k < WORDS_ROOM; k++)
        bits |= (uint32_t)(at[k] == i) << k;
    return bits;
}
#endif

/* One of 32 lanes, or none, is what most rows come to: that is looked for without asking.
 */
int words_find(const int32_t *at, int n, int32_t i, int by, int *to, int most)
{
    int found = 0;
    for (int k = 0; k < n && found < most; k += WORDS_ROOM) {
        const uint32_t there = n - k < WORDS_ROOM ? (1u << (n - k)) - 1 : UINT32_MAX;
        uint32_t bits = bits_of(at + k, i) & there;
        to[found] = by + k + __builtin_ctz(bits | 1u << 31);
        found += bits != 0;
        bits &= bits - 1;
        to[found] = by + k + __builtin_ctz(bits | 1u << 31);
        found += bits != 0;
        for (bits &= bits - 1; bits && found < most; bits &= bits - 1)
            to[found++] = by + k + __builtin_ctz(bits);
    }
    return found < most ? found : most;
}
