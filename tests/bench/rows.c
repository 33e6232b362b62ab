/* rows.c: the steady state: each row runs a prepared program and the C loops
 * in turn on the same arrays, takes the median of each, compares results, and
 * prints the ratio. A row is data: text, operands, and the two sides' calls.
 */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 7, RUNS_THREADS = 15, OPERANDS = 4 };
#define RANK 16

/* All inputs, made when the first row needs them. */
typedef struct inputs {
    csr lap_a, lap_b, uni_a, uni_b, rmat_a, rmat_b, rmats_a, band_a, band_b;
    csf ten_a, ten_b;
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
    double *out, scalar;
    int64_t out_len;
    ref_out sparse;
} state;

typedef struct row {
    const char *name, *input, *text;
    struct {
        const char *name;
        source from;
    } operand[OPERANDS];
    const char *result, *result_format;
    result kind;
    void (*run)(state *s);
    int64_t rank; /* columns of the dense result; 0: a vector */
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
    s->scalar = ref_inner(&s->in.ten_a, &s->in.ten_b);
}
static void run_mttkrp(state *s)
{
    ref_mttkrp(&s->in.ten_a, s->in.factor_c, s->in.factor_d, RANK, s->out);
}
static void run_ttv(state *s)
{
    ref_ttv(&s->in.ten_a, s->in.x, s->out);
}
static void run_ttm(state *s)
{
    ref_ttm(&s->in.ten_a, s->in.factor_c, RANK, s->out);
}

#define SPMV "y(i) = A(i,j) * x(j)"
#define ADD "C(i,j) = A(i,j) + B(i,j)"
#define MATMUL "C(i,j) = A(i,k) * A(k,j)"

static const row rows[] = {
    {"spmv", "lap", SPMV, {{"A", S_A}, {"x", S_X}}, "y", "dense", R_DENSE, run_spmv, 0},
    {"spmv", "uni", SPMV, {{"A", S_A}, {"x", S_X}}, "y", "dense", R_DENSE, run_spmv, 0},
    {"spmv", "rmat", SPMV, {{"A", S_A}, {"x", S_X}}, "y", "dense", R_DENSE, run_spmv, 0},
    {"spmv", "band", SPMV, {{"A", S_A}, {"x", S_X}}, "y", "dense", R_DENSE, run_spmv, 0},
    {"masked mxv",
     "rmat",
     "y(i) = m(i) * A(i,j) * x(j)",
     {{"m", S_MASK}, {"A", S_A}, {"x", S_X}},
     "y",
     "dense",
     R_DENSE,
     run_mask,
     0},
    {"spmm",
     "uni",
     "Y(i,j) = A(i,k) * C(k,j)",
     {{"A", S_A}, {"C", S_C}},
     "Y",
     "dense",
     R_DENSE,
     run_spmm,
     RANK},
    {"sddmm",
     "uni",
     "S(i,j) = A(i,j) * C(i,k) * D(j,k)",
     {{"A", S_A}, {"C", S_C}, {"D", S_D}},
     "S",
     "csr",
     R_CSR,
     run_sddmm,
     0},
    {"add", "lap", ADD, {{"A", S_A}, {"B", S_B}}, "C", "csr", R_CSR, run_add, 0},
    {"add", "uni", ADD, {{"A", S_A}, {"B", S_B}}, "C", "csr", R_CSR, run_add, 0},
    {"add", "rmat", ADD, {{"A", S_A}, {"B", S_B}}, "C", "csr", R_CSR, run_add, 0},
    {"add", "band", ADD, {{"A", S_A}, {"B", S_B}}, "C", "csr", R_CSR, run_add, 0},
    {"mul",
     "band",
     "C(i,j) = A(i,j) * B(i,j)",
     {{"A", S_A}, {"B", S_B}},
     "C",
     "csr",
     R_CSR,
     run_mul,
     0},
    {"max",
     "rmat",
     "C(i,j) = max(A(i,j), B(i,j))",
     {{"A", S_A}, {"B", S_B}},
     "C",
     "csr",
     R_CSR,
     run_max,
     0},
    {"hypot by hand",
     "uni",
     "C(i,j) = sqrt(A(i,j)*A(i,j) + B(i,j)*B(i,j))",
     {{"A", S_A}, {"B", S_B}},
     "C",
     "csr",
     R_CSR,
     run_sqrt_sum,
     0},
    {"scale",
     "rmat",
     "C(i,j) = 2.5 * A(i,j)",
     {{"A", S_A}},
     "C",
     "csr",
     R_CSR,
     run_scale,
     0},
    {"spgemm", "lap", MATMUL, {{"A", S_A}}, "C", "csr", R_CSR, run_spgemm, 0},
    {"spgemm", "uni", MATMUL, {{"A", S_A}}, "C", "csr", R_CSR, run_spgemm, 0},
    {"spgemm", "rmats", MATMUL, {{"A", S_A}}, "C", "csr", R_CSR, run_spgemm, 0},
    {"inner",
     "ten",
     "s = P(i,j,k) * Q(i,j,k)",
     {{"P", S_TEN_A}, {"Q", S_TEN_B}},
     "s",
     "dense",
     R_SCALAR,
     run_inner,
     0},
    {"mttkrp",
     "ten",
     "M(i,j) = P(i,k,l) * C(k,j) * D(l,j)",
     {{"P", S_TEN_A}, {"C", S_C}, {"D", S_D}},
     "M",
     "dense",
     R_DENSE,
     run_mttkrp,
     RANK},
    {"ttv dense",
     "ten",
     "T(i,j) = P(i,j,k) * x(k)",
     {{"P", S_TEN_A}, {"x", S_X}},
     "T",
     "dense",
     R_DENSE,
     run_ttv,
     1000},
    {"ttm",
     "ten",
     "T(i,j,f) = P(i,j,k) * C(k,f)",
     {{"P", S_TEN_A}, {"C", S_C}},
     "T",
     "(i,j,f) -> (i : compressed, j : compressed, f : dense)",
     R_VALUES,
     run_ttm,
     RANK},
};

