/* check_gather.c: subscripts that are computed: what they read and write, what is stored of
 * it, where they may not be computed at all, and what is said of those that lie outside;
 * and what is changed in place. */
#include "check.h"
#include <string.h>

#define P "tensor p dense i64 = [2,0,3,1]\n"
#define X "tensor x dense f64 = [10,20,30,40]\n"
#define Q "tensor q dense i64 = [2,-1,7,1]\n"
#define S "tensor s svec f64 [4] = { (0): 1, (3): 4 }\n"
#define A(format) "tensor A " format " f64 [3,4] = { (0,1): 1, (2,0): 3, (2,3): 4 }\n"
#define R "tensor r dense u8 = [2,2,0,1]\n"

#define PRINTS(script, want) expect_printed(false, script, STC_OK, want)
#define FAILS(script, status, want) expect_printed(false, script, status, want)

START_TEST(values)
{
    EXPECT(P X "y(i) = x(p(i))", "y", 30, 10, 40, 20);
    EXPECT(P X "y(i) = x(p(p(i)))", "y", 40, 30, 20, 10);
    EXPECT(P X "t = sum(i: i * x(p(i)))", "t", 150);
    EXPECT(P X "t = x(p(i)) * x(i)", "t", 30 * 10 + 10 * 20 + 40 * 30 + 20 * 40);
    EXPECT(P X "t = x(p(i)) + x(0)", "t", 110);
    EXPECT(X "y(i in 0:6) = x(i >> 1)", "y", 10, 10, 20, 20, 30, 30);
    EXPECT(X "tensor y dense f64 [2]\ny(i) = x(i*i + i)", "y", 10, 30);
    EXPECT(P X "m = min(i: x(p(i)) - 15)", "m", -5);
    EXPECT(P S "m = min(i: s(p(i)))", "m", 0);
    EXPECT(P S "m = max(i: s(p(i)) - 5)", "m", -1);
    EXPECT(X "tensor u dense u8 = [1,2]\ny(i) = x(u(i) - 1)", "y", 10, 20);
    EXPECT(P X "y(i) = x(p(i))\ny(i) += x(p(i)) * 2", "y", 90, 30, 120, 60);
}
END_TEST

/* Levels that locate, and that are searched; in both orders; and conversions. */
START_TEST(formats)
{
    static const char *const formats_of[] = {"dense",     "csr",  "csc", "dcsr",   "coo",
                                             "bcsr(2,2)", "hash", "ell", "csc:1,0"};
    char text[600];
    for (int k = 0; k + 1 < (int)(sizeof formats_of / sizeof *formats_of); k++) {
        snprintf(text, sizeof text,
                 R "tensor A %s f64 [3,4] = { (0,1): 1, (2,0): 3, (2,3): 4 }\n"
                   "B(i,j) = A(r(i), j)\ntensor C dense f64\nC(i,j) = A(r(i), r(j))\n"
                   "tensor D dense f64\nD(j,i) = A(i, r(j))\ntensor E dense f64\n"
                   "E(i,j) = B(i,j)\nk = 2\nv(j) = A(k,j)\nw(i) = A(i, k-2)\n"
                   "d(i) = v(i) + 0 * i\ntensor c dense f64\nc(i) = w(i) + 0 * i",
                 formats_of[k]);
        EXPECT(text, "E", 3, 0, 0, 4, 3, 0, 0, 4, 0, 1, 0, 0, 0, 0, 0, 0);
        EXPECT(text, "C", 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 0, 1, 0, 0, 0, 0);
        EXPECT(text, "D", 0, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0);
        EXPECT(text, "d", 3, 0, 0, 4);
        EXPECT(text, "c", 0, 0, 3);
    }
}
END_TEST

/* The entries that are printed are those that are stored. */
START_TEST(stored)
{
    PRINTS(R A("csr") "B(i,j) = A(r(i), j)\nprint B",
           "csr f64 [4,4], 5 stored\n(0,0) 3\n(0,3) 4\n(1,0) 3\n(1,3) 4\n(2,1) 1\n");
    PRINTS(P S "y(i) = s(p(i))\nprint y", "svec f64 [4], 2 stored\n(1) 1\n(2) 4\n");
    PRINTS(P S X "y(i) = s(p(i)) * x(i)\nprint y",
           "svec f64 [4], 2 stored\n(1) 20\n(2) 120\n");
    PRINTS(Q X "y(i) = pad x(q(i))\nprint y", "svec f64 [4], 2 stored\n(0) 30\n(3) 20\n");
    /* what the mask leaves alone is read in a loop of its own, by the same subscripts */
    PRINTS("tensor c dense i32 [4] = [2, 0, 1, 1]\ntensor d dense f64 [3] = [0, 1, 2]\n" X
           "tensor y svec f64 [4] = { (1): 7, (2): 8 }\n"
           "y(i) = x(i) where d(c(i))\nprint y",
           "svec f64 [4], 4 stored\n(0) 10\n(1) 7\n(2) 30\n(3) 40\n");
    PRINTS("tensor c dense i32 [4] = [2, 0, 1, 1]\n"
           "tensor d dense f64 [3,2] = [[0, 1], [1, 0], [0, 0]]\n"
           "tensor y csc f64 [2,4] = { (0,1): 5, (1,1): 7, (1,2): 8 }\n"
           "y(j,i) = 3 where d(c(i),j)\nprint y",
           "csc f64 [2,4], 5 stored\n(0,1) 5\n(1,1) 3\n(0,2) 3\n(1,2) 8\n(0,3) 3\n");
}
END_TEST

