/* affine_visits.c: how many subsections the loops of an affine nest would visit.
 *
 * The nest walks what is stored and asks for no subsections; but a profile tells of
 * them, and they are the measure of a loop's work (convolutions paper, §3.1, fig. 3).
 * So where a profile is made, the nest's loops are gone through as base operations
 * would, down to the last one that has subsections, with what opens cursors and nothing
 * else. Neither the time nor the rounds of that count as the nest's.
 */
#include "affine.h"
#include "../core/open.h"
#include <time.h>

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t rounds(const machine *mc)
{
    return mc->steps + (uint64_t)(mc->slice - mc->left);
}

static mcursor *above(machine *mc, uint16_t reg)
{
    return reg == ROOT ? NULL : &mc->c[reg];
}

/* Integers and cursors; sums don't overflow where the nest was run. */
static stc_status open_or_count(machine *mc, int k)
{
    const insn *in = insn_of(mc, k);
    const uint16_t *x = in->arg;
    int64_t *i = mc->i;
    const constant *konst = mc->p->konst;
    switch (in->op) {
    case OP_ICONST:
        i[x[0]] = konst[x[1]].v.i64;
        break;
    case OP_IEXTENT:
        i[x[0]] = mc->ext[x[1]];
        break;
    case OP_IMULADD:
        if (__builtin_mul_overflow(i[x[1]], konst[x[2]].v.i64, &i[x[0]]) ||
            __builtin_add_overflow(i[x[0]], i[x[3]], &i[x[0]]))
            i[x[0]] = 0;
        break;
    case OP_OPEN:
        open_cursor(&mc->c[x[0]], mc->slot[x[1]].t, x[2], above(mc, x[3]), 1, 0);
        break;
    case OP_OPENAT:
        open_cursor(&mc->c[x[0]], mc->slot[x[1]].t, x[2], above(mc, x[3]),
                    konst[x[5]].v.i64, i[x[4]]);
        break;
    case OP_LOCATE: {
        const mcursor *up = above(mc, x[3]);
        cursor_locate_any(&mc->c[x[0]].c, &mc->slot[x[1]].t->level[x[2]],
                          up ? &up->c : NULL, i[x[4]]);
        break;
    }
    case OP_SUBSECT:
        return open_subsections(mc, &mc->code[k]);
    case OP_SEEK:
        seek_index(&mc->c[x[0]], i[x[1]]);
        break;
    default: /* what isn't needed to know where loops go */
        break;
    }
    return STC_OK;
}

/* Loop d of the nest, and those inside it down to `last`. */
static stc_status go_through(machine *mc, loop *const *nest, int d, int last)
{
    loop *l = nest[d];
    loop_state state = loop_start(mc, l);
    for (; state == LOOP_ON; state = loop_next(mc, l)) {
        const int end = d < last ? nest[d + 1]->first : l->first;
        for (int k = l->first + 1; k < end; k++)
            if (open_or_count(mc, k)) return mc->cx->diag.status;
        if (d < last && go_through(mc, nest, d + 1, last)) return mc->cx->diag.status;
        if (machine_count(mc, 1)) return mc->cx->diag.status;
    }
    return state == LOOP_FAILED ? mc->cx->diag.status : STC_OK;
}

stc_status affine_visits(machine *mc, loop *const *nest, int n)
{
    const uint64_t since = now(), before = rounds(mc);
    stc_status status = STC_OK;
    for (int d = n - 1; d >= 0; d--) {
        if (!nest[d]->subsections) continue;
        status = go_through(mc, nest, 0, d);
        break;
    }
    mc->profile_since += now() - since;
    mc->profile_rounds += rounds(mc) - before;
    return status;
}
