/* check_visits.c: what a profile says was visited, against what can be counted by hand.
 *
 * Takes statements over operands of a few entries. Runs each on all tiers, by base
 * operations alone, and with two threads sharing its loops, and adds up what each line of
 * the profile tells: fibers, runs, blocks and subsections, once per machine. A fiber counts
 * where it is opened, empty or not: one of a tensor's first compressed level, one below
 * each row of csr. What tiers needn't visit isn't told of.
 */
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { FIBERS, RUNS, BLOCKS, SUBSECTIONS, KINDS };
static const char *const names[KINDS] = {" fibers visited", " runs visited",
                                         " blocks visited", " subsections visited"};

/* A, B: rows 0 and 3; 0, 2, 3 and 5. R, Q: the same, without the others. O, P: the same as
 * coordinates. S, T: 6 and 4 runs in each of 6 rows, which begin at the same place twice. K
 * and L: 3 blocks. X: diagonals 0 and 1. C: 1 fiber, then 2, then 3. */
static const char operands[] =
    "n = 5000\n"
    "tensor A csr f64 [6,n] = { (0,0): 1, (3,3): 1, (3,900): 4 }\n"
    "tensor B csr f64 [6,n] = { (0,0): 1, (2,3): 1, (3,900): 4, (5,7): 2 }\n"
    "tensor R dcsr f64 [6,n]\nR(i,j) = A(i,j)\n"
    "tensor Q dcsr f64 [6,n]\nQ(i,j) = B(i,j)\n"
    "tensor O coo f64 [6,n]\nO(i,j) = A(i,j)\n"
    "tensor P coo f64 [6,n]\nP(i,j) = B(i,j)\n"
    "format hrows = (i,j) -> (i : dense, j : hashed)\n"
    "tensor H hrows f64 [6,n]\nH(i,j) = A(i,j)\n"
    "tensor M csr f64 [6,n] = { (0,0): 1, (3,3): 1, (5,900): 1 }\n"
    "tensor D csr f64 [n,9] = { (0,4): 1, (3,8): 1, (900,2): 4 }\n"
    "tensor N csr f64 [6,9] = { (0,4): 1, (1,1): 1 }\n"
    "tensor S rle f64 [6,n]\nS(i,j) = i + j * 6 // n\n"
    "tensor T rle f64 [6,n]\nT(i,j) = i + j * 4 // n\n"
    "tensor K bcsr(2,2) f64 [n,n] = { (0,0): 1, (1,1): 1, (7,900): 2, (400,3): 2 }\n"
    "format blocks = (i,j) -> (i/2 : compressed(nonunique), j/2 : singleton, i%2 : dense, "
    "j%2 : dense)\n"
    "tensor L blocks f64 [n,n]\nL(i,j) = K(i,j)\n"
    "tensor X dia f64 [6,6] = { (0,0): 1, (2,3): 1, (3,3): 4 }\n"
    "tensor C csf f64 [4,5,n] = { (0,0,0): 1, (0,2,3): 1, (3,3,900): 4 }\n"
    "tensor v svec f64 [n] = { (0): 1, (3): 2, (8): 3 }\n"
    "tensor w svec f64 [n] = { (1): 1, (3): 2 }\n"
    "tensor x dense f64 [n] = 1\n"
    "tensor f dense f64 [6] = 1\n"
    "tensor g dense f64 [6]\ng(i) = i\n"
    "tensor F dense f64 [2] = 1\n"
    "tensor G dense f64 [2,2] = 1\n"
    "tensor c csr f64 [6,n]\n"
    "tensor d dcsr f64 [6,n]\n"
    "tensor e csr f64 [6,9]\n"
    "tensor r rle f64 [6,n]\n"
    "tensor s svec f64\n"
    "tensor y dense f64 [6]\n"
    "tensor z dense f64 [n]\n"
    "tensor u dense f64 [4]\n"
    "tensor o dense f64 [5001] = 0\n"
    "tensor W dense f64\n";

