/* algebra.c: where an expression may differ from a constant.
 *
 * expr_space(e, c) is a set over "access x is stored here", outside of which e
 * is known to equal c. It generalises the derivation of iteration algebras
 * (array programming paper, §5.2): instead of one algebra per function, each
 * node is asked for a target value, and passes targets on to its operands.
 *
 *   an annihilator α in position p, target α:  e ≠ α  ⇒  operand p ≠ α, for
 *       every such p: the intersection over them;                  (case 1)
 *   f(c₁,…) = target:  e ≠ target  ⇒  some operand k ≠ cₖ: the union, for the
 *       operands' fills, or the target itself where f is idempotent, or an
 *       identity in one position and the target in the other;      (cases 2–4)
 *   a truth value of two values that isn't c is the other one, so `!m` and
 *       masks give complements where m isn't stored.
 *
 * Properties are taken at their word: what isn't stored isn't looked at.
 *
 * A user's function may say its algebra itself: where it may differ from the fill of
 * its result. That fill is its value where all operands are their fills, if the algebra
 * leaves that out. If it doesn't, because of a complement, it is what the body gives
 * where the algebra leaves it out (fn_algebra.c). Where neither can be told, and where
 * an operand's fill isn't its set's constant, the call is universal.
 */
#include "plan.h"
#include <string.h>

/* ---- properties ---------------------------------------------------------- */

static bool call_identity(const bexpr *e, int position, value *out)
{
    if (e->kind == B_USER) {
        for (int k = 0; k < e->ufn->nidentity; k++) {
            const bfn_prop *p = &e->ufn->identity[k];
            if (p->position >= 0 && p->position != position) continue;
            *out = p->value;
            return true;
        }
        return false;
    }
    for (int k = 0; k < 2; k++)
        if (call_property(&fn_at(e->fn)->identity[k], e, position, out)) return true;
    return false;
}

/* ---- fills ------------------------------------------------------------------ */

static vclass result_class(const bexpr *e)
{
    return e->kind == B_CALL ? fn_result_class(e->fn, e->cls) : type_class(e->type);
}

/* All operands and the result in one class. */
static bool is_uniform(const bexpr *e)
{
    bool same = e->nargs > 0;
    for (int k = 0; k < e->nargs; k++)
        same = same && call_operand_class(e, k) == result_class(e);
    return same;
}

/* Where all are x, an idempotent function is x, though its body can't be evaluated here. */
static bool once(const bexpr *e, const value *args, value *out)
{
    if (!(e->ufn->flags & FP_IDEMPOTENT) || e->nargs < 2 || !is_uniform(e)) return false;
    for (int k = 1; k < e->nargs; k++)
        if (!class_equal(result_class(e), args[0], args[k])) return false;
    *out = args[0];
    return true;
}

static bool evaluate(const bexpr *e, const value *args, value *out)
{
    if (e->kind == B_USER) return fn_evaluate(e->ufn, args, out) || once(e, args, out);
    fn_scalar f = fn_scalar_of(e->fn, e->cls);
    return f && f(out, &args[0], &args[1], &args[2]) == FAULT_NONE;
}

/* What a derivation has found for a call so far: where it differs from targets, and
 * its fill, which every call around it asks for. */
typedef struct space_memo {
    bool own_fill;
    value target;
    const pset *found;
    struct space_memo *next;
} space_memo;

typedef struct expr_memo {
    const plan *pl;
    int serial; /* of the derivation */
    bool filled;
    fillval fill;
    space_memo *space;
} expr_memo;

/* NULL: no memory. */
static expr_memo *memo_of(const plan *pl, const bexpr *e)
{
    expr_memo *m = e->memo;
    if (m && m->pl == pl && m->serial == pl->spaces.serial) return m;
    if (!m) m = ((bexpr *)e)->memo = arena_room(pl->a, 1, sizeof *m);
    if (m) *m = (expr_memo){.pl = pl, .serial = pl->spaces.serial};
    return m;
}

