/* api_builder.c: tensors from entries that come one after the other: how many they are,
 * in which order, and how large the tensor is may be unknown until the end.
 *
 * Entries are kept in blocks, each an `entries` of its own that never moves, so that a
 * call that fails has nothing to undo. The end hands them to what packs any other tensor:
 * formats/stream.c if duplicates are added, as it does that itself; else they are gathered,
 * sorted and folded here first.
 */
#include "api.h"
#include "../../vm/fn/host.h"
#include <string.h>

enum { FIRST_BLOCK = 64, MOST_BLOCK = 1 << 16 }; /* entries */

typedef struct block {
    struct block *next;
    entries e;
} block;

/* How two values at one place become one. */
typedef struct combiner {
    enum { COMBINE_ADD, COMBINE_FIRST, COMBINE_LAST, COMBINE_FN, COMBINE_HOST } how;
    fn_scalar fn;
    const host_form *host;
} combiner;

struct stc_builder {
    stc_machine *m;
    format fmt;
    stc_type type;
    int order;
    value fill;
    int64_t shape[STC_MAX_ORDER];  /* -1: as the entries ask for */
    int64_t extent[STC_MAX_ORDER]; /* what the entries ask for   */
    combiner with;
    block *first, *last;
    int64_t count; /* in all blocks */
};

/* ---- opening ------------------------------------------------------------------------ */

/* Whether a built-in function of two elements of a type gives an element of that type. */
static bool closed_over(const fn_info *f, stc_type type)
{
    switch (f->typing) {
    case TY_COMPARE:
    case TY_LOGIC:
        return type == STC_BOOL;
    case TY_ARITH:
    case TY_BITS:
    case TY_SHIFT:
    case TY_DIVIDE:
    case TY_FLOAT:
    case TY_REAL:
    case TY_NUMBER:
        return true;
    default:
        return false;
    }
}

static stc_status find_combiner(ctx *cx, const char *name, stc_type type, combiner *out)
{
    const vclass c = type_class(type);
    const uint8_t cls[2] = {(uint8_t)c, (uint8_t)c};
    *out = (combiner){.how = COMBINE_ADD};
    if (!name || !strcmp(name, "add")) return STC_OK;
    if (!strcmp(name, "first") || !strcmp(name, "last")) {
        out->how = *name == 'f' ? COMBINE_FIRST : COMBINE_LAST;
        return STC_OK;
    }
    const int id = fn_named(name, strlen(name), 2);
    if (id >= 0 && closed_over(fn_at(id), type) && fn_at(id)->classes >> c & 1)
        out->fn = fn_scalar_of(id, c);
    out->host = out->fn ? NULL : host_find(cx, name, 2, cls, (uint8_t)c);
    out->how = out->fn ? COMBINE_FN : COMBINE_HOST;
    if (out->fn || out->host) return STC_OK;
    return fail(cx, STC_ERR_ARGUMENT,
                "duplicates can't be combined by `%s`; expected first, last, or a function "
                "of two %s that gives one, built in or registered",
                name, type_name(type));
}

static stc_status check_open(ctx *cx, const char *fmt, stc_type type, int order,
                             const int64_t *shape)
{
    if (!fmt) return fail_null(cx, "format");
    if ((unsigned)type >= TYPE_COUNT)
        return fail(cx, STC_ERR_ARGUMENT, "%d is no element type", (int)type);
    if (order < 0 || order > STC_MAX_ORDER)
        return fail(cx, STC_ERR_ARGUMENT, "the order is %d; expected 0 to %d", order,
                    STC_MAX_ORDER);
    for (int k = 0; shape && k < order; k++)
        if (shape[k] < -1)
            return fail(
                cx, STC_ERR_ARGUMENT,
                "mode %d has size %lld; expected 0 or more, or -1 where it is unknown", k,
                (long long)shape[k]);
    return STC_OK;
}

stc_status stc_builder_open(stc_machine *m, const char *fmt, stc_type type, int order,
                            const int64_t *shape, const stc_value *fill,
                            const char *combine, stc_builder **out)
{
    API_CALL(m, &m->cx);
    if (!out) return fail_null(cx, "out");
    stc_status st = check_open(cx, fmt, type, order, shape);
    if (st) return st;
    stc_builder *b = mem_zero(cx, 1, sizeof *b);
    if (!b) return cx->diag.status;
    b->m = m;
    b->type = type;
    b->order = order;
    for (int k = 0; k < order; k++)
        b->shape[k] = shape ? shape[k] : -1;
    if (fill) b->fill = type_round(type, value_from_public(type, *fill));
    st = format_parse(cx, NULL, fmt, order, &b->fmt);
    if (!st) st = find_combiner(cx, combine, type, &b->with);
    if (st) {
        mem_free(cx, b, sizeof *b);
        return st;
    }
    *out = b;
    return STC_OK;
}

/* ---- putting ------------------------------------------------------------------------ */

static int64_t coord_of(const void *coords, int width, int64_t i)
{
    return width == 4 ? ((const int32_t *)coords)[i] : ((const int64_t *)coords)[i];
}

