/* check_builder.c: tensors built entry by entry and block by block, against
 * stc_tensor_from_coords and against what duplicates must become; what is refused, and
 * that it leaves the builder as it was; memory under a cap. */
#include "check.h"
#include <stdlib.h>
#include <string.h>

static uint32_t drawn(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Element by element. */
static void expect_same(stc_machine *m, const stc_tensor *a, const stc_tensor *b,
                        const char *what)
{
    const int order = stc_tensor_order(a);
    ck_assert_int_eq(order, stc_tensor_order(b));
    size_t n = stc_type_size(stc_tensor_type(a));
    for (int k = 0; k < order; k++) {
        ck_assert_int_eq(stc_tensor_shape(a)[k], stc_tensor_shape(b)[k]);
        n *= (size_t)stc_tensor_shape(a)[k];
    }
    char *x = malloc(n + 1), *y = malloc(n + 1);
    ck_ok(m, stc_tensor_to_dense(a, x));
    ck_ok(m, stc_tensor_to_dense(b, y));
    ck_assert_msg(!memcmp(x, y, n), "%s: other elements", what);
    ck_assert_msg(stc_tensor_stored(a) == stc_tensor_stored(b), "%s: %lld are stored", what,
                  (long long)stc_tensor_stored(a));
    free(x);
    free(y);
}

enum { MANY = 3000, ROWS = 40, COLUMNS = 70 };

static const char *const formats[] = {"csr", "csc",       "dcsr", "coo", "dense",   "hash",
                                      "dia", "bcsr(3,4)", "ell",  "rle", "csb(4,4)"};
enum { FORMATS = sizeof formats / sizeof *formats };

/* The same entries, with duplicates, put in three ways. */
START_TEST(as_from_coords)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const int64_t shape[] = {ROWS, COLUMNS};
    static int64_t coords[2 * MANY];
    static int32_t narrow[2 * MANY];
    static float values[MANY];
    uint32_t seed = 7;
    for (int k = 0; k < MANY; k++) {
        coords[k] = narrow[k] = (int32_t)(drawn(&seed) % ROWS);
        coords[MANY + k] = narrow[MANY + k] = (int32_t)(drawn(&seed) % COLUMNS);
        values[k] = (float)(1 + drawn(&seed) % 9);
    }
    stc_tensor *want, *got;
    stc_builder *b;
    ck_ok(m, stc_tensor_from_coords(m, formats[_i], STC_F32, 2, shape, NULL, MANY, coords,
                                    values, &want));
    ck_ok(m, stc_builder_open(m, formats[_i], STC_F32, 2, shape, NULL, NULL, &b));
    for (int k = 0; k < MANY; k++)
        ck_ok(m, stc_builder_put(b, (int64_t[]){coords[k], coords[MANY + k]}, &values[k]));
    ck_assert_int_eq(stc_builder_count(b), MANY);
    ck_ok(m, stc_builder_finish(b, &got));
    ck_ok(m, stc_tensor_check(got));
    ck_assert_str_eq(stc_tensor_format(got), stc_tensor_format(want));
    expect_same(m, got, want, formats[_i]);
    stc_tensor_free(got);
    ck_assert_int_eq(stc_builder_count(b), 0); /* and again, by blocks of both widths */
    for (int at = 0, n; at < MANY; at += n) {
        n = (int)(drawn(&seed) % 500);
        if (n > MANY - at) n = MANY - at;
        const void *wide[] = {coords + at, coords + MANY + at};
        const void *half[] = {narrow + at, narrow + MANY + at};
        ck_ok(m,
              stc_builder_put_block(b, n, n % 2 ? 4 : 8, n % 2 ? half : wide, values + at));
    }
    ck_ok(m, stc_builder_finish(b, &got));
    expect_same(m, got, want, formats[_i]);
    stc_tensor_free(got);
    stc_tensor_free(want);
    stc_builder_free(b);
    machine_shut(m, &h);
}
END_TEST

/* Three at one place and one beside it, in an order that sorting has to keep. */
static double combined(stc_machine *m, const char *name, const char *with)
{
    const int64_t shape[] = {4, 4};
    const int64_t at[][2] = {{2, 3}, {0, 1}, {2, 3}, {2, 3}};
    const double v[] = {5, 1, 2, 3};
    stc_builder *b;
    stc_tensor *t;
    stc_value got, other;
    ck_ok(m, stc_builder_open(m, name, STC_F64, 2, shape, NULL, with, &b));
    for (int k = 0; k < 4; k++)
        ck_ok(m, stc_builder_put(b, at[k], &v[k]));
    ck_ok(m, stc_builder_finish(b, &t));
    ck_ok(m, stc_tensor_check(t));
    ck_ok(m, stc_tensor_get(t, at[0], &got));
    ck_ok(m, stc_tensor_get(t, at[1], &other));
    ck_assert(other.f == 1);
    stc_tensor_free(t);
    stc_builder_free(b);
    return got.f;
}

