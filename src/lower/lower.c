/* lower.c: loops, results and workspaces to bytecode.
 *
 * A loop becomes
 *
 *     open …                 cursors that walk or follow
 *     loop i, m, merge       located and known operands are in the merge
 *       locate …, present …  levels whose coordinate was bound further out
 *       fill.bit …, skip     complements, decided by value
 *       at …                 the result's place, for the levels i binds
 *       …body…
 *       keep …               the result's coordinate, if anything was stored
 *     end
 */
#include "lower.h"
#include <stddef.h>
#include <string.h>

static int parent_cursor(const lowering *lo, int access, int l)
{
    return l ? lo->cursor[access][l - 1] : ROOT;
}

/* ---- operands -------------------------------------------------------------------- */

static int64_t coefficient(const affine *f, int index)
{
    for (int t = 0; t < f->terms; t++)
        if (f->term[t].index == index) return f->term[t].coef;
    return 1;
}

static void lower_open(lowering *lo, const loop_operand *o, int index, merge_operand *m)
{
    const paccess *x = &lo->pl->access[o->access];
    const affine *at = &x->level[o->level].at;
    if (o->subsect) {
        const int sub = lower_subsect(lo, o->access, o->level, o->root, index);
        *m = (merge_operand){
            .role = o->role, .cursor = (uint16_t)sub, .shift = ROOT, .coef = 1};
        return;
    }
    int up = parent_cursor(lo, o->access, o->level);
    int c = o->role == MERGE_KNOWN ? lo->cursor[o->access][o->level] : lower_creg(lo);
    *m = (merge_operand){.role = o->role, .cursor = (uint16_t)c, .shift = ROOT, .coef = 1};
    if (o->role == MERGE_KNOWN) return;
    lo->cursor[o->access][o->level] = (uint16_t)c;
    m->tensor = (uint16_t)x->tensor;
    m->level = (uint16_t)o->level;
    m->up = (uint16_t)up;
    if (o->role == MERGE_LOCATE) {
        m->coef = coefficient(at, index);
        m->shift = (uint16_t)lower_affine(lo, at, index, true);
    } else if (o->affine) {
        int shift = lower_affine(lo, at, index, false);
        EMIT(lo, OP_OPENAT, c, x->tensor, o->level, up, shift,
             lower_iconst(lo, coefficient(at, index)));
    } else {
        EMIT(lo, OP_OPEN, c, x->tensor, o->level, up);
    }
}

static void lower_stored(lowering *lo, const loop_late *l);

/* skips: rounds may be left out after it, for what others store. */
static void lower_late(lowering *lo, const loop_late *l, int mask, bool skips)
{
    if (l->stored) {
        lower_stored(lo, l);
        return;
    }
    const paccess *x = &lo->pl->access[l->access];
    int up = parent_cursor(lo, l->access, l->level), c = lower_creg(lo);
    const bool outer = lo->ahead;
    lo->ahead |= x->waits;
    int i = lower_affine(lo, &x->level[l->level].at, -1, false);
    lo->ahead = outer;
    lo->cursor[l->access][l->level] = (uint16_t)c;
    if (l->located) {
        EMIT(lo, OP_LOCATE, c, x->tensor, l->level, up, i);
    } else {
        EMIT(lo, OP_OPEN, c, x->tensor, l->level, up);
        EMIT(lo, OP_SEEK, c, i);
    }
    if (l->bit >= 0 || l->level + 1 < x->levels || !skips) lower_inside(lo, x);
    if (l->bit >= 0) EMIT(lo, OP_PRESENT, mask, l->bit, c);
}

int lower_merge(lowering *lo, const lattice_table *t, int count, uint16_t first,
                uint16_t end, merge_operand *operand, bool universe)
{
    merge_desc m = {.lo = first,
                    .hi = end,
                    .universe = universe,
                    .count = (uint8_t)count,
                    .operand = operand,
                    .produce = t->produce,
                    .postfix = t->postfix,
                    .postfix_len = t->postfix_len};
    int id = program_merge(lo->p, &m);
    if (id < 0 && !lo->status) lo->status = STC_ERR_MEMORY;
    return id < 0 ? 0 : id;
}

