/* sum.h: a sum of bytes to which pieces add in any order, each by itself.
 *
 * What is written by several threads has its sum when the last piece is there, and isn't
 * read again for it. It is against damage, not against malice.
 */
#ifndef STC_FORMATS_SUM_H
#define STC_FORMATS_SUM_H

#include <stddef.h>
#include <stdint.h>

/* What n bytes add that begin at byte `at` of the whole. */
uint64_t sum_piece(const void *bytes, size_t n, uint64_t at);
/* The sum of n bytes, all of whose pieces add up to `pieces`. */
uint64_t sum_whole(uint64_t pieces, uint64_t n);

#endif
