/* ws_hash.c: the policy `hash`: entries are found again by a hash of their
 * label, so that the accumulation array has each of them once (workspaces
 * paper, §5.2 and §7.1).
 *
 * Open addressing. Slots hold accumulation indices plus a base that grows from
 * batch to batch: what earlier batches left counts as empty, and nothing has
 * to be cleared.
 */
#include "ws.h"
#include <string.h>

static bool hash_ready(machine *mc, slot *s)
{
    (void)mc;
    (void)s;
    return true;
}

static uint64_t hash_of(const workspace *w, const uint64_t *label)
{
    uint64_t h = 0;
    for (int k = 0; k < w->form.words; k++) {
        h = (h ^ label[k]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return h;
}

/* The slot of label, or the empty one where it belongs. */
static int64_t find(const workspace *w, const uint64_t *label)
{
    const int64_t mask = w->heads - 1;
    int64_t at = (int64_t)hash_of(w, label) & mask;
    while (w->head[at] >= w->base &&
           !ws_label_equal(w, ws_label_of(w, &w->acc, w->head[at] - w->base), label))
        at = (at + 1) & mask;
    return at;
}

/* Twice the slots, or the first ones. */
static stc_status enlarge(machine *mc, workspace *w)
{
    const int64_t heads = w->heads ? 2 * w->heads : 64;
    int64_t *head = mem_zero(mc->cx, heads, sizeof *head);
    if (!head) return mc->cx->diag.status;
    mem_free(mc->cx, w->head, (size_t)w->heads * sizeof *head);
    w->head = head;
    w->heads = heads;
    for (int64_t k = 0; k < w->acc.n; k++)
        w->head[find(w, ws_label_of(w, &w->acc, k))] = w->base + k;
    return STC_OK;
}

static stc_status hash_insert(machine *mc, slot *s, const int64_t *coords, const value *v,
                              const lop *at)
{
    workspace *w = s->ws;
    uint64_t label[STC_MAX_ORDER];
    ws_label_put(&w->form, s->row->order, coords, label);
    if (!w->regroup) { /* duplicates must wait until what came before is merged */
        if (ws_room(mc, s, at)) return mc->cx->diag.status;
        ws_append(w, label, v);
        return STC_OK;
    }
    if (2 * w->acc.n >= w->heads && enlarge(mc, w)) return mc->cx->diag.status;
    int64_t to = find(w, label);
    if (w->head[to] >= w->base) {
        const fn_fault fault = ws_fold(w, w->acc.val, w->head[to] - w->base, v);
        return fault ? machine_fault(mc, at, fault) : STC_OK;
    }
    const int64_t batch = w->base;
    if (ws_room(mc, s, at)) return mc->cx->diag.status;
    if (w->base != batch) to = find(w, label); /* a new batch: all slots are empty */
    w->head[to] = w->base + ws_append(w, label, v);
    return STC_OK;
}

static void hash_clear(workspace *w)
{
    w->base += w->acc.n;
}

static void hash_free(ctx *cx, workspace *w)
{
    mem_free(cx, w->head, (size_t)w->heads * sizeof *w->head);
    w->head = NULL;
    w->heads = 0;
}

const ws_kind ws_kind_hash = {.name = "hash",
                              .ready = hash_ready,
                              .insert = hash_insert,
                              .sort = ws_sort_labels,
                              .clear = hash_clear,
                              .free = hash_free};
