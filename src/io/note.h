/* note.h: the comment by which a text file of ours comes back as what it was: its element
 * type, its order, and its format where that has a name.
 *
 *     %stcvm bool 1 svec
 */
#ifndef STC_IO_NOTE_H
#define STC_IO_NOTE_H

#include "../../formats/tensor.h"

typedef struct note {
    bool found, formatted;
    stc_type type;
    int order;
    format fmt;
} note;

/* The note of a tensor, without the sign of a comment before it and a line end. */
enum { NOTE_SIZE = 96 };
void note_print(const tensor *t, char text[NOTE_SIZE]);
/* The note that the text begins with; it ends at a line's end or a zero byte. Whatever
 * isn't one is a comment like any other, and not found. */
void note_read(const char *text, note *out);

#endif
