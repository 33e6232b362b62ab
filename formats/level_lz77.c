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

/* Whole fibers' intervals: those of fiber f begin at lo[start[f] … start[f + 1]); all
 * fibers end where the level does, but the last one at `next`. */
typedef struct whole_fibers {
    const int *start;
    const int32_t *lo;
    int n;
    int64_t next;
} whole_fibers;

static int64_t fiber_end(const level *lv, const whole_fibers *w, int f)
{
    return f + 1 < w->n ? lv->base + lv->extent : w->next;
}

/* The open fiber's last token: NONE if it has none, else the position of the value that
 * it repeats; literals repeat none, and may grow. */
typedef struct last_run {
    int64_t at;
    bool literals;
} last_run;

/* Whether lanes are of one element, and come right behind the lane before: where a fiber
 * ends, at `end`, the next lane isn't further on. Lane 0 comes behind literals, or doesn't.
 */
enum { ONE = 1, BEHIND = 2 };
static void find_kinds(const int32_t *restrict c, int32_t *restrict kind, int64_t lanes,
                       bool literals, int32_t end)
{
    for (int64_t k = 0; k < lanes; k++)
        kind[k] = (c[k + 1] - c[k] == 1) | ((c[k + 1] <= c[k]) & (c[k] == end - 1));
    for (int64_t k = 1; k < lanes; k++)
        kind[k] |= c[k] - c[k - 1] == 1 ? BEHIND : 0;
    kind[0] |= literals ? BEHIND : 0;
}

/* Lanes without equal neighbours, in place of the tokens: their coordinates at c[0 …), and
 * behind them where the last one ends; their positions from `at` on. Those of one element
 * go on in literals: nothing here branches on who they are. How many tokens are in front of
 * each lane takes the place of its kind. */
static int64_t lanes_to_tokens(int32_t *restrict c, int32_t *restrict x,
                               int32_t *restrict before, int32_t at, int64_t lanes)
{
    uint32_t t = 0;
    for (int64_t k = 0; k < lanes; k++) {
        const int32_t kind = before[k];
        before[k] = (int32_t)t;
        c[t] = c[k];
        x[2 * t] = at + (int32_t)k;
        x[2 * t + 1] = ~kind & ONE;
        t += kind != (ONE | BEHIND);
    }
    before[lanes] = (int32_t)t;
    return t;
}

/* Equal neighbours become one where the values go, and lanes tokens where these do. There
 * is room. */
static bool join_fibers(level *lv, const whole_fibers *w, const char *from, char *vals,
                        last_run run, size_t size)
{
    index_array *crd = &lv->a[STC_CRD], *aux = &lv->a[STC_AUX], *pos = &lv->a[STC_POS];
    int32_t *c = (int32_t *)crd->data + crd->len;
    int32_t *bound = (int32_t *)pos->data + pos->len;
    const int lanes = w->start[w->n] - w->start[0];
    int skip = w->start[0]; /* lanes that the last run goes on in */
    while (run.at >= 0 && skip < w->start[1] &&
           same_value(vals + (size_t)run.at * size,
                      from + (size_t)(skip - w->start[0]) * size, size))
        skip++;
    for (int f = 1; f < w->n; f++)
        bound[f - 1] = w->start[f] - skip;
    index_array ends = {.data = bound, .len = w->n - 1, .width = 4, .stride = 4};
    run_joining j = {.pos = &ends, .base = (int32_t)lv->base};
    vals += (size_t)lv->size * size;
    if (!run_join(&j, c, vals, w->lo + skip, from + (size_t)(skip - w->start[0]) * size,
                  w->start[w->n] - skip, size))
        return false;
    int32_t *x = (int32_t *)aux->data + aux->len, *before = x + 2 * lanes;
    c[j.n] = (int32_t)w->next;
    find_kinds(c, before, j.n, skip == w->start[0] && run.literals,
               (int32_t)(lv->base + lv->extent));
    const int64_t tokens = lanes_to_tokens(c, x, before, (int32_t)lv->size, j.n);
    for (int f = 1; f < w->n; f++)
        bound[f - 1] = (int32_t)crd->len + before[bound[f - 1]];
    if (w->n > 1) lv->open_count = bound[w->n - 2];
    crd->len += tokens;
    aux->len += 2 * tokens;
    lv->size += j.n;
    return true;
}

