/* cascade_spread.c: what an element has from the lane that it belongs to, and
 * which elements there are in the end.
 *
 * A string of elements that all belong to one lane has that lane's positions,
 * coordinates and values as columns of one value. Operands that are located are
 * placed for the whole string at once where their fibers are ranges, else one
 * by one.
 */
#include "../core/ahead.h"
#include "cascade.h"
#include <string.h>

static bool given(const stage *st, int id)
{
    const place *p = &st->g->s.place[id];
    const uint16_t from = st->link.up[id];
    if (p->kind != PLACE_GIVEN) return false;
    const place *x = &st->out->g->s.place[from];
    return x->kind != PLACE_AT || st->out->column[from];
}

static bool by_runs(stage *st)
{
    stage_find_runs(st);
    return st->lines || stage_long_runs(st, st->g->n); /* lines have no rows */
}

/* A column of integers of the strip around, by the rows of this one's lanes. */
static void spread_column(stage *st, column *to, const column *from)
{
    const int n = st->g->n;
    to->ranged = from->ranged;
    to->full = from->full;
    if (from->form == COL_FIXED || st->same) {
        const int k = st->same ? st->row[0] : 0;
        to->form = COL_FIXED;
        to->base = column_get(from, k);
        to->full = to->base != NONE;
        if (from->ranged) to->end[0] = column_end(from, k);
        return;
    }
    to->form = COL_ARRAY;
    const int *row = st->row;
    if (by_runs(st)) {
        for (int r = 0, k = 0; r < st->runs; r++)
            for (const int64_t x = column_get(from, st->run_lane[r]); k < st->run_end[r];)
                to->data[k++] = x;
    } else if (from->form == COL_STEP) {
        for (int k = 0; k < n; k++)
            to->data[k] = from->base + row[k];
    } else {
        for (int k = 0; k < n; k++)
            to->data[k] = from->data[row[k]];
    }
    for (int k = 0; from->ranged && k < n; k++)
        to->end[k] = column_end(from, row[k]);
}

static void spread_place(stage *st, int id)
{
    column *to = &st->g->place[id];
    const column *from = &st->out->g->place[st->link.up[id]];
    if (!st->g->s.place[id].varies) {
        to->form = COL_FIXED;
        to->base = from->base;
        to->full = to->base != NONE;
        to->ranged = from->ranged;
        if (to->ranged) to->end[0] = from->end[0];
        return;
    }
    spread_column(st, to, from);
}

static void spread_node(stage *st, int id)
{
    const node *x = &st->g->s.node[id];
    const vcolumn *from = &st->out->g->node[st->link.node[id]];
    vcolumn *to = &st->g->node[id];
    const vclass cls = (vclass)x->cls;
    if (!from->p || st->same) {
        const value v = from->p ? class_get(cls, from->p, st->row[0]) : from->one;
        if (to->p || memcmp(&to->one, &v, class_size(cls))) to->spread = 0;
        to->one = v;
        to->p = NULL;
        return;
    }
    if (by_runs(st)) {
        class_repeat(cls, to->data, from->p, st->run_lane, st->run_end, st->runs);
    } else {
        class_gather(cls, to->data, from->p, st->row, st->g->n);
    }
    to->p = to->data;
    to->spread = 0;
}

void stage_spread_match(stage *st)
{
    const loop_summary *s = &st->own.s;
    memset(st->read, 0, sizeof st->read);
    for (int k = 0; k < s->nnode; k++)
        if (s->node[k].kind == NODE_LOAD) st->read[s->node[k].b] = true;
    for (int k = 0; k < s->nplace; k++)
        st->read[s->place[k].up] = true;
    for (int k = 0; k < s->nsink; k++)
        if (s->sink[k].kind == SINK_STORE || s->sink[k].kind == SINK_ACC)
            st->read[s->sink[k].b] = true;
    for (int k = 0; k < s->nstep; k++) {
        if (s->step[k].kind == STEP_PRESENT) st->read[s->step[k].a] = true;
        if (s->step[k].kind == STEP_FILLBIT) st->read[s->step[k].b] = true;
    }
    for (int j = 0; j < st->nchild; j++)
        for (int k = 0; k < st->child[j]->own.s.nplace; k++) {
            const uint16_t up = st->child[j]->link.up[k];
            if (up != UNLINKED) st->read[up] = true;
        }
}

