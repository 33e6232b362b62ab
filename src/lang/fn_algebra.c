/* fn_algebra.c: what a user's function is where its algebra leaves it out.
 *
 * `over` says where a function may differ from the fill of its result, so that it is one
 * value in all that is left out. Which one, the body tells: for every way to be in the
 * sets or not that the algebra leaves out, it is evaluated with that known, each argument
 * being its set's constant or any other value. If all of them give the same value, this
 * is it; two that differ contradict what `over` says, and that is an error. Where some
 * can't be told without the arguments nothing is known, and planning makes do with the
 * operands' fills (plan/algebra.c).
 */
#include "bind.h"

#include <string.h>

bool fn_algebra_holds(const bset *s, unsigned differ)
{
    switch (s->op) {
    case SET_NOT_EQUAL:
        return differ >> s->param & 1;
    case SET_NOT:
        return !fn_algebra_holds(s->a, differ);
    case SET_AND:
        return fn_algebra_holds(s->a, differ) && fn_algebra_holds(s->b, differ);
    default:
        return fn_algebra_holds(s->a, differ) || fn_algebra_holds(s->b, differ);
    }
}

/* The same of a definition, whose constants have no types yet. *with: the parameters that
 * have sets. */
static bool holds_as_written(const ast *e, const ast *params, unsigned differ,
                             unsigned *with)
{
    if (e->kind == N_SET) {
        const int k = fn_param_named(params, e->name);
        *with |= 1u << k;
        return differ >> k & 1;
    }
    const bool a = holds_as_written(e->child[0], params, differ, with);
    if (e->kind == N_UNARY) return !a;
    const bool b = holds_as_written(e->child[1], params, differ, with);
    return e->op == OPR_BITAND ? a && b : a || b;
}

/* In how many ways arguments can be left out. */
static int ways_left_out(const ast *over, const ast *params)
{
    int ways = 0;
    unsigned with = 0;
    for (unsigned differ = 0; differ < 1u << params->count; differ++)
        ways += !holds_as_written(over, params, differ, &with) && !(differ & ~with);
    return ways;
}

/* The parameters that have sets, and their constants. False: one has two constants. No
 * operand's fill is both, so that the algebra never applies. */
static bool set_constants(const bset *s, const bfunction *f, unsigned *with, value *outside)
{
    if (s->op != SET_NOT_EQUAL)
        return set_constants(s->a, f, with, outside) &&
               (s->op == SET_NOT || set_constants(s->b, f, with, outside));
    const unsigned bit = 1u << s->param;
    const vclass cls = type_class(f->param[s->param]);
    if (*with & bit) return class_equal(cls, outside[s->param], s->value);
    *with |= bit;
    outside[s->param] = s->value;
    return true;
}

/* Arguments of which those in `with` are their sets' constants, or aren't. False: there
 * are no such. */
static bool arguments(const bfunction *f, unsigned with, unsigned differ, const value *c,
                      fn_known *out)
{
    memset(out, 0, FN_MAX_PARAMS * sizeof *out);
    for (int k = 0; k < f->nparams; k++) {
        if (!(with >> k & 1)) continue;
        const bool other = differ >> k & 1, truth = f->param[k] == STC_BOOL;
        out[k] = (fn_known){other && !truth ? FN_OTHER : FN_EXACTLY, c[k]};
        if (!truth) continue;
        if (c[k].i64 != TRUTH_NONE)
            out[k].v.i64 = c[k].i64 != other;
        else if (other)
            out[k].is = FN_ANY;
        else
            return false;
    }
    return true;
}

/* "x is 0 and y isn't 1" */
static void describe(const bfunction *f, const ast *params, unsigned with, unsigned differ,
                     const value *outside, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (int k = 0; k < f->nparams && n < size; k++) {
        char text[96];
        if (!(with >> k & 1)) continue;
        type_print(f->param[k], outside[k], text, sizeof text);
        n += (size_t)snprintf(out + n, size - n, "%s%s %s %s", n ? " and " : "",
                              params->child[k]->name, differ >> k & 1 ? "isn't" : "is",
                              text);
    }
}

