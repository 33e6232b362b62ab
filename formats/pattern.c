/* pattern.c: index arrays that several tensors have.
 *
 * Of C(i,j) = 2 * A(i,j) in A's format only the values are new. A's index arrays move to a
 * tensor without values, its pattern, which A and C have both, each as it has what a host
 * lends: neither frees nor changes them, and a tensor that needs others makes its own (copy
 * on write). The last tensor with a pattern frees it. All of them are one machine's, and a
 * machine is one thread's at a time, so that nothing is counted atomically; worker threads
 * don't share.
 *
 * Arrays that aren't the library's stay where they are: what a host lends, or a file has,
 * ends when they say so.
 */
#include "internal.h"
#include <string.h>

bool tensor_shares_pattern(const tensor *t)
{
    if (t->cx->root || t->backing || t->unmade) return false;
    for (int l = 0; l < t->fmt.levels; l++)
        for (int r = 0; r < 3; r++) {
            const index_array *a = &t->level[l].a[r];
            if (a->data && !a->shared && (!a->owned || a->stride != a->width)) return false;
        }
    return true;
}

/* Its arrays are its pattern's from now on. */
static stc_status move_to_pattern(tensor *t)
{
    tensor *p = mem_zero(t->cx, 1, sizeof *p);
    if (!p) return t->cx->diag.status;
    p->cx = t->cx;
    p->fmt = t->fmt;
    for (int l = 0; l < t->fmt.levels; l++)
        for (int r = 0; r < 3; r++) {
            index_array *a = &t->level[l].a[r];
            p->level[l].a[r] = *a;
            a->cap = a->len;
            a->shared = a->data != NULL;
            a->owned = !a->shared;
        }
    t->pattern = p;
    return STC_OK;
}

stc_status tensor_take_pattern(tensor *t, tensor *from)
{
    if (!from->pattern && move_to_pattern(from)) return t->cx->diag.status;
    for (int l = 0; l < t->fmt.levels; l++) {
        level *lv = &t->level[l];
        const level *of = &from->level[l];
        for (int r = 0; r < 3; r++) {
            index_free(t->cx, &lv->a[r]);
            lv->a[r] = of->a[r];
        }
        lv->size = of->size;
    }
    from->pattern->sharers++;
    tensor_leave_pattern(t);
    t->pattern = from->pattern;
    return STC_OK;
}

void tensor_leave_pattern(tensor *t)
{
    tensor_free(t->pattern);
    t->pattern = NULL;
}

stc_status tensor_own_pattern(tensor *t)
{
    index_array own[STC_MAX_ORDER][3] = {{{0}}};
    stc_status status = STC_OK;
    if (!t->pattern) return STC_OK;
    for (int k = 0; k < 3 * t->fmt.levels && !status; k++) {
        const index_array *a = &t->level[k / 3].a[k % 3];
        if (!a->shared) continue;
        index_init(&own[k / 3][k % 3], 0, a->width);
        status = index_resize(t->cx, &own[k / 3][k % 3], a->len);
        if (!status && a->len)
            memcpy(own[k / 3][k % 3].data, a->data, (size_t)a->len * (size_t)a->width);
    }
    for (int k = 0; k < 3 * t->fmt.levels; k++) {
        index_array *a = &t->level[k / 3].a[k % 3];
        if (!a->shared) continue;
        if (status)
            index_free(t->cx, &own[k / 3][k % 3]);
        else
            *a = own[k / 3][k % 3];
    }
    if (!status) tensor_leave_pattern(t);
    return status;
}
