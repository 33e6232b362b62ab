/* stream.c: a tensor from entries that come in batches, without a list of all of them.
 *
 * Where the target has a place for every coordinate, values go straight to their
 * places, in any order. Where its levels append, entries that come in their order are
 * appended. Only what remains is gathered and packed: formats that sort, count or
 * join, and entries in an order that isn't the target's.
 */
#include "internal.h"
#include "recipe.h"
#include <string.h>

enum { CHUNK = 1024 };

/* Whether all levels take coordinates one by one in order, and store them as packing
 * does: none of them joins what is equal. */
static bool takes_order(const tensor *t, const int *held)
{
    if (!held || !t->fmt.levels || !format_is_plain(&t->fmt) || !format_appends(&t->fmt))
        return false;
    for (int l = 0; l < t->fmt.levels; l++) {
        const level *lv = &t->level[l];
        if (lv->kind->caps & CAP_APPEND_REGION || lv->kind->append_join ||
            !(lv->props & PROP_UNIQUE) || !(lv->kind->arrays || lv->props & PROP_FULL) ||
            t->fmt.level[l].map.mode != held[l])
            return false;
    }
    return true;
}

/* Marks for places that have a value already, if a list of the entries isn't less. */
static bool marks_serve(const tensor *t, int64_t expected)
{
    return expected < 0 || expected > t->nvals / 8 / (8 * (t->order + 2));
}

stc_status stream_begin(entry_stream *s, tensor *t, const int *held, bool unique,
                        int64_t expected)
{
    *s = (entry_stream){.t = t, .how = STREAM_LISTS};
    entries_init(&s->list, t->cx, t->order, t->type);
    s->held = held;
    if (format_places_below(&t->fmt, -1) && (held || unique || marks_serve(t, expected))) {
        s->how = STREAM_PLACES;
        s->nmark = held || unique ? 0 : t->nvals / 8 + 1;
        if (!s->nmark) return STC_OK;
        s->mark = mem_zero(t->cx, s->nmark, 1);
        return s->mark ? STC_OK : t->cx->diag.status;
    }
    if (takes_order(t, held)) {
        s->how = STREAM_APPENDS;
        if (tensor_begin(t)) return t->cx->diag.status;
        return expected > 0 ? tensor_reserve_values(t, expected) : STC_OK;
    }
    return expected > 0 ? entries_reserve(&s->list, expected) : STC_OK;
}

static value value_of(const entry_stream *s, const entries *e, int64_t i)
{
    const value v = type_load(e->type, e->vals, i);
    return e->type == s->t->type ? v : type_convert(s->t->type, e->type, v);
}

static void add_to(tensor *t, int64_t pos, value v)
{
    type_store(t->type, t->vals, pos,
               value_add(t->type, type_load(t->type, t->vals, pos), v));
}

/* The places of entries [at, at + n). */
static void find_places(const tensor *t, const entries *e, int64_t at, int64_t n,
                        int64_t *pos)
{
    memset(pos, 0, (size_t)n * sizeof *pos);
    for (int l = 0; l < t->fmt.levels; l++) {
        const level_map *m = &t->fmt.level[l].map;
        const int64_t base = t->level[l].base, extent = t->level[l].extent;
        if (m->op == MAP_MODE) {
            const int64_t *c = e->coord[m->mode] + at;
            for (int64_t i = 0; i < n; i++)
                pos[i] = pos[i] * extent + (c[i] - base);
            continue;
        }
        for (int64_t i = 0; i < n; i++) {
            int64_t coords[STC_MAX_ORDER];
            for (int k = 0; k < t->order; k++)
                coords[k] = e->coord[k][at + i];
            pos[i] = pos[i] * extent + (map_coord(m, t->shape, coords) - base);
        }
    }
}

static void put_places(entry_stream *s, const entries *e, int64_t at, int64_t n)
{
    tensor *t = s->t;
    const size_t size = type_size(t->type);
    int64_t pos[CHUNK], last = s->last;
    find_places(t, e, at, n, pos);
    for (int64_t i = 0; i < n; i++) {
        const int64_t p = pos[i];
        const uint8_t bit = (uint8_t)(1 << (p & 7));
        if (s->mark ? s->mark[p >> 3] & bit : p + 1 == last) {
            add_to(t, p, value_of(s, e, at + i));
        } else if (e->type == t->type) {
            copy_element(t->vals, p, e->vals, at + i, size);
        } else {
            type_store(t->type, t->vals, p, value_of(s, e, at + i));
        }
        if (s->mark) s->mark[p >> 3] |= bit;
        last = p + 1;
    }
    s->last = last;
}

