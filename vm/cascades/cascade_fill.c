/* cascade_fill.c: the elements of a stage: what its loop goes through below each
 * lane of the strip around, strung together up to STRIP of them.
 *
 * Fibers that are plain memory (tables, views) are copied or merged here; lanes
 * whose fibers have no such form, or whose operands are too many for a table,
 * are stepped by the base merge, one coordinate at a time. Which elements
 * produce is settled afterwards, when what is located is known as well; here
 * only those go that can't produce whatever is located.
 */
#include "cascade.h"
#include "../core/coords.h"
#include "../nest/fibers.h"
#include <string.h>

/* Subsections further off are stepped: their differences could overflow. */
#define AHEAD_MAX ((int64_t)1 << 61)

static int64_t crd_at(const fiber_view *v, int64_t p)
{
    return coord_at(v->crd, v->width, v->stride, p);
}

/* ---- a run --------------------------------------------------------------------- */

static void prepare_walk(machine *mc, const stage *st, stage_walk *w)
{
    const strip *o = st->out->g;
    const place *opened = stage_opened(st, w);
    w->lv = &mc->slot[opened->tensor].t->level[opened->level];
    w->parent = &o->place[opened->up];
    w->shift = opened->shift == UNLINKED ? NULL : &o->icol[opened->shift];
    w->dups = !(w->lv->props & PROP_UNIQUE);
    w->tabled = w->lv->kind->table && opened->coef == 1;
    w->t.shape = VIEW_NONE;
    if (w->tabled) w->lv->kind->table(w->lv, &w->t);
    w->tabled =
        w->t.shape == VIEW_RANGE || w->t.shape == VIEW_COORDS || w->t.shape == VIEW_GAPS;
    w->trims = w->shift || w->lv->base < st->lo || w->lv->base + w->lv->extent > st->hi;
}

/* A loop over all of its range: no operand has a say in it, however many there are. */
static bool always(const merge_desc *m)
{
    for (int b = 0; b < m->count; b++)
        if (operand_walks(&m->operand[b])) return false;
    return m->universe && merge_always(m);
}

void stage_fill_prepare(machine *mc, stage *st)
{
    const merge_desc *m = st->g->s.l->merge;
    merge_range(mc, m, &st->lo, &st->hi);
    st->nwalk = 0;
    st->located = st->known = 0;
    st->unordered = st->windowed = st->keyable = false;
    st->always = always(m);
    if (st->always) st->maybe = st->live = UINT64_MAX;
    if (st->always || m->count > MERGE_TABLE_MAX) return;
    uint64_t maybe = m->produce;
    for (uint16_t b = 0; b < m->count; b++) {
        const merge_operand *o = &m->operand[b];
        if (operand_walks(o)) {
            stage_walk *w = &st->walk[st->nwalk++];
            w->place = (uint16_t)(1 + b);
            prepare_walk(mc, st, w);
            st->unordered |= !(w->lv->props & PROP_ORDERED);
        } else if (o->role == MERGE_LOCATE) {
            st->located |= UINT64_C(1) << b;
            maybe = table_fix(maybe, b, true) | table_fix(maybe, b, false);
        } else {
            st->known |= UINT64_C(1) << b;
        }
    }
    st->maybe = maybe;
    st->live = table_live(maybe);
    if (!stage_keyable(st)) stage_windows_prepare(mc, st); /* which may make it so */
    st->keyable = stage_keyable(st);
}

void stage_fill_start(stage *st)
{
    st->lane = 0;
    st->lanes = st->windowed ? 0 : st->out->g->n;
    st->open = false;
    st->simple = (uint8_t)stage_simple(st);
    st->asked = st->keyed = false;
}

/* ---- a lane -------------------------------------------------------------------- */

