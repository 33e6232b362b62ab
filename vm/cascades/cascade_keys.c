/* cascade_keys.c: strings of elements of several fibers a lane.
 *
 * The fibers of many lanes are written out one after another as keys, a number made
 * of lane and coordinate: so many short fibers are one long ascending sequence an
 * operand, and merging (merge_keys.c) knows nothing of rows, of widths, or of how
 * coordinates are stored. An operand without which nothing is produced, and which
 * has far less than the others, isn't merged: it drives, and its keys are looked for
 * in the others' fibers.
 *
 * Taken for a strip of lanes if all fibers are in tables, and no coordinate besides
 * theirs is wanted; all else is cascade_fill.c's.
 */
#include "cascade.h"
#include "../core/coords.h"
#include "../strips/merge_keys.h"
#include <string.h>

/* A key is the lane's number above so many bits of coordinate. */
enum { KEY_BITS = 48 };
#define KEY_COORDS ((INT64_C(1) << KEY_BITS) - 1)

static int64_t crd_of(const fiber_table *t, int64_t p)
{
    return coord_at(t->crd, t->width, t->stride, p);
}

/* The coordinate of index `lo`. */
static int64_t first_coord(const stage *st, const stage_walk *w, int nth)
{
    return st->lo + (w->shift ? column_get(w->shift, nth) : 0);
}

/* ---- a run --------------------------------------------------------------------- */

/* What is merged is ordered: the verifier. */
bool stage_keyable(const stage *st)
{
    const int64_t far = INT64_C(1) << 60;
    if (st->nwalk < 2 || st->g->s.l->merge->universe) return false;
    if (st->lo < -far || st->hi > far || st->hi - st->lo > KEY_COORDS) return false;
    for (int k = 0; k < st->nwalk; k++) {
        const stage_walk *w = &st->walk[k];
        if (!w->tabled || w->t.shape == VIEW_RANGE) return false;
    }
    return true;
}

/* The table by the walkers' numbers, for any presence of what is known as well. */
static void find_table(stage *st)
{
    uint64_t maybe = st->maybe;
    for (int b = 0; st->known >> b; b++)
        if (st->known >> b & 1)
            maybe = table_fix(maybe, b, true) | table_fix(maybe, b, false);
    st->table = 0;
    st->must = ~UINT64_C(0);
    for (uint64_t m = 1; m < UINT64_C(1) << st->nwalk; m++) {
        uint64_t mask = 0;
        for (int k = 0; k < st->nwalk; k++)
            mask |= (m >> k & 1) << (st->walk[k].place - 1);
        if (!(maybe >> mask & 1)) continue;
        st->table |= UINT64_C(1) << m;
        st->must &= m;
    }
}

/* Room for a strip's spans and a string's keys. */
static stc_status allocate(machine *mc, stage *st)
{
    enum { PARTS = 5, KEYS = STRIP + 8 };
    const int count = st->g->s.l->merge->count;
    st->key_size = ((size_t)count * PARTS * sizeof(int64_t) + sizeof(int)) * KEYS;
    st->key_block = mem_alloc(mc->cx, st->key_size);
    if (!st->key_block) return mc->cx->diag.status;
    int64_t *at = st->key_block;
    for (int k = 0; k < count; k++) {
        stage_walk *w = &st->walk[k];
        int64_t **const part[PARTS] = {&w->from, &w->to, &w->key, &w->at, &w->end};
        for (int j = 0; j < PARTS; j++, at += KEYS)
            *part[j] = at;
    }
    st->length = (int *)at;
    return STC_OK;
}

/* ---- the fibers of a strip of lanes --------------------------------------------- */

#define SPANS(W, I)                                                                        \
    static void spans_##W(const stage_walk *w, int first, int lanes)                       \
    {                                                                                      \
        const column *parents = w->parent;                                                 \
        const I *bounds = w->t.bounds;                                                     \
        int64_t *restrict from = w->from, *restrict to = w->to;                            \
        if (parents->form == COL_STEP && parents->base + first >= 0) {                     \
            bounds += parents->base;                                                       \
            for (int k = first; k < lanes; k++) {                                          \
                from[k] = bounds[k];                                                       \
                to[k] = bounds[k + 1];                                                     \
            }                                                                              \
            return;                                                                        \
        }                                                                                  \
        for (int k = first; k < lanes; k++) {                                              \
            const int64_t parent = column_get(parents, k);                                 \
            from[k] = parent < 0 ? 0 : bounds[parent];                                     \
            to[k] = parent < 0 ? 0 : bounds[parent + 1];                                   \
        }                                                                                  \
    }
