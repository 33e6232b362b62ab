/* rows.c: the steady state: each row runs a prepared program and the C loops
 * in turn on the same arrays, takes the median of each, compares results, and
 * prints the ratio. A row is data: text, operands, and the two sides' calls.
 */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 7, RUNS_MAX = 1000, RUNS_THREADS = 15, OPERANDS = 4 };
#define RANK 16
#define SQUARE (-1)
#define LARGEST 1000000 /* rows of the largest matrix */

/* All inputs, made when the first row needs them. */
typedef struct inputs {
    csr lap_a, lap_b, uni_a, uni_b, rmat_a, rmat_b, rmats_a, band_a, band_b;
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
    S_SCALE,
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

static void run_spmv(state *s)
{
    ref_spmv(s->a, s->in.x, s->out);
}
static void run_mask(state *s)
{
    ref_masked_mxv(s->in.mask, s->in.mask_pos[1], s->a, s->in.x, s->out);
}
static void run_spmm(state *s)
{
    ref_spmm(s->a, s->in.factor_c, RANK, s->out);
}
static void run_sddmm(state *s)
{
    ref_sddmm(s->a, s->in.factor_c, s->in.factor_d, RANK, &s->sparse);
}
static void run_add(state *s)
{
    ref_add(s->a, s->b, &s->sparse);
}
static void run_mul(state *s)
{
    ref_mul(s->a, s->b, &s->sparse);
}
static void run_max(state *s)
{
    ref_max(s->a, s->b, &s->sparse);
}
static void run_scale(state *s)
{
    ref_scale(s->a, 2.5, &s->sparse);
}
static void run_scale_rows(state *s)
{
    ref_scale_rows(s->a, s->in.x, &s->sparse);
}
static void run_scale_columns(state *s)
{
    ref_scale_columns(s->a, s->in.x, &s->sparse);
}
static void run_sqrt_sum(state *s)
{
    ref_sqrt_sum(s->a, s->b, &s->sparse);
}
static void run_spgemm(state *s)
{
    ref_spgemm(s->a, s->a, &s->sparse);
}
static void run_inner(state *s)
{
    s->scalar = ref_inner(s->p, s->q);
}
static void run_mttkrp(state *s)
{
    ref_mttkrp(s->p, s->in.factor_c, s->in.factor_d, RANK, s->out);
}
static void run_ttv(state *s)
{
    ref_ttv(s->p, s->in.x, s->out);
}
static void run_ttm(state *s)
{
    ref_ttm(s->p, s->in.factor_c, RANK, s->out);
}

// clang-format off: a row is two or three lines
/* The ten kernels that everyone measures come first; the rest has no mean of its own. */
static const row rows[] = {
    {"spmv",
     "lap uni rmat band",
     "y(i) = A(i,j) * x(j)",
     {{"A", S_A}, {"x", S_X}},
     "y",
     "dense",
     R_DENSE,
     run_spmv,
     0,
     true},
    {"masked mxv",
     "lap uni rmat",
     "y(i) = m(i) * A(i,j) * x(j)",
     {{"m", S_MASK}, {"A", S_A}, {"x", S_X}},
     "y",
     "dense",
     R_DENSE,
     run_mask,
     0,
     true},
    {"spmm",
     "uni rmat band",
     "Y(i,j) = A(i,k) * C(k,j)",
     {{"A", S_A}, {"C", S_C}},
     "Y",
     "dense",
     R_DENSE,
     run_spmm,
     RANK,
     true},
    {"spgemm",
     "lap uni rmats",
     "C(i,j) = A(i,k) * A(k,j)",
     {{"A", S_A}},
     "C",
     "csr",
     R_CSR,
     run_spgemm,
     0,
     true},
    {"add",
     "lap uni rmat band",
     "C(i,j) = A(i,j) + B(i,j)",
     {{"A", S_A}, {"B", S_B}},
     "C",
     "csr",
     R_CSR,
     run_add,
     0,
     true},
    {"mul",
     "lap uni rmat band",
     "C(i,j) = A(i,j) * B(i,j)",
     {{"A", S_A}, {"B", S_B}},
     "C",
     "csr",
     R_CSR,
     run_mul,
     0,
     true},
    {"inner",
     "ten box skew",
     "s = P(i,j,k) * Q(i,j,k)",
     {{"P", S_TEN_A}, {"Q", S_TEN_B}},
     "s",
     "dense",
     R_SCALAR,
     run_inner,
     0,
     true},
    {"mttkrp",
     "ten box skew",
     "M(i,j) = P(i,k,l) * C(k,j) * D(l,j)",
     {{"P", S_TEN_A}, {"C", S_C}, {"D", S_D}},
     "M",
     "dense",
     R_DENSE,
     run_mttkrp,
     RANK,
     true},
    {"ttv",
     "ten box skew",
     "T(i,j) = P(i,j,k) * x(k)",
     {{"P", S_TEN_A}, {"x", S_X}},
     "T",
     "dense",
     R_DENSE,
     run_ttv,
     SQUARE,
     true},
    {"ttm",
     "ten box skew",
     "T(i,j,f) = P(i,j,k) * C(k,f)",
     {{"P", S_TEN_A}, {"C", S_C}},
     "T",
     "(i,j,f) -> (i : compressed, j : compressed, f : dense)",
     R_VALUES,
     run_ttm,
     RANK,
     true},
    {"sddmm",
     "uni",
     "S(i,j) = A(i,j) * C(i,k) * D(j,k)",
     {{"A", S_A}, {"C", S_C}, {"D", S_D}},
     "S",
     "csr",
     R_CSR,
     run_sddmm,
     0,
     false},
    {"max",
     "rmat",
     "C(i,j) = max(A(i,j), B(i,j))",
     {{"A", S_A}, {"B", S_B}},
     "C",
     "csr",
     R_CSR,
     run_max,
     0,
     false},
    {"hypot by hand",
     "uni",
     "C(i,j) = sqrt(A(i,j)*A(i,j) + B(i,j)*B(i,j))",
     {{"A", S_A}, {"B", S_B}},
     "C",
     "csr",
     R_CSR,
     run_sqrt_sum,
     0,
     false},
    {"scale",
     "uni rmat band",
     "C(i,j) = 2.5 * A(i,j)",
     {{"A", S_A}},
     "C",
     "csr",
     R_CSR,
     run_scale,
     0,
     false},
    {"scale rows",
     "uni rmat band",
     "C(i,j) = x(i) * A(i,j)",
     {{"x", S_X}, {"A", S_A}},
     "C",
     "csr",
     R_CSR,
     run_scale_rows,
     0,
     false},
    {"scale columns",
     "uni rmat band",
     "C(i,j) = A(i,j) * x(j)",
     {{"A", S_A}, {"x", S_X}},
     "C",
     "csr",
     R_CSR,
     run_scale_columns,
     0,
     false},
};
// clang-format on

/* ---- inputs ---------------------------------------------------------------- */

static void need(csr *m, csr made)
{
    *m = made;
}

/* The tensors of a name: made only when a row needs them. */
static bool pick_tensors(state *s, const char *name)
{
    inputs *in = &s->in;
    const struct {
        const char *name;
        csf *p, *q;
        int64_t dim, nnz;
        int skew;
    } all[] = {
        {"ten", &in->ten_a, &in->ten_b, 1000, 1000000, 1},
        {"box", &in->box_a, &in->box_b, 256, 2000000, 1},
        {"skew", &in->skew_a, &in->skew_b, 2000, 1000000, 3},
    };
    s->p = s->q = NULL;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (strcmp(name, all[k].name)) continue;
        if (!all[k].p->val) {
            *all[k].p = gen_ten(all[k].dim, all[k].nnz, all[k].skew, 41);
            *all[k].q = gen_ten(all[k].dim, all[k].nnz, all[k].skew, 42);
        }
        s->p = all[k].p;
        s->q = all[k].q;
    }
    return s->p != NULL;
}

