/* check_calls.c: what holds of every call of the interface: it ends soon when it is asked
 * to, and only the one that is under way; the host's functions can't make others meanwhile;
 * tensors without elements cost nothing, whatever their extents.
 */
#include "../src/api/api.h"
#include "check.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- calls within calls --------------------------------------------------------- */

typedef struct caller {
    stc_machine *m;
    stc_program *p;
    stc_session *s;
    stc_tensor *x, *spare;
    int calls, wrong; /* by the host's function; that weren't refused */
    bool quiet;
} caller;

static void refused(caller *c, stc_status st)
{
    const stc_error_info *e = stc_error(c->m);
    c->wrong += st != STC_ERR_ARGUMENT || e->status != STC_ERR_ARGUMENT ||
                !strstr(e->message, "expected no calls until that has returned");
}

/* Every call that can fail, and those that free. */
static void call_all(caller *c)
{
    static const stc_source one = {.kind = STC_SOURCE_VALUE, .type = -1};
    const int64_t shape[] = {2}, at[] = {0};
    const void *values;
    double v[8] = {0};
    stc_tensor *t = NULL;
    const stc_tensor *r = NULL;
    stc_program *p = NULL;
    stc_session *s = NULL;
    stc_value e;
    stc_decl d = {.size = sizeof d};
    stc_array a = {0};
    int64_t n;
    size_t size;
    void *bytes = NULL;
    char *text = NULL;
    refused(c, stc_run(c->p));
    refused(c, stc_take(c->p, "y", &t));
    refused(c, stc_result(c->p, "y", &r));
    refused(c, stc_bind(c->p, "x", NULL));
    refused(c, stc_bind_source(c->p, "x", &one));
    refused(c, stc_program_decl(c->p, "x", &d));
    refused(c, stc_program_save(c->p, "/nowhere"));
    refused(c, stc_program_load(c->m, "/nowhere", &p));
    refused(c, stc_program_encode(c->p, &bytes, &size));
    refused(c, stc_program_decode(c->m, v, sizeof v, &p));
    refused(c, stc_program_dump(c->p, &text));
    refused(c, stc_program_assemble(c->m, "", NULL, &p));
    refused(c, stc_program_explain(c->p, "code", &text));
    refused(c, stc_program_profile(c->p, &text));
    refused(c, stc_compile(c->m, "z = 1", NULL, 0, &p));
    refused(c, stc_session_open(c->m, &s));
    refused(c, stc_session_exec(c->s, "z = 1", NULL));
    refused(c, stc_session_put(c->s, "z", c->spare));
    refused(c, stc_session_put_source(c->s, "z", &one));
    refused(c, stc_session_get(c->s, "z", &r));
    refused(c, stc_session_compile(c->s, "z = 1", &p));
    refused(c, stc_session_profile(c->s, &text));
    refused(c, stc_set_threads(c->m, 2));
    refused(c, stc_level_register(c->m, NULL));
    refused(c, stc_function_register(c->m, NULL));
    refused(c, stc_tensor_new(c->m, "dense", STC_F64, 1, shape, NULL, &t));
    refused(c, stc_tensor_from_coords(c->m, "svec", STC_F64, 1, shape, NULL, 1, at, v, &t));
    refused(c, stc_tensor_from_dense(c->m, "dense", STC_F64, 1, shape, NULL, v, &t));
    refused(c, stc_tensor_lend(c->spare, 0, STC_CRD, a));
    refused(c, stc_tensor_lend_values(c->x, v, 1));
    refused(c, stc_tensor_check(c->x));
    refused(c, stc_tensor_array(c->x, 0, STC_CRD, &a));
    refused(c, stc_tensor_values(c->x, &values, &n));
    refused(c, stc_tensor_get(c->x, at, &e));
    refused(c, stc_tensor_to_dense(c->x, v));
    refused(c, stc_tensor_convert(c->x, "svec", -1, &t));
    refused(c, stc_tensor_read(c->m, "/nowhere", NULL, -1, NULL, &t));
    refused(c, stc_tensor_write(c->x, "/nowhere"));
    refused(c, stc_tensor_print(c->x, stdout, 0));
    stc_tensor_free(c->x); /* do nothing */
    stc_program_free(c->p);
    stc_session_close(c->s);
    stc_close(c->m);
    c->wrong += t || r || p || s || bytes || text;
}

static stc_status calls_back(void *context, int64_t n, const void *const *args, void *out,
                             const char **why)
{
    caller *c = context;
    (void)why;
    for (int64_t k = 0; k < n; k++)
        ((double *)out)[k] = 2 * ((const double *)args[0])[k];
    c->calls++;
    if (!c->quiet) call_all(c);
    return STC_OK;
}

