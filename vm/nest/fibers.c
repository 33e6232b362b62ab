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

/* Each list has all coordinates there are, since together they have as many as that takes.
 */
static bool lists_full(const tensor *t, int l, const fiber_table *f)
{
    const level *lv = &t->level[l];
    const int64_t parents = l > 0 ? lv[-1].size : 1;
    int64_t all;
    return fibers_listed(f) && lv->props & PROP_ORDERED &&
           size_mul(parents, lv->extent, &all) && lv->size == all;
}

bool fibers_cover(const tensor *t, int l, int64_t lo, int64_t hi)
{
    fiber_table f;
    level_fibers(&t->level[l], &f);
    return (f.shape == VIEW_RANGE || lists_full(t, l, &f)) &&
           level_covers(&t->level[l], lo, hi) && tensor_unique(t, l);
}

bool fiber_covers(const level *lv, const fiber_view *v)
{
    enum { LISTED = PROP_ORDERED | PROP_UNIQUE };
    return v->shape == VIEW_RANGE ||
           (v->shape == VIEW_COORDS && (lv->props & LISTED) == LISTED &&
            v->end - v->begin == lv->extent);
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
