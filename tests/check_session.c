/* check_session.c: scripts: statements one after another, what an error leaves
 * behind, printing, loops, files. */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a script prints; the caller frees it. */
static char *printed(const char *script, stc_status want)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    ck_ok(m, stc_session_open(m, &s));
    stc_session_output(s, out);
    const stc_status st = stc_session_exec(s, script, "test");
    ck_assert_msg(st == want, "%s\n%s", script, stc_error(m)->message);
    stc_session_close(s);
    machine_shut(m, &h);
    fclose(out);
    return text;
}

static void prints(const char *script, const char *want)
{
    char *text = printed(script, STC_OK);
    ck_assert_msg(strstr(text, want), "%s\nprinted: %s\nexpected: %s", script, text, want);
    free(text);
}

START_TEST(printing)
{
    prints("a = 3\nprint a", "3\n");
    prints("a = 0.1\nprint a", "0.1\n");
    prints("tensor a bool = true\nprint a", "1");
    prints("tensor A csr f64 [2,3] = { (1,2): 5 }\nprint A", "(1,2) 5");
    prints("tensor x dense i32 = [1,2,3]\nprint x", "2");
    expect_error("print nothing", STC_ERR_PROGRAM, "nothing");
}
END_TEST

/* Data without a declaration: what was declared of the name stays. */
START_TEST(data_alone)
{
    EXPECT("x = [1,2,3]", "x", 1, 2, 3);
    EXPECT("x = [1,2,3]\nx = [[1.5,2]]", "x", 1.5, 2);
    EXPECT("x = eye(2); x = arange(3)", "x", 0, 1, 2);
    EXPECT("n = 2; x = ones(n, n); y(i) = x(i,j)", "y", 2, 2);
    EXPECT("tensor x svec i8 [3] fill 4 = { 0: 1 }\nx = { 2: 7 }", "x", 4, 4, 7);
    EXPECT("tensor x csr i8; x = [[1,0],[0,2]]; y(j) = x(i,j)", "y", 1, 2);
    EXPECT("repeat 2 { x = [1,2]; x(i) += 1 }", "x", 2, 3);
    EXPECT("def f(n) -> x { x = zeros(n) }\ny = f(2)", "y", 0, 0);
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    const stc_tensor *t, *after;
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, "tensor A csr i8; A = [[1,0],[0,2]]", NULL));
    ck_ok(m, stc_session_get(s, "A", &t));
    ck_assert_str_eq(stc_tensor_format(t), "csr");
    ck_assert_int_eq(stc_tensor_type(t), STC_I8);
    ck_assert_int_eq(stc_session_exec(s, "A = [1,2]", NULL), STC_ERR_PROGRAM);
    ck_ok(m, stc_session_get(s, "A", &after));
    ck_assert_ptr_eq(after, t);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

START_TEST(control)
{
    EXPECT("a = 1\nrepeat 5 { a = a * 2 }", "a", 32);
    EXPECT("a = 1\nwhile (a < 100) { a = a * 3 }", "a", 243);
    EXPECT("a = 5\nif (a > 3) { b = 1 } else { b = 2 }", "b", 1);
    EXPECT("a = 5\nif (a > 7) { b = 1 } else if (a > 4) { b = 3 } else { b = 2 }", "b", 3);
    EXPECT("tensor x dense f64 = [1,2]\nrepeat 3 { x(i) = x(i) + 1 }", "x", 4, 5);
    EXPECT("a = 1; b = a + 1; a = b + 1", "a", 3);
    EXPECT("a = 1; n = 4\nrepeat n + 1 { n = 0; a = a * 2 }", "a", 32);
    EXPECT("a = 7\nrepeat a - 9 { a = 0 }\nrepeat 0 { a = 1 }", "a", 7);
    EXPECT("tensor x dense u8 = [1,2]\nn = 0\nrepeat x(i) { repeat n + 1 { n += 1 } }", "n",
           7);
}
END_TEST

