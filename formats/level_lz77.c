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
#include "kinds.h"
#include <string.h>

static void settle(cursor *c)
{
    const level *lv = c->lv;
    if (c->p >= c->end) {
        cursor_used_up(c);
        return;
    }
    c->lo = index_get(&lv->a[STC_CRD], c->p);
    c->hi =
        c->p + 1 < c->end ? index_get(&lv->a[STC_CRD], c->p + 1) : lv->base + lv->extent;
    c->pos = index_get(&lv->a[STC_AUX], 2 * c->p);
    c->pos_end = c->pos + 1;
    const int64_t pattern = index_get(&lv->a[STC_AUX], 2 * c->p + 1);
    c->period = pattern ? pattern : PERIOD_ENDLESS;
}

static void lz77_open(cursor *c, const level *lv, const cursor *up)
{
    int64_t begin, end;
    cursor_begin(c, lv, up);
    if (!parent_range(up, &begin, &end)) {
        cursor_used_up(c);
        return;
    }
    c->p = index_get(&lv->a[STC_POS], begin);
    c->end = index_get(&lv->a[STC_POS], begin + 1);
    settle(c);
}

static void lz77_next(cursor *c)
{
    c->p++;
    settle(c);
}

static void lz77_seek(cursor *c, int64_t i)
{
    if (c->hi > i) return;
    if (i >= c->lv->base + c->lv->extent) {
        cursor_used_up(c);
        return;
    }
    c->p = index_last_below(&c->lv->a[STC_CRD], c->p, c->end, i);
    settle(c);
}

static void lz77_view(const level *lv, int64_t parent, int64_t parent_coord, fiber_view *v)
{
    (void)lv;
    (void)parent;
    (void)parent_coord;
    *v = (fiber_view){.shape = VIEW_NONE};
}

static void lz77_table(const level *lv, fiber_table *out)
{
    const index_array *crd = &lv->a[STC_CRD], *pos = &lv->a[STC_POS],
                      *aux = &lv->a[STC_AUX];
    const bool plain =
        pos->stride == pos->width && crd->stride == crd->width && aux->stride == aux->width;
    *out = (fiber_table){.shape = plain ? VIEW_TOKENS : VIEW_NONE,
                         .crd = crd->data,
                         .width = crd->width,
                         .stride = crd->stride,
                         .bounds = pos->data,
                         .bounds_width = pos->width,
                         .lo = lv->base,
                         .hi = lv->base + lv->extent,
                         .aux = aux->data,
                         .aux_width = aux->width};
}

static int64_t lz77_size(const level *lv, int64_t parents)
{
    return parents == 0 || lv->extent == 0 ? 0 : NONE;
}

/* ---- encoding ------------------------------------------------------------------------ */

#define HASH_BITS 14
#define SEED 4   /* elements that a hash covers: the shortest match found by it */
#define TRIES 24 /* candidates looked at for one match                          */

typedef struct encoder {
    ctx *cx;
    level *lv;
    const pack_in *in;
    size_t size;   /* bytes of a value                                     */
    int64_t least; /* elements that a repeat has to save                   */
    char *lits;    /* values of the positions so far (last level only)     */
    int64_t nlits, lits_cap;
    int64_t *chain; /* per position: the one before it with its hash        */
    int64_t chain_cap;
    int64_t head[1 << HASH_BITS];
    int64_t hashed; /* positions below it are in the chains                 */
    int64_t *seq;   /* a stretch of the fiber: entries, NONE for the fill   */
    int64_t nseq, seq_cap;
    bool literal_open; /* the last token is literals and may grow              */
    value fill;
} encoder;

static stc_status token(encoder *z, int64_t lo, int64_t start, int64_t pattern)
{
    z->literal_open = !pattern;
    if (index_push(z->cx, &z->lv->a[STC_CRD], lo) ||
        index_push(z->cx, &z->lv->a[STC_AUX], start)) {
        return z->cx->diag.status;
    }
    return index_push(z->cx, &z->lv->a[STC_AUX], pattern);
}

static const char *value_of(const encoder *z, int64_t e)
{
    return e == NONE ? (const char *)&z->fill
                     : (const char *)z->in->vals + (size_t)e * z->size;
}

static uint64_t hash_of(const encoder *z, int64_t p)
{
    uint64_t h = 0;
    const char *v = z->lits + (size_t)p * z->size;
    for (size_t b = 0; b < SEED * z->size; b++)
        h = (h ^ (uint8_t)v[b]) * 0x100000001b3u;
    return (h ^ h >> 29) & ((1 << HASH_BITS) - 1);
}

