/* check_convert.c: tensors from every format to every other: the elements stay, whatever
 * allocation fails on the way, and in every type; new fills; what is too large for it. */
#include "../formats/internal.h"
#include "../src/api/api.h"
#include "../src/lang/lang.h"
#include "case.h"
#include "check.h"
#include <math.h>
#include <string.h>

static const char *const formats[] = {
    "dense",
    "csr",
    "csc",
    "dcsr",
    "dcsc",
    "coo",
    "bcsr(2,3)",
    "bcsr(3,2)",
    "csb(2,2)",
    "dia",
    "ell",
    "hash",
    "rle",
    "ds:1,0",
    "(i,j) -> (i : compressed(nonunique, interleaved), j : singleton)",
    "(i,j) -> (j : compressed(nonunique, index64), i : singleton(index64))",
    "(i,j) -> (i : dense, j : compressed(unordered))",
    "(i,j) -> (i : dense, j : compressed(nonunique, index64))",
    "(i,j) -> (i : compressed(nonunique), j : dense)",
    "(i,j) -> (i/2 : compressed(nonunique), j : hashed, i%2 : dense)",
    "(i,j) -> (flat(i,j) : compressed)",
    "(i,j) -> (flat(i,j) : lz77)",
    "(i,j) -> (i/2 : compressed, i%2 : dense, j : compressed)",
    "(i,j) -> (i/2 : compressed, j/2 : bytemap, i%2 : dense, j%2 : dense)",
    "(i,j) -> (i : hashed, j : compressed)",
    "(i,j) -> (i : compressed, j : hashed(index64))",
    "(i,j) -> (i : hashed(64), j : compressed)",
    "(i,j) -> (i : hashed(nonunique), j : singleton)",
    "(i,j) -> (j : hashed(6000, nonunique), i : singleton)",
    "(i,j) -> (i : dense, j : hashed(64))",
    "(i,j) -> (j : hashed(64, index64), i : hashed(100))",
    "(i,j) -> (j-i : hashed(3000), i : range, j : offset)",
    "(i,j) -> (i : lz77, j : dense)",
    "(i,j) -> (i : dense, j : lz77(index64))",
    "(i,j) -> (i : rle, j : compressed)",
    "(i,j) -> (i : dense, j : rle(index64))",
    "(i,j) -> (i : dense, j : bytemap)",
    "(i,j) -> (j-i : dense, i : range, j : offset)",
    "(i,j) -> (i-j : compressed(index64), i : range, j : offset)",
    "(i,j) -> (j/2 : dense, i/2 : compressed, j%2 : dense, i%2 : dense)",
    "(i,j) -> (i/2 : dense, j/2 : compressed, j%2 : dense, i%2 : dense)",
    "(i,j) -> (i/2 : dense, j/2 : compressed(index64), i%2 : dense, j%2 : dense)",
    "(i,j) -> (i/2 : dense, j/2 : hashed, i%2 : dense, j%2 : dense)",
    "(i,j) -> (i/2 : dense, j/2 : compressed, i%2 : dense, j%2 : compressed)",
    "(i,j) -> (i : dense, j/2 : compressed, j%2 : dense)",
    "(i,j) -> (j-i : hashed, i : range, j : offset)",
    "(i,j) -> (j-i : compressed(unordered), i : range, j : offset)",
    "(i,j) -> (j-i : compressed, i : compressed, j : offset)",
    "(i,j) -> (j-i : compressed, j : range, i : offset)",
    "(i,j) -> (j-i : compressed(index64), i : range, j : offset)",
    "(i,j) -> (i : dense, j-i : compressed)",
    "(i,j) -> (j : dense, j-i : compressed)",
    "(i,j) -> (i-j : compressed, j : dense)",
    "(i,j) -> (i : compressed(nonunique, interleaved, index64), j : singleton(index64))",
    "(i,j) -> (i : dense, j : hosted)",
    "(i,j) -> (i : walked, j : compressed)",
};
enum { FORMATS = sizeof formats / sizeof *formats };

/* 7 x 6, with a row of equal neighbours, an empty one, and two that are equal. */
enum { ROWS = 7, COLUMNS = 6, STORED = 16 };
static const int64_t shape[] = {ROWS, COLUMNS};
static const int64_t cells[] = {0, 1, 0, 2, 0, 3, 0, 4, 1, 0, 1, 5, 3, 3, 4, 0,
                                4, 1, 4, 2, 4, 4, 4, 5, 5, 1, 5, 3, 6, 1, 6, 3};
static const double numbers[STORED] = {7, 7, 7, 7, 1, 2, 3, 4, 5, 4, 6, 0, 9, 8, 9, 8};

