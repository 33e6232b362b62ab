/* check_numbers.c: numbers without silent surprises: quotients and rests, casts, what goes
 * into a declared name, the type of an undeclared one, and notes on implied sums.
 */
#include "check.h"

#include <stdio.h>
#include <string.h>

START_TEST(quotients)
{
    EXPECT("tensor k dense i32 [4] = [7, -7, 6, 0]\ny(i) = k(i) / 2\n", "y", 3.5, -3.5, 3,
           0);
    EXPECT("tensor k dense i64 [4] = [7, -7, 6, 0]\ny(i) = k(i) // 2\n", "y", 3, -4, 3, 0);
    EXPECT("tensor k dense i8 [4] = [7, -7, 6, -6]\ny(i) = k(i) % 4\n", "y", 3, 1, 2, 2);
    EXPECT("tensor k dense i8 [4] = [7, -7, 6, -6]\ny(i) = k(i) % -4\n", "y", -1, -3, -2,
           -2);
    EXPECT("tensor x dense f64 [4] = [7.5, -7.5, 6, -0.5]\ny(i) = x(i) // 2\n", "y", 3, -4,
           3, -1);
    EXPECT("tensor x dense f32 [4] = [7.5, -7.5, 6, -0.5]\ny(i) = x(i) % 2\n", "y", 1.5,
           0.5, 0, 1.5);
    EXPECT("a = 1 // 0.1\n", "a", 9); /* 0.1 is a little more than a tenth */
    EXPECT("a = 7 / 2 + 7 // 2 + -7 // 2 + -7 % 3\n", "a", 4.5);
    EXPECT("tensor k dense u8 [2] = [200, 3]\ny(i) = k(i) / k(0)\n", "y", 1, 0.015);
    EXPECT("tensor A csr i64 [2,2] = { (0,1): 7 }\ntensor B dense i64 [2,2] = 2\n"
           "C(i,j) = A(i,j) // B(i,j)\n",
           "C", 0, 3, 0, 0);
    /* nothing is computed where A isn't stored */
    EXPECT("tensor A svec i64 [3] = { (1): 7 }\ntensor b dense i64 [3] = [0, 2, 0]\n"
           "y(i) = A(i) // b(i) + A(i) % b(i)\n",
           "y", 0, 4, 0);
    expect_error("n = 0\ny = 0 // n\n", STC_ERR_ARITHMETIC, "integer division by zero");
    expect_error("n = 0\ny = 0 % n\n", STC_ERR_ARITHMETIC, "integer division by zero");
    expect_error("tensor z c128 = 1\ny = z // 2\n", STC_ERR_PROGRAM, "`//` isn't defined");
    expect_error("n = 4\ntensor x dense f64 [n/2]\n", STC_ERR_PROGRAM,
                 "f64, not an integer");
    EXPECT("n = 4\ntensor x dense f64 [n//2] = 1\n", "x", 1, 1);
}
END_TEST

