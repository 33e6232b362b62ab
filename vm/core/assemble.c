/* assemble.c: results: begin, at, keep, store, finish, and whole-tensor ops.
 *
 * Takes a slot and coordinates in the order in which the program makes them,
 * and gives a well-formed tensor, or a fault. `at` promises a place: on levels
 * where every coordinate has one it is final; on levels that append it is the
 * position that the next coordinate will get, and is taken up only when
 * something is stored below it (`keep`, or the store itself on the last
 * level). So a row that stays empty leaves no trace, whatever was planned.
 * What a program asks for out of order is refused here or by the level.
 */
#include "machine.h"
#include <string.h>

/* The slot's shape in this run; whether that is what its own tensor has. */
static stc_status shape_of(machine *mc, const slot *s, int64_t *shape, bool *same)
{
    const tensor *t = s->own;
    *same = t != NULL;
    for (int m = 0; m < s->row->order; m++) {
        shape[m] = mc->ext[s->row->shape[m]];
        if (shape[m] < 0)
            return fail(mc->cx, STC_ERR_SHAPE, "mode %d of result %s has extent %lld", m,
                        s->row->name, (long long)shape[m]);
        *same = *same && t->shape[m] == shape[m];
    }
    return STC_OK;
}

stc_status asm_own(machine *mc, slot *s)
{
    int64_t shape[STC_MAX_ORDER];
    bool same;
    if (shape_of(mc, s, shape, &same)) return mc->cx->diag.status;
    if (!s->own) {
        /* bounds of rows, and elements, are written as they come; room for values, which
         * hosts count on after the first run, is there at once */
        const format *f = &s->row->fmt;
        int64_t n;
        if (tensor_new_unmade(mc->cx, f, s->row->type, shape, s->fill, &s->own) ||
            (format_is_dense(f) && size_product(shape, f->order, &n) &&
             tensor_reserve_values(s->own, n)))
            return mc->cx->diag.status;
    } else if (!same && tensor_set_shape(s->own, shape)) {
        tensor_free(s->own); /* shape and levels may not agree any more */
        s->own = s->t = NULL;
        return mc->cx->diag.status;
    }
    s->own->fill = s->fill;
    s->t = s->own;
    return STC_OK;
}

stc_status asm_empty(machine *mc, slot *s)
{
    tensor_free(s->own);
    s->own = NULL;
    s->open = false;
    return asm_own(mc, s) ? mc->cx->diag.status : tensor_check(s->own);
}

enum { AGAIN = 1 << 20 }; /* bytes: blocks that the allocator keeps (memory.c) */

/* What takes less than this is quickly there again. */
static int64_t many(int64_t n, size_t size)
{
    return (size_t)n >= AGAIN / size ? n : 0;
}

/* What was asked for, and turned out to be too much, goes back. */
static void trim_values(tensor *t)
{
    const size_t size = type_size(t->type);
    if (!t->vals_owned || !many(t->vals_cap, size) || t->vals_cap / 2 < t->nvals + 1)
        return;
    void *less = mem_resize(t->cx, t->vals, (size_t)t->vals_cap * size,
                            (size_t)(t->nvals + 1) * size);
    if (!less) {
        diag_clear(t->cx);
        return;
    }
    t->vals = less;
    t->vals_cap = t->nvals + 1;
}

void asm_taken(slot *s, tensor *t)
{
    s->taken = true;
    s->again = many(t->nvals, type_size(t->type));
    for (int l = 0; l < s->row->fmt.levels; l++) {
        index_array *crd = &t->level[l].a[STC_CRD];
        s->lev[l].again = crd->owned ? many(crd->len, (size_t)crd->stride) : 0;
        index_trim(t->cx, crd);
    }
    trim_values(t);
}

/* The next result is mostly as large as the last one, which was taken away. Its blocks are
 * asked for at once: those fit that were freed, and their pages are there. */
static void reserve_again(machine *mc, slot *s)
{
    tensor *t = s->own;
    bool ok = !s->again || t->vals_cap || !tensor_reserve_values(t, s->again);
    for (int l = 0; ok && l < s->row->fmt.levels; l++) {
        index_array *crd = &t->level[l].a[STC_CRD];
        const int64_t n = s->lev[l].again;
        if (n && crd->owned && !crd->cap) ok = !index_reserve(mc->cx, crd, n);
    }
    if (!ok) diag_clear(mc->cx); /* it grows as it goes */
}

