/* plans.c: statements beside the best split by hand that was found.
 *
 * Takes plans.txt: operands of all rows, then rows, each a statement (?) and the same as
 * several (!). Both are run, and their results compared; the statement may take no more
 * steps than `slack` times those of the split by hand; a row that isn't as good yet says
 * what it may (% 5), so that it gets no worse. Steps are rounds that loops make on
 * whatever tier, so there is no clock in it. With --time [words of a name] the table has
 * milliseconds of the processor, too, and those of the statement as written: the least of
 * several turns, in which all three run in sessions that have run them before. What is
 * slower than it may be is marked, which fails nothing.
 *
 * What plans think of the entries between steps is held against what there are: the
 * q-error, max(thought / there, there / thought), of a row's steps and of all rows'.
 */
#include "../src/api/api.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TURNS = 9, MOST_STEPS = 500 };

static const double slack = 1.2, slower = 1.1; /* than by hand; than as written    */
static const double few_ms = 0.02;
static const double median_most = 2, ninetieth_most = 10; /* of q-errors         */
static const uint64_t few = 2000; /* steps that are no difference                */
static const uint64_t many = 2000000000;

enum { OURS, BY_HAND, WRITTEN, WAYS };

typedef struct row {
    char name[100], operands[2000], statement[1000], hand[2000];
    uint64_t steps[WAYS];
    double ms[WAYS], slack;
    char why[500];
    bool slow; /* by the clock */
} row;

typedef struct way {
    stc_machine *m;
    stc_session *s;
    const stc_tensor *y;
} way;

static bool execute(row *r, way *w, const char *text)
{
    if (!stc_session_exec(w->s, text, r->name)) return true;
    snprintf(r->why, sizeof r->why, "%.200s: %.200s", text, stc_error(w->m)->message);
    return false;
}

static double processor_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Its operands anew, then the statements: the time of these alone. */
static bool run_again(row *r, int how, way *w, double *ms)
{
    if (!execute(r, w, r->operands)) return false;
    const double start = processor_ms();
    if (!execute(r, w, how == BY_HAND ? r->hand : r->statement)) return false;
    *ms = processor_ms() - start;
    return true;
}

static bool run(row *r, const char *all, int how, way *w, double *ms)
{
    const stc_config config = {.as_written = how == WRITTEN,
                               .max_steps = how == WRITTEN ? many : 0};
    *w = (way){0};
    if (stc_open(&config, &w->m) || stc_session_open(w->m, &w->s)) return false;
    if (!execute(r, w, all) || !run_again(r, how, w, ms)) return false;
    r->steps[how] = w->m->cx.steps;
    return !stc_session_get(w->s, "y", &w->y);
}

static void shut(way *w)
{
    stc_session_close(w->s);
    stc_close(w->m);
}

static double number(const stc_tensor *t, const int64_t *at)
{
    stc_value v = stc_tensor_fill(t);
    (void)stc_tensor_get(t, at, &v);
    const stc_type type = stc_tensor_type(t);
    return type == STC_F64 || type == STC_F32 ? v.f : (double)v.i;
}

static bool same(row *r, const way *a, const way *b)
{
    const int order = stc_tensor_order(a->y);
    int64_t n = 1, at[STC_MAX_ORDER] = {0};
    if (order != stc_tensor_order(b->y)) return false;
    if (strcmp(stc_tensor_format(a->y), stc_tensor_format(b->y))) {
        snprintf(r->why, sizeof r->why, "y is %.200s, by hand %.200s",
                 stc_tensor_format(a->y), stc_tensor_format(b->y));
        return false;
    }
    for (int m = 0; m < order; m++)
        n *= stc_tensor_shape(a->y)[m];
    /* of large results some elements */
    const int64_t step = n > 200000 ? n / 100003 : 1;
    for (int64_t k = 0; k < n; k += step) {
        int64_t left = k;
        for (int m = order - 1; m >= 0; m--) {
            at[m] = left % stc_tensor_shape(a->y)[m];
            left /= stc_tensor_shape(a->y)[m];
        }
        const double u = number(a->y, at), v = number(b->y, at);
        if (u == v || fabs(u - v) <= 1e-9 * (fabs(u) + fabs(v)) + 1e-12) continue;
        snprintf(r->why, sizeof r->why, "element %" PRId64 " is %g, by hand %g", k, u, v);
        return false;
    }
    return true;
}

/* ---- what was thought ----------------------------------------------------------- */

static double errors[MOST_STEPS];
static int nerrors;

static void note_error(double thought, double there)
{
    if (thought < 1) thought = 1;
    if (there < 1) there = 1;
    if (nerrors < MOST_STEPS)
        errors[nerrors++] = thought > there ? thought / there : there / thought;
}

/* A plan's steps: what is thought stands below each, and what there is at the end. */
static void compare_entries(const char *plan)
{
    int step;
    double thought;
    for (const char *at = plan; (at = strstr(at, "step: step")); at++) {
        const char *line = strchr(at, '\n');
        char ran[40];
        if (sscanf(at, "step: step%d", &step) != 1 || !line ||
            sscanf(line, " about %lf", &thought) != 1)
            continue;
        snprintf(ran, sizeof ran, "ran: step%d, ", step);
        const char *there = strstr(plan, ran);
        if (there) note_error(thought, atof(there + strlen(ran)));
    }
}

