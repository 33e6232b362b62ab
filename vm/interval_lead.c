/* interval_lead.c: sparse coordinates that lead, and runs that follow.
 *
 * Where one operand's coordinates decide which elements there are (a sparse mask on
 * an image, the paper's mixed operation), and the others are runs that cover the
 * range, or ranges, lanes are those coordinates. The run that each of them is in is
 * looked for by halving: searches don't wait for each other, steps of a merge do. In
 * rows of few runs those that begin before it are counted, several coordinates at once.
 */
#include "interval.h"
#include <string.h>

enum { COUNTED = 48, ABREAST = 8 };

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

/* Runs that begin at each of n coordinates or before, after the first one; `room`
 * coordinates can be read. */
static void count_runs(const int32_t *crd, int runs, const int32_t *at, int n, int64_t room,
                       int64_t begin, int64_t *pos)
{
    typedef int32_t four __attribute__((vector_size(4 * sizeof(int32_t))));
    for (int k = 0; k < n; k += ABREAST) {
        const int left = n - k < ABREAST ? n - k : ABREAST;
        four i0, i1, x0 = {0}, x1 = {0};
        const int32_t *from = at + k;
        int32_t tail[ABREAST] = {0};
        if (k + ABREAST > room) from = memcpy(tail, from, (size_t)left * sizeof *at);
        memcpy(&i0, from, sizeof i0);
        memcpy(&i1, from + 4, sizeof i1);
        for (int r = 1; r < runs; r++) {
            x0 -= i0 >= crd[r]; /* all bits, which is -1 */
            x1 -= i1 >= crd[r];
        }
        for (int j = 0; j < left; j++)
            pos[k + j] = begin + (j < 4 ? x0[j & 3] : x1[j & 3]);
    }
}

/* Positions of n coordinates in the row of an operand that follows. */
static void find_runs(const ivl_walk *w, int row, const int32_t *at, int n, int64_t room,
                      int64_t *pos)
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
    if (runs <= COUNTED) {
        count_runs(crd, (int)runs, at, n, room, begin, pos);
        return;
    }
    for (int k = 0; k < n; k++) {
        int64_t x = 0;
        for (int64_t left = runs; left > 1; left -= left / 2)
            x += crd[x + left / 2] <= at[k] ? left / 2 : 0;
        pos[k] = begin + x;
    }
}

/* The row's coordinates from the led operand's p on, as many as there is room for. */
static int find_row(ivl_loop *v, int n)
{
    ivl_walk *w = v->led;
    const int32_t *crd = (const int32_t *)w->t.crd + w->p;
    const int take = w->end - w->p < STRIP - n ? (int)(w->end - w->p) : STRIP - n;
    v->of->pos[v->nfiber] = w->p;
    v->start[v->nfiber] = n;
    v->fiber[v->nfiber++] = v->lane;
    for (int k = 0; k < v->nwalk; k++)
        if (&v->walk[k] != w)
            find_runs(&v->walk[k], v->lane, crd, take, w->size - w->p,
                      v->g.place[v->walk[k].place].data + n);
    w->p += take;
    return n + take;
}

/* n lanes that are positions from p on. */
static void put_lanes(const ivl_loop *v, int from, int n, int64_t p)
{
    const int32_t *crd = (const int32_t *)v->led->t.crd + p;
    int64_t *i = v->g.icol[0].data + from, *pos = v->g.place[v->led->place].data + from;
    for (int k = 0; k < n; k++) {
        i[k] = crd[k];
        pos[k] = p + k;
    }
}

/* Coordinates, positions and rows of n lanes: at once, if rows follow each other in
 * storage; loops over short rows are known for ending when no one expects it. */
static void put_rows(ivl_loop *v, int n)
{
    const int64_t *p = v->of->pos;
    column *c = &v->g.place[v->led->place];
    bool follow = v->nfiber > 0;
    v->start[v->nfiber] = n;
    for (int f = 1; f < v->nfiber; f++)
        follow &= p[f] - p[0] == v->start[f];
    if (follow) {
        put_lanes(v, 0, n, p[0]);
        c->form = COL_STEP;
        c->base = p[0];
        c->vals = NULL;
    }
    for (int f = 0; f < v->nfiber; f++) {
        const int from = v->start[f], to = v->start[f + 1];
        if (!follow) put_lanes(v, from, to - from, p[f]);
        for (int k = from; k < to; k++)
            v->row[k] = v->fiber[f];
    }
    for (int k = 0; k < n; k++)
        v->len[k] = 1;
}

void lead_fill(ivl_loop *v)
{
    ivl_walk *w = v->led;
    int n = 0;
    v->nfiber = 0;
    while (n < STRIP && v->lane < v->lanes) {
        if (!v->open) {
            const int64_t up = parent_of(w, v->lane);
            w->p = up < 0 ? 0 : table_bound(&w->t, up);
            w->end = up < 0 ? 0 : table_bound(&w->t, up + 1);
            v->open = true;
        }
        if (w->p < w->end) n = find_row(v, n);
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
    put_rows(v, n);
    v->g.icol[0].form = COL_ARRAY;
    v->g.n = n;
}
