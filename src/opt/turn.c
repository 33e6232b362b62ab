/* turn.c: operands that are read, and results that are written, across their rows; and
 * operands that are searched.
 *
 * In Y(i,k) = A(i,j) * W(k,j) with a sparse A, loops over i, j and k read a column of a
 * dense W for each entry of A: an element from each of its rows. Where that happens many
 * times as often as W has elements, a copy of it by columns is made first, and kept as long
 * as W stays as it is; planning makes it (plan/analyze.c), where its loops do go across.
 *
 * In C(i,j) = A(i,k) * B(k,j) a row of B is looked for at each entry of A, and read. Where
 * rows are groups of equal coordinates (coo), or in no order, a copy by rows pays if each
 * entry is read several times.
 *
 * In y(i) = A(i,j) * x(j) a vector x that stores some coordinates is searched at each entry
 * of A. Where A has more entries than x has places, a copy of x that finds them pays.
 *
 * In Y(k,i) = A(i,j) * X(j,k) rows of X would be added to columns of Y. Where there are
 * many more terms than places in Y, the sum is a step of its own, stored as its loops have
 * it, of which Y is a copy by columns.
 *
 * Only asked for where operands are known: what it costs depends on how much they hold.
 */
#include "opt.h"
#include <float.h>

/* An element is copied for what so many reads across save. */
static const double copied = 1.2;
/* An entry is put in order for what so many reads of it save. */
static const double ordered = 3;

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

/* A matrix, or more, whose levels are modes. */
static bool is_plain(const program *p, const bexpr *e)
{
    return e->kind == B_ACCESS && p->tensor[e->tensor].order > 1 && !e->nargs &&
           p->tensor[e->tensor].role == ROLE_INPUT &&
           format_is_plain(&p->tensor[e->tensor].fmt);
}

/* An operand that lists the rows that have entries. */
static bool lists_rows(const program *p, const bexpr *e)
{
    return e->kind == B_ACCESS && p->tensor[e->tensor].order > 1 &&
           !(format_props(&p->tensor[e->tensor].fmt, 0) & PROP_FULL) && is_plain(p, e);
}

/* An operand that stores some coordinates, in groups or in no order. */
static bool is_rough(const program *p, const bexpr *e)
{
    enum { NEAT = PROP_ORDERED | PROP_UNIQUE };
    const format *f = &p->tensor[e->tensor].fmt;
    bool rough = false;
    for (int l = 0; e->kind == B_ACCESS && l < f->levels && !rough; l++)
        rough = (format_props(f, l) & NEAT) != NEAT;
    return rough && is_plain(p, e) && !e->pad && !has_window(p, e);
}

/* A vector of entries, not of runs, in which a coordinate is searched. */
static bool is_sought(const program *p, const bexpr *e)
{
    if (e->kind != B_ACCESS || e->nargs || e->pad || has_window(p, e)) return false;
    const prog_tensor *t = &p->tensor[e->tensor];
    return t->order == 1 && t->role == ROLE_INPUT && format_is_plain(&t->fmt) &&
           !(t->fmt.level[0].kind->caps & (CAP_LOCATE | CAP_REGION));
}

static bool any_sought(const program *p, const bexpr *e)
{
    bool found = is_sought(p, e);
    for (int k = 0; k < e->nargs && !found; k++)
        found = any_sought(p, e->args[k]);
    return found;
}

static bool turns_rows(const program *p, const bexpr *e, uint64_t reduced)
{
    if (e->kind == B_REDUCE) reduced |= reduce_indices(e);
    if (lists_rows(p, e) || (reduced && (has_rows(p, e, reduced) || is_rough(p, e))))
        return true;
    for (int k = 0; k < e->nargs; k++)
        if (turns_rows(p, e->args[k], reduced)) return true;
    return false;
}

static bool has_matrix(const program *p, const bexpr *e)
{
    bool found = e->kind == B_ACCESS && p->tensor[e->tensor].order > 1;
    for (int k = 0; k < e->nargs && !found; k++)
        found = has_matrix(p, e->args[k]);
    return found;
}

