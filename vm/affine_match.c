/* affine_match.c: reads a nest of loops off its base operations, as places and
 * products that are linear in the loops' indices (affine.h). Nothing depends on
 * the order of the loops or on formats: what isn't linear, or has a second
 * operand that is walked, or does something besides adding one product to one
 * place, isn't matched, and runs by other tiers.
 */
#include "affine.h"
#include "super.h"
#include <stdio.h>
#include <string.h>

#define UNSET 0xffff
#define UNKNOWN 0xfffe /* an integer that isn't linear */

enum { PRODUCTS = 16, FORMS = 40 };

/* A value: a product of loads and scalars, as sets of their numbers. */
typedef struct product {
    uint8_t loads, scalars;
} product;

typedef struct matcher {
    machine *mc;
    affine *a;
    uint16_t *i, *v, *c; /* registers → forms, products, places */
    uint16_t *k;         /* value registers → constants that no product has yet */
    uint16_t *k_depth;   /* … and the depth at which they are set              */
    affine_form form[FORMS];
    product product[PRODUCTS];
    int nform, nproduct, depth; /* depth: loops around what is read */
    bool shifted;               /* something is read at more than a bare index */
    bool sunk;
    bool outer; /* there are loops around the nest              */
    /* A value register that collects the sum of a place, which is stored below. */
    uint16_t sum;
} matcher;

/* ---- forms ----------------------------------------------------------------------- */

static int new_form(matcher *m)
{
    if (m->nform == FORMS) return -1;
    m->form[m->nform] = (affine_form){.k = 0};
    return m->nform++;
}

/* What an integer register holds; outer loops' are taken as they are. */
static const affine_form *read_form(matcher *m, uint16_t reg)
{
    if (m->i[reg] == UNSET) {
        const int f = new_form(m);
        if (f < 0) return NULL;
        m->form[f].live = 1;
        m->form[f].reg[0] = reg;
        m->form[f].times[0] = 1;
        m->i[reg] = (uint16_t)f;
    }
    return m->i[reg] == UNKNOWN ? NULL : &m->form[m->i[reg]];
}

/* out += k * x; false on overflow, or too many registers. */
static bool add_form(affine_form *out, const affine_form *x, int64_t k)
{
    int64_t t;
    bool ok =
        !__builtin_mul_overflow(x->k, k, &t) && !__builtin_add_overflow(out->k, t, &out->k);
    for (int d = 0; ok && d < AFFINE_INDICES; d++)
        ok = !__builtin_mul_overflow(x->coef[d], k, &t) &&
             !__builtin_add_overflow(out->coef[d], t, &out->coef[d]);
    for (int r = 0; ok && r < x->live; r++) {
        if (out->live == AFFINE_LIVE) return false;
        ok = !__builtin_mul_overflow(x->times[r], k, &t);
        out->reg[out->live] = x->reg[r];
        out->times[out->live++] = t;
    }
    return ok;
}

static bool read_muladd(matcher *m, const uint16_t *a)
{
    if (m->i[a[1]] == UNKNOWN || m->i[a[3]] == UNKNOWN) {
        m->i[a[0]] = UNKNOWN;
        return true;
    }
    const affine_form *x = read_form(m, a[1]), *y = read_form(m, a[3]);
    const int f = new_form(m);
    if (f < 0 || !x || !y) return false;
    m->i[a[0]] = (uint16_t)f;
    return add_form(&m->form[f], y, 1) &&
           add_form(&m->form[f], x, m->mc->p->konst[a[2]].v.i64);
}

/* ---- places ---------------------------------------------------------------------- */

static uint16_t new_place(matcher *m, affine_place x)
{
    if (m->a->nplace == AFFINE_PLACES) return UNSET;
    m->a->place[m->a->nplace] = x;
    return (uint16_t)m->a->nplace++;
}

static uint16_t read_place(matcher *m, uint16_t reg)
{
    if (reg == ROOT) return 0;
    if (m->c[reg] == UNSET)
        m->c[reg] = new_place(m, (affine_place){.kind = AFFINE_GIVEN, .cursor = reg});
    return m->c[reg];
}

