/* interval_tokens.c: tokens written out as runs, where that makes few of them more.
 *
 * Most tokens of LZ77 are runs in drawings and in data that is compressed for its runs:
 * patterns of one. What is left are stretches of a few elements where something
 * changes. Such tokens are written out as runs, with their elements, for the rows that
 * are about to be merged, and take the ways of rle (interval_runs.c): a pass over the
 * tokens costs less than to tell their kinds at every step. Where patterns or copies are
 * long, tokens stay what they are: these are worth more than their elements.
 */
#include "interval.h"
#include <string.h>

enum { GROWTH = 3 }; /* runs for a token, at most */

const tensor *interval_loaded(const machine *mc, const ivl_loop *v, uint16_t at)
{
    const loop_summary *s = &v->g.s;
    for (int k = 0; k < s->nnode; k++)
        if (s->node[k].kind == NODE_LOAD && s->node[k].b == at)
            return mc->slot[s->node[k].a].t;
    return NULL;
}

/* ---- which -------------------------------------------------------------------------- */

/* The rows of an operand that the lanes outside lead to: from *first on. */
static int64_t rows_of(const ivl_loop *v, const ivl_walk *w, int64_t *first)
{
    bool one = false;
    *first = w->parent ? column_get(w->parent, 0) : w->root;
    if (w->parent && !runs_follow(w->parent, v->lanes, &one)) return 0;
    return *first < 0 ? 0 : one ? 1 : v->lanes;
}

/* ---- writing them -------------------------------------------------------------------- */

/* Rows of tokens as runs; false: more than `most`. Aux is of `width` bytes, elements of
 * `size`. */
static inline __attribute__((always_inline)) bool
write_rows(ivl_walk *w, int64_t first, int64_t rows, int64_t most, const char *vals,
           const size_t size, const int width)
{
    const fiber_table t = w->t;
    const int32_t *crd = t.crd;
    int64_t *bounds = w->out.bounds;
    int32_t *to = w->out.crd;
    char *v = w->out.vals;
    int64_t p = table_bound(&t, first), n = 0;
    for (int64_t r = 0; r < rows; r++) {
        bounds[r] = n;
        for (const int64_t end = table_bound(&t, first + r + 1); p < end; p++) {
            const int64_t start = table_entry(t.aux, width, 2 * p);
            const int64_t pattern = table_entry(t.aux, width, 2 * p + 1);
            int64_t i = crd[p], off = 1;
            if (n == most) return false;
            to[n] = (int32_t)i;
            memcpy(v + (size_t)n++ * size, vals + (size_t)start * size, size);
            if (pattern == 1) continue;
            const int64_t hi = p + 1 < end ? crd[p + 1] : t.hi;
            if (hi - i > most - n) return false;
            for (i++; i < hi; i++, n++, off++) {
                if (off == pattern) off = 0;
                to[n] = (int32_t)i;
                memcpy(v + (size_t)n * size, vals + (size_t)(start + off) * size, size);
            }
        }
    }
    bounds[rows] = n;
    return true;
}

static stc_status write_out(machine *mc, ivl_walk *w, const tensor *t, int64_t first,
                            int64_t rows, bool *done)
{
    const int64_t tokens = table_bound(&w->t, first + rows) - table_bound(&w->t, first);
    const int64_t most = GROWTH * tokens;
    const size_t size = type_size(t->type);
    const int width = w->t.aux_width;
    struct ivl_runs *to = &w->out;
    if (mem_grow(mc->cx, &to->crd, &to->crd_cap, most, sizeof *to->crd) ||
        mem_grow(mc->cx, &to->bounds, &to->bounds_cap, rows + 1, sizeof *to->bounds) ||
        mem_grow(mc->cx, &to->vals, &to->vals_cap, most * (int64_t)size, 1))
        return mc->cx->diag.status;
    *done = width == 4 && size == 1   ? write_rows(w, first, rows, most, t->vals, 1, 4)
            : width == 4 && size == 4 ? write_rows(w, first, rows, most, t->vals, 4, 4)
            : width == 4 && size == 8
                ? write_rows(w, first, rows, most, t->vals, 8, 4)
                : write_rows(w, first, rows, most, t->vals, size, width);
    return STC_OK;
}

/* From tokens to what was written. */
static void take_runs(ivl_walk *w, bool all)
{
    static const column row_on = {.form = COL_STEP, .full = true},
                        row_one = {.form = COL_FIXED, .full = true};
    w->tokens = w->t;
    w->below = w->parent;
    w->t.shape = VIEW_RUNS;
    w->t.crd = w->out.crd;
    w->t.bounds = w->out.bounds;
    w->t.bounds_width = sizeof *w->out.bounds;
    w->parent = all ? &row_on : &row_one;
    w->vals = w->out.vals;
}

stc_status tokens_start(machine *mc, ivl_loop *v)
{
    bool done = true;
    int others = 0;
    sums_end(v);
    tokens_end(v);
    for (int k = 0; k < v->nwalk; k++)
        others += v->walk[k].t.shape != VIEW_RUNS && v->walk[k].t.shape != VIEW_TOKENS;
    if (!v->whole || v->depth + 1 < v->of->loops || others) return STC_OK;
    for (int k = 0; done && k < v->nwalk; k++) {
        int64_t first;
        ivl_walk *w = &v->walk[k];
        if (w->t.shape == VIEW_RUNS) continue;
        const tensor *t = interval_loaded(mc, v, w->place);
        const int64_t rows = t && w->t.width == 4 ? rows_of(v, w, &first) : 0;
        if (!rows) break;
        if (write_out(mc, w, t, first, rows, &done)) return mc->cx->diag.status;
        if (done) take_runs(w, rows == v->lanes);
        v->sums_node = UNLINKED; /* positions mean something else now */
    }
    return STC_OK;
}

void tokens_end(ivl_loop *v)
{
    for (int k = 0; k < v->nwalk; k++) {
        ivl_walk *w = &v->walk[k];
        if (!w->vals) continue;
        w->t = w->tokens;
        w->parent = w->below;
        w->vals = NULL;
    }
}

void tokens_free(machine *mc, ivl_loop *v)
{
    for (int k = 0; k < IVL_WALKS; k++) {
        struct ivl_runs *x = &v->walk[k].out;
        mem_free(mc->cx, x->crd, (size_t)x->crd_cap * sizeof *x->crd);
        mem_free(mc->cx, x->bounds, (size_t)x->bounds_cap * sizeof *x->bounds);
        mem_free(mc->cx, x->vals, (size_t)x->vals_cap);
    }
}
