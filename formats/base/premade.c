/* premade.c: blocks whose pages are made while the disk is waited for (premade.h).
 *
 * Whoever works on a block has it: the thread that touches it takes it out of the list, and
 * puts it back, so that nobody frees it meanwhile.
 */
#include "premade.h"
#include "spill.h"
#include "thread.h"

typedef struct premade {
    _Atomic(char *) block[PREMADE_MAX];
    size_t size; /* of each */
    atomic_bool stop;
    bool runs;
    pthread_t thread;
} premade;

static void *touch_blocks(void *context)
{
    premade *a = context;
    for (int k = 0; k < PREMADE_MAX; k++) {
        volatile char *const block = atomic_exchange(&a->block[k], NULL);
        for (size_t at = 0; block && at < a->size && !a->stop; at += SPILL_PAGE)
            block[at] = 0;
        a->block[k] = (char *)(uintptr_t)block;
    }
    return NULL;
}

static void stop_thread(premade *a)
{
    if (!a->runs) return;
    a->stop = true;
    thread_join(NULL, a->thread);
    a->runs = false;
}

static bool free_blocks(ctx *root, premade *a)
{
    bool any = false;
    for (int k = 0; k < PREMADE_MAX; k++) {
        char *const block = atomic_exchange(&a->block[k], NULL);
        any |= block != NULL;
        mem_free(root, block, a->size);
    }
    return any;
}

/* Also when the machine closes: the part isn't to be found any more, and is handed over. */
static void end_part(ctx *root, void *part)
{
    stop_thread(part);
    free_blocks(root, part);
}

static const part_kind premade_kind = {sizeof(premade), end_part};

void premade_begin(ctx *root, size_t size, int n)
{
    char *block[PREMADE_MAX] = {NULL};
    premade_end(root);
    premade *a = ctx_part(root, &premade_kind);
    /* none is in the list yet, so that none yields to the next */
    for (int k = 0; a && k < n && k < PREMADE_MAX; k++)
        if (!mem_leaves(root, size, PREMADE_LEFT) || !(block[k] = mem_alloc(root, size)))
            break;
    diag_clear(root);
    if (!a || !block[0]) return;
    a->size = size;
    a->stop = false;
    for (int k = 0; k < PREMADE_MAX; k++)
        a->block[k] = block[k];
    a->runs = thread_start(NULL, &a->thread, touch_blocks, a);
}

void *premade_take(ctx *root, size_t size)
{
    premade *a = ctx_has_part(root, &premade_kind);
    char *block = NULL;
    if (!a || a->size != size) return NULL;
    stop_thread(a);
    for (int k = 0; !block && k < PREMADE_MAX; k++)
        block = atomic_exchange(&a->block[k], NULL);
    return block;
}

bool premade_yield(ctx *root)
{
    premade *a = ctx_has_part(root, &premade_kind);
    return a && free_blocks(root, a);
}

void premade_end(ctx *root)
{
    premade *a = ctx_has_part(root, &premade_kind);
    if (a) end_part(root, a);
}
