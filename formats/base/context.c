/* context.c: telling errors; what others keep in a context.
 *
 * Takes a status, a printf text and perhaps a place, and fills the machine's
 * diag; line, column and the line's text are found here and nowhere else.
 */
#include "context.h"
#include "job.h"
#include <stdio.h>
#include <string.h>

const char *stc_status_name(stc_status status)
{
    static const char *const name[] = {
        "ok",      "argument",   "syntax", "program", "shape",     "data",     "io",
        "corrupt", "arithmetic", "memory", "steps",   "interrupt", "overflow",
    };
    size_t i = (size_t)status;
    return i < sizeof name / sizeof *name ? name[i] : "unknown";
}

void diag_clear(ctx *cx)
{
    diag *d = &cx->diag;
    d->status = STC_OK;
    d->line = d->column = d->length = 0;
    d->file[0] = d->message[0] = d->text[0] = 0;
}

static void copy_text(char *to, size_t size, const char *from, size_t len)
{
    if (len >= size) len = size - 1;
    memcpy(to, from, len);
    to[len] = 0;
}

int char_shown(const char *s)
{
    static const uint32_t least[] = {0, 0x20, 0xa0, 0x800, 0x10000};
    const unsigned char first = (unsigned char)*s;
    const int n = first < 0x80   ? 1
                  : first < 0xc0 ? 0
                  : first < 0xe0 ? 2
                  : first < 0xf0 ? 3
                  : first < 0xf8 ? 4
                                 : 0;
    uint32_t code = n > 1 ? first & (0xffu >> (n + 1)) : first;
    for (int k = 1; k < n; k++) {
        const unsigned char next = (unsigned char)s[k];
        if ((next & 0xc0) != 0x80) return 0;
        code = code << 6 | (next & 0x3f);
    }
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    return n && code >= least[n] && code != 0x7f && code < 0x110000 && !surrogate ? n : 0;
}

void stc_text_show(char *to, size_t size, const char *from)
{
    size_t n = 0;
    while (*from) {
        const int shown = char_shown(from);
        const int room = shown ? shown : 4;
        if (n + (size_t)room >= size) break;
        if (shown)
            memcpy(to + n, from, (size_t)shown);
        else
            snprintf(to + n, size - n, "\\x%02x", (unsigned char)*from);
        n += (size_t)room;
        from += shown ? shown : 1;
    }
    to[n] = 0;
}

void line_show(char *line)
{
    for (char *s = line; *s;) {
        const int shown = char_shown(s);
        if (!shown && *s != '\t') *s = '?';
        s += shown ? shown : 1;
    }
}

static void set(ctx *cx, stc_status status, const char *file, const char *format,
                va_list args)
{
    diag *d = &cx->diag;
    char message[sizeof d->message], name[sizeof d->file] = "";
    vsnprintf(message, sizeof message, format, args);
    if (file) stc_text_show(name, sizeof name, file); /* may be the old file's name */
    diag_clear(cx);
    d->status = status;
    d->length = 1;
    stc_text_show(d->message, sizeof d->message, message);
    memcpy(d->file, name, sizeof name);
}

enum {
    STEPS_TOLD = 1 << 22, /* between two calls of progress                      */
    STEPS_LOOK = 1 << 12, /* what a look counts as for that: steps differ a lot */
    BYTES = 1 << 20,      /* of a block                                         */
};

bool work_tell(ctx *cx, uint64_t n)
{
    cx->worked += n;
    if (!cx->progress) return true;
    cx->unseen += n + STEPS_LOOK;
    if (cx->unseen < STEPS_TOLD) return true;
    cx->unseen = 0;
    if (!job_tell(cx, "steps", cx->worked, 0)) return true;
    atomic_store(&cx->stop, WORK_UNWANTED);
    return false;
}

static __attribute__((cold)) stc_status stopped(ctx *cx)
{
    const ctx *root = cx->root ? cx->root : cx;
    switch (atomic_load(&((ctx *)root)->stop)) {
    case WORK_INTERRUPTED:
        return fail(cx, STC_ERR_INTERRUPT, "interrupted");
    case WORK_UNWANTED:
        return fail(cx, STC_ERR_INTERRUPT, "stopped by the progress function");
    default:
        return fail(cx, STC_ERR_STEPS, "stopped after %llu steps, the limit of a call",
                    (unsigned long long)root->limit);
    }
}

