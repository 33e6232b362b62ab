/* cascade_sink.c: a string's values into results and workspaces; those into columns
 * of the loops around are folds (cascade_fold.c).
 */
#include "cascade.h"
#include "../super/super.h"
#include "../work/ws.h"
#include <string.h>

/* ---- workspaces ---------------------------------------------------------------- */

/* Lines of values to lines of an accumulator, the places of which are their coordinates. */
static stc_status add_lines(machine *mc, stage *st, const sink *x)
{
    slot *s = &mc->slot[x->a];
    workspace *w = s->ws;
    const int64_t *first = st->g->icol[0].data;
    const char *v = st->terms.kernel ? NULL : strip_spread(st->g, x->node);
    if (x->fn != w->fn && ws_use(mc, w, x->fn, x->at)) return mc->cx->diag.status;
    for (int r = 0, k = 0; r < st->runs; k = st->run_end[r++]) {
        const int n = st->run_end[r] - k;
        if (!v && r > 0 && first[r] == first[r - 1] &&
            n == k - (r > 1 ? st->run_end[r - 2] : 0))
            continue;
        if (v ? ws_add_line(mc, s, first[r], v + (size_t)k * w->size, n, x->at)
              : ws_touch_line(mc, s, first[r], n))
            return mc->cx->diag.status;
    }
    if (!v) stage_terms_add(mc, st, w->dense, first);
    return STC_OK;
}

static stc_status add_to_workspace(machine *mc, stage *st, const sink *x)
{
    strip *g = st->g;
    slot *w = &mc->slot[x->a];
    if (st->lines) return add_lines(mc, st, x);
    const int order = w->row->order;
    const vclass cls = (vclass)g->s.node[x->node].cls;
    stc_status status;
    if (strip_add_string(mc, g, x, &status)) return status;
    const void *from = strip_spread(g, x->node);
    int64_t coords[STC_MAX_ORDER];
    for (int k = 0; k < g->n; k++) {
        for (int d = 0; d < order; d++)
            coords[d] = column_get(&g->icol[x->icol[d]], k);
        const value v = class_get(cls, from, k);
        if (ws_add(mc, w, coords, x->fn, (vclass)x->cls, &v, x->at)) {
            strip_at_lane(mc, g, k);
            return mc->cx->diag.status;
        }
    }
    return STC_OK;
}

/* ---- results: values to positions ---------------------------------------------- */

/* Into positions that follow each other, by the function's loop over arrays; `room` is for
 * elements in their class, where they are stored in another type. */
static void accumulate_stretch(tensor *t, const sink *x, int64_t pos, const void *v, int n,
                               void *room)
{
    const vclass cls = (vclass)x->cls;
    const fn_array fn = fn_array_of(x->fn, cls);
    char *to = (char *)t->vals + pos * (int64_t)type_size(t->type);
    if (class_type(cls) == t->type) {
        fn(to, to, v, NULL, n);
        return;
    }
    strip_load(t->type, room, to, &(column){.form = COL_STEP}, n, t->fill);
    fn(room, room, v, NULL, n);
    strip_store(t->type, t->vals, pos, room, cls, n);
}

static void accumulate(tensor *t, const sink *x, const column *at, const char *v, int n,
                       void *room)
{
    const vclass cls = (vclass)x->cls;
    if (at->form == COL_STEP) {
        accumulate_stretch(t, x, at->base, v, n, room);
        return;
    }
    if (at->form == COL_ARRAY && strip_stretches(at->data, n)) {
        for (int k = 0, end; k < n; k = end) {
            end = strip_stretch(at->data, k, n);
            accumulate_stretch(t, x, at->data[k], v + (size_t)k * class_size(cls), end - k,
                               room);
        }
        return;
    }
    const strip_into into = at->form == COL_ARRAY ? strip_into_of(x->fn, t->type) : NULL;
    if (into) {
        into(t->vals, v, at->data, n);
        return;
    }
    const fn_scalar fn = fn_scalar_of(x->fn, cls);
    for (int k = 0; k < n; k++) {
        const int64_t p = column_get(at, k);
        value acc = type_load(t->type, t->vals, p), e = class_get(cls, v, k);
        fn(&acc, &acc, &e, NULL);
        type_store(t->type, t->vals, p, acc);
    }
}

