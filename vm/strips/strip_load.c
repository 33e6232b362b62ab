/* strip_load.c: between arrays of element types and strips of their classes. */
#include "../core/ahead.h"
#include "../../formats/base/wide.h"
#include "strip.h"
#include <string.h>

#define CLASS(NAME, name, ctype) typedef ctype ct_##NAME;
#include "../../formats/base/types.def"

size_t class_size(vclass cls)
{
    static const uint8_t size[CLASS_COUNT] = {
#define CLASS(NAME, name, ctype) sizeof(ctype),
#include "../../formats/base/types.def"
    };
    return size[cls];
}

value class_get(vclass cls, const void *p, int64_t k)
{
    value v = {0};
    switch (cls) {
#define CLASS(NAME, name, ctype)                                                           \
    case CLASS_##NAME:                                                                     \
        v.name = ((const ctype *)p)[k];                                                    \
        break;
#include "../../formats/base/types.def"
    default:
        break;
    }
    return v;
}

void class_put(vclass cls, void *p, int64_t k, value v)
{
    switch (cls) {
#define CLASS(NAME, name, ctype)                                                           \
    case CLASS_##NAME:                                                                     \
        ((ctype *)p)[k] = v.name;                                                          \
        break;
#include "../../formats/base/types.def"
    default:
        break;
    }
}

void class_fill(vclass cls, void *p, int64_t from, int64_t to, value v)
{
    switch (cls) {
#define CLASS(NAME, name, ctype)                                                           \
    case CLASS_##NAME:                                                                     \
        for (int64_t k = from; k < to; k++)                                                \
            ((ctype *)p)[k] = v.name;                                                      \
        break;
#include "../../formats/base/types.def"
    default:
        break;
    }
}

void class_gather(vclass cls, void *to, const void *from, const int *of, int n)
{
    switch (cls) {
#define CLASS(NAME, name, ctype)                                                           \
    case CLASS_##NAME:                                                                     \
        for (int k = 0; k < n; k++)                                                        \
            ((ctype *)to)[k] = ((const ctype *)from)[of[k]];                               \
        break;
#include "../../formats/base/types.def"
    default:
        break;
    }
}

/* By the block: a run is written over where it ends before its last block does. T is an
 * element's bits, V as many of them as a vector has. */
#define REPEAT(SIZE, T, V, SPREAD)                                                         \
    static void repeat_##SIZE(T *to, const T *from, const int *of, const int *end,         \
                              int runs)                                                    \
    {                                                                                      \
        enum { BLOCK = 8, VECTORS = BLOCK * sizeof(T) / sizeof(V) };                       \
        const int n = runs ? end[runs - 1] : 0;                                            \
        for (int r = 0, k = 0; r < runs; k = end[r++]) {                                   \
            const T x = from[of[r]];                                                       \
            const V all = SPREAD;                                                          \
            for (; k < end[r] && k + BLOCK <= n; k += BLOCK)                               \
                for (int j = 0; j < VECTORS; j++)                                          \
                    ((V *)&to[k])[j] = all;                                                \
            for (; k < end[r]; k++)                                                        \
                to[k] = x;                                                                 \
        }                                                                                  \
    }
typedef uint32_t __attribute__((may_alias)) bits_4;
typedef uint64_t __attribute__((may_alias)) bits_8;
typedef uint32_t bits_4_4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint64_t bits_8_2 __attribute__((vector_size(16), aligned(8), may_alias));
REPEAT(4, bits_4, bits_4_4, x - (bits_4_4){0})
REPEAT(8, bits_8, bits_8_2, x - (bits_8_2){0})
REPEAT(16, bits_8_2, bits_8_2, x)

void class_repeat(vclass cls, void *to, const void *from, const int *of, const int *end,
                  int runs)
{
    switch (class_size(cls)) {
    case 4:
        repeat_4(to, from, of, end, runs);
        break;
    case 8:
        repeat_8(to, from, of, end, runs);
        break;
    default:
        repeat_16(to, from, of, end, runs);
    }
}

/* ---- stretches: positions that follow each other ------------------------------------ */

