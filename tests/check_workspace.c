/* check_workspace.c: workspaces: every policy with every capacity gives what the plain
 * statement gives, for reductions, fills, orders and labels of several words; what they
 * hold is in proportion to what is put in.
 */
#include "case.h"
#include "check.h"
#include <string.h>

static const char *const policies[] = {"dense", "coord", "bucket", "hash", "lined"};
static const char *const sizes[] = {"",       ", 1",         ", 2",        ", 7",
                                    ", 1000", ", 1, single", ", 2, single"};
enum { POLICIES = 4, WITH_HOST, SIZES = 7 };

static stc_session *session;
static stc_machine *machine;
static heap memory;

static void run(const char *text)
{
    const stc_status st = stc_session_exec(session, text, "test");
    ck_assert_msg(st == STC_OK, "%s\n%s", text, stc_error(machine)->message);
}

static double scalar(const char *name)
{
    return session_number(machine, session, name);
}

/* A statement whose loops scatter into R, and how R and its plain twin P compare. */
typedef struct scatter_case {
    const char *declare, *statement, *order, *differ;
} scatter_case;

#define MATRICES(type, fill)                                                               \
    "tensor A csr " type " [9,8] fill " fill "\n"                                          \
    "tensor B csr " type " [8,7] fill " fill "\n"                                          \
    "A(i,k) = select(S(i,k) != 0, " type "(S(i,k)), " fill ")\n"                           \
    "B(k,j) = select(T(k,j) != 0, " type "(T(k,j)), " fill ")\n"
#define RESULT(format, type, fill)                                                         \
    "tensor R " format " " type " [9,7] fill " fill "\ntensor P dense " type               \
    " [9,7] fill " fill "\n"
#define DIFFER "n = sum(i,j: R(i,j) != P(i,j))"

static const scatter_case cases[] = {
    {MATRICES("i64", "0") RESULT("csr", "i64", "0"), "(i,j) = A(i,k) * B(k,j)", "k,i,j",
     DIFFER},
    {MATRICES("i64", "0") RESULT("csc", "i64", "0"), "(i,j) = A(i,k) * B(k,j)", "i,k,j",
     DIFFER},
    {MATRICES("i64", "0") RESULT("hash", "i64", "0"), "(i,j) = A(i,k) * B(k,j)", "k,j,i",
     DIFFER},
    {MATRICES("f64", "inf") RESULT("csr", "f64", "inf"), "(i,j) = min(k: A(i,k) + B(k,j))",
     "k,i,j", DIFFER},
    {MATRICES("f64", "-inf") RESULT("dcsr", "f64", "-inf"),
     "(i,j) = max(k: A(i,k) + B(k,j))", "k,i,j", DIFFER},
    {MATRICES("i64", "0") RESULT("coo", "bool", "false"),
     "(i,j) = any(k: A(i,k) != 0 && B(k,j) != 0)", "k,i,j", DIFFER},
    {MATRICES("u8", "0") RESULT("csr", "u8", "0"), "(i,j) = bitor(k: A(i,k) & B(k,j))",
     "k,i,j", DIFFER},
    {"fn cap(a, b) { r = a + b; if (r > 9) { return 9 }; return r }\n"
     "  with commutative, associative, identity(0), annihilator(9)\n" MATRICES("i64", "0")
         RESULT("csr", "i64", "0"),
     "(i,j) = cap(k: A(i,k) * B(k,j))", "k,i,j", DIFFER},
    {"fn worse(a, b) { while (a < b) { t = a; a = b; b = t }; return a }\n"
     "  with commutative, associative, idempotent, identity(-inf)\n" MATRICES("f64", "-inf")
         RESULT("coo", "f64", "-inf"),
     "(i,j) = worse(k: A(i,k) + B(k,j))", "k,j,i", DIFFER},
    {"fn least(a, b) = min(a, b) with commutative, associative, identity(9)\n" MATRICES(
         "i64", "0") RESULT("csc", "i64", "3"),
     "(i,j) = least(k: A(i,k) * B(k,j) - 4)", "k,i,j", DIFFER},
    /* each row has one, which a thread keeps that shares the rows */
    {MATRICES("i64", "0") RESULT("csr", "i64", "0"), "(i,j) = A(i,k) * B(k,j)", "i,k,j",
     DIFFER},
    {MATRICES("i64", "0") RESULT("csr", "i64", "0"), "(i,j) = h2(k: A(i,k) & B(k,j))",
     "i,k,j", DIFFER},
    {"tensor X csf i32 [5,6,7] = random(density=0.2, seed=5)\n"
     "tensor A csr i32 [6,4] = random(density=0.5, seed=6)\n"
     "tensor R csf i32 [5,7,4]\ntensor P dense i32 [5,7,4]\n",
     "(i,l,j) = X(i,k,l) * A(k,j)", "k,i,j,l", "n = sum(i,l,j: R(i,l,j) != P(i,l,j))"},
};
enum { CASES = sizeof cases / sizeof *cases };

