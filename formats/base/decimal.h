/* decimal.h: the shortest decimal text of a float. */
#ifndef STC_FORMATS_DECIMAL_H
#define STC_FORMATS_DECIMAL_H

#include <stdbool.h>

enum { DECIMAL_MAX = 32 }; /* bytes of any such text, its 0 included */

/* The text that reads back to x (single: as a float) with the fewest digits, in
 * the form of printf's %g with a point whatever the locale. Returns its length. */
int decimal_print(double x, bool single, char buf[DECIMAL_MAX]);

#endif
