/* papers.c: what the five papers promise about work, held against counters.
 *
 * Takes the scripts of tests/papers, one a promise. The first line of each says where it
 * is from and what it is about; the second one
 *     # values 40  sizes 1000 10000 100000  grows 0
 * at which n its values are held against the oracle's, at which its steps are counted,
 * and by which power of n they may grow. The script reads n; its last line is the
 * statement that is looked at. Prints a table, and fails if a value is wrong, or if steps
 * grow by more than that and a quarter: steps are rounds that loops make on whatever tier,
 * so there is no clock in it. `bytes` behind the power counts memory instead: the most that
 * was held at a time while the statement ran, beyond its operands. Workspaces may be kept
 * by the policy of host_policies.c. With --time before the scripts it tells microseconds of
 * processor time instead, the least of several runs, and what grows to twice as much; at
 * three sizes behind `timed`, if there are any: where the larger ones are memory's to
 * answer.
 */
#include "../src/api/api.h"
#include "case.h"
#include "oracle.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZES = 3, TEXT = 1 << 16, TURNS = 25 };

static const double slack = 1.25, slower = 2;
static const uint64_t few = 64, pages = 1 << 16; /* steps and bytes that are no growth */

typedef struct promise {
    const char *path;
    char *title, *operands, *statement;
    long values, size[SIZES], timed[SIZES];
    double grows;
    bool bytes; /* memory is counted, no steps */
    uint64_t steps[SIZES];
    char why[400];
} promise;

/* A machine on which the operands are. */
typedef struct lab {
    stc_machine *m;
    stc_session *s;
} lab;

static void shut(lab *b)
{
    stc_session_close(b->s);
    stc_close(b->m);
}

static bool execute(promise *p, lab *b, const char *text)
{
    if (!stc_session_exec(b->s, text, p->path)) return true;
    snprintf(p->why, sizeof p->why, "%s", stc_error(b->m)->message);
    return false;
}

static bool set_up(promise *p, long n, bool base, lab *b)
{
    const stc_config config = {.no_super = base};
    char size[40];
    *b = (lab){0};
    snprintf(size, sizeof size, "n = %ld", n);
    if (stc_open(&config, &b->m) || host_policies_register(b->m) ||
        stc_session_open(b->m, &b->s))
        return false;
    return execute(p, b, size) && execute(p, b, p->operands);
}

/* ---- values ------------------------------------------------------------------------- */

static oval value_of(stc_type t, stc_value v)
{
    if (ot_complex(t)) return ov_complex(t, v.c[0], v.c[1]);
    return ot_float(t) ? ov_real(t, v.f) : ov_int(t, v.i);
}

/* Element k of t, counted in the order of its modes. */
static oval element(const stc_tensor *t, int64_t k)
{
    int64_t at[STC_MAX_ORDER];
    stc_value v = stc_tensor_fill(t);
    for (int m = stc_tensor_order(t) - 1; m >= 0; m--) {
        at[m] = k % stc_tensor_shape(t)[m];
        k /= stc_tensor_shape(t)[m];
    }
    (void)stc_tensor_get(t, at, &v);
    return value_of(stc_tensor_type(t), v);
}

static bool enter(oworld *w, const char *name, const stc_tensor *t)
{
    const stc_type type = stc_tensor_type(t);
    otensor *o = oworld_put(w, name, type, stc_tensor_order(t), stc_tensor_shape(t),
                            value_of(type, stc_tensor_fill(t)));
    for (int64_t k = 0; o && k < o->count; k++)
        o->data[k] = element(t, k);
    if (!o) return false;
    o->has_data = o->keeps_type = o->keeps_shape = o->keeps_fill = true;
    return true;
}

static bool same_values(promise *p, const oworld *w, const lab *b)
{
    const stc_tensor *t;
    const otensor *want = oworld_find(w, w->target);
    char x[80], y[80];
    if (!want || stc_session_get(b->s, w->target, &t)) return false;
    for (int64_t k = 0; k < want->count; k++) {
        const oval is = element(t, k), as = ov_store(want->data[k], stc_tensor_type(t));
        if (ov_agrees(&as, &is)) continue;
        ov_print(&is, x, sizeof x);
        ov_print(&as, y, sizeof y);
        snprintf(p->why, sizeof p->why, "element %" PRId64 " is %s, not %s", k, x, y);
        return false;
    }
    return true;
}

/* The oracle takes functions from their lines; tensors come from the session. */
static bool define(const promise *p, oworld *w)
{
    for (const char *at = p->operands; at; at = strchr(at, '\n')) {
        char line[400];
        at += *at == '\n';
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        if (!strncmp(line, "fn ", 3) && oracle_exec(w, line) != ORACLE_OK) return false;
    }
    return true;
}

