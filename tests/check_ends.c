/* check_ends.c: small programs written by hand and how they end: with a number, or in an
 * error that is told with its words, the same by base operations, on the faster tiers and
 * on threads. Extents, folds, calls, and workspaces of every policy and capacity. */
#include "check.h"
#include <stdlib.h>
#include <string.h>

/* x is 1 … 8, n is 0 1 2 3 0 1 2 3. A / ends a line. */
#define TABLES                                                                             \
    ".registers v 12 i 8 m 8 c 8/"                                                         \
    ".tensor t0 \"x\" input f64 (0) format 1 dense(0)/"                                    \
    ".tensor t1 \"s\" output f64 (0) [] format 0/"                                         \
    ".tensor t2 \"n\" input i64 (0) format 1 dense(0)/"                                    \
    ".tensor t3 \"\" work i64 (0) [e0]%s format 1 compressed(0)/"                          \
    ".tensor t4 \"k\" output i64 (0) [e0] format 1 dense(0)/"                              \
    ".tensor t5 \"\" work i64 (0) []%s format 0/"                                          \
    ".tensor t6 \"\" work i64 (0) [e4 e4]%s format 2 compressed(0) compressed(1)/"         \
    ".tensor t7 \"c\" input f64 (0) format 0/"                                             \
    ".extent e0 dim t0 0/.extent e1 const 0/.extent e2 const 3/"                           \
    ".extent e3 const 9223372036854775807/.extent e4 const 1099511627776/"                 \
    ".const k0 f64 0/.const k1 i64 1/.const k2 i64 0/.const k3 i64 9/.const k4 i64 2/"     \
    ".const k5 i64 4611686018427387904/.const k6 f64 4611686018427387904/"                 \
    ".const k7 i64 68719476736/.const k8 i64 -2/"                                          \
    ".merge g0 lo root hi e0 universe produce 0x3 { locate c0 t0 0 root root 1 }/"         \
    ".merge g1 lo root hi e0 universe produce 0x3 { locate c1 t2 0 root root 1 }/"         \
    ".merge g2 lo root hi e0 produce 0x2 { walk c2 }/"                                     \
    ".merge g3 lo root hi e4 produce 0x2 { walk c3 }/"                                     \
    ".merge g4 lo root hi e4 produce 0x2 { walk c4 }/"                                     \
    ".merge g5 lo root hi e0 universe produce 0x2 { locate c0 t0 0 root root 1 }/"
/* s = v0, a double; or v1, an integer. */
#define ENDS "begin t1/store t1, root, v0/finish t1/halt/"
#define INTEGER "conv v0, f64, i64, v1/" ENDS

typedef struct end_case {
    const char *code;
    double value;
    stc_status status;
    const char *words;
} end_case;

