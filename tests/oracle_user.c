/* oracle_user.c: functions that the user writes, run by the oracle from their
 * trees: expressions, cases, and bodies of statements. A first walk finds the
 * types of variables, what all that is assigned to them promotes to, and the
 * result's, what all returns promote to. Cases have variables of their own, and
 * their constants are compared by value. */
#include "oracle_eval.h"
#include <string.h>

typedef struct local {
    const char *name;
    oval value;
} local;

typedef struct frame {
    ostmt *s;
    bool typing; /* only types: both branches, loops twice, every case        */
    struct joined {
        bool any;
        stc_type type;
    } joined[2]; /* what all returns promote to: [1]: those that are literals  */
    local local[MAX_LOCAL];
    int n;
    const struct frame *types; /* running: where the walk found its variables' types */
    bool changed;              /* walking: some type did in this round               */
    int64_t steps;
    oval result;
    enum { RUN, BROKEN, CONTINUED, RETURNED } state;
} frame;

static oval run_expr(frame *f, const ast *e);

static const local *find_in(const frame *f, const char *name)
{
    for (int k = 0; k < f->n; k++)
        if (strcmp(f->local[k].name, name) == 0) return &f->local[k];
    return NULL;
}

/* A value as its variable has it. */
static oval as_variable(frame *f, const char *name, oval v)
{
    const local *x = f->types ? find_in(f->types, name) : NULL;
    if (!x) return v;
    if (!x->value.weak) f->s->w->flags |= of_literal(&v, x->value.type);
    v = ov_convert(v, x->value.type);
    v.weak = x->value.weak;
    return v;
}

static local *find(frame *f, const char *name)
{
    for (int k = 0; k < f->n; k++)
        if (strcmp(f->local[k].name, name) == 0) return &f->local[k];
    return NULL;
}

static oval user_of_types(ostmt *s, const ofunction *fn, const oval *args, int n)
{
    stc_type t[8] = {0};
    bool weak[8] = {false};
    for (int k = 0; k < n && k < 8; k++)
        t[k] = args[k].type, weak[k] = args[k].weak;
    oval r = ov_any(ouser_type(s, fn, t, weak, n));
    r.weak = ouser_weak(fn, weak, n);
    return r;
}

static oval run_call(frame *f, const ast *e)
{
    const ofunction *user =
        e->kind == N_CALL ? oworld_function(f->s->w, e->name, e->count) : NULL;
    int fn = user ? -1 : ostmt_function(e);
    bool logic = e->kind == N_BINARY && (e->op == OPR_AND || e->op == OPR_OR);
    if (logic || (fn >= 0 && strcmp(of_name(fn), "select") == 0)) {
        oval c = run_expr(f, e->child[0]);
        const bool literal = c.weak;
        if (f->typing) c = ov_any(c.type);
        c.weak = literal;
        bool truth = ov_true(&c), known = !ov_is_any(&c);
        if (logic && known && truth == (e->op == OPR_OR)) return ov_int(STC_BOOL, truth);
        oval arg[3] = {c, run_expr(f, e->child[1]), {0}};
        if (!logic) arg[2] = run_expr(f, e->child[2]);
        return of_call(fn, arg, &f->s->w->flags);
    }
    oval arg[8] = {{0}};
    for (int k = 0; k < e->count && k < 8; k++)
        arg[k] = run_expr(f, e->child[k]);
    if (user && f->typing) return user_of_types(f->s, user, arg, e->count);
    if (user) return ouser_call(f->s, user, arg, e->count);
    if (fn < 0) return ov_any(STC_F64);
    if (f->typing) {
        stc_type t[8] = {0};
        bool w[8] = {false};
        for (int k = 0; k < e->count && k < 8; k++)
            t[k] = arg[k].type, w[k] = arg[k].weak;
        if (!of_accepts(fn, t, w))
            ostmt_refuse(f->s, ORACLE_ERROR, "a function of operands that it isn't for");
    }
    return of_call(fn, arg, &f->s->w->flags);
}

static oval number(stc_type t, double re, double im, int64_t i)
{
    oval v = t >= STC_F32 ? ov_complex(t, re, im) : ov_int(t, i);
    v.weak = true;
    return v;
}

