/* interval_bulk.c: whole strips into a result, row after row.
 *
 * Where the levels above a result's last one have a place for every coordinate,
 * the parent of each row is counted, and a strip's lanes can be appended at once:
 * as runs that cover their rows, or as coordinates in order. What doesn't go so
 * goes fiber by fiber (interval_sink.c), in the same order; either may follow the
 * other.
 */
#include "interval.h"
#include <string.h>

/* Below outer levels that have a place for every coordinate, parents are counted:
 * the position for lane `row` of the loop outside the sink's. */
int64_t interval_parent(const interval *iv, const ivl_target *t, int row)
{
    int64_t parent = t->base;
    int of[IVL_LOOPS];
    of[t->loop - 1] = row; /* there are levels above, and so there is one */
    for (int j = t->loop - 1; j > 0; j--)
        of[j - 1] = iv->loop[j].row[of[j]];
    for (int k = 0; k + 1 < t->n; k++) {
        const int64_t i = iv->loop[t->at[k].loop].g.icol[0].data[of[t->at[k].loop]];
        parent = parent * t->outer[k].extent + i - t->outer[k].lo;
    }
    return parent;
}

/* ---- runs that cover their rows --------------------------------------------------- */

static level *last_level(const machine *mc, const ivl_target *t)
{
    tensor *r = mc->slot[t->x->a].t;
    return &r->level[r->fmt.levels - 1];
}

/* Coordinates in order, one place a lane: all of them the led operand's, in rows of their
 * own. */
static bool takes_led(const machine *mc, const ivl_loop *v, const ivl_target *t)
{
    const level *lv = last_level(mc, t);
    return t->x->kind == SINK_STORE && t->direct && lv->kind->append_room &&
           (lv->props & (PROP_UNIQUE | PROP_BRANCHLESS)) == PROP_UNIQUE &&
           v->led->t.lo >= lv->base && v->led->t.hi <= lv->base + lv->extent &&
           t->n == v->depth + 1;
}

/* Rows that cover the fibers they go into: what they leave out would get a neighbour's
 * value, and not the fill. */
static bool takes_fibers(const machine *mc, const ivl_loop *v, const ivl_target *t)
{
    const level *lv = last_level(mc, t);
    return t->x->kind == SINK_STORE && (t->direct || t->n == 1) &&
           lv->kind->append_fibers && v->begin == lv->base &&
           v->end == lv->base + lv->extent;
}

/* Nothing but the sink needs to know which lanes are of which row, or where in it. */
static bool stands_apart(const ivl_loop *v)
{
    if (!v->whole || v->fails || v->depth + 1 < v->of->loops || v->g.s.nsink != 1)
        return false;
    for (int k = 0; k < v->g.s.nnode; k++)
        if (v->g.s.node[k].kind == NODE_GIVEN && v->link.node[k] != UNLINKED &&
            v->g.s.node[k].varies)
            return false;
    return true;
}

/* A level with a place for every coordinate of the loop. */
bool interval_takes_every(const machine *mc, const ivl_loop *v, const ivl_target *t)
{
    const level *lv = last_level(mc, t);
    const slot *r = &mc->slot[t->x->a];
    fiber_table f;
    if (!r->lev[r->t->fmt.levels - 1].insert) return false;
    lv->kind->table(lv, &f);
    return f.lo <= v->begin && f.hi >= v->end;
}

bool interval_takes_elements(const machine *mc, const ivl_loop *v)
{
    const sink *x = &v->g.s.sink[0];
    if (!stands_apart(v)) return false;
    if (x->kind == SINK_REDUCE) return v->depth && interval_adds(x);
    if (x->kind == SINK_WSADD) return true;
    const ivl_target *t = &v->of->target; /* there is one, or none */
    if (v->of->ntarget == 0) return false;
    const stc_type type = mc->slot[x->a].t->type;
    if (type_size(type) > sizeof(int64_t) || !(t->direct || t->n == 1)) return false;
    return takes_fibers(mc, v, t) || interval_takes_every(mc, v, t);
}

