/* literal.c: the values of constants: literals, and operators on them.
 *
 * A literal has no type of its own until it meets one (NumPy 2's weak
 * scalars), so it is kept in the widest type of its kind: i64 (u64 above
 * that), f64, c128, or bool. Arithmetic on literals is Python's.
 */
#include "bind.h"

#include <math.h>
#include <string.h>

bool literal_leaf(const ast *e, literal *out)
{
    switch (e->kind) {
    case N_INT:
        *out = (literal){e->u > INT64_MAX ? STC_U64 : STC_I64, {.u64 = e->u}};
        return true;
    case N_BOOL:
        *out = (literal){STC_BOOL, {.i64 = (int64_t)e->u}};
        return true;
    case N_REAL:
        *out = (literal){STC_F64, {.f64 = e->f}};
        return true;
    case N_IMAG:
        *out = (literal){STC_C128, {.c128 = __builtin_complex(0.0, e->f)}};
        return true;
    default:
        return false;
    }
}

/* fn of literals, computed in t and giving `result`. */
static bool fold_in(int fn, const literal *args, int n, stc_type t, stc_type result,
                    literal *out)
{
    const vclass cls = type_class(t);
    const fn_scalar f = fn_scalar_of(fn, cls);
    value v[3] = {0};
    if (!f || n > 3) return false;
    for (int i = 0; i < n; i++) {
        const vclass from = type_class(args[i].type), to = fn_operand_class(fn, cls, i);
        if (fn_at(fn)->typing == TY_FLOATINT && i && from > CLASS_U64) return false;
        v[i] = class_convert(to, from, args[i].v);
        if (fn == FN_SELECT && i == 0) v[i].i64 = !class_is_zero(from, args[i].v);
    }
    value r;
    memset(&r, 0, sizeof r);
    if (f(&r, &v[0], &v[1], &v[2]) != FAULT_NONE) return false;
    *out = (literal){result, r};
    return true;
}

static stc_type real_part(stc_type t)
{
    return t == STC_C128 ? STC_F64 : t;
}

bool literal_fold(int fn, const literal *args, int n, literal *out)
{
    const bool select = fn == FN_SELECT, first = fn_at(fn)->typing == TY_FLOATINT;
    stc_type t = args[select].type;
    for (int i = 1 + select; i < n && !first; i++)
        t = type_promote(t, args[i].type);
    const bool integer = type_class(t) == CLASS_I64 || type_class(t) == CLASS_U64;
    switch (fn_at(fn)->typing) {
    case TY_ARITH:
    case TY_DIVIDE:
        if (t == STC_BOOL) t = STC_I64;
        if (fn == FN_NEG && t == STC_U64) { /* the least i64 is the negative of a u64 */
            if (args[0].v.u64 != (uint64_t)INT64_MAX + 1) return false;
            *out = (literal){STC_I64, {.i64 = INT64_MIN}};
            return true;
        }
        if (fn == FN_POW && integer && args[1].type == STC_I64 && args[1].v.i64 < 0)
            t = STC_F64;
        break;
    case TY_BITS:
    case TY_SHIFT:
        if (!integer) return false;
        if (fn == FN_BITNOT && t == STC_BOOL) fn = FN_NOT;
        break;
    case TY_COMPARE:
    case TY_LOGIC:
    case TY_TEST:
        return fold_in(fn, args, n, t, STC_BOOL, out);
    case TY_FLOAT:
    case TY_REAL:
    case TY_FLOATINT:
        if (integer) t = STC_F64;
        break;
    case TY_WHOLE:
        return fold_in(fn, args, n, integer ? STC_F64 : t, STC_I64, out);
    case TY_ANGLE:
        if (integer) t = STC_F64;
        return fold_in(fn, args, n, t, real_part(t), out);
    case TY_ABS:
    case TY_PART:
        return fold_in(fn, args, n, t, real_part(t), out);
    default:
        break;
    }
    return fold_in(fn, args, n, t, t, out);
}

/* ---- as an element of a type ------------------------------------------------ */

static bool in_type(literal l, stc_type t)
{
    const int bits = 8 * (int)type_size(t);
    if (type_is_unsigned(t))
        return (l.type == STC_U64 || l.v.i64 >= 0) &&
               (bits == 64 || l.v.u64 <= UINT64_MAX >> (64 - bits));
    if (l.type == STC_U64) return false;
    const int64_t top = INT64_MAX >> (64 - bits);
    return l.v.i64 >= -top - 1 && l.v.i64 <= top;
}

static stc_status does_not_fit(const source *src, span at, stc_type t)
{
    return fail_source(src, STC_ERR_PROGRAM, at,
                       "the constant %.*s doesn't fit the type %s",
                       (int)(at.end - at.begin), src->text + at.begin, type_name(t));
}

/* A real number in an integer type: whole, or infinite for the type's limits. */
static stc_status real_to_integer(const source *src, span at, literal l, stc_type t,
                                  value *out)
{
    const double d = l.v.f64;
    const vclass cls = type_class(t);
    if (isinf(d) && fn_constant(d > 0 ? FC_INF : FC_NINF, cls, t, out)) return STC_OK;
    if (d != floor(d) || fabs(d) > 18446744073709551615.0) return does_not_fit(src, at, t);
    const literal whole =
        d > 9223372036854774784.0
            ? (literal){STC_U64, class_convert(CLASS_U64, CLASS_F64, l.v)}
            : (literal){STC_I64, class_convert(CLASS_I64, CLASS_F64, l.v)};
    return literal_to(src, at, whole, t, out);
}

stc_status literal_to(const source *src, span at, literal l, stc_type t, value *out)
{
    const vclass from = type_class(l.type), to = type_class(t);
    value v;
    memset(&v, 0, sizeof v);
    if (t == STC_BOOL) {
        v.i64 = !class_is_zero(from, l.v);
    } else if (to == CLASS_I64 || to == CLASS_U64) {
        if (from == CLASS_C128) return does_not_fit(src, at, t);
        if (from == CLASS_F64) return real_to_integer(src, at, l, t, out);
        if (!in_type(l, t)) return does_not_fit(src, at, t);
        v = l.v;
    } else {
        if (from == CLASS_C128 && !type_is_complex(t)) return does_not_fit(src, at, t);
        v = class_convert(to, from, l.v);
    }
    *out = v;
    return STC_OK;
}

static stc_status evaluate(const source *src, const ast *e, literal *out)
{
    literal args[2];
    if (literal_leaf(e, out)) return STC_OK;
    if ((e->kind == N_UNARY && e->op != OPR_PLUS) || e->kind == N_BINARY) {
        for (int i = 0; i < e->count; i++) {
            const stc_status status = evaluate(src, e->child[i], &args[i]);
            if (status != STC_OK) return status;
        }
        if (literal_fold(bind_op_fn(e->op), args, e->count, out)) return STC_OK;
    } else if (e->kind == N_UNARY) {
        return evaluate(src, e->child[0], out);
    }
    return fail_source(src, STC_ERR_PROGRAM, e->at, "expected a constant here");
}

stc_status literal_value(const source *src, const ast *node, stc_type t, value *out)
{
    literal l;
    const stc_status status = evaluate(src, node, &l);
    return status == STC_OK ? literal_to(src, node->at, l, t, out) : status;
}

stc_status literal_type(const source *src, const ast *node, stc_type *out)
{
    literal l;
    const stc_status status = evaluate(src, node, &l);
    if (status == STC_OK) *out = l.type;
    return status;
}
