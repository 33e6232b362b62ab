/* function.c: a user's functions to bytecode, and calls of them.
 *
 * A function is a stretch of code of its own, with its own value registers:
 * parameters arrive in the first ones, variables follow. It is lowered when a
 * statement first calls it, in front of the statement's own code. A function of
 * the host's has no code, only its row.
 *
 *     while (c) { … continue … }      while
 *                                       …c…  test
 *                                       while            only if there is a
 *                                         …body…          `continue`: it breaks
 *                                         break true, 1   out of this one
 *                                       endwhile
 *                                       …step…
 *                                     endwhile
 */
#include "lower.h"

static void lower_body(lowering *lo, const fstmt *s, int to_break);

static int true_register(lowering *lo)
{
    int r = lower_vreg(lo);
    EMIT(lo, OP_CONST, r, lower_iconst(lo, 1));
    return r;
}

static bool has_continue(const fstmt *s)
{
    for (; s; s = s->next) {
        if (s->op == F_CONTINUE) return true;
        if (s->op == F_IF && (has_continue(s->body) || has_continue(s->other))) return true;
    }
    return false;
}

static void lower_while(lowering *lo, const fstmt *s)
{
    bool once = has_continue(s->body);
    EMIT(lo, OP_WHILE, );
    EMIT(lo, OP_TEST, lower_expr(lo, s->value));
    if (once) EMIT(lo, OP_WHILE, );
    lower_body(lo, s->body, once ? 2 : 1);
    if (once) {
        EMIT(lo, OP_BREAK, true_register(lo), 1);
        EMIT(lo, OP_ENDWHILE, );
    }
    lower_body(lo, s->other, 1);
    EMIT(lo, OP_ENDWHILE, );
}

static void lower_if(lowering *lo, const fstmt *s, int to_break)
{
    EMIT(lo, OP_IF, lower_expr(lo, s->value));
    lower_body(lo, s->body, to_break);
    if (s->other) {
        EMIT(lo, OP_ELSE, );
        lower_body(lo, s->other, to_break);
    }
    EMIT(lo, OP_ENDIF, );
}

/* to_break: how many loops of the bytecode a `break` leaves. */
static void lower_body(lowering *lo, const fstmt *s, int to_break)
{
    for (; s && !lo->status; s = s->next) {
        switch (s->op) {
        case F_SET:
            EMIT(lo, OP_MOV, s->local, lower_expr(lo, s->value));
            break;
        case F_IF:
            lower_if(lo, s, to_break);
            break;
        case F_WHILE:
            lower_while(lo, s);
            break;
        case F_BREAK:
            EMIT(lo, OP_BREAK, true_register(lo), to_break);
            break;
        case F_CONTINUE:
            EMIT(lo, OP_BREAK, true_register(lo), 1);
            break;
        case F_RETURN:
            EMIT(lo, OP_RETURN, lower_expr(lo, s->value));
            break;
        }
    }
}

/* ---- functions of an expression ------------------------------------------------- */

static void lower_functions_of(lowering *lo, const fstmt *s)
{
    for (; s; s = s->next) {
        if (s->value) lower_functions(lo, s->value);
        lower_functions_of(lo, s->body);
        lower_functions_of(lo, s->other);
    }
}

/* Every path has returned by now, but the verifier sees that only of code that
 * ends with a return. */
static void lower_last_return(lowering *lo, vclass cls)
{
    int r = lower_vreg(lo);
    EMIT(lo, OP_CONST, r, lower_const(lo, cls, (value){0}));
    EMIT(lo, OP_RETURN, r);
}

static void enter_function(lowering *lo, bfunction *f, const user_fn *u)
{
    if (lo->status) return;
    f->id = program_fn(lo->p, u);
    if (f->id < 0) lo->status = STC_ERR_MEMORY;
}

static user_fn function_row(const lowering *lo, const bfunction *f)
{
    user_fn u = {.name = (char *)(uintptr_t)f->name,
                 .host = f->host != NULL,
                 .params = (uint16_t)f->nparams,
                 .result = (uint8_t)type_class(f->result),
                 .nv = (uint16_t)f->nparams,
                 .begin = (uint32_t)lo->p->ncode,
                 .end = (uint32_t)lo->p->ncode};
    for (int k = 0; k < f->nparams; k++)
        u.cls[k] = (uint8_t)type_class(f->param[k]);
    return u;
}

static void lower_function(lowering *lo, bfunction *f)
{
    lower_functions_of(lo, f->code); /* what it calls comes first */
    user_fn u = function_row(lo, f);
    if (f->host) {
        enter_function(lo, f, &u);
        return;
    }
    int saved = lo->nv;
    span at = lo->at;
    lo->nv = f->nlocals;
    lo->in_function = true;
    lower_body(lo, f->code, 1);
    lower_last_return(lo, type_class(f->result));
    lo->in_function = false;
    u.end = (uint32_t)lo->p->ncode;
    u.nv = (uint16_t)lo->nv;
    lo->nv = saved;
    lo->at = at;
    enter_function(lo, f, &u);
}

