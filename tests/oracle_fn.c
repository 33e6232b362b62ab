/* oracle_fn.c: what the language says that operators and functions do, for
 * the oracle: typing, computation on exact operands, tolerance on inexact
 * ones, and reductions. Where ±0, infinities or a property could decide the
 * result, it is poisoned and OV_HAZARD is set: the loops don't know. */
#include "oracle_value.h"
#include <complex.h>
#include <string.h>

/* How operand types become the type that is computed in, and the result's. */
typedef enum typing {
    T_ARITH,   /* promoted; bool becomes i64                       */
    T_SAME,    /* promoted, bool stays                             */
    T_COMPARE, /* promoted; gives bool                             */
    T_LOGIC,   /* truth values; gives bool                         */
    T_FLOAT,   /* integers become f64                              */
    T_PART,    /* complex gives its real type                      */
    T_SELECT,
    T_LDEXP,
    T_TEST, /* any; gives bool                                  */
    T_CAST, /* the type of its name                             */
} typing;

/* What is computed; the real functions of one or two arguments are pointers. */
typedef enum opcode {
    O_REAL1,
    O_REAL2,
    O_ADD,
    O_SUB,
    O_MUL,
    O_DIV,
    O_FLOORDIV,
    O_MOD,
    O_CAST,
    O_POW,
    O_NEG,
    O_NOT,
    O_INV,
    O_SHL,
    O_SHR,
    O_AND,
    O_XOR,
    O_OR,
    O_EQ,
    O_NE,
    O_LT,
    O_LE,
    O_GT,
    O_GE,
    O_LAND,
    O_LOR,
    O_ABS,
    O_MIN,
    O_MAX,
    O_SIGN,
    O_CONJ,
    O_RE,
    O_IM,
    O_SELECT,
    O_GCD,
    O_ISNAN,
    O_ISINF,
    O_ISFINITE,
    O_LDEXP,
    O_ROUNDING,
    O_FMA,
} opcode;

typedef struct row {
    const char *name;
    int arity;
    typing typing;
    opcode op;
    double (*f1)(double);
    double (*f2)(double, double);
} row;

