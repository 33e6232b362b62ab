/* check_levels.c: level kinds through their cursors: walking, seeking and
 * locating must agree with each other and with the entries packed. */
#include "../src/lang/lang.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { N = 12 };
static const int64_t stored[] = {1, 2, 5, 6, 7, 11};
enum { STORED = sizeof stored / sizeof *stored };

static const char *const formats1[] = {
    "dense",
    "svec",
    "hash",
    "rle",
    "bytemap",
    "(i) -> (i : compressed(index64))",
    "(i) -> (i : compressed(nonunique))",
    "(i) -> (i : compressed(unordered))",
    "(i) -> (i/3 : compressed, i%3 : dense)",
};

static tensor *vector(ctx *cx, const char *text)
{
    format f;
    tensor *t;
    entries e;
    const int64_t shape[] = {N};
    ck_ctx(cx, format_parse(cx, NULL, text, 1, &f));
    ck_ctx(cx, tensor_new(cx, &f, STC_I64, shape, (value){.i64 = 0}, &t));
    entries_init(&e, cx, 1, STC_I64);
    for (int k = 0; k < STORED; k++)
        ck_ctx(cx, entries_push(&e, &stored[k], (value){.i64 = stored[k] * 10}));
    ck_ctx(cx, tensor_pack(t, &e));
    entries_free(&e);
    ck_ctx(cx, tensor_check(t));
    return t;
}

static int64_t at_value(const tensor *t, int64_t p)
{
    return p == NONE ? 0 : type_load(t->type, t->vals, p).i64;
}

/* Walks the first level of a one-level tensor over [0, N). */
START_TEST(walking)
{
    heap h;
    ctx *cx = ctx_open(&h);
    tensor *t = vector(cx, formats1[_i]);
    const level *lv = &t->level[0];
    if (t->fmt.levels == 1 && lv->kind->caps & CAP_ITER &&
        format_props(&t->fmt, 0) & PROP_ORDERED) {
        cursor c;
        cursor_open(&c, lv, NULL);
        int64_t before = -1;
        for (int64_t i = 0; i < N; i++) {
            while (c.lo != CURSOR_END && c.hi <= i) {
                cursor_next(&c);
                ck_assert_int_ge(c.lo, before);
                before = c.lo;
            }
            bool here = cursor_stand(&c, i), want = tensor_get(t, &i).i64 != 0;
            ck_assert_int_eq(here ? at_value(t, c.at) : 0, tensor_get(t, &i).i64);
            ck_assert(here || !want);
        }
        for (int64_t from = 0; from < N; from++) {
            cursor_open(&c, lv, NULL);
            cursor_seek(&c, from);
            const bool here = cursor_stand(&c, from);
            ck_assert_int_eq(here ? at_value(t, c.at) : 0, tensor_get(t, &from).i64);
        }
    }
    if (t->fmt.levels == 1 && lv->kind->caps & CAP_LOCATE) {
        for (int64_t i = 0; i < N; i++) {
            cursor c;
            memset(&c, 0, sizeof c);
            lv->kind->locate(&c, lv, NULL, i);
            ck_assert_int_eq(at_value(t, c.at), tensor_get(t, &i).i64);
        }
    }
    tensor_free(t);
    ctx_close(cx, &h);
}
END_TEST

/* Many at once are what each of them is; those outside the extent are absent. */
START_TEST(locating_many)
{
    static const char *const texts[] = {"hash", "bytemap", "(i) -> (i : hashed(index64))",
                                        "(i) -> (i/3 : compressed, i%3 : bytemap)",
                                        "(i) -> (i/3 : dense, i%3 : hashed)"};
    heap h;
    ctx *cx = ctx_open(&h);
    tensor *t = vector(cx, texts[_i]);
    const level *lv = &t->level[t->fmt.levels - 1];
    const int64_t parents = t->fmt.levels > 1 ? t->level[0].size : 1;
    int32_t narrow[3 * N];
    int64_t wide[N], pos[N];
    for (int k = 0; k < N; k++) { /* not in order, some outside */
        wide[k] = (k * 7 + 2) % (N + 3) - 1;
        narrow[3 * k] = (int32_t)wide[k];
    }
    for (int64_t p = 0; p < parents; p++) {
        int64_t there = 0, apart[N];
        const cursor up = {.at = p, .at_end = p + 1};
        for (int k = 0; k < N; k++) {
            cursor c = {0};
            lv->kind->locate(&c, lv, &up, wide[k]);
            apart[k] = c.at;
            there += c.at != NONE;
        }
        ck_assert_int_eq(lv->kind->locate_many(lv, p, narrow, 4, 12, N, pos), there);
        ck_assert(!memcmp(pos, apart, sizeof pos));
        memcpy(pos, wide, sizeof pos);
        ck_assert_int_eq(lv->kind->locate_many(lv, p, pos, 8, 8, N, pos), there);
        ck_assert(!memcmp(pos, apart, sizeof pos));
    }
    tensor_free(t);
    ctx_close(cx, &h);
}
END_TEST

