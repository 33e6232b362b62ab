/* check_lookup.c: what loops learn of operands, and must forget in time. Operands in which
 * coordinates are looked up so often that a table of one fiber is made (vm/core/lookup.c):
 * what is read is what is there now, after the operand was assembled anew, stored into,
 * bound to another tensor or changed by the host.
 */
#include "../src/api/api.h"
#include "check.h"
#include <stdio.h>

static const char *const formats[] = {"hash", "(i) -> (i : hashed(700))", "bytemap",
                                      "svec"};
enum { FORMATS = sizeof formats / sizeof *formats };

/* A product with x, and the same with a dense copy of it, over and over. */
static const char *const change[] = {
    "",                                            /* the same                           */
    "x(i) = 2 * w(i)\nw(i) = x(i)",                /* other values                       */
    "x(i) = w(n - 1 - i)\nw(i) = x(i)",            /* as many coordinates, others        */
    "x(k) = 7\nk = (k + 11) % n",                  /* one is stored into what there is   */
    "x(i) = w(i) where i % 3 != k % 3\nk = k + 1", /* fewer                        */
};
enum { CHANGES = sizeof change / sizeof *change };

START_TEST(read_as_it_is)
{
    static const char *const sums[] = {"A(i,j) * x(j)", "abs(A(i,j)) * x(j) + A(i,j)",
                                       "x(j) * A(i,j) * A(i,j)"};
    char text[2000], dense[100];
    for (int c = 0; c < CHANGES; c++)
        for (int p = 0; p < 3; p++) {
            size_t at = 0;
            for (const char *q = sums[p]; (dense[at] = *q); q++, at++)
                if (*q == 'x') dense[at] = 'd';
            snprintf(text, sizeof text,
                     "n = 300\nk = 5\n"
                     "tensor A csr f64 [300,300] = random(density=0.1, seed=7)\n"
                     "tensor w svec f64 [300] = random(density=0.2, seed=8)\n"
                     "tensor x %s f64 [300]\ntensor d dense f64 [300]\n"
                     "tensor y dense f64 [300]\ntensor z dense f64 [300]\n"
                     "x(i) = w(i)\nwrong = 0\n"
                     "repeat 6 {\nd(i) = x(i)\ny(i) = %s\nz(i) = %s\n"
                     "wrong = wrong + sum(i: abs(y(i) - z(i)) > 1e-9)\n%s\n}",
                     formats[_i], sums[p], dense, change[c]);
            EXPECT(text, "wrong", 0);
        }
}
END_TEST

/* Fibers of a matrix, each asked for by all rows. */
START_TEST(fibers)
{
    char text[1200];
    snprintf(text, sizeof text,
             "tensor A csr f64 [400,200] = random(density=0.2, seed=7)\n"
             "tensor b csr f64 [4,200] = random(density=0.1, seed=9)\n"
             "tensor B (i,j) -> (i : dense, j : %s) f64 [4,200]\nB(i,j) = b(i,j)\n"
             "tensor d dense f64 [4,200]\nd(i,j) = b(i,j)\n"
             "tensor y dense f64 [4,400]\ntensor z dense f64 [4,400]\n"
             "y(l,i) = A(i,j) * B(l,j) with reorder(l,i,j)\nz(l,i) = A(i,j) * d(l,j)\n"
             "wrong = sum(l,i: abs(y(l,i) - z(l,i)) > 1e-9)",
             _i ? "hashed(300)" : "hashed");
    EXPECT(text, "wrong", 0);
}
END_TEST

/* Lists with all coordinates there are, or all but one in a row: the first, the last, any.
 */
