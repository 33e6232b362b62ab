/* fuzz_tensure.c: products of tensors by relations, after TenSure
 * (github.com/KabilanMA/TenSure): its grammar and its relations, written anew.
 *
 *     fuzz_tensure [SECONDS [SEED]] [--seconds N] [--seed N]      COUNT=N: so many, no
 * clock
 *
 * An expression is A(…) = B(…) * C(…) * …: two to five factors with one to four of the
 * indices i … n each, half of which are the result's; an index that is summed is in two
 * factors at least. Each level of each tensor is dense or compressed; two elements in five
 * are stored. The relations: factors in another order, tensors in other formats (result and
 * operands), and operands stored with their modes in another order. All must give what the
 * first gave, and, where that is bearable, what loops over all indices give. Elements are
 * small whole numbers, so that no sum is rounded, and the same means the same bits.
 */
#include "fuzzing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FACTORS = 5, INDICES = 6, RANK = 4, ELEMENTS = 1296, NAIVE = 20000, RELATIONS = 4 };

typedef struct factor {
    int order, index[RANK];
    double value[ELEMENTS]; /* row-major */
} factor;

typedef struct einsum {
    factor f[FACTORS];
    int count, size[INDICES];
    int order, out[RANK + 2]; /* of the result */
} einsum;

/* How it is written and stored: which factor comes when, the order of modes and whether
 * levels are dense, by factor; the result's are the last. */
typedef struct way {
    int turn[FACTORS];
    int mode[FACTORS + 1][RANK + 2];
    unsigned dense[FACTORS + 1];
} way;

static void shuffle(gen *g, int *x, int n)
{
    for (int k = n - 1; k > 0; k--) {
        const int other = gen_below(g, k + 1), kept = x[k];
        x[k] = x[other];
        x[other] = kept;
    }
}

static bool has(const factor *f, int index)
{
    for (int k = 0; k < f->order; k++)
        if (f->index[k] == index) return true;
    return false;
}

static int users(const einsum *e, int index)
{
    int n = 0;
    for (int k = 0; k < e->count; k++)
        n += has(&e->f[k], index);
    return n;
}

static void fill(gen *g, const einsum *e, factor *f)
{
    int64_t n = 1;
    for (int k = 0; k < f->order; k++)
        n *= e->size[f->index[k]];
    for (int64_t k = 0; k < n; k++)
        f->value[k] = gen_chance(g, 40) ? gen_below(g, 50) : 0;
}

static void draw(gen *g, einsum *e)
{
    int letters[INDICES];
    memset(e, 0, sizeof *e);
    e->count = 2 + gen_below(g, FACTORS - 1);
    for (int k = 0; k < INDICES; k++)
        letters[k] = k;
    for (int k = 0; k < e->count; k++) {
        factor *f = &e->f[k];
        f->order = 1 + gen_below(g, RANK - 1);
        shuffle(g, letters, INDICES);
        memcpy(f->index, letters, (size_t)f->order * sizeof *letters);
    }
    for (int i = 0; i < INDICES; i++) {
        e->size[i] = 3 + gen_below(g, 4);
        const int n = users(e, i);
        if (n && e->order < RANK && gen_chance(g, 50)) {
            e->out[e->order++] = i;
        } else if (n == 1) { /* once more, in another one that has room */
            for (int k = 0; k < e->count; k++) {
                factor *f = &e->f[k];
                if (has(f, i) || f->order == RANK) continue;
                f->index[f->order++] = i;
                break;
            }
        }
    }
    for (int k = 0; k < e->count; k++)
        fill(g, e, &e->f[k]);
}

/* ---- what it has to be -------------------------------------------------------------- */

static int64_t rounds(const einsum *e)
{
    int64_t n = 1;
    for (int i = 0; i < INDICES; i++)
        if (users(e, i)) n *= e->size[i];
    return n;
}

