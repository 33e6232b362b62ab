/* convolution.c: the convolution paper's evaluation (§6).
 *
 * - 1-, 2- and 3-D convolutions with filters of 3, 3x3 and 3x3x3 (fig. 17), at
 *   sparsities from 0 to 99.9 per cent, against the dense C loops on the same
 *   data: where a sparse operand begins to pay;
 * - a 3x3 filter over 1000 x 1000 with 50 000 nonzeros, into a dense and into a
 *   csr result, against C loops over the nonzeros;
 * - the same in the order i, j, p, q, which a user may write, against the dense C loops
 *   in that order, and the C loops over the nonzeros;
 * - stencils of 5 and 7 points, against the C loops over all elements;
 * - a layer of ResNet50 with its input in dccc (fig. 16), from 90 to 99.9 per
 *   cent, against C loops over the nonzeros: time has to follow their number.
 */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 9, SIDE1 = 999999, SIDE2 = 999, SIDE3 = 99, SIDE = 3 };
enum { IMAGE = 112, CHANNELS = 64, FEATURES = 64 };

/* The operands as plain arrays; nonzeros by row for the C loops over them. */
typedef struct data {
    int64_t shape[4], all, width; /* of the filter: known only when it runs */
    double *a, *f, *out, *line;
    bool *set;
    int32_t *crd;
    csr nz; /* of the operand as a matrix: all modes but the last, the last one */
    int64_t stored;
} data;

/* ---- C loops --------------------------------------------------------------------- */

static void dense_1d(data *s)
{
    const int64_t n = s->shape[0] - s->width + 1;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t p = 0; p < s->width; p++)
            sum += s->a[i + p] * s->f[p];
        s->out[i] = sum;
    }
}

static void dense_2d(data *s)
{
    const int64_t w = s->shape[1], n = s->shape[0] - s->width + 1, m = w - s->width + 1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            double sum = 0;
            for (int64_t p = 0; p < s->width; p++)
                for (int64_t q = 0; q < s->width; q++)
                    sum += s->a[(i + p) * w + j + q] * s->f[p * s->width + q];
            s->out[i * m + j] = sum;
        }
}

static void dense_3d(data *s)
{
    const int64_t w = s->shape[0], n = w - s->width + 1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t k = 0; k < n; k++) {
                double sum = 0;
                for (int64_t p = 0; p < s->width; p++)
                    for (int64_t q = 0; q < s->width; q++)
                        for (int64_t r = 0; r < s->width; r++)
                            sum += s->a[((i + p) * w + j + q) * w + k + r] *
                                   s->f[(p * s->width + q) * s->width + r];
                s->out[(i * n + j) * n + k] = sum;
            }
}

/* As a sparse compiler has it in the order p, q, i, j. */
static void sparse_to_dense(data *s)
{
    const int64_t n = s->shape[0] - s->width + 1, m = s->shape[1] - s->width + 1;
    memset(s->out, 0, (size_t)(n * m) * sizeof *s->out);
    for (int64_t p = 0; p < s->width; p++)
        for (int64_t q = 0; q < s->width; q++)
            for (int64_t i = 0; i < n; i++)
                for (int32_t e = s->nz.pos[i + p]; e < s->nz.pos[i + p + 1]; e++) {
                    const int64_t j = s->nz.crd[e] - q;
                    if (j < 0) continue;
                    if (j >= m) break;
                    s->out[i * m + j] += s->nz.val[e] * s->f[p * s->width + q];
                }
}

/* A row at a time, through a dense line with flags, which is scanned; the result's
 * arrays are as large as they can get, and are kept. */
static void sparse_to_csr(data *s)
{
    const int64_t n = s->shape[0] - s->width + 1, m = s->shape[1] - s->width + 1;
    s->stored = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t p = 0; p < s->width; p++)
            for (int64_t q = 0; q < s->width; q++)
                for (int32_t e = s->nz.pos[i + p]; e < s->nz.pos[i + p + 1]; e++) {
                    const int64_t j = s->nz.crd[e] - q;
                    if (j < 0) continue;
                    if (j >= m) break;
                    s->line[j] = (s->set[j] ? s->line[j] : 0) +
                                 s->nz.val[e] * s->f[p * s->width + q];
                    s->set[j] = true;
                }
        for (int64_t j = 0; j < m; j++) {
            if (!s->set[j]) continue;
            s->set[j] = false;
            s->crd[s->stored] = (int32_t)j;
            s->out[s->stored++] = s->line[j];
        }
    }
}

