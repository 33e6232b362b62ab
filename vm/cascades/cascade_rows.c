/* cascade_rows.c: three loops in one handler: where a pair (nest.h) accumulates rows
 * in a result, its outer loop needs no strip of its own if it walks one fiber and
 * all that the rows and scalars depend on are columns of the strip around, the
 * element's coordinate, or its position. Then the kernel goes through the fibers
 * below the lanes of that strip itself (SpMM, MTTKRP, TTM, and their kin).
 *
 * What is found here per run is a table of strides; what isn't of that form
 * goes through strings of elements as before.
 */
#include "cascade.h"
#include "../nest/fibers.h"
#include "../super/super.h"
#include <string.h>

/* What is no larger stays near the processor: rows that only the second cache holds
 * are worth asking for ahead (5 to 10 % of MTTKRP with 128 and 256 KB of them). */
enum { NEAR_BYTES = 1 << 16 };

/* ---- preparing ----------------------------------------------------------------- */

/* The operand is a range below a column of the strip around, and has all
 * coordinates of the loop. */
static bool covers(const machine *mc, const stage *st, int b)
{
    const merge_operand *o = &st->g->s.l->merge->operand[b];
    return located_plainly(o) &&
           fibers_cover(mc->slot[o->tensor].t, o->level, st->lo, st->hi);
}

/* The fiber is gone through where all operands of a set are that has it, and
 * whatever others are. */
static bool match_merge(const machine *mc, stage *st)
{
    const merge_desc *m = st->g->s.l->merge;
    if (m->universe || m->count > MERGE_TABLE_MAX || st->nwalk != 1) return false;
    const uint64_t last = UINT64_C(1) << ((1 << m->count) - 1), all = last | (last - 1);
    uint64_t there = all;
    st->rows.need = 0;
    for (int b = 0; b < m->count; b++) {
        if (m->produce & ~table_bit(b) & all) continue;
        st->rows.need |= UINT64_C(1) << b;
        there &= table_bit(b);
    }
    if ((m->produce & all) != there || !(st->rows.need >> (st->walk[0].place - 1) & 1))
        return false;
    for (int b = 0; b < m->count; b++)
        if (1 + b != st->walk[0].place && !covers(mc, st, b)) return false;
    return true;
}

/* Nothing but the loop inside and what is there for it: all other places are the merge's
 * or those of the strip around, and what doesn't vary is worked out there. */
static bool match_body(const stage *st)
{
    const loop_summary *s = &st->g->s;
    for (int k = 0; k < s->nstep; k++) {
        const step *x = &s->step[k];
        if (x->kind == STEP_INNER) continue;
        if (x->kind != STEP_NODE) return false;
        const uint8_t kind = s->node[x->a].kind;
        if (kind != NODE_LOAD && kind != NODE_GIVEN) return false;
    }
    return s->nsink == 0;
}

static bool prepare_walk(machine *mc, stage *st, int *width)
{
    const stage_walk *w = &st->walk[0];
    const fiber_table *t = &w->t;
    const place *opened = stage_opened(st, w);
    const tensor *from = mc->slot[opened->tensor].t;
    if (st->windowed || !w->tabled || w->trims || w->dups || t->shape != VIEW_COORDS ||
        (t->bounds && t->bounds_width != t->width))
        return false;
    if (t->bounds && !tensor_unique(from, opened->level)) return false;
    st->rows.walk = (nest_walk){.bounds = t->bounds,
                                .crd = t->crd,
                                .step = t->stride / t->width,
                                .parent = w->parent};
    st->rows.entries = w->lv->size;
    *width = t->width;
    return true;
}

/* What is located covers the loop: match_merge. */
static void prepare_row(machine *mc, stage *st, int j)
{
    const nest_load *x = &st->pair->load[j];
    const int id = (int)(x->parent - st->g->place);
    const place *p = &st->g->s.place[id];
    int64_t by_up = 0, by_crd = 0, by_pos = 0, shift = st->pair->lo - x->lo;
    const column *up = NULL;
    if (id == st->walk[0].place) {
        by_pos = x->extent;
    } else if (p->kind == PLACE_OPERAND) {
        const merge_operand *o = &st->g->s.l->merge->operand[p->operand];
        const level *lv = &mc->slot[o->tensor].t->level[o->level];
        up = &st->out->g->place[st->link.up[id]];
        by_up = lv->extent * x->extent;
        by_crd = x->extent;
        shift -= lv->base * x->extent;
    } else if (id != PLACE_ROOT) { /* given */
        up = &st->out->g->place[st->link.up[id]];
        by_up = x->extent;
    }
    const tensor *from = mc->slot[st->pair->in.node[x->node].a].t;
    st->rows.far |= from->nvals * (int64_t)type_size(from->type) > NEAR_BYTES;
    st->rows.x[j].vals = x->vals;
    st->rows.x[j].up = up;
    st->rows.x[j].by_up = by_up;
    st->rows.x[j].by_crd = by_crd;
    st->rows.x[j].by_pos = by_pos;
    st->rows.x[j].shift = shift;
}

