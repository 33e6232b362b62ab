/* interval.c: the stack of strips that steps over intervals: prepared, run, released.
 *
 * What interval_match.c found when linking is looked at again when it runs: whether
 * every operand's level has a table of its fibers. If not, the nest is left to
 * another tier.
 */
#include "interval.h"
#include "../work/ws.h"
#include <string.h>

/* Shifts and coefficients so small that no coordinate times one leaves 64 bits. */
#define FARTHEST (INT64_C(1) << 60)

/* ---- preparing a run ------------------------------------------------------------- */

/* Level and parents of operand b; NULL: not a table's. */
static const level *prepare_parent(const machine *mc, ivl_loop *v, int b, ivl_walk *w)
{
    const merge_operand *o = &v->g.s.l->merge->operand[b];
    const bool walked = operand_walks(o);
    w->parent = NULL;
    if (v->depth) {
        const strip *out = &v->of->loop[v->depth - 1].g;
        const uint16_t up = v->link.up[1 + b];
        const place *opened = &out->s.place[up];
        const tensor *t = mc->slot[walked ? opened->tensor : o->tensor].t;
        const int l = walked ? opened->level : o->level;
        w->parent = &out->place[walked ? opened->up : up];
        return tensor_unique(t, l) ? &t->level[l] : NULL;
    }
    const cursor *up;
    const level *lv;
    if (walked) {
        const mcursor *c = &mc->c[o->cursor];
        if (c->subsections) return NULL;
        up = c->c.up;
        lv = c->c.lv;
    } else {
        up = o->up == ROOT ? NULL : &mc->c[o->up].c;
        lv = &mc->slot[o->tensor].t->level[o->level];
    }
    if (up && up->at != NONE && up->at_end != up->at + 1) return NULL;
    w->root = up ? up->at : 0;
    return lv;
}

/* The integer that column id of loop d's body is, whatever the round; false: it varies. */
static bool fixed_integer(const machine *mc, const interval *iv, int d, uint16_t id,
                          int64_t *out)
{
    const icol *x = &iv->loop[d].g.s.icol[id];
    if (x->kind == ICOL_CONST) {
        *out = x->k;
        return true;
    }
    if (x->kind != ICOL_FIXED) return false;
    if (d) return fixed_integer(mc, iv, d - 1, iv->loop[d].link.icol[id], out);
    *out = mc->i[x->a];
    return true;
}

/* At which coordinate of its level operand b is read: coef * index + shift. */
static bool prepare_shift(const machine *mc, const ivl_loop *v, int b, ivl_walk *w)
{
    const merge_operand *o = &v->g.s.l->merge->operand[b];
    uint16_t id = UNLINKED;
    bool known = true;
    w->coef = 1;
    w->shift = 0;
    if (operand_walks(o) && !v->depth) {
        w->coef = mc->c[o->cursor].coef;
        w->shift = mc->c[o->cursor].shift;
    } else if (operand_walks(o)) {
        const place *opened = &v->of->loop[v->depth - 1].g.s.place[v->link.up[1 + b]];
        w->coef = opened->coef;
        id = opened->shift;
    } else {
        w->coef = o->coef;
        if (v->depth) id = v->link.shift[1 + b];
        if (!v->depth && o->shift != ROOT) w->shift = mc->i[o->shift];
    }
    w->own = w->shift;
    if (v->window != UNLINKED)
        known = window_reads(mc, v, w);
    else if (id != UNLINKED)
        known = fixed_integer(mc, v->of, v->depth - 1, id, &w->shift);
    w->first = 0;
    w->plain = w->coef == 1 && w->shift == 0;
    return known && w->coef > -FARTHEST && w->coef < FARTHEST && w->shift > -FARTHEST &&
           w->shift < FARTHEST;
}

static bool prepare_walk(const machine *mc, ivl_loop *v, int b, ivl_walk *w)
{
    const uint32_t need = PROP_ORDERED | PROP_UNIQUE;
    const level *lv = prepare_parent(mc, v, b, w);
    w->place = (uint16_t)(1 + b);
    if (!lv || !lv->kind->table || (lv->props & need) != need ||
        !prepare_shift(mc, v, b, w))
        return false;
    lv->kind->table(lv, &w->t);
    w->bit = UINT64_C(1) << b;
    w->size = lv->size;
    w->runs = lv->a[STC_CRD].len;
    w->fibers = lv->a[STC_POS].len - 1;
    w->vals = NULL;
    w->drives = operand_walks(&v->g.s.l->merge->operand[b]);
    switch (w->t.shape) {
    case VIEW_RANGE:
        return true;
    case VIEW_COORDS:
    case VIEW_RUNS:
    case VIEW_TOKENS:
        return w->t.stride == w->t.width && w->coef > 0;
    default:
        return false;
    }
}

