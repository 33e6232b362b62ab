/* oracle.c: the naive evaluator: assignments by dense loops over every index,
 * straight from the syntax tree (oracle.h). */
#include "oracle_eval.h"
#include "../src/lang/lang.h"
#include <stdlib.h>
#include <string.h>

/* ---- worlds ----------------------------------------------------------------------- */

void oworld_init(oworld *w, ctx *cx)
{
    *w = (oworld){.cx = cx};
}

void oworld_free(oworld *w)
{
    for (int k = 0; k < w->count; k++) {
        free(w->tensor[k].data);
        free(w->tensor[k].stored);
    }
    free(w->tensor);
    while (w->fn) {
        ofunction *next = w->fn->next;
        arena_free(&w->fn->memory);
        free(w->fn);
        w->fn = next;
    }
    *w = (oworld){.cx = w->cx};
}

otensor *oworld_find(const oworld *w, const char *name)
{
    for (int k = 0; k < w->count; k++)
        if (strcmp(w->tensor[k].name, name) == 0) return &w->tensor[k];
    return NULL;
}

otensor *oworld_put(oworld *w, const char *name, stc_type type, int order,
                    const int64_t *shape, oval fill)
{
    otensor *t = oworld_find(w, name);
    if (!t && w->count == w->cap) {
        int cap = w->cap ? 2 * w->cap : 8;
        otensor *more = realloc(w->tensor, (size_t)cap * sizeof *more);
        if (!more) return NULL;
        w->tensor = more;
        w->cap = cap;
    }
    if (!t) {
        t = &w->tensor[w->count++];
        *t = (otensor){.order = 0};
        snprintf(t->name, sizeof t->name, "%s", name);
    }
    int64_t count = 1;
    for (int k = 0; k < order; k++) {
        t->shape[k] = shape[k];
        count *= shape[k];
    }
    free(t->data);
    free(t->stored);
    t->stored = NULL;
    t->data = malloc((size_t)(count ? count : 1) * sizeof *t->data);
    if (!t->data) return NULL;
    t->order = order;
    t->count = count;
    t->type = type;
    t->fill = fill;
    for (int64_t k = 0; k < count; k++)
        t->data[k] = fill;
    return t;
}

/* ---- expressions -------------------------------------------------------------------- */

static oval eval(ostmt *s, const ast *e);

static oval access(ostmt *s, const ast *e, const otensor *t, bool pad)
{
    if (s->fill_mode || (!t->has_data && t->count == 0)) return t->fill;
    int64_t at = 0;
    for (int k = 0; k < e->count; k++) {
        osub u;
        if (!ostmt_subscript(s, e->child[k], t->shape[k], &u)) return ov_any(t->type);
        int64_t i;
        if (!osub_value(s, &u, &i)) return ov_any(t->type);
        if (i < 0 || i >= t->shape[k]) {
            if (!pad) ostmt_refuse(s, ORACLE_UNSURE, "an access left its tensor");
            return t->fill;
        }
        at = at * t->shape[k] + i;
    }
    return t->data[at];
}

/* Next point of a box; false when it is over. */
static bool advance(ostmt *s, const int *index, int n)
{
    s->w->points++;
    if (s->w->limit && s->w->points > s->w->limit) {
        ostmt_refuse(s, ORACLE_UNSURE, "too many points for the oracle");
        return false;
    }
    for (int k = n - 1; k >= 0; k--) {
        oindex *x = &s->index[index[k]];
        if (++x->value < x->hi) return true;
        x->value = x->lo;
    }
    return false;
}

static bool begin(ostmt *s, const int *index, int n)
{
    bool some = true;
    for (int k = 0; k < n; k++) {
        oindex *x = &s->index[index[k]];
        x->value = x->lo;
        some = some && x->lo < x->hi;
    }
    s->w->empty |= !some;
    return some;
}

