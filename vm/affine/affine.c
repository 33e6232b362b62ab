/* affine.c: a run of an affine nest: what the program says becomes pointers and
 * linear forms of this run's shapes, and each level of the sparse operand a
 * subscript to be solved for its indices. Then they are walked (affine_walk.c).
 *
 * Everything that could fail is found out first: a coordinate of a located
 * operand that could leave its level, a level that isn't a table, a workspace
 * that isn't dense. Then base operations and the other tiers run the loops.
 */
#include "affine.h"
#include "../super/super.h"
#include "../work/ws.h"
#include <string.h>

/* ---- linear forms of this run ------------------------------------------------------ */

bool affine_line_of(const machine *mc, const linear_form *f, affine_line *out)
{
    out->base = f->k;
    memcpy(out->coef, f->coef, sizeof out->coef);
    for (int r = 0; r < f->live; r++)
        if (!add_product(&out->base, mc->i[f->reg[r]], f->times[r])) return false;
    return true;
}

/* Least and greatest value, over the indices in `over` (a bit set); so far from
 * the ends of 64 bits that sums of a few such don't overflow. */
static bool bounds_of(const affine *a, const affine_line *x, uint64_t over, int64_t *min,
                      int64_t *max)
{
    enum { FAR = 60 };
    const int64_t far = INT64_C(1) << FAR;
    bool near = true;
    *min = *max = 0;
    for (int d = 0; d < a->nindex; d++) {
        const int64_t c = x->coef[d], first = a->lo[d], last = a->hi[d] - 1;
        if (!(over >> d & 1) || c == 0) continue;
        near &= add_product(min, c, c > 0 ? first : last);
        near &= add_product(max, c, c > 0 ? last : first);
    }
    return near & (*min > -far) & (*max < far) & (x->base > -far) & (x->base < far);
}

/* Whether rounds in which x isn't in [lo, hi) are left out anyway. */
static bool bounded(const affine *a, const affine_line *x, int64_t lo, int64_t hi)
{
    for (int b = 0; b < a->nbound; b++)
        if (lo <= 0 && a->bound[b].hi <= hi && !memcmp(x, &a->bound[b].line, sizeof *x))
            return true;
    return false;
}

bool affine_within(const affine *a, const affine_line *x, int64_t lo, int64_t hi)
{
    int64_t min, max;
    if (bounded(a, x, lo, hi)) return true;
    return bounds_of(a, x, UINT64_MAX, &min, &max) && x->base + min >= lo &&
           x->base + max < hi;
}

/* out = out * n + x - lo. */
bool affine_descend(affine_line *out, int64_t n, const affine_line *x, int64_t lo)
{
    bool bad = __builtin_mul_overflow(out->base, n, &out->base);
    bad |= __builtin_add_overflow(out->base, x->base - lo, &out->base);
    for (int d = 0; d < AFFINE_INDICES; d++) {
        bad |= __builtin_mul_overflow(out->coef[d], n, &out->coef[d]);
        bad |= __builtin_add_overflow(out->coef[d], x->coef[d], &out->coef[d]);
    }
    return !bad;
}

/* ---- dense operands and results ------------------------------------------------------ */

static bool range_table(const level *lv, fiber_table *f)
{
    if (!lv->kind->table) return false;
    lv->kind->table(lv, f);
    return f->shape == VIEW_RANGE;
}

/* The position of a chain of levels that are all ranges. */
static bool position(const machine *mc, const affine *a, uint16_t at, affine_line *out)
{
    const linear_place *x = &a->place[at];
    affine_line here;
    fiber_table f;
    if (x->kind == LINEAR_ROOT || x->kind == LINEAR_GIVEN) {
        const cursor *c = &mc->c[x->cursor].c;
        *out = (affine_line){.base = x->kind == LINEAR_ROOT ? 0 : c->at};
        return x->kind == LINEAR_ROOT || (c->at >= 0 && c->at_end == c->at + 1);
    }
    const slot *s = &mc->slot[x->tensor];
    const level *lv = &s->t->level[x->level];
    const bool placed = x->kind == LINEAR_PLACED;
    if (x->kind != LINEAR_DENSE && !placed) return false;
    if (placed && !s->lev[x->level].insert) return false;
    return position(mc, a, x->up, out) && range_table(lv, &f) &&
           affine_line_of(mc, &x->at, &here) && affine_within(a, &here, f.lo, f.hi) &&
           affine_descend(out, f.hi - f.lo, &here, f.lo);
}

