/* update.c: statements that change a tensor in place, at a cost of what they write.
 *
 * The values go to a workspace over the target's modes first: so the right side is
 * evaluated whole before the left side changes, and what fails on the way has changed
 * nothing. Then the workspace's entries go into the target, as one operation that happens
 * whole or not at all. It serves where places of the target can be found: what has none yet
 * gets one. The workspace has its modes in the order of the target's levels, or, where
 * these are no modes, as they are: flat(i,j). Values that come in that order, once each,
 * need none: they are appended to a tensor of such levels.
 *
 *     x(k) = e   y(i(2:5)) = e   y(p(i)) = e   y(p(i)) += e    and   y(j) min= x(j)
 *
 * with a sparse x; where x is as large as y, loops over all of y are as good. A mask,
 * `where m(j)`, says which of these are named. What leaves places out is changed so as well
 * where each that is named gets a value, A(0,0) = 1 and A(i,i) += 1.
 */
#include "build.h"

/* A coordinate's place, if it has one, is found without going through others. */
static bool locates(const format *f)
{
    for (int l = 0; l < f->levels; l++)
        if (!(f->level[l].kind->caps & CAP_LOCATE)) return false;
    return true;
}

bexpr *update_value(plan *pl)
{
    const bstmt *s = pl->s;
    const stc_type t = pl->p->tensor[s->target].type;
    const bool logic = fn_at(s->op)->typing == TY_LOGIC;
    return expr_conv(pl->a, s->value, logic ? STC_BOOL : class_type(type_class(t)));
}

/* Whether e reads at sums of indices: windows are run over rows of the target. */
static bool reads_windows(const plan *pl, const bexpr *e)
{
    for (int m = 0; e->kind == B_ACCESS && m < pl->p->tensor[e->tensor].order; m++)
        if (e->pad || e->sub[m].terms > 1) return true;
    for (int k = 0; k < e->nargs; k++)
        if (reads_windows(pl, e->args[k])) return true;
    return false;
}

/* Whether a set has all that the left side names. */
static bool names_all(const plan *pl, const pset *s)
{
    uint64_t onto = 0;
    for (int m = 0; m < pl->s->nsub; m++)
        onto |= plan_indices(pl, &pl->s->sub[m]);
    return s->op == PS_ALL || space_full(pl, s, onto);
}

/* Whether op= with that value visits only some of the target. */
static bool visits_some(plan *pl, const bexpr *e)
{
    if (reads_windows(pl, e)) return false;
    while (e->kind == B_CONV || e->kind == B_REDUCE)
        e = e->args[0];
    const pset *space = meeting_space(pl, e);
    return space && !names_all(pl, space);
}

/* Where the mask may be true, or anywhere. */
static const pset *mask_led(plan *pl)
{
    const pset *const s = plan_mask_space(pl);
    return s ? s : pset_all();
}

bool update_finds(const plan *pl)
{
    const prog_tensor *t = &pl->p->tensor[pl->s->target];
    return !pl->npre && !t->fill_later && format_finds_places(&t->fmt) && locates(&t->fmt);
}

bool updates(const builder *b)
{
    plan *pl = b->pl;
    const bstmt *s = pl->s;
    const format *f = &pl->p->tensor[s->target].fmt;
    if (s->fresh || pl->npre || !format_finds_places(f)) return false;
    if (s->computed || (!s->whole && format_stores_all(f))) return true;
    /* a value for each that is named: none of them is dropped */
    if (!s->whole && !s->mask && b->space->op == PS_ALL && !pl->schedule.nseq) return true;
    if (s->mask && s->bare && !s->whole)
        return update_finds(pl) && is_led(pl, mask_led(pl), true);
    return s->whole && s->op >= 0 && locates(f) && (format_stores_all(f) || !s->mask) &&
           !pl->schedule.nseq && !pl->schedule.nrel && !pl->schedule.shared &&
           visits_some(pl, s->value);
}

/* Where what leads there stores a place, but the mask is false, the old element is written:
 * that needs no branch. But what would be reduced there isn't. */
static stc_status keep_unmasked(builder *b)
{
    plan *pl = b->pl;
    b->space = plan_mask_space(pl);
    if (expr_has(b->root, B_REDUCE) && !expr_has(pl->s->mask, B_REDUCE))
        return b->space ? STC_OK : STC_ERR_MEMORY;
    b->root = expr_chosen(pl, pl->s->mask, b->root);
    if (!b->root || !b->space) return STC_ERR_MEMORY;
    pl->s->mask = NULL;
    return plan_accesses(pl, b->root);
}

/* Under a mask on a tensor that leaves coordinates out, what is new there is what the
 * iteration space has; what was stored stays so, and is the fill where the space has
 * nothing: that is written first. */
static stc_status masked_values(builder *b, int w, affine *at, list *out)
{
    plan *pl = b->pl;
    const bool plain = b->space->op == PS_ALL || b->space->op == PS_STORED;
    const bool all = plain && names_all(pl, b->space) && !expr_has(b->root, B_REDUCE);
    list values;
    list_init(&values);
    b->space = pset_make(pl, PS_AND, plan_mask_space(pl), b->space);
    stc_status st = partial_values(b, w, at, &values);
    if (!st && !all) st = partial_fills(b, w, at, out);
    if (!st) list_join(out, &values);
    return st;
}

