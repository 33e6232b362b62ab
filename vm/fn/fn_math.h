/* fn_math.h: the integer rules of the language, as functions that no operand
 * can drive into undefined behaviour: a division by zero faults, a negative exponent
 * faults, the rest wraps in 64 bits; and some of the real ones that aren't in libm. For
 * the files that expand fn_ops.def.
 */
#ifndef STC_VM_FN_MATH_H
#define STC_VM_FN_MATH_H

#include "functions.h"
#include <limits.h>
#include <math.h>
#include <string.h>

static inline uint64_t i64_magnitude(int64_t x)
{
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

/* NumPy's: the quotient is floored, and the rest has the sign of the divisor. */
static inline int64_t i64_floordiv(int64_t x, int64_t y, fn_fault *fault)
{
    if (y == 0) {
        *fault = FAULT_DIVIDE;
        return 0;
    }
    if (y == -1) return (int64_t)(0 - (uint64_t)x);
    return x / y - (x % y != 0 && (x ^ y) < 0);
}

static inline int64_t i64_mod(int64_t x, int64_t y, fn_fault *fault)
{
    if (y == 0) {
        *fault = FAULT_DIVIDE;
        return 0;
    }
    if (y == -1) return 0;
    const int64_t rest = x % y;
    return rest != 0 && (rest ^ y) < 0 ? rest + y : rest;
}

static inline uint64_t u64_div(uint64_t x, uint64_t y, fn_fault *fault)
{
    if (y == 0) *fault = FAULT_DIVIDE;
    return y == 0 ? 0 : x / y;
}

static inline uint64_t u64_mod(uint64_t x, uint64_t y, fn_fault *fault)
{
    if (y == 0) *fault = FAULT_DIVIDE;
    return y == 0 ? 0 : x % y;
}

/* The rest first, which is exact; x - rest is then a multiple of y but for rounding, which
 * is taken back. By 0 it is x / y and nan; a quotient of zero has the sign of x / y. */
#define REAL_DIVISION(REAL, suffix, f)                                                     \
    static inline REAL mod_##suffix(REAL x, REAL y)                                        \
    {                                                                                      \
        const REAL rest = fmod##f(x, y);                                                   \
        if (rest != 0) return (rest < 0) != (y < 0) ? rest + y : rest;                     \
        return y != 0 ? copysign##f(0, y) : rest;                                          \
    }                                                                                      \
    static inline REAL floordiv_##suffix(REAL x, REAL y)                                   \
    {                                                                                      \
        const REAL rest = fmod##f(x, y);                                                   \
        if (y == 0) return x / y;                                                          \
        REAL q = (x - rest) / y;                                                           \
        if (rest != 0 && (rest < 0) != (y < 0)) q -= 1;                                    \
        if (q == 0) return copysign##f(0, x / y);                                          \
        const REAL whole = floor##f(q);                                                    \
        return q - whole > (REAL)0.5 ? whole + 1 : whole;                                  \
    }
REAL_DIVISION(double, f64, )
REAL_DIVISION(float, f32, f)
#undef REAL_DIVISION

static inline uint64_t u64_pow(uint64_t x, uint64_t y)
{
    uint64_t r = 1;
    for (; y != 0; y >>= 1, x *= x)
        if (y & 1) r *= x;
    return r;
}

/* 1 ** -n is 1 by the annihilator, stored or not. */
static inline int64_t i64_pow(int64_t x, int64_t y, fn_fault *fault)
{
    if (y < 0) {
        if (x != 1) *fault = FAULT_EXPONENT;
        return x == 1;
    }
    return (int64_t)u64_pow((uint64_t)x, (uint64_t)y);
}

static inline uint64_t u64_gcd(uint64_t x, uint64_t y)
{
    while (y != 0) {
        uint64_t r = x % y;
        x = y;
        y = r;
    }
    return x;
}

/* Exponents beyond these give 0 or infinity for any finite number. */
static inline int i64_exponent(int64_t y)
{
    return y > 100000 ? 100000 : y < -100000 ? -100000 : (int)y;
}

/* nan wins. In two steps: the first is one instruction, the second a branch never taken. */
#define LEAST(x, y)                                                                        \
    ({                                                                                     \
        const __typeof__(x) least_ = (x) < (y) ? (x) : (y);                                \
        __builtin_expect((x) != (x), 0) ? (x) : least_;                                    \
    })
#define MOST(x, y)                                                                         \
    ({                                                                                     \
        const __typeof__(x) most_ = (x) > (y) ? (x) : (y);                                 \
        __builtin_expect((x) != (x), 0) ? (x) : most_;                                     \
    })

/* One value to the compiler: what went into it isn't branched on part by part, none of
 * which can be predicted where operands are absent. */
#define WHOLE(x) __asm__("" : "+r"(x))

/* What an absent operand makes of a power needs no call, nor does a square. */
#define POWER(x, y)                                                                        \
    ({                                                                                     \
        const int one_ = ((y) == 0) | ((x) == 1);                                          \
        int known_ = one_ | (((x) == 0) & ((y) > 0) & !signbit(x));                        \
        WHOLE(known_);                                                                     \
        known_ ? (__typeof__(x))one_ : (y) == 2 ? (x) * (x) : pow(x, y);                   \
    })

/* ldexp. Where number and result are normal that is a sum of exponents; what isn't
 * stored, 0 and 2 ** 0, needs no more either. */
static inline double scale_f64(double x, int64_t y)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint64_t had = bits >> 52 & 0x7ff, gets = had + (uint64_t)y;
    const int normal = (had - 1 < 0x7fe) & (gets - 1 < 0x7fe);
    int known = normal | (x == 0) | (y == 0);
    WHOLE(known);
    if (!known) return ldexp(x, i64_exponent(y));
    bits += ((uint64_t)y << 52) & (0 - (uint64_t)normal);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Real to integer: nan is 0, what is beyond a limit the limit. */
static inline int64_t whole_f64(double x)
{
    if (!(x >= -9223372036854775808.0)) return x < 0 ? INT64_MIN : 0;
    return x < 9223372036854775808.0 ? (int64_t)x : INT64_MAX;
}

/* As ilogb, whose values for 0, inf and nan are the C library's own choice. */
static inline int64_t exponent_of(double x)
{
    return whole_f64(logb(x));
}

/* The reentrant forms: lgamma itself writes a global. */
static inline double log_gamma_f64(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

static inline float log_gamma_f32(float x)
{
    int sign;
    return lgammaf_r(x, &sign);
}

#endif
