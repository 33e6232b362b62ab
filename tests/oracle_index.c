/* oracle_index.c: indices of a statement for the oracle: which names are
 * indices, where they are bound, and the ranges that the language's rules on
 * extents give them. */
#include "oracle_eval.h"
#include <string.h>

void ostmt_refuse(ostmt *s, overdict v, const char *why)
{
    bool worse =
        s->verdict == ORACLE_OK || (s->verdict == ORACLE_UNSURE && v == ORACLE_ERROR);
    if (!worse) return;
    s->verdict = v;
    snprintf(s->w->why, sizeof s->w->why, "%s", why);
}

/* ---- names --------------------------------------------------------------------- */

int ostmt_lookup(const ostmt *s, const char *name)
{
    for (int k = s->depth - 1; k >= 0; k--)
        if (strcmp(s->index[s->scope[k]].name, name) == 0) return s->scope[k];
    for (int k = 0; k < s->nindex; k++) {
        if (k < s->nfree && strcmp(s->index[k].name, name) == 0) return k;
    }
    return -1;
}

static int add_index(ostmt *s, const char *name)
{
    if (s->nindex == MAX_INDEX) {
        ostmt_refuse(s, ORACLE_UNSURE, "too many indices for the oracle");
        return 0;
    }
    s->index[s->nindex] = (oindex){.name = name};
    return s->nindex++;
}

/* Free indices are entered first, so that they come before all bound ones. */
static void enter_free(ostmt *s, const char *name, const char *const *bound, int nbound)
{
    for (int k = 0; k < nbound; k++)
        if (strcmp(bound[k], name) == 0) return;
    for (int k = 0; k < s->nfree; k++)
        if (strcmp(s->index[k].name, name) == 0) return;
    add_index(s, name);
    s->nfree = s->nindex;
}

static void find_free(ostmt *s, const ast *e, const char **bound, int nbound,
                      bool subscript)
{
    if (!e) return;
    if (e->kind == N_NAME) {
        otensor *t = oworld_find(s->w, e->name);
        if (!t || (subscript && t->order)) enter_free(s, e->name, bound, nbound);
        return;
    }
    if (e->kind == N_SLICE) {
        enter_free(s, e->name, bound, nbound);
        return;
    }
    bool inside = subscript || (e->kind == N_CALL && oworld_find(s->w, e->name));
    for (int k = 0; k < e->count; k++) {
        const ast *c = e->child[k];
        if (c && c->kind == N_BINDING) {
            if (nbound < MAX_INDEX) bound[nbound++] = c->name;
        } else {
            find_free(s, c, bound, nbound, inside);
        }
    }
}

bool ostmt_mentions(const ast *e, const char *name)
{
    if (!e) return false;
    if (e->kind == N_NAME || e->kind == N_SLICE) return strcmp(e->name, name) == 0;
    if (e->kind == N_REDUCE) {
        for (int k = 0; k < e->count - 1; k++)
            if (strcmp(e->child[k]->name, name) == 0) return false;
    }
    for (int k = 0; k < e->count; k++)
        if (ostmt_mentions(e->child[k], name)) return true;
    return false;
}

static bool constant_of(const ast *e, int64_t *out);

bool oracle_range_depends(const ast *b)
{
    int64_t k;
    return b->kind == N_BINDING && b->count >= 2 &&
           !(constant_of(b->child[0], &k) && constant_of(b->child[1], &k));
}

int ostmt_reduce_first(const ostmt *s, const ast *reduce)
{
    for (int k = 0; k < s->nreduce; k++)
        if (s->reduce[k].node == reduce) return s->reduce[k].first;
    return -1;
}

/* ---- subscripts ------------------------------------------------------------------ */

static bool add_term(osub *u, int index, int64_t coef)
{
    for (int k = 0; k < u->terms; k++) {
        if (u->index[k] == index) {
            u->coef[k] += coef;
            return true;
        }
    }
    if (u->terms == MAX_TERMS) return false;
    u->index[u->terms] = index;
    u->coef[u->terms++] = coef;
    return true;
}

static bool constant_of(const ast *e, int64_t *out)
{
    if (e->kind == N_INT) {
        *out = (int64_t)e->u;
        return true;
    }
    if (e->kind != N_UNARY || !constant_of(e->child[0], out)) return false;
    if (e->op == OPR_NEG) *out = -*out;
    return e->op == OPR_NEG || e->op == OPR_PLUS;
}

