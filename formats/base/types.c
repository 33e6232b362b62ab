/* types.c: element types and value classes: names, sizes, promotion, and
 * conversion between storage, registers, and the public union.
 *
 * Everything here follows from the two tables of types.def; promotion is
 * NumPy 2's for typed operands.
 */
#include "types.h"
#include "decimal.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CLASS(NAME, name, ctype) typedef ctype class_##NAME;
#include "types.def"

typedef struct type_row {
    const char *name;
    uint8_t size, cls, rank;
} type_row;

static const type_row rows[TYPE_COUNT] = {
#define TYPE(NAME, name, ctype, CLS, rank) {#name, sizeof(ctype), CLASS_##CLS, rank},
#include "types.def"
};

static const struct {
    const char *name;
    stc_type type;
} classes[CLASS_COUNT] = {
#define CLASS(NAME, name, ctype) {#name, STC_##NAME},
#include "types.def"
};

vclass type_class(stc_type t)
{
    return (vclass)rows[t].cls;
}

size_t type_size(stc_type t)
{
    return rows[t].size;
}

const char *type_name(stc_type t)
{
    return (unsigned)t < TYPE_COUNT ? rows[t].name : "unknown";
}

const char *class_name(vclass c)
{
    return (unsigned)c < CLASS_COUNT ? classes[c].name : "unknown";
}

bool type_parse(const char *name, size_t len, stc_type *out)
{
    for (int t = 0; t < TYPE_COUNT; t++) {
        if (strlen(rows[t].name) == len && !memcmp(rows[t].name, name, len)) {
            *out = (stc_type)t;
            return true;
        }
    }
    return false;
}

bool type_is_float(stc_type t)
{
    return t == STC_F32 || t == STC_F64;
}

bool type_is_complex(stc_type t)
{
    return t == STC_C64 || t == STC_C128;
}

bool type_is_unsigned(stc_type t)
{
    return rows[t].cls == CLASS_U64;
}

bool type_is_integer(stc_type t)
{
    return t != STC_BOOL && (rows[t].cls == CLASS_I64 || rows[t].cls == CLASS_U64);
}

stc_type class_type(vclass c)
{
    return classes[c].type;
}

/* The signed type of so many bits or more. */
static stc_type signed_of(int bits)
{
    return bits <= 8 ? STC_I8 : bits <= 16 ? STC_I16 : bits <= 32 ? STC_I32 : STC_I64;
}

static stc_type promote_integers(stc_type a, stc_type b)
{
    if (type_is_unsigned(a) == type_is_unsigned(b)) {
        return rows[a].rank >= rows[b].rank ? a : b;
    }
    const stc_type u = type_is_unsigned(a) ? a : b, s = u == a ? b : a;
    if (rows[s].rank > rows[u].rank) return s;
    return rows[u].rank >= 64 ? STC_F64 : signed_of(2 * rows[u].rank);
}

stc_type type_promote(stc_type a, stc_type b)
{
    if (a == b || b == STC_BOOL) return a;
    if (a == STC_BOOL) return b;
    if (type_is_integer(a) && type_is_integer(b)) return promote_integers(a, b);
    const bool cplx = type_is_complex(a) || type_is_complex(b);
    /* 24 bits of mantissa hold the integers of 8 and 16 bits. */
    const bool wide = rows[a].rank > 24 || rows[b].rank > 24;
    if (cplx) return wide ? STC_C128 : STC_C64;
    return wide ? STC_F64 : STC_F32;
}

/* An element as a number, or the other way round: any byte but 0 is true. */
#define TRUTH(NAME, x) (STC_##NAME == STC_BOOL ? (x) != 0 : (x))

value type_load(stc_type t, const void *base, int64_t index)
{
    value v;
    memset(&v, 0, sizeof v);
    switch (t) {
#define TYPE(NAME, name, ctype, CLS, rank)                                                 \
    case STC_##NAME: {                                                                     \
        const class_##CLS x = (class_##CLS)TRUTH(NAME, ((const ctype *)base)[index]);      \
        memcpy(&v, &x, sizeof x);                                                          \
        break;                                                                             \
    }
#include "types.def"
    }
    return v;
}

