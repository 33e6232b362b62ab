/* summary.c: reads what an innermost loop does off its base operations.
 *
 * Registers are followed through the body as a compiler numbers values: each
 * write makes a new node, so that registers used twice don't matter. A
 * register that is read before it is written must be the accumulator of one
 * reduction, v = fn(v, e), and nothing else.
 */
#include "fuse.h"
#include <string.h>

#define UNSET 0xffff

typedef struct reader {
    const machine *mc;
    loop_summary *s;
    uint16_t *v;    /* value register → node                       */
    uint16_t *live; /* value register → its NODE_LIVE              */
    uint16_t *i;    /* integer register → icol                     */
    uint16_t *c;    /* cursor register → place                     */
    bool sunk;      /* a sink has been seen: no more skipping      */
} reader;

/* ---- tables that grow up to their limit ---------------------------------------- */

static uint16_t new_icol(reader *r, icol x)
{
    if (r->s->nicol == ICOL_MAX) return UNSET;
    r->s->icol[r->s->nicol] = x;
    return (uint16_t)r->s->nicol++;
}

static uint16_t new_place(reader *r, place x)
{
    if (r->s->nplace == PLACE_MAX) return UNSET;
    r->s->place[r->s->nplace] = x;
    return (uint16_t)r->s->nplace++;
}

static uint16_t new_node(reader *r, node x)
{
    if (r->s->nnode == NODE_MAX) return UNSET;
    r->s->node[r->s->nnode] = x;
    return (uint16_t)r->s->nnode++;
}

static bool new_step(reader *r, step x)
{
    if (r->s->nstep == STEP_MAX) return false;
    r->s->step[r->s->nstep++] = x;
    return true;
}

/* ---- operands ------------------------------------------------------------------ */

static uint16_t read_value(reader *r, uint16_t reg)
{
    if (r->v[reg] != UNSET) return r->v[reg];
    if (r->live[reg] == UNSET) {
        r->live[reg] = new_node(r, (node){.kind = NODE_LIVE, .cls = CLASS_COUNT, .a = reg});
    }
    return r->live[reg];
}

static uint16_t read_integer(reader *r, uint16_t reg)
{
    if (r->i[reg] == UNSET) r->i[reg] = new_icol(r, (icol){.kind = ICOL_FIXED, .a = reg});
    return r->i[reg];
}

static uint16_t read_place(reader *r, uint16_t reg)
{
    if (reg == ROOT) return PLACE_ROOT;
    if (r->c[reg] == UNSET) {
        r->c[reg] = new_place(r, (place){.kind = PLACE_FIXED, .cursor = reg});
    }
    return r->c[reg];
}

/* ---- one instruction ----------------------------------------------------------- */

static bool define(reader *r, uint16_t reg, node x)
{
    for (int k = 0; k < x.nargs; k++) {
        if (x.arg[k] == UNSET) return false;
        node *arg = &r->s->node[x.arg[k]];
        arg->uses++;
        x.varies |= arg->varies;
    }
    r->v[reg] = new_node(r, x);
    return r->v[reg] != UNSET && new_step(r, (step){.kind = STEP_NODE, .a = r->v[reg]});
}

static bool read_load(reader *r, const uint16_t *a, const lop *at)
{
    const uint16_t p = read_place(r, a[2]);
    if (p == UNSET) return false;
    const place *pl = &r->s->place[p];
    if (pl->kind == PLACE_AT || (pl->kind == PLACE_SEEK && !pl->sought)) return false;
    return define(r, a[0],
                  (node){.kind = NODE_LOAD,
                         .cls = (uint8_t)type_class(r->mc->p->tensor[a[1]].type),
                         .a = a[1],
                         .b = p,
                         .varies = pl->varies,
                         .at = at});
}