stc_status work_done(ctx *cx, uint64_t n)
{
    ctx *root = cx->root ? cx->root : cx; /* a worker's own steps are added up in the end */
    cx->steps += n;
    const bool over = root->limit && cx->steps > root->limit;
    if (over || atomic_load_explicit(&root->stop, memory_order_relaxed)) return stopped(cx);
    return cx->root || work_tell(cx, n) ? STC_OK : stopped(cx);
}

stc_status work_copy(ctx *cx, void *to, const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += BYTES) {
        const size_t n = bytes - at < BYTES ? bytes - at : BYTES;
        if (work_done(cx, n / 64)) return cx->diag.status;
        memcpy((char *)to + at, (const char *)from + at, n);
    }
    return STC_OK;
}

stc_status work_clear(ctx *cx, void *to, int byte, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += BYTES) {
        const size_t n = bytes - at < BYTES ? bytes - at : BYTES;
        if (work_done(cx, n / 64)) return cx->diag.status;
        memset((char *)to + at, byte, n);
    }
    return STC_OK;
}

/* ---- parts ------------------------------------------------------------------- */

typedef struct part {
    struct part *next;
    const part_kind *kind;
    _Alignas(max_align_t) char data[];
} part;

void *ctx_look_for(const ctx *cx, const part_kind *kind)
{
    part *p = cx->parts;
    while (p && p->kind != kind)
        p = p->next;
    return p ? p->data : NULL;
}

void *ctx_part(ctx *cx, const part_kind *kind)
{
    void *const there = ctx_look_for(cx, kind);
    if (there) return there;
    part *const p = mem_zero(cx, 1, sizeof *p + kind->size);
    if (!p) return NULL;
    p->next = cx->parts;
    p->kind = kind;
    cx->parts = p;
    return p->data;
}

void ctx_end_parts(ctx *cx)
{
    while (cx->parts) {
        part *const p = cx->parts;
        cx->parts = p->next;
        p->kind->end(cx, p->data);
        mem_free(cx, p, sizeof *p + p->kind->size);
    }
}

/* ---- errors ------------------------------------------------------------------ */

stc_status fail(ctx *cx, stc_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(cx, status, NULL, format, args);
    va_end(args);
    return status;
}

stc_status fail_file(ctx *cx, stc_status status, const char *file, int64_t line,
                     const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(cx, status, file, format, args);
    va_end(args);
    cx->diag.line = line > INT32_MAX ? INT32_MAX : (int)line;
    return status;
}

/* Columns count characters, not bytes. */
static int characters(const char *s, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += ((unsigned char)s[i] & 0xc0) != 0x80;
    return count;
}

static void place(diag *d, const char *text, span at)
{
    const int size = (int)strnlen(text, INT32_MAX);
    int begin = at.begin < 0 ? 0 : at.begin;
    if (begin > size) begin = size;
    int end = at.end > size ? size : at.end;
    int start = 0, line = 1;
    for (int i = 0; i < begin; i++) {
        if (text[i] != '\n') continue;
        line++;
        start = i + 1;
    }
    int stop = begin;
    while (stop < size && text[stop] != '\n' && text[stop] != '\r')
        stop++;
    if (end > stop) end = stop;
    d->line = line;
    d->column = characters(text + start, begin - start) + 1;
    d->length = end > begin ? characters(text + begin, end - begin) : 1;
    copy_text(d->text, sizeof d->text, text + start, (size_t)(stop - start));
    line_show(d->text);
}

stc_status fail_text(ctx *cx, stc_status status, const char *file, const char *text,
                     span at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(cx, status, file, format, args);
    va_end(args);
    if (text) place(&cx->diag, text, at);
    return status;
}

const char *host_name_fault(const char *name, size_t room)
{
    const size_t n = name ? strnlen(name, room) : 0;
    if (n == 0 || n == room) return "its name must have 1 to 63 bytes";
    for (size_t k = 0; k < n; k++) {
        const bool letter = (name[k] | 32) >= 'a' && (name[k] | 32) <= 'z';
        const bool digit = name[k] >= '0' && name[k] <= '9' && k;
        if (!letter && !digit && name[k] != '_')
            return "its name isn't one of the language";
    }
    return NULL;
}