/* Cuts the fiber to the loop's range. False: it has to be stepped. */
static bool trim(const stage *st, stage_walk *w)
{
    if (w->ahead <= -AHEAD_MAX || w->ahead >= AHEAD_MAX || st->lo <= -AHEAD_MAX ||
        st->hi >= AHEAD_MAX || w->v.shape == VIEW_GAPS || !(w->lv->props & PROP_ORDERED))
        return false;
    const int64_t lo = st->lo + w->ahead, hi = st->hi + w->ahead;
    if (w->v.shape == VIEW_COORDS) {
        w->p = coord_search(w->v.crd, w->v.width, w->v.stride, w->p, w->v.end, lo);
        w->v.end = coord_search(w->v.crd, w->v.width, w->v.stride, w->p, w->v.end, hi);
        return true;
    }
    if (w->v.lo < lo) {
        w->v.begin += lo - w->v.lo;
        w->v.lo = lo;
    }
    if (w->v.hi > hi) w->v.hi = hi;
    return true;
}

/* The fiber of walker w below the stage's lane. False: it has no such form. */
static bool open_walk(const machine *mc, const stage *st, stage_walk *w)
{
    const int64_t parent = column_get(w->parent, st->lane);
    const int64_t end = parent == NONE      ? NONE
                        : w->parent->ranged ? column_end(w->parent, st->lane)
                                            : parent + 1;
    w->ahead = w->shift ? column_get(w->shift, st->lane) : 0;
    w->v = (fiber_view){.shape = VIEW_COORDS, .width = 4, .stride = 4};
    w->p = 0;
    if (parent == NONE) return true;
    if (w->tabled) {
        const fiber_table *t = &w->t;
        w->v.shape = t->shape;
        w->v.crd = t->crd;
        w->v.width = t->width;
        w->v.stride = t->stride;
        if (t->shape == VIEW_RANGE) {
            if (end != parent + 1) return false;
            w->v.lo = t->lo;
            w->v.hi = t->hi;
            w->v.begin = parent * (t->hi - t->lo);
        } else if (t->bounds) {
            if (end != parent + 1) return false;
            w->p = index_at(t->bounds, t->bounds_width, parent);
            w->v.end = index_at(t->bounds, t->bounds_width, parent + 1);
        } else {
            w->p = fiber_bound(t, parent);
            w->v.end = fiber_bound(t, end);
        }
    } else {
        if (!w->lv->kind->view || end != parent + 1) return false;
        const place *opened = stage_opened(st, w);
        if (opened->coef != 1) return false;
        const int64_t above = opened->up == PLACE_ROOT
                                  ? 0
                                  : strip_place_coord(mc, st->out->g, opened->up, st->lane);
        w->lv->kind->view(w->lv, parent, above, &w->v);
        if (w->v.shape != VIEW_RANGE && w->v.shape != VIEW_COORDS) return false;
        w->p = w->v.begin;
    }
    return !w->trims || trim(st, w);
}

/* Operand b's cursors above it, and one that is put aside. */
static cursor *stand_of(const stage *st, int b)
{
    return st->stand + (size_t)b * (STC_MAX_ORDER + 1);
}

/* Operands below the lane as registers, for the base merge: what is located
 * or known there, and the walkers' cursors, open unless they are already. */
static stc_status stand_lane(machine *mc, stage *st, bool open)
{
    const strip *o = st->out->g;
    const merge_desc *m = st->g->s.l->merge;
    const int k = st->lane;
    if (!st->stand)
        st->stand = mem_array(mc->cx, m->count, (STC_MAX_ORDER + 1) * sizeof *st->stand);
    if (!st->stand) return mc->cx->diag.status;
    for (int b = 0; b < m->count; b++) {
        const merge_operand *x = &m->operand[b];
        const uint16_t up = st->link.up[1 + b];
        cursor *above = stand_of(st, b);
        if (operand_walks(x)) {
            if (open) continue;
            const place *opened = &o->s.place[up];
            mcursor *c = &mc->c[x->cursor];
            cursor_open(&c->c, &mc->slot[opened->tensor].t->level[opened->level],
                        strip_stand(mc, o, opened->up, k, above));
            c->c.at = c->c.at_end = NONE;
            c->coef = opened->coef;
            c->shift =
                opened->shift == UNLINKED ? 0 : column_get(&o->icol[opened->shift], k);
            c->plain = c->coef == 1 && c->shift == 0;
            continue;
        }
        const uint16_t reg = x->role == MERGE_KNOWN ? x->cursor : x->up;
        const cursor *at = strip_stand(mc, o, up, k, above);
        if (x->role == MERGE_LOCATE && x->shift != ROOT)
            mc->i[x->shift] = column_get(&o->icol[st->link.shift[1 + b]], k);
        if (!at) continue;
        above[STC_MAX_ORDER] = mc->c[reg].c;
        mc->c[reg].c = *at;
    }
    return STC_OK;
}

