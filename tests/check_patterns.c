/* check_patterns.c: what sparse results store: the coordinates that a term reached, and no
 * others, on every tier.
 *
 * Operands have positive values, so that a place that a term reached isn't 0; then the
 * same entries are all 0, and as many places must be stored. */
#include "check.h"
#include <string.h>

#define MATRICES                                                                           \
    "tensor A csr f64 [60,70] = random(density=0.04, seed=3)\n"                            \
    "tensor B csc f64 [70,50] = random(density=0.03, seed=4)\n"                            \
    "tensor D dense f64 [70,50] = random(density=1, seed=5)\n"                             \
    "tensor M csr f64 [60,50] = random(density=0.2, seed=6)\n"                             \
    "tensor H dcsr f64 [60,70] = random(density=0.01, seed=7)\n"                           \
    "tensor E coo f64 [60,70] = random(density=0.02, seed=8)\n"                            \
    "tensor G bcsr(2,5) f64 [60,70] = random(density=0.01, seed=9)\n"                      \
    "tensor T csf f64 [60,30,70] = random(density=0.001, seed=10)\n"                       \
    "tensor x svec f64 [70] = random(density=0.1, seed=11)\n"                              \
    "tensor d dense f64 [70] = random(density=1, seed=12)\n"                               \
    "tensor h hash f64 [70] = random(density=0.2, seed=13)\n"                              \
    "tensor s svec f64 [60] = random(density=0.1, seed=14)\n"                              \
    "tensor u svec f64 [50] = random(density=0.3, seed=15)\n"
#define ZEROS                                                                              \
    "z = 0.0\nA(i,j) = A(i,j) * z\nB(i,j) = B(i,j) * z\nD(i,j) = D(i,j) * z\n"             \
    "M(i,j) = M(i,j) * z\nH(i,j) = H(i,j) * z\nE(i,j) = E(i,j) * z\n"                      \
    "T(i,j,k) = T(i,j,k) * z\nx(i) = x(i) * z\nd(i) = d(i) * z\nh(i) = h(i) * z\n"         \
    "s(i) = s(i) * z\nu(i) = u(i) * z\n"

