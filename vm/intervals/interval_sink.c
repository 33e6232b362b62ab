/* interval_sink.c: lanes that are intervals into registers and results.
 *
 * A reduction takes a lane at once: n·v for sums, v**n for products, v where
 * taking it twice changes nothing (compression paper, §IV-D). A result whose
 * last level takes regions gets the lane as a run, and what a lane repeats as a
 * repeat (append_fill_region, §IV-C), so that nothing is expanded that needn't
 * be. The places of outer levels are opened and kept as base operations would.
 */
#include "interval.h"
#include "../work/ws.h"
#include <string.h>

/* ---- reductions ---------------------------------------------------------------- */

bool interval_folds(const sink *x)
{
    const uint8_t flags = fn_at(x->fn)->flags;
    const bool real = x->cls != CLASS_C64 && x->cls != CLASS_C128;
    if (!(flags & FP_ASSOCIATIVE)) return false;
    return flags & FP_IDEMPOTENT || (real && (x->fn == FN_ADD || x->fn == FN_MUL));
}

/* By lanes' rows; and fiber by fiber, without lengths where all are 1. */
#define ADD_RUNS(NAME, T, U)                                                               \
    static void add_runs_##NAME(T *out, const T *x, const int *row, const int64_t *len,    \
                                int n)                                                     \
    {                                                                                      \
        for (int k = 0; k < n;) {                                                          \
            const int r = row[k];                                                          \
            U sum = 0;                                                                     \
            for (; k < n && row[k] == r; k++)                                              \
                sum += (U)x[k] * (U)len[k];                                                \
            out[r] = (T)((U)out[r] + sum);                                                 \
        }                                                                                  \
    }                                                                                      \
    static void add_fibers_##NAME(T *out, const T *x, const ivl_loop *v)                   \
    {                                                                                      \
        for (int f = 0; f < v->nfiber; f++) {                                              \
            U sum = 0;                                                                     \
            if (v->bare == BARE_FIBERS) {                                                  \
                for (int k = v->start[f]; k < v->start[f + 1]; k++)                        \
                    sum += (U)x[k];                                                        \
            } else {                                                                       \
                for (int k = v->start[f]; k < v->start[f + 1]; k++)                        \
                    sum += (U)x[k] * (U)v->len[k];                                         \
            }                                                                              \
            out[v->fiber[f]] = (T)((U)out[v->fiber[f]] + sum);                             \
        }                                                                                  \
    }
ADD_RUNS(F64, double, double)
ADD_RUNS(F32, float, float)
ADD_RUNS(I64, int64_t, uint64_t)

bool interval_adds(const sink *x)
{
    return x->kind == SINK_REDUCE && x->fn == FN_ADD && !x->right &&
           (x->cls == CLASS_F64 || x->cls == CLASS_F32 || x->cls == CLASS_I64 ||
            x->cls == CLASS_U64);
}

/* Sums of lanes into out[row]. */
static void add_runs(const ivl_loop *v, vclass cls, const void *in, void *out)
{
    const bool fibers = v->bare != BARE_NOT;
    const int n = v->g.n;
    if (cls == CLASS_F64) {
        if (fibers) return add_fibers_F64(out, in, v);
        return add_runs_F64(out, in, v->row, v->len, n);
    }
    if (cls == CLASS_F32) {
        if (fibers) return add_fibers_F32(out, in, v);
        return add_runs_F32(out, in, v->row, v->len, n);
    }
    if (fibers) return add_fibers_I64(out, in, v);
    add_runs_I64(out, in, v->row, v->len, n);
}

/* v taken n times, n > 1; sums have their own way. */
static value fold_run(const sink *x, vclass cls, value v, int64_t n)
{
    if (fn_at(x->fn)->flags & FP_IDEMPOTENT) return v;
    const value count = class_convert(cls, CLASS_I64, (value){.i64 = n});
    if (cls == CLASS_F32 || cls == CLASS_F64) {
        fn_scalar_of(FN_POW, cls)(&v, &v, &count, NULL);
        return v;
    }
    value y = v, sum = v;
    const fn_scalar apply = fn_scalar_of(x->fn, cls);
    for (n--; n > 0; n >>= 1) {
        if (n & 1) apply(&sum, &sum, &y, NULL);
        apply(&y, &y, &y, NULL);
    }
    return sum;
}

