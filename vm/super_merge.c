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

#define OP_ROWS(CLS, T, W, I, OPNAME, OP)                                                  \
    INLINE int64_t row_##OPNAME##_##CLS##_##W(const I *ca, const T *va, int64_t na,        \
                                              const I *cb, const T *vb, int64_t nb, I *co, \
                                              T *vo, T fa, T fb, bool oa, bool ob)         \
    {                                                                                      \
        int64_t p = 0, q = 0, z = 0;                                                       \
        while (p + 8 <= na && q + 8 <= nb) {                                               \
            if (ca[p] == cb[q] && !memcmp(ca + p, cb + q, 8 * sizeof(I))) {                \
                for (int j = 0; j < 8; j++) {                                              \
                    co[z + j] = ca[p + j];                                                 \
                    vo[z + j] = OP(va[p + j], vb[q + j]);                                  \
                }                                                                          \
                z += 8, p += 8, q += 8;                                                    \
                continue;                                                                  \
            }                                                                              \
            if (ca[p + 7] < cb[q]) {                                                       \
                for (int j = 0; oa && j < 8; j++) {                                        \
                    co[z + j] = ca[p + j];                                                 \
                    vo[z + j] = OP(va[p + j], fb);                                         \
                }                                                                          \
                z += oa ? 8 : 0;                                                           \
                p += 8;                                                                    \
                continue;                                                                  \
            }                                                                              \
            if (cb[q + 7] < ca[p]) {                                                       \
                for (int j = 0; ob && j < 8; j++) {                                        \
                    co[z + j] = cb[q + j];                                                 \
                    vo[z + j] = OP(fa, vb[q + j]);                                         \
                }                                                                          \
                z += ob ? 8 : 0;                                                           \
                q += 8;                                                                    \
                continue;                                                                  \
            }                                                                              \
            for (int j = 0; j < 8; j++)                                                    \
                STEP_ROW(OP)                                                               \
        }                                                                                  \
        while (p < na && q < nb)                                                           \
            STEP_ROW(OP)                                                                   \
        for (; oa && p < na; p++, z++) {                                                   \
            co[z] = ca[p];                                                                 \
            vo[z] = OP(va[p], fb);                                                         \
        }                                                                                  \
        for (; ob && q < nb; q++, z++) {                                                   \
            co[z] = cb[q];                                                                 \
            vo[z] = OP(fa, vb[q]);                                                         \
        }                                                                                  \
        return z;                                                                          \
    }

#define STEP_ROW(OP)                                                                       \
    {                                                                                      \
        const int64_t i = ca[p], k = cb[q];                                                \
        const bool left = i <= k, right = k <= i;                                          \
        co[z] = left ? ca[p] : cb[q];                                                      \
        vo[z] = OP(left ? va[p] : fa, right ? vb[q] : fb);                                 \
        z += (left & right) | (left & !right & oa) | (right & !left & ob);                 \
        p += left;                                                                         \
        q += right;                                                                        \
    }

/* All lanes of the strip with one function. Lanes' room: what both fibers have
 * together, and one more, since a step writes before it knows. */
