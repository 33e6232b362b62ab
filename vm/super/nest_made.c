/* nest_made.c: a factor that is made of what a fiber has itself: `abs(A(i,j)) * x(j)`, or
 * values of another type than the rest.
 *
 * A kernel walks positions of fibers, and what it finds at these needn't be a tensor's
 * array: the factor's values in some lanes' fibers are worked out first, a string of them
 * at once, and the kernel runs for those lanes as if they had been stored. So one function
 * more costs a pass over values, and not the kernel. Fibers that don't follow each other
 * are copied together for it. What could fail isn't made so.
 */
#include "super.h"
#include <string.h>

struct nest_made {
    strip g;       /* has the factor's nodes; positions are a column of it */
    uint16_t load; /* the factor, and its node and place                   */
    uint16_t node, place;
    void *vals; /* of a fiber longer than a strip, or in a narrower type */
    size_t room;
    void *bounds, *crd; /* of fibers that are copied together */
    column parent;
};

/* ---- matching ------------------------------------------------------------------ */

/* Whether a node of the inner loop is made of the one fiber's values, and of what is one
 * value for all lanes; *tree: the nodes that it takes. */
static bool own_value(const nest *ns, int id, uint64_t *tree)
{
    const node *x = &ns->in.node[id];
    if (!x->varies) return !ns->o->s.node[ns->link.node[id]].varies;
    *tree |= UINT64_C(1) << id;
    if (x->kind == NODE_LOAD) return ns->nwalk == 1 && x->b == ns->walk[0].place;
    if (x->kind == NODE_FN && x->fn_cls <= CLASS_U64 && fn_at(x->fn)->flags & FP_FAULTS)
        return false;
    if (x->kind != NODE_FN && x->kind != NODE_CONV && x->kind != NODE_WRAP) return false;
    for (int k = 0; k < x->nargs; k++)
        if (!own_value(ns, x->arg[k], tree)) return false;
    return true;
}

bool nest_makes(nest *ns, int id)
{
    uint64_t tree = 0;
    if (ns->shape != NEST_FIBER || ns->nload == NEST_LOADS || !own_value(ns, id, &tree))
        return false;
    for (int k = 0; k < ns->nload; k++)
        if (ns->load[k].made) return false;
    ns->load[ns->nload++] = (nest_load){.node = (uint16_t)id, .made = true};
    return true;
}

/* Sums of products that end in elements of T need no more than its bits of a factor. */
bool nest_made_fits(const machine *mc, const nest *ns, stc_type t)
{
    const sink *x = &ns->in.sink[0];
    if (class_type((vclass)ns->cls) == t) return true;
    return x->kind == SINK_ACC && ns->plus == FN_ADD &&
           (ns->times == FN_MUL || ns->times == FN_NONE) && t != STC_BOOL &&
           type_class(t) == (vclass)ns->cls && ns->cls <= CLASS_U64 &&
           mc->p->tensor[x->a].type == t;
}

/* The inner loop without anything but the factor. */
static void keep_tree(loop_summary *s, int id, int walked, uint64_t tree)
{
    int n = 0;
    for (int k = 0; k < s->nstep; k++)
        if (s->step[k].kind == STEP_NODE && tree >> s->step[k].a & 1)
            s->step[n++] = s->step[k];
    s->nstep = (uint16_t)n;
    s->nsink = s->nicol = 0;
    s->nnode = (uint16_t)(id + 1);
    for (int k = 0; k <= id; k++)
        if (!s->node[k].varies) s->node[k].kind = NODE_GIVEN;
    s->nplace = (uint16_t)(walked + 1);
    for (int k = 0; k <= walked; k++) {
        s->place[k].kind = PLACE_OPERAND;
        s->place[k].varies = k == walked;
    }
}

stc_status nest_made_ready(machine *mc, nest *ns)
{
    int load = 0;
    while (load < ns->nload && !ns->load[load].made)
        load++;
    if (load == ns->nload) return STC_OK;
    nest_made *m = mem_alloc(mc->cx, sizeof *m);
    if (!m) return mc->cx->diag.status;
    memset(m, 0, sizeof *m);
    m->load = (uint16_t)load;
    m->node = ns->load[load].node;
    m->place = ns->walk[0].place;
    uint64_t tree = 0;
    own_value(ns, m->node, &tree);
    strip_setup(&m->g, &ns->in);
    keep_tree(&m->g.s, m->node, m->place, tree);
    m->g.around = ns->o;
    m->g.entered = true;
    m->parent = (column){.form = COL_STEP, .full = true};
    ns->made = m;
    return STC_OK;
}

