/* check_ranges.c: comparisons of indices that drive loops: what is stored, what is visited,
 * and ranges of reductions that depend on other indices. */
#include "check.h"

#define PRINTS(script, want) expect_printed(false, script, STC_OK, want)
#define FAILS(script, want) expect_printed(false, script, STC_ERR_PROGRAM, want)
#define UNREAD(script, want) expect_printed(false, script, STC_ERR_SYNTAX, want)

#define N "n = 5\ntensor T csr f64 [n,n]\ntensor lab dense i64 = [0,1,1,2,4]\n"

START_TEST(stored)
{
    PRINTS(N "T(i,j) = i == j\nprint stored(T), sum(i,j: T(i,j))", "5 5\n");
    PRINTS(N "T(i,j) = i <= j\nprint stored(T), sum(i,j: T(i,j))", "15 15\n");
    PRINTS(N "T(i,j) = i > j + 1\nprint stored(T), sum(i,j: T(i,j))", "6 6\n");
    PRINTS(N "T(i,j) = 1 + j < i\nprint stored(T), sum(i,j: T(i,j))", "6 6\n");
    PRINTS(N "T(i,j) = 2.0 * (i - 1 <= j && j <= i + 1)\nprint stored(T), sum(i,j: T(i,j))",
           "13 26\n");
    PRINTS(N "T(i,j) = i - 1 == j || j == i + 1\nprint stored(T), sum(i,j: T(i,j))",
           "13 8\n");
    PRINTS(N "T(j,l) = lab(j) == l\nprint T",
           "csr f64 [5,5], 5 stored\n(0,0) 1\n(1,1) 1\n(2,1) 1\n(3,2) 1\n(4,4) 1\n");
    PRINTS(N "tensor S csc f64 [n,n]\nS(l,j) = lab(j) == l\nprint stored(S), S(1,2)",
           "5 1\n");
    PRINTS(N "T(i,j) = 3\nT(i,j) = 7 where i == j\nprint sum(i,j: T(i,j)), stored(T)",
           "95 5\n");
    /* at the ends of 64 bits nothing wraps */
    PRINTS("tensor p dense i64 = [9223372036854775807, -9223372036854775807, 1]\n"
           "c(i) = sum(k in 0:3: i64(k <= p(i)))\nd(i) = sum(k in 0:3: i64(k == p(i)))\n"
           "e(i) = sum(k in 0:3: i64(k > p(i)))\nprint c, d, e",
           "3  0  2\n0  0  1\n0  3  1\n");
}
END_TEST

#define S                                                                                  \
    "tensor x svec f64 [3000] = random(density=0.5, seed=3)\ntensor lab dense i64 "        \
    "[3000]\nlab(i) = i % 7\n"

