/* steps.c: statements from the order in which indices are reduced.
 *
 * Takes a statement; gives the steps that come before it, each a statement of one
 * reduction over the same indices, and puts accesses of their results where the factors
 * were that they reduce. A step that only one loop more would save is left out again:
 * what reads it then reduces both.
 */
#include "opt.h"
#include <string.h>

/* ---- nodes ------------------------------------------------------------------------ */

static const bexpr *call_of(opt *o, const product *x, const bexpr *a, const bexpr *b)
{
    bexpr *e = expr_like(o->a, x->call, 2);
    if (!e) return NULL;
    e->type = x->r->type;
    e->at = a->at;
    e->args[0] = (bexpr *)a;
    e->args[1] = (bexpr *)b;
    return e;
}

static const bexpr *counted_where(opt *o, const product *x, const factor *f, const bexpr *e)
{
    bexpr *c = expr_like(o->a, f->where, 3);
    if (!c) return NULL;
    c->type = x->r->type;
    c->args[0] = (bexpr *)f->e;
    c->args[1] = (bexpr *)e;
    c->args[2] = f->where->args[2];
    return c;
}

static bexpr *reduction_of(opt *o, const product *x, const bexpr *arg, uint64_t reduced)
{
    bexpr *e = expr_like(o->a, x->r, 1);
    if (!e) return NULL;
    e->args[0] = (bexpr *)arg;
    e->nindex = 0;
    e->indices = arena_array(o->a, 64, sizeof *e->indices);
    if (!e->indices) return NULL;
    for (; reduced; reduced &= reduced - 1)
        e->indices[e->nindex++] = __builtin_ctzll(reduced);
    return e;
}

stc_type step_type(const bexpr *r)
{
    return r->type == STC_BOOL ? STC_BOOL : class_type(r->cls);
}

bexpr *step_read(opt *o, int slot, const int *index, span at)
{
    affine *sub = bare_subs(o->a, index, o->p->tensor[slot].order);
    return sub ? expr_access(o->a, o->p, slot, sub, at) : NULL;
}

/* The factors that have some of the indices (0: all), or the others, as a product; NULL:
 * there are none, or *no_memory. */
static const bexpr *product_with(opt *o, const product *x, const opt_part *t, uint64_t some,
                                 bool others, bool *no_memory)
{
    const bexpr *e = NULL;
    for (int k = 0; k < t->n && !*no_memory; k++) {
        const bool has = !some || t->f[k].indices & some;
        if (t->f[k].where || has == others) continue;
        e = e ? call_of(o, x, e, t->f[k].e) : t->f[k].e;
        *no_memory = !e;
    }
    return e;
}

/* r(reduced: f(factor, …)), or the call alone. What doesn't depend on what is reduced stays
 * in front of a reduction over ranges: that may be a running sum then. */
bexpr *expression(opt *o, const product *x, const opt_part *t)
{
    uint64_t bounded = 0;
    bool no_memory = false;
    for (int k = 0; k < t->n; k++)
        if (t->f[k].where) bounded |= t->f[k].indices & t->reduced;
    const uint64_t some = bounded ? t->reduced : 0;
    const bexpr *e = product_with(o, x, t, some, false, &no_memory);
    const bexpr *front = product_with(o, x, t, some, true, &no_memory);
    if (!e) {
        e = front;
        front = NULL;
    }
    for (int k = 0; e && k < t->n; k++)
        if (t->f[k].where) e = counted_where(o, x, &t->f[k], e);
    if (e && t->reduced) e = reduction_of(o, x, e, t->reduced);
    if (e && front) e = call_of(o, x, front, e);
    return no_memory ? NULL : (bexpr *)e;
}

/* ---- parts ------------------------------------------------------------------------ */

/* The factor of those that lack the group which says where the group's product is wanted;
 * -1: there is none. */
static int selecting(const opt_part *all, uint64_t group, factor *room)
{
    uint64_t indices = 0;
    int n = 0;
    for (int k = 0; k < all->n; k++)
        if (all->f[k].indices & group) {
            room[n++] = all->f[k];
            indices |= all->f[k].indices;
        }
    for (int k = 0; k < all->n; k++)
        if (!(all->f[k].indices & group) && cost_selects(room, n, indices, &all->f[k]))
            return k;
    return -1;
}

