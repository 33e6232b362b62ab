/* unpack.c: from a tensor of any format to its entries, in storage order.
 *
 * Walks the levels by their cursors, and the last one by its view where it has
 * one. Level coordinates become logical ones by the inverse of the map; what
 * falls outside the shape is padding, and so is the fill where a level stores
 * every place of a block. All that says where a walk stands is in the walk, so that it
 * can pause between any two entries and go on later.
 */
#include "internal.h"
#include <string.h>

#define BATCH 4096 /* entries after which a full batch is handed on */

/* After n more entries or fibers: a look now and then whether to go on. */
static inline stc_status pace(walk *w, int64_t n)
{
    w->paced += n;
    if (w->paced < BATCH) return STC_OK;
    const uint64_t steps = (uint64_t)w->paced;
    w->paced = 0;
    return work_done(w->t->cx, steps);
}

static stc_status room(walk *w, int64_t n)
{
    entries *b = w->batch;
    if (b->n && w->full && b->n + n > BATCH) {
        const stc_status status = w->full(w);
        if (status) return status;
    }
    int64_t need;
    if (!size_add(b->n, n, &need)) {
        return fail(b->cx, STC_ERR_OVERFLOW, "a tensor has more than 2^63 entries");
    }
    return need > b->cap ? entries_reserve(b, need) : STC_OK;
}

/* How many of n entries may come now; 0: none, it pauses. */
static inline int64_t chunk(walk *w, int64_t n)
{
    const int64_t k = n > BATCH ? BATCH : n;
    if (!w->most) return k;
    const int64_t left = w->most - w->batch->n;
    w->paused = left <= 0;
    return w->paused ? 0 : k < left ? k : left;
}

/* n entries at coordinates first, first+1, … (step 1) or all at first (step 0),
 * whose values lie at pos, pos+1, … of a plain tensor. */
static stc_status put_plain(walk *w, int64_t first, int step, int64_t pos, int64_t n)
{
    const tensor *t = w->t;
    const int last = t->fmt.levels - 1;
    entries *b = w->batch;
    while (n > 0) {
        const int64_t k = chunk(w, n);
        if (!k) {
            w->rest = (struct walk_rest){first, step, pos, n};
            return STC_ERR_INTERRUPT;
        }
        stc_status status = pace(w, k);
        if (!status) status = room(w, k);
        if (status) return status;
        for (int l = 0; l < last; l++) {
            int64_t *c = b->coord[t->fmt.level[l].map.mode] + b->n;
            for (int64_t i = 0; i < k; i++)
                c[i] = w->coord[l];
        }
        int64_t *c = b->coord[t->fmt.level[last].map.mode] + b->n;
        for (int64_t i = 0; i < k; i++)
            c[i] = first + i * step;
        const size_t size = type_size(t->type);
        memcpy((char *)b->vals + (size_t)b->n * size,
               (const char *)t->vals + (size_t)pos * size, (size_t)k * size);
        b->n += k;
        n -= k;
        pos += k;
        first += k * step;
    }
    return STC_OK;
}

/* The same where coordinates are stored. */
static stc_status put_coords(walk *w, const fiber_view *v)
{
    const tensor *t = w->t;
    const int last = t->fmt.levels - 1;
    const index_array crd = {
        .data = (void *)(uintptr_t)v->crd, .width = v->width, .stride = v->stride};
    entries *b = w->batch;
    for (int64_t p = v->begin; p < v->end;) {
        const int64_t k = chunk(w, v->end - p);
        if (!k) {
            w->view = *v;
            w->view.begin = p;
            return STC_ERR_INTERRUPT;
        }
        const stc_status status = put_plain(w, 0, 0, p, k);
        if (status) return status;
        int64_t *c = b->coord[t->fmt.level[last].map.mode] + (b->n - k);
        if (crd.width == 4 && crd.stride == 4) {
            const int32_t *from = (const int32_t *)crd.data + p;
            for (int64_t i = 0; i < k; i++)
                c[i] = from[i];
        } else {
            for (int64_t i = 0; i < k; i++)
                c[i] = index_get(&crd, p + i);
        }
        p += k;
    }
    return STC_OK;
}

