/* check_host.c: functions of the host's: where they are computed follows from their
 * properties, strips hand them arrays, their failures are the statement's, and
 * bytecode that names them needs them. */
#include "check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct calls {
    int64_t elements, most; /* computed in all; in one call */
    int64_t on_strips;      /* in all, when last run with faster tiers */
} calls;

static void count(void *context, int64_t n)
{
    calls *c = context;
    if (!c) return;
    c->elements += n;
    if (n > c->most) c->most = n;
}

/* x * y + the larger of both: nothing that the machine has. */
static stc_status mixed_f64(void *context, int64_t n, const void *const *args, void *out,
                            const char **why)
{
    const double *x = args[0], *y = args[1];
    (void)why;
    count(context, n);
    for (int64_t k = 0; k < n; k++)
        ((double *)out)[k] = x[k] * y[k] * (x[k] > y[k] ? x[k] : y[k]);
    return STC_OK;
}

static stc_status mixed_i64(void *context, int64_t n, const void *const *args, void *out,
                            const char **why)
{
    const int64_t *x = args[0], *y = args[1];
    count(context, n);
    for (int64_t k = 0; k < n; k++) {
        if (x[k] == 13 || y[k] == 13) {
            *why = "13 is refused";
            return STC_ERR_DATA;
        }
        ((int64_t *)out)[k] = x[k] * y[k] * (x[k] > y[k] ? x[k] : y[k]);
    }
    return STC_OK;
}

/* 2 where both are there: a truth value all the same. */
static stc_status both(void *context, int64_t n, const void *const *args, void *out,
                       const char **why)
{
    const int64_t *x = args[0], *y = args[1];
    (void)context, (void)why;
    for (int64_t k = 0; k < n; k++)
        ((int64_t *)out)[k] = 2 * (x[k] && y[k]);
    return STC_OK;
}

static stc_status larger(void *context, int64_t n, const void *const *args, void *out,
                         const char **why)
{
    const double *x = args[0], *y = args[1];
    (void)why;
    count(context, n);
    for (int64_t k = 0; k < n; k++)
        ((double *)out)[k] = x[k] > y[k] ? x[k] : y[k];
    return STC_OK;
}

/* The last one wins: order tells. */
static stc_status digits(void *context, int64_t n, const void *const *args, void *out,
                         const char **why)
{
    const double *x = args[0], *y = args[1];
    (void)context, (void)why;
    for (int64_t k = 0; k < n; k++)
        ((double *)out)[k] = fmod(x[k] * 3, 1001) + y[k];
    return STC_OK;
}

static stc_status three(void *context, int64_t n, const void *const *args, void *out,
                        const char **why)
{
    const double *x = args[0], *y = args[1], *z = args[2];
    (void)context, (void)why;
    for (int64_t k = 0; k < n; k++)
        ((double *)out)[k] = x[k] + y[k] * z[k] + 1;
    return STC_OK;
}

static stc_status four(void *context, int64_t n, const void *const *args, void *out,
                       const char **why)
{
    (void)context, (void)why;
    for (int64_t k = 0; k < n; k++)
        ((double *)out)[k] = ((const double *)args[0])[k] +
                             ((const double *)args[1])[k] * ((const double *)args[2])[k] -
                             ((const double *)args[3])[k];
    return STC_OK;
}

/* Fails without a word from 13 on, with a status that is none from 14 on. */
static stc_status silent(void *context, int64_t n, const void *const *args, void *out,
                         const char **why)
{
    const int64_t *x = args[0], *y = args[1];
    (void)context, (void)why;
    for (int64_t k = 0; k < n; k++) {
        const int64_t most = x[k] > y[k] ? x[k] : y[k];
        if (most == 13) return STC_ERR_DATA;
        if (most == 14) return (stc_status)99;
        ((int64_t *)out)[k] = most;
    }
    return STC_OK;
}

