/* interval_pairs.c: two operands of runs, merged from four places at once.
 *
 * A step of a merge waits for the one before it, so four chains run side by side:
 * through as many groups of whole rows, or through four parts of one long row. They
 * take the same number of steps; a chain that is done goes on in what is the next
 * one's, and what it makes there is left out. Where the next begins is known: a row
 * has as many lanes as runs, less those of two operands that begin at once. Instead of
 * positions the steps note the elements themselves, so that nothing is gathered
 * afterwards. What fits neither way is left to interval_runs.c.
 */
#include "interval.h"
#include <string.h>

/* CHAIN: steps of a chain at most, and what lies between two chains' lanes: not a power
 * of two, as addresses that differ by 4096 are in each other's way. */
enum { CHAINS = 4, WINDOW = STRIP, CHAIN = STRIP / 2, APART = CHAIN + 80 };
#define ROW_END UINT32_MAX

struct ivl_pair {
    uint32_t end[2][WINDOW + APART];  /* of each run, from the range's first coordinate */
    const void *vals[2];              /* their elements                                 */
    uint64_t elem[2][WINDOW + APART]; /* … here, if theirs end too early                */
    uint32_t out[CHAINS * APART];     /* of each lane: its end                          */
    uint64_t got[2][CHAINS * APART];
    int64_t from[2][CHAINS + 1]; /* chains' first runs, in this window         */
    int most[CHAINS];            /* lanes of each, if no two runs ended at once */
    int rows, first[CHAINS + 1]; /* of whole rows: their first ones            */
    int bound[2][WINDOW + 2];    /* … and runs before each, and behind the last */
    int64_t till[2];             /* runs that are read                         */
};

/* ---- steps --------------------------------------------------------------------------- */

