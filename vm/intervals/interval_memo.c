/* interval_memo.c: repeats of what was computed from the same elements.
 *
 * A repeat of LZ77 is worth nothing to a result if its elements are computed
 * again: the paper's kernels do so, and write them as literals. Here every
 * stretch of elements that is computed is remembered by the positions that the
 * operands had. Where all of them come to such positions again (frames of a clip
 * that repeat each other), the result is a repeat of what was made of them, found
 * in constant time: so the work goes with the tokens, not with the elements.
 */
#include "interval.h"
#include <string.h>

enum { SHORTEST = 4 }; /* a repeat of fewer elements isn't worth its token */

stc_status memo_begin(machine *mc, ivl_loop *v)
{
    v->nstretch = v->settled = 0;
    for (int k = 0; k < v->nwalk; k++) {
        const int64_t n = v->walk[k].size;
        if (v->walk[k].t.shape != VIEW_TOKENS) continue;
        if (mem_grow(mc->cx, &v->seen[k], &v->seen_cap[k], n, sizeof *v->seen[k]))
            return mc->cx->diag.status;
        if (n) memset(v->seen[k], 0xff, (size_t)n * sizeof *v->seen[k]);
    }
    return STC_OK;
}

void memo_free(machine *mc, ivl_loop *v)
{
    mem_free(mc->cx, v->stretch, (size_t)v->stretch_cap * sizeof *v->stretch);
    for (int k = 0; k < IVL_WALKS; k++)
        mem_free(mc->cx, v->seen[k], (size_t)v->seen_cap[k] * sizeof *v->seen[k]);
}

/* Where the operands are at v->i. Returns one that goes on for `size` elements;
 * -1: none does, or some go round on the way. */
static int look(const ivl_loop *v, int64_t e, int64_t size, uint64_t mask, ivl_stretch *x)
{
    int key = -1;
    x->steps = 0;
    for (int k = 0; k < v->nwalk; k++) {
        const ivl_walk *w = &v->walk[k];
        if (!(mask & w->bit)) return -1;
        const int64_t off = walk_offset(w, v->i);
        x->pos[k] = w->pos + off;
        if (w->period == 1) continue;
        const bool round = size < e - v->i; /* then whole patterns, from the first on */
        if (w->period != PERIOD_ENDLESS && off + size > w->period) return -1;
        if (round && (off || w->period != size)) return -1;
        x->steps |= 1u << k;
        if (key < 0) key = k;
    }
    return key;
}

int64_t memo_find(ivl_loop *v, int n, int64_t e, int64_t size, uint64_t mask)
{
    ivl_stretch x;
    const int key = v->remembers ? look(v, e, size, mask, &x) : -1;
    if (key < 0) return 0;
    const int32_t id = v->seen[key][x.pos[key]];
    if (id < 0) return 0;
    const ivl_stretch *at = &v->stretch[id];
    const int64_t skip = x.pos[key] - at->pos[key];
    if (x.steps != at->steps || skip < 0 || skip >= at->n) return 0;
    for (int k = 0; k < v->nwalk; k++)
        if (x.pos[k] != at->pos[k] + (x.steps >> k & 1 ? skip : 0)) return 0;
    const bool round = size < e - v->i;
    const int64_t have = at->n - skip < size ? at->n - skip : size;
    if (have < size && (round || have < SHORTEST)) return 0;
    const int64_t take = round ? e - v->i : have;
    v->rep[v->nrep++] = (ivl_repeat){n, v->lane, v->i, v->i + take, have, id, skip};
    return take;
}

stc_status memo_note(machine *mc, ivl_loop *v, int n, int64_t e, int64_t size,
                     uint64_t mask)
{
    ivl_stretch x = {.n = size, .lane = n};
    const int key = v->remembers ? look(v, e, size, mask, &x) : -1;
    if (key < 0 || v->nstretch == INT32_MAX) return STC_OK;
    if (mem_grow(mc->cx, &v->stretch, &v->stretch_cap, v->nstretch + 1, sizeof x))
        return mc->cx->diag.status;
    for (int64_t k = 0; k < size; k++)
        v->seen[key][x.pos[key] + k] = (int32_t)v->nstretch;
    v->stretch[v->nstretch++] = x;
    return STC_OK;
}