/* f(x, y) = 10 x + y tells the order of the calls. */
static stc_status digits(void *context, int64_t n, const void *const *args, void *out,
                         const char **why)
{
    const double *x = args[0], *y = args[1];
    (void)why;
    for (int64_t k = 0; k < n; k++)
        ((double *)out)[k] = 10 * x[k] + y[k];
    *(int *)context += (int)n;
    return STC_OK;
}

static stc_status refuses(void *context, int64_t n, const void *const *args, void *out,
                          const char **why)
{
    (void)context, (void)n, (void)args, (void)out;
    *why = "not today";
    return STC_ERR_SHAPE;
}

static void teach(stc_machine *m, const char *head, stc_call_fn call, void *context)
{
    const stc_signature s = {{STC_F64, STC_F64}, STC_F64, call};
    const stc_function f = {sizeof f, head, 1, &s, context};
    ck_ok(m, stc_function_register(m, &f));
}

START_TEST(duplicates)
{
    static const struct {
        const char *with;
        double want;
    } ways[] = {{NULL, 10},   {"add", 10}, {"min", 2}, {"max", 5},     {"mul", 30},
                {"first", 5}, {"last", 3}, {"sub", 0}, {"digits", 523}};
    heap h;
    stc_machine *m = machine_open(&h, false);
    int calls = 0;
    teach(m, "digits(x, y)", digits, &calls);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (int f = 0; f < FORMATS; f++) {
            const double got = combined(m, formats[f], ways[w].with);
            ck_assert_msg(got == ways[w].want, "%s, %s: %g", formats[f],
                          ways[w].with ? ways[w].with : "(none)", got);
        }
    ck_assert_int_eq(calls, 2 * FORMATS);
    machine_shut(m, &h);
}
END_TEST

/* Types of all kinds: narrow ones wrap, bool is any or what is asked for. */
START_TEST(duplicates_of_types)
{
    static const struct {
        stc_type type;
        const char *with;
        stc_value want;
    } ways[] = {{STC_I8, NULL, {.i = -56}},      {STC_U8, "mul", {.u = 16}},
                {STC_BOOL, NULL, {.i = 1}},      {STC_BOOL, "or", {.i = 1}},
                {STC_BOOL, "and", {.i = 1}},     {STC_BOOL, "ne", {.i = 0}},
                {STC_I64, "bitand", {.i = 100}}, {STC_U16, "gcd", {.u = 100}},
                {STC_I32, "floordiv", {.i = 1}}};
    heap h;
    stc_machine *m = machine_open(&h, false);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        const stc_type t = ways[w].type;
        const int64_t hundred = t == STC_BOOL ? 1 : 100; /* little-endian: of any width */
        stc_builder *b;
        stc_tensor *x;
        stc_value got;
        ck_ok(m, stc_builder_open(m, "svec", t, 1, NULL, NULL, ways[w].with, &b));
        ck_ok(m, stc_builder_put(b, (int64_t[]){5}, &hundred));
        ck_ok(m, stc_builder_put(b, (int64_t[]){5}, &hundred));
        ck_ok(m, stc_builder_finish(b, &x));
        ck_ok(m, stc_tensor_get(x, (int64_t[]){5}, &got));
        ck_assert_msg(got.i == ways[w].want.i, "%s of %s: %lld",
                      ways[w].with ? ways[w].with : "add", stc_type_name(t),
                      (long long)got.i);
        stc_tensor_free(x);
        stc_builder_free(b);
    }
    machine_shut(m, &h);
}
END_TEST

