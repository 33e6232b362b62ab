/* super_chosen.c: sums over a fiber of gathered values, where the fiber's own truth
 * values say which: `min(j: x(j) where A(i,j))`. All are gathered, and those that aren't
 * meant are replaced by one value, so that nothing waits for a guess. Where all that can be
 * gathered is little beside the entries, its least (greatest) value is looked up first: a
 * sum that has come to it is settled, and the rest of its fiber isn't looked at. (Labels
 * that spread through a graph are the least one almost everywhere after a few rounds.)
 */
#include "super.h"

/* Whether four truth values all hold: most often they do, or most often some don't. */
INLINE bool all_hold(const uint8_t *own)
{
    const uint32_t ones = 0x01010101, tops = 0x80808080;
    uint32_t w;
    memcpy(&w, own, sizeof w);
    return !((w - ones) & ~w & tops);
}

#define TAKE(TYPE, q) GET(TYPE, x[crd[(q)*stride]])
#define CHOOSE(TYPE, B, q) TIMES(B, TYPE, own[q], TAKE(TYPE, q), none)

/* Whole numbers, of which one more changes nothing that isn't beyond it. */
#define LIMITED_min_chosen true
#define LIMITED_max_chosen true
#define LIMITED_plus_chosen false
#define LIMITED(TYPE, B) (LIMITED_##B && (num_##TYPE)0.5 == (num_##TYPE)0)

/* To which a term may be added twice: what four by four leaves of a fiber is taken as four,
 * some of which are one, since how many they are would have to be guessed. */
#define REPEATS_min_chosen true
#define REPEATS_max_chosen true
#define REPEATS_plus_chosen false

/* Values that are gathered, for each entry of a strip, if their limit is looked up. */
enum { LIMIT_SHARE = 8 };

/* Whether all lanes of a strip have alike what kernels need, and fibers one after the
 * other, whose rounds are counted here. */
#define ALIKE(W)                                                                           \
    static bool chosen_alike_##W(nest *ns)                                                 \
    {                                                                                      \
        const nest_walk *w = &ns->walk[0];                                                 \
        const index_##W *bounds = w->bounds;                                               \
        if (!bounds || w->parent->form != COL_STEP || w->step != 1 || ns->gaps ||          \
            ns->told || ns->load[1].parent->form != COL_FIXED ||                           \
            ns->o->node[ns->scalar[0]].p ||                                                \
            ns->o->node[ns->o->s.node[ns->link.result].arg[0]].p)                          \
            return false;                                                                  \
        bounds += w->parent->base;                                                         \
        ns->rounds += bounds[ns->o->n] - bounds[0];                                        \
        return true;                                                                       \
    }
ALIKE(32)

