/* check_bind.c: names, types, implied sums, extents: what statements mean, and
 * the words of errors. */
#include "check.h"
#include <math.h>

#define M23 "tensor A dense f64 = [[1,2,3],[4,5,6]]\n"
#define V3 "tensor x dense f64 = [1,10,100]\n"
#define S34 "tensor S csr f64 [3,4] = { (0,1): 3, (2,0): 1, (2,3): 5 }\n"

START_TEST(implied_sums)
{
    EXPECT(M23 V3 "y(i) = A(i,j) * x(j)", "y", 321, 654);
    EXPECT(M23 V3 "tensor b dense f64 = [1000,2000]\ny(i) = A(i,j) * x(j) + b(i)", "y",
           1321, 2654);
    EXPECT(M23 "a = A(i,j)", "a", 21);
    EXPECT(M23 "a = -A(i,j) + 1", "a", -20);
    EXPECT(M23 "y(i) = (A(i,j) - 1) * 2", "y", 6, 24);
    EXPECT(M23 "y(i) = A(i,j) - 1", "y", 5, 14);
    EXPECT("tensor x dense f64 = [9,16]\na = sqrt(x(i)*x(i))", "a", 25);
    EXPECT(V3 "a = x(i) > 5", "a", 2);
    EXPECT(M23 "t = A(i,i(0:2))", "t", 6);
    EXPECT(S34 "d(j) = S(i,j) * S(i,j)", "d", 1, 9, 0, 25);
}
END_TEST

START_TEST(reductions)
{
    EXPECT(M23 "y(i) = max(j: A(i,j))", "y", 3, 6);
    EXPECT(M23 V3 "d(i) = min(j: A(i,j) + x(j))", "d", 2, 5);
    EXPECT(M23 "p = prod(i, j: A(i,j))", "p", 720);
    EXPECT(S34 "m(i) = min(j: S(i,j))", "m", 0, 0, 0);
    EXPECT(S34 "m(i) = any(j: S(i,j) > 4)", "m", 0, 0, 1);
    EXPECT(S34 "m(i) = all(j: S(i,j) >= 0)", "m", 1, 1, 1);
    EXPECT("tensor e dense f64 [0]\na = sum(i: e(i)); b = min(i: e(i)); c = prod(i: e(i))",
           "b", INFINITY);
    EXPECT("tensor e dense f64 [0]\nc = prod(i: e(i))", "c", 1);
    EXPECT(M23 "y(i) = sum(i: A(0,i)) + A(i,0)", "y", 7, 10);
    EXPECT("tensor I dense f64 = [[1,2,3,4],[5,6,7,8]]\n"
           "P(i,j) = max(p in 0:2, q in 0:2: I(2*i+p, 2*j+q))",
           "P", 6, 8);
}
END_TEST

START_TEST(accumulation)
{
    EXPECT(M23 "tensor y dense f64 = [100,200]\ny(i) += A(i,j)", "y", 106, 215);
    EXPECT(M23 "y(i) += A(i,j)", "y", 6, 15);
    EXPECT(M23 "y(i) -= A(i,j)", "y", -6, -15);
    EXPECT(M23 "y(i) *= A(i,j)", "y", 6, 120);
    EXPECT(M23 "y(i) max= A(i,j)", "y", 3, 6);
    EXPECT(M23 "d min= A(i,j)", "d", 1);
    /* 64 bits are compared with the least or greatest number of the type */
    EXPECT("tensor u dense u16 [3] = [0,1,2]\ny(i) min= -u(i)", "y", 0, 65535, 65535);
    EXPECT("tensor u dense i8 [3] = [1,100,-100]\ny(i) max= u(i) - 60", "y", -59, 40, -128);
    EXPECT(S34 "b(j) or= S(i,j) != 0", "b", 1, 1, 0, 1);
    EXPECT(S34 "b(j) and= S(i,j) == 0", "b", 0, 0, 1, 0);
    /* true && 4 is 1, and false || 4, too: of numbers these leave nothing as it is */
    EXPECT(
        "tensor A dense bool [2,2] = { (1,0): true }\ntensor y dense i32 [5] = { (1): 4 }\n"
        "y(2*j+i) and= A(i,j)",
        "y", 0, 1, 0, 0, 0);
    EXPECT(
        "tensor A dense bool [2,2] = { (1,1): true }\ntensor y dense i32 [5] = { (1): 4 }\n"
        "y(2*j+i) or= A(i,j)",
        "y", 0, 1, 0, 1, 0);
    EXPECT("tensor x dense i64 = [6,12]\na |= x(i)", "a", 14);
    EXPECT("tensor x dense i64 = [6,12]\na &= x(i)", "a", 4);
    EXPECT("tensor x dense i64 = [6,12]\na ^= x(i)", "a", 10);
}
END_TEST

