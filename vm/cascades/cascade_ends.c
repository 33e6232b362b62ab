/* cascade_ends.c: lanes that end early.
 *
 * Once `any` is true, or an `all` false, what comes behind in that row changes nothing:
 * reductions by a function with an annihilator are settled when they have reached it
 * (array programming paper, section 7.2). A long lane of a loop that does nothing but such
 * reductions, and can't fail, is asked after each string, and left when all of them are
 * settled. How far lanes went says how much of the next one is looked at first: all of it,
 * if they went to their ends.
 */
#include "cascade.h"

static const int fewest = 32;

void stage_ends_prepare(stage *st)
{
    st->most = st->g->ends && STRIP > fewest ? fewest : STRIP;
}

void stage_end_lane(const machine *mc, stage *st)
{
    const strip *g = st->g;
    bool settled = true;
    for (int k = 0; k < g->s.nsink && settled; k++) {
        const sink *x = &g->s.sink[k];
        const uint16_t id = st->link.results[k];
        settled =
            id != UNLINKED && x->kind == SINK_REDUCE &&
            strip_absorbed(mc, g, x,
                           class_get((vclass)x->cls, st->out->g->node[id].data, st->lane));
    }
    if (!settled) {
        st->most = 2 * st->most < STRIP ? 2 * st->most : STRIP;
        return;
    }
    if (g->n < st->most / 2 && st->most > 2 * fewest) st->most /= 2;
    st->open = false;
    st->lane++;
}
