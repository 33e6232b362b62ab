/* super_merge.c: rows of a result from two fibers each: union, intersection
 * or difference, and a function of the two values, appended.
 *
 * Fibers that agree for eight coordinates in a row, or lie apart for eight, take
 * them at once: patterns that are the same or mostly so (stencils, bands) cost what
 * a vector loop does. Where there is no pattern, blocks are merged by ranks
 * (super_ranks.h), or else by steps that take the smaller coordinate without a
 * branch on which it was. The strip's rows share one look at the result's room.
 */
#include "../nest/fibers.h"
#include "super.h"
#include "super_ranks.h"
#include <string.h>

/* FEW elements of two fibers are merged step by step anyway; so are REGULAR blocks
 * after eight could be taken at once, since more of these are to be expected. */
enum { FEW = 6, REGULAR = 3 };

bool super_rows(machine *mc, nest *ns, row_places *out)
{
    const sink *x = &ns->in.sink[0];
    const place *at = &ns->in.place[x->b];
    const place *row = &ns->o->s.place[ns->link.up[x->b]];
    slot *r = &mc->slot[x->a];
    const level *lv = &r->t->level[row->level], *leaf = &r->t->level[at->level];
    const uint16_t above = ns->o->s.place[row->up].cursor;
    const mcursor *up = above == ROOT ? NULL : &mc->c[above];
    if (!r->lev[row->level].insert || (up && !up->kept)) return false;
    out->r = r;
    out->leaf = &r->t->level[at->level];
    out->base = (up ? up->c.at : 0) * lv->extent - lv->base;
    return leaf->kind->append_room && leaf->props & PROP_ORDERED &&
           leaf->props & PROP_UNIQUE && level_covers(leaf, ns->lo, ns->hi);
}

bool super_rows_ready(machine *mc, nest *ns, int width)
{
    row_places rp;
    append_room room;
    if (!super_rows(mc, ns, &rp)) return false;
    return !rp.leaf->kind->append_room(mc->cx, rp.leaf, 0, 0, &room) && room.width == width;
}

/* A fiber of each operand: what is left of it, and how far memory may be read. */
typedef struct pair {
    int64_t na, nb;         /* elements                                      */
    int64_t room_a, room_b; /* elements of which coordinates can be read     */
    bool oa, ob;            /* whether what only one of them has is produced */
    int regular;            /* blocks since eight were taken at once, counted down */
    bool ranked;            /* by ranks, where nothing has been regular      */
} pair;

#define RANKED_32 true
#define RANKED_64 false

/* Eight coordinates that agree, or lie below all of the other fiber's next. */
#define TAKE_EIGHT(TYPE, B, on, crd, f)                                                    \
    {                                                                                      \
        for (int j = 0; (on) && j < 8; j++) {                                              \
            co[z + j] = (crd)[j];                                                          \
            vo[z + j] = f;                                                                 \
        }                                                                                  \
        x->regular = REGULAR;                                                              \
        z += (on) ? 8 : 0;                                                                 \
    }

/* Elements of the union, each at its place; or what both have, in order. */
#define BLOCK_ROW(TYPE, B)                                                                 \
    {                                                                                      \
        ranks r;                                                                           \
        ranks_find((const void *)(ca + p), x->na - p, x->room_a - p,                       \
                   (const void *)(cb + q), x->nb - q, x->room_b - q, &r);                  \
        if (x->oa) {                                                                       \
            for (int j = 0; j < r.na; j++) {                                               \
                co[z + r.at_a[j]] = ca[p + j];                                             \
                vo[z + r.at_a[j]] = VALUE(TYPE, B, GET(TYPE, va[p + j]), fb);              \
            }                                                                              \
            for (int j = 0; j < r.nb; j++) {                                               \
                const bool both = r.same >> j & 1;                                         \
                const num_##TYPE u = both ? GET(TYPE, va[p + r.below[j]]) : fa;            \
                co[z + r.at_b[j]] = cb[q + j];                                             \
                vo[z + r.at_b[j]] = VALUE(TYPE, B, u, GET(TYPE, vb[q + j]));               \
            }                                                                              \
            z += r.n;                                                                      \
        }                                                                                  \
        for (uint32_t left = x->oa ? 0 : r.same; left; left &= left - 1) {                 \
            const int j = __builtin_ctz(left);                                             \
            co[z] = cb[q + j];                                                             \
            vo[z++] = VALUE(TYPE, B, GET(TYPE, va[p + r.below[j]]), GET(TYPE, vb[q + j])); \
        }                                                                                  \
        p += r.na;                                                                         \
        q += r.nb;                                                                         \
    }

