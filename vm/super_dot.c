/* super_dot.c: sums of products over the inner loop, a lane of the outer one
 * at a time.
 *
 * Long fibers have four sums, so that one addition needn't wait for the one
 * before it; short ones follow each other so closely that one sum does.
 */
#include "super.h"

/* Factors of one element at position p, coordinate i; which ones there are is
 * known where this is inlined. */
#define DOT_TERM(CLS, p, i)                                                                \
    (nx == 2   ? MUL_##CLS(MUL_##CLS(scaled ? MUL_##CLS(s, v[p]) : v[p], x[i]), y[i])      \
     : nx == 1 ? MUL_##CLS(scaled ? MUL_##CLS(s, v[p]) : v[p], x[i])                       \
               : (scaled ? MUL_##CLS(s, v[p]) : v[p]))

#define INSTANCE_dot_fiber(CLS, T, W, I)                                                   \
    INLINE T fiber_##CLS##_##W(const T *v, const I *crd, int64_t p, int64_t e, const T *x, \
                               const T *y, T s, int nx, bool scaled)                       \
    {                                                                                      \
        T a = 0, b = 0, c = 0, d = 0;                                                      \
        if (e - p >= 8) {                                                                  \
            for (; p + 4 <= e; p += 4) {                                                   \
                a = ADD_##CLS(a, DOT_TERM(CLS, p, crd[p]));                                \
                b = ADD_##CLS(b, DOT_TERM(CLS, p + 1, crd[p + 1]));                        \
                c = ADD_##CLS(c, DOT_TERM(CLS, p + 2, crd[p + 2]));                        \
                d = ADD_##CLS(d, DOT_TERM(CLS, p + 3, crd[p + 3]));                        \
            }                                                                              \
        }                                                                                  \
        for (; p < e; p++)                                                                 \
            a = ADD_##CLS(a, DOT_TERM(CLS, p, crd[p]));                                    \
        return ADD_##CLS(ADD_##CLS(a, b), ADD_##CLS(c, d));                                \
    }                                                                                      \
                                                                                           \
    /* Rows that follow each other, all with the same gathered row: SpMV. */               \
    INLINE int64_t plain_##CLS##_##W(const I *bounds, const I *crd, const T *v,            \
                                     const T *x, T init, T *out, int n, int nx)            \
    {                                                                                      \
        int64_t p = bounds[0];                                                             \
        for (int k = 0; k < n; k++) {                                                      \
            const int64_t e = bounds[k + 1];                                               \
            out[k] =                                                                       \
                ADD_##CLS(init, fiber_##CLS##_##W(v, crd, p, e, x, NULL, 1, nx, false));   \
            p = e;                                                                         \
        }                                                                                  \
        return p - bounds[0];                                                              \
    }                                                                                      \
                                                                                           \
    INLINE stc_status fibers_##CLS##_##W(machine *mc, nest *ns, const nest_load *own,      \
                                         nest_load *const *by, int nx, bool scaled)        \
    {                                                                                      \
        const nest_walk *w = &ns->walk[0];                                                 \
        const I *bounds = w->bounds, *crd = w->crd;                                        \
        const T *v = own->vals;                                                            \
        const node *r = &ns->o.s.node[ns->link.result];                                    \
        T *out = ns->o.node[ns->link.result].data;                                         \
        int64_t rounds = 0;                                                                \
        if (nx < 2 && !scaled && w->parent->form == COL_STEP && !ns->gaps &&               \
            (nx == 0 || by[0]->parent->form == COL_FIXED) &&                               \
            (!r->nargs || !ns->o.node[r->arg[0]].p)) {                                     \
            const T *x = nx ? (const T *)by[0]->vals + load_base(by[0], 0) : NULL;         \
            ns->rounds += plain_##CLS##_##W(                                               \
                bounds + w->parent->base, crd, v, x,                                       \
                r->nargs ? LANE_VALUE(T, ns, r->arg[0], 0) : 0, out, ns->o.n, nx);         \
            return super_poll(mc, ns);                                                     \
        }                                                                                  \
        for (int k = 0; k < ns->o.n; k++) {                                                \
            const int64_t parent = walk_parent(w, k);                                      \
            T sum = r->nargs ? LANE_VALUE(T, ns, r->arg[0], k) : 0, s = 1;                 \
            if (parent >= 0 && nest_lane(ns, k)) {                                         \
                const int64_t p = bounds[parent], e = bounds[parent + 1];                  \
                const T *x = nx > 0 ? (const T *)by[0]->vals + load_base(by[0], k) : NULL; \
                const T *y = nx > 1 ? (const T *)by[1]->vals + load_base(by[1], k) : NULL; \
                for (int j = 0; scaled && j < ns->nscalar; j++)                            \
                    s = MUL_##CLS(s, LANE_VALUE(T, ns, ns->scalar[j], k));                 \
                sum =                                                                      \
                    ADD_##CLS(sum, fiber_##CLS##_##W(v, crd, p, e, x, y, s, nx, scaled));  \
                rounds += e - p;                                                           \
            }                                                                              \
            out[k] = sum;                                                                  \
        }                                                                                  \
        ns->rounds += rounds;                                                              \
        return super_poll(mc, ns);                                                         \
    }                                                                                      \
                                                                                           \
    stc_status super_dot_fiber_##CLS##_##W(machine *mc, nest *ns)                          \
    {                                                                                      \
        nest_load *own = NULL, *by[NEST_LOADS];                                            \
        int nx = 0;                                                                        \
        for (int j = 0; j < ns->nload; j++) {                                              \
            if (ns->load[j].walk >= 0 && !own) {                                           \
                own = &ns->load[j];                                                        \
            } else if (ns->load[j].walk < 0) {                                             \
                by[nx++] = &ns->load[j];                                                   \
            } else {                                                                       \
                return dot_general_##CLS##_##W(mc, ns);                                    \
            }                                                                              \
        }                                                                                  \
        if (!own || nx > 2) return dot_general_##CLS##_##W(mc, ns);                        \
        if (nx == 1 && !ns->nscalar) return fibers_##CLS##_##W(mc, ns, own, by, 1, false); \
        if (nx == 0 && !ns->nscalar) return fibers_##CLS##_##W(mc, ns, own, by, 0, false); \
        if (nx == 1) return fibers_##CLS##_##W(mc, ns, own, by, 1, true);                  \
        if (nx == 0) return fibers_##CLS##_##W(mc, ns, own, by, 0, true);                  \
        return fibers_##CLS##_##W(mc, ns, own, by, 2, true);                               \
    }

