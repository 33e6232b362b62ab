/* level_slots.c: `hashed` with a width, as in hashed(16): as many slots below each parent.
 *
 * STC_CRD has the slots of one parent after those of another, `width` each: a coordinate,
 * or base - 1 (-1 for a plain mode) where a slot is free. The search for coordinate i
 * begins at slot (i - base) mod width and goes on to the next one, cyclically, until it
 * finds i or a free slot. A coordinate's position is its slot, and what is below a free one
 * is padding: so every place is known before anything is stored, and none of them moves.
 * Formats paper, §3.1, tables 2 and 4: the width is W, and isn't rounded. With `nonunique`
 * each time that a coordinate occurs takes a slot: the next free one. level_hashed.c,
 * without a width, has a list of coordinates a parent, and a table of their positions.
 */
#include "kinds.h"

static int64_t width_of(const level *lv)
{
    return lv->param[0];
}

/* Where the search for coordinate i of the extent ends, in the fiber whose slots begin at
 * `first`: at its slot, at the free one where it would go, or at NONE: there is neither. */
static int64_t search(const level *lv, int64_t first, int64_t i)
{
    const index_array *crd = &lv->a[STC_CRD];
    const int64_t width = width_of(lv), home = (i - lv->base) % width;
    for (int64_t s = home; s < width; s++) {
        const int64_t there = index_get(crd, first + s);
        if (there == i || there == unlabeled(lv)) return first + s;
    }
    for (int64_t s = 0; s < home; s++) {
        const int64_t there = index_get(crd, first + s);
        if (there == i || there == unlabeled(lv)) return first + s;
    }
    return NONE;
}

static int64_t home_of(const level *lv, int64_t first, int64_t i)
{
    return first + (i - lv->base) % width_of(lv);
}

/* The first free slot that a search for coordinate i comes to from slot p on: NONE if all
 * are taken. */
static int64_t free_from(const level *lv, int64_t first, int64_t i, int64_t p)
{
    const int64_t end = first + width_of(lv), home = home_of(lv, first, i);
    do {
        if (index_get(&lv->a[STC_CRD], p) == unlabeled(lv)) return p;
        p = p + 1 == end ? first : p + 1;
    } while (p != home);
    return NONE;
}

/* How many slots a search from slot `from` on looked at that ended at p. */
static uint64_t steps_to(const level *lv, int64_t from, int64_t p)
{
    if (p == NONE) return (uint64_t)width_of(lv);
    return (uint64_t)(p < from ? p - from + width_of(lv) : p - from) + 1;
}

static int64_t find(const level *lv, int64_t parent, int64_t i)
{
    if (!in_extent(lv, i)) return NONE;
    const int64_t p = search(lv, parent * width_of(lv), i);
    return p != NONE && index_get(&lv->a[STC_CRD], p) == i ? p : NONE;
}

/* ---- reading --------------------------------------------------------------------------
 */

static void settle(cursor *c)
{
    const index_array *crd = &c->lv->a[STC_CRD];
    while (c->p < c->end && index_get(crd, c->p) == unlabeled(c->lv))
        c->p++;
    group_settle(c);
}

static void slots_open(cursor *c, const level *lv, const cursor *up)
{
    int64_t parent, end;
    cursor_begin(c, lv, up);
    if (!parent_range(up, &parent, &end)) {
        cursor_used_up(c);
        return;
    }
    const int64_t there =
        lv->a[STC_CRD].len; /* of what isn't verified yet, perhaps fewer */
    c->p = parent * width_of(lv);
    c->end = c->p + width_of(lv) < there ? c->p + width_of(lv) : there;
    settle(c);
}

static void slots_next(cursor *c)
{
    c->p = c->pos_end;
    settle(c);
}

static void slots_locate(cursor *c, const level *lv, const cursor *up, int64_t i)
{
    int64_t parent, end;
    const bool there = parent_range(up, &parent, &end);
    cursor_place(c, lv, up, i, there ? find(lv, parent, i) : NONE);
}

static int64_t slots_locate_many(const level *lv, int64_t parent, const void *crd,
                                 int32_t width, int32_t stride, int64_t n, int64_t *pos)
{
    int64_t count = 0;
    for (int64_t k = 0; k < n; k++) {
        pos[k] = find(lv, parent, crd_at(crd, width, stride, k));
        count += pos[k] != NONE;
    }
    return count;
}

static int64_t slots_put(level *lv, int64_t parent, int64_t i)
{
    const int64_t p = search(lv, parent * width_of(lv), i);
    if (p != NONE) index_set(&lv->a[STC_CRD], p, i);
    return p;
}

