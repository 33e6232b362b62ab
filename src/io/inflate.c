/* inflate.c: undoes deflate (Deutsch, RFC 1951, 1996).
 *
 * A block's codes are read by tables: the next nine bits tell the symbol and how many of
 * them it takes; longer codes go on bit by bit, since a canonical code of a length is its
 * first code of that length and a place in the list of symbols (as RFC 1951, 3.2.2, makes
 * them). The input is asked for 64 bits at a time; behind its end there are zeros, and
 * taking any of those is an error.
 */
#include "inflate.h"
#include <string.h>

enum {
    LONGEST = 15,   /* bits of a code */
    QUICK = 9,      /* those that are looked up */
    LITERALS = 288, /* literals, the end, and lengths */
    DISTANCES = 30,
    MATCH = 258, /* the longest */
    STEP = 1 << 20
};

typedef struct huffman {
    uint16_t quick[1 << QUICK]; /* symbol << 4 | bits; 0: longer, or no code */
    uint16_t count[LONGEST + 1], symbol[LITERALS];
} huffman;

typedef struct inflater {
    ctx *cx;
    const char *path;
    const unsigned char *begin, *p, *end;
    uint64_t bits; /* the next ones, the first is the lowest  */
    int held;      /* how many there are                      */
    int64_t looked;
    file_bytes out; /* size counts the room                    */
    huffman literal, distance;
} inflater;

static stc_status bad(const inflater *s, const char *what)
{
    return fail_file(s->cx, STC_ERR_DATA, s->path, 0, "compressed data, near byte %lld: %s",
                     (long long)(s->p - s->begin), what);
}

/* ---- bits ---------------------------------------------------------------------- */

