/* share.c: equal parts are computed once.
 *
 * Takes a reduction, or a product, that is to become a step; gives a read of an earlier
 * step that computes the same, up to the names of indices and the order of factors: sum(k:
 * B(j,k) * x(k)) is sum(j: x(j) * B(i,j)) where i and j have the same values, which what
 * must hold of shapes tells. Reductions that stay where they stand are looked up, too, and
 * of equal ones among them the first becomes a step if that is less work.
 */
#include "opt.h"
#include <string.h>

enum {
    LEAVES = 8,
    UNPAIRED = -1
}; /* more factors aren't compared                        */

/* Two expressions' indices, and which of the other each is. */
typedef struct pairing {
    const bindex *a, *b;
    int8_t of[BOUND_INDICES], back[BOUND_INDICES];
} pairing;

static bool same(const opt *o, const bexpr *a, const bexpr *b, pairing *by);

/* ---- expressions ---------------------------------------------------------------- */

bool share_extent(const program *p, int x, int y)
{
    if (x == y) return true;
    if (x < 0 || y < 0) return false;
    if (p->ext[x].op == EXT_CONST && p->ext[y].op == EXT_CONST)
        return p->ext[x].k == p->ext[y].k;
    enum { FAR = 16 };
    int reached[FAR] = {x}, n = 1;
    for (int k = 0; k < n; k++)
        for (int c = 0; c < p->ncheck; c++) {
            const ext_check *is = &p->check[c];
            if (is->rel != REL_EQ || (is->a != reached[k] && is->b != reached[k])) continue;
            const int other = is->a == reached[k] ? is->b : is->a;
            bool known = false;
            for (int m = 0; m < n; m++)
                known = known || reached[m] == other;
            if (other == y) return true;
            if (!known && n < FAR) reached[n++] = other;
        }
    return false;
}

static bool pair(const program *p, pairing *by, int a, int b)
{
    if (by->of[a] == UNPAIRED && by->back[b] == UNPAIRED) {
        const bindex *x = &by->a[a], *y = &by->b[b];
        if (x->value || y->value || (x->lo != y->lo && !share_extent(p, x->lo, y->lo)) ||
            !share_extent(p, x->hi, y->hi))
            return false;
        by->of[a] = (int8_t)b;
        by->back[b] = (int8_t)a;
    }
    return by->of[a] == b && by->back[b] == a;
}

static bool same_subscripts(const opt *o, const bexpr *a, const bexpr *b, pairing *by)
{
    for (int m = 0; m < o->p->tensor[a->tensor].order; m++) {
        const affine *u = &a->sub[m], *v = &b->sub[m];
        if (u->terms != v->terms || u->constant != v->constant) return false;
        for (int k = 0; k < u->terms; k++)
            if (u->term[k].coef != v->term[k].coef ||
                !pair(o->p, by, u->term[k].index, v->term[k].index))
                return false;
    }
    return true;
}

/* a's factors from k on are b's that aren't taken. */
static bool same_factors(const opt *o, const bexpr *const *a, const bexpr *const *b, int n,
                         int k, unsigned taken, pairing *by)
{
    if (k == n) return true;
    for (int m = 0; m < n; m++) {
        pairing with = *by;
        if ((taken >> m) & 1 || !same(o, a[k], b[m], &with)) continue;
        if (!same_factors(o, a, b, n, k + 1, taken | 1u << m, &with)) continue;
        *by = with;
        return true;
    }
    return false;
}

static int leaves_of(const product *x, const bexpr *e, const bexpr **leaf, int n)
{
    if (n > LEAVES) return n;
    if (is_times(x, e))
        return leaves_of(x, e->args[1], leaf, leaves_of(x, e->args[0], leaf, n));
    if (n < LEAVES) leaf[n] = e;
    return n + 1;
}

static bool binds(const bexpr *r, int index)
{
    for (int k = 0; k < r->nindex; k++)
        if (r->indices[k] == index) return true;
    return false;
}

static bool same_reductions(const opt *o, const bexpr *a, const bexpr *b, pairing *by)
{
    const bexpr *of_a[LEAVES], *of_b[LEAVES];
    product x, y;
    if (a->nindex != b->nindex) return false;
    if (product_begin(a, &x) && product_begin(b, &y)) {
        const int n = leaves_of(&x, a->args[0], of_a, 0);
        if (n > LEAVES || leaves_of(&y, b->args[0], of_b, 0) != n ||
            !same_factors(o, of_a, of_b, n, 0, 0, by))
            return false;
    } else if (!same(o, a->args[0], b->args[0], by)) {
        return false;
    }
    for (int k = 0; k < a->nindex; k++) {
        const int other = by->of[a->indices[k]];
        if (other == UNPAIRED || !binds(b, other)) return false;
    }
    return true;
}

