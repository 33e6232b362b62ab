/* rows.h: a row of the benchmark as data (rows.c has the table), and what it takes to
 * run it: inputs, and a program with operands lent to it (sides.c).
 */
#ifndef STC_TESTS_BENCH_ROWS_H
#define STC_TESTS_BENCH_ROWS_H

#include "bench.h"

enum { OPERANDS = 4, RANK = 16, SQUARE = -1, FILTER = 3 };

/* All inputs, made when the first row needs them. */
typedef struct inputs {
    csr lap_a, lap_b, uni_a, uni_b, rmat_a, rmat_b, rmats_a, band_a, band_b, picture;
    csf ten_a, ten_b, box_a, box_b, skew_a, skew_b;
    double *x, *factor_c, *factor_d;
    int32_t *mask;
    int32_t mask_pos[2];
} inputs;

typedef enum source {
    S_NONE,
    S_A,
    S_B,
    S_X,
    S_C,
    S_D,
    S_MASK,
    S_FILTER,
    S_TEN_A,
    S_TEN_B,
} source;

/* What the C side writes: one of these, as the row's result says. */
typedef enum result { R_DENSE, R_CSR, R_SCALAR, R_VALUES } result;

typedef struct state {
    inputs in;
    const csr *a, *b;
    const csf *p, *q;
    double *out, scalar;
    int64_t out_len;
    ref_out sparse;
} state;

typedef struct row {
    const char *name, *inputs, *text;
    struct {
        const char *name;
        source from;
    } operand[OPERANDS];
    const char *result, *result_format;
    result kind;
    void (*run)(state *s);
    int64_t rank; /* columns of the dense result; 0: a vector; SQUARE: as many as rows */
    bool famous;  /* one of the ten kernels */
} row;

typedef struct side {
    stc_machine *machine;
    stc_program *program;
    stc_tensor *bound[OPERANDS];
    char tier[TIERS_ROOM];
} side;

/* The row of that name. */
const row *row_named(const char *name);
/* The next word of a row's list of inputs; false: there is none. */
bool next_input(const char **list, char *word, size_t size);

/* sides.c */
void pick_inputs(state *s, const char *name);
void free_inputs(inputs *in);
/* Room for what the C side writes. */
void prepare_out(state *s, const row *r);
bool side_open(side *d, const row *r, state *s);
void side_close(side *d);
/* Whether the program's result is that of the C side. */
bool side_same(const side *d, const row *r, const state *s);

#endif
