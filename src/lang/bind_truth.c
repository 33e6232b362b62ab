/* bind_truth.c: sums and products of truth values of which only the truth is asked.
 *
 * `bool(sum(j: A(i,j) * X(j,k)))` and `… > 0` count, in 64 bits, what is then compared
 * with 0. Where all terms are truth values the count is above 0 if any of them is true:
 * `any(j: A(i,j) && X(j,k))` says the same, ends a sum at its first true term, and is a
 * semiring that the engine has (or, and). Counts can't wrap: there aren't 2^63 terms; a
 * float that counts isn't 0 either. The same may be said by `0 < …`, `… >= 1`, `… == 0` and
 * so on; of what is 0 or 1, not a count, by `… == 1`, too.
 */
#include "bind.h"

/* e as a truth value, if e is nothing but 0 or 1; else NULL. */
static bexpr *unit(binder *b, bexpr *e)
{
    if (e->kind == B_CONV && !type_is_complex(e->type)) return unit(b, e->args[0]);
    if (e->kind != B_CALL || e->fn != FN_MUL)
        return e->type == STC_BOOL && e->kind != B_CONST ? e : NULL;
    bexpr *args[2] = {unit(b, e->args[0]), unit(b, e->args[1])};
    return args[0] && args[1] ? bind_call(b, e->at, FN_AND, args, 2) : NULL;
}

/* Whether a count of truth values isn't 0; NULL: e is something else. */
static bexpr *counted(binder *b, bexpr *e)
{
    if (e->kind == B_CONV && type_is_float(e->type)) return counted(b, e->args[0]);
    if (e->kind == B_CALL && e->fn == FN_ADD) {
        bexpr *args[2] = {counted(b, e->args[0]), counted(b, e->args[1])};
        return args[0] && args[1] ? bind_call(b, e->at, FN_OR, args, 2) : NULL;
    }
    if (e->kind != B_REDUCE || e->ufn || e->fn != FN_ADD) return unit(b, e);
    bexpr *const any = unit(b, e->args[0]);
    return any ? bind_reduce(b, e->at, FN_OR, NULL, e->indices, e->nindex, any) : NULL;
}

static bool has_count(const bexpr *e)
{
    while (e->kind == B_CONV)
        e = e->args[0];
    return e->kind == B_REDUCE || (e->kind == B_CALL && e->fn == FN_ADD &&
                                   (has_count(e->args[0]) || has_count(e->args[1])));
}

enum { ASKS_NOTHING, ASKS_SOME, ASKS_NONE };

/* What the comparison of a count, or of 0 or 1, with a constant asks. */
static int asks(int fn, vclass cls, value k, bool count)
{
    const value one = class_convert(cls, CLASS_I64, (value){.i64 = 1});
    if (class_is_zero(cls, k))
        return fn == FN_NE || fn == FN_GT   ? ASKS_SOME
               : fn == FN_EQ || fn == FN_LE ? ASKS_NONE
                                            : ASKS_NOTHING;
    if (!class_equal(cls, k, one)) return ASKS_NOTHING;
    if (fn == FN_GE || (fn == FN_EQ && !count)) return ASKS_SOME;
    return fn == FN_LT || (fn == FN_NE && !count) ? ASKS_NONE : ASKS_NOTHING;
}

bexpr *bind_truth(binder *b, bexpr *e)
{
    if (fn_at(e->fn)->typing != TY_COMPARE || e->cls > CLASS_F64) return e;
    const int side = e->args[0]->kind == B_CONST; /* where what is compared stands */
    bexpr *const of = e->args[side];
    const bexpr *const k = e->args[1 - side];
    if (k->kind != B_CONST || of->kind == B_CONST || expr_may_fault(of)) return e;
    const bool count = has_count(of);
    const int asked = asks(side ? fn_turned(e->fn) : e->fn, e->cls, k->value, count);
    if (asked == ASKS_NOTHING || (asked == ASKS_NONE && !count)) return e;
    bexpr *truth = counted(b, of);
    if (truth && asked == ASKS_NONE) truth = bind_call(b, e->at, FN_NOT, &truth, 1);
    return truth ? truth : e;
}
