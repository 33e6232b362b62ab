/* check_masks.c: `e where m`: on statements, which name what the mask has and keep the
 * rest, in expressions and reductions; and `//=`, `%=`. */
#include "check.h"

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

Suite *suite_masks(void)
{
    Suite *s = suite_create("masks");
    TCase *c = tcase_create("masks");
    tcase_add_test(c, statements);
    tcase_add_test(c, new_tensors);
    tcase_add_test(c, expressions);
    tcase_add_test(c, refused);
    tcase_add_test(c, undone);
    tcase_add_test(c, floored);
    suite_add_tcase(s, c);
    return s;
}
