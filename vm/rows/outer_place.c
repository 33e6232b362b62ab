/* outer_place.c: where operands and results of a nest by lanes are: each place a step
 * below the one above it, as levels are stacked, worked out again in the loop that it
 * moves with.
 *
 * Lanes are at a fixed step from each other as long as the levels from where their index
 * comes in are ranges, or that is the last level, whose fibers are written out.
 */
#include "outer.h"
#include "../nest/fibers.h"

/* ---- what places are ---------------------------------------------------------------- */

/* Far from the ends of 64 bits, whatever the loops' indices are. */
static bool near(const outer *o, const affine_line *x)
{
    enum { FAR = 60 };
    const int64_t far = INT64_C(1) << FAR;
    int64_t sum = 0;
    for (int d = 0; d < o->nloop; d++) {
        const int64_t lo = o->loop[d].lo, hi = o->loop[d].hi;
        int64_t most = (lo < 0 ? -lo : lo) > (hi < 0 ? -hi : hi) ? lo : hi, part;
        if (__builtin_mul_overflow(x->coef[d], most, &part) || part > far || part < -far)
            return false;
        sum += part < 0 ? -part : part;
        if (sum > far) return false;
    }
    return x->base < far && x->base > -far;
}

/* The tensor that a level belongs to. */
static const tensor *owner(const machine *mc, const level *lv)
{
    for (int k = 0; k < mc->p->ntensor; k++) {
        const tensor *t = mc->slot[k].t;
        if (t && lv >= t->level && lv < t->level + t->fmt.levels) return t;
    }
    return NULL;
}

/* A cursor that was opened before the nest: its line is its own. */
static bool opened_before(const machine *mc, outer *o, outer_stand *s,
                          const linear_place *x)
{
    const mcursor *c = &mc->c[x->cursor];
    s->lv = c->c.lv;
    for (int d = 0; d < o->nloop; d++)
        s->line.coef[d] = x->at.coef[d] * c->coef;
    s->line.base = c->shift;
    s->t = owner(mc, s->lv);
    s->base = !c->c.up ? 0 : c->c.up->at;
    return s->t && (!c->c.up || c->c.up->at == NONE || c->c.up->at_end == c->c.up->at + 1);
}

static bool stands_before(const machine *mc, outer_stand *s, const linear_place *x)
{
    const cursor *c = &mc->c[x->cursor].c;
    s->base = x->kind == LINEAR_ROOT ? 0 : c->at;
    s->from = s->base == NONE ? INT64_MAX : INT64_MIN;
    s->to = INT64_MAX;
    return x->kind == LINEAR_ROOT || c->at == NONE || c->at_end == c->at + 1;
}

/* Whether the lanes' index is in the chain from place at on. */
static bool has_lanes(const outer *o, uint16_t at)
{
    for (; o->stand[at].lv; at = o->stand[at].up)
        if (o->stand[at].line.coef[o->lane]) return true;
    return false;
}

static bool prepare_place(machine *mc, outer *o, int k)
{
    const linear_place *x = &o->place[k];
    outer_stand *s = &o->stand[k];
    fiber_table f;
    *s = (outer_stand){.up = x->up};
    if (x->kind == LINEAR_SUBSECT) return true;
    if (x->kind == LINEAR_ROOT || x->kind == LINEAR_GIVEN) return stands_before(mc, s, x);
    if (x->kind == LINEAR_OPEN) return false;
    if (x->kind == LINEAR_WALKED && x->cursor != ROOT) {
        s->up = 0;
        if (!opened_before(mc, o, s, x)) return false;
    } else {
        const slot *of = &mc->slot[x->tensor];
        s->t = of->t;
        s->lv = &of->t->level[x->level];
        if (x->kind == LINEAR_PLACED && !of->lev[x->level].insert) return false;
        if (!affine_line_of(mc, &x->at, &s->line)) return false;
    }
    if (!near(o, &s->line)) return false;
    level_fibers(s->lv, &f);
    s->range = f.shape == VIEW_RANGE;
    s->leaf = s->lv == &s->t->level[s->t->fmt.levels - 1];
    s->lo = s->range ? f.lo : s->lv->base;
    s->hi = s->range ? f.hi : s->lv->base + s->lv->extent;
    s->sparse = !s->range || o->stand[s->up].sparse;
    if (s->range) return true;
    if (has_lanes(o, s->up) || (s->line.coef[o->lane] && !s->leaf)) return false;
    s->lines = outer_lines_of(o, s->t, s->lv);
    return s->lines != NULL;
}

