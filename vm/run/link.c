/* link.c: from a verified program to threaded code.
 *
 * Takes a machine with its program, allocates all of its fixed-size state in
 * one block, and gives each instruction its handler, its jump target and what
 * its operands lead to. Trusts the verifier: blocks nest, operands are in
 * range. Jumps that lead forward wait in a chain (through u.to) at the block
 * they leave.
 */
#include "../nest/uses.h"
#include "../threads/parallel.h"
#include "../super/super_tally.h"
#include <stdio.h>
#include <string.h>

typedef struct block {
    int op, first;
    loop *loop;
    lop *leave, *skip; /* jumps behind the block's end; to its end */
} block;

typedef struct linker {
    machine *mc;
    block block[BLOCKS_MAX];
    int depth;
    int loops, lanes, subs; /* handed out so far */
} linker;

/* ---- the block ----------------------------------------------------------------- */

typedef struct layout {
    size_t size;
    char *base; /* NULL while sizes are added up */
} layout;

/* Where the next array lies; NULL while sizes are added up. */
static void *laid(layout *l, int64_t count, size_t size)
{
    void *at = l->base ? l->base + l->size : NULL;
    l->size += ((size_t)count * size + 15) & ~(size_t)15;
    return at;
}

static void count_loops(const program *p, int *loops, int *lanes, int *subs)
{
    *loops = *lanes = *subs = 0;
    for (int i = 0; i < p->ncode; i++) {
        *subs += p->code[i].op == OP_SUBSECT;
        if (p->code[i].op != OP_LOOP) continue;
        ++*loops;
        *lanes += p->merge[p->code[i].arg[2]].count;
    }
}

/* Run twice: for the size, then for the places. */
static void lay_out(machine *mc, layout *l, int loops, int lanes, int levels)
{
    const program *p = mc->p;
    mc->code = laid(l, p->ncode, sizeof *mc->code);
    mc->v = laid(l, p->nv, sizeof *mc->v);
    mc->i = laid(l, p->ni, sizeof *mc->i);
    mc->m = laid(l, p->nm, sizeof *mc->m);
    mc->c = laid(l, p->nc, sizeof *mc->c);
    mc->ext = laid(l, p->next + 2 * parallel_loops(mc), sizeof *mc->ext);
    mc->kept_ext = laid(l, p->kept ? p->next : 0, sizeof *mc->kept_ext);
    mc->slot = laid(l, p->ntensor, sizeof *mc->slot);
    mc->loops = laid(l, loops, sizeof *mc->loops);
    mc->lanes = laid(l, lanes, sizeof *mc->lanes);
    mc->subs = laid(l, mc->nsub, sizeof *mc->subs);
    mc->origin = laid(l, p->ncode, sizeof *mc->origin);
    mc->named = laid(l, p->ntensor, sizeof *mc->named);
    mc->entry = laid(l, p->nfn, sizeof *mc->entry);
    asm_level *lev = laid(l, levels, sizeof *lev);
    if (mc->cx->profile) {
        mc->profile = laid(l, p->ncode, sizeof *mc->profile);
        mc->tally = laid(l, TALLY_COUNT, sizeof *mc->tally);
        mc->ntally = TALLY_COUNT;
    }
    if (!l->base) return;
    for (int t = 0; t < p->ntensor; t++) {
        mc->slot[t].row = &p->tensor[t];
        mc->slot[t].fill = type_round(p->tensor[t].type, p->tensor[t].fill);
        mc->slot[t].lev = lev;
        lev += p->tensor[t].fmt.levels;
    }
}

/* All tensors but one are bound, and that one is made. */
static bool reads_bound(const program *p)
{
    int made = 0;
    for (int t = 0; t < p->ntensor; t++) {
        const uint8_t role = p->tensor[t].role;
        made += role == ROLE_INPUT ? 0 : role == ROLE_OUTPUT ? 1 : 2;
    }
    return made < 2;
}

static stc_status allocate(machine *mc)
{
    int loops, lanes, levels = 0;
    count_loops(mc->p, &loops, &lanes, &mc->nsub);
    for (int t = 0; t < mc->p->ntensor; t++)
        levels += mc->p->tensor[t].fmt.levels;
    layout l = {0};
    lay_out(mc, &l, loops, lanes, levels);
    char *base = mem_zero(mc->cx, 1, l.size);
    if (!base) return mc->cx->diag.status;
    mc->block = base;
    mc->block_size = l.size;
    l = (layout){.base = base};
    lay_out(mc, &l, loops, lanes, levels);
    mc->nloop = loops;
    return STC_OK;
}

