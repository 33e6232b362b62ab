/* deliver.c: results in the host's memory. Dense ones are assembled there (asm_begin gives
 * their values the room); what was made elsewhere (sparse results, operands that are
 * changed, what was converted, packed or kept) is copied there when a run has ended.
 */
#include "../core/machine.h"

void machine_lend(machine *mc, int id, void *vals, int64_t n, bool made_there)
{
    slot *s = &mc->slot[id];
    tensor_free(s->own);
    s->own = s->t = NULL;
    s->from = NULL;
    s->lent = vals;
    s->nlent = n;
    s->lent_room = made_there && vals;
    mc->lends = true;
}

stc_status machine_lend_array(machine *mc, int id, int l, stc_array_role role,
                              index_array room)
{
    slot *s = &mc->slot[id];
    const int n = 3 * s->row->fmt.levels;
    if (!s->lent_at && !(s->lent_at = mem_zero(mc->cx, n, sizeof *s->lent_at)))
        return mc->cx->diag.status;
    s->lent_at[3 * l + (int)role] = room;
    mc->lends = true;
    return STC_OK;
}

void deliver_free(machine *mc, slot *s)
{
    mem_free(mc->cx, s->lent_at,
             s->lent_at ? 3 * (size_t)s->row->fmt.levels * sizeof *s->lent_at : 0);
}

static stc_status too_little(const machine *mc, const slot *s, const char *what,
                             int64_t has, int64_t room)
{
    return fail(mc->cx, STC_ERR_SHAPE,
                "result %s has %lld %s; the memory lent for it has room for %lld",
                s->row->name, (long long)has, what, (long long)room);
}

/* Whether there is room for all of it. */
static stc_status find_room(const machine *mc, const slot *s)
{
    const tensor *t = s->t;
    if (s->lent && t->nvals > s->nlent)
        return too_little(mc, s, "elements", t->nvals, s->nlent);
    for (int k = 0; s->lent_at && k < 3 * t->fmt.levels; k++) {
        const index_array *to = &s->lent_at[k], *from = &t->level[k / 3].a[k % 3];
        if (to->data && from->len > to->len)
            return too_little(mc, s, k % 3 == STC_POS ? "bounds" : "coordinates", from->len,
                              to->len);
    }
    return STC_OK;
}

static stc_status copy_indices(const machine *mc, const slot *s, const index_array *from,
                               index_array *to)
{
    ctx *const cx = mc->cx;
    if (from->width == to->width && from->stride == from->width && to->stride == to->width)
        return work_copy(cx, to->data, from->data, (size_t)from->len * (size_t)to->width);
    int64_t i = 0;
    for (int64_t end; (end = work_block(cx, i, from->len)) > i;)
        for (; i < end; i++) {
            const int64_t v = index_get(from, i);
            if (to->width == 4 && v != (int32_t)v)
                return fail(cx, STC_ERR_OVERFLOW,
                            "result %s has %lld in an array; the memory lent for it has 4 "
                            "bytes a number",
                            s->row->name, (long long)v);
            index_set(to, i, v);
        }
    return i < from->len ? cx->diag.status : STC_OK;
}

static stc_status deliver_one(const machine *mc, slot *s)
{
    tensor *const t = s->t;
    stc_status st = find_room(mc, s);
    for (int k = 0; !st && s->lent_at && k < 3 * t->fmt.levels; k++)
        if (s->lent_at[k].data)
            st = copy_indices(mc, s, &t->level[k / 3].a[k % 3], &s->lent_at[k]);
    if (st || !s->lent || t->vals == s->lent) return st;
    st = work_copy(mc->cx, s->lent, t->vals, (size_t)t->nvals * type_size(t->type));
    tensor *const operand = s->bound;
    if (operand && operand->vals == s->lent) { /* other values, as sound as before */
        const bool sound = operand->checked == operand->generation;
        operand->generation++;
        if (sound) operand->checked = operand->generation;
    }
    return st;
}

stc_status deliver_results(machine *mc)
{
    stc_status st = STC_OK;
    for (int i = 0; i < mc->p->ntensor; i++) {
        slot *s = &mc->slot[i];
        if (s->own && s->own->vals_room && s->own->vals != s->lent)
            tensor_leave_room(s->own);
        if (s->t && (s->lent || s->lent_at) && !st) st = deliver_one(mc, s);
    }
    return st;
}
