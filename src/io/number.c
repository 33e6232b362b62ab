/* number.c: decimal text to integers and floats.
 *
 * Floats: up to 19 significant digits w and a decimal exponent e. Where w is
 * below 2^53 and |e| <= 22, both w and 10^|e| are exact doubles and one
 * multiplication or division rounds once (Clinger, "How to read floating point
 * numbers accurately", PLDI 1990). Where |e| <= 27, 5^|e| fits 64 bits: the
 * product or quotient is computed in 128 bits with a sticky bit, which is
 * exact too. The rest goes to strtod, on a copy without a decimal point (so
 * that the host's locale doesn't matter) and of bounded length: no more than
 * 768 digits can decide the rounding of a double, further ones are condensed
 * into one.
 */
#include "number.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_DIGITS 800

const char *scan_u64(const char *p, uint64_t *out)
{
    const char *first = p;
    uint64_t w = 0;
    while (is_digit(*p)) {
        if (__builtin_mul_overflow(w, (uint64_t)10, &w)) return NULL;
        if (__builtin_add_overflow(w, (uint64_t)(*p - '0'), &w)) return NULL;
        p++;
    }
    if (p == first) return NULL;
    *out = w;
    return p;
}

const char *scan_i64(const char *p, int64_t *out)
{
    const bool negative = *p == '-';
    if (*p == '-' || *p == '+') p++;
    uint64_t w;
    p = scan_u64(p, &w);
    if (!p || w > (uint64_t)INT64_MAX + negative) return NULL;
    *out = (int64_t)(negative ? 0 - w : w);
    return p;
}

/* A number taken apart: digits (perhaps with a point in them) and 10^exponent,
 * counted as if the point stood after the last digit. */
typedef struct decimal {
    const char *digits, *end;
    uint64_t w; /* the digits as an integer, if there are at most 19 */
    int64_t significant;
    int64_t exponent;
    bool negative;
} decimal;

static int64_t leading_zeros(const decimal *d)
{
    int64_t n = 0;
    for (const char *p = d->digits; p < d->end && (*p == '0' || *p == '.'); p++)
        n += *p == '0';
    return n;
}

/* The exponent after its letter; NULL if there are no digits. Beyond 10^15
 * the sign is all that matters. */
static const char *scan_exponent(const char *p, int64_t *out)
{
    const bool negative = *p == '-';
    if (*p == '-' || *p == '+') p++;
    if (!is_digit(*p)) return NULL;
    int64_t e = 0;
    for (; is_digit(*p); p++)
        if (e < 1000000000000000) e = e * 10 + (*p - '0');
    *out = negative ? -e : e;
    return p;
}

static inline const char *scan_decimal(const char *p, decimal *d)
{
    d->negative = *p == '-';
    if (*p == '-' || *p == '+') p++;
    d->digits = p;
    uint64_t w = 0;
    while (is_digit(*p))
        w = w * 10 + (uint64_t)(*p++ - '0');
    d->significant = p - d->digits;
    d->exponent = 0;
    if (*p == '.') {
        const char *const fraction = ++p;
        while (is_digit(*p))
            w = w * 10 + (uint64_t)(*p++ - '0');
        d->exponent = fraction - p;
        d->significant += p - fraction;
    }
    if (d->significant == 0) return NULL;
    d->end = p;
    d->w = w;
    if (*p == 'e' || *p == 'E' || *p == 'd' || *p == 'D') {
        int64_t e;
        if (!(p = scan_exponent(p + 1, &e))) return NULL;
        d->exponent += e;
    }
    if (d->significant > 19) d->significant -= leading_zeros(d);
    return p;
}

static const double power10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#ifdef __SIZEOF_INT128__
static const uint64_t power5[] = {
    1u,
    5u,
    25u,
    125u,
    625u,
    3125u,
    15625u,
    78125u,
    390625u,
    1953125u,
    9765625u,
    48828125u,
    244140625u,
    1220703125u,
    6103515625u,
    30517578125u,
    152587890625u,
    762939453125u,
    3814697265625u,
    19073486328125u,
    95367431640625u,
    476837158203125u,
    2384185791015625u,
    11920928955078125u,
    59604644775390625u,
    298023223876953125u,
    1490116119384765625u,
    7450580596923828125u,
};

/* w * 10^e for w > 0 and |e| <= 27. At least 63 bits are kept, and the last
 * one stands for all that follow: converting to double then rounds once. */
static double scale_exact(uint64_t w, int e)
{
    const int shift = __builtin_clzll(w);
    if (e >= 0) {
        const unsigned __int128 product =
            (unsigned __int128)(w << shift) * power5[e]; /* top bit at 63 or above */
        const uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
        if (high == 0) return ldexp((double)low, e - shift);
        const int s = __builtin_clzll(high);
        uint64_t top = s ? high << s | low >> (64 - s) : high;
        top |= (low << s) != 0;
        return ldexp((double)top, 64 - s + e - shift);
    }
    const uint64_t five = power5[-e];
    const int five_shift = __builtin_clzll(five);
    const unsigned __int128 numerator = (unsigned __int128)(w << shift) << 63;
    const uint64_t divisor = five << five_shift;
    const uint64_t quotient = (uint64_t)(numerator / divisor);
    const bool rest = numerator - (unsigned __int128)quotient * divisor != 0;
    return ldexp((double)(quotient | rest), e - 63 - shift + five_shift);
}
#endif

