/* super_drain.c: a row out of a dense workspace, in order, onto the end of a
 * result.
 *
 * Three ways to put coordinates in order, by how many there are: few by their
 * rank, the number of smaller ones, which needs no branch and fills vectors;
 * many among the coordinates there can be, by walking the bitmap; others by
 * counting passes. What is read is cleared on the way.
 */
#include "../nest/fibers.h"
#include "scatter.h"
#include "super.h"
#include <string.h>

/* Of more than SURE coordinates, one in CROWDED of all there can be, the bitmap has the
 * order for less. */
enum { RANK_BLOCK = RANK_PAD, SURE = 24, CROWDED = 16 };

typedef int32_t lanes __attribute__((vector_size(32)));
enum { LANES = 8 };

/* rank[a] = how many of key[0 … n) are smaller than of[a], for so many vectors. */
INLINE void rank_block(const int32_t *key, int n, const int32_t *of, int32_t *rank,
                       int vectors)
{
    lanes x[RANK_BLOCK / LANES], r[RANK_BLOCK / LANES];
    for (int j = 0; j < vectors; j++) {
        memcpy(&x[j], of + j * LANES, sizeof x[j]);
        r[j] = (lanes){0};
    }
    for (int b = 0; b < n; b++) {
        const lanes y = (lanes){0} + key[b];
        for (int j = 0; j < vectors; j++)
            r[j] -= y < x[j]; /* true is -1 */
    }
    for (int j = 0; j < vectors; j++)
        memcpy(rank + j * LANES, &r[j], sizeof r[j]);
}

INLINE void ranks(const int32_t *key, int n, int32_t *rank)
{
    if (n <= LANES)
        rank_block(key, n, key, rank, 1);
    else if (n <= 2 * LANES)
        rank_block(key, n, key, rank, 2);
    else
        for (int a = 0; a < n; a += RANK_BLOCK)
            rank_block(key, n, key + a, rank + a, RANK_BLOCK / LANES);
}

static void plain_ranks(const int32_t *key, int n, int32_t *rank)
{
    ranks(key, n, rank);
}
WIDE static void wide_ranks(const int32_t *key, int n, int32_t *rank)
{
    ranks(key, n, rank);
}

void rank_keys(const machine *mc, int32_t *key, int n, int32_t *rank)
{
    for (int k = n; k < n + RANK_BLOCK; k++)
        key[k] = 0;
    if (super_wide(mc))
        wide_ranks(key, n, rank);
    else
        plain_ranks(key, n, rank);
}

/* ---- rows ---------------------------------------------------------------------------- */

/* n entries, once each: coordinates lo + coord[k] (NULL: lo + k), and of each the value's
 * number (NULL: k); `alike`: all have the first one. */
typedef struct row_entries {
    int64_t n, lo;
    const int64_t *coord, *index;
    const void *val;
    bool alike;
} row_entries;

/* The coordinate of each. */
INLINE int64_t coord_of(const row_entries *x, int64_t k)
{
    return x->lo + (x->coord ? x->coord[k] : k);
}

/* Entries in any order, few, into theirs. */
static void put_few(const machine *mc, const row_entries *x, const append_room *room,
                    const tensor *t)
{
    int32_t key[RANK_MAX + RANK_BLOCK], rank[RANK_MAX + RANK_BLOCK], *to = room->crd;
    int64_t at[RANK_MAX];
    const int n = (int)x->n;
    for (int k = 0; k < n; k++)
        key[k] = (int32_t)coord_of(x, k);
    rank_keys(mc, key, n, rank);
    for (int k = 0; k < n; k++) {
        to[rank[k]] = key[k];
        at[k] = room->pos + rank[k];
    }
    ws_put_values(t->type, t->vals, at, x->val, x->index, n, x->alike);
}

static void put_sorted(const row_entries *x, const append_room *room, const tensor *t)
{
    for (int64_t k = 0; k < x->n && room->width == 4; k++)
        ((int32_t *)room->crd)[k] = (int32_t)coord_of(x, k);
    for (int64_t k = 0; k < x->n && room->width == 8; k++)
        ((int64_t *)room->crd)[k] = coord_of(x, k);
    ws_put_values(t->type, (char *)t->vals + room->pos * (int64_t)type_size(t->type), NULL,
                  x->val, x->index, x->n, x->alike);
}

