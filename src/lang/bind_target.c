/* bind_target.c: the left side of an assignment.
 *
 * Which row of the program it writes: the tensor's own where it is declared or
 * keeps some of its elements, else a new one. And whether the subscripts name
 * every element at most once.
 */
#include "bind.h"

#include <math.h>
#include <string.h>

stc_status bind_left(binder *b, const ast *left)
{
    b->left = left;
    if (left->kind != N_NAME && left->kind != N_CALL)
        return bind_fail(b, left->at, "expected a tensor with its indices before `=`");
    if (left->count > STC_MAX_ORDER)
        return bind_fail(b, left->at, "a tensor has at most %d modes", STC_MAX_ORDER);
    b->nsub = left->count;
    if (!left->count) return STC_OK;
    b->sub = arena_array(b->a, left->count, sizeof *b->sub);
    b->left_access = arena_array(b->a, left->count, sizeof *b->left_access);
    bexpr *computed[STC_MAX_ORDER];
    if (!b->sub || !b->left_access || !bind_computed(b, left, computed) ||
        !bind_subscripts(b, left, computed, b->sub, b->left_access))
        return b->p->cx->diag.status;
    for (int k = 0; k < b->nsub; k++)
        b->left_access[k].left = true;
    b->nleft = b->nindex;
    b->nterm = 0;
    return STC_OK;
}

static bool bind_left_computed(const binder *b)
{
    for (int k = 0; k < b->nsub; k++)
        if (b->sub[k].terms && b->index[b->sub[k].term[0].index].value) return true;
    return false;
}

/* All subscripts are bare and no index is there twice. */
static bool is_whole(const binder *b)
{
    uint64_t seen = 0;
    for (int k = 0; k < b->nsub; k++) {
        const affine *const f = &b->sub[k];
        if (f->terms != 1 || f->term[0].coef != 1 || f->constant || b->left_access[k].slice)
            return false;
        if (b->index[f->term[0].index].value) return false;
        const uint64_t bit = 1ull << f->term[0].index;
        if (seen & bit) return false;
        seen |= bit;
    }
    return true;
}

/* ---- the row ---------------------------------------------------------------------- */

/* The fill that was declared of t, as the type that the statement gives has it. */
static bool declared_fill(binder *b, const scope_tensor *t, stc_type type, value *out)
{
    const vclass from = type_class(t->type), to = type_class(type);
    *out = t->fill;
    if (t->type == type) return true;
    if (from == CLASS_F64 && isinf(t->fill.f64) &&
        fn_constant(t->fill.f64 > 0 ? FC_INF : FC_NINF, to, type, out))
        return true;
    *out = type_convert(type, t->type, t->fill);
    if (type_is_float(type) ||
        class_equal(from, type_convert(t->type, type, *out), t->fill))
        return true;
    char text[96];
    type_print(t->type, t->fill, text, sizeof text);
    bind_fail(b, b->left->at, "the fill %s of %s doesn't fit the type %s", text, t->name,
              type_name(type));
    return false;
}

/* A new row; what was declared of t holds (t may be NULL). */
static int new_row(binder *b, bstmt *st, const scope_tensor *t, stc_type type)
{
    prog_tensor row;
    memset(&row, 0, sizeof row);
    row.name = b->left ? (char *)b->left->name : (char *)"";
    row.role = b->left ? ROLE_OUTPUT : ROLE_TEMP;
    row.order = b->nsub;
    row.type = t && t->has_type ? t->type : type;
    st->fresh = true;
    st->format_given = t && t->has_format;
    st->fill_given = t && t->has_fill;
    if (st->format_given) row.fmt = t->fmt;
    if (st->fill_given && !declared_fill(b, t, row.type, &row.fill)) return -1;
    for (int k = 0; t && t->has_shape && k < b->nsub; k++) {
        const int n = bind_constant_extent(b, t->shape[k]);
        if (n < 0) return -1;
        row.shape[k] = (uint16_t)n;
    }
    return program_tensor(b->p, &row);
}

