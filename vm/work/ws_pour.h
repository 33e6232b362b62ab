/* ws_pour.h: workspaces of several machines that add to one, put together. */
#ifndef STC_VM_WS_POUR_H
#define STC_VM_WS_POUR_H

#include "../core/machine.h"

/* Whether a workspace can be put together from several. */
bool ws_pours(const prog_tensor *row);
/* Begins one in s beside that of another machine; false: there is no memory for the like.
 */
bool ws_begin_beside(machine *mc, slot *s, const slot *of);
/* All that the other machine has in `of` comes behind what is in s, and `of` is empty then.
 * `at` is an instruction of mc's that adds to s. */
stc_status ws_pour(machine *mc, slot *s, machine *other, slot *of, const lop *at);

#endif