START_TEST(errors_leave_things)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, "a = 1\ntensor x dense f64 = [1,2,3]", "one"));
    ck_assert_int_ne(stc_session_exec(s, "a = 2\na = nope(1)", "two"), STC_OK);
    ck_assert_str_eq(stc_error(m)->file, "two");
    ck_assert_int_eq(stc_error(m)->line, 2);
    const stc_tensor *t;
    stc_value v;
    ck_ok(m, stc_session_get(s, "a", &t)); /* what ran before stays */
    ck_ok(m, stc_tensor_get(t, NULL, &v));
    ck_assert_int_eq(v.i, 2);
    ck_ok(m, stc_session_exec(s, "tensor w dense i64 = [5,6,7]", "w"));
    ck_assert_int_eq(stc_session_exec(s, "w(i) = w(i) // (2 - i)", "three"),
                     STC_ERR_ARITHMETIC);
    ck_ok(m, stc_session_get(s, "w", &t));
    int64_t w[3];
    ck_ok(m, stc_tensor_to_dense(t, w));
    ck_assert(w[0] == 5 && w[1] == 6 && w[2] == 7);
    ck_assert_int_ne(stc_session_exec(s, "x(i) = x(i", "four"), STC_OK);
    ck_ok(m, stc_session_get(s, "x", &t));
    t = NULL;
    ck_assert_int_eq(stc_session_get(s, "zzz", &t), STC_ERR_ARGUMENT);
    ck_assert_ptr_null(t);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

START_TEST(declarations)
{
    EXPECT("tensor A csr f64 [2,2] = { (0,1): 3, (0,1): 4 }", "A", 0, 7, 0, 0);
    EXPECT("tensor A csr f64 [2,2] fill 9 = { (0,1): 3 }", "A", 9, 3, 9, 9);
    EXPECT("tensor M dense i32 = [[1,2,3],[4,5,6]]", "M", 1, 2, 3, 4, 5, 6);
    EXPECT("tensor x dense f64 [3] = 2.5", "x", 2.5, 2.5, 2.5);
    EXPECT("tensor C csr\ntensor A dense f64 = [[1,0],[0,2]]\nC(i,j) = A(i,j)", "C", 1, 0,
           0, 2);
    EXPECT("format mine = (i,j) -> (j : dense, i : compressed)\n"
           "tensor A mine f64 [2,2] = { (0,1): 3 }",
           "A", 0, 3, 0, 0);
    EXPECT("format blk(r,c) = (i,j) -> (i/r : dense, j/c : compressed, i%r : dense, j%c : "
           "dense)\n"
           "tensor A blk(2,1) f64 [3,2] = { (2,1): 3 }",
           "A", 0, 0, 0, 0, 0, 3);
    EXPECT("tensor A csr f64 [2,2] = { (0,1): 0, (1,1): 1 }\ncompact A", "A", 0, 0, 0, 1);
    EXPECT("tensor R csr f64 [9,9] = random(density=0.5, seed=7)\n"
           "tensor S csr f64 [9,9] = random(density=0.5, seed=7)\n"
           "d = max(i, j: abs(R(i,j) - S(i,j)))",
           "d", 0);
    EXPECT("tensor R csr [9,9] = random(0.5, seed=7)\n"
           "tensor S csr [9,9] = random(density=0.5, seed=7)\n"
           "d = max(i, j: abs(R(i,j) - S(i,j)))\nn = sum(i, j: R(i,j) > 0) > 20",
           "n", 1);
    EXPECT("tensor x dense [2] = ones\ny(i) = x(i) / 2", "y", 0.5, 0.5);
    EXPECT("tensor x dense i32 [2] = ones\ntensor z csr [2,2] = zeros\ny(i) = x(i) + "
           "z(i,i)",
           "y", 1, 1);
    EXPECT("tensor R csr f64 [3,0] = random(density=0.5, seed=7)\ns = sum(i, j: R(i,j))",
           "s", 0);
    expect_error("drop nothing", STC_ERR_PROGRAM, "nothing");
    expect_error("a = 1\ndrop a\nb = a + 1", STC_ERR_PROGRAM, "a");
}
END_TEST

START_TEST(functions)
{
    EXPECT("fn sq(x) = x * x\na = sq(3) + sq(4)", "a", 25);
    EXPECT("fn f(n) { r = 1; for (k = 1; k <= n; k = k + 1) { r = r * k }; return r }\na = "
           "f(5)",
           "a", 120);
    EXPECT("fn g(x, y) {\n x, 0 => abs(x)\n 0, y => abs(y)\n x, y => { while (x != 0) { t "
           "= x; x "
           "= y % x; y = t }; return abs(y) }\n} over {x != 0} | {y != 0}\n"
           "tensor u svec i64 [3] = { (0): 12, (1): -5 }\n"
           "tensor v svec i64 [3] = { (0): 18, (2): 4 }\nw(i) = g(u(i), v(i))",
           "w", 6, 5, 4);
    EXPECT("fn top(x, y) = select(x > y, x, y) with commutative, associative\n"
           "tensor x dense f64 = [3,9,2]\na = top(i: x(i))",
           "a", 9);
    expect_error("fn f(x) = y\na = f(1)", STC_ERR_PROGRAM, "y");
    /* what isn't reached may read what was never set */
    expect_error(
        "fn g(x, y) {\n x, 0 => abs(x)\n 0, y => abs(y)\n x, y => { while (x != 0) { "
        "t = x; x = y % x; y = t }; return abs(y) % x; y = t }\n} over {x != 0} | {y "
        "!= 0}\na = g(12, 18)",
        STC_ERR_ARITHMETIC, "division by zero");
    expect_error("fn top(x, y) = x\ntensor e dense f64 [0]\na = top(i: e(i))",
                 STC_ERR_ARITHMETIC, "nothing");
}
END_TEST

