/* check_opt.c: statements whose reductions are taken early: they give what they give as
 * written, to the last bit, since their values are small integers; they store as much;
 * and they take so many times fewer steps, so that a rewriting that is lost is seen
 * without a clock.
 */
#include "../src/session/session.h"
#include "check.h"
#include <stdlib.h>

typedef struct early {
    const char *declare, *text;
    /* fewer steps than as written; 0: as many, it stays as it is; negative: at most so
       many both ways */
    int64_t times;
} early;

#define M "tensor A csr i64 [200,200] = random(density=0.05, seed=1)\n"
#define VECTORS                                                                            \
    "tensor x dense i64 [200] = random(density=0.9, seed=2)\n"                             \
    "tensor z dense i64 [200] = random(density=0.9, seed=3)\n"                             \
    "tensor v svec i64 [200] = random(density=0.2, seed=4)\n"
#define WAYS                                                                               \
    "tensor W0 csr f64 [150,150] fill inf = random(density=0.07, seed=5)\n"                \
    "tensor W csr f64 [150,150] fill inf; W(i,j) = floor(100 * W0(i,j))\n"                 \
    "tensor d0 dense f64 [150] = random(density=1, seed=6)\n"                              \
    "d(i) = floor(100 * d0(i))\n"
#define WIDTHS WAYS "tensor V csr f64 [150,150] fill -inf; V(i,j) = 100 - W(i,j)\n"
#define TRUTHS                                                                             \
    "tensor P csr bool [200,200] = random(density=0.03, seed=7)\n"                         \
    "tensor q dense bool [200] = random(density=0.05, seed=8)\n"
#define LAYER M "tensor X dense i64 [200,200] = random(density=1, seed=11)\n"
#define HYPER                                                                              \
    "tensor H dcsr i64 [200,200] = random(density=0.05, seed=12)\n"                        \
    "tensor E coo i64 [200,200] = random(density=0.05, seed=13)\n"
#define SMALL                                                                              \
    "tensor R dense i64 [8,8] = random(density=0.9, seed=9)\n"                             \
    "tensor S csr i64 [8,8] = random(density=0.5, seed=10)\n"

#define USERS                                                                              \
    "fn most(a, b) = max(a, b) with commutative, associative, idempotent, identity(0)\n"   \
    "fn both(a, b) = a * b with commutative, associative, annihilator(0), identity(1), "   \
    "distributes(most)\n"                                                                  \
    "fn apart(a, b) = a * b with commutative, associative, annihilator(0), identity(1)\n"

#define IMAGE                                                                              \
    "tensor I dense i64 [60,70] = random(density=1, seed=11)\n"                            \
    "tensor J csr i64 [60,70] = random(density=0.5, seed=11)\n"                            \
    "tensor f dense i64 [7] = random(density=1, seed=12)\n"                                \
    "tensor F dense i64 [7,7] = random(density=1, seed=13)\n"

/* A power on the way is beyond all numbers, and what follows is 0. */
#define POWERS                                                                             \
    "tensor F csr f32 [3,3] = {(1,0): -2}\n"                                               \
    "tensor G dense f32 [1425]\n"                                                          \
    "tensor y dense f32 [3]\n"

static const early cases[] = {
#include "check_opt.def"
};

typedef struct ran {
    heap h;
    stc_machine *m;
    stc_session *s;
    uint64_t steps;
    const stc_tensor *y;
} ran;

static void run(ran *r, const early *c, bool as_written)
{
    r->m = machine_open(&r->h, false);
    ck_ok(r->m, stc_set_as_written(r->m, as_written));
    ck_ok(r->m, stc_session_open(r->m, &r->s));
    ck_ok(r->m, stc_session_exec(r->s, c->declare, "test"));
    ck_ok(r->m, stc_session_exec(r->s, c->text, "test"));
    r->steps = r->m->cx.steps;
    ck_ok(r->m, stc_session_get(r->s, "y", &r->y));
}

static void end(ran *r)
{
    stc_session_close(r->s);
    machine_shut(r->m, &r->h);
}

