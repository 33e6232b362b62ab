/* affine_leaf.c: what an affine nest adds for a fiber of the last level, or for
 * one entry, by element type and sink.
 *
 * An entry of a convolution goes to the places its taps lead to. Almost always all
 * of them are inside: then these are straight loops over rows of taps, of constant
 * length for the usual filters. Other entries look at each tap. Entries with
 * other indices left (features, channels) are rows.
 */
#include "affine.h"
#include "../super/super.h"
#include "../work/ws.h"
#include <string.h>

/* x if it is there (1), or what changes nothing that is added: -0 of floats. Which of them
 * can't be foreseen, so there is no branch. */
#define KEPT(CLS, T, BITS, NONE)                                                           \
    INLINE T kept_##CLS(T x, uint64_t there)                                               \
    {                                                                                      \
        BITS b;                                                                            \
        memcpy(&b, &x, sizeof b);                                                          \
        b = (b & -(BITS)there) | ((BITS)(NONE) & ((BITS)there - 1));                       \
        memcpy(&x, &b, sizeof b);                                                          \
        return x;                                                                          \
    }
KEPT(F64, double, uint64_t, UINT64_C(1) << 63)
KEPT(F32, float, uint32_t, UINT32_C(1) << 31)
KEPT(I64, int64_t, uint64_t, 0)

/* What is there and x; in an accumulator, where only x may be. */
#define MEET_plus_times(CLS, there, old, x) FN_ADD_##CLS(kept_##CLS(old, there), x)
#define MEET_ELSE(B, CLS, there, old, x) ((there) ? PLUS(B, CLS, old, x) : (x))
#define MEET_min_plus(CLS, there, old, x) MEET_ELSE(min_plus, CLS, there, old, x)
#define MEET_max_plus(CLS, there, old, x) MEET_ELSE(max_plus, CLS, there, old, x)
#define MEET_or_and(CLS, there, old, x) MEET_ELSE(or_and, CLS, there, old, x)
#define FACTOR_F64(a) ((a)->factor.f64)
#define FACTOR_F32(a) ((a)->factor.f32)
#define FACTOR_I64(a) ((a)->factor.i64)
#define FACTOR_BOOL(a) ((uint8_t)((a)->factor.i64 != 0))

/* Adds x to element k, of the result or of a dense workspace. */
#define ADD_ACC(B, CLS, k, x) (out[k] = PLUS(B, CLS, out[k], x))
#define ADD_WS(B, CLS, k, x)                                                               \
    do {                                                                                   \
        const int64_t k_ = (k);                                                            \
        const uint64_t word_ = set[k_ >> 6], there_ = word_ >> (k_ & 63) & 1;              \
        set[k_ >> 6] = word_ | UINT64_C(1) << (k_ & 63);                                   \
        touched[count] = k_;                                                               \
        count += !there_;                                                                  \
        out[k_] = MEET_##B(CLS, there_, out[k_], x);                                       \
    } while (0)
#define OPEN_ACC
#define CLOSE_ACC
#define REOPEN_ACC
#define OPEN_WS                                                                            \
    uint64_t *set = a->ws->set;                                                            \
    int64_t *touched = a->ws->touched, count = a->ws->n;
#define CLOSE_WS a->ws->n = count;
#define REOPEN_WS count = a->ws->n;

/* One entry, over the indices that the operand doesn't have; the last of them in
 * a straight loop where result and factor are rows. */
