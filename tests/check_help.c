/* check_help.c: the helpers of check.h. */
#include "check.h"
#include "../src/api/api.h"
#include "../src/lang/lang.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- memory that is counted, and fails when asked --------------------------------- */

enum { DIRTY = 1 << 18 };

void *heap_alloc(void *context, void *block, size_t old, size_t size)
{
    heap *h = context;
    if (size == 0) {
        free(block);
        h->held -= (int64_t)old;
        return NULL;
    }
    h->calls++;
    bool fails =
        h->fail_at && (h->lasting ? h->calls >= h->fail_at : h->calls == h->fail_at);
    if (fails) {
        h->failed = true;
        return NULL;
    }
    /* what no machine has; sanitizers would end the process */
    void *p = (uint64_t)size >> 38 ? NULL : realloc(block, size);
    if (p && size > old) { /* as memory is that was used before; large blocks in part */
        const size_t more = size - old;
        memset((char *)p + old, 0xa5, more < DIRTY ? more : DIRTY);
    }
    if (p) h->held += (int64_t)size - (int64_t)old;
    return p;
}

ctx *ctx_open(heap *h)
{
    static const ctx blank;
    ctx *cx = malloc(sizeof *cx);
    ck_assert_ptr_nonnull(cx);
    memcpy(cx, &blank, sizeof *cx);
    *h = (heap){.held = 0};
    cx->alloc = heap_alloc;
    cx->alloc_context = h;
    return cx;
}

const char *scratch(char path[SCRATCH_PATH], const char *name)
{
    snprintf(path, SCRATCH_PATH, "/tmp/stc-check-%ld-%s", (long)getpid(), name);
    return path;
}

void ctx_close(ctx *cx, heap *h)
{
    ck_assert_int_eq(h->held, 0);
    free(cx);
}

void each_shortage(ctx *cx, heap *h, stc_status (*job)(ctx *cx, void *what), void *what)
{
    const int64_t held = h->held;
    h->lasting = true;
    for (int64_t at = 1;; at++) {
        h->fail_at = h->calls + at;
        h->failed = false;
        diag_clear(cx);
        const stc_status st = job(cx, what);
        ck_assert_msg(st == STC_OK || (h->failed && st == STC_ERR_MEMORY),
                      "allocation %lld: %s (%s)", (long long)at, stc_status_name(st),
                      cx->diag.message);
        ck_assert_msg(h->held == held, "allocation %lld: %lld bytes are held",
                      (long long)at, (long long)(h->held - held));
        if (!h->failed) break; /* it had all it wanted */
    }
    h->fail_at = 0;
}

tensor *tensor_of(ctx *cx, const char *name, stc_type type, int order, const int64_t *shape,
                  int64_t n, const int64_t *coords)
{
    format f;
    tensor *t;
    entries e;
    const value zero = {0};
    ck_ctx(cx, format_parse(cx, NULL, name, order, &f));
    ck_ctx(cx, tensor_new(cx, &f, type, shape, zero, &t));
    entries_init(&e, cx, order, type);
    for (int64_t k = 0; k < n; k++) {
        const value one = type_convert(type, STC_I64, (value){.i64 = k + 1});
        ck_ctx(cx, entries_push(&e, coords + k * order, one));
    }
    ck_ctx(cx, tensor_pack(t, &e));
    entries_free(&e);
    ck_ctx(cx, tensor_check(t));
    return t;
}

stc_machine *machine_open(heap *h, bool no_super)
{
    *h = (heap){.held = 0};
    const stc_config config = {
        .alloc = heap_alloc, .alloc_context = h, .no_super = no_super};
    stc_machine *m = NULL;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    return m;
}

void machine_share(stc_machine *m, int threads)
{
    ck_assert_int_eq(stc_set_threads(m, threads), STC_OK);
    m->cx.grain = 1;
}

void machine_profile_runs(stc_machine *m)
{
    m->cx.profile = true;
}

