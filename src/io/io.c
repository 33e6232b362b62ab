/* io.c: what lies between files and tensors: choosing a format, converting values,
 * packing.
 */
#include "files.h"
#include "../../formats/base/job.h"
#include "../../formats/recipe.h"
#include <string.h>
#include <sys/stat.h>

/* ---- reading ---------------------------------------------------------- */

/* The bytes of a file; 0: unknown. */
static int64_t size_of(const char *path)
{
    struct stat st;
    return !path_is_standard(path) && !stat(path, &st) && S_ISREG(st.st_mode) ? st.st_size
                                                                              : 0;
}

stc_status io_read_as(ctx *cx, const char *path, int type, io_result *out)
{
    const file_type *ft;
    input in;
    io_result r = {.cx = cx, .path = path};
    const bool job = job_begin(cx, "bytes read", size_of(path));
    stc_status s = file_open(cx, path, &in, &ft);
    if (!s) {
        /* What isn't zero is true, which a detour through integers would lose. */
        s = ft->read(&in, type == STC_BOOL ? -1 : type, &r);
        input_close(&in);
    }
    r.job = job;
    if (s)
        io_free(&r);
    else
        *out = r;
    return s;
}

void io_free(io_result *r)
{
    if (!r->cx) return;
    if (r->job) job_end(r->cx);
    if (r->e.cx) entries_free(&r->e);
    tensor_free(r->whole);
    if (r->dense) {
        const size_t size = (size_t)r->count * type_size(r->type);
        mem_free(r->cx, r->dense, size ? size : 1);
    }
    *r = (io_result){0};
}

void io_restart(io_result *r)
{
    const io_result fresh = {.cx = r->cx, .path = r->path};
    io_free(r);
    *r = fresh;
}

stc_status dense_alloc(io_result *out)
{
    if (!size_product(out->shape, out->order, &out->count))
        return fail_file(out->cx, STC_ERR_OVERFLOW, out->path, 0,
                         "the shape has more than 2^63 elements");
    out->dense = out->count ? mem_array(out->cx, out->count, type_size(out->type))
                            : mem_alloc(out->cx, 1);
    return out->dense ? STC_OK : out->cx->diag.status;
}

stc_type io_type(const io_result *r, int type)
{
    if (type >= 0) return (stc_type)type;
    return r->noted ? r->noted_type : r->type;
}

bool io_reshape(io_result *r, int order)
{
    if (r->order == order) return true;
    if (r->kind != IO_MATRIX || r->order < order) return false;
    int kept = 0;
    int mode[STC_MAX_ORDER] = {0};
    for (int k = 0; k < r->order; k++)
        if (r->shape[k] != 1) mode[kept++] = k;
    if (kept > order) return false;
    if (r->sparse && entries_widen(&r->e)) return false;
    /* A 1 x 1 matrix as a vector keeps one of its modes. */
    for (int k = 0; k < r->order && kept < order; k++)
        if (r->shape[k] == 1) mode[kept++] = k;
    for (int k = 0; k < order; k++) {
        r->shape[k] = r->shape[mode[k]];
        if (!r->sparse || mode[k] == k) continue;
        int64_t *const coord = r->e.coord[k];
        r->e.coord[k] = r->e.coord[mode[k]];
        r->e.coord[mode[k]] = coord;
    }
    if (r->sparse) {
        for (int k = order; k < r->order; k++) {
            mem_free(r->cx, r->e.coord[k], (size_t)r->e.cap * sizeof(int64_t));
            r->e.coord[k] = NULL;
        }
        r->e.order = order;
    }
    r->order = order;
    return true;
}

/* ---- packing ---------------------------------------------------------- */

/* Row bounds of a csr take 4 bytes a row or more: where there are millions, most of
 * them empty, they would be most of what is held. */
static bool is_hypersparse(const io_result *r)
{
    return r->shape[0] > (int64_t)1 << 20 && r->shape[0] / 16 > r->e.n;
}

/* Whether the format that a file tells has far more places than the file has entries: who
 * only reads a file gets no more than it is worth, whatever it says. */
static bool is_wasteful(const io_result *r)
{
    const format *f = &r->fmt;
    const bool plain = format_is_plain(f);
    int64_t places = 1;
    for (int l = 0; l < f->levels; l++) {
        const level_kind *k = f->level[l].kind;
        int64_t base, extent = INT64_MAX;
        if (plain && k->arrays >> STC_CRD & 1 && !(k->props & PROP_FULL)) continue;
        if (f->level[l].map.op != MAP_COUNT &&
            !map_bounds(&f->level[l].map, r->shape, &base, &extent))
            return true;
        if (f->level[l].map.op == MAP_COUNT) extent = r->shape[0]; /* of one row */
        if (!size_mul(places, extent, &places)) return true;
    }
    return r->sparse && places > (int64_t)1 << 20 && places / 16 > r->e.n;
}

