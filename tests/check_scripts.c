/* check_scripts.c: statements of whole programs: for, break, def, print of several
 * things, assert, whole tensors, and expressions by themselves. */
#include "check.h"
#include <stdlib.h>
#include <string.h>

#define PRINTS(script, want) expect_printed(false, script, STC_OK, want)
#define ECHOES(script, want) expect_printed(true, script, STC_OK, want)
#define FAILS(script, want) expect_printed(false, script, STC_ERR_PROGRAM, want)

START_TEST(loops)
{
    PRINTS("for k in 1:4 { print k }", "1\n2\n3\n");
    PRINTS("n = 3\nfor k in n:2*n { n = 0; print k }", "3\n4\n5\n");
    PRINTS("for k in 7:0:-3 { print k }\nfor k in 5:5 { print 9 }", "7\n4\n1\n");
    PRINTS("for k in 0:9:4 { k = 100; print k }", "100\n100\n100\n");
    PRINTS("for k in 0:9 { if (k == 2) { continue }; if (k > 3) { break }; print k }",
           "0\n1\n3\n");
    PRINTS("for a in 0:2 { for b in 0:9 { if (b > a) { break }; print a, b } }",
           "0 0\n1 0\n1 1\n");
    PRINTS("n = 0\nwhile (1) { n += 1; if (n > 4) { break } }\nprint n", "5\n");
    PRINTS("n = 0\nrepeat 5 { n += 1; if (n > 2) { continue }; print n }", "1\n2\n");
    PRINTS("for (k = 0; k < 6; k += 2) { if (k == 2) { continue }; print k }", "0\n4\n");
    PRINTS("for k in 9223372036854775806:9223372036854775807:5 { print k }",
           "9223372036854775806\n");
    FAILS("for k in 0:3:0 { }", "1: the step is 0");
    FAILS("for k in 0:2.5 { }", "1: where the range ends is of type f64, not an integer");
    FAILS("tensor k f64 = 1\nfor k in 0:3 { }",
          "2: the variable of a `for` is an integer of its own, and this name is declared");
}
END_TEST

START_TEST(defs)
{
    PRINTS("def f(A, s) -> y { y(i) = A(i) * s; s = 0 }\ntensor v dense f64 = [1,2]\n"
           "s = 3\nw = f(v, s)\nprint s, w\nx = f(v(i) + 1, 2)\nprint x",
           "3\n3  6\n4  6\n");
    PRINTS("def f(a) -> p, q { p = a; if (a > 1) { q = 9; return }; q = 1 }\n"
           "(x, y) = f(1)\nprint x, y\n(x, y) = f(2)\nprint x, y",
           "1 1\n2 9\n");
    PRINTS("def fact(n) -> r { r = 1; if (n > 1) { m = n - 1; r = fact(m); r = r * n } }\n"
           "for k in 0:5 { y = fact(k); print y }",
           "1\n1\n2\n6\n24\n");
    PRINTS("def g(v) -> (v) { v(i) = v(i) + 1 }\ntensor u dense i64 = [1,2]\n"
           "repeat 2 { w = g(u) }\nprint u, w\nu = g(g(u))\nprint u",
           "1  2\n2  3\n3  4\n");
    PRINTS("def show(x) { print \"it is\", x }\nshow(2 + 3)\nx = 4\nshow(x)",
           "it is 5\nit is 4\n");
    PRINTS("def f(A) -> B { B(i) = A(i) }\ntensor B svec f64\ntensor v dense i64 = [0,2]\n"
           "B = f(v)\nprint B",
           "svec f64 [2], 1 stored\n(1) 2\n");
    PRINTS("fn sq(x) = x * x\ndef f(A) -> r { r = sum(i: sq(A(i))) }\n"
           "tensor v dense f64 = [1,2]\nr = f(v)\nprint r",
           "5\n");
    FAILS("x = 1\ndef f() -> r { r = x + 1 }\ny = f()",
          "2: x has no range: it is no tensor, and no subscript gives an index of that "
          "name a "
          "range");
    FAILS("def f(n) -> r { r = f(n) }\ny = f(1)",
          "1: defs call each other more than 256 deep");
    PRINTS("def f(n) -> r { r = n; if (n > 1) { r = f(n - 1) } }\ny = f(256)\nprint y",
           "1\n");
    FAILS("def f(n) -> r { r = n; if (n > 1) { r = f(n - 1) } }\ny = f(257)",
          "1: defs call each other more than 256 deep");
    FAILS("def f(a) -> r { }\ny = f(1)", "2: f ended, and gave its result `r` no value");
    FAILS("def f(a) -> r { r = a }\ny = f(1, 2)", "2: f takes 1 argument, not 2");
    FAILS("def f(a) -> r { r = a }\n(y, z) = f(1)", "2: f gives 1 result, not 2");
    FAILS("def f(a, a) { }", "1: the parameter `a` is there twice");
    FAILS("def f(a) -> r { r = a }\ny = f(1) + 1",
          "2: `f` is a def, whose call is the whole right side of a statement, as in y = "
          "f(…)");
    FAILS("def f(a) -> r { r = a }\ny(i) = f(1)",
          "2: what a def gives goes to a name alone, as in y = f(…)");
    FAILS("(a, b) = sqrt(2)", "1: expected the call of a def");
}
END_TEST

