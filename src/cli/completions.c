/* completions.c: what a word could become: a list of texts, and how the editor
 * shows it.
 */
#include "cli.h"
#include "lineedit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void completions_add(completions *c, const char *text)
{
    for (int i = 0; i < c->count; i++)
        if (!strcmp(c->text[i], text)) return;
    if (c->count == c->room) {
        c->room = c->room ? 2 * c->room : 16;
        c->text = xrealloc(c->text, (size_t)c->room * sizeof *c->text);
    }
    c->text[c->count++] = xstrndup(text, strlen(text));
}

void completions_free(completions *c)
{
    for (int i = 0; i < c->count; i++)
        free(c->text[i]);
    free(c->text);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void completions_sort(completions *c)
{
    qsort(c->text, (size_t)c->count, sizeof *c->text, by_text);
}

size_t completions_common(const completions *c)
{
    size_t common = strlen(c->text[0]);
    for (int i = 1; i < c->count; i++) {
        size_t k = 0;
        while (k < common && c->text[i][k] == c->text[0][k])
            k++;
        common = k;
    }
    while (common && ((unsigned char)c->text[0][common] & 0xc0) == 0x80)
        common--;
    return common;
}

void completions_print(const completions *c)
{
    enum { MOST = 100 };
    const int columns = terminal_columns(STDOUT_FILENO);
    const int shown = c->count < MOST ? c->count : MOST;
    int widest = 1;
    for (int i = 0; i < shown; i++) {
        const int w = text_width(c->text[i], strlen(c->text[i]));
        widest = w > widest ? w : widest;
    }
    const int across = columns / (widest + 2) > 1 ? columns / (widest + 2) : 1;
    const int rows = (shown + across - 1) / across;
    fputc('\n', stdout);
    for (int r = 0; r < rows; r++) {
        for (int i = r; i < shown; i += rows) {
            const int w = text_width(c->text[i], strlen(c->text[i]));
            printf("%s%*s", c->text[i], i + rows < shown ? widest + 2 - w : 0, "");
        }
        fputc('\n', stdout);
    }
    if (shown < c->count) printf("… and %d more\n", c->count - shown);
}