/* Lanes into out[row]. */
static void reduce(ivl_loop *v, const sink *x, void *out)
{
    const vclass cls = (vclass)x->cls;
    const void *in = strip_spread(&v->g, x->node);
    const int n = v->g.n;
    if (interval_adds(x)) return add_runs(v, cls, in, out);
    const fn_scalar fn = fn_scalar_of(x->fn, cls);
    for (int k = 0; k < n; k++) {
        value acc = class_get(cls, out, v->row[k]), e = class_get(cls, in, k);
        if (v->len[k] > 1) e = fold_run(x, cls, e, v->len[k]);
        fn(&acc, &acc, &e, NULL);
        class_put(cls, out, v->row[k], acc);
    }
}

/* The outer lanes' values before anything is added: what the outer body gives. */
void interval_start(ivl_loop *v)
{
    if (!v->depth || v->link.result == UNLINKED) return;
    strip *o = &v->of->loop[v->depth - 1].g;
    const node *r = &o->s.node[v->link.result];
    vcolumn *to = &o->node[v->link.result];
    const vcolumn *from = &o->node[r->arg[0]];
    const vclass cls = (vclass)r->cls;
    if (from->p) {
        memcpy(to->data, from->p, (size_t)o->n * class_size(cls));
    } else {
        class_fill(cls, to->data, 0, o->n, from->one);
    }
}

/* ---- places of outer levels ------------------------------------------------------ */

static mcursor *up_cursor(machine *mc, const loop_summary *s, const place *p)
{
    const uint16_t c = s->place[p->up].cursor;
    return c == ROOT ? NULL : &mc->c[c];
}

/* Closes the fiber before that of parent `to`. */
static stc_status pass_on(machine *mc, ivl_target *t, int64_t to)
{
    if (t->parent == to) return STC_OK;
    slot *r = &mc->slot[t->x->a];
    level *lv = &r->t->level[r->t->fmt.levels - 1];
    const int64_t last = t->parent;
    t->parent = to;
    if (last == NONE || r->lev[r->t->fmt.levels - 1].insert) return STC_OK;
    return lv->kind->append_edges(mc->cx, lv, last);
}

static stc_status close_place(machine *mc, const interval *iv, ivl_target *t, int k)
{
    const ivl_loop *v = &iv->loop[t->at[k].loop];
    const place *p = &v->g.s.place[t->at[k].place];
    const int at = t->at[k].lane;
    t->at[k].lane = -1;
    if (!p->kept || at < 0) return STC_OK;
    return asm_keep_run(mc, &mc->slot[t->x->a], p->level, &mc->c[p->cursor], v->len[at],
                        p->keep);
}

/* Opens the places above the last one for lane `row` of the loop outside. */
static stc_status open_places(machine *mc, interval *iv, ivl_target *t, int row)
{
    int of[IVL_LOOPS]; /* by loop: the lane that it belongs to */
    if (t->loop) of[t->loop - 1] = row;
    for (int j = t->loop - 1; j > 0; j--)
        of[j - 1] = iv->loop[j].row[of[j]];
    int first = 0;
    while (first + 1 < t->n && t->at[first].lane == of[t->at[first].loop])
        first++;
    for (int k = t->n - 2; k >= first; k--)
        if (close_place(mc, iv, t, k)) return mc->cx->diag.status;
    for (int k = first; k + 1 < t->n; k++) {
        const ivl_loop *v = &iv->loop[t->at[k].loop];
        const place *p = &v->g.s.place[t->at[k].place];
        const int at = of[t->at[k].loop];
        if (asm_at(mc, &mc->slot[t->x->a], p->level, &mc->c[p->cursor],
                   up_cursor(mc, &v->g.s, p), v->g.icol[0].data[at], p->at))
            return mc->cx->diag.status;
        t->at[k].lane = at;
    }
    return STC_OK;
}

