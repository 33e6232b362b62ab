/* super_shared.c: sums over what two fibers share, a lane of the outer loop at a time.
 *
 * Four coordinates of one fiber are compared with four of the other, all at once, and those
 * four that end first are done: a merge by blocks, without a branch on any coordinate.
 * Lanes that share a fiber have it marked (super_marks.h).
 */
#include "super_marks.h"
#ifdef __x86_64__
#include <emmintrin.h>
#endif

/* ---- four coordinates and four others ------------------------------------------ */

/* Bit 4 * k + j: a[j] is b[k]. */
enum { QUAD = 4 };
#define SAME(W)                                                                            \
    typedef index_##W quad_##W                                                             \
        __attribute__((vector_size(QUAD * sizeof(index_##W)), aligned(W / 8)));            \
    INLINE uint32_t same_##W(const index_##W *a, const index_##W *b)                       \
    {                                                                                      \
        const quad_##W bit = {1, 2, 4, 8};                                                 \
        quad_##W x, hit;                                                                   \
        memcpy(&x, a, sizeof x);                                                           \
        hit = ((x == b[0]) & bit) | ((x == b[1]) & bit << 4) | ((x == b[2]) & bit << 8) |  \
              ((x == b[3]) & bit << 12);                                                   \
        hit |= __builtin_shufflevector(hit, hit, 2, 3, 0, 1);                              \
        hit |= __builtin_shufflevector(hit, hit, 1, 0, 3, 2);                              \
        return (uint32_t)hit[0];                                                           \
    }
#ifdef __x86_64__
/* The same in half the instructions. */
INLINE uint32_t same_32(const index_32 *a, const index_32 *b)
{
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)a),
                  y = _mm_loadu_si128((const __m128i *)(const void *)b),
                  b0 = _mm_cmpeq_epi32(x, _mm_shuffle_epi32(y, 0x00)),
                  b1 = _mm_cmpeq_epi32(x, _mm_shuffle_epi32(y, 0x55)),
                  b2 = _mm_cmpeq_epi32(x, _mm_shuffle_epi32(y, 0xaa)),
                  b3 = _mm_cmpeq_epi32(x, _mm_shuffle_epi32(y, 0xff));
    return (uint32_t)_mm_movemask_epi8(
        _mm_packs_epi16(_mm_packs_epi32(b0, b1), _mm_packs_epi32(b2, b3)));
}
#else
SAME(32)
#endif
SAME(64)

/* Those bits of the first n of a; of b. */
static const uint16_t first_of_a[] = {0, 0x1111, 0x3333, 0x7777, 0xffff};
static const uint16_t first_of_b[] = {0, 0xf, 0xff, 0xfff, 0xffff};

/* So many lanes are asked whether short fibers are common: one in SHORT. */
enum { ASKED = 32, SHORT = 8 };

/* The lanes that may share something: short fibers that don't are most of what there is
 * in meshes, and are passed over here, whatever their elements are. Listed: all parents are
 * spelt out, and fibers have bounds, as is usual; loops then ask for nothing else. */
#define SIFT(W)                                                                            \
    INLINE bool lane_span_##W(const nest_walk *w, int k, int64_t *p, int64_t *n,           \
                              bool listed)                                                 \
    {                                                                                      \
        const index_##W *bounds = w->bounds;                                               \
        const int64_t parent = listed ? w->parent->data[k] : 0;                            \
        int64_t e = *n = 0;                                                                \
        if (!listed && !span_##W(w, k, p, &e)) return false;                               \
        if (parent < 0) return false;                                                      \
        if (listed) *p = bounds[parent], e = bounds[parent + 1];                           \
        *n = e - *p;                                                                       \
        return *n > 0;                                                                     \
    }                                                                                      \
    INLINE int sift_lanes_##W(const nest *ns, int *some, bool listed)                      \
    {                                                                                      \
        const nest_walk *wa = &ns->walk[0], *wb = &ns->walk[1];                            \
        const index_##W *ca = wa->crd, *cb = wb->crd;                                      \
        const int64_t last_a = wa->entries - QUAD, last_b = wb->entries - QUAD;            \
        const int lanes = ns->o->n;                                                        \
        int n = 0, brief = 0;                                                              \
        for (int k = 0; k < lanes; k++) {                                                  \
            int64_t p, na, q, nb;                                                          \
            if (k == ASKED && brief < ASKED / SHORT) {                                     \
                for (; k < lanes; k++)                                                     \
                    some[n++] = k;                                                         \
                return n;                                                                  \
            }                                                                              \
            bool apart = !lane_span_##W(wa, k, &p, &na, listed) ||                         \
                         !lane_span_##W(wb, k, &q, &nb, listed);                           \
            const bool both = !apart && na <= QUAD && nb <= QUAD;                          \
            brief += apart || both;                                                        \
            if (both && p <= last_a && q <= last_b)                                        \
                apart = !(same_##W(&ca[p], &cb[q]) & first_of_a[na] & first_of_b[nb]);     \
            some[n] = k;                                                                   \
            n += !apart;                                                                   \
        }                                                                                  \
        return n;                                                                          \
    }                                                                                      \
    static int sift_##W(const nest *ns, int *some)                                         \
    {                                                                                      \
        const nest_walk *wa = &ns->walk[0], *wb = &ns->walk[1];                            \
        return wa->bounds && wb->bounds && wa->parent->form == COL_ARRAY &&                \
                       wb->parent->form == COL_ARRAY                                       \
                   ? sift_lanes_##W(ns, some, true)                                        \
                   : sift_lanes_##W(ns, some, false);                                      \
    }
SIFT(32)
SIFT(64)

/* ---- two fibers ---------------------------------------------------------------- */

/* What is left of both, and how many of each are compared. */
typedef struct meeting {
    int64_t p, pe, q, qe, na, nb;
    bool long_a, long_b;
} meeting;

static inline meeting meeting_of(int64_t p, int64_t pe, int64_t q, int64_t qe)
{
    return (meeting){.p = p,
                     .pe = pe,
                     .q = q,
                     .qe = qe,
                     .long_a = pe - p > LONGER * (qe - q),
                     .long_b = qe - q > LONGER * (pe - p)};
}

/* The next elements of both: *hits, as same_W gives them; false: one has no more. Four are
 * read where fewer are left, if there is an array to read. And those that are done. */
#define MEETING(W)                                                                         \
    INLINE bool meet_##W(const nest *ns, meeting *m, uint32_t *hits)                       \
    {                                                                                      \
        const nest_walk *wa = &ns->walk[0], *wb = &ns->walk[1];                            \
        const index_##W *ca = wa->crd, *cb = wb->crd;                                      \
        if (m->p >= m->pe || m->q >= m->qe) return false;                                  \
        if (m->long_a) m->p += coords_below(ca + m->p, W / 8, m->pe - m->p, cb[m->q]);     \
        if (m->long_b) m->q += coords_below(cb + m->q, W / 8, m->qe - m->q, ca[m->p]);     \
        if (m->p == m->pe || m->q == m->qe) return false;                                  \
        m->na = m->nb = 1;                                                                 \
        *hits = ca[m->p] == cb[m->q];                                                      \
        if (!m->long_a && !m->long_b && m->p + QUAD <= wa->entries &&                      \
            m->q + QUAD <= wb->entries) {                                                  \
            m->na = m->pe - m->p < QUAD ? m->pe - m->p : QUAD;                             \
            m->nb = m->qe - m->q < QUAD ? m->qe - m->q : QUAD;                             \
            *hits =                                                                        \
                same_##W(&ca[m->p], &cb[m->q]) & first_of_a[m->na] & first_of_b[m->nb];    \
        }                                                                                  \
        return true;                                                                       \
    }                                                                                      \
    INLINE void pass_##W(const nest *ns, meeting *m)                                       \
    {                                                                                      \
        const index_##W i = ((const index_##W *)ns->walk[0].crd)[m->p + m->na - 1],        \
                        j = ((const index_##W *)ns->walk[1].crd)[m->q + m->nb - 1];        \
        m->p += i <= j ? m->na : 0;                                                        \
        m->q += j <= i ? m->nb : 0;                                                        \
    }                                                                                      \
                                                                                           \
    /* How many coordinates they share. */                                                 \
    static int64_t met_##W(const nest *ns, meeting m)                                      \
    {                                                                                      \
        int64_t n = 0;                                                                     \
        for (uint32_t hits; meet_##W(ns, &m, &hits); pass_##W(ns, &m))                     \
            n += __builtin_popcount(hits);                                                 \
        return n;                                                                          \
    }
MEETING(32)
MEETING(64)

/* ---- a lane -------------------------------------------------------------------- */

/* The factors of an element at p in one fiber and at q in the other. */
#define MERGE_TERM(TYPE, B, p, q)                                                          \
    ({                                                                                     \
        num_##TYPE t = NO_FACTORS(B, TYPE);                                                \
        for (int x = 0; x < ns->nload; x++) {                                              \
            const elem_##TYPE *vals = ns->load[x].vals;                                    \
            const num_##TYPE at_ = GET(TYPE, vals[ns->load[x].walk ? (q) : (p)]);          \
            t = x ? TIMES(B, TYPE, t, at_) : at_;                                          \
        }                                                                                  \
        t;                                                                                 \
    })

/* One lane. */
#define MERGE_LANE(TYPE, B, W)                                                             \
    INLINE num_##TYPE merged_##TYPE##_##B##_##W(const nest *ns, meeting m, num_##TYPE sum, \
                                                int64_t *rounds)                           \
    {                                                                                      \
        for (uint32_t hits; meet_##W(ns, &m, &hits); pass_##W(ns, &m)) {                   \
            const bool some = hits != 0;                                                   \
            for (; hits; hits &= hits - 1) {                                               \
                const int64_t at = __builtin_ctz(hits), p = m.p + at % QUAD,               \
                              q = m.q + at / QUAD;                                         \
                sum = PLUS(B, TYPE, sum, MERGE_TERM(TYPE, B, p, q));                       \
                ++*rounds;                                                                 \
            }                                                                              \
            if (some && SETTLED(B, sum)) break;                                            \
        }                                                                                  \
        return sum;                                                                        \
    }

/* One lane whose fiber p … pe is looked up in the marks of the other walk's. */
#define MARKED_LANE(TYPE, B, W)                                                            \
    INLINE num_##TYPE marked_##TYPE##_##B##_##W(const nest *ns, const marks *mk,           \
                                                int64_t p, int64_t pe, num_##TYPE sum,     \
                                                int64_t *rounds)                           \
    {                                                                                      \
        const index_##W *crd = ns->walk[1 - mk->side].crd;                                 \
        int64_t own[MARK_PROBES];                                                          \
        while (p < pe) {                                                                   \
            const int n = marks_probe_##W(mk, crd, &p, pe, own);                           \
            for (int h = 0; h < n; h++) {                                                  \
                const int64_t j = own[h], met = marks_place_##W(mk, crd, j);               \
                sum = PLUS(B, TYPE, sum,                                                   \
                           MERGE_TERM(TYPE, B, mk->side ? j : met, mk->side ? met : j));   \
            }                                                                              \
            *rounds += n;                                                                  \
            if (n && SETTLED(B, sum)) break;                                               \
        }                                                                                  \
        return sum;                                                                        \
    }

/* What two fibers share. */
#define INSTANCE_dot_merge(TYPE, B, W)                                                     \
    MERGE_LANE(TYPE, B, W)                                                                 \
    MARKED_LANE(TYPE, B, W)                                                                \
                                                                                           \
    stc_status super_dot_merge_##TYPE##_##B##_##W(machine *mc, nest *ns)                   \
    {                                                                                      \
        const node *r = &ns->o->s.node[ns->link.result];                                   \
        num_##TYPE *out = ns->o->node[ns->link.result].data;                               \
        int64_t rounds = ns->o->n;                                                         \
        int some[STRIP];                                                                   \
        marks mk;                                                                          \
        if (marks_open(mc, ns, &mk)) return mc->cx->diag.status;                           \
        for (int k = 0; k < ns->o->n; k++)                                                 \
            out[k] = START(num_##TYPE, ns, r, k);                                          \
        for (int left = sift_##W(ns, some), j = 0; j < left; j++) {                        \
            const int k = some[j];                                                         \
            num_##TYPE sum = LANE_BEGINS(TYPE, B, ns, r, k);                               \
            int64_t at[2], end[2];                                                         \
            if (!span_##W(&ns->walk[0], k, &at[0], &end[0]) ||                             \
                !span_##W(&ns->walk[1], k, &at[1], &end[1]))                               \
                continue;                                                                  \
            const int64_t before = rounds;                                                 \
            if (mk.at) marks_at_##W(ns, &mk, k);                                           \
            const int x = 1 - mk.side; /* the walk that is looked up, if one is marked */  \
            const bool marked = mk.side >= 0 && end[x] - at[x] <= LONGER * (mk.e - mk.p);  \
            const meeting two = meeting_of(at[0], end[0], at[1], end[1]);                  \
            if (ns->units && !SETTLES(B)) { /* else the first one ends the sum */          \
                rounds += marked ? marks_count_##W(&mk, ns->walk[x].crd, at[x], end[x])    \
                                 : met_##W(ns, two);                                       \
                if (rounds > before)                                                       \
                    sum = PLUS(B, TYPE, sum, UNITS(B, TYPE, rounds - before));             \
            } else if (marked) {                                                           \
                sum = marked_##TYPE##_##B##_##W(ns, &mk, at[x], end[x], sum, &rounds);     \
            } else {                                                                       \
                sum = merged_##TYPE##_##B##_##W(ns, two, sum, &rounds);                    \
            }                                                                              \
            out[k] = LANE_SUM(TYPE, B, ns, r, k, rounds > before, sum);                    \
            nest_tell(ns, k, rounds > before);                                             \
        }                                                                                  \
        marks_clear_##W(ns, &mk);                                                          \
        ns->rounds += rounds;                                                              \
        return super_poll(mc, &ns->rounds);                                                \
    }

#include "super_instances.h"