stc_status asm_begin(machine *mc, slot *s)
{
    if (asm_own(mc, s)) return mc->cx->diag.status;
    s->open = true;
    s->from = NULL;
    if (s->lent_room && s->own->vals != s->lent)
        tensor_give_room(s->own, s->lent, s->nlent);
    if (tensor_begin(s->own)) return mc->cx->diag.status;
    if (s->taken && mem_keeps(mc->cx)) reserve_again(mc, s);
    s->stores = s->again = 0;
    s->taken = s->joined = false;
    for (int l = 0; l < s->row->fmt.levels; l++) {
        const level *lv = &s->own->level[l];
        s->lev[l] = (asm_level){.insert = lv->kind->caps & CAP_INSERT, .parent = NONE};
    }
    return STC_OK;
}

/* ---- places -------------------------------------------------------------------- */

stc_status asm_at(machine *mc, slot *s, int l, mcursor *c, const mcursor *up, int64_t coord,
                  const lop *at)
{
    level *lv = &s->t->level[l];
    const asm_level *a = &s->lev[l];
    int64_t parent = up ? up->c.at : 0;
    c->c.lv = lv;
    c->c.up = up ? &up->c : NULL;
    c->c.coord = coord;
    c->stores = s->stores;
    c->kept = a->insert;
    if (a->insert) {
        if (lv->kind->append_coord(mc->cx, lv, parent, coord, &c->c.at))
            return mc->cx->diag.status;
    } else {
        if (coord < lv->base || coord - lv->base >= lv->extent)
            return machine_fail(mc, at, STC_ERR_SHAPE,
                                "coordinate %lld of result %s is outside %lld:%lld",
                                (long long)coord, s->row->name, (long long)lv->base,
                                (long long)(lv->base + lv->extent));
        c->c.at =
            lv->kind->append_next ? lv->kind->append_next(lv, parent, coord) : lv->size;
    }
    c->c.at_end = c->c.at + 1;
    return STC_OK;
}

static stc_status out_of_order(machine *mc, const slot *s, const mcursor *c, const lop *at)
{
    return machine_fail(mc, at, STC_ERR_CORRUPT,
                        "coordinate %lld of result %s is appended out of order",
                        (long long)c->c.coord, s->row->name);
}

/* Appends the coordinate that `at` placed, or `len` from there on as one. */
static stc_status commit(machine *mc, slot *s, int l, mcursor *c, int64_t len,
                         const lop *at)
{
    level *lv = &s->t->level[l];
    asm_level *a = &s->lev[l];
    int64_t parent = c->c.up ? c->c.up->at : 0, pos;
    if (parent < a->parent) return out_of_order(mc, s, c, at);
    if (len == 1 ? lv->kind->append_coord(mc->cx, lv, parent, c->c.coord, &pos)
                 : lv->kind->append_regions(mc->cx, lv, parent, 1, &c->c.coord, &len, &pos))
        return mc->cx->diag.status;
    /* What is below was stored for the promised place. */
    if (l + 1 < s->t->fmt.levels && pos != c->c.at) return out_of_order(mc, s, c, at);
    a->parent = parent;
    c->c.at = pos;
    c->c.at_end = pos + 1;
    c->kept = true;
    return STC_OK;
}

stc_status asm_keep_run(machine *mc, slot *s, int l, mcursor *c, int64_t len, const lop *at)
{
    if (l + 1 == s->t->fmt.levels) {
        if (c->kept) return STC_OK;
        s->stores++;
        return commit(mc, s, l, c, len, at);
    }
    if (s->stores == c->stores) return STC_OK;
    if (!c->kept && commit(mc, s, l, c, len, at)) return mc->cx->diag.status;
    level *child = &s->t->level[l + 1];
    if (s->lev[l + 1].insert) return STC_OK;
    return child->kind->append_edges(mc->cx, child, c->c.at);
}

stc_status asm_keep(machine *mc, slot *s, int l, mcursor *c, const lop *at)
{
    return asm_keep_run(mc, s, l, c, 1, at);
}

stc_status asm_place(machine *mc, slot *s, mcursor *c, const lop *at, int64_t *pos)
{
    s->stores++;
    if (!c) {
        *pos = 0;
        return STC_OK;
    }
    if (!c->kept && commit(mc, s, s->t->fmt.levels - 1, c, 1, at))
        return mc->cx->diag.status;
    *pos = c->c.at;
    return STC_OK;
}

stc_status asm_value(machine *mc, slot *s, int64_t pos)
{
    (void)mc;
    return pos < s->t->nvals ? STC_OK : tensor_extend_values(s->t, pos + 1);
}