/* The registers of loops around, as those left them. */
static void restore_cursors(machine *mc, const stage *st)
{
    const merge_desc *m = st->g->s.l->merge;
    for (int b = m->count - 1; b >= 0; b--) {
        const merge_operand *x = &m->operand[b];
        const uint16_t reg = x->role == MERGE_KNOWN ? x->cursor : x->up;
        if (operand_walks(x) || reg == ROOT) continue;
        mc->c[reg].c = stand_of(st, b)[STC_MAX_ORDER];
    }
}

/* The known operands that are there in the lane, as bits. */
static uint64_t lane_known(const stage *st)
{
    uint64_t mask = 0;
    for (int b = 0; st->known >> b; b++)
        if (st->known >> b & 1 &&
            column_get(&st->out->g->place[st->link.up[1 + b]], st->lane) >= 0)
            mask |= UINT64_C(1) << b;
    return mask;
}

/* What the lane's fibers ask for. */
static lane_way open_lane(const machine *mc, stage *st)
{
    const merge_desc *m = st->g->s.l->merge;
    if (m->count > MERGE_TABLE_MAX && !st->always) return LANE_STEPS;
    const uint64_t mask = st->always ? 0 : lane_known(st);
    uint64_t walks = 0;
    int ranges = 0, used = 0;
    for (int k = 0; k < st->nwalk; k++) {
        stage_walk *w = &st->walk[k];
        if (!open_walk(mc, st, w)) return LANE_STEPS;
        const bool any = w->v.shape == VIEW_RANGE || w->p < w->v.end;
        walks |= (uint64_t)any << (w->place - 1);
        ranges += w->v.shape == VIEW_RANGE;
        used += w->v.shape == VIEW_GAPS;
    }
    st->every = m->universe && st->maybe >> mask & 1;
    st->next = st->lo;
    if (!(st->live >> (mask | walks) & 1)) return LANE_NONE;
    if (st->nwalk == 0) return st->every ? LANE_RANGE : LANE_NONE;
    if (st->nwalk == 1 && !st->every) {
        if (!(st->maybe >> (mask | walks) & 1)) return LANE_NONE;
        if (!ranges) return LANE_FIBER;
        st->next = st->walk[0].v.lo - st->walk[0].ahead;
        return LANE_RANGE;
    }
    if (used || (ranges && !st->every)) return LANE_STEPS;
    return LANE_MERGE;
}

/* ---- elements ------------------------------------------------------------------ */

static void put_rows(stage *st, int from, int to)
{
    for (int k = from; k < to; k++)
        st->row[k] = st->lane;
}

/* One fiber, to `most` elements of the string; duplicates are one element with several
 * positions. */
static int fill_fiber(stage *st, int n, int most)
{
    stage_walk *w = &st->walk[0];
    column *c = &st->g->place[w->place];
    int64_t *at = st->g->icol[0].data;
    const int from = n;
    const int64_t none = w->v.shape == VIEW_GAPS ? w->t.lo - 1 : INT64_MIN;
    while (w->p < w->v.end && n < most) {
        const int64_t i = crd_at(&w->v, w->p);
        int64_t e = w->p + 1;
        if (w->dups) {
            while (e < w->v.end && crd_at(&w->v, e) == i)
                e++;
            c->end[n] = e;
        }
        at[n] = i - w->ahead;
        c->data[n] = w->p;
        n += i != none;
        w->p = e;
    }
    put_rows(st, from, n);
    st->open = w->p < w->v.end;
    return n;
}