bool profile_has_row(const char *profile, const char *row)
{
    char line[100];
    snprintf(line, sizeof line, "superinstruction %s:", row);
    return strstr(profile, line) != NULL;
}

void machine_plain(stc_machine *m)
{
    m->cx.plain = true;
}

void machine_shut(stc_machine *m, heap *h)
{
    stc_close(m);
    ck_assert_msg(h->held == 0, "%lld bytes are still held", (long long)h->held);
}

/* ---- comparing ----------------------------------------------------------------------- */

double element(stc_type t, const void *base, int64_t k)
{
    const value v = type_load(t, base, k);
    return class_convert(CLASS_F64, type_class(t), v).f64;
}

static void compare(const stc_tensor *t, const double *want, int64_t n, const char *script)
{
    int64_t count = 1;
    for (int k = 0; k < stc_tensor_order(t); k++)
        count *= stc_tensor_shape(t)[k];
    ck_assert_msg(count == n, "%s\n%lld elements, expected %lld", script, (long long)count,
                  (long long)n);
    void *dense = malloc((size_t)(n + 1) * 16);
    ck_assert_int_eq(stc_tensor_to_dense(t, dense), STC_OK);
    for (int64_t k = 0; k < n; k++) {
        const double got = element(stc_tensor_type(t), dense, k);
        const bool same = got == want[k] || (isnan(got) && isnan(want[k])) ||
                          fabs(got - want[k]) <= 1e-12 * fabs(want[k]);
        ck_assert_msg(same, "%s\nelement %lld is %.17g, expected %.17g", script,
                      (long long)k, got, want[k]);
    }
    free(dense);
}

double session_number(stc_machine *m, stc_session *s, const char *name)
{
    const stc_tensor *t;
    stc_value v;
    ck_ok(m, stc_session_get(s, name, &t));
    ck_assert_int_eq(stc_tensor_order(t), 0);
    ck_ok(m, stc_tensor_get(t, NULL, &v));
    return stc_tensor_type(t) >= STC_F32 ? v.f : (double)v.i;
}

void expect_dense(const char *script, const char *name, const double *want, int64_t n)
{
    for (int way = 0; way < 3; way++) {
        heap h;
        stc_machine *m = machine_open(&h, way == 1);
        if (way == 2) machine_share(m, 2);
        stc_session *s;
        const stc_tensor *t;
        ck_ok(m, stc_session_open(m, &s));
        const stc_status st = stc_session_exec(s, script, "test");
        ck_assert_msg(st == STC_OK, "%s\n%s", script, stc_error(m)->message);
        ck_ok(m, stc_session_get(s, name, &t));
        ck_ok(m, stc_tensor_check((stc_tensor *)t));
        compare(t, want, n, script);
        stc_session_close(s);
        machine_shut(m, &h);
    }
}

bool has_words(const char *text, const char *words)
{
    while (*words) {
        char one[200];
        const size_t len = strcspn(words, "|");
        snprintf(one, sizeof one, "%.*s", (int)len, words);
        if (!strstr(text, one)) return false;
        words += len + (words[len] == '|');
    }
    return true;
}

void expect_error(const char *script, stc_status status, const char *words)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    ck_ok(m, stc_session_open(m, &s));
    const stc_status st = stc_session_exec(s, script, "test");
    const stc_error_info *e = stc_error(m);
    ck_assert_msg(st == status, "%s\nstatus %s (%s), expected %s", script,
                  stc_status_name(st), e->message, stc_status_name(status));
    ck_assert_int_eq(e->status, status);
    ck_assert_msg(has_words(e->message, words) || has_words(e->file, words),
                  "%s\nthe message `%s` lacks one of `%s`", script, e->message, words);
    stc_session_close(s);
    machine_shut(m, &h);
}

const double sample_dense[20] = {0, 1, 0, 0, 2, 0, 0, 0, 0,  0,
                                 3, 0, 4, 0, 0, 0, 0, 0, -5, 6};