/* v = fn(v, e) or fn(e, v), v not written before in the body. */
static bool read_reduction(reader *r, const uint16_t *a, const lop *at, bool right)
{
    const uint16_t e = read_value(r, a[right ? 3 : 4]);
    if (e == UNSET || r->s->nsink == SINK_MAX) return false;
    const uint16_t own = read_value(r, a[0]);
    if (own == UNSET || own == e) return false;
    r->s->node[e].uses++;
    r->s->node[own].uses += 2; /* read and written: nothing else may */
    if (r->s->node[own].cls == CLASS_COUNT) r->s->node[own].cls = (uint8_t)a[2];
    r->s->sink[r->s->nsink++] = (sink){.kind = SINK_REDUCE,
                                       .cls = (uint8_t)a[2],
                                       .fn = (int16_t)a[1],
                                       .a = a[0],
                                       .node = e,
                                       .right = right,
                                       .at = at};
    return true;
}

static bool read_function(reader *r, int n, const uint16_t *a, const lop *at)
{
    if (n == 2 && r->v[a[0]] == UNSET && (a[3] == a[0]) != (a[4] == a[0])) {
        return read_reduction(r, a, at, a[4] == a[0]);
    }
    node x = {.kind = NODE_FN,
              .cls = (uint8_t)fn_result_class(a[1], (vclass)a[2]),
              .fn_cls = (uint8_t)a[2],
              .fn = (int16_t)a[1],
              .nargs = (uint8_t)n,
              .at = at};
    for (int k = 0; k < n; k++) {
        x.arg[k] = read_value(r, a[3 + k]);
        if (x.arg[k] == UNSET) return false;
        node *arg = &r->s->node[x.arg[k]];
        if (arg->cls == CLASS_COUNT)
            arg->cls = (uint8_t)fn_operand_class(a[1], (vclass)a[2], k);
    }
    return define(r, a[0], x);
}

/* A function of the host's; v = f(v, e) or f(e, v) with v not written before is a
 * reduction. */
static bool read_host(reader *r, const uint16_t *a, const lop *at)
{
    const host_form *f = at->u.host;
    node x = {.kind = NODE_HOST, .cls = f->result, .nargs = (uint8_t)a[3], .at = at};
    if (a[3] > 3) return false;
    for (int k = 0; k < x.nargs; k++) {
        x.arg[k] = r->v[a[2] + k]; /* lowering has just moved it there */
        if (x.arg[k] == UNSET) return false;
        node *arg = &r->s->node[x.arg[k]];
        if (arg->cls == CLASS_COUNT) arg->cls = f->cls[k];
    }
    const uint16_t own = r->live[a[0]];
    if (own == UNSET || r->v[a[0]] != UNSET) return define(r, a[0], x);
    const bool right = x.arg[1] == own;
    if (x.nargs != 2 || (x.arg[0] == own) == right || r->s->nsink == SINK_MAX) return false;
    const uint16_t e = x.arg[!right];
    r->s->node[e].uses++;
    r->s->node[own].uses += 2;
    r->s->sink[r->s->nsink++] = (sink){.kind = SINK_HOST,
                                       .cls = f->result,
                                       .fn = -1,
                                       .a = a[0],
                                       .node = e,
                                       .right = right,
                                       .at = at};
    return true;
}

static bool read_unary(reader *r, uint16_t out, uint16_t in, node x)
{
    x.nargs = 1;
    x.arg[0] = read_value(r, in);
    if (x.arg[0] == UNSET) return false;
    node *arg = &r->s->node[x.arg[0]];
    if (arg->cls == CLASS_COUNT) arg->cls = x.kind == NODE_CONV ? x.fn_cls : x.cls;
    return define(r, out, x);
}

