/* pset.c: sets of coordinates as expressions over "access x is stored here".
 *
 * They are made with the units and zeros of `and` and `or` taken out, live in the
 * plan's arena, and never change. algebra.c derives them; lattices are made of them.
 */
#include "plan.h"

static const pset ps_none = {.op = PS_NONE}, ps_all = {.op = PS_ALL};

const pset *pset_make(plan *pl, int op, const pset *a, const pset *b)
{
    if (!a || !b) return NULL;
    int unit = op == PS_AND ? PS_ALL : PS_NONE, zero = op == PS_AND ? PS_NONE : PS_ALL;
    if (a->op == zero || b->op == unit) return a;
    if (b->op == zero || a->op == unit) return b;
    if (a->op == b->op && a->access == b->access &&
        (a->op == PS_STORED || a->op == PS_ABSENT))
        return (op == PS_AND) == b->exact ? b : a;
    pset *s = arena_alloc(pl->a, sizeof *s);
    if (s) *s = (pset){.op = op, .a = a, .b = b};
    return s;
}

pset *pset_leaf(plan *pl, int op, int access)
{
    pset *s = arena_alloc(pl->a, sizeof *s);
    if (s) *s = (pset){.op = op, .access = access};
    return s;
}

const pset *pset_stored(plan *pl, int access)
{
    return pset_leaf(pl, PS_STORED, access);
}

const pset *pset_absent(plan *pl, int access)
{
    return pset_leaf(pl, PS_ABSENT, access);
}

const pset *pset_none(void)
{
    return &ps_none;
}

const pset *pset_all(void)
{
    return &ps_all;
}

const pset *pset_without(plan *pl, const pset *s, int access)
{
    if (s->op == PS_AND || s->op == PS_OR)
        return pset_make(pl, s->op, pset_without(pl, s->a, access),
                         pset_without(pl, s->b, access));
    if ((s->op != PS_STORED && s->op != PS_ABSENT) || s->access != access) return s;
    return s->op == PS_STORED ? &ps_none : &ps_all;
}

uint64_t pset_accesses(const pset *s)
{
    if (s->op == PS_STORED || s->op == PS_ABSENT) return UINT64_C(1) << s->access;
    if (s->op == PS_AND || s->op == PS_OR) return pset_accesses(s->a) | pset_accesses(s->b);
    return 0;
}

bool pset_requires(const pset *s, int access)
{
    if (s->op == PS_AND) return pset_requires(s->a, access) || pset_requires(s->b, access);
    if (s->op == PS_OR) return pset_requires(s->a, access) && pset_requires(s->b, access);
    return s->op == PS_NONE || (s->op == PS_STORED && s->access == access);
}

void pset_print(const plan *pl, const pset *s, textbuf *out)
{
    static const char *const word[] = {[PS_NONE] = "nothing", [PS_ALL] = "everything"};
    switch (s->op) {
    case PS_NONE:
    case PS_ALL:
        text_add(out, "%s", word[s->op]);
        break;
    case PS_STORED:
    case PS_ABSENT: {
        const char *name = pl->p->tensor[pl->access[s->access].source].name;
        text_add(out, "%s%s", s->op == PS_ABSENT ? "~" : "", name[0] ? name : "temp");
        break;
    }
    case PS_WHERE:
        expr_print(pl, s->of, out);
        break;
    case PS_HAD_TERM:
        expr_print(pl, s->of, out);
        if (s->of->kind == B_REDUCE) text_add(out, " had a term");
        break;
    default:
        text_add(out, "(");
        pset_print(pl, s->a, out);
        text_add(out, s->op == PS_AND ? " & " : " | ");
        pset_print(pl, s->b, out);
        text_add(out, ")");
    }
}
