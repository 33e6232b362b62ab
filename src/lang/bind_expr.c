/* bind_expr.c: expressions → typed index notation.
 *
 * A bare name is a tensor of order 0 or an index. A name with parentheses is a
 * tensor's element, a user's function, or a built-in, looked for in this order.
 * At the top level, terms joined by + and - are bound one by one, and the
 * indices of each that aren't on the left are summed over it.
 */
#include "bind.h"
#include "lexer.h"

#include <string.h>

bexpr *bind_node(binder *b, bkind kind, stc_type type, span at)
{
    if (++b->nodes > BIND_MAX_NODES)
        return bind_null(b, at, "the statement is too large (more than %d operations)",
                         BIND_MAX_NODES);
    bexpr *e = arena_alloc(b->a, sizeof *e);
    if (!e) return NULL;
    e->kind = kind;
    e->type = type;
    e->at = at;
    return e;
}

int bind_op_fn(int op)
{
    static const int16_t fn[OPR_COUNT] = {
        [OPR_OR] = FN_OR,         [OPR_AND] = FN_AND,
        [OPR_EQ] = FN_EQ,         [OPR_NE] = FN_NE,
        [OPR_LT] = FN_LT,         [OPR_LE] = FN_LE,
        [OPR_GT] = FN_GT,         [OPR_GE] = FN_GE,
        [OPR_BITOR] = FN_BITOR,   [OPR_BITXOR] = FN_BITXOR,
        [OPR_SHL] = FN_SHL,       [OPR_SHR] = FN_SHR,
        [OPR_ADD] = FN_ADD,       [OPR_SUB] = FN_SUB,
        [OPR_MUL] = FN_MUL,       [OPR_DIV] = FN_DIV,
        [OPR_MOD] = FN_MOD,       [OPR_POW] = FN_POW,
        [OPR_NEG] = FN_NEG,       [OPR_NOT] = FN_NOT,
        [OPR_BITNOT] = FN_BITNOT, [OPR_FLOORDIV] = FN_FLOORDIV,
        [OPR_MIN] = FN_MIN,       [OPR_MAX] = FN_MAX,
        [OPR_BITAND] = FN_BITAND,
    };
    return fn[op];
}

/* ---- names ------------------------------------------------------------------------ */

static bexpr *index_value(binder *b, const ast *e, int i)
{
    bexpr *x = bind_node(b, B_INDEX, STC_I64, e->at);
    if (x) x->index = i;
    return x;
}

static bexpr *bare_name(binder *b, const ast *e)
{
    if (b->env) return bind_local(b, e);
    scope_tensor *const t = scope_find_tensor(b->s, e->name);
    const int i = bind_index_named(b, e, false);
    const bool scalar = t && t->order <= 0;
    if (scalar && i >= 0)
        return bind_null(b, e->at,
                         "`%s` is both a tensor of order 0 and an index here; rename one",
                         e->name);
    if (i >= 0) return index_value(b, e, i);
    if (t && !scalar)
        return bind_null(b, e->at, "%s has %d mode%s and needs as many subscripts", e->name,
                         t->order, t->order == 1 ? "" : "s");
    if (!t) {
        const int made = bind_index_named(b, e, true);
        return made < 0 ? NULL : index_value(b, e, made);
    }
    return bind_access(b, e, t, false);
}

static bexpr *unknown_name(binder *b, const ast *e)
{
    static const char *const reductions[] = {
#define WORD(name) #name,
        LANG_REDUCTIONS(WORD) LANG_DERIVED(WORD)
#undef WORD
    };
    suggestion near;
    char text[96];
    if (bind_is_derived(e->name))
        return bind_null(b, e->at, "`%s` names its indices, %s(i: …)", e->name, e->name);
    if (!strcmp(e->name, "order"))
        return bind_null(b, e->at,
                         "`order` is the whole right side of a script's statement, "
                         "as in p(i) = order(x(i))");
    const int id = fn_named(e->name, strlen(e->name), -1);
    if (id >= 0 && e->count == 1 && fn_at(id)->arity == 2)
        return bind_null(b, e->at,
                         "`%s` takes 2 arguments; a reduction names its indices, %s(i: …)",
                         e->name, e->name);
    if (id >= 0)
        return bind_null(b, e->at, "`%s` takes %d argument%s, not %d", e->name,
                         fn_at(id)->arity, fn_at(id)->arity == 1 ? "" : "s", e->count);
    if (scope_find(b->s, e->name, N_DEF))
        return bind_null(b, e->at,
                         "`%s` is a def, whose call is the whole right side of a "
                         "statement, as in y = %s(…)",
                         e->name, e->name);
    if (scope_find_tensor(b->s, e->name))
        return bind_null(b, e->at, "`%s` is a tensor, and a function is expected here",
                         e->name);
    suggest_begin(&near, e->name);
    for (int i = 0; i < scope_tensor_count(b->s); i++)
        suggest_try(&near, scope_tensor_at(b->s, i)->name);
    const definition *d;
    for (int i = 0; (d = scope_definition_at(b->s, N_FN, i)) != NULL; i++)
        suggest_try(&near, d->name);
    for (int i = 0; (d = scope_definition_at(b->s, N_DEF, i)) != NULL; i++)
        suggest_try(&near, d->name);
    for (int i = 0; i < FN_COUNT; i++)
        if (!fn_at(i)->symbol && fn_at(i)->typing != TY_CAST)
            suggest_try(&near, fn_at(i)->name);
    for (unsigned i = 0; i < sizeof reductions / sizeof *reductions; i++)
        suggest_try(&near, reductions[i]);
    return bind_null(b, e->at, "there is no tensor or function `%s`%s", e->name,
                     suggest_text(&near, text, sizeof text));
}

