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

/* What is written: coordinates and elements, for which there is room behind the `most`-th;
 * and the elements that tokens are of. */
enum { FOUR = 4 };
typedef struct token_out {
    int32_t *crd;
    char *v;
    const char *vals;
    int64_t most;
} token_out;

/* Literals, or a pattern that goes round, of `len` coordinates from i on, as runs behind n
 * of them: how many there are then; more than `most`: too many, or no coordinates, which a
 * host vouched for. What is like the element before it is of its run; nothing branches on
 * that. */
static inline __attribute__((always_inline)) int64_t
write_elements(const token_out *o, int64_t n, int32_t i, int64_t len, int64_t start,
               int64_t pattern, const size_t size)
{
    const char *x = o->vals + (size_t)start * size;
    int64_t k = 0, off = 0;
    if (len < 1 || n >= o->most) return o->most + 1;
    o->crd[n] = i;
    memcpy(o->v + (size_t)n++ * size, x, size);
    while (k + 1 < len) {
        const int64_t left = len - 1 - k, room = o->most - n;
        if (!room) return o->most + 1;
        for (const int64_t stop = k + (left < room ? left : room); k < stop;) {
            const char *last = x + (size_t)off * size;
            off = off + 1 == pattern ? 0 : off + 1;
            o->crd[n] = i + (int32_t)++k;
            memcpy(o->v + (size_t)n * size, x + (size_t)off * size, size);
            n += memcmp(last, x + (size_t)off * size, size) != 0;
        }
    }
    return n;
}

/* Four tokens, if all of them are runs. */
static inline __attribute__((always_inline)) bool
write_four(const token_out *o, int64_t n, const int32_t *crd, const char *aux,
           const size_t size, const int width)
{
    int64_t others = 0;
    for (int k = 0; k < FOUR; k++)
        others |= index_at(aux, width, 2 * k + 1) ^ 1;
    if (others || n >= o->most - FOUR) return false;
    memcpy(o->crd + n, crd, FOUR * sizeof *crd);
    for (int k = 0; k < FOUR; k++)
        memcpy(o->v + (size_t)(n + k) * size,
               o->vals + (size_t)index_at(aux, width, 2 * k) * size, size);
    return true;
}

/* Rows of tokens as runs; false: they are too many, or not these rows, as a host vouched. A
 * row ends where the next token doesn't begin further on, so that rows needn't be told
 * apart: each token's end is noted as that of the row which it is in. Aux is of `width`
 * bytes, elements of `size`. */
static inline __attribute__((always_inline)) bool write_rows(ivl_walk *w, int64_t first,
                                                             int64_t rows, token_out o,
                                                             const size_t size,
                                                             const int width)
{
    const fiber_table t = w->t;
    const int64_t from = fiber_bound(&t, first),
                  total = fiber_bound(&t, first + rows) - from;
    const int32_t *crd = (const int32_t *)t.crd + from, top = (int32_t)t.hi;
    const char *aux = (const char *)t.aux + 2 * from * width;
    int64_t *bounds = w->out.bounds, n = 0, r = 0;
    bounds[0] = 0;
    for (int64_t p = 0; p < total;) {
        const int64_t stop = total - p < FOUR ? total : p + FOUR;
        if (stop < total && write_four(&o, n, crd + p, aux + 2 * p * width, size, width)) {
            for (; p < stop; p++) {
                bounds[r + 1] = ++n;
                r += (crd[p + 1] <= crd[p]) & (r < rows);
            }
            continue;
        }
        for (; p < stop; p++) {
            const int32_t i = crd[p], next = p + 1 < total ? crd[p + 1] : i;
            const int64_t start = index_at(aux, width, 2 * p),
                          pattern = index_at(aux, width, 2 * p + 1);
            if (pattern == 1 && n < o.most) {
                o.crd[n] = i;
                memcpy(o.v + (size_t)n++ * size, o.vals + (size_t)start * size, size);
            } else {
                n = write_elements(&o, n, i, (int64_t)(next > i ? next : top) - i, start,
                                   pattern, size);
                if (n > o.most) return false;
            }
            bounds[r + 1] = n;
            r += (next <= i) & (r < rows);
        }
    }
    return r == rows;
}

#define WRITE(NAME, size, width)                                                           \
    static __attribute__((noinline)) bool write_##NAME(ivl_walk *w, int64_t first,         \
                                                       int64_t rows, token_out o)          \
    {                                                                                      \
        return write_rows(w, first, rows, o, size, width);                                 \
    }
WRITE(1, 1, 4)
WRITE(4, 4, 4)
WRITE(8, 8, 4)

static stc_status write_out(machine *mc, ivl_walk *w, const tensor *t, int64_t first,
                            int64_t rows, bool *done)
{
    const int64_t tokens = fiber_bound(&w->t, first + rows) - fiber_bound(&w->t, first);
    const int64_t most = GROWTH * tokens;
    const size_t size = type_size(t->type);
    const int width = w->t.aux_width;
    struct ivl_runs *to = &w->out;
    if (mem_grow(mc->cx, &to->crd, &to->crd_cap, most, sizeof *to->crd) ||
        mem_grow(mc->cx, &to->bounds, &to->bounds_cap, rows + 2, sizeof *to->bounds) ||
        mem_grow(mc->cx, &to->vals, &to->vals_cap, most * (int64_t)size, 1))
        return mc->cx->diag.status;
    const token_out o = {.crd = to->crd, .v = to->vals, .vals = t->vals, .most = most};
    *done = width == 4 && size == 1   ? write_1(w, first, rows, o)
            : width == 4 && size == 4 ? write_4(w, first, rows, o)
            : width == 4 && size == 8 ? write_8(w, first, rows, o)
                                      : write_rows(w, first, rows, o, size, width);
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
        others += !v->walk[k].plain ||
                  (v->walk[k].t.shape != VIEW_RUNS && v->walk[k].t.shape != VIEW_TOKENS);
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
