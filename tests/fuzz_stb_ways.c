/* fuzz_stb_ways.c: one damaged program on every tier: results are well-formed, go on into
 * other formats, and are the same whatever ran them.
 */
#include "../src/api/api.h"
#include "fuzz_stb.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last way has operands of so many entries that what has notation is planned anew. Its
 * text may be damaged, too: what comes of it isn't compared. */
enum { WAYS = 5, PLANNED = 4, RESULTS = 8, ELEMENTS = 4096, FEW = 12, MANY = 150 };
static const char *const way_name[WAYS] = {
    "base operations", "the tiers", "tiers without AVX2", "two threads", "planned anew"};

typedef struct made {
    int64_t n; /* elements; 0: not looked at */
    stc_type type;
    void *dense;
} made;

typedef struct way {
    stc_status status;
    char message[768];
    made result[RESULTS];
} way;

typedef struct court {
    const mutant *x;
    uint64_t seed;
    tally *t;
    char *dump; /* of what was accepted */
} court;

static void complain(court *c, const char *what, const char *more)
{
    c->t->failed++;
    printf("fuzz_stb: %s: %s\n", what, more);
    if (c->dump) printf("%s\n", c->dump);
    c->dump = NULL; /* told once */
}

/* ---- operands ------------------------------------------------------------------- */

/* A tensor of what the program says about the name, with some small whole numbers. */
/* Most have extents of one size, so that they agree. */
static stc_tensor *operand(gen *g, stc_machine *m, const stc_decl *d, int64_t same,
                           bool many)
{
    int64_t shape[STC_MAX_ORDER], coord[STC_MAX_ORDER * MANY];
    int64_t n = many ? MANY : gen_below(g, FEW);
    if (d->order < 0 || d->order > STC_MAX_ORDER || d->type < 0) return NULL;
    for (int k = 0; k < d->order; k++) {
        shape[k] = gen_chance(g, 95) ? same : gen_below(g, 6);
        if (shape[k] == 0) n = 0;
    }
    for (int64_t e = 0; e < n; e++)
        for (int k = 0; k < d->order; k++)
            coord[e * d->order + k] = gen_below(g, (int)shape[k]);
    double vals[2 * MANY] = {0};
    for (int64_t e = 0; e < n; e++) {
        const value v = {.i64 = 1 + gen_below(g, 4)};
        type_store((stc_type)d->type, vals, e,
                   class_convert(type_class((stc_type)d->type), CLASS_I64, v));
    }
    stc_tensor *t = NULL;
    if (stc_tensor_from_coords(m, d->format, (stc_type)d->type, d->order, shape, d->fill,
                               d->order ? n : 0, coord, vals, &t) != STC_OK)
        return NULL;
    return t;
}

static int bind_all(gen *g, stc_machine *m, stc_program *p, int64_t same, bool many,
                    stc_tensor *held[64])
{
    const char *name;
    bool result;
    int n = 0;
    for (int k = 0; n < 64 && (name = stc_program_name(p, k, &result)); k++) {
        stc_decl d = {.size = sizeof d};
        if (result || stc_program_decl(p, name, &d) != STC_OK) continue;
        if (!(held[n] = operand(g, m, &d, same, many))) continue;
        (void)stc_bind(p, name, held[n++]);
    }
    return n;
}

int bind_many(stc_machine *m, stc_program *p, uint64_t seed, int64_t same,
              stc_tensor *held[64])
{
    gen g = {.c = NULL, .state = seed};
    return bind_all(&g, m, p, same, true, held);
}

static int bind_few(stc_machine *m, stc_program *p, uint64_t seed, stc_tensor *held[64])
{
    gen g = {.c = NULL, .state = seed};
    const int64_t same = 1 + gen_below(&g, 5);
    return bind_all(&g, m, p, same, false, held);
}

/* ---- results -------------------------------------------------------------------- */

static int64_t elements(const stc_tensor *t)
{
    int64_t n = 1;
    for (int k = 0; k < stc_tensor_order(t); k++)
        if (!size_mul(n, stc_tensor_shape(t)[k], &n) || n > ELEMENTS) return 0;
    return n;
}

/* Elements, as a dense array; NULL: too many, or no memory. */
static void *dense_of(const stc_tensor *t, int64_t n)
{
    void *out = n ? malloc((size_t)n * 16) : NULL;
    if (out && stc_tensor_to_dense(t, out) == STC_OK) return out;
    free(out);
    return NULL;
}