/* Counts of which only the truth is asked (bind_truth.c), next to those that aren't. */
START_TEST(truths)
{
    static const char a[] = "tensor A csr bool [2,3] = { (0,1): 1, (0,2): 1, (1,0): 1 }\n"
                            "tensor x dense bool [3] = [0, 1, 1]\n";
    char text[512];
#define TRUTH(statement, ...)                                                              \
    do {                                                                                   \
        snprintf(text, sizeof text, "%s" statement "\n", a);                               \
        EXPECT(text, "y", __VA_ARGS__);                                                    \
    } while (0)
    TRUTH("y(i) = bool(sum(j: A(i,j) * x(j)))", 1, 0);
    TRUTH("y(i) = sum(j: A(i,j) * x(j)) > 0", 1, 0);
    TRUTH("y(i) = sum(j: A(i,j) * x(j)) > 1", 1, 0);
    TRUTH("y(i) = sum(j: A(i,j) * x(j)) + A(i,0) != 0", 1, 1);
    TRUTH("y(i) = sum(j: A(i,j) * x(j)) - 2 * A(i,1) != 0", 0, 0);
    TRUTH("y(i) = sum(j: A(i,j) * x(j)) >= 1", 1, 0);
    TRUTH("y(i) = 0 < sum(j: A(i,j) * x(j))", 1, 0);
    TRUTH("y(i) = 1 <= sum(j: A(i,j) * x(j)) + 0.0 * A(i,0)", 1, 0);
    TRUTH("y(i) = sum(j: A(i,j) * x(j)) == 0", 0, 1);
    TRUTH("y(i) = 1 > sum(j: A(i,j) * x(j))", 0, 1);
    TRUTH("y(i) = sum(j: A(i,j) * x(j)) == 1", 0, 0);
    TRUTH("y(i) = sum(j: A(i,j) * x(j)) == 2", 1, 0);
    TRUTH("y(i) = sum(j: A(i,j) * x(j)) >= 0", 1, 1);
    TRUTH("y(i) = sum(j: A(i,j) * x(j)) < 0", 0, 0);
    TRUTH("y(i) = sum(j: f64(A(i,j)) * x(j)) > 0.0", 1, 0);
    TRUTH("y(i) = sum(j: A(i,j) * x(j)) >= 1.5", 1, 0);
    TRUTH("y(i) = i8(128 * sum(j: A(i,j) * x(j))) != 0", 0, 0);
    TRUTH("y(i) = any(j: A(i,j) * x(j)) != false", 1, 0);
    TRUTH("y(i) = true == any(j: A(i,j) && x(j))", 1, 0);
    TRUTH("y = sum(i,j: A(i,j)) * bool(sum(i,j: A(i,j) * x(j)))", 3);
    TRUTH("y(i) = (x(i(:2)) - 1) * A(i,0) > 0", 0, 0);
    TRUTH("y(i) = sum(j: A(i,j) * (1 // (1 - x(j) + x(j)))) > 0", 1, 1);
    expect_error(
        "tensor x dense bool [2] = 1\ny = sum(j: x(j) * (1 // (1 - x(j)) > 0)) > 0\n",
        STC_ERR_ARITHMETIC, "division by zero");
}
END_TEST

START_TEST(casts)
{
    EXPECT("tensor x dense f64 [4] = [1.9, -1.9, 300.5, 0]\ny(i) = i32(x(i))\n", "y", 1, -1,
           300, 0);
    EXPECT("tensor x dense f64 [4] = [1.9, -1.9, 300.5, 0]\ny(i) = i8(x(i))\n", "y", 1, -1,
           44, 0);
    EXPECT("tensor x dense f64 [4] = [1.9, -1.9, 300.5, 0]\ny(i) = bool(x(i))\n", "y", 1, 1,
           1, 0);
    EXPECT("tensor k dense i64 [2] = [-1, 65537]\ny(i) = u16(k(i))\n", "y", 65535, 1);
    EXPECT("tensor k dense i32 [2] = [2000000000, 1]\ny(i) = i32(k(i) + k(i)) / 1\n", "y",
           -294967296, 2);
    EXPECT("tensor z dense c128 [2] = [1+2j, 3]\ny(i) = f64(z(i))\n", "y", 1, 3);
    EXPECT("a = f32(0.1) == 0.1\n", "a", 1);
    EXPECT("a = f64(f32(0.1)) == 0.1\n", "a", 0);
    EXPECT("a = i8(300) + u8(-1) + i64(2.9) + bool(3)\n", "a", 44 + 255 + 2 + 1);
    /* a cast of a sum is one of the sum, whatever it is stored in */
    EXPECT("tensor x dense f64 [3] = 0.6\ntensor y f64\ny = i64(sum(i: x(i)))\n", "y", 1);
    EXPECT("tensor x dense f64 [3] = 0.6\ny = sum(i: i64(x(i)))\n", "y", 0);
    EXPECT("fn half(n) = i64(n / 2)\na = half(7)\n", "a", 3);
    EXPECT("fn i32(x) = x + 1\na = i32(2.5)\n", "a", 3.5);
    EXPECT("tensor y dense bool [2]\ny(i) = 1\n", "y", 1, 1);
    expect_error("tensor y dense bool [2]\ny(i) = 2\n", STC_ERR_PROGRAM,
                 "bool(…) casts it");
    /* a choice of literals goes where both fit, as they do alone */
    EXPECT("tensor A dense i32 [2] = [0, 5]\ntensor y dense u8 [2]\n"
           "y(i) = select(A(i), 3, 2)\n",
           "y", 2, 3);
    expect_error("tensor A dense i32 [2] = [0, 5]\ntensor y dense u8 [2]\n"
                 "y(i) = select(A(i), 3, -2)\n",
                 STC_ERR_PROGRAM, "u8(…) casts it");
    EXPECT("tensor f64 dense i64 [2] = [5, 6]\na = f64(1)\n", "a", 6);
}
END_TEST

