/* update.c: the entries of a workspace go into a tensor that is there, in place.
 *
 * It costs what the workspace has, not what the tensor has, and happens as a whole or not
 * at all: what may fail, places and the function, is gone through first; then the values
 * are written. Both go a strip at a time. A tensor that is bound is changed only if who
 * bound it gave it for that; else it is copied first.
 */
#include "../nest/fibers.h"
#include "strip.h"

/* The position of entry k in t, whose levels have the entries' coordinates in order; NONE:
 * it has no place there. */
static int64_t place_of(const tensor *t, const entries *e, int64_t k)
{
    cursor c[STC_MAX_ORDER];
    const int last = t->fmt.levels - 1;
    for (int l = 0; l <= last; l++) {
        t->level[l].kind->locate(&c[l], &t->level[l], l ? &c[l - 1] : NULL, e->coord[l][k]);
        if (c[l].at == NONE) return NONE;
    }
    return c[last].at;
}

/* The positions of all entries. A level that has each coordinate of a range has them in
 * that order. */
static stc_status find_places(machine *mc, const tensor *t, const entries *e, int64_t *pos,
                              const lop *at)
{
    fiber_table f = {.shape = VIEW_NONE};
    if (t->fmt.levels == 1) level_fibers(&t->level[0], &f);
    for (int64_t k = 0; k < e->n; k++) {
        if (f.shape == VIEW_RANGE)
            pos[k] = e->coord[0][k] < f.hi ? e->coord[0][k] - f.lo : NONE;
        else
            pos[k] = place_of(t, e, k);
        if (pos[k] < 0 || pos[k] >= t->nvals)
            return machine_fail(mc, at, STC_ERR_SHAPE,
                                "an entry of the workspace lies outside the tensor");
    }
    return STC_OK;
}

/* The values of n entries from `from` on, in their class. */
static void entry_values(const entries *e, int64_t from, int n, void *out)
{
    const column at = {.form = COL_STEP, .base = from, .full = true};
    strip_load(e->type, out, e->vals, &at, n, (value){0});
}

/* The first of n values for which the function faults says how. */
static stc_status first_fault(machine *mc, int fn, vclass cls, const void *old,
                              const void *x, int n, const lop *at)
{
    const fn_scalar f = fn_scalar_of(fn, cls);
    fn_fault fault = FAULT_NONE;
    for (int k = 0; k < n && !fault; k++) {
        const value a = class_get(cls, old, k), b = class_get(cls, x, k);
        value out;
        fault = f(&out, &a, &b, NULL);
    }
    return machine_fault(mc, at, fault);
}

/* Puts what each value becomes in its entry, and changes nothing else. */
static stc_status work_out(machine *mc, const tensor *t, entries *e, const int64_t *pos,
                           int fn, const lop *at)
{
    const vclass cls = type_class(t->type);
    value old[STRIP], x[STRIP], out[STRIP];
    for (int64_t k = 0; k < e->n; k += STRIP) {
        const int n = e->n - k < STRIP ? (int)(e->n - k) : STRIP;
        const column to = {.form = COL_ARRAY, .data = (int64_t *)pos + k, .full = true};
        strip_load(t->type, old, t->vals, &to, n, t->fill);
        entry_values(e, k, n, x);
        if (fn_array_of(fn, cls)(out, old, x, NULL, n))
            return first_fault(mc, fn, cls, old, x, n, at);
        strip_store(e->type, e->vals, k, out, cls, n);
    }
    return STC_OK;
}

static void write_values(const tensor *t, const entries *e, const int64_t *pos)
{
    value x[STRIP];
    for (int64_t k = 0; k < e->n; k += STRIP) {
        const int n = e->n - k < STRIP ? (int)(e->n - k) : STRIP;
        entry_values(e, k, n, x);
        strip_scatter(t->type, t->vals, 0, pos + k, x, n);
    }
}

static stc_status own_copy(slot *s)
{
    tensor *copy;
    const stc_status status = tensor_copy(s->t, &copy);
    if (status) return status;
    tensor_free(s->own);
    s->own = s->t = copy;
    s->from = NULL;
    return STC_OK;
}

stc_status strip_update(machine *mc, slot *to, slot *from, int fn, const lop *at)
{
    entries e;
    int64_t *pos = NULL, n = 0;
    entries_init(&e, mc->cx, from->row->order, from->row->type);
    stc_status status = tensor_entries(from->t, &e);
    if (!status && to->t == to->bound && !to->given) status = own_copy(to);
    if (!status && (n = e.n) && !(pos = mem_array(mc->cx, n, sizeof *pos)))
        status = mc->cx->diag.status;
    if (!status) status = find_places(mc, to->t, &e, pos, at);
    if (!status) status = work_out(mc, to->t, &e, pos, fn, at);
    if (!status) status = work_done(mc->cx, (uint64_t)n);
    if (!status) write_values(to->t, &e, pos);
    mem_free(mc->cx, pos, (size_t)n * sizeof *pos);
    entries_free(&e);
    return status;
}
