/* outer_lines.c: fibers of a level that isn't a range, written out: as a row of positions,
 * NONE where there is no coordinate, or of values, the fill where there is none, with a
 * byte each for what is there.
 *
 * Neighbouring rounds read the same fibers, so lines are kept: those of a few hundred
 * parents, each where its number says or close by, for the run. One that a place stands on
 * isn't written over; nor is one that a value still is in, before that has its own column.
 * Where a cursor opens must depend on its parent's position alone (CAP_SUBSECT);
 * duplicates are summed, as loads do it.
 */
#include "outer.h"
#include "../nest/fibers.h"
#include "../super/super.h"
#include <string.h>

#ifdef STC_SAN
enum { LINES_BYTES = 0 }; /* few, so that small cases write over some */
#else
enum { LINES_BYTES = 1 << 18 };
#endif
/* A level's lines; and what stays for the next run. */
enum { LINE_MAX_BYTES = 1 << 27, LINES_KEPT = 1 << 22 };

/* One for each place that may stand on one, and the one that comes; or many short ones. */
static int64_t ways_of(const outer_lines *x, int64_t parents)
{
    int64_t ways = 1;
    while (ways < parents &&
           (ways <= x->nplace || 2 * ways * (int64_t)x->size <= LINES_BYTES))
        ways *= 2;
    return ways;
}

/* The fibers of the level. */
static int64_t parents_of(const tensor *t, const level *lv)
{
    return lv == &t->level[0] ? 1 : lv[-1].size;
}

/* A line that is far longer than what is read of it isn't worth writing. */
static bool worthwhile(const outer *o, const outer_lines *x, int64_t parents)
{
    enum { AT_MOST = 8 };
    const outer_loop *l = &o->loop[o->lane];
    const double lanes = (double)(l->hi - l->lo);
    return (double)x->n <= AT_MOST * (parents == 1 ? o->all : lanes);
}

static bool ready(machine *mc, outer_lines *x)
{
    x->ways = ways_of(x, parents_of(x->t, x->lv));
    if (x->ways > LINE_MAX_BYTES / (int64_t)x->size) return false;
    const size_t lines = (size_t)x->ways * (x->size + sizeof *x->parent);
    if (x->block_size < lines) {
        mem_free(mc->cx, x->block, x->block_size);
        x->block_size = 0;
        x->block = mem_alloc(mc->cx, lines);
        if (!x->block) {
            diag_clear(mc->cx); /* there is another way */
            return false;
        }
        x->block_size = lines;
    }
    x->data = x->block;
    x->parent = (int64_t *)(x->data + (size_t)x->ways * x->size);
    for (int64_t k = 0; k < x->ways; k++)
        x->parent[k] = NONE;
    return true;
}

bool outer_lines_ready(machine *mc, outer *o)
{
    for (int k = 0; k < o->nlines; k++)
        if (!ready(mc, &o->lines[k])) return false;
    return true;
}

void outer_lines_begin(outer *o)
{
    o->nlines = 0;
}

outer_lines *outer_lines_of(outer *o, const tensor *t, const level *lv)
{
    enum { ALIGN = 16 };
    for (int k = 0; k < o->nlines; k++)
        if (o->lines[k].lv == lv) {
            o->lines[k].nplace++;
            return &o->lines[k];
        }
    const bool last = lv == &t->level[t->fmt.levels - 1];
    if (o->nlines == OUTER_LINES || !(lv->kind->caps & CAP_SUBSECT) ||
        !(lv->props & (last ? PROP_ORDERED | PROP_UNIQUE : PROP_UNIQUE)))
        return NULL;
    outer_lines *x = &o->lines[o->nlines];
    x->lv = lv;
    x->t = t;
    x->last = last;
    x->nplace = 1;
    x->lo = lv->base;
    x->n = lv->extent;
    x->width = last ? type_size(t->type) : sizeof(int64_t);
    if (x->n <= 0 || x->n > LINE_MAX_BYTES / (int64_t)(x->width + 1)) return NULL;
    const size_t size = (size_t)x->n * (x->width + last);
    x->size = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (!worthwhile(o, x, parents_of(t, lv))) return NULL;
    o->nlines++;
    return x;
}

/* One element in all of n places. */
static void repeat(char *out, size_t width, int64_t n)
{
    const size_t all = (size_t)n * width;
    for (size_t done = width; done < all; done *= 2)
        memcpy(out + done, out, done < all - done ? done : all - done);
}

/* The element of position p (duplicates: up to end) to place k. */
static void put(const outer_lines *x, char *out, uint8_t *there, int64_t k, int64_t p,
                int64_t end)
{
    if (!x->last) {
        ((int64_t *)out)[k] = p;
        return;
    }
    there[k] = 1;
    if (end > p + 1) {
        type_store(x->t->type, out, k, load_sum(x->t, p, end));
        return;
    }
    memcpy(out + (size_t)k * x->width, (const char *)x->t->vals + (size_t)p * x->width,
           x->width);
}

/* Whether fibers are lists of 32 bits, one value of at most 8 bytes each. */
static bool listed(const outer_lines *x, const fiber_table *f)
{
    return fibers_listed(f) && f->width == sizeof(int32_t) && x->last &&
           x->width <= sizeof(uint64_t) && x->lv->props & PROP_UNIQUE;
}

