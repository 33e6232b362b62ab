/* cascade_late.c: elements whose coordinates nobody asks for but the results that they are
 * appended to: scaled matrices, other types of them, functions of each value.
 *
 * Such a stage has one operand, which it walks, and its places come from that alone.
 * Where the string's positions follow each other, its coordinates lie side by side in the
 * operand; they are copied from there into the result as a block, and aren't written out
 * as a column, nor is the lane that each element belongs to, where it has nothing from
 * that. The values are computed as ever.
 */
#include "cascade.h"
#include "../nest/fibers.h"
#include <string.h>

/* Whether an element has something from its lane: then it needs to know the lane. */
static bool given_varies(const stage *st)
{
    const loop_summary *s = &st->g->s;
    for (int k = 1; k < s->nicol; k++)
        if (s->icol[k].varies) return true;
    for (int k = 2; k < s->nplace; k++)
        if (s->place[k].kind == PLACE_GIVEN && s->place[k].varies &&
            st->out->g->s.place[st->link.up[k]].kind != PLACE_AT)
            return true;
    for (int k = 0; k < s->nnode; k++)
        if (s->node[k].kind == NODE_GIVEN && s->node[k].varies && s->node[k].uses)
            return true;
    return false;
}

/* A place that isn't read: the operand, one in a result, or one that the loops around
 * have. */
static bool late_place(const loop_summary *s, int id)
{
    const place *p = &s->place[id];
    return id == 1 || !p->varies || p->kind == PLACE_GIVEN ||
           (p->kind == PLACE_AT && p->icol == 0);
}

void stage_late_match(stage *st)
{
    const loop_summary *s = &st->g->s;
    const merge_desc *m = s->l->merge;
    st->late_body = st->out && !st->pair && !st->nchild && st->faultless && !st->g->masks &&
                    merge_walks_one(m);
    if (!st->late_body) return;
    st->late_rows = given_varies(st);
    for (int k = 1; k < s->nicol; k++)
        st->late_body &= !s->icol[k].varies || s->icol[k].kind == ICOL_GIVEN;
    for (int k = 0; k < s->nstep; k++)
        st->late_body &= s->step[k].kind == STEP_NODE || s->step[k].kind == STEP_PLACE;
    for (int k = 1; k < s->nplace; k++)
        st->late_body &= late_place(s, k);
    for (int k = 0; k < s->nnode; k++) {
        const node *x = &s->node[k];
        st->late_body &= !(x->kind == NODE_INDEX && x->a == 0);
    }
    for (int k = 0; k < s->nsink; k++)
        st->late_body &= s->sink[k].kind == SINK_STORE;
}

/* Whether results have all coordinates of the operand, and append them. */
void stage_late_prepare(const machine *mc, stage *st)
{
    const loop_summary *s = &st->g->s;
    const stage_walk *w = &st->walk[0];
    st->copies = st->late_body && w->t.stride == w->t.width;
    st->late = false;
    for (int k = 0; st->copies && k < s->nsink; k++) {
        const stage_sink *x = &st->sink[k];
        const rung *g = x->nrung ? &x->rung[x->nrung - 1] : NULL;
        st->copies &= x->way == SINK_APPENDED && g && g->at == st && !g->insert;
    }
    for (int k = 2; st->copies && k < s->nplace; k++) {
        const place *p = &s->place[k];
        if (!p->varies) continue;
        if (p->kind == PLACE_GIVEN) {
            const place *x = &st->out->g->s.place[st->link.up[k]];
            st->copies &= x->kind != PLACE_AT || !st->out->column[st->link.up[k]];
            continue;
        }
        const level *lv = &mc->slot[p->tensor].t->level[p->level];
        st->copies &=
            !st->column[k] && level_covers(lv, w->lv->base, w->lv->base + w->lv->extent);
    }
}

int64_t stage_late_coord(const stage *st, int k)
{
    const fiber_table *t = &st->walk[0].t;
    return coord_at(t->crd, t->width, t->stride, st->g->place[1].base + k);
}

void stage_late_coords(const stage *st, const append_room *room, int from, int64_t n)
{
    const fiber_table *t = &st->walk[0].t;
    const char *crd =
        (const char *)t->crd + (st->g->place[1].base + from) * (int64_t)t->width;
    if (t->width == room->width) {
        memcpy(room->crd, crd, (size_t)n * (size_t)t->width);
    } else if (t->width == 4) {
        for (int64_t k = 0; k < n; k++)
            ((int64_t *)room->crd)[k] = ((const int32_t *)crd)[k];
    } else {
        for (int64_t k = 0; k < n; k++)
            ((int32_t *)room->crd)[k] = (int32_t)((const int64_t *)crd)[k];
    }
}
