/* check_texts.c: texts that a session executes again and again: planned once, as long as
 * what they were planned for is still so. */
#include "../src/session/session.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

typedef struct texts {
    heap h;
    stc_machine *m;
    stc_session *s;
} texts;

static const char given[] = "tensor A csr f64 [40,40] = random(density=0.2, seed=1)\n"
                            "tensor B csr f64 [40,40] = random(density=0.2, seed=2)\n"
                            "tensor C csr f64 [40,40] = random(density=0.2, seed=3)\n"
                            "tensor x dense f64 [40] = random(density=1, seed=4)\n"
                            "n = 2\n";

static void begin(texts *t)
{
    t->m = machine_open(&t->h, false);
    ck_ok(t->m, stc_session_open(t->m, &t->s));
    ck_ok(t->m, stc_session_exec(t->s, given, "given"));
}

static void end(texts *t)
{
    stc_session_close(t->s);
    machine_shut(t->m, &t->h);
}

/* How many statements were planned for it. */
static uint64_t plans_of(texts *t, const char *text)
{
    const uint64_t before = t->s->plans;
    ck_ok(t->m, stc_session_exec(t->s, text, "test"));
    return t->s->plans - before;
}

/* What `s` has now, and has by a text that was never executed before. */
static void as_anew(texts *t, const char *text)
{
    static int number;
    char other[1024];
    const double y = session_number(t->m, t->s, "s");
    snprintf(other, sizeof other, "%s # %d", text, number++);
    ck_assert_uint_ge(plans_of(t, other), 1);
    ck_assert_double_eq(session_number(t->m, t->s, "s"), y);
}

static const char statement[] = "s = sum(i,j,k: A(i,j)*B(j,k)*x(k)) + n";

START_TEST(planned_once)
{
    texts t;
    begin(&t);
    ck_assert_uint_eq(plans_of(&t, statement), 1);
    ck_assert_uint_eq(plans_of(&t, statement), 1); /* now it is kept */
    for (int k = 0; k < 3; k++)
        ck_assert_uint_eq(plans_of(&t, statement), 0);
    as_anew(&t, statement);
    ck_assert_uint_eq(plans_of(&t, statement), 0);
    end(&t);
}
END_TEST

/* What changes is seen: numbers, with the same plan; all else, by another. */
START_TEST(changes_are_seen)
{
    static const struct {
        const char *change;
        uint64_t plans;
    } changes[] = {{"n = 5", 0},
                   {"x(3) = 7", 0},
                   {"n = 2.5", 1},
                   {"tensor B csc f64 [40,40] = random(density=0.2, seed=5)", 1},
                   {"tensor B csr f32 [40,40] = random(density=0.2, seed=5)", 1},
                   {"tensor A csr f64 [3000,40] = random(density=0.2, seed=6)", 1},
                   {"drop x; tensor x svec f64 [40] = random(density=0.1, seed=7)", 1},
                   {"fn twice(a) = 2 * a", 1}};
    texts t;
    begin(&t);
    for (int k = 0; k < 3; k++)
        plans_of(&t, statement);
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        plans_of(&t, changes[k].change);
        const uint64_t plans = plans_of(&t, statement);
        ck_assert_msg(plans == changes[k].plans, "%s: %d plans", changes[k].change,
                      (int)plans);
        as_anew(&t, statement);
    }
    end(&t);
}
END_TEST

/* A def with another body is another def. */
START_TEST(definitions_are_seen)
{
    texts t;
    begin(&t);
    plans_of(&t, "fn f(a) = 2 * a; def g(v) -> r { r(i) = f(v(i)) }");
    for (int k = 0; k < 3; k++)
        plans_of(&t, "y = g(x); s = sum(i: y(i))");
    const double before = session_number(t.m, t.s, "s");
    plans_of(&t, "fn f(a) = 3 * a");
    plans_of(&t, "y = g(x); s = sum(i: y(i))");
    ck_assert_double_eq_tol(session_number(t.m, t.s, "s"), 1.5 * before, 1e-9);
    plans_of(&t, "def g(v) -> r { r(i) = 0 * v(i) }");
    plans_of(&t, "y = g(x); s = sum(i: y(i))");
    ck_assert_double_eq(session_number(t.m, t.s, "s"), 0);
    end(&t);
}
END_TEST

