/* parallel_split.c: a loop's range in chunks of about equal work.
 *
 * Rows differ: what a range costs is told by the stored elements below it, in the
 * operand that has the most of them. Positions of the first level lead to
 * positions of the last one by the bounds of the levels between, so a chunk's end
 * is found by bisection, whatever the stack of levels. There are more chunks than
 * threads, since what an element costs isn't known, and they are taken in order.
 */
#include "../core/coords.h"
#include "../nest/fibers.h"
#include "parallel.h"

enum {
    CHUNKS_PER_THREAD = 8,
    PARTS_PER_THREAD = 64, /* of results in parts: what a chunk makes stays in a cache */
    GRAIN = 1 << 14,       /* elements: less isn't worth a thread's waking up */
};

static int64_t chunk_limit(const parallel_loop *pl, int threads)
{
    if (pl->nmeet) return threads;
    return (int64_t)threads * (pl->nparts ? PARTS_PER_THREAD : CHUNKS_PER_THREAD);
}

/* The least that is worth a chunk. */
static int64_t chunk_grain(const machine *mc, const parallel_loop *pl)
{
    if (pl->asked) return 1;
    if (mc->cx->grain) return mc->cx->grain;
    const int64_t meets = parallel_meet_grain(mc, pl);
    if (meets > INT64_MAX / 4) return INT64_MAX / 4;
    return meets > GRAIN ? meets : GRAIN;
}

/* The first position below position p of level 0, as deep as levels have tables by
 * position: what lies below a table of tokens isn't found by counting tokens. */
static int64_t below(const tensor *t, int64_t p)
{
    for (int l = 1; l < t->fmt.levels; l++) {
        const level *lv = &t->level[l];
        fiber_table f;
        level_fibers(lv, &f);
        if (f.shape == VIEW_RANGE) {
            if (!size_mul(p, f.hi - f.lo, &p)) return INT64_MAX;
            continue;
        }
        if (f.shape == VIEW_NONE) break;
        p = fiber_bound(&f, p);
        if (f.shape == VIEW_TOKENS) break; /* no positions */
    }
    return p;
}

/* Level 0 of an operand within the loop's range: positions begin … end, and the
 * coordinates they stand for, which are about coef times the loop's. */
typedef struct weight {
    const tensor *t;
    int64_t coef;
    fiber_table top;
    int64_t begin, end;
} weight;

static int64_t coordinate(const weight *w, int64_t p)
{
    if (w->top.shape == VIEW_RANGE) return w->top.lo + p;
    return coord_at(w->top.crd, w->top.width, w->top.stride, p);
}

/* The first position from `begin` to `end` of a coordinate that isn't below i. */
static int64_t position(const weight *w, int64_t begin, int64_t end, int64_t i)
{
    if (w->top.shape != VIEW_RANGE)
        return coord_search(w->top.crd, w->top.width, w->top.stride, begin, end, i);
    if (i <= w->top.lo + begin) return begin;
    return i < w->top.lo + end ? i - w->top.lo : end;
}

static bool weigh(const tensor *t, int64_t coef, int64_t lo, int64_t hi, weight *w)
{
    const level *lv = &t->level[0];
    if (!lv->kind->table || !(lv->props & PROP_ORDERED)) return false;
    if (!size_mul(lo, coef, &lo) || !size_mul(hi, coef, &hi)) return false;
    *w = (weight){.t = t, .coef = coef};
    lv->kind->table(lv, &w->top);
    int64_t end;
    if (w->top.shape == VIEW_RANGE) {
        end = w->top.hi - w->top.lo;
        w->begin = 0;
    } else if (w->top.shape == VIEW_COORDS && w->top.bounds) {
        w->begin = index_at(w->top.bounds, w->top.bounds_width, 0);
        end = index_at(w->top.bounds, w->top.bounds_width, 1);
    } else {
        return false;
    }
    w->begin = position(w, w->begin, end, lo);
    w->end = position(w, w->begin, end, hi);
    return true;
}