static void naive(const einsum *e, double *out)
{
    int at[INDICES] = {0};
    memset(out, 0, ELEMENTS * sizeof *out);
    for (int64_t r = rounds(e); r > 0; r--) {
        double product = 1;
        int64_t place = 0;
        for (int k = 0; k < e->count; k++) {
            int64_t p = 0;
            for (int m = 0; m < e->f[k].order; m++)
                p = p * e->size[e->f[k].index[m]] + at[e->f[k].index[m]];
            product *= e->f[k].value[p];
        }
        for (int m = 0; m < e->order; m++)
            place = place * e->size[e->out[m]] + at[e->out[m]];
        out[place] += product;
        for (int i = 0; i < INDICES; i++) {
            if (!users(e, i)) continue;
            if (++at[i] < e->size[i]) break;
            at[i] = 0;
        }
    }
}

/* ---- a way of it -------------------------------------------------------------------- */

static void plain(gen *g, const einsum *e, way *w)
{
    for (int k = 0; k < FACTORS; k++)
        w->turn[k] = k;
    for (int k = 0; k <= FACTORS; k++) {
        w->dense[k] = (unsigned)gen_below(g, 64);
        for (int m = 0; m < RANK + 2; m++)
            w->mode[k][m] = m;
    }
    (void)e;
}

static void change(gen *g, const einsum *e, int relation, way *w)
{
    if (relation == 0 || relation == 3) shuffle(g, w->turn, e->count);
    for (int k = 0; k <= FACTORS && relation; k++) {
        if (relation != 2) w->dense[k] = (unsigned)gen_below(g, 64);
        if (relation >= 2 && k < e->count) shuffle(g, w->mode[k], e->f[k].order);
    }
}

static void subscripts(char *to, size_t size, int order, const int *index, const int *mode)
{
    size_t n = (size_t)snprintf(to, size, order ? "(" : "");
    for (int m = 0; m < order; m++)
        n += (size_t)snprintf(to + n, size - n, "%c%c", 'i' + index[mode[m]],
                              m + 1 < order ? ',' : ')');
}

/* A factor as it is stored, its modes in the way's order. */
static stc_status store(stc_machine *m, const einsum *e, const way *w, int k, char *format,
                        stc_tensor **out)
{
    const factor *f = &e->f[k];
    double turned[ELEMENTS];
    int64_t shape[RANK], step[RANK], n = 1;
    int at[RANK] = {0};
    for (int d = f->order - 1; d >= 0; d--) {
        step[d] = n;
        n *= e->size[f->index[d]];
    }
    for (int d = 0; d < f->order; d++)
        shape[d] = e->size[f->index[w->mode[k][d]]];
    for (int64_t p = 0; p < n; p++) {
        int64_t from = 0;
        for (int d = 0; d < f->order; d++)
            from += at[d] * step[w->mode[k][d]];
        turned[p] = f->value[from];
        for (int d = f->order - 1; d >= 0 && ++at[d] == shape[d]; d--)
            at[d] = 0;
    }
    for (int d = 0; d < f->order; d++)
        format[d] = w->dense[k] >> d & 1 ? 'd' : 's';
    format[f->order] = 0;
    return stc_tensor_from_dense(m, format, STC_F64, f->order, shape, NULL, turned, out);
}

