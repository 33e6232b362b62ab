/* check_structs.c: structs that begin with their size, from hosts of other versions:
 * shorter ones, longer ones, arrays of them, what is written into them. And what the host
 * lends: how much is allocated beside it, who frees it, operands by number, parts of
 * tensors.
 */
#include "check.h"
#include <string.h>

/* As a later version might have them. */
typedef struct long_config {
    stc_config now;
    int64_t later;
} long_config;
typedef struct long_decl {
    stc_decl now;
    const char *later;
} long_decl;

START_TEST(configs)
{
    stc_machine *m = NULL, *n = NULL;
    long_config c = {.now = {.size = sizeof c, .max_memory = 1 << 20}};
    ck_assert_int_eq(stc_open(&c.now, &m), STC_OK);
    stc_tensor *t;
    const int64_t shape[] = {1 << 20};
    ck_ok(m, stc_tensor_new(m, "dense", STC_F64, 1, shape, NULL, &t));
    ck_assert_int_eq(stc_tensor_check(t), STC_ERR_MEMORY); /* the cap was read */
    stc_tensor_free(t);
    stc_close(m);
    c.later = 1;
    ck_assert_int_eq(stc_open(&c.now, &n), STC_ERR_ARGUMENT);
    ck_assert_ptr_null(n);
    /* Who was compiled before max_memory came has no cap. */
    c = (long_config){.now = {.size = offsetof(stc_config, max_memory), .max_memory = 1}};
    ck_assert_int_eq(stc_open(&c.now, &m), STC_OK);
    stc_close(m);
    c.now.size = 1;
    ck_assert_int_eq(stc_open(&c.now, &n), STC_ERR_ARGUMENT);
    const stc_config zeros = {0};
    ck_assert_int_eq(stc_open(&zeros, &m), STC_OK);
    stc_close(m);
}
END_TEST

START_TEST(decls)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p;
    const char *const text = "y(i) = A(i,j) * x(j)";
    long_decl d[2] = {{.now = {sizeof *d, "A", "csr", STC_F32, NULL, 2}},
                      {.now = {sizeof *d, "x", NULL, STC_F32, NULL, 1}}};
    stc_decl got = {.size = sizeof got};
    ck_ok(m, stc_compile(m, text, &d[0].now, 2, &p));
    ck_ok(m, stc_program_decl(p, "x", &got));
    ck_assert(got.type == STC_F32 && got.order == 1);
    stc_program_free(p);
    d[1].later = "what nobody here knows";
    ck_assert_int_eq(stc_compile(m, text, &d[0].now, 2, &p), STC_ERR_ARGUMENT);
    ck_assert(has_words(stc_error(m)->message, "fields that this version doesn't know"));
    const char *by[] = {"A"};
    char *out;
    ck_assert_int_eq(stc_gradient(m, "s = A(i,j)", &d[0].now, 2, "s", by, 1, &out),
                     STC_ERR_ARGUMENT);
    d[1].later = NULL;
    d[1].now.size = sizeof d[1].now;
    ck_assert_int_eq(stc_compile(m, text, &d[0].now, 2, &p), STC_ERR_ARGUMENT);
    ck_assert(has_words(stc_error(m)->message, "declaration 1 has size"));
    /* Declarations of no more than names and formats. */
    struct {
        size_t size;
        const char *name, *format;
    } little[2] = {{sizeof *little, "A", "csr"}, {sizeof *little, "x", NULL}};
    ck_ok(m, stc_compile(m, text, (const stc_decl *)(void *)little, 2, &p));
    ck_ok(m, stc_program_decl(p, "A", &got));
    ck_assert(got.type == STC_F64 && got.order == 2 && !strcmp(got.format, "csr"));
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

/* No more is written than there is room for; what isn't known is 0. */
START_TEST(written)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p;
    struct {
        stc_times t;
        double later;
    } longer = {.t = {.size = sizeof longer, .run = -1}, .later = -1};
    stc_times t = {.size = offsetof(stc_times, plan), .plan = -1, .run = -1};
    ck_ok(m, stc_compile(m, "y = 1 + 1", NULL, 0, &p));
    ck_ok(m, stc_run(p));
    stc_program_times(p, &t);
    ck_assert(t.parse > 0 && t.plan == -1 && t.run == -1);
    ck_assert_uint_eq(t.size, offsetof(stc_times, plan));
    stc_program_times(p, &longer.t);
    ck_assert(longer.t.parse > 0 && longer.t.run > 0 && longer.later == 0);
    stc_program_times(p, NULL);
    stc_program_times(NULL, &longer.t);
    ck_assert(longer.t.parse == 0);
    stc_session_times(NULL, &longer.t);
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

