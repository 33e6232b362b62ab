/* super_list.c: rows that are listed, not accumulated: a row's entries as they come,
 * without memory for coordinates that it doesn't have.
 *
 * A row of few entries (an upper bound is known before it is computed: the sum of the
 * fibers' lengths) is a list of coordinates and terms. The number of smaller ones, or the
 * distance from the least where all are near each other, is an entry's place in order, and
 * one place for all of its duplicates, which meet there. Other rows find an entry again by
 * a hash of its coordinate, so that it is listed once, and are sorted when they are
 * appended. Either way duplicates meet in the order in which they came.
 */
#include "scatter.h"
#include "super.h"
#include <string.h>

/* Over so many coordinates an accumulator's lines are rarely those just used: rows of so
 * few entries are faster as lists (measured: a sixth at 16 entries a row). */
#define LIST_FROM ((int64_t)1 << 20)
enum { LIST_BELOW = 32 };

/* ---- kernels ----------------------------------------------------------------------- */

static int64_t slot_of(const row_list *l, int64_t i)
{
    return (int64_t)((uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) >> l->shift);
}

#define SCATTER(TYPE, W, TERM, FOLD)                                                       \
    static void few_##TERM##_##FOLD##_##TYPE##_##W(const scatter *sc, row_list *l, int n)  \
    {                                                                                      \
        const elem_##TYPE *vals = sc->vals;                                                \
        const num_##TYPE *by = (const num_##TYPE *)sc->by;                                 \
        const index_##W *crd = sc->crd;                                                    \
        num_##TYPE *to = l->val;                                                           \
        int64_t m = l->n;                                                                  \
        for (int k = 0; k < n; k++)                                                        \
            for (int64_t p = sc->from[k], e = sc->to[k]; p < e; p++, m++) {                \
                l->coord[m] = crd[p];                                                      \
                to[m] = vals ? FN(TERM, TYPE, by[k], GET(TYPE, vals[p])) : by[k];          \
            }                                                                              \
        l->n = m;                                                                          \
    }                                                                                      \
    static void many_##TERM##_##FOLD##_##TYPE##_##W(const scatter *sc, row_list *l, int n) \
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
    }                                                                                      \
    /* values by rank, duplicates folded; how many places were taken */                    \
    static void place_##TERM##_##FOLD##_##TYPE##_##W(                                      \
        const row_list *l, const int32_t *rank, uint8_t *taken, void *out)                 \
    {                                                                                      \
        const num_##TYPE *from = l->val;                                                   \
        num_##TYPE *to = out;                                                              \
        for (int64_t k = 0; k < l->n; k++) {                                               \
            const int32_t r = rank[k];                                                     \
            to[r] = taken[r] ? FN(FOLD, TYPE, to[r], from[k]) : from[k];                   \
            taken[r] = 1;                                                                  \
        }                                                                                  \
    }
#include "scatter.def"