SPANS(4, int32_t)
SPANS(8, int64_t)

/* One position a parent, or those of its group of equal coordinates. */
static void spans_of_parents(const stage_walk *w, int first, int lanes)
{
    const column *parent = w->parent;
    const int64_t each = w->t.slots ? w->t.slots : 1;
    for (int k = first; k < lanes; k++) {
        const int64_t p = column_get(parent, k);
        const int64_t end = parent->ranged ? column_end(parent, k) : p + 1;
        w->from[k] = p < 0 ? 0 : p * each;
        w->to[k] = p < 0 ? 0 : end * each;
    }
}

/* Fibers are cut to the loop's range: most see nothing of a small part of a tensor,
 * which their ends tell. */
#define CUT(W, I)                                                                          \
    static void cut_##W(const stage *st, const stage_walk *w, int first, int lanes)        \
    {                                                                                      \
        const int64_t wide = st->hi - st->lo;                                              \
        int64_t *restrict from = w->from, *restrict to = w->to;                            \
        for (int k = first; k < lanes; k++) {                                              \
            const int64_t p = from[k], n = to[k] - p;                                      \
            const I *crd = (const I *)w->t.crd + p;                                        \
            if (n <= 0) continue;                                                          \
            const int64_t lo = first_coord(st, w, k), hi = lo + wide;                      \
            if ((crd[0] >= hi) | (crd[n - 1] < lo)) {                                      \
                to[k] = p;                                                                 \
                continue;                                                                  \
            }                                                                              \
            if (crd[0] < lo) from[k] = p + coords_below(crd, W, n, lo);                    \
            if (crd[n - 1] >= hi) to[k] = p + coords_below(crd, W, n, hi);                 \
        }                                                                                  \
    }
CUT(4, int32_t)
CUT(8, int64_t)

/* False: it is too far off for sums. */
static bool cut(const stage *st, const stage_walk *w, int first, int lanes)
{
    const int64_t far = INT64_C(1) << 60;
    for (int k = first; w->shift && k < lanes; k++)
        if (column_get(w->shift, k) < -far || column_get(w->shift, k) > far) return false;
    if (w->sifts) return true;
    if (w->t.width == 4) {
        cut_4(st, w, first, lanes);
    } else {
        cut_8(st, w, first, lanes);
    }
    return true;
}

static bool find_spans(const stage *st, stage_walk *w, int first, int lanes)
{
    const column *parent = w->parent;
    for (int k = first; w->t.bounds && parent->ranged && k < lanes; k++)
        if (column_get(parent, k) >= 0 &&
            column_end(parent, k) != column_get(parent, k) + 1)
            return false;
    if (!w->t.bounds) {
        spans_of_parents(w, first, lanes);
    } else if (w->t.bounds_width == 4) {
        spans_4(w, first, lanes);
    } else {
        spans_8(w, first, lanes);
    }
    w->sifts = w->t.shape == VIEW_GAPS || (w->trims && w->t.stride != w->t.width);
    return !w->trims || cut(st, w, first, lanes);
}

/* Lanes in which nothing can be produced have nothing. */
static void drop_dead(const stage *st, int from, int lanes)
{
    const uint64_t live = table_live(st->table);
    for (int k = from; st->must && k < lanes; k++) {
        uint64_t left = 0;
        for (int j = 0; j < st->nwalk; j++)
            left |= (uint64_t)(st->walk[j].from[k] < st->walk[j].to[k]) << j;
        const bool on = live >> left & 1;
        for (int j = 0; j < st->nwalk; j++)
            st->walk[j].to[k] = on ? st->walk[j].to[k] : st->walk[j].from[k];
    }
}

/* So much of each fiber at most that a string is full. */
static void find_lengths(const stage *st, int from, int lanes)
{
    int *length = st->length;
    memset(length + from, 0, (size_t)(lanes - from) * sizeof *length);
    for (int j = 0; j < st->nwalk; j++) {
        const int64_t *begin = st->walk[j].from, *end = st->walk[j].to;
        for (int k = from; k < lanes; k++) {
            const int64_t n = end[k] - begin[k];
            length[k] += n < STRIP + 1 ? (int)n : STRIP + 1;
        }
    }
}

stc_status stage_keys_start(machine *mc, stage *st)
{
    const int first = st->lane, lanes = st->lanes;
    st->keyed = false;
    if (!st->key_block && allocate(mc, st)) return mc->cx->diag.status;
    for (int k = 0; k < st->nwalk; k++)
        if (!find_spans(st, &st->walk[k], first, lanes)) return STC_OK;
    find_table(st);
    drop_dead(st, first, lanes);
    find_lengths(st, first, lanes);
    st->keyed = true;
    return STC_OK;
}