stc_status interval_close(machine *mc, interval *iv, int from)
{
    ivl_target *t = &iv->target;
    for (int k = t->n - 2; !t->direct && k >= 0; k--)
        if (t->at[k].loop >= from && close_place(mc, iv, t, k)) return mc->cx->diag.status;
    return STC_OK;
}

stc_status interval_finish(machine *mc, ivl_target *t)
{
    return t->direct ? pass_on(mc, t, NONE) : STC_OK;
}

/* ---- values into a result -------------------------------------------------------- */

/* Lanes [from, to), which are of one fiber of the result's last level. */
typedef struct piece {
    ivl_loop *v;
    const sink *x;
    const place *p;
    slot *r;
    level *lv;
    mcursor *up;
    int64_t parent;
    bool direct;
    int from, to;
} piece;

/* Element by element, as base operations do. */
static stc_status put_slowly(machine *mc, const piece *w, int from, int to)
{
    mcursor over = {.c = {.at = w->parent, .at_end = w->parent + 1}, .kept = true};
    mcursor *c = &mc->c[w->p->cursor];
    const vclass cls = (vclass)w->v->g.s.node[w->x->node].cls;
    const void *in = strip_spread(&w->v->g, w->x->node);
    for (int k = from; k < to; k++) {
        const int64_t lo = w->v->g.icol[0].data[k], hi = lo + w->v->len[k];
        const int64_t begun =
            w->v->window == UNLINKED ? 0 : window_begin(mc, w->v, w->v->row[k]);
        for (int64_t i = lo; i < hi; i++) {
            /* A lane counts as one round, however many elements it has. */
            if (i > lo && machine_count(mc, 1)) return mc->cx->diag.status;
            int64_t pos;
            value e = class_get(cls, in, k);
            mc->i[w->v->g.s.l->index] = w->v->g.s.l->i = i - begun;
            if (asm_at(mc, w->r, w->p->level, c, w->direct ? &over : w->up, i, w->p->at) ||
                asm_place(mc, w->r, c, w->x->at, &pos) || asm_value(mc, w->r, pos))
                return mc->cx->diag.status;
            if (w->x->kind == SINK_ACC) {
                const value old = type_load(w->r->t->type, w->r->t->vals, pos);
                fn_scalar_of(w->x->fn, (vclass)w->x->cls)(&e, &old, &e, NULL);
            }
            type_store(w->r->t->type, w->r->t->vals, pos, e);
        }
    }
    return STC_OK;
}

/* n times the element at `one`. */
static void fill_run(char *to, int64_t n, const char *one, size_t size)
{
    if (size == 1) {
        memset(to, *one, (size_t)n);
    } else if (size == 4) {
        uint32_t x;
        memcpy(&x, one, 4);
        for (int64_t k = 0; k < n; k++)
            memcpy(to + 4 * k, &x, 4);
    } else if (size == 8) {
        uint64_t x;
        memcpy(&x, one, 8);
        for (int64_t k = 0; k < n; k++)
            memcpy(to + 8 * k, &x, 8);
    } else {
        for (int64_t k = 0; k < n; k++)
            memcpy(to + size * (size_t)k, one, size);
    }
}

/* A lane may have any number of elements: n more of them. */
static stc_status worked(machine *mc, ivl_loop *v, int64_t n)
{
    if ((v->unseen += n) < WORK_BLOCK) return STC_OK;
    v->unseen = 0;
    return work_done(mc->cx, WORK_BLOCK);
}

void interval_add(ivl_loop *v, const sink *x, tensor *t, int64_t pos, const char *in, int n)
{
    const vclass cls = (vclass)x->cls;
    const fn_array fn = fn_array_of(x->fn, cls);
    if (class_type(cls) == t->type) {
        char *to = (char *)t->vals + pos * (int64_t)class_size(cls);
        fn(to, to, in, NULL, n);
        return;
    }
    const column at = {.form = COL_STEP, .full = true, .base = pos};
    void *old = v->g.scratch;
    strip_load(t->type, old, t->vals, &at, n, t->fill);
    fn(old, old, in, NULL, n);
    strip_store(t->type, t->vals, pos, old, cls, n);
}

