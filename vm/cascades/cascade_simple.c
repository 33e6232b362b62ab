/* cascade_simple.c: the common fills: lanes that all have their fibers in one table,
 * as they are, with nothing else that could keep them from producing.
 */
#include "../core/ahead.h"
#include "cascade.h"

/* A long loop over the coordinates of all of the string's fibers. */
#define COORDS(W, I)                                                                       \
    static void coords_##W(const stage_walk *w, const column *c, int64_t *restrict at,     \
                           int n, int64_t add)                                             \
    {                                                                                      \
        const I *crd = (const I *)w->t.crd + (c->form == COL_STEP ? c->base : 0);          \
        if (c->form == COL_STEP) fetch_far(w->t.crd, c->base, n, sizeof *crd);             \
        for (int k = 0; c->form == COL_STEP && k < n; k++)                                 \
            at[k] = crd[k] + add;                                                          \
        for (int k = 0; c->form != COL_STEP && k < n; k++)                                 \
            at[k] = crd[c->data[k]] + add;                                                 \
    }
COORDS(4, int32_t)
COORDS(8, int64_t)

void stage_coords(const stage *st, int64_t *at, int n, int64_t add)
{
    const stage_walk *w = &st->walk[0];
    const column *c = &st->g->place[w->place];
    if (w->t.width == 4) coords_4(w, c, at, n, add);
    if (w->t.width == 8) coords_8(w, c, at, n, add);
}

/* The lane of each element, by the block: a run is overwritten where it ends before its
 * last. */
static void spell_rows(stage *st)
{
    for (int r = 0, k = 0; r < st->runs; k = st->run_end[r++])
        for (; k < st->run_end[r]; k += ROW_BLOCK)
            for (int j = 0; j < ROW_BLOCK; j++)
                st->row[k + j] = st->run_lane[r];
}

void stage_late_spell(stage *st)
{
    const int64_t *i = st->g->icol[0].data;
    stage_coords(st, st->g->icol[0].data, st->g->n, 0);
    spell_rows(st);
    for (int id = 1; id <= st->g->s.l->merge->count; id++) {
        column *c = &st->g->place[id];
        for (int k = 0; st->bare[id] && k < st->g->n; k++)
            c->data[k] = i[k] + c->base;
        if (st->bare[id]) c->form = COL_ARRAY;
        st->bare[id] = false;
    }
    st->late = false;
}

/* Fibers between bounds. */
static int fibers(stage *st)
{
    const int n = stage_fill_positions(st);
    st->late = st->copies && !st->windowed &&
               (st->late_sums || st->g->place[st->walk[0].place].form == COL_STEP);
    if (!st->late) stage_coords(st, st->g->icol[0].data, n, 0);
    if (!st->late || st->late_rows || (st->late_given && !stage_long_runs(st, n)))
        spell_rows(st);
    return n;
}

/* The same where coordinates may occur several times, or where a fiber goes from a
 * parent's first position to its last. */
#define GROUPS(W, I)                                                                       \
    static int groups_##W(stage *st)                                                       \
    {                                                                                      \
        stage_walk *w = &st->walk[0];                                                      \
        const I *bounds = w->t.bounds, *crd = w->t.crd;                                    \
        int64_t *restrict at = st->g->icol[0].data;                                        \
        int64_t *restrict data = st->g->place[w->place].data;                              \
        int64_t *restrict ends = st->g->place[w->place].end;                               \
        int *restrict row = st->row;                                                       \
        const int lanes = st->lanes;                                                       \
        int n = 0, k = st->lane;                                                           \
        int64_t p = w->p;                                                                  \
        bool open = st->open;                                                              \
        for (; k < lanes && n < STRIP; k++) {                                              \
            const int64_t parent = column_get(w->parent, k);                               \
            if (parent < 0) continue;                                                      \
            const int64_t end = bounds              ? bounds[parent + 1]                   \
                                : w->parent->ranged ? column_end(w->parent, k)             \
                                                    : parent + 1;                          \
            if (!open) p = bounds ? bounds[parent] : parent;                               \
            if (n > 0 && end - p >= LONG_LANE) break;                                      \
            if (w->dups) {                                                                 \
                while (p < end && n < STRIP) {                                             \
                    int64_t e = p + 1;                                                     \
                    while (e < end && crd[e] == crd[p])                                    \
                        e++;                                                               \
                    at[n] = crd[p];                                                        \
                    data[n] = p;                                                           \
                    ends[n] = e;                                                           \
                    row[n++] = k;                                                          \
                    p = e;                                                                 \
                }                                                                          \
                open = p < end;                                                            \
                if (open) break;                                                           \
                continue;                                                                  \
            }                                                                              \
            const int take = end - p < STRIP - n ? (int)(end - p) : STRIP - n;             \
            for (int j = 0; j < take; j++) {                                               \
                at[n + j] = crd[p + j];                                                    \
                data[n + j] = p + j;                                                       \
                row[n + j] = k;                                                            \
            }                                                                              \
            n += take;                                                                     \
            p += take;                                                                     \
            open = p < end;                                                                \
            if (open) break;                                                               \
            if (take >= LONG_LANE) {                                                       \
                k++;                                                                       \
                break;                                                                     \
            }                                                                              \
        }                                                                                  \
        w->p = p;                                                                          \
        st->lane = k;                                                                      \
        st->open = open;                                                                   \
        return n;                                                                          \
    }
