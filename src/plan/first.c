/* first.c: the first place at which a condition holds, among those that are stored.
 *
 *     min(j: select(A(i,j) == best(i), j, none))      which argmin and argmax are made of
 *
 * has terms wherever A may equal `best`, so also where A stores nothing: all of j. But
 * there A is its fill, at all places alike. So those that are stored are visited; and only
 * if the condition holds for the fill, too, all places in order, up to the first at which
 * it holds. Before that there are none but stored ones: both cost what is stored.
 *
 * A loop that looks further in some rounds is nothing that tiers take over. So where there
 * is one such search for each place of the result, what is stored is looked through first,
 * for all of them, by loops of their own that put down where it was found, or -1 where the
 * condition holds for the fill; the loops that look further read that.
 */
#include "build.h"

/* Whether a reduction is one of these: *none is what it gives where there is no such place.
 */
static bool finds_first(const bexpr *r, value *none)
{
    const bexpr *e = r->args[0];
    if (r->fn != FN_MIN || r->ufn || r->nindex != 1 || !expr_selects(e)) return false;
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
    const fillval f =
        expr_has(e, B_REDUCE) ? (fillval){.kind = FILL_VARIES} : expr_fill(pl, e);
    const pset *s = f.kind == FILL_KNOWN ? expr_space(pl, e, &f.v) : pset_all();
    if (!s) return NULL;
    if (s->op != PS_ALL && !space_full(pl, s, UINT64_MAX)) {
        bexpr *const c = expr_const(pl->a, e->type, f.v, e->at);
        *stored = pset_make(pl, PS_OR, *stored, s);
        return *stored ? c : NULL;
    }
    if ((e->kind != B_CALL && e->kind != B_CONV) || e->ufn || e->nargs > 3) return NULL;
    if (e->kind == B_CALL && e->fn == FN_AND) { /* one of both is enough */
        bexpr *const a = elsewhere(pl, e->args[0], index, stored);
        bexpr *const b = elsewhere(pl, e->args[1], index, stored);
        return a && b ? expr_call(pl->a, FN_AND, e->type, e->cls, a, b) : a ? a : b;
    }
    bexpr *const same = expr_like(pl->a, e, e->nargs);
    if (!same) return NULL;
    for (int k = 0; k < e->nargs; k++)
        if (!(same->args[k] = elsewhere(pl, e->args[k], index, stored))) return NULL;
    return same;
}

/* The search that a part is the beginning of, or NULL. */
static const precomputed *begun(const plan *pl, const bexpr *r)
{
    for (int k = 0; k < pl->npre; k++)
        if (pl->pre[k].search == r) return &pl->pre[k];
    return NULL;
}

static bool scheduled(const plan *pl)
{
    return pl->schedule.nrel || pl->schedule.nseq || (pl->npre && !pl->pre[0].search);
}

/* Whether the condition holds where nothing is stored; NULL: that isn't so, or unknown. */
static bexpr *holds_elsewhere(plan *pl, const bexpr *r, const pset **space)
{
    const pset *stored = pset_none();
    value none;
    if (!finds_first(r, &none) || r->asked || scheduled(pl) || expr_may_fault(r->args[0]))
        return NULL;
    const uint64_t index = UINT64_C(1) << r->indices[0];
    bexpr *const holds = elsewhere(pl, r->args[0]->args[0], index, &stored);
    if (!holds || stored->op == PS_NONE) return NULL;
    *space = stored;
    return holds;
}