static const row table[] = {
    {"add", 2, T_ARITH, O_ADD, 0, 0},
    {"sub", 2, T_ARITH, O_SUB, 0, 0},
    {"mul", 2, T_ARITH, O_MUL, 0, 0},
    {"div", 2, T_FLOAT, O_DIV, 0, 0},
    {"floordiv", 2, T_ARITH, O_FLOORDIV, 0, 0},
    {"mod", 2, T_ARITH, O_MOD, 0, 0},
    {"pow", 2, T_ARITH, O_POW, 0, 0},
    {"neg", 1, T_ARITH, O_NEG, 0, 0},
    {"not", 1, T_LOGIC, O_NOT, 0, 0},
    {"bitnot", 1, T_SAME, O_INV, 0, 0},
    {"shl", 2, T_ARITH, O_SHL, 0, 0},
    {"shr", 2, T_ARITH, O_SHR, 0, 0},
    {"bitand", 2, T_SAME, O_AND, 0, 0},
    {"bitxor", 2, T_SAME, O_XOR, 0, 0},
    {"xor", 2, T_SAME, O_XOR, 0, 0},
    {"bitor", 2, T_SAME, O_OR, 0, 0},
    {"eq", 2, T_COMPARE, O_EQ, 0, 0},
    {"ne", 2, T_COMPARE, O_NE, 0, 0},
    {"lt", 2, T_COMPARE, O_LT, 0, 0},
    {"le", 2, T_COMPARE, O_LE, 0, 0},
    {"gt", 2, T_COMPARE, O_GT, 0, 0},
    {"ge", 2, T_COMPARE, O_GE, 0, 0},
    {"and", 2, T_LOGIC, O_LAND, 0, 0},
    {"or", 2, T_LOGIC, O_LOR, 0, 0},
    {"abs", 1, T_PART, O_ABS, 0, 0},
    {"min", 2, T_SAME, O_MIN, 0, 0},
    {"max", 2, T_SAME, O_MAX, 0, 0},
    {"fmin", 2, T_FLOAT, O_MIN, 0, 0},
    {"fmax", 2, T_FLOAT, O_MAX, 0, 0},
    {"sign", 1, T_SAME, O_SIGN, 0, 0},
    {"conj", 1, T_ARITH, O_CONJ, 0, 0},
    {"real", 1, T_PART, O_RE, 0, 0},
    {"imag", 1, T_PART, O_IM, 0, 0},
    {"bool", 1, T_CAST, O_CAST, 0, 0},
    {"i8", 1, T_CAST, O_CAST, 0, 0},
    {"i16", 1, T_CAST, O_CAST, 0, 0},
    {"i32", 1, T_CAST, O_CAST, 0, 0},
    {"i64", 1, T_CAST, O_CAST, 0, 0},
    {"u8", 1, T_CAST, O_CAST, 0, 0},
    {"u16", 1, T_CAST, O_CAST, 0, 0},
    {"u32", 1, T_CAST, O_CAST, 0, 0},
    {"u64", 1, T_CAST, O_CAST, 0, 0},
    {"f32", 1, T_CAST, O_CAST, 0, 0},
    {"f64", 1, T_CAST, O_CAST, 0, 0},
    {"c64", 1, T_CAST, O_CAST, 0, 0},
    {"c128", 1, T_CAST, O_CAST, 0, 0},
    {"select", 3, T_SELECT, O_SELECT, 0, 0},
    {"gcd", 2, T_SAME, O_GCD, 0, 0},
    {"isnan", 1, T_TEST, O_ISNAN, 0, 0},
    {"isinf", 1, T_TEST, O_ISINF, 0, 0},
    {"isfinite", 1, T_TEST, O_ISFINITE, 0, 0},
    {"ldexp", 2, T_LDEXP, O_LDEXP, 0, 0},
    {"fma", 3, T_FLOAT, O_FMA, 0, 0},
    {"floor", 1, T_SAME, O_ROUNDING, floor, 0},
    {"ceil", 1, T_SAME, O_ROUNDING, ceil, 0},
    {"round", 1, T_SAME, O_ROUNDING, rint, 0},
    {"rint", 1, T_SAME, O_ROUNDING, rint, 0},
    {"trunc", 1, T_SAME, O_ROUNDING, trunc, 0},
    {"sqrt", 1, T_FLOAT, O_REAL1, sqrt, 0},
    {"exp", 1, T_FLOAT, O_REAL1, exp, 0},
    {"log", 1, T_FLOAT, O_REAL1, log, 0},
    {"sin", 1, T_FLOAT, O_REAL1, sin, 0},
    {"cos", 1, T_FLOAT, O_REAL1, cos, 0},
    {"tan", 1, T_FLOAT, O_REAL1, tan, 0},
    {"tanh", 1, T_FLOAT, O_REAL1, tanh, 0},
    {"exp2", 1, T_FLOAT, O_REAL1, exp2, 0},
    {"expm1", 1, T_FLOAT, O_REAL1, expm1, 0},
    {"log2", 1, T_FLOAT, O_REAL1, log2, 0},
    {"log10", 1, T_FLOAT, O_REAL1, log10, 0},
    {"log1p", 1, T_FLOAT, O_REAL1, log1p, 0},
    {"cbrt", 1, T_FLOAT, O_REAL1, cbrt, 0},
    {"asin", 1, T_FLOAT, O_REAL1, asin, 0},
    {"acos", 1, T_FLOAT, O_REAL1, acos, 0},
    {"atan", 1, T_FLOAT, O_REAL1, atan, 0},
    {"sinh", 1, T_FLOAT, O_REAL1, sinh, 0},
    {"cosh", 1, T_FLOAT, O_REAL1, cosh, 0},
    {"erf", 1, T_FLOAT, O_REAL1, erf, 0},
    {"erfc", 1, T_FLOAT, O_REAL1, erfc, 0},
    {"hypot", 2, T_FLOAT, O_REAL2, 0, hypot},
    {"atan2", 2, T_FLOAT, O_REAL2, 0, atan2},
    {"fmod", 2, T_FLOAT, O_REAL2, 0, fmod},
    {"fdim", 2, T_FLOAT, O_REAL2, 0, fdim},
};
enum { ROWS = sizeof table / sizeof table[0] };

