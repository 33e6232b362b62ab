/* pack_count.c: entries to rows, without a sort of all of them.
 *
 * What tensor_pack tries first for a matrix whose target is rows (rows.h), by rows or by
 * columns; and how large matrices are turned (convert_count.c). Entries go to buckets, a
 * few thousand rows each, which the processor's cache holds; there they are sorted, summed,
 * and written to the tensor's arrays. Threads share first the entries, each with places of
 * its own in every bucket, then the buckets: what comes out doesn't depend on how many
 * there are, as entries of one bucket stay in the order in which they were listed.
 * (Counting first and then moving is Harold Seward's distribution sort; the buckets are
 * those of McIlroy, Bostic and McIlroy, "Engineering radix sort", 1993.)
 *
 * Buckets that are too large for memory all together are filled in groups, each by a pass
 * over all entries, since these are often a file's, whose pages are only read. While one
 * group is filled, which takes the processor, the one before is emptied, which waits for
 * the disk.
 *
 * What doesn't fit (coordinates outside, wide numbers) is left to the general way: `done`
 * stays false, and nothing has happened to the entries.
 */
#include "rows.h"
#include "pack_order.h"
#include "base/premade.h"
#include "base/parts.h"
#include "base/spill.h"
#include "sort.h"
#include <string.h>

enum {
    FEW = 64,            /* entries, which the general way packs as fast    */
    SHARED = 1 << 16,    /* from so many on threads share                   */
    BUCKETS = 1 << 13,   /* at most                                         */
    AT_ONCE = 1 << 10,   /* that entries go to: each has a place in a cache */
    BUCKET = 1 << 13,    /* entries of one, if they are spread evenly       */
    LARGE = 1 << 17,     /* of one that a cache doesn't hold any more       */
    SLABS = PREMADE_MAX, /* blocks as large as don't lie in files: 3/4 of a cap  */
    SLAB = 1 << 21,      /* what one is a multiple of: huge pages                */
    APART = 8,           /* entries that are asked for as one                    */
    PLACE_AHEAD = 16,    /* entries before one, its place is asked for           */
    BUCKET_AHEAD = 128   /* bytes before one, a bucket's place is                */
};

/* Coordinates and values of a bucket: the tensor's, or in rooms where the tensor's lie in a
 * file, which takes whole pages: what is behind the last one waits for the next bucket. */
typedef struct rows_out {
    int32_t *crd;
    char *vals;
    int32_t *crds; /* the rooms, which begin at a page of both; NULL: there are none */
    char *values;
    int64_t cap;
    int64_t begin, end; /* the tensor's entries that are there, and not in it yet */
} rows_out;

typedef struct count_part {
    ctx cx;              /* of the thread: its steps and its error         */
    int64_t first, last; /* entries                                         */
    int64_t *at;         /* how many of them; then where the next one goes there */
    int low, high;       /* buckets                                         */
    bool outside;        /* some coordinate is                             */
    listed_in order;     /* so its entries are listed                      */
    record *room;        /* for sorting a bucket                           */
    int64_t cap;
    rows_out out; /* where entries of its bucket go                        */
} count_part;

/* Buckets that are in memory at once. */
typedef struct group {
    int first, past;
    int slab, slabs; /* its slabs: so many, from that one on       */
    char *all;       /* in which all that are left lie; NULL: they lie in slabs */
} group;

typedef struct counting {
    const row_list *l;
    tensor *t;
    int64_t rows, columns;
    int shift, low; /* a row's bucket; the bits of a column          */
    int buckets, parts;
    int finish;        /* parts that empty buckets: more, where they wait for a disk */
    int from;          /* the first part of this pass                  */
    group fills, full; /* what is filled now; what is emptied          */
    size_t record;     /* bytes of one: no more than needed where it needn't be sorted */
    size_t load;       /* where its value is                          */
    char **r;          /* buckets                                      */
    char *slab[SLABS]; /* each with room for many; as many as there are */
    size_t slab_bytes;
    int64_t *begin, *end; /* of buckets; end: of what remains */
    int32_t *bound, *crd;
    bool filed;      /* what the tensor has lies in files                        */
    listed_in order; /* all are                                             */
    bool sorted;     /* a row's columns ascend, each once                   */
    count_part *part;
} counting;

