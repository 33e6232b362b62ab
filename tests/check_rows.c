/* check_rows.c: rows and blocks of tensors that are there are written at a cost of what
 * they store: values beside those of a dense tensor, under a limit of steps that a loop
 * over all coordinates would exceed.
 */
#include "check.h"
#include <stdio.h>
#include <string.h>

/* A matrix of 40 rows and n columns, and its dense twin where n is small. */
static void declare(char *text, size_t size, const char *kind, int n, const char *fill)
{
    snprintf(text, size,
             "n = %d\ntensor A %s f64 [40,n] %s\ntensor x svec f64 [n] %s\n"
             "tensor z svec f64 [n]\n"
             "for k in 0:20 { A(2 * k, 3 * k) = k + 1; A(2 * k, 5 * k + 1) = 2 }\n"
             "for k in 0:9 { x(7 * k + 1) = 9 - k; z(3 * k) = k }\n",
             n, kind, fill, fill);
}

static const char *const statements[] = {
    "%s(k,j) *= 2",
    "%s(k,j) = 2 * %s(k,j)",
    "%s(k,j) = x(j)",
    "%s(k,j) += z(j)",
    "%s(k,j) = %s(k,j) - %s(k,6) / (%s(k,1) + 9) * z(j)",
    "%s(k,j) *= x(j)",
    "%s(k,j) max= x(j)",
    "%s(k,j) = %s(40 - 1 - k,j)",
    "%s(q(i),j) *= 3",
};
enum { STATEMENTS = sizeof statements / sizeof *statements };

static void statement(char *text, size_t size, const char *pattern, const char *name)
{
    snprintf(text, size, pattern, name, name, name, name);
}

/* A and the dense D are the same after each statement. */
START_TEST(values)
{
    static const char *const formats[] = {"csr",
                                          "csc",
                                          "dcsr",
                                          "hash",
                                          "(i,j) -> (i : bytemap, j : compressed)",
                                          "(i,j) -> (i : compressed, j : dense)",
                                          "(i,j) -> (j : hashed, i : compressed)"};
    static const char *const fills[] = {"", "fill 1"};
    for (int f = 0; f < 14; f++) {
        char text[2500], one[200], twin[200];
        declare(text, sizeof text, formats[f % 7], 100, fills[f / 7]);
        size_t at = strlen(text);
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "tensor q dense i64 = [4,7]\ntensor D dense f64 [40,n]\n"
                               "D(i,j) = A(i,j)\nfor k in 3:9 {\n");
        for (int s = 0; s < STATEMENTS; s++) {
            statement(one, sizeof one, statements[s], "A");
            statement(twin, sizeof twin, statements[s], "D");
            at += (size_t)snprintf(text + at, sizeof text - at,
                                   "%s; %s\nassert all(i,j: A(i,j) == D(i,j)), \"%d\"\n",
                                   one, twin, s);
        }
        snprintf(text + at, sizeof text - at, "}\n");
        expect_within(text, 10000000);
    }
}
END_TEST

/* Nothing is visited or stored but what either side stores. */
START_TEST(stored_alone)
{
    static const char *const formats[] = {"csr", "dcsr", "hash",
                                          "(i,j) -> (i : bytemap, j : compressed)"};
    for (int f = 0; f < 4; f++)
        for (int s = 0; s < STATEMENTS - 1; s++) {
            char text[2000], one[200];
            declare(text, sizeof text, formats[f], 1000000, "");
            statement(one, sizeof one, statements[s], "A");
            const size_t at = strlen(text);
            snprintf(text + at, sizeof text - at,
                     "for k in 0:40 { %s }\nassert stored(A) < 800", one);
            expect_within(text, 200000);
        }
}
END_TEST

/* Of several values for one element the last one stays, and if that is the fill. */
START_TEST(last_stays)
{
    expect_within("tensor A csr f64 [3,9]\ntensor p dense i64 = [1,1]\n"
                  "tensor X csr f64 [2,9] = { (0,4): 5, (1,2): 3 }\nA(p(i),j) = X(i,j)\n"
                  "assert A(1,4) == 0 && A(1,2) == 3",
                  10000);
}
END_TEST

/* ---- blocks of tensors that have all places ---------------------------------------------
 */

