/* outer_fold.c: functions of rows of lanes, put off until somebody reads them.
 *
 *     t = max(t, A(2i, 2j))          A's rows are where they are: nothing is worked out
 *     t = max(t, A(2i, 2j+1))        before t is stored, and then it is all at once, so
 *     t = max(t, A(2i+1, 2j))        that a lane is in a register meanwhile
 *     C(i, j) = t
 *
 * A value is put off where all it needs stays as it is: elements in the memory of an
 * operand (or in a line, which outer_lines.c doesn't write over before), one value, and
 * what is in the value's own column. It is a row of elements at a step; such a row joined
 * with one value, as a coefficient is; or a fold of these. This is loop fusion of what
 * numexpr and its kind do in blocks, at run time: loops of several terms are there, by
 * function and type (outer_fold.def), and terms are gathered for them as rounds go by.
 * Terms are taken in their order, so that results are bit for bit those of one function
 * after the other.
 */
#include "outer.h"
#include "../super/super.h"
#include <stddef.h>
#include <string.h>
#include <tgmath.h>
#include "../fn/fn_math.h"

#define CLASS(NAME, name, ctype) typedef ctype ct_##NAME;
#include "../../formats/base/types.def"

/* ---- kernels ----------------------------------------------------------------------- */

/* out[k] = f(… f(first[k], join(x[0][k * by], c[0])) …), for `n` lanes. */
typedef void (*fold_kernel)(void *out, const void *first, const void *const *x,
                            const value *c, int64_t by, int terms, int n);

struct outer_fold {
    int16_t fold, join; /* NO_FN: there is none */
    uint8_t type;
    fold_kernel plain, wide;
};
enum { NO_FN = -1 };

#define IMPL1(...)
#define IMPL3(...)
#define OTHER2(...)
#define IMPL2(N, K, R, A, B, e)                                                            \
    static inline __attribute__((always_inline, unused))                                   \
    ct_##K of_##N##_##K(ct_##K x, ct_##K y)                                                \
    {                                                                                      \
        return (ct_##K)(e);                                                                \
    }
#include "../fn/fn_ops.def"

#define OF_I64 i64
#define OF_U64 u64
#define OF_F32 f32
#define OF_F64 f64
#define MEMBER_(v, m) (v).m
#define MEMBER(v, m) MEMBER_(v, m)

/* Elements don't depend on each other where out is first. */
#if defined(__clang__)
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* Loops of one to four terms; of_f and join are of class K. */
#define ROWS(NAME, T, K, F, TERM)                                                          \
    static inline __attribute__((always_inline)) void NAME##_by(                           \
        void *to, const void *from, const void *const *x, const value *c, int64_t by,      \
        int terms, int n)                                                                  \
    {                                                                                      \
        ct_##K *out = to;                                                                  \
        const ct_##K *first = from;                                                        \
        const T *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];                            \
        const ct_##K c0 = MEMBER(c[0], OF_##K), c1 = MEMBER(c[1], OF_##K),                 \
                     c2 = MEMBER(c[2], OF_##K), c3 = MEMBER(c[3], OF_##K);                 \
        (void)c0, (void)c1, (void)c2, (void)c3;                                            \
        if (terms == 1) {                                                                  \
            INDEPENDENT                                                                    \
            for (int64_t k = 0; k < n; k++)                                                \
                out[k] = F(first[k], TERM(x0[k * by], c0));                                \
        } else if (terms == 2) {                                                           \
            INDEPENDENT                                                                    \
            for (int64_t k = 0; k < n; k++)                                                \
                out[k] = F(F(first[k], TERM(x0[k * by], c0)), TERM(x1[k * by], c1));       \
        } else if (terms == 3) {                                                           \
            INDEPENDENT                                                                    \
            for (int64_t k = 0; k < n; k++)                                                \
                out[k] = F(F(F(first[k], TERM(x0[k * by], c0)), TERM(x1[k * by], c1)),     \
                           TERM(x2[k * by], c2));                                          \
        } else {                                                                           \
            INDEPENDENT                                                                    \
            for (int64_t k = 0; k < n; k++)                                                \
                out[k] = F(F(F(F(first[k], TERM(x0[k * by], c0)), TERM(x1[k * by], c1)),   \
                             TERM(x2[k * by], c2)),                                        \
                           TERM(x3[k * by], c3));                                          \
        }                                                                                  \
    }

