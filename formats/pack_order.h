/* pack_order.h: in which order the entries of a matrix are listed: files mostly have them
 * by rows or by columns, and then they needn't be sorted.
 */
#ifndef STC_FORMATS_PACK_ORDER_H
#define STC_FORMATS_PACK_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* By rows, then columns, or the reverse; each place once. */
typedef struct listed_in {
    bool by_rows, by_columns;
    bool any;
    int64_t first[2], last[2]; /* row and column of the first entry and the last */
} listed_in;

static inline void listed_next(listed_in *o, int64_t row, int64_t column, int64_t next_row,
                               int64_t next_column)
{
    const bool up = next_row > row, right = next_column > column;
    o->by_rows &= up | (right & (next_row == row));
    o->by_columns &= right | (up & (next_column == column));
}

/* n entries more, of which there are some. */
static inline void listed_more(listed_in *o, const int64_t *row, const int64_t *column,
                               int64_t n)
{
    listed_in seen = *o;
    if (!o->any) {
        seen.first[0] = row[0];
        seen.first[1] = column[0];
    } else {
        listed_next(&seen, o->last[0], o->last[1], row[0], column[0]);
    }
    for (int64_t i = 1; (seen.by_rows || seen.by_columns) && i < n; i++)
        listed_next(&seen, row[i - 1], column[i - 1], row[i], column[i]);
    seen.any = true;
    seen.last[0] = row[n - 1];
    seen.last[1] = column[n - 1];
    *o = seen;
}

/* What follows what o has. */
static inline void listed_join(listed_in *o, const listed_in *next)
{
    o->by_rows &= next->by_rows;
    o->by_columns &= next->by_columns;
    listed_next(o, o->last[0], o->last[1], next->first[0], next->first[1]);
    o->last[0] = next->last[0];
    o->last[1] = next->last[1];
}

#endif
