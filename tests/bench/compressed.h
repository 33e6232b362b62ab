/* compressed.h: what the rows over compressed operands (compressed.c) and their
 * inputs and dense C loops (compressed_ref.c) share. */
#ifndef STC_TESTS_BENCH_COMPRESSED_H
#define STC_TESTS_BENCH_COMPRESSED_H

#include "bench.h"

/* Dense arrays of n x m elements: what the C loops read and write, and what the
 * operands are compressed from. */
typedef struct planes {
    stc_type type;
    int64_t n, m;
    void *in[3]; /* B, C and D; NULL: there is none */
    void *out;
    int64_t nout; /* elements                        */
} planes;

/* "runs 64": integers of 0 … 255 in runs of 1 … 64; "sketch", "cartoon": drawn;
 * else a picture of ../shared/data/images/pgm, cut to a common size. False: the
 * picture isn't there. */
bool planes_make(const char *input, planes *p);
void planes_free(planes *p);

typedef void plane_loop(planes *p);
plane_loop dense_scale, dense_multiply, dense_mxv, dense_mask;
plane_loop dense_blend, dense_edges, dense_brighten, dense_subtitle;

#endif
