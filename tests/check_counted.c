/* check_counted.c: idempotent reductions whose terms meet as they are stored, and are
 * counted (plan/counted.c): they are what dense operands give, whatever is stored, store
 * what had a term, and take the steps that what is stored takes. */
#include "../src/api/api.h"
#include "check.h"
#include <string.h>

/* a and b are A and B, dense. Row 1 of A and column 2 of B are full, so that no 0 is in
 * their product; row 3 and column 5 are empty. %s: type, formats of A and B, and of R. */
static const char operands[] =
    "n = 6\n"
    "tensor a dense %1$s [n,n]\ntensor b dense %1$s [n,n]\n"
    "a(i,j) = select(i == 1, -1 - j, (i + 2 * j) %% 5 - 2)\n"
    "a(i,j) = select(i == 3 || (i + j) %% 3 == 1 && i != 1, 0, a(i,j))\n"
    "b(i,j) = select(j == 2, 3 + i, (2 * i + j) %% 7 - 4)\n"
    "b(i,j) = select((i * j) %% 4 == 3 || j == 5, 0, b(i,j))\n"
    "tensor A %2$s %1$s [n,n]\nA(i,j) = a(i,j)\ncompact A\n"
    "tensor B %3$s %1$s [n,n]\nB(i,j) = b(i,j)\ncompact B\n"
    "tensor R %4$s %5$s\ntensor r dense %5$s\n";

static const char *const formats[][3] = {
    {"csr", "csr", "csr"},   {"coo", "csr", "dense"}, {"csc", "csr", "csr"},
    {"hash", "dcsr", "coo"}, {"csr", "coo", "csr"},
};
static const char *const types[] = {"f64", "f32", "i64", "i8"};

/* the statements, the type of R if it isn't the operands', the number of places stored */
static const struct {
    const char *text, *type;
    int stored;
} statements[] = {
    {"R(i,j) = max(k: A(i,k) * B(k,j))\nr(i,j) = max(k: a(i,k) * b(k,j))\n", NULL, 25},
    {"R(i,j) = min(k: A(i,k) * B(k,j))\nr(i,j) = min(k: a(i,k) * b(k,j))\n", NULL, 25},
    {"R(i,j) = A(j,i)\nR(i,j) max= A(i,k) * B(k,j)\n"
     "r(i,j) = max(a(j,i), max(k: a(i,k) * b(k,j)))\n",
     NULL, 31},
    {"R(i,j) = A(j,i)\nR(i,j) min= A(i,k) * B(k,j)\n"
     "r(i,j) = min(a(j,i), min(k: a(i,k) * b(k,j)))\n",
     NULL, 31},
    {"R(i,j) = max(k in 0:n, l in 0:2: A(i,k) * B(k,j) + 0 * l)\n"
     "r(i,j) = max(k: a(i,k) * b(k,j))\n",
     NULL, 25},
    {"R(i,j) = all(k: A(i,k) && B(k,j))\nr(i,j) = all(k: a(i,k) && b(k,j))\n", "bool", 25},
};
enum {
    FORMATS = sizeof formats / sizeof *formats,
    TYPES = sizeof types / sizeof *types,
    STATEMENTS = sizeof statements / sizeof *statements
};

START_TEST(as_dense_operands)
{
    const int s = _i % STATEMENTS;
    for (int k = 0; k < FORMATS * TYPES; k++) {
        const char *const type = types[k / FORMATS], *const *f = formats[k % FORMATS];
        const char *const made = statements[s].type ? statements[s].type : type;
        char text[2000], want[40];
        const size_t used =
            (size_t)snprintf(text, sizeof text, operands, type, f[0], f[1], f[2], made);
        snprintf(text + used, sizeof text - used,
                 "%sprint sum(i,j: R(i,j) != r(i,j)), stored(R)\n", statements[s].text);
        snprintf(want, sizeof want, "0 %d\n",
                 strcmp(f[2], "dense") ? statements[s].stored : 36);
        expect_printed(false, text, STC_OK, want);
    }
}
END_TEST

/* What isn't a number is a term like others; equal coordinates are one; over nothing there
 * is no 0 either. */
START_TEST(special_terms)
{
    expect_printed(false,
                   "tensor C coo f64 [3,2] = { (0,0): nan, (0,1): -1, (1,0): 1, (1,0): -3, "
                   "(1,1): -3, (2,0): inf }\n"
                   "tensor D csr f64 [2,3] = { (0,0): 1, (1,0): 2, (0,1): -inf }\n"
                   "tensor R csr f64\nR(i,j) = max(k: C(i,k) * D(k,j))\nprint R\n"
                   "tensor E csr f64 [2,0]\ntensor F csr f64 [0,2]\n"
                   "R(i,j) = max(k: E(i,k) * F(k,j))\nprint R\n",
                   STC_OK,
                   "csr f64 [3,3], 6 stored\n(0,0) nan\n(0,1) nan\n(1,0) -2\n(1,1) inf\n"
                   "(2,0) inf\n(2,1) 0\ncsr f64 [2,2] fill -inf, 0 stored\n");
}
END_TEST

