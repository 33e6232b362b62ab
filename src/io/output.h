/* output.h: the one writer of files: buffered, to a new file in the target's
 * folder that takes the target's place when all is written.
 *
 * A failure is kept in `status`, and what is written after it is ignored;
 * output_close tells it. Loops look at `status` to stop early.
 */
#ifndef STC_IO_OUTPUT_H
#define STC_IO_OUTPUT_H

#include "../../formats/base/types.h"
#include "../../formats/base/context.h"

typedef struct output {
    ctx *cx;
    const char *path; /* as the caller gave it                       */
    char *target;     /* where it really is: links are followed      */
    char *temporary;
    bool direct; /* a device or a pipe: neither target nor temporary */
    size_t target_size, temporary_size;
    char *buf;
    int64_t len, done; /* bytes in buf, written                      */
    int64_t total;     /* that will be; 0: unknown                   */
    int fd;
    stc_status status;
} output;

/* Leaves nothing behind when it fails. */
stc_status output_open(output *o, ctx *cx, const char *path);
/* With STC_OK flushes and renames; with the caller's own failure, or one kept
 * in status, removes the temporary. Gives what went wrong first. */
stc_status output_close(output *o, stc_status status);

/* A nameless file with bytes in it becomes the one that is written, if nothing was yet:
 * then what follows goes into it. False: it can't, and nothing has changed. */
bool output_adopt(output *o, int fd);
/* What follows goes there; what is before it counts as written. */
void output_at(output *o, int64_t offset);

void output_bytes(output *o, const void *data, size_t size);
void output_text(output *o, const char *format, ...) PRINTF_LIKE(2, 3);
void output_char(output *o, char c);
void output_index(output *o, int64_t i); /* not negative */
void output_value(output *o, stc_type t, value v);

#endif