/* An error is the same each time, and what comes behind it isn't kept from running. */
START_TEST(errors_are_told_each_time)
{
    static const char text[] = "s = 1\ns = sum(i: z(i))";
    char message[sizeof(stc_error_info)] = "";
    texts t;
    begin(&t);
    for (int k = 0; k < 4; k++) {
        ck_assert_int_eq(stc_session_exec(t.s, text, "test"), STC_ERR_PROGRAM);
        const char *const now = stc_error(t.m)->message;
        ck_assert(k == 0 || !strcmp(now, message));
        ck_assert_int_eq(stc_error(t.m)->line, 2);
        snprintf(message, sizeof message, "%s", now);
    }
    plans_of(&t, "z = x");
    for (int k = 0; k < 3; k++)
        ck_ok(t.m, stc_session_exec(t.s, text, "test"));
    plans_of(&t, "drop z");
    ck_assert_int_eq(stc_session_exec(t.s, text, "test"), STC_ERR_PROGRAM);
    ck_assert_int_eq(stc_error(t.m)->line, 2);
    ck_assert_str_eq(stc_error(t.m)->message, message);
    ck_assert_double_eq(session_number(t.m, t.s, "s"), 1);
    end(&t);
}
END_TEST

/* Of a text whose statements are better planned together, the last run takes no more steps
 * than the first. */
START_TEST(what_is_shared_stays_shared)
{
    static const char text[] = "y(i) = A(i,j)*B(j,k)*C(k,l)*x(l)\n"
                               "z(i) = 2 * sum(j,k,l: A(i,j)*B(j,k)*C(k,l)*x(l))\n"
                               "s = sum(i: y(i) + z(i))";
    texts t;
    begin(&t);
    plans_of(&t, text);
    const uint64_t steps = t.m->cx.steps;
    for (int k = 0; k < 3; k++) {
        plans_of(&t, text);
        ck_assert_uint_le(t.m->cx.steps, steps);
    }
    as_anew(&t, text);
    end(&t);
}
END_TEST

/* More texts than are kept, in turn; with loops, and with what is printed. */
START_TEST(many_texts)
{
    enum { TEXTS = 3 * TEXTS_KNOWN, ROUNDS = 4 };
    texts t;
    char text[128], *out[ROUNDS] = {NULL};
    size_t size;
    begin(&t);
    for (int round = 0; round < ROUNDS; round++) {
        FILE *f = open_memstream(&out[round], &size);
        ck_assert_ptr_nonnull(f);
        stc_session_output(t.s, f);
        for (int k = 0; k < TEXTS; k++) {
            snprintf(text, sizeof text,
                     "s = %d\nfor i in 0:3 { s += sum(j: A(i,j)) }\nprint s, n * %d", k, k);
            for (int turn = 0; turn <= round; turn++)
                plans_of(&t, text);
        }
        fclose(f);
    }
    ck_assert_uint_eq(strlen(out[3]), 4 * strlen(out[0]));
    ck_assert_uint_eq(strlen(out[1]), 2 * strlen(out[0]));
    for (int k = 0; k < ROUNDS; k++)
        free(out[k]);
    end(&t);
}
END_TEST

/* What is said of a text is said each time. */
START_TEST(notes_are_told_each_time)
{
    static const char text[] = "y(i) = abs(A(i,j) * x(j))";
    texts t;
    char first[512];
    begin(&t);
    plans_of(&t, text);
    snprintf(first, sizeof first, "%s", stc_notes(t.m));
    ck_assert(*first);
    for (int k = 0; k < 4; k++) {
        plans_of(&t, text);
        ck_assert_str_eq(stc_notes(t.m), first);
    }
    end(&t);
}
END_TEST

Suite *suite_texts(void)
{
    Suite *s = suite_create("texts");
    TCase *c = tcase_create("texts");
    tcase_add_test(c, planned_once);
    tcase_add_test(c, changes_are_seen);
    tcase_add_test(c, definitions_are_seen);
    tcase_add_test(c, errors_are_told_each_time);
    tcase_add_test(c, what_is_shared_stays_shared);
    tcase_add_test(c, many_texts);
    tcase_add_test(c, notes_are_told_each_time);
    suite_add_tcase(s, c);
    return s;
}
