/* check_memory.c: the context: counted memory, the cap, arenas, growing texts,
 * and where an error in a text is told to be. */
#include "check.h"
#include "../formats/base/premade.h"
#include "../formats/base/spill.h"
#include "../src/api/api.h"
#include <stdlib.h>
#include <string.h>

START_TEST(counted_and_capped)
{
    heap h;
    ctx *cx = ctx_open(&h);
    cx->max_memory = 1000;
    void *a = mem_alloc(cx, 600);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_null(mem_alloc(cx, 600));
    ck_assert_int_eq(cx->diag.status, STC_ERR_MEMORY);
    ck_assert_uint_eq(cx->used, 600);
    a = mem_resize(cx, a, 600, 900);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_null(mem_resize(cx, a, 900, 1100));
    mem_free(cx, a, 900);
    ck_assert_uint_eq(cx->used, 0);
    ck_assert_uint_ge(cx->peak, 900);
    ctx_close(cx, &h);
}
END_TEST

START_TEST(sizes_are_checked)
{
    int64_t out;
    ck_assert(size_mul(3, 4, &out) && out == 12);
    ck_assert(!size_mul(INT64_MAX / 2, 3, &out));
    ck_assert(!size_mul(-1, 3, &out));
    ck_assert(!size_add(INT64_MAX, 1, &out));
    ck_assert(!size_mul(1, -1, &out));
    ck_assert(!size_add(-1, 1, &out));
    ck_assert(!size_add(1, -1, &out));
    heap h;
    ctx *cx = ctx_open(&h);
    ck_assert_ptr_null(mem_array(cx, INT64_MAX / 4, 8));
    ck_assert_ptr_null(mem_array(cx, -5, 8));
    ck_assert_int_ne(cx->diag.status, STC_OK);
    ctx_close(cx, &h);
}
END_TEST

START_TEST(growing)
{
    heap h;
    ctx *cx = ctx_open(&h);
    int64_t *block = NULL, cap = 0;
    for (int64_t k = 0; k < 1000; k++) {
        ck_ctx(cx, mem_grow(cx, &block, &cap, k + 1, sizeof *block));
        block[k] = k;
    }
    for (int64_t k = 0; k < 1000; k++)
        ck_assert_int_eq(block[k], k);
    ck_assert_int_lt(h.calls, 40);
    mem_free(cx, block, (size_t)cap * sizeof *block);
    ctx_close(cx, &h);
}
END_TEST

START_TEST(arenas)
{
    heap h;
    ctx *cx = ctx_open(&h);
    arena a;
    arena_init(&a, cx);
    for (size_t n = 1; n < 100000; n = n * 3 + 1) {
        char *p = arena_alloc(&a, n);
        ck_assert_ptr_nonnull(p);
        ck_assert_uint_eq((uintptr_t)p % 16, 0);
        for (size_t k = 0; k < n; k++)
            ck_assert_int_eq(p[k], 0);
        memset(p, 1, n);
    }
    ck_assert_str_eq(arena_text(&a, "hello", 3), "hel");
    ck_assert_ptr_null(arena_array(&a, INT64_MAX / 2, 16));
    arena_free(&a);
    ctx_close(cx, &h);
}
END_TEST

START_TEST(texts)
{
    heap h;
    ctx *cx = ctx_open(&h);
    textbuf t;
    text_init(&t, cx);
    for (int k = 0; k < 500; k++)
        text_add(&t, "%d,", k);
    char *s = text_take(&t);
    ck_assert_ptr_nonnull(s);
    ck_assert_int_eq((int)strlen(s), 10 * 2 + 90 * 3 + 400 * 4);
    mem_strfree(cx, s);
    text_init(&t, cx);
    text_add(&t, "%s", "dropped");
    text_drop(&t);
    h.fail_at = h.calls + 1;
    h.lasting = true;
    text_init(&t, cx);
    text_add(&t, "lost");
    text_add(&t, "too");
    ck_assert_ptr_null(text_take(&t));
    ctx_close(cx, &h);
}
END_TEST

