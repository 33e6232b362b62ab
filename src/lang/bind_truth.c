/* bind_truth.c: sums and products of truth values of which only the truth is asked.
 *
 * `bool(sum(j: A(i,j) * X(j,k)))` and `… > 0` count, in 64 bits, what is then compared
 * with 0. Where all terms are truth values the count is above 0 if any of them is true:
 * `any(j: A(i,j) && X(j,k))` says the same, ends a sum at its first true term, and is a
 * semiring that the engine has (or, and). Counts can't wrap: there aren't 2^63 terms.
 */
#include "bind.h"

/* e as a truth value, if e is nothing but 0 or 1; else NULL. */
static bexpr *unit(binder *b, bexpr *e)
{
    if (e->kind == B_CONV && !type_is_float(e->type) && !type_is_complex(e->type))
        return unit(b, e->args[0]);
    if (e->kind != B_CALL || e->fn != FN_MUL)
        return e->type == STC_BOOL && e->kind != B_CONST ? e : NULL;
    bexpr *args[2] = {unit(b, e->args[0]), unit(b, e->args[1])};
    return args[0] && args[1] ? bind_call(b, e->at, FN_AND, args, 2) : NULL;
}

/* Whether a count of truth values isn't 0; NULL: e is something else. */
static bexpr *counted(binder *b, bexpr *e)
{
    if (e->kind == B_CALL && e->fn == FN_ADD) {
        bexpr *args[2] = {counted(b, e->args[0]), counted(b, e->args[1])};
        return args[0] && args[1] ? bind_call(b, e->at, FN_OR, args, 2) : NULL;
    }
    if (e->kind != B_REDUCE || e->ufn || e->fn != FN_ADD) return unit(b, e);
    bexpr *const any = unit(b, e->args[0]);
    return any ? bind_reduce(b, e->at, FN_OR, NULL, e->indices, e->nindex, any) : NULL;
}

bexpr *bind_truth(binder *b, bexpr *e)
{
    if (e->fn != FN_NE && e->fn != FN_GT) return e;
    const bexpr *const zero = e->args[1];
    if (zero->kind != B_CONST || !class_is_zero(e->cls, zero->value) ||
        e->cls > CLASS_U64 || expr_may_fault(e->args[0]))
        return e;
    bexpr *const truth = counted(b, e->args[0]);
    return truth ? truth : e;
}
