/* arrays.c: the array paper's evaluation: functions that are neither unions nor
 * intersections, fused ones, windows, semirings and minimax, against C loops
 * on the same arrays. All operands are matrices in CSR (uniform, 100 000
 * rows of 10), and a vector; what is stored is counted on both sides.
 */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 7, ROWS_N = 100000 };

typedef struct data {
    csr a, b, d;
    int64_t *ia, *ib; /* values of a and b as integers            */
    bool *mask;
    double *x, *y;
    ref_out out;
    int64_t stored; /* by the C loops: entries, or true elements */
} data;

/* Merges rows of A and B; KEEP_A … tell which entries make one. */
#define MERGE(s, KEEP_A, KEEP_B, BOTH, A_ONLY, B_ONLY)                                     \
    do {                                                                                   \
        const csr *a = &(s)->a, *b = &(s)->b;                                              \
        csr *c = &(s)->out.m;                                                              \
        int32_t n = 0;                                                                     \
        for (int64_t i = 0; i < a->rows; i++) {                                            \
            int32_t p = a->pos[i], q = b->pos[i];                                          \
            const int32_t pe = a->pos[i + 1], qe = b->pos[i + 1];                          \
            while (p < pe || q < qe) {                                                     \
                const int32_t j = p < pe ? a->crd[p] : INT32_MAX;                          \
                const int32_t k = q < qe ? b->crd[q] : INT32_MAX;                          \
                if (j == k) {                                                              \
                    c->crd[n] = j;                                                         \
                    c->val[n++] = (BOTH);                                                  \
                } else if (j < k) {                                                        \
                    c->crd[n] = j;                                                         \
                    c->val[n] = (A_ONLY);                                                  \
                    n += (KEEP_A);                                                         \
                } else {                                                                   \
                    c->crd[n] = k;                                                         \
                    c->val[n] = (B_ONLY);                                                  \
                    n += (KEEP_B);                                                         \
                }                                                                          \
                p += j <= k;                                                               \
                q += k <= j;                                                               \
            }                                                                              \
            c->pos[i + 1] = n;                                                             \
        }                                                                                  \
        (s)->stored = n;                                                                   \
    } while (0)

static void c_xor(data *s)
{
    MERGE(s, 1, 1, (a->val[p] != 0) ^ (b->val[q] != 0), a->val[p] != 0, b->val[q] != 0);
}
static void c_ldexp(data *s)
{
    MERGE(s, 1, 1, ldexp(a->val[p], (int)s->ib[q]), a->val[p], 0);
}
static void c_shift(data *s)
{
    MERGE(s, 1, 0, (double)(s->ia[p] >> s->ib[q]), (double)s->ia[p], 0);
}
static void c_power(data *s)
{
    MERGE(s, 1, 1, pow(a->val[p], b->val[q]), 0, 1);
}

/* D's entries, with whether A and B have one there. */
static void c_and_xor(data *s)
{
    int32_t n = 0;
    for (int64_t i = 0; i < s->d.rows; i++) {
        int32_t p = s->a.pos[i], q = s->b.pos[i];
        for (int32_t e = s->d.pos[i]; e < s->d.pos[i + 1]; e++) {
            const int32_t j = s->d.crd[e];
            while (p < s->a.pos[i + 1] && s->a.crd[p] < j)
                p++;
            while (q < s->b.pos[i + 1] && s->b.crd[q] < j)
                q++;
            const bool in_a = p < s->a.pos[i + 1] && s->a.crd[p] == j;
            const bool in_b = q < s->b.pos[i + 1] && s->b.crd[q] == j;
            if (!in_a && !in_b) continue;
            s->out.m.crd[n] = j;
            s->out.m.val[n++] = s->d.val[e] != 0 &&
                                ((in_a && s->a.val[p] != 0) ^ (in_b && s->b.val[q] != 0));
        }
    }
    s->stored = n;
}

static void c_masked(data *s)
{
    s->stored = 0;
    for (int64_t i = 0; i < s->a.rows; i++) {
        bool any = false;
        for (int32_t p = s->a.pos[i]; !s->mask[i] && p < s->a.pos[i + 1]; p++)
            any |= s->a.val[p] != 0 && s->x[s->a.crd[p]] != 0;
        s->y[i] = any;
    }
}

static void c_tropical(data *s)
{
    for (int64_t i = 0; i < s->a.rows; i++) {
        double best = INFINITY;
        for (int32_t p = s->a.pos[i]; p < s->a.pos[i + 1]; p++)
            best = fmin(best, s->a.val[p] + s->x[s->a.crd[p]]);
        s->y[i] = best;
    }
}