static bool affine_of(ostmt *s, const ast *e, int64_t scale, osub *u)
{
    int64_t k;
    switch (e->kind) {
    case N_INT:
        u->constant += scale * (int64_t)e->u;
        return true;
    case N_NAME: {
        int index = ostmt_lookup(s, e->name);
        return index >= 0 && add_term(u, index, scale);
    }
    case N_UNARY:
        if (e->op != OPR_NEG && e->op != OPR_PLUS) return false;
        return affine_of(s, e->child[0], e->op == OPR_NEG ? -scale : scale, u);
    case N_BINARY:
        if (e->op == OPR_ADD || e->op == OPR_SUB)
            return affine_of(s, e->child[0], scale, u) &&
                   affine_of(s, e->child[1], e->op == OPR_SUB ? -scale : scale, u);
        if (e->op != OPR_MUL) return false;
        if (constant_of(e->child[0], &k)) return affine_of(s, e->child[1], scale * k, u);
        return constant_of(e->child[1], &k) && affine_of(s, e->child[0], scale * k, u);
    default:
        return false;
    }
}

static bool slice_of(ostmt *s, const ast *e, int64_t size, osub *u)
{
    int64_t lo = 0, hi = size, stride = 1;
    if (e->count > 0 && e->child[0]) lo = (int64_t)e->child[0]->u;
    if (e->count > 1 && e->child[1]) hi = (int64_t)e->child[1]->u;
    if (e->count > 2 && e->child[2]) stride = (int64_t)e->child[2]->u;
    int index = ostmt_lookup(s, e->name);
    if (index < 0 || lo < 0 || lo > hi || hi > size || stride < 1) return false;
    u->exact = true;
    u->extent = (hi - lo + stride - 1) / stride;
    u->constant = lo;
    return add_term(u, index, stride);
}

bool ostmt_subscript(ostmt *s, const ast *e, int64_t size, osub *u)
{
    *u = (osub){.size = size};
    if (e->kind == N_SLICE) return slice_of(s, e, size, u);
    if (!affine_of(s, e, 1, u)) {
        *u = (osub){.computed = e, .size = size};
        return true;
    }
    if (e->kind == N_NAME) {
        u->exact = true;
        u->extent = size;
    }
    return true;
}

bool osub_value(ostmt *s, const osub *u, int64_t *out)
{
    if (u->computed) {
        const oval v = ostmt_eval(s, u->computed);
        *out = v.i;
        return !ov_is_any(&v);
    }
    *out = u->constant;
    for (int k = 0; k < u->terms; k++)
        *out += u->coef[k] * s->index[u->index[k]].value;
    return true;
}

/* Whether a computed subscript is an integer that reduces nothing. */
static bool computable(ostmt *s, const ast *e)
{
    bool weak;
    if (e->kind == N_REDUCE) return false;
    for (int k = 0; k < e->count; k++)
        if (e->child[k] && !computable(s, e->child[k])) return false;
    const otensor *t = e->kind == N_CALL ? oworld_find(s->w, e->name) : NULL;
    return t || e->kind == N_SLICE || ot_integer(ostmt_type(s, e, &weak)) ||
           ostmt_type(s, e, &weak) == STC_BOOL;
}

/* ---- collecting -------------------------------------------------------------------- */

static void collect(ostmt *s, const ast *e, bool pad);

static void collect_access(ostmt *s, const ast *call, const otensor *t, bool pad)
{
    if (call->count != t->order) {
        ostmt_refuse(s, ORACLE_ERROR, "wrong number of subscripts");
        return;
    }
    for (int k = 0; k < call->count; k++) {
        osub u;
        if (!ostmt_subscript(s, call->child[k], t->shape[k], &u)) {
            ostmt_refuse(s, ORACLE_ERROR, "a subscript isn't affine, or a slice is off");
            return;
        }
        u.pad = pad;
        if (u.computed) {
            if (!computable(s, u.computed)) {
                ostmt_refuse(s, ORACLE_ERROR, "a subscript isn't an integer");
                return;
            }
            collect(s, u.computed, false);
            continue;
        }
        if (s->nsub == MAX_ACCESS) {
            ostmt_refuse(s, ORACLE_UNSURE, "too many accesses for the oracle");
            return;
        }
        s->sub[s->nsub++] = u;
    }
}

