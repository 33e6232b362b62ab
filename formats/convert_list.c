/* convert_list.c: a tensor as a list of its entries, coordinates side by side: coo and kin.
 *
 * What tensor_convert tries for targets in which each entry has a position in every level:
 * a first level that keeps duplicates, and below it levels of one coordinate a parent.
 * Where the source has its entries in the target's order, and all fibers of its levels as
 * plain memory, each level is written at once: the last one's coordinates and the values
 * are copied, and those of a level above are repeated as often as entries lie below them,
 * which is where the fibers below end (fibers of parents that follow each other lie side by
 * side). So an entry costs a few stores, whatever the order and however short the fibers.
 */
#include "internal.h"
#include "kinds.h"
#include <string.h>

/* The source: its levels' fibers, and how many entries there are. */
typedef struct listed {
    int last; /* level */
    int64_t n;
    fiber_table level[STC_MAX_ORDER];
} listed;

/* Whether level l of the list has one coordinate for each position above, at that. */
static bool takes_one(const level *lv)
{
    enum { ASK = PROP_BRANCHLESS | PROP_COMPACT };
    return lv->kind->caps & CAP_CHAIN && (lv->props & ASK) == ASK &&
           lv->kind->arrays == 1 << STC_CRD;
}

static bool takes_list(const tensor *c)
{
    const level *lv = c->level;
    if (c->fmt.levels < 2 || !format_is_plain(&c->fmt) || lv->props & PROP_UNIQUE ||
        !(lv->kind->caps & CAP_CHAIN) || !lv->kind->append_room)
        return false;
    for (int l = 1; l < c->fmt.levels; l++)
        if (!takes_one(&lv[l])) return false;
    return true;
}

/* Whether the source's entries come in the target's order, each once, from plain memory. */
static bool open_listed(const tensor *t, const tensor *c, listed *from)
{
    int held[STC_MAX_ORDER];
    from->last = t->fmt.levels - 1;
    from->n = t->level[from->last].size;
    if (tensor_held_order(t, held) != t->order || !tensor_unique(t, from->last))
        return false;
    for (int l = 0; l <= from->last; l++) {
        fiber_table *at = &from->level[l];
        if (held[l] != c->fmt.level[l].map.mode || !t->level[l].kind->table) return false;
        t->level[l].kind->table(&t->level[l], at);
        if (at->shape != VIEW_COORDS && (at->shape != VIEW_RANGE || l == from->last))
            return false;
    }
    return true;
}

/* Entries that lie below positions before p of level l. */
static int64_t entries_before(const listed *from, int l, int64_t p)
{
    while (l++ < from->last) {
        const fiber_table *t = &from->level[l];
        const index_array bound = {.data = (void *)(uintptr_t)t->bounds,
                                   .width = t->bounds_width,
                                   .stride = t->bounds_width};
        if (t->shape == VIEW_RANGE)
            p *= t->hi - t->lo;
        else if (t->bounds)
            p = index_get(&bound, p);
    }
    return p;
}

/* The first position from q on, of `size`, below which there are entries behind the first
 * `done`: found in some steps for each doubling of what lies between. */
static int64_t next_filled(const listed *from, int l, int64_t q, int64_t size, int64_t done)
{
    int64_t end = q + 1;
    for (int64_t step = 2; entries_before(from, l, end) <= done; step *= 2) {
        if (end == size) return size;
        q = end;
        end = step < size - q ? q + step : size;
    }
    while (end - q > 1) { /* none before q, some before end */
        const int64_t middle = q + (end - q) / 2;
        if (entries_before(from, l, middle) > done)
            end = middle;
        else
            q = middle;
    }
    return q;
}

/* The coordinates of level l: that of each position as often as entries lie below it. */
static stc_status put_level(ctx *cx, const listed *from, int l, int64_t size,
                            index_array *to)
{
    const fiber_table *t = &from->level[l];
    const index_array crd = {
        .data = (void *)(uintptr_t)t->crd, .width = t->width, .stride = t->stride};
    const int64_t extent = t->shape == VIEW_RANGE ? t->hi - t->lo : 0;
    int64_t fiber = 0; /* the first position of a range */
    for (int64_t q = 0, done = 0, before; q < size && done < from->n; q++, done = before) {
        q = next_filled(from, l, q, size, done);
        if (q == size) break;
        before = entries_before(from, l, q + 1);
        if (before / WORK_BLOCK > done / WORK_BLOCK &&
            work_done(cx, (uint64_t)(before - done)))
            return cx->diag.status;
        if (extent && q - fiber >= extent) fiber = q - q % extent;
        index_fill(to, done, before, extent ? t->lo + q - fiber : index_get(&crd, q));
    }
    return STC_OK;
}

/* The last level's coordinates, as they are. */
static stc_status put_last(ctx *cx, const listed *from, index_array *to)
{
    const fiber_table *t = &from->level[from->last];
    if (t->width == to->width && t->stride == t->width)
        return work_copy(cx, to->data, t->crd, (size_t)from->n * (size_t)t->width);
    const index_array crd = {
        .data = (void *)(uintptr_t)t->crd, .width = t->width, .stride = t->stride};
    for (int64_t q = 0, end; q < from->n; q = end) {
        if ((end = work_block(cx, q, from->n)) == q) return cx->diag.status;
        for (int64_t k = q; k < end; k++)
            index_set(to, k, index_get(&crd, k));
    }
    return STC_OK;
}

/* The first level's array, as its kind gives it, with the end of its only fiber. */
static stc_status begin_list(tensor *c, int64_t n, index_array *first)
{
    level *lv = &c->level[0];
    append_room room;
    tensor_reset(c);
    if (lv->kind->append_init(c->cx, lv, 1) ||
        lv->kind->append_room(c->cx, lv, n, 1, &room))
        return c->cx->diag.status;
    room_close(&room, 1, n);
    *first = (index_array){.data = room.crd, .width = room.width, .stride = room.width};
    return STC_OK;
}

static stc_status put_list(const tensor *t, const listed *from, tensor *c)
{
    ctx *const cx = c->cx;
    const int64_t n = from->n;
    index_array first;
    if (begin_list(c, n, &first)) return cx->diag.status;
    for (int l = 0; l <= from->last; l++) {
        level *lv = &c->level[l];
        index_array *to = l ? &lv->a[STC_CRD] : &first;
        if (l && index_ready(cx, to, largest_coord(lv), lv->width, n))
            return cx->diag.status;
        if (l < from->last ? put_level(cx, from, l, t->level[l].size, to)
                           : put_last(cx, from, to))
            return cx->diag.status;
        lv->size = n;
    }
    c->level[0].kind->append_done(&c->level[0], n, 1);
    if (c->level[0].kind->append_finish(cx, &c->level[0], 1) || tensor_reserve_values(c, n))
        return cx->diag.status;
    if (c->type == t->type ? work_copy(cx, c->vals, t->vals, (size_t)n * type_size(t->type))
                           : convert_elements(cx, c->type, c->vals, t->type, t->vals, n))
        return cx->diag.status;
    c->nvals = n;
    return tensor_interleave(c);
}

stc_status convert_to_list(const tensor *t, tensor *c, bool *done)
{
    listed from;
    *done = takes_list(c) && open_listed(t, c, &from);
    if (!*done) return STC_OK;
    if (put_list(t, &from, c)) return c->cx->diag.status;
    c->generation++;
    c->checked = c->generation;
    return STC_OK;
}
