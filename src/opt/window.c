/* window.c: sums over windows, one index after the other.
 *
 * Takes a product in which subscripts are sums of indices, as a separable filter has them:
 * y(i,j) = sum(a,b: I(i+a,j+b) * f(a) * g(b)). A step t(u,j) = sum(b: I(u,j+b) * g(b)) has
 * one index u for all that i+a can be, which is the dimension that it is a subscript of;
 * and y(i,j) = sum(a: t(i+a,j) * f(a)) reads it there. With i and a apart it would be
 * larger than what it saves. So i and a may occur in that sum alone in what the step reads,
 * and all of it is stored everywhere: windows of sparse operands have loops of their own.
 */
#include "opt.h"
#include <string.h>

enum { FORMS = 4 };

/* A step that reduces some indices of a product. */
typedef struct window {
    opt_part part;
    /* Sums of indices in it that become one index each, from `first` on. */
    affine form[FORMS];
    bindex index[FORMS];
    int n, first;
    uint64_t apart;       /* indices that occur elsewhere                 */
    double visits, after; /* by the step; by what is left                 */
} window;

/* One index for what an access' mode is subscripted with: all of the dimension. */
static bool add_form(opt *o, window *w, const bexpr *e, int m)
{
    const prog_tensor *t = &o->p->tensor[e->tensor];
    for (int k = 0; k < w->n; k++)
        if (affine_equal(&w->form[k], &e->sub[m])) return true;
    if (w->n == FORMS) return false;
    const extent size = {.op = EXT_DIM, .a = (uint16_t)e->tensor, .b = (uint16_t)m};
    bindex *i = &w->index[w->n];
    *i = o->s->index[e->sub[m].term[0].index];
    i->lo = -1;
    i->hi = t->role == ROLE_INPUT ? program_extent(o->p, size) : t->shape[m];
    w->form[w->n++] = e->sub[m];
    return i->hi >= 0;
}

/* False: e has what no step should have. */
static bool add_accesses(opt *o, window *w, const bexpr *e)
{
    if (e->kind == B_REDUCE || e->pad || e->waits) return false;
    if (e->kind == B_INDEX) w->apart |= UINT64_C(1) << e->index;
    for (int m = 0; e->kind == B_ACCESS && m < o->p->tensor[e->tensor].order; m++) {
        const affine *at = &e->sub[m];
        for (int t = 0; t < at->terms; t++)
            if (at->term[t].coef < 1) return false;
        if (at->terms < 2 || (affine_indices(at) & w->part.reduced))
            w->apart |= affine_indices(at);
        else if (!add_form(o, w, e, m))
            return false;
    }
    for (int k = 0; k < e->nargs; k++)
        if (!add_accesses(o, w, e->args[k])) return false;
    return true;
}

/* Ranges that begin at 0, and are known before the statement runs. */
static bool plain_ranges(const opt *o, uint64_t set)
{
    for (; set; set &= set - 1) {
        const bindex *i = &o->s->index[__builtin_ctzll(set)];
        if (i->lo >= 0 || i->value || o->p->ext[i->hi].op == EXT_SPAN) return false;
    }
    return true;
}

/* The step that reduces `group`; false: there is none. */
static bool step_of(opt *o, const product *x, uint64_t group, window *w)
{
    uint64_t met = 0, left = 0;
    *w = (window){
        .part = {.f = arena_array(o->a, x->n, sizeof *w->part.f), .reduced = group},
        .first = o->s->nindex};
    for (int k = 0; w->part.f && k < x->n; k++) {
        left |= x->factor[k].indices & ~group;
        if (!(x->factor[k].indices & group)) continue;
        w->part.f[w->part.n++] = x->factor[k];
        if (!x->factor[k].full || !add_accesses(o, w, x->factor[k].e)) return false;
    }
    double places = 1;
    for (int k = 0; k < w->n; k++) {
        const uint64_t in = affine_indices(&w->form[k]);
        if (in & (w->apart | met)) return false;
        met |= in;
        places *= cost_extent(o, &w->index[k]);
        w->part.out |= UINT64_C(1) << (w->first + k);
    }
    const uint64_t alone = w->apart & ~group;
    w->part.out |= alone;
    const double visits = places * cost_places(o, alone | group);
    w->visits = visits + cost_write(o, alone, 1) * places;
    w->after = cost_places(o, left);
    return w->part.f && w->part.out && w->first + w->n < BOUND_INDICES &&
           __builtin_popcountll(w->part.out) <= STC_MAX_ORDER &&
           plain_ranges(o, alone | group);
}

