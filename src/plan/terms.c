/* terms.c: the right side as terms that one function combines.
 *
 * Takes the right side; gives the terms, each with the indices that it reduces, and what
 * combines them where they meet: `+` those of a sum of sums, min those of
 * `min(min(k: A(i,k) + B(k,j)), D(i,j))`, `||` those of `C(i,j) or= A(i,k) && B(k,j)`.
 * Each term then has loops of its own (build.c). So do those of `A(i,j) + 2 * (i == j)`: a
 * loop over what one of them stores can't go through what an equality says of an index,
 * too. What isn't so is one term.
 */
#include "build.h"

/* Whether e is made of terms that fn combines, of which one is reduced. */
static bool has_terms(const bexpr *e, int fn)
{
    if (expr_combiner(e) != fn || fn < 0) return false;
    if (e->kind == B_REDUCE) return true;
    bool found = false;
    for (int k = 0; k < e->nargs; k++) {
        if (expr_side_waits(e, k) && expr_may_fault(e->args[k])) return false;
        found = found || has_terms(e->args[k], fn);
    }
    return found;
}

/* The indices of the result's last level. */
static uint64_t inner_indices(const plan *pl)
{
    const format *f = &pl->p->tensor[pl->s->target].fmt;
    const level_map *m = f->levels ? &f->level[f->levels - 1].map : NULL;
    return m && m->op == MAP_MODE && m->mode < pl->s->nsub
               ? plan_indices(pl, &pl->s->sub[m->mode])
               : 0;
}

/* -e; of a product the factor is taken that is the same along `inner`, if there is one:
 * loops over that compute it once, and have a product of elements. */
static bexpr *negative_of(const plan *pl, const bexpr *e, uint64_t inner)
{
    for (int k = 0; inner && e->kind == B_CALL && e->fn == FN_MUL && k < 2; k++) {
        if (expr_indices(pl, e->args[k]) & inner || e->args[k]->type != e->type) continue;
        bexpr *const c = expr_like(pl->a, e, 2);
        if (!c) return NULL;
        c->args[k] = negative_of(pl, e->args[k], inner);
        c->args[1 - k] = e->args[1 - k];
        return c->args[k] ? c : NULL;
    }
    return expr_call1(pl->a, FN_NEG, e->type, type_class(e->type), (bexpr *)e);
}

static bool add_term(builder *b, bexpr *e, uint64_t reduced, bool negative)
{
    if (b->nterm == MAX_TERMS) return false;
    if (negative) e = negative_of(b->pl, e, inner_indices(b->pl));
    b->term[b->nterm++] = (term){.value = e, .reduced = reduced};
    return e != NULL;
}

/* Sums of terms: false if they aren't, or are too many. */
static bool collect_terms(builder *b, bexpr *e, bool negative)
{
    bool same = type_class(e->type) == b->cls;
    if (same && e->kind == B_REDUCE && expr_combiner(e) == b->fn)
        return add_term(b, e->args[0], reduce_indices(e), negative);
    if (same && e->kind == B_CALL && e->cls == b->cls && has_terms(e, b->fn)) {
        if (e->fn == FN_NEG) return collect_terms(b, e->args[0], !negative);
        return collect_terms(b, e->args[0], negative) &&
               collect_terms(b, e->args[1], negative != (e->fn == FN_SUB));
    }
    return same && add_term(b, e, 0, negative);
}

/* What fn combines, all of it a term. */
static bool collect_all(builder *b, bexpr *e, bool negative)
{
    const bool sum = e->kind == B_CALL && e->cls == b->cls && expr_combiner(e) == b->fn &&
                     type_class(e->type) == b->cls;
    for (int k = 0; sum && k < e->nargs; k++) {
        const bool less = e->fn == FN_NEG || (k && e->fn == FN_SUB);
        if (expr_side_waits(e, k) && expr_may_fault(e->args[k])) return false;
        if (!collect_all(b, e->args[k], negative != less)) return false;
    }
    return sum || add_term(b, e, 0, negative);
}

