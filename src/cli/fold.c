/* fold.c: texts in windows that are narrower than they are: a line goes on, a
 * little indented, where its last blank before the edge was. */
#include "cli.h"
#include "lineedit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INDENT = 4 };

/* How many bytes of [text, text + length) go into `room` columns: up to a blank,
 * if there is one behind the first word. */
static size_t fitting(const char *text, size_t length, int room)
{
    size_t at = 0, blank = 0;
    int width = 0;
    const size_t first = strspn(text, " ");
    while (at < length) {
        const size_t n = char_length(text + at, length - at);
        width += text_width(text + at, n);
        if (width > room) break;
        if (text[at] == ' ' && at > first) blank = at;
        at += n;
    }
    if (at >= length) return length;
    if (text[at] == ' ' || !blank) return at ? at : char_length(text, length);
    return blank;
}

static void print_line(const char *text, size_t length, int columns, FILE *out)
{
    int indent = 0;
    for (;;) {
        const int room = columns - indent > 1 ? columns - indent : 1;
        const size_t n = fitting(text, length, room);
        fprintf(out, "%*s%.*s\n", indent, "", (int)n, text);
        text += n;
        length -= n;
        const size_t blanks = strspn(text, " ");
        if (blanks >= length) return;
        text += blanks;
        length -= blanks;
        indent = columns > 3 * INDENT ? INDENT : 0;
    }
}

FILE *fold_begin(folding *f, FILE *to)
{
    *f = (folding){.to = to};
    FILE *out = isatty(fileno(to)) ? open_memstream(&f->text, &f->size) : NULL;
    return out ? out : to;
}

void fold_end(folding *f, FILE *out)
{
    if (out == f->to) return;
    const int columns = fclose(out) ? 0 : terminal_columns(fileno(f->to));
    for (const char *text = f->text; text && *text && columns;) {
        const size_t n = strcspn(text, "\n");
        print_line(text, n, columns, f->to);
        text += n + (text[n] == '\n');
    }
    free(f->text);
}