#define ALL_ROWS(CLS, T, W, I, OPNAME, OP)                                                 \
    OP_ROWS(CLS, T, W, I, OPNAME, OP)                                                      \
    static int64_t rows_##OPNAME##_##CLS##_##W(nest *ns, const row_places *rp,             \
                                               const append_room *room, T *vals)           \
    {                                                                                      \
        const nest_walk *wa = &ns->walk[0], *wb = &ns->walk[1];                            \
        const nest_load *first = &ns->load[0], *second = &ns->load[1];                     \
        const bool swapped = first->walk == 1;                                             \
        const nest_walk *left = swapped ? wb : wa, *right = swapped ? wa : wb;             \
        const I *ba = left->bounds, *bb = right->bounds, *ca = left->crd,                  \
                *cb = right->crd;                                                          \
        const bool oa = ns->only[swapped], ob = ns->only[!swapped];                        \
        const T *va = first->vals, *vb = second->vals;                                     \
        const T fa = *(const T *)&ns->fill[0], fb = *(const T *)&ns->fill[1];              \
        I *co = room->crd;                                                                 \
        int64_t z = 0, closed = room->closed;                                              \
        for (int k = 0; k < ns->o.n; k++) {                                                \
            const int64_t pa = walk_parent(left, k), pb = walk_parent(right, k);           \
            const int64_t p = pa < 0 ? 0 : ba[pa], na = pa < 0 ? 0 : ba[pa + 1] - p;       \
            const int64_t q = pb < 0 ? 0 : bb[pb], nb = pb < 0 ? 0 : bb[pb + 1] - q;       \
            const int64_t row = rp->base + column_get(&ns->o.icol[0], k);                  \
            for (; closed < row; closed++)                                                 \
                super_bound(room, closed + 1, room->pos + z);                              \
            if (oa && ob && na == nb && na < 8 && same_##W(ca + p, cb + q, na)) {          \
                for (int64_t j = 0; j < na; j++) {                                         \
                    co[z + j] = ca[p + j];                                                 \
                    vals[z + j] = OP(va[p + j], vb[q + j]);                                \
                }                                                                          \
                z += na;                                                                   \
            } else {                                                                       \
                z += row_##OPNAME##_##CLS##_##W(ca + p, va + p, na, cb + q, vb + q, nb,    \
                                                co + z, vals + z, fa, fb, oa, ob);         \
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
#define ROOM(CLS, W, I)                                                                    \
    static int64_t most_##CLS##_##W(const nest *ns)                                        \
    {                                                                                      \
        int64_t n = 1;                                                                     \
        for (int w = 0; w < NEST_WALKS; w++) {                                             \
            const I *bounds = ns->walk[w].bounds;                                          \
            for (int k = 0; k < ns->o.n; k++) {                                            \
                const int64_t p = walk_parent(&ns->walk[w], k);                            \
                if (p >= 0) n += bounds[p + 1] - bounds[p];                                \
            }                                                                              \
        }                                                                                  \
        return n;                                                                          \
    }

#define INSTANCE_merge_fibers(CLS, T, W, I)                                                \
    ROOM(CLS, W, I)                                                                        \
    ALL_ROWS(CLS, T, W, I, add, ADD_##CLS)                                                 \
    ALL_ROWS(CLS, T, W, I, sub, SUB_##CLS)                                                 \
    ALL_ROWS(CLS, T, W, I, mul, MUL_##CLS)                                                 \
                                                                                           \
    stc_status super_merge_fibers_##CLS##_##W(machine *mc, nest *ns)                       \
    {                                                                                      \
        row_places rp;                                                                     \
        append_room room;                                                                  \
        if (ns->o.n == 0) return STC_OK;                                                   \
        if (!super_rows(mc, ns, &rp)) return SUPER_REPLAY;                                 \
        tensor *t = rp.r->t;                                                               \
        const int64_t most = most_##CLS##_##W(ns);                                         \
        const int64_t parents = rp.base + column_get(&ns->o.icol[0], ns->o.n - 1) + 1;     \
        if (rp.leaf->kind->append_room(mc->cx, rp.leaf, most, parents, &room) ||           \
            tensor_reserve_values(t, room.pos + most))                                     \
            return mc->cx->diag.status;                                                    \
        for (int j = 0; j < 2; j++)                                                        \
            ns->fill[j] = mc->slot[ns->in.node[ns->load[j].node].a].t->fill;               \
        T *vals = (T *)t->vals + room.pos;                                                 \
        const int64_t n = ns->fn == FN_ADD   ? rows_add_##CLS##_##W(ns, &rp, &room, vals)  \
                          : ns->fn == FN_SUB ? rows_sub_##CLS##_##W(ns, &rp, &room, vals)  \
                                             : rows_mul_##CLS##_##W(ns, &rp, &room, vals); \
        rp.leaf->kind->append_done(rp.leaf, n, parents);                                   \
        if (room.pos + n > t->nvals) t->nvals = room.pos + n;                              \
        rp.r->stores += (uint64_t)n;                                                       \
        rp.r->lev[ns->in.place[ns->in.sink[0].b].level].parent = parents - 1;              \
        return super_poll(mc, ns);                                                         \
    }

#define INSTANCE_dot_fiber(CLS, T, W, I)
#define INSTANCE_dot_range(CLS, T, W, I)
#define INSTANCE_dot_merge(CLS, T, W, I)
#define INSTANCE_axpy_range(CLS, T, W, I)
#define INSTANCE_axpy_fiber(CLS, T, W, I)

#define SUPER(name, CLASS, ctype, index, ictype)                                           \
    INSTANCE_##name(CLASS, ctype, index, ictype)
#include "super.def"
