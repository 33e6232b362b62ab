/* fuzz_api.c: random sequences of calls of the public API on one machine, with
 * the handles that earlier calls gave, in whatever order: tensors of any format
 * bound to programs that want another, results read before a run, programs
 * freed between, sessions that are given and asked for tensors, interrupts,
 * limits, allocations that fail now and then.
 *
 *     fuzz_api [SECONDS [SEED]] [--seconds N] [--seed N]
 *
 * Every call returns a status that has a name, and a message when it failed. Every
 * result is checked afresh, converted, printed and read back, and another tier must
 * make the same of the same operands.
 * Handles are used as include/stcvm.h allows: a tensor that a program has bound
 * lives until the program is freed.
 */
#include "fuzzing.h"
#include "../src/api/api.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TENSORS = 12, PROGRAMS = 4, CALLS = 60 };

typedef struct world {
    gen *g;
    stc_machine *m;
    stc_session *s;
    stc_tensor *t[TENSORS];
    bool bound[TENSORS];
    stc_program *p[PROGRAMS];
    int tensors, programs;
    int64_t held, cap;
    uint64_t allocations, fail_at; /* 0: none fails */
    uint64_t calls, refused;
    int tier;
    const char *wrong;
} world;

static void *failing(void *context, void *block, size_t old, size_t size)
{
    world *w = context;
    if (size > old && w->fail_at && ++w->allocations == w->fail_at) return NULL;
    return fuzzing_alloc(&w->held, block, old, size);
}

static bool said(world *w, stc_status st)
{
    w->calls++;
    if (st == STC_OK) return true;
    w->refused++;
    if (stc_error(w->m)->status != st) w->wrong = "the error isn't the status returned";
    if (!stc_error(w->m)->message[0]) w->wrong = "a refusal without a message";
    if (!stc_status_name(st)) w->wrong = "a status without a name";
    return false;
}

static stc_tensor *some_tensor(world *w)
{
    return w->tensors ? w->t[gen_below(w->g, w->tensors)] : NULL;
}

static stc_program *some_program(world *w)
{
    return w->programs ? w->p[gen_below(w->g, w->programs)] : NULL;
}

static void add_tensor(world *w, stc_tensor *t)
{
    if (!t) return;
    if (w->tensors == TENSORS)
        stc_tensor_free(t);
    else
        w->t[w->tensors] = t, w->bound[w->tensors++] = false;
}

/* ---- calls -------------------------------------------------------------------- */

static const char *const formats[] = {"dense",
                                      "csr",
                                      "csc",
                                      "coo",
                                      "dcsr",
                                      "svec",
                                      "bcsr(2,3)",
                                      "rle",
                                      "dia",
                                      "nonsense",
                                      "csf",
                                      "hash",
                                      "ell",
                                      "lz77",
                                      "(i,j) -> (j : dense, i : hashed)",
                                      "(i,j) -> (i : dense, j : hashed(3))"};
enum { FORMATS = sizeof formats / sizeof *formats };

static const char *any_format(world *w)
{
    return formats[gen_below(w->g, gen_chance(w->g, 80) ? 2 : FORMATS)];
}

static void make_tensor(world *w)
{
    int64_t shape[4], coord[4 * 8];
    double vals[16] = {0};
    const int order = gen_chance(w->g, 60) ? 2 : gen_below(w->g, 4);
    int64_t n = gen_below(w->g, 9);
    for (int k = 0; k < order; k++)
        shape[k] = gen_chance(w->g, 70) ? 4 : gen_below(w->g, 6) - (gen_chance(w->g, 3));
    for (int k = 0; k < order; k++)
        for (int64_t e = 0; e < n; e++)
            coord[k * n + e] = gen_below(w->g, 5) - gen_chance(w->g, 2);
    const stc_type type =
        gen_chance(w->g, 60) ? STC_F64 : (stc_type)gen_below(w->g, STC_C128 + 1);
    const stc_value fill = {.i = 0};
    stc_tensor *t = NULL;
    const stc_status st =
        gen_chance(w->g, 80)
            ? stc_tensor_from_coords(w->m, any_format(w), type, order, shape, NULL, n,
                                     coord, vals, &t)
            : stc_tensor_new(w->m, any_format(w), type, order, shape, &fill, &t);
    if (said(w, st)) add_tensor(w, t);
}

