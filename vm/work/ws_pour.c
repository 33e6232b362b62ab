/* ws_pour.c: workspaces of several machines that add to one, put together.
 *
 * Each machine begins one beside that of the first, with as much room as the shape asks
 * for. In the end each is poured into the first: its entries, in order, come behind what
 * there is, and meet it by the function that both were added to by, which associates. A
 * workspace in which nothing is takes the other as a whole. (vm/threads/parallel_meet.c)
 */
#include "ws_pour.h"
#include "ws.h"

bool ws_pours(const prog_tensor *row)
{
    const format *f = &row->fmt;
    return row->policy < WS_POLICY_COUNT &&
           !(f->levels == 1 && f->level[0].kind->append_regions);
}

bool ws_begin_beside(machine *mc, slot *s, const slot *of)
{
    if (ws_begin(mc, s) || s->ws->kind != of->ws->kind) return false;
    return s->ws->kind != &ws_kind_dense || !ws_touch_room(mc, s->ws, s->ws->extent);
}

static bool is_empty(const workspace *w)
{
    return !w->n && !w->acc.n && !w->all.n;
}

static void take(machine *mc, slot *s, slot *of, const lop *at)
{
    workspace *const w = of->ws;
    of->ws = s->ws;
    s->ws = w;
    w->mc = mc;
    w->call = at;
}

/* Full words of its bits as lines, and else one by one: all in order. */
static stc_status pour_dense(machine *mc, slot *s, const workspace *from, const lop *at)
{
    const char *vals = from->dense;
    int64_t left = from->n;
    for (int64_t word = 0; left; word++) {
        const uint64_t set = from->set[word];
        const int64_t lo = word * 64, n = ~set ? 1 : 64;
        for (uint64_t b = set; b; b = n > 1 ? 0 : b & (b - 1), left -= n) {
            const int64_t i = lo + __builtin_ctzll(b);
            if (ws_add_line(mc, s, i, vals + i * from->size, n, at))
                return mc->cx->diag.status;
        }
    }
    return STC_OK;
}

/* Entries of one that is kept otherwise. */
static stc_status pour_each(machine *mc, slot *s, const workspace *from, const lop *at)
{
    const tensor *t = s->own;
    const bool dense = from->kind == &ws_kind_dense;
    const int64_t n = dense ? from->n : from->all.n;
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = dense ? from->touched[k] : k;
        const value v =
            type_load(class_type(from->cls), dense ? from->dense : from->all.val, i);
        int64_t coords[STC_MAX_ORDER];
        for (int m = 0; m < t->order; m++)
            coords[m] =
                dense ? i / from->stride[m] % t->shape[m]
                      : ws_label_coord(&from->form, ws_label_of(from, &from->all, k), m);
        if (ws_add(mc, s, coords, from->fn, (vclass)from->cls, &v, at))
            return mc->cx->diag.status;
    }
    return STC_OK;
}

stc_status ws_pour(machine *mc, slot *s, machine *other, slot *of, const lop *at)
{
    workspace *const from = of->ws, *const to = s->ws;
    stc_status st = STC_OK;
    if (is_empty(from)) return STC_OK;
    if (ws_pipe_wait(mc, to, at)) return mc->cx->diag.status;
    if (is_empty(to)) {
        take(mc, s, of, at);
        return STC_OK;
    }
    if (from->acc.n) st = ws_flush(other, from, at, false);
    if (st) {
        mc->cx->diag = other->cx->diag;
    } else if (!ws_use(mc, to, from->fn, at)) {
        const bool both = to->kind == from->kind;
        st = !both || (to->kind == &ws_kind_dense && s->row->order > 1)
                 ? pour_each(mc, s, from, at)
             : to->kind == &ws_kind_dense ? pour_dense(mc, s, from, at)
                                          : ws_merge_sorted(mc, to, &from->all, at);
    }
    if (from->kind->clear) from->kind->clear(from);
    from->all.n = 0;
    return mc->cx->diag.status;
}
