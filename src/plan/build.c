/* build.c: concrete index notation: loops, temporaries, workspaces.
 *
 * The right side is seen as additive terms with reductions of their own. Given
 * a prefix of loops that all terms share (order.c), each term's own loops run
 * inside it and meet in the innermost place:
 *
 *   prefix = all of the result's indices   every reduction is a scalar
 *       temporary, evaluated as soon as its free indices are bound (hoisted);
 *   the result inserts                     terms accumulate in it;
 *   otherwise                              in a workspace over the result's
 *       other indices, then read in order (workspaces paper, §6.2: this is
 *       where results would be scattered into levels that only append).
 *
 * The cases of planning.md 3 (terms with reductions of their own), 8 (results
 * out of order) and 2 (fills) are all this one mechanism.
 */
#include "../../formats/join.h"
#include "build.h"
#include <string.h>

cin *cin_new(plan *pl, cin_kind kind)
{
    cin *c = arena_alloc(pl->a, sizeof *c);
    if (!c) return NULL;
    c->kind = kind;
    c->index = c->target = c->source = c->fn = -1;
    return c;
}

void list_init(list *l)
{
    *l = (list){.end = &l->first};
}

void list_add(list *l, cin *c)
{
    if (!c) {
        l->failed = true;
        return;
    }
    *l->end = c;
    while (*l->end)
        l->end = &(*l->end)->next;
}

void list_join(list *l, list *more)
{
    l->failed |= more->failed;
    if (more->first) list_add(l, more->first);
}

cin *cin_target(plan *pl, cin_kind kind, int target)
{
    cin *c = cin_new(pl, kind);
    if (c) c->target = target;
    return c;
}

/* ---- sinks -------------------------------------------------------------------------- */

cin *cin_sink(plan *pl, cin_kind kind, int target, bexpr *value_, int nsub, affine *sub)
{
    cin *c = nsub && !sub ? NULL : cin_target(pl, kind, target); /* no memory for sub */
    if (!c) return NULL;
    c->value = value_;
    c->nsub = nsub;
    c->sub = sub;
    return c;
}

/* A workspace over the result's indices from `first` on. */
static prog_tensor workspace_row(const builder *b, int first)
{
    const plan *pl = b->pl;
    prog_tensor w = {.name = "",
                     .role = ROLE_WORK,
                     .type = class_type(b->cls),
                     .policy = pl->schedule.policy,
                     .single = pl->schedule.single,
                     .capacity = pl->schedule.capacity};
    if (b->sum->type == STC_BOOL) w.type = STC_BOOL;
    w.order = b->nresult - first;
    for (int k = 0; k < w.order; k++)
        w.shape[k] = (uint16_t)pl->s->index[b->result[first + k]].hi;
    format_all(&w.fmt, w.order, level_sparse());
    w.fill = b->identity;
    return w;
}

int workspace_slot(builder *b, int first)
{
    const prog_tensor w = workspace_row(b, first);
    return program_tensor(b->pl->p, &w);
}

/* … that counts. */
static int count_slot(builder *b, int first)
{
    prog_tensor w = workspace_row(b, first);
    w.type = STC_I64;
    w.fill = (value){.i64 = 0};
    return program_tensor(b->pl->p, &w);
}

/* The root expression with its sum replaced by what stands for it. */
static bexpr *root_over(builder *b, bexpr *from, bexpr *stand_in)
{
    if (from == b->sum) return expr_conv(b->pl->a, stand_in, from->type);
    bexpr *inner = root_over(b, from->args[0], stand_in);
    return inner ? expr_conv(b->pl->a, inner, from->type) : NULL;
}

/* What a workspace is at a place, read in order. */
static bexpr *drained(builder *b, int w, int first)
{
    plan *const pl = b->pl;
    affine *const sub = bare_subs(pl->a, b->result + first, b->nresult - first);
    bexpr *const read = sub ? expr_access(pl->a, pl->p, w, sub, pl->s->at) : NULL;
    if (!read || plan_access_add(pl, read) < 0) return NULL;
    pl->access[read->mark].drain = true;
    return read;
}