/* The second test: bits of late operands, and of values that equal the fill. */
static void lower_second(lowering *lo, const cin *loop, int mask)
{
    const loop_info *info = loop->info;
    for (int k = 0; k < info->fill_count; k++) {
        int a = info->fill[k].access;
        const paccess *x = &lo->pl->access[a];
        EMIT(lo, OP_FILLBIT, mask, info->fill[k].bit, x->tensor,
             x->levels ? lo->cursor[a][x->levels - 1] : ROOT);
    }
    if (info->skip) lower_skip(lo, mask, loop->index, &info->skip_table, info->bits);
}

/* ---- results ------------------------------------------------------------------------ */

static const cin *target_store(const lowering *lo, const cin *c)
{
    for (; c; c = c->next) {
        if ((c->kind == CIN_STORE || c->kind == CIN_ACC) && c->target == lo->target)
            return c;
        const cin *inner = c->kind == CIN_FORALL ? target_store(lo, c->body) : NULL;
        if (inner) return inner;
    }
    return NULL;
}

/* Places the result at the levels whose coordinates are bound by now. */
static void lower_places(lowering *lo, const cin *store)
{
    while (store && lo->placed < store->nsub &&
           affine_bound(&store->sub[lo->placed], lo->bound)) {
        int c = lower_creg(lo), l = lo->placed++;
        int i = lower_affine(lo, &store->sub[l], -1, false);
        lo->place[l] = (uint16_t)c;
        EMIT(lo, OP_AT, c, store->target, l, l ? lo->place[l - 1] : ROOT, i);
    }
}

/* The leaf may go on to the next round of its loop without storing: what would be placed
 * above the last level there stands open then, so it is placed behind that. */
static bool places_wait(const lowering *lo, const cin *store, const cin *body)
{
    int n = lo->placed;
    if (!store || !store->reach) return false;
    while (body && body != store)
        body = body->next;
    while (n < store->nsub && affine_bound(&store->sub[n], lo->bound))
        n++;
    return body && n > lo->placed + 1;
}

static void lower_keeps(lowering *lo, const cin *store, int before)
{
    if (!store || !store->append) return;
    for (int l = lo->placed - 1; l >= before; l--)
        if (l + 1 < store->nsub) EMIT(lo, OP_KEEP, store->target, l, lo->place[l]);
}

/* ---- nodes -------------------------------------------------------------------------- */

void lower_forget(lowering *lo)
{
    memset(lo->load, -1, (size_t)lo->pl->naccess * sizeof *lo->load);
}

/* A register that gets an index counted from 0, and then the index itself. */
static int counted(lowering *lo, const derived_index *d)
{
    return d->base ? lower_ireg(lo) : lo->index[d->index];
}

static void add_base(lowering *lo, const derived_index *d, int from)
{
    if (!d->base) return;
    int base = lower_ireg(lo);
    EMIT(lo, OP_ICONST, base, lower_iconst(lo, d->base));
    EMIT(lo, OP_IMULADD, lo->index[d->index], from, lower_iconst(lo, 1), base);
}

static void lower_sum(lowering *lo, const derived_index *d)
{
    int sum = lower_zero(lo);
    for (int t = 0; t < d->at.terms; t++) {
        const int rest = sum;
        sum = t + 1 < d->at.terms ? lower_ireg(lo) : counted(lo, d);
        EMIT(lo, OP_IMULADD, sum, lo->index[d->at.term[t].index],
             lower_iconst(lo, d->at.term[t].coef), rest);
    }
    EMIT(lo, OP_WITHIN, sum, d->by);
    add_base(lo, d, sum);
}

/* An index from others that are known. A sum must lie in the index's range, or this round
 * is padding. */
