/* super_merge.c: rows of a result from two fibers each: union, intersection
 * or difference, and a function of the two values, appended.
 *
 * One step takes the smaller coordinate without a branch on which it was, in
 * the blocks where neither fiber can end. Fibers that agree for eight
 * coordinates in a row, or lie apart for eight, take them at once: patterns
 * that are the same or mostly so (stencils, bands) cost what a vector loop
 * does. The strip's rows share one look at the result's room.
 */
#include "super.h"
#include <string.h>

bool super_rows(machine *mc, nest *ns, row_places *out)
{
    const sink *x = &ns->in.sink[0];
    const place *at = &ns->in.place[x->b];
    const place *row = &ns->o.s.place[ns->link.up[x->b]];
    slot *r = &mc->slot[x->a];
    const level *lv = &r->t->level[row->level];
    fiber_table t;
    if (!lv->kind->table || !r->lev[row->level].insert) return false;
    lv->kind->table(lv, &t);
    const mcursor *up = ns->o.s.place[row->up].cursor == ROOT
                            ? NULL
                            : &mc->c[ns->o.s.place[row->up].cursor];
    out->r = r;
    out->leaf = &r->t->level[at->level];
    if (t.shape != VIEW_RANGE || (up && up->c.at == NONE) || (up && !up->kept))
        return false;
    out->base = (up ? up->c.at : 0) * (t.hi - t.lo) - t.lo;
    const level *leaf = out->leaf;
    return leaf->kind->append_room && leaf->props & PROP_ORDERED &&
           leaf->props & PROP_UNIQUE && leaf->base <= ns->lo &&
           leaf->base + leaf->extent >= ns->hi;
}

bool super_rows_ready(machine *mc, nest *ns, int width)
{
    row_places rp;
    append_room room;
    if (!super_rows(mc, ns, &rp)) return false;
    return !rp.leaf->kind->append_room(mc->cx, rp.leaf, 0, 0, &room) &&
           (!width || room.width == width) && room.bounds;
}

#define OP_ROW(TYPE, B, W)                                                                 \
    INLINE int64_t row_##TYPE##_##B##_##W(                                                 \
        const index_##W *ca, const elem_##TYPE *va, int64_t na, const index_##W *cb,       \
        const elem_##TYPE *vb, int64_t nb, index_##W *co, elem_##TYPE *vo, num_##TYPE fa,  \
        num_##TYPE fb, bool oa, bool ob)                                                   \
    {                                                                                      \
        int64_t p = 0, q = 0, z = 0;                                                       \
        while (p + 8 <= na && q + 8 <= nb) {                                               \
            if (ca[p] == cb[q] && !memcmp(ca + p, cb + q, 8 * sizeof *ca)) {               \
                for (int j = 0; j < 8; j++) {                                              \
                    co[z + j] = ca[p + j];                                                 \
                    vo[z + j] =                                                            \
                        VALUE(TYPE, B, GET(TYPE, va[p + j]), GET(TYPE, vb[q + j]));        \
                }                                                                          \
                z += 8, p += 8, q += 8;                                                    \
                continue;                                                                  \
            }                                                                              \
            if (ca[p + 7] < cb[q]) {                                                       \
                for (int j = 0; oa && j < 8; j++) {                                        \
                    co[z + j] = ca[p + j];                                                 \
                    vo[z + j] = VALUE(TYPE, B, GET(TYPE, va[p + j]), fb);                  \
                }                                                                          \
                z += oa ? 8 : 0;                                                           \
                p += 8;                                                                    \
                continue;                                                                  \
            }                                                                              \
            if (cb[q + 7] < ca[p]) {                                                       \
                for (int j = 0; ob && j < 8; j++) {                                        \
                    co[z + j] = cb[q + j];                                                 \
                    vo[z + j] = VALUE(TYPE, B, fa, GET(TYPE, vb[q + j]));                  \
                }                                                                          \
                z += ob ? 8 : 0;                                                           \
                q += 8;                                                                    \
                continue;                                                                  \
            }                                                                              \
            for (int j = 0; j < 8; j++)                                                    \
                STEP_ROW(TYPE, B)                                                          \
        }                                                                                  \
        while (p < na && q < nb)                                                           \
            STEP_ROW(TYPE, B)                                                              \
        for (; oa && p < na; p++, z++) {                                                   \
            co[z] = ca[p];                                                                 \
            vo[z] = VALUE(TYPE, B, GET(TYPE, va[p]), fb);                                  \
        }                                                                                  \
        for (; ob && q < nb; q++, z++) {                                                   \
            co[z] = cb[q];                                                                 \
            vo[z] = VALUE(TYPE, B, fa, GET(TYPE, vb[q]));                                  \
        }                                                                                  \
        return z;                                                                          \
    }

