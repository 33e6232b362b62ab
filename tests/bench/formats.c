/* formats.c: one matrix in every format, against C loops over the same arrays:
 * y = A x by format of A; conversions; y = A v by format and density of v
 * (formats paper, fig. 16); and what large runs hold at most.
 */
#include "formats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 5 };
#define AOS "(i,j) -> (i : compressed(nonunique, interleaved), j : singleton)"
#define SPMV "y(i) = A(i,j) * x(j)"

typedef struct row {
    const char *name, *input, *a, *x; /* formats of A and x                 */
    double density;                   /* of x; 0: dense                     */
    const char *b;                    /* conversions: the format of B       */
    loop_fn *loop;
    convert_fn *convert;
} row;

static const row rows[] = {
    {"spmv csr", "lap", "csr", "dense", 0, NULL, loop_csr, NULL},
    {"spmv csc", "lap", "csc", "dense", 0, NULL, loop_csc, NULL},
    {"spmv dcsr", "lap", "dcsr", "dense", 0, NULL, loop_dcsr, NULL},
    {"spmv coo", "lap", "coo", "dense", 0, NULL, loop_coo, NULL},
    {"spmv coo aos", "lap", AOS, "dense", 0, NULL, loop_coo, NULL},
    {"spmv hash", "lap", "hash", "dense", 0, NULL, loop_csr, NULL},
    {"spmv dia", "lap", "dia", "dense", 0, NULL, loop_dia, NULL},
    {"spmv ell", "lap", "ell", "dense", 0, NULL, loop_ell, NULL},
    {"spmv bcsr", "lap", "bcsr(4,4)", "dense", 0, NULL, loop_bcsr, NULL},
    {"spmv coo", "uni", "coo", "dense", 0, NULL, loop_coo, NULL},
    {"spmv csb", "uni", "csb(256,256)", "dense", 0, NULL, loop_csb, NULL},
    {"spmv dia", "band", "dia", "dense", 0, NULL, loop_dia, NULL},
    {"spmv ell", "band", "ell", "dense", 0, NULL, loop_ell, NULL},
    {"spmv bcsr", "band", "bcsr(4,4)", "dense", 0, NULL, loop_bcsr, NULL},
    {"coo to csr", "uni", "coo", NULL, 0, "csr", NULL, convert_coo_csr},
    {"csr to csc", "uni", "csr", NULL, 0, "csc", NULL, convert_transpose},
    {"csc to csr", "uni", "csc", NULL, 0, "csr", NULL, convert_transpose},
    {"csr to bcsr", "band", "csr", NULL, 0, "bcsr(4,4)", NULL, convert_csr_bcsr},
    {"csr to dia", "band", "csr", NULL, 0, "dia", NULL, convert_csr_dia},
    {"vec dense", "uni .01", "csr", "dense", .01, NULL, loop_csr, NULL},
    {"vec svec", "uni .0001", "csr", "svec", .0001, NULL, loop_svec, NULL},
    {"vec hash", "uni .0001", "csr", "hash", .0001, NULL, loop_hashed, NULL},
    {"vec bytemap", "uni .0001", "csr", "bytemap", .0001, NULL, loop_bytes, NULL},
    {"vec hash", "uni .01", "csr", "hash", .01, NULL, loop_hashed, NULL},
    {"vec bytemap", "uni .01", "csr", "bytemap", .01, NULL, loop_bytes, NULL},
    {"vec hash", "uni .3", "csr", "hash", .3, NULL, loop_hashed, NULL},
    {"vec bytemap", "uni .3", "csr", "bytemap", .3, NULL, loop_bytes, NULL},
};

/* ---- tensors ------------------------------------------------------------------------ */

static csr input(const char *name)
{
    if (!strncmp(name, "lap", 3)) return gen_lap(700, 1);
    if (!strncmp(name, "band", 4)) return gen_band(50000, -20, 19, 31);
    return gen_uni(100000, 10, 11);
}

static stc_array indices(int32_t *data, int64_t n)
{
    return (stc_array){data, n, 4, 4};
}

static bool matrix(stc_machine *m, csr *a, const char *format, stc_tensor **out)
{
    stc_tensor *t = NULL;
    const int64_t shape[2] = {a->rows, a->cols};
    bool ok = !stc_tensor_new(m, "csr", STC_F64, 2, shape, NULL, &t) &&
              !stc_tensor_lend(t, 1, STC_POS, indices(a->pos, a->rows + 1)) &&
              !stc_tensor_lend(t, 1, STC_CRD, indices(a->crd, a->nnz)) &&
              !stc_tensor_lend_values(t, a->val, a->nnz) && !stc_tensor_check(t) &&
              !stc_tensor_convert(t, format, -1, out);
    stc_tensor_free(t);
    return ok;
}

