/* spread.c: an access's share of the derivative by its tensor: d_A(p(i), j) += …, the same
 * subscripts on the left as the access has. The first share of a whole tensor makes d_A;
 * others are added to it.
 *
 * d_A has A's format and type. Where A is sparse, it is computed at A's places only, by
 * `sampled` (or, where A has another fill than 0, where A isn't that).
 */
#include "inside.h"

#include <math.h>
#include <string.h>

bool grad_emit(grad *g, ast *left, ast_op op, ast *right, ast *mask)
{
    ast *assign = left && right ? tree_node(g, N_ASSIGN, 2) : NULL;
    ast *where = right && mask ? tree_node(g, N_WHERE, 2) : right;
    if (!assign || !where) return false;
    if (mask) {
        where->child[0] = right;
        where->child[1] = mask;
    }
    assign->op = (uint8_t)op;
    assign->child[0] = left;
    assign->child[1] = where;
    ast_write(assign, g->out);
    text_add(g->out, "\n");
    return !g->out->failed;
}

/* ---- where ---------------------------------------------------------------------- */

static const scope_tensor *entry(const grad *g, const char *name)
{
    return scope_find_tensor(g->job->sc, name);
}

static bool is_sparse(const scope_tensor *t)
{
    return t->order > 0 && !format_stores_all(&t->fmt);
}

static bool is_asked(const grad *g, const char *name)
{
    for (int k = 0; k < g->job->nby; k++)
        if (!strcmp(g->job->by[k], name)) return true;
    return false;
}

/* Whether the derivative lives where the tensor is stored. One that isn't asked for, and
 * has another fill, is computed everywhere. */
static bool is_sampled(const grad *g, const char *name)
{
    const scope_tensor *const t = entry(g, name);
    return is_sparse(t) &&
           (class_is_zero(type_class(t->type), t->fill) || is_asked(g, name));
}

/* e where x, an element of the tensor, is stored. */
static ast *sampled(grad *g, const char *name, ast *x, ast *e)
{
    const scope_tensor *const t = entry(g, name);
    const vclass cls = type_class(t->type);
    if (!is_sampled(g, name)) return e;
    if (class_is_zero(cls, t->fill)) return tree_call(g, "sampled", (ast *[]){x, e}, 2);
    const double fill = class_convert(CLASS_F64, cls, t->fill).f64;
    ast *const is = isnan(fill) ? tree_unary(g, OPR_NOT, tree_call(g, "isnan", &x, 1))
                                : tree_binary(g, OPR_NE, x, tree_number(g, fill));
    return tree_select(g, is, e, tree_number(g, 0));
}

/* A's format and type are its derivative's. */
static void declare(grad *g, const adjoint *to)
{
    const scope_tensor *const t = entry(g, to->of);
    text_add(g->out, "tensor %s ", to->name);
    if (t->order > 0 && t->fmt.levels && (!is_sparse(t) || is_sampled(g, to->of)))
        format_print(&t->fmt, g->out);
    else
        text_add(g->out, "dense");
    text_add(g->out, " %s\n", type_name(t->type));
}

/* ---- the statement -------------------------------------------------------------- */

/* Both of a tensor and its derivative over all indices. */
static bool over_all(grad *g, const adjoint *a, ast **x, ast **left)
{
    ast *sub[STC_MAX_ORDER];
    const int n = entry(g, a->of)->order;
    for (int k = 0; k < n; k++)
        sub[k] = tree_name(g, grad_name(g, "m", (char[]){(char)('a' + k), 0}));
    *x = n > 0 ? tree_call(g, a->of, sub, n) : tree_name(g, a->of);
    *left = n > 0 ? tree_call(g, a->name, sub, n) : tree_name(g, a->name);
    if (*x) (*x)->op = ACCESS;
    return *x && *left;
}

bool spread_tighten(grad *g, adjoint *a)
{
    ast *x, *left;
    if (!a->loose) return true;
    a->loose = false;
    return over_all(g, a, &x, &left) &&
           grad_emit(g, left, OPR_NONE, sampled(g, a->of, x, left), NULL);
}

bool spread_zero(grad *g, adjoint *to)
{
    ast *x, *left;
    const int n = entry(g, to->of)->order;
    declare(g, to);
    ast *const zero = tree_number(g, to->one);
    if (!over_all(g, to, &x, &left)) return false;
    ast *const right = n <= 0 ? zero
                       : is_sampled(g, to->of)
                           ? sampled(g, to->of, x, zero)
                           : tree_call(g, "last", (ast *[]){x, zero}, 2);
    to->exists = true;
    to->one = false;
    return grad_emit(g, left, OPR_NONE, right, NULL);
}

/* Bare, each another index with the tensor's own range: whether the access is of a whole
 * tensor. */
static bool is_whole(const grad *g, const bexpr *e, int n)
{
    uint64_t seen = 0;
    for (int k = 0; k < n; k++) {
        const affine *const f = &e->sub[k];
        if (f->terms != 1 || f->term[0].coef != 1 || f->constant ||
            g->step->st->index[f->term[0].index].value || seen >> f->term[0].index & 1 ||
            range_is_given(g, f->term[0].index))
            return false;
        seen |= 1ull << f->term[0].index;
    }
    return !e->pad;
}

