/* accesses.c: the distinct accesses of a statement.
 *
 * Two accesses are one if they read the same tensor at the same coordinates:
 * they share a cursor and a bit of every mask (so `A(i,j) * A(i,j)` needs no
 * filtered product; array programming paper, appendix A.3).
 */
#include "plan.h"

stc_status access_set_format(plan *pl, paccess *x, const format *f)
{
    const plevel *own = x->native && x->converted ? x->level : NULL; /* read by levels */
    const relation *r = x->converted || format_is_plain(f)
                            ? NULL
                            : loops_all_levels(pl, (int)(x - pl->access));
    x->level = arena_array(pl->a, f->levels + 1, sizeof *x->level);
    if (!x->level) return STC_ERR_MEMORY;
    x->levels = f->levels;
    x->why = NULL;
    for (int l = 0; l < f->levels; l++) {
        const level_spec *spec = &f->level[l];
        x->level[l] = (plevel){.kind = spec->kind, .props = format_props(f, l)};
        if (own)
            x->level[l].at = own[l].at;
        else if (r)
            x->level[l].at = (affine){1, {{r->own[l], 1}}, 0};
        else if (spec->map.op == MAP_MODE)
            x->level[l].at = x->sub[spec->map.mode];
        if ((own || r) && spec->map.op == MAP_COUNT)
            x->level[l].props &= ~(uint32_t)PROP_FULL;
    }
    x->native |= r != NULL;
    if (!format_is_plain(f) && !own && !r) x->why = "its levels aren't modes";
    return STC_OK;
}

static bool same_place(const plan *pl, const affine *a, const affine *b, int order);

/* What a subscript is computed by; NULL: it isn't. */
static const bexpr *computed_sub(const plan *pl, const affine *f)
{
    return affine_is_bare(f) ? pl->s->index[f->term[0].index].value : NULL;
}

/* Whether two expressions of one statement are the same, node by node. */
static bool same_expr(const plan *pl, const bexpr *a, const bexpr *b)
{
    if (a == b) return true;
    if (a->kind != b->kind || a->type != b->type || a->nargs != b->nargs) return false;
    for (int k = 0; k < a->nargs; k++)
        if (!same_expr(pl, a->args[k], b->args[k])) return false;
    switch (a->kind) {
    case B_CONST:
        return class_equal(type_class(a->type), a->value, b->value);
    case B_INDEX:
        return a->index == b->index;
    case B_CALL:
        return a->fn == b->fn && a->cls == b->cls;
    case B_ACCESS:
        return a->tensor == b->tensor && a->pad == b->pad &&
               same_place(pl, a->sub, b->sub, pl->p->tensor[a->tensor].order);
    default:
        return a->kind == B_CONV;
    }
}

/* … the same subscripts of a tensor: each computed one has an index of its own. */
static bool same_place(const plan *pl, const affine *a, const affine *b, int order)
{
    for (int m = 0; m < order; m++) {
        if (affine_equal(&a[m], &b[m])) continue;
        const bexpr *const x = computed_sub(pl, &a[m]), *const y = computed_sub(pl, &b[m]);
        if (!x || !y || !same_expr(pl, x, y)) return false;
    }
    return true;
}

int plan_access_add(plan *pl, bexpr *e)
{
    int order = pl->p->tensor[e->tensor].order;
    for (int k = 0; k < pl->naccess; k++) {
        const paccess *x = &pl->access[k];
        if (x->source != e->tensor || x->pad != e->pad || x->group != pl->group ||
            !same_place(pl, x->sub, e->sub, order))
            continue;
        pl->access[k].copied |= e->copied;
        return e->mark = k;
    }
    if (pl->naccess == PLAN_ACCESSES) {
        fail_source(pl->src, STC_ERR_PROGRAM, e->at,
                    "a statement reads at most %d distinct accesses; split it in two",
                    PLAN_ACCESSES);
        return -1;
    }
    paccess *x = &pl->access[pl->naccess];
    *x = (paccess){.tensor = e->tensor,
                   .source = e->tensor,
                   .sub = e->sub,
                   .pad = e->pad,
                   .waits = e->waits,
                   .copied = e->copied,
                   .native = pl->p->tensor[e->tensor].role == ROLE_WORK ||
                             precompute_of(pl, e->tensor),
                   .group = pl->group};
    if (access_set_format(pl, x, &pl->p->tensor[e->tensor].fmt)) return -1;
    return e->mark = pl->naccess++;
}

