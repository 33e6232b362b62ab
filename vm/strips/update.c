/* update.c: the entries of a workspace go into a tensor that is there, in place.
 *
 * It costs what the workspace has, not what the tensor has, and happens as a whole or not
 * at all: what may fail, places and the function, is gone through first; then the values
 * are written. Both go a strip at a time. Where the tensor stores nothing yet its fill is
 * what an entry meets. Places that aren't there are put where the last level can do that;
 * else the tensor is made anew with them. A tensor that is bound is changed only if who
 * bound it gave it for that; else it is copied first.
 */
#include "../../formats/recipe.h"
#include "../nest/fibers.h"
#include "strip.h"
#include <stdlib.h>
#include <string.h>

stc_status update_outside(machine *mc, const lop *at)
{
    return machine_fail(mc, at, STC_ERR_SHAPE,
                        "an entry of the workspace lies outside the tensor");
}

/* The entries' coordinates on t's levels in place of those by modes, where these differ:
 * `made` is to be freed. */
static stc_status by_levels(machine *mc, const tensor *t, const entries *e, entries *out,
                            int64_t **made, const lop *at)
{
    const format *const f = &t->fmt;
    int64_t coord[STC_MAX_ORDER];
    *out = *e;
    *made = NULL;
    if (format_is_plain(f) || !e->n) return STC_OK;
    if (!(*made = mem_array(mc->cx, f->levels * e->n, sizeof **made)))
        return mc->cx->diag.status;
    for (int l = 0; l < f->levels; l++)
        out->coord[l] = *made + l * e->n;
    for (int64_t k = 0; k < e->n; k++) {
        if (work_due(mc->cx, k)) return mc->cx->diag.status;
        for (int m = 0; m < f->order; m++) {
            coord[m] = e->coord[m][k];
            if (coord[m] < 0 || coord[m] >= t->shape[m]) return update_outside(mc, at);
        }
        for (int l = 0; l < f->levels; l++)
            out->coord[l][k] = map_coord(&f->level[l].map, t->shape, coord);
    }
    return STC_OK;
}

/* Stands c on the levels of t above `levels` at entry k's coordinates, which the entries
 * have in order of levels; its position there, NONE: it has none. */
static int64_t stand(const tensor *t, cursor *c, const entries *e, int64_t k, int levels)
{
    int64_t at = 0;
    for (int l = 0; l < levels && at != NONE; l++) {
        cursor_locate_any(&c[l], &t->level[l], l ? &c[l - 1] : NULL, e->coord[l][k]);
        at = c[l].at;
    }
    return at;
}

/* The position of entry k, NONE where t stores nothing; false: it lies outside. */
static bool place_of(const tensor *t, cursor *c, const entries *e, int64_t k, int64_t *pos)
{
    const int levels = t->fmt.levels;
    for (int l = 0; l < levels; l++) {
        const int64_t from = e->coord[l][k] - t->level[l].base;
        if (from < 0 || from >= t->level[l].extent) return false;
    }
    *pos = stand(t, c, e, k, levels);
    return *pos < t->nvals;
}

/* The same for entries k to `end` of a level that has all coordinates from lo on, in that
 * order. */
static bool places_in_range(const tensor *t, int64_t lo, const entries *e, int64_t k,
                            int64_t end, int64_t *pos)
{
    const int64_t *const at = e->coord[0], last = t->nvals - 1;
    int64_t out = 0; /* its sign, so that entries are looked at side by side */
    for (; k < end; k++) {
        pos[k] = at[k] - lo;
        out |= pos[k] | (last - pos[k]);
    }
    return out >= 0;
}

/* The positions of all entries; *missing: how many have none. */
static stc_status find_places(machine *mc, const tensor *t, const entries *e, int64_t *pos,
                              int64_t *missing, const lop *at)
{
    fiber_table f = {.shape = VIEW_NONE};
    cursor c[STC_MAX_ORDER];
    bool inside = true;
    *missing = 0;
    if (t->fmt.levels == 1) level_fibers(&t->level[0], &f);
    const bool range = f.shape == VIEW_RANGE;
    for (int64_t k = 0, end; inside && (end = work_block(mc->cx, k, e->n)) > k;) {
        if (range) inside = places_in_range(t, f.lo, e, k, end, pos);
        for (; !range && k < end && (inside = place_of(t, c, e, k, &pos[k])); k++)
            *missing += pos[k] == NONE;
        k = range ? end : k;
    }
    return inside ? mc->cx->diag.status : update_outside(mc, at);
}

/* The values of n entries from `from` on, in their class. */
static void entry_values(const entries *e, int64_t from, int n, void *out)
{
    const column at = {.form = COL_STEP, .base = from, .full = true};
    strip_load(e->type, out, e->vals, &at, n, (value){0});
}

