/* output.c: writes a file so that it is complete or isn't there. */
#include "output.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER ((int64_t)1 << 18)
#define STEP ((int64_t)16 << 20) /* bytes between two calls of progress */

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

static stc_status fail_errno(output *o, const char *what)
{
    return o->status =
               fail_file(o->cx, STC_ERR_IO, o->path, 0, "%s: %s", what, strerror(errno));
}

static char *copy_text(output *o, const char *text, size_t *size)
{
    *size = strlen(text) + 1;
    char *const copy = mem_alloc(o->cx, *size);
    if (copy)
        memcpy(copy, text, *size);
    else
        o->status = o->cx->diag.status;
    return copy;
}

static void release(output *o)
{
    ctx *const cx = o->cx;
    if (o->buf) mem_free(cx, o->buf, (size_t)BUFFER);
    if (o->target) mem_free(cx, o->target, o->target_size);
    if (o->temporary) mem_free(cx, o->temporary, o->temporary_size);
    o->buf = o->target = o->temporary = NULL;
}

/* A file that is there already is replaced where it really is, and only if it
 * is an ordinary one. */
static stc_status find_target(output *o)
{
    char real[PATH_MAX];
    struct stat st;
    const char *target = o->path;
    if (stat(o->path, &st) == 0) {
        if (!S_ISREG(st.st_mode))
            return o->status = fail_file(o->cx, STC_ERR_IO, o->path, 0,
                                         "can't be written: it isn't an ordinary file");
        if (realpath(o->path, real)) target = real;
    }
    o->target = copy_text(o, target, &o->target_size);
    return o->status;
}

/* Opens target.PID.N.tmp for the first N that is free. */
static stc_status open_temporary(output *o)
{
    const size_t size = strlen(o->target) + 40;
    if (!(o->temporary = mem_alloc(o->cx, size))) return o->status = o->cx->diag.status;
    o->temporary_size = size;
    for (int n = 0; n < 1000; n++) {
        snprintf(o->temporary, size, "%s.%ld.%d.tmp", o->target, (long)getpid(), n);
        o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (o->fd >= 0) return STC_OK;
        if (errno != EEXIST) break;
    }
    return fail_errno(o, "can't be created");
}

stc_status output_open(output *o, ctx *cx, const char *path)
{
    *o = (output){.cx = cx, .path = path, .fd = -1};
    if (find_target(o) == STC_OK) {
        if (!(o->buf = mem_alloc(cx, (size_t)BUFFER)))
            o->status = cx->diag.status;
        else
            open_temporary(o);
    }
    if (o->status) release(o);
    return o->status;
}

static void write_all(output *o, const char *data, int64_t size)
{
    while (size > 0 && !o->status) {
        const int64_t step = size < STEP ? size : STEP;
        const ssize_t put = write(o->fd, data, (size_t)step);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) {
            fail_errno(o, "can't be written");
            return;
        }
        data += put;
        size -= put;
        o->done += put;
        if (o->done - o->told < STEP) continue;
        o->told = o->done;
        ctx *const cx = o->cx;
        if (atomic_load_explicit(&cx->interrupt, memory_order_relaxed) ||
            (cx->progress &&
             cx->progress(cx->progress_context, "bytes written", (uint64_t)o->done, 0)))
            o->status =
                fail_file(cx, STC_ERR_INTERRUPT, o->path, 0, "writing was interrupted");
    }
}

static void flush(output *o)
{
    const int64_t len = o->len;
    o->len = 0;
    if (!o->status) write_all(o, o->buf, len);
}

/* Room for a few bytes more. */
static inline char *room(output *o, int64_t n)
{
    if (BUFFER - o->len < n) flush(o);
    return o->buf + o->len;
}

stc_status output_close(output *o, stc_status status)
{
    if (!status) flush(o);
    if (!status) status = o->status;
    if (close(o->fd) != 0 && !status) status = fail_errno(o, "can't be written");
    if (!status && rename(o->temporary, o->target) != 0)
        status = fail_errno(o, "can't be replaced");
    if (status) unlink(o->temporary);
    release(o);
    return status;
}

void output_bytes(output *o, const void *data, size_t size)
{
    const int64_t n = (int64_t)size;
    if (n > BUFFER - o->len) flush(o);
    if (n > BUFFER) {
        write_all(o, data, n);
        return;
    }
    if (n) memcpy(o->buf + o->len, data, size);
    o->len += n;
}

void output_text(output *o, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    output_bytes(o, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

void output_char(output *o, char c)
{
    *room(o, 1) = c;
    o->len++;
}

void output_index(output *o, int64_t i)
{
    char digits[24];
    int n = 0;
    do
        digits[n++] = (char)('0' + i % 10);
    while ((i /= 10) > 0);
    char *to = room(o, n);
    o->len += n;
    while (n > 0)
        *to++ = digits[--n];
}

void output_value(output *o, stc_type t, value v)
{
    char *const to = room(o, 128);
    o->len += type_print(t, v, to, 128);
}