/* Single elements that follow each other go together, as they stand; runs are written out,
 * some elements of those that follow each other at a time. */
stc_status interval_add_runs(machine *mc, ivl_loop *v, const sink *x, int64_t base,
                             const int64_t *lo, const int64_t *len, const char *in, int n)
{
    enum { PART = STRIP / 2 };
    const vclass cls = (vclass)x->cls;
    const size_t size = class_size(cls);
    tensor *t = mc->slot[x->a].t;
    char *same = v->g.scratch + PART * sizeof(value);
    int64_t done = 0;
    for (int k = 0; k < n;) {
        const int64_t first = lo[k] + done;
        const int from = k;
        int m = 0;
        while (k < n && m < PART && len[k] == 1 && lo[k] == first + m && !done)
            k++, m++;
        if (m) {
            interval_add(v, x, t, base + first, in + (size_t)from * size, m);
            continue;
        }
        while (k < n && m < PART && lo[k] + done == first + m) {
            const int64_t left = len[k] - done, part = left < PART - m ? left : PART - m;
            class_fill(cls, same, m, m + part, class_get(cls, in, k));
            m += (int)part;
            done = part < left ? done + part : 0;
            k += part == left;
        }
        interval_add(v, x, t, base + first, same, m);
        if (worked(mc, v, m)) return mc->cx->diag.status;
    }
    return STC_OK;
}

/* A level whose fibers are ranges: every lane fills its part. */
static stc_status put_range(machine *mc, const piece *w)
{
    ivl_loop *v = w->v;
    tensor *t = w->r->t;
    fiber_table f;
    w->lv->kind->table(w->lv, &f);
    const int64_t *i = v->g.icol[0].data;
    const int last = w->to - 1;
    if (i[w->from] < f.lo || i[last] + v->len[last] > f.hi)
        return put_slowly(mc, w, w->from, w->to);
    const int64_t base = w->parent * (f.hi - f.lo) - f.lo;
    const size_t size = type_size(t->type);
    const vclass cls = type_class(t->type);
    if (asm_value(mc, w->r, base + i[last] + v->len[last] - 1)) return mc->cx->diag.status;
    w->r->stores += (uint64_t)(w->to - w->from);
    const char *in = strip_spread(&v->g, w->x->node);
    const int n = w->to - w->from;
    if (w->x->kind == SINK_ACC && v->folds)
        return folds_add(mc, v, w->x, base, w->from, w->to);
    if (w->x->kind == SINK_ACC) {
        in += (size_t)w->from * class_size((vclass)w->x->cls);
        return interval_add_runs(mc, v, w->x, base, i + w->from, v->len + w->from, in, n);
    }
    in += (size_t)w->from * class_size(cls);
    if (i[last] - i[w->from] == n - 1 && v->len[last] == 1) {
        strip_store(t->type, t->vals, base + i[w->from], in, cls, n);
        return STC_OK;
    }
    strip_store(t->type, v->g.scratch, 0, in, cls, n);
    for (int k = 0; k < n; k++) {
        char *to = (char *)t->vals + (base + i[w->from + k]) * (int64_t)size;
        const int64_t len = v->len[w->from + k];
        for (int64_t at = 0, part; at < len; at += part) {
            part = len - at < WORK_BLOCK ? len - at : WORK_BLOCK;
            fill_run(to + at * (int64_t)size, part, v->g.scratch + (size_t)k * size, size);
            if (worked(mc, v, part)) return mc->cx->diag.status;
        }
    }
    return STC_OK;
}

/* Equal neighbours of a spelt out interval become one lane; their values stay in
 * scratch. */