/* The same but for the types that they are turned into at the end. */
static bool same_below(const opt *o, const bexpr *a, const bexpr *b, pairing *by)
{
    if (a->kind != b->kind || a->nargs != b->nargs || a->fn != b->fn || a->ufn != b->ufn)
        return false;
    switch (a->kind) {
    case B_CONST:
        return class_equal(type_class(a->type), a->value, b->value);
    case B_ACCESS:
        return a->tensor == b->tensor && a->pad == b->pad && !a->nargs &&
               same_subscripts(o, a, b, by);
    case B_INDEX:
        return pair(o->p, by, a->index, b->index);
    case B_EXTENT:
        return a->index == b->index;
    case B_REDUCE:
        return a->cls == b->cls && same_reductions(o, a, b, by);
    default:
        break;
    }
    if (a->kind == B_CALL && a->cls != b->cls) return false;
    for (int k = 0; k < a->nargs; k++)
        if (!same(o, a->args[k], b->args[k], by)) return false;
    return a->kind != B_LOCAL;
}

static bool same(const opt *o, const bexpr *a, const bexpr *b, pairing *by)
{
    return a->type == b->type && same_below(o, a, b, by);
}

/* ---- steps ---------------------------------------------------------------------- */

uint64_t share_key(const bexpr *e)
{
    const uint64_t prime = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t key = (uint64_t)e->kind + 1;
    if (e->kind == B_ACCESS) key += ((uint64_t)e->tensor + 7) * prime;
    const vclass cls = type_class(e->type);
    if (e->kind == B_CONST && (cls == CLASS_I64 || cls == CLASS_F64))
        key += (e->value.u64 + 1) * prime;
    for (int k = 0; k < e->nargs; k++)
        key += share_key(e->args[k]);
    return key;
}

static void begin_pairing(pairing *by, const bindex *a, const bindex *b)
{
    by->a = a;
    by->b = b;
    memset(by->of, UNPAIRED, sizeof by->of);
    memset(by->back, UNPAIRED, sizeof by->back);
}

/* A read of a step at a's indices in place of its own. */
static bexpr *read_at(opt *o, const opt_step *step, const pairing *by, span at)
{
    int index[STC_MAX_ORDER];
    for (int m = 0; m < step->s.nsub; m++)
        index[m] = by->of[step->s.sub[m].term[0].index];
    return step_read(o, step->s.target, index, at);
}

bool share_same(const opt *o, const bindex *index, const bexpr *a, const bexpr *b)
{
    pairing by;
    begin_pairing(&by, index, o->s->index);
    return same(o, a, b, &by);
}

/* A read of the step, which computes e, as a factor; *done: it does. */
static stc_status read_equal(opt *o, const opt_step *step, const bexpr *e, stc_type type,
                             factor *out, bool *done)
{
    pairing by;
    if (o->p->tensor[step->s.target].type != type) return STC_OK;
    begin_pairing(&by, step->s.index, o->s->index);
    if (!same_below(o, step->s.value, e, &by)) return STC_OK;
    *out = step->result;
    out->e = read_at(o, step, &by, e->at);
    if (!out->e) return STC_ERR_MEMORY;
    out->indices = opt_indices(o->p, out->e);
    *done = true;
    return STC_OK;
}

/* Whether what an earlier statement has computed is stored as a step for r would be. */
static bool like_step(const opt *o, const opt_step *step, const bexpr *r)
{
    product x;
    const prog_tensor *t = &o->p->tensor[step->s.target];
    if (!step->is_result) return step->pattern || !o->pattern;
    return !t->fill_later && product_begin(r, &x) &&
           class_equal(type_class(t->type), t->fill, x.identity) &&
           (!o->pattern || format_stores_entries(&t->fmt));
}

/* The same of what earlier statements have computed. */
static stc_status read_earlier(opt *o, const bexpr *e, uint64_t key, stc_type type,
                               factor *out, bool *done)
{
    const opt_book *b = o->known ? o->known->book : NULL;
    for (int k = b ? b->n - 1 : -1; k >= 0 && !*done; k--) {
        const opt_step *step = &b->step[k];
        if (step->key != key || step->stands || !like_step(o, step, e)) continue;
        const stc_status st = read_equal(o, step, e, type, out, done);
        if (st) return st;
        if (!*done) continue;
        const prog_tensor *t = &o->p->tensor[step->s.target];
        if (step->is_result) {
            out->density = cost_density(o, out->e, &t->fill);
            out->full = out->density >= 1 && !stores_some(o->p, out->e);
            out->step = -1;
        }
        o->reads_earlier = true;
        if (o->why)
            text_add(o->why, "%s is kept from statement %d\n", t->name, step->statement);
    }
    return STC_OK;
}