static void slots_unput(level *lv, int64_t pos)
{
    index_set(&lv->a[STC_CRD], pos, unlabeled(lv));
}

static void slots_table(const level *lv, fiber_table *out)
{
    const index_array *crd = &lv->a[STC_CRD];
    *out = (fiber_table){.shape = VIEW_GAPS,
                         .crd = crd->data,
                         .width = crd->width,
                         .stride = crd->stride,
                         .slots = width_of(lv),
                         .lo = lv->base,
                         .hi = lv->base + lv->extent};
}

static int64_t slots_size(const level *lv, int64_t parents)
{
    int64_t size;
    return parents != NONE && size_mul(parents, width_of(lv), &size) ? size : NONE;
}

/* ---- assembly -------------------------------------------------------------------------
 */

static stc_status slots_of(ctx *cx, const level *lv, int64_t parents, int64_t *size)
{
    if (size_mul(parents, width_of(lv), size)) return STC_OK;
    return fail(cx, STC_ERR_OVERFLOW,
                "%lld fibers of %lld slots are more than 64 bits can count",
                (long long)parents, (long long)width_of(lv));
}

/* There are at least `size` slots; new ones are free. */
static stc_status cover(ctx *cx, level *lv, int64_t size)
{
    return index_cover(cx, &lv->a[STC_CRD], size, unlabeled(lv));
}

static stc_status clear(ctx *cx, level *lv, int64_t size)
{
    index_empty(cx, &lv->a[STC_CRD], largest_coord(lv), lv->width);
    lv->size = lv->open_count = lv->edges = 0;
    return cover(cx, lv, size);
}

static stc_status slots_init(ctx *cx, level *lv, int64_t parents)
{
    int64_t size = 0;
    if (parents != NONE && slots_of(cx, lv, parents, &size)) return cx->diag.status;
    return clear(cx, lv, size);
}

static stc_status slots_coord(ctx *cx, level *lv, int64_t parent, int64_t i, int64_t *pos)
{
    const int64_t width = width_of(lv);
    int64_t first, end;
    if (!in_extent(lv, i)) return refuse_append(cx, lv, i, 0);
    if (slots_of(cx, lv, parent, &first)) return cx->diag.status;
    if (!size_add(first, width, &end)) return slots_of(cx, lv, INT64_MAX, &end);
    if (cover(cx, lv, end)) return cx->diag.status;
    *pos = lv->props & PROP_UNIQUE ? search(lv, first, i)
                                   : free_from(lv, first, i, home_of(lv, first, i));
    if (*pos == NONE)
        return fail(
            cx, STC_ERR_OVERFLOW,
            "fiber %lld of a result has more than the %lld coordinates of its width: "
            "there is no slot for coordinate %lld",
            (long long)parent, (long long)width, (long long)i);
    index_set(&lv->a[STC_CRD], *pos, i);
    return work_done(cx, steps_to(lv, home_of(lv, first, i), *pos));
}

static stc_status slots_finish(ctx *cx, level *lv, int64_t parents)
{
    if (slots_of(cx, lv, parents, &lv->size) || cover(cx, lv, lv->size))
        return cx->diag.status;
    if (lv->a[STC_CRD].len == lv->size) return STC_OK;
    return fail(cx, STC_ERR_CORRUPT, "a result has %lld fibers for %lld parents",
                (long long)(lv->a[STC_CRD].len / width_of(lv)), (long long)parents);
}

/* Whether entry e needs no other slot than the one before it, which is below the same
 * parent.
 */
static bool shares_slot(const level *lv, const pack_in *in, int64_t e)
{
    return in->coord[e] == in->coord[e - 1] &&
           (lv->props & PROP_UNIQUE || pack_same_chain(in, e));
}

/* Entry e finds no slot below `parent`, whose entries before it have one. */
static stc_status too_narrow(ctx *cx, const level *lv, const pack_in *in, int64_t e,
                             int64_t parent)
{
    int64_t n = width_of(lv) + 1;
    for (int64_t k = e + 1; k < in->count && in->pos[k] == parent; k++)
        n += !shares_slot(lv, in, k);
    return fail(cx, STC_ERR_OVERFLOW,
                "fiber %lld has %lld coordinates, and its width is %lld: expected no more",
                (long long)parent, (long long)n, (long long)width_of(lv));
}