static int join_lanes(const piece *w, int64_t *lo, int64_t *len, size_t size)
{
    const int64_t *i = w->v->g.icol[0].data + w->from;
    char *val = w->v->g.scratch;
    int n = 0;
    for (int k = 0; k < w->to - w->from; k++) {
        const char *e = val + (size_t)k * size, *last = val + (size_t)(n - 1) * size;
        const bool same = n && lo[n - 1] + len[n - 1] == i[k] &&
                          (size == 1   ? *last == *e
                           : size == 4 ? !memcmp(last, e, 4)
                           : size == 8 ? !memcmp(last, e, 8)
                                       : !memcmp(last, e, size));
        if (same) {
            len[n - 1] += len[k];
            continue;
        }
        memmove(val + (size_t)n * size, e, size);
        lo[n] = i[k];
        len[n++] = len[k];
    }
    return n;
}

/* Values of regions, at pos[0 … n), from scratch, which has the element type. */
static void put_values(tensor *t, const int64_t *pos, const char *val, int n, size_t size)
{
    char *to = t->vals;
    if (pos[n - 1] - pos[0] == n - 1) {
        memcpy(to + pos[0] * (int64_t)size, val, (size_t)n * size);
        return;
    }
    for (int k = 0; k < n; k++)
        memcpy(to + pos[k] * (int64_t)size, val + (size_t)k * size, size);
}

/* A level that takes regions: lanes are runs. */
static stc_status put_regions(machine *mc, const piece *w)
{
    ivl_loop *v = w->v;
    tensor *t = w->r->t;
    const vclass cls = type_class(t->type);
    const size_t size = type_size(t->type);
    const char *in = strip_spread(&v->g, w->x->node);
    int64_t *lo = v->g.icol[0].data + w->from, *len = v->len + w->from, *pos = v->of->pos;
    int n = w->to - w->from;
    strip_store(t->type, v->g.scratch, 0, in + (size_t)w->from * class_size(cls), cls, n);
    if (!v->repeats && v->spelt) n = join_lanes(w, lo, len, size);
    if (w->lv->kind->append_regions(mc->cx, w->lv, w->parent, n, lo, len, pos) ||
        asm_value(mc, w->r, pos[n - 1]))
        return mc->cx->diag.status;
    put_values(t, pos, v->g.scratch, n, size);
    w->r->stores += (uint64_t)n;
    for (; v->settled < v->nstretch && v->stretch[v->settled].lane < w->to; v->settled++)
        v->stretch[v->settled].out = pos[v->stretch[v->settled].lane - w->from];
    return STC_OK;
}

/* … and where what was made comes again, a repeat. */
static stc_status put_repeat(machine *mc, const piece *w, const ivl_repeat *x)
{
    const int64_t start = x->stretch == NONE ? w->lv->size - x->size
                                             : w->v->stretch[x->stretch].out + x->skip;
    w->r->stores++;
    return w->lv->kind->append_repeat(mc->cx, w->lv, w->parent, x->lo, x->hi, start,
                                      x->size);
}

/* A level that takes coordinates: all of a row at once. */
static stc_status put_coords(machine *mc, const piece *w)
{
    ivl_loop *v = w->v;
    level *lv = w->lv;
    asm_level *a = &w->r->lev[w->p->level];
    const int64_t parent = w->parent;
    const int n = w->to - w->from, last = w->to - 1;
    const int64_t *i = v->g.icol[0].data;
    append_room room;
    bool bulk = lv->kind->append_room && w->x->kind == SINK_STORE && parent > a->parent &&
                (lv->props & (PROP_UNIQUE | PROP_BRANCHLESS)) == PROP_UNIQUE &&
                i[w->from] >= lv->base && i[last] - lv->base < lv->extent;
    for (int k = w->from; bulk && k < w->to; k++)
        bulk = v->len[k] == 1 && (k == w->from || i[k] > i[k - 1]);
    if (!bulk) return put_slowly(mc, w, w->from, w->to);
    if (lv->kind->append_room(mc->cx, lv, n, 0, &room)) return mc->cx->diag.status;
    if (room.width == 4 && i[last] > INT32_MAX) return put_slowly(mc, w, w->from, w->to);
    strip_put_coords(&room, &v->g.icol[0], w->from, n);
    lv->kind->append_done(lv, n, 0);
    a->parent = parent;
    w->r->stores += (uint64_t)n;
    if (asm_value(mc, w->r, room.pos + n - 1)) return mc->cx->diag.status;
    const vclass cls = type_class(w->r->t->type);
    const char *in = strip_spread(&v->g, w->x->node);
    strip_store(w->r->t->type, w->r->t->vals, room.pos,
                in + (size_t)w->from * class_size(cls), cls, n);
    return STC_OK;
}

