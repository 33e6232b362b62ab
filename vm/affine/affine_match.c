/* affine_match.c: reads a nest of loops off its base operations (affine.h): integers and
 * cursors as linear in the loops' indices (linear.h), values as products of loads and
 * scalars, and the one sink. What isn't linear, or does something besides adding one
 * product to one place, isn't matched, nor what has a second operand that is walked: other
 * tiers run it. Nothing depends on the order of the loops or on formats.
 */
#include "affine.h"
#include "../super/super.h"
#include <string.h>

enum { AFFINE_PRODUCTS = 16 };

/* A value: a product of loads and scalars, as sets of their numbers. */
typedef struct affine_product {
    uint8_t loads, scalars;
} affine_product;

typedef struct affine_matcher {
    linear in; /* integers and places; `full` tells of products, too */
    machine *mc;
    affine *a;
    void *room;        /* for `in`, whose value registers have products          */
    uint16_t *k;       /* value registers → constants that no product has yet   */
    uint16_t *k_depth; /* … and the depth at which they are set                 */
    affine_product product[AFFINE_PRODUCTS];
    int nproduct, depth; /* depth: loops around what is read                    */
    int times;           /* the function of products, FN_NONE: none so far      */
    bool sunk;
    bool outer; /* there are loops around the nest              */
    /* A value register that collects the sum of a place, which is stored below. */
    uint16_t sum;
    int sum_depth;
    uint16_t told, mark; /* a register: it had a term; its bit; ROOT: there is none */
} affine_matcher;

/* A nest from loop l on, of which nothing is read yet. */
static void read_begin(affine_matcher *m, affine *a, const loop *l)
{
    const int nv = m->mc->p->nv;
    m->a = a;
    m->k_depth = m->k + nv;
    linear_begin(&m->in, m->mc, a->place, m->room);
    memset(m->k, 0xff, 2 * (size_t)nv * sizeof *m->k);
    m->nproduct = m->depth = 0;
    m->times = FN_NONE;
    m->sunk = false;
    m->outer = l->outer;
    m->told = m->mark = ROOT;
}

/* ---- products -------------------------------------------------------------------- */

static void new_product(affine_matcher *m, uint16_t reg, affine_product x)
{
    m->in.full |= m->nproduct == AFFINE_PRODUCTS;
    m->nproduct -= m->nproduct == AFFINE_PRODUCTS;
    m->product[m->nproduct] = x;
    m->in.v[reg] = (uint16_t)m->nproduct++;
    m->k[reg] = LINEAR_UNSET;
}

static void new_scalar(affine_matcher *m, uint16_t reg, bool fixed, uint16_t id)
{
    affine *a = m->a;
    m->in.full |= a->nscalar == AFFINE_LOADS;
    a->nscalar -= a->nscalar == AFFINE_LOADS;
    a->scalar[a->nscalar].constant = fixed;
    a->scalar[a->nscalar].id = id;
    new_product(m, reg, (affine_product){.scalars = (uint8_t)(1 << a->nscalar++)});
}

static bool read_load(affine_matcher *m, const uint16_t *x)
{
    affine *a = m->a;
    const uint16_t at = linear_place_of(&m->in, x[2]);
    if (a->place[at].kind == LINEAR_OPEN) return false;
    m->in.full |= a->nload == AFFINE_LOADS;
    a->nload -= a->nload == AFFINE_LOADS;
    a->load[a->nload].tensor = x[1];
    a->load[a->nload].place = at;
    new_product(m, x[0], (affine_product){.loads = (uint8_t)(1 << a->nload++)});
    return true;
}

static affine_product read_value(affine_matcher *m, uint16_t reg)
{
    const uint16_t k = m->k[reg];
    if (m->in.v[reg] == LINEAR_UNSET)
        new_scalar(m, reg, k != LINEAR_UNSET, k == LINEAR_UNSET ? reg : k);
    return m->product[m->in.v[reg]];
}

static bool read_const(affine_matcher *m, const uint16_t *x)
{
    m->in.v[x[0]] = LINEAR_UNSET;
    m->k[x[0]] = x[1];
    m->k_depth[x[0]] = (uint16_t)m->depth;
    return true;
}

static bool read_times(affine_matcher *m, const uint16_t *x)
{
    if (m->times != FN_NONE && m->times != x[1]) return false;
    m->times = x[1];
    const affine_product p = read_value(m, x[3]), q = read_value(m, x[4]);
    if (p.loads & q.loads || p.scalars & q.scalars) return false; /* a square */
    new_product(m, x[0],
                (affine_product){p.loads | q.loads, (uint8_t)(p.scalars | q.scalars)});
    return true;
}

