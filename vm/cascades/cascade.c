/* cascade.c: a tree of loops as stages, and their rounds of fill, eval and sink.
 *
 * Taken over when linking, if every loop of the tree could be read and its
 * sinks don't mind the order (cascade_place.c); there is nothing that depends
 * on data that a cascade can't run. Where super.def has a kernel for an innermost
 * loop, it runs that loop for all lanes of the one around, if this run's fibers
 * are as it needs them.
 */
#include "cascade.h"
#include "../super/super.h"
#include <string.h>

/* ---- the body of an inner loop as a strip of its own --------------------------- */

static void give_places(const stage *st, loop_summary *s)
{
    for (int k = 1; k < s->nplace; k++) {
        place *p = &s->place[k];
        if (p->kind == PLACE_FIXED) {
            p->kind = PLACE_GIVEN;
            p->varies = st->out->g->s.place[st->link.up[k]].varies;
        } else if (p->kind != PLACE_OPERAND) {
            p->varies = s->place[p->up].varies || s->icol[p->icol].varies;
        }
    }
}

/* What is fixed for a round of the loop around varies along the string. */
static void give(const stage *st, loop_summary *s)
{
    const loop_summary *o = &st->out->g->s;
    for (int k = 1; k < s->nicol; k++) {
        icol *x = &s->icol[k];
        if (x->kind == ICOL_FIXED) {
            x->kind = ICOL_GIVEN;
            x->varies = o->icol[st->link.icol[k]].varies;
        } else if (x->kind == ICOL_MULADD) {
            x->varies = s->icol[x->a].varies || s->icol[x->b].varies;
        }
    }
    give_places(st, s);
    for (int k = 0; k < s->nnode; k++) {
        node *x = &s->node[k];
        const uint16_t from = st->link.node[k];
        if (from != UNLINKED || x->kind == NODE_LIVE) {
            for (int j = 0; j < x->nargs; j++)
                s->node[x->arg[j]].uses--;
            x->kind = NODE_GIVEN;
            x->nargs = 0;
            x->varies = from != UNLINKED && o->node[from].varies;
            continue;
        }
        if (x->kind == NODE_LOAD) x->varies = s->place[x->b].varies;
        if (x->kind == NODE_INDEX) x->varies = s->icol[x->a].varies;
        if (x->kind >= NODE_FN && x->kind <= NODE_WRAP) {
            x->varies = false;
            for (int j = 0; j < x->nargs; j++)
                x->varies |= s->node[x->arg[j]].varies;
        }
    }
}

/* ---- stages -------------------------------------------------------------------- */

static int count_stages(const loop_tree *t)
{
    int n = 1;
    for (int k = 0; k < t->nchild; k++)
        n += count_stages(t->child[k]);
    return n;
}

static bool evaluable(const loop_tree *t)
{
    for (int k = 0; k < t->nchild; k++)
        if (!evaluable(t->child[k])) return false;
    return strip_evaluable(&t->s);
}

static stc_status run_inner(machine *mc, strip *s, int child);

/* Kernels for loops that are all there is inside of this one, or that reduce. It is as it
 * stands: nothing is given yet by the loops around. */
static stc_status find_kernels(machine *mc, stage *st, const loop_tree *t)
{
    for (int k = 0; k < t->nchild; k++) {
        const loop_tree *in = t->child[k];
        const uint8_t to = in->s.nsink ? in->s.sink[0].kind : SINK_STORE;
        if (in->nchild || (st->out && to == SINK_STORE)) continue;
        if (t->nchild > 1 && to != SINK_REDUCE) continue;
        if (nest_match(mc, &st->own, in, &st->inside[k])) return mc->cx->diag.status;
    }
    return STC_OK;
}

/* How many operands of a loop are ever walked; one at least has room. */
static int walkers(const merge_desc *m)
{
    int n = 0;
    for (int b = 0; b < m->count && n < WALK_MAX; b++)
        n += operand_walks(&m->operand[b]);
    return n ? n : 1;
}

