/* rows.c: the steady state: each row runs a prepared program and the C loops
 * in turn on the same arrays, takes the median of each, compares results, and
 * prints the ratio. A row is data: text, operands, and the two sides' calls.
 */
#include "rows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 7 };

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
     "lap uni rmats band",
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

/* ---- one row ------------------------------------------------------------------ */

/* Both sides in turn, medians. False: stcvm failed, and its error has been printed. */
static bool measure(side *d, const row *r, state *s, double *ours, double *theirs)
{
    const int runs = runs_asked(RUNS);
    double a[RUNS_MAX], b[RUNS_MAX];
    int n = 0;
    for (int i = -1; i < runs; i++) {
        const double t0 = own_ns();
        if (stc_run(d->program)) return false;
        const double t1 = own_ns();
        r->run(s);
        a[n] = t1 - t0;
        b[n] = own_ns() - t1;
        if (i >= 0) n++; /* the first of each warms caches and buffers */
    }
    *ours = median(a, n);
    *theirs = median(b, n);
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
    pick_inputs(s, input);
    prepare_out(s, r);
    bool ran = side_open(&d, r, s) && measure(&d, r, s, &ours, &theirs);
    if (!ran) {
        const stc_error_info *e = d.machine ? stc_error(d.machine) : NULL;
        printf("%-14s %-6s failed: %s\n", r->name, input, e ? e->message : "no machine");
        *wrong = true;
    } else {
        bool equal = side_same(&d, r, s);
        tiers_of(d.machine, d.program, d.tier);
        ratio = ours / theirs;
        *wrong |= !equal;
        printf(csv ? "%s,%s,%.4f,%.4f,%.3f,%.2f,%s%s\n"
                   : "%-14s %-6s %10.3f %10.3f %7.2f %6.1f  %s%s\n",
               r->name, input, ours * 1e-6, theirs * 1e-6, ratio, traffic(&d, r) / ours,
               d.tier, equal ? "" : "  RESULTS DIFFER");
    }
    fflush(stdout);
    side_close(&d);
    if (r->kind == R_CSR) ref_out_free(&s->sparse);
    free(s->out);
    return ratio;
}

/* ---- all of them ----------------------------------------------------------------- */

bool next_input(const char **list, char *word, size_t size)
{
    size_t n = strcspn(*list, " ");
    if (n == 0 || n >= size) return false;
    memcpy(word, *list, n);
    word[n] = 0;
    *list += n + ((*list)[n] == ' ');
    return true;
}

const row *row_named(const char *name)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (!strcmp(rows[k].name, name)) return &rows[k];
    return NULL;
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
            mean_add(&all, label, ratio);
            mean_add(&own, input, ratio);
            if (rows[i].famous) mean_add(&famous, label, ratio);
        }
        if (own.n > 1 && !filter) mean_print(&own, rows[i].name, csv);
    }
    mean_print(&all, "geometric mean", csv);
    if (famous.n < all.n) mean_print(&famous, "geometric mean, the ten kernels", csv);
    if (all.n) print_stream(csv);
    free_inputs(&s.in);
    return wrong;
}