static heap h;
static stc_machine *m;
static ctx *cx;

static void setup(void)
{
    m = machine_open(&h, false);
    cx = &m->cx;
    ck_ok(m, host_levels_register(m));
}

static void teardown(void)
{
    machine_shut(m, &h);
}

static value number(stc_type t, double x)
{
    return type_convert(t, STC_F64, (value){.f64 = x});
}

static tensor *sample(const char *name, stc_type type, double fill)
{
    format f;
    tensor *t;
    entries e;
    ck_ctx(cx, format_parse(cx, NULL, name, 2, &f));
    ck_ctx(cx, tensor_new(cx, &f, type, shape, number(type, fill), &t));
    entries_init(&e, cx, 2, type);
    for (int k = STORED - 1; k >= 0; k--) /* not in order */
        ck_ctx(cx, entries_push(&e, cells + 2 * k, number(type, numbers[k])));
    ck_ctx(cx, tensor_pack(t, &e));
    entries_free(&e);
    ck_ctx(cx, tensor_check(t));
    return t;
}

static void expect_same(const tensor *a, const tensor *b, const char *from, const char *to)
{
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++) {
            const int64_t at[] = {i, j};
            const value want = type_convert(b->type, a->type, tensor_get(a, at));
            ck_assert_msg(class_equal(type_class(b->type), want, tensor_get(b, at)),
                          "%s to %s: (%lld,%lld)", from, to, (long long)i, (long long)j);
        }
}

typedef struct pair {
    const tensor *from;
    format to;
    stc_type type;
    value fill;
    const char *names[2];
} pair;

/* t is whole and has the elements of `from`, or there is no memory to look. */
static stc_status judge(const tensor *from, tensor *t, const char *a, const char *b)
{
    t->generation++;
    const stc_status st = tensor_check(t);
    if (!st) expect_same(from, t, a, b);
    tensor_free(t);
    return st;
}

static stc_status convert(ctx *c, void *what)
{
    const pair *p = what;
    tensor *t;
    const stc_status st = tensor_convert(p->from, &p->to, p->type, p->fill, &t);
    (void)c;
    return st ? st : judge(p->from, t, p->names[0], p->names[1]);
}

/* Types change now and then; one in four conversions changes the fill, too. */
START_TEST(every_pair)
{
    static const stc_type types[] = {STC_F64, STC_F64, STC_I8, STC_F32, STC_C128};
    tensor *t = sample(formats[_i], STC_F64, 0);
    for (int k = 0; k < FORMATS; k++) {
        pair p = {
            .from = t, .type = types[(_i + k) % 5], .names = {formats[_i], formats[k]}};
        ck_ctx(cx, format_parse(cx, NULL, formats[k], 2, &p.to));
        p.fill = number(p.type, (_i + k) % 4 == 3);
        each_shortage(cx, &h, convert, &p);
    }
    tensor_free(t);
}
END_TEST

static stc_status copy(ctx *c, void *what)
{
    tensor *t;
    const stc_status st = tensor_copy(what, &t);
    (void)c;
    return st ? st : judge(what, t, "the original", "its copy");
}

static stc_status compact(ctx *c, void *what)
{
    tensor *t;
    const stc_status st = tensor_compact(what, &t);
    (void)c;
    if (st) return st;
    ck_assert_int_le(tensor_stored(t), tensor_stored(what));
    return judge(what, t, "the original", "without its fills");
}

START_TEST(copies)
{
    for (double fill = 0; fill < 8; fill += 7) {
        tensor *t = sample(formats[_i], STC_F32, fill);
        each_shortage(cx, &h, copy, t);
        each_shortage(cx, &h, compact, t);
        tensor_free(t);
    }
}
END_TEST