START_TEST(unknown_sizes)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const int64_t half[] = {-1, 9};
    const double v = 2;
    const stc_value one = {.f = 1};
    stc_builder *b;
    stc_tensor *t;
    stc_value got;
    ck_ok(m, stc_builder_open(m, "csr", STC_F64, 2, half, &one, NULL, &b));
    ck_ok(m, stc_builder_finish(b, &t)); /* without entries */
    ck_assert_int_eq(stc_tensor_shape(t)[0], 0);
    ck_assert_int_eq(stc_tensor_shape(t)[1], 9);
    stc_tensor_free(t);
    ck_ok(m, stc_builder_put(b, (int64_t[]){6, 0}, &v));
    ck_ok(m, stc_builder_put(b, (int64_t[]){3, 8}, &v));
    ck_ok(m, stc_builder_finish(b, &t));
    ck_assert_int_eq(stc_tensor_shape(t)[0], 7);
    ck_assert_int_eq(stc_tensor_stored(t), 2);
    ck_ok(m, stc_tensor_get(t, (int64_t[]){3, 7}, &got));
    ck_assert(got.f == 1);
    stc_tensor_free(t);
    ck_ok(m, stc_builder_finish(b, &t)); /* what was before it doesn't count */
    ck_assert_int_eq(stc_tensor_shape(t)[0], 0);
    stc_tensor_free(t);
    stc_builder_free(b);
    ck_ok(m, stc_builder_open(m, "dense", STC_F64, 0, NULL, NULL, NULL, &b));
    ck_ok(m, stc_builder_put(b, NULL, &v));
    ck_ok(m, stc_builder_put(b, NULL, &v));
    ck_ok(m, stc_builder_finish(b, &t));
    ck_ok(m, stc_tensor_get(t, NULL, &got));
    ck_assert(got.f == 4);
    stc_tensor_free(t);
    stc_builder_free(b);
    machine_shut(m, &h);
}
END_TEST

#define REFUSED(m, call, status, words)                                                    \
    do {                                                                                   \
        ck_assert_int_eq(call, status);                                                    \
        ck_assert_msg(has_words(stc_error(m)->message, words), "%s",                       \
                      stc_error(m)->message);                                              \
    } while (0)

START_TEST(refusals_to_open)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const int64_t bad[] = {3, -2};
    stc_builder *b = NULL;
#define OPEN(format, type, order, shape, with)                                             \
    stc_builder_open(m, format, type, order, shape, NULL, with, &b)
    REFUSED(m, OPEN(NULL, STC_F64, 1, NULL, NULL), STC_ERR_ARGUMENT, "format is NULL");
    REFUSED(m, OPEN("csr", STC_F64, 17, NULL, NULL), STC_ERR_ARGUMENT, "17|0 to 16");
    REFUSED(m, OPEN("csr", (stc_type)40, 2, NULL, NULL), STC_ERR_ARGUMENT, "40");
    REFUSED(m, OPEN("csr", STC_F64, 2, bad, NULL), STC_ERR_ARGUMENT, "mode 1|-2");
    REFUSED(m, OPEN("csr", STC_F64, 2, NULL, "nope"), STC_ERR_ARGUMENT, "nope|f64");
    REFUSED(m, OPEN("csr", STC_F64, 2, NULL, "lt"), STC_ERR_ARGUMENT, "lt");
    REFUSED(m, OPEN("csr", STC_I32, 2, NULL, "div"), STC_ERR_ARGUMENT, "div|i32");
    REFUSED(m, OPEN("csr", STC_C128, 2, NULL, "min"), STC_ERR_ARGUMENT, "min|c128");
    ck_assert_int_ne(OPEN("csr", STC_F64, 3, NULL, NULL), STC_OK);
    ck_assert_int_ne(OPEN("wrong", STC_F64, 2, NULL, NULL), STC_OK);
#undef OPEN
    ck_assert_int_eq(stc_builder_open(m, "csr", STC_F64, 2, NULL, NULL, NULL, NULL),
                     STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_builder_open(NULL, "csr", STC_F64, 2, NULL, NULL, NULL, &b),
                     STC_ERR_ARGUMENT);
    ck_assert_ptr_null(b);
    ck_assert_int_eq(stc_builder_put(NULL, NULL, NULL), STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_builder_finish(NULL, NULL), STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_builder_count(NULL), 0);
    stc_builder_free(NULL);
    machine_shut(m, &h);
}
END_TEST

