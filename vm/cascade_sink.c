/* cascade_sink.c: a string's values into results and workspaces; those into columns
 * of the loops around are folds (cascade_fold.c).
 */
#include "cascade.h"
#include "super.h"
#include <string.h>

/* ---- workspaces ---------------------------------------------------------------- */

static stc_status add_to_workspace(machine *mc, stage *st, const sink *x)
{
    strip *g = st->g;
    slot *w = &mc->slot[x->a];
    const int order = w->row->order;
    const vclass cls = (vclass)g->s.node[x->node].cls;
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

#define ACCUMULATE(CLS, T)                                                                 \
    static void accumulate_##CLS(T *out, const T *x, const int64_t *at, int n)             \
    {                                                                                      \
        for (int k = 0; k < n;) {                                                          \
            const int64_t p = at[k];                                                       \
            T v = x[k++];                                                                  \
            for (; k < n && at[k] == p; k++)                                               \
                v = FN_ADD_##CLS(v, x[k]);                                                 \
            out[p] = FN_ADD_##CLS(out[p], v);                                              \
        }                                                                                  \
    }
ACCUMULATE(F64, double)
ACCUMULATE(F32, float)
ACCUMULATE(I64, int64_t)

static void accumulate(tensor *t, const sink *x, const column *at, const void *v, int n)
{
    const vclass cls = (vclass)x->cls;
    const bool same = class_type(cls) == t->type;
    if (same && at->form == COL_STEP) {
        char *to = (char *)t->vals + at->base * (int64_t)class_size(cls);
        fn_array_of(x->fn, cls)(to, to, v, NULL, n);
        return;
    }
    if (same && at->form == COL_ARRAY && x->fn == FN_ADD) {
        if (cls == CLASS_F64) return accumulate_F64(t->vals, v, at->data, n);
        if (cls == CLASS_F32) return accumulate_F32(t->vals, v, at->data, n);
        if (cls == CLASS_I64) return accumulate_I64(t->vals, v, at->data, n);
    }
    const fn_scalar fn = fn_scalar_of(x->fn, cls);
    for (int k = 0; k < n; k++) {
        const int64_t p = column_get(at, k);
        value acc = type_load(t->type, t->vals, p), e = class_get(cls, v, k);
        fn(&acc, &acc, &e, NULL);
        type_store(t->type, t->vals, p, acc);
    }
}

/* The string's values to the positions of its elements. */
static stc_status put_values(machine *mc, stage *st, const sink *x, const column *at)
{
    strip *g = st->g;
    slot *r = &mc->slot[x->a];
    const vclass cls = type_class(r->t->type);
    const int n = g->n;
    int64_t last = column_get(at, n - 1);
    for (int k = 0; at->form == COL_ARRAY && k < n; k++)
        last = at->data[k] > last ? at->data[k] : last;
    if (asm_value(mc, r, last)) return mc->cx->diag.status;
    r->stores += (uint64_t)n;
    const char *v = strip_spread(g, x->node);
    if (x->kind == SINK_ACC) {
        accumulate(r->t, x, at, v, n);
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

/* The lanes of stage `to` that lanes of stage `from` belong to, each once. */
static void lanes_around(const stage *from, const stage *to, struct sink_list *in,
                         struct sink_list *out)
{
    int n = 0;
    for (int k = 0; k < in->n; k++) {
        int at = in->lane[k];
        for (const stage *st = from; st != to; st = st->out)
            at = st->row[at];
        if (n == 0 || out->lane[n - 1] != at) out->lane[n++] = at;
        in->parent[k] = n - 1;
    }
    out->n = n;
}

/* Closes the fibers before that of `parent` in the result. */
static void close_fibers(append_room *room, int64_t parent, int64_t end)
{
    for (; room->closed < parent; room->closed++) {
        if (room->bounds_width == 4) {
            ((int32_t *)room->bounds)[room->closed + 1] = (int32_t)end;
        } else {
            ((int64_t *)room->bounds)[room->closed + 1] = end;
        }
    }
}

static int64_t parent_position(const struct sink_list *up, const struct sink_list *at,
                               int k, int64_t above)
{
    return up ? up->pos[at->parent[k]] : above;
}

/* Entries of one level; a lane that goes on has its entry already. */
static stc_status append_rung(machine *mc, slot *r, rung *g, const struct sink_list *up,
                              struct sink_list *at, int64_t above)
{
    level *lv = &r->t->level[g->level];
    const column *i = &g->at->g->icol[0];
    const int old = at->n > 0 && g->last == g->at->serial + at->lane[0];
    const int64_t parents = parent_position(up, at, at->n - 1, above) + 1;
    append_room room;
    if (parents < r->lev[g->level].parent + 1)
        return machine_fail(mc, g->at->g->s.place[g->place].at, STC_ERR_CORRUPT,
                            "coordinate %lld of result %s is appended out of order",
                            (long long)column_get(i, at->lane[0]), r->row->name);
    if (lv->kind->append_room(mc->cx, lv, at->n - old, parents, &room))
        return mc->cx->diag.status;
    if (old) at->pos[0] = room.pos - 1;
    for (int k = old; k < at->n; k++) {
        const int64_t end = room.pos + k - old, x = column_get(i, at->lane[k]);
        close_fibers(&room, parent_position(up, at, k, above), end);
        at->pos[k] = end;
        if (room.width == 4) {
            ((int32_t *)room.crd)[k - old] = (int32_t)x;
        } else {
            ((int64_t *)room.crd)[k - old] = x;
        }
    }
    lv->kind->append_done(lv, at->n - old, room.closed);
    r->lev[g->level].parent = parents - 1;
    g->last = g->at->serial + at->lane[at->n - 1];
    return STC_OK;
}

static void insert_rung(const rung *g, const struct sink_list *up, struct sink_list *at,
                        int64_t above)
{
    const column *i = &g->at->g->icol[g->at->g->s.place[g->place].icol];
    for (int k = 0; k < at->n; k++)
        at->pos[k] = parent_position(up, at, k, above) * g->extent +
                     column_get(i, at->lane[k]) - g->lo;
}

static stc_status append_values(machine *mc, stage *st, const sink *x, stage_sink *to)
{
    struct sink_list *list = st->all->list;
    slot *r = &mc->slot[x->a];
    const int last = to->nrung - 1;
    const int64_t above = to->above == ROOT ? 0 : mc->c[to->above].c.at;
    struct sink_list *own = &list[last + 1];
    own->n = st->g->n;
    for (int k = 0; k < own->n; k++)
        own->lane[k] = k;
    lanes_around(st, to->rung[last].at, own, &list[last]);
    for (int k = last; k > 0; k--)
        lanes_around(to->rung[k].at, to->rung[k - 1].at, &list[k], &list[k - 1]);
    for (int k = 0; k <= last; k++) {
        rung *g = &to->rung[k];
        const struct sink_list *up = k > 0 ? &list[k - 1] : NULL;
        if (g->insert) {
            insert_rung(g, up, &list[k], above);
        } else if (append_rung(mc, r, g, up, &list[k], above)) {
            return mc->cx->diag.status;
        }
    }
    for (int k = 0; k < own->n; k++)
        own->pos[k] = list[last].pos[own->parent[k]];
    const bool steps = own->pos[own->n - 1] - own->pos[0] == own->n - 1 &&
                       !to->rung[last].insert && to->rung[last].at == st;
    const column at = {
        .form = steps ? COL_STEP : COL_ARRAY, .base = own->pos[0], .data = own->pos};
    return put_values(mc, st, x, &at);
}

/* ---- results: lane by lane ----------------------------------------------------- */

static stc_status store_by_lane(machine *mc, stage *st, const sink *x)
{
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