/* Level l of tensor t below cursor `up`, at coef * index d + shift (d < 0: none). */
static bool stand(matcher *m, affine_kind kind, uint16_t reg, uint16_t t, uint16_t l,
                  uint16_t up, uint16_t shift, int d, int64_t coef)
{
    affine_place x = {.kind = (uint8_t)kind, .tensor = t, .level = l, .cursor = ROOT};
    x.up = read_place(m, up);
    if (x.up == UNSET) return false;
    if (shift != ROOT) {
        const affine_form *f = read_form(m, shift);
        if (!f || !add_form(&x.at, f, 1)) return false;
    }
    if (d >= 0) x.at.coef[d] = coef;
    m->c[reg] = new_place(m, x);
    return m->c[reg] != UNSET;
}

/* ---- products -------------------------------------------------------------------- */

static bool new_product(matcher *m, uint16_t reg, product x)
{
    if (m->nproduct == PRODUCTS) return false;
    m->product[m->nproduct] = x;
    m->v[reg] = (uint16_t)m->nproduct++;
    m->k[reg] = UNSET;
    return true;
}

static bool new_scalar(matcher *m, uint16_t reg, bool fixed, uint16_t id)
{
    affine *a = m->a;
    if (a->nscalar == AFFINE_LOADS) return false;
    a->scalar[a->nscalar].constant = fixed;
    a->scalar[a->nscalar].id = id;
    return new_product(m, reg, (product){.scalars = (uint8_t)(1 << a->nscalar++)});
}

static bool read_load(matcher *m, const uint16_t *x)
{
    affine *a = m->a;
    const uint16_t at = read_place(m, x[2]);
    if (at == UNSET || a->nload == AFFINE_LOADS || a->place[at].kind == AFFINE_OPEN)
        return false;
    a->load[a->nload].tensor = x[1];
    a->load[a->nload].place = at;
    return new_product(m, x[0], (product){.loads = (uint8_t)(1 << a->nload++)});
}

static bool read_value(matcher *m, uint16_t reg)
{
    if (m->v[reg] != UNSET) return true;
    const uint16_t k = m->k[reg];
    return k == UNSET ? new_scalar(m, reg, false, reg) : new_scalar(m, reg, true, k);
}

static bool read_const(matcher *m, const uint16_t *x)
{
    m->v[x[0]] = UNSET;
    m->k[x[0]] = x[1];
    m->k_depth[x[0]] = (uint16_t)m->depth;
    return true;
}

static bool read_times(matcher *m, const uint16_t *x)
{
    if (x[1] != FN_MUL || !read_value(m, x[3]) || !read_value(m, x[4])) return false;
    const product p = m->product[m->v[x[3]]], q = m->product[m->v[x[4]]];
    if (p.loads & q.loads || p.scalars & q.scalars) return false; /* a square */
    return new_product(m, x[0],
                       (product){p.loads | q.loads, (uint8_t)(p.scalars | q.scalars)});
}

/* All that was loaded and nothing else is added. */
static bool read_sink(matcher *m, sink x, uint16_t reg)
{
    affine *a = m->a;
    if (m->sunk || x.fn != FN_ADD || m->v[reg] == UNSET) return false;
    const product p = m->product[m->v[reg]];
    if (p.loads != (1 << a->nload) - 1 || p.scalars != (1 << a->nscalar) - 1) return false;
    m->sunk = true;
    a->sink = x;
    a->cls = x.cls;
    return true;
}

