/* oracle_value.c: values and types of the oracle: loading, promotion after
 * NumPy 2, conversion, storing, and comparison within the error bound that a
 * value carries (oracle_value.h). */
#include "oracle_value.h"
#include <inttypes.h>
#include <string.h>

static int type_bits(stc_type t)
{
    switch (t) {
    case STC_BOOL:
        return 1;
    case STC_I8:
    case STC_U8:
        return 8;
    case STC_I16:
    case STC_U16:
        return 16;
    case STC_I32:
    case STC_U32:
    case STC_F32:
        return 32;
    case STC_C128:
        return 128;
    default:
        return 64;
    }
}

bool ot_float(stc_type t)
{
    return t == STC_F32 || t == STC_F64;
}
bool ot_complex(stc_type t)
{
    return t == STC_C64 || t == STC_C128;
}
bool ot_unsigned(stc_type t)
{
    return t >= STC_U8 && t <= STC_U64;
}
bool ot_integer(stc_type t)
{
    return t >= STC_I8 && t <= STC_U64;
}

static bool inexact(stc_type t)
{
    return t >= STC_F32;
}
static bool single(stc_type t)
{
    return t == STC_F32 || t == STC_C64;
}
static int mantissa(stc_type t)
{
    return single(t) ? 24 : 53;
}
static double epsilon(stc_type t)
{
    return single(t) ? 0x1p-23 : 0x1p-52;
}

/* ---- making values --------------------------------------------------------- */

static int granule(double v)
{
    if (v == 0 || !isfinite(v)) return 2000;
    int e;
    double m = frexp(v, &e); /* m * 2^53 is an integer */
    int64_t k = (int64_t)ldexp(m, 53);
    return e - 53 + __builtin_ctzll((unsigned long long)k);
}

static oval measured(oval v)
{
    int a = granule(v.re), b = granule(v.im);
    v.gran = a < b ? a : b;
    double sum = fabs(v.re) + fabs(v.im);
    v.mag = isfinite(sum) ? sum : 0;
    return v;
}

oval ov_int(stc_type t, int64_t i)
{
    return (oval){.type = t, .i = i};
}

oval ov_complex(stc_type t, double re, double im)
{
    if (single(t)) re = (float)re, im = (float)im;
    return measured((oval){.type = t, .re = re, .im = im});
}

oval ov_real(stc_type t, double re)
{
    return ov_complex(t, re, 0);
}

oval ov_any(stc_type t)
{
    return (oval){.type = t, .err = OV_ANY, .mag = 1};
}

bool ov_is_any(const oval *v)
{
    return v->err == OV_ANY;
}

bool ov_true(const oval *v)
{
    return inexact(v->type) ? v->re != 0 || v->im != 0 : v->i != 0;
}

oval ov_load(stc_type t, const void *base, int64_t n)
{
    const char *p = (const char *)base + n * (int64_t)stc_type_size(t);
    switch (t) {
    case STC_BOOL:
    case STC_U8:
        return ov_int(t, *(const uint8_t *)p);
    case STC_I8:
        return ov_int(t, *(const int8_t *)p);
    case STC_I16:
        return ov_int(t, *(const int16_t *)p);
    case STC_I32:
        return ov_int(t, *(const int32_t *)p);
    case STC_U16:
        return ov_int(t, *(const uint16_t *)p);
    case STC_U32:
        return ov_int(t, *(const uint32_t *)p);
    case STC_I64:
    case STC_U64:
        return ov_int(t, *(const int64_t *)p);
    case STC_F32:
        return ov_real(t, *(const float *)p);
    case STC_F64:
        return ov_real(t, *(const double *)p);
    case STC_C64:
        return ov_complex(t, ((const float *)p)[0], ((const float *)p)[1]);
    default:
        return ov_complex(t, ((const double *)p)[0], ((const double *)p)[1]);
    }
}

