/* output.c: writes a file so that it is complete or isn't there.
 *
 * What is written goes to a new file in the target's folder, which takes the
 * target's name when it is complete and on the disk. Symbolic links are followed
 * first, also those that lead nowhere yet. Devices, pipes, and what is this process'
 * standard output, are written directly: they can't be replaced.
 */
#include "output.h"
#include "read.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER ((int64_t)1 << 18)
#define STEP ((int64_t)1 << 20) /* bytes between two looks at limits */

enum { LINKS = 40, NAMES = 100, WAIT = 20 /* milliseconds */ };

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

static stc_status fail_errno(output *o, const char *what)
{
    return o->status =
               fail_file(o->cx, STC_ERR_IO, o->path, 0, "%s: %s", what, strerror(errno));
}

static bool is_interrupted(output *o)
{
    const stc_status st = work_done(o->cx, 0);
    if (st) o->status = fail_file(o->cx, st, o->path, 0, "writing was interrupted");
    return st != STC_OK;
}

static void release(output *o)
{
    ctx *const cx = o->cx;
    if (o->buf) mem_free(cx, o->buf, (size_t)BUFFER);
    if (o->target) mem_free(cx, o->target, o->target_size);
    if (o->temporary) mem_free(cx, o->temporary, o->temporary_size);
    o->buf = o->target = o->temporary = NULL;
}

/* ---- where the file really is --------------------------------------------- */

/* The length of the folder's part of a path, with its slash. */
static size_t folder_length(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Follows links that lead to a file that isn't there. */
static bool follow_links(char path[PATH_MAX])
{
    char link[PATH_MAX];
    for (int k = 0; k < LINKS; k++) {
        const ssize_t n = readlink(path, link, sizeof link);
        if (n < 0) return errno == EINVAL || errno == ENOENT;
        const size_t folder = n && link[0] == '/' ? 0 : folder_length(path);
        if (folder + (size_t)n >= PATH_MAX) break;
        memcpy(path + folder, link, (size_t)n);
        path[folder + (size_t)n] = 0;
    }
    errno = ELOOP;
    return false;
}

static stc_status find_target(output *o, const struct stat *st)
{
    char path[PATH_MAX];
    if (st) {
        if (!realpath(o->path, path)) return fail_errno(o, "can't be written");
        if (access(path, W_OK)) return fail_errno(o, "can't be written");
    } else {
        if (strlen(o->path) >= sizeof path) {
            errno = ENAMETOOLONG;
            return fail_errno(o, "can't be created");
        }
        strcpy(path, o->path);
        if (!follow_links(path)) return fail_errno(o, "can't be created");
    }
    o->target_size = strlen(path) + 1;
    if (!(o->target = mem_alloc(o->cx, o->target_size)))
        return o->status = o->cx->diag.status;
    memcpy(o->target, path, o->target_size);
    return STC_OK;
}

/* ---- opening ---------------------------------------------------------------- */

/* A new file in the target's folder, under a name that can't be foreseen. */
static stc_status open_temporary(output *o, const struct stat *st)
{
    enum { DIGITS = 16 };
    const size_t folder = folder_length(o->target);
    const size_t size = folder + sizeof ".stcvm-" + DIGITS + sizeof ".tmp";
    if (!(o->temporary = mem_alloc(o->cx, size))) return o->status = o->cx->diag.status;
    o->temporary_size = size;
    for (int n = 0; n < NAMES; n++) {
        uint64_t random;
        if (getrandom(&random, sizeof random, 0) != sizeof random) break;
        snprintf(o->temporary, size, "%.*s.stcvm-%0*llx.tmp", (int)folder, o->target,
                 DIGITS, (unsigned long long)random);
        o->fd =
            open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st ? 0600 : 0666);
        if (o->fd >= 0) break;
        if (errno != EEXIST) break;
    }
    if (o->fd < 0) return fail_errno(o, "can't be created");
    /* The owner first: a change of owner takes set-user-id bits away. Who may not
     * give files away keeps theirs. */
    if (st && fchown(o->fd, st->st_uid, st->st_gid)) errno = 0;
    if (!st || fchmod(o->fd, st->st_mode & 0777) == 0) return STC_OK;
    fail_errno(o, "can't have the mode of the file that it replaces");
    close(o->fd);
    unlink(o->temporary);
    return o->status;
}