/* What elements of type t are, to be reduced by a function that gives what it takes. */
static stc_type user_type(ostmt *s, const ofunction *user, stc_type t)
{
    const bool strong[2] = {false, false};
    for (int k = 0; k < TYPE_COUNT; k++) {
        const stc_type two[2] = {t, t}, r = ouser_type(s, user, two, strong, 2);
        if (r == t) break;
        t = ot_promote(t, false, r, false);
    }
    return t;
}

/* A mask: whether it leaves the place out that the indices stand for. */
static bool left_out(ostmt *s, const ast *mask)
{
    const oval m = ov_convert(eval(s, mask), STC_BOOL);
    if (ov_is_any(&m) || m.err != 0) ostmt_refuse(s, ORACLE_UNSURE, "a mask isn't sure");
    return !ov_is_any(&m) && !ov_true(&m);
}

/* Whether the indices of a reduction are outside of ranges that depend on others. */
static bool out_of_range(ostmt *s, const ast *e)
{
    for (int k = 0; e && k < e->count - 1; k++) {
        const ast *const b = e->child[k];
        if (!oracle_range_depends(b)) continue;
        if (s->fill_mode) return false;
        const oval lo = eval(s, b->child[0]), hi = eval(s, b->child[1]);
        const int64_t i = s->index[ostmt_lookup(s, b->name)].value;
        if (ov_is_any(&lo) || ov_is_any(&hi)) ostmt_refuse(s, ORACLE_UNSURE, "a range");
        if (i < lo.i || i >= hi.i) return true;
    }
    return false;
}

/* Reduces body over the box of reduction `of` (NULL: it is implied), from acc or, without
 * one, the first element; elements are taken `as` the type of the user's function. */
static oval reduce(ostmt *s, const ast *of, const ast *body, const int *index, int n,
                   int fn, const ofunction *user, stc_type as, oval acc, bool started)
{
    const ast *const mask = body->kind == N_WHERE ? body->child[1] : NULL;
    if (mask) body = body->child[0];
    const bool some = begin(s, index, n);
    if (some) {
        do {
            if (out_of_range(s, of) || (mask && left_out(s, mask))) continue;
            oval v = eval(s, body);
            v.weak = false;
            if (!started || user) v = ov_convert(v, user ? as : of_reduce_type(fn, v.type));
            if (!started) {
                acc = v;
                started = true;
            } else if (user) {
                oval two[2] = {acc, v};
                acc = ouser_call(s, user, two, 2);
            } else {
                acc = of_step(fn, acc, v, &s->w->flags);
            }
        } while (advance(s, index, n));
    }
    if (!started) ostmt_refuse(s, ORACLE_UNSURE, "a reduction over nothing has no value");
    /* 0, but inf * 0 where the schedule moves the sum ahead of a factor that is inf */
    bool sum = fn == of_find("add", 3, 2) && acc.type >= STC_F32;
    return sum && !some && s->moved ? ov_any(acc.type) : acc;
}

/* A function of two, or of one: y is NULL. */
static oval call_named(ostmt *s, const char *name, oval x, const oval *y)
{
    const oval two[2] = {x, y ? *y : x};
    return of_call(of_find(name, strlen(name), y ? 2 : 1), two, &s->w->flags);
}

/* mean and norm, as sums of what they sum. */
static oval eval_sum_of(ostmt *s, const ast *body, const int *index, int n, bool mean)
{
    const ast *const mask = body->kind == N_WHERE ? body->child[1] : NULL;
    oval two = ov_int(STC_I64, 2), acc = two;
    const int add = of_find("add", 3, 2);
    int64_t count = 0;
    two.weak = true;
    if (begin(s, index, n)) {
        do {
            if (mask && left_out(s, mask)) continue;
            oval v = eval(s, mask ? body->child[0] : body);
            v.weak = false;
            if (!mean) v = call_named(s, "pow", call_named(s, "abs", v, NULL), &two);
            if (!count) of_identity(add, of_reduce_type(add, v.type), &acc);
            acc = of_step(add, acc, ov_convert(v, acc.type), &s->w->flags);
            count++;
        } while (advance(s, index, n));
    }
    if (!count) {
        ostmt_refuse(s, ORACLE_UNSURE, "a mean or norm of nothing");
        return ov_any(STC_F64);
    }
    const oval of = ov_int(STC_I64, count);
    return mean ? call_named(s, "div", acc, &of) : call_named(s, "sqrt", acc, NULL);
}