/* Every cursor of a mask that isn't part of a chain must stand, too. */
static bool all_stand(const machine *mc, const affine *a)
{
    for (int k = 1; k < a->nplace; k++) {
        const linear_place *x = &a->place[k];
        affine_line here;
        fiber_table f;
        if (x->kind == LINEAR_GIVEN && mc->c[x->cursor].c.at == NONE) return false;
        if (x->kind == LINEAR_OPEN) return false;
        if (x->kind != LINEAR_DENSE || (a->nbound && blocks_implied(mc, a, x))) continue;
        if (!range_table(&mc->slot[x->tensor].t->level[x->level], &f) ||
            !affine_line_of(mc, &x->at, &here) || !affine_within(a, &here, f.lo, f.hi))
            return false;
    }
    return true;
}

/* ---- the sparse operand ---------------------------------------------------------- */

/* The next line for a coordinate: that of place x; a cursor that was opened
 * outside has its own coefficient and shift. */
static bool coordinate(const machine *mc, affine *a, const linear_place *x, int line)
{
    if (!affine_line_of(mc, &x->at, &a->line[line])) return false;
    if (x->kind != LINEAR_WALKED || x->cursor == ROOT) return true;
    const mcursor *c = &mc->c[x->cursor];
    for (int d = 0; d < a->nindex; d++)
        a->line[line].coef[d] *= c->coef;
    a->line[line].base = c->shift;
    return true;
}

static bool level_of(const machine *mc, const affine *a, const linear_place *x,
                     affine_level *out)
{
    const level *lv =
        x->cursor != ROOT ? mc->c[x->cursor].c.lv : &mc->slot[x->tensor].t->level[x->level];
    fiber_table f;
    if (!lv->kind->table) return a->nbound && blocks_level(mc, a, x, out);
    lv->kind->table(lv, &f);
    *out = (affine_level){.walked = f.shape == VIEW_COORDS,
                          .ordered = lv->props & PROP_ORDERED,
                          .grouped = !(lv->props & PROP_UNIQUE),
                          .crd = f.crd,
                          .bounds = f.bounds,
                          .width = f.width,
                          .stride = f.stride,
                          .bounds_width = f.bounds_width,
                          .at = lv,
                          .lo = f.lo,
                          .extent = f.hi - f.lo};
    return f.shape == VIEW_COORDS || f.shape == VIEW_RANGE;
}

/* Which index of a level's coordinate is computed from the others: the one with
 * most values. `left`: the indices that no level before has. */
static bool solve(affine *a, affine_level *lv, uint64_t *left)
{
    const affine_line *x = &a->line[lv->line];
    uint64_t here = 0;
    lv->solved = -1;
    lv->ntried = 0;
    for (int d = 0; d < a->nindex; d++) {
        if (!(*left >> d & 1) || x->coef[d] == 0) continue;
        here |= UINT64_C(1) << d;
        if (lv->solved < 0 || a->hi[d] - a->lo[d] > a->hi[lv->solved] - a->lo[lv->solved])
            lv->solved = d;
    }
    for (int d = 0; d < a->nindex; d++)
        if (here >> d & 1 && d != lv->solved) lv->tried[lv->ntried++] = d;
    *left &= ~here;
    return bounds_of(a, x, here, &lv->min, &lv->max);
}