/* A function of two that associates; d: the user's, NULL: built-in id. */
static bool associates(const definition *d, int id)
{
    if (!d) return id >= 0 && fn_at(id)->flags & FP_ASSOCIATIVE;
    const ast *const props = d->node->child[2];
    unsigned flags = 0;
    for (int i = 0; props && i < props->count; i++)
        flags |= fn_property_flag(props->child[i]);
    return d->node->child[0]->count == 2 && flags & FP_ASSOCIATIVE;
}

/* max(a, b, c), from left to right. */
static bexpr *several(binder *b, const ast *e, definition *d, int id)
{
    bexpr *all = bind_expr(b, e->child[0]);
    for (int i = 1; all && i < e->count; i++) {
        bexpr **args = arena_array(b->a, 2, sizeof *args);
        if (!args || !(args[1] = bind_expr(b, e->child[i]))) return NULL;
        args[0] = all;
        all = d ? bind_user(b, d, e->at, args, 2) : bind_call(b, e->at, id, args, 2);
    }
    return all;
}

static bexpr *call_or_access(binder *b, const ast *e)
{
    scope_tensor *const t = b->env ? NULL : scope_find_tensor(b->s, e->name);
    if (t) return bind_access(b, e, t, false);
    definition *const d = scope_find(b->s, e->name, N_FN);
    if (!d && !b->env && call_is_asked(e)) return bind_asked(b, e);
    stc_type cast;
    const bool casts = !d && e->count == 1 && type_parse(e->name, strlen(e->name), &cast);
    const int two = e->count > 2 && !d ? fn_named(e->name, strlen(e->name), 2) : -1;
    if (e->count > 2 && associates(d, two)) return several(b, e, d, two);
    const int id = d ? -1 : fn_named(e->name, strlen(e->name), e->count);
    if (!d && !casts && id < 0) return unknown_name(b, e);
    bexpr **args = arena_array(b->a, e->count, sizeof *args);
    if (!args) return NULL;
    for (int i = 0; i < e->count; i++)
        if (!(args[i] = bind_expr(b, e->child[i]))) return NULL;
    if (casts) return bind_cast(b, e->at, cast, args[0]);
    return d ? bind_user(b, d, e->at, args, e->count)
             : bind_call(b, e->at, id, args, e->count);
}

static bexpr *padded(binder *b, const ast *e)
{
    const ast *const call = e->child[0];
    scope_tensor *const t = b->env ? NULL : scope_find_tensor(b->s, call->name);
    if (t) return bind_access(b, call, t, true);
    return bind_null(b, call->at, "`pad` stands before a tensor, and `%s` is none",
                     call->name);
}

/* ---- reductions -------------------------------------------------------------------- */

/* The type in which a built-in accumulates values of type t. */
static stc_type accumulated(int fn, stc_type t)
{
    switch (fn_at(fn)->typing) {
    case TY_ARITH:
    case TY_DIVIDE:
        return type_is_unsigned(t) ? STC_U64 : type_class(t) == CLASS_I64 ? STC_I64 : t;
    case TY_SHIFT:
        return t == STC_BOOL ? STC_I64 : t;
    case TY_LOGIC:
        return STC_BOOL;
    case TY_FLOAT:
    case TY_REAL:
    case TY_FLOATINT:
        return type_is_float(t) || type_is_complex(t) ? t : STC_F64;
    default:
        return t;
    }
}

/* Elements in the form on which fn's identity is one: a single one that nothing
 * is combined with is reduced, too. */
