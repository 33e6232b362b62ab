/* faults.c: whether evaluating an expression could fail, or not return.
 *
 * The sides of `select`, `&&` and `||` that aren't taken aren't evaluated
 * (language.md). Where evaluating one anyway could be noticed, it has to wait until
 * it is known to be taken: integer divisions and powers, user's functions that loop
 * or that the host brings, reductions over nothing that have no identity, and accesses at
 * computed subscripts, which may lie outside. All else may be computed ahead, and is:
 * straight-line code is faster.
 */
#include "lang.h"

static bool built_in_faults(int fn, vclass cls)
{
    return (fn_at(fn)->flags & FP_FAULTS) && (cls == CLASS_I64 || cls == CLASS_U64);
}

bool expr_call_faults(const bexpr *e)
{
    if (e->kind == B_ACCESS) return e->nargs && !e->pad;
    if (e->kind != B_CALL || !built_in_faults(e->fn, e->cls)) return false;
    const bexpr *by = e->args[1];
    return by->kind != B_CONST || by->value.i64 <= 0; /* a divisor, or an exponent */
}

static bool statements_may_fault(const fstmt *s)
{
    for (; s; s = s->next)
        if (s->op == F_WHILE || (s->value && expr_may_fault(s->value)) ||
            statements_may_fault(s->body) || statements_may_fault(s->other))
            return true;
    return false;
}

static bool function_may_fault(const bfunction *f)
{
    return f->host || statements_may_fault(f->code);
}

bool expr_itself_faults(const bexpr *e)
{
    value id;
    return (e->ufn && function_may_fault(e->ufn)) || expr_call_faults(e) ||
           (e->kind == B_REDUCE &&
            (!reduce_identity(e, &id) || (!e->ufn && built_in_faults(e->fn, e->cls))));
}

bool expr_may_fault(const bexpr *e)
{
    if (expr_itself_faults(e)) return true;
    for (int k = 0; k < e->nargs; k++)
        if (expr_may_fault(e->args[k])) return true;
    return false;
}

bool expr_side_waits(const bexpr *e, int side)
{
    const bool chooses =
        e->kind == B_CALL && (e->fn == FN_AND || e->fn == FN_OR || e->fn == FN_SELECT);
    return chooses && side > 0;
}

static void note_waiting(bexpr *e)
{
    if (e->kind == B_ACCESS) e->waits = true;
    for (int k = 0; k < e->nargs; k++)
        note_waiting(e->args[k]);
}

void expr_note_waits(bexpr *e)
{
    for (int k = 0; k < e->nargs; k++)
        if (expr_side_waits(e, k)) note_waiting(e->args[k]);
}

bool expr_has(const bexpr *e, bkind kind)
{
    if (e->kind == kind) return true;
    for (int k = 0; k < e->nargs; k++)
        if (expr_has(e->args[k], kind)) return true;
    return false;
}

bool expr_gathers(const bexpr *e)
{
    if (e->kind == B_ACCESS && e->nargs) return true;
    for (int k = 0; k < e->nargs; k++)
        if (expr_gathers(e->args[k])) return true;
    return false;
}
