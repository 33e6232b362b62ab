/* scatter.c: left sides whose rows are computed, as reads of computed rows.
 *
 * C(p(i),j) = A(i,j) names all of some rows of C, whatever of them A stores. Where C leaves
 * coordinates out, going through what is named costs more than what is stored. So p is
 * turned round first, last(p(i)) = i, which is -1 where p never leads; and the statement
 * becomes one over C's own rows, C(r,j) = A(last(r),j) where last(r) >= 0: of several
 * values for one element the last one stays, as written.
 *
 * A right side that reduces becomes a step before: so all that is left to read at last(r)
 * are operands.
 */
#include "opt.h"
#include <string.h>

enum { WRITTEN = 3, READ = 6 }; /* what an element costs that is named; an entry's read */

/* The loop that alone decides a subscript of the left side, from 0 on; -1: there is none.
 */
static int decided_by(const program *p, const bstmt *s, int m)
{
    const affine *f = &s->sub[m];
    if (!affine_is_bare(f)) return -1;
    const bexpr *const of = s->index[f->term[0].index].value;
    const uint64_t from =
        of ? indices_made_of(p, s, opt_indices(p, of)) : affine_indices(f);
    const int index = __builtin_popcountll(from) == 1 ? __builtin_ctzll(from) : -1;
    return index >= 0 && s->index[index].lo < 0 ? index : -1;
}

/* Whether i isn't a part of sums in e's subscripts, and of none that is computed. */
static bool reads_bare(const program *p, const bexpr *e, int i)
{
    for (int m = 0; e->kind == B_ACCESS && m < p->tensor[e->tensor].order; m++)
        if ((affine_indices(&e->sub[m]) >> i) & 1 && !affine_is_bare(&e->sub[m]))
            return false;
    if (e->kind == B_ACCESS && e->nargs) return false;
    for (int k = 0; k < e->nargs; k++)
        if (!reads_bare(p, e->args[k], i)) return false;
    return true;
}

bool scatter_may(const program *p, const bstmt *s)
{
    uint64_t seen = 0;
    if (!s->computed || s->op >= 0 || s->mask || s->schedule || s->fresh || s->nsub < 2 ||
        s->nindex + s->nsub > BOUND_INDICES ||
        format_stores_all(&p->tensor[s->target].fmt) || p->tensor[s->target].fill_later ||
        expr_may_fault(s->value))
        return false;
    for (int m = 0; m < s->nsub; m++) {
        const int i = decided_by(p, s, m);
        if (i < 0 || (seen >> i) & 1) return false;
        if (s->index[s->sub[m].term[0].index].value && !reads_bare(p, s->value, i))
            return false;
        seen |= UINT64_C(1) << i;
    }
    return true;
}

/* ---- what leads to a place last ---------------------------------------------------- */

/* A step that says, of each coordinate of the target's mode, which value of index i names
 * it last; -1: none. It is read at `own`. */
static bexpr *last_step(opt *o, int m, int i, int own)
{
    bstmt *s = o->s;
    prog_tensor t = {.type = STC_I64, .order = 1, .fill = {.i64 = -1}};
    t.shape[0] = (uint16_t)s->index[own].hi;
    format_all(&t.fmt, 1, level_full());
    const int slot = step_slot(o, t);
    affine *at = arena_array(o->a, 1, sizeof *at);
    bexpr *const which = expr_index(o->a, i, s->at);
    opt_step *const step = slot < 0 || !at || !which ? NULL : step_add(o, slot, at, which);
    if (!step) return NULL;
    *at = s->sub[m];
    step->s.whole = false;
    step->s.computed = true;
    step->s.meets = FN_LAST;
    step->stored = o->extent[own];
    step->visits = o->extent[i];
    return step_read(o, slot, &own, s->at);
}

