/* bind_fn.c: the user's functions, specialised for the types of a call.
 *
 * A body is bound as often as it takes for the types of its variables to
 * settle: each assignment widens its variable's type by promotion, which can't
 * go on for ever. Its cases become a chain of ifs, each with variables of its own;
 * its properties and its algebra become values. Functions can call others, but not
 * themselves.
 */
#include "bind.h"

#include <string.h>

#define FN_MAX_LOCALS 64
#define FN_MAX_DEPTH 32 /* functions that call each other */

typedef struct fn_local {
    const char *name; /* NULL: not visible (the parameter of another case) */
    stc_type type;
    bool typed, weak; /* weak: only literals were assigned so far          */
} fn_local;

/* What a case, or a body without cases, makes of the parameters. */
typedef struct fn_case {
    unsigned copied;               /* those whose variable has another class  */
    fn_local param[FN_MAX_PARAMS]; /* the others' own types                    */
    stc_type as[FN_MAX_PARAMS];    /* the types of their variables             */
} fn_case;

struct fn_env {
    fn_env *outer;
    bfunction *f;
    const source *src;
    fn_local local[FN_MAX_LOCALS]; /* numbered by first assignment, in every round */
    int nlocals;
    int place[FN_MAX_PARAMS]; /* the local that is read as a parameter            */
    fn_case *in;              /* of each case; one if there are none              */
    int ncase;
    unsigned weak;        /* parameters that are given literals               */
    uint64_t set, unsure; /* surely assigned here; read where that isn't sure */
    bool changed;         /* a type was widened in this round                 */
    int loops, depth;
    fstmt **returned;
    int nreturned, returned_cap;
};

/* ---- locals ----------------------------------------------------------------------- */

static int local_named(const fn_env *env, const char *name)
{
    for (int i = env->nlocals - 1; i >= 0; i--)
        if (env->local[i].name && !strcmp(env->local[i].name, name)) return i;
    return -1;
}

bexpr *bind_local(binder *b, const ast *name)
{
    fn_env *const env = b->env;
    const int i = local_named(env, name->name);
    if (i < 0)
        return bind_null(
            b, name->at,
            "`%s` is no parameter of the function, and nothing was assigned to it "
            "before this",
            name->name);
    if (!(env->set >> i & 1)) env->unsure |= 1ull << i;
    bexpr *e = bind_node(b, B_LOCAL, env->local[i].type, name->at);
    if (!e) return NULL;
    e->index = i;
    if (env->local[i].weak) e->mark = WEAK;
    return e;
}

/* The variable takes in one more type. */
static void widen(binder *b, fn_local *l, bexpr *e)
{
    bexpr old = {.kind = B_LOCAL, .type = l->type, .mark = l->weak ? WEAK : 0};
    const bool weak = e->mark == WEAK && (!l->typed || l->weak);
    const stc_type t = l->typed ? bind_common((bexpr *[]){&old, e}, 2) : e->type;
    if (!l->typed || t != l->type || weak != l->weak) b->env->changed = true;
    l->type = t;
    l->weak = weak;
    l->typed = true;
}

/* ---- statements --------------------------------------------------------------------- */

static fstmt *body(binder *b, const ast *list);

static fstmt *new_fstmt(binder *b, int op, span at)
{
    fstmt *s = arena_alloc(b->a, sizeof *s);
    if (!s) return NULL;
    s->op = op;
    s->at = at;
    return s;
}

/* The next local. What earlier rounds found of its type stays. */
static int new_local(binder *b, const ast *name)
{
    fn_env *const env = b->env;
    if (env->nlocals == FN_MAX_LOCALS) {
        bind_fail(b, name->at, "a function has at most %d variables", FN_MAX_LOCALS);
        return -1;
    }
    env->local[env->nlocals].name = name->name;
    return env->nlocals++;
}

static fstmt *set_local(binder *b, const ast *node)
{
    fn_env *const env = b->env;
    const ast *const left = node->child[0];
    if (left->kind != N_NAME)
        return bind_null(b, left->at, "a function's body assigns to variables only");
    bexpr *e = bind_expr(b, node->child[1]);
    if (e && node->op != OPR_NONE) {
        bexpr *old = bind_local(b, left);
        e = old ? bind_call(b, node->at, bind_op_fn(node->op), (bexpr *[]){old, e}, 2)
                : NULL;
    }
    fstmt *s = e ? new_fstmt(b, F_SET, node->at) : NULL;
    if (!s) return NULL;
    s->local = local_named(env, left->name);
    if (s->local < 0 && (s->local = new_local(b, left)) < 0) return NULL;
    widen(b, &env->local[s->local], e);
    env->set |= 1ull << s->local;
    s->value = bind_store(b, e, env->local[s->local].type);
    return s->value ? s : NULL;
}

