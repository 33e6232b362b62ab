/* session_grad.c: G = grad(e, A) and (P, Q) = grad(e, A, B): the derivatives of a scalar by
 * tensors, as statements made from those that made the scalar (session_walk.c), which run
 * in a frame of their own. In a loop they are compiled once.
 */
#include "session.h"
#include "../lang/scope.h"

#include <string.h>

enum { BY_MAX = DEF_MAX_NAMES };

bool session_grads(const stc_session *s, const ast *call)
{
    return call->kind == N_CALL && !strcmp(call->name, "grad") &&
           !scope_find_tensor(s->f.sc, call->name) &&
           !scope_find(s->f.sc, call->name, N_FN) &&
           !scope_find(s->f.sc, call->name, N_DEF);
}

/* ---- what was written, parsed --------------------------------------------------- */

static void gradient_free(ctx *cx, gradient *g)
{
    if (!g) return;
    arena_free(&g->a);
    mem_strfree(cx, g->text);
    mem_free(cx, g, sizeof *g);
}

/* The same text that the call had in an earlier round, with its tree, or a new one. text is
 * taken. */
static stc_status gradient_of(stc_session *s, const ast *key, char *text, gradient **out)
{
    ctx *const cx = &s->m->cx;
    for (gradient *g = s->gradients; g; g = g->next) {
        if (g->key != key || strcmp(g->text, text)) continue;
        mem_strfree(cx, text);
        *out = g;
        return STC_OK;
    }
    gradient *const g = mem_zero(cx, 1, sizeof *g);
    if (!g) {
        mem_strfree(cx, text);
        return cx->diag.status;
    }
    const source src = {.cx = cx, .file = "gradient", .text = text};
    arena_init(&g->a, cx);
    g->text = text;
    g->key = key;
    const stc_status st = parse_script(&g->a, &src, &g->tree);
    if (st) {
        gradient_free(cx, g);
        return st;
    }
    *out = g;
    return STC_OK;
}

static void keep_gradient(stc_session *s, gradient *g)
{
    for (const gradient *k = s->gradients; k; k = k->next)
        if (k == g) return;
    g->next = s->gradients;
    s->gradients = g;
}

/* ---- running it ----------------------------------------------------------------- */

/* What the statements read of the session's is lent to their frame. */
static stc_status lend_names(stc_session *s, const ast *n, frame *inner)
{
    stc_status st = STC_OK;
    if (!n) return STC_OK;
    if (n->kind == N_NAME || n->kind == N_CALL) {
        variable *const v = session_find(s, n->name);
        tensor *t;
        if (v && !names_find(&inner->vars, n->name) && !(st = session_tensor(s, v, &t))) {
            session_swap(s, inner);
            st = session_lend(s, n->name, t, true);
            session_swap(s, inner);
        }
    }
    for (int k = 0; k < n->count && !st; k++)
        st = lend_names(s, n->child[k], inner);
    return st;
}

/* In the frame: the statements, and what they made. */
static stc_status run_inside(stc_session *s, const script *in, const gradient *g,
                             const char *const *result, int n, tensor **out)
{
    const bool untaped = s->untaped;
    script body = {.src = {.cx = in->src.cx, .file = "gradient", .text = g->text},
                   .loops = in->loops,
                   .includes = in->includes};
    s->untaped = true;
    stc_status st = session_exec(s, &body, g->tree);
    s->untaped = untaped;
    for (int k = 0; k < n && !st; k++) {
        variable *const v = session_find(s, result[k]);
        st = session_tensor(s, v, &out[k]);
        if (!st) v->t = NULL;
    }
    return st;
}

static stc_status run_gradient(stc_session *s, const script *in, const gradient *g,
                               const char *const *result, int n, tensor **out)
{
    frame inner;
    tensor *made[BY_MAX] = {NULL};
    stc_status st = session_frame(s, s->f.sc, &inner);
    if (st) return st;
    st = lend_names(s, g->tree, &inner);
    if (!st) {
        session_swap(s, &inner);
        st = run_inside(s, in, g, result, n, made);
        session_swap(s, &inner);
    }
    session_frame_end(s, &inner);
    for (int k = 0; k < n; k++) {
        if (st) {
            tensor_free(made[k]);
        } else {
            out[k] = made[k];
        }
    }
    return st;
}

stc_status session_derive(stc_session *s, script *in, const ast *call, const ast *e,
                          const char *const *by, int n, tensor **out)
{
    ctx *const cx = &s->m->cx;
    arena a;
    textbuf text;
    const char *result[BY_MAX];
    gradient *g = NULL;
    arena_init(&a, cx);
    text_init(&text, cx);
    stc_status st = session_walk(s, in, &a, e, by, n, &text, result);
    char *const own = st ? NULL : text_take(&text);
    if (!st) st = own ? gradient_of(s, call, own, &g) : cx->diag.status;
    if (!st && in->loops) keep_gradient(s, g);
    if (!st) st = run_gradient(s, in, g, result, n, out);
    if (!in->loops) gradient_free(cx, g);
    text_drop(&text);
    arena_free(&a);
    return st;
}

/* ---- the statement -------------------------------------------------------------- */

static stc_status check_by(stc_session *s, const script *in, const ast *call,
                           const char **by)
{
    for (int k = 1; k < call->count; k++) {
        const ast *const e = call->child[k];
        tensor *t;
        if (e->kind != N_NAME)
            return fail_source(&in->src, STC_ERR_PROGRAM, e->at,
                               "derivatives are by tensors, which have names");
        stc_status st = session_named(s, in, e, &t);
        if (st) return st;
        if (!type_is_float(t->type) || type_is_complex(t->type))
            return fail_source(
                &in->src, STC_ERR_PROGRAM, e->at,
                "%s holds %s, and derivatives are by real numbers (f32, f64)", e->name,
                type_name(t->type));
        for (int i = 1; i < k; i++)
            if (!strcmp(call->child[i]->name, e->name))
                return fail_source(&in->src, STC_ERR_PROGRAM, e->at, "%s is here twice",
                                   e->name);
        by[k - 1] = e->name;
    }
    return STC_OK;
}

static stc_status derivatives(stc_session *s, script *in, const ast *call, tensor **out)
{
    const char *by[BY_MAX];
    const int n = call->count - 1;
    const ast *const e = call->count ? call->child[0] : NULL;
    if (n < 1 || n > BY_MAX)
        return fail_source(&in->src, STC_ERR_PROGRAM, call->at,
                           "`grad` takes a scalar and the tensors by which its derivatives "
                           "are asked for, as in grad(e, A)");
    stc_status st = session_resolve(s, call);
    if (!st) st = check_by(s, in, call, by);
    if (st) return st;
    if (e->kind == N_CALL && session_calls_def(s, e))
        return session_derive_call(s, in, e, by, n, out);
    return session_derive(s, in, call, e, by, n, out);
}

stc_status session_grad(stc_session *s, script *in, const ast *call, const ast *const *name,
                        int count)
{
    tensor *t[BY_MAX] = {NULL};
    const int n = call->count - 1;
    if (count && n > 0 && count != n)
        return fail_source(&in->src, STC_ERR_PROGRAM, call->at,
                           "`grad` gives a derivative by each of %d tensor%s, not %d", n,
                           n == 1 ? "" : "s", count);
    stc_status st = derivatives(s, in, call, t);
    return session_hand_out(s, in, call, name, count, t, n < BY_MAX ? n : BY_MAX, st);
}
