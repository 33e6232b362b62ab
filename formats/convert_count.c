/* convert_count.c: conversions of matrices by counting, without entries.
 *
 * What tensor_convert tries first. The source is seen as rows: any two levels
 * whose fibers are plain memory and whose entries come in order (csr, csc, dcsr,
 * coo, …; a "row" is a coordinate of the first level). Then the target is made
 * in one or two passes, as a converter by hand for that pair would do it:
 *
 *   same order       bounds by counting, coordinates and values copied
 *   other order      counting the columns, then one pass that scatters; buckets, if there
 *                    are many (pack_count.c)
 *   blocks           a row of blocks at a time: marking them, then its entries
 *   diagonals        marking the diagonals, then one pass that scatters
 *
 * Which one serves follows from the target's map and from what its levels can
 * do; where none does, `done` stays false, and nothing has happened.
 */
#include "internal.h"
#include "rows.h"
#include <string.h>

typedef struct rows {
    int mode, inner; /* the modes of rows and columns                     */
    int64_t count, columns;
    const int32_t *bound; /* row r has entries bound[r] … bound[r+1]-1         */
    int32_t *own;         /* bound, if it was made here                        */
    const char *crd;      /* columns, 4 bytes, `stride` apart                  */
    int64_t stride, n;
    const char *vals; /* of entry 0 on                                     */
} rows;

/* Entries from p on that can be looked at before the next look at limits; none where the
 * call has to end. `left` counts down to that. */
static inline int64_t row_part(ctx *cx, int64_t *left, int64_t p, int64_t end)
{
    if ((*left -= end - p) > 0) return end;
    *left = WORK_BLOCK;
    return work_block(cx, p, end);
}

static inline int32_t column_at(const char *crd, int64_t stride, int64_t p)
{
    return *(const int32_t *)(crd + p * stride);
}

static int32_t column_of(const rows *r, int64_t p)
{
    return column_at(r->crd, r->stride, p);
}

/* ---- the source -------------------------------------------------------------------- */

/* Coordinates as numbers of 4 bytes, `stride` apart; of wider ones, where no extent is as
 * large, that is the half that isn't 0. NULL: there are none. */
static const char *narrow(const fiber_table *t, int64_t extent)
{
    if (t->shape != VIEW_COORDS || (t->width != 4 && extent > INT32_MAX)) return NULL;
    const bool last = t->width == 8 && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    return (const char *)t->crd + (last ? 4 : 0);
}

/* The entries of fiber q. */
static int64_t fiber_length(const fiber_table *t, int64_t q)
{
    const int64_t *const wide = t->bounds;
    const int32_t *const end = t->bounds;
    if (!end) return 1;
    return t->bounds_width == 8 ? wide[q + 1] - wide[q] : end[q + 1] - end[q];
}

/* Bounds of all rows from the first level's coordinates; without those, fiber q is row q.
 */
static stc_status count_rows(const tensor *t, const char *row, int64_t stride,
                             const fiber_table *second, int64_t fibers, rows *r)
{
    r->own = mem_zero(t->cx, r->count + 1, sizeof *r->own);
    if (!r->own) return t->cx->diag.status;
    for (int64_t q = 0; q < fibers; q++) {
        if (work_due(t->cx, q)) return t->cx->diag.status;
        const int64_t i = row ? column_at(row, stride, q) : q;
        r->own[i + 1] += (int32_t)fiber_length(second, q);
    }
    for (int64_t k = 0; k < r->count; k++)
        r->own[k + 1] += r->own[k];
    r->bound = r->own;
    return STC_OK;
}

/* Entries in order, each place once. */
static bool in_order(const tensor *t)
{
    return t->level[0].props & PROP_ORDERED && t->level[1].props & PROP_ORDERED &&
           t->level[1].props & PROP_UNIQUE && !format_apart(&t->fmt, 0);
}