int strip_stretch(const int64_t *at, int k, int n)
{
    enum { BLOCK = 8 };
    const int64_t ahead = at[k] - k;
    for (; k + BLOCK <= n; k += BLOCK) {
        int64_t other = 0;
        for (int j = 0; j < BLOCK; j++)
            other |= at[k + j] - (k + j) - ahead;
        if (other) break;
    }
    while (k < n && at[k] - k == ahead)
        k++;
    return k;
}

bool strip_stretches(const int64_t *at, int n)
{
    enum { LOOK = 64, LEAST = 8 };
    const int look = n < LOOK ? n : LOOK;
    int ends = 1;
    for (int k = 0; k + 1 < look; k++)
        ends += at[k + 1] - at[k] != 1;
    return ends * LEAST <= look;
}

/* ---- loads and stores --------------------------------------------------------------- */

#define MEMBER_I64 i64
#define MEMBER_U64 u64
#define MEMBER_F32 f32
#define MEMBER_F64 f64
#define MEMBER_C64 c64
#define MEMBER_C128 c128

/* The bits of x where absent is 0, of f where it is all ones: no branch on what
 * can't be predicted. */
#define SELECT_64(T)                                                                       \
    {                                                                                      \
        uint64_t a, b;                                                                     \
        memcpy(&a, &x, 8), memcpy(&b, &f, 8);                                              \
        a = (a & ~(uint64_t)absent) | (b & (uint64_t)absent);                              \
        memcpy(&out[k], &a, 8);                                                            \
    }
#define SELECT_F32                                                                         \
    {                                                                                      \
        uint32_t a, b;                                                                     \
        memcpy(&a, &x, 4), memcpy(&b, &f, 4);                                              \
        a = (a & ~(uint32_t)absent) | (b & (uint32_t)absent);                              \
        memcpy(&out[k], &a, 4);                                                            \
    }
#define SELECT_I64 SELECT_64(int64_t)
#define SELECT_U64 SELECT_64(uint64_t)
#define SELECT_F64 SELECT_64(double)
#define SELECT_C64 SELECT_64(cfloat)
#define SELECT_C128 out[k] = absent ? f : x;

/* Any byte but 0 is true, whoever lent it; bool is the type of rank 1. */
#define READ(x, rank) ((rank) == 1 ? (x) != 0 : (x))

/* One function a type: consecutive positions, coordinates of an operand, given positions,
 * ones that may be absent (there are values, so position 0 can be read for those). */
#define TYPE(NAME, name, ctype, CLASS, rank)                                               \
    static void load_##NAME(void *to, const void *vals, const column *at, int n,           \
                            value fill)                                                    \
    {                                                                                      \
        ct_##CLASS *restrict out = to;                                                     \
        const ctype *v = vals;                                                             \
        const ct_##CLASS f = fill.MEMBER_##CLASS;                                          \
        if (at->form == COL_STEP) {                                                        \
            fetch_far(v, at->base, n, sizeof *v);                                          \
            v += at->base;                                                                 \
            for (int k = 0; k < n; k++)                                                    \
                out[k] = READ(v[k], rank);                                                 \
        } else if (at->form == COL_LIES) {                                                 \
            for (int k = 0; k < n; k++)                                                    \
                out[k] = READ(v[at->base + at->crd[k]], rank);                             \
        } else if (at->full) {                                                             \
            for (int k = 0; k < n; k++)                                                    \
                out[k] = READ(v[at->data[k]], rank);                                       \
        } else {                                                                           \
            for (int k = 0; k < n; k++) {                                                  \
                const int64_t absent = at->data[k] >> 63;                                  \
                const ct_##CLASS x = READ(v[at->data[k] & ~absent], rank);                 \
                SELECT_##CLASS                                                             \
            }                                                                              \
        }                                                                                  \
    }
#include "../../formats/base/types.def"

static void (*const load[])(void *, const void *, const column *, int, value) = {
#define TYPE(NAME, name, ctype, CLASS, rank) load_##NAME,
#include "../../formats/base/types.def"
};

