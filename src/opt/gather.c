/* gather.c: operands whose rows are searched for subscripts that are computed.
 *
 * In C(i,j) = A(i,p(j)) with rows that store some of their coordinates, loops over i and j
 * would search each row for each p(j), whatever is stored there. So what is read becomes a
 * step, t(j,i) = A(i,p(j)), that has the computed subscript's index above all else: its
 * loops go through all of p(j)'s column, which takes a copy of A by columns. With several
 * such subscripts there is a step for each, A's outer levels first: rows that nothing picks
 * aren't read any more by the second.
 *
 * A step reads p everywhere. So what is read only where something else is stored, or in a
 * side that may not be taken, stays as it is: p may lie outside where nothing reads it.
 */
#include "opt.h"

enum { SEARCHED = 3, TURNED = 6 }; /* what a search costs, and an entry of a copy */

uint64_t indices_made_of(const program *p, const bstmt *s, uint64_t set)
{
    uint64_t out = 0;
    for (; set; set &= set - 1) {
        const int k = __builtin_ctzll(set);
        const bexpr *const of = s->index[k].value;
        out |= of ? indices_made_of(p, s, opt_indices(p, of)) : UINT64_C(1) << k;
    }
    return out;
}

static uint64_t made_of_mode(const program *p, const bstmt *s, const bexpr *e, int m)
{
    return indices_made_of(p, s, affine_indices(&e->sub[m]));
}

/* The value of a subscript that is computed, NULL: it isn't. */
static const bexpr *computed_at(const bstmt *s, const affine *f)
{
    return f->terms ? s->index[f->term[0].index].value : NULL;
}

/* The index that alone decides a subscript that is computed, if no other mode has it, and
 * it runs from 0; -1: there is none. */
static int picks(const program *p, const bstmt *s, const bexpr *e, int m)
{
    const uint64_t from = made_of_mode(p, s, e, m);
    if (!computed_at(s, &e->sub[m]) || __builtin_popcountll(from) != 1) return -1;
    const int index = __builtin_ctzll(from);
    for (int k = 0; k < p->tensor[e->tensor].order; k++)
        if (k != m && made_of_mode(p, s, e, k) & from) return -1;
    return s->index[index].lo < 0 ? index : -1;
}

/* The modes of a format in the order of its levels. */
static int modes_in_order(const format *f, int *mode)
{
    unsigned seen = 0;
    int n = 0;
    for (int l = 0; l < f->levels; l++) {
        const int m = f->level[l].map.mode;
        if (!((seen >> m) & 1)) mode[n++] = m;
        seen |= 1u << m;
    }
    return n;
}

/* Whether the result's levels have another of e's indices above the one that picks mode m:
 * loops go that way, whatever the order of e's own. */
static bool written_inside(const program *p, const bstmt *s, const bexpr *e, int m)
{
    const format *f = &p->tensor[s->target].fmt;
    const int index = picks(p, s, e, m);
    uint64_t other = 0;
    for (int k = 0; k < p->tensor[e->tensor].order; k++)
        if (k != m) other |= made_of_mode(p, s, e, k);
    for (int l = 0; s->format_given && l < f->levels; l++) {
        const affine *at = &s->sub[f->level[l].map.mode];
        if ((affine_indices(at) >> index) & 1) return false;
        if (affine_indices(at) & other) return true;
    }
    return false;
}

/* The first mode, as levels go, with a subscript that is computed; *searched: one that
 * follows loops over something else is there. -1: they can't be taken out. */
static int first_picked(const program *p, const bstmt *s, const bexpr *e, bool *searched)
{
    const prog_tensor *t = &p->tensor[e->tensor];
    int mode[STC_MAX_ORDER], first = -1;
    uint64_t above = 0;
    *searched = false;
    if (modes_in_order(&t->fmt, mode) < t->order) return -1;
    for (int k = 0; k < t->order; k++) {
        const uint64_t from = made_of_mode(p, s, e, mode[k]);
        if (computed_at(s, &e->sub[mode[k]])) {
            if (picks(p, s, e, mode[k]) < 0) return -1;
            if (first < 0) first = mode[k];
            *searched |= above & ~from || written_inside(p, s, e, mode[k]);
        }
        above |= from;
    }
    return first;
}

