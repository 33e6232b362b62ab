/* super_marks.h: the coordinates of one fiber, marked, for the sums over what two fibers
 * share (super_shared.c).
 *
 * Where lanes that follow each other have the same fiber on one side, as L(i,k) has in
 * `L(i,j) * L(j,k) * L(i,k)`, it is written out once: each coordinate's place has its
 * position, + 1. The other fibers are then looked up there, an element a load, without
 * waiting for a comparison: Gustavson's marks, for masked products. Sums are in the order
 * in which merging takes them. Places are nought again when a kernel ends.
 */
#ifndef STC_VM_SUPER_MARKS_H
#define STC_VM_SUPER_MARKS_H

#include "super.h"

/* Fibers shorter than that are merged; so are those that fewer lanes have, or that are so
 * many times longer than the lanes that have them are many. So many coordinates at most
 * have places, and no more for each entry of the operands. */
enum { MARK_LEAST = 8, MARK_LANES = 4, MARK_PER_LANE = 8, MARK_PER_ENTRY = 4 };
#define MARKS_MAX ((int64_t)1 << 22)
/* Elements looked up at a time. */
enum { MARK_PROBES = 64 };

typedef struct marks {
    void *at; /* by coordinate - lo; NULL: nothing is marked in this run */
    int64_t lo, p, e;
    int side;    /* the walk whose fiber is marked; -1: none */
    int until;   /* the lane in which that ends              */
    int next[2]; /* where each walk's fiber is another one   */
} marks;

/* Room for so many coordinates' positions, `width` bytes each, all of them nought. */
static inline stc_status marks_room(machine *mc, int64_t n, int width)
{
    const size_t size = (size_t)n * (size_t)width;
    if (mc->marks_size >= size) return STC_OK;
    mem_free(mc->cx, mc->marks, mc->marks_size);
    mc->marks_size = 0;
    mc->marks = mem_zero(mc->cx, 1, size);
    if (!mc->marks) return mc->cx->diag.status;
    mc->marks_size = size;
    return STC_OK;
}

/* Room for the coordinates of both walks, where they have few enough. */
static inline stc_status marks_open(machine *mc, const nest *ns, marks *x)
{
    int64_t lo = INT64_MAX, hi = 0, all = 0;
    *x = (marks){.side = -1, .until = -1};
    for (int b = 0; b < 2; b++) {
        const tensor *t;
        const level *lv = nest_level(mc, ns, ns->walk[b].place, &t);
        if (lv->base < 0 || lv->extent > MARKS_MAX || lv->base > MARKS_MAX) return STC_OK;
        if (lv->base < lo) lo = lv->base;
        if (lv->base + lv->extent > hi) hi = lv->base + lv->extent;
        all += ns->walk[b].entries;
    }
    if (all < (hi - lo) / MARK_PER_ENTRY) return STC_OK;
    if (marks_room(mc, hi - lo, ns->width)) return mc->cx->diag.status;
    x->at = mc->marks;
    x->lo = lo;
    return STC_OK;
}

/* Too few lanes from k on have one fiber: what most lanes are asked. */
static inline bool marks_alone(const column *c, int k, int lanes)
{
    const int last = k + MARK_LANES - 1;
    return c->form == COL_ARRAY && (last >= lanes || c->data[last] != c->data[k]);
}

/* The first lane behind k whose fiber is another than lane k's. */
static inline int marks_run(const nest_walk *w, int k, int lanes)
{
    const column *c = w->parent;
    if (c->form == COL_FIXED) return lanes;
    const int64_t parent = column_get(c, k++);
    while (k < lanes && column_get(c, k) == parent)
        k++;
    return k;
}

#define MARKS(W)                                                                           \
    static inline void marks_clear_##W(const nest *ns, marks *x)                           \
    {                                                                                      \
        index_##W *at = x->at;                                                             \
        const index_##W *crd = x->side < 0 ? NULL : ns->walk[x->side].crd;                 \
        for (int64_t p = x->p; crd && p < x->e; p++)                                       \
            at[crd[p] - x->lo] = 0;                                                        \
        x->side = -1;                                                                      \
    }                                                                                      \
                                                                                           \
    /* Marks what lanes from k on have in common, if that pays. */                         \
    static inline void marks_at_##W(const nest *ns, marks *x, int k)                       \
    {                                                                                      \
        if (x->side >= 0 && k >= x->until) marks_clear_##W(ns, x);                         \
        for (int b = 0; b < 2; b++) {                                                      \
            if (x->next[b] > k) continue;                                                  \
            const nest_walk *w = &ns->walk[b];                                             \
            const index_##W *crd = w->crd;                                                 \
            index_##W *at = x->at;                                                         \
            int64_t p, e;                                                                  \
            x->next[b] = k + 1;                                                            \
            if (marks_alone(w->parent, k, ns->o->n)) continue;                             \
            x->next[b] = marks_run(w, k, ns->o->n);                                        \
            const int64_t lanes = x->next[b] - k;                                          \
            if (x->side >= 0 || lanes < MARK_LANES || !span_##W(w, k, &p, &e) ||           \
                e - p < MARK_LEAST || e - p > lanes * MARK_PER_LANE)                       \
                continue;                                                                  \
            for (int64_t j = p; j < e; j++)                                                \
                at[crd[j] - x->lo] = (index_##W)(j + 1);                                   \
            x->p = p;                                                                      \
            x->e = e;                                                                      \
            x->side = b;                                                                   \
            x->until = x->next[b];                                                         \
        }                                                                                  \
    }                                                                                      \
                                                                                           \
    /* Where the marked fiber has the coordinate of position j, which it has. */           \
    static inline int64_t marks_place_##W(const marks *x, const index_##W *crd, int64_t j) \
    {                                                                                      \
        return ((const index_##W *)x->at)[crd[j] - x->lo] - 1;                             \
    }                                                                                      \
                                                                                           \
    /* Looks up the elements from *p on, up to `end` or a few: how many are marked, and    \
     * where they are. Most aren't: the rest is left for those that are. */                \
    static inline int marks_probe_##W(const marks *x, const index_##W *crd, int64_t *p,    \
                                      int64_t end, int64_t *own)                           \
    {                                                                                      \
        const index_##W *at = x->at;                                                       \
        const int64_t stop = end - *p < MARK_PROBES ? end : *p + MARK_PROBES, lo = x->lo;  \
        int n = 0;                                                                         \
        for (int64_t j = *p; j < stop; j++) {                                              \
            own[n] = j;                                                                    \
            n += at[crd[j] - lo] != 0;                                                     \
        }                                                                                  \
        *p = stop;                                                                         \
        return n;                                                                          \
    }                                                                                      \
                                                                                           \
    /* How many of the elements in [p, end) are marked. */                                 \
    static inline int64_t marks_count_##W(const marks *x, const index_##W *crd, int64_t p, \
                                          int64_t end)                                     \
    {                                                                                      \
        const index_##W *at = x->at;                                                       \
        const int64_t lo = x->lo;                                                          \
        int64_t n = 0;                                                                     \
        for (; p < end; p++)                                                               \
            n += at[crd[p] - lo] != 0;                                                     \
        return n;                                                                          \
    }
MARKS(32)
MARKS(64)

#endif