static void lower_from_others(lowering *lo, const derived_index *d)
{
    if (d->kind == DERIVED_AFFINE) lower_sum(lo, d);
    if (d->kind != DERIVED_QUOTIENT && d->kind != DERIVED_REMAINDER) return;
    int part = counted(lo, d), whole = lo->index[d->at.term[0].index];
    EMIT(lo, d->kind == DERIVED_QUOTIENT ? OP_IDIV : OP_IMOD, part, whole, d->by);
    add_base(lo, d, part);
}

/* Derived indices that the loop completes. Those from positions come with their cursors. */
static void lower_derived(lowering *lo, int loop, uint64_t before)
{
    const plan *pl = lo->pl;
    for (int k = 0; k < pl->nderived; k++) {
        const derived_index *d = &pl->derived[k];
        if (d->rel || ((before >> d->index) & 1) || d->index == loop) continue;
        if (affine_bound(&d->at, lo->bound)) lower_from_others(lo, d);
    }
}

/* ---- positions -------------------------------------------------------------------- */

/* Before the first of the loops that p is made of: where the positions begin,
 * how many there are, and in how many blocks. */
static void lower_spans(lowering *lo, const cin *loop)
{
    const plan *pl = lo->pl;
    for (int k = 0; k < pl->schedule.nrel; k++) {
        const relation *r = &pl->schedule.rel[k];
        if (r->kind != REL_POS || !r->real) continue;
        int p = r->child[0], a = 0;
        uint64_t parts = loops_set(pl, UINT64_C(1) << p, 0);
        if (!((parts >> loop->index) & 1) || (parts & lo->bound)) continue;
        while (a < pl->naccess && !(((loop->uses >> a) & 1) && loops_read(pl, r, a)))
            a++;
        if (a == pl->naccess) continue;
        int up = parent_cursor(lo, a, r->level), last = r->level + r->levels - 1;
        const relation *split = r->split < 0 ? NULL : &pl->schedule.rel[r->split];
        lo->first[k] = lower_ireg(lo);
        if (split)
            EMIT(lo, OP_SPAN, lo->first[k], pl->s->index[split->child[0]].hi,
                 pl->access[a].tensor, r->level, up, last, lower_iconst(lo, split->size));
        EMIT(lo, OP_SPAN, lo->first[k], pl->s->index[p].hi, pl->access[a].tensor, r->level,
             up, last, lower_iconst(lo, 1));
    }
}

static void lower_stored(lowering *lo, const loop_late *l)
{
    const plan *pl = lo->pl;
    const relation *r = l->stored;
    const paccess *x = &pl->access[l->access];
    int up = parent_cursor(lo, l->access, l->level), c = lower_creg(lo);
    int i = x->level[l->level].at.term[0].index, at = lower_ireg(lo);
    lo->cursor[l->access][l->level] = (uint16_t)c;
    EMIT(lo, OP_IMULADD, at, lo->index[r->child[0]], lower_iconst(lo, 1),
         lo->first[r - pl->schedule.rel]);
    EMIT(lo, OP_POSITION, lo->index[i], c, x->tensor, l->level, up, at,
         r->level + r->levels - 1);
    if (pl->s->index[i].lo < 0) EMIT(lo, OP_WITHIN, lo->index[i], pl->s->index[i].hi);
    for (int k = 0; l->level + 1 == r->level + r->levels && k < pl->nderived; k++)
        if (pl->derived[k].rel == r) lower_from_others(lo, &pl->derived[k]);
}

/* What a loop opens is no longer there after it. */
static uint16_t *subsects_within(lowering *lo, const uint16_t *outer)
{
    const int64_t n = (int64_t)lo->pl->naccess * STC_MAX_ORDER + 1;
    uint16_t *in = arena_room(lo->pl->a, n, sizeof *in);
    if (!in) {
        lo->status = STC_ERR_MEMORY;
        return lo->subsect;
    }
    if (outer)
        memcpy(in, outer, (size_t)n * sizeof *in);
    else
        memset(in, 0xff, (size_t)n * sizeof *in);
    return in;
}

