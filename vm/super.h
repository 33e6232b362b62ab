/* super.h: the instances that super.def lists, and what their files share. */
#ifndef STC_VM_SUPER_H
#define STC_VM_SUPER_H

#include "nest.h"

#define SUPER(name, CLASS, ctype, index, ictype)                                           \
    stc_status super_##name##_##CLASS##_##index(machine *mc, nest *ns);
#include "super.def"

/* The rows of a result that the inner loop appends: lane k's has parent position
 * base + its coordinate, in a level that inserts below a place that the outer
 * loop leaves alone. False if they aren't like that. */
bool super_rows(machine *mc, nest *ns, row_places *out);
/* Whether rows can be appended in bulk, with coordinates of `width` bytes. */
bool super_rows_ready(machine *mc, nest *ns, int width);

static inline void super_bound(const append_room *room, int64_t parent, int64_t end)
{
    if (room->bounds_width == 4) {
        ((int32_t *)room->bounds)[parent] = (int32_t)end;
    } else {
        ((int64_t *)room->bounds)[parent] = end;
    }
}

/* Variants of the hottest loops for wider vectors, chosen when a program is
 * linked. Only the width differs, never the order of a lane's arithmetic. */
#if defined(__x86_64__) && defined(__GNUC__)
#define AVX2 __attribute__((target("avx2")))
#define SUPER_HAS_AVX2 (__builtin_cpu_supports("avx2") != 0)
#else
#define AVX2
#define SUPER_HAS_AVX2 false
#endif

#define INLINE static inline __attribute__((always_inline))

/* Work that long handlers do between two looks at limits and interrupts. */
enum { SUPER_POLL = 1 << 16 };

static inline stc_status super_poll(machine *mc, nest *ns)
{
    if (ns->rounds < SUPER_POLL) return STC_OK;
    const int64_t n = ns->rounds;
    ns->rounds = 0;
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
        for (int64_t b = 0; b < 256 && b < bytes; b += 64)
            __builtin_prefetch(row + b);
    }
    return (const char *)x->vals + (load_base(x, k) + ns->lo) * (int64_t)size;
}

/* The value of an outer node in lane k, as one of the class's C type. */
#define LANE_VALUE(T, ns, id, k)                                                           \
    ((ns)->o.node[id].p ? ((const T *)(ns)->o.node[id].p)[k]                               \
                        : *(const T *)&(ns)->o.node[id].one)

/* Arithmetic of a class: integers wrap. */
#define ADD_F64(a, b) ((a) + (b))
#define ADD_F32(a, b) ((a) + (b))
#define ADD_I64(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define SUB_F64(a, b) ((a) - (b))
#define SUB_F32(a, b) ((a) - (b))
#define SUB_I64(a, b) ((int64_t)((uint64_t)(a) - (uint64_t)(b)))
#define MUL_F64(a, b) ((a) * (b))
#define MUL_F32(a, b) ((a) * (b))
#define MUL_I64(a, b) ((int64_t)((uint64_t)(a) * (uint64_t)(b)))

#endif