/* What isn't in the range isn't visited: the steps of a machine tell. */
START_TEST(visited)
{
    static const char *const few[] = {
        "tensor T csr f64 [3000,3000]\nT(i,j) = i == j",
        "tensor lab dense i64 [3000]\nlab(i) = i % 7\ncount(l in 0:3000) = sum(j: lab(j) "
        "== l)",
        "x(i in 0:3000) = i\nc(i) = sum(k in 0:i+1: x(k))",
        "x(i in 0:3000) = i\nc(i) = max(k in 0:i: x(k))",
        "fn f(a,b) = a + b with associative, identity(0)\nx(i in 0:3000) = i\n"
        "c(i in 0:3000) = f(k in 0:i+1: x(k))\nassert c(2999) == 4498500",
        "x(i in 0:3000) = i\nc(i in 0:3000) = sum(k: x(k) * (k >= i - 1) * (k <= i + 1))",
        "x(i in 0:3000) = i\nc(i in 0:3000) = sum(k: x(k) * (k in i-1:i+2))",
        /* what is read at an index that an equality settles is found there */
        S "c(l in 0:3000) = sum(j: (lab(j) == l) * x(l))\nassert c(2) == 858 || c(0) > 0",
        S "c(j) = sum(l: (lab(j) == l) * x(l)) + 1",
        S "c(j in 0:3000) = sum(l: (j == l) * x(l) * lab(l))",
        S "s = sum(j, l: (lab(j) == l) * x(l) * l)",
        S "tensor V svec f64 [3000]\nV(j) = sum(l: (lab(j) == l) * x(l))",
        S
        "tensor A csr f64 [3000,3000]\nA(j,l) = (lab(j) == l) * x(l)\nd(i) = sum(j: (i == "
        "j) * A(i,j)) + sum(j: (lab(i) == j) * A(i,j) * x(j))",
        "tensor x dense f64 [15000] = 1\nassert sum(i,j: (i in 7:19) * (j in 5:15) * x(i) "
        "* x(j)) == 120"};
    for (size_t k = 0; k < sizeof few / sizeof *few; k++) {
        const stc_config config = {.max_steps = 40000};
        stc_machine *m;
        stc_session *s;
        ck_assert_int_eq(stc_open(&config, &m), STC_OK);
        ck_ok(m, stc_session_open(m, &s));
        ck_ok(m, stc_session_exec(s, few[k], "t"));
        stc_session_close(s);
        stc_close(m);
    }
}
END_TEST

#define X "tensor x dense f64 = [10,20,30,40]\n"

/* e in lo:hi is a comparison with both bounds, as strong as any. */
START_TEST(membership)
{
    PRINTS(X "y(i) = (i in 1:3) * x(i)\nprint y", "0  20  30  0\n");
    PRINTS(X "y(i) = i + 1 in 1:3 && x(i) > 10\nprint y", "0  1  0  0\n");
    PRINTS(X "y(i) = x(i) where x(i) in 15:35\nprint y", "0  20  30  0\n");
    PRINTS(X "y(i) = !(x(i) in 15:35) || i in 2:4\nprint y", "1  0  1  1\n");
    PRINTS(X "print select((2 in 0:3), 7, 8), sum(i in 1:3: x(i) * (i in 2:9))", "7 30\n");
    PRINTS("k = 3\nif (k in 0:4) { print k + 1 }\nprint k in k:k, 1.5 in 1:2", "4\n0 1\n");
    PRINTS("fn f(a) = a in 0:3\nprint f(2), f(3)", "1 0\n");
    UNREAD(
        X "y(i) = x(i in 1:3)",
        "2: a range `in lo:hi` belongs to a reduction, f(i in lo:hi: e), and a condition "
        "between parentheses, (i in lo:hi)");
    UNREAD("print 1 < 2 in 0:3", "1: comparisons don't chain: join them with `&&`");
    UNREAD("print 1 in 0:3 == 1", "1: comparisons don't chain: join them with `&&`");
    UNREAD("print 1 in 2", "1: expected `:` between the bounds, but the text ends");
}
END_TEST