static void pick_inputs(state *s, const char *name)
{
    inputs *in = &s->in;
    csr *a = NULL, *b = NULL;
    if (pick_tensors(s, name)) {
        a = b = NULL;
    } else if (!strcmp(name, "lap")) {
        a = &in->lap_a, b = &in->lap_b;
        if (!a->pos) need(a, gen_lap(1000, 1)), need(b, gen_lap(1000, 2));
    } else if (!strcmp(name, "uni")) {
        a = &in->uni_a, b = &in->uni_b;
        if (!a->pos) need(a, gen_uni(100000, 10, 11)), need(b, gen_uni(100000, 10, 12));
    } else if (!strcmp(name, "rmat")) {
        a = &in->rmat_a, b = &in->rmat_b;
        if (!a->pos) need(a, gen_rmat(17, 16, 21)), need(b, gen_rmat(17, 16, 22));
    } else if (!strcmp(name, "rmats")) {
        a = b = &in->rmats_a;
        if (!a->pos) need(a, gen_rmat(14, 16, 23));
    } else {
        a = &in->band_a, b = &in->band_b;
        if (!a->pos)
            need(a, gen_band(100000, -50, 49, 31)), need(b, gen_band(100000, 0, 99, 32));
    }
    s->a = a;
    s->b = b;
    if (!in->x) {
        in->x = gen_dense(LARGEST, 7);
        in->factor_c = gen_dense(131072 * RANK, 8);
        in->factor_d = gen_dense(131072 * RANK, 9);
        in->mask = xalloc(LARGEST / 4 * sizeof(int32_t));
        for (int32_t i = 0; i < LARGEST / 4; i++)
            in->mask[i] = 4 * i;
    }
    in->mask_pos[1] = a ? (int32_t)((a->rows + 3) / 4) : 0;
}