void nest_made_free(machine *mc, nest_made *m)
{
    if (!m) return;
    mem_free(mc->cx, m->g.block, m->g.block_size);
    mem_free(mc->cx, m->vals, m->room);
    mem_free(mc->cx, m->bounds, m->bounds ? (STRIP + 1) * sizeof(int64_t) : 0);
    mem_free(mc->cx, m->crd, m->crd ? STRIP * sizeof(int64_t) : 0);
    mem_free(mc->cx, m, sizeof *m);
}

/* What the factor takes beside the fiber's values is one value for all lanes. Below another
 * loop's lanes, strung together, it may be one each: those loops are known only now. */
bool nest_made_holds(const nest *ns)
{
    const loop_summary *s = &ns->made->g.s;
    for (int k = 0; k < s->nstep; k++) {
        const node *x = &s->node[s->step[k].a];
        for (int j = 0; x->kind != NODE_LOAD && j < x->nargs; j++) {
            const bool given = s->node[x->arg[j]].kind == NODE_GIVEN;
            if (given && ns->o->s.node[ns->link.node[x->arg[j]]].varies) return false;
        }
    }
    return true;
}

/* The tensors whose values it is made of lie far off (ahead.h). */
bool nest_made_far(const machine *mc, const nest *ns)
{
    bool far = false;
    const loop_summary *s = &ns->made->g.s;
    for (int k = 0; k < s->nstep; k++) {
        const node *x = &s->node[s->step[k].a];
        const tensor *t = x->kind == NODE_LOAD ? mc->slot[x->a].t : NULL;
        far |= t && t->nvals * (int64_t)type_size(t->type) >= FROM_MEMORY;
    }
    return far;
}

/* ---- a run --------------------------------------------------------------------- */

static stc_status make_ready(machine *mc, nest *ns)
{
    nest_made *m = ns->made;
    if (!m->g.block && strip_allocate(mc, &m->g)) return mc->cx->diag.status;
    for (int k = 0; k < m->g.s.nnode; k++) {
        /* what is reduced isn't linked, and nothing here takes it */
        if (m->g.s.node[k].kind != NODE_GIVEN || ns->link.node[k] == UNLINKED) continue;
        m->g.node[k].p = NULL;
        m->g.node[k].one = ns->o->node[ns->link.node[k]].one;
        m->g.node[k].spread = 0;
    }
    return STC_OK;
}

static stc_status room_for(machine *mc, nest_made *m, int64_t n, size_t size)
{
    const size_t room = (size_t)n * size;
    if (room <= m->room) return STC_OK;
    mem_free(mc->cx, m->vals, m->room);
    m->room = 0;
    m->vals = mem_array(mc->cx, (size_t)n, size);
    if (m->vals) m->room = room;
    return m->vals ? STC_OK : mc->cx->diag.status;
}

/* The values at n positions, which are in the column, or follow p; *out: the first. */
static stc_status make(machine *mc, nest *ns, int64_t p, int64_t n, const void **out)
{
    nest_made *m = ns->made;
    strip *g = &m->g;
    column *c = &g->place[m->place];
    const stc_type t = (stc_type)ns->type;
    const vclass cls = (vclass)g->s.node[m->node].cls;
    const bool whole = class_type(cls) == t && n <= STRIP;
    if (!whole && room_for(mc, m, n, type_size(t))) return mc->cx->diag.status;
    for (int64_t k = 0; k < n; k += g->n) {
        g->n = (int)(n - k < STRIP ? n - k : STRIP);
        if (c->form == COL_STEP) c->base = p + k;
        if (strip_eval(mc, g)) return mc->cx->diag.status;
        *out = strip_spread(g, m->node);
        if (!whole) strip_store(t, m->vals, k, *out, cls, g->n);
    }
    if (!whole) *out = m->vals;
    return STC_OK;
}

