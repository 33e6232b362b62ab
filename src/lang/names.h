/* names.h: things by name: an array of pointers in the order in which they were
 * added, and an open-addressed index over it (Knuth, vol. 3, 6.4). Every item
 * begins with its name, which it owns; items are the caller's.
 */
#ifndef STC_LANG_NAMES_H
#define STC_LANG_NAMES_H

#include "../../formats/base/context.h"

typedef struct named {
    char *name;
} named;

typedef struct names {
    void **item;
    int64_t count, cap;
    int32_t *bucket; /* number of an item + 1, 0: free; a power of two of them */
    int64_t buckets;
} names;

void *names_find(const names *t, const char *name);
/* Makes room for one more item: after it, names_add can't fail. */
bool names_room(ctx *cx, names *t);
void names_add(names *t, void *item);
/* Takes out an item that is there. Quick for the one added last. */
void names_remove(names *t, const void *item);
void names_free(ctx *cx, names *t);

#endif