/* Duplicates that the host lends: to whom they are one element. */
START_TEST(duplicates)
{
    int32_t rows[] = {0, 1, 1, 1, 4}, columns[] = {2, 0, 3, 3, 5};
    double vals[] = {1, 2, 4, -4, 8};
    stc_tensor *t;
    ck_ok(m, stc_tensor_new(m, "coo", STC_F64, 2, shape, NULL, &t));
    int32_t bounds[] = {0, 5};
    ck_ok(m, stc_tensor_lend(t, 0, STC_POS, (stc_array){bounds, 2, 4, 0}));
    ck_ok(m, stc_tensor_lend(t, 0, STC_CRD, (stc_array){rows, 5, 4, 0}));
    ck_ok(m, stc_tensor_lend(t, 1, STC_CRD, (stc_array){columns, 5, 4, 0}));
    ck_ok(m, stc_tensor_lend_values(t, vals, 5));
    ck_assert_int_eq(stc_tensor_check(t), STC_ERR_DATA); /* but not below singletons */
    columns[2] = 2;
    stc_tensor_touch(t);
    ck_ok(m, stc_tensor_check(t));
    for (int k = 0; k < FORMATS; k++) {
        pair p = {.from = t, .type = STC_F64, .names = {"coo, lent", formats[k]}};
        ck_ctx(cx, format_parse(cx, NULL, formats[k], 2, &p.to));
        ck_ctx(cx, convert(cx, &p));
    }
    stc_tensor_free(t);
    int32_t pos[] = {0, 1, 4, 4, 4, 5, 5, 5};
    columns[2] = 3;
    ck_ok(m, stc_tensor_new(m, "(i,j) -> (i : dense, j : compressed(nonunique))", STC_F64,
                            2, shape, NULL, &t));
    ck_ok(m, stc_tensor_lend(t, 1, STC_POS, (stc_array){pos, 8, 4, 0}));
    ck_ok(m, stc_tensor_lend(t, 1, STC_CRD, (stc_array){columns, 5, 4, 0}));
    ck_ok(m, stc_tensor_lend_values(t, vals, 5));
    ck_ok(m, stc_tensor_check(t));
    each_shortage(cx, &h, compact, t);
    for (int k = 0; k < FORMATS; k++) {
        pair p = {.from = t, .type = STC_F64, .names = {"nonunique, lent", formats[k]}};
        ck_ctx(cx, format_parse(cx, NULL, formats[k], 2, &p.to));
        each_shortage(cx, &h, convert, &p);
    }
    stc_tensor_free(t);
}
END_TEST

/* Entries in blocks of `most`: so many, with that sum. */
static void blocks_sum(const stc_tensor *t, int64_t most, int64_t count, double sum)
{
    stc_iter *it;
    stc_block b;
    ck_ok(m, stc_iter_open(t, most, &it));
    do {
        ck_ok(m, stc_iter_next(it, &b));
        for (int64_t e = 0; e < b.count; e++, count--)
            sum -= ((const double *)b.values)[e];
    } while (b.count);
    stc_iter_free(it);
    ck_assert_int_eq(count, 0);
    ck_assert_double_eq(sum, 0);
}

/* Whole subtensors that the host lends twice, above levels that can't chain them: what is
 * read is the sum of their elements, wherever reading pauses; but a fill that may be
 * padding is none. */
START_TEST(repeated_rows)
{
    static const struct {
        const char *format;
        int rows, wide; /* of a subtensor; the fill, and elements behind it */
        double fill, first, last;
    } cases[] = {
        {"(i,j) -> (i : compressed(nonunique), j : dense)", 1, COLUMNS, 0, 3, 0},
        {"(i,j) -> (i : compressed(nonunique), j : dense)", 1, COLUMNS, 7, 3, 21},
        {"(i,j) -> (i/2 : compressed(nonunique), i%2 : dense, j : dense)", 2, COLUMNS, 7, 3,
         7},
        {"(i,j) -> (i/2 : compressed(nonunique), i%2 : dense, j : dense)", 2, COLUMNS, 0, 3,
         0},
    };
    int32_t bounds[] = {0, 4}, crd[] = {0, 2, 2, 2};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const int block = cases[c].rows * cases[c].wide;
        const stc_value fill = {.f = cases[c].fill};
        double vals[4 * 2 * COLUMNS];
        stc_tensor *t;
        for (int k = 0; k < 4 * block; k++)
            vals[k] = fill.f;
        vals[0] = 5, vals[block] = 1, vals[3 * block] = 2; /* 3, with a fill between them */
        ck_ok(m, stc_tensor_new(m, cases[c].format, STC_F64, 2, shape, &fill, &t));
        ck_ok(m, stc_tensor_lend(t, 0, STC_POS, (stc_array){bounds, 2, 4, 0}));
        ck_ok(m, stc_tensor_lend(t, 0, STC_CRD, (stc_array){crd, 4, 4, 0}));
        ck_ok(m, stc_tensor_lend_values(t, vals, 4 * block));
        ck_ok(m, stc_tensor_check(t));
        const int64_t at[][2] = {{2 * cases[c].rows, 0}, {2 * cases[c].rows, 1}};
        const double plain = cases[c].rows == 1 ? fill.f : 0;
        stc_value v;
        ck_ok(m, stc_tensor_get(t, at[0], &v));
        ck_assert_double_eq(v.f, cases[c].first + plain);
        ck_ok(m, stc_tensor_get(t, at[1], &v));
        ck_assert_double_eq(v.f, cases[c].last);
        const int64_t all = cases[c].rows == 1 ? 4 * block : 3; /* without padding */
        for (int64_t most = 1; most < 5; most++)
            blocks_sum(t, most, all, 8 + plain * (double)(all - 3));
        each_shortage(cx, &h, compact, t);
        for (int k = 0; k < FORMATS; k++) {
            pair p = {.from = t, .type = STC_F64, .names = {cases[c].format, formats[k]}};
            ck_ctx(cx, format_parse(cx, NULL, formats[k], 2, &p.to));
            ck_ctx(cx, convert(cx, &p));
        }
        stc_tensor_free(t);
    }
}
END_TEST

