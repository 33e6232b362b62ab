/* session_fixed.c: scalars of a script where a statement has a number: in the shapes,
 * fills, seeds and densities of declarations.
 *
 * The statement is copied with the values in their places, as literals; what stands there
 * as a number already stays. The copy lives as long as its arena.
 */
#include "session.h"

/* Nothing but numbers and operators on them. */
static bool is_number(const ast *e)
{
    switch (e->kind) {
    case N_INT:
    case N_REAL:
    case N_IMAG:
    case N_BOOL:
        return true;
    case N_UNARY:
    case N_BINARY:
        for (int i = 0; i < e->count; i++)
            if (!is_number(e->child[i])) return false;
        return true;
    default:
        return false;
    }
}

/* Signed integers are stored as they are: the sign of a literal stands before it. */
static ast *integer_node(arena *a, span at, int64_t v)
{
    ast *n = ast_new(a, N_INT, at, 0), *minus = v < 0 ? ast_new(a, N_UNARY, at, 1) : n;
    if (!n || !minus) return NULL;
    n->u = v < 0 ? -(uint64_t)v : (uint64_t)v;
    if (minus == n) return n;
    minus->op = OPR_NEG;
    minus->child[0] = n;
    return minus;
}

static ast *complex_node(arena *a, span at, value v)
{
    ast *sum = ast_new(a, N_BINARY, at, 2), *re = ast_new(a, N_REAL, at, 0),
        *im = ast_new(a, N_IMAG, at, 0);
    if (!sum || !re || !im) return NULL;
    re->f = creal(v.c128);
    im->f = cimag(v.c128);
    sum->op = OPR_ADD;
    sum->child[0] = re;
    sum->child[1] = im;
    return sum;
}

static ast *value_node(arena *a, span at, stc_type type, value v)
{
    ast *n;
    switch (type_class(type)) {
    case CLASS_I64:
        if (type != STC_BOOL) return integer_node(a, at, v.i64);
        if ((n = ast_new(a, N_BOOL, at, 0))) n->u = v.i64 != 0;
        return n;
    case CLASS_U64:
        if ((n = ast_new(a, N_INT, at, 0))) n->u = v.u64;
        return n;
    case CLASS_C128:
        return complex_node(a, at, v);
    default:
        if ((n = ast_new(a, N_REAL, at, 0))) n->f = v.f64;
        return n;
    }
}

/* The value of *e in its place, unless it is a number. */
static stc_status fix_value(stc_session *s, const script *in, arena *a, ast **e)
{
    stc_type type;
    value v;
    if (!*e || is_number(*e)) return STC_OK;
    const stc_status st = session_scalar(s, in, *e, &type, &v);
    if (st) return session_place(in, *e, st);
    *e = value_node(a, (*e)->at, type, v);
    return *e ? STC_OK : s->m->cx.diag.status;
}

static stc_status fix_sizes(stc_session *s, const script *in, arena *a, ast **shape)
{
    if (!*shape || !(*shape = ast_like(a, *shape))) return s->m->cx.diag.status;
    for (int k = 0; k < (*shape)->count; k++) {
        ast *e = (*shape)->child[k];
        int64_t n;
        if (e->kind == N_INT) continue;
        const stc_status st = session_integer(s, in, e, "a size", &n);
        if (st) return session_place(in, e, st);
        if (n < 0)
            return fail_source(&in->src, STC_ERR_SHAPE, e->at, "a size is %lld",
                               (long long)n);
        if (!((*shape)->child[k] = integer_node(a, e->at, n))) return s->m->cx.diag.status;
    }
    return STC_OK;
}

stc_status session_fixed(stc_session *s, const script *in, arena *a, const ast *n,
                         const ast **out)
{
    ast *c = ast_like(a, n);
    if (!c) return s->m->cx.diag.status;
    ast **shape = &c->child[DECL_SHAPE], **data = &c->child[DECL_DATA];
    stc_status st = *shape ? fix_sizes(s, in, a, shape) : STC_OK;
    if (!st) st = fix_value(s, in, a, &c->child[DECL_FILL]);
    if (!st && *data && (*data)->kind == N_RANDOM) {
        if (!(*data = ast_like(a, *data))) return s->m->cx.diag.status;
        for (int k = 0; k < (*data)->count && !st; k++)
            st = fix_value(s, in, a, &(*data)->child[k]);
    } else if (!st && *data && (*data)->kind != N_STRING && (*data)->kind != N_ARRAY &&
               (*data)->kind != N_ENTRIES && (*data)->kind != N_MADE) {
        st = fix_value(s, in, a, data);
    }
    if (!st) *out = c;
    return st;
}
