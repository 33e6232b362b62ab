/* ws_host.c: policies that the host registered (vm/code/policies.h).
 *
 * The host's functions see a stc_workspace, made for each call, and keep what is theirs in
 * its `state`. What they answer is looked at before it is used: an entry that they find has
 * the label that was asked for, an order that they make has each entry once, ascending.
 */
#include "ws.h"

static stc_workspace show(const workspace *w)
{
    return (stc_workspace){.words = w->form.words,
                           .entries = w->acc.n,
                           .labels = w->acc.label,
                           .capacity = w->capacity,
                           .state = w->state};
}

static int64_t host_seek(const workspace *w, const uint64_t *label)
{
    const stc_workspace_policy *h = w->policy;
    const stc_workspace view = show(w);
    const int64_t id = h->find ? h->find(h->context, &view, label) : NONE;
    return id >= 0 && id < w->acc.n && ws_label_equal(w, ws_label_of(w, &w->acc, id), label)
               ? id
               : NONE;
}

static stc_status settled(ctx *cx, const workspace *w, stc_status st)
{
    return st ? fail(cx, st, "the workspace policy `%s` failed", w->policy->name) : STC_OK;
}

static stc_status host_enter(ctx *cx, workspace *w, int64_t id)
{
    const stc_workspace_policy *h = w->policy;
    stc_workspace view = show(w);
    if (!h->enter) return STC_OK;
    const stc_status st = h->enter(h->context, &view, id);
    w->state = view.state;
    return settled(cx, w, st);
}

/* Each entry once: numbers ascend with labels, and where these are equal, by themselves. */
static bool in_order(const workspace *w)
{
    for (int64_t k = 0; k < w->acc.n; k++) {
        const int64_t id = w->record[k].id;
        if (id < 0 || id >= w->acc.n) return false;
        if (!k) continue;
        const int64_t before = w->record[k - 1].id;
        const int c = ws_label_compare(w, ws_label_of(w, &w->acc, before),
                                       ws_label_of(w, &w->acc, id));
        if (c > 0 || (c == 0 && before >= id)) return false;
    }
    return true;
}

static stc_status host_sort(machine *mc, workspace *w)
{
    const stc_workspace_policy *h = w->policy;
    const int64_t n = w->acc.n;
    stc_workspace view = show(w);
    if (!h->sort) return ws_sort_labels(mc, w);
    if (ws_record_room(mc->cx, w, n)) return mc->cx->diag.status;
    /* numbers into the second half, which is free */
    int64_t *order = (int64_t *)(w->record + w->record_cap);
    for (int64_t k = 0; k < n; k++)
        order[k] = NONE;
    const stc_status st = h->sort(h->context, &view, order);
    w->state = view.state;
    if (st) return settled(mc->cx, w, st);
    for (int64_t k = 0; k < n; k++)
        w->record[k] = (ws_record){0, order[k]};
    if (in_order(w)) return STC_OK;
    return fail(mc->cx, STC_ERR_DATA,
                "the workspace policy `%s` sorted %lld entries, and they aren't in order",
                h->name, (long long)n);
}

static void host_clear(workspace *w)
{
    const stc_workspace_policy *h = w->policy;
    stc_workspace view = show(w);
    if (h->clear) h->clear(h->context, &view);
    w->state = view.state;
}

static void host_free(ctx *cx, workspace *w)
{
    const stc_workspace_policy *h = w->policy;
    (void)cx;
    if (h && h->end && w->state) h->end(h->context, w->state);
    w->state = NULL;
}

const ws_kind ws_kind_host = {.name = "the host's",
                              .find = host_seek,
                              .enter = host_enter,
                              .sort = host_sort,
                              .clear = host_clear,
                              .free = host_free};
