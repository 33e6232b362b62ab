/* read.h: the one way in which files come into memory.
 *
 * A whole file, in steps between which the call may be ended (work_done). Pipes and
 * devices are read too, and waited for in the same way: their end is where they say.
 */
#ifndef STC_IO_READ_H
#define STC_IO_READ_H

#include "../../formats/base/context.h"

/* Whether a path means standard input or output: `-`, or `-.tns` with a type. A file of
 * such a name is `./-.tns`. */
bool path_is_standard(const char *path);
/* All bytes of a file, and, unless it is mapped, a zero byte that isn't part of it; the
 * block has `size` bytes (mem_free). More than `most` bytes are an error. Fails without a
 * block. */
typedef struct file_bytes {
    char *data;
    int64_t len;
    size_t size;
    int fd; /* of a mapped file; else -1 */
} file_bytes;
stc_status file_read(ctx *cx, const char *path, int64_t most, file_bytes *out);
/* The beginning of a large file, and a zero byte, if it can be read again at any place:
 * then *fd is open, for file_read_rest or pread, and *size what it had. Else all of it, *fd
 * -1. */
stc_status file_read_head(ctx *cx, const char *path, file_bytes *out, int *fd,
                          int64_t *size);
/* All bytes of such a file; fd stays open. */
stc_status file_read_rest(ctx *cx, const char *path, int fd, file_bytes *out);
/* The block becomes at least twice as large, and has room for `need` bytes. */
stc_status file_grow(ctx *cx, const char *path, int64_t need, file_bytes *out);
/* The same, mapped if that is possible: pages come when they are touched, and writing to
 * them changes the copy alone. Where the file gets shorter, touching what isn't there any
 * more ends the process (SIGBUS): file_present first. */
stc_status file_map(ctx *cx, const char *path, file_bytes *out);
/* Whether a mapped file has its length still. */
bool file_present(const file_bytes *b, int64_t *length_now);
void file_release(ctx *cx, file_bytes *b);
/* work_done in the middle of a file, of which `done` bytes of `total` (0: not known) are
 * through, in the words of progress; failures are told as the file's, `verb` as in
 * "reading". */
stc_status file_step(ctx *cx, const char *path, const char *verb, const char *what,
                     uint64_t steps, int64_t done, int64_t total);

#endif
