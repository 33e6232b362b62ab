/* nest_bounds.c: fibers whose bounds aren't a table in the coordinates' width, for kernels
 * that read both in one: a result of more entries than 32 bits can count has wider bounds,
 * however small its coordinates are; and what lies below a group of equal coordinates
 * (coo) has no table at all, its bounds are where the group begins and ends.
 *
 * The bounds of a strip's lanes are written down in the coordinates' width, counted from
 * the least of them, and coordinates and values begin there. So no kernel needs a second
 * instance; it costs a pass over the bounds. Where lanes lie too far from each other for
 * that, the kernel runs for some of them at a time.
 */
#include "super.h"

/* How far from the least bound the others are counted; less where strips are small, so that
 * small cases stop between lanes, too. */
enum { REACH = STRIP < 64 ? 40 : INT32_MAX };

/* So many coordinates of lanes beside each other are brought together where they lie apart
 * (interleaved with others'). */
enum { PACKED = 8 * STRIP };

/* Lanes' bounds, and which of them are a lane's. */
struct nest_bounds {
    int32_t at[2 * STRIP];
    int64_t place[STRIP];
    column parent;
    int64_t first;
    bool beside; /* fibers follow each other */
    int32_t crd[PACKED];
};

/* Whether a walk is such a one. */
static bool rewritten(const nest_walk *w)
{
    return w->wide || w->grouped;
}

/* Lane k's fiber, [*p, *e), which is empty where there is none. */
static void fiber_of(const nest_walk *w, int k, int64_t *p, int64_t *e)
{
    const int64_t parent = walk_parent(w, k);
    *p = *e = 0;
    if (parent < 0) return;
    *p = w->wide ? w->wide[parent] : parent;
    *e = w->wide             ? w->wide[parent + 1]
         : w->parent->ranged ? column_end(w->parent, k)
                             : parent + 1;
}

/* Whether the fibers of these lanes follow each other. */
static bool beside(const nest_walk *w, int from, int to)
{
    const column *c = w->parent;
    if (w->wide) return c->form == COL_STEP;
    if (c->form != COL_ARRAY || !c->ranged) return false;
    int64_t apart = 0;
    for (int k = from; k < to - 1; k++)
        apart |= c->end[k] ^ c->data[k + 1];
    return !apart && c->data[from] >= 0;
}

/* The lane behind those, from `from` on, that can be counted from b->first. */
static int find_lanes(const nest_walk *w, nest_bounds *b, int from, int to, int64_t reach)
{
    int64_t first = INT64_MAX, last = 0, p, e;
    b->beside = beside(w, from, to);
    if (b->beside) {
        fiber_of(w, from, &b->first, &e);
        fiber_of(w, to - 1, &p, &last);
        if (last - b->first <= reach) return to;
    }
    for (int k = from; k < to; k++) {
        fiber_of(w, k, &p, &e);
        if (p == e) continue;
        const int64_t low = p < first ? p : first, high = e > last ? e : last;
        if (high - low > reach && k > from) return k;
        b->first = first = low;
        last = high;
    }
    if (first > last) b->first = 0; /* all of them are empty */
    return to;
}

static void put_bounds(const nest_walk *w, nest_bounds *b, int from, int to)
{
    const bool one = w->parent->form == COL_FIXED;
    for (int k = from, n = 0; k < to && !(one && n); k++, n++) {
        int64_t p, e;
        fiber_of(w, k, &p, &e);
        b->at[2 * n] = p == e ? 0 : (int32_t)(p - b->first);
        b->at[2 * n + 1] = p == e ? 0 : (int32_t)(e - b->first);
        b->place[n] = walk_parent(w, k) < 0 ? NONE : 2 * n;
    }
    b->parent = (column){
        .form = one ? COL_FIXED : COL_ARRAY, .base = b->place[0], .data = b->place - from};
}

/* Fibers that follow each other share bounds. */
static void put_beside(const nest_walk *w, nest_bounds *b, int from, int to)
{
    const column *c = w->parent;
    const int64_t *bounds = w->wide ? w->wide + c->base + from : c->data + from;
    int64_t p, last;
    fiber_of(w, to - 1, &p, &last);
    b->first = bounds[0];
    for (int k = 0; k < to - from; k++)
        b->at[k] = (int32_t)(bounds[k] - b->first);
    b->at[to - from] = (int32_t)(last - b->first);
    b->parent = (column){.form = COL_STEP, .full = c->full, .base = -from};
}

/* Coordinates that lie apart, one behind the other. */
static void pack(nest_walk *w, nest_bounds *b, int lanes)
{
    const int32_t *crd = w->crd;
    const int n = b->at[lanes];
    if (!b->beside || w->step == 1 || n > PACKED) return;
    fetch_far(crd, b->first, n, w->step * (int64_t)sizeof *crd);
    for (int k = 0; k < n; k++)
        b->crd[k] = crd[k * w->step];
    w->crd = b->crd;
    w->step = 1;
}

/* What lies at positions from b->first on. */
static void shift(const machine *mc, nest *ns, int walk)
{
    nest_walk *w = &ns->walk[walk];
    const nest_bounds *b = &ns->bounds[walk];
    w->bounds = b->at;
    w->parent = &b->parent;
    w->entries -= b->first;
    w->crd = (const int32_t *)w->crd + b->first * w->step;
    for (int k = 0; k < ns->nload; k++) {
        nest_load *x = &ns->load[k];
        if (x->walk != walk) continue;
        const stc_type t = (stc_type)mc->p->tensor[ns->in.node[x->node].a].type;
        x->vals = (const char *)x->vals + b->first * (int64_t)type_size(t);
    }
}

stc_status nest_bounds_run(machine *mc, nest *ns)
{
    nest_walk walk[NEST_WALKS];
    nest_load load[NEST_LOADS];
    const int from = ns->from, to = ns->to;
    const bool whole = ns->nwalk > 1 || ns->chooses; /* then all lanes lie near */
    const int64_t reach = whole ? INT32_MAX : REACH;
    stc_status status = STC_OK;
    if (!ns->bounds) ns->bounds = mem_array(mc->cx, NEST_WALKS, sizeof *ns->bounds);
    if (!ns->bounds) return mc->cx->diag.status;
    memcpy(walk, ns->walk, sizeof walk);
    memcpy(load, ns->load, sizeof load);
    for (; !status && ns->from < to; ns->from = ns->to) {
        ns->to = to;
        for (int w = 0; w < ns->nwalk; w++)
            if (rewritten(&ns->walk[w]))
                ns->to = find_lanes(&ns->walk[w], &ns->bounds[w], ns->from, ns->to, reach);
        for (int w = 0; w < ns->nwalk; w++) {
            if (!rewritten(&ns->walk[w])) continue;
            if (ns->bounds[w].beside)
                put_beside(&ns->walk[w], &ns->bounds[w], ns->from, ns->to);
            else
                put_bounds(&ns->walk[w], &ns->bounds[w], ns->from, ns->to);
            shift(mc, ns, w);
            pack(&ns->walk[w], &ns->bounds[w], ns->to - ns->from);
        }
        status = ns->kernel->run(mc, ns);
        memcpy(ns->walk, walk, sizeof walk);
        memcpy(ns->load, load, sizeof load);
    }
    ns->from = from;
    ns->to = to;
    return status;
}

void nest_bounds_free(machine *mc, nest_bounds *b)
{
    mem_free(mc->cx, b, b ? NEST_WALKS * sizeof *b : 0);
}
