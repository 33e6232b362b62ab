/* session_walk.c: from a scalar back to what its derivatives are asked by: which statements
 * made it, and whether what they read is still there.
 *
 * A tensor's present value depends on another's only if a statement that ran since that was
 * born made it: what is older is a constant, as parameters are to each other that a loop
 * improves in turn. Statements that depend are bound once more, in the order in which they
 * ran, and src/grad writes the derivatives from them.
 */
#include "../grad/grad.h"
#include "session.h"

#include <string.h>

typedef struct visited {
    struct visited *next;
    const variable *v;
    bool active;
} visited;

typedef struct stop {
    struct stop *next;
    const variable *v;
    const tape *t; /* NULL: the expression itself */
    source src;
    ast *tree;
    bool first; /* what was before doesn't matter */
} stop;

typedef struct walk {
    stc_session *s;
    script *in;
    arena *a;
    const ast *e;
    const char *const *by;
    int n;
    uint64_t oldest; /* of `by` */
    visited *seen;
    stop *stops; /* the latest first */
    int count;
    stc_status st;
} walk;

static bool refuse(walk *w, const source *src, span at, const char *what, const char *a,
                   const char *b)
{
    if (!w->st) w->st = fail_source(src, STC_ERR_PROGRAM, at, what, a, b);
    return false;
}

static bool out_of_memory(walk *w)
{
    if (!w->st) w->st = w->s->m->cx.diag.status;
    return false;
}

static bool is_by(const walk *w, const variable *v)
{
    for (int k = 0; k < w->n; k++)
        if (!strcmp(w->by[k], v->name)) return true;
    return false;
}

/* ---- what a statement read ------------------------------------------------------ */

typedef bool (*name_fn)(walk *w, const ast *name, const stop *at, bool *active);

static bool each_name(walk *w, const ast *n, const stop *at, name_fn does, bool *active)
{
    if (!n) return true;
    if ((n->kind == N_NAME || n->kind == N_CALL) && !does(w, n, at, active)) return false;
    for (int k = 0; k < n->count; k++)
        if (!each_name(w, n->child[k], at, does, active)) return false;
    return true;
}

/* All names but that on the left. */
static bool each_read(walk *w, const stop *at, name_fn does, bool *active)
{
    const ast *const n = at->tree;
    if (!at->t || n->kind == N_RESULTS)
        return each_name(w, at->t ? n->child[1] : n, at, does, active);
    if (n->kind != N_ASSIGN) return true;
    for (int k = 0; k < n->child[0]->count; k++)
        if (!each_name(w, n->child[0]->child[k], at, does, active)) return false;
    return each_name(w, n->child[1], at, does, active);
}

static bool visit(walk *w, const variable *v, bool *active);

/* Whether what was read then may depend. */
static bool name_depends(walk *w, const ast *name, const stop *at, bool *active)
{
    const variable *const v = session_find(w->s, name->name);
    if (!v || !v->t || (at->t && v == at->v)) return true;
    const uint64_t then = at->t ? at->t->made : UINT64_MAX;
    if (v->born < then) {
        bool own = false;
        if (!visit(w, v, &own)) return false;
        *active |= own;
        return true;
    }
    if (type_is_integer(v->t->type) || v->t->type == STC_BOOL) return true;
    /* an earlier value: if that is older than what is asked for, it doesn't depend */
    *active |= !(v->before < then && v->before < w->oldest);
    return true;
}

/* What a statement that depends read must still be there. */
static bool name_is_there(walk *w, const ast *name, const stop *at, bool *active)
{
    const variable *const v = session_find(w->s, name->name);
    (void)active;
    if (!v || !v->t || !at->t || v == at->v || v->born < at->t->made) return true;
    return refuse(
        w, &at->src, name->at,
        "%s has changed since %s was made of it: the derivative needs what it was", v->name,
        at->v->name);
}

/* ---- the statements ------------------------------------------------------------- */