static const char *const texts[] = {
    "y(i) = a(i,j) * b(j)",
    "c(i,j) = a(i,j) + b(i,j)",
    "c(i,j) = a(i,k) * b(k,j)",
    "s = sum(i: sum(j: a(i,j)))",
    "c(i,j) = a(j,i) + 1",
    "a(i,j) += b(i,j)",
    "y(i) = max(j: a(i,j))",
    "c(i) = a(i) * pad b(i+1)",
    "c(i,j) = select(a(i,j) > 0, b(i,j), 0)",
    "c(i = a(i)",
    "x(i) = unknown(i, i)(j)",
    "c(i,j) = a(i,j) / b(i,j)",
};
enum { TEXTS = sizeof texts / sizeof *texts };

static void compile(world *w)
{
    const char *text = texts[gen_below(w->g, TEXTS)];
    stc_decl d[2];
    int n = 0;
    for (int k = 0; k < 2; k++)
        if (gen_chance(w->g, 60))
            d[n++] = (stc_decl){0,
                                k ? "b" : "a",
                                any_format(w),
                                gen_chance(w->g, 80) ? -1 : gen_below(w->g, 14) - 1,
                                NULL,
                                -1};
    stc_program *p = NULL;
    if (w->programs == PROGRAMS) return;
    if (said(w, stc_compile(w->m, text, d, n, &p))) w->p[w->programs++] = p;
}

static void bind(world *w)
{
    stc_program *p = some_program(w);
    if (!p || !w->tensors) return;
    const int k = gen_below(w->g, w->tensors);
    const char *names[] = {"a", "b", "c", "nobody"};
    const char *name = names[gen_below(w->g, 4)];
    const bool by_number = gen_chance(w->g, 50);
    if (said(w, by_number ? stc_bind_slot(p, stc_program_slot(p, name), w->t[k])
                          : stc_bind(p, name, w->t[k])))
        w->bound[k] = true;
}

static void bind_source(world *w)
{
    stc_program *p = some_program(w);
    if (!p) return;
    const stc_source made = {.kind = gen_chance(w->g, 50) ? STC_SOURCE_VALUE
                                                          : STC_SOURCE_RANDOM,
                             .value = {.f = 2},
                             .value_type = STC_F64,
                             .density = gen_chance(w->g, 90) ? 0.5 : -3,
                             .seed = gen_next(w->g),
                             .type = -1};
    said(w, stc_bind_source(p, gen_chance(w->g, 50) ? "a" : "b", &made));
}

static stc_tensor *bound_to(const stc_program *p, const char *name)
{
    const int slot = program_input(p->p, name);
    if (slot < 0) return NULL;
    return p->bind[slot].t ? p->bind[slot].t : p->bind[slot].made;
}

/* All results are sound, and another tier has the same. Limits and failing allocations
 * are for others. */
static void look(world *w, stc_program *p)
{
    const uint64_t fail_at = w->fail_at;
    const stc_tensor *r, *again;
    const char *name;
    stc_program *other = NULL;
    void *bytes = NULL;
    size_t size;
    bool result;
    w->fail_at = 0;
    fuzzing_tier(w->m, gen_below(w->g, TIERS));
    if (stc_program_encode(p, &bytes, &size) == STC_OK)
        if (stc_program_decode(w->m, bytes, size, &other) != STC_OK &&
            stc_error(w->m)->status != STC_ERR_MEMORY)
            w->wrong = "what was encoded isn't decoded";
    bool all = other != NULL, single = false;
    double scale = 0;
    for (int k = 0; all && (name = stc_program_name(p, k, &result)); k++) {
        stc_tensor *bound = result ? NULL : bound_to(p, name);
        if (bound) all = stc_bind(other, name, bound) == STC_OK;
        if (bound) single |= fuzzing_is_single(stc_tensor_type(bound));
        if (bound) scale = fmax(scale, fuzzing_largest(bound));
        if (!result && !bound) all = false;
    }
    all = all && stc_run(other) == STC_OK;
    for (int k = 0; !w->wrong && (name = stc_program_name(p, k, &result)); k++) {
        if (!result || stc_result(p, name, &r) != STC_OK) continue;
        w->wrong = fuzzing_unsound(w->g, r);
        if (!w->wrong && all && stc_result(other, name, &again) == STC_OK)
            w->wrong = fuzzing_differ(r, again, single, scale);
        if (w->wrong)
            printf("fuzz_api: in %s of\n%s\n", name, p->p->source ? p->p->source : "");
    }
    stc_program_free(other);
    stc_text_free(w->m, bytes);
    fuzzing_tier(w->m, w->tier);
    w->fail_at = fail_at;
}

static void run(world *w)
{
    stc_program *p = some_program(w);
    if (!p) return;
    if (gen_chance(w->g, 5)) stc_interrupt(w->m);
    if (said(w, stc_run(p))) look(w, p);
}

