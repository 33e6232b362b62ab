/* pack.c: from entries to a tensor of any format.
 *
 * Entries get a coordinate for each level (by the format's map), are sorted by
 * these, and every level then turns the parents' positions of the entries into
 * its own, storing what it stores. The last level's positions are the places
 * of the values.
 */
#include "base/job.h"
#include "internal.h"

/* Drops the entries that another one stands for. */
static void drop_represented(entries *e, int64_t *pos)
{
    int64_t n = 0;
    for (int64_t i = 0; i < e->n; i++) {
        if (work_due(e->cx, i)) break;
        if (pos[i] == NONE) continue;
        entries_move(e, n, i);
        pos[n++] = pos[i];
    }
    e->n = n;
}

/* Lists of entries grow generously; a tensor needn't. */
void tensor_trim_values(tensor *t)
{
    const size_t width = type_size(t->type);
    const int64_t cap = t->nvals ? t->nvals : 1;
    if (!t->vals_owned || t->vals_cap < 64 || t->vals_cap - t->vals_cap / 8 < cap) return;
    const diag kept = t->cx->diag;
    void *less =
        mem_resize(t->cx, t->vals, (size_t)t->vals_cap * width, (size_t)cap * width);
    t->cx->diag = kept; /* not to shrink is no failure */
    if (!less) return;
    t->vals = less;
    t->vals_cap = cap;
}

/* Values into their places; all other places get the fill. */
static stc_status place_values(tensor *t, entries *e, const int64_t *pos, int64_t size)
{
    const size_t width = type_size(t->type);
    bool identity = e->n == size;
    for (int64_t i = 0, end; identity && (end = work_block(t->cx, i, e->n)) > i;)
        for (; identity && i < end; i++)
            identity = pos[i] == i;
    if (e->n && work_done(t->cx, 0)) return t->cx->diag.status;
    if (identity && e->cap && t->vals_owned) { /* the entries' array is the tensor's */
        void *vals = t->vals;
        const int64_t cap = t->vals_cap;
        t->vals = e->vals;
        t->vals_cap = e->cap;
        t->nvals = size;
        e->vals = vals;
        e->n = 0;
        if (cap != e->cap) { /* entries have one capacity for all */
            mem_free(e->cx, vals, (size_t)cap * width);
            e->vals = NULL;
            for (int m = 0; m < e->order; m++) {
                mem_free(e->cx, e->coord[m], (size_t)e->cap * sizeof(int64_t));
                e->coord[m] = NULL;
            }
            e->cap = 0;
        }
        tensor_trim_values(t);
        return STC_OK;
    }
    if (tensor_extend_values(t, size)) return t->cx->diag.status;
    int64_t i = 0;
    for (int64_t end; (end = work_block(t->cx, i, e->n)) > i;)
        for (; i < end; i++)
            if (pos[i] != NONE) copy_element(t->vals, pos[i], e->vals, i, width);
    return i < e->n ? t->cx->diag.status : STC_OK;
}

/* Sorts entries by their positions in level l, as the level below takes them: where
 * coordinates come in any order, among places without one, these may not follow them. */
static stc_status sort_by_position(const tensor *t, entries *e, const int *column, int l,
                                   int64_t *pos)
{
    int64_t *const own = e->coord[column[l]]; /* no level below looks at these */
    sort_order o = {.count = t->fmt.levels - l};
    for (int d = 0; d < o.count; d++) {
        o.mode[d] = column[l + d];
        o.base[d] = d ? t->level[l + d].base : 0;
        o.extent[d] = d ? t->level[l + d].extent : t->level[l].size;
    }
    const size_t bytes = (size_t)e->n * sizeof *pos;
    if (work_copy(t->cx, own, pos, bytes) || entries_sort_by(e, &o))
        return t->cx->diag.status;
    return work_copy(t->cx, pos, own, bytes);
}

/* All levels from sorted, summed entries; column[l] is the entries' coordinate
 * that is level l's. */
