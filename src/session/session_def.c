/* session_def.c: calls of defs: statements with names of their own.
 *
 * A call makes a frame, in which the parameters are names: the arguments' tensors are
 * lent to it, what is computed for the call belongs to it. Its statements run in it; then
 * the results leave it for names of the caller. Formats, functions and defs are the
 * session's everywhere.
 */
#include "session.h"
#include "../lang/scope.h"

enum { CALLS_MAX = 256 };

bool session_calls_def(const stc_session *s, const ast *call)
{
    return !scope_find_tensor(s->f.sc, call->name) &&
           scope_find(s->f.sc, call->name, N_DEF);
}

static void swap_frames(stc_session *s, frame *f)
{
    const frame now = s->f;
    s->f = *f;
    *f = now;
    s->named++;
}

/* A parameter's variable, in the frame that is the session's now; t is taken unless it is
 * lent. */
static stc_status enter_parameter(stc_session *s, const char *name, tensor *t, bool lent)
{
    variable *v;
    bool fresh;
    const stc_status st = session_reserve(s, name, &v, &fresh);
    if (st) {
        if (!lent) tensor_free(t);
        return st;
    }
    scope_tensor *e = scope_find_tensor(s->f.sc, name);
    e->order = t->order;
    e->fmt = t->fmt;
    e->type = t->type;
    e->fill = t->fill;
    e->has_data = true;
    v->lent = lent;
    if (lent)
        v->t = t;
    else
        session_set(s, v, t);
    return STC_OK;
}

static stc_status call_def(stc_session *s, script *in, const ast *call, tensor **out,
                           int results);

/* An argument: a tensor by its name is lent, anything else is computed. */
static stc_status argument(stc_session *s, script *in, const ast *e, tensor **t, bool *lent)
{
    variable *v = e->kind == N_NAME ? session_find(s, e->name) : NULL;
    *lent = v != NULL;
    if (v) return session_tensor(s, v, t);
    if (e->kind == N_CALL && session_calls_def(s, e)) return call_def(s, in, e, t, 1);
    const ast value_of = {
        .kind = N_VALUE, .at = e->at, .count = 1, .child = (ast *[]){(ast *)e}};
    return session_value(s, in, &value_of, t);
}

static stc_status arguments(stc_session *s, script *in, const ast *call, const ast *params,
                            frame *inner)
{
    for (int i = 0; i < call->count; i++) {
        tensor *t = NULL;
        bool lent = false;
        stc_status st = argument(s, in, call->child[i], &t, &lent);
        if (!st) {
            swap_frames(s, inner);
            st = enter_parameter(s, params->child[i]->name, t, lent);
            swap_frames(s, inner);
        }
        if (st) return session_place(in, call->child[i], st);
    }
    return STC_OK;
}

/* Moves the first results out of the frame that is the session's now. */
static stc_status take_results(stc_session *s, const script *in, const ast *call,
                               const ast *list, tensor **out, int results)
{
    for (int i = 0; i < results; i++) {
        tensor *t;
        variable *v = session_find(s, list->child[i]->name);
        if (!v)
            return fail_source(&in->src, STC_ERR_PROGRAM, call->at,
                               "%s ended, and gave its result `%s` no value", call->name,
                               list->child[i]->name);
        stc_status st = session_tensor(s, v, &t);
        if (!st && v->lent) st = tensor_share(t, &t);
        if (st) return st;
        if (!v->lent) v->t = NULL;
        out[i] = t;
    }
    return STC_OK;
}

/* Runs the body in the frame, which is the session's now. */
static stc_status run_body(stc_session *s, const script *in, definition *d)
{
    char *dir;
    stc_status st = session_folder(&s->m->cx, d->src.file, &dir);
    if (st) return st;
    script body = {.src = d->src, .dir = dir, .loops = in->loops, .includes = in->includes};
    const bool was = d->busy;
    d->busy = true;
    s->calls++;
    st = session_exec(s, &body, d->node->child[2]);
    s->calls--;
    d->busy = was;
    mem_strfree(&s->m->cx, dir);
    return st;
}

/* Calls a def; its first results go to out, and are the caller's. */
static stc_status call_def(stc_session *s, script *in, const ast *call, tensor **out,
                           int results)
{
    definition *d = scope_find(s->f.sc, call->name, N_DEF);
    const ast *params = d->node->child[0], *given = d->node->child[1];
    if (call->count != params->count)
        return fail_source(&in->src, STC_ERR_PROGRAM, call->at,
                           "%s takes %d argument%s, not %d", call->name, params->count,
                           params->count == 1 ? "" : "s", call->count);
    if (results && results != given->count)
        return fail_source(&in->src, STC_ERR_PROGRAM, call->at,
                           "%s gives %d result%s, not %d", call->name, given->count,
                           given->count == 1 ? "" : "s", results);
    if (s->calls == CALLS_MAX)
        return session_fail(in, STC_ERR_PROGRAM, call,
                            "defs call each other more than 256 deep");
    frame inner;
    stc_status st = session_frame(s, s->f.sc, &inner);
    if (st) return st;
    st = arguments(s, in, call, params, &inner);
    swap_frames(s, &inner);
    if (!st) st = run_body(s, in, d);
    if (!st) st = take_results(s, in, call, given, out, results);
    swap_frames(s, &inner);
    session_frame_end(s, &inner);
    return st;
}

/* At the prompt, the results of a call by itself are printed. */
static stc_status show_results(stc_session *s, tensor **t, int n)
{
    stc_status st = STC_OK;
    for (int i = 0; i < n && !st; i++)
        st = tensor_print(t[i], s->out, s->echo_limit);
    return st;
}

stc_status session_call(stc_session *s, script *in, const ast *call, const ast *const *name,
                        int count)
{
    tensor *t[DEF_MAX_NAMES] = {NULL};
    if (!session_calls_def(s, call))
        return session_fail(in, STC_ERR_PROGRAM, call, "expected the call of a def");
    const definition *d = scope_find(s->f.sc, call->name, N_DEF);
    const bool shows = !count && s->echo && s->out && !s->calls;
    const int n = shows ? d->node->child[1]->count : count;
    stc_status st = n > DEF_MAX_NAMES ? session_fail(in, STC_ERR_PROGRAM, call,
                                                     "there are too many results")
                                      : call_def(s, in, call, t, n);
    if (!st && shows) st = show_results(s, t, n);
    for (int i = 0; i < count && !st; i++)
        st = session_fit(s, in, name[i]->at, name[i]->name, &t[i]);
    for (int i = 0; i < n && i < DEF_MAX_NAMES; i++) {
        if (!st && (count || i + 1 == n)) {
            st = session_give(s, in, call->at, count ? name[i]->name : "_", t[i]);
        } else {
            tensor_free(t[i]);
        }
    }
    return st;
}
