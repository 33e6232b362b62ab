/* fuzz.c: differential fuzzing: random cases (gen.h), each run in several ways
 * (case.h) and compared with the oracle.
 *
 *     fuzz [SECONDS [SEED]] [--seconds N] [--seed N] [--only a,b] [--without a,b]
 *          [--with a,b] [--case SEED] [--failures N] [--threads] [--wide] [--verbose]
 *
 * --only allows just these features, --with puts them into every case, --threads
 * has loops shared in every way that a case is run, --wide has every case at sizes at which
 * the fast tiers run (one in 150 is by itself). A failing case is shrunk and printed as
 * a script; --case runs one again, with --verbose as it was drawn. The cases run in a
 * child process that tells the parent where it is, so that a crash is a failing case like
 * any other. Exit status 1 if any case failed.
 */
#include "fuzzing.h"
#include "shrink.h"
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Level kinds, then what maps are told by. */
static const char *const kinds[] = {
    "dense",   "compressed", "singleton", "range", "offset", "hashed", "rle", "lz77",
    "bytemap", "hosted",     "walked",    "/",     "%",      "-",      "#",   "flat"};
enum { KINDS = sizeof kinds / sizeof *kinds, WIDE_WAYS = 3 };

typedef struct totals {
    uint64_t cases, runs, verdict[4], feature[FEATURE_COUNT], passed[FEATURE_COUNT];
    uint64_t kind[KINDS], result[KINDS], elements, poisoned, places;
    uint64_t seed; /* of the case that is running */
    unsigned how;
    char why[1200]; /* the last one that failed */
} totals;

typedef struct options {
    double seconds;
    uint64_t seed, only_case;
    bool one, threads, verbose;
    int wide; /* percent of large cases */
    uint64_t allowed, forced;
    int failures;
} options;

/* What the built-in names stand for, for counting. */
static const char *kinds_of(const char *format)
{
    static const char *const known[][2] = {
        {"csr", "dense compressed"},
        {"csc", "dense compressed"},
        {"dcsr", "compressed"},
        {"dcsc", "compressed"},
        {"coo", "compressed singleton"},
        {"csf", "compressed"},
        {"svec", "compressed"},
        {"hash", "dense hashed"},
        {"rle", "dense rle"},
        {"lz77", "dense lz77"},
        {"bytemap", "dense bytemap"},
        {"dia", "- compressed range offset"},
        {"ell", "# dense singleton"},
        {"bcsr", "/ % dense compressed"},
        {"csb", "/ % dense compressed singleton"},
    };
    size_t len = strcspn(format, "(: ");
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (strlen(known[k][0]) == len && memcmp(known[k][0], format, len) == 0)
            return known[k][1];
    return format;
}

static void count_kinds(uint64_t *count, const char *format)
{
    const char *text = kinds_of(format), *map = strstr(text, "->");
    if (map) text = map + 2;
    for (int k = 0; k < KINDS; k++)
        count[k] += strstr(text, kinds[k]) != NULL;
}

static void count_case(totals *t, const fcase *c)
{
    t->cases++;
    for (int k = 0; k < FEATURE_COUNT; k++)
        t->feature[k] += c->features >> k & 1;
    for (int k = 0; k < c->count; k++)
        count_kinds(t->kind, c->t[k].format.text);
}

static const char *way_name(unsigned how, char *buf, size_t size)
{
    snprintf(buf, size, "%s%s%s%s%s", how & RUN_SCRIPT ? "script" : "",
             how & RUN_SESSION ? "session" : "",
             how & (RUN_SCRIPT | RUN_SESSION) ? "" : "program",
             how & RUN_STB ? ", through bytes" : "",
             how & RUN_NOSUPER ? ", base operations" : "");
    if (how & RUN_THREADS) strncat(buf, ", threads", size - strlen(buf) - 1);
    if (how & RUN_AGAIN) strncat(buf, ", twice", size - strlen(buf) - 1);
    if (how & RUN_PARTS) strncat(buf, ", in parts", size - strlen(buf) - 1);
    if (how & RUN_AS_WRITTEN) strncat(buf, ", as written", size - strlen(buf) - 1);
    return buf;
}

