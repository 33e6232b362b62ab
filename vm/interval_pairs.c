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
 * was the nearer one is told afterwards, for many lanes at once. Elements of 8 bytes go
 * beside the words. What fits neither way is left to interval_runs.c.
 *
 * What didn't help: words of a lane side by side, two steps of a chain at a time, bits
 * of who went on instead of words, a network of 8 by 8 (all between 0.45 and 0.95 ns a
 * lane, as this), more than four chains.
 */
#include "interval.h"
#include <string.h>

/* CHAIN: steps of a chain at most, and what lies between two chains' lanes: not a power
 * of two, as addresses that differ by 4096 are in each other's way. */
enum { CHAINS = 4, WINDOW = STRIP, CHAIN = STRIP / 2, APART = CHAIN + 80, BITS = 32 };
#define ROW_END UINT32_MAX

#if defined(__x86_64__) && !defined(STC_SAN)
#define AVX2 __attribute__((target("avx2")))
#define HAS_AVX2 (__builtin_cpu_supports("avx2") != 0)
#else
#define AVX2
#define HAS_AVX2 false
#endif

/* In the low half where a run ends, counted from the range's first coordinate; in the
 * high half its element, if that has no more than 4 bytes. */
typedef uint64_t word __attribute__((may_alias));

struct ivl_pair {
    word run[2][WINDOW + APART];
    word elem[2][WINDOW + APART]; /* … else its element      */
    word lane[2][CHAINS * APART]; /* the runs of each lane;  */
    word got[2][CHAINS * APART];  /* … and their elements    */
    int64_t from[2][CHAINS + 1];  /* chains' first runs, in this window         */
    int most[CHAINS];             /* lanes of each, if no two runs ended at once */
    int rows, first[CHAINS + 1];  /* of whole rows: their first ones            */
    int bound[2][WINDOW + 2];     /* … and runs before each, and behind the last */
    int64_t till[2];              /* runs that are read                         */
};

/* ---- steps --------------------------------------------------------------------------- */

