/* cascade_rows.c: lines of a loop's lanes, without a string: where the loop inside goes
 * through a range, the same in every lane, and adds products to rows of a dense level
 * (cascade_terms.c), then each lane of the strip around is a line, and nothing of the loop
 * inside need be filled or spread. Products of a sparse and a dense matrix, and their kin.
 *
 * What is found here per string is where each run of lanes adds its lines. Where a line of
 * an operand isn't there in some lane, the string goes the way of all others.
 */
#include "cascade.h"
#include "../nest/fibers.h"
#include <string.h>

/* ---- preparing ----------------------------------------------------------------- */

/* What is located covers the loop, and so has a line wherever its parent is. */
static bool match_operands(const machine *mc, const stage *st)
{
    const merge_desc *m = st->g->s.l->merge;
    for (int b = 0; b < m->count; b++) {
        const merge_operand *o = &m->operand[b];
        if (!located_plainly(o) ||
            !fibers_cover(mc->slot[o->tensor].t, o->level, st->lo, st->hi))
            return false;
    }
    return st->always || merge_produces(m, st->located);
}

static bool match_factors(const stage *st)
{
    const struct line_terms *t = &st->terms;
    for (int j = 0; j < t->nfactor; j++)
        if (st->link.node[t->factor[j]] == UNLINKED) return false;
    return true;
}

/* Rows of the result must be found without cursors. */
static bool match_sink(const machine *mc, const stage *st)
{
    const sink *x = &st->g->s.sink[0];
    const stage_sink *to = &st->sink[0];
    if (x->kind != SINK_ACC || to->way == SINK_BY_LANE || to->nrung == 0) return false;
    for (int k = 1; k < st->g->s.nplace; k++)
        if (st->g->s.place[k].kind == PLACE_AT && k != x->b) return false;
    const rung *last = &to->rung[to->nrung - 1];
    const level *lv = &mc->slot[x->a].t->level[last->level];
    if (last->at != st || !last->insert || st->g->s.place[last->place].icol != 0 ||
        !level_covers(lv, st->lo, st->hi))
        return false;
    return to->way == SINK_BY_PLACE || to->nrung > 1;
}

/* Whether the stage itself has a use for a place. */
static bool reads_place(const stage *st, uint16_t id)
{
    const loop_summary *s = &st->g->s;
    bool so = false;
    for (int k = 0; k < s->nplace; k++)
        so |= s->place[k].up == id;
    for (int k = 0; k < s->nsink; k++)
        so |= !sink_reduces(&s->sink[k]) && s->sink[k].b == id;
    return so;
}

/* Rows that the loops around have are found by runs of lanes: nobody asks for the place of
 * each lane's. */
static void spare_rows(const stage *st)
{
    const loop_summary *s = &st->g->s;
    const uint16_t up = s->place[s->sink[0].b].up, id = st->link.up[up];
    stage *around = st->out;
    if (s->place[up].kind == PLACE_GIVEN && around->g->s.place[id].kind == PLACE_GIVEN &&
        !reads_place(around, id))
        around->spared[id] = true;
}

/* What the loop around locates only for lines below it, or has from its lanes. */
static void spare_operand(const stage *st, uint16_t id)
{
    const loop_summary *s = &st->out->g->s;
    const place *x = &s->place[id];
    bool read = reads_place(st->out, id);
    for (int k = 0; k < s->nnode; k++)
        read |= s->node[k].kind == NODE_LOAD && s->node[k].b == id;
    if (!read && (x->kind == PLACE_OPERAND || (x->kind == PLACE_GIVEN && x->varies)))
        st->out->spared[id] = true;
}

const column *stage_rows_above(const stage *st, uint16_t of, bool *by_lane)
{
    const stage *around = st->out;
    const uint16_t id = st->link.up[of];
    *by_lane = around->spared[id] && around->g->s.place[id].kind == PLACE_GIVEN &&
               around->g->s.place[id].varies;
    return *by_lane ? &around->out->g->place[around->link.up[id]] : &around->g->place[id];
}

void stage_rows_prepare(const machine *mc, stage *st)
{
    st->rowwise = st->linear && st->terms.kernel && match_operands(mc, st) &&
                  match_factors(st) && match_sink(mc, st);
    if (!st->rowwise || !st->out->out || st->out->nchild > 1 || st->out->g->masks) return;
    spare_rows(st);
    if (st->out->nwalk == 1) st->out->unread = stage_terms_bare(mc, st);
    for (int b = 0; b < st->g->s.l->merge->count; b++)
        spare_operand(st, st->link.up[1 + b]);
}

/* The loop around has all columns that a string needs. */
static void leave_rows(machine *mc, stage *around)
{
    memset(around->spared, 0, sizeof around->spared);
    around->copies = false;
    around->unread = 0;
    if (!around->out) return;
    if (around->late) stage_late_spell(around);
    stage_spread(mc, around);
    strip_eval_unread(mc, around->g);
}

bool stage_rows_late(const stage *st)
{
    const stage_sink *to = &st->sink[0];
    return st->rowwise &&
           (to->way == SINK_BY_PLACE || to->rung[to->nrung - 2].at == st->out->out);
}

/* ---- a strip of the stage around ----------------------------------------------- */

