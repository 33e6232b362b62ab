/* job.h: work that is done in several passes, whose progress is shown as one.
 *
 * A file is read, unpacked, parsed and packed: four counters that each begin at 0 don't
 * show how long it will take. Within a job they become one that only grows, of a total
 * that stays: each pass has a part of what is left when it begins.
 */
#ifndef STC_FORMATS_JOB_H
#define STC_FORMATS_JOB_H

#include "context.h"

/* Begins a job of `total` units of `what` (0, or no progress function: none). Whether it
 * did: where it is true, job_end has to follow; one inside of another is a part of that. */
bool job_begin(ctx *cx, const char *what, int64_t total);
void job_end(ctx *cx);
/* The next pass is this part of what is left, unless job.c knows its name; `steps`: about
 * how many it counts, 0 if its progress comes by job_tell. */
void job_expect(ctx *cx, int64_t steps, double part);
/* Tells progress of a pass, by name, or of the job that it belongs to; gives its answer. */
int job_tell(ctx *cx, const char *what, uint64_t done, uint64_t total);

#endif