/* A pipe opens when someone reads from it. */
static stc_status open_directly(output *o, const struct stat *st)
{
    o->direct = true;
    for (;;) {
        o->fd = open(o->path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (o->fd >= 0) return STC_OK;
        if (!(errno == ENXIO && S_ISFIFO(st->st_mode)) && errno != EINTR) break;
        if (is_interrupted(o)) return o->status;
        poll(NULL, 0, WAIT);
    }
    return fail_errno(o, "can't be opened");
}

/* Whether a file is what standard output goes to: `-o y=/dev/stdout > file`. */
static bool is_standard_output(const struct stat *st)
{
    struct stat standard;
    return fstat(STDOUT_FILENO, &standard) == 0 && standard.st_dev == st->st_dev &&
           standard.st_ino == st->st_ino;
}

static stc_status open_standard_output(output *o)
{
    o->direct = true;
    o->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    return o->fd >= 0 ? STC_OK : fail_errno(o, "can't be opened");
}

static stc_status open_file(output *o)
{
    struct stat there;
    if (path_is_standard(o->path)) return open_standard_output(o);
    const struct stat *const st = stat(o->path, &there) == 0 ? &there : NULL;
    if (st && S_ISDIR(st->st_mode)) {
        errno = EISDIR;
        return fail_errno(o, "can't be written");
    }
    if (st && !S_ISREG(st->st_mode)) return open_directly(o, st);
    if (st && is_standard_output(st)) return open_standard_output(o);
    if (find_target(o, st)) return o->status;
    return open_temporary(o, st);
}

/* It takes the place of the temporary, which is empty, with the mode and the owner of that.
 */
bool output_adopt(output *o, int fd)
{
    char from[64], name[PATH_MAX];
    struct stat st;
    if (o->direct || o->status || o->len || o->done || fstat(o->fd, &st) != 0) return false;
    const size_t n = strlen(o->temporary), tail = sizeof "tmp" - 1;
    if (n >= sizeof name || fchmod(fd, st.st_mode & 0777) != 0) return false;
    if (fchown(fd, st.st_uid, st.st_gid)) errno = 0; /* as in open_temporary */
    memcpy(name, o->temporary, n + 1);
    memcpy(name + n - tail, "new", tail);
    snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    const int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (own < 0) return false;
    const bool linked = linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    if (!linked || rename(name, o->temporary) != 0) {
        if (linked) unlink(name);
        close(own);
        return false;
    }
    close(o->fd);
    o->fd = own;
    return true;
}

stc_status output_open(output *o, ctx *cx, const char *path)
{
    *o = (output){.cx = cx, .path = path, .fd = -1};
    if (!(o->buf = mem_alloc(cx, (size_t)BUFFER)))
        o->status = cx->diag.status;
    else
        open_file(o);
    if (o->status) release(o);
    return o->status;
}

/* ---- writing ---------------------------------------------------------------- */

static void write_all(output *o, const char *data, int64_t size)
{
    while (size > 0 && !o->status) {
        const int64_t step = size < STEP ? size : STEP;
        const ssize_t put = write(o->fd, data, (size_t)step);
        if (put < 0 && errno == EAGAIN)
            poll(&(struct pollfd){.fd = o->fd, .events = POLLOUT}, 1, WAIT);
        if (put < 0 && errno != EAGAIN && errno != EINTR) {
            fail_errno(o, "can't be written");
            return;
        }
        const int64_t got = put < 0 ? 0 : put;
        data += got;
        size -= got;
        o->done += got;
        o->status = file_step(o->cx, o->path, "writing", "bytes written",
                              (uint64_t)got / 16, o->done, o->total);
    }
}

static void flush(output *o)
{
    const int64_t len = o->len;
    o->len = 0;
    if (!o->status) write_all(o, o->buf, len);
}

void output_at(output *o, int64_t offset)
{
    flush(o);
    if (!o->status && lseek(o->fd, (off_t)offset, SEEK_SET) < 0)
        fail_errno(o, "can't be written");
    o->done = offset;
}

/* Room for a few bytes more. */
static inline char *room(output *o, int64_t n)
{
    if (BUFFER - o->len < n) flush(o);
    return o->buf + o->len;
}

/* ---- closing ---------------------------------------------------------------- */

/* Some file systems can't sync, which is no failure of ours. */
static bool sync_file(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

/* After a power cut the folder has the new name, too. */
static bool sync_folder(const output *o)
{
    char folder[PATH_MAX] = ".";
    const size_t n = folder_length(o->target);
    if (n) snprintf(folder, sizeof folder, "%.*s", (int)n, o->target);
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return true; /* a folder that can be written, but not read */
    const bool ok = sync_file(fd);
    close(fd);
    return ok;
}

static stc_status replace(output *o)
{
    if (is_interrupted(o)) return o->status;
    if (rename(o->temporary, o->target) != 0) return fail_errno(o, "can't be replaced");
    return sync_folder(o) ? STC_OK : fail_errno(o, "can't be written");
}

stc_status output_close(output *o, stc_status status)
{
    if (!status) flush(o);
    if (!status) status = o->status;
    if (!status && !o->direct && !sync_file(o->fd))
        status = fail_errno(o, "can't be written");
    if (close(o->fd) != 0 && !status) status = fail_errno(o, "can't be written");
    if (!status && !o->direct) status = replace(o);
    if (status && !o->direct) unlink(o->temporary);
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