/* Reads workspace w in order into the target. */
stc_status drain_workspace(builder *b, int w, int first, int target, list *out)
{
    plan *pl = b->pl;
    bexpr *const read = drained(b, w, first);
    bexpr *const count = b->counted ? drained(b, b->count, first) : NULL;
    bexpr *const met = b->counted ? with_rest(b, read, count) : read;
    if (!read || !met) return STC_ERR_MEMORY;
    bexpr *all = root_over(b, b->root, met);
    cin *store = cin_sink(pl, CIN_STORE, target, all, b->nresult, b->sub);
    if (!all || !store) return STC_ERR_MEMORY;
    store->append = true;
    const pset *space = b->everywhere ? pset_all() : pset_stored(pl, read->mark);
    return nest_build(pl, b->result + first, b->nresult - first, space, 0, all, store, out);
}

/* The first level from which on all take values at any place in any order. */
static int inserts_from(const format *f)
{
    int l = f->levels;
    while (l > 0 && (f->level[l - 1].kind->caps & CAP_INSERT) &&
           (format_props(f, l - 1) & PROP_FULL))
        l--;
    const bool some = l == 0 || (l < f->levels && format_appends(f));
    return some && format_is_plain(f) ? l : NEVER_INSERTS;
}

/* Whether a call of 0s and 1s is 0 or 1: as many as it has operands are tried. */
static bool keeps_truth(const bexpr *e)
{
    enum { OPERANDS = 3 };
    const fn_scalar f = fn_scalar_of(e->fn, e->cls);
    const value one = class_convert(e->cls, CLASS_I64, (value){.i64 = 1});
    if (!f || e->nargs > OPERANDS) return false;
    for (int set = 0; set < 1 << e->nargs; set++) {
        value arg[OPERANDS] = {{0}}, v;
        for (int k = 0; k < e->nargs; k++)
            arg[k] = class_convert(e->cls, CLASS_I64, (value){.i64 = set >> k & 1});
        if (f(&v, &arg[0], &arg[1], &arg[2]) != FAULT_NONE) return false;
        if (!class_is_zero(e->cls, v) && !class_equal(e->cls, v, one)) return false;
    }
    return true;
}

/* An expression that is 0 or 1. */
static bool is_truth(const plan *pl, const bexpr *e)
{
    if (e->kind == B_ACCESS) return pl->p->tensor[e->tensor].type == STC_BOOL;
    if (e->kind == B_CONV) return is_truth(pl, e->args[0]);
    if (e->kind != B_CALL) return false;
    if (fn_at(e->fn)->typing == TY_COMPARE || fn_at(e->fn)->typing == TY_LOGIC) return true;
    for (int k = 0; k < e->nargs; k++)
        if (!is_truth(pl, e->args[k])) return false;
    return keeps_truth(e);
}

/* A reduction of truth values of which only is stored whether it is 0, as a sum is stored
 * as any of them: that can meet in the result, where a sum couldn't. */
static void reduce_truth(builder *b)
{
    const prog_tensor *t = &b->pl->p->tensor[b->pl->s->target];
    const bool only = b->root == b->sum || b->root->args[0] == b->sum;
    const int truth = b->ufn ? -1 : fn_truth(b->fn);
    value none;
    if (!b->reduces || truth < 0 || t->type != STC_BOOL || !only ||
        b->root->type != STC_BOOL || b->cls > CLASS_U64 ||
        inserts_from(&t->fmt) == NEVER_INSERTS ||
        !fn_identity(truth, b->cls, STC_BOOL, &none) ||
        !class_equal(b->cls, none, b->identity))
        return;
    for (int k = 0; k < b->nterm; k++)
        if (!is_truth(b->pl, b->term[k].value)) return;
    b->fn = truth;
}

