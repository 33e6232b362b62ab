/* sum.c: a sum of bytes from pieces (sum.h).
 *
 * Words of 32 bits are multiplied by a number of 64 bits that depends on where the word is,
 * and added up modulo 2^64 (multilinear hashing: Lemire and Kaser, "Strongly universal
 * string hashing is fast", 2014). So a piece of a word adds what it would if the rest of
 * the word were 0. A word's number is the product of two odd ones, of its place in a block
 * and of the block: few have to be made, and a word that changes alone always shows.
 */
#include "sum.h"
#include "wide.h"
#include <string.h>

enum { WORDS = 64, BLOCK = WORDS * 4 };

/* Those of the places, in halves: processors multiply 32 bits by 32 many at a time. */
typedef struct factors {
    uint32_t low[WORDS], high[WORDS];
} factors;

/* The generator splitmix64 at k. */
static inline uint64_t scattered(uint64_t k)
{
    k += UINT64_C(0x9e3779b97f4a7c15);
    k = (k ^ k >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    k = (k ^ k >> 27) * UINT64_C(0x94d049bb133111eb);
    return k ^ k >> 31;
}

static inline uint64_t of_block(uint64_t block)
{
    return scattered(WORDS + block) | 1;
}

static inline __attribute__((always_inline)) uint64_t sum_block(const factors *f,
                                                                const char *p)
{
    uint64_t low = 0, high = 0;
    for (int k = 0; k < WORDS; k++) {
        uint32_t w;
        memcpy(&w, p + 4 * k, sizeof w);
        low += (uint64_t)w * f->low[k];
        high += (uint64_t)w * f->high[k];
    }
    return low + (high << 32);
}

/* Whole blocks: as any processor does, and with wide vectors in half the time. */
static uint64_t sum_blocks(const factors *f, const char *p, uint64_t block, uint64_t end)
{
    uint64_t sum = 0;
    for (; block < end; block++, p += BLOCK)
        sum += sum_block(f, p) * of_block(block);
    return sum;
}

WIDE static uint64_t wide_blocks(const factors *f, const char *p, uint64_t block,
                                 uint64_t end)
{
    uint64_t sum = 0;
    for (; block < end; block++, p += BLOCK)
        sum += sum_block(f, p) * of_block(block);
    return sum;
}

/* n bytes of a block, from byte `in` of it on. */
static uint64_t sum_inside(const factors *f, const char *p, size_t in, size_t n)
{
    char block[BLOCK] = {0};
    memcpy(block + in, p, n);
    return sum_block(f, block);
}

uint64_t sum_piece(const void *bytes, size_t n, uint64_t at)
{
    factors f;
    const char *p = bytes;
    const size_t in = (size_t)(at % BLOCK);
    uint64_t block = at / BLOCK, sum = 0;
    for (int k = 0; k < WORDS; k++) {
        const uint64_t one = scattered((uint64_t)k) | 1;
        f.low[k] = (uint32_t)one;
        f.high[k] = (uint32_t)(one >> 32);
    }
    if (in && n) {
        const size_t some = n < BLOCK - in ? n : BLOCK - in;
        sum += sum_inside(&f, p, in, some) * of_block(block++);
        p += some;
        n -= some;
    }
    const uint64_t whole = n / BLOCK, end = block + whole;
    sum += (HAS_WIDE ? wide_blocks : sum_blocks)(&f, p, block, end);
    block = end;
    p += whole * BLOCK;
    n %= BLOCK;
    if (n) sum += sum_inside(&f, p, 0, n) * of_block(block);
    return sum;
}

uint64_t sum_whole(uint64_t pieces, uint64_t n)
{
    return pieces + scattered(n);
}
