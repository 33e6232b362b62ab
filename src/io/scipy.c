/* scipy.c: reads the archives of scipy.sparse.save_npz: csr, csc, coo, bsr and dia.
 *
 *     format   the name             shape    rows and columns
 *     csr csc  indptr indices data  coo      row col data
 *     bsr      the same, data [blocks,r,c]   dia  offsets, data [diagonals,columns]
 *
 * Each is listed as entries, in any order and with duplicates, as SciPy has them; the
 * format is what it is packed into, unless another is asked for. Zeros inside blocks and
 * diagonals aren't entries.
 */
#include "npy.h"

typedef struct scipy {
    array_store *a;
    io_result *out;
    io_result data, index, bounds; /* bounds: indptr */
    char format[8];
} scipy;

static stc_status wrong(const scipy *r, const char *what, int64_t at, int64_t found,
                        int64_t end)
{
    return fail_file(r->a->cx, STC_ERR_DATA, r->a->path, 0,
                     "%s of %s: %lld at place %lld, expected 0 to %lld", what, r->format,
                     (long long)found, (long long)at, (long long)end - 1);
}

/* ---- entries ------------------------------------------------------------------------ */

static void put_entry(scipy *r, int64_t i, int64_t j, int64_t from)
{
    entries *e = &r->out->e;
    const size_t size = type_size(r->data.type);
    e->coord[0][e->n] = i;
    e->coord[1][e->n] = j;
    memcpy((char *)e->vals + (size_t)e->n++ * size,
           (const char *)r->data.dense + (size_t)from * size, size);
}

static bool is_zero(const scipy *r, int64_t at)
{
    return class_is_zero(type_class(r->data.type),
                         type_load(r->data.type, r->data.dense, at));
}

static stc_status reserve(scipy *r, int64_t n)
{
    r->out->type = r->data.type;
    entries_init(&r->out->e, r->a->cx, 2, r->data.type);
    return entries_reserve(&r->out->e, n);
}

/* Every place of a block; of a block of one, zeros too. */
static void put_block(scipy *r, int64_t i, int64_t j, int64_t block, int64_t h, int64_t w)
{
    const bool all = h * w == 1;
    for (int64_t a = 0; a < h; a++)
        for (int64_t b = 0; b < w; b++) {
            const int64_t at = (block * h + a) * w + b;
            if (all || !is_zero(r, at)) put_entry(r, i * h + a, j * w + b, at);
        }
}

/* Rows (columns, if `turned`) of blocks of h x w. */
static stc_status list_segments(scipy *r, bool turned, int64_t h, int64_t w)
{
    const int64_t rows = r->out->shape[turned] / h, columns = r->out->shape[!turned] / w;
    const int64_t n =
        r->index.count < r->data.count / (h * w) ? r->index.count : r->data.count / (h * w);
    int64_t before = 0;
    stc_status s = reserve(r, n * h * w);
    for (int64_t i = 0; !s && i < rows; i++) {
        const int64_t lo = integer_at(&r->bounds, i), hi = integer_at(&r->bounds, i + 1);
        if (lo != before || hi < lo || hi > n) return wrong(r, "indptr", i + 1, hi, n + 1);
        before = hi;
        for (int64_t p = lo; p < hi; p++) {
            const int64_t j = integer_at(&r->index, p);
            if (j < 0 || j >= columns) return wrong(r, "indices", p, j, columns);
            put_block(r, turned ? j : i, turned ? i : j, p, h, w);
            if (work_due(r->a->cx, p)) return r->a->cx->diag.status;
        }
        if (work_due(r->a->cx, i)) return r->a->cx->diag.status;
    }
    return s;
}

static stc_status list_coordinates(scipy *r)
{
    const int64_t *shape = r->out->shape;
    const int64_t n = r->data.count;
    stc_status s = reserve(r, n);
    for (int64_t p = 0; !s && p < n; p++) {
        const int64_t i = integer_at(&r->bounds, p), j = integer_at(&r->index, p);
        if (i < 0 || i >= shape[0]) return wrong(r, "row", p, i, shape[0]);
        if (j < 0 || j >= shape[1]) return wrong(r, "col", p, j, shape[1]);
        put_entry(r, i, j, p);
        if (work_due(r->a->cx, p)) s = r->a->cx->diag.status;
    }
    return s;
}

/* Element j of the k-th diagonal is in column j, `offset` to the right of its row. */
static stc_status list_diagonals(scipy *r)
{
    const int64_t *shape = r->out->shape, width = r->data.shape[1];
    stc_status s = reserve(r, r->data.count);
    for (int64_t k = 0; !s && k < r->data.shape[0]; k++) {
        const int64_t offset = type_load(r->index.type, r->index.dense, k).i64;
        if (offset <= -shape[0] || offset >= shape[1]) continue; /* SciPy has such */
        for (int64_t j = 0; j < width && j < shape[1]; j++) {
            const int64_t i = j - offset, at = k * width + j;
            if (work_due(r->a->cx, j)) return r->a->cx->diag.status;
            if (i >= 0 && i < shape[0] && !is_zero(r, at)) put_entry(r, i, j, at);
        }
    }
    return s;
}