static bool contradiction(binder *b, const bfunction *f, const ast *node, unsigned with,
                          const unsigned differ[2], const value *outside,
                          const value result[2])
{
    char where[2][160], text[2][96];
    for (int k = 0; k < 2; k++) {
        describe(f, node->child[0], with, differ[k], outside, where[k], sizeof where[k]);
        type_print(f->result, result[k], text[k], sizeof text[k]);
    }
    b->contradicted = true;
    bind_fail(b, node->child[3]->at,
              "`over` leaves out what isn't one value: %s gives %s where %s, and %s where "
              "%s",
              node->name, text[0], where[0], text[1], where[1]);
    return false;
}

bool bind_omitted(binder *b, bfunction *f, const ast *node)
{
    value outside[FN_MAX_PARAMS], result[2];
    unsigned with = 0, at[2] = {0};
    int steps = FN_EVAL_STEPS;
    bool known = false, unknown = false;
    if (!set_constants(f->algebra, f, &with, outside)) return true;
    const bool fills_only = with == (1u << f->nparams) - 1 &&
                            !fn_algebra_holds(f->algebra, 0) &&
                            ways_left_out(node->child[3], node->child[0]) == 1;
    if (fills_only) return true; /* planning evaluates that */
    for (unsigned differ = 0; differ < 1u << f->nparams; differ++) {
        fn_known arg[FN_MAX_PARAMS], r;
        if (differ & ~with || fn_algebra_holds(f->algebra, differ)) continue;
        if (!arguments(f, with, differ, outside, arg)) continue;
        if (!fn_evaluate_known(f, arg, &steps, &r) || r.is != FN_EXACTLY) {
            unknown = true;
            continue;
        }
        at[known] = differ;
        result[known] = r.v;
        if (known && !class_equal(type_class(f->result), result[0], result[1]))
            return contradiction(b, f, node, with, at, outside, result);
        known = true;
    }
    f->omits = known && !unknown;
    if (f->omits) f->omitted = result[0];
    return true;
}

/* Binds d for parameters of one type, and tells whether its algebra contradicts it. */
static bool binds(arena *a, scope *s, definition *d, stc_type type, bool *wrong)
{
    ctx *const cx = d->src.cx;
    stc_type types[FN_MAX_PARAMS];
    binder *b = arena_alloc(a, sizeof *b);
    program *p = arena_alloc(a, sizeof *p);
    if (!b || !p) return false;
    for (int i = 0; i < FN_MAX_PARAMS; i++)
        types[i] = type;
    diag_clear(cx);
    p->cx = cx;
    *b = (binder){.a = a, .s = s, .src = &d->src, .p = p};
    const bool bound =
        bind_specialise(b, d, types, 0, d->node->child[0]->count, d->node->at) != NULL;
    *wrong = b->contradicted;
    return bound || *wrong;
}

stc_status fn_check_algebra(scope *s, definition *d)
{
    ctx *const cx = d->src.cx;
    static const stc_type tried[] = {STC_I64, STC_F64};
    arena a;
    int bound = 0, wrong = 0;
    stc_type shown = STC_I64;
    bool is_wrong;
    if (ways_left_out(d->node->child[3], d->node->child[0]) < 2) return STC_OK;
    arena_init(&a, cx);
    for (int k = 0; k < 2 && wrong == bound && cx->diag.status != STC_ERR_MEMORY; k++) {
        if (!binds(&a, s, d, tried[k], &is_wrong)) continue;
        bound++;
        if (is_wrong) wrong++, shown = tried[k];
    }
    if (cx->diag.status != STC_ERR_MEMORY) {
        if (wrong && wrong == bound)
            binds(&a, s, d, shown, &is_wrong);
        else
            diag_clear(cx);
    }
    arena_free(&a);
    return cx->diag.status;
}
