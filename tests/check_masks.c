/* check_masks.c: `e where m`: on statements, which name what the mask has and keep the
 * rest, in expressions and reductions; and `//=`, `%=`. */
#include "check.h"
#include "../src/api/api.h"

#define PRINTS(script, want) expect_printed(false, script, STC_OK, want)
#define FAILS(script, want) expect_printed(false, script, STC_ERR_PROGRAM, want)

/* Several kinds of places: found, inserted, appended. */
#define DATA                                                                               \
    "tensor p dense i64 = [2,0,1]\ntensor x dense f64 = [10,20,30,40]\n"                   \
    "tensor A csr f64 [3,3] = { (0,1): 3, (2,0): 5 }\n"

START_TEST(statements)
{
    PRINTS("level(j in 0:4) = 0\ntensor next svec bool [4] = { (2): 1, (3): 0 }\n"
           "level(j) = 3 where next(j)\nprint level",
           "0  0  3  0\n");
    PRINTS(DATA "x(j) = 3 where x(j) > 15\nprint x", "10  3  3  3\n");
    PRINTS(DATA "x(j) = 3 where !(x(j) > 15)\nprint x", "3  20  30  40\n");
    PRINTS(DATA "x(j) += 3 where x(j) > 15\nprint x", "10  23  33  43\n");
    PRINTS(DATA "x(i(0:3)) = 5 where A(i,0)\nprint x", "10  20  5  40\n");
    PRINTS(DATA "x(p(i)) = 100*i where p(i) > 0\nprint x", "10  200  0  40\n");
    PRINTS(DATA "x(p(i)) += 100 where p(i) > 0\nprint x", "10  120  130  40\n");
    PRINTS(DATA "A(i,j) = 7 where i == j\nprint A",
           "csr f64 [3,3], 5 stored\n(0,0) 7\n(0,1) 3\n(1,1) 7\n(2,0) 5\n(2,2) 7\n");
    PRINTS(DATA "A(i,j) *= 7 where A(i,j) > 3\nprint A",
           "csr f64 [3,3], 2 stored\n(0,1) 3\n(2,0) 35\n");
    PRINTS(DATA "tensor B (i,j) -> (i : dense, j : bytemap) f64 [3,3]\nB(i,j) = A(i,j)\n"
                "B(i,j) = -1 where A(j,i)\nprint B(0,2), B(1,0), B(0,1)",
           "-1 -1 3\n");
    PRINTS(DATA "z(i) = 1.0 * p(i)\nz(i) = sum(j: A(i,j)) where p(i) < 2\nprint z",
           "2  0  5\n");
    PRINTS(DATA "z(i) = 1.0 * p(i)\nz(i) = A(i,j) * x(j(0:3)) where !A(i,1)\nprint z",
           "2  0  50\n");
    PRINTS(DATA
           "tensor B dense f64 [4,3] = 2\nA(2,j) = sum(i: B(i,j)) where x(j(0:3)) > 15\n"
           "print A",
           "csr f64 [3,3], 4 stored\n(0,1) 3\n(2,0) 5\n(2,1) 8\n(2,2) 8\n");
    /* what isn't named isn't computed */
    PRINTS(DATA "z(i) = p(i)\nz(i) = 10 // p(i) where p(i) > 0\nprint z", "5  0  10\n");
    PRINTS(DATA "z(i) = p(i)\nz(i) = p(p(i)+1) where p(i) < 2\nprint z", "2  0  1\n");
}
END_TEST

START_TEST(new_tensors)
{
    PRINTS(DATA "E(i,j) = exp(A(i,j)) - 1 where A(i,j)\nprint stored(E)", "2\n");
    PRINTS(DATA "y(j) = x(j) where x(j) > 15\nprint y", "0  20  30  40\n");
    PRINTS(DATA "y(j) min= x(j) where x(j) > 15\nprint y", "inf  20  30  40\n");
    PRINTS(DATA
           "tensor E csr f64 [3,3] fill inf\nE(i,j) = A(i,j) where A(i,j) > 3\nprint E",
           "csr f64 [3,3] fill inf, 1 stored\n(2,0) 5\n");
    /* rows that are appended are kept, whatever is left out of them */
    PRINTS(DATA "tensor y rle f64 [4,3]\ny(j,i) = sum(k: A(k,i)) where x(j) > 15\nprint y",
           "0  0  0\n5  3  0\n5  3  0\n5  3  0\n");
    PRINTS(DATA "tensor y lz77 f64 [2,2]\ny(i,j) = sum(k: x(k)) where 2\nprint y",
           "100  100\n100  100\n");
}
END_TEST