/* Where lane k's fiber is. */
static void fiber_of(const nest *ns, int k, int64_t *p, int64_t *e)
{
    if (ns->width == 8) {
        span_64(&ns->walk[0], k, p, e);
    } else {
        span_32(&ns->walk[0], k, p, e);
    }
}

/* Fibers that follow each other, from lane `from` on: a string of them, or one that is
 * longer; what is at position p lies as far before it as p says. */
static stc_status made_beside(machine *mc, nest *ns, int to)
{
    int64_t p, e, next;
    const void *vals;
    fiber_of(ns, ns->from, &p, &e);
    for (ns->to = ns->from + 1; ns->to < to; ns->to++, e = next) {
        int64_t begin;
        fiber_of(ns, ns->to, &begin, &next);
        if (next - p > STRIP) break;
    }
    ns->made->g.place[ns->made->place].form = COL_STEP;
    if (make(mc, ns, p, e - p, &vals)) return mc->cx->diag.status;
    const uintptr_t first = (uintptr_t)p * type_size((stc_type)ns->type);
    ns->load[ns->made->load].vals = (const void *)((uintptr_t)vals - first);
    return STC_OK;
}

/* Positions and coordinates of a lane's fiber, behind n others. */
static void copy_fiber(nest *ns, int64_t p, int64_t e, int64_t n)
{
    const nest_walk *w = &ns->walk[0];
    nest_made *m = ns->made;
    int64_t *at = m->g.place[m->place].data + n - p;
    for (int64_t k = p; k < e; k++)
        at[k] = k;
    for (int64_t k = p; ns->width == 4 && k < e; k++)
        ((int32_t *)m->crd)[n + k - p] = ((const int32_t *)w->crd)[k * w->step];
    for (int64_t k = p; ns->width == 8 && k < e; k++)
        ((int64_t *)m->crd)[n + k - p] = ((const int64_t *)w->crd)[k * w->step];
}

/* Any fibers, copied together: lane k's is number k - from. */
static stc_status made_together(machine *mc, nest *ns, int to)
{
    nest_made *m = ns->made;
    nest_walk *w = &ns->walk[0];
    int64_t n = 0, p, e;
    if (!m->bounds) m->bounds = mem_array(mc->cx, STRIP + 1, sizeof(int64_t));
    if (!m->crd) m->crd = mem_array(mc->cx, STRIP, sizeof(int64_t));
    if (!m->bounds || !m->crd) return mc->cx->diag.status;
    column *c = &m->g.place[m->place];
    *c = (column){.form = COL_ARRAY, .full = true, .data = c->data, .end = c->end};
    for (ns->to = ns->from; ns->to < to && ns->to - ns->from < STRIP; ns->to++) {
        fiber_of(ns, ns->to, &p, &e);
        if (n + e - p > STRIP) break;
        copy_fiber(ns, p, e, n);
        n += e - p;
        const int64_t end = ns->to - ns->from + 1;
        if (ns->width == 8) ((int64_t *)m->bounds)[end] = n;
        if (ns->width == 4) ((int32_t *)m->bounds)[end] = (int32_t)n;
    }
    if (ns->to == ns->from) return made_beside(mc, ns, ns->from + 1); /* it is too long */
    memset(m->bounds, 0, (size_t)ns->width);
    w->bounds = m->bounds;
    w->crd = m->crd;
    w->step = 1;
    m->parent.base = -ns->from;
    w->parent = &m->parent;
    return n ? make(mc, ns, 0, n, &ns->load[m->load].vals) : STC_OK;
}

stc_status nest_made_run(machine *mc, nest *ns)
{
    const nest_walk was = ns->walk[0];
    const int from = ns->from, to = ns->to;
    const bool beside = was.bounds && was.parent->form == COL_STEP;
    stc_status status = make_ready(mc, ns);
    for (; !status && ns->from < to; ns->from = ns->to) {
        status = beside ? made_beside(mc, ns, to) : made_together(mc, ns, to);
        if (!status) status = ns->kernel->run(mc, ns);
        ns->walk[0] = was;
    }
    ns->from = from;
    ns->to = to;
    return status;
}
