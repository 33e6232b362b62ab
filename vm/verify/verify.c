/* verify.c: proves a program safe for any tensors of its formats.
 *
 * One linear pass over the code, each instruction held against its row in
 * opcodes.def (operands in range and of their kind, registers written before
 * they are read), then against what it means (classes, cursors, the state of
 * tensors, nesting). Shares nothing with what builds programs. What depends on
 * data is checked when it runs: coordinates of results, the order in which
 * they are appended, overflow, depth of calls.
 *
 * To add an opcode: if its operands say all there is to check, nothing; if it
 * writes a value, its class goes into value_class; if it touches cursors or
 * results, its rule goes into verify_cursor.c.
 */
#include "verify.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *text, *operands;
    int count; /* of operands */
} ops[OP_COUNT] = {
#define OP(NAME, text, operands, effect) {text, operands, sizeof operands - 1},
#include "../code/opcodes.def"
};

stc_status refuse(verifier *vf, const char *text, ...)
{
    char why[300];
    va_list args;
    va_start(args, text);
    vsnprintf(why, sizeof why, text, args);
    va_end(args);
    const char *name = vf->pc < vf->p->ncode && vf->p->code[vf->pc].op < OP_COUNT
                           ? ops[vf->p->code[vf->pc].op].text
                           : "?";
    return fail(vf->cx, STC_ERR_CORRUPT, "unsafe bytecode: instruction %d (%s): %s", vf->pc,
                name, why);
}

/* ---- operands ------------------------------------------------------------------ */

enum { READS = 1, IN_FUNCTIONS = 2 };

static const struct letter {
    uint8_t file, flags;
} of_letter[128] = {
    ['V'] = {FILE_V, IN_FUNCTIONS},
    ['v'] = {FILE_V, READS | IN_FUNCTIONS},
    ['I'] = {FILE_I, 0},
    ['i'] = {FILE_I, READS},
    ['M'] = {FILE_M, 0},
    ['m'] = {FILE_M, READS},
    ['X'] = {FILE_M, READS},
    ['C'] = {FILE_C, 0},
    ['c'] = {FILE_C, 0},
    ['Q'] = {FILE_C, 0},
    ['T'] = {FILE_T, 0},
    ['R'] = {FILE_T, 0},
    ['W'] = {FILE_T, 0},
    ['E'] = {FILE_E, 0},
    ['K'] = {FILE_K, IN_FUNCTIONS},
    ['G'] = {FILE_G, 0},
    ['F'] = {FILE_F, IN_FUNCTIONS},
    ['Y'] = {FILE_Y, IN_FUNCTIONS},
    ['Z'] = {FILE_Z, IN_FUNCTIONS},
    ['U'] = {FILE_U, IN_FUNCTIONS},
    ['L'] = {FILE_NUMBER, 0}, /* held against its tensor */
    ['N'] = {FILE_NUMBER, IN_FUNCTIONS},
};

static const char *const file_name[FILE_COUNT] = {
    [FILE_V] = "v",         [FILE_I] = "i",      [FILE_M] = "m",     [FILE_C] = "c",
    [FILE_T] = "t",         [FILE_E] = "e",      [FILE_K] = "k",     [FILE_G] = "g",
    [FILE_F] = "function ", [FILE_Y] = "class ", [FILE_Z] = "type ", [FILE_U] = "f",
    [FILE_NUMBER] = ""};

static stc_status check_cursor_operand(verifier *vf, char letter, int x)
{
    if (x == ROOT) return STC_OK; /* only `c` may */
    if (!cursor_valid(vf, x))
        return refuse(vf, "c%d isn't open here, or what it stood on has changed", x);
    const int state = cursor_kind(vf->cell[vf->c0 + x].v);
    if (letter == 'Q' && state != C_OPEN && state != C_SUBSECT)
        return refuse(vf, "c%d was placed already, it can't move", x);
    if (letter == 'c' && (state == C_OPEN || state == C_SUBSECT))
        return refuse(vf, "c%d is open, and hasn't moved to a coordinate yet", x);
    return STC_OK;
}