/* Where the lane's next string ends, which begins at i, so that each operand that is
 * located with a shift is in range for all of it or for none: the end of the lane, or
 * nearer where an edge is near. Then all have their positions in steps. */
static int64_t edge_after(const machine *mc, const stage *st, int64_t i, int64_t end)
{
    const merge_desc *m = st->g->s.l->merge;
    for (int b = 0; b < m->count; b++) {
        const merge_operand *o = &m->operand[b];
        const uint16_t at = st->link.shift[1 + b];
        if (o->role != MERGE_LOCATE || at == UNLINKED || o->coef != 1) continue;
        const level *lv = &mc->slot[o->tensor].t->level[o->level];
        const int64_t shift = column_get(&st->out->g->icol[at], st->lane);
        fiber_table t;
        int64_t lo, hi;
        if (!lv->kind->table) continue;
        lv->kind->table(lv, &t);
        if (t.shape != VIEW_RANGE || __builtin_sub_overflow(t.lo, shift, &lo) ||
            __builtin_sub_overflow(t.hi, shift, &hi))
            continue;
        if (lo > i && lo < end) end = lo;
        if (hi > i && hi < end) end = hi;
    }
    return end;
}

/* All coordinates of a range, which is the loop's or a walker's; `alone`: nothing else
 * goes into the string. */
static int fill_range(const machine *mc, stage *st, int n, bool alone)
{
    const stage_walk *w = st->nwalk ? &st->walk[0] : NULL;
    const int64_t end = w ? w->v.hi - w->ahead : st->hi, i = st->next;
    const int64_t to = alone && !w ? edge_after(mc, st, i, end) : end;
    const int64_t left = to > i ? to - i : 0;
    const int most = alone ? st->most : STRIP - n;
    const int take = left < most ? (int)left : most;
    int64_t *at = st->g->icol[0].data + n;
    for (int k = 0; !alone && k < take; k++) /* else they stay steps */
        at[k] = i + k;
    if (w) {
        int64_t *p = st->g->place[w->place].data + n;
        const int64_t first = w->v.begin + (i + w->ahead - w->v.lo);
        for (int k = 0; k < take; k++)
            p[k] = first + k;
    }
    put_rows(st, n, n + take);
    if (n == 0 && take > 0) {
        st->g->icol[0].base = i;
        st->g->icol[0].form = COL_STEP; /* while it is all there is */
    }
    st->next += take;
    st->open = st->next < end;
    return n + take;
}

/* Every coordinate of the loop's range, as far as the string goes, which is `most` more;
 * fibers say at which of them they have something. Which of them produce is settled
 * afterwards. */
static int fill_every(stage *st, int n, int most)
{
    strip *g = st->g;
    const int64_t first = st->next, all = st->hi - first;
    const int take = all < most ? (int)all : most;
    for (int k = 0; k < take; k++)
        g->icol[0].data[n + k] = first + k;
    for (int j = 0; j < st->nwalk; j++) {
        stage_walk *w = &st->walk[j];
        int64_t *at = g->place[w->place].data + n, *ends = g->place[w->place].end + n;
        for (int k = 0; k < take; k++)
            at[k] = NONE;
        if (w->v.shape == VIEW_RANGE) {
            const int64_t lo = w->v.lo - w->ahead, hi = w->v.hi - w->ahead;
            const int64_t begin = w->v.begin - lo;
            for (int64_t i = lo > first ? lo : first; i < hi && i < first + take; i++)
                at[i - first] = begin + i;
            continue;
        }
        while (w->p < w->v.end) {
            const int64_t k = crd_at(&w->v, w->p) - w->ahead - first;
            if (k >= take) break;
            if (at[k] == NONE) at[k] = w->p;
            w->p++;
            if (w->dups) ends[k] = w->p;
        }
    }
    st->next = first + take;
    st->open = st->next < st->hi;
    st->loose = true;
    return n + take;
}

