/* cmd_build.c: `stcvm build` and `stcvm explain`: statements compiled for
 * declared formats, without data: into a bytecode file, or printed stage by
 * stage. With data the statement is planned for them; `explain --run` runs it, too.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

int output_file(const args *a, const char **path)
{
    if (a->outs != 1) return usage_error("%s needs one -o FILE.stb", a->command);
    *path = a->out[0];
    return STATUS_OK;
}

/* The declarations that the operands after the text make; an undeclared type
 * is f64, so a fill given without one has to be an f64. */
static int declare(spec *specs, int n, stc_decl *decls)
{
    for (int i = 0; i < n; i++) {
        const stc_source *s = &specs[i].source;
        if (s->fill && s->type < 0 && !value_convert(&specs[i].fill, s->fill_type, STC_F64))
            return usage_error("%s: the fill is not a value of type f64; give a type, "
                               "%s=FORMAT:TYPE:fill=V",
                               specs[i].name, specs[i].name);
        decls[i] = (stc_decl){.name = specs[i].name,
                              .format = s->format,
                              .type = s->type,
                              .fill = s->fill,
                              .order = -1};
    }
    return STATUS_OK;
}

/* Compiles operand 0 with the declarations after it. */
static int compile(cli *c, const args *a, stc_program **out)
{
    spec *specs;
    int n, status = specs_parse(a, 1, SPEC_FORMAT, &specs, &n);
    if (status != STATUS_OK) return status;
    stc_decl *decls = xrealloc(NULL, (size_t)(n + 1) * sizeof *decls);
    status = declare(specs, n, decls);
    if (status == STATUS_OK) {
        const stc_status done = stc_compile(c->machine, a->operand[0], decls, n, out);
        report_notes(c, 0);
        if (done != STC_OK) status = report_error(c, 0);
    }
    free(decls);
    specs_free(specs, n);
    return status;
}

/* How many values of --like from begin on, before end, are of the name that x is of. */
static int likes_of(const args *a, const char *x, int begin, int end)
{
    const size_t name = strcspn(x, "=") + 1;
    int n = 0;
    for (int i = begin; i < end; i++)
        n += !strncmp(a->like[i], x, name);
    return n;
}

/* Plans the program for the first (second …) source that --like has for each name, the last
 * one of a name that has no more, and ones where there are none. */
static int plan_like(cli *c, const args *a, int turn, stc_program *p)
{
    const char **like = xrealloc(NULL, (size_t)a->likes * sizeof *like);
    args likes = {.operand = like};
    for (int i = 0; i < a->likes; i++) {
        const int before = likes_of(a, a->like[i], 0, i);
        const bool last = !likes_of(a, a->like[i], i + 1, a->likes);
        if (before == turn || (before < turn && last)) like[likes.operands++] = a->like[i];
    }
    const stc_source ones = {.size = sizeof ones,
                             .kind = STC_SOURCE_VALUE,
                             .value = {.i = 1},
                             .value_type = STC_I64,
                             .type = -1};
    spec *specs;
    bool result;
    const char *name;
    int n, status = specs_parse(&likes, 0, SPEC_BOUND, &specs, &n);
    free(like);
    if (status != STATUS_OK) return status;
    stc_status st = STC_OK;
    for (int i = 0; !st && (name = stc_program_name(p, i, &result)) && !result; i++)
        st = stc_bind_source(p, name, &ones);
    for (int i = 0; i < n && !st; i++)
        st = stc_bind_source(p, specs[i].name, &specs[i].source);
    if (!st) st = stc_program_plan(p);
    specs_free(specs, n);
    return st ? report_error(c, 0) : STATUS_OK;
}

/* For all that --like says, in turn: the file has all these plans. */
static int plan_likes(cli *c, const args *a, stc_program *p)
{
    enum { PLANS = 8 };
    int turns = 0, status = STATUS_OK;
    for (int i = 0; i < a->likes; i++) {
        const int n = likes_of(a, a->like[i], 0, a->likes);
        if (n > turns) turns = n;
    }
    if (turns > PLANS)
        return usage_error("--like gives one name %d sources; a file keeps plans for %d",
                           turns, PLANS);
    for (int k = 0; k < turns && status == STATUS_OK; k++)
        status = plan_like(c, a, k, p);
    return status;
}

int cmd_build(cli *c, const args *a)
{
    const char *path;
    stc_program *p = NULL;
    int status = output_file(a, &path);
    if (status == STATUS_OK) status = compile(c, a, &p);
    if (status == STATUS_OK) status = plan_likes(c, a, p);
    if (status != STATUS_OK) {
        stc_program_free(p);
        return status;
    }
    const double start = now_us();
    if (stc_program_save(p, path) != STC_OK) {
        status = report_error(c, 0);
    } else if (c->opt.time) {
        stc_times t = program_times(p);
        t.save = now_us() - start;
        report_times(&t);
    }
    stc_program_free(p);
    return status;
}

