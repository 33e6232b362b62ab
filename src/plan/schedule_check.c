/* schedule_check.c: whether the loops that were built are those asked for.
 *
 * Takes the tree of loops. On every way from the outside in, the loops must
 * come in the order of the schedule, fused ones must be nested one right in the
 * other, and what a command put in place of an index must be looped over
 * somewhere. Loops that only read a workspace back are the result's affair:
 * they may come in any order (workspaces paper, §6.2: the consumer's side).
 */
#include "schedule.h"

typedef struct path {
    const plan *pl;
    int loop[64], n;
    uint64_t seen; /* loops on any way so far                               */
    uint32_t used; /* relations                                             */
    uint32_t made; /* precomputed workspaces that are there by now          */
} path;

static int on_path(const path *p, int index)
{
    for (int k = 0; k < p->n; k++)
        if (p->loop[k] == index) return k;
    return -1;
}

static stc_status check_rank(const path *p, int index)
{
    const plan *pl = p->pl;
    const int16_t *rank = pl->schedule.rank;
    for (int k = 0; k < p->n; k++)
        if (rank[index] >= 0 && rank[p->loop[k]] > rank[index])
            return schedule_fail(pl,
                                 "the loop over %s would have to be inside that over %s, "
                                 "but what is computed there needs %s first",
                                 index_name(pl, p->loop[k]), index_name(pl, index),
                                 index_name(pl, p->loop[k]));
    return STC_OK;
}

/* The loop over index is about to be entered: pairs that it completes. */
static stc_status check_pairs(path *p, int index)
{
    const plan *pl = p->pl;
    for (int k = 0; k < pl->schedule.nrel; k++) {
        const relation *r = &pl->schedule.rel[k];
        if (r->kind != REL_FUSE || r->real) continue;
        int outer = relation_loop(pl, r->parent[0], true);
        int inner = relation_loop(pl, r->parent[1], false);
        if (index == inner && on_path(p, outer) >= 0) p->used |= UINT32_C(1) << k;
        bool apart = index == inner && on_path(p, outer) >= 0 && p->loop[p->n - 1] != outer;
        bool inverse = index == outer && on_path(p, inner) >= 0;
        if (apart || inverse)
            return command_fail(
                pl, r->at, "fuse: the loop over %s can't run right inside that over %s",
                index_name(pl, inner), index_name(pl, outer));
    }
    return STC_OK;
}

/* Threads share loops outside all others. */
static stc_status check_shared(const path *p, int index)
{
    const plan *pl = p->pl;
    if (!((pl->schedule.shared >> index) & 1) || p->n == 0) return STC_OK;
    return command_fail(pl, pl->schedule.shared_at,
                        "parallelize: the loop over %s runs inside that over %s, and "
                        "threads share outermost loops",
                        index_name(pl, index), index_name(pl, p->loop[0]));
}

static bool drains(const plan *pl, const cin *loop)
{
    for (uint64_t set = loop->uses; set; set &= set - 1)
        if (!pl->access[__builtin_ctzll(set)].drain) return false;
    return loop->uses != 0;
}

static bool reads_slot(const plan *pl, const cin *loop, int slot)
{
    const loop_info *info = loop->info;
    for (int k = 0; k < info->count; k++)
        if (pl->access[info->operand[k].access].source == slot) return true;
    for (int k = 0; k < info->late_count; k++)
        if (pl->access[info->late[k].access].source == slot) return true;
    return false;
}

/* What a loop walks must have been produced before it. */
static stc_status check_made(const path *p, const cin *loop)
{
    const plan *pl = p->pl;
    for (int k = 0; k < pl->npre; k++)
        if (!((p->made >> k) & 1) && reads_slot(pl, loop, pl->pre[k].slot))
            return command_fail(
                pl, pl->pre[k].at,
                "precompute: the loop over %s would have to be outside of one "
                "that reads %s",
                index_name(pl, __builtin_ctzll(pl->pre[k].outer)),
                pl->p->tensor[pl->pre[k].slot].name);
    return STC_OK;
}

static stc_status check_list(path *p, const cin *c)
{
    uint32_t made = p->made;
    for (; c; c = c->next) {
        const bool made_one = c->kind == CIN_WSEND || c->kind == CIN_FINISH;
        for (int k = 0; made_one && k < p->pl->npre; k++)
            if (c->target == p->pl->pre[k].slot) p->made |= UINT32_C(1) << k;
        if (c->kind == CIN_FORALL) {
            stc_status st = check_made(p, c);
            if (st) return st;
        }
        if (c->kind == CIN_LAZY || c->kind == CIN_WHEN) {
            stc_status st = check_list(p, c->body);
            if (st) return st;
        }
        if (c->kind != CIN_FORALL || drains(p->pl, c)) continue;
        stc_status st = check_rank(p, c->index);
        if (!st) st = check_shared(p, c->index);
        if (!st) st = check_pairs(p, c->index);
        if (st) return st;
        p->seen |= UINT64_C(1) << c->index;
        p->loop[p->n++] = c->index;
        st = check_list(p, c->body);
        p->n--;
        if (st) return st;
    }
    p->made = made;
    return STC_OK;
}

/* A command none of whose relations came to anything. */
static stc_status check_used(const path *p)
{
    const schedule *s = &p->pl->schedule;
    for (int k = 0; k < s->nrel; k++) {
        bool used = false;
        for (int m = 0; m < s->nrel && !used; m++)
            used = s->rel[m].at == s->rel[k].at && ((p->used >> m) & 1);
        if (used) continue;
        const relation *r = &s->rel[k];
        if (r->kind == REL_FUSE)
            return command_fail(
                p->pl, r->at, "fuse: %s and %s aren't loops of the same nest",
                index_name(p->pl, r->parent[0]), index_name(p->pl, r->parent[1]));
        return command_fail(p->pl, r->at, "%s: there is no loop over %s", r->at->name,
                            index_name(p->pl, r->parent[0]));
    }
    return STC_OK;
}

/* A relation is used if its own children are looped over, or what they became. */
static bool reached(const path *p, const relation *r)
{
    const schedule *s = &p->pl->schedule;
    for (int c = 0; c < 2; c++) {
        if (r->child[c] < 0) continue;
        if ((p->seen >> relation_loop(p->pl, r->child[c], false)) & 1) return true;
        for (int k = 0; k < s->nrel; k++)
            if ((s->rel[k].parent[0] == r->child[c] ||
                 s->rel[k].parent[1] == r->child[c]) &&
                reached(p, &s->rel[k]))
                return true;
    }
    return false;
}

stc_status schedule_check(plan *pl)
{
    path p = {.pl = pl};
    const schedule *s = &pl->schedule;
    if (!s->nseq && !s->nrel && !pl->npre && !s->shared) return STC_OK;
    stc_status st = check_list(&p, pl->root);
    if (st) return st;
    if (s->shared && !(s->shared & p.seen))
        return command_fail(pl, s->shared_at, "parallelize: there is no loop over %s",
                            s->shared_at->child[0]->name);
    for (int k = 0; k < pl->schedule.nrel; k++) {
        const relation *r = &pl->schedule.rel[k];
        bool nested = r->kind == REL_FUSE && !r->real;
        if (!nested && reached(&p, r)) p.used |= UINT32_C(1) << k;
    }
    return check_used(&p);
}