static void show(const fcase *c)
{
    char *script = case_script(c, "");
    printf("%s", script ? script : "");
    fflush(stdout);
    free(script);
}

/* Shrinks and prints; runs in the parent. What doesn't fail again is told as it was. */
static void tell(fcase *c, unsigned how, const char *first)
{
    char why[1200], way[80];
    uint64_t seed = c->seed;
    bool still = fails(c, how, why, sizeof why);
    if (still) shrink(c, how);
    if (!still || !fails(c, how, why, sizeof why))
        snprintf(why, sizeof why, "%.1150s (it doesn't fail any more)", first);
    printf("---- FAIL: fuzz --case %" PRIu64 " (%s)\n# %s\n", seed,
           way_name(how, way, sizeof way), why);
    show(c);
}

/* Runs cases from number `from` on until time is up; returns at a failure. */
static bool run_some(const options *o, totals *t, double until)
{
    while (fuzzing_now() < until) {
        fcase c;
        uint64_t seed = o->one ? o->only_case : o->seed * 1000003u + t->cases;
        gen_case(&c, seed, o->allowed, o->forced, o->wide);
        t->seed = seed;
        count_case(t, &c);
        if (o->one && o->verbose) show(&c);
        unsigned how[8];
        int n = case_ways(&c, how);
        if (c.wide && n > WIDE_WAYS) n = WIDE_WAYS; /* the oracle is slow */
        for (int k = 0; k < n && o->threads; k++)
            how[k] |= RUN_THREADS;
        for (int k = 0; k < n; k++) {
            t->how = how[k];
            fuzzing_patience(c.wide ? 300 : 30);
            judged j;
            case_judge(&c, how[k], &j);
            t->runs++;
            t->verdict[j.verdict]++;
            t->elements += (uint64_t)j.elements;
            t->poisoned += (uint64_t)j.poisoned;
            t->places += (uint64_t)j.places;
            if (j.verdict == CASE_PASS) {
                count_kinds(t->result, j.result_format);
                for (int f = 0; f < FEATURE_COUNT; f++)
                    t->passed[f] += c.features >> f & 1;
            }
            if (o->verbose && (j.verdict == CASE_REFUSED || j.verdict == CASE_UNSURE))
                printf("# %s: %s\n", c.stmt, j.why);
            if (o->one) printf("# way %u: verdict %d %s\n", how[k], j.verdict, j.why);
            if (j.verdict == CASE_FAIL) {
                snprintf(t->why, sizeof t->why, "%s", j.why);
                case_free(&c);
                return false;
            }
            /* an impossible schedule is refused in every way */
            if (j.verdict == CASE_UNSURE && c.scheduled && !o->one) break;
        }
        case_free(&c);
        if (o->one) break;
    }
    return true;
}

