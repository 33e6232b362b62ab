/* check_graph.c: what graph algorithms rest on: rounds that cost what changes, conversions
 * and copies that aren't made again, subscripts that are looked up in bulk, fibers that are
 * marked. Costs are counted, in steps and in allocations: there is no clock in it.
 */
#include "check.h"
#include "../src/api/api.h"
#include <stdlib.h>
#include <string.h>

#define PRINTS(script, want) expect_printed(false, script, STC_OK, want)

/* ---- costs ---------------------------------------------------------------------- */

/* Allocations of 64 KiB and more. */
static void *large_alloc(void *context, void *block, size_t old, size_t size)
{
    int *n = context;
    *n += size > old && size >= 65536;
    if (size) return realloc(block, size);
    free(block);
    return NULL;
}

typedef struct cost {
    int large;
    uint64_t steps;
} cost;

/* A mesh of side², each vertex joined to those beside it, as the session's G. */
static void put_mesh(stc_machine *m, stc_session *s, int64_t side)
{
    const int64_t n = side * side, shape[2] = {n, n};
    const bool yes = true;
    stc_builder *b;
    stc_tensor *t;
    ck_ok(m, stc_builder_open(m, "csr", STC_BOOL, 2, shape, NULL, NULL, &b));
    for (int64_t i = 0; i < n; i++) {
        const int64_t right[2] = {i, i + 1}, left[2] = {i + 1, i};
        const int64_t down[2] = {i, i + side}, up[2] = {i + side, i};
        if ((i + 1) % side) ck_ok(m, stc_builder_put(b, right, &yes));
        if ((i + 1) % side) ck_ok(m, stc_builder_put(b, left, &yes));
        if (i + side < n) ck_ok(m, stc_builder_put(b, down, &yes));
        if (i + side < n) ck_ok(m, stc_builder_put(b, up, &yes));
    }
    ck_ok(m, stc_builder_finish(b, &t));
    stc_builder_free(b);
    ck_ok(m, stc_session_put(s, "G", t));
}

/* What the text costs after `before` has run; with a mesh of side², if that isn't 0. */
static cost cost_with(int64_t side, const char *before, const char *text)
{
    int large = 0;
    const stc_config config = {.alloc = large_alloc, .alloc_context = &large};
    stc_machine *m;
    stc_session *s;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    ck_ok(m, stc_session_open(m, &s));
    if (side) put_mesh(m, s, side);
    ck_ok(m, stc_session_exec(s, before, "before"));
    large = 0;
    ck_ok(m, stc_session_exec(s, text, "test"));
    const cost c = {large, m->cx.steps};
    stc_session_close(s);
    stc_close(m);
    return c;
}

static cost cost_of(const char *before, const char *text)
{
    return cost_with(0, before, text);
}

/* The result has a value everywhere, so that its loop is outside: that takes P turned. */
#define TURNS "y(j) = 0.5 * max(i: P(i,j) * x(i)) + 1.0 / n"
static const char with_p[] =
    "tensor P csr f64 = random(2000, 2000, density=0.02)\nn = size(P,0)\n"
    "x(i in 0:n) = 1.0 / n\nk = 0\n"
    "def turned(P, x) -> y { n = size(P,0); " TURNS " }\n";

START_TEST(conversions_are_kept)
{
    const cost few = cost_of(with_p, "repeat 3 { " TURNS "; k += 1 }");
    const cost many = cost_of(with_p, "repeat 30 { " TURNS "; k += 1 }");
    const cost anew = cost_of(with_p, "repeat 3 { " TURNS "; k += 1; P(0,0) = k }");
    ck_assert_int_gt(few.large, 0);
    ck_assert_int_eq(few.large, many.large);
    ck_assert_int_gt(anew.large, few.large);
    /* what changes is converted anew */
    PRINTS("tensor P csr f64 [2,3] = { (0,1): 1, (1,2): 2 }\nx(i in 0:2) = 1.0\n"
           "repeat 3 { y(j) = 0.5 * sum(i: P(i,j) * x(i)) + 1; print y\n"
           "P(i,j) = 2 * P(i,j) }",
           "svec f64 [3] fill 1, 2 stored\n(1) 1.5\n(2) 2\n"
           "svec f64 [3] fill 1, 2 stored\n(1) 2\n(2) 3\n"
           "svec f64 [3] fill 1, 2 stored\n(1) 3\n(2) 5\n");
}
END_TEST

