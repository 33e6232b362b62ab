/* arrays_ref.c: the C loops that the rows of arrays.c are held against: what a
 * sparse compiler would emit for these functions, one thread. Sparse results are
 * appended to s->out, and their entries counted.
 */
#include "arrays.h"
#include <math.h>
#include <stdlib.h>

/* ---- functions of two operands, fused ones of three ------------------------------- */

/* Merges rows of A and B; KEEP_A … tell which entries make one. */
#define MERGE(s, KEEP_A, KEEP_B, BOTH, A_ONLY, B_ONLY)                                     \
    do {                                                                                   \
        const csr *a = &(s)->a, *b = &(s)->b;                                              \
        csr *c = &(s)->out.m;                                                              \
        int32_t n = 0;                                                                     \
        for (int64_t i = 0; i < a->rows; i++) {                                            \
            int32_t p = a->pos[i], q = b->pos[i];                                          \
            const int32_t pe = a->pos[i + 1], qe = b->pos[i + 1];                          \
            while (p < pe || q < qe) {                                                     \
                const int32_t j = p < pe ? a->crd[p] : INT32_MAX;                          \
                const int32_t k = q < qe ? b->crd[q] : INT32_MAX;                          \
                if (j == k) {                                                              \
                    c->crd[n] = j;                                                         \
                    c->val[n++] = (BOTH);                                                  \
                } else if (j < k) {                                                        \
                    c->crd[n] = j;                                                         \
                    c->val[n] = (A_ONLY);                                                  \
                    n += (KEEP_A);                                                         \
                } else {                                                                   \
                    c->crd[n] = k;                                                         \
                    c->val[n] = (B_ONLY);                                                  \
                    n += (KEEP_B);                                                         \
                }                                                                          \
                p += j <= k;                                                               \
                q += k <= j;                                                               \
            }                                                                              \
            c->pos[i + 1] = n;                                                             \
        }                                                                                  \
        (s)->stored = n;                                                                   \
    } while (0)

void arrays_xor(array_data *s)
{
    MERGE(s, 1, 1, (a->val[p] != 0) ^ (b->val[q] != 0), a->val[p] != 0, b->val[q] != 0);
}

void arrays_ldexp(array_data *s)
{
    MERGE(s, 1, 1, ldexp(a->val[p], (int)s->ib[q]), a->val[p], 0);
}

void arrays_shift(array_data *s)
{
    MERGE(s, 1, 0, (double)(s->ia[p] >> s->ib[q]), (double)s->ia[p], 0);
}

void arrays_power(array_data *s)
{
    MERGE(s, 1, 1, pow(a->val[p], b->val[q]), 1, 0);
}

/* D's entries, with whether A and B have one there. */
void arrays_and_xor(array_data *s)
{
    int32_t n = 0;
    for (int64_t i = 0; i < s->d.rows; i++) {
        int32_t p = s->a.pos[i], q = s->b.pos[i];
        for (int32_t e = s->d.pos[i]; e < s->d.pos[i + 1]; e++) {
            const int32_t j = s->d.crd[e];
            while (p < s->a.pos[i + 1] && s->a.crd[p] < j)
                p++;
            while (q < s->b.pos[i + 1] && s->b.crd[q] < j)
                q++;
            const bool in_a = p < s->a.pos[i + 1] && s->a.crd[p] == j;
            const bool in_b = q < s->b.pos[i + 1] && s->b.crd[q] == j;
            if (!in_a && !in_b) continue;
            s->out.m.crd[n] = j;
            s->out.m.val[n++] = s->d.val[e] != 0 &&
                                ((in_a && s->a.val[p] != 0) ^ (in_b && s->b.val[q] != 0));
        }
    }
    s->stored = n;
}

/* The union of three; VALUE is made of the truth values x, y, z. */
#define MERGE3(s, VALUE)                                                                   \
    do {                                                                                   \
        const csr *a = &(s)->a, *b = &(s)->b, *d = &(s)->d;                                \
        csr *c = &(s)->out.m;                                                              \
        int32_t n = 0;                                                                     \
        for (int64_t i = 0; i < a->rows; i++) {                                            \
            int32_t p = a->pos[i], q = b->pos[i], r = d->pos[i];                           \
            const int32_t pe = a->pos[i + 1], qe = b->pos[i + 1], re = d->pos[i + 1];      \
            while (p < pe || q < qe || r < re) {                                           \
                const int32_t j = p < pe ? a->crd[p] : INT32_MAX;                          \
                const int32_t k = q < qe ? b->crd[q] : INT32_MAX;                          \
                const int32_t l = r < re ? d->crd[r] : INT32_MAX;                          \
                const int32_t least = j < k ? (j < l ? j : l) : (k < l ? k : l);           \
                const bool x = j == least && a->val[p] != 0;                               \
                const bool y = k == least && b->val[q] != 0;                               \
                const bool z = l == least && d->val[r] != 0;                               \
                c->crd[n] = least;                                                         \
                c->val[n++] = (VALUE);                                                     \
                p += j == least;                                                           \
                q += k == least;                                                           \
                r += l == least;                                                           \
            }                                                                              \
            c->pos[i + 1] = n;                                                             \
        }                                                                                  \
        (s)->stored = n;                                                                   \
    } while (0)