/* Steps of one are vectors as they are, those of two are shuffled, where there are
 * vectors. */
#define STEPS(ATTRIBUTE, VECTORS, NAME, OF)                                                \
    ATTRIBUTE static void NAME(void *out, const void *first, const void *const *x,         \
                               const value *c, int64_t by, int terms, int n)               \
    {                                                                                      \
        if (VECTORS && by == 1)                                                            \
            OF##_by(out, first, x, c, 1, terms, n);                                        \
        else if (VECTORS && by == 2)                                                       \
            OF##_by(out, first, x, c, 2, terms, n);                                        \
        else                                                                               \
            OF##_by(out, first, x, c, by, terms, n);                                       \
    }

#define ALONE(x, c) (x)
#define TYPE(NAME, name, ctype, CLASS, rank) typedef ctype t_##NAME;
#include "../../formats/base/types.def"

#define FOLD(F, K, T) ROWS(F##_##T, t_##T, K, of_##F##_##K, ALONE)
#define FOLD_JOINED(F, G, K, T) ROWS(F##_##G##_##T, t_##T, K, of_##F##_##K, of_##G##_##K)
/* no fold: what came first isn't read */
#define JOIN(G, K, T)                                                                      \
    static inline __attribute__((always_inline)) void join_##G##_##T##_by(                 \
        void *to, const void *from, const void *const *x, const value *c, int64_t by,      \
        int terms, int n)                                                                  \
    {                                                                                      \
        ct_##K *out = to;                                                                  \
        const t_##T *x0 = x[0];                                                            \
        const ct_##K c0 = MEMBER(c[0], OF_##K);                                            \
        (void)from, (void)terms;                                                           \
        INDEPENDENT                                                                        \
        for (int64_t k = 0; k < n; k++)                                                    \
            out[k] = of_##G##_##K(x0[k * by], c0);                                         \
    }
#include "outer_fold.def"

/* Plain loops of x86 serve processors that are ten years old or older, and tests: vectors
 * in them would be a sixth of the library. Elsewhere there are no others. */