/* The loops of every term below the prefix, into result or workspace. */
static stc_status term_nests(builder *b, int prefix, int target, bool insert, list *out)
{
    plan *pl = b->pl;
    uint64_t bound = 0;
    const int first = b->shared.cover[prefix];
    const bool above = insert && inserts_from(&pl->p->tensor[target].fmt) > 0;
    for (int k = 0; k < prefix; k++)
        bound |= UINT64_C(1) << b->shared.index[k];
    for (int t = 0; t < b->nterm; t++) {
        term *te = &b->term[t];
        cin_kind kind = !insert ? CIN_WSADD : b->reduces ? CIN_ACC : CIN_STORE;
        cin *leaf = insert
                        ? cin_sink(pl, kind, target, te->value, b->nresult, b->sub)
                        : cin_sink(pl, kind, target, te->value, b->nresult - first,
                                   bare_subs(pl->a, b->result + first, b->nresult - first));
        if (!leaf) return STC_ERR_MEMORY;
        leaf->fn = b->reduces ? b->fn : FN_UNMET;
        leaf->ufn = b->ufn;
        leaf->cls = b->cls;
        leaf->append = above;
        stc_status st = reach_ask(pl, leaf, te->value, b->reduces ? &b->identity : b->fill);
        if (!st)
            st = nest_build(pl, te->order, te->norder, te->space, bound, te->value, leaf,
                            out);
        if (!st && b->counted) st = count_elements(b, te, first, bound, out);
        if (st) return st;
    }
    return STC_OK;
}

/* Wraps `inner` in the first `prefix` of the shared loops. */
static void wrap_prefix(builder *b, int prefix, list *due, list *inner, list *out)
{
    for (int k = prefix - 1; k >= 0; k--) {
        list_join(&due[k + 1], inner);
        *inner = due[k + 1];
        if (!inner->first) list_init(inner);
        cin *loop = cin_new(b->pl, CIN_FORALL);
        if (!loop || inner->failed) {
            out->failed = true;
            return;
        }
        loop->index = b->shared.index[k];
        loop->space = precompute_space(b->pl, b->space, k);
        inner->failed |= !loop->space;
        loop->body = inner->first;
        list_init(inner);
        list_add(inner, loop);
    }
    list_join(out, inner);
}

/* Whether a term's innermost loop steps along runs: it is over that index, and all that is
 * read there has regions. */
static bool goes_by_runs(const plan *pl, const term *t, int index)
{
    bool runs = false;
    if (!t->norder || t->order[t->norder - 1] != index) return false;
    for (uint64_t left = expr_uses(t->value); left; left &= left - 1) {
        const paccess *x = &pl->access[__builtin_ctzll(left)];
        for (int l = 0; l < x->levels; l++) {
            if (!affine_has(&x->level[l].at, index)) continue;
            if (!(x->level[l].kind->caps & CAP_REGION)) return false;
            runs = true;
        }
    }
    return runs;
}

/* Where rows of runs are reduced, the result's last index being inside of what is reduced,
 * and the result takes runs or has all coordinates: a workspace of runs is what they are
 * folded in, run by run. */
static bool folds_runs(const builder *b, int first)
{
    const plan *pl = b->pl;
    const format *f = &pl->p->tensor[pl->s->target].fmt;
    const bool takes = f->level[f->levels - 1].kind->caps & CAP_APPEND_REGION ||
                       format_props(f, f->levels - 1) & PROP_FULL;
    if (b->nresult - first != 1 || !b->reduces || b->ufn || pl->schedule.policy || !takes ||
        !(fn_at(b->fn)->flags & FP_ASSOCIATIVE))
        return false;
    for (int t = 0; t < b->nterm; t++)
        if (!goes_by_runs(pl, &b->term[t], b->result[first])) return false;
    return true;
}

/* Whether a workspace over all of the result's levels is the result as it stands, but for
 * the name: then it is taken as a whole, and not read entry by entry. */
static bool takes_workspace(const builder *b, const choice *c, int target)
{
    const plan *pl = b->pl;
    const prog_tensor *t = &pl->p->tensor[target];
    if (!pl->s->whole || c->whole || c->insert || c->prefix || b->everywhere ||
        b->counted || b->root != b->sum || t->role == ROLE_INOUT || t->fill_later ||
        pl->npre || folds_runs(b, 0))
        return false;
    const prog_tensor w = workspace_row(b, 0);
    for (int k = 0; k < w.order; k++)
        if (w.shape[k] != t->shape[k]) return false;
    return w.type == t->type && format_equal(&w.fmt, &t->fmt) &&
           class_equal(type_class(t->type), w.fill, t->fill);
}