/* by: of tiers; base: of base operations, which know neither runs nor blocks and read
 * workspaces as tensors. `shared`: threads can share its outermost loop. */
static const struct {
    const char *statement;
    long by[KINDS], base[KINDS];
    bool shared;
} work[] = {
    /* a fiber below each row, as long as all rows are there */
    {"y(i) = A(i,j) * x(j)", {6}, {6}, true},
    {"y(i) = H(i,j) * x(j)", {6}, {6}, true},
    {"y(i) = max(j: A(i,j))", {6}, {6}, true},
    {"c(i,j) = 2 * A(i,j)", {6}, {6}, true},
    {"c(i,j) = A(i,j) + B(i,j)", {12}, {12}, true},
    {"c(i,j) = A(i,j) * B(i,j)", {12}, {12}, true},
    {"c(i,j) = A(i,j) * B(i,j) * M(i,j)", {18}, {18}, true},
    {"c(i,j) = A(i,j) * !M(i,j)", {12}, {12}, true},
    {"c(i,j) = A(i,j) + A(5-i,j)", {12}, {12}, true},
    {"y(i) = abs(A(i,j)) + 1", {6}, {6}, true},
    {"y(i) = A(i,j) * v(j)", {6 + 6}, {6 + 6}, true},
    /* none where a condition on the rows doesn't hold */
    {"y(i) = A(i,j) * x(j) where g(i) < 2", {2}, {2}, true},
    {"y(i) += A(i,j) * x(j) where g(i) < 2", {2}, {2}, true},
    {"Y(i) = A(i,j) * x(j) where g(i) < 2", {2}, {2}, true},
    {"y(i) = select(g(i) < 2 && f(i) > 0, sum(j: A(i,j) * x(j)), 0)", {2}, {2}, true},
    {"y(i) = g(i) < 2 && any(j: A(i,j) > 0)", {2}, {2}, true},
    {"W = sum(i: select(g(i) < 2, max(j: A(i,j) * x(j)), 0.0))", {2}, {2}, true},
    /* that of the rows, then below those that are there */
    {"y(i) = R(i,j) * x(j)", {1 + 2}, {1 + 2}, true},
    {"y(i) = O(i,j) * x(j)", {1 + 2}, {1 + 2}, true},
    {"d(i,j) = R(i,j) + Q(i,j)", {2 + 2 + 4}, {2 + 2 + 4}, true},
    {"d(i,j) = R(i,j) * Q(i,j)", {2 + 2 * 2}, {2 + 2 * 2}, true},
    {"c(i,j) = O(i,j) + P(i,j)", {2 + 2 + 4}, {2 + 2 + 4}, true},
    {"u(i) = C(i,j,k) * x(k)", {1 + 2 + 3}, {1 + 2 + 3}, true},
    /* vectors */
    {"z(i) = v(i) * x(i)", {1}, {1}, true},
    {"s(i) = v(i) + w(i)", {2}, {2}, true},
    {"a = v(i) * w(i)", {2}, {2}, true},
    /* rows of products: A's, D's at their 3 coordinates; the row that is put together,
     * too, by base operations; what else is in a row only where A has something */
    {"e(i,k) = A(i,j) * D(j,k)", {6 + 3}, {6 + 3 + 6}, true},
    {"e(i,k) = A(i,j) * M(i,j) * D(j,k)", {6 + 2 + 2}, {12 + 2 + 6}, true},
    {"e(i,k) = N(i,k) * A(i,j) * D(j,k)", {6 + 2 + 1}, {6 + 2 * 3 + 6}, true},
    /* runs: 8 where both are the same; 6 of one; entries by theirs */
    {"r(i,j) = S(i,j) * T(i,j)", {0, 6 * 8}, {0}, true},
    {"y(i) = sum(j: S(i,j) + T(i,j))", {0, 6 * 8}, {0}, true},
    {"y(i) = S(i,j) + T(i,j)", {0, 36 + 24}, {0}, true},
    {"y(i) = S(i,j) + A(i,j)", {6, 36}, {6}, true},
    {"r(i,j) = S(i,j) + 1", {0, 36}, {0}, true},
    {"c(i,j) = A(i,j) * S(i,j)", {6, 3}, {6}, true},
    {"a = S(i,j) * S(i,j)", {0, 36}, {0}, true},
    /* blocks: below each pair of rows; or where there are some, in a list */
    {"z(i) = K(i,j) * x(j)", {2500, 0, 3}, {2500}, false},
    {"z(i) = L(i,j) * x(j)", {1 + 3, 0, 3}, {1 + 3}, false},
    {"y(i) = X(i,j) * f(j)", {1, 0, 2}, {1}, false},
    /* subsections: fig. 3 of the convolutions paper, offsets 0, 2, 3, 7 and 8; and what
     * goes through the entries instead */
    {"s(i) = v(i+j) * F(j) with reorder(i,j)", {1}, {5, 0, 0, 5}, false},
    {"W(i,j) = R(i+p,j+q) * G(p,q)", {1 + 2}, {4 * 1 + 2 * 3}, false},
    {"o(i+p) += v(i) * F(p)", {1}, {1}, false},
};