/* A record's key: the row in its bucket, and the column. */
static uint64_t key_bits(const counting *c)
{
    return ((uint64_t)1 << (c->low + c->shift)) - 1;
}

/* ---- into buckets ------------------------------------------------------------------ */

static listed_in order_of_all(const counting *c)
{
    listed_in all = c->part[0].order;
    for (int k = 1; k < c->parts; k++)
        listed_join(&all, &c->part[k].order);
    return all;
}

static void count_part_of(void *context, int k)
{
    const counting *c = context;
    count_part *p = &c->part[k];
    int64_t row[ROW_LIST], column[ROW_LIST], near = 0;
    const bool known = c->l->sorted;
    p->order = (listed_in){.by_rows = !known, .by_columns = !known};
    for (int64_t at = p->first; at < p->last; at += ROW_LIST) {
        const int64_t n = p->last - at < ROW_LIST ? p->last - at : ROW_LIST;
        uint64_t outside = 0;
        if (work_done(&p->cx, (uint64_t)n)) return;
        c->l->coords(c->l, at, n, &near, row, known ? NULL : column);
        for (int64_t i = 0; i < n && !known; i++)
            outside |= (uint64_t)row[i] >= (uint64_t)c->rows ||
                       (uint64_t)column[i] >= (uint64_t)c->columns;
        if ((p->outside = outside)) return;
        if (!known) listed_more(&p->order, row, column, n);
        for (int64_t i = 0; i < n; i++)
            p->at[row[i] >> c->shift]++;
    }
}

/* From how many each part has to where they go. */
static void place_buckets(counting *c)
{
    int64_t at = 0;
    for (int b = 0; b < c->buckets; b++) {
        c->begin[b] = at;
        for (int k = 0; k < c->parts; k++) {
            const int64_t n = c->part[k].at[b];
            c->part[k].at[b] = at - c->begin[b];
            at += n;
        }
    }
    c->begin[c->buckets] = at;
}

static size_t bucket_bytes(const counting *c, int b)
{
    return (size_t)(c->begin[b + 1] - c->begin[b]) * c->record;
}

/* As large as a block is that isn't a file's, so that it has huge pages. */
static size_t slab_size(const ctx *root)
{
    const size_t least = root->spill_least - 1;
    return least > SLAB ? least / SLAB * SLAB : least;
}

static char *slab_new(ctx *cx, size_t bytes)
{
    char *const slab = premade_take(cx->root ? cx->root : cx, bytes);
    if (slab) return slab;
    return mem_leaves(cx, bytes, PREMADE_LEFT) ? mem_alloc(cx, bytes) : NULL;
}

void convert_ahead(const tensor *t, const format *f)
{
    ctx *cx = t->cx;
    const size_t bytes = (size_t)t->nvals * sizeof(record);
    if (!t->backing || t->checked == t->generation || cx->root || cx->alloc ||
        t->order != 2 || t->fmt.level[0].map.mode == f->level[0].map.mode ||
        type_size(t->type) > 8 || !spill_takes(cx, bytes))
        return;
    const size_t slabs = bytes / slab_size(cx) + 1;
    premade_begin(cx, slab_size(cx), slabs < SLABS ? (int)slabs : SLABS);
}

/* Slabs for all buckets or as many as memory has: one half of these is filled while the
 * other is emptied, if one group can't have all. */
static void take_slabs(counting *c)
{
    ctx *cx = c->t->cx, *root = cx->root ? cx->root : cx;
    const size_t bytes = (size_t)c->begin[c->buckets] * c->record;
    int n = 0;
    if (!spill_takes(root, bytes)) return;
    c->slab_bytes = slab_size(root);
    const size_t most = bytes / c->slab_bytes + 2; /* of which a bucket leaves some empty */
    while (n < SLABS && (size_t)n < most && (c->slab[n] = slab_new(cx, c->slab_bytes)))
        n++;
    diag_clear(cx);
    const int half = (size_t)n < most && n > 1 ? n / 2 : n;
    c->fills.slabs = half;
    c->full = (group){.slab = n - half, .slabs = half};
}

