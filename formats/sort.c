/* sort.c: sorting entries by their coordinates.
 *
 * Coordinates are packed into keys of up to 64 bits; keys are sorted by
 * counting passes over their digits, the lowest first, which is stable and
 * linear. Where a key holds a whole entry's coordinates, only keys and values
 * move; else a permutation is sorted and all arrays follow it once. Entries
 * in order already cost one pass over them, and no memory.
 */
#include "sort.h"
#include <string.h>

/* The places [begin, end) of an order that share one key. */
typedef struct key_group {
    int begin, end, bits;
    int shift[STC_MAX_ORDER];
} key_group;

/* From the last place on, as many as fit into a key. */
static key_group group_before(const sort_order *o, int end)
{
    key_group g = {.begin = end, .end = end};
    while (g.begin > 0) {
        const int bits = bits_of(o->extent[g.begin - 1]);
        if (g.bits + bits > 64) break;
        g.shift[--g.begin] = g.bits;
        g.bits += bits;
    }
    return g;
}

static stc_status outside(const entries *e, const sort_order *o, int k, int64_t i)
{
    const int64_t c = e->coord[o->mode[k]][i];
    return fail(e->cx, STC_ERR_SHAPE,
                "entry %lld: coordinate %lld of mode %d is outside %lld:%lld", (long long)i,
                (long long)c, o->mode[k], (long long)o->base[k],
                (long long)(o->base[k] + o->extent[k]));
}

/* Coordinates in range, or an error; and whether entries are in order. */
static stc_status inspect(const entries *e, const sort_order *o, bool *in_order)
{
    for (int k = 0; k < o->count; k++) {
        const int64_t *c = e->coord[o->mode[k]], base = o->base[k];
        const uint64_t extent = (uint64_t)o->extent[k];
        uint64_t bad = 0;
        int64_t seen = 0;
        for (int64_t end; (end = work_block(e->cx, seen, e->n)) > seen;)
            for (; seen < end; seen++)
                bad |= (uint64_t)(c[seen] - base) >= extent;
        if (seen < e->n) return e->cx->diag.status;
        for (int64_t i = 0; bad && i < e->n; i++) {
            if ((uint64_t)(c[i] - base) >= extent) return outside(e, o, k, i);
        }
    }
    *in_order = true;
    for (int64_t i = 1; i < e->n && *in_order; i++) {
        if (work_due(e->cx, i)) return e->cx->diag.status;
        for (int k = 0; k < o->count; k++) {
            const int64_t *c = e->coord[o->mode[k]];
            if (c[i] == c[i - 1]) continue;
            *in_order = c[i] > c[i - 1];
            break;
        }
    }
    return STC_OK;
}

static void insertion(record *r, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const record x = r[i];
        int64_t j = i;
        for (; j > 0 && r[j - 1].key > x.key; j--)
            r[j] = r[j - 1];
        r[j] = x;
    }
}

#define DIGIT_MAX 11

/* Sorts bits [low, high) of the keys; the result is in *a (they may swap). */
static stc_status radix(ctx *cx, record **a, record **b, int64_t n, int low, int high)
{
    const int most = n < 8192 ? 8 : DIGIT_MAX;
    const int passes = (high - low + most - 1) / most;
    if (!passes) return STC_OK;
    const int digit = (high - low + passes - 1) / passes;
    const int64_t buckets = (int64_t)1 << digit;
    int64_t *count = mem_zero(cx, passes * buckets, sizeof *count);
    if (!count) return cx->diag.status;
    const uint64_t mask = (uint64_t)buckets - 1;
    for (int64_t i = 0, end; (end = work_block(cx, i, n)) > i;)
        for (; i < end; i++) {
            uint64_t key = (*a)[i].key >> low;
            for (int p = 0; p < passes; p++, key >>= digit)
                count[p * buckets + (int64_t)(key & mask)]++;
        }
    for (int p = 0; p < passes; p++) {
        int64_t *c = count + p * buckets, at = 0;
        const int shift = low + p * digit;
        if (c[((*a)[0].key >> shift) & mask] == n) continue;
        for (int64_t k = 0; k < buckets; k++) {
            const int64_t here = c[k];
            c[k] = at;
            at += here;
        }
        const record *restrict from = *a;
        record *restrict to = *b;
        for (int64_t i = 0, end; (end = work_block(cx, i, n)) > i;)
            for (; i < end; i++)
                to[c[(from[i].key >> shift) & mask]++] = from[i];
        record *swap = *a;
        *a = *b;
        *b = swap;
    }
    mem_free(cx, count, (size_t)(passes * buckets) * sizeof *count);
    return work_done(cx, 0);
}

