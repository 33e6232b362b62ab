/* first.c: the first place at which a condition holds, among those that are stored.
 *
 *     min(j: select(A(i,j) == best(i), j, none))      which argmin and argmax are made of
 *
 * has terms wherever A may equal `best`, so also where A stores nothing: all of j. But
 * there A is its fill, at all places alike. So those that are stored are visited; and only
 * if the condition holds for the fill, too, all places in order, up to the first at which
 * it holds. Before that there are none but stored ones: both cost what is stored.
 */
#include "build.h"

/* Whether a reduction is one of these: *none is what it gives where there is no such place.
 */
static bool finds_first(const bexpr *r, value *none)
{
    const bexpr *e = r->args[0];
    if (r->fn != FN_MIN || r->ufn || r->nindex != 1 || e->kind != B_CALL || e->ufn ||
        e->fn != FN_SELECT)
        return false;
    const bexpr *place = e->args[1], *other = e->args[2];
    return place->kind == B_INDEX && place->index == r->indices[0] &&
           other->kind == B_CONST && e->type == STC_I64 && place->type == STC_I64 &&
           reduce_identity(r, none) && other->value.i64 == none->i64;
}

/* e with the constant in place of what is the same at all values of an index (a set of one)
 * that `stored` leaves out, to which is added where it differs; NULL: it can't be told. */
static bexpr *elsewhere(plan *pl, bexpr *e, uint64_t index, const pset **stored)
{
    if (!(expr_indices(pl, e) & index)) return e;
    const fillval f = has_reduction(e) ? (fillval){.kind = FILL_VARIES} : expr_fill(pl, e);
    const pset *s = f.kind == FILL_KNOWN ? expr_space(pl, e, &f.v) : pset_all();
    if (!s) return NULL;
    if (s->op != PS_ALL && !space_full(pl, s, index)) {
        bexpr *const c = expr_new(pl, B_CONST, e->type, e->at, 0);
        if (c) c->value = f.v;
        *stored = pset_make(pl, PS_OR, *stored, s);
        return *stored ? c : NULL;
    }
    if ((e->kind != B_CALL && e->kind != B_CONV) || e->ufn || e->nargs > 3) return NULL;
    if (e->kind == B_CALL && e->fn == FN_AND) { /* one of both is enough */
        bexpr *const a = elsewhere(pl, e->args[0], index, stored);
        bexpr *const b = elsewhere(pl, e->args[1], index, stored);
        return a && b ? expr_call(pl, FN_AND, e->type, e->cls, a, b) : a ? a : b;
    }
    bexpr *const same = expr_new(pl, e->kind, e->type, e->at, e->nargs);
    if (!same) return NULL;
    bexpr **const args = same->args;
    *same = *e;
    same->args = args;
    for (int k = 0; k < e->nargs; k++)
        if (!(args[k] = elsewhere(pl, e->args[k], index, stored))) return NULL;
    return same;
}

bexpr *first_elsewhere(plan *pl, const bexpr *r, const pset **space)
{
    const pset *stored = pset_none();
    value none;
    if (!finds_first(r, &none) || r->asked || pl->npre || pl->schedule.nrel ||
        pl->schedule.nseq || expr_may_fault(r->args[0]))
        return NULL;
    const uint64_t index = UINT64_C(1) << r->indices[0];
    bexpr *const holds = elsewhere(pl, r->args[0]->args[0], index, &stored);
    if (!holds || stored->op == PS_NONE) return NULL;
    *space = stored;
    return holds;
}

stc_status first_of_all(plan *pl, bexpr *r, bexpr *holds, uint64_t bound, list *out)
{
    list body;
    cin *when = cin_new(pl, CIN_WHEN), *leaf = cin_new(pl, CIN_REDUCE);
    if (!when || !leaf) return STC_ERR_MEMORY;
    leaf->temp = r->mark;
    leaf->fn = r->fn;
    leaf->cls = r->cls;
    leaf->value = r->args[0];
    leaf->loops = 1;
    leaf->stops = true;
    list_init(&body);
    const stc_status st =
        nest_build(pl, r->indices, 1, pset_all(), bound, r->args[0], leaf, &body);
    when->value = holds;
    when->body = body.first;
    out->failed |= body.failed;
    list_add(out, when);
    return st;
}
