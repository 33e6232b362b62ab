/* context.h: what every part is handed: memory, the place for an error, and
 * the flag that asks to stop. One per machine; nothing here is global.
 *
 * Errors: a function that fails fills ctx->diag by one of the fail_ functions
 * and returns their status, so `return fail(cx, STC_ERR_DATA, "…")` is the
 * idiom. Texts are owned by the diag (fixed buffers, long ones are cut).
 *
 * Memory: mem_alloc counts bytes against the cap; sizes are products checked
 * by mem_array. A null result has already filled the diag.
 */
#ifndef STC_FORMATS_CONTEXT_H
#define STC_FORMATS_CONTEXT_H

#include "../../include/stcvm.h"
#include <stdatomic.h>
#include <stdarg.h>

/* A place in a text: byte offsets, so that line and column are found only
 * for an error's message. */
typedef struct span {
    int32_t begin, end;
} span;

typedef struct diag {
    stc_status status;
    int line, column, length;
    char file[256];
    char message[768];
    char text[512];
} diag;

/* Why the call under way has to end. */
typedef enum work_stop { WORK_GOES_ON, WORK_INTERRUPTED, WORK_UNWANTED } work_stop;

typedef struct ctx {
    /* A worker thread's context counts its memory in the machine's, which is this
     * one; NULL: it is the machine's. Its errors are its own. */
    struct ctx *root;
    stc_alloc_fn alloc;
    void *alloc_context;
    uint64_t max_memory;
    const char *spill;    /* the folder of blocks that lie in files, NULL: none do */
    uint64_t spill_least; /* bytes of the least of them                            */
    _Atomic(struct spill_file *) spilled; /* the file that they share: see spill.h */
    _Atomic(void *) in_memory[16]; /* blocks as large as those, for which there was room */
    _Atomic uint64_t used, peak;
    atomic_int stop; /* a work_stop: set until the next call begins                  */
    bool entered;    /* a public call is under way: set where calls begin and end (api.h) */
    atomic_bool refused;   /* the host's code made another one meanwhile           */
    uint64_t max_steps;    /* of calls that are limited                             */
    uint64_t limit, steps; /* of the call under way, 0: none; done in it           */
    int threads;
    bool no_super, profile, no_files, trust_files, deterministic, as_written;
    stc_progress_fn progress;
    void *progress_context;
    uint64_t worked, unseen; /* steps of all calls; work since progress was last told */
    diag diag;
    /* Large blocks that were freed and wait to be used again (memory.c), the oldest
     * first: only with the default allocator, and without a cap. Those that are mapped,
     * and lesser ones. */
    struct kept_list {
        int n;
        struct kept_block {
            void *block;
            size_t size;
        } list[16];
    } kept, lesser;
    atomic_flag kept_lock;
    /* Blocks of arenas that were freed, for the next ones: not counted, and only
     * without a cap. Arenas of the machine's own context only, so by one thread. */
    struct arena_block *spare[6];
    atomic_flag alloc_lock; /* around the host's allocator, when threads run */
    int64_t grain;          /* least work of a thread's share; 0: the default */
    bool plain;             /* as on a processor without AVX2                 */
    struct part *parts;     /* see ctx_part, the newest first                 */
} ctx;

/* What other files keep for as long as the machine lives: threads, what the host
 * registered. A part's kind, of which its file has the only one, says how large it is and
 * how it ends; nothing else is known of it here. A machine has one part of a kind, made of
 * zeros when it is first asked for. */
typedef struct part_kind {
    size_t size;
    void (*end)(ctx *cx, void *part); /* frees what it holds, but not itself */
} part_kind;
void *ctx_part(ctx *cx, const part_kind *kind); /* NULL: no memory, the diag is filled */
void *ctx_look_for(const ctx *cx, const part_kind *kind);
/* NULL: it wasn't asked for yet. */
static inline void *ctx_has_part(const ctx *cx, const part_kind *kind)
{
    return cx->parts ? ctx_look_for(cx, kind) : NULL; /* most machines have none */
}
void ctx_end_parts(ctx *cx); /* the newest first */