int of_find(const char *name, size_t len, int arity)
{
    for (int k = 0; k < ROWS; k++) {
        bool same = strlen(table[k].name) == len && memcmp(table[k].name, name, len) == 0;
        if (same && (arity < 0 || table[k].arity == arity)) return k;
    }
    return -1;
}

const char *of_name(int fn)
{
    return table[fn].name;
}
int of_arity(int fn)
{
    return table[fn].arity;
}

/* ---- typing ------------------------------------------------------------------ */

static stc_type real_of(stc_type t)
{
    return t == STC_C64 ? STC_F32 : t == STC_C128 ? STC_F64 : t;
}

/* The type a call computes in. */
static stc_type compute_type(int fn, const stc_type *t, const bool *weak)
{
    const row *r = &table[fn];
    stc_type p = t[0];
    bool w = weak[0];
    if (r->typing == T_CAST) {
        stc_type_parse(r->name, &p);
        return p;
    }
    if (r->typing == T_SELECT) {
        p = ot_promote(t[1], weak[1], t[2], weak[2]);
    } else if (r->typing == T_LDEXP || r->arity == 1) {
        p = t[0];
    } else {
        for (int k = 1; k < r->arity; k++) {
            p = ot_promote(p, w, t[k], weak[k]);
            w = w && weak[k];
        }
    }
    if (r->typing == T_ARITH && p == STC_BOOL) p = STC_I64;
    bool floats = r->typing == T_FLOAT || r->typing == T_LDEXP;
    if (floats && !ot_float(p) && !ot_complex(p)) p = STC_F64;
    return p;
}

stc_type of_type(int fn, const stc_type *t, const bool *weak, bool *out_weak)
{
    const row *r = &table[fn];
    stc_type p = compute_type(fn, t, weak);
    bool w = true;
    for (int k = 0; k < r->arity; k++)
        w = w && weak[k];
    if (out_weak) *out_weak = w && r->typing != T_CAST;
    switch (r->typing) {
    case T_COMPARE:
    case T_LOGIC:
    case T_TEST:
        return STC_BOOL;
    case T_PART:
        return real_of(p);
    default:
        return p;
    }
}

bool of_accepts(int fn, const stc_type *t, const bool *weak)
{
    stc_type p = compute_type(fn, t, weak);
    bool number = p >= STC_F32;
    switch (table[fn].op) {
    case O_SHL:
    case O_SHR:
    case O_AND:
    case O_XOR:
    case O_OR:
    case O_INV:
    case O_GCD:
        return !number;
    case O_LDEXP:
        return !ot_complex(p) && t[1] < STC_F32;
    case O_FLOORDIV:
    case O_MOD:
    case O_LT:
    case O_LE:
    case O_GT:
    case O_GE:
    case O_MIN:
    case O_MAX:
    case O_SIGN:
    case O_REAL2:
    case O_FMA:
    case O_ROUNDING:
        return !ot_complex(p);
    case O_REAL1: {
        static const char *const real_only[] = {"exp2",  "expm1", "log2", "log10",
                                                "log1p", "cbrt",  "erf",  "erfc"};
        for (size_t k = 0; k < sizeof real_only / sizeof real_only[0]; k++)
            if (strcmp(table[fn].name, real_only[k]) == 0) return !ot_complex(p);
        return true;
    }
    default:
        return true;
    }
}

/* ---- exact operands ------------------------------------------------------------ */

static oval result_int(stc_type t, int64_t i)
{
    return ov_int(t, i);
}

static int64_t ipow(int64_t x, int64_t y)
{
    uint64_t r = 1, b = (uint64_t)x;
    for (uint64_t e = (uint64_t)y; e; e >>= 1, b *= b)
        if (e & 1) r *= b;
    return (int64_t)r;
}

