/* blocks.c: nests over one sparse operand that is stored in blocks or diagonals, in
 * the order in which it is stored.
 *
 * Such formats have levels whose coordinates, together, are those of a mode: block
 * and place in it, diagonal and row. What the program loops over are the levels
 * (native.c); an affine nest (affine.h) has found that places in the result and in
 * dense factors are linear in their indices, and that some sums of them have to be
 * within an extent, since the last block may hang over the edge.
 *
 * The nest's steps are the operand's levels, outermost first, then the indices that
 * it doesn't have. The innermost ones run as one loop each: a run of places, blocks
 * of runs along a fiber, coordinates of a fiber and of the level below. A step
 * that completes a bounded sum is cut to what lies inside. Levels are asked for their
 * tables, or for a view of each fiber; one that has a single child for each parent,
 * where others imply it, is no step at all. (Formats paper, §3.1 and §6: the levels
 * of BCSR and DIA as loops.)
 */
#include "../../formats/recipe.h"
#include "affine.h"
#include "../super/super.h"
#include <string.h>

enum { STEPS = AFFINE_INDICES, LINES = AFFINE_LOADS + AFFINE_BOUNDS };

typedef enum step_way { WAY_RANGE, WAY_VIEW, WAY_COORDS, WAY_INDEX } step_way;

/* How the rest of the nest runs, from some step on. */
typedef enum tail_way { TAIL_POINT, TAIL_RUN, TAIL_BLOCKS, TAIL_ENTRIES } tail_way;

typedef struct walk_step {
    uint8_t way;
    bool checked; /* COORDS: some may be outside of the index's range */
    uint32_t cut; /* bounds that are complete here                    */
    int64_t lo, hi;
    int64_t coef[LINES]; /* of result, factors, bounds                  */
    const affine_level *lv;
    const level *level;
} walk_step;

typedef struct walk walk;
typedef void (*run_kernel)(const walk *w, const walk_step *s, int64_t n, int64_t pos,
                           int64_t by, const int64_t *at);
typedef void (*blocks_kernel)(walk *w, const int64_t *at, int64_t begin, int64_t end);
typedef void (*row_kernel)(walk *w, const walk_step *s, int64_t lo, int64_t hi,
                           int64_t first, const int64_t *at);

struct walk {
    machine *mc;
    const affine *a;
    walk_step step[STEPS];
    int nstep, tail_at, nline, nbound;
    int block; /* the step whose coordinates have blocks below; -1: none */
    tail_way tail;
    bool three; /* BLOCKS: a third factor, which stays along runs but not in blocks */
    int64_t limit[AFFINE_BOUNDS];
    const void *one;
    run_kernel run;
    blocks_kernel fiber;
    row_kernel row; /* ENTRIES, plain ones: of many fibers */
    int64_t rounds;
};

/* ---- steps ----------------------------------------------------------------------- */

/* What step s leaves of [*lo, *hi) inside the sums that it completes, which are at[…]
 * before it. */
static inline void cut(const walk *w, const walk_step *s, const int64_t *at, int64_t *lo,
                       int64_t *hi)
{
    for (uint32_t left = s->cut; left; left &= left - 1) {
        const int b = __builtin_ctz(left), line = w->nline + b;
        const int64_t v = at[line]; /* the coefficient is 1 */
        if (-v > *lo) *lo = -v;
        if (w->limit[b] - v < *hi) *hi = w->limit[b] - v;
    }
}

static inline void move(const walk *w, const walk_step *s, int64_t x, const int64_t *at,
                        int64_t *to)
{
    for (int k = 0; k < w->nline + w->nbound; k++)
        to[k] = at[k] + x * s->coef[k];
}

/* Steps of coordinates that must be inside are looked at one by one. */
static inline bool outside(const walk *w, const walk_step *s, const int64_t *at, int64_t x)
{
    int64_t lo = s->lo, hi = s->hi;
    if (!s->checked && !s->cut) return false;
    cut(w, s, at, &lo, &hi);
    return x < lo || x >= hi;
}

