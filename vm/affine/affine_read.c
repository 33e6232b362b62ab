/* affine_read.c: what the instructions of an affine nest mean: integers as forms of the
 * loops' indices, cursors as places, values as products of loads and scalars, and the one
 * sink. What isn't linear, or does something besides adding one product to one place,
 * isn't read, and its nest isn't matched (affine_match.c).
 */
#include "affine_match.h"
#include <string.h>

size_t affine_registers(const program *p)
{
    return (size_t)(p->ni + 3 * p->nv + p->nc) * sizeof(uint16_t);
}

void affine_read_begin(affine_matcher *m, affine *a, const loop *l)
{
    const program *p = m->mc->p;
    m->a = a;
    m->v = m->i + p->ni;
    m->k = m->v + p->nv;
    m->k_depth = m->k + p->nv;
    m->c = m->k_depth + p->nv;
    memset(m->i, 0xff, affine_registers(p));
    m->nform = m->nproduct = m->depth = 0;
    m->times = FN_NONE;
    m->shifted = m->sunk = m->full = false;
    m->outer = l->outer;
    m->told = m->mark = ROOT;
    a->place[0].kind = AFFINE_ROOT;
    a->nplace = 1;
}

/* ---- forms ----------------------------------------------------------------------- */

int affine_new_form(affine_matcher *m)
{
    m->full |= m->nform == AFFINE_READ;
    m->nform -= m->nform == AFFINE_READ; /* the last one again: it's of no use */
    m->form[m->nform] = (affine_form){.k = 0};
    return m->nform++;
}

/* What an integer register holds; outer loops' are taken as they are. */
static const affine_form *read_form(affine_matcher *m, uint16_t reg)
{
    if (m->i[reg] == AFFINE_UNSET) {
        const int f = affine_new_form(m);
        m->form[f].live = 1;
        m->form[f].reg[0] = reg;
        m->form[f].times[0] = 1;
        m->i[reg] = (uint16_t)f;
    }
    return m->i[reg] == AFFINE_UNKNOWN ? NULL : &m->form[m->i[reg]];
}

/* *sum += a * b; true if that overflows. */
static bool add_times(int64_t *sum, int64_t a, int64_t b)
{
    int64_t t;
    const bool far = __builtin_mul_overflow(a, b, &t);
    return __builtin_add_overflow(*sum, t, sum) | far;
}

/* out += k * x; false on overflow, or too many registers. */
static bool add_form(affine_form *out, const affine_form *x, int64_t k)
{
    bool bad = add_times(&out->k, x->k, k);
    for (int d = 0; d < AFFINE_INDICES; d++)
        bad |= add_times(&out->coef[d], x->coef[d], k);
    for (int r = 0; r < x->live; r++) {
        if (out->live == AFFINE_LIVE) return false;
        out->reg[out->live] = x->reg[r];
        out->times[out->live] = 0;
        bad |= add_times(&out->times[out->live++], x->times[r], k);
    }
    return !bad;
}

static bool read_muladd(affine_matcher *m, const uint16_t *a)
{
    if (m->i[a[1]] == AFFINE_UNKNOWN || m->i[a[3]] == AFFINE_UNKNOWN) {
        m->i[a[0]] = AFFINE_UNKNOWN;
        return true;
    }
    const affine_form *x = read_form(m, a[1]), *y = read_form(m, a[3]);
    const int f = affine_new_form(m);
    m->i[a[0]] = (uint16_t)f;
    const bool ok = add_form(&m->form[f], y, 1);
    return add_form(&m->form[f], x, m->mc->p->konst[a[2]].v.i64) && ok;
}

/* ---- places ---------------------------------------------------------------------- */

static uint16_t new_place(affine_matcher *m, affine_place x)
{
    if (m->a->nplace == AFFINE_PLACES) { /* over the last one, which may be its parent */
        m->full = true;
        m->a->nplace--;
        x.up = 0;
    }
    m->a->place[m->a->nplace] = x;
    return (uint16_t)m->a->nplace++;
}