/* ---- keys ---------------------------------------------------------------------- */

/* Keys are written in blocks, and room is left for one more than fits: how long a short
 * fiber is, no branch could tell. */
enum { BLOCK = 8 };

/* The lanes' fibers as they are. Positions mostly follow each other from fiber to
 * fiber: then the k-th key's is base + k. */
#define WRITE_PLAIN(W, I)                                                                  \
    static inline void block_##W(int64_t *restrict key, const I *restrict crd, int64_t n,  \
                                 int64_t zero)                                             \
    {                                                                                      \
        for (int64_t j = 0; j < n; j += BLOCK)                                             \
            for (int u = 0; u < BLOCK; u++)                                                \
                key[j + u] = zero + crd[j + u];                                            \
    }                                                                                      \
    static void write_plain_##W(const stage *st, stage_walk *w, int from, int to,          \
                                int64_t room)                                              \
    {                                                                                      \
        const I *crd = w->t.crd;                                                           \
        const int64_t *restrict begin = w->from, *restrict end = w->to;                    \
        const int64_t last = end[to - 1] - (BLOCK - 1); /* up to there blocks are read */  \
        int64_t *restrict key = w->key;                                                    \
        int64_t n = 0, shifts = 0;                                                         \
        w->base = NONE;                                                                    \
        for (int k = from; k < to; k++) {                                                  \
            const int64_t p = begin[k], left = end[k] - p;                                 \
            if (left == 0) continue;                                                       \
            const int64_t take = left < room - n ? left : room - n;                        \
            if (take == 0) break;                                                          \
            const int64_t zero = ((int64_t)k << KEY_BITS) - first_coord(st, w, k);         \
            if (w->base == NONE) w->base = p;                                              \
            shifts |= (p - n) ^ w->base;                                                   \
            if (p + take <= last)                                                          \
                block_##W(key + n, crd + p, take, zero);                                   \
            else                                                                           \
                for (int64_t j = 0; j < take; j++)                                         \
                    key[n + j] = zero + crd[p + j];                                        \
            n += take;                                                                     \
            w->reached = p + take;                                                         \
        }                                                                                  \
        w->nkey = (int)n;                                                                  \
        w->follows = shifts == 0;                                                          \
    }
WRITE_PLAIN(4, int32_t)
WRITE_PLAIN(8, int64_t)

/* Where they don't. */
static void write_positions(stage_walk *w, int from, int to)
{
    const int64_t *restrict begin = w->from, *restrict end = w->to;
    const int64_t all = w->nkey;
    int64_t *restrict at = w->at, n = 0;
    for (int k = from; k < to && n < all; k++) {
        const int64_t p = begin[k], left = end[k] - p;
        if (left == 0) continue;
        const int64_t take = left < all - n ? left : all - n;
        for (int64_t j = 0; j < take; j += BLOCK)
            for (int u = 0; u < BLOCK; u++)
                at[n + j + u] = p + j + u;
        n += take;
    }
}

/* Fibers of any stride, some coordinates of which are left out: those outside the
 * range, and that of a gap; equal ones are one key. */
static void write_sifted(const stage *st, stage_walk *w, int from, int to, int64_t room)
{
    const uint64_t range = (uint64_t)st->hi - (uint64_t)st->lo;
    int64_t n = 0;
    for (int k = from; k < to && n < room; k++) {
        const uint64_t first = (uint64_t)first_coord(st, w, k);
        const int64_t zero = (int64_t)k << KEY_BITS;
        int64_t p = w->from[k];
        while (p < w->to[k] && n < room) {
            const int64_t x = crd_of(&w->t, p);
            const uint64_t i = (uint64_t)x - first;
            w->key[n] = zero + (int64_t)(i & (uint64_t)KEY_COORDS);
            w->at[n] = p++;
            while (w->dups && p < w->to[k] && crd_of(&w->t, p) == x)
                p++;
            w->end[n] = p;
            n += i < range;
        }
        w->reached = p;
    }
    w->nkey = (int)n;
    w->follows = false;
}

/* The keys of lanes [from, to), at most `room`. */
static void write_keys(const stage *st, stage_walk *w, int from, int to, int64_t room)
{
    const bool plain = !w->sifts && !w->dups && w->t.stride == w->t.width;
    w->reached = w->from[to - 1];
    if (!plain) {
        write_sifted(st, w, from, to, room);
    } else if (w->t.width == 4) {
        write_plain_4(st, w, from, to, room);
    } else {
        write_plain_8(st, w, from, to, room);
    }
    if (plain && !w->follows) write_positions(w, from, to);
    w->key[w->nkey] = KEY_END;
}