stc_status sort_records(ctx *cx, record **a, record **b, int64_t n, int low, int high)
{
    if (n > 64) return radix(cx, a, b, n, low, high);
    insertion(*a, n); /* the bits below `low` are in order already */
    return STC_OK;
}

static void add_keys(const entries *e, const sort_order *o, const key_group *g, record *r,
                     bool by_load)
{
    for (int k = g->begin; k < g->end; k++) {
        const int64_t *c = e->coord[o->mode[k]], base = o->base[k];
        const int shift = g->shift[k];
        if (bits_of(o->extent[k]) == 0)
            continue; /* all zero; a shift by 64 would be undefined */
        for (int64_t i = 0, end; (end = work_block(e->cx, i, e->n)) > i;)
            for (; i < end; i++) {
                const int64_t from = by_load ? (int64_t)r[i].load : i;
                r[i].key |= (uint64_t)(c[from] - base) << shift;
            }
    }
}

static void load_values(const entries *e, record *r, int64_t begin, int64_t end)
{
    switch (type_size(e->type)) {
    case 1:
        for (int64_t i = begin; i < end; i++)
            r[i].load = ((const uint8_t *)e->vals)[i];
        break;
    case 2:
        for (int64_t i = begin; i < end; i++)
            r[i].load = ((const uint16_t *)e->vals)[i];
        break;
    case 4:
        for (int64_t i = begin; i < end; i++) {
            uint32_t v;
            memcpy(&v, (const char *)e->vals + 4 * i, 4);
            r[i].load = v;
        }
        break;
    default:
        for (int64_t i = begin; i < end; i++)
            memcpy(&r[i].load, (const char *)e->vals + 8 * i, 8);
        break;
    }
}

static void store_values(entries *e, const record *r, int64_t begin, int64_t end)
{
    switch (type_size(e->type)) {
    case 1:
        for (int64_t i = begin; i < end; i++)
            ((uint8_t *)e->vals)[i] = (uint8_t)r[i].load;
        break;
    case 2:
        for (int64_t i = begin; i < end; i++)
            ((uint16_t *)e->vals)[i] = (uint16_t)r[i].load;
        break;
    case 4:
        for (int64_t i = begin; i < end; i++) {
            const uint32_t v = (uint32_t)r[i].load;
            memcpy((char *)e->vals + 4 * i, &v, 4);
        }
        break;
    default:
        for (int64_t i = begin; i < end; i++)
            memcpy((char *)e->vals + 8 * i, &r[i].load, 8);
        break;
    }
}

static void store_coords(entries *e, const sort_order *o, const key_group *g,
                         const record *r)
{
    for (int k = g->begin; k < g->end; k++) {
        const int bits = bits_of(o->extent[k]), shift = g->shift[k];
        if (!bits) continue; /* all the same */
        const uint64_t mask = bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
        int64_t *c = e->coord[o->mode[k]];
        const int64_t base = o->base[k];
        for (int64_t i = 0, end; (end = work_block(e->cx, i, e->n)) > i;)
            for (; i < end; i++)
                c[i] = base + (int64_t)(r[i].key >> shift & mask);
    }
}

