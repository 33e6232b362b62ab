/* value.c: bound expressions as syntax trees again: the values that derivatives are made
 * of. Types are written where they change (`f64(k(i))`); a reduction's indices get other
 * names where what is around it has them.
 */
#include "inside.h"

#include <string.h>

const char *value_tensor(const grad *g, int slot)
{
    return g->step->p->tensor[slot].name;
}

/* What a name held isn't there any more if a step writes it, from that number on. */
bool value_kept(grad *g, const char *name, int from, span at)
{
    for (int k = from; k < g->job->steps; k++) {
        const grad_step *const s = &g->job->step[k];
        if (strcmp(s->p->tensor[s->st->target].name, name)) continue;
        grad_refuse(g, at,
                    "the derivative needs %s as it is here, and %s changes it; give one of "
                    "them another name",
                    name, k == g->at ? "this statement" : "a later one");
        return false;
    }
    return true;
}

ast *value_subscript(grad *g, const affine *f)
{
    const bindex *const index = g->step->st->index;
    if (f->terms == 1 && index[f->term[0].index].value)
        return value_of(g, index[f->term[0].index].value);
    ast *e = tree_number(g, 0);
    for (int t = 0; t < f->terms; t++)
        e = tree_binary(g, OPR_ADD, e,
                        tree_binary(g, OPR_MUL, tree_number(g, (double)f->term[t].coef),
                                    tree_name(g, g->index[f->term[t].index])));
    return tree_binary(g, OPR_ADD, e, tree_number(g, (double)f->constant));
}

static ast *element(grad *g, const char *name, const affine *sub, int n, bool pad)
{
    ast *child[STC_MAX_ORDER];
    if (!n) return tree_name(g, name);
    for (int k = 0; k < n; k++)
        child[k] = value_subscript(g, &sub[k]);
    ast *const e = tree_call(g, name, child, n), *out = e;
    if (e) e->op = ACCESS;
    if (e && pad && (out = tree_node(g, N_PAD, 1))) out->child[0] = e;
    return out;
}

ast *value_access(grad *g, int slot, const affine *sub, bool pad)
{
    return element(g, value_tensor(g, slot), sub, g->step->p->tensor[slot].order, pad);
}

ast *spread_read(grad *g, adjoint *from, const affine *sub, int n)
{
    return from->one ? tree_number(g, 1) : element(g, from->name, sub, n, false);
}

static ast *literal_of(grad *g, const bexpr *e)
{
    const vclass cls = type_class(e->type);
    if (e->type == STC_BOOL) {
        ast *const b = tree_node(g, N_BOOL, 0);
        if (b) b->u = e->value.i64 != 0;
        return b;
    }
    if (cls == CLASS_I64 || cls == CLASS_U64) {
        const bool minus = cls == CLASS_I64 && e->value.i64 < 0;
        ast *const n = tree_node(g, N_INT, 0);
        if (n) n->u = minus ? 0 - e->value.u64 : e->value.u64;
        return minus ? tree_unary(g, OPR_NEG, n) : n;
    }
    if (!type_is_complex(e->type))
        return tree_number(g, class_convert(CLASS_F64, cls, e->value).f64);
    const double _Complex c = class_convert(CLASS_C128, cls, e->value).c128;
    ast *const imag = tree_node(g, N_IMAG, 0);
    if (imag) imag->f = __imag__ c;
    return tree_binary(g, OPR_ADD, tree_number(g, __real__ c), imag);
}

static ast_op operator_of(int fn, int n)
{
    const char *const symbol = fn_at(fn)->symbol;
    if (n == 1 && symbol)
        return fn == FN_NEG ? OPR_NEG : fn == FN_NOT ? OPR_NOT : OPR_BITNOT;
    for (int op = OPR_OR; symbol && op <= OPR_POW; op++)
        if (!strcmp(ast_op_symbol(op), symbol)) return (ast_op)op;
    return OPR_NONE;
}

static ast *call(grad *g, const bexpr *e, const char *name)
{
    ast *child[8];
    for (int k = 0; k < e->nargs; k++)
        if (!(child[k] = value_of(g, e->args[k]))) return NULL;
    const ast_op op = e->kind == B_CALL ? operator_of(e->fn, e->nargs) : OPR_NONE;
    if (op == OPR_NONE) return tree_call(g, name, child, e->nargs);
    return e->nargs == 1 ? tree_unary(g, op, child[0])
                         : tree_exact(g, op, child[0], child[1]);
}

/* A parameter is the argument, which knows nothing of the function's own. */
static ast *argument(grad *g, const bexpr *e)
{
    const locals *const own = g->local;
    g->local = own->outer;
    ast *const out = value_of(g, own->args[e->index]);
    g->local = own;
    return out;
}

static ast *reduction(grad *g, const bexpr *e)
{
    const char *before[64], *name[64];
    const uint64_t open = g->open;
    uint64_t bound = 0;
    for (int k = 0; k < e->nindex; k++) {
        const int i = e->indices[k];
        before[k] = name[k] = g->index[i];
        if (open >> i & 1) name[k] = grad_name(g, "", g->step->st->index[i].name);
        if (!name[k]) return NULL;
        bound |= 1ull << i;
    }
    for (int k = 0; k < e->nindex; k++)
        g->index[e->indices[k]] = name[k];
    g->open |= bound;
    ast *const out =
        range_reduce(g, bound_reducer(e), bound, value_of(g, e->args[0]), NULL);
    g->open = open;
    for (int k = 0; k < e->nindex; k++)
        g->index[e->indices[k]] = before[k];
    return out;
}

ast *value_of(grad *g, const bexpr *e)
{
    switch (e->kind) {
    case B_CONST:
        return literal_of(g, e);
    case B_ACCESS:
        return value_kept(g, value_tensor(g, e->tensor), g->at, e->at)
                   ? value_access(g, e->tensor, e->sub, e->pad)
                   : NULL;
    case B_INDEX:
        return tree_name(g, g->index[e->index]);
    case B_CALL:
        return call(g, e, fn_at(e->fn)->name);
    case B_USER:
        return call(g, e, e->ufn->name);
    case B_CONV:
        return call(g, e, type_name(e->type));
    case B_REDUCE:
        return reduction(g, e);
    case B_LOCAL:
        return argument(g, e);
    default:
        return grad_refuse(g, e->at, "this has no derivative");
    }
}

/* ---- indices ------------------------------------------------------------------------ */

uint64_t value_sub_indices(const grad *g, const affine *sub, int n)
{
    uint64_t set = 0;
    for (int k = 0; k < n; k++)
        for (int t = 0; t < sub[k].terms; t++) {
            const bexpr *const v = g->step->st->index[sub[k].term[t].index].value;
            set |= v ? value_indices(g, v) : 1ull << sub[k].term[t].index;
        }
    return set;
}

uint64_t value_indices(const grad *g, const bexpr *e)
{
    uint64_t set = 0, bound = 0;
    if (e->kind == B_INDEX) return 1ull << e->index;
    if (e->kind == B_ACCESS)
        return value_sub_indices(g, e->sub, g->step->p->tensor[e->tensor].order);
    for (int k = 0; k < e->nargs; k++)
        set |= value_indices(g, e->args[k]);
    for (int k = 0; e->kind == B_REDUCE && k < e->nindex; k++)
        bound |= 1ull << e->indices[k];
    return set & ~bound;
}