/* In front of a loop that threads share, for errors at the place that asks for it. */
static void lower_share(lowering *lo)
{
    const span at = lo->at;
    lo->at = lo->pl->schedule.shared_at->at;
    EMIT(lo, OP_SHARE, );
    lo->at = at;
}

/* A loop over what an equality says of its index, l where lab(j) == l, as code of the loop
 * around it: counting and summing by label go by the entry. */
static void lower_straight(lowering *lo, const cin *loop)
{
    const loop_info *info = loop->info;
    const uint64_t bound = lo->bound;
    const int placed = lo->placed, chosen = lo->chosen;
    lower_pin(lo, loop);
    lo->bound = plan_bound(lo->pl, bound | UINT64_C(1) << loop->index);
    for (int k = 0; k < info->late_count; k++)
        lower_late(lo, &info->late[k], lo->mask, info->skip);
    lower_second(lo, loop, lo->mask);
    lower_nodes(lo, loop->body);
    lo->chosen = chosen;
    lo->placed = placed;
    lo->bound = bound;
}

static void lower_forall(lowering *lo, const cin *loop)
{
    const loop_info *info = loop->info;
    merge_operand operand[PLAN_ACCESSES];
    int placed = lo->placed, mask = lower_mreg(lo);
    uint16_t first, end; /* the range's extents */
    const int outer_mask = lo->mask;
    const cin *outer = lo->inside;
    const bexpr *const held = lo->held;
    uint64_t bound = lo->bound, computed = lo->computed, checked = lo->checked;
    uint16_t *subsect = lo->subsect;
    lo->subsect = subsects_within(lo, subsect);
    lower_spans(lo, loop);
    lower_range(lo, loop, &first, &end);
    for (int k = 0; k < info->count; k++)
        lower_open(lo, &info->operand[k], loop->index, &operand[k]);
    int merge = lower_merge(lo, &info->loop_table, info->count, first, end, operand,
                            info->universe);
    if (!outer && (lo->pl->schedule.shared >> loop->index) & 1) lower_share(lo);
    EMIT(lo, OP_LOOP, lo->index[loop->index], mask, merge);
    lo->bound = plan_bound(lo->pl, bound | UINT64_C(1) << loop->index);
    lower_derived(lo, loop->index, bound);
    for (int k = 0; k < info->late_count; k++)
        lower_late(lo, &info->late[k], mask, info->skip);
    lower_second(lo, loop, mask);
    const cin *store = target_store(lo, loop->body);
    if (!places_wait(lo, store, loop->body)) lower_places(lo, store);
    lo->mask = mask;
    lo->inside = loop;
    lower_nodes(lo, loop->body);
    lo->mask = outer_mask;
    lo->inside = outer;
    lo->held = held;
    lower_keeps(lo, store, placed);
    EMIT(lo, OP_END, );
    lower_ended(lo, loop, end);
    lo->placed = placed;
    lo->bound = bound;
    lo->computed = computed;
    lo->checked = checked;
    lo->subsect = subsect;
}

static int class_of_target(lowering *lo, const cin *c, int r)
{
    vclass from = type_class(c->value->type);
    vclass to = type_class(lo->p->tensor[c->target].type);
    if (from == to) return r;
    int out = lower_vreg(lo);
    EMIT(lo, OP_CONV, out, to, from, r);
    return out;
}

static void lower_store(lowering *lo, const cin *c)
{
    const int before = lo->placed;
    lower_reach(lo, c, false);
    if (!c->reach) lower_places(lo, c);
    int r = class_of_target(lo, c, lower_expr(lo, c->value));
    lower_reach(lo, c, true);
    lower_places(lo, c);
    int place = c->nsub ? lo->place[c->nsub - 1] : ROOT;
    if (c->kind == CIN_STORE)
        EMIT(lo, OP_STORE, c->target, place, r);
    else
        EMIT(lo, OP_ACC, c->target, place, c->fn, c->cls, r);
    lower_keeps(lo, c, before);
}

