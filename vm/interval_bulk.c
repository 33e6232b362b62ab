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
    if (t->loop) of[t->loop - 1] = row;
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

static bool takes_fibers(const machine *mc, const ivl_target *t)
{
    return t->x->kind == SINK_STORE && (t->direct || t->n == 1) &&
           last_level(mc, t)->kind->append_fibers;
}

ivl_bare interval_bare(const machine *mc, const ivl_loop *v)
{
    if (v->depth + 1 < v->of->loops || v->g.s.nsink != 1) return BARE_NOT;
    for (int k = 0; k < v->g.s.nnode; k++)
        if (v->g.s.node[k].kind == NODE_GIVEN && v->link.node[k] != UNLINKED &&
            v->g.s.node[k].varies)
            return BARE_NOT;
    if (v->depth && interval_adds(&v->g.s.sink[0]))
        return v->summed != UNLINKED ? BARE_FIBERS : BARE_LENGTHS;
    for (int k = 0; k < v->of->ntarget; k++)
        if (v->of->target[k].x == &v->g.s.sink[0])
            return takes_fibers(mc, &v->of->target[k]) ? BARE_FIBERS : BARE_NOT;
    return BARE_NOT;
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
        const size_t size = v->narrow;
        memcpy((char *)to->vals + (size_t)pos * size,
               (const char *)v->elems + (size_t)from * size, (size_t)n * size);
        return;
    }
    const char *in = strip_spread(&v->g, x->node);
    strip_store(to->type, to->vals, pos, in + (size_t)from * class_size(cls), cls, n);
}

/* How many fibers from f on have parents one after the other: parents ascend. */
static int next_fibers(const machine *mc, const ivl_loop *v, const ivl_target *t, int f,
                       int64_t *parent)
{
    int n = v->nfiber - f;
    *parent = parent_of(mc, v, t, v->fiber[f]);
    if (n == 1 || parent_of(mc, v, t, v->fiber[f + n - 1]) == *parent + n - 1) return n;
    for (n = 1; f + n < v->nfiber; n++)
        if (parent_of(mc, v, t, v->fiber[f + n]) != *parent + n) break;
    return n;
}

/* As many rows at a time as have parents one after the other. */
static stc_status put_fibers(machine *mc, ivl_loop *v, ivl_target *t)
{
    slot *r = &mc->slot[t->x->a];
    level *lv = last_level(mc, t);
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
        put_lanes(r->t, v, t->x, from, lanes, pos);
        if (lv->kind->append_fibers(mc->cx, lv, parent, n, v->start + f, v->at, end,
                                    r->t->vals, type_size(r->t->type)))
            return mc->cx->diag.status;
        r->t->nvals = lv->size;
        t->parent = parent + n - 1;
    }
    r->stores += (uint64_t)v->g.n;
    return STC_OK;
}

/* ---- coordinates in order --------------------------------------------------------- */

/* Whether the lanes are one coordinate each, ascending in every row, and fit. */
static bool lanes_ascend(const ivl_loop *v, const level *lv)
{
    const int64_t *i = v->g.icol[0].data, least = lv->base, most = lv->base + lv->extent;
    if (v->led && v->led->t.lo >= least && v->led->t.hi <= most) return true;
    bool ok = v->g.icol[0].form == COL_ARRAY && !v->nrep && v->len[0] == 1 &&
              i[0] >= least && i[0] < most;
    for (int k = 1; k < v->g.n; k++)
        ok &= (v->len[k] == 1) & (i[k] >= least) & (i[k] < most) &
              ((v->row[k] > v->row[k - 1]) |
               ((v->row[k] == v->row[k - 1]) & (i[k] > i[k - 1])));
    return ok;
}

static bool takes_rows(const machine *mc, const ivl_loop *v, const ivl_target *t)
{
    const level *lv = last_level(mc, t);
    return t->x->kind == SINK_STORE && t->direct && lv->kind->append_room && v->g.n > 0 &&
           (lv->props & (PROP_UNIQUE | PROP_BRANCHLESS)) == PROP_UNIQUE &&
           lanes_ascend(v, lv);
}

/* The first lane of the row behind that of lane k, which is row f of a led strip. */
static int next_row(const ivl_loop *v, int k, int *f)
{
    if (v->led) return ++*f < v->nfiber ? v->start[*f] : v->g.n;
    const int row = v->row[k];
    while (k < v->g.n && v->row[k] == row)
        k++;
    return k;
}

static stc_status put_rows(machine *mc, ivl_loop *v, ivl_target *t, bool *done)
{
    slot *r = &mc->slot[t->x->a];
    level *lv = last_level(mc, t);
    asm_level *a = &r->lev[r->t->fmt.levels - 1];
    const int n = v->g.n;
    const int64_t first = interval_parent(v->of, t, v->row[0]);
    const int64_t last = interval_parent(v->of, t, v->row[n - 1]);
    append_room room;
    const bool goes_on = first == t->parent && first == a->parent;
    if ((first <= a->parent && !goes_on) || last < first) return STC_OK;
    if (lv->edges < t->parent) return STC_OK; /* it is open, and behind it empty ones are */
    if (lv->kind->append_room(mc->cx, lv, n, last, &room) ||
        asm_value(mc, r, room.pos + n - 1))
        return mc->cx->diag.status;
    for (int k = 0, f = 0; k < n; k = next_row(v, k, &f)) {
        const int64_t parent = interval_parent(v->of, t, v->row[k]);
        for (; room.closed < parent; room.closed++) {
            if (room.bounds_width == 4) {
                ((int32_t *)room.bounds)[room.closed + 1] = (int32_t)(room.pos + k);
            } else {
                ((int64_t *)room.bounds)[room.closed + 1] = room.pos + k;
            }
        }
    }
    strip_put_coords(&room, &v->g.icol[0], 0, n);
    lv->kind->append_done(lv, n, room.closed);
    put_lanes(r->t, v, t->x, 0, n, room.pos);
    a->parent = t->parent = last;
    r->stores += (uint64_t)n;
    *done = true;
    return STC_OK;
}

stc_status interval_put_bulk(machine *mc, ivl_loop *v, ivl_target *t, bool *done)
{
    *done = v->alone && takes_fibers(mc, t);
    if (*done) return put_fibers(mc, v, t);
    return takes_rows(mc, v, t) ? put_rows(mc, v, t, done) : STC_OK;
}