/* One entry of a mapped tensor; w->coord has all its level coordinates. */
static stc_status put_mapped(walk *w, int64_t pos)
{
    const tensor *t = w->t;
    const size_t size = type_size(t->type);
    int64_t coords[STC_MAX_ORDER];
    if (!chunk(w, 1)) return STC_ERR_INTERRUPT;
    if (w->drop && !memcmp((const char *)t->vals + (size_t)pos * size, &w->fill, size)) {
        return STC_OK;
    }
    if (!recipe_apply(&w->recipe, t->shape, w->coord, coords)) return STC_OK;
    const stc_status status = room(w, 1);
    if (status) return status;
    entries *b = w->batch;
    for (int m = 0; m < t->order; m++)
        b->coord[m][b->n] = coords[m];
    copy_element(b->vals, b->n++, t->vals, pos, size);
    return STC_OK;
}

/* The rest of the interval, from w->to on; when it pauses, what is left of a stretch is in
 * w->rest, and w->to behind it. */
static stc_status interval_plain(walk *w, const cursor *c)
{
    const int64_t i = w->to;
    if (i >= c->hi) return STC_OK;
    w->to = c->hi;
    if (c->pos_end - c->pos > 1) return put_plain(w, c->lo, 0, c->pos, c->pos_end - c->pos);
    if (c->period >= c->hi - c->lo) return put_plain(w, c->lo, 1, c->pos, c->hi - c->lo);
    for (int64_t at = i; at < c->hi; at += c->period) {
        const int64_t n = c->hi - at < c->period ? c->hi - at : c->period;
        w->to = at + n;
        const stc_status status = put_plain(w, at, 1, c->pos, n);
        if (status) return status;
    }
    return STC_OK;
}

/* The same, from the place w->inner below coordinate w->to on. */
static stc_status interval_mapped(walk *w, const cursor *c, int l)
{
    for (int64_t i = w->to; i < c->hi; i++) {
        const int64_t off =
            c->period == PERIOD_ENDLESS ? i - c->lo : (i - c->lo) % c->period;
        w->coord[l] = i;
        if (pace(w, 1)) return w->t->cx->diag.status;
        for (int64_t p = c->pos + off + w->inner; p < c->pos_end + off; p++) {
            const stc_status status = put_mapped(w, p);
            if (!status) continue;
            w->to = i;
            w->inner = p - c->pos - off;
            return status;
        }
        w->inner = 0;
    }
    return STC_OK;
}

static stc_status last_by_cursor(walk *w, int l)
{
    cursor *c = &w->cur[l];
    for (; c->lo != CURSOR_END; cursor_next(c), w->to = c->lo) {
        const stc_status status =
            w->plain ? interval_plain(w, c) : interval_mapped(w, c, l);
        if (status) return status;
    }
    return STC_OK;
}

/* The last level goes on where it paused. */
static stc_status last_again(walk *w, int l)
{
    const struct walk_rest r = w->rest;
    w->again = false;
    w->rest.n = 0;
    if (w->in == IN_COORDS) {
        const fiber_view v = w->view;
        return put_coords(w, &v);
    }
    const stc_status status = put_plain(w, r.first, (int)r.step, r.pos, r.n);
    if (status || w->in == IN_RANGE) return status;
    return last_by_cursor(w, l);
}

static stc_status last_level(walk *w, int l, const cursor *up)
{
    const level *lv = &w->t->level[l];
    if (w->again) return last_again(w, l);
    if (w->plain && (!up || up->at_end - up->at == 1)) {
        fiber_view v = {.shape = VIEW_NONE};
        lv->kind->view(lv, up ? up->at : 0, up ? up->coord : 0, &v);
        w->in = IN_RANGE;
        if (v.shape == VIEW_RANGE) return put_plain(w, v.lo, 1, v.begin, v.end - v.begin);
        w->in = IN_COORDS;
        if (v.shape == VIEW_COORDS) return put_coords(w, &v);
    }
    w->in = IN_CURSOR;
    cursor_open(&w->cur[l], lv, up);
    w->to = w->cur[l].lo;
    w->inner = 0;
    return last_by_cursor(w, l);
}