/* Floored, in as many bits as it takes. */
static int64_t divide(bool u, bool rest, int64_t x, int64_t y)
{
    if (u) return (int64_t)(rest ? (uint64_t)x % (uint64_t)y : (uint64_t)x / (uint64_t)y);
    __int128 q = (__int128)x / y;
    if (q * y != x && (x < 0) != (y < 0)) q--;
    return (int64_t)(rest ? x - q * y : q);
}

static int64_t greatest(bool u, int64_t x, int64_t y)
{
    uint64_t a = !u && x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    uint64_t b = !u && y < 0 ? 0 - (uint64_t)y : (uint64_t)y;
    while (b) {
        uint64_t r = a % b;
        a = b, b = r;
    }
    return (int64_t)a;
}

static oval shift(opcode op, stc_type t, int64_t x, int64_t y, unsigned *flags)
{
    if (y < 0 || y > 62) {
        *flags |= OV_HAZARD;
        return ov_any(t);
    }
    if (op == O_SHL) return result_int(t, (int64_t)((uint64_t)x << y));
    return result_int(t, ot_unsigned(t) ? (int64_t)((uint64_t)x >> y) : x >> y);
}

/* A value that its type could not store: limits as identities fail on it. */
static bool beyond(stc_type t, int64_t x)
{
    oval v = ov_int(t, x);
    return ov_store(v, t).i != x;
}

unsigned of_literal(const oval *v, stc_type t)
{
    if (!v->weak || t > STC_U64 || t == STC_BOOL || v->type > STC_U64) return 0;
    return beyond(t, v->i) || (ot_unsigned(t) && v->i < 0) ? OV_LITERAL : 0;
}

/* Whether op is a comparison, and what comes of it. */
static bool test(opcode op, bool less, bool equal, bool greater, bool *out)
{
    *out = op == O_EQ   ? equal
           : op == O_NE ? !equal
           : op == O_LT ? less
           : op == O_LE ? less || equal
           : op == O_GT ? greater
                        : greater || equal;
    return op == O_EQ || op == O_NE || op == O_LT || op == O_LE || op == O_GT || op == O_GE;
}

static oval call_int(opcode op, stc_type t, const oval *a, unsigned *flags)
{
    bool u = ot_unsigned(t);
    int64_t x = a[0].i, y = a[1].i;
    bool limits = op == O_MIN || op == O_MAX || op == O_AND || op == O_OR;
    if (limits && (beyond(t, x) || beyond(t, y))) return *flags |= OV_HAZARD, ov_any(t);
    bool less = u ? (uint64_t)x < (uint64_t)y : x < y, truth;
    if (test(op, less, x == y, !less && x != y, &truth)) return result_int(STC_BOOL, truth);
    if (op == O_ISNAN || op == O_ISINF || op == O_ISFINITE)
        return result_int(STC_BOOL, op == O_ISFINITE);
    switch (op) {
    case O_ADD:
        return result_int(t, (int64_t)((uint64_t)x + (uint64_t)y));
    case O_SUB:
        return result_int(t, (int64_t)((uint64_t)x - (uint64_t)y));
    case O_MUL:
        return result_int(t, (int64_t)((uint64_t)x * (uint64_t)y));
    case O_FLOORDIV:
    case O_MOD:
        if (y == 0) {
            *flags |= OV_FAULT;
            return ov_any(t);
        }
        return result_int(t, divide(u, op == O_MOD, x, y));
    case O_POW:
        if (!u && y < 0) {
            *flags |= OV_FAULT;
            return ov_any(t);
        }
        return result_int(t, ipow(x, y));
    case O_NEG:
        return result_int(t, (int64_t)(0 - (uint64_t)x));
    case O_INV:
        return result_int(t, t == STC_BOOL ? x == 0 : ~x);
    case O_SHL:
    case O_SHR:
        return shift(op, t, x, y, flags);
    case O_AND:
        return result_int(t, x & y);
    case O_XOR:
        return result_int(t, x ^ y);
    case O_OR:
        return result_int(t, x | y);
    case O_ABS:
        return result_int(t, !u && x < 0 ? (int64_t)(0 - (uint64_t)x) : x);
    case O_MIN:
        return result_int(t, less ? x : y);
    case O_MAX:
        return result_int(t, less ? y : x);
    case O_SIGN:
        return result_int(t, u ? x != 0 : (x > 0) - (x < 0));
    case O_IM:
        return result_int(t, 0);
    case O_GCD:
        return result_int(t, greatest(u, x, y));
    case O_CONJ:
    case O_RE:
    case O_ROUNDING:
        return result_int(t, x);
    default:
        return ov_any(t);
    }
}

