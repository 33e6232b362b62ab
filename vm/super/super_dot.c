/* super_dot.c: sums of products over the inner loop, a lane of the outer one
 * at a time.
 *
 * Long fibers have four sums, so that one addition needn't wait for the one
 * before it; short ones follow each other so closely that one sum does. Where most have
 * an element or two, the second is added without a branch: guessing whether there is
 * one costs more than computing it.
 */
#include "../core/ahead.h"
#include "super_lengths.h"
#include <string.h>

/* Sums of whole numbers are the same in any order: compilers take several at once
 * themselves, and one of them (gcc 12.2) lost three of four sums of `x != 0`. */
#define ORDERED(TYPE) ((num_##TYPE)0.5 != (num_##TYPE)0)

/* Elements of a fiber that has four sums; a fiber's on average, if most have few. */
enum { LONG_FIBER = 24, FEW = 2 };

/* Where a sum that may be settled is looked at next: not so often that it costs. */
enum { LOOK = 64 };
#define LOOK_NEXT(p, e) ((e) - (p) > LOOK ? (p) + LOOK : (e))

/* ---- one fiber ----------------------------------------------------------------- */

/* Factors of the element at position p; which ones there are is known where this
 * is inlined. */
#define DOT_TERM(TYPE, B, p)                                                               \
    (nx == 2 ? TIMES(B, TYPE, FEW_TERM(TYPE, B, p), GET(TYPE, y[crd[(p)*stride]]))         \
             : FEW_TERM(TYPE, B, p))
#define FEW_TERM(TYPE, B, p)                                                               \
    (nx ? TIMES(B, TYPE, GET(TYPE, v[p]), GET(TYPE, x[crd[(p)*stride]])) : GET(TYPE, v[p]))

#define DOT_FIBER(TYPE, B, W)                                                              \
    INLINE num_##TYPE fiber_##TYPE##_##B##_##W(                                            \
        const elem_##TYPE *v, const index_##W *crd, int64_t stride, int64_t *at,           \
        int64_t e, const elem_##TYPE *x, const elem_##TYPE *y, num_##TYPE init, int nx)    \
    {                                                                                      \
        int64_t p = *at;                                                                   \
        num_##TYPE a = p < e ? BEGINS(B, init) : init;                                     \
        if (ORDERED(TYPE) && __builtin_expect(e - p >= LONG_FIBER, 0)) {                   \
            num_##TYPE b = NOTHING(B, TYPE), c = b, d = b;                                 \
            for (; p + 4 <= e; p += 4) {                                                   \
                a = PLUS(B, TYPE, a, DOT_TERM(TYPE, B, p));                                \
                b = PLUS(B, TYPE, b, DOT_TERM(TYPE, B, p + 1));                            \
                c = PLUS(B, TYPE, c, DOT_TERM(TYPE, B, p + 2));                            \
                d = PLUS(B, TYPE, d, DOT_TERM(TYPE, B, p + 3));                            \
            }                                                                              \
            a = PLUS(B, TYPE, a, b);                                                       \
            c = PLUS(B, TYPE, c, d);                                                       \
            a = PLUS(B, TYPE, a, c);                                                       \
        }                                                                                  \
        while (SETTLES(B) && p < e && !SETTLED(B, a))                                      \
            for (const int64_t to = LOOK_NEXT(p, e); p < to; p++)                          \
                a = PLUS(B, TYPE, a, DOT_TERM(TYPE, B, p));                                \
        for (; !SETTLES(B) && p < e; p++)                                                  \
            a = PLUS(B, TYPE, a, DOT_TERM(TYPE, B, p));                                    \
        *at = p;                                                                           \
        return a;                                                                          \
    }