#define OP_ROW(TYPE, B, W)                                                                 \
    INLINE int64_t row_##TYPE##_##B##_##W(const index_##W *ca, const elem_##TYPE *va,      \
                                          const index_##W *cb, const elem_##TYPE *vb,      \
                                          pair *x, num_##TYPE fa, num_##TYPE fb,           \
                                          index_##W *co, elem_##TYPE *vo)                  \
    {                                                                                      \
        const int64_t na = x->na, nb = x->nb;                                              \
        const bool oa = x->oa, ob = x->ob;                                                 \
        int64_t p = 0, q = 0, z = 0;                                                       \
        const bool long_a = !oa && !ob && na > LONGER * nb;                                \
        const bool long_b = !oa && !ob && nb > LONGER * na;                                \
        while ((long_a || long_b) && p < na && q < nb) {                                   \
            if (long_a) p += coords_below(ca + p, sizeof *ca, na - p, cb[q]);              \
            if (long_b) q += coords_below(cb + q, sizeof *cb, nb - q, ca[p]);              \
            if (p == na || q == nb) break;                                                 \
            STEP_ROW(TYPE, B)                                                              \
        }                                                                                  \
        while (p < na && q < nb) {                                                         \
            const bool eight = p + 8 <= na && q + 8 <= nb;                                 \
            if (eight && ca[p] == cb[q] && !memcmp(ca + p, cb + q, 8 * sizeof *ca)) {      \
                TAKE_EIGHT(TYPE, B, true, ca + p,                                          \
                           VALUE(TYPE, B, GET(TYPE, va[p + j]), GET(TYPE, vb[q + j])))     \
                p += 8, q += 8;                                                            \
            } else if (eight && ca[p + 7] < cb[q]) {                                       \
                TAKE_EIGHT(TYPE, B, oa, ca + p, VALUE(TYPE, B, GET(TYPE, va[p + j]), fb))  \
                p += 8;                                                                    \
            } else if (eight && cb[q + 7] < ca[p]) {                                       \
                TAKE_EIGHT(TYPE, B, ob, cb + q, VALUE(TYPE, B, fa, GET(TYPE, vb[q + j])))  \
                q += 8;                                                                    \
            } else if (RANKED_##W && x->ranked && !x->regular && na - p + nb - q >= FEW) { \
                BLOCK_ROW(TYPE, B)                                                         \
            } else if (eight) {                                                            \
                x->regular -= x->regular > 0;                                              \
                for (int j = 0; j < 8; j++)                                                \
                    STEP_ROW(TYPE, B)                                                      \
            } else {                                                                       \
                while (p < na && q < nb)                                                   \
                    STEP_ROW(TYPE, B)                                                      \
            }                                                                              \
        }                                                                                  \
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
        const num_##TYPE u = left ? GET(TYPE, va[p]) : fa;                                 \
        const num_##TYPE v = right ? GET(TYPE, vb[q]) : fb;                                \
        co[z] = left ? ca[p] : cb[q];                                                      \
        vo[z] = VALUE(TYPE, B, u, v);                                                      \
        z += (left & right) | (left & !right & oa) | (right & !left & ob);                 \
        p += left;                                                                         \
        q += right;                                                                        \
    }

#define SAME(W)                                                                            \
    static inline bool same_##W(const index_##W *a, const index_##W *b, int64_t n)         \
    {                                                                                      \
        for (int64_t k = 0; k < n; k++)                                                    \
            if (a[k] != b[k]) return false;                                                \
        return true;                                                                       \
    }
SAME(32)
SAME(64)

