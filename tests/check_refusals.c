/* check_refusals.c: what the interface refuses, and in what words: arguments, things
 * of another machine, shapes and counts beyond 64 bits, lent arrays and level kinds
 * that don't keep their promises. After each, the machine works as before. */
#include "check.h"
#include <stdlib.h>
#include <string.h>

static stc_machine *m;
static heap h;

static void setup(void)
{
    m = machine_open(&h, false);
}

static void teardown(void)
{
    machine_shut(m, &h);
}

#define REFUSED(call, status_, words)                                                      \
    do {                                                                                   \
        const stc_status st_ = (call);                                                     \
        ck_assert_msg(st_ == status_ && has_words(stc_error(m)->message, words),           \
                      "%s: %s (%s), expected %s (%s)", #call, stc_status_name(st_),        \
                      stc_error(m)->message, stc_status_name(status_), words);             \
    } while (0)

static const int64_t huge[] = {(int64_t)1 << 40, (int64_t)1 << 40, (int64_t)1 << 40};

START_TEST(declarations)
{
    stc_program *p;
    const stc_decl nameless = {0, "", "csr", -1, NULL, 2},
                   typeless = {0, "A", "csr", 99, NULL, 2},
                   deep = {0, "A", "csr", -1, NULL, 17}, csr = {0, "A", "csr", -1, NULL, 2};
    REFUSED(stc_compile(m, "y = 1", &nameless, 1, &p), STC_ERR_ARGUMENT, "has no name");
    REFUSED(stc_compile(m, "y = 1", &typeless, 1, &p), STC_ERR_ARGUMENT,
            "99 is no element type");
    REFUSED(stc_compile(m, "y = 1", &deep, 1, &p), STC_ERR_ARGUMENT, "the order is 17");
    REFUSED(stc_compile(m, "fn f(x) = x", NULL, 0, &p), STC_ERR_PROGRAM,
            "nothing to compute");
    REFUSED(stc_compile(m, "y = 1\nprint y", NULL, 0, &p), STC_ERR_PROGRAM,
            "in a script or session only");
    REFUSED(stc_compile(m, "tensor x dense f64 = [1]\ny = 1", NULL, 0, &p), STC_ERR_PROGRAM,
            "get their data when they are bound|get their data");
    REFUSED(stc_compile(m, "y(i) = A(i)", &csr, 1, &p), STC_ERR_PROGRAM,
            "A|2 modes|1 subscript");
    stc_function f = {.size = sizeof f - 1, .head = "f(x)"};
    REFUSED(stc_function_register(m, &f), STC_ERR_ARGUMENT, "of another version");
    f = (stc_function){.size = sizeof f};
    REFUSED(stc_function_register(m, &f), STC_ERR_ARGUMENT, "head");
    REFUSED(stc_function_register(m, NULL), STC_ERR_ARGUMENT, "the function is NULL");
    REFUSED(stc_set_as_written(m, 2), STC_ERR_ARGUMENT, "as written: 2|0 or 1");
    REFUSED(stc_set_threads(m, 2000), STC_ERR_ARGUMENT, "2000 threads|0 to 1024");
}
END_TEST

START_TEST(programs)
{
    heap other_heap;
    stc_machine *other = machine_open(&other_heap, false);
    stc_tensor *foreign = sample_matrix(other, "csr"), *own = sample_matrix(m, "csr");
    stc_tensor *taken;
    const stc_tensor *t;
    stc_program *p;
    char *text;
    const stc_decl d[] = {{0, "A", "csr", -1, NULL, 2}, {0, "x", "dense", -1, NULL, 1}};
    const stc_source one = {
        .kind = STC_SOURCE_VALUE, .value_type = STC_F64, .scalar = true, .type = -1};
    const stc_source shaped = {.kind = STC_SOURCE_VALUE, .type = STC_F32};
    ck_ok(m, stc_compile(m, "y(i) = A(i,j) * x(j)", d, 2, &p));
    REFUSED(stc_bind(p, "y", own), STC_ERR_ARGUMENT, "y is a result");
    REFUSED(stc_bind(p, "q", own), STC_ERR_ARGUMENT, "no operand named q");
    REFUSED(stc_bind(p, "A", foreign), STC_ERR_ARGUMENT, "belongs to another machine");
    REFUSED(stc_bind_source(p, "x", &shaped), STC_ERR_ARGUMENT, "can't be given");
    REFUSED(stc_bind_source(p, "x", &one), STC_ERR_SHAPE, "a number has order 0");
    REFUSED(stc_result(p, "y", &t), STC_ERR_ARGUMENT, "y");
    REFUSED(stc_take(p, "q", &taken), STC_ERR_ARGUMENT, "no|q");
    REFUSED(stc_run(p), STC_ERR_ARGUMENT, "A has no tensor");
    REFUSED(stc_program_profile(p, &text), STC_ERR_ARGUMENT, "profile");
    REFUSED(stc_program_explain(p, "loops", &text), STC_ERR_ARGUMENT, "no stage");
    stc_decl out = {.size = sizeof out};
    REFUSED(stc_program_decl(p, "q", &out), STC_ERR_ARGUMENT, "no tensor named q");
    stc_program_free(p);
    stc_tensor_free(own);
    stc_tensor_free(foreign);
    machine_shut(other, &other_heap);
}
END_TEST