/* ---- elements ------------------------------------------------------------------ */

/* What is written of each walker's fibers; `to`: the lane up to which that is. */
static void make_lists(const stage *st, int to, key_list *list)
{
    for (int k = 0; k < st->nwalk; k++) {
        const stage_walk *w = &st->walk[k];
        column *c = &st->g->place[w->place];
        list[k] = (key_list){.key = w->key,
                             .n = w->nkey,
                             .more = w->reached < w->to[to - 1],
                             .base = w->follows ? w->base : 0,
                             .at = w->follows ? NULL : w->at,
                             .end = w->dups ? w->end : NULL,
                             .to = c->data,
                             .to_end = c->end};
    }
}

/* Keys looked for in the fibers of w: where they are, or NONE. Without a branch on
 * what is found. */
#define LOOK(W, I)                                                                         \
    static void look_##W(const stage *st, const stage_walk *w, const int64_t *key, int n)  \
    {                                                                                      \
        const I *crd = w->t.crd;                                                           \
        const int64_t wide = w->t.stride / (int64_t)sizeof(I);                             \
        int64_t *to = st->g->place[w->place].data;                                         \
        for (int k = 0; k < n; k++) {                                                      \
            const int nth = (int)(key[k] >> KEY_BITS);                                     \
            const int64_t x = (key[k] & KEY_COORDS) + first_coord(st, w, nth);             \
            int64_t p = w->from[nth], left = w->to[nth] - p;                               \
            if (left == 0) {                                                               \
                to[k] = NONE;                                                              \
                continue;                                                                  \
            }                                                                              \
            while (left > 1) {                                                             \
                const int64_t half = left / 2;                                             \
                p += crd[(p + half) * wide] <= x ? half : 0;                               \
                left -= half;                                                              \
            }                                                                              \
            to[k] = crd[p * wide] == x ? p : NONE;                                         \
        }                                                                                  \
    }
LOOK(4, int32_t)
LOOK(8, int64_t)

/* The last of equal coordinates was found. */
static void find_groups(const stage *st, const stage_walk *w, const int64_t *key, int n)
{
    column *c = &st->g->place[w->place];
    for (int k = 0; k < n; k++) {
        const int nth = (int)(key[k] >> KEY_BITS);
        int64_t p = c->data[k];
        c->end[k] = p < 0 ? NONE : p + 1;
        while (p > w->from[nth] && crd_of(&w->t, p - 1) == crd_of(&w->t, p))
            p--;
        c->data[k] = p;
    }
}

/* The driver's keys, those of them that may produce. */
static int drive(const stage *st, const stage_walk *driver)
{
    strip *g = st->g;
    int64_t *key = g->icol[0].data;
    uint64_t *mask = g->mask;
    int n = driver->nkey, kept = 0;
    memcpy(key, driver->key, (size_t)n * sizeof *key);
    memset(mask, 0, (size_t)n * sizeof *mask);
    for (int j = 0; j < st->nwalk; j++) {
        const stage_walk *w = &st->walk[j];
        int64_t *to = g->place[w->place].data;
        if (w == driver) {
            for (int k = 0; k < n; k++)
                to[k] = w->follows ? w->base + k : w->at[k];
            for (int k = 0; w->dups && k < n; k++)
                g->place[w->place].end[k] = w->end[k];
        } else {
            w->t.width == 4 ? look_4(st, w, key, n) : look_8(st, w, key, n);
            if (w->dups) find_groups(st, w, key, n);
        }
        for (int k = 0; k < n; k++)
            mask[k] |= (uint64_t)(to[k] >= 0) << j;
    }
    for (int k = 0; k < n; k++) {
        g->keep[kept] = k;
        kept += (int)(st->table >> mask[k] & 1);
    }
    for (int k = 0; k < kept; k++)
        key[k] = key[g->keep[k]];
    for (int j = 0; j < st->nwalk; j++) {
        column *c = &g->place[st->walk[j].place];
        for (int k = 0; k < kept; k++)
            c->data[k] = c->data[g->keep[k]];
        for (int k = 0; st->walk[j].dups && k < kept; k++)
            c->end[k] = c->end[g->keep[k]];
    }
    return kept;
}

/* An operand that is needed, where looking for its keys in the others costs less
 * than going through those; NULL: there is none. */
