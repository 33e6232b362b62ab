/* schedule.c: what `with …` asks of a plan.
 *
 *     reorder(i,…)                     these loops in this order
 *     split(i,i0,i1,n), fuse(i,j,f), pos(i,p,A(i,k))
 *                                      loops over other indices: relation.c
 *     precompute(e, W, {i,j}, …)       a part of the right side first: precompute.c
 *     workspace(policy[, capacity])    how a workspace is kept, if one is needed
 *     parallelize(i)                   this loop outermost, shared by threads
 *
 * Commands are read left to right. What they say of the loops' order is one
 * sequence of names, in which later commands find what earlier ones made
 * (workspaces paper, fig. 11). One that names nothing in the statement, or that
 * can't be carried out, is an error that says what would break: what the text
 * alone shows, here; what only the loops show, in schedule_check.c.
 */
#include "schedule.h"
#include "../../vm/code/policies.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

stc_status command_fail(const plan *pl, const ast *at, const char *what, ...)
{
    char text[400];
    va_list args;
    va_start(args, what);
    vsnprintf(text, sizeof text, what, args);
    va_end(args);
    return fail_source(pl->src, STC_ERR_PROGRAM, at->at, "%s", text);
}

stc_status schedule_fail(const plan *pl, const char *why, ...)
{
    char text[400];
    va_list args;
    const ast *at = pl->s->schedule;
    va_start(args, why);
    vsnprintf(text, sizeof text, why, args);
    va_end(args);
    return fail_source(pl->src, STC_ERR_PROGRAM, at ? at->at : pl->s->at,
                       "the schedule can't be followed: %s", text);
}

/* ---- names ------------------------------------------------------------------------ */

static uint64_t schedule_named(const plan *pl, const char *name)
{
    uint64_t set = 0;
    for (int k = 0; k < pl->s->nindex; k++)
        if (strcmp(pl->s->index[k].name, name) == 0) set |= UINT64_C(1) << k;
    return set & ~pl->schedule.gone;
}

/* Which command took an index of that name apart; NULL: none did. */
static const ast *taken_by(const plan *pl, const char *name)
{
    const schedule *s = &pl->schedule;
    for (int r = 0; r < s->nrel; r++)
        for (int k = 0; k < 2; k++) {
            int i = s->rel[r].parent[k];
            if (i >= 0 && strcmp(pl->s->index[i].name, name) == 0) return s->rel[r].at;
        }
    return NULL;
}

uint64_t schedule_argument(const plan *pl, const ast *command, int k, const char *usage)
{
    if (k >= command->count || command->child[k]->kind != N_NAME) {
        command_fail(pl, command, "expected %s", usage);
        return 0;
    }
    const ast *at = command->child[k];
    uint64_t set = schedule_named(pl, at->name);
    if (set) return set;
    const ast *by = taken_by(pl, at->name);
    if (by)
        command_fail(pl, at, "%s: %s is no loop any more after its %s", command->name,
                     at->name, by->name);
    else
        command_fail(pl, at, "%s: the statement has no index %s", command->name, at->name);
    return 0;
}

/* ---- the order of loops ------------------------------------------------------------- */

int schedule_place(const plan *pl, const char *name)
{
    for (int k = 0; k < pl->schedule.nseq; k++)
        if (strcmp(pl->schedule.seq[k], name) == 0) return k;
    return -1;
}

static void seq_remove(schedule *s, int at)
{
    s->nseq--;
    for (int k = at; k < s->nseq; k++)
        s->seq[k] = s->seq[k + 1];
}

static void seq_insert(schedule *s, int at, const char *name)
{
    if (s->nseq == 64) return; /* a statement has at most 64 indices */
    for (int k = s->nseq++; k > at; k--)
        s->seq[k] = s->seq[k - 1];
    s->seq[at] = name;
}

void schedule_replace(plan *pl, const char *from, const char *a, const char *b)
{
    int at = schedule_place(pl, from);
    if (at < 0) return;
    seq_remove(&pl->schedule, at);
    if (b) seq_insert(&pl->schedule, at, b);
    if (a) seq_insert(&pl->schedule, at, a);
}

/* The named loops take, in this order, the places they have; those that have
 * none yet follow the one before. */
static stc_status read_reorder(plan *pl, const ast *c)
{
    schedule *s = &pl->schedule;
    int at = -1;
    if (!c->count) return command_fail(pl, c, "expected reorder(i,…)");
    for (int k = 0; k < c->count; k++) {
        if (!schedule_argument(pl, c, k, "reorder(i,…)")) return STC_ERR_PROGRAM;
        for (int m = 0; m < k; m++)
            if (strcmp(c->child[m]->name, c->child[k]->name) == 0)
                return command_fail(pl, c->child[k], "reorder: %s stands twice",
                                    c->child[k]->name);
    }
    bool all = true;
    for (int k = 0; k < c->count; k++)
        all = all && schedule_place(pl, c->child[k]->name) >= 0;
    if (all) {
        uint64_t places = 0;
        for (int k = 0; k < c->count; k++)
            places |= UINT64_C(1) << schedule_place(pl, c->child[k]->name);
        for (int k = 0; k < c->count; k++, places &= places - 1)
            s->seq[__builtin_ctzll(places)] = c->child[k]->name;
        return STC_OK;
    }
    for (int k = 0; k < c->count; k++) {
        int place = schedule_place(pl, c->child[k]->name);
        if (place < 0) continue;
        if (at < 0 || place < at) at = place;
        seq_remove(s, place);
    }
    if (at < 0) at = s->nseq;
    for (int k = 0; k < c->count; k++)
        seq_insert(s, at + k, c->child[k]->name);
    return STC_OK;
}

