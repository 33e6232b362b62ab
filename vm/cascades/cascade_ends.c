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

/* What settles a lane settles those behind it: the loop around, of which they all are one
 * lane, does nothing but reduce further what is reduced here. */
static bool settles_all(const stage *st)
{
    const loop_summary *s = &st->g->s, *o = &st->out->g->s;
    if (!st->out->g->ends || st->windowed || (st->out->out && !st->out->same)) return false;
    for (int k = 0; k < o->nsink; k++)
        if (o->sink[k].kind != SINK_REDUCE || o->sink[k].node != st->link.results[k] ||
            o->sink[k].fn != s->sink[k].fn || o->sink[k].moot != s->sink[k].moot)
            return false;
    return o->nsink == s->nsink;
}

void stage_end_lane(const machine *mc, stage *st)
{
    const strip *g = st->g;
    if (!strip_through(mc, g, st->lane)) {
        st->most = 2 * st->most < STRIP ? 2 * st->most : STRIP;
        return;
    }
    if (g->n < st->most / 2 && st->most > 2 * fewest) st->most /= 2;
    st->open = false;
    st->lane = settles_all(st) ? st->out->g->n : st->lane + 1;
}
