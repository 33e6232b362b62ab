/* spy.c: a picture of where a tensor has stored entries, in braille or as pixels.
 *
 * A braille character is a grid of 2 by 4 dots (U+2800 plus a bit for each), so
 * 80 columns show 160 places, one dot for each or for each block of them. On a
 * dumb terminal, or in the locale C, a character is 1 by 2 dots of ASCII. Modes beyond the
 * second are laid on top of each other; a vector is one row.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct picture {
    int order;
    int64_t rows, columns;       /* of the tensor                             */
    int cell_rows, cell_columns; /* dots in a character                       */
    int high, wide;              /* dots used                                 */
    int lines, width;            /* characters                                */
    unsigned char *cell;         /* bits, row by row of a character           */
} picture;

static int64_t at_least_one(int64_t n)
{
    return n < 1 ? 1 : n;
}

static int divide_up(int a, int b)
{
    return (a + b - 1) / b;
}

/* As many dots as fit, at most one for a place, in the shape's proportions. */
static void fit(picture *p, int columns, int rows)
{
    const double n = (double)p->rows, m = (double)p->columns;
    const double most_high = (double)(rows < 1 ? 1 : rows) * p->cell_rows;
    const double most_wide = (double)(columns < 1 ? 1 : columns) * p->cell_columns;
    double scale = 1;
    if (m * scale > most_wide) scale = most_wide / m;
    if (n * scale > most_high) scale = most_high / n;
    p->high = (int)(n * scale + 0.5);
    p->wide = (int)(m * scale + 0.5);
    p->high = p->high < 1 ? 1 : p->high;
    p->wide = p->wide < 1 ? 1 : p->wide;
    p->lines = divide_up(p->high, p->cell_rows);
    p->width = divide_up(p->wide, p->cell_columns);
}

static int scaled(int64_t at, int64_t size, int dots)
{
    const int d = (int)((double)at / (double)size * dots);
    return d < dots ? d : dots - 1;
}

static int put_dot(void *context, const int64_t *coords, stc_value value)
{
    picture *p = context;
    const int64_t row = p->order > 1 ? coords[0] : 0;
    const int64_t column = p->order > 1 ? coords[1] : p->order ? coords[0] : 0;
    const int y = scaled(row, p->rows, p->high), x = scaled(column, p->columns, p->wide);
    (void)value;
    p->cell[(y / p->cell_rows) * p->width + x / p->cell_columns] |=
        (unsigned char)(1 << (y % p->cell_rows * p->cell_columns + x % p->cell_columns));
    return 0;
}

/* Braille numbers its dots down the columns, the fourth row last. */
static void put_braille(unsigned bits, FILE *out)
{
    static const unsigned char dot[8] = {0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80};
    unsigned pattern = 0;
    for (int k = 0; k < 8; k++)
        if (bits >> k & 1) pattern |= dot[k];
    fputc(0xe2, out);
    fputc((int)(0xa0 | pattern >> 6), out);
    fputc((int)(0x80 | (pattern & 0x3f)), out);
}

static void put_edge(const char *left, const char *line, const char *right, int n,
                     FILE *out)
{
    fputs(left, out);
    for (int k = 0; k < n; k++)
        fputs(line, out);
    fputs(right, out);
}

static void draw(const picture *p, bool ascii, FILE *out)
{
    const char *const side = ascii ? "|" : "│";
    put_edge(ascii ? "+" : "┌", ascii ? "-" : "─", ascii ? "+\n" : "┐\n", p->width, out);
    for (int y = 0; y < p->lines; y++) {
        fputs(side, out);
        for (int x = 0; x < p->width; x++) {
            const unsigned bits = p->cell[y * p->width + x];
            if (ascii)
                fputc(" '.:"[bits & 3], out);
            else
                put_braille(bits, out);
        }
        fprintf(out, "%s\n", side);
    }
    put_edge(ascii ? "+" : "└", ascii ? "-" : "─", ascii ? "+\n" : "┘\n", p->width, out);
}

/* Marks the entries in as many characters as fit; p->cell is to be freed. */
static stc_status take(const stc_tensor *t, int columns, int rows, picture *p)
{
    const int64_t *shape = stc_tensor_shape(t);
    p->order = stc_tensor_order(t);
    p->rows = p->order > 1 ? at_least_one(shape[0]) : 1;
    p->columns = p->order ? at_least_one(shape[p->order > 1]) : 1;
    fit(p, columns, rows);
    const size_t cells = (size_t)p->lines * (size_t)p->width;
    p->cell = xrealloc(NULL, cells);
    memset(p->cell, 0, cells);
    return stc_tensor_visit(t, put_dot, p);
}

/* Where other characters than ASCII may come out as rubbish: a dumb terminal, and the
 * locale C or POSIX, by the first variable that names one. */
static bool only_ascii(void)
{
    static const char *const name[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *term = getenv("TERM");
    if (term && !strcmp(term, "dumb")) return true;
    for (int i = 0; i < 3; i++) {
        const char *locale = getenv(name[i]);
        if (locale && *locale) return !strcmp(locale, "C") || !strcmp(locale, "POSIX");
    }
    return false;
}

stc_status spy_draw(const stc_tensor *t, int columns, int rows, FILE *out)
{
    const bool ascii = only_ascii();
    picture p = {.cell_rows = ascii ? 2 : 4, .cell_columns = ascii ? 1 : 2};
    const stc_status status = take(t, columns - 2, rows, &p);
    if (status == STC_OK) {
        draw(&p, ascii, out);
        if (p.order > 2)
            fprintf(out, "modes 0 and 1; the others lie on top of each other\n");
    }
    free(p.cell);
    return status;
}

stc_status spy_pixels(stc_machine *m, const stc_tensor *t, int most, stc_tensor **out)
{
    picture p = {.cell_rows = 1, .cell_columns = 1};
    stc_status status = take(t, most, most, &p);
    for (int k = 0; k < p.lines * p.width; k++)
        p.cell[k] = p.cell[k] ? 0 : 255;
    const int64_t shape[2] = {p.lines, p.width};
    if (status == STC_OK)
        status = stc_tensor_from_dense(m, "dense", STC_U8, 2, shape, NULL, p.cell, out);
    free(p.cell);
    return status;
}
