/* arrays.h: what the rows of arrays.c and their C loops share: the operands.
 *
 * A, B (10 a row) and D (2 a row) are uniform matrices of 100 000 rows; I and J
 * their places with integers; m a mask and x a vector over them. An image gives
 * two thresholded pictures and a region; trees give tensors of order 3, 5, 7.
 */
#ifndef STC_TESTS_BENCH_ARRAYS_H
#define STC_TESTS_BENCH_ARRAYS_H

#include "bench.h"

enum { ARRAYS_ROWS = 100000, IMAGE_SIDE = 1500, TREES = 3, TREE_ORDER = 7 };

/* A matrix of truth values. */
typedef struct bits {
    int64_t rows, nnz;
    int32_t *pos, *crd;
    bool *val;
} bits;

/* A csf tensor as the machine has it: arrays of level l below those of l - 1. */
typedef struct tree {
    int order;
    int64_t extent;
    const int32_t *pos[TREE_ORDER], *crd[TREE_ORDER];
    const double *val;
} tree;

typedef struct array_data {
    csr a, b, d;
    int64_t *ia, *ib; /* values of a and b as integers            */
    bool *mask;
    double *x, *y;
    bits image[3]; /* brighter than one level, than another; the region */
    tree tree[TREES];
    ref_out out;
    int32_t *mark;  /* of mxm: the row that a column was last met in */
    int64_t stored; /* by the C loops: entries of the result          */
} array_data;

void arrays_xor(array_data *s);
void arrays_ldexp(array_data *s);
void arrays_shift(array_data *s);
void arrays_power(array_data *s);
void arrays_and_xor(array_data *s);
void arrays_or_xor(array_data *s);
void arrays_xor_xor(array_data *s);
void arrays_masked(array_data *s);
void arrays_tropical(array_data *s);
void arrays_bool_mxm(array_data *s);
void arrays_tropical_mxm(array_data *s);
void arrays_slice_500(array_data *s);
void arrays_slice_quarter(array_data *s);
void arrays_slice_inner(array_data *s);
void arrays_stride_2(array_data *s);
void arrays_stride_4(array_data *s);
void arrays_stride_8(array_data *s);
void arrays_edges(array_data *s);
void arrays_minimax(array_data *s);
void arrays_minimax_3(array_data *s);
void arrays_minimax_5(array_data *s);
void arrays_minimax_7(array_data *s);

#endif
