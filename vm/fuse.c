/* fuse.c: gives loops to faster tiers when a program is linked.
 *
 * Innermost loops are summarised (summary.c) and offered to the tables of
 * superinstructions first, then to the strip engine; loops around them to the
 * nests. A loop that nobody takes stays on base operations.
 */
#include "affine.h"
#include "scatter.h"

static bool innermost(const machine *mc, const loop *l)
{
    for (int k = l->first + 1; k < l->last; k++)
        if (insn_of(mc, k)->op == OP_LOOP) return false;
    return true;
}

/* The innermost loop l, and the loops around it, as long as each is all there is
 * in the next: two loops as a nest, three as a nest in a nest. s: room for
 * three summaries. */
static stc_status fuse_from(machine *mc, loop *l, loop_summary *s)
{
    nest_links links[2];
    super *taken = NULL;
    if (!summary_read(mc, l, &s[0])) return STC_OK;
    stc_status st = strip_fuse(mc, &s[0], &taken);
    if (!st) st = scatter_fuse(mc, NULL, &s[0], NULL, &taken);
    if (!st) st = interval_fuse(mc, s, links, 1, &taken);
    if (taken) machine_give(mc, taken);
    if (st || !l->outer || !summary_read_nest(mc, l->outer, &s[0], &s[1], &links[0]))
        return st;
    taken = NULL;
    st = nest_fuse(mc, &s[1], &s[0], &links[0], &taken);
    if (!st) st = scatter_fuse(mc, &s[1], &s[0], &links[0], &taken);
    if (!st) st = interval_fuse(mc, s, links, 2, &taken);
    if (taken) machine_give(mc, taken);
    loop *out = l->outer->outer;
    if (st || !out || !summary_read_nest(mc, out, &s[1], &s[2], &links[1])) return st;
    taken = NULL;
    st = nest_fuse_deep(mc, &s[2], &s[1], &s[0], &links[1], &links[0], &taken);
    if (!st) st = interval_fuse(mc, s, links, 3, &taken);
    if (taken) machine_give(mc, taken);
    return st;
}

/* Nests that one sparse operand drives, last: they take over all of their loops,
 * whatever these were given to; what they can't run goes back there. */
static stc_status fuse_affine(machine *mc)
{
    for (int k = 0; k < mc->nloop; k++) {
        loop *l = &mc->loops[k];
        super *taken = NULL;
        if (l->first >= mc->nmain || !innermost(mc, l)) continue;
        if (affine_fuse(mc, l, &taken)) return mc->cx->diag.status;
        if (taken) machine_give(mc, taken);
    }
    return STC_OK;
}

stc_status machine_fuse(machine *mc)
{
    if (mc->nloop == 0) return STC_OK;
    loop_summary *s = mem_array(mc->cx, 3, sizeof *s);
    stc_status st = s ? STC_OK : mc->cx->diag.status;
    for (int k = 0; !st && k < mc->nloop; k++) {
        loop *l = &mc->loops[k];
        if (l->first < mc->nmain && innermost(mc, l)) st = fuse_from(mc, l, s);
    }
    mem_free(mc->cx, s, 3 * sizeof *s);
    if (!st) st = fuse_affine(mc);
    return st ? st : rows_fuse(mc);
}
