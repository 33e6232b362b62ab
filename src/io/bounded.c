/* bounded.c: a file in memory, and where in it a fault lies.
 */
#include "bounded.h"
#include <string.h>
#include <unistd.h>

void input_over(input *in, ctx *cx, const char *path, const char *bytes, int64_t len)
{
    *in = (input){.cx = cx, .path = path, .begin = bytes, .p = bytes, .end = bytes + len};
    if (len >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) in->p += 3; /* a byte order mark */
    in->tick = len > INPUT_STEP ? in->begin + INPUT_STEP : in->end + 1;
    in->file.fd = in->fd = -1;
}

stc_status input_open(input *in, ctx *cx, const char *path, bool mapped)
{
    file_bytes b;
    const stc_status s =
        mapped ? file_map(cx, path, &b) : file_read(cx, path, INT64_MAX - 1, &b);
    if (s) return s;
    input_over(in, cx, path, b.data, b.len);
    in->file = b;
    return STC_OK;
}

stc_status input_open_head(input *in, ctx *cx, const char *path)
{
    file_bytes b;
    int fd;
    int64_t size;
    const stc_status s = file_read_head(cx, path, &b, &fd, &size);
    if (s) return s;
    input_over(in, cx, path, b.data, b.len);
    in->file = b;
    in->fd = fd;
    in->size = size;
    return STC_OK;
}

stc_status input_complete(input *in)
{
    file_bytes b;
    if (in->fd < 0) return STC_OK;
    const stc_status s = file_read_rest(in->cx, in->path, in->fd, &b);
    if (s) return s;
    input_close(in);
    input_over(in, in->cx, in->path, b.data, b.len);
    in->file = b;
    return STC_OK;
}

void input_close(input *in)
{
    if (in->fd >= 0) close(in->fd);
    in->fd = -1;
    file_release(in->cx, &in->file);
    in->begin = NULL;
}

stc_status input_tick(input *in)
{
    in->tick = in->end - in->p > INPUT_STEP ? in->p + INPUT_STEP : in->end + 1;
    return file_step(in->cx, in->path, "reading", "bytes parsed", INPUT_STEP / 16,
                     in->p - in->begin, in->end - in->begin);
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

bool input_ended(const input *in)
{
    char last = 0;
    if (in->fd >= 0) return pread(in->fd, &last, 1, in->size - 1) == 1 && is_line_end(last);
    return in->end > in->begin && is_line_end(in->end[-1]);
}

stc_status input_whole(const input *in, int64_t entries, int64_t found)
{
    if (entries >= 0 && entries != found)
        return input_fail(
            in, in->end, "the file ends after %lld %s; it says that it has %lld",
            (long long)found, found == 1 ? "entry" : "entries", (long long)entries);
    if (input_ended(in)) return STC_OK;
    return input_fail(in, in->end, "the file was cut short: its last line has no end");
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
        q.text[n++] = *p ? *p : '?';
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
        d->text[i] = begin[i] ? begin[i] : '?';
    d->text[n] = 0;
    line_show(d->text);
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