/* A sum up to 1500. */
static stc_status capped(void *context, int64_t n, const void *const *args, void *out,
                         const char **why)
{
    const int64_t *x = args[0], *y = args[1];
    (void)context;
    for (int64_t k = 0; k < n; k++) {
        if (x[k] + y[k] > 1500) {
            *why = "it is full";
            return STC_ERR_DATA;
        }
        ((int64_t *)out)[k] = x[k] + y[k];
    }
    return STC_OK;
}

/* Takes no more than one at a time. */
static stc_status single(void *context, int64_t n, const void *const *args, void *out,
                         const char **why)
{
    (void)context;
    if (n > 1) {
        *why = "one after the other";
        return STC_ERR_DATA;
    }
    *(double *)out = *(const double *)args[0];
    return STC_OK;
}

static const stc_signature capped_as[] = {{{STC_I64, STC_I64}, STC_I64, capped}};
static const stc_signature single_as[] = {{{STC_F64}, STC_F64, single}};
static const stc_signature four_as[] = {
    {{STC_F64, STC_F64, STC_F64, STC_F64}, STC_F64, four}};
static const stc_signature silent_as[] = {{{STC_I64, STC_I64}, STC_I64, silent}};
static const stc_signature mixed_as[] = {{{STC_I64, STC_I64}, STC_I64, mixed_i64},
                                         {{STC_F64, STC_F64}, STC_F64, mixed_f64}};
static const stc_signature both_as[] = {{{STC_BOOL, STC_BOOL}, STC_BOOL, both}};
static const stc_signature larger_as[] = {{{STC_F64, STC_F64}, STC_F64, larger}};
static const stc_signature digits_as[] = {{{STC_F64, STC_F64}, STC_F64, digits}};
static const stc_signature three_as[] = {{{STC_F64, STC_F64, STC_F64}, STC_F64, three}};

static const struct given {
    const char *head;
    const stc_signature *as;
    int count;
} given[] = {
    {"mixed(x, y) with commutative, annihilator(0)", mixed_as, 2},
    {"both(x, y) with commutative, annihilator(false)", both_as, 1},
    {"larger(x, y) with commutative, associative, idempotent, identity(-inf), "
     "annihilator(inf)",
     larger_as, 1},
    {"digits(x, y)", digits_as, 1},
    {"three(a, b, c)\n over {a != 0} | {b != 0}", three_as, 1},
    {"four(a, b, c, d)", four_as, 1},
    {"silent(x, y) with commutative, associative, idempotent, identity(0)", silent_as, 1},
    {"capped(x, y) with commutative, associative, identity(0)", capped_as, 1},
    {"single(x)", single_as, 1},
};

static void bring(stc_machine *m, calls *c)
{
    for (size_t k = 0; k < sizeof given / sizeof *given; k++) {
        const stc_function f = {sizeof f, given[k].head, given[k].count, given[k].as, c};
        ck_ok(m, stc_function_register(m, &f));
    }
}

static const char setting[] = "tensor A svec f64 [3000] = random(density=0.5, seed=1)\n"
                              "tensor B svec f64 [3000] = random(density=0.5, seed=2)\n"
                              "tensor K svec i64 [3000]\ntensor L svec i8 [3000]\n"
                              "K(i) = i64(A(i) * 8)\nL(i) = i8(B(i) * 8)\n"
                              "fn mine(x, y) = x * y * max(x, y) with annihilator(0)\n";

/* In a session with the functions, the scalar `a` must then be want. */
static void expect_scalar(const char *script, double want, calls *c)
{
    for (int no_super = 0; no_super < 2; no_super++) {
        heap h;
        stc_machine *m = machine_open(&h, no_super);
        stc_session *s;
        const stc_tensor *a;
        stc_value v;
        if (c) *c = (calls){.on_strips = c->on_strips};
        bring(m, c);
        ck_ok(m, stc_session_open(m, &s));
        ck_ok(m, stc_session_exec(s, setting, "setting"));
        ck_ok(m, stc_session_exec(s, script, "script"));
        ck_ok(m, stc_session_get(s, "a", &a));
        ck_ok(m, stc_tensor_get(a, NULL, &v));
        const stc_type t = stc_tensor_type(a);
        const double got = t == STC_F64 ? v.f : (double)v.i;
        ck_assert_msg(got == want, "%s: %.17g, not %.17g", script, got, want);
        if (c && !no_super) c->on_strips = c->elements;
        if (c && no_super) ck_assert_int_eq(c->most, 1);
        if (c && !no_super) ck_assert_int_ge(c->most, 2);
        stc_session_close(s);
        machine_shut(m, &h);
    }
}