static void each_policy(const scatter_case *c, int threads)
{
    char text[1200];
    machine = machine_open(&memory, false);
    machine_share(machine, threads);
    ck_ok(machine, host_policies_register(machine));
    ck_ok(machine, host_functions_register(machine));
    ck_ok(machine, stc_session_open(machine, &session));
    run("tensor S csr i64 [9,8] = random(density=0.5, seed=1)\n"
        "tensor T csr i64 [8,7] = random(density=0.5, seed=2)\n");
    run(c->declare);
    snprintf(text, sizeof text, "P%s", c->statement);
    run(text);
    for (int p = 0; p < WITH_HOST; p++)
        for (int k = 0; k < SIZES; k++) {
            snprintf(text, sizeof text, "R%s with reorder(%s), workspace(%s%s)",
                     c->statement, c->order, policies[p], sizes[k]);
            run(text);
            run(c->differ);
            ck_assert_msg(scalar("n") == 0, "%s: %g elements differ", text, scalar("n"));
        }
    stc_session_close(session);
    machine_shut(machine, &memory);
}

START_TEST(policies_agree)
{
    each_policy(&cases[_i], 1);
}
END_TEST

START_TEST(policies_on_threads)
{
    each_policy(&cases[_i], 2);
}
END_TEST

/* Three extents of 2^40: labels of two words. */
START_TEST(long_labels)
{
    for (int p = 1; p < POLICIES; p++) {
        char text[700];
        snprintf(text, sizeof text,
                 "tensor A coo i64 [1099511627776,3,1099511627776]"
                 " = { (7,0,9): 1, (1099511627775,1,0): 2, (7,2,1099511627775): 3 }\n"
                 "tensor R coo i64 [1099511627776,1099511627776]\n"
                 "R(j,i) = A(i,k,j) with reorder(k,i,j), workspace(%s, 2)\n"
                 "n = sum(i,j: R(i,j) * (10 * (i %% 10 + 1) + j %% 10 + 1))\n",
                 policies[p]);
        EXPECT(text, "n", 344);
    }
}
END_TEST

/* Rows over many coordinates: listed where they have few entries, found by hash where
 * there is no accumulator; by coordinates that meet in few places. */
START_TEST(listed_rows)
{
    static const char *const terms[][2] = {
        {"f64", "A(i,k) * B(k,j)"}, {"i64", "A(i,k) * B(k,j)"}, {"f32", "A(i,k) * B(k,j)"}};
    const long columns[] = {1100000, 6000000};
    char text[900];
    for (int k = 0; k < 3; k++) {
        snprintf(text, sizeof text,
                 "tensor P csr i64 [40,60] = random(density=0.1, seed=1)\n"
                 "tensor Q csr i64 [60,90] = random(density=0.4, seed=2)\n"
                 "tensor A csr %s [40,60]\ntensor B csr %s [60,%ld]\n"
                 "A(i,k) = P(i,k) %% 100\n"
                 "B(k,12000*j+7) = Q(k,j) %% 100\n"
                 "tensor C csr %s; tensor D csr %s\nC(i,j) = %s\n"
                 "D(i,j) = %s with workspace(coord)\n"
                 "n = sum(i,j: C(i,j) != D(i,j)) + (sum(i,j: D(i,j) != 0) == 0)\n",
                 terms[k][0], terms[k][0], columns[_i], terms[k][0], terms[k][0],
                 terms[k][1], terms[k][1]);
        EXPECT(text, "n", 0);
    }
}
END_TEST

/* Rows of truth values: all true, and so alike, up to the first false one that is stored.
 */
