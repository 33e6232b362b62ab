/* workspaces.c: the workspace paper's evaluation (§7): one statement by each policy
 * of workspace and by the machine's own choice: row-wise and outer-product SpGEMM
 * over rates of deduplication, SpMTTKRP over the extent of its free index, one all
 * array and two, one thread and two, and what workspaces hold at most.
 *
 * By policy, times are the least of rounds in which every policy runs once, of the
 * thread's own time; `auto` is held against the best of the policies. Elsewhere they
 * are medians.
 */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 3, ROUNDS = 5, POLICIES = 5 };
static const char *const policies[POLICIES] = {"dense", "coord", "bucket", "hash", "auto"};

#define MATMUL "E(i,j) = A(i,k) * B(k,j)"
#define MTTKRP "E(i,j) = T(i,k,l) * A(k,j) * B(l,j)"

typedef struct setting {
    stc_machine *m;
    stc_tensor *a, *b, *t;
} setting;

static bool lend(stc_machine *m, csr *a, const char *format, stc_tensor **out)
{
    stc_tensor *t = NULL;
    const int64_t shape[2] = {a->rows, a->cols};
    bool ok = !stc_tensor_new(m, "csr", STC_F64, 2, shape, NULL, &t) &&
              !stc_tensor_lend(t, 1, STC_POS, (stc_array){a->pos, a->rows + 1, 4, 4}) &&
              !stc_tensor_lend(t, 1, STC_CRD, (stc_array){a->crd, a->nnz, 4, 4}) &&
              !stc_tensor_lend_values(t, a->val, a->nnz) && !stc_tensor_check(t) &&
              !stc_tensor_convert(t, format, -1, out);
    stc_tensor_free(t);
    return ok;
}

/* The program of a statement with a schedule; NULL with the message printed. */
static stc_program *prepare(const setting *s, const char *text, const char *fa,
                            const char *fb, const char *fe)
{
    const stc_decl decl[] = {{0, "A", fa, STC_F64, NULL, -1},
                             {0, "B", fb, STC_F64, NULL, -1},
                             {0, "T", "csf", STC_F64, NULL, -1},
                             {0, "E", fe, STC_F64, NULL, -1}};
    stc_program *p = NULL;
    const bool three = strstr(text, "T(") != NULL;
    if (stc_compile(s->m, text, decl, 4, &p) || stc_bind(p, "A", s->a) ||
        stc_bind(p, "B", s->b) || (three && stc_bind(p, "T", s->t))) {
        printf("%s: %s\n", text, stc_error(s->m)->message);
        stc_program_free(p);
        return NULL;
    }
    return p;
}

/* Median ms of a program's runs; -1: it failed. */
static double timed(const setting *s, stc_program *p, double (*clock_ns)(void))
{
    double t[RUNS];
    for (int k = -1; k < RUNS; k++) {
        const double from = clock_ns();
        if (!p || stc_run(p)) {
            if (p) printf("%s\n", stc_error(s->m)->message);
            return -1;
        }
        if (k >= 0) t[k] = (clock_ns() - from) * 1e-6;
    }
    return median(t, RUNS);
}

static double sum_of(stc_program *p)
{
    const stc_tensor *e;
    const void *vals;
    int64_t n;
    double sum = 0;
    if (stc_result(p, "E", &e) || stc_tensor_values(e, &vals, &n)) return NAN;
    for (int64_t k = 0; k < n; k++)
        sum += ((const double *)vals)[k];
    return sum;
}

/* The least ms of each program's runs, which take turns; -1: it failed. */
static void in_turn(const setting *s, stc_program **p, double *ms)
{
    for (int k = 0; k < POLICIES; k++)
        ms[k] = p[k] ? INFINITY : -1;
    for (int round = -1; round < ROUNDS; round++)
        for (int k = 0; k < POLICIES; k++) {
            if (ms[k] < 0) continue;
            const double from = own_ns();
            if (stc_run(p[k])) {
                printf("%s\n", stc_error(s->m)->message);
                ms[k] = -1;
                continue;
            }
            const double took = (own_ns() - from) * 1e-6;
            if (round >= 0 && took < ms[k]) ms[k] = took;
        }
}

/* One line: the statement by every policy. */
static bool by_policy(const setting *s, const char *label, const char *text,
                      const char *order, const char *formats[3], bool csv)
{
    double ms[POLICIES], best = INFINITY, sum[POLICIES];
    stc_program *p[POLICIES];
    bool same = true;
    for (int k = 0; k < POLICIES; k++) {
        char whole[200];
        snprintf(whole, sizeof whole, "%s with %sworkspace(%s)", text, order, policies[k]);
        p[k] = prepare(s, whole, formats[0], formats[1], formats[2]);
    }
    in_turn(s, p, ms);
    for (int k = 0; k < POLICIES; k++) {
        sum[k] = p[k] && ms[k] >= 0 ? sum_of(p[k]) : NAN;
        same &= fabs(sum[k] - sum[0]) <= 1e-9 * fabs(sum[0]);
        if (k + 1 < POLICIES && ms[k] >= 0 && ms[k] < best) best = ms[k];
        stc_program_free(p[k]);
    }
    printf(csv ? "%s" : "%-24s", label);
    for (int k = 0; k < POLICIES; k++)
        printf(csv ? ",%.3f" : " %9.3f", ms[k]);
    printf(csv ? ",%.2f%s\n" : " %9.2f%s\n", ms[POLICIES - 1] / best,
           same ? "" : "  RESULTS DIFFER");
    fflush(stdout);
    return same;
}

