/* interval.c: which nests step over intervals, and the stack of strips that does.
 *
 * Matched when linking: the bodies are strips' (strip.c) without masks or
 * places of their own, what they make is reduced or stored where a run can go,
 * and some operand or result has regions. A loop whose body reads its index, or
 * whose sink can't take a run, has lanes of one coordinate each; the others may
 * still have long ones. Found out when running: whether every operand's level
 * has a table of its fibers.
 */
#include "interval.h"
#include <stdio.h>
#include <string.h>

/* ---- matching ------------------------------------------------------------------ */

static const loop_summary *summary_at(const loop_summary *s, int n, int depth)
{
    return &s[n - 1 - depth];
}

/* The level that an operand walks or is located in, as the program says; NULL:
 * it is opened where this doesn't look. */
static const format *operand_format(const machine *mc, const loop_summary *s,
                                    const nest_links *link, const loop_summary *outer,
                                    int b, int *at)
{
    const merge_operand *o = &s->l->merge->operand[b];
    uint16_t t = o->tensor;
    *at = o->level;
    if (operand_walks(o) && outer) {
        t = outer->place[link->up[1 + b]].tensor;
        *at = outer->place[link->up[1 + b]].level;
    } else if (operand_walks(o)) {
        int k = s->l->first - 1;
        while (k >= 0 &&
               (insn_of(mc, k)->op != OP_OPEN || insn_of(mc, k)->arg[0] != o->cursor))
            k--;
        if (k < 0) return NULL;
        t = insn_of(mc, k)->arg[1];
        *at = insn_of(mc, k)->arg[2];
    }
    return &mc->p->tensor[t].fmt;
}

static bool body_fits(const loop_summary *s, bool innermost)
{
    if (!strip_evaluable(s)) return false;
    for (int k = 0; k < s->nstep; k++) {
        const step *x = &s->step[k];
        if (x->kind == STEP_PLACE ? s->place[x->a].kind != PLACE_AT
                                  : x->kind != STEP_NODE && x->kind != STEP_INNER)
            return false;
        if (x->kind == STEP_INNER && innermost) return false;
    }
    for (int k = 0; k < s->nnode; k++) {
        const node *x = &s->node[k];
        if (x->kind == NODE_HOST || (x->kind == NODE_FN && fn_at(x->fn)->flags & FP_FAULTS))
            return false;
    }
    return true;
}

static bool operands_fit(const loop_summary *s)
{
    const merge_desc *m = s->l->merge;
    int walks = 0;
    for (int b = 0; b < m->count; b++) {
        const merge_operand *o = &m->operand[b];
        walks += o->role != MERGE_KNOWN;
        if (o->role != MERGE_LOCATE) continue;
        if (o->coef != 1 || o->shift != ROOT) return false;
        for (int k = 0; k < m->count; k++)
            if (o->up == m->operand[k].cursor && m->operand[k].role != MERGE_KNOWN)
                return false;
    }
    return walks <= IVL_WALKS;
}

/* Something computed in the loop depends on its index. */
static bool reads_index(const loop_summary *s)
{
    for (int k = 0; k < s->nnode; k++)
        if (s->node[k].kind == NODE_INDEX && s->icol[s->node[k].a].varies) return true;
    for (int k = 1; k < s->nicol; k++)
        if (s->icol[k].varies) return true;
    return false;
}

/* Levels of a result from the outermost loop's on, each placed in one loop, the
 * last by the loop that stores. */
