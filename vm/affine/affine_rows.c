/* affine_rows.c: rows of a dense result as sums of rows of a dense factor, each times an
 * entry's value: the innermost part of a nest that is gathered (affine_gather.c).
 *
 * Takes rows of the result, and for each the stretch of pairs that lead into it
 * (affine_merge.c). A part of the row after the other is kept in registers. (Variants for
 * one to four pairs are slower: how many there are can't be foreseen, and choosing costs
 * more than what a loop adds.)
 */
#include "affine_gather.h"
#include "../super/super.h"

#define ROWS(CLS, T, U)                                                                    \
    typedef U vec_##CLS __attribute__((vector_size(32), aligned(sizeof(U)), may_alias));   \
    enum { LANES_##CLS = 32 / sizeof(T) };                                                 \
    /* Pairs: where their rows of the factor are, and their values. */                     \
    typedef struct pairs_##CLS {                                                           \
        const T *f; /* the factor's row 0 */                                               \
        const uint32_t *at;                                                                \
        uint32_t more; /* than `at` */                                                     \
        const T *value;                                                                    \
        int n;                                                                             \
    } pairs_##CLS;                                                                         \
    INLINE const T *factor_##CLS(const pairs_##CLS *x, int k)                              \
    {                                                                                      \
        return x->f + (uint32_t)(x->at[k] + x->more);                                      \
    }                                                                                      \
    /* N vectors of a row from the j-th element on, all of them in registers. */           \
    INLINE void block_##CLS(T *restrict to, const pairs_##CLS *x, T fill, bool fresh,      \
                            int64_t j, int N)                                              \
    {                                                                                      \
        T *restrict out = to + j;                                                          \
        vec_##CLS sum[8];                                                                  \
        if (fresh)                                                                         \
            for (int k = 0; k < N; k++)                                                    \
                sum[k] = (U)fill - (vec_##CLS){0};                                         \
        else                                                                               \
            for (int k = 0; k < N; k++)                                                    \
                sum[k] = ((const vec_##CLS *)out)[k];                                      \
        for (int i = 0; i < x->n; i++) {                                                   \
            const vec_##CLS *row = (const vec_##CLS *)(factor_##CLS(x, i) + j);            \
            __asm__("" : "+r"(row)); /* one register: the compiler's way spills others */  \
            for (int k = 0; k < N; k++)                                                    \
                sum[k] += row[k] * (U)x->value[i];                                         \
        }                                                                                  \
        for (int k = 0; k < N; k++)                                                        \
            ((vec_##CLS *)out)[k] = sum[k];                                                \
    }                                                                                      \
    INLINE void sum_##CLS(T *restrict out, const pairs_##CLS *x, T fill, int64_t width,    \
                          bool fresh)                                                      \
    {                                                                                      \
        enum { LANES = LANES_##CLS };                                                      \
        int64_t j = 0;                                                                     \
        for (; j + 8 * LANES <= width; j += 8 * LANES)                                     \
            block_##CLS(out, x, fill, fresh, j, 8);                                        \
        for (; j + 2 * LANES <= width; j += 2 * LANES)                                     \
            block_##CLS(out, x, fill, fresh, j, 2);                                        \
        for (; j < width; j++) {                                                           \
            T sum = fresh ? fill : out[j];                                                 \
            for (int i = 0; i < x->n; i++)                                                 \
                sum = FN_ADD_##CLS(sum, FN_MUL_##CLS(x->value[i], factor_##CLS(x, i)[j])); \
            out[j] = sum;                                                                  \
        }                                                                                  \
    }                                                                                      \
    /* The row at `out` that has more pairs than there is room for. */                     \
    INLINE void long_##CLS(const affine *a, const gather_rows *r, T *out, pairs_##CLS x,   \
                           T fill)                                                         \
    {                                                                                      \
        bool fresh = r->fresh;                                                             \
        for (int k = 0; k < r->stretches; k++)                                             \
            for (gather_stretch s = r->stretch[k]; s.count;                                \
                 s.first += x.n, fresh = false) {                                          \
                x.n = (int)(s.count < GATHER_PAIRS ? s.count : GATHER_PAIRS);              \
                a->gather->join(a->gather, &(gather_stretch){s.first, x.n, s.at}, 1);      \
                sum_##CLS(out, &x, fill, r->width, fresh);                                 \
                s.count -= x.n;                                                            \
            }                                                                              \
    }                                                                                      \
    INLINE void rows_##CLS(const affine *a, const gather_rows *r)                          \
    {                                                                                      \
        const T fill = *(const T *)&a->room.tensor->fill;                                  \
        const gather_block *b = &a->gather->block;                                         \
        const T *v = (const T *)b->value;                                                  \
        pairs_##CLS x = {.f = (const T *)a->vals[1] + a->lo[a->rest[0]]};                  \
        for (int i = 0; i < r->n; i++) {                                                   \
            const int64_t k = r->x[i], begin = b->begin[r->step * k];                      \
            T *out = (T *)a->out + r->to + r->by * k + r->next * i;                        \
            x.more = (uint32_t)(r->at + r->factor_step * k);                               \
            x.n = r->count[k];                                                             \
            x.at = b->at + begin;                                                          \
            x.value = v + begin;                                                           \
            if (r->stretch)                                                                \
                long_##CLS(a, r, out, x, fill);                                            \
            else                                                                           \
                sum_##CLS(out, &x, fill, r->width, r->fresh);                              \
        }                                                                                  \
    }                                                                                      \
    static void weigh_##CLS(const affine *a)                                               \
    {                                                                                      \
        const T s = *(const T *)&a->factor, *restrict v = a->vals[0];                      \
        T *restrict w = a->gather->weight;                                                 \
        for (int64_t p = 0; p < a->gather->entries; p++)                                   \
            w[p] = FN_MUL_##CLS(s, v[p]);                                                  \
    }                                                                                      \
    WIDE static void wide_##CLS(const affine *a, const gather_rows *r)                     \
    {                                                                                      \
        rows_##CLS(a, r);                                                                  \
    }                                                                                      \
    static void plain_##CLS(const affine *a, const gather_rows *r)                         \
    {                                                                                      \
        rows_##CLS(a, r);                                                                  \
    }
ROWS(F64, double, double)
ROWS(F32, float, float)
ROWS(I64, int64_t, uint64_t)

gather_adder *gather_adder_of(const machine *mc, vclass cls)
{
    const bool wide = super_wide(mc);
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