/* ---- inputs ---------------------------------------------------------------- */

static void need(csr *m, csr made)
{
    *m = made;
}

static void pick_inputs(state *s, const char *name)
{
    inputs *in = &s->in;
    csr *a = NULL, *b = NULL;
    if (!strcmp(name, "lap")) {
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
    } else if (!strcmp(name, "band")) {
        a = &in->band_a, b = &in->band_b;
        if (!a->pos)
            need(a, gen_band(100000, -50, 49, 31)), need(b, gen_band(100000, 0, 99, 32));
    } else if (!in->ten_a.val) {
        in->ten_a = gen_ten(1000, 1000000, 41);
        in->ten_b = gen_ten(1000, 1000000, 42);
    }
    s->a = a;
    s->b = b;
    if (in->x) return;
    in->x = gen_dense(1000000, 7);
    in->factor_c = gen_dense(100000 * RANK, 8);
    in->factor_d = gen_dense(100000 * RANK, 9);
    in->mask = xalloc(100000 * sizeof(int32_t));
    for (int32_t i = 0; i < 131072; i += 4)
        in->mask[in->mask_pos[1]++] = i;
}

static void free_inputs(inputs *in)
{
    csr *all[] = {&in->lap_a,  &in->lap_b,   &in->uni_a,  &in->uni_b, &in->rmat_a,
                  &in->rmat_b, &in->rmats_a, &in->band_a, &in->band_b};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        csr_free(all[i]);
    csf_free(&in->ten_a);
    csf_free(&in->ten_b);
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
    static double ones[100000];
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
    int64_t n = s->a ? s->a->cols : s->in.ten_a.dim;
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
        return lend_csf(m, &s->in.ten_a);
    case S_TEN_B:
        return lend_csf(m, &s->in.ten_b);
    default:
        return NULL;
    }
}

