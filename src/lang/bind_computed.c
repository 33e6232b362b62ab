/* bind_computed.c: subscripts that are computed: x(p(i)), A(s, j), x(i * i), T(i, lab(i)).
 *
 * A subscript that isn't affine is an integer expression. Its value becomes an index of the
 * statement that no loop runs over: one that follows from others (bindex.value). Scalars
 * are values of this kind, so that a statement in a loop is compiled once for all of them.
 */
#include "bind.h"

#include <string.h>

bool bind_literal(const ast *e)
{
    while (e->kind == N_UNARY && (e->op == OPR_NEG || e->op == OPR_PLUS))
        e = e->child[0];
    return e->kind == N_INT;
}

/* A name is an index, unless no index of that name is there yet and a scalar is. */
static bool names_index(binder *b, const ast *e)
{
    if (bind_index_named(b, e, false) >= 0) return true;
    const scope_tensor *const t = scope_find_tensor(b->s, e->name);
    return !t || t->order != 0;
}

static bool is_affine(binder *b, const ast *e)
{
    switch (e->kind) {
    case N_INT:
    case N_SLICE:
    case N_BINDING:
        return true;
    case N_NAME:
        return names_index(b, e);
    case N_UNARY:
        return (e->op == OPR_NEG || e->op == OPR_PLUS) && is_affine(b, e->child[0]);
    case N_BINARY:
        if (e->op == OPR_MUL && !bind_literal(e->child[0]) && !bind_literal(e->child[1]))
            return false;
        return (e->op == OPR_MUL || e->op == OPR_ADD || e->op == OPR_SUB) &&
               is_affine(b, e->child[0]) && is_affine(b, e->child[1]);
    default:
        return false;
    }
}

static bexpr *value_of(binder *b, const ast *e)
{
    const ast *const inner = ast_reduction(e);
    if (inner)
        return bind_null(
            b, inner->at,
            "a subscript can't reduce; assign the reduction to a tensor first, "
            "and use that here");
    bexpr *x = bind_expr(b, e);
    x = x ? bind_strong(b, x) : NULL;
    if (x && !type_is_integer(x->type))
        return bind_null(b, e->at, "a subscript is an integer, and this is of type %s%s",
                         type_name(x->type),
                         e->kind == N_BINARY && e->op == OPR_DIV ? "; `//` floors" : "");
    return x ? bind_convert(b, x, STC_I64) : NULL;
}

bool bind_computed(binder *b, const ast *e, bexpr **given)
{
    for (int k = 0; k < e->count; k++) {
        given[k] = NULL;
        if (is_affine(b, e->child[k])) continue;
        if (!(given[k] = value_of(b, e->child[k]))) return false;
    }
    return true;
}

int bind_index_of(binder *b, const ast *subscript, const bexpr *given)
{
    const int length = subscript->at.end - subscript->at.begin;
    char *text = arena_array(b->a, length + 1, 1); /* as it is written, for explain */
    if (!text) return -1;
    memcpy(text, b->src->text + subscript->at.begin, (size_t)length);
    ast as = *subscript;
    as.name = text;
    const int fam = bind_family_new(b, &as, false);
    const int i = fam < 0 ? -1 : bind_index_new(b, &as, fam);
    if (i >= 0) b->index[i].value = given;
    return i;
}