/* Coordinates of step s with which all that the next `more` steps have is inside. */
static void sure_range(const walk *w, const walk_step *s, int more, const int64_t *at,
                       int64_t *lo, int64_t *hi)
{
    *lo = s->lo;
    *hi = s->hi;
    for (int k = 1; k <= more; k++)
        if (s[k].lo > s[k].lv->lo || s[k].hi < s[k].lv->lo + s[k].lv->extent) *hi = *lo;
    for (int line = w->nline; line < w->nline + w->nbound; line++) {
        const int64_t c = s->coef[line], limit = w->limit[line - w->nline];
        int64_t min = at[line], max = min;
        for (int k = 1; k <= more; k++) {
            const int64_t d = s[k].coef[line];
            min += d * (d > 0 ? s[k].lo : s[k].hi - 1);
            max += d * (d > 0 ? s[k].hi - 1 : s[k].lo);
        }
        if (c < 0 || (c == 0 && (min < 0 || max >= limit))) *hi = *lo;
        if (c <= 0) continue;
        int64_t least = min < 0 ? -min : 0, most = max < limit ? limit - max : 0;
        if (c > 1) least = (least + c - 1) / c, most = (most + c - 1) / c;
        if (least > *lo) *lo = least;
        if (most < *hi) *hi = most;
    }
}

/* Each of the two steps has a place of its own in one of result and factor. */
static bool plain_entries(const walk_step *s, const walk_step *t)
{
    const bool down =
        s->coef[0] == 1 && t->coef[0] == 0 && s->coef[1] == 0 && t->coef[1] == 1;
    const bool up =
        s->coef[0] == 0 && t->coef[0] == 1 && s->coef[1] == 1 && t->coef[1] == 0;
    return (down || up) && s->lv->width == 4 && t->lv->width == 4;
}

static inline void fiber(const walk_step *s, int64_t parent, int64_t *p, int64_t *e)
{
    *p = affine_children(s->lv, parent);
    *e = affine_children(s->lv, parent + 1);
}

/* ---- kernels --------------------------------------------------------------------- */

