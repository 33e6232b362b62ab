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
        p = table_bound(t, up);
        last = table_bound(t, up + 1) - 1;
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
    if (!w->parent || w->parent->form != COL_FIXED || w->parent->base < 0) return false;
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

/* ---- whole rows ------------------------------------------------------------------ */

/* Where the row of a lane outside ends. */
static int64_t row_end(const ivl_walk *w, int row)
{
    return table_bound(&w->t, (w->parent ? column_get(w->parent, 0) : w->root) + row + 1);
}

/* Adds up rows: n runs from position p on, whose values are vals[0 …]; `before` is the
 * value of the run ahead of them, and given is that of the last. Summed by parts, so that
 * a run takes one sum: with S that of all before it, a row is the sum of S (x' - x), where
 * x' is the run's before, and of all times the last x. A row's first run has S = 0, so
 * that rows needn't be told apart. One function an integer type. */
typedef uint64_t add_rows(ivl_loop *v, const ivl_walk *w, int64_t p, int n,
                          const void *vals, uint64_t before);
#define READ(x, rank) ((rank) == 1 ? (uint64_t)((x) != 0) : (uint64_t)(x))
#define ROWS_I64(NAME, ctype, rank)                                                        \
    static uint64_t rows_##NAME(ivl_loop *v, const ivl_walk *w, int64_t p, int n,          \
                                const void *vals, uint64_t before)                         \
    {                                                                                      \
        const int64_t *starts = v->sums + (v->end - v->begin) - v->begin;                  \
        const int32_t *at = (const int32_t *)w->t.crd + p;                                 \
        const ctype *val = vals;                                                           \
        uint64_t *total = v->g.node[v->summed].data, sum = total[0] = 0;                   \
        uint64_t *out = v->of->loop[v->depth - 1].g.node[v->link.result].data;             \
        for (int k = 0; k < n; k++) {                                                      \
            const uint64_t x = READ(val[k], rank);                                         \
            sum += (uint64_t)starts[at[k]] * (before - x);                                 \
            total[k + 1] = sum;                                                            \
            before = x;                                                                    \
        }                                                                                  \
        for (int64_t from = 0, end; from < n; from = end) {                                \
            end = row_end(w, v->lane) - p;                                                 \
            const bool whole = end <= n;                                                   \
            if (!whole) end = n;                                                           \
            out[v->lane] += total[end] - total[from];                                      \
            if (whole) out[v->lane++] += READ(val[end - 1], rank) * (uint64_t)v->sums[0];  \
        }                                                                                  \
        return before;                                                                     \
    }
#define ROWS_U64 ROWS_I64
#define ROWS_F32(NAME, ctype, rank)
#define ROWS_F64(NAME, ctype, rank)
#define ROWS_C64(NAME, ctype, rank)
#define ROWS_C128(NAME, ctype, rank)
#define TYPE(NAME, name, ctype, CLASS, rank) ROWS_##CLASS(NAME, ctype, rank)
#include "../formats/types.def"

static add_rows *rows_of(stc_type t)
{
    switch (t) {
#define CASE_I64(NAME)                                                                     \
    case STC_##NAME:                                                                       \
        return rows_##NAME;
#define CASE_U64 CASE_I64
#define CASE_F32(NAME)
#define CASE_F64(NAME)
#define CASE_C64(NAME)
#define CASE_C128(NAME)
#define TYPE(NAME, name, ctype, CLASS, rank) CASE_##CLASS(NAME)
#include "../formats/types.def"
    default:
        return NULL;
    }
}

/* If the body is one operand's value times the factor, rows are added up without strips:
 * a row is the difference of two totals, so that no loop over runs ends with it. */
stc_status sums_rows(machine *mc, ivl_loop *v)
{
    if (v->summed == UNLINKED || v->nwalk != 1 || v->walk[0].span) return STC_OK;
    const node *p = &v->g.s.node[v->g.s.sink[0].node];
    const node *x = &v->g.s.node[p->arg[p->arg[0] == v->summed]];
    ivl_walk *w = &v->walk[0];
    if (x->kind != NODE_LOAD || x->b != w->place) return STC_OK;
    const tensor *t = mc->slot[x->a].t;
    add_rows *const rows = rows_of(t->type);
    if (!rows) return STC_OK;
    uint64_t before = 0; /* nothing, ahead of a row */
    while (w->p <= w->last) {
        const int64_t left = w->last + 1 - w->p, at = w->p;
        const int n = left < STRIP - 1 ? (int)left : STRIP - 1;
        const char *vals = (const char *)walk_vals(w, t) + at * (int64_t)type_size(t->type);
        before = rows(v, w, at, n, vals, before);
        w->p += n;
        if (machine_count(mc, n)) return mc->cx->diag.status;
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
