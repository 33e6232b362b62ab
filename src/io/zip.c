/* zip.c: reads zip archives, from bytes that may be anything.
 *
 * The directory at the end counts, not what stands before the members. Members that
 * overlap are bounded by what all of them may unpack to.
 */
#include "zip.h"
#include <string.h>

enum {
    END = 22,       /* bytes of the record at the end        */
    LOCATOR = 20,   /* of the pointer to its 64-bit form     */
    END64 = 56,     /* of that form                           */
    ENTRY = 46,     /* of a directory's entry, without texts  */
    LOCAL = 30,     /* of the header before a member's bytes  */
    COMMENT = 65535 /* the longest at the end                 */
};

static uint64_t get(const unsigned char *p, int bytes)
{
    uint64_t v = 0;
    while (bytes-- > 0)
        v = v << 8 | p[bytes];
    return v;
}

static stc_status bad(const zip *z, const char *what)
{
    return fail_file(z->cx, STC_ERR_DATA, z->path, 0, "%s", what);
}

/* ---- the directory --------------------------------------------------------------- */

/* The record at the end, before a comment of the length that it tells. */
static int64_t find_end(const zip *z)
{
    const int64_t least = z->len - END - COMMENT;
    for (int64_t at = z->len - END; at >= 0 && at >= least; at--)
        if (!memcmp(z->begin + at, "PK\5\6", 4) &&
            at + END + (int64_t)get(z->begin + at + 20, 2) == z->len)
            return at;
    return -1;
}

stc_status zip_open(zip *z, ctx *cx, const char *path, const char *bytes, int64_t len)
{
    *z = (zip){.cx = cx, .path = path, .begin = (const unsigned char *)bytes, .len = len};
    const int64_t end = find_end(z);
    if (end < 0) return bad(z, "isn't a zip archive, or its end is missing");
    const unsigned char *p = z->begin + end;
    uint64_t count = get(p + 10, 2), size = get(p + 12, 4), at = get(p + 16, 4);
    const unsigned char *l = p - LOCATOR;
    if (end >= LOCATOR && !memcmp(l, "PK\6\7", 4)) {
        const uint64_t far = get(l + 8, 8);
        if (far > (uint64_t)len || (uint64_t)len - far < END64 ||
            memcmp(z->begin + far, "PK\6\6", 4))
            return bad(z, "the zip archive's 64-bit record isn't where it should be");
        count = get(z->begin + far + 32, 8);
        size = get(z->begin + far + 40, 8);
        at = get(z->begin + far + 48, 8);
    }
    if (at > (uint64_t)end || size > (uint64_t)end - at || count > size / ENTRY)
        return bad(z, "the zip archive's directory isn't within the file");
    z->directory = (int64_t)at;
    z->count = (int64_t)count;
    return STC_OK;
}

typedef struct entry {
    const char *name;
    int64_t name_len;
    unsigned flags, method;
    uint32_t sum;
    uint64_t packed, size, offset;
} entry;

/* Sizes beyond 32 bits stand in a field behind the name, as far as they are needed. */
static void take_wide(entry *e, const unsigned char *p, const unsigned char *end)
{
    while (end - p >= 4) {
        const int64_t n = (int64_t)get(p + 2, 2);
        const bool wide = get(p, 2) == 1;
        p += 4;
        if (n > end - p) return;
        const unsigned char *q = p;
        uint64_t *const field[] = {&e->size, &e->packed, &e->offset};
        for (int k = 0; wide && k < 3; k++) {
            if (*field[k] != 0xffffffffu || p + n - q < 8) continue;
            *field[k] = get(q, 8);
            q += 8;
        }
        p += n;
    }
}

/* The directory's entry at *at, which moves behind it. */
static stc_status read_entry(const zip *z, int64_t *at, entry *e)
{
    const unsigned char *p = z->begin + *at;
    if (z->len - *at < ENTRY || memcmp(p, "PK\1\2", 4))
        return bad(z, "the zip archive's directory isn't whole");
    const int64_t name = (int64_t)get(p + 28, 2), extra = (int64_t)get(p + 30, 2),
                  length = ENTRY + name + extra + (int64_t)get(p + 32, 2);
    if (length > z->len - *at) return bad(z, "the zip archive's directory isn't whole");
    *e = (entry){.name = (const char *)p + ENTRY,
                 .name_len = name,
                 .flags = (unsigned)get(p + 8, 2),
                 .method = (unsigned)get(p + 10, 2),
                 .sum = (uint32_t)get(p + 16, 4),
                 .packed = get(p + 20, 4),
                 .size = get(p + 24, 4),
                 .offset = get(p + 42, 4)};
    take_wide(e, p + ENTRY + name, p + ENTRY + name + extra);
    *at += length;
    return STC_OK;
}

/* ---- a member ----------------------------------------------------------------------- */

static stc_status copy_stored(zip *z, const entry *e, const unsigned char *from,
                              file_bytes *out)
{
    *out = (file_bytes){.len = (int64_t)e->size, .size = (size_t)e->size + 1, .fd = -1};
    if (e->size != e->packed) return bad(z, "a stored member of two sizes");
    if (!(out->data = mem_alloc(z->cx, out->size))) return z->cx->diag.status;
    out->data[out->len] = 0;
    if (!work_copy(z->cx, out->data, from, (size_t)e->size)) return STC_OK;
    file_release(z->cx, out);
    return z->cx->diag.status;
}

static stc_status read_member(zip *z, const entry *e, file_bytes *out)
{
    const uint64_t len = (uint64_t)z->len;
    int64_t used;
    stc_status s;
    if (e->flags & 1) return bad(z, "a member of the zip archive is encrypted");
    if (e->offset > len || len - e->offset < LOCAL ||
        memcmp(z->begin + e->offset, "PK\3\4", 4))
        return bad(z, "a member of the zip archive isn't where the directory says");
    const unsigned char *p = z->begin + e->offset;
    const uint64_t skip = LOCAL + get(p + 26, 2) + get(p + 28, 2);
    if (skip > len - e->offset || e->packed > len - e->offset - skip)
        return bad(z, "a member of the zip archive isn't within the file");
    if (e->method != 0 && e->method != 8)
        return fail_file(z->cx, STC_ERR_DATA, z->path, 0,
                         "a member is compressed by method %u; expected 0 or 8 (deflate)",
                         e->method);
    if (e->size > INT64_MAX - 1 || (int64_t)e->size > inflate_most(z->len) - z->unpacked)
        return inflate_too_much(z->cx, z->path, z->len);
    s = e->method ? inflate_bytes(z->cx, z->path, p + skip, (int64_t)e->packed,
                                  (int64_t)e->size, out, &used)
                  : copy_stored(z, e, p + skip, out);
    if (s) return s;
    z->unpacked += out->len;
    if (crc32_of(0, out->data, (size_t)out->len) == e->sum) return STC_OK;
    file_release(z->cx, out);
    return bad(z, "a member of the zip archive isn't what was written: its sum differs");
}

stc_status zip_read(zip *z, const char *name, file_bytes *out, bool *found)
{
    int64_t at = z->directory;
    const int64_t length = (int64_t)strlen(name);
    *found = false;
    for (int64_t k = 0; k < z->count; k++) {
        entry e;
        const stc_status s = read_entry(z, &at, &e);
        if (s || work_due(z->cx, k)) return z->cx->diag.status;
        if (e.name_len != length || memcmp(e.name, name, (size_t)length)) continue;
        *found = true;
        return read_member(z, &e, out);
    }
    return STC_OK;
}
