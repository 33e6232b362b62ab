/* reach.c: whether a term reaches a place of a sparse result.
 *
 * Loops over the result's indices can't see what the reductions inside them will find:
 * an operand whose levels are read further in counts as stored. So what is stored has a
 * second condition, tested once the reductions at a place are done: the same set
 * (algebra.c), in which each reduction stands for "it had a term". A temporary
 * beside the reduction's own tells that. What has reductions in it in turn is asked
 * for likewise.
 *
 * A mask that became a `select` between new elements and old ones is such a condition, too:
 * where it is true, what is new decides, elsewhere what was stored.
 *
 * Only results with a level that leaves coordinates out need this.
 */
#include "build.h"

bool reach_matters(const plan *pl)
{
    return !format_stores_all(&pl->p->tensor[pl->s->target].fmt);
}

/* What a set asks for, each once; more than REACH_MAX: there is no room for all. */
static int find_asked(const pset *s, const pset **out, int n)
{
    if (s->op == PS_AND || s->op == PS_OR)
        return find_asked(s->b, out, find_asked(s->a, out, n));
    if (s->op != PS_HAD_TERM || n > REACH_MAX) return n;
    for (int k = 0; k < n; k++)
        if (out[k]->of == s->of) return n;
    if (n < REACH_MAX) out[n] = s;
    return n + 1;
}

/* Where the condition holds. */
static const pset *holds(plan *pl, const bexpr *condition)
{
    pset *s = arena_alloc(pl->a, sizeof *s);
    if (s && condition) *s = (pset){.op = PS_HAD_TERM, .of = condition};
    return condition ? s : NULL;
}

/* A set in which comparisons are conditions like others: the ranges of loops, which else
 * see to them, are those of a larger set. */
static const pset *compared(plan *pl, const pset *s)
{
    if (s && s->op == PS_WHERE) return holds(pl, s->of);
    if (!s || (s->op != PS_AND && s->op != PS_OR)) return s;
    return pset_make(pl, s->op, compared(pl, s->a), compared(pl, s->b));
}

/* The set of select(mask, new, old): new's where the mask is true, and old's elsewhere. */
static const pset *chosen_set(plan *pl, const bexpr *e, const value *target)
{
    bexpr *const not = expr_call1(pl->a, FN_NOT, STC_BOOL, CLASS_I64, e->args[0]);
    const pset *const new = compared(pl, expr_space(pl, e->args[1], target));
    const pset *const old = expr_space(pl, e->args[2], target);
    if (!new || !old || (new->op == PS_ALL && old->op == PS_ALL)) return new ? old : new;
    return pset_make(pl, PS_OR, pset_make(pl, PS_AND, holds(pl, e->args[0]), new),
                     pset_make(pl, PS_AND, holds(pl, not ), old));
}

stc_status reach_ask(plan *pl, cin *leaf, const bexpr *e, const value *target)
{
    const pset *asked[REACH_MAX];
    const bool chosen = e == pl->chosen;
    if (!leaf || !(chosen || expr_has(e, B_REDUCE)) || !reach_matters(pl)) return STC_OK;
    pl->spaces.asks = true;
    const pset *s = chosen ? chosen_set(pl, e, target) : expr_space(pl, e, target);
    pl->spaces.asks = false;
    if (!s) return STC_ERR_MEMORY;
    const int n = find_asked(s, asked, 0);
    if (!n || n > REACH_MAX) return STC_OK; /* what loops come to is stored, then */
    reach *x = arena_alloc(pl->a, sizeof *x);
    if (!x) return STC_ERR_MEMORY;
    x->set = s;
    x->n = n;
    for (int k = 0; k < n; k++) {
        bexpr *r = (bexpr *)asked[k]->of;
        x->of[k] = r;
        r->asked = asked[k]->own_fill ? ASKED_OF_FILL : ASKED_OF_IDENTITY;
    }
    leaf->reach = x;
    return STC_OK;
}

/* temp |= -1, which is as far as it goes. */
static cin *had_term(plan *pl, cin_kind kind, int temp, bexpr *ones)
{
    cin *c = cin_new(pl, kind);
    if (!c) return NULL;
    c->temp = temp;
    c->fn = FN_BITOR;
    c->cls = CLASS_I64;
    c->value = ones;
    c->tells = true;
    return c;
}

stc_status reach_count(plan *pl, bexpr *r, cin *leaf, list *before)
{
    bexpr *ones = expr_int(pl->a, -1, r->at);
    r->had_term = pl->ntemp++;
    cin *temp = ones ? had_term(pl, CIN_TEMP, r->had_term, ones) : NULL;
    leaf->next = temp ? had_term(pl, CIN_REDUCE, r->had_term, ones) : NULL;
    if (!leaf->next) return STC_ERR_MEMORY;
    leaf->next->after = leaf;
    list_add(before, temp);
    return STC_OK;
}

uint64_t read_by(const pset *s)
{
    if (s->op == PS_AND || s->op == PS_OR) return read_by(s->a) | read_by(s->b);
    return s->op == PS_WHERE ? expr_uses(s->of) : pset_accesses(s);
}

stc_status reach_apart(plan *pl, bexpr *r, const int *seq, int n, uint64_t bound, list *out)
{
    const bexpr *arg = r->args[0];
    bexpr *ones = expr_int(pl->a, -1, r->at);
    const pset *space = expr_space(pl, arg, NULL);
    r->had_term = pl->ntemp++;
    cin *temp = ones ? had_term(pl, CIN_TEMP, r->had_term, ones) : NULL;
    cin *leaf = temp ? had_term(pl, CIN_REDUCE, r->had_term, ones) : NULL;
    if (!leaf || !space) return STC_ERR_MEMORY;
    leaf->needs = read_by(space);
    list_add(out, temp);
    return nest_build(pl, seq, n, space, bound, ones, leaf, out);
}

stc_status reach_tables(plan *pl, const cin *body, loop_bits *bits, int first)
{
    for (const cin *c = body; c; c = c->next) {
        reach *x = c->reach;
        if (!x) continue;
        x->first = first;
        first += x->n;
        bits->reach = x;
        stc_status st = lattice_table_make(pl, x->set, bits, true, first, &x->table);
        if (st) return st;
    }
    bits->reach = NULL;
    return STC_OK;
}