/* Any factors, element by element. */
#define GENERAL(CLS, T, W, I)                                                              \
    static stc_status dot_general_##CLS##_##W(machine *mc, nest *ns)                       \
    {                                                                                      \
        const nest_walk *w = &ns->walk[0];                                                 \
        const I *bounds = w->bounds, *crd = w->crd;                                        \
        const node *r = &ns->o.s.node[ns->link.result];                                    \
        T *out = ns->o.node[ns->link.result].data;                                         \
        for (int k = 0; k < ns->o.n; k++) {                                                \
            const int64_t parent = walk_parent(w, k);                                      \
            T sum = r->nargs ? LANE_VALUE(T, ns, r->arg[0], k) : 0;                        \
            int64_t p = 0, e = 0;                                                          \
            if (parent >= 0 && nest_lane(ns, k))                                           \
                p = bounds[parent], e = bounds[parent + 1];                                \
            ns->rounds += e - p;                                                           \
            for (; p < e; p++) {                                                           \
                T t = 1;                                                                   \
                for (int j = 0; j < ns->nscalar; j++)                                      \
                    t = MUL_##CLS(t, LANE_VALUE(T, ns, ns->scalar[j], k));                 \
                for (int j = 0; j < ns->nload; j++) {                                      \
                    const nest_load *x = &ns->load[j];                                     \
                    const int64_t at = x->walk >= 0 ? p : load_base(x, k) + crd[p];        \
                    t = MUL_##CLS(t, ((const T *)x->vals)[at]);                            \
                }                                                                          \
                sum = ADD_##CLS(sum, t);                                                   \
            }                                                                              \
            out[k] = sum;                                                                  \
        }                                                                                  \
        return super_poll(mc, ns);                                                         \
    }