/* Into y of this format. */
static const struct pattern_case {
    const char *format, *text;
} cases[] = {
    {"svec", "y(i) = A(i,j)"},
    {"svec", "y(i) = A(i,j) * x(j)"},
    {"svec", "y(i) = A(i,j) * d(j)"},
    {"svec", "y(i) = A(i,j) * h(j)"},
    {"svec", "y(i) = 2 * A(i,j) * h(j)"},
    {"svec", "y(i) = 2 * A(i,j) * d(j)"},
    {"svec", "y(i) = A(i,j) * d(j) * d(j)"},
    {"svec", "y(i) = A(i,j) * A(i,j) * d(j)"},
    {"svec", "y(i) = D(i,j) * D(i,j)"},
    {"svec", "y(i) = x(i) * D(i,j)"},
    {"svec", "y(j) = A(i,j) * s(i)"},
    {"svec", "y(j) = x(i) * B(i,j)"},
    {"svec", "y(i) = H(i,j) * x(j)"},
    {"svec", "y(i) = H(i,j)"},
    {"svec", "y(i) = E(i,j) * d(j)"},
    {"hash", "y(i) = A(i,j) * x(j)"},
    {"svec", "y(i) = A(i,j) * x(j) + s(i)"},
    {"svec", "y(i) = s(i) + A(i,j) * x(j) + E(i,j)"},
    {"svec", "y(i) = 2 * sum(j: A(i,j) * x(j)) * sum(k: H(i,k))"},
    {"svec", "y(i) = sqrt(sum(j: A(i,j) * x(j))) + s(i)"},
    {"svec", "y(i) = s(i) * sum(j: A(i,j) * h(j))"},
    {"svec", "y(i) = sum(j: A(i,j) * sum(k: B(j,k) * u(k)))"},
    {"svec", "y(i) = A(i,j) * sum(k: B(j,k) * u(k))"},
    {"svec", "y(j) = A(i,j) * sum(k: M(i,k) * u(k))"},
    {"svec", "y(i) = A(i,j) * B(j,k) * u(k)"},
    {"svec", "y(i) = max(j: A(i,j) * x(j))"},
    {"svec", "y(i) = max(j: A(i,j))"},
    {"svec", "y(i) = max(j: A(i,j) * x(j)) + s(i)"},
    {"svec", "y(i) = T(i,j,k) * x(k)"},
    {"svec", "y(k) = T(i,j,k) * s(i)"},
    {"svec", "y(i) = x(i+p) * u(p)"},
    {"csr", "y(i,j) = A(i,k) * B(k,j)"},
    {"csr", "y(i,j) = M(i,j) * A(i,k) * B(k,j)"},
    {"csr", "y(i,j) = M(i,j) * A(i,k) * D(k,j)"},
    {"csr", "y(i,j) = M(i,j) * sum(k: A(i,k) * B(k,j))"},
    {"csr", "y(i,j) = M(i,j) * A(i,k) * B(k,j) + M(i,j) * sum(k: H(i,k))"},
    {"csr", "y(i,j) = A(i,k) * B(k,j) + s(i) * u(j)"},
    {"csr", "y(i,j) = A(i,k) * D(k,j) with reorder(i,j,k)"},
    {"csr", "y(i,j) = A(i,k) * D(k,j)"},
    {"csr", "y(i,j) = A(i,k) * B(k,j) with reorder(i,j,k)"},
    {"csr", "y(i,j) = T(i,j,k) * x(k)"},
    {"csr", "y(i,j) = T(k,i,j) * s(k)"},
    {"csc", "y(i,j) = M(i,j) * A(i,k) * B(k,j)"},
    {"dcsr", "y(i,j) = M(i,j) * H(i,k) * B(k,j)"},
    {"coo", "y(i,j) = M(i,j) * A(i,k) * B(k,j)"},
    {"coo", "y(i,j) = E(i,k) * B(k,j)"},
    {"hash", "y(i,j) = M(i,j) * A(i,k) * B(k,j)"},
    {"dcsr", "y(j,i) = M(i,j) * A(i,k) * B(k,j)"},
    {"csr", "y(i,j) = A(i,j) * sum(k: M(i,k) * u(k))"},
    {"csr", "y(i,j) = E(i,j) * B(j,k) with precompute(B(j,k), W, {j})"},
    {"csr", "y(i,j) = A(i+p,j+q) * M(p,q) with reorder(i,j,p,q)"},
    {"csr", "y(i,j) = A(i+p,j+q) * M(p,q)"},
    {"svec", "y(i) = A(i,j) * x(j) with split(i,i0,i1,7)"},
    {"csr", "y(i,j) = M(i,j) * A(i,k) * B(k,j) with fuse(i,j,f)"},
    {"csr", "y(i,j) = M(i,j) * A(i,k) * B(k,j) with fuse(i,j,f), pos(f,p,M(i,j))"},
    {"dcsr", "y(i,j) = M(i,j) * A(i,k) * B(k,j) with fuse(i,j,f), pos(f,p,M(i,j))"},
    {"svec", "y(i) = A(i,j) * x(j) with parallelize(i)"},
    {"csr", "y(i,j) = M(i,j) * A(i,k) * B(k,j) with parallelize(i)"},
};

typedef struct count {
    int64_t all, set;
} count;

static int look(void *to, const int64_t *coords, stc_value v)
{
    (void)coords;
    count *c = to;
    c->all++;
    c->set += v.f != 0;
    return 0;
}

enum { WAYS = 5 };

