/* strip_sink.c: a strip's values into a register, a result or a workspace.
 *
 * Results: the strip's first lane goes the way of the base operations, which
 * opens parents that have nothing yet; the others then follow in bulk, at
 * places that differ from the first one's by their coordinate (levels that
 * insert) or by one (levels that append). Where all of a strip's values are known to go
 * behind those that are there, they are computed in the result itself, and not copied.
 */
#include "../work/ws.h"
#include "strip.h"
#include <string.h>

static value lane_value(const strip *s, const sink *x, int k)
{
    const vcolumn *c = &s->node[x->node];
    return c->p ? class_get((vclass)s->s.node[x->node].cls, c->p, k) : c->one;
}

/* ---- reductions ---------------------------------------------------------------- */

/* *acc = fn(*acc, v), or the other way round; lane k's failure is told. */
static stc_status reduce_one(machine *mc, strip *s, const sink *x, value *acc, value v,
                             int k)
{
    const value two[2] = {x->right ? v : *acc, x->right ? *acc : v};
    const char *why = NULL;
    stc_status st = STC_OK;
    fn_fault f = FAULT_NONE;
    if (x->kind == SINK_HOST)
        st = host_call_one(x->at->u.host, two, acc, &why);
    else
        f = fn_scalar_of(x->fn, (vclass)x->cls)(acc, &two[0], &two[1], NULL);
    if (!st && !f) return STC_OK;
    mc->i[s->s.l->index] = s->s.l->i = column_get(&s->icol[0], k);
    return st ? machine_host_failed(mc, x->at, st, why) : machine_fault(mc, x->at, f);
}

/* Lane by lane, in order: functions that mustn't be reassociated. */
static stc_status reduce_in_order(machine *mc, strip *s, const sink *x)
{
    value acc = mc->v[x->a];
    for (int k = 0; k < s->n; k++) {
        const stc_status st = reduce_one(mc, s, x, &acc, lane_value(s, x, k), k);
        if (st) return st;
    }
    mc->v[x->a] = acc;
    return STC_OK;
}

static bool in_any_order(const strip *s, const sink *x)
{
    enum { BOTH = FP_ASSOCIATIVE | FP_COMMUTATIVE };
    if (x->kind == SINK_HOST) return (x->at->u.host->of->flags & BOTH) == BOTH;
    return (fn_at(x->fn)->flags & BOTH) == BOTH && s->n >= STRIP_FEW;
}

const void *strip_halves(strip *s, const sink *x, const void *values)
{
    const vclass cls = (vclass)x->cls;
    const size_t size = class_size(cls);
    const char *in = values, *why;
    char *out = s->scratch, *other = out + STRIP / 2 * sizeof(value);
    if (!in_any_order(s, x)) return NULL;
    for (int n = s->n; n > 1;) {
        const int half = n / 2;
        const void *two[2] = {in, in + (size_t)(n - half) * size};
        if (x->kind != SINK_HOST)
            fn_array_of(x->fn, cls)(out, two[0], two[1], NULL, half);
        else if (host_call(x->at->u.host, half, two, out, &why))
            return NULL;
        /* the odd one stays where it is, past the half */
        if (n % 2) memcpy(out + (size_t)half * size, in + (size_t)half * size, size);
        n -= half;
        in = out;
        out = other;
        other = (char *)(uintptr_t)in;
    }
    return in;
}

/* What fails (by a function of the host's) is done again in order, to fail at its place. */
static stc_status strip_reduce(machine *mc, strip *s, const sink *x)
{
    const void *one = strip_halves(s, x, strip_spread(s, x->node));
    if (!one) return reduce_in_order(mc, s, x);
    value acc = mc->v[x->a];
    if (reduce_one(mc, s, x, &acc, class_get((vclass)x->cls, one, 0), 0)) {
        diag_clear(mc->cx);
        return reduce_in_order(mc, s, x);
    }
    mc->v[x->a] = acc;
    return STC_OK;
}

/* ---- results ------------------------------------------------------------------- */

/* The places of a result that are its machine's to write: of those that a worker shares
 * with others its chunk's, or none behind the last. */
static int64_t own_places(const machine *mc, const slot *r)
{
    if (!mc->worker) return INT64_MAX;
    const int64_t all = r->places ? r->places : tensor_places(r->t);
    return all != NONE ? all : INT64_MAX;
}

