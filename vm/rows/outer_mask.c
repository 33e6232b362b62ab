/* outer_mask.c: which lanes a round of a loop visits.
 *
 * Each operand of the loop's merge is there for all lanes, for none, or for some. What the
 * merge's table makes of those that vary is found once for the same sure ones, and is
 * nearly always that any of them, or each, must be there.
 *
 * Subsections are taken to hold something; whether they did is known once the loops
 * inside have looked at all that is in them (`seen`).
 */
#include "outer.h"
#include <string.h>

bool outer_makes(const merge_desc *m, uint64_t present)
{
    uint64_t walkers = 0;
    for (int b = 0; b < m->count; b++)
        if (m->operand[b].role == MERGE_WALK) walkers |= UINT64_C(1) << b;
    return (m->universe || present & walkers) && merge_produces(m, present);
}

/* An operand's lanes: all, none, or those in *bits, which may be written to `room`. */
typedef enum lanes { LANES_NONE, LANES_ALL, LANES_SOME } lanes;

static lanes lanes_of(const outer *o, const outer_stand *s, uint8_t *room,
                      const uint8_t **bits)
{
    const int64_t x = o->x, end = o->x + o->n;
    const int64_t from = s->from > x ? s->from : x, to = s->to < end ? s->to : end;
    if (from >= to) return LANES_NONE;
    if (from == x && to == end && !(s->there && s->step)) return LANES_ALL;
    *bits = room;
    if (s->there && s->step == 1 && from == x && to == end) {
        *bits = s->there + s->base + x;
        return LANES_SOME;
    }
    if (from > x || to < end) memset(room, 0, (size_t)o->n);
    if (s->there) { /* then there is a step */
        outer_bytes(room + (from - x), s->there + s->base + s->step * from, s->step,
                    to - from);
    } else {
        memset(room + (from - x), 1, (size_t)(to - from));
    }
    return LANES_SOME;
}

/* What the table makes of the bits in `vary`, lowest first. */
static outer_pattern pattern_of(const merge_desc *m, uint64_t sure, uint64_t vary,
                                uint8_t *table)
{
    const int n = 1 << __builtin_popcountll(vary);
    int made = 0;
    for (int k = 0; k < n; k++) {
        uint64_t present = sure, left = vary;
        for (int bit = 0; left; bit++, left &= left - 1)
            if (k >> bit & 1) present |= left & -left;
        table[k] = outer_makes(m, present);
        made += table[k];
    }
    if (made == n) return OUTER_ALL;
    if (!made) return OUTER_NONE;
    if (made == n - 1 && !table[0]) return OUTER_ANY;
    return made == 1 && table[n - 1] ? OUTER_EACH : OUTER_TABLE;
}

static void combine(const outer_loop *l, const uint8_t *const *bits, int nbits,
                    uint8_t *out, int n)
{
    if (l->pattern != OUTER_TABLE) {
        memcpy(out, bits[0], (size_t)n);
        for (int b = 1; b < nbits; b++)
            (l->pattern == OUTER_ANY ? outer_or : outer_and)(out, bits[b], n);
        return;
    }
    for (int k = 0; k < n; k++) {
        int at = 0;
        for (int b = 0; b < nbits; b++)
            at |= bits[b][k] << b;
        out[k] = l->table[at];
    }
}

/* What is stored in lanes' subsections is there for those in `bits`. */
static void see(outer *o, lanes which, const uint8_t *bits)
{
    if (which == LANES_ALL) memset(o->seen, 1, (size_t)o->n);
    if (which == LANES_SOME) outer_or(o->seen, bits, o->n);
}

bool outer_visits(outer *o, int d, const uint8_t *in, const uint8_t **out)
{
    outer_loop *l = &o->loop[d];
    const uint8_t *bits[OUTER_OPERANDS];
    uint64_t sure = 0, vary = 0;
    int nbits = 0;
    *out = in;
    if (((l->always || l->neutral) && !o->partial) || l->whole) return true;
    for (int b = 0; b < l->count; b++) {
        const outer_stand *s = &o->stand[l->operand[b]];
        lanes which = LANES_ALL;
        if (l->operand[b]) which = lanes_of(o, s, o->bits[b], &bits[nbits]);
        if (o->partial && d > o->lane && s->sparse && s->leaf) see(o, which, bits[nbits]);
        if (which == LANES_ALL) sure |= UINT64_C(1) << b;
        if (which != LANES_SOME) continue;
        vary |= UINT64_C(1) << b;
        nbits++;
    }
    if (l->neutral) return true;
    if (l->pattern == OUTER_UNKNOWN || l->sure != sure || l->vary != vary) {
        l->sure = sure;
        l->vary = vary;
        l->pattern = pattern_of(l->l->merge, sure, vary, l->table);
    }
    if (l->pattern == OUTER_NONE || l->pattern == OUTER_ALL) return l->pattern == OUTER_ALL;
    uint8_t *mask = o->mask[d];
    if (nbits == 1 && l->pattern == OUTER_ANY && !in) {
        *out = bits[0];
        return memchr(bits[0], 1, (size_t)o->n) != NULL;
    }
    combine(l, bits, nbits, mask, o->n);
    if (in) outer_and(mask, in, o->n);
    if (!memchr(mask, 1, (size_t)o->n)) return false;
    *out = memchr(mask, 0, (size_t)o->n) ? mask : NULL;
    return true;
}
