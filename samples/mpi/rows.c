/* rows.c: a matrix larger than one machine: its rows in blocks over MPI ranks.
 *
 * Each rank has rows of its own of A, a tensor like any other, and a whole x.
 * y(i) = A(i,j) * x(j) gives its part of y, which all ranks then gather: that
 * is a power iteration. Whatever is local is stcvm's, whatever is between
 * ranks is MPI's.
 *
 *     $ mpirun -n 4 build/samples/mpi/rows
 */
#include <math.h>
#include <mpi.h>
#include <stcvm.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000, ROUNDS = 200 };

typedef struct block {
    int begin, end; /* rows                                                  */
    int32_t *pos, *crd;
    double *value;
} block;

static int begin_of(int rank, int ranks)
{
    return (int)((int64_t)N * rank / ranks);
}

static void make_rows(block *b)
{
    int n = 0;
    b->pos[0] = 0;
    for (int i = b->begin; i < b->end; i++) {
        for (int j = i > 0 ? i - 1 : 0; j < N && j <= i + 1; j++) {
            b->crd[n] = j;
            b->value[n++] = i == j ? 2 : -1;
        }
        b->pos[i - b->begin + 1] = n;
    }
}

static stc_status lend(stc_machine *m, const block *b, stc_tensor **A)
{
    const int rows = b->end - b->begin;
    const int64_t shape[2] = {rows, N}, n = b->pos[rows];
    stc_status st = stc_tensor_new(m, "csr", STC_F64, 2, shape, NULL, A);
    if (!st) st = stc_tensor_lend(*A, 1, STC_POS, (stc_array){b->pos, rows + 1, 4, 0});
    if (!st) st = stc_tensor_lend(*A, 1, STC_CRD, (stc_array){b->crd, n, 4, 0});
    if (!st) st = stc_tensor_lend_values(*A, b->value, n);
    return st;
}

/* One product, gathered into x and divided by its norm, which is returned. */
static stc_status round_trip(stc_program *p, const int *counts, const int *begins,
                             double *x, double *norm)
{
    const stc_tensor *y;
    const void *part;
    int64_t n;
    stc_status st = stc_run(p);
    if (!st) st = stc_result(p, "y", &y);
    if (!st) st = stc_tensor_values(y, &part, &n);
    if (st) return st;
    MPI_Allgatherv(part, (int)n, MPI_DOUBLE, x, counts, begins, MPI_DOUBLE, MPI_COMM_WORLD);
    *norm = 0;
    for (int i = 0; i < N; i++)
        *norm += x[i] * x[i];
    *norm = sqrt(*norm);
    for (int i = 0; i < N; i++)
        x[i] /= *norm;
    return STC_OK;
}

int main(int argc, char **argv)
{
    static const stc_decl decls[] = {{.name = "A", .format = "csr"}, {.name = "x"}};
    static int32_t pos[N + 1], crd[3 * N];
    static double value[3 * N], x[N];
    int rank, ranks, counts[256], begins[256];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > 256) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int r = 0; r < ranks; r++) {
        begins[r] = begin_of(r, ranks);
        counts[r] = begin_of(r + 1, ranks) - begins[r];
    }
    block b = {begins[rank], begins[rank] + counts[rank], pos, crd, value};
    make_rows(&b);
    for (int i = 0; i < N; i++)
        x[i] = 1 + i % 7;

    stc_machine *m;
    stc_tensor *A = NULL, *v = NULL;
    stc_program *p;
    const int64_t shape = N;
    double norm = 0;
    if (stc_open(NULL, &m)) MPI_Abort(MPI_COMM_WORLD, 1);
    stc_status st = lend(m, &b, &A);
    if (!st) st = stc_tensor_new(m, "dense", STC_F64, 1, &shape, NULL, &v);
    if (!st) st = stc_tensor_lend_values(v, x, N);
    if (!st) st = stc_compile(m, "y(i) = A(i,j) * x(j)", decls, 2, &p);
    if (!st) st = stc_bind(p, "A", A);
    if (!st) st = stc_bind(p, "x", v);
    for (int k = 0; !st && k < ROUNDS; k++) {
        st = round_trip(p, counts, begins, x, &norm);
        stc_tensor_touch_values(v);
    }
    if (st) {
        fprintf(stderr, "rank %d: %s\n", rank, stc_error(m)->message);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0)
        printf("%d ranks, %d rounds: largest eigenvalue, about: %.6f\n", ranks, ROUNDS,
               norm);
    stc_tensor_free(A);
    stc_tensor_free(v);
    stc_close(m);
    MPI_Finalize();
    return 0;
}
