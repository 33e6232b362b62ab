/* iterate.c: the stored entries of a tensor in blocks, for who asks for the next one.
 *
 * A walk (unpack.c) that pauses whenever the block is full.
 */
#include "internal.h"

struct stc_iter {
    walk w;
    entries block;
    uint64_t generation; /* of the tensor, when it was opened */
    bool ended;          /* there is no more, or a block failed */
};

stc_status tensor_iter_open(const tensor *t, int64_t most, stc_iter **out)
{
    stc_iter *it = mem_zero(t->cx, 1, sizeof *it);
    if (!it) return t->cx->diag.status;
    entries_init(&it->block, t->cx, t->order, t->type);
    it->w = (walk){.t = t, .batch = &it->block, .most = most};
    it->generation = t->generation;
    if (entries_reserve(&it->block, most)) {
        mem_free(t->cx, it, sizeof *it);
        return t->cx->diag.status;
    }
    *out = it;
    return STC_OK;
}

stc_status tensor_iter_next(stc_iter *it, const entries **out)
{
    const tensor *t = it->w.t;
    if (t->generation != it->generation)
        return fail(t->cx, STC_ERR_ARGUMENT,
                    "the tensor has changed since its iterator was opened");
    it->block.n = 0;
    if (!it->ended) {
        it->ended = true;
        const stc_status status = tensor_walk(&it->w);
        if (status) return status;
        it->ended = !it->w.paused;
    }
    *out = &it->block;
    return STC_OK;
}

ctx *tensor_iter_ctx(const stc_iter *it)
{
    return it->block.cx;
}

void tensor_iter_free(stc_iter *it)
{
    ctx *cx = it->block.cx;
    entries_free(&it->block);
    mem_free(cx, it, sizeof *it);
}
