/* affine_gather.h: what affine_lines.c lists for affine_gather.c: lines of pixels, and
 * where they lead to in the result and in the factor; and what of these affine_merge.c puts
 * together for some rows.
 */
#ifndef STC_VM_AFFINE_GATHER_H
#define STC_VM_AFFINE_GATHER_H

#include "affine.h"

enum { GATHER_CHOICES = 64, GATHER_INPUTS = 64 };
/* Rows that are added together: so many at most, with so many entries, from so many cells.
 */
enum { GATHER_ROWS = 128, GATHER_PAIRS = 1024, GATHER_CELLS = 256 };
enum { GATHER_CHUNK = 8 }; /* so much more room is there behind entries */

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

/* A level of a result that appends, above its rows'. */
typedef struct gather_level {
    uint16_t level;
    int64_t extent;
    mcursor c;
} gather_level;

/* A line with a window: entered at `here`, up to `there`. If there is a table,
 * cell z, which is that many pixels beyond the first one, has entries begin[z] …
 * begin[z+1]-1; they meet the factor's rows at their own offset and `at` more. */
typedef struct gather_input {
    int64_t here, there, last, first, from, least, most, at;
    const int32_t *begin;
} gather_input;

/* Entries that lie one behind the other, whose offsets are `at` more. */
typedef struct gather_stretch {
    int64_t first, count, at;
} gather_stretch;

/* What leads into some rows: pairs of a row of the factor and a value, cell by cell; cell c
 * has those from begin[c] on. */
typedef struct gather_block {
    int32_t begin[GATHER_CELLS + 1], next[GATHER_CELLS];
    uint32_t at[GATHER_PAIRS + GATHER_CHUNK];
    _Alignas(8) char value[8 * (GATHER_PAIRS + GATHER_CHUNK)];
} gather_block;

/* Rows of a line of the result: of so many indices, those x[0] … x[n-1] more than the
 * first one. */
typedef struct gather_rows {
    int indices, n;
    const int32_t *x, *count; /* count[x]: how many entries lead there                 */
    const gather_stretch *stretch; /* if that is more than the block holds, of one row */
    int stretches;
    int64_t step;            /* cells of the block from one index to the next,        */
    int64_t at, factor_step; /* the first index, and from one on, in the factor       */
    int64_t to, by, width;   /* and in the result,                                    */
    int64_t next;            /* where row x[k] lies `next` * k further                */
    bool fresh; /* nothing was stored there yet: they begin with the fill             */
} gather_rows;

typedef struct affine_gather gather;
struct affine_gather {
    affine *a;
    /* affine_merge.c: what leads into up to `most` rows, from cell z on, into the block:
       how many rows fit; counts of these, and x: how many entries in all; all of n
       stretches as one cell, if they fit. */
    int (*merge)(gather *g, const gather_input *in, int inputs, int64_t z, int most);
    int64_t (*list)(const gather *g, gather_rows *r, int32_t *count, int32_t *x);
    void (*join)(gather *g, const gather_stretch *x, int n);
    int span; /* cells that lead into a row: step * x and the next ones */
    int mid, nchoice, nwindow;
    gather_choice choice[GATHER_CHOICES]; /* of the levels above mid */
    gather_window window[GATHER_CHOICES]; /* of mid                   */
    int64_t slope; /* how far the factor's rows of neighbouring pixels are apart      */
    int64_t step, base, factor_step; /* of the solved index at mid                      */
    int64_t x[STC_MAX_ORDER];
    gather_line *line;
    int64_t nline, line_cap;
    uint32_t *offset; /* of entries: where their rows of the factor are; sums of these are
                         modulo 2^32 */
    uint32_t *pixel;  /* which pixel from `low` on they have */
    void *weight;     /* their values, times the scalars */
    int64_t offset_cap, weight_cap, pixel_cap, entries; /* how many there are */
    int32_t *table; /* of lines that are not too sparse: where the entries from a pixel on
                       begin, for all pixels from `low` on                   */
    int64_t ntable, table_cap, low, pixels;
    gather_block block;
    gather_level above[STC_MAX_ORDER]; /* affine_append.c: the first of them are open */
    int nabove, opened;
    const mcursor *outside; /* where the nest stands; NULL: at the root */
};

/* affine_rows.c: adds to each row what its inputs' entries lead to. */
void gather_weigh(const affine *a);
typedef void gather_adder(const affine *a, const gather_rows *r);
gather_adder *gather_adder_of(const machine *mc, vclass cls);

/* affine_merge.c: chooses `merge` and `join` for values of so many bytes. */
void gather_mergers(const machine *mc, gather *g, size_t size);

/* affine_append.c: a run that appends rows, in order; all but the first `keep` levels above
 * the rows' are closed. */
void affine_append_begin(machine *mc, affine *a);
stc_status affine_append_rows(machine *mc, affine *a, gather_adder *add, gather_rows *r);
stc_status affine_append_close(machine *mc, gather *g, int keep);

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