stc_tensor *sample_matrix(stc_machine *m, const char *name)
{
    static const int64_t shape[] = {4, 5};
    stc_tensor *t = NULL;
    ck_ok(m, stc_tensor_from_dense(m, name, STC_F64, 2, shape, NULL, sample_dense, &t));
    return t;
}

/* ---- files -------------------------------------------------------------------------- */

const char *data_dir(void)
{
    const char *dir = getenv("STC_DATA");
    if (dir && *dir) return dir;
    if (access("../shared/data", R_OK) == 0) return "../shared/data";
    static char own[300];
    snprintf(own, sizeof own, "%s/data", tests_dir());
    return own;
}

bool data_has(const char *file)
{
    char path[500];
    snprintf(path, sizeof path, "%s/%s", data_dir(), file);
    if (access(path, R_OK) == 0) return true;
    printf("%s: skipped, it isn't in %s\n", file, data_dir());
    fflush(stdout);
    return false;
}

const char *tests_dir(void)
{
    const char *dir = getenv("STC_TESTS");
    return dir && *dir ? dir : "tests";
}

char *read_text(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    size_t len = 0, cap = 1 << 16;
    char *text = malloc(cap);
    while (text) {
        len += fread(text + len, 1, cap - len - 1, f);
        if (len + 1 < cap) break;
        char *more = realloc(text, cap *= 2);
        if (!more) free(text);
        text = more;
    }
    fclose(f);
    if (text) text[len] = 0;
    if (size) *size = len;
    return text;
}

char *read_parts(const char *name)
{
    char path[400];
    size_t size;
    snprintf(path, sizeof path, "%s/%s", tests_dir(), name);
    char *text = read_text(path, &size);
    ck_assert_msg(text, "%s can't be read", path);
    return text;
}

char *next_part(char **at)
{
    char *part = *at + strspn(*at, "\n"), *end = strstr(part, "\n\n");
    if (!*part) return NULL;
    *at = end ? end + 2 : part + strlen(part);
    if (end) *end = 0;
    return part;
}

/* ---- statements ------------------------------------------------------------------- */

/* y's elements, and how many are stored; whether its loops ran by what the note says. */
static double *run_statement(const tiers_case *s, bool no_super, int threads, int64_t *n,
                             bool *noted)
{
    heap h;
    stc_machine *m = machine_open(&h, no_super);
    stc_session *in;
    stc_program *p;
    stc_tensor *dense;
    const stc_tensor *y;
    char *code;
    if (threads > 1) machine_share(m, threads);
    if (!threads) machine_plain(m);
    ck_ok(m, stc_session_open(m, &in));
    stc_status st = stc_session_exec(in, s->declare, "declarations");
    ck_assert_msg(st == STC_OK, "%s\n%s", s->declare, stc_error(m)->message);
    st = stc_session_compile(in, s->text, &p);
    ck_assert_msg(st == STC_OK, "%s\n%s\n%s", s->declare, s->text, stc_error(m)->message);
    stc_session_repeat(in, 2); /* the same program, which finds what the first run left */
    st = stc_session_exec(in, s->text, "statement");
    ck_assert_msg(st == STC_OK, "%s\n%s\n%s", s->declare, s->text, stc_error(m)->message);
    ck_ok(m, stc_session_get(in, "y", &y));
    ck_ok(m, stc_tensor_convert(y, "dense", STC_C128, &dense));
    const void *values;
    int64_t stored;
    ck_ok(m, stc_tensor_values(dense, &values, n));
    *n *= 2; /* real and imaginary parts */
    double *out = malloc((size_t)(*n + 1) * sizeof *out);
    ck_assert_ptr_nonnull(out);
    if (*n) memcpy(out, values, (size_t)*n * sizeof *out);
    ck_ok(m, stc_tensor_values(y, &values, &stored));
    out[*n] = (double)stored;
    ck_ok(m, stc_program_explain(p, "code", &code));
    *noted = strstr(code, s->note ? s->note : "affine nest") != NULL;
    stc_text_free(m, code);
    stc_tensor_free(dense);
    stc_program_free(p);
    stc_session_close(in);
    machine_shut(m, &h);
    return out;
}

