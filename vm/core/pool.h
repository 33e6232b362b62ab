/* pool.h: the threads of a machine. They are started when first needed, wait
 * between jobs, and are joined when the machine closes.
 */
#ifndef STC_VM_POOL_H
#define STC_VM_POOL_H

#include "../../formats/base/context.h"

typedef struct pool pool;
typedef void (*pool_fn)(void *job, int thread);

/* Calls fn(job, t) for each t in [0, threads), all at once, and returns when all
 * of them have returned; t = 0 is the caller's own thread. Where threads can't
 * be had, the caller makes their calls as well. Not to be called within fn. */
void pool_run(ctx *cx, int threads, pool_fn fn, void *job);

#endif
