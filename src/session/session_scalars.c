/* session_scalars.c: scalars of a script in an assignment's subscripts, slices and ranges.
 *
 * What has no index there is an integer: x(2*k + i), x(i(lo:hi)), sum(k in 0:n: …). The
 * statement is copied with the values in these places. Values that are others in another
 * round of a loop make it another statement, which is compiled anew. A subscript that
 * is a scalar as a whole, A(s, j), stays: the program computes it.
 *
 * A slice whose first bound is a name was read as a reduction, i(lo: hi): as a subscript it
 * can be no other than a slice.
 */
#include "session.h"

#include <string.h>

typedef struct walk {
    stc_session *s;
    arena *a;
    fixed *list;
    stc_status st;
} walk;

static const scope_tensor *tensor_named(const walk *w, const char *name)
{
    return scope_find_tensor(w->s->f.sc, name);
}

static bool names_scalar(const walk *w, const char *name)
{
    const scope_tensor *t = tensor_named(w, name);
    return t && t->order == 0;
}

/* Whether it has no index: `inner` are the reductions in it, which bind their own. */
static bool is_scalar(const walk *w, const around *outer, const around *inner, const ast *e)
{
    if (!e) return true;
    if (e->kind == N_SLICE || e->kind == N_BINDING) return false;
    if (e->kind == N_NAME)
        return around_binds(inner, e->name) ||
               (!around_binds(outer, e->name) && names_scalar(w, e->name));
    if (e->kind == N_CALL && call_is_asked(e)) return true;
    const around in = {e, inner};
    const bool binds = e->kind == N_REDUCE;
    for (int i = binds ? e->count - 1 : 0; i < e->count; i++)
        if (!is_scalar(w, outer, binds ? &in : inner, e->child[i])) return false;
    return true;
}

/* Whether it is there already as a number. */
static bool is_number(const ast *e)
{
    if (e->kind == N_INT) return true;
    if (e->kind != N_UNARY && e->kind != N_BINARY) return false;
    for (int i = 0; i < e->count; i++)
        if (!is_number(e->child[i])) return false;
    return true;
}

static ast *node_copy(walk *w, const ast *n)
{
    ast *const c = ast_like(w->a, n);
    if (!c) w->st = w->s->m->cx.diag.status;
    return c;
}

static ast *new_node(walk *w, const ast *e, ast_kind kind, int count)
{
    ast *const n = ast_new(w->a, kind, e->at, count);
    if (!n) w->st = w->s->m->cx.diag.status;
    return n;
}

/* An integer whose value is still to come: it is noted in the list. In a subscript its sign
 * stands before it. */
static ast *place(walk *w, const ast *e, bool apart)
{
    fixed *list = w->list;
    if (list->n == FIXED_MAX) {
        w->st = fail(&w->s->m->cx, STC_ERR_PROGRAM,
                     "a statement has more than %d scalars in subscripts and ranges",
                     FIXED_MAX);
        return NULL;
    }
    ast *n = new_node(w, e, N_INT, 0);
    ast *sign = n && apart ? new_node(w, e, N_UNARY, 1) : NULL;
    if (!n || (apart && !sign)) return NULL;
    list->at[list->n++] = (fixed_place){.e = e, .node = n, .sign = sign};
    if (!apart) return n;
    sign->op = OPR_PLUS;
    sign->child[0] = n;
    return sign;
}

static const ast *look(walk *w, const around *in, const ast *e);

/* Replaces child i of *copy, which is made of n when it is first needed. */
static bool put(walk *w, const ast *n, ast **copy, int i, const ast *child)
{
    if (!child || child == n->child[i]) return !w->st;
    if (!*copy) *copy = node_copy(w, n);
    if (*copy) (*copy)->child[i] = (ast *)child;
    return *copy != NULL;
}

/* A bound of a range or a slice. */
static const ast *look_bound(walk *w, const around *in, const ast *e)
{
    if (!e || is_number(e) || !is_scalar(w, in, NULL, e)) return e;
    return place(w, e, false);
}