/* The string's values to lines of positions. */
static void put_lines(stage *st, tensor *t, const sink *x, const column *at, const char *v)
{
    const vclass cls = type_class(t->type);
    for (int r = 0, k = 0; r < st->runs; k = st->run_end[r++]) {
        const char *from = v + (size_t)k * class_size(cls);
        if (x->kind == SINK_ACC) {
            accumulate_stretch(t, x, at->data[r], from, st->run_end[r] - k, st->g->scratch);
        } else {
            strip_store(t->type, t->vals, at->data[r], from, cls, st->run_end[r] - k);
        }
    }
}

/* The position behind which nothing of the string goes. */
static int64_t last_position(const stage *st, const column *at)
{
    const int n = st->g->n;
    if (at->form != COL_ARRAY && at->form != COL_LINES) return column_get(at, n - 1);
    int64_t last = -1;
    for (int k = 0; at->form == COL_ARRAY && k < n; k++)
        last = at->data[k] > last ? at->data[k] : last;
    for (int r = 0, k = 0; at->form == COL_LINES && r < st->runs; k = st->run_end[r++]) {
        const int64_t end = at->data[r] + (st->run_end[r] - k) - 1;
        last = end > last ? end : last;
    }
    return last;
}

/* Whether all places are there that a result has whose levels are computed. */
static bool all_places(const tensor *t)
{
    int64_t n = 1;
    for (int l = 0; l < t->fmt.levels; l++)
        if (!(t->level[l].kind->caps & CAP_INSERT) || !size_mul(n, t->level[l].extent, &n))
            return false;
    return t->nvals >= n;
}

stc_status stage_values_room(machine *mc, slot *r, int64_t pos, int64_t n)
{
    tensor *t = r->t;
    if (pos != t->nvals) return asm_value(mc, r, pos + n - 1);
    if (pos + n > t->vals_cap && tensor_reserve_values(t, pos + n))
        return mc->cx->diag.status;
    t->nvals = pos + n;
    return STC_OK;
}

/* Room for a string's values. All that is stored behind what is there needs no fill. */
static stc_status values_room(machine *mc, stage *st, const sink *x, const column *at)
{
    slot *r = &mc->slot[x->a];
    tensor *t = r->t;
    if (at->form == COL_ARRAY && all_places(t)) return STC_OK;
    if (x->kind == SINK_STORE && at->form == COL_STEP)
        return stage_values_room(mc, r, at->base, st->g->n);
    return asm_value(mc, r, last_position(st, at));
}

/* The string's values to the positions of its elements. */
static stc_status put_values(machine *mc, stage *st, const sink *x, const column *at)
{
    strip *g = st->g;
    slot *r = &mc->slot[x->a];
    const vclass cls = type_class(r->t->type);
    const int n = g->n;
    if (at->form != COL_STEP || at->base != g->aim) strip_unaim(g, true);
    if (values_room(mc, st, x, at)) return mc->cx->diag.status;
    r->stores += (uint64_t)n;
    if (at->form == COL_LINES && st->terms.kernel) {
        stage_terms_add(mc, st, r->t->vals, at->data);
        return STC_OK;
    }
    const char *v = strip_spread(g, x->node);
    if (at->form == COL_LINES) {
        put_lines(st, r->t, x, at, v);
    } else if (x->kind == SINK_ACC) {
        const bool folds = at->form == COL_FIXED && class_type(cls) == r->t->type;
        const void *all = folds ? strip_halves(g, x, v) : NULL;
        accumulate(r->t, x, at, all ? all : v, all ? 1 : n, g->scratch);
    } else if (at->form == COL_STEP && g->aimed && v == g->aimed->data) {
        return STC_OK; /* they were computed there */
    } else if (at->form == COL_STEP) {
        strip_store(r->t->type, r->t->vals, at->base, v, cls, n);
    } else if (at->form == COL_ARRAY) {
        strip_scatter(r->t->type, r->t->vals, 0, at->data, v, n);
    } else {
        type_store(r->t->type, r->t->vals, at->base, class_get(cls, v, n - 1));
    }
    return STC_OK;
}

/* ---- results: entries in bulk -------------------------------------------------- */

static int list_lane(const struct sink_list *x, int k)
{
    return x->all ? k : x->lane[k];
}

/* Whether the list's lanes from number `from` on follow each other. */
static bool follows(const struct sink_list *x, int from)
{
    return from >= x->n || list_lane(x, x->n - 1) - list_lane(x, from) == x->n - 1 - from;
}

