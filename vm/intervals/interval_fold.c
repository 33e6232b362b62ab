/* interval_fold.c: rows of long runs that are added to a result with a place for every
 * coordinate: folded together first (../work/run_fold.c), then written out once.
 *
 * So a sum of columns costs the runs that there are, and the result once. Whether runs are
 * long is told by the operands' counts before anything is read; where they turn out to
 * break each other into short ones, what was folded is added to the result, and folding
 * begins anew.
 */
#include "../work/ws.h"
#include "interval.h"
#include <string.h>

enum { LONG = 64 }; /* coordinates for each run: with fewer, elements are faster */

/* What is added can be folded, and hasn't turned out to be short. */
static bool folds_there(const machine *mc, const ivl_loop *v, const sink *x)
{
    const bool merges = x->fn >= 0 && fn_at(x->fn)->flags & FP_ASSOCIATIVE;
    if (v->g.s.nsink != 1 || !merges) return false;
    if (x->kind == SINK_WSADD) return mc->slot[x->a].ws->kind == &ws_kind_runs;
    return x->kind == SINK_ACC && v->depth && !v->of->folds_not &&
           interval_takes_every(mc, v, &v->of->target);
}

/* A run is an entry, of tokens an element may be one. */
bool folds_start(const machine *mc, const ivl_loop *v)
{
    int64_t coordinates = v->end - v->begin;
    if (v->depth + 1 < v->of->loops || !v->whole || !folds_there(mc, v, &v->g.s.sink[0]))
        return false;
    for (int k = 0; k < v->nwalk; k++) {
        const ivl_walk *w = &v->walk[k];
        const bool tokens = w->t.shape == VIEW_TOKENS;
        if (!tokens && w->t.shape != VIEW_RUNS) return false;
        if (w->fibers > 0)
            coordinates -= LONG * ((w->runs + (tokens ? w->size : 0)) / w->fibers);
    }
    return coordinates > 0;
}

static fn_fault apply(const void *with, void *x, const void *y, int n)
{
    const sink *s = with;
    return fn_array_of(s->fn, (vclass)s->cls)(x, x, y, NULL, n);
}

/* All rows to their places. */
static stc_status write_rows(machine *mc, ivl_loop *v, const sink *x)
{
    enum { PART = 256 };
    interval *iv = v->of;
    const run_list *l = &iv->fold.rows;
    int64_t lo[PART], len[PART], n;
    for (int64_t at = 0; at < l->n; at += n) {
        n = l->n - at < PART ? l->n - at : PART;
        for (int64_t k = 0; k < n; k++) {
            lo[k] = l->at[2 * (at + k)];
            len[k] = l->at[2 * (at + k) + 1] - lo[k];
        }
        const char *in = l->val + at * iv->fold.size;
        if (interval_add_runs(mc, v, x, iv->fold_base, lo, len, in, (int)n))
            return mc->cx->diag.status;
    }
    run_fold_forget(&iv->fold);
    return STC_OK;
}

/* The open row is done; what has become short is written. */
static stc_status close_row(machine *mc, ivl_loop *v, const sink *x)
{
    interval *iv = v->of;
    bool shorter, single;
    if (run_fold_close(mc, &iv->fold, x->at, &shorter, &single)) return mc->cx->diag.status;
    if (!shorter) {
        run_fold_open(&iv->fold);
        return STC_OK;
    }
    iv->folds_not |= single;
    return write_rows(mc, v, x);
}

stc_status folds_add(machine *mc, ivl_loop *v, const sink *x, int64_t base, int from,
                     int to)
{
    interval *iv = v->of;
    run_fold *f = &iv->fold;
    const vclass cls = (vclass)x->cls;
    const char *in = strip_spread(&v->g, x->node);
    const int64_t *i = v->g.icol[0].data;
    if (base != iv->fold_base && folds_finish(mc, iv)) return mc->cx->diag.status;
    iv->fold_base = base;
    f->size = (uint8_t)class_size(cls);
    f->regroup = true;
    f->apply = apply;
    f->with = x;
    for (; from < to && !iv->folds_not; from++) {
        const int64_t lo = i[from];
        if (run_fold_begins(f, lo) && close_row(mc, v, x)) return mc->cx->diag.status;
        if (iv->folds_not) break;
        if (run_fold_add(mc, f, lo, lo + v->len[from], in + (size_t)from * f->size))
            return mc->cx->diag.status;
    }
    return interval_add_runs(mc, v, x, base, i + from, v->len + from,
                             in + (size_t)from * f->size, to - from);
}

stc_status folds_finish(machine *mc, interval *iv)
{
    ivl_loop *v = &iv->loop[iv->loops - 1];
    const sink *x = &v->g.s.sink[0];
    if (!iv->fold.rows.n) return STC_OK;
    return run_fold_all(mc, &iv->fold, x->at) ? mc->cx->diag.status : write_rows(mc, v, x);
}
