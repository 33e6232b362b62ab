/* skew.c: how much more two operands have in common along an index than chance would.
 *
 * Sizes alone tell of joins as if every coordinate had as many entries as any other. Where
 * the same ones have most in both, as the hubs of a graph do, a join has many times that:
 * the sum over k of A's and B's entries at k, and not the product of the means. It is
 * counted from at most so many entries of each operand, in runs that a line of the cache
 * holds, spread over all, and in at most so many classes of coordinates: what planning
 * takes for it doesn't grow with operands, and a session keeps it. Arrays aren't checked
 * yet when this reads them.
 */
#include "opt.h"
#include <math.h>
#include <string.h>

enum { CLASSES = 512, SAMPLE = 1024, RUN = 8, READS = 16, LITTLE = 1000 };

/* A mode's entries by class: a tensor that is read several times is counted once. */
typedef struct counts {
    const tensor *t;
    int mode, classes;
    bool listed;    /* by the levels */
    int64_t stored; /* of all       */
    double *in;
    struct counts *next;
} counts;

/* A mode that an index joins with others. */
typedef struct joined {
    const tensor *t;
    int mode;
} joined;

typedef struct reads {
    const tensor *t[READS];
    const bexpr *e[READS];
    int n;
    counts *counted;
} reads;

static void find_reads(const opt *o, const bexpr *e, reads *r)
{
    const tensor *t = e->kind == B_ACCESS && !e->nargs && stores_some(o->p, e)
                          ? stats_tensor(o, e->tensor)
                          : NULL;
    if (t && t->nvals > LITTLE && !t->backing && r->n++ < READS) {
        r->t[r->n - 1] = t;
        r->e[r->n - 1] = e;
    }
    for (int k = 0; k < e->nargs; k++)
        find_reads(o, e->args[k], r);
}

/* Classes are mixed, so that samples at regular distances are in all of them. */
static uint32_t class_of(uint64_t at, uint64_t classes)
{
    const uint64_t mixed = at * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return classes < CLASSES && at < classes ? (uint32_t)at : (uint32_t)mixed % CLASSES;
}

/* Entries of a mode's coordinates by class, of CLASSES; false: its levels don't list them.
 */
static bool count_mode(const tensor *t, counts *c)
{
    const uint64_t classes = (uint64_t)c->classes;
    for (int l = 0; l < t->fmt.levels; l++) {
        const level_map *m = &t->fmt.level[l].map;
        const index_array *crd = &t->level[l].a[STC_CRD];
        const bool above = !l && t->fmt.levels == 2 && !crd->data;
        const index_array a = above ? t->level[1].a[STC_POS] : *crd;
        const int64_t n = !a.data ? 0 : above ? a.len - 1 : a.len;
        const int64_t apart = n > SAMPLE ? n / (SAMPLE / RUN) : RUN;
        if (m->op != MAP_MODE || m->mode != c->mode) continue;
        if (!a.data || (!above && n != t->nvals)) return false;
        for (int64_t i = (apart - RUN) / 2; i < n; i += apart) {
            const int64_t end = n - i < RUN ? n : i + RUN;
            for (int64_t k = i; above && k < end; k++) {
                const int64_t has = index_get(&a, k + 1) - index_get(&a, k);
                if (has <= 0) continue;
                c->in[class_of((uint64_t)k, classes)] += (double)has;
                c->stored += has;
            }
            for (int64_t k = i; !above && k < end; k++) {
                const int64_t j = index_get(&a, k); /* below 0: no coordinate */
                if (j < 0) continue;
                c->in[class_of((uint64_t)j, classes)]++;
                c->stored++;
            }
        }
        return n > 0;
    }
    return false;
}

static stc_status counts_of(const opt *o, reads *r, const tensor *t, int mode, int classes,
                            const counts **out)
{
    counts *c = r->counted;
    while (c && (c->t != t || c->mode != mode || c->classes != classes))
        c = c->next;
    if (!c) {
        if (!(c = arena_alloc(o->a, sizeof *c))) return STC_ERR_MEMORY;
        *c = (counts){.t = t, .mode = mode, .classes = classes, .next = r->counted};
        if (!(c->in = arena_array(o->a, CLASSES, sizeof *c->in))) return STC_ERR_MEMORY;
        c->listed = count_mode(t, c);
        r->counted = c;
    }
    *out = c;
    return STC_OK;
}

