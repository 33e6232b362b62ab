/* scipy_write.c: writes archives that scipy.sparse.load_npz reads (scipy.c has their
 * arrays). What has the form of one of SciPy's kinds is written as that, from the arrays
 * as they are; any other matrix as csr. Order 1 is one column, order 0 is 1 x 1.
 */
#include "npy.h"

typedef struct scipy_writer {
    zip_writer w;
    const tensor *t;
} scipy_writer;

static array_span indices(const index_array *a)
{
    return (array_span){a->data, a->len, a->width, a->stride};
}

static void put_integers(scipy_writer *s, const char *name, const index_array *a,
                         stc_status *st)
{
    char descr[NPY_DESCR];
    const array_span elements = indices(a);
    npy_descr(a->width == 4 ? STC_I32 : STC_I64, descr);
    if (!*st) *st = npz_put(&s->w, name, descr, 1, &a->len, &elements);
}

static void put_data(scipy_writer *s, int order, const int64_t *shape, const void *vals,
                     int64_t n, stc_status *st)
{
    char descr[NPY_DESCR];
    const int32_t size = (int32_t)type_size(s->t->type);
    const array_span elements = {vals, n, size, size};
    npy_descr(s->t->type, descr);
    if (!*st) *st = npz_put(&s->w, "data", descr, order, shape, &elements);
}

static void put_head(scipy_writer *s, const char *name, const int64_t shape[2],
                     stc_status *st)
{
    const int64_t two = 2;
    const array_span text = {name, 1, 3, 3}, sizes = {(const char *)shape, 2, 8, 8};
    char descr[NPY_DESCR];
    npy_descr(STC_I64, descr);
    if (!*st) *st = npz_put(&s->w, "format", "|S3", 0, NULL, &text);
    if (!*st) *st = npz_put(&s->w, "shape", descr, 1, &two, &sizes);
}

/* ---- the kinds -------------------------------------------------------------------- */

static void write_segments(scipy_writer *s, const char *name, const int64_t *blocks,
                           stc_status *st)
{
    const tensor *t = s->t;
    const level *lv = &t->level[1];
    int64_t shape[3] = {t->nvals};
    put_head(s, name, t->shape, st);
    put_integers(s, "indptr", &lv->a[STC_POS], st);
    put_integers(s, "indices", &lv->a[STC_CRD], st);
    if (blocks) {
        shape[0] = t->nvals / blocks[0] / blocks[1];
        memcpy(shape + 1, blocks, 2 * sizeof *blocks);
    }
    put_data(s, blocks ? 3 : 1, shape, t->vals, t->nvals, st);
}

static void write_coordinates(scipy_writer *s, stc_status *st)
{
    const tensor *t = s->t;
    put_head(s, "coo", t->shape, st);
    put_integers(s, "row", &t->level[0].a[STC_CRD], st);
    put_integers(s, "col", &t->level[1].a[STC_CRD], st);
    put_data(s, 1, &t->nvals, t->vals, t->nvals, st);
}

/* Ours are by rows, SciPy's by columns. */
static void write_diagonals(scipy_writer *s, stc_status *st)
{
    const tensor *t = s->t;
    const index_array *crd = &t->level[0].a[STC_CRD];
    const int64_t rows = t->shape[0], columns = t->shape[1], shape[] = {crd->len, columns};
    const size_t size = type_size(t->type);
    int64_t n, bytes;
    char *data = NULL;
    if (!size_mul(crd->len, columns, &n) || !size_mul(n, (int64_t)size, &bytes))
        *st = fail(t->cx, STC_ERR_OVERFLOW, "the diagonals have more than 2^63 bytes");
    if (!*st && !(data = mem_zero(t->cx, n ? n : 1, size))) *st = t->cx->diag.status;
    for (int64_t k = 0; !*st && k < crd->len; k++) {
        const int64_t d = index_get(crd, k), lo = d < 0 ? -d : 0,
                      hi = rows < columns - d ? rows : columns - d;
        if (lo < hi)
            memcpy(data + (size_t)(k * columns + lo + d) * size,
                   (const char *)t->vals + (size_t)(k * rows + lo) * size,
                   (size_t)(hi - lo) * size);
        if (work_done(t->cx, (uint64_t)columns)) *st = t->cx->diag.status;
    }
    put_head(s, "dia", t->shape, st);
    put_integers(s, "offsets", crd, st);
    put_data(s, 2, shape, data, n, st);
    if (data) mem_free(t->cx, data, (size_t)(n ? n : 1) * size);
}

