/* nodes.c: making nodes of trees and of typed expressions, for those who rewrite them.
 *
 * All give NULL when memory is out, and take NULL for operands that failed before.
 */
#include "lang.h"

#include <string.h>

ast *ast_new(arena *a, ast_kind kind, span at, int count)
{
    ast *n = arena_alloc(a, sizeof *n);
    if (!n || (count && !(n->child = arena_array(a, count, sizeof *n->child)))) return NULL;
    n->kind = (uint8_t)kind;
    n->at = at;
    n->name = "";
    n->count = count;
    n->height = count ? 2 : 1;
    return n;
}

ast *ast_like(arena *a, const ast *n)
{
    ast *const c = ast_new(a, n->kind, n->at, n->count);
    if (!c) return NULL;
    ast **const child = c->child;
    *c = *n;
    c->child = child;
    if (n->count) memcpy(child, n->child, (size_t)n->count * sizeof *child);
    return c;
}

bool around_binds(const around *in, const char *name)
{
    for (; in; in = in->outer)
        for (int i = 0; i + 1 < in->reduction->count; i++)
            if (!strcmp(in->reduction->child[i]->name, name)) return true;
    return false;
}

bexpr *expr_new(arena *a, bkind kind, stc_type type, span at, int nargs)
{
    bexpr *e = arena_alloc(a, sizeof *e);
    if (!e) return NULL;
    e->kind = kind;
    e->type = type;
    e->at = at;
    e->nargs = nargs;
    e->fn = e->mark = -1;
    if (nargs) e->args = arena_array(a, nargs, sizeof *e->args);
    return nargs && !e->args ? NULL : e;
}

bexpr *expr_like(arena *a, const bexpr *e, int nargs)
{
    bexpr *const same = expr_new(a, e->kind, e->type, e->at, nargs);
    if (!same) return NULL;
    bexpr **const args = same->args;
    *same = *e;
    same->nargs = nargs;
    same->args = args;
    same->memo = NULL;
    return same;
}

bexpr *expr_copy(arena *a, const bexpr *e)
{
    bexpr *const same = expr_like(a, e, e->nargs);
    for (int k = 0; same && k < e->nargs; k++)
        if (!(same->args[k] = expr_copy(a, e->args[k]))) return NULL;
    return same;
}

bexpr *expr_conv(arena *a, bexpr *x, stc_type type)
{
    if (!x || x->type == type) return x;
    bexpr *e = expr_new(a, B_CONV, type, x->at, 1);
    if (e) e->args[0] = x;
    return e;
}

static bexpr *call_new(arena *a, int fn, stc_type type, vclass cls, span at, int nargs)
{
    bexpr *e = expr_new(a, B_CALL, type, at, nargs);
    if (!e) return NULL;
    e->fn = fn;
    e->cls = cls;
    return e;
}

bexpr *expr_call1(arena *a, int fn, stc_type type, vclass cls, bexpr *x)
{
    bexpr *e = x ? call_new(a, fn, type, cls, x->at, 1) : NULL;
    if (e) e->args[0] = x;
    return e;
}

bexpr *expr_call(arena *a, int fn, stc_type type, vclass cls, bexpr *x, bexpr *y)
{
    bexpr *e = x && y ? call_new(a, fn, type, cls, x->at, 2) : NULL;
    if (!e) return NULL;
    e->args[0] = x;
    e->args[1] = y;
    return e;
}

bexpr *expr_select(arena *a, bexpr *is, bexpr *x, bexpr *y, span at)
{
    bexpr *e =
        is && x && y ? call_new(a, FN_SELECT, x->type, type_class(x->type), at, 3) : NULL;
    if (!e) return NULL;
    e->args[0] = is;
    e->args[1] = x;
    e->args[2] = y;
    return e;
}

bexpr *expr_access(arena *a, const program *p, int slot, affine *sub, span at)
{
    bexpr *e = expr_new(a, B_ACCESS, p->tensor[slot].type, at, 0);
    if (!e) return NULL;
    e->tensor = slot;
    e->sub = sub;
    return e;
}

bexpr *expr_const(arena *a, stc_type type, value v, span at)
{
    bexpr *e = expr_new(a, B_CONST, type, at, 0);
    if (e) e->value = v;
    return e;
}

bexpr *expr_int(arena *a, int64_t k, span at)
{
    return expr_const(a, STC_I64, (value){.i64 = k}, at);
}

bexpr *expr_index(arena *a, int index, span at)
{
    bexpr *e = expr_new(a, B_INDEX, STC_I64, at, 0);
    if (e) e->index = index;
    return e;
}

bexpr *expr_extent(arena *a, int id, span at)
{
    bexpr *e = expr_new(a, B_EXTENT, STC_I64, at, 0);
    if (e) e->index = id;
    return e;
}

affine *bare_subs(arena *a, const int *index, int n)
{
    affine *sub = arena_array(a, n ? n : 1, sizeof *sub);
    for (int k = 0; sub && k < n; k++)
        sub[k] = affine_at(index[k]);
    return sub;
}

const ast *ast_reduction(const ast *e)
{
    if (!e || e->kind == N_REDUCE) return e;
    const ast *found = NULL;
    for (int k = 0; k < e->count && !found; k++)
        found = ast_reduction(e->child[k]);
    return found;
}

bexpr *expr_reading(bexpr *e, int slot)
{
    bexpr *found = e->kind == B_ACCESS && e->tensor == slot ? e : NULL;
    for (int k = 0; k < e->nargs && !found; k++)
        found = expr_reading(e->args[k], slot);
    return found;
}

const bexpr *expr_reduction(const bexpr *e)
{
    const bexpr *found = e->kind == B_REDUCE ? e : NULL;
    for (int k = 0; k < e->nargs && !found; k++)
        found = expr_reduction(e->args[k]);
    return found;
}

uint64_t reduce_indices(const bexpr *r)
{
    uint64_t set = 0;
    for (int k = 0; k < r->nindex; k++)
        set |= UINT64_C(1) << r->indices[k];
    return set;
}
