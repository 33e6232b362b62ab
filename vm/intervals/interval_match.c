/* interval_match.c: which nests step over intervals.
 *
 * Matched when linking: the bodies are strips' (strip.c) without places of their
 * own, of whose masks only an operand's value clears a bit (lanes that this leaves
 * out are dropped), what they make is reduced or stored where a run can go, and some
 * operand or result has regions, or much of what is reduced is the same because nothing is
 * stored there (compression paper, §IV-D: fills that aren't annihilators). A loop whose
 * body reads its index, or whose sink can't take a run, has lanes of one coordinate each;
 * the others may still have long ones.
 */
#include "interval.h"
#include "../nest/uses.h"
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
        const insn *in = cursor_opened(mc, s->l->first, o->cursor);
        if (!in) return NULL;
        t = in->arg[1];
        *at = in->arg[2];
    }
    return &mc->p->tensor[t].fmt;
}

static bool step_fits(const loop_summary *s, const step *x)
{
    switch (x->kind) {
    case STEP_NODE:
    case STEP_INNER:
    case STEP_SKIP:
        return true;
    case STEP_PLACE:
        return s->place[x->a].kind == PLACE_AT;
    case STEP_FILLBIT: /* of an operand of the loop: it is constant on an interval */
        return s->place[x->b].kind == PLACE_OPERAND;
    default:
        return false;
    }
}

/* What can fail does so in the loop that is in all others: its lanes come in order. */
static bool body_fits(const loop_summary *s, bool innermost)
{
    if (!strip_evaluable(s) || (!innermost && !strip_faultless(s))) return false;
    for (int k = 0; k < s->nstep; k++)
        if (!step_fits(s, &s->step[k])) return false;
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
static bool match_target(const loop_summary *s, int n, int depth, const sink *x,
                         ivl_target *t)
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
    return t->n > 0 && t->at[t->n - 1].loop == depth && t->at[t->n - 1].place == x->b;
}

/* A workspace that is read as runs, at the loop's own index. */
static bool takes_runs(const machine *mc, const sink *x)
{
    const format *f = &mc->p->tensor[x->a].fmt;
    return f->levels == 1 && f->level[0].kind->append_regions && x->icol[0] == 0;
}

static bool match_sinks(const machine *mc, interval *iv, const loop_summary *s, int n)
{
    int sinks = 0;
    for (int d = 0; d < n; d++) {
        const loop_summary *in = summary_at(s, n, d);
        for (int k = 0; k < in->nsink; k++) {
            const sink *x = &in->sink[k];
            if (x->fn >= 0 && fn_at(x->fn)->flags & FP_FAULTS) return false;
            if (x->kind > SINK_WSADD || x->right) return false;
            sinks++;
            if (x->kind == SINK_WSADD && !takes_runs(mc, x)) return false;
            if (x->kind == SINK_REDUCE || x->kind == SINK_WSADD) continue;
            /* one: the sink may join lanes, nothing else reads them */
            if (iv->ntarget || !match_target(s, n, d, x, &iv->target)) return false;
            iv->ntarget = 1;
        }
    }
    return sinks > 0;
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
            bool placed = in->sink[k].kind < SINK_ACC;
            for (int id = 1; id < outer->nplace && !placed; id++)
                placed = outer->place[id].kind == PLACE_AT &&
                         outer->place[id].tensor == in->sink[k].a;
            if (!placed) return true;
        }
    }
    return false;
}

static bool reads_regions(const machine *mc, const loop_summary *s, const nest_links *link,
                          const loop_summary *outer)
{
    for (int b = 0; b < s->l->merge->count; b++) {
        int l;
        if (s->l->merge->operand[b].role == MERGE_KNOWN) continue;
        const format *f = operand_format(mc, s, link, outer, b, &l);
        if (f && f->level[l].kind->caps & CAP_REGION) return true;
    }
    return false;
}

static bool makes_regions(const machine *mc, const loop_summary *s)
{
    for (int id = 1; id < s->nplace; id++)
        if (s->place[id].kind == PLACE_AT &&
            result_level(mc, s, id)->caps & CAP_APPEND_REGION)
            return true;
    return false;
}

/* Whether column id of loop d's body is the same in all rounds of the nest. */
static bool is_fixed(const interval *iv, const loop_summary *s, int n, int d, uint16_t id)
{
    const uint8_t kind = summary_at(s, n, d)->icol[id].kind;
    if (kind == ICOL_FIXED && d)
        return is_fixed(iv, s, n, d - 1, iv->loop[d].link.icol[id]);
    return kind == ICOL_CONST || kind == ICOL_FIXED;
}

/* Operands may be read at a distance, the same one in all rounds. */
static bool shifts_fit(const ivl_loop *v, const loop_summary *s, int n)
{
    const merge_desc *m = summary_at(s, n, v->depth)->l->merge;
    for (int b = 0; v->depth && b < m->count; b++) {
        const merge_operand *o = &m->operand[b];
        uint16_t id = UNLINKED;
        if (operand_walks(o)) {
            id = summary_at(s, n, v->depth - 1)->place[v->link.up[1 + b]].shift;
        } else if (o->role == MERGE_LOCATE) {
            id = v->link.shift[1 + b];
        }
        if (id != UNLINKED && v->window == UNLINKED &&
            !is_fixed(v->of, s, n, v->depth - 1, id))
            return false;
    }
    return true;
}

