/* merge.c: co-iteration: one loop over any number of operands.
 *
 * Takes a loop frame whose walked cursors are open, and gives one coordinate
 * after another with its presence mask, all cursors standing on it. The
 * lattice is data (tables.c): a candidate is the smallest coordinate at which
 * a walker stands, or simply the next one if the universe is needed; followers
 * are sought and the rest located at it; then the table says whether it
 * produces. It ends with the range, or when nothing live is left.
 *
 * Walkers keep their interval in values of the index: [lo, hi) of the level is
 * divided by coef, rounded up, after taking off shift; coordinates that are no
 * multiple fall between intervals.
 *
 * Where all operands are located in ranges, as the rows of a matrix are, that is asked of
 * the first coordinate alone; then each of them goes on by one.
 */
#include "machine.h"

/* ceil(a / k) for k > 0. */
static int64_t ceil_div(int64_t a, int64_t k)
{
    int64_t q = a / k;
    return a % k > 0 ? q + 1 : q;
}

/* From a level's coordinate to the index: saturates where 64 bits end. */
static int64_t to_index(const mcursor *c, int64_t x)
{
    int64_t d;
    if (__builtin_sub_overflow(x, c->shift, &d))
        return c->shift > 0 ? INT64_MIN : INT64_MAX;
    return ceil_div(d, c->coef);
}

static bool to_level(const mcursor *c, int64_t i, int64_t *x)
{
    if (c->plain) {
        *x = i;
        return true;
    }
    int64_t t;
    return !__builtin_mul_overflow(i, c->coef, &t) &&
           !__builtin_add_overflow(t, c->shift, x);
}

/* The same, saturated to what a cursor can be sought at. */
static int64_t to_level_within(const mcursor *c, int64_t i)
{
    int64_t x;
    if (to_level(c, i, &x)) return x < CURSOR_END ? x : CURSOR_END - 1;
    return i < 0 ? INT64_MIN : CURSOR_END - 1;
}

/* The lane's interval from its cursor's, passing over empty ones. */
static void lane_settle(lane *w)
{
    cursor *c = &w->c->c;
    for (;; cursor_next(c)) {
        if (c->lo == CURSOR_END) {
            w->lo = w->hi = CURSOR_END;
            return;
        }
        if (w->c->plain) {
            w->lo = c->lo;
            w->hi = c->hi;
            return;
        }
        w->lo = to_index(w->c, c->lo);
        w->hi = to_index(w->c, c->hi);
        if (w->lo < w->hi) return;
    }
}

static bool absent(cursor *c)
{
    c->at = c->at_end = NONE;
    return false;
}

/* Stands a walker's cursor at i, which is below its hi. */
static inline bool lane_stand(lane *w, int64_t i)
{
    cursor *c = &w->c->c;
    if (i < w->lo) return absent(c); /* or used up */
    int64_t x;
    return to_level(w->c, i, &x) && cursor_stand(c, x);
}

static bool follow(lane *w, int64_t i)
{
    cursor *c = &w->c->c;
    int64_t x;
    if (!to_level(w->c, i, &x)) return absent(c);
    if (c->hi <= x) cursor_seek(c, x);
    return cursor_stand(c, x);
}

bool cursor_locate_any(cursor *c, const level *lv, const cursor *up, int64_t x)
{
    c->lv = lv;
    c->up = up;
    if (x < lv->base || x - lv->base >= lv->extent || (up && up->at == NONE))
        return absent(c);
    if (lv->kind->locate) {
        lv->kind->locate(c, lv, up, x);
        return c->at != NONE;
    }
    cursor_open(c, lv, up);
    if (lv->props & PROP_ORDERED) {
        cursor_seek(c, x);
    } else {
        while (c->lo != CURSOR_END && (x < c->lo || x >= c->hi))
            cursor_next(c);
    }
    return cursor_stand(c, x);
}

static bool locate(machine *mc, lane *w, int64_t i)
{
    const merge_operand *op = w->op;
    int64_t x = i;
    if (op->coef != 1 && __builtin_mul_overflow(x, op->coef, &x)) return absent(&w->c->c);
    if (op->shift != ROOT && __builtin_add_overflow(x, mc->i[op->shift], &x))
        return absent(&w->c->c);
    return cursor_locate_any(&w->c->c, &mc->slot[op->tensor].t->level[op->level],
                             op->up == ROOT ? NULL : &mc->c[op->up].c, x);
}

