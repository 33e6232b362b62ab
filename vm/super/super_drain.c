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

/* ---- values -------------------------------------------------------------------------- */

/* Value from[i] of the workspace's class to element k of the result. */
static void put_value(const tensor *t, stc_type cls, int64_t k, const void *from, int64_t i)
{
    type_store(t->type, t->vals, k, type_load(cls, from, i));
}

/* ---- rows ---------------------------------------------------------------------------- */

/* n coordinates to the result, in order; at: where the value of each goes. */
static void put_ranked(const machine *mc, int32_t *key, int n, const append_room *room,
                       int64_t *at)
{
    int32_t rank[RANK_MAX + RANK_BLOCK], *to = room->crd;
    rank_keys(mc, key, n, rank);
    for (int k = 0; k < n; k++) {
        to[rank[k]] = key[k];
        at[k] = room->pos + rank[k];
    }
}

static void drain_few(const machine *mc, workspace *w, const append_room *room, tensor *t)
{
    int32_t key[RANK_MAX + RANK_BLOCK];
    int64_t at[RANK_MAX];
    const int n = (int)w->n;
    for (int k = 0; k < n; k++) {
        key[k] = (int32_t)w->touched[k];
        w->set[key[k] >> 6] = 0;
    }
    put_ranked(mc, key, n, room, at);
    ws_give_values(w, t, 0, at);
    w->n = 0;
    w->alike = false;
}