bool turn_may(const program *p, const bexpr *e)
{
    return turns_rows(p, e, 0) || (any_sought(p, e) && has_matrix(p, e));
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

/* How many entries an operand has, and the longest of its modes; -1: that isn't known. */
static double entries_of(const opt *o, const bexpr *e, double *longest)
{
    double all = 1, n;
    *longest = 0;
    for (int m = 0; m < o->p->tensor[e->tensor].order; m++) {
        if (!stats_extent(o, e->tensor, m, &n)) return -1;
        if (n > *longest) *longest = n;
        all *= n;
    }
    return all * cost_density(o, e, &o->p->tensor[e->tensor].fill);
}

/* Marks what is worth it in e, which x is the product of. */
static void mark(const opt *o, const product *x, bexpr *e)
{
    if (has_rows(o->p, e, x->reduced)) {
        const uint64_t all = opt_indices(o->p, e), along = innermost_index(o->p, e);
        double rows;
        if (stats_extent(o, e->tensor, 0, &rows) && goes_across(x, all & ~along, along) &&
            cost_nest(o, x->factor, x->n) > copied * cost_places(o, all))
            e->copied |= COPY_PAYS;
    }
    if (is_rough(o->p, e)) {
        double most;
        const double stored = entries_of(o, e, &most);
        if (stored >= 0 && cost_nest(o, x->factor, x->n) > ordered * stored)
            e->copied |= COPY_PAYS;
    }
    for (int k = 0; k < e->nargs; k++)
        mark(o, x, e->args[k]);
}

/* The fewest entries of those operands that have the index and others. */
static double fewest_beside(const opt *o, const bexpr *e, uint64_t index)
{
    double least = DBL_MAX, longest;
    if (e->kind == B_ACCESS && o->p->tensor[e->tensor].order > 1 &&
        opt_indices(o->p, e) & index)
        least = entries_of(o, e, &longest);
    for (int k = 0; k < e->nargs; k++) {
        const double n = fewest_beside(o, e->args[k], index);
        if (n < least) least = n;
    }
    return least;
}

void turn_sought(const opt *o, const bexpr *all, bexpr *e)
{
    double places;
    if (is_sought(o->p, e) && stats_extent(o, e->tensor, 0, &places)) {
        const double n = fewest_beside(o, all, opt_indices(o->p, e));
        if (n < DBL_MAX && n > copied * places) e->copied |= COPY_PAYS;
    }
    for (int k = 0; k < e->nargs; k++)
        turn_sought(o, all, e->args[k]);
}

stc_status turn(const opt *o, bexpr *e)
{
    stc_status st = STC_OK;
    double longest;
    if (lists_rows(o->p, e) && entries_of(o, e, &longest) >= longest)
        e->copied |= COPY_ROWS;
    if (e->kind == B_REDUCE && turns_rows(o->p, e, 0)) {
        product *x = arena_room(o->a, 1, sizeof *x);
        if (!x) return STC_ERR_MEMORY;
        if (product_of(o, e, x)) mark(o, x, e->args[0]);
    }
    for (int k = 0; k < e->nargs && !st; k++)
        st = turn(o, e->args[k]);
    return st;
}

/* ---- results ------------------------------------------------------------------------ */

/* The index along the rows of a result that has a place for each coordinate, as far as its
 * format is settled. */
static uint64_t along_result(const program *p, const bstmt *s)
{
    const format *f = &p->tensor[s->target].fmt;
    int mode = s->nsub - 1;
    if (s->nsub < 2 || !s->bare) return 0;
    for (int l = 0; l < f->levels; l++) {
        if (!(format_props(f, l) & PROP_FULL) || f->level[l].map.op != MAP_MODE) return 0;
        mode = f->level[l].map.mode;
    }
    return UINT64_C(1) << s->sub[mode].term[0].index;
}

/* A matrix that is stored everywhere, in rows along an index of the set. */
static const bexpr *find_rows(const program *p, const bexpr *e, uint64_t set)
{
    if (e->kind == B_ACCESS && p->tensor[e->tensor].order > 1 && !stores_some(p, e) &&
        !has_window(p, e) && innermost_index(p, e) & set)
        return e;
    const bexpr *found = NULL;
    for (int k = 0; k < e->nargs && !found; k++)
        found = find_rows(p, e->args[k], set);
    return found;
}

/* Whether levels are something else than modes, as of blocks and diagonals: their loops go
 * along other lines. */
static bool has_maps(const program *p, const bexpr *e)
{
    bool maps = e->kind == B_ACCESS && !format_is_plain(&p->tensor[e->tensor].fmt);
    for (int k = 0; k < e->nargs && !maps; k++)
        maps = has_maps(p, e->args[k]);
    return maps;
}

/* What a reduction reads in rows along another index of the result, if nothing has rows
 * along its own. */
static const bexpr *read_across(const program *p, const bstmt *s, const bexpr *r)
{
    const uint64_t along = along_result(p, s);
    if (!along || r->kind != B_REDUCE || find_rows(p, r, along) || has_maps(p, r))
        return NULL;
    return find_rows(p, r, ~(along | reduce_indices(r)));
}

static bool any_across(const program *p, const bstmt *s, const bexpr *e)
{
    bool found = read_across(p, s, e);
    for (int k = 0; k < e->nargs && !found; k++)
        found = any_across(p, s, e->args[k]);
    return found;
}

bool turn_result_may(const program *p, const bstmt *s)
{
    return any_across(p, s, s->value);
}

bool turns_result(const opt *o, const product *x)
{
    const bexpr *const rows = o->pattern ? NULL : read_across(o->p, o->s, x->r);
    const uint64_t out = left_of(x);
    double n;
    return rows && stats_extent(o, rows->tensor, 0, &n) &&
           __builtin_popcountll(out) == o->s->nsub &&
           cost_nest(o, x->factor, x->n) > copied * cost_places(o, out);
}