/* Elements agree: whole numbers to the bit, others but for rounding, of f32 if `narrow`:
 * what was summed in it may be stored in f64. Numbers so large, or none, come from damage
 * to what is computed, where orders of summation show. */
static bool agree(const made *a, const made *b, bool narrow)
{
    if (a->n != b->n || !a->n) return !a->n || !b->n;
    if (a->type != b->type) return false;
    const stc_type part = a->type == STC_C64    ? STC_F32
                          : a->type == STC_C128 ? STC_F64
                                                : a->type;
    if (part != STC_F32 && part != STC_F64)
        return memcmp(a->dense, b->dense, (size_t)a->n * stc_type_size(a->type)) == 0;
    const int64_t n = part == a->type ? a->n : 2 * a->n;
    double most = 1, x[2];
    for (int pass = 0; pass < 2; pass++)
        for (int64_t k = 0; k < n; k++) {
            x[0] = part == STC_F32 ? ((float *)a->dense)[k] : ((double *)a->dense)[k];
            x[1] = part == STC_F32 ? ((float *)b->dense)[k] : ((double *)b->dense)[k];
            if (!(fabs(x[0]) < 1e12) || !(fabs(x[1]) < 1e12)) return true;
            most = fmax(most, fabs(x[0]));
            if (pass &&
                fabs(x[0] - x[1]) > most * (narrow || part == STC_F32 ? 1e-4 : 1e-9))
                return false;
        }
    return true;
}

static const char *const onto[3][6] = {
    {"dense", "svec", "rle", "lz77", "hash", "(i) -> (i/2 : compressed, i%2 : dense)"},
    {"dense", "csr", "csc", "coo", "bcsr(2,2)", "rle"},
    {"dense", "csf", "coo", "(i,j,k) -> (j : dense, i : compressed, k : compressed)",
     "lz77", "(i,j,k) -> (k : compressed, j : compressed, i : dense)"}};

/* On into another format: the same elements there. */
static void convert_on(court *c, stc_machine *m, const stc_tensor *r, const void *dense,
                       int64_t n, int which)
{
    const int order = stc_tensor_order(r);
    if (order < 1 || order > 3 || !dense) return;
    stc_tensor *to = NULL;
    const char *name = onto[order - 1][which % 6];
    const stc_status st = stc_tensor_convert(r, name, -1, &to);
    if (st == STC_ERR_MEMORY || st == STC_ERR_STEPS) return;
    if (st) {
        complain(c, name, stc_error(m)->message);
        return;
    }
    c->t->converted++;
    if (tensor_check_afresh(to)) complain(c, name, stc_error(m)->message);
    const stc_type type = stc_tensor_type(r);
    const made was = {.n = n, .type = type, .dense = (void *)(uintptr_t)dense};
    const made is = {.n = n, .type = type, .dense = dense_of(to, n)};
    if (is.dense && !agree(&was, &is, false))
        complain(c, name, "converted, its elements are others");
    free(is.dense);
    stc_tensor_free(to);
}

static void look_at(court *c, stc_machine *m, const stc_program *p, way *w)
{
    const char *name;
    bool result;
    int n = 0;
    for (int k = 0; n < RESULTS && (name = stc_program_name(p, k, &result)); k++) {
        const stc_tensor *r;
        if (!result || stc_result(p, name, &r) != STC_OK) continue;
        if (tensor_check_afresh((stc_tensor *)r)) {
            complain(c, name, stc_error(m)->message);
            return;
        }
        made *x = &w->result[n++];
        x->type = stc_tensor_type(r);
        const int64_t size = elements(r);
        if ((x->dense = dense_of(r, size))) x->n = size;
        convert_on(c, m, r, x->dense, size, (int)(c->seed % 6));
    }
}

/* ---- runs ----------------------------------------------------------------------- */

static stc_machine *machine_for(int k, int64_t *held)
{
    const stc_config config = {.alloc = fuzzing_alloc,
                               .alloc_context = held,
                               .max_memory = 1 << 24,
                               .max_steps = 20000,
                               .no_super = k == 0};
    stc_machine *m;
    if (stc_open(&config, &m) != STC_OK) return NULL;
    m->cx.plain = k == 2;
    if (k == 3) {
        (void)stc_set_threads(m, 2);
        m->cx.grain = 1;
    }
    return m;
}