START_TEST(expressions)
{
    PRINTS(DATA "print sum(i,j: exp(A(i,j)) where A(i,j)) - exp(3.0) - exp(5.0)", "0\n");
    PRINTS(DATA "print max(i,j: -A(i,j) where A(i,j))", "-3\n");
    PRINTS(DATA "q(i) = (A(i,j) where A(i,j) > 3) + 1\nprint q", "1  1  6\n");
    PRINTS(DATA "print all(i,j: A(i,j) > 2 where A(i,j)), prod(i: x(i) where x(i) < 25)",
           "1 200\n");
    /* the entries of a row alone */
    PRINTS(DATA "S(i,j) = exp(A(i,j)) / sum(k: exp(A(i,k)) where A(i,k)) where A(i,j)\n"
                "print S",
           "csr f64 [3,3], 2 stored\n(0,1) 1\n(2,0) 1\n");
}
END_TEST

START_TEST(refused)
{
    FAILS(DATA "x(i) = A(i,j) where A(i,j)",
          "4: the mask has an index that isn't on the left, j; what is reduced over it is "
          "masked as in sum(j: … where …)");
    FAILS(DATA "x(i(0:3)) = 5 where max(j: A(i,j)) > 3",
          "4: a mask can't reduce; assign the reduction to a tensor first");
    FAILS("fn f(a, b) = a - b\ntensor x dense f64 = [1,2]\ny = f(i: x(i) where x(i) > 1)",
          "3: what is reduced has a mask, and the function has no identity to stand for "
          "what it leaves out");
    /* a statement that fails half-way has changed nothing */
    PRINTS("tensor x dense i64 = [4,2,0,5]\ntensor m svec bool [4] = { (1): 1, (2): 1 }\n"
           "x(i) = 8 // x(i) where m(i) && x(i) != 0\nprint x",
           "4  4  0  5\n");
}
END_TEST

START_TEST(undone)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    ck_assert_int_eq(stc_session_open(m, &s), STC_OK);
    ck_assert_int_eq(stc_session_exec(s,
                                      "tensor x dense i64 = [4,2,0,5]\n"
                                      "tensor m svec bool [4] = { (1): 1, (2): 1 }",
                                      "t"),
                     STC_OK);
    ck_assert_int_ne(stc_session_exec(s, "x(i) = 8 // x(i) where m(i)", "t"), STC_OK);
    ck_ok(m,
          stc_session_exec(s, "assert x(0) == 4 && x(1) == 2 && x(2) == 0, \"kept\"", "t"));
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

START_TEST(floored)
{
    PRINTS(DATA "x(j) //= 7\nprint x\nx(j) %= 2 where j < 2\nprint x",
           "1  2  4  5\n1  0  4  5\n");
    PRINTS("k = 7\nk //= 2\nprint k\nk %= 2\nprint k", "3\n1\n");
    PRINTS("tensor k dense i64 = [-7, 7]\nk(i) //= 2\nprint k\nk(i) %= 3\nprint k",
           "-4  3\n2  0\n");
    FAILS(DATA "y(j) //= x(j)", "4: `//=` needs a tensor that is there");
    FAILS(DATA "x(p(i)) %= 2", "4: `%=` takes one value for an element, and a computed "
                               "subscript may name it several times");
    FAILS(DATA "x(i) //= A(i,j)",
          "4: `//=` takes one value for an element, and j isn't on the left");
}
END_TEST

/* Under a mask on what leaves coordinates out: as on dense tensors, and stored is what is
 * new where the mask is true, and was stored where it isn't. Each statement: the mask, what
 * is assigned, where that has something. */
static const char *const masks[] = {
    "j > i",         "j <= i + 1",       "i < 2",
    "A(i,j) > 4",    "A(i,j) != B(i,j)", "(i + j) % 3 == 0",
    "!(j > i)",      "i == j",           "j > i && A(i,j) > 2",
    "A(i,j)",        "!A(i,j)",          "v(i) > 1",
    "j + 2 >= 2 * i"};
