/* bind_where.c: masks, `e where m`.
 *
 * In an expression it is e where m is true, and elsewhere 0, or in the body of a reduction
 * what the reduction begins with: `select` with that, so that the mask drives the loops.
 * Behind the right side of an assignment it says which elements are named: the others stay
 * as they are (bstmt.mask). A tensor that isn't there yet has its fill there.
 */
#include "bind.h"

bexpr *bind_mask(binder *b, const ast *m)
{
    bexpr *const e = bind_expr(b, m);
    return e ? bind_to_bool(b, bind_strong(b, e)) : NULL;
}

bexpr *bind_masked(binder *b, span at, bexpr *mask, bexpr *val, const value *other)
{
    const bool weak = !other && val->type != STC_BOOL;
    bexpr *const none =
        bind_const(b, at, weak ? STC_I64 : val->type, other ? *other : (value){.i64 = 0});
    if (!none || !mask) return NULL;
    if (weak) none->mark = WEAK;
    return bind_call(b, at, FN_SELECT, (bexpr *[]){mask, val, none}, 3);
}

bexpr *bind_where(binder *b, const ast *e)
{
    bexpr *const val = bind_expr(b, e->child[0]);
    if (!val) return NULL;
    bexpr *const mask = bind_mask(b, e->child[1]);
    return mask ? bind_masked(b, e->at, mask, val, NULL) : NULL;
}

bexpr *bind_where_reduced(binder *b, bexpr *r, bexpr *mask)
{
    value none;
    bool known = r->fn >= 0 && fn_identity(r->fn, r->cls, r->type, &none);
    for (int k = 0; r->ufn && k < r->ufn->nidentity && !known; k++)
        if ((known = r->ufn->identity[k].position != 0)) none = r->ufn->identity[k].value;
    if (!known)
        return bind_null(b, r->at,
                         "what is reduced has a mask, and the function has no identity to "
                         "stand for what it leaves out");
    bexpr *const body = bind_masked(b, r->at, mask, r->args[0], &none);
    if (!body) return NULL;
    r->args[0] = bind_convert(b, body, r->type);
    return r->args[0] ? r : NULL;
}

bexpr *bind_left_mask(binder *b, const ast *m)
{
    b->nterm = 0;
    bexpr *const mask = bind_mask(b, m);
    if (!mask) return NULL;
    if (b->nterm)
        return bind_null(b, m->at,
                         "the mask has an index that isn't on the left, %s; what is "
                         "reduced over it is masked as in sum(%s: … where …)",
                         b->index[b->term[0]].name, b->index[b->term[0]].name);
    const bexpr *const inner = expr_reduction(mask);
    if (inner)
        return bind_null(b, inner->at,
                         "a mask can't reduce; assign the reduction to a tensor first");
    return mask;
}

bexpr *bind_new_masked(binder *b, const bstmt *st, int op, bexpr *val)
{
    prog_tensor *const row = &b->p->tensor[st->target];
    const vclass cls = type_class(row->type);
    value none;
    if (!st->fill_given) {
        if (op == OPR_NONE || !fn_identity(bind_op_fn(op), cls, row->type, &none))
            none = class_convert(cls, CLASS_I64, (value){.i64 = 0});
        row->fill = type_round(row->type, none);
    }
    none = row->fill;
    return bind_masked(b, val->at, st->mask, val, &none);
}

bool expr_is_masked(const bexpr *e, vclass cls, value none)
{
    return e->kind == B_CALL && e->fn == FN_SELECT && e->cls == cls &&
           e->args[2]->kind == B_CONST && class_equal(cls, e->args[2]->value, none);
}

/* No number below `least`: indices from 0 on, times constants, and sums of those. */
static bool is_from(const bstmt *s, const bexpr *e, int64_t least)
{
    if (e->kind == B_CONST) return e->value.i64 >= least;
    if (e->kind == B_INDEX)
        return least <= 0 && s->index[e->index].lo < 0 && !s->index[e->index].value;
    if (e->kind != B_CALL || e->cls != CLASS_I64 || e->nargs != 2) return false;
    const bexpr *const a = e->args[0], *const b = e->args[1];
    if (e->fn == FN_MUL) return least <= 0 && is_from(s, a, 0) && is_from(s, b, 0);
    return e->fn == FN_ADD && ((is_from(s, a, least) && is_from(s, b, 0)) ||
                               (is_from(s, a, 0) && is_from(s, b, least)));
}

bool expr_mask_begins(const bstmt *s, const bexpr *mask, uint64_t reduced)
{
    return mask->kind == B_CALL && mask->fn == FN_LT && mask->cls == CLASS_I64 &&
           mask->args[0]->kind == B_INDEX && reduced >> mask->args[0]->index & 1 &&
           s->index[mask->args[0]->index].lo < 0 && is_from(s, mask->args[1], 1);
}
