/* fn_fold.c: the built-in functions of two as folds over runs of elements, each run
 * into an element of its own.
 *
 * Expands fn_ops.def once more. Columnar reductions (cascade_fold.c) spend their
 * time here: what a run is folded into stays in a register, and elements are taken
 * in their order, so that sums of floats are those of the base operations.
 */
#include "functions.h"
#include <tgmath.h>
#include "fn_math.h"

#define CLASS(NAME, name, ctype) typedef ctype ct_##NAME;
#include "../../formats/base/types.def"

/* Runs are short: the counting would cost as much as what is counted. */
#if defined(__clang__)
#define UNROLLED
#else
#define UNROLLED _Pragma("GCC unroll 4")
#endif

#define IMPL1(...)
#define IMPL3(...)
#define OTHER2(...)
#define IMPL2(N, K, R, A, B, e)                                                            \
    static inline ct_##K run_##N##_##K(const ct_##K *from, int k, int last, ct_##K x)      \
    {                                                                                      \
        UNROLLED                                                                           \
        for (; k < last; k++) {                                                            \
            const ct_##K y = from[k];                                                      \
            x = (ct_##K)(e);                                                               \
        }                                                                                  \
        return x;                                                                          \
    }                                                                                      \
    static void fold_##N##_##K(void *out, const void *elements, const int *lane,           \
                               const int *end, const uint16_t *order, int runs)            \
    {                                                                                      \
        ct_##K *to = out;                                                                  \
        for (int j = 0; order && j < runs; j++) {                                          \
            const int r = order[j];                                                        \
            to[lane[r]] =                                                                  \
                run_##N##_##K(elements, r ? end[r - 1] : 0, end[r], to[lane[r]]);          \
        }                                                                                  \
        for (int r = 0, k = 0; !order && r < runs; k = end[r++])                           \
            to[lane[r]] = run_##N##_##K(elements, k, end[r], to[lane[r]]);                 \
    }
#include "fn_ops.def"

/* Of functions from a class to itself that can't fault. */
static const fn_fold table[FN_COUNT][CLASS_COUNT] = {
#define IMPL1(...)
#define IMPL3(...)
#define OTHER2(...)
#define IMPL2(N, K, R, A, B, e) [FN_##N][CLASS_##K] = fold_##N##_##K,
#include "fn_ops.def"
};

fn_fold fn_fold_of(int id, vclass cls)
{
    return table[id][cls];
}
