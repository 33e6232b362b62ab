/* super_list.c: rows that are listed, not accumulated: a row's entries as they come,
 * without memory for coordinates that it doesn't have.
 *
 * A row of few entries (an upper bound is known before it is computed: the sum of the
 * fibers' lengths) is put in order as it comes: the number of smaller coordinates, or the
 * distance from the least where all are near each other, as in a band, is an entry's place,
 * and one place for all of its duplicates, which meet there. Other rows find an entry again
 * by a hash of its coordinate, so that it is listed once, and are sorted when they are
 * appended. Either way duplicates meet in the order in which they came.
 */
#include "../core/coords.h"
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
    INLINE void set_##TERM##_##FOLD##_##TYPE##_##W(                                        \
        const scatter *sc, const row_list *l, int n, const int32_t *rank, uint8_t *taken)  \
    {                                                                                      \
        const elem_##TYPE *vals = sc->vals;                                                \
        const num_##TYPE *by = (const num_##TYPE *)sc->by;                                 \
        const index_##W *crd = sc->crd;                                                    \
        num_##TYPE *to = l->val;                                                           \
        const int64_t least = l->least;                                                    \
        for (int k = 0; k < n; k++) {                                                      \
            const num_##TYPE s = by[k];                                                    \
            for (int64_t p = sc->from[k], e = sc->to[k]; p < e; p++) {                     \
                const int64_t r = rank ? *rank++ : crd[p] - least;                         \
                const num_##TYPE x = vals ? FN(TERM, TYPE, s, GET(TYPE, vals[p])) : s;     \
                to[r] = taken[r] ? FN(FOLD, TYPE, to[r], x) : x;                           \
                taken[r] = 1;                                                              \
            }                                                                              \
        }                                                                                  \
    }                                                                                      \
    /* terms into their places, duplicates folded; which places were taken */              \
    static void place_##TERM##_##FOLD##_##TYPE##_##W(                                      \
        const scatter *sc, const row_list *l, int n, const int32_t *rank, uint8_t *taken)  \
    {                                                                                      \
        if (rank)                                                                          \
            set_##TERM##_##FOLD##_##TYPE##_##W(sc, l, n, rank, taken);                     \
        else                                                                               \
            set_##TERM##_##FOLD##_##TYPE##_##W(sc, l, n, NULL, taken);                     \
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
                l->coord[m] = (int32_t)i;                                                  \
                to[m++] = x;                                                               \
            }                                                                              \
        l->n = m;                                                                          \
    }
#include "scatter.def"

static const list_kernels instances[] = {
#define SCATTER(TYPE, W, TERM, FOLD)                                                       \
    {many_##TERM##_##FOLD##_##TYPE##_##W, place_##TERM##_##FOLD##_##TYPE##_##W},
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

/* ---- few ----------------------------------------------------------------------------- */

/* How many places there are from the least coordinate of n ordered fibers, which l->least
 * becomes, to the greatest. */
static int64_t find_span(const scatter *sc, row_list *l, int n)
{
    int64_t least = INT32_MAX, most = -1;
    for (int k = 0; k < n; k++) {
        if (sc->from[k] == sc->to[k]) continue;
        const int64_t first = index_at(sc->crd, sc->f.width, sc->from[k]);
        const int64_t last = index_at(sc->crd, sc->f.width, sc->to[k] - 1);
        least = first < least ? first : least;
        most = last > most ? last : most;
    }
    l->least = least;
    return most - least + 1;
}

/* The ranks of all entries of n fibers, and the coordinates there; how many entries. */
static int find_ranks(const machine *mc, const scatter *sc, row_list *l, int n,
                      int32_t *rank)
{
    int32_t key[LIST_FEW + RANK_PAD];
    int m = 0;
    for (int k = 0; k < n; k++)
        for (int64_t p = sc->from[k]; p < sc->to[k]; p++)
            key[m++] = (int32_t)index_at(sc->crd, sc->f.width, p);
    rank_keys(mc, key, m, rank);
    for (int k = 0; k < m; k++)
        l->coord[rank[k]] = key[k];
    return m;
}

/* Of n places those that are taken, with their values. */
INLINE int keep_taken(row_list *l, const uint8_t *taken, int n, size_t size)
{
    char *val = l->val;
    int count = 0;
    for (int k = 0; k < n; k++) {
        l->coord[count] = l->coord[k];
        memcpy(val + (size_t)count * size, val + (size_t)k * size, size);
        count += taken[k];
    }
    return count;
}

/* All that the row has, n fibers of at most LIST_FEW entries, in order. */
static void list_few(const machine *mc, const scatter *sc, row_list *l, int n, int64_t most)
{
    uint8_t taken[LIST_FEW] = {0};
    int32_t rank[LIST_FEW + RANK_PAD];
    if (!most) return;
    int64_t places = sc->ordered ? find_span(sc, l, n) : INT64_MAX;
    if (places <= most) {
        l->run->place(sc, l, n, NULL, taken);
        for (int64_t k = 0; k < places; k++)
            l->coord[k] = (int32_t)(l->least + k);
    } else {
        places = find_ranks(mc, sc, l, n, rank);
        l->run->place(sc, l, n, rank, taken);
    }
    l->n = places;
    if (!memchr(taken, 0, (size_t)places)) return;
    l->n = l->size == 4 ? keep_taken(l, taken, (int)places, 4)
                        : keep_taken(l, taken, (int)places, l->size);
}

stc_status list_fibers(machine *mc, const scatter *sc, row_list *l, int n, int64_t most,
                       bool last)
{
    if (room(mc->cx, l, l->n + most)) return mc->cx->diag.status;
    if (!l->n && last && most <= LIST_FEW) {
        tally(mc, TALLY_FEW + l->row);
        list_few(mc, sc, l, n, most);
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

/* Entries that are there once: records of coordinate and number are sorted, and the
 * values put in their order. */
static stc_status by_records(machine *mc, row_list *l)
{
    const int64_t n = l->n;
    if (l->record_cap < 2 * n &&
        mem_grow(mc->cx, &l->record, &l->record_cap, 2 * n, sizeof *l->record))
        return mc->cx->diag.status;
    if (room(mc->cx, l, 2 * n)) return mc->cx->diag.status;
    int32_t key[LIST_FEW + RANK_PAD], rank[LIST_FEW + RANK_PAD];
    const bool few = n <= LIST_FEW;
    if (few) {
        memcpy(key, l->coord, (size_t)n * sizeof *key);
        rank_keys(mc, key, (int)n, rank);
    }
    for (int64_t k = 0; k < n; k++)
        l->record[few ? rank[k] : k] = (ws_record){(uint64_t)l->coord[k], k};
    if (!few)
        ws_sort_records(l->record, n, l->record + n,
                        64 - __builtin_clzll((uint64_t)l->extent | 1));
    char *val = l->val, *to = val + (size_t)n * l->size;
    for (int64_t k = 0; k < n; k++) {
        l->coord[k] = (int32_t)l->record[k].key;
        memcpy(to + (size_t)k * l->size, val + (size_t)l->record[k].id * l->size, l->size);
    }
    memcpy(val, to, (size_t)n * l->size);
    return STC_OK;
}

stc_status list_sort(machine *mc, row_list *l)
{
    return l->hashed ? by_records(mc, l) : STC_OK;
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