static bool searches(const program *p, const bstmt *s, const bexpr *e)
{
    bool searched;
    return e->kind == B_ACCESS && e->nargs && stores_some(p, e) &&
           !p->tensor[e->tensor].fill_later && first_picked(p, s, e, &searched) >= 0 &&
           searched;
}

static bool any_searches(const program *p, const bstmt *s, const bexpr *e)
{
    if (searches(p, s, e)) return true;
    for (int k = 0; k < e->nargs; k++)
        if (any_searches(p, s, e->args[k])) return true;
    return false;
}

bool gather_may(const program *p, const bstmt *s)
{
    return !s->schedule && s->nindex <= BOUND_INDICES && expr_gathers(s->value) &&
           any_searches(p, s, s->value);
}

/* ---- steps ------------------------------------------------------------------------- */

int own_index(opt *o, int slot, int m)
{
    bstmt *s = o->s;
    const int hi = program_extent(
        o->p, (extent){.op = EXT_DIM, .a = (uint16_t)slot, .b = (uint16_t)m});
    bindex *own = hi < 0 ? NULL : step_own_indices(o, 1);
    if (!own) return -1;
    own[s->nindex] = (bindex){.name = "m", .lo = -1, .hi = hi, .at = s->at};
    o->extent[s->nindex] = cost_extent(o, &own[s->nindex]);
    return s->nindex++;
}

/* The index of another mode's loop in the step: what stands there, if it is bare and there
 * alone, or one over all of the mode. */
static int other_index(opt *o, const bexpr *e, int m, uint64_t *taken)
{
    const affine *f = &e->sub[m];
    const int index = f->terms ? f->term[0].index : 0;
    const bool bare = affine_is_bare(f) && o->s->index[index].lo < 0 &&
                      !o->s->index[index].value && !((*taken >> index) & 1);
    const int out = bare ? index : own_index(o, e->tensor, m);
    if (out >= 0) *taken |= UINT64_C(1) << out;
    return out;
}

/* The row of what a step reads: e's tensor, with mode `first` above all, and the others as
 * they were; index: of each mode. */
static int gathered_slot(opt *o, const bexpr *e, int first, const int *index)
{
    const prog_tensor *from = &o->p->tensor[e->tensor];
    int mode[STC_MAX_ORDER];
    prog_tensor t = {.type = from->type, .order = from->order, .fill = from->fill};
    format_all(&t.fmt, t.order, level_sparse());
    format_set(&t.fmt, 0, level_full(), first, 0);
    modes_in_order(&from->fmt, mode);
    for (int k = 0, l = 1; k < t.order; k++) {
        t.shape[k] = (uint16_t)o->s->index[index[k]].hi;
        if (mode[k] != first) format_set(&t.fmt, l++, level_sparse(), mode[k], 0);
    }
    return step_slot(o, t);
}

bexpr *access_at(opt *o, const bexpr *e, int slot, affine *sub, int order)
{
    int n = 0;
    for (int k = 0; k < order; k++)
        n += computed_at(o->s, &sub[k]) != NULL;
    bexpr *out = expr_like(o->a, e, n);
    if (!out) return NULL;
    out->tensor = slot;
    out->sub = sub;
    for (int k = 0, at = 0; k < order; k++)
        if (computed_at(o->s, &sub[k]))
            out->args[at++] = (bexpr *)computed_at(o->s, &sub[k]);
    return out;
}

/* *at is read from a step that has mode `first` above all. */
static stc_status gather_mode(opt *o, bexpr **at, int first)
{
    const bexpr *const e = *at;
    const int order = o->p->tensor[e->tensor].order;
    int index[STC_MAX_ORDER];
    bool all_bare = true;
    affine *inside = arena_array(o->a, order, sizeof *inside);
    affine *read = arena_array(o->a, order, sizeof *read);
    affine *made = arena_array(o->a, order, sizeof *made);
    if (!inside || !read || !made) return STC_ERR_MEMORY;
    index[first] = picks(o->p, o->s, e, first);
    uint64_t taken = UINT64_C(1) << index[first];
    for (int m = 0; m < order; m++) {
        if (m != first && (index[m] = other_index(o, e, m, &taken)) < 0)
            return STC_ERR_MEMORY;
        made[m] = affine_at(index[m]);
        inside[m] = m == first ? e->sub[m] : made[m];
        read[m] = m == first ? made[m] : e->sub[m];
        all_bare &= affine_equal(&made[m], &read[m]);
    }
    const int slot = gathered_slot(o, e, first, index);
    bexpr *const right = slot < 0 ? NULL : access_at(o, e, e->tensor, inside, order);
    bexpr *const result = right ? access_at(o, e, slot, read, order) : NULL;
    opt_step *step = result ? step_add(o, slot, made, right) : NULL;
    if (!step) return STC_ERR_MEMORY;
    step->steady = keep_steady(o, right);
    step->stored = step->visits = cost_places(o, opt_indices(o->p, result)) *
                                  cost_density(o, e, &o->p->tensor[e->tensor].fill);
    result->pad = e->pad && !all_bare;
    *at = result;
    return STC_OK;
}