static void free_slabs(counting *c)
{
    for (int k = 0; k < SLABS; k++)
        mem_free(c->t->cx, c->slab[k], c->slab_bytes);
}

/* The buckets of g from its first one on: as many as its slabs hold, side by side. */
static void group_in_slabs(counting *c, group *g)
{
    ctx *cx = c->t->cx;
    int slab = 0;
    size_t used = 0;
    for (g->past = g->first; g->past < c->buckets; g->past++) {
        const size_t bytes = bucket_bytes(c, g->past);
        if (bytes > c->slab_bytes) { /* a file's, and its own */
            if (!(c->r[g->past] = mem_alloc(cx, bytes))) break;
            continue;
        }
        if (used + bytes > c->slab_bytes) {
            slab++;
            used = 0;
        }
        if (slab == g->slabs) break;
        c->r[g->past] = c->slab[g->slab + slab] + used;
        used += bytes;
    }
    diag_clear(cx);
}

/* Its blocks that no other group has. */
static void end_group(counting *c, group *g)
{
    ctx *cx = c->t->cx;
    const int64_t n = c->begin[g->past] - c->begin[g->first];
    if (g->all) mem_free(cx, g->all, (size_t)n * c->record);
    for (int b = g->first; b < g->past && !g->all; b++)
        if (bucket_bytes(c, b) > c->slab_bytes) mem_free(cx, c->r[b], bucket_bytes(c, b));
    g->all = NULL;
    g->first = g->past;
}

/* The group from bucket `first` on: all that are left in one block, if there are no slabs.
 */
static stc_status make_group(counting *c, group *g, int first)
{
    ctx *cx = c->t->cx;
    g->first = g->past = first;
    if (g->slabs) group_in_slabs(c, g);
    if (g->past > first) return STC_OK;
    g->all = mem_array(cx, c->begin[c->buckets] - c->begin[first], c->record);
    if (!g->all) return cx->diag.status;
    for (; g->past < c->buckets; g->past++)
        c->r[g->past] = g->all + (size_t)(c->begin[g->past] - c->begin[first]) * c->record;
    return STC_OK;
}

/* The buckets of the full group to the parts that empty them. */
static void share_buckets(counting *c)
{
    const group *g = &c->full;
    const int64_t begin = c->begin[g->first], n = c->begin[g->past] - begin;
    for (int k = 0, b = g->first; k < c->finish; k++) {
        count_part *const p = &c->part[c->parts + k];
        p->low = b;
        while (b < g->past && c->begin[b] - begin < n / c->finish * (k + 1))
            b++;
        p->high = b = k + 1 < c->finish ? b : g->past;
    }
}

/* Of n entries from `at` on, those that may be of the group; how many. *which: NULL, or
 * which they are. */
static int64_t list_group(const counting *c, int64_t at, int64_t n, int64_t *near,
                          int64_t *row, int64_t *column, int64_t **which)
{
    const group *g = &c->fills;
    if (c->l->within && g->past - g->first < c->buckets)
        return c->l->within(c->l, at, n, near, (int64_t)g->first << c->shift,
                            (int64_t)g->past << c->shift, row, column, *which);
    c->l->coords(c->l, at, n, near, row, column);
    *which = NULL;
    return n;
}

static void move_part(const counting *c, count_part *p)
{
    int64_t row[ROW_LIST], column[ROW_LIST], room[ROW_LIST], near = 0;
    const int first = c->fills.first;
    const uint64_t buckets = (uint64_t)(c->fills.past - first), bits = key_bits(c);
    const size_t size = c->record, load = c->load;
    const int shift = c->shift, low = c->low;
    char *const *const bucket = c->r;
    int64_t *const next = p->at;
    BY_WIDTH(type_size(c->t->type), c->l->vals, c->l->vals, {
        (void)TO;
        for (int64_t at = p->first; at < p->last; at += ROW_LIST) {
            int64_t n = p->last - at < ROW_LIST ? p->last - at : ROW_LIST;
            int64_t *which = room;
            if (work_done(&p->cx, (uint64_t)n)) return;
            n = list_group(c, at, n, &near, row, column, &which);
            for (int64_t i = 0; which && i < n; i += APART) /* some lie far apart */
                __builtin_prefetch(&FROM[at + which[i]]);
            for (int64_t i = 0; i < n; i++) {
                const int64_t b = row[i] >> shift;
                const int64_t e = at + (which ? which[i] : i);
                if ((uint64_t)(b - first) >= buckets) continue;
                const uint64_t key = ((uint64_t)row[i] << low | (uint64_t)column[i]) & bits;
                char *const to = bucket[b] + (size_t)next[b]++ * size;
                __builtin_prefetch(to + BUCKET_AHEAD, 1);
                memcpy(to, &key, sizeof key);
                memcpy(to + load, &FROM[e], sizeof *FROM < 8 ? sizeof *FROM : 8);
            }
        }
    })
}

