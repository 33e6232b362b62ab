/* decl.c: declarations of tensors, and the data written in them.
 *
 *     tensor M dense i32 = [[1,2,3],[4,5,6]]
 *     tensor d csr f64 [4,4] fill inf = { (0,1): 3, (2,0): 1 }
 *
 * Listed entries are stored whatever their value; elements of an array that
 * equal the fill aren't, where the format can leave them out.
 */
#include "decl.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BAD(src, node, ...) fail_source(src, STC_ERR_PROGRAM, (node)->at, __VA_ARGS__)

static stc_status read_shape(const source *src, const ast *n, scope_tensor *d)
{
    if (n->count > STC_MAX_ORDER)
        return BAD(src, n, "a shape of %d sizes; expected at most %d", n->count,
                   STC_MAX_ORDER);
    for (int k = 0; k < n->count; k++) {
        if (n->child[k]->kind != N_INT)
            return BAD(src, n->child[k],
                       "a compiled program's shapes are numbers; scripts evaluate others");
        d->shape[k] = (int64_t)n->child[k]->u;
    }
    if (d->has_format && !format_close(&d->fmt, n->count))
        return BAD(src, n, "a shape of %d sizes; the format is for order %d", n->count,
                   d->fmt.order);
    d->order = n->count;
    d->has_shape = true;
    return STC_OK;
}

stc_status decl_read(const scope *sc, const source *src, const ast *n, scope_tensor *out)
{
    scope_tensor d = {.name = out->name, .order = -1, .type = STC_F64, .slot = out->slot};
    stc_status st;
    if (n->child[DECL_FORMAT]) {
        st = scope_format(sc, src, n->child[DECL_FORMAT], -1, &d.fmt);
        if (st) return st;
        d.has_format = true;
        d.order = d.fmt.order;
    }
    if (n->child[DECL_TYPE]) {
        const char *name = n->child[DECL_TYPE]->name;
        d.has_type = type_parse(name, strlen(name), &d.type); /* the parser knew it */
    }
    if (n->child[DECL_SHAPE] && (st = read_shape(src, n->child[DECL_SHAPE], &d))) return st;
    if (n->child[DECL_FILL]) {
        const ast *fill = n->child[DECL_FILL];
        if (!d.has_type) {
            /* data may settle the type later; the fill has one of its own until then */
            if ((st = literal_type(src, fill, &d.type))) return st;
            if (d.type != STC_C128) d.type = STC_F64;
        }
        if ((st = literal_value(src, fill, d.type, &d.fill))) return st;
        d.has_fill = true;
    }
    *out = d;
    return STC_OK;
}

/* Settles order, format and type before data is packed. */
static stc_status settle(const source *src, const ast *n, int order, stc_type type,
                         scope_tensor *d)
{
    const ast *at = n->child[DECL_DATA];
    if (d->order >= 0 && d->order != order)
        return BAD(src, at, "the data has order %d; %s is declared with order %d", order,
                   n->name, d->order);
    if (!d->has_format) {
        stc_status st = format_parse(src->cx, NULL, "dense", order, &d->fmt);
        if (st) return st;
    } else if (!format_close(&d->fmt, order)) {
        return BAD(src, at,
                   "the data has order %d, and the format of %s can't have %d modes", order,
                   n->name, order);
    }
    d->order = order;
    if (!d->has_type) {
        d->type = type;
        if (d->has_fill) return literal_value(src, n->child[DECL_FILL], type, &d->fill);
    }
    return STC_OK;
}

static stc_status pack(const source *src, scope_tensor *d, const int64_t *shape, entries *e,
                       tensor **out)
{
    tensor *t = NULL;
    stc_status st = tensor_new(src->cx, &d->fmt, d->type, shape, d->fill, &t);
    if (st) return st;
    if ((st = tensor_pack(t, e))) {
        tensor_free(t);
        return st;
    }
    *out = t;
    return STC_OK;
}