bexpr *first_elsewhere(plan *pl, const bexpr *r, const pset **space)
{
    bexpr *const holds = holds_elsewhere(pl, r, space);
    for (int k = 0; k < pl->npre; k++)
        if (pl->pre[k].whole == r) return NULL; /* others look further */
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

/* ---- all of what is stored first ------------------------------------------------------
 */

/* The indices of r in the order of the result's loops, if it can be searched for at each
 * of their values, and these are more than a few. */
static bool places_of(const builder *b, const bexpr *r, precomputed *p)
{
    enum { FEW = 8 };
    const plan *pl = b->pl;
    int64_t n = 1;
    uint64_t left = p->vars = expr_indices(pl, r);
    for (int k = 0; k < b->shared.n && left; k++) {
        const int i = b->shared.index[k];
        if (!((left >> i) & 1)) continue;
        if (pl->s->index[i].lo >= 0 || p->order == STC_MAX_ORDER) return false;
        left ^= UINT64_C(1) << i;
        p->index[p->order++] = i;
        n *= pl->known[i] > 0 && pl->known[i] < FEW ? pl->known[i] : FEW;
        if (n > FEW) n = FEW;
    }
    return p->order && !left && n == FEW;
}

/* The tensor that says where searches have ended, and how it is read. */
static stc_status begin_table(plan *pl, precomputed *p)
{
    prog_tensor t = {.name = "", .role = ROLE_TEMP, .type = STC_I64, .order = p->order};
    format_all(&t.fmt, t.order, level_full());
    for (int k = 0; k < p->order; k++)
        t.shape[k] = (uint16_t)pl->s->index[p->index[k]].hi;
    affine *const sub = bare_subs(pl->a, p->index, p->order);
    if (!sub || (p->slot = program_tensor(pl->p, &t)) < 0) return STC_ERR_MEMORY;
    p->found = expr_access(pl->a, pl->p, p->slot, sub, p->search->at);
    return p->found ? STC_OK : STC_ERR_MEMORY;
}

static stc_status search_apart(builder *b, bexpr *r)
{
    plan *pl = b->pl;
    const pset *stored = NULL, *space;
    value none;
    precomputed p = {.search = r,
                     .fn = FN_UNMET,
                     .appended = true,
                     .space = pset_all(),
                     .depth = PRECOMPUTE_LATER};
    if (pl->npre == PRECOMPUTED_MAX || 2 * pl->naccess >= PLAN_ACCESSES ||
        !finds_first(r, &none) || !places_of(b, r, &p))
        return STC_OK;
    if (!(space = expr_space(pl, r->args[0], &none))) return STC_ERR_MEMORY;
    if (space->op != PS_ALL || !holds_elsewhere(pl, r, &stored)) return STC_OK;
    bexpr *const again = expr_copy(pl->a, r);
    if (!again) return STC_ERR_MEMORY;
    pl->group = PLAN_ACCESSES + pl->npre;
    stc_status st = plan_accesses(pl, again);
    pl->group = 0;
    if (st || (st = begin_table(pl, &p))) return st;
    p.whole = again;
    p.value = expr_select(pl->a, holds_elsewhere(pl, again, &stored),
                          expr_int(pl->a, -1, r->at), again, r->at);
    if (!p.value) return STC_ERR_MEMORY;
    pl->pre[pl->npre++] = p;
    return plan_access_add(pl, p.found) < 0 ? STC_ERR_MEMORY : STC_OK;
}

stc_status first_apart(builder *b, bexpr *e)
{
    stc_status st = e->kind == B_REDUCE ? search_apart(b, e) : STC_OK;
    for (int k = 0; e->kind != B_REDUCE && k < e->nargs && !st; k++)
        st = first_apart(b, e->args[k]);
    return st;
}

stc_status first_further(plan *pl, bexpr *r, uint64_t bound, list *out, bool *done)
{
    const precomputed *const p = begun(pl, r);
    *done = p != NULL;
    if (!p) return STC_OK;
    bexpr *const further =
        expr_call(pl->a, FN_LT, STC_BOOL, CLASS_I64, p->found, expr_int(pl->a, 0, r->at));
    cin *temp = cin_new(pl, CIN_TEMP), *leaf = cin_new(pl, CIN_REDUCE);
    if (!further || !temp || !leaf) return STC_ERR_MEMORY;
    temp->temp = leaf->temp = r->mark = pl->ntemp++;
    temp->fn = leaf->fn = r->fn;
    temp->cls = leaf->cls = r->cls;
    temp->value = r;
    leaf->value = expr_select(pl->a, further, r->args[0]->args[2], p->found, r->at);
    if (!leaf->value) return STC_ERR_MEMORY;
    list_add(out, temp);
    list_add(out, leaf);
    return first_of_all(pl, r, further, bound, out);
}
