/* kernels_ref.c: the loops that a sparse compiler emits for each row, written
 * out by hand; compiled with -O3 -march=native, contraction off.
 *
 * They are given every advantage that a compiled kernel has: exact types,
 * known formats, buffers that are kept between runs (so that no page is
 * touched for the first time while the clock runs).
 */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void ref_out_init(ref_out *o, int64_t rows, int64_t cols)
{
    *o = (ref_out){.m = {rows, cols, 0, NULL, NULL, NULL}};
    o->m.pos = xalloc((size_t)(rows + 1) * sizeof(int32_t));
    o->row = xalloc((size_t)cols * sizeof(double));
    o->set = xalloc((size_t)cols * sizeof(bool));
    o->list = xalloc((size_t)cols * sizeof(int32_t));
    memset(o->set, 0, (size_t)cols * sizeof(bool));
}

void ref_out_free(ref_out *o)
{
    csr_free(&o->m);
    free(o->row);
    free(o->set);
    free(o->list);
    *o = (ref_out){0};
}

static void grow(ref_out *o, int64_t need)
{
    if (need <= o->cap) return;
    int64_t cap = o->cap ? o->cap : 1 << 20;
    while (cap < need)
        cap *= 2;
    o->m.crd = realloc(o->m.crd, (size_t)cap * sizeof(int32_t));
    o->m.val = realloc(o->m.val, (size_t)cap * sizeof(double));
    if (!o->m.crd || !o->m.val) abort();
    o->cap = cap;
}

void ref_spmv(const csr *a, const double *restrict x, double *restrict y)
{
    for (int64_t i = 0; i < a->rows; i++) {
        double sum = 0;
        for (int32_t p = a->pos[i]; p < a->pos[i + 1]; p++)
            sum += a->val[p] * x[a->crd[p]];
        y[i] = sum;
    }
}

void ref_masked_mxv(const int32_t *mask, int64_t count, const csr *a,
                    const double *restrict x, double *restrict y)
{
    memset(y, 0, (size_t)a->rows * sizeof *y);
    for (int64_t q = 0; q < count; q++) {
        int32_t i = mask[q];
        double sum = 0;
        for (int32_t p = a->pos[i]; p < a->pos[i + 1]; p++)
            sum += a->val[p] * x[a->crd[p]];
        y[i] = sum;
    }
}

void ref_spmm(const csr *a, const double *restrict b, int64_t r, double *restrict c)
{
    memset(c, 0, (size_t)(a->rows * r) * sizeof *c);
    for (int64_t i = 0; i < a->rows; i++) {
        for (int32_t p = a->pos[i]; p < a->pos[i + 1]; p++) {
            int64_t k = a->crd[p];
            for (int64_t j = 0; j < r; j++)
                c[i * r + j] += a->val[p] * b[k * r + j];
        }
    }
}

void ref_sddmm(const csr *a, const double *restrict b, const double *restrict c, int64_t r,
               ref_out *o)
{
    grow(o, a->nnz);
    for (int64_t i = 0; i < a->rows; i++) {
        o->m.pos[i] = a->pos[i];
        for (int32_t p = a->pos[i]; p < a->pos[i + 1]; p++) {
            int64_t j = a->crd[p];
            double sum = 0;
            for (int64_t k = 0; k < r; k++)
                sum += a->val[p] * b[i * r + k] * c[j * r + k];
            o->m.crd[p] = (int32_t)j;
            o->m.val[p] = sum;
        }
    }
    o->m.pos[a->rows] = a->pos[a->rows];
    o->m.nnz = a->nnz;
}