/* The same lane by lane, for elements and numbers of any width, which are there already. */
static void put_fibers(level *lv, const whole_fibers *w, char *vals, last_run run,
                       size_t size)
{
    index_array *crd = &lv->a[STC_CRD], *aux = &lv->a[STC_AUX], *pos = &lv->a[STC_POS];
    int64_t val = lv->size;
    for (int f = 0, k = w->start[0]; f < w->n; f++) {
        const int last = w->start[f + 1] - 1;
        const int64_t end = fiber_end(lv, w, f);
        for (; k <= last; k++, val++) {
            const bool one = (k < last ? w->lo[k + 1] : end) - w->lo[k] == 1;
            char *to = vals + (size_t)lv->size * size, *v = vals + (size_t)val * size;
            if (run.at >= 0 && same_value(vals + (size_t)run.at * size, v, size)) continue;
            if (to != v) memcpy(to, v, size);
            if (!one || !run.literals) {
                index_set(crd, crd->len++, w->lo[k]);
                index_set(aux, aux->len++, lv->size);
                index_set(aux, aux->len++, !one);
                run = (last_run){one ? NONE : lv->size, one};
            }
            lv->size++;
        }
        if (f + 1 == w->n) break;
        run = (last_run){.at = NONE};
        lv->open_count = crd->len;
        index_set(pos, pos->len + f, crd->len);
    }
}

/* Room for as many more tokens and positions, and for n fibers; and for a number for each
 * token, and one more. */
static stc_status make_room(ctx *cx, level *lv, int64_t tokens, int64_t n)
{
    index_array *crd = &lv->a[STC_CRD], *aux = &lv->a[STC_AUX], *pos = &lv->a[STC_POS];
    if (lv->size + tokens > INT32_MAX && (index_widen(cx, aux) || index_widen(cx, pos)))
        return cx->diag.status;
    if (index_reserve(cx, crd, crd->len + tokens + 1) ||
        index_reserve(cx, pos, pos->len + n))
        return cx->diag.status;
    return mem_grow(cx, &aux->data, &aux->cap, aux->len + 3 * tokens + 1,
                    (size_t)aux->stride);
}

static stc_status lz77_fibers(ctx *cx, level *lv, int64_t parent, int n, const int *start,
                              const int32_t *lo, int64_t next, const void *from, void *vals,
                              size_t size)
{
    const whole_fibers w = {start, lo, n, next};
    const index_array *a = lv->a;
    last_run last = {.at = NONE};
    int64_t at, pattern;
    if (parent < lv->edges) return refuse_edges(cx, parent, lv->edges);
    if (cover_fibers(cx, lv, parent) || make_room(cx, lv, start[n] - start[0], n))
        return cx->diag.status;
    const int64_t before = lv->size;
    if (last_token(lv, &at, &pattern))
        last = (last_run){pattern == 1 ? at : NONE, !pattern};
    const bool narrow =
        a[STC_CRD].width == 4 && a[STC_AUX].width == 4 && a[STC_POS].width == 4;
    if (!narrow || !join_fibers(lv, &w, from, vals, last, size)) {
        memmove((char *)vals + (size_t)before * size, from,
                (size_t)(start[n] - start[0]) * size);
        put_fibers(lv, &w, vals, last, size);
    }
    lv->a[STC_POS].len += n - 1;
    lv->edges += n - 1;
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
        if (work_due(cx, f)) return cx->diag.status;
        for (; p < end; p++) {
            if (work_due(cx, p)) return cx->diag.status;
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
    .letter = 'z',
    .caps = CAP_ITER | CAP_SEEK | CAP_APPEND | CAP_PACK | CAP_REGION | CAP_APPEND_REGION |
            CAP_SUBSECT,
    .props = PROP_FULL | PROP_ORDERED | PROP_UNIQUE | PROP_COMPACT,
    .fixed = PROP_FULL | PROP_ORDERED | PROP_UNIQUE | PROP_COMPACT,
    .arrays = 1 << STC_POS | 1 << STC_CRD | 1 << STC_AUX,
    .open = cover_open,
    .next = cover_step,
    .seek = cover_seek,
    .view = no_view,
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
