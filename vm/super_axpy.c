/* super_axpy.c: scaled rows and fibers added to a dense row, or to a dense
 * workspace (Gustavson's inner loop).
 *
 * The dense row is found once, since the outer loop leaves it alone; what each
 * lane adds to it is then one vector loop.
 */
#include "super.h"
#include "ws.h"

/* The row of the result, valid over [lo, hi). */
static stc_status result_row(machine *mc, nest *ns, void **row)
{
    const sink *x = &ns->in.sink[0];
    const place *p = &ns->in.place[x->b];
    slot *r = &mc->slot[x->a];
    const mcursor *up =
        ns->in.place[p->up].cursor == ROOT ? NULL : &mc->c[ns->in.place[p->up].cursor];
    int64_t pos;
    if (asm_at(mc, r, p->level, &mc->c[p->cursor], up, ns->lo, p->at) ||
        asm_place(mc, r, &mc->c[p->cursor], x->at, &pos) ||
        asm_value(mc, r, pos + (ns->hi - ns->lo) - 1))
        return mc->cx->diag.status;
    if (p->kept && asm_keep(mc, r, p->level, &mc->c[p->cursor], p->keep))
        return mc->cx->diag.status;
    r->stores++;
    *row = (char *)r->t->vals + pos * (int64_t)type_size(r->t->type);
    return STC_OK;
}

#define INSTANCE_axpy_range(CLS, T, W, I)                                                  \
    INLINE void rows_##CLS(nest *ns, T *restrict to, int nx)                               \
    {                                                                                      \
        const int64_t n = ns->hi - ns->lo;                                                 \
        for (int k = ns->from; k < ns->to; k++) {                                          \
            T s = 1;                                                                       \
            if (!nest_lane(ns, k)) continue;                                               \
            const T *x[3] = {NULL};                                                        \
            for (int j = 0; j < nx; j++)                                                   \
                x[j] = (const T *)super_row(ns, &ns->load[j], k, sizeof(T));               \
            for (int j = 0; j < ns->nscalar; j++)                                          \
                s = MUL_##CLS(s, LANE_VALUE(T, ns, ns->scalar[j], k));                     \
            const T *restrict a = x[0], *restrict b = x[1], *restrict c = x[2];            \
            for (int64_t i = 0; i < n; i++) {                                              \
                T t = MUL_##CLS(s, a[i]);                                                  \
                if (nx > 1) t = MUL_##CLS(t, b[i]);                                        \
                if (nx > 2) t = MUL_##CLS(t, c[i]);                                        \
                to[i] = ADD_##CLS(to[i], t);                                               \
            }                                                                              \
            ns->rounds += n;                                                               \
        }                                                                                  \
    }                                                                                      \
                                                                                           \
    INLINE void any_rows_##CLS(nest *ns, T *row)                                           \
    {                                                                                      \
        if (ns->nload == 1) rows_##CLS(ns, row, 1);                                        \
        if (ns->nload == 2) rows_##CLS(ns, row, 2);                                        \
        if (ns->nload == 3) rows_##CLS(ns, row, 3);                                        \
    }                                                                                      \
    static void all_rows_##CLS(nest *ns, T *row)                                           \
    {                                                                                      \
        any_rows_##CLS(ns, row);                                                           \
    }                                                                                      \
    AVX2 static void wide_rows_##CLS(nest *ns, T *row)                                     \
    {                                                                                      \
        any_rows_##CLS(ns, row);                                                           \
    }                                                                                      \
                                                                                           \
    stc_status super_axpy_range_##CLS##_##W(machine *mc, nest *ns)                         \
    {                                                                                      \
        void *row;                                                                         \
        bool some = false;                                                                 \
        for (int k = ns->from; k < ns->to && !some; k++)                                   \
            some = nest_lane(ns, k);                                                       \
        if (ns->hi <= ns->lo || !some) return STC_OK;                                      \
        if (result_row(mc, ns, &row)) return mc->cx->diag.status;                          \
        if (ns->avx2) {                                                                    \
            wide_rows_##CLS(ns, row);                                                      \
        } else {                                                                           \
            all_rows_##CLS(ns, row);                                                       \
        }                                                                                  \
        return super_poll(mc, ns);                                                         \
    }

/* ---- a workspace --------------------------------------------------------------- */

#define INSTANCE_axpy_fiber(CLS, T, W, I)                                                  \
    static void scatter_##CLS##_##W(workspace *w, const I *crd, const T *v, int64_t n,     \
                                    T s)                                                   \
    {                                                                                      \
        T *acc = w->dense;                                                                 \
        uint64_t *set = w->set;                                                            \
        int64_t *touched = w->touched, count = w->n;                                       \
        for (int64_t p = 0; p < n; p++) {                                                  \
            const int64_t i = crd[p];                                                      \
            const T x = v ? MUL_##CLS(s, v[p]) : s;                                        \
            const uint64_t bit = UINT64_C(1) << (i & 63), word = set[i >> 6];              \
            if (word & bit) {                                                              \
                acc[i] = ADD_##CLS(acc[i], x);                                             \
            } else {                                                                       \
                set[i >> 6] = word | bit;                                                  \
                acc[i] = x;                                                                \
                touched[count++] = i;                                                      \
            }                                                                              \
        }                                                                                  \
        w->n = count;                                                                      \
    }                                                                                      \
                                                                                           \
    stc_status super_axpy_fiber_##CLS##_##W(machine *mc, nest *ns)                         \
    {                                                                                      \
        const nest_walk *fiber = &ns->walk[0];                                             \
        const I *bounds = fiber->bounds, *crd = fiber->crd;                                \
        const sink *x = &ns->in.sink[0];                                                   \
        slot *sl = &mc->slot[x->a];                                                        \
        workspace *w = sl->ws;                                                             \
        const T *v = ns->nload > 0 ? ns->load[0].vals : NULL;                              \
        for (int k = ns->from; k < ns->to; k++) {                                          \
            const int64_t parent = walk_parent(fiber, k);                                  \
            if (parent < 0) continue;                                                      \
            const int64_t p = bounds[parent], n = bounds[parent + 1] - p;                  \
            T s = 1;                                                                       \
            for (int j = 0; j < ns->nscalar; j++)                                          \
                s = MUL_##CLS(s, LANE_VALUE(T, ns, ns->scalar[j], k));                     \
            if (n == 0) continue;                                                          \
            if (ws_use(mc, w, x->fn, x->at) || ws_touch_room(mc, w, n))                    \
                return mc->cx->diag.status;                                                \
            scatter_##CLS##_##W(w, crd + p, v ? v + p : NULL, n, s);                       \
            ns->rounds += n;                                                               \
            if (super_poll(mc, ns)) return mc->cx->diag.status;                            \
        }                                                                                  \
        return STC_OK;                                                                     \
    }

#define INSTANCE_dot_fiber(CLS, T, W, I)
#define INSTANCE_dot_range(CLS, T, W, I)
#define INSTANCE_dot_merge(CLS, T, W, I)
#define INSTANCE_merge_fibers(CLS, T, W, I)

#define SUPER(name, CLASS, ctype, index, ictype)                                           \
    INSTANCE_##name(CLASS, ctype, index, ictype)
#include "super.def"
