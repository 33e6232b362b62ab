/* strip_into.c: a strip's values folded into elements of a result anywhere in memory, by
 * one function, in the type that they are stored in.
 *
 * Elements come in their order, and what is folded goes through the type each time, as
 * base operations do it. The functions are those that results are summed up with; others
 * go value by value (cascade_sink.c).
 */
#include "strip.h"
#include "../fn/fn_inline.h"

/* An element as a number, and as it is stored: any byte but 0 is true. */
#define TRUTH(NAME, x) (STC_##NAME == STC_BOOL ? (x) != 0 : (x))

#define INTO(FN, NAME, T, K)                                                               \
    static void into_##FN##_##NAME(void *vals, const void *x, const int64_t *restrict at,  \
                                   int n)                                                  \
    {                                                                                      \
        const class_##K *restrict from = x;                                                \
        T *restrict to = vals;                                                             \
        for (int k = 0; k < n; k++) {                                                      \
            const class_##K sum = (class_##K)TRUTH(NAME, to[at[k]]);                       \
            to[at[k]] = (T)TRUTH(NAME, FN_##FN##_##K(sum, from[k]));                       \
        }                                                                                  \
    }
#define ROW(FN, NAME, T, K) [FN_##FN][STC_##NAME] = into_##FN##_##NAME,

/* Complex numbers have no order. */
#define REAL_I64(M, ...) M(__VA_ARGS__)
#define REAL_U64 REAL_I64
#define REAL_F32 REAL_I64
#define REAL_F64 REAL_I64
#define REAL_C64(M, ...)
#define REAL_C128(M, ...)
#define ROWS(M, NAME, T, K)                                                                \
    M(ADD, NAME, T, K)                                                                     \
    REAL_##K(M, MIN, NAME, T, K) REAL_##K(M, MAX, NAME, T, K)

#define TYPE(NAME, name, T, K, rank) ROWS(INTO, NAME, T, K)
#include "../../formats/base/types.def"
INTO(OR, BOOL, uint8_t, I64)

static const strip_into table[FN_COUNT][STC_C128 + 1] = {
#define TYPE(NAME, name, T, K, rank) ROWS(ROW, NAME, T, K)
#include "../../formats/base/types.def"
    ROW(OR, BOOL, uint8_t, I64)};

strip_into strip_into_of(int fn, stc_type t)
{
    return table[fn][t];
}
