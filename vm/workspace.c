/* workspace.c: results that come in any order: insert, sort, merge.
 *
 * ws.add takes coordinates in any order, ws.end gives an ordinary tensor with
 * each of them once, sorted, duplicates merged by the function in the order in
 * which they came. (Workspaces paper: insert-sort-merge over an accumulation
 * array and an all array.) Two policies behind one interface, equal in their
 * results to the last bit:
 *
 *   dense  one index of moderate extent: an accumulator over all coordinates,
 *          a bitmap, and the list of those that were touched
 *   coord  anything else: the entries as they come; what has the coordinates
 *          of the entry before it is merged at once
 *
 * Nothing is cleared or sorted beyond what was touched, so that a workspace
 * within a loop costs what is put in.
 */
#include "machine.h"
#include <string.h>

/* Beyond this many coordinates an accumulator isn't worth its memory. */
#define DENSE_MAX ((int64_t)1 << 22)

static size_t acc_size(const workspace *w)
{
    return type_size(class_type(w->cls));
}

/* Words of a bitmap over so many coordinates. */
static int64_t words(int64_t size)
{
    return size / 64 + 1;
}

static void free_dense(ctx *cx, workspace *w)
{
    mem_free(cx, w->set, (size_t)words(w->extent) * sizeof *w->set);
    mem_free(cx, w->acc, (size_t)w->extent * acc_size(w));
    w->set = NULL;
    w->acc = NULL;
    w->extent = 0;
}

void ws_free(machine *mc, slot *s)
{
    workspace *w = s->ws;
    if (!w) return;
    if (w->set) free_dense(mc->cx, w);
    mem_free(mc->cx, w->touched, (size_t)w->cap * sizeof *w->touched);
    mem_free(mc->cx, w->order, (size_t)w->order_cap * sizeof *w->order);
    mem_free(mc->cx, w->pos, (size_t)w->pos_cap * sizeof *w->pos);
    entries_free(&w->e);
    mem_free(mc->cx, w, sizeof *w);
    s->ws = NULL;
}

/* ---- begin --------------------------------------------------------------------- */

/* Room for an accumulator over `size` coordinates; false if there is none. */
static bool ready_dense(ctx *cx, workspace *w, int64_t size)
{
    if (size == 0) size = 1;
    if (w->set && w->extent >= size) return true;
    if (w->set) free_dense(cx, w);
    uint64_t *set = mem_zero(cx, words(size), sizeof *set);
    void *acc = set ? mem_array(cx, size, acc_size(w)) : NULL;
    if (!acc) {
        mem_free(cx, set, (size_t)words(size) * sizeof *set);
        return false;
    }
    w->set = set;
    w->acc = acc;
    w->extent = size;
    return true;
}

/* Forgets what is left of a run that failed in the middle. */
static void clear(workspace *w)
{
    for (int64_t k = 0; k < w->n; k++)
        w->set[w->touched[k] >> 6] = 0;
    w->n = 0;
    w->e.n = 0;
}

static uint8_t choose(const slot *s)
{
    const prog_tensor *row = s->row;
    if (row->order != 1 || row->policy == WS_COORD) return WS_COORD;
    bool fits = s->own->shape[0] <= DENSE_MAX || row->policy == WS_DENSE;
    return fits ? WS_DENSE : WS_COORD;
}

stc_status ws_begin(machine *mc, slot *s)
{
    if (asm_own(mc, s)) return mc->cx->diag.status;
    workspace *w = s->ws;
    if (!w) {
        w = s->ws = mem_zero(mc->cx, 1, sizeof *w);
        if (!w) return mc->cx->diag.status;
        w->cls = (uint8_t)type_class(s->row->type);
        w->fn = FN_ADD;
        entries_init(&w->e, mc->cx, s->row->order, class_type(w->cls));
    }
    clear(w);
    w->policy = choose(s);
    if (w->policy == WS_DENSE && !ready_dense(mc->cx, w, s->own->shape[0])) {
        diag_clear(mc->cx); /* there is another way */
        w->policy = WS_COORD;
    }
    return STC_OK;
}

/* ---- add ----------------------------------------------------------------------- */