/* Whether evaluating a computed subscript could fail other than by lying outside. */
static bool faults_elsewhere(const bexpr *e)
{
    if (e->kind != B_ACCESS && (expr_call_faults(e) || e->kind == B_USER)) return true;
    for (int k = 0; k < e->nargs; k++)
        if (faults_elsewhere(e->args[k])) return true;
    return false;
}

/* Adds an access of the right side, whose subscripts become those of the loops. */
static stc_status add_looped(plan *pl, bexpr *e)
{
    bexpr looped = *e;
    const affine *sub = e->sub;
    for (int k = 0; e->waits && k < e->nargs; k++)
        if (faults_elsewhere(e->args[k]))
            return fail_source(pl->src, STC_ERR_PROGRAM, e->args[k]->at,
                               "this subscript could fail where its side isn't taken; "
                               "assign it to a tensor first");
    stc_status st = loops_subscripts(pl, &sub, pl->p->tensor[e->tensor].order);
    if (st) return st;
    looped.sub = (affine *)sub;
    e->mark = plan_access_add(pl, &looped);
    if (e->mark < 0) return pl->p->cx->diag.status;
    for (int k = 0; k < e->nargs; k++)
        pl->access[e->mark].reads |= expr_uses(e->args[k]);
    return STC_OK;
}

/* What a computed subscript reads comes before what is read there. */
stc_status plan_accesses(plan *pl, bexpr *e)
{
    if (e->kind == B_REDUCE) e->mark = -1;
    for (int k = 0; k < e->nargs; k++) {
        stc_status st = plan_accesses(pl, e->args[k]);
        if (st) return st;
    }
    return e->kind == B_ACCESS ? add_looped(pl, e) : STC_OK;
}

uint64_t expr_uses(const bexpr *e)
{
    uint64_t set = e->kind == B_ACCESS ? UINT64_C(1) << e->mark : 0;
    if (e->kind == B_REDUCE && e->mark >= 0) return 0; /* a temporary by now */
    for (int k = 0; k < e->nargs; k++)
        set |= expr_uses(e->args[k]);
    return set;
}

uint64_t expr_indices(const plan *pl, const bexpr *e)
{
    uint64_t set = 0;
    if (e->kind == B_INDEX) set |= UINT64_C(1) << e->index;
    if (e->kind == B_ACCESS) {
        set |= precompute_outer(pl, e->tensor);
        for (int m = 0; m < pl->p->tensor[e->tensor].order; m++)
            set |= affine_indices(&e->sub[m]) & ~pl->computed_set;
    }
    for (int k = 0; k < e->nargs; k++)
        set |= expr_indices(pl, e->args[k]);
    if (e->kind == B_REDUCE)
        for (int k = 0; k < e->nindex; k++)
            set &= ~(UINT64_C(1) << e->indices[k]);
    return set;
}

/* ---- computed subscripts ---------------------------------------------------------- */

void plan_computed(plan *pl)
{
    pl->ncomputed = 0;
    pl->computed_set = 0;
    for (int k = 0; k < pl->s->nindex; k++)
        if (pl->s->index[k].value) pl->computed_set |= UINT64_C(1) << k;
    for (uint64_t left = pl->computed_set; left; left &= left - 1) {
        const int k = __builtin_ctzll(left);
        const uint64_t from = expr_indices(pl, pl->s->index[k].value);
        pl->computed[pl->ncomputed++] = (computed_index){k, from};
    }
}

uint64_t plan_indices(const plan *pl, const affine *f)
{
    uint64_t set = affine_indices(f);
    for (int k = 0; k < pl->ncomputed && set & pl->computed_set; k++)
        if ((set >> pl->computed[k].index) & 1) set |= pl->computed[k].from;
    return set & ~pl->computed_set;
}
