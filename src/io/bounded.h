/* bounded.h: the one reader of untrusted bytes: a file in memory.
 *
 * The whole file is read in at once (a mapping could shrink under our hands),
 * and ends in a zero byte that isn't part of it: scanners may look at *p
 * wherever p <= end, and stop there of themselves. Lines end in \n, \r or both,
 * and are counted only when an error is told.
 */
#ifndef STC_IO_BOUNDED_H
#define STC_IO_BOUNDED_H

#include "../../formats/base/context.h"

#define INPUT_STEP ((int64_t)1 << 20) /* bytes between two looks at limits */

typedef struct input {
    ctx *cx;
    const char *path;
    char *begin;
    const char *p, *end; /* where the reader stands; the final zero byte */
    const char *tick;    /* past it, progress is due                     */
    size_t size;         /* of the block                                 */
} input;

stc_status input_open(input *in, ctx *cx, const char *path);
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
