/* ws_runs.c: the policy of workspaces that are read as runs: rows of runs, folded together
 * run by run (compression paper, §IV-D, for reductions across rows).
 *
 * What is added is kept as it comes: runs of one value, in rows whose coordinates ascend;
 * single elements are runs, too, and equal neighbours one. Rows that are done are folded
 * together (run_fold.c).
 *
 * Where what was folded has short runs, an accumulator over all coordinates takes it
 * (ws_dense.c); and if that is so of a single row, all that comes, for it goes by elements.
 */
#include "ws.h"

/* ---- into the accumulator -------------------------------------------------------------
 */

/* One run, as elements. */
static stc_status spread(machine *mc, slot *s, int64_t lo, int64_t hi, const char *val,
                         const lop *at)
{
    enum { PART = 256 };
    const stc_type type = class_type(s->ws->cls);
    const value v = type_load(type, val, 0);
    value vals[PART]; /* the first bytes of it: elements */
    for (int k = 0; k < PART && k < hi - lo; k++)
        type_store(type, vals, k, v);
    for (int64_t n; lo < hi; lo += n) {
        n = hi - lo < PART ? hi - lo : PART;
        if (machine_count(mc, n) || ws_add_line(mc, s, lo, vals, n, at))
            return mc->cx->diag.status;
    }
    return STC_OK;
}

/* All rows; false: there is no room for an accumulator, and nothing was done. */
static bool flush(machine *mc, slot *s, const lop *at, stc_status *st)
{
    workspace *w = s->ws;
    *st = STC_OK;
    if (!ws_kind_dense.ready(mc, s)) return false;
    w->kind = &ws_kind_dense;
    const run_list *l = &w->runs.rows;
    for (int64_t k = 0; k < l->n && !*st; k++)
        *st = spread(mc, s, l->at[2 * k], l->at[2 * k + 1], l->val + k * w->size, at);
    w->kind = &ws_kind_runs;
    run_fold_forget(&w->runs);
    return true;
}

/* ---- rows ------------------------------------------------------------------------------
 */

/* The open row is done. */
static stc_status close_row(machine *mc, slot *s, const lop *at)
{
    workspace *w = s->ws;
    stc_status st = STC_OK;
    bool shorter, single;
    w->runs.regroup = w->regroup;
    if (run_fold_close(mc, &w->runs, at, &shorter, &single)) return mc->cx->diag.status;
    if (shorter && flush(mc, s, at, &st)) {
        if (single) w->kind = &ws_kind_dense;
        return st;
    }
    run_fold_open(&w->runs);
    return STC_OK;
}

static stc_status add(machine *mc, slot *s, int64_t lo, int64_t hi, const char *val,
                      const lop *at)
{
    workspace *w = s->ws;
    if (run_fold_begins(&w->runs, lo) && close_row(mc, s, at)) return mc->cx->diag.status;
    if (w->kind != &ws_kind_runs) return spread(mc, s, lo, hi, val, at);
    return run_fold_add(mc, &w->runs, lo, hi, val);
}

static stc_status runs_insert(machine *mc, slot *s, const int64_t *coords, const value *v,
                              const lop *at)
{
    char val[sizeof(value)];
    type_store(class_type(s->ws->cls), val, 0, *v);
    return add(mc, s, coords[0], coords[0] + 1, val, at);
}

/* Coordinates that a caller counted on its own. */
static stc_status check_range(machine *mc, const slot *s, int64_t lo, int64_t hi,
                              const lop *at)
{
    if (lo >= 0 && hi <= s->own->shape[0]) return STC_OK;
    return ws_outside(mc, s, 0, lo < 0 ? lo : hi - 1, at);
}

stc_status ws_add_elements(machine *mc, slot *s, int64_t lo, int n, const void *vals,
                           int fn, const lop *at)
{
    workspace *w = s->ws;
    stc_status st = STC_OK;
    if ((fn != w->fn && ws_use(mc, w, fn, at)) || check_range(mc, s, lo, lo + n, at))
        return mc->cx->diag.status;
    if (w->kind == &ws_kind_runs && flush(mc, s, at, &st)) w->kind = &ws_kind_dense;
    if (st || w->kind == &ws_kind_dense)
        return st ? st : ws_add_line(mc, s, lo, vals, n, at);
    for (int k = 0; k < n && !st; k++)
        st = add(mc, s, lo + k, lo + k + 1, (const char *)vals + k * w->size, at);
    return st;
}

