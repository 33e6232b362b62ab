/* check_limits.c: how large a statement may be: texts made to go past each limit of the
 * language, the planner and the programs, and what is said then. */
#include "check.h"
#include "../src/api/api.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct text {
    char *s;
    size_t n, cap;
} text;

static void say(text *t, const char *form, ...)
{
    char part[200];
    va_list args;
    va_start(args, form);
    const size_t n = (size_t)vsnprintf(part, sizeof part, form, args);
    va_end(args);
    if (t->n + n + 1 > t->cap) {
        t->cap = 2 * t->cap + n + 1;
        t->s = realloc(t->s, t->cap);
        ck_assert_ptr_nonnull(t->s);
    }
    memcpy(t->s + t->n, part, n + 1);
    t->n += n;
}

static void expect(text *t, stc_status status, const char *words)
{
    expect_error(t->s, status, words);
    free(t->s);
    *t = (text){0};
}

/* Sums over n indices of one value each. */
static void say_sum(text *t, int n)
{
    say(t, "sum(");
    for (int k = 0; k < n; k++)
        say(t, "%si%d in 0:1", k ? ", " : "", k);
    say(t, ": 1)");
}

START_TEST(indices)
{
    text t = {0};
    say(&t, "s = ");
    say_sum(&t, 65);
    expect(&t, STC_ERR_PROGRAM, "a statement has at most 64 indices");
    say(&t, "s = ");
    say_sum(&t, 513);
    expect(&t, STC_ERR_PROGRAM, "a statement has at most 512 indices");
    say(&t, "tensor y dense f64 [4] = 1\ny(0) = "); /* one more for the rest of y */
    say_sum(&t, 64);
    expect(&t, STC_ERR_PROGRAM, "a statement has at most 64 indices");
    say(&t, "s = ");
    say_sum(&t, 63);
    say(&t, " with split(i0,a,b,2)");
    expect(&t, STC_ERR_PROGRAM, "a statement has at most 64 indices");
}
END_TEST

START_TEST(relations)
{
    text t = {0};
    say(&t, "tensor x dense f64 [400] = 1\ny(i) = x(i) with split(i,a0,b0,1)");
    for (int k = 0; k < 17; k++)
        say(&t, ", fuse(a%d,b%d,c%d), split(c%d,a%d,b%d,1)", k, k, k, k, k + 1, k + 1);
    expect(&t, STC_ERR_PROGRAM, "a schedule takes at most 32 indices apart");
}
END_TEST

START_TEST(terms)
{
    text t = {0};
    const char *six = "a in 0:2, b in 0:2, c in 0:2, d in 0:2, e in 0:2, f in 0:2";
    say(&t, "tensor x dense f64 [40] = 1\ns = sum(%s: x(a+b+c+d+e+f)) with split(a,k,l,2)",
        six);
    expect(&t, STC_ERR_PROGRAM, "split: a subscript of a would have more than 6 terms");
    say(&t, "tensor x dense f64 [40] = 1\ns = sum(%s, g in 0:2: x(a+b+c+d+e+f+g))", six);
    expect(&t, STC_ERR_PROGRAM, "a subscript has at most 6 indices");
}
END_TEST

/* A tree of n leaves: as deep as it has to be. */
static void say_tree(text *t, int n)
{
    if (n == 1) {
        say(t, "x");
        return;
    }
    say(t, "(");
    say_tree(t, n / 2);
    say(t, "/");
    say_tree(t, n - n / 2);
    say(t, ")");
}

START_TEST(operations)
{
    text t = {0};
    say(&t, "x = 2.5\ny = ");
    say_tree(&t, 66000);
    expect(&t, STC_ERR_PROGRAM, "the statement is too large (more than 32768 operations)");
}
END_TEST

START_TEST(depths)
{
    text t = {0};
    say(&t, "x = 2\ny = x");
    for (int k = 0; k < 1100; k++)
        say(&t, "+x");
    expect(&t, STC_ERR_SYNTAX, "the expression is too large");
    say(&t, "x = ");
    for (int k = 0; k < 300; k++)
        say(&t, "(");
    expect(&t, STC_ERR_SYNTAX, "");
    say(&t, "tensor x dense f64 = ");
    for (int k = 0; k < 17; k++)
        say(&t, "[");
    say(&t, "1");
    for (int k = 0; k < 17; k++)
        say(&t, "]");
    expect(&t, STC_ERR_PROGRAM, "lists nest deeper than the 16 modes a tensor can have");
    say(&t, "tensor x dense f64 [1");
    for (int k = 0; k < 17; k++)
        say(&t, ",1");
    say(&t, "] = 1");
    expect(&t, STC_ERR_PROGRAM, "");
}
END_TEST