/* All that was loaded and nothing else is added. */
static bool read_sink(affine_matcher *m, sink x, uint16_t reg)
{
    affine *a = m->a;
    if (m->in.v[reg] == LINEAR_UNSET) return false;
    const affine_product p = m->product[m->in.v[reg]];
    if (p.loads != (1 << a->nload) - 1 || p.scalars != (1 << a->nscalar) - 1) return false;
    m->sunk = true;
    a->sink = x;
    a->cls = x.cls;
    return true;
}

static bool read_wsadd(affine_matcher *m, const uint16_t *x, const lop *at)
{
    for (int k = 0; k < m->mc->p->tensor[x[0]].order; k++) {
        const linear_form *f = linear_form_of(&m->in, (uint16_t)(x[1] + k));
        if (!f) return false;
        m->a->workspace[k] = *f;
    }
    return read_sink(m,
                     (sink){.kind = SINK_WSADD,
                            .cls = (uint8_t)x[3],
                            .fn = (int16_t)x[2],
                            .a = x[0],
                            .at = at},
                     x[4]);
}

static bool read_acc(affine_matcher *m, const uint16_t *x, const lop *at)
{
    const uint16_t to = linear_place_of(&m->in, x[1]);
    return read_sink(m,
                     (sink){.kind = SINK_ACC,
                            .cls = (uint8_t)x[3],
                            .fn = (int16_t)x[2],
                            .a = x[0],
                            .b = to,
                            .at = at},
                     x[4]);
}

/* The sum so far, from a constant on, and a product. */
static bool read_sum(affine_matcher *m, const uint16_t *x, const lop *at)
{
    m->sum = x[0];
    m->sum_depth = m->depth;
    return read_sink(
        m, (sink){.kind = SINK_STORE, .cls = (uint8_t)x[2], .fn = (int16_t)x[1], .at = at},
        x[4]);
}

/* Behind the sum: a register that tells whether it had a term, from 0 on. */
static bool read_told(affine_matcher *m, const uint16_t *x)
{
    const constant *konst = m->mc->p->konst;
    const uint16_t from = m->k[x[0]], by = m->k[x[4]];
    if (x[1] != FN_BITOR || x[2] != CLASS_I64 || x[3] != x[0] || x[0] == m->sum ||
        from == LINEAR_UNSET || by == LINEAR_UNSET || m->told != ROOT ||
        m->depth != m->sum_depth)
        return false;
    m->told = x[0];
    return konst[from].v.i64 == 0 && konst[by].v.i64 == -1;
}

/* … which becomes a bit of the mask of the loop that stores, */
static bool read_mark(affine_matcher *m, const uint16_t *x)
{
    m->mark = x[1];
    return m->told != ROOT && x[2] == m->told && m->k_depth[m->told] == m->depth &&
           x[0] == m->a->index[m->depth - 1]->mask && x[1] < MERGE_TABLE_MAX;
}

/* … so that only sums that had one are stored. */
static bool read_told_skip(affine_matcher *m, const uint16_t *x)
{
    const merge_desc *g = &m->mc->p->merge[x[1]];
    if (m->mark == ROOT || x[0] != m->a->index[m->depth - 1]->mask ||
        g->count > MERGE_TABLE_MAX || m->mark >= g->count)
        return false;
    const int all = (1 << g->count) - 1;
    m->a->told = true;
    return g->produce >> all & 1 && !(g->produce >> (all & ~(1 << m->mark)) & 1);
}

static bool read_behind(affine_matcher *m, const insn *in)
{
    const uint16_t *x = in->arg;
    switch (in->op) {
    case OP_CONST:
        return x[0] != m->sum && x[0] != m->told && read_const(m, x);
    case OP_FN2:
        return read_told(m, x);
    case OP_MARK:
        return read_mark(m, x);
    default:
        return in->op == OP_SKIP && read_told_skip(m, x);
    }
}

static bool sums_up(const affine_matcher *m, const uint16_t *x)
{
    return x[0] == x[3] && m->k[x[0]] != LINEAR_UNSET;
}

static bool has_places(const format *f)
{
    for (int l = 0; l < f->levels; l++)
        if (!(f->level[l].kind->caps & CAP_INSERT)) return false;
    return true;
}

/* The loops around the store are one place each, so that it is the only one there: as
 * if it were added to the constant that the sum began with. */
