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
 * Lines come from affine_lines.c; strides, dilations and shifts may be any. Rows that
 * nothing was stored into aren't filled again (stains.c).
 */
#include "affine_gather.h"
#include "super.h"
#include <string.h>

enum { INPUTS = 64, COUNTED = 128 };

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

/* Adds x to the `width` values from `to` on. */
typedef void (*row_adder)(const gather *g, int64_t to, int64_t width, const gathered *x);

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
    AVX2 static void wide_##CLS(const gather *g, int64_t to, int64_t width,                \
                                const gathered *x)                                         \
    {                                                                                      \
        row_##CLS(g, to, width, x);                                                        \
    }                                                                                      \
    static void either_##CLS(const gather *g, int64_t to, int64_t width,                   \
                             const gathered *x)                                            \
    {                                                                                      \
        if (SUPER_HAS_AVX2) {                                                              \
            wide_##CLS(g, to, width, x);                                                   \
        } else {                                                                           \
            row_##CLS(g, to, width, x);                                                    \
        }                                                                                  \
    }
ROWS(F64, double, double)
ROWS(F32, float, float)
ROWS(I64, int64_t, uint64_t)

static row_adder adder_of(vclass cls)
{
    return cls == CLASS_F64 ? either_F64 : cls == CLASS_F32 ? either_F32 : either_I64;
}

/* ---- a line of the result ----------------------------------------------------------- */

/* Moves a window to the pixels from `least` to `most`. */
static void slide(const affine_level *mid, input *in, int64_t least, int64_t most)
{
    while (in->here < in->last && gather_pixel(mid, in->first, in->here) < least)
        in->here++;
    if (in->there < in->here) in->there = in->here;
    while (in->there < in->last && gather_pixel(mid, in->first, in->there) <= most)
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
        const int64_t begin = gather_children(leaf, i->here),
                      end = gather_children(leaf, i->there);
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
        const int64_t far =
            gather_pixel(mid, in[k].first, in[k].here) - in[k].most - g->base;
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
    const int64_t inside =
        t->stains.old ? (1 << room->shift) - 1 : 0; /* of a gather_line */
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
static stc_status add_line(machine *mc, const gather *g, row_adder add, input *in, int n,
                           int64_t to)
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
        const int64_t at =
            g->factor_step * x - gather_scaled(g->slope, g->base + g->step * x);
        const int m = tables ? look_up(in, n, z, at, seg) : enter(g, in, n, x, at, seg);
        if (m) {
            const int64_t row = to + lo + by * x;
            const bool fresh = open_row(mc, a, row, row + width);
            add(g, row, width, &(gathered){seg, m, fresh});
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

/* A line seen through a window. */
static input input_of(const gather *g, const gather_line *x, const gather_window *w)
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
        .at = x->from + w->at - gather_scaled(g->slope, w->least),
        .begin = begin,
        .end = begin ? begin + (w->most - w->least + 1) : NULL,
    };
}

stc_status affine_gather_run(machine *mc, affine *a, int64_t last)
{
    const gather *g = a->gather;
    slot *s = &mc->slot[a->sink.a];
    const row_adder add = adder_of((vclass)a->cls);
    input in[INPUTS];
    a->rounds = 1;
    s->stores++;
    if (affine_room_rows(mc, a, last)) return mc->cx->diag.status;
    for (int64_t k = 0; k < g->nline;) {
        const int64_t to = g->line[k].to;
        int n = 0;
        for (; k < g->nline && g->line[k].to == to && n + g->nwindow <= INPUTS; k++)
            for (int w = 0; w < g->nwindow; w++)
                in[n++] = input_of(g, &g->line[k], &g->window[w]);
        if (add_line(mc, g, add, in, n, to)) return mc->cx->diag.status;
    }
    return machine_count(mc, a->rounds);
}