/* max over rows of the min over columns, where what isn't stored is 0. */
static void c_minimax(data *s)
{
    double best = -INFINITY;
    for (int64_t i = 0; i < s->a.rows; i++) {
        double low = INFINITY;
        for (int32_t p = s->a.pos[i]; p < s->a.pos[i + 1]; p++)
            low = fmin(low, s->a.val[p]);
        if (s->a.pos[i + 1] - s->a.pos[i] < s->a.cols) low = fmin(low, 0);
        best = fmax(best, low);
    }
    s->y[0] = best;
}

typedef struct row {
    const char *name, *text, *format;
    bool counted; /* the result's entries are counted on both sides */
    const char *fill;
    void (*run)(data *s);
} row;

static const row rows[] = {
    {"xor", "C(i,j) = (A(i,j) != 0) ^ (B(i,j) != 0)", "csr", true, NULL, c_xor},
    {"ldexp", "C(i,j) = ldexp(A(i,j), J(i,j))", "csr", true, NULL, c_ldexp},
    {"right shift", "C(i,j) = I(i,j) >> J(i,j)", "csr", true, NULL, c_shift},
    {"power", "C(i,j) = A(i,j) ** B(i,j)", "csr", true, NULL, c_power},
    {"and of xor", "C(i,j) = D(i,j) != 0 && ((A(i,j) != 0) ^ (B(i,j) != 0))", "csr", true,
     NULL, c_and_xor},
    {"complement mask", "C(i) = !m(i) && any(j: A(i,j) != 0 && x(j) != 0)", "dense", false,
     NULL, c_masked},
    {"tropical mxv", "C(i) = min(j: A(i,j) + x(j))", "dense", false, "inf", c_tropical},
    {"minimax", "C = max(i: min(j: A(i,j)))", "dense", false, NULL, c_minimax},
};

static stc_array indices(int32_t *p, int64_t n)
{
    return (stc_array){.data = p, .length = n, .width = 4, .stride = 4};
}

static stc_tensor *lend(stc_machine *m, const csr *a, stc_type type, void *values,
                        const stc_value *fill)
{
    stc_tensor *t = NULL;
    const int64_t shape[2] = {a->rows, a->cols};
    if (stc_tensor_new(m, "csr", type, 2, shape, fill, &t) ||
        stc_tensor_lend(t, 1, STC_POS, indices(a->pos, a->rows + 1)) ||
        stc_tensor_lend(t, 1, STC_CRD, indices(a->crd, a->nnz)) ||
        stc_tensor_lend_values(t, values, a->nnz)) {
        stc_tensor_free(t);
        return NULL;
    }
    return t;
}

static stc_tensor *lend_vector(stc_machine *m, stc_type type, void *values)
{
    stc_tensor *t = NULL;
    const int64_t shape[1] = {ROWS_N};
    if (stc_tensor_new(m, "dense", type, 1, shape, NULL, &t)) return NULL;
    if (!stc_tensor_lend_values(t, values, ROWS_N)) return t;
    stc_tensor_free(t);
    return NULL;
}

enum { OPERANDS = 7 };
static const char *const names[OPERANDS] = {"A", "B", "D", "I", "J", "m", "x"};

/* The text has this name as an operand: not as the end of a word. */
static bool uses(const char *text, char name)
{
    for (const char *q = text; (q = strchr(q, name)) != NULL; q++)
        if (q[1] == '(' && (q == text || q[-1] < 'a' || q[-1] > 'z')) return true;
    return false;
}

static void tiers(stc_machine *m, stc_program *p, char out[16])
{
    char *code = NULL;
    int n = 0;
    if (!stc_program_explain(p, "code", &code))
        for (const char *q = code; (q = strstr(q, "; tier ")) && n < 7; q += 7)
            out[n++] = q[7];
    out[n] = 0;
    stc_text_free(m, code);
}

