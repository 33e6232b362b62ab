/* super.h: the instances that super.def lists, and what their files share. */
#ifndef STC_VM_SUPER_H
#define STC_VM_SUPER_H

#include "../../formats/base/wide.h"
#include "../core/ahead.h"
#include "../fn/fn_inline.h"
#include "nest.h"
#include "super_tally.h"
#include <string.h>

#define SUPER(kernel, TYPE, body, index)                                                   \
    stc_status super_##kernel##_##TYPE##_##body##_##index(machine *mc, nest *ns);
#include "super.def"

/* A row: an instance, and where it is in the table. */
struct super_instance {
    uint8_t kernel, type, body, width;
    tally_row number;
    nest_kernel run;
};

static inline stc_status super_run(machine *mc, nest *ns)
{
    tally(mc, ns->kernel->number);
    if (mc->profile) nest_count_fibers(mc, ns);
    return ns->made     ? nest_made_run(mc, ns)
           : ns->widens ? nest_bounds_run(mc, ns)
                        : ns->kernel->run(mc, ns);
}

/* elem_TYPE: how a type's elements are stored; num_TYPE: what they are computed
 * in; index_BITS: coordinates and bounds. */
#define TYPE(NAME, name, ctype, CLASS, rank)                                               \
    typedef ctype elem_##NAME;                                                             \
    typedef class_##CLASS num_##NAME;
#include "../../formats/base/types.def"
typedef int32_t index_32;
typedef int64_t index_64;

/* The rows of a result that the inner loop appends: lane k's has parent position
 * base + its coordinate, in a level that inserts below a place that the outer
 * loop leaves alone. False if they aren't like that. */
bool super_rows(machine *mc, nest *ns, row_places *out);
/* Whether rows can be appended in bulk, with coordinates of `width` bytes. */
bool super_rows_ready(machine *mc, nest *ns, int width);

/* Whether the outer loop's coordinates are places in a row of a dense result. */
bool super_lanes_ready(const machine *mc, const nest *ns);

/* Where the fiber of a parent that isn't closed ends. */
static inline void super_bound(const append_room *room, int64_t parent, int64_t end)
{
    parent -= room->closed;
    if (room->bounds_width == 4) {
        ((int32_t *)room->bounds)[parent] = (int32_t)end;
    } else {
        ((int64_t *)room->bounds)[parent] = end;
    }
}

/* Whether the variants for wide vectors are to be used (wide.h). */
static inline bool super_wide(const machine *mc)
{
    return HAS_WIDE && !mc->cx->plain;
}

#define INLINE static inline __attribute__((always_inline))

/* Whether the low bits of sums and products go by those of their operands in both types,
 * and as many: integers, of either sign. */
static inline bool types_wrap_alike(stc_type a, stc_type b)
{
    return type_class(a) <= CLASS_U64 && type_class(b) <= CLASS_U64 && a != STC_BOOL &&
           b != STC_BOOL && type_size(a) == type_size(b);
}

/* Work that long handlers do between two looks at limits and interrupts; such a look. */
enum { SUPER_POLL = 1 << 16 };

static inline stc_status super_poll(machine *mc, int64_t *rounds)
{
    const int64_t n = *rounds;
    if (n < SUPER_POLL) return STC_OK;
    *rounds = 0;
    return machine_count(mc, n);
}

/* Rows come from all over memory: those of a later lane are asked for ahead. */
enum { SUPER_AHEAD = 6 };
static inline const void *super_row(const nest *ns, const nest_load *x, int k, size_t size)
{
    if (x->parent->form == COL_ARRAY && k + SUPER_AHEAD < ns->to) {
        const int64_t next = x->parent->data[k + SUPER_AHEAD];
        const int64_t bytes = x->extent * (int64_t)size;
        const char *row = (const char *)x->vals + (next < 0 ? 0 : next) * bytes;
        fetch(row, bytes < 256 ? bytes : 256);
    }
    return (const char *)x->vals + (load_base(x, k) + ns->lo) * (int64_t)size;
}

/* The value of an outer node in lane k, as one of the class's C type. */
#define LANE_VALUE(T, ns, id, k)                                                           \
    ((ns)->o->node[id].p ? ((const T *)(ns)->o->node[id].p)[k]                             \
                         : *(const T *)&(ns)->o->node[id].one)

/* What lane k's sum starts from (summary_link.c). */
#define START(T, ns, r, k) LANE_VALUE(T, ns, (r)->arg[0], k)

/* Lane k's fiber, [*p, *e); false: there is none. */
#define SPAN(W)                                                                            \
    static inline bool span_##W(const nest_walk *w, int k, int64_t *p, int64_t *e)         \
    {                                                                                      \
        const int64_t parent = walk_parent(w, k);                                          \
        const index_##W *bounds = w->bounds;                                               \
        *p = *e = 0;                                                                       \
        if (parent < 0) return false;                                                      \
        *p = bounds ? bounds[parent] : parent;                                             \
        *e = bounds              ? bounds[parent + 1]                                      \
             : w->parent->ranged ? column_end(w->parent, k)                                \
                                 : parent + 1;                                             \
        return true;                                                                       \
    }