static bool match_target(const machine *mc, const loop_summary *s, int n, int depth,
                         const sink *x, ivl_target *t)
{
    *t = (ivl_target){.x = x, .loop = depth};
    for (int d = 0; d <= depth; d++) {
        const loop_summary *in = summary_at(s, n, d);
        int found = 0;
        for (uint16_t id = 1; id < in->nplace; id++) {
            const place *p = &in->place[id];
            if (p->kind != PLACE_AT || p->tensor != x->a) continue;
            const uint8_t up = in->place[p->up].kind;
            if (found++ || p->icol != 0 || up != PLACE_FIXED) return false;
            if (t->n && p->level != 1 + summary_at(s, n, t->at[t->n - 1].loop)
                                            ->place[t->at[t->n - 1].place]
                                            .level)
                return false;
            t->at[t->n].loop = d;
            t->at[t->n].lane = -1;
            t->at[t->n++].place = id;
        }
    }
    return t->n > 0 && t->at[t->n - 1].loop == depth && t->at[t->n - 1].place == x->b &&
           summary_at(s, n, depth)->place[x->b].level + 1 == mc->p->tensor[x->a].fmt.levels;
}

static bool match_sinks(const machine *mc, interval *iv, const loop_summary *s, int n)
{
    int stores = 0, sinks = 0;
    for (int d = 0; d < n; d++) {
        const loop_summary *in = summary_at(s, n, d);
        for (int k = 0; k < in->nsink; k++) {
            const sink *x = &in->sink[k];
            if (x->fn >= 0 && (fn_at(x->fn)->flags & FP_FAULTS ||
                               fn_result_class(x->fn, (vclass)x->cls) != x->cls))
                return false;
            if (x->kind > SINK_ACC || x->right) return false;
            sinks++;
            if (x->kind == SINK_REDUCE) continue;
            stores++;
            if (iv->ntarget == IVL_TARGETS ||
                !match_target(mc, s, n, d, &in->sink[k], &iv->target[iv->ntarget]))
                return false;
            iv->ntarget++;
        }
    }
    return sinks && (stores <= 1); /* the sink may join lanes: nothing else reads them */
}

static const level_kind *result_level(const machine *mc, const loop_summary *s, int id)
{
    const place *p = &s->place[id];
    return mc->p->tensor[p->tensor].fmt.level[p->level].kind;
}

/* Whether lanes may be longer than one coordinate. */
static bool match_whole(const machine *mc, const loop_summary *s, bool innermost)
{
    if (reads_index(s)) return false;
    for (int k = 0; k < s->nsink; k++)
        if (s->sink[k].kind == SINK_REDUCE && !interval_folds(&s->sink[k])) return false;
    for (int id = 1; id < s->nplace; id++) {
        if (s->place[id].kind != PLACE_AT) continue;
        const level_kind *kind = result_level(mc, s, id);
        if (!innermost && !s->nsink && !(kind->caps & CAP_APPEND_REGION)) return false;
    }
    return true;
}

/* Whether a loop inside adds, round by round of loop `outer`, to the same places:
 * rounds that are alike then count one by one. */
static bool adds_again(const loop_summary *outer, const loop_summary *s, int n, int depth)
{
    for (int d = depth + 1; d < n; d++) {
        const loop_summary *in = summary_at(s, n, d);
        for (int k = 0; k < in->nsink; k++) {
            bool placed = in->sink[k].kind != SINK_ACC;
            for (int id = 1; id < outer->nplace && !placed; id++)
                placed = outer->place[id].kind == PLACE_AT &&
                         outer->place[id].tensor == in->sink[k].a;
            if (!placed) return true;
        }
    }
    return false;
}

static bool has_regions(const machine *mc, const loop_summary *s, const nest_links *link,
                        const loop_summary *outer)
{
    for (int b = 0; b < s->l->merge->count; b++) {
        int l;
        if (s->l->merge->operand[b].role == MERGE_KNOWN) continue;
        const format *f = operand_format(mc, s, link, outer, b, &l);
        if (f && f->level[l].kind->caps & CAP_REGION) return true;
    }
    for (int id = 1; id < s->nplace; id++)
        if (s->place[id].kind == PLACE_AT &&
            result_level(mc, s, id)->caps & CAP_APPEND_REGION)
            return true;
    return false;
}

