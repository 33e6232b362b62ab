/* tree.c: syntax trees, simplified while they are made: 0 and 1 go, numbers are computed,
 * signs come to the front, quotients stay quotients. A factor goes inside of a `select`, so
 * that it isn't computed where the `select` takes the other side: no 0 * inf.
 *
 * Trees may share parts; they are only read. Out of memory, or with too many nodes, they
 * are NULL, and so is what is made of them.
 */
#include "inside.h"

#include <math.h>
#include <string.h>

void *grad_refuse(grad *g, span at, const char *what, ...)
{
    char text[512];
    va_list args;
    if (g->failed) return NULL;
    va_start(args, what);
    vsnprintf(text, sizeof text, what, args);
    va_end(args);
    fail_source(g->step->src, STC_ERR_PROGRAM, at, "%s", text);
    g->failed = true;
    return NULL;
}

ast *tree_node(grad *g, ast_kind kind, int count)
{
    if (++g->nodes > NODES_MAX)
        return grad_refuse(g, g->step->st->at,
                           "the derivative is too large (more than %d operations)",
                           NODES_MAX);
    return ast_new(g->a, kind, (span){0}, count);
}

ast *tree_number(grad *g, double v)
{
    if (signbit(v) && !isnan(v)) return tree_unary(g, OPR_NEG, tree_number(g, -v));
    const bool whole = v < 1e15 && v == floor(v);
    ast *const e = tree_node(g, whole ? N_INT : N_REAL, 0);
    if (e && whole) e->u = (uint64_t)v;
    if (e && !whole) e->f = v;
    return e;
}

ast *tree_name(grad *g, const char *name)
{
    ast *const e = tree_node(g, N_NAME, 0);
    if (e) e->name = name;
    return e;
}

ast *tree_call(grad *g, const char *name, ast *const *child, int n)
{
    ast *const e = tree_node(g, N_CALL, n);
    if (!e) return NULL;
    e->name = name;
    for (int k = 0; k < n; k++)
        if (!(e->child[k] = child[k])) return NULL;
    return e;
}

/* Whether e is a number, and which. */
static bool number(const ast *e, double *v)
{
    if (e->kind == N_UNARY && e->op == OPR_NEG && number(e->child[0], v)) {
        *v = -*v;
        return true;
    }
    *v = e->kind == N_INT ? (double)e->u : e->f;
    return e->kind == N_REAL || (e->kind == N_INT && e->u < 1000000000000000);
}

bool tree_is(const ast *e, double v)
{
    double own;
    return number(e, &own) && own == v;
}

static bool is_binary(const ast *e, ast_op op)
{
    return e->kind == N_BINARY && e->op == op;
}

static bool is_minus(const ast *e)
{
    return e->kind == N_UNARY && e->op == OPR_NEG;
}

ast *tree_unary(grad *g, ast_op op, ast *x)
{
    if (!x) return NULL;
    if (op == OPR_NEG && tree_is(x, 0)) return x;
    if (op == OPR_NEG && is_minus(x)) return x->child[0];
    ast *const e = tree_node(g, N_UNARY, 1);
    if (!e) return NULL;
    e->op = (uint8_t)op;
    e->child[0] = x;
    return e;
}

ast *tree_exact(grad *g, ast_op op, ast *x, ast *y)
{
    ast *const e = x && y ? tree_node(g, N_BINARY, 2) : NULL;
    if (!e) return NULL;
    e->op = (uint8_t)op;
    e->child[0] = x;
    e->child[1] = y;
    return e;
}

static ast *sum(grad *g, ast_op op, ast *x, ast *y)
{
    if (tree_is(y, 0)) return x;
    if (tree_is(x, 0)) return op == OPR_SUB ? tree_unary(g, OPR_NEG, y) : y;
    if (is_minus(y)) return sum(g, op == OPR_SUB ? OPR_ADD : OPR_SUB, x, y->child[0]);
    return tree_exact(g, op, x, y);
}