/* The lanes of stage `to` that those of a list of stage `from` belong to. */
static void lanes_around(stage *from, const stage *to, const struct sink_list *in,
                         struct sink_list *out)
{
    out->all = false;
    if (in->all && from->out == to) {
        stage_find_runs(from);
        out->n = from->runs;
        memcpy(out->lane, from->run_lane, (size_t)out->n * sizeof *out->lane);
        memcpy(out->end, from->run_end, (size_t)out->n * sizeof *out->end);
        return;
    }
    const int *at = out->lane;
    const stage *st = from;
    if (st != to && follows(in, 0)) {
        at = st->row + list_lane(in, 0);
        st = st->out;
    }
    for (int k = 0; at == out->lane && k < in->n; k++)
        out->lane[k] = list_lane(in, k);
    for (; st != to; st = st->out, at = out->lane)
        for (int k = 0; k < in->n; k++)
            out->lane[k] = st->row[at[k]];
    int n = -1, last = -1;
    for (int k = 0; k < in->n; k++) {
        n += at[k] != last;
        out->lane[n] = last = at[k];
        out->end[n] = k + 1;
    }
    out->n = n + 1;
}

/* The coordinate of number k of the list's lanes. */
static int64_t list_coord(const stage *st, const struct sink_list *at, int k)
{
    const int at_lane = list_lane(at, k);
    return st->late ? stage_late_coord(st, at_lane) : column_get(&st->g->icol[0], at_lane);
}

/* Coordinates of the list's lanes from number `from` on. */
static void put_lanes(const append_room *room, const stage *st, const struct sink_list *at,
                      int from)
{
    const column *i = &st->g->icol[0];
    if (at->all && st->late) {
        stage_late_coords(st, room, from, at->n - from);
        return;
    }
    if (follows(at, from)) {
        strip_put_coords(room, i, from < at->n ? list_lane(at, from) : 0, at->n - from);
        return;
    }
    for (int k = from; k < at->n; k++) {
        const int64_t x = column_get(i, at->lane[k]);
        if (room->width == 4) {
            ((int32_t *)room->crd)[k - from] = (int32_t)x;
        } else {
            ((int64_t *)room->crd)[k - from] = x;
        }
    }
}

/* Whether the list's entries from number `from` on can be appended: the fiber that got one
 * last may go on, if a loop around goes through the level again, but not backwards. */
static bool comes_next(const slot *r, const rung *g, const struct sink_list *up,
                       const struct sink_list *at, int64_t above, int from)
{
    const index_array *crd = &r->t->level[g->level].a[STC_CRD];
    const int64_t last = r->lev[g->level].parent;
    if (from == at->n) return true;
    const int64_t parent = up ? up->pos[up->end[0] <= from] : above;
    if (parent != last || crd->len == 0) return parent >= last;
    return index_get(crd, crd->len - 1) < list_coord(g->at, at, from);
}

/* Entries of one level; a lane that goes on has its entry already. up: the entries
 * of the level above; NULL: all are below position `above`. `one`: only the first
 * one's position is asked for. */
static stc_status append_rung(machine *mc, slot *r, rung *g, const struct sink_list *up,
                              struct sink_list *at, int64_t above, bool one)
{
    level *lv = &r->t->level[g->level];
    const int old = g->last == g->at->serial + list_lane(at, 0);
    const int64_t parents = (up ? up->pos[up->n - 1] : above) + 1;
    append_room room;
    if (!comes_next(r, g, up, at, above, old))
        return machine_fail(mc, g->at->g->s.place[g->place].at, STC_ERR_CORRUPT,
                            "coordinate %lld of result %s is appended out of order",
                            (long long)list_coord(g->at, at, 0), r->row->name);
    if (lv->kind->append_room(mc->cx, lv, at->n - old, parents, &room))
        return mc->cx->diag.status;
    const int64_t start = room.pos - old; /* of the list's first */
    put_lanes(&room, g->at, at, old);
    for (int k = 0; k < (one ? 1 : at->n); k++)
        at->pos[k] = start + k;
    if (!up) room_close(&room, above, room.pos);
    for (int j = 0; up && j < up->n; j++)
        room_close(&room, up->pos[j], j > 0 ? start + up->end[j - 1] : room.pos);
    lv->kind->append_done(lv, at->n - old, room.closed);
    r->lev[g->level].parent = parents - 1;
    g->last = g->at->serial + list_lane(at, at->n - 1);
    return STC_OK;
}