/* ---- the kinds ------------------------------------------------------------------ */

static stc_status expect_data(const scipy *r, int order)
{
    if (r->data.order == order) return STC_OK;
    return fail_file(r->a->cx, STC_ERR_DATA, r->a->path, 0,
                     "data of %s has order %d, expected %d", r->format, r->data.order,
                     order);
}

static void set_format(scipy *r, const char *name, const int64_t *args, int nargs)
{
    r->out->formatted = format_builtin(name, strlen(name), 2, args, nargs, &r->out->fmt);
}

/* One more than there are segments, but that no file has 2^63 of them. */
static stc_status read_bounds(scipy *r, int64_t segments)
{
    return store_integers(r->a, "indptr", segments + (segments < INT64_MAX), &r->bounds);
}

static stc_status read_segments(scipy *r, bool turned)
{
    stc_status s = expect_data(r, 1);
    if (!s) s = read_bounds(r, r->out->shape[turned]);
    if (!s) s = store_integers(r->a, "indices", 0, &r->index);
    set_format(r, r->format, NULL, 0);
    return s ? s : list_segments(r, turned, 1, 1);
}

static stc_status read_blocks(scipy *r)
{
    const int64_t *d = r->data.shape;
    stc_status s = expect_data(r, 3);
    if (s) return s;
    if (d[1] < 1 || d[2] < 1 || r->out->shape[0] % d[1] || r->out->shape[1] % d[2])
        return fail_file(r->a->cx, STC_ERR_DATA, r->a->path, 0,
                         "blocks of %lld x %lld don't divide the shape [%lld,%lld]",
                         (long long)d[1], (long long)d[2], (long long)r->out->shape[0],
                         (long long)r->out->shape[1]);
    s = read_bounds(r, r->out->shape[0] / d[1]);
    if (!s) s = store_integers(r->a, "indices", 0, &r->index);
    set_format(r, "bcsr", d + 1, 2);
    return s ? s : list_segments(r, false, d[1], d[2]);
}

static stc_status read_coordinates(scipy *r)
{
    stc_status s = expect_data(r, 1);
    if (!s) s = store_integers(r->a, "row", r->data.count, &r->bounds);
    if (!s) s = store_integers(r->a, "col", r->data.count, &r->index);
    set_format(r, "coo", NULL, 0);
    return s ? s : list_coordinates(r);
}

static stc_status read_diagonals(scipy *r)
{
    stc_status s = expect_data(r, 2);
    if (!s) s = store_integers(r->a, "offsets", r->data.shape[0], &r->index);
    set_format(r, "dia", NULL, 0);
    return s ? s : list_diagonals(r);
}

static stc_status read_shape(scipy *r)
{
    io_result shape;
    const stc_status s = store_integers(r->a, "shape", 2, &shape);
    if (s) return s;
    const int64_t count = shape.count;
    for (int k = 0; k < 2; k++)
        r->out->shape[k] = integer_at(&shape, k);
    io_free(&shape);
    r->out->order = 2;
    if (count == 2 && r->out->shape[0] >= 0 && r->out->shape[1] >= 0) return STC_OK;
    return fail_file(r->a->cx, STC_ERR_DATA, r->a->path, 0,
                     "the shape isn't that of a matrix: rows and columns");
}

static stc_status read_kind(scipy *r)
{
    const char *f = r->format;
    if (!strcmp(f, "csr") || !strcmp(f, "csc")) return read_segments(r, f[2] == 'c');
    if (!strcmp(f, "coo")) return read_coordinates(r);
    if (!strcmp(f, "bsr")) return read_blocks(r);
    if (!strcmp(f, "dia")) return read_diagonals(r);
    return fail_file(r->a->cx, STC_ERR_DATA, r->a->path, 0,
                     "a matrix of format '%s', expected csr, csc, coo, bsr or dia", f);
}

stc_status scipy_read(array_store *a, io_result *out)
{
    scipy r = {.a = a, .out = out};
    out->kind = IO_MATRIX;
    out->sparse = true;
    stc_status s = store_text(a, "format", r.format, sizeof r.format);
    if (!s) s = read_shape(&r);
    if (!s) s = store_array(a, "data", &r.data);
    if (!s) s = read_kind(&r);
    io_free(&r.data);
    io_free(&r.index);
    io_free(&r.bounds);
    return s;
}
