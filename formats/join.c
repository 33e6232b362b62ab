/* join.c: what threads assembled apart, put behind each other.
 *
 * A range of the first level's positions is a range on every level below it: on a
 * level that computes positions its multiple, on others what the bounds of its
 * ends say. So a part is one run of coordinates, of bounds and of values on each
 * level, and joining copies runs; bounds are moved by where the run comes to lie.
 */
#include "join.h"
#include <string.h>

static bool computed(const level_kind *k)
{
    return k->caps & CAP_INSERT && !k->arrays;
}

bool join_possible(const format *f)
{
    for (int l = 0; l < f->levels; l++) {
        const level_kind *k = f->level[l].kind;
        if (f->level[l].flags & FMT_INTERLEAVED || k->append_join) return false;
        if (!computed(k) && !(k->append_room && k->table)) return false;
    }
    return f->levels > 0;
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

/* The range below [begin, end) of level l - 1. */
static void descend(const tensor *t, int l, int64_t *begin, int64_t *end)
{
    const level *lv = &t->level[l];
    fiber_table f;
    if (computed(lv->kind)) {
        const int64_t each = lv->kind->size(lv, 1);
        *begin *= each;
        *end *= each;
        return;
    }
    lv->kind->table(lv, &f);
    if (!f.bounds) return;
    *begin = get(f.bounds, f.bounds_width, *begin);
    *end = get(f.bounds, f.bounds_width, *end);
}

/* Level l: what each part takes of it, and room for all. */
static stc_status begin_level(tensor_join *j, int l)
{
    level *lv = &j->to->level[l];
    const int64_t there = computed(lv->kind) ? 0 : lv->size;
    int64_t total = there, parents = 1;
    for (int k = 0; k < j->n; k++) {
        tensor_part *p = &j->part[k];
        if (l > 0) {
            p->at[l].begin = p->at[l - 1].begin;
            p->at[l].end = p->at[l - 1].end;
            descend(p->from, l, &p->at[l].begin, &p->at[l].end);
            parents = p->at[l - 1].to + p->at[l - 1].end - p->at[l - 1].begin;
        }
        p->at[l].to = total;
        total += p->at[l].end - p->at[l].begin;
    }
    if (!computed(lv->kind))
        return lv->kind->append_room(j->to->cx, lv, total - there, parents, &j->room[l]);
    const int64_t each = l ? lv->kind->size(lv, 1) : 1;
    for (int k = 0; k < j->n; k++) /* positions follow from those above */
        j->part[k].at[l].to = l ? j->part[k].at[l - 1].to * each : j->part[k].at[l].begin;
    return STC_OK;
}

stc_status join_begin(tensor_join *j)
{
    tensor *to = j->to;
    const int last = to->fmt.levels - 1;
    for (int l = 0; l <= last; l++)
        if (begin_level(j, l)) return to->cx->diag.status;
    /* what is there may end in the middle of a fiber whose places all have values */
    if (tensor_extend_values(to, j->part[0].at[last].to)) return to->cx->diag.status;
    const tensor_part *p = &j->part[j->n - 1];
    return tensor_reserve_values(to, p->at[last].to + p->at[last].end - p->at[last].begin);
}

static void copy_coords(const tensor_join *j, const tensor_part *p, int l)
{
    const append_room *room = &j->room[l];
    const int64_t n = p->at[l].end - p->at[l].begin, to = p->at[l].to - room->pos;
    fiber_table f;
    p->from->level[l].kind->table(&p->from->level[l], &f);
    if (f.width == room->width && f.stride == f.width) {
        const size_t width = (size_t)f.width;
        if (n > 0)
            memcpy((char *)room->crd + (size_t)to * width,
                   (const char *)f.crd + (size_t)p->at[l].begin * width, (size_t)n * width);
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        const char *at = (const char *)f.crd + (p->at[l].begin + k) * f.stride;
        put(room->crd, room->width, to + k, get(at, f.width, 0));
    }
}

static void copy_bounds(const tensor_join *j, const tensor_part *p, int l)
{
    const append_room *room = &j->room[l];
    const int width = room->bounds_width;
    fiber_table f;
    if (!room->bounds) return;
    p->from->level[l].kind->table(&p->from->level[l], &f);
    if (l == 0) { /* one fiber: the last part knows where it ends */
        if (p == &j->part[j->n - 1])
            put(room->bounds, width, 1, p->at[0].to + p->at[0].end - p->at[0].begin);
        return;
    }
    const int64_t from = p->at[l - 1].begin, n = p->at[l - 1].end - from;
    const int64_t to = p->at[l - 1].to, move = p->at[l].to - p->at[l].begin;
    if (p == j->part)
        for (int64_t k = room->closed; k < to; k++)
            put(room->bounds, width, k + 1, room->pos);
    if (width == 4 && f.bounds_width == 4) {
        const int32_t *bounds = (const int32_t *)f.bounds + from + 1;
        int32_t *out = (int32_t *)room->bounds + to + 1;
        for (int64_t k = 0; k < n; k++)
            out[k] = (int32_t)(bounds[k] + move);
        return;
    }
    for (int64_t k = 0; k < n; k++)
        put(room->bounds, width, to + k + 1,
            get(f.bounds, f.bounds_width, from + k + 1) + move);
}

void join_part(const tensor_join *j, int k)
{
    const tensor_part *p = &j->part[k];
    const int last = j->to->fmt.levels - 1;
    const size_t size = type_size(j->to->type);
    for (int l = 0; l <= last; l++) {
        if (computed(j->to->level[l].kind)) continue;
        copy_coords(j, p, l);
        copy_bounds(j, p, l);
    }
    const int64_t n = p->at[last].end - p->at[last].begin;
    if (n > 0)
        memcpy((char *)j->to->vals + (size_t)p->at[last].to * size,
               (const char *)p->from->vals + (size_t)p->at[last].begin * size,
               (size_t)n * size);
}

void join_end(tensor_join *j)
{
    tensor *to = j->to;
    const tensor_part *p = &j->part[j->n - 1];
    int64_t parents = 1, total = 0;
    for (int l = 0; l < to->fmt.levels; l++) {
        level *lv = &to->level[l];
        total = p->at[l].to + p->at[l].end - p->at[l].begin;
        if (!computed(lv->kind)) lv->kind->append_done(lv, total - lv->size, parents);
        parents = total;
    }
    if (total > to->nvals) to->nvals = total;
}