/* Looks at the coordinates of a mode; *needed becomes what they ask for. */
static stc_status check_mode(const stc_builder *b, int k, int64_t n, int width,
                             const void *coords, int64_t *needed)
{
    ctx *cx = &b->m->cx;
    const int64_t most = b->shape[k] < 0 ? INT64_MAX : b->shape[k];
    int64_t end = b->extent[k];
    for (int64_t i = 0; i < n; i++) {
        if (work_due(cx, i)) return cx->diag.status;
        const int64_t c = coord_of(coords, width, i);
        if (c < 0 || c >= most)
            return fail(cx, STC_ERR_DATA,
                        "entry %lld has coordinate %lld in mode %d; expected 0 to %lld",
                        (long long)(b->count + i), (long long)c, k, (long long)most - 1);
        if (c >= end) end = c + 1;
    }
    *needed = end;
    return STC_OK;
}

/* A block with room for at least one entry, behind the others. */
static stc_status add_block(stc_builder *b)
{
    ctx *cx = &b->m->cx;
    int64_t room = b->last ? 2 * b->last->e.cap : FIRST_BLOCK;
    if (room > MOST_BLOCK) room = MOST_BLOCK;
    block *next = mem_zero(cx, 1, sizeof *next);
    if (!next) return cx->diag.status;
    entries_init(&next->e, cx, b->order, b->type);
    if (entries_reserve(&next->e, room)) {
        mem_free(cx, next, sizeof *next);
        return cx->diag.status;
    }
    if (b->last)
        b->last->next = next;
    else
        b->first = next;
    b->last = next;
    return STC_OK;
}

/* Blocks behind `from`, or all of them, go. */
static void drop_blocks(stc_builder *b, block *from)
{
    block *at = from ? from->next : b->first;
    while (at) {
        block *const next = at->next;
        entries_free(&at->e);
        mem_free(&b->m->cx, at, sizeof *at);
        at = next;
    }
    if (from)
        from->next = NULL;
    else
        b->first = NULL;
    b->last = from;
}

/* Entries [at, at + n) of the host's arrays behind those of a block with room for them. */
static void append(entries *e, int64_t at, int64_t n, int width, const void *const *coords,
                   const void *values)
{
    const size_t size = type_size(e->type);
    for (int k = 0; k < e->order; k++) {
        int64_t *const to = e->coord[k] + e->n;
        for (int64_t i = 0; i < n; i++)
            to[i] = coord_of(coords[k], width, at + i);
    }
    memcpy((char *)e->vals + (size_t)e->n * size, (const char *)values + (size_t)at * size,
           (size_t)n * size);
    e->n += n;
}

static stc_status put_all(stc_builder *b, int64_t n, int width, const void *const *coords,
                          const void *values)
{
    ctx *cx = &b->m->cx;
    block *const before = b->last;
    const int64_t had = before ? before->e.n : 0;
    for (int64_t at = 0, some; at < n; at += some) {
        stc_status st = STC_OK;
        if (!b->last || b->last->e.n == b->last->e.cap) st = add_block(b);
        if (!st) st = work_done(cx, 1);
        if (st) {
            const diag kept = cx->diag;
            drop_blocks(b, before);
            if (before) before->e.n = had;
            cx->diag = kept;
            return st;
        }
        const int64_t room = b->last->e.cap - b->last->e.n;
        some = n - at < room ? n - at : room;
        append(&b->last->e, at, some, width, coords, values);
    }
    return STC_OK;
}

static stc_status put(stc_builder *b, int64_t n, int width, const void *const *coords,
                      const void *values)
{
    ctx *cx = &b->m->cx;
    int64_t needed[STC_MAX_ORDER], count;
    if (!n) return STC_OK;
    if (!values) return fail_null(cx, "values");
    if (!size_add(b->count, n, &count))
        return fail(cx, STC_ERR_OVERFLOW, "there are more than 2^63 entries");
    for (int k = 0; k < b->order; k++) {
        if (!coords[k]) return fail_null(cx, "the coordinates of a mode");
        if (check_mode(b, k, n, width, coords[k], &needed[k])) return cx->diag.status;
    }
    if (put_all(b, n, width, coords, values)) return cx->diag.status;
    memcpy(b->extent, needed, (size_t)b->order * sizeof *needed);
    b->count = count;
    return STC_OK;
}

stc_status stc_builder_put(stc_builder *b, const int64_t *coords, const void *one)
{
    API_CALL(b, &b->m->cx);
    if (b->order && !coords) return fail_null(&b->m->cx, "coords");
    const void *mode[STC_MAX_ORDER];
    for (int k = 0; k < b->order; k++)
        mode[k] = &coords[k];
    return put(b, 1, sizeof *coords, mode, one);
}

