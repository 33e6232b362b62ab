/* exchange.c: tensors that lie on several ranks; see exchange.h.
 *
 * Of a dense tensor whose first mode is cut, ranges are runs of elements, which are sent
 * from where they are to where they belong. Others are sent as entries: the coordinates, 8
 * bytes each, and the element.
 */
#include "exchange.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rank, ranks;
bool alone;
int64_t bytes_moved, bytes_told, messages;

void die(const char *what)
{
    fprintf(stderr, "stcvm-mpi: rank %d: %s\n", rank, what);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

void must(stc_machine *m, stc_status st)
{
    char text[600];
    if (!st) return;
    const stc_error_info *e = stc_error(m);
    snprintf(text, sizeof text, "%s:%d:%d: %s", e->file ? e->file : "", e->line, e->column,
             e->message);
    die(text);
}

void *room(size_t size)
{
    void *p = calloc(size ? size : 1, 1);
    if (!p) die("there is no memory");
    return p;
}

int64_t total(int64_t n)
{
    int64_t all;
    if (alone) return n * ranks;
    MPI_Allreduce(&n, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

ranges_of by_bounds(int mode, const int64_t *bound)
{
    ranges_of out = {.mode = mode};
    for (int r = 0; r < ranks && mode >= 0; r++)
        out.of[r] = (range){bound[r], bound[r + 1]};
    return out;
}

static int64_t common(range a, range b)
{
    const int64_t lo = a.lo > b.lo ? a.lo : b.lo, hi = a.hi < b.hi ? a.hi : b.hi;
    return hi > lo ? hi - lo : 0;
}

/* ---- entries --------------------------------------------------------------------------
 */

static int64_t entry_size(const stc_tensor *t)
{
    return (int64_t)(sizeof(int64_t) * (size_t)stc_tensor_order(t) +
                     stc_type_size(stc_tensor_type(t)));
}

/* Calls fn for each entry with its coordinate of a mode in r; mode -1: for each. */
typedef void (*entry_fn)(void *context, const int64_t *coords, const void *one);
static void each_entry(const stc_tensor *t, int mode, range r, entry_fn fn, void *context)
{
    stc_machine *m = stc_tensor_machine(t);
    const int order = stc_tensor_order(t);
    const size_t size = stc_type_size(stc_tensor_type(t));
    stc_iter *it;
    stc_block block;
    must(m, stc_iter_open(t, 0, &it));
    for (;;) {
        must(m, stc_iter_next(it, &block));
        if (!block.count) break;
        for (int64_t e = 0; e < block.count; e++) {
            int64_t at[STC_MAX_ORDER + 1];
            if (mode >= 0 && (block.coord[mode][e] < r.lo || block.coord[mode][e] >= r.hi))
                continue;
            for (int k = 0; k < order; k++)
                at[k] = block.coord[k][e];
            fn(context, at, (const char *)block.values + (size_t)e * size);
        }
    }
    stc_iter_free(it);
}

static stc_builder *builder_like(const stc_tensor *t, const char *fn)
{
    stc_machine *m = stc_tensor_machine(t);
    const stc_value fill = stc_tensor_fill(t);
    stc_builder *b;
    must(m, stc_builder_open(m, stc_tensor_format(t), stc_tensor_type(t),
                             stc_tensor_order(t), stc_tensor_shape(t), &fill, fn, &b));
    return b;
}

static stc_tensor *finish(stc_machine *m, stc_builder *b)
{
    stc_tensor *out;
    must(m, stc_builder_finish(b, &out));
    stc_builder_free(b);
    return out;
}

typedef struct taking {
    stc_machine *m;
    stc_builder *b;
} taking;

static void take(void *context, const int64_t *coords, const void *one)
{
    taking *t = context;
    must(t->m, stc_builder_put(t->b, coords, one));
}

stc_tensor *between(const stc_tensor *t, int mode, range r)
{
    taking to = {stc_tensor_machine(t), builder_like(t, NULL)};
    each_entry(t, mode, r, take, &to);
    return finish(to.m, to.b);
}

typedef struct reaching {
    int of;
    range r;
} reaching;

static void widen(void *context, const int64_t *coords, const void *one)
{
    reaching *to = context;
    const int64_t i = coords[to->of];
    (void)one;
    if (to->r.hi == to->r.lo) to->r = (range){i, i + 1};
    if (i < to->r.lo) to->r.lo = i;
    if (i >= to->r.hi) to->r.hi = i + 1;
}

range reach(const stc_tensor *t, int mode, range r, int of)
{
    reaching to = {.of = of};
    each_entry(t, mode, r, widen, &to);
    return to.r;
}

/* ---- dense runs -----------------------------------------------------------------------
 */

static int64_t elements(const stc_tensor *t, int from)
{
    int64_t n = 1;
    for (int k = from; k < stc_tensor_order(t); k++)
        n *= stc_tensor_shape(t)[k];
    return n;
}

static bool is_dense(const stc_tensor *t)
{
    return strcmp(stc_tensor_format(t), "dense") == 0;
}

static bool in_runs(const stc_tensor *t, const ranges_of *have, const ranges_of *want)
{
    return is_dense(t) && have->mode == 0 && want->mode <= 0;
}

static range wanted(const stc_tensor *t, const ranges_of *want, int r)
{
    return want->mode < 0 ? (range){0, stc_tensor_shape(t)[0]} : want->of[r];
}

static const void *values_of(const stc_tensor *t)
{
    const void *values;
    int64_t n;
    must(stc_tensor_machine(t), stc_tensor_values(t, &values, &n));
    return values;
}

/* A dense tensor like t, whose elements are in `values`; it frees them. */
static stc_tensor *dense_of(const stc_tensor *t, void *values)
{
    stc_machine *m = stc_tensor_machine(t);
    const stc_value fill = stc_tensor_fill(t);
    stc_tensor *out;
    must(m, stc_tensor_new(m, "dense", stc_tensor_type(t), stc_tensor_order(t),
                           stc_tensor_shape(t), &fill, &out));
    must(m, stc_tensor_lend_values(out, values, elements(t, 0)));
    must(m, stc_tensor_hand_over(out, free, values));
    return out;
}

/* A message: count things from `at` on. */
static void set(int *count, int *at, range a, range b)
{
    const int64_t n = common(a, b), lo = a.lo > b.lo ? a.lo : b.lo;
    if (n && lo + n > INT_MAX) die("more than 2^31 rows are exchanged");
    *count = (int)n;
    *at = n ? (int)lo : 0;
}

static stc_tensor *exchange_runs(const stc_tensor *t, const ranges_of *have,
                                 const ranges_of *want)
{
    const int64_t one = elements(t, 1) * (int64_t)stc_type_size(stc_tensor_type(t));
    int out[RANKS], out_at[RANKS], in[RANKS], in_at[RANKS];
    char *to = room((size_t)(elements(t, 0) * (int64_t)stc_type_size(stc_tensor_type(t))));
    const char *from = values_of(t);
    if (one > INT_MAX) die("rows of more than 2 GB");
    for (int r = 0; r < ranks; r++) {
        set(&out[r], &out_at[r], have->of[rank], wanted(t, want, r));
        set(&in[r], &in_at[r], have->of[r], wanted(t, want, rank));
        if (r == rank) continue;
        bytes_moved += in[r] * one;
        messages += in[r] > 0;
    }
    if (alone) {
        const range own = have->of[rank];
        memcpy(to + own.lo * one, from + own.lo * one, (size_t)((own.hi - own.lo) * one));
        return dense_of(t, to);
    }
    MPI_Datatype row;
    MPI_Type_contiguous((int)one, MPI_BYTE, &row);
    MPI_Type_commit(&row);
    if (want->mode < 0)
        MPI_Allgatherv(from + out_at[rank] * one, out[rank], row, to, in, in_at, row,
                       MPI_COMM_WORLD);
    else
        MPI_Alltoallv(from, out, out_at, row, to, in, in_at, row, MPI_COMM_WORLD);
    MPI_Type_free(&row);
    return dense_of(t, to);
}

/* ---- what is told ---------------------------------------------------------------------
 */

typedef struct telling {
    const ranges_of *want;
    int64_t n;
} telling;

static void count_wanted(void *context, const int64_t *coords, const void *one)
{
    telling *to = context;
    (void)one;
    for (int r = 0; r < ranks; r++) {
        if (r == rank) continue;
        if (to->want->mode < 0)
            to->n++;
        else if (coords[to->want->mode] >= to->want->of[r].lo &&
                 coords[to->want->mode] < to->want->of[r].hi)
            to->n++;
    }
}

int64_t outgoing(const stc_tensor *t, const ranges_of *have, const ranges_of *want)
{
    int64_t n = 0;
    if (in_runs(t, have, want)) {
        for (int r = 0; r < ranks; r++) /* alone, what is received */
            if (r != rank)
                n += alone ? common(have->of[r], wanted(t, want, rank))
                           : common(have->of[rank], wanted(t, want, r));
        return n * elements(t, 1) * (int64_t)stc_type_size(stc_tensor_type(t));
    }
    telling to = {.want = want};
    if (alone && have->mode >= 0 && have->mode == want->mode) { /* as dense as this one's */
        const range own = have->of[rank];
        int64_t bound[2] = {own.lo, own.hi}, mine;
        must(stc_tensor_machine(t), stc_tensor_counts(t, have->mode, 1, bound, &mine));
        for (int r = 0; r < ranks; r++)
            if (r != rank) n += common(have->of[r], want->of[rank]);
        return own.hi > own.lo ? n * mine / (own.hi - own.lo) * entry_size(t) : 0;
    }
    each_entry(t, have->mode, have->of[rank], count_wanted, &to);
    return to.n * entry_size(t);
}

/* ---- entries exchanged ----------------------------------------------------------------
 */

typedef struct packing {
    const stc_tensor *t;
    const ranges_of *want;
    char *bytes[RANKS];
    size_t have[RANKS], room[RANKS];
} packing;

static void pack_for(packing *p, int r, const int64_t *coords, const void *one)
{
    const size_t size = stc_type_size(stc_tensor_type(p->t));
    const size_t head = sizeof *coords * (size_t)stc_tensor_order(p->t);
    if (p->room[r] - p->have[r] < head + size) {
        p->room[r] = 2 * p->room[r] + (1 << 10);
        p->bytes[r] = realloc(p->bytes[r], p->room[r]);
        if (!p->bytes[r]) die("there is no memory");
    }
    memcpy(p->bytes[r] + p->have[r], coords, head);
    memcpy(p->bytes[r] + p->have[r] + head, one, size);
    p->have[r] += head + size;
}

static void pack(void *context, const int64_t *coords, const void *one)
{
    packing *p = context;
    if (p->want->mode < 0) {
        pack_for(p, 0, coords, one); /* the same for all */
        return;
    }
    const int64_t i = coords[p->want->mode];
    for (int r = 0; r < ranks; r++)
        if (i >= p->want->of[r].lo && i < p->want->of[r].hi) pack_for(p, r, coords, one);
}

/* What was packed by each for this rank, one after the other. */
static char *send_packed(packing *p, int64_t one, int64_t *n)
{
    int out[RANKS], out_at[RANKS], in[RANKS], in_at[RANKS];
    int64_t mine = 0, all = 0;
    for (int r = 0; r < ranks; r++) {
        const size_t have = p->have[p->want->mode < 0 ? 0 : r];
        out[r] = (int)(have / (size_t)one);
        out_at[r] = (int)mine;
        if (p->want->mode >= 0) mine += out[r];
        if (have / (size_t)one > INT_MAX || mine > INT_MAX) die("more than 2^31 entries");
    }
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) {
        in_at[r] = (int)all;
        all += in[r];
        if (all > INT_MAX) die("more than 2^31 entries");
        if (r == rank) continue;
        bytes_moved += in[r] * one;
        messages += in[r] > 0;
    }
    char *from = room((size_t)(p->want->mode < 0 ? out[0] : mine) * (size_t)one);
    size_t at = 0;
    for (int r = 0; r < (p->want->mode < 0 ? 1 : ranks); at += p->have[r++])
        if (p->have[r]) memcpy(from + at, p->bytes[r], p->have[r]);
    char *to = room((size_t)(all * one));
    MPI_Datatype entry;
    MPI_Type_contiguous((int)one, MPI_BYTE, &entry);
    MPI_Type_commit(&entry);
    if (p->want->mode < 0)
        MPI_Allgatherv(from, out[0], entry, to, in, in_at, entry, MPI_COMM_WORLD);
    else
        MPI_Alltoallv(from, out, out_at, entry, to, in, in_at, entry, MPI_COMM_WORLD);
    MPI_Type_free(&entry);
    free(from);
    *n = all;
    return to;
}

typedef struct mirror {
    taking to;
    const ranges_of *have, *want;
} mirror;

static void take_mirrored(void *context, const int64_t *coords, const void *one)
{
    mirror *c = context;
    const int mode = c->have->mode, by = c->want->mode;
    const range mine = c->want->of[rank];
    for (int r = 0; r < ranks; r++) {
        int64_t at[STC_MAX_ORDER + 1];
        memcpy(at, coords, sizeof at);
        at[mode] += c->have->of[r].lo - c->have->of[rank].lo;
        if (at[mode] >= c->have->of[r].hi) continue;
        if (by < 0 || (at[by] >= mine.lo && at[by] < mine.hi)) take(&c->to, at, one);
    }
}

/* The others have what this one has, in ranges of their own. */
static stc_tensor *exchange_alone(const stc_tensor *t, const ranges_of *have,
                                  const ranges_of *want)
{
    bytes_moved += outgoing(t, have, want);
    messages += ranks - 1;
    if (have->mode < 0) return between(t, -1, (range){0, 0});
    mirror c = {{stc_tensor_machine(t), builder_like(t, NULL)}, have, want};
    each_entry(t, have->mode, have->of[rank], take_mirrored, &c);
    return finish(c.to.m, c.to.b);
}

stc_tensor *exchange(const stc_tensor *t, const ranges_of *have, const ranges_of *want,
                     const char *fn)
{
    if (in_runs(t, have, want) && !fn) return exchange_runs(t, have, want);
    if (alone) return exchange_alone(t, have, want);
    const int order = stc_tensor_order(t);
    const int64_t one = entry_size(t);
    packing *p = room(sizeof *p);
    p->t = t;
    p->want = want;
    each_entry(t, have->mode, have->of[rank], pack, p);
    int64_t n;
    char *bytes = send_packed(p, one, &n);
    taking to = {stc_tensor_machine(t), builder_like(t, fn)};
    for (int64_t e = 0; e < n; e++) {
        int64_t coords[STC_MAX_ORDER + 1];
        memcpy(coords, bytes + e * one, (size_t)order * sizeof *coords);
        take(&to, coords, bytes + e * one + (size_t)order * sizeof *coords);
    }
    free(bytes);
    for (int r = 0; r < ranks; r++)
        free(p->bytes[r]);
    free(p);
    return finish(to.m, to.b);
}

/* ---- reductions -----------------------------------------------------------------------
 */

/* MPI's own, where it does what the function does: not `min` and `max` of floats, where it
 * may pass over a nan. */
static MPI_Op op_of(const char *fn, stc_type type)
{
    const bool whole = type >= STC_I8 && type <= STC_U64;
    if (type != STC_BOOL && strcmp(fn, "add") == 0) return MPI_SUM;
    if (type != STC_BOOL && strcmp(fn, "mul") == 0) return MPI_PROD;
    if (type == STC_BOOL && strcmp(fn, "or") == 0) return MPI_LOR;
    if (type == STC_BOOL && strcmp(fn, "and") == 0) return MPI_LAND;
    if (whole && strcmp(fn, "min") == 0) return MPI_MIN;
    if (whole && strcmp(fn, "max") == 0) return MPI_MAX;
    if (whole && strcmp(fn, "bitor") == 0) return MPI_BOR;
    if (whole && strcmp(fn, "bitand") == 0) return MPI_BAND;
    if (whole && strcmp(fn, "bitxor") == 0) return MPI_BXOR;
    return MPI_OP_NULL;
}

static MPI_Datatype type_of(stc_type type)
{
    switch (type) {
    case STC_BOOL:
        return MPI_C_BOOL;
    case STC_I8:
        return MPI_INT8_T;
    case STC_I16:
        return MPI_INT16_T;
    case STC_I32:
        return MPI_INT32_T;
    case STC_I64:
        return MPI_INT64_T;
    case STC_U8:
        return MPI_UINT8_T;
    case STC_U16:
        return MPI_UINT16_T;
    case STC_U32:
        return MPI_UINT32_T;
    case STC_U64:
        return MPI_UINT64_T;
    case STC_F32:
        return MPI_FLOAT;
    case STC_F64:
        return MPI_DOUBLE;
    case STC_C64:
        return MPI_C_FLOAT_COMPLEX;
    default:
        return MPI_C_DOUBLE_COMPLEX;
    }
}

stc_tensor *reduce(const stc_tensor *t, const char *fn)
{
    const ranges_of all = {.mode = -1};
    const stc_type type = stc_tensor_type(t);
    const MPI_Op op = op_of(fn, type);
    const int64_t n = is_dense(t) ? elements(t, 0) : 0;
    const int64_t size = n * (int64_t)stc_type_size(type);
    if (op == MPI_OP_NULL || !is_dense(t) || n > INT_MAX) {
        bytes_told += outgoing(t, &all, &all);
        return exchange(t, &all, &all, fn);
    }
    char *to = room((size_t)size);
    if (alone)
        memcpy(to, values_of(t), (size_t)size);
    else
        MPI_Allreduce(values_of(t), to, (int)n, type_of(type), op, MPI_COMM_WORLD);
    if (ranks > 1) {
        bytes_told += size;
        bytes_moved += size;
        messages++;
    }
    return dense_of(t, to);
}