/* A side that isn't taken is read nowhere. */
START_TEST(sides)
{
    EXPECT(Q X "y(i) = select(q(i) >= 0 && q(i) < 4, x(q(i)), -1)", "y", 30, -1, -1, 20);
    EXPECT(Q P X "y(i) = select(q(i) >= 0 && q(i) < 4, x(p(q(i))), -1)", "y", 40, -1, -1,
           10);
    EXPECT(Q X "y(i) = q(i) < 0 || q(i) > 3 || x(q(i)) > 25", "y", 1, 1, 1, 0);
    EXPECT(Q S "t = sum(i: select(abs(q(i)) < 3 && q(i) > 0, s(q(i)), 7))", "t", 14);
    EXPECT(Q X "tensor y dense bool = [0,1,1,0]\ny(i) or= x(q(i)) > 25", "y", 1, 1, 1, 0);
}
END_TEST

START_TEST(outside)
{
    FAILS(Q X "y(i) = x(q(i))", STC_ERR_SHAPE,
          "3: this subscript is -1, and the dimension has size 4 at (1)");
    FAILS(Q S "y(i) = s(q(i))", STC_ERR_SHAPE,
          "3: this subscript is -1, and the dimension has size 4 at (1)");
    FAILS(Q A("csr") "B(i,j) = A(q(i), j)", STC_ERR_SHAPE,
          "3: this subscript is -1, and the dimension has size 3 at (1)");
    FAILS(Q A("csr") "B(i,j) = A(i, q(j))", STC_ERR_SHAPE,
          "3: this subscript is -1, and the dimension has size 4 at (0,1)");
    FAILS(X "k = 4\nprint x(k)", STC_ERR_SHAPE,
          "3: this subscript is 4, and the dimension has size 4");
    FAILS(Q X "y(i) = select(q(i) < 7, x(q(i)), 0)", STC_ERR_SHAPE,
          "3: this subscript is -1, and the dimension has size 4 at (1)");
    FAILS(X "y(i) = x(x(i))", STC_ERR_PROGRAM,
          "2: a subscript is an integer, and this is of type f64");
    FAILS(X "y(i in 0:4) = x(i / 2)", STC_ERR_PROGRAM,
          "2: a subscript is an integer, and this is of type f64; `//` floors");
    FAILS(
        P X "y = x(sum(i: p(i)))", STC_ERR_SHAPE,
        "3: the subscript sum(i: p(i)) leaves dimension 0 of x: it needs size 7, and there "
        "is 4");
    FAILS(P X "y(i) = x(max(j: p(j) * i) - p(i))", STC_ERR_PROGRAM,
          "3: a subscript can't reduce; assign the reduction to a tensor first, and "
          "use that here");
    FAILS(P X "y(i) = select(i > 0, x(p(i) // i), 0)", STC_ERR_PROGRAM,
          "3: this subscript could fail where its side isn't taken; assign it to a "
          "tensor first");
    FAILS(P X "y(i) = x(p(i)) with precompute(x(p(i)), W, {i})", STC_ERR_PROGRAM,
          "3: precompute: a subscript of the statement is computed");
}
END_TEST

#define Y "tensor y dense f64 = [1,2,3,4]\n"
#define D "tensor d dense i64 = [1,1,2,1]\n"

