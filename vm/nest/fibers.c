/* fibers.c: what handlers ask of loops, operands and levels before they take a run. */
#include "fibers.h"
#include "fuse.h"

bool located_plainly(const merge_operand *o)
{
    return o->role == MERGE_LOCATE && o->coef == 1 && o->shift == ROOT;
}

bool merge_walks_one(const merge_desc *m)
{
    return m->count == 1 && !m->universe && (m->produce & 3) == 2 &&
           operand_walks(&m->operand[0]);
}

bool merge_ranges_one(const merge_desc *m)
{
    return m->count == 1 && m->universe && (m->produce & 2) &&
           located_plainly(&m->operand[0]);
}

void merge_range(const machine *mc, const merge_desc *m, int64_t *lo, int64_t *hi)
{
    *lo = m->lo == ROOT ? 0 : mc->ext[m->lo];
    *hi = mc->ext[m->hi];
    if (*hi < *lo) *hi = *lo; /* an empty range, which has no length below 0 */
}

bool level_covers(const level *lv, int64_t lo, int64_t hi)
{
    return lv->base <= lo && lv->base + lv->extent >= hi;
}

bool level_inside(const level *lv, int64_t lo, int64_t hi)
{
    return lv->base >= lo && lv->base + lv->extent <= hi;
}

void level_fibers(const level *lv, fiber_table *out)
{
    *out = (fiber_table){.shape = VIEW_NONE};
    if (lv->kind->table) lv->kind->table(lv, out);
}

bool fibers_listed(const fiber_table *t)
{
    return t->shape == VIEW_COORDS && t->bounds && t->stride == t->width;
}

bool fibers_cover(const tensor *t, int l, int64_t lo, int64_t hi)
{
    fiber_table f;
    level_fibers(&t->level[l], &f);
    return f.shape == VIEW_RANGE && level_covers(&t->level[l], lo, hi) &&
           tensor_unique(t, l);
}

#define ENDS(IN, OUT)                                                                      \
    {                                                                                      \
        const IN *restrict in = from;                                                      \
        OUT *restrict out = (OUT *)room->bounds;                                           \
        for (int k = 0; k < n; k++)                                                        \
            out[k] = (OUT)(in[k] + (IN)by);                                                \
    }
void room_ends(const append_room *room, const void *from, int width, int n, int64_t by)
{
    if (width == 4 && room->bounds_width == 4) ENDS(int32_t, int32_t)
    if (width == 8 && room->bounds_width == 4) ENDS(int64_t, int32_t)
    if (width == 8 && room->bounds_width == 8) ENDS(int64_t, int64_t)
    for (int k = 0; width == 4 && room->bounds_width == 8 && k < n; k++)
        ((int64_t *)room->bounds)[k] = ((const int32_t *)from)[k] + by;
}
