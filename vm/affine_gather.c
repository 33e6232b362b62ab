/* affine_gather.c: an affine nest that adds rows of a dense factor to rows of a dense
 * result, as a layer of features does, a row of the result at a time.
 *
 *     C(n,h,w,f) += A(n,h+r,w+q,c) * F(r,q,c,f)
 *
 * Where entries are scattered (affine_walk.c), a row of the result is read and written
 * once for each fiber of channels around it. Here the fibers of the level above, lines of
 * pixels, are listed first, each for all rows of the filter that lead from it into the
 * result; then each line of the result is gone through with the lines that lead into it
 * side by side, in the order of their pixels. What is around one place is a few stretches
 * of entries, and so is a row of the result that stays in registers while all of them are
 * added. (The convolutions paper's loop i → p, Fig. 19, with subsections of all of the
 * filter's rows at once; places without any are passed over.)
 *
 * Takes levels whose coordinates have indices of their own; strides, dilations and
 * shifts may be any. Rows that nothing was stored into aren't filled again (stains.c).
 */
#include "affine.h"
#include "super.h"
#include <stdlib.h>
#include <string.h>

enum { CHOICES = 64, INPUTS = 64, COUNTED = 128 };
enum { SPARSE = 128 }; /* pixels for each that is there, where tables aren't worth it */

/* Values of the indices that are tried at some levels: what they add to the coordinates,
 * and to the places in result and factor. */
typedef struct choice {
    int64_t y[STC_MAX_ORDER], at[2];
} choice;

/* Pixels least … most more than where the solved index leads to count, the first one
 * with the factor's rows from `at` on. */
typedef struct window {
    int64_t least, most, at;
} window;

/* A line of pixels, and where it leads to: the places in result and factor. */
typedef struct line {
    int64_t begin, end, first; /* positions; one of coordinate lo, if implied */
    int64_t table;             /* of where entries begin, NONE: there is none */
    int64_t to, from;
} line;

/* A line with a window: entered at `here`, up to `there`. For index x of the result, and z
 * the steps to it, its entries are begin[z] … end[z]-1 if there is a table. */
typedef struct input {
    int64_t here, there, last, first, least, most, at;
    const int32_t *begin, *end;
} input;

/* Entries that meet the factor's rows at their own offset and `at` more. */
typedef struct segment {
    int64_t begin, end, at;
} segment;

/* What `n` segments add to a row. */
typedef struct gathered {
    const segment *seg;
    int n;
    bool fresh; /* nothing was stored there yet: it begins with the fill */
} gathered;

typedef struct affine_gather gather;
/* Adds x to the `width` values from `to` on. */
typedef void (*row_adder)(const gather *g, int64_t to, int64_t width, const gathered *x);

struct affine_gather {
    affine *a;
    int mid, nchoice, nwindow;
    choice choice[CHOICES]; /* of the levels above mid */
    window window[CHOICES]; /* of mid                   */
    int64_t slope; /* how far the factor's rows of neighbouring pixels are apart      */
    int64_t step, base, factor_step; /* of the solved index at mid                      */
    int64_t x[STC_MAX_ORDER];
    line *line;
    int64_t nline, line_cap;
    int64_t *offset; /* of entries: where their rows of the factor are */
    int64_t offset_cap;
    int32_t *table; /* of lines that are not too sparse: where the entries from a pixel on
                       begin, for all pixels from `low` on                   */
    int64_t ntable, table_cap, low, pixels;
    row_adder add;
};

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
                         const choice *x, choice *out, int *count)
{
    if (n == 0) {
        if (*count == CHOICES) return false;
        out[(*count)++] = *x;
        return true;
    }
    const int d = tried[0], y = a->level[of[0]].line;
    for (int64_t v = a->lo[d]; v < a->hi[d]; v++) {
        choice next = *x;
        next.y[of[0]] += a->line[y].coef[d] * v;
        for (int k = 0; k < 2; k++)
            next.at[k] += a->line[k].coef[d] * v;
        if (!list_choices(a, tried + 1, of + 1, n - 1, &next, out, count)) return false;
    }
    return true;
}