static bool prepare_levels(const machine *mc, affine *a)
{
    uint16_t chain[STC_MAX_ORDER], at = a->load[0].place;
    uint64_t left = (UINT64_C(1) << a->nindex) - 1;
    const cursor *up = NULL;
    a->nlevel = 0;
    for (; a->place[at].kind == LINEAR_DENSE || a->place[at].kind == LINEAR_WALKED;
         at = a->place[at].up) {
        chain[a->nlevel++] = at;
        if (a->place[at].kind == LINEAR_WALKED && a->place[at].cursor != ROOT) {
            up = mc->c[a->place[at].cursor].c.up;
            break;
        }
    }
    if (a->place[at].kind == LINEAR_GIVEN) up = &mc->c[a->place[at].cursor].c;
    a->begin = up ? up->at : 0;
    a->end = up ? up->at_end : 1;
    if (a->begin < 0) a->end = a->begin; /* absent: nothing */
    for (int l = 0; l < a->nlevel; l++) {
        const linear_place *x = &a->place[chain[a->nlevel - 1 - l]];
        affine_level *lv = &a->level[l];
        if (!level_of(mc, a, x, lv)) return false;
        if (lv->grouped && a->sink.fn != FN_ADD) return false; /* duplicates are added */
        lv->line = a->nload + l;
        if (!coordinate(mc, a, x, lv->line) || !solve(a, lv, &left)) return false;
        if (!lv->walked &&
            !affine_within(a, &a->line[lv->line], lv->lo, lv->lo + lv->extent))
            return false;
    }
    a->nrest = 0;
    for (int d = 0; d < a->nindex; d++)
        if (left >> d & 1) a->rest[a->nrest++] = d;
    return true;
}

/* ---- what it adds to --------------------------------------------------------------- */

/* The number of a workspace's accumulator that belongs to the coordinates. */
static bool prepare_workspace(const machine *mc, affine *a, const slot *s)
{
    if (s->ws->kind != &ws_kind_dense) return false;
    a->line[0] = (affine_line){.base = 0};
    for (int k = 0; k < s->row->order; k++) {
        affine_line x;
        const int64_t n = s->ws->stride[k];
        if (!affine_line_of(mc, &a->workspace[k], &x) ||
            !affine_within(a, &x, 0, s->own->shape[k]))
            return false;
        a->line[0].base += n * x.base;
        for (int d = 0; d < a->nindex; d++)
            a->line[0].coef[d] += n * x.coef[d];
    }
    return true;
}

/* Whether a sum that begins with the constant `start` is one that begins with the fill. */
static bool starts_with_fill(const machine *mc, const affine *a, const slot *s)
{
    value one = {0}, other = {0};
    type_store(s->t->type, &one, 0, s->t->fill);
    type_store(s->t->type, &other, 0, mc->p->konst[a->start].v);
    return !memcmp(&one, &other, sizeof one);
}

static bool prepare_result(machine *mc, affine *a, int64_t *last)
{
    int64_t min, max;
    slot *s = &mc->slot[a->sink.a];
    *last = 0;
    a->append = false;
    if (a->sink.kind == SINK_STORE) return affine_store_ready(mc, a);
    if (a->sink.kind == SINK_WSADD) return prepare_workspace(mc, a, s);
    if (a->stored && !starts_with_fill(mc, a, s)) return false;
    for (int l = 0; l < s->row->fmt.levels; l++)
        a->append |= !s->lev[l].insert;
    if (a->append) return affine_append_ready(mc, a);
    if (!position(mc, a, a->sink.b, &a->line[0]) ||
        !bounds_of(a, &a->line[0], UINT64_MAX, &min, &max))
        return false;
    *last = a->line[0].base + max;
    if (a->nbound) { /* not all of these are within */
        const int64_t places = s->places ? s->places : tensor_places(s->t);
        if (places != NONE && *last >= places) *last = places - 1;
        return places > 0;
    }
    return a->line[0].base + min >= 0;
}

/* -0 + x is x, whatever x is. */
static void scalars(const machine *mc, affine *a)
{
    const int times = affine_times(a);
    const value start = {.f64 = times == FN_ADD ? -0.0 : 1};
    value one = class_convert((vclass)a->cls, CLASS_F64, start), v;
    for (int k = 0; k < a->nscalar; k++) {
        v = a->scalar[k].constant ? mc->p->konst[a->scalar[k].id].v
                                  : mc->v[a->scalar[k].id];
        fn_scalar_of(times, (vclass)a->cls)(&one, &one, &v, NULL);
    }
    a->factor = one;
}