static const struct {
    const char *value, *stored;
} values[] = {
    {"= A(i,j)", "A(i,j) != 0"},
    {"= A(i,j) + 2 * B(i,j)", "A(i,j) != 0 || B(i,j) != 0"},
    {"+= B(i,j)", "C(i,j) != 0 || B(i,j) != 0"},
    {"= 0", "false"},
    {"= A(i,j) * B(i,j)", "A(i,j) != 0 && B(i,j) != 0"},
    {"= (j == 2) * A(i,j)", "j == 2 && A(i,j) != 0"},
    {"= sum(k: A(i,k) * B(k,j))", "any(k: A(i,k) != 0 && B(k,j) != 0)"},
};
static const char *const sparse[] = {"csr", "csc", "dcsr", "coo"};
enum {
    MASKS = sizeof masks / sizeof *masks,
    VALUES = sizeof values / sizeof *values,
    SPARSE = sizeof sparse / sizeof *sparse
};

START_TEST(sparse_targets)
{
    const char *const mask = masks[_i % MASKS], *const to = sparse[_i / MASKS];
    for (int k = 0; k < VALUES; k++) {
        char script[2000];
        snprintf(
            script, sizeof script,
            "n = 6\ntensor A %s f64 [n,n]\nA(i,j) = (i * 5 + j * 7) %% 11 - 5\n"
            "A(i,j) = A(i,j) * (A(i,j) > 0)\ncompact A\ntensor B csr f64 [n,n]\n"
            "B(i,j) = (i * 3 + j * 4) %% 5 - 2\nB(i,j) = B(i,j) * (B(i,j) > 0)\n"
            "compact B\ntensor v svec f64 [n] = { (1): 1, (3): 2 }\n"
            "tensor C %s f64 [n,n] = { (0,1): 1, (1,1): 2, (2,4): 3, (5,0): 4, (5,5): 5 }\n"
            "tensor D dense f64 [n,n]\nD(i,j) = C(i,j)\n"
            "s = sum(i,j: select(bool(%s), bool(%s), C(i,j) != 0))\n"
            "C(i,j) %s where %s\nD(i,j) %s where %s\n"
            "tensor d dense f64 [2] = [1,1]\n"
            "d(k) = select(k == 0, sum(i,j: C(i,j) != D(i,j)), stored(C) - s)\n",
            to, to, mask, values[k].stored, values[k].value, mask, values[k].value, mask);
        EXPECT(script, "d", 0, 0);
    }
}
END_TEST

/* Triangles and filters of a large matrix: what is stored is gone through. */
START_TEST(sparse_targets_by_entries)
{
    static const char *const text[] = {"C(i,j) = A(i,j) where j > i",
                                       "C(i,j) = A(i,j) where j <= i",
                                       "C(i,j) = A(i,j) where A(i,j) > 0.5",
                                       "C(i,j) += A(i,j) where j > i",
                                       "C(i,j) = A(i,j) + 2 * (i == j)",
                                       "C(i,j) = (j == i + 1) * i - A(i,j)",
                                       "C(i,j) = (i == j) * sum(k: A(i,k)) - A(i,j)",
                                       "C(i,j) = max(A(i,j), A(j,i)) where j < i",
                                       "C(i,j) = sum(k: A(i,k) * A(k,j)) where A(i,j)"};
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        stc_machine *m;
        stc_session *s;
        const stc_config config = {.max_steps = 400000};
        ck_assert(!stc_open(&config, &m) && !stc_session_open(m, &s));
        ck_ok(m, stc_session_exec(
                     s,
                     "n = 20000\ntensor C csr f64 [n,n] = { (3,9): 1, (9,3): 1 }\n"
                     "tensor A csr f64 [n,n] = random(density=0.0001, seed=1)\n",
                     "operands"));
        ck_ok(m, stc_session_exec(s, text[k], text[k]));
        stc_session_close(s);
        stc_close(m);
    }
}
END_TEST

/* What reduces under a mask meets the old elements row by row, and not in a list that is
 * sorted; the same is stored as where it doesn't reduce. */