/* The tensor's own row, which is written from now on. */
static int own_row(binder *b, bstmt *st, scope_tensor *t)
{
    const int slot = bind_slot(b, t, b->nsub, b->left->at);
    if (slot < 0) return -1;
    uint8_t role = b->p->tensor[slot].role;
    if (role == ROLE_INPUT) {
        for (int k = 0; k < b->nsub; k++) {
            const int n = bind_size(b, slot, k);
            if (n < 0) return -1;
            b->p->tensor[slot].shape[k] = (uint16_t)n;
        }
        b->old_slot = slot;
        b->old_role = role;
        b->p->tensor[slot].role = ROLE_INOUT;
    }
    st->format_given = st->fill_given = true;
    return slot;
}

/* ---- op= ---------------------------------------------------------------------------- */

/* It is computed in 64 bits, so that it may lie beyond its type's limits. */
static bool may_exceed(const bexpr *e)
{
    const bool integer = type_is_integer(e->type) && type_size(e->type) < sizeof(int64_t);
    return integer && e->kind != B_ACCESS && e->kind != B_CONST;
}

/* val as `op=` leaves it in a tensor that starts from op's identity. */
static bexpr *from_identity(binder *b, int op, bexpr *val)
{
    if (!val) return NULL;
    const bool one = op == OPR_DIV || op == OPR_MUL;
    const fn_info *const f = fn_at(bind_op_fn(op));
    val = bind_strong(b, val);
    const bool floats = f->typing == TY_FLOAT; /* integers become such */
    if (!floats && !(f->classes >> type_class(val->type) & 1))
        return bind_null(b, val->at, "`%s=` isn't defined for %s", ast_op_symbol(op),
                         type_name(val->type));
    if (op == OPR_OR || op == OPR_AND) return bind_to_bool(b, val);
    const bool number = (op == OPR_ADD || op == OPR_MUL) && val->type == STC_BOOL;
    const bool limit =
        (f->identity[0].value == FC_INF || f->identity[0].value == FC_NINF) &&
        may_exceed(val);
    if (op != OPR_SUB && op != OPR_DIV && !number && !limit) return val;
    value v = {.i64 = one};
    if (limit && !fn_constant(f->identity[0].value, type_class(val->type), val->type, &v))
        return val;
    bexpr *identity = bind_const(b, val->at, limit ? val->type : STC_I64, v);
    if (!identity) return NULL;
    identity->mark = limit ? 0 : WEAK;
    return bind_call(b, val->at, bind_op_fn(op), (bexpr *[]){identity, val}, 2);
}

/* slot op val. */
static bexpr *joined(binder *b, int slot, int op, bexpr *val)
{
    bexpr *const old = bind_node(b, B_ACCESS, b->p->tensor[slot].type, b->left->at);
    if (!old || !val) return NULL;
    old->tensor = slot;
    old->sub = b->sub;
    return bind_call(b, b->left->at, bind_op_fn(op), (bexpr *[]){old, val}, 2);
}

/* By what values meet that go to one element. */
static int meeting(int op)
{
    return op == OPR_NONE  ? FN_LAST
           : op == OPR_SUB ? FN_ADD
           : op == OPR_DIV ? FN_MUL
                           : bind_op_fn(op);
}

/* Whether op='s terms that go to one element can meet before they are written. */
static bool terms_meet(const prog_tensor *row, int op)
{
    const vclass cls = type_class(row->type);
    return op != OPR_NONE && fn_at(meeting(op))->flags & FP_ASSOCIATIVE &&
           fn_result_class(bind_op_fn(op), cls) == cls;
}

/* They go to places that are found, or are the fill without a place. */
static bool has_places(const prog_tensor *row, int op)
{
    const vclass cls = type_class(row->type);
    value id;
    return format_finds_places(&row->fmt) ||
           (op != OPR_DIV && fn_identity(meeting(op), cls, row->type, &id) &&
            class_equal(cls, id, row->fill));
}

/* Whether op= may name elements several times by sums of indices, O(2*i+p). */
static bool may_meet(const binder *b, const prog_tensor *row, int op)
{
    bool sums = false;
    for (int k = 0; k < b->nsub; k++)
        sums |= b->sub[k].terms > 1;
    return sums && terms_meet(row, op) && has_places(row, op);
}

