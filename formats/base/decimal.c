/* decimal.c: floats to the shortest decimal text that reads back to them.
 *
 * With 15 digits (floats: 6) whatever has as few prints as itself, and 17 (9)
 * tell all apart; so of 15, 16 and 17 correctly rounded digits the first that
 * reads back are taken. Below the normal numbers there are fewer to tell.
 *
 * Where x = m * 2^e and its first 17 digits stand at 10^k with |k| <= 27, 5^|k|
 * fits 64 bits and x / 10^k is a ratio of integers of 128: quotient and
 * remainder give all digits, and whether they lie within half a unit of m,
 * exactly. (Steele and White, "How to print floating-point numbers accurately",
 * PLDI 1990, with a bounded exponent, so that nothing needs large integers.) The
 * rest is printed and read back.
 */
#include "decimal.h"
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the rest: printed and read back ------------------------------------------- */

__attribute__((cold, noinline)) static int by_reading_back(double x, bool single, char *buf)
{
    const int most = single ? 9 : 17;
    const bool tiny = fabs(x) < (single ? FLT_MIN : DBL_MIN);
    int n = 0;
    for (int digits = tiny ? 1 : single ? 6 : 15; digits <= most; digits++) {
        n = snprintf(buf, DECIMAL_MAX, "%.*g", digits, x);
        if (single ? strtof(buf, NULL) == (float)x : strtod(buf, NULL) == x) break;
    }
    for (char *c = buf; *c; c++)
        if (*c == ',') *c = '.'; /* the host's locale doesn't reach our texts */
    return n;
}

#ifdef __SIZEOF_INT128__

/* ---- texts of digits ------------------------------------------------------------- */

static int put_digits(char *out, uint64_t w, int n)
{
    for (int k = n; k-- > 0; w /= 10)
        out[k] = (char)('0' + w % 10);
    return n;
}

/* |x| < 100: what is exact here is between 10^-27 and 10^44. */
static int put_exponent(char *out, int x)
{
    int n = 0;
    out[n++] = 'e';
    out[n++] = x < 0 ? '-' : '+';
    return n + put_digits(out + n, (uint64_t)abs(x), 2);
}

/* w has `n` digits, the first of them at 10^x; as %.*g with precision n. */
static int put_general(char *out, uint64_t w, int n, int x, int precision)
{
    char digits[24];
    int at = 0;
    while (n > 1 && w % 10 == 0)
        w /= 10, n--;
    put_digits(digits, w, n);
    if (x < -4 || x >= precision) {
        out[at++] = digits[0];
        if (n > 1) out[at++] = '.';
        memcpy(out + at, digits + 1, (size_t)n - 1);
        at += n - 1;
        at += put_exponent(out + at, x);
    } else if (x < 0) {
        memcpy(out, "0.000", 5);
        at = 1 - x;
        memcpy(out + at, digits, (size_t)n);
        at += n;
    } else {
        for (int k = 0; k <= x || k < n; k++) {
            if (k == x + 1) out[at++] = '.';
            out[at++] = k < n ? digits[k] : '0';
        }
    }
    out[at] = 0;
    return at;
}

/* ---- exact digits ---------------------------------------------------------------- */

typedef unsigned __int128 uwide;

const uint64_t decimal_power5[DECIMAL_POWERS] = {
    UINT64_C(1),
    UINT64_C(5),
    UINT64_C(25),
    UINT64_C(125),
    UINT64_C(625),
    UINT64_C(3125),
    UINT64_C(15625),
    UINT64_C(78125),
    UINT64_C(390625),
    UINT64_C(1953125),
    UINT64_C(9765625),
    UINT64_C(48828125),
    UINT64_C(244140625),
    UINT64_C(1220703125),
    UINT64_C(6103515625),
    UINT64_C(30517578125),
    UINT64_C(152587890625),
    UINT64_C(762939453125),
    UINT64_C(3814697265625),
    UINT64_C(19073486328125),
    UINT64_C(95367431640625),
    UINT64_C(476837158203125),
    UINT64_C(2384185791015625),
    UINT64_C(11920928955078125),
    UINT64_C(59604644775390625),
    UINT64_C(298023223876953125),
    UINT64_C(1490116119384765625),
    UINT64_C(7450580596923828125),
};

/* x / 10^k as a fraction, and what half a unit of m comes to in it. */
typedef struct scaled {
    uwide over, under; /* over / under                                  */
    uwide unit;        /* of m: half of it is unit / (2 * under)        */
    int shift;         /* under is 2^shift; -1: it isn't a power of two */
} scaled;