START_TEST(left_sides)
{
    EXPECT("tensor A dense f64 = [[1,2],[3,4]]\nA(i,j) = A(i,j) + A(j,i)", "A", 2, 5, 5, 8);
    EXPECT("tensor A dense f64 = [[1,2],[3,4]]\nA(i,i) = 0", "A", 0, 2, 3, 0);
    EXPECT("tensor x dense f64 = [5,6]\nD(i,i) = x(i)", "D", 5, 0, 0, 6);
    /* what is named is collected, in the order of the tensor's levels */
    EXPECT(M23 "format f = (i,j) -> (j : rle, i : compressed)\n"
               "tensor y f f64 [7,2] = { (0,0): 7, (0,1): 8, (3,1): 9 }\n"
               "y(4*i+j, 1) = A(i,j)",
           "y", 7, 1, 0, 2, 0, 3, 0, 9, 0, 4, 0, 5, 0, 6);
    EXPECT(
        "tensor x dense f64 = [5,6]\ntensor y dense f64 = [1,1,1,1,1]\ny(i(1:4:2)) = x(i)",
        "y", 1, 5, 1, 6, 1);
    EXPECT("tensor x dense f64 = [5,6]\ntensor y dense f64 = [1,1,1,1,1]\ny(2*i+1) = x(i)",
           "y", 1, 5, 1, 6, 1);
    EXPECT("tensor x dense f64 = [5,6]\ntensor y dense f64 [2,3]\ny(i,j) = x(i)", "y", 5, 5,
           5, 6, 6, 6);
    EXPECT("tensor x dense f64 = [5,6]\ny(j,i) = x(i) * x(j)", "y", 25, 30, 30, 36);
}
END_TEST

START_TEST(affine)
{
    EXPECT(V3 "y(i) = x(2-i)", "y", 100, 10, 1);
    EXPECT(V3 "tensor F dense f64 = [1,2]\ny(i) = x(i+j) * F(j)", "y", 21, 210);
    EXPECT(V3 "tensor F dense f64 = [1,1,1]\ntensor S dense f64 [3]\n"
              "S(i) = pad x(i+j-1) * F(j)",
           "S", 11, 111, 110);
    EXPECT("tensor A dense f64 = [1,2,3,4,5,6]\nB(i) = A(i(1:5:2))", "B", 2, 4);
    EXPECT("tensor A dense f64 = [1,2,3,4,5,6]\nB(i) = A(i(::3)) + A(i(4:))", "B", 6, 10);
    EXPECT(S34 "y(j) = S(2,j)", "y", 1, 0, 0, 5);
    EXPECT(S34 "y(i) = S(i,i+1)", "y", 3, 0, 5);
}
END_TEST

/* Ranges that no other subscript gives: the largest box that is read inside. */
START_TEST(boxes)
{
#define V9 "tensor v dense i64 = [0,1,2,3,4,5,6,7,8]\n"
    expect_printed(false, V9 "R(i,j) = v(2*i+3*j)\nprint R", STC_OK, "0  3\n2  5\n4  7\n");
    expect_printed(false, V9 "R(i,j) = v(i+j)\nprint size(R,0), size(R,1), R(4,4)", STC_OK,
                   "5 5 8\n");
    expect_printed(false,
                   V9 "R(i,j,k) = v(i+2*j+k+2)\nprint size(R,0), size(R,1), size(R,2)",
                   STC_OK, "3 2 3\n");
    /* signs lead to ends of their own, which leaves one box */
    expect_printed(false, V9 "R(i,j) = v(3*i-2*j+5)\nprint R", STC_OK,
                   "5  3  1\n8  6  4\n");
    expect_printed(false, V9 "R(i,j) = v(8-i-3*j)\nprint R", STC_OK,
                   "8  5\n7  4\n6  3\n5  2\n4  1\n");
    /* what others give goes first, and of several accesses the least counts */
    expect_printed(false,
                   V9 "tensor F dense i64 = [1,1]\nR(i,j) = v(i+2*j+k) * F(k)\nprint "
                      "size(R,0), size(R,1)",
                   STC_OK, "4 2\n");
    expect_printed(false,
                   V9 "tensor w dense i64 [5] = 1\nR(i,j) = v(i+j) + w(2*i+j)\nprint "
                      "size(R,0), size(R,1)",
                   STC_OK, "2 3\n");
    expect_printed(false, V9 "R(i,j) = v(2*i+3*j) + v(i+5)\nprint size(R,0), size(R,1)",
                   STC_OK, "4 1\n");
    /* nothing fits: nothing is read */
    expect_printed(false, V9 "R(i,j) = v(i+j+9)\nprint size(R,0), size(R,1)", STC_OK,
                   "0 0\n");
    expect_printed(false, V9 "print v(4*i+4*j)", STC_OK, "0  4\n4  8\n");
}
END_TEST