/* Writes "digits e exponent" for strtod. */
static void decimal_text(const decimal *d, char *buf, size_t size)
{
    int64_t n = 0, dropped = 0, exponent = d->exponent;
    bool rest = false;
    for (const char *p = d->digits; p < d->end; p++) {
        if (*p == '.' || (n == 0 && *p == '0')) continue;
        if (n < MAX_DIGITS) {
            buf[n++] = *p;
        } else {
            dropped++;
            rest |= *p != '0';
        }
    }
    if (n == 0) buf[n++] = '0';
    exponent += dropped;
    if (rest) {
        buf[n++] = '1';
        exponent--;
    }
    if (exponent > 30000) exponent = 30000;
    if (exponent < -30000) exponent = -30000;
    snprintf(buf + n, size - (size_t)n, "e%d", (int)exponent);
}

static double decimal_slow(const decimal *d)
{
    char buf[MAX_DIGITS + 16];
    decimal_text(d, buf, sizeof buf);
    return strtod(buf, NULL);
}

static inline double decimal_f64(const decimal *d)
{
    const int64_t e = d->exponent;
    double v;
    if (d->significant > 19) {
        v = decimal_slow(d);
    } else if (d->w == 0) {
        v = 0;
    } else if (d->w <= (uint64_t)1 << 53 && e >= -22 && e <= 22) {
        v = (double)d->w;
        v = e < 0 ? v / power10[-e] : v * power10[e];
#ifdef __SIZEOF_INT128__
    } else if (e >= -27 && e <= 27) {
        v = scale_exact(d->w, (int)e);
#endif
    } else {
        v = decimal_slow(d);
    }
    return d->negative ? -v : v;
}

/* inf, infinity and nan. */
static const char *scan_special(const char *p, double *out)
{
    const bool negative = *p == '-';
    if (*p == '-' || *p == '+') p++;
    double v;
    if (strncasecmp(p, "infinity", 8) == 0) {
        v = INFINITY;
        p += 8;
    } else if (strncasecmp(p, "inf", 3) == 0) {
        v = INFINITY;
        p += 3;
    } else if (strncasecmp(p, "nan", 3) == 0) {
        v = NAN;
        p += 3;
    } else {
        return NULL;
    }
    *out = negative ? -v : v;
    return p;
}

const char *scan_f64(const char *p, double *out)
{
    decimal d;
    const char *const after = scan_decimal(p, &d);
    if (!after) return scan_special(p, out);
    *out = decimal_f64(&d);
    return after;
}

/* Rounding to double and then to float goes wrong only where the double lies
 * in the middle of two floats, or where floats are subnormal. */
static const char *scan_f32(const char *p, float *out)
{
    decimal d;
    const char *const after = scan_decimal(p, &d);
    double v;
    if (!after) {
        const char *const special = scan_special(p, &v);
        if (special) *out = (float)v;
        return special;
    }
    v = decimal_f64(&d);
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    if ((bits & 0x1fffffff) != 0x10000000 && fabs(v) > 0x1p-125) {
        *out = (float)v;
        return after;
    }
    char buf[MAX_DIGITS + 16];
    decimal_text(&d, buf, sizeof buf);
    const float f = strtof(buf, NULL);
    *out = d.negative ? -f : f;
    return after;
}

/* True if a number that began as an integer goes on as a float. */
static bool goes_on(const char *p)
{
    return *p == '.' || *p == 'e' || *p == 'E' || *p == 'd' || *p == 'D';
}

const char *scan_value(vclass c, const char *p, value *out)
{
    const char *after;
    double v;
    switch (c) {
    case CLASS_F64:
        return scan_f64(p, &out->f64);
    case CLASS_F32:
        return scan_f32(p, &out->f32);
    case CLASS_C128:
        if ((after = scan_f64(p, &v))) out->c128 = v;
        return after;
    case CLASS_C64: {
        float f;
        if ((after = scan_f32(p, &f))) out->c64 = f;
        return after;
    }
    case CLASS_I64:
        after = scan_i64(p, &out->i64);
        if (after && !goes_on(after)) return after;
        break;
    case CLASS_U64: {
        after = scan_u64(*p == '+' ? p + 1 : p, &out->u64);
        if (after && !goes_on(after)) return after;
        int64_t i;
        after = scan_i64(p, &i);
        if (after && !goes_on(after)) {
            out->u64 = (uint64_t)i;
            return after;
        }
        break;
    }
    case CLASS_COUNT:
        return NULL;
    }
    if ((after = scan_f64(p, &v))) *out = class_convert(c, CLASS_F64, (value){.f64 = v});
    return after;
}