static int calls_on(void *context, const char *what, uint64_t done, uint64_t total)
{
    caller *c = context;
    (void)what, (void)done, (void)total;
    c->calls++;
    call_all(c);
    return 0;
}

/* From a function of the host's (0, 1: on faster tiers), or from progress (2). */
START_TEST(calls_within_calls)
{
    heap h = {0};
    caller c = {.quiet = true};
    const stc_config config = {.alloc = heap_alloc,
                               .alloc_context = &h,
                               .no_super = _i == 0,
                               .progress = _i == 2 ? calls_on : NULL,
                               .progress_context = &c};
    const stc_signature sig = {.param = {STC_F64}, .result = STC_F64, .call = calls_back};
    const stc_function f = {
        .size = sizeof f, .head = "twice(x)", .count = 1, .signature = &sig, .context = &c};
    const stc_decl decl = {.name = "x", .format = "dense", .type = STC_F64, .order = 1};
    const int64_t n = 3;
    const double from[] = {1, 2, 3};
    double got[3];
    ck_assert_int_eq(stc_open(&config, &c.m), STC_OK);
    ck_ok(c.m, stc_function_register(c.m, &f));
    ck_ok(c.m, stc_session_open(c.m, &c.s));
    ck_ok(c.m, stc_tensor_from_dense(c.m, "dense", STC_F64, 1, &n, NULL, from, &c.x));
    ck_ok(c.m, stc_tensor_new(c.m, "svec", STC_F64, 1, &n, NULL, &c.spare));
    const char *text =
        _i < 2 ? "y(i) = twice(x(i))"
               : "y(i) = x(i) + sum(k in 0:10000001: min(k, 1)) / 10000000 * x(i)";
    ck_ok(c.m, stc_compile(c.m, text, &decl, 1, &c.p));
    ck_ok(c.m, stc_bind(c.p, "x", c.x));
    c.quiet = false;
    for (int run = 0; run < 2; run++) {
        const stc_tensor *y;
        c.calls = 0;
        ck_ok(c.m, stc_run(c.p));
        ck_assert_int_gt(c.calls, 0);
        ck_assert_int_eq(c.wrong, 0);
        ck_assert_int_eq(stc_error(c.m)->status, STC_OK);
        ck_ok(c.m, stc_result(c.p, "y", &y));
        ck_ok(c.m, stc_tensor_to_dense(y, got));
        for (int k = 0; k < 3; k++)
            ck_assert(got[k] == 2 * from[k]);
    }
    stc_program_free(c.p);
    stc_session_close(c.s);
    stc_tensor_free(c.x);
    stc_tensor_free(c.spare);
    machine_shut(c.m, &h);
}
END_TEST

static int look_up(void *context, const int64_t *coords, stc_value v)
{
    stc_value w;
    if (stc_tensor_get(context, coords, &w) != STC_OK || v.f != w.f) return 1;
    return 0;
}

/* While entries are visited, others may be looked at. */
START_TEST(visits_may_call)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *a = sample_matrix(m, "csr");
    ck_ok(m, stc_tensor_visit(a, look_up, a));
    ck_assert_int_eq(stc_error(m)->status, STC_OK);
    stc_tensor_free(a);
    machine_shut(m, &h);
}
END_TEST

/* ---- interrupts ----------------------------------------------------------------- */

enum { ENTRIES = 1 << 20, EXTENT = 1 << 14 };

/* What takes long, and what it works on. */
typedef struct job {
    stc_machine *m;
    const char *format, *text;
    int64_t *coords;
    double *values;
    stc_tensor *a;
    stc_session *s;
    FILE *out;
    stc_status (*run)(struct job *j);
    double cpu; /* seconds of this process when it was interrupted */
    _Atomic bool done;
    double after;
    atomic_bool through;
} job;

static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static stc_status from_coords(job *j)
{
    const int64_t shape[] = {EXTENT, EXTENT};
    stc_tensor *t = NULL;
    const stc_status st = stc_tensor_from_coords(j->m, j->format, STC_F64, 2, shape, NULL,
                                                 ENTRIES, j->coords, j->values, &t);
    stc_tensor_free(t);
    return st;
}

static stc_status convert(job *j)
{
    stc_tensor *t = NULL;
    const stc_status st = stc_tensor_convert(j->a, j->format, -1, &t);
    stc_tensor_free(t);
    return st;
}

