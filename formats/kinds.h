/* kinds.h: what the files level_*.c share: small helpers for cursors, checks
 * and appending. Nobody else includes it.
 */
#ifndef STC_FORMATS_KINDS_H
#define STC_FORMATS_KINDS_H

#include "level.h"

static inline void cursor_used_up(cursor *c)
{
    c->lo = c->hi = CURSOR_END;
    c->pos = c->pos_end = NONE;
    c->p = c->end = 0;
}

static inline void cursor_begin(cursor *c, const level *lv, const cursor *up)
{
    c->lv = lv;
    c->up = up;
    c->at = c->at_end = NONE;
    c->coord = 0;
    c->period = PERIOD_ENDLESS;
}

/* The parent positions below which a cursor opens. False: absent there. */
static inline bool parent_range(const cursor *up, int64_t *begin, int64_t *end)
{
    *begin = up ? up->at : 0;
    *end = up ? up->at_end : 1;
    return *begin != NONE;
}

static inline bool in_extent(const level *lv, int64_t i)
{
    return i >= lv->base && i - lv->base < lv->extent;
}

/* What a coordinate array holds for an unlabeled position: -1 for plain modes. */
static inline int64_t unlabeled(const level *lv)
{
    return lv->base - 1;
}

/* What an array of coordinates must be able to hold. */
static inline int64_t largest_coord(const level *lv)
{
    const int64_t top = lv->base + lv->extent - 1;
    return top > 1 - lv->base ? top : 1 - lv->base;
}

/* The k-th of the coordinates that locate_many is given. */
static inline int64_t crd_at(const void *crd, int32_t width, int32_t stride, int64_t k)
{
    const char *p = (const char *)crd + k * stride;
    return width == 4 ? *(const int32_t *)p : *(const int64_t *)p;
}

/* The last p in [begin, end) with a[p] <= i; a is ascending, a[begin] <= i. */
static inline int64_t index_last_below(const index_array *a, int64_t begin, int64_t end,
                                       int64_t i)
{
    while (end - begin > 1) {
        const int64_t mid = begin + (end - begin) / 2;
        if (index_get(a, mid) <= i) {
            begin = mid;
        } else {
            end = mid;
        }
    }
    return begin;
}

/* Of an array's elements [at, end), without a branch for each: whether all are in [lo, lo +
 * wide); how many are less (or, `strict`, no more) than the one before, which the first of
 * the array hasn't; how many of those are that where bounds [at, end), ascending from 0,
 * lead to. */
bool index_within(const index_array *a, int64_t at, int64_t end, int64_t lo, int64_t wide);
int64_t index_falls(const index_array *a, int64_t at, int64_t end, bool strict);
int64_t index_falls_at(const index_array *a, const index_array *bounds, int64_t at,
                       int64_t end, bool strict);
stc_status check_array(ctx *cx, const index_array *a, const char *what, int64_t len);
/* Positions of `parents` fibers: from 0, monotone, up to the coordinates' number. */
stc_status check_bounds(ctx *cx, const level *lv, int64_t parents, const char *what);
stc_status bad_coord(ctx *cx, const level *lv, int64_t p, int64_t v);
stc_status refuse_append(ctx *cx, const level *lv, int64_t i, int64_t last);
stc_status refuse_edges(ctx *cx, int64_t parent, int64_t closed);
/* parents * extent, or an error. */
stc_status level_size(ctx *cx, int64_t parents, int64_t extent, int64_t *size);

/* Levels with a position for each coordinate of each parent, as the functions of a kind
 * (extent_ready: check, append_finish); and those with one for each parent. level.c. */
static inline bool fiber_opens(cursor *c, const level *lv, const cursor *up,
                               int64_t *parent)
{
    int64_t end;
    cursor_begin(c, lv, up);
    if (parent_range(up, parent, &end) && lv->extent) return true;
    cursor_used_up(c);
    return false;
}
void extent_seek(cursor *c, int64_t i);
int64_t extent_size(const level *lv, int64_t parents);
stc_status extent_ready(ctx *cx, level *lv, int64_t parents);
stc_status extent_pack(ctx *cx, level *lv, pack_in *in);
int64_t chain_size(const level *lv, int64_t parents);

/* Levels with bounds per parent and coordinates (compressed, hashed, rle): as
 * the functions of a kind, and the shared part of appending. segments.c. */
