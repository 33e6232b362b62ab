/* shape.c: the tensor between two steps.
 *
 * Its type represents the class exactly in which both steps compute, and its fill is the
 * reduction's identity, so that it stores what had a term. It is dense where at most one
 * of its indices comes from operands that store some of their coordinates, since it is
 * then no larger than operands are; else its rows are compressed. Where the
 * statement's result tells which places had a term, a vector notes that for each place.
 * A vector that is read in order is compressed. Modes that are stored below all of the
 * coordinates that are, or none, are dense. Where no operand has room for all values of
 * an index, it has none, either: of so many coordinates there may be few; unless operands
 * are known, by which there are many.
 *
 * Its modes are in the order in which the operands' levels have their indices.
 */
#include "opt.h"

/* The part of its places from which on a tensor has them all. */
static const double crowded = 0.5;

/* before[i]: the indices in levels above that of i. */
static void note_levels(const program *p, const bexpr *e, uint64_t *before)
{
    uint64_t seen = 0;
    const format *f = e->kind == B_ACCESS ? &p->tensor[e->tensor].fmt : NULL;
    for (int l = 0; f && l < f->levels; l++) {
        const level_map *m = &f->level[l].map;
        const affine *at = &e->sub[m->mode];
        if (m->op != MAP_MODE) continue;
        const uint64_t above = seen;
        for (int t = 0; t < at->terms; t++) {
            before[at->term[t].index] |= above;
            seen |= UINT64_C(1) << at->term[t].index;
        }
    }
    for (int k = 0; k < e->nargs; k++)
        note_levels(p, e->args[k], before);
}

/* … and of those that may come next, what is stored of some operand comes first: rows that
 * all operands have whole stay rows. */
static int order_modes(const opt *o, const product *x, uint64_t out, int *mode)
{
    uint64_t before[64] = {0}, some = 0;
    int n = 0;
    for (int k = 0; k < x->n; k++)
        if (!x->factor[k].full) some |= x->factor[k].indices;
    for (int k = 0; k < x->n; k++)
        note_levels(o->p, x->factor[k].e, before);
    /* what is before something that is before is before it, too */
    for (int via = 0; via < o->s->nindex; via++)
        for (int i = 0; i < o->s->nindex; i++)
            if ((before[i] >> via) & 1) before[i] |= before[via];
    while (out) {
        int best = -1, fewest = 2 * 64 + 2;
        for (uint64_t set = out; set; set &= set - 1) {
            const int i = __builtin_ctzll(set);
            const int open = 2 * __builtin_popcountll(before[i] & out) + !((some >> i) & 1);
            if (open < fewest) {
                best = i;
                fewest = open;
            }
        }
        mode[n++] = best;
        out &= ~(UINT64_C(1) << best);
    }
    return n;
}

/* The indices that a full level of some operand has: a dense level over them takes no
 * more room than is taken already. */
static uint64_t full_levels(const program *p, const bexpr *e)
{
    uint64_t set = 0;
    const format *f = e->kind == B_ACCESS ? &p->tensor[e->tensor].fmt : NULL;
    for (int l = 0; f && l < f->levels; l++) {
        const level_map *m = &f->level[l].map;
        const affine *at = &e->sub[m->mode];
        for (int t = 0; t < at->terms && m->op == MAP_MODE; t++)
            if (at->term[t].coef > 0 && (format_props(f, l) & PROP_FULL))
                set |= UINT64_C(1) << at->term[t].index;
    }
    for (int k = 0; k < e->nargs; k++)
        set |= full_levels(p, e->args[k]);
    return set;
}

/* Whether a factor has places for all of some indices. */
static bool has_places(const factor *f, int n, uint64_t indices)
{
    for (int k = 0; k < n; k++)
        if (f[k].full && !(indices & ~f[k].indices)) return true;
    return false;
}

/* Whether it is known how far an index runs. */
static bool known_range(const opt *o, int index, double *n)
{
    const extent *hi = &o->p->ext[o->s->index[index].hi];
    *n = (double)hi->k;
    return hi->op == EXT_CONST || (hi->op == EXT_DIM && stats_extent(o, hi->a, hi->b, n));
}

/* Whether each place has a term: the factors are stored everywhere, and some are. */
static bool has_terms(const opt *o, const factor *f, int n, uint64_t out)
{
    uint64_t reduced = 0;
    double range;
    for (int k = 0; k < n; k++) {
        if (!f[k].full || f[k].where) return false;
        reduced |= f[k].indices & ~out;
    }
    for (; reduced; reduced &= reduced - 1)
        if (!known_range(o, __builtin_ctzll(reduced), &range) || range < 1) return false;
    return true;
}

static bool is_dense(const opt *o, const factor *f, int n, uint64_t out)
{
    uint64_t full = 0;
    bool stored = false; /* a part of the places of several indices is */
    for (int k = 0; k < n; k++) {
        const uint64_t own = f[k].indices & out;
        if (f[k].full)
            full |= own;
        else
            stored |= own & (own - 1) && !has_places(f, n, own);
    }
    return !out || ((!o->pattern || has_terms(o, f, n, out)) && !stored &&
                    __builtin_popcountll(out & ~full) <= 1);
}

