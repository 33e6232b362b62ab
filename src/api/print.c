/* print.c: tensors as text: what `print` shows.
 *
 *     order 0                  its value
 *     all levels full          a vector of up to 50 on a line; a matrix as a table, a line
 * for each row, of a large one, or one that is wider than the window, the corners below a
 * header others                   a header, then `(i,j) value` for each entry
 *
 * Numbers are written so that reading them gives the same value back, but for those of
 * tables, and with as few digits as are asked for.
 */
#include "api.h"
#include <complex.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A table is for the eye: it has to fit a screen. */
#define TABLE_ELEMENTS 400
#define TABLE_COLUMNS 20
#define LINE_ELEMENTS 50
#define NUMBER_MAX 80
#define TABLE_DIGITS 6
/* What is shown of a larger one: so many rows or columns, then the last ones. */
#define SHOWN_FIRST 8
#define SHOWN_LAST 3

typedef struct manner {
    int digits; /* 0: as they come     */
    int width;  /* 0: tables go beyond */
} manner;

static void end(ctx *cx, void *part)
{
    (void)cx, (void)part;
}

static const part_kind kind = {sizeof(manner), end};

stc_status print_digits(ctx *cx, int most)
{
    manner *const own = ctx_part(cx, &kind);
    if (own) own->digits = most;
    return own ? STC_OK : cx->diag.status;
}

stc_status print_width(ctx *cx, int columns)
{
    manner *const own = ctx_part(cx, &kind);
    if (own) own->width = columns;
    return own ? STC_OK : cx->diag.status;
}

static double rounded(double x, int most)
{
    char text[40];
    snprintf(text, sizeof text, "%.*e", most - 1, x);
    return isfinite(x) ? strtod(text, NULL) : x;
}

int element_show(const tensor *t, value v, bool in_table, char *buf, size_t size)
{
    const manner *const own = ctx_has_part(t->cx, &kind);
    const int most = own && own->digits ? own->digits : in_table ? TABLE_DIGITS : 0;
    const vclass cls = type_class(t->type);
    if (most && (type_is_float(t->type) || type_is_complex(t->type))) {
        const double complex z = class_convert(CLASS_C128, cls, v).c128;
        value w = {.c128 = rounded(creal(z), most) + I * rounded(cimag(z), most)};
        if (type_is_float(t->type)) w.f64 = creal(w.c128);
        v = class_convert(cls, type_is_float(t->type) ? CLASS_F64 : CLASS_C128, w);
    }
    return type_show(t->type, v, buf, size);
}

/* An interrupt may be what ended the write. */
static stc_status write_failed(ctx *cx)
{
    const int why = errno;
    if (work_done(cx, 0)) return cx->diag.status;
    errno = why;
    return fail(cx, STC_ERR_IO, "the output can't be written: %s", strerror(errno));
}

stc_status text_print(ctx *cx, FILE *out, const char *text)
{
    return fputs(text, out) < 0 ? write_failed(cx) : STC_OK;
}

static stc_status print_header(const tensor *t, FILE *out)
{
    char shape[STC_MAX_ORDER * 24], fill[NUMBER_MAX] = "";
    textbuf b;
    shape_print(t->shape, t->order, shape, sizeof shape);
    text_init(&b, t->cx);
    format_print(&t->fmt, &b);
    char *name = text_take(&b);
    if (!name) return t->cx->diag.status;
    if (!class_is_zero(type_class(t->type), t->fill)) {
        strcpy(fill, " fill ");
        type_show(t->type, t->fill, fill + 6, sizeof fill - 6);
    }
    const int n = fprintf(out, "%s %s %s%s, %lld stored\n", name, type_name(t->type), shape,
                          fill, (long long)tensor_stored(t));
    mem_strfree(t->cx, name);
    return n < 0 ? write_failed(t->cx) : STC_OK;
}

/* Stored in full and in order, so that a table shows what there is. */
static bool prints_as_table(const tensor *t)
{
    if (t->order < 1 || t->order > 2 || !format_is_plain(&t->fmt) ||
        !format_stores_all(&t->fmt))
        return false;
    const int64_t rows = t->order == 2 ? t->shape[0] : 1, columns = t->shape[t->order - 1];
    return rows > 0 && columns > 0 && (t->order == 2 || columns <= LINE_ELEMENTS);
}

/* The table's rows or columns; `elided`: the one in whose place `…` stands, -1: none. */
typedef struct shown {
    int n, elided;
    int64_t size;
} shown;

static shown shown_of(int64_t size, bool all)
{
    if (all || size <= SHOWN_FIRST + SHOWN_LAST + 1) return (shown){(int)size, -1, size};
    return (shown){SHOWN_FIRST + SHOWN_LAST + 1, SHOWN_FIRST, size};
}

/* One less, of the first ones where there are more of them; false: one of each is left. */
static bool show_fewer(shown *s)
{
    const int first = s->elided < 0 ? s->n - 1 : s->elided;
    const int last = s->elided < 0 ? 1 : s->n - 1 - first;
    if (s->elided < 0 && s->n > 3) { /* two of them for a `…` */
        *s = (shown){s->n - 1, s->n - 3, s->size};
        return true;
    }
    if (s->elided < 0 || first + last <= 2) return false;
    s->n--;
    s->elided -= first > 2 * last || last == 1;
    return true;
}

