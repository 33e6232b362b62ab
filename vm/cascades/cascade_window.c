/* cascade_window.c: fibers seen through a slice, or at a shift: `A(i(2:9))`,
 * `A(i(::3))`, `A(i+j)`.
 *
 * A walker whose coordinate is coef * index + shift, or reaches beyond the loop's
 * range, is given a window: a copy of the fibers of as many lanes as fit, in which
 * coordinates are indices, and only those of the range that the slice meets. The ends
 * of long fibers are looked for; within them an entry is kept or not without a branch.
 * To whoever fills the stage a window is a table like any other; its positions are
 * led back to the operand's afterwards. Where all walkers of a loop are merged by keys
 * and have no stride, there are none: cascade_keys.c cuts their fibers itself.
 *
 * Division by the stride is exact, so it is a shift and a product: an entry that isn't
 * a multiple of it comes out beyond any range.
 */
#include "cascade.h"
#include <string.h>

enum { WINDOW_CAP = 4 * STRIP, SOUGHT = 16 };

/* Nothing that is further off, or reaches further, is seen through a window. */
#define FAR ((int64_t)1 << 60)

struct window {
    fiber_table t; /* the operand's own            */
    const column *parent, *shift;
    int64_t coef, begin, end; /* of the loop's range */
    uint64_t inverse;         /* of coef without its factors of two */
    int twos;
    column lanes;             /* lane k is fiber k - base of the window */
    int64_t *from, *to, *pos; /* from, to: of the lanes in busy */
    int *busy, nbusy;         /* lanes that see something          */
    void *crd, *bounds;
    int64_t cap, pos_cap;
    void *block;
    size_t block_size;
};

/* ---- a run ------------------------------------------------------------------------ */

static bool unique_above(const tensor *t, int l)
{
    for (int k = 0; k < l; k++)
        if (!(t->level[k].props & PROP_UNIQUE)) return false;
    return true;
}

/* Whether the walker has to be seen through a window, and can. */
static bool seen(const machine *mc, const stage *st, const stage_walk *w, fiber_table *t)
{
    enum { ASK = PROP_ORDERED | PROP_UNIQUE };
    const place *opened = stage_opened(st, w);
    const level *lv = w->lv;
    if ((opened->coef == 1 && !w->trims) || !lv->kind->table) return false;
    if ((lv->props & ASK) != ASK || st->lo < 0 || st->hi > FAR / opened->coef ||
        lv->base <= -FAR || lv->base + lv->extent >= FAR ||
        !unique_above(mc->slot[opened->tensor].t, opened->level))
        return false;
    lv->kind->table(lv, t);
    return t->shape == VIEW_COORDS && t->bounds && t->stride == t->width &&
           t->bounds_width == t->width && (t->width == 8 || st->hi <= INT32_MAX);
}

static window *new_window(machine *mc)
{
    const size_t size = (3 * STRIP + 1) * sizeof(int64_t) + STRIP * sizeof(int);
    window *v = mem_zero(mc->cx, 1, sizeof *v);
    if (v) v->block = mem_alloc(mc->cx, size);
    if (!v || !v->block) {
        mem_free(mc->cx, v, sizeof *v);
        diag_clear(mc->cx); /* there is another way */
        return NULL;
    }
    v->block_size = size;
    v->from = v->block;
    v->to = v->from + STRIP;
    v->bounds = v->to + STRIP;
    v->busy = (int *)(v->to + 2 * STRIP + 1);
    return v;
}

static void look_through(const stage *st, stage_walk *w, const fiber_table *t)
{
    window *v = w->window;
    const uint64_t coef = (uint64_t)stage_opened(st, w)->coef;
    v->t = *t;
    v->parent = w->parent;
    v->shift = w->shift;
    v->coef = (int64_t)coef;
    v->begin = st->lo;
    v->end = st->hi;
    v->twos = __builtin_ctzll(coef);
    const uint64_t odd = coef >> v->twos;
    v->inverse = odd; /* right in 3 bits; each step doubles them */
    for (int bits = 3; bits < 64; bits *= 2)
        v->inverse *= 2 - odd * v->inverse;
    v->lanes = (column){.form = COL_STEP, .full = true};
    w->parent = &v->lanes;
    w->shift = NULL;
    w->trims = false;
    w->tabled = true;
    w->t = (fiber_table){.shape = VIEW_COORDS,
                         .width = t->width,
                         .stride = t->width,
                         .bounds = v->bounds,
                         .bounds_width = t->width,
                         .lo = st->lo,
                         .hi = st->hi};
}

