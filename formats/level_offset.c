/* level_offset.c: the coordinate that a difference and another mode imply.
 *
 * Levels above store d = a - b and one of the two modes; this level is the
 * other one: one coordinate for each parent, at the parent's position. Stores
 * nothing. Formats paper, §3.1 (DIA).
 *
 * param[0]: how many levels up d is, negative where it is subtracted;
 * param[1]: how many levels up the other mode is.
 */
#include "kinds.h"

static const cursor *ancestor(const cursor *up, int64_t levels)
{
    while (up && levels-- > 1)
        up = up->up;
    return up;
}

static bool implied(const level *lv, const cursor *up, int64_t *i)
{
    const bool minus = lv->param[0] < 0;
    const cursor *d = ancestor(up, minus ? -lv->param[0] : lv->param[0]);
    const cursor *other = ancestor(up, lv->param[1]);
    if (!d || !other || up->at == NONE) return false;
    *i = minus ? other->coord - d->coord : other->coord + d->coord;
    return in_extent(lv, *i);
}

static void offset_open(cursor *c, const level *lv, const cursor *up)
{
    cursor_begin(c, lv, up);
    if (!implied(lv, up, &c->lo)) {
        cursor_used_up(c);
        return;
    }
    c->hi = c->lo + 1;
    c->pos = up->at;
    c->pos_end = c->pos + 1;
    c->p = c->end = 0;
}

static void offset_locate(cursor *c, const level *lv, const cursor *up, int64_t i)
{
    int64_t only;
    const bool found = implied(lv, up, &only) && only == i;
    cursor_place(c, lv, up, i, found ? up->at : NONE);
}

static stc_status offset_pack(ctx *cx, level *lv, pack_in *in)
{
    (void)cx;
    lv->size = in->parents; /* positions are the parents' */
    return STC_OK;
}

static stc_status offset_check(ctx *cx, level *lv, int64_t parents)
{
    (void)cx;
    lv->size = parents;
    return STC_OK;
}

const level_kind level_offset = {
    .name = "offset",
    .caps = CAP_ITER | CAP_LOCATE | CAP_PACK | CAP_POSITION,
    .props = PROP_ORDERED | PROP_UNIQUE | PROP_BRANCHLESS,
    .fixed = PROP_ORDERED | PROP_UNIQUE | PROP_BRANCHLESS,
    .open = offset_open,
    .next = cursor_used_up,
    .locate = offset_locate,
    .view = no_view,
    .size = chain_size,
    .pack = offset_pack,
    .check = offset_check,
};
