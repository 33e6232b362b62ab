/* bounded.c: reads a file into memory, step by step, and tells where in it a
 * fault lies.
 */
#include "bounded.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static stc_status tell(ctx *cx, const char *path, const char *what, int64_t done,
                       int64_t total)
{
    const bool stop = atomic_load_explicit(&cx->interrupt, memory_order_relaxed) ||
                      (cx->progress && cx->progress(cx->progress_context, what,
                                                    (uint64_t)done, (uint64_t)total));
    if (!stop) return STC_OK;
    return fail_file(cx, STC_ERR_INTERRUPT, path, 0, "reading was interrupted");
}

/* Reads until the end, growing the block where the size wasn't known. */
static stc_status read_all(input *in, int fd, int64_t expected)
{
    int64_t len = 0;
    for (;;) {
        int64_t room = (int64_t)in->size - 1 - len;
        if (room == 0) {
            int64_t size;
            if (!size_mul((int64_t)in->size, 2, &size))
                return fail_file(in->cx, STC_ERR_OVERFLOW, in->path, 0,
                                 "the file is too large");
            char *const block = mem_resize(in->cx, in->begin, in->size, (size_t)size);
            if (!block) return in->cx->diag.status;
            in->begin = block;
            in->size = (size_t)size;
            room = size - 1 - len;
        }
        const int64_t step = room < INPUT_STEP ? room : INPUT_STEP;
        const ssize_t got = read(fd, in->begin + len, (size_t)step);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return fail_file(in->cx, STC_ERR_IO, in->path, 0, "can't be read: %s",
                             strerror(errno));
        if (got == 0) break;
        len += got;
        const stc_status s = tell(in->cx, in->path, "bytes read", len, expected);
        if (s) return s;
    }
    in->begin[len] = 0;
    in->p = in->begin;
    in->end = in->begin + len;
    in->tick = len > INPUT_STEP ? in->begin + INPUT_STEP : in->end + 1;
    return STC_OK;
}

stc_status input_open(input *in, ctx *cx, const char *path)
{
    *in = (input){.cx = cx, .path = path};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_file(cx, STC_ERR_IO, path, 0, "can't be opened: %s", strerror(errno));
    struct stat st;
    int64_t expected = 0, size = 1 << 16;
    /* One byte for the zero, and one to see the end of the file. */
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
        size_add(st.st_size, 2, &size))
        expected = st.st_size;
    stc_status s = STC_ERR_MEMORY;
    if ((in->begin = mem_array(cx, size, 1))) {
        in->size = (size_t)size;
        s = read_all(in, fd, expected);
    }
    close(fd);
    if (s) input_close(in);
    return s;
}

void input_close(input *in)
{
    if (in->begin) mem_free(in->cx, in->begin, in->size);
    in->begin = NULL;
}

stc_status input_tick(input *in)
{
    in->tick = in->end - in->p > INPUT_STEP ? in->p + INPUT_STEP : in->end + 1;
    return tell(in->cx, in->path, "bytes parsed", in->p - in->begin, in->end - in->begin);
}

bool input_next(input *in, char comment)
{
    for (;;) {
        while (is_space(*in->p))
            in->p++;
        if (*in->p != comment || in->p == in->end) break;
        input_skip_line(in);
    }
    return in->p < in->end;
}

void input_skip_line(input *in)
{
    while (in->p < in->end && !is_line_end(*in->p))
        in->p++;
}

int64_t input_lines_left(const input *in)
{
    int64_t n = 1;
    const char *p = in->p;
    while ((p = memchr(p, '\n', (size_t)(in->end - p)))) {
        n++;
        p++;
    }
    return n;
}

int64_t input_line(const input *in, const char *at)
{
    int64_t line = 1;
    for (const char *p = in->begin; p < at; p++)
        line += *p == '\n' || (*p == '\r' && p[1] != '\n');
    return line;
}

static bool printable(char c)
{
    return (unsigned char)c >= 32 && c != 127;
}

input_quote input_word(const input *in, const char *at)
{
    input_quote q;
    if (at >= in->end) {
        snprintf(q.text, sizeof q.text, "the end of the file");
        return q;
    }
    if (is_line_end(*at)) {
        snprintf(q.text, sizeof q.text, "the end of the line");
        return q;
    }
    int n = 0;
    q.text[n++] = '\'';
    const char *p = at;
    for (; p < in->end && !is_space(*p) && n < 32; p++)
        q.text[n++] = printable(*p) ? *p : '?';
    const bool cut = p < in->end && !is_space(*p);
    snprintf(q.text + n, sizeof q.text - (size_t)n, "%s'", cut ? "..." : "");
    return q;
}

/* The diag's line of text, column and length of the word, if it fits. */
static void show_line(const input *in, const char *at, diag *d)
{
    const char *begin = at, *end = at;
    while (begin > in->begin && !is_line_end(begin[-1]))
        begin--;
    while (end < in->end && !is_line_end(*end))
        end++;
    if (at - begin >= (int64_t)sizeof d->text - 1) return;
    size_t n = (size_t)(end - begin);
    if (n > sizeof d->text - 1) n = sizeof d->text - 1;
    for (size_t i = 0; i < n; i++)
        d->text[i] = printable(begin[i]) || begin[i] == '\t' ? begin[i] : '?';
    d->text[n] = 0;
    d->column = (int)(at - begin) + 1;
    d->length = 1;
    while (at + d->length < begin + n && !is_space(at[d->length]))
        d->length++;
}

stc_status input_fail(const input *in, const char *at, const char *format, ...)
{
    char message[sizeof in->cx->diag.message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    const stc_status s =
        fail_file(in->cx, STC_ERR_DATA, in->path, input_line(in, at), "%s", message);
    show_line(in, at, &in->cx->diag);
    return s;
}
