/* compile.h: one bound assignment into a program: plan, lattice, lower.
 *
 * stage_texts, where not NULL, receives what `explain` prints of the stages
 * in between. times gets what plan and lower took added, in ticks.
 */
#ifndef STC_COMPILE_H
#define STC_COMPILE_H

#include "../opt/opt.h"
#include <time.h>

static inline double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* A cheaper clock, for stages and runs that take little more than reading the
 * other one. Its unit is found out when times are asked for. */
static inline uint64_t now_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return (uint64_t)(now_us() * 1e3);
#endif
}

typedef struct stage_texts {
    textbuf *plan, *lattice;
} stage_texts;

/* Appends the statement's code to p (without halt). On return the target's
 * row in p->tensor has its format, type, and fill (or fill_later). What operands hold
 * is asked of known, if it isn't NULL. */
stc_status compile_assignment(arena *a, program *p, const source *src, bstmt *s,
                              const opt_known *known, stage_texts *texts, stc_times *times);

#endif