static fstmt *branch(binder *b, const ast *node)
{
    fn_env *const env = b->env;
    fstmt *s = new_fstmt(b, F_IF, node->at);
    if (!s || !(s->value = bind_to_bool(b, bind_expr(b, node->child[0])))) return NULL;
    const uint64_t before = env->set;
    const ast *const other = node->child[2];
    if (node->child[1]->count && !(s->body = body(b, node->child[1]))) return NULL;
    const uint64_t then = env->set;
    env->set = before;
    if (other && other->kind == N_IF && !(s->other = branch(b, other))) return NULL;
    if (other && other->kind == N_BLOCK && other->count && !(s->other = body(b, other)))
        return NULL;
    env->set &= then;
    return s;
}

/* while (e) {…}, and for with its first assignment before it. */
static fstmt *loop(binder *b, const ast *node)
{
    fn_env *const env = b->env;
    const bool steps = node->kind == N_FOR;
    fstmt *first = steps ? set_local(b, node->child[0]) : NULL, *s = NULL;
    if (steps && !first) return NULL;
    if (!(s = new_fstmt(b, F_WHILE, node->at))) return NULL;
    if (!(s->value = bind_to_bool(b, bind_expr(b, node->child[steps])))) return NULL;
    const uint64_t before = env->set;
    const ast *const block = node->child[steps ? 3 : 1];
    env->loops++;
    if (block->count && !(s->body = body(b, block))) return NULL;
    env->set = before; /* `continue` may have left out what the body sets */
    if (steps && !(s->other = set_local(b, node->child[2]))) return NULL;
    env->loops--;
    env->set = before;
    if (first) first->next = s;
    return first ? first : s;
}

static fstmt *give_back(binder *b, const ast *value_node, span at)
{
    fn_env *const env = b->env;
    fstmt *s = new_fstmt(b, F_RETURN, at);
    if (!s || !(s->value = bind_expr(b, value_node)) ||
        !bind_grow(b, &env->returned, &env->returned_cap, env->nreturned + 1,
                   sizeof *env->returned))
        return NULL;
    env->returned[env->nreturned++] = s;
    env->set = UINT64_MAX; /* nothing is read after it */
    return s;
}

static fstmt *statement(binder *b, const ast *node)
{
    switch (node->kind) {
    case N_ASSIGN:
        return set_local(b, node);
    case N_IF:
        return branch(b, node);
    case N_WHILE:
    case N_FOR:
        return loop(b, node);
    case N_RETURN:
        return give_back(b, node->child[0], node->at);
    case N_BREAK:
    case N_CONTINUE:
        if (!b->env->loops)
            return bind_null(b, node->at, "this stands outside of any loop");
        b->env->set = UINT64_MAX;
        return new_fstmt(b, node->kind == N_BREAK ? F_BREAK : F_CONTINUE, node->at);
    default:
        return bind_null(b, node->at, "this can't be in a function's body");
    }
}

/* Whether nothing that follows is reached. */
static bool leaves(const fstmt *s)
{
    for (; s; s = s->next) {
        if (s->op == F_RETURN || s->op == F_BREAK || s->op == F_CONTINUE) return true;
        if (s->op == F_IF && leaves(s->body) && leaves(s->other)) return true;
    }
    return false;
}

/* What isn't reached is checked as all else is, and left out: it may read what nothing has
 * set. */
static fstmt *body(binder *b, const ast *list)
{
    fstmt *first = NULL, **end = &first;
    bool left = false;
    for (int i = 0; i < list->count; i++) {
        fstmt *s = statement(b, list->child[i]);
        if (!s) return NULL;
        if (left) continue;
        left = leaves(s);
        for (*end = s; *end;)
            end = &(*end)->next;
    }
    return first;
}

static bool always_returns(const fstmt *s)
{
    for (; s; s = s->next) {
        if (s->op == F_RETURN) return true;
        if (s->op == F_IF && always_returns(s->body) && always_returns(s->other))
            return true;
        if (s->op == F_WHILE && s->value->kind == B_CONST && s->value->value.i64)
            return true;
    }
    return false;
}