/* out[k * so] += f * v[k * sv] * x[k * sx] */
#define LOOPS(T, PLUS, TIMES)                                                              \
    static const class_##T one_##T = 1;                                                    \
    INLINE void add_##T(class_##T *o, int64_t so, const class_##T *v, int64_t sv,          \
                        const class_##T *x, int64_t sx, int64_t n, class_##T f)            \
    {                                                                                      \
        if (so == 0) {                                                                     \
            class_##T sum = 0;                                                             \
            for (int64_t k = 0; k < n; k++)                                                \
                sum = PLUS(sum, TIMES(v[k * sv], x[k * sx]));                              \
            *o = PLUS(*o, TIMES(f, sum));                                                  \
        } else {                                                                           \
            for (int64_t k = 0; k < n; k++)                                                \
                o[k * so] = PLUS(o[k * so], TIMES(f, TIMES(v[k * sv], x[k * sx])));        \
        }                                                                                  \
    }                                                                                      \
    INLINE void pick_##T(class_##T *o, int64_t so, const class_##T *v, int64_t sv,         \
                         const class_##T *x, int64_t sx, int64_t n, class_##T f)           \
    {                                                                                      \
        if (so == 0 && sv == 1 && sx == 1)                                                 \
            add_##T(o, 0, v, 1, x, 1, n, f);                                               \
        else if (so == 1 && sv == 1 && sx == 1)                                            \
            add_##T(o, 1, v, 1, x, 1, n, f);                                               \
        else if (so == 1 && sv == 0 && sx == 1)                                            \
            add_##T(o, 1, v, 0, x, 1, n, f);                                               \
        else if (so == 1 && sv == 1 && sx == 0)                                            \
            add_##T(o, 1, v, 1, x, 0, n, f);                                               \
        else                                                                               \
            add_##T(o, so, v, sv, x, sx, n, f);                                            \
    }                                                                                      \
    static class_##T factor_##T(const walk *w, const int64_t *at)                          \
    {                                                                                      \
        class_##T f = *(const class_##T *)&w->a->factor;                                   \
        for (int k = w->three ? 3 : 2; k < w->a->nload; k++)                               \
            f = TIMES(f, ((const class_##T *)w->a->vals[k])[at[k]]);                       \
        return f;                                                                          \
    }                                                                                      \
    static void run_##T(const walk *w, const walk_step *s, int64_t n, int64_t pos,         \
                        int64_t by, const int64_t *at)                                     \
    {                                                                                      \
        const affine *a = w->a;                                                            \
        class_##T *o = (class_##T *)a->out + at[0];                                        \
        const class_##T *v = (const class_##T *)a->vals[0] + pos;                          \
        const class_##T *x = (const class_##T *)a->vals[1] + at[1];                        \
        pick_##T(o, s->coef[0], v, by, x, s->coef[1], n, factor_##T(w, at));               \
    }                                                                                      \
    /* Runs of n places, h of them a block: places are a run's, then a row's, apart; z, if \
     * any, has a factor of each row, zr apart. */                                         \
    INLINE void block_##T(const int64_t *r, const int64_t *c, class_##T *o,                \
                          const class_##T *v, int64_t width, const class_##T *x,           \
                          const class_##T *z, int64_t zr, int64_t h, int64_t n,            \
                          class_##T f)                                                     \
    {                                                                                      \
        for (int64_t i = 0; i < h; i++)                                                    \
            add_##T(o + i * r[0], c[0], v + i * width, 1, x + i * r[1], c[1], n,           \
                    z ? TIMES(f, z[i * zr]) : f);                                          \
    }                                                                                      \
    INLINE void blocks_##T(walk *w, const int64_t *at, int64_t begin, int64_t end,         \
                           int64_t size, bool square, int64_t so, int64_t sx, bool three)  \
    {                                                                                      \
        const walk_step *s = &w->step[w->tail_at], *row = s + 1, *run = s + 2;             \
        const affine_level lv = *s->lv;                                                    \
        const affine *a = w->a;                                                            \
        const int64_t high = square ? size : row->lv->extent;                              \
        const int64_t width = size ? size : run->lv->extent, all = high * width;           \
        const int X = three && run->coef[1] == 0 ? 2 : 1, Z = 3 - X;                       \
        const int64_t r[2] = {row->coef[0], row->coef[X]}, c[2] = {so, sx};                \
        const int64_t rz = three ? row->coef[Z] : 0;                                       \
        const class_##T *v = (const class_##T *)a->vals[0] + begin * all;                  \
        const class_##T *x = a->vals[X], f = factor_##T(w, at);                            \
        const class_##T *z = three ? a->vals[Z] : NULL;                                    \
        class_##T *o = a->out; /* places are added up first: outside they are anything */  \
        int64_t first, last;                                                               \
        sure_range(w, s, 2, at, &first, &last);                                            \
        w->rounds += (end - begin) * all;                                                  \
        for (int64_t p = begin; p < end; p++, v += all) {                                  \
            const int64_t j = affine_coord(&lv, p);                                        \
            int64_t there[LINES], lo = row->lo, hi = row->hi, left = run->lo;              \
            int64_t right = run->hi;                                                       \
            if (j >= first && j < last) {                                                  \
                block_##T(r, c, o + (at[0] + j * s->coef[0]), v, width,                    \
                          x + (at[X] + j * s->coef[X]),                                    \
                          three ? z + (at[Z] + j * s->coef[Z]) : NULL, rz, high, width,    \
                          f);                                                              \
                continue;                                                                  \
            }                                                                              \
            if (outside(w, s, at, j)) continue;                                            \
            move(w, s, j, at, there);                                                      \
            cut(w, row, there, &lo, &hi);                                                  \
            cut(w, run, there, &left, &right);                                             \
            if (hi <= lo || right <= left) continue;                                       \
            block_##T(r, c, o + (at[0] + j * s->coef[0] + lo * r[0] + left * so),          \
                      v + lo * width + left, width,                                        \
                      x + (at[X] + j * s->coef[X] + lo * r[1] + left * sx),                \
                      three ? z + (at[Z] + j * s->coef[Z] + lo * rz) : NULL, rz, hi - lo,  \
                      right - left, f);                                                    \
        }                                                                                  \
    }                                                                                      \
    static void fiber_##T(walk *w, const int64_t *at, int64_t begin, int64_t end)          \
    {                                                                                      \
        const walk_step *run = &w->step[w->tail_at + 2];                                   \
        const int64_t so = run->coef[0], sx = run->coef[1];                                \
        const bool gather = so == 0 && sx == 1, scatter = so == 1 && sx == 0;              \
        const int64_t width = run->lv->extent;                                             \
        const bool square = run[-1].lv->extent == width;                                   \
        if (w->three)                                                                      \
            blocks_##T(w, at, begin, end, 0, false, so, run->coef[1] + run->coef[2],       \
                       true);                                                              \
        else if (width == 4 && square && gather)                                           \
            blocks_##T(w, at, begin, end, 4, true, 0, 1, false);                           \
        else if (width == 4 && square && scatter)                                          \
            blocks_##T(w, at, begin, end, 4, true, 1, 0, false);                           \
        else if (width == 8 && gather)                                                     \
            blocks_##T(w, at, begin, end, 8, false, 0, 1, false);                          \
        else if (width == 8 && scatter)                                                    \
            blocks_##T(w, at, begin, end, 8, false, 1, 0, false);                          \
        else if (width == 2 && gather)                                                     \
            blocks_##T(w, at, begin, end, 2, false, 0, 1, false);                          \
        else                                                                               \
            blocks_##T(w, at, begin, end, 0, false, so, sx, false);                        \
    }                                                                                      \
    INLINE void plain_##T(class_##T *o, const class_##T *x, const class_##T *v,            \
                          const char *to, int64_t to_step, const char *from,               \
                          int64_t from_step, int64_t n, class_##T f)                       \
    {                                                                                      \
        for (int64_t k = 0; k < n; k++, to += to_step, from += from_step) {                \
            class_##T *at = &o[*(const int32_t *)to];                                      \
            *at = PLUS(*at, TIMES(f, TIMES(v[k], x[*(const int32_t *)from])));             \
        }                                                                                  \
    }                                                                                      \
    /* Fibers below coordinates [lo, hi) of step s, whose first is that of position        \
     * `first`: two coordinates an entry, all of them inside. */                           \
    static void row_##T(walk *w, const walk_step *s, int64_t lo, int64_t hi,               \
                        int64_t first, const int64_t *at)                                  \
    {                                                                                      \
        const affine_level one = *s[1].lv, two = *s[2].lv;                                 \
        const affine_level *i = s[1].coef[0] ? &one : &two, *j = i == &one ? &two : &one;  \
        const char *const to = i->crd, *const from = j->crd;                               \
        const int64_t to_step = i->stride, from_step = j->stride;                          \
        const class_##T *v = w->a->vals[0], *x = w->a->vals[1], f = factor_##T(w, at);     \
        class_##T *o = w->a->out;                                                          \
        int64_t end = affine_children(&one, first);                                        \
        w->rounds -= end;                                                                  \
        for (int64_t c = lo; c < hi; c++) {                                                \
            const int64_t p = end;                                                         \
            end = affine_children(&one, first + (c - lo) + 1);                             \
            plain_##T(o + (at[0] + c * s->coef[0]), x + (at[1] + c * s->coef[1]), v + p,   \
                      to + p * to_step, to_step, from + p * from_step, from_step, end - p, \
                      f);                                                                  \
        }                                                                                  \
        w->rounds += end;                                                                  \
        machine_saw(w->mc, SEEN_FIBERS, hi - lo);                                          \
    }                                                                                      \
    /* Two coordinates an entry: the fiber's, and that of the level below. */              \
    static void entries_##T(walk *w, const int64_t *at, int64_t begin, int64_t end)        \
    {                                                                                      \
        const walk_step *s = &w->step[w->tail_at], *t = s + 1;                             \
        const affine_level first = *s->lv, second = *t->lv;                                \
        const affine *a = w->a;                                                            \
        const int64_t o0 = s->coef[0], o1 = t->coef[0], x0 = s->coef[1], x1 = t->coef[1];  \
        const class_##T *v = a->vals[0], *x = a->vals[1];                                  \
        class_##T *o = a->out;                                                             \
        const class_##T f = factor_##T(w, at);                                             \
        int64_t least, most;                                                               \
        sure_range(w, s, 1, at, &least, &most);                                            \
        w->rounds += end - begin;                                                          \
        for (int64_t p = begin; p < end; p++) {                                            \
            const int64_t i = affine_coord(&first, p), j = affine_coord(&second, p);       \
            if (i < least || i >= most) {                                                  \
                int64_t there[LINES];                                                      \
                if (outside(w, s, at, i)) continue;                                        \
                move(w, s, i, at, there);                                                  \
                if (outside(w, t, there, j)) continue;                                     \
            }                                                                              \
            class_##T *to = o + (at[0] + i * o0 + j * o1);                                 \
            *to = PLUS(*to, TIMES(f, TIMES(v[p], x[at[1] + i * x0 + j * x1])));            \
        }                                                                                  \
    }
