/* interval_runs.c: rows of runs, merged end to end.
 *
 * Where every operand is made of runs that cover the loop's range, and the rows
 * follow each other in storage, rows needn't be told apart while merging: a row
 * ends for all operands at once, and the next entry of each is the first run of
 * the next row. Counted from behind the range's first coordinate, in 32 bits
 * without sign, that entry is the largest number there is; so the nearest end is
 * the least of the operands' next entries, whether a row ends there or not, and a
 * merge is a loop without a branch on data (compression paper, fig. 9).
 *
 * Each step waits for the one before it. Two operands with elements of one size are merged
 * from four places at once (interval_pairs.c); more of them fill the registers from one
 * place: three groups of rows at once took as long (1.05 times), as runs of pictures
 * that end together are fewer lanes than one has to have room for.
 */
#include "interval_pairs.h"
#include <string.h>

enum { RUN_WALKS = 4, LANES = STRIP < 512 ? STRIP : 512 };
#define ROW_END UINT32_MAX

/* ---- which rows -------------------------------------------------------------------- */

/* Whether parents of all lanes outside follow each other, or are one. */
bool runs_follow(const column *c, int64_t n, bool *one)
{
    *one = c->form == COL_FIXED && n > 1;
    if (c->form != COL_ARRAY) return true;
    bool follow = true;
    for (int64_t k = 1; k < n; k++)
        follow &= c->data[k] == c->data[k - 1] + 1;
    return follow;
}

static bool start_walk(ivl_loop *v, ivl_walk *w)
{
    const fiber_table *t = &w->t;
    bool one = false;
    if (!w->plain || t->shape != VIEW_RUNS || t->width != 4 || t->lo != v->begin ||
        t->hi != v->end || (w->parent && !runs_follow(w->parent, v->lanes, &one)))
        return false;
    const int64_t first = w->parent ? column_get(w->parent, 0) : w->root;
    const int64_t rows = one ? 1 : v->lanes;
    if (first < 0) return false;
    w->p = fiber_bound(t, first);
    w->last = fiber_bound(t, first + rows) - 1;
    w->span = one ? w->last + 1 - w->p : 0;
    return w->p <= w->last;
}

bool runs_start(ivl_loop *v)
{
    const merge_desc *m = v->g.s.l->merge;
    bool driven = m->universe, steps = v->lanes == 1;
    uint64_t mask = 0;
    if (!v->whole || v->nwalk < 1 || v->nwalk > RUN_WALKS ||
        m->count != v->nwalk + (v->summed != UNLINKED) || v->begin >= v->end)
        return false;
    for (int k = 0; k < v->nwalk; k++) {
        if (!start_walk(v, &v->walk[k])) return false;
        driven |= v->walk[k].drives;
        mask |= v->walk[k].bit;
        steps |= !v->walk[k].span;
    }
    v->i = v->begin;
    if (v->summed != UNLINKED) mask |= v->walk[v->nwalk].bit;
    return driven && steps && merge_produces(m, mask);
}

/* ---- merging ----------------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Where a merge of any number of operands stands. */
typedef struct many {
    const int32_t *crd[RUN_WALKS];
    int64_t x[RUN_WALKS], last[RUN_WALKS], *pos[RUN_WALKS];
    uint32_t i;
    int rows, n;
} many;

/* While no operand comes to its last run: `steps` of them. Where the run after the next one
 * begins is read before it is known whether the next one is reached: so a step needn't wait
 * for memory until the one before it is done. */
static inline __attribute__((always_inline)) void
step_inside(many *m, int32_t *at, const int walks, uint32_t first, int64_t steps)
{
    uint32_t end[RUN_WALKS];
    for (int k = 0; steps > 0 && k < walks; k++)
        end[k] = (uint32_t)m->crd[k][m->x[k] + 1] - first;
    for (const int64_t stop = m->n + steps; m->n < stop; m->n++) {
        uint32_t e = ROW_END;
        at[m->n] = (int32_t)m->i;
#pragma GCC unroll 4
        for (int k = 0; k < walks; k++) {
            e = end[k] < e ? end[k] : e;
            m->pos[k][m->n] = m->x[k];
        }
#pragma GCC unroll 4
        for (int k = 0; k < walks; k++) {
            const uint32_t after = (uint32_t)m->crd[k][m->x[k] + 2] - first;
            const uint32_t ends = end[k] == e;
            end[k] += (after - end[k]) * ends; /* without a branch */
            m->x[k] += ends;
        }
        m->i = e + first;
        m->rows += e == ROW_END;
    }
}