/* ---- loops --------------------------------------------------------------------- */

static int kind_of(uint8_t role)
{
    return role == MERGE_WALK ? 0 : role == MERGE_KNOWN ? 2 : 1;
}

static loop *link_loop(linker *k, lop *at)
{
    machine *mc = k->mc;
    loop *l = &mc->loops[k->loops++];
    const merge_desc *m = &mc->p->merge[at->arg[2]];
    l->merge = m;
    l->index = at->arg[0];
    l->mask = at->arg[1];
    l->lane = mc->lanes + k->lanes;
    l->first = (int)(at - mc->code);
    l->alone = k->depth == 0;
    l->body = at + 1;
    for (int pass = 0; pass < 3; pass++) {
        for (int b = 0; b < m->count; b++) {
            const merge_operand *op = &m->operand[b];
            if (kind_of(op->role) != pass) continue;
            uint64_t bit = (uint64_t)1 << b;
            mc->lanes[k->lanes++] = (lane){.c = &mc->c[op->cursor], .bit = bit, .op = op};
            if (pass == 1) l->placed |= bit;
            if (pass < 2 && mc->c[op->cursor].subsections) l->subsections |= bit;
            ++*(pass == 0 ? &l->nwalk : pass == 1 ? &l->nplace : &l->nknown);
        }
    }
    if (!l->nknown) loop_tables(l);
    for (int d = k->depth - 1; d >= 0 && !l->outer; d--)
        l->outer = k->block[d].loop;
    return l;
}

/* ---- blocks and jumps ---------------------------------------------------------- */

static block *push(linker *k, lop *at)
{
    block *b = &k->block[k->depth++];
    *b = (block){.op = at->op, .first = (int)(at - k->mc->code)};
    return b;
}

/* Sends a chain of waiting jumps to their target. */
static void resolve(lop *chain, const lop *to)
{
    while (chain) {
        lop *next = (lop *)chain->u.to;
        chain->u.to = to;
        chain = next;
    }
}

static void await(lop **chain, lop *jump)
{
    jump->u.to = *chain;
    *chain = jump;
}

static bool is_loop(const block *b)
{
    return b->op == LOP_LOOP || b->op == LOP_WHILE;
}

/* The n-th enclosing loop or while, from 1: there are so many. */
static block *enclosing(linker *k, int n)
{
    block *b = &k->block[k->depth - 1];
    while (!is_loop(b) || --n)
        b--;
    return b;
}

static block *innermost(linker *k, int op)
{
    block *b = &k->block[k->depth - 1];
    while (b->op != op)
        b--;
    return b;
}

static void link_end(linker *k, lop *at)
{
    block *b = &k->block[--k->depth];
    resolve(b->skip, at);
    resolve(b->leave, at + 1);
    if (at->op == LOP_END) {
        at->u.loop = b->loop;
        b->loop->last = (int)(at - k->mc->code);
        b->loop->exit = at + 1;
    } else if (at->op == LOP_ENDWHILE) {
        at->u.to = &k->mc->code[b->first];
    }
}

static void link_control(linker *k, lop *at)
{
    switch (at->op) {
    case LOP_LOOP: {
        loop *l = link_loop(k, at);
        at->u.loop = l;
        push(k, at)->loop = l;
        break;
    }
    case LOP_WHILE:
        push(k, at);
        break;
    case LOP_IF:
        await(&push(k, at)->skip, at);
        break;
    case LOP_ELSE: {
        block *b = &k->block[k->depth - 1];
        resolve(b->skip, at + 1);
        b->skip = NULL;
        await(&b->skip, at);
        break;
    }
    case LOP_SKIP:
    case LOP_WITHIN:
        await(&innermost(k, LOP_LOOP)->skip, at);
        break;
    case LOP_TEST:
        await(&innermost(k, LOP_WHILE)->leave, at);
        break;
    case LOP_BREAK:
        await(&enclosing(k, at->arg[1])->leave, at);
        break;
    case LOP_END:
    case LOP_ENDIF:
    case LOP_ENDWHILE:
        link_end(k, at);
        break;
    default:
        break;
    }
}

/* ---- functions of the host's ------------------------------------------------------ */

