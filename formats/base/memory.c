/* memory.c: the one allocator; arenas are in arena.c.
 *
 * Every block is counted against the machine's cap, atomically, with what it
 * really takes: headers, alignment, whole pages. The default allocator is the C
 * library's, except for blocks of 1 MB and more: these are mapped, aligned so that
 * huge pages fit (a page fault costs more than copying its page), grown by moving
 * page tables in place of bytes. A few freed ones are kept for the next request, or for
 * what grows, and so are a few of 64 KB and more: the C library gives their pages back to
 * the system, and results of that size would be made of new pages again and again. Under a
 * cap nothing is kept, and blocks of 64 KB and more are mapped page by page, so that what
 * is freed goes back to the system at once: the C library's heaps, one for each thread,
 * would hold on to it. Where the machine has a folder for it, the largest blocks lie in
 * files (spill.h), and aren't counted.
 */
#define _GNU_SOURCE
#include "premade.h"
#include "spill.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define PLAIN_MALLOC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define PLAIN_MALLOC 1
#endif
#endif
#if !defined(__linux__)
#define PLAIN_MALLOC 1
#endif

#define MEM_PAGE ((size_t)4 << 10)

/* ---- the default allocator ------------------------------------------------ */

#ifndef PLAIN_MALLOC
#define HUGE ((size_t)2 << 20)
#define MAPPED (HUGE / 2)             /* blocks of this size and more have huge pages */
#define MAPPED_CAPPED (16 * MEM_PAGE) /* with a cap, they are mapped from this size on */
/* Blocks of this size and more begin at a cache line: vectors don't lie across two. */
#define ALIGNED ((size_t)4 << 10)
#define LINE ((size_t)64)
#define KEPT_LEAST ((size_t)64 << 10) /* lesser blocks go back at once */
#define KEPT_MAX ((size_t)256 << 20)  /* … and so do larger ones        */
enum { KEPT = 8, KEPT_LESSER = sizeof((ctx *)0)->lesser.list / sizeof(struct kept_block) };

static size_t huge_round(size_t size)
{
    return (size + HUGE - 1) & ~(HUGE - 1);
}

static bool is_mapped(const ctx *cx, size_t size)
{
    return size >= (cx->max_memory ? MAPPED_CAPPED : MAPPED);
}

/* What a mapped block of that size takes. */
static size_t map_round(const ctx *cx, size_t size)
{
    return cx->max_memory ? (size + MEM_PAGE - 1) & ~(MEM_PAGE - 1) : huge_round(size);
}

static size_t block_takes(const ctx *cx, size_t size)
{
    return is_mapped(cx, size) ? map_round(cx, size) : size;
}

/* Blocks that begin at a line lie a little behind the start of one of the C library's,
 * which is kept in front of them. posix_memalign would leave holes that it doesn't
 * fill again: a heap in which aligned blocks come and go grew without end. */
static void **line_start(void *block)
{
    return (void **)block - 1;
}

static void *line_place(void *raw)
{
    void *block = (void *)(((size_t)raw + LINE) & ~(LINE - 1));
    *line_start(block) = raw; /* raw is a multiple of 16: there is room */
    return block;
}

static void *line_alloc(size_t size)
{
    if (size < ALIGNED) return malloc(size);
    void *raw = malloc(size + LINE);
    return raw ? line_place(raw) : NULL;
}

static void line_free(void *block, size_t size)
{
    free(size < ALIGNED ? block : *line_start(block));
}

/* A block that moves as it grows may leave its line. */
static void *line_resize(void *block, size_t old_size, size_t size)
{
    if (old_size < ALIGNED && size < ALIGNED) return realloc(block, size);
    if (old_size < ALIGNED || size < ALIGNED) {
        void *to = line_alloc(size);
        if (!to) return NULL;
        memcpy(to, block, old_size < size ? old_size : size);
        line_free(block, old_size);
        return to;
    }
    void *start = *line_start(block);
    const size_t ahead = (size_t)((char *)block - (char *)start);
    char *raw = realloc(start, size + LINE);
    if (!raw) return NULL;
    void *to = (void *)(((size_t)raw + LINE) & ~(LINE - 1));
    if (to != raw + ahead) memmove(to, raw + ahead, old_size < size ? old_size : size);
    return line_place(raw);
}