void stage_spread(machine *mc, stage *st)
{
    const loop_summary *s = &st->g->s;
    (void)mc;
    const bool apart = st->late && st->late_apart;
    for (int k = 1; !apart && k < s->nicol; k++) {
        if (s->icol[k].kind != ICOL_GIVEN) continue;
        const column *from = &st->out->g->icol[st->link.icol[k]];
        if (s->icol[k].varies) {
            spread_column(st, &st->g->icol[k], from);
        } else {
            st->g->icol[k].form = COL_FIXED;
            st->g->icol[k].base = from->base;
        }
    }
    for (int k = 1 + s->l->merge->count; !apart && k < s->nplace; k++)
        if (st->read[k] && !st->spared[k] && given(st, k) && !st->lines)
            spread_place(st, k);
    for (int k = 0; k < s->nnode; k++)
        if (s->node[k].kind == NODE_GIVEN && st->link.node[k] != UNLINKED &&
            s->node[k].uses && !(st->g->unread >> k & 1))
            spread_node(st, k);
}

/* ---- what is located ----------------------------------------------------------- */

/* The positions above operand b of the string's elements, as far as that is
 * one value. */
static bool one_above(const stage *st, const column *up, int64_t *pos)
{
    if (up->form != COL_FIXED && !st->same) return false;
    *pos = column_get(up, st->same ? st->row[0] : 0);
    return true;
}

typedef struct located {
    const column *up, *shift;
    int64_t coef, lo, hi;
    int slot;
} located;

static int64_t shift_of(const stage *st, const located *x, int k)
{
    return x->shift ? column_get(x->shift, st->row[k]) : 0;
}

/* Coordinates in steps are those of one lane (cascade_fill.c): below one position, with one
 * shift, positions go as they do. */
static bool locate_steps(const stage *st, const located *x, column *c)
{
    const column *i = &st->g->icol[0];
    int64_t at;
    if (i->form != COL_STEP || x->coef != 1) return false;
    const int64_t up = column_get(x->up, st->row[0]);
    if (__builtin_add_overflow(i->base, shift_of(st, x, 0), &at)) return false;
    if (up == NONE || at >= x->hi || at <= x->lo - st->g->n) {
        c->form = COL_FIXED;
        c->base = NONE;
        c->full = false;
        return true;
    }
    if (at < x->lo || x->hi - at < st->g->n) return false;
    c->form = COL_STEP;
    c->base = up * (x->hi - x->lo) + (at - x->lo);
    c->full = true;
    return true;
}

/* All coordinates are in range: no element can lack it but by its parent. */
static bool covers(const stage *st, const located *x)
{
    return x->coef == 1 && !x->shift && x->lo <= st->lo && x->hi >= st->hi;
}

/* Elements of one lane, at coordinates that follow each other from `at` places after the
 * first one below `up` on: the middle ones are there. */
static bool locate_run(int64_t *data, int n, int64_t up, int64_t at, int64_t rows)
{
    const int64_t before = at < 0 ? -at : 0, until = rows - at;
    const int from = up < 0 || before > n ? n : (int)before;
    const int to = up < 0 || until > n ? n : until < from ? from : (int)until;
    for (int k = 0; k < from; k++)
        data[k] = NONE;
    for (int k = from; k < to; k++)
        data[k] = up * rows + at + k;
    for (int k = to; k < n; k++)
        data[k] = NONE;
    return from == 0 && to == n;
}

/* Below each lane's position, at its shift, if neither is far from 0; coordinates of ranges
 * ascend. */