void arrays_or_xor(array_data *s)
{
    MERGE3(s, (x || y) ^ z);
}

void arrays_xor_xor(array_data *s)
{
    MERGE3(s, x ^ y ^ z);
}

/* ---- semirings ---------------------------------------------------------------------- */

void arrays_masked(array_data *s)
{
    for (int64_t i = 0; i < s->a.rows; i++) {
        bool any = false;
        for (int32_t p = s->a.pos[i]; !s->mask[i] && p < s->a.pos[i + 1]; p++)
            any |= s->a.val[p] != 0 && s->x[s->a.crd[p]] != 0;
        s->y[i] = any;
    }
}

void arrays_tropical(array_data *s)
{
    for (int64_t i = 0; i < s->a.rows; i++) {
        double best = INFINITY;
        for (int32_t p = s->a.pos[i]; p < s->a.pos[i + 1]; p++) {
            const double v = s->a.val[p] + s->x[s->a.crd[p]];
            best = v < best ? v : best;
        }
        s->y[i] = best;
    }
}

static int by_column(const void *x, const void *y)
{
    const int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
    return (a > b) - (a < b);
}

/* D times A, a row at a time into s->y; FIRST and NEXT of the product v. */
#define MXM(s, PRODUCT, FIRST, NEXT)                                                       \
    do {                                                                                   \
        const csr *d = &(s)->d, *a = &(s)->a;                                              \
        csr *c = &(s)->out.m;                                                              \
        int32_t n = 0;                                                                     \
        for (int64_t i = 0; i < a->rows; i++)                                              \
            (s)->mark[i] = -1;                                                             \
        for (int32_t i = 0; i < (int32_t)d->rows; i++) {                                   \
            const int32_t first = n;                                                       \
            for (int32_t p = d->pos[i]; p < d->pos[i + 1]; p++) {                          \
                const int32_t k = d->crd[p];                                               \
                for (int32_t q = a->pos[k]; q < a->pos[k + 1]; q++) {                      \
                    const int32_t j = a->crd[q];                                           \
                    const double v = (PRODUCT);                                            \
                    if ((s)->mark[j] != i) {                                               \
                        (s)->mark[j] = i;                                                  \
                        c->crd[n++] = j;                                                   \
                        (s)->y[j] = (FIRST);                                               \
                    } else {                                                               \
                        (s)->y[j] = (NEXT);                                                \
                    }                                                                      \
                }                                                                          \
            }                                                                              \
            qsort(c->crd + first, (size_t)(n - first), sizeof *c->crd, by_column);         \
            for (int32_t e = first; e < n; e++)                                            \
                c->val[e] = (s)->y[c->crd[e]];                                             \
            c->pos[i + 1] = n;                                                             \
        }                                                                                  \
        (s)->stored = n;                                                                   \
    } while (0)

void arrays_bool_mxm(array_data *s)
{
    MXM(s, d->val[p] != 0 && a->val[q] != 0, v, s->y[j] != 0 || v != 0);
}

void arrays_tropical_mxm(array_data *s)
{
    MXM(s, d->val[p] + a->val[q], v, v < s->y[j] ? v : s->y[j]);
}

/* ---- slices -------------------------------------------------------------------------- */

/* The first entry of row i from coordinate lo on. */
static int32_t seek(const csr *a, int64_t i, int32_t lo)
{
    int32_t p = a->pos[i], e = a->pos[i + 1];
    while (p < e) {
        const int32_t mid = p + (e - p) / 2;
        if (a->crd[mid] < lo)
            p = mid + 1;
        else
            e = mid;
    }
    return p;
}

/* The next coordinate of the slice at or after p, INT32_MAX past its end. */
static inline int32_t slice_at(const csr *a, int32_t *p, int32_t end, int32_t hi,
                               int32_t lo, int32_t step)
{
    for (; *p < end && a->crd[*p] < hi; (*p)++) {
        const int32_t j = a->crd[*p] - lo;
        if (step == 1) return j;
        if (j % step == 0) return j / step;
    }
    return INT32_MAX;
}

/* A + B over i in rows lo … hi and columns from … to of a step each. */
static inline void sum_of_slices(array_data *s, int32_t lo, int32_t hi, int32_t from,
                                 int32_t to, int32_t step)
{
    const csr *a = &s->a, *b = &s->b;
    csr *c = &s->out.m;
    int32_t n = 0, row = 0;
    for (int32_t i = lo; i < hi; i += step) {
        int32_t p = seek(a, i, from), q = seek(b, i, from);
        const int32_t pe = a->pos[i + 1], qe = b->pos[i + 1];
        int32_t j = slice_at(a, &p, pe, to, from, step);
        int32_t k = slice_at(b, &q, qe, to, from, step);
        while (j != INT32_MAX || k != INT32_MAX) {
            c->crd[n] = j < k ? j : k;
            c->val[n++] = (j <= k ? a->val[p] : 0) + (k <= j ? b->val[q] : 0);
            const bool next_a = j <= k, next_b = k <= j;
            if (next_a) p++, j = slice_at(a, &p, pe, to, from, step);
            if (next_b) q++, k = slice_at(b, &q, qe, to, from, step);
        }
        c->pos[++row] = n;
    }
    s->stored = n;
}

