/* super_rowwise.c: rows of a dense result, each the sum of scaled rows along a
 * fiber: three loops in one handler (nest.h: nest_rows).
 *
 * Lanes that follow each other and add to one row are a *run*: all fibers of a slice
 * (MTTKRP), or one fiber (SpMM, TTM). The sums of as many columns as fit stay in
 * registers for a whole run and are stored once, where a compiled loop loads and
 * stores them for every element. Where fibers of a run are short, its elements are
 * gone through in one loop in which the lane changes without a branch: half of the
 * time of fibers of one or two elements is branches that were guessed wrong. Rows come
 * from all over memory, so those of elements further on are asked for ahead, across
 * the ends of fibers.
 */
#include "super.h"

/* Elements that rows are asked for ahead. Runs of short fibers: so many fibers at
 * least, of so many elements on average. Vectors of columns that are summed at once. */
enum { ROWS_AHEAD = 8, FLAT_LANES = 4, FLAT_LENGTH = 4, ROW_VECTORS = 4 };

/* Bytes of rows that are gone through once for every so many columns. */
enum { ROWS_NEAR = 1 << 18 };

/* ---- numbers side by side ---------------------------------------------------------- */

/* Of a type's elements, as they lie in memory; integers wrap. */
enum { VECTOR_BYTES = 32 };
#define VECTOR(TYPE, ctype)                                                                \
    typedef ctype lane_##TYPE;                                                             \
    typedef ctype vec_##TYPE                                                               \
        __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(ctype)), may_alias));
VECTOR(F64, double)
VECTOR(F32, float)
VECTOR(I8, uint8_t)
VECTOR(I16, uint16_t)
VECTOR(I32, uint32_t)
VECTOR(I64, uint64_t)
VECTOR(BOOL, uint8_t)

/* *sum = the least of it and y, as FN_MIN_F64 has it: nan wins. */
INLINE void vec_least_F64(vec_F64 *sum, const vec_F64 *y)
{
    const vec_I64 keep = (vec_I64)((*sum < *y) | (*sum != *sum));
    *sum = (vec_F64)((keep & (vec_I64)*sum) | (~keep & (vec_I64)*y));
}

/* A body's functions on vectors: TIMES of a number and a vector, or of two. */
#define VEC_TIMES_plus_times(a, b) ((a) * (b))
#define VEC_TIMES_min_plus(a, b) ((a) + (b))
#define VEC_TIMES_or_and(a, b) ((a) & (__typeof__(b))((b) != 0))
#define VEC_PLUS_or_and(TYPE, sum, y) (*(sum) |= (vec_##TYPE)(*(y) != 0) & 1)
#define VEC_PLUS_plus_times(TYPE, sum, y) (*(sum) += *(y))
#define VEC_PLUS_min_plus(TYPE, sum, y) vec_least_##TYPE(sum, y)

/* ---- where rows are ---------------------------------------------------------------- */

/* A column whose form needn't be looked at for every lane. */
typedef struct lane_ints {
    const int64_t *data; /* NULL: base + k * step */
    int64_t base, step;
} lane_ints;

INLINE lane_ints lane_ints_of(const column *c)
{
    if (!c) return (lane_ints){0};
    return (lane_ints){.data = c->form == COL_ARRAY ? c->data : NULL,
                       .base = c->base,
                       .step = c->form == COL_STEP};
}

INLINE int64_t lane_int(const lane_ints *c, int k)
{
    return c->data ? c->data[k] : c->base + c->step * k;
}

/* Rows that are factors: the first at `at`, others so many bytes on. */
typedef struct row_source {
    const char *at;
    int64_t by_up, by_crd, by_pos;
    lane_ints up;
    const int64_t *each; /* flat: lane k's is each[k & mask] */
    int mask;
} row_source;

/* Columns of the rows of some lanes of a strip. What inner loops read of it is copied,
 * so that a compiler sees that no store into a row changes it. */
typedef struct row_block {
    const nest_rows *r;
    row_source x[NEST_LOADS];
    int nx;
    bool far, flat; /* flat: fibers follow each other, are short, and none is left out */
    int from, to;   /* lanes, by their number in the strip's list                      */
    const int *lane;
    const int64_t *pos;
    const void *crd, *vals, *bounds;
    int64_t entries;
} row_block;