START_TEST(values)
{
    calls c = {.elements = 0};
    expect_scalar("C(i) = mixed(A(i), B(i)) - mine(A(i), B(i))\na = max(i: abs(C(i)))", 0,
                  &c);
    expect_scalar("C(i) = mixed(K(i), L(i)) - mine(K(i), L(i))\na = max(i: abs(C(i)))", 0,
                  &c);
    expect_scalar("C(i) = mixed(K(i), B(i)) - mine(K(i), B(i))\na = max(i: abs(C(i)))", 0,
                  &c);
    expect_scalar("C(i) = mixed(A(i), 2) - mine(A(i), 2)\na = max(i: abs(C(i)))", 0, &c);
    expect_scalar("C(i) = both(K(i) > 3, L(i) > 3)\nD(i) = K(i) > 3 && L(i) > 3\n"
                  "a = C(i) - (0 + D(i))",
                  0, NULL);
    expect_scalar("tensor P rle f64 [40]\nP(i) = floor(i / 7)\na = larger(P(i), 2)", 116,
                  NULL);
    expect_scalar("a = three(1, 2, 3)", 8, NULL);
    expect_scalar("a = sum(i in 0:30: four(1, i, 2, 3))", 810, NULL);
    expect_scalar("a = silent(i: K(i)) - max(i: K(i))", 0, NULL);
}
END_TEST

/* An annihilator visits what both have, the algebra what it says, and where nothing
 * is stored the function of the fills is. */
START_TEST(work)
{
    calls c = {.elements = 0};
    const char *const both_have = "n = A(i) != 0 && B(i) != 0\n";
    heap h;
    stc_machine *m = machine_open(&h, true);
    stc_session *s;
    const stc_tensor *n;
    stc_value v;
    bring(m, &c);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, setting, "setting"));
    ck_ok(m, stc_session_exec(s, both_have, "count"));
    ck_ok(m, stc_session_get(s, "n", &n));
    ck_ok(m, stc_tensor_get(n, NULL, &v));
    c = (calls){.elements = 0};
    ck_ok(m, stc_session_exec(s, "C(i) = mixed(A(i), B(i))", "work"));
    ck_assert_int_ge(c.elements, v.i);
    ck_assert_int_le(c.elements, v.i + 8); /* a few on fills */
    ck_ok(m, stc_session_exec(s, "D(i) = three(A(i), B(i), 5)", "fill"));
    ck_ok(m, stc_session_get(s, "D", &n));
    ck_assert(stc_tensor_fill(n).f == 1);
    ck_assert_str_eq(stc_tensor_format(n), "svec");
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

START_TEST(reductions)
{
    calls c = {.elements = 0};
    expect_scalar(
        "tensor v dense f64 [9000] = 1\nv(i(5:6)) = inf\na = larger(i: v(i)) == inf", 1,
        &c);
    ck_assert_int_le(c.on_strips, 3000); /* strips end there */
    expect_scalar("a = larger(i: A(i)) - max(i: A(i))", 0, &c);
    expect_scalar("a = larger(i: 5 - A(i)) - max(i: 5 - A(i))", 0, &c);
    expect_scalar("tensor M csr f64 [40,300] = random(density=0.3, seed=5)\n"
                  "r(i) = larger(j: M(i,j))\nq(i) = max(j: M(i,j))\na = r(i) - q(i)",
                  0, &c);
    expect_scalar("fn last(x, y) = fmod(x * 3, 1001) + y\n"
                  "a = digits(i: floor(A(i) * 9)) - last(i: floor(A(i) * 9))",
                  0, NULL);
    expect_scalar("tensor v dense i64 [1400] = 1\na = capped(i: v(i))", 1400, NULL);
}
END_TEST

