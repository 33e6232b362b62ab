/* nest.c: matches nests of two loops, and prepares what their kernels need.
 *
 * Matched when linking: the value is a product of loads and scalars (or a
 * function of two loads), the merge is one of three shapes, and super.def has
 * a row for shape, sink and class. Found out when running: whether the fibers
 * are tables of ordered, unique coordinates of one width and the located
 * levels cover them. If they don't, base operations run the outer loop, and
 * the inner one's own tier applies.
 */
#include "super.h"
#include "ws.h"
#include <stdio.h>
#include <string.h>

/* ---- matching ------------------------------------------------------------------ */

/* Flattens a product, by whatever function it is, into loads and scalars. */
static bool match_product(nest *ns, int id)
{
    const node *x = &ns->in.node[id];
    if (x->cls != ns->cls) return false;
    if (!x->varies) {
        if (ns->nscalar == 4) return false;
        ns->scalar[ns->nscalar++] = ns->link.node[id];
        return true;
    }
    if (x->kind == NODE_FN && x->fn == ns->times && x->fn_cls == ns->cls)
        return match_product(ns, x->arg[0]) && match_product(ns, x->arg[1]);
    if (x->kind != NODE_LOAD || ns->nload == NEST_LOADS) return false;
    ns->load[ns->nload++] = (nest_load){.node = (uint16_t)id};
    return true;
}

/* f(load, load), as of a sum of two tensors. */
static bool match_binary(nest *ns, int id)
{
    const node *x = &ns->in.node[id];
    if (x->kind != NODE_FN || x->nargs != 2 || x->cls != ns->cls || x->fn_cls != ns->cls)
        return false;
    for (int k = 0; k < 2; k++) {
        const node *arg = &ns->in.node[x->arg[k]];
        if (arg->kind != NODE_LOAD || !arg->varies) return false;
        ns->load[ns->nload++] = (nest_load){.node = x->arg[k]};
    }
    ns->times = x->fn;
    return true;
}

/* A function whose operands may come in any grouping: of factors, that is. */
static bool makes_products(const node *x)
{
    enum { BOTH = FP_ASSOCIATIVE | FP_COMMUTATIVE };
    return x->kind == NODE_FN && x->nargs == 2 && (fn_at(x->fn)->flags & BOTH) == BOTH;
}

/* All loads, and what is stored into, have one element type. */
static bool match_types(nest *ns, const machine *mc)
{
    const sink *x = &ns->in.sink[0];
    ns->type = (uint8_t)class_type((vclass)ns->cls);
    for (int k = 0; k < ns->nload; k++) {
        const uint8_t type = mc->p->tensor[ns->in.node[ns->load[k].node].a].type;
        if (k > 0 && type != ns->type) return false;
        ns->type = type;
    }
    return (x->kind != SINK_STORE && x->kind != SINK_ACC) ||
           mc->p->tensor[x->a].type == ns->type;
}

static bool match_value(nest *ns, const machine *mc)
{
    const sink *x = &ns->in.sink[0];
    const node *made = &ns->in.node[x->node];
    ns->cls = made->cls;
    ns->plus = x->kind == SINK_STORE ? FN_NONE : x->fn;
    ns->times = makes_products(made) ? made->fn : FN_NONE;
    if (x->cls != ns->cls) return false;
    if (x->kind == SINK_STORE ? !match_binary(ns, x->node) : !match_product(ns, x->node))
        return false;
    return match_types(ns, mc);
}

/* The masks of so many operands. */
static uint64_t table_mask(int count)
{
    return count == MERGE_TABLE_MAX ? ~UINT64_C(0) : (UINT64_C(1) << (1 << count)) - 1;
}

static bool branchless(const machine *mc, const place *opened)
{
    return format_props(&mc->p->tensor[opened->tensor].fmt, opened->level) &
           PROP_BRANCHLESS;
}

/* Which fibers are walked, as far as the program says; the produce table for
 * located operands present. */
