/* fn_check.c: what can be said of a function's definition before it is called:
 * its parameters, cases, properties and algebra make sense by themselves.
 */
#include "bind.h"

#include <string.h>

static stc_status bad(const source *src, const ast *at, const char *what)
{
    return fail_source(src, STC_ERR_PROGRAM, at->at, "%s", what);
}

static stc_status check_cases(const source *src, const ast *cases, int params)
{
    for (int i = 0; i < cases->count; i++) {
        const ast *const c = cases->child[i], *const pattern = c->child[0];
        if (pattern->count != params)
            return bad(src, c,
                       "a case has as many names and constants as the function has "
                       "parameters");
        for (int k = 0; k < params; k++) {
            const ast *const name = pattern->child[k];
            stc_type t;
            if (name->kind != N_NAME) {
                if (i + 1 == cases->count)
                    return bad(src, name,
                               "the last case has names only, so that there is always "
                               "one that is taken");
                const stc_status status = literal_type(src, name, &t);
                if (status != STC_OK) return status;
                continue;
            }
            for (int l = 0; l < k; l++)
                if (!strcmp(pattern->child[l]->name, name->name) &&
                    pattern->child[l]->kind == N_NAME)
                    return bad(src, name, "this name is in the case twice");
        }
    }
    return cases->count ? STC_OK : bad(src, cases, "the function has no case");
}

int fn_param_named(const ast *params, const char *name)
{
    for (int i = 0; i < params->count; i++)
        if (!strcmp(params->child[i]->name, name)) return i;
    return -1;
}

/* A derivative is made of numbers, operators, calls, the parameters, and f and d. */
static stc_status check_derivative(const source *src, const ast *e, const ast *params)
{
    const bool leaf = e->kind == N_INT || e->kind == N_REAL || e->kind == N_BOOL;
    if (e->kind == N_NAME && fn_param_named(params, e->name) < 0 && strcmp(e->name, "f") &&
        strcmp(e->name, "d"))
        return bad(src, e,
                   "expected a parameter, f (the function's value) or d (the derivative by "
                   "that)");
    if (!leaf && e->kind != N_NAME && e->kind != N_CALL && e->kind != N_UNARY &&
        e->kind != N_BINARY)
        return bad(src, e,
                   "a derivative is made of numbers, parameters, operators and calls of "
                   "functions");
    for (int i = 0; i < e->count; i++) {
        const stc_status status = check_derivative(src, e->child[i], params);
        if (status != STC_OK) return status;
    }
    return STC_OK;
}

/* derivative(e, p), with p counted from 0; of one parameter, derivative(e). */
static stc_status check_valued(const source *src, const ast *p, const ast *params)
{
    stc_type t;
    const bool derivative = !strcmp(p->name, "derivative");
    if (p->child[1] && p->child[1]->u >= (uint64_t)params->count)
        return bad(src, p->child[1],
                   "the function has no such argument (they are counted "
                   "from 0)");
    if (!derivative) return literal_type(src, p->child[0], &t);
    if (!p->child[1] && params->count > 1)
        return bad(src, p,
                   "a derivative is by one of the parameters, as in derivative(y, 0)");
    return check_derivative(src, p->child[0], params);
}

static stc_status check_properties(const source *src, const ast *props, const ast *params)
{
    for (int i = 0; props && i < props->count; i++) {
        const ast *const p = props->child[i];
        const bool valued = !strcmp(p->name, "annihilator") ||
                            !strcmp(p->name, "identity") || !strcmp(p->name, "derivative");
        const bool plain = !strcmp(p->name, "commutative") ||
                           !strcmp(p->name, "associative") ||
                           !strcmp(p->name, "idempotent");
        const bool over = !strcmp(p->name, "distributes");
        if (!valued && !plain && !over)
            return bad(src, p,
                       "this is no property of a function (commutative, associative, "
                       "idempotent, annihilator(v), identity(v), distributes(f), "
                       "derivative(e))");
        if (over && params->count != 2)
            return bad(src, p, "only a function of two has this property");
        if (plain && params->count < 2)
            return bad(src, p, "only a function of two or more has this property");
        if (over && !p->count)
            return bad(src, p, "this property names a function, as in distributes(min)");
        if (plain == (p->count > 0))
            return bad(src, p,
                       valued ? "this property has a value, as in identity(0)"
                              : "this property has no value");
        const stc_status status = valued ? check_valued(src, p, params) : STC_OK;
        if (status != STC_OK) return status;
    }
    return STC_OK;
}

static stc_status check_algebra(const source *src, const ast *e, const ast *params)
{
    stc_type t;
    if (e->kind == N_SET)
        return fn_param_named(params, e->name) < 0
                   ? bad(src, e, "a set names one of the function's parameters")
                   : literal_type(src, e->child[0], &t);
    for (int i = 0; i < e->count; i++) {
        const stc_status status = check_algebra(src, e->child[i], params);
        if (status != STC_OK) return status;
    }
    return STC_OK;
}

unsigned fn_property_flag(const ast *prop)
{
    if (prop->count) return 0;
    return prop->name[0] == 'c'   ? FP_COMMUTATIVE
           : prop->name[0] == 'a' ? FP_ASSOCIATIVE
                                  : FP_IDEMPOTENT;
}

stc_status fn_check_definition(const source *src, const ast *node)
{
    const ast *const params = node->child[0], *const body = node->child[1];
    if (params->count < 1 || params->count > FN_MAX_PARAMS)
        return bad(src, params, "a function has 1 to 8 parameters");
    for (int i = 0; i < params->count; i++)
        if (fn_param_named(params, params->child[i]->name) < i)
            return bad(src, params->child[i], "this parameter is there twice");
    stc_status status = STC_OK;
    if (body && body->kind == N_CASES) status = check_cases(src, body, params->count);
    if (status == STC_OK) status = check_properties(src, node->child[2], params);
    if (status == STC_OK && node->child[3])
        status = check_algebra(src, node->child[3], params);
    return status;
}