static bool locate_by_lane(const stage *st, const located *x, column *c)
{
    const int64_t far = INT64_C(1) << 60, rows = x->hi - x->lo;
    const column *i = &st->g->icol[0];
    const int *row = st->row;
    bool full = true;
    if (st->nwalk || x->coef != 1 || i->form != COL_ARRAY || x->lo < -far || x->hi > far)
        return false;
    for (int e = 0, end; e < st->g->n; e = end) {
        const int64_t shift = x->shift ? column_get(x->shift, row[e]) : 0;
        for (end = e + 1; end < st->g->n && row[end] == row[e];)
            end++;
        if (shift < -far || shift > far || i->data[end - 1] > far ||
            i->data[end - 1] - i->data[e] != end - 1 - e)
            return false;
        full &= locate_run(c->data + e, end - e, column_get(x->up, row[e]),
                           i->data[e] + shift - x->lo, rows);
    }
    c->form = COL_ARRAY;
    c->full = full;
    return true;
}

static void locate_each(const stage *st, const located *x, column *c)
{
    const column *i = &st->g->icol[0];
    const int64_t rows = x->hi - x->lo, lo = x->lo;
    int64_t up, any = 0;
    c->form = COL_ARRAY;
    if (covers(st, x) && one_above(st, x->up, &up)) { /* i isn't in steps: locate_steps */
        for (int e = 0; e < st->g->n; e++)
            c->data[e] = up < 0 ? NONE : up * rows + (i->data[e] - lo);
        c->full = up >= 0;
        return;
    }
    if (locate_by_lane(st, x, c)) return;
    if (covers(st, x)) {
        for (int e = 0; e < st->g->n; e++) {
            up = column_get(x->up, st->row[e]);
            any |= c->data[e] = up < 0 ? NONE : up * rows + (column_get(i, e) - lo);
        }
        c->full = any >= 0;
        return;
    }
    for (int e = 0; e < st->g->n; e++) {
        int64_t at;
        up = column_get(x->up, st->row[e]);
        const bool in = !__builtin_mul_overflow(column_get(i, e), x->coef, &at) &&
                        !__builtin_add_overflow(at, shift_of(st, x, e), &at) &&
                        at >= x->lo && at < x->hi && up >= 0;
        any |= c->data[e] = in ? up * rows + (at - lo) : NONE;
    }
    c->full = any >= 0;
}

/* Positions are coordinates as they lie in the operand that is walked, and a constant. */
static bool lie_there(const stage *st, int id, column *c)
{
    const stage_walk *w = &st->walk[0];
    const column *at = &st->g->place[w->place];
    if (at->form != COL_STEP) return false;
    if (st->spared[id]) return true;
    if (!st->loaded[id] || w->t.width != sizeof *c->crd) return false;
    c->form = COL_LIES;
    c->crd = (const int32_t *)w->t.crd + at->base;
    fetch_far(w->t.crd, at->base, st->g->n, w->t.width);
    return true;
}

/* Coordinates that aren't written out become positions on the way, unless those are for who
 * reads the coordinates himself. False: they can't. */
static bool locate_late(stage *st, int id, const located *x, column *c)
{
    const int64_t rows = x->hi - x->lo;
    int64_t up, any = 0;
    st->bare[id] = false;
    if (!covers(st, x)) return false;
    c->form = COL_ARRAY;
    if (one_above(st, x->up, &up)) {
        if (up < 0) return false;
        c->base = up * rows - x->lo;
        st->bare[id] = lie_there(st, id, c);
        if (!st->bare[id]) stage_coords(st, c->data, st->g->n, c->base);
    } else {
        stage_coords(st, c->data, st->g->n, -x->lo);
        for (int e = 0; e < st->g->n; e++) {
            up = column_get(x->up, st->row[e]);
            any |= c->data[e] = up < 0 ? NONE : up * rows + c->data[e];
        }
    }
    c->full = any >= 0;
    return true;
}