typedef struct visits {
    long of[KINDS];
    bool shared;
} visits;

/* The sums of the lines of the last statement. */
static visits count(const char *statement, const stc_config *config)
{
    stc_machine *m;
    stc_session *s;
    char script[4096], *text;
    visits sum = {0};
    snprintf(script, sizeof script, "%s%s\n", operands, statement);
    ck_assert_int_eq(stc_open(config, &m), STC_OK);
    ck_ok(m, stc_session_open(m, &s));
    const stc_status st = stc_session_exec(s, script, "test");
    ck_assert_msg(st == STC_OK, "%s\n%s", statement, stc_error(m)->message);
    ck_ok(m, stc_session_profile(s, &text));
    const char *last = strrchr(text, '#');
    ck_assert(last != NULL);
    sum.shared = strstr(last, "; shared by threads") != NULL;
    for (int k = 0; k < KINDS; k++)
        for (const char *p = last; (p = strstr(p, names[k])) != NULL; p++) {
            const char *digits = p;
            while (digits[-1] >= '0' && digits[-1] <= '9')
                digits--;
            sum.of[k] += strtol(digits, NULL, 10);
        }
    stc_text_free(m, text);
    stc_session_close(s);
    stc_close(m);
    return sum;
}

static void expect(const char *statement, const stc_config *config, const long *want)
{
    const visits is = count(statement, config);
    for (int k = 0; k < KINDS; k++)
        ck_assert_msg(is.of[k] == want[k], "%s: %ld%s, not %ld", statement, is.of[k],
                      names[k], want[k]);
}

START_TEST(as_counted_by_hand)
{
    expect(work[_i].statement, &(stc_config){.profile = true}, work[_i].by);
}
END_TEST

START_TEST(by_base_operations)
{
    const stc_config config = {.profile = true, .no_super = true};
    expect(work[_i].statement, &config, work[_i].base);
}
END_TEST

/* However little there is to do: the loop is marked. */
START_TEST(on_two_threads)
{
    char marked[400];
    snprintf(marked, sizeof marked, "%s with parallelize(i)", work[_i].statement);
    const stc_config tiers = {.profile = true, .threads = 2},
                     base = {.profile = true, .no_super = true, .threads = 2};
    if (!work[_i].shared) return;
    ck_assert_msg(count(marked, &tiers).shared, "%s isn't shared", marked);
    expect(marked, &tiers, work[_i].by);
    expect(marked, &base, work[_i].base);
}
END_TEST

Suite *suite_visits(void)
{
    Suite *s = suite_create("visits");
    TCase *t = tcase_create("visits");
    const int n = sizeof work / sizeof *work;
    tcase_add_loop_test(t, as_counted_by_hand, 0, n);
    tcase_add_loop_test(t, by_base_operations, 0, n);
    tcase_add_loop_test(t, on_two_threads, 0, n);
    suite_add_tcase(s, t);
    return s;
}