#define INSTANCE_dot_range(CLS, T, W, I)                                                   \
    INLINE T range_##CLS(const T *x, const T *y, const T *z, T s, int64_t n, int nx)       \
    {                                                                                      \
        T a[8] = {0}, sum = 0;                                                             \
        int64_t i = 0;                                                                     \
        for (; i + 8 <= n; i += 8)                                                         \
            for (int j = 0; j < 8; j++) {                                                  \
                T t = MUL_##CLS(s, x[i + j]);                                              \
                if (nx > 1) t = MUL_##CLS(t, y[i + j]);                                    \
                if (nx > 2) t = MUL_##CLS(t, z[i + j]);                                    \
                a[j] = ADD_##CLS(a[j], t);                                                 \
            }                                                                              \
        for (; i < n; i++) {                                                               \
            T t = MUL_##CLS(s, x[i]);                                                      \
            if (nx > 1) t = MUL_##CLS(t, y[i]);                                            \
            if (nx > 2) t = MUL_##CLS(t, z[i]);                                            \
            sum = ADD_##CLS(sum, t);                                                       \
        }                                                                                  \
        for (int j = 0; j < 4; j++)                                                        \
            a[j] = ADD_##CLS(a[j], a[j + 4]);                                              \
        return ADD_##CLS(sum, ADD_##CLS(ADD_##CLS(a[0], a[2]), ADD_##CLS(a[1], a[3])));    \
    }                                                                                      \
                                                                                           \
    INLINE void ranges_##CLS(nest *ns, T *out, int nx)                                     \
    {                                                                                      \
        const node *r = &ns->o.s.node[ns->link.result];                                    \
        const int64_t n = ns->hi > ns->lo ? ns->hi - ns->lo : 0;                           \
        for (int k = 0; k < ns->o.n; k++) {                                                \
            T sum = r->nargs ? LANE_VALUE(T, ns, r->arg[0], k) : 0, s = 1;                 \
            if (nest_lane(ns, k)) {                                                        \
                const T *x[3] = {NULL};                                                    \
                for (int j = 0; j < nx; j++)                                               \
                    x[j] = (const T *)super_row(ns, &ns->load[j], k, sizeof(T));           \
                for (int j = 0; j < ns->nscalar; j++)                                      \
                    s = MUL_##CLS(s, LANE_VALUE(T, ns, ns->scalar[j], k));                 \
                sum = ADD_##CLS(sum, range_##CLS(x[0], x[1], x[2], s, n, nx));             \
                ns->rounds += n;                                                           \
            }                                                                              \
            out[k] = sum;                                                                  \
        }                                                                                  \
    }                                                                                      \
                                                                                           \
    INLINE void any_ranges_##CLS(nest *ns, T *out)                                         \
    {                                                                                      \
        if (ns->nload == 1) ranges_##CLS(ns, out, 1);                                      \
        if (ns->nload == 2) ranges_##CLS(ns, out, 2);                                      \
        if (ns->nload == 3) ranges_##CLS(ns, out, 3);                                      \
    }                                                                                      \
    static void all_ranges_##CLS(nest *ns, T *out)                                         \
    {                                                                                      \
        any_ranges_##CLS(ns, out);                                                         \
    }                                                                                      \
    AVX2 static void wide_ranges_##CLS(nest *ns, T *out)                                   \
    {                                                                                      \
        any_ranges_##CLS(ns, out);                                                         \
    }                                                                                      \
                                                                                           \
    stc_status super_dot_range_##CLS##_##W(machine *mc, nest *ns)                          \
    {                                                                                      \
        T *out = ns->o.node[ns->link.result].data;                                         \
        if (ns->avx2) {                                                                    \
            wide_ranges_##CLS(ns, out);                                                    \
        } else {                                                                           \
            all_ranges_##CLS(ns, out);                                                     \
        }                                                                                  \
        return super_poll(mc, ns);                                                         \
    }

/* What two fibers share: the step is a comparison, not a branch on it. */
#define INSTANCE_dot_merge(CLS, T, W, I)                                                   \
    stc_status super_dot_merge_##CLS##_##W(machine *mc, nest *ns)                          \
    {                                                                                      \
        const nest_walk *wa = &ns->walk[0], *wb = &ns->walk[1];                            \
        const I *ba = wa->bounds, *bb = wb->bounds, *ca = wa->crd, *cb = wb->crd;          \
        const node *r = &ns->o.s.node[ns->link.result];                                    \
        T *out = ns->o.node[ns->link.result].data;                                         \
        for (int k = 0; k < ns->o.n; k++) {                                                \
            const int64_t pa = walk_parent(wa, k), pb = walk_parent(wb, k);                \
            T sum = r->nargs ? LANE_VALUE(T, ns, r->arg[0], k) : 0, s = 1;                 \
            for (int j = 0; j < ns->nscalar; j++)                                          \
                s = MUL_##CLS(s, LANE_VALUE(T, ns, ns->scalar[j], k));                     \
            int64_t p = 0, pe = 0, q = 0, qe = 0;                                          \
            if (pa >= 0 && pb >= 0) {                                                      \
                p = ba[pa], pe = ba[pa + 1];                                               \
                q = bb[pb], qe = bb[pb + 1];                                               \
            }                                                                              \
            ns->rounds += 1;                                                               \
            while (p < pe && q < qe) {                                                     \
                const I i = ca[p], j = cb[q];                                              \
                if (i == j) {                                                              \
                    T t = s;                                                               \
                    for (int x = 0; x < ns->nload; x++)                                    \
                        t = MUL_##CLS(                                                     \
                            t, ((const T *)ns->load[x].vals)[ns->load[x].walk ? q : p]);   \
                    sum = ADD_##CLS(sum, t);                                               \
                    ns->rounds++;                                                          \
                }                                                                          \
                p += i <= j;                                                               \
                q += j <= i;                                                               \
            }                                                                              \
            out[k] = sum;                                                                  \
        }                                                                                  \
        return super_poll(mc, ns);                                                         \
    }

#define BEFORE_dot_fiber(CLS, T, W, I) GENERAL(CLS, T, W, I)
#define BEFORE_dot_range(CLS, T, W, I)
#define BEFORE_dot_merge(CLS, T, W, I)
#define BEFORE_axpy_range(CLS, T, W, I)
#define BEFORE_axpy_fiber(CLS, T, W, I)
#define BEFORE_merge_fibers(CLS, T, W, I)
#define INSTANCE_axpy_range(CLS, T, W, I)
#define INSTANCE_axpy_fiber(CLS, T, W, I)
#define INSTANCE_merge_fibers(CLS, T, W, I)

#define SUPER(name, CLASS, ctype, index, ictype)                                           \
    BEFORE_##name(CLASS, ctype, index, ictype) INSTANCE_##name(CLASS, ctype, index, ictype)
#include "super.def"