/* Any kind of level, below one parent at once or element by element. */
static void locate_any(machine *mc, const stage *st, int id, const level *lv,
                       const located *x)
{
    column *c = &st->g->place[id];
    cursor above[STC_MAX_ORDER], found = {0};
    const uint16_t up = st->link.up[id];
    if (x->coef == 1 && !x->shift &&
        strip_locate_runs(mc, x->slot, lv, x->up, st->row, &st->g->icol[0], st->g->n, c))
        return;
    for (int e = 0; e < st->g->n; e++) {
        int64_t at;
        if (__builtin_mul_overflow(column_get(&st->g->icol[0], e), x->coef, &at) ||
            __builtin_add_overflow(at, shift_of(st, x, e), &at)) {
            found.at = found.at_end = NONE;
        } else {
            cursor_locate_any(&found, lv,
                              strip_stand(mc, st->out->g, up, st->row[e], above), at);
        }
        c->data[e] = found.at;
        c->end[e] = found.at_end;
    }
    c->form = COL_ARRAY;
    c->full = false;
    c->ranged = !(lv->props & PROP_UNIQUE);
}

/* False: the string is one of lines, and can't be. */
static bool locate(machine *mc, stage *st, int b)
{
    const merge_operand *o = &st->g->s.l->merge->operand[b];
    const int id = 1 + b;
    const level *lv = &mc->slot[o->tensor].t->level[o->level];
    const uint16_t shift = st->link.shift[id];
    located x = {.up = &st->out->g->place[st->link.up[id]],
                 .shift = shift == UNLINKED ? NULL : &st->out->g->icol[shift],
                 .coef = o->coef,
                 .slot = o->tensor};
    fiber_table t = {.shape = VIEW_NONE};
    if (lv->kind->table && lv->kind->locate && !x.up->ranged) lv->kind->table(lv, &t);
    column *c = &st->g->place[id];
    if (st->lines)
        return t.shape == VIEW_RANGE &&
               stage_lines_locate(st, c, x.up, x.shift, t.lo, t.hi);
    x.lo = t.lo;
    x.hi = t.hi;
    c->ranged = false;
    if (st->late && t.shape == VIEW_RANGE && locate_late(st, id, &x, c)) return true;
    if (st->late) stage_late_spell(st);
    if (t.shape != VIEW_RANGE) {
        locate_any(mc, st, id, lv, &x);
        return true;
    }
    if (!locate_steps(st, &x, c)) locate_each(st, &x, c);
    return true;
}

/* ---- which elements produce ---------------------------------------------------- */

static void operand_columns(machine *mc, stage *st)
{
    const merge_desc *m = st->g->s.l->merge;
    for (int b = 0; b < m->count; b++) {
        if (m->operand[b].role == MERGE_KNOWN) spread_place(st, 1 + b);
        if (m->operand[b].role != MERGE_LOCATE || locate(mc, st, b)) continue;
        stage_lines_spell(st);
        b = -1; /* all of them element by element */
    }
}

/* Which operands all elements have, and which some may have. */
static void presence(const stage *st, uint64_t *sure, uint64_t *maybe)
{
    const merge_desc *m = st->g->s.l->merge;
    *sure = *maybe = 0;
    for (int b = 0; b < m->count; b++) {
        const column *c = &st->g->place[1 + b];
        if (c->form == COL_FIXED ? c->base != NONE : c->form == COL_STEP || c->full) {
            *sure |= UINT64_C(1) << b;
        } else if (c->form == COL_ARRAY) {
            *maybe |= UINT64_C(1) << b;
        }
    }
}

stc_status stage_settle(machine *mc, stage *st)
{
    strip *g = st->g;
    const merge_desc *m = g->s.l->merge;
    uint64_t sure, maybe;
    operand_columns(mc, st);
    presence(st, &sure, &maybe);
    if (!st->always && !maybe && !merge_produces(m, sure)) g->n = 0;
    const bool sifts =
        maybe && !st->always &&
        (st->known || st->loose || !strip_settled(m, st->located, sure, st->maybe));
    if (sifts || g->masks) strip_masks(g, sure, maybe);
    if (!sifts) return STC_OK;
    if (st->late) stage_late_spell(st);
    int n = 0;
    for (int k = 0; k < g->n; k++) {
        g->keep[n] = k;
        n += m->count <= MERGE_TABLE_MAX ? (int)(m->produce >> g->mask[k] & 1)
                                         : merge_produces(m, g->mask[k]);
    }
    g->done = -1; /* nothing but operands is there yet */
    if (n < g->n) strip_compact(g, n);
    return STC_OK;
}
