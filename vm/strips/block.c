/* block.c: a block of a tensor that has a place for each coordinate becomes what another
 * such tensor has, element by element.
 *
 * In each mode the block begins at a coordinate and goes on in steps, which may go back. It
 * happens as a whole or not at all: what the block becomes is worked out in the other
 * tensor, which is the program's own; then it is copied. Rows of the last level are taken a
 * strip at a time; where both lie side by side, as they are.
 */
#include "strip.h"
#include <string.h>

/* The places of one of two tensors: how far it is from one coordinate of the block to the
 * next in mode m, and to its first element. */
typedef struct places {
    int64_t step[STC_MAX_ORDER], first;
} places;

static places places_of(const tensor *t)
{
    places p = {.first = 0};
    int64_t each = 1;
    for (int l = t->fmt.levels; l-- > 0; each *= t->level[l].extent) {
        p.step[t->fmt.level[l].map.mode] = each;
        p.first -= t->level[l].base * each;
    }
    return p;
}

/* … of those that the block names; false: some lie outside. */
static bool named(const tensor *t, const int64_t *size, const int64_t *first,
                  const int64_t *by, places *p)
{
    *p = places_of(t);
    for (int m = 0; m < t->fmt.order; m++) {
        int64_t last;
        if (__builtin_mul_overflow(size[m] - 1, by[m], &last) ||
            __builtin_add_overflow(last, first[m], &last) || first[m] < 0 || last < 0 ||
            first[m] >= t->shape[m] || last >= t->shape[m])
            return false;
        p->first += first[m] * p->step[m];
        p->step[m] *= by[m];
    }
    return true;
}

typedef struct block {
    machine *mc;
    tensor *to, *from;
    places in_to, in_from;
    int fn;
    const lop *at;
    int mode[STC_MAX_ORDER]; /* outermost first, as `from` has its levels              */
    int64_t far[STRIP];      /* how far the lanes of a strip are from its first one */
} block;

static void *element(const tensor *t, int64_t at)
{
    return (char *)t->vals + (size_t)at * type_size(t->type);
}

/* n elements of the block from place `at` on. */
static column old_run(const block *b, int64_t at, const void **vals)
{
    const bool aside = b->far[1] == 1;
    *vals = aside ? b->to->vals : element(b->to, at);
    return (column){.form = aside ? COL_STEP : COL_ARRAY,
                    .base = at,
                    .data = (int64_t *)b->far,
                    .full = true};
}

/* What n elements become, in place of the other tensor's, unless the function faults. */
static stc_status work_out_run(const block *b, int64_t to, int64_t from, int n)
{
    const vclass cls = type_class(b->to->type);
    const void *vals;
    const column own = {.form = COL_STEP, .base = from, .full = true};
    const column old = old_run(b, to, &vals);
    value was[STRIP], x[STRIP], out[STRIP];
    strip_load(b->to->type, was, vals, &old, n, (value){0});
    strip_load(b->from->type, x, b->from->vals, &own, n, (value){0});
    if (fn_array_of(b->fn, cls)(out, was, x, NULL, n))
        return update_fault(b->mc, b->fn, cls, was, x, n, b->at);
    strip_store(b->from->type, b->from->vals, from, out, cls, n);
    return STC_OK;
}

static void copy_run(const block *b, int64_t to, int64_t from, int n)
{
    const column own = {.form = COL_STEP, .base = from, .full = true};
    value x[STRIP];
    strip_load(b->from->type, x, b->from->vals, &own, n, (value){0});
    if (b->far[1] == 1)
        strip_store(b->to->type, b->to->vals, to, x, type_class(b->to->type), n);
    else
        strip_scatter(b->to->type, element(b->to, to), 0, b->far, x, n);
}

/* The elements at all coordinates of the modes from `depth` on. */
static stc_status rows(block *b, const int64_t *size, int depth, int64_t to, int64_t from,
                       bool copies)
{
    const int m = b->mode[depth];
    const int64_t n = size[m], far = b->in_to.step[m], each = b->in_from.step[m];
    stc_status st = STC_OK;
    if (depth + 1 < b->to->fmt.order) {
        for (int64_t k = 0; k < n && !st; k++)
            st = rows(b, size, depth + 1, to + k * far, from + k * each, copies);
        return st;
    }
    if (copies && b->far[1] == 1 && b->to->type == b->from->type) {
        memcpy(element(b->to, to), element(b->from, from),
               (size_t)n * type_size(b->to->type));
        return STC_OK;
    }
    for (int64_t k = 0; k < n && !st; k += STRIP) {
        const int lanes = n - k < STRIP ? (int)(n - k) : STRIP;
        if (copies)
            copy_run(b, to + k * far, from + k, lanes);
        else
            st = work_out_run(b, to + k * far, from + k, lanes);
    }
    return st;
}

stc_status strip_block(machine *mc, slot *to, slot *from, int fn, const int64_t *first,
                       const lop *at)
{
    const int order = from->t->fmt.order;
    const int64_t *const size = from->t->shape;
    block b;
    int64_t all = 1;
    for (int m = 0; m < order; m++)
        all *= size[m];
    if (!all) return STC_OK;
    stc_status st = update_own(to);
    if (st) return st;
    b = (block){.mc = mc, .to = to->t, .from = from->t, .fn = fn, .at = at};
    b.in_from = places_of(from->t);
    if (!named(to->t, size, first, first + order, &b.in_to)) return update_outside(mc, at);
    for (int l = 0, n = 0; l < 2 * order; l++) { /* those of one value first */
        const int m = from->t->fmt.level[l % order].map.mode;
        if ((size[m] == 1) == (l < order)) b.mode[n++] = m;
    }
    for (int k = 0; k < STRIP; k++)
        b.far[k] = k * b.in_to.step[b.mode[order - 1]];
    const int64_t begin = b.in_to.first, own = b.in_from.first;
    if (fn != FN_LAST) st = rows(&b, size, 0, begin, own, false);
    if (!st) st = work_done(mc->cx, (uint64_t)all);
    if (!st) st = rows(&b, size, 0, begin, own, true);
    to->t->summed = 0;
    return st;
}