stc_status strip_aim(machine *mc, strip *s)
{
    const sink *x = &s->s.sink[0];
    if (s->s.nsink != 1 || x->kind != SINK_STORE || s->astray) return STC_OK;
    const node *body = &s->s.node[x->node];
    if (!body->varies || body->kind != NODE_FN) return STC_OK;
    tensor *t = mc->slot[x->a].t;
    const int64_t end = t->nvals + s->n;
    if (class_type((vclass)body->cls) != t->type || t->stains.line || end <= t->few)
        return STC_OK;
    if (end > t->vals_cap && !format_places_below(&t->fmt, 0) &&
        tensor_reserve_values(t, end))
        return mc->cx->diag.status;
    if (end > t->vals_cap || end > own_places(mc, &mc->slot[x->a])) return STC_OK;
    s->aimed = &s->node[x->node];
    s->aim = t->nvals;
    s->room = s->aimed->data;
    s->aimed->data = (char *)t->vals + t->nvals * (int64_t)type_size(t->type);
    s->aimed->spread = 0;
    return STC_OK;
}

void strip_unaim(strip *s, bool keep)
{
    vcolumn *c = s->aimed;
    if (!c) return;
    const vclass cls = (vclass)s->s.node[c - s->node].cls;
    if (keep && c->p == c->data) memcpy(s->room, c->data, (size_t)s->n * class_size(cls));
    if (c->p == c->data) c->p = s->room;
    s->astray |= keep;
    c->data = s->room;
    c->spread = 0;
    s->aimed = NULL;
}

static mcursor *target_cursor(machine *mc, const place *x)
{
    return x->cursor == ROOT ? NULL : &mc->c[x->cursor];
}

/* Everything that base operations do for one lane; *pos: where it went. */
static stc_status store_lane(machine *mc, strip *s, const sink *x, int k, int64_t *pos)
{
    slot *r = &mc->slot[x->a];
    for (int id = 1; id < s->s.nplace; id++) {
        const place *p = &s->s.place[id];
        if (p->kind != PLACE_AT || p->tensor != x->a) continue;
        const mcursor *up = target_cursor(mc, &s->s.place[p->up]);
        const stc_status st = asm_at(mc, r, p->level, &mc->c[p->cursor], up,
                                     column_get(&s->icol[p->icol], k), p->at);
        if (st) return st;
    }
    if (asm_place(mc, r, target_cursor(mc, &s->s.place[x->b]), x->at, pos))
        return mc->cx->diag.status;
    if (*pos != s->aim) strip_unaim(s, true);
    value v = lane_value(s, x, k);
    if (asm_value(mc, r, *pos)) return mc->cx->diag.status;
    if (x->kind == SINK_ACC) {
        const value old = type_load(r->t->type, r->t->vals, *pos);
        const fn_fault f = fn_scalar_of(x->fn, (vclass)x->cls)(&v, &old, &v, NULL);
        if (f) {
            mc->i[s->s.l->index] = s->s.l->i = column_get(&s->icol[0], k);
            return machine_fault(mc, x->at, f);
        }
    }
    type_store(r->t->type, r->t->vals, *pos, v);
    for (int id = s->s.nplace - 1; id > 0; id--) {
        const place *p = &s->s.place[id];
        if (p->kind != PLACE_AT || p->tensor != x->a || !p->kept) continue;
        const stc_status st = asm_keep(mc, r, p->level, &mc->c[p->cursor], p->keep);
        if (st) return st;
    }
    return STC_OK;
}

stc_status strip_store_lane(machine *mc, strip *s, const sink *x, int k)
{
    int64_t pos;
    return store_lane(mc, s, x, k, &pos);
}

static stc_status store_lanes(machine *mc, strip *s, const sink *x, int from)
{
    int64_t pos;
    strip_unaim(s, true);
    for (int k = from; k < s->n; k++) {
        mc->i[s->s.l->index] = s->s.l->i = column_get(&s->icol[0], k);
        const stc_status st = store_lane(mc, s, x, k, &pos);
        if (st) return st;
    }
    return STC_OK;
}

/* Values of consecutive lanes to consecutive positions. */
static void put_run(strip *s, const sink *x, const tensor *t, int64_t pos, int k, int n)
{
    const vclass cls = type_class(t->type);
    const char *from = strip_spread(s, x->node);
    from += (size_t)k * class_size(cls);
    if (x->kind == SINK_ACC) {
        const fn_array fn = fn_array_of(x->fn, cls);
        if (class_type(cls) == t->type) {
            char *to = (char *)t->vals + pos * (int64_t)class_size(cls);
            fn(to, to, from, NULL, n);
            return;
        }
        char *tmp = s->scratch;
        for (int j = 0; j < n; j++) {
            value v = class_get(cls, from, j);
            const value old = type_load(t->type, t->vals, pos + j);
            fn_scalar_of(x->fn, cls)(&v, &old, &v, NULL);
            class_put(cls, tmp, j, v);
        }
        from = tmp;
    }
    if (from == (const char *)t->vals + pos * (int64_t)type_size(t->type)) return;
    strip_store(t->type, t->vals, pos, from, cls, n);
}