/* They serve other statements and calls, until the operand changes. */
START_TEST(conversions_serve_others)
{
    char once[600];
    snprintf(once, sizeof once, "%sy = turned(P, x)\n", with_p);
    const int first = cost_of(with_p, "y = turned(P, x)").large;
    ck_assert_int_lt(cost_of(once, "y = turned(P, x)").large, first);
    ck_assert_int_lt(cost_of(once, TURNS).large, first);
    PRINTS("tensor P csr f64 [2,2] = { (0,1): 1, (1,0): 2 }\nn = size(P,0)\nx(i in 0:n) = "
           "2.0 / n\n"
           "def f(P, x) -> y { n = size(P,0); " TURNS "; P(i,j) = 3 * P(i,j); " TURNS " }\n"
           "repeat 2 { " TURNS "; z = f(P, x); print y, z; P(0,1) = 7 }\nP(1,0) = 1\n" TURNS
           "\nprint y",
           "1.5  1\n3.5  2\n1.5  4\n3.5  11\n1  4\n");
}
END_TEST

START_TEST(whole_tensors_are_shared)
{
    const char *before = "tensor A csr f64 = random(2000, 2000, density=0.02)\nB = A\n";
    ck_assert_int_eq(cost_of(before, "repeat 9 { B = A; C = B }").large,
                     cost_of(before, "repeat 1 { B = A; C = B }").large);
    ck_assert_int_eq(
        cost_of(before, "def f(X) -> X { k = 1 }\nrepeat 9 { C = f(A) }").large,
        cost_of(before, "def f(X) -> X { k = 1 }\nrepeat 1 { C = f(A) }").large);
    PRINTS("tensor a dense i64 = [1,2]\nb = a\nb(0) = 5\nprint a, b\na(1) = 7\nprint a, b",
           "1  2\n5  2\n1  7\n5  2\n");
    PRINTS("tensor a dense i64 = [1,2]\nb = a\nb(i) += a(i)\nb = b\na = a\nprint a, b",
           "1  2\n2  4\n");
    PRINTS("tensor a dense i64 = [1,2]\nb = a\nc = b\ndrop a\nb(i) min= 1\nprint b, c",
           "1  1\n1  2\n");
    PRINTS("def f(x) -> x { x = x }\ntensor a dense i64 = [1,2]\na = f(a)\nb = f(f(a))\n"
           "a(0) = 3\nprint a, b",
           "3  2\n1  2\n");
    PRINTS("def f(x) -> y { y = x; y(0) = 9 }\ntensor a dense i64 = [1,2]\nb = f(a)\n"
           "print a, b",
           "1  2\n9  2\n");
    PRINTS("tensor a svec i64 = [0,2]\ntensor b dense f64\nb = a\nc = a\ncompact c\n"
           "b(0) = 1\nprint b\nprint c",
           "1  2\nsvec i64 [2], 1 stored\n(1) 2\n");
    PRINTS("tensor r dense i64 = [1,2]\nrepeat 3 { q(i) = 2 * r(i); r = q }\n"
           "q(0) = 0\nprint r, q",
           "8  16\n0  16\n");
}
END_TEST