/* The format of a file that is given none: csr for a coordinate matrix (dcsr
 * where it has over a million rows, and over 16 for each entry),
 * all levels compressed for other coordinate files, dense for the rest. */
static void io_default_format(const io_result *r, format *f)
{
    const char *name = "dense";
    if (r->formatted && r->fmt.order == r->order && !is_wasteful(r)) {
        *f = r->fmt;
        return;
    }
    if (r->sparse && r->kind == IO_MATRIX && r->order == 2)
        name = is_hypersparse(r) ? "dcsr" : "csr";
    else if (r->sparse && r->order > 0)
        name = r->order == 1 ? "svec" : "csf";
    format_builtin(name, strlen(name), r->order, NULL, 0, f);
}

static stc_status complex_values(const io_result *r, stc_type type)
{
    return fail_file(r->cx, STC_ERR_DATA, r->path, 0,
                     "the file has complex values, which type %s can't hold",
                     type_name(type));
}

static bool is_real(vclass c, value v)
{
    return (c == CLASS_C64 ? cimagf(v.c64) : cimag(v.c128)) == 0;
}

/* `n` values to another type, in a new block instead of the one that *vals
 * points to. `cap` elements are allocated, before and after; not 0. */
static stc_status convert_values(io_result *r, void **vals, int64_t n, int64_t cap,
                                 stc_type type)
{
    const vclass from = type_class(r->type);
    const bool drops = type_is_complex(r->type) && !type_is_complex(type);
    void *const out = mem_array(r->cx, cap, type_size(type));
    if (!out) return r->cx->diag.status;
    for (int64_t i = 0; i < n; i++) {
        const value v = type_load(r->type, *vals, i);
        if (work_due(r->cx, i)) {
            mem_free(r->cx, out, (size_t)cap * type_size(type));
            return r->cx->diag.status;
        }
        if (drops && !is_real(from, v)) {
            mem_free(r->cx, out, (size_t)cap * type_size(type));
            return complex_values(r, type);
        }
        type_store(type, out, i, type_convert(type, r->type, v));
    }
    mem_free(r->cx, *vals, (size_t)cap * type_size(r->type));
    *vals = out;
    return STC_OK;
}

static stc_status convert_result(io_result *r, stc_type type)
{
    if (r->type == type) return STC_OK;
    stc_status s = STC_OK;
    if (r->sparse && r->e.cap)
        s = convert_values(r, &r->e.vals, r->e.n, r->e.cap, type);
    else if (r->count)
        s = convert_values(r, &r->dense, r->count, r->count, type);
    if (s) return s;
    r->type = type;
    if (r->sparse) r->e.type = type;
    return STC_OK;
}

static void dense_format(int order, format *f)
{
    format_builtin("dense", 5, order, NULL, 0, f);
}

enum { ELEMENTS = 1 << 12 }; /* in a batch */

/* The elements of an array, in batches by way of e. Those that equal the fill are left
 * out unless the format stores every coordinate anyway. */
static stc_status list_elements(const io_result *r, const tensor *t, entries *e,
                                entry_stream *to)
{
    const bool all = format_stores_all(&t->fmt);
    const vclass c = type_class(r->type);
    stc_status s = entries_reserve(e, r->count < ELEMENTS ? r->count : ELEMENTS);
    int64_t at[STC_MAX_ORDER] = {0};
    for (int64_t i = 0; !s && i < r->count; i++) {
        const value v = type_load(r->type, r->dense, i);
        if (all || !class_equal(c, v, t->fill)) {
            for (int k = 0; k < r->order; k++)
                e->coord[k][e->n] = at[k];
            type_store(r->type, e->vals, e->n++, v);
        }
        for (int k = r->order - 1; k >= 0 && ++at[k] == r->shape[k]; k--)
            at[k] = 0;
        if (e->n < ELEMENTS && (i + 1) % (1 << 16)) continue;
        s = stream_put(to, e);
        e->n = 0;
    }
    return s ? s : stream_put(to, e);
}

static stc_status pack_dense(const io_result *r, tensor *t)
{
    format dense;
    dense_format(r->order, &dense);
    if (format_equal(&t->fmt, &dense)) {
        return work_copy(r->cx, t->vals, r->dense, (size_t)r->count * type_size(r->type));
    }
    int row_major[STC_MAX_ORDER];
    for (int k = 0; k < r->order; k++)
        row_major[k] = k;
    entries e;
    entries_init(&e, r->cx, r->order, r->type);
    entry_stream to;
    stc_status s = stream_begin(&to, t, row_major, true, -1);
    if (!s) s = list_elements(r, t, &e, &to);
    if (!s) s = stream_finish(&to);
    stream_free(&to);
    entries_free(&e);
    return s;
}

static stc_status wrong_order(const io_result *r, int order)
{
    char shape[24 * STC_MAX_ORDER] = "";
    for (int k = 0; k < r->order; k++) {
        const size_t len = strlen(shape);
        snprintf(shape + len, sizeof shape - len, "%s%lld", k ? "," : "",
                 (long long)r->shape[k]);
    }
    return fail_file(r->cx, STC_ERR_SHAPE, r->path, 0,
                     "the file holds a tensor of order %d [%s], the format is for order %d",
                     r->order, shape, order);
}

