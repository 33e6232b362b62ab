/* ws_merge.c: the accumulation array into the all array, and how large the
 * accumulation array is.
 *
 * The all array is in order and has each label once. Merging is out of place,
 * from one all array to the other, which then change places (workspaces paper,
 * §5.3, double buffering); with `single`, through a copy that is made for each
 * merge. Entries that all come after what is there are just appended.
 */
#include "ws.h"
#include <string.h>

/* ---- lists ----------------------------------------------------------------------- */

stc_status ws_list_reserve(ctx *cx, const workspace *w, ws_list *l, int64_t n)
{
    const mem_row rows[] = {{(void **)&l->label, (size_t)w->form.words * sizeof *l->label},
                            {(void **)&l->val, w->size}};
    const stc_status st = mem_grow_rows(cx, rows, 2, &l->cap, n);
    if (!l->cap) l->n = 0;
    return st;
}

void ws_list_free(ctx *cx, const workspace *w, ws_list *l)
{
    mem_free(cx, l->label, (size_t)l->cap * (size_t)w->form.words * sizeof *l->label);
    mem_free(cx, l->val, (size_t)l->cap * w->size);
    *l = (ws_list){0};
}

static void put(const workspace *w, ws_list *to, int64_t at, const ws_list *from, int64_t k)
{
    const int words = w->form.words;
    for (int j = 0; j < words; j++)
        to->label[at * words + j] = from->label[k * words + j];
    if (w->size == 8)
        ((uint64_t *)to->val)[at] = ((const uint64_t *)from->val)[k];
    else
        memcpy(to->val + at * w->size, from->val + k * w->size, w->size);
}

/* ---- the accumulation array -------------------------------------------------------- */

int64_t ws_append(workspace *w, const uint64_t *label, const value *v)
{
    const int64_t k = w->acc.n++;
    const int words = w->form.words;
    for (int j = 0; j < words; j++)
        w->acc.label[k * words + j] = label[j];
    type_store(class_type(w->cls), w->acc.val, k, *v);
    return k;
}

stc_status ws_room(machine *mc, slot *s, const lop *at)
{
    workspace *w = s->ws;
    if (w->acc.n < w->acc.cap && w->acc.n < w->capacity) return STC_OK;
    if (w->acc.n >= w->capacity && ws_flush(mc, w, at, true)) return mc->cx->diag.status;
    return ws_list_reserve(mc->cx, w, &w->acc, w->acc.n + 1);
}

int64_t ws_operands(const machine *mc)
{
    int64_t n = 0;
    for (int k = 0; k < mc->p->ntensor; k++) {
        const slot *s = &mc->slot[k];
        const bool read = s->row->role <= ROLE_INOUT && s->row->role != ROLE_OUTPUT;
        if (read && s->bound && s->bound->nvals > n) n = s->bound->nvals;
    }
    return n;
}

/* After the paper, the next power of two from the operands' entries on. */
int64_t ws_default_capacity(const machine *mc)
{
    enum { LEAST = 1 << 8, MOST = 1 << 20 };
    const int64_t n = ws_operands(mc);
    int64_t capacity = LEAST;
    while (capacity < n && capacity < MOST)
        capacity *= 2;
    return capacity;
}

/* Three pieces, each linear in the all array's length (§5.1): merges are so few
 * that an entry is moved a bounded number of times, and the array never takes
 * much beside what has been collected. */
static int64_t grown(int64_t capacity, int64_t all)
{
    enum { FEW = 1 << 12, MANY = 1 << 20 };
    const int64_t n = all <= FEW    ? all / 2
                      : all <= MANY ? FEW / 2 + (all - FEW)
                                    : FEW / 2 + (MANY - FEW) + (all - MANY) / 4;
    return n > capacity ? n : capacity;
}

/* ---- merging ----------------------------------------------------------------------- */

/* Entry k of the accumulation array behind those of `to`, or into the last. */
static fn_fault take(const workspace *w, ws_list *to, const ws_list *acc, int64_t k)
{
    if (to->n && ws_label_equal(w, ws_label_of(w, to, to->n - 1), ws_label_of(w, acc, k))) {
        const value v = type_load(class_type(w->cls), acc->val, k);
        return ws_fold(w, to->val, to->n - 1, &v);
    }
    put(w, to, to->n++, acc, k);
    return FAULT_NONE;
}

/* Whether the call that `cx` counts for, if it isn't NULL, has to end at entry k. */
static bool ends(ctx *cx, int64_t k)
{
    return cx && k % WORK_BLOCK == WORK_BLOCK - 1 && work_done(cx, 1);
}

