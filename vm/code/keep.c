/* keep.c: the code at a program's beginning that runs leave out while its operands are what
 * they were: steps whose results the machine still has.
 *
 * That holds of code which hands on nothing but tensors of the program's own, and of what
 * follows if it only reads them. Registers are each statement's own: no statement of a
 * program reads a register that another one has written.
 */
#include "text.h"
#include <string.h>

static void note_merge(program *p, const merge_desc *m)
{
    for (int k = 0; k < m->count; k++)
        if (m->operand[k].role == MERGE_LOCATE)
            p->in_kept[m->operand[k].tensor] |= KEPT_READ;
}

/* What an instruction of the first part reads and makes; false: it leaves something else
 * behind, or doesn't give the same each time. */
static bool note(program *p, const insn *in)
{
    const char *operands = op_at(in->op)->operands;
    if (in->op == OP_SPAN || in->op == OP_BOUND) return false;
    for (int k = 0; operands[k]; k++) {
        const uint16_t at = in->arg[k];
        if (operands[k] == 'U' && p->fn[at].host) return false;
        if (operands[k] == 'G') note_merge(p, &p->merge[at]);
        if (operands[k] == 'T') p->in_kept[at] |= KEPT_READ;
        if (operands[k] == 'R' || operands[k] == 'W') p->in_kept[at] |= KEPT_MADE;
    }
    return true;
}

/* Whether an instruction that follows leaves what was made as it is. */
static bool leaves(const program *p, const insn *in)
{
    const char *operands = op_at(in->op)->operands;
    for (int k = 0; operands[k]; k++) {
        const bool changes = operands[k] == 'R' || operands[k] == 'W' ||
                             in->op == OP_MOVE || in->op == OP_BLOCK;
        if (operand_prefix(operands[k]) == 't' && changes &&
            (p->in_kept[in->arg[k]] & KEPT_MADE))
            return false;
    }
    return true;
}

stc_status program_keep(program *p)
{
    if (!p->kept) return STC_OK;
    p->in_kept = arena_room(&p->own, p->ntensor, 1);
    if (!p->in_kept) return p->cx->diag.status;
    memset(p->in_kept, 0, (size_t)p->ntensor);
    bool good = true;
    for (int i = 0; i < p->kept && good; i++)
        good = note(p, &p->code[i]);
    for (int i = p->kept; i < p->ncode && good; i++)
        good = leaves(p, &p->code[i]);
    for (int t = 0; t < p->ntensor && good; t++) {
        const uint8_t role = p->tensor[t].role;
        const bool own = role == ROLE_TEMP || role == ROLE_WORK;
        good = p->in_kept[t] & KEPT_MADE ? own : !p->in_kept[t] || role == ROLE_INPUT;
    }
    if (!good) p->kept = 0;
    return STC_OK;
}