void type_store(stc_type t, void *base, int64_t index, value v)
{
    switch (t) {
#define TYPE(NAME, name, ctype, CLS, rank)                                                 \
    case STC_##NAME: {                                                                     \
        class_##CLS x;                                                                     \
        memcpy(&x, &v, sizeof x);                                                          \
        ((ctype *)base)[index] = (ctype)TRUTH(NAME, x);                                    \
        break;                                                                             \
    }
#include "types.def"
    }
}

static int64_t saturate_i64(double x)
{
    if (x != x) return 0;
    if (x >= 0x1p63) return INT64_MAX;
    return x <= -0x1p63 ? INT64_MIN : (int64_t)x;
}

static uint64_t saturate_u64(double x)
{
    if (!(x > 0)) return 0; /* NaN too */
    return x >= 0x1p64 ? UINT64_MAX : (uint64_t)x;
}

/* A complex number from its parts: multiplying by I would turn an infinite
 * part into NaN. */
static cdouble make_c128(double re, double im)
{
    value v;
    const double part[2] = {re, im};
    memcpy(&v.c128, part, sizeof part);
    return v.c128;
}

static cfloat make_c64(float re, float im)
{
    value v;
    const float part[2] = {re, im};
    memcpy(&v.c64, part, sizeof part);
    return v.c64;
}

static value from_integer(vclass to, vclass from, value v)
{
    value r;
    memset(&r, 0, sizeof r);
    const bool neg = from == CLASS_I64;
    const double d = neg ? (double)v.i64 : (double)v.u64;
    const float f = neg ? (float)v.i64 : (float)v.u64;
    switch (to) {
    case CLASS_F32:
        r.f32 = f;
        break;
    case CLASS_F64:
        r.f64 = d;
        break;
    case CLASS_C64:
        r.c64 = make_c64(f, 0);
        break;
    case CLASS_C128:
        r.c128 = make_c128(d, 0);
        break;
    default:
        r.u64 = v.u64; /* the same bits: wraps as C does */
        break;
    }
    return r;
}

value class_convert(vclass to, vclass from, value v)
{
    if (to == from) return v;
    if (from == CLASS_I64 || from == CLASS_U64) return from_integer(to, from, v);
    double re = 0, im = 0;
    switch (from) {
    case CLASS_F32:
        re = v.f32;
        break;
    case CLASS_F64:
        re = v.f64;
        break;
    case CLASS_C64:
        re = crealf(v.c64);
        im = cimagf(v.c64);
        break;
    default:
        re = creal(v.c128);
        im = cimag(v.c128);
        break;
    }
    value r;
    memset(&r, 0, sizeof r);
    switch (to) {
    case CLASS_I64:
        r.i64 = saturate_i64(re);
        break;
    case CLASS_U64:
        r.u64 = saturate_u64(re);
        break;
    case CLASS_F32:
        r.f32 = (float)re;
        break;
    case CLASS_F64:
        r.f64 = re;
        break;
    case CLASS_C64:
        r.c64 = make_c64((float)re, (float)im);
        break;
    default:
        r.c128 = make_c128(re, im);
        break;
    }
    return r;
}

static bool same(double a, double b)
{
    return a == b || (a != a && b != b);
}

bool class_equal(vclass c, value a, value b)
{
    switch (c) {
    case CLASS_I64:
    case CLASS_U64:
        return a.u64 == b.u64;
    case CLASS_F32:
        return same(a.f32, b.f32);
    case CLASS_F64:
        return same(a.f64, b.f64);
    case CLASS_C64:
        return same(crealf(a.c64), crealf(b.c64)) && same(cimagf(a.c64), cimagf(b.c64));
    default:
        return same(creal(a.c128), creal(b.c128)) && same(cimag(a.c128), cimag(b.c128));
    }
}

