/* interval_pairs.c: two operands of runs, merged from four places at once.
 *
 * A step of a merge waits for the one before it, so four chains run side by side:
 * through as many groups of whole rows, or through four parts of one long row. They
 * take the same number of steps; a chain that is done goes on in what is the next
 * one's, and what it makes there is left out. Where the next begins is known: a group
 * has so many rows, and a part ends where the next one begins.
 *
 * What limits a step is how often it goes to memory. So runs are packed first, end and
 * element in a word, and a step takes a word of each operand and notes both; which end
 * was the nearer one is told afterwards, for many lanes at once (interval_words.c).
 * Elements of 8 bytes go beside the words. What fits neither way is left to
 * interval_runs.c.
 *
 * Around the chains, too, each pass has a beginning and an end, which cost as much as some
 * hundred lanes: so a strip has more lanes where elements are narrow enough for columns.
 *
 * What didn't help: words of a lane side by side, two steps of a chain at a time, bits
 * of who went on instead of words, a network of 8 by 8 (all between 0.45 and 0.95 ns a
 * lane, as this), more than four chains; ends and elements straight from where they are
 * (1.2 to 1.5 ns), the function in the step (1.0 to 1.3), one store of 16 bytes (0.9).
 * Ends that ascend over rows, so that eight chains move one register each and lanes of no
 * length are dropped behind them, halve the steps; but what makes such ends and takes lanes
 * apart by who went on gives most of that back: 1.8 ns a lane in all against 2.2, in a
 * program that can do nothing else. The same in one pass behind the chains is no faster:
 * the processor does one shuffle a cycle.
 */
#include "interval_pairs.h"
#include <string.h>

/* Steps of a chain at most, and what lies between two chains' lanes: not a power of two,
 * as addresses that differ by 4096 are in each other's way. */
enum { CHAINS = 4, CHAIN = IVL_STRUNG / 2, APART = CHAIN + 80 };
enum { LONG_CHAIN = STRIP / 2, LONG_APART = LONG_CHAIN + 80 };
#define ROW_END UINT32_MAX

typedef struct by_words {
    run_word run[2][2 * IVL_STRUNG + APART];
    run_word lane[2][CHAINS * APART]; /* the runs of each lane */
} by_words;

/* With elements of 8 bytes: those of runs, and those of each lane. */
typedef struct by_longs {
    run_word run[2][2 * STRIP + LONG_APART];
    run_word lane[2][CHAINS * LONG_APART];
    run_word elem[2][2 * STRIP + LONG_APART];
    run_word got[2][CHAINS * LONG_APART];
} by_longs;

struct ivl_pair {
    union {
        by_words words;
        by_longs longs;
    };
    int64_t from[2][CHAINS + 1]; /* chains' first runs, in this window         */
    int64_t till[2];             /* runs that are read                         */
    int room, chain;             /* for lanes: in all, in a chain              */
    int most[CHAINS];            /* lanes of each, if no two runs ended at once */
    int steps;                   /* … the most of them                         */
    int rows, first[CHAINS + 1]; /* of whole rows: their first ones            */
};

/* Vectors go by halves of cache lines. */
enum { LINE = 64, PAIR_BYTES = sizeof(ivl_pair) + LINE };

static bool is_long(const ivl_loop *v)
{
    return v->element == sizeof(run_word);
}

/* ---- steps --------------------------------------------------------------------------- */

#define STEP(c)                                                                            \
    {                                                                                      \
        const run_word a = w->run[0][x##c], b = w->run[1][y##c];                           \
        w->lane[0][n + c * BETWEEN] = a;                                                   \
        w->lane[1][n + c * BETWEEN] = b;                                                   \
        BESIDE(c)                                                                          \
        x##c += (uint32_t)a <= (uint32_t)b;                                                \
        y##c += (uint32_t)b <= (uint32_t)a;                                                \
    }
#define MERGE(NAME)                                                                        \
    static void merge_##NAME(by_##NAME *restrict w, int64_t from[2][CHAINS + 1],           \
                             int64_t steps)                                                \
    {                                                                                      \
        int64_t x0 = from[0][0], x1 = from[0][1], x2 = from[0][2], x3 = from[0][3];        \
        int64_t y0 = from[1][0], y1 = from[1][1], y2 = from[1][2], y3 = from[1][3];        \
        for (int64_t n = 0; n < steps; n++) {                                              \
            STEP(0)                                                                        \
            STEP(1)                                                                        \
            STEP(2)                                                                        \
            STEP(3)                                                                        \
        }                                                                                  \
    }
