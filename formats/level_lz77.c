/* level_lz77.c: literal elements, and repeats of what came before.
 *
 * Each fiber is covered by tokens. Literals are stored, one position each;
 * a repeat names a pattern of positions stored earlier and goes round it as
 * often as its length asks. STC_POS bounds the tokens of each parent; STC_CRD
 * has the coordinate at which each token begins, which is what seeking halves;
 * STC_AUX has two numbers per token: the first position of its elements, and
 * the pattern's size (0: literals). Tokens stand apart from values and count
 * elements, so that any type of value stays aligned. Compression paper, §III-B.
 *
 * What isn't given is a repeat of the fill. Above the last level equal
 * subtensors are repeated only where they follow each other.
 */
#include "lz77.h"

static void lz77_view(const level *lv, int64_t parent, int64_t parent_coord, fiber_view *v)
{
    (void)lv;
    (void)parent;
    (void)parent_coord;
    *v = (fiber_view){.shape = VIEW_NONE};
}

static void lz77_table(const level *lv, fiber_table *out)
{
    const index_array *crd = &lv->a[STC_CRD], *aux = &lv->a[STC_AUX];
    const bool plain = crd->stride == crd->width && aux->stride == aux->width;
    segments_table(lv, out);
    if (out->shape != VIEW_NONE) out->shape = plain ? VIEW_TOKENS : VIEW_NONE;
    out->aux = aux->data;
    out->aux_width = aux->width;
}

/* ---- appending -------------------------------------------------------------------- */

/* param[1]: positions that are compressed already, since they were appended as whole
 * fibers; NONE: all are, since a repeat was appended as such. */
static stc_status lz77_init(ctx *cx, level *lv, int64_t parents)
{
    lv->param[0] = lv->base;
    lv->param[1] = 0;
    index_empty(cx, &lv->a[STC_AUX], 0, lv->width);
    return segments_init(cx, lv, parents);
}

stc_status lz77_token(ctx *cx, level *lv, int64_t lo, int64_t start, int64_t pattern)
{
    if (index_push(cx, &lv->a[STC_CRD], lo) || index_push(cx, &lv->a[STC_AUX], start))
        return cx->diag.status;
    return index_push(cx, &lv->a[STC_AUX], pattern);
}

/* What the last token of the open fiber is: its start and its size. */
static bool last_token(const level *lv, int64_t *start, int64_t *pattern)
{
    const int64_t last = lv->a[STC_CRD].len - 1;
    if (last < lv->open_count) return false;
    *start = index_get(&lv->a[STC_AUX], 2 * last);
    *pattern = index_get(&lv->a[STC_AUX], 2 * last + 1);
    return true;
}

/* One position for [lo, hi): a literal, or a pattern of one. */
static stc_status put_region(ctx *cx, level *lv, int64_t lo, int64_t hi, int64_t *pos)
{
    int64_t start, pattern = 1;
    const bool grows = hi - lo == 1 && last_token(lv, &start, &pattern) && !pattern;
    *pos = lv->size;
    if (!grows && lz77_token(cx, lv, lo, lv->size, hi - lo > 1)) return cx->diag.status;
    lv->size++;
    lv->param[0] = hi;
    return STC_OK;
}

/* What an appended interval of `parent` must be; the fiber is covered up to it. */
static stc_status reach(ctx *cx, level *lv, int64_t parent, int64_t lo, int64_t len)
{
    if (parent < lv->edges) return refuse_edges(cx, parent, lv->edges);
    if (cover_fibers(cx, lv, parent)) return cx->diag.status;
    if (lo < lv->param[0]) return refuse_append(cx, lv, lo, lv->param[0] - 1);
    if (!in_extent(lv, lo) || len <= 0) return refuse_append(cx, lv, lo, lo);
    if (len > lv->base + lv->extent - lo) return refuse_append(cx, lv, lo + len - 1, lo);
    return cover_until(cx, lv, lo);
}

static stc_status lz77_regions(ctx *cx, level *lv, int64_t parent, int64_t n,
                               const int64_t *lo, const int64_t *len, int64_t *pos)
{
    for (int64_t k = 0; k < n; k++) {
        if (reach(cx, lv, parent, lo[k], len[k]) ||
            put_region(cx, lv, lo[k], lo[k] + len[k], &pos[k]))
            return cx->diag.status;
    }
    return STC_OK;
}

static stc_status lz77_coord(ctx *cx, level *lv, int64_t parent, int64_t i, int64_t *pos)
{
    const int64_t one = 1;
    return lz77_regions(cx, lv, parent, 1, &i, &one, pos);
}

