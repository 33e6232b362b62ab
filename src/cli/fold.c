/* fold.c: texts in windows that are smaller than they are: a line goes on, a
 * little indented, where its last blank before the edge was, and what is asked for
 * by page stops where the window is full, until a key is pressed.
 */
#include "cli.h"
#include "lineedit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INDENT = 4, CONTROL_C = 3, CONTROL_D = 4 };

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

/* What is left of the window; rows 0: it has no end. */
typedef struct page {
    int rows, left;
    bool quit;
} page;

/* The window is full: the next page, another line, or no more. */
static void ask(page *p)
{
    static const char prompt[] = "-- more: space, Enter, q --";
    fputs(prompt, stdout);
    fflush(stdout);
    int key = 'q';
    if (terminal_raw()) {
        do
            key = terminal_key();
        while (key == KEY_NONE || key == KEY_RESIZED);
        terminal_cooked();
    }
    printf("\r%*s\r", (int)sizeof prompt, "");
    p->left = key == '\r' || key == '\n' || key == KEY_DOWN ? 1 : p->rows - 1;
    p->quit = key == 'q' || key == 'Q' || key == CONTROL_C || key == CONTROL_D ||
              key == KEY_END_OF_INPUT;
}

static void print_line(const char *text, size_t length, int columns, page *p, FILE *out)
{
    int indent = 0;
    for (;;) {
        if (p->rows && p->left-- == 0) {
            ask(p);
            if (p->quit) return;
            p->left--;
        }
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
    const int rows = f->pages && isatty(STDIN_FILENO) ? terminal_rows(fileno(f->to)) : 0;
    page p = {.rows = rows > 1 ? rows : 0, .left = rows - 1};
    for (const char *text = f->text; text && *text && columns && !p.quit;) {
        const size_t n = strcspn(text, "\n");
        print_line(text, n, columns, &p, f->to);
        text += n + (text[n] == '\n');
    }
    free(f->text);
}