static stc_status print(job *j)
{
    return stc_tensor_print(j->a, j->out, 0);
}

static stc_status save(job *j)
{
    char path[SCRATCH_PATH];
    const stc_status st = stc_tensor_write(j->a, scratch(path, j->format));
    unlink(path);
    return st;
}

static stc_status script(job *j)
{
    return stc_session_exec(j->s, j->text, "test");
}

static const job jobs[] = {
    {.run = from_coords, .format = "csr"},
    {.run = from_coords, .format = "coo"},
    {.run = from_coords, .format = "hash"},
    {.run = from_coords, .format = "ell"},
    {.run = from_coords, .format = "rle"},
    {.run = from_coords, .format = "lz77"},
    {.run = from_coords, .format = "bcsr(4,4)"},
    {.run = convert, .format = "csc"},
    {.run = convert, .format = "dense"},
    {.run = convert, .format = "ell"},
    {.run = convert, .format = "dia"},
    {.run = convert, .format = "bcsr(8,8)"},
    {.run = convert, .format = "(i,j) -> (j : hashed, i : hashed)"},
    {.run = convert, .format = "(i,j) -> (i : bytemap, j : compressed)"},
    {.run = print},
    {.run = save, .format = "out.mtx"},
    {.run = save, .format = "out.tns"},
    {.run = save, .format = "out.npy"},
    {.run = script, .text = "tensor B dense f64 [20000,10000] = 1"},
    {.run = script, .text = "tensor B lz77 f64 [20000,1000] = 1"},
    {.run = script, .text = "tensor B csr f64 [4000,4000] = random(density=0.9)"},
    {.run = script, .text = "repeat 999 { repeat 999 { repeat 999 { repeat 999 { } } } }"},
    {.run = script, .text = "repeat 1000000 { a = 1 }"},
};
enum { JOBS = sizeof jobs / sizeof *jobs };

static void *interrupt_after(void *context)
{
    job *j = context;
    const struct timespec t = {.tv_nsec = 1000000};
    for (const double until = cpu_now() + j->after; cpu_now() < until && !j->done;)
        nanosleep(&t, NULL);
    j->cpu = cpu_now();
    stc_interrupt(j->m);
    return NULL;
}

static void fill_entries(job *j)
{
    uint64_t x = 1;
    j->coords = malloc(2 * ENTRIES * sizeof *j->coords);
    j->values = malloc(ENTRIES * sizeof *j->values);
    for (int64_t k = 0; k < 2 * ENTRIES; k++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        j->coords[k] = (int64_t)(x >> 33) % EXTENT;
        j->values[k / 2] = (double)(x >> 40);
    }
}

/* Half a second of the processor is ten times what is promised, and less than any of them
 * takes as a whole: wherever a job is, it ends, and the next call isn't interrupted. */
START_TEST(interrupts)
{
    static const double after[] = {0.002, 0.03, 0.1, 0.3};
    heap h;
    job j = jobs[_i];
    const int64_t shape[] = {EXTENT, EXTENT};
    j.m = machine_open(&h, false);
    j.out = fopen("/dev/null", "w");
    fill_entries(&j);
    ck_ok(j.m, stc_session_open(j.m, &j.s));
    ck_ok(j.m, stc_tensor_from_coords(j.m, "csr", STC_F64, 2, shape, NULL, ENTRIES,
                                      j.coords, j.values, &j.a));
    for (int k = 0; k < (int)(sizeof after / sizeof *after); k++) {
        pthread_t other;
        j.after = after[k];
        j.done = false;
        ck_assert_int_eq(pthread_create(&other, NULL, interrupt_after, &j), 0);
        const stc_status st = j.run(&j);
        const double end = cpu_now();
        j.done = true;
        ck_assert_msg(st == STC_ERR_INTERRUPT || st == STC_OK, "%s: %s",
                      stc_status_name(st), stc_error(j.m)->message);
        pthread_join(other, NULL);
        ck_assert_msg(end - j.cpu < 0.5, "%g s after it was interrupted", end - j.cpu);
        ck_ok(j.m, stc_session_exec(j.s, "x = 1", "test"));
    }
    stc_session_close(j.s);
    stc_tensor_free(j.a);
    fclose(j.out);
    free(j.coords);
    free(j.values);
    machine_shut(j.m, &h);
}
END_TEST

/* Now and then, until it is through. */
static void *interrupt_often(void *context)
{
    job *j = context;
    const struct timespec t = {.tv_nsec = 20000000};
    while (!atomic_load(&j->through)) {
        nanosleep(&t, NULL);
        stc_interrupt(j->m);
    }
    return NULL;
}

