/* open.h: how instructions open cursors and move them. */
#ifndef STC_VM_OPEN_H
#define STC_VM_OPEN_H

#include "machine.h"

static inline void open_cursor(mcursor *c, const tensor *t, int l, const mcursor *up,
                               int64_t coef, int64_t shift)
{
    cursor_open(&c->c, &t->level[l], up ? &up->c : NULL);
    c->c.at = c->c.at_end = NONE;
    c->coef = coef;
    c->shift = shift;
    c->plain = coef == 1 && shift == 0;
}

static inline stc_status open_subsections(machine *mc, const lop *at)
{
    const uint16_t *a = at->arg;
    mcursor *c = &mc->c[a[0]];
    subsect *s = at->u.sub;
    const int64_t coef = mc->p->konst[a[5]].v.i64, shift = mc->i[a[4]];
    if (subsect_begin(mc->cx, s, &mc->slot[a[1]].t->level[a[2]], mc->ext[a[6]], coef < 0,
                      a[3] == ROOT ? NULL : &mc->c[a[3]].c, &c->c))
        return mc->cx->diag.status;
    c->coef = coef < 0 ? -coef : coef;
    c->shift = coef > 0 ? shift : shift == INT64_MIN ? INT64_MAX : -shift;
    c->plain = c->coef == 1 && c->shift == 0;
    /* an array's coordinates are there, and aren't listed */
    return machine_count(mc, s->n + (s->t.shape == VIEW_NONE ? s->nrun : 0));
}

/* Ahead to index i: coordinate coef * i + shift of the cursor's level. */
static inline void seek_index(mcursor *c, int64_t i)
{
    int64_t x;
    if (__builtin_mul_overflow(i, c->coef, &x) || __builtin_add_overflow(x, c->shift, &x) ||
        x == CURSOR_END) {
        c->c.at = c->c.at_end = NONE;
        return;
    }
    cursor_seek(&c->c, x);
    cursor_stand(&c->c, x);
}

#endif
