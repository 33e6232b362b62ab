/* fibers.h: what handlers ask of loops, operands and levels before they take a run.
 * Each question is asked in one place, however many handlers ask it.
 */
#ifndef STC_VM_FIBERS_H
#define STC_VM_FIBERS_H

#include "../core/coords.h"
#include "../core/machine.h"

/* Whether the operand is located, at the loop's own coordinate. */
bool located_plainly(const merge_operand *o);
/* Whether a merge is of one operand, which is walked, and produces where that is. */
bool merge_walks_one(const merge_desc *m);
/* Whether it is of one operand, which is located, and produces at all coordinates where
 * that is, perhaps elsewhere, too. */
bool merge_ranges_one(const merge_desc *m);
/* The coordinates [*lo, *hi) that a merge goes through in this run. */
void merge_range(const machine *mc, const merge_desc *m, int64_t *lo, int64_t *hi);
/* Whether the level has all coordinates of a range; whether it has no others. */
bool level_covers(const level *lv, int64_t lo, int64_t hi);
bool level_inside(const level *lv, int64_t lo, int64_t hi);
/* All fibers of a level; VIEW_NONE where it has no table. */
void level_fibers(const level *lv, fiber_table *out);
/* Whether fibers are lists: coordinates side by side, between bounds of any width. */
bool fibers_listed(const fiber_table *t);
/* Where the fiber below `parent` begins. */
static inline int64_t fiber_bound(const fiber_table *t, int64_t parent)
{
    return t->bounds  ? index_at(t->bounds, t->bounds_width, parent)
           : t->slots ? parent * t->slots
                      : parent;
}
/* Whether fibers below positions of level l - 1 have all coordinates of a range, as ranges
 * or as lists that are full; then position p's are at p * extent + coordinate - base. */
bool fibers_cover(const tensor *t, int l, int64_t lo, int64_t hi);
/* The same of one fiber, of any coordinates that its level has: its positions ascend by
 * one. */
bool fiber_covers(const level *lv, const fiber_view *v);
/* The next n fibers of a result end where those do whose ends are given, `width` bytes
 * each, but `by` further on. */
void room_ends(const append_room *room, const void *from, int width, int n, int64_t by);

#endif
