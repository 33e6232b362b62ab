/* cascade_whole.c: all fibers below a strip's lanes at once, whose coordinates nobody asks
 * for but the result that they are appended to (cascade_late.c).
 *
 * Fibers of parents that follow each other lie side by side, and so do those of the result:
 * coordinates are copied in one piece, bounds are moved by one number, and what is left is
 * a loop over values, which are written where they belong. So a matrix that is scaled
 * costs what copying it costs, however short its rows. Where the result is all of an
 * operand of its format, nothing is copied but values: it has the operand's arrays
 * (pattern.c).
 */
#include "cascade.h"
#include "../nest/fibers.h"
#include <string.h>

/* Rows of a result that are all there, and below them what the stage has. */
static bool takes_rows(const stage *st)
{
    const stage_sink *to = &st->sink[0];
    const rung *up = &to->rung[0];
    return st->g->s.nsink == 1 && to->nrung == 2 && up->insert && up->at == st->out &&
           st->out->g->icol[st->out->g->s.place[up->place].icol].form == COL_STEP;
}

bool stage_whole(const stage *st)
{
    const stage_walk *w = &st->walk[0];
    return st->copies && st->g->s.l->merge->count == 1 && !st->late_rows &&
           !st->late_given && !st->windowed && st->simple == SIMPLE_FIBERS &&
           w->parent->form == COL_STEP && takes_rows(st);
}

/* Whether the loop around, the outermost, has a round for each coordinate of the level, in
 * which the stage alone stores: something for all that is walked. */
static bool goes_through(const machine *mc, const stage *st, const level *lv)
{
    const stage *out = st->out;
    const merge_desc *m = out->g->s.l->merge, *in = st->g->s.l->merge;
    int64_t lo, hi;
    bool all = !out->out && out->nchild == 1 && m->universe && merge_always(m);
    for (uint64_t mask = 0; mask < UINT64_C(1) << in->count; mask++)
        all &= !(mask >> (st->walk[0].place - 1) & 1) || merge_produces(in, mask);
    for (int b = 0; b < m->count; b++)
        all &= m->operand[b].role == MERGE_LOCATE;
    merge_range(mc, m, &lo, &hi);
    return all && lo == lv->base && hi == lv->base + lv->extent;
}

/* Whether a result that has nothing yet gets all places of the operand, and no others. */
static bool takes_pattern(const machine *mc, const stage *st, const tensor *r,
                          const tensor *of)
{
    if (of == r || of->cx != r->cx || mc->cx->root || r->fmt.levels != 2 ||
        !format_equal(&of->fmt, &r->fmt))
        return false;
    for (int l = 0; l < 2; l++)
        if (of->level[l].base != r->level[l].base ||
            of->level[l].extent != r->level[l].extent)
            return false;
    const fiber_table *t = &st->walk[0].t;
    return goes_through(mc, st, &r->level[0]) && !fiber_bound(t, 0) &&
           fiber_bound(t, r->level[0].extent) == of->nvals && tensor_shares_pattern(of);
}

stc_status stage_share(machine *mc, stage *st)
{
    const stage_walk *w = &st->walk[0];
    if (st->windowed || st->simple != SIMPLE_FIBERS || !takes_rows(st) ||
        st->sink[0].above != ROOT || w->parent->form != COL_STEP)
        return STC_OK;
    slot *r = &mc->slot[st->g->s.sink[0].a];
    level *lv = &r->t->level[1];
    if (r->lent || r->lent_at) return STC_OK; /* its room is to be kept from run to run */
    if (lv->size || lv->edges ||
        w->parent->base != st->out->g->icol[0].base - r->t->level[0].base)
        return STC_OK;
    const place *opened = stage_opened(st, w);
    tensor *of = mc->slot[opened->tensor].t;
    if (opened->level != 1 || !takes_pattern(mc, st, r->t, of)) return STC_OK;
    if (tensor_take_pattern(r->t, of) || tensor_reserve_values(r->t, of->nvals))
        return mc->cx->diag.status;
    lv->open_count = lv->size;
    lv->edges = r->t->level[0].extent;
    r->lev[1].parent = lv->edges - 1;
    st->shares = true;
    return STC_OK;
}

