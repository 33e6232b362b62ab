/* super_rows.c: the loop around scatters, in one handler: for each of its
 * rounds a workspace is filled, sorted, and appended to a result as a row.
 *
 *     for i …:  at; ws.begin; scatters; ws.end; for j in w: append; keep
 *
 * The outer loop is any: it is driven by the base merge, and what else stands
 * in its body must be places of results and operands. What fills the workspace is
 * a scatter, or any loop that a tier surely runs and that does nothing else.
 * Matched when all other loops have been given their tiers; the workspace must be
 * of no use elsewhere, since it never becomes a tensor here.
 */
#include "../code/text.h"
#include "../core/open.h"
#include "../nest/fibers.h"
#include "../nest/uses.h"
#include "scatter.h"
#include <string.h>

enum { ROW_STEPS = 24, ROW_FILLS = 4 };

typedef struct row_step {
    uint8_t op; /* OP_AT, OP_KEEP, OP_OPEN, OP_LOCATE; OP_LOOP: fill; OP_WSEND: drain */
    const lop *at;
    scatter *fill;
    super *any; /* OP_LOOP without a scatter: what runs the loop */
} row_step;

typedef struct rows {
    super base;
    int nstep, nfill;
    row_step step[ROW_STEPS];
    drain out;
    uint16_t up; /* the cursor below which rows are appended, or ROOT */
    row_list list;
    row_window window;
} rows;

/* ---- matching ---------------------------------------------------------------------- */

/* The body of the loop that drains, and what its operands stand for: what is met for the
 * first time is taken down, and must be the same from there on. */
enum {
    IS_CURSOR,
    IS_RESULT,
    IS_LEVEL,
    IS_UP,
    IS_INDEX,
    IS_VALUE,
    IS_WORK,
    IS_OVER,
    IS_COUNT
};
static const struct {
    uint8_t op, n, arg[5];
} drain_body[] = {
    {OP_AT, 5, {IS_CURSOR, IS_RESULT, IS_LEVEL, IS_UP, IS_INDEX}},
    {OP_LOAD, 3, {IS_VALUE, IS_WORK, IS_OVER}},
    {OP_STORE, 3, {IS_RESULT, IS_CURSOR, IS_VALUE}},
};
enum { DRAIN_BODY = sizeof drain_body / sizeof *drain_body };

static bool match_body(const machine *mc, const loop *l, int *is)
{
    if (l->last - l->first != DRAIN_BODY + 1) return false;
    for (int k = 0; k < DRAIN_BODY; k++) {
        const insn *in = insn_of(mc, l->first + 1 + k);
        bool same = in->op == drain_body[k].op;
        for (int j = 0; j < drain_body[k].n; j++) {
            int *x = &is[drain_body[k].arg[j]];
            if (*x < 0) *x = in->arg[j];
            same &= *x == in->arg[j];
        }
        if (!same) return false;
    }
    return true;
}

/* All of the workspace goes into a result. */
static bool match_drain(const machine *mc, rows *r, const loop *l, uint16_t over)
{
    int is[IS_COUNT];
    memset(is, 0xff, sizeof is);
    is[IS_WORK] = r->out.work;
    is[IS_OVER] = over;
    is[IS_INDEX] = l->index;
    if (!merge_walks_one(l->merge) || l->merge->operand[0].cursor != over ||
        l->merge->lo != ROOT || !match_body(mc, l, is))
        return false;
    r->out.at = &mc->code[l->first + 1];
    r->out.result = (uint16_t)is[IS_RESULT];
    r->out.level = (uint16_t)is[IS_LEVEL];
    r->out.cursor = &mc->c[is[IS_CURSOR]];
    r->up = (uint16_t)is[IS_UP];
    return true;
}

/* Whether a scatter walks the cursor: it looks its fiber up by itself. */
static bool walked(const rows *r, uint16_t reg)
{
    for (int k = 0; k < r->nstep; k++) {
        const scatter *sc = r->step[k].fill;
        if (!sc) continue;
        if (!sc->mid && sc->inner->merge->operand[0].cursor == reg) return true;
        for (int b = 0; b < sc->noperand; b++)
            if (sc->operand[b].cursor == reg && operand_walks(&sc->mid->merge->operand[b]))
                return true;
    }
    return false;
}