START_TEST(sources)
{
    stc_session *s;
    const stc_value fill = {.f = 1};
    stc_source o = {.kind = (stc_source_kind)7, .type = -1};
    ck_ok(m, stc_session_open(m, &s));
    REFUSED(stc_session_put_source(s, "a", &o), STC_ERR_ARGUMENT, "7 is no kind of source");
    o = (stc_source){.kind = STC_SOURCE_VALUE, .value_type = (stc_type)50, .type = -1};
    REFUSED(stc_session_put_source(s, "a", &o), STC_ERR_ARGUMENT, "50 is no element type");
    o = (stc_source){.kind = STC_SOURCE_VALUE, .type = 51};
    REFUSED(stc_session_put_source(s, "a", &o), STC_ERR_ARGUMENT, "51 is no element type");
    o = (stc_source){
        .kind = STC_SOURCE_VALUE, .type = -1, .fill = &fill, .fill_type = (stc_type)52};
    REFUSED(stc_session_put_source(s, "a", &o), STC_ERR_ARGUMENT, "52 is no element type");
    o = (stc_source){.kind = STC_SOURCE_RANDOM, .density = 2, .type = -1};
    REFUSED(stc_session_put_source(s, "a", &o), STC_ERR_ARGUMENT, "density is 2");
    o = (stc_source){.kind = STC_SOURCE_RANDOM, .density = 1, .type = -1};
    REFUSED(stc_session_put_source(s, "2a", &o), STC_ERR_ARGUMENT, "can't be a name");
    o.format = "csr";
    ck_ok(m, stc_session_put_source(s, "a", &o));
    REFUSED(stc_session_exec(s, "tensor y dense f64 [4]\ny(i) = a(i)", "t"),
            STC_ERR_PROGRAM, "order 1|csr has order 2");
    o = (stc_source){
        .kind = STC_SOURCE_VALUE, .value_type = STC_F64, .scalar = true, .type = -1};
    ck_ok(m, stc_session_put_source(s, "b", &o));
    REFUSED(stc_session_exec(s, "tensor y dense f64 [4]\ny(i) = b(i)", "t"), STC_ERR_SHAPE,
            "a number has order 0");
    stc_session_close(s);
}
END_TEST

START_TEST(sessions)
{
    heap other_heap;
    stc_machine *other = machine_open(&other_heap, false);
    stc_tensor *foreign = sample_matrix(other, "csr"), *own = sample_matrix(m, "csr");
    stc_session *s;
    stc_program *p;
    const stc_tensor *t;
    ck_ok(m, stc_session_open(m, &s));
    REFUSED(stc_session_put(s, "a b", own), STC_ERR_ARGUMENT, "can't be a name");
    REFUSED(stc_session_put(s, "a", foreign), STC_ERR_ARGUMENT,
            "belongs to another machine");
    REFUSED(stc_session_get(s, "a", &t), STC_ERR_ARGUMENT, "no tensor named a");
    REFUSED(stc_session_exec(s, "a = 1; print a", "t"), STC_ERR_ARGUMENT, "no output");
    REFUSED(stc_session_compile(s, "a = 1; b = 2", &p), STC_ERR_PROGRAM, "one assignment");
    ck_ok(m, stc_session_exec(s, "tensor A csr", "t"));
    REFUSED(stc_session_get(s, "A", &t), STC_ERR_SHAPE, "A has no value yet");
    stc_session_close(s);
    stc_tensor_free(own);
    stc_tensor_free(foreign);
    machine_shut(other, &other_heap);
}
END_TEST

