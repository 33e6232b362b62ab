/* interval_fill.c: merges fibers interval by interval into the lanes of a strip.
 *
 * Every operand stands on an interval, or before one; up to the nearest end
 * nothing changes, so the presence mask is looked up once for all coordinates
 * on the way. Where all that is present is constant there, that is one lane.
 * Where something goes round a pattern, the least common multiple of the
 * patterns is spelt out and the rest is a repeat of it, or adds to its lanes'
 * weights (compression paper, §IV-C and §IV-D). Else it is spelt out whole.
 */
#include "interval.h"

/* ceil(a / k) for k > 0. */
static int64_t ceil_div(int64_t a, int64_t k)
{
    return a / k + (a % k > 0);
}

/* From an interval of the level's coordinates to one of the index; where coef is negative
 * that begins with the last of them. */
static void to_index(ivl_walk *w)
{
    const int64_t from = w->lo, k = w->coef;
    w->lo = k > 0 ? ceil_div(from - w->shift, k) : ceil_div(w->shift - w->hi + 1, -k);
    w->hi = k > 0 ? ceil_div(w->hi - w->shift, k) : ceil_div(w->shift - from + 1, -k);
    w->first = k * w->lo + w->shift - from;
}

/* The interval of entry w->p, which is there. */
static inline void settle_entry(ivl_walk *w)
{
    w->lo = index_at(w->t.crd, w->t.width, w->p);
    w->pos = w->p;
    if (w->t.shape == VIEW_COORDS) {
        w->hi = w->lo + 1;
        return;
    }
    w->hi = w->p + 1 < w->end ? index_at(w->t.crd, w->t.width, w->p + 1) : w->t.hi;
    if (w->t.shape != VIEW_TOKENS) return;
    w->pos = index_at(w->t.aux, w->t.aux_width, 2 * w->p);
    w->period = index_at(w->t.aux, w->t.aux_width, 2 * w->p + 1);
    if (!w->period) w->period = PERIOD_ENDLESS;
}

/* The interval from entry w->p on, past those in which no index is. */
static inline void settle(ivl_walk *w)
{
    if (w->p < w->end && w->t.shape == VIEW_RANGE) return; /* set when it was opened */
    for (; w->p < w->end; w->p++) {
        settle_entry(w);
        if (w->plain) return;
        to_index(w);
        if (w->lo < w->hi) return;
    }
    w->lo = w->hi = CURSOR_END;
}

/* The fiber below position `parent`, up to its first interval. */
static void open_walk(ivl_walk *w, int64_t parent)
{
    w->p = w->end = 0;
    w->period = w->t.shape == VIEW_RUNS ? 1 : PERIOD_ENDLESS;
    if (parent < 0) {
        w->lo = w->hi = CURSOR_END;
    } else if (w->t.shape == VIEW_RANGE) {
        w->end = 1;
        w->lo = w->t.lo;
        w->hi = w->t.hi;
        w->pos = parent * (w->hi - w->lo);
        if (!w->plain) to_index(w);
        if (w->lo >= w->hi) w->lo = w->hi = CURSOR_END;
    } else {
        w->p = fiber_bound(&w->t, parent);
        w->end = fiber_bound(&w->t, parent + 1);
    }
    settle(w);
}

static void open_lane(const machine *mc, ivl_loop *v)
{
    const merge_desc *m = v->g.s.l->merge;
    v->known = 0;
    for (int b = 0; v->depth && b < m->count; b++) {
        if (m->operand[b].role != MERGE_KNOWN) continue;
        const ivl_loop *o = &v->of->loop[v->depth - 1];
        if (column_get(&o->g.place[v->link.up[1 + b]], v->lane) >= 0)
            v->known |= UINT64_C(1) << b;
    }
    if (!v->depth) v->known = v->g.known;
    v->i = v->begin;
    if (v->window != UNLINKED) v->i = window_open(mc, v, &v->until_lane);
    for (int k = 0; k < v->nwalk; k++) {
        ivl_walk *w = &v->walk[k];
        open_walk(w, w->parent ? column_get(w->parent, v->lane) : w->root);
    }
    v->left = 0;
    v->open = true;
}

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t x = a, y = b, m;
    while (y) {
        const int64_t r = x % y;
        x = y;
        y = r;
    }
    return __builtin_mul_overflow(a / x, b, &m) ? INT64_MAX : m;
}

