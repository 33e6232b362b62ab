/* run_fold.c: rows of runs folded in pairs.
 *
 * Two rows become one piece by piece: where both have a run, pieces are found some hundred
 * at a time, their values are gathered and folded together, and equal neighbours are one
 * run again.
 */
#include "run_fold.h"
#include <string.h>

enum { PART = 256 };

/* ---- memory -------------------------------------------------------------------------- */

stc_status run_list_reserve(ctx *cx, const run_fold *f, run_list *l, int64_t n)
{
    const mem_row rows[] = {{(void **)&l->at, 2 * sizeof *l->at},
                            {(void **)&l->val, f->size}};
    const stc_status st = mem_grow_rows(cx, rows, 2, &l->cap, n);
    if (!l->cap) l->n = 0;
    return st;
}

void run_fold_forget(run_fold *f)
{
    f->rows.n = f->first[0] = 0;
    f->depth = 1;
}

void run_fold_free(ctx *cx, run_fold *f)
{
    for (int k = 0; k < 2; k++) {
        run_list *l = k ? &f->room : &f->rows;
        mem_free(cx, l->at, (size_t)l->cap * 2 * sizeof *l->at);
        mem_free(cx, l->val, (size_t)l->cap * f->size);
        *l = (run_list){0};
    }
}

/* ---- two rows into one ------------------------------------------------------------- */

/* A run behind those from `first` on, or the last of these goes on; there is room. */
static inline __attribute__((always_inline)) void
put(run_list *l, int64_t first, int64_t lo, int64_t hi, const char *val, const size_t size)
{
    char *to = l->val + (size_t)l->n * size;
    if (l->n > first && l->at[2 * l->n - 1] == lo && !memcmp(to - size, val, size)) {
        l->at[2 * l->n - 1] = hi;
        return;
    }
    l->at[2 * l->n] = lo;
    l->at[2 * l->n + 1] = hi;
    memcpy(to, val, size);
    l->n++;
}

/* Where two rows stand: at runs a and b, of which those before `mid` and `end` are theirs,
 * and at coordinate `next`. */
typedef struct pair {
    const int64_t *at;
    int64_t a, mid, b, end, next;
} pair;

/* Pieces on which both rows have a run: where each begins, `lo`, and its two runs. */
typedef struct pieces {
    int n;
    int64_t lo[PART + 1], a[PART], b[PART];
} pieces;

static void find_pieces(pair *p, pieces *x)
{
    const int64_t *at = p->at;
    int64_t a = p->a, b = p->b, next = p->next;
    int n = 0;
    while (n < PART && a < p->mid && b < p->end && at[2 * a] <= next && at[2 * b] <= next) {
        const int64_t hi = at[2 * a + 1], other = at[2 * b + 1];
        x->lo[n] = next;
        x->a[n] = a;
        x->b[n++] = b;
        next = hi < other ? hi : other;
        a += hi == next;
        b += other == next;
    }
    x->lo[n] = next;
    x->n = n;
    p->a = a;
    p->b = b;
    p->next = next;
}

static inline __attribute__((always_inline)) fn_fault
fold_pieces(run_fold *f, const pieces *x, const size_t size)
{
    value va[PART], vb[PART]; /* the first bytes of them: values of their class */
    char *pa = (char *)va, *pb = (char *)vb;
    for (int k = 0; k < x->n; k++) {
        memcpy(pa + (size_t)k * size, f->rows.val + (size_t)x->a[k] * size, size);
        memcpy(pb + (size_t)k * size, f->rows.val + (size_t)x->b[k] * size, size);
    }
    const fn_fault fault = f->apply(f->with, va, vb, x->n);
    for (int k = 0; !fault && k < x->n; k++)
        put(&f->room, 0, x->lo[k], x->lo[k + 1], pa + (size_t)k * size, size);
    return fault;
}

