/* subsect.c: cursors over subsections: their windows as registers and extents.
 *
 * The coordinate of an unresolved level is c0*i0 + c1*i1 + … + k. The terms
 * whose index is bound make the window's offset, those that are free its
 * width, 1 + the sum of |c| (|i| - 1) (convolutions paper, §5.2.3, with strides
 * and negative coefficients counted), and the least they can be belongs to the
 * offset too.
 */
#include "lower.h"

static int add_extent(lowering *lo, extent e)
{
    const int id = program_extent(lo->p, e);
    if (id < 0 && !lo->status) lo->status = STC_ERR_MEMORY;
    return id < 0 ? 0 : id;
}

static bool is_free(const lowering *lo, const affine *at, int t, int index)
{
    return at->term[t].index != index && !((lo->bound >> at->term[t].index) & 1);
}

static int window_width(lowering *lo, const affine *at, int index)
{
    int sum = add_extent(lo, (extent){.op = EXT_CONST, .k = 1});
    for (int t = 0; t < at->terms; t++) {
        if (!is_free(lo, at, t, index)) continue;
        const int64_t c = at->term[t].coef;
        int e = lower_extent_length(lo, at->term[t].index);
        e = add_extent(lo, (extent){.op = EXT_ADDC, .a = (uint16_t)e, .k = -1});
        e = add_extent(lo, (extent){.op = EXT_MULC, .a = (uint16_t)e, .k = c < 0 ? -c : c});
        sum = add_extent(lo, (extent){.op = EXT_ADD, .a = (uint16_t)sum, .b = (uint16_t)e});
    }
    return sum;
}

/* The extent that is the least value of a term's index times its coefficient: of a
 * negative one the last value, one below the end, which *shift makes up for if it can. */
static int least_of(lowering *lo, int of, int64_t coef, int64_t *shift)
{
    const bindex *b = &lo->pl->s->index[of];
    int64_t more;
    if (coef > 0) return b->lo;
    if (!__builtin_sub_overflow(*shift, coef, &more)) {
        *shift = more;
        return b->hi;
    }
    return add_extent(lo, (extent){.op = EXT_ADDC, .a = (uint16_t)b->hi, .k = -1});
}

/* What is bound but for `index`, and the least of what is free. */
static int window_offset(lowering *lo, const affine *at, int index)
{
    affine known = {.constant = at->constant};
    int least[sizeof at->term / sizeof *at->term];
    for (int t = 0; t < at->terms; t++) {
        least[t] = -1;
        if (is_free(lo, at, t, index))
            least[t] = least_of(lo, at->term[t].index, at->term[t].coef, &known.constant);
        else
            known.term[known.terms++] = at->term[t];
    }
    int sum = lower_affine(lo, &known, index, false);
    for (int t = 0; t < at->terms; t++) {
        if (least[t] < 0) continue;
        int from = lower_ireg(lo), next = lower_ireg(lo);
        EMIT(lo, OP_IEXTENT, from, least[t]);
        EMIT(lo, OP_IMULADD, next, from, lower_iconst(lo, at->term[t].coef), sum);
        sum = next;
    }
    return sum;
}

/* The cursor below which level l's subsections are: made where there is none
 * yet for the windows above, which stay where they are. */
static int parent(lowering *lo, int access, int l, int root)
{
    const uint16_t *sub = lo->subsect + access * STC_MAX_ORDER;
    if (sub[l] != ROOT) return sub[l];
    if (l == root) return l ? lo->cursor[access][l - 1] : ROOT;
    if (sub[l - 1] != ROOT) return sub[l - 1];
    const int c = lower_subsect(lo, access, l - 1, root, -1);
    EMIT(lo, OP_SEEK, c, lower_zero(lo));
    return c;
}

int lower_subsect(lowering *lo, int access, int l, int root, int index)
{
    const paccess *x = &lo->pl->access[access];
    const affine *at = &x->level[l].at;
    int64_t coef = 1;
    for (int t = 0; t < at->terms; t++)
        if (at->term[t].index == index) coef = at->term[t].coef;
    const int up = parent(lo, access, l, root), c = lower_creg(lo);
    const int offset = window_offset(lo, at, index);
    EMIT(lo, OP_SUBSECT, c, x->tensor, l, up, offset, lower_iconst(lo, coef),
         window_width(lo, at, index));
    lo->subsect[access * STC_MAX_ORDER + l] = (uint16_t)c;
    return c;
}
