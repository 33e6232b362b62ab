/* fn_inline.h: the built-in functions of two that can't fault, for loops of other files:
 * FN_ADD_F64(x, y) adds in class f64. What they compute is fn_ops.def's.
 */
#ifndef STC_VM_FN_INLINE_H
#define STC_VM_FN_INLINE_H

#include "functions.h"
#include <tgmath.h>
#include "fn_math.h"

#define CLASS(NAME, name, ctype) typedef ctype class_##NAME;
#include "../../formats/base/types.def"

#define IMPL1(...)
#define IMPL3(...)
#define OTHER2(...)
#define IMPL2(N, K, R, A, B, e)                                                            \
    static inline __attribute__((always_inline))                                           \
    class_##R FN_##N##_##K(class_##A x, class_##B y)                                       \
    {                                                                                      \
        return e;                                                                          \
    }
#include "fn_ops.def"

#endif