static bool choices_of(const affine *a, int from, int to, choice *out, int *count)
{
    int tried[AFFINE_INDICES], of[AFFINE_INDICES], n = 0;
    for (int l = from; l < to; l++)
        for (int k = 0; k < a->level[l].ntried; k++) {
            tried[n] = a->level[l].tried[k];
            of[n++] = l;
        }
    *count = 0;
    return list_choices(a, tried, of, n, &(choice){.at = {0, 0}}, out, count);
}

static int by_coordinate(const void *a, const void *b)
{
    const window *x = a, *y = b;
    return (x->least > y->least) - (x->least < y->least);
}

/* The windows of the middle level: one, where neighbouring pixels meet the factor in even
 * steps, or else one for each choice. */
static bool set_windows(gather *g)
{
    const affine *a = g->a;
    const affine_level *mid = &a->level[g->mid];
    choice x[CHOICES];
    int n;
    if (!choices_of(a, g->mid, g->mid + 1, x, &n)) return false;
    for (int k = 0; k < n; k++)
        g->window[k] = (window){x[k].y[g->mid], x[k].y[g->mid], x[k].at[1]};
    qsort(g->window, (size_t)n, sizeof *g->window, by_coordinate);
    bool even = n > 1;
    for (int k = 1; k < n && even; k++)
        even = g->window[k].least == g->window[k - 1].least + 1 &&
               g->window[k].at - g->window[k - 1].at == g->window[1].at - g->window[0].at;
    g->slope = even ? g->window[1].at - g->window[0].at : 0;
    if (even) g->window[0].most = g->window[n - 1].least;
    g->nwindow = even ? 1 : n;
    g->base = a->line[mid->line].base;
    g->step = a->line[mid->line].coef[mid->solved];
    g->factor_step = a->line[1].coef[mid->solved];
    g->low = g->base + g->step * a->lo[mid->solved] + g->window[0].least;
    g->pixels = g->base + g->step * (a->hi[mid->solved] - 1) - g->low + 1 +
                (even ? g->window[0].most : g->window[n - 1].most);
    return true;
}

/* ---- lines ------------------------------------------------------------------------ */

static int64_t index_of(const char *a, int width, int64_t k)
{
    return width == 4 ? ((const int32_t *)a)[k] : ((const int64_t *)a)[k];
}

/* Where the children of position p begin. */
static int64_t children(const affine_level *lv, int64_t p)
{
    return lv->bounds ? index_of(lv->bounds, lv->bounds_width, p) : p;
}

static int64_t pixel(const affine_level *mid, int64_t first, int64_t p)
{
    return mid->walked ? affine_coord(mid, p) : p - first + mid->lo;
}

/* The line that lies at coordinates x of the levels above, for choice c: false if that
 * leads out of the nest's ranges. */
static bool lead(const gather *g, const choice *c, line *out)
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

/* slope * x; of pixels that no window has, what isn't a place at all. */
static int64_t scaled(int64_t slope, int64_t x)
{
    return (int64_t)((uint64_t)slope * (uint64_t)x);
}

/* Where each entry of a line has its row of the factor. */
static void set_offsets(gather *g, const line *x)
{
    const affine *a = g->a;
    const affine_level *mid = &a->level[g->mid], *leaf = mid + 1;
    const int64_t base = a->line[leaf->line].base, by = a->line[1].coef[leaf->solved];
    for (int64_t p = x->begin; p < x->end; p++) {
        const int64_t more = scaled(g->slope, pixel(mid, x->first, p));
        const int64_t end = children(leaf, p + 1);
        for (int64_t q = children(leaf, p); q < end; q++)
            g->offset[q] = by * (affine_coord(leaf, q) - base) + more;
    }
}

