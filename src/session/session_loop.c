/* session_loop.c: statements that say what runs and how often: repeat, while, for, if.
 *
 * What is inside of a loop is compiled once and found again (session_run.c). A jump is a
 * note in the script (flow): lists of statements end at it, and the loop or def that it
 * is meant for takes it.
 */
#include "session.h"

#include <string.h>

/* How many are counted of a loop that tells. */
enum { ROUNDS_MOST = 100 };

static void expect_rounds(stc_session *s, double n)
{
    s->f.rounds = n < ROUNDS_MOST ? n : ROUNDS_MOST;
}

/* Whether another round follows the one that has ended. */
static bool goes_on(script *in)
{
    if (in->flow == FLOW_CONTINUE) in->flow = FLOW_ON;
    if (in->flow == FLOW_ON) return true;
    if (in->flow == FLOW_BREAK) in->flow = FLOW_ON;
    return false;
}

static stc_status exec_repeat(stc_session *s, script *in, const ast *n)
{
    int64_t rounds = 0;
    stc_status st = session_integer(s, in, n->child[0], "how often to repeat", &rounds);
    st = session_place(in, n->child[0], st);
    expect_rounds(s, (double)rounds);
    for (int64_t i = 0; i < rounds && !st; i++) {
        st = work_done(&s->m->cx, 1);
        if (!st) st = session_exec(s, in, n->child[1]);
        if (!goes_on(in)) break;
    }
    return st;
}

static stc_status exec_while(stc_session *s, script *in, const ast *n)
{
    stc_status st = STC_OK;
    while (!st) {
        bool on = false;
        st = work_done(&s->m->cx, 1);
        if (!st)
            st = session_place(in, n->child[0], session_condition(s, in, n->child[0], &on));
        if (st || !on) break;
        st = session_exec(s, in, n->child[1]);
        if (!goes_on(in)) break;
    }
    return st;
}

/* for (a; e; b) { … } */
static stc_status exec_for(stc_session *s, script *in, const ast *n)
{
    stc_status st = session_statement(s, in, n->child[0]);
    while (!st) {
        bool on = false;
        st = session_place(in, n->child[1], session_condition(s, in, n->child[1], &on));
        if (st || !on) break;
        st = session_exec(s, in, n->child[3]);
        if (!goes_on(in)) break;
        if (!st) st = session_statement(s, in, n->child[2]);
    }
    return st;
}

/* The variable of a `for`: an integer, whose tensor is used again from round to round. */
static stc_status set_counter(stc_session *s, const script *in, const ast *n, int64_t k)
{
    variable *v = session_find(s, n->name);
    const scope_tensor *e = scope_find_tensor(s->f.sc, n->name);
    if (e && (e->has_format || e->has_type || e->has_fill || e->has_shape))
        return session_fail(in, STC_ERR_PROGRAM, n,
                            "the variable of a `for` is an integer of its own, and this "
                            "name is declared");
    if (v && v->t && !v->lent && v->t->order == 0 && v->t->type == STC_I64 &&
        v->t->vals_owned && v->t->nvals == 1) {
        type_store(STC_I64, v->t->vals, 0, (value){.i64 = k});
        session_set(s, v, v->t);
        return STC_OK;
    }
    format scalar;
    tensor *t = NULL;
    stc_status st = format_parse(&s->m->cx, NULL, "dense", 0, &scalar);
    if (!st)
        st = tensor_constant(&s->m->cx, &scalar, STC_I64, NULL, (value){.i64 = k},
                             (value){0}, &t);
    return st ? st : session_give(s, in, n->at, n->name, t);
}

static stc_status range(stc_session *s, script *in, const ast *n, int64_t *lo, int64_t *hi,
                        int64_t *step)
{
    static const char *const what[] = {"where the range begins", "where the range ends",
                                       "the step"};
    int64_t *const out[] = {lo, hi, step};
    *step = 1;
    for (int i = 0; i < 3; i++) {
        if (!n->child[i]) continue;
        const stc_status st = session_integer(s, in, n->child[i], what[i], out[i]);
        if (st) return session_place(in, n->child[i], st);
    }
    return *step ? STC_OK : session_fail(in, STC_ERR_PROGRAM, n->child[2], "the step is 0");
}

