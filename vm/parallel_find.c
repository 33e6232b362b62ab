/* parallel_find.c: which loops may be shared by threads: those whose rounds don't
 * need each other.
 *
 * Takes a linked program, which the verifier accepted, and reads the body of a
 * loop outside all others once, from top to bottom. A register is the round's own
 * if every path writes it before it is read; one that isn't is an accumulator, or
 * the loop isn't shared. A tensor is the round's own, or every place of it that is
 * written lies below the loop's own coordinate. What is written in the loop must
 * not be read after it, accumulators aside.
 *
 * Nothing here is a promise of the program's author: bytecode from a file is
 * examined like any other.
 */
#include "parallel.h"
#include "../formats/join.h"
#include <string.h>

enum { OWN_INDEX = 1, OWN_BLOCK };

/* Registers of all four files are cells in a row. */
typedef struct finder {
    const machine *mc;
    const program *p;
    const loop *l;
    parallel_loop *out;
    int v0, i0, m0, c0, ncell;
    uint8_t *written;  /* per cell: somewhere in the loop                       */
    uint8_t *sum;      /* per value register: 1 + its accumulator, or 0          */
    uint16_t *defined; /* per cell: 1 + depth of the block of a write, 0: none   */
    uint16_t *other;   /* per cell: 1 + depth of the if whose first branch wrote it, or 0 */
    uint8_t *below;    /* per cursor: `at` below the loop's own coordinate: 1; 2 not */
    int depth, loops;  /* of blocks, and of loops and whiles among them          */
    /* per integer register */
    uint8_t *writes; /* in the loop: 0, 1, more */
    int64_t *within; /* it's the index of an open loop over 0:within; 0: not known */
    int64_t *block;  /* it's so many times the loop's index, at least 1; 0: not known */
    uint8_t *own;    /* OWN_: its values are of this round alone: own_coordinates   */
    uint8_t *apart;  /* per tensor: a round's places needn't follow each other      */
} finder;

/* Why not, unless that was said already. */
static bool not_shared(finder *f, const char *why)
{
    if (!f->out->why) f->out->why = why;
    return false;
}

static const struct {
    const char *letters;
    int count;
} operands[] = {
#define OP(NAME, text, operands, effect) {operands, sizeof operands - 1},
#include "opcodes.def"
};

static const insn *at(const finder *f, int k)
{
    return &f->p->code[f->mc->origin[k]];
}

/* ---- what an instruction reads and writes ---------------------------------------- */

typedef bool (*cell_fn)(finder *f, const insn *in, int cell);

static int cell_of(const finder *f, char letter, int x)
{
    switch (letter) {
    case 'v':
    case 'V':
        return f->v0 + x;
    case 'i':
    case 'I':
        return f->i0 + x;
    case 'm':
    case 'M':
    case 'X':
        return f->m0 + x;
    case 'c':
    case 'C':
    case 'Q':
        return x == ROOT ? -1 : f->c0 + x;
    default:
        return -1;
    }
}

/* The operands of a loop's merge: walkers are read and moved, located ones
 * written, from what they are below. */
static bool merge_cells(finder *f, const insn *in, bool writes, cell_fn fn)
{
    const merge_desc *m = &f->p->merge[in->arg[2]];
    for (int b = 0; b < m->count; b++) {
        const merge_operand *o = &m->operand[b];
        const bool walks = o->role == MERGE_WALK || o->role == MERGE_FOLLOW;
        const bool located = o->role == MERGE_LOCATE;
        if (writes) {
            if ((walks || located) && o->cursor != ROOT && !fn(f, in, f->c0 + o->cursor))
                return false;
            continue;
        }
        if (!located && o->cursor != ROOT && !fn(f, in, f->c0 + o->cursor)) return false;
        if (located && o->up != ROOT && !fn(f, in, f->c0 + o->up)) return false;
        if (located && o->shift != ROOT && !fn(f, in, f->i0 + o->shift)) return false;
    }
    return true;
}

static bool each_read(finder *f, const insn *in, cell_fn fn)
{
    const char *letters = operands[in->op].letters;
    for (int k = 0; k < operands[in->op].count; k++) {
        if (!strchr("vimcQX", letters[k])) continue;
        int count = 1; /* some read a row of registers */
        if (in->op == OP_CALL) count = in->arg[3];
        if ((in->op == OP_WSADD || in->op == OP_WSCALL) && letters[k] == 'i')
            count = f->p->tensor[in->arg[0]].order;
        const int cell = cell_of(f, letters[k], in->arg[k]);
        for (int j = 0; cell >= 0 && j < count; j++)
            if (!fn(f, in, cell + j)) return false;
    }
    return in->op != OP_LOOP || merge_cells(f, in, false, fn);
}

