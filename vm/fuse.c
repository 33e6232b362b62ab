/* fuse.c: gives loops to faster tiers when a program is linked.
 *
 * Innermost loops are summarised (summary.c) and offered to the tables of
 * superinstructions first, then to the strip engine; loops around them to the
 * nests. A loop that nobody takes stays on base operations.
 */
#include "fuse.h"

static bool innermost(const machine *mc, const loop *l)
{
    for (int k = l->first + 1; k < l->last; k++)
        if (insn_of(mc, k)->op == OP_LOOP) return false;
    return true;
}

static stc_status fuse_inner(machine *mc, loop *l)
{
    loop_summary s;
    super *taken = NULL;
    if (!summary_read(mc, l, &s)) return STC_OK;
    const stc_status st = strip_fuse(mc, &s, &taken);
    if (taken) machine_give(mc, taken);
    return st;
}

stc_status machine_fuse(machine *mc)
{
    for (int k = 0; k < mc->nloop; k++) {
        loop *l = &mc->loops[k];
        if (l->first >= mc->nmain || !innermost(mc, l)) continue;
        const stc_status st = fuse_inner(mc, l);
        if (st) return st;
    }
    return STC_OK;
}