START_TEST(types)
{
    EXPECT("tensor x i8 dense [1] = 100\n", "x", 100);
    EXPECT("tensor a bool = true\ntensor b bool = true\nc = a + b", "c", 2);
    EXPECT("tensor a u8 = 200\nc = a + a", "c", 144);
    EXPECT("tensor a u8 dense [3] = 200\nc = a(i)", "c", 600);
    EXPECT("tensor a i32 = 7\nc = a // 2", "c", 3);
    EXPECT("tensor a i32 = 7\nc = a / 2", "c", 3.5);
    EXPECT("tensor a i32 = 7\nc = a / 2.0", "c", 3.5);
    EXPECT("tensor a f64 = 0.5\ntensor c bool\nc = bool(a)", "c", 1);
    EXPECT("tensor a f64 = 300.7\ntensor c u8\nc = u8(a)", "c", 44);
    EXPECT("tensor z dense f64 [2]\ny(i) = sum(j in 0:3: j) + 0 * z(i)", "y", 3, 3);
}
END_TEST

static const struct {
    const char *script;
    stc_status status;
    const char *words;
} wrong[] = {
    {"y(i) = nope(i)", STC_ERR_PROGRAM, "nope"},
    {M23 "y(i) = A(i)", STC_ERR_PROGRAM, "A"},
    {M23 "y(k) = A(i,j)", STC_ERR_SHAPE, "k"},
    {M23 "y = A(i,j) & 1", STC_ERR_PROGRAM, ""},
    {M23 V3 "y(i) = A(j,i) * x(j)", STC_ERR_SHAPE, "j|2|3"},
    {M23 "y(i) = A(i+1,0)* A(i,0)", STC_ERR_SHAPE, "i"},
    /* a sum would leave out what a box does: it asks */
    {V3 "y(i) = x(i+j)", STC_ERR_PROGRAM, "i and j|j by|declare the result"},
    {V3 "y = x(i+j)", STC_ERR_PROGRAM, "i and j|j by"},
    {V3 "y(i,j) = x(i+j+k)", STC_ERR_PROGRAM, "i and k|k by"},
    {V3 "y(i,j) = pad x(i+j)", STC_ERR_PROGRAM, "i has no range"},
    {V3 "y(i,j) = x(9223372036854775807*i+9223372036854775807*j)", STC_ERR_PROGRAM,
     "too large"},
    {V3 "y(i) = x(i*i)", STC_ERR_PROGRAM, ""},
    {V3 "y(i) = x(i(2:1))", STC_ERR_PROGRAM, ""},
    {V3 "y(i) = x(i(0:9))", STC_ERR_SHAPE, "9|3"},
    {"y(i) = sqrt(1,2)", STC_ERR_PROGRAM, "sqrt"},
    {"tensor z c128 = 1j\na = z < 2", STC_ERR_PROGRAM, ""},
    {"tensor a dense f64 [2] = \"no such file.mtx\"", STC_ERR_IO, "no such file.mtx"},
    {"tensor a dense f64 [2,2] = [[1,2],[3]]", STC_ERR_PROGRAM, ""},
    {"tensor a csr f64 [2,2] = { (0,5): 1 }", STC_ERR_SHAPE, ""},
    {V3 "tensor i dense f64 = 1\ny(i) = x(i)", STC_ERR_PROGRAM, "i"},
};

START_TEST(errors)
{
    const stc_status st = wrong[_i].status;
    /* Whether a fault belongs to the program or the shapes is a matter of when
     * it shows; the words are what a user sees. */
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    ck_ok(m, stc_session_open(m, &s));
    const stc_status got = stc_session_exec(s, wrong[_i].script, "test");
    const bool either = (st == STC_ERR_PROGRAM || st == STC_ERR_SHAPE) &&
                        (got == STC_ERR_PROGRAM || got == STC_ERR_SHAPE);
    const stc_error_info *e = stc_error(m);
    ck_assert_msg(got == st || either, "%s\n%s: %s", wrong[_i].script, stc_status_name(got),
                  e->message);
    ck_assert_msg(has_words(e->message, wrong[_i].words) ||
                      has_words(e->file, wrong[_i].words),
                  "%s\n`%s` lacks `%s`", wrong[_i].script, e->message, wrong[_i].words);
    ck_assert_int_gt(e->line, 0);
    ck_assert_int_gt(e->column, 0);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

Suite *suite_bind(void)
{
    Suite *s = suite_create("bind");
    TCase *c = tcase_create("bind");
    tcase_add_test(c, implied_sums);
    tcase_add_test(c, reductions);
    tcase_add_test(c, accumulation);
    tcase_add_test(c, left_sides);
    tcase_add_test(c, affine);
    tcase_add_test(c, boxes);
    tcase_add_test(c, types);
    tcase_add_loop_test(c, errors, 0, sizeof wrong / sizeof *wrong);
    suite_add_tcase(s, c);
    return s;
}
