/* oracle_pattern.c: which places of a result the iteration space has, by the reference's
 * rules alone, one place at a time.
 *
 * "May e differ from c here?" is asked of the expression's tree: an operand may where it
 * stores something; where c annihilates operands all of these must; elsewhere one of them,
 * if their fills give c. Three answers: what the reference leaves to properties that aren't
 * listed here, or to how a format pads, is `perhaps`, and either is right.
 */
#include "oracle_eval.h"
#include <string.h>

static oreach differs(ostmt *s, const ast *e, const oval *c);

static oreach both(oreach a, oreach b)
{
    return a < b ? a : b;
}

static oreach either(oreach a, oreach b)
{
    return a > b ? a : b;
}

static double real_part(const oval *v)
{
    return v->type >= STC_F32 ? v->re : (double)v->i;
}

static bool exactly(const oval *a, const oval *b)
{
    return a->err == 0 && b->err == 0 && real_part(a) == real_part(b) && a->im == b->im;
}

static bool is_zero(const oval *v)
{
    return v->err == 0 && real_part(v) == 0 && v->im == 0;
}

/* What e is where nothing is stored; false: there is no telling. */
static bool fill_of(ostmt *s, const ast *e, oval *out)
{
    const bool mode = s->fill_mode, unknown = s->fill_unknown;
    const unsigned flags = s->w->flags;
    const overdict verdict = s->verdict;
    s->fill_mode = true;
    s->fill_unknown = false;
    *out = ostmt_eval(s, e);
    const bool known = !s->fill_unknown && !ov_is_any(out) && out->err == 0;
    s->fill_mode = mode;
    s->fill_unknown = unknown;
    s->w->flags = flags;
    s->verdict = verdict;
    return known;
}

static oreach reach_of_access(ostmt *s, const ast *e, const otensor *t, bool pad,
                              const oval *c)
{
    int64_t at = 0;
    if (c && !exactly(c, &t->fill)) return t->type == STC_BOOL ? REACH_PERHAPS : REACH_YES;
    if (!t->stored) return REACH_PERHAPS;
    for (int k = 0; k < e->count; k++) {
        osub u;
        if (!ostmt_subscript(s, e->child[k], t->shape[k], &u)) return REACH_PERHAPS;
        int64_t i;
        if (!osub_value(s, &u, &i)) return REACH_PERHAPS;
        if (i < 0 || i >= t->shape[k]) return pad ? REACH_NO : REACH_PERHAPS;
        at = at * t->shape[k] + i;
    }
    /* what is complemented counts as there where it isn't its fill, or where it's stored */
    if (s->complements && exactly(&t->data[at], &t->fill)) return REACH_PERHAPS;
    return (oreach)t->stored[at];
}

bool oracle_complements(const ast *e)
{
    if (!e) return false; /* the missing end of a slice */
    const bool asks = (e->kind == N_UNARY && e->op == OPR_NOT) ||
                      (e->kind == N_CALL && strcmp(e->name, "select") == 0);
    for (int k = 0; k < e->count && !asks; k++)
        if (oracle_complements(e->child[k])) return true;
    return asks;
}

/* Some values of the indices have a term. */
oreach oracle_some(ostmt *s, const ast *body, const int *index, int n, const oval *c)
{
    oreach r = REACH_NO;
    int64_t before[MAX_INDEX];
    for (int k = 0; k < n; k++) {
        oindex *x = &s->index[index[k]];
        before[k] = x->value;
        x->value = x->lo;
        if (x->lo >= x->hi) n = 0, r = REACH_PERHAPS;
    }
    for (bool more = r == REACH_NO; more && r != REACH_YES && s->w->points < s->w->limit;) {
        r = either(r, differs(s, body, c));
        s->w->points++;
        int k = n;
        while (k > 0 && ++s->index[index[k - 1]].value >= s->index[index[k - 1]].hi) {
            s->index[index[k - 1]].value = s->index[index[k - 1]].lo;
            k--;
        }
        more = k > 0;
    }
    for (int k = 0; k < n; k++)
        s->index[index[k]].value = before[k];
    return s->w->points < s->w->limit ? r : REACH_PERHAPS;
}

static oreach reach_of_reduction(ostmt *s, const ast *e, const oval *c)
{
    const int depth = s->depth, first = ostmt_reduce_first(s, e), n = e->count - 1;
    int index[MAX_INDEX];
    bool weak;
    oval id, f;
    if (oworld_function(s->w, e->name, 2)) return REACH_PERHAPS;
    for (int k = 0; k < n; k++)
        if (oracle_range_depends(e->child[k])) return REACH_PERHAPS;
    for (int k = 0; k < n; k++)
        s->scope[s->depth++] = index[k] = first + k;
    const int fn = oracle_reduce_function(e->name);
    const stc_type t =
        fn < 0 ? STC_F64 : of_reduce_type(fn, ostmt_type(s, e->child[n], &weak));
    oreach r = REACH_PERHAPS;
    const bool whole = fn >= 0 && of_identity(fn, t, &id) && (!c || exactly(&id, c));
    if (whole)
        r = oracle_some(s, e->child[n], index, n, &id); /* others leave it as it was */
    s->depth = depth;
    /* a term that is its own fill, as max's may be, needn't count as one */
    if (!c && r == REACH_YES && !(fill_of(s, e, &f) && exactly(&id, &f)))
        return REACH_PERHAPS;
    return r;
}