START_TEST(places)
{
    heap h;
    ctx *cx = ctx_open(&h);
    const char *text = "first\nsecond here\nthird";
    fail_text(cx, STC_ERR_SYNTAX, "f.stc", text, (span){13, 17}, "no %s", "here");
    ck_assert_int_eq(cx->diag.line, 2);
    ck_assert_int_eq(cx->diag.column, 8);
    ck_assert_int_eq(cx->diag.length, 4);
    ck_assert_str_eq(cx->diag.text, "second here");
    ck_assert_str_eq(cx->diag.message, "no here");
    fail_text(cx, STC_ERR_SYNTAX, "f.stc", text, (span){23, 23}, "end");
    ck_assert_int_eq(cx->diag.line, 3);
    ck_assert_int_ge(cx->diag.length, 1);
    char longer[2000];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = 0;
    fail(cx, STC_ERR_DATA, "%s", longer);
    ck_assert_uint_lt(strlen(cx->diag.message), sizeof cx->diag.message);
    fail_text(cx, STC_ERR_SYNTAX, "f.stc", "one\r\ntwo", (span){1, 2}, "in the middle");
    ck_assert_str_eq(cx->diag.text, "one");
    fail_text(cx, STC_ERR_SYNTAX, "f.stc", "one", (span){70, 80}, "past the end");
    ck_assert_str_eq(cx->diag.text, "one");
    fail_text(cx, STC_ERR_SYNTAX, "f.stc", NULL, (span){1, 2}, "no text");
    ck_assert_str_eq(cx->diag.message, "no text");
    fail_file(cx, STC_ERR_DATA, "f.mtx", (int64_t)1 << 40, "far down");
    ck_assert_int_eq(cx->diag.line, INT32_MAX);
    ctx_close(cx, &h);
}
END_TEST

/* ---- the default allocator ---------------------------------------------------------- */

/* Blocks of 2 MB and more are mapped, moved and kept: what was written stays. */
START_TEST(large_blocks)
{
    enum { MB = 1 << 20, SIZES = 10 };
    static const size_t sizes[SIZES] = {100,     3 * MB, 7 * MB / 2, 8 * MB,  5 * MB,
                                        40 * MB, 2 * MB, 9 * MB,     64 * MB, 1000};
    ctx *cx = calloc(1, sizeof *cx);
    size_t size = sizes[0];
    unsigned char *p = mem_alloc(cx, size);
    ck_assert_ptr_nonnull(p);
    p[0] = 17, p[99] = 18;
    for (int k = 1; k < 2 * SIZES; k++) {
        const size_t next = sizes[k % SIZES];
        void *beside = mem_alloc(cx, size); /* in its way now and then */
        p = mem_resize(cx, p, size, next);
        ck_assert(p && p[0] == 17 && p[99] == 18);
        if (size > 100 && next > size) memset(p + size, 1, next - size);
        mem_free(cx, beside, size);
        size = next;
    }
    mem_free(cx, p, size);
    ck_assert_uint_eq(cx->used, 0);
    mem_release(cx);
    free(cx);
}
END_TEST

START_TEST(kept_blocks)
{
    enum { MB = 1 << 20, BLOCKS = 6 };
    for (int capped = 0; capped < 2; capped++) {
        ctx *cx = calloc(1, sizeof *cx);
        void *p[BLOCKS];
        cx->max_memory = capped ? (uint64_t)1 << 30 : 0;
        for (int round = 0; round < 3; round++) {
            for (int k = 0; k < BLOCKS; k++)
                ck_assert_ptr_nonnull(p[k] = mem_alloc(cx, (size_t)(2 + k + round) * MB));
            for (int k = 0; k < BLOCKS; k++) { /* the smallest ones have to go */
                memset(p[k], k, MB);
                mem_free(cx, p[k], (size_t)(2 + k + round) * MB);
            }
        }
        void *large = mem_alloc(cx, (size_t)300 * MB);
        ck_assert_ptr_nonnull(large);
        mem_free(cx, large, (size_t)300 * MB);
        void *half = mem_alloc(cx, 5 * MB); /* cut from a kept one */
        ck_assert_ptr_nonnull(half);
        memset(half, 1, 5 * MB);
        mem_free(cx, half, 5 * MB);
        /* of equal ones the last freed is taken: the caches may still have it */
        for (int lesser = 0; lesser < 2; lesser++) {
            const size_t size = (size_t)(lesser ? MB / 8 : 3 * MB);
            void *first = mem_alloc(cx, size), *last = mem_alloc(cx, size);
            mem_free(cx, first, size);
            mem_free(cx, last, size);
            void *taken = mem_alloc(cx, size);
            ck_assert(!mem_keeps(cx) || taken == last);
            mem_free(cx, taken, size);
        }
        ck_assert_uint_eq(cx->used, 0);
        mem_release(cx);
        free(cx);
    }
}
END_TEST