/* Any number of fibers; cascade_keys.c does it faster where it can. */
static int fill_merged(stage *st, uint64_t known, int n)
{
    strip *g = st->g;
    while (n < STRIP) {
        uint64_t left = known | st->located, mask = known;
        int64_t i = INT64_MAX;
        for (int k = 0; k < st->nwalk; k++) {
            stage_walk *w = &st->walk[k];
            if (w->p >= w->v.end) continue;
            left |= UINT64_C(1) << (w->place - 1);
            const int64_t at = crd_at(&w->v, w->p) - w->ahead;
            if (at < i) i = at;
        }
        if (i >= st->hi || !(st->live >> left & 1)) {
            st->open = false;
            break;
        }
        for (int k = 0; k < st->nwalk; k++) {
            stage_walk *w = &st->walk[k];
            column *c = &g->place[w->place];
            int64_t p = NONE, e = NONE;
            if (w->p < w->v.end && crd_at(&w->v, w->p) - w->ahead == i) {
                p = w->p;
                e = p + 1;
                while (w->dups && e < w->v.end && crd_at(&w->v, e) - w->ahead == i)
                    e++;
                w->p = e;
            }
            c->data[n] = p;
            c->end[n] = e;
            mask |= (uint64_t)(p != NONE) << (w->place - 1);
        }
        g->icol[0].data[n] = i;
        n += st->maybe >> mask & 1;
    }
    return n;
}

static int fill_merge(stage *st, int n, bool alone)
{
    const int from = n;
    st->open = true;
    n = st->every ? fill_every(st, n, alone ? st->most : STRIP - n)
                  : fill_merged(st, lane_known(st), n);
    put_rows(st, from, n);
    return n;
}

/* By the base merge, whose cursors stand on one coordinate after another. */
static stc_status fill_steps(machine *mc, stage *st, int *n)
{
    strip *g = st->g;
    loop *l = g->s.l;
    const merge_desc *m = l->merge;
    loop_state state = LOOP_ON;
    if (stand_lane(mc, st, st->open)) return mc->cx->diag.status;
    if (!st->open) {
        state = loop_start(mc, l);
    } else {
        l->i = st->next;
    }
    st->unordered |= l->unordered;
    while (state == LOOP_ON && *n < STRIP) {
        g->icol[0].data[*n] = l->i;
        st->row[*n] = st->lane;
        for (int b = 0; b < m->count; b++) {
            if (!operand_walks(&m->operand[b])) continue;
            const cursor *c = &mc->c[m->operand[b].cursor].c;
            g->place[1 + b].data[*n] = c->at;
            g->place[1 + b].end[*n] = c->at_end;
        }
        ++*n;
        state = loop_next(mc, l);
        st->next = l->i;
    }
    st->open = state == LOOP_ON;
    restore_cursors(mc, st);
    return state == LOOP_FAILED ? mc->cx->diag.status : STC_OK;
}

/* ---- a string ------------------------------------------------------------------ */

static int64_t lane_length(const stage *st)
{
    const stage_walk *w = &st->walk[0];
    if (st->way == LANE_FIBER) return w->v.end - w->p;
    if (st->way == LANE_MERGE && st->every && st->most < STRIP) return st->hi - st->next;
    if (st->way == LANE_RANGE) return (st->nwalk ? w->v.hi - w->ahead : st->hi) - st->next;
    return 0;
}