/* A run whose result goes to the host's memory, behind which nothing is written. */
static void lend(world *w)
{
    enum { VALUES = 4096, NUMBERS = 200 };
    static const char *const names[] = {"y", "c", "s", "a"};
    static _Alignas(16) unsigned char values[VALUES + 16];
    static int64_t at[2][NUMBERS + 1];
    stc_program *p = some_program(w);
    const char *name = names[gen_below(w->g, 4)];
    const int depth = gen_below(w->g, 3), width = gen_chance(w->g, 50) ? 4 : 8;
    const bool fits = gen_chance(w->g, 80);
    stc_decl d = {.size = sizeof d};
    if (!p || stc_program_decl(p, name, &d) != STC_OK) return;
    const int64_t room = fits ? VALUES / (int64_t)stc_type_size((stc_type)d.type) : 3;
    memset(values, 0xa5, sizeof values);
    memset(at, 0xa5, sizeof at);
    bool any = said(w, stc_lend_result(p, name, values, room));
    for (int r = 0; r < 2; r++)
        any |= said(w, stc_lend_result_array(
                           p, name, depth, r ? STC_CRD : STC_POS,
                           (stc_array){at[r], fits ? NUMBERS * 8 / width : 2, width, 0}));
    if (any && said(w, stc_run(p))) look(w, p);
    for (int k = 0; k < 16; k++)
        if (values[VALUES + k] != 0xa5) w->wrong = "values behind the room";
    for (int r = 0; r < 2; r++)
        if (at[r][NUMBERS] != (int64_t)0xa5a5a5a5a5a5a5a5) w->wrong = "numbers behind it";
    for (int r = 0; r < 2; r++)
        stc_lend_result_array(p, name, depth, r ? STC_CRD : STC_POS,
                              (stc_array){NULL, 0, 4, 0});
    stc_lend_result(p, name, NULL, 0);
}

static void result(world *w)
{
    stc_program *p = some_program(w);
    const char *names[] = {"y", "c", "s", "a"};
    const char *name = names[gen_below(w->g, 4)];
    const stc_tensor *r;
    stc_tensor *taken = NULL;
    if (!p) return;
    if (gen_chance(w->g, 50)) {
        if (said(w, stc_take(p, name, &taken))) add_tensor(w, taken);
    } else if (said(w, stc_result(p, name, &r))) {
        if (stc_tensor_stored(r) < 0 || stc_tensor_levels(r) < 0)
            w->wrong = "a size below 0";
    }
}

static int stop_soon(void *context, const int64_t *coords, stc_value v)
{
    (void)coords, (void)v;
    return ++*(int *)context > 3;
}

static void read_tensor(world *w)
{
    stc_tensor *t = some_tensor(w), *copy = NULL;
    double dense[6 * 6 * 6 * 2];
    stc_value v;
    int64_t at[4] = {0, 1, gen_below(w->g, 9) - 1, 0};
    int seen = 0;
    if (!t) return;
    switch (gen_below(w->g, 7)) {
    case 6: {
        int64_t lo[STC_MAX_ORDER], hi[STC_MAX_ORDER];
        for (int k = 0; k < stc_tensor_order(t); k++) {
            lo[k] = gen_below(w->g, 4);
            hi[k] = gen_chance(w->g, 80) ? stc_tensor_shape(t)[k] : gen_below(w->g, 9) - 1;
        }
        if (said(w, stc_tensor_part(t, lo, hi, &copy))) {
            w->wrong = fuzzing_unsound(w->g, copy);
            stc_tensor_free(copy);
        }
        break;
    }
    case 0:
        said(w, stc_tensor_check(t));
        break;
    case 1:
        said(w, stc_tensor_get(t, at, &v));
        break;
    case 2:
        said(w, stc_tensor_visit(t, stop_soon, &seen));
        break;
    case 3:
        said(w, stc_tensor_to_dense(t, dense));
        break;
    case 4:
        if (said(w, stc_tensor_convert(t, any_format(w), gen_below(w->g, 14) - 1, &copy)))
            add_tensor(w, copy);
        break;
    default:
        if (stc_tensor_order(t) > 0 && stc_tensor_shape(t)[0] < 0)
            w->wrong = "a shape below 0";
        /* the text is made when it is asked for: where memory is short it is "" */
        if (!stc_tensor_format(t)[0] && !w->fail_at && w->held < w->cap / 2)
            w->wrong = "a tensor without a format";
    }
}