START_TEST(depending)
{
    PRINTS(X "c(i) = sum(k in 0:i+1: x(k))\nprint c", "10  30  60  100\n");
    PRINTS(X "c(i) = sum(k in 0:i: x(k))\nprint c", "0  10  30  60  100\n");
    PRINTS(X "c(i) = prod(k in 1:i+1: x(k))\nprint c", "1  20  600  24000\n");
    PRINTS(X "c(i in 0:4) = max(k in 0:i+1: -x(k))\nprint c", "-10  -10  -10  -10\n");
    PRINTS(X "c(i in 0:4) = sum(k in i:4: x(k))\nprint c", "100  90  70  40\n");
    PRINTS(X "c(i) = sum(k in 0:2*i+1: x(k))\nprint c", "10  60\n");
    PRINTS(X "c(i) = sum(k in i-1:i+2: x(k))\nprint c", "30  60  90\n");
    PRINTS("c(i in 0:5) = sum(k in 0:i+1: k*k)\nprint c", "0  1  5  14  30\n");
    PRINTS(X "print sum(i in 0:3, k in 0:i+1: x(k))", "100\n");
    PRINTS(X "tensor A csr f64 [2,4] = { (0,1): 3, (0,3): 4, (1,0): 5 }\n"
             "C(i,j) = sum(k in 0:j+1: A(i,k)) + prod(k in 0:j: x(k))\nprint C",
           "1  13  203  6007\n6  15  205  6005\n");
    PRINTS(X "y(j) = x(j) + sum(k in 0:j+1: x(k) where x(k) > 10)\nprint y",
           "10  40  80  130\n");
    PRINTS("fn f(a,b) = a + b with associative, identity(0)\n" X
           "c(i in 0:4) = f(k in 0:i+1: x(k))\nprint c",
           "10  30  60  100\n");
    PRINTS(X "tensor p dense i64 = [3,1,2]\nc(i) = sum(k in p(i):4: x(k))\nprint c",
           "40  90  70\n");
    FAILS(X "c(i in 0:4) = sum(k in 0:x(i): k)",
          "2: a bound is an integer, and this is of type f64");
    FAILS(X "c(i in 0:4) = mean(k in 0:i+1: x(k))",
          "2: the range of an index of `mean` can't depend on another");
}
END_TEST

#define LABELS                                                                             \
    "tensor lab dense i64 = [2, -1, 0, 9, 2, 4, 0]\ntensor x dense f64 = "                 \
    "[1,2,4,8,16,32,64]\n"                                                                 \
    "tensor A csr f64 [3,7] = { (0,0): 1, (0,4): 2, (1,2): 3, (1,3): 5, (2,6): 7 }\n"

/* What an equality says of an index is that index: no loop of one round. Labels outside of
 * the range count for nothing, in whatever order they come. */
START_TEST(labels)
{
    PRINTS(LABELS "c(l in 0:5) = sum(j: lab(j) == l)\nprint c", "2  0  2  0  1\n");
    /* an index that is settled by one that is settled: what is outside is nothing */
    PRINTS("tensor e dense i64 [2] = { (0): 2 }\ntensor G dense i64 [4,3] = 1\n"
           "tensor y svec i64 [2] fill 0\n"
           "y(j) = 1 + sum(k,i: ((k == e(j)) * 1) * ((i == k + 1) * G(k,i)))\nprint y",
           "svec i64 [2], 2 stored\n(0) 1\n(1) 2\n");
    PRINTS(LABELS "s(l in 0:5) = sum(j: (lab(j) == l) * x(j))\nprint s",
           "68  0  17  0  32\n");
    PRINTS(LABELS "s(l in 0:5) = max(j: select(lab(j) == l, x(j), 0))\nprint s",
           "64  0  16  0  32\n");
    PRINTS(LABELS "s(l in 0:5) = sum(j: (lab(j) == l + 1) * x(j))\nprint s",
           "0  17  0  32  0\n");
    PRINTS(LABELS "s(l in 0:5) = sum(j: (lab(j) == l) * (l <= 3) * x(j))\nprint s",
           "68  0  17  0  0\n");
    PRINTS(LABELS
           "tensor V csr f64 [3,5]\nV(i,l) = sum(j: A(i,j) * (lab(j) == l))\nprint V",
           "csr f64 [3,5], 3 stored\n(0,2) 3\n(1,0) 3\n(2,0) 7\n");
    PRINTS(LABELS
           "tensor V dense f64 [5,3]\nV(l,i) = sum(j: A(i,j) * (lab(j) == l))\nprint V",
           "0  3  7\n0  0  0\n3  0  0\n0  0  0\n0  0  0\n");
    PRINTS(LABELS "tensor T csr f64 [7,5]\nT(j,l) = x(j) * (lab(j) == l)\nprint T",
           "csr f64 [7,5], 5 stored\n(0,2) 1\n(2,0) 4\n(4,2) 16\n(5,4) 32\n(6,0) 64\n");
    PRINTS(LABELS "s(l in 0:5) = sum(j: (lab(j) == l) * (lab(j) == l) * x(j))\nprint s",
           "68  0  17  0  32\n");
    PRINTS(LABELS "print sum(j, l in 0:5: (lab(j) == l) * x(j) * l)", "162\n");
}
END_TEST

