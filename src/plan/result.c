/* result.c: what is free about a result: its fill, and its format.
 *
 * The fill is what the expression gives to its operands' fills. The format of
 * a result that isn't declared is dense where the iteration space, projected
 * onto the result's indices, is full, or empty, as of a constant; else dense in the first
 * of two or more modes and compressed in the rest (language.md).
 */
#include "plan.h"

/* Whether an access stores something at every coordinate of the indices in
 * `onto`, whatever the data: every level that they reach, and all above it,
 * are full. */
/* The same where levels aren't modes: those that are made of a mode in `onto`. */
static bool mapped_full(const plan *pl, const paccess *x, uint64_t onto)
{
    const format *f = &pl->p->tensor[x->source].fmt;
    for (int l = 0; l < f->levels; l++) {
        const level_map *m = &f->level[l].map;
        const int last = m->op == MAP_FLAT ? m->mode + m->modes - 1 : m->mode;
        uint64_t of = m->op == MAP_DIFF ? plan_indices(pl, &x->sub[m->mode2]) : 0;
        for (int k = m->mode; k <= last; k++)
            of |= plan_indices(pl, &x->sub[k]);
        if (of & onto && !(format_props(f, l) & PROP_FULL)) return false;
    }
    return !x->pad;
}

static bool access_full(const plan *pl, const paccess *x, uint64_t onto)
{
    if (!format_is_plain(&pl->p->tensor[x->source].fmt)) return mapped_full(pl, x, onto);
    bool full = !x->why && !x->pad;
    for (int l = 0; l < x->levels; l++) {
        full = full && (x->level[l].props & PROP_FULL);
        if ((plan_indices(pl, &x->level[l].at) & onto) && !full) return false;
    }
    return true;
}

static bool reads_sparse(const plan *pl, const pset *s)
{
    uint64_t set = pset_accesses(s);
    for (int k = 0; k < pl->naccess; k++)
        if (((set >> k) & 1) && !access_full(pl, &pl->access[k], UINT64_MAX)) return true;
    return false;
}

bool space_full(const plan *pl, const pset *s, uint64_t onto)
{
    switch (s->op) {
    case PS_ALL:
    case PS_WHERE: /* places that aren't visited are there */
        return true;
    case PS_STORED:
        return access_full(pl, &pl->access[s->access], onto);
    case PS_AND: /* what two sparse operands share may be nothing */
        return space_full(pl, s->a, onto) && space_full(pl, s->b, onto) &&
               !(reads_sparse(pl, s->a) && reads_sparse(pl, s->b));
    case PS_OR:
        return space_full(pl, s->a, onto) || space_full(pl, s->b, onto);
    default:
        return false;
    }
}

/* Whether something that leaves coordinates out has one of these indices. */
static bool led_sparsely(const plan *pl, const pset *s, uint64_t indices)
{
    const uint64_t set = pset_accesses(s);
    for (int k = 0; k < pl->naccess; k++) {
        const paccess *const x = &pl->access[k];
        for (int l = 0; ((set >> k) & 1) && l < x->levels; l++)
            if ((plan_indices(pl, &x->level[l].at) & indices) &&
                !(x->level[l].props & PROP_FULL))
                return true;
    }
    return false;
}

/* Whether an equality says what an inner index of the result is where sparse terms of a
 * sum are: T(i,l) = sum(j: A(i,j) * (lab(j) == l)) has no more than A. */
static bool settled(const plan *pl, const pset *s, const pset *all, uint64_t inner,
                    uint64_t onto)
{
    if (s->op == PS_AND)
        return settled(pl, s->a, all, inner, onto) || settled(pl, s->b, all, inner, onto);
    if (s->op == PS_OR)
        return settled(pl, s->a, s->a, inner, onto) && settled(pl, s->b, s->b, inner, onto);
    if (s->op != PS_WHERE || s->of->fn != FN_EQ) return false;
    const uint64_t reads = expr_indices(pl, s->of);
    return (reads & inner) && led_sparsely(pl, all, reads & ~onto);
}