static bool stores_once(const affine_matcher *m, uint16_t at)
{
    const affine *a = m->a;
    uint64_t alone = 0;
    if (m->outer) return false;
    for (; at; at = a->place[at].up) {
        int n = 0, last = 0;
        if (a->place[at].kind != LINEAR_PLACED) return false;
        for (int d = 0; d < a->nindex; d++)
            if (a->place[at].at.coef[d]) n++, last = d;
        if (n == 1) alone |= UINT64_C(1) << last;
    }
    const uint64_t around = (UINT64_C(1) << m->depth) - 1;
    return (alone & around) == around;
}

/* The outermost loop alone is around the store, which is of sums that had a term, and goes
 * through a fiber of the last level in order: it visits everything, or the subsections that
 * hold something. */
static bool stores_in_order(const affine_matcher *m, uint16_t at, const format *f)
{
    const linear_place *x = &m->a->place[at], *up = &m->a->place[x->up];
    const loop *l = m->a->index[0];
    if (!m->a->told || m->depth != 1 || x->kind != LINEAR_PLACED ||
        (up->kind != LINEAR_ROOT && up->kind != LINEAR_GIVEN))
        return false;
    for (int d = 0; d < AFFINE_INDICES; d++)
        if (d ? x->at.coef[d] != 0 : x->at.coef[d] <= 0) return false;
    const level_kind *leaf = f->level[x->level].kind;
    return leaf->append_room && (l->merge->universe || l->subsections);
}

static bool read_store(affine_matcher *m, const uint16_t *x, const lop *store)
{
    affine *a = m->a;
    const format *f = &m->mc->p->tensor[x[0]].fmt;
    const uint16_t at = x[1] == ROOT ? 0 : m->in.at[x[1]];
    if (a->sink.kind != SINK_STORE || x[2] != m->sum || at == LINEAR_UNSET ||
        m->k_depth[m->sum] != m->depth)
        return false;
    a->sink.a = x[0];
    a->sink.b = at;
    a->sink.at = store;
    a->stored = true;
    a->start = m->k[m->sum];
    a->cursor = x[1];
    if (!has_places(f)) return stores_in_order(m, at, f);
    a->sink.kind = SINK_ACC;
    return !a->told && stores_once(m, at);
}

/* ---- instructions --------------------------------------------------------- */

/* Rounds in which the sum in a register isn't within an extent are left out. */
static bool read_within(affine_matcher *m, const uint16_t *x)
{
    affine *a = m->a;
    const linear_form *f = linear_form_of(&m->in, x[0]);
    if (!f || a->nbound == AFFINE_BOUNDS) return false;
    a->bound[a->nbound].at = *f;
    a->bound[a->nbound++].extent = x[1];
    m->in.shifted = true;
    return true;
}

/* All operands stand where the nest is run: these masks have all bits. */
static bool read_skip(const affine_matcher *m, const uint16_t *x)
{
    const merge_desc *g = &m->mc->p->merge[x[1]];
    return g->count < MERGE_TABLE_MAX && g->produce >> ((1 << g->count) - 1) & 1;
}

static bool read_insn(affine_matcher *m, int k)
{
    const insn *in = insn_of(m->mc, k);
    const uint16_t *x = in->arg;
    const lop *at = &m->mc->code[k];
    if (m->sunk && in->op != OP_STORE && in->op != OP_KEEP) return read_behind(m, in);
    switch (in->op) {
    case OP_WITHIN:
        return read_within(m, x);
    case OP_PRESENT:
        return m->in.at[x[2]] != LINEAR_UNSET &&
               m->a->place[m->in.at[x[2]]].kind == LINEAR_DENSE;
    case OP_SKIP:
        return read_skip(m, x);
    case OP_CONST:
        return read_const(m, x);
    case OP_LOAD:
        return read_load(m, x);
    case OP_FN2:
        return sums_up(m, x) ? read_sum(m, x, at) : read_times(m, x);
    case OP_STORE:
        return read_store(m, x, at);
    case OP_KEEP: /* results are ranges: all places are kept anyway */
        return m->sunk && x[0] == m->a->sink.a;
    case OP_ACC:
        return read_acc(m, x, at);
    case OP_WSADD:
        return read_wsadd(m, x, at);
    default:
        return linear_step(&m->in, in);
    }
}

/* ---- loops ------------------------------------------------------------------------- */

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
            if (!read_insn(m, k)) return false;
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
    read_begin(m, a, l);
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
