/* bounded.h: the one reader of untrusted bytes: a file in memory.
 *
 * The whole file is read in at once (or its head, where the rest may be left out), and ends
 * in a zero byte that isn't part of it: scanners may look at *p wherever p <= end, and stop
 * there of themselves. (Only what is checked by its length, .stt, is mapped: a mapping
 * could shrink under our hands.) Lines end in \n, \r or both, and are counted only for an
 * error's message.
 */
#ifndef STC_IO_BOUNDED_H
#define STC_IO_BOUNDED_H

#include "read.h"

#define INPUT_STEP ((int64_t)1 << 20) /* bytes between two looks at limits */

typedef struct input {
    ctx *cx;
    const char *path;
    const char *begin;
    const char *p, *end; /* where the reader stands; the final zero byte */
    const char *tick;    /* past it, progress is due                     */
    file_bytes file;     /* what input_close releases                    */
    int fd;              /* only the head is here, of `size` bytes; else -1 */
    int64_t size;
} input;

/* mapped: without the zero byte, see file_map. */
stc_status input_open(input *in, ctx *cx, const char *path, bool mapped);
/* Stands at the beginning of bytes that a zero byte follows, which aren't its own. */
void input_over(input *in, ctx *cx, const char *path, const char *bytes, int64_t len);
/* Only its head, where the file is large; input_complete gets the rest. Between them stands
 * a reader that can do without: what it finds wrong is found again. */
stc_status input_open_head(input *in, ctx *cx, const char *path);
stc_status input_complete(input *in); /* the reader's place is the beginning again */
void input_close(input *in);
/* Tells progress and looks for an interrupt, in the middle of parsing. */
stc_status input_tick(input *in);
static inline bool input_due(const input *in)
{
    return in->p >= in->tick;
}

/* An error about the text at a place, with its line and column. */
stc_status input_fail(const input *in, const char *at, const char *format, ...)
    ERROR_LIKE(3, 4);
/* The word that stands at a place, in quotes, for messages. */
typedef struct input_quote {
    char text[48];
} input_quote;
input_quote input_word(const input *in, const char *at);
int64_t input_line(const input *in, const char *at);
/* The end of a text that stcvm wrote, which has all of its lines, and `entries` of them are
 * entries (-1: it doesn't say how many): whether it was cut short. */
stc_status input_whole(const input *in, int64_t entries, int64_t found);
/* Whether the last line of the file has an end. */
bool input_ended(const input *in);
/* How many \n are left: an estimate of the number of lines. */
int64_t input_lines_left(const input *in);

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}
static inline bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}
static inline bool is_space(char c)
{
    return is_blank(c) || is_line_end(c);
}

/* True if what ends here is a whole word. */
static inline bool input_word_ends(const input *in, const char *p)
{
    return is_space(*p) || p == in->end;
}
static inline void input_skip_blanks(input *in)
{
    while (is_blank(*in->p))
        in->p++;
}
static inline bool input_at_line_end(const input *in)
{
    return is_line_end(*in->p) || in->p == in->end;
}
/* To the next word, over blanks, line ends, and lines that begin with
 * `comment`; false at the end of the file. */
bool input_next(input *in, char comment);
/* To the end of this line. */
void input_skip_line(input *in);

#endif