static const host_form *host_of(const ctx *cx, const user_fn *f)
{
    return host_find(cx, f->name, f->params, f->cls, f->result);
}

static stc_status check_hosts(const machine *mc)
{
    for (int k = 0; k < mc->p->nfn; k++) {
        const user_fn *f = &mc->p->fn[k];
        char list[64];
        size_t n = 0;
        if (!f->host || host_of(mc->cx, f)) continue;
        list[0] = 0;
        for (int i = 0; i < f->params; i++) /* at most 8 */
            n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "",
                                  class_name(f->cls[i]));
        return fail(mc->cx, STC_ERR_PROGRAM,
                    "the program calls the host's function `%s`(%s) of class %s: expected "
                    "it to be registered with the machine",
                    f->name, list, class_name(f->result));
    }
    return STC_OK;
}

/* ---- instructions -------------------------------------------------------------- */

static void link_one(linker *k, lop *at, const insn *in)
{
    const program *p = k->mc->p;
    at->op = in->op;
    memcpy(at->arg, in->arg, sizeof at->arg);
    switch (in->op) {
    case OP_CONST:
    case OP_ICONST:
        at->u.k = &p->konst[in->arg[1]];
        break;
    case OP_IMULADD:
        at->u.k = &p->konst[in->arg[2]];
        break;
    case OP_SPAN:
        at->u.k = &p->konst[in->arg[6]];
        break;
    case OP_OPENAT:
        at->u.k = &p->konst[in->arg[5]];
        break;
    case OP_SUBSECT:
        at->u.sub = &k->mc->subs[k->subs++];
        k->mc->c[in->arg[0]].subsections = true;
        break;
    case OP_FN1:
    case OP_FN2:
    case OP_FN3:
        at->u.fn = fn_scalar_of(in->arg[1], in->arg[2]);
        break;
    case OP_ACC:
        at->u.fn = fn_scalar_of(in->arg[2], in->arg[3]);
        break;
    case OP_CALL:
        at->u.ufn = &p->fn[in->arg[1]];
        if (!at->u.ufn->host) break;
        at->op = LOP_HOST;
        at->u.host = host_of(k->mc->cx, at->u.ufn);
        break;
    case OP_WSCALL:
        at->u.ufn = &p->fn[in->arg[1]];
        break;
    case OP_LOAD:
        if (in->arg[2] != ROOT)
            at->op = (uint16_t)(LOP_LOAD_BOOL + p->tensor[in->arg[1]].type);
        break;
    default:
        link_control(k, at);
    }
    machine_patch(k->mc, at, at->op);
}

static int link_range(linker *k, int to, int begin, int end)
{
    machine *mc = k->mc;
    for (int i = begin; i < end; i++, to++) {
        mc->origin[to] = (uint32_t)i;
        link_one(k, &mc->code[to], &mc->p->code[i]);
    }
    return to;
}

/* Main code without the functions that stand in it, then the functions. */
static void link_code(linker *k)
{
    machine *mc = k->mc;
    const program *p = mc->p;
    int to = 0, from = 0;
    for (int f = 0; f < p->nfn; f++) {
        to = link_range(k, to, from, (int)p->fn[f].begin);
        from = (int)p->fn[f].end;
    }
    mc->nmain = to = link_range(k, to, from, p->ncode);
    for (int f = 0; f < p->nfn; f++) {
        mc->entry[f] = to;
        to = link_range(k, to, (int)p->fn[f].begin, (int)p->fn[f].end);
    }
    mc->ncode = to;
}

static void profile_all(machine *mc)
{
    for (int i = 0; i < mc->ncode; i++) {
        mc->profile[i].op = mc->code[i].op;
        machine_patch(mc, &mc->code[i], LOP_PROFILE);
    }
}

stc_status machine_link(machine *mc)
{
    if (check_hosts(mc) || allocate(mc)) return mc->cx->diag.status;
    mc->labels = machine_labels();
    mc->reads_bound = !mc->worker && reads_bound(mc->p);
    linker k;
    k.mc = mc;
    k.depth = k.loops = k.lanes = k.subs = 0;
    link_code(&k);
    tensors_named(mc->p, mc->named);
    if (mc->worker) parallel_narrow(mc);
    if (!mc->cx->no_super && machine_fuse(mc)) return mc->cx->diag.status;
    if (mc->profile) profile_all(mc);
    return STC_OK;
}
