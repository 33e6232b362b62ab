/* cascade_fold.c: what the loops of a cascade reduce: into columns of the loops around,
 * a run of elements of one lane after another.
 * Besides, the positions of lanes' fibers, which mostly follow each other, and the ends
 * of the lanes' runs: by the fiber, not by the element.
 */
#include "cascade.h"
#include "../core/coords.h"
#include "../super/super_lengths.h"
#include <string.h>

/* ---- fibers as positions ----------------------------------------------------------- */

/* Lanes whose parents follow each other, so that their fibers do, too: from one bound
 * to the next, without a branch that depends on where they are. */
#define FOLLOWING(W, I)                                                                    \
    static int following_##W(stage *st)                                                    \
    {                                                                                      \
        stage_walk *w = &st->walk[0];                                                      \
        const I *bounds = w->t.bounds;                                                     \
        const int64_t base = w->parent->base;                                              \
        int *restrict in = st->run_lane, *restrict end = st->run_end, k = st->lane;        \
        const int64_t first = st->open ? w->p : bounds[base + k];                          \
        int64_t n = 0, most = STRIP;                                                       \
        int runs = 0;                                                                      \
        while (k < st->lanes && n < STRIP) {                                               \
            const int64_t next = bounds[base + k + 1] - first;                             \
            const bool lonely = next - n >= LONG_LANE;                                     \
            if (lonely && n > 0) break;                                                    \
            if (lonely) most = st->most;                                                   \
            in[runs] = k++;                                                                \
            end[runs] = (int)(next < most ? next : most);                                  \
            runs += next > n;                                                              \
            n = next;                                                                      \
            if (lonely) break;                                                             \
        }                                                                                  \
        st->open = n > most;                                                               \
        st->lane = k - st->open;                                                           \
        st->runs = runs;                                                                   \
        n = st->open ? most : n;                                                           \
        st->g->place[w->place].base = first;                                               \
        w->p = first + n;                                                                  \
        return (int)n;                                                                     \
    }
FOLLOWING(4, int32_t)
FOLLOWING(8, int64_t)

/* Any lanes: positions are written where fibers don't follow each other. */
static int scattered(stage *st)
{
    stage_walk *w = &st->walk[0];
    column *c = &st->g->place[w->place];
    int n = 0, runs = 0;
    c->base = 0;
    for (; st->lane < st->lanes && n < STRIP; st->lane++) {
        const int64_t parent = column_get(w->parent, st->lane);
        if (parent < 0) continue;
        const int64_t end = fiber_bound(&w->t, parent + 1);
        if (!st->open) w->p = fiber_bound(&w->t, parent);
        if (n > 0 && end - w->p >= LONG_LANE) break;
        const int most = end - w->p >= LONG_LANE ? st->most : STRIP - n;
        const int take = end - w->p < most ? (int)(end - w->p) : most;
        if (n == 0) c->base = w->p;
        if (c->form == COL_STEP && take > 0 && w->p != c->base + n) {
            for (int k = 0; k < n; k++)
                c->data[k] = c->base + k;
            c->form = COL_ARRAY;
        }
        for (int k = 0; c->form == COL_ARRAY && k < take; k++)
            c->data[n + k] = w->p + k;
        n += take;
        w->p += take;
        st->run_lane[runs] = st->lane;
        st->run_end[runs] = n;
        runs += take > 0;
        st->open = w->p < end;
        if (st->open) break;
        if (take >= LONG_LANE) {
            st->lane++;
            break;
        }
    }
    st->runs = runs;
    return n;
}

int stage_fill_positions(stage *st)
{
    const stage_walk *w = &st->walk[0];
    column *c = &st->g->place[w->place];
    c->form = COL_STEP;
    c->full = true;
    c->ranged = false;
    const int n = w->parent->form != COL_STEP ? scattered(st)
                  : w->t.bounds_width == 4    ? following_4(st)
                                              : following_8(st);
    st->same = st->runs == 1;
    st->row[0] = st->run_lane[0];
    return n;
}

