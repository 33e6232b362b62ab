/* summary_reads.c: whether what a loop leaves in a value register is read later.
 *
 * A write counts up to the end of the block that it stands in, since the block may
 * not run. Programs share their registers among all statements, so that to look
 * through all that follows, for each loop, takes time by the square of a program's
 * length. One pass over it finds where a register is read that its outermost block
 * hasn't written: only there can it be read from another such block.
 */
#include "summary.h"
#include "../code/text.h"

/* The lops that read a register: the first and the last one, and the last one that its
 * outermost block hasn't written before; -1: none. */
typedef struct reg_reads {
    int first, last, exposed;
} reg_reads;

struct value_reads {
    reg_reads *of; /* per register                                       */
    int *behind;   /* per loop: the first lop behind its outermost block */
};

static bool writes_value(const insn *in, uint16_t reg)
{
    return op_at(in->op)->operands[0] == 'V' && in->arg[0] == reg;
}

/* ---- the pass -------------------------------------------------------------------- */

typedef struct pass {
    value_reads *reads;
    bool *written; /* per register: in the blocks around              */
    uint16_t *log; /* … and in which order                            */
    int nlog, depth;
    int start[BLOCKS_MAX + 1]; /* of each block in the log              */
    int loop, done;            /* loops met; those whose outermost block is known */
} pass;

static void note_read(pass *ps, uint16_t reg, int at)
{
    reg_reads *r = &ps->reads->of[reg];
    if (r->first < 0) r->first = at;
    r->last = at;
    if (!ps->written[reg]) r->exposed = at;
}

static void note_reads(pass *ps, const insn *in, int at)
{
    const char *l = op_at(in->op)->operands;
    for (int k = 0; in->op == OP_CALL && k < in->arg[3]; k++)
        note_read(ps, (uint16_t)(in->arg[2] + k), at);
    for (int k = 0; l[k]; k++)
        if (l[k] == 'v') note_read(ps, in->arg[k], at);
}

static void close_block(pass *ps, int at)
{
    for (const int from = ps->start[ps->depth--]; ps->nlog > from;)
        ps->written[ps->log[--ps->nlog]] = false;
    for (; !ps->depth && ps->done < ps->loop; ps->done++)
        ps->reads->behind[ps->done] = at + 1;
}

static void note_write(pass *ps, const insn *in)
{
    const uint16_t reg = in->arg[0];
    if (!ps->depth || op_at(in->op)->operands[0] != 'V' || ps->written[reg]) return;
    ps->written[reg] = true;
    ps->log[ps->nlog++] = reg;
}

value_reads *value_reads_of(const machine *mc, arena *a)
{
    const int nv = mc->p->nv;
    value_reads *reads = arena_room(a, 1, sizeof *reads);
    pass ps = {.reads = reads,
               .written = arena_array(a, nv, sizeof *ps.written),
               .log = arena_room(a, nv, sizeof *ps.log)};
    if (!reads || !ps.written || !ps.log) return NULL;
    reads->of = arena_room(a, nv, sizeof *reads->of);
    reads->behind = arena_room(a, mc->nloop, sizeof *reads->behind);
    if (!reads->of || !reads->behind) return NULL;
    for (int reg = 0; reg < nv; reg++)
        reads->of[reg] = (reg_reads){-1, -1, -1};
    for (int at = 0; at < mc->nmain; at++) {
        const insn *in = insn_of(mc, at);
        if (op_closes(in->op) || in->op == OP_ELSE) close_block(&ps, at);
        note_reads(&ps, in, at);
        if (op_opens(in->op) || in->op == OP_ELSE) ps.start[++ps.depth] = ps.nlog;
        ps.loop += in->op == OP_LOOP;
        note_write(&ps, in);
    }
    return reads;
}

/* ---- the question ---------------------------------------------------------------- */

typedef enum outlook { UNREAD, READ, OVERWRITTEN } outlook;

/* What becomes of register reg's value in [from, to). */
static outlook look_ahead(const machine *mc, int from, int to, uint16_t reg)
{
    int depth = 0, written = -1; /* depth of the block of the last write */
    for (int k = from; k < to; k++) {
        const insn *in = insn_of(mc, k);
        if (op_closes(in->op) || in->op == OP_ELSE) {
            depth--;
            if (written > depth) written = -1;
        }
        if (written < 0 && insn_reads_value(in, reg)) return READ;
        if (op_opens(in->op) || in->op == OP_ELSE) depth++;
        if (written < 0 && writes_value(in, reg)) {
            if (depth <= 0) return OVERWRITTEN;
            written = depth;
        }
    }
    return UNREAD;
}

bool value_read_in(const machine *mc, int from, int to, uint16_t reg)
{
    return look_ahead(mc, from, to, reg) == READ;
}

bool value_read_from(const machine *mc, const value_reads *reads, const loop *l, int k,
                     uint16_t reg)
{
    const reg_reads *r = &reads->of[reg];
    const int behind = reads->behind[l - mc->loops];
    outlook o = UNREAD;
    if (r->last >= k && k < behind) o = look_ahead(mc, k, behind, reg);
    const int from = k > behind ? k : behind;
    if (o == UNREAD && (k > behind ? r->last >= k : r->exposed >= behind))
        o = look_ahead(mc, from, mc->nmain, reg);
    if (o == READ) return true;
    return l->outer && r->first >= 0 && r->first < l->first &&
           look_ahead(mc, l->outer->first, l->first, reg) == READ;
}

bool value_read_after(const machine *mc, const value_reads *reads, const loop *l,
                      uint16_t reg)
{
    return value_read_from(mc, reads, l, l->last + 1, reg);
}
