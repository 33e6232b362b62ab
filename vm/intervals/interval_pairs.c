/* interval_pairs.c: two operands of runs, merged from four places at once.
 *
 * A step of a merge waits for the one before it, so four chains run side by side, each
 * through a part of the rows that are merged end to end: one operand's runs are shared
 * evenly, and where the other one's lie is searched for. They take the same number of
 * steps, until all are done; one that is goes on in what is the next one's, and what it
 * makes there is left out. Where the next begins is known: so many rows on, and there at a
 * coordinate.
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
#include "../core/ahead.h"
#include <string.h>

/* Steps of a chain at most, and what lies between two chains' lanes: not a power of two,
 * as addresses that differ by 4096 are in each other's way. */
enum { CHAINS = 4, CHAIN = IVL_STRUNG / 2, APART = CHAIN + 80 };
enum { LONG_CHAIN = STRIP / 2, LONG_APART = LONG_CHAIN + 80 };
enum { ASKED = 32 }; /* steps between looks at whether chains end */
#define ROW_END UINT32_MAX

typedef struct by_words {
    run_word run[2][2 * IVL_STRUNG + APART];
    run_word lane[2][CHAINS * APART]; /* the runs of each lane */
} by_words;

/* Runs of an operand behind this window. */
typedef struct runs_after {
    const int32_t *crd;
    const char *vals;
} runs_after;

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
    runs_after after[2];
    int room, chain;        /* for lanes: in all, in a chain              */
    int most[CHAINS];       /* lanes of each, if no two runs ended at once */
    int steps;              /* … the most of them                         */
    int row[CHAINS + 1];    /* in which row each begins, of those left    */
    int32_t at[CHAINS + 1]; /* … and where                                */
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
/* What the next window is likely to read as that many steps of this one do: memory takes as
 * long as some of them. */
static inline void fetch_after(const runs_after after[2], int64_t n, int64_t size)
{
    for (int k = 0; k < 2; k++) {
        fetch(after[k].crd + n * CHAINS, ASKED * CHAINS * (int64_t)sizeof(int32_t));
        fetch(after[k].vals + n * CHAINS * size, ASKED * CHAINS * size);
    }
}