/* What fails in a def names its own line, and the caller's variables are as they were. */
START_TEST(defs_fail)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    const stc_tensor *t;
    stc_value v;
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s,
                              "\n\n  def f(x) -> y {\n  y = 2\n  x(i) = 7 % x(i)\n}\n"
                              "tensor x dense i64 = [1, 0]\ny = 5",
                              "library"));
    ck_assert_int_eq(stc_session_exec(s, "y = f(x)", "other"), STC_ERR_ARITHMETIC);
    ck_assert_str_eq(stc_error(m)->file, "library");
    ck_assert_int_eq(stc_error(m)->line, 5);
    ck_assert_int_eq(stc_error(m)->column, 10);
    ck_ok(m, stc_session_get(s, "y", &t));
    ck_ok(m, stc_tensor_get(t, NULL, &v));
    ck_assert_int_eq(v.i, 5);
    ck_ok(m, stc_session_exec(s, "x(i) = x(i) + 1\ny = f(x)", "again"));
    ck_assert_int_eq(stc_session_exec(s, "def f(x) { }\ndef g() { def h() { } }", "nest"),
                     STC_ERR_SYNTAX);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

START_TEST(printing)
{
    PRINTS("tensor v dense f64 = [1,2]\nk = 3\nprint \"round\", k, sum(i: v(i)), \"end\"",
           "round 3 3 end\n");
    PRINTS("tensor v dense f64 = [1,2]\nprint \"v:\", v, \"and\", v(i) * v(j)",
           "v:\n1  2\nand\n1  2\n2  4\n");
    PRINTS("print \"a\\tb\\nc\", \"\\x1b[1m\"", "a\tb\nc x1b[1m\n");
    PRINTS("print \"\x1b[1m\"", "?[1m\n");
    FAILS("print \"x\", nothing(1)", "1: there is no tensor or function `nothing`");
    FAILS("a = 3\nassert a == 3\nassert a > 3, \"too small\"",
          "3: what is asserted doesn't hold: too small");
    FAILS("assert 0", "1: what is asserted doesn't hold");
}
END_TEST