static stc_status pack_levels(tensor *t, entries *e, const int *column)
{
    const int levels = t->fmt.levels;
    int64_t *pos = mem_zero(t->cx, e->n, sizeof *pos);
    if (!pos) return t->cx->diag.status;
    const size_t bytes = (size_t)e->n * sizeof *pos;
    const int64_t *below[STC_MAX_ORDER];
    stc_status status = STC_OK;
    int64_t parents = 1;
    for (int l = 0; l < levels; l++) {
        level *lv = &t->level[l];
        int chain = 0;
        status = e->n ? work_done(t->cx, 1) : STC_OK;
        if (status) break;
        while (l + 1 + chain < levels && t->level[l + 1 + chain].props & PROP_BRANCHLESS)
            chain++;
        for (int d = l + 1; d < levels; d++)
            below[d - l - 1] = e->coord[column[d]];
        pack_in in = {.count = e->n,
                      .coord = e->coord[column[l]],
                      .pos = pos,
                      .parents = parents,
                      .deeper = levels - l - 1,
                      .chain = chain,
                      .below = below,
                      .vals = e->vals,
                      .type = t->type,
                      .fill = t->fill};
        status = lv->kind->pack(t->cx, lv, &in);
        if (status) {
            if (status != STC_ERR_MEMORY) fail_level(t, l, status);
            break;
        }
        parents = lv->size;
        if (l + 1 == levels) break;
        if (lv->props & PROP_FULL && lv->kind->arrays) drop_represented(e, pos);
        if (lv->props & (PROP_ORDERED | PROP_COMPACT)) continue;
        if ((status = sort_by_position(t, e, column, l, pos))) break;
    }
    if (!status) status = place_values(t, e, pos, parents);
    mem_free(t->cx, pos, bytes);
    return status;
}

static stc_status pack_plain(tensor *t, entries *e, const int *held)
{
    sort_order o = {.count = t->order};
    int column[STC_MAX_ORDER];
    for (int l = 0; l < t->order; l++) {
        column[l] = o.mode[l] = t->fmt.level[l].map.mode;
        o.extent[l] = t->shape[o.mode[l]];
    }
    if (held) { /* the longest tail of the order in which entries come already */
        int h = t->order;
        while (o.sorted < t->order) {
            const int want = o.mode[t->order - 1 - o.sorted];
            while (h > 0 && held[h - 1] != want)
                h--;
            if (!h) break;
            h--;
            o.sorted++;
        }
    }
    if (entries_sort_by(e, &o)) return t->cx->diag.status;
    entries_sum(e);
    return pack_levels(t, e, column);
}

/* Ordinals of entries among those of one mode: entries are sorted by it. */
static int64_t count_ordinals(ctx *cx, const int64_t *mode, int64_t n, int64_t *out)
{
    int64_t most = 0;
    for (int64_t i = 0; i < n; i++) {
        if (work_due(cx, i)) break;
        out[i] = i && mode[i] == mode[i - 1] ? out[i - 1] + 1 : 0;
        if (out[i] >= most) most = out[i] + 1;
    }
    return most;
}

/* Sorts by mode m, then by the others, and sums duplicates. */
static stc_status sort_by_mode(const tensor *t, entries *e, int m)
{
    sort_order o = {.count = t->order};
    o.mode[0] = m;
    for (int k = 0, to = 1; k < t->order; k++) {
        if (k != m) o.mode[to++] = k;
    }
    for (int k = 0; k < t->order; k++)
        o.extent[k] = t->shape[o.mode[k]];
    const stc_status status = entries_sort_by(e, &o);
    if (!status) entries_sum(e);
    return status;
}