/* Two-way union, as a lattice of {A,B} {A} {B} is emitted. */
#define UNION(NAME, BOTH, LEFT, RIGHT)                                                     \
    void NAME(const csr *a, const csr *b, ref_out *o)                                      \
    {                                                                                      \
        grow(o, a->nnz + b->nnz);                                                          \
        int32_t *restrict crd = o->m.crd;                                                  \
        double *restrict val = o->m.val;                                                   \
        int64_t z = 0;                                                                     \
        o->m.pos[0] = 0;                                                                   \
        for (int64_t i = 0; i < a->rows; i++) {                                            \
            int32_t p = a->pos[i], pe = a->pos[i + 1], q = b->pos[i], qe = b->pos[i + 1];  \
            while (p < pe && q < qe) {                                                     \
                int32_t ja = a->crd[p], jb = b->crd[q], j = ja < jb ? ja : jb;             \
                crd[z] = j;                                                                \
                if (ja == j && jb == j) {                                                  \
                    double x = a->val[p], y = b->val[q];                                   \
                    val[z] = BOTH;                                                         \
                } else if (ja == j) {                                                      \
                    double x = a->val[p];                                                  \
                    val[z] = LEFT;                                                         \
                } else {                                                                   \
                    double y = b->val[q];                                                  \
                    val[z] = RIGHT;                                                        \
                }                                                                          \
                z++;                                                                       \
                p += ja == j;                                                              \
                q += jb == j;                                                              \
            }                                                                              \
            for (; p < pe; p++) {                                                          \
                double x = a->val[p];                                                      \
                crd[z] = a->crd[p];                                                        \
                val[z++] = LEFT;                                                           \
            }                                                                              \
            for (; q < qe; q++) {                                                          \
                double y = b->val[q];                                                      \
                crd[z] = b->crd[q];                                                        \
                val[z++] = RIGHT;                                                          \
            }                                                                              \
            o->m.pos[i + 1] = (int32_t)z;                                                  \
        }                                                                                  \
        o->m.nnz = z;                                                                      \
    }

UNION(ref_add, x + y, x, y)
UNION(ref_max, (x > y ? x : y), (x > 0 ? x : 0), (y > 0 ? y : 0))
UNION(ref_sqrt_sum, sqrt(x *x + y * y), sqrt(x *x), sqrt(y *y))

void ref_mul(const csr *a, const csr *b, ref_out *o)
{
    grow(o, a->nnz < b->nnz ? a->nnz : b->nnz);
    int64_t z = 0;
    o->m.pos[0] = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        int32_t p = a->pos[i], q = b->pos[i];
        while (p < a->pos[i + 1] && q < b->pos[i + 1]) {
            int32_t ja = a->crd[p], jb = b->crd[q], j = ja < jb ? ja : jb;
            if (ja == j && jb == j) {
                o->m.crd[z] = j;
                o->m.val[z++] = a->val[p] * b->val[q];
            }
            p += ja == j;
            q += jb == j;
        }
        o->m.pos[i + 1] = (int32_t)z;
    }
    o->m.nnz = z;
}

/* One operand's pattern, with values that FACTOR scales. */
#define SCALED(NAME, ARGUMENT, FACTOR)                                                     \
    void NAME(const csr *a, ARGUMENT, ref_out *o)                                          \
    {                                                                                      \
        grow(o, a->nnz);                                                                   \
        int32_t *restrict crd = o->m.crd;                                                  \
        double *restrict val = o->m.val;                                                   \
        int64_t z = 0;                                                                     \
        o->m.pos[0] = 0;                                                                   \
        for (int64_t i = 0; i < a->rows; i++) {                                            \
            for (int32_t p = a->pos[i]; p < a->pos[i + 1]; p++) {                          \
                const int32_t j = a->crd[p];                                               \
                crd[z] = j;                                                                \
                val[z++] = FACTOR * a->val[p];                                             \
            }                                                                              \
            o->m.pos[i + 1] = (int32_t)z;                                                  \
        }                                                                                  \
        o->m.nnz = z;                                                                      \
    }

SCALED(ref_scale, double s, s)
SCALED(ref_scale_rows, const double *x, x[i])
SCALED(ref_scale_columns, const double *x, x[j])

static int compare_columns(const void *pa, const void *pb)
{
    int32_t a = *(const int32_t *)pa, b = *(const int32_t *)pb;
    return (a > b) - (a < b);
}

