/* fuse.c: gives loops to faster tiers when a program is linked.
 *
 * Loops are read from the innermost outwards (summary.c); a loop is read if
 * all inside it are. Then the outermost that were are given away, each with
 * all that is inside: to the strip engine if it is alone, else to a cascade,
 * which asks the tables of superinstructions. Rows that are scattered, and
 * nests that one sparse operand drives, go before these. A loop that no tier
 * takes stays on base operations.
 */
#include "../rows/outer.h"
#include "../super/scatter.h"

static bool has_regions(const machine *mc)
{
    for (int t = 0; t < mc->p->ntensor; t++) {
        const format *f = &mc->p->tensor[t].fmt;
        for (int l = 0; l < f->levels; l++)
            if (f->level[l].kind->caps & (CAP_REGION | CAP_APPEND_REGION)) return true;
    }
    return false;
}

/* What steps over intervals can do in a nest: one loop in the other, one
 * reduction out of each. */
static int nest_depth(const loop_tree *t)
{
    int n = 1;
    for (; t->nchild; t = t->child[0], n++) {
        if (t->nchild > 1 || t->child[0]->s.nsink > 1 || n == INTERVAL_LOOPS) return 0;
    }
    return n;
}

static stc_status fuse_intervals(machine *mc, const loop_tree *t, bool regions, super **out)
{
    const int n = nest_depth(t);
    const loop_tree *in = t;
    while (in->nchild)
        in = in->child[0];
    if (n == 0 || t->s.l->subsections || !(regions || interval_gaps(&in->s))) return STC_OK;
    loop_summary *s = mem_array(mc->cx, n, sizeof *s);
    nest_links links[INTERVAL_LOOPS];
    if (!s) return mc->cx->diag.status;
    for (int k = n - 1; k >= 0; k--, t = t->child[0]) {
        s[k] = t->s;
        if (k > 0) links[k - 1] = t->child[0]->link;
    }
    const stc_status st = interval_fuse(mc, s, links, n, out);
    mem_free(mc->cx, s, (size_t)n * sizeof *s);
    return st;
}

/* A loop that was read, and all inside it. */
static stc_status fuse_tree(machine *mc, const loop_tree *t, bool regions, super **out)
{
    stc_status st = t->nchild ? cascade_fuse(mc, t, out) : strip_fuse(mc, &t->s, out);
    if (!st) st = scatter_fuse(mc, t, out);
    return st ? st : fuse_intervals(mc, t, regions, out);
}

/* Whether some loop in it has several inside: these may be left to intervals. */
static bool forks(const loop_tree *t)
{
    return t->nchild > 1 || (t->nchild && forks(t->child[0]));
}

/* Loop `from`, in no other, and those inside it, up to `to`. */
static stc_status fuse_nest(machine *mc, const value_reads *reads, int from, int to,
                            bool regions, loop_tree *all)
{
    int taken = -1; /* up to which lop loops are taken care of */
    for (int k = to - 1; k >= from; k--)
        summary_read(mc, reads, &mc->loops[k], &mc->loops[from], all);
    for (int k = from; k < to; k++) {
        const loop *l = &mc->loops[k];
        super *s = NULL;
        if (!all[k - from].read || l->first < taken) continue;
        const stc_status st = fuse_tree(mc, &all[k - from], regions, &s);
        if (s) machine_give(mc, s); /* what there is, for the machine to free */
        if (st) return st;
        if (!s || (regions && forks(&all[k - from]))) continue;
        taken = l->last;
    }
    return STC_OK;
}

/* Behind loop k and all that is inside it. */
static int nest_end(const machine *mc, int k)
{
    for (k++; k < mc->nloop && mc->loops[k].outer;)
        k++;
    return k;
}

/* One nest after the other, in the same memory. */
static stc_status fuse_all(machine *mc, arena *scratch, const value_reads *reads)
{
    int most = 0;
    for (int k = 0, end; k < mc->nloop; k = end) {
        end = nest_end(mc, k);
        if (end - k > most) most = end - k;
    }
    loop_tree *all = arena_room(scratch, most, sizeof *all);
    stc_status st = all ? STC_OK : mc->cx->diag.status;
    const bool regions = has_regions(mc);
    for (int k = 0, end; k < mc->nloop && !st; k = end) {
        end = nest_end(mc, k);
        if ((st = work_done(mc->cx, (uint64_t)(end - k)))) break;
        st = fuse_nest(mc, reads, k, end, regions, all);
    }
    return st;
}

/* Nests that a tier takes over as a whole, each from its outermost loop on that it can. */
typedef stc_status nest_fuse(machine *mc, loop *l, const value_reads *reads, super **out);
static stc_status fuse_whole(machine *mc, const value_reads *reads, nest_fuse *fuse)
{
    stc_status st = STC_OK;
    for (int k = 0, taken = -1; k < mc->nloop && !st; k++) {
        loop *l = &mc->loops[k];
        super *s = NULL;
        if (l->first >= mc->nmain || l->first < taken) continue;
        if ((st = work_done(mc->cx, 1))) break;
        st = fuse(mc, l, reads, &s);
        if (!s) continue;
        machine_give(mc, s);
        taken = l->last;
    }
    return st;
}

/* Nests that one sparse operand drives, last: they take over all of their loops,
 * whatever these were given to; what they can't run goes back there. */
stc_status machine_fuse(machine *mc)
{
    if (mc->nloop == 0) return STC_OK;
    arena scratch;
    arena_init(&scratch, mc->cx);
    const value_reads *reads = value_reads_of(mc, &scratch);
    stc_status st = reads ? fuse_all(mc, &scratch, reads) : mc->cx->diag.status;
    if (!st && affine_possible(mc->p)) {
        st = fuse_whole(mc, reads, outer_fuse);
        if (!st) st = fuse_whole(mc, reads, affine_fuse);
    }
    arena_free(&scratch);
    return st ? st : rows_fuse(mc);
}