/* Moves the factors that have indices of the group from `all` to *t, and what says where
 * they are wanted; its result takes the place of the first. */
static bool split_off(opt *o, opt_part *all, uint64_t group, int step, opt_part *t)
{
    int kept = 0, at = -1;
    *t = (opt_part){.reduced = group, .f = arena_array(o->a, all->n, sizeof *t->f)};
    if (!t->f) return false;
    const int selects = selecting(all, group, t->f);
    for (int k = 0; k < all->n; k++) {
        const factor f = all->f[k];
        if (f.indices & group || k == selects) {
            if (at < 0) at = kept++;
            t->f[t->n++] = f;
            t->out |= f.indices;
        } else {
            all->f[kept++] = f;
        }
    }
    t->out &= ~group;
    t->steady = keep_all(t->f, t->n);
    all->n = kept;
    all->reduced &= ~group;
    const double density = cost_result(o, t->f, t->n, t->out);
    all->f[at] = (factor){.indices = t->out,
                          .density = density,
                          .plain = density >= 1,
                          .steady = t->steady,
                          .step = step,
                          .of = look_of(t->f, t->n)};
    t->nest = cost_nest(o, t->f, t->n);
    return true;
}

/* Loops of two steps in one are deeper, and fewer superinstructions know them: a visit of
 * a cycle of five took 23 ns, where products of two matrices take 2. */
static const double fused = 0.4;

static bool as_written(const opt_part *t)
{
    for (int k = 0; k < t->n; k++)
        if (t->f[k].step >= 0) return false;
    return true;
}

/* Whether another of n steps, which equals this one, is computed anyway. */
static bool is_twice(opt *o, const product *x, const opt_part *made, int n,
                     const opt_part *t, bool *no_memory)
{
    for (int k = 0; k < n; k++) {
        const opt_part *other = &made[k];
        if (other == t || other->gone || other->n != t->n || !as_written(other) ||
            !as_written(t))
            continue;
        const bexpr *a = expression(o, x, other), *b = expression(o, x, t);
        *no_memory = !a || !b;
        if (*no_memory || share_same(o, o->s->index, a, b)) return !*no_memory;
    }
    return false;
}

/* Takes back those of n steps that t reads and that don't pay for being one. */
static bool take_back(opt *o, const product *x, opt_part *made, int n_made, opt_part *t)
{
    bool no_memory = false;
    for (int k = 0; k < t->n; k++) {
        if (t->f[k].step < 0) continue;
        opt_part *of = &made[t->f[k].step];
        if (look_made(o, of->f, of->n, of->out)) continue;
        if (t->n + of->n - 1 > OPT_FACTORS) continue;
        factor *both = arena_array(o->a, t->n + of->n, sizeof *both);
        if (!both) return false;
        int n = 0;
        for (int m = 0; m < t->n; m++) {
            if (m != k) {
                both[n++] = t->f[m];
                continue;
            }
            memcpy(both + n, of->f, (size_t)of->n * sizeof *both);
            n += of->n;
        }
        const double nest = cost_nest(o, both, n), density = t->f[k].density;
        const double share = keep_share(o, of->steady && !t->steady, of->out, density);
        const double apart = t->nest + share * (of->nest + cost_write(o, of->out, density));
        if (nest > fused * apart || is_twice(o, x, made, n_made, of, &no_memory)) continue;
        of->gone = true;
        t->reduced |= of->reduced;
        t->f = both;
        t->n = n;
        t->nest = nest;
        k = -1;
    }
    return !no_memory;
}

/* ---- statements ------------------------------------------------------------------- */

/* The accesses of results that are there by now. */
static void read_results(opt_part *t, const factor *result)
{
    for (int k = 0; k < t->n; k++)
        if (t->f[k].step >= 0) t->f[k] = result[t->f[k].step];
}

