/* affine_lines.c: the lines of pixels of an affine nest whose rows are gathered
 * (affine_gather.c), in the order of the result.
 *
 * Takes levels whose coordinates have indices of their own. A line is a fiber of the level
 * above the last one; it is listed once for each choice of the indices that are tried above
 * it, with what is solved there put in. Where its entries meet the factor is the same for
 * all of these, and is listed entry by entry; where those from a pixel on begin, pixel by
 * pixel, if the line isn't too sparse.
 */
#include "affine_gather.h"
#include "../super/super.h"
#include <stdlib.h>

enum { CHUNK = GATHER_CHUNK };
typedef uint32_t chunk __attribute__((vector_size(4 * CHUNK), aligned(4), may_alias));
enum { SPARSE = 48 }; /* pixels for each that is there, where tables aren't worth it */

/* ---- which nests ------------------------------------------------------------------ */

/* Whether a level's coordinate has no index but those that are found there. */
static bool independent(const affine *a, const affine_level *lv)
{
    uint64_t own = UINT64_C(1) << lv->solved;
    for (int k = 0; k < lv->ntried; k++)
        own |= UINT64_C(1) << lv->tried[k];
    for (int d = 0; d < a->nindex; d++)
        if (!(own >> d & 1) && a->line[lv->line].coef[d]) return false;
    return true;
}

static bool fits(const affine *a)
{
    if (a->nlevel < 2 || a->nrest != 1 || a->nload != 2 || a->sink.kind != SINK_ACC ||
        a->line[0].coef[a->rest[0]] != 1 || a->line[1].coef[a->rest[0]] != 1)
        return false;
    for (int l = 0; l < a->nlevel; l++)
        if (a->level[l].solved < 0 || !independent(a, &a->level[l])) return false;
    const affine_level *leaf = &a->level[a->nlevel - 1], *mid = leaf - 1;
    const affine_line *x = &a->line[leaf->line], *y = &a->line[mid->line];
    for (int k = 0; k < mid->ntried; k++)
        if (a->line[0].coef[mid->tried[k]]) return false;
    return leaf->walked && leaf->ntried == 0 && x->coef[leaf->solved] == 1 &&
           a->line[0].coef[leaf->solved] == 0 &&
           leaf->at->base >= x->base + a->lo[leaf->solved] &&
           leaf->at->base + leaf->at->extent <= x->base + a->hi[leaf->solved] &&
           (mid->ordered || !mid->walked) && y->coef[mid->solved] > 0;
}

/* All values of the tried indices of levels `from` … `to`-1 from the k-th of them on, x so
 * far; false: too many, or too far. */
static bool list_choices(const affine *a, const int *tried, const int *of, int n,
                         const gather_choice *x, gather_choice *out, int *count)
{
    if (n == 0) {
        if (*count == GATHER_CHOICES) return false;
        out[(*count)++] = *x;
        return true;
    }
    const int d = tried[0], y = a->level[of[0]].line;
    for (int64_t v = a->lo[d]; v < a->hi[d]; v++) {
        gather_choice next = *x;
        next.y[of[0]] += a->line[y].coef[d] * v;
        for (int k = 0; k < 2; k++)
            next.at[k] += a->line[k].coef[d] * v;
        if (!list_choices(a, tried + 1, of + 1, n - 1, &next, out, count)) return false;
    }
    return true;
}

static bool choices_of(const affine *a, int from, int to, gather_choice *out, int *count)
{
    int tried[AFFINE_INDICES], of[AFFINE_INDICES], n = 0;
    for (int l = from; l < to; l++)
        for (int k = 0; k < a->level[l].ntried; k++) {
            tried[n] = a->level[l].tried[k];
            of[n++] = l;
        }
    *count = 0;
    return list_choices(a, tried, of, n, &(gather_choice){.at = {0, 0}}, out, count);
}

static int by_coordinate(const void *a, const void *b)
{
    const gather_window *x = a, *y = b;
    return (x->least > y->least) - (x->least < y->least);
}

/* The windows of the middle level: one, where neighbouring pixels meet the factor in even
 * steps, or else one for each choice. */