static void expect_equal(const ran *a, const ran *b, const char *text)
{
    const int order = stc_tensor_order(a->y);
    int64_t at[STC_MAX_ORDER] = {0}, n = 1;
    ck_assert_int_eq(order, stc_tensor_order(b->y));
    ck_assert_int_eq(stc_tensor_type(a->y), stc_tensor_type(b->y));
    ck_assert_msg(stc_tensor_stored(a->y) == stc_tensor_stored(b->y),
                  "%s: %lld stored, as written %lld", text,
                  (long long)stc_tensor_stored(b->y), (long long)stc_tensor_stored(a->y));
    for (int k = 0; k < order; k++)
        n *= stc_tensor_shape(a->y)[k];
    for (int64_t e = 0; e < n; e++) {
        stc_value u, v;
        int64_t left = e;
        for (int k = order - 1; k >= 0; k--) {
            at[k] = left % stc_tensor_shape(a->y)[k];
            left /= stc_tensor_shape(a->y)[k];
        }
        ck_ok(a->m, stc_tensor_get(a->y, at, &u));
        ck_ok(b->m, stc_tensor_get(b->y, at, &v));
        ck_assert_msg(stc_tensor_type(a->y) == STC_F64 ? u.f == v.f : u.i == v.i,
                      "%s: element %lld differs", text, (long long)e);
    }
}

START_TEST(sums_are_taken_early)
{
    const early *c = &cases[_i];
    ran written, ahead;
    run(&written, c, true);
    run(&ahead, c, false);
    expect_equal(&written, &ahead, c->text);
    const uint64_t fewer = c->times > 0 ? (uint64_t)c->times : 1;
    const bool few = c->times < 0   ? ahead.steps <= (uint64_t)-c->times
                     : c->times > 0 ? ahead.steps * fewer <= written.steps
                                    : ahead.steps <= 2 * written.steps;
    ck_assert_msg(few || !STEPS_TELL, "%s: %llu steps, as written %llu", c->text,
                  (unsigned long long)ahead.steps, (unsigned long long)written.steps);
    end(&written);
    end(&ahead);
}
END_TEST

/* Where no term is, there is no product either: not 0 * inf. */
START_TEST(nothing_is_no_factor)
{
    EXPECT("tensor A dense f64 [2,3] fill inf\ntensor N dense f64 [0]\n"
           "tensor x dense f64 [2]\nx(i) = 1.0 * i\n"
           "y(k) = sum(i,j,l: A(i,j) * N(l) * x(k))",
           "y", 0, 0);
}
END_TEST

/* What a schedule says, or what could fail, is done as it is written. */
START_TEST(others_stay)
{
    static const early stay[] = {
        {M VECTORS, "y(i) = A(i,j)*A(j,k)*x(k) with reorder(i,j,k)", 0},
        {M VECTORS, "y(i) = A(i,j)*A(j,k)*x(k) with as_written", 0},
        {SMALL, "y(i,j) = S(i+q,j)*R(q,k)*R(k,l)", 0},
        {M VECTORS, "y(i) = sum(j,k: A(i,j)*A(j,k)*(x(k) // (z(k) + 1)))", 0},
    };
    ran written, ahead;
    run(&written, &stay[_i], true);
    run(&ahead, &stay[_i], false);
    expect_equal(&written, &ahead, stay[_i].text);
    ck_assert_uint_eq(ahead.steps, written.steps);
    end(&written);
    end(&ahead);
}
END_TEST

/* A session plans with what its tensors hold, and says what it thinks of it. */
START_TEST(plans_say_why)
{
    expect_plan(M VECTORS, "y(i) = A(i,j)*A(j,k)*x(k)",
                "step: step1(j)|about 200 entries, 2.22e+03 visited|step: y(i)");
    expect_plan(M VECTORS, "y = A(i,j)*A(j,k)*A(k,i)",
                "reduced where it stands|visited, in steps|at best");
    expect_plan(SMALL, "y(a) = R(a,b)*R(b,c)", "reduced where it stands|in steps");
    expect_plan(M, "y = A(i,j)*A(j,k)*A(i,l)*A(l,k)",
                "step: step1|step1 is computed once, and read in several places|step: y");
    expect_plan(M VECTORS, "y(i) = sum(j,k: max(A(i,j), A(j,k)))",
                "reduced where it stands|no product");
    expect_plan(LAYER "tensor y dense i64 fill 0\n",
                "y(i,j) = sum(k: (X(k,i) - 5) * (X(k,j) - 5))",
                "step1 is computed once|step: step1(k,i)|step: y");
    expect_plan(LAYER, "y(i) = sum(k: (X(k,i) - 5) * (X(k,i) - 5))",
                "t0 add= ((X(k,i) - 5)");
    expect_plan(LAYER VECTORS, "y(j) = X(j,k)*z(k) - X(i,j)*x(i)",
                "step: step1(j):i64 = sum(i: X(i,j) * x(i))|for j in |X.1|step: y(j)");
    expect_plan(LAYER "tensor y csr i64\n", "y(i,k) = A(i,j)*A(j,l)*X(l,k)",
                "step1: (i,j) -> (i : compressed, j : dense)");
    expect_plan(LAYER "tensor y csr i64\n", "y(i,l) = A(i,j)*X(j,k)*X(k,l)",
                "step: step1(j,l)|step1: dense|step: y(i,l)");
    expect_plan(LAYER, "y(i,l) = A(i,j)*X(i,k)*X(j,k)*X(j,l)",
                "step: step1(i,j)|step1: csr|step: y(i,l)");
    expect_plan(M
                "tensor d dense f64 [200] = random(density=1, seed=3)\ntensor y csr f64\n",
                "y(j,i) = A(j,i) * sqrt(2 * sqrt(1 + d(i)))",
                "step: step1(i):f64 = sqrt(2:f64 * sqrt(|A(j,i)) * step1(i)");
}
END_TEST