/* The first of n values for which the function faults says how. */
stc_status update_fault(machine *mc, int fn, vclass cls, const void *old, const void *x,
                        int n, const lop *at)
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
        const column to = {.form = COL_ARRAY, .data = (int64_t *)pos + k};
        if (t->nvals)
            strip_load(t->type, old, t->vals, &to, n, t->fill);
        else
            class_fill(cls, old, 0, n, t->fill);
        entry_values(e, k, n, x);
        if (fn_array_of(fn, cls)(out, old, x, NULL, n))
            return update_fault(mc, fn, cls, old, x, n, at);
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

/* Room for n more places in the last level, below any that there may be above; *room: false
 * if there can be none. */
static stc_status room_for(tensor *t, int64_t n, bool *room)
{
    const int last = t->fmt.levels - 1;
    level *const lv = &t->level[last];
    *room = lv->kind->put;
    for (int l = 0; l < last; l++)
        *room &= (t->level[l].props & PROP_FULL) != 0;
    if (!*room || !lv->kind->put_room) return STC_OK;
    const stc_status status = lv->kind->put_room(t->cx, lv, n, room);
    if (status || !*room) return status;
    if (tensor_reserve_values(t, t->nvals + n)) return t->cx->diag.status;
    tensor_fill_to(t, t->nvals + n);
    return STC_OK;
}

/* Positions that were put just now, until all are: below NONE. Twice is p again. */
static int64_t just_put(int64_t p)
{
    return NONE - 1 - p;
}

/* False: some fiber is full, and nothing was put. */
static bool put_places(tensor *t, const entries *e, int64_t *pos)
{
    const int last = t->fmt.levels - 1;
    level *const lv = &t->level[last];
    cursor c[STC_MAX_ORDER];
    int64_t k = 0, p = 0;
    for (; k < e->n && p != NONE; k++) {
        if (pos[k] != NONE) continue;
        p = lv->kind->put(lv, stand(t, c, e, k, last), e->coord[last][k]);
        pos[k] = p == NONE ? NONE : just_put(p);
    }
    while (k-- > 0) {
        if (pos[k] >= NONE) continue;
        pos[k] = just_put(pos[k]);
        if (p != NONE) continue;
        lv->kind->unput(lv, pos[k]);
        pos[k] = NONE;
    }
    return p != NONE;
}

/* ---- places between others ----------------------------------------------------------- */

typedef struct missed {
    int64_t parent, i, entry;
} missed;

