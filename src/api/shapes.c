/* shapes.c: the shapes of generated operands (`ones`, `random`), from the
 * other operands'.
 *
 * A program's checks relate extents: index j of A(i,j) equals that of x(j).
 * Where one side of such an equality is known and the other is a size of the
 * tensor to be made, possibly plus a constant, that is its size; where only
 * a bound is known (an affine access), the smallest size that satisfies it.
 */
#include "api.h"

typedef struct solver {
    const program *p;
    tensor *const *known;
    int64_t (*shape)[STC_MAX_ORDER]; /* NONE: not found yet */
    const bool *want;
} solver;

static bool dim_value(const solver *s, int slot, int mode, int64_t *out)
{
    if (s->want[slot]) {
        *out = s->shape[slot][mode];
        return *out != NONE;
    }
    if (!s->known[slot]) return false;
    *out = s->known[slot]->shape[mode];
    return true;
}

/* The value of an extent as far as it is known; recursion goes to earlier
 * rows only. */
static bool ext_value(const solver *s, int id, int64_t *out)
{
    const extent *e = &s->p->ext[id];
    int64_t a = 0, b = 0;
    if (e->op == EXT_SPAN) return false;
    if (e->op == EXT_DIM) return dim_value(s, e->a, e->b, out);
    return (e->op == EXT_CONST || ext_value(s, e->a, &a)) &&
           (!extent_of_two(e) || ext_value(s, e->b, &b)) && extent_value(e, a, b, out);
}

/* Makes extent `id` equal v, if it is an unknown size plus a constant. */
static bool assign(solver *s, int id, int64_t v)
{
    const extent *e = &s->p->ext[id];
    while (e->op == EXT_ADDC || e->op == EXT_MAX0) {
        if (e->op == EXT_ADDC && __builtin_sub_overflow(v, e->k, &v)) return false;
        e = &s->p->ext[e->a];
    }
    if (e->op != EXT_DIM || !s->want[e->a] || s->shape[e->a][e->b] != NONE) return false;
    s->shape[e->a][e->b] = v > 0 ? v : 0;
    return true;
}

/* One pass over the checks; true if something became known. */
static bool pass(solver *s, ext_rel rel)
{
    bool found = false;
    for (int i = 0; i < s->p->ncheck; i++) {
        const ext_check *c = &s->p->check[i];
        int64_t v;
        if (c->rel != rel) continue;
        if (ext_value(s, c->a, &v)) {
            found |= assign(s, c->b, v);
        } else if (rel == REL_EQ && ext_value(s, c->b, &v)) {
            found |= assign(s, c->a, v);
        }
    }
    return found;
}

stc_status shapes_solve(const program *p, tensor *const *known, const bool *want,
                        int64_t (*shape)[STC_MAX_ORDER])
{
    solver s = {.p = p, .known = known, .shape = shape, .want = want};
    for (int t = 0; t < p->ntensor; t++) {
        for (int k = 0; k < STC_MAX_ORDER; k++)
            shape[t][k] = NONE;
    }
    while (pass(&s, REL_EQ) || pass(&s, REL_LE)) {
    }
    for (int t = 0; t < p->ntensor; t++) {
        for (int k = 0; want[t] && k < p->tensor[t].order; k++) {
            if (shape[t][k] != NONE) continue;
            return fail(p->cx, STC_ERR_SHAPE,
                        "the size of mode %d of %s doesn't follow from the other operands; "
                        "expected a tensor whose shape is known in its place",
                        k, p->tensor[t].name);
        }
    }
    return STC_OK;
}