/* As above, of fibers most of which have an element or two. */
#define DOT_FEW(TYPE, B, W)                                                                \
    INLINE num_##TYPE few_##TYPE##_##B##_##W(                                              \
        const elem_##TYPE *v, const index_##W *crd, int64_t stride, int64_t *at,           \
        int64_t e, const elem_##TYPE *x, num_##TYPE init, int nx)                          \
    {                                                                                      \
        int64_t p = *at;                                                                   \
        if (__builtin_expect(p == e, 0)) return init;                                      \
        num_##TYPE a = PLUS(B, TYPE, BEGINS(B, init), FEW_TERM(TYPE, B, p));               \
        const int64_t more = (p + 1 - e) >> 63, q = p - more;                              \
        const num_##TYPE both = PLUS(B, TYPE, a, FEW_TERM(TYPE, B, q));                    \
        a = EITHER(num_##TYPE, more, both, a);                                             \
        p += 2;                                                                            \
        while (SETTLES(B) && p < e && !SETTLED(B, a))                                      \
            for (const int64_t to = LOOK_NEXT(p, e); p < to; p++)                          \
                a = PLUS(B, TYPE, a, FEW_TERM(TYPE, B, p));                                \
        for (; !SETTLES(B) && p < e; p++)                                                  \
            a = PLUS(B, TYPE, a, FEW_TERM(TYPE, B, p));                                    \
        *at = p < e ? p : e;                                                               \
        return a;                                                                          \
    }

/* Rows that follow each other, all with the same gathered row: SpMV. */
#define DOT_PLAIN(TYPE, B, W)                                                              \
    INLINE int64_t plain_##TYPE##_##B##_##W(const nest *ns, const elem_##TYPE *v,          \
                                            const elem_##TYPE *x, num_##TYPE init,         \
                                            num_##TYPE *out, int nx)                       \
    {                                                                                      \
        const nest_walk *w = &ns->walk[0];                                                 \
        const index_##W *crd = w->crd,                                                     \
                        *bounds = w->bounds; /* of lanes from ns->from on */               \
        bounds += w->parent->base + ns->from;                                              \
        const int n = ns->to - ns->from;                                                   \
        int64_t left = 0, p = bounds[0];                                                   \
        if (bounds[n] - p <= FEW * (int64_t)n) {                                           \
            for (int k = 0; k < n; k++) {                                                  \
                p = bounds[k];                                                             \
                ask_later_##W(ns, w, v, sizeof *v, ns->from + k, ns->to);                  \
                out[k] =                                                                   \
                    few_##TYPE##_##B##_##W(v, crd, 1, &p, bounds[k + 1], x, init, nx);     \
                if (SETTLES(B)) left += bounds[k + 1] - p;                                 \
            }                                                                              \
            return bounds[n] - bounds[0] - left;                                           \
        }                                                                                  \
        const bool mixed = !SETTLES(B) && w->entries < LENGTHS_NEAR &&                     \
                           bounds[n] - p <= LENGTHS_MEAN * (int64_t)n &&                   \
                           lengths_differ_##W(bounds, n);                                  \
        for (int from = 0, m; mixed && from < n; from += m) {                              \
            uint16_t order[LENGTHS_BATCH];                                                 \
            m = n - from < LENGTHS_BATCH ? n - from : LENGTHS_BATCH;                       \
            lengths_sort_##W(bounds + from, m, order);                                     \
            for (int j = 0; j < m; j++) {                                                  \
                const int k = from + order[j];                                             \
                p = bounds[k];                                                             \
                out[k] = fiber_##TYPE##_##B##_##W(v, crd, 1, &p, bounds[k + 1], x, NULL,   \
                                                  init, nx);                               \
            }                                                                              \
        }                                                                                  \
        for (int k = 0; !mixed && k < n; k++) {                                            \
            const int64_t e = bounds[k + 1];                                               \
            ask_later_##W(ns, w, v, sizeof *v, ns->from + k, ns->to);                      \
            out[k] = fiber_##TYPE##_##B##_##W(v, crd, 1, &p, e, x, NULL, init, nx);        \
            if (SETTLES(B)) left += e - p;                                                 \
            p = e;                                                                         \
        }                                                                                  \
        return bounds[n] - bounds[0] - left;                                               \
    }

/* ---- all lanes ----------------------------------------------------------------- */

