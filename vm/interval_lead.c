/* interval_lead.c: sparse coordinates that lead, and runs that follow.
 *
 * Where one operand's coordinates decide which elements there are (a sparse mask on
 * an image, the paper's mixed operation), and the others are runs that cover the
 * range, or ranges, lanes are those coordinates. The run that each of them is in is
 * looked for by halving: searches don't wait for each other, steps of a merge do.
 */
#include "interval.h"

static bool follows(const ivl_loop *v, const ivl_walk *w)
{
    const fiber_table *t = &w->t;
    if (w->parent ? w->parent->form == COL_ARRAY && !w->parent->full : w->root < 0)
        return false;
    if (t->shape == VIEW_RUNS) return t->width == 4 && t->lo == v->begin && t->hi == v->end;
    return t->shape == VIEW_RANGE && t->lo <= v->begin && t->hi >= v->end;
}

static bool leads(const ivl_loop *v, const ivl_walk *w)
{
    const fiber_table *t = &w->t;
    return t->shape == VIEW_COORDS && t->width == 4 && t->lo >= v->begin &&
           t->hi <= v->end && w->drives && v->begin < v->end;
}

bool lead_start(ivl_loop *v)
{
    const merge_desc *m = v->g.s.l->merge;
    uint64_t mask = 0;
    v->led = NULL;
    if (m->universe || m->count != v->nwalk) return false;
    for (int k = 0; k < v->nwalk; k++) {
        ivl_walk *w = &v->walk[k];
        mask |= w->bit;
        if (!v->led && leads(v, w)) {
            v->led = w;
        } else if (!follows(v, w)) {
            v->led = NULL;
            return false;
        }
    }
    if (v->led && (!merge_produces(m, mask) || merge_produces(m, mask & ~v->led->bit)))
        v->led = NULL;
    return v->led != NULL;
}

static int64_t parent_of(const ivl_walk *w, int row)
{
    return w->parent ? column_get(w->parent, row) : w->root;
}

/* Positions of n coordinates in the row of an operand that follows. */
static void find_runs(const ivl_walk *w, int row, const int64_t *at, int n, int64_t *pos)
{
    const int64_t up = parent_of(w, row);
    if (w->t.shape == VIEW_RANGE) {
        const int64_t base = up * (w->t.hi - w->t.lo) - w->t.lo;
        for (int k = 0; k < n; k++)
            pos[k] = base + at[k];
        return;
    }
    const int64_t begin = table_bound(&w->t, up), runs = table_bound(&w->t, up + 1) - begin;
    const int32_t *crd = (const int32_t *)w->t.crd + begin;
    for (int k = 0; k < n; k++) {
        int64_t x = 0;
        for (int64_t left = runs; left > 1; left -= left / 2)
            x += crd[x + left / 2] <= at[k] ? left / 2 : 0;
        pos[k] = begin + x;
    }
}

/* The row's coordinates from the led operand's p on, as many as there is room for. */
static int put_row(ivl_loop *v, int n)
{
    ivl_walk *w = v->led;
    const int32_t *crd = (const int32_t *)w->t.crd + w->p;
    const int take = w->end - w->p < STRIP - n ? (int)(w->end - w->p) : STRIP - n;
    int64_t *at = v->g.icol[0].data + n, *pos = v->g.place[w->place].data + n;
    for (int k = 0; k < take; k++) {
        at[k] = crd[k];
        pos[k] = w->p + k;
        v->len[n + k] = 1;
        v->row[n + k] = v->lane;
    }
    for (int k = 0; k < v->nwalk; k++)
        if (&v->walk[k] != w)
            find_runs(&v->walk[k], v->lane, at, take,
                      v->g.place[v->walk[k].place].data + n);
    w->p += take;
    return n + take;
}

void lead_fill(ivl_loop *v)
{
    ivl_walk *w = v->led;
    int n = 0;
    while (n < STRIP && v->lane < v->lanes) {
        if (!v->open) {
            const int64_t up = parent_of(w, v->lane);
            w->p = up < 0 ? 0 : table_bound(&w->t, up);
            w->end = up < 0 ? 0 : table_bound(&w->t, up + 1);
            v->open = true;
        }
        if (w->p < w->end) n = put_row(v, n);
        if (w->p == w->end) {
            v->open = false;
            v->lane++;
        }
    }
    for (int k = 0; k < v->nwalk; k++) {
        column *c = &v->g.place[v->walk[k].place];
        c->form = COL_ARRAY;
        c->full = true;
        c->ranged = false;
    }
    v->g.icol[0].form = COL_ARRAY;
    v->g.n = n;
}
