/* update.c: the entries of a workspace go into a tensor that is there, in place.
 *
 * It costs what the workspace has, not what the tensor has, and happens as a whole or not
 * at all: what may fail, places and the function, is gone through first; then the values
 * are written. A tensor that is bound is changed only if who bound it gave it for that;
 * else it is copied first.
 */
#include "machine.h"

/* The position of entry k in t, whose levels have the entries' coordinates in order; NONE:
 * it has no place there. */
static int64_t place(const tensor *t, const entries *e, int64_t k)
{
    cursor c[STC_MAX_ORDER];
    const int last = t->fmt.levels - 1;
    for (int l = 0; l <= last; l++) {
        t->level[l].kind->locate(&c[l], &t->level[l], l ? &c[l - 1] : NULL, e->coord[l][k]);
        if (c[l].at == NONE) return NONE;
    }
    return c[last].at < t->nvals ? c[last].at : NONE;
}

/* Puts what each value becomes in its entry, and changes nothing else. */
static stc_status work_out(machine *mc, const tensor *t, entries *e, int fn, const lop *at)
{
    const fn_scalar f = fn_scalar_of(fn, type_class(t->type));
    for (int64_t k = 0; k < e->n; k++) {
        const int64_t pos = place(t, e, k);
        if (pos == NONE)
            return machine_fail(mc, at, STC_ERR_SHAPE,
                                "an entry of the workspace lies outside the tensor");
        const value old = type_load(t->type, t->vals, pos);
        value x = type_load(e->type, e->vals, k);
        const fn_fault fault = f(&x, &old, &x, NULL);
        if (fault) return machine_fault(mc, at, fault);
        type_store(e->type, e->vals, k, x);
    }
    return STC_OK;
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

stc_status asm_update(machine *mc, slot *to, slot *from, int fn, const lop *at)
{
    entries e;
    entries_init(&e, mc->cx, from->row->order, from->row->type);
    stc_status status = tensor_entries(from->t, &e);
    if (!status && to->t == to->bound && !to->given) status = own_copy(to);
    if (!status) status = work_out(mc, to->t, &e, fn, at);
    if (!status) status = work_done(mc->cx, (uint64_t)e.n);
    for (int64_t k = 0; k < e.n && !status; k++)
        type_store(to->t->type, to->t->vals, place(to->t, &e, k),
                   type_load(e.type, e.vals, k));
    entries_free(&e);
    return status;
}
