/* parallel_find.c: which loops may be shared by threads: those whose rounds don't
 * need each other.
 *
 * Takes a linked program, which the verifier accepted, and reads the body of a
 * loop outside all others once, from top to bottom. A register is the round's own
 * if every path writes it before it is read; one that isn't is an accumulator, or
 * the loop isn't shared. A tensor is the round's own, or every place of it that is
 * written lies below the loop's own coordinate. What is written in the loop must
 * not be read after it, accumulators aside.
 *
 * A nest that a faster tier runs as a whole, in an order of its own, may also be shared
 * by the range of a loop inside.
 *
 * Nothing here is a promise of the program's author: bytecode from a file is
 * examined like any other.
 */
#include "parallel_find.h"
#include "../code/text.h"
#include <string.h>

bool not_shared(finder *f, const char *why)
{
    if (!f->out->why) f->out->why = why;
    return false;
}

/* ---- registers --------------------------------------------------------------------- */

static void mark_written(void *who, int cell)
{
    finder *f = who;
    f->written[cell] = 1;
}

static void define(void *who, int cell)
{
    finder *f = who;
    if (!f->defined[cell]) f->defined[cell] = (uint16_t)(1 + f->depth);
}

/* The two arguments of a reduction are the register itself and what is added. */
static bool accumulates(const insn *in, int reg)
{
    return in->op == OP_FN2 && in->arg[0] == reg &&
           (in->arg[3] == reg) != (in->arg[4] == reg);
}

static bool new_reduction(finder *f, const insn *in, int reg)
{
    parallel_loop *o = f->out;
    if (f->sum[reg]) return true; /* sums_hold looks whether it is the same */
    const fn_info *fn = fn_at(in->arg[1]);
    const int both = FP_COMMUTATIVE | FP_ASSOCIATIVE;
    if ((fn->flags & both) != both)
        return not_shared(f, "what combines them isn't associative and commutative");
    if (o->nsum == PARALLEL_SUMS) return not_shared(f, "they reduce too many values");
    const vclass cls = (vclass)in->arg[2];
    if (!(fn->identity[0].classes >> cls & 1))
        return not_shared(f, "what combines them has no identity to start with");
    fn_constant(fn->identity[0].value, cls, class_type(cls), &o->sum[o->nsum].identity);
    o->sum[o->nsum].reg = (uint16_t)reg;
    o->sum[o->nsum].cls = in->arg[2];
    o->sum[o->nsum].fn = in->arg[1];
    f->sum[reg] = (uint8_t)++o->nsum;
    return true;
}

/* A read in the loop: of what this round wrote, of what no round does, or by an
 * accumulator of itself. */
static bool read_in_loop(void *who, const insn *in, int reg)
{
    finder *f = who;
    if (f->defined[reg] || !f->written[reg]) return true;
    if (reg < f->p->nv && accumulates(in, reg)) return new_reduction(f, in, reg);
    return not_shared(f, "each needs what those before it computed");
}

static bool read_after(void *who, const insn *in, int cell)
{
    const finder *f = who;
    (void)in;
    if (f->defined[cell] || !f->written[cell]) return true;
    return cell < f->p->nv && f->sum[cell];
}

/* What a block wrote may not be written after it, but for what both branches of an
 * if wrote. */
static void close_block(finder *f, int op)
{
    const uint16_t in = (uint16_t)(1 + f->depth);
    for (int c = 0; c < f->ncell; c++) {
        const bool wrote = f->defined[c] >= in, both = wrote && f->other[c] == in;
        if (f->other[c] == in) f->other[c] = 0;
        if (wrote && op == OP_ELSE && !f->other[c]) f->other[c] = in;
        if (wrote) f->defined[c] = both ? in - 1 : 0; /* endif: then alone */
    }
    f->depth--;
}

/* One instruction of a straight reading: reads, blocks, writes. */
static bool pass_over(finder *f, const insn *in, cell_test read)
{
    const int op = in->op;
    if (op_closes(op) || op == OP_ELSE) close_block(f, op);
    if (op == OP_END || op == OP_ENDWHILE) f->loops--;
    if (!insn_each_read(f->p, in, read, f)) return false;
    if (op_opens(op) || op == OP_ELSE) f->depth++;
    if (op == OP_LOOP || op == OP_WHILE) f->loops++;
    insn_each_write(f->p, in, define, f);
    return true;
}

