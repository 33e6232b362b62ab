/* lineedit.h: one line of input, edited on a terminal where there is one.
 *
 * After linenoise (Sanfilippo): plain termios and a handful of escape
 * sequences, one screen line that scrolls sideways, so that it works in any
 * window. Where standard input isn't a terminal, or TERM is dumb, lines are
 * just read.
 */
#ifndef STCVM_LINEEDIT_H
#define STCVM_LINEEDIT_H

#include <stdbool.h>
#include <stddef.h>

/* ---- completion ----------------------------------------------------------- */

typedef struct completions {
    size_t start; /* of the word that the candidates stand for, in the line   */
    char **text;
    int count, room;
} completions;

void completions_add(completions *c, const char *text); /* each text once       */
void completions_sort(completions *c);
/* The bytes with which all of them begin, whole characters; there is one. */
size_t completions_common(const completions *c);
/* In columns, as many as the window takes. */
void completions_print(const completions *c);
void completions_free(completions *c);
/* Fills *out with what the word before the cursor could become. A candidate
 * that ends in '/' or '"' is taken as it is, others get a blank after them. */
typedef void (*complete_fn)(void *context, const char *line, size_t cursor,
                            completions *out);

/* ---- history -------------------------------------------------------------- */

typedef struct history {
    char **line;
    int count, room;
    char *path; /* where each line is appended; NULL: nowhere                 */
} history;

/* Reads the file's last lines, if there is one; takes over path. */
void history_open(history *h, char *path);
/* Adds a line unless it is blank or repeats the last one. */
void history_add(history *h, const char *line);
void history_close(history *h);

/* ---- the terminal (terminal.c) --------------------------------------------- */

/* What a key means; a byte of text is itself (0 to 255). */
enum {
    KEY_NONE = 256, /* nothing of interest                                     */
    KEY_END_OF_INPUT,
    KEY_RESIZED, /* the window changed, or a signal came                       */
    KEY_UP,
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_HOME,
    KEY_END,
    KEY_DELETE,
    KEY_WORD_LEFT,
    KEY_WORD_RIGHT,
    KEY_WORD_DELETE,
    KEY_PASTE,  /* what follows was pasted …                                  */
    KEY_PASTED, /* … up to here                                               */
};

bool terminal_raw(void); /* keys arrive one by one; false: not possible         */
void terminal_cooked(void);
int terminal_key(void);
bool terminal_waiting(void); /* a key is there already                         */
/* The columns that a text of UTF-8 takes, and the bytes of its first
 * character. */
int text_width(const char *text, size_t length);
size_t char_length(const char *text, size_t length);

/* ---- the editor ------------------------------------------------------------- */

typedef struct lineedit lineedit;
/* LINE_LONG: there is more of it than may be read. */
typedef enum line_result { LINE_READ, LINE_ENDED, LINE_CANCELLED, LINE_LONG } line_result;

/* most: bytes of a line that comes from a file or a pipe. */
lineedit *lineedit_new(history *h, complete_fn complete, void *context, size_t most);
void lineedit_free(lineedit *e);
/* Whether a person types: there are prompts. */
bool lineedit_prompts(const lineedit *e);
/* One line without its newline, valid until the next call; *length counts
 * zero bytes in it, too. */
line_result lineedit_read(lineedit *e, const char *prompt, const char **line,
                          size_t *length);

#endif