static bool each_write(finder *f, const insn *in, cell_fn fn)
{
    const char *letters = operands[in->op].letters;
    for (int k = 0; k < operands[in->op].count; k++)
        if (strchr("VIMCQX", letters[k]) && !fn(f, in, cell_of(f, letters[k], in->arg[k])))
            return false;
    return in->op != OP_LOOP || merge_cells(f, in, true, fn);
}

/* ---- registers --------------------------------------------------------------------- */

static bool mark_written(finder *f, const insn *in, int cell)
{
    (void)in;
    f->written[cell] = 1;
    return true;
}

static bool define(finder *f, const insn *in, int cell)
{
    (void)in;
    if (!f->defined[cell]) f->defined[cell] = (uint16_t)(1 + f->depth);
    return true;
}

/* The two arguments of a reduction are the register itself and what is added. */
static bool accumulates(const insn *in, int reg)
{
    return in->op == OP_FN2 && in->arg[0] == reg &&
           (in->arg[3] == reg) != (in->arg[4] == reg);
}

static bool same_reduction(finder *f, const insn *in, int reg)
{
    parallel_loop *o = f->out;
    if (f->sum[reg]) {
        const int k = f->sum[reg] - 1;
        return o->sum[k].fn == in->arg[1] && o->sum[k].cls == in->arg[2];
    }
    const fn_info *fn = fn_at(in->arg[1]);
    const int both = FP_COMMUTATIVE | FP_ASSOCIATIVE;
    if ((fn->flags & both) != both)
        return not_shared(f, "what combines them isn't associative and commutative");
    if (o->nsum == PARALLEL_SUMS) return not_shared(f, "they reduce too many values");
    const vclass cls = (vclass)in->arg[2];
    value identity;
    if (fn->identity[0].position != AT_ANY || !(fn->identity[0].classes >> cls & 1) ||
        !fn_constant(fn->identity[0].value, cls, class_type(cls), &identity))
        return not_shared(f, "what combines them has no identity to start with");
    o->sum[o->nsum].reg = (uint16_t)reg;
    o->sum[o->nsum].cls = in->arg[2];
    o->sum[o->nsum].fn = in->arg[1];
    o->sum[o->nsum].identity = identity;
    f->sum[reg] = (uint8_t)++o->nsum;
    return true;
}

/* A read in the loop: of what this round wrote, of what no round does, or by an
 * accumulator of itself. */
static bool read_in_loop(finder *f, const insn *in, int cell)
{
    if (f->defined[cell] || !f->written[cell]) return true;
    const int reg = cell - f->v0;
    if (reg < f->p->nv && accumulates(in, reg)) return same_reduction(f, in, reg);
    return not_shared(f, "each needs what those before it computed");
}

static bool read_after(finder *f, const insn *in, int cell)
{
    (void)in;
    if (f->defined[cell] || !f->written[cell]) return true;
    return cell - f->v0 < f->p->nv && f->sum[cell - f->v0];
}

/* What a block wrote may not be written after it, but for what both branches of an
 * if wrote. */
static void close_block(finder *f, int op)
{
    const uint16_t in = (uint16_t)(1 + f->depth);
    for (int c = 0; c < f->ncell; c++) {
        const bool wrote = f->defined[c] >= in, both = wrote && f->other[c] == in;
        if (f->other[c] == in) f->other[c] = 0;
        if (wrote && op == OP_ELSE && !f->other[c]) f->other[c] = in;
        if (wrote) f->defined[c] = both && op == OP_ENDIF ? in - 1 : 0;
    }
    f->depth--;
}

/* One instruction of a straight reading: reads, blocks, writes. */
static bool pass_over(finder *f, const insn *in, cell_fn read)
{
    const int op = in->op;
    if (op == OP_END || op == OP_ENDIF || op == OP_ENDWHILE || op == OP_ELSE)
        close_block(f, op);
    if (op == OP_END || op == OP_ENDWHILE) f->loops--;
    if (!each_read(f, in, read)) return false;
    if (op == OP_LOOP || op == OP_IF || op == OP_WHILE || op == OP_ELSE) f->depth++;
    if (op == OP_LOOP || op == OP_WHILE) f->loops++;
    return each_write(f, in, define);
}

static bool reads_no_sum(finder *f, const insn *in, int cell)
{
    const int reg = cell - f->v0;
    return reg >= f->p->nv || !f->sum[reg] || accumulates(in, reg);
}

