/* interval_rows.c: whole rows of runs times a factor that is summed beforehand.
 *
 * If a loop's body is one operand's value times the factor (interval_sums.c), rows are
 * added up without strips. Summed by parts a run takes one sum: with S that of all
 * elements before it, a row is the sum of S (x' - x), where x' is the value of the run
 * before, and of all times the last x. A row's first run has S = 0, so that rows needn't
 * be told apart, and a row is the difference of two running totals: no loop over runs
 * ends with it. Where all that becomes of a row are up to 32 bits of a result, they are
 * what is worked out, eight runs at a time.
 */
#include "interval.h"

/* Runs of a strip: their coordinates and values, and the sums by coordinate. */
typedef struct row_runs {
    const int64_t *starts;
    const int32_t *at;
    const void *vals;
    int n;
} row_runs;

/* The rows that they are of: `lane`'s begins with the first run, or before; they end at
 * bounds of t, counted from `from`. `all` is the sum of all of the factor. */
typedef struct row_ends {
    const fiber_table *t;
    int64_t first, from;
    int lane, lanes;
    uint64_t all, *out;
} row_ends;

/* total[k]: of the first k runs. `before` is the value of the run ahead of them; given is
 * that of the last. */
typedef uint64_t total_fn(row_runs r, uint64_t before, void *total);
/* From totals to rows; gives that of the runs that follow. */
typedef int row_fn(row_runs r, row_ends e, const void *total);
typedef struct row_fns {
    total_fn *totals;
    row_fn *rows;
} row_fns;

#define READ(x, rank) ((uint64_t)((rank) == 1 ? (x) != 0 : (x)))
#define ROWS(NAME, ctype, rank, SUM)                                                       \
    static int NAME(row_runs r, row_ends e, const void *total)                             \
    {                                                                                      \
        const ctype *val = r.vals;                                                         \
        const SUM *sum = total;                                                            \
        int64_t from = 0;                                                                  \
        while (e.lane < e.lanes) {                                                         \
            const int64_t end = fiber_bound(e.t, e.first + e.lane + 1) - e.from;           \
            if (end > r.n) break;                                                          \
            e.out[e.lane++] += sum[end] - sum[from] + READ(val[end - 1], rank) * e.all;    \
            from = end;                                                                    \
        }                                                                                  \
        if (from < r.n) e.out[e.lane] += sum[r.n] - sum[from];                             \
        return e.lane;                                                                     \
    }
