/* uses.c: what an instruction reads, writes and names. */
#include "uses.h"
#include "../code/text.h"
#include <string.h>

static int cursor_cell(const program *p, int reg)
{
    return cells_of(p) - p->nc + reg;
}

static int cell_of(const program *p, char letter, int x)
{
    const char prefix = operand_prefix(letter);
    return x + (prefix == 'v'   ? 0
                : prefix == 'i' ? p->nv
                : prefix == 'm' ? p->nv + p->ni
                                : cursor_cell(p, 0));
}

/* A loop reads and moves what it walks and follows, and reads what it locates below. */
static bool merge_reads(const program *p, const insn *in, cell_test fn, void *who)
{
    const merge_desc *m = &p->merge[in->arg[2]];
    for (int b = 0; b < m->count; b++) {
        const merge_operand *o = &m->operand[b];
        if (o->role != MERGE_LOCATE) {
            if (!fn(who, in, cursor_cell(p, o->cursor))) return false;
            continue;
        }
        if (o->up != ROOT && !fn(who, in, cursor_cell(p, o->up))) return false;
        if (o->shift != ROOT && !fn(who, in, p->nv + o->shift)) return false;
    }
    return true;
}

bool insn_each_read(const program *p, const insn *in, cell_test fn, void *who)
{
    const char *letters = op_at(in->op)->operands;
    for (int k = 0; letters[k]; k++) {
        if (!strchr("vimcQX", letters[k]) || in->arg[k] == ROOT) continue;
        int count = 1; /* some read a row of registers */
        if (in->op == OP_CALL) count = in->arg[3];
        if ((in->op == OP_WSADD || in->op == OP_WSCALL) && letters[k] == 'i')
            count = p->tensor[in->arg[0]].order;
        if (in->op == OP_BLOCK && letters[k] == 'i')
            count = 2 * p->tensor[in->arg[0]].order;
        const int cell = cell_of(p, letters[k], in->arg[k]);
        for (int j = 0; j < count; j++)
            if (!fn(who, in, cell + j)) return false;
    }
    return in->op != OP_LOOP || merge_reads(p, in, fn, who);
}

void insn_each_write(const program *p, const insn *in, cell_fn fn, void *who)
{
    const char *letters = op_at(in->op)->operands;
    for (int k = 0; letters[k]; k++)
        if (strchr("VIMCQX", letters[k])) fn(who, cell_of(p, letters[k], in->arg[k]));
    if (in->op != OP_LOOP) return;
    const merge_desc *m = &p->merge[in->arg[2]];
    for (int b = 0; b < m->count; b++)
        if (m->operand[b].role != MERGE_KNOWN)
            fn(who, cursor_cell(p, m->operand[b].cursor));
}

bool insn_reads_value(const insn *in, uint16_t reg)
{
    const char *l = op_at(in->op)->operands;
    if (in->op == OP_CALL) return reg >= in->arg[2] && reg < in->arg[2] + in->arg[3];
    for (int k = 0; l[k]; k++)
        if (l[k] == 'v' && in->arg[k] == reg) return true;
    return false;
}

/* Calls fn for each time that an instruction names a tensor. */
typedef void (*tensor_fn)(void *who, uint16_t t);
static void each_tensor(const program *p, const insn *in, tensor_fn fn, void *who)
{
    const char *letters = op_at(in->op)->operands;
    for (int k = 0; letters[k]; k++)
        if (letters[k] == 'T' || letters[k] == 'R' || letters[k] == 'W')
            fn(who, in->arg[k]);
    const merge_desc *m = in->op == OP_LOOP ? &p->merge[in->arg[2]] : NULL;
    for (int b = 0; m && b < m->count; b++)
        if (m->operand[b].role == MERGE_LOCATE) fn(who, m->operand[b].tensor);
}

static void count_tensor(void *who, uint16_t t)
{
    ((uint32_t *)who)[t]++;
}

void tensors_named(const program *p, uint32_t *named)
{
    for (int k = 0; k < p->ncode; k++)
        each_tensor(p, &p->code[k], count_tensor, named);
}

typedef struct one_tensor {
    uint32_t times;
    uint16_t tensor;
} one_tensor;

static void count_one(void *who, uint16_t t)
{
    one_tensor *x = who;
    x->times += t == x->tensor;
}

bool named_outside(const machine *mc, const loop *l, uint16_t t)
{
    one_tensor x = {.tensor = t};
    for (int k = l->first; k <= l->last; k++)
        each_tensor(mc->p, insn_of(mc, k), count_one, &x);
    return x.times < mc->named[t];
}

loop *loop_of(const machine *mc, int k)
{
    int from = 0, to = mc->nloop - 1; /* they are in the order of their code */
    while (from < to) {
        const int mid = (from + to + 1) / 2;
        if (mc->loops[mid].first <= k)
            from = mid;
        else
            to = mid - 1;
    }
    return &mc->loops[from];
}

const insn *cursor_opened(const machine *mc, int k, uint16_t reg)
{
    while (k-- > 0) {
        const insn *in = insn_of(mc, k);
        const bool opens = in->op == OP_OPEN || in->op == OP_OPENAT || in->op == OP_SUBSECT;
        if (opens && in->arg[0] == reg) return in;
    }
    return NULL;
}