/* One child until it fails, dies or time is up; t->why says of what. */
static bool run_child(const options *o, totals *t, double until)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        bool ok = run_some(o, t, until);
        fflush(stdout);
        exit(ok ? 0 : 3);
    }
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) return true;
    if (WIFSIGNALED(status))
        snprintf(t->why, sizeof t->why, "died of signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void report(const options *o, const totals *t, int failed)
{
    printf("fuzz: seed %" PRIu64 ": %" PRIu64 " programs, %" PRIu64 " runs: %" PRIu64
           " agree, %" PRIu64 " rightly refused, %" PRIu64 " unsettled, %d failing cases\n",
           o->seed, t->cases, t->runs, t->verdict[CASE_PASS], t->verdict[CASE_REFUSED],
           t->verdict[CASE_UNSURE], failed);
    printf("  elements compared %" PRIu64 ", left open %" PRIu64
           "; whether stored, %" PRIu64 "\n  features:",
           t->elements - t->poisoned, t->poisoned, t->places);
    for (int k = 0; k < FEATURE_COUNT; k++)
        printf(" %s %" PRIu64, feature_name(k), t->feature[k]);
    printf("\n  agreeing runs by feature:");
    for (int k = 0; k < FEATURE_COUNT; k++)
        printf(" %s %" PRIu64, feature_name(k), t->passed[k]);
    printf("\n  level kinds of operands:");
    for (int k = 0; k < KINDS; k++)
        printf(" %s %" PRIu64, kinds[k], t->kind[k]);
    printf("\n  of results that agree:");
    for (int k = 0; k < KINDS; k++)
        printf(" %s %" PRIu64, kinds[k], t->result[k]);
    printf("\n");
}

static uint64_t features_of(const char *list)
{
    uint64_t bits = 0;
    for (int k = 0; k < FEATURE_COUNT; k++) {
        const char *p = strstr(list, feature_name(k));
        size_t len = strlen(feature_name(k));
        if (p && (p == list || p[-1] == ',') && (p[len] == 0 || p[len] == ','))
            bits |= FEATURE_BIT << k;
    }
    return bits;
}

static bool parse(int argc, char **argv, options *o)
{
    *o = (options){
        .seconds = 10, .seed = 1, .allowed = ALL_FEATURES, .failures = 10, .wide = 15};
    int plain = 0;
    for (int k = 1; k < argc; k++) {
        const char *a = argv[k], *v = k + 1 < argc ? argv[k + 1] : NULL;
        if (strcmp(a, "--verbose") == 0) {
            o->verbose = true;
        } else if (strcmp(a, "--threads") == 0) {
            o->threads = true;
        } else if (strcmp(a, "--wide") == 0) {
            o->wide = 100;
        } else if (a[0] != '-') {
            if (plain == 0) o->seconds = atof(a);
            if (plain == 1) o->seed = strtoull(a, NULL, 0);
            if (++plain > 2) return false;
        } else if (!v) {
            return false;
        } else {
            k++;
            if (strcmp(a, "--seconds") == 0)
                o->seconds = atof(v);
            else if (strcmp(a, "--seed") == 0)
                o->seed = strtoull(v, NULL, 0);
            else if (strcmp(a, "--only") == 0)
                o->allowed = features_of(v);
            else if (strcmp(a, "--without") == 0)
                o->allowed &= ~features_of(v);
            else if (strcmp(a, "--with") == 0)
                o->forced = features_of(v);
            else if (strcmp(a, "--failures") == 0)
                o->failures = atoi(v);
            else if (strcmp(a, "--case") == 0) {
                o->one = true;
                o->only_case = strtoull(v, NULL, 0);
            } else
                return false;
        }
    }
    if (o->wide == 100) o->forced |= features_of("large");
    if (o->seed == 0) o->seed = (uint64_t)time(NULL);
    return true;
}

int main(int argc, char **argv)
{
    options o;
    if (!parse(argc, argv, &o)) {
        fprintf(stderr, "usage: fuzz [SECONDS [SEED]] [--only|--with|--without FEATURE,…] "
                        "[--case SEED] [--failures N] [--threads] [--wide] [--verbose]\n");
        return 2;
    }
    totals *t =
        mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t == MAP_FAILED) return 2;
    double until = fuzzing_now() + o.seconds;
    int failed = 0;
    while (fuzzing_now() < until && failed < o.failures) {
        if (run_child(&o, t, until)) break;
        fcase c;
        gen_case(&c, t->seed, o.allowed, o.forced, o.wide);
        failed++;
        tell(&c, t->how, t->why);
        case_free(&c);
        if (o.one) break;
    }
    report(&o, t, failed);
    return failed ? 1 : 0;
}
