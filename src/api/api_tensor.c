/* api_tensor.c: tensors in the public API: making, lending, reading, checking,
 * over formats/tensor.h. Arguments are checked here, so that what lies below
 * can take them for granted.
 */
#include "api.h"
#include "../io/io.h"
#include <string.h>

static stc_status check_shape(ctx *cx, int order, const int64_t *shape)
{
    if (order < 0 || order > STC_MAX_ORDER)
        return fail(cx, STC_ERR_ARGUMENT, "the order is %d; expected 0 to %d", order,
                    STC_MAX_ORDER);
    if (order > 0 && !shape) return fail_null(cx, "shape");
    for (int k = 0; k < order; k++) {
        if (shape[k] < 0)
            return fail(cx, STC_ERR_ARGUMENT, "mode %d has size %lld; expected 0 or more",
                        k, (long long)shape[k]);
    }
    return STC_OK;
}

/* later: values that the format has in any case may be made later. */
static stc_status make(stc_machine *m, const char *fmt, stc_type type, int order,
                       const int64_t *shape, const stc_value *fill, bool later,
                       tensor **out)
{
    ctx *cx = &m->cx;
    if (!fmt) return fail_null(cx, "format");
    if (!out) return fail_null(cx, "out");
    if ((unsigned)type >= TYPE_COUNT)
        return fail(cx, STC_ERR_ARGUMENT, "%d is no element type", (int)type);
    stc_status st = check_shape(cx, order, shape);
    if (st) return st;
    format f;
    if ((st = format_parse(cx, NULL, fmt, order, &f))) return st;
    value v = {0};
    if (fill) v = type_round(type, value_from_public(type, *fill));
    return later && format_is_dense(&f) ? tensor_new_unmade(cx, &f, type, shape, v, out)
                                        : tensor_new(cx, &f, type, shape, v, out);
}

stc_status stc_tensor_new(stc_machine *m, const char *fmt, stc_type type, int order,
                          const int64_t *shape, const stc_value *fill, stc_tensor **out)
{
    API_CALL(m, &m->cx);
    return make(m, fmt, type, order, shape, fill, true, out);
}

static stc_status check_coords(ctx *cx, const tensor *t, int64_t n, const int64_t *coords)
{
    for (int k = 0; k < t->order; k++) {
        const int64_t *from = coords + (int64_t)k * n;
        for (int64_t i = 0; i < n; i++) {
            if (work_due(cx, i)) return cx->diag.status;
            if (from[i] < 0 || from[i] >= t->shape[k])
                return fail(cx, STC_ERR_DATA,
                            "entry %lld has coordinate %lld in mode %d; expected 0 to %lld",
                            (long long)i, (long long)from[i], k,
                            (long long)t->shape[k] - 1);
        }
    }
    return STC_OK;
}

/* The host's arrays are read where they are. */
static stc_status put_coords(tensor *t, int64_t n, const int64_t *coords,
                             const void *values)
{
    entries e;
    entries_init(&e, t->cx, t->order, t->type);
    for (int k = 0; k < t->order; k++)
        e.coord[k] = (int64_t *)(uintptr_t)coords + (int64_t)k * n;
    e.vals = (void *)(uintptr_t)values;
    e.n = n;
    entry_stream to;
    stc_status st = stream_begin(&to, t, NULL, false, n);
    if (!st) st = stream_put(&to, &e);
    if (!st) st = stream_finish(&to);
    stream_free(&to);
    return st;
}

stc_status stc_tensor_from_coords(stc_machine *m, const char *fmt, stc_type type, int order,
                                  const int64_t *shape, const stc_value *fill, int64_t n,
                                  const int64_t *coords, const void *values,
                                  stc_tensor **out)
{
    API_CALL(m, &m->cx);
    if (n < 0) return fail(cx, STC_ERR_ARGUMENT, "the number of entries is negative");
    if (n && order > 0 && !coords) return fail_null(cx, "coords");
    if (n && !values) return fail_null(cx, "values");
    tensor *t = NULL;
    stc_status st = make(m, fmt, type, order, shape, fill, false, &t);
    if (st) return st;
    st = check_coords(cx, t, n, coords);
    if (!st) st = put_coords(t, n, coords, values);
    if (st) {
        tensor_free(t);
        return st;
    }
    *out = t;
    return STC_OK;
}

static stc_status shape_size(ctx *cx, int order, const int64_t *shape, int64_t *n)
{
    if (!size_product(shape, order, n))
        return fail(cx, STC_ERR_OVERFLOW, "the shape has more than 2^63 elements");
    return STC_OK;
}

/* A dense tensor of n elements in the host's array; unset: what stands there isn't theirs
 * yet. */