/* There is a value at pos, which is stored next, and the fill where none was before it. */
static stc_status reach(tensor *t, int64_t pos)
{
    if (pos < t->nvals) return STC_OK;
    if (tensor_extend_values(t, pos) ||
        (pos >= t->vals_cap && tensor_reserve_values(t, pos + 1)))
        return t->cx->diag.status;
    if (t->nvals <= pos) t->nvals = pos + 1;
    return STC_OK;
}

/* One entry; it differs from the one before it from level d on. */
static stc_status append_one(entry_stream *s, int d, const int64_t *coord)
{
    tensor *t = s->t;
    const int levels = t->fmt.levels;
    for (int l = levels - 1; l > d && s->any; l--) {
        const level_kind *k = t->level[l].kind;
        if (k->append_edges && k->append_edges(t->cx, &t->level[l], s->at[l - 1]))
            return t->cx->diag.status;
    }
    for (int l = d; l < levels; l++) {
        level *lv = &t->level[l];
        const int64_t parent = l ? s->at[l - 1] : 0;
        if (lv->kind->append_coord(t->cx, lv, parent, coord[l], &s->at[l]))
            return t->cx->diag.status;
        s->coord[l] = coord[l];
    }
    s->any = true;
    return reach(t, s->at[levels - 1]);
}

static stc_status put_in_order(entry_stream *s, const entries *e, int64_t at, int64_t n)
{
    tensor *t = s->t;
    const int levels = t->fmt.levels;
    int64_t coord[STC_MAX_ORDER];
    for (int64_t i = at; i < at + n; i++) {
        int d = 0;
        for (int l = levels - 1; l >= 0; l--)
            coord[l] = e->coord[t->fmt.level[l].map.mode][i];
        while (s->any && d < levels && coord[d] == s->coord[d])
            d++;
        if (d == levels) {
            add_to(t, s->at[levels - 1], value_of(s, e, i));
            continue;
        }
        if (append_one(s, d, coord)) return t->cx->diag.status;
        type_store(t->type, t->vals, s->at[levels - 1], value_of(s, e, i));
    }
    return STC_OK;
}

static stc_status put_list(entry_stream *s, const entries *e)
{
    entries *to = &s->list;
    int64_t need;
    if (!size_add(to->n, e->n, &need) || entries_reserve(to, need))
        return to->cx->diag.status;
    for (int m = 0; m < e->order; m++)
        if (work_copy(to->cx, to->coord[m] + to->n, e->coord[m],
                      (size_t)e->n * sizeof(int64_t)))
            return to->cx->diag.status;
    const size_t size = type_size(to->type);
    if (e->type == to->type) {
        if (work_copy(to->cx, (char *)to->vals + (size_t)to->n * size, e->vals,
                      (size_t)e->n * size))
            return to->cx->diag.status;
    } else {
        for (int64_t i = 0; i < e->n; i++)
            type_store(to->type, to->vals, to->n + i, value_of(s, e, i));
    }
    to->n = need;
    return STC_OK;
}

stc_status stream_put(entry_stream *s, const entries *e)
{
    ctx *cx = s->t->cx;
    if (s->how == STREAM_LISTS) return put_list(s, e);
    for (int64_t at = 0; at < e->n; at += CHUNK) {
        const int64_t n = e->n - at < CHUNK ? e->n - at : CHUNK;
        if (work_done(cx, (uint64_t)n)) return cx->diag.status;
        if (s->how == STREAM_PLACES)
            put_places(s, e, at, n);
        else if (put_in_order(s, e, at, n))
            return cx->diag.status;
    }
    return STC_OK;
}

static void trim(tensor *t)
{
    for (int l = 0; l < t->fmt.levels; l++)
        for (int r = 0; r < 3; r++)
            if (t->level[l].kind->arrays >> r & 1) index_trim(t->cx, &t->level[l].a[r]);
    tensor_trim_values(t);
}

stc_status stream_finish(entry_stream *s)
{
    tensor *t = s->t;
    switch (s->how) {
    case STREAM_LISTS:
        return tensor_pack_held(t, &s->list, s->held);
    case STREAM_APPENDS:
        for (int l = t->fmt.levels - 1; l > 0 && s->any; l--) {
            const level_kind *k = t->level[l].kind;
            if (k->append_edges && k->append_edges(t->cx, &t->level[l], s->at[l - 1]))
                return t->cx->diag.status;
        }
        if (tensor_finish(t)) return t->cx->diag.status;
        trim(t);
        return STC_OK;
    default:
        t->generation++;
        t->checked = t->generation;
        return STC_OK;
    }
}

void stream_free(entry_stream *s)
{
    if (!s->t) return;
    entries_free(&s->list);
    mem_free(s->t->cx, s->mark, (size_t)s->nmark);
    s->mark = NULL;
}
