/* lineedit.c: the line editor: a buffer, a cursor, and what the keys do.
 *
 * The line is drawn anew after each key, as far as it fits: one screen line
 * that scrolls sideways. The buffer holds UTF-8 and always ends in a zero; the
 * cursor stands on the first byte of a character.
 */
#include "cli.h"
#include "lineedit.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lineedit {
    history *h;
    complete_fn complete;
    void *context;
    bool raw;     /* keys one by one                                          */
    bool prompts; /* a person types                                           */
    bool pasting;
    const char *prompt;
    char *text;
    size_t length, room, cursor, most;
    char *killed; /* for Ctrl-Y                                               */
    int at;       /* the line of the history that is shown; count: none        */
    char *draft;  /* the new line, while another is shown                     */
};

/* ---- the buffer -------------------------------------------------------------- */

static void reserve(lineedit *e, size_t length)
{
    if (length + 1 <= e->room) return;
    e->room = 2 * length + 64;
    e->text = xrealloc(e->text, e->room);
}

static void insert(lineedit *e, const char *text, size_t n)
{
    reserve(e, e->length + n);
    memmove(e->text + e->cursor + n, e->text + e->cursor, e->length - e->cursor + 1);
    memcpy(e->text + e->cursor, text, n);
    e->length += n;
    e->cursor += n;
}

static void erase(lineedit *e, size_t from, size_t to)
{
    memmove(e->text + from, e->text + to, e->length - to + 1);
    e->length -= to - from;
    e->cursor = from;
}

/* Erases for Ctrl-Y to bring back. */
static void kill_text(lineedit *e, size_t from, size_t to)
{
    if (from == to) return;
    free(e->killed);
    e->killed = xstrndup(e->text + from, to - from);
    erase(e, from, to);
}

static void replace(lineedit *e, const char *text)
{
    const size_t n = strlen(text);
    reserve(e, n);
    memcpy(e->text, text, n + 1);
    e->length = e->cursor = n;
}

static size_t before(const lineedit *e, size_t at)
{
    while (at > 0 && ((unsigned char)e->text[--at] & 0xc0) == 0x80)
        ;
    return at;
}

static size_t after(const lineedit *e, size_t at)
{
    return at + char_length(e->text + at, e->length - at);
}

static bool in_word(char byte)
{
    const unsigned char u = (unsigned char)byte;
    return (u >= '0' && u <= '9') || (u >= 'A' && u <= 'Z') || (u >= 'a' && u <= 'z') ||
           u == '_' || u >= 0x80;
}

static size_t word_left(const lineedit *e)
{
    size_t at = e->cursor;
    while (at > 0 && !in_word(e->text[at - 1]))
        at--;
    while (at > 0 && in_word(e->text[at - 1]))
        at--;
    return at;
}

static size_t word_right(const lineedit *e)
{
    size_t at = e->cursor;
    while (at < e->length && !in_word(e->text[at]))
        at++;
    while (at < e->length && in_word(e->text[at]))
        at++;
    return at;
}

/* Ctrl-W takes what blanks surround, as a shell does. */
static size_t blank_left(const lineedit *e)
{
    size_t at = e->cursor;
    while (at > 0 && e->text[at - 1] == ' ')
        at--;
    while (at > 0 && e->text[at - 1] != ' ')
        at--;
    return at;
}

/* ---- the screen --------------------------------------------------------------- */

static void draw_line(const char *prompt, const char *text, size_t length, size_t cursor)
{
    const int columns = terminal_columns(STDOUT_FILENO);
    int margin = text_width(prompt, strlen(prompt));
    if (margin + 10 > columns) {
        prompt = "";
        margin = 0;
    }
    const int room = columns - margin - 1 > 1 ? columns - margin - 1 : 1;
    size_t begin = 0, end = cursor;
    int width = text_width(text, cursor);
    while (width > room) {
        const size_t n = char_length(text + begin, length - begin);
        width -= text_width(text + begin, n);
        begin += n;
    }
    const int column = margin + width;
    while (end < length) {
        const size_t n = char_length(text + end, length - end);
        width += text_width(text + end, n);
        if (width > room) break;
        end += n;
    }
    printf("\r%s%.*s\033[K\r", prompt, (int)(end - begin), text + begin);
    if (column) printf("\033[%dC", column);
    fflush(stdout);
}

