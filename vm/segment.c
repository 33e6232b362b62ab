/* segment.c: strips across the inner loops of many rounds of the outer one.
 *
 * The second tier of nests: where super.def has no row for what the inner loop
 * computes, its rounds are strung together, whichever lane of the outer strip
 * they belong to, and its body is evaluated over the whole string. Short rows
 * cost no more per element than long ones. `row` tells the lane of each
 * element; what the inner loop leaves alone is spread by it.
 */
#include "super.h"
#include <string.h>

struct segment {
    strip *g; /* the inner body: `own`, or that of the deep nest          */
    strip own;
    int lane;  /* of the outer strip: where filling stands         */
    bool open; /* in the middle of that lane                       */
    int64_t p[NEST_WALKS], end[NEST_WALKS], next;
    bool both, only[NEST_WALKS];
    int *row; /* of each element                                  */
    struct {
        const column *parent;
        int64_t extent, lo;
    } at[PLACE_MAX];   /* located operands                                 */
    row_places places; /* STORE                                            */
    int64_t target;    /* ACC: coordinate i is at target + i               */
    bool by_row;       /* ACC: i is the outer loop's                       */
};

/* ---- the inner body as a strip of its own -------------------------------------------- */

/* What is fixed for a round of the outer loop varies along the string. */
static void spread_summary(const nest *ns, loop_summary *s)
{
    for (int k = 1; k < s->nplace; k++) {
        place *p = &s->place[k];
        if (p->kind != PLACE_FIXED) continue;
        p->varies = ns->o.s.place[ns->link.up[k]].varies;
        if (p->varies) p->kind = PLACE_OPERAND;
    }
    for (int k = 0; k < s->nnode; k++) {
        node *x = &s->node[k];
        if (x->varies) continue;
        x->varies = ns->link.node[k] != UNLINKED && ns->o.s.node[ns->link.node[k]].varies;
        x->kind = NODE_GIVEN;
    }
}

bool segment_match(const nest *ns)
{
    const sink *x = &ns->in.sink[0];
    if (!strip_evaluable(&ns->in)) return false;
    if (!ns->in.nsink) return ns->deep;
    if (x->kind == SINK_REDUCE)
        return fn_result_class(x->fn, (vclass)x->cls) == x->cls &&
               !(fn_at(x->fn)->flags & FP_FAULTS);
    if (x->kind != SINK_STORE && x->kind != SINK_ACC) return false;
    if (x->kind == SINK_ACC && (fn_result_class(x->fn, (vclass)x->cls) != x->cls ||
                                fn_at(x->fn)->flags & FP_FAULTS))
        return false;
    for (int b = 1; b < ns->in.nplace; b++)
        if (ns->in.place[b].kind == PLACE_AT && b != x->b) return false;
    return true;
}

stc_status segment_ready(machine *mc, nest *ns)
{
    segment *sg = ns->segment;
    if (!sg) {
        sg = mem_zero(mc->cx, 1, sizeof *sg);
        if (!sg) return mc->cx->diag.status;
        ns->segment = sg;
        sg->g = ns->deep ? &ns->deep->o : &sg->own;
        if (!ns->deep) strip_setup(sg->g, &ns->in);
        spread_summary(ns, &sg->g->s);
    }
    if (!sg->g->block && strip_allocate(mc, sg->g)) return mc->cx->diag.status;
    if (!sg->row) sg->row = mem_array(mc->cx, STRIP, sizeof *sg->row);
    return sg->row ? STC_OK : mc->cx->diag.status;
}

void segment_free(machine *mc, nest *ns)
{
    segment *sg = ns->segment;
    if (!sg) return;
    if (!ns->deep) mem_free(mc->cx, sg->own.block, sg->own.block_size);
    mem_free(mc->cx, sg->row, STRIP * sizeof *sg->row);
    mem_free(mc->cx, sg, sizeof *sg);
}

/* ---- filling
 * ------------------------------------------------------------------------------ */

static int64_t index_at(const void *a, int width, int64_t k)
{
    return width == 4 ? ((const int32_t *)a)[k] : ((const int64_t *)a)[k];
}