static bool read_cursor(reader *r, const insn *in, place_kind kind, const lop *at)
{
    const uint16_t *a = in->arg;
    const bool placed = kind != PLACE_SEEK; /* open has no coordinate yet */
    if (r->c[a[0]] != UNSET && r->s->place[r->c[a[0]]].kind == PLACE_FIXED) return false;
    place x = {
        .kind = (uint8_t)kind, .cursor = a[0], .tensor = a[1], .level = a[2], .at = at};
    x.up = read_place(r, a[3]);
    if (x.up == UNSET) return false;
    x.varies = r->s->place[x.up].varies;
    if (placed) {
        x.icol = read_integer(r, a[4]);
        if (x.icol == UNSET) return false;
        x.varies |= r->s->icol[x.icol].varies;
    }
    if (kind == PLACE_AT && r->s->place[x.up].kind == PLACE_OPERAND) return false;
    r->c[a[0]] = new_place(r, x);
    if (r->c[a[0]] == UNSET) return false;
    return !placed || new_step(r, (step){.kind = STEP_PLACE, .a = r->c[a[0]]});
}

static bool read_seek(reader *r, const uint16_t *a)
{
    const uint16_t p = r->c[a[0]];
    if (p == UNSET) return false;
    place *pl = &r->s->place[p];
    if (pl->kind != PLACE_SEEK || pl->sought) return false;
    pl->icol = read_integer(r, a[1]);
    if (pl->icol == UNSET) return false;
    pl->varies |= r->s->icol[pl->icol].varies;
    pl->sought = true;
    return new_step(r, (step){.kind = STEP_PLACE, .a = p});
}

/* Whether the body may write integer register reg: not if an earlier read took
 * it for fixed, since the next round would read what is written now. */
static bool may_write_integer(const reader *r, uint16_t reg)
{
    return r->i[reg] == UNSET || r->s->icol[r->i[reg]].kind != ICOL_FIXED;
}

static bool read_muladd(reader *r, const uint16_t *a, const lop *at)
{
    if (!may_write_integer(r, a[0])) return false;
    icol x = {.kind = ICOL_MULADD, .k = r->mc->p->konst[a[2]].v.i64, .at = at};
    x.a = read_integer(r, a[1]);
    x.b = read_integer(r, a[3]);
    if (x.a == UNSET || x.b == UNSET) return false;
    x.varies = r->s->icol[x.a].varies || r->s->icol[x.b].varies;
    r->i[a[0]] = new_icol(r, x);
    return r->i[a[0]] != UNSET && new_step(r, (step){.kind = STEP_ICOL, .a = r->i[a[0]]});
}

static bool read_mask_step(reader *r, uint16_t mask, step x)
{
    return mask == r->s->l->mask && !r->sunk && new_step(r, x);
}

static bool read_sink(reader *r, const insn *in, const lop *at)
{
    const uint16_t *a = in->arg;
    if (r->s->nsink == SINK_MAX) return false;
    sink x = {.a = a[0], .fn = -1, .at = at};
    if (in->op == OP_WSADD) {
        x = (sink){.kind = SINK_WSADD,
                   .a = a[0],
                   .fn = (int16_t)a[2],
                   .cls = (uint8_t)a[3],
                   .at = at};
        const int order = r->mc->p->tensor[a[0]].order;
        for (int k = 0; k < order; k++) {
            x.icol[k] = read_integer(r, (uint16_t)(a[1] + k));
            if (x.icol[k] == UNSET) return false;
        }
        x.node = read_value(r, a[4]);
    } else {
        x.kind = in->op == OP_STORE ? SINK_STORE : SINK_ACC;
        x.cls = (uint8_t)type_class(r->mc->p->tensor[a[0]].type);
        x.b = read_place(r, a[1]);
        if (x.b == UNSET) return false;
        place *pl = &r->s->place[x.b];
        if (pl->kind != PLACE_AT && pl->kind != PLACE_FIXED) return false;
        pl->stored = true;
        if (x.kind == SINK_ACC) {
            x.fn = (int16_t)a[2];
            x.cls = (uint8_t)a[3];
        }
        x.node = read_value(r, a[x.kind == SINK_ACC ? 4 : 2]);
    }
    if (x.node == UNSET) return false;
    node *n = &r->s->node[x.node];
    n->uses++;
    if (n->cls == CLASS_COUNT) n->cls = x.cls;
    r->sunk = true;
    r->s->sink[r->s->nsink++] = x;
    return true;
}

