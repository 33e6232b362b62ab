/* grad.c: derivatives by reverse mode: the statements are gone through once from the first
 * to the last, for what depends on what is asked for, and once back, for the derivatives.
 */
#include "inside.h"

#include <string.h>

static const char *target_of(const grad_step *s)
{
    return s->p->tensor[s->st->target].name;
}

static bool is_asked(const grad_job *job, const char *name)
{
    for (int k = 0; k < job->nby; k++)
        if (!strcmp(job->by[k], name)) return true;
    return false;
}

static adjoint *add_adjoint(grad *g, const char *of)
{
    adjoint *a = adjoint_find(g, of);
    if (a) return a;
    if (!(a = arena_alloc(g->a, sizeof *a))) return NULL;
    a->of = of;
    if (!(a->name = grad_name(g, "d_", of))) return NULL;
    a->next = g->adjoint;
    g->adjoint = a;
    return a;
}

/* ---- forth ---------------------------------------------------------------------- */

static void enter_step(grad *g, int k)
{
    g->at = k;
    g->step = &g->job->step[k];
    g->index = NULL;
    g->open = 0;
    g->old = NULL;
    g->local = NULL;
}

static void mark_used(grad *g, const bexpr *e)
{
    if (e->kind == B_ACCESS && is_active(e))
        for (int k = 0; k < g->job->nby; k++)
            g->job->used[k] |= !strcmp(g->job->by[k], value_tensor(g, e->tensor));
    for (int k = 0; k < e->nargs; k++)
        mark_used(g, e->args[k]);
}

static bool forth(grad *g)
{
    for (int k = 0; k < g->job->steps; k++) {
        enter_step(g, k);
        const prog_tensor *const row = &g->step->p->tensor[g->step->st->target];
        if (is_asked(g->job, row->name)) continue;
        const bool active = active_mark(g, g->step->st->value);
        if (g->failed) return false;
        if (!active) continue;
        mark_used(g, g->step->st->value);
        if (!type_is_float(row->type) || type_is_complex(row->type))
            return grad_refuse(g, g->step->st->at,
                               "%s is %s; there are derivatives of real "
                               "numbers only",
                               row->name, type_name(row->type));
        if (!add_adjoint(g, row->name)) return false;
    }
    return true;
}

/* ---- back ----------------------------------------------------------------------- */

/* A name for each index, that no other of the statement and no tensor has. */
static bool name_indices(grad *g)
{
    const bstmt *const st = g->step->st;
    if (st->nindex > BOUND_INDICES)
        return grad_refuse(
            g, st->at,
            "derivatives are of statements with at most %d indices; split it "
            "in two",
            BOUND_INDICES);
    const char **const name = arena_array(g->a, st->nindex + 1, sizeof *name);
    if (!(g->index = name)) return false;
    for (int i = 0; i < st->nindex; i++) {
        bool same = scope_find_tensor(g->job->sc, st->index[i].name) != NULL;
        for (int k = 0; k < i && !same; k++)
            same = name[k] && !strcmp(name[k], st->index[i].name);
        for (const taken *t = g->taken; t && !same; t = t->next)
            same = !strcmp(t->name, st->index[i].name);
        if (st->index[i].value) continue;
        name[i] = same ? grad_name(g, "", st->index[i].name) : st->index[i].name;
        if (!name[i]) return false;
    }
    return true;
}

static ast *left_again(grad *g, const adjoint *a)
{
    return spread_read(g, (adjoint *)a, g->step->st->sub, g->step->st->nsub);
}

/* What is written to the elements that the left side names, and to no others. */
static bool write_again(grad *g, const adjoint *a, ast *e, ast *mask)
{
    return grad_emit(g, left_again(g, a), OPR_NONE, range_keep(g, e, g->open, 0, NULL),
                     mask);
}

static ast *own_value(grad *g)
{
    const bstmt *const st = g->step->st;
    if (!value_kept(g, target_of(g->step), g->at + 1, st->at)) return NULL;
    return value_access(g, st->target, st->sub, false);
}

/* The whole tensor is new: what it was before has a derivative of its own. */
static bool back_whole(grad *g, adjoint *a)
{
    const bstmt *const st = g->step->st;
    adjoint before = {.of = a->of, .name = grad_name(g, "d_", a->of)};
    ast *const d = left_again(g, a);
    if (!d || !before.name) return false;
    g->old = &before;
    if (!chain_down(g, st->value, d, g->open)) return false;
    a->name = before.name;
    a->exists = before.exists;
    a->one = false;
    a->loose = before.loose;
    return true;
}

/* Some elements are new; the others go on to what was before. */
static bool back_part(grad *g, adjoint *a, ast *d, ast *mask)
{
    const bstmt *const st = g->step->st;
    if (st->computed)
        return grad_refuse(g, st->at,
                           "%s is assigned at computed subscripts, of which the last one "
                           "stays; only `+=` and `-=` have a derivative there",
                           a->of);
    if (!chain_down(g, st->value, d, g->open)) return false;
    return g->step->begins || write_again(g, a, tree_number(g, 0), mask);
}