/* argmin and argmax: the first; where numbers aren't exact there is no telling. */
static oval eval_first(ostmt *s, const ast *body, const int *index, bool least)
{
    const ast *const mask = body->kind == N_WHERE ? body->child[1] : NULL;
    oval best = ov_int(STC_BOOL, 0);
    int64_t at = -1;
    bool sure = true;
    if (begin(s, index, 1)) {
        do {
            if (mask && left_out(s, mask)) continue;
            oval v = eval(s, mask ? body->child[0] : body);
            v.weak = false;
            sure = sure && !ov_is_any(&v) && v.err == 0 && !isnan(v.re);
            const oval less = at < 0  ? ov_int(STC_BOOL, 1)
                              : least ? call_named(s, "lt", v, &best)
                                      : call_named(s, "gt", v, &best);
            if (!ov_true(&less)) continue;
            best = v;
            at = s->index[index[0]].value;
        } while (advance(s, index, 1));
    }
    if (at < 0) ostmt_refuse(s, ORACLE_UNSURE, "the first of nothing");
    return sure && at >= 0 ? ov_int(STC_I64, at) : ov_any(STC_I64);
}

/* The reductions that are made of others; false: it is none. */
static bool eval_derived(ostmt *s, const ast *e, const int *index, int n, oval *out)
{
    const ast *const body = e->child[n];
    const bool mean = strcmp(e->name, "mean") == 0, least = strcmp(e->name, "argmin") == 0;
    if (oworld_function(s->w, e->name, 2)) return false;
    if (mean || strcmp(e->name, "norm") == 0)
        *out = eval_sum_of(s, body, index, n, mean);
    else if (least || strcmp(e->name, "argmax") == 0)
        *out = eval_first(s, body, index, least);
    else
        return false;
    return true;
}

static oval eval_reduce(ostmt *s, const ast *e)
{
    int depth = s->depth, first = ostmt_reduce_first(s, e), n = e->count - 1;
    int index[MAX_INDEX];
    bool w, started;
    for (int k = 0; k < n; k++)
        s->scope[s->depth++] = index[k] = first + k;
    const ast *body = e->child[n];
    oval made;
    if (eval_derived(s, e, index, n, &made)) {
        s->depth = depth;
        return made;
    }
    stc_type t = ostmt_type(s, body, &w);
    const ofunction *user = oworld_function(s->w, e->name, 2);
    int fn = user ? -1 : oracle_reduce_function(e->name);
    oval acc = ov_any(t);
    started = fn >= 0 && of_identity(fn, of_reduce_type(fn, t), &acc);
    const stc_type as = user ? user_type(s, user, t) : t;
    if (user) started = ouser_identity(s, user, as, &acc);
    acc = reduce(s, e, body, index, n, fn, user, as, acc, started);
    s->depth = depth;
    return acc;
}

static oval lazy_logic(ostmt *s, const ast *e)
{
    bool until = e->op == OPR_OR;
    oval a = eval(s, e->child[0]);
    if (ov_is_any(&a)) {
        eval(s, e->child[1]); /* for the faults it may have */
        return ov_any(STC_BOOL);
    }
    if (ov_true(&a) == until && a.err == 0) return ov_int(STC_BOOL, until);
    oval two[2] = {a, eval(s, e->child[1])};
    return of_call(oracle_op_function(e->op), two, &s->w->flags);
}

static oval lazy_select(ostmt *s, const ast *e)
{
    bool w;
    stc_type t = ostmt_type(s, e, &w);
    oval c = ov_convert(eval(s, e->child[0]), STC_BOOL), v;
    for (int k = 1; k < 3; k++) {
        bool weak;
        ostmt_type(s, e->child[k], &weak);
        if (!weak) continue;
        v = eval(s, e->child[k]);
        s->w->flags |= of_literal(&v, t);
    }
    if (ov_is_any(&c)) {
        eval(s, e->child[1]);
        eval(s, e->child[2]);
        v = ov_any(t);
    } else {
        v = ov_convert(eval(s, e->child[c.i ? 1 : 2]), t);
    }
    v.weak = w;
    return v;
}

