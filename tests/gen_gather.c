/* gen_gather.c: accesses at subscripts that are computed: from operands of their own, from
 * indices, from other such accesses. They stay inside; after `pad` they needn't. */
#include "gen.h"
#include <string.h>

enum { OPERANDS = CASE_TENSORS - 3 }; /* of a case, before one is made here: two follow */

/* P(i), an integer operand that is new. */
static void positions(gen *g, char *out, size_t size)
{
    ctensor t = {.has_data = true, .order = 1};
    gen_say(out, size, "%c(", "ABCDEFGH"[g->c->count]);
    t.shape[0] = gen_bare(g, out, size);
    gen_say(out, size, ")");
    gen_operand(g, WANT_INT, &t);
}

int gen_computed(gen *g, char *out, size_t size)
{
    const int n = 1 << gen_below(g, 4);
    char index[16] = "";
    if (g->c->count < OPERANDS && gen_chance(g, 65)) {
        gen_say(out, size, "(");
        positions(g, out, size);
        gen_say(out, size, gen_chance(g, 70) ? " & %d)" : " + 0 & %d)", n - 1);
        return n;
    }
    if (!gen_ranged(g, index, sizeof index)) {
        gen_say(out, size, "3 & %d", n - 1);
        return n;
    }
    switch (gen_below(g, 3)) {
    case 0:
        gen_say(out, size, "%s*%s & %d", index, index, n - 1);
        break;
    case 1:
        gen_say(out, size, "min(%s, %d)", index, n - 1);
        break;
    default:
        gen_say(out, size, "(%s >> 1) & %d", index, n - 1);
        break;
    }
    return n;
}

/* What is read where an index is something computed, or near another, and nothing
 * elsewhere: the conditions settle loops. */
static bool gen_pinned(gen *g, want w, char *out, size_t size)
{
    static const char *const how[] = {"==", "==", "==", "<=", ">"};
    char index[16] = "", other[120] = "", read[400] = "";
    if (!gen_ranged(g, index, sizeof index)) return false;
    if (gen_chance(g, 25) && gen_ranged(g, other, sizeof other))
        gen_say(other, sizeof other, " + %d", gen_below(g, 2));
    else
        gen_computed(g, other, sizeof other);
    gen_access(g, w, read, sizeof read);
    gen_say(out, size, "((%s %s (%s)) %s %s)", index, how[gen_below(g, 5)], other,
            w == WANT_BOOL ? "&&" : "*", read);
    return true;
}

void gen_gather(gen *g, want w, char *out, size_t size)
{
    ctensor t = {.has_data = true, .order = 1 + gen_below(g, 3)};
    if (t.order == 3) t.order = 2;
    char sub[2][120] = {"", ""};
    const int at = gen_below(g, t.order);
    const bool pad = gen_has(g, FEATURE_PAD) && gen_chance(g, 30);
    if (gen_chance(g, 30) && gen_pinned(g, w, out, size)) return;
    if (g->c->count >= OPERANDS) {
        gen_access(g, w, out, size);
        return;
    }
    for (int k = 0; k < t.order; k++) {
        t.shape[k] = k == at || gen_chance(g, 30) ? gen_computed(g, sub[k], sizeof sub[k])
                                                  : gen_bare(g, sub[k], sizeof sub[k]);
        if (pad && t.shape[k] > 0) t.shape[k] -= k == at;
    }
    gen_say(out, size, "%s%c(%s%s%s)", pad ? "pad " : "", "ABCDEFGH"[g->c->count], sub[0],
            t.order > 1 ? ", " : "", sub[1]);
    gen_operand(g, w, &t);
}