/* What grows goes to a block that was freed, of 64 KB and more, and keeps what it holds;
 * under a cap none are kept. */
START_TEST(grows_into_kept)
{
    enum { KB = 1 << 10 };
    static const size_t sizes[] = {100 * KB, 300 * KB, 4096 * KB, 9000 * KB};
    for (int capped = 0; capped < 2; capped++) {
        ctx *cx = calloc(1, sizeof *cx);
        cx->max_memory = capped ? (uint64_t)1 << 30 : 0;
        const bool keeps = mem_keeps(cx);
        void *freed[4];
        for (int k = 0; k < 4; k++)
            ck_assert_ptr_nonnull(freed[k] = mem_alloc(cx, sizes[k]));
        for (int k = 1; k < 4; k++)
            mem_free(cx, freed[k], sizes[k]);
        unsigned char *p = freed[0];
        memset(p, 7, sizes[0]);
        for (int k = 1; k < 4; k++) {
            p = mem_resize(cx, p, sizes[k - 1], sizes[k]);
            ck_assert_ptr_nonnull(p);
            if (keeps) ck_assert_ptr_eq(p, freed[k]);
            for (size_t i = 0; i < sizes[k - 1]; i += 97)
                ck_assert_int_eq(p[i], 7);
            memset(p, 7, sizes[k]);
        }
        mem_free(cx, p, sizes[3]);
        ck_assert_uint_eq(cx->used, 0);
        mem_release(cx);
        free(cx);
    }
}
END_TEST

/* What no machine has; sanitizers would end the process. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

/* Blocks from a size on lie in files: they keep what they hold as they grow, shrink, and
 * come back into memory, and count as nothing. */
START_TEST(spilled_blocks)
{
    enum { MB = 1 << 20 };
    const stc_config config = {.max_memory = 8 * MB, .spill = "/tmp"};
    stc_machine *m;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    ctx *cx = &m->cx;
    const uint64_t before = cx->used;
    size_t size = 1000;
    unsigned char *p = mem_alloc(cx, size);
    ck_assert_ptr_nonnull(p);
    memset(p, 7, size);
    static const size_t sizes[] = {100000, 300000, 40 * MB, 20 * MB,
                                   262144, 262143, 20 * MB, 100};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        p = mem_resize(cx, p, size, sizes[k]);
        ck_assert_ptr_nonnull(p);
        const size_t kept = size < sizes[k] ? size : sizes[k];
        for (size_t i = 0; i < kept; i += 97)
            ck_assert_int_eq(p[i], 7);
        memset(p, 7, size = sizes[k]);
        ck_assert_uint_eq(cx->used,
                          before + (mem_in_file(cx, p, size) ? 0 : mem_cost(cx, size)));
    }
    mem_free(cx, p, size);
    ck_assert_uint_eq(cx->used, before);
    stc_close(m);
}
END_TEST

/* A block of a file's size lies in memory, and counts, if it has its size from the start
 * and half of the cap is left. One that grows goes to a file with what it holds. */
