/* cascade_lines.c: strings of lines: elements × width.
 *
 * Below each lane of the loop around there is the same short range, and what the body
 * reads and writes lies side by side along it: rows of dense operands, rows of a dense
 * result. A column then has one position a line (COL_LINES), not one an element; no
 * coordinates and no rows are written, and values go between memory and the columns of
 * the body in whole lines. Products of a sparse and a dense matrix are the common case.
 *
 * Takes a stage whose string is filled by ranges (cascade_simple.c). Where something of a
 * line isn't there, the string is spelt out and goes the way of all others.
 */
#include "cascade.h"

enum { LINE_LEAST = 8 }; /* shorter ones are cheaper element by element */

/* ---- whether the body can do with lines -------------------------------------------- */

static bool lined_node(const loop_summary *s, const node *x)
{
    if (!x->varies) return true;
    switch (x->kind) {
    case NODE_LOAD:
        return s->place[x->b].kind == PLACE_OPERAND;
    case NODE_FN:
        return !(fn_at(x->fn)->flags & FP_FAULTS);
    case NODE_CONV:
    case NODE_WRAP:
    case NODE_GIVEN:
        return true;
    default:
        return false;
    }
}

static bool lined_place(const stage *st, int id)
{
    const loop_summary *s = &st->g->s;
    const place *x = &s->place[id];
    if (!x->varies || x->kind == PLACE_GIVEN) return true;
    if (x->kind == PLACE_OPERAND) return s->l->merge->operand[x->operand].coef == 1;
    const place *up = &s->place[x->up];
    return x->kind == PLACE_AT && st->column[id] && x->icol == 0 &&
           (!up->varies || up->kind == PLACE_GIVEN);
}

static bool lined_sink(const stage *st, int k)
{
    const sink *x = &st->g->s.sink[k];
    if (x->kind == SINK_REDUCE)
        return !x->right && fn_fold_of(x->fn, (vclass)x->cls) != NULL;
    return (x->kind == SINK_STORE || x->kind == SINK_ACC) &&
           st->sink[k].way == SINK_BY_PLACE && st->g->s.place[x->b].kind == PLACE_AT;
}

void stage_lines_prepare(stage *st)
{
    const loop_summary *s = &st->g->s;
    st->lined = !st->nwalk && !st->known && !st->nchild && !st->g->masks &&
                st->hi - st->lo >= LINE_LEAST;
    for (int k = 1; st->lined && k < s->nicol; k++)
        st->lined = !s->icol[k].varies;
    for (int k = 1; st->lined && k < s->nplace; k++)
        st->lined = lined_place(st, k);
    for (int k = 0; st->lined && k < s->nnode; k++)
        st->lined = lined_node(s, &s->node[k]);
    for (int k = 0; st->lined && k < s->nstep; k++)
        st->lined =
            s->step[k].kind == STEP_NODE ||
            (s->step[k].kind == STEP_PLACE && s->place[s->step[k].a].kind == PLACE_AT);
    for (int k = 0; st->lined && k < s->nsink; k++)
        st->lined = lined_sink(st, k);
}

void stage_lines_spell(stage *st)
{
    column *i = &st->g->icol[0];
    int64_t first[STRIP];
    for (int r = 0; r < st->runs; r++)
        first[r] = i->data[r];
    for (int r = 0, k = 0; r < st->runs; r++)
        for (const int from = k; k < st->run_end[r]; k++) {
            i->data[k] = first[r] + (k - from);
            st->row[k] = st->run_lane[r];
        }
    i->form = COL_ARRAY;
    st->lines = false;
}

/* ---- positions ---------------------------------------------------------------------- */

bool stage_lines_locate(const stage *st, column *c, const column *up, const column *shift,
                        int64_t lo, int64_t hi)
{
    const int64_t *first = st->g->icol[0].data;
    for (int r = 0, k = 0; r < st->runs; k = st->run_end[r++]) {
        const int64_t above = column_get(up, st->run_lane[r]);
        int64_t at = first[r];
        if (shift && __builtin_add_overflow(at, column_get(shift, st->run_lane[r]), &at))
            return false;
        if (above < 0 || at < lo || at >= hi || hi - at < st->run_end[r] - k) return false;
        c->data[r] = above * (hi - lo) + (at - lo);
    }
    c->form = COL_LINES;
    c->full = true;
    c->ranged = false;
    return true;
}