static void free_inputs(inputs *in)
{
    csr *all[] = {&in->lap_a,  &in->lap_b,   &in->uni_a,  &in->uni_b, &in->rmat_a,
                  &in->rmat_b, &in->rmats_a, &in->band_a, &in->band_b};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        csr_free(all[i]);
    csf *tensors[] = {&in->ten_a, &in->ten_b,  &in->box_a,
                      &in->box_b, &in->skew_a, &in->skew_b};
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        csf_free(tensors[i]);
    free(in->x);
    free(in->factor_c);
    free(in->factor_d);
    free(in->mask);
}

/* ---- stcvm's side ------------------------------------------------------------ */

static stc_array indices(int32_t *data, int64_t n)
{
    return (stc_array){.data = data, .length = n, .width = 4, .stride = 4};
}

static stc_tensor *lend_csr(stc_machine *m, const csr *a)
{
    stc_tensor *t = NULL;
    int64_t shape[2] = {a->rows, a->cols};
    if (stc_tensor_new(m, "csr", STC_F64, 2, shape, NULL, &t) ||
        stc_tensor_lend(t, 1, STC_POS, indices(a->pos, a->rows + 1)) ||
        stc_tensor_lend(t, 1, STC_CRD, indices(a->crd, a->nnz)) ||
        stc_tensor_lend_values(t, a->val, a->nnz))
        return NULL;
    return t;
}

static stc_tensor *lend_csf(stc_machine *m, const csf *a)
{
    stc_tensor *t = NULL;
    int64_t shape[3] = {a->dim, a->dim, a->dim};
    if (stc_tensor_new(m, "csf", STC_F64, 3, shape, NULL, &t)) return NULL;
    for (int l = 0; l < 3; l++) {
        if (stc_tensor_lend(t, l, STC_POS, indices(a->pos[l], l ? a->n[l - 1] + 1 : 2)) ||
            stc_tensor_lend(t, l, STC_CRD, indices(a->crd[l], a->n[l])))
            return NULL;
    }
    return stc_tensor_lend_values(t, a->val, a->n[2]) ? NULL : t;
}