/* false: not this way. *none: there is nothing to do. */
static bool prepare(machine *mc, affine *a, bool *none, int64_t *last)
{
    bool empty = false;
    for (int d = 0; d < a->nindex; d++) {
        const merge_desc *m = a->index[d]->merge;
        a->lo[d] = m->lo == ROOT ? 0 : mc->ext[m->lo];
        a->hi[d] = mc->ext[m->hi];
        empty |= a->lo[d] >= a->hi[d];
    }
    /* what loops around do before one that has no rounds may fail still */
    *none = a->nindex && a->lo[0] >= a->hi[0];
    if (*none || empty) return *none;
    for (int b = 0; b < a->nbound; b++) {
        if (!affine_line_of(mc, &a->bound[b].at, &a->bound[b].line)) return false;
        a->bound[b].hi = mc->ext[a->bound[b].extent];
    }
    for (int k = 1; k < a->nload; k++)
        if (!position(mc, a, a->load[k].place, &a->line[k])) return false;
    if (!all_stand(mc, a) || !prepare_levels(mc, a) || !prepare_result(mc, a, last))
        return false;
    for (int k = 0; k < a->nload; k++)
        a->vals[k] = mc->slot[a->load[k].tensor].t->vals;
    scalars(mc, a);
    return true;
}

/* n times the rounds of the indices that no level is solved for; false: that is too large
 * for a number. */
static bool times_unsolved(const affine *a, int64_t n, int64_t *out)
{
    for (int d = 0; d < a->nindex; d++) {
        bool solved = false;
        for (int l = 0; l < a->nlevel; l++)
            solved |= a->level[l].solved == d;
        if (!solved && !size_mul(n, a->hi[d] - a->lo[d], &n)) return false;
    }
    *out = n;
    return true;
}

/* The most places that the nest can touch. */
int64_t affine_most_touched(const machine *mc, const affine *a, int64_t all)
{
    int64_t n;
    const bool small = times_unsolved(a, mc->slot[a->load[0].tensor].t->nvals, &n);
    return small && n < all ? n : all;
}

/* Whether what is done for one entry is done soon: nobody looks meanwhile whether to stop.
 */
static bool entries_are_brief(const affine *a)
{
    enum { BRIEF = 1 << 23 };
    int64_t n;
    return times_unsolved(a, 1, &n) && n <= BRIEF;
}

static stc_status ready_result(machine *mc, affine *a, int64_t last)
{
    slot *s = &mc->slot[a->sink.a];
    a->room.mark = NULL;
    if (a->sink.kind == SINK_STORE) return affine_store_begin(mc, a);
    a->ws = s->ws;
    if (a->sink.kind == SINK_WSADD) {
        workspace *w = s->ws;
        const int64_t n = affine_most_touched(mc, a, w->extent - w->n);
        if (ws_use(mc, w, a->sink.fn, a->sink.at) || ws_touch_room(mc, w, n + 1))
            return mc->cx->diag.status;
        a->out = w->dense;
        return STC_OK;
    }
    s->stores++;
    return affine_room_open(mc, a, last);
}

/* ---- a run ---------------------------------------------------------------------- */

/* Not this way; and nobody marks now (threads that share the result don't anyway). */
static stc_status replayed(machine *mc, const affine *a)
{
    tensor *t = mc->slot[a->sink.a].t;
    if (a->sink.kind == SINK_ACC && t->stains.on) t->stains.on = false;
    return SUPER_REPLAY;
}

stc_status affine_run(machine *mc, super *base)
{
    affine *a = (affine *)base;
    int64_t last;
    bool none;
    if (!prepare(mc, a, &none, &last)) return replayed(mc, a);
    if (none || a->begin == a->end) return machine_count(mc, 1);
    if (!entries_are_brief(a)) return replayed(mc, a);
    if (a->nbound) return blocks_run(mc, a, last);
    if (a->sink.fn == FN_ADD && affine_gathers(mc, a))
        return affine_gather_run(mc, a, last);
    if (a->append) return SUPER_REPLAY;
    if (affine_list_taps(mc, a)) return mc->cx->diag.status;
    if (!a->tapped) return replayed(mc, a);
    affine_choose(a);
    if (ready_result(mc, a, last)) return mc->cx->diag.status;
    if (affine_walk(mc, a)) return mc->cx->diag.status;
    return a->sink.kind == SINK_STORE ? affine_store_end(mc, a) : STC_OK;
}

void affine_release(machine *mc, super *base)
{
    affine *a = (affine *)base;
    affine_store_release(mc, a);
    affine_gather_release(mc, a);
    mem_free(mc->cx, a->tap, (size_t)a->tap_cap * sizeof *a->tap);
    mem_free(mc->cx, a->draft, (size_t)a->draft_cap * sizeof *a->draft);
}
