/* lz77.h: what the level kind (level_lz77.c) and its encoder (lz77_encode.c)
 * share. Nobody else includes it. */
#ifndef STC_FORMATS_LZ77_H
#define STC_FORMATS_LZ77_H

#include "kinds.h"
#include <string.h>

/* Whether two values of n bytes are the same. */
static inline bool same_value(const char *a, const char *b, size_t n)
{
    uint64_t x, y;
    uint32_t p, q;
    if (n == 1) return *a == *b;
    if (n == 4) return memcpy(&p, a, 4), memcpy(&q, b, 4), p == q;
    if (n == 8) return memcpy(&x, a, 8), memcpy(&y, b, 8), x == y;
    return !memcmp(a, b, n);
}

/* A token from coordinate lo on: positions from `start`, round `pattern` of
 * them; 0: literals. */
stc_status lz77_token(ctx *cx, level *lv, int64_t lo, int64_t start, int64_t pattern);
stc_status lz77_pack(ctx *cx, level *lv, pack_in *in);
/* Compresses literals that were appended one by one. */
stc_status lz77_join(ctx *cx, level *lv, void *vals, size_t size);

#endif
