/* affine_leaf.c: what an affine nest adds for a fiber of the last level, or for
 * one entry, by element type and sink.
 *
 * A fiber of a convolution: entry x of coordinate y goes to the places y - q,
 * for each q of the filter, as long as that is inside; almost always all of it
 * is, so the loop over q is a straight one, of constant length for the usual
 * filters. Entries with other indices left (features, channels) are rows.
 */
#include "affine.h"
#include "super.h"
#include "ws.h"

/* What all fibers of a run have in common. */
static affine_fiber fiber_of(const affine *a)
{
    const affine_level *lv = &a->level[a->nlevel - 1];
    const int j = lv->solved, q = lv->ntried ? lv->tried[0] : -1;
    const int64_t *c = a->line[lv->line].coef;
    affine_fiber f = {
        .lv = lv, .jlo = a->lo[j], .jhi = a->hi[j], .qhi = 1, .oj = a->line[0].coef[j]};
    if (q < 0) return f;
    f.qlo = a->lo[q];
    f.qhi = a->hi[q];
    f.cq = c[q];
    f.oq = a->line[0].coef[q];
    if (a->nload > 1) f.fq = a->line[1].coef[q];
    return f;
}

/* Adds x to element k, of the result or of a dense workspace. */
#define ADD_ACC(CLS, k, x) (out[k] = FN_ADD_##CLS(out[k], x))
#define ADD_WS(CLS, k, x)                                                                  \
    do {                                                                                   \
        const int64_t k_ = (k);                                                            \
        const uint64_t word_ = set[k_ >> 6], bit_ = UINT64_C(1) << (k_ & 63);              \
        const bool there_ = word_ & bit_;                                                  \
        set[k_ >> 6] = word_ | bit_;                                                       \
        touched[count] = k_;                                                               \
        count += !there_;                                                                  \
        out[k_] = there_ ? FN_ADD_##CLS(out[k_], x) : (x);                                 \
    } while (0)
#define OPEN_ACC
#define CLOSE_ACC
#define OPEN_WS                                                                            \
    uint64_t *set = a->ws->set;                                                            \
    int64_t *touched = a->ws->touched, count = a->ws->n;
#define CLOSE_WS a->ws->n = count;

/* Fibers with coefficient 1 of the solved index, and a factor that it doesn't
 * move; Q is the filter's length, 0: any. */