static stc_status merge_into(machine *mc, workspace *w, void *array, int64_t i,
                             const value *v, const lop *at)
{
    stc_type t = class_type(w->cls);
    value x = type_load(t, array, i);
    fn_fault fault = fn_scalar_of(w->fn, w->cls)(&x, &x, v, NULL);
    if (fault) return machine_fault(mc, at, fault);
    type_store(t, array, i, x);
    return STC_OK;
}

static stc_status add_dense(machine *mc, workspace *w, int64_t i, const value *v,
                            const lop *at)
{
    uint64_t bit = (uint64_t)1 << (i & 63);
    if (w->set[i >> 6] & bit) return merge_into(mc, w, w->acc, i, v, at);
    if (w->n == w->cap &&
        mem_grow(mc->cx, &w->touched, &w->cap, w->n + 1, sizeof *w->touched))
        return mc->cx->diag.status;
    w->set[i >> 6] |= bit;
    w->touched[w->n++] = i;
    type_store(class_type(w->cls), w->acc, i, *v);
    return STC_OK;
}

static stc_status add_coord(machine *mc, workspace *w, const int64_t *coords,
                            const value *v, const lop *at)
{
    entries *e = &w->e;
    if (e->n) {
        int m = 0;
        while (m < e->order && e->coord[m][e->n - 1] == coords[m])
            m++;
        if (m == e->order) return merge_into(mc, w, e->vals, e->n - 1, v, at);
    }
    return entries_push(e, coords, *v);
}

stc_status ws_add(machine *mc, slot *s, const int64_t *coords, int fn, vclass cls,
                  const value *v, const lop *at)
{
    workspace *w = s->ws;
    (void)cls;
    w->fn = fn;
    for (int m = 0; m < s->row->order; m++)
        if (coords[m] < 0 || coords[m] >= s->own->shape[m])
            return machine_fail(mc, at, STC_ERR_SHAPE,
                                "coordinate %lld is outside 0:%lld, mode %d of a workspace",
                                (long long)coords[m], (long long)s->own->shape[m], m);
    if (w->policy == WS_DENSE) return add_dense(mc, w, coords[0], v, at);
    return add_coord(mc, w, coords, v, at);
}

/* ---- end ----------------------------------------------------------------------- */

/* Byte by byte from the lowest; keys are below `limit`. */
static void sort_radix(int64_t *key, int64_t *other, int64_t n, int64_t limit)
{
    int64_t *from = key, *to = other;
    for (int shift = 0; shift < 63 && limit >> shift; shift += 8) {
        int64_t at[257] = {0};
        for (int64_t k = 0; k < n; k++)
            at[(from[k] >> shift & 255) + 1]++;
        for (int b = 0; b < 256; b++)
            at[b + 1] += at[b];
        for (int64_t k = 0; k < n; k++)
            to[at[from[k] >> shift & 255]++] = from[k];
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != key) memcpy(key, from, (size_t)n * sizeof *key);
}

static void sort_insert(int64_t *key, int64_t n)
{
    for (int64_t k = 1; k < n; k++) {
        int64_t x = key[k], j = k;
        for (; j > 0 && key[j - 1] > x; j--)
            key[j] = key[j - 1];
        key[j] = x;
    }
}

/* The set bits in order: for accumulators that are well filled. */
static void scan_bits(const workspace *w, int64_t size, int64_t *out)
{
    int64_t n = 0;
    for (int64_t word = 0; word < words(size); word++)
        for (uint64_t b = w->set[word]; b; b &= b - 1)
            out[n++] = word * 64 + __builtin_ctzll(b);
}

static stc_status sort_touched(ctx *cx, workspace *w, int64_t size)
{
    if (w->n <= 24) {
        sort_insert(w->touched, w->n);
    } else if (w->n >= words(size) / 8) {
        scan_bits(w, size, w->touched);
    } else {
        if (mem_grow(cx, &w->order, &w->order_cap, w->n, sizeof *w->order))
            return cx->diag.status;
        sort_radix(w->touched, w->order, w->n, size);
    }
    return STC_OK;
}