bool update_meets_fill(const plan *pl)
{
    const bstmt *s = pl->s;
    const prog_tensor *t = &pl->p->tensor[s->target];
    value id;
    return s->op != FN_DIV && fn_identity(s->meets, type_class(t->type), t->type, &id) &&
           class_equal(type_class(t->type), id, t->fill);
}

/* Of a tensor that leaves places out those are visited that are there, and where it gets
 * something else than its fill. Of several values for one element the last one stays, fills
 * too: then all are. */
static stc_status leave_fills(builder *b)
{
    plan *pl = b->pl;
    const bstmt *s = pl->s;
    const prog_tensor *t = &pl->p->tensor[s->target];
    if (format_stores_all(&t->fmt) || !format_is_plain(&t->fmt) || t->fill_later ||
        (s->op < 0 ? !names_once(pl) : update_meets_fill(pl)))
        return STC_OK;
    bexpr *const new = s->op < 0 ? s->value : accumulated(pl);
    bexpr *const e = new ? expr_conv(pl->a, new, t->type) : NULL;
    b->old = old_element(pl);
    if (!e || !b->old) return STC_ERR_MEMORY;
    if (plan_accesses(pl, b->old) || plan_accesses(pl, e)) return pl->p->cx->diag.status;
    b->space =
        pset_make(pl, PS_OR, expr_space(pl, e, &t->fill), pset_stored(pl, b->old->mark));
    return b->space ? STC_OK : STC_ERR_MEMORY;
}

/* The value is a tensor's whose modes are those of a block: where that begins in each mode,
 * and by which steps it goes on. */
stc_status build_block(builder *b, list *out)
{
    plan *pl = b->pl;
    const bstmt *s = pl->s;
    affine *const at = arena_array(pl->a, 2 * s->nsub, sizeof *at);
    cin *const c = cin_sink(pl, CIN_UPDATE, s->target, s->value, 2 * s->nsub, at);
    if (!c) return STC_ERR_MEMORY;
    for (int m = 0; m < s->nsub; m++) {
        const affine *const f = &s->sub[m];
        const bool looped = f->terms && !s->index[f->term[0].index].value;
        at[m] = looped ? (affine){.constant = f->constant} : *f;
        at[s->nsub + m] = (affine){.constant = looped ? f->term[0].coef : 1};
    }
    c->value = NULL;
    c->source = s->value->tensor;
    c->fn = s->op >= 0 ? s->op : FN_LAST;
    c->cls = type_class(pl->p->tensor[s->target].type);
    list_add(out, c);
    pl->root = out->first;
    return left_needs(pl, s->sub, s->nsub, &c->needs);
}

stc_status build_update(builder *b, list *out)
{
    plan *pl = b->pl;
    bstmt *s = pl->s;
    const bool masked = s->mask;
    const prog_tensor *t = &pl->p->tensor[s->target];
    int own[STC_MAX_ORDER];
    stc_status st = fresh_indices(pl, s->target, own);
    if (st) return st;
    affine *at = arena_array(pl->a, t->order, sizeof *at);
    if (!at) return STC_ERR_MEMORY;
    b->nresult = t->order;
    for (int k = 0; k < b->nresult; k++) {
        const int mode = format_entry_mode(&t->fmt, k);
        at[k] = s->sub[mode];
        b->result[k] = own[mode];
    }
    if (s->whole && !(b->root = update_value(pl))) return STC_ERR_MEMORY;
    if (s->mask && !s->computed && format_stores_all(&t->fmt) && (st = keep_unmasked(b)))
        return st;
    const bool sparse = s->mask && !s->computed && !format_stores_all(&t->fmt);
    b->in_place = !sparse;
    b->last = sparse;
    b->sum = b->root;
    b->cls = type_class(t->type);
    b->identity = (value){0};
    if (!s->whole && !masked) b->space = pset_all(); /* what is named */
    if (s->computed && left_set(pl) && (st = leave_fills(b))) return st;
    const int w = workspace_slot(b, 0);
    if (w < 0) return STC_ERR_MEMORY;
    cin *const begin = cin_target(pl, CIN_WSBEGIN, w);
    list_add(out, begin);
    st = sparse ? masked_values(b, w, at, out) : partial_values(b, w, at, out);
    if (st || !begin) return st ? st : STC_ERR_MEMORY;
    const bool appended = pl->p->tensor[w].role == ROLE_TEMP;
    if (appended) begin->kind = CIN_BEGIN;
    list_add(out, cin_target(pl, appended ? CIN_FINISH : CIN_WSEND, w));
    cin *end = cin_target(pl, CIN_UPDATE, s->target);
    if (!end) return STC_ERR_MEMORY;
    end->source = w;
    end->fn = (s->computed || s->whole) && s->op >= 0 ? s->op : FN_LAST;
    end->cls = b->cls;
    list_add(out, end);
    pl->root = out->first;
    return out->failed ? STC_ERR_MEMORY : STC_OK;
}
