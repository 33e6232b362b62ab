/* keep.c: what the rounds of a loop don't change.
 *
 * A step that reads nothing but what no round changes runs in the first round alone: it
 * comes before the others, and the machine leaves it out while its operands are what they
 * were (vm/run/keep.c). So it is done where the text has it, or never, and each round bears
 * a part of what it costs. A statement that reads nothing else gains nothing by steps: it
 * is left out as a whole (src/session).
 */
#include "opt.h"

static const double entry_bytes = 16;
/* Of a capped memory, what one of them may take. */
static const double most_of_memory = 0.125;

static bool steady_tensor(const opt *o, int slot)
{
    const prog_tensor *t = &o->p->tensor[slot];
    if (t->role == ROLE_INPUT) return o->known->steady(o->known->of, t->name);
    for (int k = o->nstep - 1; k >= 0; k--)
        if (o->step[k].s.target == slot) return o->step[k].steady;
    return false;
}

bool keep_steady(const opt *o, const bexpr *e)
{
    if (o->rounds <= 1 || (e->ufn && e->ufn->host)) return false;
    if (e->kind == B_ACCESS && !steady_tensor(o, e->tensor)) return false;
    for (int k = 0; k < e->nargs; k++)
        if (!keep_steady(o, e->args[k])) return false;
    return true;
}

double keep_rounds(const opt *o)
{
    if (!o->known || !o->known->steady || o->known->rounds <= 1) return 1;
    opt in_loop = *o;
    in_loop.rounds = o->known->rounds;
    return o->s->op < 0 && keep_steady(&in_loop, o->s->value) ? 1 : o->known->rounds;
}

bool keep_all(const factor *f, int n)
{
    for (int k = 0; k < n; k++)
        if (!f[k].steady) return false;
    return true;
}

double keep_share(const opt *o, bool steady, uint64_t out, double density)
{
    const double cap = (double)o->p->cx->max_memory;
    const double bytes = entry_bytes * density * cost_places(o, out);
    return steady && (!cap || bytes < most_of_memory * cap) ? 1 / o->rounds : 1;
}