START_TEST(files)
{
    char matrix[SCRATCH_PATH], part[SCRATCH_PATH], script[400], include[128];
    snprintf(script, sizeof script,
             "tensor A csr f64 [2,2] = { (0,1): 3 }\nsave A \"%s\"\n"
             "tensor B csc = \"%s\"\n",
             scratch(matrix, "a.mtx"), matrix);
    EXPECT(script, "B", 0, 3, 0, 0);
    snprintf(include, sizeof include, "include \"%s\"\n", scratch(part, "i.stc"));
    FILE *f = fopen(part, "w");
    ck_assert_ptr_nonnull(f);
    fputs("k = 7\n", f);
    fclose(f);
    snprintf(script, sizeof script, "%sa = k + 1", include);
    EXPECT(script, "a", 8);
    f = fopen(part, "w");
    ck_assert_ptr_nonnull(f);
    fputs(include, f);
    fclose(f);
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    ck_ok(m, stc_session_open(m, &s));
    ck_assert_int_ne(stc_session_exec(s, include, "x"), STC_OK);
    stc_session_close(s);
    machine_shut(m, &h);
    unlink(part);
    unlink(matrix);
    expect_error("include \"/nowhere.stc\"", STC_ERR_IO, "nowhere");
}
END_TEST

START_TEST(schedules)
{
    static const char *const with[] = {
        "",
        "with reorder(i,k,j)",
        "with reorder(k,i,j)",
        "with reorder(i,k,j), workspace(hash)",
        "with workspace(coord, 64)",
        "with workspace(dense)",
        "with parallelize(i)",
    };
    char script[500];
    for (size_t k = 0; k < sizeof with / sizeof *with; k++) {
        snprintf(script, sizeof script,
                 "tensor A csr f64 [2,3] = { (0,1): 3, (1,0): 2, (1,2): 5 }\n"
                 "tensor B csr f64 [3,2] = { (0,0): 1, (1,1): 4, (2,0): 6 }\n"
                 "tensor C csr f64\nC(i,j) = A(i,k) * B(k,j)\n  %s\n",
                 with[k]);
        EXPECT(script, "C", 0, 12, 32, 0);
    }
    expect_error("tensor x dense f64 = [1]\ny(i) = x(i) with reorder(q)", STC_ERR_PROGRAM,
                 "q");
}
END_TEST

static int stop_at_once(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)what, (void)done, (void)total;
    ++*(int *)context;
    return 1;
}

