/* subsect.c: the non-empty subsections of a level, one offset after another.
 *
 * Takes a level, the fibers that lie within the subsections of the levels above
 * it (their list is made once, when the cursor is opened), and the width of the
 * window. Gives an ordinary cursor, which stands on intervals of offsets: a
 * stored coordinate x is seen from the offsets x - size + 1 … x. So merges join
 * subsections as they join anything else. (Convolutions paper, §5.2.1: the
 * three cases of `begin`, by what `up` is; §5.2.2: `next` drops the coordinates
 * that the window has left, and takes the smallest that remains.)
 *
 * Where the index has a negative coefficient, offsets fall as it grows. Then a fiber's
 * coordinates are walked from the last one on; where they don't lie in an array, or there
 * are several fibers, they are listed for that.
 *
 * Kinds are asked for nothing but open, next and seek, so stacks of any ordered
 * levels serve. The cost is that of the paper: the fibers of a window each time
 * it moves, one where all levels above stand on a coordinate.
 */
#include "subsect.h"
#include "coords.h"

static const level_kind subsection;

static bool is_subsection(const cursor *c)
{
    return c && c->lv->kind == &subsection;
}

/* ---- the offsets, as a level ---------------------------------------------------- */

/* The offset from which x is the last coordinate seen. */
static int64_t first_offset(int64_t x, int64_t size)
{
    int64_t o;
    return __builtin_sub_overflow(x, size - 1, &o) ? -INT64_MAX : o;
}

/* Stands c on the first interval of offsets from `from` on, where no fiber
 * stands on coordinates that lie before it. */
static void settle(cursor *c, int64_t from)
{
    const subsect *s = (const subsect *)c->lv;
    c->lo = c->hi = CURSOR_END;
    for (int64_t k = 0; k < s->n; k++) {
        const cursor *f = &s->fiber[k].c;
        if (f->lo == CURSOR_END) continue;
        int64_t lo = first_offset(f->lo, s->size);
        if (lo < from) lo = from;
        if (lo > c->lo || (lo == c->lo && f->hi <= c->hi)) continue;
        c->lo = lo;
        c->hi = f->hi;
    }
}

static int64_t coord_of(const subsect *s, int64_t k)
{
    return coord_at(s->t.crd, s->t.width, s->t.stride, s->begin + k);
}

/* How many of the array's coordinates, all of which are passed from a last one on, are seen
 * from offsets behind -from. */
static int64_t coords_left(const subsect *s, int64_t from)
{
    int64_t below, by = 1, n = s->nrun;
    if (__builtin_sub_overflow(s->size, from, &below)) return n;
    while (by <= n && coord_of(s, n - by) >= below)
        by *= 2;
    const int64_t first = s->begin + (by <= n ? n - by : 0), end = s->begin + n - by / 2;
    return coord_search(s->t.crd, s->t.width, s->t.stride, first, end, below) - s->begin;
}

/* The same from the last coordinate on; runs that are passed are dropped. */
static void settle_back(cursor *c, int64_t from)
{
    subsect *s = (subsect *)c->lv;
    const bool array = s->t.shape == VIEW_COORDS;
    c->lo = c->hi = CURSOR_END;
    if (array) s->nrun = coords_left(s, from);
    for (; s->nrun > 0; s->nrun--) {
        const int64_t x = array ? coord_of(s, s->nrun - 1) : 0;
        const subsect_run r = array ? (subsect_run){x, x + 1} : s->run[s->nrun - 1];
        const int64_t end = -first_offset(r.lo, s->size) + 1;
        if (end <= from) continue;
        c->lo = from > 1 - r.hi ? from : 1 - r.hi;
        c->hi = end;
        return;
    }
}

static void subsect_seek(cursor *c, int64_t o)
{
    const subsect *s = (const subsect *)c->lv;
    if (s->reversed) {
        settle_back(c, o);
        return;
    }
    for (int64_t k = 0; k < s->n; k++)
        if (s->fiber[k].c.hi <= o) cursor_seek(&s->fiber[k].c, o);
    settle(c, o);
}

static void subsect_next(cursor *c)
{
    subsect_seek(c, c->hi);
}

static const level_kind subsection = {
    .name = "subsection",
    .caps = CAP_ITER | CAP_SEEK,
    .props = PROP_ORDERED | PROP_UNIQUE,
    .next = subsect_next,
    .seek = subsect_seek,
};

/* ---- the fibers ------------------------------------------------------------------ */

static stc_status add_fiber(ctx *cx, subsect *s, const cursor *up)
{
    if (s->n == s->cap && mem_grow(cx, &s->fiber, &s->cap, s->n + 1, sizeof *s->fiber))
        return cx->diag.status;
    subsect_fiber *f = &s->fiber[s->n];
    if (up) f->up = *up;
    cursor_open(&f->c, s->of, up ? &f->up : NULL);
    s->n += f->c.lo != CURSOR_END;
    return STC_OK;
}

