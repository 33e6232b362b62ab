/* strip_keys.c: strips of several fibers: their union, or that with every coordinate
 * of a range.
 *
 * Each fiber's next coordinates are the keys of a list; lists are merged without
 * branches (merge_keys.c), as far as none of them goes on before. Where every
 * coordinate is a lane, fibers only say at which of them they have something.
 */
#include "merge_keys.h"
#include "strip.h"

/* Up to `room` keys; gives the position behind them. */
static int64_t write_keys(const struct strip_walk *w, key_list *x, int64_t room)
{
    int64_t p = w->p;
    int n = 0;
    if (!w->dups) {
        n = (int)(w->end - p < room ? w->end - p : room);
        for (int k = 0; w->width == 4 && k < n; k++)
            x->key[k] = *(const int32_t *)(w->crd + (p + k) * w->stride) - w->shift;
        for (int k = 0; w->width != 4 && k < n; k++)
            x->key[k] = *(const int64_t *)(w->crd + (p + k) * w->stride) - w->shift;
        p += n;
    }
    while (w->dups && p < w->end && n < room) {
        const int64_t i = x->key[n] = strip_coord(w, p);
        w->at[n] = p;
        while (p < w->end && strip_coord(w, p) == i)
            p++;
        w->ends[n++] = p;
    }
    x->n = n;
    x->key[n] = KEY_END;
    return p;
}

/* The table by the walkers' numbers. */
static uint64_t walkers_table(const strip *s)
{
    uint64_t table = 0;
    for (uint64_t m = 1; m < UINT64_C(1) << s->nwalk; m++) {
        uint64_t mask = s->known;
        for (int k = 0; k < s->nwalk; k++)
            mask |= (m >> k & 1) << s->walk[k].operand;
        table |= (s->maybe >> mask & 1) << m;
    }
    return table;
}

void strip_fill_keys(strip *s)
{
    key_list list[STRIP_WALKS];
    int64_t reached[STRIP_WALKS];
    int written[STRIP_WALKS];
    int64_t all = 0;
    for (int k = 0; k < s->nwalk; k++)
        all += s->walk[k].end - s->walk[k].p;
    for (int k = 0; k < s->nwalk; k++) {
        const struct strip_walk *w = &s->walk[k];
        column *c = &s->place[1 + w->operand];
        list[k] = (key_list){.key = w->key, .base = w->p, .to = c->data, .to_end = c->end};
        if (w->dups) list[k].base = 0, list[k].at = w->at, list[k].end = w->ends;
        reached[k] =
            write_keys(w, &list[k], keys_share(STRIP, s->nwalk, w->end - w->p, all));
        written[k] = list[k].n;
        list[k].more = reached[k] < w->end;
    }
    keys_cut(list, s->nwalk);
    const uint64_t table = walkers_table(s), live = table_live(table);
    uint64_t left = 0;
    for (int k = 0; k < s->nwalk; k++) {
        struct strip_walk *w = &s->walk[k];
        column *c = &s->place[1 + w->operand];
        w->p = keys_reach(&list[k], written[k], reached[k]);
        left |= (uint64_t)(w->p < w->end) << k;
        *c = (column){.form = COL_ARRAY, .data = c->data, .end = c->end, .ranged = w->dups};
    }
    s->n = keys_merge(list, s->nwalk, table, s->icol[0].data);
    s->icol[0].form = COL_ARRAY;
    for (int k = 0; !(live >> left & 1) && k < s->nwalk; k++)
        s->walk[k].p = s->walk[k].end;
}

void strip_fill_every(strip *s)
{
    const int64_t all = s->last - s->next;
    s->n = all < STRIP ? (int)all : STRIP;
    s->icol[0].form = COL_STEP;
    s->icol[0].base = s->next;
    for (int j = 0; j < s->nwalk; j++) {
        struct strip_walk *w = &s->walk[j];
        column *c = &s->place[1 + w->operand];
        *c = (column){.form = COL_ARRAY, .data = c->data, .end = c->end, .ranged = w->dups};
        for (int k = 0; k < s->n; k++)
            c->data[k] = NONE;
        while (w->p < w->end) {
            const int64_t k = strip_coord(w, w->p) - s->next;
            if (k >= s->n) break;
            if (c->data[k] == NONE) c->data[k] = w->p;
            w->p++;
            if (w->dups) c->end[k] = w->p;
        }
    }
    s->next += s->n;
}
