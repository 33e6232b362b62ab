/* check_api_decls.c: what zeros of the interface's structs mean, the version, and whose an
 * object is. */
#include "check.h"
#include <stdio.h>
#include <string.h>

START_TEST(versions)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", STC_VERSION_MAJOR, STC_VERSION_MINOR,
             STC_VERSION_PATCH);
    ck_assert_str_eq(text, STC_VERSION);
    ck_assert_str_eq(text, stc_version());
    ck_assert_int_eq(stc_version_number(), STC_VERSION_NUMBER);
    ck_assert_int_eq(stc_version_number() / 1000000, STC_VERSION_MAJOR);
    ck_assert_int_eq(stc_version_number() / 1000 % 1000, STC_VERSION_MINOR);
    ck_assert_int_eq(stc_version_number() % 1000, STC_VERSION_PATCH);
}
END_TEST

START_TEST(machines)
{
    heap h, other;
    stc_machine *m = machine_open(&h, false), *n = machine_open(&other, false);
    stc_program *p;
    stc_session *s;
    const stc_tensor *y;
    ck_ok(m, stc_compile(m, "y = 1", NULL, 0, &p));
    ck_ok(n, stc_session_open(n, &s));
    ck_ok(n, stc_session_exec(s, "y = 2", "x"));
    ck_ok(n, stc_session_get(s, "y", &y));
    ck_assert_ptr_eq(stc_program_machine(p), m);
    ck_assert_ptr_eq(stc_session_machine(s), n);
    ck_assert_ptr_eq(stc_tensor_machine(y), n);
    ck_ok(m, stc_run(p));
    ck_ok(m, stc_result(p, "y", &y));
    ck_assert_ptr_eq(stc_tensor_machine(y), m);
    ck_assert_ptr_null(stc_program_machine(NULL));
    ck_assert_ptr_null(stc_session_machine(NULL));
    ck_assert_ptr_null(stc_tensor_machine(NULL));
    stc_program_free(p);
    stc_session_close(s);
    machine_shut(m, &h);
    machine_shut(n, &other);
}
END_TEST

/* A decl, and what it is an operand's of that text; the order -1: it is refused. */
static const struct {
    const char *text;
    stc_decl d;
    const char *format;
    stc_type type;
    int order;
} decls[] = {
    {"y(i) = A(i,j)", {.name = "A"}, "dense", STC_F64, 2},
    {"y(i) = A(i,j)", {.name = "A", .format = "csr"}, "csr", STC_F64, 2},
    {"y(i) = A(i,j)", {.name = "A", .format = "csr", .type = -1}, "csr", STC_F64, 2},
    {"y(i) = A(i,j)", {.name = "A", .format = "csr", .type = STC_I8}, "csr", STC_I8, 2},
    {"y(i) = A(i,j)", {0, "A", "csr", STC_BOOL, NULL, 2}, "csr", STC_BOOL, 2},
    {"y(i) = A(i,j)", {.name = "A", .order = 2}, "dense", STC_BOOL, 2},
    {"y(i) = A(i,j)", {0, "A", "csr", STC_F64, NULL, -1}, "csr", STC_F64, 2},
    {"y(i) = A(i,j)", {0, "A", "csr", STC_F64, NULL, 1}, NULL, STC_F64, -1},
    {"y(i) = A(i,j)", {0, "A", "svec", STC_F64, NULL, 0}, NULL, STC_F64, -1},
    {"y = A + 1", {.name = "A"}, "dense", STC_F64, 0},
    {"y = A + 1", {.name = "A", .type = STC_I32}, "dense", STC_I32, 0},
    {"y = A + 1", {.name = "A", .format = "dense"}, "dense", STC_BOOL, 0},
    {"y = A + 1", {0, "A", "dense", STC_BOOL, NULL, 0}, "dense", STC_BOOL, 0},
    {"y = A + 1", {0, "A", "dense", STC_BOOL, NULL, -1}, "dense", STC_BOOL, 0},
};

START_TEST(zeros_of_decls)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    for (size_t k = 0; k < sizeof decls / sizeof *decls; k++) {
        stc_program *p = NULL;
        stc_decl got = {.size = sizeof got};
        const stc_status st = stc_compile(m, decls[k].text, &decls[k].d, 1, &p);
        if (decls[k].order < 0) {
            ck_assert_msg(st == STC_ERR_PROGRAM || st == STC_ERR_SHAPE, "decl %zu: %s", k,
                          stc_status_name(st));
            continue;
        }
        ck_assert_msg(!st, "decl %zu: %s", k, stc_error(m)->message);
        ck_ok(m, stc_program_decl(p, "A", &got));
        ck_assert_msg(!strcmp(got.format, decls[k].format), "decl %zu: %s", k, got.format);
        ck_assert_msg(got.type == (int)decls[k].type, "decl %zu: type %d", k, got.type);
        ck_assert_msg(got.order == decls[k].order, "decl %zu: order %d", k, got.order);
        stc_program *again = NULL; /* what is told of it declares the same */
        stc_decl same = {0};
        ck_ok(m, stc_compile(m, decls[k].text, &got, 1, &again));
        ck_ok(m, stc_program_decl(again, "A", &same));
        ck_assert(same.type == got.type && same.order == got.order);
        stc_program_free(p);
        stc_program_free(again);
    }
    machine_shut(m, &h);
}
END_TEST

/* Names that the text doesn't use are allowed, and a result's decl of zeros chooses
 * nothing. */
START_TEST(zeros_of_others)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const stc_decl d[] = {{.name = "A"},
                          {.name = "nobody"},
                          {.name = "none", .format = "csr"},
                          {.name = "y", .format = "svec"},
                          {.name = "z"}};
    stc_program *p;
    stc_decl got = {.size = sizeof got};
    ck_ok(m, stc_compile(m, "y(i) = A(i,j)\nz(i) = A(i,j) > 0", d, 5, &p));
    ck_ok(m, stc_program_decl(p, "y", &got));
    ck_assert_str_eq(got.format, "svec");
    ck_assert_int_eq(got.type, STC_F64);
    ck_ok(m, stc_program_decl(p, "z", &got));
    ck_assert_int_eq(got.type, STC_I64); /* of what is counted */
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

/* A config of zeros opens what none opens. */
START_TEST(zeros_of_config)
{
    const stc_config zeros = {0};
    stc_machine *m;
    ck_assert_int_eq(stc_open(&zeros, &m), STC_OK);
    stc_session *s;
    const stc_tensor *y;
    stc_value v;
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, "y = sum(i in 0:100000: i)", "x"));
    ck_ok(m, stc_session_get(s, "y", &y));
    ck_ok(m, stc_tensor_get(y, NULL, &v));
    ck_assert_int_eq(v.i, 4999950000);
    stc_close(m);
}
END_TEST

Suite *suite_api_decls(void)
{
    Suite *s = suite_create("api_decls");
    TCase *c = tcase_create("api_decls");
    tcase_add_test(c, versions);
    tcase_add_test(c, machines);
    tcase_add_test(c, zeros_of_decls);
    tcase_add_test(c, zeros_of_others);
    tcase_add_test(c, zeros_of_config);
    suite_add_tcase(s, c);
    return s;
}
