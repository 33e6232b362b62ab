/* expr.c: scalar expressions to value instructions.
 *
 * Every access is loaded once per block; an absent one loads its fill. The
 * sides of `&&`, `||` and `select` are evaluated only where taken if they could
 * fault or not return; otherwise straight-line code is faster and the same. Divisions and
 * powers stay in it: where their side isn't taken, they are by 1, and can't fault.
 */
#include "lower.h"

/* Something in e may be read outside of its tensor, or is a call, and is evaluated here. */
static bool better_skipped(const lowering *lo, const bexpr *e)
{
    if (e->kind == B_REDUCE && !lo->on_fills) return lo->lazy[e->mark].node;
    if ((e->kind == B_ACCESS && lower_may_leave(lo, e)) || (e->ufn && !inline_fits(e->ufn)))
        return true;
    for (int k = 0; k < e->nargs; k++)
        if (better_skipped(lo, e->args[k])) return true;
    return false;
}

static int lower_constant(lowering *lo, vclass cls, value v)
{
    int r = lower_vreg(lo);
    EMIT(lo, OP_CONST, r, lower_const(lo, cls, v));
    return r;
}

static int lower_access(lowering *lo, const bexpr *e)
{
    const paccess *x = &lo->pl->access[e->mark];
    const prog_tensor *t = &lo->p->tensor[x->tensor];
    const precomputed *p = precompute_of(lo->pl, e->tensor);
    if (lo->on_fills && p) return lower_expr(lo, p->whole);
    if (lo->on_fills && !t->fill_later)
        return lower_constant(lo, type_class(t->type), t->fill);
    if (lo->load[e->mark] >= 0 && !lo->on_fills) return lo->load[e->mark];
    if (e->nargs && !lo->on_fills && !lo->ahead) lower_taken(lo, e);
    int r = lower_vreg(lo), at = x->levels ? lo->cursor[e->mark][x->levels - 1] : ROOT;
    if (lo->on_fills && x->levels) { /* coordinate -1 is stored nowhere */
        int i = lower_ireg(lo);
        at = lower_creg(lo);
        EMIT(lo, OP_ICONST, i, lower_iconst(lo, -1));
        int up = ROOT;
        for (int l = 0; l < x->levels; l++) {
            EMIT(lo, OP_LOCATE, at, x->tensor, l, up, i);
            up = at;
            if (l + 1 < x->levels) at = lower_creg(lo);
        }
    }
    EMIT(lo, OP_LOAD, r, x->tensor, at);
    if (!lo->on_fills) lo->load[e->mark] = r;
    return r;
}

static int lower_truth(lowering *lo, stc_type type, int r)
{
    vclass cls = type_class(type);
    int out = lower_vreg(lo), zero = lower_constant(lo, cls, (value){0});
    EMIT(lo, OP_FN2, out, FN_NE, cls, r, zero);
    return out;
}

static int lower_conv(lowering *lo, const bexpr *e)
{
    stc_type from = e->args[0]->type;
    vclass to = type_class(e->type), cls = type_class(from);
    int r = lower_expr(lo, e->args[0]);
    if (e->type == STC_BOOL) return from == STC_BOOL ? r : lower_truth(lo, from, r);
    if (to == cls) return r;
    int out = lower_vreg(lo);
    EMIT(lo, OP_CONV, out, to, cls, r);
    return out;
}

/* One side of a conditional: what it loads is known only inside it. */
static void lower_branch(lowering *lo, const bexpr *e, int out)
{
    int saved[PLAN_ACCESSES];
    for (int k = 0; k < lo->pl->naccess; k++)
        saved[k] = lo->load[k];
    EMIT(lo, OP_MOV, out, lower_expr(lo, e));
    for (int k = 0; k < lo->pl->naccess; k++)
        lo->load[k] = saved[k];
}

static int lower_conditional(lowering *lo, const bexpr *e)
{
    int out = lower_vreg(lo), cond = lower_expr(lo, e->args[0]);
    value taken = {.i64 = e->fn == FN_OR};
    EMIT(lo, OP_IF, cond);
    if (e->fn == FN_OR)
        EMIT(lo, OP_CONST, out, lower_const(lo, CLASS_I64, taken));
    else
        lower_branch(lo, e->args[1], out);
    EMIT(lo, OP_ELSE, );
    if (e->fn == FN_AND)
        EMIT(lo, OP_CONST, out, lower_const(lo, CLASS_I64, taken));
    else
        lower_branch(lo, e->args[e->fn == FN_SELECT ? 2 : 1], out);
    EMIT(lo, OP_ENDIF, );
    return out;
}

/* Some call in e, evaluated here, may fault by its second operand. */
static bool call_faults_in(const bexpr *e)
{
    if (e->kind == B_CALL && expr_call_faults(e)) return true;
    for (int k = 0; k < e->nargs && e->kind != B_REDUCE; k++)
        if (call_faults_in(e->args[k])) return true;
    return false;
}