#define AT                                                                                 \
    LABELS                                                                                 \
    "tensor v svec f64 [5] = { (0): 3, (2): 5, (3): 7 }\n"                                 \
    "tensor B csc f64 [5,7] = { (0,1): 3, (2,5): 5, (2,0): 1, (3,0): 7, (0,6): 2 }\n"      \
    "tensor q dense i64 = [9223372036854775807, -9223372036854775807, 1]\n"                \
    "tensor F svec f64 [5] fill 2 = { (1): 3 }\n"

/* The same where operands are read at that index: found in order or not, nowhere, outside,
 * at the ends of 64 bits, inside of loops of their own; fills that aren't 0. */
START_TEST(labels_read)
{
    PRINTS(AT "s(l) = sum(j: (lab(j) == l) * v(l))\nprint s",
           "svec f64 [5], 2 stored\n(0) 6\n(2) 10\n");
    PRINTS(AT "g(j) = 10 + sum(l: (lab(j) == l) * v(l))\nprint g",
           "15  10  13  10  15  10  13\n");
    PRINTS(AT "g(j) = 10 + sum(l in 1:4: (lab(j) == l) * (l + 1) * v(l))\nprint g",
           "25  10  10  10  25  10  10\n");
    PRINTS(AT "g(j) = max(l in 1:4: select(lab(j) == l, v(l), 0)) + min(l: select(v(l) == "
              "l, lab(j), 9))\nprint g",
           "14  9  9  9  14  9  9\n");
    PRINTS(AT "g(j) = x(j) * sum(l, k: (lab(j) == l) * B(l,k) * x(k))\nprint g",
           "161  0  536  0  2576  0  8576\n");
    PRINTS(AT "tensor m dense i64 = [3, 7, 0]\nD(l, n in 0:5) = sum(i, j: A(i,j) * (lab(j) "
              "== l) * (m(i) == n) * v(l) * v(n))\nprint D",
           "csr f64 [5,5], 2 stored\n(0,0) 63\n(2,3) 105\n");
    PRINTS(AT "fn f(a,b) = a * b with associative, commutative, identity(1), "
              "annihilator(0)\ng(j) = f(l: select(lab(j) == l, v(l), 1))\nprint g, f(j, l: "
              "select(lab(j) == l, v(l), 1))",
           "5  1  3  1  5  0  3\n0\n");
    PRINTS(AT "g(j) = 1 + sum(l: (q(j) == l) * v(l+1))\nprint g", "1  1  6\n");
    PRINTS(AT "g(j) = 1 + sum(l: (lab(j) == l) * F(l))\nprint g", "3  1  3  1  3  3  3\n");
    PRINTS(AT "tensor G svec f64 [7]\nG(j) = sum(l: (lab(j) == l) * F(l))\nprint G",
           "svec f64 [7], 5 stored\n(0) 2\n(2) 2\n(4) 2\n(5) 2\n(6) 2\n");
}
END_TEST

/* Sums by label cost by the entry what any scatter does: one nest, no ranges set in it. */
START_TEST(labels_by_the_entry)
{
    static const char script[] =
        "n = 20000\nlab(i in 0:n) = (i * 7919) % 100\ntensor c dense i64 [100]\n"
        "c(l) = sum(j: lab(j) == l)\nassert all(l: c(l) == 200)\n";
    const stc_config config = {.profile = true};
    stc_machine *m;
    stc_session *s;
    char *text;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, script, "t"));
    ck_ok(m, stc_session_profile(s, &text));
    const char *at = strstr(text, "# c(l) = ");
    ck_assert(at && strstr(at, " 20000 rounds, tier 4: strip 0 walked"));
    stc_text_free(m, text);
    stc_session_close(s);
    stc_close(m);
}
END_TEST