/* Coordinates and bounds of n fibers from that of `parent` on; *pos: where they are. */
static stc_status copy_fibers(machine *mc, stage *st, int64_t parent, int n, int64_t begin,
                              int64_t end, int64_t *pos)
{
    const stage_sink *to = &st->sink[0];
    slot *r = &mc->slot[st->g->s.sink[0].a];
    const int l = to->rung[1].level;
    level *lv = &r->t->level[l];
    const fiber_table *t = &st->walk[0].t;
    append_room room;
    if (lv->kind->append_room(mc->cx, lv, end - begin, parent + n, &room))
        return mc->cx->diag.status;
    room_close(&room, parent, room.pos);
    append_room part = room;
    for (int64_t p = begin, some; p < end; p += some) {
        some = end - p < WORK_BLOCK ? end - p : WORK_BLOCK;
        st->g->place[1].base = p;
        stage_late_coords(st, &part, 0, some);
        part.crd = (char *)part.crd + some * part.width;
        if (work_done(mc->cx, 0)) return mc->cx->diag.status; /* steps count with values */
    }
    const int64_t first = st->walk[0].parent->base + 1;
    room_ends(&room, (const char *)t->bounds + first * t->bounds_width, t->bounds_width, n,
              room.pos - begin);
    lv->kind->append_done(lv, end - begin, parent + n);
    r->lev[l].parent = parent + n - 1;
    *pos = room.pos;
    return STC_OK;
}

/* The values of what is at positions begin to end, to pos and on: computed in place where
 * they are stored in their class. */
static stc_status copy_values(machine *mc, stage *st, int64_t begin, int64_t end,
                              int64_t pos)
{
    strip *g = st->g;
    const sink *x = &g->s.sink[0];
    slot *r = &mc->slot[x->a];
    tensor *t = r->t;
    const node *body = &g->s.node[x->node];
    vcolumn *c = &g->node[x->node];
    void *own = c->data;
    const vclass cls = type_class(t->type);
    const bool straight =
        body->kind == NODE_FN && body->varies && t->type == class_type(cls);
    column *at = &g->place[1];
    at->form = COL_STEP;
    at->full = true;
    at->ranged = false;
    st->late = true; /* there are no coordinates to look at */
    st->same = true; /* whatever is given, is given to all */
    st->row[0] = st->run_lane[0] = 0;
    stc_status status = STC_OK;
    r->stores += (uint64_t)(end - begin);
    for (; begin < end && !status; begin += g->n, pos += g->n) {
        g->n = end - begin < STRIP ? (int)(end - begin) : STRIP;
        at->base = begin;
        st->runs = 1;
        st->run_end[0] = g->n;
        char *to = (char *)t->vals + pos * (int64_t)type_size(t->type);
        if (straight) c->data = to;
        stage_spread(mc, st);
        status = strip_eval(mc, g);
        const void *v = status ? to : strip_spread(g, x->node);
        if (v != to) strip_store(t->type, t->vals, pos, v, cls, g->n);
        if (!status) status = machine_count(mc, g->n);
    }
    c->data = own;
    return status;
}

stc_status stage_copy(machine *mc, stage *st, bool *done)
{
    const stage_sink *to = &st->sink[0];
    const rung *up = &to->rung[0];
    const fiber_table *t = &st->walk[0].t;
    const stage *out = st->out;
    slot *r = &mc->slot[st->g->s.sink[0].a];
    const int n = out->g->n;
    const int64_t p = st->walk[0].parent->base;
    const int64_t begin = fiber_bound(t, p), end = fiber_bound(t, p + n);
    const int64_t above = to->above == ROOT ? 0 : mc->c[to->above].c.at;
    const int64_t parent =
        above * up->extent - up->lo + out->g->icol[out->g->s.place[up->place].icol].base;
    int64_t pos;
    *done = begin < end && (st->shares || parent > r->lev[to->rung[1].level].parent);
    if (!*done) return STC_OK;
    if (st->shares)
        pos = begin;
    else if (copy_fibers(mc, st, parent, n, begin, end, &pos))
        return mc->cx->diag.status;
    if (stage_values_room(mc, r, pos, end - begin)) return mc->cx->diag.status;
    st->lane = n;
    st->open = false;
    return copy_values(mc, st, begin, end, pos);
}