uint16_t affine_read_place(affine_matcher *m, uint16_t reg)
{
    if (reg == ROOT) return 0;
    if (m->c[reg] == AFFINE_UNSET)
        m->c[reg] = new_place(m, (affine_place){.kind = AFFINE_GIVEN, .cursor = reg});
    return m->c[reg];
}

/* Level l of tensor t below cursor `up`, at coef * index d + shift (d < 0: none). */
bool affine_read_stand(affine_matcher *m, affine_kind kind, uint16_t reg, uint16_t t,
                       uint16_t l, uint16_t up, uint16_t shift, int d, int64_t coef)
{
    affine_place x = {.kind = (uint8_t)kind, .tensor = t, .level = l, .cursor = ROOT};
    x.up = affine_read_place(m, up);
    if (shift != ROOT) {
        const affine_form *f = read_form(m, shift);
        if (!f || !add_form(&x.at, f, 1)) return false;
    }
    if (d >= 0) x.at.coef[d] = coef;
    m->c[reg] = new_place(m, x);
    return true;
}

uint16_t affine_read_walk(affine_matcher *m, uint16_t reg, int d)
{
    const uint16_t at = affine_read_place(m, reg);
    affine_place *x = &m->a->place[at];
    if (x->kind == AFFINE_GIVEN) { /* its coefficient and shift are its cursor's */
        m->shifted = true;
        x->at.coef[d] = 1;
    } else if (x->kind == AFFINE_OPEN) {
        x->at.coef[d] = x->cursor == ROOT ? 1 : m->mc->p->konst[x->cursor].v.i64;
        x->cursor = ROOT;
    } else {
        return 0;
    }
    x->kind = AFFINE_WALKED;
    return at;
}

bool affine_read_located(affine_matcher *m, const merge_operand *o, int d)
{
    m->shifted |= o->coef != 1 || o->shift != ROOT;
    return affine_read_stand(m, AFFINE_DENSE, o->cursor, o->tensor, o->level, o->up,
                             o->shift, d, o->coef);
}

bool affine_subsections(const affine_matcher *m, uint16_t reg)
{
    return m->c[reg] == AFFINE_UNSET ? m->mc->c[reg].subsections
                                     : m->a->place[m->c[reg]].kind == AFFINE_SUBSECT;
}

/* ---- products -------------------------------------------------------------------- */

static void new_product(affine_matcher *m, uint16_t reg, affine_product x)
{
    m->full |= m->nproduct == AFFINE_PRODUCTS;
    m->nproduct -= m->nproduct == AFFINE_PRODUCTS;
    m->product[m->nproduct] = x;
    m->v[reg] = (uint16_t)m->nproduct++;
    m->k[reg] = AFFINE_UNSET;
}

static void new_scalar(affine_matcher *m, uint16_t reg, bool fixed, uint16_t id)
{
    affine *a = m->a;
    m->full |= a->nscalar == AFFINE_LOADS;
    a->nscalar -= a->nscalar == AFFINE_LOADS;
    a->scalar[a->nscalar].constant = fixed;
    a->scalar[a->nscalar].id = id;
    new_product(m, reg, (affine_product){.scalars = (uint8_t)(1 << a->nscalar++)});
}

static bool read_load(affine_matcher *m, const uint16_t *x)
{
    affine *a = m->a;
    const uint16_t at = affine_read_place(m, x[2]);
    if (a->place[at].kind == AFFINE_OPEN) return false;
    m->full |= a->nload == AFFINE_LOADS;
    a->nload -= a->nload == AFFINE_LOADS;
    a->load[a->nload].tensor = x[1];
    a->load[a->nload].place = at;
    new_product(m, x[0], (affine_product){.loads = (uint8_t)(1 << a->nload++)});
    return true;
}

static affine_product read_value(affine_matcher *m, uint16_t reg)
{
    const uint16_t k = m->k[reg];
    if (m->v[reg] == AFFINE_UNSET)
        new_scalar(m, reg, k != AFFINE_UNSET, k == AFFINE_UNSET ? reg : k);
    return m->product[m->v[reg]];
}