/* Below an absent parent every kind is empty. */
START_TEST(below_nothing)
{
    for (int k = 0; k < LEVEL_COUNT; k++) {
        const level_kind *kind = level_kind_at(k);
        ck_assert_ptr_nonnull(kind);
        ck_assert_int_eq(level_kind_number(kind), k);
        ck_assert_ptr_eq(level_kind_named(kind->name, strlen(kind->name)), kind);
        ck_assert_ptr_nonnull(kind->pack);
        ck_assert_ptr_nonnull(kind->check);
        if (kind->caps & CAP_LOCATE) ck_assert_ptr_nonnull(kind->locate);
        if (kind->caps & CAP_ITER) ck_assert_ptr_nonnull(kind->open);
    }
    ck_assert_ptr_null(level_kind_at(LEVEL_COUNT));
    ck_assert_ptr_null(level_kind_at(-1));
    ck_assert_ptr_null(level_kind_named("densest", 7));
    heap h;
    ctx *cx = ctx_open(&h);
    for (size_t k = 0; k < sizeof formats1 / sizeof *formats1; k++) {
        tensor *t = vector(cx, formats1[k]);
        cursor up, c;
        memset(&up, 0, sizeof up);
        up.at = up.at_end = NONE;
        cursor_open(&c, &t->level[0], &up);
        ck_assert_msg(c.lo == CURSOR_END, "%s", formats1[k]);
        tensor_free(t);
    }
    ctx_close(cx, &h);
}
END_TEST

START_TEST(index_arrays)
{
    heap h;
    ctx *cx = ctx_open(&h);
    index_array a;
    index_init(&a, 100, 0);
    ck_assert_int_eq(a.width, 4);
    for (int64_t k = 0; k < 100; k++)
        ck_ctx(cx, index_push(cx, &a, k));
    ck_ctx(cx, index_push(cx, &a, INT64_C(1) << 40));
    ck_assert_int_eq(a.width, 8);
    for (int64_t k = 0; k < 100; k++)
        ck_assert_int_eq(index_get(&a, k), k);
    ck_assert_int_eq(index_get(&a, 100), INT64_C(1) << 40);
    index_free(cx, &a);
    index_init(&a, INT64_C(1) << 33, 0);
    ck_assert_int_eq(a.width, 8);
    index_free(cx, &a);
    ctx_close(cx, &h);
}
END_TEST

/* A tensor without entries is whole and reads as its fill. */
START_TEST(new_is_whole)
{
    static const char *const texts[] = {"csr", "dcsr", "csf", "dense"};
    heap h;
    ctx *cx = ctx_open(&h);
    format f;
    tensor *t;
    const int64_t shape[] = {5, 6};
    ck_ctx(cx, format_parse(cx, NULL, texts[_i], 2, &f));
    ck_ctx(cx, tensor_new(cx, &f, STC_F64, shape, (value){.f64 = 0}, &t));
    ck_ctx(cx, tensor_check(t));
    ck_assert_int_eq(tensor_get(t, (const int64_t[]){4, 5}).f64 == 0, 1);
    tensor_free(t);
    ctx_close(cx, &h);
}
END_TEST

Suite *suite_levels(void)
{
    Suite *s = suite_create("levels");
    TCase *c = tcase_create("levels");
    tcase_add_loop_test(c, walking, 0, sizeof formats1 / sizeof *formats1);
    tcase_add_loop_test(c, locating_many, 0, 5);
    tcase_add_test(c, below_nothing);
    tcase_add_test(c, index_arrays);
    tcase_add_loop_test(c, new_is_whole, 0, 4);
    suite_add_tcase(s, c);
    return s;
}
