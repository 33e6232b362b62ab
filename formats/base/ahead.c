/* ahead.c: blocks whose pages are made while the disk is waited for (ahead.h).
 *
 * Whoever works on a block has it: the thread that touches it takes it out of the list, and
 * puts it back, so that nobody frees it meanwhile.
 */
#include "ahead.h"
#include "spill.h"
#include <pthread.h>

typedef struct ahead {
    _Atomic(char *) block[AHEAD_MAX];
    size_t size; /* of each */
    atomic_bool stop;
    bool runs;
    pthread_t thread;
} ahead;

static void end_part(ctx *root, void *part)
{
    (void)part;
    ahead_end(root);
}

static const part_kind ahead_kind = {sizeof(ahead), end_part};

static void *touch_blocks(void *context)
{
    ahead *a = context;
    for (int k = 0; k < AHEAD_MAX; k++) {
        volatile char *const block = atomic_exchange(&a->block[k], NULL);
        for (size_t at = 0; block && at < a->size && !a->stop; at += SPILL_PAGE)
            block[at] = 0;
        a->block[k] = (char *)(uintptr_t)block;
    }
    return NULL;
}

static void stop_thread(ahead *a)
{
    if (!a->runs) return;
    a->stop = true;
    pthread_join(a->thread, NULL);
    a->runs = false;
}

void ahead_begin(ctx *root, size_t size, int n)
{
    char *block[AHEAD_MAX] = {NULL};
    ahead_end(root);
    ahead *a = ctx_part(root, &ahead_kind);
    /* none is in the list yet, so that none yields to the next */
    for (int k = 0; a && k < n && k < AHEAD_MAX; k++)
        if (!(block[k] = mem_alloc(root, size))) break;
    diag_clear(root);
    if (!a || !block[0]) return;
    a->size = size;
    a->stop = false;
    for (int k = 0; k < AHEAD_MAX; k++)
        a->block[k] = block[k];
    a->runs = pthread_create(&a->thread, NULL, touch_blocks, a) == 0;
}

void *ahead_take(ctx *root, size_t size)
{
    ahead *a = ctx_has_part(root, &ahead_kind);
    char *block = NULL;
    if (!a || a->size != size) return NULL;
    stop_thread(a);
    for (int k = 0; !block && k < AHEAD_MAX; k++)
        block = atomic_exchange(&a->block[k], NULL);
    return block;
}

bool ahead_yield(ctx *root)
{
    ahead *a = ctx_has_part(root, &ahead_kind);
    bool any = false;
    for (int k = 0; a && k < AHEAD_MAX; k++) {
        char *const block = atomic_exchange(&a->block[k], NULL);
        any |= block != NULL;
        mem_free(root, block, a->size);
    }
    return any;
}

void ahead_end(ctx *root)
{
    ahead *a = ctx_has_part(root, &ahead_kind);
    if (a) stop_thread(a);
    ahead_yield(root);
}
