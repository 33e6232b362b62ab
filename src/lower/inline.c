/* inline.c: a user's function as straight-line code in the place of its call.
 *
 * A function that doesn't loop and can't fault is a tree of choices: each IF
 * becomes a select between what follows on either side. Then loops that call
 * it stay straight, and run a strip at a time. What would get long (the code
 * behind an IF is written out twice) stays a call, as do loops and faults.
 */
#include "lower.h"
#include <string.h>

enum { INLINE_MAX = 64, INLINE_LOCALS = 32 };

/* What comes after the statements at hand. */
typedef struct rest {
    const fstmt *s;
    const struct rest *up;
} rest;

static int cost_of_list(const fstmt *s, const rest *up, int left);

/* What is left of the budget; negative: too long, or not to be inlined. */
static int cost_of_expr(const bexpr *e, int left)
{
    if (expr_call_faults(e)) return -1;
    if (e->kind == B_REDUCE || e->kind == B_ACCESS) return -1;
    left -= e->kind != B_LOCAL;
    if (e->kind == B_USER)
        left = e->ufn->host || e->ufn->nlocals > INLINE_LOCALS
                   ? -1
                   : cost_of_list(e->ufn->code, NULL, left);
    for (int k = 0; k < e->nargs && left >= 0; k++)
        left = cost_of_expr(e->args[k], left);
    return left;
}

static int cost_of_list(const fstmt *s, const rest *up, int left)
{
    if (left < 0) return -1;
    if (!s) return up ? cost_of_list(up->s, up->up, left) : -1;
    const rest after = {s->next, up};
    switch (s->op) {
    case F_SET:
        return cost_of_list(s->next, up, cost_of_expr(s->value, left));
    case F_RETURN:
        return cost_of_expr(s->value, left);
    case F_IF:
        left = cost_of_list(s->body, &after, cost_of_expr(s->value, left - 1));
        return cost_of_list(s->other, &after, left);
    default:
        return -1;
    }
}

bool inline_fits(const bfunction *f)
{
    return !f->host && f->nlocals <= INLINE_LOCALS &&
           cost_of_list(f->code, NULL, INLINE_MAX) >= 0;
}

static int inline_list(lowering *lo, const bfunction *f, const fstmt *s, const rest *up)
{
    if (!s) return inline_list(lo, f, up->s, up->up);
    const rest after = {s->next, up};
    if (s->op == F_RETURN) return lower_expr(lo, s->value);
    if (s->op == F_SET) {
        const int r = lower_expr(lo, s->value), before = lo->local[s->local];
        lo->local[s->local] = r;
        const int out = inline_list(lo, f, s->next, up);
        lo->local[s->local] = before;
        return out;
    }
    const int c = lower_expr(lo, s->value);
    const int yes = inline_list(lo, f, s->body, &after);
    const int no = inline_list(lo, f, s->other, &after), out = lower_vreg(lo);
    EMIT(lo, OP_FN3, out, FN_SELECT, type_class(f->result), c, yes, no);
    return out;
}

int lower_inline(lowering *lo, const bfunction *f, const int *args)
{
    int local[INLINE_LOCALS] = {0}, *const outer = lo->local;
    const bool in_function = lo->in_function, on_fills = lo->on_fills;
    memcpy(local, args, (size_t)f->nparams * sizeof *local);
    lo->local = local;
    lo->in_function = true; /* its places are in the text of the definition */
    lo->on_fills = false;
    const int out = inline_list(lo, f, f->code, NULL);
    lo->local = outer;
    lo->in_function = in_function;
    lo->on_fills = on_fills;
    return out;
}

int inline_builtin(const bfunction *f, vclass cls)
{
    const bexpr *e = !f->host && f->code->op == F_RETURN ? f->code->value : NULL;
    if (!e || e->kind != B_CALL || e->nargs != 2 || f->nparams != 2 || e->cls != cls)
        return -1;
    for (int k = 0; k < 2; k++)
        if (e->args[k]->kind != B_LOCAL || e->args[k]->index != k) return -1;
    return e->fn;
}