/* Whether e is what is in y now. Sums that are taken again may be rounded otherwise. */
static ast *attains(grad *g, ast *e, ast *y)
{
    const bool single = g->step->p->tensor[g->step->st->target].type == STC_F32;
    if (!y || !ast_reduction(e)) return tree_binary(g, OPR_EQ, e, y);
    ast *const off = tree_binary(g, OPR_SUB, e, y);
    ast *const near = off ? tree_call(g, "abs", (ast *[]){off}, 1) : NULL;
    ast *const size = tree_call(g, "abs", (ast *[]){y}, 1);
    return tree_binary(
        g, OPR_LE, near,
        tree_binary(g, OPR_MUL, tree_number(g, single ? 1e-5 : 1e-10), size));
}

/* y min= e, y *= e: the share of what was before, which stays in d_y. */
static bool back_other(grad *g, adjoint *a, ast *d, ast *mask)
{
    const bstmt *const st = g->step->st;
    const bool picks =
        st->op == FN_MIN || st->op == FN_MAX || st->op == FN_FMIN || st->op == FN_FMAX;
    const bool active = is_active(st->value);
    ast *const zero = tree_number(g, 0), *rest;
    ast *const now = value_of(g, st->value);
    if (st->computed || (!picks && st->op != FN_DIV && (st->op != FN_MUL || active)))
        return grad_refuse(
            g, st->at, "`%s=` has no derivative here; write %s = %s … with another name",
            fn_at(st->op)->symbol ? fn_at(st->op)->symbol : fn_at(st->op)->name, "new",
            a->of);
    if (!now) return false;
    ast *is = NULL, *part = NULL;
    if (picks) {
        is = attains(g, now, own_value(g));
        part = tree_select(g, is, d, zero);
    } else if (active) {
        part = tree_unary(g, OPR_NEG,
                          tree_binary(g, OPR_DIV, tree_times(g, d, own_value(g)), now));
    }
    if (active && (!part || !chain_down(g, st->value, part, g->open))) return false;
    ast *const own = left_again(g, a);
    rest = picks              ? tree_select(g, is, zero, own)
           : st->op == FN_MUL ? tree_times(g, own, now)
                              : tree_binary(g, OPR_DIV, own, now);
    return g->step->begins || write_again(g, a, rest, mask);
}

static bool back_step(grad *g, adjoint *a)
{
    const bstmt *const st = g->step->st;
    if (!name_indices(g)) return false;
    g->open = value_sub_indices(g, st->sub, st->nsub);
    if (st->whole && st->op < 0) return back_whole(g, a);
    const bool adds = st->op == FN_ADD || st->op == FN_SUB;
    if (a->one && !(adds && !st->mask) && !spread_zero(g, a)) return false;
    ast *const mask = st->mask ? value_of(g, st->mask) : NULL;
    ast *d = left_again(g, a);
    if (mask) d = tree_select(g, mask, d, tree_number(g, 0));
    if (!d || (st->mask && !mask)) return false;
    if (st->op < 0) return back_part(g, a, d, mask);
    if (!adds) return back_other(g, a, d, mask);
    return chain_down(g, st->value, st->op == FN_SUB ? tree_unary(g, OPR_NEG, d) : d,
                      g->open);
}

static bool back(grad *g)
{
    for (int k = g->job->steps - 1; k >= 0; k--) {
        enter_step(g, k);
        adjoint *const a = adjoint_find(g, target_of(g->step));
        if (!a || is_asked(g->job, a->of) || !(a->exists || a->one)) continue;
        if (!spread_tighten(g, a) || !back_step(g, a)) return false;
    }
    return true;
}

static bool write_all(grad *g)
{
    grad_job *const job = g->job;
    for (int k = 0; k < job->nby; k++)
        if (!add_adjoint(g, job->by[k])) return false;
    if (!forth(g)) return false;
    adjoint *const whole =
        adjoint_find(g, job->of ? job->of : target_of(&job->step[job->steps - 1]));
    if (whole) whole->one = true;
    if (!back(g)) return false;
    for (int k = 0; k < job->nby; k++) {
        adjoint *const a = adjoint_find(g, job->by[k]);
        job->result[k] = a->name;
        if (!a->exists && !spread_zero(g, a)) return false;
        if (!spread_tighten(g, a)) return false;
    }
    return true;
}

stc_status grad_write(ctx *cx, grad_job *job, textbuf *out)
{
    grad g = {.cx = cx, .a = job->a, .job = job, .out = out};
    enter_step(&g, job->steps - 1);
    if (write_all(&g) && !out->failed) return STC_OK;
    return cx->diag.status;
}
