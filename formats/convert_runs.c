/* convert_runs.c: conversions between tensors of runs, run by run.
 *
 * What tensor_convert tries where both tensors have all elements in the order of their
 * modes, and one level of runs or repeats: a stream, rows of runs, runs of pixels. Either
 * is then one line of elements; the source's intervals are cut where fibers of the target
 * end, and what of them are whole coordinates there is appended as one region, or as a
 * repeat of a few coordinates. So the cost is intervals and fibers; elements count only
 * where they are literals, or a coordinate is cut.
 */
#include "internal.h"
#include <string.h>

/* A tensor as a line: `fibers` fibers of `extent` coordinates of `below` elements. */
typedef struct line {
    int level;
    int64_t fibers, extent, below;
} line;

/* Whether level l takes the modes from *mode on. */
static bool takes_modes(const format *f, int l, int *mode)
{
    const level_map *m = &f->level[l].map;
    if ((m->op != MAP_MODE && m->op != MAP_FLAT) || m->mode != *mode) return false;
    *mode += m->op == MAP_FLAT ? m->modes : 1;
    return true;
}

static bool line_of(const tensor *t, line *out)
{
    *out = (line){.level = -1, .fibers = 1, .below = 1};
    int mode = 0;
    for (int l = 0; l < t->fmt.levels; l++) {
        const level *lv = &t->level[l];
        const bool places = lv->kind->caps & CAP_INSERT && !lv->kind->arrays;
        if (!takes_modes(&t->fmt, l, &mode) || !(lv->props & PROP_FULL)) return false;
        if (!places && (out->level >= 0 || !(lv->kind->caps & CAP_APPEND_REGION)))
            return false;
        if (!places) {
            out->level = l;
            out->extent = lv->extent;
        } else if (!size_mul(out->level < 0 ? out->fibers : out->below, lv->extent,
                             out->level < 0 ? &out->fibers : &out->below)) {
            return false;
        }
    }
    return out->level >= 0 && out->extent > 0 && out->below > 0;
}

/* ---- the target ------------------------------------------------------------------------
 */

enum { COORDS = 256 }; /* that are appended at once */

typedef struct sink {
    tensor *t;
    level *lv;
    line of;
    size_t size;
    int64_t at;   /* elements so far                                          */
    int64_t open; /* the position of the coordinate that isn't whole yet      */
} sink;

/* An interval of the source: element k is at vals[(at + k) % period]. */
typedef struct piece {
    const char *vals;
    int64_t at, period, left;
    int64_t coords, first; /* whole ones of the target so far, the first one's position */
} piece;

/* n elements from the piece into values from position p's element `to` on. */
static void copy_piece(sink *s, piece *x, int64_t to, int64_t n)
{
    char *v = (char *)s->t->vals + (size_t)to * s->size;
    s->at += n;
    x->left -= n;
    while (n > 0) {
        const int64_t part = x->period - x->at < n ? x->period - x->at : n;
        memcpy(v, x->vals + (size_t)x->at * s->size, (size_t)part * s->size);
        v += (size_t)part * s->size;
        x->at = (x->at + part) % x->period;
        n -= part;
    }
}

/* What is left of a coordinate that an interval before this one began, or the beginning of
 * one that goes on in the next. */
static stc_status put_part(sink *s, piece *x)
{
    const int64_t in = s->at % s->of.below, rest = s->of.below - in;
    const int64_t i = s->at / s->of.below, fiber = i / s->of.extent;
    if (!in &&
        (s->lv->kind->append_coord(s->t->cx, s->lv, fiber, i % s->of.extent, &s->open) ||
         tensor_extend_values(s->t, (s->open + 1) * s->of.below)))
        return s->t->cx->diag.status;
    copy_piece(s, x, s->open * s->of.below + in, rest < x->left ? rest : x->left);
    return STC_OK;
}

/* `n` coordinates, each by itself; or, `one`, as one. Gives the first one's position. */
static stc_status put_coords(sink *s, piece *x, int64_t n, bool one, int64_t *first)
{
    int64_t lo[COORDS], len[COORDS], pos[COORDS];
    *first = NONE;
    while (n > 0) {
        const int64_t i = s->at / s->of.below, some = one ? 1 : n < COORDS ? n : COORDS;
        for (int64_t k = 0; k < some; k++) {
            lo[k] = i % s->of.extent + k;
            len[k] = one ? n : 1;
        }
        if (s->lv->kind->append_regions(s->t->cx, s->lv, i / s->of.extent, some, lo, len,
                                        pos) ||
            tensor_extend_values(s->t, (pos[some - 1] + 1) * s->of.below) ||
            work_done(s->t->cx, (uint64_t)some))
            return s->t->cx->diag.status;
        if (*first == NONE) *first = pos[0];
        copy_piece(s, x, pos[0] * s->of.below, some * s->of.below);
        if (!one) {
            n -= some;
            continue;
        }
        s->at += (n - 1) * s->of.below;
        x->left -= (n - 1) * s->of.below;
        n = 0;
    }
    return STC_OK;
}