/* Whether loops that search visit much more than the operand stores, and the picks. */
static bool gather_pays(const opt *o, const bexpr *e)
{
    const uint64_t loops = indices_made_of(o->p, o->s, opt_indices(o->p, e));
    const prog_tensor *t = &o->p->tensor[e->tensor];
    double places = 1, picked = 0;
    for (int m = 0; m < t->order; m++) {
        double n = 1;
        if (!stats_extent(o, e->tensor, m, &n))
            n = cost_places(o, made_of_mode(o->p, o->s, e, m));
        if (computed_at(o->s, &e->sub[m])) picked += n;
        places *= n;
    }
    const double stored = places * cost_density(o, e, &t->fill);
    return opt_pays(TURNED * (stored + picked), SEARCHED * cost_places(o, loops));
}

/* Whether the statement's own loops go as a step's would. */
static bool is_all_alone(const opt *o, const bexpr *e, int first)
{
    const bstmt *s = o->s;
    const format *f = &o->p->tensor[s->target].fmt;
    const bexpr *v = s->value;
    while (v->kind == B_CONV)
        v = v->args[0];
    if (v != e || !s->bare || s->mask || f->levels != s->nsub || e->nargs > 1) return false;
    return s->sub[f->level[0].map.mode].term[0].index == picks(o->p, s, e, first);
}

static stc_status gather(opt *o, bexpr **at)
{
    bool searched;
    const int order = o->p->tensor[(*at)->tensor].order;
    int first = first_picked(o->p, o->s, *at, &searched);
    if (!gather_pays(o, *at) || is_all_alone(o, *at, first) ||
        o->s->nindex + order * order > BOUND_INDICES)
        return STC_OK;
    stc_status st = STC_OK;
    for (; (*at)->nargs && !st; first = first_picked(o->p, o->s, *at, &searched))
        st = gather_mode(o, at, first);
    return st;
}

/* ---- the way down ------------------------------------------------------------------- */

/* Whether operand k of a call is needed only where another, which leads there, stores
 * something. */
static bool is_led_to(const opt *o, const bexpr *e, int k)
{
    value v;
    for (int m = 0; e->kind == B_CALL && m < e->nargs; m++)
        for (int n = 0; m != k && n < call_annihilators(e); n++)
            if (call_annihilator(e, n, m, &v) && !any_searches(o->p, o->s, e->args[m]) &&
                cost_density(o, e->args[m], &v) < 1)
                return true;
    return false;
}

/* needed: wherever loops come. */
static stc_status visit(opt *o, bexpr **at, bool needed)
{
    if (searches(o->p, o->s, *at)) return needed || (*at)->pad ? gather(o, at) : STC_OK;
    bexpr *const e = *at;
    needed = needed && !may_settle(e);
    for (int k = 0; k < e->nargs; k++) {
        if (is_led_to(o, e, k)) continue;
        const stc_status st = visit(o, &e->args[k], needed && !expr_side_waits(e, k));
        if (st) return st;
    }
    return STC_OK;
}

bexpr *gathered_copy(opt *o, const bexpr *e)
{
    if (e->kind == B_ACCESS)
        return access_at(o, e, e->tensor, e->sub, o->p->tensor[e->tensor].order);
    bexpr *const c = expr_like(o->a, e, e->nargs);
    for (int k = 0; c && k < e->nargs; k++)
        if (!(c->args[k] = gathered_copy(o, e->args[k]))) return NULL;
    return c;
}

stc_status gather_steps(opt *o)
{
    if (!gather_may(o->p, o->s)) return STC_OK;
    bexpr *const own = gathered_copy(o, o->s->value);
    if (!own) return STC_ERR_MEMORY;
    cost_extents(o);
    o->s->value = own;
    return visit(o, &o->s->value, !o->s->mask);
}
