/* policies.h: the policies of workspaces by number and name: those of ws_policies.def, and
 * behind them what the host registered, in that order.
 */
#ifndef STC_VM_POLICIES_H
#define STC_VM_POLICIES_H

#include "program.h"

enum { POLICY_MAX = UINT8_MAX }; /* a program's row has a byte for it */

/* NULL: there is no such policy. */
const char *policy_name(const ctx *cx, int policy);
/* -1: none has that name. */
int policy_find(const ctx *cx, const char *name, size_t len);
/* One that the host registered; NULL: it is none of these. */
const stc_workspace_policy *policy_host(const ctx *cx, int policy);
stc_status policy_register(ctx *cx, const stc_workspace_policy *policy);

#endif