static stop *read_tape(walk *w, const variable *v, const tape *t)
{
    stop *const out = arena_alloc(w->a, sizeof *out);
    ast *tree;
    if (!out) return NULL;
    out->v = v;
    out->t = t;
    out->src =
        (source){.cx = &w->s->m->cx, .file = t->file, .text = t->text, .line = t->line};
    if ((w->st = parse_script(w->a, &out->src, &tree))) return NULL;
    out->tree = tree->child[0];
    return out;
}

/* Whether index notation says how it came about. */
static bool is_formula(walk *w, const stop *at)
{
    const ast *const n = at->tree;
    const ast *const right = n->kind == N_ASSIGN ? n->child[1] : NULL;
    /* `compact A` has the place of its operand */
    const char *how = n->kind == N_VALUE               ? "`compact`"
                      : !right                         ? "a call"
                      : right->kind != N_CALL          ? NULL
                      : session_calls_def(w->s, right) ? "the call of a def"
                      : session_grads(w->s, right)     ? "`grad`"
                      : session_orders(w->s, right)    ? "`order`"
                                                       : NULL;
    if (!how) return true;
    return refuse(w, &at->src, n->at, "%s was made by %s, which has no derivative",
                  at->v->name, how);
}

/* B = A of whole tensors, element by element. */
static bool spell_out(walk *w, stop *at)
{
    ast *const n = at->tree;
    const int order = at->v->t->order;
    if (n->kind != N_ASSIGN || !order) return true;
    for (int side = 0; side < 2; side++) {
        ast *const c = n->child[side];
        if (c->kind != N_NAME) return true;
        ast *const call = ast_new(w->a, N_CALL, c->at, order);
        if (!call) return out_of_memory(w);
        call->name = c->name;
        for (int k = 0; k < order; k++) {
            ast *const i = call->child[k] = ast_new(w->a, N_NAME, c->at, 0);
            char name[16];
            snprintf(name, sizeof name, "m%d", k);
            if (!i || !(i->name = arena_text(w->a, name, strlen(name))))
                return out_of_memory(w);
        }
        n->child[side] = call;
    }
    return true;
}

/* Those of a tape, from the first that matters on. */
static bool visit_tape(walk *w, const variable *v, const tape *t, bool *active)
{
    bool before = false, own = false;
    if (t->prev && t->before >= w->oldest && !visit_tape(w, v, t->prev, &before))
        return false;
    stop *const at = read_tape(w, v, t);
    if (!at) return out_of_memory(w);
    if (!each_read(w, at, name_depends, &own)) return false;
    if (t->cut && t->before >= w->oldest)
        return refuse(
            w, &at->src, at->tree->at,
            "%s has been changed too often for a derivative (more than 64 times)%s",
            v->name, "");
    *active = before || own;
    if (!*active) return true;
    if (!is_formula(w, at) || !spell_out(w, at) || !each_read(w, at, name_is_there, &own))
        return false;
    at->first = !before;
    stop **place = &w->stops; /* latest first */
    while (*place && (*place)->t && (*place)->t->made > t->made)
        place = &(*place)->next;
    at->next = *place;
    *place = at;
    w->count++;
    return true;
}

static bool visit(walk *w, const variable *v, bool *active)
{
    *active = is_by(w, v);
    if (*active || !v->t || v->born < w->oldest) return true;
    if (!type_is_float(v->t->type) || !v->tape || v->tape->made != v->born) return true;
    for (const visited *seen = w->seen; seen; seen = seen->next)
        if (seen->v == v) {
            *active = seen->active;
            return true;
        }
    if (work_done(&w->s->m->cx, 1)) return out_of_memory(w);
    visited *const seen = arena_alloc(w->a, sizeof *seen);
    if (!seen || !visit_tape(w, v, v->tape, active)) return out_of_memory(w);
    *seen = (visited){w->seen, v, *active};
    w->seen = seen;
    return true;
}

/* ---- binding once more ---------------------------------------------------------- */

