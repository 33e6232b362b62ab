/* convolution.h: what the rows of convolution.c and their C loops share. */
#ifndef STC_TESTS_BENCH_CONVOLUTION_H
#define STC_TESTS_BENCH_CONVOLUTION_H

#include "bench.h"

enum { CONV_CHANNELS = 64, CONV_FEATURES = 64 };

/* The operands as plain arrays; nonzeros by row for the C loops over them. */
typedef struct conv_data {
    int64_t shape[4], all;
    int64_t width; /* of the filter: known only when it runs */
    double *a, *f, *out, *line;
    uint8_t *truth, *bits; /* a's elements that aren't 0, then f's; such a result */
    bool *set;
    int32_t *crd;
    csr nz; /* of the operand as a matrix: all modes but the last, the last one */
    int64_t stored;
    int64_t side, stride, dilate, pad; /* of layers, and of their results */
} conv_data;

void convolution_dense_1d(conv_data *s);
void convolution_dense_2d(conv_data *s);
void convolution_dense_3d(conv_data *s);
void convolution_sparse_to_dense(conv_data *s);
void convolution_sparse_to_csr(conv_data *s);
void convolution_layer(conv_data *s);
void convolution_layer_stored(conv_data *s); /* rows with something in them only */
void convolution_five_points(conv_data *s);
void convolution_seven_points(conv_data *s);
void convolution_max_pool(conv_data *s);
void convolution_mean_pool(conv_data *s);
void convolution_sparse_filter(conv_data *s);
void convolution_either(conv_data *s);
void convolution_either_max(conv_data *s);
void convolution_either_three(conv_data *s);
void convolution_either_2d(conv_data *s);
void convolution_min_plus(conv_data *s);
void convolution_or_and(conv_data *s);

#endif