START_TEST(declared_names_keep_their_kind)
{
    expect_error("tensor k i64\nk = 7 / 2.0\n", STC_ERR_PROGRAM, "constant|i64");
    expect_error("tensor x dense f64 [2]\ntensor k dense i64 [2]\nk(i) = x(i)\n",
                 STC_ERR_PROGRAM, "k is i64 and this is f64|i64(…)");
    expect_error("tensor x dense f64 [2]\ntensor k dense i64 [2] = 0\nk(i) += x(i)\n",
                 STC_ERR_PROGRAM, "k is i64 and this is f64|i64(…)");
    expect_error("tensor k dense i64 [2] = 1\nk(i) /= 2\n", STC_ERR_PROGRAM, "i64(…)");
    expect_error("tensor z c128 = 1\ntensor x f64\nx = z\n", STC_ERR_PROGRAM, "f64(…)");
    expect_error("n = 2\ntensor b bool\nb = n\n", STC_ERR_PROGRAM, "bool(…)");
    expect_error("n = 2\ntensor u u8\nu = n\n", STC_ERR_PROGRAM, "u8(…)");
    expect_error("tensor v dense f64 [2] = 1\ntensor B svec i64\nB = v\n", STC_ERR_PROGRAM,
                 "B is i64 and this is f64|i64(…)");
    EXPECT("tensor u u8\nu = 200\n", "u", 200);
    EXPECT("tensor u dense u8 [2]\nu(i) = select(i > 0, 240, 200)\n", "u", 200, 240);
    expect_error("tensor u dense u8 [2]\nu(i) = select(i > 0, -1, 200)\n", STC_ERR_PROGRAM,
                 "u8(…)");
    EXPECT("tensor k i8\nn = 300\nk = n\n", "k", 44); /* of one kind, it wraps */
    EXPECT("tensor x f32\ny = 0.1\nx = y\n", "x", (float)0.1);
    EXPECT("tensor k i64\ntensor u u64 = 7\nk = u\n", "k", 7);
}
END_TEST

/* The greatest truth value, or u8, leaves those of its type as they are, not numbers. */
START_TEST(limits_of_narrow_types)
{
    static const char head[] = "tensor D dense bool [2,3] = 1\ntensor v dense i64 [3] = 4\n"
                               "tensor U csr u8 [2,3] fill 255 = { (0,0): 3 }\n";
    char text[300];
#define OF_V(statement, ...)                                                               \
    snprintf(text, sizeof text, "%s%s", head, statement);                                  \
    EXPECT(text, "v", __VA_ARGS__)
    OF_V("v(j) &= D(i,j)\n", 0, 0, 0);
    OF_V("v(j) min= D(i,j)\n", 1, 1, 1);
    OF_V("v(j) &= U(i,j)\n", 0, 4, 4);
    OF_V("v(j) = 400\nv(j) min= U(i,j)\n", 3, 255, 255);
}
END_TEST