static row_block row_block_of(const nest *ns, int64_t size)
{
    const nest_rows *r = ns->by;
    row_block g = {.r = r,
                   .nx = ns->nload,
                   .far = r->far,
                   .lane = r->lane,
                   .pos = r->pos,
                   .crd = r->walk.crd,
                   .vals = r->vals,
                   .entries = r->entries};
    for (int j = 0; j < g.nx; j++)
        g.x[j] = (row_source){.at = (const char *)r->x[j].vals + r->x[j].shift * size,
                              .by_up = r->x[j].by_up * size,
                              .by_crd = r->x[j].by_crd * size,
                              .by_pos = r->x[j].by_pos * size,
                              .up = lane_ints_of(r->x[j].up)};
    return g;
}

/* Where lane t's row begins. fresh: nothing was written there yet. */
INLINE int64_t row_at(const row_block *g, int t, bool *fresh)
{
    const int64_t row = g->pos[t];
    *fresh = row < 0;
    return row < 0 ? ~row : row;
}

/* The lane after those that add to the same row as lane t. */
INLINE int run_end(const row_block *g, int t, int64_t row)
{
    for (t++; t < g->to && g->pos[t] == row;)
        t++;
    return t;
}

/* What lane k's scalars make of one another. */
#define LANE_SCALARS(TYPE, B, W)                                                           \
    INLINE num_##TYPE scalars_##TYPE##_##B##_##W(const nest_rows *r, int k)                \
    {                                                                                      \
        num_##TYPE s = NO_FACTORS(B, TYPE);                                                \
        for (int j = 0; j < r->nscalar; j++) {                                             \
            const vcolumn *c = r->scalar[j];                                               \
            const void *p = c->p ? c->p : &c->one;                                         \
            s = TIMES(B, TYPE, s, ((const num_##TYPE *)p)[c->p ? k : 0]);                  \
        }                                                                                  \
        return s;                                                                          \
    }

/* ---- sums -------------------------------------------------------------------------- */

/* Of nv vectors of columns; nv and nx, how many rows are multiplied, are known where
 * these are inlined. */
#define SUMS(TYPE, B, W)                                                                   \
    typedef struct sums_##TYPE##_##B##_##W {                                               \
        vec_##TYPE v[ROW_VECTORS];                                                         \
    } sums_##TYPE##_##B##_##W;                                                             \
                                                                                           \
    INLINE void start_##TYPE##_##B##_##W(sums_##TYPE##_##B##_##W *sum, num_##TYPE none,    \
                                         const elem_##TYPE *to, bool fresh, int nv)        \
    {                                                                                      \
        for (int j = 0; j < nv; j++)                                                       \
            sum->v[j] = fresh ? (const vec_##TYPE)((lane_##TYPE)none - (vec_##TYPE){0})    \
                              : ((const vec_##TYPE *)to)[j];                               \
    }                                                                                      \
                                                                                           \
    INLINE void finish_##TYPE##_##B##_##W(const sums_##TYPE##_##B##_##W *sum,              \
                                          elem_##TYPE *to, int nv)                         \
    {                                                                                      \
        for (int j = 0; j < nv; j++)                                                       \
            ((vec_##TYPE *)to)[j] = sum->v[j];                                             \
    }                                                                                      \
                                                                                           \
    INLINE void add_##TYPE##_##B##_##W(sums_##TYPE##_##B##_##W *sum, const char *const *x, \
                                       num_##TYPE s, int nx, int nv)                       \
    {                                                                                      \
        for (int j = 0; j < nv; j++) {                                                     \
            vec_##TYPE y = VEC_TIMES_##B((lane_##TYPE)s, ((const vec_##TYPE *)x[0])[j]);   \
            if (nx > 1) y = VEC_TIMES_##B(y, ((const vec_##TYPE *)x[1])[j]);               \
            if (nx > 2) y = VEC_TIMES_##B(y, ((const vec_##TYPE *)x[2])[j]);               \
            VEC_PLUS_##B(TYPE, &sum->v[j], &y);                                            \
        }                                                                                  \
    }

/* The same columns of rows further on. */
INLINE void ask_rows(const row_block *g, const char *const *at, int64_t ahead, int nx,
                     int nv)
{
    for (int j = 0; j < nx; j++)
        for (int b = 0; b < nv * VECTOR_BYTES; b += 64)
            __builtin_prefetch(at[j] + ahead * g->x[j].by_crd + b);
}

/* ---- columns of a block of lanes --------------------------------------------------- */

/* Lanes that differ in what they multiply by, coordinates that don't lie side by side,
 * rows at positions. */
#define ANY_LANES(TYPE, B, W)                                                              \
    INLINE void any_lanes_##TYPE##_##B##_##W(const row_block *g, elem_##TYPE *all, int nx, \
                                             int nv)                                       \
    {                                                                                      \
        const nest_rows *r = g->r;                                                         \
        const index_##W *crd = g->crd;                                                     \
        const elem_##TYPE *v = g->vals;                                                    \
        const int64_t stride = r->walk.step;                                               \
        const num_##TYPE none = *(const num_##TYPE *)&r->none;                             \
        for (int t = g->from; t < g->to;) {                                                \
            bool fresh;                                                                    \
            sums_##TYPE##_##B##_##W sum;                                                   \
            const int64_t to = row_at(g, t, &fresh);                                       \
            start_##TYPE##_##B##_##W(&sum, none, all + to, fresh, nv);                     \
            for (const int end = run_end(g, t, to); t < end; t++) {                        \
                const int k = g->lane[t];                                                  \
                const num_##TYPE own = scalars_##TYPE##_##B##_##W(r, k);                   \
                const char *row[NEST_LOADS], *at[NEST_LOADS];                              \
                int64_t p, e;                                                              \
                for (int j = 0; j < nx; j++)                                               \
                    row[j] = g->x[j].at + lane_int(&g->x[j].up, k) * g->x[j].by_up;        \
                span_##W(&r->walk, k, &p, &e);                                             \
                for (; p < e; p++) {                                                       \
                    const int64_t i = crd[p * stride], q = p + ROWS_AHEAD;                 \
                    const num_##TYPE s = v ? TIMES(B, TYPE, own, GET(TYPE, v[p])) : own;   \
                    for (int j = 0; j < nx; j++)                                           \
                        at[j] = row[j] + i * g->x[j].by_crd + p * g->x[j].by_pos;          \
                    if (g->far && q < g->entries)                                          \
                        ask_rows(g, at, crd[q * stride] - i, nx, nv);                      \
                    add_##TYPE##_##B##_##W(&sum, at, s, nx, nv);                           \
                }                                                                          \
            }                                                                              \
            finish_##TYPE##_##B##_##W(&sum, all + to, nv);                                 \
        }                                                                                  \
    }

/* Lanes whose fibers are [bounds[k], bounds[k + 1]), have values, and one scalar. */
#define EVEN_LANES(TYPE, B, W)                                                             \
    INLINE void element_##TYPE##_##B##_##W(                                                \
        const row_block *g, sums_##TYPE##_##B##_##W *sum, num_##TYPE own,                  \
        const char *const *row, int64_t p, int nx, int nv)                                 \
    {                                                                                      \
        const index_##W *crd = g->crd;                                                     \
        const elem_##TYPE *v = g->vals;                                                    \
        const int64_t i = crd[p], q = p + ROWS_AHEAD;                                      \
        const char *at[NEST_LOADS];                                                        \
        for (int j = 0; j < nx; j++)                                                       \
            at[j] = row[j] + i * g->x[j].by_crd;                                           \
        if (g->far && q < g->entries) ask_rows(g, at, crd[q] - i, nx, nv);                 \
        add_##TYPE##_##B##_##W(sum, at, TIMES(B, TYPE, own, GET(TYPE, v[p])), nx, nv);     \
    }                                                                                      \
                                                                                           \
    INLINE void fiber_##TYPE##_##B##_##W(const row_block *g, sums_##TYPE##_##B##_##W *sum, \
                                         num_##TYPE own, int k, int nx, int nv)            \
    {                                                                                      \
        const index_##W *bounds = g->bounds;                                               \
        const int64_t e = bounds[k + 1];                                                   \
        const char *row[NEST_LOADS];                                                       \
        for (int j = 0; j < nx; j++)                                                       \
            row[j] = g->x[j].at + lane_int(&g->x[j].up, k) * g->x[j].by_up;                \
        for (int64_t p = bounds[k]; p < e; p++)                                            \
            element_##TYPE##_##B##_##W(g, sum, own, row, p, nx, nv);                       \
    }                                                                                      \
                                                                                           \
    /* Each lane has a row of its own. */                                                  \
    INLINE void lone_lanes_##TYPE##_##B##_##W(const row_block *g, elem_##TYPE *all,        \
                                              int nx, int nv)                              \
    {                                                                                      \
        const num_##TYPE own = scalars_##TYPE##_##B##_##W(g->r, g->lane[g->from]);         \
        const num_##TYPE none = *(const num_##TYPE *)&g->r->none;                          \
        for (int t = g->from; t < g->to; t++) {                                            \
            bool fresh;                                                                    \
            sums_##TYPE##_##B##_##W sum;                                                   \
            const int64_t to = row_at(g, t, &fresh);                                       \
            start_##TYPE##_##B##_##W(&sum, none, all + to, fresh, nv);                     \
            fiber_##TYPE##_##B##_##W(g, &sum, own, g->lane[t], nx, nv);                    \
            finish_##TYPE##_##B##_##W(&sum, all + to, nv);                                 \
        }                                                                                  \
    }                                                                                      \
                                                                                           \
    INLINE void even_lanes_##TYPE##_##B##_##W(const row_block *g, elem_##TYPE *all,        \
                                              int nx, int nv)                              \
    {                                                                                      \
        const index_##W *bounds = g->bounds;                                               \
        const num_##TYPE own = scalars_##TYPE##_##B##_##W(g->r, g->lane[g->from]);         \
        const num_##TYPE none = *(const num_##TYPE *)&g->r->none;                          \
        const char *row[NEST_LOADS];                                                       \
        for (int t = g->from; t < g->to;) {                                                \
            bool fresh;                                                                    \
            sums_##TYPE##_##B##_##W sum;                                                   \
            const int64_t to = row_at(g, t, &fresh);                                       \
            const int end = run_end(g, t, to);                                             \
            start_##TYPE##_##B##_##W(&sum, none, all + to, fresh, nv);                     \
            if (g->flat && end - t >= FLAT_LANES) {                                        \
                int k = g->lane[t];                                                        \
                const int64_t e = bounds[g->lane[end - 1] + 1];                            \
                for (int64_t p = bounds[k]; p < e; k += ++p == bounds[k + 1]) {            \
                    for (int j = 0; j < nx; j++)                                           \
                        row[j] =                                                           \
                            g->x[j].at + g->x[j].each[k & g->x[j].mask] * g->x[j].by_up;   \
                    element_##TYPE##_##B##_##W(g, &sum, own, row, p, nx, nv);              \
                }                                                                          \
                t = end;                                                                   \
            }                                                                              \
            for (; t < end; t++)                                                           \
                fiber_##TYPE##_##B##_##W(g, &sum, own, g->lane[t], nx, nv);                \
            finish_##TYPE##_##B##_##W(&sum, all + to, nv);                                 \
        }                                                                                  \
    }

/* The columns at the end of the rows that don't make a vector. */
#define LAST_COLUMNS(TYPE, B, W)                                                           \
    static void last_columns_##TYPE##_##B##_##W(const row_block *g, elem_##TYPE *all,      \
                                                int n)                                     \
    {                                                                                      \
        const nest_rows *r = g->r;                                                         \
        const index_##W *crd = r->walk.crd;                                                \
        const elem_##TYPE *v = r->vals, *x[NEST_LOADS];                                    \
        for (int t = g->from; t < g->to; t++) {                                            \
            const int k = r->lane[t];                                                      \
            const num_##TYPE own = scalars_##TYPE##_##B##_##W(r, k);                       \
            bool fresh;                                                                    \
            elem_##TYPE *to = all + row_at(g, t, &fresh);                                  \
            int64_t p, e;                                                                  \
            for (int c = 0; fresh && c < n; c++)                                           \
                to[c] = (elem_##TYPE) * (const num_##TYPE *)&r->none;                      \
            for (span_##W(&r->walk, k, &p, &e); p < e; p++) {                              \
                const int64_t i = crd[p * r->walk.step];                                   \
                const num_##TYPE s = v ? TIMES(B, TYPE, own, GET(TYPE, v[p])) : own;       \
                for (int j = 0; j < g->nx; j++)                                            \
                    x[j] =                                                                 \
                        (const elem_##TYPE *)(g->x[j].at + i * g->x[j].by_crd +            \
                                              lane_int(&g->x[j].up, k) * g->x[j].by_up +   \
                                              p * g->x[j].by_pos);                         \
                for (int c = 0; c < n; c++) {                                              \
                    num_##TYPE y = s;                                                      \
                    for (int j = 0; j < g->nx; j++)                                        \
                        y = TIMES(B, TYPE, y, GET(TYPE, x[j][c]));                         \
                    to[c] = (elem_##TYPE)PLUS(B, TYPE, GET(TYPE, to[c]), y);               \
                }                                                                          \
            }                                                                              \
        }                                                                                  \
    }

/* ---- a strip ----------------------------------------------------------------------- */

/* Values, one scalar for all lanes, and fibers in a table of bounds. */
static bool is_even(const nest *ns)
{
    const nest_rows *r = ns->by;
    bool even =
        r->vals && r->walk.bounds && r->walk.step == 1 && r->walk.parent->form == COL_STEP;
    for (int j = 0; j < ns->nload; j++)
        even &= !r->x[j].by_pos;
    for (int j = 0; j < r->nscalar; j++)
        even &= !r->scalar[j]->p;
    return even;
}

/* Whether the elements of even lanes can be gone through in one loop: no lane is left
 * out; and whether it pays: where fibers are long, it is seldom that one ends
 * unexpectedly. */
static bool lies_flat(row_block *g, int64_t elements)
{
    const nest_rows *r = g->r;
    bool flat = !r->alone && elements <= FLAT_LENGTH * (int64_t)r->n &&
                r->lane[r->n - 1] - r->lane[0] == r->n - 1;
    for (int j = 0; j < g->nx; j++) {
        row_source *x = &g->x[j];
        flat &= x->up.data || !x->up.step;
        x->each = x->up.data ? x->up.data : &x->up.base;
        x->mask = x->up.data ? -1 : 0;
    }
    return flat;
}

/* Elements below the strip's lanes. */
#define COUNT_ELEMENTS(W)                                                                  \
    static int64_t elements_##W(const nest_rows *r)                                        \
    {                                                                                      \
        const int first = r->lane[0], last = r->lane[r->n - 1];                            \
        int64_t p, e, sum = 0;                                                             \
        if (r->walk.bounds && r->walk.parent->form == COL_STEP &&                          \
            last - first == r->n - 1) {                                                    \
            const index_##W *bounds = r->walk.bounds;                                      \
            bounds += r->walk.parent->base;                                                \
            return bounds[last + 1] - bounds[first];                                       \
        }                                                                                  \
        for (int t = 0; t < r->n; t++) {                                                   \
            span_##W(&r->walk, r->lane[t], &p, &e);                                        \
            sum += e - p;                                                                  \
        }                                                                                  \
        return sum;                                                                        \
    }
COUNT_ELEMENTS(32)
COUNT_ELEMENTS(64)

/* So many lanes that all rows that they are sums of stay near. */
static int lanes_at_once(const nest *ns, int64_t elements, int64_t bytes)
{
    const double lanes = (double)ROWS_NEAR * ns->by->n / ((double)elements * (double)bytes);
    return lanes < 1 ? 1 : lanes < ns->by->n ? (int)lanes : ns->by->n;
}

#define STRIP_LANES(TYPE, B, W)                                                            \
    INLINE void columns_##TYPE##_##B##_##W(const row_block *b, elem_##TYPE *all, int nv,   \
                                           bool even)                                      \
    {                                                                                      \
        const row_block g = *b;                                                            \
        const bool lone = even && g.r->alone;                                              \
        if (lone && g.nx == 1) lone_lanes_##TYPE##_##B##_##W(&g, all, 1, nv);              \
        if (lone && g.nx == 2) lone_lanes_##TYPE##_##B##_##W(&g, all, 2, nv);              \
        if (even && !lone && g.nx == 1) even_lanes_##TYPE##_##B##_##W(&g, all, 1, nv);     \
        if (even && !lone && g.nx == 2) even_lanes_##TYPE##_##B##_##W(&g, all, 2, nv);     \
        if (!even && g.nx == 1) any_lanes_##TYPE##_##B##_##W(&g, all, 1, nv);              \
        if (!even && g.nx == 2) any_lanes_##TYPE##_##B##_##W(&g, all, 2, nv);              \
        if (g.nx == 3) any_lanes_##TYPE##_##B##_##W(&g, all, 3, nv);                       \
    }                                                                                      \
    /* Without the wider registers the sums of several vectors don't stay in any. */       \
    static void narrow_##TYPE##_##B##_##W(const row_block *g, elem_##TYPE *all, bool even) \
    {                                                                                      \
        columns_##TYPE##_##B##_##W(g, all, 1, even);                                       \
    }                                                                                      \
    WIDE static void wide_##TYPE##_##B##_##W(const row_block *g, elem_##TYPE *all, int nv, \
                                             bool even)                                    \
    {                                                                                      \
        if (nv == 1) {                                                                     \
            columns_##TYPE##_##B##_##W(g, all, 1, even);                                   \
        } else {                                                                           \
            columns_##TYPE##_##B##_##W(g, all, ROW_VECTORS, even);                         \
        }                                                                                  \
    }                                                                                      \
                                                                                           \
    static void block_##TYPE##_##B##_##W(const nest *ns, row_block g, elem_##TYPE *all,    \
                                         bool even)                                        \
    {                                                                                      \
        enum { LANES = VECTOR_BYTES / sizeof(elem_##TYPE), MANY = ROW_VECTORS * LANES };   \
        for (int64_t left = ns->hi - ns->lo, n; left > 0; left -= n, all += n) {           \
            const int nv = ns->vectors && left >= MANY ? ROW_VECTORS : 1;                  \
            n = left < LANES ? left : nv * LANES;                                          \
            if (left < LANES) {                                                            \
                last_columns_##TYPE##_##B##_##W(&g, all, (int)n);                          \
            } else if (ns->vectors) {                                                      \
                wide_##TYPE##_##B##_##W(&g, all, nv, even);                                \
            } else {                                                                       \
                narrow_##TYPE##_##B##_##W(&g, all, even);                                  \
            }                                                                              \
            for (int j = 0; j < g.nx; j++)                                                 \
                g.x[j].at += n * (int64_t)sizeof *all;                                     \
        }                                                                                  \
    }

#define INSTANCE_axpy_rows(TYPE, B, W)                                                     \
    LANE_SCALARS(TYPE, B, W)                                                               \
    SUMS(TYPE, B, W)                                                                       \
    ANY_LANES(TYPE, B, W)                                                                  \
    EVEN_LANES(TYPE, B, W)                                                                 \
    LAST_COLUMNS(TYPE, B, W)                                                               \
    STRIP_LANES(TYPE, B, W)                                                                \
                                                                                           \
    stc_status super_axpy_rows_##TYPE##_##B##_##W(machine *mc, nest *ns)                   \
    {                                                                                      \
        elem_##TYPE *all = mc->slot[ns->in.sink[0].a].t->vals;                             \
        const nest_rows *r = ns->by;                                                       \
        const int64_t n = ns->hi - ns->lo, elements = elements_##W(r);                     \
        const bool even = is_even(ns);                                                     \
        const int stride = lanes_at_once(ns, elements, n * (int64_t)sizeof *all);          \
        row_block g = row_block_of(ns, sizeof *all);                                       \
        if (even) {                                                                        \
            g.bounds = (const index_##W *)r->walk.bounds + r->walk.parent->base;           \
            g.flat = lies_flat(&g, elements);                                              \
        }                                                                                  \
        for (; g.to < r->n; g.from = g.to) {                                               \
            g.to = r->n - g.from < stride ? r->n : g.from + stride;                        \
            block_##TYPE##_##B##_##W(ns, g, all, even);                                    \
        }                                                                                  \
        ns->rounds += elements * (n + 1);                                                  \
        return super_poll(mc, ns);                                                         \
    }

#include "super_instances.h"