static void expect_failure(const char *script, stc_status status, const char *words)
{
    for (int no_super = 0; no_super < 2; no_super++) {
        heap h;
        stc_machine *m = machine_open(&h, no_super);
        stc_session *s;
        bring(m, NULL);
        ck_ok(m, stc_session_open(m, &s));
        ck_ok(m, stc_session_exec(s, setting, "setting"));
        const stc_status got = stc_session_exec(s, script, "script");
        ck_assert_msg(got == status && has_words(stc_error(m)->message, words),
                      "%s: %s: %s", script, stc_status_name(got), stc_error(m)->message);
        ck_ok(m, stc_session_exec(s, "a = mixed(2, 3)", "after"));
        stc_session_close(s);
        machine_shut(m, &h);
    }
}

START_TEST(failures)
{
    expect_failure(
        "tensor v dense i64 [2000] = 1\nC(i) = mixed(v(i) + (i == 1500) * 12, 2)",
        STC_ERR_DATA, "mixed|13 is refused|(1500)");
    expect_failure("tensor v dense i64 [2000] = 13\na = mixed(i: v(i))", STC_ERR_DATA,
                   "13 is refused");
    expect_failure("a = mixed(13, 2)", STC_ERR_DATA, "13 is refused");
    expect_failure("tensor v dense i64 [40] = 1\nv(i(37:38)) = 13\na = silent(i: v(i))",
                   STC_ERR_DATA, "the function `silent` failed");
    expect_failure("tensor v dense i64 [40] = 14\na = silent(i: v(i))", STC_ERR_ARGUMENT,
                   "the function `silent` failed");
    expect_failure("tensor v dense i64 [3,40] = 14\ntensor R csr i64\n"
                   "R(i,j) = silent(k: v(i,k) + 0 * v(j,k)) with reorder(k,i,j)",
                   STC_ERR_ARGUMENT, "silent|failed");
    /* the first of two, whichever is computed first; only when all are put together */
    expect_failure("tensor v dense i64 [40] = 1\nv(i(5:6)) = 13\n"
                   "C(i) = 1 % (i - 3) + mixed(v(i), 2)",
                   STC_ERR_ARITHMETIC, "integer division by zero|(3)");
    expect_failure("tensor v dense i64 [40] = 1\nv(i(1:2)) = 13\n"
                   "C(i) = 1 % (i - 3) + mixed(v(i), 2)",
                   STC_ERR_DATA, "13 is refused|(1)");
    expect_failure("tensor v dense i64 [2000] = 1\na = capped(i: v(i))", STC_ERR_DATA,
                   "it is full|(1500)");
    expect_failure("a = mixed(2j, 2)", STC_ERR_PROGRAM, "mixed|c128");
    expect_failure("a = mixed(2)", STC_ERR_PROGRAM, "2 arguments");
    expect_failure("C(i) = larger(A(i) > 1, B(i) > 1)\na = both(i: A(i))", STC_ERR_PROGRAM,
                   "both");
}
END_TEST

/* What fails for many at once, and for none of them alone, fails at the first. */
START_TEST(all_at_once)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    bring(m, NULL);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, "tensor v dense f64 [40] = 1\na = single(2)", "setting"));
    ck_assert_int_eq(stc_session_exec(s, "C(i) = single(v(i))", "script"), STC_ERR_DATA);
    ck_assert_msg(has_words(stc_error(m)->message, "one after the other|(0)"), "%s",
                  stc_error(m)->message);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

/* Loops around calls that the compiler doesn't write: reductions from either side, and
 * what looks like one. y and a are what base operations make them. */
