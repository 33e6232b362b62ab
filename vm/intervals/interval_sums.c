/* interval_sums.c: factors that are the same in every row are summed beforehand.
 *
 * Over a run of b, the sum of b c is b times the sum of c's elements there
 * (compression paper, §IV-D, fig. 11), whether c is dense or compressed. Where c is
 * one fiber for all rows, its running sums are made once, and a run takes the
 * difference of two of them: c isn't merged with b any more. Sums of integers are the same
 * in any order, modulo 2^64. Those of floats are kept to twice their digits, and only where
 * what is lost of the largest of them is less than what adding up the smallest element
 * loses; so no difference of two is worse than a sum of its elements.
 */
#include "interval.h"
#include <float.h>
#include <math.h>

enum { ROWS_LEAST = 4 }; /* fewer aren't worth a table            */
enum { LONG = 2 };       /* coordinates a run of floats has at least, or it is spelt out */
#define TABLE_MOST (INT64_C(1) << 20) /* elements of one, and 64 a row at most */

/* The node by which the factor at a place is loaded, if the loop does nothing but sum
 * products with it; UNLINKED: none. */
static uint16_t factor_at(const ivl_loop *v, uint16_t at)
{
    const loop_summary *s = &v->g.s;
    const sink *x = &s->sink[0];
    uint16_t load = UNLINKED;
    if (s->nsink != 1 || x->kind != SINK_REDUCE || x->fn != FN_ADD || x->cls > CLASS_F64)
        return UNLINKED;
    for (int k = 0; k < s->nnode; k++) {
        if (s->node[k].kind != NODE_LOAD || s->node[k].b != at) continue;
        if (load != UNLINKED || s->node[k].uses != 1) return UNLINKED;
        load = (uint16_t)k;
    }
    const node *p = &s->node[x->node];
    if (load == UNLINKED || s->node[load].cls != x->cls) return UNLINKED;
    if (p->kind != NODE_FN || p->fn != FN_MUL || p->cls != x->cls || p->fn_cls != x->cls)
        return UNLINKED;
    return p->arg[0] == load || p->arg[1] == load ? load : UNLINKED;
}

static bool adds_floats(const ivl_loop *v)
{
    const vclass cls = (vclass)v->g.s.sink[0].cls;
    return cls == CLASS_F32 || cls == CLASS_F64;
}

/* Whether what is merged beside a factor has runs long enough to be taken one by one. */
static bool long_runs(const ivl_loop *v, const ivl_walk *factor)
{
    int64_t coordinates = v->end - v->begin;
    for (int k = 0; k < v->nwalk; k++)
        if (&v->walk[k] != factor && v->walk[k].fibers > 0)
            coordinates -= LONG * (v->walk[k].runs / v->walk[k].fibers);
    return coordinates > 0;
}

/* Running sums of the fiber below position `up`, over the loop's range: sums[k] is that
 * of the first k elements, and sums[0] that of all. A run that begins at k takes
 * starts[k] from the sum at its end, which is where the next one begins: at 0, if it is
 * the row's last. */
static void add_up(ivl_loop *v, const ivl_walk *w, const tensor *from, int64_t up)
{
    const fiber_table *t = &w->t;
    const void *vals = walk_vals(w, from);
    const int64_t n = v->end - v->begin;
    int64_t *sums = v->sums, *starts = v->sums + n;
    uint64_t sum = 0;
    int64_t k = 0, p = 0, last = 0, pos = 0;
    if (t->shape == VIEW_RANGE) {
        pos = up * (t->hi - t->lo) - t->lo + v->begin;
    } else {
        p = fiber_bound(t, up);
        last = fiber_bound(t, up + 1) - 1;
    }
    while (k < n) {
        int64_t next = n;
        if (t->shape == VIEW_RANGE) {
            next = k + 1;
        } else if (p < last) {
            next = ((const int32_t *)t->crd)[p + 1] - v->begin;
        }
        const int64_t at = t->shape == VIEW_RANGE ? pos + k : p++;
        const uint64_t e = (uint64_t)type_load(from->type, vals, at).i64;
        for (; k < next; k++, sum += e)
            sums[k] = starts[k] = (int64_t)sum;
    }
    sums[0] = (int64_t)sum;
}

/* The same of floats: the sum of the first k elements is sums[k] and rests[k], which is
 * what was lost of it; at 0 those of all. False: too much would be lost. */