/* Repeats of stretches that follow each other, once each, are one. */
static stc_status lz77_repeat(ctx *cx, level *lv, int64_t parent, int64_t lo, int64_t hi,
                              int64_t start, int64_t size)
{
    int64_t before, pattern;
    if (reach(cx, lv, parent, lo, hi - lo)) return cx->diag.status;
    if (size <= 0 || start < 0 || start > lv->size - size)
        return fail(cx, STC_ERR_CORRUPT, "a repeat of positions %lld:%lld, where %lld are",
                    (long long)start, (long long)(start + size), (long long)lv->size);
    lv->param[0] = hi;
    lv->param[1] = NONE;
    const int64_t last = lv->a[STC_CRD].len - 1;
    if (hi - lo == size && last_token(lv, &before, &pattern) && pattern &&
        before + pattern == start && lo - index_get(&lv->a[STC_CRD], last) == pattern &&
        start + size <= INT32_MAX) {
        index_set(&lv->a[STC_AUX], 2 * last + 1, pattern + size);
        return STC_OK;
    }
    return lz77_token(cx, lv, lo, start, size);
}

/* ---- whole fibers ------------------------------------------------------------------- */

/* The open fiber's last token: NONE if it has none, else the position of the value that
 * it repeats; literals repeat none, and may grow. */
typedef struct last_run {
    int64_t at;
    bool literals;
} last_run;

/* Whole fibers' intervals: those of fiber f begin at lo[start[f] … start[f + 1]); all
 * fibers end where the level does, but the last one at `next`. */
typedef struct whole_fibers {
    const int *start;
    const int32_t *lo;
    int n;
    int64_t next;
} whole_fibers;

/* Values are at positions from `val` on, and what stays of them goes to lv->size. There is
 * room. */
static inline __attribute__((always_inline)) void
put_fibers(level *lv, const whole_fibers *w, char *vals, int64_t val, last_run run,
           const size_t size)
{
    index_array *crd = &lv->a[STC_CRD], *aux = &lv->a[STC_AUX], *pos = &lv->a[STC_POS];
    const bool narrow = crd->width == 4 && aux->width == 4 && pos->width == 4;
    int32_t *c = crd->data, *x = aux->data, *bound = (int32_t *)pos->data + pos->len;
    int64_t tokens = crd->len, at = lv->size;
    for (int f = 0, k = w->start[0]; f < w->n; f++) {
        const int last = w->start[f + 1] - 1;
        const int64_t end = f + 1 < w->n ? lv->base + lv->extent : w->next;
        for (; k <= last; k++, val++) {
            const bool one = (k < last ? w->lo[k + 1] : end) - w->lo[k] == 1;
            char *to = vals + (size_t)at * size, *v = vals + (size_t)val * size;
            if (run.at >= 0 && same_value(vals + (size_t)run.at * size, v, size)) continue;
            if (to != v) memcpy(to, v, size);
            if (one && run.literals) {
                at++;
                continue;
            }
            if (narrow) {
                c[tokens] = w->lo[k];
                x[2 * tokens] = (int32_t)at;
                x[2 * tokens++ + 1] = !one;
            } else {
                index_set(crd, tokens, w->lo[k]);
                index_set(aux, 2 * tokens, at);
                index_set(aux, 2 * tokens++ + 1, !one);
            }
            run = (last_run){one ? NONE : at, one};
            at++;
        }
        if (f + 1 == w->n) break;
        run = (last_run){.at = NONE};
        lv->open_count = tokens;
        if (narrow) {
            bound[f] = (int32_t)tokens;
        } else {
            index_set(pos, pos->len + f, tokens);
        }
    }
    pos->len += w->n - 1;
    lv->edges += w->n - 1;
    crd->len = tokens;
    aux->len = 2 * tokens;
    lv->size = at;
}

/* Room for as many more tokens and positions, and for n fibers. */
static stc_status make_room(ctx *cx, level *lv, int64_t tokens, int64_t n)
{
    index_array *crd = &lv->a[STC_CRD], *aux = &lv->a[STC_AUX], *pos = &lv->a[STC_POS];
    if (lv->size + tokens > INT32_MAX && (index_widen(cx, aux) || index_widen(cx, pos)))
        return cx->diag.status;
    if (mem_grow(cx, &crd->data, &crd->cap, crd->len + tokens, (size_t)crd->stride) ||
        mem_grow(cx, &pos->data, &pos->cap, pos->len + n, (size_t)pos->stride))
        return cx->diag.status;
    return mem_grow(cx, &aux->data, &aux->cap, aux->len + 2 * tokens, (size_t)aux->stride);
}

