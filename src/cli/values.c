/* values.c: numbers on the command line, as elements of a type.
 *
 * The notation is the language's: `2`, `-0.5`, `1e-3`, `inf`, `nan`, `true`,
 * `2j`, `1+2j`. A whole number is i64 (u64 above its range), one with a point
 * or an exponent f64, one with a j c128.
 */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum class { SIGNED, UNSIGNED, REAL, COMPLEX } class;

static class class_of(stc_type type)
{
    switch (type) {
    case STC_BOOL:
    case STC_I8:
    case STC_I16:
    case STC_I32:
    case STC_I64:
        return SIGNED;
    case STC_U8:
    case STC_U16:
    case STC_U32:
    case STC_U64:
        return UNSIGNED;
    case STC_F32:
    case STC_F64:
        return REAL;
    default:
        return COMPLEX;
    }
}

/* One real number at *text, sign included; *text moves behind it. */
static bool parse_real(const char **text, double *out)
{
    const char *s = *text + (**text == '+' || **text == '-');
    const char *after = s;
    char *end;
    if (!strncmp(s, "inf", 3) || !strncmp(s, "nan", 3)) {
        after = s + 3;
        *out = *s == 'i' ? INFINITY : NAN;
        if (**text == '-') *out = -*out;
    } else {
        if (strspn(s, "0123456789.") == 0 || s[1] == 'x' || s[1] == 'X') return false;
        *out = strtod(*text, &end);
        if (end == *text) return false;
        after = end;
    }
    *text = after;
    return true;
}

static bool parse_whole(const char *text, stc_value *v, stc_type *type)
{
    const char *digits = text + (*text == '+' || *text == '-');
    if (!*digits || digits[strspn(digits, "0123456789")]) return false;
    errno = 0;
    const long long n = strtoll(text, NULL, 10);
    if (!errno) {
        v->i = n;
        *type = STC_I64;
        return true;
    }
    errno = 0;
    const unsigned long long u = strtoull(digits, NULL, 10);
    if (errno || *text == '-') return false;
    v->u = u;
    *type = STC_U64;
    return true;
}

bool value_parse(const char *text, stc_value *v, stc_type *type)
{
    double a = 0, b = 0;
    if (!strcmp(text, "true") || !strcmp(text, "false")) {
        v->i = *text == 't';
        *type = STC_BOOL;
        return true;
    }
    if (parse_whole(text, v, type)) return true;
    if (!text[strspn(text, "+-0123456789")] || !parse_real(&text, &a)) return false;
    if (!*text) {
        v->f = a;
        *type = STC_F64;
        return true;
    }
    if (*text == 'j') {
        b = a;
        a = 0;
    } else if ((*text != '+' && *text != '-') || !parse_real(&text, &b) || *text != 'j') {
        return false;
    }
    v->c[0] = a;
    v->c[1] = b;
    *type = STC_C128;
    return !text[1];
}

/* The signed range of an integer type; bool takes any number. */
static bool in_range(stc_type type, bool negative, uint64_t magnitude)
{
    if (type == STC_BOOL) return true;
    const int bits = 8 * (int)stc_type_size(type);
    if (class_of(type) == UNSIGNED)
        return (!negative || !magnitude) && (bits == 64 || magnitude >> bits == 0);
    const uint64_t half = UINT64_C(1) << (bits - 1);
    return negative ? magnitude <= half : magnitude < half;
}

static bool to_integer(stc_value *v, class from, stc_type to)
{
    bool negative;
    uint64_t magnitude;
    if (from == REAL) {
        if (to == STC_BOOL) {
            v->i = v->f != 0;
            return true;
        }
        if (v->f != floor(v->f) || fabs(v->f) >= 0x1p63) return false;
        v->i = (int64_t)v->f;
        from = SIGNED;
    }
    negative = from == SIGNED && v->i < 0;
    magnitude = negative ? -(uint64_t)v->i : v->u;
    if (!in_range(to, negative, magnitude)) return false;
    if (to == STC_BOOL) v->i = magnitude != 0;
    return true;
}

bool value_convert(stc_value *v, stc_type from, stc_type to)
{
    const class source = class_of(from), target = class_of(to);
    if (source == COMPLEX) return target == COMPLEX;
    if (target == SIGNED || target == UNSIGNED) return to_integer(v, source, to);
    const double f = source == REAL ? v->f : source == SIGNED ? (double)v->i : (double)v->u;
    if (target == REAL) {
        v->f = to == STC_F32 ? (double)(float)f : f;
    } else {
        v->c[0] = f;
        v->c[1] = 0;
    }
    return true;
}