static bool append_in_bulk(const machine *mc, const strip *s, const sink *x, const place *p)
{
    const slot *r = &mc->slot[x->a];
    return x->kind == SINK_STORE && !r->lev[p->level].insert && !s->s.l->unordered &&
           r->t->level[p->level].kind->append_room && p->icol == 0 &&
           (r->t->level[p->level].props & (PROP_UNIQUE | PROP_BRANCHLESS)) == PROP_UNIQUE;
}

void strip_put_coords(const append_room *room, const column *lanes, int from, int n)
{
    const column i = *lanes; /* its form doesn't change meanwhile */
    if (room->width == 4) {
        int32_t *to = room->crd;
        for (int k = 0; k < n; k++)
            to[k] = (int32_t)column_get(&i, from + k);
    } else {
        int64_t *to = room->crd;
        for (int k = 0; k < n; k++)
            to[k] = column_get(&i, from + k);
    }
}

/* Lanes 1 … n-1 behind the first, whose position was pos. Coordinates ascend,
 * as those of every ordered loop do; the range is checked at its ends. */
static stc_status append_rest(machine *mc, strip *s, const sink *x, const place *p,
                              int64_t pos)
{
    slot *r = &mc->slot[x->a];
    level *lv = &r->t->level[p->level];
    const int n = s->n - 1;
    const int64_t last = column_get(&s->icol[0], n);
    append_room room;
    if (last - lv->base >= lv->extent) return store_lanes(mc, s, x, 1);
    if (lv->kind->append_room(mc->cx, lv, n, 0, &room)) return mc->cx->diag.status;
    strip_put_coords(&room, &s->icol[0], 1, n);
    lv->kind->append_done(lv, n, 0);
    r->stores += (uint64_t)n;
    if (tensor_extend_unfilled(r->t, pos + n + 1)) return mc->cx->diag.status;
    put_run(s, x, r->t, pos + 1, 1, n);
    return STC_OK;
}

/* Coordinates within a level: their differences are integers, too. */
static bool ascends_in(const column *i, int n)
{
    int64_t down = 0; /* negative: some step isn't up */
    for (int k = 1; i->form == COL_ARRAY && k < n; k++)
        down |= i->data[k] - i->data[k - 1] - 1;
    return i->form != COL_FIXED && down >= 0;
}

/* The same for a level with a place for each coordinate that appends: what isn't there yet
 * is put where it belongs, in order. */
static bool puts_in_order(const slot *r, const strip *s, const sink *x, const place *p)
{
    const level_kind *kind = r->t->level[p->level].kind;
    return x->kind == SINK_STORE && kind->put && kind->props & PROP_ORDERED &&
           !s->s.l->unordered && ascends_in(&s->icol[p->icol], s->n);
}

/* The places of lanes 1 … n-1, in ranges where coordinates follow each other. */
static void put_rest(machine *mc, const strip *s, const place *p, level *lv)
{
    const mcursor *up = target_cursor(mc, &s->s.place[p->up]);
    const column *i = &s->icol[p->icol];
    const int64_t parent = up ? up->c.at : 0;
    if (i->form == COL_STEP && lv->kind->put_range) {
        lv->kind->put_range(lv, parent, column_get(i, 1), s->n - 1);
        return;
    }
    for (int k = 1; k < s->n; k++)
        lv->kind->put(lv, parent, column_get(i, k));
}

/* The same for a level that inserts, if its fibers are ranges. Lanes may have any
 * coordinates, and several the same: one goes in after the other then. */
