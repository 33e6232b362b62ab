/* room.c: a program that owns all of its memory: CSR arrays are lent, and so is the room
 * that results are stored in, sparse ones too. In each round values change, a sum of two
 * matrices and a product with a vector are computed, and after the first round nothing is
 * allocated any more, which is counted. It is C99, and C++17.
 */
#include <stcvm.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2000
#define ROUNDS 200

/* Two matrices: the second difference, and ones a few columns off the diagonal. */
static int32_t a_pos[N + 1], a_crd[3 * N], b_pos[N + 1], b_crd[N];
static double a_val[3 * N], b_val[N], x[N];
/* Room for C = A + s B, and for y = C x, which is added to in each round. */
static int32_t c_pos[N + 1], c_crd[4 * N];
static double c_val[4 * N], y[N], scale;

#ifdef COUNTED /* a test counts what the C library is asked for */
#ifdef __cplusplus
extern "C"
#endif
    long
    host_allocations(void);
static stc_alloc_fn const allocator = NULL;
#else
static long calls;
static void *allocate(void *context, void *block, size_t old_size, size_t size)
{
    (void)context, (void)old_size;
    calls += size > 0;
    if (size) return realloc(block, size);
    free(block);
    return NULL;
}
static stc_alloc_fn const allocator = allocate;
static long host_allocations(void)
{
    return calls;
}
#endif

static void make_matrices(void)
{
    int32_t n = 0, k = 0;
    int i, j;
    for (i = 0; i < N; i++) {
        for (j = i - 1; j <= i + 1; j++) {
            if (j < 0 || j >= N) continue;
            a_crd[n] = (int32_t)j;
            a_val[n++] = i == j ? 2 : -1;
        }
        b_crd[k] = (int32_t)((i + 5) % N);
        b_val[k++] = 1;
        a_pos[i + 1] = n;
        b_pos[i + 1] = k;
        x[i] = 1 + i % 7;
    }
}

static stc_array indices(int32_t *at, int64_t n)
{
    stc_array a;
    a.data = at;
    a.length = n;
    a.width = 4;
    a.stride = 0;
    return a;
}

static stc_status lend_csr(stc_machine *m, int32_t *pos, int32_t *crd, double *val,
                           stc_tensor **out)
{
    const int64_t shape[2] = {N, N};
    stc_status st = stc_tensor_new(m, "csr", STC_F64, 2, shape, NULL, out);
    if (!st) st = stc_tensor_lend(*out, 1, STC_POS, indices(pos, N + 1));
    if (!st) st = stc_tensor_lend(*out, 1, STC_CRD, indices(crd, pos[N]));
    return st ? st : stc_tensor_lend_values(*out, val, pos[N]);
}

static stc_status lend_dense(stc_machine *m, int order, double *val, stc_tensor **out)
{
    const int64_t shape[1] = {N};
    const stc_status st = stc_tensor_new(m, "dense", STC_F64, order, shape, NULL, out);
    return st ? st : stc_tensor_lend_values(*out, val, order ? N : 1);
}

/* Operands are A, B, s, x and y. */
static stc_status make_program(stc_machine *m, stc_tensor **t, stc_program **p)
{
    static const char *const name[5] = {"A", "B", "s", "x", "y"};
    const stc_decl decls[6] = {{sizeof(stc_decl), "A", "csr", STC_F64, NULL, 2},
                               {sizeof(stc_decl), "B", "csr", STC_F64, NULL, 2},
                               {sizeof(stc_decl), "C", "csr", STC_F64, NULL, 2},
                               {sizeof(stc_decl), "y", "dense", STC_F64, NULL, 1},
                               {sizeof(stc_decl), "s", "dense", STC_F64, NULL, 0},
                               {sizeof(stc_decl), "x", "dense", STC_F64, NULL, 1}};
    int k;
    stc_status st =
        stc_compile(m, "C(i,j) = A(i,j) + s * B(i,j)\ny(i) += C(i,j) * x(j)", decls, 6, p);
    for (k = 0; k < 5 && !st; k++)
        st = stc_bind_slot(*p, stc_program_slot(*p, name[k]), t[k]);
    if (!st) st = stc_lend_result(*p, "y", y, N);
    if (!st) st = stc_lend_result(*p, "C", c_val, 4 * N);
    if (!st) st = stc_lend_result_array(*p, "C", 1, STC_POS, indices(c_pos, N + 1));
    return st ? st : stc_lend_result_array(*p, "C", 1, STC_CRD, indices(c_crd, 4 * N));
}

/* What y gets in a round, from C as it is now. */
static int differs(const double *before)
{
    int i;
    for (i = 0; i < N; i++) {
        double sum = 0;
        int32_t q;
        for (q = c_pos[i]; q < c_pos[i + 1]; q++)
            sum += c_val[q] * x[c_crd[q]];
        if (y[i] - before[i] - sum > 1e-6 || before[i] + sum - y[i] > 1e-6) return 1;
    }
    return 0;
}

int main(void)
{
    static double before[N];
    stc_machine *m;
    stc_tensor *t[5] = {NULL, NULL, NULL, NULL, NULL};
    stc_program *p = NULL;
    static stc_config config; /* zeros: the defaults */
    stc_status st;
    long first = 0;
    int k, i, wrong = 0;
    make_matrices();
    config.size = sizeof config;
    config.alloc = allocator;
    if (stc_open(&config, &m) != STC_OK) return 1;
    st = lend_csr(m, a_pos, a_crd, a_val, &t[0]);
    if (!st) st = lend_csr(m, b_pos, b_crd, b_val, &t[1]);
    if (!st) st = lend_dense(m, 0, &scale, &t[2]);
    if (!st) st = lend_dense(m, 1, x, &t[3]);
    if (!st) st = lend_dense(m, 1, y, &t[4]);
    if (!st) st = make_program(m, t, &p);
    for (k = 0; k < ROUNDS && !st; k++) {
        scale = 1 + k % 3;
        x[k] += 1;
        for (i = 0; i < N; i++)
            before[i] = y[i];
        stc_tensor_touch_values(t[2]);
        stc_tensor_touch_values(t[3]);
        st = stc_run(p);
        if (k == 0) first = host_allocations();
        wrong += st == STC_OK && differs(before);
    }
    if (st) fprintf(stderr, "room: %s\n", stc_error(m)->message);
    printf("%d rounds, %d entries, %d wrong; %ld allocations after the first round\n", k,
           (int)c_pos[N], wrong, host_allocations() - first);
    wrong += host_allocations() != first;
    stc_program_free(p);
    for (k = 0; k < 5; k++)
        stc_tensor_free(t[k]);
    stc_close(m);
    return st || wrong;
}