#define FIBER(CLS, T, I, SINK)                                                             \
    INLINE void run_##CLS##_##I##_##SINK(affine *a, const affine_fiber *x,                 \
                                         const int64_t *at, int64_t b, int64_t e,          \
                                         int64_t Q)                                        \
    {                                                                                      \
        const I *crd = (const I *)x->lv->crd;                                              \
        const T *v = a->vals[0], s = *(const T *)&a->factor;                               \
        const int64_t base = at[x->lv->line];                                              \
        const T *f = a->nload > 1 ? (const T *)a->vals[1] + at[1] + x->fq * x->qlo : NULL; \
        T *out = a->out;                                                                   \
        const int64_t n = Q ? Q : x->qhi - x->qlo, hop = x->oq - x->oj * x->cq;            \
        const int64_t far = base + x->cq * (x->cq > 0 ? x->qhi - 1 : x->qlo);              \
        const int64_t near = base + x->cq * (x->cq > 0 ? x->qlo : x->qhi - 1);             \
        const int64_t first = base + x->cq * x->qlo, fq = x->fq, oj = x->oj;               \
        const int64_t start = at[0] + x->oq * x->qlo;                                      \
        OPEN_##SINK for (int64_t p = b; p < e; p++)                                        \
        {                                                                                  \
            const int64_t y = crd[p];                                                      \
            const T w = FN_MUL_##CLS(s, v[p]);                                             \
            const int64_t o = start + oj * (y - first);                                    \
            if (__builtin_expect(y - far >= x->jlo && y - near < x->jhi, 1)) {             \
                for (int64_t q = 0; q < n; q++)                                            \
                    ADD_##SINK(CLS, o + hop * q, f ? FN_MUL_##CLS(w, f[fq * q]) : w);      \
                continue;                                                                  \
            }                                                                              \
            if (y - near < x->jlo || y - far >= x->jhi) {                                  \
                if (x->lv->ordered && y - far >= x->jhi) break;                            \
                continue;                                                                  \
            }                                                                              \
            for (int64_t q = 0; q < n; q++) {                                              \
                const int64_t j = y - first - x->cq * q;                                   \
                if (j >= x->jlo && j < x->jhi)                                             \
                    ADD_##SINK(CLS, o + hop * q, f ? FN_MUL_##CLS(w, f[fq * q]) : w);      \
            }                                                                              \
        }                                                                                  \
        CLOSE_##SINK a->rounds += (e - b) * n;                                             \
    }                                                                                      \
                                                                                           \
    static void fiber_##CLS##_##I##_##SINK(affine *a, const int64_t *at, int64_t b,        \
                                           int64_t e)                                      \
    {                                                                                      \
        const affine_fiber *x = &a->leaf;                                                  \
        switch (x->qhi - x->qlo) {                                                         \
        case 1:                                                                            \
            run_##CLS##_##I##_##SINK(a, x, at, b, e, 1);                                   \
            break;                                                                         \
        case 2:                                                                            \
            run_##CLS##_##I##_##SINK(a, x, at, b, e, 2);                                   \
            break;                                                                         \
        case 3:                                                                            \
            run_##CLS##_##I##_##SINK(a, x, at, b, e, 3);                                   \
            break;                                                                         \
        case 5:                                                                            \
            run_##CLS##_##I##_##SINK(a, x, at, b, e, 5);                                   \
            break;                                                                         \
        default:                                                                           \
            run_##CLS##_##I##_##SINK(a, x, at, b, e, 0);                                   \
        }                                                                                  \
    }

/* One entry, over the indices that the operand doesn't have; the last of them in
 * a straight loop where result and factor are rows. */
#define ENTRY(CLS, T, SINK)                                                                \
    static void rest_##CLS##_##SINK(affine *a, const int64_t *at, int r, T w)              \
    {                                                                                      \
        T *out = a->out;                                                                   \
        if (r == a->nrest) {                                                               \
            OPEN_##SINK for (int k = 1; k < a->nload; k++) w =                             \
                FN_MUL_##CLS(w, ((const T *)a->vals[k])[at[k]]);                           \
            ADD_##SINK(CLS, at[0], w);                                                     \
            CLOSE_##SINK a->rounds++;                                                      \
            return;                                                                        \
        }                                                                                  \
        const int d = a->rest[r];                                                          \
        const int64_t n = a->hi[d] - a->lo[d], oj = a->line[0].coef[d];                    \
        if (r + 1 == a->nrest && a->nload == 2) {                                          \
            const int64_t fj = a->line[1].coef[d], o = at[0] + oj * a->lo[d];              \
            const T *f = (const T *)a->vals[1] + at[1] + fj * a->lo[d];                    \
            row_##CLS##_##SINK(a, out, o, oj, f, fj, w, n);                                \
            return;                                                                        \
        }                                                                                  \
        for (int64_t i = a->lo[d]; i < a->hi[d]; i++) {                                    \
            int64_t here[AFFINE_LOADS];                                                    \
            for (int k = 0; k < a->nload; k++)                                             \
                here[k] = at[k] + a->line[k].coef[d] * i;                                  \
            rest_##CLS##_##SINK(a, here, r + 1, w);                                        \
        }                                                                                  \
    }                                                                                      \
                                                                                           \
    static void entry_##CLS##_##SINK(affine *a, const int64_t *at, int64_t pos)            \
    {                                                                                      \
        rest_##CLS##_##SINK(                                                               \
            a, at, 0, FN_MUL_##CLS(*(const T *)&a->factor, ((const T *)a->vals[0])[pos])); \
    }

enum { ROWS_AHEAD = 64 };

