/* summary.c: reads what a loop does off its base operations.
 *
 * Registers are followed through the body as a compiler numbers values: each
 * write makes a new node, so that registers used twice don't matter. A
 * register that is read before it is written must be the accumulator of
 * reductions, v = fn(v, e), and nothing else. Loops inside have been read
 * before; summary_link.c hangs them into the body.
 */
#include "summary.h"
#include "../code/text.h"
#include <string.h>

/* ---- tables that grow up to their limit ---------------------------------------- */

static uint16_t next_row(reader *r, int *n, int limit)
{
    if (*n < limit) return (uint16_t)(*n)++;
    r->full = true;
    return 0;
}

static uint16_t summary_new_icol(reader *r, icol x)
{
    const uint16_t id = next_row(r, &r->s->nicol, ICOL_MAX);
    r->s->icol[id] = x;
    return id;
}

static uint16_t summary_new_place(reader *r, place x)
{
    const uint16_t id = next_row(r, &r->s->nplace, PLACE_MAX);
    r->s->place[id] = x;
    return id;
}

uint16_t summary_new_node(reader *r, node x)
{
    const uint16_t id = next_row(r, &r->s->nnode, NODE_MAX);
    r->s->node[id] = x;
    return id;
}

void summary_new_step(reader *r, step x)
{
    r->s->step[next_row(r, &r->s->nstep, STEP_MAX)] = x;
}

void summary_new_sink(reader *r, sink x)
{
    r->s->sink[next_row(r, &r->s->nsink, SINK_MAX)] = x;
}

/* ---- operands ------------------------------------------------------------------ */

uint16_t summary_read_value(reader *r, uint16_t reg)
{
    if (r->v[reg] != UNSET) return r->v[reg];
    if (r->live[reg] == UNSET)
        r->live[reg] =
            summary_new_node(r, (node){.kind = NODE_LIVE, .cls = CLASS_COUNT, .a = reg});
    return r->live[reg];
}

uint16_t summary_read_integer(reader *r, uint16_t reg)
{
    if (r->i[reg] == UNSET)
        r->i[reg] = summary_new_icol(r, (icol){.kind = ICOL_FIXED, .a = reg});
    return r->i[reg];
}

uint16_t summary_read_place(reader *r, uint16_t reg)
{
    if (reg == ROOT) return PLACE_ROOT;
    if (r->c[reg] == UNSET)
        r->c[reg] = summary_new_place(r, (place){.kind = PLACE_FIXED, .cursor = reg});
    return r->c[reg];
}

void summary_settle(reader *r, uint16_t id, vclass cls)
{
    node *x = &r->s->node[id];
    if (x->cls == CLASS_COUNT) x->cls = (uint8_t)cls;
}

/* ---- one instruction ----------------------------------------------------------- */

static void summary_define(reader *r, uint16_t reg, node x)
{
    for (int k = 0; k < x.nargs; k++) {
        node *arg = &r->s->node[x.arg[k]];
        arg->uses++;
        x.varies |= arg->varies;
    }
    r->v[reg] = summary_new_node(r, x);
    summary_new_step(r, (step){.kind = STEP_NODE, .a = r->v[reg]});
}

/* A cursor that was opened and never stood has no place that columns know. */
bool summary_unstood(const reader *r, uint16_t id)
{
    return r->s->place[id].kind == PLACE_SEEK && !r->s->place[id].sought;
}

static bool read_load(reader *r, const uint16_t *a, const lop *at)
{
    const uint16_t p = summary_read_place(r, a[2]);
    if (summary_unstood(r, p)) return false;
    summary_define(r, a[0],
                   (node){.kind = NODE_LOAD,
                          .cls = (uint8_t)type_class(r->mc->p->tensor[a[1]].type),
                          .a = a[1],
                          .b = p,
                          .varies = r->s->place[p].varies,
                          .at = at});
    return true;
}