/* A line's table, if it is worth one. */
static stc_status set_table(machine *mc, gather *g, line *x)
{
    const affine_level *mid = &g->a->level[g->mid], *leaf = mid + 1;
    const int64_t n = g->pixels + 1, from = g->ntable;
    if (g->pixels > SPARSE * (x->end - x->begin) || children(leaf, x->end) > INT32_MAX)
        return STC_OK;
    if (from + n > g->table_cap &&
        mem_grow(mc->cx, &g->table, &g->table_cap, from + n, sizeof *g->table))
        return mc->cx->diag.status;
    int32_t *out = g->table + from;
    int64_t k = 0;
    for (int64_t p = x->begin; p < x->end; p++) {
        const int64_t y = pixel(mid, x->first, p) - g->low;
        const int32_t at = (int32_t)children(leaf, p);
        for (; k <= y && k < n; k++)
            out[k] = at;
    }
    for (; k < n; k++)
        out[k] = (int32_t)children(leaf, x->end);
    g->ntable += n;
    x->table = from;
    return STC_OK;
}

static stc_status add_lines(machine *mc, gather *g, line x)
{
    bool any = false;
    x.table = NONE;
    for (int k = 0; k < g->nchoice; k++) {
        if (!lead(g, &g->choice[k], &x)) continue;
        if (!any && set_table(mc, g, &x)) return mc->cx->diag.status;
        if (g->nline == g->line_cap &&
            mem_grow(mc->cx, &g->line, &g->line_cap, g->nline + 1, sizeof *g->line))
            return mc->cx->diag.status;
        g->line[g->nline++] = x;
        any = true;
    }
    if (any) set_offsets(g, &x);
    return STC_OK;
}