/* A result that has all places of an operand of its format has its index arrays, too. */
START_TEST(patterns_are_shared)
{
    static const char *const each[] = {
        "C(i,j) = 2 * A(i,j)", "C(i,j) = abs(A(i,j))", "C(i,j) = i32(9 * A(i,j))",
        "C(i,j) = A(i,j) * A(i,j)", "C(i,j) = x(i) * A(i,j) * x(j)"};
#define WHOLE(N)                                                                           \
    "tensor A csr f64 = random(" N ", " N ", density=0.02)\nB = A\n"                       \
    "tensor x dense f64 [" N "] = 2\n"
    for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
        const int few = cost_of(WHOLE("100"), each[k]).large; /* not the result's */
        const int many = cost_of(WHOLE("2000"), each[k]).large;
        ck_assert_msg(many == few + 1, "%s: %d blocks and %d", each[k], few, many);
    }
}
END_TEST

#define FEW "tensor A csr i64 [2,3] = { (0,1): 1, (1,0): 2, (1,2): 3 }\n"

START_TEST(shared_patterns_are_kept)
{
    /* whoever is given other places has arrays of its own, and whoever is dropped leaves
     * them to the others */
    PRINTS(FEW "C(i,j) = 2 * A(i,j)\nC(0,0) = 9\nprint A\nprint C",
           "csr i64 [2,3], 3 stored\n(0,1) 1\n(1,0) 2\n(1,2) 3\n"
           "csr i64 [2,3], 4 stored\n(0,0) 9\n(0,1) 2\n(1,0) 4\n(1,2) 6\n");
    PRINTS(FEW "C(i,j) = 2 * A(i,j)\nD(i,j) = C(i,j) + C(i,j)\nA(1,1) = 7\ndrop C\n"
               "print A\nprint D",
           "csr i64 [2,3], 4 stored\n(0,1) 1\n(1,0) 2\n(1,1) 7\n(1,2) 3\n"
           "csr i64 [2,3], 3 stored\n(0,1) 4\n(1,0) 8\n(1,2) 12\n");
    PRINTS(FEW "repeat 3 { C(i,j) = 2 * A(i,j); A(i,j) = 3 * C(i,j); compact A }\ndrop A\n"
               "B = C\nC(i,j) += B(i,j)\nprint C",
           "csr i64 [2,3], 3 stored\n(0,1) 144\n(1,0) 288\n(1,2) 432\n");
}
END_TEST

/* Of tensors that a host has: in any order of freeing; and what it lends isn't shared. */
START_TEST(hosts_see_what_is_shared)
{
    int32_t pos[] = {0, 1, 3}, crd[] = {1, 0, 2};
    double vals[] = {1, 2, 3};
    const int64_t shape[2] = {2, 3};
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *lent, *own, *c, *d;
    ck_ok(m, stc_tensor_new(m, "csr", STC_F64, 2, shape, NULL, &lent));
    ck_ok(m, stc_tensor_lend(lent, 1, STC_POS, (stc_array){pos, 3, 4, 4}));
    ck_ok(m, stc_tensor_lend(lent, 1, STC_CRD, (stc_array){crd, 3, 4, 4}));
    ck_ok(m, stc_tensor_lend_values(lent, vals, 3));
    ck_ok(m, stc_tensor_convert(lent, NULL, -1, &own));
    const stc_decl decl = {.name = "A", .format = "csr"};
    stc_program *p;
    ck_ok(m, stc_compile(m, "C(i,j) = 2 * A(i,j)", &decl, 1, &p));
    ck_ok(m, stc_bind(p, "A", lent));
    ck_ok(m, stc_run(p));
    ck_ok(m, stc_take(p, "C", &c));
    ck_assert(!stc_tensor_shares(c) && !stc_tensor_shares(lent));
    stc_tensor_free(c);
    ck_ok(m, stc_bind(p, "A", own));
    ck_ok(m, stc_run(p));
    ck_ok(m, stc_take(p, "C", &c));
    ck_ok(m, stc_run(p));
    ck_ok(m, stc_take(p, "C", &d));
    ck_assert(stc_tensor_shares(c) && stc_tensor_shares(d) && stc_tensor_shares(own));
    stc_program_free(p);
    stc_tensor_free(own);
    stc_tensor_free(c);
    const int64_t at[2] = {1, 2};
    stc_value v;
    ck_ok(m, stc_tensor_check(d));
    ck_ok(m, stc_tensor_get(d, at, &v));
    ck_assert(v.f == 6);
    ck_ok(m, stc_tensor_lend(d, 1, STC_CRD, (stc_array){crd, 3, 4, 4}));
    ck_ok(m, stc_tensor_check(d));
    stc_tensor_free(d);
    stc_tensor_free(lent);
    machine_shut(m, &h);
}
END_TEST