/* The step after which there is least left, of those for indices in the same factors. */
static bool best_step(opt *o, const product *x, window *best)
{
    bool found = false;
    window w;
    for (uint64_t set = x->reduced; set; set &= set - 1) {
        const int i = __builtin_ctzll(set);
        uint64_t group = x->reduced;
        for (int k = 0; k < x->n; k++) {
            const uint64_t in = x->factor[k].indices;
            group &= in >> i & 1 ? in : ~in;
        }
        if (group == x->reduced || !step_of(o, x, group, &w)) continue;
        if (found && w.visits + w.after >= best->visits + best->after) continue;
        *best = w;
        found = true;
    }
    return found;
}

/* Subscripts in e that are `from` become `to`. */
static void subscribe(const program *p, bexpr *e, const affine *from, const affine *to)
{
    for (int m = 0; e->kind == B_ACCESS && m < p->tensor[e->tensor].order; m++)
        if (affine_equal(&e->sub[m], from)) e->sub[m] = *to;
    for (int k = 0; k < e->nargs; k++)
        subscribe(p, e->args[k], from, to);
}

static bool add_indices(opt *o, const window *w)
{
    bstmt *s = o->s;
    bindex *all = step_own_indices(o, w->n);
    if (!all) return false;
    for (int k = 0; k < w->n; k++) {
        o->extent[s->nindex] = cost_extent(o, &w->index[k]);
        all[s->nindex++] = w->index[k];
    }
    return true;
}

/* e with the sums as indices, or (back) these as sums again; NULL: no memory. */
static const bexpr *renamed(opt *o, const window *w, const bexpr *e, bool back)
{
    bexpr *c = copy_of(o, e);
    for (int k = 0; c && k < w->n; k++) {
        const affine one = affine_at(w->first + k);
        subscribe(o->p, c, back ? &one : &w->form[k], back ? &w->form[k] : &one);
    }
    return c;
}

/* *at becomes what is left after the step. */
static stc_status take_window(opt *o, product *x, window *w, bexpr **at)
{
    product *own = arena_room(o->a, 1, sizeof *own);
    factor result;
    if (!own || !add_indices(o, w) || !step_room(o, 1)) return STC_ERR_MEMORY;
    *own = *x;
    own->n = w->part.n;
    for (int k = 0; k < w->part.n; k++) {
        factor *f = &w->part.f[k];
        if (!(f->e = renamed(o, w, f->e, false))) return STC_ERR_MEMORY;
        f->indices = opt_indices(o->p, f->e);
        own->factor[k] = *f;
    }
    const stc_status st = make_step(o, own, &w->part, &result);
    if (st) return st;
    if (!(result.e = renamed(o, w, result.e, true))) return STC_ERR_MEMORY;
    opt_part rest = {.f = own->factor, .reduced = x->reduced & ~w->part.reduced};
    rest.f[rest.n++] = result;
    for (int k = 0; k < x->n; k++)
        if (!(x->factor[k].indices & w->part.reduced)) rest.f[rest.n++] = x->factor[k];
    bexpr *left = expression(o, x, &rest);
    if (!left) return STC_ERR_MEMORY;
    *at = left;
    return type_is_integer(class_type(x->r->cls))
               ? STC_OK
               : narrow(o, w->part.reduced, rest.reduced);
}

stc_status windows(opt *o, bexpr **at)
{
    stc_status st = STC_OK;
    window w;
    while (!st && !o->pattern && has_window(o->p, *at)) {
        product *x = arena_room(o->a, 1, sizeof *x);
        if (!x) return STC_ERR_MEMORY;
        if (!windows_of(o, *at, x) || !best_step(o, x, &w)) break;
        uint64_t all = 0;
        for (int k = 0; k < x->n; k++)
            all |= x->factor[k].indices;
        if (!opt_pays(w.visits + w.after, cost_places(o, all))) break;
        st = take_window(o, x, &w, at);
    }
    return st;
}
