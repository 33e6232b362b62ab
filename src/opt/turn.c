/* turn.c: operands that are read across their rows.
 *
 * In Y(i,k) = A(i,j) * W(k,j) with a sparse A, loops over i, j and k read a column of a
 * dense W for each entry of A: an element from each of its rows. Where that happens many
 * times as often as W has elements, a copy of it by columns is made first, and kept as long
 * as W stays as it is; planning makes it (plan/analyze.c), where its loops do go across.
 * Only asked for where operands are known: what it costs depends on how much they hold.
 */
#include "opt.h"

/* An element is copied for what so many reads across save. */
static const double copied = 1.2;

uint64_t innermost_index(const program *p, const bexpr *e)
{
    const format *f = &p->tensor[e->tensor].fmt;
    if (e->kind != B_ACCESS || !f->levels) return 0;
    const level_map *m = &f->level[f->levels - 1].map;
    const affine *at = &e->sub[m->mode];
    return m->op == MAP_MODE && at->terms ? UINT64_C(1) << at->term[0].index : 0;
}

/* An operand that is stored everywhere, in rows along an index that is reduced. */
static bool has_rows(const program *p, const bexpr *e, uint64_t reduced)
{
    return e->kind == B_ACCESS && p->tensor[e->tensor].order > 1 && !e->pad && !e->nargs &&
           p->tensor[e->tensor].role == ROLE_INPUT && !stores_some(p, e) &&
           innermost_index(p, e) & reduced && !has_window(p, e);
}

bool turn_may(const program *p, const bexpr *e, uint64_t reduced)
{
    if (e->kind == B_REDUCE) reduced |= bound_by(e);
    if (reduced && has_rows(p, e, reduced)) return true;
    for (int k = 0; k < e->nargs; k++)
        if (turn_may(p, e->args[k], reduced)) return true;
    return false;
}

/* Whether what is stored of x along e's rows says where e is read, and nothing that is
 * stored says at which of its rows. */
static bool goes_across(const product *x, uint64_t rows, uint64_t along)
{
    bool sparse = false;
    for (int k = 0; k < x->n; k++) {
        const factor *f = &x->factor[k];
        if (f->full) continue;
        if (f->indices & rows) return false;
        sparse |= (f->indices & along) != 0;
    }
    return sparse;
}

/* Marks what is worth it in e, which x is the product of. */
static void mark(const opt *o, const product *x, bexpr *e)
{
    if (has_rows(o->p, e, x->reduced)) {
        const uint64_t all = opt_indices(o->p, e), along = innermost_index(o->p, e);
        double rows;
        e->turned = stats_extent(o, e->tensor, 0, &rows) &&
                    goes_across(x, all & ~along, along) &&
                    cost_nest(o, x->factor, x->n) > copied * cost_places(o, all);
    }
    for (int k = 0; k < e->nargs; k++)
        mark(o, x, e->args[k]);
}

stc_status turn(const opt *o, bexpr *e)
{
    stc_status st = STC_OK;
    if (e->kind == B_REDUCE && turn_may(o->p, e, 0)) {
        product *x = arena_room(o->a, 1, sizeof *x);
        if (!x) return STC_ERR_MEMORY;
        if (product_of(o, e, x)) mark(o, x, e->args[0]);
    }
    for (int k = 0; k < e->nargs && !st; k++)
        st = turn(o, e->args[k]);
    return st;
}
