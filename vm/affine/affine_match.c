/* affine_match.c: reads a nest of loops off its base operations, as places and
 * products that are linear in the loops' indices (affine.h): loops and what they walk
 * here, instructions in affine_read.c. Nothing depends on the order of the loops or on
 * formats: what has a second operand that is walked isn't matched, and runs by other
 * tiers.
 */
#include "affine_match.h"
#include "../super/super.h"
#include <string.h>

/* A merge that visits what its walker has, or everything, if the located operands
 * are present. Rounds that subsections save would add nothing. */
static bool read_merge(affine_matcher *m, const merge_desc *g, int d)
{
    uint64_t all = 0, walker = 0;
    uint16_t at[MERGE_TABLE_MAX];
    bool some = g->universe;
    if (g->count > MERGE_TABLE_MAX || !linear_merge(&m->in, g, d, at)) return false;
    for (int b = 0; b < g->count; b++) {
        const int role = g->operand[b].role;
        all |= UINT64_C(1) << b;
        some |= !at[b];
        if (!at[b] || role == MERGE_LOCATE || role == MERGE_KNOWN) continue;
        if (role == MERGE_FOLLOW || walker) return false;
        walker = UINT64_C(1) << b;
    }
    if (!(g->produce >> all & 1)) return false;
    return walker ? !g->universe && !(g->produce >> (all & ~walker) & 1) : some;
}

static bool read_loop(affine_matcher *m, const loop *l)
{
    affine *a = m->a;
    const int d = a->nindex;
    if (d == AFFINE_INDICES) return false;
    a->index[a->nindex++] = (loop *)l;
    linear_index(&m->in, l->index, d);
    if (!read_merge(m, l->merge, d)) return false;
    m->depth = d + 1;
    for (int k = l->first + 1; k < l->last; k++) {
        if (insn_of(m->mc, k)->op != OP_LOOP) {
            if (!affine_read_insn(m, k)) return false;
            continue;
        }
        const loop *in = loop_of(m->mc, k);
        if (m->sunk || !read_loop(m, in)) return false;
        m->depth = d + 1;
        k = in->last;
    }
    return m->sunk;
}

/* ---- the sparse operand ---------------------------------------------------------- */

static bool has_walks(const affine *a, uint16_t at)
{
    for (; at; at = a->place[at].up) {
        if (a->place[at].kind == LINEAR_WALKED) return true;
        if (a->place[at].kind == LINEAR_GIVEN) break;
    }
    return false;
}

/* Exactly one load is of a walked tensor; it comes first. All that is walked
 * belongs to it. */
static bool one_sparse(affine *a)
{
    int sparse = -1, walks = 0;
    for (int k = 0; k < a->nload; k++) {
        if (!has_walks(a, a->load[k].place)) continue;
        if (sparse >= 0) return false;
        sparse = k;
    }
    if (sparse < 0) return false;
    const affine_load first = a->load[sparse];
    a->load[sparse] = a->load[0];
    a->load[0] = first;
    for (int k = 1; k < a->nplace; k++)
        walks += a->place[k].kind == LINEAR_WALKED;
    for (uint16_t at = first.place; at; at = a->place[at].up) {
        walks -= a->place[at].kind == LINEAR_WALKED;
        if (a->place[at].kind == LINEAR_GIVEN ||
            (a->place[at].kind == LINEAR_WALKED && a->place[at].cursor != ROOT))
            break;
    }
    return walks == 0;
}

/* All arrays have elements of one type, for which there are kernels of the nest's two
 * functions; what meets in rows of a workspace of its own, or within blocks, is summed. */
static bool typed(const affine_matcher *m)
{
    affine *a = m->a;
    const program *p = m->mc->p;
    const stc_type t = p->tensor[a->sink.a].type;
    a->kernel = affine_kernel(t, a->sink.fn, m->times);
    if (a->kernel < 0) return false;
    for (int k = 0; k < a->nload; k++)
        if (p->tensor[a->load[k].tensor].type != t) return false;
    if (a->sink.kind != SINK_ACC && t != class_type((vclass)a->cls)) return false;
    return a->sink.fn == FN_ADD || (a->sink.kind != SINK_STORE && !a->nbound);
}

/* Whether the nest's is the only instruction that stores into tensor t. */
static bool alone(const program *p, uint16_t t)
{
    int n = 0;
    for (int k = 0; k < p->ncode; k++)
        n += (p->code[k].op == OP_ACC || p->code[k].op == OP_STORE) &&
             p->code[k].arg[0] == t;
    return n == 1;
}

static bool match(affine_matcher *m, affine *a, loop *l)
{
    const program *p = m->mc->p;
    memset(a, 0, sizeof *a);
    affine_read_begin(m, a, l);
    if (!read_loop(m, l) || m->in.full || !m->in.shifted || a->nindex < 2 ||
        (a->sink.kind == SINK_STORE && !a->stored))
        return false;
    a->nplace = m->in.nplace;
    a->alone = a->sink.kind == SINK_ACC && alone(p, a->sink.a);
    return one_sparse(a) && typed(m) &&
           (a->alone || !a->stored || a->sink.kind == SINK_STORE);
}

/* Whether a program has anything of the kind: most haven't. */
bool affine_possible(const program *p)
{
    for (int k = 0; k < p->ncode; k++)
        if (p->code[k].op == OP_OPENAT || p->code[k].op == OP_WITHIN) return true;
    for (int k = 0; k < p->nmerge; k++)
        for (int b = 0; b < p->merge[k].count; b++)
            if (p->merge[k].operand[b].role == MERGE_LOCATE &&
                (p->merge[k].operand[b].coef != 1 || p->merge[k].operand[b].shift != ROOT))
                return true;
    return false;
}

static void affine_describe(const super *base, textbuf *out)
{
    const affine *a = (const affine *)base;
    text_add(out, "%s nest of %d -> %s", a->nbound ? "blocks" : "affine", a->nindex,
             a->sink.kind == SINK_ACC     ? "accumulate"
             : a->sink.kind == SINK_STORE ? "store"
                                          : "workspace");
}

stc_status affine_fuse(machine *mc, loop *l, const value_reads *reads, super **out)
{
    const program *p = mc->p;
    const size_t constants = 2 * (size_t)p->nv * sizeof(uint16_t);
    const size_t size = sizeof(affine_matcher) + linear_size(p) + constants;
    (void)reads;
    if (l + 1 == mc->loops + mc->nloop || l[1].outer != l) return STC_OK; /* no nest */
    affine *a = mem_alloc(mc->cx, sizeof *a);
    affine_matcher *m = a ? mem_alloc(mc->cx, size) : NULL;
    bool found = false;
    if (m) {
        m->mc = mc;
        m->room = m + 1;
        m->k = (uint16_t *)((char *)m->room + linear_size(p));
        found = match(m, a, l);
    }
    if (found) {
        a->base = (super){.run = affine_run,
                          .free = affine_release,
                          .describe = affine_describe,
                          .loop = l,
                          .next = l->exit,
                          .tier = 3,
                          .any_order = true,
                          .size = sizeof *a};
        /* what runs a loop around would look for each sum's entries instead */
        for (loop *o = l->outer; o && a->sink.kind == SINK_STORE; o = o->outer)
            machine_take_back(mc, o);
        *out = &a->base;
    } else {
        mem_free(mc->cx, a, sizeof *a);
    }
    const bool failed = !a || !m;
    mem_free(mc->cx, m, size);
    return failed ? mc->cx->diag.status : STC_OK;
}
