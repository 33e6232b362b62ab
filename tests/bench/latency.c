/* latency.c: what a user waits for before the first number: text to a
 * runnable program, a prepared program on a tiny problem, and the tool from
 * process start to its result; and of long texts, what a part of them takes.
 */
#include "bench.h"
#include <stdlib.h>
#include <string.h>

enum { COMPILES = 401, CALLS = 1000, BATCHES = 25, STARTS = 21, PLANS = 101 };

typedef struct statement {
    const char *name, *text;
    stc_decl decl[5];
    int ndecl;
} statement;

static const statement statements[] = {
    {"spmv",
     "y(i) = A(i,j) * x(j)",
     {{0, "A", "csr", STC_F64, NULL, -1},
      {0, "x", "dense", STC_F64, NULL, -1},
      {0, "y", "dense", STC_F64, NULL, -1}},
     3},
    {"add",
     "C(i,j) = A(i,j) + B(i,j)",
     {{0, "A", "csr", STC_F64, NULL, -1},
      {0, "B", "csr", STC_F64, NULL, -1},
      {0, "C", "csr", STC_F64, NULL, -1}},
     3},
    {"spgemm",
     "C(i,j) = A(i,k) * B(k,j)",
     {{0, "A", "csr", STC_F64, NULL, -1},
      {0, "B", "csr", STC_F64, NULL, -1},
      {0, "C", "csr", STC_F64, NULL, -1}},
     3},
    {"mttkrp",
     "M(i,j) = P(i,k,l) * C(k,j) * D(l,j)",
     {{0, "P", "csf", STC_F64, NULL, -1},
      {0, "C", "dense", STC_F64, NULL, -1},
      {0, "D", "dense", STC_F64, NULL, -1},
      {0, "M", "dense", STC_F64, NULL, -1}},
     4},
};

static const char compiling[] = "text to program", calling[] = "prepared, 10x10, again",
                  starting[] = "process start to result";

static bool wanted(const char *filter, const char *what)
{
    return !filter || strstr("latency", filter) || strstr(what, filter);
}

static void print(bool csv, const char *what, const char *name, double v, const char *unit)
{
    printf(csv ? "latency %s,%s,%.3f,%s\n" : "%-26s %-8s %10.2f %s\n", what, name, v, unit);
}

static bool failed(stc_machine *m, const char *name)
{
    printf("%s failed: %s\n", name, stc_error(m)->message);
    return false;
}

static bool time_compile(stc_machine *m, const statement *s, bool csv)
{
    double t[COMPILES];
    for (int i = 0; i < COMPILES; i++) {
        stc_program *p = NULL;
        double t0 = own_ns();
        if (stc_compile(m, s->text, s->decl, s->ndecl, &p)) return failed(m, s->name);
        t[i] = own_ns() - t0;
        stc_program_free(p);
    }
    print(csv, compiling, s->name, median(t, COMPILES) * 1e-3, "us");
    return true;
}

/* Long texts: the time of a part must not grow with how many there are. */
static const struct {
    const char *name, *first, *each, *last; /* each: made n times, with its number in it */
} texts[] = {
    {"a statement", "", "C%d(i,j) = A(i,k) * B(k,j)\n", ""},
    {"a term", "C(i,j) = A(i,j)", " + %d * B(i,j)", ""},
    {"a function", "", "fn f%d(a) = a + 1\n", "C(i,j) = f1(A(i,j)) + B(i,j)\n"},
};

static bool time_text(stc_machine *m, int k, int n, bool csv)
{
    enum { TURNS = 5, WIDEST = 48 };
    const size_t size = (size_t)n * WIDEST + 256;
    char *text = malloc(size), what[64];
    if (!text) return failed(m, texts[k].name);
    int at = snprintf(text, size, "%s", texts[k].first);
    for (int i = 0; i < n; i++)
        at += snprintf(text + at, size - (size_t)at, texts[k].each, i);
    snprintf(text + at, size - (size_t)at, "%s", texts[k].last);
    double t[TURNS];
    bool ok = true;
    for (int i = 0; ok && i < TURNS; i++) {
        stc_program *p = NULL;
        const double t0 = own_ns();
        ok = !stc_compile(m, text, statements[1].decl, 2, &p);
        t[i] = own_ns() - t0;
        stc_program_free(p);
    }
    free(text);
    if (!ok) return failed(m, texts[k].name);
    snprintf(what, sizeof what, "%s of %d", texts[k].name, n);
    print(csv, what, "", median(t, TURNS) * 1e-3 / n, "us");
    return true;
}

static bool time_texts(stc_machine *m, bool csv)
{
    static const int many[] = {5, 50, 500};
    bool ok = true;
    for (int k = 0; k < (int)(sizeof texts / sizeof *texts); k++)
        for (int n = 0; n < 3; n++)
            ok &= time_text(m, k, many[n], csv);
    return ok;
}

/* A 10×10 matrix with three entries a row, or its dense vector of ones. */
static stc_tensor *tiny(stc_machine *m, const stc_decl *d)
{
    int64_t shape[3] = {10, 10, 10}, coords[60];
    double values[30];
    stc_tensor *t = NULL;
    int order = strcmp(d->format, "csr") ? 1 : 2;
    for (int e = 0; e < 30; e++) {
        coords[e] = e / 3;
        coords[30 + e] = (e / 3 + e % 3 * 3) % 10;
        values[e] = 1 + e % 5;
    }
    stc_status st =
        order == 1 ? stc_tensor_from_dense(m, "dense", STC_F64, 1, shape, NULL, values, &t)
                   : stc_tensor_from_coords(m, "csr", STC_F64, 2, shape, NULL, 30, coords,
                                            values, &t);
    return st ? NULL : t;
}

