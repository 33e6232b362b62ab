/* cascade_terms.c: terms of lines added to lines of a result, or of a workspace that has a
 * place for each coordinate, in one pass and in the elements' own type.
 *
 * Where what is accumulated is a product of scalars, one a line, and of lines of operands,
 * then nothing of it need be a column of its own: what is multiplied is read where it lies,
 * and added where it goes. The sums of as many columns as fit stay in registers for all
 * lines that follow each other and go to one line of the result. Integers wrap, so that the
 * low bits of a sum of products are those of the sum of their factors' low bits: elements
 * of any width are computed in that width. Operands of another type that are read again and
 * again are converted as a whole (../strips/strip_retype.c). Factors that are neither
 * (functions of lines) are columns as usual, and so are others until then.
 *
 * Takes a stage of the cascade; matched when it is linked. Lines are those of a string
 * (cascade_lines.c), or of lanes of the loop around (cascade_rows.c).
 */
#include "../core/ahead.h"
#include "cascade.h"
#include "../super/super.h"
#include <string.h>

/* Lines that are asked for ahead: they come from all over memory. So are scalars, by the
 * byte: between lines the processor doesn't see that it goes through an array of them. */
enum { LINES_AHEAD = 8, SCALARS_AHEAD = 2048 };

/* Lines from memory: number k begins at `base` + at[k] * by. */
typedef struct line_source {
    const char *base;
    const int32_t *at;
    int64_t by;
} line_source;

/* Lines of `bytes`, as a kernel sees them: products of x[…] and the scalar at scale + k *
 * by go to a line of the result, which begins at element into[run]; ~ that: nothing was
 * written there yet. */
struct line_kernel_args {
    line_source x[NEST_LOADS];
    int nx, runs, lines;
    int64_t bytes;
    const int *end; /* of each run: lines; NULL: they are one each */
    const int64_t *into;
    const char *scale;
    int64_t by;
    char *to;
    void *room; /* for a line's products, if they are complex */
    value none; /* what is in new lines, as an element */
    bool far;   /* lines are worth asking for ahead */
    bool asks;  /* so are those of the result       */
};

/* ---- kernels ------------------------------------------------------------------------ */

/* Of lines up to LINE_BYTES the same columns of all are taken before the next ones; of
 * those that come from far off, only if these are all. */
enum { VECTOR_BYTES = 32, HALF_BYTES = 16, SUM_VECTORS = 8, LINE_BYTES = 512 };

INLINE const char *line_at(const line_source *x, int64_t k)
{
    return x->base + x->at[k] * x->by;
}

/* The first line of a run. */
INLINE int first_line(const struct line_kernel_args *g, int run)
{
    return !g->end ? run : run > 0 ? g->end[run - 1] : 0;
}

/* Up to which line others further on are asked for. */
INLINE int64_t asked_lines(const struct line_kernel_args *g)
{
    return g->far ? g->lines - LINES_AHEAD : 0;
}

/* So many bytes, from c on, of lines further on than number k. */
INLINE void ask_lines(const struct line_kernel_args *g, int64_t k, int64_t c, int64_t bytes,
                      int nx)
{
    for (int j = 0; j < nx; j++)
        fetch(line_at(&g->x[j], k + LINES_AHEAD) + c, bytes);
}

/* So many bytes, from c on, of the line of the result that some run further on goes to. */
INLINE void ask_result(const struct line_kernel_args *g, int run, int64_t size, int64_t c,
                       int64_t bytes)
{
    const int ahead = run + LINES_AHEAD < g->runs ? run + LINES_AHEAD : g->runs - 1;
    const int64_t into = g->into[ahead];
    fetch(g->to + (into < 0 ? ~into : into) * size + c, bytes);
}

/* Columns from byte c on of runs [run, stop), nv times V, which is T or a vector of them;
 * the first `skip` of these are left as they are. */