#define ENDS(c) (x##c >= from[0][c + 1] && y##c >= from[1][c + 1])
/* Until all chains are at the next one's beginning, asked now and then; how many steps. */
#define MERGE(NAME)                                                                        \
    static int merge_##NAME(by_##NAME *restrict w, int64_t from[2][CHAINS + 1],            \
                            const runs_after after[2], int64_t size, int64_t most)         \
    {                                                                                      \
        int64_t x0 = from[0][0], x1 = from[0][1], x2 = from[0][2], x3 = from[0][3];        \
        int64_t y0 = from[1][0], y1 = from[1][1], y2 = from[1][2], y3 = from[1][3];        \
        int64_t n = 0;                                                                     \
        while (n < most && !(ENDS(0) && ENDS(1) && ENDS(2) && ENDS(3))) {                  \
            fetch_after(after, n, size);                                                   \
            for (const int64_t some = most - n < ASKED ? most : n + ASKED; n < some;       \
                 n++) {                                                                    \
                STEP(0)                                                                    \
                STEP(1)                                                                    \
                STEP(2)                                                                    \
                STEP(3)                                                                    \
            }                                                                              \
        }                                                                                  \
        return (int)n;                                                                     \
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

/* Lanes of each chain at most, one less for each row that ends for both operands at once;
 * false: more than there is room for, or rows for which a host shouldn't vouch. */
static bool bound_lanes(ivl_pair *w)
{
    int64_t total = 0;
    w->steps = 0;
    for (int c = 0; c < CHAINS; c++) {
        const int64_t a = w->from[0][c + 1] - w->from[0][c];
        const int64_t b = w->from[1][c + 1] - w->from[1][c];
        const int64_t n = a + b - (w->row[c + 1] - w->row[c]);
        if (a < 0 || b < 0 || n < 1 || n > w->chain) return false;
        w->most[c] = (int)n;
        if (n > w->steps) w->steps = (int)n;
        total += n;
    }
    return total <= w->room && w->row[CHAINS] <= w->room &&
           w->from[0][CHAINS] + w->from[1][CHAINS] <= 2 * w->room;
}

/* The row, of those left, that has run p or begins with it: `row` or one of the `most`
 * behind it, and if rows are alike, as far on as p is. */
static int64_t row_of(const ivl_loop *v, const ivl_walk *w, int64_t row, int64_t most,
                      int64_t p)
{
    const int64_t left = v->lanes - v->lane;
    int64_t end = row + most < left ? row + most : left;
    int64_t first = row_bound(w, v->lane + row), last = row_bound(w, v->lane + end);
    if (p >= last) return end;
    if (p < first) return row; /* if a host vouched for what isn't so */
    for (int tried = 0; end - row > 1; tried++) {
        const int64_t guess = tried < 2 ? (end - row) * (p - first) / (last - first) : 0;
        const int64_t middle = row + (guess > 0 ? guess : (end - row) / 2);
        const int64_t bound = row_bound(w, v->lane + middle);
        if (bound <= p) {
            row = middle;
            first = bound;
        } else {
            end = middle;
            last = bound;
        }
    }
    return row;
}

/* Chain c ends with the rows before `row`. */
static void end_with(const ivl_loop *v, ivl_pair *w, int c, int64_t row)
{
    for (int k = 0; k < 2; k++)
        w->from[k][c] = row_bound(&v->walk[k], v->lane + row) - v->walk[k].p;
    w->row[c] = (int)row;
    w->at[c] = (int32_t)v->begin;
}

/* Chain c ends n runs of `lead` behind the first. Within a row the other operand's run is
 * the last one that begins there or before: the row's first one does. */
static void end_within(const ivl_loop *v, ivl_pair *w, int c, int lead, int64_t n)
{
    const ivl_walk *x = &v->walk[lead], *y = &v->walk[!lead];
    const int64_t row = row_of(v, x, w->row[c - 1], n - w->from[lead][c - 1], x->p + n);
    end_with(v, w, c, row);
    if (w->from[lead][c] == n || x->p + n > x->last) return;
    int64_t p = w->from[!lead][w->from[!lead][c] < w->from[!lead][c - 1] ? c - 1 : c];
    w->at[c] = ((const int32_t *)x->t.crd)[x->p + n];
    p = coord_search(y->t.crd, sizeof(int32_t), sizeof(int32_t), y->p + p + 1,
                     row_bound(y, v->lane + row + 1), (int64_t)w->at[c] + 1);
    w->from[lead][c] = n;
    w->from[!lead][c] = p - 1 - y->p;
}

/* As many runs as would fit if all that are left were alike, or fewer: of whole rows, if
 * one fits; and whole rows to each chain, as many, where few are left out so. */
static bool share_runs(const ivl_loop *v, ivl_pair *w)
{
    enum { LEAST = 16 * CHAINS };
    const int64_t left[2] = {v->walk[0].last + 1 - v->walk[0].p,
                             v->walk[1].last + 1 - v->walk[1].p};
    const int lead = left[1] > left[0];
    const ivl_walk *x = &v->walk[lead];
    const int64_t lanes = left[0] + left[1] - (v->lanes - v->lane);
    const int64_t fit = w->room - w->room / 16;
    int64_t some = lanes > fit ? left[lead] * fit / lanes : left[lead];
    w->from[0][0] = w->from[1][0] = w->row[0] = 0;
    w->at[0] = (int32_t)v->i;
    for (; some >= LEAST; some -= some / 8) {
        int64_t rows = row_of(v, x, 0, some, x->p + some);
        const bool shared = rows % CHAINS <= rows / 4; /* rows */
        if (shared) rows -= rows % CHAINS;
        const int64_t whole = rows ? row_bound(x, v->lane + rows) - x->p : 0;
        if (whole >= some - some / 4) some = whole;
        for (int c = 1; c <= CHAINS; c++)
            if (whole == some && shared)
                end_with(v, w, c, rows / CHAINS * c);
            else
                end_within(v, w, c, lead, some * c / CHAINS);
        if (bound_lanes(w)) break;
    }
    for (int k = 0; k < 2; k++) /* a chain's last lanes may end within a run */
        w->till[k] = w->from[k][CHAINS] + (w->from[k][CHAINS] < left[k]);
    return some >= LEAST;
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
        w->after[k] = (runs_after){next + n, vals + (size_t)n * size};
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

/* How many lanes chain c has, from lane n of the strip on, and where the rows begin that it
 * comes to: where one ends, the next lane is at the range's first coordinate. Rows that
 * don't begin there, if their host vouched for them, have what is left, or nothing. */
static int find_rows(ivl_loop *v, const ivl_pair *w, int c, int n)
{
    enum { SPARE = 2 }; /* words_find may write more */
    int *start = v->start + w->row[c] + 1, end[1 + SPARE];
    const int rows = w->row[c + 1] - w->row[c], stop = n + w->most[c];
    const int32_t *at = v->at + 1;
    int found = words_find(at + n, stop - n, (int32_t)v->begin, n + 1, start, rows);
    while (found < rows)
        start[found++] = stop;
    if (rows) n = start[rows - 1];
    if (w->at[c + 1] == v->begin) return n;
    return words_find(at + n, stop - n, w->at[c + 1], n + 1, end, 1) ? end[0] : stop;
}

/* Chains' lanes, one after the other. */
static int string_lanes(ivl_loop *v, const ivl_pair *w)
{
    int n = 0;
    v->at[0] = (int32_t)v->i;
    for (int c = 0; c < CHAINS; c++) {
        take_lanes(v, w, c, n);
        n = find_rows(v, w, c, n);
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
    if (!share_runs(v, w)) return 0;
    read_runs(v, w);
    const int steps = is_long(v)
                          ? merge_longs(&w->longs, w->from, w->after, v->element, w->steps)
                          : merge_words(&w->words, w->from, w->after, v->element, w->steps);
    for (int c = 0; c < CHAINS; c++)
        w->most[c] = w->most[c] < steps ? w->most[c] : steps;
    const int n = string_lanes(v, w);
    for (int k = 0; k < 2; k++) {
        column *c = &v->g.place[v->walk[k].place];
        c->form = COL_STEP;
        c->base = 0;
        c->vals = c->data;
        v->walk[k].p += w->from[k][CHAINS];
    }
    const bool ends = w->at[CHAINS] == v->begin;
    v->i = v->at[n];
    v->nfiber = w->row[CHAINS] + !ends;
    for (int k = 0; k < v->nfiber; k++)
        v->fiber[k] = v->lane + k;
    v->start[0] = 0;
    v->start[v->nfiber] = n;
    v->lane += w->row[CHAINS];
    v->next = ends ? v->end : v->i;
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