START_TEST(large_in_memory)
{
    enum { MB = 1 << 20, N = 6 };
    const stc_config config = {.max_memory = 32 * MB, .spill = "/tmp"};
    stc_machine *m;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    ctx *cx = &m->cx;
    const uint64_t before = cx->used;
    unsigned char *block[N];
    const size_t each = 4 * MB;
    int files = 0;
    for (int k = 0; k < N; k++) {
        block[k] = mem_alloc(cx, each);
        ck_assert_ptr_nonnull(block[k]);
        memset(block[k], k, each);
        files += mem_in_file(cx, block[k], each);
    }
    ck_assert_int_eq(files, 3); /* four of them would leave less than half */
    ck_assert_uint_eq(cx->used, before + (N - files) * mem_cost(cx, each));
    ck_assert(!mem_in_file(cx, block[0], each));
    ck_assert(mem_in_file(cx, block[N - 1], each));
    block[0] = mem_resize(cx, block[0], each, each / 2);
    ck_assert(!mem_in_file(cx, block[0], each / 2));
    block[0] = mem_resize(cx, block[0], each / 2, 2 * each);
    ck_assert(mem_in_file(cx, block[0], 2 * each));
    block[1] = mem_resize(cx, block[1], each, 1000);
    ck_assert(!mem_in_file(cx, block[1], 1000));
    ck_assert_uint_eq(cx->used, before + mem_cost(cx, each) + mem_cost(cx, 1000));
    for (int k = 0; k < N; k++) {
        const size_t size = k == 0 ? 2 * each : k == 1 ? 1000 : each;
        for (size_t i = 0; i < (k ? size : each / 2); i += 97)
            ck_assert_int_eq(block[k][i], k);
        mem_free(cx, block[k], size);
    }
    ck_assert_uint_eq(cx->used, before);
    for (int k = 0; k < 100; k++) { /* no place in a list stays taken */
        void *b = mem_alloc(cx, each);
        ck_assert(!mem_in_file(cx, b, each));
        mem_free(cx, b, each);
    }
    void *beyond = mem_alloc(cx, 9 * MB); /* a quarter is the most */
    ck_assert(mem_in_file(cx, beyond, 9 * MB));
    mem_free(cx, beyond, 9 * MB);
    stc_close(m);
}
END_TEST

/* Blocks that are made ahead count, but yield to whoever asks for more than is left. */
START_TEST(premade_blocks)
{
    enum { MB = 1 << 20, N = 24 };
    const stc_config config = {.max_memory = 33 * MB};
    stc_machine *m;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    ctx *cx = &m->cx;
    const uint64_t before = cx->used;
    ck_assert_ptr_null(premade_take(cx, MB));
    premade_begin(cx, MB, N);
    ck_assert_uint_ge(cx->used, before + N * (uint64_t)MB);
    ck_assert_ptr_null(premade_take(cx, 2 * MB));
    char *first = premade_take(cx, MB), *second = premade_take(cx, MB);
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_nonnull(second);
    ck_assert_ptr_ne(first, second);
    memset(first, 1, MB);
    void *large = mem_alloc(cx, 28 * MB);
    ck_assert_ptr_nonnull(large);
    ck_assert_ptr_null(premade_take(cx, MB));
    mem_free(cx, large, 28 * MB);
    mem_free(cx, first, MB);
    mem_free(cx, second, MB);
    premade_begin(cx, MB, N);
    premade_end(cx);
    const uint64_t after = cx->used;
    premade_begin(cx, MB, 2 * N); /* fewer than asked for */
    stc_close(m);                 /* ends what is left */
    ck_assert_uint_le(after, before + 4096);
}
END_TEST

/* A folder that isn't there has room for nothing, and a disk has an end. */
START_TEST(spilled_nowhere)
{
    const stc_config config = {.spill = _i ? "/tmp" : "/nowhere/at/all"};
    stc_machine *m;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    ctx *cx = &m->cx;
    void *small = mem_alloc(cx, 1 << 20);
    ck_assert_ptr_nonnull(small);
    ck_assert_ptr_null(mem_resize(cx, small, 1 << 20, _i ? (size_t)1 << 50 : 1 << 30));
    ck_assert_int_eq(cx->diag.status, STC_ERR_MEMORY);
    ck_assert(has_words(cx->diag.message, "bytes in a file of "));
    mem_free(cx, small, 1 << 20);
    stc_close(m);
}
END_TEST