/* A factor is worked out in the strip around, or is the fiber's value; there is one of
 * those. */
static bool prepare_scalar(machine *mc, stage *st, uint16_t id)
{
    const node *x = &st->g->s.node[id];
    nest_rows *r = &st->rows;
    if (x->kind == NODE_GIVEN) {
        r->scalar[r->nscalar++] = &st->out->g->node[st->link.node[id]];
        return true;
    }
    if (x->kind != NODE_LOAD || mc->slot[x->a].t->type != st->pair->type ||
        x->b != st->walk[0].place || r->vals)
        return false;
    r->vals = mc->slot[x->a].t->vals;
    return true;
}

/* Rows of the result must be found without cursors. They don't differ along a fiber: a
 * kernel that accumulates a range has its row from around the fiber, and a place in it for
 * each coordinate of the loop inside (nest.c). */
bool stage_rows_prepare(machine *mc, stage *st)
{
    nest *ns = st->pair;
    int width;
    if (!match_merge(mc, st) || !match_body(st) ||
        st->child[0]->sink[0].way == SINK_BY_LANE || !prepare_walk(mc, st, &width) ||
        !ns->rows[width == 8])
        return false;
    st->rows.nscalar = 0;
    st->rows.vals = NULL;
    st->rows.far = false;
    for (int j = 0; j < ns->nload; j++)
        prepare_row(mc, st, j);
    for (int j = 0; j < ns->nscalar; j++)
        if (!prepare_scalar(mc, st, ns->scalar[j])) return false;
    ns->by = &st->rows;
    ns->kernel = ns->rows[width == 8];
    return true;
}

/* ---- a strip of the stage around ----------------------------------------------- */

/* Columns that lanes must have something in: those in which some may not. */
typedef struct needs {
    int n;
    const column *c[MERGE_TABLE_MAX + NEST_LOADS];
} needs;

static void need(needs *out, const column *c)
{
    if (c->form == COL_STEP || (c->form == COL_ARRAY && c->full)) return;
    if (c->form == COL_FIXED && c->base != NONE) return;
    out->c[out->n++] = c;
}

static void find_needs(const stage *st, needs *out)
{
    const merge_desc *m = st->g->s.l->merge;
    const nest_rows *r = &st->rows;
    for (int b = 0; b < m->count; b++)
        if (1 + b != st->walk[0].place && r->need >> b & 1)
            need(out, &st->out->g->place[st->link.up[1 + b]]);
    for (int j = 0; j < st->pair->nload; j++)
        if (r->x[j].up) need(out, r->x[j].up);
}

/* Whether a lane's fiber has anything in it. */
static bool has_fiber(const nest_rows *r, bool wide, int k)
{
    const int64_t parent = walk_parent(&r->walk, k);
    if (parent < 0) return false;
    if (!r->walk.bounds) return true; /* as its parent has a position */
    if (wide) {
        const int64_t *b = r->walk.bounds;
        return b[parent] < b[parent + 1];
    }
    const int32_t *b = r->walk.bounds;
    return b[parent] < b[parent + 1];
}

/* The usual case: fibers that follow each other. */
static int lanes_in_step(const int32_t *bounds, int lanes, int *out)
{
    int n = 0;
    for (int k = 0; k < lanes; k++) {
        out[n] = k;
        n += bounds[k] < bounds[k + 1];
    }
    return n;
}

/* Lanes that add something. */
static int lanes_with_fibers(const stage *st, int *lanes)
{
    const bool wide = st->walk[0].t.width == 8;
    const nest_walk *w = &st->rows.walk;
    needs must = {0};
    int n = 0;
    find_needs(st, &must);
    if (!must.n && w->bounds && !wide && w->parent->form == COL_STEP)
        return lanes_in_step((const int32_t *)w->bounds + w->parent->base, st->out->g->n,
                             lanes);
    for (int k = 0; k < st->out->g->n; k++) {
        bool there = has_fiber(&st->rows, wide, k);
        for (int j = 0; j < must.n; j++)
            there &= column_get(must.c[j], k) >= 0;
        lanes[n] = k;
        n += there;
    }
    return n;
}