START_TEST(undeclared_names_take_the_type)
{
    EXPECT("t = 0\nt += 0.5\n", "t", 0.5);
    EXPECT("t = 0\nfor k in 0:4 { t += 0.5 }\n", "t", 2);
    EXPECT("t = 7\nt /= 2\n", "t", 3.5);
    EXPECT("x(i in 0:3) = i\nx(i) += 0.5\n", "x", 0.5, 1.5, 2.5);
    EXPECT("x(i in 0:3) = i\nx(i) *= 1.5\nx(i) += 1\n", "x", 1, 2.5, 4);
    EXPECT("tensor A dense f64 [2,2] = 0.25\ny(i in 0:2) = i\ny(i) += A(i,j)\n", "y", 0.5,
           1.5);
    EXPECT("tensor A csr f64 [2,2] = { (0,1): 0.5 }\ntensor K csr [2,2] = { (0,1): 1, "
           "(1,0): 2 }\n"
           "K(i,j) += A(i,j)\n",
           "K", 0, 1.5, 2, 0);
    EXPECT("t = true\nt += true\n", "t", 2);
    EXPECT("tensor x dense = [1, 2]\nx(i) = x(i) * 0.5\n", "x", 0.5, 1);
    /* what keeps some of its elements keeps its type */
    expect_error("x(i in 0:3) = i\nx(0) = 0.5\n", STC_ERR_PROGRAM, "0.5|i64");
    /* a statement that fails leaves the type, too */
    EXPECT("t = 0\nfor k in 0:1 { t += 2 }\nt = t // 2\n", "t", 1);
}
END_TEST

/* What a text is noted for, NULL: nothing. */
static void expect_note(const char *text, const char *note)
{
    heap h;
    stc_session *s;
    stc_machine *m = machine_open(&h, false);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s,
                              "tensor x dense f64 [3] = [3, 0, 4]\n"
                              "tensor A csr f64 [3,3] = { (0,1): 2 }\nn = 2",
                              "setting"));
    ck_assert_str_eq(stc_notes(m), "");
    ck_ok(m, stc_session_exec(s, text, "text"));
    const char *notes = stc_notes(m);
    if (note)
        ck_assert_msg(strstr(notes, note), "%s: `%s`, not `%s`", text, notes, note);
    else
        ck_assert_msg(!*notes, "%s: %s", text, notes);
    ck_ok(m, stc_session_exec(s, "a = 1", "after"));
    ck_assert_str_eq(stc_notes(m), "");
    stc_session_close(s);
    machine_shut(m, &h);
}

START_TEST(notes)
{
    expect_note("r = sqrt(x(i) * x(i))",
                "text:1:5: note: i is summed over the whole term, outside sqrt; sum(i: …) "
                "inside it says otherwise\n");
    expect_note(
        "r = n / (x(i) * A(i,j) * x(j) + 1)",
        "text:1:5: note: i, j are summed over the whole term, outside /; sum(i,j: …)");
    expect_note("c = A(i,j) > 1", "i, j are summed over the whole term, outside >;");
    expect_note("y = 2 ** x(i)", "i is summed over the whole term, outside **;");
    expect_note("y += exp(x(i)) + 1", "outside exp;");
    expect_note("y(j) = max(k: A(j,k) + x(i))",
                "i is summed over the whole term, outside max;");
    expect_note("fn f(v) = v + 1\ny = f(x(i))",
                "text:2:5: note: i is summed over the whole term, outside f;");
    expect_note("y = i64(x(i) * 0.5)", "outside i64;");
    expect_note("y(i) = sum(j, A(i,j))",
                "text:1:8: note: j itself is an operand of sum, and summed over the whole "
                "term; sum(j: …) reduces over it");
    expect_note("y(i) = max(j, A(i,j))", "max(j: …) reduces over it");
    expect_note("y(i) = max(i, x(i))", NULL);
    expect_note("y(i) = j * A(i,j)", NULL);
    expect_note("y(i) = min(A(i,j), 0)", "outside min;");
    expect_note("y = x(i) ** 2", NULL);
    expect_note("y = x(i) / n + x(i) * x(i) - 2 * -x(i)", NULL);
    expect_note("y = x(i) / (x(i) + 1)", NULL); /* one of them is outside */
    expect_note("r = sqrt(sum(i: x(i) * x(i)))", NULL);
    expect_note("c = sum(i,j: A(i,j) > 1)", NULL);
    expect_note("y(i) = sqrt(x(i)) / (A(i,j) * x(j) + 1)",
                "j is summed over the whole term");
    expect_note("y(i) = A(i,j) * x(j)", NULL);
    expect_note("m = n\nm max= exp(x(i))", NULL); /* no sum */
    expect_note("y = select(x(i) > 1, x(i), 0)", NULL);
    expect_note("w(i) = sqrt(x(i))", NULL);
}
END_TEST