START_TEST(tensors)
{
    stc_tensor *t, *c;
    stc_array a;
    stc_value v;
    const int64_t outside[] = {1, 9}, below[] = {-1, 0}, pair[] = {1, 1}, shape[] = {4, 5};
    const double one[] = {1};
    REFUSED(stc_tensor_new(m, "csr", STC_F64, 3, huge, NULL, &t), STC_ERR_PROGRAM,
            "tensors of order 2");
    REFUSED(stc_tensor_new(m, "(i) -> (i : dense)", STC_F64, 2, shape, NULL, &t),
            STC_ERR_PROGRAM, "order");
    REFUSED(stc_tensor_from_dense(m, "dense", STC_F64, 3, huge, NULL, one, &t),
            STC_ERR_OVERFLOW, "2^63 elements");
    REFUSED(stc_tensor_from_coords(m, "csr", STC_F64, 2, shape, NULL, 1, outside, one, &t),
            STC_ERR_DATA, "coordinate 9");
    REFUSED(stc_tensor_from_coords(m, "csr", STC_F64, 2, shape, NULL, 1, below, one, &t),
            STC_ERR_DATA, "coordinate -1");
    t = sample_matrix(m, "csr");
    REFUSED(stc_tensor_array(t, 7, STC_CRD, &a), STC_ERR_ARGUMENT, "level 7");
    REFUSED(stc_tensor_convert(t, "csr", 99, &c), STC_ERR_ARGUMENT, "99 is no element");
    REFUSED(stc_tensor_convert(t, "svec", -1, &c), STC_ERR_PROGRAM, "of order 1");
    REFUSED(stc_tensor_get(t, outside, &v), STC_ERR_ARGUMENT, "size 5");
    REFUSED(stc_tensor_write(t, "nowhere/a.mtx"), STC_ERR_IO, "can't be created");
    REFUSED(stc_tensor_write(t, "/dev/null/a.mtx"), STC_ERR_IO, "can't be");
    ck_ok(m, stc_tensor_get(t, pair, &v));
    stc_tensor_free(t);
}
END_TEST

/* ---- arrays of the host's -------------------------------------------------------- */

typedef struct lending {
    const char *format;
    int64_t rows, columns;
    stc_array pos, crd, aux;
    int64_t nvals;
    int shift; /* bytes by which the values are off */
    stc_status status;
    const char *words;
} lending;