/* `title` NULL: the text alone. */
static int print_stage(cli *c, const stc_program *p, const char *stage, bool title)
{
    char *text;
    if (stc_program_explain(p, stage, &text) != STC_OK) return report_error(c, 0);
    const size_t n = strlen(text);
    if (title) printf("-- %s --\n", stage);
    fputs(text, stdout);
    if (n && text[n - 1] != '\n') fputc('\n', stdout);
    stc_text_free(c->machine, text);
    return STATUS_OK;
}

stc_status run_in_session(stc_session *s, stc_program *p)
{
    const char *name;
    bool result;
    for (int i = 0; (name = stc_program_name(p, i, &result)) && !result; i++) {
        const stc_tensor *t;
        stc_status st = stc_session_get(s, name, &t);
        /* the program only reads it: results are its own */
        if (!st) st = stc_bind(p, name, (stc_tensor *)t);
        if (st) return st;
    }
    return stc_run(p);
}

int print_explained(cli *c, stc_session *s, const char *text, const char *file, FILE *out)
{
    char *told;
    if (stc_session_explain(s, text, file, c->opt.run, &told) != STC_OK)
        return STATUS_FAULT;
    fputs(told, out);
    stc_text_free(c->machine, told);
    return STATUS_OK;
}

static bool ends_in(const char *word, const char *end)
{
    const size_t n = strlen(word), m = strlen(end);
    return n > m && !strcmp(word + n - m, end);
}

/* How the statements of a text are planned for the operands that there are, and what came
 * of it; of a single one other stages, too: *out. */
static int explain_in(cli *c, stc_session *s, const args *a, stc_program **out)
{
    const char *const word = a->operand[0];
    const bool script = ends_in(word, ".stc"),
               plan = !a->stage || !strcmp(a->stage, "plan");
    spec *specs;
    int n, status = specs_parse(a, 1, SPEC_SOURCE, &specs, &n);
    if (status != STATUS_OK) return status;
    char *const text = script ? read_text(c, word) : xstrndup(word, strlen(word));
    bool ok = text;
    for (int i = 0; i < n && ok; i++)
        ok = stc_session_put_source(s, specs[i].name, &specs[i].source) == STC_OK;
    specs_free(specs, n);
    stc_session_output(s, stdout);
    stc_session_echo(s, true, 0);
    if (ok && plan)
        ok = print_explained(c, s, text, script ? word : "eval", stdout) == STATUS_OK;
    else if (ok && c->opt.run)
        ok = stc_session_exec(s, text, script ? word : "eval") == STC_OK;
    report_notes(c, 0);
    if (ok && !(plan && a->stage)) ok = stc_session_compile(s, text, out) == STC_OK || plan;
    if (ok && !plan && c->opt.run) ok = run_in_session(s, *out) == STC_OK;
    progress_end(&c->progress);
    status = ok ? STATUS_OK : text ? report_error(c, 0) : STATUS_FAULT;
    free(text);
    return status;
}

int cmd_explain(cli *c, const args *a)
{
    static const char *const stages[] = {"ast", "bound", "plan", "lattice", "code", NULL};
    stc_program *p = NULL;
    int known = 0, status;
    while (a->stage && stages[known] && strcmp(stages[known], a->stage))
        known++;
    if (a->stage && !stages[known])
        return usage_error("--stage is ast, bound, plan, lattice or code, not '%s'",
                           a->stage);
    stc_session *s = NULL;
    const bool file = ends_in(a->operand[0], ".stb");
    bool data = c->opt.run || (!file && a->operands == 1);
    for (int k = 1; k < a->operands; k++)
        data |= spec_has_data(a->operand[k]);
    if (data && stc_session_open(c->machine, &s) != STC_OK) return report_error(c, 0);
    if (file && (s || a->operands > 1)) {
        status = usage_error("explain of %s takes no operands", a->operand[0]);
    } else if (file) {
        const bool loaded = stc_program_load(c->machine, a->operand[0], &p) == STC_OK;
        status = loaded ? STATUS_OK : report_error(c, 0);
    } else {
        status = s ? explain_in(c, s, a, &p) : compile(c, a, &p);
    }
    if (status != STATUS_OK) {
        stc_program_free(p);
        if (s) stc_session_close(s);
        return status;
    }
    if (p && a->stage) {
        status = print_stage(c, p, a->stage, false);
    } else if (p) {
        if (!s) status = print_stage(c, p, "plan", true);
        if (status == STATUS_OK) status = print_stage(c, p, "code", true);
    }
    if (status == STATUS_OK && c->opt.time) {
        const stc_times t = p ? program_times(p) : session_times(s);
        report_times(&t);
    }
    stc_program_free(p);
    if (s) stc_session_close(s);
    return status;
}
