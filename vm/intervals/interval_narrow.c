/* interval_narrow.c: bodies whose integers needn't be widened.
 *
 * Sums, differences, products and bits of integers are the same modulo 2^k whether
 * they are worked out in 64 bits or in k. Where that is all that is done between
 * elements of one width and a result of that width, strips of runs are evaluated in
 * it: several times as many elements in a vector, and nothing to convert.
 */
#include "interval.h"
#include <string.h>

/* ---- functions ---------------------------------------------------------------------- */

typedef void narrow_fn(void *out, const void *a, const void *b, int n);

#define LOOP(NAME, TARGET, T, e)                                                           \
    TARGET static void NAME(void *out, const void *a, const void *b, int n)                \
    {                                                                                      \
        T *restrict to = out;                                                              \
        const T *p = a, *q = b;                                                            \
        for (int k = 0; k < n; k++) {                                                      \
            const T x = p[k], y = q[k];                                                    \
            to[k] = (T)(e);                                                                \
        }                                                                                  \
    }
/* Products of what is narrower than int are made without sign. */
#define RING(FN, e)                                                                        \
    LOOP(FN##_1, WIDE, uint8_t, e)                                                         \
    LOOP(FN##_2, WIDE, uint16_t, e)                                                        \
    LOOP(FN##_4, WIDE, uint32_t, e)                                                        \
    LOOP(FN##_8, WIDE, uint64_t, e)
#define RINGS(ROW)                                                                         \
    ROW(ADD, x + y)                                                                        \
    ROW(SUB, x - y)                                                                        \
    ROW(MUL, 1u * x * y)                                                                   \
    ROW(NEG, 0u - x + 0 * y)                                                               \
    ROW(BITNOT, ~x + 0 * y)                                                                \
    ROW(BITAND, x &y)                                                                      \
    ROW(BITOR, x | y)                                                                      \
    ROW(BITXOR, x ^ y)
RINGS(RING)

static narrow_fn *narrow_of(int fn, int size)
{
    const int k = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    switch (fn) {
#define CASE(FN, e)                                                                        \
    case FN_##FN:                                                                          \
        return (narrow_fn *const[]){FN##_1, FN##_2, FN##_4, FN##_8}[k];
        RINGS(CASE)
    default:
        return NULL;
    }
}

/* ---- which bodies ------------------------------------------------------------------- */

static bool integer(stc_type t)
{
    return t != STC_BOOL && type_class(t) <= CLASS_U64;
}

static bool walked(const ivl_loop *v, uint16_t id)
{
    for (int k = 0; k < v->nwalk; k++)
        if (v->walk[k].place == id) return true;
    return false;
}

static bool narrow_node(const machine *mc, const ivl_loop *v, const node *x, size_t size)
{
    if (x->cls > CLASS_U64) return false;
    if (!x->varies) return true;
    switch (x->kind) {
    case NODE_LOAD: {
        const tensor *t = mc->slot[x->a].t;
        return walked(v, x->b) && integer(t->type) && type_size(t->type) == size;
    }
    case NODE_FN:
        return x->fn_cls <= CLASS_U64 && narrow_of(x->fn, (int)size);
    case NODE_CONV:
        return x->fn_cls <= CLASS_U64;
    case NODE_WRAP:
        return integer((stc_type)x->type) && type_size((stc_type)x->type) >= size;
    default:
        return false;
    }
}

void narrow_start(const machine *mc, ivl_loop *v)
{
    const loop_summary *s = &v->g.s;
    v->narrow = 0;
    v->narrowed = 0;
    if (!HAS_WIDE || v->bare != BARE_FIBERS || s->nsink != 1 ||
        s->sink[0].kind != SINK_STORE)
        return;
    const stc_type type = mc->slot[s->sink[0].a].t->type;
    if (!integer(type) || !s->node[s->sink[0].node].varies) return;
    for (int k = 0; k < s->nnode; k++)
        if (!narrow_node(mc, v, &s->node[k], type_size(type))) return;
    v->narrow = (uint8_t)type_size(type);
}

/* ---- a strip ------------------------------------------------------------------------ */

/* n times what doesn't vary; integers are little-endian. */
static void spread(void *to, value x, size_t size, int n)
{
    if (size == 1) memset(to, (int)(x.i64 & 0xff), (size_t)n);
    for (int k = 0; size == 2 && k < n; k++)
        ((uint16_t *)to)[k] = (uint16_t)x.i64;
    for (int k = 0; size == 4 && k < n; k++)
        ((uint32_t *)to)[k] = (uint32_t)x.i64;
    for (int k = 0; size == 8 && k < n; k++)
        ((int64_t *)to)[k] = x.i64;
}

/* Elements at the lanes' positions. */
static const void *take(const tensor *t, const column *at, void *to, size_t size, int n)
{
    const void *vals = at->vals ? at->vals : t->vals;
    if (at->form == COL_STEP) {
        const char *x = (const char *)vals + at->base * (int64_t)size;
        if (!at->vals) fetch(x + (size_t)n * size, (size_t)n * size);
        return x;
    }
    const int64_t *p = at->data;
    switch (size) {
#define TAKE(T)                                                                            \
    case sizeof(T): {                                                                      \
        T *restrict out = to;                                                              \
        const T *in = vals;                                                                \
        _Pragma("GCC unroll 8") for (int k = 0; k < n; k++) out[k] = in[p[k]];             \
        break;                                                                             \
    }
        TAKE(uint8_t)
        TAKE(uint16_t)
        TAKE(uint32_t)
    default:
        TAKE(uint64_t)
    }
    return to;
}

/* What doesn't vary is there already, as values. */
const void *narrow_eval(const machine *mc, ivl_loop *v)
{
    const loop_summary *s = &v->g.s;
    const size_t size = v->narrow;
    const int n = v->g.n, have = v->narrowed;
    const void *is[NODE_MAX];
    if (n > have) v->narrowed = n;
    for (int k = 0; k < s->nnode; k++) {
        const node *x = &s->node[k];
        vcolumn *c = &v->g.node[k];
        if (!x->varies) {
            c->spread = 0;
            if (x->uses && n > have) spread(c->data, c->one, size, n);
            is[k] = c->data;
        } else if (x->kind == NODE_LOAD) {
            is[k] = take(mc->slot[x->a].t, &v->g.place[x->b], c->data, size, n);
        } else if (x->kind == NODE_FN) {
            const void *a = is[x->arg[0]], *b = x->nargs > 1 ? is[x->arg[1]] : a;
            narrow_of(x->fn, (int)size)(c->data, a, b, n);
            is[k] = c->data;
        } else {
            is[k] = is[x->arg[0]];
        }
    }
    return is[s->sink[0].node];
}
