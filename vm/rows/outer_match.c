/* outer_match.c: reads a nest of loops off its base operations, for outer.h: loops and
 * what drives them, places as forms of the loops' indices (linear.h), and values as
 * a list of operations on numbered columns.
 *
 * What stores must be in one loop, the lanes'; each lane must be on its own: a value that
 * one lane leaves to the next, or to what comes after the nest, isn't read here.
 */
#include "outer.h"
#include "../super/super.h"
#include <string.h>

typedef struct reader {
    linear in; /* integers and places; value registers have numbers of values */
    outer *o;
    void *room; /* for `in` */
    const value_reads *reads;
    int def[OUTER_VALUES]; /* the loop in which each value is written first, or NONE */
} reader;

/* ---- values ------------------------------------------------------------------------ */

static uint16_t value_of(reader *r, uint16_t reg)
{
    outer *o = r->o;
    if (r->in.v[reg] != LINEAR_UNSET) return r->in.v[reg];
    r->in.full |= o->nvalue == OUTER_VALUES;
    o->nvalue -= o->nvalue == OUTER_VALUES;
    o->reg[o->nvalue] = reg;
    r->def[o->nvalue] = -1;
    o->given[o->nvalue] = true;
    r->in.v[reg] = (uint16_t)o->nvalue;
    return (uint16_t)o->nvalue++;
}

static outer_op *new_op(reader *r, outer_kind kind)
{
    outer *o = r->o;
    r->in.full |= o->nop == OUTER_OPS;
    o->nop -= o->nop == OUTER_OPS;
    outer_op *x = &o->op[o->nop++];
    *x = (outer_op){.kind = (uint8_t)kind};
    return x;
}

/* Loop d is, or is in, the lanes' loop. */
static bool within(const outer *o, int d)
{
    while (d > o->lane)
        d = o->loop[d].around;
    return d == o->lane;
}

/* Op x writes register reg in loop d. */
static bool writes(reader *r, outer_op *x, uint16_t reg, int d)
{
    const bool fresh = r->in.v[reg] == LINEAR_UNSET;
    x->to = value_of(r, reg);
    if (fresh) {
        r->o->given[x->to] = false;
        r->def[x->to] = d;
        r->o->cls[x->to] = x->cls;
        return true;
    }
    x->carried = r->def[x->to] != d;
    return !r->o->given[x->to]; /* what a round reads of the one before */
}

/* ---- loops and what drives them ------------------------------------------------------ */

/* Subsections are of one tensor, wherever cursor `reg` is opened over them. */
static bool read_subsections(reader *r, uint16_t reg)
{
    const program *p = r->in.mc->p;
    for (int k = 0; k < p->ncode; k++) {
        if (p->code[k].op != OP_SUBSECT || p->code[k].arg[0] != reg) continue;
        if (r->o->partly != ROOT && r->o->partly != p->code[k].arg[1]) return false;
        r->o->partly = p->code[k].arg[1];
    }
    return true;
}

/* How subsections count in a loop that has some: not at all, or they must be there. */
typedef enum partial { PARTIAL_NOT, PARTIAL, PARTIAL_ELSE } partial;

static partial partial_of(const merge_desc *g, uint64_t unknown)
{
    bool counts = false, alone = false;
    for (uint64_t k = 0; k >> g->count == 0; k++) {
        counts |= outer_makes(g, k | unknown) != outer_makes(g, k & ~unknown);
        alone |= outer_makes(g, k & ~unknown);
    }
    if (!counts) return PARTIAL_NOT;
    return alone || unknown & (unknown - 1) ? PARTIAL_ELSE : PARTIAL;
}

