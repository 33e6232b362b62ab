/* api_gradient.c: stc_gradient: a text and the text of its derivatives (src/grad).
 *
 * Each assignment is bound for the derivatives, and compiled for what it leaves in the
 * scope: the format and fill of what later statements read.
 */
#include "structs.h"

#include "../grad/grad.h"

#include <string.h>

typedef struct text_job {
    source src;
    arena *a;
    scope *sc;
    ast *tree;
    grad_step *step;
    program **p;
    int n;
} text_job;

/* The statement in a program of its own, whose tensors leave the scope's slots again. */
static stc_status bind_one(text_job *job, const ast *n)
{
    ctx *const cx = job->src.cx;
    program *p = NULL, *q = NULL;
    bstmt *b = NULL;
    stc_times times = {0};
    int target;
    const char *const name = n->child[0]->name;
    const scope_tensor *const e = scope_find_tensor(job->sc, name);
    const bool known = e != NULL;
    const scope_tensor before = known ? *e : (scope_tensor){0};
    bool begins = true;
    for (int k = 0; k < job->n; k++)
        begins &= strcmp(job->p[k]->tensor[job->step[k].st->target].name, name) != 0;
    stc_status st = compile_begin(cx, &job->src, true, &p);
    if (st) return st;
    job->p[job->n] = p;
    st = bind_assignment(job->a, job->sc, &job->src, p, n, &b);
    job->step[job->n++] = (grad_step){.st = b, .p = p, .src = &job->src, .begins = begins};
    scope_clear_slots(job->sc, p);
    if (st) return st;
    scope_tensor *const now = scope_find_tensor(job->sc, name);
    if (known) {
        char *const own = now->name;
        *now = before;
        now->name = own;
    } else {
        scope_drop_tensor(job->sc, name);
    }
    if ((st = compile_begin(cx, &job->src, true, &q))) return st;
    arena a;
    arena_init(&a, cx);
    st = compile_statement(&a, job->sc, q, &job->src, n, NULL, NULL, &times, &target);
    arena_free(&a);
    scope_clear_slots(job->sc, q);
    program_free(q);
    return st;
}

static stc_status bind_all(text_job *job, const stc_decl *decl, int ndecl)
{
    stc_status st = STC_OK;
    const ast *const tree = job->tree;
    for (int i = 0; i < tree->count && !st; i++)
        if (tree->child[i]->kind == N_FORMAT)
            st = scope_define(job->sc, &job->src, tree->child[i]);
    for (int i = 0; i < ndecl && !st; i++)
        st = compile_decl(job->sc, &job->src, tree, &decl[i]);
    for (int i = 0; i < tree->count && !st; i++) {
        const ast *const n = tree->child[i];
        if ((st = work_done(job->src.cx, 1))) break;
        if (n->kind != N_FORMAT)
            st = n->kind == N_ASSIGN ? bind_one(job, n)
                                     : compile_definition(job->sc, &job->src, n);
    }
    return st;
}

/* Statements behind the one that gives the scalar don't matter. */
static stc_status scalar_of(text_job *job, const char *of)
{
    for (int k = job->n - 1; k >= 0; k--) {
        const bstmt *const b = job->step[k].st;
        if (strcmp(job->p[k]->tensor[b->target].name, of)) continue;
        if (b->nsub)
            return fail(job->src.cx, STC_ERR_ARGUMENT,
                        "%s has %d mode%s; a derivative is one of a scalar", of, b->nsub,
                        b->nsub == 1 ? "" : "s");
        return STC_OK;
    }
    return fail(job->src.cx, STC_ERR_ARGUMENT, "no statement gives %s a value", of);
}

