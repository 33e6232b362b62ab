/* nest.c: matches nests of two loops, and prepares what their kernels need.
 *
 * Matched when linking: the value is a product of loads and scalars (or a
 * function of two loads), the merge is one of three shapes, and super.def has
 * a row for shape, sink and class. Found out when running: whether the fibers
 * are tables of ordered, unique coordinates of one width and the located
 * levels cover them. If they don't, the inner loop is a stage of the cascade
 * like any other.
 */
#include "../nest/fibers.h"
#include "super.h"
#include <string.h>

/* ---- matching ------------------------------------------------------------------ */

/* Flattens a product, by whatever function it is, into loads and scalars. */
static bool match_product(nest *ns, int id)
{
    const node *x = &ns->in.node[id];
    if (!x->varies) {
        if (ns->nscalar == NEST_SCALARS) return false;
        ns->scalar[ns->nscalar++] = ns->link.node[id];
        return true;
    }
    if (x->kind == NODE_FN && x->fn == ns->times && x->fn_cls == ns->cls) {
        const bool both = ns->in.node[x->arg[0]].varies && ns->in.node[x->arg[1]].varies;
        return (both && nest_makes(ns, id)) ||
               (match_product(ns, x->arg[0]) && match_product(ns, x->arg[1]));
    }
    if (x->kind != NODE_LOAD) return nest_makes(ns, id);
    if (ns->nload == NEST_LOADS) return false;
    ns->load[ns->nload++] = (nest_load){.node = (uint16_t)id};
    return true;
}

/* f(load, load), as of a sum of two tensors. */
static bool match_binary(nest *ns, int id)
{
    const node *x = &ns->in.node[id];
    if (x->kind != NODE_FN || x->nargs != 2 || x->fn_cls != ns->cls) return false;
    for (int k = 0; k < 2; k++) {
        const node *arg = &ns->in.node[x->arg[k]];
        if (arg->kind != NODE_LOAD || !arg->varies) return false;
        ns->load[ns->nload++] = (nest_load){.node = x->arg[k]};
    }
    ns->times = x->fn;
    return true;
}

/* f(truth value, load, one value), as of what some elements of a fiber choose. */
static bool match_chosen(nest *ns, const machine *mc, const node *made)
{
    if (made->kind != NODE_FN || made->nargs != 3 || made->fn_cls != ns->cls) return false;
    for (int k = 0; k < 2; k++) {
        const node *arg = &ns->in.node[made->arg[k]];
        if (arg->kind != NODE_LOAD || !arg->varies) return false;
        ns->load[ns->nload++] = (nest_load){.node = made->arg[k]};
    }
    ns->times = made->fn;
    ns->scalar[ns->nscalar++] = ns->link.node[made->arg[2]];
    ns->chooses = !ns->in.node[made->arg[2]].varies &&
                  mc->p->tensor[ns->in.node[made->arg[0]].a].type == STC_BOOL;
    return ns->chooses;
}

/* A function whose operands may come in any grouping: of factors, that is. */
static bool makes_products(const node *x)
{
    enum { BOTH = FP_ASSOCIATIVE | FP_COMMUTATIVE };
    return x->kind == NODE_FN && x->nargs == 2 && (fn_at(x->fn)->flags & BOTH) == BOTH;
}

/* All loads but those that only choose, and what is stored into, have one element type. */
static bool match_types(nest *ns, const machine *mc)
{
    const sink *x = &ns->in.sink[0];
    const bool stores = x->kind == SINK_STORE || x->kind == SINK_ACC;
    const uint8_t to = stores ? mc->p->tensor[x->a].type : class_type((vclass)ns->cls);
    bool made = false, loads = false;
    ns->type = to;
    for (int k = ns->chooses; k < ns->nload; k++) {
        made |= ns->load[k].made;
        if (ns->load[k].made) continue;
        const uint8_t type = mc->p->tensor[ns->in.node[ns->load[k].node].a].type;
        if (loads && type != ns->type) return false;
        ns->type = type;
        loads = true;
    }
    if (!loads && !made) ns->type = (uint8_t)class_type((vclass)ns->cls);
    return (!made || nest_made_fits(mc, ns, (stc_type)ns->type)) &&
           (!stores || to == ns->type);
}

static bool match_value(nest *ns, const machine *mc)
{
    const sink *x = &ns->in.sink[0];
    const node *made = &ns->in.node[x->node];
    ns->cls = made->cls;
    ns->plus = x->kind == SINK_STORE ? FN_NONE : x->fn;
    ns->times = makes_products(made) ? made->fn : FN_NONE;
    if (x->kind == SINK_STORE) return match_binary(ns, x->node) && match_types(ns, mc);
    if (made->kind == NODE_FN && made->nargs == 3)
        return match_chosen(ns, mc, made) && match_types(ns, mc);
    return match_product(ns, x->node) && match_types(ns, mc);
}