/* ---- fiber by fiber --------------------------------------------------------------- */

/* The fiber that `row` leads to. */
static stc_status enter_row(machine *mc, ivl_target *t, piece *w, int row)
{
    if (t->direct) {
        w->parent = interval_parent(w->v->of, t, row);
        return pass_on(mc, t, w->parent);
    }
    if (open_places(mc, w->v->of, t, row)) return mc->cx->diag.status;
    w->parent = w->up ? w->up->c.at : 0;
    return STC_OK;
}

/* Lanes fiber by fiber, and repeats between them. */
static stc_status put_result(machine *mc, ivl_loop *v, ivl_target *t)
{
    bool done;
    if (interval_put_bulk(mc, v, t, &done) || done) return mc->cx->diag.status;
    piece w = {.v = v, .x = t->x, .r = &mc->slot[t->x->a], .direct = t->direct};
    w.p = &v->g.s.place[t->x->b];
    w.lv = &w.r->t->level[w.p->level];
    w.up = up_cursor(mc, &v->g.s, w.p);
    const bool insert = w.r->lev[w.p->level].insert;
    const bool regions = w.lv->kind->append_regions && t->x->kind == SINK_STORE;
    int rep = 0;
    for (w.from = 0; w.from < v->g.n || rep < v->nrep; w.from = w.to) {
        const ivl_repeat *x = rep < v->nrep ? &v->rep[rep] : NULL;
        if (x && x->after <= w.from) {
            w.to = w.from;
            if (enter_row(mc, t, &w, x->row) || put_repeat(mc, &w, x))
                return mc->cx->diag.status;
            rep++;
            continue;
        }
        const int most = x ? x->after : v->g.n;
        w.to = v->depth ? w.from + 1 : most;
        while (w.to < most && v->row[w.to] == v->row[w.from])
            w.to++;
        if (enter_row(mc, t, &w, v->row[w.from])) return mc->cx->diag.status;
        if (insert ? put_range(mc, &w) : regions ? put_regions(mc, &w) : put_coords(mc, &w))
            return mc->cx->diag.status;
    }
    return STC_OK;
}

/* ---- the strip ------------------------------------------------------------------- */

/* Rows of elements into a workspace. */
static stc_status add_rows(machine *mc, ivl_loop *v, const sink *x, const char *in)
{
    const size_t size = class_size((vclass)x->cls);
    for (int f = 0; f < v->nfiber; f++) {
        const int from = v->start[f];
        if (ws_add_elements(mc, &mc->slot[x->a], v->at[from], v->start[f + 1] - from,
                            in + (size_t)from * size, x->fn, x->at))
            return mc->cx->diag.status;
    }
    return STC_OK;
}

stc_status interval_sink(machine *mc, ivl_loop *v, const sink *x)
{
    if (x->kind == SINK_REDUCE) {
        if (v->depth) {
            strip *o = &v->of->loop[v->depth - 1].g;
            reduce(v, x, o->node[v->link.result].data);
        } else {
            reduce(v, x, &mc->v[x->a]);
        }
        return STC_OK;
    }
    const void *in = strip_spread(&v->g, x->node);
    if (x->kind == SINK_WSADD && v->spelt_out) return add_rows(mc, v, x, in);
    if (x->kind == SINK_WSADD)
        return ws_add_runs(mc, &mc->slot[x->a], v->g.n, v->g.icol[0].data, v->len, in,
                           x->fn, x->at);
    return put_result(mc, v, &v->of->target);
}