static bool prepare_loop(const machine *mc, ivl_loop *v)
{
    const merge_desc *m = v->g.s.l->merge;
    v->begin = m->lo == ROOT ? 0 : mc->ext[m->lo];
    v->end = mc->ext[m->hi];
    if (v->window != UNLINKED && !window_prepare(mc, v)) return false;
    v->until_lane = v->end;
    sums_end(v);
    v->sums_node = UNLINKED;
    v->nwalk = 0;
    v->g.known = 0;
    v->g.entered = false; /* what doesn't vary is worked out once for all of the nest */
    for (int b = 0; b < m->count; b++) {
        if (m->operand[b].role == MERGE_KNOWN) {
            if (!v->depth && mc->c[m->operand[b].cursor].c.at != NONE)
                v->g.known |= UINT64_C(1) << b;
        } else if (!prepare_walk(mc, v, b, &v->walk[v->nwalk++])) {
            return false;
        }
    }
    return true;
}

/* Whether stretches are remembered: all elements are stored, in the order of the
 * operands' positions, and depend on nothing else. */
static stc_status prepare_memo(machine *mc, ivl_loop *v)
{
    const merge_desc *m = v->g.s.l->merge;
    int tokens = 0, others = 0;
    for (int k = 0; k < v->nwalk; k++) {
        tokens += v->walk[k].t.shape == VIEW_TOKENS;
        others += v->walk[k].coef != 1 ||
                  (v->walk[k].t.shape != VIEW_TOKENS && v->walk[k].t.shape != VIEW_RUNS);
    }
    v->remembers =
        v->repeats && m->universe && m->count <= MERGE_TABLE_MAX && tokens && !others;
    for (int k = 0; k < v->g.s.nnode; k++)
        if (v->g.s.node[k].kind == NODE_GIVEN && v->g.s.node[k].varies)
            v->remembers = false;
    for (uint64_t mask = 0; m->count <= MERGE_TABLE_MAX && mask < 1u << m->count; mask++)
        if (!merge_produces(m, mask)) v->remembers = false;
    return v->remembers ? memo_begin(mc, v) : STC_OK;
}

/* Whether all levels above the last have a place for every coordinate of their
 * loops, so that parents can be counted; the levels above those stand already. Where the
 * last level appends, and rows may come again or were appended before this run, they go one
 * by one, in the order that base operations hold them to. */
static void prepare_target(const machine *mc, const interval *iv, ivl_target *t)
{
    const slot *r = &mc->slot[t->x->a];
    t->parent = NONE;
    const asm_level *last = &r->lev[r->t->fmt.levels - 1];
    t->direct = t->n > 1 && (last->insert || (last->parent == NONE && t->n == t->loop + 1));
    for (int k = 0; k < t->n; k++)
        t->at[k].lane = -1;
    for (int k = 0; k + 1 < t->n; k++) {
        const ivl_loop *v = &iv->loop[t->at[k].loop];
        const place *p = &v->g.s.place[t->at[k].place];
        const level *lv = &r->t->level[p->level];
        const uint16_t up = v->g.s.place[p->up].cursor;
        fiber_table f = {.lo = 0};
        if (r->lev[p->level].insert) lv->kind->table(lv, &f);
        t->direct = t->direct && r->lev[p->level].insert && f.lo <= v->begin &&
                    f.hi >= v->end && !v->whole && v->window == UNLINKED;
        t->outer[k].lo = f.lo;
        t->outer[k].extent = f.hi - f.lo;
        if (k > 0) continue;
        t->base = up == ROOT ? 0 : mc->c[up].c.at;
        t->direct = t->direct && (up == ROOT || mc->c[up].kept);
    }
}

/* Whether an entry stands for so many coordinates of the innermost loop that going from one
 * to the next pays. */
static bool few_entries(const interval *iv)
{
    enum { COORDINATES = 8 };
    const ivl_loop *v = &iv->loop[iv->loops - 1];
    for (int k = 0; k < v->nwalk; k++) {
        const ivl_walk *w = &v->walk[k];
        const int64_t fibers = w->fibers > 0 ? w->fibers : 1;
        if (w->t.shape != VIEW_COORDS ||
            w->runs / fibers > (v->end - v->begin) / COORDINATES)
            return false;
    }
    return true;
}

