/* rows.h: targets of two levels that are made row by row: rows that are all there, and
 * below each its columns, which are appended. For those who count where each row begins
 * (convert_count.c, pack_count.c).
 */
#ifndef STC_FORMATS_ROWS_H
#define STC_FORMATS_ROWS_H

#include "internal.h"

/* Whether c is one, as its levels' capabilities tell. */
bool rows_taken(const tensor *c);
/* Room for n coordinates below `parents` rows; ok: all of 32 bits. */
stc_status rows_room(tensor *c, level *lv, int64_t n, int64_t parents, append_room *room,
                     bool *ok);

/* The entries of a matrix, in some order: a target's rows and columns of n of them, from
 * `at` on, n up to ROW_LIST. *near: where the last call was, 0 at first. sorted: those of a
 * row come by ascending columns, each once, and all are inside. */
enum { ROW_LIST = 512 };
typedef struct row_list {
    const void *of;
    int64_t n;
    const void *vals;
    bool sorted;
    void (*coords)(const struct row_list *l, int64_t at, int64_t n, int64_t *near,
                   int64_t *row, int64_t *column); /* columns: NULL if sorted */
    /* The same, but for rows outside lo … hi - 1, which are passed over faster than one by
     * one; which they are, from `at` on, and how many. NULL: they aren't. */
    int64_t (*within)(const struct row_list *l, int64_t at, int64_t n, int64_t *near,
                      int64_t lo, int64_t hi, int64_t *row, int64_t *column,
                      int64_t *which);
} row_list;
/* pack_count.c: c, which rows_taken says it can, from a list of values of its type of at
 * most 8 bytes, those of one place summed; done: else nothing has happened. */
stc_status rows_from_list(tensor *c, const row_list *l, bool *done);

/* One loop per width of a value; `body` uses TO and FROM, arrays of V. */
#define BY_WIDTH(size, to, from, body)                                                     \
    switch (size) {                                                                        \
        WIDTH_CASE(case 1, uint8_t, to, from, body)                                        \
        WIDTH_CASE(case 2, uint16_t, to, from, body)                                       \
        WIDTH_CASE(case 4, uint32_t, to, from, body)                                       \
        WIDTH_CASE(case 8, uint64_t, to, from, body)                                       \
        WIDTH_CASE(default, wide_value, to, from, body)                                    \
    }
#define WIDTH_CASE(label, type, to, from, body)                                            \
    label : {                                                                              \
        type *TO = (type *)(to);                                                           \
        const type *FROM = (const type *)(from);                                           \
        body;                                                                              \
        break;                                                                             \
    }
typedef struct wide_value {
    uint64_t half[2];
} wide_value;

#endif
