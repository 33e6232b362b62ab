/* rewrite.c: which reductions of a statement become steps.
 *
 * Goes down from the right side. A reduction of several indices is taken apart where the
 * best order of steps visits much less than its loops as written (eliminate.c). What is
 * left, or has one index, becomes a step as a whole where it isn't a term of the
 * right side, but an operand of something else, as in max(sum(j: A(i,j) * X(j,k)), 0):
 * there it would be computed for each place apart, along rows that aren't stored as
 * rows. As a statement of its own it has the order of loops that suits it.
 */
#include "opt.h"

static const double pays = 0.6, small = 5000;

bool opt_pays(double steps, double written)
{
    return written > small && steps < pays * written;
}

/* From the right side down to a node. */
typedef struct way {
    int combiner;   /* what all above combine terms with; -1: nothing does         */
    bool top;       /* nothing but conversions is above                            */
    bool settles;   /* a reduction is above that may end before its last term      */
    bool blind;     /* it doesn't matter which of its places had a term            */
    double density; /* the part of the result's places at which it is computed     */
} way;

/* ---- a reduction for each place ----------------------------------------------------- */

uint64_t left_of(const product *x)
{
    uint64_t out = 0;
    for (int k = 0; k < x->n; k++)
        out |= x->factor[k].indices;
    return out & ~x->reduced;
}

/* The indices at whose places what has those of `out` is computed, loops being as the
 * result's levels are: all down to the last of them. */
static uint64_t computed_at(const opt *o, uint64_t out)
{
    const bstmt *s = o->s;
    const format *f = &o->p->tensor[s->target].fmt;
    uint64_t at = 0;
    for (int l = 0; l < s->nsub && (out & ~at); l++) {
        if (l < f->levels && f->level[l].map.op != MAP_MODE) return out;
        at |= affine_indices(&s->sub[l < f->levels ? f->level[l].map.mode : l]);
    }
    return at | out;
}

/* kept: it is computed once for the rounds of a loop. */
static bool pays_apart(const opt *o, const product *x, const way *w, bool kept)
{
    const uint64_t out = left_of(x);
    bool full = !o->pattern;
    for (int k = 0; k < x->n; k++)
        full = full && x->factor[k].full;
    if (!out && (o->pattern || !kept)) return false;
    if (__builtin_popcountll(out) > STC_MAX_ORDER) return false;
    for (uint64_t set = out; set; set &= set - 1)
        if (o->s->index[__builtin_ctzll(set)].lo >= 0) return false;
    const double inside = cost_places(o, computed_at(o, out)) * w->density;
    const double density = full ? 1 : cost_result(o, x->factor, x->n, out);
    const double nest = cost_nest(o, x->factor, x->n);
    const double once = nest + cost_write(o, out, density);
    const double there = inside * cost_each(o, x, false);
    if (!kept) return opt_pays(once, there) && once < pays * inside * cost_each(o, x, true);
    const double each = keep_share(o, true, out, density) * once;
    const double now = w->density < 1 && there < nest ? there : nest;
    return opt_pays(each + density * cost_places(o, out), now);
}

/* ---- the way down ------------------------------------------------------------------- */

static stc_status visit(opt *o, bexpr **at, const way *w);

bool may_settle(const bexpr *e)
{
    return e->kind == B_REDUCE && reduce_flags(e) & FP_IDEMPOTENT &&
           (e->cls == CLASS_I64 || e->cls == CLASS_U64);
}

/* Whether what isn't stored of a call's operand k leaves places out. */
static bool annihilates(const bexpr *e, int k)
{
    value v;
    for (int n = 0; n < call_annihilators(e); n++)
        if (call_annihilator(e, n, k, &v)) return true;
    return false;
}

/* The product's operand k, whose other operands leave places out. */
static way below(const opt *o, const bexpr *e, int k, const way *w)
{
    way in = *w;
    if (e->kind == B_CONV) return in;
    const int combiner = expr_combiner(e);
    in.settles = w->settles || may_settle(e);
    in.combiner = w->top || w->combiner == combiner ? combiner : -1;
    in.top = false;
    if (expr_side_waits(e, k)) in.density = 0; /* it may not be asked for at all */
    for (int m = 0; e->kind == B_CALL && m < e->nargs; m++)
        for (int n = 0; m != k && n < call_annihilators(e); n++) {
            value v;
            if (!call_annihilator(e, n, m, &v)) continue;
            const double some = cost_density(o, e->args[m], &v);
            if (some < in.density) in.density = some;
            if (some < 1 && !annihilates(e, k)) in.blind = true;
        }
    return in;
}

