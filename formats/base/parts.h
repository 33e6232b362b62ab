/* parts.h: a piece of work in parts that need nothing of each other, a thread for each.
 *
 * For loops over arrays that are too short-lived for a pool of threads (vm/core/pool.h has
 * one, for programs). Part 0 runs on the caller's thread, and so does any part for which
 * the system has no thread.
 */
#ifndef STC_FORMATS_PARTS_H
#define STC_FORMATS_PARTS_H

#include "context.h"

enum {
    PARTS_MAX = 8,
    PARTS_RUN = 2 * PARTS_MAX /* at once: of two pieces, one of which waits for a disk */
};

/* How many parts the machine's threads are worth, at most PARTS_MAX. */
int parts_for(const ctx *cx);

/* work(context, k) for k from 0 to n - 1, at most PARTS_RUN. */
void parts_run(int n, void (*work)(void *context, int k), void *context);

#endif