/* The first of registers in a row that hold the coordinates: the result's
 * indices have such registers; anything else is copied. */
static int coordinates(lowering *lo, const cin *c)
{
    int reg[2 * STC_MAX_ORDER], row = true;
    for (int k = 0; k < c->nsub; k++) {
        reg[k] = lower_affine(lo, &c->sub[k], -1, false);
        lower_bounds(lo, &c->sub[k], 1);
        row = row && reg[k] == reg[0] + k;
    }
    if (row) return c->nsub ? reg[0] : 0;
    int zero = lower_zero(lo), one = lower_iconst(lo, 1), first = -1;
    for (int k = 0; k < c->nsub; k++) {
        int r = lower_ireg(lo);
        if (!k) first = r;
        EMIT(lo, OP_IMULADD, r, reg[k], one, zero);
    }
    return first;
}

static void lower_wsadd(lowering *lo, const cin *c)
{
    lower_reach(lo, c, false);
    bool ends;
    lower_guard(lo, c, &ends);
    const int fn = c->ufn ? inline_builtin(c->ufn, c->cls) : c->fn;
    int r = class_of_target(lo, c, lower_expr(lo, c->value));
    lower_reach(lo, c, true);
    if (fn >= 0)
        EMIT(lo, OP_WSADD, c->target, coordinates(lo, c), fn, c->cls, r);
    else
        EMIT(lo, OP_WSCALL, c->target, c->ufn->id, coordinates(lo, c), r,
             !!(c->ufn->flags & FP_ASSOCIATIVE));
    if (ends) EMIT(lo, OP_ENDIF, );
}

static bool temp_identity(const cin *c, value *id)
{
    if (c->ufn) return ufn_identity(c->ufn, id);
    return fn_identity(c->fn, c->cls, c->value->type, id);
}

/* A reduction without an identity starts with its first element: `started`
 * tells whether there was one. */
static void lower_temp(lowering *lo, const cin *c)
{
    value id = {0};
    bool known = temp_identity(c, &id);
    if (!lo->told[c->temp]) lo->temp[c->temp] = (uint16_t)lower_vreg(lo);
    lo->started[c->temp] = ROOT;
    EMIT(lo, OP_CONST, lo->temp[c->temp], lower_const(lo, c->cls, id));
    if (known) return;
    lo->started[c->temp] = (uint16_t)lower_vreg(lo);
    EMIT(lo, OP_CONST, lo->started[c->temp], lower_iconst(lo, 0));
}

/* Once a user's function has its annihilator, nothing changes that. Not where it is the
 * same as a built-in one, or the host's: those are faster a strip at a time, which asks for
 * the annihilator after each. (Constants before the loop instead: no faster.) */
static void lower_exit(lowering *lo, const cin *c, int acc)
{
    const bfunction *f = c->ufn;
    if (!f || f->host || inline_builtin(f, c->cls) >= 0) return;
    for (int k = 0; k < f->nannihilator; k++) {
        const bfn_prop *p = &f->annihilator[k];
        if (p->position > 0 && !(f->flags & FP_COMMUTATIVE)) continue;
        int out = lower_vreg(lo), v = lower_vreg(lo);
        EMIT(lo, OP_CONST, v, lower_const(lo, c->cls, p->value));
        EMIT(lo, OP_FN2, out, FN_EQ, c->cls, acc, v);
        EMIT(lo, OP_BREAK, out, c->loops);
    }
}