/* An accumulator is written and read by its reductions alone. */
static bool sums_hold(finder *f)
{
    for (int k = f->l->first + 1; k < f->l->last; k++) {
        const insn *in = at(f, k);
        if (!each_read(f, in, reads_no_sum)) return false;
        if (operands[in->op].count && operands[in->op].letters[0] == 'V' &&
            f->sum[in->arg[0]] && !accumulates(in, in->arg[0]))
            return false;
    }
    return true;
}

static bool find_registers(finder *f)
{
    const loop *l = f->l;
    /* subsections from outside aren't copied; they count as changing */
    for (int k = 0; k < l->last; k++)
        if (k >= l->first || at(f, k)->op == OP_SUBSECT)
            each_write(f, at(f, k), mark_written);
    /* what the loop itself sets is each round's own; its walkers it moves */
    each_write(f, at(f, l->first), define);
    for (int k = l->first + 1; k < l->last; k++) {
        const insn *in = at(f, k);
        if (in->op == OP_BREAK && in->arg[1] > f->loops) return false; /* out of it */
        if (in->op == OP_TEST && !f->loops) return false;
        if (in->op != OP_LOOP && operands[in->op].count &&
            operands[in->op].letters[0] == 'I' && in->arg[0] == l->index)
            return false;
        if (in->op == OP_LOOP && in->arg[0] == l->index) return false;
        if (!pass_over(f, in, read_in_loop)) return false;
    }
    if (!sums_hold(f)) return false;
    memset(f->defined, 0, (size_t)f->ncell * sizeof *f->defined);
    memset(f->other, 0, (size_t)f->ncell * sizeof *f->other);
    f->depth = f->loops = 0;
    for (int k = l->last + 1; k < f->mc->nmain; k++)
        if (!pass_over(f, at(f, k), read_after)) return false;
    return true;
}

/* ---- coordinates ------------------------------------------------------------------- */

static bool count_write(finder *f, const insn *in, int cell)
{
    (void)in;
    const int reg = cell - f->i0;
    if (reg >= 0 && reg < f->p->ni && f->writes[reg] < 2) f->writes[reg]++;
    return true;
}

static bool is_zero(const finder *f, int reg)
{
    for (int k = f->l->first + 1; k < f->l->last; k++)
        if (at(f, k)->op == OP_ICONST && at(f, k)->arg[0] == reg)
            return f->writes[reg] == 1 && f->p->konst[at(f, k)->arg[1]].v.i64 == 0;
    return false;
}

/* r = a * k + d: a multiple of the loop's index; or a coordinate within the block
 * that begins there. */
static void combine(finder *f, const uint16_t *a)
{
    const int64_t k = f->p->konst[a[2]].v.i64;
    if (f->writes[a[0]] != 1) return;
    if (a[1] == f->l->index && k >= 1 && is_zero(f, a[3])) f->block[a[0]] = k;
    const int64_t block = f->block[a[3]];
    if (k != 1 || !block || !f->within[a[1]] || f->within[a[1]] > block) return;
    if (f->out->step > 1 && f->out->step != block) return;
    f->out->step = block;
    f->own[a[0]] = OWN_BLOCK;
}

/* The registers that have the loop's own coordinate, or one of a block of them:
 * what `split` makes of a loop. Written once, they hold for all of the round. */
static void own_coordinates(finder *f)
{
    const loop *l = f->l;
    int open[BLOCKS_MAX], depth = 0;
    for (int k = l->first + 1; k < l->last; k++)
        each_write(f, at(f, k), count_write);
    f->out->step = 1;
    f->own[l->index] = OWN_INDEX;
    for (int k = l->first + 1; k < l->last; k++) {
        const insn *in = at(f, k);
        if (in->op == OP_IMULADD) combine(f, in->arg);
        if (in->op == OP_LOOP) {
            const merge_desc *m = &f->p->merge[in->arg[2]];
            const extent *hi = &f->p->ext[m->hi];
            const bool known = m->lo == ROOT && hi->op == EXT_CONST && depth < BLOCKS_MAX;
            if (known && f->writes[in->arg[0]] == 1) f->within[in->arg[0]] = hi->k;
            if (depth < BLOCKS_MAX) open[depth] = in->arg[0];
            depth++;
        }
        if (in->op == OP_END && --depth < BLOCKS_MAX) f->within[open[depth]] = 0;
    }
}

/* ---- tensors ----------------------------------------------------------------------- */

