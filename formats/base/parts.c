/* parts.c: parts of a piece of work, a thread for each (parts.h).
 */
#include "parts.h"
#include "thread.h"

typedef struct part_call {
    void (*work)(void *context, int k);
    void *context;
    int number;
} part_call;

int parts_for(const ctx *cx)
{
    const int threads = cx->root ? 1 : cx->threads;
    return threads < 1 ? 1 : threads < PARTS_MAX ? threads : PARTS_MAX;
}

static void *call(void *context)
{
    const part_call *c = context;
    c->work(c->context, c->number);
    return NULL;
}

void parts_run(int n, void (*work)(void *context, int k), void *context)
{
    pthread_t thread[PARTS_RUN];
    part_call calls[PARTS_RUN];
    bool runs[PARTS_RUN] = {false};
    for (int k = 1; k < n; k++) {
        calls[k] = (part_call){work, context, k};
        runs[k] = thread_start(NULL, &thread[k], call, &calls[k]);
    }
    work(context, 0);
    for (int k = 1; k < n; k++) {
        if (runs[k])
            thread_join(NULL, thread[k]);
        else
            work(context, k);
    }
}