static bool read_keep(reader *r, const uint16_t *a, const lop *at)
{
    const uint16_t p = a[2] == ROOT ? UNSET : r->c[a[2]];
    if (p == UNSET) return false;
    place *pl = &r->s->place[p];
    if (pl->kind != PLACE_AT || pl->level != a[1] || pl->kept) return false;
    pl->kept = true;
    pl->keep = at;
    return true;
}

static bool read_integer_op(reader *r, const insn *in, const lop *at)
{
    const uint16_t *a = in->arg;
    if (in->op == OP_IMULADD) return read_muladd(r, a, at);
    if (in->op == OP_ICONST) {
        if (!may_write_integer(r, a[0])) return false;
        r->i[a[0]] =
            new_icol(r, (icol){.kind = ICOL_CONST, .k = r->mc->p->konst[a[1]].v.i64});
        return r->i[a[0]] != UNSET;
    }
    if (in->op == OP_EXTENT) {
        return define(r, a[0], (node){.kind = NODE_EXTENT, .cls = CLASS_I64, .a = a[1]});
    }
    const uint16_t i = read_integer(r, a[1]);
    return i != UNSET && define(r, a[0],
                                (node){.kind = NODE_INDEX,
                                       .cls = CLASS_I64,
                                       .a = i,
                                       .varies = r->s->icol[i].varies});
}

static bool read_insn(reader *r, const insn *in, const lop *at)
{
    const uint16_t *a = in->arg;
    switch (in->op) {
    case OP_OPEN:
        return read_cursor(r, in, PLACE_SEEK, at);
    case OP_LOCATE:
        return read_cursor(r, in, PLACE_LOCATE, at);
    case OP_AT:
        return read_cursor(r, in, PLACE_AT, at);
    case OP_SEEK:
        return read_seek(r, a);
    case OP_PRESENT: {
        const uint16_t p = read_place(r, a[2]);
        return p != UNSET &&
               read_mask_step(r, a[0], (step){STEP_PRESENT, (uint8_t)a[1], p, 0});
    }
    case OP_FILLBIT: {
        const uint16_t p = read_place(r, a[3]);
        return p != UNSET &&
               read_mask_step(r, a[0], (step){STEP_FILLBIT, (uint8_t)a[1], a[2], p});
    }
    case OP_WITHIN: {
        const uint16_t i = read_integer(r, a[0]);
        return i != UNSET && !r->sunk && new_step(r, (step){STEP_WITHIN, 0, i, a[1]});
    }
    case OP_SKIP:
        return read_mask_step(r, a[0], (step){STEP_SKIP, 0, a[1], 0});
    case OP_ICONST:
    case OP_IMULADD:
    case OP_IVALUE:
    case OP_EXTENT:
        return read_integer_op(r, in, at);
    case OP_CONST:
        return define(
            r, a[0],
            (node){.kind = NODE_CONST, .cls = r->mc->p->konst[a[1]].cls, .a = a[1]});
    case OP_MOV:
        r->v[a[0]] = read_value(r, a[1]);
        return r->v[a[0]] != UNSET;
    case OP_LOAD:
        return read_load(r, a, at);
    case OP_FN1:
        return read_function(r, 1, a, at);
    case OP_FN2:
        return read_function(r, 2, a, at);
    case OP_FN3:
        return read_function(r, 3, a, at);
    case OP_CALL:
        return r->mc->p->fn[a[1]].host && read_host(r, a, at);
    case OP_CONV:
        return read_unary(r, a[0], a[3],
                          (node){.kind = NODE_CONV,
                                 .cls = (uint8_t)a[1],
                                 .fn_cls = (uint8_t)a[2],
                                 .at = at});
    case OP_WRAP:
        return read_unary(r, a[0], a[2],
                          (node){.kind = NODE_WRAP,
                                 .cls = (uint8_t)type_class((stc_type)a[1]),
                                 .type = (uint8_t)a[1],
                                 .at = at});
    case OP_STORE:
    case OP_ACC:
    case OP_WSADD:
        return read_sink(r, in, at);
    case OP_KEEP:
        return read_keep(r, a, at);
    default:
        return false;
    }
}