/* acc = f(acc, v), or v if it is the first one and f has no identity. */
static void lower_term(lowering *lo, const cin *c, int acc, int v)
{
    const int on = lo->started[c->temp];
    if (on != ROOT) EMIT(lo, OP_IF, on);
    lower_combine(lo, c->fn, c->ufn, c->cls, acc, v);
    if (on == ROOT) return;
    EMIT(lo, OP_ELSE, );
    EMIT(lo, OP_MOV, acc, v);
    EMIT(lo, OP_CONST, on, lower_iconst(lo, 1));
    EMIT(lo, OP_ENDIF, );
}

/* r, or the identity where a pinned index is outside. */
static int chosen_value(lowering *lo, const cin *c, int r)
{
    value id = {0};
    if (lo->chosen < 0) return r;
    const int none = lower_vreg(lo), out = lower_vreg(lo);
    temp_identity(c, &id);
    EMIT(lo, OP_CONST, none, lower_const(lo, c->cls, id));
    EMIT(lo, OP_FN3, out, FN_SELECT, c->cls, lo->chosen, r, none);
    return out;
}

static void lower_reduce(lowering *lo, const cin *c)
{
    lower_reach(lo, c, false);
    const int r = chosen_value(lo, c, lower_expr(lo, c->value)), acc = lo->temp[c->temp];
    lower_reach(lo, c, true);
    lower_term(lo, c, acc, r);
    if (c->after) lower_exit(lo, c->after, lo->temp[c->after->temp]);
    if (!c->next) lower_exit(lo, c, acc);
    if (c->stops) {
        const int some = lower_vreg(lo), none = lower_vreg(lo);
        value id = {0};
        temp_identity(c, &id);
        EMIT(lo, OP_CONST, none, lower_const(lo, c->cls, id));
        EMIT(lo, OP_FN2, some, FN_NE, c->cls, r, none);
        EMIT(lo, OP_BREAK, some, c->loops);
    }
}

/* On fills, e is the same at all coordinates and can't fault. */
static bool fill_is_fixed(const lowering *lo, const bexpr *e)
{
    if (e->kind == B_INDEX) return false;
    if (e->kind == B_ACCESS)
        return !lo->p->tensor[lo->pl->access[e->mark].tensor].fill_later;
    if (e->kind == B_USER || (e->kind == B_REDUCE && e->ufn)) return false;
    if (e->kind == B_CALL && fn_at(e->fn)->flags & FP_FAULTS) return false;
    for (int k = 0; k < e->nargs; k++)
        if (!fill_is_fixed(lo, e->args[k])) return false;
    return true;
}

/* What `rest` nodes within loops read, once before all loops: reductions of fills
 * are loops of their own. What stays in the loops is straight-line code. */
static void lower_rest_fills(lowering *lo, const cin *c, bool inside)
{
    for (; c; c = c->next) {
        lower_rest_fills(lo, c->body, true);
        if (c->kind != CIN_REST || !inside) continue;
        const bexpr *of = c->value->args[0];
        if (expr_fill(lo->pl, of).kind == FILL_KNOWN || !fill_is_fixed(lo, of)) continue;
        lo->rest[c->temp] = (uint16_t)lower_fill(lo, of);
    }
}

/* acc = f(acc, fill) where there were fewer elements than the extents make;
 * else acc = f(acc, acc), which changes nothing. */
static void lower_rest(lowering *lo, const cin *c)
{
    const bexpr *r = c->value;
    int acc = lo->temp[c->temp], n = lower_vreg(lo), fewer = lower_vreg(lo);
    if (r->nindex == 1) {
        EMIT(lo, OP_EXTENT, n, lower_extent_length(lo, r->indices[0]));
        EMIT(lo, OP_FN2, fewer, FN_LT, CLASS_I64, lo->temp[c->count], n);
    } else {
        EMIT(lo, OP_CONV, n, CLASS_F64, CLASS_I64, lo->temp[c->count]);
        EMIT(lo, OP_FN2, fewer, FN_LT, CLASS_F64, n, lower_rounds_of(lo, r));
    }
    const bool known = expr_fill(lo->pl, r->args[0]).kind == FILL_KNOWN;
    if (lo->started[c->temp] == ROOT && (known || lo->rest[c->temp] != ROOT)) {
        int v = lower_vreg(lo);
        const int none = known ? lower_fill(lo, r->args[0]) : lo->rest[c->temp];
        EMIT(lo, OP_FN3, v, FN_SELECT, c->cls, fewer, none, acc);
        lower_combine(lo, c->fn, c->ufn, c->cls, acc, v);
        return;
    }
    EMIT(lo, OP_IF, fewer);
    lower_term(lo, c, acc,
               lo->rest[c->temp] != ROOT ? lo->rest[c->temp] : lower_fill(lo, r->args[0]));
    EMIT(lo, OP_ENDIF, );
}

