/* fn_eval.c: a user's function applied to constants: what it gives where none of
 * its arguments is stored, as far as that is known before anything runs.
 *
 * Takes a specialised function (or the host's) and its arguments, gives its value; false if
 * it faults, or takes more steps than a compiler should spend on it.
 */
#include "lang.h"

#include <string.h>

#define EVAL_MAX_STEPS 20000
#define EVAL_MAX_LOCALS 64

typedef enum outcome { GO_ON, BROKE, CONTINUED, RETURNED, FAILED } outcome;

typedef struct frame {
    value local[EVAL_MAX_LOCALS];
    value result;
    int *steps; /* left, shared with the functions it calls */
} frame;

static bool apply(const bfunction *f, const value *args, int *steps, value *out);
static bool evaluate(frame *fr, const bexpr *e, value *out);

/* && || and select evaluate only the side they take. */
static bool evaluate_lazy(frame *fr, const bexpr *e, value *out)
{
    value c;
    if (!evaluate(fr, e->args[0], &c)) return false;
    if (e->fn == FN_SELECT) return evaluate(fr, e->args[c.i64 ? 1 : 2], out);
    if ((e->fn == FN_OR) == (c.i64 != 0)) {
        *out = (value){.i64 = c.i64 != 0};
        return true;
    }
    return evaluate(fr, e->args[1], out);
}

static bool evaluate_call(frame *fr, const bexpr *e, value *out)
{
    value v[8];
    memset(v, 0, sizeof v);
    if (e->kind == B_CALL && (e->fn == FN_AND || e->fn == FN_OR || e->fn == FN_SELECT))
        return evaluate_lazy(fr, e, out);
    for (int i = 0; i < e->nargs; i++)
        if (!evaluate(fr, e->args[i], &v[i])) return false;
    if (e->kind == B_USER) return apply(e->ufn, v, fr->steps, out);
    const fn_scalar f = fn_scalar_of(e->fn, e->cls);
    return f && f(out, &v[0], &v[1], &v[2]) == FAULT_NONE;
}

static bool evaluate(frame *fr, const bexpr *e, value *out)
{
    value v;
    if (--*fr->steps < 0) return false;
    memset(out, 0, sizeof *out);
    switch (e->kind) {
    case B_CONST:
        *out = e->value;
        return true;
    case B_LOCAL:
        *out = fr->local[e->index];
        return true;
    case B_CONV: {
        const vclass from = type_class(e->args[0]->type);
        if (!evaluate(fr, e->args[0], &v)) return false;
        if (e->type == STC_BOOL)
            out->i64 = !class_is_zero(from, v);
        else
            *out = class_convert(type_class(e->type), from, v);
        return true;
    }
    case B_CALL:
    case B_USER:
        return evaluate_call(fr, e, out);
    default:
        return false;
    }
}

static outcome run(frame *fr, const fstmt *s);

static outcome run_loop(frame *fr, const fstmt *s)
{
    value c;
    for (;;) {
        if (!evaluate(fr, s->value, &c)) return FAILED;
        if (!c.i64) return GO_ON;
        const outcome o = run(fr, s->body);
        if (o == BROKE) return GO_ON;
        if (o == RETURNED || o == FAILED) return o;
        if (run(fr, s->other) == FAILED) return FAILED;
    }
}

static outcome run_one(frame *fr, const fstmt *s)
{
    value c;
    switch (s->op) {
    case F_SET: /* the local may be read on the way */
        if (!evaluate(fr, s->value, &c)) return FAILED;
        fr->local[s->local] = c;
        return GO_ON;
    case F_RETURN:
        return evaluate(fr, s->value, &fr->result) ? RETURNED : FAILED;
    case F_IF:
        if (!evaluate(fr, s->value, &c)) return FAILED;
        return run(fr, c.i64 ? s->body : s->other);
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

static bool apply(const bfunction *f, const value *args, int *steps, value *out)
{
    frame fr;
    fr.steps = steps;
    const char *why;
    if (f->host) return host_call_one(f->host, args, out, &why) == STC_OK;
    if (!f->code || f->nlocals > EVAL_MAX_LOCALS) return false;
    memset(fr.local, 0, (size_t)f->nlocals * sizeof *fr.local);
    memcpy(fr.local, args, (size_t)f->nparams * sizeof *args);
    if (run(&fr, f->code) != RETURNED) return false;
    *out = fr.result;
    return true;
}

bool fn_evaluate(const bfunction *f, const value *args, value *out)
{
    int steps = EVAL_MAX_STEPS;
    return apply(f, args, &steps, out);
}