static const ast *look_bounds(walk *w, const around *in, const ast *n)
{
    ast *copy = NULL;
    for (int i = 0; i < n->count; i++)
        if (!put(w, n, &copy, i, look_bound(w, in, n->child[i]))) return NULL;
    return copy ? copy : n;
}

/* i(lo: hi), read as a reduction by i. */
static const ast *as_slice(walk *w, const around *in, const ast *e)
{
    ast *slice = node_copy(w, e), *lo = slice ? node_copy(w, e->child[0]) : NULL;
    if (!lo || !(slice->child = arena_array(w->a, 3, sizeof *slice->child))) return NULL;
    lo->kind = N_NAME;
    slice->kind = N_SLICE;
    slice->count = 3;
    slice->child[0] = lo;
    slice->child[1] = e->child[1];
    return look_bounds(w, in, slice);
}

/* A subscript, or a part of one. */
static const ast *look_subscript(walk *w, const around *in, const ast *e, bool whole)
{
    ast *copy = NULL;
    if (e->kind == N_SLICE || e->kind == N_BINDING) return look_bounds(w, in, e);
    if (whole && e->kind == N_REDUCE && e->count == 2 && !e->child[0]->count &&
        names_scalar(w, e->child[0]->name))
        return as_slice(w, in, e);
    if (is_number(e)) return e;
    if (is_scalar(w, in, NULL, e))
        return whole && !ast_reduction(e) ? e : place(w, e, true);
    if (e->kind != N_UNARY && e->kind != N_BINARY) return e;
    for (int i = 0; i < e->count; i++)
        if (!put(w, e, &copy, i, look_subscript(w, in, e->child[i], false))) return NULL;
    return copy ? copy : e;
}

static const ast *look_subscripts(walk *w, const around *in, const ast *n)
{
    ast *copy = NULL;
    for (int i = 0; i < n->count; i++)
        if (!put(w, n, &copy, i, look_subscript(w, in, n->child[i], true))) return NULL;
    return copy ? copy : n;
}

/* An expression: the tensors in it have subscripts, the reductions ranges. */
static const ast *look(walk *w, const around *in, const ast *e)
{
    ast *copy = NULL;
    if (e->kind == N_CALL && tensor_named(w, e->name)) return look_subscripts(w, in, e);
    const bool binds = e->kind == N_REDUCE;
    const around inner = {e, in};
    for (int i = 0; i < e->count; i++) {
        const ast *c = e->child[i];
        if (!c) continue;
        c = c->kind == N_BINDING ? look_bounds(w, in, c) : look(w, binds ? &inner : in, c);
        if (!put(w, e, &copy, i, c)) return NULL;
    }
    return copy ? copy : e;
}

static const ast *look_statement(walk *w, const ast *n)
{
    ast *copy = NULL;
    if (n->kind != N_ASSIGN) return look(w, NULL, n);
    if (n->child[0]->kind == N_CALL &&
        !put(w, n, &copy, 0, look_subscripts(w, NULL, n->child[0])))
        return NULL;
    if (!put(w, n, &copy, 1, look(w, NULL, n->child[1]))) return NULL;
    return copy ? copy : n;
}

stc_status session_values(stc_session *s, const script *in, fixed *f)
{
    for (int i = 0; i < f->n; i++) {
        const ast *e = f->at[i].e;
        const stc_status st =
            session_integer(s, in, e, f->at[i].sign ? "a scalar in a subscript" : "a bound",
                            &f->at[i].value);
        if (st) return session_place(in, e, st);
    }
    return STC_OK;
}

stc_status session_scalars(stc_session *s, const script *in, arena *a, const ast *n,
                           fixed *f, const ast **out)
{
    walk w = {.s = s, .a = a, .list = f};
    f->n = 0;
    *out = look_statement(&w, n);
    if (w.st) return session_place(in, n, w.st);
    const stc_status st = session_values(s, in, f);
    for (int i = 0; i < f->n && !st; i++) {
        const int64_t v = f->at[i].value;
        const bool minus = f->at[i].sign && v < 0;
        f->at[i].node->u = minus ? -(uint64_t)v : (uint64_t)v;
        if (minus) f->at[i].sign->op = OPR_NEG;
    }
    return st;
}
