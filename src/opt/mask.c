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
 * of it. Of a matrix far more would be computed than is named.
 */
#include "opt.h"

static bool reduces(const bexpr *e)
{
    bool found = e->kind == B_REDUCE;
    for (int k = 0; k < e->nargs && !found; k++)
        found = reduces(e->args[k]);
    return found;
}

/* Whether elements of the format are appended, and not put where they belong. */
static bool appends(const format *f)
{
    bool finds = true;
    for (int l = 0; l < f->levels; l++)
        finds = finds && f->level[l].kind->caps & CAP_LOCATE;
    return !finds && format_is_plain(f);
}

/* Whether an operand in e is read across its rows by what is reduced, if that is one of the
 * indices in the set. */
static bool reads_across(const program *p, const bexpr *e, uint64_t reduced)
{
    if (e->kind == B_REDUCE) reduced |= bound_by(e);
    if (e->kind == B_ACCESS) {
        const uint64_t last = innermost_index(p, e);
        return last && !(last & reduced) && opt_indices(p, e) & reduced;
    }
    bool found = false;
    for (int k = 0; k < e->nargs && !found; k++)
        found = reads_across(p, e->args[k], reduced);
    return found;
}

/* Whether all of the sum is computed. */
static bool computes_all(const program *p, const bstmt *s)
{
    return s->nsub == 1 && reads_across(p, s->value, 0);
}

bool mask_may(const program *p, const bstmt *s)
{
    const prog_tensor *t = &p->tensor[s->target];
    return s->mask && s->bare && !s->whole && !s->fresh && !s->schedule && s->nsub > 0 &&
           !t->fill_later && reduces(s->value) && s->nindex <= BOUND_INDICES &&
           !expr_may_fault(s->value) &&
           (computes_all(p, s) || (s->op < 0 && appends(&t->fmt)));
}

/* The right side in the target's type. */
static bexpr *new_elements(opt *o)
{
    bstmt *s = o->s;
    const prog_tensor *t = &o->p->tensor[s->target];
    const bexpr conv = {.kind = B_CONV, .type = t->type, .at = s->at, .fn = -1, .mark = -1};
    if (type_class(s->value->type) == type_class(t->type)) return s->value;
    bexpr *const to = node_like(o, &conv, 1);
    if (to) to->args[0] = s->value;
    return to;
}

/* The element where mask, and else the target's fill. */
static bexpr *where_mask(opt *o, bexpr *element)
{
    bstmt *s = o->s;
    const prog_tensor *t = &o->p->tensor[s->target];
    const bexpr call = {.kind = B_CALL,
                        .type = t->type,
                        .at = s->at,
                        .fn = FN_SELECT,
                        .mark = -1,
                        .cls = type_class(t->type)};
    const bexpr none = {.kind = B_CONST,
                        .type = t->type,
                        .at = s->at,
                        .fn = -1,
                        .mark = -1,
                        .value = t->fill};
    bexpr *const e = element ? node_like(o, &call, 3) : NULL;
    if (!e) return NULL;
    e->args[0] = gathered_copy(o, s->mask);
    e->args[1] = element;
    e->args[2] = node_like(o, &none, 0);
    return e->args[0] && e->args[2] ? e : NULL;
}

stc_status mask_step(opt *o)
{
    bstmt *s = o->s;
    if (!mask_may(o->p, s)) return STC_OK;
    const prog_tensor *to = &o->p->tensor[s->target];
    char name[24];
    snprintf(name, sizeof name, "step%d", o->nstep + 1);
    prog_tensor t = {.name = name,
                     .role = ROLE_TEMP,
                     .type = to->type,
                     .order = to->order,
                     .fill = to->fill,
                     .fmt = to->fmt};
    int index[STC_MAX_ORDER];
    for (int m = 0; m < t.order; m++) {
        index[m] = s->sub[m].term[0].index;
        t.shape[m] = (uint16_t)s->index[index[m]].hi;
    }
    const int slot = program_tensor(o->p, &t);
    bexpr *right = slot < 0 ? NULL : new_elements(o);
    if (!computes_all(o->p, s)) right = where_mask(o, right);
    bexpr *const read = right ? step_read(o, slot, index, s->at) : NULL;
    if (!read || !step_room(o, 1)) return STC_ERR_MEMORY;
    o->step[o->nstep++] = (opt_step){.s = {.at = s->at,
                                           .target = slot,
                                           .nsub = s->nsub,
                                           .sub = read->sub,
                                           .bare = true,
                                           .whole = true,
                                           .fresh = true,
                                           .format_given = true,
                                           .fill_given = true,
                                           .op = -1,
                                           .value = right,
                                           .nindex = s->nindex,
                                           .index = s->index},
                                     .look = -1};
    s->value = read;
    return STC_OK;
}