/* ---- what the loop leaves behind ----------------------------------------------- */

static int operand_letters(int op, const char **letters)
{
    static const char *const table[] = {
#define OP(NAME, text, operands, effect) operands,
#include "opcodes.def"
    };
    static const uint8_t count[] = {
#define OP(NAME, text, operands, effect) sizeof operands - 1,
#include "opcodes.def"
    };
    *letters = table[op];
    return count[op];
}

static bool reads_value(const insn *in, uint16_t reg)
{
    const char *l;
    const int n = operand_letters(in->op, &l);
    if (in->op == OP_CALL) return reg >= in->arg[2] && reg < in->arg[2] + in->arg[3];
    for (int k = 0; k < n; k++)
        if (l[k] == 'v' && in->arg[k] == reg) return true;
    return false;
}

static bool writes_value(const insn *in, uint16_t reg)
{
    const char *l;
    return operand_letters(in->op, &l) > 0 && l[0] == 'V' && in->arg[0] == reg;
}

/* Whether what `reg` holds after lop `from` may be read in [from, to). A write
 * counts up to the end of the block that it stands in. */
static bool read_later(const machine *mc, int from, int to, uint16_t reg)
{
    int depth = 0, written = -1; /* depth of the block of the last write */
    for (int k = from; k < to; k++) {
        const insn *in = insn_of(mc, k);
        const int op = in->op;
        if (op == OP_END || op == OP_ELSE || op == OP_ENDIF || op == OP_ENDWHILE) {
            depth--;
            if (written > depth && depth >= 0) written = -1;
        }
        if (written < 0 && reads_value(in, reg)) return true;
        if (op == OP_LOOP || op == OP_IF || op == OP_ELSE || op == OP_WHILE) depth++;
        if (written < 0 && writes_value(in, reg)) {
            if (depth <= 0) return false;
            written = depth;
        }
    }
    return false;
}

/* Registers that the body writes, other than accumulators, must not be read
 * after the loop: the tiers don't leave the last round's values in them. */
static bool leaves_nothing(const reader *r)
{
    const loop *l = r->s->l;
    for (int reg = 0; reg < r->mc->p->nv; reg++) {
        if (r->v[reg] == UNSET) continue;
        if (r->live[reg] != UNSET) return false; /* carried into the next round */
        if (read_later(r->mc, l->last + 1, r->mc->nmain, (uint16_t)reg)) return false;
        if (l->outer && read_later(r->mc, l->outer->first, l->first, (uint16_t)reg))
            return false;
    }
    for (int k = 0; k < r->s->nsink; k++) {
        const sink *x = &r->s->sink[k];
        if (x->kind != SINK_REDUCE && x->kind != SINK_HOST) continue;
        if (r->v[x->a] != UNSET || r->s->node[r->live[x->a]].uses != 2) return false;
    }
    return true;
}

static bool read_operands(reader *r)
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
        if (o->cursor == ROOT) return false;
        r->c[o->cursor] = new_place(r, (place){.kind = fixed ? PLACE_FIXED : PLACE_OPERAND,
                                               .varies = !fixed,
                                               .cursor = o->cursor,
                                               .operand = b});
        if (r->c[o->cursor] == UNSET) return false;
    }
    return true;
}

static bool read_range(reader *r, int from, int to)
{
    for (int k = from; k < to; k++)
        if (!read_insn(r, insn_of(r->mc, k), &r->mc->code[k])) return false;
    return true;
}

/* ---- the loop inside ----------------------------------------------------------- */

/* A cursor that was opened and never stood has no place that strips know. */
static bool unstood(const reader *r, uint16_t id)
{
    return id != UNSET && r->s->place[id].kind == PLACE_SEEK && !r->s->place[id].sought;
}

