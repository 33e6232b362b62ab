/* ws_coord.c: the policy `coord`: entries as they come, sorted when the
 * accumulation array is full (workspaces paper, §5.2, coordinate sort).
 *
 * What has the coordinates of the entry before it is merged at once; other
 * duplicates wait for the merge.
 */
#include "ws.h"

static bool coord_ready(machine *mc, slot *s)
{
    (void)mc;
    (void)s;
    return true;
}

static stc_status coord_insert(machine *mc, slot *s, const int64_t *coords, const value *v,
                               const lop *at)
{
    workspace *w = s->ws;
    uint64_t label[STC_MAX_ORDER];
    ws_label_put(&w->form, s->row->order, coords, label);
    const int64_t last = w->acc.n - 1;
    if (last >= 0 && w->regroup &&
        ws_label_equal(w, ws_label_of(w, &w->acc, last), label)) {
        const fn_fault fault = ws_fold(w, w->acc.val, last, v);
        return fault ? machine_fault(mc, at, fault) : STC_OK;
    }
    if (ws_room(mc, s, at)) return mc->cx->diag.status;
    ws_append(w, label, v);
    return STC_OK;
}

static void coord_clear(workspace *w)
{
    (void)w;
}

static void coord_free(ctx *cx, workspace *w)
{
    (void)cx;
    (void)w;
}

const ws_kind ws_kind_coord = {.name = "coord",
                               .ready = coord_ready,
                               .insert = coord_insert,
                               .sort = ws_sort_labels,
                               .clear = coord_clear,
                               .free = coord_free};