/* Those that don't fit are counted. */
static void add_step(rows *r, row_step x)
{
    if (r->nstep < ROW_STEPS) r->step[r->nstep] = x;
    r->nstep++;
    r->nfill += x.op == OP_LOOP;
}

/* All that the loop, which a tier runs, leaves behind is what it adds to the workspace, in
 * one place. */
static bool only_adds(const machine *mc, const loop *l, uint16_t work)
{
    int adds = 0;
    for (int k = l->first; k < l->last; k++) {
        const insn *in = insn_of(mc, k);
        const char *letters = op_at(in->op)->operands;
        for (int j = 0; letters[j]; j++) {
            const char letter = letters[j];
            if (letter == 'R' || (letter == 'W' && in->arg[j] != work)) return false;
            adds += letter == 'W';
        }
    }
    return adds == 1;
}

typedef struct row_reader {
    int begun, ended, drained;
    uint16_t cursor; /* over the workspace */
} row_reader;

static bool read_loop(const machine *mc, rows *r, row_reader *rd, int *k)
{
    const loop *l = loop_of(mc, *k);
    if (!rd->begun) return false;
    if (rd->ended) {
        if (rd->drained++ || !match_drain(mc, r, l, rd->cursor)) return false;
        add_step(r, (row_step){.op = OP_WSEND});
    } else {
        scatter *fill = scatter_of(l, r->out.work);
        super *any = l->super;
        if (!fill && !(any && any->sure && only_adds(mc, l, r->out.work))) return false;
        add_step(r, (row_step){.op = OP_LOOP, .fill = fill, .any = any});
    }
    *k = l->last;
    return true;
}

static bool read_body(const machine *mc, rows *r, const loop *l)
{
    row_reader rd = {0};
    for (int k = l->first + 1; k < l->last; k++) {
        const insn *in = insn_of(mc, k);
        switch (in->op) {
        case OP_WSBEGIN:
            if (rd.begun++) return false;
            r->out.work = in->arg[0];
            break;
        case OP_WSEND:
            rd.ended = 1; /* of this workspace: what a round ends it has begun */
            break;
        case OP_OPEN:
            if (rd.ended && in->arg[1] == r->out.work) {
                rd.cursor = in->arg[0];
                break;
            }
            /* fall through */
        case OP_AT:
        case OP_KEEP:
        case OP_LOCATE:
            add_step(r, (row_step){.op = in->op, .at = &mc->code[k]});
            break;
        case OP_LOOP:
            if (!read_loop(mc, r, &rd, &k)) return false;
            break;
        default:
            return false;
        }
    }
    return rd.drained && r->nfill && r->nstep <= ROW_STEPS &&
           (int)mc->named[r->out.work] == 4 + r->nfill; /* begin, end, open, load */
}

/* What scatters open themselves isn't opened here. */
static void drop_opens(rows *r)
{
    int n = 0;
    for (int k = 0; k < r->nstep; k++)
        if (r->step[k].op != OP_OPEN || !walked(r, r->step[k].at->arg[0]))
            r->step[n++] = r->step[k];
    r->nstep = n;
}

/* ---- running ----------------------------------------------------------------------- */

static mcursor *cursor_at(machine *mc, uint16_t reg)
{
    return reg == ROOT ? NULL : &mc->c[reg];
}

static stc_status run_op(machine *mc, int op, const lop *at)
{
    const uint16_t *a = at->arg;
    if (op == OP_KEEP) return asm_keep(mc, &mc->slot[a[0]], a[1], &mc->c[a[2]], at);
    mcursor *c = &mc->c[a[0]], *up = cursor_at(mc, a[3]);
    if (op == OP_AT) return asm_at(mc, &mc->slot[a[1]], a[2], c, up, mc->i[a[4]], at);
    if (op == OP_OPEN) {
        open_cursor(c, mc->slot[a[1]].t, a[2], up, 1, 0);
        return STC_OK;
    }
    const level *lv = &mc->slot[a[1]].t->level[a[2]];
    cursor_locate_any(&c->c, lv, up ? &up->c : NULL, mc->i[a[4]]);
    return STC_OK;
}