static bool link_places(reader *r, const loop_summary *in, nest_links *links)
{
    const merge_desc *m = in->l->merge;
    links->up[0] = PLACE_ROOT;
    for (int k = 1; k < in->nplace; k++) {
        const place *p = &in->place[k];
        links->shift[k] = UNLINKED;
        if (p->kind == PLACE_FIXED) {
            links->up[k] = read_place(r, p->cursor);
            if (unstood(r, links->up[k])) return false;
        } else if (p->kind == PLACE_AT) {
            links->up[k] = links->up[p->up];
            if (in->place[p->up].kind != PLACE_FIXED || p->icol != 0) return false;
        } else if (p->kind == PLACE_OPERAND &&
                   m->operand[p->operand].role == MERGE_LOCATE) {
            const merge_operand *o = &m->operand[p->operand];
            links->up[k] = read_place(r, o->up);
            if (unstood(r, links->up[k])) return false;
            if (o->shift != ROOT) links->shift[k] = read_integer(r, o->shift);
        } else if (p->kind == PLACE_OPERAND && operand_walks(&m->operand[p->operand])) {
            const uint16_t opened = r->c[p->cursor];
            if (opened == UNSET || r->s->place[opened].kind != PLACE_SEEK ||
                r->s->place[opened].sought)
                return false;
            links->up[k] = opened;
        } else if (p->kind == PLACE_SEEK && !p->sought) {
            links->up[k] = PLACE_ROOT; /* opened for a loop inside that one */
        } else {
            return false;
        }
        if (links->up[k] == UNSET) return false;
    }
    return true;
}

/* What the inner loop computes of things that it leaves alone moves out of it;
 * not what could fault, as the loop may have no rounds. */
static bool link_node(reader *r, const loop_summary *in, nest_links *links, int k)
{
    node x = in->node[k];
    x.uses = 0;
    if (x.kind == NODE_LIVE) {
        links->node[k] = read_value(r, x.a);
        if (links->node[k] == UNSET) return false;
        node *live = &r->s->node[links->node[k]];
        if (live->cls == CLASS_COUNT) live->cls = x.cls;
        return live->cls == x.cls;
    }
    if (x.kind == NODE_INDEX) x.a = links->icol[x.a];
    if (x.kind == NODE_LOAD) {
        x.b = links->up[x.b];
        x.varies = r->s->place[x.b].varies;
    }
    if (x.kind == NODE_INDEX) x.varies = r->s->icol[x.a].varies;
    if (x.kind == NODE_FN && fn_at(x.fn)->flags & FP_FAULTS) return false;
    if (x.kind == NODE_HOST) return false;
    for (int j = 0; j < x.nargs; j++) {
        x.arg[j] = links->node[x.arg[j]];
        r->s->node[x.arg[j]].uses++;
        x.varies |= r->s->node[x.arg[j]].varies;
    }
    links->node[k] = new_node(r, x);
    return links->node[k] != UNSET &&
           new_step(r, (step){.kind = STEP_NODE, .a = links->node[k]});
}

/* The result of a reduction is a node of the outer body. If it goes on across
 * rounds of the outer loop, each round starts from nothing and is added. */
static bool link_reduction(reader *r, const sink *x, nest_links *links)
{
    const uint16_t init = r->v[x->a];
    node n = {.kind = NODE_INNER, .cls = x->cls, .fn = x->fn, .varies = true, .at = x->at};
    if (x->right) return false;
    if (init != UNSET) {
        n.nargs = 1;
        n.arg[0] = init;
        if (r->s->node[init].cls != x->cls || !define(r, x->a, n)) return false;
        links->result = r->v[x->a];
        return true;
    }
    if (x->fn != FN_ADD) return false; /* nothing is 0 for sums alone */
    const uint16_t own = read_value(r, x->a);
    links->result = new_node(r, n);
    if (own == UNSET || links->result == UNSET || r->s->nsink == SINK_MAX) return false;
    r->s->node[own].uses += 2;
    r->s->node[own].cls = x->cls;
    r->s->node[links->result].uses++;
    sink out = *x;
    out.node = links->result;
    r->s->sink[r->s->nsink++] = out;
    r->sunk = true;
    return new_step(r, (step){.kind = STEP_NODE, .a = links->result});
}

