/* cmd_run.c: `stcvm run`: a bytecode file on data from the command line.
 */
#include "cli.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, compare);
    return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

/* Every stc_run starts from what is bound, so repeating needs nothing else. */
static int run_times(cli *c, stc_program *p, double *middle)
{
    const int n = c->opt.repeat;
    double *us = xrealloc(NULL, (size_t)n * sizeof *us);
    int status = STATUS_OK;
    for (int i = 0; i < n && status == STATUS_OK; i++) {
        if (stc_run(p) != STC_OK)
            status = report_error(c, 0);
        else
            us[i] = program_times(p).run;
    }
    if (status == STATUS_OK) *middle = median(us, n);
    free(us);
    progress_end(&c->progress);
    return status;
}

/* The program's last result; NULL if it has none. */
static const char *last_result(const stc_program *p)
{
    const char *name, *last = NULL;
    bool is_result;
    for (int i = 0; (name = stc_program_name(p, i, &is_result)); i++)
        if (is_result) last = name;
    return last;
}

static int write_results(cli *c, const stc_program *p, const output *o, int count,
                         double *save)
{
    const output last = {.name = (char *)last_result(p)};
    if (!count) {
        o = &last;
        count = last.name != NULL;
    }
    for (int i = 0; i < count; i++) {
        const stc_tensor *t;
        if (stc_result(p, o[i].name, &t) != STC_OK) return report_error(c, 0);
        const int status = output_write(c, t, o[i].path, save);
        if (status != STATUS_OK) return status;
    }
    return STATUS_OK;
}

static int report_program(cli *c, const stc_program *p, double load, double middle,
                          double save)
{
    if (c->opt.profile) {
        char *text = NULL;
        const stc_status st = stc_program_profile(p, &text);
        fflush(stdout);
        const int status = put_text(c, st, text, stderr);
        if (status != STATUS_OK) return status;
    }
    if (c->opt.time) {
        stc_times t = program_times(p);
        t.load = load;
        t.run = middle;
        t.save += save;
        report_times(&t);
    }
    return STATUS_OK;
}

static int run_on(cli *c, const args *a, const spec *specs, int n, const output *outs)
{
    stc_program *p;
    double middle = 0, save = 0, load = now_us();
    int status = STATUS_OK;
    if (stc_program_load(c->machine, a->operand[0], &p) != STC_OK)
        return report_error(c, 0);
    load = now_us() - load - program_times(p).verify;
    const double start = now_us();
    for (int i = 0; i < n && status == STATUS_OK; i++)
        if (stc_bind_source(p, specs[i].name, &specs[i].source) != STC_OK)
            status = report_error(c, 0);
    load += now_us() - start;
    if (status == STATUS_OK) status = run_times(c, p, &middle);
    if (status == STATUS_OK) status = write_results(c, p, outs, a->outs, &save);
    if (status == STATUS_OK) status = report_program(c, p, load, middle, save);
    stc_program_free(p);
    return status;
}

int cmd_run(cli *c, const args *a)
{
    return on_operands(c, a, SPEC_BOUND, run_on);
}
