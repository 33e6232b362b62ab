/* check_held.c: what a process holds while tensors are made, converted and read: no
 * more than they take themselves and a little; and under a cap no more than the cap.
 *
 * Each script runs in a process of its own with the default allocator; the system tells
 * the most that was resident. */
#include "check.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef STC_SAN
enum { SANITIZED = true };
#else
enum { SANITIZED = false };
#endif

enum { MB = 1 << 20, LITTLE = 16 };

typedef struct held {
    double mb; /* the most, beyond what the process began with */
    int status;
} held;

static void run(const char *script, const stc_config *config)
{
    stc_machine *m;
    stc_session *s;
    FILE *sink = fopen("/dev/null", "w");
    if (!sink || stc_open(config, &m) || stc_session_open(m, &s)) _exit(100);
    stc_session_output(s, sink);
    const stc_status st = stc_session_exec(s, script, "held");
    if (st && st != STC_ERR_MEMORY) fprintf(stderr, "%s\n", stc_error(m)->message);
    stc_session_close(s);
    stc_close(m);
    _exit((int)st);
}

static held run_apart(const char *script, uint64_t max_memory, int threads)
{
    const stc_config config = {.max_memory = max_memory, .threads = threads};
    struct rusage use, now;
    int end = 0;
    fflush(NULL);
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &now), 0);
    const pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (!pid) run(script, &config);
    ck_assert_int_eq(wait4(pid, &end, 0, &use), pid);
    ck_assert_msg(WIFEXITED(end), "ended by signal %d: %.200s", WTERMSIG(end), script);
    return (held){(double)(use.ru_maxrss - now.ru_maxrss) / 1024, WEXITSTATUS(end)};
}

static void at_most(double mb, const char *script)
{
    const held h = run_apart(script, 0, 1);
    ck_assert_msg(h.status == STC_OK, "%s: %.200s", stc_status_name(h.status), script);
    ck_assert_msg(SANITIZED || h.mb <= mb, "%.0f MB, expected at most %.0f: %.200s", h.mb,
                  mb, script);
}

/* Under a cap, finished or not. */
static void capped(uint64_t mb, int threads, const char *script, stc_status status)
{
    const held h = run_apart(script, mb * MB, threads);
    ck_assert_msg((stc_status)h.status == status, "%s: %.200s", stc_status_name(h.status),
                  script);
    ck_assert_msg(SANITIZED || h.mb <= (double)mb * 1.1 + LITTLE,
                  "%.0f MB under a cap of %" PRIu64 ": %.200s", h.mb, mb, script);
}

/* 3 million elements in each format: bytes of one, those of its values among them. */
static const struct {
    const char *format;
    double bytes;
} kinds[] = {
    {"dense f64", 8},
    {"dense u8", 1},
    {"csr f64", 12},
    {"csc f32", 8},
    {"dcsr f64", 12},
    {"ds:1,0 f64", 12},
    {"(i,j) -> (i/4 : dense, j/4 : dense, i%4 : dense, j%4 : dense) f64", 8},
    {"(i,j) -> (j : dense, i : hashed) f32", 4 + 4 + 16},
    {"rle f64", 0},
    {"lz77 f64", 0},
};

START_TEST(filled)
{
    char script[300];
    const double all = 3e6 / MB;
    snprintf(script, sizeof script, "tensor B %s [3000,1000] = 1\n", kinds[_i].format);
    at_most(all * kinds[_i].bytes * 1.3 + LITTLE, script);
}
END_TEST

START_TEST(made)
{
    at_most(3e6 * 8 / MB * 1.2 + LITTLE, "tensor B dense f64 [3000,1000] = random(seed=3)");
    at_most(3e6 * 12 / MB * 1.4 + LITTLE, "tensor B csr f64 [3000,1000] = random(seed=3)");
    at_most(3e6 * 4 / MB * 1.2 + LITTLE,
            "tensor B dense f32 [1000,3000] = random(density=0.5, seed=3)");
}
END_TEST

/* Two tensors at once, and nothing in between; a new fill, too. */
START_TEST(converted)
{
    const double all = 3e6 / MB;
    at_most(all * (8 + 12) * 1.3 + LITTLE,
            "tensor A dense f64 [3000,1000] = random(seed=1)\n"
            "tensor B csr f64\nB(i,j) = A(i,j)");
    at_most(all * (12 + 8) * 1.3 + LITTLE, "tensor A csr f64 [3000,1000] = 1\n"
                                           "tensor B dense f32\nB(i,j) = A(i,j)");
    at_most(all * (8 + 8) * 1.3 + LITTLE, "tensor A csc f32 [3000,1000] = 1\n"
                                          "tensor B dense f64 fill 2\nB(i,j) = A(i,j)");
}
END_TEST

/* A matrix of n entries, in ten rows. */
static stc_tensor *listed(stc_machine *m, int64_t n)
{
    const int64_t shape[] = {10, 30000};
    int64_t *coords = malloc((size_t)n * 2 * sizeof *coords);
    double *vals = malloc((size_t)n * sizeof *vals);
    stc_tensor *t = NULL;
    for (int64_t k = 0; k < n; k++)
        coords[k] = k % 10, coords[n + k] = k / 10, vals[k] = (double)k;
    ck_assert_int_eq(
        stc_tensor_from_coords(m, "csr", STC_F64, 2, shape, NULL, n, coords, vals, &t), 0);
    free(coords);
    free(vals);
    return t;
}