static stc_status load(const mutant *x, stc_machine *m, stc_program **p)
{
    return x->text ? stc_program_assemble(m, x->data, "mutant", p)
                   : stc_program_decode(m, x->data, x->size, p);
}

/* Whether it was accepted. */
static bool run_way(court *c, int k, way *w)
{
    int64_t held = 0;
    stc_machine *m = machine_for(k, &held);
    stc_program *p = NULL;
    stc_tensor *bound[64];
    if (!m) return false;
    const bool accepted = load(c->x, m, &p) == STC_OK;
    if (accepted) {
        char *text;
        if (!c->dump && stc_program_dump(p, &text) == STC_OK) {
            c->dump = strdup(text);
            stc_text_free(m, text);
        }
        const int n = k == PLANNED ? bind_many(m, p, c->seed, MANY_SIZE, bound)
                                   : bind_few(m, p, c->seed, bound);
        w->status = stc_run(p);
        if (k == PLANNED) c->t->planned += p->plans;
        if (k == PLANNED) c->t->found += p->now && !p->plans;
        snprintf(w->message, sizeof w->message, "%s", stc_error(m)->message);
        /* That coordinates differ, where a level has no order, or ascend from fiber to
         * fiber below equal ones, is for `finish` to see. */
        if (strstr(w->message, "is malformed") && !strstr(w->message, "of one fiber") &&
            !strstr(w->message, "below equal coordinates"))
            complain(c, way_name[k], w->message);
        if (w->status == STC_OK) look_at(c, m, p, w);
        stc_program_free(p);
        for (int t = 0; t < n; t++)
            stc_tensor_free(bound[t]);
    }
    stc_close(m);
    if (held != 0) complain(c, way_name[k], "memory is still held");
    return accepted;
}

/* Limits are met at other places by other tiers; a number beyond 64 bits that would be a
 * coordinate is looked at where something is read or stored there, by base operations
 * where it is computed. */
static bool comparable(const court *c, const way *a, const way *b)
{
    const char *const meaning_left[] = {"subsect", "ws.call", NULL};
    for (int k = 0; meaning_left[k]; k++)
        if (c->dump && strstr(c->dump, meaning_left[k])) return false;
    if (a->status == STC_ERR_OVERFLOW && b->status == STC_OK &&
        strstr(a->message, "beyond 64 bits"))
        return false;
    return a->status != STC_ERR_MEMORY && a->status != STC_ERR_STEPS &&
           b->status != STC_ERR_MEMORY && b->status != STC_ERR_STEPS;
}

static void compare(court *c, const way *base, const way *w, int k)
{
    char what[1700];
    if (!comparable(c, base, w)) return;
    c->t->compared++;
    if (base->status != w->status) {
        snprintf(what, sizeof what, "%s (%s), by base operations %s (%s)",
                 stc_status_name(w->status), w->message, stc_status_name(base->status),
                 base->message);
        complain(c, way_name[k], what);
    }
    const bool narrow = c->dump && (strstr(c->dump, " f32,") || strstr(c->dump, " c64,"));
    for (int r = 0; r < RESULTS && base->status == STC_OK && w->status == STC_OK; r++)
        if (!agree(&base->result[r], &w->result[r], narrow))
            complain(c, way_name[k], "another result than that of base operations");
}

void judge_mutant(const mutant *x, uint64_t seed, tally *t)
{
    court c = {.x = x, .seed = seed, .t = t};
    way w[WAYS];
    memset(w, 0, sizeof w);
    t->tried++;
    const uint64_t failed = t->failed;
    if (!run_way(&c, 0, &w[0])) {
        t->refused++;
        return;
    }
    char *dump = c.dump;
    t->accepted++;
    t->finished += w[0].status == STC_OK;
    for (int k = 1; k < WAYS && t->failed == failed; k++) {
        if (!run_way(&c, k, &w[k]))
            complain(&c, way_name[k], "refused, and accepted before");
        if (t->failed == failed && k < PLANNED) compare(&c, &w[0], &w[k], k);
    }
    for (int k = 0; k < WAYS; k++)
        for (int r = 0; r < RESULTS; r++)
            free(w[k].result[r].dense);
    free(dump);
}