START_TEST(tables)
{
    PRINTS("tensor v dense f64 = [0.333333333333, 1234567.891, 1e-9]\nprint v, v(0)",
           "0.333333  1234570  1e-09\n0.333333333333\n");
    PRINTS("tensor x dense i64 [13,25]\nx(i,j) = (i + j) % 2\nprint x",
           "dense i64 [13,25], 325 stored\n"
           "0  1  0  1  0  1  0  1  …  0  1  0\n1  0  1  0  1  0  1  0  …  1  0  1\n"
           "0  1  0  1  0  1  0  1  …  0  1  0\n1  0  1  0  1  0  1  0  …  1  0  1\n"
           "0  1  0  1  0  1  0  1  …  0  1  0\n1  0  1  0  1  0  1  0  …  1  0  1\n"
           "0  1  0  1  0  1  0  1  …  0  1  0\n1  0  1  0  1  0  1  0  …  1  0  1\n"
           "…  …  …  …  …  …  …  …  …  …  …  …\n"
           "0  1  0  1  0  1  0  1  …  0  1  0\n1  0  1  0  1  0  1  0  …  1  0  1\n"
           "0  1  0  1  0  1  0  1  …  0  1  0\n");
    PRINTS(
        "tensor o dense i64 [51] = 1\nprint o(i(0:50))",
        "1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  "
        "1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1\n");
    PRINTS("tensor R csr i32 = random(2, 6, density=0.5, seed=4, integers(-2,3))\n"
           "tensor N dense = random(400, normal)\ntensor U = random(400, uniform)\n"
           "print all(i,j: R(i,j) >= -2 && R(i,j) < 3), abs(mean(i: N(i))) < 0.2, "
           "abs(norm(i: N(i)) - 20) < 2, min(i: U(i)) >= 0 && max(i: U(i)) in 0.9:1",
           "1 1 1 1\n");
}
END_TEST

/* How many digits, and the note on what `compact` would drop. */
START_TEST(digits)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    char text[256] = "";
    FILE *out = tmpfile();
    ck_ok(m, stc_session_open(m, &s));
    stc_session_output(s, out);
    ck_ok(m, stc_set_digits(m, 3));
    ck_ok(m, stc_session_exec(s, "print 2 / 3, sqrt(2) * 1j", "t"));
    ck_assert_int_eq(stc_set_digits(m, 18), STC_ERR_ARGUMENT);
    ck_ok(m, stc_set_digits(m, 0));
    ck_ok(m, stc_session_exec(s, "print 2 / 3", "t"));
    rewind(out);
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, out), 0);
    ck_assert_str_eq(text, "0.667 0+1.41j\n0.6666666666666666\n");
    ck_ok(m, stc_session_exec(s,
                              "tensor T csr f64 [5,5]\nx(i in 0:5) = i\n"
                              "T(i,j) = x(i) * x(j) * (x(i) + x(j) == 8)\nprint T",
                              "t"));
    ck_assert_ptr_nonnull(strstr(stc_notes(m), "24 of the 25 entries that T stores are its "
                                               "fill; `compact T` drops them"));
    stc_session_close(s);
    machine_shut(m, &h);
    fclose(out);
}
END_TEST

/* Columns that a window has no room for are left out, down to one of each end. */
START_TEST(widths)
{
    static const struct {
        int columns;
        const char *shown;
    } row[] = {{0, "10  11  12  13  14\n"},
               {18, "10  11  12  13  14\n"},
               {17, "dense i64 [1,5], 5 stored\n10  11  …  14\n"},
               {12, "dense i64 [1,5], 5 stored\n10  …  14\n"},
               {1, "dense i64 [1,5], 5 stored\n10  …  14\n"}};
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, "tensor D dense i64 [1,5]\nD(i,j) = 10 + j", "t"));
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        char text[256] = "";
        FILE *out = tmpfile();
        stc_session_output(s, out);
        ck_ok(m, stc_set_width(m, row[k].columns));
        ck_ok(m, stc_session_exec(s, "print D", "t"));
        rewind(out);
        ck_assert_uint_gt(fread(text, 1, sizeof text - 1, out), 0);
        ck_assert_str_eq(text, row[k].shown);
        fclose(out);
    }
    ck_assert_int_eq(stc_set_width(m, -1), STC_ERR_ARGUMENT);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

