/* check_threads.c: loops that threads share: which they are, that results are
 * those of one thread and the same each time, which error is told, that limits hold
 * and wishes to stop are heard, and that machines don't disturb each other. */
#define _GNU_SOURCE
#include "check.h"
#include "../src/api/api.h"
#include <pthread.h>
#include <string.h>
#include <time.h>

enum { N = 300 };

/* A csr matrix [N,N] with a few entries a row, rows of very different lengths. */
static stc_tensor *skewed(stc_machine *m, const char *form, stc_type type)
{
    static int64_t coords[2 * N * 40];
    static double f64[N * 40];
    static int64_t i64[N * 40];
    int64_t n = 0, shape[2] = {N, N};
    static int64_t row[N * 40], col[N * 40];
    for (int64_t i = 0; i < N; i++) {
        const int64_t count = i % 50 == 0 ? 37 : i % 4;
        for (int64_t k = 0; k < count; k++) {
            row[n] = i;
            col[n] = (i * 7 + k * 8) % N;
            f64[n] = 0.1 + (double)(n % 17);
            i64[n] = n % 5;
            n++;
        }
    }
    memcpy(coords, row, (size_t)n * sizeof *row);
    memcpy(coords + n, col, (size_t)n * sizeof *col);
    stc_tensor *t;
    const void *values = type == STC_F64 ? (void *)f64 : (void *)i64;
    ck_ok(m, stc_tensor_from_coords(m, form, type, 2, shape, NULL, n, coords, values, &t));
    return t;
}

static stc_program *compiled(stc_machine *m, const char *text, const char *form,
                             const char *result, stc_type type)
{
    const stc_decl d[] = {{0, "A", form, type, NULL, 2}, {0, "R", result, type, NULL, -1}};
    stc_program *p;
    ck_ok(m, stc_compile(m, text, d, result ? 2 : 1, &p));
    return p;
}

static bool shares(stc_program *p)
{
    char *code;
    ck_assert_int_eq(stc_program_explain(p, "code", &code), STC_OK);
    const bool shared = strstr(code, "shared by threads");
    stc_text_free(p->m, code);
    return shared;
}

typedef struct sharing_case {
    const char *text, *format, *result;
    int shared; /* 2: its sums are by chunks, too */
} sharing_case;

static const sharing_case cases[] = {
    {"R(i) = A(i,j)", "csr", "dense", true},
    {"R(i,j) = A(i,j) * 2", "csr", "csr", true},
    {"R(i,j) = A(i,j) + A(i,k) * A(k,j)", "csr", "csr", true},
    {"R(i,j) = A(i,j) * 2", "dcsr", "dcsr", true},
    {"R(i,j) = A(i,k) * A(k,j)", "csr", "dense", true},
    {"R(i,j) = A(i,j) + 1", "dense", "dense", true},
    {"R = A(i,j) * A(i,j)", "csr", NULL, true},
    {"R = max(i, j: A(i,j))", "dcsr", NULL, true},
    /* columns from all rows, of as many values: each chunk has its own */
    {"R(j) = A(i,j)", "csr", "dense", 2},
    {"R(j) = A(i,j)", "csr", "svec", 2},
    {"R(i,j) = A(k,i) * A(k,j) with reorder(k,i,j), parallelize(k)", "csr", "csr", 2},
    /* its windows are found one after the other */
    {"R(i,j) = A(i,j) + A(j,i) + sum(p in 0:3: pad A(i-p+2,j))", "csr", "csr", false},
    /* nests that a filter's taps run for all rows of a chunk at once */
    {"R(i,j) = sum(p in 0:3, q in 0:3: A(i+p,j+q)) with reorder(i,p,q,j), parallelize(i)",
     "csr", "dense", true},
    {"R(i,j) = sum(p in 0:3: A(2*i+p,j)) with reorder(i,p,j), parallelize(i)", "csr",
     "dense", true},
    /* the same with the filter's loops outside: the range of a loop inside is shared */
    {"R(i,j) = sum(p in 0:3, q in 0:3: A(i+p,j+q))", "csr", "dense", true},
    {"R(i,j) = sum(p in 0:3, q in 0:3: A(2*i+p,j+q))", "csr", "dense", true},
    {"R(i,j) = sum(p in 0:3, q in 0:3: A(i+p,j+q))", "dcsr", "dense", true},
    {"R(i,j) = A(i,k) * A(k,j) with parallelize(i)", "csr", "csr", true},
    {"R(i,j) = A(i,k) * A(k,j) with split(i,a,b,7), reorder(a,b,k,j), parallelize(a)",
     "csr", "csr", true},
    {"R(i,j) = A(i,j) + 1 with split(i,a,b,64), parallelize(a)", "dense", "dense", true},
    /* runs: each row has some, those before the first chunk, too */
    {"R(i,j) = A(i,j) * 2 + 1 with parallelize(i)", "rle", "rle", true},
    {"R(i,j) = A(i,j) * (i > 40) with parallelize(i)", "csr", "rle", true},
    /* tokens aren't put together from parts: runs are, and converted */
    {"R(i,j) = A(i,j) * 2 + 1 with parallelize(i)", "lz77", "lz77", true},
    {"R(i,j) = A(i,j) * (i > 40) with parallelize(i)", "csr", "lz77", true},
};