/* Where its algebra leaves out what is the whole right side, it is the fill that the
 * result was given, unless the body tells plainly that it isn't. */
static oval user_call(ostmt *s, const ofunction *user, const ast *e, const oval *arg)
{
    const oval v = ouser_call(s, user, arg, e->count);
    if (e != s->given || !ouser_left_out(s, user, arg)) return v;
    const oval stored = ov_store(v, s->given_fill.type);
    return ov_agrees(&stored, &s->given_fill) ? v : ov_any(v.type);
}

/* e where m, in an expression that isn't reduced: 0 elsewhere. */
static oval eval_where(ostmt *s, const ast *e)
{
    bool w;
    const stc_type t = ostmt_type(s, e, &w);
    if (left_out(s, e->child[1])) {
        oval none = ov_convert(ov_int(STC_I64, 0), t);
        return none;
    }
    oval v = ov_convert(eval(s, e->child[0]), t);
    v.weak = false;
    return v;
}

static bool reduces(const ast *e)
{
    if (!e) return false; /* the missing end of a slice */
    if (e->kind == N_REDUCE) return true;
    for (int k = 0; k < e->count; k++)
        if (reduces(e->child[k])) return true;
    return false;
}

/* inf times a sum may be the sum of inf times each, and so nan. */
static bool distributes_inf(const ast *e, int fn, const oval *arg)
{
    if (strcmp(of_name(fn), "mul") != 0) return false;
    for (int k = 0; k < 2; k++)
        if ((isinf(arg[k].re) || isinf(arg[k].im)) && reduces(e->child[1 - k])) return true;
    return false;
}

static oval eval_call(ostmt *s, const ast *e)
{
    const ofunction *user = NULL;
    if (e->kind == N_CALL) {
        const otensor *t = oworld_find(s->w, e->name);
        if (t) return access(s, e, t, false);
        user = oworld_function(s->w, e->name, e->count);
    }
    int fn = user ? -1 : ostmt_function(e);
    bool logic = e->kind == N_BINARY && (e->op == OPR_AND || e->op == OPR_OR);
    if (logic) return lazy_logic(s, e);
    if (fn >= 0 && strcmp(of_name(fn), "select") == 0) return lazy_select(s, e);
    oval arg[8] = {{0}};
    for (int k = 0; k < e->count && k < 8; k++)
        arg[k] = eval(s, e->child[k]);
    if (user) return user_call(s, user, e, arg);
    if (fn < 0) return ov_any(STC_F64);
    const oval v = of_call(fn, arg, &s->w->flags);
    return distributes_inf(e, fn, arg) ? ov_any(v.type) : v;
}

static oval literal(stc_type t, double re, double im, int64_t i)
{
    oval v = t >= STC_F32 ? ov_complex(t, re, im) : ov_int(t, i);
    v.weak = true;
    return v;
}

static oval eval_name(ostmt *s, const ast *e)
{
    int k = ostmt_lookup(s, e->name);
    if (k < 0) {
        const otensor *t = oworld_find(s->w, e->name);
        return t ? access(s, e, t, false) : ov_any(STC_F64);
    }
    if (s->fill_mode) {
        s->fill_unknown = true;
        return ov_any(STC_I64);
    }
    return ov_int(STC_I64, s->index[k].value);
}