static const char *const around_calls[] = {
    "call v0, f0, v0, 2\nmov v5, v1\n",
    "call v0, f0, v0, 2\ncall v0, f0, v0, 2\nmov v5, v1\n",
    "call v6, f0, v5, 2\n",
    "mov v3, v0\ncall v0, f0, v1, 2\nmov v5, v3\n",
    "mov v3, v0\nconst v0, k0\ncall v0, f0, v1, 2\nmov v5, v3\n",
    "call v7, f0, v7, 2\n",
    "mov v1, v0\ncall v0, f0, v0, 2\n",
    "call v0, f1, v0, 3\nmov v5, v1\n",
    "call v5, f0, v7, 2\n",
    "loop i1, m1, g1\ncall v4, f0, v7, 2\nfn2 v0, add, f64, v0, v4\nend\nmov v5, v1\n",
};
enum { AROUND = sizeof around_calls / sizeof *around_calls, MANY = 3000 };

START_TEST(loops)
{
    double y[2][MANY], a[2], x[MANY];
    const int64_t many = MANY;
    for (int k = 0; k < MANY; k++)
        x[k] = k * 7 % 11;
    for (int k = 0; k < 2; k++) {
        heap h;
        stc_machine *m = machine_open(&h, k);
        stc_program *p;
        stc_tensor *t;
        const stc_tensor *r;
        char text[2000];
        bring(m, NULL);
        snprintf(
            text, sizeof text,
            ".registers v 12 i 3 m 3 c 6\n"
            ".tensor t0 \"x\" input f64 (0) format 1 dense(0)\n"
            ".tensor t1 \"y\" output f64 (0) [e0] format 1 dense(0)\n"
            ".tensor t2 \"a\" output f64 (0) [] format 0\n"
            ".extent e0 dim t0 0\n.extent e1 const 40\n"
            ".const k0 f64 4611686018427387904\n"
            ".merge g0 lo root hi e0 universe produce 0x3 { locate c0 t0 0 root root 1 }\n"
            ".merge g1 lo root hi e1 universe produce 0x1 { }\n"
            ".fn f0 \"digits\" (f64 f64) f64 host registers 2 code 0:0\n"
            ".fn f1 \"three\" (f64 f64 f64) f64 host registers 3 code 0:0\n"
            ".code\nconst v0, k0\nconst v2, k0\nconst v6, k0\nconst v7, k0\n"
            "const v8, k0\nbegin t1\nloop i0, m0, g0\nat c1, t1, 0, root, i0\n"
            "load v1, t0, c0\nmov v5, v1\n%sstore t1, c1, v5\nend\nfinish t1\n"
            "begin t2\nfn2 v0, sub, f64, v0, v6\nfn2 v0, add, f64, v0, v7\nstore t2, root, "
            "v0\nfinish t2\n"
            "halt\n",
            around_calls[_i]);
        ck_ok(m, stc_program_assemble(m, text, "calls", &p));
        ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 1, &many, NULL, x, &t));
        ck_ok(m, stc_bind(p, "x", t));
        ck_ok(m, stc_run(p));
        ck_ok(m, stc_result(p, "y", &r));
        ck_ok(m, stc_tensor_to_dense(r, y[k]));
        ck_ok(m, stc_result(p, "a", &r));
        ck_ok(m, stc_tensor_to_dense(r, &a[k]));
        stc_program_free(p);
        stc_tensor_free(t);
        machine_shut(m, &h);
    }
    ck_assert_msg(!memcmp(y[0], y[1], sizeof y[0]) && a[0] == a[1], "%s: %g, not %g",
                  around_calls[_i], a[0], a[1]);
}
END_TEST

static stc_status add_one(stc_machine *m, const char *head, const stc_signature *as, int n)
{
    const stc_function f = {sizeof f, head, n, as, NULL};
    return stc_function_register(m, &f);
}

