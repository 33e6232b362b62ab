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

/* The innermost loop l, and the loop around it if l is all there is in that. */
static stc_status fuse_from(machine *mc, loop *l, loop_summary *in, loop_summary *out)
{
    nest_links links;
    super *taken = NULL;
    if (!summary_read(mc, l, in)) return STC_OK;
    stc_status st = strip_fuse(mc, in, &taken);
    if (st) return st;
    if (taken) machine_give(mc, taken);
    if (!l->outer || !summary_read_nest(mc, l->outer, in, out, &links)) return STC_OK;
    taken = NULL;
    st = nest_fuse(mc, out, in, &links, &taken);
    if (taken) machine_give(mc, taken);
    return st;
}

stc_status machine_fuse(machine *mc)
{
    if (mc->nloop == 0) return STC_OK;
    loop_summary *s = mem_array(mc->cx, 2, sizeof *s);
    stc_status st = s ? STC_OK : mc->cx->diag.status;
    for (int k = 0; !st && k < mc->nloop; k++) {
        loop *l = &mc->loops[k];
        if (l->first < mc->nmain && innermost(mc, l)) st = fuse_from(mc, l, &s[0], &s[1]);
    }
    mem_free(mc->cx, s, 2 * sizeof *s);
    return st;
}