/* Level l below positions begin … end-1, which share a coordinate. */
static stc_status list_lines(machine *mc, gather *g, int l, int64_t begin, int64_t end)
{
    const affine *a = g->a;
    const affine_level *lv = &a->level[l];
    const int64_t base = a->line[lv->line].base;
    if (begin >= end) return STC_OK;
    if (!lv->walked) {
        const int64_t first = begin * lv->extent;
        if (l == g->mid)
            return add_lines(mc, g, (line){first, first + lv->extent, first, NONE, 0, 0});
        for (int64_t k = 0; k < lv->extent; k++) {
            g->x[l] = lv->lo + k;
            if (g->x[l] < base + lv->min || g->x[l] > base + lv->max) continue;
            if (list_lines(mc, g, l + 1, first + k, first + k + 1))
                return mc->cx->diag.status;
        }
        return STC_OK;
    }
    begin = children(lv, begin);
    end = children(lv, end);
    if (l == g->mid) return add_lines(mc, g, (line){begin, end, begin, NONE, 0, 0});
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
    const line *x = a, *y = b;
    if (x->to != y->to) return (x->to > y->to) - (x->to < y->to);
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* ---- rows ------------------------------------------------------------------------- */

#define ROWS(CLS, T, U)                                                                    \
    /* N vectors of it from `out` on, all of them in registers. */                         \
    INLINE void block_##CLS(T *restrict out, const T *f, const T *v, T s, T fill,          \
                            const int64_t *offset, gathered x, int N)                      \
    {                                                                                      \
        typedef U vec __attribute__((vector_size(32), aligned(sizeof(U)), may_alias));     \
        vec sum[8];                                                                        \
        if (x.fresh)                                                                       \
            for (int k = 0; k < N; k++)                                                    \
                sum[k] = (U)fill - (vec){0};                                               \
        else                                                                               \
            for (int k = 0; k < N; k++)                                                    \
                sum[k] = ((const vec *)out)[k];                                            \
        for (int i = 0; i < x.n; i++) {                                                    \
            const T *g = f + x.seg[i].at;                                                  \
            for (int64_t p = x.seg[i].begin; p < x.seg[i].end; p++) {                      \
                const U w = (U)FN_MUL_##CLS(s, v[p]);                                      \
                const vec *row = (const vec *)(g + offset[p]);                             \
                __asm__(""                                                                 \
                        : "+r"(row)); /* one register: the compiler's way spills others */ \
                for (int k = 0; k < N; k++)                                                \
                    sum[k] += row[k] * w;                                                  \
            }                                                                              \
        }                                                                                  \
        for (int k = 0; k < N; k++)                                                        \
            ((vec *)out)[k] = sum[k];                                                      \
    }                                                                                      \
    INLINE void add_##CLS(T *restrict out, const T *f, const T *v, T s, T fill,            \
                          const int64_t *offset, gathered x, int64_t width)                \
    {                                                                                      \
        enum { LANES = 32 / sizeof(T) };                                                   \
        int64_t j = 0;                                                                     \
        for (; j + 8 * LANES <= width; j += 8 * LANES)                                     \
            block_##CLS(out + j, f + j, v, s, fill, offset, x, 8);                         \
        for (; j + 2 * LANES <= width; j += 2 * LANES)                                     \
            block_##CLS(out + j, f + j, v, s, fill, offset, x, 2);                         \
        for (int64_t k = j; x.fresh && k < width; k++)                                     \
            out[k] = fill;                                                                 \
        for (int i = 0; i < x.n && j < width; i++)                                         \
            for (int64_t p = x.seg[i].begin; p < x.seg[i].end; p++) {                      \
                const T w = FN_MUL_##CLS(s, v[p]);                                         \
                const T *row = f + offset[p] + x.seg[i].at;                                \
                for (int64_t k = j; k < width; k++)                                        \
                    out[k] = FN_ADD_##CLS(out[k], FN_MUL_##CLS(w, row[k]));                \
            }                                                                              \
    }                                                                                      \
    INLINE void row_##CLS(const gather *g, int64_t to, int64_t width, const gathered *x)   \
    {                                                                                      \
        const affine *a = g->a;                                                            \
        const T s = *(const T *)&a->factor, fill = *(const T *)&a->room.tensor->fill;      \
        const T *f = (const T *)a->vals[1] + a->lo[a->rest[0]], *v = a->vals[0];           \
        add_##CLS((T *)a->out + to, f, v, s, fill, g->offset, *x, width);                  \
    }                                                                                      \
    static void plain_##CLS(const gather *g, int64_t to, int64_t width, const gathered *x) \
    {                                                                                      \
        row_##CLS(g, to, width, x);                                                        \
    }                                                                                      \
    AVX2 static void wide_##CLS(const gather *g, int64_t to, int64_t width,                \
                                const gathered *x)                                         \
    {                                                                                      \
        row_##CLS(g, to, width, x);                                                        \
    }
ROWS(F64, double, double)
ROWS(F32, float, float)
ROWS(I64, int64_t, uint64_t)

static row_adder adder_of(vclass cls)
{
    const bool wide = SUPER_HAS_AVX2;
    return cls == CLASS_F64   ? (wide ? wide_F64 : plain_F64)
           : cls == CLASS_F32 ? (wide ? wide_F32 : plain_F32)
                              : (wide ? wide_I64 : plain_I64);
}

/* ---- a line of the result ----------------------------------------------------------- */

/* Moves a window to the pixels from `least` to `most`. */
static void slide(const affine_level *mid, input *in, int64_t least, int64_t most)
{
    while (in->here < in->last && pixel(mid, in->first, in->here) < least)
        in->here++;
    if (in->there < in->here) in->there = in->here;
    while (in->there < in->last && pixel(mid, in->first, in->there) <= most)
        in->there++;
}

/* The segments of entries that windows with tables have at z; each meets the factor's rows
 * `at` more than where the window itself does. */
INLINE int look_up(const input *in, int n, int64_t z, int64_t at, segment *seg)
{
    int count = 0;
    for (int k = 0; k < n; k++) {
        const int32_t begin = in[k].begin[z], end = in[k].end[z];
        seg[count] = (segment){begin, end, in[k].at + at};
        count += begin < end; /* which way can't be foreseen */
    }
    return count;
}

