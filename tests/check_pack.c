/* check_pack.c: tensors of three modes from entries: packed in formats of every kind of
 * map and chain, converted from each to each, sorted with little memory, walked. */
#include "../src/lang/lang.h"
#include "check.h"
#include <string.h>

static const char *const formats[] = {
    "csf",
    "coo",
    "dense",
    "hash",
    "rle",
    "lz77",
    "bytemap",
    "(i,j,k) -> (i : compressed(nonunique), j : singleton, k : singleton)",
    "(i,j,k) -> (i : compressed(nonunique, interleaved), j : singleton, k : compressed)",
    "(i,j,k) -> (i : compressed(nonunique, interleaved), j : singleton, k : singleton)",
    "(i,j,k) -> (i : compressed(nonunique), j : compressed, k : compressed)",
    "(i,j,k) -> (i : compressed(nonunique), j : compressed(nonunique), k : singleton)",
    "(i,j,k) -> (i : dense, j : compressed(nonunique), k : singleton)",
    "(i,j,k) -> (k : dense, i : compressed(unordered), j : compressed)",
    "(i,j,k) -> (flat(i,j) : compressed, k : dense)",
    "(i,j,k) -> (i : dense, flat(j,k) : compressed)",
    "(i,j,k) -> (flat(j,k) : dense, i : hashed)",
    "(i,j,k) -> (i : dense, k-j : compressed, j : range, k : offset)",
    "(i,j,k) -> (k-j : compressed, i : dense, j : range, k : offset)",
    "(i,j,k) -> (i-k : dense, k : range, i : offset, j : compressed)",
    "(i,j,k) -> (k : rle, i : dense, j : dense)",
    "(i,j,k) -> (i : rle, j : rle, k : rle)",
    "(i,j,k) -> (i : lz77, j : dense, k : compressed)",
    "(i,j,k) -> (i : lz77, j : lz77, k : lz77)",
    "(i,j,k) -> (i/2 : compressed, j : dense, i%2 : dense, k : lz77)",
    "(i,j,k) -> (#i : dense, i : dense, j : singleton, k : singleton)",
};
enum { FORMATS = sizeof formats / sizeof *formats };

/* 4 x 3 x 5: two slices that are equal, and an empty one. */
enum { N0 = 4, N1 = 3, N2 = 5, STORED = 11 };
static const int64_t shape[] = {N0, N1, N2};
static const int64_t cells[] = {0, 0, 1, 0, 0, 2, 0, 2, 4, 1, 0, 1, 1, 0, 2, 1, 2,
                                4, 3, 0, 0, 3, 1, 0, 3, 1, 1, 3, 2, 3, 3, 2, 4};
static const int numbers[STORED] = {5, 5, 7, 5, 5, 7, 1, 1, 1, 2, 3};

static tensor *sample(ctx *cx, const char *name)
{
    format f;
    tensor *t;
    entries e;
    ck_ctx(cx, format_parse(cx, NULL, name, 3, &f));
    ck_ctx(cx, tensor_new(cx, &f, STC_I16, shape, (value){.i64 = 0}, &t));
    entries_init(&e, cx, 3, STC_I16);
    for (int k = 0; k < STORED; k++)
        ck_ctx(cx, entries_push(&e, cells + 3 * k, (value){.i64 = numbers[k]}));
    ck_ctx(cx, tensor_pack(t, &e));
    entries_free(&e);
    t->generation++;
    ck_ctx(cx, tensor_check(t));
    return t;
}

static void expect_sample(const tensor *t, const char *what)
{
    int64_t at[3];
    int e = 0;
    for (int64_t p = 0; p < N0 * N1 * N2; p++) {
        at[0] = p / (N1 * N2), at[1] = p / N2 % N1, at[2] = p % N2;
        const bool there = e < STORED && !memcmp(at, cells + 3 * e, sizeof at);
        ck_assert_msg(tensor_get(t, at).i64 == (there ? numbers[e] : 0), "%s at %d", what,
                      (int)p);
        e += there;
    }
}

typedef struct pair {
    const tensor *from;
    const char *to;
} pair;