static bool open_setting(setting *s, int threads)
{
    *s = (setting){0};
    return !stc_open(NULL, &s->m) && !stc_set_threads(s->m, threads);
}

static void close_setting(setting *s)
{
    stc_tensor_free(s->a);
    stc_tensor_free(s->b);
    stc_tensor_free(s->t);
    stc_close(s->m);
}

/* A matrix by itself, row-wise and by outer products. */
static bool products(const char *name, csr *a, bool outer, bool csv)
{
    static const char *rows[] = {"csr", "csr", "csr"}, *cols[] = {"dcsc", "dcsr", "csr"};
    const char **f = outer ? cols : rows;
    char label[64];
    setting s;
    snprintf(label, sizeof label, "%s %s", outer ? "outer" : "rows", name);
    bool ok = open_setting(&s, 1) && lend(s.m, a, f[0], &s.a) && lend(s.m, a, f[1], &s.b) &&
              by_policy(&s, label, MATMUL, outer ? "reorder(k,i,j), " : "", f, csv);
    close_setting(&s);
    return ok;
}

static bool mttkrp(int64_t j, bool csv)
{
    static const char *f[] = {"csr", "csr", "csr"};
    const int64_t shape[3] = {200, 150, 120}, n = 20000;
    int64_t *at = xalloc((size_t)n * 3 * sizeof *at);
    double *v = gen_dense(n, 5);
    uint64_t x = 12345;
    for (int64_t k = 0; k < 3 * n; k++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        at[k] = (int64_t)((x >> 33) % (uint64_t)shape[k / n]);
    }
    /* a tenth of each factor is stored, and one column at least */
    csr c = gen_uni(shape[1] > j ? shape[1] : j, j >= 10 ? (int)(j / 10) : 1, 3), d = c;
    for (int64_t k = 0; k < c.nnz; k++)
        c.crd[k] = (int32_t)(c.crd[k] % j);
    for (int64_t i = 0; i < c.rows; i++) { /* in order, each column once */
        int32_t *from = c.crd + c.pos[i], count = c.pos[i + 1] - c.pos[i];
        for (int32_t k = 0; k < count; k++)
            from[k] =
                (int32_t)(((int64_t)k * j + (i * 7 + k * 3) % (j / count ? j / count : 1)) /
                          count);
    }
    c.cols = d.cols = j;
    c.rows = shape[1];
    d.rows = shape[2];
    c.nnz = c.pos[c.rows];
    d = c;
    d.rows = shape[2];
    d.nnz = c.pos[d.rows];
    setting s;
    char label[64];
    snprintf(label, sizeof label, "mttkrp J=%lld", (long long)j);
    bool ok =
        open_setting(&s, 1) && lend(s.m, &c, "csr", &s.a) && lend(s.m, &d, "csr", &s.b) &&
        !stc_tensor_from_coords(s.m, "csf", STC_F64, 3, shape, NULL, n, at, v, &s.t) &&
        by_policy(&s, label, MTTKRP, "reorder(k,l,i,j), ", f, csv);
    if (!ok && s.m) printf("%s: %s\n", label, stc_error(s.m)->message);
    close_setting(&s);
    free(at);
    free(v);
    csr_free(&c);
    return ok;
}

/* The optimisations of §5.3 on and off, by outer products. */
static void optimisations(bool csv)
{
    static const char *const how[] = {"coord", "bucket", "hash"};
    csr a = gen_rmat(12, 12, 21);
    printf(csv ? ""
               : "\nouter rmat 2^12               one, 1 thread   two, 1 thread   "
                 "one, 2 threads  two, 2 threads   (all arrays)\n");
    for (int k = 0; k < 3; k++) {
        printf(csv ? "%s" : "%-24s", how[k]);
        for (int v = 0; v < 4; v++) {
            setting s;
            char text[200];
            snprintf(text, sizeof text,
                     MATMUL " with reorder(k,i,j), workspace(%s, 65536%s)", how[k],
                     v & 1 ? "" : ", single");
            double ms = -1;
            if (open_setting(&s, 1 + v / 2) && lend(s.m, &a, "dcsc", &s.a) &&
                lend(s.m, &a, "dcsr", &s.b)) {
                stc_program *p = prepare(&s, text, "dcsc", "dcsr", "csr");
                ms = timed(&s, p, now_ns);
                stc_program_free(p);
            }
            printf(csv ? ",%.3f" : " %15.3f", ms);
            close_setting(&s);
        }
        printf("\n");
        fflush(stdout);
    }
    csr_free(&a);
}