static const end_case ends[] = {
    /* extents */
    {".extent e5 add e3 e3/.code/halt/", 0, STC_ERR_OVERFLOW, "extent|64 bits"},
    {".extent e5 mulc e3 2/.code/halt/", 0, STC_ERR_OVERFLOW, "extent|64 bits"},
    {".extent e5 addc e3 1/.code/halt/", 0, STC_ERR_OVERFLOW, "extent|64 bits"},
    {".extent e5 mul e3 e3/.code/halt/", 0, STC_ERR_OVERFLOW, "extent|64 bits"},
    {".extent e5 const -7/.extent e6 floordiv e5 2/.code/extent v1, e6/" INTEGER, -4,
     STC_OK, NULL},
    {".extent e5 const -8/.extent e6 floordiv e5 2/.code/extent v1, e6/" INTEGER, -4,
     STC_OK, NULL},
    {".extent e5 addc e0 -9/.extent e6 max0 e5/.code/extent v1, e6/" INTEGER, 0, STC_OK,
     NULL},
    {".tensor t8 \"y\" output f64 (0) [e5] format 1 dense(0)/.extent e5 dim t8 "
     "0/.code/halt/",
     0, STC_ERR_ARGUMENT, "tensor y is not bound"},
    {".tensor t8 \"\" temp f64 (0) [e5] format 1 dense(0)/.extent e5 dim t8 0/.code/halt/",
     0, STC_ERR_ARGUMENT, "a temporary is not bound"},
    {".check e0 eq e2 @0:0 \"%a is more than %b%c\"/.code/halt/", 0, STC_ERR_SHAPE,
     "8 is more than 3%c"},
    {".check e0 le e2 @0:0 \"%a\"/.code/halt/", 0, STC_ERR_SHAPE, "8"},
    /* folds */
    {".code/const v1, k1/fold v1, add, i64, v1, e0/" INTEGER, 8, STC_OK, NULL},
    {".code/const v0, k6/fold v0, sub, f64, v0, e2/" ENDS, -2, STC_OK, NULL},
    {".code/const v0, k6/fold v0, mul, f64, v0, e2/" ENDS, 8, STC_OK, NULL},
    {".code/const v0, k6/fold v0, mul, f64, v0, e1/" ENDS, 1, STC_OK, NULL},
    {".code/const v0, k6/fold v0, max, f64, v0, e0/" ENDS, 2, STC_OK, NULL},
    {".code/const v0, k6/fold v0, sub, f64, v0, e1/" ENDS, 0, STC_ERR_ARITHMETIC,
     "sub over nothing"},
    {".code/const v0, k6/fold v0, fmax, f64, v0, e1/" ENDS, 0, STC_ERR_ARITHMETIC,
     "fmax over nothing"},
    {".code/const v1, k8/fold v1, pow, i64, v1, e2/" INTEGER, 0, STC_ERR_ARITHMETIC,
     "a negative exponent"},
    {".code/const v0, k6/fold v0, sub, f64, v0, e3/" ENDS, 0, STC_ERR_STEPS,
     "limit of a call"},
    /* calls */
    {".fn f0 \"f\" (i64) i64 registers 2 code 0:2/.code/call v1, f0, v0, 1/return v1/const "
     "v0, k1/call v1, f0, v0, 1/" INTEGER,
     0, STC_ERR_ARITHMETIC, "f calls itself more than 200 deep"},
    {".fn f0 \"f\" (i64) i64 registers 2 code 0:2/.fn f1 \"g\" (i64) i64 registers 3 code "
     "2:5/.code/call v1, f1, v0, 1/return v1/const v1, k2/fn2 v2, floordiv, i64, v0, "
     "v1/return "
     "v2/loop i0, m0, g5/ivalue v0, i0/call v1, f0, v0, 1/end/halt/",
     0, STC_ERR_ARITHMETIC, "integer division by zero at (0)"},
    /* integers */
    {".code/iconst i0, k3/idiv i1, i0, e2/imod i2, i0, e0/imuladd i3, i1, k3, i2/ivalue "
     "v1, i3/" INTEGER,
     28, STC_OK, NULL},
    {".code/iconst i0, k3/idiv i1, i0, e1/imod i2, i0, e1/imuladd i3, i1, k3, i2/ivalue "
     "v1, i3/" INTEGER,
     0, STC_OK, NULL},
    {".code/iconst i0, k5/imuladd i1, i0, k3, i0/ivalue v1, i1/" INTEGER, 0,
     STC_ERR_OVERFLOW, "beyond 64 bits"},
    {".code/iconst i0, k5/imuladd i1, i0, k1, i0/ivalue v1, i1/" INTEGER, 0,
     STC_ERR_OVERFLOW, "beyond 64 bits"},
    {".code/const v0, k0/iconst i1, k5/loop i0, m0, g0/imuladd i2, i1, k4, i0/ivalue v1, "
     "i2/conv v2, f64, i64, v1/fn2 v0, add, f64, v0, v2/end/" ENDS,
     0, STC_ERR_OVERFLOW, "beyond 64 bits at (0)"},
    {".code/const v0, k0/iconst i1, k5/loop i0, m0, g0/imuladd i2, i0, k5, i1/ivalue v1, "
     "i2/conv v2, f64, i64, v1/fn2 v0, add, f64, v0, v2/end/" ENDS,
     0, STC_ERR_OVERFLOW, "beyond 64 bits at (1)"},
    /* masks: of the root, and of a scalar that is its fill */
    {".code/const v0, k0/const v1, k6/loop i0, m0, g5/present m0, 0, root/fill.bit m0, 0, "
     "t7, root/skip m0, g5/fn2 v0, add, f64, v0, v1/end/" ENDS,
     0, STC_OK, NULL},
    /* results */
    {".code/begin t4/iconst i0, k1/at c5, t4, 0, root, i0/const v1, k1/store t4, c5, "
     "v1/const v2, k2/acc t4, c5, floordiv, i64, v2/finish t4/halt/",
     0, STC_ERR_ARITHMETIC, "division by zero"},
    {".code/const v1, k1/if v1/begin t4/endif/halt/", 0, STC_ERR_CORRUPT,
     "result k is begun and not finished"},
    {".code/const v1, k2/if v1/begin t4/finish t4/endif/const v0, k6/" ENDS, 2, STC_OK,
     NULL},
};
enum { ENDS_ = sizeof ends / sizeof *ends };

