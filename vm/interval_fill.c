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

static inline int64_t entry(const void *a, int width, int64_t k)
{
    return width == 4 ? ((const int32_t *)a)[k] : ((const int64_t *)a)[k];
}

/* The interval from entry w->p on. */
static inline void settle(ivl_walk *w)
{
    if (w->p >= w->end) {
        w->lo = w->hi = CURSOR_END;
        return;
    }
    if (w->t.shape == VIEW_RANGE) return; /* set when it was opened */
    w->lo = entry(w->t.crd, w->t.width, w->p);
    w->pos = w->p;
    if (w->t.shape == VIEW_COORDS) {
        w->hi = w->lo + 1;
        return;
    }
    w->hi = w->p + 1 < w->end ? entry(w->t.crd, w->t.width, w->p + 1) : w->t.hi;
    if (w->t.shape != VIEW_TOKENS) return;
    w->pos = entry(w->t.aux, w->t.aux_width, 2 * w->p);
    w->period = entry(w->t.aux, w->t.aux_width, 2 * w->p + 1);
    if (!w->period) w->period = PERIOD_ENDLESS;
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
        if (w->lo == w->hi) w->lo = w->hi = CURSOR_END;
    } else {
        w->p = w->t.bounds ? entry(w->t.bounds, w->t.bounds_width, parent) : parent;
        w->end =
            w->t.bounds ? entry(w->t.bounds, w->t.bounds_width, parent + 1) : parent + 1;
    }
    settle(w);
}

static void open_lane(ivl_loop *v)
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
    for (int k = 0; k < v->nwalk; k++) {
        ivl_walk *w = &v->walk[k];
        open_walk(w, w->parent ? column_get(w->parent, v->lane) : w->root);
    }
    v->i = v->begin;
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
        if (w->period >= n || (!v->weighs && !v->repeats)) return n;
        size = common_multiple(size, w->period);
        if (size > n / 2) return n;
    }
    return size;
}

static inline int64_t offset(const ivl_walk *w, int64_t i)
{
    const int64_t off = i - w->lo;
    return w->period == PERIOD_ENDLESS || off < w->period ? off : off % w->period;
}

