/* fuzz_limits.c: limits hold. Random statements, scripts that ask for much and data
 * files run under random caps of memory and steps, and are interrupted at random
 * moments.
 *
 *     fuzz_limits [SECONDS [SEED]] [--seconds N] [--seed N] [--case N] [--only memory]
 *
 * Each try runs in a process of its own, so that what the system gave it can be seen:
 * no process holds more than its cap and a tenth and 16 MB, no call ends later than 50
 * ms of computing after stc_interrupt, none does many more steps than it may, and
 * afterwards the machine works on and gives all memory back. Every other try has an
 * allocator of the host's that counts. With sanitizers sizes aren't looked at, and
 * there is more time.
 */
#define _GNU_SOURCE
#include "fuzzing.h"
#include "../src/api/api.h"
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef STC_SAN
enum { SANITIZED = true };
#else
enum { SANITIZED = false };
#endif

#define MB ((uint64_t)1 << 20)
enum { LATENCY_US = SANITIZED ? 1000000 : 50000, STEPS_OVER = 1 << 18 };
/* A thread ends the piece that it has begun; all may have, where they share few cores. */
enum { PIECE = 1 << 17 };
/* Waiting counts as well, but there may be other processes. */
enum { WAITING_US = SANITIZED ? 20000000 : 3000000 };

/* What is tried; but for the text, it is told, too. */
typedef struct
try {
    uint64_t seed;
    uint64_t max_memory, max_steps; /* 0: none                                */
    int threads;
    int after_us; /* when it is interrupted; -1: never                 */
    bool counted; /* by an allocator of the host's                     */
    const char *kind;
    char *text;
    char path[64]; /* of a data file; "": none                         */
}
try;

/* What a process tells the one that started it. */
typedef struct told {
    try what;
    stc_status status, after; /* of the call; of a small one behind it       */
    uint64_t steps;
    int64_t held, peak;        /* bytes: in the end, at most; of the host's allocator */
    double computing, waiting; /* microseconds between interrupt and return    */
    bool interrupted, closed;
    char message[200];
} told;

/* ---- what to run ---------------------------------------------------------------- */

static const char *const formats[] = {"dense",
                                      "csr",
                                      "csc",
                                      "coo",
                                      "dcsr",
                                      "rle",
                                      "lz77",
                                      "dia",
                                      "ell",
                                      "hash",
                                      "bcsr(4,4)",
                                      "csb(8,8)",
                                      "(i,j) -> (j : dense, i : rle)",
                                      "(i,j) -> (flat(i,j) : lz77)"};
static const char *const types[] = {"f64", "f32", "i32", "u8", "bool", "c128", "i64"};
enum { FORMATS = sizeof formats / sizeof *formats, TYPES = sizeof types / sizeof *types };

static const char *any_format(gen *g)
{
    return formats[gen_below(g, FORMATS)];
}

static const char *any_type(gen *g)
{
    return types[gen_below(g, TYPES)];
}

/* A number up to `most`, small ones as likely as large ones. */
static long magnitude(gen *g, double most)
{
    double n = 1;
    for (int k = gen_below(g, 24); k > 0 && n < most; k--)
        n *= 1 + (double)gen_below(g, 1000) / 700;
    return (long)(n < most ? n : most);
}

/* A tensor of many elements, or of few in a large space. */
static void say_tensor(gen *g, FILE *f, const char *name, long rows, long columns)
{
    fprintf(f, "tensor %s %s %s", name, any_format(g), any_type(g));
    if (gen_chance(g, 15)) fprintf(f, " fill 1");
    fprintf(f, " [%ld,%ld] = ", rows, columns);
    switch (gen_below(g, 4)) {
    case 0:
        fprintf(f, "%d\n", gen_below(g, 3));
        break;
    case 1:
        fprintf(f, "random(seed=%d)\n", gen_below(g, 99));
        break;
    default:
        fprintf(f, "random(density=%g, seed=%d)\n",
                (double)magnitude(g, 1e6) / (double)rows / (double)columns * 1e-1 > 1
                    ? 1
                    : (double)magnitude(g, 1e5) / 1e6,
                gen_below(g, 99));
    }
}