#define TOTALS(NAME, ctype, rank)                                                          \
    static uint64_t totals_##NAME(row_runs r, uint64_t before, void *total)                \
    {                                                                                      \
        const ctype *val = r.vals;                                                         \
        uint64_t *to = total, sum = to[0] = 0;                                             \
        _Pragma("GCC unroll 8") for (int k = 0; k < r.n; k++)                              \
        {                                                                                  \
            const uint64_t x = READ(val[k], rank);                                         \
            sum += (uint64_t)r.starts[r.at[k]] * (before - x);                             \
            to[k + 1] = sum;                                                               \
            before = x;                                                                    \
        }                                                                                  \
        return before;                                                                     \
    }                                                                                      \
    ROWS(rows_##NAME, ctype, rank, uint64_t)
#define TYPE_I64(NAME, ctype, rank) TOTALS(NAME, ctype, rank)
#define TYPE_U64 TYPE_I64
#define TYPE_F32(NAME, ctype, rank)
#define TYPE_F64(NAME, ctype, rank)
#define TYPE_C64(NAME, ctype, rank)
#define TYPE_C128(NAME, ctype, rank)
#define TYPE(NAME, name, ctype, CLASS, rank) TYPE_##CLASS(NAME, ctype, rank)
#include "../../formats/base/types.def"

/* ---- 32 bits ------------------------------------------------------------------------ */

#if defined(__x86_64__) && defined(__GNUC__)
enum { BLOCK = 8 };
typedef uint32_t words __attribute__((vector_size(BLOCK * sizeof(uint32_t))));
typedef int32_t ints __attribute__((vector_size(sizeof(words))));
typedef uint64_t pairs __attribute__((vector_size(sizeof(words))));
typedef words loose __attribute__((aligned(4), may_alias)); /* wherever it is */

WIDE static inline __attribute__((always_inline)) words take_starts(const int64_t *s,
                                                                    const int32_t *at)
{
    return (words){(uint32_t)s[at[0]], (uint32_t)s[at[1]], (uint32_t)s[at[2]],
                   (uint32_t)s[at[3]], (uint32_t)s[at[4]], (uint32_t)s[at[5]],
                   (uint32_t)s[at[6]], (uint32_t)s[at[7]]};
}

WIDE static inline __attribute__((always_inline)) words moved(words x, ints from)
{
    return (words)__builtin_ia32_permvarsi256((ints)x, from);
}

/* Each lane with those before it. */
WIDE static inline __attribute__((always_inline)) words running(words x)
{
    const words from_2 = {0, 0, ~0u, ~0u, 0, 0, ~0u, ~0u},
                from_4 = {0, 0, 0, 0, ~0u, ~0u, ~0u, ~0u};
    x += (words)((pairs)x << 32);
    x += moved(x, (ints){1, 1, 1, 1, 5, 5, 5, 5}) & from_2;
    return x + (moved(x, (ints){3, 3, 3, 3, 3, 3, 3, 3}) & from_4);
}

/* The first run is done apart: those behind it find the one before in the array. */
#define WIDE_TOTALS(NAME, ctype, rank)                                                     \
    typedef ctype some_##NAME                                                              \
        __attribute__((vector_size(BLOCK * sizeof(ctype)), aligned(1), may_alias));        \
    WIDE static inline __attribute__((always_inline)) words take_##NAME(const ctype *val)  \
    {                                                                                      \
        const some_##NAME x = *(const some_##NAME *)val;                                   \
        return __builtin_convertvector(x, words);                                          \
    }                                                                                      \
    WIDE static uint64_t wide_totals_##NAME(row_runs r, uint64_t before, void *total)      \
    {                                                                                      \
        const ctype *val = r.vals;                                                         \
        const uint32_t less = (uint32_t)(before - READ(val[0], rank));                     \
        uint32_t *to = total;                                                              \
        to[0] = 0;                                                                         \
        to[1] = (uint32_t)r.starts[r.at[0]] * less;                                        \
        words sum = (words){0} + to[1];                                                    \
        int k = 1;                                                                         \
        for (; k + BLOCK <= r.n; k += BLOCK) {                                             \
            const words x = take_##NAME(val + k), y = take_##NAME(val + k - 1);            \
            sum += running(take_starts(r.starts, r.at + k) * (y - x));                     \
            *(loose *)(to + k + 1) = sum;                                                  \
            sum = moved(sum, (ints){7, 7, 7, 7, 7, 7, 7, 7});                              \
        }                                                                                  \
        for (; k < r.n; k++)                                                               \
            to[k + 1] =                                                                    \
                to[k] + (uint32_t)r.starts[r.at[k]] *                                      \
                            (uint32_t)(READ(val[k - 1], rank) - READ(val[k], rank));       \
        return READ(val[r.n - 1], rank);                                                   \
    }                                                                                      \
    ROWS(wide_rows_##NAME, ctype, rank, uint32_t)
#undef TYPE_I64
#define TYPE_I64(NAME, ctype, rank) WIDE_TOTALS(NAME, ctype, rank)
#define TYPE(NAME, name, ctype, CLASS, rank) TYPE_##CLASS(NAME, ctype, rank)
#include "../../formats/base/types.def"
#define FNS(NAME)                                                                          \
    {                                                                                      \
        {totals_##NAME, rows_##NAME},                                                      \
        {                                                                                  \
            wide_totals_##NAME, wide_rows_##NAME                                           \
        }                                                                                  \
    }
#else
#define FNS(NAME)                                                                          \
    {                                                                                      \
        {                                                                                  \
            totals_##NAME, rows_##NAME                                                     \
        }                                                                                  \
    }
#endif

/* ---- choosing ----------------------------------------------------------------------- */

/* Of integers: what is summed has their class. */
static row_fns fns_of(stc_type t, bool wide)
{
    static const row_fns of[][2] = {
#define ENTRY_I64(NAME) [STC_##NAME] = FNS(NAME),
#define ENTRY_U64 ENTRY_I64
#define ENTRY_F32(NAME)
#define ENTRY_F64(NAME)
#define ENTRY_C64(NAME)
#define ENTRY_C128(NAME)
#define TYPE(NAME, name, ctype, CLASS, rank) ENTRY_##CLASS(NAME)
#include "../../formats/base/types.def"
    };
    return of[t][wide];
}

/* Whether the loop outside does nothing with a row but to store up to 32 bits of it. */
static bool stores_words(const machine *mc, const ivl_loop *v)
{
    const loop_summary *s = &v->of->loop[v->depth - 1].g.s;
    const sink *x = &s->sink[0];
    if (s->nsink != 1 || x->kind != SINK_STORE || x->node != v->link.result) return false;
    const stc_type t = mc->slot[x->a].t->type;
    return t != STC_BOOL && type_size(t) <= sizeof(uint32_t); /* of the sum's class */
}

stc_status sums_rows(machine *mc, ivl_loop *v)
{
    const sink *sum = &v->g.s.sink[0];
    if (v->summed == UNLINKED || v->nwalk != 1 || sum->cls > CLASS_U64) return STC_OK;
    const node *p = &v->g.s.node[sum->node];
    const node *x = &v->g.s.node[p->arg[p->arg[0] == v->summed]];
    ivl_walk *w = &v->walk[0];
    if (x->kind != NODE_LOAD || x->b != w->place) return STC_OK;
    const tensor *t = mc->slot[x->a].t;
    const bool wide = HAS_WIDE && stores_words(mc, v);
    const int most = STRIP * (wide ? 2 : 1) - 1; /* totals are where a strip's values are */
    const row_fns fn = fns_of(t->type, wide);
    row_runs r = {.starts = v->sums + (v->end - v->begin) - v->begin};
    row_ends e = {.t = &w->t,
                  .first = column_get(w->parent, 0),
                  .lanes = (int)v->lanes,
                  .all = (uint64_t)v->sums[0],
                  .out = v->of->loop[v->depth - 1].g.node[v->link.result].data};
    void *total = v->g.node[v->summed].data;
    uint64_t before = 0; /* nothing, ahead of a row */
    while (w->p <= w->last) {
        const int64_t left = w->last + 1 - w->p;
        r.n = left < most ? (int)left : most;
        r.at = (const int32_t *)w->t.crd + w->p;
        r.vals = (const char *)walk_vals(w, t) + w->p * (int64_t)type_size(t->type);
        e.from = w->p;
        before = fn.totals(r, before, total);
        v->lane = e.lane = fn.rows(r, e, total);
        w->p += r.n;
        machine_saw(mc, SEEN_RUNS, r.n);
        if (machine_count(mc, r.n)) return mc->cx->diag.status;
    }
    return STC_OK;
}