/* Rows of a dense operand, one after the other: stretch by stretch, so that what is read
 * is next to each other and can be converted by vectors. */
static void load_stretches(stc_type t, void *out, const void *vals, const column *at, int n,
                           value fill)
{
    enum { AHEAD = STRIP / 8, LINE = 64 };
    const size_t size = class_size(type_class(t)), stored = type_size(t);
    for (int k = 0, end; k < n; k = end) {
        end = strip_stretch(at->data, k, n);
        for (int j = k + AHEAD; j < end + AHEAD && j < n; j += LINE / (int)stored)
            __builtin_prefetch((const char *)vals + at->data[j] * (int64_t)stored);
        const column rest = {.form = COL_STEP, .base = at->data[k]};
        load[t]((char *)out + (size_t)k * size, vals, &rest, end - k, fill);
    }
}

void strip_load(stc_type t, void *out, const void *vals, const column *at, int n,
                value fill)
{
    if (at->form == COL_ARRAY && at->full && strip_stretches(at->data, n)) {
        load_stretches(t, out, vals, at, n, fill);
    } else {
        load[t](out, vals, at, n, fill);
    }
}

void strip_load_lines(stc_type t, void *out, const void *vals, const int64_t *first,
                      const int *end, int lines)
{
    enum { AHEAD = 4, LINE = 64 };
    const size_t size = class_size(type_class(t)), stored = type_size(t);
    for (int r = 0, k = 0; r < lines; k = end[r++]) {
        const column at = {.form = COL_STEP, .base = first[r]};
        const size_t bytes = (size_t)(end[r] - k) * stored;
        const char *ahead =
            (const char *)vals + first[r + AHEAD < lines ? r + AHEAD : r] * (int64_t)stored;
        for (size_t b = 0; b < bytes; b += LINE)
            __builtin_prefetch(ahead + b);
        load[t]((char *)out + (size_t)k * size, vals, &at, end[r] - k, (value){0});
    }
}

/* Storing narrows: integers wrap, bool is != 0. */
#define TYPE(NAME, name, ctype, CLASS, rank)                                               \
    static void store_##NAME(void *vals, int64_t pos, const void *from, int n)             \
    {                                                                                      \
        ctype *v = (ctype *)vals + pos;                                                    \
        const ct_##CLASS *x = from;                                                        \
        for (int k = 0; k < n; k++)                                                        \
            v[k] = (ctype)READ(x[k], rank);                                                \
    }
#include "../../formats/base/types.def"

/* Lane k to position pos + at[k]. */
#define TYPE(NAME, name, ctype, CLASS, rank)                                               \
    static void scatter_##NAME(void *vals, int64_t pos, const int64_t *at,                 \
                               const void *from, int n)                                    \
    {                                                                                      \
        ctype *v = (ctype *)vals + pos;                                                    \
        const ct_##CLASS *x = from;                                                        \
        for (int k = 0; k < n; k++)                                                        \
            v[at[k]] = (ctype)READ(x[k], rank);                                            \
    }
#include "../../formats/base/types.def"

void strip_scatter(stc_type t, void *vals, int64_t pos, const int64_t *at, const void *from,
                   int n)
{
    static void (*const scatter[])(void *, int64_t, const int64_t *, const void *, int) = {
#define TYPE(NAME, name, ctype, CLASS, rank) scatter_##NAME,
#include "../../formats/base/types.def"
    };
    scatter[t](vals, pos, at, from, n);
}

void strip_store(stc_type t, void *vals, int64_t pos, const void *from, vclass cls, int n)
{
    static void (*const store[])(void *, int64_t, const void *, int) = {
#define TYPE(NAME, name, ctype, CLASS, rank) store_##NAME,
#include "../../formats/base/types.def"
    };
    (void)cls;
    store[t](vals, pos, from, n);
}