static void say_large(gen *g, FILE *f)
{
    static const char *const use[] = {
        "C(i,j) = A(i,j) + B(i,j)",
        "C(i,j) = A(i,k) * B(k,j)",
        "C(i,j) = A(i,j)",
        "C(j,i) = A(i,j)",
        "C(i) = A(i,j) * B(i,j)",
        "C = A(i,j) * B(i,j)",
        "C(i,j) = A(i,j) * B(j,i)",
        "C(i,j) = A(i,j) + pad A(i+1,j)",
        "C(i,j,k) = A(i,j) * B(j,k)",
        "C(i,j) = sum(p in 0:3: pad A(i+p,j))",
        "compact A",
        "print A",
        "C(j) = max(i: A(i,j))",
        "A(i,j) += B(i,j)",
    };
    const long n = 1 + magnitude(g, 3000),
               m = gen_chance(g, 60) ? n : 1 + magnitude(g, 20000);
    say_tensor(g, f, "A", n, m);
    say_tensor(g, f, "B", n, m);
    if (gen_chance(g, 50)) fprintf(f, "tensor C %s %s\n", any_format(g), any_type(g));
    for (int k = gen_below(g, 3); k >= 0; k--)
        fprintf(f, "%s\n", use[gen_below(g, sizeof use / sizeof *use)]);
}

/* Texts that are long, or go round for long. */
static void say_long(gen *g, FILE *f)
{
    const long n = magnitude(g, 30000);
    switch (gen_below(g, 9)) {
    case 0:
        for (long k = 0; k < n; k++)
            fprintf(f, "format f%ld = (i,j) -> (i : dense, j : compressed)%s", k,
                    k % 7 ? "; " : "\n");
        break;
    case 1:
        for (long k = 0; k < n; k++)
            fprintf(f, "s%ld = %ld\n", k, k);
        break;
    case 2:
        for (long k = 0; k < n; k++)
            fprintf(f, "tensor t%ld csr f32 [3,3] = { (1,2): %ld }\n", k, k % 7);
        break;
    case 3:
        fprintf(f, "x = 0\n");
        for (int k = 0; k < 4; k++)
            fprintf(f, "repeat %ld { ", 1 + magnitude(g, 1000));
        fprintf(f, "x = x + 1 } } } }\n");
        break;
    case 4:
        fprintf(f, "x = 1");
        for (long k = 0; k < n; k++)
            fprintf(f, " %c %ld", "+*-"[gen_below(g, 3)], k % 9);
        fprintf(f, "\n");
        break;
    case 5:
        fprintf(f, "tensor L %s [%ld] = [0", gen_chance(g, 50) ? "dense" : "svec", n + 1);
        for (long k = 0; k < n; k++)
            fprintf(f, ",%d", gen_below(g, 3));
        fprintf(f, "]\n");
        break;
    case 6:
        fprintf(f, "tensor E %s [100000,100000] = { (0,0): 1",
                gen_chance(g, 50) ? "csr" : "coo");
        for (long k = 0; k < n; k++)
            fprintf(f, ", (%d,%d): %d", gen_below(g, 100000), gen_below(g, 100000),
                    gen_below(g, 9));
        fprintf(f, " }\n");
        break;
    case 7:
        for (long k = 0; k < n; k++)
            fprintf(f, "fn f%ld(x, y) = x + y * %ld over {x != 0} | {y != 0}\n", k, k);
        break;
    default:
        fprintf(f, "x = 1\nwhile (x > 0) { x = x + 1 }\n");
    }
}

static const char *const extensions[] = {"mtx", "tns"};
enum { FILES = sizeof extensions / sizeof *extensions };

static void file_path(char *path, size_t size, pid_t pid, int kind)
{
    snprintf(path, size, "/tmp/fuzz_limits_%d.%s", (int)pid, extensions[kind]);
}

