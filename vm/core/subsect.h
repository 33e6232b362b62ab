/* subsect.h: subsections of a level whose coordinate isn't known yet.
 *
 * While some indices of an affine subscript are still free, the level can't
 * stand on a coordinate; but its coordinate is known to lie in a window
 * [o, o + size). A *subsection* is what is stored in such a window, and a loop
 * visits the offsets o of those that aren't empty (convolutions paper, §3.1).
 */
#ifndef STC_VM_SUBSECT_H
#define STC_VM_SUBSECT_H

#include "../code/program.h"

/* One of the fibers that a subsection spans, with its parent. */
typedef struct subsect_fiber {
    cursor up, c;
} subsect_fiber;

/* Stored coordinates [lo, hi). */
typedef struct subsect_run {
    int64_t lo, hi;
} subsect_run;

/* What one `subsect` instruction keeps while its cursor is in use. */
typedef struct subsect {
    level lv;        /* first: the offsets, as a level that a cursor walks      */
    const level *of; /* the level itself                                        */
    int64_t size;    /* of the window                                           */
    subsect_fiber *fiber;
    int64_t n, cap;
    bool reversed; /* offsets come from the last to the first: the cursor's are
                      their negatives                                             */
    fiber_table t; /* … of the only fiber, which has coordinates in an array from */
    int64_t begin; /* this position on; or all runs are listed beforehand         */
    subsect_run *run;
    int64_t nrun, run_cap; /* runs that aren't passed yet                         */
} subsect;

/* Opens c over the offsets of the non-empty subsections of `of`, `size` wide:
 * below up, which stands on a coordinate (NULL: the root), on a subsection of
 * the level above, or on a wider one of the same level. Reversed, c gives the
 * negatives of the offsets. */
stc_status subsect_begin(ctx *cx, subsect *s, const level *of, int64_t size, bool reversed,
                         const cursor *up, cursor *c);
void subsect_free(ctx *cx, subsect *s);

#endif