static ast *quotient(grad *g, ast *x, ast *y)
{
    if (!x || !y) return NULL;
    if (tree_is(x, 0) || tree_is(y, 1)) return x;
    if (is_minus(x)) return tree_unary(g, OPR_NEG, quotient(g, x->child[0], y));
    return tree_exact(g, OPR_DIV, x, y);
}

/* Products stay chains to the left: they are read without brackets. */
static ast *product(grad *g, ast *x, ast *y)
{
    double a, b;
    if (!x || !y) return NULL;
    if (number(x, &a) && number(y, &b)) return tree_number(g, a * b);
    if (tree_is(x, 0) || tree_is(y, 1)) return x;
    if (tree_is(y, 0) || tree_is(x, 1)) return y;
    if (is_minus(x)) return tree_unary(g, OPR_NEG, product(g, x->child[0], y));
    if (is_minus(y)) return tree_unary(g, OPR_NEG, product(g, x, y->child[0]));
    if (is_binary(y, OPR_DIV)) return quotient(g, product(g, x, y->child[0]), y->child[1]);
    if (is_binary(y, OPR_MUL)) return product(g, product(g, x, y->child[0]), y->child[1]);
    return tree_exact(g, OPR_MUL, x, y);
}

ast *tree_binary(grad *g, ast_op op, ast *x, ast *y)
{
    double a, b;
    if (!x || !y) return NULL;
    if (number(x, &a) && number(y, &b)) {
        if (op == OPR_ADD) return tree_number(g, a + b);
        if (op == OPR_SUB) return tree_number(g, a - b);
    }
    switch (op) {
    case OPR_ADD:
    case OPR_SUB:
        return sum(g, op, x, y);
    case OPR_MUL:
        return product(g, x, y);
    case OPR_DIV:
        return quotient(g, x, y);
    case OPR_POW:
        if (tree_is(y, 1)) return x;
        break;
    default:
        break;
    }
    return tree_exact(g, op, x, y);
}

ast *tree_select(grad *g, ast *c, ast *x, ast *y)
{
    double a, b;
    if (!c || !x || !y) return NULL;
    if (tree_is(x, 0) && tree_is(y, 0)) return x;
    if (is_binary(c, OPR_EQ) && number(c->child[0], &a) && number(c->child[1], &b))
        return a == b ? x : y;
    return tree_call(g, "select", (ast *[]){c, x, y}, 3);
}

static bool is_call(const ast *e, const char *name, int n)
{
    return e->kind == N_CALL && e->op != ACCESS && e->count == n && !strcmp(e->name, name);
}

ast *tree_times(grad *g, ast *d, ast *x)
{
    if (!d || !x) return NULL;
    if (is_minus(d)) return tree_unary(g, OPR_NEG, tree_times(g, d->child[0], x));
    if (is_call(d, "select", 3) && (tree_is(d->child[1], 0) || tree_is(d->child[2], 0)))
        return tree_select(g, d->child[0], tree_times(g, d->child[1], x),
                           tree_times(g, d->child[2], x));
    return tree_binary(g, OPR_MUL, d, x);
}

/* ---- names ------------------------------------------------------------------------ */

static bool is_free(const grad *g, const char *name)
{
    for (const taken *t = g->taken; t; t = t->next)
        if (!strcmp(t->name, name)) return false;
    for (int k = 0; k < g->step->st->nindex; k++)
        if (g->index && g->index[k] && !strcmp(g->index[k], name)) return false;
    return !scope_find_tensor(g->job->sc, name) && !scope_find(g->job->sc, name, N_FN) &&
           !scope_find(g->job->sc, name, N_DEF) && fn_named(name, strlen(name), -1) < 0;
}

/* A name that nothing has, from two parts, with a number behind them if need be. */
const char *grad_name(grad *g, const char *prefix, const char *base)
{
    char text[256];
    taken *const t = arena_alloc(g->a, sizeof *t);
    snprintf(text, sizeof text, "%s%.200s", prefix, base);
    for (int k = 2; !is_free(g, text); k++)
        snprintf(text, sizeof text, "%s%.200s_%d", prefix, base, k);
    if (!t || !(t->name = arena_text(g->a, text, strlen(text)))) return NULL;
    t->next = g->taken;
    g->taken = t;
    return t->name;
}