/* By the faster tiers, and by base operations. */
static bool right(promise *p, bool base)
{
    lab b;
    oworld w;
    const char *name;
    const stc_tensor *t;
    bool ok = set_up(p, p->values, base, &b);
    oworld_init(&w, &b.m->cx);
    for (int k = 0; ok && (name = stc_session_name(b.s, k)); k++)
        if (!stc_session_get(b.s, name, &t)) ok = enter(&w, name, t);
    ok = ok && define(p, &w) && execute(p, &b, p->statement);
    if (ok && oracle_exec(&w, p->statement) != ORACLE_OK) {
        snprintf(p->why, sizeof p->why, "the oracle: %s", w.why);
        ok = false;
    }
    ok = ok && same_values(p, &w, &b);
    oworld_free(&w);
    shut(&b);
    return ok;
}

/* ---- work --------------------------------------------------------------------------- */

static double power(double x, double y)
{
    double p = 1; /* y is a small whole number */
    for (; y > 0; y--)
        p *= x;
    return p;
}

static bool counted(promise *p)
{
    for (int k = 0; k < SIZES; k++) {
        lab b;
        bool ok = set_up(p, p->size[k], false, &b);
        const uint64_t held = ok ? atomic_load(&b.m->cx.used) : 0;
        if (ok) atomic_store(&b.m->cx.peak, held);
        ok = ok && execute(p, &b, p->statement);
        p->steps[k] = !ok        ? 0
                      : p->bytes ? atomic_load(&b.m->cx.peak) - held
                                 : b.m->cx.steps;
        shut(&b);
        if (!ok) return false;
    }
    for (int k = 1; k < SIZES; k++) {
        const double by = power((double)p->size[k] / (double)p->size[0], p->grows);
        const double most = (double)p->steps[0] * by * slack;
        if ((double)p->steps[k] <= most + (double)(p->bytes ? pages : few)) continue;
        snprintf(p->why, sizeof p->why, "%s grow", p->bytes ? "bytes" : "steps");
        return false;
    }
    return true;
}

/* ---- time --------------------------------------------------------------------------- */

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Instead of steps: microseconds, and of those of the first size no less than `few`. */
static bool timed(promise *p)
{
    for (int k = 0; k < SIZES; k++) {
        lab b;
        bool ok = set_up(p, p->timed[k], false, &b);
        p->steps[k] = UINT64_MAX;
        for (int turn = 0; turn < TURNS && ok; turn++) {
            const uint64_t from = now();
            ok = execute(p, &b, p->statement);
            const uint64_t took = now() - from;
            p->steps[k] = took < p->steps[k] ? took : p->steps[k];
        }
        shut(&b);
        if (!ok) return false;
    }
    const double first = (double)(p->steps[0] > few ? p->steps[0] : few);
    for (int k = 1; k < SIZES; k++) {
        const double by = power((double)p->timed[k] / (double)p->timed[0], p->grows);
        if ((double)p->steps[k] <= first * by * slower) continue;
        snprintf(p->why, sizeof p->why, "time grows");
        return false;
    }
    return true;
}

/* ---- scripts ------------------------------------------------------------------------ */

/* The text's last line is cut off: the statement. */
static bool parse(promise *p, char *text)
{
    char *second = strchr(text, '\n'), *body = second ? strchr(second + 1, '\n') : NULL;
    size_t n = strlen(text);
    if (!body || text[0] != '#') return false;
    while (n && text[n - 1] == '\n')
        text[--n] = 0;
    p->title = text + 2;
    *second = 0;
    p->operands = body + 1;
    p->statement = strrchr(text + (body - text), '\n');
    if (!p->statement || p->statement == body) return false;
    *p->statement++ = 0;
    char what[8] = "";
    const int read =
        sscanf(second + 1, "# values %ld sizes %ld %ld %ld grows %lf %7[a-z]", &p->values,
               &p->size[0], &p->size[1], &p->size[2], &p->grows, what);
    const char *clock = strstr(second + 1, " timed ");
    p->bytes = !strcmp(what, "bytes");
    memcpy(p->timed, p->size, sizeof p->size);
    return read >= 5 && (!clock || sscanf(clock, " timed %ld %ld %ld", &p->timed[0],
                                          &p->timed[1], &p->timed[2]) == SIZES);
}

static bool look(const char *path, bool clock)
{
    static char text[TEXT];
    promise p = {.path = path};
    FILE *f = fopen(path, "r");
    const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f) fclose(f);
    bool ok = parse(&p, text);
    if (ok && clock) ok = timed(&p);
    if (ok && !clock) ok = right(&p, false) && right(&p, true) && counted(&p);
    printf("%-58s n^%g %9" PRIu64 " %9" PRIu64 " %9" PRIu64 "%s  %s%s\n",
           p.title ? p.title : path, p.grows, p.steps[0], p.steps[1], p.steps[2],
           p.bytes && !clock ? " bytes" : "", ok ? "holds" : "FAILS: ",
           ok         ? ""
           : p.why[0] ? p.why
                      : "no such script");
    return ok;
}

int main(int argc, char **argv)
{
    int failed = 0;
    const bool clock = argc > 1 && !strcmp(argv[1], "--time");
    const int first = 1 + clock;
    printf("%-58s may   %s at three sizes\n", "paper, section, statement",
           clock ? "microseconds" : "steps");
    for (int k = first; k < argc; k++)
        failed += !look(argv[k], clock);
    printf("%d promises, %d not kept\n", argc - first, failed);
    return failed || argc <= first;
}
