/* rules.c: the derivatives of functions: those of functions.def, those that a definition
 * declares (`with derivative(e, p)`), and those of what the body of a user's function says.
 *
 * A rule is a text of the language. Its names are the operands x, y, z (a definition's: its
 * parameters), f for what the function gives and d for the derivative by that; trees of the
 * statement are put in their places.
 */
#include "inside.h"

#include <string.h>

typedef struct putting {
    grad *g;
    const bexpr *e;    /* the call */
    const ast *params; /* the names of its operands; NULL: x, y, z */
    ast *d;
    bool whole; /* d is in it */
} putting;

static const ast *declared(grad *g, const bexpr *e, int k, const ast **params)
{
    const definition *const d = scope_find(g->job->sc, e->ufn->name, N_FN);
    const ast *const props = d ? d->node->child[2] : NULL;
    for (int i = 0; props && i < props->count; i++) {
        const ast *const p = props->child[i];
        if (strcmp(p->name, "derivative")) continue;
        if ((p->child[1] ? (int)p->child[1]->u : 0) != k) continue;
        *params = d->node->child[0];
        return p->child[0];
    }
    return NULL;
}

/* The rule of a call for operand k: a text, "" where there is none; or what the definition
 * declares. A user's function without one has that of its body. NULL: an error. */
const char *rule_of(grad *g, const bexpr *e, int k, const ast **own)
{
    const ast *params;
    *own = NULL;
    if (e->kind == B_CALL) return fn_derivative(e->fn, k);
    if ((*own = declared(g, e, k, &params))) return "";
    return rule_body(g, e) ? "1" : NULL;
}

/* ---- putting operands in ------------------------------------------------------------ */

static ast *put(putting *s, const ast *e);

static ast *put_name(putting *s, const ast *e)
{
    const char *const name = e->name;
    for (int k = 0; k < s->e->nargs; k++)
        if (s->params ? !strcmp(s->params->child[k]->name, name)
                      : name[0] == "xyz"[k] && !name[1])
            return value_of(s->g, s->e->args[k]);
    if (!strcmp(name, "d")) {
        s->whole = true;
        return s->d;
    }
    if (!strcmp(name, "f")) return value_of(s->g, s->e);
    return grad_refuse(s->g, s->e->at,
                       "the derivative of `%s` has the name %s in it, which is no "
                       "parameter",
                       s->e->ufn->name, name);
}

static ast *put_call(putting *s, const ast *e)
{
    ast *child[8];
    const scope *const sc = s->g->job->sc;
    if (!s->params && (scope_find_tensor(sc, e->name) || scope_find(sc, e->name, N_FN)))
        return grad_refuse(
            s->g, s->e->at,
            "the derivative of this needs the function `%s`, which something "
            "else of that name hides",
            e->name);
    if (e->count > 8)
        return grad_refuse(s->g, s->e->at,
                           "the derivative has a call of more than 8 arguments");
    for (int k = 0; k < e->count; k++)
        if (!(child[k] = put(s, e->child[k]))) return NULL;
    if (!strcmp(e->name, "select") && e->count == 3)
        return tree_select(s->g, child[0], child[1], child[2]);
    return tree_call(s->g, e->name, child, e->count);
}

static ast *put(putting *s, const ast *e)
{
    switch (e->kind) {
    case N_INT:
    case N_REAL:
    case N_BOOL:
        return (ast *)e;
    case N_NAME:
        return put_name(s, e);
    case N_CALL:
        return put_call(s, e);
    case N_UNARY:
        return tree_unary(s->g, e->op, put(s, e->child[0]));
    case N_BINARY: {
        ast *const x = put(s, e->child[0]);
        return x ? tree_binary(s->g, e->op, x, put(s, e->child[1])) : NULL;
    }
    default:
        return grad_refuse(s->g, s->e->at,
                           "a derivative is made of numbers, parameters, operators and "
                           "calls of functions");
    }
}

static const ast *parsed(grad *g, const char *text)
{
    ast *tree;
    const source src = {.cx = g->cx, .file = "derivative", .text = text};
    if (parse_script(g->a, &src, &tree) == STC_OK) return tree->child[0]->child[0];
    g->failed = true;
    return NULL;
}

