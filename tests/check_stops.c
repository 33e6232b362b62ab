/* check_stops.c: runs of what computes on compressed operands, and at affine coordinates,
 * are stopped wherever they can be: by each allocation in turn, and by a limit of one step
 * more each time. What comes of it is that error or the right result; and after it the same
 * session makes the right one. */
#include "../src/api/api.h"
#include "check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What other loops have in them where it is called isn't run by any of the faster tiers. */
#define FUNCTION "fn h(x, y) { while (x > 4) { x = x - 3 } return x + y }"

/* What statements take. */
static const char *const operands[] = {
    "P rle i64 [6,40]\nP(i,j) = (i + 1) * (j // 3) % 5",
    "Q rle i64 [6,40]\nQ(i,j) = (i + j // 7) % 4",
    "E (i,j) -> (i : dense, j : rle(index64)) i64 [6,40]\nE(i,j) = (i + j // 5) % 3",
    "L lz77 i64 [6,40]\nL(i,j) = i + j % 3 * (j > 9)",
    "K lz77 i64 [6,40]\nK(i,j) = i % 2 + j % 4 * (j < 30)",
    "S (i,j) -> (flat(i,j) : lz77) i64 [6,40]\nS(i,j) = (i + j) % 3",
    "U (i,j) -> (i : compressed, j : rle) i64 [6,40]\nU(i,j) = i % 2 * (j // 4)",
    "V (i,j) -> (i : dense, j : lz77(index64)) i64 [6,40]\nV(i,j) = i + j % 4",
    "W (i,j) -> (i : compressed, j : dense) i64 [6,40]\nW(i,j) = (i % 2) * (j + "
    "1)\ncompact W",
    "A csr i64 [6,40]\nA(i,j) = (i != 3) * ((i * 5 + j * 3) % 7 == 2)\ncompact A",
    "D dcsr i64 [6,40]\nD(i,j) = (i * 3 + j * 5) % 11 == 1\ncompact D",
    "C coo i64 [6,40]\nC(i,j) = (i % 4 != 1) * ((i * 3 + j) % 5 == 1)\ncompact C",
    "H (i,j) -> (i : dense, j : compressed(index64)) i64 [6,40]\nH(i,j) = (i + j) % 6 == "
    "0\n"
    "compact H",
    "X dense i64 [6,40]\nX(i,j) = i * j % 11",
    "Z dense i64 [6,40]\nZ(i,j) = i + j % 3",
    "F dense i64 [3,3]\nF(i,j) = 1 + i + 2 * j",
    "M rle i64 [4,400]\nM(i,j) = (i + j // 30) % 7",
    "N rle i64 [4,3]\nN(i,j) = i + j",
    "O rle i64 [6,40]\nO(i,j) = j < 20",
    "c dense i64 [40]\nc(j) = j % 6",
    "d dense i64 [400]\nd(j) = j % 5",
    "r rle i64 [40]\nr(j) = j // 9",
    "e (i) -> (i : rle(index64)) i64 [40]\ne(j) = j // 5",
    "l lz77 i64 [40]\nl(j) = j % 3",
    "m lz77 i64 [40]\nm(j) = j % 5 * (j > 4)",
    "n lz77 i64 [40]\nn(j) = j % 2 + j // 30",
    "o lz77 i64 [40]\no(j) = j % 7",
    "s lz77 i64 [40]\ns(j) = 4",
    "t lz77 i64 [40]\nt(j) = j // 10",
    "w lz77 i64 [40]\nw(j) = j % 4",
    "u svec i64 [6]\nu(i) = i % 2 * i\ncompact u",
    "v svec i64 [40]\nv(j) = j % 5 == 2\ncompact v",
    "f dense i64 [3]\nf(i) = i + 1",
    "g dense i64 [6]\ng(i) = i + 1",
    "a lz77 i64 [0]",
    "Y (i,j) -> (i : compressed, j : rle) i64 [9,12]\nY(i,j) = (i % 4 != 2) * (j // 4)",
    "T (k,i,j) -> (k : dense, i : dense, j : rle) i64 [3,6,40]\n"
    "T(k,i,j) = k + i * (j // 7)",
    "G dense i64 [6,4]\nG(i,k) = i * 4 + k",
    "I dense i64 [3,4]\nI(i,k) = i * 4 + k",
    "B csr i64 [60,1200]\nB(i,j) = (i * 5 + j * 3) % 7 == 2\ncompact B",
};
enum { OPERANDS = sizeof operands / sizeof *operands };

#define TO_RUNS                                                                            \
    "rle", "lz77", "(i,j) -> (flat(i,j) : lz77)", "(i,j) -> (i : compressed, j : rle)"
