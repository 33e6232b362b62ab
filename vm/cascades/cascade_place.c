/* cascade_place.c: where the sinks of a cascade store.
 *
 * The way from a tensor's root to the place of a sink leads over rungs: one
 * level each, whose coordinate some stage has. Where all levels insert, every
 * place is a column of positions, computed where the level's coordinate is.
 * Where levels append below stages that each have one, in order, they are
 * given their entries in bulk. All else is done lane by lane as base
 * operations do it, the cursors of the stages around standing on their lanes.
 */
#include "cascade.h"
#include "../nest/fibers.h"

/* ---- when linking -------------------------------------------------------------- */

static bool inserts(const machine *mc, uint16_t id)
{
    const format *f = &mc->p->tensor[id].fmt;
    for (int l = 0; l < f->levels; l++)
        if (!(f->level[l].kind->caps & CAP_INSERT)) return false;
    return true;
}

/* Sinks into one tensor come in another order than base operations have them:
 * they must not mind. */
static bool agree(const machine *mc, const sink *x, const sink *y)
{
    enum { FREE = FP_ASSOCIATIVE | FP_COMMUTATIVE };
    if (sink_reduces(x) || sink_reduces(y) || x->a != y->a) return true;
    if (x->kind != y->kind || x->kind == SINK_STORE || x->fn != y->fn) return false;
    if (x->kind == SINK_WSCALL) return false; /* it may mind */
    return (fn_at(x->fn)->flags & FREE) == FREE &&
           (x->kind == SINK_WSADD || inserts(mc, x->a));
}

static bool all_agree(const machine *mc, const loop_tree *t, const sink *x)
{
    for (int k = 0; k < t->s.nsink; k++)
        if (&t->s.sink[k] != x && !agree(mc, x, &t->s.sink[k])) return false;
    for (int k = 0; k < t->nchild; k++)
        if (!all_agree(mc, t->child[k], x)) return false;
    return true;
}

bool stage_sinks_match(const machine *mc, const loop_tree *t, const loop_tree *root)
{
    for (int k = 0; k < t->s.nsink; k++) {
        const sink *x = &t->s.sink[k];
        if (!all_agree(mc, root, x)) return false;
        if (x->kind == SINK_ACC && fn_at(x->fn)->flags & FP_FAULTS) return false;
    }
    for (int k = 0; k < t->nchild; k++)
        if (!stage_sinks_match(mc, t->child[k], root)) return false;
    return true;
}

/* ---- a run --------------------------------------------------------------------- */

/* The rungs to place `id` of stage st, outermost first. The verifier has seen that it is a
 * place of a result, below one in the level above, and so on up to a cursor from before the
 * cascade, or the root. */
static void find_rungs(stage *st, uint16_t id, stage_sink *to)
{
    rung found[STC_MAX_ORDER];
    int n = 0;
    for (;;) {
        const place *p = &st->g->s.place[id];
        if (p->kind == PLACE_GIVEN) {
            id = st->link.up[id];
            st = st->out;
        } else if (p->kind == PLACE_AT) {
            found[n++] = (rung){.at = st, .place = id, .level = p->level, .last = -1};
            id = p->up;
        } else { /* FIXED */
            to->above = p->cursor;
            break;
        }
    }
    to->nrung = n;
    for (int k = 0; k < n; k++)
        to->rung[k] = found[n - 1 - k];
}

/* Stages from the outermost down to that of the last level that appends have one
 * rung each, and go through their coordinates in order: then entries come in
 * order, each once. */
static bool in_order(const machine *mc, const stage_sink *x, const slot *r)
{
    int64_t lo, hi;
    int last = -1;
    for (int k = 0; k < x->nrung; k++)
        if (!x->rung[k].insert) last = k;
    for (int k = 0; k <= last; k++) {
        const rung *g = &x->rung[k];
        const stage *around = k > 0 ? x->rung[k - 1].at : NULL;
        const place *p = &g->at->g->s.place[g->place];
        const level *lv = &r->t->level[g->level];
        const bool leaf = g->level + 1 == r->row->fmt.levels;
        if (g->at->out != around || p->icol != 0 || g->at->unordered) return false;
        merge_range(mc, g->at->g->s.l->merge, &lo, &hi);
        if (!level_covers(lv, lo, hi)) return false;
        if (!leaf && !p->kept) return false;
        if (!g->insert && lv->a[STC_CRD].width == 4 && hi > INT32_MAX) return false;
    }
    return true;
}

/* What is interleaved isn't unique, or is branchless. */
static bool appends_in_bulk(const level *lv)
{
    enum { ASK = PROP_UNIQUE | PROP_ORDERED | PROP_BRANCHLESS };
    return lv->kind->append_room && (lv->props & ASK) == (PROP_UNIQUE | PROP_ORDERED);
}