static bool match_shape(nest *ns, const machine *mc, bool general)
{
    const merge_desc *m = ns->in.l->merge;
    uint64_t sure = 0, bit[NEST_WALKS] = {0};
    bool full = m->universe;
    if (m->count > MERGE_TABLE_MAX) return false;
    for (int b = 0; b < m->count; b++) {
        const merge_operand *o = &m->operand[b];
        if (o->role == MERGE_LOCATE && o->coef != 1) return false;
        if (o->role == MERGE_LOCATE && o->shift != ROOT) return false;
        if (o->role == MERGE_LOCATE) sure |= UINT64_C(1) << b;
        if (o->role == MERGE_KNOWN && !general) return false;
        if (!operand_walks(o)) continue;
        const place *opened = &ns->o.s.place[ns->link.up[1 + b]];
        if (format_props(&mc->p->tensor[opened->tensor].fmt, opened->level) & PROP_FULL) {
            sure |= UINT64_C(1) << b;
            full = true;
            continue;
        }
        if (ns->nwalk == NEST_WALKS) return false;
        bit[ns->nwalk] = UINT64_C(1) << b;
        ns->walk[ns->nwalk++] = (nest_walk){.place = (uint16_t)(1 + b)};
    }
    if (full && ns->nwalk > 0) return false;
    ns->shape = full ? NEST_RANGE : ns->nwalk == 1 ? NEST_FIBER : NEST_MERGE;
    if (!full && ns->nwalk == 0) return false;
    for (int w = 0; !general && ns->nwalk == 2 && w < 2; w++)
        if (branchless(mc, &ns->o.s.place[ns->link.up[ns->walk[w].place]])) return false;
    for (int b = 0; b < m->count; b++)
        if (sure >> b & 1 && m->produce & ~table_bit(b) & table_mask(m->count))
            ns->must |= UINT64_C(1) << b;
    ns->both = m->produce >> (sure | bit[0] | bit[1]) & 1;
    ns->only[0] = m->produce >> (sure | bit[0]) & 1;
    ns->only[1] = m->produce >> (sure | bit[1]) & 1;
    return general || ns->both;
}

/* The outer body has nothing that its strips would do in another order. */
static bool match_sink(const nest *ns)
{
    const sink *x = &ns->in.sink[0];
    const loop_summary *o = &ns->o.s;
    if (!ns->in.nsink) return o->nsink == 0;
    if (x->kind == SINK_REDUCE) return true;
    if (o->nsink > 0) return false;
    if (x->kind == SINK_WSADD) return x->icol[0] == 0 && x->icol[1] == 0;
    const place *at = &ns->in.place[x->b];
    if (x->kind == SINK_ACC && at->kind == PLACE_FIXED && ns->general) {
        const place *row = &o->place[ns->link.up[x->b]];
        return row->kind == PLACE_AT && row->icol == 0 && !row->kept &&
               o->place[row->up].kind == PLACE_FIXED;
    }
    if (at->kind != PLACE_AT || at->icol != 0) return false;
    const place *up = &o->place[ns->link.up[x->b]];
    if (x->kind == SINK_ACC) return up->kind == PLACE_FIXED;
    return up->kind == PLACE_AT && up->kept && o->place[up->up].kind == PLACE_FIXED &&
           up->icol == 0;
}

/* ---- preparing a run ----------------------------------------------------------- */

/* Parents stand on one position each. */
static bool unique_down_to(const tensor *t, int l)
{
    for (int k = 0; k <= l; k++)
        if (!(t->level[k].props & PROP_UNIQUE)) return false;
    return true;
}

/* The tensor and level of an operand's place. */
const level *nest_level(const machine *mc, const nest *ns, int id, const tensor **t)
{
    const place *p = &ns->in.place[id];
    const merge_operand *o = &ns->in.l->merge->operand[p->operand];
    const place *opened = &ns->o.s.place[ns->link.up[id]];
    const bool walked = operand_walks(o);
    *t = mc->slot[walked ? opened->tensor : o->tensor].t;
    return &(*t)->level[walked ? opened->level : o->level];
}

/* The column of positions below which an operand's fibers are. */
const column *nest_parent(const nest *ns, int id)
{
    const place *p = &ns->in.place[id];
    const uint16_t up = ns->link.up[id];
    const merge_operand *o = &ns->in.l->merge->operand[p->operand];
    return &ns->o.place[operand_walks(o) ? ns->o.s.place[up].up : up];
}