/* At least 32 bits, as far as the input has some. */
static inline void refill(inflater *s)
{
    if (s->end - s->p >= 8) {
        uint64_t w;
        memcpy(&w, s->p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        w = __builtin_bswap64(w);
#endif
        s->bits |= w << s->held;
        s->p += (63 - s->held) >> 3;
        s->held |= 56;
        return;
    }
    for (; s->held <= 56 && s->p < s->end; s->held += 8)
        s->bits |= (uint64_t)*s->p++ << s->held;
}

static inline void drop(inflater *s, int n)
{
    s->bits >>= n;
    s->held -= n;
}
#define overrun(s) ((s)->held < 0) /* bits behind the end were taken */

static inline unsigned take(inflater *s, int n)
{
    if (s->held < 32) refill(s);
    const unsigned v = (unsigned)(s->bits & (((uint64_t)1 << n) - 1));
    drop(s, n);
    return v;
}

/* ---- codes ---------------------------------------------------------------------- */

/* From the lengths of n symbols' codes. False: they are none. One alone may leave a gap. */
static bool make_code(huffman *h, const uint8_t *length, int n)
{
    uint16_t next[LONGEST + 1], first = 0;
    int left = 1, used = 0;
    memset(h, 0, sizeof *h);
    for (int i = 0; i < n; i++)
        h->count[length[i]]++;
    h->count[0] = 0;
    for (int b = 1; b <= LONGEST; b++) {
        left = 2 * left - h->count[b];
        if (left < 0) return false;
        next[b] = first;
        first = (uint16_t)(first + h->count[b]);
        used += h->count[b];
    }
    if (left && used > 1) return false;
    for (int i = 0; i < n; i++)
        if (length[i]) h->symbol[next[length[i]]++] = (uint16_t)i;
    for (int b = 1, code = 0, at = 0; b <= QUICK; b++, code <<= 1)
        for (int k = 0; k < h->count[b]; k++, code++, at++) {
            unsigned turned = 0; /* codes come with their highest bit first */
            for (int j = 0; j < b; j++)
                turned |= (unsigned)(code >> j & 1) << (b - 1 - j);
            for (; turned < 1 << QUICK; turned += 1u << b)
                h->quick[turned] = (uint16_t)(h->symbol[at] << 4 | b);
        }
    return true;
}

/* The next symbol, -1 if the bits are no code. */
static inline int decode(inflater *s, const huffman *h)
{
    if (s->held < 32) refill(s);
    const unsigned entry = h->quick[s->bits & ((1 << QUICK) - 1)];
    if (entry) {
        drop(s, entry & 15);
        return (int)(entry >> 4);
    }
    int code = 0, first = 0, at = 0;
    for (int b = 1; b <= LONGEST; b++) {
        code |= (int)(s->bits >> (b - 1) & 1);
        if (code - first < h->count[b]) {
            drop(s, b);
            return h->symbol[at + code - first];
        }
        at += h->count[b];
        first = (first + h->count[b]) << 1;
        code <<= 1;
    }
    return -1;
}

/* ---- output ----------------------------------------------------------------------- */

/* Room for `need` bytes more and the zero behind them. */
static stc_status room(inflater *s, int64_t need)
{
    const int64_t want = s->out.len + need + 1;
    if (s->out.len - s->looked > STEP) {
        const uint64_t steps = (uint64_t)(s->out.len - s->looked) / 16;
        s->looked = s->out.len;
        const stc_status st = file_step(s->cx, s->path, "reading", "bytes unpacked", steps,
                                        s->p - s->begin, s->end - s->begin);
        if (st) return st;
    }
    if (want <= (int64_t)s->out.size) return STC_OK;
    if (s->out.len > inflate_most(s->end - s->begin))
        return inflate_too_much(s->cx, s->path, s->end - s->begin);
    return file_grow(s->cx, s->path, want, &s->out);
}

static inline void copy_match(char *to, int64_t distance, int length)
{
    const char *from = to - distance;
    if (distance < length) /* each byte may be one that was just written */
        for (int k = 0; k < length; k++)
            to[k] = from[k];
    else
        memcpy(to, from, (size_t)length);
}

/* ---- blocks ------------------------------------------------------------------------ */

static stc_status stored_block(inflater *s)
{
    refill(s);
    drop(s, s->held & 7);
    const unsigned n = take(s, 16), check = take(s, 16);
    if (overrun(s)) return bad(s, "it ends inside a block");
    if (n != (~check & 0xffff)) return bad(s, "a stored block whose length isn't whole");
    s->p -= s->held >> 3; /* what is held are whole bytes now */
    s->bits = 0;
    s->held = 0;
    if (s->end - s->p < (int64_t)n) return bad(s, "it ends inside a block");
    if (room(s, n)) return s->cx->diag.status;
    memcpy(s->out.data + s->out.len, s->p, n);
    s->out.len += n;
    s->p += n;
    return STC_OK;
}

static stc_status coded_block(inflater *s)
{
    static const uint16_t base[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                    15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                    67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t more[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                   2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    for (;;) {
        int symbol = decode(s, &s->literal);
        if (symbol < 0 || overrun(s)) break;
        if (s->out.len + MATCH >= (int64_t)s->out.size || s->out.len - s->looked > STEP)
            if (room(s, MATCH)) return s->cx->diag.status;
        if (symbol < 256) {
            s->out.data[s->out.len++] = (char)symbol;
            continue;
        }
        if (symbol == 256) return STC_OK;
        if ((symbol -= 257) > 28) break;
        const int length = base[symbol] + (int)take(s, more[symbol]);
        const int d = decode(s, &s->distance);
        if (d < 0 || d >= DISTANCES) break;
        const int extra = d < 2 ? 0 : d / 2 - 1;
        const int64_t far =
            1 + (d < 2 ? d : ((int64_t)(2 + (d & 1)) << extra)) + take(s, extra);
        if (overrun(s)) break;
        if (far > s->out.len) return bad(s, "it repeats what is before its beginning");
        copy_match(s->out.data + s->out.len, far, length);
        s->out.len += length;
    }
    return bad(s, overrun(s) ? "it ends inside a block" : "a code that there isn't");
}

static stc_status fixed_codes(inflater *s)
{
    uint8_t length[LITERALS];
    for (int i = 0; i < LITERALS; i++)
        length[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    make_code(&s->literal, length, LITERALS);
    memset(length, 5, 32);
    make_code(&s->distance, length, 32); /* the last two aren't distances */
    return STC_OK;
}

/* The lengths of both codes, themselves coded. */
static stc_status read_codes(inflater *s)
{
    static const uint8_t order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                    11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t length[LITERALS + 32] = {0};
    const int literals = 257 + (int)take(s, 5), distances = 1 + (int)take(s, 5),
              n = 4 + (int)take(s, 4);
    for (int i = 0; i < n; i++)
        length[order[i]] = (uint8_t)take(s, 3);
    if (overrun(s) || literals > 286 || !make_code(&s->literal, length, 19))
        return bad(s, "a block whose codes make no sense");
    memset(length, 0, sizeof length);
    for (int i = 0; i < literals + distances;) {
        const int symbol = decode(s, &s->literal);
        if (symbol < 0 || overrun(s)) return bad(s, "a block whose codes make no sense");
        if (symbol < 16) {
            length[i++] = (uint8_t)symbol;
            continue;
        }
        const uint8_t what = symbol == 16 && i ? length[i - 1] : 0;
        static const uint8_t bits[] = {2, 3, 7}, least[] = {3, 3, 11};
        int times = least[symbol - 16] + (int)take(s, bits[symbol - 16]);
        if ((symbol == 16 && !i) || i + times > literals + distances)
            return bad(s, "a block whose codes make no sense");
        while (times--)
            length[i++] = what;
    }
    if (!length[256] || !make_code(&s->literal, length, literals) ||
        !make_code(&s->distance, length + literals, distances))
        return bad(s, "a block whose codes make no sense");
    return STC_OK;
}

static stc_status inflate_blocks(inflater *s)
{
    for (bool last = false; !last;) {
        last = take(s, 1);
        const unsigned kind = take(s, 2);
        stc_status st = STC_OK;
        if (overrun(s)) return bad(s, "it ends before its last block");
        if (kind == 3) return bad(s, "a block of a kind that there isn't");
        if (kind) st = kind == 2 ? read_codes(s) : fixed_codes(s);
        if (!st) st = kind ? coded_block(s) : stored_block(s);
        if (st) return st;
    }
    s->p -= s->held >> 3;
    return STC_OK;
}

stc_status inflate_bytes(ctx *cx, const char *path, const void *data, int64_t n,
                         int64_t expected, file_bytes *out, int64_t *used)
{
    inflater *s = mem_zero(cx, 1, sizeof *s);
    if (!s) return cx->diag.status;
    s->cx = cx;
    s->path = path;
    s->begin = s->p = data;
    s->end = s->begin + n;
    s->out.fd = -1;
    stc_status st = room(s, expected >= 0 && expected / 64 <= n ? expected + MATCH : STEP);
    if (!st) st = inflate_blocks(s);
    if (!st && expected >= 0 && s->out.len != expected)
        st = fail_file(cx, STC_ERR_DATA, path, 0,
                       "what is compressed has %lld bytes, expected %lld",
                       (long long)s->out.len, (long long)expected);
    if (st) {
        file_release(cx, &s->out);
    } else {
        s->out.data[s->out.len] = 0;
        *out = s->out;
        *used = s->p - s->begin;
    }
    mem_free(cx, s, sizeof *s);
    return st;
}