/* The accumulator's node is read and written by its reductions: nothing else may. */
static bool read_reduction(reader *r, uint16_t own, sink x)
{
    if (own == x.node) return false;
    r->s->node[x.node].uses++;
    r->s->node[own].uses += 2;
    summary_settle(r, own, (vclass)x.cls);
    summary_new_sink(r, x);
    r->sunk = true;
    return true;
}

/* x ** 2 is x * x, and never faults. */
static void square_by_product(const reader *r, node *x)
{
    const node *by = &r->s->node[x->arg[1]];
    const vclass cls = (vclass)x->fn_cls;
    if (x->fn != FN_POW || by->kind != NODE_CONST) return;
    const value two = class_convert(cls, CLASS_I64, (value){.i64 = 2});
    if (!class_equal(cls, r->mc->p->konst[by->a].v, two)) return;
    x->fn = FN_MUL;
    x->arg[1] = x->arg[0];
}

/* v = fn(v, e) or fn(e, v), v not written before in the body, reduces. */
static bool read_function(reader *r, int n, const uint16_t *a, const lop *at)
{
    if (n == 2 && r->v[a[0]] == UNSET && (a[3] == a[0]) != (a[4] == a[0])) {
        const bool right = a[4] == a[0];
        sink x = {.kind = SINK_REDUCE,
                  .cls = (uint8_t)a[2],
                  .fn = a[1],
                  .a = a[0],
                  .node = summary_read_value(r, a[right ? 3 : 4]),
                  .right = right,
                  .at = at};
        return fn_operand_class(a[1], (vclass)a[2], !right) == a[2] &&
               read_reduction(r, summary_read_value(r, a[0]), x);
    }
    node x = {.kind = NODE_FN,
              .cls = (uint8_t)fn_result_class(a[1], (vclass)a[2]),
              .fn_cls = (uint8_t)a[2],
              .fn = (int16_t)a[1],
              .nargs = (uint8_t)n,
              .at = at};
    for (int k = 0; k < n; k++) {
        x.arg[k] = summary_read_value(r, a[3 + k]);
        summary_settle(r, x.arg[k], fn_operand_class(a[1], (vclass)a[2], k));
    }
    square_by_product(r, &x);
    summary_define(r, a[0], x);
    return true;
}

/* A function of a user's or of the host's; v = f(v, e) or f(e, v) with v not written before
 * is a reduction, by those of the host's alone. */
static bool read_call(reader *r, const uint16_t *a, const lop *at)
{
    const user_fn *f = &r->mc->p->fn[a[1]];
    node x = {.kind = NODE_CALL, .cls = f->result, .nargs = (uint8_t)a[3], .at = at};
    if (a[3] > 3) return false;
    for (int k = 0; k < x.nargs; k++) {
        x.arg[k] = summary_read_value(r, (uint16_t)(a[2] + k));
        summary_settle(r, x.arg[k], (vclass)f->cls[k]);
    }
    const uint16_t own = r->live[a[0]];
    if (own == UNSET || r->v[a[0]] != UNSET) {
        summary_define(r, a[0], x);
        return true;
    }
    const bool right = x.arg[1] == own;
    return f->host && x.nargs == 2 && (right || x.arg[0] == own) &&
           read_reduction(r, own,
                          (sink){.kind = SINK_HOST,
                                 .cls = f->result,
                                 .fn = -1,
                                 .a = a[0],
                                 .node = x.arg[!right],
                                 .right = right,
                                 .at = at});
}

/* in: of what class the argument is. */
static void read_unary(reader *r, uint16_t out, uint16_t arg, vclass in, node x)
{
    x.nargs = 1;
    x.arg[0] = summary_read_value(r, arg);
    summary_settle(r, x.arg[0], in);
    summary_define(r, out, x);
}

/* `at` stands below places of results alone, and what was read before the body opens
 * it is refused by the verifier. */