#define BETWEEN APART
#define BESIDE(c)
MERGE(words)
#undef BETWEEN
#undef BESIDE
#define BETWEEN LONG_APART
#define BESIDE(c)                                                                          \
    w->got[0][n + c * BETWEEN] = w->elem[0][x##c];                                         \
    w->got[1][n + c * BETWEEN] = w->elem[1][y##c];
MERGE(longs)

/* ---- where the chains begin ---------------------------------------------------------- */

static int64_t row_bound(const ivl_walk *w, int64_t row)
{
    return fiber_bound(&w->t, (w->parent ? column_get(w->parent, 0) : w->root) + row);
}

/* Lanes of each chain at most; false: more than there is room for. */
static bool bound_lanes(ivl_pair *w)
{
    int64_t total = 0;
    w->steps = 0;
    for (int c = 0; c < CHAINS; c++) {
        const int64_t n = w->from[0][c + 1] - w->from[0][c] + w->from[1][c + 1] -
                          w->from[1][c] - (w->rows ? w->first[c + 1] - w->first[c] : 0);
        if (n > w->chain || n < 1) return false;
        w->most[c] = (int)n;
        if (n > w->steps) w->steps = (int)n;
        total += n;
    }
    return total <= w->room;
}

/* Whole rows, `each` to a chain; false: they don't fit. */
static bool share_rows(const ivl_loop *v, ivl_pair *w, int each)
{
    const ivl_walk *a = &v->walk[0], *b = &v->walk[1];
    for (int c = 0; c <= CHAINS; c++) {
        w->first[c] = each * c;
        w->from[0][c] = row_bound(a, v->lane + each * c) - a->p;
        w->from[1][c] = row_bound(b, v->lane + each * c) - b->p;
    }
    w->rows = each * CHAINS;
    return w->from[0][CHAINS] + w->from[1][CHAINS] <= 2 * w->room && bound_lanes(w);
}

/* As many as would fit if all that are left were alike, or fewer. */
static bool split_rows(const ivl_loop *v, ivl_pair *w)
{
    const ivl_walk *a = &v->walk[0], *b = &v->walk[1];
    const int64_t left = v->lanes - v->lane, runs = a->last - a->p + b->last - b->p + 2;
    if (v->i != v->begin || a->p != row_bound(a, v->lane) || runs <= left) return false;
    int64_t rows = left * (w->room - w->room / 16) / (runs - left);
    for (int each = (int)(rows < left ? rows : left) / CHAINS; each; each -= 1 + each / 8) {
        if (!share_rows(v, w, each)) continue;
        for (int k = 0; k < 2; k++)
            w->till[k] = w->from[k][CHAINS];
        return true;
    }
    return false;
}

/* The last run of [p, end) that begins at i or before; the first one does. */
static int64_t run_at(const int32_t *crd, int64_t p, int64_t end, int32_t i)
{
    return coord_search(crd, sizeof *crd, sizeof *crd, p + 1, end, (int64_t)i + 1) - 1;
}

/* Parts of a row that goes on beyond all that the chains may see. */
static bool split_row(const ivl_loop *v, ivl_pair *w)
{
    const ivl_walk *a = &v->walk[0], *b = &v->walk[1];
    const int64_t left[2] = {row_bound(a, v->lane + 1) - a->p,
                             row_bound(b, v->lane + 1) - b->p};
    const int lead = left[1] > left[0];
    const ivl_walk *x = lead ? b : a, *y = lead ? a : b;
    if (left[0] + left[1] < 4 * STRIP) return false;
    const int64_t some = (left[0] + left[1]) / 2, lanes = some < w->room ? some : w->room;
    const int64_t share = lanes / CHAINS - lanes / CHAINS / 8;
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
        w->till[k] = w->from[k][CHAINS] + w->chain;
        if (w->till[k] > left[k]) w->till[k] = left[k];
    }
    return bound_lanes(w);
}

/* The runs of this window, packed. */
static void read_runs(const ivl_loop *v, ivl_pair *w)
{
    const uint32_t first = (uint32_t)v->begin + 1;
    const int32_t begin = (int32_t)v->begin;
    const size_t size = v->element;
    for (int k = 0; k < 2; k++) {
        const ivl_walk *x = &v->walk[k];
        const int32_t *next = (const int32_t *)x->t.crd + x->p + 1;
        const int64_t n = w->till[k], inner = n - (x->p + n > x->last);
        const char *vals = (const char *)v->vals[k] + (size_t)x->p * size;
        run_word *to = is_long(v) ? w->longs.run[k] : w->words.run[k];
        words_pack(to, next, first, vals, size, inner);
        if (inner < n) /* the last one of all rows */
            words_pack(to + inner, &begin, first, vals + (size_t)inner * size, size, 1);
        if (is_long(v)) memcpy(w->longs.elem[k], vals, (size_t)n * size);
    }
}

/* ---- what they made ----------------------------------------------------------------- */

/* All lanes that chain c may have, from lane n of the strip on. */
static void take_lanes(ivl_loop *v, const ivl_pair *w, int c, int n)
{
    const uint32_t first = (uint32_t)v->begin + 1;
    const size_t size = v->element, bytes = (size_t)w->most[c] * size;
    char *va = (char *)v->g.place[v->walk[0].place].data + (size_t)n * size;
    char *vb = (char *)v->g.place[v->walk[1].place].data + (size_t)n * size;
    int32_t *at = v->at + n + 1;
    if (is_long(v)) {
        const int by = c * LONG_APART;
        const by_longs *l = &w->longs;
        words_unpack(l->lane[0] + by, l->lane[1] + by, first, at, va, vb, size, w->most[c]);
        memcpy(va, l->got[0] + by, bytes);
        memcpy(vb, l->got[1] + by, bytes);
    } else {
        const int by = c * APART;
        words_unpack(w->words.lane[0] + by, w->words.lane[1] + by, first, at, va, vb, size,
                     w->most[c]);
    }
}

/* Where the rows of chain c begin, the first of them with lane n: where one ends, the next
 * lane is at the range's first coordinate. Rows that don't begin there, if their host
 * vouched for them, have what is left, or nothing. */
static void find_rows(ivl_loop *v, const ivl_pair *w, int c, int n)
{
    int *start = v->start + w->first[c];
    const int rows = w->first[c + 1] - w->first[c], lanes = w->most[c];
    start[0] = n;
    int found = words_find(v->at + n + 1, lanes, (int32_t)v->begin, n + 1, start + 1, rows);
    while (found < rows)
        start[++found] = n + lanes;
}

/* The lanes of a chain in one row. */
static int part_lanes(const ivl_loop *v, const ivl_pair *w, int c, const int32_t *at)
{
    const ivl_walk *x = &v->walk[0], *y = &v->walk[1];
    const int32_t i = ((const int32_t *)x->t.crd)[x->p + w->from[0][c + 1]];
    const int32_t j = ((const int32_t *)y->t.crd)[y->p + w->from[1][c + 1]];
    int n = w->most[c];
    while (at[n - 1] != (i > j ? i : j))
        n--;
    return n;
}

/* Chains' lanes, one after the other. */
static int string_lanes(ivl_loop *v, const ivl_pair *w)
{
    int n = 0;
    v->at[0] = (int32_t)v->i;
    for (int c = 0; c < CHAINS; c++) {
        take_lanes(v, w, c, n);
        if (w->rows) {
            find_rows(v, w, c, n);
            n = v->start[w->first[c + 1]];
        } else {
            n += part_lanes(v, w, c, v->at + n + 1);
        }
    }
    return n;
}

/* ---- the strip ----------------------------------------------------------------------- */

int pairs_fill(ivl_loop *v)
{
    ivl_pair *w = v->pair;
    if (!w) return 0;
    w->room = v->narrow && v->g.entered && !is_long(v) ? IVL_STRUNG : STRIP;
    w->chain = w->room / 2;
    if (!split_rows(v, w) && !split_row(v, w)) return 0;
    read_runs(v, w);
    if (is_long(v)) {
        merge_longs(&w->longs, w->from, w->steps);
    } else {
        merge_words(&w->words, w->from, w->steps);
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
    for (int k = 0; k < v->nfiber; k++)
        v->fiber[k] = v->lane + k;
    v->start[0] = 0;
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
    }
    if (v->pair) return STC_OK;
    v->pair_block = mem_alloc(mc->cx, PAIR_BYTES);
    if (!v->pair_block) return mc->cx->diag.status;
    v->pair = (ivl_pair *)(((uintptr_t)v->pair_block + LINE - 1) / LINE * LINE);
    memset(v->pair, 0, sizeof *v->pair);
    return STC_OK;
}

void pairs_free(machine *mc, ivl_loop *v)
{
    if (v->pair) mem_free(mc->cx, v->pair_block, PAIR_BYTES);
}