/* Why the statement stays as it is written, for explain. */
static void tell_why(const opt *o, const elimination *el)
{
    if (!o->why) return;
    text_add(o->why, "reduced where it stands: ");
    if (!el)
        text_add(o->why, "it is no product of what distributes over the reduction\n");
    else if (!el->n)
        text_add(o->why, "no steps visit less than that, about %.3g\n", el->written);
    else
        text_add(o->why, "about %.3g visited, in steps %.3g at best\n", el->written,
                 el->cost);
}

/* Whether a reduction is worth being taken out of the loop as a whole. */
static bool pays_kept(const opt *o, const bexpr *r, const way *w, product *x)
{
    return o->rounds > 1 && w->density > 0 && keep_steady(o, r) && factors_of(o, r, x) &&
           pays_apart(o, x, w, true);
}

/* Whether a reduction of several indices, or of several terms, is in e, or one below
 * something that isn't a conversion. */
static bool has_inner(const bexpr *e, bool top)
{
    if (e->kind == B_REDUCE && (!top || e->nindex > 1 || split_may(e))) return true;
    top = top && e->kind == B_CONV;
    for (int k = 0; k < e->nargs; k++)
        if (has_inner(e->args[k], top)) return true;
    return false;
}

/* The reduction becomes a step, and before it what is worth one in its factors. */
static stc_status take_all(opt *o, bexpr **at, const way *w, product *x)
{
    bexpr **const inside = &(*at)->args[0];
    if (has_inner(*inside, false)) {
        const way in = below(o, *at, 0, w);
        stc_status st = visit(o, inside, &in);
        if (!st) st = share_in(o, inside);
        if (st || !factors_of(o, *at, x)) return st;
    }
    return take_whole(o, x, at);
}

/* Whether a step can be what the reduction is at each place. */
static bool starts(const opt *o, const product *x, const way *w)
{
    if (!w->blind) return cost_starts_from(o, x);
    return cost_starts_from(o, x) || shape_full(o, x, x->factor, x->n, left_of(x));
}

/* Whether each row of an operand has a term for all places of the result: beside other
 * terms, whose places come one after the other, it would be read down its columns. */
static bool fills_rows(const opt *o, const product *x)
{
    const uint64_t out = left_of(x);
    bool some = false;
    for (int k = 0; k < x->n && !some; k++)
        some = !(out & ~x->factor[k].indices) &&
               reads_across(o->p, x->factor[k].e, x->reduced);
    return some;
}

static stc_status visit_reduction(opt *o, bexpr **at, const way *w, bool *done)
{
    product *x = arena_room(o->a, 1, sizeof *x);
    *done = false;
    if (!x) return STC_ERR_MEMORY;
    bool several = product_of(o, *at, x);
    if (!several && (*at)->nindex > 1) tell_why(o, NULL);
    if (several && (x->reduced & (x->reduced - 1))) {
        elimination el;
        stc_status st = eliminate(o, x, &el);
        if (!st && el.n && opt_pays(el.cost, el.written)) {
            st = take_apart(o, x, &el, at);
            *done = true;
        } else if (!st) {
            tell_why(o, &el);
        }
        if (st) return st;
        if (*done && (*at)->kind != B_REDUCE) return STC_OK;
        several = product_of(o, *at, x);
    }
    const bool everywhere = w->density >= 1 && !w->settles;
    if (pays_kept(o, *at, w, x) || (several && everywhere && turns_result(o, x))) {
        *done = true;
        return take_all(o, at, w, x);
    }
    /* as often as it has results, or for each of theirs at more places */
    const bool factors = several || factors_of(o, *at, x);
    const bool again = factors && computed_at(o, left_of(x)) != left_of(x);
    const bool term = w->top || w->combiner == expr_combiner(*at);
    const bool operand = !term && (several || (factors && cost_across(o, x, false)));
    const bool beside = !w->top && factors && fills_rows(o, x);
    if (!(again || operand || beside) || w->settles || !starts(o, x, w) ||
        !pays_apart(o, x, w, false))
        return STC_OK;
    *done = true;
    return take_all(o, at, w, x);
}