/* Of several values for one element the last one stays; op= takes all. */
START_TEST(scatters)
{
    EXPECT(P X Y "y(p(i)) = x(i)", "y", 20, 40, 10, 30);
    EXPECT(D X Y "y(d(i)) = x(i)", "y", 1, 40, 30, 4);
    EXPECT(D S Y "y(d(i)) = s(i)", "y", 1, 4, 0, 4);
    EXPECT(D X Y "y(d(i)) += x(i)", "y", 1, 72, 33, 4);
    EXPECT(D X Y "y(d(i)) -= x(i)", "y", 1, -68, -27, 4);
    EXPECT(D X Y "y(d(i)) *= x(i)", "y", 1, 16000, 90, 4);
    EXPECT(D X Y "y(d(i)) max= x(i) - 20", "y", 1, 20, 10, 4);
    EXPECT(D X "tensor y dense bool [4]\ny(d(i)) or= x(i) > 35", "y", 0, 1, 0, 0);
    EXPECT(D X "tensor y dense f32 [4] = 0\ny(d(i)) += x(i)", "y", 0, 70, 30, 0);
    /* sums of indices that meet, into places that are there */
    EXPECT(X "tensor z dense f64 [9] = 1\ntensor f dense f64 = [1,1,2]\n"
             "z(2*i+p) += x(i) * f(p)",
           "z", 11, 11, 41, 21, 71, 31, 101, 41, 81);
    EXPECT(X "tensor z dense f64 [7] = 1\nz(i+j) -= x(i) * x(j) / 100 with reorder(j,i)",
           "z", 0, -3, -9, -19, -24, -23, -15);
    EXPECT(X "tensor z dense f64 [7]\nz(i+j) max= x(i) - x(j)", "z", 0, 10, 20, 30, 20, 10,
           0);
    EXPECT(P Y "y(p(i)) = y(i) + y(0)", "y", 3, 5, 2, 4); /* what y was before */
    EXPECT("tensor d dense i64 = [1,1,2]\n" A(
               "csr") "tensor y dense f64 [4]\ny(d(i)) += A(i,j)",
           "y", 0, 1, 7, 0);
    EXPECT(P X "tensor A dense f64 [4,4]\nA(p(i), i) = x(i)", "A", 0, 20, 0, 0, 0, 0, 0, 40,
           10, 0, 0, 0, 0, 0, 30, 0);
    EXPECT(R A("csr") "tensor T csr f64 [3,3]\nT(i, r(j)) += A(i,j)\ntensor E dense f64\n"
                      "E(i,j) = T(i,j)",
           "E", 0, 0, 1, 0, 0, 0, 0, 4, 3);
    EXPECT(R A("csr") "tensor T csr f64 [3,3] = { (0,0): 9, (0,2): 1 }\n"
                      "T(i, r(j)) -= A(i,j)\nT(r(i(0:3)), i) = 5\ntensor E dense f64\n"
                      "E(i,j) = T(i,j)",
           "E", 9, 0, 5, 0, 0, 0, 5, 5, -3);
    EXPECT(X "tensor v svec f64 [4] = { (1): 7 }\nk = 2\nv(k) = 3\nv(k-1) = 4\n"
             "tensor E dense f64\nE(i) = v(i)",
           "E", 0, 4, 3, 0);
    EXPECT(D X "tensor y dense i8 [4] = 7\ny(d(i)) or= x(i) > 35", "y", 7, 1, 1, 7);
    FAILS(D X "tensor y dense u32 [4]\ny(d(i)) or= x(i) > 35", STC_ERR_PROGRAM,
          "4: `||=` at a computed subscript gives truth values: expected a tensor of bool "
          "or of signed integers, y is u32");
    EXPECT(X "t = last(3, 4)\nu = last(i: x(i))", "u", 40);
}
END_TEST

/* What is written costs what it is, and what fails on the way has changed nothing. */
START_TEST(in_place)
{
    EXPECT(X "k = 2\nx(k) = x(k-1) + x(k+1)\nx(k) += 0.5", "x", 10, 20, 60.5, 40);
    EXPECT(X "x(i(1:3)) = 0\nx(0) += 1", "x", 11, 0, 0, 40);
    EXPECT(Y "tensor w svec f64 [4] fill inf = { (2): 1, (3): 9 }\ny(i) min= w(i)", "y", 1,
           2, 1, 4);
    EXPECT(Y S "y(i) -= s(i)", "y", 0, 2, 3, 0);
    EXPECT(Y A("csr") "y(j) += 10 * A(i,j)", "y", 31, 12, 3, 44);
    EXPECT("tensor B dense f64 [3,4] = 1\n" A("csr") "B(i,j) *= A(i,j) + 1", "B", 1, 2, 1,
           1, 1, 1, 1, 1, 4, 1, 1, 5);
    FAILS(Q X "print x\nx(q(i)) = 5", STC_ERR_SHAPE,
          "10  20  30  40\n4: this subscript is -1, and the dimension has size 4 at (1)");
    expect_printed(true,
                   X Q "def f(v, q) -> w { v(q(3)) = 7; w(i) = v(i) }\nu = f(x, q)\n"
                       "print u, x",
                   STC_OK, "10  7  30  40\n10  20  30  40\n");
    expect_printed(false,
                   "tensor y dense i64 = [4,6,8]\ntensor d dense i64 = [2,0,1]\n"
                   "y(i) = y(i)\ny(d(i) + 1 - 1) += 4 // (i - 1)\n",
                   STC_ERR_ARITHMETIC, "4: integer division by zero at (1)");
    FAILS("tensor s rle f64 [3] fill 2\ntensor d dense i64 = [1,1]\ns(d(i)) += 1",
          STC_ERR_PROGRAM,
          "3: `+=` at a computed subscript needs levels that find a place, as dense, "
          "compressed, hashed and bytemap do, or a fill that changes nothing; s has "
          "neither");
    FAILS(D "y(d(i)) = 1", STC_ERR_PROGRAM,
          "2: a computed subscript writes into a tensor that is there, and y has no shape "
          "yet");
    FAILS(D "tensor y dense i64 [4]\ny(d(i)) += 0.5", STC_ERR_PROGRAM,
          "3: y is i64 and this is f64, which doesn't fit; i64(…) casts it");
}
END_TEST

/* What comes in the order of its places, once each, is put together as it comes; the rest
 * goes through a workspace. */
