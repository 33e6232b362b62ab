/* super_rowwise.c: rows of a dense result, each the sum of scaled rows along a
 * fiber: three loops in one handler (nest.h: nest_rows).
 *
 * What a compiler makes of the loops of SpMM, MTTKRP and TTM, and what it can't
 * know: rows come from all over memory, so those of elements further on are asked
 * for ahead, across the ends of fibers.
 */
#include "super.h"

/* Elements that rows are asked for ahead, and bytes of them; short rows. */
enum { ROWS_AHEAD = 8, ROW_ASKED = 256, FLAT_COLUMNS = 64, FLAT_LENGTH = 4 };

/* What lane k's scalars make of one another. */
#define LANE_SCALARS(TYPE, B, W)                                                           \
    INLINE num_##TYPE scalars_##TYPE##_##B##_##W(const nest_rows *r, int k)                \
    {                                                                                      \
        num_##TYPE s = NO_FACTORS(B, TYPE);                                                \
        for (int j = 0; j < r->nscalar; j++) {                                             \
            const vcolumn *c = r->scalar[j].lanes;                                         \
            if (c) {                                                                       \
                const void *p = c->p ? c->p : &c->one;                                     \
                s = TIMES(B, TYPE, s, ((const num_##TYPE *)p)[c->p ? k : 0]);              \
            } else {                                                                       \
                const elem_##TYPE *v = r->scalar[j].vals;                                  \
                s = TIMES(B, TYPE, s, GET(TYPE, v[column_get(r->scalar[j].at, k)]));       \
            }                                                                              \
        }                                                                                  \
        return s;                                                                          \
    }

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

/* The rows of an element further on. */
INLINE void ask_row(const void *row, int64_t bytes)
{
    for (int64_t b = 0; b < ROW_ASKED && b < bytes; b += 64)
        __builtin_prefetch((const char *)row + b);
}

/* to[i] = from[i] PLUS s TIMES the rows, for as many i as a compiler can keep in
 * registers. `from` is `to`, or what is in a new row: it is read first. */
#define ROW_CHUNK(TYPE, B, SIZE)                                                           \
    for (; i + SIZE <= n; i += SIZE) {                                                     \
        num_##TYPE sum[SIZE];                                                              \
        for (int j = 0; j < SIZE; j++)                                                     \
            sum[j] = GET(TYPE, from[i + j]);                                               \
        elem_##TYPE *restrict out = to + i;                                                \
        for (int j = 0; j < SIZE; j++) {                                                   \
            num_##TYPE y = TIMES(B, TYPE, s, GET(TYPE, a[i + j]));                         \
            if (nx > 1) y = TIMES(B, TYPE, y, GET(TYPE, b[i + j]));                        \
            if (nx > 2) y = TIMES(B, TYPE, y, GET(TYPE, c[i + j]));                        \
            out[j] = (elem_##TYPE)PLUS(B, TYPE, sum[j], y);                                \
        }                                                                                  \
    }

#define ADD_ROW(TYPE, B, W)                                                                \
    INLINE void add_row_##TYPE##_##B##_##W(                                                \
        elem_##TYPE *to, const elem_##TYPE *from, const elem_##TYPE *a,                    \
        const elem_##TYPE *b, const elem_##TYPE *c, num_##TYPE s, int64_t n, int nx)       \
    {                                                                                      \
        int64_t i = 0;                                                                     \
        ROW_CHUNK(TYPE, B, 16)                                                             \
        ROW_CHUNK(TYPE, B, 4)                                                              \
        ROW_CHUNK(TYPE, B, 1)                                                              \
    }

/* Short rows below fibers that all follow each other: one loop over the elements,
 * in which the lane changes without a branch. */
#define FLAT_ROWS(TYPE, B, W)                                                              \
    INLINE void flat_rows_##TYPE##_##B##_##W(nest *ns, elem_##TYPE *to_all, int nx)        \
    {                                                                                      \
        const nest_rows *r = ns->by;                                                       \
        const index_##W *crd = r->walk.crd, *ends = r->walk.bounds;                        \
        const elem_##TYPE *v = r->vals, *base[NEST_LOADS], *at[NEST_LOADS] = {NULL};       \
        const int64_t n = ns->hi - ns->lo, *pos = r->pos;                                  \
        const int first = r->lane[0];                                                      \
        const bool ask = r->far;                                                           \
        int64_t by_up[NEST_LOADS], by_crd[NEST_LOADS];                                     \
        lane_ints up[NEST_LOADS];                                                          \
        const num_##TYPE own = scalars_##TYPE##_##B##_##W(r, first);                       \
        elem_##TYPE nothing[FLAT_COLUMNS];                                                 \
        for (int64_t i = 0; i < n; i++)                                                    \
            nothing[i] = (elem_##TYPE) * (const num_##TYPE *)&r->none;                     \
        for (int j = 0; j < nx; j++) {                                                     \
            up[j] = lane_ints_of(r->x[j].up);                                              \
            up[j].data += up[j].data ? first : 0;                                          \
            up[j].base += first * up[j].step;                                              \
            base[j] = (const elem_##TYPE *)r->x[j].vals + r->x[j].shift;                   \
            by_up[j] = r->x[j].by_up;                                                      \
            by_crd[j] = r->x[j].by_crd;                                                    \
        }                                                                                  \
        ends += r->walk.parent->base + first;                                              \
        int64_t p = *ends++;                                                               \
        const int64_t all = ends[r->n - 1];                                                \
        ns->rounds += (all - p) * (n + 1);                                                 \
        bool begins = true;                                                                \
        for (int t = 0; p < all; p++) {                                                    \
            const int64_t i = crd[p], row = pos[t];                                        \
            elem_##TYPE *to = to_all + (row < 0 ? ~row : row);                             \
            const elem_##TYPE *from = (begins & (row < 0)) ? nothing : to;                 \
            const num_##TYPE s = v ? TIMES(B, TYPE, own, GET(TYPE, v[p])) : own;           \
            for (int j = 0; j < nx; j++)                                                   \
                at[j] = base[j] + lane_int(&up[j], t) * by_up[j] + i * by_crd[j];          \
            if (ask && p + ROWS_AHEAD < r->entries) {                                      \
                const int64_t next = crd[p + ROWS_AHEAD] - i;                              \
                for (int j = 0; j < nx; j++)                                               \
                    if (by_crd[j])                                                         \
                        ask_row(at[j] + next * by_crd[j], n * (int64_t)sizeof *to);        \
            }                                                                              \
            add_row_##TYPE##_##B##_##W(to, from, at[0], at[1], at[2], s, n, nx);           \
            begins = p + 1 == ends[t];                                                     \
            t += begins;                                                                   \
        }                                                                                  \
    }

/* Whether that goes: no lane left out, no scalars of their own; and pays: where
 * fibers are long, it is seldom that one ends unexpectedly. */
static bool lies_flat(const nest *ns)
{
    const nest_rows *r = ns->by;
    bool flat = r->walk.bounds && r->walk.step == 1 && r->walk.parent->form == COL_STEP &&
                r->lane[r->n - 1] - r->lane[0] == r->n - 1 &&
                ns->hi - ns->lo <= FLAT_COLUMNS;
    for (int j = 0; j < ns->nload; j++)
        flat &= !r->x[j].by_pos;
    for (int j = 0; j < r->nscalar; j++)
        flat &= r->scalar[j].lanes && !r->scalar[j].lanes->p;
    return flat;
}

#define LIES_FLAT(W)                                                                       \
    static bool lies_flat_##W(const nest *ns)                                              \
    {                                                                                      \
        const nest_rows *r = ns->by;                                                       \
        int64_t p, e, all;                                                                 \
        if (!lies_flat(ns)) return false;                                                  \
        span_##W(&r->walk, r->lane[0], &p, &e);                                            \
        span_##W(&r->walk, r->lane[r->n - 1], &e, &all);                                   \
        return all - p <= FLAT_LENGTH * (int64_t)r->n;                                     \
    }
LIES_FLAT(32)
LIES_FLAT(64)

#define FIBER_ROWS(TYPE, B, W)                                                             \
    INLINE void fiber_rows_##TYPE##_##B##_##W(nest *ns, elem_##TYPE *to_all, int nx,       \
                                              bool plain)                                  \
    {                                                                                      \
        const nest_rows *r = ns->by;                                                       \
        const index_##W *crd = r->walk.crd;                                                \
        const elem_##TYPE *v = r->vals, *x[NEST_LOADS] = {NULL}, *at[NEST_LOADS] = {NULL}; \
        const elem_##TYPE none = (elem_##TYPE) * (const num_##TYPE *)&r->none;             \
        const int64_t n = ns->hi - ns->lo, stride = plain ? 1 : r->walk.step;              \
        int64_t by_crd[NEST_LOADS], by_pos[NEST_LOADS], rounds = 0;                        \
        for (int j = 0; j < nx; j++) {                                                     \
            by_crd[j] = r->x[j].by_crd;                                                    \
            by_pos[j] = plain ? 0 : r->x[j].by_pos;                                        \
        }                                                                                  \
        for (int t = 0; t < r->n; t++) {                                                   \
            const int k = r->lane[t];                                                      \
            const bool fresh = r->pos[t] < 0;                                              \
            elem_##TYPE *to = to_all + (fresh ? ~r->pos[t] : r->pos[t]);                   \
            const num_##TYPE own = scalars_##TYPE##_##B##_##W(r, k);                       \
            int64_t p, e;                                                                  \
            for (int j = 0; j < nx; j++) {                                                 \
                const int64_t up = r->x[j].up ? column_get(r->x[j].up, k) : 0;             \
                x[j] = (const elem_##TYPE *)r->x[j].vals + up * r->x[j].by_up +            \
                       r->x[j].shift;                                                      \
            }                                                                              \
            for (int64_t i = 0; fresh && i < n; i++)                                       \
                to[i] = none;                                                              \
            span_##W(&r->walk, k, &p, &e);                                                 \
            rounds += (e - p) * (n + 1);                                                   \
            for (; p < e; p++) {                                                           \
                const int64_t i = crd[p * stride], q = p + ROWS_AHEAD;                     \
                const num_##TYPE s = v ? TIMES(B, TYPE, own, GET(TYPE, v[p])) : own;       \
                for (int j = 0; j < nx; j++)                                               \
                    at[j] = x[j] + i * by_crd[j] + p * by_pos[j];                          \
                if (r->far && q < r->entries) {                                            \
                    const int64_t next = crd[q * stride] - i;                              \
                    for (int j = 0; j < nx; j++)                                           \
                        if (by_crd[j])                                                     \
                            ask_row(at[j] + next * by_crd[j], n * (int64_t)sizeof *to);    \
                }                                                                          \
                add_row_##TYPE##_##B##_##W(to, to, at[0], at[1], at[2], s, n, nx);         \
            }                                                                              \
        }                                                                                  \
        ns->rounds += rounds;                                                              \
    }                                                                                      \
    INLINE void any_fiber_rows_##TYPE##_##B##_##W(nest *ns, elem_##TYPE *to)               \
    {                                                                                      \
        const nest_rows *r = ns->by;                                                       \
        const bool flat = lies_flat_##W(ns);                                               \
        bool plain = r->walk.step == 1;                                                    \
        for (int j = 0; j < ns->nload; j++)                                                \
            plain &= !r->x[j].by_pos;                                                      \
        if (flat && ns->nload == 1) flat_rows_##TYPE##_##B##_##W(ns, to, 1);               \
        if (flat && ns->nload == 2) flat_rows_##TYPE##_##B##_##W(ns, to, 2);               \
        if (flat && ns->nload == 3) flat_rows_##TYPE##_##B##_##W(ns, to, 3);               \
        if (flat) return;                                                                  \
        if (plain && ns->nload == 1) fiber_rows_##TYPE##_##B##_##W(ns, to, 1, true);       \
        if (!plain && ns->nload == 1) fiber_rows_##TYPE##_##B##_##W(ns, to, 1, false);     \
        if (plain && ns->nload == 2) fiber_rows_##TYPE##_##B##_##W(ns, to, 2, true);       \
        if (!plain && ns->nload == 2) fiber_rows_##TYPE##_##B##_##W(ns, to, 2, false);     \
        if (ns->nload == 3) fiber_rows_##TYPE##_##B##_##W(ns, to, 3, false);               \
    }                                                                                      \
    static void all_fiber_rows_##TYPE##_##B##_##W(nest *ns, elem_##TYPE *to)               \
    {                                                                                      \
        any_fiber_rows_##TYPE##_##B##_##W(ns, to);                                         \
    }                                                                                      \
    AVX2 static void wide_fiber_rows_##TYPE##_##B##_##W(nest *ns, elem_##TYPE *to)         \
    {                                                                                      \
        any_fiber_rows_##TYPE##_##B##_##W(ns, to);                                         \
    }

#define INSTANCE_axpy_rows(TYPE, B, W)                                                     \
    LANE_SCALARS(TYPE, B, W)                                                               \
    ADD_ROW(TYPE, B, W)                                                                    \
    FLAT_ROWS(TYPE, B, W)                                                                  \
    FIBER_ROWS(TYPE, B, W)                                                                 \
                                                                                           \
    stc_status super_axpy_rows_##TYPE##_##B##_##W(machine *mc, nest *ns)                   \
    {                                                                                      \
        elem_##TYPE *to = mc->slot[ns->in.sink[0].a].t->vals;                              \
        if (ns->avx2) {                                                                    \
            wide_fiber_rows_##TYPE##_##B##_##W(ns, to);                                    \
        } else {                                                                           \
            all_fiber_rows_##TYPE##_##B##_##W(ns, to);                                     \
        }                                                                                  \
        return super_poll(mc, ns);                                                         \
    }

#include "super_instances.h"