#define STEP(c)                                                                            \
    {                                                                                      \
        const uint32_t i = w->end[0][x##c], j = w->end[1][y##c];                           \
        ga[n + c * APART] = va[x##c];                                                      \
        gb[n + c * APART] = vb[y##c];                                                      \
        w->out[n + c * APART] = i < j ? i : j;                                             \
        x##c += i <= j;                                                                    \
        y##c += j <= i;                                                                    \
    }
#define MERGE(BITS)                                                                        \
    static void merge_##BITS(ivl_pair *restrict w, int64_t steps)                          \
    {                                                                                      \
        typedef uint##BITS##_t __attribute__((may_alias)) elem;                            \
        const elem *va = w->vals[0], *vb = w->vals[1];                                     \
        elem *ga = (elem *)w->got[0], *gb = (elem *)w->got[1];                             \
        int64_t x0 = w->from[0][0], x1 = w->from[0][1], x2 = w->from[0][2];                \
        int64_t y0 = w->from[1][0], y1 = w->from[1][1], y2 = w->from[1][2];                \
        int64_t x3 = w->from[0][3], y3 = w->from[1][3];                                    \
        for (int64_t n = 0; n < steps; n++) {                                              \
            STEP(0)                                                                        \
            STEP(1)                                                                        \
            STEP(2)                                                                        \
            STEP(3)                                                                        \
        }                                                                                  \
    }
MERGE(8)
MERGE(16)
MERGE(32)
MERGE(64)

/* ---- where the chains begin ------------------------------------------------------------
 */

static int64_t row_bound(const ivl_walk *w, int64_t row)
{
    return table_bound(&w->t, (w->parent ? column_get(w->parent, 0) : w->root) + row);
}

/* Whole rows, as many as are sure to fit. */
static bool split_rows(const ivl_loop *v, ivl_pair *w)
{
    const ivl_walk *a = &v->walk[0], *b = &v->walk[1];
    int n = 0;
    if (v->i != v->begin || a->p != row_bound(a, v->lane)) return false;
    for (int64_t x = 0, y = 0; x + y <= WINDOW; n++) {
        w->bound[0][n] = (int)x;
        w->bound[1][n] = (int)y;
        if (v->lane + n == v->lanes) break;
        x = row_bound(a, v->lane + n + 1) - a->p;
        y = row_bound(b, v->lane + n + 1) - b->p;
        if (x + y > WINDOW) break;
    }
    if (n < CHAINS) return false;
    w->rows = n;
    for (int c = 0; c <= CHAINS; c++) {
        w->first[c] = n * c / CHAINS;
        w->from[0][c] = w->bound[0][w->first[c]];
        w->from[1][c] = w->bound[1][w->first[c]];
    }
    for (int k = 0; k < 2; k++)
        w->till[k] = w->from[k][CHAINS];
    return true;
}

/* The last run of [p, end) that begins at i or before. */
static int64_t run_at(const int32_t *crd, int64_t p, int64_t end, int32_t i)
{
    while (end - p > 1) {
        const int64_t mid = p + (end - p) / 2;
        if (crd[mid] <= i) {
            p = mid;
        } else {
            end = mid;
        }
    }
    return p;
}

/* Parts of a row that goes on beyond all that the chains may see. */
static bool split_row(const ivl_loop *v, ivl_pair *w)
{
    const ivl_walk *a = &v->walk[0], *b = &v->walk[1];
    const int64_t left[2] = {row_bound(a, v->lane + 1) - a->p,
                             row_bound(b, v->lane + 1) - b->p};
    const int lead = left[1] > left[0];
    const ivl_walk *x = lead ? b : a, *y = lead ? a : b;
    if (left[0] + left[1] < 4 * WINDOW) return false;
    const int64_t share = WINDOW / CHAINS - WINDOW / CHAINS / 8;
    const int64_t each = share * left[lead] / (left[0] + left[1]);
    if (each < 1) return false;
    w->rows = 0;
    w->from[0][0] = w->from[1][0] = 0;
    for (int c = 1; c <= CHAINS; c++) {
        const int32_t *crd = x->t.crd;
        w->from[lead][c] = c * each;
        w->from[!lead][c] = run_at(y->t.crd, y->p + w->from[!lead][c - 1],
                                   y->p + left[!lead], crd[x->p + c * each]) -
                            y->p;
    }
    for (int k = 0; k < 2; k++) {
        w->till[k] = w->from[k][CHAINS] + CHAIN;
        if (w->till[k] > left[k]) w->till[k] = left[k];
    }
    return true;
}

/* Lanes of each chain at most; false: more than there is room for. */
static bool bound_lanes(ivl_pair *w, int *steps)
{
    int total = 0;
    *steps = 0;
    for (int c = 0; c < CHAINS; c++) {
        const int64_t n = w->from[0][c + 1] - w->from[0][c] + w->from[1][c + 1] -
                          w->from[1][c] - (w->rows ? w->first[c + 1] - w->first[c] : 0);
        if (n > CHAIN || n < 1) return false;
        w->most[c] = (int)n;
        if (n > *steps) *steps = (int)n;
        total += (int)n;
    }
    return total <= STRIP;
}

/* Ends and elements of the runs in this window. */
static void read_runs(const ivl_loop *v, ivl_pair *w)
{
    const uint32_t first = (uint32_t)v->begin + 1;
    const size_t size = v->element;
    for (int k = 0; k < 2; k++) {
        const ivl_walk *x = &v->walk[k];
        const int32_t *next = (const int32_t *)x->t.crd + x->p + 1;
        const int64_t n = w->till[k], inner = n - (x->p + n > x->last);
        for (int64_t e = 0; e < inner; e++)
            w->end[k][e] = (uint32_t)next[e] - first;
        if (inner < n) w->end[k][inner] = ROW_END;
        w->vals[k] = (const char *)v->vals[k] + (size_t)x->p * size;
        if (x->p + w->from[k][CHAINS - 1] + CHAIN <= v->nvals[k]) continue;
        memcpy(w->elem[k], w->vals[k], (size_t)n * size); /* where steps in vain may look */
        w->vals[k] = w->elem[k];
    }
}

/* ---- what they made --------------------------------------------------------------------
 */

/* The number of lanes of row r of the window, the first of which is lane l of a chain:
 * not more than both operands' runs but one, not less than those of either. */
static int row_lanes(const ivl_pair *w, const uint32_t *out, int l, int r)
{
    const int *a = w->bound[0] + r, *b = w->bound[1] + r;
    const int na = a[1] - a[0], nb = b[1] - b[0];
    const int least = na < nb ? na : nb, most = na < nb ? nb : na;
    const bool last = r + 1 == w->rows;
    int e = l + na + nb - 1;
    if (!last && (a[2] - a[1] >= least || b[2] - b[1] >= least)) {
        while (out[e - 1] != ROW_END) /* the next row ends further on */
            e--;
    } else {
        e = l + most;
        while (out[e - 1] != ROW_END)
            e++;
    }
    return e - l;
}

/* The lanes of a chain that are its own; whole rows: where each begins. */
static int own_lanes(ivl_loop *v, const ivl_pair *w, int c, int n)
{
    const uint32_t *out = w->out + c * APART;
    int l = 0;
    if (!w->rows) {
        const ivl_walk *x = &v->walk[0], *y = &v->walk[1];
        const int32_t i = ((const int32_t *)x->t.crd)[x->p + w->from[0][c + 1]];
        const int32_t j = ((const int32_t *)y->t.crd)[y->p + w->from[1][c + 1]];
        const uint32_t end = (uint32_t)(i > j ? i : j) - (uint32_t)v->begin - 1;
        for (l = w->most[c]; out[l - 1] != end;)
            l--;
        return l;
    }
    for (int r = w->first[c]; r < w->first[c + 1]; r++) {
        v->start[r] = n + l;
        v->fiber[r] = v->lane + r;
        l += row_lanes(w, out, l, r);
    }
    return l;
}

/* Chains' lanes, one after the other. */
static int string_lanes(ivl_loop *v, const ivl_pair *w)
{
    const uint32_t first = (uint32_t)v->begin + 1;
    const size_t size = v->element;
    int n = 0;
    v->at[0] = (int32_t)v->i;
    for (int c = 0; c < CHAINS; c++) {
        const int lanes = own_lanes(v, w, c, n);
        const uint32_t *out = w->out + c * APART;
        for (int k = 0; k < lanes; k++)
            v->at[n + k + 1] = (int32_t)(out[k] + first);
        for (int k = 0; k < 2; k++)
            memcpy((char *)v->g.place[v->walk[k].place].data + (size_t)n * size,
                   (const char *)w->got[k] + (size_t)(c * APART) * size,
                   (size_t)lanes * size);
        n += lanes;
    }
    return n;
}

/* ---- the strip
 * ---------------------------------------------------------------------------- */

int pairs_fill(ivl_loop *v)
{
    ivl_pair *w = v->pair;
    int steps;
    if (!w || (!split_rows(v, w) && !split_row(v, w)) || !bound_lanes(w, &steps)) return 0;
    read_runs(v, w);
    switch (v->element) {
    case 1:
        merge_8(w, steps);
        break;
    case 2:
        merge_16(w, steps);
        break;
    case 4:
        merge_32(w, steps);
        break;
    default:
        merge_64(w, steps);
    }
    const int n = string_lanes(v, w);
    for (int k = 0; k < 2; k++) {
        column *c = &v->g.place[v->walk[k].place];
        c->form = COL_STEP;
        c->base = 0;
        c->vals = c->data;
        v->walk[k].p += w->from[k][CHAINS];
    }
    v->i = v->at[n];
    v->nfiber = w->rows ? w->rows : 1;
    if (!w->rows) {
        v->start[0] = 0;
        v->fiber[0] = v->lane;
    }
    v->start[v->nfiber] = n;
    v->lane += w->rows;
    v->next = w->rows ? v->end : v->i;
    return n;
}

/* Where the elements of both operands are; all that is done with a place is to load from
 * it. */
stc_status pairs_start(machine *mc, ivl_loop *v)
{
    v->element = 0;
    if (v->nwalk != 2 || v->walk[0].span || v->walk[1].span) return STC_OK;
    for (int k = 0; k < 2; k++) {
        const tensor *t = interval_loaded(mc, v, v->walk[k].place);
        const size_t size = t ? type_size(t->type) : 0;
        if (size < 1 || size > 8 || (k && v->element != size)) {
            v->element = 0;
            return STC_OK;
        }
        v->element = (uint8_t)size;
        v->vals[k] = walk_vals(&v->walk[k], t);
        v->nvals[k] = v->walk[k].vals ? v->walk[k].nvals : t->nvals;
    }
    if (v->pair) return STC_OK;
    v->pair = mem_alloc(mc->cx, sizeof *v->pair);
    if (!v->pair) return mc->cx->diag.status;
    memset(v->pair, 0, sizeof *v->pair);
    return STC_OK;
}

void pairs_free(machine *mc, ivl_loop *v)
{
    if (v->pair) mem_free(mc->cx, v->pair, sizeof *v->pair);
}
