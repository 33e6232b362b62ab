/* check_rounds.c: what a loop's rounds don't change is computed in the first, and what two
 * statements of a program have in common is computed once: counted, not timed, by the steps
 * that a round more, or the program, takes, at two sizes; and that what changes is computed
 * again, however it changes, with the same values as without.
 */
#include "../src/session/session.h"
#include "check.h"

typedef struct loop {
    const char *declare, *body;
    int64_t times; /* so many times fewer steps in each round; 1: as many, it stays      */
} loop;

/* %d: the size, twice for a matrix. */
#define A "tensor A csr i64 [n,n] = random(density=0.05, seed=1)\n"
#define B "tensor B csr i64 [n,n] = random(density=0.05, seed=2)\n"
#define V                                                                                  \
    "tensor z dense i64 [n] = random(density=0.9, seed=3)\n"                               \
    "tensor x dense i64 [n] = random(density=0.9, seed=4)\n"                               \
    "tensor v svec i64 [n] = random(density=0.3, seed=5)\n"
#define CHANGE "; x(i) = x(i) + k"

static const loop loops[] = {
    /* a product, a row's sum, and what is reduced by others */
    {A B V, "y(i) = x(i) * sum(j,l: A(i,j)*B(j,l)*z(l))" CHANGE, 5},
    {A V, "y(i) = x(i) + sum(j: A(i,j))" CHANGE, 4},
    {A V, "y(i) = x(i) * max(j: A(i,j) * z(j))" CHANGE, 4},
    {A V, "y += sum(i,j: A(i,j)*z(j))" CHANGE, 8},
    {A V "tensor y svec i64\n", "y(i) = v(i) * x(i) * sum(j: A(i,j) * z(j))" CHANGE, 3},
    /* a factor alone: few indices are left, and many rounds read what is left */
    {A B V, "y = sum(i,j,l: x(i)*A(i,j)*B(j,l)*z(l))" CHANGE, 10},
    /* the whole statement, and those that read it */
    {A V, "w(i) = A(i,j) * z(j); u(i) = A(i,j) * w(j); y(i) = u(i) + x(i)" CHANGE, 10},
    {A V, "if (k % 2 == 0) { w(i) = A(i,j) * z(j) }; y(i) = w(i) + x(i)" CHANGE, 4},
    /* of conditions, values and blocks inside */
    {A V, "if (sum(i,j: A(i,j)*z(j)) + x(1) > 5) { y(i) = x(i) }" CHANGE, 4},
    /* what a round changes */
    {A V, "y(i) = sum(j: A(i,j) * x(j))" CHANGE, 1},
    {A V, "y(i) = x(i) + sum(j: A(i,j) * z(j)); z(i) = z(i) + 1" CHANGE, 1},
    {A V, "y(i) = x(i) + sum(j: A(i,j) * z(j)); if (k > 0) { z(2) = k }" CHANGE, 1},
    {A V, "y(i) = x(i) + sum(j: A(i,j) * z(j)); for q in 0:1 { z(2) = k }" CHANGE, 1},
    {A V, "y += A(i,j) * x(i) * x(j)" CHANGE, 1},
    /* a target that somebody else changes, too */
    {A V, "y(i) = A(i,j) * z(j); y(2) = k", 1},
    {A V, "y(i) = A(i,j) * z(j); drop y; y(i) = A(i,j) * z(j)", 1},
    {A V, "tensor y dense i64 [n]; y(i) = A(i,j) * z(j)", 1},
    /* as it is written */
    {A V, "y(i) = x(i) + sum(j: A(i,j) * z(j)) with as_written" CHANGE, 1},
    {A V, "y(i) = A(i,j) * z(j) with as_written" CHANGE, 1},
};

typedef struct ran {
    heap h;
    stc_machine *m;
    stc_session *s;
    uint64_t steps;
    const stc_tensor *y;
} ran;

static void run(ran *r, const loop *c, int size, int rounds, bool as_written)
{
    char text[1000];
    r->m = machine_open(&r->h, false);
    ck_ok(r->m, stc_set_as_written(r->m, as_written));
    ck_ok(r->m, stc_session_open(r->m, &r->s));
    snprintf(text, sizeof text, "n = %d", size);
    ck_ok(r->m, stc_session_exec(r->s, text, "test"));
    ck_ok(r->m, stc_session_exec(r->s, c->declare, "test"));
    snprintf(text, sizeof text, "for k in 0:%d { %s }", rounds, c->body);
    const uint64_t before = r->m->cx.steps;
    ck_ok(r->m, stc_session_exec(r->s, text, "test"));
    r->steps = r->m->cx.steps - before;
    ck_ok(r->m, stc_session_get(r->s, "y", &r->y));
}

