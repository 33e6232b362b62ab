/* ranges.c: what is written keeps the range that each index had in the statement that it
 * comes from.
 *
 * Bare subscripts that are still there give it. Where none is, `last(pad A(i,0), e)` does,
 * which is e with A's range; a range of numbers has a vector of its own, r(i in 0:3) = 0;
 * and one that followed from affine subscripts gets those once more. Ranges narrower than
 * what bare subscripts give become conditions.
 */
#include "inside.h"

#include <string.h>

/* Whether e reads a tensor at this very index. */
static bool is_bare(const ast *e, const char *name)
{
    if (e->kind == N_PAD) return false;
    for (int k = 0; k < e->count; k++) {
        const ast *const c = e->child[k];
        if (e->kind == N_CALL && e->op == ACCESS && c->kind == N_NAME &&
            !strcmp(c->name, name))
            return true;
        if (is_bare(c, name)) return true;
    }
    return false;
}

static ast *last_of(grad *g, ast *x, ast *e)
{
    return tree_call(g, "last", (ast *[]){x, e}, 2);
}

/* last(pad A(0,i), e), A's mode k having the index's size. */
static ast *by_size(grad *g, int slot, int mode, const char *name, ast *e)
{
    const prog_tensor *const row = &g->step->p->tensor[slot];
    ast *child[STC_MAX_ORDER];
    for (int k = 0; k < row->order; k++)
        child[k] = k == mode ? tree_name(g, name) : tree_number(g, 0);
    ast *const x = tree_call(g, row->name, child, row->order);
    ast *const pad = x ? tree_node(g, N_PAD, 1) : NULL;
    if (!pad) return NULL;
    x->op = ACCESS;
    pad->child[0] = x;
    return last_of(g, pad, e);
}

/* r(i in 0:n) = 0 before the statement, and last(r(i), e) in it. */
static ast *by_number(grad *g, int64_t n, const char *name, ast *e)
{
    const char *const range = grad_name(g, "range_", name);
    ast *const x = range ? tree_call(g, range, (ast *[]){tree_name(g, name)}, 1) : NULL;
    if (!x) return NULL;
    x->op = ACCESS;
    text_add(g->out, "%s(%s in 0:%lld) = 0\n", range, name, (long long)(n < 0 ? 0 : n));
    return last_of(g, x, e);
}

/* An access of the statement whose bare subscript gives the index its range, which a
 * reduction may have narrowed; *mode: which of them. */
static const bexpr *bare_giver(const grad *g, const bexpr *e, int i, int *mode)
{
    const bexpr *found = NULL;
    if (e->kind == B_ACCESS && !e->pad)
        for (int k = 0; k < g->step->p->tensor[e->tensor].order; k++)
            if (affine_bare(&e->sub[k], i)) {
                *mode = k;
                return e;
            }
    for (int k = 0; k < e->nargs && !found; k++)
        found = bare_giver(g, e->args[k], i, mode);
    return found;
}

static bool has_index(const grad *g, const bexpr *x, int i)
{
    if (x->kind != B_ACCESS || x->pad || x->nargs) return false;
    for (int k = 0; k < g->step->p->tensor[x->tensor].order; k++)
        for (int t = 0; t < x->sub[k].terms; t++)
            if (x->sub[k].term[t].index == i) return true;
    return false;
}

/* An access of the statement, not bare, from which the index had its range. */
static const bexpr *giver(const grad *g, const bexpr *e, int i)
{
    const bexpr *found = has_index(g, e, i) ? e : NULL;
    for (int k = 0; k < e->nargs && !found; k++)
        found = giver(g, e->args[k], i);
    return found;
}

/* Whether numbers alone say what the range is. */
static bool of_numbers(const grad *g, int i, int64_t *lo, int64_t *hi)
{
    const bindex *const index = &g->step->st->index[i];
    const extent *const to = &g->step->p->ext[index->hi];
    const extent *const from = index->lo < 0 ? NULL : &g->step->p->ext[index->lo];
    *lo = from ? from->k : 0;
    *hi = to->k;
    return to->op == EXT_CONST && (!from || from->op == EXT_CONST);
}

uint64_t range_needs(const grad *g, uint64_t indices)
{
    uint64_t all = 0;
    int64_t lo, hi;
    for (uint64_t left = indices; left; left &= left - 1) {
        const int i = __builtin_ctzll(left);
        const bindex *const index = &g->step->st->index[i];
        if (index->value || of_numbers(g, i, &lo, &hi) ||
            g->step->p->ext[index->hi].op == EXT_DIM)
            continue;
        const bexpr *const x = giver(g, g->step->st->value, i);
        if (x) all |= value_indices(g, x);
    }
    return all;
}

static ast *needs_range(grad *g, int i)
{
    const bindex *const index = &g->step->st->index[i];
    return grad_refuse(
        g, index->at,
        "the derivative needs the range of %s by itself here; give it one, as "
        "in sum(%s in 0:n: …)",
        index->name, index->name);
}

/* Each access in x that has the index, as far as its other indices are there, too: what its
 * subscripts leave of the range. */