static count run(const struct pattern_case *c, int way, bool zeros)
{
    heap h;
    stc_machine *m = machine_open(&h, way == 1);
    if (way == 2) machine_plain(m);
    if (way > 2) machine_share(m, way - 1);
    stc_session *in;
    const stc_tensor *y;
    char text[300];
    snprintf(text, sizeof text, "tensor y %s f64\n%s\n", c->format, c->text);
    ck_ok(m, stc_session_open(m, &in));
    ck_ok(m, stc_session_exec(in, MATRICES, "operands"));
    if (zeros) ck_ok(m, stc_session_exec(in, ZEROS, "zeros"));
    ck_ok(m, stc_session_exec(in, text, "statement"));
    ck_ok(m, stc_session_get(in, "y", &y));
    ck_ok(m, stc_tensor_check((stc_tensor *)y));
    count n = {0};
    ck_ok(m, stc_tensor_visit(y, look, &n));
    stc_session_close(in);
    machine_shut(m, &h);
    return n;
}

START_TEST(stored_where_terms_reach)
{
    const int64_t base = run(&cases[_i], 1, false).all;
    for (int way = 0; way < WAYS; way++) {
        const count some = run(&cases[_i], way, false), none = run(&cases[_i], way, true);
        ck_assert_msg(some.all == some.set && some.all > 0,
                      "%s into %s, way %d: %lld places are stored, terms reach %lld",
                      cases[_i].text, cases[_i].format, way, (long long)some.all,
                      (long long)some.set);
        ck_assert_msg(some.all == base,
                      "%s into %s, way %d: %lld places are stored, by base operations %lld",
                      cases[_i].text, cases[_i].format, way, (long long)some.all,
                      (long long)base);
        ck_assert_msg(none.all == some.all,
                      "%s into %s, way %d: of zeros %lld places are stored, not %lld",
                      cases[_i].text, cases[_i].format, way, (long long)none.all,
                      (long long)some.all);
    }
}
END_TEST

/* What a place is told by: coordinates as text. */
static int note(void *to, const int64_t *coords, stc_value v)
{
    (void)v;
    char *out = to;
    snprintf(out + strlen(out), 200 - strlen(out), "%s%lld", *out ? " " : "",
             (long long)coords[0]);
    return 0;
}

#define ALL_ROWS "0 0 0 0 0 0 1 1 1 1 1 1 2 2 2 2 2 2 3 3 3 3 3 3 4 4 4 4 4 4 5 5 5 5 5 5"

static void expect_stored(const char *script, const char *want)
{
    for (int way = 0; way < WAYS; way++) {
        heap h;
        stc_machine *m = machine_open(&h, way == 1);
        if (way == 2) machine_plain(m);
        if (way > 2) machine_share(m, way - 1);
        stc_session *in;
        const stc_tensor *y;
        char got[200] = "";
        ck_ok(m, stc_session_open(m, &in));
        const stc_status st = stc_session_exec(in, script, "test");
        ck_assert_msg(st == STC_OK, "%s\n%s", script, stc_error(m)->message);
        ck_ok(m, stc_session_get(in, "y", &y));
        ck_ok(m, stc_tensor_visit(y, note, got));
        ck_assert_msg(!strcmp(got, want), "%s\nway %d: %s is stored, expected %s", script,
                      way, got, want);
        stc_session_close(in);
        machine_shut(m, &h);
    }
}

