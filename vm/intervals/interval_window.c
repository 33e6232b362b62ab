/* interval_window.c: loops whose coordinates begin elsewhere in each round of those around
 * them, as those of a split do.
 *
 * A loop over i1 that goes on with i = i1 + b, b being fixed for it, while i is within an
 * extent, is a loop over i in a window that begins at b: so it is read here, before
 * anything is matched, and then its lanes are coordinates i like any other loop's. Where
 * windows and operands begin is worked out from the lanes outside, for each of them.
 */
#include "interval.h"

/* What integers may be at most, so that no sum of coordinates leaves 64 bits. */
#define FARTHEST (INT64_C(1) << 60)

/* Its coordinate is an integer of the body: not that of a level opened for a loop inside.
 */
static bool is_placed(const place *p)
{
    return p->kind == PLACE_LOCATE || p->kind == PLACE_AT ||
           (p->kind == PLACE_SEEK && p->sought);
}

/* Some step, node or place of the body reads integer `id` itself. */
static bool is_read(const loop_summary *s, uint16_t id)
{
    for (int k = 0; k < s->nstep; k++)
        if ((s->step[k].kind == STEP_WITHIN || s->step[k].kind == STEP_BOUNDED) &&
            s->step[k].a == id)
            return true;
    for (int k = 0; k < s->nnode; k++)
        if (s->node[k].kind == NODE_INDEX && s->node[k].a == id) return true;
    for (int k = 1; k < s->nplace; k++)
        if (is_placed(&s->place[k]) && s->place[k].icol == id) return true;
    for (int k = 0; k < s->nicol; k++)
        if (s->icol[k].kind == ICOL_MULADD && (s->icol[k].a == id || s->icol[k].b == id) &&
            is_read(s, (uint16_t)k))
            return true;
    return false;
}

static void swap(uint16_t *id, uint16_t other)
{
    if (!*id || *id == other) *id = *id ? 0 : other;
}

/* What was integer `id` is the index, and what was the index is that less where it begins.
 */
static void count_on(loop_summary *s, const loop_summary *in, nest_links *link, uint16_t id)
{
    for (int k = 1; k < s->nicol; k++) {
        if (s->icol[k].kind != ICOL_MULADD || k == id) continue;
        swap(&s->icol[k].a, id);
        swap(&s->icol[k].b, id);
    }
    s->icol[id] = (icol){.kind = ICOL_MULADD, .a = s->icol[id].b, .k = -1, .b = 0};
    for (int k = 0; k < s->nnode; k++)
        if (s->node[k].kind == NODE_INDEX) swap(&s->node[k].a, id);
    for (int k = 1; k < s->nplace; k++) {
        if (is_placed(&s->place[k])) swap(&s->place[k].icol, id);
        if (s->place[k].kind == PLACE_SEEK) swap(&s->place[k].shift, id);
    }
    for (int k = 0; in && k < in->nicol; k++)
        swap(&link->icol[k], id);
    for (int k = 1; in && k < in->nplace; k++)
        swap(&link->shift[k], id);
}

/* Steps that work out integers for others alone. */
static bool is_idle(const loop_summary *s, const step *x)
{
    return x->kind == STEP_ICOL && s->icol[x->a].kind == ICOL_MULADD && !is_read(s, x->a);
}

/* The one integer that goes on from the index, within one extent at most, where the body
 * reads that and not the index; 0: it is another. */
static uint16_t counted_on(loop_summary *s)
{
    uint16_t id = 0;
    for (uint16_t k = 1; k < s->nicol; k++) {
        if (!s->icol[k].varies || !is_read(s, k)) continue;
        if (id) return 0;
        id = k;
    }
    const icol x = s->icol[id];
    if (!id || x.kind != ICOL_MULADD || x.a || x.k != 1 || s->icol[x.b].varies) return 0;
    int bounds = 0;
    for (int k = 0; k < s->nstep; k++)
        bounds += s->step[k].kind == STEP_WITHIN && s->step[k].a == id;
    s->icol[id].kind = ICOL_CONST; /* it reads the index itself */
    const bool raw = is_read(s, 0);
    s->icol[id] = x;
    return raw || bounds > 1 ? 0 : id;
}

uint16_t window_find(loop_summary *s, const loop_summary *in, nest_links *link,
                     uint16_t *bound)
{
    const uint16_t id = counted_on(s);
    const uint16_t from = id ? s->icol[id].b : UNLINKED;
    int n = 0;
    *bound = UNLINKED;
    for (int k = 0; id && k < s->nstep; k++) {
        const step x = s->step[k];
        const bool counted = (x.kind == STEP_ICOL || x.kind == STEP_WITHIN) && x.a == id;
        if (counted && x.kind == STEP_WITHIN) *bound = x.b;
        if (!counted) s->step[n++] = x;
    }
    if (id) s->nstep = n;
    if (id) count_on(s, in, link, id);
    n = 0;
    for (int k = 0; k < s->nstep; k++)
        if (!is_idle(s, &s->step[k])) s->step[n++] = s->step[k];
    s->nstep = n;
    return from;
}