static bool read_const(affine_matcher *m, const uint16_t *x)
{
    m->v[x[0]] = AFFINE_UNSET;
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
    if (m->v[reg] == AFFINE_UNSET) return false;
    const affine_product p = m->product[m->v[reg]];
    if (p.loads != (1 << a->nload) - 1 || p.scalars != (1 << a->nscalar) - 1) return false;
    m->sunk = true;
    a->sink = x;
    a->cls = x.cls;
    return true;
}

static bool read_wsadd(affine_matcher *m, const uint16_t *x, const lop *at)
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

static bool read_acc(affine_matcher *m, const uint16_t *x, const lop *at)
{
    const uint16_t to = affine_read_place(m, x[1]);
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
        from == AFFINE_UNSET || by == AFFINE_UNSET || m->told != ROOT ||
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
    return x[0] == x[3] && m->k[x[0]] != AFFINE_UNSET;
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
static bool stores_in_order(const affine_matcher *m, uint16_t at, const format *f)
{
    const affine_place *x = &m->a->place[at], *up = &m->a->place[x->up];
    const loop *l = m->a->index[0];
    if (m->depth != 1 || x->kind != AFFINE_PLACED ||
        (up->kind != AFFINE_ROOT && up->kind != AFFINE_GIVEN))
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
    const uint16_t at = x[1] == ROOT ? 0 : m->c[x[1]];
    if (a->sink.kind != SINK_STORE || x[2] != m->sum || at == AFFINE_UNSET ||
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

/* ---- instructions and loops --------------------------------------------------------- */

/* Rounds in which the sum in a register isn't within an extent are left out. */
static bool read_within(affine_matcher *m, const uint16_t *x)
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
static bool read_skip(const affine_matcher *m, const uint16_t *x)
{
    const merge_desc *g = &m->mc->p->merge[x[1]];
    return g->count < MERGE_TABLE_MAX && g->produce >> ((1 << g->count) - 1) & 1;
}

bool affine_read_insn(affine_matcher *m, int k)
{
    const insn *in = insn_of(m->mc, k);
    const uint16_t *x = in->arg;
    const lop *at = &m->mc->code[k];
    int f;
    if (m->sunk && in->op != OP_STORE && in->op != OP_KEEP) return read_behind(m, in);
    switch (in->op) {
    case OP_ICONST:
        f = affine_new_form(m);
        m->form[f].k = m->mc->p->konst[x[1]].v.i64;
        m->i[x[0]] = (uint16_t)f;
        return true;
    case OP_IEXTENT:
        m->i[x[0]] = AFFINE_UNKNOWN;
        return true;
    case OP_IMULADD:
        return read_muladd(m, x);
    case OP_SUBSECT:
        m->c[x[0]] = new_place(m, (affine_place){.kind = AFFINE_SUBSECT});
        return true;
    case OP_SEEK:
        return m->c[x[0]] != AFFINE_UNSET && m->a->place[m->c[x[0]]].kind == AFFINE_SUBSECT;
    case OP_WITHIN:
        return read_within(m, x);
    case OP_PRESENT:
        return m->c[x[2]] != AFFINE_UNSET && m->a->place[m->c[x[2]]].kind == AFFINE_DENSE;
    case OP_SKIP:
        return read_skip(m, x);
    case OP_OPEN:
        return affine_read_stand(m, AFFINE_OPEN, x[0], x[1], x[2], x[3], ROOT, -1, 0);
    case OP_OPENAT:
        m->shifted = true;
        if (!affine_read_stand(m, AFFINE_OPEN, x[0], x[1], x[2], x[3], x[4], -1, 0))
            return false;
        /* what the loop's index will be taken times of */
        m->a->place[m->c[x[0]]].cursor = x[5];
        return true;
    case OP_LOCATE:
        return affine_read_stand(m, AFFINE_DENSE, x[0], x[1], x[2], x[3], x[4], -1, 0);
    case OP_AT:
        return affine_read_stand(m, AFFINE_PLACED, x[0], x[1], x[2], x[3], x[4], -1, 0);
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
        return false;
    }
}
