/* affine_rows.c: rows of a dense result as sums of rows of a dense factor, each times an
 * entry's value: the innermost part of a nest that is gathered (affine_gather.c).
 *
 * Takes rows of the result, and for each the stretches of entries that lead into it; these
 * are copied one behind the other first, whole chunks at a time. How long each of them is
 * can't be foreseen, and to mispredict it costs as much as three or four rows of the
 * factor; this way only the number of all is. Rows of few entries are written as one
 * expression, those of more are kept in registers, a part of the row after the other.
 */
#include "affine_gather.h"
#include "super.h"

#define NOINLINE __attribute__((noinline))

enum { PAIRS = 512, FEW = 4 };

typedef uint32_t places
    __attribute__((vector_size(4 * GATHER_CHUNK), aligned(4), may_alias));

#define ROWS(CLS, T, U)                                                                    \
    typedef U vec_##CLS __attribute__((vector_size(32), aligned(sizeof(U)), may_alias));   \
    enum { LANES_##CLS = 32 / sizeof(T) };                                                 \
    /* Entries: where their rows of the factor are, and their values. */                   \
    typedef struct pairs_##CLS {                                                           \
        uint32_t at[PAIRS + GATHER_CHUNK];                                                 \
        T value[PAIRS + GATHER_CHUNK];                                                     \
    } pairs_##CLS;                                                                         \
    /* Entries p … p+count-1 from the n-th pair on; what is beyond them is unset. */     \
    INLINE void copy_##CLS(const gather *g, int64_t p, int64_t count, uint32_t at,         \
                           pairs_##CLS *x, int64_t n)                                      \
    {                                                                                      \
        const T *restrict v = (const T *)g->weight + p;                                    \
        const uint32_t *restrict offset = g->offset + p;                                   \
        uint32_t *restrict to = x->at + n;                                                 \
        T *restrict w = x->value + n;                                                      \
        int64_t k = 0;                                                                     \
        do { /* even of none: which it is can't be foreseen */                             \
            *(places *)(to + k) = *(const places *)(offset + k) + at;                      \
            for (int j = 0; j < GATHER_CHUNK; j += LANES_##CLS)                            \
                *(vec_##CLS *)(w + k + j) = *(const vec_##CLS *)(v + k + j);               \
            k += GATHER_CHUNK;                                                             \
            __asm__("" : "+r"(k)); /* or the compiler counts the rounds first */           \
        } while (k < count);                                                               \
    }                                                                                      \
    /* The pairs of row x: how many. */                                                    \
    INLINE int pairs_of_##CLS(const affine *a, const gather_rows *r, int64_t x,            \
                              pairs_##CLS *out)                                            \
    {                                                                                      \
        const int64_t z = r->step * x, at = r->at + r->factor_step * x;                    \
        const gather_input *end = r->in + r->inputs;                                       \
        int64_t n = 0;                                                                     \
        for (const gather_input *k = r->in; k < end; k++) {                                \
            const int64_t p = k->begin[z], count = k->end[z] - p;                          \
            copy_##CLS(a->gather, p, count, (uint32_t)(k->at + at), out, n);               \
            n += count;                                                                    \
        }                                                                                  \
        return (int)n;                                                                     \
    }                                                                                      \
    /* N vectors of a row of PAIRS pairs that begins with the fill. */                     \
    INLINE void part_##CLS(T *restrict out, const T *f, const pairs_##CLS *x, T fill,      \
                           int n, int N)                                                   \
    {                                                                                      \
        for (int j = 0; j < N; j++) {                                                      \
            vec_##CLS sum = (U)fill - (vec_##CLS){0};                                      \
            for (int k = 0; k < n; k++)                                                    \
                sum += ((const vec_##CLS *)(f + x->at[k]))[j] * (U)x->value[k];            \
            ((vec_##CLS *)out)[j] = sum;                                                   \
        }                                                                                  \
    }                                                                                      \
    INLINE void few_##CLS(T *restrict out, const T *f, const pairs_##CLS *x, T fill,       \
                          int64_t width, int n)                                            \
    {                                                                                      \
        enum { LANES = LANES_##CLS };                                                      \
        int64_t j = 0;                                                                     \
        for (; j + 4 * LANES <= width; j += 4 * LANES)                                     \
            part_##CLS(out + j, f + j, x, fill, n, 4);                                     \
        for (; j + LANES <= width; j += LANES)                                             \
            part_##CLS(out + j, f + j, x, fill, n, 1);                                     \
        for (; j < width; j++) {                                                           \
            T sum = fill;                                                                  \
            for (int k = 0; k < n; k++)                                                    \
                sum = FN_ADD_##CLS(sum, FN_MUL_##CLS(x->value[k], f[x->at[k] + j]));       \
            out[j] = sum;                                                                  \
        }                                                                                  \
    }                                                                                      \
    /* N vectors of a row from `out` on, all of them in registers. */                      \
    INLINE void block_##CLS(T *restrict out, const T *f, const pairs_##CLS *x, int n,      \
                            T fill, bool fresh, int N)                                     \
    {                                                                                      \
        vec_##CLS sum[8];                                                                  \
        if (fresh)                                                                         \
            for (int k = 0; k < N; k++)                                                    \
                sum[k] = (U)fill - (vec_##CLS){0};                                         \
        else                                                                               \
            for (int k = 0; k < N; k++)                                                    \
                sum[k] = ((const vec_##CLS *)out)[k];                                      \
        for (int i = 0; i < n; i++) {                                                      \
            const vec_##CLS *row = (const vec_##CLS *)(f + x->at[i]);                      \
            __asm__("" : "+r"(row)); /* one register: the compiler's way spills others */  \
            for (int k = 0; k < N; k++)                                                    \
                sum[k] += row[k] * (U)x->value[i];                                         \
        }                                                                                  \
        for (int k = 0; k < N; k++)                                                        \
            ((vec_##CLS *)out)[k] = sum[k];                                                \
    }                                                                                      \
    INLINE void many_##CLS(T *restrict out, const T *f, const pairs_##CLS *x, int n,       \
                           T fill, int64_t width, bool fresh)                              \
    {                                                                                      \
        enum { LANES = LANES_##CLS };                                                      \
        int64_t j = 0;                                                                     \
        for (; j + 8 * LANES <= width; j += 8 * LANES)                                     \
            block_##CLS(out + j, f + j, x, n, fill, fresh, 8);                             \
        for (; j + 2 * LANES <= width; j += 2 * LANES)                                     \
            block_##CLS(out + j, f + j, x, n, fill, fresh, 2);                             \
        for (; j < width; j++) {                                                           \
            T sum = fresh ? fill : out[j];                                                 \
            for (int i = 0; i < n; i++)                                                    \
                sum = FN_ADD_##CLS(sum, FN_MUL_##CLS(x->value[i], f[x->at[i] + j]));       \
            out[j] = sum;                                                                  \
        }                                                                                  \
    }                                                                                      \
    INLINE void sum_##CLS(T *out, const T *f, const pairs_##CLS *x, int n, T fill,         \
                          int64_t width, bool fresh)                                       \
    {                                                                                      \
        switch (fresh ? n : 0) {                                                           \
        case 1:                                                                            \
            few_##CLS(out, f, x, fill, width, 1);                                          \
            break;                                                                         \
        case 2:                                                                            \
            few_##CLS(out, f, x, fill, width, 2);                                          \
            break;                                                                         \
        case 3:                                                                            \
            few_##CLS(out, f, x, fill, width, 3);                                          \
            break;                                                                         \
        case FEW:                                                                          \
            few_##CLS(out, f, x, fill, width, FEW);                                        \
            break;                                                                         \
        default:                                                                           \
            many_##CLS(out, f, x, n, fill, width, fresh);                                  \
        }                                                                                  \
    }                                                                                      \
    /* Row x that has more pairs than there is room for. */                                \
    INLINE void long_##CLS(const affine *a, const gather_rows *r, int64_t x,               \
                           pairs_##CLS *buffer)                                            \
    {                                                                                      \
        const T fill = *(const T *)&a->room.tensor->fill;                                  \
        const T *f = (const T *)a->vals[1] + a->lo[a->rest[0]];                            \
        const int64_t z = r->step * x, at = r->at + r->factor_step * x;                    \
        T *out = (T *)a->out + r->to + r->by * x;                                          \
        bool fresh = r->fresh;                                                             \
        for (int k = 0; k < r->inputs; k++) {                                              \
            const gather_input *in = &r->in[k];                                            \
            const uint32_t more = (uint32_t)(in->at + at);                                 \
            int64_t p = in->begin[z];                                                      \
            for (int64_t n; p < in->end[z]; p += n, fresh = false) {                       \
                n = in->end[z] - p < PAIRS ? in->end[z] - p : PAIRS;                       \
                copy_##CLS(a->gather, p, n, more, buffer, 0);                              \
                many_##CLS(out, f, buffer, (int)n, fill, r->width, fresh);                 \
            }                                                                              \
        }                                                                                  \
    }                                                                                      \
    INLINE void row_##CLS(const affine *a, const gather_rows *r, int64_t x, int n,         \
                          pairs_##CLS *pairs)                                              \
    {                                                                                      \
        const T fill = *(const T *)&a->room.tensor->fill;                                  \
        const T *f = (const T *)a->vals[1] + a->lo[a->rest[0]];                            \
        T *out = (T *)a->out + r->to + r->by * x;                                          \
        sum_##CLS(out, f, pairs, n, fill, r->width, r->fresh);                             \
    }                                                                                      \
    static void weigh_##CLS(const affine *a)                                               \
    {                                                                                      \
        const T s = *(const T *)&a->factor, *restrict v = a->vals[0];                      \
        T *restrict w = a->gather->weight;                                                 \
        for (int64_t p = 0; p < a->gather->entries; p++)                                   \
            w[p] = FN_MUL_##CLS(s, v[p]);                                                  \
    }                                                                                      \
    /* Functions of their own: in one there aren't enough registers. */                    \
    AVX2 static NOINLINE int wide_pairs_##CLS(const affine *a, const gather_rows *r,       \
                                              int64_t x, pairs_##CLS *out)                 \
    {                                                                                      \
        return pairs_of_##CLS(a, r, x, out);                                               \
    }                                                                                      \
    static NOINLINE int plain_pairs_##CLS(const affine *a, const gather_rows *r,           \
                                          int64_t x, pairs_##CLS *out)                     \
    {                                                                                      \
        return pairs_of_##CLS(a, r, x, out);                                               \
    }                                                                                      \
    AVX2 static void wide_##CLS(const affine *a, const gather_rows *r)                     \
    {                                                                                      \
        pairs_##CLS pairs;                                                                 \
        for (int i = 0; i < r->n; i++) {                                                   \
            const int64_t x = r->x[i];                                                     \
            if (r->count[x] > PAIRS)                                                       \
                long_##CLS(a, r, x, &pairs);                                               \
            else                                                                           \
                row_##CLS(a, r, x, wide_pairs_##CLS(a, r, x, &pairs), &pairs);             \
        }                                                                                  \
    }                                                                                      \
    static void plain_##CLS(const affine *a, const gather_rows *r)                         \
    {                                                                                      \
        pairs_##CLS pairs;                                                                 \
        for (int i = 0; i < r->n; i++) {                                                   \
            const int64_t x = r->x[i];                                                     \
            if (r->count[x] > PAIRS)                                                       \
                long_##CLS(a, r, x, &pairs);                                               \
            else                                                                           \
                row_##CLS(a, r, x, plain_pairs_##CLS(a, r, x, &pairs), &pairs);            \
        }                                                                                  \
    }
ROWS(F64, double, double)
ROWS(F32, float, float)
ROWS(I64, int64_t, uint64_t)

gather_adder *gather_adder_of(const machine *mc, vclass cls)
{
    const bool wide = super_avx2(mc);
    if (cls == CLASS_F64) return wide ? wide_F64 : plain_F64;
    if (cls == CLASS_F32) return wide ? wide_F32 : plain_F32;
    return wide ? wide_I64 : plain_I64;
}

void gather_weigh(const affine *a)
{
    if (a->cls == CLASS_F64)
        weigh_F64(a);
    else if (a->cls == CLASS_F32)
        weigh_F32(a);
    else
        weigh_I64(a);
}