/* The tensors that an instruction names. */
static int tensors_of(const finder *f, const insn *in, uint16_t *t)
{
    int n = 0;
    for (int k = 0; k < operands[in->op].count; k++)
        if (strchr("TRW", operands[in->op].letters[k])) t[n++] = in->arg[k];
    if (in->op != OP_LOOP) return n;
    const merge_desc *m = &f->p->merge[in->arg[2]];
    for (int b = 0; b < m->count && n < 64; b++)
        if (m->operand[b].role == MERGE_LOCATE) t[n++] = m->operand[b].tensor;
    return n;
}

static bool used_outside(const finder *f, uint16_t t)
{
    uint16_t named[66];
    for (int k = 0; k < f->mc->nmain; k++) {
        if (k >= f->l->first && k <= f->l->last) continue;
        const int n = tensors_of(f, at(f, k), named);
        for (int j = 0; j < n; j++)
            if (named[j] == t) return true;
    }
    return false;
}

/* Every place is known before anything is stored, and storing moves nothing. */
static bool has_places(const format *fmt)
{
    for (int l = 0; l < fmt->levels; l++) {
        const level_kind *k = fmt->level[l].kind;
        if (!(k->caps & CAP_INSERT) || k->arrays) return false;
    }
    return fmt->levels > 0;
}

static bool share(finder *f, uint16_t t, sharing how)
{
    uint8_t *as = &f->out->sharing[t];
    if (*as == how) return true;
    if (*as != SHARE_READ) return false;
    if (how == SHARE_PARTS) {
        if (f->out->nparts == PARALLEL_PARTS) return false;
        f->out->parts[f->out->nparts++] = t;
    }
    *as = (uint8_t)how;
    return true;
}

/* `at`: whether the place, or one above it, is that of the loop's coordinate. */
static bool find_place(finder *f, const insn *in)
{
    const prog_tensor *row = &f->p->tensor[in->arg[1]];
    const bool here = f->own[in->arg[4]];
    const uint16_t up = in->arg[3];
    if (f->out->sharing[in->arg[1]] == SHARE_OWN) return true;
    const uint8_t first = f->out->step > 1 ? OWN_BLOCK : OWN_INDEX;
    const bool apart = in->arg[2] == 0 && (up != ROOT || f->own[in->arg[4]] != first);
    if (has_places(&row->fmt)) {
        f->apart[in->arg[1]] |= apart;
    } else {
        if (!join_possible(&row->fmt))
            return not_shared(f, "the result's format can't be put together from parts");
        if (apart)
            return not_shared(f,
                              "the result's outermost coordinates aren't the loop's own");
    }
    const bool below = here || (up != ROOT && f->below[up] == 1);
    if (f->below[in->arg[0]] != 2) f->below[in->arg[0]] = below ? 1 : 2;
    return true;
}

static bool stores(finder *f, uint16_t t, uint16_t place)
{
    if (f->out->sharing[t] == SHARE_OWN) return true;
    if (place == ROOT || f->below[place] != 1)
        return not_shared(f, "several write to the same places of a result");
    return share(f, t, has_places(&f->p->tensor[t].fmt) ? SHARE_PLACES : SHARE_PARTS);
}

static bool find_tensor(finder *f, const insn *in)
{
    const uint16_t *a = in->arg;
    switch (in->op) {
    case OP_BEGIN:
    case OP_WSBEGIN: {
        const uint8_t role = f->p->tensor[a[0]].role;
        return (role == ROLE_TEMP || role == ROLE_WORK) && !used_outside(f, a[0]) &&
               share(f, a[0], SHARE_OWN);
    }
    case OP_FINISH:
        return f->out->sharing[a[0]] == SHARE_OWN;
    case OP_WSADD:
    case OP_WSCALL:
    case OP_WSEND:
        return f->out->sharing[a[0]] == SHARE_OWN ||
               not_shared(f, "they add to one workspace");
    case OP_AT:
        return find_place(f, in);
    case OP_KEEP:
        return stores(f, a[0], a[2]);
    case OP_STORE:
    case OP_ACC:
        return stores(f, a[0], a[1]);
    case OP_SPAN:
    case OP_SETFILL:
    case OP_MOVE:
    case OP_CONVERT:
    case OP_PACK:
        return not_shared(f, "positions are counted, or a tensor converted, in each");
    default:
        return true;
    }
}

/* Kinds and functions of the host's own may not be called from threads that it
 * doesn't know. */
