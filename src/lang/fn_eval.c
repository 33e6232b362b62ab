/* fn_eval.c: a user's function evaluated before any data is seen.
 *
 * Takes a specialised function (or the host's) and what is known of its arguments: a
 * value, a value that it isn't, or nothing. Gives what is known of the result then; with
 * all arguments known that is the function's value. Where a condition isn't known, both
 * sides are evaluated, and what they agree on is kept. Annihilators are taken at their
 * word. There is no result if the function faults, if a loop depends on what isn't known,
 * or if it takes more steps than a compiler should spend on it.
 */
#include "lang.h"

#include <string.h>

#define EVAL_MAX_LOCALS 64
#define EVAL_MAX_BRANCHES 16 /* conditions within each other that aren't known */

typedef enum outcome { GO_ON, BROKE, CONTINUED, RETURNED, FAILED } outcome;

typedef struct frame {
    fn_known local[EVAL_MAX_LOCALS];
    fn_known result;
    fn_known maybe; /* if `branched`: what a branch returned that may be the one taken */
    bool branched;
    int nlocals, branches;
    int *steps; /* left, shared with the functions it calls */
} frame;

static bool apply(const bfunction *f, const fn_known *args, int *steps, fn_known *out);
static bool evaluate(frame *fr, const bexpr *e, fn_known *out);

static fn_known truth(bool is)
{
    fn_known k = {.is = FN_EXACTLY};
    k.v.i64 = is;
    return k;
}

/* What holds of both. */
static fn_known join(fn_known a, fn_known b)
{
    const bool same = a.is == b.is && !memcmp(&a.v, &b.v, sizeof a.v);
    return same ? a : (fn_known){.is = FN_ANY};
}

bool conv_keeps_apart(stc_type to, stc_type from, value v)
{
    const vclass a = type_class(from), b = type_class(to);
    const bool whole = a == CLASS_I64 || a == CLASS_U64;
    if (to == STC_BOOL) return from == STC_BOOL;
    if (a == b) return true;
    if (b == CLASS_I64 || b == CLASS_U64) return whole;
    if (whole) return class_is_zero(a, v);
    return a == CLASS_F32 || (b == CLASS_C128 && a != CLASS_C128);
}

/* ---- expressions ------------------------------------------------------------------ */

/* && || and select evaluate only the side they take. */
static bool evaluate_lazy(frame *fr, const bexpr *e, fn_known *out)
{
    fn_known c, other;
    if (!evaluate(fr, e->args[0], &c)) return false;
    if (e->fn == FN_SELECT) {
        if (c.is == FN_EXACTLY) return evaluate(fr, e->args[c.v.i64 ? 1 : 2], out);
        if (!evaluate(fr, e->args[1], out) || !evaluate(fr, e->args[2], &other))
            return false;
        *out = join(*out, other);
        return true;
    }
    const bool decisive = e->fn == FN_OR;
    if (c.is == FN_EXACTLY && (c.v.i64 != 0) == decisive) {
        *out = truth(decisive);
        return true;
    }
    if (!evaluate(fr, e->args[1], out)) return false;
    const bool decides = out->is == FN_EXACTLY && (out->v.i64 != 0) == decisive;
    if (c.is != FN_EXACTLY && !decides) out->is = FN_ANY;
    return true;
}

/* A built-in or a user's function where not all arguments are known. */
static bool evaluate_partly(frame *fr, const bexpr *e, const fn_known *arg, fn_known *out)
{
    for (int k = 0; k < e->nargs; k++)
        for (int n = 0; arg[k].is == FN_EXACTLY && n < call_annihilators(e); n++) {
            value v;
            if (!call_annihilator(e, n, k, &v) ||
                !class_equal(call_operand_class(e, k), v, arg[k].v))
                continue;
            *out = (fn_known){FN_EXACTLY, call_result(e, k, v)};
            return true;
        }
    if (e->kind == B_USER) return apply(e->ufn, arg, fr->steps, out);
    if ((e->fn != FN_EQ && e->fn != FN_NE) ||
        arg[0].is + arg[1].is != FN_OTHER + FN_EXACTLY)
        return true;
    value same; /* what x isn't is compared with what x isn't */
    memset(&same, 0, sizeof same);
    fn_scalar_of(FN_EQ, e->cls)(&same, &arg[0].v, &arg[1].v, &same);
    if (same.i64) *out = truth(e->fn == FN_NE);
    return true;
}

static bool evaluate_call(frame *fr, const bexpr *e, fn_known *out)
{
    fn_known arg[8];
    bool known = true;
    if (e->kind == B_CALL && (e->fn == FN_AND || e->fn == FN_OR || e->fn == FN_SELECT))
        return evaluate_lazy(fr, e, out);
    memset(arg, 0, sizeof arg);
    for (int i = 0; i < e->nargs; i++) {
        if (!evaluate(fr, e->args[i], &arg[i])) return false;
        known &= arg[i].is == FN_EXACTLY;
    }
    if (!known) return evaluate_partly(fr, e, arg, out);
    out->is = FN_EXACTLY;
    if (e->kind == B_USER) return apply(e->ufn, arg, fr->steps, out);
    const fn_scalar f = fn_scalar_of(e->fn, e->cls);
    return f && f(&out->v, &arg[0].v, &arg[1].v, &arg[2].v) == FAULT_NONE;
}