static stc_status open_rows(const tensor *t, rows *r, bool *ok)
{
    *ok = false;
    if (t->order != 2 || !format_is_plain(&t->fmt) || !in_order(t)) return STC_OK;
    const level *outer = &t->level[0], *inner = &t->level[1];
    fiber_table a, b;
    if (!outer->kind->table || !inner->kind->table) return STC_OK;
    outer->kind->table(outer, &a);
    inner->kind->table(inner, &b);
    const char *const columns = narrow(&b, inner->extent);
    if (!columns || inner->size > INT32_MAX || outer->base || inner->base) return STC_OK;
    *r = (rows){.mode = t->fmt.level[0].map.mode,
                .inner = t->fmt.level[1].map.mode,
                .count = outer->extent,
                .columns = inner->extent,
                .crd = columns,
                .stride = b.stride,
                .n = inner->size,
                .vals = t->vals};
    const bool all = a.shape == VIEW_RANGE && b.bounds;
    const char *const row = all ? NULL : narrow(&a, outer->extent);
    /* Rows are counted only where they aren't far more than there are entries. */
    *ok = all || (row && r->count <= 8 * inner->size + 1024);
    if (!*ok) return STC_OK;
    if (!all || b.bounds_width != 4)
        return count_rows(t, row, a.stride, &b, all ? r->count : outer->size, r);
    r->bound = b.bounds;
    return STC_OK;
}

/* ---- targets of two levels ----------------------------------------------------------- */

static stc_status same_rows(tensor *c, const rows *r, bool *done)
{
    append_room room;
    level *inner = &c->level[1];
    if (tensor_begin(c) || rows_room(c, inner, r->n, r->count, &room, done)) goto failed;
    if (!*done) return STC_OK;
    if (tensor_reserve_values(c, r->n)) goto failed;
    if (work_copy(c->cx, room.bounds, r->bound + 1, (size_t)r->count * sizeof(int32_t)))
        goto failed;
    int32_t *crd = room.crd;
    for (int64_t p = 0, end; (end = work_block(c->cx, p, r->n)) > p;)
        for (; p < end; p++)
            crd[p] = column_of(r, p);
    if (work_copy(c->cx, c->vals, r->vals, (size_t)r->n * type_size(c->type))) goto failed;
    c->nvals = r->n;
    inner->kind->append_done(inner, r->n, r->count);
    return tensor_finish(c);
failed:
    return c->cx->diag.status;
}

/* at[j + 1] counts column j, then is where its next entry goes; in the end it is
 * where the column ends, so that `at` is the bounds. Entries are counted in four places at
 * once: of those that follow each other, one may have to wait for the one before. */
enum { PLACES = 4 };
static stc_status count_columns(ctx *cx, const rows *r, int32_t *at)
{
    if (work_clear(cx, at, 0, (size_t)(r->columns + 1) * sizeof *at))
        return cx->diag.status;
    const char *const columns = r->crd;
    const int64_t stride = r->stride, last = r->columns - 1, part = r->n / PLACES;
    for (int64_t p = 0, end; (end = work_block(cx, p, part)) > p;)
        for (; p < end; p++)
            for (int k = 0; k < PLACES; k++) {
                const int32_t j = column_at(columns, stride, p + k * part);
                if (j < last) at[j + 2]++;
            }
    for (int64_t p = PLACES * part; p < r->n; p++)
        if (column_of(r, p) < last) at[column_of(r, p) + 2]++;
    for (int64_t j = 2, end; (end = work_block(cx, j, r->columns + 1)) > j;)
        for (; j < end; j++)
            at[j] += at[j - 1];
    return work_done(cx, r->n - part); /* the other places' entries */
}