/* Which walks produce in this lane, given what else is there. */
static void open_lane(const nest *ns, segment *sg)
{
    const merge_desc *m = ns->in.l->merge;
    uint64_t mask = 0, bit[NEST_WALKS] = {0};
    for (int b = 0; b < m->count; b++) {
        int w = 0;
        while (w < ns->nwalk && ns->walk[w].place != 1 + b)
            w++;
        if (w < ns->nwalk) {
            const int64_t parent = walk_parent(&ns->walk[w], sg->lane);
            const void *bounds = ns->walk[w].bounds;
            bit[w] = UINT64_C(1) << b;
            const column *c = ns->walk[w].parent;
            if (!bounds) {
                sg->p[w] = parent < 0 ? 0 : parent;
                sg->end[w] = parent < 0  ? 0
                             : c->ranged ? column_end(c, sg->lane)
                                         : parent + 1;
            } else {
                sg->p[w] = parent < 0 ? 0 : index_at(bounds, ns->width, parent);
                sg->end[w] = parent < 0 ? 0 : index_at(bounds, ns->width, parent + 1);
            }
        } else if (column_get(nest_parent(ns, 1 + b), sg->lane) >= 0) {
            mask |= UINT64_C(1) << b;
        }
    }
    sg->next = ns->lo;
    sg->both = m->produce >> (mask | bit[0] | bit[1]) & 1;
    sg->only[0] = m->produce >> (mask | bit[0]) & 1;
    sg->only[1] = m->produce >> (mask | bit[1]) & 1;
    sg->open = true;
}

/* Elements of one fiber; returns how many there are then. */
static int fill_fiber(const nest *ns, segment *sg, int n)
{
    column *c = &sg->g->place[ns->walk[0].place];
    int64_t *at = sg->g->icol[0].data;
    const int64_t left = sg->only[0] ? sg->end[0] - sg->p[0] : 0;
    const int take = left < STRIP - n ? (int)left : STRIP - n;
    const int64_t p = sg->p[0];
    if (n == 0) c->base = p;
    if (take > 0 && c->base + n != p) c->form = COL_ARRAY; /* a gap between rows */
    const int64_t stride = ns->walk[0].step;
    if (ns->width == 4 && stride == 1) {
        const int32_t *crd = (const int32_t *)ns->walk[0].crd + p;
        for (int k = 0; k < take; k++)
            at[n + k] = crd[k];
    } else {
        for (int k = 0; k < take; k++)
            at[n + k] = index_at(ns->walk[0].crd, ns->width, (p + k) * stride);
    }
    for (int k = 0; k < take; k++) {
        c->data[n + k] = p + k;
        sg->row[n + k] = sg->lane;
    }
    const bool none = ns->walk[0].gaps && take > 0 && at[n] < ns->lo;
    if (none) { /* one child a parent, and it isn't there */
        sg->p[0] = sg->end[0];
        sg->open = false;
        if (n == 0) c->form = COL_ARRAY;
        return n;
    }
    sg->p[0] = left > take ? p + take : sg->end[0];
    sg->open = sg->p[0] < sg->end[0];
    return n + take;
}

#define FILL_MERGED(NAME, I)                                                               \
    static int NAME(const nest *ns, segment *sg, int n)                                    \
    {                                                                                      \
        const I *ca = ns->walk[0].crd, *cb = ns->walk[1].crd;                              \
        int64_t *at = sg->g->icol[0].data, p = sg->p[0], q = sg->p[1];                     \
        int64_t *pa = sg->g->place[ns->walk[0].place].data;                                \
        int64_t *pb = sg->g->place[ns->walk[1].place].data;                                \
        const int64_t pe = sg->end[0], qe = sg->end[1];                                    \
        const bool oa = sg->only[0], ob = sg->only[1], both = sg->both;                    \
        while (n < STRIP && p < pe && q < qe) {                                            \
            const I i = ca[p], j = cb[q];                                                  \
            const bool left = i <= j, right = j <= i;                                      \
            at[n] = left ? i : j;                                                          \
            pa[n] = left ? p : NONE;                                                       \
            pb[n] = right ? q : NONE;                                                      \
            sg->row[n] = sg->lane;                                                         \
            n += (left & right & both) | (left & !right & oa) | (right & !left & ob);      \
            p += left;                                                                     \
            q += right;                                                                    \
        }                                                                                  \
        if (q == qe && !oa) p = pe;                                                        \
        if (p == pe && !ob) q = qe;                                                        \
        for (; q == qe && p < pe && n < STRIP; p++, n++) {                                 \
            at[n] = ca[p], pa[n] = p, pb[n] = NONE;                                        \
            sg->row[n] = sg->lane;                                                         \
        }                                                                                  \
        for (; p == pe && q < qe && n < STRIP; q++, n++) {                                 \
            at[n] = cb[q], pa[n] = NONE, pb[n] = q;                                        \
            sg->row[n] = sg->lane;                                                         \
        }                                                                                  \
        sg->p[0] = p, sg->p[1] = q;                                                        \
        sg->open = p < pe || q < qe;                                                       \
        return n;                                                                          \
    }