#define COLUMNS(T, V, TERM, FOLD)                                                          \
    INLINE void add_##V(const struct line_kernel_args *g, int run, int stop, int64_t c,    \
                        int nx, int nv, int skip)                                          \
    {                                                                                      \
        const int64_t size = (int64_t)sizeof(T), bytes = nv * (int64_t)sizeof(V);          \
        const int64_t asked = asked_lines(g);                                              \
        T none;                                                                            \
        memcpy(&none, &g->none, sizeof none);                                              \
        for (int64_t k = first_line(g, run), to; run < stop; k = to, run++) {              \
            const bool fresh = g->into[run] < 0;                                           \
            const int64_t into = fresh ? ~g->into[run] : g->into[run];                     \
            V *const o = (V *)(g->to + into * size + c), sum[SUM_VECTORS];                 \
            if (g->asks) ask_result(g, run, size, c, bytes);                               \
            to = first_line(g, run + 1);                                                   \
            for (int v = 0; v < nv; v++)                                                   \
                sum[v] = fresh ? (V)(none - (V){0}) : o[v];                                \
            for (; k < to; k++) {                                                          \
                const T s = *(const T *)(g->scale + k * g->by);                            \
                __builtin_prefetch(g->scale + k * g->by + SCALARS_AHEAD);                  \
                if (k < asked) ask_lines(g, k, c, bytes, nx);                              \
                const V *x[NEST_LOADS];                                                    \
                for (int j = 0; j < nx; j++)                                               \
                    x[j] = (const V *)(line_at(&g->x[j], k) + c);                          \
                for (int v = 0; v < nv; v++) {                                             \
                    V y = TERM(V, s, x[0][v]);                                             \
                    for (int j = 1; j < nx; j++)                                           \
                        y = TERM(V, y, x[j][v]);                                           \
                    sum[v] = FOLD(V, sum[v], y);                                           \
                }                                                                          \
            }                                                                              \
            for (int e = skip; skip && e < (int)(sizeof(V) / sizeof(T)); e++)              \
                ((T *)o)[e] = ((const T *)sum)[e];                                         \
            for (int v = 0; !skip && v < nv; v++)                                          \
                o[v] = sum[v];                                                             \
        }                                                                                  \
    }

#define LINE_TYPES(T, NAME)                                                                \
    typedef T T_##NAME;                                                                    \
    typedef T half_##NAME                                                                  \
        __attribute__((vector_size(HALF_BYTES), aligned(sizeof(T)), may_alias));           \
    typedef T vector_##NAME                                                                \
        __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));

/* edge: what is left of a line from c on, which isn't a vector: one that reaches back, or
 * less. nx and nv are known where lines are inlined. */