/* Every operand in range; those that are read known, with all paths agreeing. */
static stc_status check_operands(verifier *vf, const insn *in)
{
    const char *letters = ops[in->op].operands;
    const int n = ops[in->op].count;
    int t = -1;
    for (int k = n; k < 7; k++)
        if (in->arg[k]) return refuse(vf, "an operand too many");
    for (int k = 0; k < n; k++) {
        const struct letter *l = &of_letter[(uint8_t)letters[k]];
        const operand_file *file = &vf->file[l->file];
        const int x = in->arg[k];
        if (x >= file->limit && !(letters[k] == 'c' && x == ROOT))
            return refuse(vf, "there is no %s%d", file_name[l->file], x);
        if (vf->fn && !(l->flags & IN_FUNCTIONS))
            return refuse(vf, "not allowed in a function");
        if (l->flags & READS) {
            if (!vf->cell[file->first + x].v)
                return refuse(vf, "%s%d is read before it is written", file_name[l->file],
                              x);
            cell_read(vf, file->first + x);
            continue;
        }
        switch (letters[k]) {
        case 'T':
        case 'R':
            t = x;
            break;
        case 'L':
            if (x >= vf->p->tensor[t].fmt.levels)
                return refuse(vf, "t%d has no level %d", t, x);
            break;
        case 'W':
            if (vf->p->tensor[x].role != ROLE_WORK)
                return refuse(vf, "t%d isn't a workspace", x);
            break;
        case 'c':
        case 'Q':
            if (check_cursor_operand(vf, letters[k], x)) return vf->cx->diag.status;
            break;
        default:
            break;
        }
    }
    return STC_OK;
}

/* ---- values -------------------------------------------------------------------- */

/* The class of a value register that is known to be written. */
static int class_of(const verifier *vf, int v)
{
    return (int)vf->cell[vf->v0 + v].v - 1;
}

static stc_status want_class(verifier *vf, int v, int cls)
{
    if (class_of(vf, v) == cls) return STC_OK;
    return refuse(vf, "v%d is %s, expected %s", v, class_name((vclass)class_of(vf, v)),
                  class_name((vclass)cls));
}

static stc_status check_call(verifier *vf, const insn *in)
{
    int id = in->arg[1], cls = in->arg[2];
    if (fn_at(id)->arity != in->op - OP_FN1 + 1 || !fn_scalar_of(id, (vclass)cls))
        return refuse(vf, "%s isn't a function of %d in class %s", fn_at(id)->name,
                      in->op - OP_FN1 + 1, class_name((vclass)cls));
    for (int k = 0; k < fn_at(id)->arity; k++)
        if (want_class(vf, in->arg[3 + k], (int)fn_operand_class(id, (vclass)cls, k)))
            return vf->cx->diag.status;
    return STC_OK;
}

/* A function of two arguments that stays in its class: what merges and folds. */
static stc_status check_fold(verifier *vf, int id, int cls, int v)
{
    bool ok = fn_at(id)->arity == 2 && fn_scalar_of(id, (vclass)cls) &&
              (int)fn_result_class(id, (vclass)cls) == cls &&
              (int)fn_operand_class(id, (vclass)cls, 1) == cls;
    if (!ok)
        return refuse(vf, "%s can't be accumulated in class %s", fn_at(id)->name,
                      class_name((vclass)cls));
    return want_class(vf, v, cls);
}

static stc_status check_user_call(verifier *vf, const insn *in)
{
    const user_fn *f = &vf->p->fn[in->arg[1]];
    if (in->arg[3] != f->params)
        return refuse(vf, "%d arguments, f%d has %d parameters", in->arg[3], in->arg[1],
                      f->params);
    if (in->arg[2] + f->params > vf->nv)
        return refuse(vf, "arguments beyond the registers");
    for (int k = 0; k < f->params; k++) {
        int v = in->arg[2] + k;
        if (!vf->cell[vf->v0 + v].v)
            return refuse(vf, "v%d is read before it is written", v);
        cell_read(vf, vf->v0 + v);
        if (want_class(vf, v, f->cls[k])) return vf->cx->diag.status;
    }
    return STC_OK;
}