ivl_bare interval_bare(const machine *mc, const ivl_loop *v)
{
    if (!stands_apart(v)) return BARE_NOT;
    if (v->spelt_out) return BARE_FIBERS;
    if (v->depth && interval_adds(&v->g.s.sink[0]))
        return v->led || v->summed != UNLINKED ? BARE_FIBERS : BARE_LENGTHS;
    const ivl_target *t = &v->of->target; /* there is one, or none */
    if (v->of->ntarget == 0 || t->x != &v->g.s.sink[0]) return BARE_NOT;
    return (v->led ? takes_led(mc, v, t) : takes_fibers(mc, v, t)) ? BARE_FIBERS : BARE_NOT;
}

/* The parent of the fiber of outer lane `row`. */
static int64_t parent_of(const machine *mc, const ivl_loop *v, const ivl_target *t, int row)
{
    if (t->direct) return interval_parent(v->of, t, row);
    const loop_summary *s = &v->g.s;
    const uint16_t up = s->place[s->place[t->x->b].up].cursor;
    return up == ROOT ? 0 : mc->c[up].c.at;
}

/* Values of lanes [from, from + n) to positions from `pos` on. */
static void put_lanes(tensor *to, ivl_loop *v, const sink *x, int from, int n, int64_t pos)
{
    const vclass cls = type_class(to->type);
    if (v->elems) {
        const size_t size = type_size(to->type);
        memcpy((char *)to->vals + (size_t)pos * size,
               (const char *)v->elems + (size_t)from * size, (size_t)n * size);
        return;
    }
    const char *in = strip_spread(&v->g, x->node);
    strip_store(to->type, to->vals, pos, in + (size_t)from * class_size(cls), cls, n);
}

/* … as elements. */
static const char *lane_elems(const tensor *to, ivl_loop *v, const sink *x)
{
    if (v->elems) return v->elems;
    const vclass cls = type_class(to->type);
    strip_store(to->type, v->g.scratch, 0, strip_spread(&v->g, x->node), cls, v->g.n);
    return v->g.scratch;
}

/* How many fibers from f on have parents one after the other: parents ascend. */
static int next_fibers(const machine *mc, const ivl_loop *v, const ivl_target *t, int f,
                       int64_t *parent)
{
    int n = v->nfiber - f;
    *parent = parent_of(mc, v, t, v->fiber[f]);
    if (n == 1 || parent_of(mc, v, t, v->fiber[f + n - 1]) == *parent + n - 1) return n;
    n = 1; /* the last one's isn't there */
    while (parent_of(mc, v, t, v->fiber[f + n]) == *parent + n)
        n++;
    return n;
}

/* As many rows at a time as have parents one after the other. */
static stc_status put_fibers(machine *mc, ivl_loop *v, ivl_target *t)
{
    slot *r = &mc->slot[t->x->a];
    level *lv = last_level(mc, t);
    const size_t size = type_size(r->t->type);
    const char *elems = lane_elems(r->t, v, t->x);
    for (int f = 0, n; f < v->nfiber; f += n) {
        int64_t parent;
        const int from = v->start[f];
        n = next_fibers(mc, v, t, f, &parent);
        const int lanes = v->start[f + n] - from;
        const int64_t end = f + n < v->nfiber ? lv->base + lv->extent : v->next;
        const int64_t pos = lv->kind->append_next(lv, parent, v->at[from]);
        if ((pos > 0 && asm_value(mc, r, pos - 1)) ||
            tensor_reserve_values(r->t, pos + lanes))
            return mc->cx->diag.status;
        if (lv->kind->append_fibers(mc->cx, lv, parent, n, v->start + f, v->at, end,
                                    elems + (size_t)from * size, r->t->vals, size))
            return mc->cx->diag.status;
        fetch((char *)r->t->vals + (size_t)lv->size * size, (size_t)lanes * size);
        const index_array *crd = &lv->a[STC_CRD];
        fetch((char *)crd->data + crd->len * crd->stride, (size_t)lanes * 4);
        r->t->nvals = lv->size;
        t->parent = parent + n - 1;
    }
    r->stores += (uint64_t)v->g.n;
    return STC_OK;
}

/* ---- coordinates in order --------------------------------------------------------- */

