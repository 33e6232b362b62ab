/* ws_runs.c: the policy of workspaces that are read as runs: rows of runs, folded together
 * run by run (compression paper, §IV-D, for reductions across rows).
 *
 * What is added is kept as it comes: runs of one value, in rows whose coordinates ascend;
 * single elements are runs, too, and equal neighbours one. Rows that are done are folded in
 * pairs, as a binary number counts up: two of one weight become one of the next, so that a
 * run is merged as often as the number of rows has digits. A function that mustn't be
 * regrouped folds each row into all before it.
 *
 * Where what was folded has short runs, an accumulator over all coordinates takes it
 * (ws_dense.c); and if that is so of a single row, all that comes, for it goes by elements.
 */
#include "ws.h"
#include <string.h>

enum { SHORT = 8, BACK_MOST = 63 };

static stc_status reserve(ctx *cx, const workspace *w, ws_rows *r, int64_t n)
{
    if (n <= r->cap) return STC_OK;
    int64_t cap = r->cap;
    char *val = r->val;
    if (mem_grow(cx, &r->at, &cap, n, 2 * sizeof *r->at)) return cx->diag.status;
    val = mem_resize(cx, val, (size_t)r->cap * w->size, (size_t)cap * w->size);
    if (!val) { /* both or neither */
        mem_free(cx, r->at, (size_t)cap * 2 * sizeof *r->at);
        mem_free(cx, r->val, (size_t)r->cap * w->size);
        *r = (ws_rows){0};
        return cx->diag.status;
    }
    r->val = val;
    r->cap = cap;
    return STC_OK;
}

/* A run behind those from `first` on; there is room. */
static void put(const workspace *w, ws_rows *r, int64_t first, int64_t lo, int64_t hi,
                const char *val)
{
    char *to = r->val + r->n * w->size;
    if (r->n > first && r->at[2 * r->n - 1] == lo && !memcmp(to - w->size, val, w->size)) {
        r->at[2 * r->n - 1] = hi;
        return;
    }
    r->at[2 * r->n] = lo;
    r->at[2 * r->n + 1] = hi;
    memcpy(to, val, w->size);
    r->n++;
}

static void forget(workspace *w)
{
    w->rows.n = w->first[0] = 0;
    w->depth = 1;
}

/* ---- two rows into one ------------------------------------------------------------- */

/* Runs [a, b) and [b, n) of the rows, piece by piece, into other room. */
static fn_fault merge(workspace *w, int64_t a, int64_t b, int64_t n)
{
    const ws_rows *r = &w->rows;
    const int64_t *at = r->at, mid = b;
    const int size = w->size;
    int64_t next = INT64_MIN;
    w->room.n = 0;
    while (a < mid || b < n) {
        const int64_t x = a == mid ? INT64_MAX : at[2 * a] > next ? at[2 * a] : next;
        const int64_t y = b == n ? INT64_MAX : at[2 * b] > next ? at[2 * b] : next;
        const int64_t lo = x < y ? x : y;
        const int64_t p = x == lo ? at[2 * a + 1] : x, q = y == lo ? at[2 * b + 1] : y;
        char both[sizeof(value)];
        const char *val = r->val + (x == lo ? a : b) * size;
        next = p < q ? p : q;
        if (x == y) {
            const value v = type_load(class_type(w->cls), r->val, b);
            memcpy(both, val, (size_t)size);
            const fn_fault fault = ws_fold(w, both, 0, &v);
            if (fault) return fault;
            val = both;
        }
        put(w, &w->room, 0, lo, next, val);
        a += a < mid && at[2 * a + 1] == next;
        b += b < n && at[2 * b + 1] == next;
    }
    return FAULT_NONE;
}

/* The last two rows become one. */
static stc_status fold_last(machine *mc, workspace *w, const lop *at)
{
    ws_rows *r = &w->rows;
    const int64_t a = w->first[w->depth - 2], b = w->first[w->depth - 1];
    if (reserve(mc->cx, w, &w->room, 2 * (r->n - a))) return mc->cx->diag.status;
    const fn_fault fault = merge(w, a, b, r->n);
    if (fault) return machine_fault(mc, at, fault);
    const int64_t n = w->room.n;
    if (reserve(mc->cx, w, r, a + n)) return mc->cx->diag.status;
    memcpy(r->at + 2 * a, w->room.at, (size_t)n * 2 * sizeof *r->at);
    memcpy(r->val + a * w->size, w->room.val, (size_t)(n * w->size));
    r->n = a + n;
    w->depth--;
    w->weight[w->depth - 1] += w->weight[w->depth - 1] < UINT8_MAX;
    return machine_count(mc, n);
}

/* All rows become one, of which nothing is said by its weight. */
static stc_status fold_all(machine *mc, workspace *w, const lop *at)
{
    while (w->depth > 1)
        if (fold_last(mc, w, at)) return mc->cx->diag.status;
    w->weight[0] = UINT8_MAX;
    return STC_OK;
}

/* ---- into the accumulator -------------------------------------------------------------
 */