static void refresh(const lineedit *e)
{
    draw_line(e->prompt, e->text, e->length, e->cursor);
}

static void beep(void)
{
    fputc('\a', stdout);
    fflush(stdout);
}

/* ---- what keys do -------------------------------------------------------------- */

static void complete(lineedit *e)
{
    completions c = {.start = e->cursor};
    e->complete(e->context, e->text, e->cursor, &c);
    if (!c.count) {
        beep();
        return;
    }
    completions_sort(&c);
    const size_t typed = e->cursor - c.start;
    const size_t common = completions_common(&c);
    if (common > typed || c.count == 1) {
        const char last = common ? c.text[0][common - 1] : 0;
        erase(e, c.start, e->cursor);
        insert(e, c.text[0], common);
        if (c.count == 1 && last != '/' && last != '"' && e->text[e->cursor] != ' ')
            insert(e, " ", 1);
    } else {
        refresh(e);
        completions_print(&c);
    }
    completions_free(&c);
}

/* Up and down in the history; the line being typed is its newest entry. */
static void browse(lineedit *e, int step)
{
    const int to = e->at + step;
    if (to < 0 || to > e->h->count) {
        beep();
        return;
    }
    if (e->at == e->h->count) {
        free(e->draft);
        e->draft = xstrndup(e->text, e->length);
    }
    e->at = to;
    replace(e, to == e->h->count ? e->draft : e->h->line[to]);
}

/* The newest entry before `from` that holds what was typed; -1: none. */
static int search_history(const lineedit *e, const char *wanted, int from)
{
    for (int i = from - 1; i >= 0; i--)
        if (strstr(e->h->line[i], wanted)) return i;
    return -1;
}

/* Ctrl-R: each key narrows the search, Ctrl-R goes further back, Ctrl-G and
 * Ctrl-C give up. Returns the key that ended it, for the editor to act on. */
static int search(lineedit *e)
{
    char wanted[64] = "", prompt[96];
    size_t n = 0;
    int found = -1, key;
    for (;;) {
        const char *line = found < 0 ? "" : e->h->line[found];
        snprintf(prompt, sizeof prompt, "search '%s': ", wanted);
        draw_line(prompt, line, strlen(line), 0);
        key = terminal_key();
        if (key == 'R' - 64) {
            const int older = search_history(e, wanted, found < 0 ? e->h->count : found);
            if (older < 0)
                beep();
            else
                found = older;
        } else if (key == 127 || key == 8) {
            wanted[n ? --n : 0] = 0;
            found = n ? search_history(e, wanted, e->h->count) : -1;
        } else if (key >= 32 && key < 256 && n + 1 < sizeof wanted) {
            wanted[n++] = (char)key;
            wanted[n] = 0;
            found = search_history(e, wanted, found < 0 ? e->h->count : found + 1);
        } else if (key == 'G' - 64 || key == 'C' - 64) {
            return KEY_NONE;
        } else if (key != KEY_RESIZED && key != KEY_NONE) {
            break;
        }
    }
    if (found >= 0) {
        replace(e, e->h->line[found]);
        e->at = found;
    }
    return key;
}

/* Keys that move the cursor or walk the history; false: another key. */
static bool move_key(lineedit *e, int key)
{
    switch (key) {
    case KEY_UP:
    case 'P' - 64:
        browse(e, -1);
        return true;
    case KEY_DOWN:
    case 'N' - 64:
        browse(e, 1);
        return true;
    case KEY_LEFT:
    case 'B' - 64:
        e->cursor = before(e, e->cursor);
        return true;
    case KEY_RIGHT:
    case 'F' - 64:
        e->cursor = after(e, e->cursor);
        return true;
    case KEY_HOME:
    case 'A' - 64:
        e->cursor = 0;
        return true;
    case KEY_END:
    case 'E' - 64:
        e->cursor = e->length;
        return true;
    case KEY_WORD_LEFT:
        e->cursor = word_left(e);
        return true;
    case KEY_WORD_RIGHT:
        e->cursor = word_right(e);
        return true;
    default:
        return false;
    }
}

static void suspend(const lineedit *e)
{
    terminal_cooked();
    fputc('\n', stdout);
    fflush(stdout);
    raise(SIGTSTP);
    terminal_raw();
    refresh(e);
}

