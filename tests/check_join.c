/* check_join.c: one tensor from parts of others, as threads make their results, and the
 * marks of what was stored, by which a dense result is filled again. */
#include "../formats/internal.h"
#include "../formats/join.h"
#include "../src/lang/lang.h"
#include "check.h"
#include <string.h>

/* 6 x 4, cut after rows 2 and 3; the part of one row has nothing. */
enum { ROWS = 6, COLUMNS = 4, STORED = 7, PARTS = 3 };
static const int64_t shape[] = {ROWS, COLUMNS};
static const int64_t cells[] = {0, 1, 0, 3, 1, 0, 4, 0, 4, 1, 5, 2, 5, 3};
static const int64_t cut[] = {0, 3, 4, ROWS};

static const char *const joined[] = {
    "dense",
    "csr",
    "dcsr",
    "(i,j) -> (i : compressed, j : dense)",
    "(i,j) -> (i : dense, j : compressed(index64))",
    "(i,j) -> (i : compressed(index64), j : compressed)",
};
enum { JOINED = sizeof joined / sizeof *joined };

/* The positions of the first level in rows [begin, end). */
static int64_t first_at(const tensor *t, int64_t row)
{
    fiber_view v;
    t->level[0].kind->view(&t->level[0], 0, 0, &v);
    if (v.shape == VIEW_RANGE) return row;
    int64_t p = v.begin;
    while (p < v.end && index_get(&t->level[0].a[STC_CRD], p) < row)
        p++;
    return p;
}

static void widen(ctx *cx, tensor *t)
{
    for (int l = 0; l < t->fmt.levels; l++)
        for (int r = 0; r < 2; r++)
            ck_ctx(cx, index_widen(cx, &t->level[l].a[r]));
}

typedef struct parts {
    const char *format;
    tensor *part[PARTS];
} parts;

/* Into an empty result, or one that has the first row already. */
static stc_status join(ctx *cx, void *what)
{
    const parts *p = what;
    tensor_part part[PARTS] = {0};
    format f;
    tensor *t;
    const value zero = {0};
    stc_status st = format_parse(cx, NULL, p->format, 2, &f);
    if (!st) st = tensor_new(cx, &f, STC_F32, shape, zero, &t);
    if (st) return st;
    for (int k = 0; k < PARTS; k++) {
        part[k].from = p->part[k];
        part[k].at[0].begin = first_at(p->part[k], cut[k]);
        part[k].at[0].end = first_at(p->part[k], cut[k + 1]);
    }
    tensor_join j = {.to = t, .part = part, .n = PARTS};
    st = tensor_begin(t);
    if (!st) st = join_begin(&j);
    for (int k = 0; k < PARTS && !st; k++)
        join_part(&j, k);
    if (!st) {
        join_end(&j);
        st = tensor_finish(t);
    }
    t->generation++;
    if (!st) st = tensor_check(t);
    for (int64_t k = 0; k < STORED && !st; k++)
        ck_assert_msg(tensor_get(t, cells + 2 * k).f32 == (float)(k + 1), "%s: entry %d",
                      p->format, (int)k);
    if (!st) ck_assert(tensor_get(t, (const int64_t[]){2, 0}).f32 == 0);
    tensor_free(t);
    return st;
}

START_TEST(parts_of_rows)
{
    heap h;
    ctx *cx = ctx_open(&h);
    parts p = {joined[_i], {NULL}};
    for (int wide = 0; wide < 4; wide++) { /* some parts have other widths */
        for (int k = 0; k < PARTS; k++) {
            p.part[k] = tensor_of(cx, joined[_i], STC_F32, 2, shape, STORED, cells);
            ck_assert(join_possible(&p.part[k]->fmt));
            if (wide >> k & 1) widen(cx, p.part[k]);
        }
        each_shortage(cx, &h, join, &p);
        for (int k = 0; k < PARTS; k++)
            tensor_free(p.part[k]);
    }
    ctx_close(cx, &h);
}
END_TEST

