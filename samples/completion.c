/* completion.c: matrix completion by gradient descent, from the header alone: a matrix of
 * which a tenth is known is fitted by the product of two small ones. stc_gradient writes
 * the derivatives' program; the loop lends it the factors, and it stores the derivatives in
 * arrays of this program, without a copy.
 */
#include <math.h>
#include <stcvm.h>
#include <stdio.h>

#define ROWS 120
#define COLUMNS 80
#define RANK 3
#define KNOWN 2400
#define ROUNDS 1000
#define RATE 0.01

static double u[ROWS * RANK], v[COLUMNS * RANK];   /* what is fitted            */
static double du[ROWS * RANK], dv[COLUMNS * RANK]; /* its derivatives           */
static double true_u[ROWS * RANK], true_v[COLUMNS * RANK];

static double uniform(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0;
}

static void fill(double *to, int n, uint32_t seed)
{
    int i;
    for (i = 0; i < n; i++)
        to[i] = uniform(&seed) - 0.3;
}

/* Known entries of true_u * true_v', at random places. */
static stc_status make_matrix(stc_machine *m, stc_tensor **A)
{
    static int64_t at[2 * KNOWN];
    static double value[KNOWN];
    static char taken[ROWS * COLUMNS];
    const int64_t shape[2] = {ROWS, COLUMNS};
    uint32_t state = 7;
    int n = 0, k;
    while (n < KNOWN) {
        const int64_t i = (int64_t)(uniform(&state) * ROWS);
        const int64_t j = (int64_t)(uniform(&state) * COLUMNS);
        if (taken[i * COLUMNS + j]++) continue;
        at[n] = i;
        at[KNOWN + n] = j;
        value[n] = 0;
        for (k = 0; k < RANK; k++)
            value[n] += true_u[i * RANK + k] * true_v[j * RANK + k];
        n++;
    }
    return stc_tensor_from_coords(m, "csr", STC_F64, 2, shape, NULL, KNOWN, at, value, A);
}

static stc_status lend(stc_machine *m, int64_t rows, double *values, stc_tensor **out)
{
    int64_t shape[2];
    stc_status st;
    shape[0] = rows;
    shape[1] = RANK;
    st = stc_tensor_new(m, "dense", STC_F64, 2, shape, NULL, out);
    return st ? st : stc_tensor_lend_values(*out, values, rows * RANK);
}

/* The program: the error where the matrix is known, its squares, and the derivatives. */
static stc_status make_program(stc_machine *m, stc_program **p)
{
    static const char text[] =
        "E(i,j) = sampled(A(i,j), sum(k: U(i,k) * V(j,k)) - A(i,j))\n"
        "loss = sum(i,j: E(i,j)**2)\n";
    static const char *const by[2] = {"U", "V"};
    const stc_decl decls[3] = {{"A", "csr", STC_F64, NULL, 2},
                               {"U", "dense", STC_F64, NULL, 2},
                               {"V", "dense", STC_F64, NULL, 2}};
    char *whole;
    stc_status st = stc_gradient(m, text, decls, 3, "loss", by, 2, &whole);
    if (st) return st;
    printf("%s\n", whole);
    st = stc_compile(m, whole, decls, 3, p);
    stc_text_free(m, whole);
    if (!st) st = stc_lend_result(*p, "d_U", du, ROWS * RANK);
    return st ? st : stc_lend_result(*p, "d_V", dv, COLUMNS * RANK);
}

static stc_status round_of(stc_program *p, stc_tensor *U, stc_tensor *V, double *loss)
{
    const stc_tensor *s;
    stc_value value;
    int i;
    stc_status st = stc_run(p);
    if (!st) st = stc_result(p, "loss", &s);
    if (!st) st = stc_tensor_get(s, NULL, &value);
    if (st) return st;
    *loss = value.f;
    for (i = 0; i < ROWS * RANK; i++)
        u[i] -= RATE * du[i];
    for (i = 0; i < COLUMNS * RANK; i++)
        v[i] -= RATE * dv[i];
    stc_tensor_touch_values(U);
    stc_tensor_touch_values(V);
    return STC_OK;
}

/* The root of the mean square of what is left, over all elements, known or not. */
static double left_over(void)
{
    double sum = 0;
    int i, j, k;
    for (i = 0; i < ROWS; i++)
        for (j = 0; j < COLUMNS; j++) {
            double off = 0;
            for (k = 0; k < RANK; k++)
                off += u[i * RANK + k] * v[j * RANK + k] -
                       true_u[i * RANK + k] * true_v[j * RANK + k];
            sum += off * off;
        }
    return sqrt(sum / (ROWS * COLUMNS));
}

int main(void)
{
    stc_machine *m;
    stc_tensor *A = NULL, *U = NULL, *V = NULL;
    stc_program *p = NULL;
    stc_status st;
    double loss = 0, first = 0;
    int round;
    fill(true_u, ROWS * RANK, 1);
    fill(true_v, COLUMNS * RANK, 2);
    fill(u, ROWS * RANK, 3);
    fill(v, COLUMNS * RANK, 4);
    if (stc_open(NULL, &m) != STC_OK) return 1;
    st = make_matrix(m, &A);
    if (!st) st = lend(m, ROWS, u, &U);
    if (!st) st = lend(m, COLUMNS, v, &V);
    if (!st) st = make_program(m, &p);
    if (!st) st = stc_bind(p, "A", A);
    if (!st) st = stc_bind(p, "U", U);
    if (!st) st = stc_bind(p, "V", V);
    for (round = 0; round <= ROUNDS && !st; round++) {
        st = round_of(p, U, V, &loss);
        if (round == 0) first = loss;
        if (!st && round % 250 == 0) printf("round %d loss %.6f\n", round, loss);
    }
    if (st) {
        fprintf(stderr, "completion: %s\n", stc_error(m)->message);
        return 1;
    }
    printf("off by %.4f in the mean, known or not\n", left_over());
    stc_program_free(p);
    stc_tensor_free(A);
    stc_tensor_free(U);
    stc_tensor_free(V);
    stc_close(m);
    return loss < 0.01 * first ? 0 : 1;
}