START_TEST(in_place_in_order)
{
    static const struct {
        const char *text, *format, *plan;
    } each[] = {
        {"y(i) = 7 where s(i)", "svec", "begin"},
        {"y(i) = 2*y(i) where s(i) > 1", "svec", "begin"},
        {"y(i) min= s(i)", "svec", "begin"},
        {"y(i) = 7 where s(i)", "hash", "workspace"},
        {"y(i % 3) += s(i)", "svec", "workspace"},
        {"y(i) = 7 where s(i) with workspace(hash)", "svec", "workspace"},
    };
    for (int k = 0; k < (int)(sizeof each / sizeof *each); k++) {
        const stc_decl d[] = {{0, "y", "dense", STC_F64, NULL, 1},
                              {0, "s", each[k].format, STC_F64, NULL, 1}};
        char *plan;
        stc_machine *m;
        stc_program *p;
        ck_assert_int_eq(stc_open(NULL, &m), STC_OK);
        ck_ok(m, stc_compile(m, each[k].text, d, 2, &p));
        ck_ok(m, stc_program_explain(p, "plan", &plan));
        ck_assert_msg(strstr(plan, each[k].plan), "%s: %s", each[k].text, plan);
        stc_text_free(m, plan);
        stc_program_free(p);
        stc_close(m);
    }
}
END_TEST

/* Sparse tensors, too, where the places are there, and where they aren't; what isn't stored
 * is the fill. */
START_TEST(in_place_sparse)
{
    static const char *const formats_of[] = {"csr", "csc", "dcsr", "hash", "bytemap"};
    char text[1200], want[100];
    for (int k = 0; k < (int)(sizeof formats_of / sizeof *formats_of); k++) {
        snprintf(text, sizeof text,
                 P "tensor T %s f64 [4,4] = { (0,1): 1, (2,0): 3, (2,3): 4 }\n"
                   "tensor z dense f64 = [10,20,30,40]\nT(p(i), i) += z(i)\n"
                   "T(p(p(i)), i) -= 1\nT(p(i), i) *= 2\nT(2, p(i)) = i\n"
                   "n = stored(T)\ntensor E dense f64\nE(i,j) = T(i,j)",
                 formats_of[k]);
        EXPECT(text, "E", 0, 42, 0, -1, 0, 0, -1, 80, 1, 3, 0, 2, -1, 0, 60, 0);
        EXPECT(text, "n", 10);
    }
    EXPECT("tensor s svec f64 [3] fill 2\ntensor d dense i64 = [1,1]\ns(d(i)) += 1\n"
           "tensor E dense f64\nE(i) = s(i)",
           "E", 2, 4, 2);
    EXPECT("tensor h hash f64 [4] fill inf = { (1): 5 }\ntensor w svec f64 [4] fill inf = "
           "{ (1): 7, (3): 2 }\nh(i) min= w(i)\nn = stored(h)\nt = h(1) + h(3)",
           "t", 7);
    /* what a mask names, and no more: also where the value is the fill */
    for (int k = 3; k < 5; k++) {
        snprintf(text, sizeof text,
                 X "tensor m svec bool [4] = { (0): true, (1): false, (3): true }\n" A(
                     "csr") "tensor h %s f64 [4] = { (1): 5, (3): 6 }\nh(j) = 2 * x(j) "
                            "where m(j)\nh(j) += 1 where m(j)\ntensor g %s f64 [3] = { "
                            "(0): 7, (1): 8 }\ntensor o svec bool [3] = { (1): true }\n"
                            "g(i) = sum(j: A(i,j)) where o(i)\ntensor E dense f64\n"
                            "E(i) = h(i)\ns = g(0) + 10 * g(1) + stored(h)",
                 formats_of[k], formats_of[k]);
        EXPECT(text, "E", 21, 5, 0, 81);
        EXPECT(text, "s", 10);
    }
    /* of what a mask names there is stored what the right side's space has; what was stored
     * stays so in place, and is dropped where the tensor is made anew */
    static const char *const kept[] = {"2 3 3 2 3 1 3 3", "2 3 3 2 3 1 3 3",
                                       "1 2 3 1 2 1 2 3"};
    static const char *const kinds[] = {"hash", "bytemap", "svec"};
    for (int k = 0; k < 3; k++) {
        snprintf(
            text, sizeof text,
            "tensor h %s f64 [6] = { (1): 5, (3): 6 }\n"
            "tensor m svec bool [6] = { (0): true, (1): true, (2): false, (4): true }\n"
            "tensor s svec f64 [6] = { (0): 1, (5): 4 }\ntensor z csr f64 [6,2] = "
            "{ (0,1): 0 }\ntensor g %s f64 [6]\n"
            "a = h\na(j) = 0 where m(j)\nb = h\nb(j) = s(j) where m(j)\n"
            "c = h\nc(j) += s(j) where m(j)\nd = h\nd(j) *= s(j) where m(j)\n"
            "e = h\ne(j) = sum(k: z(j,k)) where m(j)\ng(j) = s(j) where m(j)\n"
            "i = h\ni(j) = (j == 0) * 7 where m(j)\n"
            "l = h\nl(j) = s(j) + j where j == 4\n"
            "assert a(1) == 0 && b(1) == 0 && d(1) == 0 && e(1) == 0 && i(1) == 0\n"
            "assert b(0) == 1 && c(1) == 5 && i(0) == 7 && l(4) == 4 && a(3) == 6\n"
            "print stored(a), stored(b), stored(c), stored(d), stored(e), stored(g), "
            "stored(i), stored(l)",
            kinds[k], kinds[k]);
        snprintf(want, sizeof want, "%s\n", kept[k]);
        expect_printed(false, text, STC_OK, want);
    }
    /* what fails leaves it as it was, places too */
    expect_printed(false, P "tensor s svec i64 [4] = { (1): 6 }\ns(p(i)) += 4 // (i - 1)\n",
                   STC_ERR_ARITHMETIC, "3: integer division by zero at (1)");
    expect_printed(
        false,
        D X "def f(v, d) -> w { v(d(0)) += 1; w = stored(v) }\ntensor s svec f64 [4] = "
            "{ (0): 6 }\nu = f(s, d)\nprint u, stored(s)",
        STC_OK, "2 1\n");
}
END_TEST