/* ---- out of buckets ------------------------------------------------------------------ */

static bool ascend(const record *r, int64_t n)
{
    bool ascends = true;
    for (int64_t i = 1; i < n; i++)
        ascends &= r[i].key >= r[i - 1].key;
    return ascends;
}

/* The n records of a bucket in order, *r is where. */
static stc_status sort_bucket(const counting *c, count_part *p, record **r, int64_t n)
{
    if (ascend(*r, n)) return work_done(&p->cx, (uint64_t)n);
    if (mem_grow(&p->cx, &p->room, &p->cap, n, sizeof **r)) return p->cx.diag.status;
    record *other = p->room;
    return sort_records(&p->cx, r, &other, n, 0, c->low + c->shift);
}

/* The n sorted records of bucket b to `out`; how many they are there. */
static int64_t put_records(const counting *c, const rows_out *out, int b, const record *r,
                           int64_t n)
{
    const stc_type type = c->t->type;
    const int64_t first = c->begin[b];
    int32_t *const bound = c->bound + ((int64_t)b << c->shift) + 1;
    const uint64_t column = ((uint64_t)1 << c->low) - 1;
    int64_t q = 0;
    BY_WIDTH(type_size(type), out->vals, out->vals, {
        (void)FROM;
        for (int64_t i = 0; i < n; i++) {
            if (i && r[i].key == r[i - 1].key) {
                const value v = type_load(type, &r[i].load, 0);
                type_store(type, out->vals, q - 1,
                           value_add(type, type_load(type, out->vals, q - 1), v));
                continue;
            }
            out->crd[q] = (int32_t)(r[i].key & column);
            memcpy(&TO[q], &r[i].load, sizeof *TO < 8 ? sizeof *TO : 8);
            bound[r[i].key >> c->low] = (int32_t)(first + ++q);
        }
    })
    return q;
}

/* Bounds of a bucket's rows: those without entries end where the row before them does. */
static void close_rows(const counting *c, int b)
{
    const int64_t first = (int64_t)b << c->shift, n = (int64_t)1 << c->shift;
    int32_t last = (int32_t)c->begin[b];
    for (int64_t r = first; r < first + n && r < c->rows; r++) {
        if (c->bound[r + 1] < last) c->bound[r + 1] = last;
        last = c->bound[r + 1];
    }
}

static uint64_t key_at(const char *r, uint64_t bits)
{
    uint64_t key;
    memcpy(&key, r, sizeof key);
    return key & bits;
}

/* The same for what comes in order, each place once: rows are counted, then filled. */
static stc_status place_records(const counting *c, count_part *p, int b)
{
    const size_t size = c->record, load = c->load;
    const uint64_t bits = key_bits(c);
    const char *const r = c->r[b];
    const int64_t first = (int64_t)b << c->shift, rows = (int64_t)1 << c->shift;
    const int64_t left = c->rows - first < rows ? c->rows - first : rows;
    const int64_t n = c->begin[b + 1] - c->begin[b];
    const int low = c->low;
    const uint64_t column = ((uint64_t)1 << low) - 1;
    /* where a row's next entry goes: its end, at last */
    int32_t *at = c->bound + first + 1;
    for (int64_t i = 0, end; (end = work_block(&p->cx, i, n)) > i;)
        for (; i < end; i++) {
            const int64_t next = (int64_t)(key_at(r + (size_t)i * size, bits) >> low) + 1;
            if (next < left) at[next]++;
        }
    if (p->cx.diag.status) return p->cx.diag.status;
    at[0] = (int32_t)c->begin[b];
    for (int64_t i = 1; i < left; i++)
        at[i] += at[i - 1];
    int32_t *const crd = p->out.crd, begin = (int32_t)c->begin[b];
    BY_WIDTH(type_size(c->t->type), p->out.vals, p->out.vals, {
        (void)FROM;
        for (int64_t i = 0, end; i < n;) {
            for (end = n - i < WORK_BLOCK ? n : i + WORK_BLOCK; i < end; i++) {
                const char *const from = r + (size_t)i * size;
                const uint64_t key = key_at(from, bits);
                const int32_t q = at[key >> low]++ - begin;
                if (i < n - PLACE_AHEAD) {
                    const int32_t next =
                        at[key_at(from + PLACE_AHEAD * size, bits) >> low] - begin;
                    __builtin_prefetch(&crd[next], 1);
                    __builtin_prefetch(&TO[next], 1);
                }
                crd[q] = (int32_t)(key & column);
                memcpy(&TO[q], from + load, sizeof *TO < 8 ? sizeof *TO : 8);
            }
            if (work_done(&p->cx, 0)) return p->cx.diag.status;
        }
    })
    return STC_OK;
}