/* for k in lo:hi:step { … } */
static stc_status exec_each(stc_session *s, script *in, const ast *n)
{
    int64_t k, hi, step;
    stc_status st = range(s, in, n, &k, &hi, &step);
    if (!st) expect_rounds(s, ((double)hi - (double)k) / (double)step);
    while (!st && (step > 0 ? k < hi : k > hi)) {
        st = work_done(&s->m->cx, 1);
        if (!st) st = set_counter(s, in, n, k);
        if (!st) st = session_exec(s, in, n->child[3]);
        if (!goes_on(in) || __builtin_add_overflow(k, step, &k)) break;
    }
    return st;
}

/* ---- what a round leaves as it is --------------------------------------------------- */

/* Whether a statement, or one in it, gives the name a value. `left` statements are looked
 * at, and of an included file none: they may. */
static bool changes(const ast *n, const char *name, int *left)
{
    if (!n) return false;
    if (--*left < 0) return true;
    switch (n->kind) {
    case N_ASSIGN:
        return !strcmp(n->child[0]->name, name);
    case N_RESULTS:
        for (int k = 0; k < n->child[0]->count; k++)
            if (!strcmp(n->child[0]->child[k]->name, name)) return true;
        return false;
    case N_TENSOR:
    case N_COMPACT:
    case N_DROP:
        return !strcmp(n->name, name);
    case N_INCLUDE:
        return true;
    case N_EACH:
        if (!strcmp(n->name, name)) return true;
        break;
    case N_BLOCK:
    case N_REPEAT:
    case N_WHILE:
    case N_FOR:
    case N_IF:
        break;
    default:
        return false;
    }
    for (int k = 0; k < n->count; k++)
        if (changes(n->child[k], name, left)) return true;
    return false;
}

bool session_steady(const void *of, const char *name)
{
    enum { LOOKED_AT = 1000 };
    const stc_session *s = of;
    int left = LOOKED_AT;
    return s->f.loop && !s->untaped && session_find(s, name) &&
           !changes(s->f.loop, name, &left);
}

static stc_status exec_if(stc_session *s, script *in, const ast *n)
{
    bool on = false;
    stc_status st =
        session_place(in, n->child[0], session_condition(s, in, n->child[0], &on));
    if (st) return st;
    const ast *branch = n->child[on ? 1 : 2];
    if (!branch) return STC_OK;
    return branch->kind == N_BLOCK ? session_exec(s, in, branch)
                                   : session_statement(s, in, branch);
}

static stc_status exec_loop(stc_session *s, script *in, const ast *n)
{
    stc_status st;
    const ast *const outer = s->f.loop;
    const double rounds = s->f.rounds;
    in->loops++;
    s->f.loop = n;
    s->f.rounds = ROUNDS_EXPECTED;
    switch (n->kind) {
    case N_REPEAT:
        st = exec_repeat(s, in, n);
        break;
    case N_WHILE:
        st = exec_while(s, in, n);
        break;
    case N_FOR:
        st = exec_for(s, in, n);
        break;
    default:
        st = exec_each(s, in, n);
    }
    in->loops--;
    s->f.loop = outer;
    s->f.rounds = rounds;
    if (!in->loops) session_forget(s);
    return st;
}

stc_status session_flow(stc_session *s, script *in, const ast *n)
{
    switch (n->kind) {
    case N_IF:
        return exec_if(s, in, n);
    case N_BLOCK:
        return session_exec(s, in, n);
    case N_REPEAT:
    case N_WHILE:
    case N_FOR:
    case N_EACH:
        return exec_loop(s, in, n);
    default:
        return session_fail(in, STC_ERR_PROGRAM, n,
                            "this can't stand here; expected a statement");
    }
}
