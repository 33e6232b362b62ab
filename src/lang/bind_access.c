/* bind_access.c: a tensor with subscripts → its slot and affine functions of
 * indices. What isn't affine is computed (bind_computed.c). Names in affine subscripts are
 * indices; what each subscript says of their ranges is noted for bind_extent.c.
 */
#include "bind.h"

#include <string.h>

/* ---- indices ------------------------------------------------------------------- */

int bind_family_new(binder *b, const ast *name, bool is_free)
{
    if (b->nfamily == BIND_MAX_INDEX) {
        bind_fail(b, name->at, "a statement has at most %d indices", BIND_MAX_INDEX);
        return -1;
    }
    b->family[b->nfamily] = (family){.name = name->name, .at = name->at, .free = is_free};
    return b->nfamily++;
}

int bind_index_new(binder *b, const ast *name, int fam)
{
    if (b->nindex == BIND_MAX_INDEX) {
        bind_fail(b, name->at, "a statement has at most %d indices", BIND_MAX_INDEX);
        return -1;
    }
    b->index[b->nindex] = (bindex){.name = name->name, .lo = -1, .hi = -1, .at = name->at};
    b->family_of[b->nindex] = (uint16_t)fam;
    return b->nindex++;
}

/* Most names are a letter, and differ in that. */
static bool same_name(const char *a, const char *b)
{
    return *a == *b && !strcmp(a, b);
}

static int visible(const binder *b, const uint16_t *list, int n, const char *name)
{
    for (int k = n - 1; k >= 0; k--)
        if (same_name(b->index[list[k]].name, name)) return list[k];
    return -1;
}

/* Innermost first: bound by a reduction, free in the term, on the left. */
int bind_index_named(binder *b, const ast *name, bool make)
{
    int i = visible(b, b->bound, b->nbound, name->name);
    if (i < 0) i = visible(b, b->term, b->nterm, name->name);
    for (int k = 0; i < 0 && k < b->nleft; k++)
        if (!b->index[k].value && same_name(b->index[k].name, name->name)) i = k;
    if (i >= 0 || !make) return i;
    int fam = 0;
    while (fam < b->nfamily &&
           !(b->family[fam].free && same_name(b->family[fam].name, name->name)))
        fam++;
    if (fam == b->nfamily) {
        const scope_tensor *const t = scope_find_tensor(b->s, name->name);
        if (t && t->order == 0) {
            bind_fail(
                b, name->at,
                "`%s` is an index here, and there is a tensor of order 0 of that name; "
                "rename one or drop the tensor",
                name->name);
            return -1;
        }
        if (bind_family_new(b, name, true) < 0) return -1;
    }
    i = bind_index_new(b, name, fam);
    if (i >= 0) b->term[b->nterm++] = (uint16_t)i;
    return i;
}

/* ---- tensors -------------------------------------------------------------------- */

bool bind_touch(binder *b, scope_tensor *t)
{
    for (const touched *u = b->undo; u; u = u->next)
        if (u->t == t) return true;
    touched *u = arena_alloc(b->a, sizeof *u);
    if (!u) return false;
    *u = (touched){.t = t, .slot = t->slot, .order = t->order, .next = b->undo};
    b->undo = u;
    return true;
}

/* The tensor's order becomes known, and with it an open format, by its first use. */
bool bind_close_format(binder *b, scope_tensor *t, int order, span at)
{
    if (t->order < 0) t->order = order;
    if (t->has_format || t->has_data) {
        const bool none = !t->has_format && t->fmt.order == 0 && order > 0;
        if (none || format_is_open(&t->fmt)) {
            touched *u = b->undo;
            while (u->t != t)
                u = u->next;
            if (!(u->open = arena_alloc(b->a, sizeof *u->open))) return false;
            *u->open = t->fmt;
            if (none ? !format_builtin("dense", 5, order, NULL, 0, &t->fmt)
                     : !format_close(&t->fmt, order))
                return bind_null(b, at, "the format of %s can't have %d modes", t->name,
                                 order);
        }
        if (t->fmt.order != order)
            return bind_null(b, at, "%s has a format of %d modes and is used with %d",
                             t->name, t->fmt.order, order);
    }
    return true;
}