/* Any number of operands; those that are the same in every row begin again. */
static inline __attribute__((always_inline)) int fill_steps(ivl_loop *v, const int walks)
{
    const uint32_t first = (uint32_t)v->begin + 1;
    const int left = (int)(v->lanes - v->lane);
    int64_t again[RUN_WALKS], inside = LANES;
    many m = {.i = (uint32_t)v->i};
    for (int k = 0; k < walks; k++) {
        m.crd[k] = v->walk[k].t.crd;
        m.x[k] = v->walk[k].p;
        m.last[k] = v->walk[k].last;
        m.pos[k] = v->g.place[v->walk[k].place].data;
        again[k] = v->walk[k].span;
    }
    while (inside > 0) {
        inside = LANES - m.n;
        for (int k = 0; k < walks; k++)
            inside = again[k] ? 0 : least(inside, m.last[k] - 1 - m.x[k]);
        step_inside(&m, v->at, walks, first, inside);
    }
    for (; m.n < LANES && m.rows < left; m.n++) {
        uint32_t end[RUN_WALKS], e = ROW_END;
#pragma GCC unroll 4
        for (int k = 0; k < walks; k++) {
            const bool more = m.x[k] < m.last[k]; /* if not, there; beyond, if vouched */
            const int64_t p = more ? m.x[k] : m.last[k];
            end[k] = (uint32_t)m.crd[k][p + more] - first;
            end[k] = more ? end[k] : ROW_END;
            e = end[k] < e ? end[k] : e;
            m.pos[k][m.n] = p;
        }
        v->at[m.n] = (int32_t)m.i;
        m.i = e + first;
        m.rows += e == ROW_END;
#pragma GCC unroll 4
        for (int k = 0; k < walks; k++)
            m.x[k] += (end[k] == e) - (e == ROW_END ? again[k] : 0);
    }
    for (int k = 0; k < walks; k++)
        v->walk[k].p = m.x[k];
    v->i = (int32_t)m.i;
    return m.n;
}

/* One operand: its runs are the lanes. */
static int fill_one(ivl_loop *v)
{
    ivl_walk *w = &v->walk[0];
    const int32_t *crd = (const int32_t *)w->t.crd + w->p;
    const int n = (int)least(w->last + 1 - w->p, STRIP);
    memcpy(v->at, crd, (size_t)n * sizeof *crd);
    fetch(crd + n, (size_t)n * sizeof *crd);
    column *c = &v->g.place[w->place];
    c->form = COL_STEP;
    c->base = w->p;
    w->p += n;
    v->i = w->p <= w->last ? crd[n] : v->begin;
    return n;
}

/* ---- what lanes belong to ------------------------------------------------------------ */

/* The fibers of n lanes that are the runs of one operand, which stands behind them. */
static int bound_fibers(ivl_loop *v, int n)
{
    const ivl_walk *w = &v->walk[0];
    const fiber_table t = w->t;
    const int64_t row = (w->parent ? column_get(w->parent, 0) : w->root) + v->lane;
    const int64_t from = w->p - n;
    int f = 0;
    for (int k = 0; k < n; f++) {
        const int64_t end = fiber_bound(&t, row + f + 1) - from;
        v->start[f] = k;
        v->fiber[f] = (int)v->lane + f;
        k = end < n ? (int)end : n;
    }
    return f;
}

/* … of any: where a row ends for all, the next lane is at the range's first coordinate. No
 * more than there are rows, whatever a host vouched for. */
static int merged_fibers(ivl_loop *v, int n)
{
    const int f = 1 + words_find(v->at + 1, n - 1, (int32_t)v->begin, 1, v->start + 1,
                                 (int)(v->lanes - v->lane) - 1);
    v->start[0] = 0;
    for (int k = 0; k < f; k++)
        v->fiber[k] = v->lane + k;
    return f;
}

static void find_fibers(ivl_loop *v, int n)
{
    const int f = v->nwalk == 1 ? bound_fibers(v, n) : merged_fibers(v, n);
    v->start[f] = n;
    v->nfiber = f;
    const bool ends = v->i == v->begin;
    v->lane += f - !ends;
    v->next = ends ? v->end : v->i;
}

/* … lanes' lengths, for those who ask: a factor that is summed has them in it. */
static void find_lengths(ivl_loop *v, int n)
{
    const int32_t *at = v->at, end = (int32_t)v->end;
    for (int k = 0; v->summed != UNLINKED && k < n; k++)
        v->len[k] = 1;
    for (int k = 0; v->summed == UNLINKED && k < n; k++)
        v->len[k] = (at[k + 1] > at[k] ? at[k + 1] : end) - at[k];
}

/* … and their coordinates and rows. */
static void spread_fibers(ivl_loop *v, int n)
{
    const int32_t *at = v->at;
    for (int k = 0; k < n; k++)
        v->g.icol[0].data[k] = at[k];
    for (int f = 0; f < v->nfiber; f++)
        for (int k = v->start[f]; k < v->start[f + 1]; k++)
            v->row[k] = v->fiber[f];
}

void runs_fill(ivl_loop *v)
{
    int n = 0;
    for (int k = 0; k < v->nwalk; k++) {
        column *c = &v->g.place[v->walk[k].place];
        c->form = COL_ARRAY;
        c->full = true;
        c->ranged = false;
        c->vals = v->walk[k].vals;
    }
    if (v->element) n = pairs_fill(v);
    const bool strung = n > 0;
    if (v->nwalk == 1) n = fill_one(v);
    if (!n) {
        n = v->nwalk == 2   ? fill_steps(v, 2)
            : v->nwalk == 3 ? fill_steps(v, 3)
                            : fill_steps(v, 4);
    }
    v->g.icol[0].form = COL_ARRAY;
    v->g.n = n;
    v->at[n] = (int32_t)v->i;
    if (!strung) find_fibers(v, n);
    if (v->bare < BARE_FIBERS) find_lengths(v, n);
    if (v->bare < BARE_LENGTHS) spread_fibers(v, n);
    for (int k = 0; v->sieves && k < n; k++) /* rows of runs are there everywhere */
        v->g.mask[k] = (UINT64_C(1) << v->nwalk) - 1;
    if (v->summed != UNLINKED) sums_fill(v);
}
