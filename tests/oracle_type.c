/* oracle_type.c: the static types of expressions, for the oracle: what an
 * undeclared result is, and what a reduction over nothing is an identity of. */
#include "oracle_eval.h"
#include <string.h>

int oracle_op_function(int op)
{
    static const struct {
        int op;
        const char *name;
    } map[] = {
        {OPR_OR, "or"},
        {OPR_AND, "and"},
        {OPR_EQ, "eq"},
        {OPR_NE, "ne"},
        {OPR_LT, "lt"},
        {OPR_LE, "le"},
        {OPR_GT, "gt"},
        {OPR_GE, "ge"},
        {OPR_BITOR, "bitor"},
        {OPR_BITXOR, "bitxor"},
        {OPR_BITAND, "bitand"},
        {OPR_SHL, "shl"},
        {OPR_SHR, "shr"},
        {OPR_ADD, "add"},
        {OPR_SUB, "sub"},
        {OPR_MUL, "mul"},
        {OPR_DIV, "div"},
        {OPR_MOD, "mod"},
        {OPR_FLOORDIV, "floordiv"},
        {OPR_POW, "pow"},
        {OPR_NEG, "neg"},
        {OPR_NOT, "not"},
        {OPR_BITNOT, "bitnot"},
        {OPR_MIN, "min"},
        {OPR_MAX, "max"},
    };
    for (size_t k = 0; k < sizeof map / sizeof map[0]; k++)
        if (map[k].op == op) return of_find(map[k].name, strlen(map[k].name), -1);
    return -1;
}

int oracle_reduce_function(const char *name)
{
    static const char *const alias[][2] = {
        {"sum", "add"}, {"prod", "mul"}, {"any", "or"}, {"all", "and"}, {"xor", "bitxor"}};
    for (size_t k = 0; k < sizeof alias / sizeof alias[0]; k++)
        if (strcmp(name, alias[k][0]) == 0) name = alias[k][1];
    return of_find(name, strlen(name), 2);
}

int ostmt_function(const ast *e)
{
    if (e->kind == N_CALL) return of_find(e->name, strlen(e->name), e->count);
    return oracle_op_function(e->op);
}

ofunction *oworld_function(const oworld *w, const char *name, int arity)
{
    for (ofunction *f = w->fn; f; f = f->next) {
        if (strcmp(f->tree->name, name) != 0) continue;
        if (arity < 0 || f->tree->child[0]->count == arity) return f;
    }
    return NULL;
}

static stc_type reduce_type(ostmt *s, const ast *e, stc_type body)
{
    const ofunction *f = oworld_function(s->w, e->name, 2);
    if (f) {
        stc_type two[2] = {body, body};
        bool weak[2] = {false, false};
        return ouser_type(s, f, two, weak, 2);
    }
    if (strncmp(e->name, "arg", 3) == 0) return STC_I64;
    const bool norm = strcmp(e->name, "norm") == 0;
    if (norm || strcmp(e->name, "mean") == 0) { /* the parts' types: a sum, what it is in */
        const stc_type sum =
            norm && ot_complex(body) ? body == STC_C64 ? STC_F32 : STC_F64 : ot_sum(body);
        return sum < STC_F32 ? STC_F64
               : norm        ? sum
                             : ot_promote(sum, false, STC_I64, false);
    }
    int fn = oracle_reduce_function(e->name);
    const stc_type two[2] = {body, body};
    const bool strong[2] = {false, false};
    if (fn >= 0 && !of_accepts(fn, two, strong))
        ostmt_refuse(s, ORACLE_ERROR, "a reduction of elements that it isn't for");
    if (fn >= 0) return of_reduce_type(fn, body);
    ostmt_refuse(s, ORACLE_ERROR, "no such reduction");
    return body;
}

static stc_type call_type(ostmt *s, const ast *e, bool *weak)
{
    stc_type t[8] = {0};
    bool w[8] = {false};
    const ofunction *f = NULL;
    if (e->kind == N_CALL) {
        const otensor *a = oworld_find(s->w, e->name);
        if (a) return a->type;
        f = oworld_function(s->w, e->name, e->count);
    }
    for (int k = 0; k < e->count && k < 8; k++)
        t[k] = ostmt_type(s, e->child[k], &w[k]);
    if (f) {
        *weak = ouser_weak(f, w, e->count);
        return ouser_type(s, f, t, w, e->count);
    }
    int fn = ostmt_function(e);
    if (fn < 0) {
        ostmt_refuse(s, ORACLE_ERROR, "no such function");
        return STC_F64;
    }
    if (!of_accepts(fn, t, w))
        ostmt_refuse(s, ORACLE_ERROR, "a function of operands that it isn't for");
    return of_type(fn, t, w, weak);
}