FILL_MERGED(fill_merged_4, int32_t)
FILL_MERGED(fill_merged_8, int64_t)

static int fill_range(const nest *ns, segment *sg, int n)
{
    int64_t *at = sg->g->icol[0].data;
    const int64_t end = sg->both ? ns->hi : sg->next;
    for (; n < STRIP && sg->next < end; n++) {
        at[n] = sg->next++;
        sg->row[n] = sg->lane;
    }
    sg->open = sg->next < end;
    return n;
}

static int fill(const nest *ns, segment *sg)
{
    int n = 0;
    for (int w = 0; w < ns->nwalk; w++) {
        column *c = &sg->g->place[ns->walk[w].place];
        c->form = ns->shape == NEST_FIBER ? COL_STEP : COL_ARRAY;
        c->full = ns->shape == NEST_FIBER;
    }
    sg->g->icol[0].form = COL_ARRAY;
    while (n < STRIP && sg->lane < ns->o.n) {
        if (!sg->open) open_lane(ns, sg);
        n = ns->shape == NEST_FIBER   ? fill_fiber(ns, sg, n)
            : ns->shape == NEST_RANGE ? fill_range(ns, sg, n)
            : ns->width == 8          ? fill_merged_8(ns, sg, n)
                                      : fill_merged_4(ns, sg, n);
        if (!sg->open) sg->lane++;
    }
    return n;
}

/* ---- what comes from the outer strip
 * ----------------------------------------------------- */

static void spread_places(const nest *ns, segment *sg)
{
    const int64_t *i = sg->g->icol[0].data;
    for (int k = 1; k < ns->in.nplace; k++) {
        column *c = &sg->g->place[k];
        const place *p = &ns->in.place[k];
        int64_t any = 0; /* negative if one is absent */
        bool ranged = false;
        if (p->kind == PLACE_FIXED && sg->g->s.place[k].varies) {
            if (ns->o.s.place[ns->link.up[k]].kind == PLACE_AT) continue;
            const column *from = &ns->o.place[ns->link.up[k]];
            ranged = from->ranged;
            for (int e = 0; e < sg->g->n; e++)
                any |= c->data[e] = column_get(from, sg->row[e]);
            for (int e = 0; ranged && e < sg->g->n; e++)
                c->end[e] = column_end(from, sg->row[e]);
        } else if (p->kind == PLACE_OPERAND && sg->at[k].parent) {
            const column *from = sg->at[k].parent;
            const int64_t rows = sg->at[k].extent, lo = sg->at[k].lo;
            for (int e = 0; e < sg->g->n; e++) {
                const int64_t up = column_get(from, sg->row[e]);
                any |= c->data[e] = up < 0 ? NONE : up * rows + i[e] - lo;
            }
        } else {
            continue;
        }
        c->form = COL_ARRAY;
        c->full = any >= 0;
        c->ranged = ranged;
    }
}

static void spread_nodes(const nest *ns, segment *sg)
{
    for (int k = 0; k < ns->in.nnode; k++) {
        const node *x = &sg->g->s.node[k];
        if (x->kind != NODE_GIVEN || ns->link.node[k] == UNLINKED) continue;
        const vcolumn *from = &ns->o.node[ns->link.node[k]];
        vcolumn *to = &sg->g->node[k];
        const size_t size = class_size((vclass)x->cls);
        if (!from->p) {
            if (to->p || memcmp(&to->one, &from->one, size)) to->spread = 0;
            to->one = from->one;
            to->p = NULL;
            continue;
        }
        for (int e = 0; e < sg->g->n; e++)
            class_put((vclass)x->cls, to->data, e,
                      class_get((vclass)x->cls, from->p, sg->row[e]));
        to->p = to->data;
        to->spread = 0;
    }
}

/* ---- sinks
 * --------------------------------------------------------------------------------- */

#define ADD_RUNS(CLS, T)                                                                   \
    static void add_runs_##CLS(T *out, const T *x, const int *row, int n)                  \
    {                                                                                      \
        for (int k = 0; k < n;) {                                                          \
            const int r = row[k];                                                          \
            T sum = x[k++];                                                                \
            for (; k < n && row[k] == r; k++)                                              \
                sum = FN_ADD_##CLS(sum, x[k]);                                                \
            out[r] = FN_ADD_##CLS(out[r], sum);                                               \
        }                                                                                  \
    }