/* A pipe that nobody writes to is waited for until the call is interrupted. */
START_TEST(pipes)
{
    heap h;
    char path[SCRATCH_PATH], text[SCRATCH_PATH + 40];
    stc_tensor *t = NULL;
    job j = {.m = machine_open(&h, false)};
    scratch(path, _i ? "pipe.stc" : "pipe.mtx");
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    snprintf(text, sizeof text, "include \"%s\"", path);
    ck_ok(j.m, stc_session_open(j.m, &j.s));
    for (int k = 0; k < 2; k++) {
        pthread_t other;
        j.through = false;
        ck_assert_int_eq(pthread_create(&other, NULL, interrupt_often, &j), 0);
        const stc_status st = _i ? stc_session_exec(j.s, text, "test")
                                 : stc_tensor_read(j.m, path, NULL, -1, NULL, &t);
        j.through = true;
        pthread_join(other, NULL);
        ck_assert_int_eq(st, STC_ERR_INTERRUPT);
        ck_assert(has_words(stc_error(j.m)->message, "reading was interrupted"));
    }
    unlink(path);
    stc_session_close(j.s);
    machine_shut(j.m, &h);
}
END_TEST

/* ---- nothing at all ------------------------------------------------------------- */

static const char *const formats[] = {
    "dense",
    "csr",
    "csc",
    "dcsr",
    "dcsc",
    "coo",
    "ell",
    "dia",
    "bcsr(4,4)",
    "csb(2,2)",
    "hash",
    "rle",
    "lz77",
    "(i,j) -> (j : bytemap, i : dense)",
    "(i,j) -> (j : dense, i : dense)",
    "(i,j) -> (i : dense, j : compressed(nonunique), j : singleton)",
};
enum { FORMATS = sizeof formats / sizeof *formats };

static int never(void *context, const int64_t *coords, stc_value v)
{
    (void)context, (void)coords, (void)v;
    return 1;
}

/* What can be made without an element is walked in no time, however long its other modes.
 */
START_TEST(nothing_at_all)
{
    static const int64_t shapes[][2] = {{(int64_t)1 << 60, 0}, {0, (int64_t)1 << 60}};
    static const char *const names[] = {"none.mtx", "none.tns", "none.npy"};
    heap h = {0};
    const stc_config config = {
        .alloc = heap_alloc, .alloc_context = &h, .max_memory = 100 << 20};
    stc_machine *m;
    char path[SCRATCH_PATH];
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    for (int k = 0; k < 2; k++) {
        stc_tensor *t = NULL, *other = NULL;
        FILE *out = fopen("/dev/null", "w");
        const stc_status st =
            stc_tensor_new(m, formats[_i], STC_F64, 2, shapes[k], NULL, &t);
        ck_assert_msg(!st || st == STC_ERR_MEMORY || st == STC_ERR_OVERFLOW ||
                          st == STC_ERR_ARGUMENT,
                      "%s", stc_error(m)->message);
        ck_assert_uint_lt(m->cx.steps, 1000);
        if (st) continue;
        ck_assert_int_eq(stc_tensor_stored(t), 0);
        ck_ok(m, stc_tensor_print(t, out, 0));
        ck_ok(m, stc_tensor_visit(t, never, NULL));
        ck_ok(m, stc_tensor_check(t));
        for (int to = 0; to < FORMATS; to++) {
            const stc_status made = stc_tensor_convert(t, formats[to], -1, &other);
            ck_assert_uint_lt(m->cx.steps, 1000);
            if (!made) stc_tensor_free(other);
        }
        for (int f = 0; f < 3; f++) {
            ck_ok(m, stc_tensor_write(t, scratch(path, names[f])));
            ck_assert_uint_lt(m->cx.steps, 1000);
            ck_ok(m, stc_tensor_read(m, path, "dense", -1, NULL, &other));
            stc_tensor_free(other);
            unlink(path);
        }
        stc_tensor_free(t);
        fclose(out);
    }
    machine_shut(m, &h);
}
END_TEST

Suite *suite_calls(void)
{
    Suite *s = suite_create("calls");
    TCase *c = tcase_create("calls");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, calls_within_calls, 0, 3);
    tcase_add_test(c, visits_may_call);
    tcase_add_loop_test(c, interrupts, 0, JOBS);
    tcase_add_loop_test(c, pipes, 0, 2);
    tcase_add_loop_test(c, nothing_at_all, 0, FORMATS);
    suite_add_tcase(s, c);
    return s;
}