/* ours / theirs; 0: it failed, or results differ. */
static double run_row(const row *r, data *s, stc_machine *m, bool csv)
{
    const stc_value inf = {.f = INFINITY};
    stc_tensor *t[OPERANDS] = {lend(m, &s->a, STC_F64, s->a.val, r->fill ? &inf : NULL),
                               lend(m, &s->b, STC_F64, s->b.val, NULL),
                               lend(m, &s->d, STC_F64, s->d.val, NULL),
                               lend(m, &s->a, STC_I64, s->ia, NULL),
                               lend(m, &s->b, STC_I64, s->ib, NULL),
                               lend_vector(m, STC_BOOL, s->mask),
                               lend_vector(m, STC_F64, s->x)};
    stc_decl decl[OPERANDS + 1];
    int n = 0;
    for (int k = 0; k < OPERANDS; k++) {
        if (!uses(r->text, names[k][0])) continue;
        decl[n++] = (stc_decl){names[k], k < 5 ? "csr" : "dense",
                               t[k] ? (int)stc_tensor_type(t[k]) : -1,
                               k == 0 && r->fill ? &inf : NULL, -1};
    }
    stc_program *p = NULL;
    const stc_tensor *c = NULL;
    bool ok = !stc_compile(m, r->text, decl, n, &p);
    for (int k = 0; ok && k < OPERANDS; k++)
        ok = t[k] && (!uses(r->text, names[k][0]) || !stc_bind(p, names[k], t[k]));
    double ours[RUNS], theirs[RUNS], ratio = 0;
    for (int k = -1; ok && k < RUNS; k++) {
        const double t0 = now_ns();
        ok = !stc_run(p);
        const double t1 = now_ns();
        r->run(s);
        if (k >= 0) ours[k] = t1 - t0, theirs[k] = now_ns() - t1;
    }
    ok = ok && !stc_result(p, "C", &c);
    if (ok && r->counted && stc_tensor_stored(c) != s->stored) {
        printf("%s: %lld entries stored, %lld by the C loops\n", r->name,
               (long long)stc_tensor_stored(c), (long long)s->stored);
        ok = false;
    }
    if (ok) {
        const double a = median(ours, RUNS), b = median(theirs, RUNS);
        char tier[16];
        tiers(m, p, tier);
        ratio = a / b;
        printf(csv ? "%s,uni,%.0f,%.0f,%.3f,%s\n"
                   : "%-18s uni %12.0f %12.0f ns %8.2f  tier %s\n",
               r->name, a, b, ratio, tier);
    } else {
        printf("%s: %s\n", r->name, stc_error(m)->message);
    }
    stc_program_free(p);
    for (int k = 0; k < OPERANDS; k++)
        stc_tensor_free(t[k]);
    return ratio;
}

static void make(data *s)
{
    s->a = gen_uni(ROWS_N, 10, 51);
    s->b = gen_uni(ROWS_N, 10, 52);
    s->d = gen_uni(ROWS_N, 2, 53);
    s->ia = xalloc((size_t)s->a.nnz * sizeof *s->ia);
    s->ib = xalloc((size_t)s->b.nnz * sizeof *s->ib);
    for (int64_t k = 0; k < s->a.nnz; k++)
        s->ia[k] = k % 1000 + 1;
    for (int64_t k = 0; k < s->b.nnz; k++)
        s->ib[k] = 2;
    s->mask = xalloc(ROWS_N);
    for (int k = 0; k < ROWS_N; k++)
        s->mask[k] = k % 4 != 0;
    s->x = gen_dense(ROWS_N, 54);
    s->y = gen_dense(ROWS_N, 55);
    ref_out_init(&s->out, s->a.rows, s->a.cols);
    s->out.m.crd = xalloc((size_t)(s->a.nnz + s->b.nnz + 1) * sizeof *s->out.m.crd);
    s->out.m.val = xalloc((size_t)(s->a.nnz + s->b.nnz + 1) * sizeof *s->out.m.val);
}

static void discard(data *s)
{
    csr_free(&s->a);
    csr_free(&s->b);
    csr_free(&s->d);
    ref_out_free(&s->out);
    free(s->ia);
    free(s->ib);
    free(s->mask);
    free(s->x);
    free(s->y);
}

int bench_arrays(const char *filter, bool csv)
{
    data s = {.stored = 0};
    stc_machine *m = NULL;
    double logs = 0;
    int n = 0, wrong = 0;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (filter && !strstr(rows[k].name, filter) && strcmp(filter, "arrays")) continue;
        if (!m) make(&s);
        if (!m && stc_open(NULL, &m)) return 1;
        const double ratio = run_row(&rows[k], &s, m, csv);
        wrong |= ratio <= 0;
        logs += ratio > 0 ? log(ratio) : 0;
        n += ratio > 0;
    }
    if (n)
        printf(csv ? "geomean arrays,,,,%.3f,\n" : "geometric mean, arrays %28.2f\n",
               exp(logs / n));
    if (m) discard(&s);
    stc_close(m);
    return wrong;
}
