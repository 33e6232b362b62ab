/* number.h: numbers in text, read without copying and without a locale.
 *
 * Each scan_ function takes a place in a text that ends in a zero byte and
 * gives the place after the number, or NULL where there is none (or where it
 * doesn't fit the type); it never looks beyond the first byte that can't be
 * part of one, and leaves what must follow to the caller.
 */
#ifndef STC_IO_NUMBER_H
#define STC_IO_NUMBER_H

#include "../../formats/base/types.h"

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Decimal digits, without a sign. */
const char *scan_u64(const char *p, uint64_t *out);
const char *scan_i64(const char *p, int64_t *out);

/* The f64 nearest to a decimal number, with an exponent after e, E, d or D;
 * or inf, infinity, nan in any case. Ties go to even; what is beyond the
 * largest f64 becomes an infinity, as IEEE 754 rounds it (and as scipy, TACO
 * and NumPy read it). */
const char *scan_f64(const char *p, double *out);

/* w * 10^e, rounded once, if that is exact by a few operations. */
bool number_exact(uint64_t w, int64_t e, double *out);

/* A number into a class: integers of up to 64 bits go to the integer classes
 * exactly, all else is converted as class_convert does; f32 is rounded once. */
const char *scan_value(vclass c, const char *p, value *out);

/* Coordinates: the common case, up to 18 digits, in line. */
static inline const char *scan_index(const char *p, int64_t *out)
{
    const char *first = p;
    uint64_t w = 0;
    while (is_digit(*p))
        w = w * 10 + (uint64_t)(*p++ - '0');
    if (p - first > 18 || p == first) return scan_i64(first, out);
    *out = (int64_t)w;
    return p;
}

#endif