#define ENTRY(B, CLS, T, SINK)                                                             \
    static void rest_##CLS##_##B##_##SINK(affine *a, const int64_t *at, int r, T w)        \
    {                                                                                      \
        T *out = a->out;                                                                   \
        if (r == a->nrest) {                                                               \
            OPEN_##SINK for (int k = 1; k < a->nload; k++) w =                             \
                TIMES(B, CLS, w, ((const T *)a->vals[k])[at[k]]);                          \
            ADD_##SINK(B, CLS, at[0], w);                                                  \
            CLOSE_##SINK a->rounds++;                                                      \
            return;                                                                        \
        }                                                                                  \
        const int d = a->rest[r];                                                          \
        const int64_t n = a->hi[d] - a->lo[d], oj = a->line[0].coef[d];                    \
        if (r + 1 == a->nrest && a->nload == 2) {                                          \
            const int64_t fj = a->line[1].coef[d], o = at[0] + oj * a->lo[d];              \
            const T *f = (const T *)a->vals[1] + at[1] + fj * a->lo[d];                    \
            row_##CLS##_##B##_##SINK(a, out, o, oj, f, fj, w, n);                          \
            return;                                                                        \
        }                                                                                  \
        for (int64_t i = a->lo[d]; i < a->hi[d]; i++) {                                    \
            int64_t here[AFFINE_LOADS];                                                    \
            for (int k = 0; k < a->nload; k++)                                             \
                here[k] = at[k] + a->line[k].coef[d] * i;                                  \
            rest_##CLS##_##B##_##SINK(a, here, r + 1, w);                                  \
        }                                                                                  \
    }                                                                                      \
                                                                                           \
    /* An entry that isn't inside for all taps, or has more to it than FIBER knows. */     \
    static void taps_##CLS##_##B##_##SINK(affine *a, const int64_t *at, int64_t pos)       \
    {                                                                                      \
        const affine_stand here = a->stand[a->nlevel - 1];                                 \
        const T w = TIMES(B, CLS, FACTOR_##CLS(a), ((const T *)a->vals[0])[pos]);          \
        for (int64_t i = a->first[here.class]; i < a->first[here.class + 1]; i++) {        \
            const affine_tap *t = &a->tap[i];                                              \
            for (int64_t q = 0; q < t->n; q++) {                                           \
                int64_t to[AFFINE_LOADS];                                                  \
                if (here.edges && !affine_inside(a, t, q, here.edges)) continue;           \
                for (int k = 0; k < a->nload; k++)                                         \
                    to[k] = at[k] + t->at[k] + q * t->hop[k];                              \
                rest_##CLS##_##B##_##SINK(a, to, 0, w);                                    \
            }                                                                              \
        }                                                                                  \
    }

/* The filter's values in the order of its taps, where its first one is at `at`. */
#define VALUES(B, CLS, T)                                                                  \
    static void values_##CLS##_##B(affine *a, int64_t at)                                  \
    {                                                                                      \
        T *out = (T *)a->filter.value;                                                     \
        for (int64_t r = 0; r < a->ntap; r++)                                              \
            for (int64_t q = 0; q < a->tap[r].n; q++)                                      \
                *out++ =                                                                   \
                    ((const T *)a->vals[1])[at + a->tap[r].at[1] + q * a->tap[r].hop[1]];  \
    }

/* A fiber of a plain filter (`affine_filter`): entries whose taps all lie inside, from b
 * on; gives the first that isn't so. R rows (0: any number) of Q taps, `hop` apart. */
#define FILTER(B, CLS, T, I, SINK)                                                         \
    INLINE int64_t plain_##CLS##_##B##_##I##_##SINK(                                       \
        affine *a, const int64_t *at, int64_t b, int64_t e, int R, int Q, int64_t hop)     \
    {                                                                                      \
        const affine_level *lv = &a->level[a->nlevel - 1];                                 \
        const I *crd = (const I *)lv->crd;                                                 \
        const T *v = a->vals[0], s = FACTOR_##CLS(a);                                      \
        const affine_window *win = &a->window[a->nlevel - 1];                              \
        const int64_t base = at[lv->line], oj = a->line[0].coef[lv->solved];               \
        const uint64_t lo = (uint64_t)win->all_lo, n = (uint64_t)win->all_hi - lo;         \
        const int rows = R ? R : a->filter.rows;                                           \
        T g[AFFINE_FILTER], *out = a->out;                                                 \
        int64_t to[AFFINE_FILTER], p = b;                                                  \
        memcpy(g, a->filter.value, (size_t)(rows * Q) * sizeof *g);                        \
        memcpy(to, a->filter.to, (size_t)rows * sizeof *to);                               \
        OPEN_##SINK for (; p < e; p++)                                                     \
        {                                                                                  \
            const int64_t x = crd[p] - base;                                               \
            if (__builtin_expect((uint64_t)x - lo >= n, 0)) break;                         \
            const T w = TIMES(B, CLS, s, v[p]);                                            \
            const int64_t o = at[0] + oj * x;                                              \
            for (int r = 0; r < rows; r++)                                                 \
                for (int q = 0; q < Q; q++)                                                \
                    ADD_##SINK(B, CLS, o + to[r] + hop * q,                                \
                               TIMES(B, CLS, w, g[r * Q + q]));                            \
        }                                                                                  \
        CLOSE_##SINK a->rounds += (p - b) * rows * Q;                                      \
        return p;                                                                          \
    }                                                                                      \
                                                                                           \
    static int64_t filter_##CLS##_##B##_##I##_##SINK(affine *a, const int64_t *at,         \
                                                     int64_t b, int64_t e)                 \
    {                                                                                      \
        const int Q = a->filter.taps, R = a->filter.rows;                                  \
        const int64_t hop = a->filter.hop;                                                 \
        if (Q == 3 && hop == -1)                                                           \
            return R == 1   ? plain_##CLS##_##B##_##I##_##SINK(a, at, b, e, 1, 3, -1)      \
                   : R == 3 ? plain_##CLS##_##B##_##I##_##SINK(a, at, b, e, 3, 3, -1)      \
                            : plain_##CLS##_##B##_##I##_##SINK(a, at, b, e, 0, 3, -1);     \
        if (Q == 5 && hop == -1)                                                           \
            return plain_##CLS##_##B##_##I##_##SINK(a, at, b, e, 0, 5, -1);                \
        return Q == 3 ? plain_##CLS##_##B##_##I##_##SINK(a, at, b, e, 0, 3, hop)           \
                      : plain_##CLS##_##B##_##I##_##SINK(a, at, b, e, 0, Q, hop);          \
    }