/* The part of all work that lies before chunk c. Results that are assembled in parts
 * are made of many small ones, all alike. Others are cut in batches of a chunk a
 * thread, each half of what is left (factoring; Hummel, Schonberg and Flynn, 1992):
 * the last ones are small, however long the first ones took. */
static double share_before(const parallel_loop *pl, int64_t c, int64_t chunks, int threads)
{
    if (chunks <= 2 * threads || pl->nparts) return (double)c / (double)chunks;
    const int64_t batch = c / threads, last = (chunks - 1) / threads;
    const double left = 1 / (double)(INT64_C(1) << batch);
    const int64_t in_last = chunks - last * threads;
    return 1 - left +
           (batch < last ? left / 2 * (double)(c % threads) / threads
                         : left * (double)(c % threads) / (double)in_last);
}

/* How many chunks so much work is worth, the smallest of which has a grain. */
static int64_t count_chunks(const parallel_loop *pl, int64_t work, int64_t grain,
                            int threads)
{
    const int64_t limit = chunk_limit(pl, threads);
    int64_t n = work / grain;
    if (!pl->nparts && n > 2 * threads) {
        int64_t batches = 2; /* the last two of which are equal */
        while (work >> batches >= grain * threads)
            batches++;
        n = batches * threads;
    }
    if (n > limit) n = limit;
    return n < CHUNKS_MAX ? n : CHUNKS_MAX;
}

/* Nothing tells what a round is worth. */
static int split_evenly(int64_t lo, int64_t hi, int64_t limit, int64_t *bound)
{
    const int64_t n = hi - lo < limit ? hi - lo : limit;
    const int64_t each = (hi - lo) / n, more = (hi - lo) % n;
    for (int64_t c = 1; c <= n; c++)
        bound[c] = bound[c - 1] + each + (c <= more);
    return (int)n;
}

/* Of the operands, what has most elements in the loop's range. Where that isn't worth
 * the threads, of the results whose every place is computed. */
static int64_t heaviest(const machine *mc, const parallel_loop *pl, int64_t lo, int64_t hi,
                        int64_t enough, weight *best)
{
    int64_t most = 0;
    for (int k = 0; k < pl->nweight + pl->nrows; k++) {
        const bool row = k >= pl->nweight;
        const uint16_t id = row ? pl->rows[k - pl->nweight] : pl->weight[k].tensor;
        const int64_t coef = row ? pl->step : pl->weight[k].coef;
        const tensor *t = mc->slot[id].t;
        weight w;
        if (row && most >= enough) break;
        if (!weigh(t, coef, lo, hi, &w)) continue;
        const int64_t n = below(t, w.end) - below(t, w.begin);
        if (n <= most) continue;
        most = n;
        *best = w;
    }
    return most;
}

int parallel_split(const machine *mc, const parallel_loop *pl, int64_t lo, int64_t hi,
                   int threads, int64_t *bound)
{
    weight best = {0};
    const int64_t grain = chunk_grain(mc, pl);
    const int64_t most = heaviest(mc, pl, lo, hi, 2 * grain, &best);
    const int64_t chunks = count_chunks(pl, most, grain, threads);
    int n = 0;
    bound[0] = lo;
    if (!most && pl->asked) {
        const int64_t limit = chunk_limit(pl, threads);
        return split_evenly(lo, hi, limit < CHUNKS_MAX ? limit : CHUNKS_MAX, bound);
    }
    const int64_t from = chunks > 1 ? below(best.t, best.begin) : 0;
    for (int64_t c = 1; c < chunks; c++) {
        const int64_t want =
            from + (int64_t)((double)most * share_before(pl, c, chunks, threads));
        int64_t p = best.begin, q = best.end;
        while (p < q) {
            const int64_t mid = p + (q - p) / 2;
            if (below(best.t, mid) < want) {
                p = mid + 1;
            } else {
                q = mid;
            }
        }
        if (p == best.end) break;
        const int64_t i = coordinate(&best, p) / best.coef;
        if (i > bound[n]) bound[++n] = i; /* and below hi, as p is before best.end */
    }
    bound[++n] = hi;
    return n;
}