static stc_status build_taken(builder *b, const choice *c, int target, list *out)
{
    plan *pl = b->pl;
    const int w = workspace_slot(b, 0);
    cin *const move = cin_target(pl, CIN_MOVE, target);
    if (w < 0 || !move) return STC_ERR_MEMORY;
    move->source = w;
    remark_workspace(b, c, w);
    list_add(out, cin_target(pl, CIN_WSBEGIN, w));
    const stc_status st = term_nests(b, 0, w, false, out);
    list_add(out, cin_target(pl, CIN_WSEND, w));
    list_add(out, move);
    return st;
}

static stc_status build_split(builder *b, const choice *c, int target, list *out)
{
    plan *pl = b->pl;
    list inner, due[65];
    list_init(&inner);
    uint64_t bound = 0;
    for (int k = 1; k <= c->prefix; k++) {
        list_init(&due[k]);
        bound |= UINT64_C(1) << b->shared.index[k - 1];
        stc_status st = precompute_emit(pl, bound, 0, k, &due[k]);
        if (st) return st;
    }
    const int first = b->shared.cover[c->prefix];
    const bool runs = !c->insert && folds_runs(b, first);
    int w = c->insert ? target : workspace_slot(b, first);
    if (w < 0) return STC_ERR_MEMORY;
    if (runs) format_all(&pl->p->tensor[w].fmt, 1, level_runs());
    remark_workspace(b, c, w);
    if (b->counted && (b->count = count_slot(b, first)) < 0) return STC_ERR_MEMORY;
    if (!c->insert) list_add(&inner, cin_target(pl, CIN_WSBEGIN, w));
    if (b->counted) list_add(&inner, cin_target(pl, CIN_WSBEGIN, b->count));
    stc_status st = term_nests(b, c->prefix, w, c->insert, &inner);
    if (st) return st;
    if (!c->insert) {
        list_add(&inner, cin_target(pl, CIN_WSEND, w));
        if (b->counted) list_add(&inner, cin_target(pl, CIN_WSEND, b->count));
        st = drain_workspace(b, w, first, target, &inner);
        if (st) return st;
    }
    wrap_prefix(b, c->prefix, due, &inner, out);
    return STC_OK;
}

static stc_status build_whole(builder *b, int target, list *out)
{
    plan *pl = b->pl;
    cin *store = cin_sink(pl, CIN_STORE, target, b->root, b->nresult, b->sub);
    if (!store) return STC_ERR_MEMORY;
    store->append = true;
    stc_status st = reach_ask(pl, store, b->root, b->fill);
    if (st) return st;
    const format *f = &pl->p->tensor[target].fmt;
    if (b->fill && format_stores_all(f) && format_finds_places(f)) /* none is appended */
        store->guard = only_where(pl, b->root, *b->fill);
    return nest_build(pl, b->shared.index, b->shared.n, b->space, 0, b->root, store, out);
}

/* ---- the statement ------------------------------------------------------------------ */

static bool reads_target(const plan *pl)
{
    for (int k = 0; k < pl->naccess; k++)
        if (pl->access[k].source == pl->s->target) return true;
    return !pl->s->whole && !pl->s->fresh;
}

/* Rows that threads are asked to share, of a format that isn't put together from parts:
 * runs are, and are converted run by run. */
static bool shares_runs(const plan *pl, const format *f)
{
    return pl->schedule.shared && f->levels > 1 && !join_possible(f) &&
           f->level[f->levels - 1].kind->caps & CAP_APPEND_REGION;
}

/* Where the result is assembled: the target itself, or a temporary that is
 * moved or converted into it at the end. */
static int assembly_slot(const builder *b, cin_kind *last)
{
    plan *pl = b->pl;
    const prog_tensor *of = &pl->p->tensor[pl->s->target];
    const bool direct = (format_is_plain(&of->fmt) && format_appends(&of->fmt)) ||
                        b->native == NATIVE_LEVELS;
    const bool runs = direct && shares_runs(pl, &of->fmt);
    *last = direct && !runs ? CIN_MOVE : CIN_CONVERT;
    if (direct && !runs && !reads_target(pl) && of->role != ROLE_INOUT)
        return pl->s->target;
    prog_tensor t = *of;
    if (runs) t.fmt.level[t.fmt.levels - 1].kind = level_runs();
    if (!direct && !plan_stream_made(pl, &of->fmt, pl->s->sub, &t.fmt))
        format_all(&t.fmt, t.order, level_sparse());
    t.role = ROLE_TEMP;
    t.name = "";
    return program_tensor(pl->p, &t);
}