#define INSTANCE_fold_chosen(TYPE, B, W)                                                   \
    INLINE num_##TYPE chosen_##TYPE##_##B##_##W(                                           \
        const uint8_t *own, const index_##W *crd, int64_t stride, int64_t p, int64_t e,    \
        const elem_##TYPE *x, num_##TYPE none, num_##TYPE sum, const num_##TYPE *limit)    \
    {                                                                                      \
        for (; p + 4 <= e; p += 4) {                                                       \
            if (limit && sum == *limit) return sum;                                        \
            /* in an array they would be put into vectors, and out */                      \
            num_##TYPE a, b, c, d;                                                         \
            if (all_hold(own + p)) {                                                       \
                a = TAKE(TYPE, p), b = TAKE(TYPE, p + 1);                                  \
                c = TAKE(TYPE, p + 2), d = TAKE(TYPE, p + 3);                              \
            } else {                                                                       \
                a = CHOOSE(TYPE, B, p), b = CHOOSE(TYPE, B, p + 1);                        \
                c = CHOOSE(TYPE, B, p + 2), d = CHOOSE(TYPE, B, p + 3);                    \
            }                                                                              \
            a = PLUS(B, TYPE, a, b);                                                       \
            c = PLUS(B, TYPE, c, d);                                                       \
            sum = PLUS(B, TYPE, sum, PLUS(B, TYPE, a, c));                                 \
        }                                                                                  \
        if (REPEATS_##B && p < e) {                                                        \
            const int64_t q = e - 1, r = p + 1 < e ? p + 1 : p;                            \
            const num_##TYPE t[3] = {CHOOSE(TYPE, B, p), CHOOSE(TYPE, B, r),               \
                                     CHOOSE(TYPE, B, q)};                                  \
            return PLUS(B, TYPE, PLUS(B, TYPE, sum, t[0]), PLUS(B, TYPE, t[1], t[2]));     \
        }                                                                                  \
        for (; p < e; p++)                                                                 \
            sum = PLUS(B, TYPE, sum, CHOOSE(TYPE, B, p));                                  \
        return sum;                                                                        \
    }                                                                                      \
                                                                                           \
    /* Beyond it nothing goes that is gathered from x; NULL: that isn't known. */          \
    static const num_##TYPE *limit_##TYPE##_##B##_##W(nest *ns, const elem_##TYPE *x,      \
                                                      int64_t have)                        \
    {                                                                                      \
        num_##TYPE *limit = (num_##TYPE *)&ns->limit;                                      \
        const int64_t n = ns->hi - ns->lo;                                                 \
        if (ns->limit_of == x) return limit;                                               \
        if (!LIMITED(TYPE, B) || n <= 0 || n > LIMIT_SHARE * have) return NULL;            \
        num_##TYPE sum = GET(TYPE, x[ns->lo]);                                             \
        for (int64_t i = ns->lo + 1; i < ns->hi; i++)                                      \
            sum = PLUS(B, TYPE, sum, GET(TYPE, x[i]));                                     \
        *limit = sum;                                                                      \
        ns->limit_of = x;                                                                  \
        return limit;                                                                      \
    }                                                                                      \
                                                                                           \
    /* Lanes whose fibers follow each other, with one row to gather from. */               \
    static void chosen_plain_##TYPE##_##B##_##W(nest *ns, num_##TYPE *out)                 \
    {                                                                                      \
        const nest_walk *w = &ns->walk[0];                                                 \
        const nest_load *by = &ns->load[1];                                                \
        const index_##W *bounds = (const index_##W *)w->bounds + w->parent->base;          \
        const uint8_t *own = ns->load[0].vals;                                             \
        const elem_##TYPE *x = (const elem_##TYPE *)by->vals + load_base(by, 0);           \
        const num_##TYPE none = LANE_VALUE(num_##TYPE, ns, ns->scalar[0], 0);              \
        const num_##TYPE start =                                                           \
            START(num_##TYPE, ns, &ns->o->s.node[ns->link.result], 0);                     \
        const num_##TYPE *limit =                                                          \
            limit_##TYPE##_##B##_##W(ns, x, bounds[ns->o->n] - bounds[0]);                 \
        const num_##TYPE least = limit ? PLUS(B, TYPE, *limit, none) : none;               \
        for (int k = 0, n = ns->o->n; limit && k < n; k++)                                 \
            out[k] = chosen_##TYPE##_##B##_##W(own, w->crd, 1, bounds[k], bounds[k + 1],   \
                                               x, none, start, &least);                    \
        for (int k = 0, n = ns->o->n; !limit && k < n; k++) {                              \
            ask_later_##W(ns, w, own, sizeof *own, k, n);                                  \
            out[k] = chosen_##TYPE##_##B##_##W(own, w->crd, 1, bounds[k], bounds[k + 1],   \
                                               x, none, start, NULL);                      \
        }                                                                                  \
    }                                                                                      \
                                                                                           \
    stc_status super_fold_chosen_##TYPE##_##B##_##W(machine *mc, nest *ns)                 \
    {                                                                                      \
        const nest_walk *w = &ns->walk[0];                                                 \
        const nest_load *by = &ns->load[1];                                                \
        const node *r = &ns->o->s.node[ns->link.result];                                   \
        num_##TYPE *out = ns->o->node[ns->link.result].data;                               \
        if (chosen_alike_##W(ns)) {                                                        \
            chosen_plain_##TYPE##_##B##_##W(ns, out);                                      \
            return super_poll(mc, &ns->rounds);                                            \
        }                                                                                  \
        for (int k = 0; k < ns->o->n; k++) {                                               \
            const num_##TYPE none = LANE_VALUE(num_##TYPE, ns, ns->scalar[0], k);          \
            out[k] = START(num_##TYPE, ns, r, k);                                          \
            int64_t p, e;                                                                  \
            if (!span_##W(w, k, &p, &e) || !nest_lane(ns, k)) continue;                    \
            const elem_##TYPE *x = (const elem_##TYPE *)by->vals + load_base(by, k);       \
            out[k] = chosen_##TYPE##_##B##_##W(ns->load[0].vals, w->crd, w->step, p, e, x, \
                                               none, out[k], NULL);                        \
            nest_tell(ns, k, p < e);                                                       \
            ns->rounds += e - p;                                                           \
        }                                                                                  \
        return super_poll(mc, &ns->rounds);                                                \
    }

#include "super_instances.h"
