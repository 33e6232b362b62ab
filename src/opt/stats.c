/* stats.c: what is known of operands when a statement is compiled.
 *
 * A session's statement is planned with the tensors that it will read. Their shapes and
 * the number of values that they keep are read off at once, so nothing is counted,
 * or kept: a tensor that changes is looked at anew. A program that is compiled from
 * declarations alone has no tensors yet: then defaults hold (cost.c), until there are
 * (api_plan.c).
 */
#include "opt.h"

const tensor *stats_tensor(const opt *o, int slot)
{
    const prog_tensor *t = &o->p->tensor[slot];
    const bool read = t->role == ROLE_INPUT || t->role == ROLE_INOUT ||
                      t->role == ROLE_OUTPUT; /* of an earlier statement */
    for (int k = 0; read && !*t->name && o->looks && k < o->looks->n; k++)
        if (o->looks->row[k].slot == slot) return o->looks->row[k].made;
    if (!o->known || !o->known->find || !read) return NULL;
    const tensor *found = o->known->find(o->known->of, t->name);
    return found && found->order == t->order ? found : NULL;
}

/* A count, to a power of two. */
static uint64_t bucket(int64_t n)
{
    return n > 0 ? 64 - (uint64_t)__builtin_clzll((uint64_t)n) : 0;
}

uint64_t stats_key(uint64_t key, const tensor *t)
{
    const uint64_t prime = 0x100000001b3;
    key = (key ^ bucket(t->nvals)) * prime + 1;
    for (int m = 0; m < t->order; m++)
        key = (key ^ bucket(t->shape[m])) * prime;
    return key;
}

bool stats_extent(const opt *o, int slot, int mode, double *out)
{
    const tensor *t = stats_tensor(o, slot);
    if (t) *out = (double)t->shape[mode];
    return t;
}

bool stats_density(const opt *o, int slot, double *out)
{
    const tensor *t = stats_tensor(o, slot);
    double places = 1;
    for (int m = 0; t && m < t->order; m++)
        places *= (double)t->shape[m];
    if (!t) return false;
    const double stored = (double)t->nvals;
    *out = stored < places ? stored / places : 1;
    return true;
}