void stage_windows_prepare(machine *mc, stage *st)
{
    fiber_table t[WALK_MAX];
    bool need[WALK_MAX], any = false;
    st->windowed = false;
    for (int k = 0; k < st->nwalk; k++) {
        stage_walk *w = &st->walk[k];
        need[k] = seen(mc, st, w, &t[k]);
        if (!need[k] && !w->tabled) return; /* its lanes are stepped anyway */
        if (need[k] && !w->window) w->window = new_window(mc);
        if (need[k] && !w->window) return;
        any |= need[k];
    }
    for (int k = 0; any && k < st->nwalk; k++)
        if (need[k]) look_through(st, &st->walk[k], &t[k]);
    st->windowed = any;
}

void stage_windows_free(machine *mc, stage *st)
{
    for (int k = 0; k < st->walks; k++) {
        window *v = st->walk[k].window;
        if (!v) continue;
        mem_free(mc->cx, v->crd, (size_t)v->cap * sizeof(int64_t));
        mem_free(mc->cx, v->pos, (size_t)v->pos_cap * sizeof(int64_t));
        mem_free(mc->cx, v->block, v->block_size);
        mem_free(mc->cx, v, sizeof *v);
    }
}

/* ---- the next lanes --------------------------------------------------------------- */

static int64_t shift_in(const window *v, int k)
{
    return v->shift ? column_get(v->shift, k) : 0;
}

static bool is_near(int64_t shift)
{
    return shift > -2 * FAR && shift < 2 * FAR;
}

/* Lanes are rows in order, all seen at one shift: the first row; else NONE. */
static int64_t first_row(const window *v, int first)
{
    const bool still = !v->shift || v->shift->form == COL_FIXED;
    const bool rows = v->parent->form == COL_STEP && still && is_near(shift_in(v, first));
    return rows ? v->parent->base + first : NONE;
}

/* Most lanes see nothing of a small part of a tensor: those that may see something are
 * listed first, by the ends of their fibers. */
#define WINDOW(W, I)                                                                       \
    static int busy_rows_##W(const I *crd, const I *bounds, int lanes, int64_t lo,         \
                             int64_t hi, int *busy)                                        \
    {                                                                                      \
        int n = 0;                                                                         \
        for (int k = 0; k < lanes; k++) {                                                  \
            const int64_t p = bounds[k], e = bounds[k + 1];                                \
            if (p >= e) continue;                                                          \
            busy[n] = k;                                                                   \
            n += (crd[p] < hi) & (crd[e - 1] >= lo);                                       \
        }                                                                                  \
        return n;                                                                          \
    }                                                                                      \
    static int busy_lanes_##W(const window *v, int first, int last)                        \
    {                                                                                      \
        const I *crd = v->t.crd, *bounds = v->t.bounds;                                    \
        int n = 0;                                                                         \
        for (int k = first; k < last; k++) {                                               \
            const int64_t parent = column_get(v->parent, k), shift = shift_in(v, k);       \
            if (parent < 0 || !is_near(shift)) continue;                                   \
            const int64_t p = bounds[parent], e = bounds[parent + 1];                      \
            v->busy[n] = k - first;                                                        \
            n += p < e && crd[p] < v->coef * v->end + shift &&                             \
                 crd[e - 1] >= v->coef * v->begin + shift;                                 \
        }                                                                                  \
        return n;                                                                          \
    }                                                                                      \
    /* Where the fibers of lanes are; the lane before which it is full. */                 \
    static int span_##W(window *v, int first, int last)                                    \
    {                                                                                      \
        const I *crd = v->t.crd, *bounds = v->t.bounds;                                    \
        const int64_t row = first_row(v, first), still = shift_in(v, first);               \
        int64_t n = 0;                                                                     \
        v->nbusy = row == NONE ? busy_lanes_##W(v, first, last)                            \
                               : busy_rows_##W(crd, bounds + row, last - first,            \
                                               v->coef * v->begin + still,                 \
                                               v->coef * v->end + still, v->busy);         \
        for (int b = 0; b < v->nbusy; b++) {                                               \
            const int k = first + v->busy[b];                                              \
            const int64_t parent = column_get(v->parent, k), shift = shift_in(v, k);       \
            int64_t p = bounds[parent], e = bounds[parent + 1];                            \
            const int64_t lo = v->coef * v->begin + shift, hi = v->coef * v->end + shift;  \
            if (e - p > SOUGHT) {                                                          \
                p += coords_below(crd + p, W, e - p, lo);                                  \
                e = p + coords_below(crd + p, W, e - p, hi);                               \
            }                                                                              \
            if (n > 0 && n + (e - p) > WINDOW_CAP) return k;                               \
            v->from[b] = p;                                                                \
            v->to[b] = e;                                                                  \
            n += e - p;                                                                    \
        }                                                                                  \
        return last;                                                                       \
    }                                                                                      \
    static void see_##W(window *v, int first, int lanes)                                   \
    {                                                                                      \
        const I *restrict crd = v->t.crd;                                                  \
        I *restrict to = v->crd, *restrict bounds = v->bounds;                             \
        const uint64_t begin = (uint64_t)v->begin, many = (uint64_t)(v->end - v->begin);   \
        const uint64_t inverse = v->inverse, part = ((uint64_t)1 << v->twos) - 1;          \
        const int twos = v->twos;                                                          \
        const bool apart = v->coef > 1;                                                    \
        int64_t *restrict pos = v->pos, n = 0;                                             \
        int done = 0;                                                                      \
        for (int b = 0; b < v->nbusy; b++) {                                               \
            const int k = v->busy[b];                                                      \
            const uint64_t shift = (uint64_t)shift_in(v, first + k);                       \
            for (; done <= k; done++)                                                      \
                bounds[done] = (I)n;                                                       \
            const int64_t p = v->from[b], e = v->to[b];                                    \
            for (int64_t j = p; !apart && j < e; j++) {                                    \
                const uint64_t i = (uint64_t)crd[j] - shift;                               \
                to[n] = (I)i;                                                              \
                pos[n] = j;                                                                \
                n += i - begin < many;                                                     \
            }                                                                              \
            for (int64_t j = p; apart && j < e; j++) {                                     \
                const uint64_t x = (uint64_t)crd[j] - shift, i = (x >> twos) * inverse;    \
                to[n] = (I)i;                                                              \
                pos[n] = j;                                                                \
                n += ((x & part) == 0) & (i - begin < many);                               \
            }                                                                              \
        }                                                                                  \
        for (; done <= lanes; done++)                                                      \
            bounds[done] = (I)n;                                                           \
    }
