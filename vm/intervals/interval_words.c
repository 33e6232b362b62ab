/* interval_words.c: runs and lanes as words, for interval_pairs.c.
 *
 * A word has in its low half where a run ends, counted from the range's first coordinate,
 * and in its high half its element, if that has no more than 4 bytes. Here runs are packed
 * into words, lanes of two words each are unpacked again, and rows are found among lanes.
 * The compiler makes vectors of loops over halves, but not of shifted words.
 */
#include "interval_pairs.h"
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef struct halves {
    uint32_t half[2];
} __attribute__((may_alias)) halves;
enum { LOW = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, HIGH = !LOW };

static inline uint32_t nearer(halves a, halves b)
{
    return a.half[LOW] < b.half[LOW] ? a.half[LOW] : b.half[LOW];
}

#define WORDS(LEVEL, NAME, T)                                                              \
    LEVEL static void pack_##NAME(halves *restrict to, const int32_t *restrict next,       \
                                  uint32_t first, const T *restrict x, int64_t n)          \
    {                                                                                      \
        for (int64_t k = 0; k < n; k++) {                                                  \
            to[k].half[LOW] = (uint32_t)next[k] - first;                                   \
            to[k].half[HIGH] = x[k];                                                       \
        }                                                                                  \
    }                                                                                      \
    LEVEL static void unpack_##NAME(const halves *restrict a, const halves *restrict b,    \
                                    uint32_t first, int32_t *restrict at, T *restrict x,   \
                                    T *restrict y, int64_t n)                              \
    {                                                                                      \
        for (int64_t k = 0; k < n; k++) {                                                  \
            at[k] = (int32_t)(nearer(a[k], b[k]) + first);                                 \
            x[k] = (T)a[k].half[HIGH];                                                     \
            y[k] = (T)b[k].half[HIGH];                                                     \
        }                                                                                  \
    }
#define LEVELS(N, T) WORDS(, N, T) WORDS(WIDE, wide_##N, T)
LEVELS(1, uint8_t)
LEVELS(2, uint16_t)
LEVELS(4, uint32_t)
#define CHOSEN(DO, N) (HAS_WIDE ? DO##_wide_##N : DO##_##N)

void words_pack(run_word *words, const int32_t *next, uint32_t first, const void *x,
                size_t size, int64_t n)
{
    halves *to = (halves *)words;
    if (size == 1) return CHOSEN(pack, 1)(to, next, first, x, n);
    if (size == 2) return CHOSEN(pack, 2)(to, next, first, x, n);
    if (size == 4) return CHOSEN(pack, 4)(to, next, first, x, n);
    for (int64_t k = 0; k < n; k++)
        words[k] = (uint32_t)next[k] - first;
}

void words_unpack(const run_word *p, const run_word *q, uint32_t first, int32_t *at,
                  void *x, void *y, size_t size, int64_t n)
{
    const halves *a = (const halves *)p, *b = (const halves *)q;
    if (size == 1) return CHOSEN(unpack, 1)(a, b, first, at, x, y, n);
    if (size == 2) return CHOSEN(unpack, 2)(a, b, first, at, x, y, n);
    if (size == 4) return CHOSEN(unpack, 4)(a, b, first, at, x, y, n);
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