/* Zeros of a source, and bool of its own. */
START_TEST(sources)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    const stc_tensor *t;
    ck_ok(m, stc_session_open(m, &s));
    stc_source from = {.kind = STC_SOURCE_RANDOM, .density = 1};
    ck_ok(m, stc_session_put_source(s, "r", &from));
    from.has_type = true;
    ck_ok(m, stc_session_put_source(s, "b", &from));
    ck_ok(m, stc_session_exec(
                 s, "tensor d dense [3]\nx(i) = d(i) + r(i)\nz(i) = d(i) + b(i)", "test"));
    ck_ok(m, stc_session_get(s, "r", &t));
    ck_assert_int_eq(stc_tensor_type(t), STC_F64);
    ck_ok(m, stc_session_get(s, "b", &t));
    ck_assert_int_eq(stc_tensor_type(t), STC_BOOL);
    struct {
        stc_source now;
        int later;
    } longer = {.now = {.size = sizeof longer, .kind = STC_SOURCE_RANDOM}, .later = 1};
    ck_assert_int_eq(stc_session_put_source(s, "r", &longer.now), STC_ERR_ARGUMENT);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

/* ---- what is lent ------------------------------------------------------------------ */

enum { MANY = 1 << 20 };
static double many[MANY];

/* A dense tensor of 8 MB in a machine that may hold a quarter of one. */
START_TEST(lent_under_a_cap)
{
    stc_machine *m;
    const stc_config c = {.max_memory = 1 << 18};
    const int64_t shape[] = {MANY};
    stc_tensor *t, *u;
    stc_program *p;
    const stc_tensor *s;
    stc_value v;
    ck_assert_int_eq(stc_open(&c, &m), STC_OK);
    for (int k = 0; k < MANY; k++)
        many[k] = k % 7;
    const uint64_t before = stc_memory_used(m);
    ck_ok(m, stc_tensor_new(m, "dense", STC_F64, 1, shape, NULL, &t));
    ck_assert_int_eq(stc_tensor_stored(t), MANY);
    ck_ok(m, stc_tensor_lend_values(t, many, MANY));
    ck_assert_msg(stc_memory_used(m) - before < 16384, "%llu bytes",
                  (unsigned long long)(stc_memory_used(m) - before));
    const stc_decl d = {.name = "x"};
    ck_ok(m, stc_compile(m, "s = x(i)", &d, 1, &p));
    ck_ok(m, stc_bind_slot(p, stc_program_slot(p, "x"), t));
    ck_ok(m, stc_run(p));
    ck_ok(m, stc_result(p, "s", &s));
    ck_ok(m, stc_tensor_get(s, NULL, &v));
    double want = 0;
    for (int k = 0; k < MANY; k++)
        want += many[k];
    ck_assert(v.f == want);
    /* Where nothing is lent its elements are made when they are asked for. */
    ck_ok(m, stc_tensor_new(m, "dense", STC_F64, 1, shape, NULL, &u));
    ck_ok(m, stc_bind(p, "x", u));
    ck_assert_int_eq(stc_run(p), STC_ERR_MEMORY);
    stc_program_free(p);
    stc_tensor_free(t);
    stc_tensor_free(u);
    stc_close(m);
}
END_TEST

START_TEST(made_when_asked_for)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const int64_t shape[] = {2, 3}, at[] = {1, 2}, huge[] = {INT64_MAX / 2, 4};
    const stc_value seven = {.f = 7};
    stc_tensor *t;
    stc_value v;
    const void *values;
    int64_t n;
    ck_ok(m, stc_tensor_new(m, "dense", STC_F64, 2, shape, &seven, &t));
    ck_ok(m, stc_tensor_values(t, &values, &n));
    ck_assert(n == 6 && ((const double *)values)[5] == 7);
    stc_tensor_free(t);
    ck_ok(m, stc_tensor_new(m, "dense", STC_F64, 2, shape, &seven, &t));
    ck_ok(m, stc_tensor_get(t, at, &v));
    ck_assert(v.f == 7);
    stc_tensor_free(t);
    ck_ok(m, stc_tensor_new(m, "dense", STC_F64, 2, shape, &seven, &t));
    stc_tensor_vouch(t);
    ck_ok(m, stc_tensor_check(t));
    ck_assert_uint_eq(stc_tensor_bytes(t), 48);
    stc_tensor_free(t);
    ck_assert_int_ne(stc_tensor_new(m, "dense", STC_F64, 2, huge, NULL, &t), STC_OK);
    machine_shut(m, &h);
}
END_TEST

