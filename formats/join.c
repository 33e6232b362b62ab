/* join.c: what threads assembled apart, put behind each other.
 *
 * A range of the first level's positions is a range on every level below it: on a
 * level that computes positions its multiple, on others what the bounds of its
 * ends say. So a part is one run of coordinates, of bounds and of values on each
 * level, and joining copies runs; bounds are moved by where the run comes to lie.
 *
 * Where a part comes to lie is known as soon as those before it have their places, and
 * nothing else needs to be there: so parts are placed one by one, in order, and copied by
 * their threads, while others are still made. Room is made for more than is needed,
 * since no thread may copy while it grows.
 */
#include "join.h"
#include <string.h>

static bool computed(const level_kind *k)
{
    return k->caps & CAP_INSERT && !k->arrays;
}

bool join_possible(const format *f)
{
    bool appended = false;
    for (int l = 0; l < f->levels; l++) {
        const level_kind *k = f->level[l].kind;
        if (f->level[l].flags & FMT_INTERLEAVED) return false;
        if (computed(k)) continue;
        if (!(k->join_room && k->join_again && k->table)) return false;
        if (l == 0 && k->append_join)
            return false; /* a part is of one fiber, not of many */
        appended = true;
    }
    return appended;
}

static int64_t get(const void *array, int width, int64_t k)
{
    return width == 4 ? ((const int32_t *)array)[k] : ((const int64_t *)array)[k];
}

static void put(void *array, int width, int64_t k, int64_t v)
{
    if (width == 4) {
        ((int32_t *)array)[k] = (int32_t)v;
    } else {
        ((int64_t *)array)[k] = v;
    }
}

/* Positions of a computed level for one of the level above. */
static int64_t each(const level *lv)
{
    return lv->kind->size(lv, 1);
}

static int64_t length(const tensor_part *p, int l)
{
    return p->at[l].end - p->at[l].begin;
}

/* ---- a part -------------------------------------------------------------------- */

/* The parents before it have no bounds in a part. */
static int64_t first_parent(const level *lv)
{
    return lv->edges + 1 - lv->a[STC_POS].len;
}

stc_status join_close(tensor_part *p)
{
    tensor *t = p->from;
    const int last = t->fmt.levels - 1;
    for (int l = 1; l <= last; l++) {
        level *lv = &t->level[l];
        int64_t begin = p->at[l - 1].begin, end = p->at[l - 1].end;
        fiber_table f;
        if (computed(lv->kind)) {
            p->at[l].begin = begin * each(lv);
            p->at[l].end = end * each(lv);
            continue;
        }
        if (lv->kind->append_finish(t->cx, lv, end)) return t->cx->diag.status;
        lv->kind->table(lv, &f);
        begin -= first_parent(lv);
        end -= first_parent(lv);
        p->at[l].begin = get(f.bounds, f.bounds_width, begin);
        p->at[l].end = get(f.bounds, f.bounds_width, end);
    }
    return tensor_extend_values(t, p->at[last].end);
}

void join_again(tensor *from, int64_t first)
{
    for (int l = 0; l < from->fmt.levels; l++) {
        level *lv = &from->level[l];
        if (computed(lv->kind)) {
            if (l) first *= each(lv);
            continue;
        }
        lv->kind->join_again(lv, l ? first : 0);
        first = 0;
    }
    from->nvals = 0;
}

/* ---- places -------------------------------------------------------------------- */

stc_status join_begin(tensor_join *j, tensor *to)
{
    bool below = false;
    *j = (tensor_join){.to = to};
    const int last = to->fmt.levels - 1;
    for (int l = 0; l <= last; l++) {
        const level *lv = &to->level[l];
        if (!computed(lv->kind)) {
            j->end[l] = j->room_end[l] = lv->size;
            below = true;
        } else if (below) {
            j->end[l] = j->end[l - 1] * each(lv);
        }
    }
    /* what is there may end in the middle of a fiber whose places all have values */
    return tensor_extend_values(to, j->end[last]);
}

bool join_fits(const tensor_join *j, tensor_part *p)
{
    const tensor *to = j->to;
    const int last = to->fmt.levels - 1;
    bool fits = true;
    for (int l = 0; l <= last; l++) {
        const level *lv = &to->level[l];
        if (computed(lv->kind)) { /* positions follow from those above */
            p->at[l].to = l ? p->at[l - 1].to * each(lv) : p->at[l].begin;
            continue;
        }
        p->at[l].to = j->end[l];
        fits &= j->end[l] + length(p, l) <= j->room_end[l];
        fits &= l == 0 || p->at[l - 1].to + length(p, l - 1) <= j->parents[l];
    }
    return fits && p->at[last].to + length(p, last) <= to->vals_cap;
}

/* Level l: what has places counts as there. Room for the part, and for half of all that
 * again, or as much as the level's memory has anyway; `places`: all parents of the level
 * are known. */
static stc_status room_of_level(tensor_join *j, const tensor_part *p, int l, int64_t places)
{
    level *lv = &j->to->level[l];
    ctx *cx = j->to->cx;
    const index_array *crd = &lv->a[STC_CRD];
    lv->kind->join_done(lv, j->end[l] - lv->size, l ? j->end[l - 1] : 0);
    const int64_t need = length(p, l), half = (lv->size + need) / 2;
    const int64_t have = crd->cap - crd->len, more = need + half;
    const int64_t narrow = INT32_MAX - lv->size; /* as bounds of 32 bits allow */
    int64_t n = more > have ? more : have;
    if (n > narrow && need <= narrow) n = narrow;
    const int64_t below = l ? p->at[l - 1].to + length(p, l - 1) : 0;
    int64_t parents = places != NONE ? places : below + below / 2;
    if (lv->kind->join_room(cx, lv, n, parents, &j->room[l])) {
        diag_clear(cx); /* there may be room for what is needed */
        n = need;
        parents = below;
        if (lv->kind->join_room(cx, lv, n, parents, &j->room[l])) return cx->diag.status;
    }
    j->room_end[l] = lv->size + n;
    j->parents[l] = parents;
    return STC_OK;
}