static bool produces(const loop *l, uint64_t mask)
{
    const merge_desc *m = l->merge;
    if (m->count <= MERGE_TABLE_MAX) return l->produce >> (mask & 63) & 1;
    return postfix_eval(m->postfix, m->postfix_len, mask);
}

static bool live(const loop *l, uint64_t left)
{
    const merge_desc *m = l->merge;
    if (m->count <= MERGE_TABLE_MAX) return l->live >> (left & 63) & 1;
    uint64_t walks = 0;
    for (int k = 0; k < l->nwalk; k++)
        walks |= l->lane[k].bit;
    return postfix_may(m->postfix, m->postfix_len, ~(left & (walks | l->placed)), l->known);
}

/* Places the operands that don't drive; the mask with their bits added. */
static uint64_t place(machine *mc, loop *l, int64_t i, uint64_t mask)
{
    lane *w = l->lane + l->nwalk;
    for (int k = 0; k < l->nplace; k++, w++) {
        bool found = w->op->role == MERGE_LOCATE ? locate(mc, w, i) : follow(w, i);
        if (found) mask |= w->bit;
    }
    return mask;
}

static loop_state stand(machine *mc, loop *l, int64_t i, uint64_t mask)
{
    l->i = i;
    mc->i[l->index] = i;
    mc->m[l->mask] = mask;
    if (mask & l->subsections)
        l->visited += (uint64_t)__builtin_popcountll(mask & l->subsections);
    return LOOP_ON;
}

/* Nothing was produced at i, and nothing is before all stand that have to: the last
 * coordinate that can be passed over, as those say that are followed. */
static int64_t leap(const loop *l, int64_t i)
{
    const lane *w = l->lane + l->nwalk;
    int64_t last = i;
    for (int k = 0; k < l->nplace; k++, w++) {
        if (!(l->needed & w->bit)) continue;
        const cursor *c = &w->c->c;
        const int64_t next = c->lo == CURSOR_END ? CURSOR_END : to_index(w->c, c->lo);
        if (next > last) last = next - 1;
    }
    return last;
}

/* Moves a walker to where it ends behind `from`: what is far off is sought. */
static void lane_pass(lane *w, int64_t from)
{
    cursor_next(&w->c->c);
    lane_settle(w);
    if (w->hi > from) return;
    cursor_seek(&w->c->c, to_level_within(w->c, from));
    lane_settle(w);
}

/* The first coordinate from `from` on that produces. */
static loop_state advance(machine *mc, loop *l, int64_t from)
{
    for (;; from++) {
        if (from >= l->end) return LOOP_DONE;
        int64_t i = l->universe ? from : CURSOR_END;
        uint64_t left = l->known | l->placed;
        for (int k = 0; k < l->nwalk; k++) {
            lane *w = &l->lane[k];
            while (w->hi <= from)
                lane_pass(w, from);
            if (w->lo == CURSOR_END) continue;
            left |= w->bit;
            int64_t lo = w->lo > from ? w->lo : from;
            if (lo < i) i = lo;
        }
        if (i >= l->end || !live(l, left)) return LOOP_DONE;
        uint64_t mask = l->known;
        for (int k = 0; k < l->nwalk; k++)
            if (lane_stand(&l->lane[k], i)) mask |= l->lane[k].bit;
        mask = place(mc, l, i, mask);
        if (produces(l, mask)) return stand(mc, l, i, mask);
        if (machine_count(mc, 1)) return LOOP_FAILED;
        from = l->needed ? leap(l, i) : i;
    }
}

/* A single walker whose coordinates come as they are stored. */
static loop_state advance_unordered(machine *mc, loop *l, int64_t from)
{
    lane *w = &l->lane[0];
    for (;; from++) {
        while (w->lo != CURSOR_END && from >= w->hi) {
            cursor_next(&w->c->c);
            lane_settle(w);
            from = w->lo;
        }
        if (w->lo == CURSOR_END) return LOOP_DONE;
        if (from < l->begin) from = l->begin < w->hi ? l->begin : w->hi;
        if (from >= l->end || from >= w->hi) {
            from = w->hi - 1;
            continue;
        }
        uint64_t mask = l->known;
        if (lane_stand(w, from)) mask |= w->bit;
        mask = place(mc, l, from, mask);
        if (produces(l, mask)) return stand(mc, l, from, mask);
        if (machine_count(mc, 1)) return LOOP_FAILED;
    }
}