static bool read_wsadd(matcher *m, const uint16_t *x, const lop *at)
{
    for (int k = 0; k < m->mc->p->tensor[x[0]].order; k++) {
        const affine_form *f = read_form(m, (uint16_t)(x[1] + k));
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

static bool read_acc(matcher *m, const uint16_t *x, const lop *at)
{
    const uint16_t to = read_place(m, x[1]);
    if (to == UNSET) return false;
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
static bool read_sum(matcher *m, const uint16_t *x, const lop *at)
{
    if (x[0] != x[3] || m->k[x[0]] == UNSET) return false;
    m->sum = x[0];
    return read_sink(
        m, (sink){.kind = SINK_STORE, .cls = (uint8_t)x[2], .fn = FN_ADD, .at = at}, x[4]);
}

static bool has_places(const format *f)
{
    for (int l = 0; l < f->levels; l++)
        if (!(f->level[l].kind->caps & CAP_INSERT)) return false;
    return true;
}

/* The loops around the store are one place each, so that it is the only one there: as
 * if it were added to the constant that the sum began with. */
static bool stores_once(const matcher *m, uint16_t at)
{
    const affine *a = m->a;
    uint64_t alone = 0;
    if (m->outer) return false;
    for (; at; at = a->place[at].up) {
        int n = 0, last = 0;
        if (a->place[at].kind != AFFINE_PLACED) return false;
        for (int d = 0; d < a->nindex; d++)
            if (a->place[at].at.coef[d]) n++, last = d;
        if (n == 1) alone |= UINT64_C(1) << last;
    }
    const uint64_t around = (UINT64_C(1) << m->depth) - 1;
    return (alone & around) == around;
}

/* The outermost loop alone is around the store, and goes through a fiber of the last
 * level in order: it visits everything, or the subsections that hold something. */
static bool stores_in_order(const matcher *m, uint16_t at, const format *f)
{
    const affine_place *x = &m->a->place[at], *up = &m->a->place[x->up];
    const loop *l = m->a->index[0];
    if (m->depth != 1 || x->kind != AFFINE_PLACED || x->level + 1 != f->levels ||
        (up->kind != AFFINE_ROOT && up->kind != AFFINE_GIVEN))
        return false;
    for (int d = 0; d < AFFINE_INDICES; d++)
        if (d ? x->at.coef[d] != 0 : x->at.coef[d] <= 0) return false;
    const level_kind *leaf = f->level[x->level].kind;
    return leaf->append_room && (l->merge->universe || l->subsections);
}

static bool read_store(matcher *m, const uint16_t *x, const lop *store)
{
    affine *a = m->a;
    const format *f = &m->mc->p->tensor[x[0]].fmt;
    const uint16_t at = x[1] == ROOT ? 0 : m->c[x[1]];
    if (a->sink.kind != SINK_STORE || x[2] != m->sum || at == UNSET ||
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
    return stores_once(m, at);
}

/* ---- instructions and loops --------------------------------------------------------- */

/* Rounds in which the sum in a register isn't within an extent are left out. */
static bool read_within(matcher *m, const uint16_t *x)
{
    affine *a = m->a;
    const affine_form *f = read_form(m, x[0]);
    if (!f || a->nbound == AFFINE_BOUNDS) return false;
    a->bound[a->nbound].at = *f;
    a->bound[a->nbound++].extent = x[1];
    m->shifted = true;
    return true;
}

/* All operands stand where the nest is run: these masks have all bits. */
static bool read_skip(const matcher *m, const uint16_t *x)
{
    const merge_desc *g = &m->mc->p->merge[x[1]];
    return g->count < MERGE_TABLE_MAX && g->produce >> ((1 << g->count) - 1) & 1;
}

static bool read_insn(matcher *m, int k)
{
    const insn *in = insn_of(m->mc, k);
    const uint16_t *x = in->arg;
    const lop *at = &m->mc->code[k];
    int f;
    if (m->sunk && in->op != OP_STORE && in->op != OP_KEEP) return false;
    switch (in->op) {
    case OP_ICONST:
        f = new_form(m);
        if (f < 0) return false;
        m->form[f].k = m->mc->p->konst[x[1]].v.i64;
        m->i[x[0]] = (uint16_t)f;
        return true;
    case OP_IEXTENT:
        m->i[x[0]] = UNKNOWN;
        return true;
    case OP_IMULADD:
        return read_muladd(m, x);
    case OP_SUBSECT:
        m->c[x[0]] = new_place(m, (affine_place){.kind = AFFINE_SUBSECT});
        return m->c[x[0]] != UNSET;
    case OP_SEEK:
        return m->c[x[0]] != UNSET && m->a->place[m->c[x[0]]].kind == AFFINE_SUBSECT;
    case OP_WITHIN:
        return read_within(m, x);
    case OP_PRESENT:
        return m->c[x[2]] != UNSET && m->a->place[m->c[x[2]]].kind == AFFINE_DENSE;
    case OP_SKIP:
        return read_skip(m, x);
    case OP_OPEN:
        return stand(m, AFFINE_OPEN, x[0], x[1], x[2], x[3], ROOT, -1, 0);
    case OP_OPENAT:
        m->shifted = true;
        if (!stand(m, AFFINE_OPEN, x[0], x[1], x[2], x[3], x[4], -1, 0)) return false;
        /* what the loop's index will be taken times of */
        m->a->place[m->c[x[0]]].cursor = x[5];
        return true;
    case OP_LOCATE:
        return stand(m, AFFINE_DENSE, x[0], x[1], x[2], x[3], x[4], -1, 0);
    case OP_AT:
        return stand(m, AFFINE_PLACED, x[0], x[1], x[2], x[3], x[4], -1, 0);
    case OP_CONST:
        return read_const(m, x);
    case OP_LOAD:
        return read_load(m, x);
    case OP_FN2:
        return x[1] == FN_ADD ? read_sum(m, x, at) : read_times(m, x);
    case OP_STORE:
        return read_store(m, x, at);
    case OP_KEEP: /* results are ranges: all places are kept anyway */
        return m->sunk && x[0] == m->a->sink.a;
    case OP_ACC:
        return read_acc(m, x, at);
    case OP_WSADD:
        return read_wsadd(m, x, at);
    default:
        return false;
    }
}

/* Walker `o` stands: opened in the nest, or before it. */
static bool walk(matcher *m, const merge_operand *o, int d)
{
    affine *a = m->a;
    const uint16_t at = read_place(m, o->cursor);
    if (at == UNSET) return false;
    affine_place *x = &a->place[at];
    if (x->kind == AFFINE_GIVEN) { /* its coefficient and shift are its cursor's */
        x->kind = AFFINE_WALKED;
        x->at.coef[d] = 1;
        m->shifted = true;
        return true;
    }
    if (x->kind != AFFINE_OPEN) return false;
    x->kind = AFFINE_WALKED;
    x->at.coef[d] = x->cursor == ROOT ? 1 : m->mc->p->konst[x->cursor].v.i64;
    x->cursor = ROOT;
    return true;
}

static bool subsections(const matcher *m, uint16_t reg)
{
    return m->c[reg] == UNSET ? m->mc->c[reg].subsections
                              : m->a->place[m->c[reg]].kind == AFFINE_SUBSECT;
}

/* A merge that visits what its walker has, or everything, if the located operands
 * are present. Rounds that subsections save would add nothing. */
static bool read_merge(matcher *m, const merge_desc *g, int d)
{
    uint64_t all = 0, walker = 0;
    bool some = g->universe;
    if (g->count > MERGE_TABLE_MAX) return false;
    for (int b = 0; b < g->count; b++) {
        const merge_operand *o = &g->operand[b];
        all |= UINT64_C(1) << b;
        if (o->cursor == ROOT) return false;
        if (operand_walks(o) && subsections(m, o->cursor)) {
            some = true;
            continue;
        }
        if (o->role == MERGE_FOLLOW) return false;
        if (o->role == MERGE_WALK) {
            if (walker || !walk(m, o, d)) return false;
            walker = UINT64_C(1) << b;
        } else if (o->role == MERGE_LOCATE) {
            m->shifted |= o->coef != 1 || o->shift != ROOT;
            if (!stand(m, AFFINE_DENSE, o->cursor, o->tensor, o->level, o->up, o->shift, d,
                       o->coef))
                return false;
        } else if (read_place(m, o->cursor) == UNSET) {
            return false;
        }
    }
    if (!(g->produce >> all & 1)) return false;
    return walker ? !g->universe && !(g->produce >> (all & ~walker) & 1) : some;
}

static bool read_loop(matcher *m, const loop *l)
{
    affine *a = m->a;
    const int d = a->nindex, f = new_form(m);
    if (d == AFFINE_INDICES || f < 0) return false;
    a->index[a->nindex++] = (loop *)l;
    m->form[f].coef[d] = 1;
    m->i[l->index] = (uint16_t)f;
    if (!read_merge(m, l->merge, d)) return false;
    m->depth = d + 1;
    for (int k = l->first + 1; k < l->last; k++) {
        if (insn_of(m->mc, k)->op != OP_LOOP) {
            if (!read_insn(m, k)) return false;
            continue;
        }
        const loop *in = m->mc->loops;
        while (in->first != k)
            in++;
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
        if (a->place[at].kind == AFFINE_WALKED) return true;
        if (a->place[at].kind == AFFINE_GIVEN) break;
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
        walks += a->place[k].kind == AFFINE_WALKED;
    for (uint16_t at = first.place; at; at = a->place[at].up) {
        walks -= a->place[at].kind == AFFINE_WALKED;
        if (a->place[at].kind == AFFINE_GIVEN ||
            (a->place[at].kind == AFFINE_WALKED && a->place[at].cursor != ROOT))
            break;
    }
    return walks == 0;
}

static bool typed(const matcher *m)
{
    const affine *a = m->a;
    const program *p = m->mc->p;
    const stc_type t = class_type((vclass)a->cls);
    if (a->cls != CLASS_F64 && a->cls != CLASS_F32 && a->cls != CLASS_I64) return false;
    for (int k = 0; k < a->nload; k++)
        if (p->tensor[a->load[k].tensor].type != t) return false;
    for (int k = 0; k < a->nscalar; k++)
        if (a->scalar[k].constant && p->konst[a->scalar[k].id].cls != a->cls) return false;
    return p->tensor[a->sink.a].type == t;
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

static bool match(matcher *m, affine *a, loop *l)
{
    const program *p = m->mc->p;
    memset(a, 0, sizeof *a);
    m->a = a;
    m->nform = m->nproduct = m->depth = 0;
    m->shifted = m->sunk = false;
    m->outer = l->outer;
    memset(m->i, 0xff, (size_t)(p->ni + 3 * p->nv + p->nc) * sizeof *m->i);
    a->place[0].kind = AFFINE_ROOT;
    a->nplace = 1;
    if (!read_loop(m, l) || !m->shifted || a->nindex < 2 ||
        (a->sink.kind == SINK_STORE && !a->stored))
        return false;
    a->alone = a->sink.kind == SINK_ACC && alone(p, a->sink.a);
    return one_sparse(a) && typed(m) &&
           (a->alone || !a->stored || a->sink.kind == SINK_STORE);
}

/* Whether a program has anything of the kind: most haven't. */
static bool any_affine(const program *p)
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

stc_status affine_fuse(machine *mc, loop *l, super **out)
{
    const program *p = mc->p;
    loop *around[AFFINE_INDICES];
    int depth = 0;
    if (!any_affine(p)) return STC_OK;
    for (; l && depth < AFFINE_INDICES; l = l->outer)
        around[depth++] = l;
    affine *a = mem_alloc(mc->cx, sizeof *a);
    const int64_t registers = p->ni + 3 * p->nv + p->nc;
    const size_t size = sizeof(matcher) + (size_t)registers * sizeof(uint16_t);
    matcher *m = a ? mem_alloc(mc->cx, size) : NULL;
    bool found = false;
    if (m) {
        m->mc = mc;
        m->i = (uint16_t *)(m + 1);
        m->v = m->i + p->ni;
        m->k = m->v + p->nv;
        m->k_depth = m->k + p->nv;
        m->c = m->k_depth + p->nv;
        while (!found && depth-- > 1)
            found = match(m, a, around[depth]);
    }
    if (found) {
        a->base = (super){.run = affine_run,
                          .free = affine_release,
                          .loop = around[depth],
                          .next = around[depth]->exit,
                          .tier = 3,
                          .any_order = true,
                          .size = sizeof *a};
        snprintf(a->base.note, sizeof a->base.note, "%s nest of %d -> %s",
                 a->nbound ? "blocks" : "affine", a->nindex,
                 a->sink.kind == SINK_ACC     ? "accumulate"
                 : a->sink.kind == SINK_STORE ? "store"
                                              : "workspace");
        /* what runs a loop around would look for each sum's entries instead */
        for (loop *o = around[depth]->outer; o && a->sink.kind == SINK_STORE; o = o->outer)
            machine_take_back(mc, o);
        *out = &a->base;
    } else {
        mem_free(mc->cx, a, sizeof *a);
    }
    const bool failed = !a || !m;
    mem_free(mc->cx, m, size);
    return failed ? mc->cx->diag.status : STC_OK;
}