/* More places than 64 bits count: none of the sums of extents is all that is stored. */
START_TEST(places_beyond_64_bits)
{
    expect_printed(false,
                   "fn least(a, b) = select(a < b, a, b) with commutative, associative, "
                   "idempotent\n"
                   "tensor B dcsr f64 [8589934592,8589934592] = { (5,3): 1, (7,4): 1 }\n"
                   "tensor A csr f64 [2,8589934592] = { (0,5): 1, (1,7): 2 }\n"
                   "print min(k,l: B(k,l)), max(k,l: -B(k,l)), least(k,l: B(k,l))\n"
                   "print sum(i: min(k,l: A(i,k) * B(k,l)))\n"
                   "tensor R svec f64\nR(i) = min(k,l: A(i,k) * B(k,l))\nprint R\n"
                   "R(i) = least(k,l: A(i,k) * B(k,l))\nprint R\n",
                   STC_OK,
                   "0 -0.0 0\n0\nsvec f64 [2], 2 stored\n(0) 0\n(1) 0\n"
                   "svec f64 [2], 2 stored\n(0) 0\n(1) 0\n");
}
END_TEST

/* Twice as many rows and columns of as many entries each: twice the steps, not eight times.
 */
START_TEST(steps_are_of_entries)
{
    static const char *const text[] = {"R(i,j) = max(k: A(i,k) * B(k,j))",
                                       "R(i,j) min= A(i,k) * B(k,j)"};
    uint64_t steps[2];
    for (int k = 0; k < 2; k++) {
        stc_session *s;
        heap h;
        stc_machine *m = machine_open(&h, _i / 2);
        char of[300];
        snprintf(of, sizeof of,
                 "n = %d\ntensor A csr f64 [n,n]\nA(i,j) = i == j || j == i // 2\n"
                 "tensor B csr f64 [n,n]\nB(i,j) = -A(i,j)\ncompact A\ncompact B\n"
                 "tensor R csr f64 [n,n]\n",
                 200 << k);
        ck_ok(m, stc_session_open(m, &s));
        ck_ok(m, stc_session_exec(s, of, "operands"));
        ck_ok(m, stc_session_exec(s, text[_i % 2], "statement"));
        steps[k] = m->cx.steps;
        stc_session_close(s);
        machine_shut(m, &h);
    }
    ck_assert_uint_lt(steps[1], 3 * steps[0]);
}
END_TEST

/* Of what leaves nothing out there is nothing to count, and one operand is as well
 * converted.
 */
START_TEST(two_operands_leave_places_out)
{
    static const struct {
        const char *b, *text;
        bool counted;
    } plans[] = {
        {"csr", "R(i,j) = max(k: A(i,k) * B(k,j))", true},
        {"csr", "R(i,j) = sum(k: A(i,k) * B(k,j))", false},
        {"csr", "R(i,j) = max(k: A(i,k) + B(k,j))", false},
        {"dense", "R(i,j) = max(k: A(i,k) * B(k,j))", false},
        {"rle", "R(i,j) = max(k: A(i,k) * B(k,j))", false},
    };
    heap h;
    stc_machine *m = machine_open(&h, false);
    for (size_t k = 0; k < sizeof plans / sizeof *plans; k++) {
        const stc_decl d[] = {{0, "A", "csr", STC_F64, NULL, -1},
                              {0, "B", plans[k].b, STC_F64, NULL, -1},
                              {0, "R", "csr", STC_F64, NULL, -1}};
        stc_program *p;
        char *text;
        ck_ok(m, stc_compile(m, plans[k].text, d, 3, &p));
        ck_ok(m, stc_program_explain(p, "plan", &text));
        ck_assert_msg((strstr(text, "are counted beside it") != NULL) == plans[k].counted,
                      "%s, B %s\n%s", plans[k].text, plans[k].b, text);
        stc_text_free(m, text);
        stc_program_free(p);
    }
    machine_shut(m, &h);
}
END_TEST

Suite *suite_counted(void)
{
    Suite *s = suite_create("counted");
    TCase *c = tcase_create("counted");
    tcase_add_loop_test(c, as_dense_operands, 0, STATEMENTS);
    tcase_add_test(c, special_terms);
    tcase_add_test(c, places_beyond_64_bits);
    tcase_add_loop_test(c, steps_are_of_entries, 0, 4);
    tcase_add_test(c, two_operands_leave_places_out);
    suite_add_tcase(s, c);
    return s;
}
