/* check_join.c: one tensor from parts of others, as threads make their results, and the
 * marks of what was stored, by which a dense result is filled again. */
#include "../formats/internal.h"
#include "../formats/join.h"
#include "../src/lang/lang.h"
#include "check.h"
#include <string.h>

/* 6 x 4, cut after rows 0, 2 and 3; the last part of one row has nothing. */
enum { ROWS = 6, COLUMNS = 4, STORED = 7, PARTS = 4, BOUNDS = 4 };
static const int64_t shape[] = {ROWS, COLUMNS};
static const int64_t cells[] = {0, 1, 0, 3, 1, 0, 4, 0, 4, 1, 5, 2, 5, 3};
static const int64_t cut[] = {0, 1, 3, 4, ROWS};

static const char *const joined[] = {
    "csr",
    "dcsr",
    "(i,j) -> (i : compressed, j : dense)",
    "(i,j) -> (i : dense, j : compressed(index64))",
    "(i,j) -> (i : compressed(index64), j : compressed)",
    "(i,j) -> (i : dense, j : rle)",
    "(i,j) -> (i : compressed, j : rle(index64))",
    "(i,j) -> (i : dense, j : hashed)",
    "(i,j) -> (i : compressed, j : hashed(index64))",
    "(i,j) -> (i : hashed, j : compressed)",
};
enum { JOINED = sizeof joined / sizeof *joined };

/* Its coordinates take 64 bits from here on. */
static stc_status widen(tensor *t)
{
    for (int l = 0; l < t->fmt.levels; l++)
        if (index_widen(t->cx, &t->level[l].a[STC_CRD])) return t->cx->diag.status;
    return STC_OK;
}

/* Appends the entries of rows [begin, end), as a thread does that makes these. */
static stc_status append_rows(tensor *t, int64_t begin, int64_t end)
{
    level *rows = &t->level[0], *columns = &t->level[1];
    int64_t row = NONE, at = 0, pos;
    for (int64_t e = 0; e < STORED; e++) {
        const int64_t i = cells[2 * e];
        if (i < begin || i >= end) continue;
        if (i != row && rows->kind->append_coord(t->cx, rows, 0, i, &at))
            return t->cx->diag.status;
        row = i;
        if (columns->kind->append_coord(t->cx, columns, at, cells[2 * e + 1], &pos))
            return t->cx->diag.status;
        const bool ends = e + 1 == STORED || cells[2 * e + 2] != i;
        if (ends && columns->kind->arrays &&
            columns->kind->append_edges(t->cx, columns, at))
            return t->cx->diag.status;
        if (tensor_extend_values(t, pos + 1)) return t->cx->diag.status;
        ((float *)t->vals)[pos] = (float)(e + 1);
    }
    return STC_OK;
}

/* All parts have their places before any is copied, each from a tensor of its own; or each
 * is copied before the next is begun, which begins anew in the same tensor; or goes on
 * behind it, where only the first has another. */
enum { AT_ONCE, ANEW, BEHIND, WAYS };

typedef struct parts {
    const format *f;
    int wide; /* parts whose coordinates have 64 bits */
    int way;
} parts;

static int64_t first_position(const tensor *t, int64_t row)
{
    return t->level[0].kind->arrays ? t->level[0].size : row;
}

/* Assembles part k in `from`, and gives it its places. */
static stc_status take_part(const parts *p, int k, tensor *from, tensor_join *j,
                            tensor_part *part)
{
    part->from = from;
    part->at[0].begin = first_position(from, cut[k]);
    stc_status st = append_rows(from, cut[k], cut[k + 1]);
    if (!st && p->wide >> k & 1) st = widen(from);
    part->at[0].end = first_position(from, cut[k + 1]);
    if (!st) st = join_close(part);
    if (!st && !join_fits(j, part)) {
        st = join_room(j, part);
        ck_assert(st || join_fits(j, part));
    }
    if (!st) join_place(j, part);
    return st;
}

static stc_status join_all(const parts *p, tensor *t, tensor *const *from)
{
    tensor_part part[PARTS] = {0};
    tensor_join j;
    stc_status st = tensor_begin(t);
    for (int k = 0; k < PARTS && !st; k++)
        st = tensor_begin(from[k]);
    if (!st) st = join_begin(&j, t);
    for (int k = 0; k < PARTS && !st; k++) {
        tensor *own = from[p->way == AT_ONCE ? k : p->way == BEHIND && k];
        if (p->way == ANEW) join_again(own, cut[k]);
        st = take_part(p, k, own, &j, &part[k]);
        if (st || p->way == AT_ONCE) continue;
        join_copy(&j, &part[k]);
        if (p->way == BEHIND) continue;
        /* a part has bounds of its own rows alone, wherever they are in the whole */
        const index_array *bounds = &own->level[1].a[STC_POS];
        if (own->level[1].kind->arrays) ck_assert_int_le(bounds->len, BOUNDS);
    }
    for (int k = PARTS - 1; k >= 0 && !st && p->way == AT_ONCE; k--)
        join_copy(&j, &part[k]);
    if (st) return st;
    join_end(&j);
    return tensor_finish(t);
}

static stc_status join(ctx *cx, void *what)
{
    const parts *p = what;
    tensor *t[1 + PARTS] = {NULL};
    stc_status st = STC_OK;
    for (int k = 0; k <= PARTS && !st; k++)
        st = tensor_new(cx, p->f, STC_F32, shape, (value){0}, &t[k]);
    if (!st) st = join_all(p, t[0], t + 1);
    if (!st) {
        t[0]->generation++;
        st = tensor_check(t[0]);
    }
    for (int64_t k = 0; k < STORED && !st; k++)
        ck_assert_msg(tensor_get(t[0], cells + 2 * k).f32 == (float)(k + 1), "entry %d",
                      (int)k);
    if (!st) ck_assert(tensor_get(t[0], (const int64_t[]){2, 0}).f32 == 0);
    for (int k = 0; k <= PARTS; k++)
        tensor_free(t[k]);
    return st;
}

START_TEST(parts_of_rows)
{
    heap h;
    ctx *cx = ctx_open(&h);
    format f;
    ck_ctx(cx, format_parse(cx, NULL, joined[_i], 2, &f));
    ck_assert(join_possible(&f));
    for (int k = 0; k < WAYS << PARTS; k++) { /* some parts have other widths */
        parts p = {&f, k / WAYS, k % WAYS};
        each_shortage(cx, &h, join, &p);
    }
    ctx_close(cx, &h);
}
END_TEST

START_TEST(not_in_parts)
{
    static const char *const whole[] = {
        "coo",
        "dense",
        "(i,j) -> (i : rle, j : dense)",
        "(i,j) -> (i : dense, j : lz77)",
        "(i,j) -> (i : dense, j : hashed(4))",
        "(i,j) -> (i : dense, j : bytemap)",
        "dia",
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

/* ---- marks -------------------------------------------------------------------------- */

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
