/* fuzzing_sums.c: sums in damaged data files put right (fuzzing.h), so that what stands
 * behind them is read, too: a reader that refuses every change by a sum isn't tested.
 *
 * The bytes may be anything: what isn't where a good file has it is left as it is.
 */
#include "fuzzing.h"
#include "../src/io/inflate.h"
#include "../src/io/stt.h"
#include <stdlib.h>
#include <string.h>

/* ---- .stt ------------------------------------------------------------------------- */

/* The sum of the array that a row of the header tells, if it lies in the file. */
static void sum_row(int version, unsigned char *row, const unsigned char *bytes,
                    size_t size)
{
    const uint64_t width = row[2], stride = stt_get(row + 4, 4), at = stt_get(row + 8, 8),
                   n = stt_get(row + 16, 8);
    if (!width || stride < width || at > size) return;
    if (n && (n - 1 > (size - at) / stride || (n - 1) * stride + width > size - at)) return;
    const array_span s = {(const char *)bytes + at, (int64_t)n, (int32_t)width,
                          (int32_t)stride};
    char *const all = malloc(n * width + 1);
    if (!all) return;
    const char *const packed = n ? span_gather(&s, 0, (int64_t)n, all) : all;
    stt_put(row + 24, 8, stt_sum_bytes(version, packed, n * width));
    free(all);
}

static void sum_stt(unsigned char *bytes, size_t size)
{
    if (size < STT_MODES) return;
    const size_t header = stt_get(bytes + 12, 4), arrays = stt_get(bytes + 36, 4);
    const int version = (int)stt_get(bytes + 8, 4);
    const size_t levels = (size_t)stt_level_bytes(version) * bytes[34],
                 first = STT_MODES + 8 * (size_t)bytes[33] + levels;
    if (header > size || header < STT_MODES) return;
    stt_put(bytes + 16, 8, size);
    for (size_t k = 0; k < arrays && first + (k + 1) * STT_ARRAY <= header; k++)
        sum_row(version, bytes + first + k * STT_ARRAY, bytes, size);
    stt_put(bytes + 24, 8, 0);
    stt_put(bytes + 24, 8, stt_sum_bytes(version, bytes, header));
}

/* ---- zip and gzip ------------------------------------------------------------------ */

/* CRC-32 and size of what a deflate stream holds, and how long that is. */
static bool sum_stream(const unsigned char *p, size_t n, uint32_t *sum, size_t *plain,
                       size_t *used)
{
    stc_machine *m;
    file_bytes out;
    int64_t taken;
    if (stc_open(NULL, &m) != STC_OK) return false;
    ctx *const cx = (ctx *)m;
    const bool ok = !inflate_bytes(cx, "", p, (int64_t)n, -1, &out, &taken);
    if (ok) {
        *sum = crc32_of(0, out.data, (size_t)out.len);
        *plain = (size_t)out.len;
        *used = (size_t)taken;
        file_release(cx, &out);
    }
    stc_close(m);
    return ok;
}

/* A member by its entry in the directory, of which 46 bytes are there. */
static void sum_member(unsigned char *entry, const unsigned char *bytes, size_t size)
{
    enum { LOCAL = 30 };
    const size_t at = stt_get(entry + 42, 4), packed = stt_get(entry + 20, 4);
    if (at > size || size - at < LOCAL) return;
    const size_t skip =
        at + LOCAL + stt_get(bytes + at + 26, 2) + stt_get(bytes + at + 28, 2);
    if (skip > size || packed > size - skip) return;
    size_t plain = packed, used;
    uint32_t sum = crc32_of(0, bytes + skip, packed);
    if (stt_get(entry + 10, 2) == 8 &&
        !sum_stream(bytes + skip, packed, &sum, &plain, &used))
        return;
    stt_put(entry + 16, 4, sum);
    stt_put(entry + 24, 4, plain);
}

static void sum_zip(unsigned char *bytes, size_t size)
{
    enum { ENTRY = 46 };
    for (size_t k = 0; k + ENTRY <= size; k++)
        if (!memcmp(bytes + k, "PK\1\2", 4)) sum_member(bytes + k, bytes, size);
}

/* One member without a name, as all of ours are. */
static void sum_gzip(unsigned char *bytes, size_t size)
{
    enum { HEAD = 10, TAIL = 8 };
    size_t plain, used;
    uint32_t sum;
    if (size < HEAD + TAIL || bytes[3]) return;
    if (!sum_stream(bytes + HEAD, size - HEAD, &sum, &plain, &used)) return;
    if (used > size - HEAD - TAIL) return;
    stt_put(bytes + HEAD + used, 4, sum);
    stt_put(bytes + HEAD + used + 4, 4, plain);
}

void fuzzing_sums(unsigned char *bytes, size_t size)
{
    if (size > 8 && !memcmp(bytes, STT_MAGIC, 8))
        sum_stt(bytes, size);
    else if (size > 4 && !memcmp(bytes, "PK\3\4", 4))
        sum_zip(bytes, size);
    else if (size > 2 && !memcmp(bytes, "\x1f\x8b", 2))
        sum_gzip(bytes, size);
}