/* Below every coordinate that the subsection `up` has of the level above. */
static stc_status add_children(ctx *cx, subsect *s, const cursor *up)
{
    const subsect *above = (const subsect *)up->lv;
    const int64_t begin = above->reversed ? -up->coord : up->coord;
    int64_t end;
    if (__builtin_add_overflow(begin, above->size, &end)) end = CURSOR_END;
    for (int64_t k = 0; k < above->n; k++) {
        cursor x = above->fiber[k].c;
        if (x.hi <= begin) cursor_seek(&x, begin);
        for (; x.lo < end; cursor_next(&x)) {
            const int64_t last = x.hi < end ? x.hi : end;
            for (int64_t i = x.lo > begin ? x.lo : begin; i < last; i++) {
                cursor_stand(&x, i);
                if (add_fiber(cx, s, &x)) return cx->diag.status;
            }
        }
    }
    return STC_OK;
}

/* A narrower window over the same fibers. */
static stc_status copy_fibers(ctx *cx, subsect *s, const subsect *wider)
{
    if (s->cap < wider->n && mem_grow(cx, &s->fiber, &s->cap, wider->n, sizeof *s->fiber))
        return cx->diag.status;
    for (s->n = 0; s->n < wider->n; s->n++)
        s->fiber[s->n] = wider->fiber[s->n];
    return STC_OK;
}

static int by_end(const void *a, const void *b)
{
    const int64_t x = ((const subsect_run *)a)->hi, y = ((const subsect_run *)b)->hi;
    return (x > y) - (x < y);
}

/* Whether there is one fiber, whose coordinates lie in order in an array. */
static bool find_array(subsect *s)
{
    const cursor *up = s->n == 1 ? s->fiber[0].c.up : NULL;
    const int64_t at = up ? up->at : 0;
    fiber_table *t = &s->t;
    if (s->n != 1 || !s->of->kind->table || !(s->of->props & PROP_ORDERED) ||
        (up && up->at_end != at + 1))
        return false;
    s->of->kind->table(s->of, t);
    if (t->shape != VIEW_COORDS || !t->bounds) return false;
    s->begin = index_at(t->bounds, t->bounds_width, at);
    s->nrun = index_at(t->bounds, t->bounds_width, at + 1) - s->begin;
    return true;
}

/* All coordinates of all fibers, which stay where they are. */
static stc_status list_runs(ctx *cx, subsect *s)
{
    for (int64_t k = 0; k < s->n; k++)
        for (cursor x = s->fiber[k].c; x.lo != CURSOR_END; cursor_next(&x)) {
            if (s->nrun == s->run_cap &&
                mem_grow(cx, &s->run, &s->run_cap, s->nrun + 1, sizeof *s->run))
                return cx->diag.status;
            s->run[s->nrun++] = (subsect_run){x.lo, x.hi};
        }
    return s->n > 1 ? mem_sort(cx, s->run, s->nrun, sizeof *s->run, by_end) : STC_OK;
}

stc_status subsect_begin(ctx *cx, subsect *s, const level *of, int64_t size, bool reversed,
                         const cursor *up, cursor *c)
{
    stc_status status = STC_OK;
    s->lv = (level){.kind = &subsection, .props = subsection.props};
    s->of = of;
    s->size = size;
    s->reversed = reversed;
    s->n = s->nrun = 0;
    s->t.shape = VIEW_NONE;
    *c = (cursor){.lv = &s->lv, .at = NONE, .at_end = NONE, .period = PERIOD_ENDLESS};
    if (size > 0 && (!up || up->at != NONE)) {
        if (!is_subsection(up))
            status = add_fiber(cx, s, up);
        else if (((const subsect *)up->lv)->of == of)
            status = copy_fibers(cx, s, (const subsect *)up->lv);
        else
            status = add_children(cx, s, up);
    }
    for (int64_t k = 0; k < s->n; k++) /* the list may have moved as it grew */
        if (s->fiber[k].c.up) s->fiber[k].c.up = &s->fiber[k].up;
    if (!status && reversed && !find_array(s)) {
        s->t.shape = VIEW_NONE;
        status = list_runs(cx, s);
    }
    if (reversed)
        settle_back(c, INT64_MIN);
    else
        settle(c, INT64_MIN);
    return status;
}

void subsect_free(ctx *cx, subsect *s)
{
    mem_free(cx, s->fiber, (size_t)s->cap * sizeof *s->fiber);
    mem_free(cx, s->run, (size_t)s->run_cap * sizeof *s->run);
}
