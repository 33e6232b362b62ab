/* binsparse.h: what the reader and the writer of Binsparse share (binsparse.c).
 */
#ifndef STC_IO_BINSPARSE_H
#define STC_IO_BINSPARSE_H

#include "npy.h"

#define BINSPARSE_JSON "binsparse.json"

/* The levels as one letter each: d for a dense one, the rank for a sparse one of so many
 * dimensions, '1' or more. */
typedef struct binsparse_name {
    const char *name, *levels;
    bool turned; /* columns first */
} binsparse_name;

/* The formats that have a name; of those alike the first is written. */
extern const binsparse_name binsparse_names[];
enum { BINSPARSE_NAMES = 13 };

/* The words for types; bool is "bint8", complex ones are two of their parts. */
const char *binsparse_type(stc_type t);

stc_status binsparse_read(array_store *a, const file_bytes *descriptor, io_result *out);

#endif