/* Sums may be in another order. */
static bool near_enough(const tiers_case *s, double got, double want)
{
    const double error = strstr(s->declare, "f32") ? 1e-5 : 1e-12;
    return got == want || fabs(got - want) <= error * (1 + fabs(want));
}

/* Each assertion takes Check a note in a file: elements are compared before. */
void statement_agrees(const tiers_case *s)
{
    int64_t n, k;
    bool noted;
    double *want = run_statement(s, true, 1, &n, &noted);
    for (int threads = 0; threads < 3; threads++) { /* 0: one, without wide vectors */
        double *got = run_statement(s, false, threads, &k, &noted);
        ck_assert_int_eq(k, n);
        for (k = 0; k < n && near_enough(s, got[k], want[k]);)
            k++;
        ck_assert_msg(near_enough(s, got[k], want[k]), "%s\n%s\nplace %lld is %g, not %g",
                      s->declare, s->text, (long long)k, got[k], want[k]);
        ck_assert_msg(noted == (s->note != NULL), "%s\n%s\n%s", s->declare, s->text,
                      s->note ? "isn't run so" : "is an affine nest");
        free(got);
    }
    free(want);
}

/* Every allocation of a run in turn fails: the run is right nevertheless, or says so. */
void statement_starves(const tiers_case *s)
{
    for (int64_t k = 1, failed = 1; failed; k++) {
        heap h;
        stc_machine *m = machine_open(&h, false);
        stc_session *in;
        ck_ok(m, stc_session_open(m, &in));
        ck_ok(m, stc_session_exec(in, s->declare, "declarations"));
        h.failed = false;
        h.lasting = true;
        h.fail_at = h.calls + k;
        const stc_status st = stc_session_exec(in, s->text, "statement");
        ck_assert_msg(st == STC_OK || st == STC_ERR_MEMORY, "%s: %s", s->text,
                      stc_error(m)->message);
        failed = h.failed;
        h.fail_at = 0;
        ck_ok(m, stc_session_exec(in, s->text, "statement"));
        stc_session_close(in);
        machine_shut(m, &h);
    }
}

void expect_printed(bool echo, const char *script, stc_status status, const char *want)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    ck_ok(m, stc_session_open(m, &s));
    stc_session_output(s, out);
    stc_session_echo(s, echo, 0);
    const stc_status st = stc_session_exec(s, script, "test");
    if (st) fprintf(out, "%d: %s", stc_error(m)->line, stc_error(m)->message);
    fclose(out);
    ck_assert_msg(st == status, "%s: %s\n%s", script, stc_status_name(st), text);
    ck_assert_msg(!strcmp(text, want), "%s\nprinted:\n%s\nexpected:\n%s", script, text,
                  want);
    free(text);
    stc_session_close(s);
    machine_shut(m, &h);
}

void expect_within(const char *script, uint64_t steps)
{
    const stc_config config = {.max_steps = steps};
    stc_machine *m;
    stc_session *s;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, script, "test"));
    stc_session_close(s);
    stc_close(m);
}

void expect_plan(const char *declare, const char *text, const char *words)
{
    heap h;
    char *plan;
    stc_session *s;
    stc_program *p;
    stc_machine *m = machine_open(&h, false);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, declare, "test"));
    ck_ok(m, stc_session_compile(s, text, &p));
    ck_ok(m, stc_program_explain(p, "plan", &plan));
    ck_assert_msg(has_words(plan, words), "%s:\n%s", text, plan);
    stc_text_free(m, plan);
    stc_program_free(p);
    stc_session_close(s);
    machine_shut(m, &h);
}