static stc_status slots_pack(ctx *cx, level *lv, pack_in *in)
{
    index_array *crd = &lv->a[STC_CRD];
    int64_t size, last = NONE;
    if (slots_of(cx, lv, in->parents, &size) || clear(cx, lv, size)) return cx->diag.status;
    uint64_t steps = 0;
    for (int64_t e = 0; e < in->count; e++) {
        const int64_t i = in->coord[e], parent = in->pos[e], first = parent * width_of(lv);
        const bool again = parent == last && i == in->coord[e - 1];
        const int64_t from = again ? in->pos[e - 1] : home_of(lv, first, i);
        const int64_t p =
            again && shares_slot(lv, in, e) ? from : free_from(lv, first, i, from);
        if (p == NONE) return too_narrow(cx, lv, in, e, parent);
        index_set(crd, p, i);
        in->pos[e] = p;
        last = parent;
        steps += steps_to(lv, from, p);
        if (steps >= WORK_BLOCK || e + 1 == in->count) {
            if (work_done(cx, steps)) return cx->diag.status;
            steps = 0;
        }
    }
    lv->size = size;
    return STC_OK;
}

static stc_status misplaced(ctx *cx, const level *lv, int64_t p, int64_t ends)
{
    const int64_t first = p - p % width_of(lv);
    return fail(cx, STC_ERR_DATA,
                "coordinate %lld is in slot %lld, and the search for it ends at slot %lld "
                "of fiber %lld",
                (long long)index_get(&lv->a[STC_CRD], p), (long long)(p - first),
                (long long)(ends - first), (long long)(p / width_of(lv)));
}

/* Of several equal coordinates the search ends at the first: all of them lie before the
 * first free slot, which is so if the taken ones right before each go back to its home. */
static stc_status check_repeated(ctx *cx, const level *lv, int64_t first)
{
    const index_array *crd = &lv->a[STC_CRD];
    const int64_t width = width_of(lv);
    int64_t taken = 0; /* slots in a row, cyclically, that end before p */
    while (taken < width && index_get(crd, first + width - 1 - taken) != unlabeled(lv))
        taken++;
    for (int64_t p = first; p < first + width; p++) {
        const int64_t i = index_get(crd, p);
        if (work_due(cx, p)) return cx->diag.status;
        if (i == unlabeled(lv)) {
            taken = 0;
            continue;
        }
        if (!in_extent(lv, i)) return bad_coord(cx, lv, p, i);
        const int64_t home = home_of(lv, first, i);
        if ((int64_t)steps_to(lv, home, p) > taken + 1)
            return misplaced(cx, lv, p, free_from(lv, first, i, home));
        taken += taken < width;
    }
    return STC_OK;
}

/* Each coordinate is where the search for it ends. */
static stc_status check_single(ctx *cx, const level *lv, int64_t first)
{
    for (int64_t p = first; p < first + width_of(lv); p++) {
        const int64_t i = index_get(&lv->a[STC_CRD], p);
        if (work_due(cx, p)) return cx->diag.status;
        if (i == unlabeled(lv)) continue;
        if (!in_extent(lv, i)) return bad_coord(cx, lv, p, i);
        const int64_t ends = search(lv, first, i);
        if (work_done(cx, steps_to(lv, home_of(lv, first, i), ends)))
            return cx->diag.status;
        if (ends != p) return misplaced(cx, lv, p, ends);
    }
    return STC_OK;
}

static stc_status slots_check(ctx *cx, level *lv, int64_t parents)
{
    int64_t size;
    if (slots_of(cx, lv, parents, &size) || check_array(cx, &lv->a[STC_CRD], "slots", size))
        return cx->diag.status;
    for (int64_t first = 0; first < size; first += width_of(lv))
        if (lv->props & PROP_UNIQUE ? check_single(cx, lv, first)
                                    : check_repeated(cx, lv, first))
            return cx->diag.status;
    lv->size = size;
    return STC_OK;
}

const level_kind level_slots = {
    .name = "hashed",
    .takes = "width",
    .caps = CAP_ITER | CAP_LOCATE | CAP_APPEND | CAP_PACK,
    .props = PROP_UNIQUE,
    .arrays = 1 << STC_CRD,
    .open = slots_open,
    .next = slots_next,
    .locate = slots_locate,
    .locate_many = slots_locate_many,
    .put = slots_put,
    .unput = slots_unput,
    .view = no_view,
    .table = slots_table,
    .size = slots_size,
    .append_init = slots_init,
    .append_coord = slots_coord,
    .append_edges = places_edges,
    .append_finish = slots_finish,
    .pack = slots_pack,
    .check = slots_check,
};