#define REAL_LINES(T, NAME, TERM, FOLD, MANY)                                              \
    COLUMNS(T, T_##NAME, TERM, FOLD)                                                       \
    COLUMNS(T, half_##NAME, TERM, FOLD)                                                    \
    COLUMNS(T, vector_##NAME, TERM, FOLD)                                                  \
    static void edge_##NAME(const struct line_kernel_args *g, int run, int stop,           \
                            int64_t c)                                                     \
    {                                                                                      \
        const int64_t n = g->bytes;                                                        \
        const int nx = g->nx;                                                              \
        if (n >= VECTOR_BYTES) {                                                           \
            const int skip = (int)(c + VECTOR_BYTES - n) / (int)sizeof(T);                 \
            add_vector_##NAME(g, run, stop, n - VECTOR_BYTES, nx, 1, skip);                \
            return;                                                                        \
        }                                                                                  \
        if (n >= HALF_BYTES) {                                                             \
            add_half_##NAME(g, run, stop, c, nx, 1, 0);                                    \
            c += HALF_BYTES;                                                               \
        }                                                                                  \
        for (; c < n; c += (int64_t)sizeof(T))                                             \
            add_T_##NAME(g, run, stop, c, nx, 1, 0);                                       \
    }                                                                                      \
    INLINE void lines_##NAME(const struct line_kernel_args *all, int nx, int nv)           \
    {                                                                                      \
        const struct line_kernel_args args = *all, *const g = &args;                       \
        const int64_t n = g->bytes;                                                        \
        const int64_t near = g->far ? nv * VECTOR_BYTES : LINE_BYTES;                      \
        const int some = n > near ? 1 : g->runs;                                           \
        for (int run = 0, stop = some; run < g->runs; run = stop, stop += some) {          \
            int64_t c = 0;                                                                 \
            for (; c + nv * VECTOR_BYTES <= n; c += nv * VECTOR_BYTES)                     \
                add_vector_##NAME(g, run, stop, c, nx, nv, 0);                             \
            for (; nv > 4 && c + 4 * VECTOR_BYTES <= n; c += 4 * VECTOR_BYTES)             \
                add_vector_##NAME(g, run, stop, c, nx, 4, 0);                              \
            for (; nv > 1 && c + VECTOR_BYTES <= n; c += VECTOR_BYTES)                     \
                add_vector_##NAME(g, run, stop, c, nx, 1, 0);                              \
            if (c < n) edge_##NAME(all, run, stop, c);                                     \
        }                                                                                  \
    }                                                                                      \
    static void plain_##NAME(const struct line_kernel_args *g)                             \
    {                                                                                      \
        lines_##NAME(g, g->nx, 1);                                                         \
    }                                                                                      \
    WIDE static void wide_##NAME(const struct line_kernel_args *g)                         \
    {                                                                                      \
        if (g->nx == 1) {                                                                  \
            lines_##NAME(g, 1, MANY);                                                      \
        } else if (g->nx == 2) {                                                           \
            lines_##NAME(g, 2, MANY);                                                      \
        } else {                                                                           \
            plain_##NAME(g);                                                               \
        }                                                                                  \
    }

/* On elements and on vectors of them; integers wrap, truth values are any byte but 0. */
#define TIMES_OF(X, a, b) ((X)((a) * ((b) + 0u)))
#define REAL_TIMES_OF(X, a, b) ((X)((a) * (b)))
#define SUM_OF(X, a, b) ((X)((a) + (b)))
#define BOTH_OF(X, a, b) ((X)((a) * (X)(((b) != 0) & 1)))
#define ANY_OF(X, a, b) ((X)((((a) | (b)) != 0) & 1))

/* *sum = the least of it and y, as FN_MIN_F64 has it: nan wins. */
#define LEAST_LANES(V, I)                                                                  \
    INLINE void least_##V(V *sum, const V *y)                                              \
    {                                                                                      \
        const I keep = (I)((*sum < *y) | (*sum != *sum));                                  \
        *sum = (V)((keep & (I)*sum) | (~keep & (I)*y));                                    \
    }
#define LEAST_OF(X, a, b)                                                                  \
    ({                                                                                     \
        X least_ = (a);                                                                    \
        const X y_ = (b);                                                                  \
        least_##X(&least_, &y_);                                                           \
        least_;                                                                            \
    })
LINE_TYPES(uint8_t, sum_U8)
LINE_TYPES(uint16_t, sum_U16)
LINE_TYPES(uint32_t, sum_U32)
LINE_TYPES(uint64_t, sum_U64)
LINE_TYPES(float, sum_F32)
LINE_TYPES(double, sum_F64)
LINE_TYPES(double, least_F64)
LINE_TYPES(uint8_t, any_BOOL)
LEAST_LANES(half_least_F64, half_sum_U64)
LEAST_LANES(vector_least_F64, vector_sum_U64)
INLINE void least_T_least_F64(double *sum, const double *y)
{
    if (!(*sum < *y) && *sum == *sum) *sum = *y;
}

REAL_LINES(uint8_t, sum_U8, TIMES_OF, SUM_OF, 2)
REAL_LINES(uint16_t, sum_U16, TIMES_OF, SUM_OF, 4)
REAL_LINES(uint32_t, sum_U32, TIMES_OF, SUM_OF, 4)
REAL_LINES(uint64_t, sum_U64, TIMES_OF, SUM_OF, 4)
REAL_LINES(float, sum_F32, REAL_TIMES_OF, SUM_OF, 8)
REAL_LINES(double, sum_F64, REAL_TIMES_OF, SUM_OF, 8)
REAL_LINES(double, least_F64, SUM_OF, LEAST_OF, 4)
REAL_LINES(uint8_t, any_BOOL, BOTH_OF, ANY_OF, 2)

/* Complex products by the formula, over vectors; where one has come out as nan in both
 * parts, which C has a closer look at, all of the line's are done by C. */
#define COMPLEX_LINES(T, PART, NAME)                                                       \
    INLINE void line_##NAME(T *restrict to, const T *restrict x, T s, int n,               \
                            T *restrict y)                                                 \
    {                                                                                      \
        const PART re = ((const PART *)&s)[0], im = ((const PART *)&s)[1];                 \
        const PART *restrict p = (const PART *)x;                                          \
        PART *restrict q = (PART *)y;                                                      \
        int nan = 0;                                                                       \
        for (int k = 0; k < n; k++) {                                                      \
            const PART a = re * p[2 * k] - im * p[2 * k + 1];                              \
            const PART b = re * p[2 * k + 1] + im * p[2 * k];                              \
            nan |= (a != a) & (b != b);                                                    \
            q[2 * k] = a;                                                                  \
            q[2 * k + 1] = b;                                                              \
        }                                                                                  \
        for (int k = 0; nan && k < n; k++)                                                 \
            y[k] = s * x[k];                                                               \
        for (int k = 0; k < n; k++)                                                        \
            to[k] += y[k];                                                                 \
    }                                                                                      \
    INLINE void lines_##NAME(const struct line_kernel_args *g)                             \
    {                                                                                      \
        const int64_t size = (int64_t)sizeof(T), all = g->bytes / size;                    \
        const int64_t asked = asked_lines(g);                                              \
        for (int run = 0, r = 0, to; run < g->runs; r = to, run++) {                       \
            const bool fresh = g->into[run] < 0;                                           \
            T *const out = (T *)g->to + (fresh ? ~g->into[run] : g->into[run]);            \
            if (g->asks) ask_result(g, run, size, 0, g->bytes);                            \
            to = g->end ? g->end[run] : run + 1;                                           \
            for (int64_t c = 0; fresh && c < all; c++)                                     \
                memcpy(&out[c], &g->none, sizeof(T));                                      \
            for (int k = r; k < to; k++) {                                                 \
                const T *const x = (const T *)line_at(&g->x[0], k);                        \
                if (k < asked) ask_lines(g, k, 0, g->bytes, 1);                            \
                for (int64_t c = 0; c < all; c += STRIP)                                   \
                    line_##NAME(out + c, x + c, *(const T *)(g->scale + k * g->by),        \
                                (int)(all - c < STRIP ? all - c : STRIP), g->room);        \
            }                                                                              \
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
    KERNEL_ROW(MIN, ADD, F64, NEST_LOADS, least_F64),
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
        if (st->terms.nfactor == 0 && kernels[k].times == FN_ADD) continue;
        st->terms.wide = reads_no_columns(s, st->terms.unread);
        return;
    }
    st->terms.kernel = NULL;
    st->terms.unread = 0;
}