/* ---- folds ------------------------------------------------------------------------ */

/* Reductions start from what the outer body gives. */
void stage_reductions_start(stage *st)
{
    strip *o = st->out->g;
    for (int j = 0; j < st->g->s.nsink; j++) {
        const uint16_t id = st->link.results[j];
        if (id == UNLINKED) continue;
        const node *r = &o->s.node[id];
        const vclass cls = (vclass)r->cls;
        const vcolumn *from = &o->node[r->arg[0]];
        vcolumn *to = &o->node[id];
        if (from->p) {
            memcpy(to->data, from->p, (size_t)o->n * class_size(cls));
        } else {
            class_fill(cls, to->data, 0, o->n, from->one);
        }
        to->spread = 0;
    }
}

/* The runs of elements of one lane each, without a branch on where they end. */
void stage_find_runs(stage *st)
{
    const int n = st->g->n, *restrict row = st->row;
    int *restrict to = st->run_lane, *restrict end = st->run_end, runs = 0;
    if (st->runs > 0 && end[st->runs - 1] == n) return;
    for (int k = 0; k + 1 < n; k++) {
        to[runs] = row[k];
        end[runs] = k + 1;
        runs += row[k] != row[k + 1];
    }
    to[runs] = row[n - 1];
    end[runs] = n;
    st->runs = runs + 1;
}

/* The runs by length, if they are short and their lengths differ: so a loop over one ends
 * where the one before it did. NULL: as they are. */
static const uint16_t *by_length(const stage *st, uint16_t *order)
{
    const int *bounds = st->run_end - 1;
    if (!lengths_differ_32(bounds, st->runs)) return NULL;
    lengths_sort_32(bounds, st->runs, order);
    return order;
}

/* One value for all elements, which is counted that way. */
static bool fold_count(const stage *st, int fn, vclass cls, value v, void *out)
{
    if (fn != FN_ADD || (cls != CLASS_I64 && cls != CLASS_U64)) return false;
    uint64_t *to = out;
    for (int r = 0, k = 0; r < st->runs; k = st->run_end[r++])
        to[st->run_lane[r]] += v.u64 * (uint64_t)(st->run_end[r] - k);
    return true;
}

/* Ends of runs of one element each. */
static const int *ends_of_ones(int *end, int runs)
{
    for (int r = 0; r < runs; r++)
        end[r] = r + 1;
    return end;
}

/* Whether x op acc is acc op x, to the bit. */
static bool turns(const sink *x)
{
    return !x->right || fn_at(x->fn)->flags & FP_COMMUTATIVE;
}

fn_fold stage_fold_of(const sink *x)
{
    return turns(x) ? fn_fold_of(x->fn, (vclass)x->cls) : NULL;
}

void stage_reduce(stage *st, const sink *x, uint16_t result)
{
    strip *g = st->g;
    const vclass cls = (vclass)x->cls;
    void *out = st->out->g->node[result].data;
    const fn_fold fold = stage_fold_of(x);
    if (fold) stage_find_runs(st);
    const bool one = !g->node[x->node].p;
    if (fold && one && fold_count(st, x->fn, cls, g->node[x->node].one, out)) return;
    const void *v = strip_spread(g, x->node);
    if (fold && one && fn_at(x->fn)->flags & FP_IDEMPOTENT) { /* once is often enough */
        int end[STRIP];
        fold(out, v, st->run_lane, ends_of_ones(end, st->runs), NULL, st->runs);
        return;
    }
    if (fold) {
        uint16_t order[STRIP];
        fold(out, v, st->run_lane, st->run_end, by_length(st, order), st->runs);
        return;
    }
    const fn_scalar fn = fn_scalar_of(x->fn, cls);
    for (int k = 0; k < g->n; k++) {
        value acc = class_get(cls, out, st->row[k]), e = class_get(cls, v, k);
        if (x->right) {
            fn(&acc, &e, &acc, NULL);
        } else {
            fn(&acc, &acc, &e, NULL);
        }
        class_put(cls, out, st->row[k], acc);
    }
}