static bool prepare_walk(const machine *mc, nest *ns, nest_walk *w, int *width)
{
    const tensor *t;
    const level *lv = nest_level(mc, ns, w->place, &t);
    fiber_table f;
    /* one fiber, into places that any order reaches, may come in any */
    const uint8_t to = ns->in.sink[0].kind;
    const bool any =
        ns->nwalk == 1 && ns->in.nsink && (to == SINK_REDUCE || to == SINK_ACC);
    if (!lv->kind->table || !(lv->props & PROP_ORDERED || any)) return false;
    lv->kind->table(lv, &f);
    w->gaps = f.shape == VIEW_GAPS;
    if ((f.shape != VIEW_COORDS && !w->gaps) || (*width && *width != f.width)) return false;
    if (w->gaps && (!any || !ns->general || f.bounds || lv->base != ns->lo)) return false;
    const int depth = (int)(lv - t->level);
    if (f.bounds) { /* else the parent's position and its duplicates bound it */
        if (!unique_down_to(t, depth) || f.stride != f.width || f.bounds_width != f.width)
            return false;
    } else if (ns->nwalk != 1 || !(lv->props & PROP_UNIQUE) || f.stride % f.width) {
        return false;
    }
    w->step = f.stride / f.width;
    if (lv->base < ns->lo || lv->base + lv->extent > ns->hi) return false;
    *width = f.width;
    w->bounds = f.bounds;
    w->crd = f.crd;
    w->parent = nest_parent(ns, w->place);
    return true;
}

/* Whether positions in a located operand's level are looked for, by a kernel that
 * does that; what isn't there must not produce. */
static bool probed(const nest *ns, const level *lv, int id)
{
    const uint64_t bit = UINT64_C(1) << ns->in.place[id].operand;
    return ns->probes && !ns->general && lv->kind->locate_many &&
           !(lv->props & PROP_FULL) && !(ns->must & bit);
}

static bool prepare_load(const machine *mc, nest *ns, nest_load *x)
{
    const node *n = &ns->in.node[x->node];
    x->vals = mc->slot[n->a].t->vals;
    x->walk = -1;
    for (int k = 0; k < ns->nwalk; k++)
        if (ns->walk[k].place == n->b) x->walk = k;
    if (x->walk >= 0) return true;
    const tensor *t;
    const level *lv = nest_level(mc, ns, n->b, &t);
    fiber_table f;
    x->probe = NULL;
    if (!lv->kind->locate || !unique_down_to(t, (int)(lv - t->level))) return false;
    if (probed(ns, lv, n->b)) {
        x->probe = lv;
        x->nvals = t->nvals;
        x->parent = nest_parent(ns, n->b);
        return true;
    }
    if (!lv->kind->table) return false;
    lv->kind->table(lv, &f);
    if (f.shape != VIEW_RANGE || f.lo > ns->lo || f.hi < ns->hi) return false;
    x->parent = nest_parent(ns, n->b);
    x->extent = f.hi - f.lo;
    x->lo = f.lo;
    return true;
}

static bool loaded(const nest *ns, int id)
{
    for (int k = 0; k < ns->nload; k++)
        if (ns->in.node[ns->load[k].node].b == id) return true;
    return false;
}

/* Located operands that are in the mask but aren't loaded must be present too. */
static bool prepare_rest(const machine *mc, const nest *ns)
{
    const merge_desc *m = ns->in.l->merge;
    for (int b = 0; b < m->count; b++) {
        bool walked = false;
        for (int k = 0; k < ns->nwalk; k++)
            walked |= ns->walk[k].place == 1 + b;
        if (walked) continue;
        const tensor *t;
        const level *lv = nest_level(mc, ns, 1 + b, &t);
        if (!(lv->props & PROP_FULL) && !loaded(ns, 1 + b)) return false;
        if (lv->base > ns->lo || lv->base + lv->extent < ns->hi) return false;
    }
    return true;
}

/* Whether no lane lacks the outer operand (or fixed place) `id`. */
static bool always_there(const machine *mc, const nest *ns, int id)
{
    const place *p = &ns->o.s.place[id];
    const loop *l = ns->o.s.l;
    const merge_desc *m = l->merge;
    if (id == PLACE_ROOT) return true;
    if (ns->around && ns->around->in.place[id].kind == PLACE_FIXED)
        return always_there(mc, ns->around, ns->around->link.up[id]);
    if (p->kind == PLACE_FIXED) return mc->c[p->cursor].c.at != NONE;
    if (p->kind != PLACE_OPERAND || m->count > MERGE_TABLE_MAX) return false;
    if (!(m->produce & ~table_bit(p->operand) & table_mask(m->count))) return true;
    const merge_operand *o = &m->operand[p->operand];
    if (ns->around && (o->role != MERGE_LOCATE || o->up != ROOT)) return false;
    const cursor *c = &mc->c[o->cursor].c, *up = c->up;
    const level *lv = c->lv;
    if (o->role == MERGE_LOCATE) {
        if (o->coef != 1 || o->shift != ROOT) return false;
        up = o->up == ROOT ? NULL : &mc->c[o->up].c;
        lv = &mc->slot[o->tensor].t->level[o->level];
    }
    return lv->props & PROP_FULL && !(up && up->at == NONE) &&
           lv->base <= (m->lo == ROOT ? 0 : mc->ext[m->lo]) &&
           lv->base + lv->extent >= mc->ext[m->hi];
}

