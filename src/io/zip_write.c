/* zip_write.c: writes zip archives of stored members, from their beginning to their end.
 *
 * Members bear the oldest date there is, so that equal tensors make equal files.
 */
#include "zip.h"
#include "output.h"
#include <string.h>

enum { VERSION = 20, VERSION64 = 45, DATE = 1 << 5 | 1, WIDE = 16 };
#define BEYOND INT64_C(0xffffffff)

typedef struct record {
    unsigned char bytes[128];
    size_t n;
} record;

static void put(record *r, int bytes, uint64_t v)
{
    for (; bytes > 0; bytes--, v >>= 8)
        r->bytes[r->n++] = (unsigned char)v;
}

static uint64_t narrow(int64_t v)
{
    return (uint64_t)(v < BEYOND ? v : BEYOND);
}

static void emit(zip_writer *w, const record *r)
{
    output_bytes(&w->o, r->bytes, r->n);
    w->at += (int64_t)r->n;
}

static bool is_wide(const struct zip_row *m)
{
    return m->size >= BEYOND || m->offset >= BEYOND;
}

/* What stands alike before a member and in the directory. */
static void put_member(record *r, const struct zip_row *m, int extra)
{
    put(r, 2, is_wide(m) ? VERSION64 : VERSION);
    put(r, 2, 0); /* flags */
    put(r, 2, 0); /* stored */
    put(r, 2, 0);
    put(r, 2, DATE);
    put(r, 4, m->sum);
    put(r, 4, narrow(m->size));
    put(r, 4, narrow(m->size));
    put(r, 2, strlen(m->name));
    put(r, 2, (uint64_t)extra);
}

stc_status zip_create(zip_writer *w, ctx *cx, const char *path)
{
    w->at = 0;
    w->count = 0;
    return output_open(&w->o, cx, path);
}

void zip_begin(zip_writer *w, const char *name, int64_t size, uint32_t sum)
{
    struct zip_row *m = &w->row[w->count++];
    *m = (struct zip_row){.sum = sum, .size = size, .offset = w->at};
    memcpy(m->name, name, strlen(name) + 1);
    record r = {.n = 0};
    const bool wide = size >= BEYOND;
    put(&r, 4, 0x04034b50);
    put_member(&r, m, wide ? 4 + WIDE : 0);
    memcpy(r.bytes + r.n, name, strlen(name));
    r.n += strlen(name);
    if (wide) {
        put(&r, 2, 1);
        put(&r, 2, WIDE);
        put(&r, 8, (uint64_t)size);
        put(&r, 8, (uint64_t)size);
    }
    emit(w, &r);
    w->at += size;
}

static void write_entry(zip_writer *w, const struct zip_row *m)
{
    record r = {.n = 0};
    const int wide = (m->size >= BEYOND ? 16 : 0) + (m->offset >= BEYOND ? 8 : 0);
    put(&r, 4, 0x02014b50);
    put(&r, 2, is_wide(m) ? VERSION64 : VERSION);
    put_member(&r, m, wide ? 4 + wide : 0);
    put(&r, 8, 0); /* comment, disk, attributes */
    put(&r, 2, 0);
    put(&r, 4, narrow(m->offset));
    memcpy(r.bytes + r.n, m->name, strlen(m->name));
    r.n += strlen(m->name);
    if (wide) {
        put(&r, 2, 1);
        put(&r, 2, (uint64_t)wide);
    }
    if (m->size >= BEYOND) {
        put(&r, 8, (uint64_t)m->size);
        put(&r, 8, (uint64_t)m->size);
    }
    if (m->offset >= BEYOND) put(&r, 8, (uint64_t)m->offset);
    emit(w, &r);
}

static void write_end(zip_writer *w, int64_t directory)
{
    const int64_t end = w->at;
    record r = {.n = 0};
    if (end >= BEYOND) {
        put(&r, 4, 0x06064b50);
        put(&r, 8, 44);
        put(&r, 2, VERSION64);
        put(&r, 2, VERSION64);
        put(&r, 8, 0); /* disks */
        put(&r, 8, (uint64_t)w->count);
        put(&r, 8, (uint64_t)w->count);
        put(&r, 8, (uint64_t)(end - directory));
        put(&r, 8, (uint64_t)directory);
        put(&r, 4, 0x07064b50);
        put(&r, 4, 0);
        put(&r, 8, (uint64_t)end);
        put(&r, 4, 1);
    }
    put(&r, 4, 0x06054b50);
    put(&r, 4, 0); /* disks */
    put(&r, 2, (uint64_t)w->count);
    put(&r, 2, (uint64_t)w->count);
    put(&r, 4, narrow(end - directory));
    put(&r, 4, narrow(directory));
    put(&r, 2, 0); /* comment */
    emit(w, &r);
}

stc_status zip_close(zip_writer *w, stc_status status)
{
    const int64_t directory = w->at;
    for (int k = 0; k < w->count && !status; k++)
        write_entry(w, &w->row[k]);
    if (!status) write_end(w, directory);
    return output_close(&w->o, status);
}