/* Where only what isn't stored counts, it is looked at once, and not place by place. */
START_TEST(absent_at_once)
{
#define ELEVENTHS "tensor B csr bool [300,300]\nB(i,j) = (i * 7 + j * 3) % 11 == 0\n"
    expect_plan(ELEVENTHS, "y(i) = min(j: B(i,j))", "walk B.1");
    expect_plan(ELEVENTHS, "y(i) = all(j: B(i,j))", "walk B.1");
    EXPECT(ELEVENTHS "y(i) = min(j: B(i,j))\nB(9,j) = 1\nz(i) = all(j: B(i,j))\n"
                     "some = sum(i: z(i)) + 7 * any(i: y(i)) + 10 * z(9)",
           "some", 11);
#undef ELEVENTHS
    /* which of the result's places have a term is what isn't stored, too */
    EXPECT("format columns = (i,j) -> (j : compressed, i : dense)\n"
           "tensor A columns bool [6,19]\ntensor y csr f32 [4,6]\n"
           "y(k,j) max= !A(i,j(:18:3))\nsome = sum(k,j: y(k,j))",
           "some", 24);
}
END_TEST

/* What a product is divided by, one factor is, if that has fewer indices; what argmin asks
 * of each place is worked out once. */
START_TEST(quotients_and_choices)
{
#define REALS                                                                              \
    "tensor A csr f64 [300,300]\nA(i,j) = i + j where (i * 7 + j * 3) % 11 == 0\n"         \
    "tensor e dense f64 [300]\ne(i) = i % 7 - 3\nn = 4\n"
    expect_plan(REALS, "g(j) = A(i,j)*e(i) / n", "step: step1(i):f64 = e(i) /");
    expect_plan(REALS, "g(j) = min(i: e(i) + A(i,j) - n)", "step: step1(i):f64 = e(i) -");
    expect_plan(REALS, "g(i) = A(i,j)*e(j) / e(i)", "(A(i,j) * e(j)) / e(i)");
    expect_plan("tensor A csr f64 [300,300]\nA(i,j) = i where (i * 7 + j * 3) % 31 == 0\n"
                "tensor C dense f64 [40,300] = 2\n",
                "y(i) = argmin(c: C(c,7) - sum(j: A(i,j)*C(c,j)))",
                "step1 is computed once|step: y(i)");
    expect_plan("tensor T dense f64 [90,90] = 3\ntensor X dense f64 [9,90] = 2\n"
                "tensor v dense f64 [90] = 1\nt = 4\n",
                "y(j) = max(i: v(i) + T(i,j)) + X(t,j)", "step: step1(j)|step: y(j)");
    EXPECT(REALS "g(j) = A(i,j)*e(i) / n\nh(j) = A(i,j)*e(i)\n"
                 "far = sum(j: abs(g(j) - h(j) / 4)) + (max(j: h(j)) == 0)",
           "far", 0);
#undef REALS
    /* whether there was a term is asked of an index that an operand gives */
    EXPECT("fn f(x, y) { t = x\ns = y\nfor (n = 0; n < 3; n = n + 1) { s = s + t }\n"
           "return s }\ntensor D dense i8 [4]\ntensor E dense u32 [4,5] = 1\n"
           "tensor z svec f64 [2]\nz(k) = sum(i,j: f((i == D(j)) * E(j,i), 1))\n"
           "y(k) = z(k)\n",
           "y", 32, 32);
    /* what op= takes isn't rounded before it is masked */
    EXPECT("tensor A dense i16 [4,4]\ntensor D dense bool [4,4]\n"
           "tensor y dense i8 [4]\ny(i) min= A(j,i) + min(p: 1 where D(j,p)) where i < 3\n",
           "y", 0, 0, 0, 0);
}
END_TEST

/* Of a fill that depends on sizes the value has steps as any other's, and the fill is that
 * of the right side as it was written. */