START_TEST(not_in_parts)
{
    static const char *const whole[] = {
        "coo", "(i,j) -> (i : dense, j : rle)", "(i,j) -> (i : dense, j : hashed)", "dia",
        "(i,j) -> (i : compressed(nonunique, interleaved), j : singleton)"};
    heap h;
    ctx *cx = ctx_open(&h);
    for (size_t k = 0; k < sizeof whole / sizeof *whole; k++) {
        format f;
        ck_ctx(cx, format_parse(cx, NULL, whole[k], 2, &f));
        ck_assert_msg(!join_possible(&f), "%s", whole[k]);
    }
    ctx_close(cx, &h);
}
END_TEST

/* ---- marks -----------------------------------------------------------------------------
 */

/* Stores x at some places of a dense result, marking their lines if there are marks. */
static stc_status store(tensor *t, int64_t n, const int64_t *at, int count, float x)
{
    if (tensor_begin(t)) return t->cx->diag.status;
    uint8_t *marks = stains_ask(t, n);
    ck_assert_ptr_eq(marks, stains_ask(t, n));
    for (int k = 0; k < count; k++) {
        if (tensor_extend_values(t, at[k] + 1)) return t->cx->diag.status;
        ((float *)t->vals)[at[k]] = x;
        if (marks) marks[at[k] * (int64_t)sizeof(float) / STAIN_LINE] = 1;
    }
    return tensor_finish(t);
}

static void expect_only(const tensor *t, int64_t n, const int64_t *at, int count, float x)
{
    const float *v = t->vals;
    for (int64_t p = 0, k = 0; p < n; p++) {
        const bool there = k < count && at[k] == p;
        ck_assert_msg(v[p] == (there ? x : t->fill.f32), "value %lld is %g", (long long)p,
                      v[p]);
        k += there;
    }
}

START_TEST(filled_again)
{
    const int64_t n = 3001, a[] = {0, 17, 1024, 2999}, b[] = {5, 1024, 3000};
    heap h;
    ctx *cx = ctx_open(&h);
    format f;
    tensor *t, *c;
    ck_ctx(cx, format_parse(cx, NULL, "dense", 1, &f));
    ck_ctx(cx, tensor_new(cx, &f, STC_F32, &n, (value){.f32 = 0}, &t));
    for (int round = 0; round < 3; round++) {
        ck_ctx(cx, store(t, n, a, 4, 3));
        expect_only(t, n, a, 4, 3);
        ck_ctx(cx, store(t, n, b, 3, 4));
        expect_only(t, n, b, 3, 4);
    }
    t->fill.f32 = 7; /* what the marks were made for has changed */
    ck_ctx(cx, store(t, n, a, 4, 5));
    expect_only(t, n, a, 4, 5);
    ck_ctx(cx, tensor_copy(t, &c)); /* has none of them */
    expect_only(c, n, a, 4, 5);
    tensor_free(c);
    ck_ctx(cx, tensor_begin(t)); /* nobody marks: they are dropped */
    ck_ctx(cx, tensor_finish(t));
    expect_only(t, n, NULL, 0, 0);
    ck_ctx(cx, store(t, n, b, 3, 1));
    t->generation++; /* somebody else stored */
    ((float *)t->vals)[77] = 9;
    ck_ctx(cx, store(t, n, a, 4, 2));
    expect_only(t, n, a, 4, 2);
    ck_ctx(cx, tensor_begin(t)); /* too late to ask */
    ck_ctx(cx, tensor_extend_values(t, 1));
    ck_assert_ptr_null(stains_ask(t, n));
    ck_ctx(cx, tensor_finish(t));
    h.fail_at = h.calls + 1; /* no memory for marks: another way is found */
    ck_ctx(cx, tensor_begin(t));
    ck_assert_ptr_null(stains_ask(t, n));
    ck_assert_int_eq(cx->diag.status, STC_OK);
    h.fail_at = 0;
    ck_ctx(cx, tensor_finish(t));
    tensor_free(t);
    ctx_close(cx, &h);
}
END_TEST

Suite *suite_join(void)
{
    Suite *s = suite_create("join");
    TCase *c = tcase_create("join");
    tcase_add_loop_test(c, parts_of_rows, 0, JOINED);
    tcase_add_test(c, not_in_parts);
    tcase_add_test(c, filled_again);
    suite_add_tcase(s, c);
    return s;
}