/* How many values of the index it takes until a pattern is at its beginning again. */
static int64_t turn_of(const ivl_walk *w)
{
    if (w->coef == 1 || w->period == PERIOD_ENDLESS) return w->period;
    return common_multiple(w->period, w->coef) / w->coef;
}

/* How the interval [v->i, e) becomes lanes: 1: as one; else that many of its
 * first coordinates are spelt out. */
static int64_t pattern_of(const ivl_loop *v, int64_t e, uint64_t mask)
{
    const int64_t n = e - v->i;
    int64_t size = 1;
    if (!v->whole) return n;
    for (int k = 0; k < v->nwalk; k++) {
        const ivl_walk *w = &v->walk[k];
        if (!(mask & w->bit) || w->period == 1) continue;
        const int64_t turn = turn_of(w);
        if (turn >= n || (!v->weighs && !v->repeats)) return n;
        size = common_multiple(size, turn);
        if (size > n / 2) return n;
    }
    return size;
}

static int put_whole(ivl_loop *v, int n, int64_t e, uint64_t mask)
{
    v->g.icol[0].data[n] = v->i;
    v->len[n] = e - v->i;
    v->row[n] = v->lane;
    v->g.mask[n] = mask;
    for (int k = 0; k < v->nwalk; k++) {
        ivl_walk *w = &v->walk[k];
        const bool there = mask & w->bit;
        v->g.place[w->place].data[n] = there ? w->pos + walk_offset(w, v->i) : NONE;
        w->absent |= !there;
    }
    v->i = e;
    return n + 1;
}

/* Single coordinates, as many as there is room for. */
static int put_elements(ivl_loop *v, int n)
{
    const int take = v->left < STRIP - n ? (int)v->left : STRIP - n;
    const int64_t i = v->i, total = v->until - (i - v->turn), size = v->turn + v->left;
    for (int k = 0; k < take; k++) {
        v->g.icol[0].data[n + k] = i + k;
        v->row[n + k] = v->lane;
        v->len[n + k] = 1;
        v->g.mask[n + k] = v->here;
    }
    for (int k = 0; v->weighs && size < total && k < take; k++)
        v->len[n + k] = total / size + (v->turn + k < total % size);
    for (int j = 0; j < v->nwalk; j++) {
        ivl_walk *w = &v->walk[j];
        int64_t *at = v->g.place[w->place].data + n;
        if (!(v->here & w->bit)) {
            for (int k = 0; k < take; k++)
                at[k] = NONE;
            w->absent = true;
            continue;
        }
        int64_t off = walk_offset(w, i);
        const int64_t turn = w->period, by = w->coef % turn;
        for (int k = 0; k < take; k++) {
            at[k] = w->pos + off;
            off = off + by >= turn ? off + by - turn : off + by;
        }
    }
    v->left -= take;
    v->turn += take;
    v->i += take;
    if (!v->left) {
        if (v->repeats && v->i < v->until)
            v->rep[v->nrep++] =
                (ivl_repeat){n + take, v->lane, v->i, v->until, size, NONE, 0};
        v->i = v->until;
    }
    return n + take;
}

static inline bool produces(const merge_desc *m, uint64_t mask)
{
    return m->count <= MERGE_TABLE_MAX ? m->produce >> mask & 1 : merge_produces(m, mask);
}