START_TEST(later_fills)
{
#define FILLED                                                                             \
    "tensor K dense f64 [40,300] fill 1\nK(i,j) = 1 + (i + j) % 3\n"                       \
    "tensor u dense f64 [40] fill 2\nu(i) = 2 + i % 2\n"
    expect_plan(FILLED, "v(j) = 8 / sum(i: K(i,j) * u(i))", "step: step1(j)|step: v(j)");
    EXPECT(FILLED "v(j) = 8 / sum(i: K(i,j) * u(i))\ns(j) = K(i,j) * u(i)\n"
                  "far = sum(j: v(j) * s(j)) - 8 * 300\n"
                  "w(k in 0:3) = pad v(k - 1)\nfar += abs(w(0) - 8 / (40 * 1 * 2))",
           "far", 0);
    /* taken apart without a step */
    EXPECT("tensor B dense f64 [4,4,2]\ntensor F dense f64 [2,4,4]\n"
           "y(i,l) += 1 + abs(B(l,j,i)) - F(i,k,j)\nw(k in 0:2) = pad y(0,k - 1)\n",
           "w", 16, 16);
#undef FILLED
}
END_TEST

/* A step has another fill than what it stands for: the result is computed at all places.
 * What a factor stores, of which nothing is known yet, a step without holes doesn't tell.
 */