/* Conversions that count need no entries: one loop for each width of values. */
START_TEST(every_type)
{
    static const char *const counted[] = {
        "csr", "csc", "bcsr(2,2)", "dia", "rle", "dense", "(i,j) -> (i : dense, j : lz77)"};
    enum { COUNTED = sizeof counted / sizeof *counted };
    const stc_type type = (stc_type)_i;
    for (int a = 0; a < COUNTED; a++) {
        tensor *t = sample(counted[a], type, 0);
        for (int b = 0; b < COUNTED; b++) {
            pair p = {.from = t, .type = type, .names = {counted[a], counted[b]}};
            ck_ctx(cx, format_parse(cx, NULL, counted[b], 2, &p.to));
            if (type == STC_F64)
                each_shortage(cx, &h, convert, &p);
            else
                ck_ctx(cx, convert(cx, &p));
        }
        tensor_free(t);
    }
}
END_TEST

/* Coordinates and bounds of 8 bytes are counted as those of 4 are. */
START_TEST(wide_indices)
{
    static const char *const wide[] = {
        "(i,j) -> (i : dense, j : compressed(index64))",
        "(i,j) -> (j : dense, i : compressed(index64))",
        "(i,j) -> (i : compressed(index64), j : compressed(index64))",
        "(i,j) -> (i : compressed, j : compressed(index64))",
        "(i,j) -> (i : compressed(index64), j : compressed)",
    };
    static const char *const to[] = {"csr", "csc"};
    for (size_t a = 0; a < sizeof wide / sizeof *wide; a++) {
        tensor *t = sample(wide[a], STC_F32, 0);
        for (size_t b = 0; b < sizeof to / sizeof *to; b++) {
            tensor *c;
            format f;
            bool done;
            ck_ctx(cx, format_parse(cx, NULL, to[b], 2, &f));
            ck_ctx(cx, tensor_new(cx, &f, STC_F32, shape, number(STC_F32, 0), &c));
            ck_ctx(cx, convert_by_counting(t, c, &done));
            ck_assert_msg(done, "%s to %s: not by counting", wide[a], to[b]);
            ck_ctx(cx, tensor_check(c));
            expect_same(t, c, wide[a], to[b]);
            tensor_free(c);
        }
        tensor_free(t);
    }
}
END_TEST

/* Within a copy of t as in c, what t leaves: rows that are all there, in arrays of its own
 * that stay where they are. Others are left as they were. */
static void drops_within(const tensor *t, const tensor *c, bool rows)
{
    tensor *own;
    bool done;
    ck_ctx(cx, tensor_copy(t, &own));
    const int last = t->fmt.levels - 1;
    const void *const crd = own->level[last].a[STC_CRD].data, *const vals = own->vals;
    ck_ctx(cx, tensor_compact_within(own, &done));
    ck_assert_int_eq(done, rows);
    ck_ctx(cx, tensor_check(own));
    ck_assert_int_eq(tensor_stored(own), tensor_stored(rows ? c : t));
    ck_assert_ptr_eq(own->level[last].a[STC_CRD].data, crd);
    ck_assert_ptr_eq(own->vals, vals);
    expect_same(c, own, "itself", "without its fills");
    own->level[last].a[STC_CRD].owned = false; /* the host's, say */
    ck_ctx(cx, tensor_compact_within(own, &done));
    ck_assert(!done);
    own->level[last].a[STC_CRD].owned = true;
    tensor_free(own);
}

/* Of each type every value is dropped that equals the fill, and no other: numbers that are
 * 7, 0 for -0 and NaN among them; all of them, too. */