/* The target's entry is as it was when the statement is bound, and after that as it is. */
static stc_status bind_stop(walk *w, stop *at, program **p, bstmt **out)
{
    stc_session *const s = w->s;
    const script in = {.src = at->src};
    const ast *statement = at->tree;
    fixed scalars;
    stc_status st = session_scalars(s, &in, w->a, at->tree, &scalars, &statement);
    if (!st) st = compile_begin(&s->m->cx, &at->src, true, p);
    if (st) return st;
    if (!at->t) return bind_value(w->a, s->f.sc, &at->src, *p, statement, true, out);
    scope_tensor *e = scope_find_tensor(s->f.sc, at->v->name);
    const scope_tensor before = *e;
    if (!at->t->before) e->has_data = false;
    st = bind_assignment(w->a, s->f.sc, &at->src, *p, statement, out);
    scope_clear_slots(s->f.sc, *p);
    e = scope_find_tensor(s->f.sc, at->v->name);
    char *const own = e->name;
    *e = before;
    e->name = own;
    return st;
}

static stc_status derive(walk *w, textbuf *text, const char **result)
{
    const int n = w->count;
    ctx *const cx = &w->s->m->cx;
    grad_step *const step = arena_array(w->a, n, sizeof *step);
    program **const p = arena_array(w->a, n, sizeof *p);
    grad_job job = {
        .a = w->a, .sc = w->s->f.sc, .step = step, .steps = n, .by = w->by, .nby = w->n};
    stc_status st = step && p ? STC_OK : cx->diag.status;
    stop *at = w->stops;
    for (int k = n - 1; k >= 0 && !st; k--, at = at->next) {
        bstmt *b = NULL;
        st = bind_stop(w, at, &p[k], &b);
        if (p[k]) scope_clear_slots(w->s->f.sc, p[k]);
        step[k] = (grad_step){.st = b, .p = p[k], .src = &at->src, .begins = at->first};
    }
    if (!st && step[n - 1].st->nsub)
        st = fail_source(&w->in->src, STC_ERR_PROGRAM, w->e->at,
                         "a derivative is one of a scalar, and this has %d mode%s; sum it",
                         step[n - 1].st->nsub, step[n - 1].st->nsub == 1 ? "" : "s");
    if (!st) st = grad_write(cx, &job, text);
    for (int k = 0; k < w->n && !st; k++) {
        result[k] = job.result[k];
        if (!job.used[k])
            st = fail_source(&w->in->src, STC_ERR_PROGRAM, w->e->at,
                             "this doesn't depend on %s as it is now, or in steps only",
                             w->by[k]);
    }
    for (int k = 0; p && k < n; k++)
        program_free(p[k]);
    return st;
}

stc_status session_walk(stc_session *s, script *in, arena *a, const ast *e,
                        const char *const *by, int n, textbuf *text, const char **result)
{
    walk w = {.s = s, .in = in, .a = a, .e = e, .by = by, .n = n, .oldest = UINT64_MAX};
    for (int k = 0; k < n; k++) {
        const variable *const v = session_find(s, by[k]);
        if (v->born < w.oldest) w.oldest = v->born;
    }
    bool active = false;
    const variable *const v = e->kind == N_NAME ? session_find(s, e->name) : NULL;
    if (v && v->t && v->t->order)
        return fail_source(&in->src, STC_ERR_PROGRAM, e->at,
                           "a derivative is one of a scalar, and %s has %d mode%s; sum it",
                           v->name, v->t->order, v->t->order == 1 ? "" : "s");
    if (v && !is_by(&w, v)) {
        if (!visit(&w, v, &active)) return w.st;
        if (!active)
            return fail_source(&in->src, STC_ERR_PROGRAM, e->at,
                               "%s doesn't depend on %s as it is now", v->name, by[0]);
        return derive(&w, text, result);
    }
    stop last = {.src = in->src, .tree = (ast *)e};
    if (!each_read(&w, &last, name_depends, &active)) return w.st;
    last.next = w.stops;
    w.stops = &last;
    w.count++;
    return derive(&w, text, result);
}
