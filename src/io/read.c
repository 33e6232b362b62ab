/* read.c: reads a file into memory, step by step.
 */
#include "read.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    STEP = 1 << 20, /* bytes between two looks at limits                 */
    WAIT = 20,      /* milliseconds between them, where nothing comes     */
    LEAST = 1 << 16
};

stc_status file_step(ctx *cx, const char *path, const char *verb, const char *what,
                     uint64_t steps, int64_t done, int64_t total)
{
    if (cx->progress &&
        cx->progress(cx->progress_context, what, (uint64_t)done, (uint64_t)total))
        atomic_store(&cx->stop, WORK_UNWANTED);
    const stc_status st = work_done(cx, steps);
    if (st == STC_ERR_INTERRUPT)
        return fail_file(cx, st, path, 0, "%s was interrupted", verb);
    return st ? fail_file(cx, st, path, 0, "%s", cx->diag.message) : st;
}

/* Until there is something to read, or the end. */
static stc_status wait_for(ctx *cx, const char *path, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    for (;;) {
        const int ready = poll(&p, 1, WAIT);
        if (ready > 0 || (ready < 0 && errno != EINTR && errno != EAGAIN)) return STC_OK;
        const stc_status st = work_done(cx, 0);
        if (st) return fail_file(cx, st, path, 0, "reading was interrupted");
    }
}

static stc_status grow(ctx *cx, const char *path, file_bytes *out)
{
    int64_t size;
    if (!size_mul((int64_t)out->size, 2, &size))
        return fail_file(cx, STC_ERR_OVERFLOW, path, 0, "the file is too large");
    char *const block = mem_resize(cx, out->data, out->size, (size_t)size);
    if (!block) return cx->diag.status;
    out->data = block;
    out->size = (size_t)size;
    return STC_OK;
}

static stc_status read_all(ctx *cx, const char *path, int fd, const struct stat *st,
                           int64_t most, file_bytes *out)
{
    const bool plain = S_ISREG(st->st_mode);
    for (stc_status s;;) {
        if (out->len > most)
            return fail_file(cx, STC_ERR_DATA, path, 0, "the file has more than %lld bytes",
                             (long long)most);
        if (out->len == (int64_t)out->size - 1 && (s = grow(cx, path, out))) return s;
        if (!plain && (s = wait_for(cx, path, fd))) return s;
        const int64_t room = (int64_t)out->size - 1 - out->len;
        const ssize_t got =
            read(fd, out->data + out->len, room < STEP ? (size_t)room : STEP);
        if (got == 0) break;
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return fail_file(cx, STC_ERR_IO, path, 0, "can't be read: %s", strerror(errno));
        if (got > 0) out->len += got;
        s = file_step(cx, path, "reading", "bytes read", got > 0 ? (uint64_t)got / 64 : 0,
                      out->len, plain ? st->st_size : 0);
        if (s) return s;
    }
    out->data[out->len] = 0;
    return STC_OK;
}

stc_status file_read(ctx *cx, const char *path, int64_t most, file_bytes *out)
{
    file_bytes b = {0};
    struct stat st = {0};
    int64_t size = LEAST;
    /* Nobody waits here for who may never write to a pipe. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail_file(cx, STC_ERR_IO, path, 0, "can't be opened: %s", strerror(errno));
    /* One byte for the zero, and one to see the end of the file. */
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
        !size_add(st.st_size, 2, &size))
        size = LEAST;
    stc_status s = STC_ERR_MEMORY;
    if ((b.data = mem_array(cx, size, 1))) {
        b.size = (size_t)size;
        s = read_all(cx, path, fd, &st, most, &b);
    }
    close(fd);
    if (s && b.data) mem_free(cx, b.data, b.size);
    if (!s) *out = b;
    return s;
}
