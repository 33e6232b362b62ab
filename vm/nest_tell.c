/* nest_tell.c: lanes that had a term, for a nest whose inner loop tells so beside what
 * it reduces.
 *
 * Kernels know nothing of it. A lane whose value has changed had a term; of those that
 * are as they began, it is looked for: whether a fiber has an element, two fibers share
 * one, or something is stored where one is located.
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

static int64_t coordinate(const nest *ns, const nest_walk *w, int64_t p)
{
    if (ns->width == 8) return ((const int64_t *)w->crd)[p * w->step];
    return ((const int32_t *)w->crd)[p * w->step];
}

static bool fiber_of(const nest *ns, const nest_walk *w, int k, int64_t *p, int64_t *e)
{
    return ns->width == 8 ? span_64(w, k, p, e) : span_32(w, k, p, e);
}

static bool shared(const nest *ns, int k)
{
    const nest_walk *a = &ns->walk[0], *b = &ns->walk[1];
    int64_t p, pe, q, qe;
    if (!fiber_of(ns, a, k, &p, &pe) || !fiber_of(ns, b, k, &q, &qe)) return false;
    while (p < pe && q < qe) {
        const int64_t i = coordinate(ns, a, p), j = coordinate(ns, b, q);
        if (i == j) return true;
        p += i < j;
        q += j < i;
    }
    return false;
}

/* Whether some element of the fiber is stored in the located level, too. */
static bool probed(const nest *ns, const nest_load *x, int k)
{
    const int64_t parent = column_get(x->parent, k);
    int64_t p, e, at;
    if (parent < 0 || !fiber_of(ns, &ns->walk[0], k, &p, &e)) return false;
    for (; p < e; p++) {
        const int64_t i = coordinate(ns, &ns->walk[0], p);
        if (x->probe->kind->locate_many(x->probe, parent, &i, sizeof i, sizeof i, 1, &at))
            return true;
    }
    return false;
}

static bool had_term(const nest *ns, int k)
{
    int64_t p, e;
    for (int j = 0; j < ns->nload; j++)
        if (ns->load[j].walk < 0 && ns->load[j].probe) return probed(ns, &ns->load[j], k);
    if (ns->shape == NEST_MERGE) return shared(ns, k);
    if (!nest_lane(ns, k)) return false;
    if (ns->shape == NEST_RANGE) return ns->lo < ns->hi;
    return fiber_of(ns, &ns->walk[0], k, &p, &e) && p < e;
}

/* After a kernel has run all lanes of a strip. */
void nest_tell(nest *ns)
{
    if (!ns->tells) return;
    const node *r = &ns->o.s.node[ns->link.result], *t = &ns->o.s.node[ns->link.results[1]];
    const vcolumn *sum = &ns->o.node[ns->link.result], *from = &ns->o.node[r->arg[0]];
    const vcolumn *old = &ns->o.node[t->arg[0]];
    vcolumn *told = &ns->o.node[ns->link.results[1]];
    const size_t size = class_size((vclass)r->cls);
    int64_t *out = told->data;
    for (int k = 0; k < ns->o.n; k++) {
        const void *start =
            from->p ? (const char *)from->p + (size_t)k * size : (const void *)&from->one;
        const bool changed = memcmp((const char *)sum->p + (size_t)k * size, start, size);
        out[k] = changed || had_term(ns, k) ? -1
                 : old->p                   ? ((const int64_t *)old->p)[k]
                                            : old->one.i64;
    }
}