/* The hash of the next SEED elements of the stretch from s on. */
static uint64_t hash_ahead(const encoder *z, int64_t s)
{
    uint64_t h = 0;
    for (int k = 0; k < SEED; k++) {
        const char *v = value_of(z, z->seq[s + k]);
        for (size_t b = 0; b < z->size; b++)
            h = (h ^ (uint8_t)v[b]) * 0x100000001b3u;
    }
    return (h ^ h >> 29) & ((1 << HASH_BITS) - 1);
}

/* A new position holding entry e (NONE: the fill). */
static stc_status literal(encoder *z, int64_t e)
{
    if (z->in->deeper) {
        z->nlits++;
        return STC_OK;
    }
    if (mem_grow(z->cx, &z->lits, &z->lits_cap, z->nlits + 1, z->size) ||
        mem_grow(z->cx, &z->chain, &z->chain_cap, z->nlits + 1, sizeof *z->chain)) {
        return z->cx->diag.status;
    }
    memcpy(z->lits + (size_t)z->nlits * z->size, value_of(z, e), z->size);
    z->nlits++;
    for (; z->hashed + SEED <= z->nlits; z->hashed++) {
        int64_t *head = &z->head[hash_of(z, z->hashed)];
        z->chain[z->hashed] = *head;
        *head = z->hashed;
    }
    return STC_OK;
}

/* How far the stretch from s on repeats what is stored from `start` on; past
 * the last position the pattern goes round. */
static int64_t match_length(const encoder *z, int64_t s, int64_t start)
{
    int64_t k = 0, p = start;
    while (s + k < z->nseq &&
           !memcmp(value_of(z, z->seq[s + k]), z->lits + (size_t)p * z->size, z->size)) {
        k++;
        if (++p == z->nlits) p = start;
    }
    return k;
}

static int64_t best_match(const encoder *z, int64_t s, int64_t *start)
{
    int64_t best = 0;
    for (int64_t d = 1; d <= 4 && d <= z->nlits; d++) { /* short periods right behind */
        const int64_t n = match_length(z, s, z->nlits - d);
        if (n > best) {
            best = n;
            *start = z->nlits - d;
        }
    }
    if (s + SEED > z->nseq || best >= 64 * z->least) return best;
    int64_t p = z->head[hash_ahead(z, s)];
    for (int tries = 0; p != NONE && tries < TRIES; tries++, p = z->chain[p]) {
        const int64_t n = match_length(z, s, p);
        if (n <= best) continue;
        best = n;
        *start = p;
    }
    return best;
}

/* Encodes the stretch, which begins at coordinate lo. */
static stc_status stretch(encoder *z, int64_t lo)
{
    int64_t *pos = z->in->pos;
    for (int64_t s = 0; s < z->nseq;) {
        int64_t start = 0, n = best_match(z, s, &start);
        if (n >= z->least) {
            const int64_t pattern = n < z->nlits - start ? n : z->nlits - start;
            if (token(z, lo + s, start, pattern)) return z->cx->diag.status;
            for (; n > 0; n--, s++) {
                if (z->seq[s] != NONE) pos[z->seq[s]] = NONE;
            }
            continue;
        }
        if (!z->literal_open && token(z, lo + s, z->nlits, 0)) return z->cx->diag.status;
        if (z->seq[s] != NONE) pos[z->seq[s]] = z->nlits;
        if (literal(z, z->seq[s])) return z->cx->diag.status;
        s++;
    }
    z->nseq = 0;
    return STC_OK;
}

static stc_status push_seq(encoder *z, int64_t e)
{
    if (mem_grow(z->cx, &z->seq, &z->seq_cap, z->nseq + 1, sizeof *z->seq)) {
        return z->cx->diag.status;
    }
    z->seq[z->nseq++] = e;
    return STC_OK;
}

/* A long gap: the fill once, unless it is stored, and a repeat of it. */
static stc_status gap(encoder *z, int64_t lo, int64_t hi)
{
    int64_t start = NONE;
    for (int64_t p = z->nlits - 1; p >= 0 && p >= z->nlits - 64 && start == NONE; p--) {
        if (!memcmp(z->lits + (size_t)p * z->size, &z->fill, z->size)) start = p;
    }
    if (start == NONE) {
        start = z->nlits;
        if (!z->literal_open && token(z, lo, start, 0)) return z->cx->diag.status;
        if (literal(z, NONE)) return z->cx->diag.status;
        lo++;
    }
    return lo < hi ? token(z, lo, start, 1) : STC_OK;
}

