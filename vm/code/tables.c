/* tables.c: the iteration lattice as data: truth tables over presence masks.
 *
 * Up to six operands a table is one word, bit m for mask m; above, a postfix
 * Boolean program over the mask's bits. live is never false when something can
 * still be produced; for postfix programs, which would need a search, it may
 * be true when nothing can.
 */
#include "program.h"

static const uint64_t bit_masks[6] = {
    0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0,
    0xff00ff00ff00ff00, 0xffff0000ffff0000, 0xffffffff00000000,
};

uint64_t table_bit(int b)
{
    return bit_masks[b];
}

/* The table when bit b is known: it no longer depends on it. */
uint64_t table_fix(uint64_t table, int b, bool set)
{
    uint64_t half = set ? table & bit_masks[b] : table & ~bit_masks[b];
    return set ? half | half >> (1 << b) : half | half << (1 << b);
}

uint64_t table_live(uint64_t table)
{
    for (int b = 0; b < 6; b++)
        table |= (table & ~bit_masks[b]) << (1 << b);
    return table;
}

/* The verifier sees to it that a postfix program never needs a stack deeper than
 * 64, so the stack is a word. */
bool postfix_eval(const uint8_t *pf, int len, uint64_t mask)
{
    uint64_t stack = 0; /* the top is bit 0 */
    for (int i = 0; i < len; i++) {
        uint64_t top = stack & 1;
        switch (pf[i]) {
        case PF_AND:
            stack >>= 1;
            stack &= top | ~(uint64_t)1;
            break;
        case PF_OR:
            stack >>= 1;
            stack |= top;
            break;
        case PF_NOT:
            stack ^= 1;
            break;
        case PF_TRUE:
            stack = stack << 1 | 1;
            break;
        case PF_FALSE:
            stack <<= 1;
            break;
        default:
            stack = stack << 1 | (mask >> (pf[i] & 63) & 1);
        }
    }
    return stack & 1;
}

/* Three-valued: what the bits outside `care` are isn't known. A value is a
 * pair of bits (may be false, may be true). */
static void postfix_values(const uint8_t *pf, int len, uint64_t care, uint64_t fixed,
                           bool *may_fail, bool *may)
{
    uint64_t no = 0, yes = 0; /* may be false, may be true; the top is bit 0 */
    for (int i = 0; i < len; i++) {
        uint64_t n = no & 1, y = yes & 1;
        switch (pf[i]) {
        case PF_AND:
            no >>= 1, yes >>= 1;
            no |= n;
            yes &= y | ~(uint64_t)1;
            break;
        case PF_OR:
            no >>= 1, yes >>= 1;
            no &= n | ~(uint64_t)1;
            yes |= y;
            break;
        case PF_NOT:
            no = (no & ~(uint64_t)1) | y;
            yes = (yes & ~(uint64_t)1) | n;
            break;
        case PF_TRUE:
            no <<= 1, yes = yes << 1 | 1;
            break;
        case PF_FALSE:
            no = no << 1 | 1, yes <<= 1;
            break;
        default: {
            int b = pf[i] & 63;
            bool known = care >> b & 1, set = fixed >> b & 1;
            no = no << 1 | (!known || !set);
            yes = yes << 1 | (!known || set);
        }
        }
    }
    *may_fail = no & 1;
    *may = yes & 1;
}

bool postfix_may(const uint8_t *pf, int len, uint64_t care, uint64_t fixed)
{
    bool may_fail, may;
    postfix_values(pf, len, care, fixed, &may_fail, &may);
    return may;
}

bool merge_always(const merge_desc *m)
{
    bool may_fail, may;
    if (m->count == MERGE_TABLE_MAX) return !~m->produce;
    if (m->count < MERGE_TABLE_MAX) {
        const uint64_t all = (UINT64_C(1) << (1 << m->count)) - 1;
        return (m->produce & all) == all;
    }
    postfix_values(m->postfix, m->postfix_len, 0, 0, &may_fail, &may);
    return !may_fail;
}

bool merge_may(const merge_desc *m, uint64_t care, uint64_t fixed)
{
    if (m->count > MERGE_TABLE_MAX)
        return postfix_may(m->postfix, m->postfix_len, care, fixed);
    uint64_t table = m->produce;
    for (int b = 0; b < m->count; b++)
        if (care >> b & 1) table = table_fix(table, b, fixed >> b & 1);
    for (int b = 0; b < m->count; b++)
        table |= (table & bit_masks[b]) >> (1 << b);
    return table & 1;
}

bool merge_produces(const merge_desc *m, uint64_t mask)
{
    if (m->count <= MERGE_TABLE_MAX) return m->produce >> (mask & 63) & 1;
    return postfix_eval(m->postfix, m->postfix_len, mask);
}