START_TEST(refused_blocks)
{
    ctx *cx = calloc(1, sizeof *cx);
    ck_assert_ptr_null(mem_alloc(cx, SIZE_MAX / 2 + 1));
    ck_assert_ptr_null(mem_alloc(cx, SIZE_MAX));
    ck_assert_int_eq(cx->diag.status, STC_ERR_MEMORY);
    ck_assert_uint_eq(cx->used, 0);
#ifndef SANITIZED
    enum { MB = 1 << 20 };
    void *p = mem_alloc(cx, 100), *q = mem_alloc(cx, 4 * MB);
    ck_assert_ptr_null(mem_alloc(cx, SIZE_MAX / 2 - MB));
    ck_assert_ptr_null(mem_resize(cx, p, 100, SIZE_MAX / 4));
    ck_assert_ptr_null(mem_resize(cx, q, 4 * MB, SIZE_MAX / 4));
    mem_free(cx, p, 100);
    mem_free(cx, q, 4 * MB);
    mem_release(cx);
#endif
    arena a;
    arena_init(&a, cx);
    ck_assert_ptr_null(arena_alloc(&a, SIZE_MAX / 2));
    arena_free(&a);
    int64_t *block = NULL, cap = 0;
    ck_assert_int_eq(mem_grow(cx, &block, &cap, INT64_MAX / 4, 8), STC_ERR_OVERFLOW);
    ck_assert_ptr_null(mem_zero(cx, INT64_MAX / 4, 8));
    ck_assert_uint_eq(cx->used, 0);
    free(cx);
}
END_TEST

static int ask(void *context, const char *what, uint64_t done, uint64_t all)
{
    int *asked = context;
    (void)what, (void)done, (void)all;
    return ++*asked > 1;
}

/* The host is asked now and then, and may stop what runs. */
START_TEST(progress)
{
    heap h;
    ctx *cx = ctx_open(&h);
    int asked = 0;
    cx->progress = ask;
    cx->progress_context = &asked;
    ck_ctx(cx, work_done(cx, 1));
    ck_assert_int_eq(asked, 0);
    ck_ctx(cx, work_done(cx, (uint64_t)1 << 40));
    ck_assert_int_eq(asked, 1);
    ck_assert_int_eq(work_done(cx, (uint64_t)1 << 40), STC_ERR_INTERRUPT);
    cx->progress = NULL;
    ck_assert_int_eq(work_done(cx, 1), STC_ERR_INTERRUPT); /* until the next call begins */
    cx->stop = WORK_INTERRUPTED;
    ck_assert_int_eq(work_done(cx, 1), STC_ERR_INTERRUPT);
    ck_assert_int_eq(work_done(cx, 0), STC_ERR_INTERRUPT);
    cx->stop = WORK_GOES_ON;
    ck_ctx(cx, work_done(cx, 1));
    cx->max_memory = 1 << 20; /* there is none, although the cap would allow it */
    h.fail_at = h.calls + 1;
    ck_assert_ptr_null(mem_alloc(cx, 64));
    ck_assert(has_words(cx->diag.message, "no block of 64 bytes"));
    ctx_close(cx, &h);
}
END_TEST

START_TEST(copied_texts)
{
    heap h;
    ctx *cx = ctx_open(&h);
    char *s = mem_strdup(cx, "hello");
    ck_assert_str_eq(s, "hello");
    mem_strfree(cx, s);
    mem_strfree(cx, NULL);
    arena a;
    arena_init(&a, cx);
    h.fail_at = h.calls + 1;
    ck_assert_ptr_null(mem_strdup(cx, "hello"));
    h.fail_at = h.calls + 1;
    ck_assert_ptr_null(arena_text(&a, "hello", 5));
    h.fail_at = h.calls + 1;
    ck_assert_ptr_null(mem_zero(cx, 3, 8));
    arena_free(&a);
    ctx_close(cx, &h);
}
END_TEST

Suite *suite_memory(void)
{
    Suite *s = suite_create("memory");
    TCase *c = tcase_create("memory");
    tcase_add_test(c, counted_and_capped);
    tcase_add_test(c, sizes_are_checked);
    tcase_add_test(c, growing);
    tcase_add_test(c, arenas);
    tcase_add_test(c, texts);
    tcase_add_test(c, places);
    tcase_add_test(c, large_blocks);
    tcase_add_test(c, kept_blocks);
    tcase_add_test(c, grows_into_kept);
    tcase_add_test(c, refused_blocks);
    tcase_add_test(c, spilled_blocks);
    tcase_add_test(c, large_in_memory);
    tcase_add_test(c, premade_blocks);
    tcase_add_loop_test(c, spilled_nowhere, 0, 2);
    tcase_add_test(c, copied_texts);
    tcase_add_test(c, progress);
    suite_add_tcase(s, c);
    return s;
}
