/* case_build.c: the tensors of a case: from coordinates, or with level arrays
 * built by hand and lent, where duplicates and disorder survive. */
#include "case.h"
#include <stdlib.h>
#include <string.h>

void lent_free(lent *l)
{
    for (int k = 0; k < l->count; k++)
        free(l->block[k]);
    l->count = 0;
}

static void *keep(lent *l, size_t size)
{
    void *p = calloc(1, size ? size : 1);
    if (p) l->block[l->count++] = p;
    return p;
}

static uint64_t mix(uint64_t *s)
{
    uint64_t z = *s += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void set(void *base, int width, int64_t at, int64_t v)
{
    if (width == 4)
        ((int32_t *)base)[at] = (int32_t)v;
    else
        ((int64_t *)base)[at] = v;
}

typedef struct order {
    const ctensor *t;
    int64_t *entry;  /* entries in storage order            */
    int64_t *parent; /* of each entry, by its own number    */
    uint64_t *rank;  /* random, for levels without an order */
} order;

static bool before(const order *o, int64_t a, int64_t b)
{
    const ctensor *t = o->t;
    const craw *r = &t->format.raw;
    if (o->parent[a] != o->parent[b]) return o->parent[a] < o->parent[b];
    for (int l = r->dense; l < r->levels - r->below && !r->unordered; l++) {
        int64_t x = t->coord[a * t->order + r->mode[l]];
        int64_t y = t->coord[b * t->order + r->mode[l]];
        if (x != y) return x < y;
    }
    return o->rank[a] < o->rank[b];
}

static bool arrange(order *o)
{
    const ctensor *t = o->t;
    const craw *r = &t->format.raw;
    uint64_t seed = t->seed;
    for (int64_t e = 0; e < t->n; e++) {
        int64_t p = 0;
        for (int l = 0; l < r->dense; l++)
            p = p * t->shape[r->mode[l]] + t->coord[e * t->order + r->mode[l]];
        o->parent[e] = p;
        o->rank[e] = mix(&seed);
        int64_t k = e;
        for (; k > 0 && before(o, e, o->entry[k - 1]); k--)
            o->entry[k] = o->entry[k - 1];
        o->entry[k] = e;
    }
    return true;
}

static stc_status lend_levels(const order *o, lent *l, stc_tensor *x)
{
    const ctensor *t = o->t;
    const craw *r = &t->format.raw;
    const int width = r->wide ? 8 : 4, n = r->levels - r->below - r->dense;
    int64_t parents = 1, block = 1;
    for (int k = r->dense + n; k < r->levels; k++)
        block *= t->shape[r->mode[k]];
    for (int k = 0; k < r->dense; k++)
        parents *= t->shape[r->mode[k]];
    char *pos = keep(l, (size_t)((parents + 1) * width));
    char *crd = keep(l, (size_t)(t->n * width * n));
    void *vals = keep(l, (size_t)(t->n * block) * stc_type_size(t->type));
    if (!pos || !crd || !vals) return STC_ERR_MEMORY;
    int64_t at = 0;
    for (int64_t p = 0; p < parents; p++) {
        while (at < t->n && o->parent[o->entry[at]] == p)
            at++;
        set(pos, width, p + 1, at);
    }
    for (int64_t e = 0; e < t->n; e++) {
        for (int k = 0; k < n; k++) {
            int64_t c = t->coord[o->entry[e] * t->order + r->mode[r->dense + k]];
            set(crd, width, r->interleaved ? e * n + k : k * t->n + e, c);
        }
        int64_t place = e;
        for (int k = r->dense + n; k < r->levels; k++)
            place = place * t->shape[r->mode[k]] +
                    t->coord[o->entry[e] * t->order + r->mode[k]];
        ov_save(&t->value[o->entry[e]], vals, place);
    }
    stc_status st =
        stc_tensor_lend(x, r->dense, STC_POS, (stc_array){pos, parents + 1, width, width});
    for (int k = 0; k < n && st == STC_OK; k++) {
        int64_t first = (r->interleaved ? k : k * t->n) * width;
        stc_array a = {crd + first, t->n, width, r->interleaved ? n * width : width};
        st = stc_tensor_lend(x, r->dense + k, STC_CRD, a);
    }
    if (st == STC_OK) st = stc_tensor_lend_values(x, vals, t->n * block);
    return st;
}

static stc_status build_lent(stc_machine *m, const ctensor *t, lent *l, stc_tensor **out)
{
    stc_value fill = ov_public(&t->fill);
    stc_tensor *x;
    stc_status st =
        stc_tensor_new(m, t->format.text, t->type, t->order, t->shape, &fill, &x);
    if (st != STC_OK) return st;
    size_t n = (size_t)(t->n ? t->n : 1);
    order o = {t, malloc(n * sizeof(int64_t)), malloc(n * sizeof(int64_t)),
               malloc(n * sizeof(uint64_t))};
    st = STC_ERR_MEMORY;
    if (o.entry && o.parent && o.rank && arrange(&o)) st = lend_levels(&o, l, x);
    free(o.entry);
    free(o.parent);
    free(o.rank);
    if (st == STC_OK)
        *out = x;
    else
        stc_tensor_free(x);
    return st;
}

stc_status case_build(stc_machine *m, const ctensor *t, lent *l, stc_tensor **out)
{
    if (t->lend) return build_lent(m, t, l, out);
    size_t n = (size_t)(t->n ? t->n : 1);
    int64_t *coord = malloc(n * CASE_ORDER * sizeof *coord);
    char *vals = malloc(n * 16);
    stc_status st = STC_ERR_MEMORY;
    if (coord && vals) {
        for (int64_t e = 0; e < t->n; e++) {
            for (int k = 0; k < t->order; k++)
                coord[k * t->n + e] = t->coord[e * t->order + k];
            ov_save(&t->value[e], vals, e);
        }
        stc_value fill = ov_public(&t->fill);
        st =
            stc_tensor_from_coords(m, t->format.text[0] ? t->format.text : "dense", t->type,
                                   t->order, t->shape, &fill, t->n, coord, vals, out);
    }
    free(coord);
    free(vals);
    return st;
}