static void read_cursor(reader *r, const insn *in, place_kind kind, const lop *at)
{
    const uint16_t *a = in->arg;
    place x = {
        .kind = (uint8_t)kind, .cursor = a[0], .tensor = a[1], .level = a[2], .at = at};
    x.shift = UNLINKED;
    x.coef = 1;
    if (in->op == OP_OPENAT) {
        x.shift = summary_read_integer(r, a[4]);
        x.coef = r->mc->p->konst[a[5]].v.i64;
    }
    x.up = summary_read_place(r, a[3]);
    x.varies = r->s->place[x.up].varies;
    if (kind != PLACE_SEEK) { /* open has no coordinate yet */
        x.icol = summary_read_integer(r, a[4]);
        x.varies |= r->s->icol[x.icol].varies;
    }
    r->c[a[0]] = summary_new_place(r, x);
    if (kind != PLACE_SEEK)
        summary_new_step(r, (step){.kind = STEP_PLACE, .a = r->c[a[0]]});
}

/* A fiber that is closed may be stood at once more, by code that nobody compiled: strips
 * would stand at both places first, and close it twice. */
static bool read_at(reader *r, const insn *in, const lop *at)
{
    const uint16_t before = r->c[in->arg[0]];
    if (before != UNSET && r->s->place[before].kept) return false;
    read_cursor(r, in, PLACE_AT, at);
    return true;
}

static bool read_seek(reader *r, const uint16_t *a)
{
    const uint16_t p = summary_read_place(r, a[0]);
    place *pl = &r->s->place[p];
    if (!summary_unstood(r, p) || pl->shift != UNLINKED) return false;
    pl->icol = summary_read_integer(r, a[1]);
    pl->varies |= r->s->icol[pl->icol].varies;
    pl->sought = true;
    summary_new_step(r, (step){.kind = STEP_PLACE, .a = p});
    return true;
}

/* No round reads the integers of another: the verifier sees to that. */
static void read_muladd(reader *r, const uint16_t *a, const lop *at)
{
    icol x = {.kind = ICOL_MULADD, .k = r->mc->p->konst[a[2]].v.i64, .at = at};
    x.a = summary_read_integer(r, a[1]);
    x.b = summary_read_integer(r, a[3]);
    x.varies = r->s->icol[x.a].varies || r->s->icol[x.b].varies;
    r->i[a[0]] = summary_new_icol(r, x);
    summary_new_step(r, (step){.kind = STEP_ICOL, .a = r->i[a[0]]});
}

/* Each lane has its own, even where all have the same value. */
static void read_index(reader *r, const uint16_t *a)
{
    icol x = {.kind = ICOL_VALUE, .varies = true};
    x.a = summary_read_value(r, a[1]);
    r->s->node[x.a].uses++;
    summary_settle(r, x.a, CLASS_I64);
    r->i[a[0]] = summary_new_icol(r, x);
    summary_new_step(r, (step){.kind = STEP_ICOL, .a = r->i[a[0]]});
}

static bool read_bounded(reader *r, const uint16_t *a, const lop *at)
{
    const uint16_t id = summary_read_integer(r, a[0]);
    icol *x = &r->s->icol[id];
    if (x->kind != ICOL_VALUE || x->at || r->sunk) return false;
    x->at = at;
    summary_new_step(r, (step){STEP_BOUNDED, 0, id, a[1]});
    return true;
}

static bool read_mask_step(reader *r, uint16_t mask, step x)
{
    if (mask != r->s->l->mask || r->sunk) return false;
    summary_new_step(r, x);
    return true;
}

static bool finish_sink(reader *r, sink x, uint16_t reg)
{
    x.node = summary_read_value(r, reg);
    r->s->node[x.node].uses++;
    summary_settle(r, x.node, (vclass)x.cls);
    r->sunk = r->s->effects = true;
    summary_new_sink(r, x);
    return true;
}