stc_type ostmt_type(ostmt *s, const ast *e, bool *weak)
{
    *weak = false;
    switch (e->kind) {
    case N_INT:
        *weak = true;
        return STC_I64;
    case N_REAL:
        *weak = true;
        return STC_F64;
    case N_IMAG:
        *weak = true;
        return STC_C128;
    case N_BOOL:
        *weak = true;
        return STC_BOOL;
    case N_NAME: {
        const otensor *t = ostmt_lookup(s, e->name) < 0 ? oworld_find(s->w, e->name) : NULL;
        return t ? t->type : STC_I64;
    }
    case N_PAD:
        return ostmt_type(s, e->child[0], weak);
    case N_UNARY:
        if (e->op == OPR_PLUS) return ostmt_type(s, e->child[0], weak);
        return call_type(s, e, weak);
    case N_BINARY:
    case N_CALL:
        return call_type(s, e, weak);
    case N_REDUCE: {
        int depth = s->depth, first = ostmt_reduce_first(s, e);
        for (int k = 0; k < e->count - 1; k++)
            s->scope[s->depth++] = first + k;
        bool w;
        stc_type body = ostmt_type(s, e->child[e->count - 1], &w);
        s->depth = depth;
        return reduce_type(s, e, body);
    }
    case N_WHERE: { /* 0 elsewhere */
        bool w[2], none;
        stc_type t[2] = {STC_I64, ostmt_type(s, e->child[0], &w[1])};
        ostmt_type(s, e->child[1], &none);
        return t[1] == STC_BOOL ? t[1] : ot_promote(t[0], true, t[1], w[1]);
    }
    default:
        ostmt_refuse(s, ORACLE_ERROR, "not an expression");
        return STC_F64;
    }
}

int ostmt_summed(ostmt *s, const ast *e, const char *const *left, int nleft, int *out)
{
    int n = 0;
    for (int k = 0; k < s->nfree; k++) {
        bool named = false;
        for (int j = 0; j < nleft; j++)
            named = named || strcmp(s->index[k].name, left[j]) == 0;
        if (!named && ostmt_mentions(e, s->index[k].name)) out[n++] = k;
    }
    return n;
}

stc_type ostmt_terms_type(ostmt *s, const ast *e, const char *const *left, int nleft,
                          bool *weak)
{
    bool sum = e->kind == N_BINARY && (e->op == OPR_ADD || e->op == OPR_SUB);
    bool sign = e->kind == N_UNARY && (e->op == OPR_NEG || e->op == OPR_PLUS);
    int summed[MAX_INDEX];
    if (sum || sign) {
        stc_type t[2] = {0};
        bool w[2] = {false};
        for (int k = 0; k < e->count; k++)
            t[k] = ostmt_terms_type(s, e->child[k], left, nleft, &w[k]);
        if (e->op == OPR_PLUS) return *weak = w[0], t[0];
        return of_type(oracle_op_function(e->op), t, w, weak);
    }
    stc_type t = ostmt_type(s, e, weak);
    if (ostmt_summed(s, e, left, nleft, summed) == 0) return t;
    *weak = false;
    return ot_sum(t);
}

/* Kinds of types, in NumPy's order: nothing is stored in a lower one unasked. */
int oracle_kind(stc_type t)
{
    return t == STC_BOOL    ? 0
           : ot_unsigned(t) ? 1
           : t <= STC_U64   ? 2
           : !ot_complex(t) ? 3
                            : 4;
}

/* A literal, or what is computed of such: constants go where their values fit. */
bool oracle_of_constants(const ast *e)
{
    if (e->kind == N_WHERE)
        return oracle_of_constants(e->child[0]); /* a choice of such and 0 */
    if (e->kind == N_CALL && e->count == 3 && !strcmp(e->name, "select"))
        return oracle_of_constants(e->child[1]) && oracle_of_constants(e->child[2]);
    if (e->kind == N_UNARY || e->kind == N_BINARY || (e->kind == N_CALL && e->count)) {
        for (int k = 0; k < e->count; k++)
            if (!e->child[k] || !oracle_of_constants(e->child[k])) return false;
        return true;
    }
    return e->kind == N_INT || e->kind == N_REAL || e->kind == N_IMAG || e->kind == N_BOOL;
}