void segments_view(const level *lv, int64_t parent, int64_t parent_coord, fiber_view *v);
/* Before its first coordinate; false: it is used up, there is no parent. */
static inline bool segments_open(cursor *c, const level *lv, const cursor *up)
{
    int64_t begin, end;
    cursor_begin(c, lv, up);
    if (!parent_range(up, &begin, &end)) {
        cursor_used_up(c);
        return false;
    }
    c->p = index_get(&lv->a[STC_POS], begin);
    c->end = index_get(&lv->a[STC_POS], end);
    return true;
}
void segments_table(const level *lv, fiber_table *out);
/* Cursors over coordinates that lie side by side: one past the positions before `end` that
 * share that of p; at the group of equal ones that begins at c->p; at the next. */
int64_t group_end(const level *lv, int64_t p, int64_t end);
void group_settle(cursor *c);
void group_open(cursor *c, const level *lv, const cursor *up);
void group_next(cursor *c);
/* The first group of at least coordinate i: gallops, then halves, about log of the
 * distance. */
void group_seek(cursor *c, int64_t i);
/* Appends coordinate i, which comes behind the fiber's last one where it ascends. */
stc_status segments_coord(ctx *cx, level *lv, int64_t i, bool ascends, int64_t *pos);
int64_t segments_size(const level *lv, int64_t parents);
stc_status segments_init(ctx *cx, level *lv, int64_t parents);
stc_status segments_edges(ctx *cx, level *lv, int64_t parent);
stc_status segments_finish(ctx *cx, level *lv, int64_t parents);
stc_status segments_pack(ctx *cx, level *lv, pack_in *in);
/* Whether a nonunique level needs no second position for entry e, which has
 * the coordinate of the one before it: where the branchless levels below agree
 * too, both are the same coordinates so far. */
bool pack_same_chain(const pack_in *in, int64_t e);
/* What refuses a format's index32 when the data outgrew it. */
stc_status segments_width(ctx *cx, const level *lv);
/* In bulk: level.h. */
stc_status segments_room(ctx *cx, level *lv, int64_t n, int64_t parents, append_room *out);
void segments_done(level *lv, int64_t n, int64_t parents);
void segments_again(level *lv, int64_t parent);
/* The first coordinate that occurs twice in an unordered fiber. */
stc_status segments_unique(ctx *cx, const level *lv, int64_t parents);

/* Edges of levels all of whose places are there beforehand (bytemap, slots): which parent a
 * place is below follows from where it is. */
stc_status places_edges(ctx *cx, level *lv, int64_t parent);
/* The view of kinds whose fibers no array shows as they are: free slots stand between
 * others, an offset needs two ancestors. */
void no_view(const level *lv, int64_t parent, int64_t parent_coord, fiber_view *v);

/* Levels whose intervals cover their fibers (rle, lz77): as the functions of a kind.
 * until: the open fiber is covered up to coordinate i; fibers: those of parents before
 * `parent` are closed. covers.c. */
void cover_open(cursor *c, const level *lv, const cursor *up);
void cover_step(cursor *c);
void cover_seek(cursor *c, int64_t i);
int64_t cover_size(const level *lv, int64_t parents);
stc_status cover_until(ctx *cx, level *lv, int64_t i);
stc_status cover_fibers(ctx *cx, level *lv, int64_t parent);
stc_status cover_edges(ctx *cx, level *lv, int64_t parent);
int64_t cover_next(const level *lv, int64_t parent, int64_t i);

/* Runs put behind those of a level that keeps bounds, of which n stay: `at` is the position
 * that the first of them would get, and f the number of the first bound that is to be put
 * right. Fibers begin at `base`. runs: coordinates lo, elements x of `size` bytes, behind
 * c[0 … n) and v[0 … n), which may be where they are; false: not for elements of that size.
 * bounds: those below position p, of which `gone` are fewer; the next one. run_join.c. */
typedef struct run_joining {
    index_array *pos;
    int64_t n, at, f;
    int32_t base;
} run_joining;
bool run_join(run_joining *j, int32_t *c, void *v, const int32_t *lo, const void *x,
              int64_t total, size_t size);
int64_t move_bounds(index_array *pos, int64_t f, int64_t p, int64_t gone);

/* Groups of entries with one coordinate below one parent, and the gaps between
 * them, in order, with equal neighbours told: for kinds that store equal
 * things once. runs.c. */
typedef struct run_walk {
    const level *lv;
    const pack_in *in;
    int64_t e;            /* the next entry                                    */
    int64_t parent, next; /* where the walk is: the next coordinate to be told */
    /* The step just made: coordinates [lo, hi), entries [begin, end), none for
     * a gap; same: equal to the step before it in the same fiber. */
    int64_t lo, hi, begin, end;
    bool first, same;
} run_walk;
void run_walk_start(run_walk *w, const level *lv, const pack_in *in);
bool run_walk_fiber(run_walk *w, int64_t parent); /* false: extent 0 */
bool run_walk_step(run_walk *w);                  /* false: the fiber is used up */

#endif