/* One run, element by element. */
static stc_status spread(machine *mc, slot *s, int64_t lo, int64_t hi, const char *val,
                         const lop *at)
{
    enum { PART = 256 };
    workspace *w = s->ws;
    const stc_type type = class_type(w->cls);
    const value v = type_load(type, val, 0);
    int64_t coords[PART];
    value vals[PART]; /* the first bytes of it: elements */
    for (int k = 0; k < PART && k < hi - lo; k++)
        type_store(type, vals, k, v);
    for (int64_t n; lo < hi; lo += n) {
        stc_status st;
        n = hi - lo < PART ? hi - lo : PART;
        for (int64_t k = 0; k < n; k++)
            coords[k] = lo + k;
        if (machine_count(mc, n)) return mc->cx->diag.status;
        if (ws_add_vector(mc, s, coords, vals, (int)n, w->fn, at, &st)) {
            if (st) return st;
            continue;
        }
        for (int64_t k = 0; k < n; k++)
            if (w->kind->insert(mc, s, &coords[k], &v, at)) return mc->cx->diag.status;
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
    for (int64_t k = 0; k < w->rows.n && !*st; k++)
        *st = spread(mc, s, w->rows.at[2 * k], w->rows.at[2 * k + 1],
                     w->rows.val + k * w->size, at);
    w->kind = &ws_kind_runs;
    forget(w);
    return true;
}

/* ---- rows ------------------------------------------------------------------------------
 */

/* The open row is done: rows of one weight become one. */
static stc_status close_row(machine *mc, slot *s, const lop *at)
{
    workspace *w = s->ws;
    stc_status st = STC_OK;
    w->weight[w->depth - 1] = 0;
    while (!st && w->depth > 1 &&
           (!w->regroup || w->weight[w->depth - 2] == w->weight[w->depth - 1]))
        st = fold_last(mc, w, at);
    if (st) return st;
    const int64_t first = w->first[w->depth - 1], n = w->rows.n - first;
    const int64_t wide = w->rows.at[2 * w->rows.n - 1] - w->rows.at[2 * first];
    const bool single = w->weight[w->depth - 1] == 0;
    if (n > wide / SHORT && flush(mc, s, at, &st)) {
        if (!single) return st;
        w->kind = &ws_kind_dense;
        w->back = w->back < BACK_MOST ? 2 * w->back + 1 : BACK_MOST;
        w->left = w->back;
        return st;
    }
    w->first[w->depth++] = w->rows.n;
    return STC_OK;
}

static stc_status add(machine *mc, slot *s, int64_t lo, int64_t hi, const char *val,
                      const lop *at)
{
    workspace *w = s->ws;
    const ws_rows *r = &w->rows;
    if (r->n > w->first[w->depth - 1] && lo < r->at[2 * r->n - 1] && close_row(mc, s, at))
        return mc->cx->diag.status;
    if (w->kind != &ws_kind_runs) return spread(mc, s, lo, hi, val, at);
    if (reserve(mc->cx, w, &w->rows, r->n + 1)) return mc->cx->diag.status;
    put(w, &w->rows, w->first[w->depth - 1], lo, hi, val);
    return STC_OK;
}

static stc_status runs_insert(machine *mc, slot *s, const int64_t *coords, const value *v,
                              const lop *at)
{
    char val[sizeof(value)];
    type_store(class_type(s->ws->cls), val, 0, *v);
    return add(mc, s, coords[0], coords[0] + 1, val, at);
}

stc_status ws_add_runs(machine *mc, slot *s, int n, const int64_t *lo, const int64_t *len,
                       const void *vals, int fn, const lop *at)
{
    workspace *w = s->ws;
    if (fn != w->fn && ws_use(mc, w, fn, at)) return mc->cx->diag.status;
    for (int k = 0; k < n; k++) {
        if (lo[k] < 0 || lo[k] + len[k] > s->own->shape[0])
            return ws_outside(mc, s, 0, lo[k] < 0 ? lo[k] : lo[k] + len[k] - 1, at);
        if (add(mc, s, lo[k], lo[k] + len[k], (const char *)vals + k * w->size, at))
            return mc->cx->diag.status;
    }
    return STC_OK;
}

/* What comes now is folded by another function. */
stc_status ws_settle_runs(machine *mc, workspace *w, const lop *at)
{
    if (!w->rows.n) return STC_OK;
    if (fold_all(mc, w, at)) return mc->cx->diag.status;
    w->first[w->depth++] = w->rows.n;
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
    ws_put_values(t->type, t->vals, w->pos, from, index, n);
    return tensor_finish(t);
}

stc_status ws_end_runs(machine *mc, slot *s, const lop *at)
{
    workspace *w = s->ws;
    stc_status st = STC_OK;
    if (w->kind == &ws_kind_runs && fold_all(mc, w, at)) return mc->cx->diag.status;
    if (w->n && w->rows.n && flush(mc, s, at, &st) && st) return st;
    const int64_t n = w->n ? w->n : w->rows.n;
    if (w->kind == &ws_kind_runs && !w->n) w->back = 0;
    if (ws_sort_touched(mc->cx, w) || reserve(mc->cx, w, &w->room, n))
        return mc->cx->diag.status;
    int64_t *lo = w->room.at, *len = lo + n;
    for (int64_t k = 0; k < n; k++) {
        lo[k] = w->n ? w->touched[k] : w->rows.at[2 * k];
        len[k] = w->n ? 1 : w->rows.at[2 * k + 1] - lo[k];
    }
    if (w->n)
        st = end_regions(mc, s, n, lo, len, w->dense, w->touched);
    else
        st = end_regions(mc, s, n, lo, len, w->rows.val, NULL);
    ws_untouch(w);
    forget(w);
    return st;
}

static void runs_clear(workspace *w)
{
    forget(w);
    ws_untouch(w);
}

static bool runs_ready(machine *mc, slot *s)
{
    (void)mc;
    forget(s->ws);
    return true;
}

static void runs_free(ctx *cx, workspace *w)
{
    for (int k = 0; k < 2; k++) {
        ws_rows *r = k ? &w->room : &w->rows;
        mem_free(cx, r->at, (size_t)r->cap * 2 * sizeof *r->at);
        mem_free(cx, r->val, (size_t)r->cap * w->size);
    }
}

const ws_kind ws_kind_runs = {.name = "runs",
                              .ready = runs_ready,
                              .insert = runs_insert,
                              .clear = runs_clear,
                              .free = runs_free};
