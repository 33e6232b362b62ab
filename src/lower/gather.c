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
        if (!(lo->computed & bit) || lo->checked & bit || !sub[m].terms) continue;
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
