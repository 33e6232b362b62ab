/* stt_sum.c: the sum that tells whether an array of a .stt file is what was written.
 *
 * Four lanes of 64 bits take the words of 32 bytes at a time: each is added by exclusive
 * or, turned left by 29 bits and multiplied by an odd number; so any change of one word
 * changes its lane. It is against damage, not against malice: the levels are checked.
 */
#include "stt.h"
#include "../../formats/base/parts.h"
#include "../../formats/base/spill.h"
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

uint64_t stt_sum_bytes(const void *bytes, size_t size)
{
    uint64_t lane[LANES];
    memcpy(lane, start, sizeof lane);
    const size_t whole = size / BLOCK * BLOCK;
    take_blocks(lane, bytes, whole);
    return finish(lane, (const char *)bytes + whole, size - whole, size);
}

/* block: that of files which it lies in, else NULL. */
static stc_status sum_array(ctx *cx, const array_span *s, void *block, uint64_t *out)
{
    uint64_t lane[LANES], last = 0;
    const char *rest = NULL;
    stc_status st = STC_OK;
    char room[4096], *const file = block ? spill_room(block) : NULL;
    const int64_t step = (file                    ? SPILL_ROOM
                          : s->stride == s->width ? STEP
                                                  : (int)sizeof room) /
                         s->width;
    memcpy(lane, start, sizeof lane);
    for (int64_t at = 0; at < s->n; at += step) {
        const int64_t n = s->n - at < step ? s->n - at : step;
        const size_t size = (size_t)(n * s->width), whole = size / BLOCK * BLOCK;
        const char *p = file;
        if (!file || !spill_read(block, (size_t)(at * s->width), file, size))
            p = span_gather(s, at, n, room);
        take_blocks(lane, p, whole);
        rest = p + whole; /* only the last step has one */
        last = size - whole;
        if ((st = work_done(cx, size / 64))) break;
    }
    *out = finish(lane, rest, last, (uint64_t)s->n * (uint64_t)s->width);
    if (file) spill_room_leave(block, file);
    return st;
}

typedef struct sums {
    const array_span *const *array;
    void *const *block; /* NULL: none is in files */
    uint64_t *sum;
    int n;
    _Atomic int next; /* array that nobody has taken */
    ctx cx[PARTS_MAX];
} sums;

static void sum_next(void *context, int k)
{
    sums *s = context;
    for (int at; (at = atomic_fetch_add(&s->next, 1)) < s->n;)
        if (sum_array(&s->cx[k], s->array[at], s->block ? s->block[at] : NULL, &s->sum[at]))
            return;
}

stc_status stt_sums(ctx *cx, int n, const array_span *const *array, void *const *block,
                    uint64_t *sum)
{
    const int threads = parts_for(cx);
    int64_t bytes = 0;
    for (int k = 0; k < n; k++)
        bytes += array[k]->n * array[k]->width;
    if (threads == 1 || bytes < SHARED) {
        for (int k = 0; k < n; k++)
            if (sum_array(cx, array[k], block ? block[k] : NULL, &sum[k]))
                return cx->diag.status;
        return STC_OK;
    }
    sums *s = mem_zero(cx, 1, sizeof *s);
    if (!s) return cx->diag.status;
    s->array = array;
    s->block = block;
    s->sum = sum;
    s->n = n;
    const uint64_t before = cx->steps;
    for (int k = 0; k < threads; k++)
        s->cx[k] = (ctx){.root = cx, .steps = before};
    parts_run(threads, sum_next, s);
    for (int k = 0; k < threads; k++) {
        cx->steps += s->cx[k].steps - before;
        if (s->cx[k].diag.status && !cx->diag.status) cx->diag = s->cx[k].diag;
    }
    mem_free(cx, s, sizeof *s);
    return cx->diag.status ? cx->diag.status : work_done(cx, 0);
}
