/* position.c: levels walked by position: coordinates recovered from where they
 * are stored.
 *
 * Takes a position of a level, and finds the positions above it and their
 * coordinates (the `pos` of schedules; workspaces paper, §6.2). A fiber's
 * positions are one range, and the ranges of fibers follow each other: the
 * parent of a position is found by bisection, after a look at where the cursor
 * stood before, since positions mostly come one after another.
 *
 * For levels with CAP_POSITION only. Where view() has no form, each coordinate has a
 * position, stored or not, or each parent one coordinate, which follows from others. The
 * value at positions is that of any level.
 */
#include "coords.h"
#include "machine.h"

static fiber_view view_of(const level *lv, int64_t parent)
{
    fiber_view v;
    lv->kind->view(lv, parent, 0, &v);
    return v;
}

/* The positions of a level below one parent: by their number, if that is known without a
 * look. */
static fiber_view positions(const level *lv, int64_t parent)
{
    const int64_t n = lv->kind->size(lv, 1);
    if (n == NONE) return view_of(lv, parent);
    return (fiber_view){.begin = parent * n, .end = (parent + 1) * n};
}

void span_find(const tensor *t, int l, const cursor *up, int last, int64_t *first,
               int64_t *count)
{
    int64_t lo = up ? up->at : 0, hi = up ? up->at_end : 1;
    *first = *count = 0;
    if (lo == NONE) return;
    for (; l <= last && lo < hi; l++) {
        const int64_t begin = positions(&t->level[l], lo).begin;
        hi = positions(&t->level[l], hi - 1).end;
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
    const int64_t each = lv->kind->size(lv, 1);
    if (each != NONE) return each ? p / each : 0;
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

/* Whether something is stored at position p, which is below `up`, and its coordinate. */
static bool stored(const level *lv, const cursor *up, int64_t p, int64_t *i)
{
    fiber_view v;
    cursor c;
    lv->kind->view(lv, up->at, up->coord, &v);
    if (v.shape == VIEW_RANGE) {
        *i = v.lo + (p - v.begin);
        return *i >= v.lo && *i < v.hi;
    }
    if (v.shape == VIEW_COORDS) {
        *i = coord_at(v.crd, v.width, v.stride, p);
        return *i >= lv->base; /* else a slot that has none */
    }
    if (!(lv->props & PROP_BRANCHLESS)) {
        *i = lv->base + (p - positions(lv, up->at).begin);
        lv->kind->locate(&c, lv, up, *i);
        return c.at != NONE;
    }
    lv->kind->open(&c, lv, up);
    *i = c.lo;
    return c.lo != CURSOR_END;
}

void position_stand(cursor *c, const tensor *t, int l, const cursor *up, int64_t p,
                    int last, int64_t *coord)
{
    const level *lv = &t->level[l];
    const bool stood = c->lv == lv && c->at != NONE;
    const int64_t hint = stood ? c->at : 0;
    c->lv = lv;
    c->up = up;
    c->at = c->at_end = NONE;
    *coord = lv->base - 1; /* within no extent, nor is what a difference makes of it */
    if (p < 0 || p >= t->level[last].size || (up && up->at == NONE)) return;
    for (int k = last; k > l; k--)
        p = parent_of(&t->level[k], t->level[k - 1].size, p, k == l + 1 ? hint : 0);
    int64_t i, parent = l ? parent_of(lv, t->level[l - 1].size, p, up->at) : 0;
    const cursor one = {.at = parent,
                        .at_end = parent + 1,
                        .coord = up ? up->coord : 0,
                        .up = up ? up->up : NULL};
    if (!stored(lv, &one, p, &i)) return;
    c->at = p; /* within: a level's fibers hold all of its positions */
    c->at_end = p + 1;
    c->coord = *coord = i;
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
