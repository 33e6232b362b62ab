/* lines.h: entries in text, a line each, as most files have them: read in blocks by all of
 * the machine's threads.
 */
#ifndef STC_IO_LINES_H
#define STC_IO_LINES_H

#include "bounded.h"
#include "../../formats/tensor.h"

/* What a line has: coordinates, base <= c < base + limit[k], then `values` values of type
 * f64 or i64, the entries'. Between them stands the separator, or (0) blanks. Entries have
 * a value each, or none that is read; a table has order 0 and as many as it has columns. */
typedef struct line_form {
    char separator;
    int values;
    int64_t base;
    const int64_t *limit;
} line_form;

/* Reads entries of order e->order from the reader's place on. It stops at a line that
 * isn't written in the most usual way (blanks elsewhere, comments, other numbers, faults),
 * after `most` entries or at the file's end, and stands there: the general reader of lines
 * goes on. e has room for `most` more. */
stc_status lines_read(input *in, entries *e, const line_form *f, int64_t most);

/* The same of a file of which only the head is in memory: all of its lines from the
 * reader's place on, which are `most` (-1: that isn't known), or `whole` is false, and
 * what e has is of no use. The file is never held: a block for each thread is. */
stc_status lines_stream(input *in, entries *e, const line_form *f, int64_t most,
                        bool *whole);

#endif