/* Statements that name much more than is stored: of n * n what a few have in each row. */
static const char *const wide[] = {
    "C(i,j) = A(i, p(j))",
    "C(i,j) = A(p(i), p(j))",
    "C(i,j) = A(p(i), q(j))",
    "C(j,i) = A(q(i), j)",
    "C(i,j) = 2 * A(i, q(j)) + A(i,j)",
    "C(i,j) = A(i, q(j)) * A(j, p(i))",
    "C(i,j) = x(j) * A(i, q(j))",
    "C(i,j) = pad A(i, q(j) - 5)",
    "y(i) = sum(j: A(i, q(j)) * x(j))",
    "y(i) = max(j: A(i, q(j)))",
    "C(q(i),j) = A(i,j)",
    "C(i,q(j)) = A(i,j)",
    "C(p(i),q(j)) = A(i,j)",
    "C(q(i),j) = x(i) * A(j,i) + i * A(i,j)",
    "C(q(i),j) = C(i,j)",
};
#define WIDE (int)(sizeof wide / sizeof *wide)

/* p leads everywhere, q to some places several times, and to others never. Numbers are
 * whole: threads may add them in another order. */
static void wide_operands(char *out, size_t size, const char *kept, int n, int in_a_row)
{
    snprintf(out, size,
             "n = %d\ntensor A %s f64 [n,n] = random(integers(1, 9), density=%g, seed=1)\n"
             "tensor C %s f64 [n,n] = random(integers(1, 9), density=%g, seed=2)\n"
             "tensor p dense i64 [n]\np(i) = (i * 77 + 5) %% n\n"
             "tensor q dense i64 [n]\nq(i) = (i * 4 + 3) %% n\n"
             "tensor x dense f64 [n]\nx(i) = 1 + i %% 3\ntensor y dense f64 [n]\n",
             n, kept, (double)in_a_row / n, kept, (double)in_a_row / n);
}

/* They cost what is stored: n * n is 9,000,000 steps. */
START_TEST(wide_by_what_is_stored)
{
    static const char *const formats_of[] = {"csr", "csc", "coo"};
    for (int k = 0; k < WIDE; k++)
        for (int f = 0; f < 3; f++) {
            char text[900];
            wide_operands(text, sizeof text, formats_of[f], 3000, 10);
            strcat(strcat(text, wide[k]), "\n");
            expect_within(text, 2000000);
        }
}
END_TEST

/* … and give what dense operands give. */
START_TEST(wide_values)
{
    static const char *const formats_of[] = {"csr", "csc", "coo", "dcsr", "hash"};
    for (int k = 0; k < WIDE; k++)
        for (int f = 0; f < 5; f++) {
            char text[1500], dense[100];
            int n = 0;
            for (; wide[k][n]; n++)
                dense[n] = wide[k][n] == 'A'   ? 'D'
                           : wide[k][n] == 'C' ? 'E'
                           : wide[k][n] == 'y' ? 'z'
                                               : wide[k][n];
            dense[n] = 0;
            wide_operands(text, sizeof text, formats_of[f], 120, 6);
            const size_t end = strlen(text);
            snprintf(text + end, sizeof text - end,
                     "tensor D dense f64 [n,n]\nD(i,j) = A(i,j)\ntensor E dense f64 [n,n]\n"
                     "E(i,j) = C(i,j)\ntensor z dense f64 [n]\n%s\n%s\n"
                     "wrong = sum(i,j: C(i,j) != E(i,j)) + sum(i: y(i) != z(i))\n",
                     wide[k], dense);
            EXPECT(text, "wrong", 0);
        }
}
END_TEST

/* Allocations of a script. */
static int64_t allocations(const char *script)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, script, "test"));
    const int64_t n = h.calls;
    stc_session_close(s);
    machine_shut(m, &h);
    return n;
}