/* Rows of nz are pixels, columns channels. */
static void layer(data *s)
{
    const int64_t n = IMAGE - s->width + 1;
    memset(s->out, 0, (size_t)(n * n * FEATURES) * sizeof *s->out);
    for (int64_t r = 0; r < s->width; r++)
        for (int64_t q = 0; q < s->width; q++)
            for (int64_t h = 0; h < n; h++)
                for (int64_t w = 0; w < n; w++) {
                    const int64_t pixel = (h + r) * IMAGE + w + q;
                    double *out = s->out + (h * n + w) * FEATURES;
                    for (int32_t e = s->nz.pos[pixel]; e < s->nz.pos[pixel + 1]; e++) {
                        const int64_t c = s->nz.crd[e];
                        const double x = s->nz.val[e];
                        const double *f =
                            s->f + ((r * s->width + q) * CHANNELS + c) * FEATURES;
                        for (int64_t k = 0; k < FEATURES; k++)
                            out[k] += x * f[k];
                    }
                }
}

/* Neighbours beyond the edge are 0. */
static double near(const data *s, int64_t i, int64_t j)
{
    const int64_t n = s->shape[0], m = s->shape[1];
    return i < 0 || j < 0 || i >= n || j >= m ? 0 : s->a[i * m + j];
}

static void five_points(data *s)
{
    const int64_t n = s->shape[0], m = s->shape[1];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            s->out[i * m + j] = near(s, i - 1, j) + near(s, i + 1, j) + near(s, i, j - 1) +
                                near(s, i, j + 1) - 4 * s->a[i * m + j];
}

static double near3(const data *s, int64_t i, int64_t j, int64_t k)
{
    const int64_t w = s->shape[0];
    return i < 0 || j < 0 || k < 0 || i >= w || j >= w || k >= w
               ? 0
               : s->a[(i * w + j) * w + k];
}

static void seven_points(data *s)
{
    const int64_t w = s->shape[0];
    for (int64_t i = 0; i < w; i++)
        for (int64_t j = 0; j < w; j++)
            for (int64_t k = 0; k < w; k++)
                s->out[(i * w + j) * w + k] =
                    near3(s, i - 1, j, k) + near3(s, i + 1, j, k) + near3(s, i, j - 1, k) +
                    near3(s, i, j + 1, k) + near3(s, i, j, k - 1) + near3(s, i, j, k + 1) -
                    6 * s->a[(i * w + j) * w + k];
}

/* ---- rows ------------------------------------------------------------------------ */

typedef struct row {
    const char *name, *text, *a, *result;
    int order, filter_order;
    int64_t shape[4], filter[4];
    void (*run)(data *s);
    bool against_dense; /* one row for each sparsity, and where it begins to win */
    bool stored;        /* compares the values stored, in order                  */
} row;

#define SPARSE(name, text, a, order, side, run)                                            \
    {                                                                                      \
        name, text, a, "dense", order, order, {side, side, side}, {3, 3, 3}, run, true,    \
            false                                                                          \
    }
#define PLANE "C(i,j) = A(i+p,j+q) * F(p,q)"
#define FIVE                                                                               \
    "C(i,j) = pad A(i-1,j) + pad A(i+1,j) + pad A(i,j-1) + pad A(i,j+1) - 4 * A(i,j)"
#define SEVEN                                                                              \
    "C(i,j,k) = pad A(i-1,j,k) + pad A(i+1,j,k) + pad A(i,j-1,k) + pad A(i,j+1,k) + "      \
    "pad A(i,j,k-1) + pad A(i,j,k+1) - 6 * A(i,j,k)"
#define SOLID "C(i,j,k) = A(i+p,j+q,k+r) * F(p,q,r)"

