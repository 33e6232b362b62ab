/* decimal.h: the shortest decimal text of a float; powers of 5. */
#ifndef STC_FORMATS_DECIMAL_H
#define STC_FORMATS_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

enum { DECIMAL_MAX = 32 }; /* bytes of any such text, its 0 included */

/* The text that reads back to x (single: as a float) with the fewest digits, in
 * the form of printf's %g with a point whatever the locale. Returns its length. */
int decimal_print(double x, bool single, char buf[DECIMAL_MAX]);

/* 5^k, as far as 64 bits go. */
enum { DECIMAL_POWERS = 28 };
extern const uint64_t decimal_power5[DECIMAL_POWERS];

#endif