static bool reads_no_sum(void *who, const insn *in, int reg)
{
    const finder *f = who;
    return reg >= f->p->nv || !f->sum[reg] || accumulates(in, reg);
}

/* An accumulator is written and read by its reductions alone, all by one function. */
static bool sums_hold(finder *f)
{
    for (int k = f->l->first + 1; k < f->l->last; k++) {
        const insn *in = insn_of(f->mc, k);
        if (!insn_each_read(f->p, in, reads_no_sum, f)) return false;
        const uint16_t reg = in->arg[0];
        if (op_at(in->op)->operands[0] != 'V' || !f->sum[reg]) continue;
        const parallel_loop *o = f->out;
        const int n = f->sum[reg] - 1;
        if (!accumulates(in, reg) || in->arg[1] != o->sum[n].fn) return false;
    }
    return true;
}

/* `outside`: how many blocks are open around the loop. */
static bool find_registers(finder *f, int outside)
{
    const loop *l = f->l;
    /* subsections from outside aren't copied; they count as changing */
    for (int k = 0; k < l->last; k++)
        if (k >= l->first || insn_of(f->mc, k)->op == OP_SUBSECT)
            insn_each_write(f->p, insn_of(f->mc, k), mark_written, f);
    /* what the loop itself sets is each round's own; its walkers it moves */
    insn_each_write(f->p, insn_of(f->mc, l->first), define, f);
    for (int k = l->first + 1; k < l->last; k++) {
        const insn *in = insn_of(f->mc, k);
        if (in->op == OP_BREAK && in->arg[1] > f->loops) return false; /* out of it */
        if (!pass_over(f, in, read_in_loop)) return false;
    }
    if (!sums_hold(f)) return false;
    memset(f->defined, 0, (size_t)f->ncell * sizeof *f->defined);
    memset(f->other, 0, (size_t)f->ncell * sizeof *f->other);
    f->depth = outside;
    f->loops = 0;
    for (int k = l->last + 1; k < f->mc->nmain; k++)
        if (!pass_over(f, insn_of(f->mc, k), read_after)) return false;
    return true;
}

/* ---- the loop ---------------------------------------------------------------------- */

/* Whether a loop moves over subsections: these its thread alone has. */
static bool over_subsections(const finder *f, const loop *l)
{
    for (int b = 0; b < l->merge->count; b++) {
        const merge_operand *o = &l->merge->operand[b];
        if (o->role <= MERGE_FOLLOW && f->mc->c[o->cursor].subsections) return true;
    }
    return false;
}

static void begin_again(finder *f)
{
    parallel_loop *o = f->out;
    memset(f->defined, 0, 2 * (size_t)f->ncell * sizeof *f->defined);
    memset(f->written, 0, 2 * (size_t)f->ncell);
    memset(f->stored, 0, (size_t)f->p->ntensor * sizeof *f->stored);
    memset(o->sharing, 0, (size_t)f->p->ntensor);
    o->nsum = o->nparts = o->nrows = o->nmeet = o->nweight = 0;
    o->step = 1;
    o->why = NULL;
    f->depth = f->loops = 0;
}

static bool find(finder *f)
{
    const merge_desc *m = f->l->merge;
    begin_again(f);
    if (over_subsections(f, f->l))
        return not_shared(f, "they visit the subsections of one operand in turn");
    for (int b = 0; b < m->count; b++) {
        const merge_operand *o = &m->operand[b];
        if (o->role != MERGE_WALK) continue;
        const int t = walked_tensor(f, o->cursor);
        if (t < 0 || !(format_props(&f->p->tensor[t].fmt, 0) & PROP_ORDERED))
            return not_shared(f,
                              "what it walks isn't the first level of a tensor, in order");
    }
    if (!find_registers(f, 0)) return not_shared(f, "what they compute is read after them");
    if (!find_tensors(f, f->l->first + 1, f->l->last)) return false;
    find_weights(f);
    return true;
}

