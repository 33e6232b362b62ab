/* stt_sum.c: the sum that tells whether an array of a .stt file is what was written.
 *
 * It is against damage, not against malice: the levels are checked. That of version 2 is
 * made of pieces (formats/base/sum.h), which threads share. That of version 1 goes through
 * an array from its beginning to its end: four lanes of 64 bits take the words of 32 bytes
 * at a time: each is added by exclusive or, turned left by 29 bits and multiplied by an odd
 * number; so any change of one word changes its lane.
 */
#include "stt.h"
#include "../../formats/base/parts.h"
#include "../../formats/base/spill.h"
#include "../../formats/base/sum.h"
#include <string.h>

enum { LANES = 4, BLOCK = LANES * 8, STEP = 1 << 18, SHARED = 1 << 22 };

static const uint64_t start[LANES] = {0x243f6a8885a308d3u, 0x13198a2e03707344u,
                                      0xa4093822299f31d0u, 0x082efa98ec4e6c89u};
#define FACTOR UINT64_C(0x9fb21c651e98df25)

static inline uint64_t turn(uint64_t lane, uint64_t word)
{
    lane ^= word;
    return (lane << 29 | lane >> 35) * FACTOR;
}

/* Whole blocks. */
static void take_blocks(uint64_t lane[LANES], const char *p, size_t size)
{
    uint64_t a = lane[0], b = lane[1], c = lane[2], d = lane[3];
    for (const char *end = p + size; p < end; p += BLOCK) {
        uint64_t w[LANES];
        memcpy(w, p, sizeof w);
        a = turn(a, w[0]);
        b = turn(b, w[1]);
        c = turn(c, w[2]);
        d = turn(d, w[3]);
    }
    lane[0] = a, lane[1] = b, lane[2] = c, lane[3] = d;
}

/* What is left, with zeros behind it, and the number of all bytes. */
static uint64_t finish(uint64_t lane[LANES], const char *p, size_t size, uint64_t total)
{
    char last[BLOCK] = {0};
    if (size) {
        memcpy(last, p, size);
        take_blocks(lane, last, BLOCK);
    }
    uint64_t sum = total;
    for (int k = 0; k < LANES; k++)
        sum = turn(sum, lane[k]);
    return sum ^ sum >> 32;
}

static uint64_t sum_lanes(const void *bytes, size_t size)
{
    uint64_t lane[LANES];
    memcpy(lane, start, sizeof lane);
    const size_t whole = size / BLOCK * BLOCK;
    take_blocks(lane, bytes, whole);
    return finish(lane, (const char *)bytes + whole, size - whole, size);
}

uint64_t stt_sum_bytes(int version, const void *bytes, size_t size)
{
    if (version == 1) return sum_lanes(bytes, size);
    return sum_whole(sum_piece(bytes, size, 0), size);
}

typedef struct summing {
    int version, n;
    const array_span *const *array;
    void *const *block; /* NULL: none is in files */
    _Atomic uint64_t sum[STT_ARRAYS];
    _Atomic int64_t next; /* piece that no thread has taken */
    ctx cx[PARTS_MAX];
} summing;

/* Array k's elements from `first` to `last`. */
static stc_status sum_part(summing *s, ctx *cx, int k, int64_t first, int64_t last)
{
    const array_span *a = s->array[k];
    void *const block = s->block ? s->block[k] : NULL;
    const char *rest = NULL;
    stc_status st = STC_OK;
    uint64_t lane[LANES], behind = 0, sum = 0;
    char room[4096], *const file = block ? spill_room(block) : NULL;
    const int64_t step = (file                    ? SPILL_ROOM
                          : a->stride == a->width ? STEP
                                                  : (int)sizeof room) /
                         a->width;
    memcpy(lane, start, sizeof lane);
    for (int64_t at = first; at < last && !st; at += step) {
        const int64_t n = last - at < step ? last - at : step;
        const size_t size = (size_t)(n * a->width), whole = size / BLOCK * BLOCK;
        const size_t begin = (size_t)(at * a->width);
        const char *p = file;
        if (!file || !spill_read(block, begin, file, size)) p = span_gather(a, at, n, room);
        if (s->version == 1)
            take_blocks(lane, p, whole);
        else
            sum += sum_piece(p, size, begin);
        rest = p + whole; /* only the last step has one */
        behind = size - whole;
        st = work_done(cx, size / 64);
    }
    if (s->version == 1) sum = finish(lane, rest, behind, (uint64_t)(a->n * a->width));
    atomic_fetch_add(&s->sum[k], sum);
    if (file) spill_room_leave(block, file);
    return st;
}

/* Pieces count on from array to array. */
static void sum_next(void *context, int part)
{
    summing *s = context;
    int64_t before = 0, at = atomic_fetch_add(&s->next, 1);
    for (int k = 0; k < s->n;) {
        const bool whole = s->version == 1;
        const int64_t n = s->array[k]->n,
                      piece = whole ? n : SPILL_ROOM / s->array[k]->width;
        const int64_t pieces = whole ? 1 : (n + piece - 1) / piece;
        const int64_t first = (at - before) * piece;
        if (at - before >= pieces) {
            before += pieces;
            k++;
            continue;
        }
        if (sum_part(s, &s->cx[part], k, first, n - first < piece ? n : first + piece))
            return;
        at = atomic_fetch_add(&s->next, 1);
    }
}

static stc_status sum_all(ctx *cx, summing *s)
{
    int64_t bytes = 0;
    for (int k = 0; k < s->n; k++)
        bytes += s->array[k]->n * s->array[k]->width;
    const int threads = bytes < SHARED ? 1 : parts_for(cx);
    const uint64_t before = cx->steps;
    for (int k = 0; k < threads; k++)
        s->cx[k] = (ctx){.root = cx, .steps = before};
    parts_run(threads, sum_next, s);
    for (int k = 0; k < threads; k++) {
        cx->steps += s->cx[k].steps - before;
        if (s->cx[k].diag.status && !cx->diag.status) cx->diag = s->cx[k].diag;
    }
    return cx->diag.status ? cx->diag.status : work_done(cx, 0);
}

stc_status stt_sums(ctx *cx, int version, int n, const array_span *const *array,
                    void *const *block, uint64_t *sum)
{
    summing *s = mem_zero(cx, 1, sizeof *s);
    if (!s) return cx->diag.status;
    s->version = version;
    s->n = n;
    s->array = array;
    s->block = block;
    const stc_status st = sum_all(cx, s);
    for (int k = 0; k < n; k++) {
        const uint64_t bytes = (uint64_t)(array[k]->n * array[k]->width);
        sum[k] = version == 1 ? s->sum[k] : sum_whole(s->sum[k], bytes);
    }
    mem_free(cx, s, sizeof *s);
    return st;
}