#define SEARCH                                                                             \
    "n = size(G, 0)\ntensor level dense i32 [n]\ntensor f svec bool [n]\n"                 \
    "level(i) = i32(select(i == 0, 0, -1))\nf(i) = i == 0\ncompact f\ndepth = 0\n"
#define ROUND                                                                              \
    "depth += 1\nf(j) = any(i: f(i) && G(i,j)) && level(j) < 0\ncompact f\n"               \
    "level(j) = depth where f(j)\n"

/* The rounds that a profile counts, of all loops. */
static int rounds_in(const char *profile)
{
    int n = 0;
    for (const char *p = profile; (p = strstr(p, " rounds, ")); p++) {
        const char *from = p;
        while (from[-1] >= '0' && from[-1] <= '9')
            from--;
        n += atoi(from);
    }
    return n;
}

/* A round of a search on a mesh of 100² that begins with f goes through the frontier and
 * its edges, so many in all, and a few times through what it reaches. */
static void round_visits(const char *f, int edges, int reached)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    char *profile, pushed[80];
    ck_ok(m, stc_session_open(m, &s));
    put_mesh(m, s, 100);
    ck_ok(m, stc_session_exec(s, SEARCH, "before"));
    ck_ok(m, stc_session_exec(s, f, "before"));
    machine_profile_runs(m);
    ck_ok(m, stc_session_exec(s, "compact f\n" ROUND, "test"));
    ck_ok(m, stc_session_profile(s, &profile));
    /* one more, which finds the end of the frontier */
    snprintf(pushed, sizeof pushed, " %d rounds, tier 3: scatter and, or into a row",
             edges + 1);
    ck_assert_msg(strstr(profile, pushed), "%s: no%s in\n%s", f, pushed, profile);
    ck_assert_msg(rounds_in(profile) <= edges + 1 + 3 * reached, "%s: %d rounds in\n%s", f,
                  rounds_in(profile), profile);
    stc_text_free(m, profile);
    stc_session_close(s);
    machine_shut(m, &h);
}

START_TEST(rounds_visit_the_frontier)
{
    round_visits("f(i) = i == 5050", 1 + 4, 4);
    round_visits("f(i) = i == 5050 || i == 100 || i == 9998", 3 + 4 + 3 + 3, 10);
    round_visits("f(i) = i >= 5000 && i < 5100", 100 + 398, 300);
}
END_TEST

/* All rounds together: so many steps a vertex and a round. */
START_TEST(searches_visit_the_graph_once)
{
    for (int side = 100; side <= 200; side += 50) {
        const uint64_t steps =
            cost_with(side, SEARCH, "while (stored(f) > 0) { " ROUND "}").steps;
        ck_assert_msg(!STEPS_TELL ||
                          steps < 20 * (uint64_t)(side * side) + 200 * (uint64_t)side,
                      "a mesh of %d²: %d steps", side, (int)steps);
    }
    PRINTS("tensor G csr bool [4,4] = { (0,2): 1, (2,1): 1, (1,0): 1, (2,3): 1 }\n" SEARCH
           "while (stored(f) > 0) { " ROUND "}\nprint level",
           "0  2  1  2\n");
}
END_TEST