#define TO_SOME "dense", "csr", "dcsr", "coo"
#define TO_RARE                                                                            \
    "bytemap", "(i,j) -> (i : dense, j : hashed)", "(i,j) -> (i : hashed, j : rle)",       \
        "(i,j) -> (i : dense, j : hashed(70))",                                            \
        "(i,j) -> (i : dense, j : compressed(index64))"
#define TO_DEEP                                                                            \
    "(k,i,j) -> (k : compressed, i : dense, j : rle)",                                     \
        "(k,i,j) -> (k : compressed, i : compressed, j : lz77)",                           \
        "(k,i,j) -> (k : hashed, i : dense, j : compressed)", "dense", "rle"
#define TO_ALL TO_RUNS, TO_SOME, TO_RARE

/* A statement, and formats of R, each in turn; NULL: whatever is chosen. */
static const struct row {
    const char *text, *to[13];
} rows[] = {
    {"R(i,j) = P(i,j) * 2", {TO_ALL}},
    {"R(i,j) = P(i,j) + Q(i,j)", {TO_ALL}},
    {"R(i,j) = L(i,j) + K(i,j) * 2", {TO_ALL}},
    {"R(i,j) = L(i,j) * X(i,j)", {TO_ALL}},
    {"R(i,j) = S(i,j) + S(i,j) * S(i,j)", {TO_ALL}},
    {"R(i,j) = U(i,j) + 1", {TO_ALL}},
    {"R(i,j) = U(i,j) * P(i,j)", {TO_ALL}},
    {"R(i,j) = A(i,j) * P(i,j)", {TO_ALL}},
    {"R(i,j) = A(i,j) * E(i,j)", {TO_ALL}},
    {"R(i,j) = H(i,j) * P(i,j)", {TO_ALL}},
    {"R(i,j) = C(i,j) * P(i,j)", {TO_ALL}},
    {"R(i,j) = A(i,j) * P(i,j) * X(i,j) * W(i,j)", {TO_ALL}},
    {"R(i,j) = A(i,j) + L(i,j)", {TO_ALL}},
    {"R(i,j) = u(i) * P(i,j) * r(j)", {TO_ALL}},
    {"R(i,j) = P(i,j) * c(j) + i", {TO_ALL}},
    {"R(i,j) = P(i,j) * j", {TO_ALL}},
    {"R(i,j) = E(i,j) * V(i,j)", {TO_ALL}},
    {"R(i,j) = E(i,j) + X(i,j)", {TO_ALL}},
    {"R(i,j) = V(i,j) * c(j)", {TO_ALL}},
    {"R(i,j) = 3 + 0 * P(i,j)", {TO_ALL}},
    {"R(i,j) = g(i) + 0 * r(j)", {TO_ALL}},
    {"R(i,j) = max(P(i,j), g(i))", {TO_ALL}},
    {"R(i,j) = P(i,j) + sum(k in 0:4: r(k))", {TO_ALL}},
    {"R(j,i) = P(i,j) + Q(i,j)", {TO_ALL}},
    {"R(i,j) = P(i,j) + W(i,j)", {TO_ALL}},
    {"R(i,j) = P(i,j) * W(i,j)", {TO_ALL}},
    {"R(i) = P(i,j) * c(j)", {NULL, "svec", "rle"}},
    {"R(i) = P(i,j) * (Q(i,j) + r(j))", {NULL, "svec", "lz77"}},
    {"R(i) = L(i,j) * c(j)", {NULL, "svec", "rle"}},
    {"R(i) = max(j: L(i,j) - K(i,j))", {NULL, "svec", "rle"}},
    {"R(i) = prod(j: O(i,j) + 1)", {NULL, "svec", "rle"}},
    {"R(i) = xor(j: L(i,j) & 3)", {NULL, "svec", "rle"}},
    {"R(j) = P(i,j) + Q(i,j)", {NULL, "svec", "rle"}},
    {"R = P(i,j) * L(i,j)", {NULL}},
    {"R(i) = A(i,j) * P(i,j)", {NULL, "svec"}},
    {"R(i) = sum(j: C(i,j) * P(i,j)) + max(j: P(i,j))", {NULL, "svec"}},
    {"R(i) = 2 + sum(j: P(i,j) * c(j))", {NULL, "rle"}},
    {"R(i) = g(i) * sum(j: P(i,j) * r(j))", {NULL, "rle"}},
    {"R(i) = P(i,j) * (c(j) + Q(i,j)) * c(j)", {NULL}},
    {"R(i) = (P(i,j) + 1) * c(j)", {NULL}},
    {"R(i) = (P(i,j) + Q(i,j)) * c(j)", {NULL}},
    {"R(i) = P(i,j) + c(j)", {NULL}},
    {"R(i) = P(i,j) - P(i,j) * c(j)", {NULL}},
    {"R(i) = P(i,j) * e(j)", {NULL}},
    {"R(i) = E(i,j) * r(j)", {NULL}},
    {"R(i) = P(i,j) * l(j)", {NULL}},
    {"R(i) = g(i) * P(i,j) * c(j)", {NULL}},
    {"R(i) = M(i,j) * d(j)", {NULL}},
    {"R(i) = N(i,j) * f(j)", {NULL}},
    {"R(i) = r(j) * c(j) + g(i)", {NULL}},
    {"R(i) = sum(j: r(j) * c(j)) * g(i)", {NULL}},
    {"R(i) = sum(j in 3:20: P(i,j) * c(j))", {NULL}},
    {"R(i) = sum(j in 3:20: P(i,j) * r(j))", {NULL}},
    {"R(i) = sum(j in 3:20: A(i,j) * P(i,j) * c(j))", {NULL}},
    {"R(i) = sum(j in 3:20: X(i,j) * P(i,j))", {NULL}},
    {"R(j) = l(j) + m(j) + n(j) + o(j) + s(j) + t(j) + w(j)", {"lz77", "rle", NULL}},
    {"R(j) = l(j) * s(j) + m(j)", {"lz77", "rle", NULL}},
    {"R(j) = l(j) + v(j)", {"lz77", "rle", NULL}},
    {"R(j) = l(j) * 2", {"lz77", NULL}},
    {"R(j) = a(j) * 2", {"lz77", NULL}},
    {"R(i,j) = D(i,j) * (A(i,j) + P(i,j))", {"csr", "dcsr", "dense"}},
    {"R(i,j) = Y(i,j) * 2", {"rle", "csr", "dense"}},
    {"R(i,j) = C(i,j) * P(i,j) * h(k: G(i,k))", {"csr", "dense", "dcsr"}},
    {"R(i,j) = P(i,j) * Q(i,j) * h(k: G(i,k))", {TO_RUNS}},
    {"R(i,j) = P(i,j) * X(i,j) * h(k: G(i,k))", {TO_RUNS}},
    {"R(i,j) = L(i,j) * h(k: G(i,k))", {TO_RUNS}},
    {"R(k,i,j) = T(k,i,j) * h(l: I(k,l))", {TO_DEEP}},
    {"R(k,i,j) = T(k,i,j) + P(i,j) * h(l: I(k,l))", {TO_DEEP}},
    {"R(i) = sum(j: P(i,j) * c(j)) * h(k: G(i,k))", {NULL}},
    {"R(k,i) = sum(j: T(k,i,j) * c(j)) * h(l: I(k,l))", {NULL}},
    {"R(i,j) = h(k: G(i,k)) * A(i,j+p) * f(p)", {TO_SOME}},
    {"R(i,j) = u(i) + W(i,j+p) * f(p)", {TO_SOME}},
    {"R(i,j) = g(i) + A(i,j+p) * W(i,p(0:3))", {TO_SOME}},
    {"R(i,j) = B(i+p,j+q) * F(p,q)", {NULL}},
    {"R(i,j) = B(i+p,j+q) * F(p,q) with reorder(i,j,p,q)", {"csr"}},
    {"R(i,k) = B(i,j+p) * F(p,k)", {NULL}},
    {"R(i,j) = B(i+p,j+q+9) * F(p,q)", {NULL}},
    {"R(i,j) = A(i+p,j+q) * F(p,q)", {TO_SOME}},
    {"R(i,j) = A(i+p,j+q) * F(p,q) with reorder(i,j,p,q)", {TO_SOME}},
    {"R(i,j) = A(i+p,j+q) * F(p,q) with reorder(i,p,j,q)", {TO_SOME}},
    {"R(i,j) = D(i+p,37-j+q) * F(p,q) with reorder(i,j,p,q)", {TO_SOME}},
    {"R(i,j) = D(2*i+p,2*j+q) * F(p,q)", {TO_SOME}},
    {"R(i) = u(i+p) * f(p)", {NULL, "svec"}},
    {"R(i,k) = A(i,j+p) * F(p,k)", {TO_SOME}},
};
enum { ROWS = sizeof rows / sizeof *rows, FORMATS = 13, TEXT = 300 };