/* The row that has entry `at`, found from row *near on, if that isn't behind it. */
static int64_t row_of(const rows *r, int64_t at, int64_t *near)
{
    int64_t i = r->bound[*near] <= at ? *near : 0, end = i, step = 1;
    for (; end < r->count - 1 && r->bound[end + 1] <= at; step *= 2) {
        i = end + 1;
        end = r->count - 1 - end < step ? r->count - 1 : end + step;
    }
    while (i < end) {
        const int64_t middle = i + (end - i) / 2;
        if (r->bound[middle + 1] > at)
            end = middle;
        else
            i = middle + 1;
    }
    return *near = i;
}

/* Entries from `at` on, of a list of rows, as those of the columns. */
static void turned_coords(const row_list *l, int64_t at, int64_t n, int64_t *near,
                          int64_t *row, int64_t *column)
{
    const rows *r = l->of;
    for (int64_t k = 0; k < n; k++)
        row[k] = column_of(r, at + k);
    int64_t i = column ? row_of(r, at, near) : 0;
    for (int64_t k = 0; column && k < n; k++) {
        while (r->bound[i + 1] <= at + k)
            i++;
        column[k] = i;
    }
}

/* The first of entries p … end - 1, which are in order of their columns and few, that has
 * column j or a later one. All are looked at, by vectors: no search waits for memory. */
static int64_t find_column(const rows *r, int64_t p, int64_t end, int32_t j)
{
    const int32_t *const crd = (const int32_t *)(const void *)r->crd;
    int32_t before = 0;
    if (r->stride != sizeof *crd) {
        while (p < end && column_of(r, p) < j)
            p++;
        return p;
    }
    for (int64_t k = p; k < end; k++)
        before += crd[k] < j;
    return p + before;
}

static int64_t turned_within(const row_list *l, int64_t at, int64_t n, int64_t *near,
                             int64_t lo, int64_t hi, int64_t *row, int64_t *column,
                             int64_t *which)
{
    const rows *r = l->of;
    int64_t found = 0;
    for (int64_t i = row_of(r, at, near), p = at; p < at + n; i++) {
        const int64_t end = r->bound[i + 1] < at + n ? r->bound[i + 1] : at + n;
        if (end > p) p = find_column(r, p, end, (int32_t)lo);
        for (int64_t j; p < end && (j = column_of(r, p)) < hi; p++) {
            row[found] = j;
            column[found] = i;
            which[found++] = p - at;
        }
        if (end > p) p = end;
    }
    return found;
}

/* Where columns are scattered over more than a cache holds, each entry would cost a wait:
 * buckets cost less, and threads share them. */
enum {
    TURNED = 1 << 22,      /* entries that are more than that                       */
    WINDOWS = 16,          /* that are looked at                                    */
    WINDOW = 1 << 12,      /* entries of one                                        */
    NEAR = 6,              /* bits of columns whose ends are counted as one place   */
    HELD = 1 << 16,        /* entries in places that a cache holds                  */
    FROM_MEMORY = 1 << 19, /* so many and more don't lie in a near cache            */
    TURN_AHEAD = 16,       /* entries before one, its place is asked for            */
    SOURCE_AHEAD = 256     /* … and it itself, where columns are near               */
};

/* Whether entries that follow each other go to few places, as those of bands and meshes
 * do: by windows into them, and the entries that a place has. */
static bool stays_near(const rows *r)
{
    uint64_t seen[WINDOW / 64];
    const int64_t places = (r->columns >> NEAR) + 1, step = r->n / WINDOWS;
    int64_t found = 0;
    for (int w = 0; w < WINDOWS; w++) {
        memset(seen, 0, sizeof seen);
        for (int64_t p = w * step; p < w * step + WINDOW && p < r->n; p++) {
            const uint32_t at = (uint32_t)column_of(r, p) >> NEAR & (WINDOW - 1);
            found += !(seen[at >> 6] >> (at & 63) & 1);
            seen[at >> 6] |= (uint64_t)1 << (at & 63);
        }
    }
    return found / WINDOWS * (r->n / places) <= HELD;
}

