/* super_scatter.c: scaled fibers into a dense workspace: the kernels that scatter.def's
 * rows instantiate, and matching. (The fibers of a row: super_scatter_row.c.)
 *
 * The loop over k is an intersection. What a fiber that isn't there would add is nothing,
 * so its operand needn't be there in every mask.
 *
 * Fibers that have all coordinates of a range are scattered, too: a line each, which is
 * added to the row element by element once all of that has been touched.
 */
#include "../core/coords.h"
#include "../nest/fibers.h"
#include "../strips/strip.h"
#include "scatter.h"
#include "super.h"
#include <string.h>

/* ---- kernels ----------------------------------------------------------------------- */

/* Whether a term settles what it is folded into: while all do, nothing is folded, and to
 * guess what is there gains less than guessing wrong costs, but of short fibers. */
#define SETTLES_ADD(x) ((void)(x), false)
#define SETTLES_MIN(x) ((void)(x), false)
#define SETTLES_MAX(x) ((void)(x), false)
#define SETTLES_OR(x) ((x) != 0)

/* What it is then. */
#define SETTLED_ADD 0
#define SETTLED_MIN 0
#define SETTLED_MAX 0
#define SETTLED_OR 1

#define SCATTER(TYPE, W, TERM, FOLD)                                                       \
    INLINE void put_##TERM##_##FOLD##_##TYPE##_##W(const scatter *sc, workspace *w, int k, \
                                                   int n, bool guess, bool line)           \
    {                                                                                      \
        const elem_##TYPE *vals = sc->vals;                                                \
        const num_##TYPE *by = (const num_##TYPE *)sc->by;                                 \
        num_##TYPE *acc = w->dense;                                                        \
        uint64_t *set = w->set;                                                            \
        int64_t *touched = w->touched, count = w->n;                                       \
        for (; k < n; k++) {                                                               \
            const index_##W *crd = (const index_##W *)sc->crd;                             \
            const num_##TYPE s = by[k];                                                    \
            const int64_t begin = sc->from[k] - sc->lo;                                    \
            if (k + sc->ahead < n) {                                                       \
                if (!line) __builtin_prefetch(crd + sc->from[k + sc->ahead]);              \
                if (vals) __builtin_prefetch(vals + sc->from[k + sc->ahead]);              \
            }                                                                              \
            for (int64_t p = sc->from[k], e = sc->to[k]; p < e; p++) {                     \
                const int64_t i = line ? p - begin : crd[p];                               \
                const num_##TYPE x = vals ? FN(TERM, TYPE, s, GET(TYPE, vals[p])) : s;     \
                const uint64_t bit = UINT64_C(1) << (i & 63), word = set[i >> 6];          \
                const bool met = word & bit;                                               \
                if (guess && met) {                                                        \
                    acc[i] = FN(FOLD, TYPE, acc[i], x);                                    \
                    continue;                                                              \
                }                                                                          \
                const num_##TYPE either[2] = {x, guess ? x : FN(FOLD, TYPE, acc[i], x)};   \
                acc[i] = either[met];                                                      \
                set[i >> 6] = word | bit;                                                  \
                touched[count] = i;                                                        \
                count += !met;                                                             \
            }                                                                              \
        }                                                                                  \
        w->n = count;                                                                      \
    }                                                                                      \
                                                                                           \
    /* fibers that meet only what is settled, up to a term that settles nothing, where the \
     * others go on: what is new is only listed, as all of it has one value */             \
    INLINE int settle_##TERM##_##FOLD##_##TYPE##_##W(scatter *sc, workspace *w, int n,     \
                                                     bool guess)                           \
    {                                                                                      \
        const elem_##TYPE *vals = sc->vals;                                                \
        const index_##W *crd = (const index_##W *)sc->crd;                                 \
        const num_##TYPE one = SETTLED_##FOLD;                                             \
        uint64_t *set = w->set;                                                            \
        int64_t *touched = w->touched, count = w->n;                                       \
        int k = 0;                                                                         \
        memcpy(&w->one, &one, sizeof one);                                                 \
        w->alike = true;                                                                   \
        for (; k < n && sc->settled; k++) {                                                \
            const num_##TYPE s = ((const num_##TYPE *)sc->by)[k];                          \
            if (k + sc->ahead < n) {                                                       \
                __builtin_prefetch(crd + sc->from[k + sc->ahead]);                         \
                if (vals) __builtin_prefetch(vals + sc->from[k + sc->ahead]);              \
            }                                                                              \
            for (int64_t p = sc->from[k], e = sc->to[k]; p < e; p++) {                     \
                const num_##TYPE x = vals ? FN(TERM, TYPE, s, GET(TYPE, vals[p])) : s;     \
                const int64_t i = crd[p];                                                  \
                const uint64_t bit = UINT64_C(1) << (i & 63), word = set[i >> 6];          \
                const bool met = word & bit;                                               \
                if (__builtin_expect(!SETTLES_##FOLD(x), 0)) {                             \
                    sc->settled = false;                                                   \
                    sc->from[k--] = p;                                                     \
                    break;                                                                 \
                }                                                                          \
                if (guess && met) continue;                                                \
                set[i >> 6] = word | bit;                                                  \
                touched[count] = i;                                                        \
                count += !met;                                                             \
            }                                                                              \
        }                                                                                  \
        w->n = count;                                                                      \
        return k;                                                                          \
    }                                                                                      \
                                                                                           \
    /* a line of terms, folded into what is there, or not */                               \
    INLINE void line_##TERM##_##FOLD##_##TYPE##_##W(const scatter *sc, workspace *w,       \
                                                    int k, bool met)                       \
    {                                                                                      \
        const elem_##TYPE *vals =                                                          \
            sc->vals ? (const elem_##TYPE *)sc->vals + sc->from[k] : NULL;                 \
        const num_##TYPE s = ((const num_##TYPE *)sc->by)[k];                              \
        num_##TYPE *acc = (num_##TYPE *)w->dense + sc->lo;                                 \
        for (int64_t j = 0, m = sc->hi - sc->lo; j < m; j++) {                             \
            const num_##TYPE x = vals ? FN(TERM, TYPE, s, GET(TYPE, vals[j])) : s;         \
            acc[j] = met ? FN(FOLD, TYPE, acc[j], x) : x;                                  \
        }                                                                                  \
    }                                                                                      \
                                                                                           \
    static void lines_##TERM##_##FOLD##_##TYPE##_##W(const scatter *sc, workspace *w,      \
                                                     int n)                                \
    {                                                                                      \
        int k = 0;                                                                         \
        if (!w->n && sc->hi - sc->lo == sc->places) {                                      \
            line_##TERM##_##FOLD##_##TYPE##_##W(sc, w, k++, false);                        \
            ws_touch_all(w, sc->places);                                                   \
        }                                                                                  \
        for (; k < n && w->n < sc->places; k++)                                            \
            put_##TERM##_##FOLD##_##TYPE##_##W(sc, w, k, k + 1, false, true);              \
        for (; k < n; k++)                                                                 \
            line_##TERM##_##FOLD##_##TYPE##_##W(sc, w, k, true);                           \
    }                                                                                      \
    static void scatter_##TERM##_##FOLD##_##TYPE##_##W(scatter *sc, workspace *w, int n)   \
    {                                                                                      \
        const bool guess = sc->guess && (sc->brief || !SETTLES_##FOLD(1));                 \
        int k = 0;                                                                         \
        if (w->alike && !sc->settled) ws_spell_out(w);                                     \
        if (sc->lines)                                                                     \
            lines_##TERM##_##FOLD##_##TYPE##_##W(sc, w, n);                                \
        else if (SETTLES_##FOLD(1) && sc->settled)                                         \
            k = guess ? settle_##TERM##_##FOLD##_##TYPE##_##W(sc, w, n, true)              \
                      : settle_##TERM##_##FOLD##_##TYPE##_##W(sc, w, n, false);            \
        if (w->alike && !sc->settled) ws_spell_out(w);                                     \
        if (!sc->lines && guess)                                                           \
            put_##TERM##_##FOLD##_##TYPE##_##W(sc, w, k, n, true, false);                  \
        else if (!sc->lines)                                                               \
            put_##TERM##_##FOLD##_##TYPE##_##W(sc, w, k, n, false, false);                 \
    }
#include "scatter.def"

static const struct scatter_instance {
    uint8_t type, index;
    int16_t term, fold;
    scatter_kernel run;
} instances[] = {
#define SCATTER(TYPE, W, TERM, FOLD)                                                       \
    {STC_##TYPE, W, FN_##TERM, FN_##FOLD, scatter_##TERM##_##FOLD##_##TYPE##_##W},
#include "scatter.def"
};

/* A value alone is itself times one, and both true and one. */
static bool takes_term(const scatter *sc, int term)
{
    return term == sc->term || (!sc->nfactor && sc->term == FN_MUL && term == FN_AND);
}

static bool choose(scatter *sc)
{
    bool any = false;
    if (sc->type < 0) sc->type = (int16_t)class_type((vclass)sc->cls);
    for (int k = 0; k < SCATTER_ROWS; k++) {
        const struct scatter_instance *r = &instances[k];
        if (r->type != sc->type || r->fold != sc->fold || !takes_term(sc, r->term))
            continue;
        *(r->index == 32 ? &sc->narrow : &sc->wide) = r->run;
        sc->row[r->index == 64] = k;
        any = true;
    }
    return any;
}

/* ---- matching ---------------------------------------------------------------------- */

/* The `open` of a cursor, if nothing but what stands in one block with lop `before` is
 * between them. The walk ends: a cursor is open where it is walked. */
static const insn *opened(const machine *mc, int before, uint16_t reg)
{
    for (int k = before - 1;; k--) {
        const insn *in = insn_of(mc, k);
        switch (in->op) {
        case OP_OPEN:
            if (in->arg[0] == reg) return in;
            break;
        case OP_OPENAT:
        case OP_SUBSECT:
        case OP_LOOP:
        case OP_END:
        case OP_IF:
        case OP_ELSE:
        case OP_ENDIF:
        case OP_WHILE:
        case OP_ENDWHILE:
            return NULL;
        default:
            break;
        }
    }
}

static bool match_operand(const machine *mc, const loop *l, const merge_operand *o,
                          scatter_operand *out)
{
    const merge_desc *m = l->merge;
    *out = (scatter_operand){.cursor = o->cursor};
    if (operand_walks(o)) {
        const insn *in = opened(mc, l->first, o->cursor);
        if (!in) return false;
        out->tensor = in->arg[1];
        out->level = in->arg[2];
        out->up = in->arg[3];
    } else if (located_plainly(o)) {
        out->tensor = o->tensor;
        out->level = o->level;
        out->up = o->up;
    } else {
        return false;
    }
    for (int b = 0; b < m->count; b++)
        if (m->operand[b].cursor == out->up) return false;
    return true;
}

/* Every mask that produces has all operands, but for the one whose fibers are scattered:
 * without it there is nothing to scatter, if the loop over j goes through what is there.
 * Those that some mask lacks must be everywhere in the run. */
static bool match_merge(const machine *mc, scatter *sc)
{
    const merge_desc *m = sc->mid->merge;
    const int spared = sc->inner->merge->universe ? -1 : sc->owner;
    if (m->count == 0 || m->count > SCATTER_OPERANDS) return false;
    for (uint64_t mask = 0; mask < UINT64_C(1) << m->count; mask++)
        for (int b = 0; b < m->count; b++)
            if (m->produce >> mask & 1 && !(mask >> b & 1) && b != spared)
                sc->everywhere |= (uint8_t)(1 << b);
    if (!(m->produce >> ((1 << m->count) - 1) & 1)) return false;
    sc->noperand = m->count;
    for (int b = 0; b < m->count; b++)
        if (!match_operand(mc, sc->mid, &m->operand[b], &sc->operand[b])) return false;
    return true;
}

/* All that is loaded has one type, whose values are of the sum's class. */
static bool match_type(const machine *mc, scatter *sc, uint16_t id)
{
    const stc_type t = (stc_type)mc->p->tensor[id].type;
    if (sc->type < 0) sc->type = (int16_t)t;
    return t == (stc_type)sc->type && type_class(t) == (vclass)sc->cls;
}

/* What doesn't depend on j: factors of a node of the loop over k. */
static bool match_factor(const machine *mc, scatter *sc, const loop_summary *s, int id)
{
    const node *x = &s->node[id];
    if (x->kind == NODE_FN && x->fn == FN_MUL)
        return match_factor(mc, sc, s, x->arg[0]) && match_factor(mc, sc, s, x->arg[1]);
    int16_t fn = -1;
    if (x->kind == NODE_FN && x->nargs == 1 && x->fn_cls == sc->cls && x->cls == sc->cls &&
        !(fn_at(x->fn)->flags & FP_FAULTS)) {
        fn = x->fn;
        x = &s->node[x->arg[0]];
    }
    if (sc->nfactor == SCATTER_FACTORS) return false;
    scatter_factor f = {.a = x->a};
    if (x->kind == NODE_LOAD) {
        const place *p = &s->place[x->b];
        if (!match_type(mc, sc, x->a)) return false;
        f = (scatter_factor){FACTOR_FIXED, p->cursor, x->a, -1};
        if (p->kind == PLACE_OPERAND)
            f = (scatter_factor){FACTOR_OPERAND, p->operand, x->a, -1};
    } else if (x->kind == NODE_LIVE) {
        f.kind = FACTOR_LIVE;
    } else if (x->kind == NODE_CONST) {
        f.kind = FACTOR_CONST;
    } else {
        return false;
    }
    f.fn = fn;
    sc->factor[sc->nfactor++] = f;
    return true;
}

/* Whether place b is in the fiber that the row has once. */
static bool in_sieve(const scatter *sc, const place *p)
{
    return sc->sieve.there && p->kind == PLACE_OPERAND &&
           sc->inner->merge->operand[p->operand].cursor == sc->sieve.cursor;
}

static bool match_value(const machine *mc, scatter *sc, const loop_summary *mid,
                        const loop_summary *in, const nest_links *links, int id)
{
    const node *x = &in->node[id];
    if (!x->varies) /* alone in its loop, what it leaves alone are its own nodes */
        return match_factor(mc, sc, mid ? mid : in, mid ? links->node[id] : id);
    if (x->kind == NODE_LOAD) {
        bool *valued = in_sieve(sc, &in->place[x->b]) ? &sc->sieve.valued : &sc->valued;
        if (*valued) return false; /* by the one cursor that varies */
        *valued = true;
        return match_type(mc, sc, x->a);
    }
    if (x->kind != NODE_FN || x->nargs != 2 || x->fn_cls != sc->cls) return false;
    /* a product has any number of factors, any other term one of each side */
    if (x->fn != FN_MUL &&
        (id != in->sink[0].node || !(fn_at(x->fn)->flags & FP_COMMUTATIVE)))
        return false;
    if (id == in->sink[0].node) sc->term = x->fn;
    if (sc->term != x->fn) return false;
    return match_value(mc, sc, mid, in, links, x->arg[0]) &&
           match_value(mc, sc, mid, in, links, x->arg[1]);
}

static bool plain(const loop_summary *s, bool inner)
{
    for (int k = 0; k < s->nstep; k++)
        if (s->step[k].kind != STEP_NODE && !(inner && s->step[k].kind == STEP_INNER))
            return false;
    return true;
}

/* Of two fibers that are walked, where both are: the one that the row has once. The
 * other's place in the loop over k; -1: there is none. */
static int match_sieve(const machine *mc, scatter *sc, const loop_summary *mid,
                       const loop_summary *in, const nest_links *links)
{
    const merge_desc *m = sc->inner->merge;
    if (m->count != 2 || m->produce != UINT64_C(1) << 3) return -1;
    for (int b = 0; b < 2; b++) {
        scatter_operand o;
        const place *p = &mid->place[links->up[1 + b]];
        if (!operand_walks(&m->operand[0]) || !operand_walks(&m->operand[1]) ||
            mid->place[p->up].kind != PLACE_FIXED ||
            !match_operand(mc, in->l, &m->operand[b], &o))
            continue;
        sc->sieve = (sieve){.there = true,
                            .cursor = o.cursor,
                            .tensor = o.tensor,
                            .level = o.level,
                            .up = o.up};
        return links->up[2 - b];
    }
    return -1;
}

static bool match_fiber(const machine *mc, scatter *sc, const loop_summary *mid,
                        const loop_summary *in, const nest_links *links)
{
    const merge_desc *m = sc->inner->merge;
    const bool one = merge_walks_one(m) || merge_ranges_one(m);
    const int at = one && mid ? links->up[1]
                   : mid      ? match_sieve(mc, sc, mid, in, links)
                              : 0;
    if (at < 0 || (!one && !mid)) return false;
    sc->owner = -1;
    if (!mid) {
        scatter_operand o;
        if (!match_operand(mc, in->l, &m->operand[0], &o)) return false;
        sc->tensor = o.tensor;
        sc->level = o.level;
        sc->below = o.up;
        return true;
    }
    const place *up = &mid->place[at];
    sc->tensor = m->operand[0].tensor;
    sc->level = m->operand[0].level;
    if (operand_walks(&m->operand[0])) { /* an open cursor (summary_link.c) */
        if (up->coef != 1 || up->shift != UNLINKED) return false; /* not its coordinates */
        sc->tensor = up->tensor;
        sc->level = up->level;
        up = &mid->place[up->up];
    }
    if (up->kind == PLACE_OPERAND) sc->owner = (int16_t)up->operand;
    sc->below = up->cursor;
    return true;
}

/* The term of two fibers' values is made before it is scattered: as wide as their class. */
static bool has_width(const scatter *sc)
{
    return !sc->valued || !sc->sieve.valued ||
           class_type((vclass)sc->cls) == (stc_type)sc->type;
}

/* Where lines are of cursors further out, these may stand on nothing, and then the fill
 * is what has to be scattered. */
static bool stands(const scatter *sc)
{
    return !sc->inner->merge->universe ||
           (sc->owner < 0 ? sc->below : sc->operand[sc->owner].up) == ROOT;
}

/* Whether loop l, around loop `in`, does no more than to open what that walks. */
static bool only_opens(const machine *mc, const loop *l, const loop *in)
{
    for (int k = l->first + 1; k < in->first; k++)
        if (insn_of(mc, k)->op != OP_OPEN) return false;
    return in->last + 1 == l->last;
}

/* The two innermost loops; those around them, each of which is all of the next. */
static const loop_tree *match_around(const machine *mc, scatter *sc, const loop_tree *t)
{
    for (; t->nchild == 1 && t->child[0]->nchild; t = t->child[0]) {
        if (sc->naround == SCATTER_AROUND || !only_opens(mc, t->s.l, t->child[0]->s.l))
            return NULL;
        memmove(sc->around + 1, sc->around, (size_t)sc->naround++ * sizeof *sc->around);
        sc->around[0] = t->s.l;
    }
    return t->nchild < 2 ? t : NULL;
}

static bool match(const machine *mc, scatter *sc, const loop_tree *t)
{
    if (!(t = match_around(mc, sc, t))) return false;
    const loop_summary *const mid = t->nchild ? &t->s : NULL;
    const loop_summary *const in = t->nchild ? &t->child[0]->s : &t->s;
    const nest_links *const links = t->nchild ? &t->child[0]->link : NULL;
    const sink *x = &in->sink[0];
    if (in->nsink != 1 || x->kind != SINK_WSADD || x->icol[0] != 0 ||
        mc->p->tensor[x->a].order != 1 || !plain(in, false))
        return false;
    if (mid && (mid->nsink || !plain(mid, true))) return false;
    sc->mid = mid ? mid->l : NULL;
    sc->inner = in->l;
    sc->work = x->a;
    sc->cls = x->cls;
    sc->type = -1;
    sc->fold = x->fn;
    sc->term = FN_MUL; /* a value alone is itself times nothing */
    sc->at = x->at;
    return match_fiber(mc, sc, mid, in, links) && (!mid || match_merge(mc, sc)) &&
           stands(sc) && match_value(mc, sc, mid, in, links, x->node) && choose(sc) &&
           has_width(sc);
}

/* ---- as the super of a loop ---------------------------------------------------------- */

static stc_status scatter_run(machine *mc, super *base)
{
    scatter *sc = (scatter *)base;
    if (scatter_ready(mc, sc, false)) return scatter_row(mc, sc);
    return sc->other ? sc->other->run(mc, sc->other) : SUPER_REPLAY;
}

static void scatter_free(machine *mc, super *base)
{
    scatter *sc = (scatter *)base;
    super *other = sc->other;
    mem_free(mc->cx, sc->block, sc->block_size);
    sieve_free(mc->cx, &sc->sieve);
    if (!other) return;
    other->free(mc, other);
    mem_free(mc->cx, other, other->size);
}

scatter *scatter_of(const loop *l, int work)
{
    super *s = l->super;
    if (!s || s->run != scatter_run) return NULL;
    scatter *sc = (scatter *)s;
    return sc->work == work ? sc : NULL;
}

static void describe(const super *base, textbuf *out)
{
    const scatter *sc = (const scatter *)base;
    text_add(out, "scatter %s, %s into a row%s", fn_at(sc->term)->name,
             fn_at(sc->fold)->name, sc->sieve.there ? ", where another fiber is" : "");
}

stc_status scatter_fuse(machine *mc, const loop_tree *t, super **out)
{
    scatter try = {0};
    if (!match(mc, &try, t)) return STC_OK;
    scatter *sc = mem_alloc(mc->cx, sizeof *sc);
    if (!sc) return mc->cx->diag.status;
    *sc = try;
    sc->other = *out;
    sc->base = (super){.run = scatter_run,
                       .free = scatter_free,
                       .describe = describe,
                       .next = t->s.l->exit,
                       .loop = t->s.l,
                       .tier = sc->mid ? 3 : 2,
                       .size = sizeof *sc};
    *out = &sc->base;
    return STC_OK;
}
