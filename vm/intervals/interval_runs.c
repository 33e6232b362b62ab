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
 * Each step waits for the one before it. Two operands are merged from two places
 * at once: here, and some runs further on. More of them fill the registers from one
 * place: three groups of rows at once took as long (1.05 times), as runs of pictures
 * that end together are fewer lanes than one has to have room for.
 */
#include "interval_pairs.h"
#include <string.h>

enum { RUN_WALKS = 4, LANES = STRIP < 512 ? STRIP : 512, AHEAD_LEAST = LANES / 32 + 1 };
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
    w->p = table_bound(t, first);
    w->last = table_bound(t, first + rows) - 1;
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
    v->lead =
        v->nwalk > 1 && v->walk[1].last - v->walk[1].p > v->walk[0].last - v->walk[0].p;
    if (v->summed != UNLINKED) mask |= v->walk[v->nwalk].bit;
    return driven && steps && merge_produces(m, mask);
}

/* ---- merging ----------------------------------------------------------------------- */

/* The position of a fiber's first run, by lane outside. */
static int64_t row_bound(const ivl_walk *w, int64_t row)
{
    return table_bound(&w->t, (w->parent ? column_get(w->parent, 0) : w->root) + row);
}

/* Where a merge stands: at coordinate i, and in run x of each operand. */
typedef struct flow {
    uint32_t i;
    int64_t x[2];
} flow;

/* A step: the lane's coordinate and positions, and on to where the nearest run
 * ends. No operand is in its last row's last run. */
static inline void step_two(flow *f, const int32_t *a, const int32_t *b, uint32_t first,
                            int32_t *at, int64_t *pa, int64_t *pb)
{
    const uint32_t ea = (uint32_t)a[f->x[0] + 1] - first;
    const uint32_t eb = (uint32_t)b[f->x[1] + 1] - first;
    const uint32_t e = ea < eb ? ea : eb;
    *at = (int32_t)f->i;
    *pa = f->x[0];
    *pb = f->x[1];
    f->x[0] += ea == e;
    f->x[1] += eb == e;
    f->i = e + first;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Where the leading operand comes to run x: false if that isn't among these rows. */
static bool flow_at(const ivl_loop *v, int64_t x, flow *f)
{
    const ivl_walk *a = &v->walk[v->lead], *b = &v->walk[!v->lead];
    int64_t row = v->lane;
    if (x >= a->last) return false;
    while (row_bound(a, row + 1) <= x)
        row++;
    int64_t y = row_bound(b, row), end = row_bound(b, row + 1);
    const int32_t *crd = b->t.crd, i = ((const int32_t *)a->t.crd)[x];
    while (end - y > 1) {
        const int64_t mid = y + (end - y) / 2;
        if (crd[mid] <= i) {
            y = mid;
        } else {
            end = mid;
        }
    }
    *f = (flow){(uint32_t)i, {x, y}};
    return y < b->last;
}

/* Two operands, half a strip from where they stand and half from further on. If
 * the first doesn't come that far, the second was in vain. */
static int fill_two(ivl_loop *v)
{
    enum { HALF = LANES / 2 };
    ivl_walk *a = &v->walk[v->lead], *b = &v->walk[!v->lead];
    const uint32_t first = (uint32_t)v->begin + 1;
    const int64_t stop = a->p + v->ahead, enda = a->last, endb = b->last;
    const int32_t *ca = a->t.crd, *cb = b->t.crd;
    flow f = {(uint32_t)v->i, {a->p, b->p}}, g;
    int32_t *at = v->at;
    int64_t *pa = v->g.place[a->place].data, *pb = v->g.place[b->place].data;
    if (!flow_at(v, stop, &g)) return 0;
    int n = 0;
    for (int64_t steps = 1; steps > 0;) {
        for (int64_t k = 0; k < steps; k++, n++) {
            step_two(&f, ca, cb, first, at + n, pa + n, pb + n);
            step_two(&g, ca, cb, first, at + HALF + n, pa + HALF + n, pb + HALF + n);
        }
        steps = least(least(stop - f.x[0], endb - f.x[1]), HALF - n);
        steps = least(steps, least(enda - g.x[0], endb - g.x[1]));
    }
    const bool met = f.x[0] == stop;
    if (!met) {
        v->ahead = v->ahead / 2 > AHEAD_LEAST ? v->ahead / 2 : AHEAD_LEAST;
    } else {
        if (n < HALF - HALF / 4) v->ahead += v->ahead / 4;
        memmove(at + n, at + HALF, (size_t)n * sizeof *at);
        memmove(pa + n, pa + HALF, (size_t)n * sizeof *pa);
        memmove(pb + n, pb + HALF, (size_t)n * sizeof *pb);
        f = g;
        n *= 2;
    }
    a->p = f.x[0];
    b->p = f.x[1];
    v->i = (int32_t)f.i;
    return n;
}

/* Where a merge of any number of operands stands. */
typedef struct many {
    const int32_t *crd[RUN_WALKS];
    int64_t x[RUN_WALKS], last[RUN_WALKS], *pos[RUN_WALKS];
    uint32_t i;
    int rows, n;
} many;

/* While no operand is in its last run: `steps` of them. */
static inline __attribute__((always_inline)) void
step_inside(many *m, int32_t *at, const int walks, uint32_t first, int64_t steps)
{
    for (const int64_t stop = m->n + steps; m->n < stop; m->n++) {
        uint32_t end[RUN_WALKS], e = ROW_END;
        at[m->n] = (int32_t)m->i;
#pragma GCC unroll 4
        for (int k = 0; k < walks; k++) {
            end[k] = (uint32_t)m->crd[k][m->x[k] + 1] - first;
            e = end[k] < e ? end[k] : e;
            m->pos[k][m->n] = m->x[k];
        }
#pragma GCC unroll 4
        for (int k = 0; k < walks; k++)
            m->x[k] += end[k] == e;
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
            inside = again[k] ? 0 : least(inside, m.last[k] - m.x[k]);
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
    fetch_ahead(crd + n, (size_t)n * sizeof *crd);
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
        const int64_t end = table_bound(&t, row + f + 1) - from;
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
    const bool spans = v->walk[0].span || (v->nwalk > 1 && v->walk[1].span);
    if (v->nwalk == 1) n = fill_one(v);
    if (!n && v->nwalk == 2 && !spans && LANES / 4 > AHEAD_LEAST) n = fill_two(v);
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