/* Whether so much of the result, a vector, is stored that a place for each takes no more
 * room: where operands that are there say how far its indices run. */
static bool is_crowded(const opt *o, const factor *f, int n, uint64_t out)
{
    double d;
    for (uint64_t set = out; set; set &= set - 1)
        if (!known_range(o, __builtin_ctzll(set), &d)) return false;
    return __builtin_popcountll(out) == 1 && cost_result(o, f, n, out) >= crowded;
}

bool shape_full(const opt *o, const product *x, const factor *f, int n, uint64_t out)
{
    uint64_t has_room = 0;
    for (int k = 0; k < x->n; k++)
        has_room |= full_levels(o->p, x->factor[k].e);
    return is_dense(o, f, n, out) && (!(out & ~has_room) || is_crowded(o, f, n, out));
}

static bool is_own(const factor *f, int n, const factor *other)
{
    for (int k = 0; k < n; k++)
        if (f[k].e == other->e) return true;
    return false;
}

/* Whether what reads the step goes through its index in order: the statement has no other
 * loops, or the others that have the index have it above all else. */
static bool read_in_order(const opt *o, const product *x, const factor *f, int n,
                          uint64_t out)
{
    const int all = o->s->nindex;
    const uint64_t loops = all < 64 ? (UINT64_C(1) << all) - 1 : ~UINT64_C(0);
    bool some = false;
    if ((loops & ~x->reduced) == out) return true;
    for (int k = 0; k < x->n; k++) {
        const factor *g = &x->factor[k];
        if (!(g->indices & out) || is_own(f, n, g)) continue;
        if (!g->levels || UINT64_C(1) << g->level[0] != out) return false;
        some = true;
    }
    return some;
}

/* Whether the last modes from k on are the result's last ones, as its levels have them. */
static bool ends_result(const opt *o, const int *mode, int k, int order)
{
    const bstmt *st = o->s;
    const format *f = &o->p->tensor[st->target].fmt;
    if (f->order != st->nsub) return false;
    for (int l = f->levels - 1; order > k; l--) {
        if (l < 0 || f->level[l].map.op != MAP_MODE) return false;
        const affine *at = &st->sub[f->level[l].map.mode];
        if (at->terms != 1 || at->term[0].index != mode[--order]) return false;
    }
    return true;
}

/* How many modes come before those of which a row that has a term has all: their indices
 * are of operands alone that are stored everywhere. Where the result tells which places had
 * a term, these are its last ones: a copy that has them elsewhere would leave out what
 * equals the fill. */
static int before_rows(const opt *o, const factor *f, int n, const int *mode, int order)
{
    uint64_t some = 0, room = 0;
    int k = order;
    for (int m = 0; m < n; m++) {
        if (!f[m].full || f[m].where) some |= f[m].indices;
        room |= full_levels(o->p, f[m].e);
    }
    while (k > 0 && (room & ~some) >> mode[k - 1] & 1 &&
           (!o->pattern || ends_result(o, mode, k - 1, order)))
        k--;
    return k ? k : order;
}

static void choose_format(prog_tensor *t, int sparse, bool first, bool full, bool in_order)
{
    const level_kind *dense = level_full();
    const unsigned sought = CAP_LOCATE | CAP_APPEND;
    if (full)
        format_all(&t->fmt, t->order, dense);
    else if (t->order == 1 &&
             !in_order) /* with a place for each coordinate, or for those there are */
        format_all(&t->fmt, 1,
                   first ? level_kind_with(sought, PROP_ORDERED, PROP_FULL)
                         : level_kind_with(sought, PROP_COMPACT, PROP_ORDERED));
    else
        format_all(&t->fmt, t->order, level_sparse());
    if (!full && sparse > 1 && first) format_set(&t->fmt, 0, dense, 0, 0);
    for (int l = sparse; !full && l < t->order; l++)
        format_set(&t->fmt, l, dense, l, 0);
}

void shape_rows(prog_tensor *t)
{
    choose_format(t, t->order, true, false, true);
}

int shape_slot(const opt *o, const product *x, const factor *f, int n, uint64_t out,
               int *mode, bool *full)
{
    const bexpr *r = x->r;
    prog_tensor t = {.fill = x->identity};
    t.type = step_type(r);
    t.order = order_modes(o, x, out, mode);
    for (int k = 0; k < t.order; k++)
        t.shape[k] = (uint16_t)o->s->index[mode[k]].hi;
    uint64_t has_room = 0;
    for (int k = 0; k < x->n; k++)
        has_room |= full_levels(o->p, x->factor[k].e);
    *full = shape_full(o, x, f, n, out);
    choose_format(&t, before_rows(o, f, n, mode, t.order),
                  t.order && has_room >> mode[0] & 1, *full,
                  read_in_order(o, x, f, n, out));
    return step_slot(o, t);
}