/* at >= 0, and what the mask says so far. */
static bexpr *leads_there(opt *o, bexpr *at, bexpr *mask)
{
    bexpr *const zero = expr_int(o->a, 0, at->at);
    bexpr *const one = expr_call(o->a, FN_GE, STC_BOOL, CLASS_I64, at, zero);
    return mask ? expr_call(o->a, FN_AND, STC_BOOL, CLASS_I64, mask, one) : one;
}

/* ---- the statement over the target's rows ------------------------------------------- */

/* *at, and what is below, where index i has become one that is computed: `last` where its
 * value is read. */
static stc_status read_at(opt *o, bexpr **at, int i, const bexpr *last)
{
    bexpr *e = *at;
    if (e->kind == B_INDEX && e->index == i) {
        *at = copy_of(o, last);
        return *at ? STC_OK : STC_ERR_MEMORY;
    }
    for (int k = 0; e->kind != B_ACCESS && k < e->nargs; k++) {
        const stc_status st = read_at(o, &e->args[k], i, last);
        if (st) return st;
    }
    if (e->kind != B_ACCESS || !((opt_indices(o->p, e) >> i) & 1)) return STC_OK;
    *at = access_at(o, e, e->tensor, e->sub, o->p->tensor[e->tensor].order);
    if (!*at) return STC_ERR_MEMORY;
    (*at)->pad = true; /* nothing is where nothing leads */
    return STC_OK;
}

static stc_status turn_mode(opt *o, int m)
{
    bstmt *s = o->s;
    const int i = decided_by(o->p, s, m), own = own_index(o, s->target, m);
    bexpr *const last = own < 0 ? NULL : last_step(o, m, i, own);
    if (!last) return STC_ERR_MEMORY;
    bindex *index = step_own_indices(o, 0);
    affine *sub = arena_array(o->a, s->nsub, sizeof *sub);
    if (!index || !sub) return STC_ERR_MEMORY;
    memcpy(sub, s->sub, (size_t)s->nsub * sizeof *sub);
    index[i].value = last;
    sub[m] = affine_at(own);
    s->sub = sub;
    s->mask = leads_there(o, last, s->mask);
    return s->mask ? read_at(o, &s->value, i, last) : STC_ERR_MEMORY;
}

/* The part of its places that e may be something else than a fill in. */
static double part_of(const opt *o, const bexpr *e)
{
    value v;
    double sum = 0, least = 1;
    if (e->kind == B_ACCESS) return cost_density(o, e, &o->p->tensor[e->tensor].fill);
    for (int k = 0; k < e->nargs; k++) {
        const double part = part_of(o, e->args[k]);
        sum += part;
        for (int n = 0; e->kind == B_CALL && n < call_annihilators(e); n++)
            if (call_annihilator(e, n, k, &v) && part < least) least = part;
    }
    return e->nargs && sum < least ? sum : least;
}

/* Whether much more is named than both sides store. */
static bool scatter_pays(const opt *o)
{
    const bstmt *s = o->s;
    double named = 1, all = 1, part, n, along = 0;
    for (int m = 0; m < s->nsub; m++) {
        const double each = o->extent[decided_by(o->p, s, m)];
        named *= each;
        all *= stats_extent(o, s->target, m, &n) ? n : each;
        along += each;
    }
    if (!stats_density(o, s->target, &part)) part = all > 0 ? along / all : 0;
    const double stored = named * part_of(o, s->value);
    return opt_pays(READ * (stored + along + part * all), WRITTEN * named);
}

stc_status scatter_steps(opt *o)
{
    bstmt *s = o->s;
    if (!scatter_may(o->p, s)) return STC_OK;
    cost_extents(o);
    if (!scatter_pays(o)) return STC_OK;
    bexpr *own = gathered_copy(o, s->value);
    if (!own) return STC_ERR_MEMORY;
    s->value = own;
    for (int m = 0; m < s->nsub; m++) {
        if (!s->index[s->sub[m].term[0].index].value) continue;
        const stc_status st = turn_mode(o, m);
        if (st) return st;
    }
    s->computed = false;
    s->bare = true;
    return STC_OK;
}