/* ---- a loop inside ----------------------------------------------------------------- */

/* How many loops are open around `inner` within `whole`. Nothing else is: what runs all
 * of it in an order of its own has nothing but loops. */
static int loops_around(const finder *f, const loop *whole, const loop *inner)
{
    int depth = 0;
    for (int k = whole->first; k < inner->first; k++) {
        const int op = insn_of(f->mc, k)->op;
        depth += (op == OP_LOOP) - (op == OP_END);
    }
    return depth;
}

/* Each thread runs all of `whole`, with part of the range of a loop inside. So the
 * rounds of either may not need each other, and all that is stored must lie below the
 * inner loop's own coordinates. */
static bool find_inside(finder *f, const loop *whole, const loop *inner)
{
    const int outside = loops_around(f, whole, inner);
    if (over_subsections(f, whole) || over_subsections(f, inner)) return false;
    for (int k = whole->first; k < whole->last; k++) {
        const int op = insn_of(f->mc, k)->op;
        const bool around = k <= inner->first || k >= inner->last;
        if (around &&
            (op == OP_IF || op == OP_WHILE || strpbrk(op_at(op)->operands, "RWUE")))
            return false; /* it makes something, calls, or asks for a range */
    }
    begin_again(f);
    f->l = whole;
    if (!find_registers(f, 0) || f->out->nsum) return false;
    begin_again(f);
    f->l = inner;
    if (!find_registers(f, outside) || f->out->nsum) return false;
    if (!find_tensors(f, inner->first + 1, inner->last) || f->out->step != 1 ||
        f->out->nparts)
        return false;
    find_weights(f);
    return true;
}

/* Where rounds of the outermost loop store into the same places, but what runs it takes
 * all rounds in an order of its own: a loop inside will do. Else they meet. */
static bool find_any(finder *f)
{
    const loop *whole = f->l;
    if (find(f)) return true;
    for (int k = 0; k < f->mc->nloop && !f->out->asked; k++) {
        const loop *inner = &f->mc->loops[k];
        if (!whole->super || !whole->super->any_order || inner->first <= whole->first ||
            inner->last >= whole->last || !find_inside(f, whole, inner))
            continue;
        f->out->number = k;
        return true;
    }
    f->l = whole;
    f->meets = true;
    return find(f) || not_shared(f, "they need each other");
}

bool finder_open(finder *f)
{
    const program *p = f->p;
    arena *const a = &f->room;
    arena_init(a, f->mc->cx);
    f->ncell = cells_of(p);
    f->defined = arena_array(a, 2 * f->ncell + 1, sizeof *f->defined);
    f->written = arena_array(a, 2 * f->ncell + 1, sizeof *f->written);
    f->stored = arena_array(a, p->ntensor + 1, sizeof *f->stored);
    f->holds = arena_array(a, p->nv + 1, sizeof *f->holds);
    f->r.cursor = arena_array(a, p->nc + 1, sizeof *f->r.cursor);
    f->r.room = arena_array(a, 1, linear_size(p) + 1);
    if (f->mc->cx->diag.status) return false;
    f->other = f->defined + f->ncell;
    f->sum = f->written + f->ncell;
    return true;
}

void finder_close(finder *f)
{
    arena_free(&f->room);
}

bool parallel_registers(finder *f, const loop *l, int outside, parallel_loop *out)
{
    f->out = out;
    begin_again(f);
    f->l = l;
    if (over_subsections(f, l))
        return not_shared(f, "they visit the subsections of one operand in turn");
    return find_registers(f, outside) ||
           not_shared(f, "what they compute is read after them");
}

bool parallel_find(const machine *mc, int first, parallel_loop *out)
{
    finder f = {.mc = mc, .p = mc->p, .l = loop_of(mc, first), .out = out};
    out->number = out->whole = (int)(f.l - mc->loops);
    out->first = first;
    const bool found =
        finder_open(&f) ? find_any(&f) : not_shared(&f, "there is no memory to find out");
    finder_close(&f);
    return found;
}