static int by_place(const void *a, const void *b)
{
    const missed *x = a, *y = b;
    if (x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
    return (x->i > y->i) - (x->i < y->i);
}

/* The entries that have no place, in the order of those that have; false: some have nothing
 * above the last level, either. */
static bool list_missing(const tensor *t, const entries *e, const int64_t *pos, missed *out)
{
    const int last = t->fmt.levels - 1;
    cursor c[STC_MAX_ORDER];
    int64_t n = 0;
    for (int64_t k = 0; k < e->n; k++) {
        if (pos[k] != NONE) continue;
        out[n] = (missed){stand(t, c, e, k, last), e->coord[last][k], k};
        if (out[n++].parent == NONE) return false;
    }
    qsort(out, (size_t)n, sizeof *out, by_place);
    return true;
}

/* How many of n ascending positions are p or come before it. */
static int64_t up_to(const int64_t *before, int64_t n, int64_t p)
{
    int64_t lo = 0;
    while (lo < n) {
        const int64_t mid = lo + (n - lo) / 2;
        if (before[mid] > p)
            n = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

/* Values and positions move up as those of the level did; new ones are the fill. */
static void move_up(tensor *t, const missed *new, const int64_t *before, int64_t n,
                    int64_t all, int64_t *pos)
{
    const size_t size = type_size(t->type);
    for (int64_t k = n, end = t->nvals; k-- > 0; end = before[k]) {
        char *const at = (char *)t->vals + (size_t)before[k] * size;
        memmove(at + (size_t)(k + 1) * size, at, (size_t)(end - before[k]) * size);
        type_store(t->type, t->vals, before[k] + k, t->fill);
    }
    t->nvals += n;
    for (int64_t k = 0; k < all; k++)
        if (pos[k] != NONE) pos[k] += up_to(before, n, pos[k]);
    for (int64_t k = 0; k < n; k++)
        pos[new[k].entry] = before[k] + k;
}

/* Puts those that are missing between what is there; *done: false if that can't be. */
static stc_status put_between(machine *mc, tensor *t, const entries *e, int64_t *pos,
                              int64_t n, bool *done)
{
    level *const lv = &t->level[t->fmt.levels - 1];
    *done = false;
    if (!lv->kind->put_between || !t->vals_owned || t->stains.line) return STC_OK;
    missed *const new = mem_array(mc->cx, n, sizeof *new);
    int64_t *const at = mem_array(mc->cx, 3 * n, sizeof *at);
    stc_status status = new &&at ? STC_OK : mc->cx->diag.status;
    if (!status && list_missing(t, e, pos, new) && !(status = tensor_own_pattern(t)) &&
        !(status = tensor_reserve_values(t, t->nvals + n))) {
        for (int64_t k = 0; k < n; k++) {
            at[k] = new[k].parent;
            at[n + k] = new[k].i;
        }
        status = lv->kind->put_between(mc->cx, lv, n, at, at + n, at + 2 * n, done);
        if (!status && *done) move_up(t, new, at + 2 * n, n, e->n, pos);
    }
    mem_free(mc->cx, new, (size_t)n * sizeof *new);
    mem_free(mc->cx, at, (size_t)(3 * n) * sizeof *at);
    return status;
}

/* ---- a tensor made anew ---------------------------------------------------------------
 */

/* What t stores, and at the entries that it doesn't store, its fill. */
static stc_status with_missing(const tensor *t, const entries *e, const int64_t *pos,
                               entries *all)
{
    int64_t coord[STC_MAX_ORDER];
    stc_status status = tensor_entries(t, all);
    if (!status) status = entries_widen(all);
    for (int64_t k = 0; k < e->n && !status; k++) {
        if (work_due(all->cx, k)) return all->cx->diag.status;
        if (pos[k] != NONE) continue;
        for (int m = 0; m < t->fmt.order; m++)
            coord[format_entry_mode(&t->fmt, m)] = e->coord[m][k];
        status = entries_push(all, coord, t->fill);
    }
    return status;
}

/* Makes t anew, with places for all entries. */
static stc_status grow(machine *mc, tensor *t, const entries *e, const entries *by_level,
                       int64_t *pos, const lop *at)
{
    entries all;
    tensor *made = NULL;
    int64_t missing;
    entries_init(&all, mc->cx, t->fmt.order, t->type);
    stc_status status = with_missing(t, e, pos, &all);
    if (!status) status = tensor_new(mc->cx, &t->fmt, t->type, t->shape, t->fill, &made);
    if (!status) status = tensor_pack(made, &all);
    if (!status) status = find_places(mc, made, by_level, pos, &missing, at);
    entries_free(&all);
    if (!status) {
        made->generation = t->generation;
        made->checked = t->checked;
        tensor_swap(t, made);
    }
    tensor_free(made);
    return status;
}

/* Places for those that have none. */
static stc_status make_places(machine *mc, tensor *t, const entries *e,
                              const entries *by_level, int64_t *pos, int64_t missing,
                              const lop *at)
{
    bool room;
    stc_status status = room_for(t, missing, &room);
    if (status) return status;
    if (room && put_places(t, by_level, pos)) return STC_OK;
    status = put_between(mc, t, by_level, pos, missing, &room);
    return status || room ? status : grow(mc, t, e, by_level, pos, at);
}

stc_status update_own(slot *s)
{
    tensor *copy;
    if (s->t != s->bound || s->given) return STC_OK;
    const stc_status status = tensor_copy(s->t, &copy);
    if (status) return status;
    tensor_free(s->own);
    s->own = s->t = copy;
    s->from = NULL;
    return STC_OK;
}

stc_status strip_update(machine *mc, slot *to, slot *from, int fn, const lop *at)
{
    entries e, by_level;
    int64_t *pos = NULL, *made = NULL, n = 0, missing;
    entries_init(&e, mc->cx, from->row->order, from->row->type);
    stc_status status = tensor_entries(from->t, &e);
    if (!status) status = update_own(to);
    if (!status && (n = e.n) && !(pos = mem_array(mc->cx, n, sizeof *pos)))
        status = mc->cx->diag.status;
    if (!status) status = by_levels(mc, to->t, &e, &by_level, &made, at);
    if (!status) status = find_places(mc, to->t, &by_level, pos, &missing, at);
    if (!status) status = work_out(mc, to->t, &e, pos, fn, at);
    if (!status) status = work_done(mc->cx, (uint64_t)n);
    if (!status && missing)
        status = make_places(mc, to->t, &e, &by_level, pos, missing, at);
    to->t->summed = 0;
    if (!status) write_values(to->t, &e, pos);
    mem_free(mc->cx, made, (size_t)(to->t->fmt.levels * n) * sizeof *made);
    mem_free(mc->cx, pos, (size_t)n * sizeof *pos);
    entries_free(&e);
    return status;
}