static bool has_inner(const loop_summary *s)
{
    for (int k = 0; k < s->nstep; k++)
        if (s->step[k].kind == STEP_INNER) return true;
    return false;
}

static bool link_inner(reader *r, const loop_summary *in, nest_links *links)
{
    links->result = UNLINKED;
    if (in->nsink > 1 || (!in->nsink && !has_inner(in)) || r->sunk ||
        in->l->outer != r->s->l || in->l->unordered)
        return false;
    for (int k = 0; k < in->nicol; k++) {
        links->icol[k] = UNLINKED;
        if (in->icol[k].kind == ICOL_FIXED) {
            links->icol[k] = read_integer(r, in->icol[k].a);
        } else if (in->icol[k].kind != ICOL_LOOP) {
            return false;
        }
    }
    for (int k = 0; k < in->nstep; k++)
        if (in->step[k].kind != STEP_NODE && in->step[k].kind != STEP_PLACE &&
            in->step[k].kind != STEP_INNER)
            return false;
    if (!link_places(r, in, links)) return false;
    const sink *x = in->nsink ? &in->sink[0] : NULL;
    const bool reduces = x && x->kind == SINK_REDUCE;
    if (x && x->kind == SINK_HOST) return false;
    for (int k = 0; k < in->nnode; k++) {
        links->node[k] = UNLINKED;
        const bool own = reduces && in->node[k].kind == NODE_LIVE && in->node[k].a == x->a;
        if (!in->node[k].varies && !own && !link_node(r, in, links, k)) return false;
    }
    if (reduces) return link_reduction(r, x, links);
    r->sunk = true;
    return new_step(r, (step){.kind = STEP_INNER});
}

/* ---- entries ------------------------------------------------------------------- */

typedef struct registers {
    uint16_t few[256], *all;
    int64_t n;
} registers;

static bool reader_open(reader *r, const machine *mc, loop *l, loop_summary *out,
                        registers *g)
{
    const program *p = mc->p;
    if (l->subsections) return false; /* a loop that steps, with cursors of its own */
    g->n = 2 * p->nv + p->ni + p->nc;
    g->all = g->n <= 256 ? g->few : mem_array(mc->cx, g->n, sizeof *g->all);
    if (!g->all) return false;
    memset(g->all, 0xff, (size_t)g->n * sizeof *g->all);
    *r = (reader){.mc = mc,
                  .s = out,
                  .v = g->all,
                  .live = g->all + p->nv,
                  .i = g->all + 2 * p->nv,
                  .c = g->all + 2 * p->nv + p->ni};
    out->l = l;
    out->nnode = out->nstep = out->nsink = 0;
    return true;
}

static bool reader_close(reader *r, registers *g, bool ok)
{
    if (g->all != g->few) mem_free(r->mc->cx, g->all, (size_t)g->n * sizeof *g->all);
    return ok;
}

bool summary_read(const machine *mc, loop *l, loop_summary *out)
{
    reader r;
    registers g;
    if (!reader_open(&r, mc, l, out, &g)) return false;
    const bool ok =
        read_operands(&r) && read_range(&r, l->first + 1, l->last) && leaves_nothing(&r);
    return reader_close(&r, &g, ok);
}

bool summary_read_nest(const machine *mc, loop *l, const loop_summary *in,
                       loop_summary *out, nest_links *links)
{
    reader r;
    registers g;
    if (!reader_open(&r, mc, l, out, &g)) return false;
    const bool ok = read_operands(&r) && read_range(&r, l->first + 1, in->l->first) &&
                    link_inner(&r, in, links) && read_range(&r, in->l->last + 1, l->last) &&
                    leaves_nothing(&r);
    return reader_close(&r, &g, ok);
}
