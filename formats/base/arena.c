/* arena.c: memory that is freed all at once.
 *
 * Blocks double up to a size and are handed out from the front. A freed arena leaves
 * its largest ones with the machine, uncounted, and the next takes them up again: what
 * is built over and over (a compile's trees, a program's tables) costs no calls of the
 * allocator. Under a cap on memory, with a host's allocator or with sanitizers nothing
 * is kept.
 */
#include "context.h"
#include <string.h>

struct arena_block {
    arena_block *next;
    size_t size, used; /* bytes of the whole block, those handed out */
};

enum { ARENA_FIRST = 16384, ARENA_BLOCK = 1 << 18 }; /* sizes of blocks: first, most */
enum { SPARES = sizeof((ctx *)0)->spare / sizeof(arena_block *) };

#define ARENA_ALIGN ((size_t)16)
#define ARENA_HEAD ((sizeof(arena_block) + ARENA_ALIGN - 1) & ~(ARENA_ALIGN - 1))

void arena_init(arena *a, ctx *cx)
{
    a->cx = cx;
    a->head = NULL;
    a->first = ARENA_FIRST;
}

/* The smallest spare block of at least so many bytes, and not many times that, else
 * a new one. */
static arena_block *block_take(ctx *cx, size_t size)
{
    int best = -1;
    for (int i = 0; i < SPARES; i++) {
        const arena_block *b = cx->spare[i];
        if (b && b->size >= size && b->size / 8 <= size &&
            (best < 0 || b->size < cx->spare[best]->size))
            best = i;
    }
    if (best < 0 || !mem_claim(cx, mem_cost(cx, cx->spare[best]->size))) {
        arena_block *b = mem_alloc(cx, size);
        if (b) b->size = size;
        return b;
    }
    arena_block *b = cx->spare[best];
    cx->spare[best] = NULL;
    return b;
}

/* Keeps the block, in place of the smallest if there is no room. */
static void block_give(ctx *cx, arena_block *b)
{
    int to = 0;
    for (int i = 0; i < SPARES && cx->spare[to]; i++)
        if (!cx->spare[i] || cx->spare[i]->size < cx->spare[to]->size) to = i;
    arena_block *out = cx->spare[to];
    if (!mem_keeps(cx) || b->size > ARENA_BLOCK || (out && out->size >= b->size)) {
        mem_free(cx, b, b->size);
        return;
    }
    cx->spare[to] = b;
    mem_unclaim(cx, mem_cost(cx, b->size));
    if (out) mem_drop(cx, out, out->size);
}

void arena_release(ctx *cx)
{
    for (int i = 0; i < SPARES; i++) {
        if (cx->spare[i]) mem_drop(cx, cx->spare[i], cx->spare[i]->size);
        cx->spare[i] = NULL;
    }
}

/* What a block in front of all others gives, whose size is at least `size`. */
static __attribute__((noinline)) void *take_new(arena *a, size_t size)
{
    if (size > SIZE_MAX / 4) return mem_refuse(a->cx, size);
    size_t whole = a->head ? 2 * a->head->size : a->first;
    if (whole > ARENA_BLOCK) whole = ARENA_BLOCK;
    if (whole < ARENA_HEAD + size) whole = ARENA_HEAD + size;
    arena_block *b = block_take(a->cx, whole);
    if (!b) return NULL;
    b->next = a->head;
    b->used = ARENA_HEAD + size;
    a->head = b;
    return (char *)b + ARENA_HEAD;
}

/* Compiling takes hundreds of small parts: mostly there is room. */
static inline void *take(arena *a, size_t size)
{
    const size_t whole = (size + ARENA_ALIGN - 1) & ~(ARENA_ALIGN - 1);
    arena_block *b = a->head;
    if (!b || whole < size || b->size - b->used < whole)
        return take_new(a, whole < size ? size : whole);
    void *out = (char *)b + b->used;
    b->used += whole;
    return out;
}

void *arena_part(arena *a, size_t size, size_t cleared)
{
    void *out = take(a, size);
    return out ? memset(out, 0, cleared) : NULL;
}

void *arena_alloc(arena *a, size_t size)
{
    void *out = take(a, size);
    return out ? memset(out, 0, size) : NULL;
}

void *arena_array(arena *a, int64_t count, size_t size)
{
    size_t bytes;
    return mem_array_size(a->cx, count, size, &bytes) ? arena_alloc(a, bytes) : NULL;
}

void *arena_room(arena *a, int64_t count, size_t size)
{
    size_t bytes;
    return mem_array_size(a->cx, count, size, &bytes) ? take(a, bytes) : NULL;
}

char *arena_text(arena *a, const char *s, size_t len)
{
    char *copy = take(a, len + 1);
    if (!copy) return NULL;
    memcpy(copy, s, len);
    copy[len] = 0;
    return copy;
}

void arena_free(arena *a)
{
    for (arena_block *b = a->head, *next; b; b = next) {
        next = b->next;
        block_give(a->cx, b);
    }
    a->head = NULL;
}