/* What merges in a workspace: a function of two values of its class that gives one. */
static stc_status check_merging(verifier *vf, const insn *in)
{
    const user_fn *f = &vf->p->fn[in->arg[1]];
    const int cls = (int)type_class(vf->p->tensor[in->arg[0]].type);
    if (in->arg[4] > 1) return refuse(vf, "expected 0 or 1, not %d", in->arg[4]);
    if (f->params != 2 || f->cls[0] != cls || f->cls[1] != cls || f->result != cls)
        return refuse(vf, "f%d can't be accumulated in class %s", in->arg[1],
                      class_name((vclass)cls));
    return want_class(vf, in->arg[3], cls);
}

static stc_status check_value(verifier *vf, const insn *in)
{
    const uint16_t *a = in->arg;
    switch (in->op) {
    case OP_IF:
    case OP_TEST:
    case OP_REQUIRE:
    case OP_BREAK:
        return want_class(vf, a[0], CLASS_I64);
    case OP_CALL:
        return check_user_call(vf, in);
    case OP_RETURN:
        if (!vf->fn) return refuse(vf, "only functions return");
        return want_class(vf, a[0], vf->fn->result);
    case OP_FN1:
    case OP_FN2:
    case OP_FN3:
        return check_call(vf, in);
    case OP_CONV:
        return want_class(vf, a[3], a[2]);
    case OP_WRAP:
        return want_class(vf, a[2], (int)type_class((stc_type)a[1]));
    case OP_FOLD:
        return check_fold(vf, a[1], a[2], a[3]);
    case OP_MARK:
        return want_class(vf, a[2], CLASS_I64);
    case OP_BOUND:
        if (vf->p->ext[a[0]].op != EXT_SPAN)
            return refuse(vf, "e%d isn't set on the way", a[0]);
        return want_class(vf, a[1], CLASS_I64);
    case OP_INDEX:
        return want_class(vf, a[1], CLASS_I64);
    case OP_SETFILL:
        return want_class(vf, a[1], (int)type_class(vf->p->tensor[a[0]].type));
    case OP_STORE:
        return want_class(vf, a[2], (int)type_class(vf->p->tensor[a[0]].type));
    case OP_ACC:
        if (a[3] != type_class(vf->p->tensor[a[0]].type))
            return refuse(vf, "t%d has another class", a[0]);
        return check_fold(vf, a[2], a[3], a[4]);
    case OP_WSADD:
        if (a[3] != type_class(vf->p->tensor[a[0]].type))
            return refuse(vf, "t%d has another class", a[0]);
        return check_fold(vf, a[2], a[3], a[4]);
    case OP_WSCALL:
        return check_merging(vf, in);
    case OP_ICONST:
        if (vf->p->konst[a[1]].cls != CLASS_I64)
            return refuse(vf, "k%d isn't an i64", a[1]);
        return STC_OK;
    case OP_IMULADD:
        if (vf->p->konst[a[2]].cls != CLASS_I64)
            return refuse(vf, "k%d isn't an i64", a[2]);
        return STC_OK;
    default:
        return STC_OK;
    }
}

/* The class of what an instruction writes to value register a. */
static int value_class(const verifier *vf, const insn *in)
{
    const uint16_t *a = in->arg;
    switch (in->op) {
    case OP_CALL:
        return vf->p->fn[a[1]].result;
    case OP_CONST:
        return vf->p->konst[a[1]].cls;
    case OP_MOV:
        return class_of(vf, a[1]);
    case OP_LOAD:
        return (int)type_class(vf->p->tensor[a[1]].type);
    case OP_FN1:
    case OP_FN2:
    case OP_FN3:
        return (int)fn_result_class(a[1], (vclass)a[2]);
    case OP_CONV:
        return a[1];
    case OP_WRAP:
        return (int)type_class((stc_type)a[1]);
    case OP_FOLD:
        return a[2];
    default: /* ivalue, extent */
        return CLASS_I64;
    }
}

