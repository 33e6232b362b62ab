/* fn_impl.c: scalar and array implementations of the built-in functions.
 *
 * Expands fn_ops.def into functions on one value, into loops over arrays, and into
 * the same loops for processors with AVX2; and fills the tables by (function,
 * class). A loop that widens its elements runs backwards, so that its result may
 * overwrite an operand.
 */
#include "../../formats/base/wide.h"
#include "functions.h"
#include <tgmath.h>
#include "fn_math.h"

typedef struct implementation {
    fn_scalar scalar;
    fn_array array, wide; /* the same; wide: for processors with AVX2, or NULL */
} implementation;

#define CLASS(NAME, name, ctype) typedef ctype ct_##NAME;
#include "../../formats/base/types.def"

#define OF_I64 i64
#define OF_U64 u64
#define OF_F32 f32
#define OF_F64 f64
#define OF_C64 c64
#define OF_C128 c128
#define MEMBER_(p, m) (p)->m
#define MEMBER(p, m) MEMBER_(p, m)

/* ---- one value ----------------------------------------------------------------- */

#define IMPL1(N, K, R, A, e)                                                               \
    static fn_fault scalar_##N##_##K(value *out, const value *a, const value *b,           \
                                     const value *c)                                       \
    {                                                                                      \
        (void)b, (void)c;                                                                  \
        fn_fault fault = FAULT_NONE;                                                       \
        const ct_##A x = MEMBER(a, OF_##A);                                                \
        MEMBER(out, OF_##R) = (ct_##R)(e);                                                 \
        return fault;                                                                      \
    }
#define IMPL2(N, K, R, A, B, e)                                                            \
    static fn_fault scalar_##N##_##K(value *out, const value *a, const value *b,           \
                                     const value *c)                                       \
    {                                                                                      \
        (void)c;                                                                           \
        fn_fault fault = FAULT_NONE;                                                       \
        const ct_##A x = MEMBER(a, OF_##A);                                                \
        const ct_##B y = MEMBER(b, OF_##B);                                                \
        MEMBER(out, OF_##R) = (ct_##R)(e);                                                 \
        return fault;                                                                      \
    }
#define IMPL3(N, K, R, A, B, C, e)                                                         \
    static fn_fault scalar_##N##_##K(value *out, const value *a, const value *b,           \
                                     const value *c)                                       \
    {                                                                                      \
        fn_fault fault = FAULT_NONE;                                                       \
        const ct_##A x = MEMBER(a, OF_##A);                                                \
        const ct_##B y = MEMBER(b, OF_##B);                                                \
        const ct_##C z = MEMBER(c, OF_##C);                                                \
        MEMBER(out, OF_##R) = (ct_##R)(e);                                                 \
        return fault;                                                                      \
    }
#include "fn_ops.def"

/* ---- arrays -------------------------------------------------------------------- */

/* Elements don't depend on each other even where out is an operand; without
 * this word the compiler would fall back to single steps in that very case. */
#if defined(__clang__)
#define INDEPENDENT /* its pragma warns about each loop that can't be vectorized */
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#define EACH(R, A, step)                                                                   \
    if (sizeof(ct_##R) > sizeof(ct_##A)) {                                                 \
        for (int i = n - 1; i >= 0; i--) {                                                 \
            step                                                                           \
        }                                                                                  \
    } else {                                                                               \
        INDEPENDENT                                                                        \
        for (int i = 0; i < n; i++) {                                                      \
            step                                                                           \
        }                                                                                  \
    }

#define ARRAY1(ATTRIBUTE, NAME, R, A, e)                                                   \
    ATTRIBUTE static fn_fault NAME(void *out, const void *a, const void *b, const void *c, \
                                   int n)                                                  \
    {                                                                                      \
        (void)b, (void)c;                                                                  \
        fn_fault fault = FAULT_NONE;                                                       \
        EACH(R, A, {                                                                       \
            const ct_##A x = ((const ct_##A *)a)[i];                                       \
            ((ct_##R *)out)[i] = (ct_##R)(e);                                              \
        })                                                                                 \
        return fault;                                                                      \
    }
#define ARRAY2(ATTRIBUTE, NAME, R, A, B, e)                                                \
    ATTRIBUTE static fn_fault NAME(void *out, const void *a, const void *b, const void *c, \
                                   int n)                                                  \
    {                                                                                      \
        (void)c;                                                                           \
        fn_fault fault = FAULT_NONE;                                                       \
        EACH(R, A, {                                                                       \
            const ct_##A x = ((const ct_##A *)a)[i];                                       \
            const ct_##B y = ((const ct_##B *)b)[i];                                       \
            ((ct_##R *)out)[i] = (ct_##R)(e);                                              \
        })                                                                                 \
        return fault;                                                                      \
    }
/* The second operand has the result's type: the loop may run either way for it,
 * and a narrower or wider first one (select, f32 or c128) is kept apart by the
 * caller. */
#define ARRAY3(ATTRIBUTE, NAME, R, A, B, C, e)                                             \
    ATTRIBUTE static fn_fault NAME(void *out, const void *a, const void *b, const void *c, \
                                   int n)                                                  \
    {                                                                                      \
        fn_fault fault = FAULT_NONE;                                                       \
        INDEPENDENT                                                                        \
        for (int i = 0; i < n; i++) {                                                      \
            const ct_##A x = ((const ct_##A *)a)[i];                                       \
            const ct_##B y = ((const ct_##B *)b)[i];                                       \
            const ct_##C z = ((const ct_##C *)c)[i];                                       \
            ((ct_##R *)out)[i] = (ct_##R)(e);                                              \
        }                                                                                  \
        return fault;                                                                      \
    }

#define PLAIN /* for any processor */
#define IMPL1(N, K, ...) ARRAY1(PLAIN, array_##N##_##K, __VA_ARGS__)
#define IMPL2(N, K, ...) ARRAY2(PLAIN, array_##N##_##K, __VA_ARGS__)
#define IMPL3(N, K, ...) ARRAY3(PLAIN, array_##N##_##K, __VA_ARGS__)
#include "fn_ops.def"

/* The same with 32-byte vectors, bit for bit: contraction is off. */
#if defined(__x86_64__) && !defined(STC_SAN)
#define TWICE 1
#define IMPL1(N, K, ...) ARRAY1(WIDE, wide_##N##_##K, __VA_ARGS__)
#define IMPL2(N, K, ...) ARRAY2(WIDE, wide_##N##_##K, __VA_ARGS__)
#define IMPL3(N, K, ...) ARRAY3(WIDE, wide_##N##_##K, __VA_ARGS__)
#include "fn_ops.def"
#else
#define TWICE 0
#endif

/* ---- the tables ---------------------------------------------------------------- */

#if TWICE
#define ROW(N, K) [FN_##N][CLASS_##K] = {scalar_##N##_##K, array_##N##_##K, wide_##N##_##K},
#else
#define ROW(N, K) [FN_##N][CLASS_##K] = {scalar_##N##_##K, array_##N##_##K, NULL},
#endif

static const implementation table[FN_COUNT][CLASS_COUNT] = {
#define IMPL1(N, K, ...) ROW(N, K)
#define IMPL2(N, K, ...) ROW(N, K)
#define IMPL3(N, K, ...) ROW(N, K)
#include "fn_ops.def"
};

fn_scalar fn_scalar_of(int id, vclass cls)
{
    return table[id][cls].scalar;
}

fn_array fn_array_of(int id, vclass cls)
{
#if TWICE
    if (HAS_WIDE && table[id][cls].wide) return table[id][cls].wide;
#endif
    return table[id][cls].array;
}
