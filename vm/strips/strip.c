/* strip.c: a loop on the strip engine: its columns, and the round of fill,
 * eval and sink until the loop is done.
 *
 * Columns are allocated when the loop first runs, so that linking stays cheap.
 */
#include "strip.h"
#include "../nest/fibers.h"
#include "../nest/uses.h"
#include <string.h>

/* Columns begin on different cache sets, and have 128 bytes behind them that may be
 * written (interval_ranks.c). */
static size_t column_bytes(size_t size, int *nth)
{
    return STRIP * size + 64 * (size_t)(2 + (*nth)++ % 7);
}

/* Hands out the parts of block (NULL: only measures); the bytes in all. */
static size_t lay_out(strip *s, char *block)
{
    size_t at = 0;
    int nth = 0;
#define PART(field, size)                                                                  \
    do {                                                                                   \
        if (block) (field) = (void *)(block + at);                                         \
        at += column_bytes(size, &nth);                                                    \
    } while (0)
    PART(s->mask, sizeof(uint64_t));
    PART(s->keep, sizeof(int));
    PART(s->scratch, sizeof(value));
    for (int k = 0; k < s->s.nicol; k++)
        if (s->s.icol[k].varies) PART(s->icol[k].data, sizeof(int64_t));
    for (int k = 0; k < s->s.nplace; k++) {
        if (s->s.place[k].varies) PART(s->place[k].data, sizeof(int64_t));
        PART(s->place[k].end, s->s.place[k].varies ? sizeof(int64_t) : 1);
    }
    const merge_desc *m = s->s.l->merge;
    for (int b = 0, k = 0; !s->around && b < m->count && m->count <= STRIP_WALKS; b++) {
        if (!operand_walks(&m->operand[b])) continue;
        PART(s->walk[k].key, sizeof(int64_t));
        PART(s->walk[k].at, sizeof(int64_t));
        PART(s->walk[k].ends, sizeof(int64_t));
        k++;
    }
    for (int k = 0; k < s->s.nnode; k++)
        PART(s->node[k].data, class_size((vclass)s->s.node[k].cls));
#undef PART
    return at;
}

stc_status strip_allocate(machine *mc, strip *s)
{
    s->block_size = lay_out(s, NULL);
    s->block = mem_alloc(mc->cx, s->block_size);
    if (!s->block) return mc->cx->diag.status;
    lay_out(s, s->block);
    for (int k = 0; k < s->s.nnode; k++)
        memset(&s->node[k].one, 0xff, sizeof(value));
    return STC_OK;
}

/* The type whose values a node has: what is loaded can't go beyond its own type. */
static stc_type type_of(const machine *mc, const node *x)
{
    if (x->kind == NODE_LOAD) return mc->p->tensor[x->a].type;
    return x->kind == NODE_WRAP ? (stc_type)x->type : class_type((vclass)x->cls);
}

/* What is reduced has reached the annihilator of its function: of the built-in ones, of
 * integers and truth values. Sums and products of floats, and what nan would change, go to
 * the end. */
static bool takes_all(const machine *mc, const strip *s, const sink *x, value v)
{
    if (x->kind == SINK_HOST) {
        const host_form *f = x->at->u.host;
        return f->absorbs && class_equal((vclass)x->cls, v, f->annihilator);
    }
    for (int k = 0; k < 3 && (x->cls == CLASS_I64 || x->cls == CLASS_U64); k++) {
        const fn_prop *p = &fn_at(x->fn)->annihilator[k];
        value end;
        const bool limit = p->value == FC_INF || p->value == FC_NINF;
        if (p->position != AT_ANY || (limit && !(p->classes >> x->cls & 1))) continue;
        const stc_type t =
            limit ? type_of(mc, &s->s.node[x->node]) : class_type((vclass)x->cls);
        if (!fn_constant(p->value, (vclass)x->cls, t, &end)) continue;
        if (class_equal((vclass)x->cls, v, end)) return true;
    }
    return false;
}

/* What sink k has so far. */
static value so_far(const machine *mc, const strip *s, int k, int at_lane)
{
    const sink *x = &s->s.sink[k];
    return s->around ? class_get((vclass)x->cls, s->around->node[s->link->results[k]].data,
                                 at_lane)
                     : mc->v[x->a];
}

bool strip_through(const machine *mc, const strip *s, int at_lane)
{
    for (int k = 0; s->ends && k < s->s.nsink; k++) {
        const sink *x = &s->s.sink[k], *by = x->moot ? &s->s.sink[x->moot - 1] : NULL;
        const value v = so_far(mc, s, k, at_lane);
        if (!takes_all(mc, s, x, v) &&
            (!by || !takes_all(mc, s, by, so_far(mc, s, x->moot - 1, at_lane)) ||
             (x->tells && v.i64 <= 0)))
            return false;
    }
    return s->ends;
}

/* What the lanes make goes where it belongs; those before one that faulted (`st`) first,
 * since theirs may fail, too: that came before. */
static stc_status sink_lanes(machine *mc, strip *s, stc_status st)
{
    if (st && !s->fault) return st;
    if (st) s->n = s->fault_lane;
    for (int k = 0; s->n > 0 && k < s->s.nsink; k++) {
        const stc_status failed = strip_sink(mc, s, &s->s.sink[k]);
        if (failed) return failed;
    }
    return st;
}