/* What is wrong with the name of something that the host registers, of at most room - 1
 * bytes; NULL: nothing. */
const char *host_name_fault(const char *name, size_t room);

#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
/* Makers of errors are cold: what leads to them stands apart from the good path,
 * which then takes fewer cache lines (a compile runs through most of its code once). */
#define ERROR_LIKE(f, a) __attribute__((cold, format(printf, f, a)))

/* An error without a place in a text. */
stc_status fail(ctx *cx, stc_status status, const char *format, ...) ERROR_LIKE(3, 4);
/* An error in a data file: line counts from 1, 0 if there is none. */
stc_status fail_file(ctx *cx, stc_status status, const char *file, int64_t line,
                     const char *format, ...) ERROR_LIKE(5, 6);
/* An error in a program text. */
stc_status fail_text(ctx *cx, stc_status status, const char *file, const char *text,
                     span at, const char *format, ...) ERROR_LIKE(6, 7);
void diag_clear(ctx *cx);
/* The bytes of the character that a text begins with: UTF-8, and nothing that a
 * terminal could take for a command. 0: it begins with no such character. */
int char_shown(const char *s);
/* stc_text_show for a line that columns are counted in: a ? in place of such a byte. */
void line_show(char *line);
/* The fuel of a call. Work that grows with what a program, a text or a file asks for
 * is counted here, at least once a millisecond: n more steps, each about as much as
 * a round of a loop or an element that is moved. Fails where the call has to end: over its
 * steps, interrupted, or unwanted by the progress function. It fails from then on until
 * the call has ended, so that a function without a status may just leave its loop, if what
 * follows asks again before it relies on the whole. */
stc_status work_done(ctx *cx, uint64_t n);
/* Tells progress of n more steps, counted elsewhere; false: it doesn't want more. */
bool work_tell(ctx *cx, uint64_t n);
enum { WORK_BLOCK = 1 << 14 }; /* elements between two looks */
/* A loop over [at, n) in blocks: the end of the next one, which is charged here; `at` if
 * there is none or the call has to end:
 *
 *     for (int64_t i = 0, end; (end = work_block(cx, i, n)) > i;)
 *         for (; i < end; i++) …
 */
static inline int64_t work_block(ctx *cx, int64_t at, int64_t n)
{
    if (at >= n) return at;
    const int64_t end = n - at < WORK_BLOCK ? n : at + WORK_BLOCK;
    return work_done(cx, (uint64_t)(end - at)) ? at : end;
}
/* In a loop that leaves early or goes through several arrays: at the i-th element, whether
 * the call has to end. */
static inline bool work_due(ctx *cx, int64_t i)
{
    return i % WORK_BLOCK == WORK_BLOCK - 1 && work_done(cx, WORK_BLOCK);
}
/* memcpy and memset in blocks; a step is 64 bytes. */
stc_status work_copy(ctx *cx, void *to, const void *from, size_t bytes);
stc_status work_clear(ctx *cx, void *to, int byte, size_t bytes);

/* A ctx starts as zeros (but for its settings). mem_release gives back what
 * the allocator keeps; call it last, when all else has been freed. */
void mem_release(ctx *cx);
/* Sizes of 0 give a block, too. old_size and size of a free are what was asked. */
void *mem_alloc(ctx *cx, size_t size);                /* not cleared */
void *mem_array(ctx *cx, int64_t count, size_t size); /* not cleared */
void *mem_zero(ctx *cx, int64_t count, size_t size);  /* cleared     */
void *mem_resize(ctx *cx, void *block, size_t old_size, size_t size);
/* Copies n bytes to `to`, inside a block of that size: into its file, if it lies in one. */
void mem_put(ctx *cx, void *block, size_t size, void *to, const void *from, size_t n);
/* What was put into a block isn't there any more, or lies elsewhere: its sum begins anew.
 */
void mem_put_anew(ctx *cx, void *block, size_t size);
void mem_free(ctx *cx, void *block, size_t size);
/* qsort, which sorts in a copy that the C library makes: it counts meanwhile. */
stc_status mem_sort(ctx *cx, void *block, int64_t n, size_t size,
                    int (*compare)(const void *, const void *));