/* ---- { (0,1): 3, … } --------------------------------------------------------------- */

/* The type that literals have together when none is declared. */
static stc_status join_type(const source *src, const ast *leaf, bool *any, stc_type *type)
{
    stc_type t;
    stc_status st = literal_type(src, leaf, &t);
    if (st) return st;
    *type = *any ? type_promote(*type, t) : t;
    *any = true;
    return STC_OK;
}

static stc_status push_entry(const source *src, const ast *n, const scope_tensor *d,
                             entries *e)
{
    int64_t coords[STC_MAX_ORDER];
    if (n->count - 1 != d->order)
        return BAD(src, n, "an entry with %d coordinates in a tensor of order %d",
                   n->count - 1, d->order);
    for (int k = 0; k < d->order; k++) {
        const uint64_t c = n->child[k]->u;
        if (c >= (uint64_t)d->shape[k])
            return BAD(src, n->child[k], "coordinate %llu in mode %d, which has size %lld",
                       (unsigned long long)c, k, (long long)d->shape[k]);
        coords[k] = (int64_t)c;
    }
    value v;
    stc_status st = literal_value(src, n->child[n->count - 1], d->type, &v);
    return st ? st : entries_push(e, coords, v);
}

static stc_status data_entries(const source *src, const ast *n, scope_tensor *d,
                               tensor **out)
{
    const ast *list = n->child[DECL_DATA];
    if (!d->has_shape)
        return BAD(src, list,
                   "a list of entries doesn't tell the shape of %s; "
                   "expected it before `=`, as in [4,4]",
                   n->name);
    stc_type type = STC_F64;
    bool any = false;
    stc_status st = STC_OK;
    for (int i = 0; i < list->count && !st && !d->has_type; i++) {
        const ast *e = list->child[i];
        st = join_type(src, e->child[e->count - 1], &any, &type);
    }
    if (!st) st = settle(src, n, d->order, type, d);
    if (st) return st;
    entries e;
    entries_init(&e, src->cx, d->order, d->type);
    for (int i = 0; i < list->count && !st; i++)
        st = push_entry(src, list->child[i], d, &e);
    if (!st) st = pack(src, d, d->shape, &e, out);
    entries_free(&e);
    return st;
}

/* ---- [[1,2],[3,4]] ------------------------------------------------------------------ */

/* The shape of nested lists, from the first of each; ragged ones are refused. */
static stc_status array_shape(const source *src, const ast *n, int depth, int *order,
                              int64_t *shape, bool *any, stc_type *type)
{
    if (n->kind != N_ARRAY) {
        if (*order < 0) *order = depth;
        if (*order != depth)
            return BAD(src, n,
                       "a number where a list was expected: lists nest %d deep here",
                       *order);
        return join_type(src, n, any, type);
    }
    if (depth >= STC_MAX_ORDER)
        return BAD(src, n, "lists nest deeper than the %d modes a tensor can have",
                   STC_MAX_ORDER);
    if (*order >= 0 && depth >= *order)
        return BAD(src, n, "a list where a number was expected: lists nest %d deep here",
                   *order);
    if (shape[depth] < 0) shape[depth] = n->count;
    if (shape[depth] != n->count)
        return BAD(src, n, "a list of %d where the ones before it have %lld", n->count,
                   (long long)shape[depth]);
    stc_status st = STC_OK;
    for (int i = 0; i < n->count && !st; i++)
        st = array_shape(src, n->child[i], depth + 1, order, shape, any, type);
    return st;
}

static stc_status array_fill(const source *src, const ast *n, stc_type type, void *vals,
                             int64_t *at)
{
    stc_status st = STC_OK;
    if (n->kind == N_ARRAY) {
        for (int i = 0; i < n->count && !st; i++)
            st = array_fill(src, n->child[i], type, vals, at);
        return st;
    }
    value v;
    if (!(st = literal_value(src, n, type, &v))) type_store(type, vals, (*at)++, v);
    return st;
}

