/* profile.c: what a run did, counted and timed for its profile: by itself, and by the
 * machines that shared a loop with it.
 *
 * Each lop is counted as it begins; rounds, time and what was visited since then are its
 * own when the next one does. Loops on threads count in rows of their worker's, which are
 * added to the host's when all are through.
 */
#include "machine.h"
#include <string.h>
#include <time.h>

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void machine_profile_step(machine *mc, int next)
{
    uint64_t t = now();
    uint64_t rounds = mc->steps + (uint64_t)(mc->slice - mc->left);
    if (mc->profile_last >= 0) {
        mc->profile[mc->profile_last].nanoseconds += t - mc->profile_since;
        mc->profile[mc->profile_last].rounds += rounds - mc->profile_rounds;
        for (int k = 0; k < SEEN_KINDS; k++)
            mc->profile[mc->profile_last].seen[k] += mc->seen[k];
    }
    memset(mc->seen, 0, sizeof mc->seen);
    mc->profile_rounds = rounds;
    if (next >= 0) mc->profile[next].count++;
    mc->profile_last = next;
    mc->profile_since = now();
}

/* The shared loop was executed once, not by the chunk, in the time that passes until the
 * next step; what is inside has its part of that. */
void machine_profile_add(machine *mc, machine *from, int first, int threads)
{
    for (int i = 0; i < mc->ncode; i++) {
        profile_row *to = &mc->profile[i], *row = &from->profile[i];
        for (int k = 0; k < SEEN_KINDS; k++)
            to->seen[k] += row->seen[k];
        if (i != first) {
            const uint64_t ns = row->nanoseconds / (uint64_t)threads;
            to->count += row->count;
            to->rounds += row->rounds;
            to->nanoseconds += ns;
            mc->profile[first].nanoseconds -= ns;
        }
        *row = (profile_row){.op = row->op};
    }
    for (int i = 0; i < mc->nloop; i++) {
        mc->loops[i].visited += from->loops[i].visited;
        from->loops[i].visited = 0;
    }
    for (int k = 0; k < mc->ntally; k++) {
        mc->tally[k] += from->tally[k];
        from->tally[k] = 0;
    }
}
