/* print.c: tensors as text: what `print` shows.
 *
 *     order 0                  its value
 *     small, all levels full   a table, one line for each row
 *     others                   a header, then `(i,j) value` for each entry
 *
 * Numbers are written so that reading them gives the same value back.
 */
#include "api.h"
#include <errno.h>
#include <string.h>

/* A table is for the eye: it has to fit a screen. */
#define TABLE_ELEMENTS 400
#define TABLE_COLUMNS 20
#define NUMBER_MAX 80

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

/* Stored in full and in order, so that a table shows what there is. */
static bool prints_as_table(const tensor *t)
{
    if (t->order < 1 || t->order > 2 || !format_is_plain(&t->fmt)) return false;
    for (int l = 0; l < t->fmt.levels; l++) {
        if (!(format_props(&t->fmt, l) & PROP_FULL)) return false;
    }
    const int64_t rows = t->order == 2 ? t->shape[0] : 1, columns = t->shape[t->order - 1];
    return rows > 0 && columns > 0 && columns <= TABLE_COLUMNS &&
           rows <= TABLE_ELEMENTS / columns;
}

static int element_text(const tensor *t, int64_t row, int64_t column, char *buf)
{
    const int64_t coords[2] = {t->order == 2 ? row : column, column};
    return type_show(t->type, tensor_get(t, coords), buf, NUMBER_MAX);
}

static stc_status print_table(const tensor *t, FILE *out)
{
    const int64_t rows = t->order == 2 ? t->shape[0] : 1;
    const int columns = (int)t->shape[t->order - 1];
    int width[TABLE_COLUMNS] = {0};
    char buf[NUMBER_MAX];
    for (int64_t i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            const int n = element_text(t, i, j, buf);
            if (n > width[j]) width[j] = n;
        }
    }
    for (int64_t i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            element_text(t, i, j, buf);
            if (fprintf(out, "%s%*s", j ? "  " : "", width[j], buf) < 0)
                return write_failed(t->cx);
        }
        if (fputc('\n', out) == EOF) return write_failed(t->cx);
    }
    return STC_OK;
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

typedef struct printer {
    const tensor *t;
    FILE *out;
    int64_t limit, count;
    bool failed;
} printer;

static int print_entry(void *context, const int64_t *coords, stc_value v)
{
    printer *p = context;
    if (p->limit && p->count++ >= p->limit) return 0; /* only counted */
    char line[STC_MAX_ORDER * 24 + NUMBER_MAX];
    size_t n = 0;
    line[n++] = '(';
    for (int k = 0; k < p->t->order; k++)
        n += (size_t)snprintf(line + n, sizeof line - n, "%s%lld", k ? "," : "",
                              (long long)coords[k]);
    n += (size_t)snprintf(line + n, sizeof line - n, ") ");
    n += (size_t)type_show(p->t->type, value_from_public(p->t->type, v), line + n,
                           sizeof line - n);
    line[n++] = '\n';
    p->failed = fwrite(line, 1, n, p->out) != n;
    return p->failed;
}

stc_status tensor_print(const tensor *t, FILE *out, int64_t limit)
{
    char buf[NUMBER_MAX];
    if (t->order == 0) {
        type_show(t->type, tensor_get(t, NULL), buf, sizeof buf);
        return fprintf(out, "%s\n", buf) < 0 ? write_failed(t->cx) : STC_OK;
    }
    if (prints_as_table(t)) return print_table(t, out);
    stc_status st = print_header(t, out);
    if (st) return st;
    printer p = {.t = t, .out = out, .limit = limit};
    if ((st = tensor_visit(t, print_entry, &p))) return st;
    if (p.failed) return write_failed(t->cx);
    const int64_t more = p.count - limit;
    if (limit && more > 0 && fprintf(out, "… and %lld more\n", (long long)more) < 0)
        return write_failed(t->cx);
    return STC_OK;
}

stc_status stc_tensor_print(const stc_tensor *t, FILE *out, int64_t limit)
{
    if (!t) return STC_ERR_ARGUMENT;
    API_ENTER(t->cx);
    if (!out) return fail_null(t->cx, "out");
    if (limit < 0) return fail(t->cx, STC_ERR_ARGUMENT, "the limit is negative");
    stc_status st = tensor_check((tensor *)t); /* once per generation of the data */
    return st ? st : tensor_print(t, out, limit);
}