static stc_status fill_lanes(machine *mc, stage *st, int *out)
{
    int n = 0;
    bool stepped = false;
    for (; n < STRIP && st->lane < st->lanes; st->lane++) {
        if (!st->open) st->way = (uint8_t)open_lane(mc, st);
        const bool alone = lane_length(st) >= LONG_LANE;
        if (n > 0 && st->way != LANE_NONE &&
            (alone || stepped != (st->way == LANE_STEPS))) {
            st->open = false; /* the next string opens it again */
            break;
        }
        /* what gives nothing doesn't say how the string came about */
        if (st->way != LANE_NONE) stepped = st->way == LANE_STEPS;
        switch (st->way) {
        case LANE_FIBER:
            n = fill_fiber(st, n, alone ? st->most : STRIP);
            break;
        case LANE_RANGE:
            n = fill_range(mc, st, n, alone);
            break;
        case LANE_MERGE:
            n = fill_merge(st, n, alone);
            break;
        case LANE_STEPS:
            if (fill_steps(mc, st, &n)) return mc->cx->diag.status;
            break;
        default:
            st->open = false;
            break;
        }
        if (st->open) break;
        if (alone && n > 0) {
            st->lane++;
            break;
        }
    }
    *out = n;
    st->stepped = stepped && n > 0;
    return STC_OK;
}

/* Positions that follow each other are kept as such. */
static void set_forms(stage *st, int n, bool fibers)
{
    column *i = &st->g->icol[0];
    const int last = st->lines ? st->run_lane[st->runs - 1] : st->row[n > 0 ? n - 1 : 0];
    st->same = n > 0 && st->row[0] == last;
    if (!st->same) i->form = COL_ARRAY;
    if (st->lines) i->form = COL_LINES;
    const merge_desc *m = st->g->s.l->merge;
    for (int b = 0; b < m->count; b++) {
        if (!operand_walks(&m->operand[b])) continue;
        column *c = &st->g->place[1 + b];
        c->form = COL_ARRAY;
        c->full = fibers;
        c->ranged = st->stepped;
        for (int k = 0; k < st->nwalk; k++)
            if (st->walk[k].place == 1 + b) c->ranged |= st->walk[k].dups;
        if (!fibers || c->ranged || n == 0) continue;
        if (c->data[n - 1] - c->data[0] != n - 1) continue;
        c->base = c->data[0];
        bool steps = true;
        for (int k = 0; k < n; k++)
            steps &= c->data[k] == c->base + k;
        if (steps) c->form = COL_STEP;
    }
}

/* Without an operand that is needed there are no elements. */
static void set_full(stage *st)
{
    for (int k = 0; k < st->nwalk; k++)
        st->g->place[st->walk[k].place].full = st->must >> k & 1;
}

stc_status stage_fill(machine *mc, stage *st, bool *more)
{
    strip *g = st->g;
    int n = 0;
    bool fibers = st->nwalk == 1;
    if (st->windowed && st->lane == st->lanes) {
        if (stage_windows_next(mc, st)) return mc->cx->diag.status;
        st->asked = false;
    }
    g->icol[0].form = COL_ARRAY;
    st->stepped = false;
    st->runs = 0;
    st->loose = st->lines = st->late = false;
    g->unread = 0;
    if (!st->asked && st->keyable && stage_keys_start(mc, st)) return mc->cx->diag.status;
    st->asked = true;
    if (st->simple) {
        n = stage_fill_simple(st);
    } else if (st->keyed) {
        n = stage_fill_keys(st);
    } else {
        if (fill_lanes(mc, st, &n)) return mc->cx->diag.status;
        fibers = fibers && !g->s.l->merge->universe;
    }
    if (st->windowed && !st->stepped) stage_windows_places(st, n);
    if (st->simple != SIMPLE_FIBERS) set_forms(st, n, fibers);
    if (st->keyed) set_full(st);
    if (st->unread && g->place[st->walk[0].place].form == COL_STEP) g->unread = st->unread;
    g->n = n;
    st->serial += STRIP;
    *more = st->open || st->lane < st->out->g->n;
    return STC_OK;
}
