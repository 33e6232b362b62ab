/* bench.c: measures stcvm against hand-written C loops, side by side.
 *
 *     bench [--csv] [--tool PATH] [FILTER]
 *
 * FILTER (or the environment's ROWS) picks the rows whose "name input" contains it;
 * "latency" picks the latencies, "formats" the rows over formats, "arrays" those of other
 * functions, "expressions" those that no template has by name, "convolution" those of
 * affine subscripts, "compressed" those on rle and lz77, "cliffs" neighbours of the ten
 * kernels, "graphs" whole algorithms, "peaks" what large runs hold at
 * most, and "threads" what THREADS=2 gain, beside what they gain of memory. It prints and
 * never judges, except that results which differ make the exit status 1.
 */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double own_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return (a > b) - (a < b);
}

double median(double *t, int n)
{
    qsort(t, (size_t)n, sizeof *t, compare);
    return n % 2 ? t[n / 2] : (t[n / 2 - 1] + t[n / 2]) / 2;
}

int runs_asked(int usual)
{
    const char *text = getenv("RUNS");
    const int n = text ? atoi(text) : 0;
    return n > 0 && n <= RUNS_MAX ? n : usual;
}

void mean_add(mean *m, const char *name, double ratio)
{
    if (ratio <= 0) return;
    m->logs += log(ratio);
    m->n++;
    if (ratio <= m->worst) return;
    m->worst = ratio;
    snprintf(m->name, sizeof m->name, "%s", name);
}

void mean_print(const mean *m, const char *what, bool csv)
{
    if (m->n == 0) return;
    const double g = exp(m->logs / m->n);
    if (csv)
        printf("geomean %s,,,,%.3f,,\n", what, g);
    else
        printf("%-36s over %2d rows: %5.2f, worst %.2f %s\n", what, m->n, g, m->worst,
               m->name);
}

void tiers_of(stc_machine *m, const stc_program *p, char out[TIERS_ROOM])
{
    char *code = NULL;
    int n = 0;
    if (!stc_program_explain(p, "code", &code))
        for (const char *q = code; (q = strstr(q, "; tier ")) && n < TIERS_ROOM - 2;
             q += 7) {
            if (n > 0) out[n++] = '/';
            out[n++] = q[7];
        }
    out[n] = 0;
    stc_text_free(m, code);
}

int main(int argc, char **argv)
{
    const char *filter = getenv("ROWS"), *tool = NULL;
    bool csv = getenv("CSV") != NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--csv"))
            csv = true;
        else if (!strcmp(argv[i], "--tool") && i + 1 < argc)
            tool = argv[++i];
        else
            filter = argv[i];
    }
    if (filter && !*filter) filter = NULL;
    if (!tool) tool = getenv("STCVM");
    int status = bench_rows(filter, csv);
    status |= bench_formats(filter, csv);
    status |= bench_arrays(filter, csv);
    status |= bench_expressions(filter, csv);
    status |= bench_convolution(filter, csv);
    status |= bench_compressed(filter, csv);
    status |= bench_cliffs(filter, csv);
    status |= bench_workspaces(filter, csv);
    status |= bench_threads(filter, csv);
    status |= bench_graphs(filter, csv);
    return bench_latency(filter, csv, tool) | status;
}
