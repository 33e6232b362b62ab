/* bind_type.c: the types of calls: NumPy 2's promotion, literals weak.
 *
 * The typing rule of a function (vm/fn/functions.h) gives the type it computes in
 * and its result's. Arguments get CONV nodes where their class isn't the one
 * in which the function takes them; a literal takes the type it meets.
 */
#include "bind.h"

#include <string.h>

/* Literals, variables of a function that only had literals so far, and what
 * operators make of such. */
static bool is_weak(const bexpr *e)
{
    return e->mark == WEAK;
}

static bool is_literal(const bexpr *e)
{
    return e->kind == B_CONST && e->mark == WEAK;
}

static literal literal_of(const bexpr *e)
{
    return (literal){e->type, e->value};
}

bexpr *bind_const(binder *b, span at, stc_type t, value v)
{
    bexpr *e = bind_node(b, B_CONST, t, at);
    if (e) e->value = v;
    return e;
}

/* The type that a typed operand and a literal promote to. */
static stc_type weak_promote(stc_type t, stc_type l)
{
    if (l == STC_BOOL) return type_promote(t, l);
    if (l == STC_C128) return t == STC_F32 || t == STC_C64 ? STC_C64 : STC_C128;
    if (l == STC_F64) return type_is_float(t) || type_is_complex(t) ? t : STC_F64;
    return t == STC_BOOL ? l : t;
}

stc_type bind_common(bexpr *const *args, int n)
{
    stc_type t = STC_BOOL;
    bool any = false;
    for (int i = 0; i < n; i++) {
        if (is_weak(args[i])) continue;
        t = any ? type_promote(t, args[i]->type) : args[i]->type;
        any = true;
    }
    for (int i = 0; i < n; i++) {
        if (!is_weak(args[i])) continue;
        t = any ? weak_promote(t, args[i]->type) : args[i]->type;
        if (!any) { /* literals only */
            for (i++; i < n; i++)
                t = type_promote(t, args[i]->type);
        }
    }
    return t;
}

bexpr *bind_strong(binder *b, bexpr *e)
{
    (void)b;
    if (e && is_weak(e)) e->mark = 0;
    return e;
}

bexpr *bind_convert(binder *b, bexpr *e, stc_type t)
{
    if (!e) return NULL;
    if (is_literal(e)) {
        if (literal_to(b->src, e->at, literal_of(e), t, &e->value) != STC_OK) return NULL;
        e->type = t;
        e->mark = 0;
        return e;
    }
    const vclass from = type_class(e->type), to = type_class(t);
    if (from == to) return e;
    if (e->kind == B_CONST)
        return bind_const(b, e->at, t, class_convert(to, from, e->value));
    bexpr *conv = bind_node(b, B_CONV, t, e->at);
    if (!conv || !(conv->args = arena_alloc(b->a, sizeof *conv->args))) return NULL;
    conv->args[0] = e;
    conv->nargs = 1;
    return conv;
}

bexpr *bind_to_bool(binder *b, bexpr *e)
{
    if (!e || e->type == STC_BOOL) return bind_strong(b, e);
    if (is_literal(e)) return bind_convert(b, e, STC_BOOL);
    e->mark = 0;
    value zero;
    memset(&zero, 0, sizeof zero);
    bexpr *args[2] = {e, bind_const(b, e->at, e->type, zero)};
    return args[1] ? bind_call(b, e->at, FN_NE, args, 2) : NULL;
}

/* Literals are cast as numbers are: what doesn't fit is cut off. */
bexpr *bind_cast(binder *b, span at, stc_type t, bexpr *e)
{
    if (!e) return NULL;
    if (is_literal(e)) return bind_const(b, at, t, type_convert(t, e->type, e->value));
    if (t == STC_BOOL) return bind_to_bool(b, e);
    bexpr *args[1] = {bind_convert(b, bind_strong(b, e), t)};
    const char *const name = type_name(t);
    return args[0] ? bind_call(b, at, fn_named(name, strlen(name), 1), args, 1) : NULL;
}

bexpr *bind_store(binder *b, bexpr *e, stc_type t)
{
    if (!e) return NULL;
    if (t == STC_BOOL && type_class(e->type) != CLASS_I64) return bind_to_bool(b, e);
    return bind_convert(b, e, t);
}

bool type_keeps_kind(stc_type to, stc_type from)
{
    const stc_type type[2] = {to, from};
    int kind[2]; /* bool, unsigned, signed, real, complex */
    for (int k = 0; k < 2; k++)
        kind[k] = type[k] == STC_BOOL         ? 0
                  : type_is_unsigned(type[k]) ? 1
                  : type_is_integer(type[k])  ? 2
                  : type_is_complex(type[k])  ? 4
                                              : 3;
    return kind[0] >= kind[1];
}

/* A constant that t holds as it is, or a choice between such. */
static bool is_held(const bexpr *e, stc_type t)
{
    if (e->kind == B_CALL && e->fn == FN_SELECT)
        return is_held(e->args[1], t) && is_held(e->args[2], t);
    if (e->kind != B_CONST) return false;
    const value there = type_convert(t, e->type, e->value);
    return class_equal(type_class(e->type), type_convert(e->type, t, there), e->value);
}

bexpr *bind_store_kind(binder *b, bexpr *e, stc_type t, const char *name)
{
    if (!e) return NULL;
    /* literals that other types don't hold have an error of their own, below */
    const bool asked = t == STC_BOOL || !is_literal(e);
    if (asked && !type_keeps_kind(t, e->type) && !is_held(e, t))
        return bind_null(b, e->at,
                         "%s is %s and this is %s, which doesn't fit; %s(…) casts it", name,
                         type_name(t), type_name(e->type), type_name(t));
    return bind_store(b, e, t);
}

