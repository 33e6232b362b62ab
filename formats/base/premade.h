/* premade.h: blocks whose pages are made while the disk is waited for.
 *
 * A page of memory costs when it is touched first, and most where the machine is a guest
 * that gets it from another. A step that will fill what a cap allows can say so before its
 * operands are read: a thread touches its blocks meanwhile. They count against the cap, but
 * whoever asks for more than is left gets theirs.
 */
#ifndef STC_FORMATS_PREMADE_H
#define STC_FORMATS_PREMADE_H

#include "context.h"

enum {
    PREMADE_MAX = 24,
    PREMADE_LEFT = 4 /* which part of a cap is left to others */
};

/* Up to n blocks of so many bytes, in place of those that there are. */
void premade_begin(ctx *root, size_t size, int n);
/* One of them, which is the caller's as if it were from mem_alloc. NULL: there is none. */
void *premade_take(ctx *root, size_t size);
/* Frees those that are left, as far as nobody works on them; whether there was one. */
bool premade_yield(ctx *root);
/* Frees all that are left. */
void premade_end(ctx *root);

#endif