static stc_status borrow_dense(ctx *cx, stc_type type, int order, const int64_t *shape,
                               int64_t n, const void *values, bool unset, tensor **out)
{
    const int64_t none[STC_MAX_ORDER] = {0};
    format f;
    tensor *t;
    stc_status st = format_parse(cx, NULL, "dense", order, &f);
    if (!st) st = tensor_new(cx, &f, type, none, (value){0}, &t);
    if (st) return st;
    st = tensor_set_shape(t, shape);
    mem_free(cx, t->vals, (size_t)t->vals_cap * type_size(type));
    t->vals = (void *)(uintptr_t)values;
    t->nvals = t->vals_cap = n;
    t->vals_owned = false;
    t->vouched = unset;
    t->generation++;
    if (!st) st = tensor_check(t); /* which settles the levels' sizes */
    if (st)
        tensor_free(t);
    else
        *out = t;
    return st;
}

stc_status stc_tensor_from_dense(stc_machine *m, const char *fmt, stc_type type, int order,
                                 const int64_t *shape, const stc_value *fill,
                                 const void *values, stc_tensor **out)
{
    API_CALL(m, &m->cx);
    if (!fmt) return fail_null(cx, "format");
    if (!out) return fail_null(cx, "out");
    if ((unsigned)type >= TYPE_COUNT)
        return fail(cx, STC_ERR_ARGUMENT, "%d is no element type", (int)type);
    format f;
    stc_status st = check_shape(cx, order, shape);
    if (!st) st = format_parse(cx, NULL, fmt, order, &f);
    tensor *dense = NULL, *t = NULL;
    int64_t n = 0;
    if (!st) st = shape_size(cx, order, shape, &n);
    if (!st && n && !values) st = fail_null(cx, "values");
    if (!st) st = borrow_dense(cx, type, order, shape, n, values, false, &dense);
    if (st) return st;
    value v = {0};
    if (fill) v = type_round(type, value_from_public(type, *fill));
    st = tensor_convert(dense, &f, type, v, &t);
    tensor_free(dense);
    if (!st) *out = t;
    return st;
}

/* ---- the host's arrays ------------------------------------------------------- */

stc_status array_of_host(ctx *cx, stc_array array, index_array *out)
{
    if (array.width != 4 && array.width != 8)
        return fail(cx, STC_ERR_ARGUMENT, "the index width is %d bytes; expected 4 or 8",
                    (int)array.width);
    const int32_t stride = array.stride ? array.stride : array.width;
    if (array.length < 0 || stride < array.width)
        return fail(cx, STC_ERR_ARGUMENT,
                    "an array of length %lld and stride %d; expected 0 or more and at "
                    "least %d",
                    (long long)array.length, (int)stride, (int)array.width);
    if (array.length && !array.data) return fail_null(cx, "the array's data");
    *out = (index_array){.data = array.data,
                         .len = array.length,
                         .cap = array.length,
                         .width = array.width,
                         .stride = stride};
    return STC_OK;
}

stc_status stc_tensor_lend(stc_tensor *t, int l, stc_array_role role, stc_array array)
{
    API_CALL(t, t->cx);
    if (l < 0 || l >= t->fmt.levels)
        return fail(t->cx, STC_ERR_ARGUMENT, "level %d of a tensor with %d levels", l,
                    t->fmt.levels);
    level *lv = &t->level[l];
    if ((unsigned)role > STC_AUX || !(lv->kind->arrays & (1u << role)))
        return fail(t->cx, STC_ERR_ARGUMENT, "a %s level has no array of role %d",
                    lv->kind->name, (int)role);
    index_array lent;
    const stc_status st = array_of_host(t->cx, array, &lent);
    if (st) return st;
    index_free(t->cx, &lv->a[role]);
    lv->a[role] = lent;
    stc_tensor_touch(t);
    return STC_OK;
}

stc_status stc_tensor_lend_values(stc_tensor *t, void *values, int64_t length)
{
    API_CALL(t, t->cx);
    if (length < 0) return fail(t->cx, STC_ERR_ARGUMENT, "the length is negative");
    if (length && !values) return fail_null(t->cx, "values");
    if (t->vals_owned) mem_free(t->cx, t->vals, (size_t)t->vals_cap * type_size(t->type));
    t->vals = values;
    t->nvals = t->vals_cap = length;
    t->vals_owned = t->vals_room = t->unmade = false;
    stc_tensor_touch(t);
    return STC_OK;
}

stc_status stc_tensor_hand_over(stc_tensor *t, stc_release_fn release, void *context)
{
    API_CALL(t, t->cx);
    if (t->release && release)
        return fail(t->cx, STC_ERR_ARGUMENT,
                    "the tensor has a function that frees its arrays; expected one");
    t->release = release;
    t->release_context = context;
    return STC_OK;
}