static bool add_up_floats(ivl_loop *v, const ivl_walk *w, const tensor *from, int64_t up)
{
    const fiber_table *t = &w->t;
    const void *vals = walk_vals(w, from);
    const int64_t n = v->end - v->begin, pos = up * (t->hi - t->lo) - t->lo + v->begin;
    const bool wide = type_class(from->type) == CLASS_F64;
    double *sums = (double *)v->sums, *rests = sums + n;
    double sum = 0, rest = 0, all = 0, least = HUGE_VAL;
    for (int64_t k = 0; k < n; k++) {
        const value e = type_load(from->type, vals, pos + k);
        const double x = wide ? e.f64 : (double)e.f32, more = sum + x, of = more - sum;
        sums[k] = sum;
        rests[k] = rest;
        rest += (sum - (more - of)) + (x - of);
        sum = more + rest;
        rest += more - sum;
        all += fabs(x);
        if (x != 0 && fabs(x) < least) least = fabs(x);
    }
    sums[0] = sum;
    rests[0] = rest;
    return 4 * (double)n * all *
               (wide ? DBL_EPSILON : DBL_EPSILON * DBL_EPSILON / FLT_EPSILON) <=
           least;
}

/* … made once for all strips of rows. */
static stc_status make_table(machine *mc, ivl_loop *v, const ivl_walk *w,
                             const tensor *from, bool *fits)
{
    const int64_t n = v->end - v->begin, up = w->parent->base;
    *fits = true;
    if (v->sums_node == v->summed && v->sums_up == up) return STC_OK;
    if (mem_grow(mc->cx, &v->sums, &v->sums_cap, 2 * n, sizeof *v->sums))
        return mc->cx->diag.status;
    if (adds_floats(v))
        *fits = add_up_floats(v, w, from, up);
    else
        add_up(v, w, from, up);
    v->sums_node = *fits ? v->summed : UNLINKED;
    v->sums_up = up;
    return STC_OK;
}

/* Of floats those that are stored one by one: merging runs costs no more than this. */
static bool can_be_summed(const ivl_loop *v, const ivl_walk *w)
{
    const fiber_table *t = &w->t;
    if (!w->plain || w->parent->form != COL_FIXED || w->parent->base < 0) return false;
    if (adds_floats(v) && (t->shape != VIEW_RANGE || !long_runs(v, w))) return false;
    if (t->shape == VIEW_RUNS) return t->width == 4 && t->lo == v->begin && t->hi == v->end;
    return t->shape == VIEW_RANGE && t->lo <= v->begin && t->hi >= v->end;
}

void sums_end(ivl_loop *v)
{
    if (v->summed == UNLINKED) return;
    v->g.s.node[v->summed].kind = NODE_LOAD;
    v->summed = UNLINKED;
    v->nwalk++;
}

stc_status sums_start(machine *mc, ivl_loop *v)
{
    const int64_t n = v->end - v->begin;
    sums_end(v);
    if (!v->depth || !v->whole || v->nwalk < 2 || v->lanes < ROWS_LEAST || n < 1 ||
        n > TABLE_MOST || n / 64 > v->lanes)
        return STC_OK;
    for (int k = 0; k < v->nwalk; k++) {
        const uint16_t load = factor_at(v, v->walk[k].place);
        if (load == UNLINKED || !can_be_summed(v, &v->walk[k])) continue;
        const ivl_walk w = v->walk[k];
        v->walk[k] = v->walk[--v->nwalk];
        v->walk[v->nwalk] = w;
        v->summed = load;
        v->alone = runs_start(v);
        if (v->alone) {
            node *x = &v->g.s.node[load];
            bool fits;
            x->kind = NODE_GIVEN;
            if (make_table(mc, v, &v->walk[v->nwalk], mc->slot[x->a].t, &fits))
                return mc->cx->diag.status;
            if (fits) return STC_OK;
            v->alone = false;
        }
        sums_end(v);
    }
    return STC_OK;
}

/* Floats: what is taken away ahead of coordinate 0 is nothing. */
#define FILL(T)                                                                            \
    static void fill_##T(const ivl_loop *v, T *out)                                        \
    {                                                                                      \
        const double *sums = (const double *)v->sums, *rests = sums + (v->end - v->begin); \
        for (int k = 0; k < v->g.n; k++) {                                                 \
            const int64_t from = v->at[k] - v->begin, to = v->at[k + 1] - v->begin;        \
            const double sum = from ? sums[from] : 0, rest = from ? rests[from] : 0;       \
            out[k] = (T)((sums[to] - sum) + (rests[to] - rest));                           \
        }                                                                                  \
    }
FILL(double)
FILL(float)

/* The factor's sum over each lane. */
void sums_fill(ivl_loop *v)
{
    const int64_t *sums = v->sums - v->begin, *starts = sums + (v->end - v->begin);
    vcolumn *to = &v->g.node[v->summed];
    int64_t *out = to->data;
    const vclass cls = (vclass)v->g.s.sink[0].cls;
    to->p = out;
    to->spread = 0;
    if (cls == CLASS_F64) return fill_double(v, to->data);
    if (cls == CLASS_F32) return fill_float(v, to->data);
    for (int k = 0; k < v->g.n; k++)
        out[k] = (int64_t)((uint64_t)sums[v->at[k + 1]] - (uint64_t)starts[v->at[k]]);
}