/* A call on its operands' fills. */
static fillval fill_of_fills(const plan *pl, const bexpr *e)
{
    fillval arg[8], out = {.kind = FILL_KNOWN};
    value args[8] = {{0}};
    if (e->nargs > 8) return (fillval){.kind = FILL_VARIES};
    for (int k = 0; k < e->nargs; k++) {
        arg[k] = expr_fill(pl, e->args[k]);
        args[k] = arg[k].v;
        if (arg[k].kind != FILL_KNOWN && out.kind != FILL_VARIES) out.kind = arg[k].kind;
    }
    if (expr_selects(e) && arg[0].kind == FILL_KNOWN) return arg[arg[0].v.i64 ? 1 : 2];
    if (expr_selects(e) && arg[1].kind == FILL_KNOWN && arg[2].kind == FILL_KNOWN &&
        class_equal(e->cls, arg[1].v, arg[2].v))
        return arg[1]; /* whichever is taken */
    for (int k = 0; k < e->nargs; k++)
        for (int n = 0; n < call_annihilators(e) && arg[k].kind == FILL_KNOWN; n++) {
            value v;
            if (call_annihilator(e, n, k, &v) &&
                class_equal(call_operand_class(e, k), v, args[k]))
                return (fillval){.kind = FILL_KNOWN, .v = call_result(e, k, v)};
        }
    if (out.kind == FILL_KNOWN && !evaluate(e, args, &out.v)) out.kind = FILL_VARIES;
    return out;
}

/* Each operand's fill is its set's constant. */
static bool fills_are_constants(const plan *pl, const bexpr *e, const bset *s)
{
    if (s->op != SET_NOT_EQUAL)
        return fills_are_constants(pl, e, s->a) &&
               (s->op == SET_NOT || fills_are_constants(pl, e, s->b));
    const fillval f = expr_fill(pl, e->args[s->param]);
    return f.kind == FILL_KNOWN &&
           class_equal(type_class(e->args[s->param]->type), f.v, s->value);
}

static bool has_algebra(const bexpr *e)
{
    return e->kind == B_USER && e->ufn->algebra;
}

/* Where a call's algebra leaves it out, it is what it is on its operands' fills, if these
 * are left out; else what its body tells. If that isn't known, its fill says nothing. */
static fillval find_fill(const plan *pl, const bexpr *e)
{
    fillval f = fill_of_fills(pl, e);
    if (!has_algebra(e) || !fills_are_constants(pl, e, e->ufn->algebra)) return f;
    f.omits = f.kind == FILL_KNOWN && !fn_algebra_holds(e->ufn->algebra, 0);
    if (!f.omits && e->ufn->omits) f = (fillval){FILL_KNOWN, e->ufn->omitted, true};
    return f;
}

static fillval call_fill(const plan *pl, const bexpr *e)
{
    expr_memo *m = pl->spaces.depth ? memo_of(pl, e) : NULL;
    if (m && m->filled) return m->fill;
    const fillval f = find_fill(pl, e);
    if (m) {
        m->fill = f;
        m->filled = true;
    }
    return f;
}

/* Some index of a reduction has no values, whatever the shapes are. */
static bool over_nothing(const plan *pl, const bexpr *e)
{
    for (int k = 0; k < e->nindex; k++) {
        const bindex *i = &pl->s->index[e->indices[k]];
        const extent *lo = i->lo < 0 ? NULL : &pl->p->ext[i->lo], *hi = &pl->p->ext[i->hi];
        if (hi->op == EXT_CONST && (!lo || lo->op == EXT_CONST) &&
            hi->k <= (lo ? lo->k : 0))
            return true;
    }
    return false;
}

static fillval reduce_fill(const plan *pl, const bexpr *e)
{
    value id;
    if (over_nothing(pl, e) && reduce_identity(e, &id))
        return (fillval){.kind = FILL_KNOWN, .v = id};
    fillval in = expr_fill(pl, e->args[0]);
    if (in.kind != FILL_KNOWN) return in;
    if (reduce_identity(e, &id) && class_equal(e->cls, id, in.v)) return in;
    return (fillval){.kind = FILL_LATER};
}

