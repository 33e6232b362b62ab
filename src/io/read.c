/* read.c: reads a file into memory, step by step.
 */
#include "read.h"
#include "../../formats/base/job.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    STEP = 1 << 20, /* bytes between two looks at limits                 */
    WAIT = 20,      /* milliseconds between them, where nothing comes     */
    LEAST = 1 << 16,
    HEAD = 1 << 7 /* of a file that is read by a small grain */
};

stc_status file_step(ctx *cx, const char *path, const char *verb, const char *what,
                     uint64_t steps, int64_t done, int64_t total)
{
    if (job_tell(cx, what, (uint64_t)done, (uint64_t)total))
        atomic_store(&cx->stop, WORK_UNWANTED);
    cx->unseen = 0; /* progress has been told */
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

stc_status file_grow(ctx *cx, const char *path, int64_t need, file_bytes *out)
{
    int64_t size;
    if (!size_mul((int64_t)out->size, 2, &size))
        return fail_file(cx, STC_ERR_OVERFLOW, path, 0, "the file is too large");
    if (size < need) size = need;
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
        if (out->len == (int64_t)out->size - 1 && (s = file_grow(cx, path, 0, out)))
            return s;
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

bool path_is_standard(const char *path)
{
    return path[0] == '-' && (!path[1] || path[1] == '.');
}

/* Opening doesn't wait for a pipe's writer, who may never come. */
static stc_status open_path(ctx *cx, const char *path, int *fd)
{
    *fd = path_is_standard(path) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd >= 0) return STC_OK;
    return fail_file(cx, STC_ERR_IO, path, 0, "can't be opened: %s", strerror(errno));
}

/* All that comes from fd on. */
static stc_status read_from(ctx *cx, const char *path, int fd, int64_t most,
                            file_bytes *out)
{
    file_bytes b = {.fd = -1};
    struct stat st = {0};
    int64_t size = LEAST;
    /* One byte for the zero, and one to see the end of the file. */
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
        !size_add(st.st_size, 2, &size))
        size = LEAST;
    stc_status s = STC_ERR_MEMORY;
    if ((b.data = mem_array(cx, size, 1))) {
        b.size = (size_t)size;
        s = read_all(cx, path, fd, &st, most, &b);
    }
    if (s && b.data) mem_free(cx, b.data, b.size);
    if (!s) *out = b;
    return s;
}

stc_status file_read(ctx *cx, const char *path, int64_t most, file_bytes *out)
{
    int fd;
    stc_status s = open_path(cx, path, &fd);
    if (s) return s;
    s = read_from(cx, path, fd, most, out);
    close(fd);
    return s;
}

stc_status file_read_rest(ctx *cx, const char *path, int fd, file_bytes *out)
{
    if (lseek(fd, 0, SEEK_SET) != 0)
        return fail_file(cx, STC_ERR_IO, path, 0, "can't be read: %s", strerror(errno));
    return read_from(cx, path, fd, INT64_MAX - 1, out);
}

stc_status file_read_head(ctx *cx, const char *path, file_bytes *out, int *fd,
                          int64_t *size)
{
    struct stat st;
    const int64_t head = !cx->grain ? LEAST : cx->grain < HEAD ? HEAD : cx->grain;
    stc_status s = open_path(cx, path, fd);
    if (s) return s;
    const bool plain =
        fstat(*fd, &st) == 0 && S_ISREG(st.st_mode) && lseek(*fd, 0, SEEK_CUR) == 0;
    if (plain && (*size = st.st_size) > head) {
        file_bytes b = {
            .data = mem_array(cx, head + 1, 1), .size = (size_t)head + 1, .fd = -1};
        if (b.data && (b.len = pread(*fd, b.data, (size_t)head, 0)) == head) {
            b.data[head] = 0;
            *out = b;
            return STC_OK;
        }
        if (!b.data) s = cx->diag.status;
        if (b.data) mem_free(cx, b.data, b.size);
    }
    if (!s) s = read_from(cx, path, *fd, INT64_MAX - 1, out);
    close(*fd);
    *fd = -1;
    return s;
}

stc_status file_map(ctx *cx, const char *path, file_bytes *out)
{
    struct stat st;
    const int fd =
        path_is_standard(path) ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return file_read(cx, path, INT64_MAX - 1, out);
    void *data = MAP_FAILED;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
        (uint64_t)st.st_size <= SIZE_MAX)
        data = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    if (data == MAP_FAILED) { /* a pipe, or a file system that maps nothing */
        close(fd);
        return file_read(cx, path, INT64_MAX - 1, out);
    }
    *out =
        (file_bytes){.data = data, .len = st.st_size, .size = (size_t)st.st_size, .fd = fd};
    return STC_OK;
}

bool file_present(const file_bytes *b, int64_t *length_now)
{
    struct stat st;
    *length_now = b->len;
    if (b->fd < 0) return true;
    if (fstat(b->fd, &st) != 0) return false;
    *length_now = st.st_size;
    return st.st_size == b->len;
}

void file_release(ctx *cx, file_bytes *b)
{
    if (b->fd >= 0) {
        if (b->data) munmap(b->data, b->size);
        close(b->fd);
    } else if (b->data) {
        mem_free(cx, b->data, b->size);
    }
    *b = (file_bytes){.fd = -1};
}
