/* check_api.c: the public interface itself: arguments that are wrong, outputs
 * that stay untouched, names, declarations, sources, independent machines. */
#include "check.h"
#include <stdlib.h>
#include <string.h>

START_TEST(opening)
{
    stc_machine *m = NULL;
    ck_assert_int_eq(stc_open(NULL, &m), STC_OK);
    ck_assert_ptr_nonnull(m);
    ck_assert_int_eq(stc_error(m)->status, STC_OK);
    ck_assert_ptr_nonnull(stc_error(m)->message);
    stc_close(m);
    stc_close(NULL);
    ck_assert_int_eq(stc_open(NULL, NULL), STC_ERR_ARGUMENT);
    for (int k = STC_OK; k <= STC_ERR_OVERFLOW; k++)
        ck_assert_ptr_nonnull(stc_status_name((stc_status)k));
    stc_tensor_free(NULL);
    stc_program_free(NULL);
}
END_TEST

START_TEST(nulls)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *t = (stc_tensor *)&h;
    stc_program *p = (stc_program *)&h;
    stc_session *s = (stc_session *)&h;
    const int64_t shape[] = {2};
    ck_assert_int_eq(stc_tensor_new(m, "dense", STC_F64, 1, NULL, NULL, &t),
                     STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_tensor_new(m, "dense", STC_F64, 1, shape, NULL, NULL),
                     STC_ERR_ARGUMENT);
    ck_assert_int_ne(stc_tensor_new(m, "dense", (stc_type)99, 1, shape, NULL, &t), STC_OK);
    ck_assert_int_ne(stc_tensor_new(m, "dense", STC_F64, 17, shape, NULL, &t), STC_OK);
    ck_assert_int_ne(stc_tensor_new(m, "csr", STC_F64, 1, shape, NULL, &t), STC_OK);
    ck_assert_int_eq(stc_compile(m, NULL, NULL, 0, &p), STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_compile(m, "a = 1", NULL, 0, NULL), STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_compile(m, "a = ", NULL, 0, &p), STC_ERR_SYNTAX);
    ck_assert_int_eq(stc_program_decode(m, NULL, 0, &p), STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_tensor_read(m, NULL, NULL, -1, NULL, &t), STC_ERR_ARGUMENT);
    ck_assert_ptr_eq(t, &h);
    ck_assert_ptr_eq(p, &h);
    ck_assert_ptr_eq(s, &h);
    machine_shut(m, &h);
}
END_TEST

START_TEST(names)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const stc_decl d[] = {{0, "A", "csr", STC_F64, NULL, 2},
                          {0, "x", "dense", -1, NULL, -1}};
    stc_program *p;
    ck_ok(m, stc_compile(m, "y(i) = A(i,j) * x(j)", d, 2, &p));
    int operands = 0, results = 0;
    const char *name;
    bool result;
    for (int k = 0; (name = stc_program_name(p, k, &result)); k++) {
        if (result) ck_assert_str_eq(name, "y");
        operands += !result;
        results += result;
    }
    ck_assert_int_eq(operands, 2);
    ck_assert_int_eq(results, 1);
    stc_decl got = {.size = sizeof got};
    ck_ok(m, stc_program_decl(p, "x", &got));
    ck_assert_int_eq(got.type, STC_F64);
    ck_assert_int_eq(got.order, 1);
    ck_ok(m, stc_program_decl(p, "A", &got));
    ck_assert_str_eq(got.format, "csr");
    const stc_tensor *t = NULL;
    ck_assert_int_ne(stc_result(p, "y", &t), STC_OK); /* not run yet */
    ck_assert_int_eq(stc_result(p, "z", &t), STC_ERR_ARGUMENT);
    ck_assert_ptr_null(t);
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

START_TEST(sources)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const stc_decl d[] = {{0, "A", "csr", STC_F64, NULL, 2},
                          {0, "x", "dense", STC_F64, NULL, 1}};
    stc_program *p;
    ck_ok(m, stc_compile(m, "y(i) = A(i,j) * x(j)\ns = y(i)", d, 2, &p));
    stc_tensor *a = sample_matrix(m, "csr");
    const stc_source two = {
        .kind = STC_SOURCE_VALUE, .value = {.f = 2}, .value_type = STC_F64, .type = -1};
    ck_ok(m, stc_bind(p, "A", a));
    ck_ok(m, stc_bind_source(p, "x", &two));
    ck_ok(m, stc_run(p));
    const stc_tensor *t;
    stc_value v;
    ck_ok(m, stc_result(p, "s", &t));
    ck_ok(m, stc_tensor_get(t, NULL, &v));
    ck_assert(v.f == 22);
    stc_program_free(p);
    stc_tensor_free(a);
    machine_shut(m, &h);
}
END_TEST