/* From a dense array: what is made, and nothing beside it. */
START_TEST(from_dense_once)
{
    stc_machine *m;
    const int64_t shape[] = {1024, 1024};
    stc_tensor *t;
    ck_assert_int_eq(stc_open(NULL, &m), STC_OK);
    memset(many, 0, sizeof many);
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 2, shape, NULL, many, &t));
    ck_assert_msg(stc_memory_peak(m) < sizeof many + (1 << 16), "%llu bytes",
                  (unsigned long long)stc_memory_peak(m));
    stc_tensor_free(t);
    stc_close(m);
}
END_TEST

static void count(void *context)
{
    ++*(int *)context;
}

START_TEST(handed_over)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const int64_t shape[] = {3};
    double x[3] = {1, 2, 3};
    int freed = 0, other = 0;
    stc_tensor *t, *copy;
    stc_session *s;
    ck_ok(m, stc_tensor_new(m, "dense", STC_F64, 1, shape, NULL, &t));
    ck_ok(m, stc_tensor_lend_values(t, x, 3));
    ck_ok(m, stc_tensor_hand_over(t, count, &freed));
    ck_assert_int_eq(stc_tensor_hand_over(t, count, &other), STC_ERR_ARGUMENT);
    ck_ok(m, stc_tensor_convert(t, NULL, -1, &copy));
    stc_tensor_free(copy);
    ck_assert_int_eq(freed, 0);
    stc_tensor_free(t);
    ck_assert_int_eq(freed, 1);
    /* A session that has it, and gives the name another value. */
    ck_ok(m, stc_tensor_new(m, "dense", STC_F64, 1, shape, NULL, &t));
    ck_ok(m, stc_tensor_lend_values(t, x, 3));
    ck_ok(m, stc_tensor_hand_over(t, count, &freed));
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_put(s, "x", t));
    ck_ok(m, stc_session_exec(s, "y(i) = x(i) * 2", "test"));
    ck_assert_int_eq(freed, 1);
    ck_ok(m, stc_session_exec(s, "x = 1", "test"));
    ck_assert_int_eq(freed, 2);
    stc_session_close(s);
    ck_ok(m, stc_tensor_new(m, "dense", STC_F64, 1, shape, NULL, &t));
    ck_ok(m, stc_tensor_hand_over(t, count, &freed));
    ck_ok(m, stc_tensor_hand_over(t, NULL, NULL));
    stc_tensor_free(t);
    ck_assert_int_eq(freed, 2);
    ck_assert(x[0] == 1 && other == 0);
    machine_shut(m, &h);
}
END_TEST

START_TEST(numbers_of_operands)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const stc_decl d[] = {{.name = "A", .format = "csr"}, {.name = "x"}};
    stc_program *p;
    stc_tensor *a = sample_matrix(m, "csr");
    ck_ok(m, stc_compile(m, "y(i) = A(i,j) * x(j)", d, 2, &p));
    ck_assert_int_ge(stc_program_slot(p, "A"), 0);
    ck_assert_int_eq(stc_program_slot(p, "y"), -1);
    ck_assert_int_eq(stc_program_slot(p, "q"), -1);
    ck_assert_int_eq(stc_program_slot(NULL, "A"), -1);
    ck_ok(m, stc_bind_slot(p, stc_program_slot(p, "A"), a));
    ck_assert_int_eq(stc_bind_slot(p, stc_program_slot(p, "x"), a), STC_ERR_ARGUMENT);
    ck_assert(has_words(stc_error(m)->message, "tensor x has format csr"));
    ck_assert_int_eq(stc_bind_slot(p, -1, a), STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_bind_slot(p, 99, a), STC_ERR_ARGUMENT);
    ck_assert(has_words(stc_error(m)->message, "no operand of number 99"));
    stc_program_free(p);
    stc_tensor_free(a);
    machine_shut(m, &h);
}
END_TEST

