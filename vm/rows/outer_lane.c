/* outer_lane.c: columns of lanes, by element type and size: loaded at a fixed step,
 * chosen from by masks, and masks themselves.
 */
#include "outer.h"
#include "../super/super.h"

#define CLASS(NAME, name, ctype) typedef ctype ct_##NAME;
#include "../../formats/base/types.def"

/* Any byte but 0 is true, whoever lent it; bool is the type of rank 1. */
#define READ(x, rank) ((rank) == 1 ? (x) != 0 : (x))

/* Steps of two are windows side by side: then vectors are shuffled. */
#define TYPE(NAME, name, ctype, CLASS, rank)                                               \
    static void load_##NAME(void *to, const void *vals, int64_t at, int64_t by, int n)     \
    {                                                                                      \
        ct_##CLASS *out = to;                                                              \
        const ctype *v = (const ctype *)vals + at;                                         \
        if (by == 1) {                                                                     \
            for (int k = 0; k < n; k++)                                                    \
                out[k] = READ(v[k], rank);                                                 \
        } else if (by == 2) {                                                              \
            for (int k = 0; k < n; k++)                                                    \
                out[k] = READ(v[2 * k], rank);                                             \
        } else {                                                                           \
            for (int k = 0; k < n; k++)                                                    \
                out[k] = READ(v[k * by], rank);                                            \
        }                                                                                  \
    }
#include "../../formats/base/types.def"

void outer_load(stc_type t, void *out, const void *vals, int64_t at, int64_t by, int n)
{
    static void (*const load[])(void *, const void *, int64_t, int64_t, int) = {
#define TYPE(NAME, name, ctype, CLASS, rank) load_##NAME,
#include "../../formats/base/types.def"
    };
    load[t](out, vals, at, by, n);
}

/* Bits, whatever they mean: no branch on what can't be foreseen. */
#define CHOOSE(ATTRIBUTE, NAME, T)                                                         \
    ATTRIBUTE static void NAME(void *out, const void *in, const uint8_t *set, int n)       \
    {                                                                                      \
        T *restrict y = out;                                                               \
        const T *restrict x = in;                                                          \
        for (int k = 0; k < n; k++) {                                                      \
            const T all = (T)0 - (T)(set[k] != 0);                                         \
            y[k] = (x[k] & all) | (y[k] & ~all);                                           \
        }                                                                                  \
    }
CHOOSE(, choose_4, uint32_t)
CHOOSE(, choose_8, uint64_t)
CHOOSE(WIDE, wide_4, uint32_t)
CHOOSE(WIDE, wide_8, uint64_t)

void outer_choose(size_t size, void *out, const void *in, const uint8_t *set, int n)
{
    if (size == sizeof(uint32_t)) {
        (HAS_WIDE ? wide_4 : choose_4)(out, in, set, n);
    } else if (size == sizeof(uint64_t)) {
        (HAS_WIDE ? wide_8 : choose_8)(out, in, set, n);
    } else {
        for (int k = 0; k < n; k++)
            if (set[k]) ((cdouble *)out)[k] = ((const cdouble *)in)[k];
    }
}

void outer_bytes(uint8_t *out, const uint8_t *in, int64_t by, int64_t n)
{
    if (by == 2) { /* as in load: vectors are shuffled */
        for (int64_t k = 0; k < n; k++)
            out[k] = in[2 * k];
        return;
    }
    for (int64_t k = 0; k < n; k++)
        out[k] = in[k * by];
}

void outer_or(uint8_t *out, const uint8_t *a, int n)
{
    for (int k = 0; k < n; k++)
        out[k] |= a[k];
}

void outer_and(uint8_t *out, const uint8_t *a, int n)
{
    for (int k = 0; k < n; k++)
        out[k] &= a[k];
}