static void insert_rung(const rung *g, const struct sink_list *up, struct sink_list *at,
                        int64_t above)
{
    const column *i = &g->at->g->icol[g->at->g->s.place[g->place].icol];
    const int ups = up ? up->n : 1;
    for (int j = 0, k = 0; j < ups; j++) {
        const int64_t first = (up ? up->pos[j] : above) * g->extent - g->lo;
        for (const int end = up ? up->end[j] : at->n; k < end; k++)
            at->pos[k] = first + column_get(i, list_lane(at, k));
    }
}

/* Places of the string's elements, all levels of which are there. */
static void element_places(const struct sink_list *last, struct sink_list *own)
{
    for (int j = 0, k = 0; j < last->n; j++)
        for (; k < last->end[j]; k++)
            own->pos[k] = last->pos[j];
}

/* Whether lanes of the stage are entries of the last of the rungs themselves. */
static bool ends_at(const stage *from, const stage_sink *to, int rungs)
{
    return to->rung[rungs - 1].at == from;
}

struct sink_list *stage_own_list(const stage *from, const stage_sink *to, int rungs)
{
    return &from->all->list[ends_at(from, to, rungs) ? rungs - 1 : rungs];
}

stc_status stage_append_places(machine *mc, slot *r, stage *from, stage_sink *to, int rungs,
                               bool all)
{
    struct sink_list *list = from->all->list, *own = stage_own_list(from, to, rungs);
    const int last = rungs - 1;
    const int64_t above = to->above == ROOT ? 0 : mc->c[to->above].c.at;
    if (own != &list[last]) lanes_around(from, to->rung[last].at, own, &list[last]);
    for (int k = last; k > 0; k--)
        lanes_around(to->rung[k].at, to->rung[k - 1].at, &list[k], &list[k - 1]);
    for (int k = 0; k <= last; k++) {
        rung *g = &to->rung[k];
        const struct sink_list *up = k > 0 ? &list[k - 1] : NULL;
        if (g->insert) {
            insert_rung(g, up, &list[k], above);
        } else if (append_rung(mc, r, g, up, &list[k], above,
                               !all && k == last && own == &list[last])) {
            return mc->cx->diag.status;
        }
    }
    return STC_OK;
}

static stc_status append_values(machine *mc, stage *st, const sink *x, stage_sink *to)
{
    if (st->shares) return put_values(mc, st, x, &st->g->place[st->walk[0].place]);
    struct sink_list *own = stage_own_list(st, to, to->nrung);
    own->n = st->g->n;
    own->all = true;
    const bool steps = ends_at(st, to, to->nrung) && !to->rung[to->nrung - 1].insert;
    if (stage_append_places(mc, &mc->slot[x->a], st, to, to->nrung, !steps))
        return mc->cx->diag.status;
    if (!ends_at(st, to, to->nrung)) element_places(&st->all->list[to->nrung - 1], own);
    const column at = {
        .form = steps ? COL_STEP : COL_ARRAY, .base = own->pos[0], .data = own->pos};
    return put_values(mc, st, x, &at);
}

/* ---- results: lane by lane ----------------------------------------------------- */

static stc_status store_by_lane(machine *mc, stage *st, const sink *x)
{
    strip_unaim(st->g, true);
    for (int k = 0; k < st->g->n; k++) {
        if (stage_results_stand(mc, st->out, st->row[k])) return mc->cx->diag.status;
        strip_at_lane(mc, st->g, k);
        if (strip_store_lane(mc, st->g, x, k)) return mc->cx->diag.status;
    }
    return STC_OK;
}

stc_status stage_sinks(machine *mc, stage *st)
{
    strip *g = st->g;
    for (int k = 0; k < g->s.nsink; k++) {
        const sink *x = &g->s.sink[k];
        stc_status status = STC_OK;
        if (x->kind == SINK_REDUCE) {
            stage_reduce(st, x, st->link.results[k]);
        } else if (x->kind == SINK_WSADD || x->kind == SINK_WSCALL) {
            status = add_to_workspace(mc, st, x);
        } else if (st->sink[k].way == SINK_BY_PLACE) {
            status = put_values(mc, st, x, &g->place[x->b]);
        } else if (st->sink[k].way == SINK_APPENDED) {
            status = append_values(mc, st, x, &st->sink[k]);
        } else {
            status = store_by_lane(mc, st, x);
        }
        if (status) return status;
    }
    return STC_OK;
}
