/* session_turned.c: conversions of variables, kept with the session.
 *
 * A statement whose loops need an operand in another format converts it. What comes out
 * belongs to the tensor more than to the statement: it serves the same statement planned
 * anew, others, and the next call of a def, as an index does in a database. It is kept
 * until the variable gets another value, a few at most; where memory has a cap, no longer
 * than what was prepared for it.
 */
#include "session.h"
#include <string.h>

static void forget(stc_session *s, int k)
{
    tensor_free(s->turned[k].made);
    memmove(&s->turned[k], &s->turned[k + 1],
            (size_t)(--s->nturned - k) * sizeof *s->turned);
}

void session_turned_drop(stc_session *s, const tensor *from)
{
    for (int k = s->nturned - 1; k >= 0; k--)
        if (!from || s->turned[k].from == from) forget(s, k);
}

void session_turned_give(stc_session *s, const prepared *c)
{
    for (int i = 0; c->converts && i < c->p->ntensor; i++) {
        const tensor *from = machine_stale(c->mc, i);
        for (int k = s->nturned - 1; from && k >= 0; k--) {
            const turned *x = &s->turned[k];
            if (x->from == from && x->generation == from->generation &&
                machine_adopt(c->mc, i, x->made))
                break;
        }
    }
}

void session_turned_take(stc_session *s, const prepared *c)
{
    for (int i = 0; c->converts && i < c->p->ntensor; i++) {
        const prog_tensor *row = &c->p->tensor[i];
        const tensor *from;
        if (row->keep_while && !*c->p->tensor[row->source].name) continue; /* no variable */
        tensor *made = machine_converted(c->mc, i, &from), *kept;
        bool there = !made;
        for (int k = 0; k < s->nturned; k++)
            there |= s->turned[k].made == made;
        if (there || !tensor_owns_arrays(made) || tensor_share(made, &kept)) continue;
        if (s->nturned == TURNED_MAX) forget(s, 0);
        s->turned[s->nturned++] = (turned){from, from->generation, kept};
    }
}
