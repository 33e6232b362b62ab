/* gather.c: subscripts that are computed, x(p(i)): their values, and the proof that they
 * lie inside.
 *
 * A level that is read at one is located, or sought, at the top of the loop that settles
 * it, on nothing if the coordinate is outside. It is checked there, or, where rounds may be
 * left out after that, where the value is loaded. What stands in a side that may not be
 * taken is computed ahead without errors, and checked when the side is.
 */
#include "lower.h"

static void compute(lowering *lo, int index)
{
    const uint64_t bit = UINT64_C(1) << index;
    const bexpr *e = lo->pl->s->index[index].value;
    if (!e || lo->computed & bit) return;
    lo->computed |= bit;
    lo->checked &= ~bit;
    const int r = lower_expr(lo, e);
    const span saved = lo->at;
    lo->at = lo->pl->s->index[index].at;
    EMIT(lo, OP_INDEX, lo->index[index], r);
    lo->at = saved;
}

void lower_computed(lowering *lo, const affine *f)
{
    for (int t = 0; t < f->terms; t++)
        compute(lo, f->term[t].index);
}

void lower_bounds(lowering *lo, const affine *sub, int order)
{
    const span saved = lo->at;
    for (int m = 0; m < order; m++) {
        const int i = sub[m].terms == 1 ? sub[m].term[0].index : 0;
        const uint64_t bit = UINT64_C(1) << i;
        if (!(lo->computed & bit) || (lo->checked | lo->inside_all) & bit || !sub[m].terms)
            continue;
        lo->checked |= bit;
        lo->at = lo->pl->s->index[i].at;
        EMIT(lo, OP_BOUNDED, lo->index[i], lo->pl->s->index[i].hi);
    }
    lo->at = saved;
}

void lower_inside(lowering *lo, const paccess *x)
{
    if (!x->pad && !x->waits) lower_bounds(lo, x->sub, lo->p->tensor[x->source].order);
}

void lower_taken(lowering *lo, const bexpr *e)
{
    const uint64_t checked = lo->checked;
    for (int k = 0; k < e->nargs; k++)
        lower_taken(lo, e->args[k]);
    if (e->kind == B_ACCESS && e->nargs && !e->pad)
        lower_bounds(lo, e->sub, lo->p->tensor[e->tensor].order);
    if (e->kind == B_ACCESS && e->waits) lo->checked = checked; /* on this side alone */
}

/* ---- sides that may not be taken ------------------------------------------------------
 */

/* Of an access the computed subscripts, as a set. */
static uint64_t computed_of(const lowering *lo, const affine *sub, int order)
{
    uint64_t set = 0;
    for (int m = 0; m < order; m++)
        set |= affine_indices(&sub[m]) & lo->pl->computed_set;
    return set;
}

bool lower_may_leave(const lowering *lo, const bexpr *e)
{
    return expr_call_faults(e) &&
           computed_of(lo, e->sub, lo->p->tensor[e->tensor].order) & ~lo->inside_all;
}

/* Subscripts in sides that may not be taken that no loop changes. */
static uint64_t fixed_waiting(const lowering *lo)
{
    const plan *pl = lo->pl;
    uint64_t waiting = 0, fixed = 0;
    for (int k = 0; k < pl->naccess; k++) {
        const paccess *x = &pl->access[k];
        if (x->waits && !x->pad)
            waiting |= computed_of(lo, x->sub, pl->p->tensor[x->source].order);
    }
    for (int k = 0; k < pl->ncomputed; k++)
        if (!pl->computed[k].from) fixed |= UINT64_C(1) << pl->computed[k].index;
    return waiting & fixed;
}

static int both(lowering *lo, int a, int fn, int b, int c)
{
    const int is = lower_vreg(lo), out = lower_vreg(lo);
    EMIT(lo, OP_FN2, is, fn, CLASS_I64, b, c);
    if (a < 0) return is;
    EMIT(lo, OP_FN2, out, FN_AND, CLASS_I64, a, is);
    return out;
}

void lower_all(lowering *lo)
{
    /* a loop that threads share stands outside of conditions, too */
    const uint64_t fixed = lo->pl->schedule.shared ? 0 : fixed_waiting(lo),
                   computed = lo->computed, checked = lo->checked;
    int ok = -1;
    for (uint64_t set = fixed; set; set &= set - 1) {
        const bindex *i = &lo->pl->s->index[__builtin_ctzll(set)];
        const int at = lower_expr(lo, i->value), zero = lower_vreg(lo), n = lower_vreg(lo);
        EMIT(lo, OP_CONST, zero, lower_iconst(lo, 0));
        EMIT(lo, OP_EXTENT, n, i->hi);
        ok = both(lo, ok, FN_GE, at, zero);
        ok = both(lo, ok, FN_LT, at, n);
    }
    if (fixed) {
        EMIT(lo, OP_IF, ok);
        lower_forget(lo);
        lo->inside_all = fixed;
        lower_nodes(lo, lo->pl->root);
        lo->inside_all = 0;
        lo->computed = computed;
        lo->checked = checked;
        EMIT(lo, OP_ELSE, );
        lower_forget(lo);
    }
    lower_nodes(lo, lo->pl->root);
    if (fixed) EMIT(lo, OP_ENDIF, );
}
