/* merge_keys.c: merging without a branch on which key comes first.
 *
 * A step takes the least of the lists' next keys, notes where each list has it, and
 * moves on in those that do: it costs the way from one position to the next, a load
 * and a comparison. So two such chains run side by side, through the keys below one
 * in the middle and through those from it on (after the partitions of parallel
 * merging); the second's elements are moved up afterwards. As long as a chain has
 * keys left the least is one of its own, so the first needs no ends of lists.
 */
#include "merge_keys.h"
#include "../core/coords.h"
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { LISTS = 6 };

#define INLINE static inline __attribute__((always_inline))

/* A chain: the next key of each list, and elements written. */
typedef struct chain {
    int64_t p[LISTS], n;
    int64_t end; /* the sum of p when it is done */
} chain;

/* Splits the lists at a key in the middle of the longest. */
static void split(const key_list *x, int lists, chain *low, chain *high)
{
    int longest = 0;
    for (int w = 1; w < lists; w++)
        if (x[w].n > x[longest].n) longest = w;
    const int64_t middle = x[longest].key[x[longest].n / 2];
    *low = *high = (chain){.n = 0};
    for (int w = 0; w < lists; w++) {
        high->p[w] = coords_below(x[w].key, sizeof middle, x[w].n, middle);
        low->end += high->p[w];
        high->end += x[w].n;
    }
    high->n = low->end;
}

/* The second chain's elements behind those of the first. */
static int join(const key_list *x, int lists, const chain *low, const chain *high,
                int64_t *key)
{
    const int64_t from = low->end;
    const size_t bytes = (size_t)(high->n - from) * sizeof *key;
    if (low->n < from) {
        memmove(key + low->n, key + from, bytes);
        for (int w = 0; w < lists; w++)
            memmove(x[w].to + low->n, x[w].to + from, bytes);
    }
    return (int)(low->n + high->n - from);
}

/* Steps that neither of two chains can end within, when a step takes at most one key
 * of each list: so many, then both until they are done. */
#define RUN(LISTS, STEP, LEFT_LOW, LEFT_HIGH)                                              \
    for (;;) {                                                                             \
        const int64_t left = LEFT_LOW < LEFT_HIGH ? LEFT_LOW : LEFT_HIGH;                  \
        if (left < LISTS) break;                                                           \
        for (int64_t k = left / LISTS; k > 0; k--) {                                       \
            STEP(p, q, r, n)                                                               \
            STEP(s, t, u, m)                                                               \
        }                                                                                  \
    }                                                                                      \
    while (LEFT_LOW > 0)                                                                   \
        STEP(p, q, r, n)                                                                   \
    while (LEFT_HIGH > 0)                                                                  \
    STEP(s, t, u, m)

#define STEP_TWO(p, q, unused, n)                                                          \
    {                                                                                      \
        const int64_t i = ka[p], j = kb[q];                                                \
        const int64_t a = i <= j, b = j <= i;                                              \
        key[n] = a ? i : j;                                                                \
        ta[n] = (p + ba) | (a - 1);                                                        \
        tb[n] = (q + bb) | (b - 1);                                                        \
        n += all ? 1 : (int64_t)(table >> (a | b << 1) & 1);                               \
        p += a, q += b;                                                                    \
    }

INLINE int merge_two(const key_list *x, uint64_t table, bool all, int64_t *restrict key)
{
    const int64_t *restrict ka = x[0].key, *restrict kb = x[1].key;
    int64_t *restrict ta = x[0].to, *restrict tb = x[1].to;
    const int64_t ba = x[0].base, bb = x[1].base;
    chain low, high;
    split(x, 2, &low, &high);
    int64_t p = 0, q = 0, n = 0, s = high.p[0], t = high.p[1], m = high.n;
    const int64_t end_low = low.end, end_high = high.end;
    RUN(2, STEP_TWO, (end_low - p - q), (end_high - s - t))
    low.n = n, high.n = m;
    return join(x, 2, &low, &high, key);
}