/* Fibers that don't follow each other: where a later lane's begins is asked for. */
#define ASK_FIBER(W)                                                                       \
    INLINE void ask_fiber_##W(const nest_walk *w, const void *vals, size_t size, int k,    \
                              int n)                                                       \
    {                                                                                      \
        if (w->parent->form != COL_ARRAY || !w->bounds || k >= n) return;                  \
        const int64_t parent = w->parent->data[k];                                         \
        const int64_t p = ((const index_##W *)w->bounds)[parent < 0 ? 0 : parent];         \
        const char *v = (const char *)vals + p * (int64_t)size;                            \
        __builtin_prefetch((const index_##W *)w->crd + p);                                 \
        __builtin_prefetch(v);                                                             \
        __builtin_prefetch(v + 64);                                                        \
    }
ASK_FIBER(32)
ASK_FIBER(64)

/* Rows that follow each other: those with an element have a term. */
#define TELL_ALL(W)                                                                        \
    __attribute__((noinline)) static void tell_all_##W(nest *ns)                           \
    {                                                                                      \
        const nest_walk *w = &ns->walk[0];                                                 \
        const index_##W *bounds = (const index_##W *)w->bounds + w->parent->base;          \
        int64_t *told = ns->told;                                                          \
        for (int k = ns->from; k < ns->to; k++)                                            \
            told[k] |= -(int64_t)(bounds[k] < bounds[k + 1]);                              \
    }
TELL_ALL(32)
TELL_ALL(64)

/* Any lanes, apart from the loop over their fibers, which has no register to spare. */
#define TELL_FIBERS(W)                                                                     \
    __attribute__((noinline)) static void tell_fibers_##W(nest *ns)                        \
    {                                                                                      \
        for (int k = ns->from; k < ns->to; k++) {                                          \
            int64_t p, e;                                                                  \
            if (span_##W(&ns->walk[0], k, &p, &e) && nest_lane(ns, k))                     \
                nest_tell(ns, k, p < e);                                                   \
        }                                                                                  \
    }
TELL_FIBERS(32)
TELL_FIBERS(64)

/* Whether fibers follow each other in a table, with one gathered row, or none, for all. */
static bool is_plain(const nest *ns, nest_load *const *by, int nx)
{
    const nest_walk *w = &ns->walk[0];
    const node *r = &ns->o->s.node[ns->link.result];
    return nx < 2 && !ns->gaps && w->bounds && w->step == 1 &&
           w->parent->form == COL_STEP && (nx == 0 || by[0]->parent->form == COL_FIXED) &&
           (ns->nscalar || !ns->o->node[r->arg[0]].p);
}

#define DOT_LANES(TYPE, B, W)                                                              \
    INLINE void fibers_##TYPE##_##B##_##W(nest *ns, const nest_load *own,                  \
                                          nest_load *const *by, int nx)                    \
    {                                                                                      \
        const nest_walk *w = &ns->walk[0];                                                 \
        const int64_t stride = w->step;                                                    \
        const index_##W *crd = w->crd;                                                     \
        const elem_##TYPE *v = own->vals;                                                  \
        const node *r = &ns->o->s.node[ns->link.result];                                   \
        num_##TYPE *out = ns->o->node[ns->link.result].data;                               \
        int64_t rounds = 0;                                                                \
        for (int k = ns->from; k < ns->to; k++) {                                          \
            num_##TYPE sum = LANE_BEGINS(TYPE, B, ns, r, k);                               \
            int64_t p, e;                                                                  \
            if (span_##W(w, k, &p, &e) && nest_lane(ns, k)) {                              \
                const elem_##TYPE *x = NULL, *y = NULL;                                    \
                ask_fiber_##W(w, v, sizeof *v, k + SUPER_AHEAD, ns->to);                   \
                if (nx > 0) x = (const elem_##TYPE *)by[0]->vals + load_base(by[0], k);    \
                if (nx > 1) y = (const elem_##TYPE *)by[1]->vals + load_base(by[1], k);    \
                rounds -= p;                                                               \
                sum = fiber_##TYPE##_##B##_##W(v, crd, stride, &p, e, x, y, sum, nx);      \
                rounds += p;                                                               \
            }                                                                              \
            out[k] = sum;                                                                  \
        }                                                                                  \
        ns->rounds += rounds;                                                              \
        if (ns->told) tell_fibers_##W(ns);                                                 \
    }

/* The sums of lanes that have scalars, once those of their terms are there. */
#define DOT_SCALED(TYPE, B, W)                                                             \
    static void scaled_##TYPE##_##B##_##W(nest *ns)                                        \
    {                                                                                      \
        const node *r = &ns->o->s.node[ns->link.result];                                   \
        num_##TYPE *out = ns->o->node[ns->link.result].data;                               \
        for (int j = 0; j < ns->nscalar; j++) {                                            \
            const num_##TYPE *each = ns->o->node[ns->scalar[j]].p;                         \
            const num_##TYPE one = LANE_VALUE(num_##TYPE, ns, ns->scalar[j], 0);           \
            for (int k = ns->from; each && k < ns->to; k++)                                \
                out[k] = TIMES(B, TYPE, each[k], out[k]);                                  \
            for (int k = ns->from; !each && k < ns->to; k++)                               \
                out[k] = TIMES(B, TYPE, one, out[k]);                                      \
        }                                                                                  \
        for (int k = ns->from; k < ns->to; k++) {                                          \
            const num_##TYPE begin = START(num_##TYPE, ns, r, k);                          \
            int64_t p, e;                                                                  \
            const bool some =                                                              \
                span_##W(&ns->walk[0], k, &p, &e) && p < e && nest_lane(ns, k);            \
            out[k] = some ? PLUS(B, TYPE, begin, out[k]) : begin;                          \
        }                                                                                  \
    }

/* How many coordinates are looked for at once. */
enum { PROBES = 256 };

/* Where the last lane's fiber ends, if all of them follow each other. */
#define FIBERS_END(W)                                                                      \
    static bool fibers_end_##W(const nest *ns, int64_t *end)                               \
    {                                                                                      \
        const nest_walk *w = &ns->walk[0];                                                 \
        int64_t p;                                                                         \
        if (!w->bounds || w->parent->form != COL_STEP) return false;                       \
        span_##W(w, ns->to - 1, &p, end);                                                  \
        return true;                                                                       \
    }
FIBERS_END(32)
FIBERS_END(64)

/* Elements from `first` on that a level has: which they are, and where it has them. */
typedef struct probed {
    int64_t from, until; /* those that it was asked for             */
    int64_t n;
    int64_t own[PROBES + 1]; /* ascending; behind them one that is never reached */
    int64_t at[PROBES];
} probed;

static void probed_list(probed *d, int64_t found)
{
    d->n = 0;
    for (int64_t k = 0; found && k < d->until - d->from; k++) {
        d->own[d->n] = d->from + k;
        d->at[d->n] = d->at[k];
        d->n += d->at[k] >= 0;
    }
    d->own[d->n] = INT64_MAX;
}

/* The first one that is p or behind it: h, where lanes follow each other. */
static inline int64_t probed_from(const probed *d, int64_t p, int64_t h)
{
    while (h > 0 && d->own[h - 1] >= p)
        h--;
    while (d->own[h] < p)
        h++;
    return h;
}

/* The gathered factor's level is asked where it has the fibers' coordinates, many
 * at once and ahead of the lane, if fibers follow each other. */
#define DOT_PROBED(TYPE, B, W)                                                             \
    static stc_status probed_##TYPE##_##B##_##W(machine *mc, nest *ns,                     \
                                                const nest_load *own, const nest_load *x)  \
    {                                                                                      \
        const nest_walk *w = &ns->walk[0];                                                 \
        const index_##W *crd = w->crd;                                                     \
        const elem_##TYPE *v = own->vals, *xv = x->vals;                                   \
        const node *r = &ns->o->s.node[ns->link.result];                                   \
        num_##TYPE *out = ns->o->node[ns->link.result].data;                               \
        int64_t below = NONE, last = 0, h = 0;                                             \
        probed d = {.from = 0};                                                            \
        const bool ahead = x->parent->form == COL_FIXED && fibers_end_##W(ns, &last);      \
        for (int k = ns->from; k < ns->to; k++) {                                          \
            const int64_t parent = column_get(x->parent, k);                               \
            int64_t p, e;                                                                  \
            num_##TYPE sum = LANE_BEGINS(TYPE, B, ns, r, k);                               \
            bool some = false;                                                             \
            if (!span_##W(w, k, &p, &e) || parent < 0) e = p;                              \
            ns->rounds -= p;                                                               \
            while (p < e && (ns->told || !SETTLED(B, sum))) {                              \
                if (p < d.from || p >= d.until || parent != below) {                       \
                    d.until = ahead ? last : e;                                            \
                    d.until = d.until < p + PROBES ? d.until : p + PROBES;                 \
                    d.from = p, below = parent;                                            \
                    probed_list(&d,                                                        \
                                machine_look_up(mc, x->slot, x->probe, parent,             \
                                                crd + p * w->step, sizeof *crd,            \
                                                (int32_t)(w->step * (int64_t)sizeof *crd), \
                                                d.until - p, d.at));                       \
                }                                                                          \
                const int64_t stop = e < d.until ? e : d.until;                            \
                h = probed_from(&d, p, h < d.n ? h : d.n);                                 \
                some = some || d.own[h] < stop;                                            \
                nest_tell(ns, k, some);                                                    \
                for (; d.own[h] < stop; h++) {                                             \
                    const num_##TYPE t = GET(TYPE, v[d.own[h]]);                           \
                    sum = PLUS(B, TYPE, sum, TIMES(B, TYPE, t, GET(TYPE, xv[d.at[h]])));   \
                }                                                                          \
                p = stop;                                                                  \
            }                                                                              \
            ns->rounds += p;                                                               \
            out[k] = LANE_SUM(TYPE, B, ns, r, k, some, sum);                               \
        }                                                                                  \
        return super_poll(mc, &ns->rounds);                                                \
    }

#define INSTANCE_dot_fiber(TYPE, B, W)                                                     \
    DOT_FIBER(TYPE, B, W)                                                                  \
    DOT_FEW(TYPE, B, W)                                                                    \
    DOT_PLAIN(TYPE, B, W)                                                                  \
    DOT_LANES(TYPE, B, W)                                                                  \
    DOT_SCALED(TYPE, B, W)                                                                 \
    DOT_PROBED(TYPE, B, W)                                                                 \
                                                                                           \
    stc_status super_dot_fiber_##TYPE##_##B##_##W(machine *mc, nest *ns)                   \
    {                                                                                      \
        nest_load *own = NULL, *by[NEST_LOADS] = {NULL};                                   \
        int nx = 0;                                                                        \
        for (int j = 0; j < ns->nload; j++) {                                              \
            if (ns->load[j].walk >= 0) {                                                   \
                own = &ns->load[j];                                                        \
            } else {                                                                       \
                by[nx++] = &ns->load[j];                                                   \
            }                                                                              \
        }                                                                                  \
        if (nx == 1 && by[0]->probe) return probed_##TYPE##_##B##_##W(mc, ns, own, by[0]); \
        if (is_plain(ns, by, nx)) {                                                        \
            const node *r = &ns->o->s.node[ns->link.result];                               \
            const num_##TYPE init = LANE_BEGINS(TYPE, B, ns, r, 0);                        \
            num_##TYPE *out = (num_##TYPE *)ns->o->node[ns->link.result].data + ns->from;  \
            const elem_##TYPE *x =                                                         \
                nx ? (const elem_##TYPE *)by[0]->vals + load_base(by[0], 0) : NULL;        \
            if (ns->told) tell_all_##W(ns);                                                \
            ns->rounds += nx ? plain_##TYPE##_##B##_##W(ns, own->vals, x, init, out, 1)    \
                             : plain_##TYPE##_##B##_##W(ns, own->vals, x, init, out, 0);   \
        } else if (nx == 0) {                                                              \
            fibers_##TYPE##_##B##_##W(ns, own, by, 0);                                     \
        } else if (nx == 1) {                                                              \
            fibers_##TYPE##_##B##_##W(ns, own, by, 1);                                     \
        } else {                                                                           \
            fibers_##TYPE##_##B##_##W(ns, own, by, 2);                                     \
        }                                                                                  \
        if (ns->nscalar) scaled_##TYPE##_##B##_##W(ns);                                    \
        return super_poll(mc, &ns->rounds);                                                \
    }

/* ---- a range ------------------------------------------------------------------- */

#define RANGE_TERM(TYPE, B, i)                                                             \
    num_##TYPE t = TIMES(B, TYPE, s, GET(TYPE, x[i]));                                     \
    if (nx > 1) t = TIMES(B, TYPE, t, GET(TYPE, y[i]));                                    \
    if (nx > 2) t = TIMES(B, TYPE, t, GET(TYPE, z[i]));

#define DOT_RANGE(TYPE, B, W)                                                              \
    INLINE num_##TYPE range_##TYPE##_##B(const elem_##TYPE *x, const elem_##TYPE *y,       \
                                         const elem_##TYPE *z, num_##TYPE s, int64_t n,    \
                                         int nx)                                           \
    {                                                                                      \
        num_##TYPE a[8], sum = NOTHING(B, TYPE);                                           \
        int64_t i = 0;                                                                     \
        for (int j = 0; j < 8; j++)                                                        \
            a[j] = sum;                                                                    \
        for (; i + 8 <= n; i += 8)                                                         \
            for (int j = 0; j < 8; j++) {                                                  \
                RANGE_TERM(TYPE, B, i + j)                                                 \
                a[j] = PLUS(B, TYPE, a[j], t);                                             \
            }                                                                              \
        for (; i < n; i++) {                                                               \
            RANGE_TERM(TYPE, B, i)                                                         \
            sum = PLUS(B, TYPE, sum, t);                                                   \
        }                                                                                  \
        for (int j = 0; j < 4; j++)                                                        \
            a[j] = PLUS(B, TYPE, a[j], a[j + 4]);                                          \
        a[0] = PLUS(B, TYPE, a[0], a[2]);                                                  \
        a[1] = PLUS(B, TYPE, a[1], a[3]);                                                  \
        a[0] = PLUS(B, TYPE, a[0], a[1]);                                                  \
        return PLUS(B, TYPE, sum, a[0]);                                                   \
    }

#define INSTANCE_dot_range(TYPE, B, W)                                                     \
    DOT_RANGE(TYPE, B, W)                                                                  \
                                                                                           \
    INLINE void ranges_##TYPE##_##B(nest *ns, num_##TYPE *out, int nx)                     \
    {                                                                                      \
        const node *r = &ns->o->s.node[ns->link.result];                                   \
        const int64_t n = ns->hi > ns->lo ? ns->hi - ns->lo : 0;                           \
        for (int k = 0; k < ns->o->n; k++) {                                               \
            num_##TYPE sum = START(num_##TYPE, ns, r, k), s = NO_FACTORS(B, TYPE);         \
            if (nest_lane(ns, k)) {                                                        \
                const elem_##TYPE *x[3] = {NULL};                                          \
                for (int j = 0; j < nx; j++)                                               \
                    x[j] = super_row(ns, &ns->load[j], k, sizeof(elem_##TYPE));            \
                for (int j = 0; j < ns->nscalar; j++)                                      \
                    s = TIMES(B, TYPE, s, LANE_VALUE(num_##TYPE, ns, ns->scalar[j], k));   \
                sum = PLUS(B, TYPE, sum, range_##TYPE##_##B(x[0], x[1], x[2], s, n, nx));  \
                ns->rounds += n;                                                           \
                nest_tell(ns, k, n > 0);                                                   \
            }                                                                              \
            out[k] = sum;                                                                  \
        }                                                                                  \
    }                                                                                      \
                                                                                           \
    INLINE void any_ranges_##TYPE##_##B(nest *ns, num_##TYPE *out)                         \
    {                                                                                      \
        if (ns->nload == 1) ranges_##TYPE##_##B(ns, out, 1);                               \
        if (ns->nload == 2) ranges_##TYPE##_##B(ns, out, 2);                               \
        if (ns->nload == 3) ranges_##TYPE##_##B(ns, out, 3);                               \
    }                                                                                      \
    static void all_ranges_##TYPE##_##B(nest *ns, num_##TYPE *out)                         \
    {                                                                                      \
        any_ranges_##TYPE##_##B(ns, out);                                                  \
    }                                                                                      \
    WIDE static void wide_ranges_##TYPE##_##B(nest *ns, num_##TYPE *out)                   \
    {                                                                                      \
        any_ranges_##TYPE##_##B(ns, out);                                                  \
    }                                                                                      \
                                                                                           \
    stc_status super_dot_range_##TYPE##_##B##_##W(machine *mc, nest *ns)                   \
    {                                                                                      \
        num_##TYPE *out = ns->o->node[ns->link.result].data;                               \
        if (ns->vectors) {                                                                 \
            wide_ranges_##TYPE##_##B(ns, out);                                             \
        } else {                                                                           \
            all_ranges_##TYPE##_##B(ns, out);                                              \
        }                                                                                  \
        return super_poll(mc, &ns->rounds);                                                \
    }

#include "super_instances.h"
