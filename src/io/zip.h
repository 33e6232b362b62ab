/* zip.h: zip archives (PKWARE's APPNOTE, 6.3): members stored or deflated are read,
 * stored ones written; with the 64-bit fields where they are needed.
 */
#ifndef STC_IO_ZIP_H
#define STC_IO_ZIP_H

#include "inflate.h"
#include "output.h"

typedef struct zip {
    ctx *cx;
    const char *path;
    const unsigned char *begin;
    int64_t len, directory; /* where that begins */
    int64_t count;          /* of members       */
    int64_t unpacked;       /* bytes, so far    */
} zip;

/* Finds the directory at the end of an archive's bytes. */
stc_status zip_open(zip *z, ctx *cx, const char *path, const char *bytes, int64_t len);
/* The member of a name: its bytes in a new block with a zero behind them (file_release).
 * found: false, without an error, if there is none. */
stc_status zip_read(zip *z, const char *name, file_bytes *out, bool *found);

/* Members are written one after the other: begin with the size and the CRC-32 of all that
 * follows by output_bytes(&w->o). */
enum { ZIP_NAME = 32, ZIP_MEMBERS = 64 };
typedef struct zip_writer {
    output o;
    int64_t at; /* bytes so far */
    int count;
    struct zip_row {
        char name[ZIP_NAME];
        uint32_t sum;
        int64_t size, offset;
    } row[ZIP_MEMBERS];
} zip_writer;
stc_status zip_create(zip_writer *w, ctx *cx, const char *path);
void zip_begin(zip_writer *w, const char *name, int64_t size, uint32_t sum);
/* The directory, if there is no failure; then as output_close. */
stc_status zip_close(zip_writer *w, stc_status status);

#endif
