/* check_early.c: reductions that are settled before their loops end: rows ten times as
 * long take no more steps, values are those of base operations, and what could fail in
 * the part that needn't be looked at still does. */
#include "../src/api/api.h"
#include "check.h"
#include <string.h>

#define ROWS "20"

/* %s: columns. What settles them lies in each row's first few elements. */
#define DENSE                                                                              \
    "tensor B dense bool [" ROWS ",%s] = 1\n"                                              \
    "tensor N dense i32 [" ROWS ",%s]\nN(i,j) = j - 3\n"                                   \
    "tensor U dense u8 [" ROWS ",%s]\nU(i,j) = u8(255 * (j %% 2))\n"                       \
    "tensor C csr i64 [" ROWS ",%s] = 1\n"                                                 \
    "tensor D csr i64 [" ROWS ",%s]\nD(i,j) = (i + j) %% 3\n"                              \
    "tensor T dense bool [3," ROWS ",%s] = 1\n"                                            \
    "tensor P csr bool [" ROWS ",%s] = 1\ntensor Q csr bool [" ROWS ",%s] = 1\n"

static const char *const settled[] = {
    "r(i) = any(k: B(i,k))",
    "r(i) = all(k: !B(i,k))",
    "r(i) = any(k: N(i,k) > 0)",
    "r(i) = prod(k: N(i,k))",
    "r(i) = max(k: U(i,k))",
    "r(i) = min(k: U(i,k))",
    "r = max(i,k: U(i,k))",
    "r(i) = any(k: C(i,k) > 0)",
    "r(i) = prod(k: D(i,k))",
    "r(i) = prod(k: D(i,k) + 0)",
    "r(i) = any(k: B(i,k) && N(i,k) > 0)",
    "r(i) = any(k: T(i(0:3),j,k)) with reorder(i,j,k)",
    "r(i,j) = any(k: T(i,j,k))",
    "r(i) = any(j,k: T(i,j,k))",
    "r = any(i,k: B(i,k))",
    "r(i) = any(k: P(i,k))",
    "r(i) = any(k: P(i,k) && B(i,k))",
    "r(i) = any(k: P(i,k) && Q(i,k))",
    "r(i) = any(k: P(0,k) && Q(i,k))",
    /* what is counted beside is settled, too */
    "r(i) = all(k: P(i,k) && k > 2)",
    "r = all(i,k: P(i,k) && k > 2)",
    "r = all(i,k: P(i,k) && k + i > 2)",
    "r(j) = any(i,k: T(i(0:3),j,k) && k + i > 2)",
    "r = all(k: P(3,k) && k > 2)",
    "r(i) = all(k: P(i,k) && N(i,k) > 0)",
    "r(i) = 2 + all(k: P(i,k) && Q(i,k) && k > 2)",
    "r(i) = any(k: P(i,k) && Q(i,k) && k > 2)",
};

/* The steps that the statement takes, which are counted from its beginning; its result in
 * r. */
static uint64_t steps_of(stc_machine *m, const char *statement, const char *columns,
                         stc_session **s)
{
    char text[1200];
    snprintf(text, sizeof text, DENSE, columns, columns, columns, columns, columns, columns,
             columns, columns);
    ck_ok(m, stc_session_open(m, s));
    ck_ok(m, stc_session_exec(*s, text, "operands"));
    ck_ok(m, stc_session_exec(*s, statement, "x"));
    return m->cx.steps;
}

/* 0 settles a product, and `min` of what has no sign, not a sum. */
START_TEST(sums_go_on)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    const stc_tensor *r;
    stc_value v;
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s,
                              "tensor A dense u32 [3,2000]\nA(i,j) = u32(j == 1999)\n"
                              "r = sum(i,j: A(i,j))\n",
                              "x"));
    ck_ok(m, stc_session_get(s, "r", &r));
    ck_ok(m, stc_tensor_get(r, NULL, &v));
    ck_assert_int_eq(v.i, 3);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

START_TEST(rows_end_early)
{
    const char *statement = settled[_i];
    heap h[2];
    stc_machine *fast = machine_open(&h[0], false), *base = machine_open(&h[1], true);
    stc_session *s[3];
    const uint64_t few = steps_of(fast, statement, "2000", &s[0]);
    const uint64_t many = steps_of(fast, statement, "20000", &s[1]);
    (void)steps_of(base, statement, "2000", &s[2]);
    ck_assert_msg(many <= few + few / 8, "%s: %llu steps for 2000 columns, %llu for 20000",
                  statement, (unsigned long long)few, (unsigned long long)many);
    const stc_tensor *r, *again;
    ck_ok(fast, stc_session_get(s[0], "r", &r));
    ck_ok(base, stc_session_get(s[2], "r", &again));
    const int64_t n = stc_tensor_order(r) ? stc_tensor_shape(r)[0] : 1;
    for (int64_t k = 0; k < n; k++) {
        const int64_t at[2] = {k, 0};
        stc_value a, b;
        ck_ok(fast, stc_tensor_get(r, at, &a));
        ck_ok(base, stc_tensor_get(again, at, &b));
        ck_assert_int_eq(a.i, b.i);
    }
    for (int k = 0; k < 3; k++)
        stc_session_close(s[k]);
    machine_shut(fast, &h[0]);
    machine_shut(base, &h[1]);
}
END_TEST

/* What comes behind the element that settles a row fails in every tier. */
START_TEST(faults_are_found)
{
    static const char *const failing[] = {"r = any(k: 1 // F(0,k) >= 0)",
                                          "r(i) = any(k: 1 // F(i,k) >= 0)",
                                          "r(i) = prod(k: F(i,k) - 1 + 0 * (1 % F(i,k)))"};
    for (int base = 0; base < 2; base++) {
        heap h;
        stc_machine *m = machine_open(&h, base);
        stc_session *s;
        ck_ok(m, stc_session_open(m, &s));
        ck_ok(m, stc_session_exec(s,
                                  "tensor F dense i64 [4,5000] = 1\nF(2,4999) = 0\n"
                                  "F(0,4999) = 0\n",
                                  "x"));
        ck_assert_int_eq(stc_session_exec(s, failing[_i], "x"), STC_ERR_ARITHMETIC);
        ck_assert_ptr_nonnull(strstr(stc_error(m)->message, "4999"));
        stc_session_close(s);
        machine_shut(m, &h);
    }
}
END_TEST

Suite *suite_early(void)
{
    Suite *s = suite_create("early");
    TCase *c = tcase_create("early");
    tcase_add_loop_test(c, rows_end_early, 0, sizeof settled / sizeof *settled);
    tcase_add_test(c, sums_go_on);
    tcase_add_loop_test(c, faults_are_found, 0, 3);
    suite_add_tcase(s, c);
    return s;
}
