/* compile.c: one bound assignment through plan, lattice and lowering.
 *
 * The stages are functions from one structure to the next; this is where they
 * meet, are timed, and are printed if somebody wants to see them.
 */
#include "compile.h"
#include "lower/lower.h"
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

stc_status compile_assignment(arena *a, program *p, const source *src, bstmt *s,
                              stage_texts *texts, stc_times *times)
{
    double start = now();
    plan *pl = arena_alloc(a, sizeof *pl);
    if (!pl) return STC_ERR_MEMORY;
    pl->a = a;
    pl->p = p;
    pl->src = src;
    pl->s = s;
    pl->why = texts ? texts->plan : NULL;
    stc_status st = plan_build(pl);
    if (!st) st = plan_analyze(pl);
    if (st) return st;
    if (texts && texts->plan) plan_print(pl, texts->plan);
    if (texts && texts->lattice) lattice_print(pl, texts->lattice);
    double planned = now();
    st = lower_plan(pl);
    if (times) {
        times->plan += planned - start;
        times->lower += now() - planned;
    }
    return st;
}
