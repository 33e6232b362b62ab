/* cascade_late.c: elements whose coordinates nobody asks for but the results that they are
 * appended to, and operands that are located there: scaled matrices, other types of them,
 * functions of each value, and sums of such, these also where fibers are scattered.
 *
 * Such a stage walks one operand, and all its places come from that. Where the string's
 * positions follow each other, its coordinates lie side by side in the operand; they are
 * copied from there into the result as a block, or become positions of what is located,
 * and aren't written out as a column; nor is the lane that each element belongs to, where
 * it has nothing from that. The values are computed as ever.
 */
#include "../core/ahead.h"
#include "cascade.h"
#include "../nest/fibers.h"
#include <string.h>

/* Whether a loop inside reads below a place that the loops around have. */
static bool reads_below(const stage *st)
{
    const stage *in = st->nchild ? st->child[0] : NULL;
    for (int k = 1; in && k <= in->g->s.l->merge->count; k++) {
        const uint16_t id = in->link.up[k];
        const place *up = &st->g->s.place[id];
        if (up->kind == PLACE_GIVEN && up->varies && !st->spared[id]) return true;
    }
    return false;
}

/* Whether an element's value is made of coordinates or places that the loops around have.
 */
static bool reads_around(const loop_summary *s)
{
    for (int k = 0; k < s->nnode; k++) {
        const node *x = &s->node[k];
        if (x->kind == NODE_INDEX && s->icol[x->a].varies) return true;
        if (x->kind == NODE_LOAD && s->place[x->b].kind == PLACE_GIVEN) return true;
    }
    return false;
}

/* Whether an element has a value from its lane. */
static bool given_values(const loop_summary *s)
{
    for (int k = 0; k < s->nnode; k++)
        if (s->node[k].kind == NODE_GIVEN && s->node[k].varies && s->node[k].uses)
            return true;
    return false;
}

/* Whether an element needs to know its lane, though elements come in runs of one lane. */
static bool needs_lanes(const stage *st)
{
    const loop_summary *s = &st->g->s;
    const merge_desc *m = s->l->merge;
    if (!st->late_apart) return true;
    for (int b = 0; b < m->count; b++)
        if (m->operand[b].role == MERGE_LOCATE &&
            st->out->g->s.place[st->link.up[1 + b]].varies)
            return true;
    for (int k = 0; k < s->nsink; k++)
        if (s->sink[k].kind == SINK_REDUCE && !stage_fold_of(&s->sink[k])) return true;
    return false;
}

/* A place for which no coordinate is asked: an operand's, one in a result, or one that the
 * loops around have. */
static bool late_place(const place *p)
{
    return !p->varies || p->kind == PLACE_OPERAND || p->kind == PLACE_GIVEN ||
           (p->kind == PLACE_AT && p->icol == 0);
}

/* One operand is walked; where it has nothing, nothing is made. */
static bool walks_one(const merge_desc *m)
{
    int walker = -1;
    if (m->universe || m->count > MERGE_TABLE_MAX) return false;
    for (int b = 0; b < m->count; b++) {
        if (m->operand[b].role == MERGE_LOCATE) continue;
        if (walker >= 0 || !operand_walks(&m->operand[b])) return false;
        walker = b;
    }
    return walker >= 0 && !table_fix(m->produce, walker, false);
}

/* Whether a located place is for loads of the stage's own, and for nothing else. */
static bool only_loaded(const stage *st, uint16_t id)
{
    const loop_summary *s = &st->g->s;
    bool so = st->nchild == 0 && id <= s->l->merge->count &&
              s->l->merge->operand[id - 1].role == MERGE_LOCATE;
    for (int k = 0; k < s->nplace; k++)
        so &= s->place[k].up != id;
    for (int k = 0; k < s->nsink; k++)
        so &= s->sink[k].b != id;
    return so;
}

void stage_late_match(stage *st)
{
    const loop_summary *s = &st->g->s;
    const merge_desc *m = s->l->merge;
    st->late_body = st->out && !st->inside[0] && st->nchild < 2 && st->faultless &&
                    !st->g->masks && walks_one(m);
    if (!st->late_body) return;
    st->late_given = given_values(s);
    for (int k = 1; k < s->nplace; k++)
        st->loaded[k] = only_loaded(st, (uint16_t)k);
    for (int k = 1; k < s->nicol; k++)
        st->late_body &= !s->icol[k].varies || s->icol[k].kind == ICOL_GIVEN;
    for (int k = 0; k < s->nstep; k++)
        st->late_body &= s->step[k].kind == STEP_NODE || s->step[k].kind == STEP_PLACE ||
                         s->step[k].kind == STEP_INNER;
    for (int k = 1; k < s->nplace; k++)
        st->late_body &= late_place(&s->place[k]);
    for (int k = 0; k < s->nnode; k++) {
        const node *x = &s->node[k];
        st->late_body &= !(x->kind == NODE_INDEX && x->a == 0);
    }
    for (int k = 0; k < s->nsink; k++)
        st->late_body &= s->sink[k].kind == SINK_STORE || s->sink[k].kind == SINK_REDUCE;
}

/* Whether results have all coordinates of the operand, and append them. */
void stage_late_prepare(const machine *mc, stage *st)
{
    const loop_summary *s = &st->g->s;
    const stage_walk *w = &st->walk[0];
    st->copies = st->late_body && w->t.stride == w->t.width &&
                 (!st->nchild || stage_rows_late(st->child[0]));
    st->late_apart = st->copies && !reads_around(s) && !reads_below(st);
    st->late_rows = needs_lanes(st);
    st->late = st->shares = false;
    st->late_sums = true;
    for (int k = 0; st->copies && k < s->nsink; k++) {
        if (s->sink[k].kind == SINK_REDUCE) continue;
        st->late_sums = false;
        const stage_sink *x = &st->sink[k];
        const rung *g = x->nrung ? &x->rung[x->nrung - 1] : NULL;
        st->copies &= x->way == SINK_APPENDED && g && g->at == st && !g->insert;
    }
    for (int k = 2; st->copies && k < s->nplace; k++) {
        const place *p = &s->place[k];
        if (!p->varies || p->kind == PLACE_OPERAND || st->spared[k]) continue;
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
    const column *at = &st->g->place[st->walk[0].place];
    return coord_at(t->crd, t->width, t->stride, at->base + k);
}

void stage_late_coords(const stage *st, const append_room *room, int from, int64_t n)
{
    const fiber_table *t = &st->walk[0].t;
    const column *at = &st->g->place[st->walk[0].place];
    const char *crd = (const char *)t->crd + (at->base + from) * (int64_t)t->width;
    fetch_far(t->crd, at->base + from, n, t->width);
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