/* What comes out of the workspace, weighted: sum of (i + 1) times the value at i. */
#define GATHER                                                                             \
    "const v0, k0/open c2, t3, 0, root/loop i0, m0, g2/load v1, t3, c2/imuladd i2, i0, "   \
    "k1, i3/"                                                                              \
    "ivalue v2, i2/fn2 v1, mul, i64, v1, v2/conv v3, f64, i64, v1/fn2 v0, add, f64, v0, "  \
    "v3/end/" ENDS
static const end_case works[] = {
    {"ws.begin t3/loop i0, m0, g1/load v1, t2, c1/imod i1, i0, e2/ws.add t3, i1, sub, i64, "
     "v1/end/ws.end t3/" GATHER,
     -6, STC_OK, NULL},
    {"ws.begin t3/loop i0, m0, g1/load v1, t2, c1/imod i1, i0, e2/ws.add t3, i1, add, i64, "
     "v1/end/ws.end t3/" GATHER,
     22, STC_OK, NULL},
    {"const v4, k4/ws.begin t3/loop i0, m0, g1/load v1, t2, c1/iconst i1, k2/ws.add t3, "
     "i1, add, i64, v1/ws.add t3, i1, mul, i64, v4/end/ws.end t3/" GATHER,
     374, STC_OK, NULL},
    {"ws.begin t3/loop i0, m0, g1/load v1, t2, c1/fn2 v1, sub, i64, v1, v5/iconst i1, "
     "k2/ws.add t3, i1, floordiv, i64, v1/end/ws.end t3/" GATHER,
     0, STC_ERR_ARITHMETIC, "integer division by zero"},
    {"ws.begin t3/loop i0, m0, g1/load v1, t2, c1/imod i1, i0, e2/ws.add t3, i1, floordiv, "
     "i64, "
     "v1/end/ws.end t3/" GATHER,
     0, STC_ERR_ARITHMETIC, "integer division by zero"},
    {"ws.begin t3/loop i0, m0, g1/load v1, t2, c1/iconst i1, k3/ws.add t3, i1, add, i64, "
     "v1/end/ws.end t3/" GATHER,
     0, STC_ERR_SHAPE, "coordinate 9 is outside 0:8"},
    {"ws.begin t3/loop i0, m0, g1/load v1, t2, c1/imod i1, i0, e2/ws.call t3, f0, i1, v1, "
     "0/end/ws.end t3/" GATHER,
     -6, STC_OK, NULL},
    {"ws.begin t3/loop i0, m0, g1/load v1, t2, c1/fn2 v1, sub, i64, v1, v5/iconst i1, "
     "k2/ws.call t3, f1, i1, v1, 1/end/ws.end t3/" GATHER,
     0, STC_ERR_ARITHMETIC, "integer division by zero"},
    /* no index at all */
    {"ws.begin t5/loop i0, m0, g1/load v1, t2, c1/ws.add t5, i0, add, i64, v1/end/ws.end "
     "t5/load v1, t5, root/" INTEGER,
     12, STC_OK, NULL},
    /* far apart */
    {"ws.begin t6/loop i0, m0, g1/load v1, t2, c1/imuladd i1, i0, k7, i3/imod i2, i0, "
     "e2/ws.add t6, i1, add, i64, v1/end/ws.end t6/const v0, k0/open c3, t6, 0, root/loop "
     "i0, m0, g3/open c4, t6, 1, c3/loop i1, m1, g4/load v1, t6, c4/conv v2, f64, i64, "
     "v1/fn2 v0, add, f64, v0, v2/end/end/" ENDS,
     12, STC_OK, NULL},
};
enum { WORKS = sizeof works / sizeof *works };
static const char functions[] =
    ".fn f0 \"less\" (i64 i64) i64 registers 3 code 0:2/.fn f1 \"over\" (i64 i64) i64 "
    "registers 3 code 2:4/.code/fn2 v2, sub, i64, v0, v1/return v2/fn2 v2, floordiv, i64, "
    "v0, "
    "v1/return v2/iconst i3, k1/const v5, k1/";

/* ---- a run --------------------------------------------------------------------------- */

enum { MACHINES = 3, STEPS = 100000 };

