/* csv_write.c: writes text tables (csv.c): what is dense and of order 2 or less as a table,
 * all else as entries under a heading that tells sizes and type. Where the fill isn't zero,
 * every element is an entry.
 */
#include "files.h"
#include "output.h"
#include <string.h>

typedef struct csv_writer {
    output o;
    const tensor *t;
    char separator;
} csv_writer;

static void put_value(csv_writer *w, value v)
{
    const stc_type t = w->t->type;
    if (!type_is_complex(t)) {
        output_value(&w->o, t, v);
        return;
    }
    const bool single = t == STC_C64;
    const value re = single ? (value){.f32 = crealf(v.c64)} : (value){.f64 = creal(v.c128)},
                im = single ? (value){.f32 = cimagf(v.c64)} : (value){.f64 = cimag(v.c128)};
    output_value(&w->o, single ? STC_F32 : STC_F64, re);
    output_char(&w->o, w->separator);
    output_value(&w->o, single ? STC_F32 : STC_F64, im);
}

/* With the number of entries behind the type, which shows that a file was cut short. */
static void put_heading(void *context, int64_t n)
{
    csv_writer *const w = context;
    const tensor *t = w->t;
    for (int k = 0; k < t->order; k++)
        output_text(&w->o, "%c:%lld%c", "ijklmnopqrstuvwx"[k], (long long)t -> shape[k],
                    w -> separator);
    if (type_is_complex(t->type)) output_text(&w->o, "real%cimag", w->separator);
    output_text(&w->o, "%s:%s:%lld\n", type_is_complex(t->type) ? "" : "value",
                type_name(t->type), (long long)n);
}

static int put_entry(void *context, const int64_t *coords, stc_value v)
{
    csv_writer *const w = context;
    for (int k = 0; k < w->t->order; k++) {
        output_index(&w->o, coords[k]);
        output_char(&w->o, w->separator);
    }
    put_value(w, value_from_public(w->t->type, v));
    output_char(&w->o, '\n');
    return w->o.status != STC_OK;
}

/* Whether the text of a number is one of a whole number. */
static bool is_whole(stc_type type, value v)
{
    char text[64];
    type_print(type, v, text, sizeof text);
    return !strpbrk(text, ".enif");
}

static stc_status put_table(csv_writer *w)
{
    const tensor *t = w->t;
    const int64_t columns = t->order > 1 ? t->shape[1] : 1;
    dense_view d;
    const stc_status s = dense_open(t, &d);
    if (s) return s;
    for (int64_t i = 0; i < d.count && !w->o.status; i++) {
        const value v = type_load(t->type, d.vals, i);
        put_value(w, v);
        if (i == 0 && type_is_float(t->type) && is_whole(t->type, v))
            output_text(&w->o, ".0"); /* so that the table is one of floats */
        output_char(&w->o, (i + 1) % columns ? w->separator : '\n');
    }
    dense_close(&d);
    return STC_OK;
}

/* A table tells no type: whole numbers are i64, others f64; and an empty one no size. */
static bool is_table(const tensor *t)
{
    int64_t n;
    return t->order <= 2 && !tensor_is_sparse(t) && !type_is_complex(t->type) &&
           size_product(t->shape, t->order, &n) && n > 0;
}

static stc_status table_write(const tensor *t, const char *path, char separator)
{
    csv_writer w = {.t = t, .separator = separator};
    stc_status s = output_open(&w.o, t->cx, path);
    if (s) return s;
    s = is_table(t) ? put_table(&w) : entries_write(t, put_heading, put_entry, &w);
    return output_close(&w.o, s);
}

stc_status csv_write(const tensor *t, const char *path)
{
    return table_write(t, path, ',');
}

stc_status tsv_write(const tensor *t, const char *path)
{
    return table_write(t, path, '\t');
}
