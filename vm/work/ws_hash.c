/* ws_hash.c: the policy `hash`: entries are found again by a hash of their
 * label, so that the accumulation array has each of them once (workspaces
 * paper, §5.2 and §7.1).
 *
 * Open addressing. Slots hold accumulation indices plus a base that grows from
 * batch to batch: what earlier batches left counts as empty, and nothing has
 * to be cleared.
 */
#include "ws.h"

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
static int64_t slot_of(const workspace *w, const uint64_t *label)
{
    const int64_t mask = w->heads - 1;
    int64_t at = (int64_t)hash_of(w, label) & mask;
    while (w->head[at] >= w->base &&
           !ws_label_equal(w, ws_label_of(w, &w->acc, w->head[at] - w->base), label))
        at = (at + 1) & mask;
    return at;
}

/* Twice the slots, or the first ones, for all entries. */
static stc_status enlarge(ctx *cx, workspace *w)
{
    const int64_t heads = w->heads ? 2 * w->heads : 64;
    int64_t *head = mem_zero(cx, heads, sizeof *head);
    if (!head) return cx->diag.status;
    mem_free(cx, w->head, (size_t)w->heads * sizeof *head);
    w->head = head;
    w->heads = heads;
    for (int64_t k = 0; k < w->acc.n; k++)
        w->head[slot_of(w, ws_label_of(w, &w->acc, k))] = w->base + k;
    return STC_OK;
}

static int64_t hash_find(const workspace *w, const uint64_t *label)
{
    if (!w->heads) return NONE;
    const int64_t id = w->head[slot_of(w, label)] - w->base;
    return id >= 0 ? id : NONE;
}

static stc_status hash_enter(ctx *cx, workspace *w, int64_t id)
{
    if (!w->regroup) return STC_OK; /* no label is looked up */
    if (2 * w->acc.n > w->heads) return enlarge(cx, w);
    w->head[slot_of(w, ws_label_of(w, &w->acc, id))] = w->base + id;
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
                              .find = hash_find,
                              .enter = hash_enter,
                              .sort = ws_sort_labels,
                              .clear = hash_clear,
                              .free = hash_free};