/* ---- calls --------------------------------------------------------------------- */

typedef struct call_types {
    stc_type computed, result;
} call_types;

static stc_type floating(stc_type t)
{
    return type_is_float(t) || type_is_complex(t) ? t : STC_F64;
}

static stc_type real_part(stc_type t)
{
    return t == STC_C64 ? STC_F32 : t == STC_C128 ? STC_F64 : t;
}

/* A literal integer that the other operand's type can't hold is compared in
 * its own type (as in NumPy); elsewhere it is an error. */
static stc_type comparable(bexpr *const *args, int n, stc_type t)
{
    for (int i = 0; i < n; i++) {
        if (!is_literal(args[i]) || !type_is_integer(args[i]->type) || !type_is_integer(t))
            continue;
        const int bits = 8 * (int)type_size(t);
        const uint64_t u = args[i]->value.u64;
        const int64_t v = args[i]->value.i64;
        const bool large = args[i]->type == STC_U64;
        const bool fits = type_is_unsigned(t)
                              ? (large || v >= 0) && (bits == 64 || u >> bits == 0)
                              : !large && v >> (bits - 1) == (v < 0 ? -1 : 0);
        if (!fits) t = type_promote(t, args[i]->type);
    }
    return t;
}

static call_types typing(int fn, bexpr *const *args, int n)
{
    const stc_type t = bind_common(args, n);
    switch (fn_at(fn)->typing) {
    case TY_ARITH:
    case TY_DIVIDE:
    case TY_SHIFT: {
        const stc_type c = t == STC_BOOL ? STC_I64 : t;
        return (call_types){c, c};
    }
    case TY_COMPARE:
        return (call_types){comparable(args, n, t), STC_BOOL};
    case TY_TEST:
        return (call_types){t, STC_BOOL};
    case TY_LOGIC:
        return (call_types){STC_BOOL, STC_BOOL};
    case TY_FLOAT:
    case TY_REAL:
        return (call_types){floating(t), floating(t)};
    case TY_WHOLE:
        return (call_types){floating(t), STC_I64};
    case TY_ANGLE:
        return (call_types){floating(t), real_part(floating(t))};
    case TY_ABS:
    case TY_PART:
        return (call_types){t, real_part(t)};
    case TY_CAST: {
        stc_type to = t;
        type_parse(fn_at(fn)->name, strlen(fn_at(fn)->name), &to);
        return (call_types){class_type(type_class(to)), to};
    }
    case TY_SELECT: {
        const stc_type c = bind_common(args + 1, n - 1);
        return (call_types){c, c};
    }
    case TY_FLOATINT: {
        const stc_type c = floating(args[0]->type);
        return (call_types){c, c};
    }
    default:
        return (call_types){t, t};
    }
}

/* Each argument in the class in which fn takes it. */
static bool convert_args(binder *b, int fn, stc_type computed, bexpr **args, int n)
{
    const int rule = fn_at(fn)->typing;
    const vclass cls = type_class(computed);
    for (int i = 0; i < n; i++) {
        const vclass wanted = fn_operand_class(fn, cls, i);
        if (rule == TY_LOGIC || (rule == TY_SELECT && i == 0)) {
            args[i] = bind_to_bool(b, args[i]);
        } else if (wanted == cls) {
            args[i] = bind_convert(b, args[i], computed);
        } else {
            if (!type_is_integer(args[i]->type) && args[i]->type != STC_BOOL) {
                bind_fail(b, args[i]->at, "`%s` takes an integer here, not %s",
                          fn_at(fn)->name, type_name(args[i]->type));
                return false;
            }
            args[i] = bind_convert(b, args[i], class_type(wanted));
        }
        if (!args[i]) return false;
    }
    return true;
}

static bexpr *fold(binder *b, span at, int fn, bexpr *const *args, int n)
{
    literal l[3], r;
    if (n > 3) return NULL;
    for (int i = 0; i < n; i++) {
        if (!is_literal(args[i])) return NULL;
        l[i] = literal_of(args[i]);
    }
    if (!literal_fold(fn, l, n, &r)) return NULL;
    bexpr *e = bind_const(b, at, r.type, r.v);
    if (e) e->mark = WEAK;
    return e;
}

static const char *fn_shown(int fn)
{
    return fn_at(fn)->symbol ? fn_at(fn)->symbol : fn_at(fn)->name;
}

bexpr *bind_call(binder *b, span at, int fn, bexpr **args, int n)
{
    bexpr *const folded = fold(b, at, fn, args, n);
    if (folded) return folded;
    bool weak = true; /* what comes of literals alone is one */
    for (int i = 0; i < n; i++)
        weak &= is_weak(args[i]);
    if (fn == FN_BITNOT && args[0]->type == STC_BOOL) fn = FN_NOT;
    const call_types t = typing(fn, args, n);
    const vclass cls = type_class(t.computed);
    if (!(fn_at(fn)->classes >> cls & 1))
        return bind_null(
            b, at, "`%s` isn't defined for %s%s", fn_shown(fn), type_name(t.computed),
            fn == FN_BITXOR ? ": it is the exclusive or of bits; a power is `**`" : "");
    bexpr *e = bind_node(b, B_CALL, t.result, at);
    if (!e || !(e->args = arena_array(b->a, n, sizeof *e->args))) return NULL;
    memcpy(e->args, args, (size_t)n * sizeof *args);
    if (!convert_args(b, fn, t.computed, e->args, n)) return NULL;
    e->nargs = n;
    e->fn = fn;
    e->cls = cls;
    if (weak) e->mark = WEAK;
    expr_note_waits(e);
    return bind_truth(b, e);
}