static bexpr *normal(binder *b, int fn, bexpr *val)
{
    value v;
    const fn_prop *const identity = &fn_at(fn)->identity[0];
    if (!val || !(fn_at(fn)->flags & FP_NORMALISES) ||
        !fn_constant(identity->value, type_class(val->type), val->type, &v))
        return val;
    bexpr *args[2] = {bind_const(b, val->at, val->type, v), val};
    return args[0] ? bind_call(b, val->at, fn, args, 2) : NULL;
}

static bexpr *reduce_builtin(binder *b, bexpr *e, int fn)
{
    e->args[0] = bind_strong(b, e->args[0]);
    e->type = accumulated(fn, e->args[0]->type);
    const vclass cls = type_class(e->type);
    if (!(fn_at(fn)->classes >> cls & 1))
        return bind_null(b, e->at, "`%s` isn't defined for %s",
                         fn_at(fn)->symbol ? fn_at(fn)->symbol : fn_at(fn)->name,
                         type_name(e->type));
    const bool closed = fn_result_class(fn, cls) == cls &&
                        fn_operand_class(fn, cls, 1) == cls &&
                        (fn_at(fn)->typing != TY_COMPARE || e->type == STC_BOOL);
    if (!closed)
        return bind_null(
            b, e->at, "`%s` can't reduce %s: its result isn't of the type of its operands",
            fn_at(fn)->name, type_name(e->type));
    e->fn = fn;
    e->cls = cls;
    e->args[0] = e->type == STC_BOOL ? bind_to_bool(b, e->args[0])
                                     : bind_convert(b, e->args[0], e->type);
    e->args[0] = normal(b, fn, e->args[0]);
    return e->args[0] ? e : NULL;
}

/* A user's f(T, T) must give T: T is widened until it does. */
static bexpr *reduce_user(binder *b, bexpr *e, bfunction *first)
{
    definition *const d = scope_find(b->s, first->name, N_FN);
    stc_type t = first->param[0];
    bfunction *f = first;
    for (int round = 0; d && f->result != t && round < TYPE_COUNT; round++) {
        t = type_promote(t, f->result);
        f = bind_specialise(b, d, (stc_type[]){t, t}, 0, 2, e->at);
        if (!f) return NULL;
    }
    if (f->result != t || f->param[0] != t || f->param[1] != t)
        return bind_null(b, e->at, "`%s` can't reduce %s: its result is %s", f->name,
                         type_name(t), type_name(f->result));
    e->fn = -1;
    e->ufn = f;
    e->type = t;
    e->cls = type_class(t);
    e->args[0] = bind_convert(b, e->args[0], t);
    return e->args[0] ? e : NULL;
}

bexpr *bind_reduce(binder *b, span at, int fn, bfunction *ufn, const int *index, int n,
                   bexpr *val)
{
    bexpr *e = bind_node(b, B_REDUCE, val->type, at);
    if (!e || !(e->args = arena_alloc(b->a, sizeof *e->args)) ||
        !(e->indices = arena_array(b->a, n, sizeof *e->indices)))
        return NULL;
    e->args[0] = val;
    e->nargs = 1;
    e->nindex = n;
    for (int i = 0; i < n; i++) {
        e->indices[i] = index[i];
        b->index[index[i]].reduced = true;
    }
    return ufn ? reduce_user(b, e, ufn) : reduce_builtin(b, e, fn);
}

/* Makes the bound index of one BINDING visible. */
static int bound_index(binder *b, const ast *node, int from)
{
    for (int k = from; k < b->nbound; k++)
        if (!strcmp(b->index[b->bound[k]].name, node->name)) {
            bind_fail(b, node->at, "the index `%s` is bound twice here", node->name);
            return -1;
        }
    const int fam = bind_family_new(b, node, false);
    const int i = fam < 0 ? -1 : bind_index_new(b, node, fam);
    if (i < 0) return -1;
    if (node->count && node->child[1]->kind == N_INT) {
        const ast *const lo = node->child[0];
        b->family[fam].given = true;
        b->family[fam].lo = lo->kind == N_INT ? (int64_t)lo->u : 0;
        b->family[fam].to = (int64_t)node->child[1]->u;
    }
    b->bound[b->nbound++] = (uint16_t)i;
    return i;
}