static int64_t wide[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
static int32_t narrow[] = {0, 0, 1, 2, 2, 3, 3, 3, 3};
static double values[10];

#define I64(n)                                                                             \
    {                                                                                      \
        wide, n, 8, 0                                                                      \
    }
#define I32(n)                                                                             \
    {                                                                                      \
        narrow, n, 4, 0                                                                    \
    }
static const lending lendings[] = {
    {"csr",
     2,
     9,
     {wide, 3, 3, 0},
     I32(2),
     {0},
     2,
     0,
     STC_ERR_ARGUMENT,
     "3 bytes; expected 4 or 8"},
    {"csr", 2, 9, {wide, 3, 8, 4}, I32(2), {0}, 2, 0, STC_ERR_ARGUMENT, "stride 4"},
    {"csr",
     2,
     9,
     {(char *)wide + 4, 3, 8, 0},
     I32(2),
     {0},
     2,
     0,
     STC_ERR_DATA,
     "not aligned to its 8"},
    {"csr", 2, 9, I64(2), I32(2), {0}, 2, 0, STC_ERR_DATA, "2 elements, expected 3"},
    {"csr",
     2,
     9,
     {wide + 1, 3, 8, 0},
     I32(2),
     {0},
     2,
     0,
     STC_ERR_DATA,
     "[0] is 1, expected 0"},
    {"csr", 2, 9, I64(3), I32(7), {0}, 7, 0, STC_ERR_DATA, "end at 2, but there are 7"},
    {"csr", 2, 9, I64(3), I32(2), {0}, 5, 0, STC_ERR_DATA, "5 elements, expected 2"},
    {"csr", 2, 9, I64(3), I32(2), {0}, 2, 4, STC_ERR_DATA, "not aligned to their type"},
    {"csr", 2, 1, I64(3), {wide + 1, 2, 8, 0}, {0}, 2, 0, STC_ERR_DATA, "outside"},
    {"ds:0,1",
     9223372036854775807,
     9,
     I64(3),
     I32(2),
     {0},
     2,
     0,
     STC_ERR_SHAPE,
     "expected 0 to 2^61"},
    {"(i,j) -> (i : dense, j : bytemap)",
     1,
     8,
     {0},
     {0},
     I32(1),
     1,
     0,
     STC_ERR_DATA,
     "words of 4 bytes"},
    {"(i,j) -> (i : dense, j : singleton)",
     2,
     9,
     {0},
     {wide, 1, 8, 0},
     {0},
     1,
     0,
     STC_ERR_DATA,
     "1 elements, expected 2"},
    {"(i,j) -> (#i : dense, i : dense, j : singleton)",
     2,
     9,
     {0},
     I64(3),
     {0},
     3,
     0,
     STC_ERR_DATA,
     "no multiple of 2"},
};

static stc_status lend(stc_tensor *t, int role, const stc_array *a)
{
    const int last = stc_tensor_levels(t) - 1;
    return a->data ? stc_tensor_lend(t, last, (stc_array_role)role, *a) : STC_OK;
}

START_TEST(lent)
{
    const lending *l = &lendings[_i];
    const int64_t shape[] = {l->rows, l->columns};
    stc_tensor *t = NULL;
    stc_status st = stc_tensor_new(m, l->format, STC_F64, 2, shape, NULL, &t);
    if (!st) st = lend(t, STC_POS, &l->pos);
    if (!st) st = lend(t, STC_CRD, &l->crd);
    if (!st) st = lend(t, STC_AUX, &l->aux);
    if (!st) st = stc_tensor_lend_values(t, (char *)values + l->shift, l->nvals);
    if (!st) st = stc_tensor_check(t);
    REFUSED(st, l->status, l->words);
    stc_tensor_free(t);
}
END_TEST

/* ---- counts beyond 64 bits --------------------------------------------------------- */

/* Shapes of which no array could be made; whoever first counts says so. */
START_TEST(beyond)
{
    static const char *const formats[] = {
        "dense",
        "(i,j,k) -> (i : dense, j : dense, k : compressed)",
        "(i,j,k) -> (i : dense, j : dense, k : hashed)",
        "(i,j,k) -> (i : dense, j : dense, k : rle)",
        "(i,j,k) -> (i : dense, j : dense, k : lz77)",
        "(i,j,k) -> (i : dense, j : dense, k : bytemap)",
        "(i,j,k) -> (i : dense, j : dense, k : singleton)",
        "(i,j,k) -> (flat(i,j,k) : compressed)",
        "(i,j,k) -> (flat(i,j) : dense, k : dense)",
        "(i,j,k) -> (i/2 : dense, j : dense, k : compressed, i%2 : dense)",
        "(i,j,k) -> (i : dense, k-j : compressed, j : range, k : offset)",
    };
    enum { FORMATS = sizeof formats / sizeof *formats };
    const double zero = 0;
    const int64_t coords[] = {1, 1, 1};
    for (int k = 0; k < FORMATS; k++) {
        stc_tensor *t = NULL, *c = NULL, *coo = NULL;
        stc_status st = stc_tensor_new(m, formats[k], STC_F64, 3, huge, NULL, &t);
        if (!st) st = stc_tensor_check(t);
        ck_assert_msg(st == STC_OK || st == STC_ERR_OVERFLOW || st == STC_ERR_SHAPE ||
                          st == STC_ERR_DATA || st == STC_ERR_MEMORY,
                      "%s: %s (%s)", formats[k], stc_status_name(st),
                      stc_error(m)->message);
        stc_tensor_free(t);
        ck_ok(m, stc_tensor_from_coords(m, "coo", STC_F64, 3, huge, NULL, 1, coords, &zero,
                                        &coo));
        st = stc_tensor_convert(coo, formats[k], -1, &c);
        ck_assert_msg(st == STC_ERR_OVERFLOW || st == STC_ERR_SHAPE || st == STC_ERR_MEMORY,
                      "%s: %s (%s)", formats[k], stc_status_name(st),
                      stc_error(m)->message);
        stc_tensor_free(coo);
    }
}
END_TEST

/* A product of extents that is 0 in 64 bits isn't an extent of 0. */
START_TEST(flat_beyond)
{
    static const int64_t none[] = {(int64_t)1 << 40, (int64_t)1 << 40, 0};
    const char *flat = "(i,j,k) -> (flat(i,j,k) : compressed)";
    stc_tensor *t = NULL;
    ck_assert_int_eq(stc_tensor_new(m, flat, STC_F64, 3, huge, NULL, &t), STC_ERR_OVERFLOW);
    ck_assert_ptr_null(t);
    ck_ok(m, stc_tensor_new(m, flat, STC_F64, 3, none, NULL, &t));
    stc_tensor_free(t);
}
END_TEST

Suite *suite_refusals(void)
{
    Suite *s = suite_create("refusals");
    TCase *c = tcase_create("refusals");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, declarations);
    tcase_add_test(c, programs);
    tcase_add_test(c, sources);
    tcase_add_test(c, sessions);
    tcase_add_test(c, tensors);
    tcase_add_loop_test(c, lent, 0, sizeof lendings / sizeof *lendings);
    tcase_add_test(c, beyond);
    tcase_add_test(c, flat_beyond);
    suite_add_tcase(s, c);
    return s;
}