/* The same, and the same again; sums are by chunks, and so only near. */
START_TEST(results_agree)
{
    const sharing_case *c = &cases[_i];
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *a = skewed(m, c->format, STC_F64), *first;
    const stc_tensor *again;
    stc_program *p = compiled(m, c->text, c->format, c->result, STC_F64);
    ck_ok(m, stc_bind(p, "A", a));
    ck_ok(m, stc_run(p));
    ck_ok(m, stc_take(p, "R", &first));
    for (int threads = 2; threads < 6; threads++) {
        machine_share(m, threads);
        ck_ok(m, stc_run(p));
        ck_ok(m, stc_result(p, "R", &again));
        ck_ok(m, stc_tensor_check((stc_tensor *)again));
        ck_assert(shares(p) == (c->shared > 0));
        const void *x, *y;
        int64_t nx, ny;
        ck_ok(m, stc_tensor_values(first, &x, &nx));
        ck_ok(m, stc_tensor_values(again, &y, &ny));
        ck_assert_int_eq(nx, ny);
        if (c->result && c->shared != 2)
            ck_assert(memcmp(x, y, (size_t)nx * sizeof(double)) == 0);
        for (int64_t k = 0; k < nx && (!c->result || c->shared == 2); k++)
            ck_assert_double_eq_tol(((double *)x)[k], ((double *)y)[k], 1e-6);
        const double once = *(const double *)y;
        ck_ok(m, stc_run(p));
        ck_ok(m, stc_result(p, "R", &again));
        ck_ok(m, stc_tensor_values(again, &y, &ny));
        ck_assert(memcmp(&once, y, sizeof once) == 0);
    }
    stc_tensor_free(first);
    stc_program_free(p);
    stc_tensor_free(a);
    machine_shut(m, &h);
}
END_TEST

/* All rounds add to the same places: of integers nothing tells the chunks in which they
 * did, in any format, by any policy, whatever combines them. */
#define BY_K "with reorder(k,i,j), parallelize(k)"
static const struct {
    const char *y, *text;
} adding[] = {
    {"y dense i64", "y(j) = A(i,j)"},
    {"y dense i64", "y(j) = A(i,j) * x(i) with parallelize(i)"},
    {"y dense i8", "y(j) = A(i,j) * x(i)"},
    {"y svec i64", "y(j) = A(i,j) * x(i)"},
    {"y hash i64", "y(j) = A(i,j) with parallelize(i)"},
    {"y svec i64", "y(j) = f(i: A(i,j))"},
    {"y dense i64", "y(j) max= A(i,j) with reorder(i,j), parallelize(i)"},
    {"y svec i64", "y(j) = A(i,j) + B(i,j) * x(i)"},
    {"y csr i64", "y(i,j) = A(k,i) * B(k,j) " BY_K},
    {"y dcsr i64", "y(i,j) = A(k,i) * B(k,j) " BY_K ", workspace(hash, 16)"},
    {"y csc i64", "y(i,j) = A(k,i) * B(k,j) " BY_K ", workspace(coord, 7)"},
    {"y coo i64", "y(i,j) = A(k,i) * B(k,j) " BY_K ", workspace(coord)"},
    {"y csr i64", "y(i,j) = A(k,i) * B(k,j) " BY_K ", workspace(bucket, 9)"},
    {"y csr i64", "y(i,j) = A(k,i) * B(k,j) " BY_K ", workspace(dense)"},
    {"y csr i64", "y(i,j) = A(k,i) * B(k,j) " BY_K ", workspace(coord, 5, single)"},
    {"y csr i64", "y(i,j) = f(k: A(k,i) * B(k,j)) " BY_K},
    {"y dense i64", "y(i,j) = A(k,i) * B(k,j) " BY_K},
    {"y dense i16", "y(i,j) = A(k,i) * B(k,j) " BY_K},
    {"y bcsr(4,4) i64", "y(i,j) = A(k,i) * B(k,j) " BY_K},
    /* the last one counts: the order of chunks is the loop's */
    {"y dense i64 [300]", "y(p(i)) = x(i) with parallelize(i)"},
    {"y dense i64 [700]", "y(2*i+p) += x(i) * w(p) with parallelize(i)"},
};