static oval run_expr(frame *f, const ast *e)
{
    switch (e->kind) {
    case N_INT:
        return number(STC_I64, 0, 0, (int64_t)e->u);
    case N_REAL:
        return number(STC_F64, e->f, 0, 0);
    case N_IMAG:
        return number(STC_C128, 0, e->f, 0);
    case N_BOOL:
        return number(STC_BOOL, 0, 0, e->u != 0);
    case N_NAME: {
        const local *v = find(f, e->name);
        return v ? v->value : ov_any(STC_F64);
    }
    case N_UNARY:
        if (e->op == OPR_PLUS) return run_expr(f, e->child[0]);
        return run_call(f, e);
    default:
        return run_call(f, e);
    }
}

static void run_assign(frame *f, const ast *e)
{
    const char *name = e->child[0]->name;
    oval v = run_expr(f, e->child[1]);
    local *x = find(f, name);
    if (e->op != OPR_NONE && x) {
        oval two[2] = {x->value, v};
        v = of_call(oracle_op_function(e->op), two, &f->s->w->flags);
    }
    if (!x && f->n < MAX_LOCAL) {
        x = &f->local[f->n++];
        *x = (local){.name = name, .value = v};
        f->changed = true;
    }
    if (x && f->typing) {
        const oval old = x->value;
        if (old.type != v.type || old.weak != v.weak) {
            const bool literal = old.weak && v.weak;
            v = ov_any(ot_promote(old.type, old.weak, v.type, v.weak));
            v.weak = literal;
        }
        f->changed |= v.type != old.type || v.weak != old.weak;
    }
    if (!f->typing) v = as_variable(f, name, v);
    if (x) x->value = v;
}

static bool truth(frame *f, const ast *e)
{
    oval c = run_expr(f, e);
    if (ov_is_any(&c) || c.err > 0) {
        f->s->w->flags |= OV_HAZARD; /* a NaN may be in it, and a loop have no end */
        ostmt_refuse(f->s, ORACLE_UNSURE, "a condition that isn't certain");
        f->state = RETURNED;
        f->result = ov_any(STC_F64);
    }
    return ov_true(&c);
}

/* The value of a return, or its type's part of the result's type. */
static void give(frame *f, oval v)
{
    if (!f->typing) {
        f->result = v;
        f->state = RETURNED;
        return;
    }
    struct joined *j = &f->joined[v.weak];
    j->type = j->any ? ot_promote(j->type, false, v.type, false) : v.type;
    j->any = true;
}

static stc_type joined(const frame *f)
{
    const struct joined *typed = &f->joined[0], *literals = &f->joined[1];
    if (!typed->any) return literals->any ? literals->type : STC_F64;
    if (!literals->any) return typed->type;
    return ot_promote(typed->type, false, literals->type, true);
}

static void run(frame *f, const ast *e);

static void run_loop(frame *f, const ast *condition, const ast *step, const ast *body)
{
    if (f->typing) {
        run_expr(f, condition);
        run(f, body);
        if (step) run(f, step);
        return;
    }
    while (f->state == RUN && truth(f, condition) && f->state == RUN) {
        run(f, body);
        if (f->state == CONTINUED) f->state = RUN;
        if (f->state == RUN && step) run(f, step);
        if (++f->steps > 10000) {
            ostmt_refuse(f->s, ORACLE_UNSURE, "a function that takes too long");
            f->result = ov_any(STC_F64);
            f->state = RETURNED;
        }
    }
    if (f->state == BROKEN) f->state = RUN;
}

static void run(frame *f, const ast *e)
{
    if (!e || f->state != RUN) return;
    switch (e->kind) {
    case N_BLOCK:
        for (int k = 0; k < e->count; k++)
            run(f, e->child[k]);
        break;
    case N_ASSIGN:
        run_assign(f, e);
        break;
    case N_IF:
        if (f->typing) {
            run_expr(f, e->child[0]);
            run(f, e->child[1]);
            if (e->count > 2) run(f, e->child[2]);
        } else if (truth(f, e->child[0]))
            run(f, e->child[1]);
        else if (e->count > 2)
            run(f, e->child[2]);
        break;
    case N_WHILE:
        run_loop(f, e->child[0], NULL, e->child[1]);
        break;
    case N_FOR:
        run(f, e->child[0]);
        run_loop(f, e->child[1], e->child[2], e->child[3]);
        break;
    case N_BREAK:
        if (!f->typing) f->state = BROKEN;
        break;
    case N_CONTINUE:
        if (!f->typing) f->state = CONTINUED;
        break;
    case N_RETURN:
        give(f, run_expr(f, e->child[0]));
        break;
    default:
        break;
    }
}