static void collect_reduce(ostmt *s, const ast *e)
{
    if (s->nreduce == MAX_REDUCE) {
        ostmt_refuse(s, ORACLE_UNSURE, "too many reductions for the oracle");
        return;
    }
    bool ranged = e->child[e->count - 1]->kind == N_WHERE;
    int depth = s->depth, first = s->nindex;
    s->reduce[s->nreduce].node = e;
    s->reduce[s->nreduce++].first = first;
    for (int k = 0; k < e->count - 1; k++) {
        const ast *b = e->child[k];
        int id = add_index(s, b->name);
        if (b->count >= 2 && b->child[0] && b->child[1]) {
            oindex *x = &s->index[id];
            if (!constant_of(b->child[0], &x->lo)) x->lo = 0;
            x->known = x->given = constant_of(b->child[1], &x->hi);
            if (!x->known) x->lo = 0;
        }
        ranged |= oracle_range_depends(b);
        s->scope[s->depth++] = id;
    }
    if (ranged && oworld_function(s->w, e->name, 2))
        ostmt_refuse(s, ORACLE_UNSURE,
                     "a mask before a function that may have no identity");
    ostmt_collect(s, e->child[e->count - 1]);
    s->depth = depth;
}

static void collect(ostmt *s, const ast *e, bool pad)
{
    if (!e || s->verdict == ORACLE_ERROR) return;
    if (e->kind == N_REDUCE) {
        collect_reduce(s, e);
        return;
    }
    const otensor *t = e->kind == N_CALL ? oworld_find(s->w, e->name) : NULL;
    if (t) {
        collect_access(s, e, t, pad);
        return;
    }
    for (int k = 0; k < e->count; k++)
        collect(s, e->child[k], e->kind == N_PAD);
}

void ostmt_collect(ostmt *s, const ast *e)
{
    if (s->depth == 0 && s->nreduce == 0) {
        const char *bound[MAX_INDEX];
        find_free(s, e, bound, 0, false);
    }
    collect(s, e, false);
}

void ostmt_collect_left(ostmt *s, const ast *left, const int64_t *shape)
{
    const char *bound[1];
    for (int k = 0; k < left->count; k++)
        find_free(s, left->child[k], bound, 0, true);
    s->nleft = s->nindex;
    for (int k = 0; shape && k < left->count; k++) {
        osub u;
        if (!ostmt_subscript(s, left->child[k], shape[k], &u) ||
            (u.computed && !computable(s, u.computed))) {
            ostmt_refuse(s, ORACLE_ERROR, "the left side has a subscript that can't be");
            return;
        }
        if (u.computed) {
            collect(s, u.computed, false);
            s->scatters = true;
            continue;
        }
        s->sub[s->nsub++] = u;
    }
    for (int k = 0; !shape && k < left->count; k++) {
        if (left->child[k]->kind != N_NAME)
            ostmt_refuse(s, ORACLE_ERROR, "a new tensor needs bare subscripts");
    }
}

/* ---- ranges ------------------------------------------------------------------------- */

static void set_exact(ostmt *s, const osub *u)
{
    oindex *x = &s->index[u->index[0]];
    if (x->given) {
        /* Narrowed; whether it stays inside is checked with the access. */
        return;
    }
    if (x->known && x->hi != u->extent)
        ostmt_refuse(s, ORACLE_ERROR, "extents of an index don't agree");
    x->known = true;
    x->hi = u->extent;
}

static int unknowns(const ostmt *s, const osub *u, int *which)
{
    int n = 0;
    for (int k = 0; k < u->terms; k++) {
        if (u->coef[k] != 0 && !s->index[u->index[k]].known) {
            *which = k;
            n++;
        }
    }
    return n;
}

/* The least and greatest of the known part. */
static bool bounds(const ostmt *s, const osub *u, int64_t *lo, int64_t *hi)
{
    bool some = true;
    *lo = *hi = u->constant;
    for (int k = 0; k < u->terms; k++) {
        const oindex *x = &s->index[u->index[k]];
        if (!x->known) continue;
        if (x->hi <= x->lo) some = false;
        int64_t a = u->coef[k] * x->lo, b = u->coef[k] * (x->hi - 1);
        *lo += a < b ? a : b;
        *hi += a < b ? b : a;
    }
    return some;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q - (a % b != 0 && a < 0);
}