/* Diagonals added to what is stored: each of the terms has its own loops. */
START_TEST(diagonals_added)
{
    static const char *const sums[] = {"A(i,j) + 2 * (i == j)",
                                       "(j == i + 1) * x(i) - A(i,j)",
                                       "A(i,j) - (i == j) * x(j) + 3 * (j + 1 == i)",
                                       "A(i,j) + 2 * (i == j) + B(i,j)",
                                       "(i == j) * sum(k: A(i,k)) - A(i,j)",
                                       "A(i,j) + (i == j) * s(i)"};
    static const char *const formats[] = {"csr", "csc", "dcsr", "coo"};
    for (size_t k = 0; k < 4 * (sizeof sums / sizeof *sums); k++) {
        const char *const sum = sums[k / 4];
        char script[1000];
        snprintf(
            script, sizeof script,
            "n = 5\ntensor A %s i64 [n,n] = { (0,0): 1, (0,3): 2, (3,4): 7, (4,2): 5 }\n"
            "tensor B csr i64 [n,n] = { (0,0): -3, (2,2): 2 }\nx(i in 0:n) = i + 1\n"
            "tensor s svec i64 [n] = { (1): 4, (3): 2 }\ntensor C %s i64 [n,n]\nC(i,j) = "
            "%s\ntensor D dense i64 [n,n]\n"
            "D(i,j) = %s\nd = sum(i,j: C(i,j) != D(i,j)) + 100 * (stored(C) > 12)",
            formats[k % 4], formats[k % 4], sum, sum);
        EXPECT(script, "d", 0);
    }
}
END_TEST

/* Of a result that isn't declared, too: its format has no place for what isn't there.
 * Beside what is stored everywhere there is one for all. */
START_TEST(diagonals_undeclared)
{
    static const char *const sparse[] = {"A(i,j) + 2 * (i == j)", "(i == j) * x(i)",
                                         "(j == i + 1) * x(j) - A(i,j) * x(i)",
                                         "x(i) * (lab(i) == j)", "i == j"};
    char script[600];
    for (size_t k = 0; k < sizeof sparse / sizeof *sparse; k++) {
        snprintf(script, sizeof script,
                 "n = 20000\nx(i in 0:n) = i + 1\nlab(i in 0:n) = i // 2\n"
                 "tensor A csr f64 [n,n] = random(density=0.0001, seed=1)\n"
                 "D(i in 0:n,j in 0:n) = %s\nassert stored(D) <= 3 * n\n",
                 sparse[k]);
        expect_within(script, 1500000);
    }
    EXPECT("n = 3\nx(i in 0:n) = i\nX(i in 0:n,j in 0:n) = 1\n"
           "D(i,j) = X(i,j) + x(i) * (i == j)\ns = stored(D)\n",
           "s", 9);
    EXPECT("n = 3\nD(i in 0:n,j in 0:n) = 1 - (i == j)\ns = stored(D)\n", "s", 9);
}
END_TEST

Suite *suite_ranges(void)
{
    Suite *s = suite_create("ranges");
    TCase *c = tcase_create("ranges");
    tcase_add_test(c, stored);
    tcase_add_test(c, visited);
    tcase_add_test(c, membership);
    tcase_add_test(c, labels);
    tcase_add_test(c, labels_read);
    tcase_add_test(c, labels_by_the_entry);
    tcase_add_test(c, depending);
    tcase_add_test(c, diagonals_added);
    tcase_add_test(c, diagonals_undeclared);
    suite_add_tcase(s, c);
    return s;
}