#define STEP(c)                                                                            \
    {                                                                                      \
        const word a = w->run[0][x##c], b = w->run[1][y##c];                               \
        w->lane[0][n + c * APART] = a;                                                     \
        w->lane[1][n + c * APART] = b;                                                     \
        BESIDE(c)                                                                          \
        x##c += (uint32_t)a <= (uint32_t)b;                                                \
        y##c += (uint32_t)b <= (uint32_t)a;                                                \
    }
#define MERGE(NAME)                                                                        \
    static void merge_##NAME(ivl_pair *restrict w, int64_t steps)                          \
    {                                                                                      \
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
#define BESIDE(c)
MERGE(words)
#undef BESIDE
#define BESIDE(c)                                                                          \
    w->got[0][n + c * APART] = w->elem[0][x##c];                                           \
    w->got[1][n + c * APART] = w->elem[1][y##c];
MERGE(long)

/* ---- packed and unpacked ----------------------------------------------------------- */

/* n runs that end where those from `next` on begin; and n lanes, of which each ends with
 * the nearer of its runs. */
typedef void pack_fn(word *restrict to, const int32_t *restrict next, uint32_t first,
                     const void *vals, int64_t n);
typedef void unpack_fn(const word *restrict a, const word *restrict b, uint32_t first,
                       int32_t *restrict at, void *va, void *vb, int64_t n);
#define PACKED(NAME, TARGET, T)                                                            \
    TARGET static void pack_##NAME(word *restrict to, const int32_t *restrict next,        \
                                   uint32_t first, const void *vals, int64_t n)            \
    {                                                                                      \
        const T *x = vals;                                                                 \
        for (int64_t k = 0; k < n; k++)                                                    \
            to[k] = ((uint32_t)next[k] - first) | (word)x[k] << 32;                        \
    }                                                                                      \
    TARGET static void unpack_##NAME(const word *restrict a, const word *restrict b,       \
                                     uint32_t first, int32_t *restrict at, void *va,       \
                                     void *vb, int64_t n)                                  \
    {                                                                                      \
        T *restrict x = va, *restrict y = vb;                                              \
        for (int64_t k = 0; k < n; k++) {                                                  \
            const uint32_t i = (uint32_t)a[k], j = (uint32_t)b[k];                         \
            at[k] = (int32_t)((i < j ? i : j) + first);                                    \
            x[k] = (T)(a[k] >> 32);                                                        \
            y[k] = (T)(b[k] >> 32);                                                        \
        }                                                                                  \
    }
#define PACKINGS(ROW, SUFFIX, TARGET)                                                      \
    ROW(1##SUFFIX, TARGET, uint8_t)                                                        \
    ROW(2##SUFFIX, TARGET, uint16_t)                                                       \
    ROW(4##SUFFIX, TARGET, uint32_t)
PACKINGS(PACKED, , )
PACKINGS(PACKED, _wide, AVX2)

static pack_fn *pack_of(size_t size)
{
    const bool wide = HAS_AVX2;
    return size == 1   ? wide ? pack_1_wide : pack_1
           : size == 2 ? wide ? pack_2_wide : pack_2
           : wide      ? pack_4_wide
                       : pack_4;
}

static unpack_fn *unpack_of(size_t size)
{
    const bool wide = HAS_AVX2;
    return size == 1   ? wide ? unpack_1_wide : unpack_1
           : size == 2 ? wide ? unpack_2_wide : unpack_2
           : wide      ? unpack_4_wide
                       : unpack_4;
}

/* Bit k: at[k] == i. */
static uint32_t bits_plain(const int32_t *at, int32_t i)
{
    uint32_t bits = 0;
    for (int k = 0; k < BITS; k++)
        bits |= (uint32_t)(at[k] == i) << k;
    return bits;
}

#if defined(__x86_64__) && !defined(STC_SAN)
AVX2 static uint32_t bits_wide(const int32_t *at, int32_t i)
{
    typedef int32_t ints __attribute__((vector_size(32), aligned(4), may_alias));
    typedef float floats __attribute__((vector_size(32)));
    uint32_t bits = 0;
    for (int k = 0; k < BITS; k += 8)
        bits |= (uint32_t)__builtin_ia32_movmskps256((floats)(*(const ints *)(at + k) == i))
                << k;
    return bits;
}
#else
#define bits_wide bits_plain
#endif

/* ---- where the chains begin ---------------------------------------------------------- */

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

/* The runs of this window, packed; those of the next one are asked for. */
static void read_runs(const ivl_loop *v, ivl_pair *w)
{
    const uint32_t first = (uint32_t)v->begin + 1;
    const size_t size = v->element;
    for (int k = 0; k < 2; k++) {
        const ivl_walk *x = &v->walk[k];
        const int32_t *next = (const int32_t *)x->t.crd + x->p + 1;
        const int64_t n = w->till[k], inner = n - (x->p + n > x->last);
        const char *vals = (const char *)v->vals[k] + (size_t)x->p * size;
        fetch_ahead(next + n, (size_t)n * sizeof *next);
        fetch_ahead(vals + (size_t)n * size, (size_t)n * size);
        if (size == sizeof(word)) {
            for (int64_t e = 0; e < inner; e++)
                w->run[k][e] = (uint32_t)next[e] - first;
            memcpy(w->elem[k], vals, (size_t)n * size);
            if (inner < n) w->run[k][inner] = ROW_END;
        } else {
            const int32_t end = (int32_t)v->begin; /* of a row */
            pack_of(size)(w->run[k], next, first, vals, inner);
            if (inner < n)
                pack_of(size)(w->run[k] + inner, &end, first, vals + (size_t)inner * size,
                              1);
        }
    }
}

/* ---- what they made --------------------------------------------------------------------
 */

/* All lanes that chain c may have, from lane n of the strip on. */
static void take_lanes(ivl_loop *v, const ivl_pair *w, int c, int n)
{
    const uint32_t first = (uint32_t)v->begin + 1;
    const size_t size = v->element;
    const word *a = w->lane[0] + c * APART, *b = w->lane[1] + c * APART;
    char *va = (char *)v->g.place[v->walk[0].place].data + (size_t)n * size;
    char *vb = (char *)v->g.place[v->walk[1].place].data + (size_t)n * size;
    int32_t *at = v->at + n + 1;
    if (size < sizeof(word)) {
        unpack_of(size)(a, b, first, at, va, vb, w->most[c]);
        return;
    }
    for (int k = 0; k < w->most[c]; k++)
        at[k] = (int32_t)((uint32_t)(a[k] < b[k] ? a[k] : b[k]) + first);
    memcpy(va, w->got[0] + c * APART, (size_t)w->most[c] * size);
    memcpy(vb, w->got[1] + c * APART, (size_t)w->most[c] * size);
}

/* Where rows [row, end) begin, the first of them with lane n: where one ends, the next
 * lane is at the range's first coordinate. */
static void find_rows(ivl_loop *v, int row, int end, int n)
{
    const int32_t begin = (int32_t)v->begin;
    const bool wide = HAS_AVX2;
    v->start[row] = n;
    for (n++; row < end; n += BITS) {
        uint32_t bits = wide ? bits_wide(v->at + n, begin) : bits_plain(v->at + n, begin);
        for (; bits && row < end; bits &= bits - 1) {
            v->fiber[row] = (int)v->lane + row;
            v->start[++row] = n + __builtin_ctz(bits);
        }
    }
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
            find_rows(v, w->first[c], w->first[c + 1], n);
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
    int steps;
    if (!w || (!split_rows(v, w) && !split_row(v, w)) || !bound_lanes(w, &steps)) return 0;
    read_runs(v, w);
    if (v->element < sizeof(word)) {
        merge_words(w, steps);
    } else {
        merge_long(w, steps);
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
