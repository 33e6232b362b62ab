/* keep.h: code at a program's beginning that runs may leave out (keep.c). */
#ifndef STC_VM_KEEP_H
#define STC_VM_KEEP_H

#include "../core/machine.h"

/* All of programs of which something is kept. Whether this run, whose operands and extents
 * are known by now, may begin behind it. */
bool keep_holds(const machine *mc);
/* A run has succeeded: what it read. */
void keep_note(machine *mc);
/* Where the code begins that always runs. */
const lop *keep_end(const machine *mc);

#endif