static void kept_lock(ctx *cx)
{
    while (atomic_flag_test_and_set_explicit(&cx->kept_lock, memory_order_acquire)) {
    }
}

static void kept_unlock(ctx *cx)
{
    atomic_flag_clear_explicit(&cx->kept_lock, memory_order_release);
}

static void *kept_remove(struct kept_list *in, int k)
{
    void *block = in->list[k].block;
    memmove(&in->list[k], &in->list[k + 1], (size_t)(--in->n - k) * sizeof *in->list);
    return block;
}

/* Takes the kept block that fits best, of equal ones the last freed, which the caches may
 * still have; one that is mapped is cut to size. */
static void *kept_take(ctx *cx, size_t size)
{
    struct kept_list *in = is_mapped(cx, size) ? &cx->kept : &cx->lesser;
    kept_lock(cx);
    int best = -1;
    size_t have = 2 * size - 1;
    for (int k = 0; k < in->n; k++) {
        const size_t there = in->list[k].size;
        if (there < size || there > have) continue;
        best = k;
        have = there;
    }
    void *block = best < 0 ? NULL : kept_remove(in, best);
    kept_unlock(cx);
    if (block && have > size && in == &cx->kept) munmap((char *)block + size, have - size);
    return block;
}

static void block_end(void *block, size_t size, bool mapped)
{
    if (!block) return;
    if (mapped) {
        munmap(block, size);
    } else {
        line_free(block, size);
    }
}

/* Keeps a freed block, in the place of the oldest if there are enough: what is asked for
 * next is mostly of the size of what was freed last. */
static void kept_give(ctx *cx, void *block, size_t size)
{
    const bool mapped = is_mapped(cx, size);
    struct kept_list *to = mapped ? &cx->kept : &cx->lesser;
    struct kept_block out = {block, size};
    if (!cx->max_memory && size >= KEPT_LEAST && size <= KEPT_MAX) {
        out.block = NULL;
        kept_lock(cx);
        if (to->n == (mapped ? KEPT : KEPT_LESSER)) {
            out.size = to->list[0].size;
            out.block = kept_remove(to, 0);
        }
        to->list[to->n++] = (struct kept_block){block, size};
        kept_unlock(cx);
    }
    block_end(out.block, out.size, mapped);
}

static void kept_release(struct kept_list *in, bool mapped)
{
    for (; in->n; in->n--)
        block_end(in->list[in->n - 1].block, in->list[in->n - 1].size, mapped);
}

/* Address space of `size`; where they fit, aligned to huge pages. */
static char *map_aligned(size_t size)
{
    const size_t align = size < MAPPED ? 0 : HUGE;
    if (size > SIZE_MAX - HUGE) return NULL;
    char *raw = mmap(NULL, size + align, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) return NULL;
    if (!align) return raw;
    char *block = (char *)huge_round((size_t)raw);
    if (block > raw) munmap(raw, (size_t)(block - raw));
    const size_t tail = (size_t)(raw + size + HUGE - (block + size));
    if (tail) munmap(block + size, tail);
    return block;
}

static void *map_alloc(ctx *cx, size_t size)
{
    size = map_round(cx, size);
    char *block = map_aligned(size);
    if (block && size >= MAPPED) madvise(block, size, MADV_HUGEPAGE);
    return block;
}

