/* rounds.c: at which coordinates a loop's rounds read and store.
 *
 * Takes code from top to bottom, a loop among it whose rounds are asked about. Integers are
 * followed as linear in indices (../nest/linear.h), and where loops further in have ranges
 * known beforehand, as one index and something from a range. A place lies below a round's
 * own coordinates if every `at` that its cursor may be from does. Threads and parts of
 * programs go by this.
 */
#include "../code/text.h"
#include "parallel_find.h"

/* ---- coordinates ------------------------------------------------------------------- */

/* A loop over so many coordinates, known beforehand, is a range of numbers: adds coef times
 * its last one. */
static bool add_range(const rounds *r, int number, int64_t coef, int64_t *to)
{
    const program *p = r->forms.mc->p;
    const merge_desc *m = r->forms.mc->loops[number].merge;
    const extent *hi = &p->ext[m->hi];
    int64_t last, sum;
    if (m->lo != ROOT || hi->op != EXT_CONST || hi->k < 1 ||
        !size_mul(coef, hi->k - 1, &last) || __builtin_add_overflow(*to, last, &sum))
        return false;
    *to = sum;
    return true;
}

spread rounds_spread(const rounds *r, const linear_form *x)
{
    const spread unknown = {.loop = UNKNOWN};
    if (!x || x->live) return unknown;
    spread out = {FIXED, 0, x->k, x->k};
    int outermost = 0;
    while (outermost < LINEAR_INDICES && !x->coef[outermost])
        outermost++;
    for (int d = LINEAR_INDICES - 1; d >= outermost; d--) {
        if (x->coef[d] < 0) return unknown;
        if (!x->coef[d] || (d > outermost && add_range(r, r->open[d], x->coef[d], &out.hi)))
            continue;
        if (out.loop == FIXED) {
            out.loop = r->open[d];
            out.coef = x->coef[d];
        } else if (!add_range(r, r->open[d], x->coef[d], &out.hi)) {
            return unknown;
        }
    }
    return out;
}

spread rounds_index(rounds *r, int reg)
{
    return rounds_spread(r, linear_form_of(&r->forms, (uint16_t)reg));
}

/* ---- code -------------------------------------------------------------------------- */

void rounds_begin(rounds *r, const machine *mc)
{
    linear_begin(&r->forms, mc, NULL, r->room);
    r->depth = 0;
    for (int c = 0; c < mc->p->nc; c++)
        r->cursor[c] = (cursor_at){.tensor = -1};
    rounds_inside(r, -1);
}

void rounds_inside(rounds *r, int number)
{
    r->inside = number;
    for (int c = 0; c < r->forms.mc->p->nc; c++)
        r->cursor[c].own = PLACE_UNSET;
}

int rounds_step(rounds *r, int at)
{
    const machine *mc = r->forms.mc;
    const insn *in = insn_of(mc, at);
    if (op_closes(in->op)) {
        r->forms.branches -= in->op != OP_END;
        return r->open[--r->depth];
    }
    linear_integer(&r->forms, in);
    if (!op_opens(in->op)) return FIXED;
    const bool loops = in->op == OP_LOOP;
    const int number = loops ? (int)(loop_of(mc, at) - mc->loops) : FIXED;
    if (loops) linear_index(&r->forms, in->arg[0], r->depth);
    r->forms.branches += !loops;
    return r->open[r->depth++] = number;
}

bool rounds_open(rounds *r, int c, int t, int l)
{
    cursor_at *to = &r->cursor[c];
    const bool same = to->tensor < 0 || (to->tensor == t && to->level == l);
    if (to->tensor != t || to->level != l) to->own = PLACE_UNSET;
    to->tensor = t;
    to->level = l;
    to->moved = false;
    return same || !r->forms.branches;
}

void rounds_place(rounds *r, const insn *in)
{
    const uint16_t *a = in->arg;
    const cursor_at *up = a[2] && a[3] != ROOT ? &r->cursor[a[3]] : NULL;
    const spread e = rounds_index(r, a[4]);
    cursor_at *to = &r->cursor[a[0]];
    int own = PLACE_ELSEWHERE;
    int64_t coef = 0;
    if (up && up->own >= 0) {
        own = up->own;
        coef = up->coef;
    } else if (rounds_own(r, e)) {
        own = a[2];
        coef = e.coef;
    }
    const bool same = to->own == PLACE_UNSET || (to->own == own && to->coef == coef);
    to->own = same ? own : PLACE_ELSEWHERE;
    to->coef = coef;
}