static bool constant(const ast *e)
{
    return e->kind != N_NAME;
}

/* The first case whose constants equal the arguments. */
static const ast *choose(frame *f, const ast *cases, const oval *args)
{
    for (int c = 0; c < cases->count; c++) {
        const ast *names = cases->child[c]->child[0];
        bool fits = true;
        for (int k = 0; k < names->count && fits; k++) {
            if (!constant(names->child[k])) continue;
            oval two[2] = {args[k], run_expr(f, names->child[k])};
            oval same = of_call(of_find("eq", 2, 2), two, &f->s->w->flags);
            if (ov_is_any(&same)) {
                f->s->w->flags |= OV_HAZARD; /* a loop of the case that is taken, too */
                return NULL;
            }
            fits = ov_true(&same);
        }
        if (fits) return cases->child[c];
    }
    return NULL;
}

static void bind_names(frame *f, const ast *names, const oval *args)
{
    f->n = 0;
    for (int k = 0; k < names->count && k < 8; k++) {
        if (constant(names->child[k])) continue;
        const char *name = names->child[k]->name;
        f->local[f->n++] = (local){name, as_variable(f, name, args[k])};
    }
}

static void run_body(frame *f, const ast *body)
{
    if (body->kind == N_BLOCK)
        run(f, body);
    else
        give(f, run_expr(f, body));
}

/* The walk: as often as it takes for the types of variables to settle. */
static void type_body(frame *f, const ast *names, const ast *body, const oval *args)
{
    const struct joined before[2] = {f->joined[0], f->joined[1]};
    bind_names(f, names, args);
    f->changed = true;
    for (int round = 0; f->changed && round < 64; round++) {
        f->changed = false;
        f->joined[0] = before[0], f->joined[1] = before[1];
        run_body(f, body);
    }
}

static void run_case(frame *f, const ast *names, const ast *body, const oval *args)
{
    frame types = {.s = f->s, .typing = true};
    oval any[8];
    for (int k = 0; k < names->count && k < 8; k++) {
        any[k] = ov_any(args[k].type);
        any[k].weak = args[k].weak;
    }
    const unsigned flags = f->s->w->flags;
    type_body(&types, names, body, any);
    f->s->w->flags = flags;
    f->types = &types;
    bind_names(f, names, args);
    run_body(f, body);
    f->types = NULL;
}

static void run_cases(frame *f, const ast *cases, const oval *args)
{
    const ast *chosen = f->typing ? NULL : choose(f, cases, args);
    for (int k = 0; k < cases->count; k++) {
        const ast *one = cases->child[k];
        if (f->typing)
            type_body(f, one->child[0], one->child[1], args);
        else if (one == chosen)
            run_case(f, one->child[0], one->child[1], args);
    }
}

static oval call_frame(ostmt *s, const ofunction *fn, const oval *args, bool typing)
{
    frame f = {.s = s, .typing = typing, .result = ov_any(STC_F64)};
    const ast *names = fn->tree->child[0], *body = fn->tree->child[1];
    if (s->calls > 20) return f.result;
    s->calls++;
    if (body->kind == N_CASES)
        run_cases(&f, body, args);
    else if (typing)
        type_body(&f, names, body, args);
    else
        run_case(&f, names, body, args);
    s->calls--;
    return typing ? ov_any(joined(&f)) : f.result;
}

bool ouser_weak(const ofunction *fn, const bool *weak, int n)
{
    bool all = n > 0 && !fn->host;
    for (int k = 0; k < n; k++)
        all = all && weak[k];
    return all;
}

/* Integers are all alike in 64 bits, but for their sign. */
static stc_type widest(stc_type t)
{
    return ot_float(t) || ot_complex(t) ? t : ot_unsigned(t) ? STC_U64 : STC_I64;
}

