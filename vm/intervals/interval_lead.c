/* interval_lead.c: sparse coordinates that lead, and runs that follow.
 *
 * Where one operand's coordinates decide which elements there are (a sparse mask on
 * an image, the paper's mixed operation), and the others are runs that cover the
 * range, or ranges, lanes are those coordinates, row after row: only where a row ends is
 * noted, if nobody asks for more. The run that each of them is in is found for all
 * lanes of a strip at once (interval_ranks.c).
 */
#include "interval.h"
#include <string.h>

/* Lanes of a strip, so that all it touches stays in the nearest cache; and entries that are
 * asked for ahead. */
enum { LANES = STRIP < 512 ? STRIP : 512, FETCH_MOST = 4 * LANES };

static bool follows(const ivl_loop *v, const ivl_walk *w)
{
    const fiber_table *t = &w->t;
    if (w->parent ? w->parent->form == COL_ARRAY && !w->parent->full : w->root < 0)
        return false;
    if (!w->plain) return false;
    if (t->shape == VIEW_RUNS || t->shape == VIEW_TOKENS)
        return t->width == 4 && t->lo == v->begin && t->hi == v->end;
    return t->shape == VIEW_RANGE && t->lo <= v->begin && t->hi >= v->end;
}

static bool leads(const ivl_loop *v, const ivl_walk *w)
{
    const fiber_table *t = &w->t;
    return w->plain && t->shape == VIEW_COORDS && t->width == 4 && t->lo >= v->begin &&
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

/* Whole rows that follow each other, as many as there is room for: their lanes; 0: there is
 * none, or they aren't so. */
static int whole_rows(ivl_loop *v)
{
    ivl_walk *w = v->led;
    const fiber_table *t = &w->t;
    if (v->open || t->bounds_width != 4 || !w->parent || w->parent->form != COL_STEP)
        return 0;
    const int32_t *b = (const int32_t *)t->bounds + w->parent->base + v->lane;
    const int32_t from = b[0];
    const int left = (int)(v->lanes - v->lane);
    int64_t *first = v->of->pos;
    int rows = 0, k = 0;
    for (; k < left && rows < LANES && b[k + 1] - from <= LANES; k++) {
        first[rows] = b[k];
        v->start[rows] = b[k] - from;
        v->fiber[rows] = v->lane + k;
        rows += b[k + 1] > b[k];
    }
    if (!rows) return 0;
    v->nfiber = rows;
    v->lane += k;
    return v->start[rows] = b[k] - from;
}

/* Rows from the led operand's p on, as many as there is room for: their lanes. *follow:
 * they follow each other in storage. */
static int next_rows(ivl_loop *v, bool *follow)
{
    const int whole = whole_rows(v);
    *follow = whole > 0;
    if (whole) return whole;
    ivl_walk *w = v->led;
    const fiber_table t = w->t;
    int64_t *first = v->of->pos, p = w->p, end = w->end;
    int rows = 0, n = 0, at = (int)v->lane;
    bool open = v->open, together = true;
    const bool listed = w->parent && w->parent->form == COL_ARRAY;
    const int64_t first_up = walk_parent(w, 0),
                  by = w->parent && w->parent->form == COL_STEP;
    while (n < LANES && at < v->lanes) {
        if (!open) {
            const int64_t up = listed ? w->parent->data[at] : first_up + by * at;
            p = up < 0 ? 0 : fiber_bound(&t, up);
            end = up < 0 ? 0 : fiber_bound(&t, up + 1);
        }
        const int take = end - p < LANES - n ? (int)(end - p) : LANES - n;
        first[rows] = p;
        v->start[rows] = n;
        v->fiber[rows] = at;
        rows += take > 0;
        together &= take == 0 || p - first[0] == n;
        p += take;
        n += take;
        open = p < end;
        at += !open;
    }
    v->start[rows] = n;
    v->nfiber = rows;
    v->open = open;
    v->lane = at;
    w->p = p;
    w->end = end;
    *follow = together;
    return n;
}

/* What the next strip takes: as much as this one, behind it. */
static void fetch_rows(const machine *mc, const ivl_loop *v, const ivl_walk *w)
{
    const tensor *t = interval_loaded(mc, v, w->place);
    if (!w->t.bounds || !t || !v->nfiber) return;
    const size_t size = type_size(t->type);
    const int64_t first = walk_parent(w, v->fiber[0]);
    const int64_t last = walk_parent(w, v->fiber[v->nfiber - 1]) + 1;
    const int64_t p = fiber_bound(&w->t, last), n = p - fiber_bound(&w->t, first);
    fetch((const char *)w->t.bounds + last * w->t.bounds_width,
          (size_t)(v->nfiber * w->t.bounds_width));
    if (n < 0 || n > FETCH_MOST) return;
    fetch((const char *)w->t.crd + p * w->t.width, (size_t)(n * w->t.width));
    fetch((const char *)walk_vals(w, t) + p * (int64_t)size, (size_t)n * size);
}

/* Positions of an operand whose fibers are ranges. */
static void place_ranges(const ivl_loop *v, const ivl_walk *w, int64_t *pos)
{
    for (int f = 0; f < v->nfiber; f++) {
        const int32_t *at = (const int32_t *)v->led->t.crd + v->of->pos[f];
        const int64_t up = walk_parent(w, v->fiber[f]);
        const int64_t base = up * (w->t.hi - w->t.lo) - w->t.lo;
        for (int k = v->start[f]; k < v->start[f + 1]; k++)
            pos[k] = base + at[k - v->start[f]];
    }
}

/* Those of the led operand. */
static void place_led(ivl_loop *v, bool follow)
{
    column *c = &v->g.place[v->led->place];
    const int64_t *first = v->of->pos;
    if (follow && v->nfiber > 0) {
        c->form = COL_STEP;
        c->base = first[0];
        return;
    }
    for (int f = 0; f < v->nfiber; f++)
        for (int k = v->start[f]; k < v->start[f + 1]; k++)
            c->data[k] = first[f] + k - v->start[f];
}

/* Coordinates, lengths and rows, for those who ask. */
void lead_spread(ivl_loop *v)
{
    const column *c = &v->g.place[v->led->place];
    const int32_t *crd = v->led->t.crd;
    for (int k = 0; k < v->g.n; k++) {
        v->g.icol[0].data[k] = crd[column_get(c, k)];
        v->len[k] = 1;
    }
    for (int f = 0; f < v->nfiber; f++)
        for (int k = v->start[f]; k < v->start[f + 1]; k++)
            v->row[k] = v->fiber[f];
}

void lead_coords(const ivl_loop *v, int32_t *to)
{
    const column *c = &v->g.place[v->led->place];
    const int32_t *crd = v->led->t.crd;
    if (c->form == COL_STEP) {
        memcpy(to, crd + c->base, (size_t)v->g.n * sizeof *to);
        return;
    }
    for (int k = 0; k < v->g.n; k++)
        to[k] = crd[c->data[k]];
}

void lead_fill(const machine *mc, ivl_loop *v)
{
    bool follow;
    v->g.n = next_rows(v, &follow);
    for (int k = 0; k < v->nwalk; k++) {
        const ivl_walk *w = &v->walk[k];
        column *c = &v->g.place[w->place];
        c->form = COL_ARRAY;
        c->full = true;
        c->ranged = false;
        c->vals = NULL;
        fetch_rows(mc, v, w);
        if (w == v->led) {
            place_led(v, follow);
        } else if (w->t.shape == VIEW_RANGE) {
            place_ranges(v, w, c->data);
        } else {
            ranks_of_rows(v, w, c->data);
        }
    }
    v->g.icol[0].form = COL_ARRAY;
    if (!v->bare) lead_spread(v);
}