static stc_status run(stc_machine *m, const char *text, double *got, stc_program **p)
{
    static const double x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, c = 0;
    static const int64_t n[8] = {0, 1, 2, 3, 0, 1, 2, 3}, shape = 8;
    stc_tensor *t[3] = {NULL};
    const stc_tensor *s;
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 1, &shape, NULL, x, &t[0]));
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_I64, 1, &shape, NULL, n, &t[1]));
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 0, NULL, NULL, &c, &t[2]));
    *got = 0;
    stc_status st = stc_program_assemble(m, text, "end", p);
    if (!st) {
        ck_ok(m, stc_bind(*p, "x", t[0]));
        ck_ok(m, stc_bind(*p, "n", t[1]));
        ck_ok(m, stc_bind(*p, "c", t[2]));
        st = stc_run(*p);
        if (!st) st = stc_run(*p);
        if (!st) ck_ok(m, stc_result(*p, "s", &s));
        if (!st) ck_ok(m, stc_tensor_to_dense(s, got));
    }
    for (int k = 0; k < 3; k++)
        stc_tensor_free(t[k]);
    return st;
}

static void judge(const end_case *c, const char *before, const char *policy)
{
    char text[4096];
    const int head = snprintf(text, sizeof text, TABLES, policy, policy, policy);
    snprintf(text + head, sizeof text - (size_t)head, "%s%s", before, c->code);
    for (char *at = text; *at; at++)
        if (*at == '/') *at = '\n';
    for (int k = 0; k < MACHINES; k++) {
        heap h = {0};
        const stc_config config = {.alloc = heap_alloc,
                                   .alloc_context = &h,
                                   .no_super = k == 0,
                                   .max_steps = STEPS};
        stc_machine *m;
        stc_program *p = NULL;
        double got;
        ck_assert_int_eq(stc_open(&config, &m), STC_OK);
        if (k == 2) machine_share(m, 2);
        const stc_status st = run(m, text, &got, &p);
        ck_assert_msg(st == c->status, "%s%s: %s: %s", policy, c->code, stc_status_name(st),
                      stc_error(m)->message);
        if (!st) ck_assert_msg(got == c->value, "%s%s: %g", policy, c->code, got);
        if (st)
            ck_assert_msg(has_words(stc_error(m)->message, c->words), "%s: %s", c->code,
                          stc_error(m)->message);
        stc_program_free(p);
        machine_shut(m, &h);
    }
}

START_TEST(programs)
{
    judge(&ends[_i], "", "");
}
END_TEST

START_TEST(workspaces)
{
    static const char *const policies[] = {"auto", "dense", "coord", "bucket", "hash"};
    for (int k = 0; k < 5; k++)
        for (int capacity = 0; capacity < 8; capacity = 2 * capacity + 1)
            for (int single = 0; single < 2; single++) {
                char policy[60] = "";
                if (k + capacity)
                    snprintf(policy, sizeof policy, " policy %s %d%s", policies[k],
                             capacity, single ? " single" : "");
                judge(&works[_i], functions, policy);
            }
}
END_TEST

/* Loops around a fault, more than a message has room for. */
START_TEST(deep)
{
    enum { DEPTH = 70 };
    char text[12000] =
        ".registers v 3 i 80 m 80 c 1\n.extent e0 const "
        "9000000000000000000\n.extent e1 const "
        "9000000000000000001\n.const k0 i64 0\n.const k1 i64 1\n.merge g0 lo e0 hi e1 "
        "universe produce 0x1 { "
        "}\n.code\nconst v0, k0\nconst v1, k1\n";
    size_t n = strlen(text);
    for (int k = 0; k < DEPTH; k++)
        n += (size_t)snprintf(text + n, sizeof text - n, "loop i%d, m%d, g0\n", k, k);
    n += (size_t)snprintf(text + n, sizeof text - n, "fn2 v2, floordiv, i64, v1, v0\n");
    for (int k = 0; k < DEPTH; k++)
        n += (size_t)snprintf(text + n, sizeof text - n, "end\n");
    snprintf(text + n, sizeof text - n, "halt\n");
    heap h;
    stc_machine *m = machine_open(&h, _i == 1);
    stc_program *p;
    ck_ok(m, stc_program_assemble(m, text, "deep", &p));
    ck_assert_int_eq(stc_run(p), STC_ERR_ARITHMETIC);
    ck_assert(has_words(stc_error(m)->message,
                        "integer division by zero at (9000000000000000000,90000"));
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

Suite *suite_ends(void)
{
    Suite *s = suite_create("ends");
    TCase *c = tcase_create("ends");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, programs, 0, ENDS_);
    tcase_add_loop_test(c, workspaces, 0, WORKS);
    tcase_add_loop_test(c, deep, 0, 2);
    suite_add_tcase(s, c);
    return s;
}
