/* cmd_eval.c: `stcvm eval` and `stcvm SCRIPT.stc`: statements, run in a session
 * of their own whose tensors come from the command line or the text itself.
 */
#include "cli.h"

#include <stdlib.h>

int output_write(cli *c, const stc_tensor *t, const char *path, double *save)
{
    const double start = now_us();
    stc_status status = path ? stc_tensor_write(t, path) : stc_tensor_print(t, stdout, 0);
    progress_end(&c->progress);
    if (status != STC_OK) return report_error(c, 0);
    if (path) *save += now_us() - start;
    return STATUS_OK;
}

int put_text(cli *c, stc_status st, char *text, FILE *out)
{
    if (st != STC_OK) return report_error(c, 0);
    fputs(text, out);
    stc_text_free(c->machine, text);
    return STATUS_OK;
}

/* What --time and --profile ask for, after everything else. */
static int report_session(cli *c, const stc_session *s, double save)
{
    if (c->opt.profile) {
        char *text = NULL;
        const stc_status st = stc_session_profile(s, &text);
        fflush(stdout);
        const int status = put_text(c, st, text, stderr);
        if (status != STATUS_OK) return status;
    }
    if (c->opt.time) {
        stc_times t = session_times(s);
        t.save += save;
        report_times(&t);
    }
    return STATUS_OK;
}

static int write_results(cli *c, const stc_session *s, const output *o, int count,
                         double *save)
{
    const stc_tensor *t;
    const char *last = stc_session_last(s);
    if (!count && last) {
        if (stc_session_get(s, last, &t) != STC_OK) return report_error(c, 0);
        return output_write(c, t, NULL, save);
    }
    for (int i = 0; i < count; i++) {
        if (stc_session_get(s, o[i].name, &t) != STC_OK) return report_error(c, 0);
        const int status = output_write(c, t, o[i].path, save);
        if (status != STATUS_OK) return status;
    }
    return STATUS_OK;
}

static int eval_in(cli *c, stc_session *s, const args *a, const spec *specs, int n,
                   const output *outs)
{
    double save = 0;
    stc_session_output(s, stdout);
    stc_session_echo(s, true, 0);
    stc_session_repeat(s, c->opt.repeat);
    for (int i = 0; i < n; i++)
        if (stc_session_put_source(s, specs[i].name, &specs[i].source) != STC_OK)
            return report_error(c, 0);
    const stc_status done = stc_session_exec(s, a->operand[0], "eval");
    report_notes(c, 0);
    if (done != STC_OK) return report_error(c, 0);
    progress_end(&c->progress);
    const int status = write_results(c, s, outs, a->outs, &save);
    if (status != STATUS_OK) return status;
    const char *unused = stc_session_unused(s);
    if (unused)
        return report_fault("eval",
                            "no statement uses %s, which is given as an operand; expected "
                            "operands that are used",
                            unused);
    return report_session(c, s, save);
}

int on_operands(cli *c, const args *a, spec_kind kind, operands_job *job)
{
    spec *specs;
    output *outs;
    int n, status = specs_parse(a, 1, kind, &specs, &n);
    if (status != STATUS_OK) return status;
    status = outputs_parse(a, &outs);
    if (status == STATUS_OK) {
        status = job(c, a, specs, n, outs);
        outputs_free(outs, a->outs);
    }
    specs_free(specs, n);
    return status;
}

static int eval_on(cli *c, const args *a, const spec *specs, int n, const output *outs)
{
    stc_session *s;
    if (stc_session_open(c->machine, &s) != STC_OK) return report_error(c, 0);
    const int status = eval_in(c, s, a, specs, n, outs);
    stc_session_close(s);
    return status;
}

int cmd_eval(cli *c, const args *a)
{
    return on_operands(c, a, SPEC_SOURCE, eval_on);
}

int cmd_script(cli *c, const args *a)
{
    stc_session *s;
    char *text = read_text(c, a->command);
    if (!text) return STATUS_FAULT;
    int status = STATUS_FAULT;
    if (stc_session_open(c->machine, &s) != STC_OK) {
        status = report_error(c, 0);
    } else {
        stc_session_output(s, stdout);
        stc_session_repeat(s, c->opt.repeat);
        const stc_status done = stc_session_exec(s, text, a->command);
        report_notes(c, 0);
        status = done == STC_OK ? report_session(c, s, 0) : report_error(c, 0);
        stc_session_close(s);
    }
    free(text);
    return status;
}