/* `n` coordinates of a piece whose first `round` are stored, and come again and again. */
static stc_status put_repeat(sink *s, piece *x, int64_t n, int64_t round)
{
    const int64_t i = s->at / s->of.below, fiber = i / s->of.extent, lo = i % s->of.extent;
    const int64_t k = x->coords % round, rest = k ? round - k : 0,
                  part = rest < n ? rest : n;
    if ((part && s->lv->kind->append_repeat(s->t->cx, s->lv, fiber, lo, lo + part,
                                            x->first + k, round - k)) ||
        (part < n && s->lv->kind->append_repeat(s->t->cx, s->lv, fiber, lo + part, lo + n,
                                                x->first, round)))
        return s->t->cx->diag.status;
    s->at += n * s->of.below;
    x->left -= n * s->of.below;
    x->at = (x->at + n % round * s->of.below) % x->period;
    return STC_OK;
}

/* How many coordinates come again and again in a piece: each of `below` elements begins
 * anew after so many. */
static int64_t round_of(int64_t period, int64_t below)
{
    int64_t a = period, b = below;
    while (b) {
        const int64_t c = a % b;
        a = b;
        b = c;
    }
    return period / a;
}

/* Whole coordinates, as many as the piece and the fiber have. The first round of a repeat
 * is stored, over several fibers if need be; what comes after it names it. */
static stc_status put_whole(sink *s, piece *x)
{
    const int64_t room = s->of.extent - s->at / s->of.below % s->of.extent;
    const int64_t some = x->left / s->of.below, round = round_of(x->period, s->of.below);
    int64_t n = some < room ? some : room, pos;
    if (round == 1 || !s->lv->kind->append_repeat)
        return put_coords(s, x, n, round == 1, &pos);
    const int64_t missing = round - x->coords;
    stc_status st;
    if (missing > 0) {
        if (missing < n) n = missing;
        st = put_coords(s, x, n, false, &pos);
        if (!x->coords) x->first = pos;
    } else {
        st = put_repeat(s, x, n, round);
    }
    x->coords += n;
    return st;
}

static stc_status put_piece(sink *s, piece *x)
{
    while (x->left > 0) {
        const bool part = s->at % s->of.below || x->left < s->of.below;
        if (part ? put_part(s, x) : put_whole(s, x)) return s->t->cx->diag.status;
    }
    return STC_OK;
}

/* ---- the source ------------------------------------------------------------------------
 */

static bool all_equal(const char *vals, int64_t n, size_t size)
{
    return !memcmp(vals, vals + size, (size_t)(n - 1) * size);
}

static stc_status walk_fiber(const tensor *t, const line *of, int64_t fiber, sink *s)
{
    const cursor up = {.at = fiber, .at_end = fiber + 1};
    const level *lv = &t->level[of->level];
    cursor c;
    for (cursor_open(&c, lv, of->level ? &up : NULL); c.lo != CURSOR_END; cursor_next(&c)) {
        const int64_t n = c.hi - c.lo, period = c.period < n ? c.period : n;
        piece x = {.vals = (const char *)t->vals + (size_t)(c.pos * of->below) * s->size,
                   .period = period * of->below,
                   .left = n * of->below};
        if (all_equal(x.vals, x.period, s->size)) x.period = 1;
        if (put_piece(s, &x) || work_done(t->cx, 1)) return t->cx->diag.status;
    }
    return STC_OK;
}

stc_status convert_by_runs(const tensor *t, tensor *c, bool *done)
{
    line from;
    sink s = {.t = c, .size = type_size(t->type)};
    if (t->type != c->type || !line_of(t, &from) || !line_of(c, &s.of) || !from.fibers ||
        !format_appends(&c->fmt))
        return STC_OK;
    *done = true;
    s.lv = &c->level[s.of.level];
    if (tensor_begin(c)) return c->cx->diag.status;
    for (int64_t k = 0; k < from.fibers; k++)
        if (walk_fiber(t, &from, k, &s)) return c->cx->diag.status;
    /* Repeats were looked for when t was made; runs that were cut are joined. */
    const bool joined =
        s.lv->kind->append_repeat && s.lv->kind == t->level[from.level].kind;
    return tensor_close(c, !joined);
}