WINDOW(4, int32_t)
WINDOW(8, int64_t)

/* Fills the window with lanes up to `last`. An entry is written before it is known
 * whether it is kept: room for one more. */
static stc_status see(machine *mc, stage_walk *w, int first, int last)
{
    window *v = w->window;
    int64_t n = 1;
    while (v->nbusy > 0 && v->busy[v->nbusy - 1] >= last - first)
        v->nbusy--;
    for (int b = 0; b < v->nbusy; b++)
        n += v->to[b] - v->from[b];
    if (v->cap < n && mem_grow(mc->cx, &v->crd, &v->cap, n, sizeof(int64_t)))
        return mc->cx->diag.status;
    if (v->pos_cap < n && mem_grow(mc->cx, &v->pos, &v->pos_cap, n, sizeof(int64_t)))
        return mc->cx->diag.status;
    if (v->t.width == 4) {
        see_4(v, first, last - first);
    } else {
        see_8(v, first, last - first);
    }
    v->lanes.base = -first;
    w->t.crd = v->crd;
    return STC_OK;
}

static bool through_window(const stage_walk *w)
{
    return w->window && w->parent == &w->window->lanes;
}

stc_status stage_windows_next(machine *mc, stage *st)
{
    int last = st->out->g->n;
    for (int k = 0; k < st->nwalk; k++) {
        window *v = st->walk[k].window;
        if (!through_window(&st->walk[k])) continue;
        last = v->t.width == 4 ? span_4(v, st->lane, last) : span_8(v, st->lane, last);
    }
    for (int k = 0; k < st->nwalk; k++)
        if (through_window(&st->walk[k]) && see(mc, &st->walk[k], st->lane, last))
            return mc->cx->diag.status;
    st->lanes = last;
    return STC_OK;
}

/* ---- a string --------------------------------------------------------------------- */

void stage_windows_places(stage *st, int n)
{
    for (int j = 0; j < st->nwalk; j++) {
        const stage_walk *w = &st->walk[j];
        if (!through_window(w)) continue;
        const int64_t *pos = w->window->pos;
        column *c = &st->g->place[w->place];
        if (st->runs > 0 && c->form == COL_STEP) {
            memcpy(c->data, pos + c->base, (size_t)n * sizeof *pos);
        } else {
            for (int k = 0; k < n; k++) {
                const int64_t p = c->data[k], absent = p >> 63;
                c->data[k] = pos[p & ~absent] | absent;
            }
        }
        c->form = COL_ARRAY;
    }
}