static uint64_t bare_indices(const bexpr *e, int n)
{
    uint64_t set = 0;
    for (int k = 0; k < n; k++)
        if (affine_is_bare(&e->sub[k])) set |= 1ull << e->sub[k].term[0].index;
    return set;
}

/* The left side. A subscript of several indices may name an element several times: that is
 * allowed of computed ones, so that it is written as one. */
static ast *left_side(grad *g, const char *name, const bexpr *e, int n)
{
    ast *sub[STC_MAX_ORDER];
    if (!n) return tree_name(g, name);
    for (int k = 0; k < n; k++) {
        sub[k] = value_subscript(g, &e->sub[k]);
        const bool plain = e->sub[k].terms == 1 && !e->pad;
        if (sub[k] && !plain) sub[k] = tree_call(g, "i64", &sub[k], 1);
    }
    return tree_call(g, name, sub, n);
}

static bool reads(const ast *e)
{
    bool found = e->kind == N_CALL && e->op == ACCESS;
    for (int k = 0; k < e->count && !found; k++)
        found = reads(e->child[k]);
    return found;
}

static bool divides(const ast *e)
{
    bool found = e->kind == N_BINARY && e->op == OPR_DIV && reads(e->child[1]);
    for (int k = 0; k < e->count && !found; k++)
        found = divides(e->child[k]);
    return found;
}

/* A share as a tensor of its own. A quotient is 0 where its dividend isn't stored; added
 * to what is everywhere, or asked for at another tensor's places, it would be computed
 * there, as 0 / 0. */
static ast *share_apart(grad *g, const bexpr *e, int n, ast *x, ast *d)
{
    const char *const of = value_tensor(g, e->tensor), *const name =
                                                           grad_name(g, "share_", of);
    if (!name) return NULL;
    if (is_sampled(g, of))
        d = tree_binary(g, OPR_MUL, sampled(g, of, x, tree_number(g, 1)), d);
    ast *const share = left_side(g, name, e, n);
    if (!share || !grad_emit(g, share, OPR_NONE, d, NULL)) return NULL;
    share->op = ACCESS;
    return share;
}

/* Of `pad A(i+j-1)`, whether it lies inside: a tensor that is true everywhere, and padded
 * with false. */
static ast *inside(grad *g, const bexpr *e, int n)
{
    ast *sub[STC_MAX_ORDER], *own[STC_MAX_ORDER];
    const char *const of = value_tensor(g, e->tensor), *const name =
                                                           grad_name(g, "in_", of);
    for (int k = 0; k < n; k++) {
        own[k] = tree_name(g, grad_name(g, "m", (char[]){(char)('a' + k), 0}));
        sub[k] = value_subscript(g, &e->sub[k]);
    }
    ast *const x = tree_call(g, of, own, n);
    ast *const last = tree_call(g, "last", (ast *[]){x, tree_number(g, 1)}, 2);
    ast *const truth = last ? tree_call(g, "bool", (ast *[]){last}, 1) : NULL;
    ast *const pad = tree_node(g, N_PAD, 1);
    text_add(g->out, "tensor %s dense bool fill false\n", name ? name : "");
    if (!pad || !name || !grad_emit(g, tree_call(g, name, own, n), OPR_NONE, truth, NULL))
        return NULL;
    pad->child[0] = tree_call(g, name, sub, n);
    return pad->child[0] ? pad : NULL;
}

bool spread_access(grad *g, const bexpr *e, ast *d, uint64_t over)
{
    const char *const name = value_tensor(g, e->tensor);
    const int n = g->step->p->tensor[e->tensor].order;
    const bool own = e->tensor == g->step->st->target ||
                     !strcmp(name, value_tensor(g, g->step->st->target));
    adjoint *const to = own ? g->old : adjoint_find(g, name);
    if (!to)
        return grad_refuse(g, e->at,
                           "the derivative by what %s was before a part of it is assigned "
                           "isn't known; give the result another name",
                           name);
    const bool whole = is_whole(g, e, n);
    if ((to->one || (!to->exists && !whole)) && !spread_zero(g, to)) return false;
    const bool first = !to->exists;
    uint64_t own_indices = value_sub_indices(g, e->sub, n);
    ast *const left = left_side(g, to->name, e, n);
    for (uint64_t more = ~own_indices; more; own_indices |= more) /* `+=` sums over these */
        more = range_needs(g, over & own_indices) & ~own_indices;
    d = range_reduce(g, "sum", over & ~own_indices, d, left);
    const bool apart = whole && n && (!first || is_sampled(g, name)) && divides(d);
    d = range_keep(g, d, over & own_indices,
                   first || apart || e->pad ? 0 : bare_indices(e, n), left);
    ast *const x = d ? value_access(g, e->tensor, e->sub, e->pad) : NULL;
    if (!x || (apart && !(d = share_apart(g, e, n, x, d)))) return false;
    if (first) declare(g, to);
    to->exists = true;
    if (whole || !(is_sampled(g, name) || e->pad))
        return grad_emit(g, left, first ? OPR_NONE : OPR_ADD, sampled(g, name, x, d), NULL);
    /* of elements that are named one by one, more might be stored */
    to->loose |= is_sampled(g, name);
    ast *const mask =
        is_sampled(g, name) ? sampled(g, name, x, tree_number(g, 1)) : inside(g, e, n);
    return mask && grad_emit(g, left, OPR_ADD, d, mask);
}