static stage *add_stage(machine *mc, cascade *c, const loop_tree *t, stage *out)
{
    stage *st = &c->stage[c->nstage++];
    memset(st, 0, offsetof(stage, walk));
    st->walks = walkers(t->s.l->merge);
    memset(st->walk, 0, (size_t)st->walks * sizeof *st->walk);
    st->all = c;
    st->out = out;
    st->g = &st->own;
    strip_setup(&st->own, &t->s);
    if (find_kernels(mc, st, t)) return NULL;
    if (out) {
        st->link = t->link;
        give(st, &st->own.s);
    }
    st->g->stage = st;
    st->g->serial = &st->serial;
    st->g->result_place = cascade_place;
    st->g->inner = run_inner;
    if (out) {
        st->g->around = out->g;
        st->g->link = &st->link;
    }
    c->forks |= t->nchild > 1;
    for (int k = 0; k < t->nchild; k++) {
        st->child[k] = add_stage(mc, c, t->child[k], st);
        if (!st->child[k]) return NULL;
        st->child[k]->pair = st->inside[k];
        st->nchild++;
    }
    st->faultless = strip_faultless(&st->own.s);
    for (int k = 0; k < st->nchild; k++)
        st->faultless &= st->child[k]->faultless;
    st->g->ends &= st->faultless;
    stage_spread_match(st);
    stage_late_match(st);
    if (out) stage_terms_match(mc, st);
    return st;
}

/* ---- a run --------------------------------------------------------------------- */

static stc_status make_ready(machine *mc, stage *st)
{
    if (!st->g->block && strip_allocate(mc, st->g)) return mc->cx->diag.status;
    if (!st->out || st->row) return STC_OK;
    st->run_lane = mem_array(mc->cx, ROW_INTS, sizeof *st->run_lane);
    if (!st->run_lane) return mc->cx->diag.status;
    st->run_end = st->run_lane + STRIP + ROW_BLOCK;
    st->run_end[-1] = 0; /* where the first run begins */
    st->row = st->g->rows = st->run_end + STRIP;
    return STC_OK;
}

static stc_status lists_ready(machine *mc, cascade *c)
{
    enum { LISTS = STC_MAX_ORDER + 1 };
    const size_t one = STRIP * (2 * sizeof(int) + sizeof(int64_t));
    if (c->block) return STC_OK;
    c->block_size = LISTS * one;
    c->block = mem_alloc(mc->cx, c->block_size);
    if (!c->block) return mc->cx->diag.status;
    for (int k = 0; k < LISTS; k++) {
        char *at = (char *)c->block + (size_t)k * one;
        c->list[k].pos = (int64_t *)at;
        c->list[k].lane = (int *)(at + STRIP * sizeof(int64_t));
        c->list[k].end = c->list[k].lane + STRIP;
    }
    return STC_OK;
}

static stc_status prepare_sinks(machine *mc, cascade *c)
{
    for (int k = 0; k < c->nstage; k++) {
        stage *st = &c->stage[k];
        st->serial = 0;
        memset(st->column, 0, sizeof st->column);
        memset(st->spared, 0, sizeof st->spared);
        st->unread = 0;
        memset(st->turn, 0, sizeof st->turn);
    }
    for (int k = 0; k < c->nstage; k++) {
        stage *st = &c->stage[k];
        if (!st->out) {
            st->stood = -1;
            continue; /* its own sinks are those of any strip */
        }
        stage_sinks_prepare(mc, st);
        for (int j = 0; j < st->g->s.nsink; j++)
            if (st->sink[j].way == SINK_APPENDED && lists_ready(mc, c))
                return mc->cx->diag.status;
    }
    return STC_OK;
}

static bool all_paired(const stage *st)
{
    bool all = st->nchild > 0;
    for (int k = 0; k < st->nchild; k++)
        all &= st->child[k]->paired;
    return all;
}