stc_status share_step(opt *o, const bexpr *e, stc_type type, factor *out, bool *done)
{
    const uint64_t key = share_key(e);
    *done = false;
    for (int k = 0; k < o->nstep && !*done; k++) {
        const opt_step *step = &o->step[k];
        const stc_status st = step->key == key && (step->pattern || !o->pattern)
                                  ? read_equal(o, step, e, type, out, done)
                                  : STC_OK;
        if (st) return st;
        if (*done && o->why)
            text_add(o->why, "%s is computed once, and read in several places\n",
                     o->p->tensor[step->s.target].name);
    }
    return *done ? STC_OK : read_earlier(o, e, key, type, out, done);
}

void share_note(opt_step *step, const factor *result)
{
    step->key = share_key(step->s.value);
    step->result = *result;
}

/* ---- what stays where it stands ------------------------------------------------- */

enum { LOOKED_AT = 16 };

typedef struct reductions {
    bexpr **at[LOOKED_AT];
    uint64_t key[LOOKED_AT];
    int n;
} reductions;

static stc_status read_steps(opt *o, bexpr **at, reductions *left)
{
    bexpr *e = *at;
    if (e->kind == B_REDUCE) {
        factor of;
        bool done;
        const stc_status st = share_step(o, e, step_type(e), &of, &done);
        if (st) return st;
        if (done) {
            *at = (bexpr *)of.e;
            return STC_OK;
        }
        if (left->n < LOOKED_AT) {
            left->key[left->n] = share_key(e);
            left->at[left->n++] = at;
        }
    }
    for (int k = 0; k < e->nargs; k++) {
        const stc_status st = read_steps(o, &e->args[k], left);
        if (st) return st;
    }
    return STC_OK;
}

bool share_pays(const opt *o, const product *x)
{
    uint64_t out = 0;
    for (int k = 0; k < x->n; k++)
        out |= x->factor[k].indices;
    out &= ~x->reduced;
    if (__builtin_popcountll(out) > STC_MAX_ORDER || (o->pattern && !out)) return false;
    for (uint64_t set = out; set; set &= set - 1)
        if (o->s->index[__builtin_ctzll(set)].lo >= 0) return false;
    const double density = cost_result(o, x->factor, x->n, out);
    const double once = cost_nest(o, x->factor, x->n);
    /* where it stands, if it is asked for everywhere */
    const double there = density < 1 ? once : cost_places(o, out) * cost_each(o, x, false);
    return opt_pays(once, 2 * once) &&
           cost_write(o, out, density) < (there > once ? there : once) / 2;
}

/* Of equal reductions the first becomes a step, and one that a later statement wants. */
static stc_status take_first(opt *o, const reductions *left, bool *done)
{
    const opt_book *b = o->known ? o->known->book : NULL;
    *done = false;
    for (int k = 0; k < left->n; k++) {
        const bexpr *e = *left->at[k];
        bool wanted = e->kind == B_REDUCE && b && book_wants(b, e);
        for (int m = k + 1; m < left->n && !wanted; m++)
            wanted = left->key[k] == left->key[m] && e->kind == B_REDUCE &&
                     (*left->at[m])->kind == B_REDUCE &&
                     share_same(o, o->s->index, e, *left->at[m]);
        product *x = wanted ? arena_room(o->a, 1, sizeof *x) : NULL;
        if (!x || !factors_of(o, e, x) || !share_pays(o, x)) continue;
        *done = true;
        return take_whole(o, x, left->at[k]);
    }
    return STC_OK;
}

static stc_status share_left(opt *o, bexpr **at, reductions *left)
{
    bool done = false;
    left->n = 0;
    stc_status st = read_steps(o, at, left);
    if (!st) st = take_first(o, left, &done);
    return st || !done ? st : share_left(o, at, left); /* what was below it is gone */
}

stc_status share_in(opt *o, bexpr **at)
{
    reductions left;
    return share_left(o, at, &left);
}

stc_status share_rest(opt *o)
{
    reductions left;
    stc_status st = share_left(o, &o->s->value, &left);
    for (int k = 0; k < left.n && !st && o->known && o->known->book; k++)
        st = book_stands(o, *left.at[k]);
    return st;
}
