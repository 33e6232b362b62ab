/* history.c: the lines typed so far, kept in a file between sessions.
 *
 * Each line is appended to the file as it is entered, so that sessions side by
 * side all add theirs, and nothing is lost when one dies. Once the file has
 * grown to twice what is kept, it is written anew, through a file beside it.
 * A history that can't be kept is no fault: the session goes on without.
 */
#include "cli.h"
#include "lineedit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEPT = 1000 };

static void append(history *h, const char *line)
{
    if (h->count == h->room) {
        h->room = h->room ? 2 * h->room : 64;
        h->line = xrealloc(h->line, (size_t)h->room * sizeof *h->line);
    }
    h->line[h->count++] = xstrndup(line, strlen(line));
}

static void forget_oldest(history *h, int n)
{
    for (int i = 0; i < n; i++)
        free(h->line[i]);
    h->count -= n;
    if (!h->count) return;
    memmove(h->line, h->line + n, (size_t)h->count * sizeof *h->line);
}

static FILE *open_private(const char *path, int flags)
{
    const int fd = open(path, flags | O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return fd < 0 ? NULL : fdopen(fd, "a");
}

static void rewrite(const history *h)
{
    const size_t n = strlen(h->path);
    char *beside = xrealloc(NULL, n + 5);
    memcpy(beside, h->path, n);
    strcpy(beside + n, ".new");
    FILE *file = open_private(beside, O_TRUNC);
    if (file) {
        for (int i = 0; i < h->count; i++)
            fprintf(file, "%s\n", h->line[i]);
        if (fclose(file) || rename(beside, h->path)) unlink(beside);
    }
    free(beside);
}

void history_open(history *h, char *path)
{
    *h = (history){.path = path};
    FILE *file = path ? fopen(path, "re") : NULL;
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    int seen = 0;
    if (!file) return;
    while ((n = getline(&line, &room, file)) > 0) {
        if (line[n - 1] == '\n') line[n - 1] = 0;
        append(h, line);
        seen++;
        if (h->count == 2 * KEPT) forget_oldest(h, KEPT);
    }
    free(line);
    fclose(file);
    if (h->count > KEPT) forget_oldest(h, h->count - KEPT);
    if (seen >= 2 * KEPT) rewrite(h);
}

void history_add(history *h, const char *line)
{
    if (!line[strspn(line, " \t")]) return;
    if (h->count && !strcmp(h->line[h->count - 1], line)) return;
    append(h, line);
    FILE *file = h->path ? open_private(h->path, O_APPEND) : NULL;
    if (!file) return;
    fprintf(file, "%s\n", line);
    fclose(file);
}

void history_close(history *h)
{
    forget_oldest(h, h->count);
    free(h->line);
    free(h->path);
    *h = (history){0};
}