static oval eval(ostmt *s, const ast *e)
{
    switch (e->kind) {
    case N_INT:
        return literal(STC_I64, 0, 0, (int64_t)e->u);
    case N_REAL:
        return literal(STC_F64, e->f, 0, 0);
    case N_IMAG:
        return literal(STC_C128, 0, e->f, 0);
    case N_BOOL:
        return literal(STC_BOOL, 0, 0, e->u != 0);
    case N_NAME:
        return eval_name(s, e);
    case N_PAD: {
        const otensor *t = oworld_find(s->w, e->child[0]->name);
        return t ? access(s, e->child[0], t, true) : ov_any(STC_F64);
    }
    case N_UNARY:
        if (e->op == OPR_PLUS) return eval(s, e->child[0]);
        return eval_call(s, e);
    case N_BINARY:
    case N_CALL:
        return eval_call(s, e);
    case N_REDUCE:
        return eval_reduce(s, e);
    case N_WHERE:
        return eval_where(s, e);
    default:
        return ov_any(STC_F64);
    }
}

oval ostmt_eval(ostmt *s, const ast *e)
{
    return eval(s, e);
}

/* ---- assignments -------------------------------------------------------------------- */

typedef struct assignment {
    const ast *tree, *right, *mask;
    const char *left[STC_MAX_ORDER * 2];
    int nleft;
    int box[MAX_INDEX], nbox; /* the left side's indices                       */
    int fn;                   /* of op=, -1                                     */
    stc_type value_type;      /* of the right side, or of the accumulation      */
    stc_type right_type;      /* of op=: of one element of the right side        */
    bool weak;                /* the right side is made of literals              */
} assignment;

/* The right side of `=`, its terms summed each over their own indices. */
static oval eval_terms(ostmt *s, const assignment *a, const ast *e)
{
    bool sum = e->kind == N_BINARY && (e->op == OPR_ADD || e->op == OPR_SUB);
    bool sign = e->kind == N_UNARY && (e->op == OPR_NEG || e->op == OPR_PLUS);
    if (sum || sign) {
        oval arg[3] = {{0}};
        for (int k = 0; k < e->count; k++)
            arg[k] = eval_terms(s, a, e->child[k]);
        if (e->op == OPR_PLUS) return arg[0];
        return of_call(oracle_op_function(e->op), arg, &s->w->flags);
    }
    int summed[MAX_INDEX];
    int n = ostmt_summed(s, e, a->left, a->nleft, summed);
    if (n == 0) return eval(s, e);
    bool w;
    int add = of_find("add", 3, 2);
    oval zero;
    of_identity(add, ot_sum(ostmt_type(s, e, &w)), &zero);
    return reduce(s, NULL, e, summed, n, add, NULL, zero.type, zero, true);
}

/* One element: op= reduces the right side by op, then applies op to the old
 * value, where there is one, and that. */
static oval eval_element(ostmt *s, const assignment *a, const oval *old)
{
    if (a->fn < 0) return eval_terms(s, a, a->right);
    int summed[MAX_INDEX], fn = a->fn;
    int n = ostmt_summed(s, a->right, a->left, a->nleft, summed);
    if (strcmp(of_name(fn), "sub") == 0) fn = of_find("add", 3, 2); /* y - a - b */
    oval start;
    of_identity(fn, of_reduce_type(fn, a->right_type), &start);
    oval v = n ? reduce(s, NULL, a->right, summed, n, fn, NULL, start.type, start, true)
               : eval(s, a->right);
    oval two[2] = {start, v};
    if (old) two[0] = *old;
    if (!old) of_identity(a->fn, a->value_type, &two[0]);
    return of_call(a->fn, two, &s->w->flags);
}

static void left_names(ostmt *s, assignment *a, const ast *left)
{
    for (int k = 0; k < s->nfree; k++) {
        bool named = false;
        for (int j = 0; j < left->count; j++)
            named = named || ostmt_mentions(left->child[j], s->index[k].name);
        if (!named) continue;
        a->left[a->nleft++] = s->index[k].name;
        a->box[a->nbox++] = k;
    }
}