#define VALUE(TYPE, B, x, y) (elem_##TYPE) TIMES(B, TYPE, x, y)
#define STEP_ROW(TYPE, B)                                                                  \
    {                                                                                      \
        const int64_t i = ca[p], k = cb[q];                                                \
        const bool left = i <= k, right = k <= i;                                          \
        const num_##TYPE x = left ? GET(TYPE, va[p]) : fa;                                 \
        const num_##TYPE y = right ? GET(TYPE, vb[q]) : fb;                                \
        co[z] = left ? ca[p] : cb[q];                                                      \
        vo[z] = VALUE(TYPE, B, x, y);                                                      \
        z += (left & right) | (left & !right & oa) | (right & !left & ob);                 \
        p += left;                                                                         \
        q += right;                                                                        \
    }

/* All lanes of the strip. Lanes' room: what both fibers have together, and one
 * more, since a step writes before it knows. */
#define OP_ROWS(TYPE, B, W)                                                                \
    static int64_t rows_##TYPE##_##B##_##W(nest *ns, const row_places *rp,                 \
                                           const append_room *room, elem_##TYPE *vals)     \
    {                                                                                      \
        const nest_walk *wa = &ns->walk[0], *wb = &ns->walk[1];                            \
        const nest_load *first = &ns->load[0], *second = &ns->load[1];                     \
        const bool swapped = first->walk == 1;                                             \
        const nest_walk *left = swapped ? wb : wa, *right = swapped ? wa : wb;             \
        const index_##W *ca = left->crd, *cb = right->crd;                                 \
        const bool oa = ns->only[swapped], ob = ns->only[!swapped];                        \
        const elem_##TYPE *va = first->vals, *vb = second->vals;                           \
        const num_##TYPE fa = *(const num_##TYPE *)&ns->fill[0],                           \
                         fb = *(const num_##TYPE *)&ns->fill[1];                           \
        index_##W *co = room->crd;                                                         \
        int64_t z = 0, closed = room->closed;                                              \
        for (int k = 0; k < ns->o.n; k++) {                                                \
            int64_t p, q, na, nb;                                                          \
            span_##W(left, k, &p, &na);                                                    \
            span_##W(right, k, &q, &nb);                                                   \
            na -= p, nb -= q;                                                              \
            const int64_t row = rp->base + column_get(&ns->o.icol[0], k);                  \
            for (; closed < row; closed++)                                                 \
                super_bound(room, closed + 1, room->pos + z);                              \
            if (oa && ob && na == nb && na < 8 && same_##W(ca + p, cb + q, na)) {          \
                for (int64_t j = 0; j < na; j++) {                                         \
                    co[z + j] = ca[p + j];                                                 \
                    vals[z + j] =                                                          \
                        VALUE(TYPE, B, GET(TYPE, va[p + j]), GET(TYPE, vb[q + j]));        \
                }                                                                          \
                z += na;                                                                   \
            } else {                                                                       \
                z += row_##TYPE##_##B##_##W(ca + p, va + p, na, cb + q, vb + q, nb,        \
                                            co + z, vals + z, fa, fb, oa, ob);             \
            }                                                                              \
            super_bound(room, ++closed, room->pos + z);                                    \
            ns->rounds += na + nb;                                                         \
        }                                                                                  \
        return z;                                                                          \
    }