static ast *by_accesses(grad *g, const bexpr *x, int i, ast *e)
{
    if (has_index(g, x, i) && !(value_indices(g, x) & ~g->open))
        e = last_of(g, value_access(g, x->tensor, x->sub, false), e);
    for (int k = 0; k < x->nargs && e; k++)
        e = by_accesses(g, x->args[k], i, e);
    return e;
}

static ast *by_access(grad *g, int i, ast *e)
{
    const bexpr *const x = giver(g, g->step->st->value, i);
    if (x && !(value_indices(g, x) & ~g->open))
        return by_accesses(g, g->step->st->value, i, e);
    return needs_range(g, i);
}

/* An index whose range followed from subscripts that it shares with i: as many values of
 * i as numbers say leave it more than all of those would that a tensor has room for, unless
 * that is the statement's own. -1: there is none. */
static int follower(const grad *g, int i)
{
    int64_t lo, hi;
    for (int m = 0; m < g->step->st->nsub; m++)
        for (int t = 0; t < g->step->st->sub[m].terms; t++)
            if (g->step->st->sub[m].term[t].index == i) return -1;
    for (int k = 0; k < g->step->st->nindex; k++) {
        const bindex *const index = &g->step->st->index[k];
        if (k == i || index->value || of_numbers(g, k, &lo, &hi) ||
            g->step->p->ext[index->hi].op == EXT_DIM)
            continue;
        const bexpr *const x = giver(g, g->step->st->value, k);
        if (x && value_indices(g, x) >> i & 1) return k;
    }
    return -1;
}

static ast *condition(grad *g, ast_op op, const char *name, int64_t n, ast *e)
{
    ast *const holds = tree_binary(g, op, tree_name(g, name), tree_number(g, (double)n));
    return tree_select(g, holds, e, tree_number(g, 0));
}

bool range_is_given(const grad *g, int i)
{
    int64_t lo, hi;
    return of_numbers(g, i, &lo, &hi);
}

static ast *keep_one(grad *g, ast *e, int i, bool bare)
{
    const bindex *const index = &g->step->st->index[i];
    const extent *const hi = &g->step->p->ext[index->hi];
    const char *const name = g->index[i];
    int64_t lo, to;
    int mode = 0;
    if (!of_numbers(g, i, &lo, &to)) {
        if (index->lo >= 0)
            return grad_refuse(g, index->at,
                               "the derivative needs a range of %s that numbers give",
                               index->name);
        if (bare) return e;
        return hi->op == EXT_DIM ? by_size(g, hi->a, hi->b, name, e) : by_access(g, i, e);
    }
    const bexpr *const x = bare ? NULL : bare_giver(g, g->step->st->value, i, &mode);
    if ((bare || x) && follower(g, i) >= 0) return needs_range(g, follower(g, i));
    if (bare || x) e = condition(g, OPR_LT, name, to, e);
    if (e && lo > 0) e = condition(g, OPR_GE, name, lo, e);
    if (lo < 0)
        return grad_refuse(g, index->at,
                           "the range of %s begins below 0, which has no derivative",
                           index->name);
    if (bare || !e) return e;
    return x ? by_size(g, x->tensor, mode, name, e) : by_number(g, to, name, e);
}

ast *range_keep(grad *g, ast *e, uint64_t indices, uint64_t bare, const ast *left)
{
    for (int i = 0; i < g->step->st->nindex && e; i++)
        if (indices >> i & 1 && !g->step->st->index[i].value)
            e = keep_one(g, e, i,
                         bare >> i & 1 || is_bare(e, g->index[i]) ||
                             (left && is_bare(left, g->index[i])));
    return e;
}

static ast *bounds(grad *g, ast *binding, int64_t lo, int64_t hi)
{
    if (!binding || !(binding->child = arena_array(g->a, 2, sizeof *binding->child)))
        return NULL;
    binding->count = 2;
    binding->child[0] = tree_number(g, (double)lo);
    binding->child[1] = tree_number(g, (double)hi);
    return binding->child[0] && binding->child[1] ? binding : NULL;
}

ast *range_reduce(grad *g, const char *f, uint64_t set, ast *e, const ast *left)
{
    const int n = __builtin_popcountll(set);
    if (!e || !n) return e;
    ast *const out = tree_node(g, N_REDUCE, n + 1);
    int k = 0;
    if (!out) return NULL;
    out->name = f;
    for (int i = 0; i < g->step->st->nindex && e; i++) {
        int64_t lo, hi;
        if (!(set >> i & 1)) continue;
        ast *const binding = out->child[k++] = tree_node(g, N_BINDING, 0);
        if (!binding) return NULL;
        binding->name = g->index[i];
        if (of_numbers(g, i, &lo, &hi)) {
            if (!bounds(g, binding, lo, hi)) return NULL;
        } else {
            e = keep_one(g, e, i,
                         is_bare(e, g->index[i]) || (left && is_bare(left, g->index[i])));
        }
    }
    out->child[n] = e;
    return e ? out : NULL;
}