static void types(ostmt *s, assignment *a)
{
    bool weak;
    if (a->fn < 0) {
        a->value_type = ostmt_terms_type(s, a->right, a->left, a->nleft, &a->weak);
        return;
    }
    stc_type right = ostmt_type(s, a->right, &weak);
    const otensor *old = oworld_find(s->w, a->tree->child[0]->name);
    stc_type two[2] = {old && (old->keeps_type || old->has_data) ? old->type : right,
                       right};
    bool strong[2] = {false, weak};
    if (!of_accepts(a->fn, two, strong))
        ostmt_refuse(s, ORACLE_ERROR, "an op= of elements that it isn't for");
    a->right_type = right;
    /* Where an index is reduced, the value is a sum's (of terms for -=, of factors
     * for /=); elsewhere it is the right side's. */
    int summed[MAX_INDEX];
    const char *const name = of_name(a->fn);
    const char *const by = strcmp(name, "sub") == 0   ? "add"
                           : strcmp(name, "div") == 0 ? "mul"
                                                      : name;
    bool none[2] = {false, false};
    bool reduces = ostmt_summed(s, a->right, a->left, a->nleft, summed) > 0;
    if (reduces) right = of_reduce_type(of_find(by, strlen(by), 2), right);
    two[1] = right;
    strong[1] = weak && !reduces;
    if (!old || !old->has_data) two[0] = right, strong[1] = false;
    a->weak = strong[1];
    a->value_type = of_type(a->fn, two, old && old->has_data ? strong : none, NULL);
}

static void check_kind(ostmt *s, const assignment *a, const otensor *old)
{
    const bool keeps = old && (old->keeps_type || (a->mask && old->has_data));
    if (keeps && oracle_kind(a->value_type) > oracle_kind(old->type))
        ostmt_refuse(s,
                     (a->weak && a->fn < 0) || oracle_of_constants(a->right) ? ORACLE_UNSURE
                                                                             : ORACLE_ERROR,
                     "a value of another kind than its declared tensor");
}

static int64_t left_offset(const ostmt *s, const ast *left, const otensor *t)
{
    int64_t at = 0;
    for (int k = 0; k < left->count; k++) {
        osub u;
        if (!ostmt_subscript((ostmt *)s, left->child[k], t->shape[k], &u)) return -1;
        int64_t i;
        if (!osub_value((ostmt *)s, &u, &i) || i < 0 || i >= t->shape[k]) return -1;
        at = at * t->shape[k] + i;
    }
    return at;
}

/* The fill of a result that has none declared. */
static oval result_fill(ostmt *s, const assignment *a, stc_type type)
{
    unsigned flags = s->w->flags;
    s->fill_mode = true;
    begin(s, a->box, a->nbox);
    oval f = ov_store(eval_element(s, a, NULL), type);
    s->fill_mode = false;
    s->w->flags |= flags;
    return f;
}

/* Whether a sum may be implied there. */
static bool has_access(const ostmt *s, const ast *e)
{
    if (!e) return false;
    if (e->kind == N_CALL && oworld_find(s->w, e->name)) return true;
    for (int k = 0; k < e->count; k++)
        if (has_access(s, e->child[k])) return true;
    return false;
}

/* An index as a value, outside subscripts: there is no telling a fill. */
static bool has_index_value(const ostmt *s, const ast *e)
{
    if (!e || e->kind == N_BINDING) return e && oracle_range_depends(e);
    if (e->kind == N_NAME) return oworld_find(s->w, e->name) == NULL;
    if (e->kind == N_REDUCE && strncmp(e->name, "arg", 3) == 0) return true;
    if (e->kind == N_CALL && oworld_find(s->w, e->name)) return false;
    for (int k = 0; k < e->count; k++)
        if (has_index_value(s, e->child[k])) return true;
    return false;
}

/* What a mask leaves out of a tensor that isn't there yet. */
static oval no_element(const assignment *a, const otensor *old, stc_type type)
{
    oval none = ov_int(STC_I64, 0);
    if (old && old->keeps_fill) return old->fill;
    if (a->fn >= 0 && !of_identity(a->fn, type, &none)) none = ov_int(STC_I64, 0);
    return ov_store(none, type);
}