ast *rule_apply(grad *g, const bexpr *e, int k, ast *d)
{
    putting s = {.g = g, .e = e, .d = d};
    const ast *rule = e->kind == B_CALL ? NULL : declared(g, e, k, &s.params);
    if (!rule && !(rule = parsed(g, fn_derivative(e->fn, k)))) return NULL;
    ast *const out = put(&s, rule);
    return s.whole || !out ? out : tree_times(g, d, out);
}

/* ---- the body of a user's function ---------------------------------------------------
 * Assignments are put into what follows them, and what follows an `if` into both of its
 * sides, so that the function is one expression of its parameters. */

typedef struct unfolding {
    grad *g;
    const bexpr *call;
    int steps, depth;
} unfolding;

enum { UNFOLD_MAX = 4000, UNFOLD_DEPTH = 64, UNFOLD_LOCALS = 64 };

typedef struct values {
    bexpr *of[UNFOLD_LOCALS];
} values;

/* What comes behind a list of statements. */
typedef struct follow {
    const fstmt *s;
    const struct follow *next;
} follow;

static bexpr *with_locals(unfolding *u, const bexpr *e, const values *v)
{
    if (e->kind == B_LOCAL) return v->of[e->index];
    bexpr *const out = ++u->steps < UNFOLD_MAX ? arena_alloc(u->g->a, sizeof *out) : NULL;
    if (!out) return NULL;
    *out = *e;
    out->at = u->call->at; /* places in a body are of another text */
    if (!e->nargs) return out;
    if (!(out->args = arena_array(u->g->a, e->nargs, sizeof *out->args))) return NULL;
    for (int k = 0; k < e->nargs; k++)
        if (!(out->args[k] = with_locals(u, e->args[k], v))) return NULL;
    return out;
}

static bexpr *unfold(unfolding *u, const fstmt *s, values v, const follow *then);

static bexpr *either(unfolding *u, const fstmt *s, const values *v, const follow *then)
{
    const follow rest = {s->next, then};
    if (++u->depth > UNFOLD_DEPTH) return NULL;
    bexpr *const c = with_locals(u, s->value, v);
    bexpr *const x = c ? unfold(u, s->body, *v, &rest) : NULL;
    bexpr *const y = x ? unfold(u, s->other, *v, &rest) : NULL;
    bexpr *const out = y ? arena_alloc(u->g->a, sizeof *out) : NULL;
    u->depth--;
    if (!out || !(out->args = arena_array(u->g->a, 3, sizeof *out->args))) return NULL;
    out->kind = B_CALL;
    out->fn = FN_SELECT;
    out->type = u->call->type;
    out->cls = type_class(out->type);
    out->at = u->call->at;
    out->nargs = 3;
    out->args[0] = c;
    out->args[1] = x;
    out->args[2] = y;
    return out;
}

static bexpr *unfold(unfolding *u, const fstmt *s, values v, const follow *then)
{
    for (;;) {
        while (!s && then) {
            s = then->s;
            then = then->next;
        }
        if (!s) return NULL;
        if (s->op == F_RETURN) return with_locals(u, s->value, &v);
        if (s->op == F_IF) return either(u, s, &v, then);
        if (s->op != F_SET || !(v.of[s->local] = with_locals(u, s->value, &v))) return NULL;
        s = s->next;
    }
}

bexpr *rule_body(grad *g, const bexpr *e)
{
    values v = {{NULL}};
    unfolding u = {.g = g, .call = e};
    const bfunction *const f = e->ufn;
    bexpr *out = NULL;
    if (f->code && f->nlocals <= UNFOLD_LOCALS) {
        for (int k = 0; k < f->nparams; k++) {
            bexpr *const x = v.of[k] = arena_alloc(g->a, sizeof *x);
            if (!x) return NULL;
            *x = (bexpr){.kind = B_LOCAL, .index = k, .type = f->param[k], .at = e->at};
        }
        out = unfold(&u, f->code, v, NULL);
    }
    if (out) return out;
    return grad_refuse(
        g, e->at,
        "`%s` %s, so that its derivative has to be declared: fn %s(…) … with "
        "derivative(e, 0), …",
        f->name, f->host ? "is the host's" : "has a loop in it, or is too long", f->name);
}
