/* runs.c: sorted entries seen as runs: groups of entries with one coordinate,
 * gaps where there is none, and whether each equals the one before it.
 *
 * Equal means: the same coordinates on the levels below and the same bits of
 * value; a gap equals values that are the fill.
 */
#include "kinds.h"
#include <string.h>

void run_walk_start(run_walk *w, const level *lv, const pack_in *in)
{
    *w = (run_walk){.lv = lv, .in = in, .parent = NONE};
}

bool run_walk_fiber(run_walk *w, int64_t parent)
{
    w->parent = parent;
    w->next = w->lv->base;
    w->first = true;
    w->hi = w->lv->base;
    w->begin = w->end = 0;
    return w->lv->extent > 0;
}

static bool is_fill(const run_walk *w, int64_t e)
{
    value fill;
    const size_t size = type_size(w->in->type);
    type_store(w->in->type, &fill, 0, w->in->fill);
    return !memcmp((const char *)w->in->vals + (size_t)e * size, &fill, size);
}

static bool equal_groups(const run_walk *w, int64_t a, int64_t a_end, int64_t b,
                         int64_t b_end)
{
    const pack_in *in = w->in;
    if (a == a_end || b == b_end) {
        if (a == a_end && b == b_end) return true;
        if (in->deeper) return false;
        return is_fill(w, a == a_end ? b : a);
    }
    if (a_end - a != b_end - b) return false;
    const size_t size = type_size(in->type);
    for (int d = 0; d < in->deeper; d++) {
        for (int64_t k = 0; k < a_end - a; k++) {
            if (in->below[d][a + k] != in->below[d][b + k]) return false;
        }
    }
    const char *vals = in->vals;
    return !memcmp(vals + (size_t)a * size, vals + (size_t)b * size,
                   (size_t)(a_end - a) * size);
}

bool run_walk_step(run_walk *w)
{
    const pack_in *in = w->in;
    const int64_t top = w->lv->base + w->lv->extent;
    if (w->next >= top) return false;
    const int64_t a = w->begin, a_end = w->end;
    const bool first = w->first && w->next == w->lv->base;
    w->lo = w->next;
    w->begin = w->end = w->e;
    const bool more = w->e < in->count && in->pos[w->e] == w->parent;
    if (!more || in->coord[w->e] > w->next) {
        w->hi = more ? in->coord[w->e] : top;
    } else {
        w->hi = w->next + 1;
        while (w->end < in->count && in->pos[w->end] == w->parent &&
               in->coord[w->end] == w->next) {
            w->end++;
        }
        w->e = w->end;
    }
    w->next = w->hi;
    w->first = first;
    w->same = !first && equal_groups(w, a, a_end, w->begin, w->end);
    return true;
}