/* Gustavson: a dense row, a flag a column, a list that is sorted. */
void ref_spgemm(const csr *a, const csr *b, ref_out *o)
{
    int64_t z = 0;
    o->m.pos[0] = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        int64_t count = 0;
        for (int32_t p = a->pos[i]; p < a->pos[i + 1]; p++) {
            int32_t k = a->crd[p];
            double v = a->val[p];
            for (int32_t q = b->pos[k]; q < b->pos[k + 1]; q++) {
                int32_t j = b->crd[q];
                if (!o->set[j]) {
                    o->set[j] = true;
                    o->list[count++] = j;
                    o->row[j] = v * b->val[q];
                } else {
                    o->row[j] += v * b->val[q];
                }
            }
        }
        qsort(o->list, (size_t)count, sizeof *o->list, compare_columns);
        grow(o, z + count);
        for (int64_t t = 0; t < count; t++) {
            int32_t j = o->list[t];
            o->m.crd[z] = j;
            o->m.val[z++] = o->row[j];
            o->set[j] = false;
        }
        o->m.pos[i + 1] = (int32_t)z;
    }
    o->m.nnz = z;
}

static double inner_fiber(const csf *a, const csf *b, int32_t pa, int32_t pb)
{
    double sum = 0;
    int32_t p = a->pos[2][pa], pe = a->pos[2][pa + 1];
    int32_t q = b->pos[2][pb], qe = b->pos[2][pb + 1];
    while (p < pe && q < qe) {
        int32_t x = a->crd[2][p], y = b->crd[2][q];
        if (x == y) sum += a->val[p] * b->val[q];
        p += x <= y;
        q += y <= x;
    }
    return sum;
}

double ref_inner(const csf *a, const csf *b)
{
    double sum = 0;
    int32_t p = 0, q = 0;
    while (p < a->n[0] && q < b->n[0]) {
        int32_t x = a->crd[0][p], y = b->crd[0][q];
        if (x == y) {
            int32_t r = a->pos[1][p], s = b->pos[1][q];
            while (r < a->pos[1][p + 1] && s < b->pos[1][q + 1]) {
                int32_t u = a->crd[1][r], v = b->crd[1][s];
                if (u == v) sum += inner_fiber(a, b, r, s);
                r += u <= v;
                s += v <= u;
            }
        }
        p += x <= y;
        q += y <= x;
    }
    return sum;
}

void ref_mttkrp(const csf *b, const double *restrict c, const double *restrict d, int64_t r,
                double *restrict a)
{
    memset(a, 0, (size_t)(b->dim * r) * sizeof *a);
    for (int32_t pi = 0; pi < b->n[0]; pi++) {
        int64_t i = b->crd[0][pi];
        for (int32_t pk = b->pos[1][pi]; pk < b->pos[1][pi + 1]; pk++) {
            int64_t k = b->crd[1][pk];
            for (int32_t pl = b->pos[2][pk]; pl < b->pos[2][pk + 1]; pl++) {
                int64_t l = b->crd[2][pl];
                for (int64_t j = 0; j < r; j++)
                    a[i * r + j] += b->val[pl] * c[k * r + j] * d[l * r + j];
            }
        }
    }
}

/* a is dense over the first two modes. */
void ref_ttv(const csf *b, const double *restrict c, double *restrict a)
{
    memset(a, 0, (size_t)(b->dim * b->dim) * sizeof *a);
    for (int32_t pi = 0; pi < b->n[0]; pi++) {
        for (int32_t pj = b->pos[1][pi]; pj < b->pos[1][pi + 1]; pj++) {
            double sum = 0;
            for (int32_t pk = b->pos[2][pj]; pk < b->pos[2][pj + 1]; pk++)
                sum += b->val[pk] * c[b->crd[2][pk]];
            a[b->crd[0][pi] * b->dim + b->crd[1][pj]] = sum;
        }
    }
}

/* a(i,j,f) = b(i,j,k) * c(k,f); the rows of a follow the fibers of b. */
void ref_ttm(const csf *b, const double *restrict c, int64_t r, double *restrict a)
{
    for (int32_t pj = 0; pj < b->n[1]; pj++) {
        double *restrict row = a + (int64_t)pj * r;
        memset(row, 0, (size_t)r * sizeof *row);
        for (int32_t pk = b->pos[2][pj]; pk < b->pos[2][pj + 1]; pk++) {
            int64_t k = b->crd[2][pk];
            for (int64_t f = 0; f < r; f++)
                row[f] += b->val[pk] * c[k * r + f];
        }
    }
}