LOOPS(F64, FN_ADD_F64, FN_MUL_F64)
LOOPS(F32, FN_ADD_F32, FN_MUL_F32)
LOOPS(I64, FN_ADD_I64, FN_MUL_I64)

/* ---- the walk -------------------------------------------------------------------- */

static stc_status walk_from(walk *w, int l, int64_t parent, const int64_t *at);

static stc_status walk_coords(walk *w, int l, int64_t parent, const int64_t *at)
{
    const walk_step *s = &w->step[l];
    int64_t p, e, to[LINES];
    fiber(s, parent, &p, &e);
    machine_saw(w->mc, SEEN_FIBERS, l > 0); /* the loop's own is counted */
    for (; p < e; p++) {
        const int64_t x = affine_coord(s->lv, p);
        if (outside(w, s, at, x)) continue;
        if (l == w->block) machine_saw(w->mc, SEEN_BLOCKS, 1);
        move(w, s, x, at, to);
        const stc_status st = walk_from(w, l + 1, p, to);
        if (st) return st;
    }
    return STC_OK;
}

/* The coordinates of a step that has all in a range, those that are inside; *first: the
 * position of coordinate 0, if it were there. */
static void span_of(const walk *w, const walk_step *s, int64_t parent, int64_t above,
                    const int64_t *at, int64_t *lo, int64_t *hi, int64_t *first)
{
    *lo = s->lo;
    *hi = s->hi;
    *first = parent; /* INDEX: the operand stays where it is */
    if (s->way == WAY_RANGE) *first = parent * s->lv->extent - s->lv->lo;
    if (s->way == WAY_VIEW) {
        fiber_view v;
        s->level->kind->view(s->level, parent, above, &v);
        *first = v.begin - v.lo;
        if (v.lo > *lo) *lo = v.lo;
        if (v.hi < *hi) *hi = v.hi;
    }
    cut(w, s, at, lo, hi);
}