#define STEP_THREE(p, q, r, n)                                                             \
    {                                                                                      \
        const int64_t i = ka[p], j = kb[q], l = kc[r];                                     \
        int64_t least = i < j ? i : j;                                                     \
        least = l < least ? l : least;                                                     \
        const int64_t a = i == least, b = j == least, c = l == least;                      \
        key[n] = least;                                                                    \
        ta[n] = (p + ba) | (a - 1);                                                        \
        tb[n] = (q + bb) | (b - 1);                                                        \
        tc[n] = (r + bc) | (c - 1);                                                        \
        n += all ? 1 : (int64_t)(table >> (a | b << 1 | c << 2) & 1);                      \
        p += a, q += b, r += c;                                                            \
    }

INLINE int merge_three(const key_list *x, uint64_t table, bool all, int64_t *restrict key)
{
    const int64_t *restrict ka = x[0].key, *restrict kb = x[1].key, *restrict kc = x[2].key;
    int64_t *restrict ta = x[0].to, *restrict tb = x[1].to, *restrict tc = x[2].to;
    const int64_t ba = x[0].base, bb = x[1].base, bc = x[2].base;
    chain low, high;
    split(x, 3, &low, &high);
    int64_t p = 0, q = 0, r = 0, n = 0;
    int64_t s = high.p[0], t = high.p[1], u = high.p[2], m = high.n;
    const int64_t end_low = low.end, end_high = high.end;
    RUN(3, STEP_THREE, (end_low - p - q - r), (end_high - s - t - u))
    low.n = n, high.n = m;
    return join(x, 3, &low, &high, key);
}

/* Any number of lists, one chain. */
static int merge_many(const key_list *x, int lists, uint64_t table, int64_t *key)
{
    int64_t p[LISTS] = {0}, left = 0;
    int n = 0;
    for (int w = 0; w < lists; w++)
        left += x[w].n;
    while (left > 0) {
        int64_t least = KEY_END;
        uint64_t mask = 0;
        for (int w = 0; w < lists; w++) {
            const int64_t next = x[w].key[p[w]];
            least = next < least ? next : least;
        }
        for (int w = 0; w < lists; w++) {
            const int64_t has = x[w].key[p[w]] == least;
            x[w].to[n] = (x[w].base + p[w]) | (has - 1);
            p[w] += has;
            left -= has;
            mask |= (uint64_t)has << w;
        }
        key[n] = least;
        n += (int)(table >> mask & 1);
    }
    return n;
}

void keys_cut(key_list *x, int lists)
{
    int64_t limit = KEY_END;
    for (int w = 0; w < lists; w++)
        if (x[w].more && x[w].key[x[w].n - 1] < limit) limit = x[w].key[x[w].n - 1];
    for (int w = 0; w < lists; w++) {
        while (x[w].n > 0 && x[w].key[x[w].n - 1] > limit)
            x[w].n--;
        x[w].key[x[w].n] = KEY_END;
    }
}

/* Numbers of keys become positions. */
static void find_positions(const key_list *x, int n)
{
    for (int k = 0; x->end && k < n; k++)
        x->to_end[k] = x->to[k] < 0 ? x->to[k] : x->end[x->to[k]];
    for (int k = 0; x->at && k < n; k++) {
        const int64_t absent = x->to[k] >> 63;
        x->to[k] = x->at[x->to[k] & ~absent] | absent;
    }
}

static int merge_any(const key_list *x, int lists, uint64_t table, int64_t *key)
{
    const bool all = (~table & ((UINT64_C(1) << (1 << lists % LISTS)) - 2)) == 0;
    if (keys_run(x, lists)) return keys_merge_runs(x, lists, table, key);
    if (lists == 2 && all) return merge_two(x, table, true, key);
    if (lists == 2) return merge_two(x, table, false, key);
    if (lists == 3 && all) return merge_three(x, table, true, key);
    if (lists == 3) return merge_three(x, table, false, key);
    return merge_many(x, lists, table, key);
}

int keys_merge(const key_list *x, int lists, uint64_t table, int64_t *key)
{
    const int n = merge_any(x, lists, table, key);
    for (int w = 0; w < lists; w++)
        find_positions(&x[w], n);
    return n;
}