static bool read_merge(reader *r, int d)
{
    outer_loop *ol = &r->o->loop[d];
    const merge_desc *g = ol->l->merge;
    uint16_t at[OUTER_OPERANDS];
    uint64_t unknown = 0;
    if (g->count > OUTER_OPERANDS || !linear_merge(&r->in, g, d, at)) return false;
    ol->always = g->universe && merge_always(g);
    ol->count = g->count;
    for (int b = 0; b < g->count; b++) {
        ol->operand[b] = (uint8_t)at[b];
        if (at[b]) continue;
        unknown |= UINT64_C(1) << b;
        if (!read_subsections(r, g->operand[b].cursor)) return false;
    }
    const partial way = unknown ? partial_of(g, unknown) : PARTIAL_NOT;
    ol->partial = way == PARTIAL;
    ol->either = way == PARTIAL_ELSE;
    ol->any = !unknown;
    for (uint64_t present = 1; present >> g->count == 0 && ol->any; present++)
        ol->any = outer_makes(g, present);
    r->o->subsections |= ol->partial;
    return true;
}

static bool read_insn(reader *r, int k, int d);

static bool read_loop(reader *r, loop *l, int around)
{
    outer *o = r->o;
    const machine *mc = r->in.mc;
    const int d = o->nloop, op = o->nop;
    if (d == AFFINE_INDICES) return false;
    o->loop[o->nloop++] = (outer_loop){.l = l, .around = around};
    new_op(r, OUTER_LOOP)->a = (uint16_t)d;
    if (r->in.full) return false; /* op is no operation then */
    linear_index(&r->in, l->index, d);
    if (!read_merge(r, d)) return false;
    for (int k = l->first + 1; k < l->last; k++) {
        if (insn_of(mc, k)->op != OP_LOOP) {
            if (!read_insn(r, k, d)) return false;
            continue;
        }
        loop *in = loop_of(mc, k);
        if (!read_loop(r, in, d)) return false;
        k = in->last;
    }
    o->op[op].end = (uint16_t)o->nop;
    o->loop[d].inner = o->nloop == d + 1;
    return !r->in.full;
}

/* ---- instructions -------------------------------------------------------------------- */

static bool read_function(reader *r, const uint16_t *x, int nargs, int d)
{
    outer_op *op = new_op(r, OUTER_FN);
    op->fn = (int16_t)x[1];
    op->fn_cls = (uint8_t)x[2];
    op->cls = (uint8_t)fn_result_class(x[1], (vclass)x[2]);
    op->nargs = (uint8_t)nargs;
    op->array = fn_array_of(x[1], (vclass)x[2]);
    op->scalar = fn_scalar_of(x[1], (vclass)x[2]);
    for (int k = 0; k < nargs; k++) {
        op->arg[k] = value_of(r, x[3 + k]);
        op->arg_cls[k] = (uint8_t)fn_operand_class(x[1], (vclass)x[2], k);
    }
    op->waits = nargs == 2 && outer_fold_has(x[1]);
    /* the order of zeros of both signs tells in what is idempotent: the least, the greatest
     */
    const uint8_t flags = fn_at(x[1])->flags & (FP_COMMUTATIVE | FP_IDEMPOTENT);
    op->turns = flags == FP_COMMUTATIVE;
    r->o->faults |= (fn_at(x[1])->flags & FP_FAULTS) && x[2] <= CLASS_U64;
    return writes(r, op, x[0], d);
}

static bool read_load(reader *r, const uint16_t *x, int d)
{
    outer_op *op = new_op(r, OUTER_LOAD);
    const format *f = &r->in.mc->p->tensor[x[1]].fmt;
    op->a = x[1];
    op->b = linear_place_of(&r->in, x[2]);
    op->cls = (uint8_t)type_class(r->in.mc->p->tensor[x[1]].type);
    for (int l = 0; l < f->levels; l++)
        if (f->level[l].kind->caps & CAP_REGION) return false; /* runs go by intervals */
    const uint8_t kind = r->o->place[op->b].kind;
    return kind != LINEAR_OPEN && kind != LINEAR_SUBSECT && writes(r, op, x[0], d);
}

static bool read_conv(reader *r, const uint16_t *x, int d)
{
    outer_op *op = new_op(r, OUTER_CONV);
    op->nargs = 1;
    op->arg[0] = value_of(r, x[3]);
    op->cls = (uint8_t)x[1];
    op->arg_cls[0] = (uint8_t)x[2];
    return writes(r, op, x[0], d);
}

