/* interval_pairs.h: what merges of two operands of runs share: interval_pairs.c, and the
 * words they go by (interval_words.c).
 */
#ifndef STC_VM_INTERVAL_PAIRS_H
#define STC_VM_INTERVAL_PAIRS_H

#include "interval.h"

/* In the low half where a run ends, counted from the range's first coordinate; in the
 * high half its element, if that has no more than 4 bytes. */
typedef uint64_t run_word __attribute__((may_alias));

/* pack: n runs with elements of `size` bytes, that end where those from `next` on begin;
 * first: the coordinate behind the range's first. unpack: n lanes of two words each, of
 * which each ends with the nearer of its runs; elements of 8 bytes aren't touched. find:
 * which of n lanes, the first of which is lane `by`, begin at i: `most` of them; how many.
 * WORDS_ROOM lanes behind them are looked at, too, and two numbers more may be written. */
enum { WORDS_ROOM = 32 };
void words_pack(run_word *to, const int32_t *next, uint32_t first, const void *x,
                size_t size, int64_t n);
void words_unpack(const run_word *a, const run_word *b, uint32_t first, int32_t *at,
                  void *x, void *y, size_t size, int64_t n);
int words_find(const int32_t *at, int n, int32_t i, int by, int *to, int most);

#endif
