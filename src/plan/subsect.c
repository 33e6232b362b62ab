/* subsect.c: where a loop visits subsections.
 *
 * A loop that binds an index of an affine subscript, but not all of them,
 * leaves the level unresolved: its coordinate lies in a window that the free
 * indices span. Such a loop needs to visit only the offsets whose window holds
 * something (convolutions paper, §3.1, §4: the reducing edges of the
 * generalised iteration graph). The window narrows with each index, and its
 * level's children are those of all coordinates in it, so subsections of the
 * levels below are visited too as long as the windows above are small.
 * Free indices may be the result's as well as a filter's (§5.1, fig. 8).
 */
#include "plan.h"

bool plan_in_filter(const plan *pl, int index)
{
    if (!pl->s->index[index].reduced) return false;
    for (int k = 0; k < pl->naccess; k++)
        for (int l = 0; l < pl->access[k].levels; l++) {
            const affine *at = &pl->access[k].level[l].at;
            if (at->terms > 1 && affine_has(at, index)) return true;
        }
    return false;
}

/* Whether the indices of f that aren't bound all move windows: then f's own is
 * as wide as a filter, not as the tensor. Else it may be: where the loop is a filter's,
 * hardly a window is empty; and what lies below all coordinates of a wide one is more
 * than what is stored, as often as the loop goes round. */
static bool small_window(const plan *pl, const affine *f, uint64_t bound)
{
    for (int t = 0; t < f->terms; t++)
        if (!((bound >> f->term[t].index) & 1) && !plan_in_filter(pl, f->term[t].index))
            return false;
    return true;
}

/* A level that the loop resolves is walked itself, unless its coordinates fall
 * as the index grows: then the loop visits its subsections, one wide, backwards. */
static bool walked(const plevel *lv, int index)
{
    for (int t = 0; t < lv->at.terms; t++)
        if (lv->at.term[t].index == index)
            return lv->at.term[t].coef > 0 || lv->kind->caps & CAP_LOCATE;
    return true;
}

int plan_subsect(const plan *pl, const paccess *x, int depth, bool certain, uint64_t before,
                 int index)
{
    const uint64_t bound = plan_bound(pl, before | UINT64_C(1) << index);
    const bool inside = plan_in_filter(pl, index);
    bool everywhere = certain && !x->pad;
    if ((pl->schedule.shared >> index) & 1)
        return -1; /* threads can't visit them in turn */
    if (depth < x->levels && affine_bound(&x->level[depth].at, bound) &&
        walked(&x->level[depth], index))
        return -1;
    for (int l = depth; l < x->levels; l++) {
        const plevel *lv = &x->level[l];
        if (!(lv->kind->caps & CAP_SUBSECT) || !(lv->props & PROP_ORDERED)) return -1;
        everywhere = everywhere && (lv->props & PROP_FULL);
        const bool here = affine_has(&lv->at, index) && !everywhere;
        if ((inside || !here) && !small_window(pl, &lv->at, bound)) return -1;
        if (here) return l;
        if (!(affine_indices(&lv->at) & before)) return -1;
    }
    return -1;
}
