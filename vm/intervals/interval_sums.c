/* interval_sums.c: factors that are the same in every row are summed beforehand.
 *
 * Over a run of b, the sum of b c is b times the sum of c's elements there
 * (compression paper, §IV-D, fig. 11), whether c is dense or compressed. Where c is
 * one fiber for all rows, its running sums are made once, and a run takes the
 * difference of two of them: c isn't merged with b any more. Only for integers:
 * their sums are the same in any order, modulo 2^64; differences of floats aren't.
 */
#include "interval.h"

enum { ROWS_LEAST = 4 };              /* fewer aren't worth a table            */
#define TABLE_MOST (INT64_C(1) << 20) /* elements of one, and 64 a row at most */

/* The node by which the factor at a place is loaded, if the loop does nothing but sum
 * products with it; UNLINKED: none. */
static uint16_t factor_at(const ivl_loop *v, uint16_t at)
{
    const loop_summary *s = &v->g.s;
    const sink *x = &s->sink[0];
    uint16_t load = UNLINKED;
    if (s->nsink != 1 || x->kind != SINK_REDUCE || x->fn != FN_ADD ||
        (x->cls != CLASS_I64 && x->cls != CLASS_U64))
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

/* … made once for all strips of rows. */
static stc_status make_table(machine *mc, ivl_loop *v, const ivl_walk *w,
                             const tensor *from)
{
    const int64_t n = v->end - v->begin, up = w->parent->base;
    if (v->sums_node == v->summed && v->sums_up == up) return STC_OK;
    if (mem_grow(mc->cx, &v->sums, &v->sums_cap, 2 * n, sizeof *v->sums))
        return mc->cx->diag.status;
    add_up(v, w, from, up);
    v->sums_node = v->summed;
    v->sums_up = up;
    return STC_OK;
}

static bool can_be_summed(const ivl_loop *v, const ivl_walk *w)
{
    const fiber_table *t = &w->t;
    if (!w->plain || w->parent->form != COL_FIXED || w->parent->base < 0) return false;
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
            x->kind = NODE_GIVEN;
            return make_table(mc, v, &v->walk[v->nwalk], mc->slot[x->a].t);
        }
        sums_end(v);
    }
    return STC_OK;
}

/* The factor's sum over each lane. */
void sums_fill(ivl_loop *v)
{
    const int64_t *sums = v->sums - v->begin, *starts = sums + (v->end - v->begin);
    vcolumn *to = &v->g.node[v->summed];
    int64_t *out = to->data;
    for (int k = 0; k < v->g.n; k++)
        out[k] = (int64_t)((uint64_t)sums[v->at[k + 1]] - (uint64_t)starts[v->at[k]]);
    to->p = out;
    to->spread = 0;
}