/* Into the tensor's own row; e is what joined() gave, or what is assigned. */
static bexpr *into_own(binder *b, bstmt *st, int op, bexpr *e, const char *name)
{
    const stc_type t = b->p->tensor[st->target].type;
    if (op == OPR_NONE) return bind_store_kind(b, e, t, name);
    const bool in_place = e->args[0]->kind == B_ACCESS &&
                          e->args[0]->tensor == st->target && e->args[0]->sub == b->sub &&
                          type_class(e->type) == type_class(t);
    const bool keeps_kind = type_keeps_kind(t, e->type);
    if (keeps_kind) st->computed |= may_meet(b, &b->p->tensor[st->target], op);
    if (in_place && keeps_kind) {
        st->op = e->fn;
        return e->args[1];
    }
    if (!keeps_kind || !st->computed) return bind_store_kind(b, e, t, name);
    /* several terms may go to one element: they add up in its own type */
    bexpr *const sum = joined(b, st->target, op, bind_convert(b, e->args[1], t));
    if (!sum) return NULL;
    st->op = sum->fn;
    return sum->args[1];
}

/* What an undeclared name is given under op= has another type than it had: a new row of
 * that type, which is like the old one else. */
static int retyped_row(binder *b, bstmt *st, int slot, stc_type type)
{
    prog_tensor row = b->p->tensor[slot];
    row.name = (char *)b->left->name;
    row.role = ROLE_OUTPUT;
    row.fill = type_convert(type, row.type, row.fill);
    row.type = type;
    for (int k = 0; k < b->nsub; k++) {
        const int n = bind_size(b, slot, k);
        if (n < 0) return -1;
        row.shape[k] = (uint16_t)n;
    }
    st->fresh = st->format_given = st->fill_given = true;
    b->keeps_shape = true;
    return program_tensor(b->p, &row);
}

/* The target is a tensor that keeps some of what it was. */
static bexpr *into_kept(binder *b, bstmt *st, scope_tensor *t, int op, bexpr *val)
{
    if (op != OPR_NONE) {
        const int slot = bind_slot(b, t, b->nsub, b->left->at);
        if (slot < 0 || !(val = joined(b, slot, op, val))) return NULL;
        const stc_type type = val->type;
        if (!t->has_type && st->whole && type != b->p->tensor[slot].type) {
            st->target = retyped_row(b, st, slot, type);
            return st->target < 0 ? NULL : bind_store(b, val, type);
        }
    }
    st->target = own_row(b, st, t);
    if (st->target < 0) return NULL;
    return into_own(b, st, op, val, t->name);
}

static stc_status check_order(binder *b, const scope_tensor *t, bool kept)
{
    const bool fixed = t && (kept || t->has_format || t->has_shape);
    if (!fixed || t->order < 0 || t->order == b->nsub) return STC_OK;
    return bind_fail(b, b->left->at, "%s has %d mode%s and is assigned with %d subscript%s",
                     t->name, t->order, t->order == 1 ? "" : "s", b->nsub,
                     b->nsub == 1 ? "" : "s");
}

stc_status bind_target(binder *b, bstmt *st, int op, bexpr *val)
{
    ctx *const cx = b->p->cx;
    scope_tensor *const t = b->left ? scope_find_tensor(b->s, b->left->name) : NULL;
    const bool exists = t && (t->slot >= 0 || t->has_data);
    st->bare = is_whole(b);
    st->whole = st->bare && !(st->mask && exists);
    st->op = -1;
    st->computed = bind_left_computed(b);
    st->meets = meeting(op);
    if (st->computed && !exists && !(t && t->has_shape))
        return bind_fail(b, b->left->at,
                         "a computed subscript writes into a tensor that is there, and %s "
                         "has no shape yet",
                         b->left->name);
    const bool orderly = op == OPR_NONE || fn_at(st->meets)->flags & FP_ASSOCIATIVE;
    if (!orderly && (st->computed || !exists))
        return bind_fail(b, b->left->at,
                         st->computed ? "`%s=` takes one value for an element, and a "
                                        "computed subscript may name it several times"
                                      : "`%s=` needs a tensor that is there",
                         ast_op_symbol(op));
    const bool keeps = exists && (op != OPR_NONE || !st->whole);
    const bool same_type = t && val && (t->has_type || val->type == t->type);
    const bool kept = keeps || (exists && t->has_format && t->slot >= 0 && same_type);
    stc_status status = check_order(b, t, keeps);
    if (status != STC_OK) return status;
    if (t && !bind_touch(b, t)) return cx->diag.status;
    if (t && t->has_format && !bind_close_format(b, t, b->nsub, b->left->at))
        return cx->diag.status;
    if (kept) {
        val = into_kept(b, st, t, op, val);
    } else {
        if (op != OPR_NONE)
            val = from_identity(b, op, val);
        else if (!t || !t->has_type) /* a literal has to fit a declared type */
            val = bind_strong(b, val);
        if (!val) return cx->diag.status;
        st->target = new_row(b, st, t, val->type);
        if (st->target < 0) return cx->diag.status;
        val = bind_store_kind(b, val, b->p->tensor[st->target].type, t ? t->name : "");
        if (val && st->mask) val = bind_new_masked(b, st, op, val);
        st->fill_given |= st->mask != NULL;
    }
    st->value = val;
    if (!kept) st->mask = NULL; /* it is in the value */
    return val ? STC_OK : cx->diag.status;
}