static stc_status write_operands(verifier *vf, const insn *in)
{
    const char *letters = ops[in->op].operands;
    if (in->op == OP_LOOP) return STC_OK; /* within the block: verify_loop */
    if (letters[0] == 'V')
        return cell_put(vf, vf->v0 + in->arg[0], 1 + (uint64_t)value_class(vf, in));
    if (letters[0] == 'I')
        return verify_own(vf, FILE_I, in->arg[0]) ? vf->cx->diag.status
                                                  : cell_known(vf, vf->i0 + in->arg[0]);
    if (letters[0] == 'X')
        return mask_known(vf, in->arg[0],
                          vf->cell[vf->m0 + in->arg[0]].bits | UINT64_C(1) << in->arg[1]);
    return STC_OK;
}

/* ---- control ------------------------------------------------------------------- */

uint64_t merge_bits(const merge_desc *m)
{
    return m->count < 64 ? (UINT64_C(1) << m->count) - 1 : UINT64_MAX;
}

stc_status verify_own(verifier *vf, int file, int x)
{
    for (int d = 0; d < vf->depth; d++) {
        const insn *in = &vf->p->code[vf->block[d].pc];
        if (in->op == OP_LOOP && in->arg[file == FILE_M] == x)
            return refuse(vf, "%s%d belongs to a loop around it", file_name[file], x);
    }
    return STC_OK;
}

static stc_status check_closes(verifier *vf, int open)
{
    if (vf->depth && vf->block[vf->depth - 1].op == open) return STC_OK;
    return refuse(vf, "it closes nothing: %s is open",
                  vf->depth ? ops[vf->block[vf->depth - 1].op].text : "no block");
}

static stc_status check_control(verifier *vf, const insn *in)
{
    switch (in->op) {
    case OP_LOOP:
        return verify_loop(vf, in);
    case OP_END:
        return check_closes(vf, OP_LOOP) ? vf->cx->diag.status : verify_loop(vf, in);
    case OP_SKIP:
        if (vf->cell[vf->m0 + in->arg[0]].bits != merge_bits(&vf->p->merge[in->arg[1]]))
            return refuse(vf, "m%d doesn't have the bits of g%d", in->arg[0], in->arg[1]);
        return loop_leave(vf, 1, true);
    case OP_WITHIN:
        return loop_leave(vf, 1, true);
    case OP_BREAK:
        return loop_leave(vf, in->arg[1] ? in->arg[1] : BLOCKS_MAX + 1, false);
    case OP_IF:
    case OP_WHILE:
        return block_push(vf, in->op, NULL);
    case OP_ELSE:
        if (check_closes(vf, OP_IF)) return vf->cx->diag.status;
        if (vf->block[vf->depth - 1].other >= 0) return refuse(vf, "a second else");
        return block_else(vf);
    case OP_ENDIF:
        return check_closes(vf, OP_IF) ? vf->cx->diag.status : block_endif(vf);
    case OP_TEST:
        return check_closes(vf, OP_WHILE) ? vf->cx->diag.status : loop_leave(vf, 1, false);
    case OP_ENDWHILE:
        return check_closes(vf, OP_WHILE) ? vf->cx->diag.status : loop_close(vf);
    case OP_SHARE:
        if (vf->fn || vf->depth || in[1].op != OP_LOOP)
            return refuse(vf, "expected in front of a loop outside all others");
        return STC_OK;
    default:
        return STC_OK;
    }
}

/* ---- workspaces ---------------------------------------------------------------- */