static stc_status prepare(machine *mc, cascade *c)
{
    for (int k = 0; k < c->nstage; k++)
        c->stage[k].paired = c->stage[k].pair && nest_prepare(mc, c->stage[k].pair);
    stage *first = &c->stage[0];
    const bool plain = all_paired(first);
    if (plain && first->plain) return make_ready(mc, first);
    first->plain = plain;
    if (prepare_sinks(mc, c)) return mc->cx->diag.status;
    for (int k = 0; k < c->nstage; k++) {
        stage *st = &c->stage[k];
        if (st->paired) {
            if (st->out->out) stage_results_turn(st->out, st->g->s.sink[0].a);
            continue;
        }
        if (make_ready(mc, st)) return mc->cx->diag.status;
        if (st->out) stage_fill_prepare(mc, st);
        if (st->out) stage_lines_prepare(mc, st);
        if (st->out) stage_rows_prepare(mc, st);
    }
    for (int k = 0; k < c->nstage; k++)
        if (c->stage[k].out && !c->stage[k].paired) stage_late_prepare(mc, &c->stage[k]);
    return STC_OK;
}

/* The string's lanes up to the one that failed are finished: with what is reduced in them
 * the stage around goes on, where something may fail earlier. */
static stc_status stage_failed(machine *mc, stage *st)
{
    strip *g = st->g;
    const stc_status status = mc->cx->diag.status;
    if (!g->fault) return status;
    const int row = st->row[g->fault_lane];
    g->n = g->fault_lane;
    if (g->n > 0 && stage_sinks(mc, st)) return mc->cx->diag.status;
    strip_fault_inside(st->out->g, row);
    return status;
}

/* The fibers below the lanes of the strip around. */
static void count_fibers(machine *mc, const stage *st)
{
    for (int k = 0; k < st->nwalk; k++) {
        const stage_walk *w = &st->walk[k];
        if (w->tabled && w->t.shape == VIEW_RANGE) continue;
        for (int j = 0; j < st->out->g->n; j++)
            machine_saw(mc, SEEN_FIBERS, column_get(w->parent, j) >= 0);
    }
}

/* A string that is filled: what its lanes make, where it belongs. */
static stc_status stage_string(machine *mc, stage *st)
{
    stage_spread(mc, st);
    if (strip_aim(mc, st->g)) return mc->cx->diag.status;
    if (strip_eval(mc, st->g)) return stage_failed(mc, st);
    return st->g->n > 0 ? stage_sinks(mc, st) : STC_OK;
}

static stc_status stage_run(machine *mc, stage *st)
{
    strip *g = st->g;
    bool more = true, done = false;
    g->entered = false;
    if (st->rowwise && stage_rows_run(mc, st, &done)) return mc->cx->diag.status;
    if (done) return STC_OK;
    stage_fill_start(st);
    stage_ends_prepare(st);
    stage_reductions_start(st);
    if (mc->profile) count_fibers(mc, st);
    if (st->copies && stage_share(mc, st)) return mc->cx->diag.status;
    if (stage_whole(st)) {
        if (stage_copy(mc, st, &done)) return mc->cx->diag.status;
        more = !done;
    }
    while (more) {
        if (stage_fill(mc, st, &more)) return mc->cx->diag.status;
        const int rounds = g->n;
        if (g->n > 0) stage_settle(mc, st);
        const stc_status status = g->n > 0 ? stage_string(mc, st) : STC_OK;
        strip_unaim(g, false);
        if (status) return status;
        if (g->ends && st->open) stage_end_lane(mc, st);
        more = st->open || st->lane < st->out->g->n; /* settling may have left some */
        if (machine_count(mc, rounds ? rounds : 1)) return mc->cx->diag.status;
    }
    return STC_OK;
}

/* The stage, not the one around, whose lane says where the kernel accumulates. */
static const stage *target_stage(const stage *in)
{
    const sink *x = &in->pair->in.sink[0];
    const stage *st = in->out;
    if (x->kind != SINK_ACC || in->pair->by_lane) return NULL;
    uint16_t id = in->pair->link.up[x->b];
    while (st->out && st->g->s.place[id].kind == PLACE_GIVEN) {
        id = st->link.up[id];
        st = st->out;
    }
    return st->g->s.place[id].kind == PLACE_AT ? st : NULL;
}

static stc_status count_rounds(machine *mc, nest *ns)
{
    const int64_t rounds = ns->rounds;
    ns->rounds = 0;
    return machine_count(mc, rounds);
}

/* Sums that are stored as they are, side by side, the kernel writes where they go.
 * *to: where that is; NULL: they aren't like that. */