/* Integer `id` of loop d's body in lane `row` of it, which is in lane `up` outside; or
 * (row -1) how far from 0 it may be in any, which is less than FARTHEST. False: it is
 * none of these, or may be farther. */
static bool integer_at(const machine *mc, const interval *iv, int d, uint16_t id, int row,
                       int up, int64_t *out)
{
    const ivl_loop *v = &iv->loop[d];
    const icol *x = &v->g.s.icol[id];
    const bool all = row < 0;
    int64_t a, b;
    switch (x->kind) {
    case ICOL_LOOP:
        *out = all ? (v->end > -v->begin ? v->end : -v->begin)
                   : column_get(&v->g.icol[0], row);
        break;
    case ICOL_CONST:
        *out = x->k;
        break;
    case ICOL_FIXED:
        if (d)
            return integer_at(mc, iv, d - 1, v->link.icol[id], all ? -1 : up,
                              d > 1 && !all ? iv->loop[d - 1].row[up] : 0, out);
        *out = mc->i[x->a];
        break;
    case ICOL_MULADD:
        if (!integer_at(mc, iv, d, x->a, row, up, &a) ||
            !integer_at(mc, iv, d, x->b, row, up, &b) ||
            __builtin_mul_overflow(a, all && x->k < 0 ? -x->k : x->k, out) ||
            __builtin_add_overflow(*out, b, out))
            return false;
        break;
    default:
        return false;
    }
    if (all && *out < 0) *out = -*out;
    return !all || (*out >= 0 && *out < FARTHEST);
}

/* The integer of the loop outside that is added to what operand w is read at; UNLINKED:
 * none is, or it is the same in all rounds. */
static uint16_t shift_of(const ivl_loop *v, const ivl_walk *w)
{
    if (!v->depth) return UNLINKED;
    const merge_operand *o = &v->g.s.l->merge->operand[w->place - 1];
    if (!operand_walks(o)) return v->link.shift[w->place];
    return v->of->loop[v->depth - 1].g.s.place[v->link.up[w->place]].shift;
}

bool window_prepare(const machine *mc, ivl_loop *v)
{
    const merge_desc *m = v->g.s.l->merge;
    const int64_t lo = m->lo == ROOT ? 0 : mc->ext[m->lo], hi = mc->ext[m->hi];
    int64_t far;
    if (!integer_at(mc, v->of, v->depth, v->window, -1, 0, &far) || lo <= -FARTHEST ||
        hi >= FARTHEST)
        return false;
    v->begin = lo - far;
    v->end = hi + far;
    if (v->bound == UNLINKED) return true;
    if (v->begin < 0) v->begin = 0;
    if (v->end > mc->ext[v->bound]) v->end = mc->ext[v->bound];
    return true;
}

bool window_reads(const machine *mc, const ivl_loop *v, const ivl_walk *w)
{
    const uint16_t id = shift_of(v, w);
    int64_t far, from, at = w->own;
    return integer_at(mc, v->of, v->depth, v->window, -1, 0, &from) &&
           (id == UNLINKED || integer_at(mc, v->of, v->depth - 1, id, -1, 0, &at)) &&
           !__builtin_mul_overflow(w->coef, from, &far) && far < FARTHEST &&
           far > -FARTHEST && at < FARTHEST && at > -FARTHEST;
}

int64_t window_begin(const machine *mc, const ivl_loop *v, int row)
{
    int64_t at = 0;
    integer_at(mc, v->of, v->depth, v->window, 0, row, &at); /* it was held to be near */
    return at;
}

int64_t window_open(const machine *mc, ivl_loop *v, int64_t *end)
{
    const merge_desc *m = v->g.s.l->merge;
    const interval *iv = v->of;
    const int up = v->depth > 1 ? iv->loop[v->depth - 1].row[v->lane] : 0;
    const int64_t from = window_begin(mc, v, v->lane);
    for (int k = 0; k < v->nwalk; k++) {
        ivl_walk *w = &v->walk[k];
        const uint16_t id = shift_of(v, w);
        int64_t shift = w->own;
        if (id != UNLINKED) integer_at(mc, iv, v->depth - 1, id, v->lane, up, &shift);
        w->shift = shift - w->coef * from;
        w->plain = w->coef == 1 && w->shift == 0;
    }
    const int64_t begin = from + (m->lo == ROOT ? 0 : mc->ext[m->lo]);
    *end = from + mc->ext[m->hi];
    if (*end > v->end) *end = v->end;
    return begin > v->begin ? begin : v->begin;
}
