/* notes.c: what is worth saying of a text that isn't wrong.
 *
 * A note is a line `FILE:LINE:COLUMN: note: …`. They are kept with the machine until the
 * next call that takes a text, each once however often its statement is compiled.
 */
#include "lang.h"

#include <string.h>

/* Of one call: who has more reads the first. */
typedef struct notes {
    size_t length;
    char text[8192];
} notes;

static void end(ctx *cx, void *part)
{
    (void)cx, (void)part;
}

static const part_kind kind = {sizeof(notes), end};

void notes_clear(ctx *cx)
{
    notes *const n = ctx_has_part(cx, &kind);
    if (n) n->text[n->length = 0] = 0;
}

const char *notes_text(const ctx *cx)
{
    const notes *const n = ctx_has_part(cx, &kind);
    return n ? n->text : "";
}

void notes_add(const source *src, span at, const char *message, ...)
{
    ctx *const cx = src->cx;
    char what[512], line[1024];
    const diag before = cx->diag; /* an error's place is found in the same way */
    notes *const n = ctx_part(cx, &kind);
    if (!n) {
        cx->diag = before;
        return;
    }
    va_list args;
    va_start(args, message);
    vsnprintf(what, sizeof what, message, args);
    va_end(args);
    fail_source(src, STC_OK, at, "%s", what);
    const diag *const d = &cx->diag;
    snprintf(line, sizeof line, "%s:%d:%d: note: %s\n", d->file, d->line, d->column, what);
    cx->diag = before;
    const size_t more = strlen(line);
    if (more >= sizeof n->text - n->length || strstr(n->text, line)) return;
    memcpy(n->text + n->length, line, more + 1);
    n->length += more;
}