static void lower_node(lowering *lo, const cin *c)
{
    switch (c->kind) {
    case CIN_FORALL:
        if (c->info->pin.way != PIN_ROUND)
            lower_straight(lo, c);
        else
            lower_forall(lo, c);
        break;
    case CIN_TEMP:
        lower_temp(lo, c);
        break;
    case CIN_REDUCE:
        lower_reduce(lo, c);
        break;
    case CIN_REST:
        lower_rest(lo, c);
        break;
    case CIN_REQUIRE:
        EMIT(lo, OP_REQUIRE, lo->started[c->temp]);
        break;
    case CIN_LAZY:
        lower_lazy(lo, c);
        break;
    case CIN_WHEN:
        EMIT(lo, OP_IF, lower_expr(lo, c->value));
        lower_nodes(lo, c->body);
        EMIT(lo, OP_ENDIF, );
        break;
    case CIN_ONLY:
        lower_only(lo, c);
        break;
    case CIN_SINCE:
        lower_since(lo, c);
        break;
    case CIN_BEGIN:
        EMIT(lo, OP_BEGIN, c->target);
        break;
    case CIN_STORE:
    case CIN_ACC:
        lower_store(lo, c);
        break;
    case CIN_FINISH:
        EMIT(lo, OP_FINISH, c->target);
        break;
    case CIN_WSBEGIN:
        EMIT(lo, OP_WSBEGIN, c->target);
        break;
    case CIN_WSADD:
        lower_wsadd(lo, c);
        break;
    case CIN_WSEND:
        EMIT(lo, OP_WSEND, c->target);
        break;
    case CIN_CONVERT:
        EMIT(lo, OP_CONVERT, c->target, c->source);
        break;
    case CIN_UPDATE:
        if (c->nsub)
            EMIT(lo, OP_BLOCK, c->target, c->source, c->fn, c->cls, coordinates(lo, c));
        else
            EMIT(lo, OP_UPDATE, c->target, c->source, c->fn, c->cls);
        break;
    case CIN_MOVE:
        EMIT(lo, OP_MOVE, c->target, c->source);
        break;
    }
}

/* A part that is computed first, from where its assembly begins to where it is whole, which
 * is given: the result goes on as it was. */
static const cin *lower_part(lowering *lo, const cin *c)
{
    const int target = lo->target;
    uint16_t place[STC_MAX_ORDER];
    memcpy(place, lo->place, sizeof place);
    lo->target = c->target;
    for (bool whole = false; !whole && !lo->status; c = whole ? c : c->next) {
        whole = c->kind == CIN_FINISH;
        lower_forget(lo);
        lo->placed = 0;
        lower_node(lo, c);
    }
    memcpy(lo->place, place, sizeof place);
    lo->target = target;
    return c;
}

void lower_nodes(lowering *lo, const cin *c)
{
    for (; c && !lo->status; c = c->next) {
        lower_forget(lo);
        int placed = lo->placed;
        if (c->kind == CIN_BEGIN && precompute_of(lo->pl, c->target))
            c = lower_part(lo, c);
        else
            lower_node(lo, c);
        lo->placed = placed;
    }
    lower_forget(lo);
}

/* ---- a statement -------------------------------------------------------------------- */

