/* convert.c: a tensor in another format, type or fill.
 *
 * Entries are walked in batches and go into the new tensor as they come (stream.c),
 * except that a tensor whose format and fill stay keeps its structure, that runs are
 * converted run by run (convert_runs.c), lists of entries are written level by level
 * (convert_list.c), and matrices are converted by counting where that serves
 * (convert_count.c).
 */
#include "internal.h"
#include <string.h>

int tensor_held_order(const tensor *t, int *held)
{
    if (!format_is_plain(&t->fmt)) return 0;
    int n = 0;
    for (; n < t->order && t->level[n].props & PROP_ORDERED; n++) {
        held[n] = t->fmt.level[n].map.mode;
        if (format_apart(&t->fmt, n)) return n + 1;
    }
    return n;
}

/* Whether a tensor stores every element, or whole blocks of them, so that what
 * equals the fill says nothing. */
static bool stored_densely(const format *f)
{
    int l = f->levels - 1;
    while (l > 0 && f->level[l].kind->props & PROP_BRANCHLESS && !f->level[l].kind->arrays)
        l--;
    if (l < 0) return false;
    const level_kind *k = f->level[l].kind;
    return k->props & PROP_FULL || !k->arrays;
}

void entries_drop(entries *e, value v)
{
    const vclass c = type_class(e->type);
    int64_t n = 0;
    for (int64_t i = 0; i < e->n; i++) {
        if (work_due(e->cx, i)) break;
        if (!class_equal(c, type_load(e->type, e->vals, i), v)) entries_move(e, n++, i);
    }
    e->n = n;
}

/* The same structure, values in another type. */
static stc_status convert_values(const tensor *t, stc_type type, tensor **out)
{
    tensor *c;
    if (tensor_copy(t, &c)) return t->cx->diag.status;
    if (type != t->type) {
        const size_t room = (size_t)c->vals_cap * type_size(type);
        void *vals = mem_array(t->cx, c->vals_cap, type_size(type));
        if (!vals || convert_elements(t->cx, type, vals, t->type, c->vals, c->nvals)) {
            if (vals) mem_free(t->cx, vals, room);
            tensor_free(c);
            return t->cx->diag.status;
        }
        mem_free(t->cx, c->vals, (size_t)c->vals_cap * type_size(t->type));
        c->vals = vals;
        c->type = type;
        c->fill = type_convert(type, t->type, t->fill);
    }
    c->generation++;
    if (t->checked == t->generation) c->checked = c->generation;
    *out = c;
    return STC_OK;
}

/* Where batches go; drop: without what equals the fill. */
typedef struct transfer {
    entry_stream to;
    bool drop;
} transfer;

static stc_status hand_on(walk *w)
{
    transfer *x = w->context;
    if (x->drop) entries_drop(w->batch, w->t->fill);
    const stc_status status = stream_put(&x->to, w->batch);
    w->batch->n = 0;
    return status;
}

stc_status tensor_transfer(const tensor *t, tensor *c, bool drop)
{
    int held[STC_MAX_ORDER];
    const bool in_order = tensor_held_order(t, held) == t->order;
    const bool unique = tensor_unique(t, t->fmt.levels - 1);
    transfer x = {.drop = drop};
    entries batch;
    entries_init(&batch, t->cx, t->order, t->type);
    walk w = {.t = t, .batch = &batch, .full = hand_on, .context = &x};
    stc_status status =
        stream_begin(&x.to, c, in_order ? held : NULL, unique, drop ? -1 : t->nvals);
    if (!status) status = tensor_walk(&w);
    entries_free(&batch);
    if (!status) status = stream_finish(&x.to);
    stream_free(&x.to);
    return status;
}

/* Dense, in the order of f's modes if it has one. */
static void dense_like(const format *f, format *out)
{
    const level_kind *const dense = level_kind_at(LEVEL_dense);
    format_all(out, f->order, dense);
    for (int l = 0; format_is_plain(f) && l < f->levels; l++)
        format_set(out, l, dense, f->level[l].map.mode, 0);
}

/* Another fill: places that nothing is stored at have the old one, and are stored now.
 * What stores all of them is made with the old fill, which then is only the name of a
 * value; other formats are made from that. */
static stc_status convert_fill(const tensor *t, const format *f, stc_type type, value fill,
                               tensor **out)
{
    tensor *c;
    const value old = type_convert(type, t->type, t->fill);
    if (!format_stores_all(f)) {
        format full;
        int64_t total = 1;
        for (int m = 0; m < t->order; m++) {
            if (!size_mul(total, t->shape[m], &total))
                return fail(
                    t->cx, STC_ERR_OVERFLOW,
                    "a new fill asks for every element, and the shape has more than 2^63");
        }
        dense_like(f, &full);
        if (convert_fill(t, &full, type, fill, &c)) return t->cx->diag.status;
        stc_status status = tensor_new(t->cx, f, type, t->shape, fill, out);
        if (!status && (status = tensor_transfer(c, *out, true))) tensor_free(*out);
        tensor_free(c);
        return status;
    }
    if (tensor_new(t->cx, f, type, t->shape, old, &c)) return t->cx->diag.status;
    if (tensor_transfer(t, c, false)) {
        tensor_free(c);
        return t->cx->diag.status;
    }
    c->fill = type_round(type, fill);
    *out = c;
    return STC_OK;
}