static stc_tensor *lend_dense(stc_machine *m, double *v, int order, int64_t n, int64_t r)
{
    stc_tensor *t = NULL;
    int64_t shape[2] = {n, r};
    if (stc_tensor_new(m, "dense", STC_F64, order, shape, NULL, &t) ||
        stc_tensor_lend_values(t, v, order == 2 ? n * r : n))
        return NULL;
    return t;
}

static stc_tensor *lend_mask(stc_machine *m, state *s)
{
    stc_tensor *t = NULL;
    static double ones[LARGEST / 4];
    int64_t shape[1] = {s->a->rows}, n = s->in.mask_pos[1];
    for (int64_t i = 0; i < n; i++)
        ones[i] = 1;
    if (stc_tensor_new(m, "svec", STC_F64, 1, shape, NULL, &t) ||
        stc_tensor_lend(t, 0, STC_POS, indices(s->in.mask_pos, 2)) ||
        stc_tensor_lend(t, 0, STC_CRD, indices(s->in.mask, n)) ||
        stc_tensor_lend_values(t, ones, n))
        return NULL;
    return t;
}

static stc_tensor *operand(stc_machine *m, state *s, source from)
{
    int64_t n = s->a ? s->a->cols : s->p->dim;
    switch (from) {
    case S_A:
        return lend_csr(m, s->a);
    case S_B:
        return lend_csr(m, s->b);
    case S_X:
        return lend_dense(m, s->in.x, 1, n, 0);
    case S_C:
        return lend_dense(m, s->in.factor_c, 2, n, RANK);
    case S_D:
        return lend_dense(m, s->in.factor_d, 2, n, RANK);
    case S_MASK:
        return lend_mask(m, s);
    case S_TEN_A:
        return lend_csf(m, s->p);
    case S_TEN_B:
        return lend_csf(m, s->q);
    default:
        return NULL;
    }
}

typedef struct side {
    stc_machine *machine;
    stc_program *program;
    stc_tensor *bound[OPERANDS];
    char tier[TIERS_ROOM];
} side;

static const char *kinds_of(source from)
{
    switch (from) {
    case S_A:
    case S_B:
        return "csr";
    case S_MASK:
        return "svec";
    case S_TEN_A:
    case S_TEN_B:
        return "csf";
    default:
        return "dense";
    }
}

static void side_close(side *d)
{
    stc_program_free(d->program);
    for (int i = 0; i < OPERANDS; i++)
        stc_tensor_free(d->bound[i]);
    stc_close(d->machine);
    *d = (side){0};
}

static bool side_open(side *d, const row *r, state *s)
{
    stc_decl decl[OPERANDS + 1];
    int n = 0;
    *d = (side){0};
    if (stc_open(NULL, &d->machine)) return false;
    for (int i = 0; i < OPERANDS && r->operand[i].name; i++) {
        decl[n++] =
            (stc_decl){r->operand[i].name, kinds_of(r->operand[i].from), STC_F64, NULL, -1};
        d->bound[i] = operand(d->machine, s, r->operand[i].from);
        if (!d->bound[i]) return false;
    }
    decl[n++] = (stc_decl){r->result, r->result_format, STC_F64, NULL, -1};
    if (stc_compile(d->machine, r->text, decl, n, &d->program)) return false;
    for (int i = 0; i < OPERANDS && d->bound[i]; i++)
        if (stc_bind(d->program, r->operand[i].name, d->bound[i])) return false;
    return true;
}

/* ---- comparing ------------------------------------------------------------- */

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

static bool same_values(const stc_tensor *t, const double *want, int64_t n)
{
    const void *got;
    int64_t len;
    if (stc_tensor_values(t, &got, &len) || len < n) return false;
    const double *v = got;
    for (int64_t i = 0; i < n; i++)
        if (!near(v[i], want[i])) return false;
    return true;
}

static bool same_csr(const stc_tensor *t, const csr *want)
{
    stc_array crd;
    if (stc_tensor_stored(t) != want->nnz || stc_tensor_array(t, 1, STC_CRD, &crd) ||
        crd.length != want->nnz)
        return false;
    for (int64_t p = 0; p < want->nnz; p++) {
        const char *at = (const char *)crd.data + p * (crd.stride ? crd.stride : crd.width);
        int64_t j = crd.width == 4 ? *(const int32_t *)at : *(const int64_t *)at;
        if (j != want->crd[p]) return false;
    }
    return same_values(t, want->val, want->nnz);
}