stc_status make_step(opt *o, const product *x, const opt_part *t, factor *result)
{
    int mode[64];
    bool full, done;
    stc_status st = look_give(o, x, t, result, &done);
    if (st || done) return st;
    bexpr *right = expression(o, x, t);
    if (!right) return STC_ERR_MEMORY;
    st = share_step(o, right, step_type(x->r), result, &done);
    if (done) result->of = look_of(t->f, t->n);
    if (!st && !done) st = shelf_give(o, x, t, result, &done);
    if (st || done) return st;
    const int slot = shape_slot(o, x, t->f, t->n, t->out, mode, &full);
    if (slot < 0) return o->p->cx->diag.status;
    const bexpr *read = step_read(o, slot, mode, x->r->at);
    affine *sub = bare_subs(o->a, mode, o->p->tensor[slot].order);
    right->type = o->p->tensor[slot].type;
    opt_step *step = read && sub ? step_add(o, slot, sub, right) : NULL;
    if (!step) return STC_ERR_MEMORY;
    step->steady = keep_steady(o, right);
    step->pattern = o->pattern;
    step->visits = cost_nest(o, t->f, t->n);
    const double density = cost_result(o, t->f, t->n, t->out);
    step->stored = density * cost_places(o, t->out);
    if (t->reduced == x->reduced && t->n == x->n && full && cost_has_fill(o, x))
        step->s.fill_given = false; /* what its operands' is reduced to */
    *result = (factor){.e = read,
                       .indices = t->out,
                       .density = density,
                       .full = full,
                       .plain = density >= 1,
                       .steady = step->steady,
                       .step = -1,
                       .of = look_of(t->f, t->n)};
    share_note(step, result);
    st = shelf_note(o, x, t, mode, step);
    return st ? st : look_note(o, x, t, mode, step);
}

int step_slot(const opt *o, prog_tensor t)
{
    char name[24];
    snprintf(name, sizeof name, "step%d", o->nstep + 1);
    t.name = name;
    t.role = ROLE_TEMP;
    return program_tensor(o->p, &t);
}

bool step_room(opt *o, int more)
{
    if (o->nstep + more <= o->step_room) return true;
    const int room = 2 * (o->nstep + more);
    opt_step *grown = arena_array(o->a, room, sizeof *grown);
    if (!grown) return false;
    if (o->nstep) memcpy(grown, o->step, (size_t)o->nstep * sizeof *grown);
    o->step = grown;
    o->step_room = room;
    return true;
}

opt_step *step_add(opt *o, int slot, affine *sub, bexpr *right)
{
    if (!step_room(o, 1)) return NULL;
    opt_step *step = &o->step[o->nstep++];
    *step = (opt_step){.s = {.at = o->s->at,
                             .target = slot,
                             .nsub = o->p->tensor[slot].order,
                             .sub = sub,
                             .whole = true,
                             .fresh = true,
                             .format_given = true,
                             .fill_given = true,
                             .op = -1,
                             .value = right,
                             .nindex = o->s->nindex,
                             .index = o->s->index},
                       .look = -1};
    return step;
}

bindex *step_own_indices(opt *o, int more)
{
    bstmt *s = o->s;
    bindex *own = arena_array(o->a, s->nindex + more + 1, sizeof *own);
    if (!own) return NULL;
    memcpy(own, s->index, (size_t)s->nindex * sizeof *own);
    return s->index = own;
}

/* ---- ranges without values --------------------------------------------------------- */

/* 1, or 0 where an index has no values; -1: no memory. */
static int has_values(program *p, int hi)
{
    const int one = program_extent(p, (extent){.op = EXT_CONST, .k = 1});
    if (one < 0) return -1;
    const int least =
        program_extent(p, (extent){.op = EXT_MIN, .a = (uint16_t)hi, .b = (uint16_t)one});
    if (least < 0) return -1;
    return program_extent(p, (extent){.op = EXT_MAX0, .a = (uint16_t)least});
}

int extent_unless_empty(opt *o, int hi, int gone)
{
    program *p = o->p;
    if (p->ext[gone].op == EXT_CONST && p->ext[gone].k > 0) return hi;
    if (share_extent(p, hi, gone)) return hi;
    const int some = has_values(p, gone);
    if (some < 0) return -1;
    return program_extent(p,
                          (extent){.op = EXT_MUL, .a = (uint16_t)hi, .b = (uint16_t)some});
}