/* What is refused changes nothing, a block of which one entry is wrong included. */
START_TEST(refusals_to_put)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const int64_t shape[] = {-1, 5};
    static int64_t rows[500], columns[500];
    static double values[500];
    const void *const coords[] = {rows, columns}, *const none[] = {rows, NULL};
    const double v = 3;
    stc_builder *b;
    stc_tensor *t = NULL;
    teach(m, "refuses(x, y)", refuses, NULL);
    ck_ok(m, stc_builder_open(m, "coo", STC_F64, 2, shape, NULL, "refuses", &b));
    ck_ok(m, stc_builder_put(b, (int64_t[]){2, 4}, &v));
    rows[400] = 1000;
    columns[499] = 5;
    REFUSED(m, stc_builder_put_block(b, 500, 8, coords, values), STC_ERR_DATA,
            "entry 500|coordinate 5|mode 1|0 to 4");
    columns[499] = -1;
    REFUSED(m, stc_builder_put_block(b, 500, 8, coords, values), STC_ERR_DATA, "-1");
    REFUSED(m, stc_builder_put_block(b, 5, 2, coords, values), STC_ERR_ARGUMENT,
            "2|4 or 8");
    REFUSED(m, stc_builder_put_block(b, -1, 8, coords, values), STC_ERR_ARGUMENT,
            "negative");
    REFUSED(m, stc_builder_put_block(b, 5, 8, NULL, values), STC_ERR_ARGUMENT, "coords");
    REFUSED(m, stc_builder_put_block(b, 5, 8, none, values), STC_ERR_ARGUMENT, "NULL");
    REFUSED(m, stc_builder_put_block(b, 5, 8, coords, NULL), STC_ERR_ARGUMENT, "values");
    REFUSED(m, stc_builder_put(b, (int64_t[]){INT64_MAX, 0}, &v), STC_ERR_DATA, "mode 0");
    REFUSED(m, stc_builder_put(b, NULL, &v), STC_ERR_ARGUMENT, "coords");
    ck_ok(m, stc_builder_put_block(b, 0, 8, NULL, NULL));
    ck_assert_int_eq(stc_builder_count(b), 1);
    ck_ok(m, stc_builder_put(b, (int64_t[]){2, 4}, &v)); /* now the function is called */
    REFUSED(m, stc_builder_finish(b, &t), STC_ERR_SHAPE, "refuses|not today");
    REFUSED(m, stc_builder_finish(b, NULL), STC_ERR_ARGUMENT, "out");
    ck_assert_ptr_null(t);
    ck_assert_int_eq(stc_builder_count(b), 2);
    stc_builder_free(b);
    ck_ok(m, stc_builder_open(m, "coo", STC_I64, 1, NULL, NULL, "floordiv", &b));
    for (int k = 0; k < 2; k++)
        ck_ok(m, stc_builder_put(b, (int64_t[]){2}, &rows[0]));
    REFUSED(m, stc_builder_finish(b, &t), STC_ERR_ARITHMETIC, "division by zero");
    stc_builder_free(b);
    machine_shut(m, &h);
}
END_TEST

/* Under a cap: a block that is too much doesn't go in, and what was in stays; once there is
 * room again the rest goes on. */
START_TEST(under_a_cap)
{
    enum { BLOCK = 20000 };
    const stc_config config = {.max_memory = 4 << 20};
    stc_machine *m;
    stc_builder *b;
    stc_tensor *t;
    static int64_t at[BLOCK];
    static double ones[BLOCK];
    const void *const coords[] = {at};
    int64_t in = 0;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    ck_ok(m, stc_builder_open(m, "svec", STC_F64, 1, NULL, NULL, NULL, &b));
    stc_status st;
    do {
        for (int k = 0; k < BLOCK; k++) {
            at[k] = in + k;
            ones[k] = 1;
        }
        st = stc_builder_put_block(b, BLOCK, 8, coords, ones);
        in += st ? 0 : BLOCK;
        ck_assert_int_eq(stc_builder_count(b), in);
        ck_assert(stc_memory_peak(m) <= config.max_memory);
    } while (!st);
    ck_assert_int_eq(st, STC_ERR_MEMORY);
    ck_assert_int_gt(in, 4 * BLOCK);
    ck_assert_int_eq(stc_builder_finish(b, &t), STC_ERR_MEMORY);
    ck_assert_int_eq(stc_builder_count(b), in);
    stc_builder_free(b);
    ck_ok(m, stc_builder_open(m, "svec", STC_F64, 1, NULL, NULL, NULL, &b));
    for (int k = 0; k < BLOCK; k++)
        at[k] = k;
    ck_ok(m, stc_builder_put_block(b, BLOCK, 8, coords, ones));
    ck_ok(m, stc_builder_finish(b, &t));
    ck_assert_int_eq(stc_tensor_stored(t), BLOCK);
    stc_tensor_free(t);
    stc_builder_free(b);
    stc_close(m);
}
END_TEST

Suite *suite_builder(void)
{
    Suite *s = suite_create("builder");
    TCase *c = tcase_create("builder");
    tcase_add_loop_test(c, as_from_coords, 0, FORMATS);
    tcase_add_test(c, duplicates);
    tcase_add_test(c, duplicates_of_types);
    tcase_add_test(c, unknown_sizes);
    tcase_add_test(c, refusals_to_open);
    tcase_add_test(c, refusals_to_put);
    tcase_add_test(c, under_a_cap);
    suite_add_tcase(s, c);
    return s;
}