static bool set_windows(gather *g)
{
    const affine *a = g->a;
    const affine_level *mid = &a->level[g->mid];
    gather_choice x[GATHER_CHOICES];
    int n;
    if (!choices_of(a, g->mid, g->mid + 1, x, &n)) return false;
    for (int k = 0; k < n; k++)
        g->window[k] = (gather_window){x[k].y[g->mid], x[k].y[g->mid], x[k].at[1]};
    qsort(g->window, (size_t)n, sizeof *g->window, by_coordinate);
    bool even = n > 1;
    for (int k = 1; k < n && even; k++)
        even = g->window[k].least == g->window[k - 1].least + 1 &&
               g->window[k].at - g->window[k - 1].at == g->window[1].at - g->window[0].at;
    g->slope = even ? g->window[1].at - g->window[0].at : 0;
    if (even) g->window[0].most = g->window[n - 1].least;
    g->nwindow = even ? 1 : n;
    g->span = even ? n : 1;
    g->base = a->line[mid->line].base;
    g->step = a->line[mid->line].coef[mid->solved];
    g->factor_step = a->line[1].coef[mid->solved];
    g->low = g->base + g->step * a->lo[mid->solved] + g->window[0].least;
    g->pixels = g->base + g->step * (a->hi[mid->solved] - 1) - g->low + 1 +
                (even ? g->window[0].most : g->window[n - 1].most);
    return true;
}

/* ---- lines ------------------------------------------------------------------------ */

/* The line that lies at coordinates x of the levels above, for choice c: false if that
 * leads out of the nest's ranges. */
static bool lead(const gather *g, const gather_choice *c, gather_line *out)
{
    const affine *a = g->a;
    out->to = a->line[0].base + c->at[0];
    out->from = a->line[1].base + c->at[1];
    for (int l = 0; l < g->mid; l++) {
        const affine_level *lv = &a->level[l];
        const affine_line *x = &a->line[lv->line];
        const int d = lv->solved;
        const int64_t far = g->x[l] - x->base - c->y[l], v = far / x->coef[d];
        if (v * x->coef[d] != far || v < a->lo[d] || v >= a->hi[d]) return false;
        out->to += a->line[0].coef[d] * v;
        out->from += a->line[1].coef[d] * v;
    }
    return true;
}

/* Room for a line's table, if it is worth one; whole chunks are written. */
static stc_status make_table(machine *mc, gather *g, gather_line *x)
{
    const int64_t from = g->ntable, n = from + g->pixels + 1;
    if (g->pixels > SPARSE * (x->end - x->begin)) return STC_OK;
    if (n + CHUNK > g->table_cap &&
        mem_grow(mc->cx, &g->table, &g->table_cap, n + CHUNK, sizeof *g->table))
        return mc->cx->diag.status;
    g->ntable = n;
    x->table = from;
    return STC_OK;
}

/* Writes `at` to out[from … to], and may go on: returns what comes next. */
INLINE int64_t set_range(int32_t *out, int64_t from, int64_t to, int32_t at)
{
    for (int64_t k = from; k <= to; k += CHUNK)
        *(chunk *)(out + k) = (uint32_t)at - (chunk){0};
    return from > to ? from : to + 1;
}

/* Where each entry of a line has its row of the factor; and its table, if there is one.
 * What is written beyond a pixel's is that of the next ones, which come later. */
INLINE void set_line(gather *g, const gather_line *x)
{
    const affine *a = g->a;
    const affine_level mid = a->level[g->mid], leaf = a->level[g->mid + 1];
    const bool narrow = leaf.width == 4 && leaf.stride == 4;
    const uint32_t base = (uint32_t)a->line[leaf.line].base,
                   by = (uint32_t)a->line[1].coef[leaf.solved];
    const int64_t last = x->table == NONE ? -1 : g->pixels;
    int32_t *table = last < 0 ? NULL : g->table + x->table;
    uint32_t *const offset = g->offset, *const pixel = g->pixel;
    int64_t k = 0, q = affine_children(&leaf, x->begin);
    for (int64_t p = x->begin; p < x->end; p++) {
        const int64_t y = gather_pixel(&mid, x->first, p);
        const int64_t end = affine_children(&leaf, p + 1);
        const uint32_t more = (uint32_t)gather_scaled(g->slope, y) - by * base;
        k = set_range(table, k, y - g->low < last ? y - g->low : last, (int32_t)q);
        const uint32_t here = (uint32_t)(y - g->low);
        for (; narrow && q < end && q + CHUNK <= g->entries; q += CHUNK) {
            *(chunk *)(offset + q) =
                by * *(const chunk *)((const int32_t *)leaf.crd + q) + more;
            *(chunk *)(pixel + q) = here - (chunk){0};
        }
        for (; q < end; q++) {
            offset[q] = by * (uint32_t)affine_coord(&leaf, q) + more;
            pixel[q] = here;
        }
        q = end;
    }
    set_range(table, k, last, (int32_t)q);
}

WIDE static void set_line_wide(gather *g, const gather_line *x)
{
    set_line(g, x);
}

static void set_line_plain(gather *g, const gather_line *x)
{
    set_line(g, x);
}