/* What the tensor itself refuses (its shape, an overflow) is the file's fault. */
static stc_status blame_file(const io_result *r, stc_status s)
{
    if (r->cx->diag.file[0]) return s;
    return fail_file(r->cx, s, r->path, 0, "%s", r->cx->diag.message);
}

static stc_status check_real(const io_result *r, const tensor *t, stc_type type)
{
    for (int64_t i = 0; i < t->nvals; i++) {
        if (work_due(r->cx, i)) return r->cx->diag.status;
        if (!is_real(type_class(t->type), type_load(t->type, t->vals, i)))
            return complex_values(r, type);
    }
    return STC_OK;
}

/* A tensor of levels: itself if nothing else is asked for. */
static stc_status pack_whole(io_result *r, const format *f, stc_type type,
                             const value *fill, tensor **out)
{
    tensor *const t = r->whole;
    const value kept = class_convert(type_class(type), type_class(t->type), t->fill);
    const value wanted = fill ? *fill : kept;
    if (f->order != t->order) return wrong_order(r, f->order);
    if (format_equal(f, &t->fmt) && type == t->type &&
        class_equal(type_class(type), wanted, kept)) {
        *out = t;
        r->whole = NULL;
        return STC_OK;
    }
    stc_status s = tensor_check(t);
    if (!s && type_is_complex(t->type) && !type_is_complex(type))
        s = check_real(r, t, type);
    if (!s) s = tensor_convert(t, f, type, wanted, out);
    return s ? blame_file(r, s) : STC_OK;
}

stc_status io_pack(io_result *r, const format *f, int type, const value *fill, tensor **out)
{
    format chosen;
    if (r->whole)
        return pack_whole(r, f ? f : &r->whole->fmt,
                          type < 0 ? r->whole->type : (stc_type)type, fill, out);
    if (f && !io_reshape(r, f->order)) return wrong_order(r, f->order);
    if (!f && r->noted) io_reshape(r, r->noted_order);
    if (f)
        chosen = *f;
    else
        io_default_format(r, &chosen);
    const stc_type t = io_type(r, type);
    job_expect(r->cx, r->count, 1); /* of an array: tensor_pack has that of entries */
    stc_status s = convert_result(r, t);
    if (s) return s;
    const value zero = class_convert(type_class(t), CLASS_I64, (value){0});
    tensor *made;
    s = tensor_new(r->cx, &chosen, t, r->shape, fill ? *fill : zero, &made);
    if (s) return blame_file(r, s);
    s = r->sparse ? tensor_pack(made, &r->e) : pack_dense(r, made);
    if (s) {
        tensor_free(made);
        return blame_file(r, s);
    }
    *out = made;
    return STC_OK;
}

/* ---- writing ---------------------------------------------------------- */

stc_status dense_open(const tensor *t, dense_view *v)
{
    *v = (dense_view){0};
    if (!size_product(t->shape, t->order, &v->count))
        return fail(t->cx, STC_ERR_OVERFLOW, "the tensor has more than 2^63 elements");
    format dense;
    dense_format(t->order, &dense);
    if (format_equal(&t->fmt, &dense)) {
        v->vals = t->vals;
        return STC_OK;
    }
    const stc_status s = tensor_convert(t, &dense, t->type, t->fill, &v->own);
    if (s) return s;
    v->vals = v->own->vals;
    return STC_OK;
}

void dense_close(dense_view *v)
{
    tensor_free(v->own);
    *v = (dense_view){0};
}

static int count_entry(void *context, const int64_t *coords, stc_value v)
{
    int64_t *const n = context;
    (void)coords;
    (void)v;
    ++*n;
    return 0;
}

stc_status entries_write(const tensor *t, void (*heading)(void *context, int64_t n),
                         int (*entry)(void *context, const int64_t *coords, stc_value v),
                         void *context)
{
    int64_t n = 0, at[STC_MAX_ORDER] = {0};
    const bool stored = tensor_fill_is_zero(t);
    dense_view d;
    const stc_status s = stored ? tensor_visit(t, count_entry, &n) : dense_open(t, &d);
    if (s) return s;
    heading(context, stored ? n : d.count);
    if (stored) return tensor_visit(t, entry, context);
    for (int64_t i = 0; i < d.count; i++) {
        if (entry(context, at, value_to_public(t->type, type_load(t->type, d.vals, i))))
            break;
        for (int k = t->order - 1; k >= 0 && ++at[k] == t->shape[k]; k--)
            at[k] = 0;
    }
    dense_close(&d);
    return STC_OK;
}

bool tensor_is_sparse(const tensor *t)
{
    return !format_stores_all(&t->fmt);
}

bool tensor_fill_is_zero(const tensor *t)
{
    return class_is_zero(type_class(t->type), t->fill);
}