/* Statements too short to be asked about alone, a loop that has none, random numbers. */
START_TEST(progress_stops_loops)
{
    static const char *const endless[] = {
        "a = 1\nwhile (a > 0) { a = a + 1 }", "a = 1\nwhile (a > 0) { }",
        "a = 1\nrepeat 1000000000 { a = a + 1 }", "tensor R svec bool [9000000] = random"};
    heap h = {0};
    int calls = 0;
    const stc_config config = {.alloc = heap_alloc,
                               .alloc_context = &h,
                               .progress = stop_at_once,
                               .progress_context = &calls};
    stc_machine *m;
    stc_session *s;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    ck_ok(m, stc_session_open(m, &s));
    ck_assert_int_eq(stc_session_exec(s, endless[_i], "test"), STC_ERR_INTERRUPT);
    ck_assert_int_eq(calls, 1);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

/* Rounds count as steps, also those that do nothing, or are a single entry's. */
START_TEST(steps_bound_loops)
{
    static const char *const endless[] = {
        "repeat 9223372036854775807 { }", "n = 1 << 62\nrepeat n { a = 1 }",
        "while (1) { }",
        "tensor A dense f64 [4] = 2; tensor B svec f64 [4] = { (0): 3 }\n"
        "tensor y dense f64 [4,4]\n"
        "y(j,i) += sum(p in 0:4, q in 0:8589934591: A(j) * B(i)) with pos(j,s1,A(j)), "
        "split(s1,s3,s2,3), pos(i,s4,B(i)), split(s4,s6,s5,1), reorder(s2,s3,s6,s5), "
        "precompute(A(j), W7, {j}, {s8})"};
    heap h = {0};
    const stc_config config = {.alloc = heap_alloc, .alloc_context = &h, .max_steps = 1000};
    stc_machine *m;
    stc_session *s;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    ck_ok(m, stc_session_open(m, &s));
    ck_assert_int_eq(stc_session_exec(s, endless[_i], "test"), STC_ERR_STEPS);
    ck_assert_ptr_nonnull(strstr(stc_error(m)->message, "stopped after 1000 steps"));
    ck_ok(m, stc_session_exec(s, "repeat 998 { }", "test"));
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

/* A name is found, and forgotten, among thousands. */
START_TEST(long_texts)
{
    enum { NAMES = 4000, LINE = 32 };
    heap h;
    stc_session *s;
    stc_machine *m = machine_open(&h, false);
    char *text = malloc(3 * NAMES * LINE), *end = text;
    for (int k = 0; k < NAMES; k++)
        end += sprintf(end, "a%d = %d\n", k, k);
    for (int k = 0; k < NAMES; k++)
        if (k % 3) end += sprintf(end, "drop a%d\n", k);
    for (int k = 0; k < NAMES; k += 3)
        end += sprintf(end, "a%d = a%d + a0\n", k, k);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, text, "test"));
    int left = 0;
    const stc_tensor *t;
    for (const char *name; (name = stc_session_name(s, left)) != NULL; left++) {
        int64_t v;
        ck_ok(m, stc_session_get(s, name, &t));
        ck_ok(m, stc_tensor_to_dense(t, &v));
        ck_assert_int_eq(v, atoi(name + 1));
        ck_assert_int_eq(v, 3 * left);
    }
    ck_assert_int_eq(left, (NAMES + 2) / 3);
    free(text);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

/* A row a statement, however often it ran, in a def or in a loop; one by itself has no
 * table. The next exec begins anew. */
START_TEST(profiles)
{
    heap h;
    stc_session *s;
    char *text;
    stc_machine *m = machine_open(&h, false);
    machine_profile_runs(m);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s,
                              "def f(n) -> r {\n  x(i in 0:n) = i\n  r = sum(i: x(i))\n}\n"
                              "k = 0\nwhile (k < 3) {\n  k += 1\n  y = f(k)\n}\n",
                              "t.stc"));
    ck_ok(m, stc_session_profile(s, &text));
    static const struct {
        long runs;
        const char *place;
    } want[] = {{3, "t.stc:2: x(i in 0:n) = i\n"},
                {3, "t.stc:3: r = sum(i: x(i))\n"},
                {1, "t.stc:5: k = 0\n"},
                {4, "t.stc:6: k < 3\n"},
                {3, "t.stc:7: k += 1\n"}};
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        const char *at = strstr(text, want[k].place);
        ck_assert_msg(at, "%s isn't in\n%s", want[k].place, text);
        while (at > text && at[-1] != '\n')
            at--;
        ck_assert_int_eq(strtol(at, NULL, 10), want[k].runs);
    }
    ck_assert(strstr(text, "\n# r = sum(i: x(i)) (the last of 3 runs)\n"));
    ck_assert(strstr(text, "\n# k = 0\n"));
    stc_text_free(m, text);
    ck_ok(m, stc_session_exec(s, "z = 1 + k", "t.stc"));
    ck_ok(m, stc_session_profile(s, &text));
    ck_assert_int_eq(strncmp(text, "# z = 1 + k\n", 12), 0);
    stc_text_free(m, text);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

Suite *suite_session(void)
{
    Suite *s = suite_create("session");
    TCase *c = tcase_create("session");
    tcase_add_test(c, printing);
    tcase_add_test(c, control);
    tcase_add_test(c, errors_leave_things);
    tcase_add_test(c, declarations);
    tcase_add_test(c, data_alone);
    tcase_add_test(c, functions);
    tcase_add_test(c, files);
    tcase_add_test(c, schedules);
    tcase_add_loop_test(c, progress_stops_loops, 0, 4);
    tcase_add_loop_test(c, steps_bound_loops, 0, 4);
    tcase_add_test(c, long_texts);
    tcase_add_test(c, profiles);
    suite_add_tcase(s, c);
    return s;
}