/* The union, where the operands' fills give c. */
static oreach reach_of_fills(ostmt *s, const ast *e, const oval *c)
{
    oval f;
    if (!fill_of(s, e, &f)) return REACH_PERHAPS;
    if (c && !exactly(c, &f)) return REACH_PERHAPS;
    oreach r = REACH_NO;
    for (int k = 0; k < e->count; k++)
        r = either(r, differs(s, e->child[k], NULL));
    return r;
}

/* The fills of e's operands aren't c, but e of them is: 1 / 2 of integers, for one. */
static bool rounds_to(ostmt *s, const ast *e, const oval *c)
{
    oval f;
    for (int k = 0; k < e->count; k++)
        if (fill_of(s, e->child[k], &f) && exactly(&f, c)) return false;
    return !fill_of(s, e, &f) || exactly(&f, c);
}

static oreach reach_of_call(ostmt *s, const ast *e, const oval *c)
{
    static const char *const plain[] = {"add", "sub", "neg", "abs", "sqrt", "floor", "sin"};
    const int fn = ostmt_function(e);
    oval f;
    if (fn < 0) return REACH_PERHAPS;
    if (!c && !fill_of(s, e, &f)) return REACH_PERHAPS;
    if (!c) c = &f;
    const char *name = of_name(fn);
    if (is_zero(c) && c->type != STC_BOOL &&
        (!strcmp(name, "mul") || !strcmp(name, "div"))) {
        const bool mul = name[0] == 'm';
        oreach r = differs(s, e->child[0], c);
        if (mul) r = both(r, differs(s, e->child[1], c));
        return r == REACH_YES && rounds_to(s, e, c) ? REACH_PERHAPS : r;
    }
    if (isinf(c->re) || isnan(c->re) || isnan(c->im)) return REACH_PERHAPS;
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++)
        if (!strcmp(name, plain[k])) return reach_of_fills(s, e, c);
    return REACH_PERHAPS;
}

static oreach reach_of_literal(ostmt *s, const ast *e, const oval *c)
{
    const oval v = ostmt_eval(s, e);
    return !c || exactly(&v, c) ? REACH_NO : REACH_YES;
}

static oreach differs(ostmt *s, const ast *e, const oval *c)
{
    const otensor *t;
    switch (e->kind) {
    case N_INT:
    case N_REAL:
    case N_IMAG:
    case N_BOOL:
        return reach_of_literal(s, e, c);
    case N_NAME:
        if (ostmt_lookup(s, e->name) >= 0) return REACH_YES;
        t = oworld_find(s->w, e->name);
        return t ? reach_of_access(s, e, t, false, c) : REACH_PERHAPS;
    case N_PAD:
        t = oworld_find(s->w, e->child[0]->name);
        return t ? reach_of_access(s, e->child[0], t, true, c) : REACH_PERHAPS;
    case N_REDUCE:
        return reach_of_reduction(s, e, c);
    case N_UNARY:
        if (e->op == OPR_PLUS) return differs(s, e->child[0], c);
        return reach_of_call(s, e, c);
    case N_CALL:
        t = oworld_find(s->w, e->name);
        if (t) return reach_of_access(s, e, t, false, c);
        if (oworld_function(s->w, e->name, e->count)) return REACH_PERHAPS;
        return reach_of_call(s, e, c);
    case N_BINARY:
        return reach_of_call(s, e, c);
    default:
        return REACH_PERHAPS;
    }
}

/* Terms that are summed each over indices of their own; all fills are 0, and c is. */
oreach oracle_reaches(ostmt *s, const ast *e, const char *const *left, int nleft)
{
    const oval zero = ov_int(STC_I64, 0);
    int summed[MAX_INDEX];
    oval f;
    const bool sum = e->kind == N_BINARY && (e->op == OPR_ADD || e->op == OPR_SUB);
    const bool sign = e->kind == N_UNARY && (e->op == OPR_NEG || e->op == OPR_PLUS);
    if (sum || sign) {
        oreach r = REACH_NO;
        for (int k = 0; k < e->count; k++)
            r = either(r, oracle_reaches(s, e->child[k], left, nleft));
        return r;
    }
    if (!fill_of(s, e, &f) || !is_zero(&f)) return REACH_PERHAPS;
    const int n = ostmt_summed(s, e, left, nleft, summed);
    return n ? oracle_some(s, e, summed, n, &zero) : differs(s, e, &zero);
}