/* The masks of so many operands. */
static uint64_t table_mask(int count)
{
    return count == MERGE_TABLE_MAX ? ~UINT64_C(0) : (UINT64_C(1) << (1 << count)) - 1;
}

/* Which fibers are walked, as far as the program says; the produce table for
 * located operands present. */
static bool match_shape(nest *ns, const machine *mc)
{
    const merge_desc *m = ns->in.l->merge;
    uint64_t sure = 0, bit[NEST_WALKS] = {0};
    bool full = m->universe;
    if (m->count > MERGE_TABLE_MAX) return false;
    for (int b = 0; b < m->count; b++) {
        const merge_operand *o = &m->operand[b];
        if (!operand_walks(o)) {
            if (!located_plainly(o)) return false;
            sure |= UINT64_C(1) << b;
            continue;
        }
        const place *opened = &ns->o->s.place[ns->link.up[1 + b]];
        if (opened->shift != UNLINKED) return false;
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
    for (int b = 0; b < m->count; b++)
        if (sure >> b & 1 && m->produce & ~table_bit(b) & table_mask(m->count))
            ns->must |= UINT64_C(1) << b;
    ns->both = m->produce >> (sure | bit[0] | bit[1]) & 1;
    ns->only[0] = m->produce >> (sure | bit[0]) & 1;
    ns->only[1] = m->produce >> (sure | bit[1]) & 1;
    return ns->both;
}

/* Nothing in the inner body but loads and arithmetic on what the merge gives. */
static bool plain_body(const nest *ns)
{
    for (int k = 0; k < ns->in.nstep; k++) {
        const step *x = &ns->in.step[k];
        if (x->kind == STEP_NODE) continue;
        if (x->kind != STEP_PLACE || ns->in.place[x->a].kind != PLACE_AT) return false;
    }
    return true;
}

/* The outer body has nothing that its strips would do in another order. */
static bool match_sink(nest *ns)
{
    const sink *x = &ns->in.sink[0];
    const loop_summary *o = &ns->o->s;
    if (x->kind == SINK_REDUCE) return true;
    if (x->kind > SINK_ACC || o->nsink > 0) return false;
    const place *at = &ns->in.place[x->b];
    if (at->kind == PLACE_FIXED && x->kind == SINK_ACC) {
        const place *own = &o->place[ns->link.up[x->b]];
        ns->by_lane = true;
        return own->kind == PLACE_AT && own->icol == 0 && !own->kept &&
               own->up == PLACE_ROOT;
    }
    if (at->kind != PLACE_AT || at->icol != 0 || ns->link.up[x->b] == UNLINKED)
        return false;
    const place *up = &o->place[ns->link.up[x->b]];
    if (x->kind == SINK_ACC) return up->kind == PLACE_FIXED;
    return up->kind == PLACE_AT && up->kept && o->place[up->up].kind == PLACE_FIXED &&
           up->icol == 0;
}

/* ---- preparing a run ----------------------------------------------------------- */

/* The tensor and level of an operand's place. */
const level *nest_level(const machine *mc, const nest *ns, int id, const tensor **t)
{
    const place *p = &ns->in.place[id];
    const merge_operand *o = &ns->in.l->merge->operand[p->operand];
    const place *opened = &ns->o->s.place[ns->link.up[id]];
    const bool walked = operand_walks(o);
    *t = mc->slot[walked ? opened->tensor : o->tensor].t;
    return &(*t)->level[walked ? opened->level : o->level];
}

/* The column of positions below which an operand's fibers are. */
static const column *nest_parent(const nest *ns, int id)
{
    const place *p = &ns->in.place[id];
    const uint16_t up = ns->link.up[id];
    const merge_operand *o = &ns->in.l->merge->operand[p->operand];
    return &ns->o->place[operand_walks(o) ? ns->o->s.place[up].up : up];
}

/* Whether the kernel can be told of fibers in narrower bounds (nest_bounds.c). Merges and
 * choices run for all lanes of a strip or none, wherever those lie. */
static bool takes_wide(const nest *ns, const level *lv)
{
    const bool whole = ns->nwalk > 1 || ns->chooses;
    return !ns->made && lv->extent <= INT32_MAX && (!whole || lv->size <= INT32_MAX);
}

static bool prepare_walk(const machine *mc, nest *ns, nest_walk *w, int *width)
{
    const tensor *t;
    const level *lv = nest_level(mc, ns, w->place, &t);
    fiber_table f;
    /* one fiber may come in any order; two are ordered, or they couldn't be merged */
    level_fibers(lv, &f);
    w->gaps = f.shape == VIEW_GAPS;
    if (w->gaps ? !ns->by_lane || lv->base != ns->lo || f.slots : f.shape != VIEW_COORDS)
        return false;
    const bool wide = f.bounds && f.bounds_width > f.width;
    if (f.bounds) { /* else the parent's position and its duplicates bound it */
        if (!tensor_unique(t, (int)(lv - t->level)) || !fibers_listed(&f)) return false;
        if (f.bounds_width < f.width || (wide && !takes_wide(ns, lv))) return false;
    } else if (!(lv->props & PROP_UNIQUE)) {
        return false;
    }
    w->step = f.stride / f.width;
    if (!level_inside(lv, ns->lo, ns->hi) || (*width && *width != f.width)) return false;
    *width = f.width;
    w->bounds = f.bounds;
    w->wide = wide ? f.bounds : NULL;
    w->grouped = !f.bounds && lv > t->level && !(lv[-1].props & PROP_UNIQUE) &&
                 f.width == sizeof(int32_t) && takes_wide(ns, lv);
    if (!f.bounds && ns->nwalk > 1 && (!w->grouped || w->step > 1)) return false;
    ns->widens |= wide || w->grouped;
    w->crd = f.crd;
    w->entries = lv->size;
    w->parent = nest_parent(ns, w->place);
    return true;
}

/* Whether positions in a located operand's level are looked for, by a kernel that
 * does that; what isn't there must not produce. */
static bool probed(const nest *ns, const level *lv, int id)
{
    const uint64_t bit = UINT64_C(1) << ns->in.place[id].operand;
    return ns->probes && lv->kind->locate_many && !(ns->must & bit);
}

static bool prepare_load(const machine *mc, nest *ns, nest_load *x)
{
    if (x->made) {
        x->walk = 0;
        ns->far |= nest_made_far(mc, ns);
        return nest_made_holds(ns);
    }
    const node *n = &ns->in.node[x->node];
    const tensor *t = mc->slot[n->a].t;
    x->vals = t->vals;
    x->walk = -1;
    for (int k = 0; k < ns->nwalk; k++)
        if (ns->walk[k].place == n->b) x->walk = k;
    if (x->walk >= 0) {
        ns->far |= t->nvals * (int64_t)type_size(t->type) >= FROM_MEMORY;
        return true;
    }
    const level *lv = nest_level(mc, ns, n->b, &t);
    const int l = (int)(lv - t->level);
    const bool all = fibers_cover(t, l, ns->lo, ns->hi);
    x->probe = !all && probed(ns, lv, n->b) ? lv : NULL;
    x->slot = n->a;
    x->nvals = t->nvals;
    x->parent = nest_parent(ns, n->b);
    x->extent = lv->extent;
    x->lo = lv->base;
    return x->probe ? tensor_unique(t, l) : all;
}

static bool loaded(const nest *ns, int id)
{
    for (int k = 0; k < ns->nload; k++)
        if (!ns->load[k].made && ns->in.node[ns->load[k].node].b == id) return true;
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
        if (!level_covers(lv, ns->lo, ns->hi)) return false;
    }
    return true;
}