ADD_RUNS(F64, double)
ADD_RUNS(F32, float)
ADD_RUNS(I64, int64_t)

static void reduce_runs(nest *ns, segment *sg)
{
    const sink *x = &ns->in.sink[0];
    const vclass cls = (vclass)x->cls;
    const void *v = strip_spread(sg->g, x->node);
    void *out = ns->o.node[ns->link.result].data;
    if (x->fn == FN_ADD && cls == CLASS_F64) {
        add_runs_F64(out, v, sg->row, sg->g->n);
    } else if (x->fn == FN_ADD && cls == CLASS_F32) {
        add_runs_F32(out, v, sg->row, sg->g->n);
    } else if (x->fn == FN_ADD && cls == CLASS_I64) {
        add_runs_I64(out, v, sg->row, sg->g->n);
    } else {
        const fn_scalar fn = fn_scalar_of(x->fn, cls);
        for (int k = 0; k < sg->g->n; k++) {
            value acc = class_get(cls, out, sg->row[k]), e = class_get(cls, v, k);
            fn(&acc, &acc, &e, NULL);
            class_put(cls, out, sg->row[k], acc);
        }
    }
}

/* Element by element, in order: a place may come several times. */
static void accumulate_runs(machine *mc, nest *ns, segment *sg)
{
    const sink *x = &ns->in.sink[0];
    const slot *r = &mc->slot[x->a];
    const stc_type type = r->t->type;
    const vclass cls = (vclass)x->cls;
    const void *v = strip_spread(sg->g, x->node);
    int64_t *i = sg->g->icol[0].data;
    const int64_t to = sg->target;
    const int n = sg->g->n;
    mc->slot[x->a].stores += (uint64_t)n;
    for (int k = 0; sg->by_row && k < n; k++) /* nothing reads the columns any more */
        i[k] = column_get(&ns->o.icol[0], sg->row[k]);
    if (x->fn == FN_ADD && type == STC_F64) {
        double *out = r->t->vals;
        const double *from = v;
        for (int k = 0; k < n; k++)
            out[to + i[k]] += from[k];
        return;
    }
    const fn_scalar fn = fn_scalar_of(x->fn, cls);
    for (int k = 0; k < n; k++) {
        value acc = type_load(type, r->t->vals, to + i[k]), e = class_get(cls, v, k);
        fn(&acc, &acc, &e, NULL);
        type_store(type, r->t->vals, to + i[k], acc);
    }
}

/* Closes the rows before `row` in the result. */
static void close_rows(append_room *room, int64_t row, int64_t end)
{
    for (; room->closed < row; room->closed++)
        super_bound(room, room->closed + 1, end);
}

static stc_status append_runs(machine *mc, nest *ns, segment *sg, bool last)
{
    const sink *x = &ns->in.sink[0];
    const row_places *rp = &sg->places;
    const int n = sg->g->n;
    tensor *t = rp->r->t;
    append_room room;
    const int64_t base = rp->base;
    const column *i = &ns->o.icol[0];
    const int64_t parents = base + column_get(i, ns->o.n - 1) + 1;
    if (rp->leaf->kind->append_room(mc->cx, rp->leaf, n, parents, &room) ||
        tensor_reserve_values(t, room.pos + n))
        return mc->cx->diag.status;
    for (int k = 0; k < n; k++) {
        const int64_t row = base + column_get(i, sg->row[k]);
        if (room.closed < row) close_rows(&room, row, room.pos + k);
    }
    if (last) close_rows(&room, parents, room.pos + n);
    strip_put_coords(&room, &sg->g->icol[0], 0, n);
    const int64_t pos = room.pos;
    rp->leaf->kind->append_done(rp->leaf, n, room.closed);
    if (pos + n > t->nvals) t->nvals = pos + n;
    rp->r->stores += (uint64_t)n;
    if (n > 0) {
        const void *v = strip_spread(sg->g, x->node);
        strip_store(t->type, t->vals, pos, v, type_class(t->type), n);
    }
    return STC_OK;
}

