/* compact.c: dropping entries that equal the fill.
 *
 * What is appended below rows that are all there (vectors, csr and csc) goes fiber by
 * fiber, in two passes over its values: frontiers of a search are compacted in each round,
 * in their own arrays, which have room for the next one then. Other tensors are listed,
 * sifted and packed again.
 */
#include "internal.h"
#include "rows.h"
#include <string.h>

/* ---- listed ------------------------------------------------------------------------- */

static stc_status compact_listed(const tensor *t, tensor **out)
{
    ctx *cx = t->cx;
    entries e;
    tensor *c = NULL;
    int held[STC_MAX_ORDER];
    bool in_order = tensor_held_order(t, held) == t->order;
    entries_init(&e, cx, t->order, t->type);
    if (tensor_entries(t, &e) || tensor_new(cx, &t->fmt, t->type, t->shape, t->fill, &c)) {
        goto failed;
    }
    for (int l = 0; l < t->fmt.levels; l++) {
        if (t->level[l].props & PROP_UNIQUE) continue;
        /* duplicates count as their sum: it may be the fill, or none of them */
        int modes[STC_MAX_ORDER];
        for (int m = 0; m < t->order; m++)
            modes[m] = m;
        if (entries_sort(&e, modes, t->order, t->shape)) goto failed;
        entries_sum(&e);
        in_order = false;
        break;
    }
    entries_drop(&e, t->fill);
    if (tensor_pack_held(c, &e, in_order ? held : NULL)) goto failed;
    entries_free(&e);
    *out = c;
    return STC_OK;
failed:
    entries_free(&e);
    tensor_free(c);
    return cx->diag.status;
}

/* ---- fiber by fiber ------------------------------------------------------------------ */

enum { SIFTED = 256 }; /* values that are looked at before they are moved */

/* keep[k] = 1 where value from + k isn't the fill, for n of them; how many. */
#define UNLIKE(T, differs)                                                                 \
    for (int k = 0; k < n; k++) {                                                          \
        const T v = ((const T *)vals)[from + k];                                           \
        kept += keep[k] = (differs);                                                       \
    }                                                                                      \
    break;
static int64_t sift(const tensor *t, int64_t from, int n, uint8_t *restrict keep)
{
    const void *const vals = t->vals;
    const uint8_t none = !t->fill.u64;
    value fill = {.u64 = 0};
    int kept = 0;
    type_store(t->type, &fill, 0, t->fill);
    double f64;
    float f32;
    uint64_t u64;
    uint32_t u32;
    memcpy(&f64, &fill, sizeof f64);
    memcpy(&f32, &fill, sizeof f32);
    memcpy(&u64, &fill, sizeof u64);
    memcpy(&u32, &fill, sizeof u32);
    switch (t->type) {
    case STC_F64:
        UNLIKE(double, v != f64 && (v == v || f64 == f64))
    case STC_F32:
        UNLIKE(float, v != f32 && (v == v || f32 == f32))
    case STC_I64:
    case STC_U64:
        UNLIKE(uint64_t, v != u64)
    case STC_I32:
    case STC_U32:
        UNLIKE(uint32_t, v != u32)
    case STC_BOOL:
        UNLIKE(uint8_t, (v == 0) != none)
    default:
        for (int k = 0; k < n; k++)
            kept += keep[k] = !class_equal(type_class(t->type),
                                           type_load(t->type, t->vals, from + k), t->fill);
    }
    return kept;
}

/* The leaf, if its fibers are below positions that are all there; *parents: of these. */
static const level *rows_leaf(const tensor *t, fiber_table *f, int64_t *parents)
{
    const int last = t->fmt.levels - 1;
    *parents = 1;
    if (last < 0 || !format_is_plain(&t->fmt)) return NULL;
    const level *lv = &t->level[last];
    if (!lv->kind->table || !lv->kind->append_room || !(lv->props & PROP_UNIQUE))
        return NULL;
    for (int l = 0; l < last; l++)
        if (!(t->level[l].kind->caps & CAP_INSERT) || t->level[l].kind->arrays ||
            !size_mul(*parents, t->level[l].extent, parents))
            return NULL;
    lv->kind->table(lv, f);
    return f->shape == VIEW_COORDS && f->bounds && f->stride == f->width ? lv : NULL;
}

/* How many of the first `end` entries stay; NONE: the call has to end. */
static int64_t count_kept(const tensor *t, int64_t end)
{
    uint8_t keep[SIFTED];
    int64_t n = 0;
    for (int64_t p = 0; p < end; p += SIFTED) {
        const int some = end - p < SIFTED ? (int)(end - p) : SIFTED;
        if (work_done(t->cx, (uint64_t)some)) return NONE;
        n += sift(t, p, some, keep);
    }
    return n;
}

