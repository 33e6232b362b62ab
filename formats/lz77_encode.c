/* lz77_encode.c: finds what repeats: from sorted entries, or literals, to tokens.
 *
 * Hash chains over the stored elements, as in deflate: the next SEED elements
 * are looked up among those that were stored, and the longest match is taken if
 * it is worth a token. Matches may go past the last element and round again.
 * Short periods right behind are tried first. A run is one position and one token:
 * its element and how often, unless a longer match holds it, or runs of a few
 * elements come round again and again: these are stored, so that they can match.
 */
#include "lz77.h"
#include <string.h>

#define HASH_BITS 14
#define SEED 4    /* elements that a hash covers: the shortest match found by it */
#define TRIES 24  /* candidates looked at for one match                          */
#define NEAR 16   /* stored elements among which a run's is looked for            */
#define ROUND 256 /* the longest period in which runs come round                 */

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
    int64_t looked;    /* steps since the last look at limits                    */
    bool literal_open; /* the last token is literals and may grow              */
    value fill;
} encoder;

static stc_status token(encoder *z, int64_t lo, int64_t start, int64_t pattern)
{
    z->literal_open = !pattern;
    return lz77_token(z->cx, z->lv, lo, start, pattern);
}

static const char *value_of(const encoder *z, int64_t e)
{
    return e == NONE ? (const char *)&z->fill
                     : (const char *)z->in->vals + (size_t)e * z->size;
}