static stc_status check_by(text_job *job, const char *const *by, int n)
{
    ctx *const cx = job->src.cx;
    for (int k = 0; k < n; k++) {
        const scope_tensor *const t = by[k] ? scope_find_tensor(job->sc, by[k]) : NULL;
        if (!by[k]) return fail_null(cx, "by");
        if (!t || t->order < 0)
            return fail(cx, STC_ERR_ARGUMENT, "the text has no tensor named %s", by[k]);
        if (!type_is_float(t->type) || type_is_complex(t->type))
            return fail(cx, STC_ERR_ARGUMENT,
                        "%s is %s, and derivatives are by real numbers (f32, f64)", by[k],
                        type_name(t->type));
        for (int i = 0; i < k; i++)
            if (!strcmp(by[i], by[k]))
                return fail(cx, STC_ERR_ARGUMENT, "%s is there twice", by[k]);
    }
    return STC_OK;
}

static stc_status write_text(text_job *job, const char *of, const char *const *by, int n,
                             textbuf *out)
{
    ctx *const cx = job->src.cx;
    grad_job g = {.a = job->a,
                  .sc = job->sc,
                  .step = job->step,
                  .steps = job->n,
                  .of = of,
                  .by = by,
                  .nby = n};
    const size_t length = strlen(job->src.text);
    text_add(out, "%s%s", job->src.text,
             length && job->src.text[length - 1] == '\n' ? "" : "\n");
    const stc_status st = grad_write(cx, &g, out);
    for (int k = 0; k < n && !st; k++) {
        char name[256];
        snprintf(name, sizeof name, "d_%s", by[k]);
        if (strcmp(name, g.result[k]))
            return fail(cx, STC_ERR_ARGUMENT,
                        "the derivative by %s would be named %s, which the text uses",
                        by[k], name);
        if (!g.used[k])
            return fail(cx, STC_ERR_ARGUMENT, "%s doesn't depend on %s, or in steps only",
                        of, by[k]);
    }
    return st;
}

static stc_status gradient(text_job *job, const stc_decl *decls, int count, const char *of,
                           const char *const *by, int nby, textbuf *out)
{
    stc_status st = parse_script(job->a, &job->src, &job->tree);
    if (st) return st;
    job->step = arena_array(job->a, job->tree->count + 1, sizeof *job->step);
    job->p = arena_array(job->a, job->tree->count + 1, sizeof *job->p);
    if (!job->step || !job->p) return job->src.cx->diag.status;
    st = bind_all(job, decls, count);
    if (!st) st = scalar_of(job, of);
    if (!st) st = check_by(job, by, nby);
    if (!st) st = write_text(job, of, by, nby, out);
    for (int k = 0; k < job->n; k++)
        program_free(job->p[k]);
    return st;
}

stc_status stc_gradient(stc_machine *m, const char *text, const stc_decl *decls, int count,
                        const char *of, const char *const *by, int nby, char **out)
{
    API_CALL_LIMITED(m, &m->cx);
    if (!text) return fail_null(cx, "text");
    if (!of) return fail_null(cx, "of");
    if (!by) return fail_null(cx, "by");
    if (!out) return fail_null(cx, "out");
    if (count < 0 || (count && !decls)) return fail_null(cx, "decls");
    if (nby < 1 || nby > GRAD_MAX)
        return fail(cx, STC_ERR_ARGUMENT, "derivatives by %d tensors; expected 1 to %d",
                    nby, GRAD_MAX);
    notes_clear(cx);
    stc_decl *made;
    stc_status st = decls_take(cx, &decls, count, &made);
    if (st) return st;
    arena a;
    textbuf b;
    arena_init(&a, cx);
    text_init(&b, cx);
    text_job job = {
        .src = {.cx = cx, .file = "eval", .text = text}, .a = &a, .sc = scope_new(cx)};
    st = job.sc ? gradient(&job, decls, count, of, by, nby, &b) : cx->diag.status;
    decls_drop(cx, made, count);
    scope_free(job.sc);
    arena_free(&a);
    if (st) {
        text_drop(&b);
        return st;
    }
    return api_text_of(&b, STC_OK, out);
}