/* What stays of entries p to `end`, from q on; where that ends, NONE: the call has to. */
#define MOVE(I)                                                                            \
    for (int k = 0; k < n; k++) {                                                          \
        ((I *)room->crd)[q - room->pos] = ((const I *)f->crd)[p + k];                      \
        TO[q] = FROM[p + k];                                                               \
        q += keep[k];                                                                      \
    }
static int64_t move_kept(const tensor *t, const fiber_table *f, tensor *c,
                         const append_room *room, int64_t p, int64_t end, int64_t q)
{
    uint8_t keep[SIFTED];
    BY_WIDTH(type_size(t->type), c->vals, t->vals, {
        for (int n; p < end; p += n) {
            n = end - p < SIFTED ? (int)(end - p) : SIFTED;
            if (c != t && work_done(t->cx, 0)) return NONE;
            sift(t, p, n, keep);
            if (room->width == 4)
                MOVE(int32_t)
            else
                MOVE(int64_t)
        }
    })
    return q;
}

static int64_t bound_of(const fiber_table *f, int64_t p)
{
    return f->bounds_width == 4 ? ((const int32_t *)f->bounds)[p]
                                : ((const int64_t *)f->bounds)[p];
}

/* What stays of t goes to c, row by row; within t that goes on to its end. */
static stc_status move_rows(const tensor *t, const fiber_table *f, int64_t parents,
                            tensor *c, append_room *room)
{
    int64_t q = room->pos;
    for (int64_t p = 0, at = 0, end; p < parents; p++, at = end) {
        end = bound_of(f, p + 1);
        if (c != t && work_due(t->cx, p)) return t->cx->diag.status;
        q = move_kept(t, f, c, room, at, end, q);
        if (q == NONE) return t->cx->diag.status;
        room_close(room, p + 1, q);
    }
    return STC_OK;
}

/* *done: c has what stays of t; else it has nothing. */
static stc_status compact_rows(const tensor *t, tensor *c, bool *done)
{
    fiber_table f;
    int64_t parents;
    append_room room;
    const level *from = rows_leaf(t, &f, &parents);
    *done = false;
    if (!from || tensor_begin(c)) return t->cx->diag.status;
    level *lv = &c->level[t->fmt.levels - 1];
    const int64_t n = count_kept(t, bound_of(&f, parents));
    /* one more, since what doesn't stay is written behind what does */
    if (n == NONE || lv->kind->append_room(t->cx, lv, n + 1, parents, &room) ||
        tensor_reserve_values(c, n + 1))
        return t->cx->diag.status;
    if (room.width != f.width || room.bounds_width != f.bounds_width || room.closed)
        return STC_OK;
    if (move_rows(t, &f, parents, c, &room)) return t->cx->diag.status;
    lv->kind->append_done(lv, n, parents);
    c->nvals = n;
    *done = true;
    return tensor_finish(c);
}

/* Entries, and bounds, that are moved without asking whether the call has to end. */
enum { AT_ONCE = 1 << 20 };

stc_status tensor_compact_within(tensor *t, bool *done)
{
    fiber_table f;
    int64_t parents;
    append_room room;
    *done = false;
    if (!rows_leaf(t, &f, &parents) || t->pattern || t->backing || !t->vals_owned)
        return STC_OK;
    level *lv = &t->level[t->fmt.levels - 1];
    const int64_t all = bound_of(&f, parents);
    if (!lv->kind->join_again || !lv->a[STC_CRD].owned || !lv->a[STC_POS].owned ||
        all > AT_ONCE || parents > AT_ONCE)
        return STC_OK;
    const int64_t n = count_kept(t, all);
    if (n == NONE) return t->cx->diag.status;
    *done = true;
    if (n == all) return STC_OK;
    lv->kind->join_again(lv, 0);
    if (lv->kind->append_room(t->cx, lv, n + 1, parents, &room)) /* there is: it had more */
        return t->cx->diag.status;
    move_rows(t, &f, parents, t, &room);
    lv->kind->append_done(lv, n, parents);
    t->nvals = n;
    t->generation++;
    return STC_OK;
}

stc_status tensor_compact(const tensor *t, tensor **out)
{
    tensor *c;
    bool done;
    if (tensor_new(t->cx, &t->fmt, t->type, t->shape, t->fill, &c))
        return t->cx->diag.status;
    if (!compact_rows(t, c, &done) && done) {
        *out = c;
        return STC_OK;
    }
    tensor_free(c);
    return t->cx->diag.status ? t->cx->diag.status : compact_listed(t, out);
}
