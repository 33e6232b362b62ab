/* cascade_terms.c: terms of lines added to lines of a result, or of a workspace that has a
 * place for each coordinate, in one pass and in the elements' own type.
 *
 * Where a string is one of lines (cascade_lines.c) and what is accumulated is a product of
 * scalars, one a line, and of lines of operands, then nothing of it need be a column of its
 * own: what is multiplied is read where it lies, and added where it goes. Integers wrap, so
 * that the low bits of a sum of products are those of the sum of their factors' low bits:
 * elements of any width are computed in that width. Operands of another type that are read
 * again and again are converted as a whole (../strips/strip_retype.c). Factors that are
 * neither (functions of lines) are columns as usual, and so are others until then.
 *
 * Takes a stage of the cascade; matched when it is linked, run in place of the sink.
 */
#include "../core/ahead.h"
#include "cascade.h"
#include "../super/super.h"
#include <string.h>

/* Lines that are asked for ahead: they come from all over memory. */
enum { LINES_AHEAD = 6 };

/* Lines of a string, as a kernel sees them: element k of line r goes from row[j][at[j][r] +
 * k] and scale[r] to to[into[r] + k]. */
struct line_kernel_args {
    int lines, nrow;
    const int *end;
    void *to, *room; /* room: for a line's products, if they are complex */
    const int64_t *into;
    const void *scale;
    const void *row[NEST_LOADS];
    const int64_t *at[NEST_LOADS];
};

/* ---- kernels ------------------------------------------------------------------------ */

enum { VECTOR_BYTES = 32, SUM_VECTORS = 4 };

/* Lines that follow each other and go to one line of the result: from line r on, up to
 * the one that is given back. */
INLINE int lines_together(const struct line_kernel_args *g, int r, int n)
{
    const int64_t into = g->into[r];
    for (int from = g->end[r++]; r < g->lines; from = g->end[r++])
        if (g->into[r] != into || g->end[r] - from != n) break;
    return r;
}

/* Columns c … of the line of `base` at which a line further on is are asked for. */
INLINE void ask_line(const struct line_kernel_args *g, const void *base, const int64_t *at,
                     int r, int64_t c, int64_t size, int bytes)
{
    const int64_t from = at[r + LINES_AHEAD < g->lines ? r + LINES_AHEAD : r] + c;
    fetch((const char *)base + from * size, bytes);
}

/* Products of a line's elements from column c on, of type X: T, or a vector of them. */
#define PRODUCT(T, X, TERM, g, r, c, s, y)                                                 \
    X y = *(const X *)((const T *)(g)->row[0] + (g)->at[0][r] + (c));                      \
    for (int j_ = 1; j_ < nx; j_++)                                                        \
        y = TERM(X, y, *(const X *)((const T *)(g)->row[j_] + (g)->at[j_][r] + (c)));      \
    y = TERM(X, s, y);

/* Columns [c, end) of lines [r, to), nv vectors at a time; where they stop. The sums of so
 * many columns stay in registers for all of these lines. */