/* Transcendental functions may differ by a few units between libraries. */
static oval loose(oval v)
{
    double eps = v.type == STC_F32 || v.type == STC_C64 ? 0x1p-23 : 0x1p-52;
    if (v.mag <= ldexp(1, v.gran + 12)) eps /= 4; /* likely an exact case */
    v.err += 8 * eps * v.mag + (eps > 0x1p-40 ? 0x1p-126 : 0x1p-1000);
    return v;
}

/* Finite operands whose result isn't, or NaN out of numbers: not ours to say. */
static oval settled(opcode op, oval r, bool finite, bool log, unsigned *flags)
{
    bool bad = isnan(r.re) || isnan(r.im);
    if (finite && !isfinite(r.re) && !log) bad = true;
    if (!bad) return r;
    (void)op;
    *flags |= OV_HAZARD;
    return ov_any(r.type);
}

static bool log_like(double (*f)(double))
{
    return f == log || f == log2 || f == log10 || f == log1p;
}

/* Factors may be multiplied in another order where the product isn't exact. */
static oval product(stc_type t, double x, double y)
{
    oval r = ov_real(t, t == STC_F32 ? (float)x * (float)y : x * y);
    if (isfinite(r.re) && fma(x, y, -r.re) != 0)
        r.err = r.mag * (t == STC_F32 ? 0x1p-22 : 0x1p-51);
    return r;
}

static oval arithmetic(opcode op, stc_type t, double x, double y)
{
    const float u = (float)x, v = (float)y;
    const bool single = t == STC_F32;
    if (op == O_ADD) return ov_real(t, single ? u + v : x + y);
    if (op == O_SUB) return ov_real(t, single ? u - v : x - y);
    if (op == O_DIV) return ov_real(t, single ? u / v : x / y);
    return product(t, x, y);
}

static oval call_real(const row *k, stc_type t, const oval *a, unsigned *flags)
{
    double x = a[0].re, y = a[1].re;
    bool finite = isfinite(x) && (k->arity < 2 || isfinite(y)), truth;
    oval r;
    if (test(k->op, x<y, x == y, x> y, &truth)) return result_int(STC_BOOL, truth);
    switch (k->op) {
    case O_ADD:
    case O_SUB:
    case O_MUL:
    case O_DIV:
        r = arithmetic(k->op, t, x, y);
        break;
    case O_FLOORDIV:
        if (!finite || y == 0) return *flags |= OV_HAZARD, ov_any(t);
        r = loose(ov_real(t, (double)floorl((long double)x / y)));
        break;
    case O_MOD:
        r = ov_real(t, fmod(x, y));
        if (r.re != 0 && (r.re < 0) != (y < 0)) r = loose(ov_real(t, r.re + y));
        break;
    case O_POW:
        if (x == 0 && y < 0) return *flags |= OV_HAZARD, ov_any(t);
        r = loose(ov_real(t, pow(x, y)));
        break;
    case O_NEG:
        r = ov_real(t, -x);
        break;
    case O_ABS:
        r = ov_real(t, fabs(x));
        break;
    case O_MIN:
        r = ov_real(t, x < y || isnan(x) ? x : y);
        break;
    case O_MAX:
        r = ov_real(t, x > y || isnan(x) ? x : y);
        break;
    case O_SIGN:
        r = ov_real(t, (x > 0) - (x < 0));
        break;
    case O_IM:
        r = ov_real(t, 0);
        break;
    case O_CONJ:
    case O_RE:
        r = ov_real(t, x);
        break;
    case O_ROUNDING:
        r = ov_real(t, k->f1(x));
        break;
    case O_ISNAN:
        return result_int(STC_BOOL, isnan(x) != 0);
    case O_ISINF:
        return result_int(STC_BOOL, isinf(x) != 0);
    case O_ISFINITE:
        return result_int(STC_BOOL, isfinite(x) != 0);
    case O_REAL1:
        r = loose(ov_real(t, k->f1(x)));
        break;
    case O_REAL2:
        if (k->f2 == atan2 && y <= 0 && x == 0) return *flags |= OV_HAZARD, ov_any(t);
        r = loose(ov_real(t, k->f2(x, y)));
        break;
    case O_FMA:
        r = loose(ov_real(t, fma(x, y, a[2].re)));
        break;
    default:
        return ov_any(t);
    }
    return settled(k->op, r, finite, log_like(k->f1), flags);
}

