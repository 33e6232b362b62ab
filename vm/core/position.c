/* position.c: levels walked by position: coordinates recovered from where they
 * are stored.
 *
 * Takes a position of a level, and finds the positions above it and their
 * coordinates (the `pos` of schedules; workspaces paper, §6.2). A fiber's
 * positions are one range, and the ranges of fibers follow each other: the
 * parent of a position is found by bisection, after a look at where the cursor
 * stood before, since positions mostly come one after another.
 *
 * For levels with CAP_POSITION only, whose view() is a range or coordinates, or which have
 * a position for each coordinate, stored or not. The value at positions is that of any
 * level.
 */
#include "coords.h"
#include "machine.h"

static fiber_view view_of(const level *lv, int64_t parent)
{
    fiber_view v;
    lv->kind->view(lv, parent, 0, &v);
    if (v.shape != VIEW_NONE) return v;
    return (fiber_view){.shape = VIEW_RANGE,
                        .begin = parent * lv->extent,
                        .end = (parent + 1) * lv->extent,
                        .lo = lv->base,
                        .hi = lv->base + lv->extent};
}

void span_find(const tensor *t, int l, const cursor *up, int last, int64_t *first,
               int64_t *count)
{
    int64_t lo = up ? up->at : 0, hi = up ? up->at_end : 1;
    *first = *count = 0;
    if (lo == NONE) return;
    for (; l <= last && lo < hi; l++) {
        const int64_t begin = view_of(&t->level[l], lo).begin;
        hi = view_of(&t->level[l], hi - 1).end;
        lo = begin;
    }
    *first = lo;
    *count = hi - lo;
}

int64_t span_blocks(int64_t count, int64_t n)
{
    return count / n + (count % n != 0);
}

static bool holds(const level *lv, int64_t parent, int64_t parents, int64_t p)
{
    if (parent >= parents) return false;
    const fiber_view v = view_of(lv, parent);
    return v.begin <= p && p < v.end;
}

/* The parent below which position p of a level is. */
static int64_t parent_of(const level *lv, int64_t parents, int64_t p, int64_t hint)
{
    if (holds(lv, hint, parents, p)) return hint;
    if (holds(lv, hint + 1, parents, p)) return hint + 1;
    int64_t below = 0, above = parents; /* begin(below) <= p < begin(above) */
    while (above - below > 1) {
        const int64_t mid = below + (above - below) / 2;
        if (view_of(lv, mid).begin <= p)
            below = mid;
        else
            above = mid;
    }
    return below;
}

static int64_t coordinate_at(const fiber_view *v, int64_t p)
{
    if (v->shape == VIEW_RANGE) return v->lo + (p - v->begin);
    return coord_at(v->crd, v->width, v->stride, p);
}

/* Whether there is something at the coordinate that a position is for. */
static bool stored(const level *lv, int64_t parent, int64_t coord)
{
    const cursor up = {.at = parent, .at_end = parent + 1};
    cursor c;
    if (!(lv->kind->caps & CAP_LOCATE)) return true;
    lv->kind->locate(&c, lv, &up, coord);
    return c.at != NONE;
}

void position_stand(cursor *c, const tensor *t, int l, const cursor *up, int64_t p,
                    int last, int64_t *coord)
{
    const level *lv = &t->level[l];
    const bool stood = c->lv == lv && c->at != NONE;
    int64_t hint = stood ? c->at : 0;
    c->lv = lv;
    c->up = up;
    *coord = 0;
    if (p < 0 || p >= t->level[last].size || (up && up->at == NONE)) {
        c->at = c->at_end = NONE;
        return;
    }
    for (int k = last; k > l; k--)
        p = parent_of(&t->level[k], t->level[k - 1].size, p, k == l + 1 ? hint : 0);
    hint = up ? up->at : 0;
    const int64_t parent = l ? parent_of(lv, t->level[l - 1].size, p, hint) : 0;
    const fiber_view v = view_of(lv, parent);
    *coord = coordinate_at(&v, p);
    if (!(lv->props & PROP_COMPACT) && !stored(lv, parent, *coord)) {
        c->at = c->at_end = *coord = NONE; /* which is within no extent */
        return;
    }
    c->at = p; /* within: a level's fibers hold all of its positions */
    c->at_end = p + 1;
    c->coord = *coord;
}

value load_sum(const tensor *t, int64_t at, int64_t at_end)
{
    value sum = type_load(t->type, t->vals, at);
    fn_scalar add = fn_scalar_of(FN_ADD, type_class(t->type));
    for (at++; at < at_end; at++) {
        value x = type_load(t->type, t->vals, at);
        add(&sum, &sum, &x, NULL);
    }
    return type_round(t->type, sum);
}
