/* cascade_lines.c: strings of lines: elements × width.
 *
 * Below each lane of the loop around there is the same short range, and what the body
 * reads and writes lies side by side along it: rows of dense operands, rows of a dense
 * result. A column then has one position a line (COL_LINES), not one an element; no
 * coordinates and no rows are written, and values go between memory and the columns of
 * the body in whole lines. Products of a sparse and a dense matrix are the common case.
 *
 * Takes a stage whose string is filled by ranges (cascade_simple.c). Where something of a
 * line isn't there, the string is spelt out and goes the way of all others.
 */
#include "../work/ws.h"
#include "cascade.h"

/* Shorter ones are cheaper element by element; less so where they need no columns. */
enum { LINE_LEAST = 8, TERM_LEAST = 2 };

/* ---- whether the body can do with lines -------------------------------------------- */

/* A value that is made of what operands have, element by element, and never faults. */
static bool plain_node(const loop_summary *s, const node *x)
{
    if (!x->varies) return true;
    switch (x->kind) {
    case NODE_LOAD:
        return s->place[x->b].kind == PLACE_OPERAND;
    case NODE_FN:
        return !(fn_at(x->fn)->flags & FP_FAULTS);
    default:
        return x->kind == NODE_CONV || x->kind == NODE_WRAP;
    }
}

static bool lined_place(const stage *st, int id)
{
    const loop_summary *s = &st->g->s;
    const place *x = &s->place[id];
    const merge_desc *m = s->l->merge;
    if (!x->varies) return true;
    if (id <= m->count && m->operand[id - 1].role == MERGE_KNOWN)
        return false; /* at its lane's place: a column, by rows, which lines don't have */
    if (x->kind == PLACE_GIVEN) return true;
    if (x->kind == PLACE_OPERAND) return m->operand[x->operand].coef == 1;
    const place *up = &s->place[x->up];
    return x->kind == PLACE_AT && x->icol == 0 && (!up->varies || up->kind == PLACE_GIVEN);
}

/* A workspace has a line if it has a place for each of its coordinates. */
static bool lined_workspace(const machine *mc, const stage *st, const sink *x)
{
    const slot *w = &mc->slot[x->a];
    return w->row->order == 1 && x->icol[0] == 0 && ws_is_vector(w) && st->lo >= 0 &&
           st->hi <= w->own->shape[0] && fn_fold_of(x->fn, (vclass)w->ws->cls) != NULL;
}

static bool lined_sink(const machine *mc, const stage *st, int k)
{
    const sink *x = &st->g->s.sink[k];
    if (x->kind == SINK_WSADD) return lined_workspace(mc, st, x);
    if (x->kind == SINK_REDUCE)
        return !x->right && fn_fold_of(x->fn, (vclass)x->cls) != NULL;
    return (x->kind == SINK_STORE || x->kind == SINK_ACC) &&
           st->sink[k].way == SINK_BY_PLACE && st->g->s.place[x->b].kind == PLACE_AT;
}

/* Whether the body has nothing but lines, wherever they go. */
static bool linear(const stage *st)
{
    const loop_summary *s = &st->g->s;
    bool so = !st->nwalk && !st->known && !st->nchild && !st->g->masks;
    for (int k = 1; so && k < s->nicol; k++)
        so = !s->icol[k].varies;
    for (int k = 1; so && k < s->nplace; k++)
        so = lined_place(st, k);
    for (int k = 0; so && k < s->nnode; k++)
        so = s->node[k].kind == NODE_GIVEN || plain_node(s, &s->node[k]);
    for (int k = 0; so && k < s->nstep; k++)
        so = s->step[k].kind == STEP_NODE ||
             (s->step[k].kind == STEP_PLACE && s->place[s->step[k].a].kind == PLACE_AT);
    return so;
}

void stage_lines_prepare(machine *mc, stage *st)
{
    const loop_summary *s = &st->g->s;
    st->linear = linear(st) && (!st->terms.kernel || stage_terms_fit(mc, st));
    st->lined =
        st->linear && st->hi - st->lo >= (st->terms.kernel ? TERM_LEAST : LINE_LEAST);
    for (int k = 1; st->lined && k < s->nplace; k++)
        st->lined = !s->place[k].varies || s->place[k].kind != PLACE_AT || st->column[k];
    for (int k = 0; st->lined && k < s->nsink; k++)
        st->lined = lined_sink(mc, st, k);
    if (st->linear && st->terms.kernel) stage_terms_prepare(mc, st);
}

/* ---- strings ------------------------------------------------------------------------ */

/* Elements of a string none of which is written anywhere: so many that its lines are asked
 * for ahead, and what a string costs counts for little. */
enum { LINE_ELEMENTS = 32 * STRIP };