/* The entries of a fiber; the solved index's coefficient is 1 if `unit`. */
#define FIBER(B, CLS, T, I, SINK)                                                          \
    FILTER(B, CLS, T, I, SINK)                                                             \
                                                                                           \
    INLINE void run_##CLS##_##B##_##I##_##SINK(affine *a, const int64_t *at, int64_t b,    \
                                               int64_t e, bool unit)                       \
    {                                                                                      \
        const int last = a->nlevel - 1;                                                    \
        const affine_level *lv = &a->level[last];                                          \
        const affine_stand up = last ? a->stand[last - 1] : (affine_stand){0, 0};          \
        const I *crd = (const I *)lv->crd;                                                 \
        const T *v = a->vals[0], s = FACTOR_##CLS(a);                                      \
        const T *f = a->nload > 1 ? (const T *)a->vals[1] + at[1] : NULL;                  \
        const affine_window *win = &a->window[last];                                       \
        const int64_t base = at[lv->line], c = win->step, n = c < 0 ? -c : c;              \
        const int64_t oj = a->line[0].coef[lv->solved];                                    \
        const int64_t fj = f ? a->line[1].coef[lv->solved] : 0;                            \
        const int64_t lo = up.edges ? INT64_MAX : win->all_lo, hi = win->all_hi;           \
        const affine_tap *first = a->tap + a->first[up.class];                             \
        const affine_tap *end = a->tap + a->first[up.class + 1];                           \
        T *out = a->out;                                                                   \
        const bool plain =                                                                 \
            unit && lo < hi && a->filter.rows; /* else taps may be outside */              \
        if (plain && a->filter.moved) values_##CLS##_##B(a, at[1]);                        \
        OPEN_##SINK for (int64_t p = b; p < e; p++)                                        \
        {                                                                                  \
            if (plain) {                                                                   \
                p = filter_##CLS##_##B##_##I##_##SINK(a, at, p, e);                        \
                REOPEN_##SINK if (p == e) break;                                           \
            }                                                                              \
            const int64_t y = crd[p] - base;                                               \
            int64_t x = y, r = 0;                                                          \
            if (!unit) {                                                                   \
                r = y % n < 0 ? y % n + n : y % n;                                         \
                x = (y - r) / c;                                                           \
                first = a->tap + a->first[up.class + r * win->radix];                      \
                end = a->tap + a->first[up.class + r * win->radix + 1];                    \
            }                                                                              \
            if (__builtin_expect(x >= lo && x < hi, 1)) {                                  \
                const T w = TIMES(B, CLS, s, v[p]);                                        \
                const int64_t o = at[0] + oj * x;                                          \
                for (const affine_tap *t = first; t < end; t++) {                          \
                    const int64_t to = o + t->at[0], hop = t->hop[0], m = t->n;            \
                    if (!f) {                                                              \
                        for (int64_t q = 0; q < m; q++)                                    \
                            ADD_##SINK(B, CLS, to + hop * q, w);                           \
                        continue;                                                          \
                    }                                                                      \
                    const T *g = f + fj * x + t->at[1];                                    \
                    for (int64_t q = 0; q < m; q++)                                        \
                        ADD_##SINK(B, CLS, to + hop * q,                                   \
                                   TIMES(B, CLS, w, g[t->hop[1] * q]));                    \
                }                                                                          \
                continue;                                                                  \
            }                                                                              \
            if (x < win->some_lo || x >= win->some_hi) {                                   \
                if (unit && lv->ordered && x >= win->some_hi) break;                       \
                continue;                                                                  \
            }                                                                              \
            CLOSE_##SINK a->x[last] = x;                                                   \
            a->stand[last].class = up.class + (int)(r * win->radix);                       \
            a->stand[last].edges = up.edges | UINT32_C(1) << last;                         \
            taps_##CLS##_##B##_##SINK(                                                     \
                a, (const int64_t[AFFINE_LOADS]){at[0] + oj * x, at[1] + fj * x}, p);      \
            REOPEN_##SINK                                                                  \
        }                                                                                  \
        CLOSE_##SINK a->rounds += (e - b) * (end - first);                                 \
    }                                                                                      \
                                                                                           \
    static void fiber_##CLS##_##B##_##I##_##SINK(affine *a, const int64_t *at, int64_t b,  \
                                                 int64_t e)                                \
    {                                                                                      \
        if (a->window[a->nlevel - 1].step == 1)                                            \
            run_##CLS##_##B##_##I##_##SINK(a, at, b, e, true);                             \
        else                                                                               \
            run_##CLS##_##B##_##I##_##SINK(a, at, b, e, false);                            \
    }

