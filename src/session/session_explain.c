/* session_explain.c: how the statements of a text are planned, and what came of it.
 *
 * Run, it is executed as ever: an assignment that is compiled tells its plan, and once that
 * has run what its steps stored and took, beside what was thought of them. In a loop that
 * is the first round, and each that is planned anew; at the end there is a table of all.
 *
 * Not run, declarations are carried out and assignments compiled, bodies of loops once,
 * with the tensors that are there: the rest waits for data. Then the scope says of all
 * names what it said before.
 */
#include "session.h"
#include <string.h>

/* What the scope said of a name that statements give a value. */
typedef struct changed {
    prepared was;
    const char *name;
    struct changed *before;
} changed;

typedef struct foresight {
    arena *a;
    changed *last;
    bool less; /* some statement wasn't planned: what follows may miss its names */
} foresight;

static void tell_place(stc_session *s, const script *in, const ast *n)
{
    text_add(s->told, "-- ");
    session_place_print(in, n, s->told);
    text_add(s->told, "\n");
}

/* ---- while it runs ----------------------------------------------------------------- */

void session_tell_plan(stc_session *s, const script *in, const ast *statement,
                       const explain_texts *texts)
{
    tell_place(s, in, statement);
    if (s->f.loop && !s->dry) text_add(s->told, "in a loop: from this round on\n");
    text_add(s->told, "%s", texts->plan.data ? texts->plan.data : "");
}

/* ---- without running --------------------------------------------------------------- */

static stc_status foresee_list(stc_session *s, script *in, foresight *f, const ast *list);

static stc_status foresee(stc_session *s, const script *in, foresight *f, const ast *n)
{
    changed *c = arena_alloc(f->a, sizeof *c);
    if (!c) return s->m->cx.diag.status;
    c->name = n->child[0]->name;
    const stc_status st = session_plan(s, in, n, &c->was);
    if (!st) {
        c->before = f->last;
        f->last = c;
    }
    if (st != STC_ERR_PROGRAM || !f->less) return st;
    tell_place(s, in, n);
    text_add(s->told, "waits for what is before it: %s\n", s->m->cx.diag.message);
    s->m->cx.diag = (diag){.status = STC_OK};
    return STC_OK;
}

/* The variable of a `for`, an integer that nobody knows yet. */
static stc_status foresee_counter(stc_session *s, foresight *f, const ast *n)
{
    const scope_tensor *e = scope_find_tensor(s->f.sc, n->name);
    changed *c = arena_alloc(f->a, sizeof *c);
    format scalar;
    if (!c) return s->m->cx.diag.status;
    c->name = n->name;
    c->was.known_before = e != NULL;
    if (e) c->was.before = *e;
    c->before = f->last;
    const stc_status st = format_parse(&s->m->cx, NULL, "dense", 0, &scalar);
    scope_tensor *now = st  ? NULL
                        : e ? (scope_tensor *)e
                            : scope_put_tensor(s->f.sc, n->name);
    if (!now) return s->m->cx.diag.status;
    f->last = c;
    now->order = 0;
    now->fmt = scalar;
    now->type = STC_I64;
    now->has_data = true;
    now->slot = -1;
    f->less = true; /* what needs its value */
    return STC_OK;
}

static stc_status foresee_loop(stc_session *s, script *in, foresight *f, const ast *n)
{
    const ast *const outer = s->f.loop;
    const double rounds = s->f.rounds;
    tell_place(s, in, n);
    stc_status st = n->kind == N_EACH ? foresee_counter(s, f, n) : STC_OK;
    in->loops++;
    s->f.loop = n;
    s->f.rounds = ROUNDS_EXPECTED;
    for (int k = 0; k < n->count && !st; k++)
        if (n->child[k] && n->child[k]->kind == N_BLOCK)
            st = foresee_list(s, in, f, n->child[k]);
    in->loops--;
    s->f.loop = outer;
    s->f.rounds = rounds;
    return st;
}

static stc_status foresee_one(stc_session *s, script *in, foresight *f, const ast *n)
{
    stc_status st = STC_OK;
    switch (n->kind) {
    case N_TENSOR:
    case N_FORMAT:
    case N_FN:
    case N_DEF:
    case N_INCLUDE:
        return session_statement(s, in, n);
    case N_REPEAT:
    case N_WHILE:
    case N_FOR:
    case N_EACH:
        return foresee_loop(s, in, f, n);
    case N_BLOCK:
        return foresee_list(s, in, f, n);
    case N_IF:
        tell_place(s, in, n);
        for (int k = 1; k < n->count && !st; k++)
            if (n->child[k]) st = foresee_one(s, in, f, n->child[k]);
        return st;
    case N_ASSIGN:
        if (session_compiles(s, n)) return session_place(in, n, foresee(s, in, f, n));
        break;
    default:
        break;
    }
    tell_place(s, in, n);
    text_add(s->told, "nothing of it is planned before it runs\n");
    f->less = true;
    return STC_OK;
}

static stc_status foresee_list(stc_session *s, script *in, foresight *f, const ast *list)
{
    stc_status st = STC_OK;
    for (int k = 0; k < list->count && !st; k++) {
        st = work_done(&s->m->cx, 1);
        if (!st) st = foresee_one(s, in, f, list->child[k]);
    }
    return st;
}

stc_status session_plan_list(stc_session *s, script *in, const ast *list)
{
    arena a;
    arena_init(&a, &s->m->cx);
    foresight f = {.a = &a};
    const stc_status st = foresee_list(s, in, &f, list);
    for (const changed *c = f.last; c; c = c->before)
        session_plan_undo(s, &c->was, c->name);
    arena_free(&a);
    return st;
}

/* ---- the public call --------------------------------------------------------------- */

stc_status stc_session_explain(stc_session *s, const char *text, const char *file, bool run,
                               char **out)
{
    API_CALL_LIMITED(s, &s->m->cx);
    if (!text) return fail_null(cx, "text");
    if (!out) return fail_null(cx, "out");
    textbuf told;
    text_init(&told, cx);
    s->told = &told;
    s->dry = !run;
    stc_status st = session_text(s, text, file);
    s->told = NULL;
    s->dry = false;
    if (!st && run && s->nprofiled > 1) st = session_profile_table(s, &told);
    return api_text_of(&told, st, out);
}