START_TEST(terms_by_their_kind)
{
    static const char some[] =
        "tensor A svec f64 [8] = {(1): 3}\n"
        "tensor B csc f64 [8,8] = {(1,2): 3, (2,3): 4, (1,5): 0, (0,7): 1}\n"
        "tensor S csr f64 [6,6] = {(1,2): 3, (2,3): 4, (1,5): -3, (5,5): 0}\n"
        "tensor K csr i64 [6,6] = {(1,2): 3, (2,3): 0, (4,5): 1}\n"
        "tensor W csr f64 [6,6] fill inf = {(1,2): 3, (2,3): inf, (5,5): 0}\n"
        "tensor v svec f64 [6] fill inf = {(2): 1, (5): inf}\n";
    static const char *const want[][2] = {
        {"tensor y svec f64 [8]\ny(j) = A(i) * B(i,j)", "2 5"},
        {"tensor y svec f64\ny(i) = S(i,j)", "1 2 5"},
        {"tensor y svec f64 [6] = {(0): 1, (1): 1}\ny(i) += S(i,j)", "0 1 2 5"},
        {"tensor y svec f64 [6] = {(0): 1, (1): 1}\ny(i) *= S(i,j)", "0 1"},
        {"tensor y svec f64\ny(i) = max(j: S(i,j))", "1 2 5"},
        {"tensor y svec f64\ny(i) = prod(j: S(i,j))", "1 2 5"},
        {"tensor y svec f64\ny(i) = prod(j: S(i,j) + 1)", "1 2 5"},
        {"tensor y svec f64\ny(i) = min(j: W(i,j) + v(j))", "1 5"},
        {"tensor y svec f64 [6] fill inf\ny(i) min= W(i,j) + v(j)", "1 5"},
        {"tensor y svec f64 [6] fill inf = {(3): 7}\ny(i) min= W(i,j) + v(j)", "1 3 5"},
        {"tensor y svec bool\ny(i) = any(j: K(i,j) != 0)", "1 2 4"},
        {"tensor y svec f64\ny(i) = -S(i,j) - sum(j: K(i,j))", "1 2 4 5"},
        {"tensor y svec f64\ny(i) = sum(j: S(i,j)) / 2", "1 2 5"},
        {"tensor y svec f64\ny(i) = sum(j: S(i,j)) + 1", "1 2 5"},
        {"tensor y svec f64 fill 1\ny(i) = sum(j: S(i,j))", "0 1 2 3 4 5"},
        {"tensor y svec i64\ny(i) = select(K(i,1) > 0, 1, sum(j: K(i,j)))", "1 2 4"},
        {"fn f(a, b) = a + b with commutative, associative, identity(0)\n"
         "tensor y svec f64\ny(i) = f(j: S(i,j) * K(i,j))",
         "1 2"},
        {"tensor y svec f64 [12]\ny(2*i) = S(i,j)", "2 4 10"},
        {"tensor y svec f64 [6] = {(0): 1}\ny(5) += S(i,j)", "0 5"},
        {"tensor y svec f64 [6]\ny(3) = S(i,j) * K(i,j)", "3"},
        /* Compressed by each tier as it likes; every place is stored. */
        {"tensor y lz77 f64 [6,6] = 2\ny(i,j) += S(i,j)", ALL_ROWS},
        {"tensor y rle f64 [6,6] = 2\ny(i,j) += S(i,j)", ALL_ROWS},
    };
    char script[1000];
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        snprintf(script, sizeof script, "%s%s", some, want[k][0]);
        expect_stored(script, want[k][1]);
    }
}
END_TEST

/* More reductions than a leaf has room to ask for: what loops come to is stored. */
START_TEST(many_reductions)
{
    char script[2000] = "tensor A csr f64 [2,2] = { (0,0): 1, (0,1): 1, (1,1): 1 }\n"
                        "tensor C csr f64 [2,2]\nC(i,j) = 1";
    for (int k = 0; k < 18; k++)
        sprintf(strchr(script, 0), " * max(k%d: A(i,k%d) * A(k%d,j))", k, k, k);
    strcat(script, "\ntensor c dense f64\nc(i,j) = C(i,j)");
    EXPECT(script, "c", 1, 1, 0, 1);
}
END_TEST

Suite *suite_patterns(void)
{
    Suite *s = suite_create("patterns");
    TCase *t = tcase_create("patterns");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, stored_where_terms_reach, 0,
                        (int)(sizeof cases / sizeof *cases));
    tcase_add_test(t, terms_by_their_kind);
    tcase_add_test(t, many_reductions);
    suite_add_tcase(s, t);
    return s;
}