/* ---- cases -------------------------------------------------------------------------- */

static fstmt *body_or_value(binder *b, const ast *node)
{
    if (node->kind == N_BLOCK && !node->count)
        return bind_null(b, node->at, "nothing is computed here; expected a `return`");
    if (node->kind == N_BLOCK) return body(b, node);
    return give_back(b, node, node->at);
}

/* The condition that the arguments equal the case's constants; NULL in *out if
 * there are none. */
static bool case_condition(binder *b, const ast *pattern, bexpr **out)
{
    *out = NULL;
    for (int k = 0; k < pattern->count; k++) {
        const ast *const c = pattern->child[k];
        if (c->kind == N_NAME) continue;
        bexpr *args[2] = {bind_node(b, B_LOCAL, b->env->f->param[k], c->at),
                          bind_expr(b, c)};
        if (!args[0] || !args[1]) return false;
        args[0]->index = k;
        args[0]->mark = b->env->weak >> k & 1 ? WEAK : 0;
        bexpr *equal = bind_call(b, c->at, FN_EQ, args, 2);
        *out = equal && *out ? bind_call(b, c->at, FN_AND, (bexpr *[]){*out, equal}, 2)
                             : equal;
        if (!*out) return false;
    }
    return true;
}

/* The variables of case c: parameters under the names of its pattern, where it names
 * them. Those that need a variable of another class are copied to one first. */
static bool enter_case(binder *b, int c, const ast *pattern, fstmt **first)
{
    fn_env *const env = b->env;
    fstmt **end = first;
    *first = NULL;
    for (int k = 0; k < env->nlocals; k++) /* the names of this case only */
        env->local[k].name = NULL;
    for (int k = 0; k < pattern->count; k++) {
        env->place[k] = k;
        env->local[k] = env->in[c].param[k];
        if (pattern->child[k]->kind == N_NAME) env->local[k].name = pattern->child[k]->name;
    }
    for (int k = 0; k < pattern->count; k++) {
        if (!(env->in[c].copied >> k & 1)) continue;
        bexpr *from = bind_node(b, B_LOCAL, env->f->param[k], pattern->child[k]->at);
        fstmt *s = new_fstmt(b, F_SET, pattern->child[k]->at);
        if (!from || !s || (s->local = new_local(b, pattern->child[k])) < 0) return false;
        from->index = k;
        from->mark = env->weak >> k & 1 ? WEAK : 0;
        widen(b, &env->local[s->local], from);
        env->place[k] = s->local;
        env->set |= 1ull << s->local;
        if (!(s->value = bind_store(b, from, env->local[s->local].type))) return false;
        *end = s;
        end = &s->next;
    }
    return true;
}

/* What this round found of the parameters' types. */
static void leave_case(fn_env *env, int c)
{
    for (int k = 0; k < env->f->nparams; k++) {
        env->in[c].param[k] = env->local[k];
        env->in[c].as[k] = env->local[env->place[k]].type;
    }
}

static fstmt *joined(fstmt *first, fstmt *then)
{
    if (!first || !then) return then;
    fstmt *last = first;
    while (last->next)
        last = last->next;
    last->next = then;
    return first;
}

static fstmt *cases(binder *b, const ast *list)
{
    fn_env *const env = b->env;
    fstmt *first = NULL, **end = &first;
    const uint64_t params = env->set;
    for (int i = 0; i < list->count; i++) {
        const ast *const pattern = list->child[i]->child[0];
        bexpr *condition;
        fstmt *copies;
        env->set = params;
        if (!case_condition(b, pattern, &condition) || !enter_case(b, i, pattern, &copies))
            return NULL;
        fstmt *s = joined(copies, body_or_value(b, list->child[i]->child[1]));
        if (!s) return NULL;
        leave_case(env, i);
        if (condition) {
            if (!always_returns(s))
                return bind_null(b, list->child[i]->at,
                                 "this case may end without a `return`");
            if (!(*end = new_fstmt(b, F_IF, list->child[i]->at))) return NULL;
            (*end)->value = condition;
            (*end)->body = s;
            end = &(*end)->next;
        } else {
            *end = s;
            break;
        }
    }
    return first;
}

/* ---- specialising ------------------------------------------------------------------- */