stc_status ws_add_runs(machine *mc, slot *s, int n, const int64_t *lo, const int64_t *len,
                       const void *vals, int fn, const lop *at)
{
    workspace *w = s->ws;
    if (fn != w->fn && ws_use(mc, w, fn, at)) return mc->cx->diag.status;
    for (int k = 0; k < n; k++) {
        if (check_range(mc, s, lo[k], lo[k] + len[k], at) ||
            add(mc, s, lo[k], lo[k] + len[k], (const char *)vals + k * w->size, at))
            return mc->cx->diag.status;
    }
    return STC_OK;
}

/* What comes now is folded by another function. */
stc_status ws_settle_runs(machine *mc, workspace *w, const lop *at)
{
    if (!w->runs.rows.n) return STC_OK;
    if (run_fold_all(mc, &w->runs, at)) return mc->cx->diag.status;
    run_fold_open(&w->runs);
    return STC_OK;
}

/* ---- end --------------------------------------------------------------------------------
 */

/* Regions of the workspace's level, and their values: from[index[k]], or from[k]. */
static stc_status end_regions(machine *mc, slot *s, int64_t n, const int64_t *lo,
                              const int64_t *len, const void *from, const int64_t *index)
{
    workspace *w = s->ws;
    tensor *t = s->own;
    level *lv = &t->level[0];
    if (tensor_begin(t) ||
        (n > w->pos_cap && mem_grow(mc->cx, &w->pos, &w->pos_cap, n, sizeof *w->pos)) ||
        (n && lv->kind->append_regions(mc->cx, lv, 0, n, lo, len, w->pos)) ||
        tensor_extend_values(t, lv->size))
        return mc->cx->diag.status;
    ws_put_values(t->type, t->vals, w->pos, from, index, n, false);
    return tensor_finish(t);
}

stc_status ws_end_runs(machine *mc, slot *s, const lop *at)
{
    workspace *w = s->ws;
    stc_status st = STC_OK;
    const run_list *rows = &w->runs.rows;
    run_list *room = &w->runs.room;
    if (w->kind == &ws_kind_runs && run_fold_all(mc, &w->runs, at))
        return mc->cx->diag.status;
    if (w->n && rows->n && flush(mc, s, at, &st) && st) return st;
    const int64_t n = w->n ? w->n : rows->n;
    if (ws_sort_touched(mc->cx, w) || run_list_reserve(mc->cx, &w->runs, room, n))
        return mc->cx->diag.status;
    int64_t *lo = room->at, *len = lo + n;
    ws_spell_out(w);
    for (int64_t k = 0; k < n; k++) {
        lo[k] = w->n ? w->touched[k] : rows->at[2 * k];
        len[k] = w->n ? 1 : rows->at[2 * k + 1] - lo[k];
    }
    if (w->n)
        st = end_regions(mc, s, n, lo, len, w->dense, w->touched);
    else
        st = end_regions(mc, s, n, lo, len, rows->val, NULL);
    ws_untouch(w);
    run_fold_forget(&w->runs);
    return st;
}

static void runs_clear(workspace *w)
{
    run_fold_forget(&w->runs);
    ws_untouch(w);
}

static bool runs_ready(machine *mc, slot *s)
{
    (void)mc;
    workspace *w = s->ws;
    w->runs.size = w->size;
    w->runs.apply = ws_fold_all;
    w->runs.with = w;
    run_fold_forget(&w->runs);
    return true;
}

static void runs_free(ctx *cx, workspace *w)
{
    run_fold_free(cx, &w->runs);
}

const ws_kind ws_kind_runs = {.name = "runs",
                              .ready = runs_ready,
                              .insert = runs_insert,
                              .clear = runs_clear,
                              .free = runs_free};