static stc_status data_array(const source *src, const ast *n, scope_tensor *d, tensor **out)
{
    const ast *list = n->child[DECL_DATA];
    int order = -1;
    int64_t shape[STC_MAX_ORDER + 1];
    for (int k = 0; k <= STC_MAX_ORDER; k++)
        shape[k] = -1;
    stc_type type = STC_F64;
    bool any = false;
    stc_status st = array_shape(src, list, 0, &order, shape, &any, &type);
    if (st) return st;
    if (order < 0) { /* [] or [[],[]]: as many modes as lists nest */
        for (order = 0; shape[order] >= 0; order++) {
        }
    }
    if (!any) type = STC_F64;
    if ((st = settle(src, n, order, type, d))) return st;
    for (int k = 0; k < order && d->has_shape; k++) {
        if (shape[k] != d->shape[k])
            return BAD(src, list, "mode %d has %lld elements here; %lld were declared", k,
                       (long long)shape[k], (long long)d->shape[k]);
    }
    format dense;
    tensor *t = NULL;
    st = format_parse(src->cx, NULL, "dense", order, &dense);
    if (!st) st = tensor_new(src->cx, &dense, d->type, shape, d->fill, &t);
    int64_t at = 0;
    if (!st) st = array_fill(src, list, d->type, t->vals, &at);
    if (!st && format_equal(&dense, &d->fmt)) {
        *out = t;
        return STC_OK;
    }
    if (!st) st = tensor_convert(t, &d->fmt, d->type, d->fill, out);
    tensor_free(t);
    return st;
}

/* ---- files, random, one number ------------------------------------------------------ */

stc_status files_allowed(const source *src, const ast *n)
{
    if (!src->cx->no_files) return STC_OK;
    return BAD(src, n, "this session may not read or write files");
}

stc_status find_path(ctx *cx, const char *path, const char *dir, char *out, size_t size)
{
    int n = snprintf(out, size, "%s", path);
    if (dir && *dir && path[0] != '/' && access(path, F_OK) != 0) {
        n = snprintf(out, size, "%s/%s", dir, path);
        if (access(out, F_OK) != 0) n = snprintf(out, size, "%s", path);
    }
    if (n < 0 || (size_t)n >= size)
        return fail(cx, STC_ERR_ARGUMENT, "a path of more than %zu bytes", size - 1);
    return STC_OK;
}

static stc_status data_file(const source *src, const ast *n, const char *dir,
                            scope_tensor *d, tensor **out)
{
    char path[4096];
    stc_status st = files_allowed(src, n->child[DECL_DATA]);
    if (!st) st = find_path(src->cx, n->child[DECL_DATA]->name, dir, path, sizeof path);
    if (st) return st;
    const origin as = {.has_fill = d->has_fill, .fill = d->fill, .fill_type = d->type};
    tensor *t = NULL;
    st = origin_load(src->cx, path, d->order, d->has_format ? &d->fmt : NULL,
                     d->has_type ? (int)d->type : -1, &as, &t);
    if (st) return st;
    for (int k = 0; d->has_shape && k < t->order && t->order == d->order; k++) {
        if (t->shape[k] == d->shape[k]) continue;
        st = BAD(src, n->child[DECL_DATA],
                 "mode %d has size %lld in the file; %lld was declared", k,
                 (long long)t->shape[k], (long long)d->shape[k]);
        break;
    }
    if (st) {
        tensor_free(t);
        return st;
    }
    d->order = t->order;
    d->fmt = t->fmt;
    d->type = t->type;
    d->fill = t->fill;
    *out = t;
    return STC_OK;
}