/* What a run holds beside its operands, by policy; and an outer product of matrices
 * of 10^7 x 10^7 with a few entries. */
static void peaks(bool csv)
{
    printf(csv ? "" : "\npeak MB beside the operands    result MB\n");
    for (int k = 0; k < POLICIES; k++) {
        csr a = gen_uni(8000, 4, 17);
        setting s;
        char text[200];
        const stc_tensor *e;
        snprintf(text, sizeof text, MATMUL " with reorder(k,i,j), workspace(%s)",
                 policies[k]);
        if (open_setting(&s, 1) && lend(s.m, &a, "dcsc", &s.a) &&
            lend(s.m, &a, "dcsr", &s.b)) {
            const double before = (double)stc_memory_used(s.m);
            stc_program *p = prepare(&s, text, "dcsc", "dcsr", "csr");
            if (p && !stc_run(p) && !stc_result(p, "E", &e))
                printf(csv ? "peak %s,%.3f,%.3f\n" : "outer uni %-14s %10.2f %10.2f\n",
                       policies[k], ((double)stc_memory_peak(s.m) - before) / 1e6,
                       (double)stc_tensor_bytes(e) / 1e6);
            stc_program_free(p);
        }
        close_setting(&s);
        csr_free(&a);
    }
    enum { N = 100000 };
    const int64_t shape[2] = {10000000, 10000000};
    int64_t *at = xalloc(2 * N * sizeof *at);
    double *v = gen_dense(N, 9);
    for (int64_t k = 0; k < N; k++) {
        at[k] = k * 99 % shape[0]; /* one mode after the other */
        at[N + k] = k * 7919 % shape[1] / 97 * 97;
    }
    setting s;
    const stc_tensor *e;
    stc_program *p = NULL;
    if (open_setting(&s, 1) &&
        !stc_tensor_from_coords(s.m, "dcsc", STC_F64, 2, shape, NULL, N, at, v, &s.a) &&
        !stc_tensor_from_coords(s.m, "dcsr", STC_F64, 2, shape, NULL, N, at, v, &s.b)) {
        const double before = (double)stc_memory_used(s.m);
        p = prepare(&s, MATMUL " with reorder(k,i,j)", "dcsc", "dcsr", "dcsr");
        if (p && !stc_run(p) && !stc_result(p, "E", &e))
            printf(csv ? "hypersparse,%.3f,%.3f\n"
                       : "hypersparse 10^7 x 10^7  %10.2f %10.2f\n",
                   ((double)stc_memory_peak(s.m) - before) / 1e6,
                   (double)stc_tensor_bytes(e) / 1e6);
    }
    stc_program_free(p);
    close_setting(&s);
    free(at);
    free(v);
}

static bool picked(const char *filter, const char *label)
{
    return filter && (strstr(label, filter) || !strcmp(filter, "workspaces"));
}

int bench_workspaces(const char *filter, bool csv)
{
    bool ok = true;
    if (!filter) return 0; /* only when asked for: it takes a while */
    const bool any = !strcmp(filter, "workspaces") || strstr("workspace peaks", filter) ||
                     !strncmp(filter, "outer", 5) || !strncmp(filter, "mttkrp J", 8) ||
                     !strncmp(filter, "rows ", 5);
    if (!any) return 0;
    if (!csv)
        printf("\n%-24s %9s %9s %9s %9s %9s %9s\n", "workspaces, ms", "dense", "coord",
               "bucket", "hash", "auto", "auto/best");
    for (int outer = 0; outer < 2; outer++) {
        for (int per = 4; per <= 128; per *= 2) { /* more duplicates each time */
            char name[64], label[80];
            snprintf(name, sizeof name, "uni 4000, %d a row", per);
            snprintf(label, sizeof label, "%s %s", outer ? "outer" : "rows", name);
            if (!picked(filter, label) || (outer && per > 64)) continue;
            csr a = gen_uni(4000, per, 17);
            ok &= products(name, &a, outer, csv);
            csr_free(&a);
        }
    }
    static const char *const named[] = {"lap", "uni", "rmats"};
    for (int k = 0; k < 3; k++) {
        char label[64];
        snprintf(label, sizeof label, "rows %s", named[k]);
        if (!picked(filter, label)) continue;
        csr a = k == 0   ? gen_lap(500, 1)
                : k == 1 ? gen_uni(100000, 10, 11)
                         : gen_rmat(14, 14, 41);
        ok &= products(named[k], &a, false, csv);
        csr_free(&a);
    }
    for (int64_t j = 4; j <= 2048; j *= 2) {
        char label[64];
        snprintf(label, sizeof label, "mttkrp J=%lld", (long long)j);
        if (picked(filter, label)) ok &= mttkrp(j, csv);
    }
    if (!strcmp(filter, "workspaces") || strstr(filter, "outer rmat")) optimisations(csv);
    if (!strcmp(filter, "workspaces") || strstr(filter, "peaks")) peaks(csv);
    return !ok;
}