/* Operands without which the inner loop would still have rounds, reading fills:
 * they must be there, since kernels have no fills for them. */
static bool prepare_musts(const machine *mc, const nest *ns)
{
    const merge_desc *m = ns->in.l->merge;
    for (int b = 0; b < m->count; b++) {
        if (!(ns->must >> b & 1)) continue;
        const uint16_t up = ns->link.up[1 + b];
        const bool walked = operand_walks(&m->operand[b]);
        if (!always_there(mc, ns, walked ? ns->o.s.place[up].up : up)) return false;
    }
    return true;
}

static bool prepare(machine *mc, nest *ns)
{
    const merge_desc *m = ns->in.l->merge;
    int width = 0;
    ns->lo = m->lo == ROOT ? 0 : mc->ext[m->lo];
    ns->hi = mc->ext[m->hi];
    for (int k = 0; k < ns->nwalk; k++)
        if (!prepare_walk(mc, ns, &ns->walk[k], &width)) return false;
    for (int k = 0; k < ns->nload; k++)
        if (!prepare_load(mc, ns, &ns->load[k])) return false;
    /* the handlers scatter into an accumulator; a coordinate list has none */
    const sink *to = &ns->in.sink[0];
    if (to->kind == SINK_WSADD && !ns->general && !ws_is_vector(&mc->slot[to->a]))
        return false;
    ns->width = width;
    ns->rounds = 0;
    if (ns->in.nsink && ns->in.sink[0].kind == SINK_STORE &&
        !super_rows_ready(mc, ns, ns->general ? 0 : width))
        return false;
    if (ns->general) {
        ns->kernel = segment_kernel;
        return segment_prepare(mc, ns) && (!ns->deep || prepare(mc, ns->deep));
    }
    if (!prepare_rest(mc, ns) || !prepare_musts(mc, ns)) return false;
    ns->kernel = width == 8 ? ns->wide : ns->narrow;
    return ns->kernel != NULL;
}

/* Some located operand may be absent in some lane of this strip. */
static bool gaps(const nest *ns)
{
    for (int k = 0; k < ns->nload; k++) {
        const column *c = ns->load[k].parent;
        if (ns->load[k].walk >= 0 || c->full) continue;
        if (c->form == COL_ARRAY || c->base < 0) return true;
    }
    return false;
}

bool nest_lane_there(const nest *ns, int k)
{
    for (int j = 0; j < ns->nload; j++)
        if (ns->load[j].walk < 0 && column_get(ns->load[j].parent, k) < 0) return false;
    return true;
}

/* The result's places that the outermost of three loops sets for its lane k. */
static stc_status place_results(machine *mc, const nest *ns, int k, bool keep)
{
    for (int id = 1; id < ns->o.s.nplace; id++) {
        const place *p = &ns->o.s.place[id];
        if (p->kind != PLACE_AT || (keep && !p->kept)) continue;
        const uint16_t above = ns->o.s.place[p->up].cursor;
        slot *r = &mc->slot[p->tensor];
        mcursor *c = &mc->c[p->cursor];
        const stc_status st =
            keep ? asm_keep(mc, r, p->level, c, p->keep)
                 : asm_at(mc, r, p->level, c, above == ROOT ? NULL : &mc->c[above],
                          column_get(&ns->o.icol[p->icol], k), p->at);
        if (st) return st;
    }
    return STC_OK;
}

/* The kernel of a deep nest, run by run of lanes that have one outer lane; all
 * at once where only that tells them apart what the kernel doesn't look at. */
static stc_status deep_runs(machine *mc, nest *ns)
{
    const int *row = ns->o.rows, n = ns->o.n;
    const int to = ns->in.sink[0].kind;
    ns->from = 0;
    ns->to = n;
    bool rows = false; /* the place in the result depends on the outer lane */
    for (int id = 1; id < ns->around->o.s.nplace; id++)
        rows |= ns->around->o.s.place[id].kind == PLACE_AT;
    if (to == SINK_REDUCE || to == SINK_WSADD || !rows) return ns->kernel(mc, ns);
    while (ns->from < n) {
        const int k = row[ns->from];
        ns->to = ns->from;
        while (ns->to < n && row[ns->to] == k)
            ns->to++;
        stc_status st = place_results(mc, ns->around, k, false);
        if (!st) st = ns->kernel(mc, ns);
        if (!st) st = place_results(mc, ns->around, k, true);
        if (st) return st;
        ns->from = ns->to;
    }
    return STC_OK;
}

