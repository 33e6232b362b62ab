/* gzip.c: gzip files (Deutsch, RFC 1952, 1996): headers and sums around deflate.
 */
#include "inflate.h"
#include <string.h>

enum {
    HEADER = 10,
    TRAILER = 8,
    HAS_SUM = 2, /* the flags of what may follow the header */
    HAS_EXTRA = 4,
    HAS_NAME = 8,
    HAS_COMMENT = 16,
    RESERVED = 0xe0
};

/* Four bytes a step, by a table for each; which are made anew, in no time. */
uint32_t crc32_of(uint32_t sum, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    uint32_t table[4][256];
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
        table[0][i] = c;
    }
    for (int i = 0; i < 256; i++)
        for (int k = 1; k < 4; k++)
            table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 255];
    sum = ~sum;
    for (; n >= 4; n -= 4, p += 4) {
        sum ^= p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        sum = table[3][sum & 255] ^ table[2][sum >> 8 & 255] ^ table[1][sum >> 16 & 255] ^
              table[0][sum >> 24];
    }
    for (; n > 0; n--, p++)
        sum = sum >> 8 ^ table[0][(sum ^ *p) & 255];
    return ~sum;
}

int64_t inflate_most(int64_t n)
{
    const bool times = n > INFLATE_FREE / INFLATE_TIMES && n < INT64_MAX / INFLATE_TIMES;
    return times ? n * INFLATE_TIMES : INFLATE_FREE;
}

stc_status inflate_too_much(ctx *cx, const char *path, int64_t n)
{
    return fail_file(cx, STC_ERR_DATA, path, 0,
                     "%lld compressed bytes have more than %lld in them, expected at most "
                     "%lld MB or %d times as many",
                     (long long)n, (long long)inflate_most(n),
                     (long long)(INFLATE_FREE >> 20), INFLATE_TIMES);
}

static uint32_t get32(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The length of a member's header, 0 if it isn't whole. */
static int64_t header_length(const unsigned char *p, int64_t n)
{
    int64_t at = HEADER;
    if (n < HEADER + TRAILER) return 0;
    const int flags = p[3];
    if (flags & HAS_EXTRA) at += 2 + (p[at] | (int64_t)p[at + 1] << 8);
    for (int texts = !!(flags & HAS_NAME) + !!(flags & HAS_COMMENT); texts; texts--) {
        const void *end = at < n ? memchr(p + at, 0, (size_t)(n - at)) : NULL;
        if (!end) return 0;
        at = (const unsigned char *)end + 1 - p;
    }
    if (flags & HAS_SUM) at += 2;
    return at < n ? at : 0;
}

/* The member at p; its length. */
static stc_status member(ctx *cx, const char *path, const unsigned char *p, int64_t n,
                         file_bytes *out, int64_t *length)
{
    int64_t used;
    if (n < 4 || p[0] != 0x1f || p[1] != 0x8b || p[2] != 8 || p[3] & RESERVED)
        return fail_file(cx, STC_ERR_DATA, path, 0,
                         "isn't a gzip file: expected \\x1f\\x8b\\x08 at its beginning");
    const int64_t begin = header_length(p, n);
    if (!begin) return fail_file(cx, STC_ERR_DATA, path, 0, "the gzip header isn't whole");
    const stc_status s = inflate_bytes(cx, path, p + begin, n - begin, -1, out, &used);
    if (s) return s;
    const unsigned char *const trailer = p + begin + used;
    const char *wrong = NULL;
    if (n - begin - used < TRAILER)
        wrong = "the gzip file ends before its sum";
    else if (get32(trailer) != crc32_of(0, out->data, (size_t)out->len) ||
             get32(trailer + 4) != (uint32_t)out->len)
        wrong = "what is compressed isn't what was written: its sum differs";
    if (wrong) {
        file_release(cx, out);
        return fail_file(cx, STC_ERR_DATA, path, 0, "%s", wrong);
    }
    *length = begin + used + TRAILER;
    return STC_OK;
}

static stc_status append(ctx *cx, const char *path, const file_bytes *more, file_bytes *out)
{
    const int64_t need = out->len + more->len + 1;
    if (need > (int64_t)out->size && file_grow(cx, path, need, out)) return cx->diag.status;
    memcpy(out->data + out->len, more->data, (size_t)more->len);
    out->len += more->len;
    out->data[out->len] = 0;
    return STC_OK;
}

stc_status gunzip(ctx *cx, const char *path, const file_bytes *from, file_bytes *out)
{
    const unsigned char *const p = (const unsigned char *)from->data;
    file_bytes all = {.fd = -1};
    stc_status s = STC_OK;
    int64_t at = 0;
    do {
        file_bytes part;
        int64_t length;
        s = member(cx, path, p + at, from->len - at, at ? &part : &all, &length);
        if (s) break;
        if (at) {
            s = append(cx, path, &part, &all);
            file_release(cx, &part);
        }
        at += length;
        if (!s && all.len > inflate_most(from->len))
            s = inflate_too_much(cx, path, from->len);
    } while (!s && at < from->len);
    if (s)
        file_release(cx, &all);
    else
        *out = all;
    return s;
}