START_TEST(settled_rows)
{
    static const char *const kinds[] = {"csr", "dcsr", "coo", "hash", "rle", "dense"};
    static const char *const first[] = {"1 > 0", "k > 30", "k < 45", "k % 3 > 0"};
    char text[1200];
    snprintf(text, sizeof text,
             "tensor S csr i64 [40,60] = random(density=0.2, seed=1)\n"
             "tensor T csr i64 [60,90] = random(density=0.1, seed=2)\n"
             "tensor A csr bool [40,60]\ntensor B csr bool [60,90]\n"
             "A(i,k) = S(i,k) != 0\nA(i,k) = %s where A(i,k)\n"
             "B(k,j) = T(k,j) != 0\nB(k,j) = %s where B(k,j)\n"
             "tensor R %s bool\nR(i,j) = any(k: A(i,k) && B(k,j))\n"
             "tensor f svec bool\nf(k) = A(7,k)\ntensor q %s bool\n"
             "q(j) = any(k: f(k) && B(k,j))\nq(j) or= any(k: A(3,k) && B(k,j))\n"
             "tensor P dense i64\nP(i,j) = i64(A(i,k)) * i64(B(k,j))\n"
             "n = sum(i,j: R(i,j) != (P(i,j) > 0)) +"
             " sum(j: q(j) != (P(7,j) + P(3,j) > 0)) + (sum(i,j: P(i,j)) == 0)\n",
             first[_i % 4], first[_i / 4 % 4], kinds[_i / 16],
             _i / 16 < 3 ? "svec" : kinds[_i / 16]);
    EXPECT(text, "n", 0);
}
END_TEST

/* One long row where there is no accumulator: the profile tells that it went by hash. */
START_TEST(hashed_row)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    char *profile;
    machine_profile_runs(m);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s,
                              "tensor Q csr i64 [60,900] = random(density=0.4, seed=2)\n"
                              "tensor A csr i64 [1,60]\ntensor B csr i64 [60,12000000]\n"
                              "A(i,k) = k + 1\nB(k,12000*j+7) = Q(k,j) % 100\n",
                              "operands"));
    ck_ok(m, stc_session_exec(s, "tensor C csr i64\nC(i,j) = A(i,k) * B(k,j)", "product"));
    ck_ok(m, stc_session_profile(s, &profile));
    ck_assert_msg(strstr(profile, "; 1 rows listed"), "%s", profile);
    stc_text_free(m, profile);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

/* More entries than a default capacity, with many duplicates: merges that follow each
 * other, and those on a second thread where there is one. */
START_TEST(many_merges)
{
    for (int p = 0; p < POLICIES; p++) {
        char text[700];
        snprintf(text, sizeof text,
                 "tensor A csr i64 [300,400] = random(density=0.1, seed=1)\n"
                 "tensor B csr i64 [400,200] = random(density=0.1, seed=2)\n"
                 "P(i,j) = A(i,k) * B(k,j)\ntensor R csr i64 [300,200]\n"
                 "R(i,j) = A(i,k) * B(k,j) with reorder(k,i,j), workspace(%s, 64)\n"
                 "n = sum(i,j: R(i,j) != P(i,j))",
                 policies[p]);
        EXPECT(text, "n", 0);
    }
}
END_TEST

/* A product of matrices of 10^7 x 10^7 with a thousand entries each. */
START_TEST(hypersparse_peak)
{
    enum { N = 1000 };
    const int64_t shape[2] = {10000000, 10000000};
    int64_t at[2 * N];
    double v[N];
    for (int64_t k = 0; k < N; k++) {
        at[k] = k * 9973;
        at[N + k] = k * 7919 % 500 * 11;
        v[k] = 1;
    }
    stc_machine *m = machine_open(&memory, false);
    stc_tensor *a, *b;
    stc_program *p;
    const stc_decl d[] = {{0, "A", "dcsc", STC_F64, NULL, 2},
                          {0, "B", "dcsr", STC_F64, NULL, 2},
                          {0, "R", "dcsr", STC_F64, NULL, 2}};
    ck_ok(m, stc_tensor_from_coords(m, "dcsc", STC_F64, 2, shape, NULL, N, at, v, &a));
    ck_ok(m, stc_tensor_from_coords(m, "dcsr", STC_F64, 2, shape, NULL, N, at, v, &b));
    ck_ok(m, stc_compile(m, "R(i,j) = A(i,k) * B(k,j) with reorder(k,i,j)", d, 3, &p));
    ck_ok(m, stc_bind(p, "A", a));
    ck_ok(m, stc_bind(p, "B", b));
    ck_ok(m, stc_run(p));
    ck_assert_uint_lt(stc_memory_peak(m), (uint64_t)4 << 20);
    stc_program_free(p);
    stc_tensor_free(a);
    stc_tensor_free(b);
    machine_shut(m, &memory);
}
END_TEST

