/* npz.c: arrays with names, as NumPy keeps them: zip archives of .npy members, or folders
 * of .npy files.
 */
#include "binsparse.h"

bool npz_sniff(const char *p, int64_t len)
{
    return len > 4 && !memcmp(p, "PK\3\4", 4);
}

/* ---- reading -------------------------------------------------------------------- */

static bool file_exists(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f) fclose(f);
    return f != NULL;
}

/* A member's bytes; found: false, without an error, if there is none. */
static stc_status store_bytes(array_store *a, const char *member, file_bytes *out,
                              bool *found)
{
    const int n = snprintf(a->where, sizeof a->where, "%s%c%s", a->path,
                           a->folder ? '/' : ':', member);
    if (!a->folder) return zip_read(&a->zip, member, out, found);
    *found = n < (int)sizeof a->where && file_exists(a->where);
    return *found ? file_read(a->cx, a->where, INT64_MAX - 1, out) : STC_OK;
}

/* NAME.npy as an input to read from, which the caller closes. */
static stc_status open_array(array_store *a, const char *name, input *in)
{
    char member[64];
    file_bytes bytes;
    bool found;
    snprintf(member, sizeof member, "%s.npy", name);
    const stc_status s = store_bytes(a, member, &bytes, &found);
    if (s) return s;
    if (!found)
        return fail_file(a->cx, STC_ERR_DATA, a->path, 0, "there is no array %s in it",
                         member);
    input_over(in, a->cx, a->where, bytes.data, bytes.len);
    in->file = bytes;
    return STC_OK;
}

stc_status store_array(array_store *a, const char *name, io_result *out)
{
    input in;
    *out = (io_result){.cx = a->cx, .path = a->path};
    stc_status s = open_array(a, name, &in);
    if (s) return s;
    s = npy_read(&in, -1, out);
    input_close(&in);
    if (s) io_free(out);
    return s;
}

stc_status store_text(array_store *a, const char *name, char *out, size_t size)
{
    input in;
    stc_status s = open_array(a, name, &in);
    if (s) return s;
    s = npy_text(&in, out, size);
    input_close(&in);
    return s;
}

stc_status store_integers(array_store *a, const char *name, int64_t least, io_result *out)
{
    const stc_status s = store_array(a, name, out);
    if (s) return s;
    if (out->order == 1 && out->count >= least && type_is_integer(out->type)) return STC_OK;
    const int order = out->order;
    const int64_t count = out->count;
    const char *type = type_name(out->type);
    io_free(out);
    return fail_file(a->cx, STC_ERR_DATA, a->path, 0,
                     "array %s: order %d, %lld elements of %s; expected order 1, at least "
                     "%lld whole numbers",
                     name, order, (long long)count, type, (long long)least);
}

int64_t integer_at(const io_result *a, int64_t i)
{
    const value v = type_load(a->type, a->dense, i);
    return type_class(a->type) == CLASS_U64 && v.u64 > INT64_MAX ? -1 : v.i64;
}

stc_status npz_read(input *in, int type, io_result *out)
{
    (void)type; /* arrays are read as they are */
    array_store a = {.cx = in->cx, .path = in->path};
    file_bytes descriptor;
    bool found = false;
    stc_status s = zip_open(&a.zip, in->cx, in->path, in->begin, in->end - in->begin);
    if (!s) s = store_bytes(&a, BINSPARSE_JSON, &descriptor, &found);
    if (s) return s;
    if (!found) return scipy_read(&a, out);
    s = binsparse_read(&a, &descriptor, out);
    file_release(in->cx, &descriptor);
    return s;
}

stc_status folder_read(input *in, int type, io_result *out)
{
    (void)type;
    array_store a = {.cx = in->cx, .path = in->path, .folder = true};
    file_bytes descriptor;
    bool found = false;
    stc_status s = store_bytes(&a, BINSPARSE_JSON, &descriptor, &found);
    if (s) return s;
    if (!found)
        return fail_file(in->cx, STC_ERR_DATA, in->path, 0,
                         "there is no %s in it, which a Binsparse folder has",
                         BINSPARSE_JSON);
    s = binsparse_read(&a, &descriptor, out);
    file_release(in->cx, &descriptor);
    return s;
}

/* ---- writing ---------------------------------------------------------------------- */

stc_status npz_put(zip_writer *w, const char *name, const char *descr, int order,
                   const int64_t *shape, const array_span *elements)
{
    const array_span *e = elements;
    char header[NPY_HEADER], member[ZIP_NAME], room[4096];
    const int length = npy_header(header, descr, order, shape);
    const int64_t step = e->stride == e->width ? 1 << 16 : (int)sizeof room / e->width;
    uint32_t sum = crc32_of(0, header, (size_t)length);
    for (int64_t at = 0; at < e->n; at += step) {
        const int64_t n = e->n - at < step ? e->n - at : step;
        sum = crc32_of(sum, span_gather(e, at, n, room), (size_t)(n * e->width));
        if (work_done(w->o.cx, (uint64_t)n)) return w->o.cx->diag.status;
    }
    snprintf(member, sizeof member, "%s.npy", name);
    zip_begin(w, member, length + e->n * e->width, sum);
    output_bytes(&w->o, header, (size_t)length);
    for (int64_t at = 0; at < e->n && !w->o.status; at += step) {
        const int64_t n = e->n - at < step ? e->n - at : step;
        output_bytes(&w->o, span_gather(e, at, n, room), (size_t)(n * e->width));
    }
    return STC_OK;
}