static stc_status drain_any(machine *mc, rows *r)
{
    const mcursor *up = cursor_at(mc, r->up);
    workspace *const w = mc->slot[r->out.work].ws;
    row_list *const l = w->kind == &ws_kind_hash ? &r->list : NULL;
    if (r->window.open) return drain_window(mc, &r->out, &r->window, up);
    return l ? drain_list(mc, &r->out, l, up) : drain_sums(mc, &r->out, w, up);
}

static stc_status run_row(machine *mc, rows *r)
{
    for (int k = 0; k < r->nstep; k++) {
        const row_step *s = &r->step[k];
        const stc_status st = s->fill             ? scatter_row(mc, s->fill)
                              : s->op == OP_LOOP  ? s->any->run(mc, s->any)
                              : s->op == OP_WSEND ? drain_any(mc, r)
                                                  : run_op(mc, s->op, s->at);
        if (st) return st;
    }
    return machine_count(mc, 1);
}

/* Rows that one scatter fills are listed where no accumulator serves. */
static bool ready(machine *mc, rows *r)
{
    const slot *s = &mc->slot[r->out.work];
    const bool listed = r->nfill == 1 && s->ws->kind == &ws_kind_hash;
    scatter *fill = NULL;
    for (int k = 0; k < r->nstep; k++) {
        if (!r->step[k].fill) continue;
        fill = r->step[k].fill;
        if (!scatter_ready(mc, fill, listed)) return false;
    }
    if (fill && listed && list_ready(mc, fill, &r->list)) fill->list = &r->list;
    r->window.open = false;
    if (fill && r->nfill == 1 && window_ready(mc, fill, &r->window))
        fill->window = &r->window;
    const bool serves = ws_is_vector(s) || (fill && fill->list);
    return serves && drain_ready(mc, &r->out);
}

static void rows_free(machine *mc, super *base)
{
    rows *r = (rows *)base;
    list_free(mc->cx, &r->list);
    window_free(mc->cx, &r->window);
}

static stc_status rows_run(machine *mc, super *base)
{
    rows *r = (rows *)base;
    if (ws_begin(mc, &mc->slot[r->out.work])) return mc->cx->diag.status;
    if (!ready(mc, r)) return SUPER_REPLAY;
    loop_state state = loop_start(mc, base->loop);
    while (state == LOOP_ON) {
        const stc_status st = run_row(mc, r);
        if (st) return st;
        state = loop_next(mc, base->loop);
    }
    mc->slot[r->out.work].ws->listed = r->list.rows;
    return state == LOOP_FAILED ? mc->cx->diag.status : STC_OK;
}

static void describe(const super *base, textbuf *out)
{
    text_add(out, "rows: %d scattered, sorted, appended", ((const rows *)base)->nfill);
}

static stc_status fuse_loop(machine *mc, loop *l)
{
    rows try = {0};
    if (!read_body(mc, &try, l)) return STC_OK;
    drop_opens(&try);
    rows *r = mem_alloc(mc->cx, sizeof *r);
    if (!r) return mc->cx->diag.status;
    *r = try;
    r->base = (super){.run = rows_run,
                      .free = rows_free,
                      .describe = describe,
                      .next = l->exit,
                      .loop = l,
                      .tier = 3,
                      .size = sizeof *r};
    machine_give(mc, &r->base);
    return STC_OK;
}

stc_status rows_fuse(machine *mc)
{
    bool any = false;
    for (int k = 0; k < mc->p->ntensor && !any; k++)
        any = mc->p->tensor[k].role == ROLE_WORK && mc->p->tensor[k].order == 1;
    stc_status st = STC_OK;
    for (int k = 0; any && !st && k < mc->nloop; k++) {
        loop *l = &mc->loops[k];
        if (!l->super) st = fuse_loop(mc, l);
    }
    return st;
}
