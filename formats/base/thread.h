/* thread.h: threads of the library's own. */
#ifndef STC_FORMATS_THREAD_H
#define STC_FORMATS_THREAD_H

#include "context.h"
#include <pthread.h>

/* Signals are the host's: a thread has them all blocked. What it takes counts as memory of
 * the machine (cx NULL: it doesn't); false where there is none, or no thread. */
bool thread_start(ctx *cx, pthread_t *t, void *(*serve)(void *), void *arg);
void thread_join(ctx *cx, pthread_t t);

#endif