#define ROWS(B, CLS, T)                                                                    \
    INLINE void add_row_##CLS##_##B(T *restrict out, const T *restrict f, T w, int64_t n)  \
    {                                                                                      \
        for (int64_t i = 0; i < n; i++)                                                    \
            out[i] = PLUS(B, CLS, out[i], TIMES(B, CLS, w, f[i]));                         \
    }                                                                                      \
    WIDE static void wide_row_##CLS##_##B(T *out, const T *f, T w, int64_t n)              \
    {                                                                                      \
        add_row_##CLS##_##B(out, f, w, n);                                                 \
    }                                                                                      \
    static void row_##CLS##_##B##_ACC(affine *a, T *out, int64_t o, int64_t oj,            \
                                      const T *f, int64_t fj, T w, int64_t n)              \
    {                                                                                      \
        a->rounds += n;                                                                    \
        if (oj == 1 && fj == 1) {                                                          \
            if (HAS_WIDE) {                                                                \
                wide_row_##CLS##_##B(out + o, f, w, n);                                    \
            } else {                                                                       \
                add_row_##CLS##_##B(out + o, f, w, n);                                     \
            }                                                                              \
            return;                                                                        \
        }                                                                                  \
        for (int64_t i = 0; i < n; i++)                                                    \
            ADD_ACC(B, CLS, o + oj * i, TIMES(B, CLS, w, f[fj * i]));                      \
    }                                                                                      \
    static void row_##CLS##_##B##_WS(affine *a, T *out, int64_t o, int64_t oj, const T *f, \
                                     int64_t fj, T w, int64_t n)                           \
    {                                                                                      \
        OPEN_WS for (int64_t i = 0; i < n; i++)                                            \
            ADD_WS(B, CLS, o + oj * i, TIMES(B, CLS, w, f[fj * i]));                       \
        CLOSE_WS a->rounds += n;                                                           \
    }

