/* faults.c: errors of a run, with their place in the source and the coordinates of the
 * loops around it.
 */
#include "machine.h"
#include <stdio.h>

/* " at (3,5)": the coordinates of the loops around lop `at`, outermost first. */
static void coordinates(const machine *mc, const lop *at, char *buf, size_t size)
{
    const loop *around[64];
    int n = 0, place = (int)(at - mc->code);
    for (int i = 0; i < mc->nloop && n < 64; i++)
        if (mc->loops[i].first < place && place <= mc->loops[i].last)
            around[n++] = &mc->loops[i];
    size_t len = 0;
    buf[0] = 0;
    for (int i = 0; i < n && len < size; i++)
        len += (size_t)snprintf(buf + len, size - len, "%s%lld", i ? "," : " at (",
                                (long long)around[i]->i);
    if (n && len + 1 < size) snprintf(buf + len, size - len, ")");
}

stc_status machine_fail(machine *mc, const lop *at, stc_status status, const char *text,
                        ...)
{
    char message[512], where[200];
    if (mc->depth > 0) at = mc->call_site;
    va_list args;
    va_start(args, text);
    vsnprintf(message, sizeof message, text, args);
    va_end(args);
    coordinates(mc, at, where, sizeof where);
    const program *p = mc->p;
    if (!p->source) return fail(mc->cx, status, "%s%s", message, where);
    span place = p->at[mc->origin[at - mc->code]];
    return fail_text(mc->cx, status, p->file, p->source, place, "%s%s", message, where);
}

stc_status machine_host_failed(machine *mc, const lop *at, stc_status status,
                               const char *why)
{
    const bool merges = mc->p->code[mc->origin[at - mc->code]].op == OP_WSCALL;
    const char *name = merges ? at->u.ufn->name : at->u.host->of->name;
    if (!why) return machine_fail(mc, at, status, "the function `%s` failed", name);
    return machine_fail(mc, at, status, "`%s`: %s", name, why);
}

stc_status machine_unbounded(machine *mc, const lop *at, int64_t i)
{
    return machine_fail(mc, at, STC_ERR_SHAPE,
                        "this subscript is %lld, and the dimension has size %lld",
                        (long long)i, (long long)mc->ext[at->arg[1]]);
}

stc_status machine_fault(machine *mc, const lop *at, fn_fault fault)
{
    if (fault == FAULT_HOST) return mc->cx->diag.status;
    return machine_fail(mc, at, STC_ERR_ARITHMETIC, "%s",
                        fault == FAULT_DIVIDE ? "integer division by zero"
                                              : "a negative exponent of an integer power");
}
