/* super_axpy.c: scaled fibers added to a dense row, and sums over fibers to places in one.
 *
 * The dense row is found once, since the outer loop leaves it alone; what each
 * lane adds to it is then one vector loop.
 */
#include "../nest/fibers.h"
#include "super.h"

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

/* What lane k's scalars make of one another. */
#define SCALE(TYPE, B, s, k)                                                               \
    num_##TYPE s = NO_FACTORS(B, TYPE);                                                    \
    for (int j = 0; j < ns->nscalar; j++)                                                  \
        s = TIMES(B, TYPE, s, LANE_VALUE(num_##TYPE, ns, ns->scalar[j], k));

/* ---- fibers into a row --------------------------------------------------------- */

/* v NULL: each coordinate gets s. */
#define SCATTER_LANES(TYPE, B, W)                                                          \
    INLINE void scatter_lanes_##TYPE##_##B##_##W(nest *ns, elem_##TYPE *to,                \
                                                 const elem_##TYPE *v, int64_t stride)     \
    {                                                                                      \
        const nest_walk *w = &ns->walk[0];                                                 \
        const index_##W *crd = w->crd;                                                     \
        int64_t rounds = 0;                                                                \
        for (int k = ns->from; k < ns->to;) {                                              \
            ask_later_##W(ns, w, v, sizeof *v, k, ns->to);                                 \
            for (const int end = ask_until(k, ns->to); k < end; k++) {                     \
                int64_t p, e;                                                              \
                if (!span_##W(w, k, &p, &e)) continue;                                     \
                SCALE(TYPE, B, s, k)                                                       \
                rounds += e - p;                                                           \
                for (; p < e; p++) {                                                       \
                    elem_##TYPE *at = &to[crd[p * stride]];                                \
                    *at = (elem_##TYPE)PLUS(B, TYPE, GET(TYPE, *at),                       \
                                            v ? TIMES(B, TYPE, s, GET(TYPE, v[p])) : s);   \
                }                                                                          \
            }                                                                              \
        }                                                                                  \
        ns->rounds += rounds;                                                              \
    }

/* Whether some lane has a fiber with something in it. */
#define SCATTERS(W)                                                                        \
    static bool scatters_##W(const nest *ns)                                               \
    {                                                                                      \
        int64_t p, e;                                                                      \
        for (int k = ns->from; k < ns->to; k++)                                            \
            if (span_##W(&ns->walk[0], k, &p, &e) && p < e) return true;                   \
        return false;                                                                      \
    }
SCATTERS(32)
SCATTERS(64)

#define INSTANCE_scatter_fiber(TYPE, B, W)                                                 \
    SCATTER_LANES(TYPE, B, W)                                                              \
                                                                                           \
    stc_status super_scatter_fiber_##TYPE##_##B##_##W(machine *mc, nest *ns)               \
    {                                                                                      \
        void *row;                                                                         \
        if (!scatters_##W(ns)) return STC_OK;                                              \
        if (result_row(mc, ns, &row)) return mc->cx->diag.status;                          \
        elem_##TYPE *to = (elem_##TYPE *)row - ns->lo;                                     \
        if (ns->nload == 0) {                                                              \
            scatter_lanes_##TYPE##_##B##_##W(ns, to, NULL, ns->walk[0].step);              \
        } else if (ns->walk[0].step == 1) {                                                \
            scatter_lanes_##TYPE##_##B##_##W(ns, to, ns->load[0].vals, 1);                 \
        } else {                                                                           \
            scatter_lanes_##TYPE##_##B##_##W(ns, to, ns->load[0].vals, ns->walk[0].step);  \
        }                                                                                  \
        return super_poll(mc, &ns->rounds);                                                \
    }

/* ---- sums into each lane's place -------------------------------------------------- */

static const level *lanes_level(const machine *mc, const nest *ns)
{
    const place *p = &ns->o->s.place[ns->link.up[ns->in.sink[0].b]];
    return &mc->slot[p->tensor].t->level[p->level];
}

bool super_lanes_ready(const machine *mc, const nest *ns)
{
    const level *lv = lanes_level(mc, ns);
    int64_t lo, hi;
    merge_range(mc, ns->o->s.l->merge, &lo, &hi);
    return lv->kind->caps & CAP_INSERT && level_covers(lv, lo, hi);
}

/* The row that the lanes' places are in, by the outer loop's coordinate. */
static stc_status lanes_row(machine *mc, nest *ns, void **row)
{
    slot *r = &mc->slot[ns->in.sink[0].a];
    const level *lv = lanes_level(mc, ns);
    const int64_t hi = mc->ext[ns->o->s.l->merge->hi];
    if (asm_value(mc, r, hi - lv->base - 1)) return mc->cx->diag.status;
    r->stores++;
    *row = (char *)r->t->vals - lv->base * (int64_t)type_size(r->t->type);
    return STC_OK;
}

#define INTO_LANES(TYPE, B, W)                                                             \
    INLINE void into_lanes_##TYPE##_##B##_##W(nest *ns, elem_##TYPE *to,                   \
                                              const nest_load *own, const nest_load *by)   \
    {                                                                                      \
        const nest_walk *w = &ns->walk[0];                                                 \
        const index_##W *crd = w->crd, lo = (index_##W)ns->lo;                             \
        const elem_##TYPE *v = own->vals;                                                  \
        for (int k = ns->from; k < ns->to; k++) {                                          \
            int64_t p, e;                                                                  \
            if (!span_##W(w, k, &p, &e) || !nest_lane(ns, k)) continue;                    \
            SCALE(TYPE, B, s, k)                                                           \
            const elem_##TYPE *x = NULL;                                                   \
            if (by) x = (const elem_##TYPE *)by->vals + load_base(by, k);                  \
            elem_##TYPE *at = &to[column_get(&ns->o->icol[0], k)];                         \
            num_##TYPE sum = GET(TYPE, *at);                                               \
            ns->rounds += e - p;                                                           \
            for (; p < e; p++) {                                                           \
                const index_##W j = crd[p * w->step];                                      \
                if (w->gaps && j < lo) continue;                                           \
                num_##TYPE t = TIMES(B, TYPE, s, GET(TYPE, v[p]));                         \
                if (x) t = TIMES(B, TYPE, t, GET(TYPE, x[j]));                             \
                sum = PLUS(B, TYPE, sum, t);                                               \
            }                                                                              \
            *at = (elem_##TYPE)sum;                                                        \
        }                                                                                  \
    }

/* One child a parent, and neighbours all the way: slots of rows. */
#define INTO_STEPS(TYPE, B, W)                                                             \
    static bool into_steps_##TYPE##_##B##_##W(nest *ns, elem_##TYPE *to,                   \
                                              const nest_load *own, const nest_load *by)   \
    {                                                                                      \
        const nest_walk *w = &ns->walk[0];                                                 \
        const column *i = &ns->o->icol[0], *parent = w->parent;                            \
        if (w->bounds || parent->form != COL_STEP || i->form != COL_STEP || !by ||         \
            by->parent->form != COL_FIXED || ns->gaps || ns->nscalar || w->step != 1)      \
            return false;                                                                  \
        const index_##W *crd = (const index_##W *)w->crd + parent->base;                   \
        const elem_##TYPE *v = (const elem_##TYPE *)own->vals + parent->base;              \
        const elem_##TYPE *x = (const elem_##TYPE *)by->vals + load_base(by, 0);           \
        const index_##W lo = (index_##W)ns->lo;                                            \
        to += i->base;                                                                     \
        for (int k = ns->from; k < ns->to; k++) {                                          \
            if (crd[k] < lo) continue;                                                     \
            __builtin_prefetch((const char *)&v[k] + AHEAD_BYTES / 2);                     \
            const num_##TYPE t = TIMES(B, TYPE, GET(TYPE, v[k]), GET(TYPE, x[crd[k]]));    \
            to[k] = (elem_##TYPE)PLUS(B, TYPE, GET(TYPE, to[k]), t);                       \
        }                                                                                  \
        ns->rounds += ns->to - ns->from;                                                   \
        return true;                                                                       \
    }

#define INSTANCE_dot_into(TYPE, B, W)                                                      \
    INTO_LANES(TYPE, B, W)                                                                 \
    INTO_STEPS(TYPE, B, W)                                                                 \
                                                                                           \
    stc_status super_dot_into_##TYPE##_##B##_##W(machine *mc, nest *ns)                    \
    {                                                                                      \
        void *row;                                                                         \
        const nest_load *a = &ns->load[0], *b = ns->nload > 1 ? &ns->load[1] : NULL;       \
        if (lanes_row(mc, ns, &row)) return mc->cx->diag.status;                           \
        const nest_load *own = a->walk >= 0 ? a : b, *by = a->walk >= 0 ? b : a;           \
        if (!into_steps_##TYPE##_##B##_##W(ns, row, own, by))                              \
            into_lanes_##TYPE##_##B##_##W(ns, row, own, by);                               \
        return super_poll(mc, &ns->rounds);                                                \
    }

#include "super_instances.h"