static double complex complex_of(const oval *v)
{
    const double part[2] = {v->re, v->im}; /* v->re + v->im * I is wrong for inf */
    double complex z;
    memcpy(&z, part, sizeof z);
    return z;
}

static oval call_complex(const row *k, stc_type t, const oval *a, unsigned *flags)
{
    double complex x = complex_of(&a[0]), y = complex_of(&a[1]), z;
    stc_type rt = real_of(t);
    switch (k->op) {
    case O_ADD:
        z = x + y;
        break;
    case O_SUB:
        z = x - y;
        break;
    case O_MUL:
        z = x * y;
        break;
    case O_DIV:
        if (y == 0) return *flags |= OV_HAZARD, ov_any(t);
        z = x / y;
        break;
    case O_NEG:
        z = -x;
        break;
    case O_CONJ:
        z = conj(x);
        break;
    case O_EQ:
        return result_int(STC_BOOL, x == y);
    case O_NE:
        return result_int(STC_BOOL, x != y);
    case O_ABS:
        return loose(ov_real(rt, cabs(x)));
    case O_RE:
        return ov_real(rt, a[0].re);
    case O_IM:
        return ov_real(rt, a[0].im);
    case O_ISNAN:
        return result_int(STC_BOOL, isnan(a[0].re) || isnan(a[0].im));
    case O_ISINF:
        return result_int(STC_BOOL, isinf(a[0].re) || isinf(a[0].im));
    case O_ISFINITE:
        return result_int(STC_BOOL, isfinite(a[0].re) && isfinite(a[0].im));
    default:
        return *flags |= OV_HAZARD, ov_any(t); /* branch cuts and ±0 */
    }
    oval r = ov_complex(t, creal(z), cimag(z));
    if (k->op == O_MUL || k->op == O_DIV) r = loose(r);
    return settled(k->op, r, false, false, flags);
}

static oval call_exact(int fn, stc_type t, const oval *a, unsigned *flags)
{
    const row *k = &table[fn];
    if (k->op == O_NOT) return result_int(STC_BOOL, !ov_true(&a[0]));
    if (k->op == O_LAND) return result_int(STC_BOOL, ov_true(&a[0]) && ov_true(&a[1]));
    if (k->op == O_LOR) return result_int(STC_BOOL, ov_true(&a[0]) || ov_true(&a[1]));
    if (k->op == O_LDEXP) {
        int64_t n = a[1].i > 5000 ? 5000 : a[1].i < -5000 ? -5000 : a[1].i;
        return settled(k->op, ov_real(t, ldexp(a[0].re, (int)n)), true, false, flags);
    }
    if (ot_complex(t)) return call_complex(k, t, a, flags);
    if (ot_float(t)) return call_real(k, t, a, flags);
    return call_int(k->op, t, a, flags);
}

/* ---- inexact operands ------------------------------------------------------------ */

static double eps_of(stc_type t)
{
    return t == STC_F32 || t == STC_C64 ? 0x1p-23 : 0x1p-52;
}

/* Sums: exact as long as every term is a multiple of one granule; what was rounded before
 * isn't, and a factor may be taken out of it. */
