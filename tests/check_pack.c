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
    "(i,j,k) -> (k : hashed(5), i : compressed, j : compressed)",
    "(i,j,k) -> (k : hashed(7), i : hashed(4), j : hashed(3))",
    "(i,j,k) -> (i : hashed(4), j : lz77, k : rle)",
    "(i,j,k) -> (i-k : hashed(8), k : range, i : offset, j : compressed)",
    "(i,j,k) -> (i : hashed(4), j : compressed(nonunique), k : singleton)",
    "(i,j,k) -> (i : hashed(nonunique), j : singleton, k : singleton)",
    "(i,j,k) -> (i : hashed(13, nonunique), j : singleton, k : singleton)",
    "(i,j,k) -> (i : hashed(13, nonunique), j : singleton, k : compressed)",
    "(i,j,k) -> (i : dense, j : hashed(nonunique, interleaved), k : singleton)",
    "(i,j,k) -> (k : dense, i : hashed(9, nonunique), j : hashed(nonunique))",
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

/* ---- rows by counting ----------------------------------------------------------- */

/* Matrices: their sizes, entries drawn, how many bits of a row are drawn (the lower ones of
 * more are), so that some rows have many. */
typedef struct matrix {
    int64_t rows, columns;
    int n, crowd;
    stc_type type;
} matrix;

static const matrix matrices[] = {
    {50, 40, 3000, 0, STC_F64},
    {3000, 70000, 90000, 0, STC_F64},
    {70000, 3, 90000, 0, STC_I32},
    {1, 90000, 70000, 0, STC_U16},
    {90000, 1, 70000, 0, STC_I8},
    {300000, 20, 80000, 4, STC_F32},
    {1 << 19, 1 << 20, 80000, 9, STC_U64},
    {40000, 300, 100000, 0, STC_BOOL},
};

/* Values tell in which order they were summed, where they are floats. */
static void put_entry(const matrix *m, entries *e, int k, const int64_t *at)
{
    for (int d = 0; d < 2; d++) {
        if (e->is_narrow)
            e->narrow[d][k] = (int32_t)at[d];
        else
            e->coord[d][k] = at[d];
    }
    type_store(m->type, e->vals, k,
               type_convert(m->type, STC_F64, (value){.f64 = 1 + 1e-9 * k}));
}

static void draw_entries(const matrix *m, bool narrow, entries *e)
{
    uint64_t x = 99;
    e->is_narrow = narrow;
    ck_assert_int_eq(entries_reserve(e, m->n), STC_OK);
    for (int k = 0; k < m->n; k++) {
        int64_t at[2];
        x = x * 6364136223846793005u + 1442695040888963407u;
        at[0] = (int64_t)((x >> 33) % (uint64_t)m->rows);
        at[1] = (int64_t)((x >> 13) % (uint64_t)m->columns);
        if (m->crowd && k % 2) at[0] &= (1 << m->crowd) - 1;
        put_entry(m, e, k, at);
    }
    e->n = m->n;
}

/* What comes of narrow and of wide entries on any number of threads is what sorting all of
 * them makes, which a format with 64 bits asks for. */
static void compare_counts(const matrix *m, bool turned,
                           void (*draw)(const matrix *m, bool narrow, entries *e))
{
    const int64_t size[] = {m->rows, m->columns};
    heap h;
    ctx *cx = ctx_open(&h);
    tensor *want = NULL, *got = NULL;
    for (int how = 0; how < 9; how++) {
        const char *text = turned ? "csc" : "csr";
        if (!how)
            text = turned ? "(i,j) -> (j : dense, i : compressed(index64))"
                          : "(i,j) -> (i : dense, j : compressed(index64))";
        format f;
        tensor *t;
        entries e;
        cx->threads = 1 + how / 2;
        entries_init(&e, cx, 2, m->type);
        draw(m, how % 2, &e);
        ck_ctx(cx, format_parse(cx, NULL, text, 2, &f));
        ck_ctx(cx, tensor_new(cx, &f, m->type, size, (value){0}, &t));
        ck_ctx(cx, tensor_pack(t, &e));
        ck_ctx(cx, tensor_check_afresh(t));
        entries_free(&e);
        *(how ? &got : &want) = t;
        if (!how) continue;
        ck_assert_int_eq(got->nvals, want->nvals);
        ck_assert_mem_eq(got->vals, want->vals, (size_t)want->nvals * type_size(m->type));
        for (int r = 0; r < 2; r++) {
            const index_array *x = &got->level[1].a[r], *y = &want->level[1].a[r];
            bool same = x->len == y->len;
            for (int64_t k = 0; same && k < x->len; k++)
                same = index_get(x, k) == index_get(y, k);
            ck_assert(same);
        }
        tensor_free(got);
    }
    tensor_free(want);
    ctx_close(cx, &h);
}

START_TEST(counted_rows)
{
    compare_counts(&matrices[_i / 2], _i % 2, draw_entries);
}
END_TEST

/* By rows or by columns, each place once, between rows and columns that have nothing; but
 * for a flaw where threads' shares meet, or elsewhere. */