#define REAL_LINES(T, NAME, TERM, FOLD)                                                    \
    typedef T vector_##NAME                                                                \
        __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));         \
    INLINE int columns_##NAME(const struct line_kernel_args *g, int r, int to, int c,      \
                              int end, int nx, int nv)                                     \
    {                                                                                      \
        enum { LANES = VECTOR_BYTES / sizeof(T) };                                         \
        for (; c + nv * LANES <= end; c += nv * LANES) {                                   \
            vector_##NAME *out = (vector_##NAME *)((T *)g->to + g->into[r] + c);           \
            vector_##NAME sum[SUM_VECTORS];                                                \
            for (int v = 0; v < nv; v++)                                                   \
                sum[v] = out[v];                                                           \
            for (int k = r; k < to; k++) {                                                 \
                const T s = ((const T *)g->scale)[k];                                      \
                ask_line(g, g->row[0], g->at[0], k, c, sizeof(T), nv *VECTOR_BYTES);       \
                for (int v = 0; v < nv; v++) {                                             \
                    PRODUCT(T, vector_##NAME, TERM, g, k, c + v * LANES, s, y)             \
                    sum[v] = FOLD(vector_##NAME, sum[v], y);                               \
                }                                                                          \
            }                                                                              \
            for (int v = 0; v < nv; v++)                                                   \
                out[v] = sum[v];                                                           \
        }                                                                                  \
        return c;                                                                          \
    }                                                                                      \
    INLINE void lines_##NAME(const struct line_kernel_args *g, int nx, int nv)             \
    {                                                                                      \
        for (int r = 0, from = 0, to; r < g->lines; from = g->end[to - 1], r = to) {       \
            const int n = g->end[r] - from;                                                \
            to = lines_together(g, r, n);                                                  \
            ask_line(g, g->to, g->into, to - 1, 0, sizeof(T), n * (int)sizeof(T));         \
            int c = columns_##NAME(g, r, to, 0, n, nx, nv);                                \
            if (nv > 1) c = columns_##NAME(g, r, to, c, n, nx, 1);                         \
            for (int k = r; c < n && k < to; k++) {                                        \
                T *restrict out = (T *)g->to + g->into[k];                                 \
                const T s = ((const T *)g->scale)[k];                                      \
                for (int e = c; e < n; e++) {                                              \
                    PRODUCT(T, T, TERM, g, k, e, s, y)                                     \
                    out[e] = FOLD(T, out[e], y);                                           \
                }                                                                          \
            }                                                                              \
        }                                                                                  \
    }                                                                                      \
    INLINE void any_##NAME(const struct line_kernel_args *g, int nv)                       \
    {                                                                                      \
        if (g->nrow == 1) {                                                                \
            lines_##NAME(g, 1, nv);                                                        \
        } else {                                                                           \
            lines_##NAME(g, g->nrow, nv);                                                  \
        }                                                                                  \
    }                                                                                      \
    static void plain_##NAME(const struct line_kernel_args *g)                             \
    {                                                                                      \
        any_##NAME(g, 1);                                                                  \
    }                                                                                      \
    WIDE static void wide_##NAME(const struct line_kernel_args *g)                         \
    {                                                                                      \
        any_##NAME(g, SUM_VECTORS);                                                        \
    }

/* On elements and on vectors of them; integers wrap, truth values are any byte but 0. */
#define TIMES_OF(X, a, b) ((X)((a) * ((b) + 0u)))
#define REAL_TIMES_OF(X, a, b) ((X)((a) * (b)))
#define SUM_OF(X, a, b) ((X)((a) + (b)))
#define BOTH_OF(X, a, b) ((X)((a) * (X)(((b) != 0) & 1)))
#define ANY_OF(X, a, b) ((X)((((a) | (b)) != 0) & 1))

REAL_LINES(uint8_t, sum_U8, TIMES_OF, SUM_OF)
REAL_LINES(uint16_t, sum_U16, TIMES_OF, SUM_OF)
REAL_LINES(uint32_t, sum_U32, TIMES_OF, SUM_OF)
REAL_LINES(uint64_t, sum_U64, TIMES_OF, SUM_OF)
REAL_LINES(float, sum_F32, REAL_TIMES_OF, SUM_OF)
REAL_LINES(double, sum_F64, REAL_TIMES_OF, SUM_OF)
REAL_LINES(uint8_t, any_BOOL, BOTH_OF, ANY_OF)

/* Complex products by the formula, over vectors; where one has come out as nan in both
 * parts, which C has a closer look at, all of the line's are done by C. */
#define COMPLEX_LINES(T, PART, NAME)                                                       \
    INLINE void lines_##NAME(const struct line_kernel_args *g)                             \
    {                                                                                      \
        for (int r = 0, from = 0; r < g->lines; from = g->end[r++]) {                      \
            const int n = g->end[r] - from;                                                \
            const T s = ((const T *)g->scale)[r];                                          \
            const PART re = ((const PART *)&s)[0], im = ((const PART *)&s)[1];             \
            const T *restrict x = (const T *)g->row[0] + g->at[0][r];                      \
            T *restrict to = (T *)g->to + g->into[r], *restrict y = g->room;               \
            const PART *restrict p = (const PART *)x;                                      \
            PART *restrict q = (PART *)y;                                                  \
            int nan = 0;                                                                   \
            ask_line(g, g->row[0], g->at[0], r, 0, sizeof(T), n *(int)sizeof(T));          \
            for (int k = 0; k < n; k++) {                                                  \
                const PART a = re * p[2 * k] - im * p[2 * k + 1];                          \
                const PART b = re * p[2 * k + 1] + im * p[2 * k];                          \
                nan |= (a != a) & (b != b);                                                \
                q[2 * k] = a;                                                              \
                q[2 * k + 1] = b;                                                          \
            }                                                                              \
            for (int k = 0; nan && k < n; k++)                                             \
                y[k] = s * x[k];                                                           \
            for (int k = 0; k < n; k++)                                                    \
                to[k] += y[k];                                                             \
        }                                                                                  \
    }                                                                                      \
    static void plain_##NAME(const struct line_kernel_args *g)                             \
    {                                                                                      \
        lines_##NAME(g);                                                                   \
    }                                                                                      \
    WIDE static void wide_##NAME(const struct line_kernel_args *g)                         \
    {                                                                                      \
        lines_##NAME(g);                                                                   \
    }

COMPLEX_LINES(cfloat, float, sum_C64)
COMPLEX_LINES(cdouble, double, sum_C128)

typedef struct line_kernel line_kernel;
struct line_kernel {
    int16_t fold, times;
    uint8_t type, rows; /* rows: so many lines it multiplies at most */
    void (*plain)(const struct line_kernel_args *),
        (*wide)(const struct line_kernel_args *);
};

/* Integers of either sign wrap alike. */
#define KERNEL_ROW(FOLD, TIMES, TYPE, ROWS, NAME)                                          \
    {                                                                                      \
        FN_##FOLD, FN_##TIMES, STC_##TYPE, ROWS, plain_##NAME, wide_##NAME                 \
    }
static const line_kernel kernels[] = {
    KERNEL_ROW(ADD, MUL, I8, NEST_LOADS, sum_U8),
    KERNEL_ROW(ADD, MUL, I16, NEST_LOADS, sum_U16),
    KERNEL_ROW(ADD, MUL, I32, NEST_LOADS, sum_U32),
    KERNEL_ROW(ADD, MUL, I64, NEST_LOADS, sum_U64),
    KERNEL_ROW(ADD, MUL, U8, NEST_LOADS, sum_U8),
    KERNEL_ROW(ADD, MUL, U16, NEST_LOADS, sum_U16),
    KERNEL_ROW(ADD, MUL, U32, NEST_LOADS, sum_U32),
    KERNEL_ROW(ADD, MUL, U64, NEST_LOADS, sum_U64),
    KERNEL_ROW(ADD, MUL, F32, NEST_LOADS, sum_F32),
    KERNEL_ROW(ADD, MUL, F64, NEST_LOADS, sum_F64),
    KERNEL_ROW(ADD, MUL, C64, 1, sum_C64),
    KERNEL_ROW(ADD, MUL, C128, 1, sum_C128),
    KERNEL_ROW(OR, MUL, BOOL, NEST_LOADS, any_BOOL),
    KERNEL_ROW(OR, AND, BOOL, NEST_LOADS, any_BOOL),
};

/* ---- matching, when linked ---------------------------------------------------------- */

/* What an operand's line has, or is converted from; NULL: it is neither. */
static const node *loaded(const loop_summary *s, const node *x)
{
    const node *of = x->kind == NODE_CONV ? &s->node[x->arg[0]] : x;
    return of->kind == NODE_LOAD && of->uses == 1 && x->uses == 1 ? of : NULL;
}

/* Node `id` is a factor, or a product of some. False: that can't be done. */
static bool match_factor(const machine *mc, stage *st, uint16_t id)
{
    const loop_summary *s = &st->g->s;
    struct line_terms *to = &st->terms;
    const node *x = &s->node[id];
    if (!x->varies || x->kind == NODE_GIVEN) {
        if (to->nfactor == NEST_SCALARS) return false;
        to->factor[to->nfactor++] = id;
        to->unread |= (uint64_t)(x->kind == NODE_GIVEN && x->uses == 1) << id;
        return true;
    }
    if (x->uses == 1 && x->kind == NODE_FN && x->fn == to->kernel->times &&
        x->fn_cls == to->cls) {
        to->unread |= UINT64_C(1) << id;
        return match_factor(mc, st, x->arg[0]) && match_factor(mc, st, x->arg[1]);
    }
    if (to->nrow == to->kernel->rows) return false;
    const stc_type type = (stc_type)to->kernel->type;
    const bool there = x->kind == NODE_LOAD && x->uses == 1 &&
                       (mc->p->tensor[x->a].type == type ||
                        types_wrap_alike(mc->p->tensor[x->a].type, type));
    if (!there && (x->cls != to->cls || class_type((vclass)x->cls) != type)) return false;
    to->unread |= (uint64_t)there << id;
    const node *of = loaded(s, x);
    if (!there && of) to->retype |= UINT64_C(1) << id | UINT64_C(1) << (of - s->node);
    to->row[to->nrow++] = id;
    return true;
}

static bool reads_no_columns(const loop_summary *s, uint64_t unread)
{
    for (int k = 0; k < s->nnode; k++)
        if (s->node[k].varies && s->node[k].uses && !(unread >> k & 1)) return false;
    return true;
}

void stage_terms_match(const machine *mc, stage *st)
{
    const loop_summary *s = &st->g->s;
    const sink *x = &s->sink[0];
    if (s->nsink != 1 || (x->kind != SINK_ACC && x->kind != SINK_WSADD)) return;
    uint8_t type = mc->p->tensor[x->a].type; /* workspaces have values of its class */
    if (x->kind == SINK_WSADD) type = (uint8_t)class_type(type_class((stc_type)type));
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        if (kernels[k].fold != x->fn || kernels[k].type != type) continue;
        st->terms = (struct line_terms){.kernel = &kernels[k], .cls = x->cls};
        if (!match_factor(mc, st, x->node) || st->terms.nrow == 0) continue;
        st->terms.wide = reads_no_columns(s, st->terms.unread);
        return;
    }
    st->terms.kernel = NULL;
    st->terms.unread = 0;
}

/* ---- operands of other types ------------------------------------------------------ */

/* n more elements of each line's operands were read. */
static void retype(machine *mc, stage *st, int64_t n)
{
    struct line_terms *t = &st->terms;
    const loop_summary *s = &st->g->s;
    bool all = true;
    if (!t->retype || t->unread & t->retype) return;
    for (int j = 0; j < t->nrow; j++) {
        if (!(t->retype >> t->row[j] & 1)) continue;
        const int of = loaded(s, &s->node[t->row[j]])->a;
        t->vals[j] = strip_retyped(mc, of, (stc_type)t->kernel->type, n);
        all &= t->vals[j] != NULL;
    }
    if (!all) return;
    t->unread |= t->retype;
    t->wide = reads_no_columns(s, t->unread);
}

/* What was converted in another run of the loop may be so no more. */
void stage_terms_prepare(machine *mc, stage *st)
{
    st->terms.unread &= ~st->terms.retype;
    st->terms.wide = reads_no_columns(&st->g->s, st->terms.unread);
    retype(mc, st, 0);
}

/* ---- a string ----------------------------------------------------------------------- */

/* What factor `id` is in the lane of each line. */
static void factor_of_lines(const stage *st, uint16_t id, void *out)
{
    const vclass cls = (vclass)st->terms.cls;
    const bool given = st->g->s.node[id].kind == NODE_GIVEN;
    const vcolumn *c = given ? &st->out->g->node[st->link.node[id]] : &st->g->node[id];
    if (given && c->p) {
        class_gather(cls, out, c->p, st->run_lane, st->runs);
    } else {
        class_fill(cls, out, 0, st->runs, c->one);
    }
}

/* Each line's scalar, as an element of the result: the product of its factors. */
static void scale_lines(stage *st, void *out)
{
    const struct line_terms *t = &st->terms;
    const vclass cls = (vclass)t->cls;
    const stc_type type = (stc_type)t->kernel->type;
    void *more =
        st->g->node[st->g->s.sink[0].node].data; /* of a product: not a column now */
    value one;
    if (fn_constant(FC_ONE, cls, type, &one) && t->nfactor == 0)
        class_fill(cls, out, 0, st->runs, one);
    for (int j = 0; j < t->nfactor; j++) {
        factor_of_lines(st, t->factor[j], j > 0 ? more : out);
        if (j > 0) fn_array_of(t->kernel->times, cls)(out, out, more, NULL, st->runs);
    }
    if (class_type(cls) != type) strip_store(type, out, 0, out, cls, st->runs);
}

void stage_terms_add(machine *mc, stage *st, void *to, const int64_t *into)
{
    const struct line_terms *t = &st->terms;
    strip *g = st->g;
    value scale[STRIP];
    int64_t starts[STRIP];
    struct line_kernel_args a = {.lines = st->runs,
                                 .nrow = t->nrow,
                                 .end = st->run_end,
                                 .to = to,
                                 .room = g->scratch,
                                 .into = into,
                                 .scale = scale};
    for (int r = 0, k = 0; !t->wide && r < st->runs; k = st->run_end[r++])
        starts[r] = k;
    for (int j = 0; j < t->nrow; j++) {
        const bool there = t->unread >> t->row[j] & 1, made = t->retype >> t->row[j] & 1;
        const node *x = there ? loaded(&g->s, &g->s.node[t->row[j]]) : NULL;
        a.row[j] = !there ? strip_spread(g, t->row[j])
                   : made ? t->vals[j]
                          : mc->slot[x->a].t->vals;
        a.at[j] = there ? g->place[x->b].data : starts;
    }
    scale_lines(st, scale);
    (super_wide(mc) ? t->kernel->wide : t->kernel->plain)(&a);
    retype(mc, st, st->run_end[st->runs - 1]);
}