/* Fibers before the first part's, of kinds that have something in each. */
static stc_status fibers_before(tensor_join *j, tensor_part *p)
{
    for (int l = 1; l < j->to->fmt.levels; l++) {
        level *lv = &j->to->level[l];
        const int64_t first = p->at[l - 1].to;
        if (computed(lv->kind) || !lv->kind->append_join) continue;
        if (lv->edges < first && lv->kind->append_finish(j->to->cx, lv, first))
            return j->to->cx->diag.status;
        j->end[l] = lv->size;
        (void)join_fits(j, p); /* what lies below it moved */
    }
    return STC_OK;
}

stc_status join_room(tensor_join *j, tensor_part *p)
{
    tensor *to = j->to;
    if (!j->begun && fibers_before(j, p)) return to->cx->diag.status;
    const int last = to->fmt.levels - 1;
    int64_t places = 1;
    for (int l = 0; l <= last; l++) {
        const level *lv = &to->level[l];
        const bool appended = !computed(lv->kind);
        if (appended && room_of_level(j, p, l, l ? places : 0)) return to->cx->diag.status;
        places = appended ? NONE : lv->kind->size(lv, places);
    }
    if (!j->begun && tensor_extend_values(to, p->at[last].to)) return to->cx->diag.status;
    return tensor_reserve_values(to, p->at[last].to + length(p, last));
}

void join_place(tensor_join *j, const tensor_part *p)
{
    for (int l = 0; l < j->to->fmt.levels; l++) {
        append_room before = j->room[l];
        if (!j->begun && l > 0 && !computed(j->to->level[l].kind))
            room_close(&before, p->at[l - 1].to, before.pos);
        j->end[l] = p->at[l].to + length(p, l);
    }
    j->begun = true;
}

void join_end(tensor_join *j)
{
    tensor *to = j->to;
    const int last = to->fmt.levels - 1;
    for (int l = 0; l <= last; l++) {
        level *lv = &to->level[l];
        if (!computed(lv->kind))
            lv->kind->join_done(lv, j->end[l] - lv->size, l ? j->end[l - 1] : 0);
    }
    if (j->end[last] > to->nvals) to->nvals = j->end[last];
}

/* ---- copying ------------------------------------------------------------------- */

/* `own`: the bytes of the block at `all`, if it is the tensor's own. */
static void copy_run(const tensor_join *j, void *all, int64_t own, char *to,
                     const char *from, int64_t n)
{
    if (own)
        mem_put(j->to->cx, all, (size_t)own, to, from, (size_t)n);
    else if (n > 0)
        memcpy(to, from, (size_t)n);
}

static void copy_coords(const tensor_join *j, const tensor_part *p, int l)
{
    const append_room *room = &j->room[l];
    const int64_t n = length(p, l), to = p->at[l].to - room->pos;
    fiber_table f;
    p->from->level[l].kind->table(&p->from->level[l], &f);
    if (f.width == room->width) {
        const int64_t width = f.width;
        const index_array *a = &j->to->level[l].a[STC_CRD];
        copy_run(j, a->data, a->owned ? a->cap * width : 0, (char *)room->crd + to * width,
                 (const char *)f.crd + p->at[l].begin * width, n * width);
        return;
    }
    for (int64_t k = 0; k < n; k++)
        put(room->crd, room->width, to + k, get(f.crd, f.width, p->at[l].begin + k));
}

/* Those of the part are moved where they are, and only the last is asked for again: what
 * its tensor holds behind the part begins there. */
static void copy_bounds(const tensor_join *j, const tensor_part *p, int l)
{
    const append_room *room = &j->room[l];
    const index_array *a = &j->to->level[l].a[STC_POS];
    index_array *own = &p->from->level[l].a[STC_POS];
    const int64_t width = room->bounds_width, n = length(p, l - 1);
    const int64_t move = p->at[l].to - p->at[l].begin;
    const int64_t from = p->at[l - 1].begin - first_parent(&p->from->level[l]) + 1;
    char *to = (char *)room->bounds + (p->at[l - 1].to - room->closed) * width;
    if (own->width < width && index_widen(p->from->cx, own)) diag_clear(p->from->cx);
    if (own->width != width) {
        for (int64_t k = 0; k < n; k++)
            put(to, (int)width, k, index_get(own, from + k) + move);
        return;
    }
    for (int64_t k = from; k < from + n; k++)
        put(own->data, (int)width, k, get(own->data, (int)width, k) + move);
    copy_run(j, a->data, a->owned ? a->cap * width : 0, to,
             (const char *)own->data + from * width, n * width);
    if (n > 0) index_set(own, from + n - 1, p->at[l].end);
}

void join_copy(const tensor_join *j, const tensor_part *p)
{
    const int last = j->to->fmt.levels - 1;
    const int64_t size = (int64_t)type_size(j->to->type), n = length(p, last);
    for (int l = 0; l <= last; l++) {
        if (computed(j->to->level[l].kind)) continue;
        copy_coords(j, p, l);
        if (l > 0) copy_bounds(j, p, l);
    }
    const tensor *t = j->to;
    copy_run(j, t->vals, t->vals_owned ? t->vals_cap * size : 0,
             (char *)t->vals + p->at[last].to * size,
             (const char *)p->from->vals + p->at[last].begin * size, n * size);
}