static void end(ran *r)
{
    stc_session_close(r->s);
    machine_shut(r->m, &r->h);
}

/* Steps of a round, when all that happens once is done. */
static double round_takes(const loop *c, int size, bool as_written)
{
    enum { FEW = 4, MANY = 24 };
    ran few, many;
    run(&few, c, size, FEW, as_written);
    run(&many, c, size, MANY, as_written);
    const double steps = (double)(many.steps - few.steps) / (MANY - FEW);
    end(&few);
    end(&many);
    return steps;
}

static void expect_equal(const ran *a, const ran *b, const char *text)
{
    const int order = stc_tensor_order(a->y);
    ck_assert_int_eq(order, stc_tensor_order(b->y));
    ck_assert_int_eq(stc_tensor_stored(a->y), stc_tensor_stored(b->y));
    for (int64_t i = 0; i < (order ? stc_tensor_shape(a->y)[0] : 1); i++) {
        stc_value u, v;
        ck_ok(a->m, stc_tensor_get(a->y, &i, &u));
        ck_ok(b->m, stc_tensor_get(b->y, &i, &v));
        ck_assert_msg(u.i == v.i, "%s: element %lld is %lld, as written %lld", text,
                      (long long)i, (long long)v.i, (long long)u.i);
    }
}

START_TEST(rounds_leave_out_what_is_done)
{
    static const int sizes[] = {400, 800};
    const loop *c = &loops[_i];
    for (int k = 0; k < 2; k++) {
        ran written, kept;
        run(&written, c, sizes[k], 7, true);
        run(&kept, c, sizes[k], 7, false);
        expect_equal(&written, &kept, c->body);
        end(&written);
        end(&kept);
        const double before = round_takes(c, sizes[k], true),
                     now = round_takes(c, sizes[k], false);
        const bool good = c->times > 1 ? (double)c->times * now <= before
                                       : now <= 1.1 * before && before <= 1.5 * now;
        ck_assert_msg(good || !STEPS_TELL, "%s: %g steps a round, as written %g", c->body,
                      now, before);
    }
}
END_TEST

/* What isn't reached isn't computed early, and what fails does so where it stands. */
START_TEST(faults_keep_their_place)
{
    static const char *const text[] = {
        "tensor a dense i64 [3] = 1\ntensor b dense i64 [3] = 0\ny(i) = a(i)\n"
        "repeat 3 { if (y(1) > 5) { y(i) = a(i) + sum(j: a(j) // b(j)) } }",
        "tensor a dense i64 [3] = 1\ntensor b dense i64 [3] = 0\ny(i) = a(i)\n"
        "repeat 3 { y(i) = 2*a(i); y(i) = a(i) + y(i) * sum(j: a(j) // b(j)) }",
    };
    char said[2][1000];
    for (int k = 0; k < 2; k++) {
        heap h;
        stc_session *s;
        stc_machine *m = machine_open(&h, false);
        ck_ok(m, stc_set_as_written(m, k));
        ck_ok(m, stc_session_open(m, &s));
        const stc_status st = stc_session_exec(s, text[_i], "test");
        ck_assert_int_eq(st, _i ? STC_ERR_ARITHMETIC : STC_OK);
        snprintf(said[k], sizeof said[k], "%s", st ? m->cx.diag.message : "");
        stc_session_close(s);
        machine_shut(m, &h);
    }
    ck_assert_str_eq(said[0], said[1]);
}
END_TEST

/* A def's loop, called with one tensor and with another; one changed while it is lent. */
START_TEST(calls_have_rounds_of_their_own)
{
    static const char text[] =
        "def f(M, x) -> y { y(i) = x(i); repeat 4 { y(i) = y(i) + x(i) * sum(j: M(i,j)) } "
        "}\n"
        "tensor A csr i64 [300,300] = random(density=0.2, seed=1)\n"
        "tensor B csr i64 [300,300] = random(density=0.2, seed=2)\n"
        "tensor x dense i64 [300] = 1\n"
        "for k in 0:4 { p = f(A, x); q = f(B, x); A(i,j) = 2 * A(i,j); u(i) = sum(j: "
        "A(i,j)) }\n"
        "p1 = sum(i: p(i)); q1 = sum(i: q(i))\n"
        "a1 = 300 + 4 * sum(i: u(i)) // 2; b1 = 300 + 4 * sum(i,j: B(i,j))\n"
        "good = p1 == a1 && q1 == b1\n";
    EXPECT(text, "good", 1);
}
END_TEST