/* A new or replaced target, of the shape that its subscripts have. */
static bool make_target(ostmt *s, const assignment *a, const char *name, otensor *out)
{
    const otensor *old = oworld_find(s->w, name);
    const ast *left = a->tree->child[0];
    int64_t shape[STC_MAX_ORDER];
    const bool masked = a->mask && old && old->has_data;
    stc_type type = old && (old->keeps_type || masked) ? old->type : a->value_type;
    const bool keeps_fill = old && (old->keeps_fill || masked);
    oval fill = keeps_fill ? old->fill : ov_any(type);
    for (int k = 0; k < left->count; k++) {
        int x = ostmt_lookup(s, left->child[k]->name);
        shape[k] = x >= 0 ? s->index[x].hi : 0;
    }
    if (old && (old->keeps_shape || masked)) memcpy(shape, old->shape, sizeof shape);
    if (!keeps_fill && a->mask)
        fill = no_element(a, NULL, type);
    else if (!keeps_fill && left->count)
        fill = result_fill(s, a, type);
    else if (!keeps_fill && a->right->kind != N_REDUCE && !has_access(s, a->right))
        /* no reduction: 0 */
        fill = ov_store(ov_int(STC_I64, 0), type);
    oworld one = {0};
    otensor *t = oworld_put(&one, name, type, left->count, shape, fill);
    if (!t) return false;
    *out = *t;
    free(one.tensor);
    out->fill_unknown = s->fill_unknown || ov_is_any(&fill) || has_index_value(s, a->right);
    out->has_data = true;
    if (old) {
        out->keeps_type = old->keeps_type;
        out->keeps_shape = old->keeps_shape;
        out->keeps_fill = old->keeps_fill;
    }
    return true;
}

/* What is stored is known of sums of terms, where nothing is 0. */
static bool tells_stored(const ostmt *s, const assignment *a, const otensor *t)
{
    const oval *f = &t->fill;
    bool bare = !t->fill_unknown && f->i == 0 && f->re == 0 && f->im == 0 && f->err == 0 &&
                t->type != STC_BOOL && !s->moved && a->fn < 0 && !a->mask;
    for (int k = 0; k < a->tree->child[0]->count; k++)
        bare &= a->tree->child[0]->child[k]->kind == N_NAME;
    return bare && a->nbox == t->order;
}

static void fill_target(ostmt *s, const assignment *a, const otensor *old, otensor *t)
{
    const ast *left = a->tree->child[0];
    bool keep = old && old->has_data && old->count == t->count &&
                (a->fn >= 0 || a->mask || old->keeps_shape);
    if (keep) {
        for (int64_t k = 0; k < t->count; k++)
            t->data[k] = ov_store(old->data[k], t->type);
    }
    s->complements = oracle_complements(a->right);
    if (tells_stored(s, a, t)) t->stored = calloc((size_t)t->count + 1, 1);
    if (!begin(s, a->box, a->nbox)) return;
    do {
        int64_t at = left_offset(s, left, t);
        if (at < 0) {
            ostmt_refuse(s, ORACLE_UNSURE, "the left side left its tensor");
            return;
        }
        const oval *was = keep ? &t->data[at] : NULL;
        if (a->mask && left_out(s, a->mask)) {
            if (!keep) t->data[at] = no_element(a, old, t->type);
            continue;
        }
        t->data[at] = ov_store(eval_element(s, a, was), t->type);
        if (t->stored)
            t->stored[at] = (uint8_t)oracle_reaches(s, a->right, a->left, a->nleft);
    } while (advance(s, a->box, a->nbox) && s->verdict != ORACLE_ERROR);
}

/* It is over the left side's indices, and reduces nothing. */
static void check_mask(ostmt *s, const assignment *a)
{
    int none[MAX_INDEX];
    bool weak;
    if (s->verdict == ORACLE_ERROR) return;
    if (ostmt_summed(s, a->mask, a->left, a->nleft, none) || reduces(a->mask))
        ostmt_refuse(s, ORACLE_ERROR, "a mask over indices that aren't on the left");
    else
        ostmt_type(s, a->mask, &weak);
}