static stc_status compute(stc_machine *m, const einsum *e, const way *w, char *text,
                          size_t size, double *out)
{
    char format[FACTORS + 1][RANK + 3], name[FACTORS][2], index[40];
    stc_tensor *t[FACTORS] = {NULL};
    stc_decl d[FACTORS + 1];
    stc_program *p = NULL;
    const stc_tensor *a;
    stc_status st = STC_OK;
    subscripts(index, sizeof index, e->order, e->out, w->mode[FACTORS]);
    size_t n = (size_t)snprintf(text, size, "A%s =", index);
    for (int c = 0; c < e->count; c++) {
        const int k = w->turn[c];
        subscripts(index, sizeof index, e->f[k].order, e->f[k].index, w->mode[k]);
        n += (size_t)snprintf(text + n, size - n, "%s %c%s", c ? " *" : "", 'B' + k, index);
        name[k][0] = (char)('B' + k);
        name[k][1] = 0;
        if (!st) st = store(m, e, w, k, format[k], &t[k]);
        d[k] = (stc_decl){.name = name[k], .format = format[k]};
    }
    for (int l = 0; l < e->order && l < RANK; l++)
        format[FACTORS][l] = w->dense[FACTORS] >> l & 1 ? 'd' : 's';
    format[FACTORS][e->order] = 0;
    d[e->count] = (stc_decl){.name = "A", .format = e->order ? format[FACTORS] : NULL};
    if (!st) st = stc_compile(m, text, d, e->count + 1, &p);
    for (int k = 0; k < e->count && !st; k++)
        st = stc_bind(p, name[k], t[k]);
    if (!st) st = stc_run(p);
    if (!st) st = stc_result(p, "A", &a);
    if (!st) st = stc_tensor_to_dense(a, out);
    n = strlen(text);
    for (int k = 0; k <= e->count && n < size; k++)
        n += (size_t)snprintf(text + n, size - n, "  %c:%s", k < e->count ? 'B' + k : 'A',
                              k < e->count || e->order ? format[k < e->count ? k : FACTORS]
                                                       : "");
    stc_program_free(p);
    for (int k = 0; k < e->count; k++)
        stc_tensor_free(t[k]);
    return st;
}

typedef struct counts {
    uint64_t expressions, runs, looped;
} counts;

static bool one(stc_machine *m, gen *g, counts *n)
{
    static einsum e;
    static double first[ELEMENTS], got[ELEMENTS];
    char text[600], other[600] = "loops over all indices";
    way w, changed;
    int64_t size = 1;
    draw(g, &e);
    for (int k = 0; k < e.order; k++)
        size *= e.size[e.out[k]];
    plain(g, &e, &w);
    n->expressions++;
    n->runs++;
    if (compute(m, &e, &w, text, sizeof text, first) != STC_OK) {
        printf("FAILED: %s\n  %s\n", text, stc_error(m)->message);
        return false;
    }
    bool same = true;
    if (rounds(&e) <= NAIVE) {
        n->looped++;
        naive(&e, got);
        same = !memcmp(first, got, (size_t)size * sizeof *got);
    }
    for (int r = 0; r < RELATIONS && same; r++) {
        changed = w;
        change(g, &e, r, &changed);
        n->runs++;
        if (compute(m, &e, &changed, other, sizeof other, got) != STC_OK) {
            printf("FAILED: %s\n  %s\n", other, stc_error(m)->message);
            return false;
        }
        same = !memcmp(first, got, (size_t)size * sizeof *got);
    }
    if (!same) printf("FAILED: these differ:\n  %s\n  %s\n", text, other);
    return same;
}

int main(int argc, char **argv)
{
    fuzzing f;
    counts n = {0};
    stc_machine *m;
    const char *const asked = getenv("COUNT");
    const uint64_t count = asked ? strtoull(asked, NULL, 10) : 0;
    int bad = 0;
    fuzzing_begin(&f, argc, argv);
    if (stc_open(NULL, &m) != STC_OK) return 1;
    while (bad < 5 && (count ? n.expressions < count : fuzzing_on(&f))) {
        if (count) fuzzing_on(&f); /* a hang is a failure */
        if (gen_chance(&f.g, 1)) fuzzing_tier(m, gen_below(&f.g, TIERS));
        bad += !one(m, &f.g, &n);
    }
    stc_close(m);
    printf("fuzz_tensure: seed %" PRIu64 ": %" PRIu64 " expressions, %" PRIu64
           " runs, %" PRIu64 " beside loops, %d failing\n",
           f.seed, n.expressions, n.runs, n.looped, bad);
    return bad ? 1 : 0;
}
