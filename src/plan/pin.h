/* pin.h: loops over an index of which an equality says what it is: pin.c. */
#ifndef STC_PLAN_PIN_H
#define STC_PLAN_PIN_H

#include "plan.h"

/* How far accesses are read where a loop begins. */
typedef struct pinned_reads {
    uint64_t before, bound; /* the indices that are known outside of it, and inside */
    uint64_t certain;       /* accesses that are stored, as far as resolved         */
    const int *depth;       /* levels resolved, by access                           */
} pinned_reads;

/* What a loop's index equals, if that is known and can be used; `outer` is the innermost
 * loop that it is in, NULL: none. */
pin pin_of(plan *pl, const cin *loop, const pinned_reads *reads, const cin *outer);

#endif