fillval expr_fill(const plan *pl, const bexpr *e)
{
    switch (e->kind) {
    case B_CONST:
        return (fillval){.kind = FILL_KNOWN, .v = e->value};
    case B_INDEX:
    case B_EXTENT:
        return (fillval){.kind = FILL_VARIES};
    case B_ACCESS: {
        const prog_tensor *t = &pl->p->tensor[e->tensor];
        const precomputed *p = precompute_of(pl, e->tensor);
        if (p) return expr_fill(pl, p->whole);
        return (fillval){.kind = t->fill_later ? FILL_LATER : FILL_KNOWN, .v = t->fill};
    }
    case B_CONV: {
        fillval f = expr_fill(pl, e->args[0]);
        if (f.kind == FILL_KNOWN) f.v = conv_value(e->type, e->args[0]->type, f.v);
        return f;
    }
    case B_REDUCE:
        return reduce_fill(pl, e);
    default:
        return call_fill(pl, e);
    }
}

/* ---- spaces -------------------------------------------------------------------- */

static const pset *space_fill(plan *pl, const bexpr *e)
{
    const pset *s = pset_none();
    for (int k = 0; s && k < e->nargs; k++)
        s = pset_make(pl, PS_OR, s, expr_space(pl, e->args[k], NULL));
    return s;
}

/* Case 1: operands that annihilate to the target. NULL, false: no such. */
static bool space_annihilated(plan *pl, const bexpr *e, value target, const pset **out)
{
    const pset *s = NULL;
    bool any = false;
    for (int k = 0; k < e->nargs; k++)
        for (int n = 0; n < call_annihilators(e); n++) {
            value v;
            if (!call_annihilator(e, n, k, &v)) continue;
            value gives = call_result(e, k, v);
            vclass cls = e->kind == B_CALL ? call_operand_class(e, k) : type_class(e->type);
            if (!class_equal(cls, gives, target)) continue;
            const pset *one = expr_space(pl, e->args[k], &v);
            s = any ? pset_make(pl, PS_AND, s, one) : one;
            any = true;
            break;
        }
    *out = s;
    return any;
}

/* The union over operands that differ from want[k]; ALL unless f(want) is the
 * target. */
static const pset *space_union(plan *pl, const bexpr *e, const value *want,
                               const bool *own_fill, value target)
{
    value out;
    if (!evaluate(e, want, &out) || !class_equal(result_class(e), out, target))
        return pset_all();
    const pset *s = pset_none();
    for (int k = 0; s && k < e->nargs; k++)
        s = pset_make(pl, PS_OR, s,
                      expr_space(pl, e->args[k], own_fill[k] ? NULL : &want[k]));
    return s;
}

/* Cases 2 to 4: fills, the target in every place, an identity in one place. */
static const pset *space_evaluated(plan *pl, const bexpr *e, value target)
{
    value want[8];
    bool fills[8], none[8] = {false}, known = e->nargs <= 8;
    memset(fills, true, sizeof fills);
    if (!known) return pset_all();
    for (int k = 0; k < e->nargs; k++) {
        fillval f = expr_fill(pl, e->args[k]);
        known &= f.kind == FILL_KNOWN;
        want[k] = f.v;
    }
    const pset *s = pset_all();
    if (known) s = space_union(pl, e, want, fills, target);
    if (!s || s->op != PS_ALL || !is_uniform(e)) return s;
    for (int k = 0; k < e->nargs; k++)
        want[k] = target;
    s = space_union(pl, e, want, none, target);
    for (int k = 0; s && s->op == PS_ALL && k < e->nargs; k++) {
        if (k) want[k - 1] = target;
        if (call_identity(e, k, &want[k])) s = space_union(pl, e, want, none, target);
    }
    return s;
}

/* A mask before a reduction: if it is stored everywhere, its values decide, so
 * that nothing is reduced where it is false. */
static const pset *space_mask(plan *pl, const bexpr *m)
{
    while (m->kind == B_CONV && m->type == STC_BOOL)
        m = m->args[0];
    if (m->kind != B_ACCESS) return pset_all();
    const prog_tensor *t = &pl->p->tensor[m->tensor];
    if (t->fill_later || !class_is_zero(type_class(t->type), t->fill)) return pset_all();
    for (int l = 0; l < t->fmt.levels; l++)
        if (!(format_props(&t->fmt, l) & PROP_FULL)) return pset_all();
    pset *s = arena_alloc(pl->a, sizeof *s);
    if (s) *s = (pset){.op = PS_STORED, .access = m->mark, .exact = true};
    return s;
}