bool interval_gaps(const loop_summary *s)
{
    const merge_desc *m = s->l->merge;
    bool walks = false;
    for (int k = 0; k < s->nsink; k++)
        if (s->sink[k].kind != SINK_REDUCE || !interval_folds(&s->sink[k])) return false;
    for (int b = 0; b < m->count; b++) {
        walks |= operand_walks(&m->operand[b]);
        if (m->operand[b].role == MERGE_LOCATE) return false;
    }
    return m->universe && walks && s->nsink && !reads_index(s);
}

static bool match_loop(const machine *mc, ivl_loop *v, const loop_summary *s, int n)
{
    const loop_summary *in = summary_at(s, n, v->depth);
    const bool innermost = v->depth + 1 == n;
    if (!body_fits(in, innermost) || !operands_fit(in) || !shifts_fit(v, s, n))
        return false;
    v->whole = match_whole(mc, in, innermost) && !adds_again(in, s, n, v->depth);
    for (int d = v->depth + 1; d < n; d++) /* windows may begin elsewhere in each round */
        v->whole &= v->of->loop[d].window == UNLINKED;
    v->weighs = v->whole && innermost && in->nsink > 0;
    for (int k = 0; k < in->nsink; k++)
        v->weighs &= in->sink[k].kind == SINK_REDUCE &&
                     fn_at(in->sink[k].fn)->flags & FP_COMMUTATIVE;
    v->fails = !strip_faultless(in);
    for (int k = 0; k < in->nstep; k++)
        v->sieves |= in->step[k].kind == STEP_SKIP;
    v->repeats = v->whole && innermost && !v->sieves && in->nsink == 1 &&
                 in->sink[0].kind == SINK_STORE &&
                 result_level(mc, in, in->sink[0].b)->append_repeat;
    return true;
}

static void describe(const super *base, textbuf *out)
{
    const interval *iv = (const interval *)base;
    static const char *const sinks[] = {"reduce", "store", "accumulate", "workspace"};
    const sink *x = NULL;
    int walks = 0;
    for (int d = 0; d < iv->loops; d++) {
        const loop_summary *s = &iv->loop[d].g.s;
        if (s->nsink) x = &s->sink[0];
        for (int b = 0; b < s->l->merge->count; b++)
            walks += operand_walks(&s->l->merge->operand[b]);
    }
    text_add(out, "intervals %d loop%s, %d walked -> %s", iv->loops,
             iv->loops == 1 ? "" : "s", walks, sinks[x->kind]);
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
    ivl_target *t = &iv->target;
    if (iv->ntarget)
        t->x = iv->loop[t->loop].g.s.sink + (t->x - summary_at(s, n, t->loop)->sink);
}

/* Whether all that walks in a loop may pass over coordinates. */
static bool passes_over(const machine *mc, const loop_summary *s, const nest_links *link,
                        const loop_summary *outer)
{
    for (int b = 0; b < s->l->merge->count; b++) {
        int l;
        if (!operand_walks(&s->l->merge->operand[b])) continue;
        const format *f = operand_format(mc, s, link, outer, b, &l);
        if (!f || format_props(f, l) & PROP_FULL) return false;
    }
    return true;
}

static bool match(machine *mc, interval *iv, loop_summary *s, nest_links *links, int n)
{
    bool regions = false;
    for (int d = 0; d < n; d++) {
        ivl_loop *v = &iv->loop[d];
        v->window = window_find(&s[n - 1 - d], d + 1 < n ? &s[n - 2 - d] : NULL,
                                d + 1 < n ? &links[n - 2 - d] : NULL, &v->bound);
        if (v->window != UNLINKED && !strip_faultless(&s[n - 1 - d])) return false;
    }
    if (!match_sinks(mc, iv, s, n)) return false;
    for (int d = 0; d < n; d++) {
        ivl_loop *v = &iv->loop[d];
        const loop_summary *outer = d ? summary_at(s, n, d - 1) : NULL;
        v->of = iv;
        v->depth = d;
        if (d) v->link = links[n - 1 - d];
        if (!match_loop(mc, v, s, n)) return false;
        v->regions = reads_regions(mc, summary_at(s, n, d), &v->link, outer);
        regions |= v->regions || makes_regions(mc, summary_at(s, n, d));
        iv->sparse = d + 1 == n && !regions;
        if (iv->sparse && (!v->whole || !interval_gaps(summary_at(s, n, d)) ||
                           !passes_over(mc, summary_at(s, n, d), &v->link, outer)))
            return false;
    }
    return true;
}

stc_status interval_fuse(machine *mc, loop_summary *s, nest_links *links, int n,
                         super **out)
{
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
        if (d) v->g.around = &iv->loop[d - 1].g;
        if (d + 1 < n) v->g.inner = interval_inside;
    }
    own_sinks(iv, s, n);
    loop *l = summary_at(s, n, 0)->l;
    iv->base = (super){.run = interval_run,
                       .free = interval_release,
                       .describe = describe,
                       .next = l->exit,
                       .loop = l,
                       .tier = 4,
                       .size = size};
    iv->other = *out;
    *out = &iv->base;
    return STC_OK;
}