/* How far behind a page of either array an entry is, at most. */
static int64_t behind_page(int64_t entry)
{
    return entry & (SPILL_PAGE - 1);
}

/* Entries up to `past` go from the rooms to the tensor. */
static void put_out(const counting *c, count_part *p, int64_t past)
{
    rows_out *const out = &p->out;
    tensor *const t = c->t;
    const index_array *const a = &t->level[1].a[STC_CRD];
    const size_t size = type_size(t->type);
    const size_t n = (size_t)(past - out->begin), at = (size_t)behind_page(out->begin);
    const size_t left = (size_t)(out->end - past);
    if (past <= out->begin) return;
    mem_put(&p->cx, a->data, (size_t)(a->cap * a->stride), c->crd + out->begin,
            out->crds + at, n * sizeof *c->crd);
    mem_put(&p->cx, t->vals, (size_t)t->vals_cap * size,
            (char *)t->vals + (size_t)out->begin * size, out->values + at * size, n * size);
    memmove(out->crds, out->crds + at + n, left * sizeof *out->crds);
    memmove(out->values, out->values + (at + n) * size, left * size);
    out->begin = past;
}

static void close_room(const counting *c, count_part *p)
{
    rows_out *const out = &p->out;
    put_out(c, p, out->end);
    mem_free(&p->cx, out->values, (size_t)out->cap * type_size(c->t->type));
    mem_free(&p->cx, out->crds, (size_t)out->cap * sizeof *out->crds);
    *out = (rows_out){0};
}

/* Where bucket b's entries go: to rooms, if there are any. */
static void open_bucket(const counting *c, count_part *p, int b)
{
    rows_out *const out = &p->out;
    const size_t size = type_size(c->t->type);
    const int64_t begin = c->begin[b], n = c->begin[b + 1] - begin;
    if (out->end != begin) { /* it doesn't follow the one before */
        put_out(c, p, out->end);
        out->begin = out->end = begin;
    }
    if (behind_page(out->begin) + begin - out->begin + n > out->cap) close_room(c, p);
    if (c->filed && !out->cap && n &&
        !mem_grow(&p->cx, &out->crds, &out->cap, n + 2 * SPILL_PAGE, sizeof *out->crds)) {
        out->begin = out->end = begin;
        out->values = mem_alloc(&p->cx, (size_t)out->cap * size);
        if (!out->values) close_room(c, p);
    }
    diag_clear(&p->cx);
    const int64_t at = behind_page(out->begin) + begin - out->begin;
    out->crd = out->cap ? out->crds + at : c->crd + begin;
    out->vals = out->cap ? out->values + (size_t)at * size
                         : (char *)c->t->vals + (size_t)begin * size;
}

/* The n entries of bucket b are where they go. */
static void close_bucket(const counting *c, count_part *p, int b, int64_t n)
{
    if (!p->out.cap) return;
    p->out.end = c->begin[b] + n;
    put_out(c, p, p->out.end - behind_page(p->out.end));
}