/* meets: values are added to what is there, of a result with one value if at the root. */
static sink_way way_of(machine *mc, stage_sink *x, const slot *r, bool meets)
{
    bool columns = true, bulk = true;
    if (x->above != ROOT && !mc->c[x->above].kept) return SINK_BY_LANE;
    if (x->nrung == 0) return meets && x->above == ROOT ? SINK_BY_PLACE : SINK_BY_LANE;
    for (int k = 0; k < x->nrung; k++) {
        rung *g = &x->rung[k];
        const level *lv = &r->t->level[g->level];
        g->insert = r->lev[g->level].insert;
        g->lo = lv->base;
        g->extent = lv->extent;
        columns &= g->insert;
        bulk &= g->insert || appends_in_bulk(lv);
    }
    if (columns) return SINK_BY_PLACE;
    return bulk && in_order(mc, x, r) ? SINK_APPENDED : SINK_BY_LANE;
}

/* The places in the tensor that st and those around it set are for cursors. */
void stage_results_turn(stage *st, uint16_t result)
{
    for (; st; st = st->out)
        for (int id = 1; id < st->g->s.nplace; id++)
            st->turn[id] |=
                st->g->s.place[id].kind == PLACE_AT && st->g->s.place[id].tensor == result;
}

void stage_sinks_prepare(machine *mc, stage *st)
{
    const loop_summary *s = &st->g->s;
    st->stood = -1;
    for (int k = 0; k < s->nsink; k++) {
        const sink *x = &s->sink[k];
        stage_sink *to = &st->sink[k];
        to->way = SINK_BY_LANE;
        to->nrung = 0; /* nowhere: what is reduced has no place */
        if (x->kind != SINK_STORE && x->kind != SINK_ACC) continue;
        find_rungs(st, x->b, to);
        to->way = (uint8_t)way_of(mc, to, &mc->slot[x->a], x->kind == SINK_ACC);
        if (to->way == SINK_BY_LANE) stage_results_turn(st->out, x->a);
        for (int j = 0; to->way == SINK_BY_PLACE && j < to->nrung; j++)
            to->rung[j].at->column[to->rung[j].place] = true;
    }
}

/* ---- places as columns --------------------------------------------------------- */

/* One coordinate after another, as base operations do it. */
static stc_status place_each(ctx *cx, level *lv, const column *up, const column *i,
                             int64_t *to, int n)
{
    for (int k = 0; k < n; k++)
        if (lv->kind->append_coord(cx, lv, column_get(up, k), column_get(i, k), &to[k]))
            return cx->diag.status;
    return STC_OK;
}

/* Positions of n coordinates in a range, `inside` which they are known to be. False: some
 * are outside. */
static bool place_all(int64_t *restrict to, const column *up, const column *i,
                      const level *lv, int n, bool inside)
{
    const uint64_t lo = (uint64_t)lv->base, wide = (uint64_t)lv->extent;
    uint64_t out = 0;
    if (i->form == COL_ARRAY && up->form != COL_STEP) { /* as it is for most */
        const int64_t *restrict at = i->data, *restrict above = up->data;
        for (int k = 0; !inside && k < n; k++)
            out |= (uint64_t)at[k] - lo >= wide;
        for (int k = 0; up->form == COL_ARRAY && k < n; k++)
            to[k] = (int64_t)((uint64_t)above[k] * wide + ((uint64_t)at[k] - lo));
        for (int k = 0; up->form == COL_FIXED && k < n; k++)
            to[k] = (int64_t)((uint64_t)up->base * wide + ((uint64_t)at[k] - lo));
        return !out;
    }
    for (int k = 0; k < n; k++) {
        const uint64_t from = (uint64_t)column_get(i, k) - lo;
        out |= from >= wide;
        to[k] = (int64_t)((uint64_t)column_get(up, k) * wide + from);
    }
    return !out;
}

/* The loop's own index, all of whose range the level has. */
static bool known_inside(const machine *mc, const stage *st, const place *p,
                         const level *lv)
{
    int64_t lo, hi;
    if (p->icol != 0) return false;
    merge_range(mc, st->g->s.l->merge, &lo, &hi);
    return level_covers(lv, lo, hi);
}

/* Says which lane's place isn't in the level. */
static __attribute__((noinline)) stc_status say_outside(machine *mc, stage *st, int id)
{
    strip *g = st->g;
    const place *p = &g->s.place[id];
    const column *i = &g->icol[p->icol];
    slot *r = &mc->slot[p->tensor];
    const level *lv = &r->t->level[p->level];
    for (int k = 0; k < g->n; k++) {
        const int64_t at = column_get(i, k);
        if ((uint64_t)at - (uint64_t)lv->base < (uint64_t)lv->extent) continue;
        strip_at_lane(mc, g, k);
        strip_fault_inside(g, k);
        (void)asm_at(mc, r, p->level, &mc->c[p->cursor], NULL, at, p->at);
    }
    return STC_OK;
}