enum { LISTED = 80000, EACH = 20, BY_COLUMNS = 1, TWICE = 2, EXCHANGED = 4, FLAWS = 8 };

static void list_entries(const matrix *m, bool narrow, entries *e)
{
    const int how = m->crowd;
    e->is_narrow = narrow;
    ck_assert_int_eq(entries_reserve(e, m->n), STC_OK);
    for (int k = 0; k < m->n; k++) {
        int p = k;
        if (how & TWICE && k == m->n / 2) p = k - 1;
        if (how & EXCHANGED && k / 2 == m->n / 7) p = k ^ 1;
        const int64_t long_way = 7 + p / EACH * 2, short_way = 3 + p % EACH * 3;
        const int64_t at[] = {how & BY_COLUMNS ? short_way : long_way,
                              how & BY_COLUMNS ? long_way : short_way};
        put_entry(m, e, k, at);
    }
    e->n = m->n;
}

START_TEST(listed_in_order)
{
    const int64_t far = 7 + LISTED / EACH * 2 + 100, near = 3 + EACH * 3 + 5;
    const int how = _i / 2;
    const matrix m = {.rows = how & BY_COLUMNS ? near : far,
                      .columns = how & BY_COLUMNS ? far : near,
                      .n = LISTED,
                      .crowd = how,
                      .type = STC_F64};
    compare_counts(&m, _i % 2, list_entries);
}
END_TEST

/* So many entries that they aren't in a near cache, in columns that are near each other:
 * each has its row and column in its value, as far as its type holds them. */
START_TEST(turned_bands)
{
    static const stc_type types[] = {STC_F64, STC_I8, STC_C128};
    enum {
        ROWS = 5003,
        WIDTH = 110,
        SKIPPED = 3
    }; /* of 550,330 places, some are left out */
    const stc_type type = types[_i];
    const int64_t size[] = {ROWS, ROWS + WIDTH};
    heap h;
    ctx *cx = ctx_open(&h);
    format f;
    tensor *t, *c;
    ck_ctx(cx, format_parse(cx, NULL, "(i,j) -> (i : dense, j : compressed)", 2, &f));
    ck_ctx(cx, tensor_new(cx, &f, type, size, (value){0}, &t));
    entries e;
    entries_init(&e, cx, 2, type);
    ck_ctx(cx, entries_reserve(&e, ROWS * WIDTH));
    for (int64_t k = SKIPPED; k < ROWS * WIDTH; k++) {
        e.coord[0][e.n] = k / WIDTH;
        e.coord[1][e.n] = k / WIDTH + k % WIDTH;
        type_store(type, e.vals, e.n++,
                   type_convert(type, STC_I64, (value){.i64 = 1 + k % 101}));
    }
    ck_ctx(cx, tensor_pack(t, &e));
    entries_free(&e);
    format_parse(cx, NULL, "csc", 2, &f);
    ck_ctx(cx, tensor_convert(t, &f, type, (value){0}, &c));
    ck_ctx(cx, tensor_check_afresh(c));
    ck_assert_int_eq(c->nvals, ROWS * WIDTH - SKIPPED);
    const index_array *end = &c->level[1].a[STC_POS], *row = &c->level[1].a[STC_CRD];
    for (int64_t j = 0; j < size[1]; j++)
        for (int64_t p = index_get(end, j); p < index_get(end, j + 1); p++) {
            const int64_t i = index_get(row, p), k = i * WIDTH + j - i;
            ck_assert(i <= j && j < i + WIDTH && k >= SKIPPED);
            ck_assert(element(type, c->vals, p) == (double)(1 + k % 101));
        }
    tensor_free(c);
    tensor_free(t);
    ctx_close(cx, &h);
}
END_TEST

static stc_status count(ctx *cx, void *what)
{
    const int64_t size[] = {200, 300};
    const matrix m = {200, 300, 900, 3, STC_F64};
    entries e;
    format f;
    tensor *t = NULL;
    entries_init(&e, cx, 2, STC_F64);
    e.is_narrow = *(const bool *)what;
    stc_status st = entries_reserve(&e, m.n);
    if (!st) draw_entries(&m, e.is_narrow, &e);
    if (!st) st = format_parse(cx, NULL, "csr", 2, &f);
    if (!st) st = tensor_new(cx, &f, STC_F64, size, (value){0}, &t);
    if (!st) st = tensor_pack(t, &e);
    if (!st) ck_assert(tensor_stored(t) > 800);
    entries_free(&e);
    tensor_free(t);
    return st;
}

START_TEST(counted_short_of_memory)
{
    heap h;
    ctx *cx = ctx_open(&h);
    bool narrow = _i;
    each_shortage(cx, &h, count, &narrow);
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
    tcase_add_loop_test(c, turned_bands, 0, 3);
    tcase_add_loop_test(c, counted_rows, 0, 2 * sizeof matrices / sizeof *matrices);
    tcase_add_loop_test(c, listed_in_order, 0, 2 * FLAWS);
    tcase_add_loop_test(c, counted_short_of_memory, 0, 2);
    tcase_add_test(c, made_by_hand);
    tcase_add_test(c, interrupted);
    suite_add_tcase(s, c);
    return s;
}