static stc_status finish_bucket(counting *c, count_part *p, int b)
{
    record *r = (record *)(void *)c->r[b];
    int64_t n = c->begin[b + 1] - c->begin[b];
    const int64_t first = (int64_t)b << c->shift, rows = (int64_t)1 << c->shift;
    const int64_t left = c->rows - first < rows ? c->rows - first : rows;
    if (work_clear(&p->cx, c->bound + first + 1, 0, (size_t)left * sizeof *c->bound))
        return p->cx.diag.status;
    open_bucket(c, p, b);
    if (c->sorted) {
        if (place_records(c, p, b)) return p->cx.diag.status;
    } else {
        if (n && sort_bucket(c, p, &r, n)) return p->cx.diag.status;
        n = put_records(c, &p->out, b, r, n);
    }
    c->end[b] = c->begin[b] + n;
    if (!c->sorted) close_rows(c, b);
    close_bucket(c, p, b, n);
    return STC_OK;
}

static void finish_part(counting *c, count_part *p)
{
    for (int b = p->low; b < p->high; b++)
        if (finish_bucket(c, p, b)) break;
    mem_free(&p->cx, p->room, (size_t)p->cap * sizeof *p->room);
    p->room = NULL;
    p->cap = 0;
    close_room(c, p);
}

/* Buckets in which some were summed have left gaps. */
static stc_status close_gaps(counting *c)
{
    tensor *t = c->t;
    const size_t size = type_size(t->type);
    int64_t to = c->end[0];
    for (int b = 1; b < c->buckets; b++) {
        const int64_t begin = c->begin[b], n = c->end[b] - begin;
        const int64_t first = (int64_t)b << c->shift, rows = (int64_t)1 << c->shift;
        if (to == begin) {
            to += n;
            continue;
        }
        memmove(c->crd + to, c->crd + begin, (size_t)n * sizeof *c->crd);
        memmove((char *)t->vals + (size_t)to * size, (char *)t->vals + (size_t)begin * size,
                (size_t)n * size);
        for (int64_t r = first; r < first + rows && r < c->rows; r++)
            c->bound[r + 1] -= (int32_t)(begin - to);
        to += n;
        if (work_done(t->cx, (uint64_t)(n + rows))) break;
    }
    t->nvals = to;
    return work_done(t->cx, 0);
}

/* ---- the whole ------------------------------------------------------------------ */

/* The parts that fill come first, then those that empty. */
static void group_part(void *context, int k)
{
    counting *c = context;
    count_part *const p = &c->part[c->from + k];
    if (c->from + k < c->parts)
        move_part(c, p);
    else
        finish_part(c, p);
}

/* Runs a pass of n parts; the first one's error, in their order, is the caller's. */
static stc_status run_pass(counting *c, int n, void (*pass)(void *context, int k))
{
    ctx *cx = c->t->cx;
    count_part *const part = c->part + c->from;
    const uint64_t before = cx->steps;
    for (int k = 0; k < n; k++)
        part[k].cx = (ctx){.root = cx->root ? cx->root : cx, .steps = before};
    parts_run(n, pass, c);
    for (int k = 0; k < n; k++)
        cx->steps += part[k].cx.steps - before;
    for (int k = 0; k < n; k++) {
        if (!part[k].cx.diag.status) continue;
        cx->diag = part[k].cx.diag;
        return cx->diag.status;
    }
    return work_done(cx, 0);
}

/* Fills what is to be filled, and empties what is full; then that is what was filled. */
static stc_status run_groups(counting *c)
{
    const bool fills = c->fills.past > c->fills.first, full = c->full.past > c->full.first;
    if (full) share_buckets(c);
    c->from = fills ? 0 : c->parts;
    const stc_status s =
        run_pass(c, (fills ? c->parts : 0) + (full ? c->finish : 0), group_part);
    end_group(c, &c->full);
    const group empty = c->full;
    c->full = c->fills;
    c->fills = empty;
    return s;
}

/* All buckets, a group at a time. */
static stc_status run_buckets(counting *c)
{
    take_slabs(c);
    const bool apart = c->fills.slabs && c->full.slab; /* groups have slabs of their own */
    stc_status s = STC_OK;
    for (int next = 0; !s && (next < c->buckets || c->full.past > c->full.first);) {
        if (next < c->buckets && (apart || c->full.past == c->full.first)) {
            s = make_group(c, &c->fills, next);
            next = c->fills.past;
        }
        if (!s) s = run_groups(c);
    }
    end_group(c, &c->fills);
    end_group(c, &c->full);
    return s;
}

