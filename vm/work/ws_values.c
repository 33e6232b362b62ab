/* ws_values.c: from an accumulator, whose values have a class, to the result's values, in
 * the type that they are stored in: one loop a type. */
#include "ws.h"

#define CLASS(NAME, name, ctype) typedef ctype ct_##NAME;
#include "../../formats/base/types.def"

/* Integers wrap; bool, the type of rank 1, is != 0. */
#define TYPE(NAME, name, ctype, CLASS, rank)                                               \
    static void put_##NAME(void *vals, const int64_t *place, const void *from,             \
                           const int64_t *index, int64_t n, bool alike)                    \
    {                                                                                      \
        const ct_##CLASS *x = from;                                                        \
        ctype *to = vals;                                                                  \
        for (int64_t k = 0; alike && k < n; k++)                                           \
            to[place ? place[k] : k] = (ctype)((rank) == 1 ? x[0] != 0 : x[0]);            \
        for (int64_t k = 0; !alike && k < n; k++) {                                        \
            const ct_##CLASS v = x[index ? index[k] : k];                                  \
            to[place ? place[k] : k] = (ctype)((rank) == 1 ? v != 0 : v);                  \
        }                                                                                  \
    }
#include "../../formats/base/types.def"

void ws_put_values(stc_type type, void *vals, const int64_t *place, const void *from,
                   const int64_t *index, int64_t n, bool alike)
{
    static void (*const put[])(void *, const int64_t *, const void *, const int64_t *,
                               int64_t, bool) = {
#define TYPE(NAME, name, ctype, CLASS, rank) put_##NAME,
#include "../../formats/base/types.def"
    };
    put[type](vals, place, from, index, n, alike);
}
