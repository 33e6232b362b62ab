/* lend.c: a program that has its own CSR arrays, lends them without copying,
 * and calls a prepared expression in a loop: power iteration for the largest
 * eigenvalue of a matrix, y = A x, x = y / |y|.
 */
#include <math.h>
#include <stcvm.h>
#include <stdio.h>
#include <time.h>

#define N 1000
#define ROUNDS 1000

/* The host's own arrays: the second difference matrix in CSR. */
static int32_t row_begin[N + 1], column[3 * N];
static double value[3 * N], x[N];

static void make_matrix(void)
{
    int n = 0;
    for (int i = 0; i < N; i++) {
        for (int j = i - 1; j <= i + 1; j++) {
            if (j < 0 || j >= N) continue;
            column[n] = j;
            value[n++] = i == j ? 2 : -1;
        }
        row_begin[i + 1] = n;
        x[i] = 1 + i % 7;
    }
}

static int failed(const stc_machine *m)
{
    fprintf(stderr, "lend: %s\n", stc_error(m)->message);
    return 1;
}

static stc_status lend(stc_machine *m, stc_tensor **A, stc_tensor **v)
{
    const int64_t shape[2] = {N, N};
    stc_status st = stc_tensor_new(m, "csr", STC_F64, 2, shape, NULL, A);
    const int64_t stored = row_begin[N];
    if (!st) st = stc_tensor_lend(*A, 1, STC_POS, (stc_array){row_begin, N + 1, 4, 0});
    if (!st) st = stc_tensor_lend(*A, 1, STC_CRD, (stc_array){column, stored, 4, 0});
    if (!st) st = stc_tensor_lend_values(*A, value, stored);
    if (!st) st = stc_tensor_new(m, "dense", STC_F64, 1, shape, NULL, v);
    if (!st) st = stc_tensor_lend_values(*v, x, N);
    return st;
}

int main(void)
{
    make_matrix();
    stc_machine *m;
    stc_tensor *A, *v;
    stc_program *p;
    if (stc_open(NULL, &m) != STC_OK) return 1;
    const stc_decl decls[] = {{.name = "A", .format = "csr"}, {.name = "x"}};
    const char *text = "y(i) = A(i,j) * x(j); s = y(i) * y(i)";
    if (lend(m, &A, &v) || stc_compile(m, text, decls, 2, &p)) return failed(m);
    if (stc_bind(p, "A", A) || stc_bind(p, "x", v)) return failed(m);

    struct timespec t0, t1;
    double norm = 0;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    for (int round = 0; round < ROUNDS; round++) {
        const stc_tensor *y, *s;
        const void *from;
        int64_t n;
        stc_value square;
        if (stc_run(p) || stc_result(p, "y", &y) || stc_result(p, "s", &s))
            return failed(m);
        if (stc_tensor_get(s, NULL, &square) || stc_tensor_values(y, &from, &n))
            return failed(m);
        norm = sqrt(square.f);
        for (int i = 0; i < N; i++)
            x[i] = ((const double *)from)[i] / norm;
        stc_tensor_touch_values(v); /* its values have changed */
    }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    const double us =
        (double)(t1.tv_sec - t0.tv_sec) * 1e6 + (double)(t1.tv_nsec - t0.tv_nsec) / 1e3;
    printf("largest eigenvalue, about: %.6f\n", norm);
    printf("%.2f microseconds for each of %d rounds\n", us / ROUNDS, ROUNDS);

    stc_program_free(p);
    stc_tensor_free(A);
    stc_tensor_free(v);
    stc_close(m);
    return 0;
}