/* The host's functions take what has their class, or promotes to their type. */
static stc_type host_type(ostmt *s, const ofunction *fn, const stc_type *t,
                          const bool *weak, int n)
{
    for (int k = 0; k < n && k < 8; k++) {
        const bool same = widest(t[k]) == widest(fn->type);
        if (!same && ot_promote(fn->type, false, t[k], weak[k]) != fn->type)
            ostmt_refuse(s, ORACLE_ERROR, "a function of the host's for other operands");
    }
    return fn->type;
}

stc_type ouser_type(ostmt *s, const ofunction *fn, const stc_type *t, const bool *weak,
                    int n)
{
    oval arg[8] = {{0}};
    if (fn->host) return host_type(s, fn, t, weak, n);
    for (int k = 0; k < n && k < 8; k++) {
        arg[k] = ov_any(t[k]);
        arg[k].weak = weak[k];
    }
    unsigned flags = s->w->flags;
    oval r = call_frame(s, fn, arg, true);
    s->w->flags = flags;
    return r.type;
}

/* Whether an algebra holds: 1, 0, or -1 if that isn't certain. */
static int holds(frame *f, const ast *e, const ast *names, const oval *args)
{
    if (e->kind == N_SET) {
        for (int k = 0; k < names->count && k < 8; k++) {
            if (strcmp(names->child[k]->name, e->name) != 0) continue;
            const oval c = ov_convert(run_expr(f, e->child[0]), args[k].type);
            const oval two[2] = {args[k], c};
            const oval same = of_call(of_find("eq", 2, 2), two, &f->s->w->flags);
            return ov_is_any(&same) ? -1 : !ov_true(&same);
        }
        return -1;
    }
    const int a = holds(f, e->child[0], names, args);
    if (e->kind == N_UNARY) return a < 0 ? a : !a;
    const int b = holds(f, e->child[1], names, args), decides = e->op != OPR_BITAND;
    if (a == decides || b == decides) return decides;
    return a < 0 || b < 0 ? -1 : !decides;
}

bool ouser_left_out(ostmt *s, const ofunction *fn, const oval *args)
{
    frame f = {.s = s};
    const ast *over = fn->tree->child[3];
    return over && holds(&f, over, fn->tree->child[0], args) == 0;
}

/* The fill of a call that an algebra leaves out nowhere near the operands' fills is
 * what the body gives elsewhere, as far as that can be told ahead. */
static bool fill_is_elsewhere(ostmt *s, const ofunction *fn, const oval *args)
{
    return s->fill_mode && fn->tree->child[3] && !ouser_left_out(s, fn, args);
}

oval ouser_call(ostmt *s, const ofunction *fn, const oval *args, int n)
{
    const oval made = user_of_types(s, fn, args, n);
    oval own[8];
    if (fill_is_elsewhere(s, fn, args)) return made;
    for (int k = 0; fn->host && k < n && k < 8; k++) {
        s->w->flags |= of_literal(&args[k], fn->type);
        own[k] = ov_convert(args[k], fn->type);
        own[k].weak = false;
    }
    oval r = ov_convert(call_frame(s, fn, fn->host ? own : args, false), made.type);
    r.weak = made.weak;
    return r;
}

bool ouser_identity(ostmt *s, const ofunction *fn, stc_type t, oval *out)
{
    const ast *props = fn->tree->child[2];
    frame f = {.s = s};
    bool commutes = false;
    for (int k = 0; props && k < props->count; k++)
        commutes |= strcmp(props->child[k]->name, "commutative") == 0;
    for (int k = 0; props && k < props->count; k++) {
        const ast *p = props->child[k];
        if (strcmp(p->name, "identity") != 0) continue;
        if (p->child[1] && p->child[1]->u == 0 && !commutes) continue;
        const oval v = run_expr(&f, p->child[0]);
        const bool endless = (v.type == STC_F32 || v.type == STC_F64) && isinf(v.re);
        *out = ov_convert(v, t);
        /* the least or the greatest that there is */
        if (endless && t != STC_BOOL && t < STC_F32)
            of_identity(oracle_reduce_function(v.re < 0 ? "max" : "min"), t, out);
        out->weak = false;
        return true;
    }
    return false;
}