/* The profile tells what rounds found done. */
START_TEST(profiles_tell)
{
    heap h;
    stc_session *s;
    char *text;
    stc_machine *m = machine_open(&h, false);
    machine_profile_runs(m);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s,
                              "n = 400\n" A V "repeat 9 {\n  w(i) = A(i,j) * z(j)\n"
                              "  y(i) = x(i) + w(i) * sum(j: A(i,j))\n  x(i) = x(i) + 1\n}",
                              "test"));
    ck_ok(m, stc_session_profile(s, &text));
    ck_assert_msg(has_words(text,
                            "# w(i)|taken out of the loop: 7 rounds found it done|"
                            "# y(i)|taken out of the loop: steps that 7 runs found done"),
                  "%s", text);
    stc_text_free(m, text);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

/* ---- statements of a program --------------------------------------------------------- */

typedef struct part {
    const char *text;
    double share; /* of the steps as written, at most; 1: it stays */
} part;

#define TWICE "sum(k: x(k)*A(i,k))"
static const part parts[] = {
    /* what stands in both; a result, and a step, that another statement has */
    {"y(i) = 2*sum(j: A(i,j)*x(j)); z(i) = x(i) + " TWICE, 0.6},
    {"y(i) = A(i,j)*x(j); z(i) = x(i) * " TWICE, 0.6},
    {"y(i) = A(i,j)*A(j,k)*x(k); z(i) = x(i) * " TWICE, 0.2},
    {"y(i) = 2*sum(j: A(i,j)*x(j)); u(i) = 3 + " TWICE "; z(i) = x(i) - " TWICE, 0.4},
    {"y(i) = x(i) - sum(j: A(i,j)*x(j)); z(i) = A(i,j)*x(j)", 0.6},
    /* results that store what had a term; blocks store more */
    {"tensor y svec i64; tensor z svec i64; y(i) = A(i,j)*x(j); "
     "z(p) = A(p,q)*x(q)",
     0.6},
    {"tensor y(i) -> (i/4 : compressed, i%4 : dense) i64; tensor z svec i64; "
     "y(i) = A(i,j)*x(j); z(i) = A(i,j)*x(j)",
     1},
    /* of what has changed meanwhile */
    {"y(i) = 2*sum(j: A(i,j)*x(j)); x(i) = x(i) + 1; z(i) = x(i) + " TWICE, 1},
    {"y(i) = A(i,j)*x(j); y(i) = y(i) + 1; z(i) = x(i) * " TWICE, 0.6}, /* as a step */
    {"y(i) = A(i,j)*x(j); y(i) += A(i,j); z(i) = x(i) * " TWICE, 1},
    {"x(i) = 2*sum(j: A(i,j)*x(j)); y(i) = x(i); z(i) = x(i) + " TWICE, 1},
    /* a result of another type, or that stores what had no term */
    {"tensor y dense i32; y(i) = i32(sum(j: A(i,j)*x(j))); z(i) = x(i) * " TWICE, 0.6},
    {"tensor z svec i64; y(i) = A(i,j)*x(j); z(i) = v(i) * " TWICE, 1},
    {"tensor y dense i64 fill 7; y(i) = A(i,j)*x(j); z(i) = x(i) * " TWICE, 1},
    /* what could fail, and what is to stay */
    {"y(i) = 2*sum(j: A(i,j) // x(j)); z(i) = x(i) + sum(k: A(i,k) // x(k))", 1},
    {"y(i) = 2*sum(j: A(i,j)*x(j)) with as_written; z(i) = x(i) + " TWICE, 1},
    /* functions of the text's own are each statement's */
    {"fn f(a, b) = a * b with annihilator(0); y(i) = 2*sum(j: f(A(i,j), x(j))); "
     "fn f(a, b) = a * b + 1; z(i) = 2*sum(j: f(A(i,j), x(j)))",
     1},
};

