/* fuzz_soak.c: random cases (gen.h), one after another, in one machine that is
 * never closed: nothing may be held when a case is over, and the process may not
 * grow.
 *
 *     fuzz_soak [SECONDS [SEED]] [--seconds N] [--seed N]
 *
 * Two counts are watched: the bytes that the machine's allocator handed out, which
 * must be the same after each case, once there were a few; and the pages of the process
 * (/proc/self/statm, where there is one), which may not grow by more than a sixteenth
 * from the first quarter of the time to its end.
 */
#include "fuzzing.h"
#include <inttypes.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Programs after which the machine has all that it keeps, such as its threads. */
enum { WARM = 100, LINES = 10, SLACK = 4 << 20 };
/* ASan keeps what is freed for a while: how much is resident says nothing then. */
#ifdef STC_SAN
enum { RESIDENT_SAYS = false };
#else
enum { RESIDENT_SAYS = true };
#endif

/* Bytes of the process in memory; 0: not known. What the C library only keeps for
 * later (a case may take 256 MB) is given back first, where that can be asked for. */
static int64_t resident(void)
{
    long long size = 0, pages = 0;
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f) return 0;
    if (fscanf(f, "%lld %lld", &size, &pages) != 2) pages = 0;
    fclose(f);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

typedef struct soak {
    case_heap h;
    stc_machine *m;
    int64_t empty, early; /* bytes held between cases; resident early on         */
    int64_t last,
        step; /* resident at the last line; the most it grew from one to the next */
    uint64_t programs, runs;
} soak;

static bool one(soak *s, uint64_t seed)
{
    fcase c;
    unsigned how[8];
    gen_case(&c, seed, ALL_FEATURES, 0, 0);
    const int n = case_ways(&c, how);
    bool ok = true;
    for (int k = 0; k < n && ok; k++) {
        outcome o;
        if (how[k] & RUN_NOSUPER) continue;
        case_run_on(s->m, &c, how[k], &o);
        outcome_free(&o);
        s->runs++;
        if (s->programs < WARM && s->h.held > s->empty) s->empty = s->h.held;
        ok = s->h.held <= s->empty;
    }
    s->programs++;
    if (!ok) {
        char *script = case_script(&c, "");
        printf("fuzz_soak: %" PRId64 " bytes are held after\n%s", s->h.held - s->empty,
               script ? script : "");
        free(script);
    }
    case_free(&c);
    return ok;
}

static void line(const fuzzing *f, const soak *s)
{
    printf("fuzz_soak: %5.0f s: %" PRIu64 " programs, %" PRIu64 " runs, %" PRIu64
           " allocations; held %" PRId64 " bytes, resident %" PRId64 " KB\n",
           f->seconds - (f->until - fuzzing_now()), s->programs, s->runs, s->h.calls,
           s->h.held, resident() >> 10);
    fflush(stdout);
}

/* The process grows once for the largest program that it meets, and steadily by a leak. */
static void note_step(soak *s)
{
    const int64_t now = resident(), step = now - s->last;
    if (step > s->step) s->step = step;
    s->last = now;
}

int main(int argc, char **argv)
{
    fuzzing f;
    soak s = {.programs = 0};
    bool ok = true;
    fuzzing_begin(&f, argc, argv);
    if (case_machine(&s.h, 0, &s.m) != STC_OK) return 1;
    s.empty = s.h.held;
    double next = fuzzing_now() + f.seconds / LINES;
    while (ok && fuzzing_on(&f)) {
        ok = one(&s, gen_next(&f.g));
        if (fuzzing_now() < next) continue;
        next += f.seconds / LINES;
        line(&f, &s);
        if (s.early) note_step(&s);
        if (!s.early && f.until - fuzzing_now() < 0.75 * f.seconds)
            s.early = s.last = resident();
    }
    line(&f, &s);
    if (s.early) note_step(&s);
    const int64_t grown = s.last - s.early - s.step;
    if (RESIDENT_SAYS && ok && s.early && grown > s.early / 16 + SLACK) {
        printf("fuzz_soak: the process grew by %" PRId64 " KB\n", grown >> 10);
        ok = false;
    }
    stc_close(s.m);
    return !ok;
}