static stc_status add_lines(machine *mc, gather *g, gather_line x)
{
    bool any = false;
    x.table = NONE;
    for (int k = 0; k < g->nchoice; k++) {
        if (!lead(g, &g->choice[k], &x)) continue;
        if (!any && make_table(mc, g, &x)) return mc->cx->diag.status;
        if (g->nline == g->line_cap &&
            mem_grow(mc->cx, &g->line, &g->line_cap, g->nline + 1, sizeof *g->line))
            return mc->cx->diag.status;
        g->line[g->nline++] = x;
        any = true;
    }
    if (any && super_wide(mc))
        set_line_wide(g, &x);
    else if (any)
        set_line_plain(g, &x);
    return STC_OK;
}

/* Level l below positions begin … end-1, which share a coordinate. */
static stc_status list_lines(machine *mc, gather *g, int l, int64_t begin, int64_t end)
{
    const affine *a = g->a;
    const affine_level *lv = &a->level[l];
    const int64_t base = a->line[lv->line].base;
    if (!lv->walked) {
        const int64_t first = begin * lv->extent;
        if (l == g->mid)
            return add_lines(mc, g,
                             (gather_line){first, first + lv->extent, first, NONE, 0, 0});
        for (int64_t k = 0; k < lv->extent; k++) {
            g->x[l] = lv->lo + k;
            if (g->x[l] < base + lv->min || g->x[l] > base + lv->max) continue;
            if (list_lines(mc, g, l + 1, first + k, first + k + 1))
                return mc->cx->diag.status;
        }
        return STC_OK;
    }
    begin = affine_children(lv, begin);
    end = affine_children(lv, end);
    if (l == g->mid) return add_lines(mc, g, (gather_line){begin, end, begin, NONE, 0, 0});
    for (int64_t next; begin < end; begin = next) {
        g->x[l] = affine_coord(lv, begin);
        for (next = begin + 1;
             lv->grouped && next < end && affine_coord(lv, next) == g->x[l];)
            next++;
        if (g->x[l] < base + lv->min || g->x[l] > base + lv->max) continue;
        if (list_lines(mc, g, l + 1, begin, next)) return mc->cx->diag.status;
    }
    return STC_OK;
}

static int by_place(const void *a, const void *b)
{
    const gather_line *x = a, *y = b;
    if (x->to != y->to) return (x->to > y->to) - (x->to < y->to);
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* For so many entries. */
static bool make_room(machine *mc, gather *g, int64_t n)
{
    return (n <= g->offset_cap ||
            !mem_grow(mc->cx, &g->offset, &g->offset_cap, n, sizeof *g->offset)) &&
           (n <= g->pixel_cap ||
            !mem_grow(mc->cx, &g->pixel, &g->pixel_cap, n, sizeof *g->pixel)) &&
           (n <= g->weight_cap ||
            !mem_grow(mc->cx, &g->weight, &g->weight_cap, n, sizeof(int64_t)));
}

/* Whether each line of the result is gone through once. */
static bool once(const gather *g)
{
    for (int64_t k = 0, n = 0; k < g->nline; k++) {
        n = k && g->line[k].to == g->line[k - 1].to ? n + g->nwindow : g->nwindow;
        if (n > GATHER_INPUTS) return false;
    }
    return true;
}

/* ---- a run ------------------------------------------------------------------------- */

bool affine_gathers(machine *mc, affine *a)
{
    const int64_t all = mc->slot[a->load[0].tensor].t->nvals;
    const int64_t factor = mc->slot[a->load[1].tensor].t->nvals;
    if (!fits(a) || (all | factor) > INT32_MAX) return false;
    if (!a->gather) a->gather = mem_zero(mc->cx, 1, sizeof *a->gather);
    gather *g = a->gather;
    if (g) {
        g->a = a;
        g->mid = a->nlevel - 2;
        g->entries = all;
        g->nline = g->ntable = 0;
        if (!choices_of(a, 0, g->mid, g->choice, &g->nchoice) || !set_windows(g))
            return false;
        if (make_room(mc, g, all + GATHER_CHUNK) &&
            !list_lines(mc, g, 0, a->begin, a->end) &&
            !mem_sort(mc->cx, g->line, g->nline, sizeof *g->line, by_place)) {
            return !a->append || once(g);
        }
    }
    diag_clear(mc->cx); /* there is no memory, and another way */
    return false;
}

void affine_gather_release(machine *mc, affine *a)
{
    gather *g = a->gather;
    if (!g) return;
    mem_free(mc->cx, g->line, (size_t)g->line_cap * sizeof *g->line);
    mem_free(mc->cx, g->offset, (size_t)g->offset_cap * sizeof *g->offset);
    mem_free(mc->cx, g->pixel, (size_t)g->pixel_cap * sizeof *g->pixel);
    mem_free(mc->cx, g->weight, (size_t)g->weight_cap * sizeof(int64_t));
    mem_free(mc->cx, g->table, (size_t)g->table_cap * sizeof *g->table);
    mem_free(mc->cx, g, sizeof *g);
}