void ov_save(const oval *v, void *base, int64_t n)
{
    char *p = (char *)base + n * (int64_t)stc_type_size(v->type);
    switch (v->type) {
    case STC_BOOL:
    case STC_I8:
    case STC_U8:
        *(uint8_t *)p = (uint8_t)v->i;
        break;
    case STC_I16:
    case STC_U16:
        *(uint16_t *)p = (uint16_t)v->i;
        break;
    case STC_I32:
    case STC_U32:
        *(uint32_t *)p = (uint32_t)v->i;
        break;
    case STC_I64:
    case STC_U64:
        *(int64_t *)p = v->i;
        break;
    case STC_F32:
        *(float *)p = (float)v->re;
        break;
    case STC_F64:
        *(double *)p = v->re;
        break;
    case STC_C64:
        ((float *)p)[0] = (float)v->re, ((float *)p)[1] = (float)v->im;
        break;
    case STC_C128:
        ((double *)p)[0] = v->re, ((double *)p)[1] = v->im;
        break;
    }
}

stc_value ov_public(const oval *v)
{
    stc_value r = {.c = {0, 0}};
    if (ot_complex(v->type))
        r.c[0] = v->re, r.c[1] = v->im;
    else if (ot_float(v->type))
        r.f = v->re;
    else
        r.i = v->i;
    return r;
}

/* ---- promotion ------------------------------------------------------------- */

static stc_type signed_of(int bits)
{
    return bits <= 8 ? STC_I8 : bits <= 16 ? STC_I16 : bits <= 32 ? STC_I32 : STC_I64;
}

static stc_type promote_integers(stc_type a, stc_type b)
{
    if (a == STC_BOOL) return b;
    if (b == STC_BOOL) return a;
    int na = type_bits(a), nb = type_bits(b);
    if (ot_unsigned(a) == ot_unsigned(b)) return na >= nb ? a : b;
    int nu = ot_unsigned(a) ? na : nb, ns = ot_unsigned(a) ? nb : na;
    if (ns > nu) return signed_of(ns);
    return nu == 64 ? STC_F64 : signed_of(2 * nu);
}

/* The float that takes an integer type: f32 holds up to 16 bits. */
static stc_type float_for(stc_type integer)
{
    return type_bits(integer) <= 16 ? STC_F32 : STC_F64;
}

static stc_type promote_typed(stc_type a, stc_type b)
{
    if (!inexact(a) && !inexact(b)) return promote_integers(a, b);
    bool complex = ot_complex(a) || ot_complex(b);
    stc_type fa = inexact(a) ? a : float_for(a), fb = inexact(b) ? b : float_for(b);
    bool wide = !single(fa) || !single(fb);
    if (complex) return wide ? STC_C128 : STC_C64;
    return wide ? STC_F64 : STC_F32;
}

static int weak_kind(stc_type t)
{
    return t == STC_BOOL ? 0 : ot_complex(t) ? 3 : ot_float(t) ? 2 : 1;
}

stc_type ot_promote(stc_type a, bool aweak, stc_type b, bool bweak)
{
    if (aweak == bweak) return promote_typed(a, b);
    stc_type strong = aweak ? b : a, weak = aweak ? a : b;
    int kw = weak_kind(weak), ks = weak_kind(strong);
    if (kw <= ks) return strong;
    if (kw == 1) return STC_I64;
    if (kw == 2) return STC_F64;
    return strong == STC_F32 ? STC_C64 : STC_C128;
}

stc_type ot_sum(stc_type t)
{
    if (inexact(t)) return t;
    return ot_unsigned(t) ? STC_U64 : STC_I64;
}

/* ---- conversion ------------------------------------------------------------ */

static int64_t to_signed(double d)
{
    if (isnan(d)) return 0;
    if (d >= 0x1p63) return INT64_MAX;
    if (d <= -0x1p63) return INT64_MIN;
    return (int64_t)d;
}

static int64_t to_unsigned(double d)
{
    if (isnan(d) || d <= 0) return 0;
    if (d >= 0x1p64) return -1;
    return (int64_t)(uint64_t)d;
}

static int64_t real_to_int(double d, stc_type t)
{
    if (t == STC_BOOL) return d != 0;
    return ot_unsigned(t) ? to_unsigned(d) : to_signed(d);
}