static stc_status visit(opt *o, bexpr **at, const way *w)
{
    if ((*at)->kind == B_REDUCE) {
        bool done;
        stc_status st = split(o, at, &done);
        if (!st && !done) st = rest_apart(o, at, &done);
        if (st || done) return st ? st : visit(o, at, w);
        if ((st = windows(o, at))) return st;
        const bool pattern = o->pattern;
        o->pattern = pattern && !w->blind;
        st = visit_reduction(o, at, w, &done);
        o->pattern = pattern;
        if (st || done) return st;
    }
    bexpr *e = *at;
    for (int k = 0; k < e->nargs; k++) {
        const way in = below(o, e, k, w);
        const stc_status st = visit(o, &e->args[k], &in);
        if (st) return st;
    }
    return STC_OK;
}

/* What is computed in loops that it doesn't depend on, outside of reductions. */
static stc_status lift_terms(opt *o, bexpr *e, uint64_t loops, const way *w)
{
    if (e->kind == B_REDUCE || e->kind == B_ACCESS) return STC_OK;
    for (int k = 0; k < e->nargs; k++) {
        if (expr_side_waits(e, k)) continue;
        const way in = below(o, e, k, w);
        bool done;
        stc_status st = lift_term(o, e, k, loops, in.density, &done);
        if (!st && !done) st = lift_terms(o, e->args[k], loops, &in);
        if (st) return st;
    }
    return STC_OK;
}

/* ---- the statement ------------------------------------------------------------------ */

/* Whether something could fail in the middle, other than what stands outside of reductions
 * at a subscript that is the same throughout: X(t,j) with a scalar t. */
static bool may_fail(const program *p, const bexpr *e, bool inside)
{
    inside = inside || e->kind == B_REDUCE;
    bool fails = (inside || e->kind != B_ACCESS) && expr_itself_faults(e);
    for (int k = 0; k < e->nargs && !fails; k++)
        fails = (e->kind == B_ACCESS && (inside || opt_indices(p, e->args[k]))) ||
                may_fail(p, e->args[k], inside);
    return fails;
}

bool opt_reduces(const program *p, const bstmt *s)
{
    return !s->schedule && s->whole &&
           (has_inner(s->value, s->op < 0) || turn_may(p, s->value) ||
            turn_result_may(p, s) || lift_may(p, s) || rest_may(p, s) ||
            quotient_may(s->value) || network_needed(s) || many_needed(p, s)) &&
           !may_fail(p, s->value, false);
}

bool opt_may(const program *p, const bstmt *s)
{
    return opt_reduces(p, s) || gather_may(p, s) || scatter_may(p, s) || mask_may(p, s);
}

static stc_status turn_all(const opt *o)
{
    stc_status st = STC_OK;
    for (int k = 0; k <= o->nstep && !st; k++) {
        bexpr *const e = k < o->nstep ? o->step[k].s.value : o->s->value;
        turn_sought(o, e, e);
        st = turn(o, e);
    }
    return st;
}

stc_status opt_statement(opt *o)
{
    cost_extents(o);
    quotients(o, &o->s->value, NULL);
    const bool inner = has_inner(o->s->value, o->s->op < 0) ||
                       turn_result_may(o->p, o->s) || lift_may(o->p, o->s) ||
                       rest_may(o->p, o->s);
    const bool turns = turn_may(o->p, o->s->value);
    if (!inner && !turns && !(o->known && o->known->book))
        return STC_OK; /* many operands, all of them read once */
    stc_status st = inner ? skews(o) : STC_OK;
    if (inner && !st) {
        const way w = {.combiner = o->s->op, .top = o->s->op < 0, .density = 1};
        st = visit(o, &o->s->value, &w);
    }
    if (!st) st = share_rest(o);
    if (inner && !st) st = lift_rest(o, o->s->value);
    if (inner && !st && !o->s->mask && !expr_gathers(o->s->value)) {
        const way w = {.combiner = -1, .density = 1};
        st = lift_terms(o, o->s->value, opt_indices(o->p, o->s->value), &w);
    }
    return !st && turns ? turn_all(o) : st;
}