/* Of a tensor of 90,000 entries four are changed: the rounds' work is limited to less than
 * a look at all of them. */
START_TEST(sparse_by_the_change)
{
    static const char *const formats_of[] = {"csr", "hash", "bytemap", "dense"};
    for (int k = 0; k < 4; k++) {
        char text[400];
        snprintf(text, sizeof text,
                 P "n = 300\ntensor T %s f64 [n,n]\nT(i,j) = 1 + i + j\nrepeat 300 { "
                   "T(p(i), p(j)) += 1 }\nassert T(0,0) == 301\nrepeat 300 { T(3,5) = 7 }\n"
                   "repeat 100 { T(i,i) += 1 }\nassert T(3,5) == 7 && T(9,9) == 119\n"
                   "tensor M csr bool [n,n] = "
                   "{ (0,0): true }\nrepeat %d { T(i,j) += 1 where M(i,j) }",
                 formats_of[k], k ? 300 : 0);
        expect_within(text, 2000000);
    }
}
END_TEST

/* No statement in a loop costs n for a frontier of three: a round of all n is more than
 * what a thousand of these may take. */
START_TEST(frontiers)
{
    static const char *const each[] = {"y(j) min= few(j)",
                                       "level(j) = k where few(j) < inf",
                                       "y(p(i)) = k",
                                       "level(p(i)) += k",
                                       "h(j) min= few(j)",
                                       "h(j) = k where few(j) < inf",
                                       "seen(j) = true where few(j) < inf"};
    for (int k = 0; k < (int)(sizeof each / sizeof *each); k++) {
        char text[600];
        snprintf(text, sizeof text,
                 "n = 50000\ntensor y dense f64 [n] = inf\nlevel(i in 0:n) = -1\n"
                 "tensor h hash f64 [n] fill inf\ntensor seen bytemap bool [n]\n"
                 "tensor p dense i64 = [5, 49999, 7]\ntensor few svec f64 [n] fill inf = "
                 "{ (3): 5, (47777): 2, (8): 1 }\nfor k in 0:1000 { %s }",
                 each[k]);
        expect_within(text, 250000);
    }
}
END_TEST

/* A hashed vector gets new places at a cost of what is new: rounds that add three to up to
 * 12,000 take fewer steps than there are entries in a few of them. */
START_TEST(hashed_vector_grows)
{
    static const char *const kinds[] = {"hash f64 [100000]", "hash f64 [100000] fill 7",
                                        "(i) -> (i : hashed(index32)) f64 [100000]",
                                        "(i) -> (i : hashed(index64)) i16 [100000]"};
    for (int k = 0; k < 4; k++) {
        char text[900];
        snprintf(text, sizeof text,
                 "n = 100000\ntensor h %s\n"
                 "for k in 0:4000 {\nh(7 * k) = k\n"
                 "tensor one svec i16 [n]\none(7 * k + 1) = k\nh(i) += one(i)\n"
                 "tensor m svec bool [n]\nm(7 * k + 2) = true\nh(i) = 3 where m(i)\n}\n"
                 "assert stored(h) == 12000\n"
                 "assert sum(k in 0:4000: h(7 * k)) == 7998000\n"
                 "assert h(27995) == 3 && h(27994) == 3999 + h(99999)",
                 kinds[k]);
        expect_within(text, 1000000);
    }
}
END_TEST

/* So does a matrix whose modes share one hashed level, as do bytes; what lists coordinates
 * is made anew. Elements outside are refused, whatever they are flattened to. */
START_TEST(flat_grows)
{
    static const char *const kinds[] = {"hashed", "hashed(index64)", "bytemap",
                                        "compressed"};
    for (int k = 0; k < 4; k++) {
        char text[1000];
        const int rounds = k < 3 ? 2000 : 20;
        snprintf(text, sizeof text,
                 "n = 300\ntensor h (i,j) -> (flat(i,j) : %s) f64 [n,n] fill 1\n"
                 "tensor d dense f64 [n,n] = 1\n"
                 "for k in 0:%d {\nh(k // 7, k %% 7) = k\nd(k // 7, k %% 7) = k\n"
                 "tensor one coo i16 [n,n]\none(k %% 9, k // 9 + 8) = k\n"
                 "h(i,j) += one(i,j)\nd(i,j) += one(i,j)\n"
                 "tensor m coo bool [n,n]\nm(n - 1 - k // 7, k %% 7) = true\n"
                 "h(i,j) = 3 where m(i,j)\nd(i,j) = 3 where m(i,j)\n}\n"
                 "assert all(i,j: h(i,j) == d(i,j)) && stored(h) >= %d\n"
                 "h(i(2:4), j(0:3)) *= 2\nassert h(3,2) == 2 * d(3,2)",
                 kinds[k], rounds, rounds);
        expect_within(text, k < 3 ? 1500000 : 3000000);
    }
    expect_error("tensor h (i,j) -> (flat(i,j) : hashed) f64 [3,4]\n"
                 "tensor p dense i64 = [1,2]\nh(p(k), 2 * p(k)) = 1\n",
                 STC_ERR_SHAPE, "this subscript is 4, and the dimension has size 4");
}
END_TEST

