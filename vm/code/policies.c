/* policies.c: the policies of workspaces by number and name.
 *
 * What the host registers is a list, a part of its machine's context; numbers hold within
 * that machine, and files have names.
 */
#include "policies.h"
#include <string.h>

typedef struct policy_row {
    stc_workspace_policy host;
    struct policy_row *next; /* registered before it */
    int number;
    char name[64];
} policy_row;

typedef struct policy_rows {
    policy_row *last;
} policy_rows;

static void rows_end(ctx *cx, void *part)
{
    policy_rows *all = part;
    while (all->last) {
        policy_row *r = all->last;
        all->last = r->next;
        mem_free(cx, r, sizeof *r);
    }
}

static const part_kind rows_kind = {sizeof(policy_rows), rows_end};

static const policy_row *last_of(const ctx *cx)
{
    const ctx *const own = cx->root ? cx->root : cx; /* a worker has its machine's */
    const policy_rows *all = ctx_has_part(own, &rows_kind);
    return all ? all->last : NULL;
}

static const policy_row *row_at(const ctx *cx, int policy)
{
    const policy_row *r = last_of(cx);
    while (r && r->number != policy)
        r = r->next;
    return r;
}

const char *policy_name(const ctx *cx, int policy)
{
    static const char *const names[WS_POLICY_COUNT] = {
        "auto",
#define WS_POLICY(NAME, name, meaning) #name,
#include "ws_policies.def"
    };
    if (policy >= 0 && policy < WS_POLICY_COUNT) return names[policy];
    const policy_row *r = row_at(cx, policy);
    return r ? r->name : NULL;
}

int policy_find(const ctx *cx, const char *name, size_t len)
{
    const char *own;
    for (int k = 0; (own = policy_name(cx, k)) != NULL; k++)
        if (strlen(own) == len && !memcmp(own, name, len)) return k;
    return -1;
}

const stc_workspace_policy *policy_host(const ctx *cx, int policy)
{
    const policy_row *r = row_at(cx, policy);
    return r ? &r->host : NULL;
}

stc_status policy_register(ctx *cx, const stc_workspace_policy *policy)
{
    const char *why = host_name_fault(policy->name, sizeof((policy_row *)0)->name);
    const int number = last_of(cx) ? last_of(cx)->number + 1 : WS_POLICY_COUNT;
    if (!why && !policy->find && !policy->sort) why = "it needs find or sort";
    if (!why && policy_find(cx, policy->name, strlen(policy->name)) >= 0)
        why = "there is one of that name already";
    if (!why && number >= POLICY_MAX) why = "there are 250 already";
    if (why)
        return fail(cx, STC_ERR_ARGUMENT, "the workspace policy can't be registered: %s",
                    why);
    policy_rows *all = ctx_part(cx, &rows_kind);
    policy_row *r = all ? mem_zero(cx, 1, sizeof *r) : NULL;
    if (!r) return cx->diag.status;
    *r = (policy_row){.host = *policy, .next = all->last, .number = number};
    memcpy(r->name, policy->name, strlen(policy->name));
    r->host.name = r->name;
    all->last = r;
    return STC_OK;
}