/* Entries by level coordinates: `to` takes the values of `e`. */
static stc_status map_entries(tensor *t, entries *e, entries *to)
{
    int counted = -1;
    for (int l = 0; l < t->fmt.levels; l++) {
        const level_map *m = &t->fmt.level[l].map;
        if (m->op != MAP_COUNT) continue;
        if (counted >= 0 && counted != m->mode) {
            return fail(t->cx, STC_ERR_ARGUMENT,
                        "a format can count the entries of one mode only");
        }
        counted = m->mode;
    }
    if (counted >= 0 && sort_by_mode(t, e, counted)) return t->cx->diag.status;
    if (entries_reserve(to, e->n)) return t->cx->diag.status;
    int64_t coords[STC_MAX_ORDER];
    for (int l = 0; l < t->fmt.levels; l++) {
        const level_map *m = &t->fmt.level[l].map;
        if (m->op == MAP_COUNT) {
            t->level[l].extent =
                count_ordinals(t->cx, e->coord[m->mode], e->n, to->coord[l]);
            continue;
        }
        for (int64_t i = 0, end; (end = work_block(t->cx, i, e->n)) > i;)
            for (; i < end; i++) {
                for (int k = 0; k < t->order; k++)
                    coords[k] = e->coord[k][i];
                to->coord[l][i] = map_coord(m, t->shape, coords);
            }
    }
    to->n = e->n;
    return work_copy(t->cx, to->vals, e->vals, (size_t)e->n * type_size(e->type));
}

static stc_status pack_mapped(tensor *t, entries *e)
{
    entries by_level;
    entries_init(&by_level, t->cx, t->fmt.levels, e->type);
    if (entries_in_shape(e, t->shape) || map_entries(t, e, &by_level)) goto failed;
    sort_order o = {.count = t->fmt.levels};
    int column[STC_MAX_ORDER];
    for (int l = 0; l < t->fmt.levels; l++) {
        column[l] = o.mode[l] = l;
        o.base[l] = t->level[l].base;
        o.extent[l] = t->level[l].extent;
    }
    if (entries_sort_by(&by_level, &o)) goto failed;
    entries_sum(&by_level);
    if (pack_levels(t, &by_level, column)) goto failed;
    entries_free(&by_level);
    return STC_OK;
failed:
    entries_free(&by_level);
    return t->cx->diag.status;
}

/* After a failure: a tensor without entries, so that it can be read; where
 * there's no memory even for that, or the call has to end, one that no check accepts. */
static stc_status leave_empty(tensor *t)
{
    const diag kept = t->cx->diag;
    entries none;
    entries_init(&none, t->cx, t->order, t->type);
    tensor_reset(t);
    const bool plain = format_is_plain(&t->fmt);
    if ((plain ? pack_plain(t, &none, NULL) : pack_mapped(t, &none)) ||
        tensor_interleave(t)) {
        tensor_reset(t);
    } else {
        t->checked = t->generation;
    }
    entries_free(&none);
    t->cx->diag = kept;
    return kept.status;
}

enum { STEPS_SORTED = 9 }; /* of an entry that is sorted and appended, about */

stc_status tensor_pack_held(tensor *t, entries *e, const int *held)
{
    if (e->order != t->order) {
        return fail(t->cx, STC_ERR_ARGUMENT, "entries of order %d for a tensor of order %d",
                    e->order, t->order);
    }
    if (entries_retype(e, t->type)) return t->cx->diag.status;
    bool done;
    job_expect(t->cx, e->n, 1);
    if (pack_by_counting(t, e, &done)) return leave_empty(t);
    if (done) {
        tensor_trim_values(t);
        t->generation++;
        t->checked = t->generation;
        return STC_OK;
    }
    job_expect(t->cx, STEPS_SORTED * e->n, 1);
    if (entries_widen(e)) return leave_empty(t);
    tensor_reset(t);
    const bool plain = format_is_plain(&t->fmt);
    if ((plain ? pack_plain(t, e, held) : pack_mapped(t, e)) || tensor_interleave(t)) {
        return leave_empty(t);
    }
    t->generation++;
    t->checked = t->generation;
    return STC_OK;
}

stc_status tensor_pack(tensor *t, entries *e)
{
    return tensor_pack_held(t, e, NULL);
}