static void *map_resize(ctx *cx, void *block, size_t old_size, size_t size)
{
    old_size = map_round(cx, old_size);
    size = map_round(cx, size);
    if (size == old_size) return block;
    void *moved = mremap(block, old_size, size, 0);
    if (moved == MAP_FAILED) {
        char *to = map_aligned(size);
        if (!to) return NULL;
        moved = mremap(block, old_size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
        if (moved == MAP_FAILED) {
            munmap(to, size);
            return NULL;
        }
    }
    if (size > old_size && size >= MAPPED) madvise(moved, size, MADV_HUGEPAGE);
    return moved;
}

static void default_free(ctx *cx, void *block, size_t size)
{
    kept_give(cx, block, block_takes(cx, size));
}

/* Blocks that are the C library's as they are, under a cap, too. */
static bool is_small(const ctx *root, size_t size)
{
    return size < ALIGNED && !root->alloc && !root->spill;
}

static void *default_alloc(ctx *cx, void *block, size_t old_size, size_t size)
{
    if (size > SIZE_MAX / 2) return NULL;
    const bool mapped = is_mapped(cx, size);
    const size_t takes = block_takes(cx, size);
    /* What grows goes to a kept block, if there is one: bytes are copied faster than the
     * system gives new pages. */
    const bool grows = !block || takes > block_takes(cx, old_size);
    void *to = grows && size >= KEPT_LEAST ? kept_take(cx, takes) : NULL;
    if (!to && block && is_mapped(cx, old_size) == mapped)
        return mapped ? map_resize(cx, block, old_size, size)
                      : line_resize(block, old_size, size);
    if (!to) to = mapped ? map_alloc(cx, size) : line_alloc(size);
    if (!to || !block) return to;
    memcpy(to, block, old_size < size ? old_size : size);
    default_free(cx, block, old_size);
    return to;
}

/* What a block takes of the process's memory. */
static size_t default_cost(const ctx *cx, size_t size)
{
    if (size > SIZE_MAX / 2) return size;
    if (is_mapped(cx, size)) return map_round(cx, size);
    if (size >= ALIGNED) size += LINE;
    size = (size + sizeof(size_t) + 15) & ~(size_t)15; /* a header, and steps of 16 */
    return size < 32 ? 32 : size;
}

enum { BLOCKS_KEPT = true };

void mem_release(ctx *cx)
{
    kept_release(&cx->kept, true);
    kept_release(&cx->lesser, false);
    arena_release(cx);
    spill_end(cx);
}

#else

static bool is_small(const ctx *root, size_t size)
{
    (void)root;
    (void)size;
    return false;
}

static void default_free(ctx *cx, void *block, size_t size)
{
    (void)cx;
    (void)size;
    free(block);
}

static void *default_alloc(ctx *cx, void *block, size_t old_size, size_t size)
{
    (void)cx;
    (void)old_size;
    return realloc(block, size);
}

static size_t default_cost(const ctx *cx, size_t size)
{
    (void)cx;
    return size;
}

enum { BLOCKS_KEPT = false };

void mem_release(ctx *cx)
{
    spill_end(cx);
}

#endif

/* ---- counting ---------------------------------------------------------------- */

static ctx *root_of(ctx *cx)
{
    return cx->root ? cx->root : cx;
}

bool mem_claim(ctx *cx, size_t size)
{
    const uint64_t before =
        atomic_fetch_add_explicit(&cx->used, size, memory_order_relaxed);
    const uint64_t now = before + size;
    if (now < before || (cx->max_memory && now > cx->max_memory)) {
        atomic_fetch_sub_explicit(&cx->used, size, memory_order_relaxed);
        return premade_yield(cx) && mem_claim(cx, size);
    }
    uint64_t peak = atomic_load_explicit(&cx->peak, memory_order_relaxed);
    while (now > peak && !atomic_compare_exchange_weak_explicit(&cx->peak, &peak, now,
                                                                memory_order_relaxed,
                                                                memory_order_relaxed)) {
    }
    return true;
}

void mem_unclaim(ctx *cx, size_t size)
{
    atomic_fetch_sub_explicit(&cx->used, size, memory_order_relaxed);
}

bool mem_keeps(const ctx *cx)
{
    return BLOCKS_KEPT && !cx->alloc && !cx->root && !cx->max_memory;
}

/* The host's allocator needn't know of threads: theirs call it one at a time. */
static void *host_alloc(ctx *cx, void *block, size_t old_size, size_t size)
{
    ctx *const root = root_of(cx);
    if (!cx->root) return root->alloc(root->alloc_context, block, old_size, size);
    while (atomic_flag_test_and_set_explicit(&root->alloc_lock, memory_order_acquire)) {
    }
    void *out = root->alloc(root->alloc_context, block, old_size, size);
    atomic_flag_clear_explicit(&root->alloc_lock, memory_order_release);
    return out;
}

size_t mem_cost(const ctx *cx, size_t size)
{
    return cx->alloc ? size : default_cost(cx, size);
}

/* ---- blocks in files --------------------------------------------------------- */

enum { IN_MEMORY = sizeof((ctx *)0)->in_memory / sizeof(void *) };

/* The place in the list of a block that is as large as a file's and lies in memory; NULL:
 * an empty one. -1: there is none. */
static int in_memory(const ctx *root, const void *block)
{
    for (int k = 0; k < IN_MEMORY; k++)
        if (atomic_load_explicit(&root->in_memory[k], memory_order_relaxed) == block)
            return k;
    return -1;
}

bool mem_in_file(const ctx *cx, const void *block, size_t size)
{
    const ctx *const root = cx->root ? cx->root : cx;
    return spill_takes(root, size) && in_memory(root, block) < 0;
}

static size_t cost_of(const ctx *root, const void *block, size_t size)
{
    return mem_in_file(root, block, size) ? 0 : mem_cost(root, size);
}

bool mem_leaves(const ctx *cx, size_t size, int parts)
{
    const ctx *const root = cx->root ? cx->root : cx;
    const uint64_t cap = root->max_memory, most = cap - cap / (unsigned)parts;
    const uint64_t used = atomic_load_explicit(&root->used, memory_order_relaxed);
    return !cap || (used < most && mem_cost(root, size) <= most - used);
}

/* Whether a new block is to lie in memory though a file would take it: pages of files cost
 * many times those of memory when they are first touched. It is for what has its size from
 * the start, and leaves half of the cap for the rest. */
static bool has_room(const ctx *root, size_t size)
{
    return size <= root->max_memory / 4 && mem_leaves(root, size, 2);
}

static bool list_block(ctx *root, void *block)
{
    for (int k; (k = in_memory(root, NULL)) >= 0;) {
        void *none = NULL;
        if (atomic_compare_exchange_strong(&root->in_memory[k], &none, block)) return true;
    }
    return false;
}

static void unlist_block(ctx *root, const void *block)
{
    const int k = in_memory(root, block);
    if (k >= 0) atomic_store(&root->in_memory[k], NULL);
}

/* NULL: it is to be a file's. */
static void *large_in_memory(ctx *root, size_t size)
{
    const size_t cost = mem_cost(root, size);
    if (!has_room(root, size) || !mem_claim(root, cost)) return NULL;
    void *block = default_alloc(root, NULL, 0, size);
    if (block && list_block(root, block)) return block;
    if (block) default_free(root, block, size);
    mem_unclaim(root, cost);
    return NULL;
}

static void block_free(ctx *cx, void *block, size_t size)
{
    if (mem_in_file(cx, block, size)) {
        spill_free(block);
        return;
    }
    if (spill_takes(cx, size)) unlist_block(cx, block);
    default_free(cx, block, size);
}

/* A block in memory that stays there: `k` is its place in the list, if it has one. */
static void *resize_in_memory(ctx *cx, int k, void *block, size_t old_size, size_t size)
{
    void *const out = default_alloc(cx, block, old_size, size);
    if (out && k >= 0) atomic_store(&cx->in_memory[k], spill_takes(cx, size) ? out : NULL);
    return out;
}

/* From memory to a file and back where the size asks for it. */
static void *block_resize(ctx *cx, void *block, size_t old_size, size_t size, bool file)
{
    const bool from = block && mem_in_file(cx, block, old_size);
    const int k = block && spill_takes(cx, old_size) ? in_memory(cx, block) : -1;
    if (!file && !from) return resize_in_memory(cx, k, block, old_size, size);
    if (file && (from || !block)) return spill_resize(cx, block, size);
    void *moved = file ? spill_resize(cx, NULL, size) : default_alloc(cx, NULL, 0, size);
    if (!moved) return NULL;
    memcpy(moved, block, old_size < size ? old_size : size);
    if (file) spill_unsum(moved, old_size);
    block_free(cx, block, old_size);
    return moved;
}

/* What grows into a file's size becomes a file's. */
static bool goes_to_file(const ctx *root, const void *block, size_t old_size, size_t size)
{
    return spill_takes(root, size) &&
           !(block && size <= old_size && !mem_in_file(root, block, old_size));
}

/* Without an error: for those who try, and try for less. */
static void *try_resize(ctx *cx, void *block, size_t old_size, size_t size)
{
    if (!old_size) old_size = 1;
    if (!size) size = 1;
    if (!block) old_size = 0;
    ctx *const root = root_of(cx);
    const bool file = goes_to_file(root, block, old_size, size);
    void *out = file && !block ? large_in_memory(root, size) : NULL;
    if (out) return out;
    const size_t cost = file ? 0 : mem_cost(root, size);
    const size_t old = block ? cost_of(root, block, old_size) : 0;
    if (cost > old && !mem_claim(root, cost - old)) return NULL;
    out = root->alloc ? host_alloc(cx, block, old_size, size)
                      : block_resize(root, block, old_size, size, file);
    if (!out) {
        if (cost > old) mem_unclaim(root, cost - old);
        return NULL;
    }
    if (cost < old) mem_unclaim(root, old - cost);
    return out;
}

void *mem_refuse(ctx *cx, size_t size)
{
    ctx *const root = root_of(cx);
    const int why = errno;
    const uint64_t used = atomic_load_explicit(&root->used, memory_order_relaxed);
    if (spill_takes(root, size)) {
        fail(cx, STC_ERR_MEMORY, "out of memory: no block of %zu bytes in a file of %s: %s",
             size, root->spill, strerror(why));
        return NULL;
    }
    const uint64_t cap = root->max_memory, cost = mem_cost(root, size);
    /* What would have grown by little may have needed another page. */
    const uint64_t more = root->alloc || cost > cap ? 0 : 2 * MEM_PAGE;
    if (cap && (cost > cap || used + cost + more > cap)) {
        char files[96] = "";
        if (root->spill)
            snprintf(files, sizeof files, "; only arrays from %llu bytes on lie in files",
                     (unsigned long long)root->spill_least);
        else if (!root->alloc && size >= spill_least(cap))
            snprintf(files, sizeof files, "; with a folder to spill to it would lie there");
        fail(cx, STC_ERR_MEMORY,
             "out of memory: %zu more bytes would exceed the cap of %llu (%llu are in "
             "use)%s",
             size, (unsigned long long)cap, (unsigned long long)used, files);
    } else {
        fail(cx, STC_ERR_MEMORY, "out of memory: no block of %zu bytes", size);
    }
    return NULL;
}

void *mem_resize(ctx *cx, void *block, size_t old_size, size_t size)
{
    void *out = try_resize(cx, block, old_size, size);
    return out ? out : mem_refuse(cx, size);
}

void *mem_alloc(ctx *cx, size_t size)
{
    ctx *const root = root_of(cx);
    if (!is_small(root, size) || !size) return mem_resize(cx, NULL, 0, size);
    const size_t cost = default_cost(root, size);
    if (!mem_claim(root, cost)) return mem_refuse(cx, size);
    void *out = malloc(size);
    if (out) return out;
    mem_unclaim(root, cost);
    return mem_refuse(cx, size);
}

/* Counts have 64 bits, also where addresses have 32. */
static bool fits(int64_t count, size_t size, size_t *bytes)
{
    int64_t all;
    if (!size_mul(count, (int64_t)size, &all) || (uint64_t)all > SIZE_MAX / 2) return false;
    *bytes = (size_t)all;
    return true;
}

bool mem_array_size(ctx *cx, int64_t count, size_t size, size_t *bytes)
{
    if (fits(count, size, bytes)) return true;
    fail(cx, STC_ERR_OVERFLOW, "an array of %lld elements of %zu bytes is too large",
         (long long)count, size);
    return false;
}

void *mem_array(ctx *cx, int64_t count, size_t size)
{
    size_t bytes;
    return mem_array_size(cx, count, size, &bytes) ? mem_alloc(cx, bytes) : NULL;
}

void *mem_zero(ctx *cx, int64_t count, size_t size)
{
    size_t bytes;
    if (!mem_array_size(cx, count, size, &bytes)) return NULL;
    void *block = mem_alloc(cx, bytes);
    if (block) memset(block, 0, bytes);
    return block;
}

void mem_free(ctx *cx, void *block, size_t size)
{
    if (!block) return;
    if (!size) size = 1;
    ctx *const root = root_of(cx);
    if (is_small(root, size)) {
        free(block);
        mem_unclaim(root, default_cost(root, size));
        return;
    }
    const size_t cost = cost_of(root, block, size);
    if (root->alloc) {
        host_alloc(cx, block, size, 0);
    } else {
        block_free(root, block, size);
    }
    mem_unclaim(root, cost);
}

void mem_put(ctx *cx, void *block, size_t size, void *to, const void *from, size_t n)
{
    enum { PAGES = 16 }; /* below, a call costs more than it saves */
    const ctx *const root = root_of(cx);
    const bool file = n && mem_in_file(root, block, size);
    if (file) spill_sum(block, to, from, n);
    if (file && n >= PAGES * MEM_PAGE && spill_write(block, to, from, n)) return;
    if (n) memcpy(to, from, n);
}

void mem_put_anew(ctx *cx, void *block, size_t size)
{
    const ctx *const root = root_of(cx);
    if (block && mem_in_file(root, block, size)) spill_unsum(block, 0);
}

void mem_drop(ctx *cx, void *block, size_t size)
{
    block_free(cx, block, size);
}

stc_status mem_sort(ctx *cx, void *block, int64_t n, size_t size,
                    int (*compare)(const void *, const void *))
{
    const size_t bytes = (size_t)n * size;
    if (n < 2) return STC_OK;
    if (!mem_claim(root_of(cx), bytes)) {
        mem_refuse(cx, bytes);
        return STC_ERR_MEMORY;
    }
    qsort(block, (size_t)n, size, compare);
    mem_unclaim(root_of(cx), bytes);
    return STC_OK;
}

char *mem_strdup(ctx *cx, const char *s)
{
    const size_t size = strlen(s) + 1;
    char *copy = mem_alloc(cx, size);
    if (copy) memcpy(copy, s, size);
    return copy;
}

void mem_strfree(ctx *cx, char *s)
{
    if (s) mem_free(cx, s, strlen(s) + 1);
}

bool size_product(const int64_t *sizes, int n, int64_t *out)
{
    bool fits = true;
    *out = 1;
    for (int k = 0; k < n; k++) {
        if (sizes[k] == 0) {
            *out = 0;
            return true;
        }
        fits = fits && size_mul(*out, sizes[k], out);
    }
    return fits;
}

stc_status mem_grow_now(ctx *cx, void *block_ptr, int64_t *cap, int64_t need, size_t size)
{
    void **block = block_ptr;
    size_t bytes, want;
    if (!mem_array_size(cx, need, size, &bytes)) return cx->diag.status;
    int64_t more = *cap < (int64_t)1 << 20 ? *cap * 2 : *cap + *cap / 2;
    if (more < need) more = need;
    if (more < 8) more = 8;
    const size_t old = (size_t)*cap * size;
    void *out = NULL;
    /* Where there isn't room for that much, for less: what is left of a cap is
     * taken in steps that halve, not one by one. */
    for (;; more = need + (more - need) / 2) {
        if (fits(more, size, &want)) out = try_resize(cx, *block, old, want);
        if (out || more == need) break;
    }
    if (!out) {
        mem_refuse(cx, bytes - old);
        return STC_ERR_MEMORY;
    }
    *block = out;
    *cap = more;
    return STC_OK;
}

/* The first `rows` rows go back to what they were. */
static void shrink_rows(ctx *cx, const mem_row *row, int rows, int64_t from, int64_t to)
{
    const diag kept = cx->diag;
    for (int k = 0; k < rows; k++) {
        const size_t size = row[k].size, had = (size_t)from * size;
        void *less = to ? mem_resize(cx, *row[k].block, had, (size_t)to * size) : NULL;
        if (!less) mem_free(cx, *row[k].block, had);
        *row[k].block = less;
    }
    cx->diag = kept;
}

stc_status mem_grow_rows(ctx *cx, const mem_row *row, int rows, int64_t *cap, int64_t need)
{
    const int64_t had = *cap;
    int64_t more = had;
    int k = 0;
    size_t bytes;
    bool lost = false;
    if (need <= had || !rows) return STC_OK;
    for (int j = 0; j < rows; j++) /* as many as they may become */
        if (!fits(need, 2 * row[j].size, &bytes))
            return fail(cx, STC_ERR_OVERFLOW, "%lld entries are too many", (long long)need);
    if (mem_grow_now(cx, row[0].block, &more, need, row[0].size)) return cx->diag.status;
    for (k = 1; k < rows; k++) {
        void *block = mem_resize(cx, *row[k].block, (size_t)had * row[k].size,
                                 (size_t)more * row[k].size);
        if (!block) break;
        *row[k].block = block;
    }
    *cap = more;
    if (k == rows) return STC_OK;
    shrink_rows(cx, row, k, more, had);
    for (int j = 0; j < rows; j++)
        lost |= !*row[j].block;
    for (int j = 0; j < rows && lost; j++) {
        if (*row[j].block) mem_free(cx, *row[j].block, (size_t)had * row[j].size);
        *row[j].block = NULL;
    }
    *cap = lost ? 0 : had;
    return cx->diag.status;
}