START_TEST(drops_fills)
{
    static const char *const lists[] = {"csr", "csc", "dcsr", "bcsr(2,2)"};
    static const double fills[] = {0, 7, NAN};
    const stc_type type = (stc_type)_i;
    for (int f = 0; f < 4; f++)
        for (int k = 0; k < 3; k++) {
            tensor *t = sample(lists[f], type, 0), *c, *none;
            const vclass cls = type_class(type);
            int64_t left = 0;
            for (int64_t p = 0; p < t->nvals; p++) {
                if (p % 5 == 1) type_store(type, t->vals, p, number(type, -0.0));
                if (p % 5 == 2) type_store(type, t->vals, p, number(type, NAN));
            }
            t->fill = number(
                type, isnan(fills[k]) && type != STC_F64 && type != STC_F32 ? 3 : fills[k]);
            for (int64_t p = 0; p < t->nvals; p++)
                left += !class_equal(cls, type_load(type, t->vals, p), t->fill);
            t->generation++;
            ck_ctx(cx, tensor_compact(t, &c));
            ck_ctx(cx, tensor_check(c));
            if (f < 3) ck_assert_int_eq(tensor_stored(c), left);
            expect_same(t, c, lists[f], "without its fills");
            drops_within(t, c, f < 2);
            for (int64_t p = 0; p < t->nvals; p++)
                type_store(type, t->vals, p, t->fill);
            ck_ctx(cx, tensor_compact(t, &none));
            ck_assert_int_eq(tensor_stored(none), 0);
            drops_within(t, none, f < 2);
            tensor_free(none);
            tensor_free(c);
            tensor_free(t);
        }
}
END_TEST

/* A scalar has no levels, and keeps its value; a matrix without rows or columns has none.
 */
START_TEST(drops_nothing)
{
    static const int64_t shapes[][2] = {{0, 5}, {5, 0}};
    format f = {0};
    tensor *t, *c;
    ck_ctx(cx, tensor_constant(cx, &f, STC_F64, NULL, (value){.f64 = 3}, (value){0}, &t));
    ck_ctx(cx, tensor_compact(t, &c));
    ck_ctx(cx, tensor_check(c));
    ck_assert_double_eq(tensor_get(c, NULL).f64, 3);
    tensor_free(c);
    tensor_free(t);
    for (int k = 0; k < 2; k++) {
        t = tensor_of(cx, "csr", STC_F64, 2, shapes[k], 0, NULL);
        ck_ctx(cx, tensor_compact(t, &c));
        ck_ctx(cx, tensor_check(c));
        ck_assert_int_eq(tensor_stored(c), 0);
        tensor_free(c);
        tensor_free(t);
    }
}
END_TEST

/* C(j,i) = A(i,j), twice of the same A and once of another; moved: C's levels are those of
 * what A is converted to. */
static void transpose(const char *from, const char *to, bool moved)
{
    const stc_decl d[] = {{.name = "A", .format = from, .type = -1, .order = -1},
                          {.name = "C", .format = to, .type = -1, .order = -1}};
    tensor *a = sample(from, STC_F64, 0);
    stc_program *p;
    char *code;
    ck_ok(m, stc_compile(m, "C(j,i) = A(i,j)", d, 2, &p));
    ck_ok(m, stc_program_dump(p, &code));
    if (moved) ck_assert_msg(!strstr(code, "loop"), "%s to %s: %s", from, to, code);
    stc_text_free(m, code);
    ck_ok(m, stc_bind(p, "A", a));
    for (int run = 0; run < 4; run++) {
        const tensor *c;
        ck_ok(m, stc_run(p));
        ck_ok(m, stc_result(p, "C", &c));
        ck_assert_int_eq(c->shape[0], COLUMNS);
        ck_assert_int_eq(c->shape[1], ROWS);
        ck_ctx(cx, tensor_check_afresh((tensor *)c));
        for (int64_t k = 0; k < ROWS * COLUMNS; k++) {
            const int64_t at[] = {k / COLUMNS, k % COLUMNS}, turned[] = {at[1], at[0]};
            ck_assert_msg(tensor_get(a, at).f64 == tensor_get(c, turned).f64,
                          "%s to %s, run %d: (%lld,%lld)", from, to, run, (long long)at[0],
                          (long long)at[1]);
        }
        if (run != 2) continue;
        for (int64_t k = 0; k < a->nvals; k++)
            ((double *)a->vals)[k] *= 2;
        stc_tensor_touch(a);
    }
    stc_program_free(p);
    tensor_free(a);
}

START_TEST(turned_pairs)
{
    for (int k = 0; k < FORMATS; k++)
        transpose(formats[_i], formats[k], false);
}
END_TEST

START_TEST(turned_as_one)
{
    static const char *const lists[] = {"csr", "csc", "dcsr", "dcsc", "coo"};
    for (int k = 0; k < 5; k++)
        for (int l = 0; l < 5; l++)
            if (k / 2 != l / 2 || k == l) transpose(lists[k], lists[l], true);
}
END_TEST