/* Of SEED elements in a row: words at a time. */
static uint64_t hash_bytes(const char *v, size_t n)
{
    uint64_t h = 0, x;
    for (; n >= 8; n -= 8, v += 8) {
        memcpy(&x, v, 8);
        h = (h ^ x) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    x = 0;
    memcpy(&x, v, n);
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h >> (64 - HASH_BITS);
}

static uint64_t hash_of(const encoder *z, int64_t p)
{
    return hash_bytes(z->lits + (size_t)p * z->size, SEED * z->size);
}

/* The hash of the next SEED elements of the stretch from s on. */
static uint64_t hash_ahead(const encoder *z, int64_t s)
{
    char v[SEED * sizeof(value)];
    for (int k = 0; k < SEED; k++)
        memcpy(v + (size_t)k * z->size, value_of(z, z->seq[s + k]), z->size);
    return hash_bytes(v, SEED * z->size);
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
           same_value(value_of(z, z->seq[s + k]), z->lits + (size_t)p * z->size, z->size)) {
        k++;
        if (++p == z->nlits) p = start;
        if (work_due(z->cx, k)) break;
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

/* A run of entry e's value (NONE: the fill): one position, unless it is stored, and
 * a repeat of it. */
static stc_status run(encoder *z, int64_t e, int64_t lo)
{
    const char *v = value_of(z, e);
    int64_t start = NONE;
    for (int64_t p = z->nlits - 1; p >= 0 && p >= z->nlits - NEAR && start == NONE; p--) {
        if (same_value(z->lits + (size_t)p * z->size, v, z->size)) start = p;
    }
    if (start == NONE) {
        start = z->nlits;
        if (e != NONE) z->in->pos[e] = start;
        if (literal(z, e)) return z->cx->diag.status;
    }
    return token(z, lo, start, 1);
}

static bool equal_ahead(const encoder *z, int64_t a, int64_t b)
{
    return same_value(value_of(z, z->seq[a]), value_of(z, z->seq[b]), z->size);
}

static int64_t run_length(const encoder *z, int64_t s)
{
    int64_t n = 1;
    while (s + n < z->nseq && equal_ahead(z, s, s + n) && !work_due(z->cx, n))
        n++;
    return n;
}

/* The period in which the run of n elements at s and what follows it come round at
 * least twice; 0: none. */
static int64_t round_length(const encoder *z, int64_t s, int64_t n)
{
    for (int64_t p = n + 1; p <= ROUND && s + 2 * p <= z->nseq; p++) {
        int64_t k = 0;
        while (k < p && equal_ahead(z, s + k, s + p + k))
            k++;
        if (k == p) return p;
    }
    return 0;
}

/* Encodes the stretch, which begins at coordinate lo. */
static stc_status stretch(encoder *z, int64_t lo)
{
    int64_t *pos = z->in->pos, stored = 0; /* elements that are stored, come what may */
    for (int64_t s = 0; s < z->nseq;) {
        z->looked += TRIES; /* matches are long or few */
        if (z->looked >= WORK_BLOCK / 4) {
            if (work_done(z->cx, (uint64_t)z->looked)) return z->cx->diag.status;
            z->looked = 0;
        }
        int64_t start = 0, n = best_match(z, s, &start);
        const int64_t same = run_length(z, s), pattern = z->nlits - start;
        const bool runs = same >= z->least && n < same + z->least && s >= stored;
        if (runs && n < same) stored = s + round_length(z, s, same);
        if ((runs && s >= stored) || (n >= z->least && s >= stored)) {
            if (runs) n = same;
            for (int64_t k = 0; k < n; k++)
                if (z->seq[s + k] != NONE) pos[z->seq[s + k]] = NONE;
            if (runs ? run(z, z->seq[s], lo + s)
                     : token(z, lo + s, start, n < pattern ? n : pattern))
                return z->cx->diag.status;
            s += n;
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

#define SHORT_GAP 16 /* up to so many fills are part of a stretch */

static stc_status encode_fiber(encoder *z, run_walk *w)
{
    int64_t lo = w->next; /* where the stretch begins */
    for (int64_t n = 0; run_walk_step(w); n++) {
        if (work_due(z->cx, n)) return z->cx->diag.status;
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
        if (stretch(z, lo) || run(z, NONE, w->lo)) return z->cx->diag.status;
        lo = w->hi;
    }
    return stretch(z, lo);
}

/* Above the last level: each run of equal subtensors is stored once. */
static stc_status encode_outer(encoder *z, run_walk *w)
{
    int64_t *pos = z->in->pos;
    for (int64_t n = 0; run_walk_step(w); n++) {
        if (work_due(z->cx, n)) return z->cx->diag.status;
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
        if (work_due(z->cx, p)) return z->cx->diag.status;
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

static encoder *encoder_new(ctx *cx, level *lv, const pack_in *in, size_t size)
{
    encoder *z = mem_zero(cx, 1, sizeof *z);
    if (!z) return NULL;
    z->cx = cx;
    z->lv = lv;
    z->in = in;
    z->size = size;
    z->least = (int64_t)(20 / size) > SEED ? (int64_t)(20 / size) : SEED;
    for (int h = 0; h < 1 << HASH_BITS; h++)
        z->head[h] = NONE;
    return z;
}

static void encoder_free(encoder *z)
{
    mem_free(z->cx, z->lits, (size_t)z->lits_cap * z->size);
    mem_free(z->cx, z->chain, (size_t)z->chain_cap * sizeof *z->chain);
    mem_free(z->cx, z->seq, (size_t)z->seq_cap * sizeof *z->seq);
    mem_free(z->cx, z, sizeof *z);
}

static stc_status ready(ctx *cx, level *lv, int64_t parents)
{
    int64_t bounds;
    index_empty(cx, &lv->a[STC_CRD], largest_coord(lv), lv->width);
    index_empty(cx, &lv->a[STC_AUX], 0, lv->width);
    if (!size_add(parents, 1, &bounds))
        return fail(cx, STC_ERR_OVERFLOW, "more positions above than 64 bits can count");
    if (index_ready(cx, &lv->a[STC_POS], 0, lv->width, bounds)) return cx->diag.status;
    lv->a[STC_POS].len = 1;
    index_set(&lv->a[STC_POS], 0, 0);
    return STC_OK;
}

stc_status lz77_pack(ctx *cx, level *lv, pack_in *in)
{
    encoder *z = encoder_new(cx, lv, in, type_size(in->type));
    if (!z) return cx->diag.status;
    type_store(in->type, &z->fill, 0, in->fill);
    stc_status status = ready(cx, lv, in->parents);
    if (!status) status = encode(z);
    lv->size = z->nlits;
    encoder_free(z);
    return status ? status : segments_width(cx, lv);
}

/* ---- what was appended ------------------------------------------------------------- */

/* Tokens of old fiber f: literals are looked at again, runs stay. */
static stc_status encode_again(encoder *z, const level *old, int64_t f)
{
    const int64_t end = index_get(&old->a[STC_POS], f + 1), top = old->base + old->extent;
    int64_t lo = NONE; /* where the stretch begins */
    z->literal_open = false;
    for (int64_t p = index_get(&old->a[STC_POS], f); p < end; p++) {
        const int64_t from = index_get(&old->a[STC_CRD], p);
        const int64_t to = p + 1 < end ? index_get(&old->a[STC_CRD], p + 1) : top;
        const int64_t start = index_get(&old->a[STC_AUX], 2 * p);
        if (index_get(&old->a[STC_AUX], 2 * p + 1)) {
            if ((lo != NONE && stretch(z, lo)) || run(z, start, from))
                return z->cx->diag.status;
            lo = NONE;
            continue;
        }
        if (lo == NONE) lo = from;
        for (int64_t k = 0; k < to - from; k++) {
            if (push_seq(z, start + k)) return z->cx->diag.status;
        }
    }
    return lo == NONE ? STC_OK : stretch(z, lo);
}

/* Where nearly all tokens are runs, with a position each, in order: equal ones that
 * follow each other become one, in place. */
static void join_runs(level *lv, char *v, size_t size)
{
    index_array *pos = &lv->a[STC_POS], *crd = &lv->a[STC_CRD], *aux = &lv->a[STC_AUX];
    int64_t n = 0, at = 0, p = 0;
    for (int64_t f = 0; f + 1 < pos->len; f++) {
        bool run = false; /* the last token is one */
        for (const int64_t end = index_get(pos, f + 1); p < end; p++) {
            const int64_t start = index_get(aux, 2 * p),
                          pattern = index_get(aux, 2 * p + 1);
            const int64_t next = p + 1 < crd->len ? index_get(aux, 2 * p + 2) : lv->size;
            const bool before = run;
            run = pattern != 0;
            if (before && run &&
                same_value(v + (size_t)(at - 1) * size, v + (size_t)start * size, size))
                continue;
            index_set(crd, n, index_get(crd, p));
            index_set(aux, 2 * n, at);
            index_set(aux, 2 * n + 1, pattern);
            memmove(v + (size_t)at * size, v + (size_t)start * size,
                    (size_t)(next - start) * size);
            at += next - start;
            n++;
        }
        index_set(pos, f + 1, n);
    }
    crd->len = n;
    aux->len = 2 * n;
    lv->size = at;
}

/* Whether it isn't worth it to look for repeats in literals: beside the tokens, which
 * stay, they take little. */
static bool literals_take_little(const level *lv, size_t size)
{
    const int64_t tokens = lv->a[STC_CRD].len;
    int64_t literals = lv->size;
    for (int64_t p = 0; p < tokens; p++)
        literals -= index_get(&lv->a[STC_AUX], 2 * p + 1) != 0;
    return literals * (int64_t)size <= 3 * tokens;
}

stc_status lz77_join(ctx *cx, level *lv, void *vals, size_t size)
{
    if (lv->param[1] == NONE || lv->param[1] == lv->size) return STC_OK;
    if (literals_take_little(lv, size) || size > sizeof(value)) { /* or blocks of values */
        join_runs(lv, vals, size);
        return STC_OK;
    }
    level old = *lv;
    const int64_t parents = old.a[STC_POS].len - 1;
    pack_in in = {.vals = vals, .pos = mem_array(cx, old.size, sizeof *in.pos)};
    if (!in.pos) return cx->diag.status;
    for (int k = 0; k < 3; k++)
        index_init(&lv->a[k], 0, 0);
    encoder *z = encoder_new(cx, lv, &in, size);
    stc_status status = z ? ready(cx, lv, parents) : cx->diag.status;
    for (int64_t f = 0; !status && f < parents; f++) {
        status = encode_again(z, &old, f);
        if (!status) status = index_push(cx, &lv->a[STC_POS], lv->a[STC_CRD].len);
    }
    if (!status) {
        memcpy(vals, z->lits, (size_t)z->nlits * size);
        lv->size = z->nlits;
    }
    if (z) encoder_free(z);
    mem_free(cx, in.pos, (size_t)old.size * sizeof *in.pos);
    for (int k = 0; k < 3; k++)
        index_free(cx, &old.a[k]);
    return status ? status : segments_width(cx, lv);
}