static bool match_loop(const machine *mc, ivl_loop *v, const loop_summary *s, int n)
{
    const loop_summary *in = summary_at(s, n, v->depth);
    const bool innermost = v->depth + 1 == n;
    if (!body_fits(in, innermost) || !operands_fit(in)) return false;
    v->whole = match_whole(mc, in, innermost) && !adds_again(in, s, n, v->depth);
    v->weighs = v->whole && innermost && in->nsink > 0;
    for (int k = 0; k < in->nsink; k++)
        v->weighs &= in->sink[k].kind == SINK_REDUCE &&
                     fn_at(in->sink[k].fn)->flags & FP_COMMUTATIVE;
    v->repeats = v->whole && innermost && in->nsink == 1 &&
                 in->sink[0].kind == SINK_STORE &&
                 result_level(mc, in, in->sink[0].b)->append_repeat;
    return true;
}

static void describe(const interval *iv, char *note, size_t size)
{
    static const char *const sinks[] = {"reduce", "store", "accumulate"};
    const sink *x = NULL;
    int walks = 0;
    for (int d = 0; d < iv->loops; d++) {
        const loop_summary *s = &iv->loop[d].g.s;
        if (s->nsink) x = &s->sink[0];
        for (int b = 0; b < s->l->merge->count; b++)
            walks += operand_walks(&s->l->merge->operand[b]);
    }
    snprintf(note, size, "intervals %d loop%s, %d walked -> %s", iv->loops,
             iv->loops == 1 ? "" : "s", walks, sinks[x->kind]);
}

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
        if (!c->plain) return NULL;
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

static bool prepare_walk(const machine *mc, ivl_loop *v, int b, ivl_walk *w)
{
    const uint32_t need = PROP_ORDERED | PROP_UNIQUE;
    const level *lv = prepare_parent(mc, v, b, w);
    if (!lv || !lv->kind->table || (lv->props & need) != need) return false;
    lv->kind->table(lv, &w->t);
    w->place = (uint16_t)(1 + b);
    w->bit = UINT64_C(1) << b;
    w->size = lv->size;
    w->drives = operand_walks(&v->g.s.l->merge->operand[b]);
    switch (w->t.shape) {
    case VIEW_RANGE:
        return true;
    case VIEW_COORDS:
    case VIEW_RUNS:
    case VIEW_TOKENS:
        return w->t.stride == w->t.width;
    default:
        return false;
    }
}