/* The tensor's levels from n sorted coordinates, and places for the values. */
static stc_status pack_levels(machine *mc, slot *s, int64_t n, int64_t *const *coord)
{
    workspace *w = s->ws;
    tensor *t = s->own;
    ctx *cx = mc->cx;
    if (w->pos_cap < n && mem_grow(cx, &w->pos, &w->pos_cap, n, sizeof *w->pos))
        return cx->diag.status;
    if (n) memset(w->pos, 0, (size_t)n * sizeof *w->pos);
    int64_t parents = 1;
    const int levels = t->fmt.levels;
    for (int l = 0; l < levels; l++) {
        level *lv = &t->level[l];
        const int64_t *below[STC_MAX_ORDER];
        for (int d = l + 1; d < levels; d++)
            below[d - l - 1] = coord[t->fmt.level[d].map.mode];
        pack_in in = {.count = n,
                      .coord = coord[t->fmt.level[l].map.mode],
                      .pos = w->pos,
                      .parents = parents,
                      .deeper = levels - l - 1,
                      .below = below,
                      .type = t->type,
                      .fill = t->fill};
        if (lv->kind->pack(cx, lv, &in)) return cx->diag.status;
        parents = lv->size;
    }
    t->nvals = 0;
    if (n == parents) { /* each place has its entry: nothing to be filled */
        if (tensor_reserve_values(t, n)) return cx->diag.status;
        t->nvals = n;
        return STC_OK;
    }
    return tensor_extend_values(t, parents);
}

/* Value index[k] (or k) of the class array to place pos[k]. */
static void put_values(const slot *s, const void *from, const int64_t *index, int64_t n)
{
    const workspace *w = s->ws;
    tensor *t = s->own;
    stc_type cls = class_type(w->cls);
    if (t->type == STC_F64) {
        double *to = t->vals;
        for (int64_t k = 0; k < n; k++)
            to[w->pos[k]] = ((const double *)from)[index ? index[k] : k];
        return;
    }
    for (int64_t k = 0; k < n; k++)
        type_store(t->type, t->vals, w->pos[k], type_load(cls, from, index ? index[k] : k));
}

static stc_status end_dense(machine *mc, slot *s)
{
    workspace *w = s->ws;
    int64_t n = w->n;
    if (sort_touched(mc->cx, w, s->own->shape[0]) || pack_levels(mc, s, n, &w->touched))
        return mc->cx->diag.status;
    put_values(s, w->acc, w->touched, n);
    clear(w);
    return STC_OK;
}

/* Folds neighbours with equal coordinates into the first of them. */
static stc_status merge_entries(machine *mc, workspace *w, const lop *at)
{
    entries *e = &w->e;
    int64_t n = 0;
    stc_type t = class_type(w->cls);
    for (int64_t k = 0; k < e->n; k++) {
        value v = type_load(t, e->vals, k);
        int m = 0;
        while (n && m < e->order && e->coord[m][n - 1] == e->coord[m][k])
            m++;
        if (n && m == e->order) {
            if (merge_into(mc, w, e->vals, n - 1, &v, at)) return mc->cx->diag.status;
            continue;
        }
        for (m = 0; m < e->order; m++)
            e->coord[m][n] = e->coord[m][k];
        type_store(t, e->vals, n++, v);
    }
    e->n = n;
    return STC_OK;
}

static stc_status end_coord(machine *mc, slot *s, const lop *at)
{
    workspace *w = s->ws;
    const format *f = &s->own->fmt;
    int modes[STC_MAX_ORDER];
    for (int l = 0; l < f->levels; l++)
        modes[l] = f->level[l].map.mode;
    if (entries_sort(&w->e, modes, f->levels, s->own->shape) || merge_entries(mc, w, at) ||
        pack_levels(mc, s, w->e.n, w->e.coord))
        return mc->cx->diag.status;
    put_values(s, w->e.vals, NULL, w->e.n);
    w->e.n = 0;
    return STC_OK;
}

stc_status ws_end(machine *mc, slot *s, const lop *at)
{
    stc_status status = s->ws->policy == WS_DENSE ? end_dense(mc, s) : end_coord(mc, s, at);
    if (status) return status;
    s->own->generation++;
    s->own->checked = s->own->generation;
    return STC_OK;
}