static oval with_sum_error(oval r, const oval *a, const oval *b)
{
    if (ov_is_any(&r) || !(ot_float(r.type) || ot_complex(r.type))) return r;
    if (!isfinite(r.re) || !isfinite(r.im)) /* the other part has no magnitude here */
        return ot_complex(r.type) ? ov_any(r.type) : r;
    int mant = r.type == STC_F32 || r.type == STC_C64 ? 24 : 53;
    r.gran = a->gran < b->gran ? a->gran : b->gran;
    r.mag = a->mag + b->mag;
    r.err = a->err + b->err;
    if (r.mag > ldexp(1, r.gran + mant) || r.err > 0) r.err += 4 * eps_of(r.type) * r.mag;
    return r;
}

static oval with_product_error(oval r, const oval *a, const oval *b)
{
    if (ov_is_any(&r) || (a->err == 0 && b->err == 0)) return r;
    double x = fabs(a->re) + fabs(a->im), y = fabs(b->re) + fabs(b->im);
    r.err += x * b->err + y * a->err + a->err * b->err + 4 * eps_of(r.type) * r.mag;
    r.mag = x * b->mag + y * a->mag + r.mag;
    if (!(r.err < OV_ANY)) return ov_any(r.type); /* of inf, nearly */
    return r;
}

/* What a product is divided by, one factor may be: that is rounded elsewhere. */
static oval with_quotient_error(oval r)
{
    if (ov_is_any(&r) || !(ot_float(r.type) || ot_complex(r.type)) || !isfinite(r.re))
        return r;
    r.mag = fabs(r.re) + fabs(r.im);
    r.err += 2 * eps_of(r.type) * r.mag;
    return r;
}

/* Evaluates at the corners of the operands' tolerances. */
static oval with_corners(int fn, stc_type t, oval r, const oval *a, int n, unsigned *flags)
{
    int combos = n == 1 ? 3 : n == 2 ? 9 : 27;
    double worst = 0;
    for (int c = 0; c < combos && !ov_is_any(&r); c++) {
        oval moved[3];
        for (int k = 0, d = c; k < n; k++, d /= 3) {
            moved[k] = a[k];
            moved[k].re += (d % 3 - 1) * a[k].err;
            moved[k].err = 0;
        }
        unsigned f = 0;
        oval s = call_exact(fn, t, moved, &f);
        *flags |= f;
        if (f || ov_is_any(&s)) return ov_any(r.type);
        if (s.i != r.i) return ov_any(r.type);
        double d = fabs(s.re - r.re);
        if (!(d <= INFINITY)) d = 0; /* inf - inf */
        if (d == INFINITY) return ov_any(r.type);
        if (d > worst) worst = d;
    }
    r.err += 2 * worst;
    return r;
}

oval of_call(int fn, const oval *args, unsigned *flags)
{
    const row *k = &table[fn];
    int n = k->arity;
    stc_type t[3] = {0};
    bool w[3] = {0}, weak;
    for (int p = 0; p < n; p++)
        t[p] = args[p].type, w[p] = args[p].weak;
    stc_type rt = of_type(fn, t, w, &weak), ct = compute_type(fn, t, w);
    const bool strong[3] = {false, false, false};
    for (int p = 0; p < n && k->typing == T_COMPARE; p++) /* literals compare exactly */
        if (w[p] && ct <= STC_U64 && ct != STC_BOOL && t[p] <= STC_U64 &&
            (beyond(ct, args[p].i) || (ot_unsigned(ct) && args[p].i < 0)))
            ct = compute_type(fn, t, strong);
    oval a[3] = {{0}}, r;
    bool sure = true, exact = true;
    for (int p = 0; p < n; p++) {
        bool keep = k->typing == T_LOGIC || k->typing == T_CAST ||
                    (k->typing == T_SELECT && p == 0);
        if (!keep) *flags |= of_literal(&args[p], ct);
        a[p] = keep ? args[p] : ov_convert(args[p], k->op == O_LDEXP && p ? STC_I64 : ct);
        sure = sure && !ov_is_any(&a[p]);
        exact = exact && a[p].err == 0;
    }
    if (!sure) {
        r = ov_any(rt);
    } else if (k->op == O_SELECT) {
        r = a[ov_true(&a[0]) ? 1 : 2];
        r.type = rt;
    } else if (k->typing == T_CAST) {
        r = ov_store(args[0], rt);
    } else {
        r = call_exact(fn, ct, a, flags);
        if (k->op == O_ADD || k->op == O_SUB)
            r = with_sum_error(r, &a[0], &a[1]);
        else if (k->op == O_MUL && ct >= STC_F32)
            r = with_product_error(r, &a[0], &a[1]);
        else if (k->op == O_NEG || k->op == O_CONJ)
            r.err = a[0].err, r.mag = a[0].mag, r.gran = a[0].gran;
        else if (!exact && (ot_complex(ct)))
            r = ov_any(rt);
        else if (!exact)
            r = with_corners(fn, ct, r, a, n, flags);
        if (k->op == O_DIV) r = with_quotient_error(r);
    }
    r.weak = weak;
    return r;
}