typedef struct side {
    stc_machine *machine;
    stc_program *program;
    stc_tensor *bound[OPERANDS];
    char tier[32];
} side;

static void find_tiers(side *d)
{
    char *code = NULL, *q = d->tier;
    if (stc_program_explain(d->program, "code", &code)) return;
    for (const char *p = code; (p = strstr(p, "tier ")) != NULL && q < d->tier + 20;
         p += 5) {
        if (q > d->tier) *q++ = '/';
        *q++ = p[5];
    }
    *q = 0;
    stc_text_free(d->machine, code);
}

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
    int64_t n = s->a ? s->a->rows : s->in.ten_a.dim;
    s->out = NULL;
    s->out_len =
        r->kind == R_VALUES ? s->in.ten_a.n[1] * RANK : n * (r->rank > 0 ? r->rank : 1);
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
    const int threads = threads_asked(), runs = threads > 1 ? RUNS_THREADS : RUNS;
    double a[RUNS_THREADS], b[RUNS_THREADS], ns, cpu;
    gain one = {1e300, 1e300}, all = {1e300, 1e300};
    int n = 0;
    for (int i = -1; i < runs; i++) {
        if (!timed_run(d, 1, &a[n], &cpu)) return false;
        if (a[n] < one.wall) one.wall = a[n];
        if (cpu < one.cpu) one.cpu = cpu;
        double t1 = now_ns();
        r->run(s);
        b[n] = now_ns() - t1;
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

static double run_row(const row *r, state *s, bool csv, bool *wrong)
{
    side d;
    double ours = 0, theirs = 1, ratio = 0;
    gain faster = {0};
    char on_threads[48] = "";
    pick_inputs(s, r->input);
    prepare_out(s, r);
    bool ran = side_open(&d, r, s) && measure(&d, r, s, &ours, &theirs, &faster);
    if (!ran) {
        const stc_error_info *e = d.machine ? stc_error(d.machine) : NULL;
        printf("%-14s %-6s failed: %s\n", r->name, r->input, e ? e->message : "no machine");
        *wrong = true;
    } else {
        bool equal = same(&d, r, s);
        find_tiers(&d);
        ratio = ours / theirs;
        *wrong |= !equal;
        if (threads_asked() > 1)
            snprintf(on_threads, sizeof on_threads, csv ? ",%.2f,%.2f" : "  x%.2f (x%.2f)",
                     faster.wall, faster.cpu);
        printf(csv ? "%s,%s,%.4f,%.4f,%.3f,%s%s%s\n"
                   : "%-14s %-6s %10.3f %10.3f %7.2f  %s%s%s\n",
               r->name, r->input, ours * 1e-6, theirs * 1e-6, ratio, d.tier, on_threads,
               equal ? "" : "  RESULTS DIFFER");
    }
    fflush(stdout);
    side_close(&d);
    if (r->kind == R_CSR) ref_out_free(&s->sparse);
    free(s->out);
    return ratio;
}

int bench_rows(const char *filter, bool csv)
{
    state s = {0};
    double logs = 0;
    int n = 0;
    bool wrong = false;
    printf(csv ? "name,input,stcvm_ms,c_ms,ratio,tiers\n"
               : "name           input    stcvm ms       C ms   ratio  tiers\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char label[64];
        snprintf(label, sizeof label, "%s %s", rows[i].name, rows[i].input);
        if (filter && !strstr(label, filter)) continue;
        double ratio = run_row(&rows[i], &s, csv, &wrong);
        if (ratio <= 0) continue;
        logs += log(ratio);
        n++;
    }
    if (n > 0)
        printf(csv ? "geomean,,,,%.3f,\n" : "geometric mean %36.2f\n", exp(logs / n));
    free_inputs(&s.in);
    return wrong;
}