/* Entry p, of row i, to its column. */
#define TURN_ONE(i)                                                                        \
    const int32_t q = at[column_at(columns, stride, p) + 1]++;                             \
    crd[q] = (int32_t)(i);                                                                 \
    TO[q] = FROM[p];

static stc_status other_rows(tensor *c, const rows *r, bool *done)
{
    const int64_t many = c->cx->grain ? c->cx->grain : TURNED;
    const bool far = r->n >= FROM_MEMORY, near = !far || stays_near(r);
    if (r->n >= many && type_size(c->type) <= 8 && (c->cx->grain || !near)) {
        const row_list l = {.of = r,
                            .n = r->n,
                            .vals = r->vals,
                            .sorted = true,
                            .coords = turned_coords,
                            .within = turned_within};
        const stc_status s = rows_from_list(c, &l, done);
        if (s || *done) return s;
    }
    append_room room;
    level *inner = &c->level[1];
    if (tensor_begin(c) || rows_room(c, inner, r->n, r->columns, &room, done)) goto failed;
    if (!*done) return STC_OK;
    if (tensor_reserve_values(c, r->n)) goto failed;
    int32_t *at = (int32_t *)room.bounds - 1, *crd = room.crd;
    if (count_columns(c->cx, r, at)) goto failed;
    int64_t left = WORK_BLOCK;
    const char *const columns = r->crd;
    const int64_t stride = r->stride, asked = near ? 0 : r->n - TURN_AHEAD;
    const bool behind = near && far;
    BY_WIDTH(type_size(c->type), c->vals, r->vals, {
        for (int64_t i = 0; i < r->count; i++) {
            for (int64_t p = r->bound[i], end; p < r->bound[i + 1];) {
                if ((end = row_part(c->cx, &left, p, r->bound[i + 1])) == p) goto failed;
                for (int64_t k = p; k < end && k < asked; k++) {
                    const int32_t q = at[column_at(columns, stride, k + TURN_AHEAD) + 1];
                    __builtin_prefetch(&crd[q], 1);
                    __builtin_prefetch(&TO[q], 1);
                }
                for (; behind && p < end; p++) {
                    TURN_ONE(i)
                    if (p % 8 == 0) {
                        __builtin_prefetch(columns + (p + SOURCE_AHEAD) * stride);
                        __builtin_prefetch(FROM + p + SOURCE_AHEAD);
                    }
                    __builtin_prefetch((char *)&crd[q] + 64, 1);
                    __builtin_prefetch((char *)&TO[q] + 128, 1);
                }
                for (; p < end; p++) {
                    TURN_ONE(i)
                }
            }
        }
    })
    c->nvals = r->n;
    inner->kind->append_done(inner, r->n, r->columns);
    return tensor_finish(c);
failed:
    return c->cx->diag.status;
}

/* ---- blocks ------------------------------------------------------------------------ */

static bool maps_to(const level_map *m, map_op op, int mode)
{
    return m->op == op && m->mode == mode;
}

/* (rows/h : full, columns/w : appends, rows%h : full, columns%w : full) */
static bool takes_blocks(const tensor *c, const rows *r)
{
    const level_spec *s = c->fmt.level;
    if (c->fmt.levels != 4 || c->fmt.order != 2) return false;
    const int64_t h = s[0].map.k, w = s[1].map.k;
    const level_map want[4] = {map_part(r->mode, h, 0), map_part(r->inner, w, 0),
                               map_part(r->mode, 1, h), map_part(r->inner, 1, w)};
    for (int l = 0; l < 4; l++)
        if (!map_equal(&s[l].map, &want[l])) return false;
    for (int l = 0; l < 4; l++) {
        const level_kind *k = s[l].kind;
        const bool full = k->caps & CAP_INSERT && k->props & PROP_FULL && !k->arrays;
        if (l == 1 ? !k->append_room || !k->table || !(c->level[l].props & PROP_UNIQUE)
                   : !full)
            return false;
    }
    return format_appends(&c->fmt);
}

