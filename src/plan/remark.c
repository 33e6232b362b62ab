/* remark.c: for explain: how results come, and what collects them.
 *
 * The taxonomy of the workspaces paper, §2.2: results come in the order in which
 * their levels are assembled, or at places that the result takes in any order, or
 * they are scattered: then a workspace has as many levels as the loops are out of
 * order, and the first loop that is says why.
 */
#include "build.h"
#include "../../vm/code/policies.h"

static const char *target_name(const plan *pl)
{
    return pl->p->tensor[pl->s->target].name;
}

/* The place of a loop among those of the result, -1: it is another. */
static int place_of(const builder *b, int loop)
{
    for (int l = 0; l < b->nresult; l++) {
        uint64_t loops = b->result[l] < 0
                             ? 0
                             : loops_set(b->pl, UINT64_C(1) << b->result[l], UINT64_MAX);
        if ((loops >> loop) & 1) return l;
    }
    return -1;
}

/* The first loop of a term that is out of the result's order. */
static bool say_cause(const builder *b, const term *t)
{
    const plan *pl = b->pl;
    for (int k = 0; k + 1 < t->norder; k++)
        for (int m = k + 1; m < t->norder; m++) {
            int outer = place_of(b, t->order[k]), inner = place_of(b, t->order[m]);
            if (inner < 0 || (outer >= 0 && outer <= inner)) continue;
            text_add(pl->why, "%s%s runs outside of %s", index_name(pl, t->order[k]),
                     outer < 0 ? ", which isn't the result's," : "",
                     index_name(pl, t->order[m]));
            return true;
        }
    return false;
}

static void say_policy(const plan *pl, int slot)
{
    const prog_tensor *w = &pl->p->tensor[slot];
    if (w->fmt.levels && w->fmt.level[0].kind->caps & CAP_REGION)
        text_add(pl->why, "; kept as runs, whose rows are folded in pairs\n");
    else if (w->policy == WS_AUTO)
        text_add(pl->why, "; kept by what sizes are when it runs: %s\n", ws_rule(w->order));
    else if (w->capacity)
        text_add(pl->why, "; kept as asked, %s of capacity %lld\n",
                 policy_name(pl->p->cx, w->policy), (long long)w->capacity);
    else
        text_add(pl->why, "; kept as asked, %s\n", policy_name(pl->p->cx, w->policy));
}

void remark_workspace(const builder *b, const choice *c, int slot)
{
    const plan *pl = b->pl;
    const int first = b->shared.cover[c->prefix], order = b->nresult - first;
    if (!pl->why || b->native) return;
    if (c->insert) {
        text_add(pl->why, "%s takes values at any place", target_name(pl));
        if (first) text_add(pl->why, " below %s", index_name(pl, b->result[first - 1]));
        text_add(pl->why, " in any order: no workspace\n");
        return;
    }
    text_add(pl->why, "w(");
    for (int l = first; l < b->nresult; l++)
        text_add(pl->why, "%s%s", l > first ? "," : "", index_name(pl, b->result[l]));
    text_add(pl->why, ") collects what is added to %s", target_name(pl));
    if (c->prefix)
        text_add(pl->why, " inside %s", index_name(pl, b->shared.index[c->prefix - 1]));
    text_add(pl->why, ", scattering of order %d: ", order);
    bool said = false;
    for (int t = 0; t < b->nterm && !said; t++)
        said = say_cause(b, &b->term[t]);
    if (!said) text_add(pl->why, "its terms have loops of their own");
    say_policy(pl, slot);
    if (b->counted)
        text_add(pl->why, "what isn't stored is one more term where fewer than all were "
                          "added: they are counted beside it\n");
}

void remark_precomputed(const plan *pl, const precomputed *p)
{
    if (!pl->why) return;
    const char *name = pl->p->tensor[p->slot].name;
    text_add(pl->why, "%s(", *name ? name : "w");
    for (int k = 0; k < p->order; k++)
        text_add(pl->why, "%s%s", k ? "," : "", index_name(pl, p->index[k]));
    text_add(pl->why, ") is computed first");
    const char *before = ", inside ";
    for (uint64_t set = p->outer; set; set &= set - 1, before = " and ")
        text_add(pl->why, "%s%s", before, index_name(pl, __builtin_ctzll(set)));
    if (p->search)
        text_add(pl->why, ", by what is stored: -1 where that isn't all to be searched\n");
    else if (p->appended)
        text_add(pl->why, ", in order, as what it is made of is stored\n");
    else
        say_policy(pl, p->slot);
}