typedef struct trial {
    heap h;
    stc_machine *m;
    stc_session *s;
    stc_program *p;
    char text[TEXT]; /* of the statement, behind what R is */
    double *want;    /* what it makes */
    int64_t n;
} trial;

static void begin(trial *t, const struct row *r, const char *to, bool no_super)
{
    char text[TEXT];
    t->m = machine_open(&t->h, no_super);
    ck_ok(t->m, stc_session_open(t->m, &t->s));
    ck_ok(t->m, stc_session_exec(t->s, FUNCTION, "function"));
    for (int k = 0; k < OPERANDS; k++) {
        snprintf(text, sizeof text, "%.*s(", (int)strcspn(operands[k], " "), operands[k]);
        if (!strstr(r->text, text)) continue;
        snprintf(text, sizeof text, "tensor %s", operands[k]);
        ck_ok(t->m, stc_session_exec(t->s, text, "operands"));
    }
    snprintf(t->text, sizeof t->text, "%s%s%s", to ? to : "", to ? "\n" : "", r->text);
    if (to) {
        snprintf(text, sizeof text, "tensor R %s i64", to);
        ck_ok(t->m, stc_session_exec(t->s, text, "result"));
    }
    t->p = NULL;
}

static void prepare(trial *t)
{
    const char *name, *text = strchr(t->text, '\n');
    bool result;
    stc_program_free(t->p);
    const stc_status st = stc_session_compile(t->s, text ? text + 1 : t->text, &t->p);
    ck_assert_msg(!st, "%s: %s", t->text, stc_error(t->m)->message);
    for (int k = 0; (name = stc_program_name(t->p, k, &result)); k++) {
        const stc_tensor *in;
        if (result) continue;
        ck_ok(t->m, stc_session_get(t->s, name, &in));
        ck_ok(t->m, stc_bind(t->p, name, (stc_tensor *)in));
    }
}