static stc_status lz77_fibers(ctx *cx, level *lv, int64_t parent, int n, const int *start,
                              const int32_t *lo, int64_t next, const void *from, void *vals,
                              size_t size)
{
    const whole_fibers w = {start, lo, n, next};
    last_run last = {.at = NONE};
    int64_t at, pattern;
    if (parent < lv->edges) return refuse_edges(cx, parent, lv->edges);
    if (cover_fibers(cx, lv, parent) || make_room(cx, lv, start[n] - start[0], n))
        return cx->diag.status;
    const int64_t before = lv->size;
    memmove((char *)vals + (size_t)before * size, from,
            (size_t)(start[n] - start[0]) * size);
    if (last_token(lv, &at, &pattern))
        last = (last_run){pattern == 1 ? at : NONE, !pattern};
    size == 1   ? put_fibers(lv, &w, vals, before, last, 1)
    : size == 4 ? put_fibers(lv, &w, vals, before, last, 4)
    : size == 8 ? put_fibers(lv, &w, vals, before, last, 8)
                : put_fibers(lv, &w, vals, before, last, size);
    lv->param[0] = next;
    if (lv->param[1] == before) lv->param[1] = lv->size;
    return STC_OK;
}

static stc_status lz77_finish(ctx *cx, level *lv, int64_t parents)
{
    if (cover_fibers(cx, lv, parents)) return cx->diag.status;
    const int64_t size = lv->size; /* segments know of one position a token */
    const stc_status status = segments_finish(cx, lv, parents);
    lv->size = size;
    return status ? status : segments_width(cx, lv);
}

/* ---- checking ----------------------------------------------------------------------- */

/* One past the last position that token p of a fiber ending at `hi` reads;
 * NONE: there is none, it makes no sense. */
static int64_t token_end(const level *lv, int64_t p, int64_t lo, int64_t hi)
{
    const int64_t start = index_get(&lv->a[STC_AUX], 2 * p);
    const int64_t pattern = index_get(&lv->a[STC_AUX], 2 * p + 1);
    int64_t reads = hi - lo, end;
    if (pattern < 0) return NONE;
    if (pattern && pattern < reads) reads = pattern;
    return size_add(start, reads, &end) ? end : NONE;
}

static stc_status lz77_check(ctx *cx, level *lv, int64_t parents)
{
    const index_array *pos = &lv->a[STC_POS], *crd = &lv->a[STC_CRD];
    int64_t pairs, size = 0;
    if (check_bounds(cx, lv, parents, "tokens")) return cx->diag.status;
    if (!size_mul(crd->len, 2, &pairs)) {
        return fail(cx, STC_ERR_OVERFLOW, "more tokens than 64 bits can count");
    }
    if (check_array(cx, &lv->a[STC_AUX], "starts and sizes", pairs)) return cx->diag.status;
    for (int64_t f = 0, p = 0; f < parents; f++) {
        const int64_t end = index_get(pos, f + 1), top = lv->base + lv->extent;
        if ((p == end) != (lv->extent == 0)) {
            return fail(cx, STC_ERR_DATA,
                        "fiber %lld has %lld tokens, expected them to cover %lld:%lld",
                        (long long)f, (long long)(end - p), (long long)lv->base,
                        (long long)top);
        }
        int64_t lo = lv->base;
        for (; p < end; p++) {
            const int64_t hi = p + 1 < end ? index_get(crd, p + 1) : top;
            if (index_get(crd, p) != lo || hi <= lo || hi > top) {
                return fail(cx, STC_ERR_DATA,
                            "token %lld covers %lld:%lld, expected it to begin at "
                            "%lld and to end by %lld",
                            (long long)p, (long long)index_get(crd, p), (long long)hi,
                            (long long)lo, (long long)top);
            }
            const int64_t reads = token_end(lv, p, lo, hi);
            if (reads == NONE) {
                return fail(cx, STC_ERR_DATA, "token %lld has start %lld and size %lld",
                            (long long)p, (long long)index_get(&lv->a[STC_AUX], 2 * p),
                            (long long)index_get(&lv->a[STC_AUX], 2 * p + 1));
            }
            if (reads > size) size = reads;
            lo = hi;
        }
    }
    lv->size = size;
    return STC_OK;
}

const level_kind level_lz77 = {
    .name = "lz77",
    .caps = CAP_ITER | CAP_SEEK | CAP_APPEND | CAP_PACK | CAP_REGION | CAP_APPEND_REGION |
            CAP_SUBSECT,
    .props = PROP_FULL | PROP_ORDERED | PROP_UNIQUE | PROP_COMPACT,
    .fixed = PROP_FULL | PROP_ORDERED | PROP_UNIQUE | PROP_COMPACT,
    .arrays = 1 << STC_POS | 1 << STC_CRD | 1 << STC_AUX,
    .open = cover_open,
    .next = cover_step,
    .seek = cover_seek,
    .view = lz77_view,
    .table = lz77_table,
    .size = cover_size,
    .append_init = lz77_init,
    .append_coord = lz77_coord,
    .append_edges = cover_edges,
    .append_finish = lz77_finish,
    .append_regions = lz77_regions,
    .append_repeat = lz77_repeat,
    .append_fibers = lz77_fibers,
    .append_next = cover_next,
    .append_join = lz77_join,
    .pack = lz77_pack,
    .check = lz77_check,
};