static const row rows[] = {
    SPARSE("1-D svec", "C(i) = A(i+p) * F(p)", "svec", 1, SIDE1, dense_1d),
    SPARSE("2-D csr", PLANE, "csr", 2, SIDE2, dense_2d),
    SPARSE("2-D dcsr", PLANE, "dcsr", 2, SIDE2, dense_2d),
    SPARSE("2-D csc", PLANE, "csc", 2, SIDE2, dense_2d),
    SPARSE("3-D csf", SOLID, "csf", 3, SIDE3, dense_3d),
    SPARSE("3-D dds", SOLID, "dds", 3, SIDE3, dense_3d),
    {"3x3 to dense",
     PLANE,
     "csr",
     "dense",
     2,
     2,
     {1000, 1000},
     {3, 3},
     sparse_to_dense,
     false,
     false},
    {"3x3 to csr",
     PLANE,
     "csr",
     "csr",
     2,
     2,
     {1000, 1000},
     {3, 3},
     sparse_to_csr,
     false,
     true},
    {"ijpq to dense",
     PLANE " with reorder(i,j,p,q)",
     "csr",
     "dense",
     2,
     2,
     {1000, 1000},
     {3, 3},
     dense_2d,
     false,
     false},
    {"ijpq to csr",
     PLANE " with reorder(i,j,p,q)",
     "csr",
     "csr",
     2,
     2,
     {1000, 1000},
     {3, 3},
     sparse_to_csr,
     false,
     true},
#define STENCIL(name, text, a, order, side, run)                                           \
    {                                                                                      \
        name, text, a, "dense", order, 0, {side, side, side}, {0}, run, false, false       \
    }
    STENCIL("5-point dense", FIVE, "dense", 2, 1000, five_points),
    STENCIL("5-point csr", FIVE, "csr", 2, 1000, five_points),
    STENCIL("7-point dense", SEVEN, "dense", 3, 100, seven_points),
    STENCIL("7-point csf", SEVEN, "csf", 3, 100, seven_points),
    {"layer dccc",
     "C(n,h,w,f) = A(n,h+r,w+q,c) * F(r,q,c,f)",
     "dsss",
     "dense",
     4,
     4,
     {1, IMAGE, IMAGE, CHANNELS},
     {SIDE, SIDE, CHANNELS, FEATURES},
     layer,
     false,
     false},
};

static int64_t volume(const int64_t *shape, int order)
{
    int64_t n = 1;
    for (int k = 0; k < order; k++)
        n *= shape[k];
    return n;
}

/* A dense operand of which `zeros` per cent are zero, its nonzeros by row. */
static void make(data *s, const row *r, double zeros)
{
    memcpy(s->shape, r->shape, sizeof s->shape);
    s->all = volume(r->shape, r->order);
    s->a = gen_dense(s->all, 71);
    s->f = gen_dense(volume(r->filter, r->filter_order), 72);
    double *chance = gen_dense(2 * s->all, 73);
    for (int64_t k = 0; k < s->all; k++) /* two draws: steps of a millionth */
        if (chance[2 * k] + chance[2 * k + 1] / 1024 <= zeros / 100 + 1.0 / 1024)
            s->a[k] = 0;
    free(chance);
    const int64_t cols = r->shape[r->order - 1];
    s->nz = (csr){s->all / cols, cols, 0, NULL, NULL, NULL};
    s->nz.pos = xalloc((size_t)(s->nz.rows + 1) * sizeof *s->nz.pos);
    s->nz.crd = xalloc((size_t)s->all * sizeof *s->nz.crd);
    s->nz.val = xalloc((size_t)s->all * sizeof *s->nz.val);
    s->nz.pos[0] = 0;
    for (int64_t k = 0; k < s->all; k++) {
        if (s->a[k] != 0) {
            s->nz.crd[s->nz.nnz] = (int32_t)(k % cols);
            s->nz.val[s->nz.nnz++] = s->a[k];
        }
        s->nz.pos[k / cols + 1] = (int32_t)s->nz.nnz;
    }
    const int64_t room = s->all > s->nz.nnz * 9 ? s->all : s->nz.nnz * 9;
    s->out = xalloc((size_t)room * sizeof *s->out);
    s->crd = xalloc((size_t)room * sizeof *s->crd);
    s->line = gen_dense(cols, 74);
    s->width = SIDE;
    s->set = xalloc((size_t)cols);
    memset(s->set, 0, (size_t)cols);
}

