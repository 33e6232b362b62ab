/* number.c: decimal text to integers and floats.
 *
 * Floats: up to 19 significant digits w and a decimal exponent e. Where w is
 * below 2^53 and |e| <= 22, both w and 10^|e| are exact doubles and one
 * multiplication or division rounds once (Clinger, "How to read floating point
 * numbers accurately", PLDI 1990). Else w is multiplied by the first 128 bits of the power
 * of 5, and rounded where the bits that are missing can't matter (the idea of Eisel and
 * Lemire, "Number parsing at a gigabyte per second", 2021; here the power is a product of
 * two, so that a table of 26 is enough for all doubles). The few that are left go to
 * strtod, with numbers of more digits and those at the ends of the range, on a copy without
 * a decimal point (so that the host's locale doesn't matter) and of bounded length: no more
 * than 768 digits can decide the rounding of a double, further ones are condensed into one.
 */
#include "number.h"
#include "../../formats/base/decimal.h"
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
typedef unsigned __int128 wide;

/* The first 128 bits of 5^(27k): all there are for k = 0, 1, 2, others are cut off. */
enum { STEP = DECIMAL_POWERS - 1, FIRST = -13, LAST = 12 };
static const struct {
    uint64_t high, low;
} far5[LAST - FIRST + 1] = {
    {0x8049a4ac0c5811ae, 0x205b896d777d6278}, /* -351 */
    {0xcf42894a5dce35ea, 0x52064cac828675b9}, /* -324 */
    {0xa76c582338ed2621, 0xaf2af2b80af6f24e}, /* -297 */
    {0x873e4f75e2224e68, 0x5a7744a6e804a291}, /* -270 */
    {0xda7f5bf590966848, 0xaf39a475506a899e}, /* -243 */
    {0xb080392cc4349dec, 0xbd8d794d96aacfb3}, /* -216 */
    {0x8e938662882af53e, 0x547eb47b7282ee9c}, /* -189 */
    {0xe65829b3046b0afa, 0x0cb4a5a3112a5112}, /* -162 */
    {0xba121a4650e4ddeb, 0x92f34d62616ce413}, /* -135 */
    {0x964e858c91ba2655, 0x3a6a07f8d510f86f}, /* -108 */
    {0xf2d56790ab41c2a2, 0xfae27299423fb9c3}, /* -81 */
    {0xc428d05aa4751e4c, 0xaa97e14c3c26b886}, /* -54 */
    {0x9e74d1b791e07e48, 0x775ea264cf55347d}, /* -27 */
    {0x8000000000000000, 0x0000000000000000}, /* 0 */
    {0xcecb8f27f4200f3a, 0x0000000000000000}, /* 27 */
    {0xa70c3c40a64e6c51, 0x999090b65f67d924}, /* 54 */
    {0x86f0ac99b4e8dafd, 0x69a028bb3ded71a3}, /* 81 */
    {0xda01ee641a708de9, 0xe80e6f4820cc9495}, /* 108 */
    {0xb01ae745b101e9e4, 0x5ec05dcff72e7f8f}, /* 135 */
    {0x8e41ade9fbebc27d, 0x14588f13be847307}, /* 162 */
    {0xe5d3ef282a242e81, 0x8f1668c8a86da5fa}, /* 189 */
    {0xb9a74a0637ce2ee1, 0x6d953e2bd7173692}, /* 216 */
    {0x95f83d0a1fb69cd9, 0x4abdaf101564f98e}, /* 243 */
    {0xf24a01a73cf2dccf, 0xbc633b39673c8cec}, /* 270 */
    {0xc3b8358109e84f07, 0x0a862f80ec4700c8}, /* 297 */
    {0x9e19db92b4e31ba9, 0x6c07a2c26a8346d1}, /* 324 */
};

/* The upper and the lower half of a * b. */
static inline wide product(wide a, wide b, wide *low)
{
    const uint64_t a1 = (uint64_t)(a >> 64), a0 = (uint64_t)a;
    const uint64_t b1 = (uint64_t)(b >> 64), b0 = (uint64_t)b;
    const wide cross = (wide)a1 * b0, other = (wide)a0 * b1, least = (wide)a0 * b0;
    const wide middle = (least >> 64) + (uint64_t)cross + (uint64_t)other;
    *low = middle << 64 | (uint64_t)least;
    return (wide)a1 * b1 + (cross >> 64) + (other >> 64) + (middle >> 64);
}

/* The double nearest to (top + rest) * 2^e, top of 64 bits: 0 < rest < 1, or it is 0. False
 * where that is none with all of its bits. */
static inline bool round_top(uint64_t top, bool rest, int64_t e, double *out)
{
    const uint64_t below = top & 0x7ff;
    uint64_t m = top >> 11;
    m += below > 0x400 || (below == 0x400 && (rest || m & 1));
    const int64_t biased = e + 11 + 52 + 1023;
    if (biased < 1 || biased > 2046) return false;
    const uint64_t bits = ((uint64_t)biased << 52) + (m - ((uint64_t)1 << 52));
    if (bits >> 52 > 2046) return false;
    memcpy(out, &bits, sizeof *out);
    return true;
}

/* w * 10^e for w > 0, as w * 5^b * 5^(27k) * 2^e. The product of the first two is exact in
 * 128 bits. With the third there are 256, of which the upper half is exact, or, where bits
 * were cut off, too small by less than one: then there is something behind it, and only
 * ones from the middle between two doubles on leave the rounding open. */
static bool scale_far(uint64_t w, int64_t e, double *out)
{
    if (e < FIRST * STEP || e >= (LAST + 1) * STEP) return false;
    const int k = (int)(e - FIRST * STEP) / STEP + FIRST, b = (int)e - k * STEP;
    const bool cut = k < 0 || k > 2;
    wide near = (wide)w * decimal_power5[b], low;
    const uint64_t upper = (uint64_t)(near >> 64);
    const int shift = upper ? __builtin_clzll(upper) : 64 + __builtin_clzll((uint64_t)near);
    near <<= shift;
    const wide far = (wide)far5[k - FIRST].high << 64 | far5[k - FIRST].low;
    wide high = product(near, far, &low);
    const int less = !(high >> 127);
    if (less) high = high << 1 | (cut ? 1 : low >> 127);
    const uint64_t top = (uint64_t)(high >> 64), rest = (uint64_t)high;
    if (cut && (top & 0x7ff) == 0x3ff && rest == UINT64_MAX) return false;
    const int64_t far2 = (152170 * (int64_t)(k * STEP) >> 16) - 127; /* log2 of 5^q */
    return round_top(top, cut || rest || low << less, e + far2 - shift + 192 - less, out);
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

bool number_exact(uint64_t w, int64_t e, double *out)
{
    if (w == 0) {
        *out = 0;
    } else if (w <= (uint64_t)1 << 53 && e >= -22 && e <= 22) {
        *out = e < 0 ? (double)w / power10[-e] : (double)w * power10[e];
#ifdef __SIZEOF_INT128__
    } else {
        return scale_far(w, e, out);
    }
#else
    } else {
        return false;
    }
#endif
    return true;
}

static inline double decimal_f64(const decimal *d)
{
    double v;
    if (d->significant > 19 || !number_exact(d->w, d->exponent, &v)) v = decimal_slow(d);
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
