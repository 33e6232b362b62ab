/* affine_gather.h: what affine_lines.c lists for affine_gather.c: lines of pixels, and
 * where they lead to in the result and in the factor.
 */
#ifndef STC_VM_AFFINE_GATHER_H
#define STC_VM_AFFINE_GATHER_H

#include "affine.h"

enum { GATHER_CHOICES = 64 };

/* Values of the indices that are tried at some levels: what they add to the coordinates,
 * and to the places in result and factor. */
typedef struct gather_choice {
    int64_t y[STC_MAX_ORDER], at[2];
} gather_choice;

/* Pixels least … most more than where the solved index leads to count, the first one
 * with the factor's rows from `at` on. */
typedef struct gather_window {
    int64_t least, most, at;
} gather_window;

/* A line of pixels, and where it leads to: the places in result and factor. */
typedef struct gather_line {
    int64_t begin, end, first; /* positions; one of coordinate lo, if implied */
    int64_t table;             /* of where entries begin, NONE: there is none */
    int64_t to, from;
} gather_line;

typedef struct affine_gather gather;
struct affine_gather {
    affine *a;
    int mid, nchoice, nwindow;
    gather_choice choice[GATHER_CHOICES]; /* of the levels above mid */
    gather_window window[GATHER_CHOICES]; /* of mid                   */
    int64_t slope; /* how far the factor's rows of neighbouring pixels are apart      */
    int64_t step, base, factor_step; /* of the solved index at mid                      */
    int64_t x[STC_MAX_ORDER];
    gather_line *line;
    int64_t nline, line_cap;
    int64_t *offset; /* of entries: where their rows of the factor are */
    int64_t offset_cap;
    int32_t *table; /* of lines that are not too sparse: where the entries from a pixel on
                       begin, for all pixels from `low` on                   */
    int64_t ntable, table_cap, low, pixels;
};

/* Where the children of position p begin. */
static inline int64_t gather_children(const affine_level *lv, int64_t p)
{
    const char *b = lv->bounds;
    if (!b) return p;
    return lv->bounds_width == 4 ? ((const int32_t *)b)[p] : ((const int64_t *)b)[p];
}

static inline int64_t gather_pixel(const affine_level *mid, int64_t first, int64_t p)
{
    return mid->walked ? affine_coord(mid, p) : p - first + mid->lo;
}

/* slope * x; of pixels that no window has, what isn't a place at all. */
static inline int64_t gather_scaled(int64_t slope, int64_t x)
{
    return (int64_t)((uint64_t)slope * (uint64_t)x);
}

#endif
