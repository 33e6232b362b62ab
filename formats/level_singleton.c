/* level_singleton.c: one coordinate for each parent, at the parent's position.
 *
 * STC_CRD has one coordinate per parent. Where parents may lack a child (a
 * dense level above, as in ELL) the level isn't compact, and base - 1 (-1 for a
 * plain mode) marks an unlabeled position: what lies below it is padding. Formats paper,
 * §3.1.
 */
#include "kinds.h"

static void settle(cursor *c)
{
    const level *lv = c->lv;
    const index_array *crd = &lv->a[STC_CRD];
    if (!(lv->props & PROP_COMPACT)) {
        while (c->p < c->end && index_get(crd, c->p) == unlabeled(lv))
            c->p++;
    }
    group_settle(c);
}

static void singleton_open(cursor *c, const level *lv, const cursor *up)
{
    cursor_begin(c, lv, up);
    if (!parent_range(up, &c->p, &c->end)) {
        cursor_used_up(c);
        return;
    }
    settle(c);
}

static void singleton_next(cursor *c)
{
    c->p = c->pos_end;
    settle(c);
}

/* Places without a label are in no order: they are stepped over. */
static void singleton_seek(cursor *c, int64_t i)
{
    if (c->lv->props & PROP_COMPACT) {
        group_seek(c, i);
        return;
    }
    while (c->hi <= i)
        singleton_next(c);
}

static void singleton_view(const level *lv, int64_t parent, int64_t parent_coord,
                           fiber_view *v)
{
    const index_array *crd = &lv->a[STC_CRD];
    (void)parent_coord;
    const bool labeled =
        lv->props & PROP_COMPACT || index_get(crd, parent) != unlabeled(lv);
    *v = (fiber_view){.shape = VIEW_COORDS,
                      .crd = crd->data,
                      .width = crd->width,
                      .stride = crd->stride,
                      .begin = parent,
                      .end = parent + labeled,
                      .lo = lv->base,
                      .hi = lv->base + lv->extent};
}

static void singleton_table(const level *lv, fiber_table *out)
{
    const index_array *crd = &lv->a[STC_CRD];
    *out = (fiber_table){.shape = lv->props & PROP_COMPACT ? VIEW_COORDS : VIEW_GAPS,
                         .crd = crd->data,
                         .width = crd->width,
                         .stride = crd->stride,
                         .lo = lv->base,
                         .hi = lv->base + lv->extent};
}

/* Parents [*next, end) have no coordinate. */
static stc_status leave_out(ctx *cx, level *lv, int64_t *next, int64_t end)
{
    for (int64_t stop; (stop = work_block(cx, *next, end)) > *next;)
        for (; *next < stop; ++*next)
            index_set(&lv->a[STC_CRD], *next, unlabeled(lv));
    return *next < end ? cx->diag.status : STC_OK;
}

static stc_status singleton_pack(ctx *cx, level *lv, pack_in *in)
{
    index_array *crd = &lv->a[STC_CRD];
    if (index_ready(cx, crd, largest_coord(lv), lv->width, in->parents)) {
        return cx->diag.status;
    }
    int64_t next = 0; /* parents below it have their coordinate */
    for (int64_t e = 0; e < in->count; e++) {
        const int64_t p = in->pos[e], i = in->coord[e];
        if (work_due(cx, e)) return cx->diag.status;
        if (p < next) {
            if (index_get(crd, p) == i) continue;
            return fail(cx, STC_ERR_DATA,
                        "two coordinates, %lld and %lld, below position %lld of the level "
                        "above: a singleton level holds one",
                        (long long)index_get(crd, p), (long long)i, (long long)p);
        }
        if (leave_out(cx, lv, &next, p)) return cx->diag.status;
        index_set(crd, next++, i);
    }
    if (leave_out(cx, lv, &next, in->parents)) return cx->diag.status;
    lv->size = in->parents;
    return STC_OK;
}

static stc_status singleton_check(ctx *cx, level *lv, int64_t parents)
{
    const index_array *crd = &lv->a[STC_CRD];
    if (check_array(cx, crd, "coordinates", parents)) return cx->diag.status;
    const bool compact = lv->props & PROP_COMPACT;
    for (int64_t p = 0; p < parents; p++) {
        const int64_t i = index_get(crd, p);
        if (work_due(cx, p)) return cx->diag.status;
        if (!in_extent(lv, i) && (compact || i != unlabeled(lv)))
            return bad_coord(cx, lv, p, i);
    }
    lv->size = parents;
    return STC_OK;
}

const level_kind level_singleton = {
    .name = "singleton",
    .letter = 'q',
    .caps = CAP_ITER | CAP_PACK | CAP_CHAIN | CAP_SUBSECT | CAP_POSITION,
    .props = PROP_ORDERED | PROP_UNIQUE | PROP_BRANCHLESS | PROP_COMPACT,
    .fixed = PROP_BRANCHLESS,
    .arrays = 1 << STC_CRD,
    .open = singleton_open,
    .next = singleton_next,
    .seek = singleton_seek,
    .view = singleton_view,
    .table = singleton_table,
    .size = chain_size,
    .pack = singleton_pack,
    .check = singleton_check,
};