static void texts_of(world *w)
{
    static const char *const stages[] = {"ast", "bound", "plan", "lattice", "code", "none"};
    stc_program *p = some_program(w), *again = NULL;
    char *text = NULL;
    void *bytes = NULL;
    size_t size = 0;
    if (!p) return;
    if (gen_chance(w->g, 40)) {
        if (said(w, stc_program_explain(p, stages[gen_below(w->g, 6)], &text)))
            stc_text_free(w->m, text);
    } else if (gen_chance(w->g, 50)) {
        if (!said(w, stc_program_dump(p, &text))) return;
        if (said(w, stc_program_assemble(w->m, text, "dump", &again)))
            stc_program_free(again);
        stc_text_free(w->m, text);
    } else if (said(w, stc_program_encode(p, &bytes, &size))) {
        if (w->programs < PROGRAMS &&
            said(w, stc_program_decode(w->m, bytes, size, &again)))
            w->p[w->programs++] = again;
        stc_text_free(w->m, bytes);
    }
}

static void session(world *w)
{
    const stc_tensor *got;
    stc_tensor *copy = NULL, *t = some_tensor(w);
    const char *names[] = {"a", "b", "y", "c"};
    const char *name = names[gen_below(w->g, 4)];
    if (!w->s && !said(w, stc_session_open(w->m, &w->s))) {
        w->s = NULL;
        return;
    }
    switch (gen_below(w->g, 4)) {
    case 0:
        if (t && said(w, stc_tensor_convert(t, NULL, -1, &copy)) &&
            !said(w, stc_session_put(w->s, name, copy)))
            stc_tensor_free(copy);
        break;
    case 1:
        said(w, stc_session_get(w->s, name, &got));
        break;
    default:
        said(w, stc_session_exec(w->s, texts[gen_below(w->g, TEXTS)], "api"));
    }
    if (gen_chance(w->g, 5)) {
        stc_session_close(w->s);
        w->s = NULL;
    }
}

static void forget(world *w)
{
    if (w->programs && gen_chance(w->g, 50)) {
        const int k = gen_below(w->g, w->programs);
        stc_program_free(w->p[k]);
        w->p[k] = w->p[--w->programs];
        if (w->programs == 0) memset(w->bound, 0, sizeof w->bound);
    } else if (w->tensors) {
        const int k = gen_below(w->g, w->tensors);
        if (w->bound[k]) return;
        stc_tensor_free(w->t[k]);
        w->t[k] = w->t[--w->tensors];
        w->bound[k] = w->bound[w->tensors];
    }
}

static void (*const calls[])(world *) = {make_tensor, make_tensor, compile, bind,  bind,
                                         bind_source, run,         run,     lend,  result,
                                         read_tensor, texts_of,    session, forget};
enum { KINDS_OF_CALL = sizeof calls / sizeof *calls };

static void one(gen *g, world *sum)
{
    world w = {.g = g};
    const stc_config config = {.alloc = failing,
                               .alloc_context = &w,
                               .max_memory = gen_chance(g, 20) ? 1 << 18 : 1 << 24,
                               .max_steps = gen_chance(g, 20) ? 50 : 20000};
    w.cap = (int64_t)config.max_memory;
    if (gen_chance(g, 30)) w.fail_at = 1 + gen_next(g) % 2000;
    if (stc_open(&config, &w.m) != STC_OK) return;
    fuzzing_tier(w.m, w.tier = gen_below(g, TIERS));
    for (int k = 0; k < CALLS && !w.wrong; k++)
        calls[gen_below(g, KINDS_OF_CALL)](&w);
    while (w.programs)
        stc_program_free(w.p[--w.programs]);
    while (w.tensors)
        stc_tensor_free(w.t[--w.tensors]);
    if (w.s && gen_chance(g, 50)) stc_session_close(w.s);
    stc_close(w.m);
    if (w.held && !w.wrong) w.wrong = "bytes are still held";
    sum->calls += w.calls;
    sum->refused += w.refused;
    sum->wrong = w.wrong;
}

int main(int argc, char **argv)
{
    fuzzing f;
    world sum = {0};
    uint64_t sequences = 0, seed = 0;
    fuzzing_begin(&f, argc, argv);
    while (fuzzing_on(&f) && !sum.wrong) {
        seed = f.g.state;
        one(&f.g, &sum);
        sequences++;
    }
    printf("fuzz_api: seed %" PRIu64 ": %" PRIu64 " sequences, %" PRIu64 " calls, %" PRIu64
           " refused\n",
           f.seed, sequences, sum.calls, sum.refused);
    if (sum.wrong)
        printf("fuzz_api: %s: --seed %" PRIu64 " has it first\n", sum.wrong, seed);
    return sum.wrong != NULL;
}
