/* in_parts.h: a program run in parts, one after the other in one machine, as machines that
 * share no memory would: each with operands that lack what the split says it doesn't need.
 */
#ifndef TESTS_IN_PARTS_H
#define TESTS_IN_PARTS_H

#include "../include/stcvm.h"

typedef struct parts {
    stc_program *p; /* bound                                                    */
    const char *name;
    int mode, count;
    const int64_t *bound; /* count + 1                                          */
    stc_tensor *(*operand)(void *context, const char *name);
    void *context;
} parts;

/* The result `target`, put together from what the parts made; the caller frees it.
 * STC_ERR_PROGRAM: it can't be split so. */
stc_status run_in_parts(const parts *x, const char *target, stc_tensor **out);

#endif