/* Entries at multiples of the same number: their order doesn't matter. */
static bool vector(stc_machine *m, const row *r, int64_t n, stc_tensor **out)
{
    const int64_t step = r->density > 0 ? (int64_t)(1 / r->density) : 1;
    int64_t *at = xalloc((size_t)n * sizeof *at), k = 0;
    double *v = gen_dense(n, 7);
    for (int64_t i = 0; i < n; i += step)
        at[k++] = i;
    const bool ok = !stc_tensor_from_coords(m, r->x, STC_F64, 1, &n, NULL, k, at, v, out);
    free(at);
    free(v);
    return ok;
}

static raw arrays(const stc_tensor *t)
{
    raw r = {0};
    const void *vals;
    const int64_t *shape = stc_tensor_shape(t);
    r.rows = shape[0];
    r.cols = stc_tensor_order(t) > 1 ? shape[1] : 1;
    r.first = strcmp(stc_tensor_format(t), "csc") ? r.rows : r.cols;
    for (int l = 0; l < stc_tensor_levels(t) && l < 4; l++) {
        stc_array a;
        if (!stc_tensor_array(t, l, STC_POS, &a)) r.pos[l] = a.data;
        if (!stc_tensor_array(t, l, STC_AUX, &a)) r.aux[l] = a.data;
        if (stc_tensor_array(t, l, STC_CRD, &a)) continue;
        r.crd[l] = a.data;
        r.stride[l] = (a.stride ? a.stride : a.width) / 4;
    }
    if (!stc_tensor_values(t, &vals, &r.n)) r.val = vals;
    return r;
}

/* ---- one row ------------------------------------------------------------------------ */

typedef struct bench {
    stc_machine *m;
    stc_program *p;
    stc_tensor *a, *x;
    raw ra, rx;
    made out;
    double *y;
} bench;

static bool open_row(bench *b, const row *r, csr *in)
{
    const stc_decl spmv[] = {{0, "A", r->a, STC_F64, NULL, -1},
                             {0, "x", r->x, STC_F64, NULL, -1},
                             {0, "y", "dense", STC_F64, NULL, -1}};
    const stc_decl copy[] = {{0, "A", r->a, STC_F64, NULL, -1},
                             {0, "B", r->b, STC_F64, NULL, -1}};
    if (stc_open(NULL, &b->m) || !matrix(b->m, in, r->a, &b->a)) return false;
    b->ra = arrays(b->a);
    if (r->convert) {
        const int64_t n = 64 * in->nnz + in->rows + in->cols + 2;
        b->out = (made){xalloc((size_t)n * 4), xalloc((size_t)n * 4), xalloc((size_t)n * 4),
                        xalloc((size_t)n * 8), 0};
        return !stc_compile(b->m, "B(i,j) = A(i,j)", copy, 2, &b->p) &&
               !stc_bind(b->p, "A", b->a);
    }
    if (!vector(b->m, r, in->cols, &b->x)) return false;
    b->rx = arrays(b->x);
    b->y = xalloc((size_t)in->rows * sizeof *b->y);
    return !stc_compile(b->m, SPMV, spmv, 3, &b->p) && !stc_bind(b->p, "A", b->a) &&
           !stc_bind(b->p, "x", b->x);
}

static void close_row(bench *b)
{
    stc_program_free(b->p);
    stc_tensor_free(b->a);
    stc_tensor_free(b->x);
    stc_close(b->m);
    free(b->out.pos);
    free(b->out.crd);
    free(b->out.mark);
    free(b->out.val);
    free(b->y);
}

static bool agree(const bench *b, const row *r)
{
    const stc_tensor *t;
    if (stc_result(b->p, r->convert ? "B" : "y", &t)) return false;
    const raw got = arrays(t);
    const double *want = r->convert ? b->out.val : b->y;
    double sum = 0, other = 0;
    if (r->convert && !strcmp(r->b, "bcsr(4,4)")) { /* scipy's blocks are in no order */
        for (int64_t k = 0; k < got.n; k++)
            sum += got.val[k], other += want[k];
        return got.n == b->out.n && fabs(sum - other) <= 1e-9 * fabs(sum);
    }
    if (r->convert && got.n != b->out.n) return false;
    for (int64_t k = 0; k < got.n; k++)
        if (fabs(got.val[k] - want[k]) > 1e-9 * (1 + fabs(want[k]))) return false;
    return true;
}