START_TEST(whole_tensors)
{
    PRINTS("tensor A csr f64 [2,2] = { (0,1): 3 }\nB = A\nA(i,j) = 2 * A(i,j)\nprint B",
           "csr f64 [2,2], 1 stored\n(0,1) 3\n");
    PRINTS("tensor A dense f64 = [[1,0],[0,2]]\ntensor C csc\nC = A\nprint C",
           "csc f64 [2,2], 2 stored\n(0,0) 1\n(1,1) 2\n");
    PRINTS("tensor A csr f64 [2,2] fill inf = { (0,1): 3 }\ntensor B csr f64 [2,2]\nB = A\n"
           "m = B(1,1)\nprint m",
           "inf\n");
    FAILS("tensor A dense f64 = [1,2]\ntensor B csr\nB = A",
          "3: B has 2 modes, and what it is assigned has 1");
    expect_printed(false, "tensor A dense f64 = [1,2]\ntensor B dense f64 [3]\nB = A",
                   STC_ERR_SHAPE,
                   "3: dimension 0 of B has size 3, and 2 in what it is assigned");
}
END_TEST

START_TEST(values)
{
    ECHOES("2 + 3\n_ * 2\n-1", "5\n10\n-1\n");
    ECHOES("tensor A csr f64 [2,3] = { (0,2): 2, (1,0): 3 }\nA(0,2)\nsum(i: A(i,0))\n"
           "A(i,j) * 2\n_(1,0)",
           "2\n3\ncsr f64 [2,3], 2 stored\n(0,2) 4\n(1,0) 6\n6\n");
    ECHOES("tensor A dense f64 = [[1,2],[3,4]]\nA(j,i) - A(i,j)\nA\n_(1,1)",
           "0  -1\n1   0\n1  2\n3  4\n4\n");
    ECHOES("x = 3\nx\n(x + 1) * 2\nx == 3", "3\n8\n1\n");
    ECHOES("def f(a) -> p, q { p = a; q = 2 * a }\nf(4)\n_", "4\n8\n8\n");
    FAILS("x = 3\nx + 1",
          "2: nothing is done with this value: `print` shows it, and NAME = keeps it");
    PRINTS("y = 1 +\n  2 *\n  3\nprint y,\n  y", "7 7\n");
}
END_TEST

START_TEST(scalars)
{
    PRINTS("n = 2\ntensor A csr f64 [n, 2*n] fill -n = { (1,3): 5 }\nprint A(0,0), A(1,3)",
           "-2 5\n");
    PRINTS("tensor v dense f64 = [4,9]\nfor k in 1:3 {\n"
           "tensor z dense [k] = sum(i: v(i)) / k\nprint z }",
           "13\n6.5  6.5\n");
    PRINTS("s = 7\nd = 0.5\ntensor R svec [50] = random(density=d, seed=s)\n"
           "tensor S svec [50] = random(0.5, seed=7)\nprint all(i: R(i) == S(i)), "
           "stored(R) > 9",
           "1 1\n");
    PRINTS("z = 2j\ntensor c dense c128 [1] = 1 + z\nprint imag(c(0))", "2\n");
    expect_printed(false, "n = 2\ntensor A csr f64 [n, n-3]", STC_ERR_SHAPE,
                   "2: a size is -1");
    FAILS("n = 2.5\ntensor A svec f64 [n]", "2: a size is of type f64, not an integer");
    FAILS("n = 2\ntensor A svec f64 [9] = random(n)",
          "2: the density is 2; expected 0 to 1");
}
END_TEST