static const char *const part_formats[] = {"csr",   "csc",       "coo",
                                           "dense", "bcsr(2,2)", "dia"};

/* Each part of the sample, element by element. */
START_TEST(parts)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *a = sample_matrix(m, part_formats[_i]), *part;
    const int64_t wrong[] = {3, 0}, all[] = {4, 5};
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < 5; j++)
            for (int64_t k = i; k <= 4; k += 2) {
                const int64_t lo[] = {i, j}, hi[] = {k, 5};
                ck_ok(m, stc_tensor_part(a, lo, hi, &part));
                ck_assert_int_eq(stc_tensor_shape(part)[0], k - i);
                ck_assert_int_eq(stc_tensor_shape(part)[1], 5 - j);
                ck_assert_str_eq(stc_tensor_format(part), stc_tensor_format(a));
                for (int64_t r = i; r < k; r++)
                    for (int64_t c = j; c < 5; c++) {
                        const int64_t at[] = {r - i, c - j};
                        stc_value v;
                        ck_ok(m, stc_tensor_get(part, at, &v));
                        ck_assert(v.f == sample_dense[r * 5 + c]);
                    }
                stc_tensor_free(part);
            }
    ck_assert_int_eq(stc_tensor_part(a, all, wrong, &part), STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_tensor_part(a, NULL, all, &part), STC_ERR_ARGUMENT);
    /* whichever allocation fails, nothing is left of it */
    const int64_t none[] = {0, 0};
    const int64_t held = h.held;
    for (int64_t k = 1; k < 20; k++) {
        h.fail_at = h.calls + k;
        h.failed = false;
        const stc_status st = stc_tensor_part(a, none, all, &part);
        h.fail_at = 0;
        ck_assert(st == STC_OK || (h.failed && st == STC_ERR_MEMORY));
        if (st == STC_OK) stc_tensor_free(part);
        ck_assert_int_eq(h.held, held);
    }
    stc_tensor_free(a);
    machine_shut(m, &h);
}
END_TEST

/* What is wrong with an operand's arrays is said with its name. */
START_TEST(named_in_errors)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const stc_decl d[] = {{.name = "A", .format = "csr"}, {.name = "x"}};
    int32_t pos[] = {0, 1, 1}, crd[] = {9};
    double v[] = {1};
    const int64_t shape[] = {2, 2};
    stc_tensor *a, *x;
    stc_program *p;
    ck_ok(m, stc_compile(m, "y(i) = A(i,j) * x(j)", d, 2, &p));
    ck_ok(m, stc_tensor_new(m, "csr", STC_F64, 2, shape, NULL, &a));
    ck_ok(m, stc_tensor_new(m, "dense", STC_F64, 1, shape, NULL, &x));
    ck_ok(m, stc_tensor_lend(a, 1, STC_POS, (stc_array){pos, 3, 4, 0}));
    ck_ok(m, stc_tensor_lend(a, 1, STC_CRD, (stc_array){crd, 1, 4, 0}));
    ck_ok(m, stc_tensor_lend_values(a, v, 1));
    ck_ok(m, stc_bind(p, "A", a));
    ck_ok(m, stc_bind(p, "x", x));
    ck_assert_int_eq(stc_run(p), STC_ERR_DATA);
    ck_assert_msg(has_words(stc_error(m)->message, "A|level 1|coordinate 9"), "%s",
                  stc_error(m)->message);
    stc_program_free(p);
    stc_tensor_free(a);
    stc_tensor_free(x);
    machine_shut(m, &h);
}
END_TEST

Suite *suite_structs(void)
{
    Suite *s = suite_create("structs");
    TCase *c = tcase_create("structs");
    tcase_add_test(c, configs);
    tcase_add_test(c, decls);
    tcase_add_test(c, written);
    tcase_add_test(c, sources);
    tcase_add_test(c, lent_under_a_cap);
    tcase_add_test(c, made_when_asked_for);
    tcase_add_test(c, from_dense_once);
    tcase_add_test(c, handed_over);
    tcase_add_test(c, numbers_of_operands);
    tcase_add_loop_test(c, parts, 0, sizeof part_formats / sizeof *part_formats);
    tcase_add_test(c, named_in_errors);
    suite_add_tcase(s, c);
    return s;
}