/* Results that are taken away: what the next one begins with it doesn't keep. */
START_TEST(taken)
{
    const stc_decl decl[] = {{0, "A", "csr", STC_F64, NULL, -1},
                             {0, "C", "csr", STC_F64, NULL, -1}};
    static const int64_t sizes[] = {250000, 250000, 3, 200000, 3};
    stc_machine *m;
    stc_program *p;
    ck_assert_int_eq(stc_open(NULL, &m), 0);
    ck_assert_int_eq(stc_compile(m, "C(i,j) = 2 * A(i,j)", decl, 2, &p), 0);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        stc_tensor *a = listed(m, sizes[k]), *c;
        const void *vals;
        int64_t n;
        ck_assert_int_eq(stc_bind(p, "A", a), 0);
        const uint64_t before = stc_memory_used(m);
        ck_assert_int_eq(stc_run(p), 0);
        ck_assert_int_eq(stc_take(p, "C", &c), 0);
        ck_assert_uint_le(stc_memory_used(m) - before,
                          (uint64_t)sizes[k] * 12 * 3 / 2 + 8 * (uint64_t)MB);
        if (sizes[k] < 10) ck_assert_uint_lt(stc_memory_used(m) - before, MB / 4);
        ck_assert_int_eq(stc_tensor_values(c, &vals, &n), 0);
        ck_assert_int_eq(n, sizes[k]);
        ck_assert_double_eq(((const double *)vals)[n - 1], 2 * (double)(n - 1));
        ck_assert_int_eq(stc_bind(p, "A", NULL), 0);
        stc_tensor_free(c);
        stc_tensor_free(a);
    }
    stc_program_free(p);
    stc_close(m);
}
END_TEST

/* A line of a script costs what it says, wherever it is. */
START_TEST(definitions)
{
    char *script = NULL;
    size_t size;
    FILE *f = open_memstream(&script, &size);
    ck_assert_ptr_nonnull(f);
    for (int k = 0; k < 20000; k++)
        fprintf(f, "format f%d = (i,j) -> (i : dense, j : compressed)%s", k,
                k < 10000 ? "\n" : "; ");
    fclose(f);
    at_most(64, script);
    free(script);
}
END_TEST

START_TEST(few_entries)
{
    char path[] = "/tmp/check_held_XXXXXX.mtx", script[200];
    const int fd = mkstemps(path, 4);
    ck_assert_int_ge(fd, 0);
    FILE *f = fdopen(fd, "w");
    fprintf(f, "%%%%MatrixMarket matrix coordinate real general\n"
               "100000000 100000000 2\n1 1 2.5\n99999999 3 1\n");
    fclose(f);
    snprintf(script, sizeof script, "tensor A = \"%s\"\ny(j) = A(i,j)\nprint A\n", path);
    at_most(LITTLE, script);
    /* Bounds of every row are asked for: more than the cap. */
    snprintf(script, sizeof script, "tensor A csr = \"%s\"\n", path);
    capped(100, 1, script, STC_ERR_MEMORY);
    remove(path);
}
END_TEST

START_TEST(caps)
{
    char *script = NULL;
    size_t size;
    FILE *f = open_memstream(&script, &size);
    ck_assert_ptr_nonnull(f);
    for (int k = 0; k < 60000; k++)
        fprintf(f, "s%d = %d\n", k, k);
    fclose(f);
    capped(50, 1, script, STC_ERR_MEMORY);
    free(script);
    capped(50, 1, "tensor B dense f64 [20000,1000] = 1\n", STC_ERR_MEMORY);
    capped(50, 1, "tensor B coo f64 [20000,1000] = 1\n", STC_ERR_MEMORY);
    /* what a def is given is lent, and copied only if it is changed there */
    capped(12, 1,
           "tensor x dense f64 [1000000] = 1\ndef f(v) -> s { s = sum(i: v(i)) + v(0) }\n"
           "def g(v) -> s { s = f(v) }\ny = g(x)\nassert y == 1000001\n",
           STC_OK);
    capped(12, 1,
           "tensor x dense f64 [1000000] = 1\ndef f(v) -> s { v(0) = 2; s = v(0) }\n"
           "y = f(x)\n",
           STC_ERR_MEMORY);
    static const char product[] =
        "tensor A csr f64 [3000,3000] = random(density=0.03, seed=1)\n"
        "tensor B csr f64 [3000,3000] = random(density=0.03, seed=2)\n"
        "C(i,j) = A(i,k) * B(k,j)\n";
    capped(60, 1, product, STC_ERR_MEMORY);
    capped(60, 16, product, STC_ERR_MEMORY);
    capped(60, 200, product, STC_ERR_MEMORY);
    capped(30, 200,
           "tensor A csr f64 [300,300] = 1\ny = sum(i,j: A(i,j) * A(j,i))\n"
           "C(i,j) = A(i,k) * A(k,j)\n",
           STC_OK);
}
END_TEST

Suite *suite_held(void)
{
    Suite *s = suite_create("held");
    TCase *c = tcase_create("held");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, filled, 0, (int)(sizeof kinds / sizeof *kinds));
    tcase_add_test(c, made);
    tcase_add_test(c, converted);
    tcase_add_test(c, taken);
    tcase_add_test(c, definitions);
    tcase_add_test(c, few_entries);
    tcase_add_test(c, caps);
    suite_add_tcase(s, c);
    return s;
}