/* Whether no lane of strip o lacks the operand (or fixed place) `id`. */
static bool always_there(const machine *mc, const strip *o, int id)
{
    const place *p = &o->s.place[id];
    const merge_desc *m = o->s.l->merge;
    if (id == PLACE_ROOT) return true;
    if (p->kind == PLACE_GIVEN) return always_there(mc, o->around, o->link->up[id]);
    if (p->kind == PLACE_FIXED) return mc->c[p->cursor].c.at != NONE;
    if (p->kind != PLACE_OPERAND || m->count > MERGE_TABLE_MAX) return false;
    if (!(m->produce & ~table_bit(p->operand) & table_mask(m->count))) return true;
    const merge_operand *x = &m->operand[p->operand];
    if (o->around && (x->role != MERGE_LOCATE || x->up != ROOT)) return false;
    const cursor *c = &mc->c[x->cursor].c, *up = c->up;
    const level *lv = c->lv;
    if (x->role == MERGE_LOCATE) {
        if (!located_plainly(x)) return false;
        up = x->up == ROOT ? NULL : &mc->c[x->up].c;
        lv = &mc->slot[x->tensor].t->level[x->level];
    }
    int64_t lo, hi;
    merge_range(mc, m, &lo, &hi);
    return lv->props & PROP_FULL && !(up && up->at == NONE) && level_covers(lv, lo, hi);
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
        if (!always_there(mc, ns->o, walked ? ns->o->s.place[up].up : up)) return false;
    }
    return true;
}