/* However often a statement runs, and is compiled. */
START_TEST(notes_are_told_once)
{
    heap h;
    stc_session *s;
    stc_machine *m = machine_open(&h, false);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s,
                              "tensor x dense f64 [3] = 1\nfor k in 0:3 { y = exp(x(i)) }\n"
                              "for k in 0:3 { y = exp(x(i)); z = exp(k * x(i)) }\n",
                              "text"));
    int lines = 0;
    for (const char *p = stc_notes(m); *p; p++)
        lines += *p == '\n';
    ck_assert_int_eq(lines, 3);
    stc_program *p;
    const stc_decl d[] = {{0, "x", "dense", STC_F64, NULL, 1}};
    ck_ok(m, stc_compile(m, "y = exp(x(i))", d, 1, &p));
    ck_assert_ptr_nonnull(strstr(stc_notes(m), "eval:1:5: note: i is summed"));
    ck_assert_str_eq(stc_notes(NULL), "");
    stc_program_free(p);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

START_TEST(derived_reductions)
{
    static const char x[] =
        "tensor x dense f64 [5] = [3, 1, 4, 1, 5]\n"
        "tensor A csr f64 [3,4] = { (0,1): 2, (1,2): -3, (2,0): 7, (2,3): 7 }\n";
    char text[300];
#define OF_X(statement, ...)                                                               \
    snprintf(text, sizeof text, "%s%s", x, statement);                                     \
    EXPECT(text, "y", __VA_ARGS__)
    OF_X("y = argmin(i: x(i))", 1);
    OF_X("y = argmax(i: x(i))", 4);
    OF_X("y = argmax(k in 1:4: x(k))", 2);
    OF_X("y(i) = argmax(j: A(i,j))", 1, 0, 0);
    OF_X("y(i) = argmin(j: A(i,j))", 0, 2, 1);
    OF_X("y(i) = argmin(j: A(i,j) where A(i,j))", 1, 2, 0);
    OF_X("y = argmax(i: -x(i) where x(i) > 2 && i > 0) + 10 * argmin(i: x(i) where i > 1)",
         32);
    OF_X("y = mean(i: x(i) where x(i) > 1) + norm(i: x(i) where i == 2)", 8);
    OF_X("y(i) = mean(j: A(i,j) where A(i,j))", 2, -3, 7);
    OF_X("y = mean(i: x(i))", 2.8);
    OF_X("y = mean(i in 1:3: x(i))", 2.5);
    OF_X("y(i) = mean(j: A(i,j))", 0.5, -0.75, 3.5);
    OF_X("y = mean(i,j: A(i,j) > 0)", 0.25);
    OF_X("y = norm(i: 2 * x(i)) ** 2", 208);
    OF_X("y(j) = norm(i: A(i,j))", 7, 2, 3, 7);
    OF_X("y = max(x(0), 1, x(2), 2) - min(2, 3, 1)", 3);
    EXPECT("tensor z dense c128 [2] = [3j, 4]\ny = norm(i: z(i))\n", "y", 5);
    EXPECT("tensor z dense f64 [4] = [1, nan, 0, nan]\ny = argmin(i: z(i))\n", "y", 1);
    EXPECT("tensor z dense f32 [4] = [1, nan, 0, nan]\ny = argmax(i: z(i))\n", "y", 1);
    EXPECT("tensor z dense u32 [2] = [0, 1]\ny(k) = argmin(p in 2:4: -z(k))\n", "y", 2, 2);
    EXPECT("tensor z dense u8 [3] = 7\ny = argmax(i: z(i)) + 10 * argmin(i: z(i))\n", "y",
           0);
    EXPECT("tensor A coo i16 [4,6,9] = { (0,5,1): 1, (2,3,5): 4 }\n"
           "tensor E coo bool [5,4,7,4]\ny(j,i) = gcd(-A(i,j,i(1:8:2)), "
           "gcd(p: E(p(2:5),i(0:4:1),j(1:),i)))\nw = sum(i,j: y(j,i))\n",
           "w", 5);
    /* where nothing is stored it is a range's first, also in a sparse result */
    EXPECT("tensor C coo u8 [4,9] = { (3,1): 2 }\ntensor s svec i64 [9]\n"
           "s(j) = argmax(p in 2:4: C(p,j))\ny(j) = s(j)\n",
           "y", 2, 3, 2, 2, 2, 2, 2, 2, 2);
    expect_error("tensor A dense f64 [2,2]\na = argmin(i,j: A(i,j))\n", STC_ERR_PROGRAM,
                 "has one index");
    expect_error("tensor x dense f64 [2]\na = mean(x)\n", STC_ERR_PROGRAM, "mean(i: …)");
    expect_error("tensor x dense f64 [2]\na = sub(x(0), 1, 2)\n", STC_ERR_PROGRAM, "sub");
}
END_TEST