/* The same of any windows, which are moved to index x. */
static int enter(const gather *g, input *in, int n, int64_t x, int64_t at, segment *seg)
{
    const affine_level *mid = &g->a->level[g->mid], *leaf = mid + 1;
    const int64_t y = g->base + g->step * x, z = g->step * (x - g->a->lo[mid->solved]);
    int count = 0;
    for (int k = 0; k < n; k++) {
        input *i = &in[k];
        if (i->begin) {
            count += look_up(i, 1, z, at, &seg[count]);
            continue;
        }
        slide(mid, i, y + i->least, y + i->most);
        const int64_t begin = children(leaf, i->here), end = children(leaf, i->there);
        seg[count] = (segment){begin, end, i->at + at};
        count += begin < end;
    }
    return count;
}

/* How many entries windows with tables have at n indices, from z on. */
static void count_entries(const gather *g, const input *in, int windows, int64_t z, int n,
                          int32_t *restrict count)
{
    memset(count, 0, (size_t)n * sizeof *count);
    for (int w = 0; w < windows; w++) {
        const int32_t *begin = in[w].begin + z, *end = in[w].end + z;
        if (g->step == 1) {
            for (int k = 0; k < n; k++)
                count[k] += end[k] - begin[k];
        } else {
            for (int k = 0; k < n; k++)
                count[k] += end[k * g->step] - begin[k * g->step];
        }
    }
}

/* The next index after x with anything in a window without a table. */
static int64_t next_index(const gather *g, const input *in, int n, int64_t x)
{
    const affine_level *mid = &g->a->level[g->mid];
    int64_t next = INT64_MAX;
    for (int k = 0; k < n; k++) {
        if (in[k].begin) return x + 1;
        if (in[k].here == in[k].last) continue;
        const int64_t far = pixel(mid, in[k].first, in[k].here) - in[k].most - g->base;
        const int64_t y = far <= 0 ? far / g->step : (far - 1) / g->step + 1;
        if (y < next) next = y;
    }
    return next > x ? next : x + 1;
}

/* Sees to places begin … end-1 of the result, marked if there are marks: true if nothing
 * was stored there yet, and all of them will be. */
static bool open_row(machine *mc, affine *a, int64_t begin, int64_t end)
{
    const affine_room *room = &a->room;
    tensor *t = room->tensor;
    const int64_t inside = t->stains.old ? (1 << room->shift) - 1 : 0; /* of a line */
    const bool fresh = begin >= t->nvals && !((begin | end) & inside);
    if (fresh) {
        if (begin > t->nvals) tensor_fill_to(t, begin);
        t->nvals = end;
    } else if (end > t->nvals) {
        (void)asm_value(mc, &mc->slot[a->sink.a], end - 1); /* there is room */
    }
    if (!room->mark) return fresh;
    const int64_t last = (end - 1) >> room->shift, one = 0x0101010101010101;
    uint8_t *mark = room->mark + (begin >> room->shift);
    int64_t n = last - (begin >> room->shift) + 1;
    for (; n >= 8; n -= 8, mark += 8)
        memcpy(mark, &one, 8);
    for (; n > 0; n--)
        *mark++ = 1;
    return fresh;
}

