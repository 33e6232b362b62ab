/* completion.c: matrix completion by gradient descent, from the header alone: a matrix of
 * which a part is known is fitted by the product of two small ones. That of a file, if one
 * is named (`completion ratings.mtx`; its values are brought to at most 1), else one that
 * is made and of which a quarter is known. stc_gradient writes the derivatives' program;
 * the loop lends it the factors, and it stores the derivatives in arrays of this program,
 * without a copy.
 */
#include <math.h>
#include <stcvm.h>
#include <stdio.h>
#include <stdlib.h>

#define RANK 3
#define KNOWN 2400
#define ROUNDS 1000

/* One factor: what is fitted, its derivative, and how fast each number goes. */
typedef struct factor {
    int64_t n; /* rows * RANK */
    double *value, *slope, *pace;
    stc_tensor *t;
} factor;

static double uniform(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0;
}

/* Known entries of a matrix of rank RANK, at random places. */
static stc_status make_matrix(stc_machine *m, stc_tensor **A)
{
    static double left[120 * RANK], right[80 * RANK];
    static char taken[120 * 80];
    const int64_t shape[2] = {120, 80};
    uint32_t state = 7;
    stc_builder *b = NULL;
    int n, k;
    stc_status st = stc_builder_open(m, "csr", STC_F64, 2, shape, NULL, NULL, &b);
    for (k = 0; k < 120 * RANK; k++)
        left[k] = uniform(&state) - 0.3;
    for (k = 0; k < 80 * RANK; k++)
        right[k] = uniform(&state) - 0.3;
    for (n = 0; n < KNOWN && !st;) {
        int64_t at[2];
        double value = 0;
        at[0] = (int64_t)(uniform(&state) * 120);
        at[1] = (int64_t)(uniform(&state) * 80);
        if (taken[at[0] * 80 + at[1]]++) continue;
        for (k = 0; k < RANK; k++)
            value += left[at[0] * RANK + k] * right[at[1] * RANK + k];
        st = stc_builder_put(b, at, &value);
        n++;
    }
    if (!st) st = stc_builder_finish(b, A);
    stc_builder_free(b);
    return st;
}

/* A file's matrix, divided by its largest value. */
static stc_status read_matrix(stc_machine *m, const char *path, stc_tensor **A)
{
    const stc_decl decl = {sizeof(stc_decl), "R", "csr", STC_F64, NULL, 2};
    stc_tensor *read = NULL;
    stc_program *p = NULL;
    stc_status st = stc_tensor_read(m, path, "csr", STC_F64, NULL, &read);
    if (!st)
        st = stc_compile(m, "top = max(i,j: abs(R(i,j)))\nA(i,j) = R(i,j) / top", &decl, 1,
                         &p);
    if (!st) st = stc_bind(p, "R", read);
    if (!st) st = stc_run(p);
    if (!st) st = stc_take(p, "A", A);
    stc_program_free(p);
    stc_tensor_free(read);
    return st;
}

static stc_status begin(stc_machine *m, int64_t rows, uint32_t seed, factor *f)
{
    const int64_t shape[2] = {rows, RANK};
    int64_t k;
    stc_status st = stc_tensor_new(m, "dense", STC_F64, 2, shape, NULL, &f->t);
    f->n = rows * RANK;
    f->value = (double *)calloc(3 * (size_t)f->n, sizeof(double));
    if (st || !f->value) return st ? st : STC_ERR_MEMORY;
    f->slope = f->value + f->n;
    f->pace = f->slope + f->n;
    for (k = 0; k < f->n; k++)
        f->value[k] = uniform(&seed) - 0.3;
    return stc_tensor_lend_values(f->t, f->value, f->n);
}

/* The program: the error where the matrix is known, its squares, and the derivatives. */
static stc_status make_program(stc_machine *m, factor *U, factor *V, stc_program **p)
{
    static const char text[] =
        "E(i,j) = sampled(A(i,j), sum(k: U(i,k) * V(j,k)) - A(i,j))\n"
        "loss = sum(i,j: E(i,j)**2)\n";
    static const char *const by[2] = {"U", "V"};
    const stc_decl decls[3] = {{sizeof(stc_decl), "A", "csr", STC_F64, NULL, 2},
                               {sizeof(stc_decl), "U", "dense", STC_F64, NULL, 2},
                               {sizeof(stc_decl), "V", "dense", STC_F64, NULL, 2}};
    char *whole;
    stc_status st = stc_gradient(m, text, decls, 3, "loss", by, 2, &whole);
    if (st) return st;
    printf("%s\n", whole);
    st = stc_compile(m, whole, decls, 3, p);
    stc_text_free(m, whole);
    if (!st) st = stc_lend_result(*p, "d_U", U->slope, U->n);
    return st ? st : stc_lend_result(*p, "d_V", V->slope, V->n);
}

/* A step down for each number by itself (AdaGrad). */
static void descend(factor *f)
{
    int64_t k;
    for (k = 0; k < f->n; k++) {
        f->pace[k] += f->slope[k] * f->slope[k];
        f->value[k] -= 0.2 * f->slope[k] / (sqrt(f->pace[k]) + 1e-12);
    }
    stc_tensor_touch_values(f->t);
}

static stc_status fit(stc_machine *m, stc_tensor *A, factor *U, factor *V, double *first,
                      double *loss)
{
    const stc_tensor *s;
    stc_value value;
    stc_program *p = NULL;
    int round;
    stc_status st = make_program(m, U, V, &p);
    if (!st) st = stc_bind(p, "A", A);
    if (!st) st = stc_bind(p, "U", U->t);
    if (!st) st = stc_bind(p, "V", V->t);
    for (round = 0; round <= ROUNDS && !st; round++) {
        st = stc_run(p);
        if (!st) st = stc_result(p, "loss", &s);
        if (!st) st = stc_tensor_get(s, NULL, &value);
        if (st) break;
        *loss = value.f;
        if (round == 0) *first = value.f;
        if (round % 250 == 0) printf("round %d loss %.6f\n", round, value.f);
        descend(U);
        descend(V);
    }
    stc_program_free(p);
    return st;
}

int main(int argc, char **argv)
{
    stc_machine *m;
    stc_tensor *A = NULL;
    factor U = {0, NULL, NULL, NULL, NULL}, V = {0, NULL, NULL, NULL, NULL};
    double loss = 0, first = 0;
    stc_status st;
    if (stc_open(NULL, &m) != STC_OK) return 1;
    st = argc > 1 ? read_matrix(m, argv[1], &A) : make_matrix(m, &A);
    if (!st) st = begin(m, stc_tensor_shape(A)[0], 3, &U);
    if (!st) st = begin(m, stc_tensor_shape(A)[1], 4, &V);
    if (!st) st = fit(m, A, &U, &V, &first, &loss);
    if (st)
        fprintf(stderr, "completion: %s\n", stc_error(m)->message);
    else
        printf("loss %.6f of %.6f is left for %lld known entries\n", loss, first,
               (long long)stc_tensor_stored(A));
    stc_tensor_free(A);
    stc_tensor_free(U.t);
    stc_tensor_free(V.t);
    free(U.value);
    free(V.value);
    stc_close(m);
    return st || loss > first / 2;
}