#define SHORT_GAP 16 /* up to so many fills are part of a stretch */

static stc_status encode_fiber(encoder *z, run_walk *w)
{
    int64_t lo = w->next; /* where the stretch begins */
    while (run_walk_step(w)) {
        if (w->begin < w->end) {
            if (push_seq(z, w->begin)) return z->cx->diag.status;
            continue;
        }
        if (w->hi - w->lo <= SHORT_GAP) {
            for (int64_t i = w->lo; i < w->hi; i++) {
                if (push_seq(z, NONE)) return z->cx->diag.status;
            }
            continue;
        }
        if (stretch(z, lo) || gap(z, w->lo, w->hi)) return z->cx->diag.status;
        lo = w->hi;
    }
    return stretch(z, lo);
}

/* Above the last level: each run of equal subtensors is stored once. */
static stc_status encode_outer(encoder *z, run_walk *w)
{
    int64_t *pos = z->in->pos;
    while (run_walk_step(w)) {
        if (w->same) {
            const bool again =
                index_get(&z->lv->a[STC_AUX], z->lv->a[STC_AUX].len - 1) != 0;
            if (!again && token(z, w->lo, z->nlits - 1, 1)) return z->cx->diag.status;
            for (int64_t e = w->begin; e < w->end; e++)
                pos[e] = NONE;
            continue;
        }
        if (!z->literal_open && token(z, w->lo, z->nlits, 0)) return z->cx->diag.status;
        for (int64_t e = w->begin; e < w->end; e++)
            pos[e] = z->nlits;
        if (literal(z, NONE)) return z->cx->diag.status;
        if (w->hi - w->lo > 1 && token(z, w->lo + 1, z->nlits - 1, 1))
            return z->cx->diag.status;
    }
    return STC_OK;
}

static stc_status encode(encoder *z)
{
    run_walk w;
    run_walk_start(&w, z->lv, z->in);
    for (int64_t p = 0; p < z->in->parents; p++) {
        z->literal_open = false;
        if (run_walk_fiber(&w, p) &&
            (z->in->deeper ? encode_outer(z, &w) : encode_fiber(z, &w))) {
            return z->cx->diag.status;
        }
        if (index_push(z->cx, &z->lv->a[STC_POS], z->lv->a[STC_CRD].len)) {
            return z->cx->diag.status;
        }
    }
    return STC_OK;
}

static stc_status lz77_pack(ctx *cx, level *lv, pack_in *in)
{
    encoder *z = mem_zero(cx, 1, sizeof *z);
    if (!z) return cx->diag.status;
    z->cx = cx;
    z->lv = lv;
    z->in = in;
    z->size = type_size(in->type);
    z->least = (int64_t)(20 / z->size) > SEED ? (int64_t)(20 / z->size) : SEED;
    for (int h = 0; h < 1 << HASH_BITS; h++)
        z->head[h] = NONE;
    type_store(in->type, &z->fill, 0, in->fill);
    stc_status status = STC_OK;
    if (index_ready(cx, &lv->a[STC_CRD], largest_coord(lv), lv->width, 0) ||
        index_ready(cx, &lv->a[STC_AUX], 0, lv->width, 0) ||
        index_ready(cx, &lv->a[STC_POS], 0, lv->width, 1)) {
        status = cx->diag.status;
    } else {
        index_set(&lv->a[STC_POS], 0, 0);
        status = encode(z);
    }
    lv->size = z->nlits;
    mem_free(cx, z->lits, (size_t)z->lits_cap * z->size);
    mem_free(cx, z->chain, (size_t)z->chain_cap * sizeof *z->chain);
    mem_free(cx, z->seq, (size_t)z->seq_cap * sizeof *z->seq);
    mem_free(cx, z, sizeof *z);
    return status ? status : segments_width(cx, lv);
}

/* ---- checking ---------------------------------------------------------------------------
 */

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
    .caps = CAP_ITER | CAP_SEEK | CAP_PACK | CAP_REGION | CAP_SUBSECT,
    .props = PROP_FULL | PROP_ORDERED | PROP_UNIQUE | PROP_COMPACT,
    .fixed = PROP_FULL | PROP_ORDERED | PROP_UNIQUE | PROP_COMPACT,
    .arrays = 1 << STC_POS | 1 << STC_CRD | 1 << STC_AUX,
    .open = lz77_open,
    .next = lz77_next,
    .seek = lz77_seek,
    .view = lz77_view,
    .table = lz77_table,
    .size = lz77_size,
    .pack = lz77_pack,
    .check = lz77_check,
};