static void end(trial *t)
{
    stc_program_free(t->p);
    stc_session_close(t->s);
    machine_shut(t->m, &t->h);
}

/* R's elements, to be freed. */
static double *elements(trial *t, int64_t *n)
{
    const stc_tensor *r;
    stc_tensor *dense;
    const void *values;
    ck_ok(t->m, stc_result(t->p, "R", &r));
    ck_ok(t->m, stc_tensor_check((stc_tensor *)r));
    ck_ok(t->m, stc_tensor_convert(r, "dense", STC_F64, &dense));
    ck_ok(t->m, stc_tensor_values(dense, &values, n));
    double *out = malloc((size_t)(*n + 1) * sizeof *out);
    ck_assert_ptr_nonnull(out);
    if (*n) memcpy(out, values, (size_t)*n * sizeof *out);
    stc_tensor_free(dense);
    return out;
}

static void expect_right(trial *t, stc_status st, const char *when)
{
    int64_t n;
    ck_assert_msg(!st, "%s\n%s: %s", t->text, when, stc_error(t->m)->message);
    double *got = elements(t, &n);
    ck_assert_int_eq(n, t->n);
    for (int64_t k = 0; k < n; k++)
        ck_assert_msg(got[k] == t->want[k], "%s\n%s: place %lld is %g, not %g", t->text,
                      when, (long long)k, got[k], t->want[k]);
    free(got);
}

/* No allocation succeeds from the k-th of a program's first run on, for each k. */
static void run_short_of_memory(trial *t)
{
    t->h.lasting = true;
    for (int64_t k = 1; k == 1 || t->h.failed; k++) {
        prepare(t);
        t->h.failed = false;
        t->h.fail_at = t->h.calls + k;
        const stc_status st = stc_run(t->p);
        t->h.fail_at = 0;
        if (st != STC_ERR_MEMORY) expect_right(t, st, "with little memory");
        if (t->h.failed) expect_right(t, stc_run(t->p), "with memory again");
    }
}

/* A run may take k steps, for ever larger k. */
static void run_short_of_steps(trial *t)
{
    stc_status st = STC_ERR_STEPS;
    prepare(t);
    expect_right(t, stc_run(t->p), "without a limit");
    for (uint64_t k = 1; st == STC_ERR_STEPS; k += 1 + k / 3) {
        t->m->cx.max_steps = k;
        st = stc_run(t->p);
        t->m->cx.max_steps = 0;
        if (st != STC_ERR_STEPS) expect_right(t, st, "with enough steps");
    }
    expect_right(t, stc_run(t->p), "without a limit again");
}

START_TEST(each_place)
{
    const struct row *r = &rows[_i];
    for (int k = 0; k < FORMATS && (!k || r->to[k]); k++) {
        trial base, t;
        begin(&base, r, r->to[k], true);
        prepare(&base);
        ck_ok(base.m, stc_run(base.p));
        t.want = elements(&base, &t.n);
        end(&base);
        begin(&t, r, r->to[k], false);
        const int turn = r->to[0] ? (_i + k) % 4 : -1;
        if (turn <= 0) run_short_of_memory(&t);
        if (turn == 3) machine_profile_runs(t.m); /* which visits what was visited again */
        if (turn != 0) run_short_of_steps(&t);
        end(&t);
        free(t.want);
    }
}
END_TEST

Suite *suite_stops(void)
{
    Suite *s = suite_create("stops");
    TCase *c = tcase_create("stops");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, each_place, 0, ROWS);
    suite_add_tcase(s, c);
    return s;
}