/* Builds that look for faults check what our own programs make, too. */
#ifdef STC_SAN
enum { CHECKS_ALL = true };
#else
enum { CHECKS_ALL = false };
#endif

/* The verifier has proved that each append finds the fibers before it complete. Programs
 * that our compiler didn't make may still bring a tier into a state that no test has seen:
 * nothing reads their results unchecked. */
stc_status asm_finish(machine *mc, slot *s)
{
    if (tensor_finish(s->t)) return mc->cx->diag.status;
    if (s->joined && s->stores == 1) s->t->summed = s->t->generation;
    if ((CHECKS_ALL || mc->p->foreign) && tensor_check_afresh(s->t)) {
        const stc_status status = mc->cx->diag.status;
        if (status != STC_ERR_DATA) return status; /* the check had no memory, or no time */
        char why[sizeof mc->cx->diag.message];
        memcpy(why, mc->cx->diag.message, sizeof why);
        return fail(mc->cx, STC_ERR_CORRUPT, "result %s is malformed: %s", s->row->name,
                    why);
    }
    s->open = false;
    return STC_OK;
}

/* ---- whole tensors ------------------------------------------------------------- */

/* What is converted again of what hasn't changed is asked for in every run: it stays where
 * it is, then, and is copied. The first time it isn't, since there may be no other. */
stc_status asm_move(machine *mc, slot *to, slot *from)
{
    tensor *made = from->own;
    int mode[STC_MAX_ORDER];
    if (asm_own(mc, to) || (from->asked && tensor_copy(made, &made)))
        return mc->cx->diag.status;
    tensor_swap(to->own, made); /* what `to` had serves next time, if it can */
    if (to->own->generation <= made->generation) /* which none that it had was */
        to->own->generation = made->generation + 1;
    const bool same = format_equal(&to->row->fmt, &from->row->fmt);
    const bool serves = same && !from->row->keep_while;
    if (!same && format_renumbers(&from->row->fmt, &to->row->fmt, mode))
        tensor_renumber(to->own, &to->row->fmt, mode);
    if (!serves) tensor_free(made);
    if (!serves && !from->asked) from->own = NULL;
    if (serves) from->from = NULL;
    from->open = to->open;
    from->t = NULL; /* until it is assembled again */
    to->open = false;
    to->from = NULL;
    return STC_OK;
}

static bool is_ordered(const tensor *t)
{
    unsigned props = PROP_ORDERED | PROP_UNIQUE;
    for (int l = 0; l < t->fmt.levels; l++)
        props &= t->level[l].props;
    return props == (PROP_ORDERED | PROP_UNIQUE);
}

/* What to convert for t: the same in order, if that has been made already. */
static const tensor *in_order(const machine *mc, const tensor *t)
{
    const tensor *found = t;
    for (int k = 0; k < mc->p->ntensor && !is_ordered(found); k++) {
        const slot *s = &mc->slot[k];
        if (s->row->keep_while && s->own && s->t == s->own && s->from == t &&
            s->from_generation == t->generation && s->own->type == t->type &&
            class_equal(type_class(t->type), s->own->fill, t->fill) && is_ordered(s->own))
            found = s->own;
    }
    return found;
}

stc_status asm_convert(machine *mc, slot *to, slot *from)
{
    const tensor *t = from->t;
    to->asked =
        to->row->keep_while && to->from == t && to->from_generation == t->generation;
    if (to->asked && to->own) {
        to->t = to->own;
        return STC_OK;
    }
    tensor *made;
    value fill = to->row->fill_later ? to->fill : to->row->fill;
    tensor_free(to->own); /* first, so that its memory serves again */
    to->own = to->t = NULL;
    if (tensor_convert(in_order(mc, t), &to->row->fmt, to->row->type, fill, &made))
        return mc->cx->diag.status;
    to->own = to->t = made;
    to->open = false;
    to->from = t;
    to->from_generation = t->generation;
    return STC_OK;
}

stc_status asm_pack(machine *mc, slot *to, slot *from)
{
    entries e;
    entries_init(&e, mc->cx, to->row->order, to->row->type);
    stc_status status = tensor_entries(from->t, &e);
    if (!status) status = asm_own(mc, to);
    if (!status) {
        to->open = true;
        to->from = NULL;
        status = tensor_pack(to->own, &e);
        to->open = status;
    }
    entries_free(&e);
    return status;
}
