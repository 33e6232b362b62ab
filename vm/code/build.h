/* build.h: rows of a program's tables added as they are, for the readers of
 * .stb files and of assembly, which must not share what was written twice.
 * Everything else builds through program.h.
 */
#ifndef STC_VM_BUILD_H
#define STC_VM_BUILD_H

#include "program.h"

/* Each returns the row's number, or -1 with the diag filled. */
int program_push_const(program *p, constant k);
int program_push_extent(program *p, extent e);
/* Room for n instructions in all, so that code isn't moved while it grows. */
stc_status program_reserve(program *p, int n);

/* How many values of each kind a program may have: operands are 16 bits, and
 * 0xffff means ROOT. */
#define TABLE_MAX 0xffff
#define CODE_MAX (1 << 22)

#endif