/* The list's arrays are those that packing the source's entries gives. */
static void expect_packed(const tensor *list, const tensor *t, const char *from)
{
    tensor *packed;
    entries e;
    ck_ctx(cx, tensor_new(cx, &list->fmt, list->type, t->shape, t->fill, &packed));
    entries_init(&e, cx, t->order, t->type);
    ck_ctx(cx, tensor_entries(t, &e));
    ck_ctx(cx, tensor_pack(packed, &e));
    entries_free(&e);
    ck_assert_int_eq(list->nvals, packed->nvals);
    for (int l = 0; l < list->fmt.levels; l++)
        for (int role = 0; role <= STC_CRD; role++) {
            const index_array *a = &list->level[l].a[role], *b = &packed->level[l].a[role];
            ck_assert(a->len == b->len && a->width == b->width && a->stride == b->stride);
            for (int64_t k = 0; k < a->len; k++)
                ck_assert_msg(index_get(a, k) == index_get(b, k), "%s, level %d", from, l);
        }
    tensor_free(packed);
}

/* What is stored in a list's order is written as a list level by level. */
START_TEST(lists_by_level)
{
    /* the last five may have duplicates, or lack the order or the coordinates */
    static const char *const sources[] = {
        "csr",
        "dcsr",
        "(i,j) -> (i : dense, j : compressed(index64))",
        "coo",
        "(i,j) -> (i : compressed(nonunique, interleaved), j : singleton)",
        "csc",
        "dense",
        "hash"};
    static const char *const lists[] = {
        "coo", "(i,j) -> (i : compressed(nonunique, interleaved), j : singleton)",
        "(i,j) -> (i : compressed(nonunique, index64), j : singleton)"};
    for (int k = 0; k < 8; k++)
        for (int l = 0; l < 3; l++) {
            format f;
            tensor *a = sample(sources[k], STC_F64, 0), *list;
            bool done;
            ck_ctx(cx, format_parse(cx, NULL, lists[l], 2, &f));
            ck_ctx(cx, tensor_new(cx, &f, l ? STC_F32 : STC_F64, shape, a->fill, &list));
            ck_ctx(cx, convert_to_list(a, list, &done));
            ck_assert_msg(done == (k < 3), "%s to %s", sources[k], lists[l]);
            if (done) expect_packed(list, a, sources[k]);
            tensor_free(list);
            tensor_free(a);
        }
}
END_TEST

START_TEST(lists_of_three)
{
    static const char *const sources[] = {
        "csf", "(i,j,k) -> (i : dense, j : compressed, k : compressed)",
        "(i,j,k) -> (i : dense, j : dense, k : compressed)"};
    static const int64_t cube[] = {3, 4, 2};
    static const int64_t at[] = {0, 1, 1, 0, 3, 0, 0, 3, 1, 2, 0, 0, 2, 2, 1};
    for (int k = 0; k < 3; k++) {
        tensor *t = tensor_of(cx, sources[k], STC_I32, 3, cube, 5, at);
        tensor *list = tensor_of(cx, "coo", STC_I64, 3, cube, 0, at);
        bool done;
        ck_ctx(cx, convert_to_list(t, list, &done));
        ck_assert_msg(done, "%s", sources[k]);
        ck_ctx(cx, tensor_check_afresh(list));
        expect_packed(list, t, sources[k]);
        for (int n = 0; n < 5; n++)
            ck_assert_int_eq(((const int64_t *)list->vals)[n], n + 1);
        tensor_free(list);
        tensor_free(t);
    }
}
END_TEST

/* A list costs by its entries, whatever rows there are without. */
START_TEST(lists_of_few)
{
    static const int64_t tall[] = {4000000, 3}, at[] = {0, 1, 2500000, 2, 3999999, 0};
    tensor *t = tensor_of(cx, "csr", STC_F64, 2, tall, 3, at);
    tensor *list = tensor_of(cx, "coo", STC_F64, 2, tall, 0, at);
    const uint64_t before = cx->worked;
    bool done;
    ck_ctx(cx, convert_to_list(t, list, &done));
    ck_assert(done);
    ck_assert_uint_lt(cx->worked - before, 1000);
    ck_ctx(cx, tensor_check_afresh(list));
    expect_packed(list, t, "csr");
    tensor_free(list);
    tensor_free(t);
}
END_TEST