/* How far the index in term t goes: as far as n like it could all go together. */
static int64_t room(const osub *u, int t, int64_t n, int64_t least, int64_t most)
{
    const int64_t c = u->coef[t];
    const int64_t v =
        c > 0 ? floor_div(u->size - 1 - most, c * n) + 1 : floor_div(least, -c * n) + 1;
    return v < 0 ? 0 : v;
}

static bool unknown_at(const ostmt *s, const osub *u, int t)
{
    return u->coef[t] != 0 && !s->index[u->index[t]].known;
}

/* Of how many unknown indices, all of the left side, term t is one, whose coefficients
 * have one sign; 0: it isn't. */
static int64_t together(const ostmt *s, const osub *u, int t)
{
    int64_t n = 0;
    if (u->pad || u->exact || !unknown_at(s, u, t)) return 0;
    for (int k = 0; k < u->terms; k++) {
        if (!unknown_at(s, u, k)) continue;
        if (u->index[k] >= s->nleft) return 0;
        n += (u->coef[k] > 0) == (u->coef[t] > 0);
    }
    return n;
}

/* One round: indices that stand alone as unknowns in some access; or if `shared`, those
 * of the left side that stand with others of it. */
static bool solve_round(ostmt *s, bool shared)
{
    int64_t hi[MAX_INDEX];
    bool found[MAX_INDEX] = {false}, any = false;
    for (int k = 0; k < s->nsub; k++) {
        const osub *u = &s->sub[k];
        int alone = 0;
        const bool one = !u->pad && !u->exact && unknowns(s, u, &alone) == 1;
        for (int t = 0; t < u->terms; t++) {
            const int64_t n = shared ? together(s, u, t) : one && t == alone;
            int64_t least, most;
            if (n == 0) continue;
            if (!bounds(s, u, &least, &most))
                ostmt_refuse(s, ORACLE_UNSURE, "an extent depends on an empty one");
            const int64_t v = room(u, t, n, least, most);
            const int x = u->index[t];
            if (!found[x] || v < hi[x]) hi[x] = v;
            found[x] = any = true;
        }
    }
    for (int k = 0; k < s->nindex; k++) {
        if (!found[k]) continue;
        s->index[k].known = true;
        s->index[k].hi = hi[k];
    }
    return any;
}

static void check_access(ostmt *s, const osub *u)
{
    int64_t lo, hi;
    bool some = bounds(s, u, &lo, &hi);
    if (u->pad || (lo >= 0 && hi < u->size)) return;
    if (!some && (u->size > 0 || u->exact)) return;
    if (!some)
        ostmt_refuse(s, ORACLE_UNSURE, "an access that is never made leaves its tensor");
    else
        ostmt_refuse(s, ORACLE_ERROR, "an access could leave its tensor");
}

void ostmt_solve(ostmt *s)
{
    for (int k = 0; k < s->nsub; k++)
        if (s->sub[k].exact && !s->sub[k].pad) set_exact(s, &s->sub[k]);
    /* A bare subscript after `pad` gives a range where none else does. */
    for (int k = 0; k < s->nsub; k++)
        if (s->sub[k].exact && s->sub[k].pad && !s->index[s->sub[k].index[0]].known)
            set_exact(s, &s->sub[k]);
    while (s->verdict != ORACLE_ERROR && (solve_round(s, false) || solve_round(s, true))) {
        int t;
        for (int k = 0; k < s->nsub; k++) {
            /* Solved in more than one round: in which order isn't said. */
            if (!s->sub[k].pad && unknowns(s, &s->sub[k], &t) > 0)
                ostmt_refuse(s, ORACLE_UNSURE, "extents known only one after another");
        }
    }
    for (int k = 0; k < s->nindex; k++) {
        if (!s->index[k].known) ostmt_refuse(s, ORACLE_ERROR, "an index without an extent");
    }
    if (s->verdict == ORACLE_ERROR) return;
    for (int k = 0; k < s->nsub; k++)
        check_access(s, &s->sub[k]);
    for (int k = 0; k < s->nindex; k++) {
        if (s->index[k].given && s->index[k].hi < s->index[k].lo)
            ostmt_refuse(s, ORACLE_UNSURE, "a range that ends before it begins");
    }
}