/* The lines' only factor, if that is loaded by the loop around, as elements of their type,
 * from what it walks. */
uint64_t stage_terms_bare(const machine *mc, const stage *st)
{
    const struct line_terms *t = &st->terms;
    if (t->nfactor != 1) return 0;
    const uint16_t id = st->link.node[t->factor[0]];
    const node *x = &st->out->g->s.node[id];
    if (x->kind != NODE_LOAD || x->uses != 1 || x->b != st->out->walk[0].place) return 0;
    const stc_type type = (stc_type)t->kernel->type, from = mc->p->tensor[x->a].type;
    return (uint64_t)(from == type || types_wrap_alike(from, type)) << id;
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

bool stage_terms_fit(const machine *mc, const stage *st)
{
    const struct line_terms *t = &st->terms;
    bool fit = true;
    for (int j = 0; j < t->nrow; j++) {
        const node *x = loaded(&st->g->s, &st->g->s.node[t->row[j]]);
        fit &= !x || mc->slot[x->a].t->nvals <= INT32_MAX;
    }
    return fit;
}

/* What was converted in another run of the loop may be so no more. */
void stage_terms_prepare(machine *mc, stage *st)
{
    st->terms.unread &= ~st->terms.retype;
    st->terms.wide = reads_no_columns(&st->g->s, st->terms.unread);
    retype(mc, st, 0);
}

/* ---- lines --------------------------------------------------------------------------- */

/* A factor of each of n lines: of lane of[k] of the strip around. */
static void factor_of_lines(const stage *st, uint16_t id, const int *of, int n, void *out)
{
    const vclass cls = (vclass)st->terms.cls;
    const bool given = st->link.node[id] != UNLINKED;
    const vcolumn *c = given ? &st->out->g->node[st->link.node[id]] : &st->g->node[id];
    if (!given || !c->p) {
        class_fill(cls, out, 0, n, c->one);
    } else if (of) {
        class_gather(cls, out, c->p, of, n);
    } else {
        memcpy(out, c->p, (size_t)n * class_size(cls));
    }
}

/* The lines' only factor, as it is: a column, or one for all, or where it lies. */
static bool only_factor(const machine *mc, const stage *st, struct line_kernel_args *g)
{
    const struct line_terms *t = &st->terms;
    const strip *around = st->out->g;
    if (around->unread) {
        const node *x = &around->s.node[st->link.node[t->factor[0]]];
        g->by = (int64_t)type_size((stc_type)t->kernel->type);
        const int64_t from = around->place[x->b].base;
        g->scale = (const char *)mc->slot[x->a].t->vals + from * g->by;
        return true;
    }
    const vclass cls = (vclass)t->cls;
    const stc_type type = (stc_type)t->kernel->type;
    if (t->nfactor != 1 || type == STC_BOOL ||
        (class_type(cls) != type &&
         (cls > CLASS_U64 || __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)))
        return false;
    const vcolumn *c = &st->out->g->node[st->link.node[t->factor[0]]];
    g->scale = c->p ? c->p : (const char *)&c->one;
    g->by = c->p ? (int64_t)class_size(cls) : 0;
    return true;
}

/* Each line's scalar, as an element of the result: the product of its factors. */
static void scale_lines(const machine *mc, stage *st, const int *of, int n, value *out,
                        struct line_kernel_args *g)
{
    const struct line_terms *t = &st->terms;
    const vclass cls = (vclass)t->cls;
    const stc_type type = (stc_type)t->kernel->type;
    void *more =
        st->g->node[st->g->s.sink[0].node].data; /* of a product: not a column now */
    if (!of && only_factor(mc, st, g)) return;
    g->scale = (const char *)out;
    g->by = (int64_t)type_size(type);
    if (t->nfactor == 0) {
        fn_constant(FC_ONE, cls, type, out);
        n = 1;
        g->by = 0;
    }
    for (int j = 0; j < t->nfactor; j++) {
        factor_of_lines(st, t->factor[j], of, n, j > 0 ? more : out);
        if (j > 0) fn_array_of(t->kernel->times, cls)(out, out, more, NULL, n);
    }
    if (class_type(cls) != type) strip_store(type, out, 0, out, cls, n);
}

/* Lines that no cache near the processor holds are asked for ahead: not those of a band,
 * which some of them show. */
enum { NEAR_BYTES = 1 << 16, SAMPLES = 8 };

static bool lie_apart(const tensor *of, const line_source *x, int n)
{
    if (of->nvals * (int64_t)type_size(of->type) <= NEAR_BYTES) return false;
    int32_t lo = x->at[0], hi = lo;
    for (int k = 0; k < n; k += n / SAMPLES + 1) {
        lo = x->at[k] < lo ? x->at[k] : lo;
        hi = x->at[k] > hi ? x->at[k] : hi;
    }
    return (hi - lo) * x->by > NEAR_BYTES;
}

/* What the kernel multiplies: row j, from element `from` of it on. */
static const node *line_values(machine *mc, const stage *st, int j, int64_t from,
                               struct line_kernel_args *g)
{
    const struct line_terms *t = &st->terms;
    const int id = t->row[j];
    const int64_t size = (int64_t)type_size((stc_type)t->kernel->type);
    if (!(t->unread >> id & 1)) {
        g->x[j] = (line_source){.base = strip_spread(st->g, id), .by = size};
        return NULL;
    }
    const node *x = loaded(&st->g->s, &st->g->s.node[id]);
    const tensor *of = mc->slot[x->a].t;
    const char *vals = t->retype >> id & 1 ? t->vals[j] : of->vals;
    g->x[j] = (line_source){.base = vals + from * size, .by = size};
    return x;
}

static void run_kernel(machine *mc, const stage *st, const struct line_kernel_args *g)
{
    (super_wide(mc) ? st->terms.kernel->wide : st->terms.kernel->plain)(g);
}

void stage_terms_add(machine *mc, stage *st, void *to, const int64_t *into)
{
    const struct line_terms *t = &st->terms;
    const int size = (int)type_size((stc_type)t->kernel->type);
    value scale[STRIP];
    int32_t at[NEST_LOADS][STRIP];
    struct line_kernel_args g = {
        .nx = t->nrow, .to = to, .room = st->g->scratch, .asks = true};
    for (int j = 0; j < t->nrow; j++) {
        const node *x = line_values(mc, st, j, 0, &g);
        const int64_t *from = x ? st->g->place[x->b].data : NULL;
        g.x[j].at = at[j];
        for (int r = 0; r < st->runs; r++)
            at[j][r] = (int32_t)(x ? from[r] : st->run_end[r - 1]);
        g.far |= x && lie_apart(mc->slot[x->a].t, &g.x[j], st->runs);
    }
    scale_lines(mc, st, st->run_lane, st->runs, scale, &g);
    for (int r = 0, k = 0, end; r < st->runs; r = end) { /* those of one length */
        const int n = st->run_end[r] - k;
        for (end = r, k += n; end + 1 < st->runs && st->run_end[end + 1] - k == n; k += n)
            end++;
        end++;
        struct line_kernel_args some = g;
        some.bytes = n * size;
        some.runs = some.lines = end - r;
        some.into = into + r;
        some.scale += r * g.by;
        for (int j = 0; j < t->nrow; j++)
            some.x[j].at += r;
        run_kernel(mc, st, &some);
    }
    retype(mc, st, st->run_end[st->runs - 1]);
}

/* Below which position of the strip around row j's line is: as it lies, or in `all`. */
static void line_parents(const stage *st, uint16_t of, int32_t *all, line_source *out)
{
    stage *around = st->out;
    const uint16_t id = st->link.up[of];
    bool by_lane;
    const column *up = stage_rows_above(st, of, &by_lane);
    if (by_lane && up->form != COL_FIXED) {
        stage_find_runs(around);
        for (int r = 0, k = 0; r < around->runs; k = around->run_end[r++]) {
            const int32_t at = (int32_t)column_get(up, around->run_lane[r]);
            for (; k < around->run_end[r]; k += ROW_BLOCK)
                for (int j = 0; j < ROW_BLOCK; j++)
                    all[k + j] = at;
        }
        out->at = all;
        return;
    }
    if (around->late && around->bare[id]) { /* the string's coordinates, as they lie */
        const stage_walk *w = &around->walk[0];
        const int64_t from = around->g->place[w->place].base;
        out->base += up->base * out->by;
        out->at = w->t.width == 4 ? (const int32_t *)w->t.crd + from : all;
        for (int k = 0; w->t.width == 8 && k < around->g->n; k++)
            all[k] = (int32_t)((const int64_t *)w->t.crd)[from + k];
        return;
    }
    out->at = all;
    for (int k = 0; up->form == COL_ARRAY && k < around->g->n; k++)
        all[k] = (int32_t)up->data[k];
    for (int k = 0; up->form != COL_ARRAY && k < around->g->n; k++)
        all[k] = (int32_t)column_get(up, k);
}

void stage_terms_rows(machine *mc, stage *st, const row_runs *to)
{
    const struct line_terms *t = &st->terms;
    const strip *around = st->out->g;
    const int64_t width = st->hi - st->lo,
                  size = (int64_t)type_size((stc_type)t->kernel->type);
    value scale[STRIP];
    int32_t at[NEST_LOADS][STRIP + ROW_BLOCK];
    struct line_kernel_args g = {.nx = t->nrow,
                                 .runs = to->n,
                                 .lines = around->n,
                                 .bytes = width * size,
                                 .end = to->lone ? NULL : to->end,
                                 .into = to->into,
                                 .asks = to->lone,
                                 .to = to->t->vals,
                                 .room = st->g->scratch};
    type_store(to->t->type, &g.none, 0, to->t->fill);
    for (int j = 0; j < t->nrow; j++) {
        const node *x = loaded(&st->g->s, &st->g->s.node[t->row[j]]);
        const merge_operand *o = &st->g->s.l->merge->operand[x->b - 1];
        const level *lv = &mc->slot[o->tensor].t->level[o->level];
        line_values(mc, st, j, st->lo - lv->base, &g);
        g.x[j].by *= lv->extent;
        line_parents(st, x->b, at[j], &g.x[j]);
        g.far |= lie_apart(mc->slot[x->a].t, &g.x[j], around->n);
    }
    scale_lines(mc, st, NULL, around->n, scale, &g);
    run_kernel(mc, st, &g);
    retype(mc, st, around->n * width);
}