static void result_levels(builder *b, int target)
{
    plan *pl = b->pl;
    const format *f = &pl->p->tensor[target].fmt;
    b->nresult = f->levels;
    for (int l = 0; l < f->levels; l++) {
        b->sub[l] = pl->s->sub[f->level[l].map.mode];
        if (b->native == NATIVE_LEVELS) b->sub[l] = (affine){1, {{b->result[l], 1}}, 0};
        b->result[l] = b->sub[l].terms ? b->sub[l].term[0].index : -1;
    }
}

/* Whether values may meet in elements of the result's type as well as in the sum's: the
 * same type, or integers that are cut to their low bits at each step, not at the end. */
static bool sums_in(const builder *b, stc_type type)
{
    if (type == b->sum->type || (type == STC_BOOL && b->fn == FN_OR)) return true;
    const bool whole = b->cls == CLASS_I64 || b->cls == CLASS_U64;
    return whole && type != STC_BOOL && type_class(type) == b->cls &&
           fn_at(b->fn)->flags & FP_WRAPS;
}

/* The parts of the choice that don't depend on cost. */
static void freedoms(const builder *b, int target, bool *splittable, int *inserts)
{
    const prog_tensor *t = &b->pl->p->tensor[target];
    bool single = b->nterm == 1 && !b->reduces;
    bool starts = b->reduces && b->fill && !t->fill_later;
    if (starts) {
        vclass cls = type_class(t->type); /* nothing added must be the fill */
        value none = class_convert(cls, b->cls, b->identity);
        if (t->type == STC_BOOL) none.i64 = !class_is_zero(b->cls, b->identity);
        starts = class_equal(cls, type_round(t->type, none), *b->fill);
    }
    *splittable = (single || starts) && b->native != NATIVE_LEVELS;
    const bool meets = !b->ufn && (single || (starts && sums_in(b, t->type)));
    *inserts = meets ? inserts_from(&t->fmt) : NEVER_INSERTS;
}

/* Terms may loop in different orders: an access that two of them make is two. */
static stc_status separate_terms(builder *b)
{
    plan *pl = b->pl;
    for (int t = 0; t < b->nterm && b->nterm > 1; t++) {
        pl->group = t + 1;
        stc_status st = plan_accesses(pl, b->term[t].value);
        if (st) return st;
    }
    if (b->nterm > 1) b->space = result_space(pl, b->root, b->fill);
    return b->space ? STC_OK : STC_ERR_MEMORY;
}

/* The loops that the terms share, and those that each has of its own. */
static stc_status term_loops(builder *b)
{
    plan *pl = b->pl;
    uint64_t result = 0, shared = 0, uses = expr_uses(b->term[0].value);
    for (int l = 0; l < b->nresult; l++)
        result |= UINT64_C(1) << b->result[l];
    loops_of_result(pl, b->result, b->nresult, uses, b->nterm > 1, &b->shared);
    /* positions visit what is stored: no way to store the rest of the result */
    if (loops_check_space(pl, result, b->space, expr_uses(b->root))) {
        diag_clear(pl->p->cx);
        b->shared = (result_loops){.levels = b->nresult};
    }
    if (b->parted) b->shared.complete = false;
    for (int k = 0; k < b->shared.n; k++)
        shared |= UINT64_C(1) << b->shared.index[k];
    for (int t = 0; t < b->nterm; t++) {
        term *te = &b->term[t];
        uses = expr_uses(te->value);
        te->own = loops_set(pl, result | te->reduced, uses) & ~shared;
        stc_status st = loops_check_space(pl, result | te->reduced, te->space, uses);
        if (st) return st;
    }
    return STC_OK;
}

