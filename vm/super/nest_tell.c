/* nest_tell.c: lanes that had a term, for a nest whose inner loop tells so beside what
 * it reduces.
 *
 * Kernels don't compute what the second sink reduces: they know which lanes had a round,
 * and set all bits of those.
 */
#include "super.h"
#include <string.h>

/* An inner loop's second sink, which sets all bits of a register once it has a round. */
bool nest_tells(const machine *mc, const loop_summary *in)
{
    if (in->nsink != 2) return false;
    const sink *x = &in->sink[1];
    const node *v = &in->node[x->node];
    return in->sink[0].kind == SINK_REDUCE && x->kind == SINK_REDUCE &&
           x->a != in->sink[0].a && x->fn == FN_BITOR && x->cls == CLASS_I64 &&
           v->kind == NODE_CONST && mc->p->konst[v->a].v.i64 == -1;
}

/* What lanes begin with, before a kernel runs those of a strip. */
void nest_tell_none(nest *ns)
{
    if (!ns->tells) return;
    const uint16_t id = ns->link.results[1];
    ns->told = ns->o->node[id].data;
    memcpy(ns->told, strip_spread(ns->o, ns->o->s.node[id].arg[0]),
           (size_t)ns->o->n * sizeof *ns->told);
}