/* Keys that change the text. */
static void edit_key(lineedit *e, int key)
{
    const char byte = (char)key;
    switch (key) {
    case 127:
    case 'H' - 64:
        erase(e, before(e, e->cursor), e->cursor);
        break;
    case KEY_DELETE:
    case 'D' - 64: {
        const size_t from = e->cursor;
        erase(e, from, after(e, from));
        break;
    }
    case 'K' - 64:
        kill_text(e, e->cursor, e->length);
        break;
    case 'U' - 64:
        kill_text(e, 0, e->cursor);
        break;
    case 'W' - 64:
        kill_text(e, blank_left(e), e->cursor);
        break;
    case KEY_WORD_DELETE:
        kill_text(e, e->cursor, word_right(e));
        break;
    case 'Y' - 64:
        if (e->killed) insert(e, e->killed, strlen(e->killed));
        break;
    case 'L' - 64:
        fputs("\033[H\033[2J", stdout);
        break;
    case 'Z' - 64:
        suspend(e);
        break;
    case '\t':
        if (e->pasting)
            insert(e, "    ", 4);
        else
            complete(e);
        break;
    default:
        if (key >= 32 && key < 256) insert(e, &byte, 1);
    }
}

/* Acts on keys until the line is done. */
static line_result edit(lineedit *e)
{
    for (;;) {
        if (!terminal_waiting()) refresh(e);
        int key = terminal_key();
        if (key == 'R' - 64) key = search(e);
        switch (key) {
        case '\r':
        case '\n':
            /* whole, over as many rows as it takes */
            printf("\r\033[K%s%s", e->prompt, e->text);
            return LINE_READ;
        case 'C' - 64:
            e->cursor = e->length;
            refresh(e);
            fputs("^C", stdout);
            return LINE_CANCELLED;
        case KEY_END_OF_INPUT:
            return LINE_ENDED;
        case KEY_PASTE:
        case KEY_PASTED:
            e->pasting = key == KEY_PASTE;
            continue;
        }
        if (key == 'D' - 64 && !e->length) return LINE_ENDED;
        if (!move_key(e, key)) edit_key(e, key);
    }
}

/* ---- the interface ---------------------------------------------------------------- */

lineedit *lineedit_new(history *h, complete_fn complete_word, void *context, size_t most)
{
    lineedit *e = xrealloc(NULL, sizeof *e);
    const char *term = getenv("TERM");
    *e = (lineedit){.h = h, .complete = complete_word, .context = context, .most = most};
    e->prompts = isatty(STDIN_FILENO);
    e->raw = e->prompts && isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb");
    reserve(e, 0);
    e->text[0] = 0;
    return e;
}

void lineedit_free(lineedit *e)
{
    free(e->text);
    free(e->killed);
    free(e->draft);
    free(e);
}

bool lineedit_prompts(const lineedit *e)
{
    return e->prompts;
}

/* Lines as they come; Ctrl-C at a plain prompt ends the read with EINTR. */
static line_result read_plain(lineedit *e, const char *prompt)
{
    if (e->prompts) {
        fputs(prompt, stderr);
        fflush(stderr);
    }
    int c;
    e->length = 0;
    errno = 0;
    while ((c = getc_unlocked(stdin)) != EOF && c != '\n') {
        if (e->length >= e->most) return LINE_LONG;
        reserve(e, e->length + 1);
        e->text[e->length++] = (char)c;
    }
    if (c == EOF && (!e->length || errno == EINTR)) {
        const bool stopped = errno == EINTR;
        clearerr(stdin);
        return stopped ? LINE_CANCELLED : LINE_ENDED;
    }
    e->text[e->length] = 0;
    if (e->length && e->text[e->length - 1] == '\r') e->text[--e->length] = 0;
    return LINE_READ;
}

line_result lineedit_read(lineedit *e, const char *prompt, const char **line,
                          size_t *length)
{
    line_result result;
    fflush(stdout);
    if (e->raw && terminal_raw()) {
        replace(e, "");
        e->prompt = prompt;
        e->at = e->h->count;
        fputs("\033[?2004h", stdout); /* tell pasted text from typed            */
        result = edit(e);
        fputs("\033[?2004l\n", stdout);
        fflush(stdout);
        terminal_cooked();
        if (result == LINE_READ) history_add(e->h, e->text);
    } else {
        result = read_plain(e, prompt);
        if (e->prompts && result != LINE_READ) fputc('\n', stderr);
    }
    *line = e->text;
    *length = e->length;
    return result;
}