/* A statement, and the same for each element by itself. */
static const char *const blocks[][2] = {
    {"A(k,j) = d(j)", "B(k,m) = d(m)"},
    {"A(j(0:9),k) = d(j(0:9)) + k", "if (m < 9) { B(m,k) = d(m) + k }"},
    {"A(k,j(2:9:3)) += 2 * d(j(0:3))", "if (m < 3) { B(k,2+3*m) += 2 * d(m) }"},
    {"A(k,9-j) *= d(j(0:10))", "if (m < 10) { B(k,9-m) *= d(m) }"},
    {"A(k,j) = A(k+1,j) - A(k,j)", "B(k,m) = old(k+1,m) - old(k,m)"},
    {"A(k,j) = A(k,19-j)", "B(k,m) = old(k,19-m)"},
    {"A(k,j) max= sum(i: S(i,j))", "B(k,m) max= sum(i: S(i,m))"},
    {"A(j(3:8),i(0:4)) = d(i(0:4)) * d(j(0:5))",
     "if (m < 5) { for l in 0:4 { B(m+3,l) = d(l) * d(m) } }"},
};

START_TEST(blocks_of_places)
{
    static const char *const formats[] = {
        "dense f64", "(i,j) -> (j : dense, i : dense) f64",  "dense f32", "dense i32",
        "dense i16", "(i,j) -> (i : dense, j : bytemap) i16"};
    for (int f = 0; f < 6; f++)
        for (int b = 0; b < (int)(sizeof blocks / sizeof *blocks); b++) {
            char text[1500];
            snprintf(text, sizeof text,
                     "tensor A %s [12,20]\nA(i,j) = 3 * i + j // 2\n"
                     "tensor B dense f64 [12,20]\nB(i,j) = A(i,j)\n"
                     "d(j in 0:20) = (7 * j %% 5) * (j < 12)\ntensor S csr i16 [5,20]\n"
                     "for k in 0:5 { S(k,2*k) = 40 * k; S(k,19) = 1 }\n"
                     "tensor d dense i16 [20]\nd(j) = (7 * j %% 5) * (j < 12)\n"
                     "for k in 1:9 {\n%s\ntensor old dense f64 [12,20]\n"
                     "old(i,j) = B(i,j)\nfor m in 0:20 { %s }\n"
                     "tensor C %s [12,20]\nC(i,j) = %s(B(i,j))\nB(i,j) = C(i,j)\n"
                     "assert all(i,j: A(i,j) == B(i,j)), \"%d\"\n}\n",
                     formats[f], blocks[b][0], blocks[b][1], formats[f],
                     strrchr(formats[f], ' ') + 1, b);
            expect_within(text, 1000000);
        }
}
END_TEST

/* What fails has changed nothing; arguments of a def stay what they were. */
START_TEST(whole_or_not)
{
    heap h;
    stc_session *s;
    stc_machine *m = machine_open(&h, false);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s,
                              "tensor D dense i64 [3,4] = 6\ntensor z dense i64 [4] = 1\n"
                              "z(3) = 0\nk = 1\n",
                              "test"));
    ck_assert_int_ne(stc_session_exec(s, "D(1,j) //= z(j)", "test"), STC_OK);
    ck_assert_int_ne(stc_session_exec(s, "D(k,j) = 5 // z(j)", "test"), STC_OK);
    ck_assert_int_ne(stc_session_exec(s, "k = 3; D(k,j) = 5", "test"), STC_OK);
    ck_ok(m, stc_session_exec(s,
                              "assert all(i,j: D(i,j) == 6)\n"
                              "def f(A) -> r { k = 1; A(k,j) = 5; r = A(1,0) }\n"
                              "r = f(D)\nassert r == 5 && all(i,j: D(i,j) == 6)\n",
                              "test"));
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

/* Each element of a block costs a round of a loop, and its taking over. */
START_TEST(rounds_of_blocks)
{
    for (int n = 1000; n <= 100000; n *= 10) {
        char text[300];
        snprintf(text, sizeof text,
                 "n = %d\ntensor x dense f64 [n]\ntensor D dense f64 [2,n]\n"
                 "x(i(0:n:2)) = 1\nfor k in 0:2 { D(k,j) = x(j); D(k,j) += D(1-k,j) }",
                 n);
        expect_within(text, (uint64_t)(1000 + 11 * n));
    }
}
END_TEST

Suite *suite_rows(void)
{
    Suite *s = suite_create("rows");
    TCase *c = tcase_create("rows");
    tcase_add_test(c, values);
    tcase_add_test(c, stored_alone);
    tcase_add_test(c, last_stays);
    tcase_add_test(c, blocks_of_places);
    tcase_add_test(c, whole_or_not);
    tcase_add_test(c, rounds_of_blocks);
    tcase_set_timeout(c, 120);
    suite_add_tcase(s, c);
    return s;
}