void lower_functions(lowering *lo, const bexpr *e)
{
    if (e->ufn && e->ufn->id < 0 && !lo->status && !inline_fits(e->ufn))
        lower_function(lo, e->ufn);
    for (int k = 0; k < e->nargs; k++)
        lower_functions(lo, e->args[k]);
}

/* What workspaces merge by is called, be it ever so short. */
void lower_merging(lowering *lo, const cin *c)
{
    for (; c; c = c->next) {
        if (c->body) lower_merging(lo, c->body);
        if (c->kind == CIN_WSADD && c->ufn && c->ufn->id < 0 && !lo->status &&
            inline_builtin(c->ufn, c->cls) < 0)
            lower_function(lo, c->ufn);
    }
}

/* ---- calls ------------------------------------------------------------------------- */

static void lower_apply(lowering *lo, const bfunction *f, int out, const int *args)
{
    int first = 0;
    if (inline_fits(f)) {
        EMIT(lo, OP_MOV, out, lower_inline(lo, f, args));
        return;
    }
    for (int k = 0; k < f->nparams; k++) {
        int r = lower_vreg(lo);
        if (!k) first = r;
        EMIT(lo, OP_MOV, r, args[k]);
    }
    EMIT(lo, OP_CALL, out, f->id, first, f->nparams);
}

int lower_user(lowering *lo, const bexpr *e)
{
    int args[8] = {0}, out;
    for (int k = 0; k < e->nargs && k < 8; k++)
        args[k] = lower_expr(lo, e->args[k]);
    if (inline_fits(e->ufn)) return lower_inline(lo, e->ufn, args);
    out = lower_vreg(lo);
    lower_apply(lo, e->ufn, out, args);
    return out;
}

/* acc = f(acc, v) */
void lower_combine(lowering *lo, int fn, const bfunction *ufn, vclass cls, int acc, int v)
{
    if (ufn) fn = inline_builtin(ufn, cls);
    if (fn < 0)
        lower_apply(lo, ufn, acc, (int[]){acc, v});
    else
        EMIT(lo, OP_FN2, acc, fn, cls, acc, v);
}

/* acc = f(acc, v), n times: by squaring where f is associative. */
static void lower_times(lowering *lo, const bfunction *f, int acc, int v, int n)
{
    const int more = lower_vreg(lo), none = lower_vreg(lo), one = true_register(lo);
    EMIT(lo, OP_CONST, none, lower_iconst(lo, 0));
    EMIT(lo, OP_WHILE, );
    EMIT(lo, OP_FN2, more, FN_GT, CLASS_I64, n, none);
    EMIT(lo, OP_TEST, more);
    if (f->flags & FP_ASSOCIATIVE) {
        const int odd = lower_vreg(lo);
        EMIT(lo, OP_FN2, odd, FN_BITAND, CLASS_I64, n, one);
        EMIT(lo, OP_IF, odd);
        lower_apply(lo, f, acc, (int[]){acc, v});
        EMIT(lo, OP_ENDIF, );
        lower_apply(lo, f, v, (int[]){v, v});
        EMIT(lo, OP_FN2, n, FN_SHR, CLASS_I64, n, one);
    } else {
        lower_apply(lo, f, acc, (int[]){acc, v});
        EMIT(lo, OP_FN2, n, FN_SUB, CLASS_I64, n, one);
    }
    EMIT(lo, OP_ENDWHILE, );
}

/* v combined with itself over the extents of a reduction by a user's function:
 * what the reduction gives where no operand is stored. */
int lower_repeated(lowering *lo, const bexpr *e, int v)
{
    const int acc = lower_vreg(lo), n = lower_vreg(lo), each = lower_vreg(lo);
    value id = {0};
    const bool known = ufn_identity(e->ufn, &id);
    if (e->ufn->flags & FP_IDEMPOTENT) { /* once does as well */
        const int one = lower_vreg(lo), least = lower_vreg(lo);
        EMIT(lo, OP_CONST, one, lower_const(lo, CLASS_F64, (value){.f64 = 1}));
        EMIT(lo, OP_FN2, least, FN_MIN, CLASS_F64, lower_rounds_of(lo, e), one);
        EMIT(lo, OP_CONV, n, CLASS_I64, CLASS_F64, least);
    } else {
        EMIT(lo, OP_EXTENT, n, lower_extent_length(lo, e->indices[0]));
        for (int k = 1; k < e->nindex; k++) {
            int r = lower_vreg(lo);
            EMIT(lo, OP_EXTENT, r, lower_extent_length(lo, e->indices[k]));
            EMIT(lo, OP_FN2, n, FN_MUL, CLASS_I64, n, r);
        }
    }
    if (known) {
        EMIT(lo, OP_CONST, acc, lower_const(lo, e->cls, id));
    } else {
        EMIT(lo, OP_MOV, acc, v);
        EMIT(lo, OP_FN2, n, FN_SUB, CLASS_I64, n, true_register(lo));
    }
    EMIT(lo, OP_MOV, each, v);
    lower_times(lo, e->ufn, acc, each, n);
    return acc;
}