/* It is then what it would be if it had been packed: copied, written and read, merged,
 * emptied; and a statement that fails leaves no place behind. */
START_TEST(hashed_vector_grown)
{
    char path[SCRATCH_PATH], text[1200];
    scratch(path, "grown.stt");
    snprintf(
        text, sizeof text,
        "tensor h hash i64 [50]\nfor k in 0:9 { h(k * k %% 50) = k }\nsave h \"%s\"\n"
        "tensor g = \"%s\"\nassert stored(g) == 9 && all(i: g(i) == h(i))\n"
        "g(49) = 5\nc = g\nc(48) = 6\nassert stored(g) == 9 && stored(c) == 10\n"
        "tensor s svec i64 [50]\ns(i) = h(i) + g(i)\nassert s(36) == 12 && s(49) == 12\n"
        "t = sum(i: s(i))\nassert t == 70\n"
        "def f(h, n) -> all { for k in 0:n { h(k) = 1 }; all = stored(h) }\n"
        "u = f(h, 37)\nassert u == 38 && stored(h) == 9\n"
        "h(i) = 0\nh(i(3:6)) = 2\nh(i(10:40)) += i\nassert sum(i: h(i)) == 441",
        path, path);
    expect_within(text, 100000);
    remove(path);
    stc_machine *m;
    stc_session *s;
    ck_assert_int_eq(stc_open(NULL, &m), STC_OK);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, "tensor h hash i64 [9] = { (3): 8 }\n" P, "t"));
    ck_assert_int_eq(stc_session_exec(s, "h(2*p(i)) += 8 // p(i)", "t"),
                     STC_ERR_ARITHMETIC);
    ck_ok(m, stc_session_exec(s,
                              "assert stored(h) == 1 && h(3) == 8\n"
                              "for k in 4:9 { h(k) = k }",
                              "t"));
    /* buckets beyond two a coordinate are checked as all are */
    const stc_tensor *h;
    ck_ok(m, stc_session_get(s, "h", &h));
    tensor *t = (tensor *)h;
    index_array *buckets = &t->level[0].a[STC_AUX];
    int64_t last = buckets->len - 1;
    ck_assert_int_gt(buckets->len, 12);
    ck_ok(m, tensor_check_afresh(t));
    while (index_get(buckets, last) >= 0)
        last--;
    index_set(buckets, last, 6);
    ck_assert_int_eq(tensor_check_afresh(t), STC_ERR_DATA);
    index_set(buckets, last, 0);
    ck_assert_int_eq(tensor_check_afresh(t), STC_ERR_DATA);
    index_set(buckets, last, -1);
    ck_ok(m, tensor_check_afresh(t));
    stc_session_close(s);
    stc_close(m);
}
END_TEST

/* A statement with scalars in subscripts is compiled once for all rounds of a loop. */
START_TEST(compiled_once)
{
#define ROUNDS(n)                                                                          \
    X A("csr") "s = 0.0\nfor k in 0:" #n                                                   \
               " { s += x(k % 4); v(j) = A(k % 3, j); x(k % 4) = s; x(k % 3) += 1 }"
    const int64_t few = allocations(ROUNDS(100)), many = allocations(ROUNDS(200));
    ck_assert_msg(many - few < 100 * 40, "%lld allocations in 100 rounds",
                  (long long)(many - few));
}
END_TEST

/* What a program's operand is stays as it is: its result is a tensor of its own, also where
 * nothing was written. */
START_TEST(operands_stay)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const stc_decl d[] = {{0, "y", "dense", STC_F64, NULL, 1},
                          {0, "s", "svec", STC_F64, NULL, 1}};
    const double one[] = {1, 2, 3}, at2[] = {0, 0, 5}, none[] = {0, 0, 0};
    const int64_t n = 3;
    stc_program *p = NULL;
    stc_tensor *y, *s[2];
    ck_ok(m, stc_compile(m, "y(i) += s(i)", d, 2, &p));
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 1, &n, NULL, one, &y));
    ck_ok(m, stc_tensor_from_dense(m, "svec", STC_F64, 1, &n, NULL, at2, &s[0]));
    ck_ok(m, stc_tensor_from_dense(m, "svec", STC_F64, 1, &n, NULL, none, &s[1]));
    ck_ok(m, stc_bind(p, "y", y));
    for (int k = 0; k < 2; k++) {
        stc_tensor *t;
        double was[3], is[3];
        ck_ok(m, stc_bind(p, "s", s[k]));
        ck_ok(m, stc_run(p));
        ck_ok(m, stc_take(p, "y", &t));
        ck_ok(m, stc_tensor_to_dense(t, is));
        ck_ok(m, stc_tensor_to_dense(y, was));
        ck_assert(was[2] == 3 && is[1] == 2 && is[2] == (k ? 3 : 8));
        stc_tensor_free(t);
        stc_tensor_free(s[k]);
    }
    stc_program_free(p);
    stc_tensor_free(y);
    machine_shut(m, &h);
}
END_TEST

