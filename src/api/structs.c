/* structs.c: structs that begin with their size, read and written whatever version of the
 * header the host was compiled with; as Linux has it for perf_event_attr.
 */
#include "structs.h"
#include <string.h>

static size_t size_of(const void *at, size_t first)
{
    size_t size;
    memcpy(&size, at, sizeof size);
    return size ? size : first;
}

bool struct_taken(const void *from, size_t first, void *to, size_t ours)
{
    const size_t size = size_of(from, first);
    if (size < sizeof size) return false;
    for (size_t k = ours; k < size; k++)
        if (((const char *)from)[k]) return false;
    memset(to, 0, ours);
    memcpy(to, from, size < ours ? size : ours);
    memcpy(to, &ours, sizeof ours);
    return true;
}

stc_status struct_take(ctx *cx, const char *what, const void *from, size_t first, void *to,
                       size_t ours)
{
    if (struct_taken(from, first, to, ours)) return STC_OK;
    return fail(cx, STC_ERR_ARGUMENT,
                "%s of %zu bytes has fields that this version doesn't know; expected %zu "
                "bytes, or zeros behind them",
                what, size_of(from, first), ours);
}

void struct_give(void *to, size_t first, const void *from, size_t ours)
{
    const size_t size = size_of(to, first), skip = sizeof size;
    if (size <= skip) return;
    memset((char *)to + skip, 0, size - skip);
    memcpy((char *)to + skip, (const char *)from + skip,
           (size < ours ? size : ours) - skip);
}

stc_status decls_take(ctx *cx, const stc_decl **decls, int count, stc_decl **made)
{
    *made = NULL;
    if (!count) return STC_OK;
    const char *const from = (const void *)*decls;
    const size_t step = size_of(from, DECL_0_2);
    if (step < sizeof step)
        return fail(cx, STC_ERR_ARGUMENT, "the declarations' size is %zu", step);
    for (int i = 0; i < count; i++) {
        const size_t size = size_of(from + (size_t)i * step, step);
        if (size == step) continue;
        return fail(cx, STC_ERR_ARGUMENT,
                    "declaration %d has size %zu, and those before it %zu; expected one "
                    "size in an array",
                    i, size, step);
    }
    if (step == sizeof **decls) return STC_OK;
    stc_decl *const copy = mem_zero(cx, count, sizeof *copy);
    if (!copy) return cx->diag.status;
    stc_status st = STC_OK;
    for (int i = 0; i < count && !st; i++)
        st = struct_take(cx, "a declaration", from + (size_t)i * step, step, &copy[i],
                         sizeof *copy);
    if (st) {
        decls_drop(cx, copy, count);
        return st;
    }
    *decls = *made = copy;
    return STC_OK;
}

void decls_drop(ctx *cx, stc_decl *made, int count)
{
    if (made) mem_free(cx, made, (size_t)count * sizeof *made);
}
