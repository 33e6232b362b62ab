/* compile.h: one bound assignment into a program: plan, lattice, lower.
 *
 * stage_texts, where not NULL, receives what `explain` prints of the stages
 * in between. times gets the microseconds of plan and lower added.
 */
#ifndef STC_COMPILE_H
#define STC_COMPILE_H

#include "lang/lang.h"

typedef struct stage_texts {
    textbuf *plan, *lattice;
} stage_texts;

/* Appends the statement's code to p (without halt). On return the target's
 * row in p->tensor has its format, type, and fill (or fill_later). */
stc_status compile_assignment(arena *a, program *p, const source *src, bstmt *s,
                              stage_texts *texts, stc_times *times);

#endif