static stc_status find_sums(machine *mc, const stage *st, void **to)
{
    const strip *g = st->out->g;
    const uint16_t id = st->pair->link.result;
    const sink *x = &g->s.sink[0];
    *to = NULL;
    if (st->out->out || st->out->nchild > 1 || st->pair->in.sink[0].kind != SINK_REDUCE ||
        g->s.nsink != 1 || x->kind != SINK_STORE || x->node != id)
        return STC_OK;
    const place *p = &g->s.place[x->b];
    const column *i = &g->icol[p->icol];
    const slot *r = &mc->slot[x->a];
    const vclass cls = (vclass)g->s.node[id].cls;
    if (p->kind != PLACE_AT || p->up != PLACE_ROOT || i->form != COL_STEP ||
        r->t->type != class_type(cls) || !r->lev[p->level].insert ||
        g->s.step[g->s.nstep - 1].kind != STEP_INNER)
        return STC_OK;
    const level *lv = &r->t->level[p->level];
    const int64_t pos = i->base - lv->base;
    if (pos < 0 || lv->extent - pos < g->n || pos > r->t->nvals) return STC_OK;
    if (pos + g->n > r->t->nvals) {
        if (tensor_reserve_values(r->t, pos + g->n)) return mc->cx->diag.status;
        r->t->nvals = pos + g->n;
    }
    *to = (char *)r->t->vals + pos * (int64_t)class_size(cls);
    return STC_OK;
}

static stc_status sums_run(machine *mc, stage *st, void *sums)
{
    nest *ns = st->pair;
    strip *g = ns->o;
    vcolumn *c = &g->node[ns->link.result];
    void *own = c->data;
    c->p = c->data = sums;
    ns->from = 0;
    ns->to = g->n;
    const stc_status status = super_run(mc, ns);
    c->data = own;
    if (status) return status;
    mc->slot[g->s.sink[0].a].stores += (uint64_t)g->n;
    g->n = 0; /* nothing is left to be done with these lanes */
    return count_rounds(mc, ns);
}

/* The kernel for all lanes, or run by run of those with one place in a result. */
static stc_status pair_run(machine *mc, stage *st)
{
    nest *ns = st->pair;
    const stage *const around = st->out, *const to = target_stage(st);
    const int n = around->g->n;
    void *sums;
    nest_gaps(ns);
    nest_tell_none(ns);
    if (find_sums(mc, st, &sums)) return mc->cx->diag.status;
    if (sums) return sums_run(mc, st, sums);
    for (ns->from = 0; ns->from < n; ns->from = ns->to) {
        ns->to = n;
        if (to) {
            const int k = stage_lane_in(around, to, ns->from);
            for (ns->to = ns->from + 1;
                 ns->to < n && stage_lane_in(around, to, ns->to) == k;)
                ns->to++;
            if (stage_results_stand(mc, around->out, around->row[ns->from]))
                return mc->cx->diag.status;
        }
        if (super_run(mc, ns)) return mc->cx->diag.status;
    }
    return count_rounds(mc, ns);
}

static stc_status run_inner(machine *mc, strip *s, int child)
{
    stage *st = s->stage->child[child];
    return st->paired ? pair_run(mc, st) : stage_run(mc, st);
}

/* A sum that goes on across rounds is made of parts, each from the neutral value: a part
 * without terms changes nothing, unless the register holds what the function never gives
 * (a truth value that is neither 0 nor 1, in code that nobody compiled). */
static bool starts_neutral(const machine *mc, const loop_summary *s)
{
    for (int k = 0; k < s->nsink; k++) {
        const sink *x = &s->sink[k];
        if (x->kind == SINK_REDUCE && s->node[x->node].kind == NODE_INNER &&
            !reduction_keeps(x->fn, (vclass)x->cls, mc->v[x->a]))
            return false;
    }
    return true;
}

/* Whether a loop inside has rows of runs which are so long that the loops go to intervals
 * one by one, from base operations of the loop around: elements that are left out are more
 * than what a row takes then. For nests of one loop in the other intervals are asked first.
 */
