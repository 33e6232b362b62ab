/* verify_state.c: cells, the log of their changes, and how paths meet. */
#include "verify.h"
#include <string.h>

/* Room for so many entries of a list. What it leaves stays in the arena. */
static stc_status room(verifier *vf, void *list, int64_t *cap, int64_t need, size_t size)
{
    if (need <= *cap) return STC_OK;
    const int64_t more = need < 32 ? 64 : 2 * need;
    void **at = list, *to = arena_room(&vf->own, more, size);
    if (!to) return vf->cx->diag.status;
    if (*cap) memcpy(to, *at, (size_t)*cap * size);
    *at = to;
    *cap = more;
    return STC_OK;
}

stc_status cell_set(verifier *vf, int idx, cell c)
{
    if (room(vf, &vf->log, &vf->log_cap, vf->nlog + 1, sizeof *vf->log))
        return vf->cx->diag.status;
    vf->log[vf->nlog++] = (change){.idx = idx, .old = vf->cell[idx]};
    c.stamp = ++vf->clock;
    c.read = 0;
    vf->cell[idx] = c;
    return STC_OK;
}

stc_status cell_put(verifier *vf, int idx, uint64_t v)
{
    if (vf->cell[idx].v == v) return STC_OK;
    return cell_set(vf, idx, (cell){.v = v});
}

stc_status cell_known(verifier *vf, int idx)
{
    return cell_set(vf, idx, (cell){.v = 1});
}

stc_status mask_known(verifier *vf, int m, uint64_t bits)
{
    return cell_set(vf, vf->m0 + m, (cell){.v = ++vf->epoch, .bits = bits});
}

/* No honest program nests so many blocks that change so much. The work counts as the
 * machine's: limits and interrupts end it. */
stc_status verify_account(verifier *vf)
{
    const int64_t n = vf->work - vf->told;
    if (vf->work > 1000000 + 256 * (int64_t)vf->p->ncode)
        return refuse(vf, "the nesting is too complex to be verified");
    vf->told = vf->work;
    return work_done(vf->cx, (uint64_t)n);
}

stc_status block_push(verifier *vf, int op, const merge_desc *m)
{
    if (vf->depth == BLOCKS_MAX)
        return refuse(vf, "blocks nest more than %d deep", BLOCKS_MAX);
    vf->block[vf->depth++] = (vblock){.op = op,
                                      .pc = vf->pc,
                                      .start = ++vf->clock,
                                      .log = vf->nlog,
                                      .then = vf->nout,
                                      .other = -1,
                                      .merge = m};
    return STC_OK;
}

/* ---- branches ------------------------------------------------------------------ */

/* Puts the state at `if` back, and keeps what the first branch made of it. */
stc_status block_else(verifier *vf)
{
    vblock *b = &vf->block[vf->depth - 1];
    int64_t n = vf->nlog - b->log;
    if (verify_spend(vf, n) ||
        room(vf, &vf->out, &vf->out_cap, vf->nout + n, sizeof *vf->out))
        return vf->cx->diag.status;
    vf->pass++;
    for (int64_t k = b->log; k < vf->nlog; k++) {
        int idx = vf->log[k].idx;
        if (vf->seen[idx] == vf->pass) continue;
        vf->seen[idx] = vf->pass;
        vf->out[vf->nout++] = (outcome){.idx = idx, .v = vf->cell[idx].v};
    }
    for (int64_t k = vf->nlog - 1; k >= b->log; k--)
        vf->cell[vf->log[k].idx] = vf->log[k].old;
    b->other = vf->nlog;
    return STC_OK;
}

/* What the branches disagree about is unknown; but a tensor that is whole behind both, of
 * whichever it is made, is whole, and another one than before. */
static stc_status meet(verifier *vf, int idx, uint64_t v)
{
    const uint64_t other = vf->cell[idx].v;
    if (other == v) return STC_OK;
    const bool whole = idx >= vf->t0 && idx < vf->p0 && (v & T_MASK) == T_READY &&
                       (other & T_MASK) == T_READY;
    return cell_set(vf, idx, (cell){.v = whole ? tensor_value(vf, T_READY) : 0});
}