static stc_status convert(ctx *cx, void *what)
{
    const pair *p = what;
    format f;
    tensor *t;
    stc_status st = format_parse(cx, NULL, p->to, 3, &f);
    if (!st) st = tensor_convert(p->from, &f, STC_I16, p->from->fill, &t);
    if (st) return st;
    t->generation++;
    st = tensor_check(t);
    if (!st) expect_sample(t, p->to);
    tensor_free(t);
    return st;
}

START_TEST(every_pair)
{
    heap h;
    ctx *cx = ctx_open(&h);
    tensor *t = sample(cx, formats[_i]);
    expect_sample(t, formats[_i]);
    for (int k = 0; k < FORMATS; k++) {
        pair p = {t, formats[k]};
        each_shortage(cx, &h, convert, &p);
    }
    tensor_free(t);
    ctx_close(cx, &h);
}
END_TEST

typedef struct walked {
    int64_t seen, most, sum;
} walked;

static int visit(void *context, const int64_t *at, stc_value v)
{
    walked *w = context;
    (void)at;
    w->sum += v.i;
    return ++w->seen >= w->most;
}

START_TEST(visits)
{
    heap h;
    ctx *cx = ctx_open(&h);
    tensor *t = sample(cx, formats[_i]);
    walked all = {.most = 1000}, one = {.most = 1};
    ck_ctx(cx, tensor_visit(t, visit, &all));
    ck_assert_int_eq(all.sum, 42);
    ck_ctx(cx, tensor_visit(t, visit, &one)); /* asks to stop */
    ck_assert_int_eq(one.seen, 1);
    h.fail_at = h.calls + 1;
    h.lasting = true;
    const stc_status st = tensor_visit(t, visit, &one);
    ck_assert(st == STC_OK || st == STC_ERR_MEMORY);
    h.fail_at = 0;
    tensor_free(t);
    ctx_close(cx, &h);
}
END_TEST

/* ---- sorting ------------------------------------------------------------------------- */

/* Many entries in no order, in keys of one word and of several, with values of any
 * width: none is lost. */
typedef struct list {
    int64_t extent[3];
    stc_type type;
    bool counted;
} list;

static stc_status entries_of(const list *l, entries *e)
{
    uint64_t x = 12345;
    for (int k = 0; k < 700; k++) {
        int64_t at[3];
        for (int m = 0; m < 3; m++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            at[m] = (int64_t)((x >> 3) % (uint64_t)l->extent[m]);
        }
        if (entries_push(e, at, type_convert(l->type, STC_I64, (value){.i64 = 1})))
            return STC_ERR_MEMORY;
    }
    return STC_OK;
}

static stc_status sort(ctx *cx, void *what)
{
    static const char chain[] =
        "(i,j,k) -> (#k : compressed, k : compressed, i : singleton, j : singleton)";
    const list *l = what;
    entries e;
    format f;
    tensor *t = NULL;
    const value zero = {0};
    entries_init(&e, cx, 3, l->type);
    stc_status st = entries_of(l, &e);
    if (!st) st = format_parse(cx, NULL, l->counted ? chain : "csf", 3, &f);
    if (!st) st = tensor_new(cx, &f, l->type, l->extent, zero, &t);
    if (!st) st = tensor_pack(t, &e);
    if (!st) {
        t->generation++;
        st = tensor_check(t);
    }
    double sum = 0;
    for (int64_t p = 0; !st && p < t->nvals; p++)
        sum += element(l->type, t->vals, p);
    if (!st) ck_assert(sum == 700);
    entries_free(&e);
    tensor_free(t);
    return st;
}

START_TEST(unsorted)
{
    static const list lists[] = {
        {{1000, 1000, 1000}, STC_F64, false},
        {{1000, 1000, 1000}, STC_F32, true},
        {{1000, 1000, 1000}, STC_C128, false},
        {{(int64_t)1 << 40, (int64_t)1 << 40, (int64_t)1 << 40}, STC_I64, false},
        {{(int64_t)1 << 60, 2, 1}, STC_C64, false},
        {{(int64_t)1 << 32, (int64_t)1 << 16, (int64_t)1 << 16}, STC_F64, false},
        {{40, 1, 20}, STC_I64, false},
    };
    heap h;
    ctx *cx = ctx_open(&h);
    list l = lists[_i];
    each_shortage(cx, &h, sort, &l);
    ctx_close(cx, &h);
}
END_TEST