/* The first of the least and the greatest, as of a dense tensor: also where that is what
 * isn't stored. */
START_TEST(first_of_sparse)
{
    static const char *const formats_of[] = {"csr", "csc", "hash", "bytemap", "coo", "rle"};
    static const char *const fills[] = {"0.0", "inf", "-inf", "nan", "2.0"};
    for (int k = 0; k < 30; k++) {
        const char *f = formats_of[k % 6], *fill = fills[k / 6];
        char text[1500];
        snprintf(
            text, sizeof text,
            "tensor R csr f64 = random(20, 20, density=0.15, seed=5, integers(-3, 3))\n"
            "tensor A %s f64 [20,20] fill %s\nA(i,j) = select(R(i,j) == 0, %s, R(i,j))\n"
            "compact A\nA(3,j) = 2\nA(4,j) = j\nA(5,5) = %s\nA(6,6) = nan\n"
            "tensor x dense f64 = random(20, integers(-2, 2), seed=3)\n"
            "tensor D dense f64\nD(i,j) = A(i,j)\n"
            "a(i) = argmax(j: A(i,j)); b(i) = argmax(j: D(i,j))\n"
            "assert all(i: a(i) == b(i)), \"max\"\n"
            "a(j) = argmin(i: A(i,j)); b(j) = argmin(i: D(i,j))\n"
            "assert all(i: a(i) == b(i)), \"columns\"\n"
            "a(i) = argmin(j in 3:9: A(i,j) + x(j)); b(i) = argmin(j in 3:9: D(i,j) + "
            "x(j))\nassert all(i: a(i) == b(i)), \"range\"\n"
            "a(i) = argmax(j: abs(A(i,j)) - x(i)); b(i) = argmax(j: abs(D(i,j)) - x(i))\n"
            "assert all(i: a(i) == b(i)), \"function\"\n"
            "assert argmin(j: A(4,j)) == argmin(j: D(4,j)), \"row\"",
            f, fill, fill, fill);
        expect_within(text, 1000000);
    }
    /* at a cost of what is stored, rows without anything too */
    expect_within(
        "n = 100000\ntensor A csr i64 = random(n, n, density=0.00001, seed=1, "
        "integers(1, 9))\na(i) = argmax(j: A(i,j))\nb(i) = argmin(j: A(i,j) where "
        "A(i,j) >= 0)\nc(i) = argmin(j: -A(i,j))\nassert all(i: a(i) == c(i))\n"
        "tensor W csr f64 [n,n] fill inf\nW(i,j) = select(A(i,j), 1.0 * A(i,j), "
        "inf)\na(i) = argmin(j: W(i,j))\na(j) = argmax(i: A(i,j))\n"
        "c(j) = argmin(i: -A(i,j))\nassert all(i: a(i) == c(i))",
        10000000);
}
END_TEST

