/* lazy.c: reductions that are evaluated where their value is taken, if ever.
 *
 * One that could fault and stands in a side of `select`, `&&` or `||` that may not be
 * taken isn't a temporary that is there before. Where its loops would stand, only
 * what they need is remembered; they are emitted within the branch that reads it.
 * If there are loops in between, it is still evaluated once for all their rounds:
 *
 *     const done, 0                   in place of the reduction
 *     loop …
 *       if condition                  of the side
 *         if done  else
 *           …loops…, const done, 1
 *         endif
 */
#include "lower.h"
#include <string.h>

void lower_lazy(lowering *lo, const cin *c)
{
    lazy_value *z = &lo->lazy[c->temp];
    *z = (lazy_value){.node = c, .bound = lo->bound, .subsect = lo->subsect};
    for (const cin *t = c->body; t; t = t->next) {
        if (t->kind != CIN_TEMP || !t->tells) continue;
        lo->told[t->temp] = true; /* it is read even if nothing is evaluated */
        lo->temp[t->temp] = (uint16_t)lower_vreg(lo);
        EMIT(lo, OP_CONST, lo->temp[t->temp], lower_iconst(lo, 0));
    }
    if (!c->once) return;
    const cin *temp = c->body;
    z->value = lower_vreg(lo);
    z->done = lower_vreg(lo);
    EMIT(lo, OP_CONST, z->value, lower_const(lo, temp->cls, (value){0}));
    EMIT(lo, OP_CONST, z->done, lower_iconst(lo, 0));
}

/* The loops, as if they stood where they were planned. */
static void evaluate(lowering *lo, const lazy_value *z)
{
    const uint64_t bound = lo->bound;
    uint16_t *subsect = lo->subsect;
    int load[PLAN_ACCESSES];
    memcpy(load, lo->load, sizeof load);
    lo->bound = z->bound;
    lo->subsect = z->subsect;
    lower_nodes(lo, z->node->body);
    lo->bound = bound;
    lo->subsect = subsect;
    memcpy(lo->load, load, sizeof load);
}

int lower_demanded(lowering *lo, const bexpr *r)
{
    const lazy_value *z = &lo->lazy[r->mark];
    if (!z->node) return lo->temp[r->mark];
    if (!z->node->once) {
        evaluate(lo, z);
        return lo->temp[r->mark];
    }
    EMIT(lo, OP_IF, z->done);
    EMIT(lo, OP_ELSE, );
    evaluate(lo, z);
    EMIT(lo, OP_MOV, z->value, lo->temp[r->mark]);
    EMIT(lo, OP_CONST, z->done, lower_iconst(lo, 1));
    EMIT(lo, OP_ENDIF, );
    return z->value;
}
