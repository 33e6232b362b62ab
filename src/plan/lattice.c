/* lattice.c: iteration lattices as truth tables.
 *
 * A set over "access is stored here" becomes, at one loop, a table over the
 * presence mask of the operands that this loop sees: bit b of `produce` tells
 * whether mask b has to be visited (vm.md; the lattices of the array
 * programming paper, §6, evaluated mask by mask).
 *
 * What a loop can't see yet (levels below, accesses that begin further in)
 * counts as "maybe": stored and absent at once. A complement ("absent") needs
 * to know that a stored value isn't just an explicit fill, so it is decided
 * only in the second table, which is tested after such bits were cleared.
 */
#include "plan.h"

static int bit_of_term(const pset *s, const loop_bits *b)
{
    int k = 0;
    while (b->reach->of[k] != s->of)
        k++;
    return b->reach->first + k;
}

static bool evaluate(const pset *s, const loop_bits *b, bool skip, uint64_t mask)
{
    switch (s->op) {
    case PS_NONE:
        return false;
    case PS_ALL:
    case PS_WHERE: /* the loop's range has it, or the value does */
        return true;
    case PS_AND:
        return evaluate(s->a, b, skip, mask) && evaluate(s->b, b, skip, mask);
    case PS_OR:
        return evaluate(s->a, b, skip, mask) || evaluate(s->b, b, skip, mask);
    case PS_HAD_TERM:
        return (mask >> bit_of_term(s, b)) & 1;
    default:
        break;
    }
    int bit = b->bit[s->access];
    bool seen = bit >= 0 && (skip || !((b->late >> s->access) & 1));
    bool set = seen && ((mask >> bit) & 1);
    if (s->op == PS_STORED) return !seen || set;
    return !(skip && seen && ((b->exact >> s->access) & 1)) || !set;
}

static uint8_t *postfix(const pset *s, const loop_bits *b, bool skip, uint8_t *out)
{
    if (s->op == PS_AND || s->op == PS_OR) {
        out = postfix(s->a, b, skip, out);
        out = postfix(s->b, b, skip, out);
        *out++ = s->op == PS_AND ? PF_AND : PF_OR;
        return out;
    }
    if (s->op == PS_NONE || s->op == PS_ALL || s->op == PS_WHERE) {
        *out++ = s->op == PS_NONE ? PF_FALSE : PF_TRUE;
        return out;
    }
    if (s->op == PS_HAD_TERM) {
        *out++ = (uint8_t)bit_of_term(s, b);
        return out;
    }
    int bit = b->bit[s->access];
    bool seen = bit >= 0 && (skip || !((b->late >> s->access) & 1));
    bool exact = skip && ((b->exact >> s->access) & 1);
    if (!seen || (s->op == PS_ABSENT && !exact)) {
        *out++ = PF_TRUE;
        return out;
    }
    *out++ = (uint8_t)bit;
    if (s->op == PS_ABSENT) *out++ = PF_NOT;
    return out;
}

static int pset_size(const pset *s)
{
    if (s->op == PS_AND || s->op == PS_OR) return pset_size(s->a) + pset_size(s->b) + 1;
    return 2;
}

stc_status lattice_table_make(plan *pl, const pset *s, const loop_bits *b, bool skip,
                              int bits, lattice_table *out)
{
    *out = (lattice_table){0};
    if (bits <= MERGE_TABLE_MAX) {
        for (uint64_t mask = 0; mask < UINT64_C(1) << bits; mask++)
            if (evaluate(s, b, skip, mask)) out->produce |= UINT64_C(1) << mask;
        return STC_OK;
    }
    out->postfix = arena_alloc(pl->a, (size_t)pset_size(s));
    if (!out->postfix) return STC_ERR_MEMORY;
    out->postfix_len = (int)(postfix(s, b, skip, out->postfix) - out->postfix);
    return STC_OK;
}

bool lattice_produces(const lattice_table *t, uint64_t mask)
{
    merge_desc m = {.count = t->postfix ? 64 : MERGE_TABLE_MAX,
                    .produce = t->produce,
                    .postfix = t->postfix,
                    .postfix_len = t->postfix_len};
    return merge_produces(&m, mask);
}

uint64_t lattice_certain(const lattice_table *t, int bits)
{
    uint64_t certain = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    if (t->postfix) { /* tables are monotone in bits that aren't complemented */
        uint64_t all = certain;
        for (int k = 0; k < bits; k++)
            if (lattice_produces(t, all & ~(UINT64_C(1) << k)))
                certain &= ~(UINT64_C(1) << k);
        return certain;
    }
    for (uint64_t mask = 0; mask < UINT64_C(1) << bits; mask++)
        if ((t->produce >> mask) & 1) certain &= mask;
    return certain;
}

uint64_t lattice_never(const lattice_table *t, int bits)
{
    uint64_t some = 0;
    if (t->postfix) return 0;
    for (uint64_t mask = 0; mask < UINT64_C(1) << bits; mask++)
        if ((t->produce >> mask) & 1) some |= mask;
    return ~some;
}

bool lattice_driven(const lattice_table *t, int bits, uint64_t drive)
{
    if (t->postfix) {
        uint64_t all = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
        return !lattice_produces(t, all & ~drive) && !lattice_produces(t, 0);
    }
    for (uint64_t mask = 0; mask < UINT64_C(1) << bits; mask++)
        if (((t->produce >> mask) & 1) && !(mask & drive)) return false;
    return true;
}