START_TEST(plans_without_data)
{
    const stc_value full = {.i = 1}, two = {.f = -2}, four = {.i = -4};
    const struct {
        const char *text, *plan;
        stc_decl operand[3];
    } waits[] = {
        {"y(i) = A(i) * B(i,j,j,j) * (1 + C)",
         "step: step1|for i in everything",
         {{0, "A", "dense", STC_BOOL, &full, -1},
          {0, "B", "dense", STC_F64, &two, -1},
          {0, "C", "dense", STC_F64, NULL, -1}}},
        {"y(i,l) = A(k,j) * B(i,j) * C(l,i) + 1",
         "step: y|for i in everything",
         {{0, "A", "dense", STC_I32, &full, -1},
          {0, "B", "dense", STC_I16, &four, -1},
          {0, "C", "dense", STC_BOOL, &full, -1}}},
        {"y(k,j) = A(k) * B(k,l) * C(j,k)",
         "y: csr|for k in ((A & B) & C)",
         {{0, "A", "svec", STC_U8, NULL, -1},
          {0, "B", "dense", STC_U8, NULL, -1},
          {0, "C", "dense", STC_I16, NULL, -1}}},
    };
    heap h;
    char *plan;
    stc_program *p;
    stc_machine *m = machine_open(&h, false);
    ck_ok(m, stc_compile(m, waits[_i].text, waits[_i].operand, 3, &p));
    ck_ok(m, stc_program_explain(p, "plan", &plan));
    ck_assert_msg(has_words(plan, waits[_i].plan), "%s", plan);
    stc_text_free(m, plan);
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

/* ---- planned again ------------------------------------------------------------------ */

typedef struct lab {
    heap h;
    stc_machine *m;
    stc_program *p;
    stc_tensor *made[80];
    int n;
} lab;

static void bind_random(lab *b, const char *name, int64_t rows, int64_t columns,
                        double density)
{
    const origin from = {
        .kind = STC_SOURCE_RANDOM, .density = density, .seed = 3, .type = -1};
    const int64_t shape[STC_MAX_ORDER] = {rows, columns};
    const prog_tensor *row = &b->p->p->tensor[program_input(b->p->p, name)];
    stc_tensor **t = &b->made[b->n++];
    ck_ok(b->m, origin_make(&b->m->cx, &from, &row->fmt, row->type, shape, row->fill, t));
    ck_ok(b->m, stc_bind(b->p, name, *t));
}

static void bind_three(lab *b, int64_t rows, int64_t columns, double density)
{
    bind_random(b, "A", rows, columns, density);
    bind_random(b, "B", columns, rows, density);
    bind_random(b, "C", rows, columns, density);
    ck_ok(b->m, stc_run(b->p));
}

static void lab_open(lab *b, const char *text, const char *levels)
{
    const stc_decl decl[] = {{.name = "A", .format = levels, .type = STC_F64, .order = 2},
                             {.name = "B", .format = levels, .type = STC_F64, .order = 2},
                             {.name = "C", .format = levels, .type = STC_F64, .order = 2}};
    *b = (lab){0};
    b->m = machine_open(&b->h, false);
    ck_ok(b->m, stc_compile(b->m, text, decl, 3, &b->p));
}

static void lab_shut(lab *b)
{
    stc_program_free(b->p);
    for (int k = 0; k < b->n; k++)
        stc_tensor_free(b->made[k]);
    machine_shut(b->m, &b->h);
}

/* Once for tensors whose statistics are alike, whichever were bound between them. */
START_TEST(planned_once_for_statistics)
{
    static const struct {
        int64_t rows, columns;
        uint64_t plans;
    } run[] = {{300, 2, 1}, {310, 3, 1}, {270, 2, 1},
               {2, 300, 2}, {290, 2, 2}, {3000, 2, 3}};
    lab b;
    lab_open(&b, "y(i,l) = A(i,j)*B(j,k)*C(k,l)", "dense");
    ck_assert(b.p->waits);
    for (size_t k = 0; k < sizeof run / sizeof *run; k++) {
        bind_three(&b, run[k].rows, run[k].columns, 1);
        const uint64_t steps = b.m->cx.steps;
        ck_ok(b.m, stc_run(b.p));
        ck_assert_uint_eq(b.p->plans, run[k].plans);
        /* along the short side, and not with rows * rows between the steps */
        ck_assert_uint_le(steps, (uint64_t)(40 * (run[k].rows + run[k].columns)));
    }
    char *plan;
    ck_ok(b.m, stc_program_explain(b.p, "plan", &plan));
    ck_assert_msg(has_words(plan, "about 4 entries|ran: step1, 4 entries|ran: y, 6000"),
                  "%s", plan);
    stc_text_free(b.m, plan);
    lab_shut(&b);
}
END_TEST

/* What can't be taken apart isn't planned again, nor is what is small. */
START_TEST(others_are_planned_once)
{
    static const char *const text[] = {"y(i) = A(i,j)*B(j,0)*C(0,0)",
                                       "y(i,l) = A(i,j)*B(j,k)*C(k,l)",
                                       "y(i,j) = A(i,j)+B(j,i)+C(i,j)"};
    lab b;
    lab_open(&b, text[_i], "csr");
    ck_assert_int_eq(b.p->waits, _i == 1);
    bind_three(&b, 9, 9, 0.5);
    ck_assert_uint_eq(b.p->plans, 0);
    lab_shut(&b);
}
END_TEST

/* A result in the host's memory stays where it is, and one of an earlier plan is there
 * until the next run. */
START_TEST(results_outlive_plans)
{
    lab b;
    const stc_tensor *y;
    static double values[300 * 300];
    lab_open(&b, "y(i,l) = A(i,j)*B(j,k)*C(k,l)", "dense");
    bind_three(&b, 300, 2, 1);
    bind_random(&b, "A", 2, 3, 1);
    ck_ok(b.m, stc_result(b.p, "y", &y));
    ck_assert_int_eq(stc_tensor_shape(y)[0], 300);
    ck_assert_int_eq(stc_run(b.p), STC_ERR_SHAPE);
    ck_ok(b.m, stc_lend_result(b.p, "y", values, 300 * 300));
    bind_three(&b, 300, 2, 1);
    ck_assert_uint_eq(b.p->plans, 2);
    ck_assert_double_gt(values[0], 0);
    lab_shut(&b);
}
END_TEST

/* Short of memory it isn't planned, runs are errors, and what was planned before stays. */
START_TEST(plans_starve)
{
    lab b;
    int failures = 0;
    lab_open(&b, "y(i,l) = A(i,j)*B(j,k)*C(k,l)", "dense");
    bind_three(&b, 300, 2, 1);
    bind_random(&b, "A", 2, 300, 1);
    bind_random(&b, "B", 300, 2, 1);
    bind_random(&b, "C", 2, 300, 1);
    for (;; failures++) {
        b.h.fail_at = b.h.calls + 1 + failures;
        b.h.failed = false;
        const stc_status st = stc_run(b.p);
        b.h.fail_at = 0;
        if (!st) break;
        ck_assert_int_eq(st, STC_ERR_MEMORY);
        ck_assert_uint_le(b.p->plans, 2);
    }
    ck_assert_int_gt(failures, 3);
    ck_assert_uint_eq(b.p->plans, 2);
    lab_shut(&b);
}
END_TEST

/* ---- scripts ---------------------------------------------------------------------- */

typedef struct said {
    const char *declare, *between; /* the two statements */
    bool shared;
} said;

#define FIRST "y(i) = A(i,j)*A(j,k)*A(k,l)*x(l)\n"
#define SECOND "w(p) = z(p)*sum(q,r,s: A(p,q)*A(q,r)*x(s)*A(r,s))\n"

#define DENSE(name) "tensor " name " dense i64 [200]\n"

static const said saids[] = {
    {"", "", true},
    {"", "z(i) = 2*z(i)\nfor n in 0:2 { u(i) = A(i,j)*A(j,k)*z(k) }\n", true},
    {"", "x(i) = 3*x(i)\n", false},
    {"", "B(i,j) = A(i,j)\nA(i,j) = B(j,i)\n", false},
    {DENSE("y") DENSE("w"), "", true},
    {DENSE("w"), "", true},
    {DENSE("y"), "", false},         /* w stores what has a term, which y doesn't tell */
    {"", "for n in 0:1 {\n", false}, /* rounds of loops have what is kept for them    */
};

static uint64_t steps_of(ran *r, const char *declare, const char *text)
{
    r->m = machine_open(&r->h, false);
    ck_ok(r->m, stc_session_open(r->m, &r->s));
    ck_ok(r->m, stc_session_exec(r->s, M VECTORS, "test"));
    ck_ok(r->m, stc_session_exec(r->s, declare, "test"));
    ck_ok(r->m, stc_session_exec(r->s, text, "test"));
    return r->m->cx.steps;
}

/* What a script's statement has computed on the way, and nobody has changed since, a later
 * one reads; no other text does. */
START_TEST(scripts_share_steps)
{
    const said *c = &saids[_i];
    char first[200], both[400];
    ran a, b, apart;
    const bool loop = strchr(c->between, '{') && !strchr(c->between, '}');
    snprintf(first, sizeof first, FIRST "%s%s", c->between, loop ? "}" : "");
    snprintf(both, sizeof both, FIRST "%s" SECOND "%s", c->between, loop ? "}" : "");
    const uint64_t alone = steps_of(&a, c->declare, first);
    const uint64_t together = steps_of(&b, c->declare, both);
    (void)steps_of(&apart, c->declare, first);
    ck_assert_int_eq(apart.s->shelf.n, 0); /* nothing outlives a text */
    ck_ok(apart.m, stc_session_exec(apart.s, SECOND, "test"));
    const uint64_t second = apart.m->cx.steps;
    ck_ok(b.m, stc_session_get(b.s, "w", &b.y));
    ck_ok(apart.m, stc_session_get(apart.s, "w", &apart.y));
    expect_equal(&b, &apart, c->between);
    ck_assert_msg(!STEPS_TELL || (together < alone + second / 2) == c->shared,
                  "%s%s: %llu steps, and %llu; both %llu", c->declare, c->between,
                  (unsigned long long)alone, (unsigned long long)second,
                  (unsigned long long)together);
    end(&a);
    end(&b);
    end(&apart);
}
END_TEST

/* A script that runs out of memory leaves nothing behind. */
START_TEST(scripts_starve)
{
    ran r;
    int failures = 0;
    (void)steps_of(&r, "", "y(i) = 0*x(i)\nw(i) = 0*x(i)\n");
    for (;; failures++) {
        r.h.fail_at = r.h.calls + 1 + failures;
        r.h.failed = false;
        const stc_status st = stc_session_exec(r.s, FIRST SECOND, "test");
        r.h.fail_at = 0;
        ck_assert_int_eq(r.s->shelf.n, 0);
        if (!st) break;
        ck_assert_int_eq(st, STC_ERR_MEMORY);
    }
    ck_assert_int_gt(failures, 3);
    end(&r);
}
END_TEST

/* ---- programs from files ---------------------------------------------------------- */

/* The lab's program becomes what its bytes say; or its text, with `was` replaced. */
static void load_again(lab *b, const char *was, const char *is)
{
    void *bytes;
    size_t size;
    char *text;
    stc_program *p;
    ck_ok(b->m, stc_program_encode(b->p, &bytes, &size));
    ck_ok(b->m, stc_program_decode(b->m, bytes, size, &p));
    stc_text_free(b->m, bytes);
    if (was) {
        ck_ok(b->m, stc_program_dump(p, &text));
        char *at = strstr(text, was);
        ck_assert(at && strlen(was) == strlen(is));
        memcpy(at, is, strlen(is));
        stc_program_free(p);
        ck_ok(b->m, stc_program_assemble(b->m, text, NULL, &p));
        stc_text_free(b->m, text);
    }
    stc_program_free(b->p);
    b->p = p;
}

static void bind_square(lab *b, int64_t n, bool result)
{
    bind_random(b, "A", n, n, 0.5);
    bind_random(b, "B", n, n, 0.5);
    bind_random(b, "C", n, n, 0.5);
    if (result) bind_random(b, "y", n, 1, 0.5);
}

/* What was declared beside the text is kept, and what wasn't is still chosen. */
START_TEST(files_are_planned_again)
{
    static const char *const text[] = {
        "y(i,l) = A(i,j)*B(j,k)*C(k,l)",
        "fn twice(x) = x + x\nt(i,k) = A(i,j)*B(j,k)\ny(i,l) = twice(t(i,k)*B(k,m)*C(m,l))",
        "y(i) += A(i,j)*B(j,k)*C(k,l)",
        ("format odd = (i,j) -> (j : dense, i : compressed)\ntensor y odd\n"
         "y(i,l) = sum(j,k: A(i,j)*B(j,k)*C(k,l)) > 1")};
    const stc_value none = {.f = 0};
    const stc_decl decl[] = {
        {.name = "A", .format = "csr"},
        {.name = "B", .format = "csr", .fill = &none},
        {.name = "C", .format = "csc", .type = STC_F32, .order = 2},
        {.name = "y", .format = _i == 2 ? "dense" : "csr", .type = _i ? -1 : STC_F32},
        {.name = "unused", .format = "csr"}};
    lab b = {0};
    b.m = machine_open(&b.h, false);
    ck_ok(b.m, stc_compile(b.m, text[_i], decl, 5, &b.p));
    ck_assert(b.p->waits);
    for (int turn = 0; turn < 2; turn++) {
        load_again(&b, NULL, NULL);
        ck_assert(b.p->waits);
        bind_square(&b, 30, _i == 2);
        if (turn == 0) ck_ok(b.m, stc_program_plan(b.p));
        ck_ok(b.m, stc_run(b.p));
        ck_assert_uint_eq(b.p->plans, !turn); /* the second file has the plan itself */
        ck_assert(b.p->waits);
    }
    bind_square(&b, 100, _i == 2);
    ck_ok(b.m, stc_run(b.p));
    ck_assert_uint_eq(b.p->plans, 1);
    lab_shut(&b);
}
END_TEST

/* Runs the lab's program on squares of each size; how often it was planned anew. */
static uint64_t plans_for(lab *b, const int64_t *sizes, int n)
{
    const uint64_t before = b->p->plans;
    for (int k = 0; k < n; k++) {
        bind_square(b, sizes[k], false);
        ck_ok(b->m, stc_run(b->p));
    }
    return b->p->plans - before;
}

/* All that a program was planned for is in its file, in that of a file, too, and isn't
 * planned again; other data are. The text has one of them. */
START_TEST(files_have_several_plans)
{
    static const int64_t size[] = {30, 100, 300, 60};
    const stc_decl decl[] = {{.name = "A", .format = "csr"},
                             {.name = "B", .format = "csr"},
                             {.name = "C", .format = "csr"}};
    lab b = {0};
    char *text;
    b.m = machine_open(&b.h, false);
    ck_ok(b.m, stc_compile(b.m, "y = A(i,j)*B(j,k)*C(k,l)", decl, 3, &b.p));
    ck_assert_uint_eq(plans_for(&b, size, 3), 3);
    for (int turn = 0; turn < 2; turn++) {
        load_again(&b, NULL, NULL);
        ck_assert_uint_eq(plans_for(&b, size, 3), 0);
    }
    ck_assert_uint_eq(plans_for(&b, size + 3, 1), 1);
    load_again(&b, NULL, NULL);
    ck_assert_uint_eq(plans_for(&b, size, 4), 0);
    ck_ok(b.m, stc_program_dump(b.p, &text));
    ck_assert_ptr_nonnull(strstr(text, "\n; its file has a plan for data like 0x"));
    stc_text_free(b.m, text);
    load_again(&b, "y = A", "y = A");
    ck_assert_uint_eq(plans_for(&b, size, 4), 3);
    lab_shut(&b);
}
END_TEST

/* A program keeps eight other plans, and a file has them all. */
START_TEST(files_have_so_many_plans)
{
    static const int64_t size[] = {20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240};
    lab b;
    lab_open(&b, "y(i,l) = A(i,j)*B(j,k)*C(k,l)", "csr");
    for (int k = 0; k < 10; k++)
        bind_three(&b, size[k], 20, 1);
    ck_assert_uint_eq(b.p->plans, 10);
    load_again(&b, NULL, NULL);
    for (int k = 2; k < 10; k++)
        bind_three(&b, size[k], 20, 1);
    ck_assert_uint_eq(b.p->plans, 0);
    bind_three(&b, size[0], 20, 1);
    ck_assert_uint_eq(b.p->plans, 1);
    lab_shut(&b);
}
END_TEST

/* A file whose text isn't what its code was made of runs as its code says, on any number of
 * threads. */
START_TEST(texts_that_lie)
{
    static const char *const is[] = {
        "z(i,l) = A(i,j)*B(j,k)*C(k,l)", "y(i,l) = A(i,j)*B(j,k)*D(k,l)",
        "y(i,l) = A(i,j)*B(j,k)+A(k,l)", "y(i,l) = A(i,j)*B(j,k)*C(k,l"};
    const stc_tensor *y;
    lab b;
    lab_open(&b, "y(i,l) = A(i,j)*B(j,k)*C(k,l)", "csr");
    char text[100];
    snprintf(text, sizeof text, "%-29s", is[_i % 4]);
    load_again(&b, "y(i,l) = A(i,j)*B(j,k)*C(k,l)", text);
    if (_i >= 4) machine_share(b.m, 2);
    ck_assert(b.p->waits);
    bind_three(&b, 300, 2, 1);
    ck_ok(b.m, stc_result(b.p, "y", &y));
    ck_assert_int_eq(stc_tensor_shape(y)[1], 2);
    ck_assert_uint_eq(b.p->plans, 0);
    ck_assert(!b.p->waits);
    lab_shut(&b);
}
END_TEST

/* A loop's statement is compiled when its tensors leave what it was planned for. */
START_TEST(loops_plan_for_statistics)
{
    static const struct {
        const char *text;
        uint64_t least, most;
    } loop[] = {
        {"repeat 50 { y(i) = A(i,j)*A(j,k)*x(k) }", 1, 3},
        {"repeat 50 { y(i) = A(i,j)*A(j,k)*x(k)\nA(i,j) = 2*A(i,j) }", 2, 4},
        {"y(i) = A(i,j)*x(j)\n"
         "repeat 40 { y(i) = y(i) + A(i,j)*A(j,k)*y(k)\nA(i,j) = A(i,j) + G(j,i) }",
         5, 5},
    };
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, M VECTORS "tensor G csr i64; G(i,j) = A(i,j)", "test"));
    const uint64_t before = s->plans;
    ck_ok(m, stc_session_exec(s, loop[_i].text, "test"));
    ck_assert_uint_ge(s->plans - before, loop[_i].least);
    ck_assert_uint_le(s->plans - before, loop[_i].most);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