START_TEST(sums_meet_by_rows)
{
    static const char small[] =
        "n = 50\ntensor A csr f64 [n,n] = random(density=0.1, seed=1)\n"
        "tensor Z csr f64 [n,n] = random(density=0.05, seed=4)\n"
        "tensor X dense f64 [n,4] = random(density=1, seed=3)\n"
        "tensor P csr f64 [n,n] = random(density=0.2, seed=2)\nR = P\n"
        "tensor D dense f64 [n,n]\nD(i,j) = P(i,j)\n"
        "V(i,j) = sum(f: X(i,f) * X(j,f))\ntensor U csr f64 [n,n]\n"
        "U(i,j) = sum(k: Z(i,k) * Z(k,j))\n"
        "P(i,j) = sum(f: X(i,f) * X(j,f)) where A(i,j) > 0.3\n"
        "R(i,j) = V(i,j) where A(i,j) > 0.3\nD(i,j) = V(i,j) where A(i,j) > 0.3\n"
        "assert stored(P) == stored(R) && all(i,j: P(i,j) == D(i,j))\n"
        "P(i,j) = sum(k: Z(i,k) * Z(k,j)) where A(i,j)\n"
        "R(i,j) = U(i,j) where A(i,j)\nD(i,j) = U(i,j) where A(i,j)\n"
        "assert stored(P) == stored(R) && all(i,j: P(i,j) == D(i,j))\n";
    static const char large[] =
        "n = 4000\ntensor A csr f64 [n,n] = random(density=0.0005, seed=1)\n"
        "tensor X dense f64 [n,2] = 1\ntensor P csr f64 [n,n] = { (3,5): 1 }\n"
        "P(i,j) = sum(f: X(i,f) * X(j,f)) where A(i,j)\n";
    const stc_config config = {.profile = true};
    stc_machine *m;
    stc_session *s;
    char *text;
    expect_printed(false, small, STC_OK, "");
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, large, "sums"));
    ck_ok(m, stc_session_profile(s, &text));
    const char *const at = strstr(text, "# P(i,j) = ");
    ck_assert(at && strstr(at, "finish"));
    ck_assert_msg(!strstr(at, ": coord"), "%s", at);
    stc_text_free(m, text);
    stc_session_close(s);
    stc_close(m);
}
END_TEST

/* A sum that adds to wherever entries are, under a mask of a vector: what a statement more
 * would store, and at the cost of the entries that there are, not of every place. */
START_TEST(pushed_under_masks)
{
    static const char *const to[] = {"svec", "dense", "hash"};
    static const char *const mask[] = {"!w(j)", "w(j)", "x(j) > 0.5", "j < 9"};
    static const char *const sum[] = {"= sum(i: v(i) * A(i,j))", "+= v(i) * A(i,j)",
                                      "= sum(i: (v(i) > 0.5) * A(i,j))"};
    const bool all = _i % 3 == 1; /* a dense one has every place */
    for (int k = 0; k < 3; k++) {
        const char *const f = to[_i % 3], *const m = mask[_i / 3];
        char text[1200];
        stc_machine *mc;
        stc_session *s;
        ck_assert(!stc_open(NULL, &mc) && !stc_session_open(mc, &s));
        ck_ok(mc, stc_session_exec(
                      s,
                      "n = 300000\ntensor A csr f64 [n,n] = random(density=3e-6, seed=1)\n"
                      "tensor v svec f64 [n] = random(density=0.001, seed=2)\n"
                      "tensor w svec f64 [n] = random(density=0.01, seed=3)\n"
                      "tensor x dense f64 [n] = random(density=1, seed=4)\n",
                      "operands"));
        snprintf(text, sizeof text,
                 "tensor r %s f64 [n]\nr(i) = v(i) * x(i)\nq = r\n"
                 "r(j) %s where %s\n",
                 f, sum[k], m);
        mc->cx.max_steps = all ? 0 : 100000;
        ck_ok(mc, stc_session_exec(s, text, text));
        mc->cx.max_steps = 0;
        snprintf(text, sizeof text,
                 "t(j) %s\nq(j) %s t(j) where %s\n"
                 "assert max(j: abs(q(j) - r(j))) < 1e-12\nassert stored(q) == stored(r)\n",
                 k == 1 ? "= v(i) * A(i,j)" : sum[k], k == 1 ? "+=" : "=", m);
        ck_ok(mc, stc_session_exec(s, text, text));
        stc_session_close(s);
        stc_close(mc);
    }
}
END_TEST

Suite *suite_masks(void)
{
    Suite *s = suite_create("masks");
    TCase *c = tcase_create("masks");
    tcase_add_test(c, statements);
    tcase_add_test(c, new_tensors);
    tcase_add_test(c, expressions);
    tcase_add_loop_test(c, sparse_targets, 0, MASKS * SPARSE);
    tcase_add_test(c, sparse_targets_by_entries);
    tcase_add_test(c, refused);
    tcase_add_test(c, undone);
    tcase_add_test(c, floored);
    tcase_add_test(c, sums_meet_by_rows);
    tcase_add_loop_test(c, pushed_under_masks, 0, 12);
    suite_add_tcase(s, c);
    return s;
}