/* A value moved, or through element type a. */
static bool read_copy(reader *r, outer_kind kind, const uint16_t *x, uint16_t arg, int d)
{
    outer_op *op = new_op(r, kind);
    op->nargs = 1;
    op->arg[0] = value_of(r, arg);
    op->a = x[1];
    op->cls = op->arg_cls[0] = r->o->cls[op->arg[0]];
    return !r->o->given[op->arg[0]] && writes(r, op, x[0], d);
}

static bool read_simple(reader *r, outer_kind kind, const uint16_t *x, vclass cls, int d)
{
    outer_op *op = new_op(r, kind);
    op->a = x[1];
    op->cls = (uint8_t)cls;
    return writes(r, op, x[0], d);
}

/* The loop that stores is the lanes', and a lane has a place of its own. */
static bool read_sink(reader *r, outer_kind kind, const uint16_t *x, int d)
{
    outer *o = r->o;
    outer_op *op = new_op(r, kind);
    bool apart = false;
    if (o->lane >= 0 && o->lane != d) return false;
    o->lane = d;
    op->a = x[0];
    op->b = linear_place_of(&r->in, x[1]);
    op->cls = (uint8_t)type_class(r->in.mc->p->tensor[x[0]].type);
    op->nargs = 1;
    op->arg[0] = value_of(r, kind == OUTER_ACC ? x[4] : x[2]);
    if (kind == OUTER_ACC) {
        op->fn = (int16_t)x[2];
        op->array = fn_array_of(x[2], (vclass)x[3]);
        if (op->cls != x[3] || fn_at(x[2])->flags & FP_FAULTS) return false;
    }
    for (uint16_t at = op->b; at; at = r->o->place[at].up) {
        if (r->o->place[at].kind != LINEAR_PLACED) return false;
        apart |= r->o->place[at].at.coef[d] != 0;
    }
    return apart;
}

static bool read_insn(reader *r, int k, int d)
{
    const insn *in = insn_of(r->in.mc, k);
    const uint16_t *x = in->arg;
    switch (in->op) {
    case OP_CONST:
        return read_simple(r, OUTER_CONST, x, (vclass)r->in.mc->p->konst[x[1]].cls, d);
    case OP_EXTENT:
        return read_simple(r, OUTER_EXTENT, x, CLASS_I64, d);
    case OP_MOV:
        return read_copy(r, OUTER_MOV, x, x[1], d);
    case OP_CONV:
        return read_conv(r, x, d);
    case OP_WRAP:
        return read_copy(r, OUTER_WRAP, x, x[2], d);
    case OP_LOAD:
        return read_load(r, x, d);
    case OP_FN1:
    case OP_FN2:
    case OP_FN3:
        return read_function(r, x, in->op - OP_FN1 + 1, d);
    case OP_STORE:
        return read_sink(r, OUTER_STORE, x, d);
    case OP_ACC:
        return read_sink(r, OUTER_ACC, x, d);
    case OP_KEEP: /* results are ranges: all places are kept anyway */
        return true;
    default:
        return linear_step(&r->in, in);
    }
}

/* ---- the nest ----------------------------------------------------------------------- */

/* Nothing is left to what comes after the nest. */
static bool leaves_nothing(const reader *r, const loop *l)
{
    const outer *o = r->o;
    for (int v = 0; v < o->nvalue; v++)
        if (!o->given[v] && value_read_after(r->in.mc, r->reads, l, o->reg[v]))
            return false;
    return true;
}

/* What ops inside the lanes' loop write was written first there. */
static bool lanes_begin_afresh(const reader *r, int from, int end, int d)
{
    const outer *o = r->o;
    for (int k = from; k < end; k++) {
        const outer_op *x = &o->op[k];
        if (x->kind == OUTER_LOOP) {
            if (!lanes_begin_afresh(r, k + 1, x->end, x->a)) return false;
            k = x->end - 1;
        } else if (x->kind != OUTER_STORE && x->kind != OUTER_ACC && within(o, d) &&
                   !within(o, r->def[x->to])) {
            return false;
        }
    }
    return true;
}