/* ---- results -------------------------------------------------------------------- */

#define P "tensor p dense i64 [3000]\np(i) = (i * 7919 + 13) % 3000\n"
#define X(type) "tensor x dense " type " [3000]\nx(i) = " type "(i % 100)\n"
#define R "tensor A csr f64 = random(300, 3000, density=0.01, seed=7)\n"
static const tiers_case gathers[] = {
    {P X("f64"), "y(i) = x(p(i))", NULL},
    {P X("u8"), "y(i) = x(p(i))", NULL},
    {P X("i64"), "y(i) = p(p(i)) + x(p(i))", NULL},
    {P X("f32"), "y = sum(i: x(p(i)) * i)", NULL},
    {P X("c128"), "y(i) = pad x(p(i) - 1500)", NULL},
    {P X("i64"), "y(i) = min(x(p(i)), x(p(i) // 2))", NULL},
    {P X("f64") R, "y(i) = A(i,j) * x(p(j))", NULL},
    {P X("f64") R, "y(i) = sum(j: A(p(i) % 300,j) * x(j))", NULL},
    {P X("i64") R, "y = sum(i,j: A(i,j) * p(x(j)))", NULL},
    {P "tensor s svec i64 [3000]\ns(i) = i % 7 == 3\ncompact s\n", "y(i) = s(p(i))", NULL},
    {P X("i64"), "y(i in 0:40) = any(j in 0:2000: p(x(j) + i) == 17)", NULL},
};

START_TEST(gathers_agree)
{
    statement_agrees(&gathers[_i]);
}
END_TEST

START_TEST(gathers_run_in_strips)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    stc_program *p;
    char *code;
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, P X("f64"), "before"));
    ck_ok(m, stc_session_compile(s, "y(i) = x(p(i))", &p));
    ck_ok(m, stc_program_explain(p, "code", &code));
    ck_assert_ptr_nonnull(strstr(code, "; tier 4: strip"));
    stc_text_free(m, code);
    stc_program_free(p);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

/* The first subscript that leaves its tensor is told, on every tier, and what would be
 * written isn't; what fails before it comes first. */
START_TEST(gathers_fail)
{
    expect_error(P X("f64") "p(2500) = 3000\np(2700) = -1\ny(i) = x(p(i))", STC_ERR_SHAPE,
                 "this subscript is 3000, and the dimension has size 3000 at (2500)");
    expect_error(P X("i64") "p(2700) = -1\ny(i) = x(p(i)) // (2600 - i)",
                 STC_ERR_ARITHMETIC, "integer division by zero at (2600)");
    expect_error(P X("i64") "p(2599) = -1\ny(i) = x(p(i)) // (2600 - i)", STC_ERR_SHAPE,
                 "this subscript is -1| at (2599)");
    expect_error(P R "p(17) = -5\ny(i) = A(i,j) * p(p(j % 40))", STC_ERR_SHAPE,
                 "this subscript is -5, and the dimension has size 3000");
    /* a row may be settled before it */
    expect_error(P "p(2700) = 3000\ny = any(i: p(p(i)) >= 0)", STC_ERR_SHAPE,
                 "this subscript is 3000");
}
END_TEST

/* Rows of few entries and of many, of which lanes that follow each other have one. */
#define HUBS(type, fill)                                                                   \
    "tensor L csr " type " [260,260] fill " fill "\n"                                      \
    "L(i,j) = select(i > j && (j % 20 == 0 || i % 20 == 0 || (i * 7 + j * 3) % 11 == 0), " \
    "1 + (i + j) % 3, " fill ")\ncompact L\n"
