/* affine_store.c: an affine nest whose sums are stored in order, where the result's
 * last level appends: `C(i,j) = A(i+p,j+q) * F(p,q)` into csr, with the loops of the
 * filter innermost.
 *
 * The loops p and q would look for what A has around each j. Instead the entries around
 * the row add to an accumulator over all j (Gustavson's row), which then goes into the
 * result in order. Stored are the places that are added to, if the program asks which sums
 * had a term. If it doesn't, those that the loop over j visits: all, or those whose
 * subsections aren't empty; these are the ones that are added to, if every coordinate of
 * a subsection is led to by some indices, at each level by others.
 */
#include "affine.h"
#include "../super/scatter.h"
#include "../work/ws.h"
#include <string.h>

enum { SUMS_MAX = 1 << 22 }; /* places of an accumulator */

/* Whether the indices but the first reach each coordinate of the window that they span. */
static bool fills_window(const affine *a, const affine_line *x)
{
    uint64_t left = 0;
    int64_t reach = 0; /* all of 0 … reach can be made so far */
    for (int d = 1; d < a->nindex; d++)
        if (x->coef[d]) left |= UINT64_C(1) << d;
    while (left) {
        bool found = false;
        for (int d = 1; d < a->nindex; d++) {
            const int64_t c = x->coef[d] < 0 ? -x->coef[d] : x->coef[d];
            int64_t more;
            if (!(left >> d & 1) || c > reach + 1) continue;
            if (__builtin_mul_overflow(c, a->hi[d] - a->lo[d] - 1, &more) ||
                __builtin_add_overflow(reach, more, &reach))
                return false;
            left &= ~(UINT64_C(1) << d);
            found = true;
        }
        if (!found) return false;
    }
    return true;
}

/* Whether what is added to is what the loop visits. */
static bool visits_sums(const affine *a)
{
    uint64_t seen = 0;
    for (int l = 0; l < a->nlevel; l++) {
        const affine_line *x = &a->line[a->level[l].line];
        for (int d = 1; d < a->nindex; d++) {
            if (!x->coef[d]) continue;
            if (seen >> d & 1) return false;
            seen |= UINT64_C(1) << d;
        }
        if (!fills_window(a, x)) return false;
    }
    return true;
}

static bool all_visited(const affine *a)
{
    return a->index[0]->merge->universe && !a->told;
}

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
           (a->told || all_visited(a) || visits_sums(a)) &&
           drain_serves(mc, &d, lv->extent, class_type((vclass)a->cls)) &&
           make_sums(mc, a, lv->extent);
}

stc_status affine_store_begin(machine *mc, affine *a)
{
    workspace *w = a->ws = a->sums;
    ws_untouch(w); /* a run may have failed in the middle */
    a->out = w->dense;
    const int64_t all = all_visited(a) ? w->extent : affine_most_touched(mc, a, w->extent);
    return ws_touch_room(mc, w, all + 1);
}

/* The sums of nothing. */
static void touch_all(affine *a)
{
    workspace *w = a->ws;
    for (int64_t i = a->lo[0]; i < a->hi[0]; i++) {
        const int64_t k = a->line[0].base + a->line[0].coef[0] * i;
        const uint64_t bit = UINT64_C(1) << (k & 63);
        if (w->set[k >> 6] & bit) continue;
        w->set[k >> 6] |= bit;
        w->touched[w->n++] = k;
        memset((char *)w->dense + k * w->size, 0, w->size);
    }
}

stc_status affine_store_end(machine *mc, affine *a)
{
    const drain d = drain_of(mc, a);
    const linear_place *up = &a->place[a->place[a->sink.b].up];
    if (all_visited(a)) touch_all(a);
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