/* Expressions of more operands than a plan has room for are cut: the same values, stored at
 * the same places, as added one by one. */
START_TEST(many_operands)
{
    static const char *const joined[] = {" + ", " * ", ", "};
    enum { OPERANDS = 90, ROOM = 1 << 16 };
    const int k = _i;
    char *text = malloc(ROOM);
    int n = 0;
#define SAY(...) n += snprintf(text + n, (size_t)(ROOM - n), __VA_ARGS__)
    for (int a = 0; a < OPERANDS; a++)
        SAY("tensor a%d csr f64 [9,9] = random(density=%s, seed=%d)\n", a,
            k == 1 ? "0.98" : "0.004", a);
    SAY("tensor z csr f64 [9,9]\nz(i,j) = a0(i,j)\n");
    for (int a = 1; a < OPERANDS; a++)
        SAY("z(i,j) = %s(z(i,j)%sa%d(i,j))\n", k == 2 ? "max" : "", joined[k], a);
    SAY("y(i,j) = ");
    for (int a = 1; a < OPERANDS; a++)
        SAY("%s(", k == 2 ? "max" : "");
    SAY("a0(i,j)");
    for (int a = 1; a < OPERANDS; a++)
        SAY("%sa%d(i,j))", joined[k], a);
    SAY("\nfar = max(i,j: abs(y(i,j) - z(i,j)))\nsame = stored(y) == stored(z)\n"
        "some = stored(y) > 5 && stored(y) < 81\n");
#undef SAY
    EXPECT(text, "same", 1);
    EXPECT(text, "some", 1);
    EXPECT(text, "far", 0);
    free(text);
}
END_TEST