/* ---- other commands ----------------------------------------------------------------- */

int schedule_policy(const ctx *cx, const ast *at)
{
    return at->kind == N_NAME ? policy_find(cx, at->name, strlen(at->name)) : -1;
}

static stc_status read_workspace(plan *pl, const ast *c)
{
    int policy = c->count ? schedule_policy(pl->p->cx, c->child[0]) : -1;
    if (policy < 0)
        return command_fail(pl, c, "workspace: expected dense, coord, bucket or hash");
    pl->schedule.policy = (uint8_t)policy;
    if (c->count < 2) return STC_OK;
    if (c->count > 3 || c->child[1]->kind != N_INT || c->child[1]->u == 0 ||
        c->child[1]->u > INT64_MAX / 64)
        return command_fail(pl, c, "workspace: expected a capacity of at least 1");
    pl->schedule.capacity = (int64_t)c->child[1]->u;
    if (c->count < 3) return STC_OK;
    if (c->child[2]->kind != N_NAME || strcmp(c->child[2]->name, "single"))
        return command_fail(pl, c, "workspace: expected `single` after the capacity");
    pl->schedule.single = true;
    return STC_OK;
}

static stc_status read_parallelize(plan *pl, const ast *c)
{
    if (c->count != 1) return command_fail(pl, c, "expected parallelize(i)");
    const uint64_t set = schedule_argument(pl, c, 0, "parallelize(i)");
    if (set && pl->schedule.shared)
        return command_fail(pl, c,
                            "parallelize: threads share %s already: loops in or "
                            "around those that they share can't be",
                            pl->schedule.shared_at->child[0]->name);
    pl->schedule.shared = set;
    pl->schedule.shared_at = c;
    return set ? STC_OK : STC_ERR_PROGRAM;
}

/* Ranks of the loops that an index stands for; the next free rank. */
static int rank_index(plan *pl, int index, int rank)
{
    const schedule *s = &pl->schedule;
    for (int k = s->nrel - 1; k >= 0; k--) {
        const relation *r = &s->rel[k];
        if (r->real || r->child[0] != index) continue;
        rank = rank_index(pl, r->parent[0], rank);
        return r->kind == REL_FUSE ? rank_index(pl, r->parent[1], rank) : rank;
    }
    pl->schedule.rank[index] = (int16_t)rank;
    return rank + 1;
}

static void rank_loops(plan *pl)
{
    for (int k = 0; k < pl->schedule.nseq; k++) {
        uint64_t set = schedule_named(pl, pl->schedule.seq[k]);
        for (; set; set &= set - 1)
            rank_index(pl, __builtin_ctzll(set), 64 * k);
    }
}

/* The loops that threads share, by what became of the indices since. */
static stc_status settle_shared(plan *pl)
{
    uint64_t loops = 0;
    const ast *c = pl->schedule.shared_at;
    for (uint64_t set = pl->schedule.shared; set; set &= set - 1)
        loops |= UINT64_C(1) << relation_loop(pl, __builtin_ctzll(set), false);
    if (loops & pl->derived_set)
        return command_fail(pl, c, "parallelize: %s is no loop any more after its %s",
                            c->child[0]->name, taken_by(pl, c->child[0]->name)->name);
    pl->schedule.shared = loops;
    if (loops && pl->why)
        text_add(pl->why, "threads share the loop over %s, as asked, and no other\n",
                 c->child[0]->name);
    return STC_OK;
}

/* A statement with a schedule is done as it is written: there is no more to it. */
static stc_status read_as_written(plan *pl, const ast *c)
{
    return c->count ? command_fail(pl, c, "as_written has no arguments") : STC_OK;
}

stc_status plan_schedule(plan *pl)
{
    static const struct {
        const char *name;
        stc_status (*read)(plan *, const ast *);
    } command[] = {{"reorder", read_reorder},
                   {"split", schedule_split},
                   {"fuse", schedule_fuse},
                   {"pos", schedule_pos},
                   {"precompute", schedule_precompute},
                   {"workspace", read_workspace},
                   {"parallelize", read_parallelize},
                   {"as_written", read_as_written}};
    enum { COMMANDS = sizeof command / sizeof *command };
    const ast *s = pl->s->schedule;
    memset(pl->schedule.rank, -1, sizeof pl->schedule.rank);
    for (int k = 0; s && k < s->count; k++) {
        int which = 0;
        while (which < COMMANDS && strcmp(s->child[k]->name, command[which].name))
            which++;
        if (which == COMMANDS)
            return command_fail(pl, s->child[k],
                                "no such schedule command: %s; there are reorder, split, "
                                "fuse, pos, precompute, workspace, parallelize and "
                                "as_written",
                                s->child[k]->name);
        stc_status st = command[which].read(pl, s->child[k]);
        if (st) return st;
    }
    stc_status st = relation_settle(pl);
    if (st) return st;
    rank_loops(pl);
    st = precompute_inner(pl);
    return st ? st : settle_shared(pl);
}