/* The loop is shared by threads. */
START_TEST(shared)
{
    EXPECT(
        "tensor p dense i64 [3000] = arange\ntensor x dense f64 [3000] = arange\n"
        "y(i) = x(2999 - p(i)) with parallelize(i)\nt = y(0) + sum(i: y(i) * (i > 2997))",
        "t", 3000);
}
END_TEST

/* Lanes that a mask leaves out aren't stored, also if a later one is outside: these would
 * all have one place, which is another error. */
START_TEST(left_out_before_outside)
{
    static const char text[] =
        ".registers v 2 i 3 m 2 c 4\n"
        ".tensor t0 \"A\" input f64 (0) format 1 compressed(0)\n"
        ".tensor t1 \"p\" input i64 (0) format 1 dense(0)\n"
        ".tensor t2 \"y\" output f64 (0) [e0 e0] format 2 dense(0) compressed(1)\n"
        ".extent e0 dim t1 0\n.extent e1 dim t0 0\n"
        ".merge g0 lo root hi e0 universe produce 0x3 { locate c0 t1 0 root root 1 }\n"
        ".merge g1 lo root hi e0 universe produce 0xc { known root, known root }\n"
        ".merge g2 lo root hi e0 universe produce 0x1 { }\n"
        ".code\nbegin t2\nloop i2, m1, g2\nat c3, t2, 0, root, i2\nloop i0, m0, g0\nload "
        "v0, t1, c0\nindex i1, v0\n"
        "open c1, t0, 0, root\nseek c1, i1\nbounded i1, e1\npresent m0, 1, c1\n"
        "skip m0, g1\nat c2, t2, 1, c3, i1\nload v1, t0, c1\nstore t2, c2, v1\nend\n"
        "keep t2, 0, c3\nend\nfinish t2\nhalt\n";
    const int64_t shape[1] = {6}, four[1] = {4}, at[6] = {0, 0, 0, 9, 0, 0};
    const double one[1] = {1};
    for (int no_super = 0; no_super < 2; no_super++) {
        heap h;
        stc_machine *m = machine_open(&h, no_super);
        stc_program *p;
        stc_tensor *a, *b;
        ck_ok(m, stc_program_assemble(m, text, "t", &p));
        ck_ok(m,
              stc_tensor_from_coords(m, "svec", STC_F64, 1, shape, NULL, 1, four, one, &a));
        ck_ok(m, stc_tensor_from_dense(m, "dense", STC_I64, 1, shape, NULL, at, &b));
        ck_ok(m, stc_bind(p, "A", a));
        ck_ok(m, stc_bind(p, "p", b));
        ck_assert_int_eq(stc_run(p), STC_ERR_SHAPE);
        ck_assert_str_eq(stc_error(m)->message,
                         "this subscript is 9, and the dimension has size 6 at (0,3)");
        stc_program_free(p);
        stc_tensor_free(a);
        stc_tensor_free(b);
        machine_shut(m, &h);
    }
}
END_TEST

/* A side that isn't taken may read outside: where that is known ahead, there are two ways
 * through the loops, and behind both of them the result is whole. */
START_TEST(sides_of_blocks)
{
    static const char *const conditions[] = {"false", "true"};
    char text[300];
    snprintf(text, sizeof text,
             "tensor D dense f64 [2,3]\nD(i,j) = 3 * i + j\nn = %d\ng = %s\n"
             "tensor y dense f64 [5]\ny(j+2) = select(g, D(n & 3, 1), 9)\n"
             "y(j+4) = sum(p: D(n & 3, p) where g)",
             _i / 2 ? 2 : 1, conditions[_i % 2]);
    if (_i == 3) {
        expect_error(text, STC_ERR_SHAPE, "subscript");
    } else if (_i == 1) {
        EXPECT(text, "y", 0, 0, 4, 4, 12);
    } else {
        EXPECT(text, "y", 0, 0, 9, 9, 0);
    }
}
END_TEST

Suite *suite_gather(void)
{
    Suite *s = suite_create("gather");
    TCase *c = tcase_create("gather");
    tcase_add_test(c, values);
    tcase_add_test(c, formats);
    tcase_add_test(c, stored);
    tcase_add_test(c, sides);
    tcase_add_loop_test(c, sides_of_blocks, 0, 4);
    tcase_add_test(c, outside);
    tcase_add_test(c, scatters);
    tcase_add_test(c, in_place);
    tcase_add_test(c, in_place_in_order);
    tcase_add_test(c, in_place_sparse);
    tcase_add_test(c, sparse_by_the_change);
    tcase_add_test(c, frontiers);
    tcase_add_test(c, hashed_vector_grows);
    tcase_add_test(c, flat_grows);
    tcase_add_test(c, hashed_vector_grown);
    tcase_add_test(c, compiled_once);
    tcase_add_test(c, operands_stay);
    tcase_add_test(c, shared);
    tcase_add_test(c, left_out_before_outside);
    tcase_add_test(c, wide_by_what_is_stored);
    tcase_add_test(c, wide_values);
    suite_add_tcase(s, c);
    return s;
}
