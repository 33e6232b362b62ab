/* rows.c: targets of two levels that are made row by row (rows.h).
 */
#include "rows.h"

bool rows_taken(const tensor *c)
{
    const level *outer = &c->level[0], *inner = &c->level[1];
    const uint32_t full = PROP_FULL | PROP_ORDERED | PROP_UNIQUE;
    return c->fmt.levels == 2 && format_is_plain(&c->fmt) && format_appends(&c->fmt) &&
           (outer->props & full) == full && outer->kind->caps & CAP_INSERT &&
           inner->kind->append_room && inner->props & PROP_UNIQUE;
}

stc_status rows_room(tensor *c, level *lv, int64_t n, int64_t parents, append_room *room,
                     bool *ok)
{
    if (lv->kind->append_room(c->cx, lv, n, parents, room)) return c->cx->diag.status;
    *ok = room->width == 4 && room->bounds && room->bounds_width == 4;
    return STC_OK;
}