char *mem_strdup(ctx *cx, const char *s);
void mem_strfree(ctx *cx, char *s);
/* False on overflow or < 0. */
static inline bool size_mul(int64_t a, int64_t b, int64_t *out)
{
    return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, out);
}
static inline bool size_add(int64_t a, int64_t b, int64_t *out)
{
    return a >= 0 && b >= 0 && !__builtin_add_overflow(a, b, out);
}
/* The product of all: 0 if one of them is 0, however large the others are. */
bool size_product(const int64_t *sizes, int n, int64_t *out);

/* Grows *block (elements of `size` bytes, *cap of them) to hold at least
 * `need`, geometrically, in place where the allocator can. */
stc_status mem_grow_now(ctx *cx, void *block_ptr, int64_t *cap, int64_t need, size_t size);
static inline stc_status mem_grow(ctx *cx, void *block_ptr, int64_t *cap, int64_t need,
                                  size_t size)
{
    return need <= *cap ? STC_OK : mem_grow_now(cx, block_ptr, cap, need, size);
}
/* Arrays of one capacity: all of them grow so, or, if one can't, none. If one can't even
 * shrink back, all are given up: *cap is 0. */
typedef struct mem_row {
    void **block;
    size_t size; /* of an element */
} mem_row;
stc_status mem_grow_rows(ctx *cx, const mem_row *row, int rows, int64_t *cap, int64_t need);

/* What the allocator counts, for those who keep blocks: bytes in use, false beyond the
 * cap; bytes given back; what a block of a size counts as (with the default allocator
 * its header and its last page, too); the bytes of an array, and the errors of both. */
bool mem_claim(ctx *cx, size_t size);
void mem_unclaim(ctx *cx, size_t size);
size_t mem_cost(const ctx *cx, size_t size);
/* Whether 1/parts of the cap are left, if there is one, when a block of that size is made.
 */
bool mem_leaves(const ctx *cx, size_t size, int parts);
/* Whether a block of that size lies in a file (spill.h), and counts as nothing. */
bool mem_in_file(const ctx *cx, const void *block, size_t size);
void mem_drop(ctx *cx, void *block, size_t size); /* frees one that was unclaimed */
bool mem_array_size(ctx *cx, int64_t count, size_t size, size_t *bytes);
bool mem_keeps(const ctx *cx);          /* whether blocks may be kept, uncounted */
void *mem_refuse(ctx *cx, size_t size); /* NULL, with the diag filled */

/* An arena: everything in it is freed at once. Its blocks are used again by the
 * next arena, so that what is built and freed over and over (a compile's trees, a
 * program's tables) costs no calls of the allocator. */
typedef struct arena_block arena_block;
typedef struct arena {
    ctx *cx;
    arena_block *head;
    size_t first; /* size of its first block */
} arena;
void arena_init(arena *a, ctx *cx);
void *arena_alloc(arena *a, size_t size); /* cleared; NULL with the diag filled */
/* The same, of which only the first `cleared` bytes are. */
void *arena_part(arena *a, size_t size, size_t cleared);
void *arena_array(arena *a, int64_t count, size_t size);
/* The same, not cleared. */
void *arena_room(arena *a, int64_t count, size_t size);
char *arena_text(arena *a, const char *s, size_t len);
void arena_free(arena *a);
void arena_release(ctx *cx); /* the blocks that wait; mem_release calls it */

/* A growing text, for printers. Never fails in the middle: when memory is
 * out, `failed` is set, and text_take returns NULL. */
typedef struct textbuf {
    ctx *cx;
    char *data;
    int64_t len, cap;
    bool failed;
} textbuf;
void text_init(textbuf *t, ctx *cx);
void text_add(textbuf *t, const char *format, ...) PRINTF_LIKE(2, 3);
char *text_take(textbuf *t); /* 0-terminated, freed with mem_strfree */
void text_drop(textbuf *t);

#endif
