/* mask.c: statements under a mask, `C(i,j) = e where m(i,j)`: what leads to their places.
 *
 * Takes the bound statement; where loops over what is new and what is old are as good, the
 * mask becomes a `select` between them, and the target is assembled whole. Else it stays:
 * what it leads to is written in place (update.c), or meets the old elements in a
 * workspace (partial.c).
 */
#include "build.h"

bexpr *old_element(plan *pl)
{
    const bstmt *s = pl->s;
    bexpr *const e = expr_access(pl->a, pl->p, s->target, s->sub, s->at);
    if (!e || !s->computed) return e;
    if (!(e->args = arena_array(pl->a, s->nsub, sizeof *e->args))) return NULL;
    for (int m = 0; m < s->nsub; m++) {
        bexpr *const by =
            s->sub[m].terms ? (bexpr *)s->index[s->sub[m].term[0].index].value : NULL;
        if (by) e->args[e->nargs++] = by;
    }
    return e;
}

bexpr *accumulated(plan *pl)
{
    const bstmt *s = pl->s;
    prog_tensor *t = &pl->p->tensor[s->target];
    bool logic = fn_at(s->op)->typing == TY_LOGIC;
    stc_type type = logic ? STC_BOOL : type_promote(t->type, s->value->type);
    bexpr *old = expr_conv(pl->a, old_element(pl), type);
    bexpr *new = expr_conv(pl->a, s->value, type);
    if (!old || !new) return NULL;
    bexpr *both = expr_call(pl->a, s->op, type, type_class(type), old, new);
    if (both) expr_note_waits(both);
    return both;
}

bexpr *expr_chosen(plan *pl, bexpr *mask, bexpr *e)
{
    const bstmt *s = pl->s;
    const stc_type t = pl->p->tensor[s->target].type;
    bexpr *const old = old_element(pl);
    bexpr *const one = expr_select(pl->a, mask, expr_conv(pl->a, e, t), old, s->at);
    if (one) expr_note_waits(one);
    return one;
}

bexpr *masked(plan *pl, bexpr *e)
{
    return pl->s->mask ? expr_call(pl->a, FN_AND, STC_BOOL, CLASS_I64, pl->s->mask, e) : e;
}

bool is_led(const plan *pl, const pset *s, bool ranges)
{
    if (s->op == PS_AND) return is_led(pl, s->a, ranges) || is_led(pl, s->b, ranges);
    if (s->op == PS_OR) return is_led(pl, s->a, ranges) && is_led(pl, s->b, ranges);
    if (s->op == PS_WHERE) return ranges && s->of->fn == FN_EQ;
    return s->op == PS_NONE || (s->op == PS_STORED && !space_full(pl, s, UINT64_MAX));
}

/* Whether something stored leads to all that is new under a mask: then loops over that and
 * what is old visit hardly more. Of a target that has all places there is no less. */
static bool leads(plan *pl, const pset *under, const bexpr *new)
{
    const prog_tensor *t = &pl->p->tensor[pl->s->target];
    if (format_stores_all(&t->fmt)) return true;
    const pset *const both = pset_make(pl, PS_AND, under, expr_space(pl, new, &t->fill));
    return both && !t->fill_later && is_led(pl, both, false);
}

/* A mask to whose places nothing leads, or whose places can't be written where they are, is
 * as well a `select` between new elements and old ones. */
stc_status mask_settle(plan *pl)
{
    bstmt *s = pl->s;
    const format *f = &pl->p->tensor[s->target].fmt;
    if (!s->bare ||
        (s->nsub && (expr_has(s->value, B_REDUCE) || expr_has(s->mask, B_REDUCE))))
        return STC_OK;
    stc_status st = plan_accesses(pl, s->mask);
    const pset *under = st ? NULL : plan_mask_space(pl);
    if (!under) return st ? st : STC_ERR_MEMORY;
    const bool places = format_stores_all(f);
    if (s->nsub && is_led(pl, under, true) && (places || update_finds(pl))) return STC_OK;
    if (!places && s->schedule) return STC_OK; /* it is for the loops as they are written */
    bexpr *const chosen = expr_chosen(pl, s->mask, s->op < 0 ? s->value : accumulated(pl));
    st = chosen ? plan_accesses(pl, chosen) : STC_ERR_MEMORY;
    if (st || (s->nsub && !leads(pl, under, chosen->args[1]))) return st;
    pl->chosen = s->value = chosen;
    s->op = -1;
    s->mask = NULL;
    s->whole = true;
    return STC_OK;
}