void loop_tables(loop *l)
{
    const merge_desc *m = l->merge;
    const lane *known = l->lane + l->nwalk + l->nplace;
    l->known = 0;
    for (int k = 0; k < l->nknown; k++)
        if (known[k].c->c.at != NONE) l->known |= known[k].bit;
    if (m->count > MERGE_TABLE_MAX) {
        uint64_t free = l->placed; /* unknown; all others are, with walkers absent */
        l->universe =
            m->universe && postfix_may(m->postfix, m->postfix_len, ~free, l->known);
        return;
    }
    uint64_t t = m->produce;
    for (int k = 0; k < l->nknown; k++) {
        int b = __builtin_ctzll(known[k].bit);
        t = table_fix(t, b, l->known >> b & 1);
    }
    l->produce = t;
    l->needed = 0;
    for (int k = l->nwalk; k < l->nwalk + l->nplace; k++) {
        const lane *w = &l->lane[k];
        if (w->op->role == MERGE_FOLLOW && !table_fix(t, __builtin_ctzll(w->bit), false))
            l->needed |= w->bit;
    }
    l->live = table_live(t);
    l->universe = m->universe && (l->live >> l->placed & 1);
}

int64_t loop_fibers(const loop *l)
{
    int64_t n = 0;
    for (int k = 0; k < l->nwalk + l->nplace && !l->part; k++) {
        const mcursor *c = l->lane[k].c;
        const level *lv = c->c.lv;
        n += l->lane[k].op->role <= MERGE_FOLLOW && !c->subsections && lv->kind->arrays &&
             !(lv->props & PROP_FULL) && (!c->c.up || c->c.up->at != NONE);
    }
    return n;
}

/* Operand w, which stands at l->i, is a step further on in its level with each round: in no
 * verified loop does its tensor change, or a cursor above that isn't the loop's own. */
static bool lane_steady(const machine *mc, const loop *l, const lane *w)
{
    const merge_operand *op = w->op;
    const level *lv = w->c->c.lv;
    fiber_table t;
    if (op->role != MERGE_LOCATE || op->coef != 1 || op->shift != ROOT || !lv->kind->table)
        return false;
    for (int k = 0; k < l->nplace; k++)
        if (op->up != ROOT && &mc->c[op->up] == l->lane[k].c) return false;
    lv->kind->table(lv, &t);
    return t.shape == VIEW_RANGE && t.lo <= l->i && t.hi >= l->end && w->c->c.at != NONE;
}

/* Whether rounds from where the loop stands on differ by their coordinate alone: nothing is
 * walked, and all that is located stands in ranges. */
static bool is_steady(const machine *mc, loop *l)
{
    if (l->nwalk || !l->universe || !produces(l, l->known | l->placed)) return false;
    for (int k = 0; k < l->nplace; k++)
        if (!lane_steady(mc, l, &l->lane[k])) return false;
    for (int k = 0; k < l->nplace; k++)
        l->lane[k].lo = l->lane[k].c->c.at - l->i;
    return true;
}

static loop_state next_steady(machine *mc, loop *l)
{
    const int64_t i = l->i + 1;
    if (i >= l->end) return LOOP_DONE;
    for (int k = 0; k < l->nplace; k++) {
        const lane *w = &l->lane[k];
        const merge_operand *op = w->op;
        cursor_place(&w->c->c, &mc->slot[op->tensor].t->level[op->level],
                     op->up == ROOT ? NULL : &mc->c[op->up].c, i, w->lo + i);
    }
    return stand(mc, l, i, l->known | l->placed);
}

loop_state loop_start(machine *mc, loop *l)
{
    const merge_desc *m = l->merge;
    int64_t lo = m->lo == ROOT ? 0 : mc->ext[m->lo];
    l->end = mc->ext[m->hi];
    if (l->nknown) loop_tables(l);
    l->unordered = l->nwalk == 1 && !(l->lane[0].c->c.lv->props & PROP_ORDERED);
    for (int k = 0; k < l->nwalk; k++) {
        lane *w = &l->lane[k];
        if (!l->unordered) cursor_seek(&w->c->c, to_level_within(w->c, lo));
        lane_settle(w);
    }
    l->begin = lo;
    l->steady = false;
    if (l->unordered) return advance_unordered(mc, l, l->lane[0].lo);
    const loop_state state = advance(mc, l, lo);
    l->steady = state == LOOP_ON && is_steady(mc, l);
    return state;
}

loop_state loop_next(machine *mc, loop *l)
{
    if (l->steady) return next_steady(mc, l);
    if (l->unordered) return advance_unordered(mc, l, l->i + 1);
    return advance(mc, l, l->i + 1);
}
