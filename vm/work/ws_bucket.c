/* ws_bucket.c: the policy `bucket`: a list of accumulation indices for each
 * value of the coordinate that is stored outermost (workspaces paper, §5.2,
 * bucket sort with h(i, j) = i).
 *
 * Where there are far more such coordinates than entries, neighbours share a
 * bucket, which keeps buckets in order. A list is searched for duplicates a
 * few entries back; what isn't found there waits for the merge.
 */
#include "ws.h"

enum { LOOK_BACK = 12, LEAST = 1024 };

static bool bucket_ready(machine *mc, slot *s)
{
    workspace *w = s->ws;
    const int64_t size = s->row->order ? s->own->shape[w->form.outer] : 1;
    const int64_t most = w->capacity < LEAST ? LEAST : 4 * w->capacity;
    w->down = 0;
    while (size >> w->down > most)
        w->down++;
    const int64_t heads = (size >> w->down) + 1;
    if (heads <= w->heads) return true;
    int64_t *head = mem_zero(mc->cx, heads, sizeof *head);
    if (!head) {
        diag_clear(mc->cx);
        return false;
    }
    mem_free(mc->cx, w->head, (size_t)w->heads * sizeof *head);
    w->head = head;
    w->heads = heads;
    return true;
}

static int64_t *bucket_of(const workspace *w, const uint64_t *label)
{
    return &w->head[ws_label_coord(&w->form, label, w->form.outer) >> w->down];
}

static int64_t bucket_find(const workspace *w, const uint64_t *label)
{
    int64_t id = *bucket_of(w, label) - w->base;
    for (int k = 0; id >= 0 && k < LOOK_BACK; k++, id = w->next[id])
        if (ws_label_equal(w, ws_label_of(w, &w->acc, id), label)) return id;
    return NONE;
}

static stc_status bucket_enter(ctx *cx, workspace *w, int64_t id)
{
    if (mem_grow(cx, &w->next, &w->next_cap, id + 1, sizeof *w->next))
        return cx->diag.status;
    int64_t *head = bucket_of(w, ws_label_of(w, &w->acc, id));
    w->next[id] = *head >= w->base ? *head - w->base : NONE;
    *head = w->base + id;
    return STC_OK;
}

/* Bucket by bucket, each list turned round; if some list is long, or labels
 * have several words, all at once instead. */
static stc_status bucket_sort(machine *mc, workspace *w)
{
    enum { LONG = 48 };
    const int64_t total = w->acc.n;
    if (w->form.words > 1 || w->heads > 8 * total + LEAST) return ws_sort_labels(mc, w);
    if (ws_record_room(mc->cx, w, total)) return mc->cx->diag.status;
    int64_t n = 0;
    for (int64_t b = 0; n < total; b++) { /* each entry is in one of them */
        int64_t id = w->head[b] - w->base, count = 0;
        if (id < 0) continue;
        for (int64_t k = id; k >= 0; k = w->next[k])
            count++;
        if (count > LONG) return ws_sort_labels(mc, w);
        for (int64_t to = n + count - 1; id >= 0; id = w->next[id], to--)
            w->record[to] = (ws_record){w->acc.label[id], id};
        ws_sort_few(w->record + n, count);
        n += count;
    }
    return STC_OK;
}

static void bucket_clear(workspace *w)
{
    w->base += w->acc.n;
}

static void bucket_free(ctx *cx, workspace *w)
{
    mem_free(cx, w->head, (size_t)w->heads * sizeof *w->head);
    mem_free(cx, w->next, (size_t)w->next_cap * sizeof *w->next);
    w->head = w->next = NULL;
    w->heads = w->next_cap = 0;
}

const ws_kind ws_kind_bucket = {.name = "bucket",
                                .ready = bucket_ready,
                                .find = bucket_find,
                                .enter = bucket_enter,
                                .sort = bucket_sort,
                                .clear = bucket_clear,
                                .free = bucket_free};