stc_status strip_rounds(machine *mc, strip *s)
{
    s->astray = false;
    if (!strip_enter(mc, s)) return s->failed ? mc->cx->diag.status : STC_OK;
    while (strip_next(mc, s)) {
        const int rounds = s->n;
        if (s->serial) *s->serial += STRIP;
        stc_status st = rounds > 0 ? strip_aim(mc, s) : STC_OK;
        if (!st && rounds > 0) st = strip_eval(mc, s);
        if (s->n > 0) st = sink_lanes(mc, s, st);
        strip_unaim(s, false);
        if (!st) st = machine_count(mc, rounds ? rounds : 1); /* looking is work, too */
        if (st) return st;
        if (strip_through(mc, s, 0)) break;
    }
    return s->failed ? mc->cx->diag.status : STC_OK;
}

/* A range that begins where the program says while it runs, as that of a running sum does,
 * may have a round or two: base operations are done before a strip has begun. */
static bool has_span(const machine *mc, const merge_desc *m)
{
    return m->lo != ROOT && mc->p->ext[m->lo].op == EXT_SPAN;
}

static stc_status strip_run(machine *mc, super *base)
{
    enum { BRIEF = 4 };
    strip *s = (strip *)base;
    int64_t lo, hi;
    if (!base->sure) {
        merge_range(mc, s->s.l->merge, &lo, &hi);
        if (hi - lo < BRIEF) return SUPER_REPLAY;
    }
    if (!s->block && strip_allocate(mc, s)) return mc->cx->diag.status;
    return strip_rounds(mc, s);
}

void strip_free(machine *mc, super *base)
{
    strip *s = (strip *)base;
    mem_free(mc->cx, s->block, s->block_size);
}

/* Classes that no use has settled are those of registers that nothing reads
 * as numbers: the loop isn't fused then. Functions exist in their classes: the verifier
 * has seen to that. */
bool strip_evaluable(const loop_summary *s)
{
    for (int k = 0; k < s->nnode; k++)
        if (s->node[k].cls >= CLASS_COUNT) return false;
    return true;
}

static void describe(const super *base, textbuf *out)
{
    static const char *const sinks[] = {"reduce",    "store",  "accumulate",
                                        "workspace", "reduce", "workspace"};
    const loop_summary *s = &((const strip *)base)->s;
    const merge_desc *m = s->l->merge;
    int walk = 0, ops = 0;
    for (int b = 0; b < m->count; b++)
        walk += operand_walks(&m->operand[b]);
    for (int k = 0; k < s->nnode; k++)
        ops += s->node[k].kind >= NODE_FN && s->node[k].kind <= NODE_WRAP;
    text_add(out, "strip %d walked%s, %d operation%s -> %s", walk,
             m->universe ? " in the universe" : "", ops, ops == 1 ? "" : "s",
             s->nsink ? sinks[s->sink[0].kind] : "nothing");
}

/* Programs are linked far more often than their loops have all that there is room
 * for: only what this one has is touched. */
bool strip_faultless(const loop_summary *s)
{
    for (int k = 0; k < s->nnode; k++) {
        const node *x = &s->node[k];
        const bool whole = x->kind == NODE_FN && x->fn_cls <= CLASS_U64;
        if (x->kind == NODE_CALL || (whole && fn_at(x->fn)->flags & FP_FAULTS))
            return false;
    }
    for (int k = 0; k < s->nicol; k++)
        if (s->icol[k].kind == ICOL_VALUE && s->icol[k].at) return false;
    return true;
}

void strip_setup(strip *s, const loop_summary *sum)
{
    memset(s, 0, offsetof(strip, icol));
    memset(s->icol, 0, (size_t)sum->nicol * sizeof *s->icol);
    memset(s->place, 0, (size_t)sum->nplace * sizeof *s->place);
    memset(s->node, 0, (size_t)sum->nnode * sizeof *s->node);
    s->base = (super){.run = strip_run,
                      .free = strip_free,
                      .describe = describe,
                      .next = sum->l->exit,
                      .loop = sum->l,
                      .tier = 4,
                      .sure = true,
                      .size = sizeof *s};
    summary_copy(&s->s, sum);
    s->ends = sum->nsink > 0 && !sum->effects && strip_faultless(sum);
    for (int k = 0; k < sum->nstep; k++)
        s->masks |= sum->step[k].kind == STEP_PRESENT ||
                    sum->step[k].kind == STEP_FILLBIT || sum->step[k].kind == STEP_SKIP ||
                    sum->step[k].kind == STEP_MARK;
}

/* Loops that are known to have few rounds are faster on base operations: those
 * over one child per parent, or a block's side. */
static bool few_rounds(const machine *mc, const loop_summary *s)
{
    enum { FEW = 24 };
    const merge_desc *m = s->l->merge;
    const extent *hi = &mc->p->ext[m->hi];
    if (m->lo == ROOT && hi->op == EXT_CONST && hi->k < FEW) return true;
    for (int b = 0; b < m->count; b++) {
        const merge_operand *o = &m->operand[b];
        if (o->role != MERGE_WALK) continue;
        const insn *in = cursor_opened(mc, s->l->first, o->cursor);
        if (!in || in->op != OP_OPEN) continue;
        const format *f = &mc->p->tensor[in->arg[1]].fmt;
        if (format_props(f, in->arg[2]) & PROP_BRANCHLESS) return true;
    }
    return false;
}

stc_status strip_fuse(machine *mc, const loop_summary *sum, super **out)
{
    if (!strip_evaluable(sum) || few_rounds(mc, sum)) return STC_OK;
    strip *s = mem_alloc(mc->cx, sizeof *s);
    if (!s) return mc->cx->diag.status;
    strip_setup(s, sum);
    s->base.sure = !has_span(mc, sum->l->merge);
    *out = &s->base;
    return STC_OK;
}