START_TEST(subscripts)
{
#define M "tensor A dense f64 = [[1,2,3],[4,5,6]]\nx(i in 0:6) = i * i\ns = 1; k = 2\n"
    PRINTS(M "y(j) = A(s, j)\nprint y, A(s, k), A(0, k - 1)", "4  5  6\n6 2\n");
    PRINTS(M "print x(k*i), x(i + k), x(2*i + s)", "0  4  16\n4  9  16  25\n1  9  25\n");
    PRINTS(M "print x(i(s:4)), x(i(s:k+3:k)), x(i(k:)), x(i(:k))",
           "1  4  9\n1  9\n4  9  16  25\n0  1\n");
    PRINTS(M "print sum(q in s:k+1: x(q)), sum(q in -s:k: x(q + 1))", "5 5\n");
    PRINTS(M "for r in 0:3 { x(r) = -r; t = x(r + 3); print r, t, x(size(x,0) - 1 - r) }",
           "0 9 25\n1 16 16\n2 25 9\n");
    PRINTS(M "for r in 1:3 { g(i in 0:r) = i + r; print g }", "1\n2  3\n");
    PRINTS(M "x(i(s:k+1)) = 7\nprint x", "0  7  7  9  16  25\n");
    PRINTS(M "m = -1\nprint x(k + m), x(i - m), x(-m)", "1\n1  4  9  16  25\n1\n");
    PRINTS(M "n = 0\nwhile (x(n) < 10) { n += 1 }\nprint n", "4\n");
    PRINTS(M "repeat 2 { y(i) = x(i + s); s = 3; print sum(i: y(i)) }", "55\n50\n");
    PRINTS(M "tensor w dense [3] = 1\nrepeat 2 { z = sum(i: x(i)); y = sum(q: A(i, q) * "
             "w(q)); i = 1; "
             "print y }",
           "21\n15\n");
    PRINTS("tensor s dense i64 = [3,4]\ntensor x dense i64 = [5,6]\ny(s) = x(s)\nprint y",
           "5  6\n");
    PRINTS("tensor x dense f64 [3]\nx(i in 0:3) = i\nprint x", "0  1  2\n");
    FAILS(M "y(i) = x(i(s:k:0))", "4: a slice's stride is at least 1");
    FAILS(M "m = -1\ny(i) = x(i(m:3))", "5: a slice's bounds are at least 0");
    FAILS(M "h = 0.5\ny(i) = x(i + h)",
          "5: a scalar in a subscript is of type f64, not an integer");
    FAILS(M "y(i in 1:3) = i",
          "4: the range of an index on the left begins at 0; a slice names a part, as in "
          "x(i(2:5))");
    expect_printed(false, "tensor x dense f64 [3]\nx(i in 0:2) = i", STC_ERR_SHAPE,
                   "2: index i runs to 2, and dimension 0 of x has size 3");
}
END_TEST

START_TEST(made)
{
    PRINTS("n = 2\ntensor I csr = eye(n)\nprint I",
           "csr f64 [2,2], 2 stored\n(0,0) 1\n(1,1) 1\n");
    PRINTS("tensor I dense i8 = eye(2,3)\nprint I", "1  0  0\n0  1  0\n");
    PRINTS("tensor I dense [3,2] = eye\nprint I", "1  0\n0  1\n0  0\n");
    PRINTS("n = 2\ntensor a = arange(2*n)\nprint a", "0  1  2  3\n");
    PRINTS("tensor a dense f32 [3] = arange\nprint a", "0  1  2\n");
    PRINTS("tensor o dense = ones(2,2)\ntensor z svec = zeros(4)\nprint o, z",
           "1  1\n1  1\nsvec f64 [4], 0 stored\n");
    PRINTS("n = 20\ntensor R csr = random(n, n+1, density=0.5, seed=3)\n"
           "tensor S csr [20,21] = random(density=0.5, seed=3)\n"
           "print size(R,1), all(i,j: R(i,j) == S(i,j)), stored(R) > 100",
           "21 1 1\n");
    FAILS("tensor I svec [2] = eye", "1: eye has 2 modes, and I is declared with 1");
    expect_printed(false, "tensor I csr = eye(2,3,4)", STC_ERR_SYNTAX,
                   "1: there are at most 2 sizes here");
}
END_TEST

Suite *suite_scripts(void)
{
    Suite *s = suite_create("scripts");
    TCase *c = tcase_create("scripts");
    tcase_add_test(c, loops);
    tcase_add_test(c, defs);
    tcase_add_test(c, defs_fail);
    tcase_add_test(c, printing);
    tcase_add_test(c, tables);
    tcase_add_test(c, digits);
    tcase_add_test(c, widths);
    tcase_add_test(c, whole_tensors);
    tcase_add_test(c, values);
    tcase_add_test(c, scalars);
    tcase_add_test(c, subscripts);
    tcase_add_test(c, made);
    suite_add_tcase(s, c);
    return s;
}