static bool reads_runs(const builder *b)
{
    const plan *pl = b->pl;
    for (int k = 0; k < pl->naccess; k++)
        for (int l = 0; l < pl->access[k].levels; l++)
            if (pl->access[k].level[l].kind->caps & CAP_REGION) return true;
    return false;
}

static stc_status order_terms(builder *b, int target, choice *c)
{
    plan *pl = b->pl;
    bool splittable;
    int inserts;
    freedoms(b, target, &splittable, &inserts);
    b->counted = !splittable && !reads_runs(b) && terms_counted(b);
    if (b->counted) {
        splittable = true;
        inserts = NEVER_INSERTS;
    }
    for (int t = 0; t < b->nterm; t++) {
        const bexpr *const e = b->term[t].value;
        b->term[t].space = b->counted   ? expr_space(pl, e, NULL)
                           : b->reduces ? expr_space(pl, e, &b->identity)
                                        : result_space(pl, e, b->fill);
        b->term[t].order = arena_room(pl->a, 64, sizeof *b->term[t].order);
        if (!b->term[t].space || !b->term[t].order) return STC_ERR_MEMORY;
    }
    if (b->native == NATIVE_INSERT) { /* one term, all of whose loops are its own */
        b->term[0].own = (b->term[0].reduced | b->loops) & ~pl->derived_set;
        b->shared = (result_loops){.complete = true};
        bool found = plan_order(pl, b->term, 1, &b->shared, false, 0, c);
        c->insert = true;
        return found ? STC_OK : schedule_fail(pl, "there is no such order of levels");
    }
    stc_status st = term_loops(b);
    if (st) return st;
    const bool found =
        plan_order(pl, b->term, b->nterm, &b->shared, splittable, inserts, c);
    const double cost = c->cost;
    b->counted &= found && !c->whole;
    b->everywhere = !splittable && b->native != NATIVE_LEVELS;
    if (found && !(b->everywhere && reads_runs(b))) {
        b->everywhere = false;
        return STC_OK;
    }
    b->shared.apart = b->everywhere; /* each workspace is read to the last value */
    if (found) {                     /* rows of runs are rather folded than converted */
        if (plan_order(pl, b->term, b->nterm, &b->shared, true, NEVER_INSERTS, c) &&
            c->cost < cost && !c->whole && folds_runs(b, b->shared.cover[c->prefix]))
            return STC_OK;
        b->everywhere = b->shared.apart = false;
        plan_order(pl, b->term, b->nterm, &b->shared, false, inserts, c);
        return STC_OK;
    }
    if (b->everywhere &&
        plan_order(pl, b->term, b->nterm, &b->shared, true, NEVER_INSERTS, c))
        return STC_OK;
    if (pl->schedule.shared)
        return schedule_fail(pl,
                             "no order of the loops is like that and has %s outside all "
                             "others, for threads to share it",
                             pl->schedule.shared_at->child[0]->name);
    return schedule_fail(pl, "no order of the loops is like that");
}

/* ---- copies ---------------------------------------------------------------------- */

/* Whether conversions keep all that the tensor stores, once each. */
static bool stores_entries(const format *f)
{
    if (!format_is_plain(f) || f->levels == 0) return false;
    bool unique = true; /* so far: duplicates that aren't in order would be lost */
    for (int l = 0; l < f->levels; l++) {
        const uint32_t props = format_props(f, l);
        const bool last = l + 1 == f->levels;
        unique = unique && props & PROP_UNIQUE;
        if (last && ((props & PROP_FULL) || !(props & PROP_UNIQUE))) return false;
        if (!unique && !(props & PROP_ORDERED)) return false;
    }
    return true;
}

/* B(i,j) = A(i,j), where only the format changes, or B(j,i) = A(i,j), where the modes do,
 * too: the slot of A, else -1. made: what A is converted to, B with A's modes. */