/* Nothing that is stored is read, or stored twice. */
static bool results_apart(const outer *o)
{
    uint64_t stored = 0;
    for (int k = 0; k < o->nop; k++) {
        const outer_op *x = &o->op[k];
        if (x->kind != OUTER_STORE && x->kind != OUTER_ACC) continue;
        if (x->a >= 64 || stored >> x->a & 1 || (x->kind == OUTER_ACC && o->faults))
            return false;
        stored |= UINT64_C(1) << x->a;
    }
    for (int k = 0; k < o->nop; k++)
        if (o->op[k].kind == OUTER_LOAD && o->op[k].a < 64 && stored >> o->op[k].a & 1)
            return false;
    return true;
}

/* Whether a loop that visits subsections, or else what other operands have, can go through
 * all of its range: in what it leaves out the lanes' loop, right inside it, finds nothing,
 * and nothing else is done there. */
static bool leaves_to_lanes(const reader *r, int d)
{
    const outer *o = r->o;
    const outer_loop *l = &o->loop[d], *in = &o->loop[o->lane];
    if (in->around != d || o->nloop != o->lane + 1 || o->faults ||
        outer_makes(in->l->merge, 0))
        return false;
    for (int b = 0; b < in->count; b++) {
        const uint8_t at = in->operand[b];
        if (at && memchr(l->operand, at, (size_t)l->count)) continue;
        const linear_place *x = &r->o->place[at];
        if (x->kind != LINEAR_WALKED || x->tensor != o->partly) return false;
    }
    for (int k = 0; k < o->nop; k++) {
        const outer_op *x = &o->op[k];
        if (x->kind == OUTER_LOOP && x->a == o->lane)
            k = x->end - 1;
        else if (x->kind != OUTER_LOOP && x->kind != OUTER_LOAD)
            return false;
    }
    return true;
}

static bool either_fits(const reader *r)
{
    for (int d = 0; d < r->o->nloop; d++)
        if (r->o->loop[d].either && !leaves_to_lanes(r, d)) return false;
    return true;
}

/* Whether a loop in the lanes' visits subsections: they are others in each lane, and what
 * its rounds do (count themselves, for one) isn't to be done in lanes without. */
static bool visits_by_lane(const outer *o)
{
    for (int d = o->lane + 1; d < o->nloop; d++)
        if (o->loop[d].partial) return true;
    return false;
}

static void outer_describe(const super *base, textbuf *out)
{
    const outer *o = (const outer *)base;
    int inside = 0;
    for (int d = o->lane + 1; d < o->nloop; d++)
        inside += within(o, d);
    text_add(out, "rows of lanes, %d loops around, %d inside -> store", o->lane, inside);
}

static bool match(reader *r, const machine *mc, loop *l)
{
    outer *o = r->o;
    memset(o, 0, sizeof *o);
    linear_begin(&r->in, mc, o->place, r->room);
    o->lane = -1;
    o->partly = ROOT;
    if (!read_loop(r, l, -1) || o->lane < 0 || !r->in.shifted) return false;
    o->nplace = r->in.nplace;
    return results_apart(o) && !visits_by_lane(o) && either_fits(r) &&
           leaves_nothing(r, l) && lanes_begin_afresh(r, 0, o->nop, -1);
}

stc_status outer_fuse(machine *mc, loop *l, const value_reads *reads, super **out)
{
    const size_t size = sizeof(reader) + linear_size(mc->p);
    outer *o = mem_alloc(mc->cx, sizeof *o);
    reader *r = o ? mem_alloc(mc->cx, size) : NULL;
    bool found = false;
    if (r) {
        r->o = o;
        r->reads = reads;
        r->room = r + 1;
        found = match(r, mc, l);
    }
    const bool failed = !r;
    mem_free(mc->cx, r, size);
    if (!found) {
        mem_free(mc->cx, o, sizeof *o);
        return failed ? mc->cx->diag.status : STC_OK;
    }
    o->base = (super){.run = outer_run,
                      .free = outer_free,
                      .describe = outer_describe,
                      .loop = l,
                      .next = l->exit,
                      .tier = 4,
                      .size = sizeof *o};
    outer_share(o);
    *out = &o->base;
    return STC_OK;
}