static overdict assign(oworld *w, const ast *tree)
{
    ostmt *s = calloc(1, sizeof *s);
    if (!s) return ORACLE_UNSURE;
    s->w = w;
    assignment a = {.tree = tree, .right = tree->child[1], .fn = -1};
    const ast *left = tree->child[0];
    if (a.right->kind == N_WHERE) {
        a.mask = a.right->child[1];
        a.right = a.right->child[0];
    }
    if (tree->op != OPR_NONE) a.fn = oracle_op_function(tree->op);
    const ast *schedule = tree->child[2];
    for (int k = 0; schedule && k < schedule->count; k++)
        s->moved |= strcmp(schedule->child[k]->name, "precompute") == 0;
    const otensor *old = oworld_find(w, left->name);
    bool shaped = old && (old->keeps_shape || ((a.fn >= 0 || a.mask) && old->has_data));
    snprintf(w->target_name, sizeof w->target_name, "%s", left->name);
    w->target = w->target_name;
    if (old && old->keeps_fill && a.fn < 0) {
        s->given = a.right;
        s->given_fill = old->fill;
    }
    if (old && shaped && old->order != left->count)
        ostmt_refuse(s, ORACLE_ERROR, "wrong number of subscripts on the left");
    else
        ostmt_collect_left(s, left, shaped ? old->shape : NULL);
    if (s->scatters && a.fn >= 0)
        ostmt_refuse(s, ORACLE_UNSURE, "op= of places that a format may not find");
    left_names(s, &a, left);
    ostmt_collect(s, tree->child[1]);
    if (a.mask) check_mask(s, &a);
    if (s->verdict != ORACLE_ERROR) ostmt_solve(s);
    if (s->verdict != ORACLE_ERROR) types(s, &a);
    if (s->verdict != ORACLE_ERROR) check_kind(s, &a, old);
    otensor fresh = {.order = 0};
    if (s->verdict != ORACLE_ERROR && make_target(s, &a, left->name, &fresh)) {
        fill_target(s, &a, oworld_find(w, left->name), &fresh);
        otensor *t = oworld_find(w, left->name);
        if (!t) t = oworld_put(w, left->name, fresh.type, 0, NULL, fresh.fill);
        if (t) {
            free(t->data);
            free(t->stored);
            *t = fresh;
        }
    }
    overdict v = s->verdict;
    free(s);
    return v;
}

/* Copies a function's tree out of the arena of one text: by parsing it again
 * into an arena that stays. */
static void define(oworld *w, const char *text, int which)
{
    ofunction *f = calloc(1, sizeof *f);
    if (!f) return;
    arena_init(&f->memory, w->cx);
    ast *tree;
    const source src = {.cx = w->cx, .file = "oracle", .text = text};
    if (parse_script(&f->memory, &src, &tree) != STC_OK) {
        free(f);
        return;
    }
    f->tree = tree->child[which];
    f->next = w->fn;
    w->fn = f;
}

void oracle_define_host(oworld *w, const char *definition, stc_type type)
{
    const ofunction *before = w->fn;
    define(w, definition, 0);
    if (w->fn == before) return;
    w->fn->host = true;
    w->fn->type = type;
}

overdict oracle_exec(oworld *w, const char *text)
{
    arena memory;
    arena_init(&memory, w->cx);
    ast *tree;
    const source src = {.cx = w->cx, .file = "oracle", .text = text};
    overdict v = ORACLE_OK;
    if (parse_script(&memory, &src, &tree) != STC_OK) {
        snprintf(w->why, sizeof w->why, "%.190s", w->cx->diag.message);
        v = ORACLE_ERROR;
        tree = NULL;
    }
    for (int k = 0; tree && k < tree->count && v != ORACLE_ERROR; k++) {
        const ast *e = tree->child[k];
        overdict one = ORACLE_OK;
        if (e->kind == N_FN)
            define(w, text, k);
        else if (e->kind == N_ASSIGN)
            one = assign(w, e);
        if (one != ORACLE_OK && (v == ORACLE_OK || one == ORACLE_ERROR)) v = one;
    }
    arena_free(&memory);
    return v;
}