/* A string of lines below places that the loop around has. */
static stc_status place_lines(machine *mc, stage *st, int id, level *lv)
{
    strip *g = st->g;
    column *c = &g->place[id];
    const place *p = &g->s.place[id];
    const bool given = g->s.place[p->up].kind == PLACE_GIVEN;
    const column *up = given ? &st->out->g->place[st->link.up[p->up]] : &g->place[p->up];
    if (stage_lines_locate(st, c, up, NULL, lv->base, lv->base + lv->extent)) return STC_OK;
    for (int r = 0, k = 0; r < st->runs;
         k = st->run_end[r++]) { /* which says what is wrong */
        const column above = {.form = COL_FIXED, .base = column_get(up, st->run_lane[r])};
        const column i = {.form = COL_STEP, .base = g->icol[0].data[r]};
        if (place_each(mc->cx, lv, &above, &i, c->data, st->run_end[r] - k))
            return mc->cx->diag.status;
    }
    return STC_OK;
}

/* A place that is a column of positions. */
static __attribute__((noinline)) stc_status find_places(machine *mc, stage *st, int id,
                                                        level *lv)
{
    strip *g = st->g;
    const place *p = &g->s.place[id];
    column *c = &g->place[id];
    const column *up = &g->place[p->up], *i = &g->icol[p->icol];
    c->full = true;
    c->ranged = false;
    if (st->lines && p->varies) return place_lines(mc, st, id, lv);
    if (!p->varies) {
        c->form = COL_FIXED;
        return place_each(mc->cx, lv, up, i, &c->base, 1);
    }
    if (i->form == COL_STEP && up->form == COL_FIXED && i->base >= lv->base &&
        lv->base + lv->extent - i->base >= g->n) {
        c->form = COL_STEP;
        c->base = up->base * lv->extent + (i->base - lv->base);
        return STC_OK;
    }
    c->form = COL_ARRAY;
    if (place_all(c->data, up, i, lv, g->n, known_inside(mc, st, p, lv))) return STC_OK;
    return place_each(mc->cx, lv, up, i, c->data, g->n); /* which says what is wrong */
}

/* Where base operations have a place for each lane, it must be in range whether anything
 * is stored there or not. */
stc_status cascade_place(machine *mc, stage *st, int id)
{
    const place *p = &st->g->s.place[id];
    level *lv = &mc->slot[p->tensor].t->level[p->level];
    if (st->column[id]) return find_places(mc, st, id, lv);
    if (st->late || known_inside(mc, st, p, lv) ||
        column_within(&st->g->icol[p->icol], st->g->n, lv->base, lv->extent))
        return STC_OK;
    return say_outside(mc, st, id);
}

/* ---- places as cursors --------------------------------------------------------- */

static stc_status keep_places(machine *mc, stage *st)
{
    for (int id = st->g->s.nplace - 1; id > 0; id--) {
        const place *p = &st->g->s.place[id];
        if (!st->turn[id] || !p->kept) continue;
        if (asm_keep(mc, &mc->slot[p->tensor], p->level, &mc->c[p->cursor], p->keep))
            return mc->cx->diag.status;
    }
    return STC_OK;
}

/* The lane at which the cursors stand is done, and all inside it. */
stc_status stage_results_leave(machine *mc, stage *st)
{
    for (int k = 0; k < st->nchild; k++)
        if (stage_results_leave(mc, st->child[k])) return mc->cx->diag.status;
    if (st->stood < 0) return STC_OK;
    st->stood = -1;
    return keep_places(mc, st);
}

stc_status stage_results_stand(machine *mc, stage *st, int k)
{
    strip *g = st->g;
    if (st->stood == st->serial + k) return STC_OK;
    if (stage_results_leave(mc, st)) return mc->cx->diag.status;
    if (st->out && stage_results_stand(mc, st->out, st->row[k])) return mc->cx->diag.status;
    for (int id = 1; id < g->s.nplace; id++) {
        const place *p = &g->s.place[id];
        if (!st->turn[id]) continue;
        const place *up = &g->s.place[p->up];
        const mcursor *above = up->cursor == ROOT ? NULL : &mc->c[up->cursor];
        if (asm_at(mc, &mc->slot[p->tensor], p->level, &mc->c[p->cursor], above,
                   column_get(&g->icol[p->icol], k), p->at))
            return mc->cx->diag.status;
    }
    st->stood = st->serial + k;
    return STC_OK;
}