static bool read_sink(reader *r, const insn *in, const lop *at)
{
    const uint16_t *a = in->arg;
    const bool acc = in->op == OP_ACC;
    sink x = {.kind = acc ? SINK_ACC : SINK_STORE, .a = a[0], .at = at};
    x.fn = acc ? a[2] : -1;
    x.cls = (uint8_t)type_class(r->mc->p->tensor[a[0]].type);
    x.b = summary_read_place(r, a[1]);
    r->s->place[x.b].stored = true;
    return finish_sink(r, x, a[acc ? 4 : 2]);
}

static bool read_adding(reader *r, const insn *in, const lop *at)
{
    const uint16_t *a = in->arg;
    const bool user = in->op == OP_WSCALL;
    const prog_tensor *w = &r->mc->p->tensor[a[0]];
    sink x = {.kind = user ? SINK_WSCALL : SINK_WSADD, .a = a[0], .at = at};
    x.fn = user ? ws_user_fn(a[1], a[4]) : a[2];
    x.cls = (uint8_t)type_class(w->type);
    for (int k = 0; k < w->order; k++)
        x.icol[k] = summary_read_integer(r, (uint16_t)(a[user ? 2 : 1] + k));
    return finish_sink(r, x, a[user ? 3 : 4]);
}

/* A place of the last level is kept by its value: without one it has no sink. */
static bool read_keep(reader *r, const uint16_t *a, const lop *at)
{
    place *pl = &r->s->place[summary_read_place(r, a[2])];
    if (pl->kind != PLACE_AT || pl->kept) return false;
    if (a[1] + 1 == r->mc->p->tensor[a[0]].fmt.levels && !pl->stored) return false;
    pl->kept = true;
    pl->keep = at;
    return true;
}

/* What takes no more than registers and tables. */
static bool read_plain(reader *r, const insn *in, const lop *at)
{
    const uint16_t *a = in->arg;
    switch (in->op) {
    case OP_ICONST:
        r->i[a[0]] = summary_new_icol(
            r, (icol){.kind = ICOL_CONST, .k = r->mc->p->konst[a[1]].v.i64});
        return true;
    case OP_IMULADD:
        read_muladd(r, a, at);
        return true;
    case OP_IVALUE: {
        const uint16_t i = summary_read_integer(r, a[1]);
        const bool varies = r->s->icol[i].varies;
        summary_define(
            r, a[0],
            (node){.kind = NODE_INDEX, .cls = CLASS_I64, .a = i, .varies = varies});
        return true;
    }
    case OP_EXTENT:
        summary_define(r, a[0], (node){.kind = NODE_EXTENT, .cls = CLASS_I64, .a = a[1]});
        return true;
    case OP_CONST:
        summary_define(
            r, a[0],
            (node){.kind = NODE_CONST, .cls = r->mc->p->konst[a[1]].cls, .a = a[1]});
        return true;
    case OP_MOV:
        r->v[a[0]] = summary_read_value(r, a[1]);
        return true;
    case OP_CONV:
        read_unary(r, a[0], a[3], (vclass)a[2],
                   (node){.kind = NODE_CONV,
                          .cls = (uint8_t)a[1],
                          .fn_cls = (uint8_t)a[2],
                          .at = at});
        return true;
    case OP_WRAP: {
        const vclass cls = type_class((stc_type)a[1]);
        read_unary(
            r, a[0], a[2], cls,
            (node){
                .kind = NODE_WRAP, .cls = (uint8_t)cls, .type = (uint8_t)a[1], .at = at});
        return true;
    }
    default:
        return false;
    }
}