START_TEST(full_lists)
{
    static const char *const rows[] = {
        "(i,j) -> (i : compressed, j : dense)", "dcsr",
        "(i,j) -> (i : dense, j : compressed)",
        "(i,j) -> (i : compressed(unordered), j : compressed)",
        "(i,j) -> (i : compressed, j : hashed)"};
    static const char *const lacks[] = {"true", "k != 0", "k != 69", "k != 31",
                                        "k != 5 || j != 39"};
    enum { ROWS = sizeof rows / sizeof *rows };
    char text[1200];
    snprintf(text, sizeof text,
             "tensor A csr f64 [50,70] = random(density=0.2, seed=7)\n"
             "tensor B %s f64 [70,40]\nB(k,j) = 1 + k + j / 8 where %s\ncompact B\n"
             "tensor D dense f64 [70,40]\nD(k,j) = B(k,j)\n"
             "tensor C csr f64 [50,40]\nC(i,j) = A(i,k) * B(k,j)\n"
             "tensor Y dense f64 [50,40]\nY(i,j) = A(i,k) * B(k,j)\n"
             "Z(i,j) = A(i,k) * D(k,j)\n"
             "wrong = sum(i,j: abs(C(i,j) - Z(i,j)) + abs(Y(i,j) - Z(i,j)) > 1e-9)",
             rows[_i % ROWS], lacks[_i / ROWS]);
    EXPECT(text, "wrong", 0);
}
END_TEST

static stc_tensor *few(stc_machine *m, int first, double element)
{
    const int64_t shape[] = {200};
    int64_t at[20];
    double vals[20];
    stc_tensor *t;
    for (int k = 0; k < 20; k++) {
        at[k] = first + 7 * k;
        vals[k] = element;
    }
    ck_ok(m, stc_tensor_from_coords(m, "hash", STC_F64, 1, shape, NULL, 20, at, vals, &t));
    return t;
}

/* Tensors of the same size, one after the other, perhaps at the same address; on one
 * thread and on two. */
START_TEST(bound_anew)
{
    const int64_t shape[] = {100, 200};
    static const stc_decl decl[] = {{0, "A", "csr", STC_F64, NULL, -1},
                                    {0, "x", "hash", STC_F64, NULL, -1},
                                    {0, "y", "dense", STC_F64, NULL, -1}};
    static double ones[100 * 200];
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p;
    stc_tensor *A;
    for (int k = 0; k < 100 * 200; k++)
        ones[k] = 1;
    machine_share(m, 1 + _i);
    ck_ok(m, stc_tensor_from_dense(m, "csr", STC_F64, 2, shape, NULL, ones, &A));
    ck_ok(m, stc_compile(m, "y(i) = A(i,j) * x(j)", decl, 3, &p));
    ck_ok(m, stc_bind(p, "A", A));
    for (int round = 0; round < 12; round++) {
        stc_tensor *x = few(m, round, round + 1);
        const stc_tensor *y;
        double got[100];
        ck_ok(m, stc_bind(p, "x", x));
        for (int again = 0; again < 3; again++) {
            ck_ok(m, stc_run(p));
            ck_ok(m, stc_result(p, "y", &y));
            ck_ok(m, stc_tensor_to_dense(y, got));
            for (int i = 0; i < 100; i++)
                ck_assert_double_eq(got[i], 20 * (round + 1));
        }
        stc_tensor_free(x);
    }
    stc_program_free(p);
    stc_tensor_free(A);
    machine_shut(m, &h);
}
END_TEST