/* A value follows its key's bytes; in whole 8 of these where records are sorted, or bytes
 * of a number aren't in order. */
static void plan_records(counting *c)
{
    const size_t size = type_size(c->t->type) < 8 ? type_size(c->t->type) : 8;
    const uint16_t one = 1;
    c->record = sizeof(record);
    c->load = sizeof(uint64_t);
    if (!c->sorted) return;
    if (*(const uint8_t *)&one) c->load = (size_t)(c->low + c->shift + 7) / 8;
    if (c->load + size < sizeof(uint64_t)) c->load = sizeof(uint64_t) - size;
    c->record = c->load + size;
}

static void plan_buckets(counting *c, int64_t n)
{
    const ctx *cx = c->t->cx, *root = cx->root ? cx->root : cx;
    int64_t buckets = n / BUCKET + 1, most = AT_ONCE;
    /* of more than go into memory a part has entries at a time */
    while (most < BUCKETS && n / most > LARGE && spill_takes(root, (size_t)n))
        most *= 2;
    if (buckets > most) buckets = most;
    while ((c->rows - 1) >> c->shift >= buckets)
        c->shift++;
    c->buckets = (int)((c->rows - 1) >> c->shift) + 1;
    c->low = bits_of(c->columns);
}

/* ---- as they are ------------------------------------------------------------------- */

/* Entries in the order of rows go where they are listed. */
static void copy_part(void *context, int k)
{
    const counting *c = context;
    count_part *p = &c->part[k];
    const size_t size = type_size(c->t->type);
    int64_t row[ROW_LIST], column[ROW_LIST], near = 0;
    int64_t before = k ? c->part[k - 1].order.last[0] : 0; /* the row of the last entry */
    for (int64_t at = p->first; at < p->last; at += ROW_LIST) {
        const int64_t n = p->last - at < ROW_LIST ? p->last - at : ROW_LIST;
        if (work_done(&p->cx, (uint64_t)n)) return;
        c->l->coords(c->l, at, n, &near, row, column);
        for (int64_t i = 0; i < n; i++) {
            c->crd[at + i] = (int32_t)column[i];
            for (; before < row[i]; before++)
                c->bound[before + 1] = (int32_t)(at + i);
        }
        memcpy((char *)c->t->vals + (size_t)at * size,
               (const char *)c->l->vals + (size_t)at * size, (size_t)n * size);
    }
    for (; k + 1 == c->parts && before < c->rows; before++)
        c->bound[before + 1] = (int32_t)p->last;
}

static stc_status copy_entries(counting *c)
{
    c->from = 0;
    if (run_pass(c, c->parts, copy_part)) return c->t->cx->diag.status;
    c->t->nvals = c->l->n;
    return STC_OK;
}

/* ---- counting ---------------------------------------------------------------------- */

/* Numbers of all buckets: where they begin and end, and each part's. */
static int64_t bucket_numbers(const counting *c)
{
    return (int64_t)c->buckets * (2 + c->parts) + 1;
}

static bool parts_ready(counting *c, int64_t n)
{
    ctx *cx = c->t->cx;
    const int64_t each = n / c->parts;
    c->part = mem_zero(cx, PARTS_RUN, sizeof *c->part);
    c->r = mem_array(cx, c->buckets, sizeof *c->r);
    c->begin = mem_zero(cx, bucket_numbers(c), sizeof *c->begin);
    if (!c->part || !c->r || !c->begin) return false;
    c->end = c->begin + c->buckets + 1;
    for (int k = 0; k < c->parts; k++) {
        c->part[k].at = c->end + (1 + k) * c->buckets;
        c->part[k].first = each * k;
        c->part[k].last = k + 1 < c->parts ? each * (k + 1) : n;
    }
    return true;
}