/* Moves all arrays by the permutation in the records, through `room`. */
static void gather(entries *e, const record *r, void *room)
{
    const size_t size = type_size(e->type);
    for (int m = 0; m < e->order; m++) {
        int64_t *to = room;
        for (int64_t i = 0, end; (end = work_block(e->cx, i, e->n)) > i;)
            for (; i < end; i++)
                to[i] = e->coord[m][r[i].load];
        if (work_copy(e->cx, e->coord[m], to, (size_t)e->n * sizeof *to)) return;
    }
    for (int64_t i = 0, end; (end = work_block(e->cx, i, e->n)) > i;)
        for (; i < end; i++)
            copy_element(room, i, e->vals, (int64_t)r[i].load, size);
    work_copy(e->cx, e->vals, room, (size_t)e->n * size);
}

/* Sorts through a permutation, group by group from the least significant. */
static stc_status sort_gather(entries *e, const sort_order *o, record **a, record **b)
{
    for (int64_t i = 0, end; (end = work_block(e->cx, i, e->n)) > i;)
        for (; i < end; i++)
            (*a)[i].load = (uint64_t)i;
    for (int end = o->count; end > 0;) {
        const key_group g = group_before(o, end);
        for (int64_t i = 0, stop; (stop = work_block(e->cx, i, e->n)) > i;)
            for (; i < stop; i++)
                (*a)[i].key = 0;
        add_keys(e, o, &g, *a, true);
        if (sort_records(e->cx, a, b, e->n, 0, g.bits)) return e->cx->diag.status;
        end = g.begin;
    }
    gather(e, *a, *b);
    return work_done(e->cx, 0);
}

static stc_status sort_whole(entries *e, const sort_order *o, const key_group *g,
                             record **a, record **b)
{
    for (int64_t i = 0, end; (end = work_block(e->cx, i, e->n)) > i;) {
        load_values(e, *a, i, end);
        for (; i < end; i++)
            (*a)[i].key = 0;
    }
    add_keys(e, o, g, *a, false);
    int low = 0;
    for (int k = o->count - o->sorted; k < o->count; k++)
        low += bits_of(o->extent[k]);
    if (sort_records(e->cx, a, b, e->n, low, g->bits)) return e->cx->diag.status;
    store_coords(e, o, g, *a);
    for (int64_t i = 0, end; (end = work_block(e->cx, i, e->n)) > i; i = end)
        store_values(e, *a, i, end);
    return work_done(e->cx, 0);
}

stc_status entries_sort_by(entries *e, const sort_order *o)
{
    bool in_order = false;
    if (inspect(e, o, &in_order)) return e->cx->diag.status;
    if (in_order) return STC_OK;
    record small[128], *block = small;
    if (e->n > 64) {
        int64_t twice;
        if (!size_mul(e->n, 2, &twice)) twice = INT64_MAX;
        block = mem_array(e->cx, twice, sizeof *block);
        if (!block) return e->cx->diag.status;
    }
    record *a = block, *b = block + e->n;
    const key_group g = group_before(o, o->count);
    /* Each mode once: a key then has all there is to know of an entry's place. */
    uint32_t modes = 0;
    for (int k = 0; k < o->count; k++)
        modes |= 1u << o->mode[k];
    const bool whole = g.begin == 0 && o->count == e->order &&
                       modes == (1u << e->order) - 1 && type_size(e->type) <= 8;
    const stc_status status =
        whole ? sort_whole(e, o, &g, &a, &b) : sort_gather(e, o, &a, &b);
    if (block != small) mem_free(e->cx, block, (size_t)e->n * 2 * sizeof *block);
    return status;
}

stc_status entries_sort(entries *e, const int *modes, int count, const int64_t *extents)
{
    sort_order o = {.count = count};
    for (int k = 0; k < count; k++) {
        o.mode[k] = modes[k];
        o.extent[k] = extents[modes[k]];
    }
    return entries_sort_by(e, &o);
}