stc_status verify_integers(verifier *vf, int first, int n)
{
    for (int i = first; i < first + n; i++) {
        if (i >= vf->p->ni || !vf->cell[vf->i0 + i].v)
            return refuse(vf, "i%d is read before it is written", i);
        cell_read(vf, vf->i0 + i);
    }
    return STC_OK;
}

static stc_status check_workspace(verifier *vf, const insn *in)
{
    int t = in->arg[0];
    uint64_t next = ++vf->epoch << 2;
    if (in->op == OP_WSBEGIN)
        return cell_set(vf, vf->t0 + t, (cell){.v = next | T_COLLECTING});
    if (tensor_state(vf, t, T_COLLECTING)) return vf->cx->diag.status;
    if (in->op == OP_WSEND) return cell_set(vf, vf->t0 + t, (cell){.v = next | T_READY});
    return verify_integers(vf, in->arg[in->op == OP_WSCALL ? 2 : 1],
                           vf->p->tensor[t].order);
}

/* ---- the pass ------------------------------------------------------------------ */

static stc_status check_meaning(verifier *vf, const insn *in)
{
    switch (in->op) {
    case OP_OPEN:
    case OP_OPENAT:
    case OP_SUBSECT:
    case OP_LOCATE:
    case OP_SEEK:
    case OP_LOAD:
    case OP_FILLBIT:
    case OP_SPAN:
    case OP_POSITION:
        return verify_cursor(vf, in);
    case OP_BEGIN:
    case OP_SETFILL:
    case OP_AT:
    case OP_KEEP:
    case OP_STORE:
    case OP_ACC:
    case OP_FINISH:
    case OP_MOVE:
    case OP_CONVERT:
    case OP_PACK:
    case OP_UPDATE:
    case OP_BLOCK:
        return verify_result(vf, in);
    case OP_WSBEGIN:
    case OP_WSADD:
    case OP_WSCALL:
    case OP_WSEND:
        return check_workspace(vf, in);
    default:
        return check_control(vf, in);
    }
}

static stc_status check_insn(verifier *vf, const insn *in)
{
    if (in->op >= OP_COUNT) return refuse(vf, "there is no opcode %d", in->op);
    if (check_operands(vf, in) || check_value(vf, in)) return vf->cx->diag.status;
    const bool bit = in->op == OP_PRESENT || in->op == OP_FILLBIT || in->op == OP_MARK;
    if (bit && in->arg[1] > 63) return refuse(vf, "a mask has no bit %d", in->arg[1]);
    if (check_meaning(vf, in)) return vf->cx->diag.status;
    return write_operands(vf, in);
}

/* Instructions [begin, end), the last of which must be `last`, outside blocks. */
static stc_status check_range(verifier *vf, int begin, int end)
{
    for (vf->pc = begin; vf->pc < end; vf->pc++)
        if (check_insn(vf, &vf->p->code[vf->pc]) || verify_spend(vf, 1))
            return vf->cx->diag.status;
    return STC_OK;
}

static stc_status check_last(verifier *vf, int last, int op)
{
    vf->pc = last < 0 ? 0 : last;
    if (last < 0 || vf->p->code[last].op != op || vf->depth)
        return refuse(vf, "expected %s as the last instruction, outside blocks",
                      ops[op].text);
    return STC_OK;
}

static stc_status check_main(verifier *vf)
{
    const program *p = vf->p;
    for (int t = 0; t < p->ntensor; t++) /* inputs are whole from the start */
        if (p->tensor[t].role == ROLE_INPUT || p->tensor[t].role == ROLE_INOUT)
            vf->cell[vf->t0 + t].v = ++vf->epoch << 2 | T_READY;
    int from = 0, last = -1;
    for (int f = 0; f <= p->nfn; f++) {
        int to = f < p->nfn ? (int)p->fn[f].begin : p->ncode;
        if (check_range(vf, from, to)) return vf->cx->diag.status;
        if (to > from) last = to - 1;
        from = f < p->nfn ? (int)p->fn[f].end : to;
    }
    return check_last(vf, last, OP_HALT);
}

