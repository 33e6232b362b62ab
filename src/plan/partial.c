/* partial.c: left sides that name only some of the target's elements:
 * diagonals, slices, and affine subscripts, `D(i,i)`, `B(i(0:5))`, `A(2*i+1)`.
 *
 * The new elements and the old ones that aren't named meet in a workspace over
 * the target's modes, from which the target is assembled anew: the right side
 * has been evaluated whole before anything changes (language.md).
 *
 * Whether an element is named is decided by arithmetic on its coordinates: a
 * mode at coef * i + c names m if (m - c) is divisible by coef, the quotient
 * lies in i's range, and other modes that read i give the same quotient. With
 * several indices in one subscript (`B(2*i+k)`) the named elements are
 * collected in a second workspace, and old ones kept where it has nothing. A mask over a
 * bare left side is asked at each of the old ones.
 */
#include "build.h"
#include <string.h>

static bexpr *both(plan *pl, bexpr *a, bexpr *b)
{
    return expr_call(pl->a, FN_AND, STC_BOOL, CLASS_I64, a, b);
}

static bexpr *compare(plan *pl, int fn, bexpr *a, bexpr *b)
{
    return expr_call(pl->a, fn, STC_BOOL, CLASS_I64, a, b);
}

static bexpr *arith(plan *pl, int fn, bexpr *a, int64_t k)
{
    if (!a) return NULL;
    return expr_call(pl->a, fn, STC_I64, CLASS_I64, a, expr_int(pl->a, k, a->at));
}

/* Conditions that mode's coordinate, the value of index `own`, puts on being
 * named; *quotient becomes the left side's index. */
static bexpr *named_mode(plan *pl, const affine *f, int own, bexpr **quotient)
{
    span at = pl->s->at;
    bexpr *rest = arith(pl, FN_SUB, expr_index(pl->a, own, at), f->constant);
    if (f->terms == 0) return compare(pl, FN_EQ, rest, expr_int(pl->a, 0, at));
    const bindex *i = &pl->s->index[f->term[0].index];
    int64_t coef = f->term[0].coef;
    bexpr *whole =
        compare(pl, FN_EQ, arith(pl, FN_MOD, rest, coef), expr_int(pl->a, 0, at));
    bexpr *q = *quotient = arith(pl, FN_FLOORDIV, rest, coef);
    bexpr *low = i->lo < 0 ? expr_int(pl->a, 0, at) : expr_extent(pl->a, i->lo, at);
    bexpr *above = compare(pl, FN_GE, q, low);
    bexpr *below = compare(pl, FN_LT, q, expr_extent(pl->a, i->hi, at));
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
    return expr_call1(pl->a, FN_NOT, STC_BOOL, CLASS_I64, named);
}