GROUPS(4, int32_t)
GROUPS(8, int64_t)

/* As many positions a parent, each of which may have no coordinate. */
#define CHILDREN(W, I)                                                                     \
    static int children_##W(stage *st)                                                     \
    {                                                                                      \
        stage_walk *w = &st->walk[0];                                                      \
        const int64_t wide = w->t.stride / (int64_t)sizeof(I);                             \
        const int64_t each = w->t.slots ? w->t.slots : 1;                                  \
        const I *crd = w->t.crd;                                                           \
        const int64_t none = w->t.shape == VIEW_GAPS ? w->t.lo - 1 : INT64_MIN;            \
        int64_t *restrict at = st->g->icol[0].data;                                        \
        int64_t *restrict data = st->g->place[w->place].data;                              \
        int *restrict row = st->row;                                                       \
        const int lanes = st->lanes;                                                       \
        int n = 0, k = st->lane;                                                           \
        while (k < lanes && n < STRIP) {                                                   \
            const int64_t parent = column_get(w->parent, k);                               \
            const int64_t end = parent < 0 ? 0 : (parent + 1) * each;                      \
            int64_t p = st->open ? w->p : parent < 0 ? 0 : parent * each;                  \
            const int64_t stop = end - p < STRIP - n ? end : p + (STRIP - n);              \
            for (; p < stop; p++) {                                                        \
                const int64_t i = crd[p * wide];                                           \
                at[n] = i;                                                                 \
                data[n] = p;                                                               \
                row[n] = k;                                                                \
                n += i != none;                                                            \
            }                                                                              \
            w->p = p;                                                                      \
            st->open = p < end;                                                            \
            k += !st->open;                                                                \
        }                                                                                  \
        st->lane = k;                                                                      \
        return n;                                                                          \
    }
CHILDREN(4, int32_t)
CHILDREN(8, int64_t)

/* n numbers from `first` on. */
static void count_up(int64_t *restrict to, int64_t first, int n)
{
    for (int k = 0; k < n; k++)
        to[k] = first + k;
}

/* The same short range below each lane: a run a lane. */
static int ranges(stage *st)
{
    const stage_walk *w = st->nwalk ? &st->walk[0] : NULL;
    const int64_t lo = w ? w->t.lo : st->lo, hi = w ? w->t.hi : st->hi;
    int64_t *at = st->g->icol[0].data, *data = w ? st->g->place[w->place].data : NULL;
    const int lanes = st->lanes;
    int n = 0, runs = 0;
    for (; st->lane < lanes && n < STRIP; st->lane += !st->open) {
        const int64_t parent = w ? column_get(w->parent, st->lane) : 0;
        const int64_t i = st->open ? st->next : lo;
        const int room = STRIP - n;
        const int take = parent < 0 ? 0 : hi - i < room ? (int)(hi - i) : room;
        if (data) count_up(data + n, parent * (hi - lo) + (i - lo), take);
        count_up(at + n, i, take);
        for (int k = n; k < n + take; k++)
            st->row[k] = st->lane;
        n += take;
        st->run_lane[runs] = st->lane;
        st->run_end[runs] = n;
        runs += take > 0;
        st->next = i + take;
        st->open = parent >= 0 && st->next < hi;
    }
    st->runs = runs;
    return n;
}

stage_simple_way stage_simple(const stage *st)
{
    const stage_walk *w = &st->walk[0];
    const fiber_table *t = &w->t;
    const merge_desc *m = st->g->s.l->merge;
    if (st->known || (m->count > MERGE_TABLE_MAX && !st->always)) return SIMPLE_NOT;
    if (st->nwalk == 0 && m->universe && st->maybe & 1 &&
        (st->hi - st->lo < LONG_LANE || (st->lined && st->terms.kernel)))
        return SIMPLE_RANGES;
    if (st->nwalk != 1 || m->universe || !w->tabled || w->trims ||
        !(st->maybe >> (1 << (w->place - 1)) & 1))
        return SIMPLE_NOT;
    if (t->shape == VIEW_RANGE)
        return w->parent->ranged || t->hi - t->lo >= LONG_LANE ? SIMPLE_NOT : SIMPLE_RANGES;
    if (!t->bounds && !w->parent->ranged && t->stride % t->width == 0 && !w->dups)
        return SIMPLE_CHILDREN;
    if (t->shape != VIEW_COORDS || t->stride != t->width) return SIMPLE_NOT;
    if (t->bounds && (t->bounds_width != t->width || w->parent->ranged)) return SIMPLE_NOT;
    return t->bounds && !w->dups ? SIMPLE_FIBERS : SIMPLE_GROUPS;
}

int stage_fill_simple(stage *st)
{
    const bool narrow = st->nwalk && st->walk[0].t.width == 4;
    switch (st->simple) {
    case SIMPLE_FIBERS:
        return fibers(st);
    case SIMPLE_GROUPS:
        return narrow ? groups_4(st) : groups_8(st);
    case SIMPLE_CHILDREN:
        return narrow ? children_4(st) : children_8(st);
    default:
        return st->lined ? stage_fill_lines(st) : ranges(st);
    }
}
