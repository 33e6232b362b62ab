/* affine_store.c: an affine nest whose sums are stored in order, where the result's
 * last level appends: `C(i,j) = A(i+p,j+q) * F(p,q)` into csr, with the loops of the
 * filter innermost.
 *
 * The loops p and q would look for what A has around each j. Instead the entries around
 * the row add to an accumulator over all j (Gustavson's row), which then goes into the
 * result in order. Stored are the places that are added to: the program asks which sums
 * had a term, as those of the planner do where a result leaves coordinates out.
 */
#include "affine.h"
#include "../super/scatter.h"
#include "../work/ws.h"
#include <string.h>

enum { SUMS_MAX = 1 << 22 }; /* places of an accumulator */

/* An accumulator for so many places; false: there is no room. */
static bool make_sums(machine *mc, affine *a, int64_t places)
{
    if (a->sums && a->sums->extent >= places) return true;
    affine_store_release(mc, a);
    workspace *w = a->sums = mem_zero(mc->cx, 1, sizeof *w);
    if (!w) {
        diag_clear(mc->cx); /* there is another way */
        return false;
    }
    w->cls = a->cls;
    w->size = (uint8_t)type_size(class_type((vclass)a->cls));
    w->extent = places;
    w->set = mem_zero(mc->cx, places / 64 + 1, sizeof *w->set);
    w->dense = w->set ? mem_array(mc->cx, places, w->size) : NULL;
    if (w->dense) return true;
    affine_store_release(mc, a);
    diag_clear(mc->cx);
    return false;
}

static drain drain_of(machine *mc, const affine *a)
{
    return (drain){.result = a->sink.a,
                   .level = a->place[a->sink.b].level,
                   .at = a->sink.at,
                   .cursor = &mc->c[a->cursor]};
}

bool affine_store_ready(machine *mc, affine *a)
{
    const slot *s = &mc->slot[a->sink.a];
    const level *lv = &s->t->level[a->place[a->sink.b].level];
    const value start = mc->p->konst[a->start].v, zero = {0};
    const drain d = drain_of(mc, a);
    return !memcmp(&start, &zero, sizeof zero) && lv->base == 0 && lv->extent > 0 &&
           lv->extent <= SUMS_MAX &&
           affine_line_of(mc, &a->place[a->sink.b].at, &a->line[0]) &&
           affine_within(a, &a->line[0], 0, lv->extent) &&
           drain_serves(mc, &d, lv->extent, class_type((vclass)a->cls)) &&
           make_sums(mc, a, lv->extent);
}

stc_status affine_store_begin(machine *mc, affine *a)
{
    workspace *w = a->ws = a->sums;
    ws_untouch(w); /* a run may have failed in the middle */
    a->out = w->dense;
    return ws_touch_room(mc, w, affine_most_touched(mc, a, w->extent) + 1);
}

stc_status affine_store_end(machine *mc, affine *a)
{
    const drain d = drain_of(mc, a);
    const linear_place *up = &a->place[a->place[a->sink.b].up];
    return drain_sums(mc, &d, a->ws, up->kind == LINEAR_ROOT ? NULL : &mc->c[up->cursor]);
}

void affine_store_release(machine *mc, affine *a)
{
    workspace *w = a->sums;
    if (!w) return;
    mem_free(mc->cx, w->set, (size_t)(w->extent / 64 + 1) * sizeof *w->set);
    if (w->dense) mem_free(mc->cx, w->dense, (size_t)w->extent * w->size);
    mem_free(mc->cx, w->touched, (size_t)w->cap * sizeof *w->touched);
    mem_free(mc->cx, w->scratch, (size_t)w->scratch_cap * sizeof *w->scratch);
    mem_free(mc->cx, w, sizeof *w);
    a->sums = NULL;
}