static inline bool same_32(const int32_t *a, const int32_t *b, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        if (a[k] != b[k]) return false;
    return true;
}

static inline bool same_64(const int64_t *a, const int64_t *b, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        if (a[k] != b[k]) return false;
    return true;
}

/* Entries that the strip's rows can have at most. */
static int64_t most_entries(const nest *ns)
{
    int64_t n = 1, p, e;
    for (int w = 0; w < NEST_WALKS; w++)
        for (int k = 0; k < ns->o.n; k++) {
            if (ns->width == 4) {
                span_32(&ns->walk[w], k, &p, &e);
            } else {
                span_64(&ns->walk[w], k, &p, &e);
            }
            n += e - p;
        }
    return n;
}

/* Room for the strip's rows; rows and fills are looked up. */
static stc_status merge_begin(machine *mc, nest *ns, row_places *rp, append_room *room,
                              int64_t *parents)
{
    if (!super_rows(mc, ns, rp)) return SUPER_REPLAY;
    const int64_t most = most_entries(ns);
    *parents = rp->base + column_get(&ns->o.icol[0], ns->o.n - 1) + 1;
    if (rp->leaf->kind->append_room(mc->cx, rp->leaf, most, *parents, room) ||
        tensor_reserve_values(rp->r->t, room->pos + most))
        return mc->cx->diag.status;
    for (int j = 0; j < 2; j++)
        ns->fill[j] = mc->slot[ns->in.node[ns->load[j].node].a].t->fill;
    return STC_OK;
}

/* n entries were written. */
static stc_status merge_end(machine *mc, nest *ns, const row_places *rp,
                            const append_room *room, int64_t parents, int64_t n)
{
    tensor *t = rp->r->t;
    rp->leaf->kind->append_done(rp->leaf, n, parents);
    if (room->pos + n > t->nvals) t->nvals = room->pos + n;
    rp->r->stores += (uint64_t)n;
    rp->r->lev[ns->in.place[ns->in.sink[0].b].level].parent = parents - 1;
    return super_poll(mc, ns);
}

#define INSTANCE_merge_fibers(TYPE, B, W)                                                  \
    OP_ROW(TYPE, B, W)                                                                     \
    OP_ROWS(TYPE, B, W)                                                                    \
                                                                                           \
    stc_status super_merge_fibers_##TYPE##_##B##_##W(machine *mc, nest *ns)                \
    {                                                                                      \
        row_places rp;                                                                     \
        append_room room;                                                                  \
        int64_t parents;                                                                   \
        if (ns->o.n == 0) return STC_OK;                                                   \
        const stc_status st = merge_begin(mc, ns, &rp, &room, &parents);                   \
        if (st) return st;                                                                 \
        elem_##TYPE *vals = (elem_##TYPE *)rp.r->t->vals + room.pos;                       \
        return merge_end(mc, ns, &rp, &room, parents,                                      \
                         rows_##TYPE##_##B##_##W(ns, &rp, &room, vals));                   \
    }

#define INSTANCE_dot_fiber(TYPE, B, W)
#define INSTANCE_dot_range(TYPE, B, W)
#define INSTANCE_dot_merge(TYPE, B, W)
#define INSTANCE_axpy_range(TYPE, B, W)
#define INSTANCE_scatter_fiber(TYPE, B, W)
#define INSTANCE_dot_into(TYPE, B, W)
#define INSTANCE_axpy_fiber(TYPE, B, W)

#define SUPER(kernel, TYPE, body, index) INSTANCE_##kernel(TYPE, body, index)
#include "super.def"