SPAN(32)
SPAN(64)

/* What lanes some pages behind lane k and its neighbours read, if fibers follow each other.
 * Long ones the processor sees by itself. */
enum { ASK_LANES = 16 };
#define ASK_LATER(W)                                                                       \
    static inline void ask_later_##W(const nest *ns, const nest_walk *w, const void *vals, \
                                     int64_t size, int k, int n)                           \
    {                                                                                      \
        if (k % ASK_LANES || !ns->far || !w->bounds || w->parent->form != COL_STEP)        \
            return;                                                                        \
        const index_##W *bounds = (const index_##W *)w->bounds + w->parent->base;          \
        const int64_t p = bounds[k],                                                       \
                      m = bounds[k + ASK_LANES < n ? k + ASK_LANES : n] - p;               \
        if (m * size > AHEAD_BYTES) return;                                                \
        fetch_ahead(w->crd, p, m, (int64_t)sizeof(index_##W) * w->step);                   \
        if (vals) fetch_ahead(vals, p, m, size);                                           \
    }
ASK_LATER(32)
ASK_LATER(64)
/* The lanes from k on, of n, for which that asks once: loops over them are free of it. */
static inline int ask_until(int k, int n)
{
    const int end = (k | (ASK_LANES - 1)) + 1;
    return end < n ? end : n;
}

/* A fiber so many times as long as the other is searched for what that one has, by
 * halves, rather than stepped through. */
enum { LONGER = 16 };

/* An element as a number. Any byte but 0 is true, whoever lent it. */
#define GET(TYPE, x) ((num_##TYPE)(STC_##TYPE == STC_BOOL ? (x) != 0 : (x)))

/* Arithmetic of a type is that of its class. */
#define FN(NAME, TYPE, a, b) FN_IN(NAME, CLASS_OF_##TYPE, a, b)
#define FN_IN(NAME, CLASS, a, b) FN_IN_(NAME, CLASS, a, b)
#define FN_IN_(NAME, CLASS, a, b) FN_##NAME##_##CLASS(a, b)
#define CLASS_OF_BOOL I64
#define CLASS_OF_I8 I64
#define CLASS_OF_I16 I64
#define CLASS_OF_I32 I64
#define CLASS_OF_I64 I64
#define CLASS_OF_U8 U64
#define CLASS_OF_U16 U64
#define CLASS_OF_U32 U64
#define CLASS_OF_U64 U64
#define CLASS_OF_F32 F32
#define CLASS_OF_F64 F64
#define CLASS_OF_C64 C64
#define CLASS_OF_C128 C128

/* a if all bits of m are set, b if none is: no compiler makes a branch of it. */
#define EITHER(ctype, m, a, b)                                                             \
    ({                                                                                     \
        typedef __typeof__(__builtin_choose_expr(sizeof(ctype) % 8, (uint32_t)0,           \
                                                 (uint64_t)0)) word_;                      \
        ctype x_ = (a), y_ = (b);                                                          \
        word_ p_[sizeof(ctype) / sizeof(word_)], q_[sizeof(ctype) / sizeof(word_)];        \
        memcpy(p_, &x_, sizeof x_);                                                        \
        memcpy(q_, &y_, sizeof y_);                                                        \
        for (size_t k_ = 0; k_ < sizeof p_ / sizeof *p_; k_++)                             \
            p_[k_] = (p_[k_] & (word_)(m)) | (q_[k_] & ~(word_)(m));                       \
        memcpy(&x_, p_, sizeof x_);                                                        \
        x_;                                                                                \
    })

/* The functions of a body, PLUS's value of nothing, and TIMES's of no factors. */
#define PLUS(body, TYPE, a, b) PLUS_##body(TYPE, a, b)
#define TIMES(body, TYPE, ...) TIMES_##body(TYPE, __VA_ARGS__)
#define NOTHING(body, TYPE) NOTHING_##body(TYPE)
#define NO_FACTORS(body, TYPE) NO_FACTORS_##body(TYPE)
/* The sum of so many terms that have no factors, of at least one. */
#define UNITS(body, TYPE, n) UNITS_##body(TYPE, n)
#define UNITS_plus_times(TYPE, n) ((num_##TYPE)(n))
#define UNITS_min_plus(TYPE, n) NO_FACTORS_min_plus(TYPE)
#define UNITS_or_and(TYPE, n) NO_FACTORS_or_and(TYPE)
/* What a sum with terms begins with: a truth value is 0 or 1 from there on, so that no
 * term asks that again. */
#define BEGINS(body, a) BEGINS_##body(a)
#define BEGINS_plus_times(a) (a)
#define BEGINS_min_plus(a) (a)
#define BEGINS_max_plus(a) (a)
#define BEGINS_or_and(a) ((a) != 0)

/* Lane k's scalars are the same for all of its terms. They distribute over the sum of
 * these, and are multiplied once, where there are terms at all: what such a sum begins
 * with, and what comes of it. */
#define DISTRIBUTES_plus_times true
#define DISTRIBUTES_min_plus true
#define DISTRIBUTES_max_plus true
#define DISTRIBUTES_or_and true
#define LANE_BEGINS(TYPE, body, ns, r, k)                                                  \
    ((ns)->nscalar ? NOTHING(body, TYPE) : START(num_##TYPE, ns, r, k))
#define LANE_SUM(TYPE, body, ns, r, k, some, terms)                                        \
    ({                                                                                     \
        _Static_assert(DISTRIBUTES_##body, "scalars are multiplied once");                 \
        num_##TYPE sum_ = (terms), begin_ = START(num_##TYPE, ns, r, k);                   \
        for (int x_ = 0; x_ < (ns)->nscalar; x_++)                                         \
            sum_ =                                                                         \
                TIMES(body, TYPE, LANE_VALUE(num_##TYPE, ns, (ns)->scalar[x_], k), sum_);  \
        !(some) ? begin_ : (ns)->nscalar ? PLUS(body, TYPE, begin_, sum_) : sum_;          \
    })

/* Whether no term changes a sum that is a any more. */
#define SETTLES(body) SETTLES_##body
#define SETTLED(body, a) (SETTLES(body) && (a) != 0)
#define SETTLES_plus_times false
#define SETTLES_min_plus false
#define SETTLES_max_plus false
#define SETTLES_or_and true

#define PLUS_plus_times(TYPE, a, b) FN(ADD, TYPE, a, b)
#define TIMES_plus_times(TYPE, a, b) FN(MUL, TYPE, a, b)
#define NOTHING_plus_times(TYPE) 0
#define NO_FACTORS_plus_times(TYPE) 1
#define PLUS_min_plus(TYPE, a, b) FN(MIN, TYPE, a, b)
#define TIMES_min_plus(TYPE, a, b) FN(ADD, TYPE, a, b)
#define NOTHING_min_plus(TYPE) HIGHEST_##TYPE
#define NO_FACTORS_min_plus(TYPE) ZERO_##TYPE
#define PLUS_max_plus(TYPE, a, b) FN(MAX, TYPE, a, b)
#define TIMES_max_plus(TYPE, a, b) FN(ADD, TYPE, a, b)
#define NOTHING_max_plus(TYPE) LOWEST_##TYPE
#define NO_FACTORS_max_plus(TYPE) ZERO_##TYPE
#define PLUS_max_times(TYPE, a, b) FN(MAX, TYPE, a, b)
#define TIMES_max_times(TYPE, a, b) FN(MUL, TYPE, a, b)
#define NOTHING_max_times(TYPE) LOWEST_##TYPE
#define NO_FACTORS_max_times(TYPE) 1
#define PLUS_or_and(TYPE, a, b) FN(OR, TYPE, a, b)
#define TIMES_or_and(TYPE, a, b) FN(AND, TYPE, a, b)
#define NOTHING_or_and(TYPE) 0
#define NO_FACTORS_or_and(TYPE) 1
#define CHOSEN(TYPE, a, b, c) EITHER(num_##TYPE, -(int64_t)((a) != 0), b, c)
#define PLUS_min_chosen(TYPE, a, b) FN(MIN, TYPE, a, b)
#define TIMES_min_chosen(TYPE, a, b, c) CHOSEN(TYPE, a, b, c)
#define PLUS_max_chosen(TYPE, a, b) FN(MAX, TYPE, a, b)
#define TIMES_max_chosen(TYPE, a, b, c) CHOSEN(TYPE, a, b, c)
#define PLUS_plus_chosen(TYPE, a, b) FN(ADD, TYPE, a, b)
#define TIMES_plus_chosen(TYPE, a, b, c) CHOSEN(TYPE, a, b, c)
#define TIMES_add(TYPE, a, b) FN(ADD, TYPE, a, b)
#define TIMES_sub(TYPE, a, b) FN(SUB, TYPE, a, b)
#define TIMES_mul(TYPE, a, b) FN(MUL, TYPE, a, b)
#define TIMES_min(TYPE, a, b) FN(MIN, TYPE, a, b)
#define TIMES_max(TYPE, a, b) FN(MAX, TYPE, a, b)
#define TIMES_or(TYPE, a, b) FN(OR, TYPE, a, b)
#define TIMES_and(TYPE, a, b) FN(AND, TYPE, a, b)
#define HIGHEST_F64 INFINITY
#define HIGHEST_F32 INFINITY
#define HIGHEST_I64 INT64_MAX
#define LOWEST_F64 (-INFINITY)
#define ZERO_F64 (-0.0) /* -0 + x is x, whatever x is */
#define ZERO_F32 (-0.0f)
#define ZERO_I64 0

#endif
