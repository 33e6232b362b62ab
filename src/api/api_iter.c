/* api_iter.c: the stored entries of a tensor in blocks, over formats/iterate.c.
 */
#include "api.h"

enum { USUAL = 4096 }; /* entries of a block, where the host doesn't say */

stc_status stc_iter_open(const stc_tensor *t, int64_t most, stc_iter **out)
{
    API_CALL(t, t->cx);
    if (!out) return fail_null(t->cx, "out");
    if (most < 0)
        return fail(t->cx, STC_ERR_ARGUMENT,
                    "blocks of %lld entries; expected 1 or more, or 0 for the usual",
                    (long long)most);
    const stc_status st = tensor_check((tensor *)t); /* once per generation of the data */
    return st ? st : tensor_iter_open(t, most ? most : USUAL, out);
}

stc_status stc_iter_next(stc_iter *it, stc_block *out)
{
    API_CALL(it, tensor_iter_ctx(it));
    if (!out) return fail_null(cx, "out");
    const entries *e;
    const stc_status st = tensor_iter_next(it, &e);
    if (st) return st;
    *out = (stc_block){.count = e->n, .values = e->vals};
    for (int k = 0; k < e->order; k++)
        out->coord[k] = e->coord[k];
    return STC_OK;
}

void stc_iter_free(stc_iter *it)
{
    if (it && api_free_to(tensor_iter_ctx(it))) tensor_iter_free(it);
}