int bind_slot(binder *b, scope_tensor *t, int order, span at)
{
    if (t->slot >= 0) return t->slot;
    if (!t->has_data) {
        bind_fail(b, at,
                  "%s has no value yet: it is declared, and nothing was assigned to it",
                  t->name);
        return -1;
    }
    if (!bind_touch(b, t) || !bind_close_format(b, t, order, at)) return -1;
    prog_tensor row;
    memset(&row, 0, sizeof row);
    row.name = t->name;
    row.role = ROLE_INPUT;
    row.type = t->type;
    row.order = t->order;
    row.fmt = t->fmt;
    row.fill = t->fill;
    t->slot = program_tensor(b->p, &row);
    return t->slot;
}

/* ---- subscripts ------------------------------------------------------------------- */

static bool too_large(binder *b, const ast *e)
{
    bind_fail(b, e->at, "the subscript's numbers are too large");
    return false;
}

static bool affine_add(binder *b, const ast *e, affine *f, int index, int64_t coef)
{
    int t = 0;
    while (t < f->terms && f->term[t].index != index)
        t++;
    if (t == BIND_MAX_TERMS) {
        bind_fail(b, e->at, "a subscript has at most %d indices", BIND_MAX_TERMS);
        return false;
    }
    if (t == f->terms) {
        f->term[t].index = index;
        f->term[t].coef = 0;
        f->terms++;
    }
    if (__builtin_add_overflow(f->term[t].coef, coef, &f->term[t].coef))
        return too_large(b, e);
    if (f->term[t].coef == 0) f->term[t] = f->term[--f->terms];
    return true;
}

static bool affine_scan(binder *b, const ast *e, int64_t scale, affine *f);

/* A product: one side is a literal. */
static bool affine_product(binder *b, const ast *e, int64_t scale, affine *f)
{
    const int side = bind_literal(e->child[0]) ? 0 : 1;
    const ast *k = e->child[side];
    bool minus = false;
    while (k->kind == N_UNARY) {
        minus ^= k->op == OPR_NEG;
        k = k->child[0];
    }
    int64_t factor = (int64_t)k->u;
    if (k->u > INT64_MAX ||
        __builtin_mul_overflow(scale, minus ? -factor : factor, &factor))
        return too_large(b, k);
    return affine_scan(b, e->child[1 - side], factor, f);
}

/* Adds scale * e, which is affine, to f. */
static bool affine_scan(binder *b, const ast *e, int64_t scale, affine *f)
{
    int64_t k;
    switch (e->kind) {
    case N_NAME: {
        const int i = bind_index_named(b, e, true);
        return i >= 0 && affine_add(b, e, f, i, scale);
    }
    case N_INT:
        if (e->u > INT64_MAX || __builtin_mul_overflow(scale, (int64_t)e->u, &k) ||
            __builtin_add_overflow(f->constant, k, &f->constant))
            return too_large(b, e);
        return true;
    case N_UNARY:
        if (e->op == OPR_PLUS) return affine_scan(b, e->child[0], scale, f);
        if (e->op == OPR_NEG && scale != INT64_MIN)
            return affine_scan(b, e->child[0], -scale, f);
        break;
    case N_BINARY:
        if (e->op == OPR_MUL) return affine_product(b, e, scale, f);
        if ((e->op == OPR_ADD || e->op == OPR_SUB) && scale != INT64_MIN)
            return affine_scan(b, e->child[0], scale, f) &&
                   affine_scan(b, e->child[1], e->op == OPR_SUB ? -scale : scale, f);
        break;
    default:
        break;
    }
    bind_fail(b, e->at, "a slice is a subscript by itself: it can't be added to");
    return false;
}

static bool bind_bound(const binder *b, const ast *e)
{
    if (!e || e->kind == N_INT) return true;
    bind_fail(
        b, e->at,
        "a bound is an integer literal, or in a script a scalar: there is an index in "
        "it, or the text is compiled by itself");
    return false;
}

/* x(i in 0:n) on the left: its index has that range. */
static bool ranged(binder *b, const ast *e, affine *f)
{
    const int i = bind_index_named(b, e, true);
    if (i < 0 || !bind_bound(b, e->child[0]) || !bind_bound(b, e->child[1])) return false;
    if (e->child[0]->u) {
        bind_fail(b, e->at,
                  "the range of an index on the left begins at 0; a slice names a part, as "
                  "in x(i(2:5))");
        return false;
    }
    family *const fam = &b->family[b->family_of[i]];
    fam->given = fam->on_left = true;
    fam->to = (int64_t)e->child[1]->u;
    return affine_add(b, e, f, i, 1);
}

