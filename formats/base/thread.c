/* thread.c: threads of the library's own (thread.h). */
#include "thread.h"
#include <signal.h>

/* What a thread takes at most of its stack, and beside it for its own heap in the C
 * library. The stack is as large as the system makes it: a host's functions run there,
 * too, but pages that are never touched cost nothing. */
enum { THREAD_COST = 128 << 10 };

static ctx *root_of(ctx *cx)
{
    return cx && cx->root ? cx->root : cx;
}

/* Under a cap a quarter is left for what the threads are to do. */
static bool claim_thread(ctx *root)
{
    const uint64_t cap = root->max_memory, used = atomic_load(&root->used);
    return (!cap || used + THREAD_COST <= cap - cap / 4) && mem_claim(root, THREAD_COST);
}

bool thread_start(ctx *cx, pthread_t *t, void *(*serve)(void *), void *arg)
{
    ctx *const root = root_of(cx);
    sigset_t all, before;
    if (root && !claim_thread(root)) return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool ok = pthread_create(t, NULL, serve, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (root && !ok) mem_unclaim(root, THREAD_COST);
    return ok;
}

void thread_join(ctx *cx, pthread_t t)
{
    pthread_join(t, NULL);
    if (cx) mem_unclaim(root_of(cx), THREAD_COST);
}
