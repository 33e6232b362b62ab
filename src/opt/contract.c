/* contract.c: factors of a network become one, by a step.
 *
 * Factors are expressions whose indices are numbered from 0, and know which indices of the
 * statement those are. A bucket has some of them, and their indices numbered together: at
 * most 64, so that what a step costs (cost.c) and what it is (steps.c, shape.c) are asked
 * as of any statement. While orders are compared, factors are replaced without a step.
 */
#include "network.h"
#include <string.h>

/* ---- lists -------------------------------------------------------------------------- */

bool list_put(arena *a, list *l, int what)
{
    if (l->n == l->room) {
        int *grown = arena_room(a, 2 * l->room + 8, sizeof *grown);
        if (!grown) return false;
        if (l->n) memcpy(grown, l->at, (size_t)l->n * sizeof *grown);
        l->at = grown;
        l->room = 2 * l->room + 8;
    }
    l->at[l->n++] = what;
    return true;
}

static void take(list *l, int what)
{
    int to = 0;
    for (int k = 0; k < l->n; k++)
        if (l->at[k] != what) l->at[to++] = l->at[k];
    l->n = to;
}

bool net_enter(net *t, int which)
{
    const node *f = &t->f[which];
    bool ok = list_put(t->o->a, &t->left, which);
    for (int k = 0; k < f->n; k++)
        ok = ok && list_put(t->o->a, &t->has[f->index[k]], which);
    return ok;
}

static void leave(net *t, int which)
{
    take(&t->left, which);
    for (int k = 0; k < t->f[which].n; k++)
        take(&t->has[t->f[which].index[k]], which);
}

static node *more(net *t)
{
    if (t->n == t->room) {
        node *grown = arena_room(t->o->a, 2 * t->room + 16, sizeof *grown);
        if (!grown) return NULL;
        if (t->n) memcpy(grown, t->f, (size_t)t->n * sizeof *grown);
        t->f = grown;
        t->room = 2 * t->room + 16;
    }
    return &t->f[t->n];
}

/* ---- factors ------------------------------------------------------------------------ */

bool net_note(net *t, list *l, int index)
{
    if (t->local[index] >= 0) return true;
    t->local[index] = l->n;
    return list_put(t->o->a, l, index);
}

/* The indices that reductions in e bind get -2, or a number. */
static bool note_bound(net *t, list *l, const bexpr *e)
{
    bool ok = true;
    for (int k = 0; e->kind == B_REDUCE && k < e->nindex; k++) {
        int *at = &t->local[e->indices[k]];
        if (l && *at == -2) {
            *at = -1;
            ok = ok && net_note(t, l, e->indices[k]);
        }
        if (!l) *at = -2;
    }
    for (int k = 0; k < e->nargs; k++)
        ok = ok && note_bound(t, l, e->args[k]);
    return ok;
}

static bool note_free(net *t, list *l, const bexpr *e)
{
    bool ok = true;
    if (e->kind == B_INDEX && t->local[e->index] == -1) ok = net_note(t, l, e->index);
    for (int m = 0; e->kind == B_ACCESS && m < t->o->p->tensor[e->tensor].order; m++)
        for (int k = 0; k < e->sub[m].terms; k++)
            if (t->local[e->sub[m].term[k].index] == -1)
                ok = ok && net_note(t, l, e->sub[m].term[k].index);
    for (int k = 0; k < e->nargs; k++)
        ok = ok && note_free(t, l, e->args[k]);
    return ok;
}

void net_forget(net *t, const int *index, int n)
{
    for (int k = 0; k < n; k++)
        t->local[index[k]] = -1;
}

/* The statement with some of its indices alone. */
static bool begin_local(const net *t, const int *index, int n, opt *o)
{
    bstmt *s = arena_alloc(t->o->a, sizeof *s);
    bindex *own = arena_room(t->o->a, n + 1, sizeof *own);
    if (!s || !own) return false;
    s->at = t->o->s->at;
    s->index = own;
    s->nindex = n;
    for (int k = 0; k < n; k++) {
        own[k] = t->o->s->index[index[k]];
        o->extent[k] = t->runs[index[k]];
    }
    o->s = s;
    return true;
}

stc_status net_add(net *t, bexpr *own, bool *ok)
{
    opt *o = t->o;
    list l = {0};
    node *f = more(t);
    if (!f) return STC_ERR_MEMORY;
    bool room = note_bound(t, NULL, own) && note_free(t, &l, own);
    const int free = l.n;
    room = room && note_bound(t, &l, own);
    *ok = !has_window(o->p, own) && l.n <= BOUND_INDICES;
    if (room && *ok) rename_in(o->p, own, t->local);
    net_forget(t, l.at, l.n);
    if (!room) return STC_ERR_MEMORY;
    if (!*ok) return STC_OK;
    opt here = *o;
    if (!begin_local(t, l.at, l.n, &here)) return STC_ERR_MEMORY;
    const factor as = factor_as_written(&here, t->x, own);
    *f = (node){own, l.at, free, l.n, as.density, as.full};
    t->n++;
    return STC_OK;
}

