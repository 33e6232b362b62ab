/* textbuf.c: a text that grows as printers add to it.
 *
 * A failed allocation is remembered and told once, by text_take: printers
 * needn't look at every step.
 */
#include "context.h"
#include <stdio.h>

void text_init(textbuf *t, ctx *cx)
{
    *t = (textbuf){.cx = cx};
}

void text_add(textbuf *t, const char *format, ...)
{
    if (t->failed) return;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int64_t room = t->cap - t->len;
    const int n = vsnprintf(t->data ? t->data + t->len : NULL, (size_t)room, format, args);
    if (n < 0) {
        t->failed = true;
        fail(t->cx, STC_ERR_MEMORY, "a text could not be printed");
    } else if (n >= room) {
        if (mem_grow(t->cx, &t->data, &t->cap, t->len + n + 1, 1)) {
            t->failed = true;
        } else {
            vsnprintf(t->data + t->len, (size_t)n + 1, format, again);
        }
    }
    if (!t->failed) t->len += n;
    va_end(again);
    va_end(args);
}

char *text_take(textbuf *t)
{
    char *out = NULL;
    if (!t->failed) {
        out = mem_resize(t->cx, t->data, (size_t)t->cap, (size_t)t->len + 1);
        if (out) {
            out[t->len] = 0;
            t->data = NULL;
        }
    }
    text_drop(t);
    return out;
}

void text_drop(textbuf *t)
{
    mem_free(t->cx, t->data, (size_t)t->cap);
    text_init(t, t->cx);
}
