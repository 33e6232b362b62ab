/* entries.c: lists of entries: coordinates by mode, and values.
 *
 * What readers produce, what packing takes, what a tensor of any format can be
 * turned into.
 */
#include "internal.h"
#include <string.h>

void entries_init(entries *e, ctx *cx, int order, stc_type type)
{
    memset(e, 0, sizeof *e);
    e->cx = cx;
    e->order = order;
    e->type = type;
}

static size_t coord_size(const entries *e)
{
    return e->is_narrow ? sizeof(int32_t) : sizeof(int64_t);
}

static void **coords_of(entries *e, int m)
{
    return e->is_narrow ? (void **)&e->narrow[m] : (void **)&e->coord[m];
}

/* All arrays have one capacity. */
stc_status entries_reserve(entries *e, int64_t n)
{
    mem_row row[STC_MAX_ORDER + 1];
    for (int m = 0; m < e->order; m++)
        row[m] = (mem_row){coords_of(e, m), coord_size(e)};
    row[e->order] = (mem_row){&e->vals, type_size(e->type)};
    const stc_status st = mem_grow_rows(e->cx, row, e->order + 1, &e->cap, n);
    if (!e->cap) e->n = 0;
    return st;
}

stc_status entries_widen(entries *e)
{
    int64_t *wide[STC_MAX_ORDER] = {NULL};
    if (!e->is_narrow) return STC_OK;
    for (int m = 0; m < e->order && e->cap; m++) {
        if ((wide[m] = mem_array(e->cx, e->cap, sizeof *wide[m]))) continue;
        while (m-- > 0)
            mem_free(e->cx, wide[m], (size_t)e->cap * sizeof *wide[m]);
        return e->cx->diag.status;
    }
    for (int m = 0; m < e->order; m++) {
        for (int64_t i = 0, end; (end = work_block(e->cx, i, e->n)) > i;)
            for (; i < end; i++)
                wide[m][i] = e->narrow[m][i];
        mem_free(e->cx, e->narrow[m], (size_t)e->cap * sizeof(int32_t));
        e->narrow[m] = NULL;
        e->coord[m] = wide[m];
    }
    e->is_narrow = false;
    return e->n ? work_done(e->cx, 0) : STC_OK;
}

stc_status entries_push(entries *e, const int64_t *coords, value v)
{
    if (e->n == e->cap && entries_reserve(e, e->n + 1)) return e->cx->diag.status;
    for (int m = 0; m < e->order; m++)
        e->coord[m][e->n] = coords[m];
    type_store(e->type, e->vals, e->n++, v);
    return STC_OK;
}

void entries_free(entries *e)
{
    for (int m = 0; m < e->order; m++) {
        mem_free(e->cx, *coords_of(e, m), (size_t)e->cap * coord_size(e));
        *coords_of(e, m) = NULL;
    }
    mem_free(e->cx, e->vals, (size_t)e->cap * type_size(e->type));
    e->vals = NULL;
    e->n = e->cap = 0;
}

stc_status convert_elements(ctx *cx, stc_type to, void *out, stc_type from,
                            const void *vals, int64_t n)
{
    int64_t i = 0;
    for (int64_t end; (end = work_block(cx, i, n)) > i;)
        for (; i < end; i++)
            type_store(to, out, i, type_convert(to, from, type_load(from, vals, i)));
    return i < n ? cx->diag.status : STC_OK;
}

stc_status entries_retype(entries *e, stc_type type)
{
    if (type == e->type) return STC_OK;
    void *vals = mem_array(e->cx, e->cap, type_size(type));
    if (!vals) return e->cx->diag.status;
    if (convert_elements(e->cx, type, vals, e->type, e->vals, e->n)) {
        mem_free(e->cx, vals, (size_t)e->cap * type_size(type));
        return e->cx->diag.status;
    }
    mem_free(e->cx, e->vals, (size_t)e->cap * type_size(e->type));
    e->vals = vals;
    e->type = type;
    return STC_OK;
}

stc_status entries_in_shape(const entries *e, const int64_t *shape)
{
    for (int m = 0; m < e->order; m++) {
        const int64_t *c = e->coord[m], n = shape[m];
        for (int64_t i = 0; i < e->n; i++) {
            if (work_due(e->cx, i)) return e->cx->diag.status;
            if (c[i] >= 0 && c[i] < n) continue;
            return fail(e->cx, STC_ERR_SHAPE,
                        "coordinate %lld of mode %d is outside its extent %lld",
                        (long long)c[i], m, (long long)n);
        }
    }
    return STC_OK;
}

value value_add(stc_type t, value a, value b)
{
    switch (type_class(t)) {
    case CLASS_I64:
    case CLASS_U64:
        a.u64 += b.u64; /* wraps; bool is stored as != 0 */
        break;
    case CLASS_F32:
        a.f32 += b.f32;
        break;
    case CLASS_F64:
        a.f64 += b.f64;
        break;
    case CLASS_C64:
        a.c64 += b.c64;
        break;
    default:
        a.c128 += b.c128;
        break;
    }
    return a;
}

void copy_element(void *to, int64_t i, const void *from, int64_t j, size_t size)
{
    memcpy((char *)to + (size_t)i * size, (const char *)from + (size_t)j * size, size);
}

void entries_move(entries *e, int64_t n, int64_t i)
{
    if (n == i) return;
    for (int m = 0; m < e->order; m++)
        e->coord[m][n] = e->coord[m][i];
    copy_element(e->vals, n, e->vals, i, type_size(e->type));
}

void fill_elements(void *to, int64_t begin, int64_t end, const void *one, size_t size)
{
    if (begin >= end) return;
    const char *byte = one;
    const bool same = !memcmp(byte, byte + 1, size - 1);
    char *p = (char *)to + (size_t)begin * size;
    const size_t total = (size_t)(end - begin) * size;
    if (same) {
        memset(p, byte[0], total);
        return;
    }
    memcpy(p, one, size);
    for (size_t done = size; done < total; done *= 2) {
        memcpy(p + done, p, done < total - done ? done : total - done);
    }
}

void entries_sum(entries *e)
{
    int64_t n = e->n < 1 ? e->n : 1;
    for (int64_t i = 1; i < e->n; i++) {
        int m = 0;
        if (work_due(e->cx, i)) return;
        while (m < e->order && e->coord[m][i] == e->coord[m][n - 1])
            m++;
        if (m == e->order) {
            const value a = type_load(e->type, e->vals, n - 1);
            const value b = type_load(e->type, e->vals, i);
            type_store(e->type, e->vals, n - 1, value_add(e->type, a, b));
            continue;
        }
        entries_move(e, n++, i);
    }
    e->n = n;
}