/* m * 2^e / 10^k; false where that needs more than 126 bits. */
static bool scale(uint64_t m, int e, int k, scaled *out)
{
    if (k <= -DECIMAL_POWERS || k >= DECIMAL_POWERS) return false;
    const int two = e - k; /* m * 5^-k * 2^two */
    if (k <= 0) {
        out->unit = decimal_power5[-k];
        out->over = (uwide)m * decimal_power5[-k];
        out->under = 1;
        out->shift = 0;
        if (two >= 0) {
            if (two > 8) return false; /* not for numbers with digits behind 10^k */
            out->over <<= two;
            out->unit <<= two;
            return true;
        }
        if (two < -120) return false;
        out->under <<= -two;
        out->shift = -two;
        return true;
    }
    if (two < 0 || two > 70) return false;
    out->over = (uwide)m << two;
    out->unit = (uwide)1 << two;
    out->under = decimal_power5[k];
    out->shift = -1;
    return true;
}

static uint64_t quotient(const scaled *s)
{
    return (uint64_t)(s->shift >= 0 ? s->over >> s->shift : s->over / s->under);
}

/* Whether w * 10^k is read as m: it lies within half a unit, and a tie goes to
 * even. Below a power of two the next number is half as far. */
static bool reads_back(const scaled *s, uwide w, uint64_t m, bool lowest)
{
    const uwide at = w * s->under;
    const bool below = at < s->over;
    const uwide off = below ? s->over - at : at - s->over;
    const uwide twice = below && lowest ? 4 * off : 2 * off;
    return twice < s->unit || (twice == s->unit && m % 2 == 0);
}

/* q / power, rounded to the nearest, a tie to even; `more` is what is behind q. */
static uint64_t rounded(uint64_t q, uint64_t power, int more)
{
    const uint64_t w = q / power, rest = q % power, half = power / 2;
    if (power == 1) return w + (more > 0 || (more == 0 && w % 2));
    const bool up = rest > half || (rest == half && (more > -2 || w % 2));
    return w + up;
}

/* What follows the quotient: -2 nothing, -1 less than a half, 0 a half, 1 more. */
static int behind(const scaled *s, uint64_t q)
{
    const uwide rest = s->over - q * s->under, twice = 2 * rest;
    return rest == 0 ? -2 : twice < s->under ? -1 : twice == s->under ? 0 : 1;
}

static const uint64_t ten[] = {1, 10, 100, 1000};

/* x > 0 and normal; 0: it is for the other way. */
static int exact(double x, bool single, char *buf)
{
    const int bits = single ? FLT_MANT_DIG : DBL_MANT_DIG, most = single ? 9 : 17;
    int e;
    const uint64_t m = (uint64_t)ldexp(frexp(x, &e), bits);
    e -= bits;
    /* the first digit is at 10^first, or one above */
    int first = (int)floor((e + bits - 1) * 0.30102999566398120);
    uint64_t top = 1;
    for (int k = 0; k < most; k++)
        top *= 10;
    scaled s;
    if (!scale(m, e, first - most + 1, &s)) return 0;
    uint64_t q = quotient(&s);
    if (q >= top) {
        if (!scale(m, e, ++first - most + 1, &s)) return 0;
        q = quotient(&s);
    }
    if (q >= top || q < top / 10) return 0;
    const int more = behind(&s, q);
    const bool lowest = m == UINT64_C(1) << (bits - 1);
    for (int digits = single ? 6 : 15;; digits++) { /* all of them read back */
        const uint64_t power = ten[most - digits], w = rounded(q, power, more);
        if (digits < most && !reads_back(&s, (uwide)w * power, m, lowest)) continue;
        const bool carried = w == top / power;
        return put_general(buf, carried ? w / 10 : w, digits, first + carried, digits);
    }
}
#else
static int exact(double x, bool single, char *buf)
{
    (void)x;
    (void)single;
    (void)buf;
    return 0;
}
#endif

/* ---- any number -------------------------------------------------------------------- */

static int print_integer(int64_t x, char *buf)
{
    char digits[24];
    uint64_t w = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    int n = 0, at = 0;
    do {
        digits[n++] = (char)('0' + w % 10);
        w /= 10;
    } while (w);
    if (x < 0) buf[at++] = '-';
    while (n > 0)
        buf[at++] = digits[--n];
    buf[at] = 0;
    return at;
}

int decimal_print(double x, bool single, char buf[DECIMAL_MAX])
{
    if (x != x) return (int)strlen(strcpy(buf, "nan"));
    if (isinf(x)) return (int)strlen(strcpy(buf, x < 0 ? "-inf" : "inf"));
    /* -0 would be read as an integer's, which has no sign. */
    if (x == 0 && signbit(x)) return (int)strlen(strcpy(buf, "-0.0"));
    if (fabs(x) < (single ? 0x1p24 : 1e15) && x == (double)(int64_t)x)
        return print_integer((int64_t)x, buf);
    if (fabs(x) >= (single ? FLT_MIN : DBL_MIN)) {
        const int minus = x < 0, n = exact(fabs(x), single, buf + minus);
        if (minus) buf[0] = '-';
        if (n) return minus + n;
    }
    return by_reading_back(x, single, buf);
}