/* Positions above the result's last level, of n lanes of the strip around. */
static stc_status rows_above(machine *mc, stage *st, slot *r, const int *lanes, int n,
                             int64_t *pos)
{
    stage_sink *to = &st->child[0]->sink[0];
    const int rungs = to->nrung - 1;
    if (to->way == SINK_APPENDED) {
        struct sink_list *own = stage_own_list(st->out, to, rungs);
        own->n = n;
        own->all = n == st->out->g->n;
        if (!own->all) memcpy(own->lane, lanes, (size_t)n * sizeof *lanes);
        if (stage_append_places(mc, r, st->out, to, rungs, true))
            return mc->cx->diag.status;
        memcpy(pos, own->pos, (size_t)n * sizeof *pos);
        return STC_OK;
    }
    const rung *g = rungs ? &to->rung[rungs - 1] : NULL;
    const int64_t above = to->above == ROOT ? 0 : mc->c[to->above].c.at;
    const column *c = g ? &g->at->g->place[g->place] : NULL;
    if (!c || c->form == COL_FIXED) {
        for (int t = 0; t < n; t++)
            pos[t] = c ? c->base : above;
    } else if (c->form == COL_ARRAY && st->out->out == g->at) { /* as it is for most */
        const int *row = st->out->row;
        for (int t = 0; t < n; t++)
            pos[t] = c->data[row[lanes[t]]];
    } else {
        for (int t = 0; t < n; t++)
            pos[t] = column_get(c, stage_lane_in(st->out, g->at, lanes[t]));
    }
    return STC_OK;
}

/* Whether lanes have rows of their own; whether these follow each other. */
static bool has_own_rows(const stage *st)
{
    const stage_sink *to = &st->child[0]->sink[0];
    return to->nrung > 1 && to->rung[to->nrung - 2].at == st->out;
}

static bool rows_follow(const stage *st)
{
    const stage_sink *to = &st->child[0]->sink[0];
    return to->way == SINK_APPENDED && has_own_rows(st) && !to->rung[to->nrung - 2].insert;
}

/* Rows that the kernel will write get room; those it writes first need no fill. */
static stc_status new_rows(machine *mc, tensor *t, int64_t *pos, int n, int64_t width,
                           bool follow)
{
    int64_t end = t->nvals;
    if (follow && pos[0] * width == end) {
        for (int k = 0; k < n; k++)
            pos[k] = ~(pos[k] * width);
        t->nvals = end + n * width;
        return STC_OK;
    }
    for (int k = 0; k < n; k++) {
        const int64_t row = pos[k] * width;
        pos[k] = row;
        if (row < end) continue;
        if (row > end && tensor_extend_values(t, row)) return mc->cx->diag.status;
        t->nvals = end = row + width;
        pos[k] = ~row;
    }
    return STC_OK;
}

static stc_status rows_ready(machine *mc, stage *st, slot *r, int64_t *pos, int n)
{
    const nest *ns = st->pair;
    const stage_sink *to = &st->child[0]->sink[0];
    const level *lv = &r->t->level[to->rung[to->nrung - 1].level];
    const bool follow = rows_follow(st);
    int64_t most = pos[n - 1];
    const int64_t width = lv->extent, from = ns->lo - lv->base;
    for (int k = 0; !follow && k < n; k++)
        if (pos[k] > most) most = pos[k];
    if (ns->hi - ns->lo < width) { /* part of a row: the rest of it is filled */
        for (int k = 0; k < n; k++)
            pos[k] = pos[k] * width + from;
        return asm_value(mc, r, (most + 1) * width - 1);
    }
    if (tensor_reserve_values(r->t, (most + 1) * width)) return mc->cx->diag.status;
    return new_rows(mc, r->t, pos, n, width, follow);
}

stc_status stage_rows_run(machine *mc, stage *st)
{
    nest *ns = st->pair;
    const sink *x = &st->child[0]->g->s.sink[0];
    slot *r = &mc->slot[x->a];
    int *lanes = st->row;
    int64_t *pos = st->g->icol[0].data;
    const int n = ns->hi > ns->lo ? lanes_with_fibers(st, lanes) : 0;
    if (n == 0) return STC_OK;
    if (rows_above(mc, st, r, lanes, n, pos) || rows_ready(mc, st, r, pos, n))
        return mc->cx->diag.status;
    r->stores += (uint64_t)n;
    st->rows.n = n;
    st->rows.lane = lanes;
    st->rows.pos = pos;
    st->rows.none = r->t->fill;
    st->rows.alone = has_own_rows(st);
    if (super_run(mc, ns)) return mc->cx->diag.status;
    const int64_t rounds = ns->rounds;
    ns->rounds = 0;
    return machine_count(mc, rounds);
}