static bool evaluate_conv(frame *fr, const bexpr *e, fn_known *out)
{
    const stc_type from = e->args[0]->type;
    fn_known k;
    if (!evaluate(fr, e->args[0], &k)) return false;
    if (k.is == FN_OTHER && !conv_keeps_apart(e->type, from, k.v)) k.is = FN_ANY;
    out->is = k.is;
    if (k.is == FN_ANY) return true;
    out->v = conv_value(e->type, from, k.v);
    return true;
}

static bool evaluate(frame *fr, const bexpr *e, fn_known *out)
{
    if (--*fr->steps < 0) return false;
    memset(out, 0, sizeof *out);
    switch (e->kind) {
    case B_CONST:
        *out = (fn_known){FN_EXACTLY, e->value};
        return true;
    case B_LOCAL:
        *out = fr->local[e->index];
        return true;
    case B_CONV:
        return evaluate_conv(fr, e, out);
    case B_CALL:
    case B_USER:
        return evaluate_call(fr, e, out);
    default:
        return false;
    }
}

/* ---- statements -------------------------------------------------------------------- */

static outcome run(frame *fr, const fstmt *s);

static outcome run_loop(frame *fr, const fstmt *s)
{
    fn_known c;
    for (;;) {
        if (!evaluate(fr, s->value, &c) || c.is != FN_EXACTLY) return FAILED;
        if (!c.v.i64) return GO_ON;
        const outcome o = run(fr, s->body);
        if (o == BROKE) return GO_ON;
        if (o == RETURNED || o == FAILED) return o;
        if (run(fr, s->other) == FAILED) return FAILED;
    }
}

static void may_return(frame *fr, fn_known v)
{
    fr->maybe = fr->branched ? join(fr->maybe, v) : v;
    fr->branched = true;
}

/* Either branch may be taken: what both make of the variables, and what those that
 * return give. */
static outcome run_either(frame *fr, const fstmt *s)
{
    if (++fr->branches > EVAL_MAX_BRANCHES) return FAILED;
    frame other = *fr;
    const outcome a = run(fr, s->body), b = run(&other, s->other);
    fr->branches--;
    if (a == FAILED || b == FAILED) return FAILED;
    if (other.branched) may_return(fr, other.maybe);
    if (b == RETURNED) {
        may_return(fr, other.result);
        return a;
    }
    if (a == RETURNED) {
        may_return(fr, fr->result);
        memcpy(fr->local, other.local, (size_t)fr->nlocals * sizeof *fr->local);
        return b;
    }
    for (int k = 0; k < fr->nlocals; k++)
        fr->local[k] = join(fr->local[k], other.local[k]);
    return a == b ? a : FAILED;
}

static outcome run_one(frame *fr, const fstmt *s)
{
    fn_known c;
    switch (s->op) {
    case F_SET: /* the local may be read on the way */
        if (!evaluate(fr, s->value, &c)) return FAILED;
        fr->local[s->local] = c;
        return GO_ON;
    case F_RETURN:
        return evaluate(fr, s->value, &fr->result) ? RETURNED : FAILED;
    case F_IF:
        if (!evaluate(fr, s->value, &c)) return FAILED;
        return c.is == FN_EXACTLY ? run(fr, c.v.i64 ? s->body : s->other)
                                  : run_either(fr, s);
    case F_WHILE:
        return run_loop(fr, s);
    case F_BREAK:
        return BROKE;
    case F_CONTINUE:
        return CONTINUED;
    }
    return FAILED;
}

static outcome run(frame *fr, const fstmt *s)
{
    for (; s; s = s->next) {
        const outcome o = --*fr->steps < 0 ? FAILED : run_one(fr, s);
        if (o != GO_ON) return o;
    }
    return GO_ON;
}

/* ---- calls -------------------------------------------------------------------------- */

static bool apply_host(const bfunction *f, const fn_known *args, fn_known *out)
{
    value v[8];
    const char *why;
    for (int k = 0; k < f->nparams; k++) {
        if (args[k].is != FN_EXACTLY) {
            out->is = FN_ANY;
            return true;
        }
        v[k] = args[k].v;
    }
    out->is = FN_EXACTLY;
    return host_call_one(f->host, v, &out->v, &why) == STC_OK;
}

static bool apply(const bfunction *f, const fn_known *args, int *steps, fn_known *out)
{
    frame fr;
    fr.steps = steps;
    fr.branched = false;
    fr.branches = 0;
    fr.nlocals = f->nlocals;
    if (f->host) return apply_host(f, args, out);
    if (!f->code || f->nlocals > EVAL_MAX_LOCALS) return false;
    memset(fr.local, 0, (size_t)f->nlocals * sizeof *fr.local);
    memcpy(fr.local, args, (size_t)f->nparams * sizeof *args);
    if (run(&fr, f->code) != RETURNED) return false;
    *out = fr.branched ? join(fr.maybe, fr.result) : fr.result;
    return true;
}

bool fn_evaluate_known(const bfunction *f, const fn_known *args, int *steps, fn_known *out)
{
    memset(out, 0, sizeof *out);
    return apply(f, args, steps, out);
}

bool fn_evaluate(const bfunction *f, const value *args, value *out)
{
    int steps = FN_EVAL_STEPS;
    fn_known known[8], result;
    for (int k = 0; k < f->nparams; k++)
        known[k] = (fn_known){FN_EXACTLY, args[k]};
    if (!fn_evaluate_known(f, known, &steps, &result) || result.is != FN_EXACTLY)
        return false;
    *out = result.v;
    return true;
}