static bool prepare(const machine *mc, interval *iv)
{
    for (int d = 0; d < iv->loops; d++)
        if (!prepare_loop(mc, &iv->loop[d])) return false;
    return !iv->sparse || few_entries(iv);
}

/* ---- running --------------------------------------------------------------------- */

/* What the inner body has from the outer one, by lane. */
static void spread_nodes(ivl_loop *v)
{
    if (!v->depth) return;
    const strip *o = &v->of->loop[v->depth - 1].g;
    for (int k = 0; k < v->g.s.nnode; k++) {
        const node *x = &v->g.s.node[k];
        if (x->kind != NODE_GIVEN || v->link.node[k] == UNLINKED) continue;
        const vcolumn *from = &o->node[v->link.node[k]];
        vcolumn *to = &v->g.node[k];
        const vclass cls = (vclass)x->cls;
        if (!from->p) {
            if (to->p || memcmp(&to->one, &from->one, class_size(cls))) to->spread = 0;
            to->one = from->one;
            to->p = NULL;
            continue;
        }
        class_gather(cls, to->data, from->p, v->row, v->g.n);
        to->p = to->data;
        to->spread = 0;
    }
}

/* Positions that the loops inside need of those outside. */
static void spread_places(ivl_loop *v)
{
    if (!v->depth || v->depth + 1 == v->of->loops) return;
    const strip *o = &v->of->loop[v->depth - 1].g;
    for (int k = 1; k < v->g.s.nplace; k++) {
        if (!v->outside[k]) continue;
        const column *from = &o->place[v->link.up[k]];
        column *to = &v->g.place[k];
        to->ranged = false;
        to->full = false;
        to->form = from->form == COL_FIXED ? COL_FIXED : COL_ARRAY;
        to->base = from->base;
        for (int e = 0; to->form == COL_ARRAY && e < v->g.n; e++)
            to->data[e] = column_get(from, v->row[e]);
    }
}

/* How lanes are filled. Where the body leaves some out, only in ways that don't count on
 * lanes' places in the strip later on. */
static stc_status choose_way(machine *mc, ivl_loop *v)
{
    v->alone = v->spelt_out = v->steps = v->folds = false;
    v->led = NULL;
    v->bare = BARE_NOT;
    v->narrow = 0;
    if (v->window != UNLINKED || v->sieves) { /* rows have ends of their own, or gaps */
        v->alone = v->window == UNLINKED && runs_start(v);
        v->folds = folds_start(mc, v);
        return STC_OK;
    }
    if (tokens_start(mc, v) || sums_start(mc, v)) return mc->cx->diag.status;
    if (!v->alone) v->alone = runs_start(v);
    if (!v->alone) tokens_end(v);
    if (v->alone && pairs_start(mc, v)) return mc->cx->diag.status;
    if (!v->alone && lead_start(v)) v->open = false;
    v->folds = folds_start(mc, v);
    v->spelt_out = !v->folds && spell_start(mc, v);
    v->steps = !v->spelt_out && !v->led && steps_start(v);
    v->bare = v->alone || v->led || v->spelt_out ? interval_bare(mc, v) : BARE_NOT;
    narrow_start(mc, v);
    return STC_OK;
}

/* The strip's lanes where they belong; those before one that failed (`st`) first. */
static stc_status sink_lanes(machine *mc, ivl_loop *v, stc_status st)
{
    if (st && !v->g.fault) return st;
    if (st) v->g.n = v->g.fault_lane;
    while (st && v->nrep > 0 && v->rep[v->nrep - 1].after > v->g.n)
        v->nrep--;
    for (int k = 0; v->g.n + v->nrep > 0 && k < v->g.s.nsink; k++) {
        const stc_status failed = interval_sink(mc, v, &v->g.s.sink[k]);
        if (failed) return failed;
    }
    return st;
}

/* The fibers of coordinates below the lanes of the loop outside. */
static void count_fibers(machine *mc, const ivl_loop *v)
{
    for (int k = 0; k < v->nwalk; k++)
        for (int j = 0; j < v->lanes && v->walk[k].t.shape == VIEW_COORDS; j++)
            machine_saw(mc, SEEN_FIBERS, walk_parent(&v->walk[k], j) >= 0);
}

