/* shift.c: left sides that name a large block of a tensor which has a place for each
 * coordinate: K(i+1,j) = F(i,j), K(i(0:500),j) = F(i,j), the parts of a matrix of blocks.
 *
 * Values for what is named are collected with their coordinates, and written one by one
 * (plan/update.c): that costs what is named, but twenty times what a loop over it takes. So
 * where much of the tensor is named, the statement becomes one over all of it, K(a,b) =
 * F(a-1,b) where a is in the block, which is assembled anew: with what is outside of F read
 * as its fill, which the mask leaves out.
 */
#include "opt.h"

enum { PART = 8 }; /* what is named is at least such a part of the tensor */

static bool all_full(const format *f)
{
    return format_stores_all(f) && format_is_plain(f);
}

/* Whether e is made of calls and of operands that are stored everywhere. */
static bool reads_full(const program *p, const bexpr *e)
{
    if (e->kind == B_REDUCE || e->kind == B_USER || e->pad) return false;
    if (e->kind == B_ACCESS && !all_full(&p->tensor[e->tensor].fmt)) return false;
    for (int k = 0; k < e->nargs; k++)
        if (!reads_full(p, e->args[k])) return false;
    return true;
}

bool shift_may(const program *p, const bstmt *s)
{
    uint64_t seen = 0;
    if (s->whole || s->bare || s->fresh || s->computed || s->mask || s->schedule ||
        !s->nsub || s->nindex + s->nsub > BOUND_INDICES ||
        !all_full(&p->tensor[s->target].fmt) || !reads_full(p, s->value) ||
        expr_may_fault(s->value) || expr_gathers(s->value))
        return false;
    for (int m = 0; m < s->nsub; m++) {
        const affine *f = &s->sub[m];
        if (f->terms != 1 || f->term[0].coef != 1 || s->index[f->term[0].index].value ||
            (seen >> f->term[0].index) & 1)
            return false;
        seen |= UINT64_C(1) << f->term[0].index;
    }
    return true;
}

/* Whether the tensor is known, and enough of it is named. */
static bool shift_pays(const opt *o)
{
    double named = 1, all = 1, n;
    for (int m = 0; m < o->s->nsub; m++) {
        if (!stats_extent(o, o->s->target, m, &n)) return false;
        named *= o->extent[o->s->sub[m].term[0].index];
        all *= n;
    }
    return opt_pays(all / PART, named);
}

/* ---- the index of a mode ------------------------------------------------------------- */

static bexpr *relation(opt *o, int fn, bexpr *a, bexpr *b)
{
    return expr_call(o->a, fn, STC_BOOL, CLASS_I64, a, b);
}

/* What index i of the block was: own - by. */
static bexpr *was(opt *o, int own, int64_t by)
{
    const span at = o->s->at;
    return expr_call(o->a, FN_SUB, STC_I64, CLASS_I64, expr_index(o->a, own, at),
                     expr_int(o->a, by, at));
}

/* lo <= own - by < hi, of index i. */
static bexpr *in_block(opt *o, int i, int own, int64_t by)
{
    const bindex *const index = &o->s->index[i];
    const span at = o->s->at;
    bexpr *const lo =
        index->lo < 0 ? expr_int(o->a, 0, at) : expr_extent(o->a, index->lo, at);
    bexpr *const hi = expr_extent(o->a, index->hi, at);
    return relation(o, FN_AND, relation(o, FN_GE, was(o, own, by), lo),
                    relation(o, FN_LT, was(o, own, by), hi));
}

/* e, which is the statement's own, read at own - by in place of i. */
static bool read_from(opt *o, bexpr **at, int i, int own, int64_t by)
{
    bexpr *const e = *at;
    if (e->kind == B_INDEX && e->index == i) return (*at = was(o, own, by)) != NULL;
    for (int m = 0; e->kind == B_ACCESS && m < o->p->tensor[e->tensor].order; m++)
        for (int t = 0; t < e->sub[m].terms; t++) {
            if (e->sub[m].term[t].index != i) continue;
            int64_t less;
            if (__builtin_mul_overflow(e->sub[m].term[t].coef, by, &less) ||
                __builtin_sub_overflow(e->sub[m].constant, less, &e->sub[m].constant))
                return fail(o->p->cx, STC_ERR_OVERFLOW, "a subscript is too large"), false;
            e->sub[m].term[t].index = own;
            e->pad = true;
        }
    for (int k = 0; k < e->nargs; k++)
        if (!read_from(o, &e->args[k], i, own, by)) return false;
    return true;
}

stc_status shift_block(opt *o)
{
    bstmt *s = o->s;
    if (!shift_may(o->p, s)) return STC_OK;
    cost_extents(o);
    if (!shift_pays(o)) return STC_OK;
    affine *const sub = arena_array(o->a, s->nsub, sizeof *sub);
    bexpr *right = copy_of(o, s->value), *mask = NULL;
    if (!sub || !right) return STC_ERR_MEMORY;
    for (int m = 0; m < s->nsub; m++) {
        const int i = s->sub[m].term[0].index, own = own_index(o, s->target, m);
        const int64_t by = s->sub[m].constant;
        bexpr *const inside = own < 0 ? NULL : in_block(o, i, own, by);
        if (!inside || !read_from(o, &right, i, own, by)) return o->p->cx->diag.status;
        mask = mask ? relation(o, FN_AND, mask, inside) : inside;
        if (!mask) return STC_ERR_MEMORY;
        sub[m] = affine_at(own);
    }
    s->sub = sub;
    s->value = right;
    s->mask = mask;
    s->bare = true;
    return STC_OK;
}