Suite *suite_opt(void)
{
    Suite *s = suite_create("opt");
    TCase *t = tcase_create("early");
    tcase_add_loop_test(t, sums_are_taken_early, 0, sizeof cases / sizeof *cases);
    tcase_add_test(t, nothing_is_no_factor);
    tcase_add_test(t, plans_say_why);
    tcase_add_test(t, quotients_and_choices);
    tcase_add_test(t, later_fills);
    tcase_add_loop_test(t, plans_without_data, 0, 3);
    tcase_add_test(t, absent_at_once);
    tcase_add_loop_test(t, others_stay, 0, 4);
    tcase_add_test(t, planned_once_for_statistics);
    tcase_add_test(t, results_outlive_plans);
    tcase_add_test(t, plans_starve);
    tcase_add_loop_test(t, scripts_share_steps, 0, sizeof saids / sizeof *saids);
    tcase_add_test(t, scripts_starve);
    tcase_add_loop_test(t, others_are_planned_once, 0, 3);
    tcase_add_loop_test(t, files_are_planned_again, 0, 4);
    tcase_add_test(t, files_have_several_plans);
    tcase_add_test(t, files_have_so_many_plans);
    tcase_add_loop_test(t, texts_that_lie, 0, 8);
    tcase_add_loop_test(t, loops_plan_for_statistics, 0, 3);
    tcase_add_loop_test(t, many_operands, 0, 3);
    suite_add_tcase(s, t);
    return s;
}