stc_status block_endif(verifier *vf)
{
    vblock *b = &vf->block[--vf->depth];
    int64_t from = b->other < 0 ? b->log : b->other, to = vf->nlog;
    if (verify_spend(vf, to - from + vf->nout - b->then)) return vf->cx->diag.status;
    vf->pass++;
    for (int64_t k = b->then; k < vf->nout; k++) {
        vf->seen[vf->out[k].idx] = vf->pass;
        if (meet(vf, vf->out[k].idx, vf->out[k].v)) return vf->cx->diag.status;
    }
    for (int64_t k = from; k < to; k++) {
        int idx = vf->log[k].idx;
        if (vf->seen[idx] == vf->pass) continue;
        vf->seen[idx] = vf->pass;
        if (meet(vf, idx, vf->log[k].old.v)) return vf->cx->diag.status;
    }
    vf->nout = b->then;
    return STC_OK;
}

/* ---- loops --------------------------------------------------------------------- */

static const char *cell_kind(const verifier *vf, int idx, int *number)
{
    *number = idx - (idx < vf->i0   ? vf->v0
                     : idx < vf->m0 ? vf->i0
                     : idx < vf->c0 ? vf->m0
                     : idx < vf->t0 ? vf->c0
                                    : vf->t0);
    return idx < vf->i0   ? "v"
           : idx < vf->m0 ? "i"
           : idx < vf->c0 ? "m"
           : idx < vf->t0 ? "c"
                          : "t";
}

static stc_status differs(verifier *vf, int idx)
{
    int number;
    if (idx < vf->p0) {
        const char *kind = cell_kind(vf, idx, &number);
        return refuse(vf, "%s%d is read in this loop, and differs in its next round", kind,
                      number);
    }
    int t = vf->p->ntensor - 1;
    while (vf->place[t] > idx)
        t--;
    return refuse(
        vf,
        "what this loop places in level %d of t%d isn't kept in it on every path, "
        "or more is",
        idx - vf->place[t], t);
}

/* Marks the cells that aren't what they were at the loop's start, here or where a jump
 * left; whether there are any. */
static bool find_changed(verifier *vf, const vblock *b)
{
    bool any = false;
    vf->pass++;
    for (int64_t k = b->log; k < vf->nlog; k++) {
        const change *e = &vf->log[k];
        if (vf->seen[e->idx] == vf->pass) continue;
        vf->seen[e->idx] = vf->pass;
        const bool coordinate = e->idx >= vf->i0 && e->idx < vf->c0;
        if (!coordinate && !e->dirty && vf->cell[e->idx].v == e->old.v) continue;
        vf->changed[e->idx] = vf->pass;
        any = true;
    }
    return any;
}

/* The loop must not have read what has changed as it was at its start; after the loop, it
 * is something new. */
stc_status loop_close(verifier *vf)
{
    vblock *b = &vf->block[--vf->depth];
    if (verify_spend(vf, vf->nlog - b->log)) return vf->cx->diag.status;
    if (!find_changed(vf, b)) return STC_OK;
    for (int64_t k = b->log; k < vf->nlog; k++) {
        const change *e = &vf->log[k];
        if (vf->changed[e->idx] != vf->pass) continue;
        if (e->old.v && e->old.stamp < b->start && e->old.read > b->start)
            return differs(vf, e->idx);
        cell *c = &vf->cell[e->idx];
        if (c->v) *c = (cell){.stamp = ++vf->clock};
    }
    return STC_OK;
}

static bool is_loop(const vblock *b, bool loops_only)
{
    return b->op == OP_LOOP || (!loops_only && b->op == OP_WHILE);
}

stc_status loop_leave(verifier *vf, int n, bool loops_only)
{
    int d = vf->depth - 1;
    for (; d >= 0; d--)
        if (is_loop(&vf->block[d], loops_only) && --n == 0) break;
    if (d < 0) return refuse(vf, "there is no loop around it to leave");
    if (verify_spend(vf, vf->nlog - vf->block[d].log)) return vf->cx->diag.status;
    vf->pass++;
    for (int64_t k = vf->block[d].log; k < vf->nlog; k++) {
        change *e = &vf->log[k];
        if (vf->seen[e->idx] == vf->pass) continue;
        vf->seen[e->idx] = vf->pass;
        if (vf->cell[e->idx].v != e->old.v) e->dirty = true;
    }
    return STC_OK;
}