/* Where e may be zero, or may be other than zero. */
static const pset *space_truth(plan *pl, const bexpr *e, bool where_zero)
{
    vclass cls = type_class(e->type);
    value zero = conv_value(e->type, STC_I64, (value){.i64 = 0});
    if (!where_zero) return expr_space(pl, e, &zero);
    if (e->kind == B_CONST) return class_is_zero(cls, e->value) ? pset_all() : pset_none();
    if (e->kind == B_ACCESS) {
        const prog_tensor *t = &pl->p->tensor[e->tensor];
        if (!t->fill_later && class_is_zero(cls, t->fill))
            return pset_leaf(pl, PS_ABSENT, e->mark);
    }
    if (e->type == STC_BOOL) {
        const pset *const s = pset_where_not(pl, e);
        value one = {.i64 = 1};
        return s ? s : expr_space(pl, e, &one);
    }
    return pset_all();
}

static const pset *space_select(plan *pl, const bexpr *e, const value *target)
{
    const pset *yes = pset_make(pl, PS_AND, space_truth(pl, e->args[0], false),
                                expr_space(pl, e->args[1], target));
    const pset *no = pset_make(pl, PS_AND, space_truth(pl, e->args[0], true),
                               expr_space(pl, e->args[2], target));
    return pset_make(pl, PS_OR, yes, no);
}

/* A user's algebra, {param != value} combined, all of them fills. A complement is exact
 * for what is stored; it is everything for what was computed, or may have become the
 * constant by a conversion. */
static const pset *space_sets(plan *pl, const bexpr *e, const bset *s, bool complement)
{
    if (s->op == SET_NOT) return space_sets(pl, e, s->a, !complement);
    if (s->op != SET_NOT_EQUAL) {
        bool both = (s->op == SET_AND) != complement;
        return pset_make(pl, both ? PS_AND : PS_OR, space_sets(pl, e, s->a, complement),
                         space_sets(pl, e, s->b, complement));
    }
    const bexpr *arg = e->args[s->param];
    for (; arg->kind == B_CONV; arg = arg->args[0]) { /* fills convert with their values */
        const fillval f = expr_fill(pl, arg->args[0]);
        if (complement && !conv_keeps_apart(arg->type, arg->args[0]->type, f.v))
            return pset_all();
    }
    if (!complement) return expr_space(pl, arg, NULL);
    return arg->kind == B_ACCESS ? pset_leaf(pl, PS_ABSENT, arg->mark) : pset_all();
}

/* *out: where a call with an algebra may differ from target, or from its fill. False:
 * the algebra doesn't tell. */
static bool space_algebra(plan *pl, const bexpr *e, const value *target, const pset **out)
{
    const fillval f = expr_fill(pl, e);
    if (f.omits && target && !class_equal(type_class(e->type), f.v, *target)) return false;
    const bool given =
        target && e == pl->given_fill && fills_are_constants(pl, e, e->ufn->algebra);
    *out = f.omits || given ? space_sets(pl, e, e->ufn->algebra, false) : pset_all();
    return true;
}

static bool is_truth(const value *v)
{
    return v->i64 == 0 || v->i64 == 1;
}

static const pset *space_call(plan *pl, const bexpr *e, const value *target)
{
    const pset *s;
    fillval f;
    if (has_algebra(e) && space_algebra(pl, e, target, &s)) return s;
    if (!target) f = expr_fill(pl, e);
    if (!target && f.kind == FILL_KNOWN) target = &f.v;
    if (!target) return f.kind == FILL_LATER ? space_fill(pl, e) : pset_all();
    if (expr_selects(e)) return space_select(pl, e, target);
    if (e->kind == B_CALL && e->fn == FN_NOT && is_truth(target)) {
        const bexpr *arg = e->args[0];
        return space_truth(pl, arg, target->i64 == 0);
    }
    if (class_is_zero(CLASS_I64, *target) && (s = pset_where(pl, e))) return s;
    if (!space_annihilated(pl, e, *target, &s)) s = pset_all();
    if (!s) return NULL;
    if (s->op == PS_ALL) return space_evaluated(pl, e, *target);
    if (e->kind == B_CALL && e->fn == FN_AND && class_is_zero(e->cls, *target) &&
        expr_has(e->args[1], B_REDUCE))
        return pset_make(pl, PS_AND, space_mask(pl, e->args[0]), s);
    return s;
}