/* The host moves entries of arrays that it lent, and says so. */
START_TEST(touched)
{
    static const stc_decl decl[] = {{0, "A", "csr", STC_F64, NULL, -1},
                                    {0, "x", "svec", STC_F64, NULL, -1},
                                    {0, "y", "dense", STC_F64, NULL, -1}};
    const int64_t shape[] = {50, 64}, n = 64;
    static double all[50 * 64];
    int32_t pos[] = {0, 3}, crd[] = {1, 20, 40};
    double vals[] = {1, 10, 100}, got[50];
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p;
    stc_tensor *A, *x;
    const stc_tensor *y;
    for (int k = 0; k < 50 * 64; k++)
        all[k] = k % 64;
    ck_ok(m, stc_tensor_from_dense(m, "csr", STC_F64, 2, shape, NULL, all, &A));
    ck_ok(m, stc_tensor_new(m, "svec", STC_F64, 1, &n, NULL, &x));
    ck_ok(m, stc_tensor_lend(x, 0, STC_POS, (stc_array){pos, 2, 4, 0}));
    ck_ok(m, stc_tensor_lend(x, 0, STC_CRD, (stc_array){crd, 3, 4, 0}));
    ck_ok(m, stc_tensor_lend_values(x, vals, 3));
    ck_ok(m, stc_compile(m, "y(i) = A(i,j) * x(j)", decl, 3, &p));
    ck_ok(m, stc_bind(p, "A", A));
    ck_ok(m, stc_bind(p, "x", x));
    for (int round = 0; round < 9; round++) {
        for (int k = 0; k < 3; k++)
            crd[k] = (k * 20 + round) % 64;
        stc_tensor_touch(x);
        ck_ok(m, stc_run(p));
        ck_ok(m, stc_result(p, "y", &y));
        ck_ok(m, stc_tensor_to_dense(y, got));
        for (int i = 0; i < 50; i++)
            ck_assert_double_eq(got[i], crd[0] + 10.0 * crd[1] + 100.0 * crd[2]);
    }
    stc_program_free(p);
    stc_tensor_free(x);
    stc_tensor_free(A);
    machine_shut(m, &h);
}
END_TEST

/* Operands that are nothing but 1, or 0 where that is added, but for the last of them: sums
 * over what two of their fibers share, of short ones, long ones and such as many rows have.
 */
START_TEST(ones)
{
    static const char *const types[] = {"f64", "f32", "i64", "i8", "bool", "c64"};
    enum { TYPES = 6 };
    const int type = _i % TYPES, rare = _i / TYPES % 2, last = _i / TYPES / 2;
    char text[2500];
    int n = snprintf(
        text, sizeof text,
        "tensor R csr f64 [70,70] = random(density=%s, seed=7)\n"
        "tensor Q csr f64 [70,70] = random(density=0.3, seed=8)\n"
        "tensor A csr %s [70,70]\nA(i,j) = select(R(i,j) != 0, 1, 0)\n"
        "tensor B csr %s [70,70]\nB(i,j) = select(Q(i,j) != 0, 1, 0)\ncompact A\ncompact "
        "B\n"
        "%s"
        "tensor D dense %s [70,70]\nD(i,j) = A(i,j)\ntensor E dense %s [70,70]\n"
        "E(i,j) = B(i,j)\n"
        "tensor u dense f64 [70]\ntensor v dense f64 [70]\n"
        "u(i) = sum(k: abs(A(i,k) * B(i,k)))\nv(i) = sum(k: abs(D(i,k) * E(i,k)))\n"
        "wrong = sum(i: u(i) != v(i))\n"
        "s = sum(i,j,k: A(i,k) * B(j,k) * B(j,i))\n"
        "t = sum(i,j,k: D(i,k) * E(j,k) * E(j,i))\n"
        "wrong = wrong + (abs(s - t) > 0)\n",
        rare ? "0.02" : "0.4", types[type], types[type],
        !last       ? ""
        : type == 4 ? "B(69,69) = true\nB(69,69) = false\n"
                    : "B(69,69) = 1\nB(69,69) = 3\nA(69,69) = 1\n",
        types[type], types[type]);
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "w(i) = any(k: A(i,k) != 0 && B(i,k) != 0)\n"
                  "z(i) = any(k: D(i,k) != 0 && E(i,k) != 0)\n"
                  "wrong = wrong + sum(i: w(i) != z(i))\n");
    if (type == 0)
        snprintf(text + n, sizeof text - (size_t)n,
                 "tensor L csr f64 [70,70] fill inf\nL(i,j) = select(R(i,j) != 0, 0, inf)\n"
                 "tensor M csr f64 [70,70] fill inf\nM(i,j) = select(Q(i,j) != 0, 0, inf)\n"
                 "compact L\ncompact M\n%s"
                 "tensor l dense f64 [70,70]\nl(i,j) = L(i,j)\n"
                 "tensor m dense f64 [70,70]\nm(i,j) = M(i,j)\n"
                 "near(i) = min(k: L(i,k) + M(i,k))\nby(i) = min(k: l(i,k) + m(i,k))\n"
                 "wrong = wrong + sum(i: near(i) != by(i))\n",
                 last ? "M(69,69) = -2\nL(69,69) = 0\n" : "");
    EXPECT(text, "wrong", 0);
}
END_TEST

