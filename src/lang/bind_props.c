/* bind_props.c: what is said of a function, `with …` and `over …`, for the types of
 * its parameters: flags, values in the parameters' classes, sets. And what is said of
 * a call: built-ins have their properties in functions.def.
 */
#include "bind.h"

#include <string.h>

static stc_status add_value(binder *b, bfunction *f, const ast *prop, int position,
                            bool identity)
{
    int *const n = identity ? &f->nidentity : &f->nannihilator;
    bfn_prop *const out = (identity ? f->identity : f->annihilator) + *n;
    if (*n == 8) return bind_fail(b, prop->at, "too many properties of this kind");
    (*n)++;
    out->position = position;
    return literal_value(b->src, prop->child[0], f->param[position < 0 ? 0 : position],
                         &out->value);
}

static stc_status add_over(binder *b, bfunction *f, const ast *prop)
{
    const char *name = prop->child[0]->name;
    if (f->nover == 4) return bind_fail(b, prop->at, "too many properties of this kind");
    if (fn_named(name, strlen(name), 2) < 0 && !scope_find(b->s, name, N_FN))
        return bind_fail(b, prop->child[0]->at, "there is no function of two of this name");
    f->over[f->nover++] = name;
    return STC_OK;
}

static stc_status properties(binder *b, bfunction *f, const ast *props)
{
    bool same = true;
    for (int i = 1; i < f->nparams; i++)
        same &= type_class(f->param[i]) == type_class(f->param[0]);
    for (int i = 0; props && i < props->count; i++) {
        const ast *const p = props->child[i];
        const bool identity = p->name[0] == 'i' && p->count > 0;
        stc_status status = STC_OK;
        if (!strcmp(p->name, "derivative")) continue; /* src/grad */
        if (p->count == 0) {
            f->flags |= (uint8_t)fn_property_flag(p);
        } else if (!strcmp(p->name, "distributes")) {
            status = add_over(b, f, p);
        } else if (p->child[1]) {
            status = add_value(b, f, p, (int)p->child[1]->u, identity);
        } else if (same) {
            status = add_value(b, f, p, -1, identity);
        } else {
            for (int k = 0; k < f->nparams && status == STC_OK; k++)
                status = add_value(b, f, p, k, identity);
        }
        if (status != STC_OK) return status;
    }
    if (same && f->flags & FP_COMMUTATIVE) { /* what is said of one place holds of all */
        for (int k = 0; k < f->nidentity; k++)
            f->identity[k].position = -1;
        for (int k = 0; k < f->nannihilator; k++)
            f->annihilator[k].position = -1;
    }
    return STC_OK;
}

/* A truth value never is a number other than 0 and 1: TRUTH_NONE stands for these. */
static stc_status set_value(binder *b, const ast *node, stc_type t, value *out)
{
    value number;
    const stc_status status = literal_value(b->src, node, t, out);
    if (status != STC_OK || t != STC_BOOL || !out->i64) return status;
    if (literal_value(b->src, node, STC_C128, &number) != STC_OK) return STC_ERR_PROGRAM;
    if (number.c128 != 1) out->i64 = TRUTH_NONE;
    return STC_OK;
}

static bset *algebra(binder *b, const bfunction *f, const ast *e, const ast *params)
{
    bset *s = arena_alloc(b->a, sizeof *s);
    if (!s) return NULL;
    if (e->kind == N_SET) {
        s->op = SET_NOT_EQUAL;
        s->param = fn_param_named(params, e->name);
        return set_value(b, e->child[0], f->param[s->param], &s->value) == STC_OK ? s
                                                                                  : NULL;
    }
    s->op = e->kind == N_UNARY ? SET_NOT : e->op == OPR_BITAND ? SET_AND : SET_OR;
    s->a = algebra(b, f, e->child[0], params);
    if (s->a && e->count > 1) s->b = algebra(b, f, e->child[1], params);
    return s->a && (s->b || e->count == 1) ? s : NULL;
}

bool bind_properties(binder *b, bfunction *f, const ast *node)
{
    if (properties(b, f, node->child[2]) != STC_OK) return false;
    if (!node->child[3]) return true;
    f->algebra = algebra(b, f, node->child[3], node->child[0]);
    return f->algebra && bind_omitted(b, f, node);
}

/* ---- of calls ----------------------------------------------------------------------- */

value conv_value(stc_type to, stc_type from, value v)
{
    value out = class_convert(type_class(to), type_class(from), v);
    if (to == STC_BOOL) out.i64 = !class_is_zero(type_class(from), v);
    return out;
}