/* i(lo:hi:stride) is stride * i + lo, and i has as many values as it names. */
static bool slice_scan(binder *b, const ast *e, affine *f, access *out)
{
    const ast *const lo = e->child[0], *const hi = e->child[1], *const stride = e->child[2];
    out->slice = true;
    if (!bind_bound(b, lo) || !bind_bound(b, hi) || !bind_bound(b, stride)) return false;
    if ((lo && (int64_t)lo->u < 0) || (hi && (int64_t)hi->u < 0)) {
        bind_fail(b, e->at, "a slice's bounds are at least 0");
        return false;
    }
    out->lo = lo ? (int64_t)lo->u : 0;
    out->hi = hi ? (int64_t)hi->u : -1;
    out->stride = stride ? (int64_t)stride->u : 1;
    if (out->stride < 1) {
        bind_fail(b, e->at, "a slice's stride is at least 1");
        return false;
    }
    if (hi && out->lo > out->hi) {
        bind_fail(b, e->at, "this slice begins at %lld, after its end at %lld",
                  (long long)out->lo, (long long)out->hi);
        return false;
    }
    const int i = bind_index_named(b, e, true);
    f->constant = out->lo;
    return i >= 0 && affine_add(b, e, f, i, out->stride);
}

bool bind_subscripts(binder *b, const ast *e, bexpr *const *given, affine *sub, access *out)
{
    for (int k = 0; k < e->count; k++) {
        const ast *const s = e->child[k];
        out[k] =
            (access){.sub = &sub[k], .name = e->name, .mode = k, .hi = -1, .at = s->at};
        if (s->kind == N_NAME || given[k]) { /* the common case */
            const int i =
                given[k] ? bind_index_of(b, s, given[k]) : bind_index_named(b, s, true);
            if (i < 0) return false;
            sub[k].terms = 1;
            sub[k].term[0].index = i;
            sub[k].term[0].coef = 1;
        } else if (s->kind == N_BINDING) {
            if (!ranged(b, s, &sub[k])) return false;
        } else if (s->kind == N_SLICE ? !slice_scan(b, s, &sub[k], &out[k])
                                      : !affine_scan(b, s, 1, &sub[k])) {
            return false;
        }
    }
    return true;
}

/* The access's arguments are what is computed for it. */
static bool add_computed(binder *b, bexpr *x, bexpr *const *given, int count)
{
    for (int k = 0; k < count; k++)
        x->nargs += given[k] != NULL;
    if (!x->nargs) return true;
    if (!(x->args = arena_array(b->a, x->nargs, sizeof *x->args))) return false;
    for (int k = 0, n = 0; k < count; k++)
        if (given[k]) x->args[n++] = given[k];
    return true;
}

bexpr *bind_access(binder *b, const ast *e, scope_tensor *t, bool pad)
{
    if (e->count > STC_MAX_ORDER)
        return bind_null(b, e->at, "a tensor has at most %d modes", STC_MAX_ORDER);
    if (t->order >= 0 && t->order != e->count)
        return bind_null(b, e->at, "%s has %d mode%s and is used with %d subscript%s",
                         t->name, t->order, t->order == 1 ? "" : "s", e->count,
                         e->count == 1 ? "" : "s");
    const int slot = bind_slot(b, t, e->count, e->at);
    bexpr *x = slot < 0 ? NULL : bind_node(b, B_ACCESS, b->p->tensor[slot].type, e->at);
    if (!x) return NULL;
    x->tensor = slot;
    x->pad = pad;
    if (e->count == 0) return x;
    bexpr *computed[STC_MAX_ORDER];
    if (!bind_computed(b, e, computed) || !add_computed(b, x, computed, e->count))
        return NULL;
    x->sub = arena_array(b->a, e->count, sizeof *x->sub);
    if (!x->sub ||
        !bind_grow(b, &b->access, &b->access_cap, b->naccess + e->count, sizeof *b->access))
        return NULL;
    access *const out = b->access + b->naccess;
    if (!bind_subscripts(b, e, computed, x->sub, out)) return NULL;
    b->naccess += e->count;
    for (int k = 0; k < e->count; k++) {
        out[k].tensor = slot;
        out[k].pad = pad;
    }
    return x;
}