/* ---- steps -------------------------------------------------------------------------- */

/* Gathers factors, which are to become one, and what can be reduced then: without `some`
 * nothing is. False: they can't be a step. */
bool net_gather(net *t, const int *nodes, int n, bool some, bucket *b)
{
    bool ok = n <= MOST;
    b->n = b->nindex = 0;
    b->group = b->out = 0;
    for (int k = 0; k < n && ok; k++) {
        const node *f = &t->f[nodes[k]];
        uint64_t set = 0;
        for (int i = 0; i < f->all && ok; i++) {
            int *at = &t->local[f->index[i]];
            if (*at < 0 && !(ok = b->nindex < BOUND_INDICES)) break;
            if (*at < 0) {
                b->o.extent[b->nindex] = t->runs[f->index[i]];
                b->index[b->nindex] = f->index[i];
                *at = b->nindex++;
            }
            if (i < f->n) set |= UINT64_C(1) << *at;
        }
        b->node[b->n] = nodes[k];
        b->f[b->n++] = (factor){f->e, .indices = set, .density = f->density,
                                .full = f->full, .step = -1};
        b->out |= set;
    }
    net_forget(t, b->index, b->nindex);
    for (uint64_t set = b->out; set && ok; set &= set - 1) {
        const int i = __builtin_ctzll(set), index = b->index[i];
        int with = 0; /* how many of them have it */
        for (int k = 0; k < b->n; k++)
            with += (b->f[k].indices >> i) & 1;
        if (t->o->s->index[index].lo >= 0) ok = false;
        if (some && t->reduced[index] && t->has[index].n == with)
            b->group |= UINT64_C(1) << i;
    }
    b->out &= ~b->group;
    return ok && __builtin_popcountll(b->out) <= STC_MAX_ORDER &&
           (b->out || !t->o->pattern);
}

void net_price(bucket *b)
{
    b->density = cost_result(&b->o, b->f, b->n, b->out);
    b->cost = cost_nest(&b->o, b->f, b->n) + cost_write(&b->o, b->out, b->density);
}

/* Expressions get the bucket's numbers. */
static void rename_factors(net *t, bucket *b)
{
    int to[BOUND_INDICES];
    for (int k = 0; k < b->nindex; k++)
        t->local[b->index[k]] = k;
    for (int k = 0; k < b->n; k++) {
        const node *f = &t->f[b->node[k]];
        for (int i = 0; i < f->all; i++)
            to[i] = t->local[f->index[i]];
        rename_in(t->o->p, f->e, to);
    }
    net_forget(t, b->index, b->nindex);
}

/* A step of the bucket's factors; its result's indices are numbered as in *f. */
static stc_status emit(net *t, bucket *b, node *f)
{
    opt *o = t->o;
    product *x = arena_room(o->a, 1, sizeof *x);
    opt_part all = {.f = b->f, .n = b->n, .reduced = b->group, .out = b->out};
    factor result;
    int to[BOUND_INDICES], n = 0;
    opt here = *o;
    if (!x || !begin_local(t, b->index, b->nindex, &here)) return STC_ERR_MEMORY;
    rename_factors(t, b);
    memcpy(x, t->x, sizeof *x);
    x->reduced = b->group;
    x->n = b->n;
    memcpy(x->factor, b->f, (size_t)b->n * sizeof *b->f);
    if (!step_room(&here, 1)) return STC_ERR_MEMORY;
    const stc_status st = make_step(&here, x, &all, &result);
    o->step = here.step;
    o->nstep = here.nstep;
    o->step_room = here.step_room;
    if (st) return st;
    for (uint64_t set = b->out; set; set &= set - 1)
        to[__builtin_ctzll(set)] = n++;
    f->e = (bexpr *)result.e;
    f->full = result.full;
    rename_in(o->p, f->e, to);
    return STC_OK;
}

/* The bucket's factors become one; `real`: by a step. */
stc_status net_replace(net *t, bucket *b, bool real)
{
    node *f = more(t);
    int *index = arena_room(t->o->a, STC_MAX_ORDER + 1, sizeof *index), n = 0;
    if (!f || !index) return STC_ERR_MEMORY;
    for (uint64_t set = b->out; set; set &= set - 1)
        index[n++] = b->index[__builtin_ctzll(set)];
    *f = (node){.index = index, .n = n, .all = n, .density = b->density};
    const stc_status st = real ? emit(t, b, f) : STC_OK;
    if (st) return st;
    for (int k = 0; k < b->n; k++)
        leave(t, b->node[k]);
    for (uint64_t set = b->group; set; set &= set - 1) {
        t->reduced[b->index[__builtin_ctzll(set)]] = false;
        t->nreduced--;
    }
    return net_enter(t, t->n++) ? STC_OK : STC_ERR_MEMORY;
}
