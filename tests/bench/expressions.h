/* expressions.h: what the rows of expressions.c and their C loops share. */
#ifndef STC_TESTS_BENCH_EXPRESSIONS_H
#define STC_TESTS_BENCH_EXPRESSIONS_H

#include "bench.h"

/* Patterns a, b (10 a row) and d (2 a row), with values of several types on them,
 * and vectors. */
typedef struct expr_data {
    csr a, b, d;
    float *a32, *b32, *x32;
    int32_t *ai, *bi;
    bool *ab, *db;
    double *x, *z;
    int32_t *v_crd, v_pos[2]; /* a sparse vector: every fourth row */
    double *v_val;
    /* the C loops' results: a matrix, or a vector (n: of its type) */
    int32_t *pos, *crd;
    union {
        double *f64;
        float *f32;
        int32_t *i32;
        bool *b;
    } val;
    int64_t n;
} expr_data;

typedef void (*expr_loop)(expr_data *s);

/* LOOP(name): its C loop is expr_name. */
#define EXPR_LOOPS(LOOP)                                                                   \
    LOOP(sum3)                                                                             \
    LOOP(mul_add)                                                                          \
    LOOP(scaled_sum)                                                                       \
    LOOP(mul_of_sum)                                                                       \
    LOOP(two_mxv)                                                                          \
    LOOP(picked_mxv)                                                                       \
    LOOP(expm1)                                                                            \
    LOOP(threshold)                                                                        \
    LOOP(relu)                                                                             \
    LOOP(sigmoid)                                                                          \
    LOOP(larger)                                                                           \
    LOOP(f32_sum)                                                                          \
    LOOP(f32_mxv)                                                                          \
    LOOP(i32_mul_add)                                                                      \
    LOOP(i32_and)                                                                          \
    LOOP(bool_or)                                                                          \
    LOOP(dcsr_mul)                                                                         \
    LOOP(coo_sum)                                                                          \
    LOOP(hypot_less)                                                                       \
    LOOP(distance)                                                                         \
    LOOP(inner)

#define LOOP(name) void expr_##name(expr_data *s);
EXPR_LOOPS(LOOP)
#undef LOOP

#endif