static stc_status insert_rest(machine *mc, strip *s, const sink *x, const place *p,
                              int64_t pos)
{
    slot *r = &mc->slot[x->a];
    level *lv = &r->t->level[p->level];
    const column *i = &s->icol[p->icol];
    const stc_type type = r->t->type;
    const strip_into into = x->kind == SINK_ACC ? strip_into_of(x->fn, type) : NULL;
    const int64_t first = column_get(i, 0);
    int64_t most = column_get(i, s->n - 1);
    fiber_table t = {.lo = lv->base, .hi = lv->base + lv->extent};
    const bool inserts = r->lev[p->level].insert;
    if (inserts) lv->kind->table(lv, &t);
    if (!column_within(i, s->n, t.lo, t.hi - t.lo)) return store_lanes(mc, s, x, 1);
    const bool ascends = ascends_in(i, s->n);
    if (!ascends && (i->form != COL_ARRAY || (x->kind == SINK_ACC && !into)))
        return store_lanes(mc, s, x, 1);
    for (int k = 1; !ascends && k < s->n; k++)
        most = i->data[k] > most ? i->data[k] : most;
    const bool all = i->form == COL_STEP && x->kind == SINK_STORE && r->t->nvals > pos;
    r->stores += (uint64_t)s->n - 1;
    if (all ? tensor_extend_unfilled(r->t, pos + s->n)
            : asm_value(mc, r, pos + (most - first)))
        return mc->cx->diag.status;
    if (!inserts) put_rest(mc, s, p, lv);
    if (i->form == COL_STEP) {
        put_run(s, x, r->t, pos + 1, 1, s->n - 1);
        return STC_OK;
    }
    const char *from =
        (const char *)strip_spread(s, x->node) + class_size(type_class(type));
    char *vals = (char *)r->t->vals + (pos - first) * (int64_t)type_size(type);
    if (into) {
        into(vals, from, i->data + 1, s->n - 1);
        return STC_OK;
    }
    if (x->kind == SINK_ACC) { /* every place once: gathered, computed, and scattered */
        const column at = {.form = COL_ARRAY, .full = true, .data = i->data + 1};
        strip_load(type, s->scratch, vals, &at, s->n - 1, r->t->fill);
        fn_array_of(x->fn, type_class(type))(s->scratch, s->scratch, from, NULL, s->n - 1);
        from = s->scratch;
    }
    strip_scatter(type, r->t->vals, pos - first, i->data + 1, from, s->n - 1);
    return STC_OK;
}

/* The only place of the strip in the result is the last level's, below one
 * parent: what bulk storing needs. */
static bool single_place(const strip *s, const sink *x)
{
    const place *p = &s->s.place[x->b];
    if (p->kind != PLACE_AT || s->s.place[p->up].varies || !s->s.icol[p->icol].varies)
        return false;
    for (int id = 1; id < s->s.nplace; id++)
        if (id != x->b && s->s.place[id].kind == PLACE_AT && s->s.place[id].tensor == x->a)
            return false;
    return true;
}

static stc_status sink_result(machine *mc, strip *s, const sink *x)
{
    const place *p = &s->s.place[x->b];
    int64_t pos;
    if (!single_place(s, x) || (x->kind == SINK_ACC && fn_at(x->fn)->flags & FP_FAULTS))
        return store_lanes(mc, s, x, 0);
    if (s->icol[p->icol].form != COL_STEP && !append_in_bulk(mc, s, x, p))
        strip_unaim(s, true);
    mc->i[s->s.l->index] = s->s.l->i = column_get(&s->icol[0], 0);
    const stc_status st = store_lane(mc, s, x, 0, &pos);
    if (st || s->n == 1) return st;
    if (append_in_bulk(mc, s, x, p)) return append_rest(mc, s, x, p, pos);
    const slot *r = &mc->slot[x->a];
    if (r->lev[p->level].insert || puts_in_order(r, s, x, p))
        return insert_rest(mc, s, x, p, pos);
    return store_lanes(mc, s, x, 1);
}

/* ---- workspaces ---------------------------------------------------------------- */

_Static_assert((int)STRIP <= (int)WS_STRING,
               "strings of entries are no longer than strips");

bool strip_add_string(machine *mc, strip *s, const sink *x, stc_status *st)
{
    slot *w = &mc->slot[x->a];
    const column *i = &s->icol[x->icol[0]];
    return x->kind == SINK_WSADD && w->row->order == 1 && i->form == COL_ARRAY &&
           ws_add_vector(mc, w, i->data, strip_spread(s, x->node), s->n, x->fn, x->at, st);
}

static stc_status sink_workspace(machine *mc, strip *s, const sink *x)
{
    slot *w = &mc->slot[x->a];
    const int order = w->row->order;
    int64_t coords[STC_MAX_ORDER];
    stc_status string;
    if (strip_add_string(mc, s, x, &string)) return string;
    for (int k = 0; k < s->n; k++) {
        for (int d = 0; d < order; d++)
            coords[d] = column_get(&s->icol[x->icol[d]], k);
        const value v = lane_value(s, x, k);
        mc->i[s->s.l->index] = s->s.l->i = column_get(&s->icol[0], k);
        const stc_status st = ws_add(mc, w, coords, x->fn, (vclass)x->cls, &v, x->at);
        if (st) return st;
    }
    return STC_OK;
}

stc_status strip_sink(machine *mc, strip *s, const sink *x)
{
    if (sink_reduces(x)) return strip_reduce(mc, s, x);
    if (x->kind == SINK_WSADD || x->kind == SINK_WSCALL) return sink_workspace(mc, s, x);
    return sink_result(mc, s, x);
}