START_TEST(registering)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const stc_signature small = {{STC_I8, STC_I8}, STC_I64, mixed_i64};
    const stc_signature none = {{STC_I64, STC_I64}, STC_I64, NULL};
    const stc_signature twice[] = {{{STC_BOOL, STC_I64}, STC_I64, mixed_i64},
                                   {{STC_I64, STC_I64}, STC_I64, mixed_i64}};
    static const char *const heads[] = {"",
                                        "f",
                                        "f(x",
                                        "f(x, x)",
                                        "f(x) x",
                                        "f(x, y) with idempotence",
                                        "while(x, y)",
                                        "f(x, y) with identity(0, 2)",
                                        "f(x, y) over {z != 0}",
                                        "f() = 1"};
    for (size_t k = 0; k < sizeof heads / sizeof *heads; k++)
        ck_assert_msg(add_one(m, heads[k], mixed_as, 2) != STC_OK, "%s", heads[k]);
    ck_assert_int_eq(add_one(m, "f(x, y)", &small, 1), STC_ERR_ARGUMENT);
    ck_assert_int_eq(add_one(m, "f(x, y)", &none, 1), STC_ERR_ARGUMENT);
    ck_assert_int_eq(add_one(m, "f(x, y)", twice, 2), STC_ERR_ARGUMENT);
    const stc_signature odd = {{(stc_type)99, STC_I64}, STC_I64, mixed_i64};
    ck_assert_int_eq(add_one(m, "f(x, y)", &odd, 1), STC_ERR_ARGUMENT);
    ck_assert_int_eq(add_one(m, "f(x, y)", mixed_as, 0), STC_ERR_ARGUMENT);
    ck_assert_int_eq(add_one(m, "f(x, y)", mixed_as, 65), STC_ERR_ARGUMENT);
    ck_assert_int_eq(add_one(m, "f(x, y)", NULL, 1), STC_ERR_ARGUMENT);
    ck_ok(m, add_one(m, "g(x, y)", mixed_as, 2));
    ck_assert_int_eq(stc_function_register(m, NULL), STC_ERR_ARGUMENT);
    ck_assert_int_eq(add_one(m, "f(x, y) with annihilator(0.5)", mixed_as, 2),
                     STC_ERR_PROGRAM);
    ck_ok(m, add_one(m, "f(x, y)", mixed_as, 2));
    ck_assert_int_eq(add_one(m, "f(x, y)", mixed_as, 2), STC_ERR_ARGUMENT);
    ck_assert(has_words(stc_error(m)->message, "already"));
    machine_shut(m, &h);
}
END_TEST

/* What the text of a program that calls `name` is with another name and another count of
 * registers in its place. */
static stc_status renamed(stc_machine *m, const char *text, const char *head,
                          stc_program **p)
{
    char *other = malloc(strlen(text) + strlen(head) + 1);
    const char *row = strstr(text, ".fn f0"), *rest = strchr(row, '\n');
    sprintf(other, "%.*s%s%s", (int)(row - text), text, head, rest);
    for (char *at = other; (at = strstr(at, "0xfff0000000000000"));) /* -inf: begin at 1 */
        memcpy(at, "0x3ff0000000000000", 18);
    const stc_status st = stc_program_assemble(m, other, "renamed", p);
    free(other);
    return st;
}