static double run_row(const row *r, bool csv, bool *wrong)
{
    bench b = {0};
    double ours[RUNS], theirs[RUNS], ratio = 0;
    char tier[TIERS_ROOM];
    csr in = input(r->input);
    bool ok = open_row(&b, r, &in);
    for (int i = -1; ok && i < RUNS; i++) {
        const double t0 = own_ns();
        ok = !stc_run(b.p);
        const double t1 = own_ns();
        if (r->convert)
            r->convert(&b.ra, &b.out);
        else
            r->loop(&b.ra, &b.rx, b.y);
        if (i >= 0) ours[i] = t1 - t0, theirs[i] = own_ns() - t1;
    }
    if (!ok) {
        printf("%-14s %-9s failed: %s\n", r->name, r->input,
               b.m ? stc_error(b.m)->message : "no machine");
        *wrong = true;
    } else {
        const bool same = agree(&b, r);
        const double a = median(ours, RUNS), c = median(theirs, RUNS);
        tiers_of(b.m, b.p, tier);
        ratio = a / c;
        *wrong |= !same;
        printf(csv ? "%s,%s,%.4f,%.4f,%.3f,%s%s\n"
                   : "%-14s %-9s %10.3f %10.3f %7.2f  %s%s\n",
               r->name, r->input, a * 1e-6, c * 1e-6, ratio, r->convert ? "convert" : tier,
               same ? "" : "  RESULTS DIFFER");
    }
    fflush(stdout);
    close_row(&b);
    csr_free(&in);
    return ratio;
}

/* ---- memory ------------------------------------------------------------------------- */

/* What a run holds at most beside its operand, for 10^7 nonzeros in a matrix of
 * 10^6 x 10^6: 10^12 places. */
static void peaks(void)
{
    static const struct {
        const char *name, *text, *a, *b;
    } run[] = {
        {"csr + csr", "B(i,j) = A(i,j) + A(j,i)", "csr", "csr"},
        {"coo + coo", "B(i,j) = A(i,j) + A(i,j) * 2", "coo", "coo"},
        {"csr x csr", "B(i,j) = A(i,k) * D(k,j)", "csr", "csr"},
        {"coo to csr", "B(i,j) = A(i,j)", "coo", "csr"},
        {"csr to csc", "B(i,j) = A(i,j)", "csr", "csc"},
        {"csr to coo", "B(i,j) = A(i,j)", "csr", "coo"},
        {"csr to hash", "B(i,j) = A(i,j)", "csr", "hash"},
        {"csr to bcsr(2,2)", "B(i,j) = A(i,j)", "csr", "bcsr(2,2)"},
        {"csr to hashed rows", "B(i,j) = A(i,j)", "csr",
         "(i,j) -> (i : compressed, j : hashed)"},
    };
    csr in = gen_uni(1000000, 10, 3), diagonal = gen_band(1000000, 0, 0, 5);
    printf("\npeaks at %lld nonzeros    operands MB    peak MB   result MB\n",
           (long long)in.nnz);
    for (size_t k = 0; k < sizeof run / sizeof *run; k++) {
        stc_machine *m = NULL;
        stc_program *p = NULL;
        stc_tensor *a = NULL, *d = NULL;
        const stc_tensor *b;
        const stc_decl decl[] = {{0, "A", run[k].a, STC_F64, NULL, -1},
                                 {0, "D", "csr", STC_F64, NULL, -1},
                                 {0, "B", run[k].b, STC_F64, NULL, -1}};
        const bool two = strstr(run[k].text, "D(");
        if (stc_open(NULL, &m) || !matrix(m, &in, run[k].a, &a) ||
            !matrix(m, &diagonal, "csr", &d))
            continue;
        const double before = (double)stc_memory_used(m);
        if (stc_compile(m, run[k].text, decl, 3, &p) || stc_bind(p, "A", a) ||
            (two && stc_bind(p, "D", d)) || stc_run(p) || stc_result(p, "B", &b))
            printf("%-24s failed: %s\n", run[k].name, stc_error(m)->message);
        else
            printf("%-24s %12.0f %10.0f %11.0f\n", run[k].name, before / 1e6,
                   (double)stc_memory_peak(m) / 1e6, (double)stc_tensor_bytes(b) / 1e6);
        fflush(stdout);
        stc_program_free(p);
        stc_tensor_free(a);
        stc_tensor_free(d);
        stc_close(m);
    }
    csr_free(&in);
    csr_free(&diagonal);
}

int bench_formats(const char *filter, bool csv)
{
    mean all = {0};
    bool wrong = false;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char label[64];
        snprintf(label, sizeof label, "%s %s", rows[k].name, rows[k].input);
        if (filter && !strstr(label, filter) && strcmp(filter, "formats")) continue;
        mean_add(&all, label, run_row(&rows[k], csv, &wrong));
    }
    mean_print(&all, "geometric mean, formats", csv);
    if (!csv && filter && !strcmp(filter, "peaks")) peaks();
    return wrong;
}