bool class_is_zero(vclass c, value v)
{
    value zero;
    memset(&zero, 0, sizeof zero);
    return class_equal(c, v, zero);
}

value type_round(stc_type t, value v)
{
    cdouble room; /* the largest element, aligned for any */
    type_store(t, &room, 0, v);
    return type_load(t, &room, 0);
}

value type_convert(stc_type to, stc_type from, value v)
{
    if (to == STC_BOOL) {
        value r;
        memset(&r, 0, sizeof r);
        r.i64 = !class_is_zero(type_class(from), v);
        return r;
    }
    return type_round(to, class_convert(type_class(to), type_class(from), v));
}

value value_from_public(stc_type t, stc_value v)
{
    value r;
    memset(&r, 0, sizeof r);
    switch (type_class(t)) {
    case CLASS_I64:
        r.i64 = v.i;
        break;
    case CLASS_U64:
        r.u64 = v.u;
        break;
    case CLASS_F32:
        r.f32 = (float)v.f;
        break;
    case CLASS_F64:
        r.f64 = v.f;
        break;
    case CLASS_C64:
        r.c64 = make_c64((float)v.c[0], (float)v.c[1]);
        break;
    default:
        r.c128 = make_c128(v.c[0], v.c[1]);
        break;
    }
    return type_round(t, r);
}

stc_value value_to_public(stc_type t, value v)
{
    stc_value r = {.c = {0, 0}};
    switch (type_class(t)) {
    case CLASS_I64:
        r.i = v.i64;
        break;
    case CLASS_U64:
        r.u = v.u64;
        break;
    case CLASS_F32:
        r.f = v.f32;
        break;
    case CLASS_F64:
        r.f = v.f64;
        break;
    case CLASS_C64:
        r.c[0] = crealf(v.c64);
        r.c[1] = cimagf(v.c64);
        break;
    default:
        r.c[0] = creal(v.c128);
        r.c[1] = cimag(v.c128);
        break;
    }
    return r;
}

/* Copies a text of n bytes as snprintf would. */
static int give(const char *text, int n, char *buf, size_t size)
{
    if (size > (size_t)n) {
        memcpy(buf, text, (size_t)n + 1);
    } else if (size > 0) {
        memcpy(buf, text, size - 1);
        buf[size - 1] = 0;
    }
    return n;
}

int type_show(stc_type t, value v, char *buf, size_t size)
{
    char re[DECIMAL_MAX], im[DECIMAL_MAX];
    if (!type_is_complex(t)) return type_print(t, v, buf, size);
    if (type_class(t) == CLASS_C64) {
        decimal_print(crealf(v.c64), true, re);
        decimal_print(cimagf(v.c64), true, im);
    } else {
        decimal_print(creal(v.c128), false, re);
        decimal_print(cimag(v.c128), false, im);
    }
    return snprintf(buf, size, "%s%s%sj", re, *im == '-' ? "" : "+", im);
}

int type_print(stc_type t, value v, char *buf, size_t size)
{
    char re[DECIMAL_MAX], im[DECIMAL_MAX];
    switch (type_class(t)) {
    case CLASS_I64:
        return snprintf(buf, size, "%" PRId64, v.i64);
    case CLASS_U64:
        return snprintf(buf, size, "%" PRIu64, v.u64);
    case CLASS_F32:
        return give(re, decimal_print(v.f32, true, re), buf, size);
    case CLASS_F64:
        return give(re, decimal_print(v.f64, false, re), buf, size);
    case CLASS_C64:
        decimal_print(crealf(v.c64), true, re);
        decimal_print(cimagf(v.c64), true, im);
        break;
    default:
        decimal_print(creal(v.c128), false, re);
        decimal_print(cimag(v.c128), false, im);
        break;
    }
    return snprintf(buf, size, "%s %s", re, im);
}
