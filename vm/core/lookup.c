/* lookup.c: where a level has the coordinates that a loop asks for, many at once; and
 * whether there is more to an operand than where it is stored.
 *
 * A fiber that is asked often is written out once: the position of each coordinate, in an
 * array by coordinate, so that a search becomes a load (a table of the operand, as in
 * "Compilation of Dynamic Sparse Tensor Algebra", where merges choose how they follow; the
 * marks of masked products are the same for short fibers, super/super_marks.h). It is made
 * when as many coordinates have been asked for as making it costs: a loop that asks for
 * few, as rounds over a small frontier do, never pays for all there could be.
 */
#include "machine.h"
#include <string.h>

/* So many coordinates at most, of 4 bytes each; one for each so many that were asked. */
#define TABLE_MAX ((int64_t)1 << 22)
enum { PER_ASKED = 4 };

/* Levels whose fibers have so many places anyway gain nothing; and what is stored in others
 * shows in their size. */
static bool serves(const level *lv)
{
    return lv->extent && lv->extent <= TABLE_MAX && lv->size <= INT32_MAX &&
           (lv->props & PROP_UNIQUE) && lv->kind->size(lv, 1) == NONE;
}

static bool is_known(const lookup *k, const machine *mc, const tensor *t, const level *lv,
                     int64_t parent)
{
    return k->t == t && k->lv == lv && k->parent == parent && k->size == lv->size &&
           k->generation == t->generation && k->bindings == mc->bindings;
}

static void write_out(machine *mc, lookup *k)
{
    const level *lv = k->lv;
    const cursor up = {.at = k->parent, .at_end = k->parent + 1};
    cursor c;
    if (k->room < lv->extent) {
        lookup_free(mc, k);
        if (!(k->at = mem_array(mc->cx, lv->extent, sizeof *k->at))) {
            diag_clear(mc->cx); /* without it, then */
            k->asked = INT64_MIN;
            return;
        }
        k->room = lv->extent;
    }
    memset(k->at, -1, (size_t)lv->extent * sizeof *k->at);
    cursor_open(&c, lv, lv == k->t->level ? NULL : &up);
    for (; c.lo != CURSOR_END; cursor_next(&c)) {
        /* a level of the host's may give intervals, and such as leave its extent */
        const int64_t end = lv->base + lv->extent, hi = c.hi < end ? c.hi : end;
        for (int64_t i = c.lo < lv->base ? lv->base : c.lo; i < hi; i++)
            if (cursor_stand(&c, i)) k->at[i - lv->base] = (int32_t)c.at;
    }
    k->made = true;
}

int64_t machine_look_up(machine *mc, int which, const level *lv, int64_t parent,
                        const void *crd, int32_t width, int32_t stride, int64_t n,
                        int64_t *pos)
{
    lookup *k = &mc->slot[which].lookup;
    const tensor *t = mc->slot[which].t;
    if (!is_known(k, mc, t, lv, parent)) {
        k->t = t;
        k->lv = lv;
        k->parent = parent;
        k->size = lv->size;
        k->generation = t->generation;
        k->bindings = mc->bindings;
        k->made = false;
        k->asked = serves(lv) ? 0 : INT64_MIN;
    }
    k->asked += n;
    if (!k->made && k->asked > 0 && k->asked / 2 >= lv->extent / PER_ASKED + lv->size)
        write_out(mc, k);
    if (!k->made) return lv->kind->locate_many(lv, parent, crd, width, stride, n, pos);
    const uint64_t base = (uint64_t)lv->base, n_at = (uint64_t)lv->extent;
    int64_t there = 0;
    for (int64_t j = 0; j < n; j++) {
        const char *const at = (const char *)crd + j * stride;
        const int64_t i = width == 4 ? *(const int32_t *)at : *(const int64_t *)at;
        const uint64_t off = (uint64_t)i - base;
        pos[j] = off < n_at ? k->at[off] : NONE;
        there += pos[j] >= 0;
    }
    return there;
}

void lookup_free(machine *mc, lookup *k)
{
    mem_free(mc->cx, k->at, (size_t)k->room * sizeof *k->at);
    k->at = NULL;
    k->room = 0;
}

/* The first value and each one's neighbour tell: where they differ the look ends. */
static bool all_are_units(const tensor *t, int fn)
{
    const size_t size = type_size(t->type);
    const vclass cls = type_class(t->type);
    const char *vals = t->vals;
    char unit[sizeof(value)] = {0};
    value id;
    if (!t->nvals || !fn_identity(fn, cls, t->type, &id)) return false;
    type_store(t->type, unit, 0, id);
    return !memcmp(vals, unit, size) &&
           !memcmp(vals, vals + size, (size_t)(t->nvals - 1) * size);
}

bool machine_units(machine *mc, int which, int fn)
{
    const slot *s = &mc->slot[which];
    const tensor *t = s->t;
    units *u = &mc->slot[which].units;
    if (s->row->role != ROLE_INPUT || t != s->bound) return false;
    if (u->t != t || u->generation != t->generation || u->bindings != mc->bindings ||
        u->fn != fn)
        *u = (units){t, t->generation, mc->bindings, (int16_t)fn, all_are_units(t, fn)};
    return u->all;
}