START_TEST(rounds_meet)
{
    heap h;
    stc_machine *m = machine_open(&h, _i % 2);
    stc_session *in;
    char text[300];
    ck_ok(m, stc_session_open(m, &in));
    ck_ok(m,
          stc_session_exec(in,
                           "fn f(a, b) = a + b with commutative, associative, identity(0)\n"
                           "tensor R csr f64 [300,300] = random(density=0.02, seed=2)\n"
                           "tensor A csr i64\nA(i,j) = i64(R(i,j) * 90) - 40 where R(i,j)\n"
                           "tensor B csr i64\nB(i,j) = A(j,i) + i where A(j,i)\n"
                           "x(i in 0:300) = 17 * i - 900\np(i in 0:300) = i * i % "
                           "41\ntensor w dense i64 [40] = 3\n",
                           "operands"));
    snprintf(text, sizeof text, "tensor %s\n%s", adding[_i / 2].y, adding[_i / 2].text);
    ck_ok(m, stc_session_exec(in, text, "alone"));
    ck_ok(m, stc_session_exec(in, "z = y", "kept"));
    for (int threads = 2; threads < 6; threads++) {
        machine_share(m, threads);
        ck_ok(m, stc_session_exec(in, "drop y", "before"));
        const stc_status st = stc_session_exec(in, text, "shared");
        ck_assert_msg(!st, "%s: %s", text, stc_error(m)->message);
        const bool one = !strstr(text, "y(i,j)");
        const stc_status same =
            stc_session_exec(in,
                             one ? "assert all(i: y(i) == z(i)) && stored(y) == stored(z)"
                                 : "assert all(i,j: y(i,j) == z(i,j)) && "
                                   "stored(y) == stored(z)",
                             "same");
        ck_assert_msg(!same, "%s, %d threads: %s", text, threads, stc_error(m)->message);
    }
    stc_session_close(in);
    machine_shut(m, &h);
}
END_TEST

/* What can't be combined isn't shared. */
static const struct {
    const char *type, *adds, *words;
} refused[] = {
    {"i64", "acc t1, c1, sub, i64, v0", "isn't associative"},
    {"i64", "acc t1, c1, last, i64, v0", "no identity"},
    {"i8", "acc t1, c1, max, i64, v0", "type cuts"},
    {"bool", "acc t1, c1, add, i64, v0", "type cuts"},
    {"i64", "store t1, c1, v0", "several write"},
    {"i64", "acc t1, c1, add, i64, v0\nacc t1, c1, max, i64, v0", "several ways"},
    {"i64", "acc t1, c1, add, i64, v0\nstore t1, c1, v0", "several write"},
    {"i64", "acc t1, c1, add, i64, v0", NULL},
    {"i8", "acc t1, c1, mul, i64, v0", NULL},
};

START_TEST(rounds_cant_meet)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p;
    stc_tensor *x;
    char text[900];
    const int64_t in[4] = {1, 2, 3, 4}, shape[1] = {4};
    snprintf(text, sizeof text,
             ".registers v 1 i 2 m 1 c 2\n"
             ".tensor t0 \"x\" input i64 (0) format 1 dense(0)\n"
             ".tensor t1 \"R\" output %s (0) [e1] format 1 dense(0)\n"
             ".extent e0 dim t0 0\n.extent e1 const 3\n.const k0 i64 1\n"
             ".merge g0 lo root hi e0 universe produce 0x3 { locate c0 t0 0 root root 1 }\n"
             ".code\nbegin t1\niconst i1, k0\nshare\nloop i0, m0, g0\nload v0, t0, c0\n"
             "at c1, t1, 0, root, i1\n%s\nend\nfinish t1\nhalt\n",
             refused[_i].type, refused[_i].adds);
    machine_share(m, 2);
    const stc_status st = stc_program_assemble(m, text, "text", &p);
    if (refused[_i].words) {
        ck_assert_msg(st == STC_ERR_PROGRAM &&
                          has_words(stc_error(m)->message, refused[_i].words),
                      "%s: %s", refused[_i].adds, stc_error(m)->message);
    } else {
        ck_ok(m, st);
        ck_ok(m, stc_tensor_from_dense(m, "dense", STC_I64, 1, shape, NULL, in, &x));
        ck_ok(m, stc_bind(p, "x", x));
        ck_ok(m, stc_run(p));
        ck_assert(shares(p));
        stc_program_free(p);
        stc_tensor_free(x);
    }
    machine_shut(m, &h);
}
END_TEST