/* Label propagation as in a textbook: votes are sparse, though nobody says so. */
START_TEST(votes)
{
    expect_within("n = 20000\ntensor A csr i64 = random(n, n, density=0.0005, seed=1, "
                  "integers(1, 9))\nlab(i in 0:n) = (i * 7919) % n\nrepeat 3 {\n"
                  "T(i, l in 0:n) = sum(j: A(i,j) * (lab(j) == l))\n"
                  "new(i) = argmax(l: T(i,l))\n"
                  "one(i) = argmax(l in 0:n: sum(j: A(i,j) * (lab(j) == l)))\n"
                  "assert all(i: new(i) == one(i))\nassert stored(T) <= stored(A)\n"
                  "lab = new\n}",
                  20000000);
    /* dense as before: what a vector has, and what dense terms lead to */
    EXPECT("tensor s svec f64 [4] = { (1): 3 }\ntensor p dense i64 = [0,1,1,2]\n"
           "tensor D dense f64 [2,4] = 1\ntensor A csr f64 [2,4] = { (0,3): 5, (1,1): 2 }\n"
           "c(l in 0:3) = sum(j: s(j) * (p(j) == l))\n"
           "C(i, l in 0:3) = sum(j: D(i,j) * (p(j) == l))\n"
           "E(i, l in 0:3) = sum(j: A(i,j) * (p(j) == l))\n"
           "F(l in 0:3, i) = sum(j: D(i,j) * (p(j) == l))\n"
           "y = stored(c) + 10 * stored(C) + 100 * stored(E) + 1000 * stored(F)",
           "y", 3 + 60 + 200 + 6000);
}
END_TEST

START_TEST(orders)
{
    EXPECT("tensor x dense f64 [5] = [3, nan, 4, 3, -5]\np(i) = order(x(i))\n", "p", 4, 0,
           3, 2, 1);
    EXPECT("tensor x dense f32 [4] = [3, inf, -inf, 3]\np(i) = order(-x(i))\n", "p", 1, 0,
           3, 2);
    EXPECT("tensor s svec u8 [6] = { (1): 200, (4): 3 }\nq = order(s)\n", "q", 0, 2, 3, 5,
           4, 1);
    EXPECT("tensor k dense u64 [3] = [18446744073709551615, 0, 9]\nq = order(k)\n", "q", 1,
           2, 0);
    EXPECT("tensor k dense i64 [3] = [1, -1, 0]\ntensor q dense i32\nq(i) = order(k(i))\n",
           "q", 1, 2, 0);
    EXPECT("tensor k dense i64 [0] = []\nq = order(k)\nn = size(q,0)\n", "n", 0);
    EXPECT("fn order(x) = x + 1\ntensor k dense i64 [2] = [1, 2]\nq(i) = order(k(i))\n",
           "q", 2, 3);
    expect_error("tensor A dense f64 [2,2]\np = order(A)\n", STC_ERR_PROGRAM, "has 2");
    expect_error("tensor z dense c64 [2]\np = order(z)\n", STC_ERR_PROGRAM, "no order");
    expect_error("tensor x dense f64 [2]\ny(i) = 1 + order(x(i))\n", STC_ERR_PROGRAM,
                 "whole right side");
    expect_error("tensor x dense f64 [2]\ny(2*i) = order(x(i))\n", STC_ERR_PROGRAM,
                 "whole tensor");
}
END_TEST

Suite *suite_numbers(void)
{
    Suite *s = suite_create("numbers");
    TCase *c = tcase_create("numbers");
    tcase_add_test(c, quotients);
    tcase_add_test(c, truths);
    tcase_add_test(c, casts);
    tcase_add_test(c, declared_names_keep_their_kind);
    tcase_add_test(c, limits_of_narrow_types);
    tcase_add_test(c, undeclared_names_take_the_type);
    tcase_add_test(c, notes);
    tcase_add_test(c, notes_are_told_once);
    tcase_add_test(c, derived_reductions);
    tcase_add_test(c, first_of_sparse);
    tcase_add_test(c, votes);
    tcase_add_test(c, orders);
    suite_add_tcase(s, c);
    return s;
}
