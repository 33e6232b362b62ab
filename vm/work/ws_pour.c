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
static stc_status pour_dense(machine *mc, slot *s, workspace *from, const lop *at)
{
    const char *vals = from->dense;
    int64_t left = from->n;
    ws_spell_out(from);
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

/* Accumulators both, or lists both: one may have turned into the other since it began. */
static stc_status make_alike(machine *mc, slot *s, machine *other, slot *of, const lop *at)
{
    machine *const who = s->ws->kind == &ws_kind_dense ? other : mc;
    slot *const lists = who == mc ? s : of;
    if (s->ws->kind == of->ws->kind) return STC_OK;
    if (ws_turn_dense(who, lists, at)) return who->cx->diag.status;
    if (lists->ws->kind == &ws_kind_dense) return STC_OK;
    return fail(who->cx, STC_ERR_MEMORY, "there is no room for an accumulator");
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
    if (!st) st = make_alike(mc, s, other, of, at);
    if (st && !mc->cx->diag.status) mc->cx->diag = other->cx->diag;
    if (!st && !ws_use(mc, to, from->fn, at))
        st = to->kind == &ws_kind_dense ? pour_dense(mc, s, from, at)
                                        : ws_merge_sorted(mc, to, &from->all, at);
    if (from->kind->clear) from->kind->clear(from);
    from->all.n = 0;
    return mc->cx->diag.status;
}
