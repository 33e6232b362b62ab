/* partial.c: left sides that name only some of the target's elements:
 * diagonals, slices, and affine subscripts, `D(i,i)`, `B(i(0:5))`, `A(2*i+1)`.
 *
 * The new elements and the old ones that aren't named meet in a workspace over
 * the target's modes, from which the target is assembled anew: the right side
 * has been evaluated whole before anything changes (language.md).
 *
 * Whether an element is named is decided by arithmetic on its coordinates: a
 * mode at coef * i + c names m if (m - c) is divisible by coef, the quotient
 * lies in i's range, and other modes that read i give the same quotient.
 */
#include "build.h"

static bexpr *both(plan *pl, bexpr *a, bexpr *b)
{
    return a && b ? expr_call(pl, FN_AND, STC_BOOL, CLASS_I64, a, b) : NULL;
}

static bexpr *compare(plan *pl, int fn, bexpr *a, bexpr *b)
{
    return a && b ? expr_call(pl, fn, STC_BOOL, CLASS_I64, a, b) : NULL;
}

static bexpr *arith(plan *pl, int fn, bexpr *a, int64_t k)
{
    if (!a) return NULL;
    return expr_call(pl, fn, STC_I64, CLASS_I64, a, expr_int(pl, k, a->at));
}

static bexpr *extent_value(plan *pl, int ext, span at)
{
    bexpr *e = expr_new(pl, B_EXTENT, STC_I64, at, 0);
    if (e) e->index = ext;
    return e;
}

/* Conditions that mode's coordinate, the value of index `own`, puts on being
 * named; *quotient becomes the left side's index. */
static bexpr *named_mode(plan *pl, const affine *f, int own, bexpr **quotient)
{
    span at = pl->s->at;
    bexpr *rest = arith(pl, FN_SUB, expr_index(pl, own, at), f->constant);
    if (f->terms == 0) return compare(pl, FN_EQ, rest, expr_int(pl, 0, at));
    const bindex *i = &pl->s->index[f->term[0].index];
    int64_t coef = f->term[0].coef;
    bexpr *whole = compare(pl, FN_EQ, arith(pl, FN_MOD, rest, coef), expr_int(pl, 0, at));
    bexpr *q = *quotient = arith(pl, FN_DIV, rest, coef);
    bexpr *low = i->lo < 0 ? expr_int(pl, 0, at) : extent_value(pl, i->lo, at);
    bexpr *above = compare(pl, FN_GE, q, low);
    bexpr *below = compare(pl, FN_LT, q, extent_value(pl, i->hi, at));
    return both(pl, whole, both(pl, above, below));
}

/* True where the element at the indices `own` isn't named by the left side. */
static bexpr *not_named(plan *pl, const int *own)
{
    bexpr *named = NULL, *quotient[64] = {0};
    for (int m = 0; m < pl->s->nsub; m++) {
        const affine *f = &pl->s->sub[m];
        bexpr *q = NULL, *one = named_mode(pl, f, own[m], &q);
        if (f->terms && quotient[f->term[0].index])
            one = both(pl, one, compare(pl, FN_EQ, q, quotient[f->term[0].index]));
        else if (f->terms)
            quotient[f->term[0].index] = q;
        named = m ? both(pl, named, one) : one;
        if (!named) return NULL;
    }
    return named ? expr_call(pl, FN_NOT, STC_BOOL, CLASS_I64, named, NULL) : NULL;
}

/* A fresh index for each mode of the target, over the mode's extent. */
static stc_status fresh_indices(plan *pl, int slot, int *own)
{
    bstmt *s = pl->s;
    const prog_tensor *t = &pl->p->tensor[slot];
    bindex *index = arena_array(pl->a, s->nindex + t->order + 1, sizeof *index);
    if (!index) return STC_ERR_MEMORY;
    if (s->nindex + t->order > 64)
        return fail_text(pl->p->cx, STC_ERR_PROGRAM, pl->src->file, pl->src->text, s->at,
                         "a statement has at most 64 indices");
    for (int k = 0; k < s->nindex; k++)
        index[k] = s->index[k];
    for (int m = 0; m < t->order; m++) {
        int hi = t->shape[m];
        if (t->role == ROLE_INPUT || t->role == ROLE_INOUT)
            hi = program_extent(
                pl->p, (extent){.op = EXT_DIM, .a = (uint16_t)slot, .b = (uint16_t)m});
        if (hi < 0) return STC_ERR_MEMORY;
        own[m] = s->nindex + m;
        index[own[m]] = (bindex){.name = "m", .lo = -1, .hi = hi, .at = s->at};
    }
    s->index = index;
    s->nindex += t->order;
    return STC_OK;
}