static bexpr *reduction(binder *b, const ast *e)
{
    const int n = e->count - 1, from = b->nbound;
    int index[BIND_MAX_INDEX];
    if (b->env)
        return bind_null(b, e->at, "a function's body has no indices to reduce over");
    definition *const d = scope_find(b->s, e->name, N_FN);
    const int fn = d ? -1 : fn_named(e->name, strlen(e->name), 2);
    const bool derived = !d && bind_is_derived(e->name);
    if (!d && fn < 0 && !derived) {
        if (fn_named(e->name, strlen(e->name), -1) >= 0)
            return bind_null(b, e->at, "`%s` can't reduce: it doesn't take two arguments",
                             e->name);
        return unknown_name(b, e);
    }
    for (int i = 0; i < n; i++) {
        if (i == BIND_MAX_INDEX)
            return bind_null(b, e->at, "a statement has at most %d indices",
                             BIND_MAX_INDEX);
        if ((index[i] = bound_index(b, e->child[i], from)) < 0) return NULL;
    }
    const ast *const body = e->child[n], *const mask = body->kind == N_WHERE ? body : NULL;
    bexpr *val = bind_expr(b, mask ? mask->child[0] : body), *where = NULL;
    if (val && mask && !(where = bind_mask(b, mask->child[1]))) val = NULL;
    const bexpr *const masked = where;
    for (int i = 0; i < n && val; i++)
        if (!bind_range(b, e->child[i], index[i], &where)) val = NULL;
    if (val && derived && where != masked)
        val = bind_null(b, e->at, "the range of an index of `%s` can't depend on another",
                        e->name);
    b->nbound = from;
    if (!val) return NULL;
    if (derived) return bind_derived(b, e, index, n, val, where);
    bfunction *f = NULL;
    if (d) {
        val = bind_strong(b, val);
        f = bind_specialise(b, d, (stc_type[]){val->type, val->type}, 0, 2, e->at);
        if (!f) return NULL;
    }
    bexpr *const r = bind_reduce(b, e->at, fn, f, index, n, val);
    return r && where ? bind_where_reduced(b, r, where) : r;
}

/* ---- expressions ------------------------------------------------------------------- */

static bexpr *operation(binder *b, const ast *e)
{
    bexpr *args[2];
    for (int i = 0; i < e->count; i++)
        if (!(args[i] = bind_expr(b, e->child[i]))) return NULL;
    if (e->op == OPR_PLUS) return args[0];
    return bind_call(b, e->at, bind_op_fn(e->op), args, e->count);
}

bexpr *bind_expr(binder *b, const ast *e)
{
    literal l;
    switch (e->kind) {
    case N_NAME:
        return bare_name(b, e);
    case N_CALL:
        return call_or_access(b, e);
    case N_PAD:
        return padded(b, e);
    case N_UNARY:
    case N_BINARY:
        return operation(b, e);
    case N_REDUCE:
        return reduction(b, e);
    case N_WHERE:
        return bind_where(b, e);
    case N_SLICE:
        return bind_null(
            b, e->at,
            "`%s(lo:hi)` is a slice, which belongs in a subscript; a reduction "
            "has the names of its indices before the colon",
            e->name);
    default:
        break;
    }
    if (!literal_leaf(e, &l)) return bind_null(b, e->at, "expected an expression here");
    bexpr *c = bind_const(b, e->at, l.type, l.v);
    if (c) c->mark = WEAK;
    return c;
}

bexpr *bind_one_term(binder *b, const ast *e, int fn)
{
    int index[BIND_MAX_INDEX];
    const ast *const mask = e->kind == N_WHERE ? e->child[1] : NULL;
    b->nterm = 0;
    bexpr *val = bind_expr(b, mask ? e->child[0] : e);
    bexpr *const where = val && mask ? bind_mask(b, mask) : NULL;
    if (mask && !where) return NULL;
    const int n = b->nterm;
    for (int i = 0; i < n; i++)
        index[i] = b->term[i];
    b->nterm = 0;
    if (val && n && !(fn_at(fn)->flags & FP_ASSOCIATIVE))
        return bind_null(b, e->at,
                         "`%s=` takes one value for an element, and %s isn't on the left",
                         fn_at(fn)->symbol, b->index[index[0]].name);
    if (val && n && fn == FN_ADD) bind_note_sum(b, val, index, n);
    if (val && n) val = bind_reduce(b, e->at, fn, NULL, index, n, val);
    if (!val || !where) return val;
    return n ? bind_where_reduced(b, val, where) : bind_masked(b, e->at, where, val, NULL);
}

bexpr *bind_terms(binder *b, const ast *e)
{
    bexpr *args[2];
    const bool joins = (e->kind == N_BINARY && (e->op == OPR_ADD || e->op == OPR_SUB)) ||
                       (e->kind == N_UNARY && (e->op == OPR_NEG || e->op == OPR_PLUS));
    if (!joins) return bind_one_term(b, e, FN_ADD);
    for (int i = 0; i < e->count; i++)
        if (!(args[i] = bind_terms(b, e->child[i]))) return NULL;
    if (e->op == OPR_PLUS) return args[0];
    return bind_call(b, e->at, bind_op_fn(e->op), args, e->count);
}