stc_status stc_builder_put_block(stc_builder *b, int64_t n, int width,
                                 const void *const *coords, const void *values)
{
    API_CALL(b, &b->m->cx);
    if (n < 0) return fail(cx, STC_ERR_ARGUMENT, "the number of entries is negative");
    if (width != 4 && width != 8)
        return fail(cx, STC_ERR_ARGUMENT,
                    "the coordinates' width is %d bytes; expected 4 or 8", width);
    if (n && b->order && !coords) return fail_null(cx, "coords");
    return put(b, n, width, coords, values);
}

/* ---- finishing ---------------------------------------------------------------------- */

/* Duplicates are added by what packs. */
static stc_status pack_added(const stc_builder *b, tensor *t)
{
    entry_stream to;
    stc_status st = stream_begin(&to, t, NULL, false, b->count);
    for (const block *at = b->first; at && !st; at = at->next)
        st = stream_put(&to, &at->e);
    if (!st) st = stream_finish(&to);
    stream_free(&to);
    return st;
}

static stc_status gather(const stc_builder *b, entries *all)
{
    const size_t size = type_size(b->type);
    if (entries_reserve(all, b->count)) return b->m->cx.diag.status;
    for (const block *at = b->first; at; at = at->next) {
        const size_t n = (size_t)at->e.n;
        for (int k = 0; k < b->order; k++)
            memcpy(all->coord[k] + all->n, at->e.coord[k], n * sizeof(int64_t));
        memcpy((char *)all->vals + (size_t)all->n * size, at->e.vals, n * size);
        all->n += at->e.n;
        if (work_done(&b->m->cx, n)) return b->m->cx.diag.status;
    }
    return STC_OK;
}

static stc_status combine(ctx *cx, const combiner *with, const value arg[2], value *out)
{
    const char *why;
    switch (with->how) {
    case COMBINE_FN: {
        const fn_fault fault = with->fn(out, &arg[0], &arg[1], &arg[1]);
        if (!fault) return STC_OK;
        return fail(cx, STC_ERR_ARITHMETIC, "%s where duplicates are combined",
                    fault == FAULT_DIVIDE ? "integer division by zero"
                                          : "a negative exponent of an integer power");
    }
    case COMBINE_HOST: {
        const stc_status st = host_call_one(with->host, arg, out, &why);
        if (!st) return STC_OK;
        return fail(cx, st, "`%s`: %s", with->host->of->name,
                    why ? why : "the function failed");
    }
    default:
        *out = arg[with->how == COMBINE_LAST];
        return STC_OK;
    }
}

/* Neighbours at one place become one, from left to right. */
static stc_status fold(entries *e, const combiner *with)
{
    int64_t n = e->n < 1 ? e->n : 1;
    for (int64_t i = 1; i < e->n; i++) {
        int k = 0;
        if (work_due(e->cx, i)) return e->cx->diag.status;
        while (k < e->order && e->coord[k][i] == e->coord[k][n - 1])
            k++;
        if (k == e->order) {
            const value arg[2] = {type_load(e->type, e->vals, n - 1),
                                  type_load(e->type, e->vals, i)};
            value v = {0};
            if (combine(e->cx, with, arg, &v)) return e->cx->diag.status;
            type_store(e->type, e->vals, n - 1, v);
            continue;
        }
        for (k = 0; k < e->order; k++)
            e->coord[k][n] = e->coord[k][i];
        type_store(e->type, e->vals, n, type_load(e->type, e->vals, i));
        n++;
    }
    e->n = n;
    return STC_OK;
}

static stc_status pack_folded(const stc_builder *b, tensor *t)
{
    int mode[STC_MAX_ORDER];
    entries all;
    entries_init(&all, &b->m->cx, b->order, b->type);
    for (int k = 0; k < b->order; k++)
        mode[k] = k;
    stc_status st = gather(b, &all);
    if (!st) st = entries_sort(&all, mode, b->order, t->shape);
    if (!st) st = fold(&all, &b->with);
    if (!st) st = tensor_pack(t, &all);
    entries_free(&all);
    return st;
}

stc_status stc_builder_finish(stc_builder *b, stc_tensor **out)
{
    API_CALL(b, &b->m->cx);
    if (!out) return fail_null(cx, "out");
    int64_t shape[STC_MAX_ORDER];
    for (int k = 0; k < b->order; k++)
        shape[k] = b->shape[k] < 0 ? b->extent[k] : b->shape[k];
    tensor *t;
    stc_status st = tensor_new(cx, &b->fmt, b->type, shape, b->fill, &t);
    if (st) return st;
    st = b->with.how == COMBINE_ADD ? pack_added(b, t) : pack_folded(b, t);
    if (st) {
        tensor_free(t);
        return st;
    }
    drop_blocks(b, NULL);
    memset(b->extent, 0, sizeof b->extent);
    b->count = 0;
    *out = t;
    return STC_OK;
}

int64_t stc_builder_count(const stc_builder *b)
{
    return b ? b->count : 0;
}

void stc_builder_free(stc_builder *b)
{
    if (!b || !api_free_to(&b->m->cx)) return;
    ctx *cx = &b->m->cx;
    drop_blocks(b, NULL);
    mem_free(cx, b, sizeof *b);
}
