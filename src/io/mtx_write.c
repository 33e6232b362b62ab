/* mtx_write.c: writes Matrix Market files: coordinate where the format leaves
 * out coordinates and the fill is zero, else array. Order 1 is one column,
 * order 0 is 1 x 1; a comment tells what it was (note.h).
 */
#include "files.h"
#include "note.h"
#include "output.h"

typedef struct mtx_writer {
    output o;
    const tensor *t;
    int64_t n;   /* entries counted */
    bool beyond; /* a value is beyond i64 */
} mtx_writer;

/* `integer` for all that fits 64 bits with a sign, so that any reader takes
 * it; u64 beyond that is the extension `unsigned-integer`. */
static const char *field_name(const mtx_writer *w)
{
    const stc_type t = w->t->type;
    if (type_is_complex(t)) return "complex";
    if (type_is_float(t)) return "real";
    return w->beyond ? "unsigned-integer" : "integer";
}

static int count_entry(void *context, const int64_t *coords, stc_value v)
{
    mtx_writer *const w = context;
    (void)coords;
    w->n++;
    w->beyond |= w->t->type == STC_U64 && v.u > INT64_MAX;
    return 0;
}

static int write_entry(void *context, const int64_t *coords, stc_value v)
{
    mtx_writer *const w = context;
    for (int k = 0; k < 2; k++) {
        output_index(&w->o, k < w->t->order ? coords[k] + 1 : 1);
        output_char(&w->o, ' ');
    }
    output_value(&w->o, w->t->type, value_from_public(w->t->type, v));
    output_char(&w->o, '\n');
    return w->o.status != STC_OK;
}

static void write_header(mtx_writer *w, const char *layout, int64_t rows, int64_t columns)
{
    char text[NOTE_SIZE];
    note_print(w->t, text);
    output_text(&w->o, "%%%%MatrixMarket matrix %s %s general\n%%%s\n%lld %lld", layout,
                field_name(w), text, (long long)rows, (long long)columns);
}

static stc_status write_coordinates(mtx_writer *w, int64_t rows, int64_t columns)
{
    stc_status s = tensor_visit(w->t, count_entry, w);
    if (s) return s;
    write_header(w, "coordinate", rows, columns);
    output_text(&w->o, " %lld\n", (long long)w->n);
    return tensor_visit(w->t, write_entry, w);
}

static stc_status write_array(mtx_writer *w, int64_t rows, int64_t columns)
{
    const stc_type type = w->t->type;
    dense_view d;
    const stc_status s = dense_open(w->t, &d);
    if (s) return s;
    for (int64_t i = 0; type == STC_U64 && i < d.count; i++)
        w->beyond |= type_load(type, d.vals, i).u64 > INT64_MAX || work_due(w->t->cx, i);
    write_header(w, "array", rows, columns);
    output_char(&w->o, '\n');
    for (int64_t j = 0; rows && j < columns && !w->o.status; j++)
        for (int64_t i = 0; i < rows && !w->o.status; i++) {
            output_value(&w->o, type, type_load(type, d.vals, i * columns + j));
            output_char(&w->o, '\n');
        }
    dense_close(&d);
    return STC_OK;
}

stc_status mtx_write(const tensor *t, const char *path)
{
    if (t->order > 2)
        return fail_file(t->cx, STC_ERR_ARGUMENT, path, 0,
                         "a tensor of order %d can't be written as a matrix; write it as "
                         ".tns or .npy",
                         t->order);
    mtx_writer w = {.t = t};
    const int64_t rows = t->order > 0 ? t->shape[0] : 1;
    const int64_t columns = t->order > 1 ? t->shape[1] : 1;
    stc_status s = output_open(&w.o, t->cx, path);
    if (s) return s;
    s = tensor_is_sparse(t) && tensor_fill_is_zero(t) ? write_coordinates(&w, rows, columns)
                                                      : write_array(&w, rows, columns);
    return output_close(&w.o, s);
}
