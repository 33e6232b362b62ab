/* nests.c: loops around a leaf, and reductions as scalar temporaries.
 *
 * Every reduction inside an expression becomes a temporary, evaluated by loops
 * its own before the first loop that doesn't change it (hoisting). One that could
 * fault, in a side of a choice, is only prepared there, to run where it is read.
 * Takes a sequence of loops, a space and a leaf; gives a list of nodes.
 */
#include "../../vm/code/build.h"
#include "build.h"
#include <string.h>

/* A reduction that has no temporary yet. */
typedef struct pending {
    bexpr *r;
    bool lazy; /* it may fault, and may not be asked for                       */
} pending;

static stc_status reduce_nest(plan *pl, bexpr *r, uint64_t bound, list *out);

/* The outermost reductions of e that have no temporary yet; waits: e may not be taken. */
static int pending_reductions(bexpr *e, bool waits, pending *out, int n, int max)
{
    if (e->kind == B_REDUCE) {
        if (e->mark < 0 && n < max)
            out[n++] = (pending){.r = e, .lazy = waits && expr_may_fault(e)};
        return n;
    }
    for (int k = 0; k < e->nargs; k++)
        n = pending_reductions(e->args[k], waits || expr_side_waits(e, k), out, n, max);
    return n;
}

typedef struct nest {
    plan *pl;
    const int *seq;
    int n;
    const pset *space;
    uint64_t uses;
    pending todo[64];
    int ntodo;
    cin *leaf;
    bexpr *only; /* the leaf's guard, until it is tested            */
} nest;

/* Whether threads share one of the loops from `depth` on. */
static bool shared_from(const nest *ne, int depth)
{
    for (int k = depth; k < ne->n; k++)
        if ((ne->pl->schedule.shared >> ne->seq[k]) & 1) return true;
    return false;
}

/* The loops of a reduction, to be run where it is read: once for all rounds of the
 * loops that follow. Rounds on several threads each have their own. */
static stc_status lazy_nest(nest *ne, bexpr *r, int depth, uint64_t bound, list *out)
{
    list body;
    list_init(&body);
    if (shared_from(ne, depth)) return STC_OK; /* further in */
    cin *lazy = cin_new(ne->pl, CIN_LAZY);
    if (!lazy) return STC_ERR_MEMORY;
    stc_status st = reduce_nest(ne->pl, r, bound, &body);
    if (st) return st;
    lazy->temp = r->mark;
    lazy->once = depth < ne->n;
    lazy->body = body.first;
    out->failed |= body.failed;
    list_add(out, lazy);
    return STC_OK;
}

/* Whether all levels that loops over the space go through have a property. */
static bool all_have(const plan *pl, const pset *space, unsigned prop)
{
    for (uint64_t set = pset_accesses(space); set; set &= set - 1) {
        const paccess *x = &pl->access[__builtin_ctzll(set)];
        for (int l = 0; l < x->levels; l++)
            if (!(x->level[l].props & prop)) return false;
    }
    return true;
}

/* A reduction's temporary, and what adds to it. */
static void pair_up(plan *pl, bexpr *r, cin *temp, cin *leaf)
{
    temp->temp = leaf->temp = r->mark = pl->ntemp++;
    temp->fn = leaf->fn = r->fn;
    temp->ufn = leaf->ufn = r->ufn;
    temp->cls = leaf->cls = r->cls;
    temp->value = r;
}

/* Reductions that go on from round to round of the loop at this depth: they begin here,
 * and the loops that go on are inside. */
static stc_status running_nests(nest *ne, int depth, uint64_t bound, list *out, list *inner)
{
    plan *pl = ne->pl;
    const int index = ne->seq[depth];
    const uint64_t here = UINT64_C(1) << index, known = plan_bound(pl, bound);
    if (pl->schedule.nrel || pl->npre || shared_from(ne, depth) ||
        !all_have(pl, ne->space, PROP_ORDERED))
        return STC_OK;
    for (int k = 0; k < ne->ntodo; k++) {
        bexpr *const r = ne->todo[k].r;
        const bexpr *until = NULL;
        if (r->mark >= 0 || expr_indices(pl, r) & ~(known | here)) continue;
        bexpr *const e = range_running(pl, r, index, &until);
        if (!e) continue;
        value id;
        const bool begins = reduce_identity(r, &id);
        const pset *const space =
            pset_make(pl, PS_AND, pset_where(pl, until), expr_space(pl, e, &id));
        cin *temp = cin_new(pl, CIN_TEMP), *leaf = cin_new(pl, CIN_REDUCE);
        cin *since = cin_new(pl, CIN_SINCE);
        if (!begins || !temp || !leaf || !since || !space) return STC_ERR_MEMORY;
        since->index = r->indices[0];
        since->source = program_push_extent(pl->p, (extent){.op = EXT_SPAN});
        pair_up(pl, r, temp, leaf);
        leaf->value = e;
        leaf->loops = 1;
        list_add(out, temp);
        list_add(out, since);
        list loop;
        list_init(&loop);
        stc_status st = nest_build(pl, r->indices, 1, space, bound | here, e, leaf, &loop);
        if (st || since->source < 0) return st ? st : STC_ERR_MEMORY;
        loop.first->since = since->source;
        list_join(inner, &loop);
    }
    return STC_OK;
}