/* Conversions that C makes as class_convert does; the rest lane by lane. */
#define CONVERT(TO, FROM)                                                                  \
    if (to == CLASS_##TO && from == CLASS_##FROM) {                                        \
        ct_##TO *o = out;                                                                  \
        const ct_##FROM *i = in;                                                           \
        for (int k = 0; k < n; k++)                                                        \
            o[k] = (ct_##TO)i[k];                                                          \
        return;                                                                            \
    }

/* Reals that integers have room for; the others, which are few, as class_convert has it. */
#define TRUNCATE(TO, FROM, LEAST)                                                          \
    if (to == CLASS_##TO && from == CLASS_##FROM) {                                        \
        ct_##TO *restrict y = out;                                                         \
        const ct_##FROM *restrict x = in;                                                  \
        for (int k = 0; k < n; k++) {                                                      \
            if (x[k] >= (LEAST) && x[k] < 0x1p63f) {                                       \
                y[k] = (ct_##TO)(int64_t)x[k];                                             \
            } else {                                                                       \
                class_put(to, out, k, class_convert(to, from, class_get(from, in, k)));    \
            }                                                                              \
        }                                                                                  \
        return;                                                                            \
    }

/* ---- conversions that there are vectors for ----------------------------------------- */

/* bits: integers from -bias on, and bias more below 2^52, are the last bits of a double
 * from 2^52 on. whole: reals whose integers have 32 bits. False: there are others. */
#define FEW(NAME, TARGET)                                                                  \
    TARGET static bool bits_##NAME(double *restrict out, const uint64_t *restrict in,      \
                                   int n, uint64_t bias)                                   \
    {                                                                                      \
        uint64_t any = 0;                                                                  \
        for (int k = 0; k < n; k++)                                                        \
            any |= in[k] + bias;                                                           \
        if (any >> 52) return false;                                                       \
        for (int k = 0; k < n; k++) {                                                      \
            const uint64_t bits = (in[k] + bias) | UINT64_C(0x4330000000000000);           \
            double x;                                                                      \
            memcpy(&x, &bits, sizeof x);                                                   \
            out[k] = x - (0x1p52 + (double)bias);                                          \
        }                                                                                  \
        return true;                                                                       \
    }                                                                                      \
    TARGET static bool whole_##NAME(int64_t *restrict out, const double *restrict in,      \
                                    int n, double least)                                   \
    {                                                                                      \
        int64_t others = 0;                                                                \
        for (int k = 0; k < n; k++)                                                        \
            others |= !((in[k] > least) & (in[k] < 0x1p31));                               \
        if (others) return false;                                                          \
        for (int k = 0; k < n; k++)                                                        \
            out[k] = (int32_t)in[k];                                                       \
        return true;                                                                       \
    }
FEW(plain, )
FEW(wide, WIDE)

static bool few_bits(vclass from, double *out, const uint64_t *in, int n)
{
    const uint64_t bias = from == CLASS_I64 ? UINT64_C(1) << 51 : 0;
    return HAS_WIDE ? bits_wide(out, in, n, bias) : bits_plain(out, in, n, bias);
}

static bool few_whole(vclass to, int64_t *out, const double *in, int n)
{
    const double least = to == CLASS_I64 ? -0x1p31 : -1;
    return HAS_WIDE ? whole_wide(out, in, n, least) : whole_plain(out, in, n, least);
}

void strip_conv(vclass to, vclass from, void *out, const void *in, int n)
{
    if (to <= CLASS_U64 && from == CLASS_F64 && few_whole(to, out, in, n)) return;
    if (to == CLASS_F64 && from <= CLASS_U64 && few_bits(from, out, in, n)) return;
    CONVERT(F64, I64)
    CONVERT(F64, U64)
    CONVERT(F64, F32)
    CONVERT(F32, F64)
    CONVERT(F32, I64)
    CONVERT(F32, U64)
    CONVERT(U64, I64)
    CONVERT(I64, U64)
    TRUNCATE(I64, F64, -0x1p63f)
    TRUNCATE(U64, F64, 0)
    TRUNCATE(I64, F32, -0x1p63f)
    TRUNCATE(U64, F32, 0)
    for (int k = 0; k < n; k++)
        class_put(to, out, k, class_convert(to, from, class_get(from, in, k)));
}