/* Lanes of the row that is open, up to its end or the strip's. */
static stc_status fill_row(machine *mc, ivl_loop *v, int *at)
{
    const merge_desc *m = v->g.s.l->merge;
    int n = *at;
    while (n < STRIP && v->nrep < STRIP) {
        if (v->left) {
            n = put_elements(v, n);
            continue;
        }
        if (v->i >= v->until_lane) {
            v->open = false;
            break;
        }
        uint64_t mask = v->known;
        int64_t e = v->until_lane;
        bool driven = m->universe, flat = v->whole;
        for (int k = 0; k < v->nwalk; k++) {
            ivl_walk *w = &v->walk[k];
            while (w->hi <= v->i) {
                w->p++;
                settle(w);
            }
            const bool there = w->lo <= v->i;
            const int64_t edge = there ? w->hi : w->lo;
            mask |= there ? w->bit : 0;
            driven |= there & w->drives;
            flat &= !there | (w->period == 1);
            e = edge < e ? edge : e;
        }
        if (!driven || !produces(m, mask)) {
            v->i = e;
            continue;
        }
        if (flat || e - v->i == 1) {
            n = put_whole(v, n, e, mask);
            continue;
        }
        const int64_t size = pattern_of(v, e, mask), again = memo_find(v, n, e, size, mask);
        if (again) {
            v->i += again;
            continue;
        }
        if (memo_note(mc, v, n, e, size, mask)) return mc->cx->diag.status;
        v->left = size;
        v->turn = 0;
        v->until = e;
        v->here = mask;
        v->spelt = true;
    }
    *at = n;
    return STC_OK;
}

/* ---- coordinates alone -------------------------------------------------------------- */

/* Whether the outermost loop visits all coordinates, and operands have a position for
 * each: then positions go up in steps, and needn't be written out. */
bool steps_start(ivl_loop *v)
{
    const merge_desc *m = v->g.s.l->merge;
    uint64_t mask = v->g.known;
    bool driven = m->universe;
    if (v->depth || v->begin >= v->end) return false;
    for (int k = 0; k < v->nwalk; k++) {
        const ivl_walk *w = &v->walk[k];
        if (!w->plain || w->t.shape != VIEW_RANGE || w->t.lo > v->begin ||
            w->t.hi < v->end || w->root < 0)
            return false;
        mask |= w->bit;
        driven |= w->drives;
    }
    v->i = v->begin;
    return driven && merge_produces(m, mask);
}

static void steps_fill(ivl_loop *v)
{
    const int n = v->end - v->i < STRIP ? (int)(v->end - v->i) : STRIP;
    for (int k = 0; k < n; k++) {
        v->g.icol[0].data[k] = v->i + k;
        v->row[k] = 0;
        v->len[k] = 1;
    }
    for (int k = 0; k < v->nwalk; k++) {
        const ivl_walk *w = &v->walk[k];
        column *c = &v->g.place[w->place];
        c->form = COL_STEP;
        c->base = w->root * (w->t.hi - w->t.lo) + v->i - w->t.lo;
        c->full = true;
        c->ranged = false;
        c->vals = NULL;
    }
    v->g.icol[0].form = COL_ARRAY;
    v->g.n = n;
    v->spelt = true;
    v->i += n;
    v->lane = v->i >= v->end;
}

/* ---- the strip ------------------------------------------------------------------- */

stc_status interval_fill(machine *mc, ivl_loop *v)
{
    int n = 0;
    v->nrep = 0;
    v->spelt = false;
    if (v->alone || v->led || v->spelt_out || v->steps) {
        if (v->steps) {
            steps_fill(v);
        } else if (v->spelt_out) {
            spell_fill(mc, v);
        } else if (v->alone) {
            runs_fill(v);
        } else {
            lead_fill(mc, v);
        }
        return STC_OK;
    }
    for (int k = 0; k < v->nwalk; k++)
        v->walk[k].absent = false;
    while (n < STRIP && v->nrep < STRIP && v->lane < v->lanes) {
        if (!v->open) open_lane(mc, v);
        if (fill_row(mc, v, &n)) return mc->cx->diag.status;
        if (!v->open) v->lane++;
    }
    v->g.icol[0].form = COL_ARRAY;
    for (int k = 0; k < v->nwalk; k++) {
        column *c = &v->g.place[v->walk[k].place];
        c->form = COL_ARRAY;
        c->full = !v->walk[k].absent;
        c->ranged = false;
        c->vals = NULL;
    }
    v->g.n = n;
    return STC_OK;
}