/* What the leaf needs to change anything is tested once it is known, before reductions and
 * loops that follow. */
static void test_early(nest *ne, int depth, uint64_t bound, list *out)
{
    bexpr *const only = ne->only;
    bool follow = depth < ne->n;
    for (int k = 0; k < ne->ntodo; k++)
        follow |= ne->todo[k].r->mark < 0;
    if (!only || !depth || !follow ||
        expr_indices(ne->pl, only) & ~plan_bound(ne->pl, bound))
        return;
    cin *const c = cin_new(ne->pl, CIN_ONLY);
    if (c) c->value = only;
    ne->only = NULL;
    list_add(out, c);
}

static stc_status nest_from(nest *ne, int depth, uint64_t bound, list *out)
{
    stc_status due = precompute_emit(ne->pl, bound, ne->uses, PRECOMPUTE_INSIDE, out);
    if (due) return due;
    test_early(ne, depth, bound, out);
    for (int k = 0; k < ne->ntodo; k++) {
        bexpr *r = ne->todo[k].r;
        uint64_t known = plan_bound(ne->pl, bound);
        if (r->mark >= 0 || (expr_indices(ne->pl, r) & ~known)) continue;
        stc_status st = ne->todo[k].lazy ? lazy_nest(ne, r, depth, bound, out)
                                         : reduce_nest(ne->pl, r, bound, out);
        if (st) return st;
    }
    if (depth == ne->n) {
        list_add(out, ne->leaf);
        return STC_OK;
    }
    list inner;
    list_init(&inner);
    cin *loop = cin_new(ne->pl, CIN_FORALL);
    if (!loop) return STC_ERR_MEMORY;
    loop->index = ne->seq[depth];
    loop->space = precompute_space(ne->pl, ne->space, PRECOMPUTE_INSIDE);
    if (!loop->space) return STC_ERR_MEMORY;
    stc_status st = running_nests(ne, depth, bound, out, &inner);
    if (!st) st = nest_from(ne, depth + 1, bound | UINT64_C(1) << loop->index, &inner);
    if (st) return st;
    if (inner.failed) out->failed = true;
    loop->body = inner.first;
    list_add(out, loop);
    return STC_OK;
}

/* Loops over seq around leaf, with e's reductions as temporaries before the
 * first loop that doesn't change them. */
stc_status nest_build(plan *pl, const int *seq, int n, const pset *space, uint64_t bound,
                      bexpr *e, cin *leaf, list *out)
{
    nest ne; /* todo: as many as there are */
    if (!leaf || !space) return STC_ERR_MEMORY;
    bexpr *const guard = leaf->guard;
    ne.pl = pl;
    ne.seq = seq;
    ne.n = n;
    ne.space = space;
    ne.uses = expr_uses(e);
    ne.leaf = leaf;
    ne.only = guard && !expr_has(guard, B_REDUCE) && !expr_may_fault(guard) ? guard : NULL;
    ne.ntodo = pending_reductions(e, false, ne.todo, 0, 64);
    return nest_from(&ne, 0, bound, out);
}

/* The loops of a reduction: over the levels of what it reads, or over its indices. */
static int reduction_loops(const plan *pl, const bexpr *r, int *loop)
{
    for (int k = 0; k < pl->nstream; k++) {
        const stream *of = &pl->stream[k];
        if (of->sum != r) continue;
        memcpy(loop, of->index, (size_t)of->n * sizeof *loop);
        return of->n;
    }
    return loops_list(pl, r->indices, r->nindex, expr_uses(r->args[0]), loop);
}

/* Reassociated only if the function allows it; otherwise in written order. */
static int reduction_order(plan *pl, const bexpr *r, const pset *space, uint64_t bound,
                           int *seq)
{
    int loop[64], n = reduction_loops(pl, r, loop);
    uint8_t free_order = FP_ASSOCIATIVE | FP_COMMUTATIVE;
    if ((reduce_flags(r) & free_order) == free_order)
        plan_inner_order(pl, space, expr_uses(r->args[0]), bound, loop, n, seq);
    else
        for (int k = 0; k < n; k++)
            seq[k] = loop[k];
    return n;
}

/* A loop over the space visits every coordinate: also where only what isn't stored counts.
 */
static bool visits_all(const pset *s)
{
    if (s->op == PS_AND) return visits_all(s->a) && visits_all(s->b);
    if (s->op == PS_OR) return visits_all(s->a) || visits_all(s->b);
    return s->op == PS_ALL || s->op == PS_ABSENT;
}