static stc_status check_left(plan *pl)
{
    for (int m = 0; m < pl->s->nsub; m++)
        if (pl->s->sub[m].terms > 1)
            return fail_text(pl->p->cx, STC_ERR_PROGRAM, pl->src->file, pl->src->text,
                             pl->s->at,
                             "a subscript on the left side has at most one index: "
                             "more could name an element twice");
    return STC_OK;
}

static stc_status add_new(builder *b, int w, affine *at, list *out)
{
    plan *pl = b->pl;
    int index[64], seq[64], n = 0;
    uint64_t seen = 0;
    for (int m = 0; m < pl->s->nsub; m++) {
        const affine *f = &pl->s->sub[m];
        if (!f->terms || ((seen >> f->term[0].index) & 1)) continue;
        seen |= UINT64_C(1) << f->term[0].index;
        index[n++] = f->term[0].index;
    }
    plan_inner_order(pl, b->space, expr_uses(b->root), 0, index, n, seq);
    cin *leaf = cin_sink(pl, CIN_WSADD, w, b->root, b->nresult, at);
    if (!leaf) return STC_ERR_MEMORY;
    leaf->fn = FN_ADD;
    leaf->cls = b->cls;
    return nest_build(pl, seq, n, b->space, 0, b->root, leaf, out);
}

static stc_status add_old(builder *b, int w, const int *own, list *out)
{
    plan *pl = b->pl;
    affine *mode = bare_subs(pl, own, pl->s->nsub);
    affine *lev = bare_subs(pl, b->result, b->nresult);
    bexpr *old = mode ? expr_access(pl, pl->s->target, mode, pl->s->at) : NULL;
    if (!old || !lev || plan_access_add(pl, old) < 0) return STC_ERR_MEMORY;
    cin *leaf = cin_sink(pl, CIN_WSADD, w, old, b->nresult, lev);
    if (!leaf) return STC_ERR_MEMORY;
    leaf->fn = FN_ADD;
    leaf->cls = b->cls;
    leaf->guard = not_named(pl, own);
    if (!leaf->guard) return STC_ERR_MEMORY;
    int seq[STC_MAX_ORDER];
    const pset *space = pset_stored(pl, old->mark);
    plan_inner_order(pl, space, expr_uses(old), 0, b->result, b->nresult, seq);
    return nest_build(pl, seq, b->nresult, space, 0, old, leaf, out);
}

stc_status build_partial(builder *b, int target, list *out)
{
    plan *pl = b->pl;
    int own[STC_MAX_ORDER];
    stc_status st = check_left(pl);
    if (!st) st = fresh_indices(pl, pl->s->target, own);
    if (st) return st;
    const format *f = &pl->p->tensor[target].fmt;
    affine *at = arena_array(pl->a, f->levels + 1, sizeof *at);
    if (!at) return STC_ERR_MEMORY;
    for (int l = 0; l < f->levels; l++) {
        at[l] = pl->s->sub[f->level[l].map.mode];
        b->result[l] = own[f->level[l].map.mode];
        b->sub[l] = (affine){.terms = 1, .term = {{b->result[l], 1}}};
    }
    b->sum = b->root;
    b->cls = type_class(b->root->type);
    b->identity = (value){0};
    int w = workspace_slot(b, 0);
    if (w < 0) return STC_ERR_MEMORY;
    list_add(out, cin_target(pl, CIN_WSBEGIN, w));
    st = add_new(b, w, at, out);
    if (!st && !pl->s->fresh) st = add_old(b, w, own, out);
    if (st) return st;
    list_add(out, cin_target(pl, CIN_WSEND, w));
    return drain_workspace(b, w, 0, target, out);
}
