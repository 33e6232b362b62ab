/* expr.c: making nodes of typed expressions, for rewrites by the planner. */
#include "build.h"

bexpr *expr_new(plan *pl, bkind kind, stc_type type, span at, int nargs)
{
    bexpr *e = arena_alloc(pl->a, sizeof *e);
    if (!e) return NULL;
    e->kind = kind;
    e->type = type;
    e->at = at;
    e->nargs = nargs;
    e->fn = e->mark = -1;
    if (nargs) e->args = arena_array(pl->a, nargs, sizeof *e->args);
    return nargs && !e->args ? NULL : e;
}

bexpr *expr_like(plan *pl, const bexpr *e)
{
    bexpr *const same = expr_new(pl, e->kind, e->type, e->at, e->nargs);
    if (!same) return NULL;
    bexpr **const args = same->args;
    *same = *e;
    same->args = args;
    same->memo = NULL;
    return same;
}

bexpr *expr_copy(plan *pl, const bexpr *e)
{
    bexpr *const same = expr_like(pl, e);
    for (int k = 0; same && k < e->nargs; k++)
        if (!(same->args[k] = expr_copy(pl, e->args[k]))) return NULL;
    return same;
}

bexpr *expr_conv(plan *pl, bexpr *x, stc_type type)
{
    if (!x || x->type == type) return x;
    bexpr *e = expr_new(pl, B_CONV, type, x->at, 1);
    if (e) e->args[0] = x;
    return e;
}

static bexpr *call_new(plan *pl, int fn, stc_type type, vclass cls, span at, int nargs)
{
    bexpr *e = expr_new(pl, B_CALL, type, at, nargs);
    if (!e) return NULL;
    e->fn = fn;
    e->cls = cls;
    return e;
}

bexpr *expr_call1(plan *pl, int fn, stc_type type, vclass cls, bexpr *a)
{
    bexpr *e = a ? call_new(pl, fn, type, cls, a->at, 1) : NULL;
    if (e) e->args[0] = a;
    return e;
}

bexpr *expr_call(plan *pl, int fn, stc_type type, vclass cls, bexpr *a, bexpr *b)
{
    bexpr *e = a && b ? call_new(pl, fn, type, cls, a->at, 2) : NULL;
    if (!e) return NULL;
    e->args[0] = a;
    e->args[1] = b;
    return e;
}

bexpr *expr_access(plan *pl, int slot, affine *sub, span at)
{
    bexpr *e = expr_new(pl, B_ACCESS, pl->p->tensor[slot].type, at, 0);
    if (!e) return NULL;
    e->tensor = slot;
    e->sub = sub;
    return e;
}

bexpr *expr_int(plan *pl, int64_t k, span at)
{
    bexpr *e = expr_new(pl, B_CONST, STC_I64, at, 0);
    if (e) e->value.i64 = k;
    return e;
}

bexpr *expr_index(plan *pl, int index, span at)
{
    bexpr *e = expr_new(pl, B_INDEX, STC_I64, at, 0);
    if (e) e->index = index;
    return e;
}

affine *bare_subs(plan *pl, const int *index, int n)
{
    affine *sub = arena_array(pl->a, n ? n : 1, sizeof *sub);
    for (int k = 0; sub && k < n; k++)
        sub[k] = (affine){.terms = 1, .term = {{index[k], 1}}};
    return sub;
}

bexpr *expr_chosen(plan *pl, bexpr *mask, bexpr *e)
{
    const stc_type t = pl->p->tensor[pl->s->target].type;
    bexpr *const new = expr_conv(pl, e, t);
    bexpr *const old = expr_access(pl, pl->s->target, pl->s->sub, pl->s->at);
    bexpr *const one = expr_new(pl, B_CALL, t, pl->s->at, 3);
    if (!new || !old || !one) return NULL;
    one->fn = FN_SELECT;
    one->cls = type_class(t);
    one->args[0] = mask;
    one->args[1] = new;
    one->args[2] = old;
    expr_note_waits(one);
    return one;
}
