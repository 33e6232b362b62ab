/* fuzz_lend.c: damaged tensors: the arrays of a good tensor in a random format
 * are copied, changed at random and lent to a new one. What stc_tensor_check
 * accepts is read in every way there is: by statements of both tiers, entry by
 * entry, as dense, converted.
 *
 *     fuzz_lend [SECONDS [SEED]] [--seconds N] [--seed N]
 *
 * Arrays are allocated to their length, so that a sanitizer sees a read past
 * them. Nothing is compared: a complaint, a crash, a hang or memory kept is the
 * failure, and a refusal without a message.
 */
#include "fuzzing.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ROLES = 3, BLOCKS = CASE_LEVELS * ROLES + 1 };

typedef struct lend {
    void *block[BLOCKS];
    int blocks;
} lend;

typedef struct tally {
    uint64_t tried, accepted, refused, silent, leaks;
} tally;

/* A random tensor of 1 to 3 modes, in a random format. */
static stc_tensor *good(gen *g, stc_machine *m, cformat *format)
{
    int64_t shape[3], coord[3 * 16];
    const int order = 1 + gen_below(g, 3);
    int64_t n = gen_below(g, 16);
    for (int k = 0; k < order; k++) {
        shape[k] = gen_below(g, 7);
        if (shape[k] == 0) n = 0;
    }
    for (int k = 0; k < order; k++)
        for (int64_t e = 0; e < n; e++)
            coord[k * n + e] = gen_below(g, (int)shape[k]);
    double vals[16];
    for (int e = 0; e < 16; e++)
        vals[e] = gen_below(g, 3);
    g->c->features = FEATURE_BIT << FEATURE_KINDS | FEATURE_BIT << FEATURE_BLOCKS;
    gen_format(g, order, shape, false, format);
    stc_tensor *t = NULL;
    if (stc_tensor_from_coords(m, format->text, STC_F64, order, shape, NULL, n, coord, vals,
                               &t) != STC_OK)
        return NULL;
    return t;
}

static void *keep(lend *l, const void *from, size_t size)
{
    void *p = malloc(size ? size : 1);
    if (p) {
        if (size) memcpy(p, from, size);
        l->block[l->blocks++] = p;
    }
    return p;
}

/* A small change of an index: what is next to right is most telling. */
static void change(gen *g, const stc_array *a)
{
    if (a->length <= 0) return;
    const int64_t at = (int64_t)(gen_next(g) % (uint64_t)a->length);
    const int64_t extreme[] = {-1, 0, INT32_MAX, INT32_MIN, a->length, INT64_MAX};
    char *p = (char *)a->data + at * a->stride;
    int64_t v = 0;
    if (a->width == 4) {
        int32_t x;
        memcpy(&x, p, sizeof x);
        v = x;
    } else if (a->width == 8) {
        memcpy(&v, p, sizeof v);
    } else {
        *p = (char)gen_next(g);
        return;
    }
    v = gen_chance(g, 70) ? (int64_t)((uint64_t)v + (uint64_t)gen_below(g, 5) - 2)
                          : extreme[gen_below(g, 6)];
    if (a->width == 4) {
        const int32_t x = (int32_t)v;
        memcpy(p, &x, sizeof x);
    } else {
        memcpy(p, &v, sizeof v);
    }
}