/* Where not both rows have a run: up to where that changes, or to where the next one is. */
static void put_single(pair *p, run_fold *f)
{
    const int64_t *at = p->at;
    int64_t x = p->a == p->mid ? INT64_MAX : at[2 * p->a];
    int64_t y = p->b == p->end ? INT64_MAX : at[2 * p->b];
    x = x > p->next ? x : p->next;
    y = y > p->next ? y : p->next;
    if (x == y) {
        p->next = x;
        return;
    }
    const int64_t k = x < y ? p->a : p->b, lo = x < y ? x : y, other = x < y ? y : x;
    p->next = at[2 * k + 1] < other ? at[2 * k + 1] : other;
    put(&f->room, 0, lo, p->next, f->rows.val + k * f->size, f->size);
    p->a += k == p->a && at[2 * k + 1] == p->next;
    p->b += k == p->b && at[2 * k + 1] == p->next;
}

/* Runs [a, mid) and [mid, end) of the rows into other room. */
static fn_fault merge(run_fold *f, int64_t a, int64_t mid, int64_t end)
{
    pair p = {f->rows.at, a, mid, mid, end, INT64_MIN};
    f->room.n = 0;
    while (p.a < mid || p.b < end) {
        pieces x;
        find_pieces(&p, &x);
        const fn_fault fault = f->size == 8   ? fold_pieces(f, &x, 8)
                               : f->size == 4 ? fold_pieces(f, &x, 4)
                                              : fold_pieces(f, &x, f->size);
        if (fault) return fault;
        if (x.n < PART && (p.a < mid || p.b < end)) put_single(&p, f);
    }
    return FAULT_NONE;
}

/* ---- rows ------------------------------------------------------------------------------
 */

/* The last two rows become one. */
static stc_status fold_last(machine *mc, run_fold *f, const lop *at)
{
    run_list *l = &f->rows;
    const int64_t a = f->first[f->depth - 2], b = f->first[f->depth - 1];
    if (run_list_reserve(mc->cx, f, &f->room, 2 * (l->n - a))) return mc->cx->diag.status;
    const fn_fault fault = merge(f, a, b, l->n);
    if (fault) return machine_fault(mc, at, fault);
    const int64_t n = f->room.n;
    if (run_list_reserve(mc->cx, f, l, a + n)) return mc->cx->diag.status;
    memcpy(l->at + 2 * a, f->room.at, (size_t)n * 2 * sizeof *l->at);
    memcpy(l->val + a * f->size, f->room.val, (size_t)(n * f->size));
    l->n = a + n;
    f->depth--;
    f->weight[f->depth - 1] += f->weight[f->depth - 1] < UINT8_MAX;
    return machine_count(mc, n);
}

stc_status run_fold_all(machine *mc, run_fold *f, const lop *at)
{
    while (f->depth > 1)
        if (fold_last(mc, f, at)) return mc->cx->diag.status;
    f->weight[0] = UINT8_MAX;
    return STC_OK;
}

bool run_fold_begins(const run_fold *f, int64_t lo)
{
    const run_list *l = &f->rows;
    return l->n > f->first[f->depth - 1] && lo < l->at[2 * l->n - 1];
}

void run_fold_open(run_fold *f)
{
    f->first[f->depth++] = f->rows.n;
}

stc_status run_fold_close(machine *mc, run_fold *f, const lop *at, bool *shorter,
                          bool *single)
{
    f->weight[f->depth - 1] = 0;
    while (f->depth > 1 &&
           (!f->regroup || f->weight[f->depth - 2] == f->weight[f->depth - 1]))
        if (fold_last(mc, f, at)) return mc->cx->diag.status;
    const int64_t first = f->first[f->depth - 1], n = f->rows.n - first;
    const int64_t wide = f->rows.at[2 * f->rows.n - 1] - f->rows.at[2 * first];
    *single = f->weight[f->depth - 1] == 0;
    *shorter = n > wide / RUN_SHORT;
    return STC_OK;
}

stc_status run_fold_add(machine *mc, run_fold *f, int64_t lo, int64_t hi, const char *val)
{
    if (run_list_reserve(mc->cx, f, &f->rows, f->rows.n + 1)) return mc->cx->diag.status;
    put(&f->rows, f->first[f->depth - 1], lo, hi, val, f->size);
    return STC_OK;
}