static bool same(const side *d, const row *r, const state *s)
{
    const stc_tensor *t;
    if (stc_result(d->program, r->result, &t)) return false;
    if (r->kind == R_CSR) return same_csr(t, &s->sparse.m);
    if (r->kind == R_SCALAR) return same_values(t, &s->scalar, 1);
    return same_values(t, s->out, s->out_len);
}

/* ---- one row ------------------------------------------------------------------ */

static void prepare_out(state *s, const row *r)
{
    const int64_t n = s->a ? s->a->rows : s->p->dim;
    const int64_t columns = r->rank == SQUARE ? n : r->rank > 0 ? r->rank : 1;
    s->out = NULL;
    s->out_len = r->kind == R_VALUES ? s->p->n[1] * RANK : n * columns;
    if (r->kind == R_CSR) {
        ref_out_init(&s->sparse, s->a->rows, s->a->cols);
    } else {
        s->out = xalloc((size_t)s->out_len * sizeof *s->out);
        memset(s->out, 0, (size_t)s->out_len * sizeof *s->out);
    }
}

/* Threads to compare with one, from the environment; 1: none. */
static int threads_asked(void)
{
    const char *text = getenv("THREADS");
    const int n = text ? atoi(text) : 1;
    return n > 1 ? n : 1;
}

/* How often each side runs, from the environment. */
static int runs_asked(int threads)
{
    const char *text = getenv("RUNS");
    const int n = text ? atoi(text) : 0;
    return n > 0 && n <= RUNS_MAX ? n : threads > 1 ? RUNS_THREADS : RUNS;
}

/* *cpu: what all threads together took. */
static bool timed_run(side *d, int threads, double *ns, double *cpu)
{
    struct timespec t0, t1;
    if (stc_set_threads(d->machine, threads)) return false;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
    const double start = now_ns();
    if (stc_run(d->program)) return false;
    *ns = now_ns() - start;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
    *cpu = (double)(t1.tv_sec - t0.tv_sec) * 1e9 + (double)(t1.tv_nsec - t0.tv_nsec);
    return true;
}

/* What threads gain, by the best runs of both: times faster, and, for a processor
 * that others use as well, the same if its cores had been there for it alone. */
typedef struct gain {
    double wall, cpu;
} gain;

/* Both sides in turn, medians. False: stcvm failed, and its error has been printed. */
static bool measure(side *d, const row *r, state *s, double *ours, double *theirs,
                    gain *faster)
{
    const int threads = threads_asked(), runs = runs_asked(threads);
    double a[RUNS_MAX], b[RUNS_MAX], ns, cpu;
    gain one = {1e300, 1e300}, all = {1e300, 1e300};
    int n = 0;
    for (int i = -1; i < runs; i++) {
        const double t0 = own_ns();
        if (!timed_run(d, 1, &ns, &cpu)) return false;
        const double t1 = own_ns();
        r->run(s);
        a[n] = t1 - t0;
        b[n] = own_ns() - t1;
        if (ns < one.wall) one.wall = ns;
        if (cpu < one.cpu) one.cpu = cpu;
        if (threads > 1) {
            if (!timed_run(d, threads, &ns, &cpu)) return false;
            if (ns < all.wall) all.wall = ns;
            if (cpu < all.cpu) all.cpu = cpu;
        }
        if (i >= 0) n++; /* the first of each warms caches and buffers */
    }
    *ours = median(a, n);
    *theirs = median(b, n);
    *faster = (gain){one.wall / all.wall, threads * one.cpu / all.cpu};
    return true;
}

