/* active.c: which parts of a statement depend on what derivatives are asked by, through
 * functions that aren't constant; and which of those have no derivative, as an error that
 * names them and their place.
 *
 * Truth values and integers never depend: a comparison is constant wherever it is smooth.
 * What makes an integer of a real number that depends has no derivative.
 */
#include "inside.h"

#include <string.h>

adjoint *adjoint_find(const grad *g, const char *of)
{
    adjoint *a = g->adjoint;
    while (a && strcmp(a->of, of))
        a = a->next;
    return a;
}

static bool of_real(grad *g, const bexpr *e, const char *what)
{
    if (!type_is_complex(e->type)) return true;
    grad_refuse(g, e->at, "%s is complex (%s); there are derivatives of real numbers only",
                what, type_name(e->type));
    return false;
}

/* A call one of whose arguments depends. */
static bool call_active(grad *g, bexpr *e)
{
    const char *const name = e->kind == B_USER      ? e->ufn->name
                             : fn_at(e->fn)->symbol ? fn_at(e->fn)->symbol
                                                    : fn_at(e->fn)->name;
    bool active = false;
    if (e->type == STC_BOOL && e->kind == B_USER) return false;
    if (e->kind == B_USER && !type_is_float(e->type))
        return grad_refuse(g, e->at, "`%s` gives integers (%s), and has no derivative",
                           name, type_name(e->type));
    for (int k = 0; k < e->nargs; k++) {
        const ast *own;
        if (!is_active(e->args[k])) continue;
        const char *const rule = rule_of(g, e, k, &own);
        if (!rule) return false;
        if (!*rule && !own)
            return grad_refuse(g, e->at,
                               "`%s` has no derivative%s, and what is asked for goes "
                               "through it",
                               name,
                               fn_at(e->fn)->arity > 1 && fn_derivative(e->fn, 1 - k)[0]
                                   ? " by this operand"
                                   : "");
        active |= own || strcmp(rule, "0");
    }
    return active && of_real(g, e, name);
}

static bool conv_active(grad *g, bexpr *e)
{
    if (e->type == STC_BOOL || !of_real(g, e, "what this becomes")) return false;
    if (type_is_float(e->type)) return true;
    return grad_refuse(g, e->at, "this becomes an integer (%s), which has no derivative",
                       type_name(e->type));
}

static bool reduce_active(grad *g, bexpr *e)
{
    if (e->type == STC_BOOL) return false;
    if (!e->ufn) switch (e->fn) {
        case FN_ADD:
        case FN_MUL:
        case FN_MIN:
        case FN_MAX:
        case FN_FMIN:
        case FN_FMAX:
            return of_real(g, e, "this");
        default:
            break;
        }
    return grad_refuse(g, e->at,
                       "a reduction by `%s` has no derivative; those by sum, prod, min and "
                       "max have one",
                       bound_reducer(e));
}

/* Marks what depends in e; whether e does. */
bool active_mark(grad *g, bexpr *e)
{
    bool some = false, active = false;
    for (int k = 0; k < e->nargs; k++)
        some |= active_mark(g, e->args[k]);
    if (g->failed) return false;
    switch (e->kind) {
    case B_ACCESS:
        active = adjoint_find(g, value_tensor(g, e->tensor)) != NULL &&
                 of_real(g, e, value_tensor(g, e->tensor));
        break;
    case B_CALL:
    case B_USER:
        active = some && call_active(g, e);
        break;
    case B_CONV:
        active = some && conv_active(g, e);
        break;
    case B_REDUCE:
        active = some && reduce_active(g, e);
        break;
    default:
        break;
    }
    if (active)
        e->mark |= ACTIVE;
    else
        e->mark &= ~ACTIVE;
    return active;
}