/* The indices of what is stored, leaves places out, and leads to all places of a space. */
static uint64_t stored_indices(const plan *pl, const pset *s)
{
    uint64_t set = 0;
    if (s->op == PS_AND) return stored_indices(pl, s->a) | stored_indices(pl, s->b);
    if (s->op == PS_OR) return stored_indices(pl, s->a) & stored_indices(pl, s->b);
    if (s->op != PS_STORED || space_full(pl, s, UINT64_MAX)) return 0;
    const paccess *const x = &pl->access[s->access];
    for (int m = 0; m < pl->p->tensor[x->source].order; m++)
        set |= plan_indices(pl, &x->sub[m]);
    return set;
}

static bool has_equality(const pset *s)
{
    if (s->op == PS_AND) return has_equality(s->a) || has_equality(s->b);
    if (s->op == PS_OR) return has_equality(s->a) && has_equality(s->b);
    return s->op == PS_WHERE && s->of->fn == FN_EQ;
}

/* Whether an equality leads to the places of one term, since what is stored of it has not
 * all indices of the result, to another's what is stored, and to those of each something.
 */
static bool led_apart(const builder *b)
{
    bool equal = false, stored = false;
    uint64_t onto = 0;
    for (int m = 0; m < b->pl->s->nsub; m++)
        onto |= plan_indices(b->pl, &b->pl->s->sub[m]);
    for (int t = 0; t < b->nterm; t++) {
        const pset *const s = expr_space(b->pl, b->term[t].value, &b->identity);
        if (!s || !is_led(b->pl, s, true)) return false;
        if (onto & ~stored_indices(b->pl, s))
            equal |= has_equality(s);
        else
            stored = true;
    }
    return equal && stored;
}

/* Whether a reduction may be done in parts, and in another order. */
static bool merges(const bexpr *e)
{
    enum { FREE = FP_ASSOCIATIVE | FP_COMMUTATIVE };
    const bfunction *f = e->ufn;
    if (!f) return fn_at(e->fn)->flags & FP_ASSOCIATIVE;
    return (f->flags & FREE) == FREE && f->nparams == 2 &&
           type_class(f->param[0]) == e->cls && type_class(f->param[1]) == e->cls &&
           type_class(f->result) == e->cls;
}

/* Terms in the form on which the identity is one: one that nothing is combined with is
 * reduced, too, gcd(-4) being 4. */
static stc_status normalise(builder *b)
{
    const plan *pl = b->pl;
    for (int t = 0; t < b->nterm && fn_at(b->fn)->flags & FP_NORMALISES; t++) {
        bexpr *const e = b->term[t].value;
        bexpr *const id = expr_const(pl->a, e->type, b->identity, e->at);
        b->term[t].value = id ? expr_call(pl->a, b->fn, e->type, b->cls, id, e) : NULL;
        if (!b->term[t].value) return STC_ERR_MEMORY;
    }
    return STC_OK;
}

/* Splits the right side; afterwards there is at least one term. */
stc_status find_terms(builder *b)
{
    bexpr *e = b->root;
    while (e->kind == B_CONV &&
           (e->args[0]->kind == B_CONV || e->args[0]->kind == B_REDUCE ||
            has_terms(e->args[0], expr_combiner(e->args[0]))))
        e = e->args[0];
    b->sum = e;
    b->cls = type_class(e->type);
    if (e->kind == B_REDUCE && merges(e) && reduce_identity(e, &b->identity)) {
        b->reduces = true;
        b->fn = e->fn;
        b->ufn = e->ufn;
        b->cls = e->cls;
        b->term[b->nterm++] = (term){.value = e->args[0], .reduced = reduce_indices(e)};
        return STC_OK;
    }
    b->fn = expr_combiner(e);
    if (has_terms(e, b->fn) && fn_identity(b->fn, b->cls, e->type, &b->identity) &&
        collect_terms(b, e, false)) {
        b->reduces = true;
        return normalise(b);
    }
    b->nterm = 0;
    if (b->pl->compares && b->fn >= 0 && reach_matters(b->pl) &&
        fn_identity(b->fn, b->cls, e->type, &b->identity) && collect_all(b, e, false) &&
        b->nterm > 1 && led_apart(b)) {
        b->reduces = b->parted = true;
        return normalise(b);
    }
    if (b->pl->p->cx->diag.status == STC_ERR_MEMORY) return STC_ERR_MEMORY;
    b->nterm = 0;
    b->fn = FN_UNMET; /* one term: nothing to combine */
    b->sum = b->root;
    b->term[b->nterm++] = (term){.value = b->root};
    return STC_OK;
}