/* ---- reductions -------------------------------------------------------------------- */

stc_type of_reduce_type(int fn, stc_type t)
{
    opcode op = table[fn].op;
    if (op == O_ADD || op == O_MUL) return ot_sum(t);
    stc_type two[2] = {t, t};
    bool weak[2] = {false, false};
    return of_type(fn, two, weak, NULL);
}

static int64_t limit(stc_type t, bool high)
{
    int bits = (int)stc_type_size(t) * 8;
    if (t == STC_BOOL) return high;
    if (ot_unsigned(t)) return high ? (int64_t)(UINT64_MAX >> (64 - bits)) : 0;
    return high ? INT64_MAX >> (64 - bits) : INT64_MIN >> (64 - bits);
}

bool of_identity(int fn, stc_type t, oval *out)
{
    bool real = t >= STC_F32;
    switch (table[fn].op) {
    case O_ADD:
    case O_SUB:
    case O_XOR:
    case O_OR:
    case O_LOR:
    case O_GCD:
        *out = real ? ov_real(t, 0) : ov_int(t, 0);
        return true;
    case O_MUL:
    case O_DIV:
    case O_FLOORDIV:
    case O_POW:
    case O_LAND:
        *out = real ? ov_real(t, 1) : ov_int(t, 1);
        return true;
    case O_AND:
        *out = ov_store(ov_int(STC_I64, -1), t);
        return true;
    case O_MIN:
        *out = real ? ov_real(t, INFINITY) : ov_int(t, limit(t, true));
        return true;
    case O_MAX:
        *out = real ? ov_real(t, -INFINITY) : ov_int(t, limit(t, false));
        return true;
    default:
        return false;
    }
}

oval of_step(int fn, oval acc, oval v, unsigned *flags)
{
    oval two[2] = {acc, v};
    two[0].weak = two[1].weak = false;
    oval r = of_call(fn, two, flags);
    bool real = ot_float(r.type) || ot_complex(r.type);
    if (table[fn].op == O_MUL && real && isfinite(v.mag)) {
        const double by = log2(fabs(v.re) + fabs(v.im));
        r.up = acc.up + (by > 0 ? by : 0);
        if (r.up > (eps_of(r.type) > 0x1p-40 ? 120 : 1000)) {
            const double up = r.up; /* inf in one order, 0 in another */
            *flags |= OV_HAZARD;
            r = ov_any(r.type);
            r.up = up;
        }
    }
    if (table[fn].op == O_MUL && real && !ov_is_any(&r)) {
        /* Factors may be multiplied in any order, or as a power. */
        int mant = r.type == STC_F32 || r.type == STC_C64 ? 24 : 53;
        if (r.mag > ldexp(1, r.gran + mant - 8)) r.err += 8 * eps_of(r.type) * r.mag;
        if (r.err > 0) r.err += 4 * eps_of(r.type) * r.mag;
        /* Below the least normal number a factor may round to nothing or to itself. */
        const double least = mant == 24 ? 0x1p-126 : 0x1p-1022;
        if (fabs(r.re) + fabs(r.im) < least) r.err += 4 * ldexp(least, 1 - mant);
    }
    return r;
}