/* Step l's parent has coordinate `above` in its own level: what a view asks for. */
static stc_status walk_span(walk *w, int l, int64_t parent, int64_t above,
                            const int64_t *at)
{
    const walk_step *s = &w->step[l];
    const bool still = s->way == WAY_INDEX;
    int64_t lo, hi, first, sure = 0, end = 0, to[LINES];
    span_of(w, s, parent, above, at, &lo, &hi, &first);
    if (hi <= lo) return STC_OK;
    if (w->row && l + 1 == w->tail_at && !still) {
        sure_range(w, s, 2, at, &sure, &end);
        if (sure < lo) sure = lo;
        if (end > hi) end = hi;
    }
    if (w->tail == TAIL_RUN && l == w->tail_at) {
        move(w, s, lo, at, to);
        w->run(w, s, hi - lo, still ? first : first + lo, still ? 0 : 1, to);
        return machine_count(w->mc, hi - lo);
    }
    for (int64_t x = lo; x < hi; x++) {
        if (x == sure && x < end) {
            w->row(w, s, x, end, first + x, at);
            x = end - 1;
            if (super_poll(w->mc, &w->rounds)) return w->mc->cx->diag.status;
            continue;
        }
        move(w, s, x, at, to);
        const stc_status st = walk_from(w, l + 1, still ? first : first + x, to);
        if (st) return st;
    }
    return STC_OK;
}

static stc_status walk_from(walk *w, int l, int64_t parent, const int64_t *at)
{
    if (l == w->nstep) {
        w->run(w, &w->step[l - 1], 1, parent, 0, at);
        return machine_count(w->mc, 1);
    }
    const walk_step *s = &w->step[l];
    if (l == w->tail_at && w->fiber) {
        int64_t p, e;
        fiber(s, parent, &p, &e);
        machine_saw(w->mc, SEEN_FIBERS, l > 0); /* the loop's own is counted */
        if (w->block == l) machine_saw(w->mc, SEEN_BLOCKS, e - p);
        if (p == e) return STC_OK;
        w->fiber(w, at, p, e);
        return super_poll(w->mc, &w->rounds);
    }
    if (s->way == WAY_COORDS) return walk_coords(w, l, parent, at);
    const int64_t above = s->way == WAY_VIEW ? affine_coord(s[-1].lv, parent) : 0;
    return walk_span(w, l, parent, above, at);
}