START_TEST(error_places)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p;
    ck_assert_int_eq(stc_compile(m, "a = 1\nb(i) = a * nope(i)\n", NULL, 0, &p),
                     STC_ERR_PROGRAM);
    const stc_error_info *e = stc_error(m);
    ck_assert_int_eq(e->line, 2);
    ck_assert_int_eq(e->column, 12);
    ck_assert_int_ge(e->length, 4);
    ck_assert_str_eq(e->text, "b(i) = a * nope(i)");
    ck_assert(has_words(e->message, "nope"));
    ck_ok(m, stc_compile(m, "a = 1", NULL, 0, &p));
    ck_assert_int_eq(stc_error(m)->status, STC_OK);
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

START_TEST(closing_frees_all)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p;
    stc_session *s;
    ck_ok(m, stc_compile(m, "a = 1 + 2", NULL, 0, &p));
    ck_ok(m, stc_run(p));
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, "b = 3", "x"));
    machine_shut(m, &h);
}
END_TEST

static int count_one(void *context, const int64_t *coords, stc_value v)
{
    (void)coords, (void)v;
    ++*(int64_t *)context;
    return 0;
}

/* The first entries and how many follow, in any format; where the format tells that,
 * nobody walks to the end of them. */
START_TEST(first_entries)
{
    static const struct {
        const char *format;
        bool told;
    } row[] = {{"csr", true},  {"csc", true},     {"coo", true},        {"csf", true},
               {"dcsr", true}, {"hash", true},    {"bcsr(3,4)", false}, {"ell", false},
               {"dia", false}, {"bytemap", false}};
    enum { N = 300, ENTRIES = 3 * N }; /* on the diagonal and beside it, all distinct */
    static int64_t coords[2 * ENTRIES];
    static double values[ENTRIES];
    const int64_t shape[] = {N, N + 2};
    heap h;
    stc_machine *m = machine_open(&h, false);
    for (int e = 0; e < ENTRIES; e++) {
        coords[e] = e / 3;
        coords[ENTRIES + e] = e / 3 + e % 3;
        values[e] = e + 1;
    }
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        stc_tensor *t;
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        ck_ok(m, stc_tensor_from_coords(m, row[k].format, STC_F64, 2, shape, NULL, ENTRIES,
                                        coords, values, &t));
        int64_t n = 0; /* blocks and diagonals store more than the entries */
        ck_ok(m, stc_tensor_visit(t, count_one, &n));
        const uint64_t before = ((ctx *)m)->worked;
        ck_ok(m, stc_tensor_print(t, out, 5));
        const uint64_t steps = ((ctx *)m)->worked - before;
        fclose(out);
        char words[40];
        snprintf(words, sizeof words, "… and %lld more", (long long)n - 5);
        ck_assert_msg(strstr(text, words), "%s: %s", row[k].format, text);
        if (row[k].told)
            ck_assert_msg(steps < 100, "%s: %llu steps", row[k].format,
                          (unsigned long long)steps);
        free(text);
        stc_tensor_free(t);
    }
    machine_shut(m, &h);
}
END_TEST

START_TEST(two_machines)
{
    heap h1, h2;
    stc_machine *a = machine_open(&h1, false), *b = machine_open(&h2, true);
    stc_program *p;
    ck_assert_int_eq(stc_compile(a, "x = ", NULL, 0, &p), STC_ERR_SYNTAX);
    ck_assert_int_eq(stc_error(b)->status, STC_OK);
    ck_assert_int_eq(stc_error(a)->status, STC_ERR_SYNTAX);
    machine_shut(a, &h1);
    machine_shut(b, &h2);
}
END_TEST

Suite *suite_api(void)
{
    Suite *s = suite_create("api");
    TCase *c = tcase_create("api");
    tcase_add_test(c, opening);
    tcase_add_test(c, nulls);
    tcase_add_test(c, names);
    tcase_add_test(c, sources);
    tcase_add_test(c, error_places);
    tcase_add_test(c, closing_frees_all);
    tcase_add_test(c, first_entries);
    tcase_add_test(c, two_machines);
    suite_add_tcase(s, c);
    return s;
}