/* Reductions start from what the outer body gives, or from nothing. */
static void start_runs(nest *ns)
{
    const node *r = &ns->o.s.node[ns->link.result];
    const vclass cls = (vclass)r->cls;
    vcolumn *to = &ns->o.node[ns->link.result];
    value zero = {0};
    for (int k = 0; k < ns->o.n; k++) {
        const vcolumn *from = r->nargs ? &ns->o.node[r->arg[0]] : NULL;
        const value v = !from ? zero : from->p ? class_get(cls, from->p, k) : from->one;
        class_put(cls, to->data, k, v);
    }
}

/* Where a result that is accumulated in has its places: a range below a place that
 * no loop moves. */
static bool find_target(const machine *mc, const nest *ns, segment *sg)
{
    const sink *x = &ns->in.sink[0];
    const place *at = &ns->in.place[x->b];
    const place *above = &ns->o.s.place[ns->link.up[x->b]];
    const merge_desc *m = ns->o.s.l->merge;
    int64_t first = ns->lo, last = ns->hi;
    sg->by_row = at->kind == PLACE_FIXED;
    if (sg->by_row) {
        at = above;
        above = &ns->o.s.place[at->up];
        first = m->lo == ROOT ? 0 : mc->ext[m->lo];
        last = mc->ext[m->hi];
    }
    const slot *r = &mc->slot[x->a];
    const level *lv = &r->t->level[at->level];
    const int64_t parent = above->cursor == ROOT ? 0 : mc->c[above->cursor].c.at;
    fiber_table f;
    int64_t end;
    if (at->level + 1 != r->row->fmt.levels || !r->lev[at->level].insert ||
        !lv->kind->table || parent < 0 || (x->cls != type_class(r->t->type)))
        return false;
    lv->kind->table(lv, &f);
    if (f.shape != VIEW_RANGE || f.lo > first || f.hi < last ||
        !size_mul(parent + 1, f.hi - f.lo, &end) || end > r->t->nvals)
        return false;
    sg->target = parent * (f.hi - f.lo) - f.lo;
    return true;
}

bool segment_prepare(const machine *mc, nest *ns)
{
    segment *sg = ns->segment;
    if (ns->in.nsink && ns->in.sink[0].kind == SINK_ACC && !find_target(mc, ns, sg))
        return false;
    const merge_desc *m = ns->in.l->merge;
    for (int b = 0; b < m->count; b++) {
        bool walked = m->operand[b].role == MERGE_KNOWN;
        for (int w = 0; w < ns->nwalk; w++)
            walked |= ns->walk[w].place == 1 + b;
        sg->at[1 + b].parent = NULL;
        if (walked) continue;
        fiber_table f;
        const tensor *t;
        const level *lv = nest_level(mc, ns, 1 + b, &t);
        if (!lv->kind->table || !lv->kind->locate) return false;
        lv->kind->table(lv, &f);
        if (f.shape != VIEW_RANGE || f.lo > ns->lo || f.hi < ns->hi) return false;
        sg->at[1 + b].parent = nest_parent(ns, 1 + b);
        sg->at[1 + b].extent = f.hi - f.lo;
        sg->at[1 + b].lo = f.lo;
    }
    return true;
}

/* Every lane of the outer strip: the kernel of nests that have no other. */
stc_status segment_kernel(machine *mc, nest *ns)
{
    segment *sg = ns->segment;
    const bool reduces = ns->link.result != UNLINKED;
    const bool accumulates = !reduces && ns->in.nsink && ns->in.sink[0].kind == SINK_ACC;
    const bool appends = !reduces && !accumulates && ns->in.nsink;
    sg->lane = 0;
    sg->open = sg->g->entered = false;
    sg->g->rows = sg->row;
    sg->g->around = &ns->o;
    if (reduces) start_runs(ns);
    if (appends && !super_rows(mc, ns, &sg->places)) return SUPER_REPLAY;
    bool last = ns->o.n == 0;
    while (!last) {
        sg->g->n = fill(ns, sg);
        last = sg->lane == ns->o.n;
        ns->rounds += sg->g->n;
        if (sg->g->n > 0) {
            spread_places(ns, sg);
            spread_nodes(ns, sg);
            if (strip_eval(mc, sg->g)) return mc->cx->diag.status;
            if (reduces) reduce_runs(ns, sg);
            if (accumulates && sg->g->n > 0) accumulate_runs(mc, ns, sg);
        }
        if (appends && append_runs(mc, ns, sg, last)) return mc->cx->diag.status;
        if (super_poll(mc, ns)) return mc->cx->diag.status;
    }
    return STC_OK;
}