static bool leaves_runs(const cascade *c)
{
    enum { LEFT_OUT = 32 };
    for (int k = 1; k < c->nstage; k++)
        for (int j = 0; j < c->stage[k].nwalk && !c->stage[k].paired; j++) {
            const stage_walk *w = &c->stage[k].walk[j];
            const int64_t runs = w->lv->a[STC_CRD].len, fibers = w->lv->a[STC_POS].len - 1;
            if ((w->t.shape == VIEW_RUNS || w->t.shape == VIEW_TOKENS) && fibers > 0 &&
                w->lv->extent - runs / fibers > LEFT_OUT)
                return true;
        }
    return false;
}

static stc_status cascade_run(machine *mc, super *base)
{
    cascade *c = (cascade *)base;
    stage *st = &c->stage[0];
    if (!starts_neutral(mc, &st->own.s)) return SUPER_REPLAY;
    if (prepare(mc, c)) return mc->cx->diag.status;
    if (c->forks && leaves_runs(c)) return SUPER_REPLAY;
    if (strip_rounds(mc, st->g)) return mc->cx->diag.status;
    return stage_results_leave(mc, st);
}

static void cascade_free(machine *mc, super *base)
{
    cascade *c = (cascade *)base;
    for (int k = 0; k < c->nstage; k++) {
        stage *st = &c->stage[k];
        stage_windows_free(mc, st);
        mem_free(mc->cx, st->g->block, st->g->block_size);
        mem_free(mc->cx, st->run_lane, st->run_lane ? ROW_INTS * sizeof *st->run_lane : 0);
        for (int j = 0; j < CHILD_MAX; j++)
            nest_free(mc, st->inside[j]);
        mem_free(mc->cx, st->key_block, st->key_size);
        const int count = st->own.s.l->merge->count;
        mem_free(mc->cx, st->stand,
                 st->stand ? (size_t)count * (STC_MAX_ORDER + 1) * sizeof *st->stand : 0);
    }
    mem_free(mc->cx, c->block, c->block_size);
}

/* ---- linking ------------------------------------------------------------------- */

static void describe(const super *base, textbuf *out)
{
    static const char *const sinks[] = {"reduce",    "store",  "accumulate",
                                        "workspace", "reduce", "workspace"};
    const cascade *c = (const cascade *)base;
    const nest *pair = NULL;
    for (int k = 0; k < c->nstage && !pair; k++)
        pair = c->stage[k].pair;
    if (pair) nest_describe(pair, out);
    if (pair && c->nstage == 2) return;
    text_add(out, "%scascade of %d loops", pair ? ", in a " : "", c->nstage);
    const loop_summary *last = &c->stage[c->nstage - 1].own.s;
    if (!pair && last->nsink) text_add(out, " -> %s", sinks[last->sink[0].kind]);
    if (c->stage[c->nstage - 1].terms.kernel) text_add(out, ", a line at once");
}

stc_status cascade_fuse(machine *mc, const loop_tree *t, super **out)
{
    const int n = count_stages(t);
    if (n > STAGE_MAX || !evaluable(t) || !stage_sinks_match(mc, t, t)) return STC_OK;
    const size_t size = sizeof(cascade) + (size_t)n * sizeof(stage);
    cascade *c = mem_alloc(mc->cx, size);
    if (!c) return mc->cx->diag.status;
    memset(c, 0, sizeof *c);
    c->stage = (stage *)(c + 1);
    c->base = (super){.run = cascade_run,
                      .free = cascade_free,
                      .describe = describe,
                      .next = t->s.l->exit,
                      .loop = t->s.l,
                      .tier = 4,
                      .sure = true,
                      .size = size};
    if (!add_stage(mc, c, t, NULL)) {
        cascade_free(mc, &c->base);
        mem_free(mc->cx, c, size);
        return mc->cx->diag.status;
    }
    for (int k = 0; k < t->s.nsink; k++)
        if (t->s.sink[k].kind == SINK_REDUCE) c->base.sure = false;
    if (c->forks) c->base.sure = false;
    for (int k = 0; k < n; k++) {
        const nest *pair = c->stage[k].pair;
        if (pair) c->base.tier = 3;
        if (pair && pair->in.sink[0].kind == SINK_STORE) c->base.sure = false;
    }
    *out = &c->base;
    return STC_OK;
}