/* Runs the statement under a cap; whether there was memory enough, and if it was told that
 * there is none for chunks. */
static bool runs_within(const char *y, uint64_t cap, int threads, bool fixed, bool *told)
{
    const stc_config config = {.max_memory = cap, .deterministic = fixed};
    stc_machine *m;
    stc_session *in;
    char text[100];
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    ck_ok(m, stc_session_open(m, &in));
    stc_status st = stc_session_exec(
        in, "tensor A csr f64 [400,90000] = random(density=0.0005, seed=2)", "operand");
    machine_share(m, threads);
    snprintf(text, sizeof text, "tensor y %s f64\ny(j) = A(i,j) with parallelize(i)", y);
    if (!st) st = stc_session_exec(in, text, "statement");
    ck_assert_msg(!st || st == STC_ERR_MEMORY, "%s", stc_error(m)->message);
    *told |= st && strstr(stc_error(m)->message, "the results of chunks");
    stc_session_close(in);
    stc_close(m);
    return !st;
}

/* What one thread has memory for, several have, too: chunks' own results are no reason to
 * fail. Workers themselves take some. Where bits may not differ it is one, and told. */
START_TEST(meeting_within_a_cap)
{
    const char *const y = _i ? "svec" : "dense";
    const uint64_t workers = 1 << 19;
    uint64_t cap = 1 << 20;
    bool told = false;
    while (!runs_within(y, cap, 1, false, &told))
        cap += 1 << 16;
    ck_assert(runs_within(y, cap + workers, 4, false, &told));
    ck_assert(!told);
    while (!runs_within(y, cap, 2, true, &told))
        cap += 1 << 16;
    ck_assert(told || !_i);
}
END_TEST

/* Below a level of tokens positions count something else: what a chunk weighs is found
 * above it. (Before, bounds were read behind their end; seen where memory is checked.) */
START_TEST(tokens_are_no_positions)
{
    const char *const form = "(i,j,k) -> (i : dense, j : lz77, k : compressed(index64))";
    const stc_decl d = {0, "C", form, STC_BOOL, NULL, 3};
    const int64_t shape[3] = {5, 6, 6};
    heap h;
    stc_machine *m = machine_open(&h, true);
    stc_tensor *c, *y;
    stc_program *p;
    const void *values;
    int64_t n;
    ck_ok(m, stc_tensor_from_coords(m, form, STC_BOOL, 3, shape, NULL, 0, NULL, NULL, &c));
    ck_ok(m, stc_compile(m, "y(i) = C(i,j,j)", &d, 1, &p));
    machine_share(m, 3);
    ck_ok(m, stc_bind(p, "C", c));
    ck_ok(m, stc_run(p));
    ck_ok(m, stc_take(p, "y", &y));
    ck_ok(m, stc_tensor_values(y, &values, &n));
    ck_assert_int_eq(n, 5);
    for (int64_t i = 0; i < n; i++)
        ck_assert_int_eq(((const int64_t *)values)[i], 0);
    stc_tensor_free(y);
    stc_program_free(p);
    stc_tensor_free(c);
    machine_shut(m, &h);
}
END_TEST

/* Two rows fail; the first in the loop's order is told, however late it is found. */
START_TEST(first_error_is_told)
{
    heap h;
    stc_machine *m = machine_open(&h, _i == 1);
    stc_tensor *a = skewed(m, "csr", STC_I64);
    stc_program *p = compiled(m, "R(i,j) = 1 // (1 - A(i,j))", "csr", "csr", STC_I64);
    char one[300];
    ck_ok(m, stc_bind(p, "A", a));
    ck_assert_int_eq(stc_run(p), STC_ERR_ARITHMETIC);
    snprintf(one, sizeof one, "%s", stc_error(m)->message);
    machine_share(m, 3);
    for (int k = 0; k < 20; k++) {
        ck_assert_int_eq(stc_run(p), STC_ERR_ARITHMETIC);
        ck_assert_str_eq(stc_error(m)->message, one);
    }
    stc_program_free(p);
    stc_tensor_free(a);
    machine_shut(m, &h);
}
END_TEST

static int stop_at_once(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context, (void)what, (void)done, (void)total;
    return 1;
}