static int64_t shown_at(const shown *s, int k)
{
    return s->elided >= 0 && k > s->elided ? s->size - s->n + k : k;
}

static int element_text(const tensor *t, int64_t row, int64_t column, char *buf)
{
    const int64_t coords[2] = {t->order == 2 ? row : column, column};
    return element_show(t, tensor_get(t, coords), true, buf, NUMBER_MAX);
}

static stc_status print_row(const tensor *t, const shown *columns, const int *width,
                            int64_t row, bool dots, FILE *out)
{
    char buf[NUMBER_MAX];
    for (int j = 0; j < columns->n; j++) {
        const bool here = dots || j == columns->elided;
        if (!here) element_text(t, row, shown_at(columns, j), buf);
        const int pad = here ? width[j] - 1 : width[j];
        if (fprintf(out, "%s%*s%s", j ? "  " : "", pad, here ? "" : buf, here ? "…" : "") <
            0)
            return write_failed(t->cx);
    }
    return fputc('\n', out) == EOF ? write_failed(t->cx) : STC_OK;
}

/* The width of each column; that of a line. */
static int measure(const tensor *t, const shown *rows, const shown *columns, int *width)
{
    char buf[NUMBER_MAX];
    int all = 0;
    for (int j = 0; j < columns->n; j++) {
        width[j] = 1;
        for (int i = 0; i < rows->n && j != columns->elided; i++) {
            if (i == rows->elided) continue;
            const int w = element_text(t, shown_at(rows, i), shown_at(columns, j), buf);
            if (w > width[j]) width[j] = w;
        }
        all += width[j] + (j ? 2 : 0);
    }
    return all;
}

static stc_status print_table(const tensor *t, FILE *out)
{
    const manner *const own = ctx_has_part(t->cx, &kind);
    const int64_t n = t->order == 2 ? t->shape[0] : 1, m = t->shape[t->order - 1];
    const bool small = t->order == 1 || (m <= TABLE_COLUMNS && n <= TABLE_ELEMENTS / m);
    const int edge = own && t->order == 2 ? own->width : 0;
    const shown rows = shown_of(n, small);
    shown columns = shown_of(m, small);
    int width[LINE_ELEMENTS] = {0};
    while (measure(t, &rows, &columns, width) > edge && edge && show_fewer(&columns))
        ;
    const bool whole = rows.elided < 0 && columns.elided < 0;
    stc_status st = whole && small ? STC_OK : print_header(t, out);
    for (int i = 0; i < rows.n && !st; i++)
        st = print_row(t, &columns, width, shown_at(&rows, i), i == rows.elided, out);
    return st;
}

typedef struct printer {
    const tensor *t;
    FILE *out;
    int64_t limit, count;
    bool counted; /* how many there are is known */
    bool failed;
} printer;

/* Whether each stored value is one entry: then they are counted without a walk. */
static bool is_counted(const tensor *t)
{
    for (int l = 0; l < t->fmt.levels; l++)
        if (!(t->level[l].props & (PROP_COMPACT | PROP_FULL)) ||
            t->level[l].kind->caps & CAP_REGION)
            return false;
    return t->fmt.levels && format_is_plain(&t->fmt);
}

static int print_entry(void *context, const int64_t *coords, stc_value v)
{
    printer *p = context;
    if (p->limit && p->count++ >= p->limit) return p->counted; /* only counted */
    char line[STC_MAX_ORDER * 24 + NUMBER_MAX];
    size_t n = 0;
    line[n++] = '(';
    for (int k = 0; k < p->t->order; k++)
        n += (size_t)snprintf(line + n, sizeof line - n, "%s%lld", k ? "," : "",
                              (long long)coords[k]);
    n += (size_t)snprintf(line + n, sizeof line - n, ") ");
    n += (size_t)element_show(p->t, value_from_public(p->t->type, v), false, line + n,
                              sizeof line - n);
    line[n++] = '\n';
    p->failed = fwrite(line, 1, n, p->out) != n;
    return p->failed;
}

stc_status tensor_print(const tensor *t, FILE *out, int64_t limit)
{
    char buf[NUMBER_MAX];
    if (t->order == 0) {
        element_show(t, tensor_get(t, NULL), false, buf, sizeof buf);
        return fprintf(out, "%s\n", buf) < 0 ? write_failed(t->cx) : STC_OK;
    }
    if (prints_as_table(t)) return print_table(t, out);
    stc_status st = print_header(t, out);
    if (st) return st;
    printer p = {.t = t, .out = out, .limit = limit, .counted = is_counted(t)};
    if ((st = tensor_visit(t, print_entry, &p))) return st;
    if (p.failed) return write_failed(t->cx);
    const int64_t more = (p.counted ? t->nvals : p.count) - limit;
    if (limit && more > 0 && fprintf(out, "… and %lld more\n", (long long)more) < 0)
        return write_failed(t->cx);
    return STC_OK;
}

stc_status stc_tensor_print(const stc_tensor *t, FILE *out, int64_t limit)
{
    API_CALL(t, t->cx);
    if (!out) return fail_null(t->cx, "out");
    if (limit < 0) return fail(t->cx, STC_ERR_ARGUMENT, "the limit is negative");
    stc_status st = tensor_check((tensor *)t); /* once per generation of the data */
    return st ? st : tensor_print(t, out, limit);
}