stc_status narrow(opt *o, uint64_t gone, uint64_t left)
{
    bindex *own = step_own_indices(o, 0);
    if (!own) return STC_ERR_MEMORY;
    bindex *in = &own[__builtin_ctzll(left)];
    for (; gone; gone &= gone - 1) {
        in->hi = extent_unless_empty(o, in->hi, own[__builtin_ctzll(gone)].hi);
        if (in->hi < 0) return o->p->cx->diag.status;
    }
    return STC_OK;
}

/* What doesn't depend on what is reduced any more stands for itself, unless one of those
 * ranges has no values: then it is the reduction of nothing. */
static bexpr *unless_empty(opt *o, const product *x, bexpr *e)
{
    program *p = o->p;
    int some = program_extent(p, (extent){.op = EXT_CONST, .k = 1});
    for (uint64_t set = x->reduced; set && some >= 0; set &= set - 1)
        some = extent_unless_empty(o, some, o->s->index[__builtin_ctzll(set)].hi);
    if (!e || some < 0) return NULL;
    if (p->ext[some].op == EXT_CONST) return e;
    bexpr *const n = expr_extent(o->a, some, x->r->at);
    bexpr *const is = n ? expr_conv(o->a, n, STC_BOOL) : NULL;
    return expr_select(o->a, is, e, expr_const(o->a, e->type, x->identity, x->r->at),
                       x->r->at);
}

/* *at becomes what is left of the product in place. */
stc_status take_apart(opt *o, const product *x, const elimination *el, bexpr **at)
{
    opt_part *made = arena_array(o->a, el->n, sizeof *made);
    factor *result = arena_array(o->a, el->n, sizeof *result);
    opt_part all = {
        .n = x->n, .f = arena_array(o->a, x->n, sizeof *all.f), .reduced = x->reduced};
    if (!made || !result || !all.f || !step_room(o, el->n + x->n)) return STC_ERR_MEMORY;
    memcpy(all.f, x->factor, (size_t)x->n * sizeof *all.f);
    for (int k = 0; k < el->n; k++)
        if (!split_off(o, &all, el->group[k], k, &made[k]) ||
            !take_back(o, x, made, el->n, &made[k]))
            return STC_ERR_MEMORY;
    all.nest = cost_nest(o, all.f, all.n);
    all.steady = keep_all(all.f, all.n);
    if (!take_back(o, x, made, el->n, &all)) return STC_ERR_MEMORY;
    for (int k = 0; k < el->n; k++) {
        if (made[k].gone) continue;
        read_results(&made[k], result);
        stc_status st = lift_factors(o, x, made[k].f, made[k].n);
        if (!st) st = make_step(o, x, &made[k], &result[k]);
        if (st) return st;
    }
    read_results(&all, result);
    const bool integer = type_is_integer(class_type(x->r->cls)), alone = !all.reduced;
    bexpr *left = expression(o, x, &all);
    if (alone && !integer) left = unless_empty(o, x, left);
    if (!left) return STC_ERR_MEMORY;
    *at = left;
    return integer || alone ? STC_OK : narrow(o, x->reduced & ~all.reduced, all.reduced);
}

stc_status take_whole(opt *o, const product *x, bexpr **at)
{
    opt_part all = {
        .n = x->n, .f = arena_array(o->a, x->n, sizeof *all.f), .reduced = x->reduced};
    factor result;
    if (!all.f || !step_room(o, 1 + x->n)) return STC_ERR_MEMORY;
    memcpy(all.f, x->factor, (size_t)x->n * sizeof *all.f);
    stc_status st = lift_factors(o, x, all.f, all.n);
    if (st) return st;
    for (int k = 0; k < all.n; k++)
        all.out |= all.f[k].indices;
    all.out &= ~all.reduced;
    st = make_step(o, x, &all, &result);
    if (!st) *at = (bexpr *)result.e;
    return st;
}