/* A data file and a script that reads it. */
static void say_file(gen *g, FILE *f, try *t)
{
    static const char *const field[] = {"real", "integer", "pattern"};
    const int kind = gen_below(g, 4);
    const long n = magnitude(g, 200000), rows = 1 + magnitude(g, 1e9),
               columns = 1 + rows / 3;
    const int k = gen_below(g, 3);
    file_path(t->path, sizeof t->path, getpid(), kind == 3);
    FILE *out = fopen(t->path, "w");
    if (!out) return;
    if (kind < 2) {
        fprintf(out, "%%%%MatrixMarket matrix coordinate %s general\n%ld %ld %ld\n",
                field[k], rows, columns, n);
        for (long i = 0; i < n; i++)
            fprintf(out, "%" PRIu64 " %" PRIu64 " %s\n", 1 + gen_next(g) % (uint64_t)rows,
                    1 + gen_next(g) % (uint64_t)columns,
                    k == 2 ? ""
                    : k    ? "3"
                           : "0.25");
    } else if (kind == 2) {
        fprintf(out, "%%%%MatrixMarket matrix array real general\n%ld 3\n", n);
        for (long i = 0; i < 3 * n; i++)
            fprintf(out, "%ld\n", i % 5);
    } else {
        for (long i = 0; i < n; i++)
            fprintf(out, "%ld %" PRIu64 " 1 %ld\n", 1 + i, 1 + gen_next(g) % 1000000,
                    i % 9);
    }
    fclose(out);
    const bool given = gen_chance(g, 50) && kind < 3;
    fprintf(f, "tensor A %s = \"%s\"\n", given ? any_format(g) : "", t->path);
    if (kind < 3 && gen_chance(g, 50)) fprintf(f, "y(i) = A(i,j)\n");
    if (gen_chance(g, 30)) fprintf(f, "print A\n");
    if (gen_chance(g, 20)) fprintf(f, "compact A\n");
}

static void say_case(gen *g, FILE *f)
{
    fcase c;
    gen_case(&c, gen_next(g), ALL_FEATURES, 0, 0);
    char *script = case_script(&c, "");
    if (script) fputs(script, f);
    free(script);
    case_free(&c);
}

static void try_draw(try *t, uint64_t seed)
{
    fcase none = {.count = 0};
    gen g = {.c = &none, .state = seed};
    size_t size;
    *t = (try){.seed = seed, .threads = 1, .after_us = -1};
    FILE *f = open_memstream(&t->text, &size);
    if (!f) exit(2);
    switch (gen_below(&g, 10)) {
    case 0:
    case 1:
        t->kind = "case";
        say_case(&g, f);
        break;
    case 2:
    case 3:
    case 4:
        t->kind = "text";
        say_long(&g, f);
        break;
    case 5:
        t->kind = "file";
        say_file(&g, f, t);
        break;
    default:
        t->kind = "data";
        say_large(&g, f);
    }
    fclose(f);
    t->counted = gen_chance(&g, 50);
    if (gen_chance(&g, 60)) t->max_memory = MB + (uint64_t)magnitude(&g, 200e6);
    if (gen_chance(&g, 40)) t->max_steps = (uint64_t)magnitude(&g, 1e8);
    if (gen_chance(&g, 60)) t->after_us = gen_below(&g, 1 << (4 + gen_below(&g, 15)));
    if (gen_chance(&g, 25)) t->threads = 2 + gen_below(&g, gen_chance(&g, 20) ? 60 : 3);
    /* Something has to end each of them. */
    if (t->after_us < 0 && !t->max_steps) t->after_us = gen_below(&g, 1 << 18);
}

static void try_free(try *t)
{
    if (t->path[0]) remove(t->path);
    free(t->text);
}

/* ---- running it ----------------------------------------------------------------- */