static int put_whole(ivl_loop *v, int n, int64_t e, uint64_t mask)
{
    v->g.icol[0].data[n] = v->i;
    v->len[n] = e - v->i;
    v->row[n] = v->lane;
    for (int k = 0; k < v->nwalk; k++) {
        ivl_walk *w = &v->walk[k];
        const bool there = mask & w->bit;
        v->g.place[w->place].data[n] = there ? w->pos + offset(w, v->i) : NONE;
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
        int64_t off = offset(w, i);
        const int64_t turn = w->period;
        for (int k = 0; k < take; k++) {
            at[k] = w->pos + off;
            off = off + 1 == turn ? 0 : off + 1;
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
        if (v->i >= v->end) {
            v->open = false;
            break;
        }
        uint64_t mask = v->known;
        int64_t e = v->end;
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

/* ---- runs alone ------------------------------------------------------------------ */

/* Where every operand is one of runs that cover the loop's range, masks don't
 * change in a row, and runs are merged without a branch on whose end comes first. */
static bool runs_alone(const ivl_loop *v)
{
    bool driven = v->g.s.l->merge->universe;
    for (int k = 0; k < v->nwalk; k++) {
        const fiber_table *t = &v->walk[k].t;
        if (t->shape != VIEW_RUNS || t->width != 4 || t->lo > v->begin || t->hi < v->end)
            return false;
        driven |= v->walk[k].drives;
    }
    return driven && v->whole && v->nwalk >= 1 && v->nwalk <= 2;
}

/* A row of one operand: its runs are the lanes. */
static int fill_one(ivl_loop *v, int n)
{
    ivl_walk *w = &v->walk[0];
    const int32_t *crd = w->t.crd;
    int64_t *at = v->g.icol[0].data + n, *pos = v->g.place[w->place].data + n;
    int64_t *len = v->len + n;
    const int64_t left = w->end - w->p;
    const int take = left < STRIP - n ? (int)left : STRIP - n;
    const int64_t p = w->p;
    for (int k = 0; k < take; k++) {
        at[k] = crd[p + k];
        pos[k] = p + k;
        v->row[n + k] = v->lane;
    }
    const int inner = take == left ? take - 1 : take;
    for (int k = 0; k < inner; k++)
        len[k] = (int64_t)crd[p + k + 1] - crd[p + k];
    if (take == left) len[inner] = v->end - at[inner];
    if (take == left) v->open = false;
    w->p += take;
    return n + take;
}

/* Rounds of a row in which neither operand is on its last run: no branch on
 * which of them ends first. */
static int merge_runs(const int32_t *ca, const int32_t *cb, int64_t *p, int64_t *q,
                      int64_t pl, int64_t ql, int64_t *at, int64_t *pa, int64_t *pb,
                      int room, int64_t *from)
{
    int64_t x = *p, y = *q, i = *from;
    int n = 0;
    while (n < room && x < pl && y < ql) {
        const int64_t ea = ca[x + 1], eb = cb[y + 1], e = ea < eb ? ea : eb;
        at[n] = i;
        pa[n] = x;
        pb[n++] = y;
        x += ea == e;
        y += eb == e;
        i = e;
    }
    *p = x;
    *q = y;
    *from = i;
    return n;
}

static int fill_two(ivl_loop *v, int n)
{
    ivl_walk *a = &v->walk[0], *b = &v->walk[1];
    int64_t *at = v->g.icol[0].data, *len = v->len;
    int64_t *pa = v->g.place[a->place].data, *pb = v->g.place[b->place].data;
    int64_t p = a->p, q = b->p, i = v->i;
    const int64_t pl = a->end - 1, ql = b->end - 1, end = v->end;
    const int first = n;
    n += merge_runs(a->t.crd, b->t.crd, &p, &q, pl, ql, at + n, pa + n, pb + n, STRIP - n,
                    &i);
    while (n < STRIP && i < end) { /* one of them goes on to the end */
        const int64_t ea = p < pl ? ((const int32_t *)a->t.crd)[p + 1] : end;
        const int64_t eb = q < ql ? ((const int32_t *)b->t.crd)[q + 1] : end;
        const int64_t e = ea < eb ? ea : eb;
        at[n] = i;
        pa[n] = p;
        pb[n++] = q;
        p += ea == e;
        q += eb == e;
        i = e;
    }
    for (int k = first; k + 1 < n; k++)
        len[k] = at[k + 1] - at[k];
    if (n > first) len[n - 1] = i - at[n - 1];
    for (int k = first; k < n; k++)
        v->row[k] = v->lane;
    a->p = p;
    b->p = q;
    v->i = i;
    v->open = i < end;
    return n;
}

/* The row that is open; its range is that of the level's runs, or a part. */
static stc_status fill_runs(machine *mc, ivl_loop *v, int *n)
{
    const merge_desc *m = v->g.s.l->merge;
    uint64_t mask = v->known;
    for (int k = 0; k < v->nwalk; k++) {
        if (v->walk[k].p >= v->walk[k].end) return fill_row(mc, v, n);
        mask |= v->walk[k].bit;
    }
    if (!produces(m, mask)) {
        v->open = false;
        return STC_OK;
    }
    const ivl_walk *w = &v->walk[0];
    const bool part = w->t.lo < v->begin || w->t.hi > v->end;
    if (v->nwalk == 1 && !part) {
        *n = fill_one(v, *n);
    } else if (v->nwalk == 2 && !part && v->walk[1].t.lo == v->begin) {
        *n = fill_two(v, *n);
    } else {
        return fill_row(mc, v, n);
    }
    return STC_OK;
}

/* ---- the strip ------------------------------------------------------------------- */

stc_status interval_fill(machine *mc, ivl_loop *v)
{
    int n = 0;
    const bool alone = runs_alone(v);
    v->nrep = 0;
    v->spelt = false;
    for (int k = 0; k < v->nwalk; k++)
        v->walk[k].absent = false;
    while (n < STRIP && v->nrep < STRIP && v->lane < v->lanes) {
        if (!v->open) open_lane(v);
        if (alone ? fill_runs(mc, v, &n) : fill_row(mc, v, &n)) return mc->cx->diag.status;
        if (!v->open) v->lane++;
    }
    v->g.icol[0].form = COL_ARRAY;
    for (int k = 0; k < v->nwalk; k++) {
        column *c = &v->g.place[v->walk[k].place];
        c->form = COL_ARRAY;
        c->full = !v->walk[k].absent;
        c->ranged = false;
        if (v->nwalk == 1 && alone && c->full && n > 0 &&
            c->data[n - 1] - c->data[0] == n - 1) {
            c->form = COL_STEP;
            c->base = c->data[0];
        }
    }
    v->g.n = n;
    return STC_OK;
}