stc_status fresh_indices(plan *pl, int slot, int *own)
{
    bstmt *s = pl->s;
    const prog_tensor *t = &pl->p->tensor[slot];
    bindex *index = arena_array(pl->a, s->nindex + t->order + 1, sizeof *index);
    if (!index) return STC_ERR_MEMORY;
    if (s->nindex + t->order > 64)
        return fail_source(pl->src, STC_ERR_PROGRAM, s->at,
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

/* Whether arithmetic decides: at most one index in each subscript. */
static bool decided_by_arithmetic(const plan *pl)
{
    for (int m = 0; m < pl->s->nsub; m++)
        if (pl->s->sub[m].terms > 1) return false;
    return !pl->s->computed && !pl->s->mask;
}

static uint64_t set_of(const plan *pl, const affine *sub, int nsub)
{
    uint64_t set = 0;
    for (int m = 0; m < nsub; m++)
        set |= plan_indices(pl, &sub[m]);
    return set;
}

uint64_t left_set(const plan *pl)
{
    return set_of(pl, pl->s->sub, pl->s->nsub);
}

bool names_once(const plan *pl)
{
    uint64_t alone = 0;
    for (int m = 0; m < pl->s->nsub; m++) {
        const affine *f = &pl->s->sub[m];
        if (f->terms == 1 && !pl->s->index[f->term[0].index].value)
            alone |= affine_indices(f);
    }
    return !(left_set(pl) & ~alone);
}

/* The indices of a set, each once. */
static int indices_of(uint64_t set, int *index)
{
    int n = 0;
    for (int k = 0; k < 64; k++)
        if ((set >> k) & 1) index[n++] = k;
    return n;
}

stc_status left_needs(plan *pl, const affine *sub, int nsub, uint64_t *needs)
{
    *needs = 0;
    for (int m = 0; m < nsub; m++) {
        const affine *f = &sub[m];
        const bexpr *e = f->terms ? pl->s->index[f->term[0].index].value : NULL;
        const stc_status st = e ? plan_accesses(pl, (bexpr *)e) : STC_OK;
        if (st) return st;
        if (e) *needs |= expr_uses(e);
    }
    return STC_OK;
}

const pset *meeting_space(plan *pl, const bexpr *e)
{
    const stc_type to = pl->p->tensor[pl->s->target].type;
    value id;
    if (pl->s->meets == FN_LAST || /* true && 4 isn't 4 */
        !fn_identity(pl->s->meets, type_class(to), to, &id) ||
        !fn_identity(pl->s->meets, type_class(e->type), e->type, &id))
        return pset_all();
    return expr_space(pl, e, &id);
}

/* A reduction by what its values meet by anyway: its terms go one by one. */
static const bexpr *met_sum(const plan *pl, const bexpr *e)
{
    while (e->kind == B_CONV && type_class(e->type) == type_class(e->args[0]->type) &&
           e->type != STC_BOOL)
        e = e->args[0];
    return e->kind == B_REDUCE && e->fn == pl->s->meets && !e->ufn && e->mark < 0 ? e
                                                                                  : NULL;
}

/* Whether all that an access reads is in order, and once each: `props` say how. */
static bool in_order(const plan *pl, int access, uint32_t props)
{
    const paccess *x = &pl->access[access];
    bool all = true;
    for (int l = 0; l < x->levels; l++)
        all = all && (x->level[l].props & props) == props;
    return all;
}

/* Whether the loops give each entry of workspace w once and in the order of its levels:
 * then it needn't be one, and is assembled as it comes. */
static bool comes_in_order(const builder *b, int w, const affine *at, const int *seq, int n,
                           uint64_t uses)
{
    const plan *pl = b->pl;
    const prog_tensor *t = &pl->p->tensor[w];
    if (!b->in_place || b->old || pl->s->mask || t->policy != WS_AUTO || n != t->order ||
        pl->s->computed || pl->schedule.shared || pl->schedule.nrel)
        return false;
    for (int k = 0; k < n; k++)
        if (!affine_bare(&at[k], seq[k]) || !affine_bare(&pl->s->sub[k], seq[k]))
            return false;
    for (uint64_t left = uses; left; left &= left - 1)
        if (!in_order(pl, __builtin_ctzll(left), PROP_ORDERED | PROP_UNIQUE)) return false;
    return true;
}

stc_status partial_values(builder *b, int w, affine *at, list *out)
{
    plan *pl = b->pl;
    const bool meets = pl->s->computed || pl->s->whole;
    const bexpr *sum = meets ? met_sum(pl, b->root) : NULL;
    /* in the type they meet in: what leaves a u8 as it is may change a number */
    bexpr *each = sum ? expr_conv(pl->a, sum->args[0], b->root->type) : b->root;
    if (!each) return STC_ERR_MEMORY;
    bexpr *all = masked(pl, each);
    if (all && b->old) all = both(pl, all, b->old);
    if (!all) return STC_ERR_MEMORY;
    uint64_t needs, uses = expr_uses(all);
    int index[64], loop[64], seq[64], n = indices_of(left_set(pl), index);
    stc_status st = left_needs(pl, pl->s->sub, pl->s->nsub, &needs);
    if (st) return st;
    for (int k = 0; sum && k < sum->nindex; k++)
        index[n++] = sum->indices[k];
    if (meets) {
        const pset *const some =
            pset_make(pl, PS_AND, plan_mask_space(pl), meeting_space(pl, each));
        b->space = b->old ? pset_make(pl, PS_AND, some, b->space) : some;
    }
    if (!b->space) return STC_ERR_MEMORY;
    n = loops_list(pl, index, n, uses, loop);
    if (meets && pl->s->meets == FN_LAST && !names_once(pl))
        memcpy(seq, loop, (size_t)n * sizeof *seq);
    else
        plan_inner_order(pl, b->space, uses | needs, 0, loop, n, seq);
    memcpy(b->loop, seq, (size_t)n * sizeof *seq);
    b->nloop = n;
    st = loops_check_space(pl, left_set(pl), b->space, uses);
    if (st) return st;
    cin *leaf = cin_sink(pl, CIN_WSADD, w, each, b->nresult, at);
    if (!leaf) return STC_ERR_MEMORY;
    leaf->fn = meets ? pl->s->meets : b->last ? FN_LAST : FN_UNMET;
    leaf->cls = b->cls;
    leaf->needs = needs | (b->old ? expr_uses(b->old) : 0);
    leaf->guard = pl->s->mask;
    if (!meets && !b->in_place) st = reach_ask(pl, leaf, each, b->fill);
    if (st) return st;
    if (comes_in_order(b, w, at, seq, n, uses)) {
        pl->p->tensor[w].role = ROLE_TEMP;
        pl->target = w;
        leaf->kind = CIN_STORE;
        leaf->append = true;
    }
    if (b->old && !expr_has(all, B_REDUCE) && !in_order(pl, b->old->mark, PROP_ORDERED)) {
        /* what is there and what is new can't be merged: one after the other */
        cin *const new = cin_new(pl, leaf->kind);
        pset *const there = pset_leaf(pl, PS_STORED, b->old->mark);
        const pset *const not_there = pset_absent(pl, b->old->mark);
        if (!new || !there) return STC_ERR_MEMORY;
        there->exact = true; /* that it is the fill is as if nothing were there */
        *new = *leaf;
        st = nest_build(pl, seq, n, pset_make(pl, PS_AND, b->space, there), 0, all, leaf,
                        out);
        if (st) return st;
        b->space =
            pset_make(pl, PS_AND, pset_without(pl, b->space, b->old->mark), not_there);
        leaf = new;
    }
    return nest_build(pl, seq, n, b->space, 0, all, leaf, out);
}

/* The loop of those that made the values after which an index is known: itself, or the last
 * of those that stand for it. */
static int known_after(const builder *b, int index)
{
    uint64_t bound = 0;
    for (int k = 0; k < b->nloop; k++) {
        bound |= UINT64_C(1) << b->loop[k];
        if ((plan_bound(b->pl, bound) >> index) & 1) return k;
    }
    return b->nloop;
}

/* Loops in the order in which those were that made the values. */
static void same_order(const builder *b, int *loop, int n)
{
    for (int k = 1; k < n; k++) {
        const int moved = loop[k], after = known_after(b, moved);
        int m = k;
        for (; m > 0 && known_after(b, loop[m - 1]) > after; m--)
            loop[m] = loop[m - 1];
        loop[m] = moved;
    }
}

/* The set of what is named on n levels from `from` on as a workspace, where arithmetic
 * can't tell: *named reads it at the target's modes. */
static stc_status collect_named(builder *b, affine *at, affine *lev, int from, int n,
                                bexpr **named, list *out)
{
    plan *pl = b->pl;
    int index[64], loop[64];
    int nloop = indices_of(set_of(pl, at + from, n), index);
    builder set = *b;
    bexpr *yes = expr_const(pl->a, STC_BOOL, (value){.i64 = 1}, pl->s->at);
    if (!yes) return STC_ERR_MEMORY;
    set.sum = yes;
    set.cls = CLASS_I64;
    set.nresult = from + n;
    int w = workspace_slot(&set, from);
    cin *leaf = w < 0 ? NULL : cin_sink(pl, CIN_WSADD, w, yes, n, at + from);
    if (!leaf) return STC_ERR_MEMORY;
    leaf->fn = FN_OR;
    leaf->cls = CLASS_I64;
    list_add(out, cin_target(pl, CIN_WSBEGIN, w));
    stc_status st = left_needs(pl, at + from, n, &leaf->needs);
    if (st) return st;
    bexpr *const all = masked(pl, yes);
    const pset *const space = plan_mask_space(pl);
    if (!all || !space) return STC_ERR_MEMORY;
    leaf->guard = pl->s->mask;
    nloop = loops_list(pl, index, nloop, leaf->needs | expr_uses(all), loop);
    same_order(b, loop, nloop); /* a mask is read as it was for the values */
    st = nest_build(pl, loop, nloop, space, 0, all, leaf, out);
    if (st) return st;
    list_add(out, cin_target(pl, CIN_WSEND, w));
    *named = expr_access(pl->a, pl->p, w, lev + from, pl->s->at);
    return *named && plan_access_add(pl, *named) >= 0 ? STC_OK : STC_ERR_MEMORY;
}

/* Whether no index is in the subscripts of two levels: then what is named on each of them
 * says what is named, and it is no more than they have. */
static bool named_by_level(const plan *pl, const affine *at, int n)
{
    uint64_t seen = 0;
    for (int l = 0; l < n; l++) {
        const uint64_t set = plan_indices(pl, &at[l]);
        if (set & seen) return false;
        seen |= set;
    }
    return !pl->s->mask;
}

/* Old elements, which `space` has, are kept where they aren't named. */
static stc_status keep_unnamed(builder *b, affine *at, affine *lev, const pset **space,
                               cin *leaf, list *out)
{
    plan *pl = b->pl;
    const bool apart = named_by_level(pl, at, b->nresult);
    const int each = apart ? 1 : b->nresult;
    const pset *absent = pset_none();
    bexpr *all = NULL, *named;
    for (int l = 0; l < b->nresult; l += each) {
        const stc_status st = collect_named(b, at, lev, l, each, &named, out);
        if (st) return st;
        absent = pset_make(pl, PS_OR, absent, pset_absent(pl, named->mark));
        all = all ? both(pl, all, named) : named;
        if (!all) return STC_ERR_MEMORY;
    }
    *space = pset_make(pl, PS_AND, *space, absent);
    leaf->guard = expr_call1(pl->a, FN_NOT, STC_BOOL, CLASS_I64, all);
    return STC_OK;
}

stc_status partial_fills(builder *b, int w, affine *at, list *out)
{
    plan *pl = b->pl;
    int index[64], loop[64], n = indices_of(left_set(pl), index);
    bexpr *fill = expr_const(pl->a, b->root->type, *b->fill, pl->s->at);
    bexpr *old = expr_access(pl->a, pl->p, pl->s->target, pl->s->sub, pl->s->at);
    if (!fill || !old || plan_access_add(pl, old) < 0) return STC_ERR_MEMORY;
    bexpr *const all = masked(pl, old);
    const pset *const space =
        pset_make(pl, PS_AND, plan_mask_space(pl), pset_stored(pl, old->mark));
    cin *leaf = cin_sink(pl, CIN_WSADD, w, fill, b->nresult, at);
    if (!all || !space || !leaf) return STC_ERR_MEMORY;
    leaf->fn = FN_LAST;
    leaf->cls = b->cls;
    leaf->needs = UINT64_C(1) << old->mark;
    leaf->guard = pl->s->mask;
    n = loops_list(pl, index, n, expr_uses(all), loop);
    same_order(b, loop, n); /* a mask is read as it was for the values */
    return nest_build(pl, loop, n, space, 0, all, leaf, out);
}

static bool computes(const bexpr *e)
{
    bool some = e->kind == B_ACCESS && e->nargs;
    for (int k = 0; k < e->nargs && !some; k++)
        some = computes(e->args[k]);
    return some;
}

/* The left side being bare, the mask alone says what is named: the target's own places are
 * asked. */
static stc_status add_unmasked(builder *b, int w, affine *at, list *out)
{
    plan *pl = b->pl;
    int index[64], loop[64], seq[64], n = indices_of(left_set(pl), index);
    bexpr *const old = expr_access(pl->a, pl->p, pl->s->target, pl->s->sub, pl->s->at);
    /* its loops have another order; but what a computed subscript reads is one access */
    const bool same = computes(pl->s->mask);
    bexpr *const mask = same ? pl->s->mask : expr_copy(pl->a, pl->s->mask);
    bexpr *const all = expr_call(pl->a, FN_AND, STC_BOOL, CLASS_I64, mask, old);
    cin *leaf = cin_sink(pl, CIN_WSADD, w, old, b->nresult, at);
    if (!all || !leaf) return STC_ERR_MEMORY;
    pl->group++;
    const bool added = same ? plan_access_add(pl, old) >= 0 : !plan_accesses(pl, all);
    pl->group--;
    if (!added) return pl->p->cx->diag.status;
    const pset *const space =
        pset_make(pl, PS_AND, space_false(pl, mask), pset_stored(pl, old->mark));
    leaf->fn = FN_UNMET;
    leaf->cls = b->cls;
    leaf->guard = expr_call1(pl->a, FN_NOT, STC_BOOL, CLASS_I64, mask);
    if (!leaf->guard || !space) return STC_ERR_MEMORY;
    n = loops_list(pl, index, n, expr_uses(all), loop);
    if (same) {
        same_order(b, loop, n);
        memcpy(seq, loop, (size_t)n * sizeof *seq);
    } else {
        plan_inner_order(pl, space, expr_uses(all), 0, loop, n, seq);
    }
    return nest_build(pl, seq, n, space, 0, all, leaf, out);
}

static stc_status add_old(builder *b, int w, const int *own, affine *at, list *out)
{
    plan *pl = b->pl;
    if (pl->s->bare && pl->s->mask) return add_unmasked(b, w, at, out);
    affine *mode = bare_subs(pl->a, own, pl->s->nsub);
    affine *lev = bare_subs(pl->a, b->result, b->nresult);
    bexpr *const old =
        mode ? expr_access(pl->a, pl->p, pl->s->target, mode, pl->s->at) : NULL;
    if (!old || !lev || plan_access_add(pl, old) < 0) return STC_ERR_MEMORY;
    const pset *space = pset_stored(pl, old->mark);
    cin *leaf = cin_sink(pl, CIN_WSADD, w, old, b->nresult, lev);
    if (!leaf || !space) return STC_ERR_MEMORY;
    const bool meets = pl->s->computed && pl->s->op >= 0; /* those that are named, too */
    leaf->fn = meets ? pl->s->meets : FN_UNMET;
    leaf->cls = b->cls;
    const bool collects = !meets && !decided_by_arithmetic(pl);
    stc_status st = STC_OK;
    if (collects)
        st = keep_unnamed(b, at, lev, &space, leaf, out);
    else if (!meets)
        leaf->guard = not_named(pl, own);
    if (st) return st;
    if ((!leaf->guard && !meets) || !space) return STC_ERR_MEMORY;
    int seq[STC_MAX_ORDER]; /* what is named is read in the order of its levels only */
    if (collects)
        memcpy(seq, b->result, (size_t)b->nresult * sizeof *seq);
    else
        plan_inner_order(pl, space, expr_uses(old), 0, b->result, b->nresult, seq);
    return nest_build(pl, seq, b->nresult, space, 0, old, leaf, out);
}

stc_status build_partial(builder *b, int target, list *out)
{
    plan *pl = b->pl;
    int own[STC_MAX_ORDER];
    stc_status st = fresh_indices(pl, pl->s->target, own);
    if (st) return st;
    const format *f = &pl->p->tensor[target].fmt;
    affine *at = arena_array(pl->a, f->levels + 1, sizeof *at);
    if (!at) return STC_ERR_MEMORY;
    for (int l = 0; l < f->levels; l++) {
        at[l] = pl->s->sub[f->level[l].map.mode];
        b->result[l] = own[f->level[l].map.mode];
        b->sub[l] = affine_at(b->result[l]);
    }
    if (pl->s->computed && pl->s->op == FN_SUB) /* what it meets, it is added to */
        b->root =
            expr_call1(pl->a, FN_NEG, b->root->type, type_class(b->root->type), b->root);
    if (!b->root) return STC_ERR_MEMORY;
    if (pl->s->mask) b->space = pset_make(pl, PS_AND, plan_mask_space(pl), b->space);
    b->sum = b->root;
    b->cls = type_class(b->root->type);
    b->identity = (value){0};
    int w = workspace_slot(b, 0);
    if (w < 0) return STC_ERR_MEMORY;
    list_add(out, cin_target(pl, CIN_WSBEGIN, w));
    st = partial_values(b, w, at, out);
    if (!st && !pl->s->fresh) st = add_old(b, w, own, at, out);
    if (st) return st;
    list_add(out, cin_target(pl, CIN_WSEND, w));
    return drain_workspace(b, w, 0, target, out);
}
