/* counted.c: terms of an idempotent reduction meet in a workspace beside one that counts
 * them.
 *
 *     C(i,j) = max(k: A(i,k) * B(k,j))
 *
 * has a term for each k, of which those that aren't stored are all the same: 0. One of them
 * does, where there is one, that is, where fewer than all k are stored. So what is stored
 * is scattered as of a sum, in any order of loops, and counted likewise:
 *
 *     w(j) max= A(i,k) * B(k,j), n(j) += 1        C(i,j) = max(w(j), n(j) < |k| ? 0 : w(j))
 *
 * The same with terms beside it, of which each place has one: C max= A * B. Where loops
 * over all of the result's indices are outside, nests.c does that with temporaries.
 */
#include "build.h"

/* Whether places are those of two that both leave some out: loops over all of the result's
 * would look for each where they meet. What one leaves out, a copy in another order goes
 * by.
 */
static bool two_meet(const plan *pl, const pset *s)
{
    if (s->op == PS_OR) return two_meet(pl, s->a) && two_meet(pl, s->b);
    if (s->op != PS_AND) return false;
    const bool a = space_full(pl, s->a, UINT64_MAX), b = space_full(pl, s->b, UINT64_MAX);
    return (!a && !b) || two_meet(pl, s->a) || two_meet(pl, s->b);
}

/* What a term is where none of it is stored; false: that isn't one value, or it doesn't
 * pay.
 */
static bool term_fill(plan *pl, const term *t, value *fill)
{
    const fillval f = expr_fill(pl, t->value);
    const pset *const s = f.kind == FILL_KNOWN ? expr_space(pl, t->value, NULL) : NULL;
    *fill = f.v;
    return s && (t->reduced ? two_meet(pl, s) : !space_full(pl, s, UINT64_MAX));
}

/* Whether places where nothing is stored of any term are the result's fill. */
static bool rest_is_fill(const builder *b, bool beside)
{
    const prog_tensor *const t = &b->pl->p->tensor[b->pl->s->target];
    if (!beside) return !b->fill;
    const vclass cls = type_class(t->type);
    const value v = type_round(t->type, class_convert(cls, b->cls, b->rest));
    return b->fill && t->type != STC_BOOL && class_equal(cls, v, *b->fill);
}

bool terms_counted(builder *b)
{
    enum { FREE = FP_ASSOCIATIVE | FP_COMMUTATIVE | FP_IDEMPOTENT };
    plan *const pl = b->pl;
    bool beside = false;
    if (!b->reduces || b->parted || b->ufn || (fn_at(b->fn)->flags & FREE) != FREE ||
        pl->npre || pl->nstream || pl->s->mask || b->native != NATIVE_NONE ||
        (b->root != b->sum && b->root->args[0] != b->sum))
        return false;
    for (int t = 0; t < b->nterm; t++) {
        const bexpr *const e = b->term[t].value;
        value v;
        if (expr_has(e, B_REDUCE) || !term_fill(pl, &b->term[t], &v) ||
            (t && !class_equal(b->cls, v, b->rest)))
            return false;
        b->rest = v;
        beside |= !b->term[t].reduced;
    }
    return rest_is_fill(b, beside);
}

/* A 1 for each element of a term, where it is stored, to the workspace that counts. */
stc_status count_elements(builder *b, const term *te, int first, uint64_t bound, list *out)
{
    plan *const pl = b->pl;
    const int order = b->nresult - first;
    bexpr *const one = expr_int(pl->a, 1, pl->s->at);
    cin *const leaf = cin_sink(pl, CIN_WSADD, b->count, one, order,
                               bare_subs(pl->a, b->result + first, order));
    if (!one || !leaf) return STC_ERR_MEMORY;
    leaf->fn = FN_COUNTS;
    leaf->cls = CLASS_I64;
    leaf->needs = read_by(te->space);
    return nest_build(pl, te->order, te->norder, te->space, bound, one, leaf, out);
}

/* How many elements all terms have at one place, in f64, which doesn't wrap. */
static bexpr *all_elements(builder *b)
{
    plan *const pl = b->pl;
    bexpr *sum = NULL;
    for (int t = 0; t < b->nterm; t++) {
        bexpr *n = NULL;
        for (uint64_t set = b->term[t].reduced; set; set &= set - 1) {
            const int length = plan_length(pl, __builtin_ctzll(set));
            bexpr *const e = length < 0 ? NULL : expr_extent(pl->a, length, pl->s->at);
            bexpr *const x = e ? expr_conv(pl->a, e, STC_F64) : NULL;
            if (!x) return NULL;
            n = n ? expr_call(pl->a, FN_MUL, STC_F64, CLASS_F64, n, x) : x;
        }
        if (!n && !(n = expr_conv(pl->a, expr_int(pl->a, 1, pl->s->at), STC_F64)))
            return NULL;
        sum = sum ? expr_call(pl->a, FN_COUNTS, STC_F64, CLASS_F64, sum, n) : n;
    }
    return sum;
}

/* What met at a place, and what isn't stored, if elements are missing. */
bexpr *with_rest(builder *b, bexpr *met, bexpr *count)
{
    arena *const a = b->pl->a;
    bexpr *const all = all_elements(b);
    bexpr *const met_at = expr_conv(a, count, STC_F64);
    bexpr *const fewer =
        all && met_at ? expr_call(a, FN_LT, STC_BOOL, CLASS_F64, met_at, all) : NULL;
    bexpr *const rest = expr_const(a, met->type, b->rest, b->pl->s->at);
    if (!fewer || !rest) return NULL;
    bexpr *const one = expr_select(a, fewer, rest, met, b->pl->s->at);
    return one ? expr_call(a, b->fn, met->type, b->cls, met, one) : NULL;
}
