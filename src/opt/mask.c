/* mask.c: sums under a mask, into a tensor that is there.
 *
 * In P(i,j) = sum(f: X(i,f) * Y(j,f)) where A(i,j) the elements that aren't named stay, so
 * new ones and old ones meet, and what reduces can't be a side of the choice between them:
 * all would go through a workspace of coordinates that is sorted. So what is new becomes a
 * step, as if it had been assigned to a tensor that isn't there yet; the choice is made
 * between two operands then, a row after the other.
 *
 * In r(j) = sum(i: v(i) * A(i,j)) where !w(j) the sum adds to wherever the entries of its
 * rows are, which a loop over the places that the mask names can't: the step computes all
 * of it. Of a matrix far more would be computed than is named, unless the mask names all
 * but what some operand stores, as !A(i,j) of a sparse A does.
 *
 * The step is stored as the target is; but of a product that has terms at few places of a
 * matrix only those are, if what the target has elsewhere is what no terms give.
 */
#include "opt.h"

/* Whether elements of the format are appended, and not put where they belong. */
static bool appends(const format *f)
{
    bool finds = true;
    for (int l = 0; l < f->levels; l++)
        finds = finds && f->level[l].kind->caps & CAP_LOCATE;
    return !finds && format_is_plain(f);
}

/* Whether the mask names all but what is stored. */
static bool names_most(const program *p, const bexpr *mask)
{
    value fill;
    return reads_some(p, mask) && fill_of(p, mask, &fill) && fill.i64;
}

/* Whether all of the sum is computed. */
static bool computes_all(const program *p, const bstmt *s)
{
    return s->nsub == 1 ? reads_across(p, s->value, 0) : names_most(p, s->mask);
}

/* Whether the step has the mask, too. */
static bool masks_step(const program *p, const bstmt *s)
{
    return s->op < 0 && appends(&p->tensor[s->target].fmt);
}

bool mask_may(const program *p, const bstmt *s)
{
    const prog_tensor *t = &p->tensor[s->target];
    return s->mask && s->bare && !s->whole && !s->fresh && !s->schedule && s->nsub > 0 &&
           !t->fill_later && expr_reduction(s->value) && s->nindex <= BOUND_INDICES &&
           !expr_may_fault(s->value) && (computes_all(p, s) || masks_step(p, s));
}

/* The right side in the target's type. */
static bexpr *new_elements(opt *o)
{
    const stc_type type = o->p->tensor[o->s->target].type;
    bexpr *const e = o->s->value;
    return type_class(e->type) == type_class(type) ? e : expr_conv(o->a, e, type);
}

/* The element where mask, and else the target's fill. */
static bexpr *where_mask(opt *o, bexpr *element)
{
    const bstmt *s = o->s;
    const prog_tensor *t = &o->p->tensor[s->target];
    bexpr *const e = element ? expr_select(o->a, gathered_copy(o, s->mask), element,
                                           expr_const(o->a, t->type, t->fill, s->at), s->at)
                             : NULL;
    if (e) e->type = t->type;
    return e;
}

/* Whether a mask that names all but what is stored, which is nearly all, names so few
 * places of a matrix that reducing at each of them takes less than computing all. */
static bool few_named(opt *o)
{
    const bstmt *const s = o->s;
    value fill;
    product *const x = arena_room(o->a, 1, sizeof *x);
    if (!x || s->nsub < 2 || !fill_of(o->p, s->mask, &fill) || !factors_of(o, s->value, x))
        return false;
    cost_extents(o);
    const double named = 1 - cost_density(o, s->mask, &fill);
    return named * cost_places(o, left_of(x)) * cost_each(o, x, false) <
           cost_nest(o, x->factor, x->n);
}

/* The part of the places that are stored at which a place for all takes less. */
static const double little = 0.25;

/* Whether the right side, of an order of 2 and more, is nothing but `fill` at most places.
 */
static bool mostly_fill(opt *o, const bexpr *e, value fill)
{
    product *const x = arena_room(o->a, 1, sizeof *x);
    if (!x || e->kind != B_REDUCE || o->s->nsub < 2 || !factors_of(o, e, x)) return false;
    cost_extents(o);
    return class_equal(e->cls, x->identity, fill) && cost_starts_from(o, x) &&
           cost_result(o, x->factor, x->n, left_of(x)) < little;
}

stc_status mask_step(opt *o)
{
    bstmt *s = o->s;
    if (!mask_may(o->p, s)) return STC_OK;
    const bool all = computes_all(o->p, s) && !few_named(o);
    if (!all && !masks_step(o->p, s)) return STC_OK;
    const prog_tensor *to = &o->p->tensor[s->target];
    /* what op= takes may lie beyond its type's limits */
    const bool op = s->op >= 0 && type_class(s->value->type) == type_class(to->type);
    const stc_type type = op ? s->value->type : to->type;
    prog_tensor t = {.type = type,
                     .order = to->order,
                     .fill = type_convert(type, to->type, to->fill),
                     .fmt = to->fmt};
    int index[STC_MAX_ORDER];
    for (int m = 0; m < t.order; m++) {
        index[m] = s->sub[m].term[0].index;
        t.shape[m] = (uint16_t)s->index[index[m]].hi;
    }
    if (all && format_stores_all(&t.fmt) &&
        mostly_fill(o, s->value, type_convert(s->value->type, to->type, to->fill)))
        shape_rows(&t);
    const int slot = step_slot(o, t);
    bexpr *right = slot < 0 ? NULL : new_elements(o);
    if (!all) right = where_mask(o, right);
    bexpr *const read = right ? step_read(o, slot, index, s->at) : NULL;
    opt_step *const step = read ? step_add(o, slot, read->sub, right) : NULL;
    if (!step) return STC_ERR_MEMORY;
    step->s.bare = true;
    s->value = read;
    return STC_OK;
}