/* Bounds of all lanes' fibers, if they follow each other; NULL: they don't. */
#define FOLLOWING(W)                                                                       \
    static inline const index_##W *following_##W(const nest_walk *w)                       \
    {                                                                                      \
        const column *c = w->parent;                                                       \
        return w->bounds && c->form == COL_STEP ? (const index_##W *)w->bounds + c->base   \
                                                : NULL;                                    \
    }
FOLLOWING(32)
FOLLOWING(64)

/* Whether the fibers of all lanes follow each other in both operands and agree: from
 * p and q on, n of them. */
#define ALIKE(W)                                                                           \
    static bool alike_##W(const nest *ns, const nest_walk *a, const nest_walk *b,          \
                          int64_t *p, int64_t *q, int64_t *n)                              \
    {                                                                                      \
        const index_##W *ca = a->crd, *cb = b->crd;                                        \
        const index_##W *ba = following_##W(a), *bb = following_##W(b);                    \
        if (!ba || !bb) return false;                                                      \
        *p = ba[0];                                                                        \
        *q = bb[0];                                                                        \
        *n = ba[ns->o->n] - *p;                                                            \
        if (ba[1] - ba[0] != bb[1] - bb[0] || !same_##W(ca + *p, cb + *q, ba[1] - *p))     \
            return false;                                                                  \
        index_##W other = 0;                                                               \
        for (int k = 2; k <= ns->o->n; k++)                                                \
            other |= (ba[k] - ba[0]) ^ (bb[k] - bb[0]);                                    \
        return !other && (*n == 0 || !memcmp(ca + *p, cb + *q, (size_t)*n * sizeof *ca));  \
    }
ALIKE(32)
ALIKE(64)

/* Bounds of lane k's row, and of those without a lane before it, when the entries
 * of lanes before it end at z. */
static void rows_before(const nest *ns, const row_places *rp, const append_room *room,
                        int k, int64_t z, int64_t *closed)
{
    const int64_t row = rp->base + column_get(&ns->o->icol[0], k);
    for (; *closed < row; ++*closed)
        super_bound(room, *closed, room->pos + z);
}

/* Bounds of all lanes' rows, which are as long as the fibers that end at `ends`, from
 * position p on. */
static void room_follows(const nest *ns, const row_places *rp, const append_room *room,
                         const void *ends, int width, int64_t p)
{
    const column *i = &ns->o->icol[0];
    int64_t closed = room->closed;
    append_room next = *room;
    if (i->form == COL_STEP) {
        room_close(&next, rp->base + i->base, room->pos);
        room_ends(&next, ends, width, ns->o->n, room->pos - p);
        return;
    }
    for (int k = 0; k < ns->o->n; k++) {
        rows_before(ns, rp, room, k, k ? index_at(ends, width, k - 1) - p : 0, &closed);
        super_bound(room, closed++, room->pos + index_at(ends, width, k) - p);
    }
}

/* The strip's rows, if both operands have the same ones: entries are moved and
 * computed as if they were one fiber. */
#define OP_ALIKE(TYPE, B, W)                                                               \
    static int64_t alike_##TYPE##_##B##_##W(                                               \
        nest *ns, const row_places *rp, const append_room *room, const nest_walk *a,       \
        const elem_##TYPE *va, const elem_##TYPE *vb, elem_##TYPE *vals, int64_t p,        \
        int64_t q, int64_t n)                                                              \
    {                                                                                      \
        const index_##W *crd = a->crd, *ends = following_##W(a) + 1;                       \
        if (n) memcpy(room->crd, crd + p, (size_t)n * sizeof *crd);                        \
        for (int64_t j = 0; j < n; j++)                                                    \
            vals[j] = VALUE(TYPE, B, GET(TYPE, va[p + j]), GET(TYPE, vb[q + j]));          \
        room_follows(ns, rp, room, ends, (int)sizeof *ends, p);                            \
        ns->rounds += 2 * n;                                                               \
        return n;                                                                          \
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
        const int64_t ends[] = {ns->end[swapped], ns->end[!swapped]};                      \
        pair x = {.oa = oa, .ob = ob, .ranked = oa == ob && ns->vectors};                  \
        index_##W *co = room->crd;                                                         \
        int64_t z = 0, closed = room->closed, from_a, from_b, n;                           \
        if (alike_##W(ns, left, right, &from_a, &from_b, &n))                              \
            return alike_##TYPE##_##B##_##W(ns, rp, room, left, va, vb, vals, from_a,      \
                                            from_b, n);                                    \
        for (int k = 0; k < ns->o->n; k++) {                                               \
            int64_t p, q, na, nb;                                                          \
            ask_later_##W(ns, left, va, sizeof *va, k, ns->o->n);                          \
            ask_later_##W(ns, right, vb, sizeof *vb, k, ns->o->n);                         \
            span_##W(left, k, &p, &na);                                                    \
            span_##W(right, k, &q, &nb);                                                   \
            na -= p, nb -= q;                                                              \
            rows_before(ns, rp, room, k, z, &closed);                                      \
            if (oa && ob && na == nb && na < 8 && same_##W(ca + p, cb + q, na)) {          \
                for (int64_t j = 0; j < na; j++) {                                         \
                    co[z + j] = ca[p + j];                                                 \
                    vals[z + j] =                                                          \
                        VALUE(TYPE, B, GET(TYPE, va[p + j]), GET(TYPE, vb[q + j]));        \
                }                                                                          \
                z += na;                                                                   \
            } else {                                                                       \
                x.na = na, x.nb = nb;                                                      \
                x.room_a = ends[0] - p, x.room_b = ends[1] - q;                            \
                z += row_##TYPE##_##B##_##W(ca + p, va + p, cb + q, vb + q, &x, fa, fb,    \
                                            co + z, vals + z);                             \
            }                                                                              \
            super_bound(room, closed++, room->pos + z);                                    \
            const int64_t fewer = na < nb ? na : nb, most = (LONGER + 1) * fewer;          \
            ns->rounds += oa || ob || na + nb < most ? na + nb : most;                     \
        }                                                                                  \
        return z;                                                                          \
    }