typedef struct bound {
    heap h;
    stc_machine *m;
    stc_program *p;
    stc_tensor *of[3];
    const stc_tensor *y, *z;
    double steps; /* of the run */
} bound;

static void bound_run(bound *b, const char *text, int64_t n, bool as_written)
{
    static const stc_decl decl[] = {
        {.name = "A", .format = "csr", .type = STC_I64, .order = 2},
        {.name = "x", .format = "dense", .type = STC_I64, .order = 1},
        {.name = "v", .format = "svec", .type = STC_I64, .order = 1}};
    const int64_t shape[STC_MAX_ORDER] = {n, n};
    b->m = machine_open(&b->h, false);
    ck_ok(b->m, stc_set_as_written(b->m, as_written));
    ck_ok(b->m, stc_compile(b->m, text, decl, 3, &b->p));
    for (int k = 0; k < 3; k++) {
        const origin from = {.kind = STC_SOURCE_RANDOM,
                             .density = k == 1 ? 1 : 0.1,
                             .seed = (uint64_t)k + 1,
                             .type = STC_I64};
        const int slot = program_input(b->p->p, decl[k].name);
        b->of[k] = NULL;
        if (slot < 0) continue;
        const prog_tensor *row = &b->p->p->tensor[slot];
        ck_ok(b->m, origin_make(&b->m->cx, &from, &row->fmt, row->type, shape, row->fill,
                                &b->of[k]));
        ck_ok(b->m, stc_bind(b->p, decl[k].name, b->of[k]));
    }
    ck_ok(b->m, stc_run(b->p));
    b->steps = (double)b->m->cx.steps;
    ck_ok(b->m, stc_result(b->p, "y", &b->y));
    ck_ok(b->m, stc_result(b->p, "z", &b->z));
}

static void bound_end(bound *b)
{
    stc_program_free(b->p);
    for (int k = 0; k < 3; k++)
        stc_tensor_free(b->of[k]);
    machine_shut(b->m, &b->h);
}

static void expect_same(const bound *a, const bound *b, const char *text)
{
    const stc_tensor *of[2][2] = {{a->y, b->y}, {a->z, b->z}};
    for (int t = 0; t < 2; t++) {
        const stc_tensor *u = of[t][0], *v = of[t][1];
        ck_assert_int_eq(stc_tensor_stored(u), stc_tensor_stored(v));
        ck_assert_str_eq(stc_tensor_format(u), stc_tensor_format(v));
        for (int64_t i = 0; i < stc_tensor_shape(u)[0]; i++) {
            stc_value c, d;
            ck_ok(a->m, stc_tensor_get(u, &i, &c));
            ck_ok(b->m, stc_tensor_get(v, &i, &d));
            ck_assert_msg(c.i == d.i, "%s: element %lld of %d", text, (long long)i, t);
        }
    }
}

START_TEST(statements_share)
{
    enum { PLANNING = 30 }; /* steps of compiling for what is bound */
    static const int64_t sizes[] = {300, 600};
    const part *c = &parts[_i];
    for (int k = 0; k < 2; k++) {
        bound written, now;
        bound_run(&written, c->text, sizes[k], true);
        bound_run(&now, c->text, sizes[k], false);
        expect_same(&written, &now, c->text);
        const double before = written.steps, after = now.steps;
        ck_assert_msg(!STEPS_TELL || (after <= c->share * before + PLANNING &&
                                      (c->share < 1 || after >= 0.9 * before)),
                      "%s: %g steps, as written %g", c->text, after, before);
        bound_end(&written);
        bound_end(&now);
    }
}
END_TEST