static fn_fault merge(ctx *cx, const workspace *w, const ws_list *all, const ws_list *acc,
                      const ws_record *record, ws_list *to)
{
    int64_t p = 0;
    to->n = 0;
    for (int64_t k = 0; k < acc->n && !ends(cx, k); k++) {
        const int64_t id = record[k].id;
        const uint64_t *label = ws_label_of(w, acc, id);
        for (; p < all->n && ws_label_compare(w, ws_label_of(w, all, p), label) <= 0; p++)
            put(w, to, to->n++, all, p);
        const fn_fault fault = take(w, to, acc, id);
        if (fault) return fault;
    }
    const int64_t rest = all->n - p, words = w->form.words;
    memcpy(to->label + to->n * words, all->label + p * words,
           (size_t)(rest * words) * sizeof *to->label);
    memcpy(to->val + to->n * w->size, all->val + p * w->size, (size_t)(rest * w->size));
    to->n += rest;
    return FAULT_NONE;
}

/* Behind all that there is: nothing of the all array moves. */
static bool follows(const workspace *w, const ws_list *acc, const ws_record *record)
{
    const ws_list *all = &w->all;
    return !all->n || ws_label_compare(w, ws_label_of(w, all, all->n - 1),
                                       ws_label_of(w, acc, record[0].id)) <= 0;
}

fn_fault ws_merge(ctx *cx, workspace *w, const ws_list *acc, const ws_record *record)
{
    fn_fault fault = FAULT_NONE;
    if (follows(w, acc, record)) {
        for (int64_t k = 0; k < acc->n && !fault && !ends(cx, k); k++)
            fault = take(w, &w->all, acc, record[k].id);
        return fault;
    }
    fault = merge(cx, w, &w->all, acc, record, &w->other);
    if (fault) return fault;
    if (!w->single) {
        const ws_list swap = w->all;
        w->all = w->other;
        w->other = swap;
        return FAULT_NONE;
    }
    w->all.n = w->other.n;
    memcpy(w->all.label, w->other.label,
           (size_t)(w->all.n * w->form.words) * sizeof *w->all.label);
    memcpy(w->all.val, w->other.val, (size_t)(w->all.n * w->size));
    return FAULT_NONE;
}

/* Room for a merge of n entries, in the array that it goes to. */
static stc_status merge_room(ctx *cx, workspace *w)
{
    const int64_t most = w->all.n + w->acc.n;
    if (follows(w, &w->acc, w->record)) return ws_list_reserve(cx, w, &w->all, most);
    if (ws_list_reserve(cx, w, &w->other, most)) return cx->diag.status;
    return w->single ? ws_list_reserve(cx, w, &w->all, most) : STC_OK;
}

static stc_status merge_here(machine *mc, workspace *w, const lop *at)
{
    if (merge_room(mc->cx, w)) return mc->cx->diag.status;
    const fn_fault fault = ws_merge(mc->cx, w, &w->acc, w->record);
    if (w->single) ws_list_free(mc->cx, w, &w->other);
    return fault ? machine_fault(mc, at, fault) : work_done(mc->cx, 1);
}

static stc_status flush_here(machine *mc, workspace *w, const lop *at)
{
    if (ws_pipe_wait(mc, w, at) || w->kind->sort(mc, w)) return mc->cx->diag.status;
    return merge_here(mc, w, at);
}

stc_status ws_merge_sorted(machine *mc, workspace *w, ws_list *sorted, const lop *at)
{
    if ((w->acc.n && ws_flush(mc, w, at, false)) || ws_record_room(mc->cx, w, sorted->n))
        return mc->cx->diag.status;
    for (int64_t k = 0; k < sorted->n; k++)
        w->record[k].id = k;
    const ws_list kept = w->acc;
    w->acc = *sorted;
    const stc_status st = merge_here(mc, w, at);
    w->acc = kept;
    w->merged += sorted->n;
    w->about = w->all.n;
    w->batches++;
    return st;
}

stc_status ws_flush(machine *mc, workspace *w, const lop *at, bool more)
{
    stc_status st = STC_OK;
    w->merged += w->acc.n;
    w->turn = w->turn_at && w->merged >= w->turn_at;
    if (!more || !ws_pipe_flush(mc, w, at, &st)) {
        st = flush_here(mc, w, at);
        if (w->kind->clear) w->kind->clear(w);
        w->acc.n = 0;
        w->about = w->all.n;
    }
    w->batches++;
    w->capacity = grown(w->capacity, w->about);
    return st;
}