/* A sum over a fiber has one factor of the fiber's own and two gathered ones at most; what
 * has others is as fast by strips. */
static bool few_factors(const nest *ns)
{
    int own = 0;
    if (ns->shape != NEST_FIBER || ns->in.sink[0].kind != SINK_REDUCE || ns->chooses)
        return true;
    for (int k = 0; k < ns->nload; k++)
        own += ns->load[k].walk >= 0;
    return own == 1 && ns->nload <= 3;
}

static bool prepare_operands(const machine *mc, nest *ns)
{
    const merge_desc *m = ns->in.l->merge;
    int width = 0;
    merge_range(mc, m, &ns->lo, &ns->hi);
    ns->widens = false;
    for (int k = 0; k < ns->nwalk; k++)
        if (!prepare_walk(mc, ns, &ns->walk[k], &width)) return false;
    ns->far = false;
    for (int k = 0; k < ns->nload; k++)
        if (!prepare_load(mc, ns, &ns->load[k])) return false;
    ns->width = width;
    return few_factors(ns) && prepare_rest(mc, ns) && prepare_musts(mc, ns);
}

/* Rows of the result have a place for each coordinate of the inner loop. */
static bool row_covers(const machine *mc, const nest *ns, const sink *to)
{
    const slot *r = &mc->slot[to->a];
    const int l = ns->in.place[to->b].level;
    return r->lev[l].insert && level_covers(&r->t->level[l], ns->lo, ns->hi);
}

bool nest_prepare(machine *mc, nest *ns)
{
    ns->rounds = 0;
    ns->limit_of = NULL;
    if (!machine_knows(mc, ns->o->s.l, ns->since)) {
        ns->kernel = NULL;
        ns->since = mc->bindings;
        if (prepare_operands(mc, ns)) ns->kernel = ns->width == 8 ? ns->wide : ns->narrow;
        ns->units = ns->kernel && super_units(mc, ns);
    }
    const sink *to = &ns->in.sink[0];
    if (!ns->kernel) return false;
    if (ns->by_lane && !super_lanes_ready(mc, ns)) return false;
    if (to->kind == SINK_ACC && !ns->by_lane && !row_covers(mc, ns, to)) return false;
    return to->kind != SINK_STORE || super_rows_ready(mc, ns, ns->width);
}

/* Whether some located operand may be absent in some lane of this strip. */
void nest_gaps(nest *ns)
{
    ns->gaps = false;
    for (int k = 0; k < ns->nload; k++) {
        const column *c = ns->load[k].parent;
        if (ns->load[k].walk >= 0 || c->full) continue;
        ns->gaps |= c->form == COL_ARRAY || c->base < 0;
    }
}

bool nest_lane_there(const nest *ns, int k)
{
    for (int j = 0; j < ns->nload; j++)
        if (ns->load[j].walk < 0 && column_get(ns->load[j].parent, k) < 0) return false;
    return true;
}

void nest_count_fibers(machine *mc, const nest *ns)
{
    for (int w = 0; w < ns->nwalk; w++)
        for (int k = ns->from; k < ns->to; k++)
            machine_saw(mc, SEEN_FIBERS, walk_parent(&ns->walk[w], k) >= 0);
}

stc_status nest_match(machine *mc, strip *outer, const loop_tree *inner, nest **out)
{
    const bool tells = nest_tells(mc, &inner->s);
    if (inner->s.nsink != 1 && !tells) return STC_OK;
    stc_status status = STC_OK;
    *out = NULL;
    nest *ns = mem_alloc(mc->cx, sizeof *ns);
    if (!ns) return mc->cx->diag.status;
    memset(ns, 0, offsetof(nest, link));
    ns->link = inner->link;
    ns->tells = tells;
    summary_copy(&ns->in, &inner->s);
    ns->o = outer;
    if (plain_body(ns) && match_shape(ns, mc) && match_value(ns, mc) && match_sink(ns) &&
        super_choose(mc, ns)) {
        status = nest_made_ready(mc, ns);
        if (!status) *out = ns;
    }
    if (!*out) nest_free(mc, ns);
    return status;
}

void nest_free(machine *mc, nest *ns)
{
    if (!ns) return;
    nest_made_free(mc, ns->made);
    nest_bounds_free(mc, ns->bounds);
    mem_free(mc->cx, ns, sizeof *ns);
}

void nest_describe(const nest *ns, textbuf *out)
{
    static const char *const shapes[] = {"fiber", "range", "merge"};
    static const char *const sinks[] = {"sum", "store", "accumulate"};
    text_add(out, "nest %s -> %s", shapes[ns->shape], sinks[ns->in.sink[0].kind]);
    if (ns->made) text_add(out, " of values made before");
}