/* ---- choosing ----------------------------------------------------------------------- */

static bool has_format(const tensor *t, const char *name, const int64_t *args, int nargs)
{
    format f;
    return format_builtin(name, strlen(name), 2, args, nargs, &f) &&
           format_equal(&f, &t->fmt);
}

/* Blocks that divide the shape, as SciPy wants them. */
static bool has_blocks(const tensor *t, int64_t blocks[2])
{
    if (t->fmt.levels != 4 || t->order != 2) return false;
    for (int k = 0; k < 2; k++)
        blocks[k] = t->fmt.level[k].map.k;
    return has_format(t, "bcsr", blocks, 2) && t->shape[0] % blocks[0] == 0 &&
           t->shape[1] % blocks[1] == 0;
}

static void write_kind(scipy_writer *s, stc_status *st)
{
    const tensor *t = s->t;
    int64_t blocks[2];
    if (has_blocks(t, blocks))
        write_segments(s, "bsr", blocks, st);
    else if (has_format(t, "coo", NULL, 0))
        write_coordinates(s, st);
    else if (has_format(t, "dia", NULL, 0))
        write_diagonals(s, st);
    else
        write_segments(s, has_format(t, "csc", NULL, 0) ? "csc" : "csr", NULL, st);
}

static bool is_kind(const tensor *t)
{
    int64_t blocks[2];
    return tensor_fill_is_zero(t) && t->order == 2 &&
           (has_format(t, "csr", NULL, 0) || has_format(t, "csc", NULL, 0) ||
            has_format(t, "coo", NULL, 0) || has_format(t, "dia", NULL, 0) ||
            has_blocks(t, blocks));
}

/* A vector's or a number's entries as those of a matrix. */
static stc_status as_matrix(const tensor *t, tensor **out)
{
    const int64_t shape[2] = {t->order ? t->shape[0] : 1, 1};
    const value zero = class_convert(type_class(t->type), CLASS_I64, (value){0});
    tensor *flat = NULL, *made = NULL;
    entries e;
    format f;
    if (!format_builtin(t->order == 1 ? "svec" : "dense", t->order == 1 ? 4 : 5, t->order,
                        NULL, 0, &f) ||
        tensor_convert(t, &f, t->type, zero, &flat))
        return t->cx->diag.status;
    entries_init(&e, t->cx, t->order, t->type);
    stc_status s = entries_reserve(&e, 1);
    if (!s) s = tensor_entries(flat, &e);
    for (int k = t->order; !s && k < 2; k++) {
        e.coord[k] = mem_zero(t->cx, e.cap, sizeof(int64_t));
        if (!e.coord[k]) s = t->cx->diag.status;
        e.order = k + 1;
    }
    format_builtin("csr", 3, 2, NULL, 0, &f);
    if (!s) s = tensor_new(t->cx, &f, t->type, shape, zero, &made);
    if (!s && (s = tensor_pack(made, &e))) tensor_free(made);
    entries_free(&e);
    tensor_free(flat);
    if (!s) *out = made;
    return s;
}

static stc_status as_csr(const tensor *t, tensor **out)
{
    const value zero = class_convert(type_class(t->type), CLASS_I64, (value){0});
    format f;
    if (t->order < 2) return as_matrix(t, out);
    format_builtin("csr", 3, 2, NULL, 0, &f);
    return tensor_convert(t, &f, t->type, zero, out);
}

stc_status npz_write(const tensor *t, const char *path)
{
    if (t->order > 2)
        return fail_file(t->cx, STC_ERR_ARGUMENT, path, 0,
                         "a tensor of order %d can't be written as a matrix of SciPy's; "
                         "write it as .stt, .bsp.npz or .tns",
                         t->order);
    tensor *csr = NULL;
    stc_status st = is_kind(t) ? STC_OK : as_csr(t, &csr);
    if (st) return st;
    scipy_writer s = {.t = csr ? csr : t};
    if (!(st = zip_create(&s.w, t->cx, path))) {
        write_kind(&s, &st);
        st = zip_close(&s.w, st);
    }
    tensor_free(csr);
    return st;
}
