/* compile.c: one bound assignment through plan, lattice and lowering.
 *
 * The stages are functions from one structure to the next; this is where they
 * meet, are timed, and are printed if somebody wants to see them.
 */
#include "compile.h"
#include "lower.h"
#include <stddef.h>

stc_status compile_assignment(arena *a, program *p, const source *src, bstmt *s,
                              stage_texts *texts, stc_times *times)
{
    const uint64_t start = now_ticks();
    plan *pl = arena_part(a, sizeof *pl, offsetof(plan, schedule.rank));
    if (!pl) return STC_ERR_MEMORY;
    pl->a = a;
    pl->p = p;
    pl->src = src;
    pl->s = s;
    pl->why = texts ? texts->plan : NULL;
    stc_status st = plan_build(pl);
    if (!st) st = plan_analyze(pl);
    if (!st) st = schedule_check(pl);
    if (st) return st;
    if (texts && texts->plan) plan_print(pl, texts->plan);
    if (texts && texts->lattice) lattice_print(pl, texts->lattice);
    const uint64_t planned = now_ticks();
    st = lower_plan(pl);
    if (times) {
        times->plan += (double)(planned - start);
        times->lower += (double)(now_ticks() - planned);
    }
    return st;
}