static stc_status check_function(verifier *vf, const user_fn *f)
{
    if (f->host) return STC_OK;
    vf->fn = f;
    vf->nv = vf->file[FILE_V].limit = f->nv;
    vf->depth = 0;
    vf->nlog = vf->nout = 0;
    memset(vf->cell, 0, (size_t)f->nv * sizeof *vf->cell);
    for (int k = 0; k < f->params; k++)
        vf->cell[vf->v0 + k].v = 1 + (uint64_t)f->cls[k];
    if (check_range(vf, (int)f->begin, (int)f->end)) return vf->cx->diag.status;
    return check_last(vf, (int)f->end - 1, OP_RETURN);
}

/* halt ends main code only, and only at its end. */
static stc_status check_halts(verifier *vf)
{
    const program *p = vf->p;
    int halts = 0;
    for (int k = 0; k < p->ncode; k++)
        if (p->code[k].op == OP_HALT && ++halts > 1) {
            vf->pc = k;
            return refuse(vf, "a second halt");
        }
    return STC_OK;
}

static stc_status set_up(verifier *vf)
{
    const program *p = vf->p;
    int nv = p->nv;
    for (int f = 0; f < p->nfn; f++)
        if (p->fn[f].nv > nv) nv = p->fn[f].nv;
    vf->nv = p->nv;
    vf->v0 = 0;
    vf->i0 = nv;
    vf->m0 = vf->i0 + p->ni;
    vf->c0 = vf->m0 + p->nm;
    vf->t0 = vf->c0 + p->nc;
    vf->p0 = vf->ncell = vf->t0 + p->ntensor;
    if (!(vf->place = arena_array(&vf->own, p->ntensor + 1, sizeof *vf->place)))
        return vf->cx->diag.status;
    for (int t = 0; t < p->ntensor; t++) {
        vf->place[t] = vf->ncell;
        if (p->tensor[t].role != ROLE_INPUT && p->tensor[t].role != ROLE_WORK)
            vf->ncell += p->tensor[t].fmt.levels;
    }
    const operand_file file[FILE_COUNT] = {
        [FILE_V] = {p->nv, vf->v0},  [FILE_I] = {p->ni, vf->i0}, [FILE_M] = {p->nm, vf->m0},
        [FILE_C] = {p->nc, vf->c0},  [FILE_T] = {p->ntensor, 0}, [FILE_E] = {p->next, 0},
        [FILE_K] = {p->nconst, 0},   [FILE_G] = {p->nmerge, 0},  [FILE_F] = {FN_COUNT, 0},
        [FILE_Y] = {CLASS_COUNT, 0}, [FILE_Z] = {TYPE_COUNT, 0}, [FILE_U] = {p->nfn, 0},
        [FILE_NUMBER] = {0x10000, 0}};
    memcpy(vf->file, file, sizeof file);
    vf->cell = arena_array(&vf->own, vf->ncell + 1, sizeof *vf->cell);
    vf->seen = arena_array(&vf->own, 2 * ((int64_t)vf->ncell + 1), sizeof *vf->seen);
    if (!vf->cell || !vf->seen) return vf->cx->diag.status;
    vf->changed = vf->seen + vf->ncell + 1;
    return STC_OK;
}

stc_status program_verify(const program *p)
{
    stc_status status = verify_tables(p);
    if (status) return status;
    verifier vf;
    memset(&vf, 0, offsetof(verifier, block));
    vf.depth = 0;
    vf.cx = p->cx;
    vf.p = p;
    arena_init(&vf.own, p->cx);
    status = set_up(&vf);
    if (!status) status = check_halts(&vf);
    if (!status) status = check_main(&vf);
    for (int f = 0; f < p->nfn && !status; f++)
        status = check_function(&vf, &p->fn[f]);
    arena_free(&vf.own);
    return status;
}