/* What a run must at least read and write. */
static double traffic(const side *d, const row *r)
{
    const stc_tensor *t;
    double bytes = 0;
    for (int i = 0; i < OPERANDS && d->bound[i]; i++)
        bytes += (double)stc_tensor_bytes(d->bound[i]);
    return stc_result(d->program, r->result, &t) ? bytes
                                                 : bytes + (double)stc_tensor_bytes(t);
}

static double run_row(const row *r, const char *input, state *s, bool csv, bool *wrong)
{
    side d;
    double ours = 0, theirs = 1, ratio = 0;
    gain faster = {0};
    char on_threads[48] = "";
    pick_inputs(s, input);
    prepare_out(s, r);
    bool ran = side_open(&d, r, s) && measure(&d, r, s, &ours, &theirs, &faster);
    if (!ran) {
        const stc_error_info *e = d.machine ? stc_error(d.machine) : NULL;
        printf("%-14s %-6s failed: %s\n", r->name, input, e ? e->message : "no machine");
        *wrong = true;
    } else {
        bool equal = same(&d, r, s);
        tiers_of(d.machine, d.program, d.tier);
        ratio = ours / theirs;
        *wrong |= !equal;
        if (threads_asked() > 1)
            snprintf(on_threads, sizeof on_threads, csv ? ",%.2f,%.2f" : "  x%.2f (x%.2f)",
                     faster.wall, faster.cpu);
        printf(csv ? "%s,%s,%.4f,%.4f,%.3f,%.2f,%s%s%s\n"
                   : "%-14s %-6s %10.3f %10.3f %7.2f %6.1f  %s%s%s\n",
               r->name, input, ours * 1e-6, theirs * 1e-6, ratio, traffic(&d, r) / ours,
               d.tier, on_threads, equal ? "" : "  RESULTS DIFFER");
    }
    fflush(stdout);
    side_close(&d);
    if (r->kind == R_CSR) ref_out_free(&s->sparse);
    free(s->out);
    return ratio;
}

/* ---- all of them ----------------------------------------------------------------- */

/* A geometric mean under way. */
typedef struct mean {
    double logs, worst;
    int n;
} mean;

static void mean_add(mean *m, double ratio)
{
    m->logs += log(ratio);
    m->n++;
    if (ratio > m->worst) m->worst = ratio;
}

static void print_mean(const mean *m, const char *what, bool csv)
{
    if (m->n == 0) return;
    const double g = exp(m->logs / m->n);
    if (csv)
        printf("geomean %s,,,,%.3f,,\n", what, g);
    else
        printf("%-36s over %2d rows: %5.2f, worst %.2f\n", what, m->n, g, m->worst);
}

/* The next word of a list of inputs; false: there is none. */
static bool next_input(const char **list, char *word, size_t size)
{
    size_t n = strcspn(*list, " ");
    if (n == 0 || n >= size) return false;
    memcpy(word, *list, n);
    word[n] = 0;
    *list += n + ((*list)[n] == ' ');
    return true;
}

int bench_rows(const char *filter, bool csv)
{
    state s = {0};
    mean all = {0}, famous = {0};
    bool wrong = false;
    printf(csv ? "name,input,stcvm_ms,c_ms,ratio,gb_s,tiers\n"
               : "name           input    stcvm ms       C ms   ratio   GB/s  tiers\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *left = rows[i].inputs;
        char label[64], input[16];
        mean own = {0};
        while (next_input(&left, input, sizeof input)) {
            snprintf(label, sizeof label, "%s %s", rows[i].name, input);
            if (filter && !strstr(label, filter)) continue;
            double ratio = run_row(&rows[i], input, &s, csv, &wrong);
            if (ratio <= 0) continue;
            mean_add(&all, ratio);
            mean_add(&own, ratio);
            if (rows[i].famous) mean_add(&famous, ratio);
        }
        if (own.n > 1 && !filter) print_mean(&own, rows[i].name, csv);
    }
    print_mean(&all, "geometric mean", csv);
    if (famous.n < all.n) print_mean(&famous, "geometric mean, the ten kernels", csv);
    if (all.n) print_stream(csv);
    free_inputs(&s.in);
    return wrong;
}