/* Whether all lanes have a line of each operand. */
static bool lines_there(const stage *st)
{
    const merge_desc *m = st->g->s.l->merge;
    int64_t missing = 0;
    for (int b = 0; b < m->count; b++) {
        bool by_lane;
        const column *up = stage_rows_above(st, (uint16_t)(1 + b), &by_lane);
        const int n = by_lane ? st->out->out->g->n : st->out->g->n;
        if (up->ranged) return false;
        if (up->form == COL_FIXED) missing |= up->base;
        for (int k = 0; up->form == COL_ARRAY && !up->full && k < n; k++)
            missing |= up->data[k];
    }
    return missing >= 0;
}

/* Positions above the result's last level, of each run of lanes. Runs with the same one are
 * made one here, without a branch that depends on how many there are. */
static void rows_above(const machine *mc, stage *st, row_runs *out)
{
    const stage_sink *to = &st->sink[0];
    stage *around = st->out;
    const rung *g = to->nrung > 1 ? &to->rung[to->nrung - 2] : NULL;
    const column *c = g ? &g->at->g->place[g->place] : NULL;
    const int n = around->g->n;
    if (!c || c->form == COL_FIXED) {
        out->into[0] = c ? c->base : to->above == ROOT ? 0 : mc->c[to->above].c.at;
        out->end[0] = n;
        out->n = 1;
        return;
    }
    if (g->at == around) {
        for (int k = 0; k < n; k++)
            out->into[k] = column_get(c, k);
        out->n = n;
        out->lone = true;
        return;
    }
    stage_find_runs(around);
    int64_t last = NONE;
    out->n = -1;
    for (int r = 0; r < around->runs; r++) {
        const int of = stage_lane_in(around->out, g->at, around->run_lane[r]);
        const int64_t pos = column_get(c, of);
        out->n += pos != last;
        out->into[out->n] = last = pos;
        out->end[out->n] = around->run_end[r];
    }
    out->n++;
}

/* The same where entries are appended to it. */
static stc_status append_above(machine *mc, slot *r, stage *st, row_runs *out)
{
    stage_sink *to = &st->sink[0];
    const int rungs = to->nrung - 1;
    struct sink_list *own = stage_own_list(st->out, to, rungs);
    own->n = st->out->g->n;
    own->all = true;
    if (stage_append_places(mc, r, st->out, to, rungs, true)) return mc->cx->diag.status;
    const struct sink_list *last = &st->all->list[rungs - 1];
    out->n = last->n;
    out->lone = last == own;
    out->into = last->pos;
    out->end = last->end;
    return STC_OK;
}

/* Rows that the kernel will write get room; those it writes first need no fill. */
static stc_status new_rows(machine *mc, tensor *t, const row_runs *to, int64_t width)
{
    int64_t end = t->nvals, *into = to->into;
    for (int k = 0; k < to->n; k++) {
        const int64_t row = into[k];
        if (row == end) {
            end = row + width;
            into[k] = ~row;
        } else if (row + width > end) {
            const bool begun = row < end; /* by another term, as far as that went */
            t->nvals = end;
            if (tensor_extend_values(t, begun ? row + width : row))
                return mc->cx->diag.status;
            end = row + width;
            if (!begun) into[k] = ~row;
        }
    }
    t->nvals = end;
    return STC_OK;
}

/* Positions above the rows' level become those of their first elements. */
static stc_status rows_ready(machine *mc, stage *st, slot *r, const row_runs *to)
{
    const stage_sink *x = &st->sink[0];
    const level *lv = &r->t->level[x->rung[x->nrung - 1].level];
    const int64_t width = lv->extent, from = st->lo - lv->base;
    int64_t most = 0;
    for (int k = 0; k < to->n; k++) {
        to->into[k] = to->into[k] * width + from;
        most = to->into[k] > most ? to->into[k] : most;
    }
    if (most + width <= r->t->nvals) return STC_OK;
    if (st->hi - st->lo < width) /* part of a row: the rest of it is filled */
        return asm_value(mc, r, most - from + width - 1);
    if (tensor_reserve_values(r->t, most + width)) return mc->cx->diag.status;
    return new_rows(mc, r->t, to, width);
}

stc_status stage_rows_run(machine *mc, stage *st, bool *done)
{
    slot *r = &mc->slot[st->g->s.sink[0].a];
    const int64_t n = st->out->g->n * (st->hi - st->lo);
    row_runs to = {.t = r->t, .into = st->g->icol[0].data, .end = st->run_end};
    *done = n == 0;
    if (n == 0) return STC_OK;
    if (!st->terms.wide || !lines_there(st)) {
        leave_rows(mc, st->out);
        return STC_OK;
    }
    if (st->out->unread && st->out->g->place[st->out->walk[0].place].form != COL_STEP)
        strip_eval_unread(mc, st->out->g);
    if (st->sink[0].way == SINK_BY_PLACE) {
        rows_above(mc, st, &to);
    } else if (append_above(mc, r, st, &to)) {
        return mc->cx->diag.status;
    }
    if (rows_ready(mc, st, r, &to)) return mc->cx->diag.status;
    r->stores += (uint64_t)n;
    stage_terms_rows(mc, st, &to);
    *done = true;
    return machine_count(mc, n);
}