/* Blocks, a row of them at a time. */
typedef struct block_row {
    int64_t height, width; /* of a block                                            */
    int64_t begin, end;    /* rows                                                  */
    int32_t *mark;         /* the block at a column of blocks; below `n`: none here  */
    int32_t *list;         /* columns of this row's blocks                          */
    int64_t n, count;      /* blocks before this row, and in it                     */
    int64_t looked;        /* steps since the last look at limits                   */
} block_row;

static void begin_block_row(const rows *r, block_row *b, int64_t number)
{
    b->begin = number * b->height;
    b->end = b->begin + b->height < r->count ? b->begin + b->height : r->count;
}

/* Ascending, in place: rows of blocks are short, and most are in order already. */
static void sort_columns(int32_t *a, int64_t n)
{
    int64_t gap = 1;
    while (gap < n / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (int64_t k = gap; k < n; k++) {
            const int32_t x = a[k];
            int64_t at = k;
            for (; at >= gap && a[at - gap] > x; at -= gap)
                a[at] = a[at - gap];
            a[at] = x;
        }
}

/* Which blocks there are, in order: one division a block of a row. */
static void find_blocks(const rows *r, block_row *b)
{
    const int32_t n = (int32_t)b->n;
    int32_t count = 0;
    for (int64_t i = b->begin; i < b->end; i++)
        for (int64_t p = r->bound[i], stop = 0; p < r->bound[i + 1]; p++) {
            const int32_t j = column_of(r, p);
            if (j < stop) continue;
            const int32_t at = (int32_t)((uint32_t)j / (uint32_t)b->width);
            stop = (at + 1) * b->width;
            if (b->mark[at] >= n) continue;
            b->mark[at] = n;
            b->list[count++] = at;
        }
    sort_columns(b->list, count);
    b->count = count;
}

static void put_blocks(tensor *c, const rows *r, const block_row *b)
{
    const int64_t w = b->width;
    BY_WIDTH(type_size(c->type), c->vals, r->vals, {
        for (int64_t i = b->begin; i < b->end; i++) {
            int64_t to = 0;
            for (int64_t p = r->bound[i], stop = 0; p < r->bound[i + 1]; p++) {
                const int32_t j = column_of(r, p);
                if (j >= stop) {
                    const int32_t at = (int32_t)((uint32_t)j / (uint32_t)w);
                    to = (b->mark[at] * b->height + i - b->begin) * w - at * w;
                    stop = (at + 1) * w;
                }
                TO[to + j] = FROM[p];
            }
        }
    })
}

/* Charges the entries of a row of blocks. */
static stc_status look_at_rows(ctx *cx, const rows *r, block_row *b)
{
    b->looked += r->bound[b->end] - r->bound[b->begin] + b->height;
    if (b->looked < WORK_BLOCK) return STC_OK;
    const uint64_t steps = (uint64_t)b->looked;
    b->looked = 0;
    return work_done(cx, steps);
}

/* The level's coordinates and bounds, row by row. */
static stc_status append_blocks(tensor *c, const rows *r, block_row *b, bool *done)
{
    level *lv = &c->level[1];
    append_room room;
    for (int64_t k = 0; k < c->level[0].extent; k++, b->n += b->count) {
        begin_block_row(r, b, k);
        if (look_at_rows(c->cx, r, b)) return c->cx->diag.status;
        find_blocks(r, b);
        if (rows_room(c, lv, b->count, k + 1, &room, done)) return c->cx->diag.status;
        if (!*done) return STC_OK;
        if (b->count) memcpy(room.crd, b->list, (size_t)b->count * sizeof *b->list);
        ((int32_t *)room.bounds)[0] = (int32_t)(b->n + b->count);
        lv->kind->append_done(lv, b->count, k + 1);
    }
    return STC_OK;
}

/* Values are the fill until a row's turn comes, and then near. */
static stc_status fill_blocks(tensor *c, const rows *r, block_row *b)
{
    fiber_table t;
    int64_t size;
    c->level[1].kind->table(&c->level[1], &t);
    if (!size_mul(b->n, b->height, &size) || !size_mul(size, b->width, &size))
        return fail(c->cx, STC_ERR_OVERFLOW, "blocks have more than 2^63 values");
    if (tensor_reserve_values(c, size)) return c->cx->diag.status;
    const int32_t *bound = t.bounds, *crd = t.crd;
    for (int64_t k = 0; k < c->level[0].extent; k++) {
        begin_block_row(r, b, k);
        if (look_at_rows(c->cx, r, b)) return c->cx->diag.status;
        for (int32_t n = bound[k]; n < bound[k + 1]; n++)
            b->mark[crd[n]] = n;
        if (tensor_extend_values(c, bound[k + 1] * b->height * b->width))
            return c->cx->diag.status;
        put_blocks(c, r, b);
    }
    return STC_OK;
}

static stc_status blocks(tensor *c, const rows *r, bool *done)
{
    block_row b = {.height = c->fmt.level[0].map.k, .width = c->fmt.level[1].map.k};
    const int64_t columns = c->level[1].extent;
    if (columns > 8 * r->n + 1024) return STC_OK; /* marks would be most of the work */
    b.mark = mem_array(c->cx, columns, sizeof *b.mark);
    b.list = b.mark ? mem_array(c->cx, columns, sizeof *b.list) : NULL;
    *done = true; /* if there are no rows */
    stc_status st = b.list && !tensor_begin(c) ? STC_OK : c->cx->diag.status;
    if (!st) st = work_clear(c->cx, b.mark, 0xff, (size_t)columns * sizeof *b.mark);
    if (!st) st = append_blocks(c, r, &b, done);
    if (!st && *done) st = fill_blocks(c, r, &b);
    if (!st && *done) st = tensor_finish(c);
    mem_free(c->cx, b.list, (size_t)columns * sizeof *b.list);
    mem_free(c->cx, b.mark, (size_t)columns * sizeof *b.mark);
    return st;
}

/* ---- diagonals --------------------------------------------------------------------- */

/* (columns-rows : appends, rows : places, columns : the parent's place) */
static bool takes_diagonals(const tensor *c, const rows *r)
{
    const level_spec *s = c->fmt.level;
    if (c->fmt.levels != 3 || c->fmt.order != 2) return false;
    return s[0].map.op == MAP_DIFF && s[0].map.mode == r->inner &&
           s[0].map.mode2 == r->mode && s[0].kind->append_room &&
           c->level[0].props & PROP_UNIQUE && maps_to(&s[1].map, MAP_MODE, r->mode) &&
           maps_to(&s[2].map, MAP_MODE, r->inner) && !s[1].kind->arrays &&
           !s[2].kind->arrays && s[2].kind->props & PROP_BRANCHLESS;
}

/* offset[d] != 0 for each diagonal d = j - i + rows - 1 that has an entry. */
static int64_t mark_diagonals(ctx *cx, const rows *r, int64_t *offset, int64_t n)
{
    int64_t marked = 0, left = WORK_BLOCK;
    for (int64_t i = 0; i < r->count; i++) {
        int64_t *d = offset + (r->count - 1 - i);
        for (int64_t p = r->bound[i], end; p < r->bound[i + 1];) {
            if ((end = row_part(cx, &left, p, r->bound[i + 1])) == p) return 0;
            for (; p < end; p++)
                d[column_of(r, p)] = 1;
        }
    }
    for (int64_t d = 0, end; (end = work_block(cx, d, n)) > d;)
        for (; d < end; d++)
            marked += offset[d];
    return marked;
}

/* The marked diagonals are appended; offset becomes what a row is added to. */
static void name_diagonals(const level *places, const rows *r, int64_t *offset, int64_t n,
                           int32_t *crd)
{
    int64_t next = 0;
    for (int64_t d = 0; d < n; d++) {
        if (!offset[d]) continue;
        const int64_t diagonal = d - (r->count - 1);
        fiber_view v;
        places->kind->view(places, next, diagonal, &v);
        offset[d] = v.begin - v.lo;
        crd[next++] = (int32_t)diagonal;
    }
}

static stc_status size_diagonals(tensor *c, int64_t n)
{
    int64_t size = n;
    for (int l = 1; l < 3; l++) {
        size = c->level[l].kind->size(&c->level[l], size);
        if (size == NONE) {
            return fail(c->cx, STC_ERR_OVERFLOW,
                        "%lld diagonals have more values than 64 bits can count",
                        (long long)n);
        }
        c->level[l].size = size;
    }
    return tensor_extend_values(c, size);
}

static stc_status diagonals(tensor *c, const rows *r, bool *done)
{
    level *lv = &c->level[0];
    const int64_t all = r->count + r->columns - 1;
    if (all < 1) return STC_OK;
    append_room room;
    fiber_view v;
    int64_t *offset = mem_zero(c->cx, all, sizeof *offset);
    if (!offset) return c->cx->diag.status;
    const int64_t n = mark_diagonals(c->cx, r, offset, all);
    tensor_reset(c);
    stc_status st = work_done(c->cx, 0);
    if (!st) st = lv->kind->append_init(c->cx, lv, 1);
    if (!st) st = rows_room(c, lv, n, 1, &room, done);
    c->level[1].kind->view(&c->level[1], 0, 0, &v);
    *done = !st && *done && v.shape == VIEW_RANGE;
    if (*done) st = size_diagonals(c, n);
    if (*done && !st) {
        name_diagonals(&c->level[1], r, offset, all, room.crd);
        int64_t left = WORK_BLOCK;
        BY_WIDTH(type_size(c->type), c->vals, r->vals, {
            for (int64_t i = 0; i < r->count; i++) {
                const int64_t *to = offset + (r->count - 1 - i);
                for (int64_t p = r->bound[i], end; p < r->bound[i + 1];) {
                    if ((end = row_part(c->cx, &left, p, r->bound[i + 1])) == p) break;
                    for (; p < end; p++)
                        TO[to[column_of(r, p)] + i] = FROM[p];
                }
            }
        })
        ((int32_t *)room.bounds)[0] = (int32_t)n;
        lv->kind->append_done(lv, n, 1);
        st = work_done(c->cx, 0);
        if (!st) st = lv->kind->append_finish(c->cx, lv, 1);
    }
    mem_free(c->cx, offset, (size_t)all * sizeof *offset);
    return st;
}

/* ---- the choice -------------------------------------------------------------------- */

stc_status convert_by_counting(const tensor *t, tensor *c, bool *done)
{
    rows r;
    *done = false;
    if (t->type != c->type) return STC_OK;
    bool ok;
    if (open_rows(t, &r, &ok)) return t->cx->diag.status;
    if (!ok) return STC_OK;
    const bool same = c->fmt.level[0].map.mode == r.mode;
    stc_status st = STC_OK;
    if (rows_taken(c)) {
        st = same ? same_rows(c, &r, done) : other_rows(c, &r, done);
    } else if (takes_blocks(c, &r)) {
        st = blocks(c, &r, done);
    } else if (takes_diagonals(c, &r)) {
        st = diagonals(c, &r, done);
    }
    if (r.own) mem_free(t->cx, r.own, (size_t)(r.count + 1) * sizeof *r.own);
    if (st || !*done) return st;
    const bool summed = c->summed == c->generation;
    c->generation++;
    c->checked = c->generation;
    if (summed) c->summed = c->generation;
    return STC_OK;
}