/* ---- preparing ------------------------------------------------------------------- */

bool blocks_implied(const machine *mc, const affine *a, const linear_place *x)
{
    const tensor *t = mc->slot[x->tensor].t;
    const level *lv = &t->level[x->level];
    int diff, other;
    if (lv->kind->arrays || !(lv->props & PROP_BRANCHLESS)) return false;
    format_implied(&t->fmt, x->level, &diff, &other); /* both are there: format_valid */
    affine_line want, here, part;
    const linear_place *at = x;
    bool ok = affine_line_of(mc, &x->at, &here);
    memset(&want, 0, sizeof want);
    for (int l = x->level - 1; ok && l >= (diff < other ? diff : other); l--) {
        at = &a->place[at->up];
        ok = (at->kind == LINEAR_WALKED || at->kind == LINEAR_DENSE) &&
             (at->cursor == ROOT || mc->c[at->cursor].plain) &&
             affine_line_of(mc, &at->at, &part);
        const bool minuend = t->fmt.level[diff].map.mode == t->fmt.level[x->level].map.mode;
        const int64_t sign = l == diff && !minuend ? -1 : 1;
        if (!ok || (l != diff && l != other)) continue;
        want.base += sign * part.base;
        for (int d = 0; d < AFFINE_INDICES; d++)
            want.coef[d] += sign * part.coef[d];
    }
    return ok && !memcmp(&want, &here, sizeof want) &&
           affine_within(a, &here, lv->base, lv->base + lv->extent);
}

bool blocks_level(const machine *mc, const affine *a, const linear_place *x,
                  affine_level *out)
{
    const tensor *t = mc->slot[x->tensor].t;
    const level *lv = &t->level[x->level];
    fiber_view v = {.shape = VIEW_NONE};
    int diff, other;
    if (x->cursor != ROOT || lv->kind->arrays) return false;
    *out = (affine_level){.at = lv, .lo = lv->base, .extent = lv->extent};
    out->implied = blocks_implied(mc, a, x);
    if (!out->implied && lv->kind->view && format_implied(&t->fmt, x->level, &diff, &other))
        lv->kind->view(lv, 0, 0, &v);
    out->viewed = v.shape == VIEW_RANGE;
    return out->implied || out->viewed;
}

/* The next step is that of index d, which no step before has. */
static void add_step(walk *w, walk_step s, int d)
{
    const affine *a = w->a;
    if (s.lo < a->lo[d]) s.lo = a->lo[d];
    if (s.hi > a->hi[d]) s.hi = a->hi[d];
    for (int k = 0; k < a->nload; k++)
        s.coef[k] = a->line[k].coef[d];
    for (int b = 0; b < w->nbound; b++) {
        s.coef[w->nline + b] = a->bound[b].line.coef[d];
        if (s.coef[w->nline + b]) s.cut |= 1u << b;
    }
    for (int k = 0; k < w->nstep; k++) /* the last one that it has completes a sum */
        w->step[k].cut &= ~s.cut;
    w->step[w->nstep++] = s;
}

static bool add_level(walk *w, int l)
{
    const affine *a = w->a;
    const affine_level *lv = &a->level[l];
    const int d = lv->solved;
    if (lv->implied) return true;
    if (d < 0 || lv->ntried || a->line[lv->line].coef[d] != 1 || a->line[lv->line].base)
        return false;
    walk_step s = {.lv = lv, .level = lv->at, .lo = lv->lo, .hi = lv->lo + lv->extent};
    s.way = lv->viewed ? WAY_VIEW : lv->walked ? WAY_COORDS : WAY_RANGE;
    s.checked = s.lo < a->lo[d] || s.hi > a->hi[d];
    const int up = w->nstep - 1; /* whose coordinate a view asks for */
    if (s.way == WAY_VIEW && (up < 0 || w->step[up].way != WAY_COORDS)) return false;
    add_step(w, s, d);
    return true;
}

static bool ranged(const walk_step *s)
{
    return s->way == WAY_RANGE && s->lv->lo == 0;
}