static const pset *space_access(plan *pl, const bexpr *e, const value *target)
{
    const prog_tensor *t = &pl->p->tensor[e->tensor];
    const precomputed *p = precompute_of(pl, e->tensor);
    if (e->waits && expr_call_faults(e)) return pset_all();
    if (!target && p) { /* what it stands for may have another fill */
        fillval f = expr_fill(pl, p->whole);
        bool same = f.kind == FILL_KNOWN && class_equal(type_class(t->type), f.v, t->fill);
        return same ? pset_stored(pl, e->mark) : pset_all();
    }
    if (!target) return pset_stored(pl, e->mark);
    if (t->fill_later) return pset_all();
    if (class_equal(type_class(t->type), t->fill, *target)) return pset_stored(pl, e->mark);
    /* Of two values, what isn't this one is the other. */
    return e->type == STC_BOOL && is_truth(target) ? pset_leaf(pl, PS_ABSENT, e->mark)
                                                   : pset_all();
}

static const pset *space_conv(plan *pl, const bexpr *e, const value *target)
{
    const bexpr *arg = e->args[0];
    if (!target) return expr_space(pl, arg, NULL);
    if (e->type == STC_BOOL)
        return is_truth(target) ? space_truth(pl, arg, target->i64 != 0) : pset_all();
    value u = conv_value(arg->type, e->type, *target);
    value back = conv_value(e->type, arg->type, u);
    if (!class_equal(type_class(e->type), back, *target)) return pset_all();
    return expr_space(pl, arg, &u);
}

static const pset *space_reduce(plan *pl, const bexpr *e, const value *target)
{
    const bexpr *arg = e->args[0];
    value id;
    if (target && !(reduce_identity(e, &id) && class_equal(e->cls, id, *target)))
        return pset_all();
    const pset *s = expr_space(pl, arg, target ? &id : NULL);
    if (!pl->spaces.asks || !s || s->op == PS_NONE || s->op == PS_ALL) return s;
    pset *had = arena_alloc(pl->a, sizeof *had);
    if (had) *had = (pset){.op = PS_HAD_TERM, .of = e, .own_fill = !target};
    return had;
}

/* A node is asked for several targets, and asks its operands for several each: in
 * a deep expression that is exponential, unless answers are kept. */
static const pset *space_call_once(plan *pl, const bexpr *e, const value *target)
{
    const value want = target ? *target : (value){0};
    pl->spaces.depth++;
    expr_memo *of = memo_of(pl, e);
    const space_memo *m = of ? of->space : NULL;
    while (m && (m->own_fill != !target || memcmp(&m->target, &want, sizeof want)))
        m = m->next;
    const pset *found = m ? m->found : of ? space_call(pl, e, target) : NULL;
    if (--pl->spaces.depth == 0) pl->spaces.serial++;
    if (m || !found) return found;
    space_memo *note = arena_room(pl->a, 1, sizeof *note);
    if (!note) return NULL;
    *note = (space_memo){!target, want, found, of->space};
    of->space = note;
    return found;
}

const pset *expr_space(plan *pl, const bexpr *e, const value *target)
{
    switch (e->kind) {
    case B_CONST:
        return !target || class_equal(type_class(e->type), e->value, *target) ? pset_none()
                                                                              : pset_all();
    case B_INDEX:
    case B_EXTENT:
        return pset_all();
    case B_ACCESS:
        return space_access(pl, e, target);
    case B_CONV:
        return space_conv(pl, e, target);
    case B_REDUCE:
        return space_reduce(pl, e, target);
    default:
        return space_call_once(pl, e, target);
    }
}

const pset *space_false(plan *pl, const bexpr *e)
{
    return space_truth(pl, e, true);
}

const pset *plan_mask_space(plan *pl)
{
    const bexpr *const m = pl->s->mask;
    if (!m) return pset_all();
    const pset *const s = expr_space(pl, m, &(value){.i64 = 0});
    return expr_has(pl->s->value, B_REDUCE) ? pset_make(pl, PS_AND, space_mask(pl, m), s)
                                            : s;
}