static double clock_us(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* A thread that interrupts a call. The first wish may come just before the call begins,
 * which forgets it: it is repeated. */
typedef struct alarm_clock {
    stc_machine *m;
    int after_us;
    atomic_bool begun, ended, rung;
    double computing, waiting; /* when it first rang */
    pthread_t thread;
} alarm_clock;

static void *ring(void *context)
{
    alarm_clock *a = context;
    while (!atomic_load(&a->begun))
        usleep(20);
    if (a->after_us) usleep((useconds_t)a->after_us);
    for (bool first = true; !atomic_load(&a->ended); first = false) {
        if (first) {
            a->computing = clock_us(CLOCK_PROCESS_CPUTIME_ID);
            a->waiting = clock_us(CLOCK_MONOTONIC);
            atomic_store(&a->rung, true);
        }
        stc_interrupt(a->m);
        usleep(2000);
    }
    return NULL;
}

static void clock_start(alarm_clock *a, stc_machine *m, int after_us)
{
    *a = (alarm_clock){.m = m, .after_us = after_us};
    if (after_us >= 0 && pthread_create(&a->thread, NULL, ring, a)) exit(2);
}

static void clock_stop(alarm_clock *a, told *out)
{
    const double computing = clock_us(CLOCK_PROCESS_CPUTIME_ID);
    const double waiting = clock_us(CLOCK_MONOTONIC);
    atomic_store(&a->ended, true);
    if (a->after_us < 0) return;
    pthread_join(a->thread, NULL);
    out->interrupted = atomic_load(&a->rung) && waiting >= a->waiting;
    if (!out->interrupted) return;
    out->computing = computing - a->computing;
    out->waiting = waiting - a->waiting;
}

typedef struct counted_heap {
    int64_t held, peak;
} counted_heap;

static void *counting_alloc(void *context, void *block, size_t old, size_t size)
{
    counted_heap *h = context;
    void *p = fuzzing_alloc(&h->held, block, old, size);
    if (h->held > h->peak) h->peak = h->held;
    return p;
}

/* The one call whose limits are looked at. */
static stc_status run_text(stc_session *s, const try *t, alarm_clock *a)
{
    atomic_store(&a->begun, true);
    return stc_session_exec(s, t->text, "fuzz");
}

static void run(const try *t, told *out)
{
    counted_heap heap = {0};
    const stc_config config = {.alloc = t->counted ? counting_alloc : NULL,
                               .alloc_context = &heap,
                               .max_memory = t->max_memory,
                               .max_steps = t->max_steps,
                               .threads = t->threads};
    FILE *sink = fopen("/dev/null", "w");
    stc_machine *m;
    stc_session *s = NULL;
    if (!sink || stc_open(&config, &m) != STC_OK) exit(2);
    if (stc_session_open(m, &s) != STC_OK) exit(2);
    stc_session_output(s, sink);
    alarm_clock a;
    clock_start(&a, m, t->after_us);
    const uint64_t before = m->cx.worked;
    out->status = run_text(s, t, &a);
    clock_stop(&a, out);
    out->steps = m->cx.worked - before;
    snprintf(out->message, sizeof out->message, "%s", stc_error(m)->message);
    stc_session_close(s);
    /* Whatever ended it: the machine works on. */
    out->after = stc_session_open(m, &s);
    if (out->after == STC_OK) {
        stc_session_output(s, sink);
        out->after = stc_session_exec(s, "x = 1 + 2\nprint x\n", "fuzz");
        stc_session_close(s);
    }
    out->peak = heap.peak;
    stc_close(m);
    out->held = heap.held;
    out->closed = true;
    fclose(sink);
}

/* ---- judging it ----------------------------------------------------------------- */

typedef struct counts {
    bool memory_only; /* steps and times aren't judged */
    uint64_t tries, finished, memory, steps, interrupts, refused;
    double latency, over; /* the worst of them: microseconds, MB over the cap */
    int bad;
} counts;

static const char *judge(const told *out, int end, uint64_t rss, counts *n, char *why,
                         size_t size)
{
    const try *t = &out->what;
    if (n->memory_only && WIFSIGNALED(end) && WTERMSIG(end) == SIGALRM) return NULL;
    if (!WIFEXITED(end) || WEXITSTATUS(end) || !out->closed) {
        snprintf(why, size, "the process ended by %s %d",
                 WIFSIGNALED(end) ? "signal" : "status",
                 WIFSIGNALED(end) ? WTERMSIG(end) : WEXITSTATUS(end));
        return why;
    }
    if (out->held) {
        snprintf(why, size, "%" PRId64 " bytes are still held", out->held);
        return why;
    }
    if (t->max_memory && t->counted && (uint64_t)out->peak > t->max_memory) {
        snprintf(why, size, "%" PRId64 " bytes were held", out->peak);
        return why;
    }
    const uint64_t most = t->max_memory + t->max_memory / 10 + 16 * MB;
    if (t->max_memory && !t->counted && !SANITIZED) {
        const double over = ((double)rss - (double)t->max_memory) / (double)MB;
        if (over > n->over) n->over = over;
        if (rss > most) {
            snprintf(why, size, "the process had %.1f MB", (double)rss / (double)MB);
            return why;
        }
    }
    if (out->interrupted && !n->memory_only) {
        const double us = out->computing < out->waiting ? out->computing : out->waiting;
        if (us > n->latency) n->latency = us;
        if (us > LATENCY_US || out->waiting > WAITING_US) {
            snprintf(why, size, "it ended %.1f ms after the interrupt (%.1f of computing)",
                     out->waiting * 1e-3, out->computing * 1e-3);
            return why;
        }
    }
    if (t->max_steps && !n->memory_only &&
        out->steps >
            t->max_steps + t->max_steps / 10 + STEPS_OVER + (uint64_t)t->threads * PIECE) {
        snprintf(why, size, "it did %" PRIu64 " steps", out->steps);
        return why;
    }
    const bool small = t->max_steps && t->max_steps < 1000;
    if (out->after != STC_OK && !(small && out->after == STC_ERR_STEPS)) {
        snprintf(why, size, "afterwards: %s", stc_status_name(out->after));
        return why;
    }
    if (out->status != STC_OK && !out->message[0]) return "an error without a message";
    return NULL;
}

static void count(const told *out, counts *n)
{
    switch (out->status) {
    case STC_OK:
        n->finished++;
        break;
    case STC_ERR_MEMORY:
        n->memory++;
        break;
    case STC_ERR_STEPS:
        n->steps++;
        break;
    case STC_ERR_INTERRUPT:
        n->interrupts++;
        break;
    default:
        n->refused++;
    }
}

static void tell(const told *out, uint64_t seed, const char *why)
{
    try drawn;
    const try *t = &drawn;
    try_draw(&drawn, seed);
    printf("---- FAIL --case %" PRIu64 ": %s\n", t->seed, why);
    printf("%s: memory %" PRIu64 ", steps %" PRIu64
           ", %d threads, interrupt %d us, %s: %s %s\n",
           t->kind, t->max_memory, t->max_steps, t->threads, t->after_us,
           t->counted ? "host's allocator" : "default", stc_status_name(out->status),
           out->message);
    printf("%.300s%s\n----\n", t->text, strlen(t->text) > 300 ? "…" : "");
    try_free(&drawn);
}

static void try_one(uint64_t seed, told *out, counts *n, bool verbose)
{
    char why[200], path[64];
    struct rusage use;
    int end = 0;
    fflush(stdout);
    memset(out, 0, sizeof *out);
    const pid_t pid = fork();
    if (pid < 0) exit(2);
    if (pid == 0) {
        fuzzing_patience(40); /* before the one of this process */
        try_draw(&out->what, seed);
        run(&out->what, out);
        try_free(&out->what);
        _exit(0);
    }
    while (wait4(pid, &end, 0, &use) < 0) {
    }
    for (int k = 0; k < FILES; k++) {
        file_path(path, sizeof path, pid, k);
        remove(path);
    }
    n->tries++;
    count(out, n);
    const char *bad = judge(out, end, (uint64_t)use.ru_maxrss << 10, n, why, sizeof why);
    if (bad || verbose) tell(out, seed, bad ? bad : "as it should be");
    if (verbose)
        printf("%.1f MB, %" PRIu64 " steps, %.1f ms after the interrupt\n",
               (double)use.ru_maxrss / 1024, out->steps, out->waiting * 1e-3);
    n->bad += bad != NULL;
}

/* A block that the system can't give is an error like any other, under ASan too. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

int main(int argc, char **argv)
{
    fuzzing f;
    counts n = {0};
    uint64_t one = 0;
    int kept = 1;
    for (int k = 1; k < argc; k++) {
        const bool named = k + 1 < argc;
        if (named && strcmp(argv[k], "--case") == 0)
            one = strtoull(argv[++k], NULL, 0);
        else if (named && strcmp(argv[k], "--only") == 0)
            n.memory_only = strcmp(argv[++k], "memory") == 0;
        else
            argv[kept++] = argv[k];
    }
    fuzzing_begin(&f, kept, argv);
    told *out =
        mmap(NULL, sizeof *out, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (out == MAP_FAILED) return 2;
    if (one) {
        try_one(one, out, &n, true);
        return n.bad ? 1 : 0;
    }
    while (fuzzing_on(&f) && n.bad < 5)
        try_one(gen_next(&f.g), out, &n, false);
    printf("fuzz_limits: seed %" PRIu64 ": %" PRIu64 " tries: %" PRIu64
           " finished, %" PRIu64 " short of memory, %" PRIu64 " of steps, %" PRIu64
           " interrupted, %" PRIu64
           " refused; at most %.1f ms after an interrupt, %.1f MB over a cap; %d bad\n",
           f.seed, n.tries, n.finished, n.memory, n.steps, n.interrupts, n.refused,
           n.latency * 1e-3, n.over, n.bad);
    return n.bad ? 1 : 0;
}