START_TEST(accesses)
{
    text t = {0};
    say(&t, "tensor x dense f64 [400] = 1\ny(i) = ");
    for (int k = 0; k < 300; k++)
        say(&t, "%spad x(i+%d)", k ? " + " : "", k);
    say(&t, " with split(i,i0,i1,4)"); /* without it it is cut */
    expect(&t, STC_ERR_PROGRAM, "a statement reads at most|distinct accesses");
}
END_TEST

/* Functions: their parameters, variables, and how deep they call each other. */
START_TEST(functions)
{
    text t = {0};
    say(&t, "fn f(a, b, c, d, e, g, h, k, l) = a\nx = f(1,2,3,4,5,6,7,8,9)");
    expect(&t, STC_ERR_PROGRAM, "a function has 1 to 8 parameters");
    say(&t, "fn f(x) { ");
    for (int k = 0; k < 300; k++)
        say(&t, "v%d = x; ", k);
    say(&t, "return x }\ny = f(2.5)");
    expect(&t, STC_ERR_PROGRAM, "a function has at most");
    say(&t, "fn f0(x) = x + 1\n");
    for (int k = 1; k < 300; k++)
        say(&t, "fn f%d(x) = f%d(x) + 1\n", k, k - 1);
    say(&t, "y = f299(2.5)");
    expect(&t, STC_ERR_PROGRAM, "call each other too deeply");
}
END_TEST

/* A text of many statements holds what its program needs, and one statement's rest. */
START_TEST(many_statements)
{
    enum { MANY = 2000 };
    heap h;
    stc_machine *m = machine_open(&h, false);
    const stc_decl x = {.name = "x", .format = "dense", .type = STC_F64, .order = 1};
    stc_program *p;
    text t = {0};
    for (int k = 0; k < MANY; k++)
        say(&t, "y%d(i) = x(i) + %d\n", k, k);
    ck_ok(m, stc_compile(m, t.s, &x, 1, &p));
    ck_assert_uint_lt(stc_memory_peak(m), MANY * 24000);
    stc_program_free(p);
    free(t.s);
    machine_shut(m, &h);
}
END_TEST

/* What is read from far outside is the fill, however near 2^63 the subscript comes. */
START_TEST(far_subscripts)
{
    static const char *const formats[] = {
        "dense",
        "csr",
        "csc",
        "coo",
        "dcsr",
        "rle",
        "lz77",
        "hash",
        "dia",
        "bcsr(2,3)",
        "csb(4,4)",
        "ell",
        "(i,j) -> (i : rle, j : lz77)",
        "(i,j) -> (i : dense, j : bytemap)",
        "(i,j) -> (flat(i,j) : compressed)",
        "(i,j) -> (i/2 : compressed, i%2 : dense, j : compressed)"};
    static const char *const far[] = {"i+9223372036854775806,j",
                                      "i-9223372036854775807,j",
                                      "i,j+9223372036854775807",
                                      "i,9223372036854775806-j",
                                      "i,j+9223372036854775804",
                                      "4611686018427387904*i+7,j",
                                      "i,2*j+9223372036854775801",
                                      "i+4611686018427387903,j",
                                      "i+4294967296,j",
                                      "i+2147483647,j-2147483648",
                                      "9223372036854775807-i-j,j"};
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
        for (int tier = 0; tier < 4; tier++) {
            heap h;
            stc_machine *m = machine_open(&h, tier == 1);
            stc_session *s;
            m->cx.plain = tier == 2;
            if (tier == 3) ck_ok(m, stc_set_threads(m, 3));
            ck_ok(m, stc_session_open(m, &s));
            char line[300];
            for (size_t k = 0; k < sizeof far / sizeof *far; k++) {
                snprintf(
                    line, sizeof line,
                    "tensor A %s f64 [5,6] = { (0,0): 1, (0,5): 2, (2,1): 3, (4,5): 4 }\n"
                    "C(i,j) = A(i,j) + pad A(%s)\nc(i) = A(i,j) * (1 + pad A(%s))\n"
                    "d(i) = A(i,j)\ns = abs(C(i,j) - A(i,j))\ns += abs(c(i) - d(i))\n",
                    formats[f], far[k], far[k]);
                ck_ok(m, stc_session_exec(s, line, "far"));
                const double far_off = session_number(m, s, "s");
                ck_assert_msg(far_off == 0, "tier %d: %g from\n%s", tier, far_off, line);
            }
            stc_session_close(s);
            machine_shut(m, &h);
        }
}
END_TEST

Suite *suite_limits(void)
{
    Suite *s = suite_create("limits");
    TCase *c = tcase_create("limits");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, indices);
    tcase_add_test(c, relations);
    tcase_add_test(c, terms);
    tcase_add_test(c, operations);
    tcase_add_test(c, depths);
    tcase_add_test(c, accesses);
    tcase_add_test(c, functions);
    tcase_add_test(c, many_statements);
    tcase_add_test(c, far_subscripts);
    suite_add_tcase(s, c);
    return s;
}