/* A value that was 1 is another one, and 1 again: the host says so. */
START_TEST(ones_touched)
{
    static const stc_decl decl[] = {{0, "A", "csr", STC_F64, NULL, -1},
                                    {0, "B", "csr", STC_F64, NULL, -1},
                                    {0, "y", "dense", STC_F64, NULL, -1}};
    enum { ROWS = 8, COLS = 5, N = ROWS * COLS };
    const int64_t shape[] = {ROWS, COLS};
    int32_t pos[ROWS + 1], crd[N];
    double vals[2][N], got;
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p;
    stc_tensor *x[2];
    const stc_tensor *y;
    for (int k = 0; k < N; k++)
        crd[k] = k % COLS, vals[0][k] = vals[1][k] = 1;
    for (int i = 0; i <= ROWS; i++)
        pos[i] = i * COLS;
    for (int b = 0; b < 2; b++) {
        ck_ok(m, stc_tensor_new(m, "csr", STC_F64, 2, shape, NULL, &x[b]));
        ck_ok(m, stc_tensor_lend(x[b], 1, STC_POS, (stc_array){pos, ROWS + 1, 4, 0}));
        ck_ok(m, stc_tensor_lend(x[b], 1, STC_CRD, (stc_array){crd, N, 4, 0}));
        ck_ok(m, stc_tensor_lend_values(x[b], vals[b], N));
    }
    ck_ok(m, stc_compile(m, "y = A(i,j) * B(i,j)", decl, 3, &p));
    ck_ok(m, stc_bind(p, "A", x[0]));
    ck_ok(m, stc_bind(p, "B", x[1]));
    for (int round = 0; round < 9; round++) {
        vals[round % 2][round] = round % 3 == 1 ? 5 : 1;
        stc_tensor_touch_values(x[round % 2]);
        ck_ok(m, stc_run(p));
        ck_ok(m, stc_result(p, "y", &y));
        ck_ok(m, stc_tensor_to_dense(y, &got));
        double want = 0;
        for (int k = 0; k < N; k++)
            want += vals[0][k] * vals[1][k];
        ck_assert_double_eq(got, want);
    }
    stc_program_free(p);
    stc_tensor_free(x[0]);
    stc_tensor_free(x[1]);
    machine_shut(m, &h);
}
END_TEST

/* Without memory for the table, too. */
START_TEST(starved)
{
    statement_starves(&(tiers_case){
        "tensor A csr f64 [60,60] = random(density=0.3, seed=7)\n"
        "tensor x hash f64 [60] = random(density=0.2, seed=8)\ntensor y dense f64 [60]",
        "y(i) = A(i,j) * x(j)", NULL});
}
END_TEST

Suite *suite_lookup(void)
{
    Suite *s = suite_create("lookup");
    TCase *all = tcase_create("lookup");
    tcase_add_loop_test(all, read_as_it_is, 0, FORMATS);
    tcase_add_loop_test(all, fibers, 0, 2);
    tcase_add_loop_test(all, full_lists, 0, 25);
    tcase_add_loop_test(all, bound_anew, 0, 2);
    tcase_add_test(all, touched);
    tcase_add_loop_test(all, ones, 0, 24);
    tcase_add_test(all, ones_touched);
    tcase_add_test(all, starved);
    suite_add_tcase(s, all);
    return s;
}