/* Where rows end, of which the first and the last have parents `first` and `last`. */
static void close_rows(const ivl_loop *v, const ivl_target *t, append_room *room,
                       int64_t first, int64_t last)
{
    const int *row = v->fiber, n = v->nfiber;
    const bool counted = last - first == row[n - 1] - row[0];
    room_close(room, first, room->pos);
    if (last - first == n - 1 && room->bounds_width == 4) { /* none is empty */
        int32_t *to = room->bounds;
        for (int f = 1; f < n; f++)
            *to++ = (int32_t)room->pos + v->start[f];
        room->bounds = to;
        room->closed += n - 1;
        return;
    }
    for (int f = 1; f < n; f++) {
        const int64_t parent =
            counted ? first + row[f] - row[0] : interval_parent(v->of, t, row[f]);
        room_close(room, parent, room->pos + v->start[f]);
    }
}

/* A strip's rows behind those that are there, unless one of them comes again. */
static stc_status put_rows(machine *mc, ivl_loop *v, ivl_target *t, bool *done)
{
    slot *r = &mc->slot[t->x->a];
    level *lv = last_level(mc, t);
    asm_level *a = &r->lev[r->t->fmt.levels - 1];
    const int n = v->g.n;
    const int64_t first = interval_parent(v->of, t, v->fiber[0]);
    const int64_t last = interval_parent(v->of, t, v->fiber[v->nfiber - 1]);
    append_room room;
    const bool goes_on = first == t->parent && first == a->parent;
    if ((first <= a->parent && !goes_on) || last < first) return STC_OK;
    if (lv->edges < t->parent) return STC_OK; /* it is open, and behind it empty ones are */
    if (lv->kind->append_room(mc->cx, lv, n, last, &room) ||
        (room.pos > 0 && asm_value(mc, r, room.pos - 1)) ||
        tensor_reserve_values(r->t, room.pos + n))
        return mc->cx->diag.status;
    close_rows(v, t, &room, first, last);
    if (room.width == 4) {
        lead_coords(v, room.crd);
    } else {
        lead_spread(v);
        strip_put_coords(&room, &v->g.icol[0], 0, n);
    }
    lv->kind->append_done(lv, n, room.closed);
    put_lanes(r->t, v, t->x, 0, n, room.pos);
    r->t->nvals = room.pos + n;
    fetch((char *)room.crd + n * room.width, (size_t)n * (size_t)room.width);
    fetch((char *)r->t->vals + (room.pos + n) * (int64_t)type_size(r->t->type),
          (size_t)n * type_size(r->t->type));
    a->parent = t->parent = last;
    r->stores += (uint64_t)n;
    *done = true;
    return STC_OK;
}

/* ---- rows of elements --------------------------------------------------------------- */

static stc_status put_elements(machine *mc, ivl_loop *v, ivl_target *t)
{
    slot *r = &mc->slot[t->x->a];
    const level *lv = last_level(mc, t);
    for (int f = 0; f < v->nfiber; f++) {
        const int from = v->start[f], n = v->start[f + 1] - from;
        t->parent = parent_of(mc, v, t, v->fiber[f]);
        const int64_t pos = t->parent * lv->extent + v->at[from] - lv->base;
        if (asm_value(mc, r, pos + n - 1)) return mc->cx->diag.status;
        if (t->x->kind == SINK_ACC) {
            const char *in = strip_spread(&v->g, t->x->node);
            const size_t size = class_size((vclass)t->x->cls);
            interval_add(v, t->x, r->t, pos, in + (size_t)from * size, n);
        } else {
            put_lanes(r->t, v, t->x, from, n, pos);
        }
    }
    r->stores += (uint64_t)v->g.n;
    return STC_OK;
}

static stc_status put_spelt(machine *mc, ivl_loop *v, ivl_target *t)
{
    const tensor *r = mc->slot[t->x->a].t;
    if (!takes_fibers(mc, v, t)) return put_elements(mc, v, t);
    if (!v->elems) {
        put_lanes(&(tensor){.type = r->type, .vals = v->g.scratch}, v, t->x, 0, v->g.n, 0);
        v->elems = v->g.scratch;
    }
    v->elems = spell_join(v, v->elems, type_size(r->type));
    return put_fibers(mc, v, t);
}

stc_status interval_put_bulk(machine *mc, ivl_loop *v, ivl_target *t, bool *done)
{
    *done = v->spelt_out;
    if (*done) return put_spelt(mc, v, t);
    *done = v->alone && !v->sieves && takes_fibers(mc, v, t);
    if (*done) return put_fibers(mc, v, t);
    return v->led && v->bare ? put_rows(mc, v, t, done) : STC_OK;
}