static oval inexact_to_int(oval v, stc_type t)
{
    if (ov_is_any(&v)) return ov_any(t);
    if (t == STC_BOOL) {
        bool near = v.err > 0 && fabs(v.re) + fabs(v.im) <= v.err;
        return near ? ov_any(t) : ov_int(t, ov_true(&v));
    }
    int64_t lo = real_to_int(v.re - v.err, t), hi = real_to_int(v.re + v.err, t);
    return lo == hi ? ov_int(t, lo) : ov_any(t);
}

static oval int_to_inexact(oval v, stc_type t)
{
    bool u = ot_unsigned(v.type);
    double d = single(t) ? (double)(u ? (float)(uint64_t)v.i : (float)v.i)
                         : (u ? (double)(uint64_t)v.i : (double)v.i);
    return ov_real(t, d);
}

oval ov_convert(oval v, stc_type t)
{
    bool weak = v.weak;
    oval r;
    if (ov_is_any(&v)) {
        r = ov_any(t);
    } else if (ot_complex(v.type) && !inexact(t) && t != STC_BOOL && !isfinite(v.re)) {
        r = ov_any(t); /* inf and nan of a complex product come as it is formed */
    } else if (!inexact(t)) {
        if (inexact(v.type))
            r = inexact_to_int(v, t);
        else
            r = ov_int(t, t == STC_BOOL ? v.i != 0 : v.i);
    } else if (!inexact(v.type)) {
        r = int_to_inexact(v, t);
    } else {
        r = ov_complex(t, v.re, ot_complex(t) ? v.im : 0);
        if (mantissa(t) < mantissa(v.type)) {
            bool exact = v.mag <= ldexp(1, v.gran + mantissa(t));
            if (!exact && v.err > 0) v.err += 4 * epsilon(t) * v.mag;
        }
        r.err = v.err;
        r.mag = v.mag;
        r.gran = v.gran;
    }
    r.weak = weak;
    return r;
}

static int64_t wrap(int64_t i, stc_type t)
{
    switch (t) {
    case STC_BOOL:
        return i != 0;
    case STC_I8:
        return (int8_t)i;
    case STC_I16:
        return (int16_t)i;
    case STC_I32:
        return (int32_t)i;
    case STC_U8:
        return (uint8_t)i;
    case STC_U16:
        return (uint16_t)i;
    case STC_U32:
        return (uint32_t)i;
    default:
        return i;
    }
}

oval ov_store(oval v, stc_type t)
{
    bool narrower = inexact(v.type) && single(t) && !single(v.type);
    oval r = ov_convert(v, t);
    r.weak = false;
    if (ov_is_any(&r)) return r;
    if (!inexact(t)) r.i = wrap(r.i, t);
    /* Partial sums may have been kept in the narrow type. */
    if (narrower && v.mag > ldexp(1, v.gran + 24)) r.err += 64 * epsilon(t) * v.mag;
    return r;
}

/* ---- comparison ------------------------------------------------------------ */

static bool part_agrees(double want, double got, double err)
{
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
    if (want == got) return true;
    return fabs(want - got) <= err;
}

bool ov_agrees(const oval *want, const oval *got)
{
    if (ov_is_any(want)) return true;
    if (!inexact(want->type)) return want->i == got->i;
    return part_agrees(want->re, got->re, want->err) &&
           part_agrees(want->im, got->im, want->err);
}

int ov_print(const oval *v, char *buf, size_t size)
{
    if (ov_is_any(v)) return snprintf(buf, size, "anything");
    int digits = single(v->type) ? 9 : 17;
    if (ot_complex(v->type)) {
        return snprintf(buf, size, "%.*g %+.*gj", digits, v->re, digits, v->im);
    }
    if (ot_float(v->type)) return snprintf(buf, size, "%.*g", digits, v->re);
    if (ot_unsigned(v->type)) return snprintf(buf, size, "%" PRIu64, (uint64_t)v->i);
    return snprintf(buf, size, "%" PRId64, v->i);
}
