/* threads.c: what threads gain: each row runs by one thread and by several in turn, on
 * the same prepared program, and the triad of stream.c with them, likewise.
 *
 * A gain is the best run of one thread over the best of several, which needs a machine
 * that does nothing else. Beside it stands what it would be if all threads had cores of
 * their own: the processor's time of one thread over that of the busiest of them, if
 * shared out evenly. Loops that wait for memory can't gain more than the triad does:
 * the last column is their part of that.
 */
#include "rows.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS_THREADS = 15 };

static const char *const shared[] = {"spmv", "spmm", "spgemm", "mttkrp",
                                     "ttm",  "ttv",  "add",    "mul"};

static const row convolution = {.name = "convolution",
                                .inputs = "pic",
                                .text = "Y(i,j) = A(i+p,j+q) * F(p,q)",
                                .operand = {{"A", S_A}, {"F", S_FILTER}},
                                .result = "Y",
                                .result_format = "dense",
                                .kind = R_DENSE};

/* Ways of length two that an edge closes: triangles, where edges have both ways. */
static const row triangles = {.name = "triangles",
                              .inputs = "uni rmats rmat",
                              .text = "c = A(i,j) * A(j,k) * A(i,k)",
                              .operand = {{"A", S_A}},
                              .result = "c",
                              .result_format = "dense",
                              .kind = R_SCALAR};

/* Best runs: the clock's time, and what all threads together took of the processor. */
typedef struct best {
    double wall, cpu, stream;
} best;

static void keep_least(double *x, double y)
{
    if (y < *x) *x = y;
}

static double process_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static bool timed_run(side *d, int threads, const stream *beside, best *b)
{
    if (stc_set_threads(d->machine, threads)) return false;
    const double cpu = process_ns(), start = now_ns();
    if (stc_run(d->program)) return false;
    keep_least(&b->wall, now_ns() - start);
    keep_least(&b->cpu, process_ns() - cpu);
    keep_least(&b->stream, stream_ns(beside, threads));
    return true;
}

/* A copy of the result's values, and their number; NULL: there is none. */
static void *values_of(const side *d, const row *r, int64_t *n)
{
    const stc_tensor *t;
    const void *v;
    if (stc_result(d->program, r->result, &t) || stc_tensor_values(t, &v, n)) return NULL;
    void *copy = xalloc((size_t)*n * sizeof(double) + 1);
    memcpy(copy, v, (size_t)*n * sizeof(double));
    return copy;
}

/* One thread and several in turn; *same: bit by bit what one computes. */
static bool measure(side *d, const row *r, int threads, const stream *s, best *one,
                    best *all, bool *same)
{
    const int runs = runs_asked(RUNS_THREADS);
    *one = *all = (best){1e300, 1e300, 1e300};
    for (int k = 0; k < runs; k++) {
        int64_t n = 0, m = 0;
        if (!timed_run(d, 1, s, one)) return false;
        void *want = k ? NULL : values_of(d, r, &n);
        if (!timed_run(d, threads, s, all)) return false;
        if (k) continue;
        void *got = values_of(d, r, &m);
        *same = want && got && n == m && !memcmp(want, got, (size_t)n * sizeof(double));
        free(want);
        free(got);
    }
    return true;
}

static bool run_row(const row *r, const char *input, state *s, int threads,
                    const stream *beside, bool csv)
{
    side d;
    best one, all;
    bool same = false;
    pick_inputs(s, input);
    if (!side_open(&d, r, s) || !measure(&d, r, threads, beside, &one, &all, &same)) {
        const stc_error_info *e = d.machine ? stc_error(d.machine) : NULL;
        printf("%-14s %-6s failed: %s\n", r->name, input, e ? e->message : "no machine");
    } else {
        const double gain = one.wall / all.wall, most = one.stream / all.stream;
        printf(csv ? "%s,%s,%.4f,%.4f,%.2f,%.2f,%.2f,%.2f%s\n"
                   : "%-14s %-6s %10.3f %10.3f %7.2f %7.2f %7.2f %7.2f%s\n",
               r->name, input, one.wall * 1e-6, all.wall * 1e-6, gain,
               threads * one.cpu / all.cpu, most, gain / most,
               same ? "" : "  RESULTS DIFFER");
    }
    fflush(stdout);
    side_close(&d);
    return same;
}

int bench_threads(const char *filter, bool csv)
{
    if (!filter || strncmp(filter, "threads", 7)) return 0;
    const char *text = getenv("THREADS"), *only = filter + 7;
    const int asked = text ? atoi(text) : 2, threads = asked > 1 ? asked : 2;
    state s = {0};
    bool wrong = false;
    stream *beside = stream_open();
    printf(csv ? "name,input,one_ms,%d_ms,gain,of_cpu,stream,share\n"
               : "name           input      1 thread  %d threads    gain  of cpu  stream   "
                 "share\n",
           threads);
    const size_t count = sizeof shared / sizeof *shared;
    for (size_t k = 0; k <= count + 1; k++) {
        const row *r = k < count    ? row_named(shared[k])
                       : k == count ? &convolution
                                    : &triangles;
        const char *left = r->inputs;
        char label[64], input[16];
        while (next_input(&left, input, sizeof input)) {
            snprintf(label, sizeof label, " %s %s", r->name, input);
            if (strstr(label, only)) wrong |= !run_row(r, input, &s, threads, beside, csv);
        }
    }
    stream_close(beside);
    free_inputs(&s.in);
    return wrong;
}