static stc_status walk_level(walk *w, int l, const cursor *up);

/* What is below the coordinate at which c stands: one duplicate of it after the other where
 * the next level can't chain them. */
static stc_status walk_below(walk *w, int l, cursor *c)
{
    const int64_t end = c->at_end;
    if (!level_apart(c->lv)) return walk_level(w, l + 1, c);
    if (!w->again) w->twin[l] = c->at;
    for (; w->twin[l] < end; w->twin[l]++) {
        c->at = w->twin[l];
        c->at_end = c->at + 1;
        const stc_status status = walk_level(w, l + 1, c);
        if (status) return status;
    }
    return STC_OK;
}

static stc_status walk_level(walk *w, int l, const cursor *up)
{
    const level *lv = &w->t->level[l];
    if (l + 1 == w->t->fmt.levels) return last_level(w, l, up);
    cursor *c = &w->cur[l];
    if (!w->again) {
        cursor_open(c, lv, up);
        w->at[l] = c->lo;
    }
    for (; c->lo != CURSOR_END; cursor_next(c), w->at[l] = c->lo) {
        for (; w->at[l] < c->hi; w->at[l]++) {
            cursor_stand(c, w->at[l]);
            w->coord[l] = w->at[l];
            stc_status status = pace(w, 1);
            if (!status) status = walk_below(w, l, c);
            if (status) return status;
        }
    }
    return STC_OK;
}

stc_status tensor_walk(walk *w)
{
    const tensor *t = w->t;
    w->again = w->paused;
    w->paused = false;
    if (!w->again) {
        w->plain = format_is_plain(&t->fmt);
        w->drop = format_drops_fill(&t->fmt);
        type_store(t->type, &w->fill, 0, t->fill);
        format_recipe(&t->fmt, &w->recipe);
    }
    stc_status status = STC_OK;
    if (!t->nvals) return STC_OK; /* else the levels above could be long */
    if (t->fmt.levels) {
        status = walk_level(w, 0, NULL);
    } else {
        status = room(w, 1);
        if (!status) {
            copy_element(w->batch->vals, w->batch->n++, t->vals, 0, type_size(t->type));
        }
    }
    if (status) return w->paused ? STC_OK : status;
    return w->full && w->batch->n ? w->full(w) : STC_OK;
}

stc_status tensor_entries(const tensor *t, entries *out)
{
    walk w = {.t = t, .batch = out};
    out->n = 0;
    return tensor_walk(&w);
}

/* ---- visiting ---------------------------------------------------------------------- */

typedef struct visitor {
    stc_visit_fn visit;
    void *context;
    bool stopped;
} visitor;

static stc_status visit_batch(walk *w)
{
    visitor *v = w->context;
    entries *b = w->batch;
    int64_t coords[STC_MAX_ORDER];
    for (int64_t i = 0; i < b->n && !v->stopped; i++) {
        for (int m = 0; m < b->order; m++)
            coords[m] = b->coord[m][i];
        const value x = type_load(b->type, b->vals, i);
        v->stopped = v->visit(v->context, coords, value_to_public(b->type, x)) != 0;
    }
    b->n = 0;
    return v->stopped ? STC_ERR_INTERRUPT : STC_OK;
}

stc_status tensor_visit(const tensor *t, stc_visit_fn visit, void *context)
{
    visitor v = {.visit = visit, .context = context};
    entries batch;
    entries_init(&batch, t->cx, t->order, t->type);
    walk w = {.t = t, .batch = &batch, .full = visit_batch, .context = &v};
    const stc_status status = tensor_walk(&w);
    entries_free(&batch);
    return v.stopped ? STC_OK : status;
}