/* All rounds of a loop, for every lane of the one outside. */
static stc_status run_loop(machine *mc, ivl_loop *v)
{
    interval *iv = v->of;
    v->lane = 0;
    v->lanes = v->depth ? iv->loop[v->depth - 1].g.n : 1;
    v->open = false;
    if (choose_way(mc, v)) return mc->cx->diag.status;
    interval_start(v);
    if (mc->profile && v->depth) count_fibers(mc, v);
    if (sums_rows(mc, v)) return mc->cx->diag.status;
    while (v->lane < v->lanes) {
        if (interval_fill(mc, v)) return mc->cx->diag.status;
        const int lanes = v->g.n;
        stc_status st = STC_OK;
        if (v->regions && !v->spelt_out) machine_saw(mc, SEEN_RUNS, lanes + v->nrep);
        if (v->g.n > 0) {
            spread_nodes(v);
            spread_places(v);
            v->elems = v->narrow && v->g.entered ? narrow_eval(mc, v) : NULL;
            if (!v->elems) st = strip_eval(mc, &v->g);
        }
        if (sink_lanes(mc, v, st)) return mc->cx->diag.status;
        if (machine_count(mc, lanes + v->nrep)) return mc->cx->diag.status;
        if (!v->depth && strip_through(mc, &v->g, 0)) break;
    }
    return v->depth ? interval_close(mc, iv, v->depth - 1) : STC_OK;
}

stc_status interval_inside(machine *mc, strip *s, int child)
{
    (void)child; /* there is one */
    ivl_loop *v = (ivl_loop *)s;
    return run_loop(mc, &v->of->loop[v->depth + 1]);
}

/* The block comes last: with it, all is there. */
static stc_status allocate(machine *mc, interval *iv)
{
    /* Columns of coordinates are looked at 32 at a time. */
    enum { LANES = STRIP + 48, STRUNG = IVL_STRUNG + 48 };
    for (int d = 0; d < iv->loops; d++) {
        ivl_loop *v = &iv->loop[d];
        if (!v->g.block && strip_allocate(mc, &v->g)) return mc->cx->diag.status;
    }
    const size_t each = LANES * (sizeof(ivl_repeat) + sizeof(int64_t) + sizeof(int)) +
                        3 * STRUNG * sizeof(int);
    iv->block_size = LANES * sizeof(int64_t) + (size_t)iv->loops * each;
    iv->block = mem_alloc(mc->cx, iv->block_size);
    if (!iv->block) return mc->cx->diag.status;
    ivl_repeat *rep = iv->block;
    iv->pos = (int64_t *)(rep + iv->loops * LANES);
    int64_t *len = iv->pos + LANES;
    int *row = (int *)(len + iv->loops * LANES);
    for (int d = 0; d < iv->loops; d++) {
        ivl_loop *v = &iv->loop[d];
        v->rep = rep + d * LANES;
        v->len = len + d * LANES;
        v->row = row + d * (LANES + 3 * STRUNG);
        v->fiber = v->row + LANES;
        v->start = v->fiber + STRUNG;
        v->g.rows = v->row;
        v->g.len = v->len;
        v->at = v->start + STRUNG;
        v->summed = UNLINKED;
    }
    return STC_OK;
}

static void release_loop(machine *mc, ivl_loop *v)
{
    strip_free(mc, &v->g.base);
    memo_free(mc, v);
    pairs_free(mc, v);
    tokens_free(mc, v);
    mem_free(mc->cx, v->sums, (size_t)v->sums_cap * sizeof *v->sums);
}

void interval_release(machine *mc, super *base)
{
    interval *iv = (interval *)base;
    for (int d = 0; d < iv->loops; d++)
        release_loop(mc, &iv->loop[d]);
    if (iv->other) {
        iv->other->free(mc, iv->other);
        mem_free(mc->cx, iv->other, iv->other->size);
    }
    run_fold_free(mc->cx, &iv->fold);
    mem_free(mc->cx, iv->block, iv->block_size);
}

stc_status interval_run(machine *mc, super *base)
{
    interval *iv = (interval *)base;
    if (!iv->block && allocate(mc, iv)) return mc->cx->diag.status;
    if (!prepare(mc, iv)) return iv->other ? iv->other->run(mc, iv->other) : SUPER_REPLAY;
    if (iv->ntarget) prepare_target(mc, iv, &iv->target);
    stc_status st = STC_OK;
    run_fold_forget(&iv->fold);
    iv->folds_not = false;
    for (int d = 0; !st && d < iv->loops; d++)
        st = prepare_memo(mc, &iv->loop[d]);
    if (!st) st = run_loop(mc, &iv->loop[0]);
    if (!st) st = folds_finish(mc, iv);
    return st ? st : interval_finish(mc, &iv->target);
}