static const tiers_case shared_fibers[] = {
    {HUBS("f64", "0"), "y = L(i,j) * L(j,k) * L(i,k)", NULL},
    {HUBS("f32", "0"), "y(i) = L(i,j) * L(j,k) * L(i,k)", NULL},
    {HUBS("i64", "0"), "y(i,j) = L(i,j) * sum(k: L(j,k) * L(i,k))", NULL},
    {HUBS("i64", "0"), "y(i,j) = L(i,j) * sum(k: L(i,k) * L(j,k))", NULL},
    {HUBS("f64", "inf"), "y(i,j) = L(i,j) + min(k: L(i,k) + L(j,k))", NULL},
    {HUBS("f64", "0") "tensor D csr f64 [260,260]\nD(i,j) = select(j > 200, 1.5, 0.0)\n"
                      "compact D\n",
     "y(i,j) = sum(k: L(i,k) * D(j,k))", NULL},
    {HUBS("f64", "0") "tensor e f64 = 3\n", "y(i,j) = L(i,j) * e * sum(k: L(i,k)*L(j,k))",
     NULL},
};

/* Rows of masked products: masks of rows that are marked, that are longer by far than what
 * is looked up there, or shorter by far, or empty; more at a time than there is room for;
 * masks that are factors, and that are not. */
#define MASK(type, shape, rows) TO_CSR("M", type, shape, rows)
#define TO_CSR(name, type, shape, rows)                                                    \
    "tensor " name " csr " type " " shape "\n" name "(i,j) = " rows "\ncompact " name "\n"