/* Locals that some path reads without having set them begin with zero. */
static fstmt *with_zeros(binder *b, fstmt *code, uint64_t unsure)
{
    for (int i = 0; i < b->env->nlocals; i++) {
        if (!(unsure >> i & 1)) continue;
        value zero;
        memset(&zero, 0, sizeof zero);
        fstmt *s = new_fstmt(b, F_SET, (span){0, 0});
        if (!s || !(s->value = bind_const(b, s->at, b->env->local[i].type, zero)))
            return NULL;
        s->local = i;
        s->next = code;
        code = s;
    }
    return code;
}

/* One round: the body with the types that the variables have so far. */
static fstmt *bind_body(binder *b, const ast *node)
{
    fn_env *const env = b->env;
    const ast *const params = node->child[0], *const what = node->child[1];
    fstmt *copies;
    env->changed = false;
    env->nreturned = env->loops = 0;
    env->unsure = 0;
    env->set = (1ull << params->count) - 1;
    env->nlocals = params->count;
    if (what->kind == N_CASES) return cases(b, what);
    if (!enter_case(b, 0, params, &copies)) return NULL;
    fstmt *const code = joined(copies, body_or_value(b, what));
    leave_case(env, 0);
    return code;
}

static fn_local parameter(const fn_env *env, int k)
{
    return (fn_local){.type = env->f->param[k], .typed = true, .weak = env->weak >> k & 1};
}

/* Parameters whose class changed get variables; true: some did. */
static bool more_copies(fn_env *env)
{
    bool more = false;
    for (int c = 0; c < env->ncase; c++) {
        fn_case *const in = &env->in[c];
        for (int k = 0; k < env->f->nparams; k++) {
            if (type_class(in->param[k].type) == type_class(env->f->param[k])) continue;
            in->copied |= 1u << k;
            in->param[k] = parameter(env, k);
            more = true;
        }
    }
    return more;
}

/* Rounds until no type changes any more. */
static fstmt *settle_types(binder *b, const ast *node)
{
    fn_env *const env = b->env;
    for (int round = 0; round < 2 * TYPE_COUNT * FN_MAX_LOCALS; round++) {
        fstmt *code = bind_body(b, node);
        if (!code) return NULL;
        if (more_copies(env)) { /* the others' numbers move: they begin anew */
            for (int i = env->f->nparams; i < FN_MAX_LOCALS; i++)
                env->local[i] = (fn_local){.typed = false};
        } else if (!env->changed) {
            return code;
        }
    }
    return bind_null(b, node->at, "the types of the function's variables don't settle");
}

/* The cases, with the parameters as they are given. */
static bool begin_cases(binder *b, const ast *what)
{
    fn_env *const env = b->env;
    env->ncase = what->kind == N_CASES ? what->count : 1;
    if (!(env->in = arena_array(b->a, env->ncase, sizeof *env->in))) return false;
    for (int c = 0; c < env->ncase; c++) {
        env->in[c] = (fn_case){.copied = 0};
        for (int k = 0; k < env->f->nparams; k++) {
            env->in[c].param[k] = parameter(env, k);
            env->in[c].as[k] = env->f->param[k];
        }
    }
    return true;
}

static bool finish(binder *b, bfunction *f, const ast *node)
{
    fn_env *const env = b->env;
    fstmt *code = begin_cases(b, node->child[1]) ? settle_types(b, node) : NULL;
    if (!code) return false;
    if (!always_returns(code))
        return bind_null(b, node->at, "the function may end without a `return`");
    bexpr **results = arena_array(b->a, env->nreturned, sizeof *results);
    if (!results) return false;
    for (int i = 0; i < env->nreturned; i++)
        results[i] = env->returned[i]->value;
    f->result = bind_common(results, env->nreturned);
    for (int i = 0; i < env->nreturned; i++) {
        fstmt *const s = env->returned[i];
        if (!(s->value = bind_store(b, s->value, f->result))) return false;
    }
    f->code = with_zeros(b, code, env->unsure);
    f->nlocals = env->nlocals;
    f->local = arena_array(b->a, env->nlocals, sizeof *f->local);
    if (!f->code || !f->local) return false;
    for (int i = 0; i < env->nlocals; i++)
        f->local[i] = i < f->nparams ? f->param[i] : env->local[i].type;
    for (int c = 0; c < env->ncase; c++)
        for (int i = 0; i < f->nparams; i++)
            f->as[i] |= 1u << env->in[c].as[i];
    return bind_properties(b, f, node);
}

