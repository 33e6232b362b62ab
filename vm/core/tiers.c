/* tiers.c: what runs a loop: faster tiers are given it, one in front of the other, and give
 * it back.
 */
#include "machine.h"

void machine_patch(machine *mc, lop *at, int op)
{
    at->op = (uint16_t)op;
    at->label = mc->labels ? mc->labels[op] : NULL;
}

void machine_give(machine *mc, super *s)
{
    lop *at = &mc->code[s->loop->first];
    s->behind = s->loop->super;
    machine_patch(mc, at, LOP_SUPER);
    at->u.super = s;
    s->loop->super = s;
}

void machine_take_back(machine *mc, loop *l)
{
    lop *at = &mc->code[l->first];
    for (super *s = l->super, *behind; s; s = behind) {
        behind = s->behind;
        s->free(mc, s);
        mem_free(mc->cx, s, s->size);
    }
    if (!l->super) return;
    l->super = NULL;
    machine_patch(mc, at, LOP_LOOP);
    at->u.loop = l;
}
