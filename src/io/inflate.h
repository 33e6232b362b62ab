/* inflate.h: what was compressed by deflate (RFC 1951), alone or as gzip (RFC 1952).
 *
 * The bytes are untrusted: what comes out grows with what was read, and is bounded by
 * what goes in: at most INFLATE_FREE bytes, or INFLATE_TIMES those of the compressed ones
 * where that is more. (Deflate itself can't do more than 1032 times.)
 */
#ifndef STC_IO_INFLATE_H
#define STC_IO_INFLATE_H

#include "read.h"

#define INFLATE_FREE ((int64_t)64 << 20)
enum { INFLATE_TIMES = 256 };

/* The n bytes at `data` into a new block, to which `path` gives its name in errors; used:
 * how many of them the stream has. expected: the size of what comes out, if it is known
 * (else -1), which is then checked. */
stc_status inflate_bytes(ctx *cx, const char *path, const void *data, int64_t n,
                         int64_t expected, file_bytes *out, int64_t *used);
/* How much may come out of n bytes, and the error where it is more. */
int64_t inflate_most(int64_t n);
stc_status inflate_too_much(ctx *cx, const char *path, int64_t n);
/* The members of a gzip file, one after the other; checks their sums. */
stc_status gunzip(ctx *cx, const char *path, const file_bytes *from, file_bytes *out);
/* CRC-32 of ISO 3309, as gzip and zip have it; `sum` is that of what comes before, 0. */
uint32_t crc32_of(uint32_t sum, const void *bytes, size_t n);

#endif