/* The same arrays lent, some of them changed or cut. */
static stc_tensor *damaged(gen *g, stc_machine *m, const stc_tensor *t, const char *format,
                           lend *l)
{
    stc_tensor *out;
    const int order = stc_tensor_order(t);
    if (stc_tensor_new(m, format, stc_tensor_type(t), order, stc_tensor_shape(t), NULL,
                       &out) != STC_OK)
        return NULL;
    stc_array all[BLOCKS];
    int n = 0;
    for (int lv = 0; lv < stc_tensor_levels(t); lv++)
        for (int role = 0; role < ROLES; role++) {
            stc_array a;
            if (stc_tensor_array(t, lv, (stc_array_role)role, &a) != STC_OK) continue;
            if (!a.data || a.width == 0) continue;
            if (a.stride == 0) a.stride = a.width;
            const int64_t last = a.length ? (a.length - 1) * a.stride + a.width : 0;
            a.data = keep(l, a.data, (size_t)last);
            if (gen_chance(g, 5) && a.length) a.length--;
            all[n++] = a;
            if (!a.data || stc_tensor_lend(out, lv, (stc_array_role)role, a) != STC_OK) {
                stc_tensor_free(out);
                return NULL;
            }
        }
    const void *values;
    int64_t count = 0;
    if (stc_tensor_values(t, &values, &count) == STC_OK) {
        void *copy = keep(l, values, (size_t)count * sizeof(double));
        if (gen_chance(g, 5) && count) count--;
        if (copy) stc_tensor_lend_values(out, copy, count);
    }
    for (int k = gen_chance(g, 40) ? gen_below(g, 3) : 0; n > 0 && k >= 0; k--)
        change(g, &all[gen_below(g, n)]);
    return out;
}

static int seen(void *context, const int64_t *coords, stc_value value)
{
    *(double *)context += value.f + (double)coords[0];
    return 0;
}

static void use(gen *g, stc_machine *m, stc_tensor *t, const char *format)
{
    static const char *const texts[3][3] = {
        {"a = sum(i: t(i))", "b(i) = t(i) * t(i) + 1", "c(i) = t(i) + pad t(i+1)"},
        {"a(i) = t(i,j)", "b(i,j) = t(i,j) + t(i,j)", "c(i,k) = t(i,j) * t(k,j)"},
        {"a(j) = t(i,j,k)", "b(i,k) = max(j: t(i,j,k))", "c(i,j,k) = 2 * t(i,j,k)"},
    };
    static const char *const others[] = {"dense", "coo", "csf"};
    const int order = stc_tensor_order(t);
    double sum = 0, dense[6 * 6 * 6];
    stc_tensor *copy = NULL;
    stc_program *p = NULL;
    const stc_decl d = {0, "t", format, STC_F64, NULL, order};
    stc_tensor_visit(t, seen, &sum);
    stc_tensor_to_dense(t, dense);
    if (stc_tensor_convert(t, others[gen_below(g, 3)], -1, &copy) == STC_OK)
        stc_tensor_free(copy);
    if (stc_compile(m, texts[order - 1][gen_below(g, 3)], &d, 1, &p) != STC_OK) return;
    if (stc_bind(p, "t", t) == STC_OK) stc_run(p);
    stc_program_free(p);
}

static void one(gen *g, tally *n)
{
    int64_t held = 0;
    const stc_config config = {.alloc = fuzzing_alloc,
                               .alloc_context = &held,
                               .max_memory = 1 << 24,
                               .max_steps = 20000,
                               .no_super = gen_chance(g, 30)};
    stc_machine *m;
    cformat format;
    lend l = {.blocks = 0};
    if (stc_open(&config, &m) != STC_OK) return;
    stc_tensor *t = good(g, m, &format);
    stc_tensor *bad = t ? damaged(g, m, t, format.text, &l) : NULL;
    if (bad) {
        n->tried++;
        if (stc_tensor_check(bad) == STC_OK) {
            n->accepted++;
            use(g, m, bad, format.text);
        } else {
            n->refused++;
            n->silent += !stc_error(m)->message[0];
        }
        stc_tensor_free(bad);
    }
    if (t) stc_tensor_free(t);
    stc_close(m);
    n->leaks += held != 0;
    for (int k = 0; k < l.blocks; k++)
        free(l.block[k]);
}

int main(int argc, char **argv)
{
    fuzzing f;
    tally n = {0};
    fuzzing_begin(&f, argc, argv);
    while (fuzzing_on(&f) && !n.leaks && !n.silent)
        one(&f.g, &n);
    printf("fuzz_lend: seed %" PRIu64 ": %" PRIu64 " tried, %" PRIu64
           " accepted and read, %" PRIu64 " refused\n",
           f.seed, n.tried, n.accepted, n.refused);
    if (n.leaks) printf("fuzz_lend: bytes are still held\n");
    if (n.silent) printf("fuzz_lend: a refusal without a message\n");
    return n.leaks || n.silent;
}