#define KERNELS(B, CLS, T)                                                                 \
    ROWS(B, CLS, T)                                                                        \
    VALUES(B, CLS, T)                                                                      \
    ENTRY(B, CLS, T, ACC)                                                                  \
    ENTRY(B, CLS, T, WS)                                                                   \
    FIBER(B, CLS, T, int32_t, ACC)                                                         \
    FIBER(B, CLS, T, int64_t, ACC)                                                         \
    FIBER(B, CLS, T, int32_t, WS)                                                          \
    FIBER(B, CLS, T, int64_t, WS)

#define AFFINE(B, TYPE, T) KERNELS(B, TYPE, T)
#include "affine.def"

typedef void (*fiber_kernel)(affine *a, const int64_t *at, int64_t begin, int64_t end);
typedef void (*entry_kernel)(affine *a, const int64_t *at, int64_t pos);

#define AFFINE(B, TYPE, T)                                                                 \
    {STC_##TYPE,                                                                           \
     FN_PLUS_##B,                                                                          \
     FN_TIMES_##B,                                                                         \
     {taps_##TYPE##_##B##_ACC, taps_##TYPE##_##B##_WS},                                    \
     values_##TYPE##_##B,                                                                  \
     {{fiber_##TYPE##_##B##_int32_t_ACC, fiber_##TYPE##_##B##_int32_t_WS},                 \
      {fiber_##TYPE##_##B##_int64_t_ACC, fiber_##TYPE##_##B##_int64_t_WS}}},
enum {
#define BODY(name, PLUS, TIMES) FN_PLUS_##name = PLUS, FN_TIMES_##name = TIMES,
#include "../super/super.def"
};
static const struct {
    uint8_t type;
    int16_t plus, times;
    entry_kernel taps[2];
    void (*values)(affine *a, int64_t at);
    fiber_kernel fiber[2][2]; /* by width of coordinates, and sink */
} kernels[] = {
#include "affine.def"
};

int affine_kernel(stc_type type, int plus, int times)
{
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        if (kernels[k].type == type && kernels[k].plus == plus &&
            (times == FN_NONE || kernels[k].times == times))
            return (int)k;
    return -1;
}

int affine_times(const affine *a)
{
    return kernels[a->kernel].times;
}

/* Whether all entries meet the same taps, as few rows of one length, and the same values.
 */
static bool plain_filter(affine *a)
{
    affine_filter *f = &a->filter;
    const affine_tap *first = &a->tap[0];
    if (a->nload != 2 || a->ntap * first->n > AFFINE_FILTER) return false;
    f->moved = false;
    for (int l = 0; l < a->nlevel; l++) {
        const bool moved = a->line[1].coef[a->level[l].solved];
        if (a->window[l].step != 1 || (moved && l + 1 == a->nlevel)) return false;
        f->moved |= moved;
    }
    for (int64_t k = 0; k < a->ntap; k++) {
        if (a->tap[k].n != first->n || a->tap[k].hop[0] != first->hop[0]) return false;
        f->to[k] = a->tap[k].at[0];
    }
    f->rows = (int)a->ntap;
    f->taps = (int)first->n;
    f->hop = first->hop[0];
    return true;
}

void affine_choose(affine *a)
{
    const affine_level *lv = &a->level[a->nlevel - 1];
    const int ws = a->sink.kind != SINK_ACC;
    const bool simple = lv->walked && lv->stride == lv->width;
    const int k = a->kernel;
    a->entry = kernels[k].taps[ws];
    a->fiber = NULL;
    a->filter.rows = 0;
    if (simple && !a->nrest && a->nload <= 2)
        a->fiber = kernels[k].fiber[lv->width == 8][ws];
    if (a->fiber && plain_filter(a) && !a->filter.moved)
        kernels[k].values(a, a->line[1].base);
}