/* Steps, memory, and the host's wish to stop end a run on threads. */
START_TEST(limits_hold)
{
    static const stc_status want[] = {STC_ERR_STEPS, STC_ERR_MEMORY, STC_ERR_INTERRUPT};
    heap h = {0};
    stc_config config = {.alloc = heap_alloc, .alloc_context = &h};
    if (_i == 0) config.max_steps = 100000;
    if (_i == 1) config.max_memory = 1 << 20;
    if (_i == 2) config.progress = stop_at_once;
    stc_machine *m;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    machine_share(m, 2);
    stc_tensor *a = skewed(m, "csr", STC_F64);
    const char *text = _i == 1
                           ? "R(i,j,k) = A(i,j) * (1 + A(j,k) )"
                           : "R(i) = sum(j, k, l in 0:50: max(A(i,j), sin(A(j,k)) * l))";
    const char *result =
        _i == 1 ? "(i,j,k) -> (i : dense, j : compressed, k : compressed)" : "dense";
    stc_program *p = compiled(m, text, "csr", result, STC_F64);
    ck_ok(m, stc_bind(p, "A", a));
    for (int k = 0; k < 2; k++) {
        const stc_status st = stc_run(p);
        ck_assert_msg(st == want[_i], "%d: %s: %s", _i, stc_status_name(st),
                      stc_error(m)->message);
    }
    if (_i != 1) ck_assert(shares(p)); /* else there is no memory to tell it */
    stc_program_free(p);
    stc_tensor_free(a);
    machine_shut(m, &h);
}
END_TEST

/* Progress is asked about for the steps of many runs together: a wish to stop that comes
 * when the last chunk is through ends that run, too, and the next one is whole. */
START_TEST(stopped_at_the_end)
{
    heap h = {0};
    const stc_config config = {
        .alloc = heap_alloc, .alloc_context = &h, .progress = stop_at_once};
    stc_machine *m;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    machine_share(m, 2);
    stc_tensor *a = skewed(m, "csr", STC_F64);
    stc_program *p = compiled(m, "R(i) = A(i,j)", "csr", "dense", STC_F64);
    ck_ok(m, stc_bind(p, "A", a));
    stc_status st = STC_OK;
    int runs = 0;
    while (!st && runs++ < 100000)
        st = stc_run(p);
    ck_assert_int_eq(st, STC_ERR_INTERRUPT);
    ck_assert_int_gt(runs, 10);
    ck_ok(m, stc_run(p));
    stc_program_free(p);
    stc_tensor_free(a);
    machine_shut(m, &h);
}
END_TEST

/* A power-law matrix: coordinates are drawn bit by bit, low ones more often. */
static stc_tensor *power_law(stc_machine *m)
{
    enum { SCALE = 9, ENTRIES = 6000 };
    static int64_t coords[2 * ENTRIES];
    static double values[ENTRIES];
    uint64_t dice = 88172645463325252u;
    for (int64_t n = 0; n < ENTRIES; n++) {
        int64_t i = 0, j = 0;
        for (int bit = 0; bit < SCALE; bit++) {
            dice = dice * 6364136223846793005u + 1442695040888963407u;
            const uint64_t d = dice >> 33 & 127;
            i = 2 * i + (d >= 97);
            j = 2 * j + (d >= 73 && d < 97) + (d >= 121);
        }
        coords[n] = i;
        coords[ENTRIES + n] = j;
        values[n] = 0.1 * (double)(n % 23) - 1;
    }
    const int64_t shape[2] = {1 << SCALE, 1 << SCALE};
    stc_tensor *t;
    ck_ok(m, stc_tensor_from_coords(m, "csr", STC_F64, 2, shape, NULL, ENTRIES, coords,
                                    values, &t));
    return t;
}

static uint64_t bits_of(stc_machine *m, stc_program *p)
{
    const stc_tensor *t;
    const void *v;
    int64_t n;
    uint64_t h = 14695981039346656037u;
    ck_ok(m, stc_result(p, "R", &t));
    ck_ok(m, stc_tensor_values(t, &v, &n));
    for (int64_t k = 0; k < n * (int64_t)sizeof(double); k++)
        h = (h ^ ((const unsigned char *)v)[k]) * 1099511628211u;
    return h;
}