static stc_status random_kind(const source *src, const ast *n, origin *o)
{
    value v[2];
    if (n->name[0] == 'n') o->numbers = RANDOM_NORMAL;
    if (n->name[0] != 'i') return STC_OK;
    for (int k = 0; k < 2; k++) {
        const stc_status st = literal_value(src, n->child[2 + k], STC_I64, &v[k]);
        if (st) return st;
    }
    o->numbers = RANDOM_INTEGERS;
    o->least = v[0].i64;
    if (__builtin_sub_overflow(v[1].i64, v[0].i64, &o->range) || o->range <= 0)
        return BAD(src, n, "there are no integers from %lld up to %lld",
                   (long long)v[0].i64, (long long)v[1].i64);
    return STC_OK;
}

static stc_status random_numbers(const source *src, const ast *n, origin *o)
{
    value v;
    stc_status st;
    o->density = 1;
    if (n->child[0]) {
        if ((st = literal_value(src, n->child[0], STC_F64, &v))) return st;
        if (!(v.f64 >= 0 && v.f64 <= 1))
            return BAD(src, n->child[0], "the density is %g; expected 0 to 1", v.f64);
        o->density = v.f64;
    }
    if (n->child[1]) {
        if ((st = literal_value(src, n->child[1], STC_U64, &v))) return st;
        o->seed = v.u64;
    }
    return random_kind(src, n, o);
}

static stc_status data_made(const source *src, const ast *n, scope_tensor *d, tensor **out)
{
    const ast *data = n->child[DECL_DATA];
    origin o = {.kind = STC_SOURCE_VALUE, .type = -1};
    stc_status st;
    stc_type type = STC_F64;
    if (data->kind == N_RANDOM) {
        o.kind = STC_SOURCE_RANDOM;
        st = random_numbers(src, data, &o);
    } else {
        st = literal_type(src, data, &type);
    }
    const int order = d->order < 0 && data->kind != N_RANDOM ? 0 : d->order;
    if (!st && !d->has_shape && order != 0)
        st =
            BAD(src, data, "%s has no shape; expected it before `=`, as in [4,4]", n->name);
    if (!st) st = settle(src, n, order, type, d);
    if (st) return st;
    if (o.kind == STC_SOURCE_VALUE) {
        o.value_type = d->type;
        if ((st = literal_value(src, data, d->type, &o.v))) return st;
    }
    return origin_make(src->cx, &o, &d->fmt, d->type, d->shape, d->fill, out);
}

/* ---- eye, arange ---------------------------------------------------------------- */

/* eye: ones on the diagonal; arange: each place's own coordinate. */
static stc_status data_listed(const source *src, const ast *n, scope_tensor *d,
                              tensor **out)
{
    const ast *data = n->child[DECL_DATA];
    const bool eye = data->name[0] == 'e';
    const int order = eye ? 2 : 1;
    entries e;
    if (d->order != order)
        return BAD(src, data, "%s has %d mode%s, and %s is declared with %d", data->name,
                   order, order == 1 ? "" : "s", n->name, d->order);
    stc_status st = settle(src, n, order, eye ? STC_F64 : STC_I64, d);
    if (st) return st;
    const int64_t size = eye && d->shape[1] < d->shape[0] ? d->shape[1] : d->shape[0];
    entries_init(&e, src->cx, order, d->type);
    for (int64_t i = 0; i < size && !st && !(st = work_done(src->cx, 1)); i++) {
        const value v = type_convert(d->type, STC_I64, (value){.i64 = eye ? 1 : i});
        st = entries_push(&e, (int64_t[]){i, i}, v);
    }
    if (!st) st = pack(src, d, d->shape, &e, out);
    entries_free(&e);
    return st;
}

stc_status decl_data(const source *src, const ast *n, const char *dir, scope_tensor *d,
                     tensor **out)
{
    switch (n->child[DECL_DATA]->kind) {
    case N_STRING:
        return data_file(src, n, dir, d, out);
    case N_ENTRIES:
        return data_entries(src, n, d, out);
    case N_ARRAY:
        return data_array(src, n, d, out);
    case N_MADE:
        return data_listed(src, n, d, out);
    default:
        return data_made(src, n, d, out);
    }
}