static stc_status drain_many(machine *mc, workspace *w, const append_room *room, tensor *t)
{
    if (ws_sort_touched(mc->cx, w)) return mc->cx->diag.status;
    const int64_t n = w->n;
    if (room->width == 4) {
        int32_t *to = room->crd;
        for (int64_t k = 0; k < n; k++)
            to[k] = (int32_t)w->touched[k];
    } else {
        memcpy(room->crd, w->touched, (size_t)n * sizeof *w->touched);
    }
    ws_give_values(w, t, room->pos, NULL);
    ws_untouch(w);
    return STC_OK;
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

/* n entries in order behind what the result has. */
static stc_status append(machine *mc, const drain *d, int64_t parent, int64_t n,
                         append_room *room)
{
    slot *r = &mc->slot[d->result];
    level *leaf = &r->t->level[d->level];
    if (leaf->kind->append_room(mc->cx, leaf, n, 0, room) ||
        tensor_reserve_values(r->t, room->pos + n))
        return mc->cx->diag.status;
    r->stores += (uint64_t)n;
    r->lev[d->level].parent = parent;
    return STC_OK;
}

static void appended(slot *r, const drain *d, const append_room *room, int64_t n)
{
    level *leaf = &r->t->level[d->level];
    leaf->kind->append_done(leaf, n, 0);
    r->t->nvals = room->pos + n;
}

/* A fiber that has entries already goes the way of the base operations. */
static stc_status follow_on(machine *mc, const drain *d, workspace *w, const mcursor *up)
{
    slot *r = &mc->slot[d->result];
    if (ws_sort_touched(mc->cx, w)) return mc->cx->diag.status;
    ws_spell_out(w);
    for (int64_t k = 0; k < w->n; k++) {
        int64_t pos;
        if (asm_at(mc, r, d->level, d->cursor, up, w->touched[k], d->at) ||
            asm_place(mc, r, d->cursor, d->at, &pos) || asm_value(mc, r, pos))
            return mc->cx->diag.status;
        put_value(r->t, class_type(w->cls), pos, w->dense, w->touched[k]);
    }
    ws_untouch(w);
    return STC_OK;
}

static bool by_ranks(const workspace *w, const append_room *room)
{
    return room->width == 4 && w->n <= RANK_MAX &&
           (w->n <= SURE || w->n * CROWDED < w->extent);
}

bool drain_fresh(const machine *mc, const drain *d, const mcursor *up)
{
    return (up ? up->c.at : 0) > mc->slot[d->result].lev[d->level].parent;
}

stc_status drain_sums(machine *mc, const drain *d, workspace *w, const mcursor *up)
{
    slot *r = &mc->slot[d->result];
    tensor *t = r->t;
    const int64_t parent = up ? up->c.at : 0, n = w->n;
    append_room room;
    if (!n) return STC_OK;
    if (!drain_fresh(mc, d, up)) return follow_on(mc, d, w, up);
    if (append(mc, d, parent, n, &room)) return mc->cx->diag.status;
    if (by_ranks(w, &room))
        drain_few(mc, w, &room, t);
    else if (drain_many(mc, w, &room, t))
        return mc->cx->diag.status;
    appended(r, d, &room, n);
    return STC_OK;
}

/* Entry by entry, where the fiber has some already. */
static stc_status list_follows(machine *mc, const drain *d, const row_list *l,
                               const mcursor *up)
{
    slot *r = &mc->slot[d->result];
    for (int64_t k = 0; k < l->n; k++) {
        int64_t pos;
        if (asm_at(mc, r, d->level, d->cursor, up, l->coord[k], d->at) ||
            asm_place(mc, r, d->cursor, d->at, &pos) || asm_value(mc, r, pos))
            return mc->cx->diag.status;
        put_value(r->t, class_type(mc->slot[d->work].ws->cls), pos, l->val, k);
    }
    return STC_OK;
}

/* The sorted entries behind what the result has. */
static void put_sorted(const machine *mc, const drain *d, const row_list *l,
                       const append_room *room)
{
    const tensor *t = mc->slot[d->result].t;
    for (int64_t k = 0; k < l->n && room->width == 8; k++)
        ((int64_t *)room->crd)[k] = l->coord[k];
    if (room->width == 4) memcpy(room->crd, l->coord, (size_t)l->n * sizeof *l->coord);
    ws_put_values(t->type, (char *)t->vals + room->pos * (int64_t)type_size(t->type), NULL,
                  l->val, NULL, l->n, false);
}

/* The same of few, which needn't be sorted. */
static void put_few(const machine *mc, const drain *d, const row_list *l,
                    const append_room *room)
{
    const tensor *t = mc->slot[d->result].t;
    int32_t key[RANK_MAX + RANK_BLOCK];
    int64_t at[RANK_MAX];
    memcpy(key, l->coord, (size_t)l->n * sizeof *key);
    put_ranked(mc, key, (int)l->n, room, at);
    ws_put_values(t->type, t->vals, at, l->val, NULL, l->n, false);
}

stc_status drain_window(machine *mc, const drain *d, row_window *w, const mcursor *up)
{
    slot *r = &mc->slot[d->result];
    const tensor *t = r->t;
    const int64_t *at, lo = w->lo;
    const void *val;
    const int64_t n = window_close(w, &at, &val);
    append_room room;
    if (append(mc, d, up ? up->c.at : 0, n, &room)) return mc->cx->diag.status;
    for (int64_t k = 0; k < n && room.width == 4; k++)
        ((int32_t *)room.crd)[k] = (int32_t)(lo + (at ? at[k] : k));
    for (int64_t k = 0; k < n && room.width == 8; k++)
        ((int64_t *)room.crd)[k] = lo + (at ? at[k] : k);
    ws_put_values(t->type, (char *)t->vals + room.pos * (int64_t)type_size(t->type), NULL,
                  val, at, n, false);
    appended(r, d, &room, n);
    return STC_OK;
}

stc_status drain_list(machine *mc, const drain *d, row_list *l, const mcursor *up)
{
    slot *r = &mc->slot[d->result];
    const int64_t parent = up ? up->c.at : 0, n = l->n;
    const bool follows = !drain_fresh(mc, d, up);
    const bool few =
        !follows && n <= RANK_MAX && r->t->level[d->level].a[STC_CRD].width == 4;
    append_room room;
    if (!n) return STC_OK;
    stc_status st = few ? STC_OK : list_sort(mc, l);
    if (!st) st = follows ? list_follows(mc, d, l, up) : append(mc, d, parent, n, &room);
    if (st) return st;
    if (few)
        put_few(mc, d, l, &room);
    else if (!follows)
        put_sorted(mc, d, l, &room);
    if (!follows) appended(r, d, &room, n);
    list_clear(l);
    return STC_OK;
}