/* Whoever is faster: 20 times the same, bit by bit, also what chunks sum up. */
START_TEST(runs_repeat)
{
    static const sharing_case some[] = {
        {"R = A(i,j) * A(j,i)", NULL, NULL, true},
        {"R = sum(i, j: A(i,j) // 3)", NULL, NULL, true},
        {"R(i,j) = A(i,k) * A(k,j)", NULL, "csr", true},
        {"R(i) = A(i,j) * 0.3", NULL, "dense", true},
        {"R(i,j) = sum(p in 0:3, q in 0:3: 0.7 * A(i+p,j+q))", NULL, "dense", true},
    };
    static const int threads[] = {2, 3, 7};
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *a = power_law(m);
    const sharing_case *c = &some[_i];
    stc_program *p = compiled(m, c->text, "csr", c->result, STC_F64);
    ck_ok(m, stc_bind(p, "A", a));
    ck_ok(m, stc_run(p));
    const uint64_t alone = bits_of(m, p);
    for (int t = 0; t < 3; t++) {
        machine_share(m, threads[t]);
        ck_ok(m, stc_run(p));
        ck_assert(shares(p));
        const uint64_t first = bits_of(m, p);
        if (c->result) ck_assert_uint_eq(first, alone);
        for (int k = 1; k < 20; k++) {
            ck_ok(m, stc_run(p));
            ck_assert_uint_eq(bits_of(m, p), first);
        }
    }
    stc_program_free(p);
    stc_tensor_free(a);
    machine_shut(m, &h);
}
END_TEST

/* Strips whose places are four apart: what they compute where values go stays within
 * what is the chunk's. Two threads wrote over each other in one of some twenty runs. */
START_TEST(strips_across_a_row)
{
    static const char text[] = "tensor F s:0 f64 [6] fill 2.5 = { (0): -3.75, (5): 2.5 }\n"
                               "tensor D dense bool [4,6] = { (1,4): true, (2,2): true, "
                               "(0,3): true, (3,4): true }\n"
                               "tensor G dense bool [4,4] = { (0,0): true, (0,3): true }\n"
                               "y(i,k,j) = pad F(-1*k+4) + (D(i,k) && G(j,i))\n";
    double alone[96], shared[96];
    heap h;
    stc_machine *m = machine_open(&h, false);
    for (int run = 0; run < 300; run++) {
        stc_session *s;
        const stc_tensor *y;
        ck_ok(m, stc_session_open(m, &s));
        if (run == 1) machine_share(m, 3);
        ck_ok(m, stc_session_exec(s, text, "text"));
        ck_ok(m, stc_session_get(s, "y", &y));
        ck_ok(m, stc_tensor_to_dense(y, run ? shared : alone));
        if (run) ck_assert(memcmp(alone, shared, sizeof alone) == 0);
        stc_session_close(s);
    }
    machine_shut(m, &h);
}
END_TEST

/* A row of the result that was found before the loop: the chunks' places follow each
 * other in it, and not from the first place on. */
START_TEST(a_row_from_outside)
{
    static const char text[] =
        ".registers v 1 i 2 m 1 c 3\n"
        ".tensor t0 \"x\" input f64 (0x0000000000000000) format 1 dense(0)\n"
        ".tensor t1 \"R\" output f64 (0x0000000000000000) [e1 e0] format 2 dense(0) "
        "dense(1)\n"
        ".extent e0 dim t0 0\n"
        ".extent e1 const 3\n"
        ".const k0 i64 1\n"
        ".merge g0 lo root hi e0 universe produce 0x3 { locate c0 t0 0 root root 1 }\n"
        ".code\n"
        "begin t1\n"
        "iconst i1, k0\n"
        "at c1, t1, 0, root, i1\n"
        "share\n"
        "loop i0, m0, g0\n"
        "load v0, t0, c0\n"
        "at c2, t1, 1, c1, i0\n"
        "store t1, c2, v0\n"
        "end\n"
        "finish t1\n"
        "halt\n";
    heap h;
    stc_machine *m = machine_open(&h, _i == 1);
    stc_program *p;
    stc_tensor *x;
    const stc_tensor *r;
    const void *v;
    int64_t n, shape[1] = {N};
    double in[N];
    for (int k = 0; k < N; k++)
        in[k] = k + 1;
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 1, shape, NULL, in, &x));
    ck_ok(m, stc_program_assemble(m, text, "text", &p));
    ck_ok(m, stc_bind(p, "x", x));
    machine_share(m, 3);
    for (int run = 0; run < 2; run++) {
        ck_ok(m, stc_run(p));
        ck_ok(m, stc_result(p, "R", &r));
        ck_ok(m, stc_tensor_values(r, &v, &n));
        ck_assert_int_eq(n, 3 * N);
        for (int k = 0; k < N; k++) {
            ck_assert(((const double *)v)[k] == 0 && ((const double *)v)[2 * N + k] == 0);
            ck_assert(((const double *)v)[N + k] == k + 1);
        }
    }
    ck_assert(shares(p));
    stc_program_free(p);
    stc_tensor_free(x);
    machine_shut(m, &h);
}
END_TEST