stc_status tensor_convert(const tensor *t, const format *f, stc_type type, value fill,
                          tensor **out)
{
    const value old = type_convert(type, t->type, t->fill);
    if (!class_equal(type_class(type), old, type_round(type, fill)))
        return convert_fill(t, f, type, fill, out);
    if (format_equal(f, &t->fmt)) return convert_values(t, type, out);
    tensor *c;
    bool done = false;
    if (tensor_new(t->cx, f, type, t->shape, fill, &c)) return t->cx->diag.status;
    stc_status status = convert_by_runs(t, c, &done);
    if (!status && !done) status = convert_to_list(t, c, &done);
    if (!status && !done) status = convert_by_counting(t, c, &done);
    if (!status && !done)
        status = tensor_transfer(t, c, stored_densely(&t->fmt) && !stored_densely(f));
    if (status) {
        tensor_free(c);
        return status;
    }
    *out = c;
    return STC_OK;
}

/* ---- a part ----------------------------------------------------------------------- */

stc_status tensor_cut(const tensor *t, const int64_t *lo, const int64_t *hi, tensor *c)
{
    entries e;
    entries_init(&e, t->cx, t->order, t->type);
    stc_status st = tensor_entries(t, &e);
    const size_t size = type_size(t->type);
    char *const vals = e.vals;
    int64_t n = 0;
    for (int64_t k = 0; k < e.n && !st; k++) {
        bool inside = true;
        if (work_due(t->cx, k)) st = t->cx->diag.status;
        for (int m = 0; m < t->order && inside; m++)
            inside = e.coord[m][k] >= lo[m] && e.coord[m][k] < hi[m];
        if (!inside) continue;
        for (int m = 0; m < t->order; m++)
            e.coord[m][n] = e.coord[m][k] - lo[m];
        memmove(vals + (size_t)n++ * size, vals + (size_t)k * size, size);
    }
    e.n = n;
    if (!st) st = tensor_pack(c, &e);
    entries_free(&e);
    return st;
}

/* ---- one value everywhere ------------------------------------------------------- */

/* All coordinates in the order of the format's modes, in batches. */
static stc_status put_everywhere(entry_stream *s, const tensor *t, const int *mode, value v)
{
    entries e;
    enum { BATCH = 4096 };
    int64_t at[STC_MAX_ORDER] = {0}, left = 1;
    for (int m = 0; m < t->order; m++) {
        if (!size_mul(left, t->shape[m], &left))
            return fail(t->cx, STC_ERR_OVERFLOW, "the shape has more than 2^63 elements");
    }
    entries_init(&e, t->cx, t->order, t->type);
    stc_status status = entries_reserve(&e, left < BATCH ? left : BATCH);
    while (!status && left > 0) {
        for (e.n = 0; e.n < BATCH && e.n < left; e.n++) {
            for (int m = 0; m < t->order; m++)
                e.coord[m][e.n] = at[m];
            type_store(t->type, e.vals, e.n, v);
            for (int k = t->order - 1; k >= 0 && ++at[mode[k]] == t->shape[mode[k]]; k--)
                at[mode[k]] = 0;
        }
        left -= e.n;
        status = stream_put(s, &e);
    }
    entries_free(&e);
    return status;
}

stc_status tensor_constant(ctx *cx, const format *f, stc_type type, const int64_t *shape,
                           value v, value fill, tensor **out)
{
    tensor *t;
    const bool is_fill = class_equal(type_class(type), type_round(type, v), fill);
    const bool all = format_stores_all(f);
    if (tensor_new(cx, f, type, shape, all ? v : fill, &t)) return cx->diag.status;
    if (all || is_fill) {
        t->fill = type_round(type, fill);
        *out = t;
        return STC_OK;
    }
    int mode[STC_MAX_ORDER];
    for (int m = 0; m < t->order; m++)
        mode[m] = format_is_plain(f) ? f->level[m].map.mode : m;
    entry_stream s;
    stc_status status = stream_begin(&s, t, mode, true, -1);
    if (!status) status = put_everywhere(&s, t, mode, v);
    if (!status) status = stream_finish(&s);
    stream_free(&s);
    if (status) {
        tensor_free(t);
        return status;
    }
    *out = t;
    return STC_OK;
}
