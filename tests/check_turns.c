/* check_turns.c: operands that are copied, across their rows or to be searched, and results
 * that are written the other way (src/opt/turn.c): where that pays, and where it doesn't.
 */
#include "check.h"
#include <stdio.h>
#include <string.h>

/* A dense operand that is read across its rows much more often than it has elements is
 * copied by columns, and not where there is little to read; what changes is copied again.
 */
START_TEST(rows_are_turned)
{
#define SPARSE                                                                             \
    "tensor A csr i64 [300,300]\nA(i,j) = i + j where (i * 7 + j * 3) % 11 == 0\n"
#define ACROSS SPARSE "tensor W dense i64 [9,300]\nW(k,j) = (k * j) % 13 - 5\n"
    expect_plan(ACROSS, "Y(i,k) = A(i,j)*W(k,j)", "W is converted to|read across");
    expect_plan(ACROSS, "Y(i) = sum(j,k: A(i,j)*max(W(k,j), 0))", "step1(j)");
    expect_plan(ACROSS, "y(j) = sqrt(sum(i: A(i,j)**2))", "step: step1(j)|step: y(j)");
    expect_plan(ACROSS, "y(i) = sqrt(sum(j: A(i,j)**2))", "t0 add= (A(i,j) ** 2)");
    expect_plan(ACROSS, "Y(i,k) = A(i,j)*W(k,j)*(i<4)", "W is converted to|read across");
    expect_plan("tensor A csr i64 [300,300]\nA(7,8) = 1\ntensor W dense i64 [9,300]\n"
                "W(k,j) = 2\n",
                "Y(i,k) = A(i,j)*W(k,j)", "locate W.0, then locate W.1");
    EXPECT(ACROSS "tensor X dense i64 [300,9]\nX(j,k) = W(k,j)\n"
                  "Y(i,k) = A(i,j)*W(k,j)\nZ(i,k) = A(i,j)*X(j,k)\n"
                  "far = max(i,k: abs(Y(i,k) - Z(i,k)))\nW(k,j) = 2*W(k,j)\n"
                  "for n in 0:3 {\nY(i,k) = A(i,j)*W(k,j)\nW(k,j) = 2*W(k,j)\n}\n"
                  "far += max(i,k: abs(Y(i,k) - 8*Z(i,k)))\nsome = Y(77,5) != 0",
           "far", 0);
    EXPECT(ACROSS "Y(i,k) = A(i,j)*W(k,j)\nsome = Y(77,5) != 0", "some", 1);
#undef ACROSS
}
END_TEST

/* What is in groups, or in no order, is copied by rows where its rows are searched more
 * often than it has entries: by all rows if most have some. */
START_TEST(rows_are_sought)
{
#define GROUPS                                                                             \
    "tensor A csr i64 [300,300]\nA(i,j) = i + j where (i * 7 + j * 3) %% 11 == 0\n"        \
    "tensor G %s i64 [300,300]\nG(i,j) = A(i,j)\n"
    static const char *const rough[] = {"coo", "(i,j) -> (i : dense, j : hashed)",
                                        "(i,j) -> (i : dense, j : compressed(unordered))"};
    char text[1000];
    for (int k = 0; k < 3; k++) {
        snprintf(text, sizeof text, GROUPS "compact A\n", rough[k]);
        expect_plan(text, "Y(i,k) = A(i,j)*G(j,k)",
                    "G is converted to csr: its rows are searched, many times");
        expect_plan(text, "y(i) = G(i,j)*j", k ? "locate G.0" : "walk G.0");
    }
    expect_plan("tensor A csr i64 [300,300]\nA(7,8) = 1\n"
                "tensor G coo i64 [300,300]\nG(1,2) = 3\nG(9,5) = 4\n",
                "Y(i,k) = A(i,j)*G(j,k)", "seek G.0");
    snprintf(text, sizeof text, GROUPS, "coo");
    expect_plan(text, "Y(i,j) = G(i,j) + G(j,i)", "G is converted to csc");
    expect_plan("tensor G coo i64 [300,300]\nG(1,2) = 3\nG(9,5) = 4\n",
                "Y(i,j) = G(i,j) + G(j,i)", "G is converted to dcsc");
}
END_TEST

/* A vector that stores some coordinates is copied where a matrix has more entries than it
 * has places, whether the loops reduce or not; not where few are looked for in it, nor one
 * that is gone through once. */
START_TEST(vectors_are_sought)
{
#define VECTOR SPARSE "tensor a svec i64 [300]\na(j) = j where j != 7\n"
    const char *const copied = "a is converted to bytemap: it is searched, many times";
    expect_plan(VECTOR, "y(i) = A(i,j)*a(j)", copied);
    expect_plan(VECTOR, "B(i,j) = A(i,j) + A(i,j)*a(j)", copied);
    expect_plan(VECTOR, "y(j) = A(i,j)*a(i)", "walk a.0|w(j)");
    expect_plan("tensor A csr i64 [300,300]\nA(7,8) = 1\ntensor a svec i64 [300]\n"
                "a(8) = 3\n",
                "y(i) = A(i,j)*a(j)", "seek a.0");
    EXPECT(VECTOR
           "tensor d dense i64\nd(j) = a(j)\nA(i,7) = 1 where i < 9\n"
           "y(i) = A(i,j)*a(j)\nz(i) = A(i,j)*d(j)\n"
           "B(i,j) = A(i,j)*a(j)\ny(i) -= B(i,j)\n"
           "far = max(i: abs(y(i))) + (stored(B) != stored(A) - sum(i: bool(A(i,7))))",
           "far", 0);
#undef VECTOR
}
END_TEST

/* A result whose rows go along another index than those of what is added to it is a copy of
 * a step that is stored the other way. */
START_TEST(results_are_turned)
{
#define ROWS SPARSE "tensor X dense i64 [300,9]\nX(j,k) = (k * j) % 13 - 5\n"
    expect_plan(ROWS, "Y(k,i) = A(i,j)*X(j,k)", "step: step1(i,k)|step: Y(k,i)");
    expect_plan(ROWS "tensor Y dense f64 [9,300]\n", "Y(k,i) = A(i,j)*X(j,k) + 1",
                "step: step1(i,k)|step: Y(k,i)");
    EXPECT(ROWS
           "Z(i,k) = A(i,j)*X(j,k)\nY(k,i) = A(i,j)*X(j,k)\ntensor S dense i64 [9,300]\n"
           "S(k,i) = 2\nS(k,i) += A(i,j)*X(j,k)\ntensor F dense f32 [9,300]\n"
           "F(k,i) = A(i,j)*X(j,k)\n"
           "far = max(i,k: abs(Y(k,i) - Z(i,k)) + abs(S(k,i) - 2 - Z(i,k)) + "
           "abs(F(k,i) - Z(i,k)))\nsome = far + (Y(5,77) != 0)",
           "some", 1);
#undef ROWS
#undef SPARSE
}
END_TEST

Suite *suite_turns(void)
{
    Suite *s = suite_create("turns");
    TCase *t = tcase_create("copies");
    tcase_add_test(t, rows_are_turned);
    tcase_add_test(t, rows_are_sought);
    tcase_add_test(t, vectors_are_sought);
    tcase_add_test(t, results_are_turned);
    suite_add_tcase(s, t);
    return s;
}