/* Where side k of a choice by `is` is taken, and what it stands in. */
static int lower_taken_where(lowering *lo, const bexpr *e, int k, int is)
{
    const int outer = lo->taken;
    int here = is;
    if (e->fn == FN_OR || (e->fn == FN_SELECT && k == 2)) {
        here = lower_vreg(lo);
        EMIT(lo, OP_FN2, here, FN_EQ, CLASS_I64, is,
             lower_constant(lo, CLASS_I64, (value){0}));
    }
    if (outer < 0) return here;
    const int both = lower_vreg(lo);
    EMIT(lo, OP_FN2, both, FN_AND, CLASS_I64, outer, here);
    return both;
}

static int lower_call(lowering *lo, const bexpr *e)
{
    for (int k = 0; k < e->nargs; k++)
        if (expr_side_waits(e, k) && better_skipped(lo, e->args[k]))
            return lower_conditional(lo, e);
    int r[3] = {0};
    for (int k = 0; k < e->nargs; k++) {
        const int outer = lo->taken;
        if (expr_side_waits(e, k) && call_faults_in(e->args[k]))
            lo->taken = lower_taken_where(lo, e, k, r[0]);
        r[k] = lower_expr(lo, e->args[k]);
        lo->taken = outer;
    }
    if (lo->taken >= 0 && expr_call_faults(e)) {
        const int one = lower_constant(lo, e->cls, (value){.i64 = 1}), by = r[1];
        r[1] = lower_vreg(lo);
        EMIT(lo, OP_FN3, r[1], FN_SELECT, e->cls, lo->taken, by, one);
    }
    int out = lower_vreg(lo);
    if (e->nargs == 1)
        EMIT(lo, OP_FN1, out, e->fn, e->cls, r[0]);
    else if (e->nargs == 2)
        EMIT(lo, OP_FN2, out, e->fn, e->cls, r[0], r[1]);
    else
        EMIT(lo, OP_FN3, out, e->fn, e->cls, r[0], r[1], r[2]);
    return out;
}

/* v, or the identity in its own type where an extent is zero. */
static int lower_unless_empty(lowering *lo, const bexpr *e, int v, int ext)
{
    value id;
    if (!fn_identity(e->fn, e->cls, e->type, &id)) return v;
    int n = lower_vreg(lo), some = lower_vreg(lo), out = lower_vreg(lo);
    EMIT(lo, OP_EXTENT, n, ext);
    EMIT(lo, OP_FN2, some, FN_GT, CLASS_I64, n, lower_constant(lo, CLASS_I64, (value){0}));
    EMIT(lo, OP_FN3, out, FN_SELECT, e->cls, some, v, lower_constant(lo, e->cls, id));
    return out;
}

static int lower_folded(lowering *lo, const bexpr *e)
{
    int r = lower_expr(lo, e->args[0]);
    if (e->ufn) return lower_repeated(lo, e, r);
    for (int k = 0; k < e->nindex; k++) {
        int out = lower_vreg(lo), ext = lower_extent_length(lo, e->indices[k]);
        EMIT(lo, OP_FOLD, out, e->fn, e->cls, r, ext);
        r = lower_unless_empty(lo, e, out, ext);
    }
    return r;
}

int lower_expr(lowering *lo, const bexpr *e)
{
    span saved = lo->at;
    int r = 0;
    if (lo->on_fills && e->kind != B_CONST) { /* what properties settle isn't evaluated */
        fillval f = expr_fill(lo->pl, e);
        if (f.kind == FILL_KNOWN) return lower_constant(lo, type_class(e->type), f.v);
        if (e->kind == B_CALL && e->fn == FN_SELECT) {
            f = expr_fill(lo->pl, e->args[0]);
            if (f.kind == FILL_KNOWN) return lower_expr(lo, e->args[f.v.i64 ? 1 : 2]);
        }
    }
    if (e->at.end > e->at.begin && !lo->in_function) lo->at = e->at;
    switch (e->kind) {
    case B_CONST:
        r = lower_constant(lo, type_class(e->type), e->value);
        break;
    case B_ACCESS:
        r = lower_access(lo, e);
        break;
    case B_INDEX:
        r = lower_vreg(lo);
        EMIT(lo, OP_IVALUE, r, lo->index[e->index]);
        break;
    case B_LOCAL:
        r = lo->local ? lo->local[e->index] : e->index;
        break;
    case B_EXTENT:
        r = lower_vreg(lo);
        EMIT(lo, OP_EXTENT, r, e->index);
        break;
    case B_CONV:
        r = lower_conv(lo, e);
        break;
    case B_CALL:
        r = lower_call(lo, e);
        break;
    case B_REDUCE:
        r = lo->on_fills ? lower_folded(lo, e) : lower_demanded(lo, e);
        break;
    case B_USER:
        r = lower_user(lo, e);
        break;
    }
    lo->at = saved;
    return r;
}

int lower_fill(lowering *lo, const bexpr *e)
{
    lo->on_fills = true;
    int r = lower_expr(lo, e);
    lo->on_fills = false;
    return r;
}