bool drain_serves(const machine *mc, const drain *d, int64_t places, stc_type type)
{
    const slot *r = &mc->slot[d->result];
    const level *leaf = &r->t->level[d->level];
    enum { BOTH = PROP_ORDERED | PROP_UNIQUE };
    return !r->lev[d->level].insert && leaf->kind->append_room &&
           (leaf->props & (BOTH | PROP_BRANCHLESS)) == BOTH &&
           level_covers(leaf, 0, places) &&
           (leaf->a[STC_CRD].width == 8 || leaf->extent <= INT32_MAX) && r->t->type == type;
}

bool drain_ready(const machine *mc, const drain *d)
{
    const slot *s = &mc->slot[d->work];
    const stc_type to = mc->slot[d->result].t->type; /* storing narrows */
    return type_class(to) == type_class(s->row->type) &&
           drain_serves(mc, d, s->own->shape[0], to);
}

/* A fiber that has entries already goes the way of the base operations. */
static stc_status follow_on(machine *mc, const drain *d, const row_entries *x,
                            const mcursor *up)
{
    slot *r = &mc->slot[d->result];
    const stc_type cls = class_type(type_class(r->t->type));
    for (int64_t k = 0; k < x->n; k++) {
        const int64_t from = x->alike ? 0 : x->index ? x->index[k] : k;
        int64_t pos;
        if (asm_at(mc, r, d->level, d->cursor, up, coord_of(x, k), d->at) ||
            asm_place(mc, r, d->cursor, d->at, &pos) || asm_value(mc, r, pos))
            return mc->cx->diag.status;
        type_store(r->t->type, r->t->vals, pos, type_load(cls, x->val, from));
    }
    return STC_OK;
}

/* Whether the fiber has nothing yet. */
static bool is_fresh(const machine *mc, const drain *d, const mcursor *up)
{
    return (up ? up->c.at : 0) > mc->slot[d->result].lev[d->level].parent;
}

/* Whether so few entries needn't be sorted first. */
static bool by_ranks(const machine *mc, const drain *d, int64_t n, const mcursor *up)
{
    return n <= RANK_MAX && is_fresh(mc, d, up) &&
           mc->slot[d->result].t->level[d->level].a[STC_CRD].width == 4;
}

/* Behind what the result has; `few`: in any order. */
static stc_status put(machine *mc, const drain *d, const row_entries *x, const mcursor *up,
                      bool few)
{
    slot *r = &mc->slot[d->result];
    level *leaf = &r->t->level[d->level];
    append_room room;
    if (!is_fresh(mc, d, up)) return follow_on(mc, d, x, up);
    if (leaf->kind->append_room(mc->cx, leaf, x->n, 0, &room) ||
        tensor_reserve_values(r->t, room.pos + x->n))
        return mc->cx->diag.status;
    r->stores += (uint64_t)x->n;
    r->lev[d->level].parent = up ? up->c.at : 0;
    if (few)
        put_few(mc, x, &room, r->t);
    else
        put_sorted(x, &room, r->t);
    leaf->kind->append_done(leaf, x->n, 0);
    r->t->nvals = room.pos + x->n;
    return STC_OK;
}

stc_status drain_sums(machine *mc, const drain *d, workspace *w, const mcursor *up)
{
    const bool few =
        by_ranks(mc, d, w->n, up) && (w->n <= SURE || w->n * CROWDED < w->extent);
    if (!w->n) return STC_OK;
    if (!few && ws_sort_touched(mc->cx, w)) return mc->cx->diag.status;
    const row_entries x = {.n = w->n,
                           .coord = w->touched,
                           .index = w->touched,
                           .val = w->alike ? &w->one : w->dense,
                           .alike = w->alike};
    const stc_status st = put(mc, d, &x, up, few);
    if (!st) ws_untouch(w);
    return st;
}

stc_status drain_window(machine *mc, const drain *d, row_window *w, const mcursor *up)
{
    row_entries x = {.lo = w->lo};
    x.n = window_close(w, &x.coord, &x.val);
    x.index = x.coord;
    return put(mc, d, &x, up, false);
}

stc_status drain_list(machine *mc, const drain *d, row_list *l, const mcursor *up)
{
    const bool few = by_ranks(mc, d, l->n, up);
    if (!l->n) return STC_OK;
    row_entries x = {.n = l->n, .coord = l->coord, .val = l->val};
    if (!few && list_sort(mc, l, &x.index)) return mc->cx->diag.status;
    const stc_status st = put(mc, d, &x, up, few);
    if (!st) list_clear(l);
    return st;
}