/* A fiber of listed coordinates, one value of `size` bytes each: into a line, or the fill
 * where they are. */
INLINE void set_sized(const outer_lines *x, const fiber_table *f, int64_t parent, bool put,
                      char *out, uint8_t *there, const size_t size)
{
    const int32_t *crd = f->crd;
    const int64_t end = fiber_bound(f, parent + 1);
    const char *from = x->t->vals;
    value fill;
    type_store(x->t->type, &fill, 0, x->t->fill);
    for (int64_t p = fiber_bound(f, parent); p < end; p++) {
        const int64_t k = crd[p] - x->lo;
        memcpy(out + (size_t)k * size, put ? from + (size_t)p * size : (char *)&fill, size);
        there[k] = put;
    }
}

static void set_listed(const outer_lines *x, const fiber_table *f, int64_t parent, bool put,
                       char *out, uint8_t *there)
{
    switch (x->width) {
    case sizeof(uint64_t):
        return set_sized(x, f, parent, put, out, there, sizeof(uint64_t));
    case sizeof(uint32_t):
        return set_sized(x, f, parent, put, out, there, sizeof(uint32_t));
    case sizeof(uint16_t):
        return set_sized(x, f, parent, put, out, there, sizeof(uint16_t));
    default:
        return set_sized(x, f, parent, put, out, there, sizeof(uint8_t));
    }
}

/* A line that holds fiber `was` (NONE: nothing yet), or NONE's, empty. */
static void clear(const outer_lines *x, int64_t was, char *out, uint8_t *there)
{
    enum { FEW = 8 };
    fiber_table f;
    level_fibers(x->lv, &f);
    if (was != NONE && listed(x, &f) &&
        (fiber_bound(&f, was + 1) - fiber_bound(&f, was)) * FEW < x->n) {
        set_listed(x, &f, was, false, out, there);
    } else if (x->last) {
        type_store(x->t->type, out, 0, x->t->fill);
        repeat(out, x->width, x->n);
        memset(there, 0, (size_t)x->n);
    } else {
        memset(out, 0xff, x->size); /* NONE */
    }
}

static void put_all(outer_lines *x, int64_t parent, char *out, uint8_t *there)
{
    const cursor up = {.at = parent, .at_end = parent + 1};
    fiber_table f;
    cursor c;
    level_fibers(x->lv, &f);
    if (listed(x, &f)) {
        set_listed(x, &f, parent, true, out, there);
        return;
    }
    cursor_open(&c, x->lv, x->lv == &x->t->level[0] ? NULL : &up);
    for (; c.lo != CURSOR_END; cursor_next(&c))
        for (int64_t i = c.lo; i < c.hi; i++) {
            (void)cursor_stand(&c, i); /* it does */
            put(x, out, there, i - x->lo, c.at, c.at_end);
        }
}

/* Whether a place stands on the line; those that move from row to row don't count where
 * rows are replayed. */
static bool stood_on(const outer *o, const outer_lines *x, const char *line)
{
    for (int k = 0; x->last && k < o->nplace; k++) {
        const outer_stand *s = &o->stand[k];
        if (s->lines == x && s->vals == line && !(o->replaying && s->moving)) return true;
    }
    return false;
}

/* Where the line of `parent` is, or is to be. */
static int64_t way_of(const outer *o, const outer_lines *x, int64_t parent)
{
    const int64_t all = x->ways - 1, near = all < x->nplace ? all : x->nplace;
    for (int64_t k = 0; k <= near; k++)
        if (x->parent[(parent + k) & all] == parent) return (parent + k) & all;
    int64_t way = parent & all;
    for (int64_t k = 0; k < near && stood_on(o, x, x->data + (size_t)way * x->size); k++)
        way = (way + 1) & all;
    return way;
}

const void *outer_line(outer *o, outer_lines *x, int64_t parent, const uint8_t **there)
{
    const int64_t way = way_of(o, x, parent);
    char *out = x->data + (size_t)way * x->size;
    uint8_t *bytes = (uint8_t *)out + (size_t)x->n * x->width;
    *there = x->last ? bytes : NULL;
    if (x->parent[way] == parent) return out;
    if (x->last && x->parent[way] != NONE) outer_leave_line(o, out, x->size);
    clear(x, x->parent[way], out, bytes);
    x->parent[way] = parent;
    put_all(x, parent, out, bytes);
    o->fibers += parent != NONE;
    return out;
}

bool outer_line_is(const outer_lines *x, const char *line, int64_t parent)
{
    return x->parent[(size_t)(line - x->data) / x->size] == parent;
}

void outer_lines_release(machine *mc, outer *o)
{
    for (int k = 0; k < o->nlines; k++) {
        outer_lines *x = &o->lines[k];
        if (x->block_size <= LINES_KEPT) continue;
        mem_free(mc->cx, x->block, x->block_size);
        x->block = NULL;
        x->block_size = 0;
    }
}

void outer_lines_free(machine *mc, outer *o)
{
    for (int k = 0; k < OUTER_LINES; k++)
        mem_free(mc->cx, o->lines[k].block, o->lines[k].block_size);
}
