/* super_list.c: rows that are listed, not accumulated: a row's entries as they come,
 * without memory for coordinates that it doesn't have.
 *
 * An entry is found again by a hash of its coordinate, so that it is listed once, and rows
 * are sorted when they are appended. Duplicates meet in the order in which they came.
 */
#include "../core/coords.h"
#include "scatter.h"
#include "super.h"
#include <string.h>

/* ---- kernels ----------------------------------------------------------------------- */

static int64_t slot_of(const row_list *l, int64_t i)
{
    return (int64_t)((uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) >> l->shift);
}

#define SCATTER(TYPE, W, TERM, FOLD)                                                       \
    static void list_##TERM##_##FOLD##_##TYPE##_##W(const scatter *sc, row_list *l, int n) \
    {                                                                                      \
        const elem_##TYPE *vals = sc->vals;                                                \
        const num_##TYPE *by = (const num_##TYPE *)sc->by;                                 \
        const index_##W *crd = sc->crd;                                                    \
        num_##TYPE *to = l->val;                                                           \
        const int64_t mask = l->heads - 1, base = l->base;                                 \
        int64_t m = l->n;                                                                  \
        for (int k = 0; k < n; k++)                                                        \
            for (int64_t p = sc->from[k], e = sc->to[k]; p < e; p++) {                     \
                const int64_t i = crd[p];                                                  \
                const num_##TYPE x =                                                       \
                    vals ? FN(TERM, TYPE, by[k], GET(TYPE, vals[p])) : by[k];              \
                int64_t h = slot_of(l, i), at;                                             \
                while ((at = l->head[h] - base) >= 0 && l->coord[at] != i)                 \
                    h = (h + 1) & mask;                                                    \
                if (at >= 0) {                                                             \
                    to[at] = FN(FOLD, TYPE, to[at], x);                                    \
                    continue;                                                              \
                }                                                                          \
                l->head[h] = base + m;                                                     \
                l->coord[m] = i;                                                           \
                to[m++] = x;                                                               \
            }                                                                              \
        l->n = m;                                                                          \
    }
#include "scatter.def"

static const list_kernel instances[] = {
#define SCATTER(TYPE, W, TERM, FOLD) list_##TERM##_##FOLD##_##TYPE##_##W,
#include "scatter.def"
};

/* ---- filling ----------------------------------------------------------------------- */

bool list_ready(machine *mc, const scatter *sc, row_list *l)
{
    const slot *s = &mc->slot[sc->work];
    l->row = sc->row[sc->kernel == sc->wide];
    l->size = s->ws->size;
    l->extent = s->own->shape[0];
    l->rows = 0;
    list_clear(l);
    return l->extent <= INT32_MAX;
}

/* An entry that isn't there yet. */
static void enter(row_list *l, int64_t k)
{
    int64_t h = slot_of(l, l->coord[k]);
    while (l->head[h] >= l->base)
        h = (h + 1) & (l->heads - 1);
    l->head[h] = l->base + k;
}

/* Slots for twice as many entries; those that are listed are entered anew. */
static stc_status enlarge(ctx *cx, row_list *l, int64_t most)
{
    int64_t heads = 256;
    while (heads < 2 * most)
        heads *= 2;
    if (heads <= l->heads) return STC_OK;
    int64_t *head = mem_zero(cx, heads, sizeof *head);
    if (!head) return cx->diag.status;
    mem_free(cx, l->head, (size_t)l->heads * sizeof *head);
    l->head = head;
    l->heads = heads;
    l->shift = 64 - __builtin_ctzll((uint64_t)heads);
    l->base = 1;
    for (int64_t k = 0; k < l->n; k++)
        enter(l, k);
    return STC_OK;
}

static stc_status room(ctx *cx, row_list *l, int64_t n)
{
    const mem_row rows[] = {{(void **)&l->coord, sizeof *l->coord}, {&l->val, l->size}};
    return mem_grow_rows(cx, rows, 2, &l->cap, n);
}

stc_status list_window(ctx *cx, row_list *l, row_window *w)
{
    const int64_t *at, lo = w->lo;
    const char *val;
    const int64_t n = window_close(w, &at, (const void **)&val);
    if (room(cx, l, n) || enlarge(cx, l, n)) return cx->diag.status;
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = at ? at[k] : k;
        l->coord[k] = lo + i;
        memcpy((char *)l->val + k * l->size, val + i * l->size, l->size);
        enter(l, k);
    }
    l->n = n;
    return STC_OK;
}

stc_status list_fibers(machine *mc, const scatter *sc, row_list *l, int n, int64_t most)
{
    if (!most) return STC_OK;
    if (room(mc->cx, l, l->n + most) || enlarge(mc->cx, l, l->n + most))
        return mc->cx->diag.status;
    l->rows += !l->n;
    tally(mc, TALLY_LIST + l->row);
    instances[l->row](sc, l, n);
    return STC_OK;
}

/* ---- in order ------------------------------------------------------------------------ */

/* Entries that are there once: records of coordinate and number are sorted, and stay where
 * sorting had room. */
stc_status list_sort(machine *mc, row_list *l, const int64_t **index)
{
    const int64_t n = l->n;
    if (l->record_cap < 2 * n &&
        mem_grow(mc->cx, &l->record, &l->record_cap, 2 * n, sizeof *l->record))
        return mc->cx->diag.status;
    int64_t *const to = (int64_t *)(l->record + n);
    for (int64_t k = 0; k < n; k++)
        l->record[k] = (ws_record){(uint64_t)l->coord[k], k};
    ws_sort_records(l->record, n, l->record + n,
                    64 - __builtin_clzll((uint64_t)l->extent | 1));
    for (int64_t k = 0; k < n; k++) {
        l->coord[k] = (int64_t)l->record[k].key;
        to[k] = l->record[k].id;
    }
    *index = to;
    return STC_OK;
}

void list_clear(row_list *l)
{
    if (l->n) l->base += l->heads; /* more than any entry's number */
    l->n = 0;
}

void list_free(ctx *cx, row_list *l)
{
    mem_free(cx, l->coord, (size_t)l->cap * sizeof *l->coord);
    mem_free(cx, l->val, (size_t)l->cap * l->size);
    mem_free(cx, l->head, (size_t)l->heads * sizeof *l->head);
    mem_free(cx, l->record, (size_t)l->record_cap * sizeof *l->record);
}
