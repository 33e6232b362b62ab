/* session_def.c: calls of defs: statements with names of their own.
 *
 * A call makes a frame, in which the parameters are names: the arguments' tensors are
 * lent to it, what is computed for the call belongs to it. Its statements run in it; then
 * the results leave it for names of the caller. Formats, functions and defs are the
 * session's everywhere.
 */
#include "session.h"
#include "../lang/scope.h"

#include <string.h>

enum { CALLS_MAX = 256 };

bool session_calls_def(const stc_session *s, const ast *call)
{
    return !scope_find_tensor(s->f.sc, call->name) &&
           scope_find(s->f.sc, call->name, N_DEF);
}

void session_swap(stc_session *s, frame *f)
{
    const frame now = s->f;
    s->f = *f;
    *f = now;
    s->named++;
}

/* A parameter's variable, in the frame that is the session's now; t is taken unless it is
 * lent. */
stc_status session_lend(stc_session *s, const char *name, tensor *t, bool lent)
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
    v->born = t->generation;
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
            session_swap(s, inner);
            st = session_lend(s, params->child[i]->name, t, lent);
            session_swap(s, inner);
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
    const ast *const outer = s->body;
    s->body = d->node->child[2];
    d->busy = true;
    s->calls++;
    st = session_exec(s, &body, d->node->child[2]);
    s->calls--;
    d->busy = was;
    s->body = outer;
    mem_strfree(&s->m->cx, dir);
    return st;
}

/* Makes the frame of a call, with its arguments in it. It has to be ended, whatever this
 * gives. */
static stc_status begin_call(stc_session *s, script *in, const ast *call, frame *inner)
{
    definition *d = scope_find(s->f.sc, call->name, N_DEF);
    const ast *params = d->node->child[0];
    *inner = (frame){0};
    if (call->count != params->count)
        return fail_source(&in->src, STC_ERR_PROGRAM, call->at,
                           "%s takes %d argument%s, not %d", call->name, params->count,
                           params->count == 1 ? "" : "s", call->count);
    if (s->calls == CALLS_MAX)
        return session_fail(in, STC_ERR_PROGRAM, call,
                            "defs call each other more than 256 deep");
    const stc_status st = session_frame(s, s->f.sc, inner);
    return st ? st : arguments(s, in, call, params, inner);
}

/* Calls a def; its first results go to out, and are the caller's. */
static stc_status call_def(stc_session *s, script *in, const ast *call, tensor **out,
                           int results)
{
    definition *d = scope_find(s->f.sc, call->name, N_DEF);
    const ast *given = d->node->child[1];
    frame inner;
    if (call->count == d->node->child[0]->count && results && results != given->count)
        return fail_source(&in->src, STC_ERR_PROGRAM, call->at,
                           "%s gives %d result%s, not %d", call->name, given->count,
                           given->count == 1 ? "" : "s", results);
    stc_status st = begin_call(s, in, call, &inner);
    if (!st) {
        session_swap(s, &inner);
        st = run_body(s, in, d);
        if (!st) st = take_results(s, in, call, given, out, results);
        session_swap(s, &inner);
    }
    session_frame_end(s, &inner);
    return st;
}

/* ---- derivatives ---------------------------------------------------------------- */

/* The parameters that were given these names. */
static stc_status parameters_of(const script *in, const ast *call, const ast *params,
                                const char *const *by, int n, const char **out)
{
    for (int i = 0; i < n; i++) {
        out[i] = NULL;
        for (int k = 0; k < call->count; k++) {
            if (call->child[k]->kind != N_NAME || strcmp(call->child[k]->name, by[i]))
                continue;
            if (out[i])
                return fail_source(&in->src, STC_ERR_PROGRAM, call->child[k]->at,
                                   "%s is an argument twice: give one of them another name",
                                   by[i]);
            out[i] = params->child[k]->name;
        }
        if (!out[i])
            return fail_source(&in->src, STC_ERR_PROGRAM, call->at,
                               "%s is no argument of %s here", by[i], call->name);
    }
    return STC_OK;
}

/* After the body, in its frame. */
static stc_status derive_inside(stc_session *s, script *in, const ast *call,
                                const ast *result, const char *const *param, int n,
                                tensor **out)
{
    for (int i = 0; i < n; i++)
        if (!session_find(s, param[i])->lent)
            return fail_source(&in->src, STC_ERR_PROGRAM, call->at,
                               "%s assigns to its parameter %s, by which a derivative is "
                               "asked for",
                               call->name, param[i]);
    ast scalar = *result; /* places in the def are of another text */
    scalar.at = call->at;
    return session_derive(s, in, call, &scalar, param, n, out);
}

stc_status session_derive_call(stc_session *s, script *in, const ast *call,
                               const char *const *by, int n, tensor **out)
{
    const definition *d = scope_find(s->f.sc, call->name, N_DEF);
    const char *param[DEF_MAX_NAMES];
    frame inner;
    if (d->node->child[1]->count != 1)
        return fail_source(&in->src, STC_ERR_PROGRAM, call->at,
                           "%s gives %d results, and a derivative is one of one scalar",
                           call->name, d->node->child[1]->count);
    stc_status st = begin_call(s, in, call, &inner);
    if (!st) st = parameters_of(in, call, d->node->child[0], by, n, param);
    if (!st) {
        session_swap(s, &inner);
        st = run_body(s, in, scope_find(s->f.sc, call->name, N_DEF));
        if (!st)
            st = derive_inside(s, in, call, d->node->child[1]->child[0], param, n, out);
        session_swap(s, &inner);
    }
    session_frame_end(s, &inner);
    return st;
}

stc_status session_hand_out(stc_session *s, script *in, const ast *call,
                            const ast *const *name, int count, tensor **t, int n,
                            stc_status st)
{
    for (int i = 0; i < n && !st && !count && s->echo && s->out; i++)
        st = tensor_print(t[i], s->out, s->echo_limit);
    for (int i = 0; i < count && !st; i++)
        st = session_fit(s, in, name[i]->at, name[i]->name, &t[i]);
    for (int i = 0; i < n; i++) {
        if (!st && (count || i + 1 == n)) {
            st = session_give(s, in, call->at, count ? name[i]->name : "_", t[i]);
        } else {
            tensor_free(t[i]);
        }
    }
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
    const int most = n < DEF_MAX_NAMES ? n : DEF_MAX_NAMES;
    return session_hand_out(s, in, call, name, count, t, most, st);
}