/* The same reduction by a function that keeps its order, and by none that is there. */
START_TEST(other_names)
{
    static const struct {
        const char *head;
        bool there;
    } heads[] = {
        {".fn f0 \"digits\" (f64 f64) f64 host registers 2 code 0:0", true},
        {".fn f0 \"larger\" (f64 f64) f64 host registers 2 code 0:0", true},
        {".fn f0 \"mixed\" (f64 f64) f64 host registers 2 code 0:0", true},
        {".fn f0 \"three\" (f64 f64) f64 host registers 2 code 0:0", false},
    };
    double got[2] = {0};
    for (int no_super = 0; no_super < 2; no_super++) {
        heap h;
        stc_machine *m = machine_open(&h, no_super);
        stc_program *p, *q = NULL;
        stc_tensor *x;
        const stc_tensor *a;
        char *text;
        double v[40];
        const int64_t n = 40;
        for (int k = 0; k < 40; k++)
            v[k] = k % 7;
        bring(m, NULL);
        const stc_decl d = {0, "x", "dense", STC_F64, NULL, 1};
        ck_ok(m, stc_compile(m, "a = larger(i: x(i))", &d, 1, &p));
        ck_ok(m, stc_program_dump(p, &text));
        ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 1, &n, NULL, v, &x));
        const stc_status st = renamed(m, text, heads[_i].head, &q);
        ck_assert_int_eq(st, heads[_i].there ? STC_OK : STC_ERR_PROGRAM);
        if (!st) {
            ck_ok(m, stc_bind(q, "x", x));
            ck_ok(m, stc_run(q));
            ck_ok(m, stc_result(q, "a", &a));
            ck_ok(m, stc_tensor_to_dense(a, &got[no_super]));
        }
        stc_program_free(p);
        stc_program_free(q);
        stc_text_free(m, text);
        stc_tensor_free(x);
        machine_shut(m, &h);
    }
    ck_assert(got[0] == got[1]);
}
END_TEST

/* A function that is there for other classes. */
START_TEST(other_classes)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p = NULL;
    char text[300];
    bring(m, NULL);
    snprintf(text, sizeof text,
             ".registers v 3 i 0 m 0 c 0\n.const k0 i64 1\n"
             ".fn f0 \"larger\" (i64 i64) %s host registers 2 code 0:0\n"
             ".code\nconst v0, k0\nconst v1, k0\ncall v2, f0, v0, 2\nhalt\n",
             _i ? "f64" : "i64");
    ck_assert_int_eq(stc_program_assemble(m, text, "text", &p), STC_ERR_PROGRAM);
    ck_assert(has_words(stc_error(m)->message, "larger|registered"));
    machine_shut(m, &h);
}
END_TEST

/* Bytes and text name the function; a machine without it says so. */
START_TEST(bytecode)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p, *q;
    void *bytes;
    char *text;
    size_t size;
    bring(m, NULL);
    ck_ok(m, stc_compile(m, "a = mixed(2, 3) + larger(4.5, 2)", NULL, 0, &p));
    ck_ok(m, stc_program_encode(p, &bytes, &size));
    ck_ok(m, stc_program_dump(p, &text));
    ck_ok(m, stc_program_decode(m, bytes, size, &q));
    const stc_tensor *a;
    stc_value v;
    ck_ok(m, stc_run(q));
    ck_ok(m, stc_result(q, "a", &a));
    ck_ok(m, stc_tensor_get(a, NULL, &v));
    ck_assert(v.f == 22.5);
    stc_program_free(q);
    ck_ok(m, stc_program_assemble(m, text, "dump", &q));
    ck_ok(m, stc_run(q));
    heap other;
    stc_machine *n = machine_open(&other, false);
    ck_assert_int_eq(stc_program_decode(n, bytes, size, &q), STC_ERR_PROGRAM);
    ck_assert(has_words(stc_error(n)->message, "mixed|registered"));
    machine_shut(n, &other);
    stc_text_free(m, bytes);
    stc_text_free(m, text);
    machine_shut(m, &h);
}
END_TEST

Suite *suite_host(void)
{
    Suite *s = suite_create("host");
    TCase *t = tcase_create("functions");
    tcase_add_test(t, values);
    tcase_add_test(t, work);
    tcase_add_test(t, reductions);
    tcase_add_test(t, failures);
    tcase_add_test(t, all_at_once);
    tcase_add_loop_test(t, loops, 0, AROUND);
    tcase_add_test(t, registering);
    tcase_add_loop_test(t, other_classes, 0, 2);
    tcase_add_loop_test(t, other_names, 0, 4);
    tcase_add_test(t, bytecode);
    suite_add_tcase(s, t);
    return s;
}