#if defined(__x86_64__) && !defined(__clang__)
#define PLAIN __attribute__((optimize("no-tree-vectorize", "no-version-loops-for-strides")))
#define PLAIN_VECTORS false
#else
#define PLAIN
#define PLAIN_VECTORS true
#endif
#define KERNELS(NAME)                                                                      \
    STEPS(PLAIN, PLAIN_VECTORS, plain_##NAME, NAME) STEPS(WIDE, true, wide_##NAME, NAME)
#define FOLD(F, K, T) KERNELS(F##_##T)
#define FOLD_JOINED(F, G, K, T) KERNELS(F##_##G##_##T)
#define JOIN(G, K, T) KERNELS(join_##G##_##T)
#include "outer_fold.def"

static const outer_fold table[] = {
#define FOLD(F, K, T) {FN_##F, NO_FN, STC_##T, plain_##F##_##T, wide_##F##_##T},
#define FOLD_JOINED(F, G, K, T)                                                            \
    {FN_##F, FN_##G, STC_##T, plain_##F##_##G##_##T, wide_##F##_##G##_##T},
#define JOIN(G, K, T) {NO_FN, FN_##G, STC_##T, plain_join_##G##_##T, wide_join_##G##_##T},
#include "outer_fold.def"
};
enum { NROWS = sizeof table / sizeof *table };

static const outer_fold *row_of(int fold, int join, stc_type type)
{
    for (int k = 0; k < NROWS; k++)
        if (table[k].fold == fold && table[k].join == join && table[k].type == type)
            return &table[k];
    return NULL;
}

bool outer_fold_has(int fn)
{
    for (int k = 0; k < NROWS; k++)
        if (table[k].fold == fn || table[k].join == fn) return true;
    return false;
}

/* ---- columns ------------------------------------------------------------------------- */

/* The column that p is in, as a bit; none: it is an operand's memory. */
static uint64_t column_bit(const outer *o, const void *p)
{
    const char *at = p, *block = o->block;
    if (!at || at < block || at >= block + (size_t)o->ncolumn * OUTER_COLUMN) return 0;
    return UINT64_C(1) << ((size_t)(at - block) / OUTER_COLUMN);
}

static uint64_t columns_read(const outer *o, const outer_late *x)
{
    uint64_t set = column_bit(o, x->first.x);
    for (int k = 0; k < x->n; k++)
        set |= column_bit(o, x->term[k].x);
    return set;
}

/* Values that are put off and would read what is about to be written are worked out. */
static void finish_readers(outer *o, int v, uint64_t bit)
{
    uint64_t left = 0;
    for (int u = 0; u < o->nvalue; u++) {
        if (!o->put_off[u]) continue;
        const uint64_t reads = columns_read(o, &o->late[u]);
        if (u != v && reads & bit)
            outer_settle(o, u);
        else
            left |= reads;
    }
    o->late_reads = left;
}

void *outer_column(outer *o, int v)
{
    const int at = o->column[v];
    if (o->late_reads >> at & 1) finish_readers(o, v, UINT64_C(1) << at);
    if (o->owner[at] != v) o->value[v].spread = 0;
    o->owner[at] = (uint16_t)v;
    return o->value[v].data;
}

/* What is put off reads no column that others write: only v's own, and those of loads. */
static bool may_wait(const outer *o, int v, uint64_t reads)
{
    return !(reads & ~(o->load_columns | UINT64_C(1) << o->column[v]));
}

/* ---- what was put off, worked out ---------------------------------------------------- */

/* One value in all lanes of a column that is kept for that. */
static const void *spread_one(outer *o, vclass cls, value one)
{
    vcolumn *c = &o->one;
    if (memcmp(&c->one, &one, sizeof one) || o->one_cls != cls) c->spread = 0;
    c->one = one;
    o->one_cls = (uint8_t)cls;
    class_fill(cls, c->data, c->spread, o->n, one);
    if (c->spread < o->n) c->spread = o->n;
    return c->data;
}

/* Lanes from … to - 1 of what is put off, where all terms have elements. */
static void work_out(const outer_late *x, bool wide, const void *first, void *out, int from,
                     int to)
{
    const stc_type t = (stc_type)x->type;
    const int64_t size = (int64_t)type_size(t), row = (int64_t)class_size(type_class(t));
    const void *at[OUTER_TERMS] = {NULL};
    value c[OUTER_TERMS] = {{0}};
    char *to_row = (char *)out + from * row;
    for (int k = 0; k < x->n; k++) {
        const outer_term *e = &x->term[k];
        at[k] = (const char *)e->x + (from - e->from) * x->by * size;
        c[k] = e->c;
    }
    if (!x->row)
        outer_load(t, to_row, at[0], 0, x->by, to - from);
    else
        (wide ? x->row->wide
              : x->row->plain)(to_row, first ? (const char *)first + from * row : NULL, at,
                               c, x->by, x->n, to - from);
}

/* The same at an edge, where some have the fill: at most OUTER_EDGE lanes. */
static void work_out_edge(const outer_late *x, bool wide, const void *first, void *out,
                          int from, int to)
{
    const stc_type t = (stc_type)x->type;
    const size_t size = type_size(t);
    value room[OUTER_TERMS][OUTER_EDGE];
    outer_late edge = *x;
    edge.by = 1;
    for (int k = 0; k < x->n; k++) {
        const outer_term *e = &x->term[k];
        char *to_x = (char *)room[k];
        edge.term[k].x = to_x;
        edge.term[k].from = from;
        for (int n = from; n < to; n++, to_x += size) {
            const int64_t at = (n - e->from) * x->by * (int64_t)size;
            if (n < e->from || n >= e->to)
                type_store(t, to_x, 0, e->fill);
            else
                memcpy(to_x, (const char *)e->x + at, size);
        }
    }
    if (from < to) work_out(&edge, wide, first, out, from, to);
}

void outer_late_at(outer *o, const outer_late *x, void *out)
{
    const void *first = x->first.x;
    int from = 0, to = o->n;
    if (!first && x->row && x->row->fold != NO_FN)
        first = spread_one(o, type_class((stc_type)x->type), x->one);
    for (int k = 0; k < x->n; k++) {
        if (x->term[k].from > from) from = x->term[k].from;
        if (x->term[k].to < to) to = x->term[k].to;
    }
    if (to < from) to = from;
    work_out_edge(x, o->wide, first, out, 0, from);
    work_out(x, o->wide, first, out, from, to);
    work_out_edge(x, o->wide, first, out, to, o->n);
}

void outer_settle_at(outer *o, int v, void *out)
{
    if (o->recording) outer_record_late(o, v, out);
    outer_late_at(o, &o->late[v], out);
}

/* Elements put off that are side by side for all lanes, as a column is. */
static bool contiguous(const outer *o, int v)
{
    const outer_late *x = &o->late[v];
    const outer_term *e = &x->term[0];
    const stc_type t = (stc_type)x->type;
    return !x->row && x->by == 1 && !e->from && e->to == o->n &&
           class_type(type_class(t)) == t;
}

const void *outer_read(outer *o, int v)
{
    if (o->put_off[v] && contiguous(o, v)) {
        o->put_off[v] = false;
        o->value[v].p = o->late[v].term[0].x; /* as it is */
    } else if (o->put_off[v]) {
        outer_settle(o, v);
    }
    return o->value[v].p;
}

void outer_settle(outer *o, int v)
{
    vcolumn *c = &o->value[v];
    void *out = outer_column(o, v);
    if (o->put_off[v])
        outer_settle_at(o, v, out);
    else {
        o->recording = false;
        memcpy(out, c->p, (size_t)o->n * class_size((vclass)o->cls[v]));
    }
    o->put_off[v] = false;
    c->p = out;
    c->spread = 0;
}

void outer_leave_line(outer *o, const char *line, size_t size)
{
    for (int v = 0; v < o->nvalue; v++) {
        const outer_late *x = &o->late[v];
        const char *p = o->value[v].p;
        bool in = p && p >= line && p < line + size;
        for (int k = 0; o->put_off[v] && k <= x->n; k++) {
            p = k ? x->term[k - 1].x : x->first.x;
            in |= p && p >= line && p < line + size;
        }
        if (in) outer_settle(o, v);
    }
}

void outer_forget(outer *o)
{
    for (int v = 0; v < o->nvalue; v++) {
        o->put_off[v] = false;
        o->value[v].p = NULL;
    }
    o->late_reads = 0;
}

/* ---- what is put off -------------------------------------------------------------- */

static bool is_fold(const outer *o, int v)
{
    const outer_fold *row = o->late[v].row;
    return o->put_off[v] && row && row->fold != NO_FN;
}

/* Value v is put off, as its `late` says, which may read these columns. */
static void waits(outer *o, int v, uint64_t reads)
{
    o->put_off[v] = true;
    o->value[v].p = o->value[v].data; /* it isn't one value */
    o->late_reads |= reads;
}

const outer_term *outer_in_place(const outer *o, int v)
{
    const outer_late *x = &o->late[v];
    const void *p = o->value[v].p;
    return p && !o->put_off[v] && !x->row && x->term[0].x == p ? &x->term[0] : NULL;
}

void outer_put_off_load(outer *o, int v, const outer_term *x, int64_t by, stc_type type)
{
    outer_late *to = &o->late[v];
    to->row = NULL;
    to->first = (outer_term){0};
    to->by = by;
    to->n = 1;
    to->type = (uint8_t)type;
    to->term[0] = *x;
    waits(o, v, 0);
}

/* An argument that is a row of elements: whose value it is, if that is put off. */
typedef struct elements {
    const outer_late *late;
    int64_t by;
    stc_type type;
    outer_term term;
} elements;

static bool elements_of(const outer *o, const outer_op *x, int k, elements *e)
{
    const int v = x->arg[k];
    const outer_late *late = &o->late[v];
    if (!o->value[v].p || is_fold(o, v)) return false;
    if (o->put_off[v] || outer_in_place(o, v)) {
        e->late = late;
        e->by = late->by;
        e->type = (stc_type)late->type;
        e->term = late->term[0];
    } else {
        e->late = NULL;
        e->by = 1;
        e->type = class_type((vclass)x->arg_cls[k]);
        e->term = (outer_term){.x = o->value[v].p, .to = o->n};
    }
    return true;
}

static int join_of(const elements *e)
{
    return e->late && e->late->row ? e->late->row->join : NO_FN;
}

/* The row for op x, as the fold or what joins; it is looked up when that changes. */
static const outer_fold *row_for(outer *o, const outer_op *x, bool folds, int join,
                                 stc_type type)
{
    outer_memo *m = &o->op[x - o->op].memo[folds];
    if (m->known && m->join == join && m->type == type) return m->row;
    *m = (outer_memo){row_of(folds ? x->fn : NO_FN, join, type), (int16_t)join,
                      (uint8_t)type, true};
    return m->row;
}

/* Elements of argument k and one value. */
static bool put_off_joined(outer *o, const outer_op *x, int k)
{
    elements e;
    outer_late *to = &o->late[x->to];
    if (!elements_of(o, x, k, &e) || join_of(&e) != NO_FN) return false;
    const uint64_t reads = column_bit(o, e.term.x);
    const outer_fold *row = row_for(o, x, false, x->fn, e.type);
    if (!row || !may_wait(o, x->to, reads)) return false;
    e.term.c = o->value[x->arg[!k]].one;
    outer_put_off_load(o, x->to, &e.term, e.by, e.type);
    to->row = row;
    waits(o, x->to, reads);
    return true;
}

/* Op x's value is the fold of value v and one more term. */
static bool one_more(outer *o, const outer_op *x, int v, const outer_fold *row,
                     const elements *e, uint64_t reads)
{
    outer_late *was = &o->late[v], *to = &o->late[x->to];
    if (!o->put_off[v] || !was->row || was->by != e->by || was->n == OUTER_TERMS)
        return false;
    const bool begins = was->row->fold == NO_FN && was->row->join == row->fold &&
                        row->join == NO_FN && was->type == row->type;
    if (!begins && was->row != row) return false;
    reads |= columns_read(o, was);
    if (!may_wait(o, x->to, reads)) return false;
    if (to != was) memcpy(to, was, offsetof(outer_late, term[was->n]));
    if (begins) { /* what joined one value folds as well, from that on */
        to->one = to->term[0].c;
        to->row = row;
    }
    to->term[to->n++] = e->term;
    waits(o, x->to, reads);
    return true;
}

/* … of what v is by then, and one term. */
static bool first_of(outer *o, const outer_op *x, int v, const outer_fold *row,
                     const elements *e, uint64_t reads)
{
    outer_late *to = &o->late[x->to];
    outer_term first = {0};
    const uint64_t own = UINT64_C(1) << o->column[x->to];
    if (o->put_off[v] && !contiguous(o, v)) {
        if (reads & own) return false;
        void *out = outer_column(o, x->to);
        if (o->put_off[v]) { /* else it was read from that column, and is done */
            outer_settle_at(o, v, out);
            first.x = out;
        } else {
            first.x = o->value[v].p;
        }
    } else {
        first.x = outer_read(o, v);
        if (outer_in_place(o, v)) first = *outer_in_place(o, v);
    }
    reads |= column_bit(o, first.x);
    if (!may_wait(o, x->to, reads)) return false;
    outer_put_off_load(o, x->to, &e->term, e->by, e->type);
    to->row = row;
    to->first = first;
    to->one = o->value[v].one;
    waits(o, x->to, reads);
    return true;
}

/* Argument k of a fold, the other one being what was folded before. */
static bool put_off_fold(outer *o, const outer_op *x, int k)
{
    elements e;
    const int v = x->arg[!k];
    if (!elements_of(o, x, k, &e)) return false;
    const outer_fold *row = row_for(o, x, true, join_of(&e), e.type);
    if (!row) return false;
    const uint64_t reads = column_bit(o, e.term.x);
    return one_more(o, x, v, row, &e, reads) || first_of(o, x, v, row, &e, reads);
}

/* Value v is there, as one value or lanes side by side. */
static bool ready(const outer *o, int v)
{
    return !o->put_off[v] || contiguous(o, v);
}

bool outer_put_off_function(outer *o, const outer_op *x)
{
    const uint16_t a = x->arg[0], b = x->arg[1];
    const bool one_a = !o->value[a].p, one_b = !o->value[b].p;
    if (!x->waits) return false;
    if (one_a != one_b && put_off_joined(o, x, one_a)) return true;
    /* what must be worked out to begin with had better be a term */
    const bool turned =
        x->turns && (is_fold(o, b) || (!ready(o, a) && !is_fold(o, a) && ready(o, b)));
    return put_off_fold(o, x, !turned) || (x->turns && put_off_fold(o, x, turned));
}