/* What an unchanged operand is converted to is made once, or twice, and then copied. */
START_TEST(turned_once)
{
    const stc_decl d[] = {{.name = "A", .format = "csr", .type = -1, .order = -1},
                          {.name = "C", .format = "csr", .type = -1, .order = -1}};
    const tensor *first = NULL, *c;
    tensor *a = sample("csr", STC_F64, 0);
    stc_program *p;
    ck_ok(m, stc_compile(m, "C(j,i) = A(i,j)", d, 2, &p));
    ck_ok(m, stc_bind(p, "A", a));
    for (int run = 0; run < 4; run++) {
        ck_ok(m, stc_run(p));
        ck_ok(m, stc_result(p, "C", &c));
        if (run == 1) first = machine_converted(p->mc, 2, &first);
        if (run > 1) ck_assert_ptr_eq(machine_converted(p->mc, 2, &c), first);
    }
    ck_assert_ptr_nonnull(first);
    stc_program_free(p);
    tensor_free(a);
}
END_TEST

/* Where most rows are empty, or there is hardly anything at all. */
START_TEST(odd_shapes)
{
    static const int64_t shapes[][2] = {{2500, 3}, {3, 2500}, {1, 1}, {0, 5}, {5, 0}};
    static const int64_t at[] = {0, 0, 2, 2};
    for (int k = 0; k < 5; k++) {
        const int64_t n = k < 2 ? 2 : k < 3 ? 1 : 0;
        tensor *t = tensor_of(cx, formats[_i], STC_I32, 2, shapes[k], n, at);
        for (int b = 0; b < FORMATS; b++) {
            format f;
            tensor *c;
            ck_ctx(cx, format_parse(cx, NULL, formats[b], 2, &f));
            ck_ctx(cx, tensor_convert(t, &f, STC_I32, t->fill, &c));
            c->generation++;
            ck_ctx(cx, tensor_check(c));
            for (int64_t e = 0; e < n; e++)
                ck_assert_msg(tensor_get(c, at + 2 * e).i64 == e + 1, "%s to %s",
                              formats[_i], formats[b]);
            ck_assert_uint_ge(tensor_bytes(c), (uint64_t)n * sizeof(int32_t));
            tensor_free(c);
        }
        tensor_free(t);
    }
}
END_TEST

/* What can't be packed says why, and leaves a tensor that can be read. */
START_TEST(unpackable)
{
    static const struct {
        const char *format;
        int order, entries;
        int64_t at[6];
        const char *words;
    } row[] = {
        {"(i,j) -> (i : dense, j : singleton)",
         2,
         2,
         {1, 1, 1, 3},
         "two coordinates, 1 and 3, below position 1 of the level above"},
        {"(i,j,k) -> (i : dense, j : singleton, k : compressed)",
         3,
         2,
         {1, 1, 1, 1, 1, 3},
         NULL},
        {"(i,j) -> (#i : dense, #j : dense, i : dense, j : singleton)",
         2,
         1,
         {1, 1},
         "a format can count the entries of one mode only"},
        {"csr", 2, 1, {1, 9}, "coordinate 9 of mode 1 is outside 0:4"},
        {"bcsr(2,2)", 2, 1, {-1, 0}, "coordinate -1"},
    };
    static const int64_t size[] = {4, 4, 4}, corner[] = {0, 0, 0};
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        const int order = row[k].order;
        format f;
        entries e;
        tensor *t = NULL;
        ck_ctx(cx, format_parse(cx, NULL, row[k].format, order, &f));
        stc_status st = tensor_new(cx, &f, STC_I8, size, (value){.i64 = 0}, &t);
        entries_init(&e, cx, order, STC_I8);
        for (int n = 0; n < row[k].entries; n++)
            ck_ctx(cx, entries_push(&e, row[k].at + n * order, (value){.i64 = 1}));
        if (!st) st = tensor_pack(t, &e);
        ck_assert_msg((st == STC_OK) == !row[k].words, "row %zu: %s", k, cx->diag.message);
        if (st)
            ck_assert_msg(has_words(cx->diag.message, row[k].words), "%s",
                          cx->diag.message);
        if (st && t) ck_assert_int_eq(tensor_get(t, corner).i64, 0);
        entries_free(&e);
        tensor_free(t);
    }
}
END_TEST