/* Whole lines of the lanes that come next, as many as fit from line `runs` and element n
 * on. */
static int whole_lines(stage *st, int runs, int n, int most)
{
    const int64_t width = st->hi - st->lo;
    if (st->open || width > STRIP) return 0;
    int lines = (most - n) / (int)width;
    if (lines > STRIP - runs) lines = STRIP - runs;
    if (lines > st->lanes - st->lane) lines = st->lanes - st->lane;
    for (int r = 0; r < lines; r++) {
        st->g->icol[0].data[runs + r] = st->lo;
        st->run_lane[runs + r] = st->lane + r;
        st->run_end[runs + r] = n + (r + 1) * (int)width;
    }
    st->lane += lines;
    return lines;
}

int stage_fill_lines(stage *st)
{
    const int most = st->terms.kernel && st->terms.wide ? LINE_ELEMENTS : STRIP;
    int n = 0, runs = 0;
    st->whole = !st->open;
    while (st->lane < st->lanes && n < most && runs < STRIP) {
        const int whole = whole_lines(st, runs, n, most);
        if (whole) {
            runs += whole;
            n = st->run_end[runs - 1];
            continue;
        }
        const int64_t i = st->open ? st->next : st->lo, left = st->hi - i;
        const int room = most - n < STRIP ? most - n : STRIP;
        n += left < room ? (int)left : room;
        st->whole = false;
        st->g->icol[0].data[runs] = i;
        st->run_lane[runs] = st->lane;
        st->run_end[runs++] = n;
        st->next = i + (left < room ? left : room);
        st->open = st->next < st->hi;
        st->lane += !st->open;
    }
    st->runs = runs;
    st->lines = n > 0;
    st->g->unread = st->lines ? st->terms.unread : 0;
    st->g->line_end = st->run_end;
    st->g->lines = runs;
    st->row[0] = st->run_lane[0];
    return n;
}

/* What is more than a string of elements has room for is left to the next one. */
static void shorten(stage *st)
{
    const int64_t *first = st->g->icol[0].data;
    int r = st->runs;
    while (r > 0 && st->run_end[r - 1] > STRIP)
        r--;
    if (r == st->runs) return;
    st->lane = st->run_lane[r];
    st->open = first[r] > st->lo;
    st->next = first[r];
    st->runs = r;
    st->g->n = st->run_end[r - 1];
}

void stage_lines_spell(stage *st)
{
    column *i = &st->g->icol[0];
    int64_t first[STRIP];
    shorten(st);
    for (int r = 0; r < st->runs; r++)
        first[r] = i->data[r];
    for (int r = 0, k = 0; r < st->runs; r++)
        for (const int from = k; k < st->run_end[r]; k++) {
            i->data[k] = first[r] + (k - from);
            st->row[k] = st->run_lane[r];
        }
    i->form = COL_ARRAY;
    st->lines = false;
    st->g->unread = 0;
}

/* ---- positions ---------------------------------------------------------------------- */

/* Lines that all begin at `from`, in lanes that follow each other. */
static bool locate_whole(const stage *st, int64_t *restrict out, const int64_t *above,
                         uint64_t from, uint64_t rows)
{
    int64_t missing = 0;
    if (from >= rows || rows - from < (uint64_t)(st->hi - st->lo)) return false;
    above += st->run_lane[0];
    for (int r = 0; r < st->runs; r++) {
        missing |= above[r];
        out[r] = (int64_t)((uint64_t)above[r] * rows + from);
    }
    return missing >= 0;
}

bool stage_lines_locate(const stage *st, column *c, const column *up, const column *shift,
                        int64_t lo, int64_t hi)
{
    const int64_t *first = st->g->icol[0].data, *above = up->data;
    const uint64_t rows = (uint64_t)hi - (uint64_t)lo;
    const bool each = up->form == COL_ARRAY, whole = each && !shift && st->whole;
    bool out =
        whole && !locate_whole(st, c->data, above, (uint64_t)st->lo - (uint64_t)lo, rows);
    for (int r = whole ? st->runs : 0, k = 0; r < st->runs; k = st->run_end[r++]) {
        const int of = st->run_lane[r];
        const int64_t parent = each ? above[of] : column_get(up, of);
        int64_t at = first[r];
        if (shift) out |= __builtin_add_overflow(at, column_get(shift, of), &at);
        const uint64_t from = (uint64_t)at - (uint64_t)lo;
        out |= parent < 0 || from >= rows || rows - from < (uint64_t)(st->run_end[r] - k);
        c->data[r] = (int64_t)((uint64_t)parent * rows + from);
    }
    c->form = COL_LINES;
    c->full = true;
    c->ranged = false;
    return !out;
}