static int copied_slot(const builder *b, prog_tensor *made)
{
    const plan *pl = b->pl;
    const bstmt *s = pl->s;
    const bexpr *e = b->root;
    if (!s->whole || s->op >= 0 || e->kind != B_ACCESS || e->pad) return -1;
    const prog_tensor *to = &pl->p->tensor[s->target], *from = &pl->p->tensor[e->tensor];
    if (e->tensor == s->target || from->order != to->order || to->fill_later ||
        from->fill_later || from->type != to->type || !stores_entries(&from->fmt) ||
        !class_equal(type_class(to->type), to->fill, from->fill))
        return -1;
    uint64_t seen = 0;
    int mode[STC_MAX_ORDER];
    for (int m = 0; m < to->order; m++) {
        if (s->sub[m].terms != 1) return -1;
        int i = s->sub[m].term[0].index, at = 0;
        while (at < to->order && !affine_bare(&e->sub[at], i))
            at++;
        if (at == to->order || !affine_bare(&s->sub[m], i)) return -1;
        if (((seen >> i) & 1) || s->index[i].lo >= 0) return -1;
        const extent *hi = &pl->p->ext[s->index[i].hi];
        if (hi->op != EXT_DIM || (hi->a != e->tensor && hi->a != s->target)) return -1;
        seen |= UINT64_C(1) << i;
        mode[m] = at;
    }
    *made = *to;
    for (int m = 0; m < to->order; m++)
        made->shape[mode[m]] = to->shape[m];
    if (!format_renumber(&to->fmt, mode, &made->fmt)) return -1;
    return format_equal(&from->fmt, &made->fmt) ? -1 : e->tensor;
}

static stc_status build_copy(builder *b, int from, prog_tensor *made)
{
    plan *pl = b->pl;
    const bool same = format_equal(&made->fmt, &pl->p->tensor[pl->s->target].fmt);
    if (pl->why)
        text_add(pl->why, "only the format%s: %s is converted as a whole\n",
                 same ? " changes" : " and the order of the modes change",
                 pl->p->tensor[from].name);
    made->keep_while = pl->p->tensor[from].role == ROLE_INPUT;
    made->source = (uint16_t)from;
    made->role = ROLE_TEMP;
    made->name = "";
    const int to = same ? pl->s->target : program_tensor(pl->p, made);
    cin *c = to < 0 ? NULL : cin_target(pl, CIN_CONVERT, to);
    if (!c) return STC_ERR_MEMORY;
    c->source = from;
    if (!same && (c->next = cin_target(pl, CIN_MOVE, pl->s->target))) c->next->source = to;
    pl->target = pl->s->target;
    pl->root = c;
    return same || c->next ? STC_OK : STC_ERR_MEMORY;
}

plan *plan_new(arena *a, program *p, const source *src, bstmt *s)
{
    plan *pl = arena_part(a, sizeof *pl, offsetof(plan, schedule.rank));
    if (!pl) return NULL;
    pl->a = a;
    pl->p = p;
    pl->src = src;
    pl->s = s;
    return pl;
}

/* The right side in the result's type, what it reads, and what is free of the result. */
static stc_status settle(plan *pl, const pset **space)
{
    bstmt *s = pl->s;
    plan_computed(pl);
    stc_status st = plan_schedule(pl);
    if (!st && s->mask) st = mask_settle(pl);
    if (st) return st;
    bexpr *root = s->op < 0 ? s->value : s->computed ? update_value(pl) : accumulated(pl);
    if (!s->computed || s->op < 0)
        root = expr_conv(pl->a, root, pl->p->tensor[s->target].type);
    if (!root) return STC_ERR_MEMORY;
    pl->root_value = root;
    st = precompute_accesses(pl);
    bexpr *const guarded = masked(pl, root);
    if (guarded) expr_note_waits(guarded);
    if (!st) st = guarded ? plan_accesses(pl, guarded) : STC_ERR_MEMORY;
    return st ? st : plan_result(pl, root, space);
}

stc_status plan_settle(plan *pl)
{
    const pset *space;
    return settle(pl, &space);
}

stc_status plan_settle_fill(plan *pl)
{
    bstmt *s = pl->s;
    if (s->fill_given) return STC_OK;
    bexpr *root = s->op < 0 ? s->value : accumulated(pl);
    root = expr_conv(pl->a, root, pl->p->tensor[s->target].type);
    if (!root) return STC_ERR_MEMORY;
    plan_fill(pl, root);
    return STC_OK;
}