void stc_tensor_touch(stc_tensor *t)
{
    if (t) t->generation++;
}

/* No claim of a format is about values: what was checked stays checked. */
void stc_tensor_touch_values(stc_tensor *t)
{
    if (!t) return;
    const bool sound = t->checked == t->generation;
    t->generation++;
    if (sound) t->checked = t->generation;
}

void stc_tensor_vouch(stc_tensor *t)
{
    if (t) t->vouched = true;
}

stc_status stc_tensor_check(stc_tensor *t)
{
    API_CALL(t, t->cx);
    return tensor_check(t);
}

void stc_tensor_free(stc_tensor *t)
{
    if (t && api_free_to(t->cx)) tensor_free(t);
}

/* Every tensor that a host sees was made in a machine's context. */
stc_machine *stc_tensor_machine(const stc_tensor *t)
{
    return t ? (void *)((char *)t->cx - offsetof(stc_machine, cx)) : NULL;
}

/* ---- looking ------------------------------------------------------------------ */

int stc_tensor_order(const stc_tensor *t)
{
    return t ? t->order : 0;
}

const int64_t *stc_tensor_shape(const stc_tensor *t)
{
    return t ? t->shape : NULL;
}

stc_type stc_tensor_type(const stc_tensor *t)
{
    return t ? t->type : STC_F64;
}

stc_value stc_tensor_fill(const stc_tensor *t)
{
    return t ? value_to_public(t->type, t->fill) : (stc_value){0};
}

int64_t stc_tensor_stored(const stc_tensor *t)
{
    int64_t n;
    if (t && t->unmade) return size_product(t->shape, t->order, &n) ? n : 0;
    return t ? tensor_stored(t) : 0;
}

bool stc_tensor_shares(const stc_tensor *t)
{
    return t && t->pattern;
}

uint64_t stc_tensor_bytes(const stc_tensor *t)
{
    return t ? tensor_bytes(t) : 0;
}

const char *stc_tensor_format(const stc_tensor *t)
{
    if (!t) return "";
    tensor *cache = (tensor *)t; /* fmt_text is a cache */
    if (!cache->fmt_text) {
        textbuf b;
        text_init(&b, t->cx);
        format_print(&t->fmt, &b);
        cache->fmt_text = text_take(&b);
    }
    return cache->fmt_text ? cache->fmt_text : "";
}

int stc_tensor_levels(const stc_tensor *t)
{
    return t ? t->fmt.levels : 0;
}

stc_status stc_tensor_array(const stc_tensor *t, int l, stc_array_role role, stc_array *out)
{
    API_CALL(t, t->cx);
    if (!out) return fail_null(t->cx, "out");
    if (l < 0 || l >= t->fmt.levels)
        return fail(t->cx, STC_ERR_ARGUMENT, "level %d of a tensor with %d levels", l,
                    t->fmt.levels);
    const level *lv = &t->level[l];
    if ((unsigned)role > STC_AUX || !(lv->kind->arrays & (1u << role)))
        return fail(t->cx, STC_ERR_ARGUMENT, "a %s level has no array of role %d",
                    lv->kind->name, (int)role);
    const index_array *a = &lv->a[role];
    *out = (stc_array){
        .data = a->data, .length = a->len, .width = a->width, .stride = a->stride};
    return STC_OK;
}

stc_status stc_tensor_values(const stc_tensor *t, const void **values, int64_t *length)
{
    API_CALL(t, t->cx);
    if (!values || !length) return fail_null(t->cx, "values or length");
    if (t->unmade && tensor_check((tensor *)t)) return t->cx->diag.status;
    *values = t->vals;
    *length = t->nvals;
    return STC_OK;
}

/* What is read below relies on the format's claims. */
static stc_status checked(const tensor *t)
{
    return tensor_check((tensor *)t); /* once per generation of the data */
}

stc_status stc_tensor_get(const stc_tensor *t, const int64_t *coords, stc_value *out)
{
    API_CALL(t, t->cx);
    if (!out) return fail_null(t->cx, "out");
    if (t->order && !coords) return fail_null(t->cx, "coords");
    for (int k = 0; k < t->order; k++) {
        if (coords[k] < 0 || coords[k] >= t->shape[k])
            return fail(t->cx, STC_ERR_ARGUMENT,
                        "coordinate %lld in mode %d, which has size %lld",
                        (long long)coords[k], k, (long long)t->shape[k]);
    }
    stc_status st = checked(t);
    if (st) return st;
    *out = value_to_public(t->type, tensor_get(t, coords));
    return STC_OK;
}