static void discard(data *s)
{
    csr_free(&s->nz);
    free(s->a);
    free(s->f);
    free(s->out);
    free(s->line);
    free(s->crd);
    free(s->set);
}

static bool agree(const row *r, const data *s, const stc_tensor *c)
{
    const void *values;
    int64_t n;
    if (stc_tensor_values(c, &values, &n)) return false;
    if (r->stored && n != s->stored) return false;
    for (int64_t k = 0; k < n; k++)
        if (fabs(((const double *)values)[k] - s->out[k]) > 1e-9) return false;
    return true;
}

/* ours / theirs at so many per cent of zeros; 0: it failed, or results differ. */
static double run_row(const row *r, double zeros, bool csv)
{
    data s = {.stored = 0};
    stc_machine *m = NULL;
    stc_tensor *a = NULL, *f = NULL;
    stc_program *p = NULL;
    const stc_tensor *c = NULL;
    double ours[RUNS], theirs[RUNS], ratio = 0;
    char tier[TIERS_ROOM];
    const stc_decl decl[] = {{"A", r->a, STC_F64, NULL, -1},
                             {"F", "dense", STC_F64, NULL, -1},
                             {"C", r->result, STC_F64, NULL, -1}};
    make(&s, r, zeros);
    bool ok =
        !stc_open(NULL, &m) &&
        !stc_tensor_from_dense(m, r->a, STC_F64, r->order, r->shape, NULL, s.a, &a) &&
        (!r->filter_order || !stc_tensor_from_dense(m, "dense", STC_F64, r->filter_order,
                                                    r->filter, NULL, s.f, &f)) &&
        !stc_compile(m, r->text, decl, 3, &p) && !stc_bind(p, "A", a) &&
        (!f || !stc_bind(p, "F", f));
    for (int k = 0; ok && k < RUNS; k++) { /* in turns of three: neither cools the other */
        for (int j = 0; ok && j < 3; j++) {
            const double t0 = own_ns();
            ok = !stc_run(p);
            ours[k] = own_ns() - t0;
        }
        for (int j = 0; j < 3; j++) {
            const double t0 = own_ns();
            r->run(&s);
            theirs[k] = own_ns() - t0;
        }
    }
    ok = ok && !stc_result(p, "C", &c);
    if (ok && agree(r, &s, c)) {
        median(ours, RUNS); /* sorts: the least of both is what the work costs */
        median(theirs, RUNS);
        const double us = ours[0], them = theirs[0];
        tiers_of(m, p, tier);
        ratio = us / them;
        printf(csv ? "%s,%g%% of %lld,%.4f,%.4f,%.3f,"
                   : "%-14s %5g%% zeros %9lld nonzeros %9.3f %9.3f ms %7.2f",
               r->name, zeros, (long long)s.nz.nnz, us * 1e-6, them * 1e-6, ratio);
        if (!csv) printf(" %7.1f ns each  tier ", us / (double)(s.nz.nnz ? s.nz.nnz : 1));
        printf(csv ? ",%s\n" : "%s\n", tier);
    } else {
        printf("%s: %s\n", r->name, ok ? "results differ" : stc_error(m)->message);
    }
    fflush(stdout);
    stc_program_free(p);
    stc_tensor_free(a);
    stc_tensor_free(f);
    stc_close(m);
    discard(&s);
    return ratio;
}

int bench_convolution(const char *filter, bool csv)
{
    static const double fig17[] = {0, 40, 60, 80, 90, 95, 99, 99.9, -1},
                        fig16[] = {90, 92, 94, 96, 98, 99, 99.5, 99.9, -1},
                        one[] = {95, -1};
    bool wrong = false;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const row *r = &rows[k];
        if (filter && !strstr(r->name, filter) && strcmp(filter, "convolution")) continue;
        double wins = 100;
        const double *z = r->against_dense ? fig17 : r->order == 4 ? fig16 : one;
        for (; *z >= 0; z++) {
            const double ratio = run_row(r, *z, csv);
            wrong |= ratio <= 0;
            if (ratio > 0 && ratio < 1 && *z < wins) wins = *z;
        }
        if (r->against_dense && !csv)
            printf("%-14s ahead of the dense loops from %g%% zeros on\n", r->name, wins);
    }
    return wrong;
}