static void choose_tail(walk *w)
{
    const walk_step *s = &w->step[w->nstep];
    const int n = w->nstep;
    const vclass cls = (vclass)w->a->cls;
    const bool f64 = cls == CLASS_F64, f32 = cls == CLASS_F32, two = w->nline == 2;
    w->run = f64 ? run_F64 : f32 ? run_F32 : run_I64;
    w->one = f64 ? (const void *)&one_F64 : f32 ? (const void *)&one_F32 : &one_I64;
    w->fiber = NULL;
    w->row = NULL;
    w->tail = TAIL_POINT;
    w->three = false;
    w->tail_at = n;
    w->block = -1;
    for (int k = 0; k + 1 < n; k++)
        if (w->step[k].way == WAY_COORDS && w->step[k + 1].way <= WAY_VIEW) w->block = k;
    const bool three = w->nline == 3 && (!s[-1].coef[1] || !s[-1].coef[2]);
    if ((two || three) && n > 2 && s[-3].way == WAY_COORDS && ranged(&s[-2]) &&
        ranged(&s[-1])) {
        w->three = three;
        w->tail = TAIL_BLOCKS;
        w->tail_at = n - 3;
        w->fiber = f64 ? fiber_F64 : f32 ? fiber_F32 : fiber_I64;
    } else if (two && n > 1 && s[-2].way == WAY_COORDS && s[-1].way == WAY_COORDS &&
               !s[-1].lv->bounds) {
        w->tail = TAIL_ENTRIES;
        w->tail_at = n - 2;
        w->fiber = f64 ? entries_F64 : f32 ? entries_F32 : entries_I64;
        if (plain_entries(&s[-2], &s[-1])) w->row = f64 ? row_F64 : f32 ? row_F32 : row_I64;
    } else if (s[-1].way != WAY_COORDS) {
        bool fixed = true; /* other factors stay where they are */
        for (int k = 2; k < w->nline; k++)
            fixed &= s[-1].coef[k] == 0;
        if (!fixed) return;
        w->tail = TAIL_RUN;
        w->tail_at = n - 1;
    }
}

/* The steps; false: they aren't such. Sums are completed by an index whose coefficient
 * is 1, aren't less than nothing before, and don't begin where adding to them could wrap.
 */
static bool find_steps(walk *w)
{
    const affine *a = w->a;
    const int64_t far = INT64_C(1) << 61;
    for (int l = 0; l < a->nlevel; l++)
        if (!add_level(w, l)) return false;
    for (int k = 0; k < a->nrest; k++) {
        const int d = a->rest[k];
        add_step(w, (walk_step){.way = WAY_INDEX, .lo = a->lo[d], .hi = a->hi[d]}, d);
    }
    for (int b = 0; b < w->nbound; b++) {
        const int64_t base = a->bound[b].line.base;
        bool found = false;
        if (base < -far || base > far) return false;
        for (int k = 0; k < w->nstep; k++)
            found |= w->step[k].cut >> b & 1 && w->step[k].coef[w->nline + b] == 1;
        if (!found) return false;
    }
    return w->nstep > 0;
}

stc_status blocks_run(machine *mc, affine *a, int64_t last)
{
    walk w = {.mc = mc, .a = a, .nline = a->nload, .nbound = a->nbound};
    int64_t at[LINES] = {0};
    slot *s = &mc->slot[a->sink.a];
    if (a->nload == 1) w.nline++; /* a second factor, which stays where it is */
    if (a->sink.kind != SINK_ACC || !find_steps(&w)) return SUPER_REPLAY;
    choose_tail(&w);
    if (a->nload == 1) a->vals[1] = w.one;
    if (s->t->stains.on) s->t->stains.on = false; /* not where threads share it */
    s->stores++;
    if (asm_value(mc, s, last)) return mc->cx->diag.status;
    a->out = s->t->vals;
    for (int k = 0; k < a->nload; k++)
        at[k] = a->line[k].base;
    for (int b = 0; b < w.nbound; b++) {
        at[w.nline + b] = a->bound[b].line.base;
        w.limit[b] = a->bound[b].hi;
    }
    for (int64_t p = a->begin; p < a->end; p++) {
        const stc_status st = walk_from(&w, 0, p, at);
        if (st) return st;
    }
    return machine_count(mc, w.rounds);
}