static bool all_built_in(const machine *mc)
{
    const program *p = mc->p;
    for (int k = 0; k < p->nfn; k++)
        if (p->fn[k].host) return false;
    for (int t = 0; t < p->ntensor; t++)
        for (int l = 0; l < p->tensor[t].fmt.levels; l++)
            if (level_kind_number(p->tensor[t].fmt.level[l].kind) < 0) return false;
    return true;
}

static bool find_tensors(finder *f)
{
    if (!all_built_in(f->mc))
        return not_shared(f,
                          "functions and formats of the host's can't be used by threads");
    parallel_loop *o = f->out;
    for (int k = f->l->first + 1; k < f->l->last; k++)
        if (!find_tensor(f, at(f, k))) return false;
    for (int t = 0; t < f->p->ntensor && o->nrows < PARALLEL_PARTS; t++) {
        if (o->sharing[t] != SHARE_PLACES || f->apart[t]) continue;
        o->sharing[t] = SHARE_ROWS;
        o->rows[o->nrows++] = (uint16_t)t;
    }
    return true;
}

/* ---- weights ----------------------------------------------------------------------- */

/* The tensor whose first level a walker of the loop is open on; -1: another level. */
static int walked_tensor(const finder *f, uint16_t walker)
{
    for (int k = f->l->first - 1; k >= 0; k--) {
        const insn *in = at(f, k);
        if ((in->op == OP_OPEN || in->op == OP_OPENAT) && in->arg[0] == walker)
            return in->op == OP_OPEN && in->arg[2] == 0 ? in->arg[1] : -1;
    }
    return -1;
}

static void find_weights(finder *f)
{
    const merge_desc *m = f->l->merge;
    parallel_loop *o = f->out;
    for (int b = 0; b < m->count && o->nweight < MERGE_TABLE_MAX; b++) {
        const merge_operand *x = &m->operand[b];
        int t = -1;
        int64_t coef = 1;
        if (x->role == MERGE_LOCATE && x->level == 0 && x->coef > 0) {
            t = x->tensor;
            coef = x->coef;
        }
        if (x->role == MERGE_WALK) t = walked_tensor(f, x->cursor);
        if (t < 0) continue;
        o->weight[o->nweight].tensor = (uint16_t)t;
        o->weight[o->nweight++].coef = coef;
    }
}

/* ---- the loop ---------------------------------------------------------------------- */

static bool find(finder *f)
{
    const merge_desc *m = f->l->merge;
    for (int b = 0; b < m->count; b++) {
        const merge_operand *o = &m->operand[b];
        if (o->role <= MERGE_FOLLOW && f->mc->c[o->cursor].subsections)
            return not_shared(f, "they visit the subsections of one operand in turn");
        if (o->role != MERGE_WALK) continue;
        const int t = walked_tensor(f, o->cursor);
        if (t < 0 || !(format_props(&f->p->tensor[t].fmt, 0) & PROP_ORDERED))
            return not_shared(f,
                              "what it walks isn't the first level of a tensor, in order");
    }
    if (!find_registers(f)) return not_shared(f, "what they compute is read after them");
    own_coordinates(f);
    if (!find_tensors(f)) return false;
    find_weights(f);
    return true;
}

bool parallel_find(const machine *mc, int first, parallel_loop *out)
{
    const program *p = mc->p;
    finder f = {.mc = mc, .p = p, .l = mc->code[first].u.loop, .out = out};
    for (int k = 0; k < mc->nloop; k++)
        if (mc->loops[k].first == first) f.l = &mc->loops[out->number = out->whole = k];
    out->first = first;
    f.i0 = p->nv;
    f.m0 = f.i0 + p->ni;
    f.c0 = f.m0 + p->nm;
    f.ncell = f.c0 + p->nc;
    const size_t cells = (size_t)f.ncell + 1;
    const size_t ints = (size_t)p->ni + 1;
    const size_t size = cells * (2 * sizeof *f.defined + 3) +
                        ints * (2 * sizeof *f.block + 2) + (size_t)p->ntensor;
    f.block = mem_zero(mc->cx, 1, (int64_t)size);
    if (!f.block) return not_shared(&f, "there is no memory to find out");
    f.within = f.block + ints;
    f.defined = (uint16_t *)(f.within + ints);
    f.other = f.defined + cells;
    f.written = (uint8_t *)(f.other + cells);
    f.sum = f.written + cells;
    f.below = f.sum + cells;
    f.writes = f.below + cells;
    f.own = f.writes + ints;
    f.apart = f.own + ints;
    const bool found = find(&f) || not_shared(&f, "they need each other");
    mem_free(mc->cx, f.block, size);
    return found;
}