static stc_status unfindable(const plan *pl)
{
    return fail_source(pl->src, STC_ERR_PROGRAM, pl->s->at,
                       "`%s=` at a computed subscript needs levels that find a place, as "
                       "dense, compressed, hashed and bytemap do, or a fill that changes "
                       "nothing; %s has neither",
                       fn_at(pl->s->op)->symbol ? fn_at(pl->s->op)->symbol
                                                : fn_at(pl->s->op)->name,
                       pl->p->tensor[pl->s->target].name);
}

/* What is met has the class of what it meets: `or` of unsigned elements hasn't. */
static stc_status check_meeting(const plan *pl)
{
    const bstmt *s = pl->s;
    const prog_tensor *t = &pl->p->tensor[s->target];
    if (!s->computed || s->op < 0 || s->fresh) return STC_OK;
    if (fn_result_class(s->op, type_class(t->type)) != type_class(t->type))
        return fail_source(pl->src, STC_ERR_PROGRAM, s->at,
                           "`%s=` at a computed subscript gives truth values: expected a "
                           "tensor of bool or of signed integers, %s is %s",
                           fn_at(s->op)->symbol ? fn_at(s->op)->symbol : fn_at(s->op)->name,
                           t->name, type_name(t->type));
    return STC_OK;
}

stc_status plan_build(plan *pl)
{
    bstmt *s = pl->s;
    builder b;
    prog_tensor *t;
    memset(&b, 0, offsetof(builder, loop));
    b.pl = pl;
    b.sub = arena_room(pl->a, STC_MAX_ORDER, sizeof *b.sub);
    if (!b.sub) return STC_ERR_MEMORY;
    stc_status st = check_meeting(pl);
    if (!st) st = settle(pl, &b.space);
    b.root = pl->root_value;
    if (!st) st = find_terms(&b);
    if (!st) reduce_truth(&b);
    if (st) return st;
    t = &pl->p->tensor[s->target];
    b.fill = t->fill_later ? NULL : &t->fill;
    value fill = t->fill;
    if (b.fill) b.fill = &fill;

    prog_tensor made;
    const int copied = copied_slot(&b, &made);
    if (copied >= 0 && !pl->schedule.nrel && !pl->npre && !pl->schedule.shared)
        return build_copy(&b, copied, &made);
    list out;
    list_init(&out);
    pl->target = s->target;
    if (s->block) return build_block(&b, &out);
    if (updates(&b)) return build_update(&b, &out);
    if (s->computed && !s->fresh && s->op >= 0 && !update_meets_fill(pl))
        return unfindable(pl);
    bool splittable;
    int inserts;
    freedoms(&b, s->target, &splittable, &inserts);
    /* loops over an operand's own levels add in one type */
    st = plan_native(&b, inserts == 0 && t->type == b.sum->type);
    if (st) return st;
    cin_kind last;
    choice c = {0};
    pl->target = assembly_slot(&b, &last);
    if (pl->target < 0) return STC_ERR_MEMORY;
    result_levels(&b, pl->target);
    st = separate_terms(&b);
    if (!st && s->whole) st = order_terms(&b, pl->target, &c);
    if (!st && s->whole && c.whole && !c.insert) st = first_apart(&b, b.root);
    if (st) return st;
    const bool taken = takes_workspace(&b, &c, pl->target);
    if (!taken) list_add(&out, cin_target(pl, CIN_BEGIN, pl->target));
    st = precompute_emit(pl, 0, 0, 0, &out);
    if (st) return st;
    st = !s->whole              ? build_partial(&b, pl->target, &out)
         : taken                ? build_taken(&b, &c, pl->target, &out)
         : c.whole && !c.insert ? build_whole(&b, pl->target, &out)
                                : build_split(&b, &c, pl->target, &out);
    if (st) return st;
    if (!taken) list_add(&out, cin_target(pl, CIN_FINISH, pl->target));
    if (pl->target != s->target) {
        cin *end = cin_target(pl, last, s->target);
        if (end) end->source = pl->target;
        list_add(&out, end);
    }
    pl->root = out.first;
    return out.failed ? STC_ERR_MEMORY : STC_OK;
}