static bool time_calls(stc_machine *m, const statement *s, bool csv)
{
    stc_program *p = NULL;
    stc_tensor *t[5] = {NULL};
    bool ok = !stc_compile(m, s->text, s->decl, s->ndecl, &p);
    for (int i = 0; ok && i < s->ndecl - 1; i++) {
        t[i] = tiny(m, &s->decl[i]);
        ok = t[i] && !stc_bind(p, s->decl[i].name, t[i]);
    }
    ok = ok && !stc_run(p);
    double took[BATCHES];
    for (int b = 0; ok && b < BATCHES; b++) {
        const double t0 = own_ns();
        for (int i = 0; ok && i < CALLS; i++)
            ok = !stc_run(p);
        took[b] = (own_ns() - t0) / CALLS;
    }
    if (ok)
        print(csv, calling, s->name, median(took, BATCHES), "ns");
    else
        failed(m, s->name);
    stc_program_free(p);
    for (int i = 0; i < 5; i++)
        stc_tensor_free(t[i]);
    return ok;
}

/* Planning for operands that are there: a chain, and one that comes back to where it began.
 * Each time the text is new to the session; of a thousand operands most are vectors at a
 * chain's indices, of which there can't be so many. */
static const struct {
    int operands, times;
    bool closed;
} plans[] = {
    {2, PLANS, false}, {3, PLANS, false}, {3, PLANS, true}, {6, PLANS, false},
    {6, PLANS, true},  {100, 11, false},  {1000, 3, false},
};

static const char planning[] = "planned with data",
                  planned[] =
                      "tensor A csr f64 [1000,1000] = random(density=0.004, seed=7)\n"
                      "tensor x dense f64 [1000] = 0.5\n";

/* A(i0,i1) * A(i1,i2) * …, of 1,000 with … * x(i0) * x(i1) * … */
static void write_chain(char *text, size_t size, int operands, bool closed)
{
    const int links = operands > 300 ? 300 : operands;
    int n = snprintf(text, size, "y = ");
    for (int k = 0; k < links; k++)
        n += snprintf(text + n, size - (size_t)n, "%sA(i%d,i%d)", k ? " * " : "", k,
                      closed && k == links - 1 ? 0 : k + 1);
    for (int k = links; k < operands; k++)
        n += snprintf(text + n, size - (size_t)n, " * x(i%d)", k % links);
}

static bool time_plan(stc_machine *m, int row, bool csv)
{
    char text[24 * 1024], name[32];
    stc_session *s;
    double t[PLANS];
    snprintf(name, sizeof name, "%d%s", plans[row].operands,
             plans[row].closed ? ", closed" : "");
    if (stc_session_open(m, &s)) return failed(m, planning);
    write_chain(text, sizeof text, plans[row].operands, plans[row].closed);
    const size_t length = strlen(text);
    bool ok = !stc_session_exec(s, planned, "bench");
    for (int i = 0; ok && i < plans[row].times; i++) {
        stc_times times = {.size = sizeof times};
        snprintf(text + length, sizeof text - length, " # %d", i); /* a new text */
        ok = !stc_session_exec(s, text, "bench");
        stc_session_times(s, &times);
        t[i] = times.plan;
    }
    if (ok)
        print(csv, planning, name, median(t, plans[row].times), "us");
    else
        failed(m, planning);
    stc_session_close(s);
    return ok;
}

static bool time_plans(stc_machine *m, bool csv)
{
    bool ok = true;
    for (int k = 0; k < (int)(sizeof plans / sizeof *plans); k++)
        ok &= time_plan(m, k, csv);
    return ok;
}

static bool time_start(const char *tool, bool csv)
{
    char command[1024];
    double t[STARTS];
    snprintf(command, sizeof command, "%s eval 'a = 1 + 2' >/dev/null 2>&1", tool);
    for (int i = 0; i < STARTS; i++) {
        double t0 = now_ns();
        if (system(command) != 0) {
            printf("process start: %s can't be run\n", tool);
            return false;
        }
        t[i] = now_ns() - t0;
    }
    double shell[STARTS];
    for (int i = 0; i < STARTS; i++) {
        double t0 = now_ns();
        if (system("exit 0") != 0) return false;
        shell[i] = now_ns() - t0;
    }
    print(csv, starting, "eval", (median(t, STARTS) - median(shell, STARTS)) * 1e-6, "ms");
    return true;
}

int bench_latency(const char *filter, bool csv, const char *tool)
{
    stc_machine *m;
    bool ok = true;
    if (stc_open(NULL, &m)) return 1;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        const statement *s = &statements[i];
        if (wanted(filter, compiling)) ok &= time_compile(m, s, csv);
        if (wanted(filter, calling) && strcmp(s->name, "mttkrp"))
            ok &= time_calls(m, s, csv);
    }
    if (wanted(filter, planning)) ok &= time_plans(m, csv);
    if (wanted(filter, "texts")) ok &= time_texts(m, csv);
    if (tool && wanted(filter, starting)) ok &= time_start(tool, csv);
    stc_close(m);
    return !ok;
}