/* A function of the user's that is no built-in one: entries meet in it. */
START_TEST(called)
{
    EXPECT("fn f(x, y) = x + y + x * y with commutative, associative, identity(0)\n"
           "tensor A csr f64 [2,2] = { (0,0): 1, (0,1): 2, (1,1): 3 }\n"
           "tensor B csr f64 [2,2] = { (0,0): 1, (1,0): 2, (1,1): 1 }\n"
           "tensor C csr\nC(i,j) = f(k: A(i,k) * B(k,j)) with reorder(k,i,j)",
           "C", 9, 2, 6, 3);
}
END_TEST

/* The value where nothing is stored isn't known before it runs: it is put in everywhere,
 * whether a term reached the place or not. */
START_TEST(fills_unknown)
{
    EXPECT("tensor A coo f32 [2,2,3] fill 2\ntensor y csr f32\n"
           "y(i,l) = 4 + A(i,k,l) with precompute(4 + A(i,k,l), W, {i}, {s})",
           "y", 8, 8, 8, 8, 8, 8);
}
END_TEST

/* A tensor that is read and written begins empty if it isn't bound: how many entries the
 * operands have, which workspaces are chosen by, is asked of it, too. */
START_TEST(beside_an_unbound_result)
{
    static const char text[] =
        ".file \"x\"\n.source \"C\\n\"\n.registers v 1 i 2 m 2 c 2\n"
        ".tensor t0 \"C\" inout f64 (0) [e0] format 1 compressed(0)\n"
        ".tensor t1 \"w\" work f64 (0) [e0 e0] format 2 compressed(0) compressed(1)\n"
        ".extent e0 const 3\n.const k0 f64 2\n"
        ".merge g0 lo root hi e0 universe produce 0x1 { }\n.code\n"
        "ws.begin t1\nconst v0, k0\nloop i0, m0, g0\nloop i1, m1, g0\n"
        "ws.add t1, i0, add, f64, v0\nend\nend\nws.end t1\nhalt\n";
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p;
    ck_ok(m, stc_program_assemble(m, text, "x", &p));
    ck_ok(m, stc_run(p));
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

/* A result that is as its workspace is takes it as a whole, round after round. */
START_TEST(taken)
{
    const stc_decl d[] = {{.name = "A", .format = "csr", .type = STC_I64, .order = -1},
                          {.name = "x", .format = "dense", .type = STC_I64, .order = -1}};
    stc_program *p;
    char *code;
    machine = machine_open(&memory, false);
    machine_share(machine, 1 + _i);
    ck_ok(machine, stc_compile(machine, "y(j) = A(i,j) * x(i)", d, 2, &p));
    ck_ok(machine, stc_program_dump(p, &code));
    ck_assert_msg(strstr(code, "move") && !strstr(code, "store"), "%s", code);
    stc_text_free(machine, code);
    stc_program_free(p);
    ck_ok(machine, stc_session_open(machine, &session));
    run("tensor A csr i64 [3000,4000] = random(density=0.001, seed=1)\n"
        "tensor x dense i64 [3000] = 1\ntensor P dense i64 [4000]\nbad = 0\nn = 0\n"
        "repeat 5 {\n  x(i) = (3 * x(i) + i) % 7 + 1\n  y(j) = A(i,j) * x(i)\n"
        "  P(j) = A(i,j) * x(i)\n  z(j) = sum(i: A(i,j) * x(i)) && j > 9\n"
        "  bad += sum(j: y(j) != P(j)) + sum(j: z(j) != (P(j) != 0 && j > 9))\n"
        "  bad += stored(y) != sum(j: any(i: A(i,j) != 0))\n  n += stored(y) > 3000\n}\n");
    ck_assert_double_eq(scalar("bad"), 0);
    ck_assert_double_eq(scalar("n"), 5);
    stc_session_close(session);
    machine_shut(machine, &memory);
}
END_TEST

START_TEST(profiles)
{
    static const struct {
        const char *with, *says;
    } said[] = {
        {"reorder(k,i,j), workspace(coord, 2)", "coord, asked for; "},
        {"reorder(k,i,j), workspace(hash, 2)", "hash, asked for; "},
        {"reorder(k,i,j), workspace(coord, 2)", " merges, "},
        {"reorder(i,k,j)", ": dense, few coordinates"},
    };
    machine = machine_open(&memory, false);
    machine_profile_runs(machine);
    machine_share(machine, 1 + _i % 2);
    ck_ok(machine, stc_session_open(machine, &session));
    run("tensor A csr i64 [30,40] = random(density=0.3, seed=1)\n"
        "tensor B csr i64 [40,20] = random(density=0.3, seed=2)\ntensor R csr i64\n");
    for (int k = 0; k < 4; k++) {
        char text[200], *profile;
        snprintf(text, sizeof text, "R(i,j) = A(i,k) * B(k,j) with %s", said[k].with);
        run(text);
        ck_ok(machine, stc_session_profile(session, &profile));
        ck_assert_msg(strstr(profile, said[k].says) != NULL, "%s:\n%s", text, profile);
        stc_text_free(machine, profile);
    }
    stc_session_close(session);
    machine_shut(machine, &memory);
}
END_TEST

/* A fiber that is read at 2 * i + p isn't scattered to its own coordinates, also where the
 * loop's range has room for all of them. */
START_TEST(steps_through_a_fiber)
{
    static const char text[] =
        ".registers v 3 i 2 m 2 c 2\n"
        ".tensor t0 \"A\" input i64 (0) format 1 compressed(0)\n"
        ".tensor t1 \"B\" input i64 (0) format 1 compressed(0)\n"
        ".tensor t2 \"y\" output i64 (0) [e2] format 1 compressed(0)\n"
        ".tensor t3 \"\" work i64 (0) [e2] format 1 compressed(0)\n"
        ".extent e0 dim t1 0\n.extent e1 dim t0 0\n.extent e2 addc e1 100\n.const k0 i64 "
        "2\n"
        ".merge g0 lo root hi e0 produce 0x2 { walk c0 }\n"
        ".merge g1 lo root hi e2 produce 0x2 { walk c1 }\n"
        ".code\nws.begin t3\nopen c0, t1, 0, root\nloop i1, m0, g0\n"
        "open.at c1, t0, 0, root, i1, k0\nloop i0, m1, g1\nload v0, t0, c1\n"
        "load v1, t1, c0\nfn2 v2, mul, i64, v0, v1\nws.add t3, i0, add, i64, v2\n"
        "end\nend\nws.end t3\nmove t2, t3\nhalt\n";
    const int64_t a[9] = {0, 0, 0, 0, 2, 0, 0, 0, 5}, b[4] = {1, 8, 0, 4}, nine = 9,
                  four = 4;
    for (int no_super = 0; no_super < 2; no_super++) {
        heap h;
        stc_machine *m = machine_open(&h, no_super);
        stc_program *p;
        stc_tensor *in[2];
        const stc_tensor *y;
        int64_t got[109] = {0};
        ck_ok(m, stc_program_assemble(m, text, "t", &p));
        ck_ok(m, stc_tensor_from_dense(m, "svec", STC_I64, 1, &nine, NULL, a, &in[0]));
        ck_ok(m, stc_tensor_from_dense(m, "svec", STC_I64, 1, &four, NULL, b, &in[1]));
        ck_ok(m, stc_bind(p, "A", in[0]));
        ck_ok(m, stc_bind(p, "B", in[1]));
        ck_ok(m, stc_run(p));
        ck_ok(m, stc_result(p, "y", &y));
        ck_ok(m, stc_tensor_to_dense(y, got));
        for (int i = 0; i < 109; i++) {
            int64_t sum = 0;
            for (int k = 0; k < 4; k++)
                sum += 2 * i + k < 9 ? a[2 * i + k] * b[k] : 0;
            ck_assert_int_eq(got[i], sum);
        }
        stc_program_free(p);
        stc_tensor_free(in[0]);
        stc_tensor_free(in[1]);
        machine_shut(m, &h);
    }
}
END_TEST

Suite *suite_workspace(void)
{
    Suite *s = suite_create("workspace");
    TCase *c = tcase_create("workspace");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, policies_agree, 0, CASES);
    tcase_add_loop_test(c, policies_on_threads, 0, CASES);
    tcase_add_test(c, long_labels);
    tcase_add_loop_test(c, settled_rows, 0, 96);
    tcase_add_loop_test(c, listed_rows, 0, 2);
    tcase_add_test(c, hashed_row);
    tcase_add_test(c, many_merges);
    tcase_add_test(c, hypersparse_peak);
    tcase_add_test(c, called);
    tcase_add_test(c, fills_unknown);
    tcase_add_test(c, beside_an_unbound_result);
    tcase_add_loop_test(c, taken, 0, 2);
    tcase_add_loop_test(c, profiles, 0, 2);
    tcase_add_test(c, steps_through_a_fiber);
    suite_add_tcase(s, c);
    return s;
}