static bool read_insn(reader *r, const insn *in, const lop *at)
{
    const uint16_t *a = in->arg;
    switch (in->op) {
    case OP_OPEN:
    case OP_OPENAT:
        read_cursor(r, in, PLACE_SEEK, at);
        return true;
    case OP_LOCATE:
        read_cursor(r, in, PLACE_LOCATE, at);
        return true;
    case OP_AT:
        return read_at(r, in, at);
    case OP_SEEK:
        return read_seek(r, a);
    case OP_PRESENT: {
        const uint16_t c = summary_read_place(r, a[2]);
        return read_mask_step(r, a[0], (step){STEP_PRESENT, (uint8_t)a[1], c, 0});
    }
    case OP_FILLBIT: {
        const uint16_t c = summary_read_place(r, a[3]);
        return read_mask_step(r, a[0], (step){STEP_FILLBIT, (uint8_t)a[1], a[2], c});
    }
    case OP_MARK: {
        const uint16_t v = summary_read_value(r, a[2]);
        r->s->node[v].uses++;
        summary_settle(r, v, CLASS_I64);
        return read_mask_step(r, a[0], (step){STEP_MARK, (uint8_t)a[1], v, 0});
    }
    case OP_WITHIN:
        if (r->sunk) return false;
        summary_new_step(r, (step){STEP_WITHIN, 0, summary_read_integer(r, a[0]), a[1]});
        return true;
    case OP_INDEX:
        read_index(r, a);
        return true;
    case OP_BOUNDED:
        return read_bounded(r, a, at);
    case OP_SKIP:
        return read_mask_step(r, a[0], (step){STEP_SKIP, 0, a[1], 0});
    case OP_STORE:
    case OP_ACC:
        return read_sink(r, in, at);
    case OP_WSADD:
    case OP_WSCALL:
        return read_adding(r, in, at);
    case OP_KEEP:
        return read_keep(r, a, at);
    case OP_FN1:
        return read_function(r, 1, a, at);
    case OP_FN2:
        return read_function(r, 2, a, at);
    case OP_FN3:
        return read_function(r, 3, a, at);
    case OP_CALL:
        return read_call(r, a, at);
    case OP_LOAD:
        return read_load(r, a, at);
    default:
        return read_plain(r, in, at);
    }
}

/* ---- what the loop leaves behind ----------------------------------------------- */

/* How many sinks reduce into x's register; 0: their order matters. */
static int reductions_into(const reader *r, const sink *x)
{
    enum { FREE = FP_ASSOCIATIVE | FP_COMMUTATIVE };
    int n = 0;
    bool same = true;
    for (int k = 0; k < r->s->nsink; k++) {
        const sink *y = &r->s->sink[k];
        if (y->kind != SINK_REDUCE || y->a != x->a) continue;
        n++;
        same &= y->fn == x->fn; /* a register has one class */
    }
    return n == 1 || (same && (fn_at(x->fn)->flags & FREE) == FREE) ? n : 0;
}

/* How many sinks of a loop and of those inside it go into tensor t: with two of them what
 * is left would hang on the order of the rounds, and tiers have one of their own. */
static int sinks_into(const loop_tree *tree, uint16_t t)
{
    int n = 0;
    for (int k = 0; k < tree->s.nsink; k++) {
        const sink *x = &tree->s.sink[k];
        n += !sink_reduces(x) && x->a == t;
    }
    for (int k = 0; k < tree->nchild; k++)
        n += sinks_into(tree->child[k], t);
    return n;
}

/* Registers that the body writes, other than accumulators, must not be read
 * after the loop: the tiers don't leave the last round's values in them. */
static bool leaves_nothing(const reader *r)
{
    const loop *l = r->s->l;
    for (int reg = 0; reg < r->mc->p->nv; reg++) {
        if (r->v[reg] == UNSET) continue;
        if (r->live[reg] != UNSET) return false; /* carried into the next round */
        if (value_read_after(r->mc, r->reads, l, (uint16_t)reg)) return false;
    }
    for (int k = 0; k < r->s->nsink; k++) {
        const sink *x = &r->s->sink[k];
        if (!sink_reduces(x)) {
            if (sinks_into(r->t, x->a) > 1) return false;
            continue;
        }
        const int all = x->kind == SINK_HOST ? 1 : reductions_into(r, x);
        if (!all || r->s->node[r->live[x->a]].uses != 2 * all) return false;
    }
    return true;
}

