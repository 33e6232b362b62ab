/* bind_props.c: what is said of a function, `with …` and `over …`, for the types of
 * its parameters: flags, values in the parameters' classes, sets.
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

static stc_status properties(binder *b, bfunction *f, const ast *props)
{
    bool same = true;
    for (int i = 1; i < f->nparams; i++)
        same &= type_class(f->param[i]) == type_class(f->param[0]);
    for (int i = 0; props && i < props->count; i++) {
        const ast *const p = props->child[i];
        const bool identity = p->name[0] == 'i' && p->count > 0;
        stc_status status = STC_OK;
        if (p->count == 0) {
            f->flags |= (uint8_t)fn_property_flag(p);
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
    return STC_OK;
}

static bset *algebra(binder *b, const bfunction *f, const ast *e, const ast *params)
{
    bset *s = arena_alloc(b->a, sizeof *s);
    if (!s) return NULL;
    if (e->kind == N_SET) {
        s->op = SET_NOT_EQUAL;
        s->param = fn_param_named(params, e->name);
        return literal_value(b->src, e->child[0], f->param[s->param], &s->value) == STC_OK
                   ? s
                   : NULL;
    }
    s->op = e->kind == N_UNARY ? SET_NOT : e->op == OPR_BITAND ? SET_AND : SET_OR;
    s->a = algebra(b, f, e->child[0], params);
    if (s->a && e->count > 1) s->b = algebra(b, f, e->child[1], params);
    return s->a && (s->b || e->count == 1) ? s : NULL;
}

bool bind_properties(binder *b, bfunction *f, const ast *node)
{
    return properties(b, f, node->child[2]) == STC_OK &&
           (!node->child[3] ||
            (f->algebra = algebra(b, f, node->child[3], node->child[0])) != NULL);
}