static stage_walk *find_driver(stage *st, int from, int to)
{
    enum { LOOK_COST = 3 }; /* of one key in one fiber, in steps of merging */
    int64_t all = 0, least = INT64_MAX;
    stage_walk *driver = NULL;
    if (!st->must) return NULL;
    for (int j = 0; j < st->nwalk; j++) {
        stage_walk *w = &st->walk[j];
        int64_t n = 0;
        if (w->t.shape != VIEW_COORDS || w->t.stride % w->t.width) return NULL;
        for (int k = from; k < to; k++)
            n += w->to[k] - w->from[k];
        all += n;
        if (!(st->must >> j & 1) || n >= least) continue;
        least = n;
        driver = w;
    }
    return all - least > LOOK_COST * least * (st->nwalk - 1) ? driver : NULL;
}

/* ---- a string ------------------------------------------------------------------ */

/* Lanes whose fibers fill a string at most. */
static int fill_lanes(stage *st, int from, int to)
{
    stage_walk *driver = find_driver(st, from, to);
    st->lane = to;
    if (driver) {
        write_keys(st, driver, from, to, STRIP);
        return drive(st, driver);
    }
    for (int k = 0; k < st->nwalk; k++)
        write_keys(st, &st->walk[k], from, to, STRIP);
    key_list list[WALK_MAX];
    make_lists(st, to, list);
    return keys_merge(list, st->nwalk, st->table, st->g->icol[0].data);
}

/* What driver's keys went past is behind. */
static int drive_part(stage *st, stage_walk *driver)
{
    const int nth = st->lane;
    write_keys(st, driver, nth, nth + 1, STRIP);
    const int n = drive(st, driver);
    driver->from[nth] = driver->reached;
    for (int j = 0; j < st->nwalk && driver->nkey > 0; j++) {
        stage_walk *w = &st->walk[j];
        const int64_t last = driver->key[driver->nkey - 1] & KEY_COORDS;
        if (w != driver)
            w->from[nth] = coord_search(w->t.crd, w->t.width, w->t.stride, w->from[nth],
                                        w->to[nth], last + first_coord(st, w, nth));
    }
    return n;
}

/* A part of one lane: of each fiber so many keys that a string has room for all. */
static int merge_part(stage *st)
{
    const int nth = st->lane;
    key_list list[WALK_MAX];
    int64_t all = 0;
    for (int j = 0; j < st->nwalk; j++)
        all += st->walk[j].to[nth] - st->walk[j].from[nth];
    for (int j = 0; j < st->nwalk; j++) {
        stage_walk *w = &st->walk[j];
        const int64_t n = w->to[nth] - w->from[nth];
        write_keys(st, w, nth, nth + 1, keys_share(STRIP, st->nwalk, n, all));
    }
    make_lists(st, nth + 1, list);
    keys_cut(list, st->nwalk);
    for (int j = 0; j < st->nwalk; j++)
        st->walk[j].from[nth] = keys_reach(&list[j], st->walk[j].nkey, st->walk[j].reached);
    return keys_merge(list, st->nwalk, st->table, st->g->icol[0].data);
}

static int fill_part(stage *st)
{
    const int nth = st->lane;
    stage_walk *driver = find_driver(st, nth, nth + 1);
    const int n = driver ? drive_part(st, driver) : merge_part(st);
    drop_dead(st, nth, nth + 1);
    find_lengths(st, nth, nth + 1);
    st->open = st->g->ends; /* the lane may be left (cascade_ends.c) */
    return n;
}

/* Lane and coordinate from the keys. */
static void split_keys(const stage *st, int n)
{
    int64_t *at = st->g->icol[0].data;
    int *restrict row = st->row;
    for (int k = 0; k < n; k++)
        row[k] = (int)(at[k] >> KEY_BITS);
    for (int k = 0; k < n; k++)
        at[k] = (at[k] & KEY_COORDS) + st->lo;
}

int stage_fill_keys(stage *st)
{
    const int lanes = st->lanes;
    int to = st->lane, all = 0;
    st->open = false;
    for (; to < lanes && all + st->length[to] <= STRIP; to++) {
        if (st->length[to] >= LONG_LANE && all > 0) break;
        all += st->length[to];
        if (all >= LONG_LANE && all == st->length[to]) { /* by itself */
            to++;
            break;
        }
    }
    if (all == 0 && to > st->lane) {
        st->lane = to;
        return 0;
    }
    const int n = to == st->lane ? fill_part(st) : fill_lanes(st, st->lane, to);
    split_keys(st, n);
    return n;
}