static void read_operands(reader *r)
{
    loop_summary *s = r->s;
    const merge_desc *m = s->l->merge;
    s->place[0] = (place){.kind = PLACE_FIXED, .cursor = ROOT};
    s->nplace = 1;
    s->icol[0] = (icol){.kind = ICOL_LOOP, .varies = true};
    s->nicol = 1;
    r->i[s->l->index] = 0;
    for (uint16_t b = 0; b < m->count; b++) {
        const merge_operand *o = &m->operand[b];
        const bool fixed = o->role == MERGE_KNOWN;
        r->c[o->cursor] =
            summary_new_place(r, (place){.kind = fixed ? PLACE_FIXED : PLACE_OPERAND,
                                         .varies = !fixed,
                                         .cursor = o->cursor,
                                         .operand = b});
    }
}

/* ---- the entry ----------------------------------------------------------------- */

typedef struct registers {
    uint16_t few[256], *all;
    int64_t n;
} registers;

static bool reader_open(reader *r, const machine *mc, loop *l, loop_tree *t, registers *g)
{
    const program *p = mc->p;
    g->n = 2 * p->nv + p->ni + p->nc;
    g->all = g->n <= 256 ? g->few : mem_array(mc->cx, g->n, sizeof *g->all);
    if (!g->all) return false;
    memset(g->all, 0xff, (size_t)g->n * sizeof *g->all);
    *r = (reader){.mc = mc,
                  .t = t,
                  .s = &t->s,
                  .v = g->all,
                  .live = g->all + p->nv,
                  .i = g->all + 2 * p->nv,
                  .c = g->all + 2 * p->nv + p->ni};
    t->s.l = l;
    t->s.nnode = t->s.nstep = t->s.nsink = 0;
    t->s.effects = false;
    t->nchild = 0;
    return true;
}

/* The body: its own instructions, and the loops inside as they were read. */
static bool read_body(reader *r, const loop *first, loop_tree *all)
{
    const machine *mc = r->mc;
    const loop *l = r->s->l;
    for (int k = l->first + 1; k < l->last && !r->full; k++) {
        if (insn_of(mc, k)->op == OP_LOOP) {
            loop_tree *in = &all[mc->code[k].u.loop - first];
            if (!in->read || !summary_link(r, in)) return false;
            k = in->s.l->last;
        } else if (!read_insn(r, insn_of(mc, k), &mc->code[k])) {
            return false;
        }
    }
    return !r->full;
}

void summary_copy(loop_summary *to, const loop_summary *from)
{
    memcpy(to, from, offsetof(loop_summary, icol));
    memcpy(to->icol, from->icol, (size_t)from->nicol * sizeof *to->icol);
    memcpy(to->place, from->place, (size_t)from->nplace * sizeof *to->place);
    memcpy(to->node, from->node, (size_t)from->nnode * sizeof *to->node);
    memcpy(to->step, from->step, (size_t)from->nstep * sizeof *to->step);
    memcpy(to->sink, from->sink, (size_t)from->nsink * sizeof *to->sink);
}

bool summary_read(const machine *mc, const value_reads *reads, loop *l, const loop *first,
                  loop_tree *all)
{
    reader r;
    registers g;
    loop_tree *t = &all[l - first];
    t->read = false;
    if (!reader_open(&r, mc, l, t, &g)) return false;
    r.reads = reads;
    read_operands(&r);
    t->read = read_body(&r, first, all) && leaves_nothing(&r);
    if (t->read) summary_find_moot(&r);
    if (g.all != g.few) mem_free(mc->cx, g.all, (size_t)g.n * sizeof *g.all);
    return t->read;
}