static stc_status pack_buckets(counting *c, bool *done)
{
    tensor *t = c->t;
    append_room room;
    level *inner = &t->level[1];
    if (run_pass(c, c->parts, count_part_of)) return t->cx->diag.status;
    for (int k = 0; k < c->parts; k++)
        if (c->part[k].outside) return STC_OK;
    c->order = order_of_all(c);
    c->sorted = c->l->sorted || c->order.by_rows || c->order.by_columns;
    place_buckets(c);
    plan_records(c);
    if (tensor_begin(t) || rows_room(t, inner, c->l->n, c->rows, &room, done) || !*done ||
        tensor_reserve_values(t, c->l->n))
        return t->cx->diag.status;
    c->bound = (int32_t *)room.bounds - 1; /* where the first row begins */
    c->crd = room.crd;
    c->filed = t->vals_owned && inner->a[STC_CRD].owned &&
               mem_in_file(t->cx, t->vals, (size_t)t->vals_cap * type_size(t->type));
    if (c->filed && c->parts > 1)
        c->finish = 2 * c->parts < PARTS_MAX ? 2 * c->parts : PARTS_MAX;
    const bool there = c->order.by_rows && !c->filed;
    if (there ? copy_entries(c) : run_buckets(c)) return t->cx->diag.status;
    if (!there && close_gaps(c)) return t->cx->diag.status;
    inner->kind->append_done(inner, t->nvals, c->rows);
    if (tensor_finish(t)) return t->cx->diag.status;
    if (t->nvals == c->l->n) t->summed = t->generation; /* nothing has moved */
    return STC_OK;
}

stc_status rows_from_list(tensor *t, const row_list *l, bool *done)
{
    ctx *cx = t->cx;
    counting c = {.l = l,
                  .t = t,
                  .rows = t->shape[t->fmt.level[0].map.mode],
                  .columns = t->shape[t->fmt.level[1].map.mode]};
    *done = false;
    if (c.rows < 1 || c.columns < 1 || c.columns > INT32_MAX) return STC_OK;
    c.parts = l->n < SHARED ? 1 : parts_for(cx);
    c.finish = c.parts;
    plan_buckets(&c, l->n);
    const stc_status s = parts_ready(&c, l->n) ? pack_buckets(&c, done) : cx->diag.status;
    free_slabs(&c);
    mem_free(cx, c.part, PARTS_RUN * sizeof *c.part);
    mem_free(cx, c.r, (size_t)c.buckets * sizeof *c.r);
    mem_free(cx, c.begin, (size_t)bucket_numbers(&c) * sizeof *c.begin);
    return s;
}

/* ---- entries -------------------------------------------------------------------- */

typedef struct packing {
    const entries *e;
    int row, column; /* modes */
} packing;

static void copy_coords(const entries *e, int m, int64_t at, int64_t n, int64_t *to)
{
    if (!e->is_narrow) {
        memcpy(to, e->coord[m] + at, (size_t)n * sizeof *to);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        to[i] = e->narrow[m][at + i];
}

static void entry_coords(const row_list *l, int64_t at, int64_t n, int64_t *near,
                         int64_t *row, int64_t *column)
{
    (void)near;
    const packing *p = l->of;
    copy_coords(p->e, p->row, at, n, row);
    copy_coords(p->e, p->column, at, n, column);
}

/* Wide ones that are sorted already are to be moved, and not even that. */
static bool in_order(const packing *p)
{
    const entries *e = p->e;
    for (int64_t i = 1; !e->is_narrow && i < e->n; i++) {
        const int64_t r = e->coord[p->row][i], before = e->coord[p->row][i - 1];
        if (r < before || work_due(e->cx, i)) return false;
        if (r == before && e->coord[p->column][i] < e->coord[p->column][i - 1])
            return false;
    }
    return !e->is_narrow;
}

stc_status pack_by_counting(tensor *t, const entries *e, bool *done)
{
    *done = false;
    if (t->order != 2 || !rows_taken(t) || e->n <= FEW || e->n > INT32_MAX ||
        type_size(t->type) > 8 || t->level[0].extent > 8 * e->n + 1024)
        return STC_OK;
    const packing p = {e, t->fmt.level[0].map.mode, t->fmt.level[1].map.mode};
    const row_list l = {.of = &p, .n = e->n, .vals = e->vals, .coords = entry_coords};
    if (in_order(&p)) return work_done(t->cx, 0);
    return rows_from_list(t, &l, done);
}
