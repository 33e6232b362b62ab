/* skips.c: rounds that a loop doesn't finish: what sends it on to the next one.
 *
 * What a leaf tests before it stores (plan/reach.c), and conditions without which nothing
 * comes of a round (plan/only.c), are bits of the loop's mask, which `skip` tests: tiers
 * leave such rounds out many at a time. Takes nodes of the plan; emits their tests.
 */
#include "lower.h"

void lower_skip(lowering *lo, int mask, int index, const lattice_table *t, int bits)
{
    const bindex *b = &lo->pl->s->index[index];
    merge_operand none[PLAN_ACCESSES + REACH_MAX] = {{0}};
    for (int k = 0; k < bits; k++)
        none[k] =
            (merge_operand){.role = MERGE_KNOWN, .cursor = ROOT, .shift = ROOT, .coef = 1};
    EMIT(lo, OP_SKIP, mask,
         lower_merge(lo, t, bits, (uint16_t)(b->lo < 0 ? ROOT : b->lo), (uint16_t)b->hi,
                     none, true));
}

/* A reduction that is evaluated where its value is taken. */
static bool reach_waits(const lowering *lo, const reach *x)
{
    for (int k = 0; k < x->n; k++)
        if (x->of[k]->kind == B_REDUCE && lo->lazy[x->of[k]->mark].node) return true;
    return false;
}

/* Whether a reduction had a term, or a condition holds. */
static int reach_bit(lowering *lo, const bexpr *of)
{
    return of->kind == B_REDUCE ? lo->temp[of->had_term] : lower_expr(lo, of);
}

/* On to the next round unless terms have reached the leaf. Outside of loops there are no
 * rounds: the one place of y(5) is stored in any case. */
void lower_reach(lowering *lo, const cin *c, bool evaluated)
{
    const reach *x = c->reach;
    if (!x || !lo->inside || reach_waits(lo, x) != evaluated) return;
    for (int k = 0; k < x->n; k++)
        EMIT(lo, OP_MARK, lo->mask, x->first + k, reach_bit(lo, x->of[k]));
    lower_skip(lo, lo->mask, lo->inside->index, &x->table, x->first + x->n);
}

/* Bits of a table without postfix. */
enum { TABLE_BITS = 6 };

/* On to the next round unless the value is true. */
static void lower_unless(lowering *lo, int holds)
{
    lattice_table t = {0};
    const int bit = lo->inside->info->bits;
    for (int mask = 0; mask < 2 << bit; mask++)
        t.produce |= (uint64_t)(mask >> bit & 1) << mask;
    EMIT(lo, OP_MARK, lo->mask, bit, holds);
    lower_skip(lo, lo->mask, lo->inside->index, &t, bit + 1);
}

/* A test that its loop can make of its rounds; else what follows it does as well. */
void lower_only(lowering *lo, const cin *c)
{
    const cin *in = lo->inside ? lo->inside->body : NULL;
    while (in && in != c)
        in = in->next;
    if (!in || lo->inside->info->bits >= TABLE_BITS) return;
    lower_unless(lo, lower_expr(lo, c->value));
    lo->held = c->value;
}

/* Whether the leaf is all that its loop does: then what it leaves out goes on to the next
 * round, which tiers can do many at a time. */
static bool alone_in_loop(const lowering *lo, const cin *c)
{
    return lo->inside && lo->inside->body == c && !c->next && !c->reach &&
           lo->inside->info->bits < TABLE_BITS;
}

void lower_guard(lowering *lo, const cin *c, bool *ends)
{
    *ends = false;
    if (!c->guard || c->guard == lo->held) return;
    const int holds = lower_expr(lo, c->guard);
    *ends = !alone_in_loop(lo, c);
    if (*ends)
        EMIT(lo, OP_IF, holds);
    else
        lower_unless(lo, holds);
}