/* Entries by themselves: sorted, refused, of another order than the tensor. */
START_TEST(lists_of_entries)
{
    const int modes[] = {1, 0};
    const int64_t at[] = {3, 1, 0, 2, 3, 0}, extents[] = {4, 2}, large[] = {4, 3};
    entries e;
    entries_init(&e, cx, 2, STC_F64);
    for (int k = 0; k < 3; k++)
        ck_ctx(cx, entries_push(&e, at + 2 * k, (value){.f64 = k}));
    ck_assert_int_eq(entries_sort(&e, modes, 2, extents), STC_ERR_SHAPE);
    ck_assert(
        has_words(cx->diag.message, "entry 1: coordinate 2 of mode 1 is outside 0:2"));
    ck_ctx(cx, entries_sort(&e, modes, 2, large));
    ck_assert(e.coord[1][0] == 0 && e.coord[1][1] == 1 && e.coord[1][2] == 2);
    const int64_t n = 4;
    tensor *t = tensor_of(cx, "dense", STC_F64, 1, &n, 0, NULL);
    ck_assert_int_eq(tensor_pack(t, &e), STC_ERR_ARGUMENT);
    ck_assert(has_words(cx->diag.message, "entries of order 2 for a tensor of order 1"));
    ck_assert_int_ne(entries_reserve(&e, INT64_MAX / 4), STC_OK);
    tensor_free(t);
    entries_free(&e);
}
END_TEST

/* A new fill is written to every element: not where these can't be counted, or held. */
START_TEST(fills_of_large)
{
    static const struct {
        int64_t n;
        stc_status status;
        const char *words;
    } row[] = {
        {(int64_t)1 << 40, STC_ERR_OVERFLOW, "more than 2^63"},
        {(int64_t)1 << 28, STC_ERR_MEMORY, "out of memory"},
        {(int64_t)1 << 31, STC_ERR_OVERFLOW, ""},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        const int64_t large[] = {row[k].n, row[k].n}, at[] = {5, 3};
        tensor *t = tensor_of(cx, "dcsr", STC_F64, 2, large, 1, at), *c = t;
        const stc_status st = tensor_convert(t, &t->fmt, STC_F64, (value){.f64 = 1}, &c);
        ck_assert_msg(st == row[k].status || st == STC_ERR_MEMORY, "%s", cx->diag.message);
        ck_assert_msg(has_words(cx->diag.message, row[k].words), "%s", cx->diag.message);
        ck_assert_ptr_eq(c, t);
        tensor_free(t);
    }
}
END_TEST

/* What an index32 can't hold is refused, whatever comes to it. */
START_TEST(narrow_indices)
{
    static const struct {
        const char *format;
        int64_t n;
        const char *words;
    } row[] = {
        {"(i,j) -> (i : compressed(index32), j : compressed)", (int64_t)1 << 31, NULL},
        {"(i,j) -> (i : compressed(index32), j : compressed)", ((int64_t)1 << 31) + 1,
         "level 0 (compressed): coordinates up to 2147483648 don't fit its index32"},
        {"(i,j) -> (j-i : compressed(index32), i : range, j : offset)", (int64_t)1 << 31,
         NULL},
        {"(i,j) -> (j-i : compressed(index32), i : range, j : offset)",
         ((int64_t)1 << 31) + 1, "level 0 (compressed)|don't fit its index32"},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        const int64_t large[] = {row[k].n, row[k].n};
        tensor *t = NULL;
        format f;
        ck_ctx(cx, format_parse(cx, NULL, row[k].format, 2, &f));
        const stc_status st = tensor_new(cx, &f, STC_F64, large, (value){.f64 = 0}, &t);
        ck_assert_msg((st == STC_OK) == !row[k].words, "row %zu: %s", k, cx->diag.message);
        if (st)
            ck_assert_msg(has_words(cx->diag.message, row[k].words), "%s",
                          cx->diag.message);
        tensor_free(t);
    }
}
END_TEST

Suite *suite_convert(void)
{
    Suite *s = suite_create("convert");
    TCase *c = tcase_create("convert");
    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, every_pair, 0, FORMATS);
    tcase_add_loop_test(c, copies, 0, FORMATS);
    tcase_add_test(c, duplicates);
    tcase_add_test(c, repeated_rows);
    tcase_add_loop_test(c, every_type, 0, TYPE_COUNT);
    tcase_add_test(c, wide_indices);
    tcase_add_loop_test(c, drops_fills, 0, TYPE_COUNT);
    tcase_add_test(c, drops_nothing);
    tcase_add_loop_test(c, turned_pairs, 0, FORMATS);
    tcase_add_test(c, turned_as_one);
    tcase_add_test(c, turned_once);
    tcase_add_test(c, lists_by_level);
    tcase_add_test(c, lists_of_three);
    tcase_add_test(c, lists_of_few);
    tcase_add_loop_test(c, odd_shapes, 0, FORMATS);
    tcase_add_test(c, unpackable);
    tcase_add_test(c, lists_of_entries);
    tcase_add_test(c, fills_of_large);
    tcase_add_test(c, narrow_indices);
    suite_add_tcase(s, c);
    return s;
}