static bool callable(binder *b, const definition *d, int n, span at)
{
    int depth = 0;
    for (const fn_env *env = b->env; env; env = env->outer)
        depth++;
    if (d->node->child[0]->count != n)
        return bind_null(b, at, "`%s` takes %d argument%s, not %d", d->name,
                         d->node->child[0]->count, d->node->child[0]->count == 1 ? "" : "s",
                         n);
    if (d->busy)
        return bind_null(b, at, "`%s` calls itself: functions don't recur", d->name);
    if (depth == FN_MAX_DEPTH)
        return bind_null(b, at, "functions call each other too deeply");
    return true;
}

bfunction *bind_specialise(binder *b, definition *d, const stc_type *types, unsigned weak,
                           int n, span at)
{
    if (!callable(b, d, n, at)) return NULL;
    if (d->host) return bind_host(b, d, types, weak, at);
    for (specialised *known = b->fns; known; known = known->next)
        if (known->d == d && known->weak == weak &&
            !memcmp(known->f->param, types, (size_t)n * sizeof *types))
            return known->f;
    bfunction *f = arena_alloc(b->a, sizeof *f);
    fn_env *env = arena_alloc(b->a, sizeof *env);
    specialised *mine = arena_alloc(b->a, sizeof *mine);
    if (!f || !env || !mine) return NULL;
    f->name = d->name;
    f->id = -1;
    f->nparams = n;
    f->body = d->node->child[1];
    memcpy(f->param, types, (size_t)n * sizeof *types);
    *env = (fn_env){.outer = b->env, .f = f, .nlocals = n, .weak = weak};
    const source *const src = b->src;
    d->busy = true;
    b->env = env;
    b->src = &d->src;
    const bool fine = finish(b, f, d->node);
    b->env = env->outer;
    b->src = src;
    d->busy = false;
    if (!fine) return NULL;
    *mine = (specialised){d, weak, f, b->fns};
    b->fns = mine;
    return f;
}

/* The value of a function of literals alone; false: it faults, or takes long. */
static bool fold(const bfunction *f, bexpr *const *args, value *out)
{
    value v[FN_MAX_PARAMS];
    for (int i = 0; i < f->nparams; i++) {
        if (args[i]->kind != B_CONST) return false;
        v[i] = args[i]->value;
    }
    return fn_evaluate(f, v, out);
}

/* A literal given to a parameter must fit the type that the body makes of it. */
static bool literals_fit(binder *b, const bfunction *f, bexpr *const *args, unsigned weak)
{
    for (int i = 0; i < f->nparams; i++) {
        const bexpr *const e = args[i];
        value v;
        if (!(weak >> i & 1) || e->kind != B_CONST) continue;
        for (int t = STC_BOOL + 1; t < TYPE_COUNT; t++)
            if (f->as[i] >> t & 1 &&
                literal_to(b->src, e->at, (literal){e->type, e->value}, (stc_type)t, &v))
                return false;
    }
    return true;
}

bexpr *bind_user(binder *b, definition *d, span at, bexpr **args, int n)
{
    stc_type types[FN_MAX_PARAMS];
    if (n > FN_MAX_PARAMS) return bind_null(b, at, "a function has at most 8 parameters");
    unsigned weak = 0;
    for (int i = 0; i < n; i++) {
        weak |= args[i]->mark == WEAK ? 1u << i : 0;
        types[i] = d->host ? args[i]->type : bind_strong(b, args[i])->type;
    }
    bfunction *f = bind_specialise(b, d, types, weak, n, at);
    for (int i = 0; f && f->host && i < n; i++)
        if (!(args[i] = f->param[i] == STC_BOOL ? bind_to_bool(b, args[i])
                                                : bind_convert(b, args[i], f->param[i])))
            return NULL;
    if (!f || (!f->host && !literals_fit(b, f, args, weak))) return NULL;
    const bool literals = !f->host && weak == (1u << n) - 1;
    value known;
    bexpr *e = literals && fold(f, args, &known) ? bind_const(b, at, f->result, known)
                                                 : bind_node(b, B_USER, f->result, at);
    if (!e) return NULL;
    if (literals) e->mark = WEAK; /* what comes of literals alone is one */
    if (e->kind == B_CONST) return e;
    e->args = args;
    e->nargs = n;
    e->fn = -1;
    e->ufn = f;
    return e;
}