stc_status stc_tensor_visit(const stc_tensor *t, stc_visit_fn visit, void *context)
{
    API_CALL(t, t->cx);
    if (!visit) return fail_null(t->cx, "visit");
    stc_status st = checked(t);
    if (st) return st;
    entered->entered = false; /* visit may call: only this walk is under way */
    return tensor_visit(t, visit, context);
}

stc_status stc_tensor_to_dense(const stc_tensor *t, void *values)
{
    API_CALL(t, t->cx);
    if (!values) return fail_null(t->cx, "values");
    int64_t n;
    tensor *dense = NULL;
    stc_status st = checked(t);
    if (!st) st = shape_size(t->cx, t->order, t->shape, &n);
    if (!st) st = borrow_dense(t->cx, t->type, t->order, t->shape, n, values, true, &dense);
    if (st) return st;
    const size_t size = type_size(t->type);
    for (int64_t i = 0, end; (end = work_block(t->cx, i, n)) > i;)
        for (; i < end; i++)
            type_store(t->type, values, i, t->fill);
    dense->fill = t->fill;
    st = tensor_transfer(t, dense, false);
    if (!st && n && dense->vals != values) memcpy(values, dense->vals, (size_t)n * size);
    tensor_free(dense);
    return st;
}

stc_status stc_tensor_part(const stc_tensor *t, const int64_t *lo, const int64_t *hi,
                           stc_tensor **out)
{
    API_CALL(t, t->cx);
    if (!out) return fail_null(t->cx, "out");
    if (t->order && (!lo || !hi)) return fail_null(t->cx, "lo or hi");
    int64_t shape[STC_MAX_ORDER];
    for (int k = 0; k < t->order; k++) {
        if (lo[k] < 0 || hi[k] < lo[k] || hi[k] > t->shape[k])
            return fail(t->cx, STC_ERR_ARGUMENT,
                        "coordinates %lld to %lld of mode %d; expected a part of 0 to %lld",
                        (long long)lo[k], (long long)hi[k] - 1, k,
                        (long long)t->shape[k] - 1);
        shape[k] = hi[k] - lo[k];
    }
    stc_status st = checked(t);
    tensor *c = NULL;
    if (!st) st = tensor_new(t->cx, &t->fmt, t->type, shape, t->fill, &c);
    if (!st) st = tensor_cut(t, lo, hi, c);
    if (st)
        tensor_free(c);
    else
        *out = c;
    return st;
}

stc_status stc_tensor_convert(const stc_tensor *t, const char *fmt, int type,
                              stc_tensor **out)
{
    API_CALL(t, t->cx);
    if (!out) return fail_null(t->cx, "out");
    if (type < -1 || type >= TYPE_COUNT)
        return fail(t->cx, STC_ERR_ARGUMENT, "%d is no element type", type);
    stc_status st = checked(t);
    if (st) return st;
    format f = t->fmt;
    if (fmt && (st = format_parse(t->cx, NULL, fmt, t->order, &f))) return st;
    const stc_type to = type < 0 ? t->type : (stc_type)type;
    const value fill =
        type_round(to, class_convert(type_class(to), type_class(t->type), t->fill));
    return tensor_convert(t, &f, to, fill, out);
}

/* ---- files -------------------------------------------------------------------- */

stc_status stc_tensor_read(stc_machine *m, const char *path, const char *fmt, int type,
                           const stc_value *fill, stc_tensor **out)
{
    API_CALL_LIMITED(m, &m->cx);
    if (!path) return fail_null(cx, "path");
    if (!out) return fail_null(cx, "out");
    if (type < -1 || type >= TYPE_COUNT)
        return fail(cx, STC_ERR_ARGUMENT, "%d is no element type", type);
    io_result r;
    stc_status st = io_read_as(cx, path, type, &r);
    if (st) return st;
    const stc_type to = io_type(&r, type);
    value v = {0};
    if (fill) v = type_round(to, value_from_public(to, *fill));
    format f;
    if (fmt) st = format_parse(cx, NULL, fmt, r.order, &f);
    if (!st) st = io_pack(&r, fmt ? &f : NULL, type, fill ? &v : NULL, out);
    io_free(&r);
    return st;
}

const char *stc_file_types(void)
{
    return io_endings();
}

bool stc_file_known(const char *text, size_t n, bool written)
{
    return text && io_known(text, n, written);
}

stc_status stc_tensor_write(const stc_tensor *t, const char *path)
{
    API_CALL(t, t->cx);
    if (!path) return fail_null(t->cx, "path");
    stc_status st = checked(t);
    return st ? st : io_save(t, path);
}