/* The operands that have the index as a subscript. */
static int find_joined(const reads *r, int index, joined *out)
{
    int n = 0;
    for (int k = 0; k < r->n; k++)
        for (int m = 0; m < r->t[k]->order && n < READS; m++) {
            const affine *at = &r->e[k]->sub[m];
            if (at->terms == 1 && at->term[0].index == index && at->term[0].coef == 1 &&
                !at->constant)
                out[n++] = (joined){r->t[k], m};
        }
    return n;
}

/* By how much a join of two has more, as the mean of all that are joined. */
static double have_in_common(const counts *const *of, int n)
{
    const double classes = of[0]->classes;
    double all[CLASSES], means = (double)of[0]->stored / classes;
    memcpy(all, of[0]->in, sizeof all);
    for (int k = 1; k < n; k++) {
        means *= (double)of[k]->stored / classes;
        for (int c = 0; c < CLASSES; c++)
            all[c] *= of[k]->in[c];
    }
    for (int half = CLASSES / 2; half; half /= 2) /* their sum, in vectors */
        for (int c = 0; c < half; c++)
            all[c] += all[c + half];
    if (means <= 0 || all[0] <= 0) return 0;
    const double more = all[0] / classes / means;
    return n == 2 ? more : pow(more, 1.0 / (n - 1));
}

/* The same for the same modes of tensors that haven't changed, in any order. */
static uint64_t key_of(const joined *j, int n, int classes)
{
    const uint64_t prime = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t key = (uint64_t)classes;
    for (int k = 0; k < n; k++) {
        uint64_t h = (uint64_t)(uintptr_t)j[k].t * prime + j[k].t->generation;
        h = ((h ^ h >> 32) + (uint64_t)j[k].t->nvals) * prime + (uint64_t)j[k].mode;
        key += (h ^ h >> 29) * prime;
    }
    return key;
}

/* It isn't known, if one's entries aren't. */
static stc_status skew_of(const opt *o, reads *r, int index, opt_skews *seen, double *out)
{
    const int classes = o->extent[index] < CLASSES ? (int)o->extent[index] : CLASSES;
    const counts *of[READS];
    joined j[READS];
    const int n = find_joined(r, index, j);
    const uint64_t key = key_of(j, n, classes);
    unsigned row = 0;
    if (n < 2) return STC_OK;
    while (row < seen->n && row < SKEWS && seen->key[row] != key)
        row++;
    if (row == seen->n || row == SKEWS) {
        bool listed = true;
        for (int k = 0; k < n && listed; k++) {
            if (counts_of(o, r, j[k].t, j[k].mode, classes, &of[k])) return STC_ERR_MEMORY;
            listed = of[k]->listed;
        }
        row = seen->n++ % SKEWS; /* the oldest makes room */
        seen->key[row] = key;
        seen->more[row] = listed ? have_in_common(of, n) : 0;
    }
    *out = seen->more[row];
    return STC_OK;
}

stc_status skews(opt *o)
{
    reads r = {.n = 0};
    opt_skews own;
    stc_status st = STC_OK;
    own.n = 0;
    if (!o->known || !o->known->find) return STC_OK;
    find_reads(o, o->s->value, &r);
    if (r.n < 2 || r.n > READS || o->s->nindex < 3) return STC_OK;
    opt_skews *const seen = o->known->skews ? o->known->skews : &own;
    uint64_t one = 0, several = 0;
    for (int k = 0; k < r.n; k++) {
        const uint64_t has = opt_indices(o->p, r.e[k]);
        several |= one & has;
        one |= has;
    }
    for (; several && !st; several &= several - 1) {
        const int i = __builtin_ctzll(several);
        st = skew_of(o, &r, i, seen, &o->skew[i]);
    }
    return st;
}