static void pause_for(double seconds)
{
    const struct timespec t = {(time_t)seconds, (long)((seconds - (long)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

static void *interrupt_later(void *m)
{
    pause_for(0.2);
    stc_interrupt(m);
    return NULL;
}

/* A run of hours stops soon on all threads, and the machine is as good as new. */
START_TEST(interrupts_are_heard)
{
    heap h;
    stc_machine *m = machine_open(&h, _i == 1);
    stc_tensor *a = skewed(m, "csr", STC_F64);
    stc_program *p =
        compiled(m, "R(i) = sum(j, k in 0:1000000, l in 0:1000: A(i,j) * sin(k + l))",
                 "csr", "dense", STC_F64);
    ck_ok(m, stc_bind(p, "A", a));
    machine_share(m, 3);
    for (int k = 0; k < 2; k++) {
        pthread_t other;
        const time_t before = time(NULL);
        ck_assert_int_eq(pthread_create(&other, NULL, interrupt_later, m), 0);
        ck_assert_int_eq(stc_run(p), STC_ERR_INTERRUPT);
        pthread_join(other, NULL);
        ck_assert(shares(p));
        ck_assert_int_lt(time(NULL) - before, 30); /* seconds, on a busy machine */
    }
    stc_program_free(p);
    stc_tensor_free(a);
    machine_shut(m, &h);
}
END_TEST

/* A machine with threads of its own, for a thread of the host's. */
typedef struct tenant {
    pthread_t thread;
    heap h;
    stc_machine *m;
    stc_tensor *a;
    stc_program *p;
    uint64_t bits;
    stc_status status;
} tenant;

static void *run_often(void *context)
{
    tenant *t = context;
    for (int k = 0; k < 10 && !t->status; k++)
        t->status = stc_run(t->p);
    return NULL;
}

START_TEST(machines_on_threads)
{
    enum { TENANTS = 4 };
    tenant all[TENANTS];
    for (int k = 0; k < TENANTS; k++) {
        tenant *t = &all[k];
        t->status = STC_OK;
        t->m = machine_open(&t->h, false);
        t->a = power_law(t->m);
        t->p = compiled(t->m, "R(i,j) = A(i,k) * A(k,j)", "csr", "csr", STC_F64);
        ck_ok(t->m, stc_bind(t->p, "A", t->a));
        machine_share(t->m, 2 + k % 2);
    }
    for (int k = 0; k < TENANTS; k++)
        ck_assert_int_eq(pthread_create(&all[k].thread, NULL, run_often, &all[k]), 0);
    for (int k = 0; k < TENANTS; k++) {
        pthread_join(all[k].thread, NULL);
        ck_ok(all[k].m, all[k].status);
        all[k].bits = bits_of(all[k].m, all[k].p);
        ck_assert_uint_eq(all[k].bits, all[0].bits);
    }
    for (int k = 0; k < TENANTS; k++) {
        stc_program_free(all[k].p);
        stc_tensor_free(all[k].a);
        machine_shut(all[k].m, &all[k].h);
    }
}
END_TEST

/* The first row takes as long as all others, whose values are more than a worker keeps:
 * the other one waits for it; and goes on if it fails in the end. */
START_TEST(parts_wait)
{
    enum { ROWS = 1000, FIRST = 2000, WIDE = 1024 };
    static int64_t coords[2 * (ROWS + FIRST)], values[ROWS + FIRST], x[WIDE];
    static const int64_t shape[] = {ROWS, FIRST}, wide = WIDE;
    const int64_t n = ROWS + FIRST - 1;
    for (int64_t k = 0; k < n; k++) {
        coords[k] = k < FIRST ? 0 : k - FIRST + 1;
        coords[n + k] = k < FIRST ? k : 0;
        values[k] = 1 + k % 7;
    }
    for (int64_t k = 0; k < WIDE; k++)
        x[k] = k % 5;
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *a, *v;
    ck_ok(m,
          stc_tensor_from_coords(m, "csr", STC_I64, 2, shape, NULL, n, coords, values, &a));
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_I64, 1, &wide, NULL, x, &v));
    const stc_decl d[] = {
        {0, "A", "csr", STC_I64, NULL, 2},
        {0, "x", "dense", STC_I64, NULL, 1},
        {0, "R", "(i,j) -> (i : compressed, j : dense)", STC_I64, NULL, -1}};
    const char *text[] = {"R(i,j) = A(i,k) * x(j) with reorder(i,k,j)",
                          "R(i,j) = A(i,k) * x(j) // (1999 - k) with reorder(i,k,j)"};
    stc_program *p;
    ck_ok(m, stc_compile(m, text[_i], d, 3, &p));
    ck_ok(m, stc_bind(p, "A", a));
    ck_ok(m, stc_bind(p, "x", v));
    machine_share(m, 1);
    const stc_status want = stc_run(p);
    ck_assert_int_eq(want, _i ? STC_ERR_ARITHMETIC : STC_OK);
    const uint64_t alone = _i ? 0 : bits_of(m, p);
    for (int threads = 4; threads > 0; threads--) { /* in the end by one alone again */
        machine_share(m, threads);
        for (int k = 0; k < 3; k++) {
            ck_assert_int_eq(stc_run(p), want);
            if (!_i) ck_assert_uint_eq(bits_of(m, p), alone);
        }
    }
    ck_assert(shares(p));
    stc_program_free(p);
    stc_tensor_free(a);
    stc_tensor_free(v);
    machine_shut(m, &h);
}
END_TEST

/* No allocation that fails on a thread leaves anything behind. */
START_TEST(failed_allocations)
{
    for (int64_t k = 1; k < 100000; k++) {
        heap h;
        stc_machine *m = machine_open(&h, false);
        machine_share(m, 2);
        stc_tensor *a = skewed(m, "csr", STC_F64);
        stc_program *p = compiled(m, "R(i,j) = A(i,k) * A(k,j)", "csr", "csr", STC_F64);
        ck_ok(m, stc_bind(p, "A", a));
        h.fail_at = h.calls + k;
        const stc_status st = stc_run(p);
        const bool done = !h.failed;
        h.fail_at = 0;
        ck_assert(st == STC_OK || st == STC_ERR_MEMORY);
        ck_ok(m, stc_run(p));
        stc_program_free(p);
        stc_tensor_free(a);
        machine_shut(m, &h);
        if (done) return;
        ck_assert_int_lt(k, 5000);
    }
}
END_TEST

/* Where the system has no stack for another thread, one does the work of all. */
START_TEST(no_threads_to_be_had)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *a = skewed(m, "csr", STC_F64);
    stc_program *p = compiled(m, "R(i,j) = A(i,k) * A(k,j)", "csr", "csr", STC_F64);
    pthread_attr_t usual, vast;
    ck_ok(m, stc_bind(p, "A", a));
    ck_ok(m, stc_run(p));
    const uint64_t alone = bits_of(m, p);
    ck_assert_int_eq(pthread_getattr_default_np(&usual), 0);
    pthread_attr_init(&vast);
    ck_assert_int_eq(pthread_attr_setstacksize(&vast, (size_t)1 << (sizeof(void *) * 6)),
                     0);
    ck_assert_int_eq(pthread_setattr_default_np(&vast), 0);
    machine_share(m, 4);
    ck_ok(m, stc_run(p));
    ck_assert_uint_eq(bits_of(m, p), alone);
    ck_assert_int_eq(pthread_setattr_default_np(&usual), 0);
    pthread_attr_destroy(&vast);
    pthread_attr_destroy(&usual);
    stc_program_free(p);
    stc_tensor_free(a);
    machine_shut(m, &h);
}
END_TEST

Suite *suite_threads(void)
{
    Suite *s = suite_create("threads");
    TCase *c = tcase_create("threads");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, results_agree, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_loop_test(c, rounds_meet, 0, 2 * (int)(sizeof adding / sizeof *adding));
    tcase_add_loop_test(c, rounds_cant_meet, 0, (int)(sizeof refused / sizeof *refused));
    tcase_add_loop_test(c, meeting_within_a_cap, 0, 2);
    tcase_add_test(c, tokens_are_no_positions);
    tcase_add_loop_test(c, first_error_is_told, 0, 2);
    tcase_add_loop_test(c, limits_hold, 0, 3);
    tcase_add_test(c, stopped_at_the_end);
    tcase_add_loop_test(c, runs_repeat, 0, 5);
    tcase_add_test(c, strips_across_a_row);
    tcase_add_loop_test(c, a_row_from_outside, 0, 2);
    tcase_add_loop_test(c, interrupts_are_heard, 0, 2);
    tcase_add_loop_test(c, parts_wait, 0, 2);
    tcase_add_test(c, machines_on_threads);
    tcase_add_test(c, failed_allocations);
    tcase_add_test(c, no_threads_to_be_had);
    suite_add_tcase(s, c);
    return s;
}
