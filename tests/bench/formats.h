/* formats.h: what the rows over formats (formats.c) and their C loops
 * (formats_ref.c) share. */
#ifndef STC_TESTS_BENCH_FORMATS_H
#define STC_TESTS_BENCH_FORMATS_H

#include "bench.h"

enum { BLOCK = 4, GRID = 256 }; /* bcsr(4,4), csb(256,256) */

/* The arrays of a tensor, as they are; strides in elements. */
typedef struct raw {
    int64_t rows, cols, first; /* first: the extent of the first level's mode */
    int64_t n;                 /* values                                      */
    const int32_t *pos[4], *crd[4], *aux[4];
    int64_t stride[4];
    const double *val;
} raw;

/* A converted matrix, with room for any of them. */
typedef struct made {
    int32_t *pos, *crd, *mark;
    double *val;
    int64_t n;
} made;

typedef void loop_fn(const raw *a, const raw *x, double *y);
loop_fn loop_csr, loop_csc, loop_dcsr, loop_coo, loop_dia, loop_ell, loop_bcsr, loop_csb;
loop_fn loop_svec, loop_hashed, loop_bytes;
typedef void convert_fn(const raw *a, made *b);
convert_fn convert_coo_csr, convert_transpose, convert_csr_bcsr, convert_csr_dia;

#endif