static void lower_conversions(lowering *lo)
{
    const plan *pl = lo->pl;
    for (int k = 0; k < pl->naccess; k++) {
        bool done = !pl->access[k].converted;
        for (int m = 0; m < k && !done; m++)
            done = pl->access[m].converted && pl->access[m].tensor == pl->access[k].tensor;
        if (!done) EMIT(lo, OP_CONVERT, pl->access[k].tensor, pl->access[k].source);
    }
}

/* Result indices get registers in a row, in level order, so that a workspace
 * finds its coordinates side by side; the others follow. */
static void index_registers(lowering *lo)
{
    const plan *pl = lo->pl;
    const format *f = &lo->p->tensor[pl->target].fmt;
    uint64_t done = 0;
    for (int l = 0; l < f->levels; l++) {
        const affine *at = &pl->s->sub[f->level[l].map.mode];
        if (!at->terms || ((done >> at->term[0].index) & 1)) continue;
        lo->index[at->term[0].index] = (uint16_t)lower_ireg(lo);
        done |= UINT64_C(1) << at->term[0].index;
    }
    for (int k = 0; k < pl->s->nindex; k++)
        if (!((done >> k) & 1)) lo->index[k] = (uint16_t)lower_ireg(lo);
}

stc_status lower_plan(plan *pl)
{
    lowering *lo = arena_part(pl->a, sizeof *lo, offsetof(lowering, temp));
    if (!lo) return STC_ERR_MEMORY;
    lo->pl = pl;
    lo->p = pl->p;
    lo->at = pl->s->at;
    lo->chosen = lo->taken = -1;
    if (pl->ntemp > 256)
        return fail_source(pl->src, STC_ERR_PROGRAM, pl->s->at,
                           "a statement has at most 256 reductions; split it in two");
    for (int k = 0; k < pl->ntemp; k++) {
        lo->temp[k] = lo->started[k] = 0;
        lo->told[k] = false;
        lo->rest[k] = ROOT;
        lo->lazy[k] = (lazy_value){0};
    }
    uint16_t *levels = arena_array(pl->a, pl->naccess * STC_MAX_ORDER + 1, sizeof *levels);
    if (!levels) return STC_ERR_MEMORY;
    for (int k = 0; k < pl->naccess; k++)
        lo->cursor[k] = levels + k * STC_MAX_ORDER;
    lower_forget(lo);
    lo->subsect = subsects_within(lo, NULL);
    const bexpr *const fill_of = pl->s->fill_of ? pl->s->fill_of : pl->root_value;
    lower_functions(lo, pl->root_value);
    if (pl->s->fill_of) lower_functions(lo, pl->s->fill_of);
    if (pl->s->mask) lower_functions(lo, pl->s->mask);
    for (int k = 0; k < pl->npre; k++)
        lower_functions(lo, pl->pre[k].value);
    lower_merging(lo, pl->root);
    index_registers(lo);
    lower_conversions(lo);
    lo->bound = plan_bound(pl, 0);
    lo->target = pl->target;
    for (int k = 0; k < pl->nbefore; k++)
        lower_late(lo, &pl->before[k], 0, false);
    if (pl->p->tensor[pl->s->target].fill_later) {
        int r = lower_fill(lo, fill_of);
        EMIT(lo, OP_SETFILL, pl->s->target, r);
        if (pl->target != pl->s->target) EMIT(lo, OP_SETFILL, pl->target, r);
    }
    lower_rest_fills(lo, pl->root, false);
    if (pl->compares) lower_ranges_ahead(lo, pl->root);
    lower_forget(lo);
    lower_all(lo);
    program *p = pl->p;
    if (lo->ni > p->ni) p->ni = lo->ni;
    if (lo->nv > p->nv) p->nv = lo->nv;
    if (lo->nm > p->nm) p->nm = lo->nm;
    if (lo->nc > p->nc) p->nc = lo->nc;
    return lo->status;
}