static stc_status nest_inner(machine *mc, strip *o)
{
    nest *ns = (nest *)o;
    ns->gaps = gaps(ns);
    if (ns->around) return deep_runs(mc, ns);
    ns->from = 0;
    ns->to = o->n;
    return ns->kernel(mc, ns);
}

static stc_status nest_run(machine *mc, super *base)
{
    nest *ns = (nest *)base;
    if (ns->general && segment_ready(mc, ns)) return mc->cx->diag.status;
    if (!prepare(mc, ns)) return SUPER_REPLAY;
    const stc_status st = strip_run(mc, base);
    return st ? st : machine_count(mc, ns->rounds + (ns->deep ? ns->deep->rounds : 0));
}

static void nest_free(machine *mc, super *base)
{
    nest *ns = (nest *)base;
    segment_free(mc, ns);
    if (ns->deep) {
        strip_free(mc, &ns->deep->o.base);
        mem_free(mc->cx, ns->deep, sizeof *ns->deep);
    }
    strip_free(mc, base);
}

static bool match_row(nest *ns, const machine *mc)
{
    return match_shape(ns, mc, false) && match_value(ns, mc) && match_sink(ns) &&
           super_choose(ns);
}

static bool match_general(nest *ns, const machine *mc)
{
    ns->nwalk = ns->nload = ns->nscalar = 0;
    ns->general = true;
    ns->o.base.tier = 4;
    return match_shape(ns, mc, true) && match_sink(ns) && segment_match(ns);
}

static nest *nest_make(machine *mc, const loop_summary *outer, const loop_summary *inner,
                       const nest_links *links)
{
    nest *ns = mem_alloc(mc->cx, sizeof *ns);
    if (!ns) return NULL;
    memset(ns, 0, sizeof *ns);
    ns->in = *inner;
    ns->link = *links;
    strip_setup(&ns->o, outer);
    ns->o.base.size = sizeof *ns;
    ns->o.base.tier = 3;
    ns->o.base.run = nest_run;
    ns->o.base.free = nest_free;
    ns->o.inner = nest_inner;
    return ns;
}

static void describe(nest *ns)
{
    static const char *const shapes[] = {"fiber", "range", "merge"};
    static const char *const sinks[] = {"sum", "store", "accumulate", "workspace"};
    const nest *last = ns->deep ? ns->deep : ns;
    char deep[16] = "";
    if (ns->deep) snprintf(deep, sizeof deep, " x %s", shapes[last->shape]);
    snprintf(ns->o.base.note, sizeof ns->o.base.note, "%s %s%s -> %s",
             ns->general && !ns->deep ? "segments" : "nest", shapes[ns->shape], deep,
             sinks[last->in.sink[0].kind]);
}

stc_status nest_fuse(machine *mc, const loop_summary *outer, const loop_summary *inner,
                     const nest_links *links, super **out)
{
    nest *ns = nest_make(mc, outer, inner, links);
    if (!ns) return mc->cx->diag.status;
    if (!inner->nsink || !strip_evaluable(outer) ||
        (!match_row(ns, mc) && !match_general(ns, mc))) {
        mem_free(mc->cx, ns, sizeof *ns);
        return STC_OK;
    }
    describe(ns);
    *out = &ns->o.base;
    return STC_OK;
}

stc_status nest_fuse_deep(machine *mc, const loop_summary *outer, const loop_summary *mid,
                          const loop_summary *inner, const nest_links *outer_mid,
                          const nest_links *mid_inner, super **out)
{
    nest *ns = nest_make(mc, outer, mid, outer_mid);
    nest *deep = nest_make(mc, mid, inner, mid_inner);
    if (ns && deep) {
        deep->around = ns;
        ns->deep = deep;
        if (strip_evaluable(outer) && match_row(deep, mc) && match_general(ns, mc)) {
            ns->o.base.tier = 3;
            describe(ns);
            *out = &ns->o.base;
            return STC_OK;
        }
    }
    const bool failed = !ns || !deep;
    mem_free(mc->cx, ns, sizeof *ns);
    mem_free(mc->cx, deep, sizeof *deep);
    return failed ? mc->cx->diag.status : STC_OK;
}