#define FACTOR(name, type, shape, n)                                                       \
    TO_CSR(name, type, shape,                                                              \
           type "(select((i * 7 + j * 5) % " #n " == 0, 1 + (i + 2*j) % 5, 0))")
#define FACTORS(type, n) FACTOR("A", type, "[40,50]", n) FACTOR("B", type, "[50,3000]", n)
#define TO_ROWS(type) "tensor y csr " type " [40,3000]\n"
#define HUNDREDTH(type)                                                                    \
    MASK(type, "[40,3000]", type "(select((i * 31 + j) % 97 == 3, 2, 0))")
#define ONE_EACH(type) MASK(type, "[40,3000]", type "(select(j == 70 * i && i % 3, 3, 0))")
#define NEARLY_ALL(type) MASK(type, "[40,3000]", type "(select(i % 4 && j != 9, 3, 0))")
#define SIFTS "where another fiber is"
static const tiers_case masked_rows[] = {
    {FACTORS("f64", 9) HUNDREDTH("f64") TO_ROWS("f64"),
     "y(i,j) = (A(i,k) * B(k,j)) * M(i,j)", SIFTS},
    {FACTORS("f64", 2) HUNDREDTH("f64") TO_ROWS("f64"),
     "y(i,j) = M(i,j) * (A(i,k) * B(k,j))", SIFTS},
    {FACTORS("f64", 9) ONE_EACH("f64") TO_ROWS("f64"),
     "y(i,j) = (A(i,k) * B(k,j)) * M(i,j)", SIFTS},
    {FACTORS("f64", 2) NEARLY_ALL("f64") TO_ROWS("f64"),
     "y(i,j) = (A(i,k) * B(k,j)) * M(i,j)", SIFTS},
    {FACTORS("f64", 701) NEARLY_ALL("f64") TO_ROWS("f64"),
     "y(i,j) = (A(i,k) * B(k,j)) * M(i,j)", SIFTS},
    {FACTORS("i64", 5) HUNDREDTH("i64") TO_ROWS("i64"),
     "y(i,j) = (A(i,k) * B(k,j)) * M(i,j)", SIFTS},
    {FACTORS("i32", 5) HUNDREDTH("i32") TO_ROWS("i32"),
     "y(i,j) = (A(i,k) * B(k,j)) * M(i,j)", NULL},
    {"tensor u svec f64 [40] fill inf\ntensor A csr f64 [30,40] fill inf\n"
     "u(j) = select(j % 3 == 0, inf, 100.0 + j)\n"
     "A(i,j) = select((i * 7 + j * 5) % 4 == 0, 1.0 + i, inf)\ncompact A\ncompact u\n"
     "tensor y svec f64 [40] fill inf\n",
     "y(j) = min(i: u(j) + A(i,j)) with as_written", SIFTS},
    {FACTORS("f64", 5) HUNDREDTH("f64") TO_ROWS("f64"),
     "y(i,j) = sum(k: A(i,k) * M(i,j) * select(B(k,j) > 0, 1.0, 0.0))", NULL},
};

START_TEST(masked_rows_agree)
{
    statement_agrees(&masked_rows[_i]);
}
END_TEST

START_TEST(marked_fibers_agree)
{
    statement_agrees(&shared_fibers[_i]);
}
END_TEST

START_TEST(marks_do_without_memory)
{
    statement_starves(_i ? &masked_rows[0] : &shared_fibers[0]);
}
END_TEST

/* A term that is true settles its place; those that are stored and false don't, whether
 * they come before it or after. */
START_TEST(false_terms_settle_nothing)
{
    PRINTS("tensor W csr f64 [200,200] = random(density=0.1, seed=7)\n"
           "tensor V csr f64 [200,200] = random(density=0.1, seed=8)\n"
           "tensor A csr bool\n"
           "tensor B csr bool\n"
           "A(i,j) = W(i,j) > 0.5\n"
           "B(i,j) = V(i,j) > 0.8\n"
           "tensor C csr bool [200,200]\n"
           "C(i,j) = any(k: A(i,k) && B(k,j))\n"
           "D(i,j) = sum(k: i64(A(i,k)) * i64(B(k,j)))\n"
           "tensor x svec bool [200]\n"
           "x(i) = i > 150 where i % 2 == 0\n"
           "tensor y svec bool [200]\n"
           "y(j) = any(i: x(i) && B(i,j))\n"
           "z(j) = sum(i: i64(x(i)) * i64(B(i,j)))\n"
           "print stored(A) > sum(i,j: A(i,j)), stored(C) > sum(i,j: C(i,j))\n"
           "print sum(i,j: C(i,j) != (D(i,j) > 0)), sum(j: y(j) != (z(j) > 0))\n"
           "tensor E csr bool [200,200]\n"
           "E(i,j) = any(k: A(i,k) && B(k,j)) || any(k: B(i,k) && A(k,j))\n"
           "D(i,j) += sum(k: i64(B(i,k)) * i64(A(k,j)))\n"
           "print sum(i,j: E(i,j) != (D(i,j) > 0))\n",
           "1 1\n0 0\n0\n");
}
END_TEST

Suite *suite_graph(void)
{
    Suite *s = suite_create("graph");
    TCase *t = tcase_create("costs");
    tcase_add_test(t, conversions_are_kept);
    tcase_add_test(t, conversions_serve_others);
    tcase_add_test(t, whole_tensors_are_shared);
    tcase_add_test(t, patterns_are_shared);
    tcase_add_test(t, shared_patterns_are_kept);
    tcase_add_test(t, hosts_see_what_is_shared);
    tcase_add_test(t, rounds_visit_the_frontier);
    tcase_add_test(t, searches_visit_the_graph_once);
    suite_add_tcase(s, t);
    t = tcase_create("results");
    tcase_add_loop_test(t, gathers_agree, 0, sizeof gathers / sizeof *gathers);
    tcase_add_test(t, gathers_run_in_strips);
    tcase_add_test(t, gathers_fail);
    tcase_add_loop_test(t, marked_fibers_agree, 0,
                        sizeof shared_fibers / sizeof *shared_fibers);
    tcase_add_loop_test(t, masked_rows_agree, 0, sizeof masked_rows / sizeof *masked_rows);
    tcase_add_loop_test(t, marks_do_without_memory, 0, 2);
    tcase_add_test(t, false_terms_settle_nothing);
    suite_add_tcase(s, t);
    return s;
}