void arrays_slice_500(array_data *s)
{
    sum_of_slices(s, 0, 500, 0, 500, 1);
}

void arrays_slice_quarter(array_data *s)
{
    sum_of_slices(s, 25000, 50000, 25000, 50000, 1);
}

void arrays_slice_inner(array_data *s)
{
    sum_of_slices(s, 1, ARRAYS_ROWS - 1, 0, ARRAYS_ROWS, 1);
}

void arrays_stride_2(array_data *s)
{
    sum_of_slices(s, 0, ARRAYS_ROWS, 0, ARRAYS_ROWS, 2);
}

void arrays_stride_4(array_data *s)
{
    sum_of_slices(s, 0, ARRAYS_ROWS, 0, ARRAYS_ROWS, 4);
}

void arrays_stride_8(array_data *s)
{
    sum_of_slices(s, 0, ARRAYS_ROWS, 0, ARRAYS_ROWS, 8);
}

/* ---- images ------------------------------------------------------------------------- */

/* The region's entries where one of the pictures has one, too. */
void arrays_edges(array_data *s)
{
    const bits *f = &s->image[0], *g = &s->image[1], *r = &s->image[2];
    int32_t n = 0;
    for (int64_t i = 0; i < r->rows; i++) {
        int32_t p = f->pos[i], q = g->pos[i];
        const int32_t pe = f->pos[i + 1], qe = g->pos[i + 1];
        for (int32_t e = r->pos[i]; e < r->pos[i + 1] && (p < pe || q < qe); e++) {
            const int32_t j = r->crd[e];
            while (p < pe && f->crd[p] < j)
                p++;
            while (q < qe && g->crd[q] < j)
                q++;
            const bool in_f = p < pe && f->crd[p] == j, in_g = q < qe && g->crd[q] == j;
            if (!in_f && !in_g) continue;
            s->out.m.crd[n] = j;
            s->out.m.val[n++] = ((in_f && f->val[p]) ^ (in_g && g->val[q])) && r->val[e];
        }
    }
    s->stored = n;
}

/* ---- minimax: where nothing is stored is 0 ------------------------------------------ */

/* max over rows of the min over columns. */
void arrays_minimax(array_data *s)
{
    double best = -INFINITY;
    for (int64_t i = 0; i < s->a.rows; i++) {
        double low = INFINITY;
        for (int32_t p = s->a.pos[i]; p < s->a.pos[i + 1]; p++)
            low = s->a.val[p] < low ? s->a.val[p] : low;
        if (s->a.pos[i + 1] - s->a.pos[i] < s->a.cols && low > 0) low = 0;
        best = low > best ? low : best;
    }
    s->y[0] = best;
}

#define BEST(l, v, best)                                                                   \
    ((l) % 2 == 0 ? ((v) > (best) ? (v) : (best)) : ((v) < (best) ? (v) : (best)))

/* Entries from … to of level l; levels alternate, the first takes the largest. */
#define FIBER(l, VALUE)                                                                    \
    static inline double fiber_##l(const tree *t, int order, int64_t from, int64_t to)     \
    {                                                                                      \
        double best = l % 2 == 0 ? -INFINITY : INFINITY;                                   \
        if (l + 1 == order) {                                                              \
            for (int64_t p = from; p < to; p++)                                            \
                best = BEST(l, t->val[p], best);                                           \
        } else {                                                                           \
            for (int64_t p = from; p < to; p++) {                                          \
                const double v = (VALUE);                                                  \
                best = BEST(l, v, best);                                                   \
            }                                                                              \
        }                                                                                  \
        return to - from < t->extent ? BEST(l, 0.0, best) : best;                          \
    }
#define BELOW(l) fiber_##l(t, order, t->pos[l][p], t->pos[l][p + 1])
FIBER(6, 0)
FIBER(5, BELOW(6))
FIBER(4, BELOW(5))
FIBER(3, BELOW(4))
FIBER(2, BELOW(3))
FIBER(1, BELOW(2))
FIBER(0, BELOW(1))

void arrays_minimax_3(array_data *s)
{
    s->y[0] = fiber_0(&s->tree[0], 3, s->tree[0].pos[0][0], s->tree[0].pos[0][1]);
}

void arrays_minimax_5(array_data *s)
{
    s->y[0] = fiber_0(&s->tree[1], 5, s->tree[1].pos[0][0], s->tree[1].pos[0][1]);
}

void arrays_minimax_7(array_data *s)
{
    s->y[0] = fiber_0(&s->tree[2], 7, s->tree[2].pos[0][0], s->tree[2].pos[0][1]);
}
