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

enum { CLASSES = 1024, SAMPLE = 4096, READS = 16, LITTLE = 1000 };

typedef struct reads {
    const tensor *t[READS];
    const bexpr *e[READS];
    int n;
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
static void add(float *in, int64_t classes, int64_t at, int64_t n)
{
    const uint64_t mixed = (uint64_t)at * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    if (at < 0 || n <= 0) return;
    in[classes < CLASSES ? (uint64_t)at % (uint64_t)classes : mixed % CLASSES] += (float)n;
}

/* Entries of a mode's coordinates by class; false: its levels don't list them. */
static bool count_mode(const tensor *t, int mode, float *in, int64_t classes)
{
    for (int l = 0; l < t->fmt.levels; l++) {
        const level_map *m = &t->fmt.level[l].map;
        const index_array *crd = &t->level[l].a[STC_CRD];
        const bool above = !l && t->fmt.levels == 2 && !crd->data;
        const index_array *pos = above ? &t->level[1].a[STC_POS] : NULL;
        const int64_t n = pos && pos->data ? pos->len - 1 : crd->data ? crd->len : 0;
        const int64_t by = 1 + n / SAMPLE;
        if (m->op != MAP_MODE || m->mode != mode) continue;
        if (pos && !pos->data) return false;
        if (!pos && (!crd->data || n != t->nvals)) return false;
        for (int64_t i = 0; i < n; i += by)
            if (pos)
                add(in, classes, i,
                    (int64_t)((uint64_t)index_get(pos, i + 1) -
                              (uint64_t)index_get(pos, i)));
            else
                add(in, classes, index_get(crd, i), 1);
        return n > 0;
    }
    return false;
}

/* The operands that have the index as a subscript, joined. */
static double skew_of(const opt *o, const reads *r, int index, float *all, float *one)
{
    const int64_t classes =
        o->extent[index] < CLASSES ? (int64_t)o->extent[index] : CLASSES;
    double means = 1, sum = 0;
    int joined = 0;
    for (int64_t c = 0; c < classes; c++)
        all[c] = 1;
    for (int k = 0; k < r->n; k++)
        for (int m = 0; m < r->t[k]->order; m++) {
            const affine *at = &r->e[k]->sub[m];
            double stored = 0;
            if (at->terms != 1 || at->term[0].index != index || at->term[0].coef != 1 ||
                at->constant)
                continue;
            for (int64_t c = 0; c < classes; c++)
                one[c] = 0;
            if (!count_mode(r->t[k], m, one, classes)) return 0;
            for (int64_t c = 0; c < classes; c++) {
                stored += one[c];
                all[c] *= one[c];
            }
            means *= stored / (double)classes;
            joined++;
        }
    for (int64_t c = 0; c < classes; c++)
        sum += all[c];
    if (joined < 2 || means <= 0 || sum <= 0) return 0;
    const double more = sum / (double)classes / means;
    return joined == 2 ? more : pow(more, 1.0 / (joined - 1));
}

stc_status skews(opt *o)
{
    reads r = {.n = 0};
    if (!o->known || !o->known->find) return STC_OK;
    find_reads(o, o->s->value, &r);
    if (r.n < 2 || r.n > READS || o->s->nindex < 3) return STC_OK;
    float *room = arena_room(o->a, 2 * CLASSES, sizeof *room);
    if (!room) return STC_ERR_MEMORY;
    for (int i = 0; i < o->s->nindex; i++) {
        int have = 0;
        for (int k = 0; k < r.n; k++)
            have += (int)(opt_indices(o->p, r.e[k]) >> i & 1);
        if (have > 1) o->skew[i] = skew_of(o, &r, i, room, room + CLASSES);
    }
    return STC_OK;
}