/* The row's statement as a program, with the session's tensors. */
static bool look_at_entries(row *r, const char *all)
{
    way w = {0};
    stc_program *p = NULL;
    const stc_config config = {0};
    bool ok = !stc_open(&config, &w.m) && !stc_session_open(w.m, &w.s) &&
              execute(r, &w, all) && execute(r, &w, r->operands) &&
              !stc_session_compile(w.s, r->statement, &p);
    bool result = false;
    const char *name;
    for (int k = 0; ok && (name = stc_program_name(p, k, &result)) && !result; k++) {
        const stc_tensor *t;
        ok = !stc_session_get(w.s, name, &t) && !stc_bind(p, name, (stc_tensor *)t);
    }
    char *plan = NULL;
    if (ok) machine_look(p->mc, false); /* all steps as they were thought first */
    ok = ok && !stc_run(p) && !stc_program_explain(p, "plan", &plan);
    if (ok) compare_entries(plan);
    if (!ok && !*r->why) snprintf(r->why, sizeof r->why, "%s", stc_error(w.m)->message);
    stc_text_free(w.m, plan);
    stc_program_free(p);
    shut(&w);
    return ok;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool tell_errors(void)
{
    if (!nerrors) return true;
    qsort(errors, (size_t)nerrors, sizeof *errors, by_size);
    const double median = errors[nerrors / 2], ninetieth = errors[nerrors * 9 / 10];
    const bool ok = median <= median_most && ninetieth <= ninetieth_most;
    printf("q-error of the entries of %d steps: median %.2f, 90th percentile %.2f, "
           "largest %.3g  %s\n",
           nerrors, median, ninetieth, errors[nerrors - 1], ok ? "holds" : "FAILS");
    return ok;
}

/* ---- a row ---------------------------------------------------------------------- */

static void take_turns(row *r, const char *all, way *ours, way *hand)
{
    way written, *const w[WAYS] = {ours, hand, &written};
    bool ok = true;
    r->ms[WRITTEN] = INFINITY; /* too many steps */
    const bool ends = run(r, all, WRITTEN, &written, &r->ms[WRITTEN]);
    for (int k = 0; k < TURNS && ok; k++)
        for (int how = 0; how < (ends && r->ms[WRITTEN] < 2 * r->ms[OURS] ? WAYS : WRITTEN);
             how++) {
            double ms = INFINITY;
            ok = run_again(r, how, w[how], &ms) && ok;
            if (ms < r->ms[how]) r->ms[how] = ms;
        }
    shut(&written);
    r->why[0] = 0;
    r->slow = r->ms[OURS] > slack * r->ms[BY_HAND] + few_ms ||
              r->ms[OURS] > slower * r->ms[WRITTEN] + few_ms;
}

static bool look(row *r, const char *all, bool timed)
{
    way ours, hand;
    bool ok = run(r, all, OURS, &ours, &r->ms[OURS]);
    ok = run(r, all, BY_HAND, &hand, &r->ms[BY_HAND]) && ok;
    ok = ok && same(r, &ours, &hand) && look_at_entries(r, all);
    if (ok && timed) take_turns(r, all, &ours, &hand);
    shut(&ours);
    shut(&hand);
    if (ok && (double)r->steps[OURS] > r->slack * (double)r->steps[BY_HAND] + (double)few) {
        snprintf(r->why, sizeof r->why, "more steps than by hand");
        ok = false;
    }
    return ok;
}

/* ---- the file ----------------------------------------------------------------------- */

static void add_line(char *to, size_t size, const char *line)
{
    const size_t n = strlen(to);
    snprintf(to + n, size - n, "%s", line);
}

/* What comes before the next row, whose name goes to `next`. */
static bool read_row(FILE *f, row *r, char *next, size_t size)
{
    char line[500];
    while (fgets(line, sizeof line, f)) {
        if (!strncmp(line, "# ", 2)) {
            snprintf(next, size, "%.*s", (int)strcspn(line + 2, "\n"), line + 2);
            return true;
        }
        if (line[0] == '?')
            add_line(r->statement, sizeof r->statement, line + 2);
        else if (line[0] == '!')
            add_line(r->hand, sizeof r->hand, line + 2);
        else if (line[0] == '%')
            r->slack = atof(line + 1);
        else if (line[0] != '#')
            add_line(r->operands, sizeof r->operands, line);
    }
    return false;
}

static bool tell(row *r, const char *all, bool timed)
{
    const bool ok = look(r, all, timed);
    printf("%-40s %11" PRIu64 " %11" PRIu64, r->name, r->steps[OURS], r->steps[BY_HAND]);
    if (timed) printf(" %9.2f %9.2f %9.1f", r->ms[OURS], r->ms[BY_HAND], r->ms[WRITTEN]);
    printf("  %s%s%s\n", ok ? "holds" : "FAILS: ", r->why, r->slow ? ", slow" : "");
    fflush(stdout);
    return ok;
}

int main(int argc, char **argv)
{
    const bool timed = argc > 2 && !strcmp(argv[2], "--time");
    const char *only = argc > 3 ? argv[3] : "";
    FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
    char next[100] = "";
    row all = {0};
    int rows = 0, failed = 0;
    if (!f || !read_row(f, &all, next, sizeof next)) return 2;
    printf("%-40s %11s %11s%s\n", "statement", "steps", "by hand",
           timed ? " ms        by hand   as written" : "");
    for (bool more = true; more;) {
        row r = {.slack = slack};
        snprintf(r.name, sizeof r.name, "%s", next);
        more = read_row(f, &r, next, sizeof next);
        if (!strstr(r.name, only)) continue;
        rows++;
        failed += !tell(&r, all.operands, timed);
    }
    fclose(f);
    const bool thought_well = tell_errors() || *only; /* all rows are judged together */
    printf("%d statements, %d worse than they may be\n", rows, failed);
    return failed || !rows || !thought_well;
}
