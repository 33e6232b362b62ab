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

Suite *suite_rows(void)
{
    Suite *s = suite_create("rows");
    TCase *c = tcase_create("rows");
    tcase_add_test(c, values);
    tcase_add_test(c, stored_alone);
    tcase_add_test(c, last_stays);
    tcase_set_timeout(c, 120);
    suite_add_tcase(s, c);
    return s;
}