static bool prepare_loop(const machine *mc, ivl_loop *v)
{
    const merge_desc *m = v->g.s.l->merge;
    v->begin = m->lo == ROOT ? 0 : mc->ext[m->lo];
    v->end = mc->ext[m->hi];
    sums_end(v);
    v->sums_node = UNLINKED;
    v->nwalk = 0;
    v->g.known = 0;
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
        others += v->walk[k].t.shape != VIEW_TOKENS && v->walk[k].t.shape != VIEW_RUNS;
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
 * loops, so that parents can be counted; the levels above those stand already. */
static void prepare_target(const machine *mc, const interval *iv, ivl_target *t)
{
    const slot *r = &mc->slot[t->x->a];
    t->parent = NONE;
    t->direct = t->n > 1;
    for (int k = 0; k < t->n; k++)
        t->at[k].lane = -1;
    for (int k = 0; k + 1 < t->n; k++) {
        const ivl_loop *v = &iv->loop[t->at[k].loop];
        const place *p = &v->g.s.place[t->at[k].place];
        const level *lv = &r->t->level[p->level];
        const uint16_t up = v->g.s.place[p->up].cursor;
        fiber_table f = {.shape = VIEW_NONE};
        if (lv->kind->table) lv->kind->table(lv, &f);
        t->direct = t->direct && r->lev[p->level].insert && f.shape == VIEW_RANGE &&
                    f.lo <= v->begin && f.hi >= v->end && !v->whole;
        t->outer[k].lo = f.lo;
        t->outer[k].extent = f.hi - f.lo;
        if (k > 0) continue;
        t->base = up == ROOT ? 0 : mc->c[up].c.at;
        t->direct = t->direct && t->base >= 0 && (up == ROOT || mc->c[up].kept);
    }
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
        for (int e = 0; e < v->g.n; e++)
            class_put(cls, to->data, e, class_get(cls, from->p, v->row[e]));
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

/* All rounds of a loop, for every lane of the one outside. */
static stc_status run_loop(machine *mc, ivl_loop *v)
{
    interval *iv = v->of;
    v->lane = 0;
    v->lanes = v->depth ? iv->loop[v->depth - 1].g.n : 1;
    v->open = v->g.entered = false;
    v->alone = false;
    if (sums_start(mc, v)) return mc->cx->diag.status;
    if (!v->alone) v->alone = runs_start(v);
    if (v->alone && pairs_start(mc, v)) return mc->cx->diag.status;
    v->bare = v->alone ? interval_bare(mc, v) : BARE_NOT;
    narrow_start(mc, v);
    v->led = NULL;
    if (!v->alone && lead_start(v)) v->open = false;
    interval_start(v);
    if (sums_rows(mc, v)) return mc->cx->diag.status;
    while (v->lane < v->lanes) {
        if (interval_fill(mc, v)) return mc->cx->diag.status;
        const int n = v->g.n + v->nrep;
        if (v->g.n > 0) {
            spread_nodes(v);
            spread_places(v);
            v->elems = v->narrow && v->g.entered ? narrow_eval(mc, v) : NULL;
            if (!v->elems && strip_eval(mc, &v->g)) return mc->cx->diag.status;
        }
        if (n > 0) {
            for (int k = 0; k < v->g.s.nsink; k++)
                if (interval_sink(mc, v, &v->g.s.sink[k])) return mc->cx->diag.status;
        }
        if (machine_count(mc, n)) return mc->cx->diag.status;
    }
    return v->depth ? interval_close(mc, iv, v->depth - 1) : STC_OK;
}

static stc_status run_inside(machine *mc, strip *s, int child)
{
    (void)child; /* there is one */
    ivl_loop *v = (ivl_loop *)s;
    return run_loop(mc, &v->of->loop[v->depth + 1]);
}

/* The block comes last: with it, all is there. */
static stc_status allocate(machine *mc, interval *iv)
{
    enum { LANES = STRIP + 16 };
    for (int d = 0; d < iv->loops; d++) {
        ivl_loop *v = &iv->loop[d];
        if (!v->g.block && strip_allocate(mc, &v->g)) return mc->cx->diag.status;
    }
    const size_t each = 2 * sizeof(int64_t) + sizeof(ivl_repeat) + 4 * sizeof(int);
    iv->block_size = (size_t)(iv->loops + 1) * LANES * each;
    iv->block = mem_alloc(mc->cx, iv->block_size);
    if (!iv->block) return mc->cx->diag.status;
    ivl_repeat *rep = iv->block;
    int64_t *len = (int64_t *)(rep + (iv->loops + 1) * LANES);
    int *row = (int *)(len + (iv->loops + 1) * LANES);
    iv->pos = len + iv->loops * LANES;
    for (int d = 0; d < iv->loops; d++) {
        ivl_loop *v = &iv->loop[d];
        v->rep = rep + d * LANES;
        v->len = len + d * LANES;
        v->row = row + 4 * d * LANES;
        v->fiber = v->row + LANES;
        v->start = v->fiber + LANES;
        v->at = v->start + LANES;
        v->ahead = STRIP / 8;
        v->summed = UNLINKED;
    }
    return STC_OK;
}

static void release_loop(machine *mc, ivl_loop *v)
{
    strip_free(mc, &v->g.base);
    memo_free(mc, v);
    pairs_free(mc, v);
    mem_free(mc->cx, v->sums, (size_t)v->sums_cap * sizeof *v->sums);
}

static void interval_release(machine *mc, super *base)
{
    interval *iv = (interval *)base;
    for (int d = 0; d < iv->loops; d++)
        release_loop(mc, &iv->loop[d]);
    if (iv->other && iv->other->free) iv->other->free(mc, iv->other);
    if (iv->other) mem_free(mc->cx, iv->other, iv->other->size);
    mem_free(mc->cx, iv->block, iv->block_size);
}

static stc_status interval_run(machine *mc, super *base)
{
    interval *iv = (interval *)base;
    if (!iv->block && allocate(mc, iv)) return mc->cx->diag.status;
    for (int d = 0; d < iv->loops; d++)
        if (!prepare_loop(mc, &iv->loop[d]))
            return iv->other ? iv->other->run(mc, iv->other) : SUPER_REPLAY;
    for (int k = 0; k < iv->ntarget; k++)
        prepare_target(mc, iv, &iv->target[k]);
    stc_status st = STC_OK;
    for (int d = 0; !st && d < iv->loops; d++)
        st = prepare_memo(mc, &iv->loop[d]);
    if (!st) st = run_loop(mc, &iv->loop[0]);
    for (int k = 0; !st && k < iv->ntarget; k++)
        st = interval_finish(mc, &iv->target[k]);
    return st;
}

/* ---- making ---------------------------------------------------------------------- */

/* What is fixed for a round of the outer loop varies along the string. */
static void spread_summary(ivl_loop *v, const loop_summary *outer)
{
    loop_summary *s = &v->g.s;
    for (int k = 1; k < s->nplace; k++)
        if (s->place[k].kind == PLACE_FIXED && v->link.up[k] != PLACE_ROOT) {
            s->place[k].kind = PLACE_OPERAND;
            v->outside[k] = outer->place[v->link.up[k]].kind != PLACE_AT;
            s->place[k].varies = v->outside[k] && outer->place[v->link.up[k]].varies;
        }
    for (int k = 0; k < s->nnode; k++) {
        node *x = &s->node[k];
        if (x->varies) continue;
        x->varies = v->link.node[k] != UNLINKED && outer->node[v->link.node[k]].varies;
        x->kind = NODE_GIVEN;
    }
}

/* Sinks by which summaries and strips know each other. */
static void own_sinks(interval *iv, const loop_summary *s, int n)
{
    for (int k = 0; k < iv->ntarget; k++) {
        const int d = iv->target[k].loop;
        iv->target[k].x =
            iv->loop[d].g.s.sink + (iv->target[k].x - summary_at(s, n, d)->sink);
    }
}

static bool match(machine *mc, interval *iv, const loop_summary *s, const nest_links *links,
                  int n)
{
    bool regions = false;
    if (!match_sinks(mc, iv, s, n)) return false;
    for (int d = 0; d < n; d++) {
        ivl_loop *v = &iv->loop[d];
        const loop_summary *outer = d ? summary_at(s, n, d - 1) : NULL;
        v->of = iv;
        v->depth = d;
        if (d) v->link = links[n - 1 - d];
        if (!match_loop(mc, v, s, n)) return false;
        regions |= has_regions(mc, summary_at(s, n, d), &v->link, outer);
    }
    return regions;
}

stc_status interval_fuse(machine *mc, const loop_summary *s, const nest_links *links, int n,
                         super **out)
{
    if (n > IVL_LOOPS) return STC_OK;
    const size_t size = sizeof(interval) + (size_t)n * sizeof(ivl_loop);
    interval *iv = mem_alloc(mc->cx, size);
    if (!iv) return mc->cx->diag.status;
    memset(iv, 0, size);
    iv->loops = n;
    if (!match(mc, iv, s, links, n)) {
        mem_free(mc->cx, iv, size);
        return STC_OK;
    }
    for (int d = 0; d < n; d++) {
        ivl_loop *v = &iv->loop[d];
        strip_setup(&v->g, summary_at(s, n, d));
        if (d) spread_summary(v, &iv->loop[d - 1].g.s);
        v->g.rows = NULL;
        if (d + 1 < n) v->g.inner = run_inside;
    }
    own_sinks(iv, s, n);
    loop *l = summary_at(s, n, 0)->l;
    iv->base = (super){.run = interval_run,
                       .free = interval_release,
                       .next = l->exit,
                       .loop = l,
                       .tier = 4,
                       .size = size};
    iv->other = *out;
    describe(iv, iv->base.note, sizeof iv->base.note);
    *out = &iv->base;
    return STC_OK;
}