static const list_kernels instances[] = {
#define SCATTER(TYPE, W, TERM, FOLD)                                                       \
    {few_##TERM##_##FOLD##_##TYPE##_##W, many_##TERM##_##FOLD##_##TYPE##_##W,              \
     place_##TERM##_##FOLD##_##TYPE##_##W},
#include "scatter.def"
};

/* ---- filling ----------------------------------------------------------------------- */

bool list_ready(machine *mc, scatter *sc, row_list *l)
{
    const slot *s = &mc->slot[sc->work];
    l->row = sc->row[sc->kernel == sc->wide];
    l->run = &instances[l->row];
    l->size = s->ws->size;
    l->extent = s->own->shape[0];
    l->only = !ws_is_vector(s);
    l->few = l->many = 0;
    list_clear(l);
    return l->extent <= INT32_MAX && (l->only || l->extent >= LIST_FROM);
}

bool list_takes(const row_list *l, const workspace *w, int64_t most, bool last)
{
    return l->only || (w->n == 0 && last && most <= LIST_BELOW);
}

/* Slots for twice as many entries; those that are listed are entered anew. */
static stc_status enlarge(ctx *cx, row_list *l, int64_t most)
{
    int64_t heads = 256;
    while (heads < 2 * most)
        heads *= 2;
    if (heads > l->heads) {
        int64_t *head = mem_zero(cx, heads, sizeof *head);
        if (!head) return cx->diag.status;
        mem_free(cx, l->head, (size_t)l->heads * sizeof *head);
        l->head = head;
        l->heads = heads;
        l->shift = 64 - __builtin_ctzll((uint64_t)heads);
        l->base = 1;
    } else if (l->hashed) {
        return STC_OK;
    }
    for (int64_t k = 0; k < l->n; k++) {
        int64_t h = slot_of(l, l->coord[k]);
        while (l->head[h] >= l->base)
            h = (h + 1) & (l->heads - 1);
        l->head[h] = l->base + k;
    }
    return STC_OK;
}

static stc_status room(ctx *cx, row_list *l, int64_t n)
{
    if (n <= l->cap) return STC_OK;
    const int64_t had = l->cap;
    int64_t cap = had;
    if (mem_grow(cx, &l->coord, &cap, n, sizeof *l->coord)) return cx->diag.status;
    void *val = mem_resize(cx, l->val, (size_t)had * l->size, (size_t)cap * l->size);
    if (!val) { /* one capacity for both */
        const stc_status st = cx->diag.status;
        mem_free(cx, l->coord, (size_t)cap * sizeof *l->coord);
        mem_free(cx, l->val, (size_t)had * l->size);
        l->coord = NULL;
        l->val = NULL;
        l->cap = 0;
        return st;
    }
    l->val = val;
    l->cap = cap;
    return STC_OK;
}

stc_status list_fibers(machine *mc, const scatter *sc, row_list *l, int n, int64_t most,
                       bool last)
{
    if (room(mc->cx, l, l->n + most)) return mc->cx->diag.status;
    if (!l->n && last && most <= LIST_FEW) {
        tally(mc, TALLY_FEW + l->row);
        l->run->few(sc, l, n);
        l->few++;
        return STC_OK;
    }
    const bool fresh = !l->hashed;
    if (enlarge(mc->cx, l, l->n + most)) return mc->cx->diag.status;
    l->hashed = true;
    if (fresh) l->many++;
    tally(mc, TALLY_MANY + l->row);
    l->run->many(sc, l, n);
    return STC_OK;
}

/* ---- in order ------------------------------------------------------------------------ */

/* Places for few, which duplicates share, and the coordinates there; how many places. Those
 * of coordinates that are near each other, as in a band, are where they are from the least
 * one on; of others, their ranks. */
static int find_places(const machine *mc, row_list *l, int32_t *at)
{
    int32_t key[LIST_FEW + RANK_PAD], least = INT32_MAX, most = 0;
    const int n = (int)l->n;
    for (int k = 0; k < n; k++) {
        key[k] = (int32_t)l->coord[k];
        least = key[k] < least ? key[k] : least;
        most = key[k] > most ? key[k] : most;
    }
    if (n && most - least < n) {
        for (int k = 0; k < n; k++)
            at[k] = key[k] - least;
        for (int k = 0; k <= most - least; k++)
            l->coord[k] = least + k;
        return most - least + 1;
    }
    rank_keys(mc, key, n, at);
    for (int k = 0; k < n; k++)
        l->coord[at[k]] = key[k];
    return n;
}

/* Of n places those that are taken, with their values. */
INLINE int keep_taken(row_list *l, const uint8_t *taken, const char *val, int n,
                      size_t size)
{
    int count = 0;
    for (int k = 0; k < n; k++) {
        l->coord[count] = l->coord[k];
        memcpy((char *)l->val + (size_t)count * size, val + (size_t)k * size, size);
        count += taken[k];
    }
    return count;
}

/* Few: into places. Returns how many there are. */
static int by_place(const machine *mc, row_list *l)
{
    int32_t at[LIST_FEW + RANK_PAD];
    uint64_t val[LIST_FEW];
    uint8_t taken[LIST_FEW] = {0};
    const int n = find_places(mc, l, at);
    l->run->place(l, at, taken, val);
    return l->size == 4 ? keep_taken(l, taken, (char *)val, n, 4)
                        : keep_taken(l, taken, (char *)val, n, l->size);
}

/* Entries that are there once: records of coordinate and number are sorted, and the
 * values put in their order. */
static stc_status by_records(machine *mc, row_list *l)
{
    const int64_t n = l->n;
    if (l->record_cap < 2 * n &&
        mem_grow(mc->cx, &l->record, &l->record_cap, 2 * n, sizeof *l->record))
        return mc->cx->diag.status;
    if (room(mc->cx, l, 2 * n)) return mc->cx->diag.status;
    for (int64_t k = 0; k < n; k++)
        l->record[k] = (ws_record){(uint64_t)l->coord[k], k};
    ws_sort_records(l->record, n, l->record + n,
                    64 - __builtin_clzll((uint64_t)l->extent | 1));
    char *val = l->val, *to = val + (size_t)n * l->size;
    for (int64_t k = 0; k < n; k++) {
        l->coord[k] = (int64_t)l->record[k].key;
        memcpy(to + (size_t)k * l->size, val + (size_t)l->record[k].id * l->size, l->size);
    }
    memcpy(val, to, (size_t)n * l->size);
    return STC_OK;
}

stc_status list_sort(machine *mc, row_list *l)
{
    if (l->n > LIST_FEW) return by_records(mc, l);
    l->n = by_place(mc, l);
    return STC_OK;
}

void list_clear(row_list *l)
{
    if (l->hashed) l->base += l->cap; /* more than any entry's number */
    l->n = 0;
    l->hashed = false;
}

void list_free(ctx *cx, row_list *l)
{
    mem_free(cx, l->coord, (size_t)l->cap * sizeof *l->coord);
    mem_free(cx, l->val, (size_t)l->cap * l->size);
    mem_free(cx, l->head, (size_t)l->heads * sizeof *l->head);
    mem_free(cx, l->record, (size_t)l->record_cap * sizeof *l->record);
}