/* The innermost loop but the lanes' that place k moves with, or -1. */
static int moves_with(const outer *o, int k)
{
    int last = -1;
    for (uint16_t at = (uint16_t)k; o->stand[at].lv; at = o->stand[at].up)
        for (int d = o->nloop - 1; d > last; d--)
            if (o->stand[at].line.coef[d] && d != o->lane) last = d;
    return last;
}

bool outer_places_prepare(machine *mc, outer *o)
{
    outer_lines_begin(o);
    for (int d = 0; d < o->nloop; d++)
        o->loop[d].nplace = 0;
    for (int k = 0; k < o->nplace; k++) {
        if (!prepare_place(mc, o, k)) return false;
        if (!o->stand[k].lv) continue;
        const int d = moves_with(o, k);
        o->stand[k].moving = d >= o->loop[o->lane].around;
        if (d >= 0) o->loop[d].place[o->loop[d].nplace++] = (uint8_t)k;
    }
    return true;
}

/* ---- where they stand --------------------------------------------------------------- */

static void nowhere(outer_stand *s)
{
    s->from = INT64_MAX;
    s->to = INT64_MIN;
    s->step = 0;
    s->there = NULL;
}

/* floor(a / b), b > 0. */
static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Lanes x at which lo <= c + n * x < hi. */
static void clip(outer_stand *s, int64_t c, int64_t n)
{
    int64_t from = s->lo - c, to = s->hi - c;
    if (n == 1) {
        ; /* as it is */
    } else if (n > 0) {
        from = -floor_div(c - s->lo, n);
        to = floor_div(s->hi - 1 - c, n) + 1;
    } else {
        from = -floor_div(s->hi - 1 - c, -n);
        to = floor_div(c - s->lo, -n) + 1;
    }
    if (from > s->from) s->from = from;
    if (to < s->to) s->to = to;
}

/* base + step * x for parent's base and step, in a range of so many coordinates; what
 * is out of bounds is never looked at, and may wrap. */
static void descend(outer_stand *s, const outer_stand *up, int64_t c, int64_t n)
{
    const uint64_t width = (uint64_t)(s->hi - s->lo);
    s->base = (int64_t)((uint64_t)up->base * width + (uint64_t)(c - s->lo));
    s->step = (int64_t)((uint64_t)up->step * width + (uint64_t)n);
}

static void stand_on_line(outer *o, outer_stand *s, int64_t parent, int64_t c, int64_t n)
{
    const void *line = outer_line(o, s->lines, parent, &s->there);
    s->parent = parent;
    s->base = c - s->lo;
    s->step = n;
    if (s->leaf) {
        s->vals = line;
        if (n || s->there[s->base]) return;
        nowhere(s);
        return;
    }
    s->base = ((const int64_t *)line)[s->base];
    if (s->base == NONE) nowhere(s);
}

static void move(const machine *mc, outer *o, int k)
{
    outer_stand *s = &o->stand[k];
    const outer_stand *up = &o->stand[s->up];
    const bool before = o->place[k].kind == LINEAR_WALKED && o->place[k].cursor != ROOT;
    int64_t c = s->line.base, parent = up->base;
    const int64_t n = s->line.coef[o->lane];
    for (int d = 0; d < o->nloop; d++)
        if (d != o->lane) c += s->line.coef[d] * o->at[d];
    s->from = up->from;
    s->to = up->to;
    if (before) {
        const cursor *above = mc->c[o->place[k].cursor].c.up;
        parent = above ? above->at : 0;
        if (parent == NONE) s->from = INT64_MAX;
    }
    if (s->from >= s->to || (!n && (c < s->lo || c >= s->hi))) {
        nowhere(s);
        return;
    }
    if (n) clip(s, c, n);
    s->there = up->there;
    s->vals = up->vals;
    if (!s->range) {
        stand_on_line(o, s, parent, c, n);
    } else if (before) {
        const outer_stand above = {.base = parent};
        descend(s, &above, c, n);
    } else {
        descend(s, up, c, n);
    }
}

void outer_places_move(const machine *mc, outer *o, int d)
{
    if (d >= 0) {
        const outer_loop *l = &o->loop[d];
        for (int k = 0; k < l->nplace; k++)
            move(mc, o, l->place[k]);
        return;
    }
    for (int k = 0; k < o->nplace; k++)
        if (o->stand[k].lv && moves_with(o, k) < 0) move(mc, o, k);
}