START_TEST(explain_names_the_statement)
{
    heap h;
    stc_program *p;
    char *plan;
    stc_machine *m = machine_open(&h, false);
    const stc_decl decl[] = {{.name = "A", .format = "csr"}, {.name = "x"}};
    ck_ok(m, stc_compile(m, parts[3].text, decl, 2, &p));
    ck_ok(m, stc_program_explain(p, "plan", &plan));
    ck_assert_msg(has_words(plan, "step: step1|step: y(i)|kept from statement 1|step: u(i)|"
                                  "kept from statement 1|step: z(i)"),
                  "%s", plan);
    stc_text_free(m, plan);
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

/* A statement of scalars that each round changes is compiled in the first ones, and never
 * then. */
static const char *const counters[] = {
    "n = n + 1", "n = 2 * n - 1; c = c * 0.9 + n", "x(i) = z(i) * c; c = c * 0.9",
    "c = c * 0.5 + sum(i: z(i))", "n += 1; if (n > 7) { c = n }"};

START_TEST(counters_are_compiled_once)
{
    heap h;
    char text[200];
    uint64_t plans[2];
    for (int k = 0; k < 2; k++) {
        stc_machine *m = machine_open(&h, false);
        stc_session *s;
        snprintf(text, sizeof text,
                 "n = 3; c = 1.5; tensor z dense [9] = 1; repeat %d { %s }", k ? 200 : 20,
                 counters[_i]);
        ck_ok(m, stc_session_open(m, &s));
        ck_ok(m, stc_session_exec(s, text, "test"));
        plans[k] = s->plans;
        stc_session_close(s);
        machine_shut(m, &h);
    }
    ck_assert_uint_eq(plans[0], plans[1]);
}
END_TEST

/* What the loops of a def compile is there when a later text calls it, unless something
 * that it depends on is another by then: each text, what its y(1) is, and whether it
 * compiles as little as one that has nothing to. */
static const struct {
    const char *text;
    double y;
    bool anew, fails;
} later[] = {
    {"y = climb(A, 2)", 3, true, false},
    {"y = climb(A, 2)", 3, false, false},
    {"tensor x dense [2] = 5\ny = climb(A, 2)", 3, false, false},
    {"A(1,1) = 3\ny = climb(A, 2)", 4, false, false},
    {"y = climb(B, 2)", 5, true, false}, /* another format */
    {"y = climb(A, 2)", 4, false, false},
    {"y = climb(A, 2) + z", 0, true, true}, /* there is no z */
    {"y = climb(A, 2)", 4, true, false},
    {"y = climb(A, 2)", 4, false, false},
    {"fn twice(a) = 2 * a\ny = climb(A, 2)", 4, true, false},
    {"def climb(M, n) -> u { u(i in 0:2) = 1.0\nrepeat n { u(i) = M(i,j) * u(j) } }\n"
     "y = climb(A, 2)",
     9, true, false},
    {"y = climb(A, 2)", 9, false, false},
};

START_TEST(defs_are_compiled_once)
{
    heap h;
    const stc_tensor *t;
    stc_value y;
    stc_session *s;
    stc_machine *m = machine_open(&h, false);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s,
                              "tensor A csr [2,2] = {(0,0): 1, (1,1): 2}\n"
                              "tensor B dense [2,2] = {(0,0): 1, (1,1): 4}\n"
                              "def climb(M, n) -> u { u(i in 0:2) = 1.0\n"
                              "repeat n - 1 { u(i) = M(i,j) * u(j) + 1 } }",
                              "test"));
    for (size_t k = 0; k < sizeof later / sizeof *later; k++) {
        const uint64_t plans = s->plans;
        const stc_status st = stc_session_exec(s, later[k].text, "test");
        ck_assert_msg((st != STC_OK) == later[k].fails, "%s: %s", later[k].text,
                      stc_error(m)->message);
        if (st) continue;
        const int64_t at[] = {1};
        const bool sets = strstr(later[k].text, ") = 3");
        ck_ok(m, stc_session_get(s, "y", &t));
        ck_ok(m, stc_tensor_get(t, at, &y));
        ck_assert_msg(y.f == later[k].y, "%zu. %s: %g", k, later[k].text, y.f);
        ck_assert_msg((s->plans - plans > 2 + (uint64_t)sets) == later[k].anew,
                      "%zu. %s: %d compiled", k, later[k].text, (int)(s->plans - plans));
    }
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

Suite *suite_rounds(void)
{
    Suite *s = suite_create("rounds");
    TCase *t = tcase_create("rounds");
    tcase_add_loop_test(t, rounds_leave_out_what_is_done, 0, sizeof loops / sizeof *loops);
    tcase_add_loop_test(t, faults_keep_their_place, 0, 2);
    tcase_add_test(t, calls_have_rounds_of_their_own);
    tcase_add_test(t, profiles_tell);
    tcase_add_loop_test(t, statements_share, 0, sizeof parts / sizeof *parts);
    tcase_add_test(t, explain_names_the_statement);
    tcase_add_test(t, defs_are_compiled_once);
    tcase_add_loop_test(t, counters_are_compiled_once, 0,
                        sizeof counters / sizeof *counters);
    suite_add_tcase(s, t);
    return s;
}
