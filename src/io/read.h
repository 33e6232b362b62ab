/* read.h: the one way in which files come into memory.
 *
 * A whole file, in steps between which the call may be ended (work_done). Pipes and
 * devices are read too, and waited for in the same way: their end is where they say.
 */
#ifndef STC_IO_READ_H
#define STC_IO_READ_H

#include "../../formats/base/context.h"

/* All bytes of a file, and a zero byte that isn't part of it; the block has `size` bytes
 * (mem_free). More than `most` bytes are an error. Fails without a block. */
typedef struct file_bytes {
    char *data;
    int64_t len;
    size_t size;
} file_bytes;
stc_status file_read(ctx *cx, const char *path, int64_t most, file_bytes *out);
/* work_done in the middle of a file, of which `done` bytes of `total` (0: not known) are
 * through, in the words of progress; failures are told as the file's, `verb` as in
 * "reading". */
stc_status file_step(ctx *cx, const char *path, const char *verb, const char *what,
                     uint64_t steps, int64_t done, int64_t total);

#endif