/* ---- injective -------------------------------------------------------------------- */

static int64_t magnitude(int64_t c)
{
    return c < 0 && c != INT64_MIN ? -c : c;
}

/* Where terms would meet, were there places. */
#define NO_PLACES                                                                          \
    ". Terms meet there if a tensor's levels find a place, as dense, compressed, hashed "  \
    "and bytemap do, or if its fill changes nothing"
#define SPAN                                                                               \
    "the left side names an element more than once: its smaller terms span %a, and the "   \
    "next coefficient is %b"
static const char span_twice[] = SPAN, span_placeless[] = SPAN NO_PLACES;

/* The indices of one subscript that aren't determined yet are its digits:
 * sorted by coefficient, each must outweigh all below it together. */
static stc_status check_digits(binder *b, int mode, uint64_t determined, bool placeless)
{
    const affine *const f = &b->sub[mode];
    int order[BIND_MAX_TERMS], n = 0;
    for (int t = 0; t < f->terms; t++) {
        if (determined >> f->term[t].index & 1) continue;
        int k = n++;
        for (; k > 0 && magnitude(f->term[order[k - 1]].coef) > magnitude(f->term[t].coef);
             k--)
            order[k] = order[k - 1];
        order[k] = t;
    }
    int ext[BIND_MAX_TERMS];
    int64_t coef[BIND_MAX_TERMS], sum = 1;
    for (int k = 0; k + 1 < n; k++) {
        const int64_t c = magnitude(f->term[order[k]].coef);
        const int64_t above = magnitude(f->term[order[k + 1]].coef);
        if (c == above || __builtin_sub_overflow(sum, c, &sum))
            return bind_fail(
                b, b->left_access[mode].at,
                "this subscript names an element more than once: %s and %s have the "
                "same coefficient%s",
                b->index[f->term[order[k]].index].name,
                b->index[f->term[order[k + 1]].index].name, placeless ? NO_PLACES : "");
        ext[k] = b->family[b->family_of[f->term[order[k]].index]].hi;
        coef[k] = c;
        const stc_status status =
            bind_relation(b, REL_LE, bind_linear(b, ext, coef, k + 1, sum),
                          bind_constant_extent(b, above), b->left_access[mode].at,
                          placeless ? span_placeless : span_twice);
        if (status != STC_OK) return status;
    }
    return STC_OK;
}

/* Indices are determined by subscripts, one after another. */
stc_status bind_injective(binder *b, const bstmt *st, int op)
{
    const prog_tensor *const row = &b->p->tensor[st->target];
    const bool placeless = !st->fresh && terms_meet(row, op) && !has_places(row, op);
    uint64_t determined = 0;
    const uint64_t all = b->nleft ? UINT64_MAX >> (64 - b->nleft) : 0;
    while (determined != all) {
        int best = -1, fewest = BIND_MAX_TERMS + 1;
        for (int k = 0; k < b->nsub; k++) {
            int open = 0;
            for (int t = 0; t < b->sub[k].terms; t++)
                open += !(determined >> b->sub[k].term[t].index & 1);
            if (open && open < fewest) {
                fewest = open;
                best = k;
            }
        }
        if (best < 0) /* an index that cancelled out */
            return bind_fail(b, b->left->at,
                             "the left side names an element more than once");
        const stc_status status =
            fewest > 1 ? check_digits(b, best, determined, placeless) : STC_OK;
        if (status != STC_OK) return status;
        for (int t = 0; t < b->sub[best].terms; t++)
            determined |= 1ull << b->sub[best].term[t].index;
    }
    return STC_OK;
}