/* r's elements are so few that to visit all costs less than to count those stored. */
static bool few_elements(const plan *pl, const bexpr *r)
{
    enum { FEW = 32 };
    int64_t n = 1;
    for (int k = 0; k < r->nindex; k++) {
        const bindex *x = &pl->s->index[r->indices[k]];
        const extent *hi = &pl->p->ext[x->hi];
        if (x->lo >= 0 || hi->op != EXT_CONST || hi->k > FEW) return false;
        n *= hi->k;
        if (n > FEW) return false;
    }
    return true;
}

/* Where an idempotent function needs all of r's elements, but those that aren't
 * stored are all the same, one of them does: the space of the others, or NULL. */
static const pset *rest_space(plan *pl, const bexpr *r)
{
    uint8_t needed = FP_ASSOCIATIVE | FP_COMMUTATIVE | FP_IDEMPOTENT;
    if ((reduce_flags(r) & needed) != needed || few_elements(pl, r) ||
        expr_fill(pl, r->args[0]).kind == FILL_VARIES)
        return NULL;
    const pset *s = expr_space(pl, r->args[0], NULL);
    return s && s->op != PS_ALL && !all_have(pl, s, PROP_FULL) ? s : NULL;
}

/* Counts the elements of a reduction, and adds the fill if some are missing. */
static stc_status count_rest(plan *pl, bexpr *r, cin *leaf, list *before, cin **after)
{
    cin *temp = cin_new(pl, CIN_TEMP), *count = cin_new(pl, CIN_REDUCE);
    cin *rest = cin_new(pl, CIN_REST);
    bexpr *one = expr_int(pl->a, 1, r->at);
    if (!temp || !count || !rest || !one) return STC_ERR_MEMORY;
    temp->temp = count->temp = rest->count = pl->ntemp++;
    temp->fn = count->fn = FN_COUNTS;
    temp->cls = count->cls = CLASS_I64;
    temp->value = count->value = one;
    rest->temp = r->mark;
    rest->fn = r->fn;
    rest->ufn = r->ufn;
    rest->cls = r->cls;
    rest->value = r;
    r->had_term = temp->temp;
    temp->tells = r->asked;
    leaf->next = count;
    list_add(before, temp);
    *after = rest;
    return STC_OK;
}

/* Whether r had a term isn't what r's own loops, over where it isn't `id`, would tell. */
static bool asked_elsewhere(const plan *pl, const bexpr *r, const value *id)
{
    if (r->asked != ASKED_OF_FILL) return false;
    const fillval f = expr_fill(pl, r->args[0]);
    return !id || f.kind != FILL_KNOWN || !class_equal(r->cls, f.v, *id);
}

static stc_status reduce_nest(plan *pl, bexpr *r, uint64_t bound, list *out)
{
    value id;
    cin *rest = NULL;
    bool begun, known = reduce_identity(r, &id);
    stc_status st = first_further(pl, r, bound, out, &begun);
    if (st || begun) return st;
    const pset *space = known ? expr_space(pl, r->args[0], &id) : pset_all();
    const bool all = space && (space->op == PS_ALL || (!r->asked && visits_all(space)));
    const pset *stored = all ? rest_space(pl, r) : NULL;
    if (stored) space = stored;
    bexpr *const elsewhere =
        space && space->op == PS_ALL ? first_elsewhere(pl, r, &space) : NULL;
    cin *temp = cin_new(pl, CIN_TEMP), *leaf = cin_new(pl, CIN_REDUCE);
    if (!temp || !leaf || !space) return STC_ERR_MEMORY;
    int seq[64];
    if (r->nindex > 64) return STC_ERR_PROGRAM;
    int n = reduction_order(pl, r, space, bound, seq);
    pair_up(pl, r, temp, leaf);
    leaf->value = r->args[0];
    leaf->loops = n;
    list_add(out, temp);
    st = loops_check_space(pl, reduce_indices(r), space, expr_uses(r->args[0]));
    if (!st && stored) st = count_rest(pl, r, leaf, out, &rest);
    const bool apart = r->asked && !stored && asked_elsewhere(pl, r, known ? &id : NULL);
    if (!st && r->asked && !stored && !apart) {
        st = reach_count(pl, r, leaf, out);
        if (!st) st = reach_ask(pl, leaf, r->args[0], &id);
    }
    if (known && !leaf->next) leaf->guard = only_where(pl, r->args[0], id);
    if (!st) st = nest_build(pl, seq, n, space, bound, r->args[0], leaf, out);
    if (!st && apart) st = reach_apart(pl, r, seq, n, bound, out);
    if (rest) list_add(out, rest);
    if (!st && elsewhere) st = first_of_all(pl, r, elsewhere, bound, out);
    if (st || known) return st;
    cin *check = cin_new(pl, CIN_REQUIRE);
    if (check) check->temp = temp->temp;
    list_add(out, check);
    return STC_OK;
}
