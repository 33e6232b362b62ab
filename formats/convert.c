/* convert.c: a tensor in another format, type or fill; dropping fills.
 *
 * Everything goes through entries and packing, except that a tensor whose
 * format and fill stay keeps its structure, and that matrices are converted by
 * counting where that serves (convert_count.c). Entries of a tensor that is walked
 * in order by some modes needn't be sorted by these again.
 */
#include "internal.h"
#include <string.h>

/* The modes by which the entries of t are in order, the first most
 * significant, as far as its levels are ordered. */
static int held_order(const tensor *t, int *held)
{
    if (!format_is_plain(&t->fmt)) return 0;
    int n = 0;
    for (; n < t->order && t->level[n].props & PROP_ORDERED; n++) {
        held[n] = t->fmt.level[n].map.mode;
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

static void drop_equal(entries *e, value v)
{
    const vclass c = type_class(e->type);
    const size_t size = type_size(e->type);
    int64_t n = 0;
    for (int64_t i = 0; i < e->n; i++) {
        if (work_due(e->cx, i)) break;
        if (class_equal(c, type_load(e->type, e->vals, i), v)) continue;
        if (n != i) {
            for (int m = 0; m < e->order; m++)
                e->coord[m][n] = e->coord[m][i];
            copy_element(e->vals, n, e->vals, i, size);
        }
        n++;
    }
    e->n = n;
}

/* Every element of the shape, row-major; places without entry have the old
 * fill. e's own entries are summed first. */
static stc_status write_in_full(const tensor *t, entries *e)
{
    ctx *cx = t->cx;
    int64_t total = 1;
    for (int m = 0; m < t->order; m++) {
        if (!size_mul(total, t->shape[m], &total)) {
            return fail(
                cx, STC_ERR_OVERFLOW,
                "a new fill asks for every element, and the shape has more than 2^63");
        }
    }
    int modes[STC_MAX_ORDER];
    for (int m = 0; m < t->order; m++)
        modes[m] = m;
    if (entries_sort(e, modes, t->order, t->shape)) return cx->diag.status;
    entries_sum(e);
    entries full;
    entries_init(&full, cx, t->order, e->type);
    if (entries_reserve(&full, total)) goto failed;
    int64_t coords[STC_MAX_ORDER] = {0};
    for (int64_t i = 0, next = 0; i < total; i++) {
        if (work_due(cx, i)) goto failed;
        bool here = next < e->n;
        for (int m = 0; m < t->order; m++) {
            full.coord[m][i] = coords[m];
            here = here && e->coord[m][next] == coords[m];
        }
        if (here) {
            copy_element(full.vals, i, e->vals, next++, type_size(e->type));
        } else {
            type_store(e->type, full.vals, i, t->fill);
        }
        for (int m = t->order - 1; m >= 0 && ++coords[m] == t->shape[m]; m--)
            coords[m] = 0;
    }
    full.n = total;
    const entries old = *e;
    *e = full;
    full = old;
    entries_free(&full);
    return STC_OK;
failed:
    entries_free(&full);
    return cx->diag.status;
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

/* Hands a batch on without what equals the fill. */
static stc_status keep_batch(walk *w)
{
    entries *to = w->context, *b = w->batch;
    drop_equal(b, w->t->fill);
    int64_t need;
    if (!size_add(to->n, b->n, &need) || entries_reserve(to, need)) return STC_ERR_MEMORY;
    for (int m = 0; m < b->order && b->n; m++) {
        memcpy(to->coord[m] + to->n, b->coord[m], (size_t)b->n * sizeof(int64_t));
    }
    const size_t size = type_size(b->type);
    if (b->n) memcpy((char *)to->vals + (size_t)to->n * size, b->vals, (size_t)b->n * size);
    to->n = need;
    b->n = 0;
    return STC_OK;
}

/* The entries of a tensor that stores every element, without its fills. */
static stc_status sparse_entries(const tensor *t, entries *out)
{
    entries batch;
    entries_init(&batch, t->cx, t->order, t->type);
    walk w = {.t = t, .batch = &batch, .full = keep_batch, .context = out};
    const stc_status status = tensor_walk(&w);
    entries_free(&batch);
    return status;
}

stc_status tensor_convert(const tensor *t, const format *f, stc_type type, value fill,
                          tensor **out)
{
    const value old = type_convert(type, t->type, t->fill);
    const bool same_fill = class_equal(type_class(type), old, type_round(type, fill));
    if (same_fill && format_equal(f, &t->fmt)) return convert_values(t, type, out);
    ctx *cx = t->cx;
    entries e;
    tensor *c = NULL;
    int held[STC_MAX_ORDER];
    bool in_order = held_order(t, held) == t->order, done = false;
    entries_init(&e, cx, t->order, t->type);
    if (same_fill) {
        if (tensor_new(cx, f, type, t->shape, fill, &c)) goto failed;
        if (convert_by_counting(t, c, &done)) goto failed;
        if (done) {
            *out = c;
            return STC_OK;
        }
    }
    if (same_fill && stored_densely(&t->fmt) && !stored_densely(f)) {
        if (sparse_entries(t, &e)) goto failed;
    } else if (entries_reserve(&e, t->nvals) || tensor_entries(t, &e)) {
        goto failed;
    }
    if (!c && tensor_new(cx, f, type, t->shape, fill, &c)) goto failed;
    if (!same_fill) {
        if (write_in_full(t, &e)) goto failed;
        in_order = false;
    }
    if (entries_retype(&e, type)) goto failed;
    if (!same_fill) drop_equal(&e, c->fill);
    if (tensor_pack_held(c, &e, in_order ? held : NULL)) goto failed;
    entries_free(&e);
    *out = c;
    return STC_OK;
failed:
    entries_free(&e);
    tensor_free(c);
    return cx->diag.status;
}

stc_status tensor_compact(const tensor *t, tensor **out)
{
    ctx *cx = t->cx;
    entries e;
    tensor *c = NULL;
    int held[STC_MAX_ORDER];
    bool in_order = held_order(t, held) == t->order;
    entries_init(&e, cx, t->order, t->type);
    if (tensor_entries(t, &e) || tensor_new(cx, &t->fmt, t->type, t->shape, t->fill, &c)) {
        goto failed;
    }
    for (int l = 0; l < t->fmt.levels; l++) {
        if (t->level[l].props & PROP_UNIQUE) continue;
        /* duplicates count as their sum: it may be the fill, or none of them */
        int modes[STC_MAX_ORDER];
        for (int m = 0; m < t->order; m++)
            modes[m] = m;
        if (entries_sort(&e, modes, t->order, t->shape)) goto failed;
        entries_sum(&e);
        in_order = false;
        break;
    }
    drop_equal(&e, t->fill);
    if (tensor_pack_held(c, &e, in_order ? held : NULL)) goto failed;
    entries_free(&e);
    *out = c;
    return STC_OK;
failed:
    entries_free(&e);
    tensor_free(c);
    return cx->diag.status;
}