/* All that leads into one line of the result, or into the same one once more. */
static stc_status add_line(machine *mc, gather *g, input *in, int n, int64_t to)
{
    affine *a = g->a;
    const affine_level *mid = &a->level[g->mid];
    const int64_t by = a->line[0].coef[mid->solved], hi = a->hi[mid->solved];
    const int64_t lo = a->lo[a->rest[0]], width = a->hi[a->rest[0]] - lo;
    const int64_t first = a->lo[mid->solved];
    bool tables = true;
    segment seg[INPUTS + 1];
    int32_t count[COUNTED];
    for (int k = 0; k < n; k++)
        tables &= in[k].begin != NULL;
    for (int64_t x = first, from = x, end = x; x < hi;) {
        const int64_t z = g->step * (x - first);
        if (tables && x == end) {
            from = x;
            end = hi - x < COUNTED ? hi : x + COUNTED;
            count_entries(g, in, n, z, (int)(end - x), count);
        }
        if (tables && !count[x - from]) {
            x++;
            continue;
        }
        const int64_t at = g->factor_step * x - scaled(g->slope, g->base + g->step * x);
        const int m = tables ? look_up(in, n, z, at, seg) : enter(g, in, n, x, at, seg);
        if (m) {
            const int64_t row = to + lo + by * x;
            const bool fresh = open_row(mc, a, row, row + width);
            g->add(g, row, width, &(gathered){seg, m, fresh});
        }
        for (int k = 0; k < m; k++)
            a->rounds += (seg[k].end - seg[k].begin) * width;
        x = m ? x + 1 : next_index(g, in, n, x);
    }
    a->rounds += n;
    if (a->rounds < SUPER_POLL) return STC_OK;
    const int64_t rounds = a->rounds;
    a->rounds = 0;
    return machine_count(mc, rounds);
}

/* ---- a run -------------------------------------------------------------------------- */

bool affine_gathers(machine *mc, affine *a)
{
    const int64_t all = mc->slot[a->load[0].tensor].t->nvals;
    if (!fits(a)) return false;
    if (!a->gather) a->gather = mem_zero(mc->cx, 1, sizeof *a->gather);
    gather *g = a->gather;
    if (g) {
        g->a = a;
        g->mid = a->nlevel - 2;
        g->nline = g->ntable = 0;
        g->add = adder_of((vclass)a->cls);
        if (!choices_of(a, 0, g->mid, g->choice, &g->nchoice) || !set_windows(g))
            return false;
        if ((all <= g->offset_cap ||
             !mem_grow(mc->cx, &g->offset, &g->offset_cap, all, sizeof *g->offset)) &&
            !list_lines(mc, g, 0, a->begin, a->end))
            return true;
    }
    diag_clear(mc->cx); /* there is no memory, and another way */
    return false;
}

/* A line seen through a window. */
static input input_of(const gather *g, const line *x, const window *w)
{
    const affine *a = g->a;
    const int64_t from = g->base + g->step * a->lo[a->level[g->mid].solved] + w->least;
    const int32_t *begin = x->table == NONE ? NULL : g->table + x->table + (from - g->low);
    return (input){
        .here = x->begin,
        .there = x->begin,
        .last = x->end,
        .first = x->first,
        .least = w->least,
        .most = w->most,
        .at = x->from + w->at - scaled(g->slope, w->least),
        .begin = begin,
        .end = begin ? begin + (w->most - w->least + 1) : NULL,
    };
}

stc_status affine_gather_run(machine *mc, affine *a, int64_t last)
{
    gather *g = a->gather;
    slot *s = &mc->slot[a->sink.a];
    input in[INPUTS];
    a->rounds = 1;
    s->stores++;
    if (affine_room_rows(mc, a, last)) return mc->cx->diag.status;
    qsort(g->line, (size_t)g->nline, sizeof *g->line, by_place);
    for (int64_t k = 0; k < g->nline;) {
        const int64_t to = g->line[k].to;
        int n = 0;
        for (; k < g->nline && g->line[k].to == to && n + g->nwindow <= INPUTS; k++)
            for (int w = 0; w < g->nwindow; w++)
                in[n++] = input_of(g, &g->line[k], &g->window[w]);
        if (add_line(mc, g, in, n, to)) return mc->cx->diag.status;
    }
    return machine_count(mc, a->rounds);
}

void affine_gather_release(machine *mc, affine *a)
{
    gather *g = a->gather;
    if (!g) return;
    mem_free(mc->cx, g->line, (size_t)g->line_cap * sizeof *g->line);
    mem_free(mc->cx, g->offset, (size_t)g->offset_cap * sizeof *g->offset);
    mem_free(mc->cx, g->table, (size_t)g->table_cap * sizeof *g->table);
    mem_free(mc->cx, g, sizeof *g);
}
