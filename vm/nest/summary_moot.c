/* summary_moot.c: reductions whose value doesn't matter once another one is settled.
 *
 * `all(k: B(i,k) && k > 2)` over what csr stores counts its terms as well, so that the fill
 * can join in where some are missing. But all that becomes of the count is
 * `t = and(t, …)`, and that is false if t is, whatever was counted: the count needn't be
 * finished where t has reached its function's annihilator (array programming paper, section
 * 7.2). To see that, what is computed of a register is followed behind the loop, out of the
 * loops around, until nothing reads it any more.
 */
#include "summary.h"
#include "../code/text.h"

enum { TAINTED_MAX = 8 };

/* What is followed: registers that hang on x's; where all of them are to end. */
typedef struct flow {
    const reader *r;
    const sink *x, *to;
    uint16_t reg[TAINTED_MAX];
    int n;
    bool marks; /* x's truth is a bit of some mask */
} flow;

/* Some value settles fn in that class, whatever it is combined with. (The end of an element
 * type settles only what has this type.) */
static bool settles(const sink *x)
{
    const bool whole = x->cls == CLASS_I64 || x->cls == CLASS_U64;
    for (int k = 0; x->kind == SINK_REDUCE && whole && k < 3; k++) {
        const fn_prop *p = &fn_at(x->fn)->annihilator[k];
        if (p->position == AT_ANY && p->value >= FC_ZERO && p->value <= FC_ONES)
            return true;
    }
    return false;
}

/* Computes a value of values, and can't fail. */
static bool pure(const insn *in)
{
    if (in->op == OP_FN1 || in->op == OP_FN2 || in->op == OP_FN3)
        return !(fn_at(in->arg[1])->flags & FP_FAULTS);
    return in->op == OP_MOV || in->op == OP_CONV;
}

/* reg = fn(reg, …), as the sink does it. */
static bool joins(const insn *in, const sink *x)
{
    const uint16_t *a = in->arg;
    return in->op == OP_FN2 && a[0] == x->a && a[1] == x->fn && a[2] == x->cls &&
           (a[3] == x->a || a[4] == x->a);
}

/* Grows by ones: once it is above 0 it stays there. */
static bool counts(const loop_summary *s, const reader *r, const sink *x)
{
    const node *one = &s->node[x->node];
    return x->fn == FN_ADD && x->cls == CLASS_I64 && one->kind == NODE_CONST &&
           r->mc->p->konst[one->a].v.i64 == 1;
}

static bool jumps(const insn *in)
{
    return op_opens(in->op) || op_closes(in->op) || in->op == OP_ELSE ||
           in->op == OP_SKIP || in->op == OP_WITHIN || in->op == OP_BREAK ||
           in->op == OP_TEST;
}

static void drop(flow *f, int k)
{
    f->reg[k] = f->reg[--f->n];
}

/* Whether a register is read from lop k on, or in another round of a loop around l, which
 * may be by l itself. */
static bool read_later(const flow *f, const loop *l, int k, uint16_t reg)
{
    const machine *mc = f->r->mc;
    for (const loop *o = l->outer; o; o = o->outer)
        if (value_read_in(mc, o->first + 1, o->last, reg)) return true;
    return value_read_from(mc, f->r->reads, l, k, reg);
}

static void drop_unread(flow *f, const loop *l, int k)
{
    for (int j = f->n - 1; j >= 0; j--)
        if (!read_later(f, l, k, f->reg[j])) drop(f, j);
}

/* What a plain instruction makes of them; false: it uses one otherwise. */
static bool follow(flow *f, const insn *in)
{
    const bool writes = op_at(in->op)->operands[0] == 'V';
    bool reads = false;
    if (joins(in, f->to)) return true;
    if (writes && in->arg[0] == f->to->a) return false;
    for (int j = 0; j < f->n; j++)
        reads |= insn_reads_value(in, f->reg[j]);
    if (in->op == OP_MARK && reads && in->arg[2] == f->x->a) {
        f->marks = true;
        return counts(f->r->s, f->r, f->x);
    }
    if (reads && !pure(in)) return false;
    for (int j = f->n - 1; writes && j >= 0; j--)
        if (f->reg[j] == in->arg[0]) drop(f, j);
    if (!reads) return true;
    if (f->n == TAINTED_MAX) return false;
    f->reg[f->n++] = in->arg[0];
    return true;
}

/* Rounds of loop o reduce both further, and do nothing else with them. */
static bool reduces_on(const flow *f, const loop *o)
{
    for (int k = o->first + 1; k < o->last; k++) {
        const insn *in = insn_of(f->r->mc, k);
        const bool writes = op_at(in->op)->operands[0] == 'V';
        if (writes && in->arg[0] == f->to->a && !joins(in, f->to)) return false;
        if (insn_reads_value(in, f->x->a) && !joins(in, f->x)) return false;
    }
    return f->n == 1 && f->reg[0] == f->x->a;
}

static bool ends_in(flow *f)
{
    const machine *mc = f->r->mc;
    const loop *l = f->r->s->l;
    for (int k = l->last + 1; f->n && k < mc->nmain; k++) {
        const insn *in = insn_of(mc, k);
        if (!jumps(in)) {
            if (!follow(f, in)) return false;
            continue;
        }
        drop_unread(f, l, k);
        if (!f->n) break;
        if (!l->outer || k != l->outer->last || !reduces_on(f, l->outer)) return false;
        l = l->outer;
    }
    return true;
}

void summary_find_moot(reader *r)
{
    loop_summary *s = r->s;
    for (int k = 0; k < s->nsink; k++) {
        sink *x = &s->sink[k];
        x->moot = 0;
        for (int j = 0; j < s->nsink && x->kind == SINK_REDUCE && !x->moot; j++) {
            const sink *to = &s->sink[j];
            flow f = {.r = r, .x = x, .to = to, .reg = {x->a}, .n = 1};
            if (to->a == x->a || !settles(to) || !ends_in(&f)) continue;
            x->moot = (uint8_t)(j + 1);
            x->tells = f.marks;
        }
    }
}