/* Entries that the strip's rows can have at most; and where the fibers of each
 * operand end. */
static int64_t most_entries(nest *ns)
{
    int64_t n = 1, p, e;
    for (int w = 0; w < NEST_WALKS; w++) {
        const nest_walk *of = &ns->walk[w];
        const bool follow = of->bounds && of->parent->form == COL_STEP;
        const int64_t first = of->parent->base;
        ns->end[w] = follow ? index_at(of->bounds, ns->width, first + ns->o->n) : 0;
        if (follow) n += ns->end[w] - index_at(of->bounds, ns->width, first);
        for (int k = 0; !follow && k < ns->o->n; k++) {
            if (ns->width == 4) {
                span_32(of, k, &p, &e);
            } else {
                span_64(of, k, &p, &e);
            }
            n += e - p;
            if (e > ns->end[w]) ns->end[w] = e;
        }
    }
    return n;
}

/* Room for the strip's rows; rows and fills are looked up. */
static stc_status merge_begin(machine *mc, nest *ns, row_places *rp, append_room *room,
                              int64_t *parents)
{
    super_rows(mc, ns, rp); /* they are: super_rows_ready */
    const int64_t most = most_entries(ns);
    *parents = rp->base + column_get(&ns->o->icol[0], ns->o->n - 1) + 1;
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
    return super_poll(mc, &ns->rounds);
}

#define INSTANCE_merge_fibers(TYPE, B, W)                                                  \
    OP_ROW(TYPE, B, W)                                                                     \
    OP_ALIKE(TYPE, B, W)                                                                   \
    OP_ROWS(TYPE, B, W)                                                                    \
                                                                                           \
    stc_status super_merge_fibers_##TYPE##_##B##_##W(machine *mc, nest *ns)                \
    {                                                                                      \
        row_places rp;                                                                     \
        append_room room;                                                                  \
        int64_t parents;                                                                   \
        const stc_status st = merge_begin(mc, ns, &rp, &room, &parents);                   \
        if (st) return st;                                                                 \
        elem_##TYPE *vals = (elem_##TYPE *)rp.r->t->vals + room.pos;                       \
        return merge_end(mc, ns, &rp, &room, parents,                                      \
                         rows_##TYPE##_##B##_##W(ns, &rp, &room, vals));                   \
    }

#include "super_instances.h"