/* ---- small things ------------------------------------------------------------------- */

START_TEST(made_by_hand)
{
    heap h;
    ctx *cx = ctx_open(&h);
    format f;
    tensor *t = NULL;
    const value zero = {0};
    const int64_t bad[] = {3, -1}, none[] = {3, 0}, huge[] = {3, INT64_MAX};
    format_init(&f, 2);
    format_set(&f, 0, level_kind_at(LEVEL_dense), 0, 0);
    format_set(&f, 1, level_kind_at(LEVEL_rle), 0, 0);
    ck_assert_int_eq(tensor_new(cx, &f, STC_F64, bad, zero, &t), STC_ERR_ARGUMENT);
    format_set(&f, 1, level_kind_at(LEVEL_rle), 1, 0);
    ck_assert_int_eq(tensor_new(cx, &f, STC_F64, bad, zero, &t), STC_ERR_SHAPE);
    ck_assert_int_eq(tensor_new(cx, &f, STC_F64, huge, zero, &t), STC_ERR_SHAPE);
    ck_assert_ptr_null(t);
    for (int kind = 0; kind < 2; kind++) { /* nothing to join */
        format_set(&f, 1, level_kind_at(kind ? LEVEL_lz77 : LEVEL_rle), 1, 0);
        ck_ctx(cx, tensor_new(cx, &f, STC_F64, none, zero, &t));
        ck_ctx(cx, tensor_begin(t));
        ck_ctx(cx, tensor_finish(t));
        t->generation++;
        ck_ctx(cx, tensor_check(t));
        tensor_free(t);
    }
    format_init(&f, 0);
    ck_ctx(cx, tensor_new(cx, &f, STC_F64, NULL, zero, &t));
    ck_assert_int_eq(tensor_stored(t), 1);
    t->generation++;
    ck_ctx(cx, tensor_check(t));
    double lent = 2;
    mem_free(cx, t->vals, (size_t)t->vals_cap * sizeof lent);
    t->vals = &lent; /* and is let go when the tensor is assembled anew */
    t->vals_owned = false;
    t->vals_cap = 0;
    ck_ctx(cx, tensor_begin(t));
    ck_ctx(cx, tensor_finish(t));
    ck_assert(lent == 2 && tensor_get(t, NULL).f64 == 0);
    tensor_free(t);
    ctx_close(cx, &h);
}
END_TEST

/* A wish to stop is heard; what the tensor is left with is never read. */
START_TEST(interrupted)
{
    const int64_t size[] = {3, 4}, at[] = {0, 1, 2, 3};
    heap h;
    ctx *cx = ctx_open(&h);
    tensor *t = tensor_of(cx, "csr", STC_F64, 2, size, 2, at);
    for (int stop = 1; stop >= 0; stop--) {
        entries e;
        entries_init(&e, cx, 2, STC_F64);
        ck_ctx(cx, entries_push(&e, at, (value){.f64 = 7}));
        cx->stop = stop ? WORK_INTERRUPTED : WORK_GOES_ON;
        ck_assert_int_eq(tensor_pack(t, &e), stop ? STC_ERR_INTERRUPT : STC_OK);
        entries_free(&e);
        cx->stop = WORK_GOES_ON;
        if (stop) {
            ck_assert_uint_ne(t->checked, t->generation);
            continue;
        }
        ck_ctx(cx, tensor_check(t));
        ck_assert(tensor_get(t, at).f64 == 7);
    }
    tensor_free(t);
    ctx_close(cx, &h);
}
END_TEST

Suite *suite_pack(void)
{
    Suite *s = suite_create("pack");
    TCase *c = tcase_create("pack");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, every_pair, 0, FORMATS);
    tcase_add_loop_test(c, visits, 0, FORMATS);
    tcase_add_loop_test(c, unsorted, 0, 7);
    tcase_add_test(c, made_by_hand);
    tcase_add_test(c, interrupted);
    suite_add_tcase(s, c);
    return s;
}
