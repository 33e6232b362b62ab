/* skew.c: how much more two operands have in common along an index than chance would.
 *
 * Sizes alone tell of joins as if every coordinate had as many entries as any other. Where
 * the same ones have most in both, as the hubs of a graph do, a join has many times that:
 * the sum over k of A's and B's entries at k, and not the product of the means. It is
 * counted from at most so many entries of each operand, spread over all, in at most so many
 * classes of coordinates: what planning takes for it doesn't grow with operands. Arrays
 * aren't checked yet when this reads them.
 */
#include "opt.h"
#include <math.h>

enum { CLASSES = 512, SAMPLE = 2048, READS = 16, LITTLE = 1000 };

/* A mode's entries by class: a tensor that is read several times is counted once. */
typedef struct counts {
    const tensor *t;
    int mode, classes;
    bool listed; /* by the levels                    */
    uint64_t *in;
    struct counts *next;
} counts;

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
static bool count_mode(const tensor *t, int mode, uint64_t *in, uint64_t classes)
{
    for (int l = 0; l < t->fmt.levels; l++) {
        const level_map *m = &t->fmt.level[l].map;
        const index_array *crd = &t->level[l].a[STC_CRD];
        const bool above = !l && t->fmt.levels == 2 && !crd->data;
        const index_array a = above ? t->level[1].a[STC_POS] : *crd;
        const int64_t n = !a.data ? 0 : above ? a.len - 1 : a.len;
        const int64_t by = 1 + n / SAMPLE;
        if (m->op != MAP_MODE || m->mode != mode) continue;
        if (!a.data || (!above && n != t->nvals)) return false;
        for (int64_t i = 0; above && i < n; i += by) {
            const int64_t begin = index_get(&a, i), end = index_get(&a, i + 1);
            if (end > begin)
                in[class_of((uint64_t)i, classes)] += (uint64_t)end - (uint64_t)begin;
        }
        for (int64_t i = 0; !above && i < n; i += by) {
            const int64_t c = index_get(&a, i); /* below 0: no coordinate */
            if (c >= 0) in[class_of((uint64_t)c, classes)]++;
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
        c->listed = count_mode(t, mode, c->in, (uint64_t)classes);
        r->counted = c;
    }
    *out = c;
    return STC_OK;
}

/* The operands that have the index as a subscript, joined. */
static stc_status skew_of(const opt *o, reads *r, int index, double *all, double *out)
{
    const int classes = o->extent[index] < CLASSES ? (int)o->extent[index] : CLASSES;
    double means = 1, sum = 0;
    int joined = 0;
    *out = 0;
    for (int c = 0; c < classes; c++)
        all[c] = 1;
    for (int k = 0; k < r->n; k++)
        for (int m = 0; m < r->t[k]->order; m++) {
            const affine *at = &r->e[k]->sub[m];
            const counts *one;
            double stored = 0;
            if (at->terms != 1 || at->term[0].index != index || at->term[0].coef != 1 ||
                at->constant)
                continue;
            if (counts_of(o, r, r->t[k], m, classes, &one)) return STC_ERR_MEMORY;
            if (!one->listed) return STC_OK;
            for (int c = 0; c < classes; c++) {
                stored += (double)one->in[c];
                all[c] *= (double)one->in[c];
            }
            means *= stored / (double)classes;
            joined++;
        }
    for (int c = 0; c < classes; c++)
        sum += all[c];
    if (joined < 2 || means <= 0 || sum <= 0) return STC_OK;
    const double more = sum / (double)classes / means;
    *out = joined == 2 ? more : pow(more, 1.0 / (joined - 1));
    return STC_OK;
}

stc_status skews(opt *o)
{
    reads r = {.n = 0};
    stc_status st = STC_OK;
    if (!o->known || !o->known->find) return STC_OK;
    find_reads(o, o->s->value, &r);
    if (r.n < 2 || r.n > READS || o->s->nindex < 3) return STC_OK;
    double *all = arena_room(o->a, CLASSES, sizeof *all);
    if (!all) return STC_ERR_MEMORY;
    for (int i = 0; i < o->s->nindex && !st; i++) {
        int have = 0;
        for (int k = 0; k < r.n; k++)
            have += (int)(opt_indices(o->p, r.e[k]) >> i & 1);
        if (have > 1) st = skew_of(o, &r, i, all, &o->skew[i]);
    }
    return st;
}