/* Whether an equality of two of the result's indices leaves most of its places out, of a
 * space that may have all else: a diagonal, or a sum with one of sparse operands. */
static bool on_lines(const plan *pl, const pset *s, uint64_t onto)
{
    switch (s->op) {
    case PS_WHERE: {
        const uint64_t equal = s->of->fn == FN_EQ ? expr_indices(pl, s->of) & onto : 0;
        return equal & (equal - 1);
    }
    case PS_AND:
        return on_lines(pl, s->a, onto) || on_lines(pl, s->b, onto);
    case PS_OR: {
        const bool a = on_lines(pl, s->a, onto), b = on_lines(pl, s->b, onto);
        return (a || b) && (a || !space_full(pl, s->a, onto)) &&
               (b || !space_full(pl, s->b, onto));
    }
    default:
        return false;
    }
}

static void choose_format(plan *pl, const pset *space, prog_tensor *t)
{
    uint64_t onto = 0, outer = 0;
    for (int m = 0; m < pl->s->nsub; m++) {
        onto |= affine_indices(&pl->s->sub[m]);
        if (!m) outer = onto;
    }
    const level_kind *dense = level_full();
    const level_kind *sparse = level_sparse();
    const bool full = space->op == PS_NONE ||
                      (space_full(pl, space, onto) && !on_lines(pl, space, onto) &&
                       !settled(pl, space, space, onto & ~outer, onto));
    format_init(&t->fmt, t->order);
    for (int l = 0; l < t->order; l++)
        format_set(&t->fmt, l, full || (l == 0 && t->order > 1) ? dense : sparse, l, 0);
}

static bool is_reduction(const bexpr *e)
{
    while (e->kind == B_CONV)
        e = e->args[0];
    return e->kind == B_REDUCE;
}

/* What has no index has its value, and no place beside. Its fill is that of a reduction, by
 * which this ends early, else 0 whatever the value is made of: so a counter of a loop,
 * n = n + 1, is of one kind in all rounds. */
void plan_fill(plan *pl, const bexpr *root)
{
    prog_tensor *t = &pl->p->tensor[pl->s->target];
    fillval f = {.kind = FILL_KNOWN};
    if (t->order || is_reduction(root)) f = expr_fill(pl, root);
    t->fill_later = f.kind == FILL_LATER;
    t->fill = f.kind == FILL_KNOWN ? type_round(t->type, f.v) : (value){0};
}

const pset *result_space(plan *pl, const bexpr *e, const value *fill)
{
    const bool other = pl->s->fill_of && pl->p->tensor[pl->s->target].fill_later;
    return other ? pset_all() : expr_space(pl, e, fill);
}

/* Completes the target's row, and tells where the right side may differ from
 * its fill. */
stc_status plan_result(plan *pl, bexpr *root, const pset **space)
{
    prog_tensor *t = &pl->p->tensor[pl->s->target];
    const value *target = &t->fill;
    bool kept = !pl->s->whole && !pl->s->fresh; /* what isn't named stays as it is */
    if (!pl->s->fill_given && !kept) {
        plan_fill(pl, pl->s->fill_of ? pl->s->fill_of : root);
        if (t->fill_later) target = NULL;
    }
    if (pl->s->fill_given) { /* where its algebra leaves it out, it has that fill */
        pl->given_fill = root;
        while (pl->given_fill->kind == B_CONV)
            pl->given_fill = pl->given_fill->args[0];
    }
    if (!(*space = result_space(pl, root, target))) return STC_ERR_MEMORY;
    if (pl->s->format_given || kept) return STC_OK;
    const pset *const read = precompute_space(pl, *space, PRECOMPUTE_INSIDE);
    if (!read) return STC_ERR_MEMORY;
    choose_format(pl, read, t);
    return STC_OK;
}
