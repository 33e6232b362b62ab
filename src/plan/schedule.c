/* schedule.c: what `with …` asks of a plan.
 *
 *     reorder(k,i,j)                 these loops in this order
 *     workspace(policy[, capacity])  how a workspace is kept, if one is needed
 *     parallelize(i)                 accepted: it changes speed, never values
 *
 * Commands are read left to right. One that names nothing in the statement, or
 * that can't be carried out, is an error that says what would break.
 */
#include "plan.h"
#include <string.h>

static stc_status command_fail(const plan *pl, const ast *at, const char *what)
{
    return fail_text(pl->p->cx, STC_ERR_PROGRAM, pl->src->file, pl->src->text, at->at,
                     "%s: %s", at->name, what);
}

stc_status schedule_fail(const plan *pl, const char *why)
{
    const ast *at = pl->s->schedule;
    return fail_text(pl->p->cx, STC_ERR_PROGRAM, pl->src->file, pl->src->text,
                     at ? at->at : pl->s->at, "the schedule can't be followed: %s", why);
}

/* Every index of that name: reductions may use one name twice. */
static int rank_index(plan *pl, const char *name, int rank)
{
    int found = 0;
    for (int k = 0; k < pl->s->nindex; k++)
        if (strcmp(pl->s->index[k].name, name) == 0) {
            pl->schedule.rank[k] = (int8_t)rank;
            found++;
        }
    return found;
}

static stc_status read_reorder(plan *pl, const ast *c)
{
    memset(pl->schedule.rank, -1, sizeof pl->schedule.rank);
    pl->schedule.ordered = true;
    for (int k = 0; k < c->count; k++) {
        if (c->child[k]->kind != N_NAME)
            return command_fail(pl, c, "expected the names of indices");
        if (!rank_index(pl, c->child[k]->name, k))
            return fail_text(pl->p->cx, STC_ERR_PROGRAM, pl->src->file, pl->src->text,
                             c->child[k]->at, "reorder: the statement has no index %s",
                             c->child[k]->name);
    }
    return STC_OK;
}

static stc_status read_workspace(plan *pl, const ast *c)
{
    static const char *const name[] = {[WS_AUTO] = "auto",
                                       [WS_DENSE] = "dense",
                                       [WS_COORD] = "coord",
                                       [WS_BUCKET] = "bucket",
                                       [WS_HASH] = "hash"};
    int policy = -1;
    for (int k = 0; c->count && c->child[0]->kind == N_NAME && k <= WS_HASH; k++)
        if (strcmp(c->child[0]->name, name[k]) == 0) policy = k;
    if (policy < 0) return command_fail(pl, c, "expected dense, coord, bucket or hash");
    pl->schedule.policy = (uint8_t)policy;
    if (c->count < 2) return STC_OK;
    if (c->child[1]->kind != N_INT || c->child[1]->u == 0 ||
        c->child[1]->u > INT64_MAX / 64)
        return command_fail(pl, c, "expected a capacity of at least 1");
    pl->schedule.capacity = (int64_t)c->child[1]->u;
    return STC_OK;
}

static stc_status read_parallelize(plan *pl, const ast *c)
{
    for (int k = 0; c->count == 1 && k < pl->s->nindex; k++)
        if (c->child[0]->kind == N_NAME &&
            strcmp(pl->s->index[k].name, c->child[0]->name) == 0)
            return STC_OK;
    return command_fail(pl, c, "expected one index of the statement");
}

stc_status plan_schedule(plan *pl)
{
    static const struct {
        const char *name;
        stc_status (*read)(plan *, const ast *);
    } command[] = {{"reorder", read_reorder},
                   {"workspace", read_workspace},
                   {"parallelize", read_parallelize}};
    enum { COMMANDS = sizeof command / sizeof *command };
    const ast *s = pl->s->schedule;
    for (int k = 0; s && k < s->count; k++) {
        stc_status st = STC_ERR_PROGRAM;
        int which = 0;
        while (which < COMMANDS && strcmp(s->child[k]->name, command[which].name))
            which++;
        if (which == COMMANDS)
            return command_fail(pl, s->child[k],
                                "no such schedule command; there are reorder, workspace "
                                "and parallelize");
        st = command[which].read(pl, s->child[k]);
        if (st) return st;
    }
    return STC_OK;
}