vclass call_operand_class(const bexpr *e, int k)
{
    return e->kind == B_CALL ? fn_operand_class(e->fn, e->cls, k)
                             : type_class(e->args[k]->type);
}

value call_result(const bexpr *e, int k, value v)
{
    return e->kind == B_CALL ? v : conv_value(e->type, e->args[k]->type, v);
}

bool call_property(const fn_prop *p, const bexpr *e, int position, value *out)
{
    if (p->value == FC_NONE) return false;
    if (p->position != AT_ANY && p->position != position) return false;
    const bool boolean = (p->classes & 0x80) && e->args[position]->type == STC_BOOL;
    if (!((p->classes >> e->cls) & 1) && !boolean) return false;
    return fn_constant(p->value, e->cls, e->type, out); /* limits: of what is computed */
}

/* Whether a call's function distributes over what a reduction reduces by. */
static bool call_distributes(const bexpr *e, const bexpr *r)
{
    if (e->kind == B_CALL) return !r->ufn && fn_distributes(e->fn, r->fn, r->cls);
    for (int k = 0; k < e->ufn->nover; k++) {
        const char *name = e->ufn->over[k];
        if (r->ufn ? !strcmp(r->ufn->name, name) : fn_named(name, strlen(name), 2) == r->fn)
            return true;
    }
    return false;
}

int call_annihilators(const bexpr *e)
{
    if (e->kind != B_CALL) return e->ufn->nannihilator;
    const fn_prop *p =
        fn_at(e->fn)->annihilator; /* none stands behind one that is missing */
    int n = 0;
    while (n < 3 && p[n].value != FC_NONE)
        n++;
    return n;
}

bool call_annihilator(const bexpr *e, int n, int position, value *out)
{
    if (e->kind == B_CALL)
        return call_property(&fn_at(e->fn)->annihilator[n], e, position, out);
    const bfn_prop *const p = &e->ufn->annihilator[n];
    if (p->position >= 0 && p->position != position) return false;
    *out = p->value;
    return true;
}

enum { FREE_ORDER = FP_ASSOCIATIVE | FP_COMMUTATIVE };

/* Whether r's identity in any operand gives r's identity. */
static bool annihilated(const bexpr *call, const bexpr *r, value identity)
{
    for (int k = 0; k < 2; k++) {
        bool found = false;
        for (int n = 0; n < call_annihilators(call) && !found; n++) {
            value v;
            found = call_annihilator(call, n, k, &v) && class_equal(r->cls, v, identity);
        }
        if (!found) return false;
    }
    return true;
}

/* Whether e's function takes two values of r's class, in any order, and gives one. */
static bool is_pair(const bexpr *e, const bexpr *r)
{
    if (e->kind == B_USER)
        return e->nargs == 2 && (e->ufn->flags & FREE_ORDER) == FREE_ORDER &&
               e->ufn->param[0] == r->type && e->ufn->param[1] == r->type &&
               e->ufn->result == r->type;
    return e->kind == B_CALL && e->nargs == 2 && e->cls == r->cls &&
           fn_result_class(e->fn, e->cls) == r->cls &&
           (fn_at(e->fn)->flags & FREE_ORDER) == FREE_ORDER;
}

bool call_is_product(const bexpr *e, const bexpr *r, value identity)
{
    return is_pair(e, r) && call_distributes(e, r) && annihilated(e, r, identity);
}

/* ---- of reductions ------------------------------------------------------------------ */

bool ufn_identity(const bfunction *f, value *out)
{
    for (int k = 0; k < f->nidentity; k++)
        if (f->identity[k].position != 0 || (f->flags & FP_COMMUTATIVE)) {
            *out = f->identity[k].value;
            return true;
        }
    return false;
}

bool reduce_identity(const bexpr *e, value *out)
{
    return e->ufn ? ufn_identity(e->ufn, out) : fn_identity(e->fn, e->cls, e->type, out);
}

uint8_t reduce_flags(const bexpr *e)
{
    return e->ufn ? e->ufn->flags : fn_at(e->fn)->flags;
}

/* What combines the terms of which a call or a reduction makes some, -1: nothing. */
int expr_combiner(const bexpr *e)
{
    enum { FREE = FP_ASSOCIATIVE | FP_COMMUTATIVE };
    if ((e->kind != B_REDUCE && e->kind != B_CALL) || e->ufn) return -1;
    if (e->fn == FN_SUB || e->fn == FN_NEG) return FN_ADD;
    return (fn_at(e->fn)->flags & FREE) == FREE ? e->fn : -1;
}