#define ROWS(CLS, T, U)                                                                    \
    INLINE void add_row_##CLS(T *restrict out, const T *restrict f, T w, int64_t n)        \
    {                                                                                      \
        for (int64_t i = 0; i < n; i++)                                                    \
            out[i] = FN_ADD_##CLS(out[i], FN_MUL_##CLS(w, f[i]));                          \
    }                                                                                      \
    AVX2 static void wide_row_##CLS(T *out, const T *f, T w, int64_t n)                    \
    {                                                                                      \
        add_row_##CLS(out, f, w, n);                                                       \
    }                                                                                      \
    /* A fiber whose entries add rows to one row, which stays in registers. */             \
    INLINE void add_rows_##CLS(T *restrict out, const T *restrict f, const T *v, T s,      \
                               const int64_t *row, int n, int64_t width)                   \
    {                                                                                      \
        typedef U vec __attribute__((vector_size(32), aligned(sizeof(U)), may_alias));     \
        enum { LANES = 32 / sizeof(U), BLOCK = 4 * LANES };                                \
        int64_t i = 0;                                                                     \
        for (; i + BLOCK <= width; i += BLOCK) {                                           \
            vec *to = (vec *)(out + i);                                                    \
            vec s0 = to[0], s1 = to[1], s2 = to[2], s3 = to[3];                            \
            for (int e = 0; e < n; e++) {                                                  \
                const U w = (U)FN_MUL_##CLS(s, v[e]);                                      \
                const vec *x = (const vec *)(f + row[e] + i);                              \
                s0 += x[0] * w;                                                            \
                s1 += x[1] * w;                                                            \
                s2 += x[2] * w;                                                            \
                s3 += x[3] * w;                                                            \
            }                                                                              \
            to[0] = s0, to[1] = s1, to[2] = s2, to[3] = s3;                                \
        }                                                                                  \
        for (int e = 0; e < n && i < width; e++)                                           \
            add_row_##CLS(out + i, f + row[e] + i, FN_MUL_##CLS(s, v[e]), width - i);      \
    }                                                                                      \
    AVX2 static void wide_rows_##CLS(T *out, const T *f, const T *v, T s,                  \
                                     const int64_t *row, int n, int64_t width)             \
    {                                                                                      \
        add_rows_##CLS(out, f, v, s, row, n, width);                                       \
    }                                                                                      \
    static void rows_##CLS(affine *a, const int64_t *at, int64_t b, int64_t e)             \
    {                                                                                      \
        const affine_level *lv = &a->level[a->nlevel - 1];                                 \
        const int j = lv->solved, d = a->rest[0];                                          \
        const int64_t base = at[lv->line], fj = a->line[1].coef[j];                        \
        const int64_t width = a->hi[d] - a->lo[d];                                         \
        const T *v = a->vals[0], *f = (const T *)a->vals[1] + at[1] + a->lo[d];            \
        const T s = *(const T *)&a->factor;                                                \
        T *out = (T *)a->out + at[0] + a->lo[d];                                           \
        int64_t row[ROWS_AHEAD];                                                           \
        for (int64_t p = b; p < e;) {                                                      \
            const int64_t from = p;                                                        \
            int n = 0;                                                                     \
            for (; p < e && n < ROWS_AHEAD; p++) {                                         \
                const int64_t y = (lv->width == 4 ? ((const int32_t *)lv->crd)[p]          \
                                                  : ((const int64_t *)lv->crd)[p]) -       \
                                  base;                                                    \
                if (y < a->lo[j] || y >= a->hi[j]) break;                                  \
                row[n++] = fj * y;                                                         \
            }                                                                              \
            if (!n) {                                                                      \
                p++; /* outside the index's range */                                       \
                continue;                                                                  \
            }                                                                              \
            a->rounds += n * width;                                                        \
            if (SUPER_HAS_AVX2) {                                                          \
                wide_rows_##CLS(out, f, v + from, s, row, n, width);                       \
            } else {                                                                       \
                add_rows_##CLS(out, f, v + from, s, row, n, width);                        \
            }                                                                              \
        }                                                                                  \
    }                                                                                      \
    static void row_##CLS##_ACC(affine *a, T *out, int64_t o, int64_t oj, const T *f,      \
                                int64_t fj, T w, int64_t n)                                \
    {                                                                                      \
        a->rounds += n;                                                                    \
        if (oj == 1 && fj == 1) {                                                          \
            if (SUPER_HAS_AVX2) {                                                          \
                wide_row_##CLS(out + o, f, w, n);                                          \
            } else {                                                                       \
                add_row_##CLS(out + o, f, w, n);                                           \
            }                                                                              \
            return;                                                                        \
        }                                                                                  \
        for (int64_t i = 0; i < n; i++)                                                    \
            ADD_ACC(CLS, o + oj * i, FN_MUL_##CLS(w, f[fj * i]));                          \
    }                                                                                      \
    static void row_##CLS##_WS(affine *a, T *out, int64_t o, int64_t oj, const T *f,       \
                               int64_t fj, T w, int64_t n)                                 \
    {                                                                                      \
        OPEN_WS for (int64_t i = 0; i < n; i++)                                            \
            ADD_WS(CLS, o + oj * i, FN_MUL_##CLS(w, f[fj * i]));                           \
        CLOSE_WS a->rounds += n;                                                           \
    }

#define KERNELS(CLS, T, U)                                                                 \
    ROWS(CLS, T, U)                                                                        \
    FIBER(CLS, T, int32_t, ACC)                                                            \
    FIBER(CLS, T, int64_t, ACC)                                                            \
    FIBER(CLS, T, int32_t, WS)                                                             \
    FIBER(CLS, T, int64_t, WS)                                                             \
    ENTRY(CLS, T, ACC)                                                                     \
    ENTRY(CLS, T, WS)

KERNELS(F64, double, double)
KERNELS(F32, float, float)
KERNELS(I64, int64_t, uint64_t)

typedef void (*fiber_kernel)(affine *a, const int64_t *at, int64_t begin, int64_t end);
typedef void (*entry_kernel)(affine *a, const int64_t *at, int64_t pos);

#define ROW(CLS)                                                                           \
    {                                                                                      \
        CLASS_##CLS, rows_##CLS, {entry_##CLS##_ACC, entry_##CLS##_WS},                    \
        {                                                                                  \
            {fiber_##CLS##_int32_t_ACC, fiber_##CLS##_int32_t_WS},                         \
            {                                                                              \
                fiber_##CLS##_int64_t_ACC, fiber_##CLS##_int64_t_WS                        \
            }                                                                              \
        }                                                                                  \
    }
static const struct {
    uint8_t cls;
    fiber_kernel rows; /* of a result that the fiber's index doesn't move */
    entry_kernel entry[2];
    fiber_kernel fiber[2][2]; /* by width of coordinates, and sink */
} kernels[] = {ROW(F64), ROW(F32), ROW(I64)};

void affine_choose(affine *a)
{
    const affine_level *lv = &a->level[a->nlevel - 1];
    const int ws = a->sink.kind == SINK_WSADD;
    const bool simple = lv->walked && lv->solved >= 0 && lv->stride == lv->width &&
                        a->line[lv->line].coef[lv->solved] == 1;
    a->entry = NULL;
    a->fiber = NULL;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        if (kernels[k].cls != a->cls) continue;
        a->entry = kernels[k].entry[ws];
        const bool one = a->nload == 1 || (a->nload == 2 && lv->solved >= 0 &&
                                           a->line[1].coef[lv->solved] == 0);
        if (simple && lv->ntried <= 1 && !a->nrest && one)
            a->fiber = kernels[k].fiber[lv->width == 8][ws], a->leaf = fiber_of(a);
        if (simple && !lv->ntried && a->nrest == 1 && a->nload == 2 && !ws &&
            a->line[0].coef[lv->solved] == 0 && a->line[0].coef[a->rest[0]] == 1 &&
            a->line[1].coef[a->rest[0]] == 1)
            a->fiber = kernels[k].rows;
    }
}
