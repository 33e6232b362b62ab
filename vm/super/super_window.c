/* super_window.c: rows whose coordinates lie close together, as those of a band, or of the
 * pieces of a mesh: they are accumulated in a window, however many coordinates there are.
 *
 * Of fibers in order the first and the last coordinates say where a row lies. A window
 * that holds all of it has a byte for each place, which is set and never asked while the
 * row is filled: values begin with what the fold leaves as it is. In the end the bytes have
 * the order; fibers that are one run together need none. A row that turns out to reach
 * further goes on in the accumulator, or in a list (super_list.c).
 */
#include "../core/coords.h"
#include "scatter.h"
#include "super.h"
#include <string.h>

/* There is one where there are at least so many coordinates; a row is in it that has no
 * more places than so many for each element; behind so many rows that aren't, so many more
 * aren't looked at. */
enum {
    WINDOW = 256,
    WORD = sizeof(uint64_t),
    LEAST = 1024,
    SPARSE = 3,
    MISSES = 8,
    IDLE = 15
};

struct window_room {
    uint8_t mark[WINDOW];
    int64_t place[WINDOW];
    _Alignas(16) char val[];
};

/* ---- kernels ----------------------------------------------------------------------- */

#define SCATTER(TYPE, W, TERM, FOLD)                                                       \
    static void window_##TERM##_##FOLD##_##TYPE##_##W(const scatter *sc, int n,            \
                                                      const row_window *w, bool runs)      \
    {                                                                                      \
        const elem_##TYPE *vals = sc->vals;                                                \
        const num_##TYPE *by = (const num_##TYPE *)sc->by;                                 \
        const index_##W *crd = sc->crd;                                                    \
        num_##TYPE *acc = (num_##TYPE *)(void *)w->room->val;                              \
        uint8_t *mark = w->room->mark;                                                     \
        const int64_t lo = w->lo;                                                          \
        for (int k = 0; k < n; k++) {                                                      \
            const int64_t from = sc->from[k], e = sc->to[k];                               \
            const int64_t run = runs && from < e ? crd[from] - lo - from : 0;              \
            for (int64_t p = from; p < e; p++) {                                           \
                const int64_t i = runs ? run + p : crd[p] - lo;                            \
                const num_##TYPE x =                                                       \
                    vals ? FN(TERM, TYPE, by[k], GET(TYPE, vals[p])) : by[k];              \
                acc[i] = FN(FOLD, TYPE, acc[i], x);                                        \
                if (!runs) mark[i] = 1;                                                    \
            }                                                                              \
        }                                                                                  \
    }
#include "scatter.def"

typedef void (*window_kernel)(const scatter *sc, int n, const row_window *w, bool runs);
static const window_kernel instances[] = {
#define SCATTER(TYPE, W, TERM, FOLD) window_##TERM##_##FOLD##_##TYPE##_##W,
#include "scatter.def"
};

/* ---- filling ----------------------------------------------------------------------- */

/* What a fold leaves as it is; a sum with -0 is that, too. */
static bool empty_value(const scatter *sc, value *v)
{
    const fn_prop *p = &fn_at(sc->fold)->identity[0];
    const vclass cls = (vclass)sc->cls;
    if (!(p->classes >> cls & 1) || !fn_constant(p->value, cls, (stc_type)sc->type, v))
        return false;
    if (p->value == FC_ZERO) fn_scalar_of(FN_NEG, cls)(v, v, NULL, NULL);
    return true;
}

static size_t room_size(const row_window *w)
{
    return sizeof(struct window_room) + (size_t)WINDOW * w->size;
}

bool window_ready(machine *mc, const scatter *sc, row_window *w)
{
    const slot *s = &mc->slot[sc->work];
    if (!sc->ordered || sc->lines || s->own->shape[0] < LEAST ||
        !empty_value(sc, &w->empty))
        return false;
    w->size = s->ws->size;
    w->misses = w->idle = 0;
    if (w->room) /* a run may have ended amidst a row */
        memset(w->room->mark, 0, WINDOW);
    else if (!(w->room = mem_zero(mc->cx, 1, room_size(w))))
        diag_clear(mc->cx);
    return w->room;
}

void window_free(ctx *cx, row_window *w)
{
    mem_free(cx, w->room, room_size(w));
}

/* The coordinates of fibers are in [lo, hi); whether each is a run of coordinates, and all
 * of them, in the order in which they come, are one run, too. */
typedef struct reach {
    int64_t lo, hi;
    bool runs, whole;
} reach;

static reach reach_of(const scatter *sc, int n)
{
    reach r = {.runs = true, .whole = true};
    for (int k = 0; k < n; k++) {
        const int64_t p = sc->from[k], e = sc->to[k];
        if (p == e) continue;
        const int64_t first = index_at(sc->crd, sc->f.width, p);
        const int64_t past = index_at(sc->crd, sc->f.width, e - 1) + 1;
        if (r.lo == r.hi) r.lo = r.hi = first;
        r.runs &= past - first == e - p;
        r.whole &= first <= r.hi && past >= r.lo;
        if (first < r.lo) r.lo = first;
        if (past > r.hi) r.hi = past;
        if (r.hi - r.lo > WINDOW) break; /* of no use */
    }
    return r;
}

/* Whether a row that begins with that is in the window. */
static bool opens(const scatter *sc, row_window *w, const reach *r, int64_t all)
{
    const int64_t places = r->hi - r->lo;
    if (places > WINDOW || places / SPARSE > all) {
        w->idle = ++w->misses >= MISSES ? IDLE : 0;
        return false;
    }
    class_fill((vclass)sc->cls, w->room->val, 0, places, w->empty);
    w->lo = r->lo;
    w->hi = r->hi;
    w->whole = r->runs && r->whole;
    w->open = true;
    w->misses = 0;
    return true;
}

bool window_fibers(machine *mc, const scatter *sc, row_window *w, int n, int64_t all)
{
    if (w->idle > 0) {
        w->idle--;
        return false;
    }
    const reach r = reach_of(sc, n);
    if (r.lo == r.hi) return w->open;
    if (w->open ? r.lo < w->lo || r.hi > w->hi : !opens(sc, w, &r, all)) return false;
    const int row = sc->row[sc->kernel == sc->wide];
    tally(mc, TALLY_WINDOW + row);
    instances[row](sc, n, w, w->whole && r.runs);
    return true;
}

/* ---- in order ---------------------------------------------------------------------- */

int64_t window_close(row_window *w, const int64_t **at, const void **val)
{
    struct window_room *const r = w->room;
    const int64_t places = w->hi - w->lo;
    int64_t n = 0;
    for (int64_t first = 0; first < places && !w->whole; first += WORD) {
        uint64_t marks;
        memcpy(&marks, r->mark + first, sizeof marks);
        for (int k = 0; marks && k < WORD; k++) {
            r->place[n] = first + k;
            n += r->mark[first + k];
        }
    }
    memset(r->mark, 0, (size_t)places);
    w->open = false;
    *at = w->whole ? NULL : r->place;
    *val = r->val;
    return w->whole ? places : n;
}

/* To what an accumulator has: nothing. */
static stc_status accumulate(machine *mc, row_window *from, workspace *w)
{
    const int64_t *at, lo = from->lo;
    const char *val;
    const int64_t n = window_close(from, &at, (const void **)&val);
    ws_spell_out(w);
    if (ws_touch_room(mc, w, n)) return mc->cx->diag.status;
    for (int64_t k = 0; k < n; k++) {
        const int64_t j = at ? at[k] : k, i = lo + j;
        w->set[i >> 6] |= UINT64_C(1) << (i & 63);
        w->touched[w->n++] = i;
        memcpy((char *)w->dense + i * w->size, val + j * w->size, w->size);
    }
    return STC_OK;
}

stc_status window_spread(machine *mc, row_window *from, row_list *l, workspace *w)
{
    return l ? list_window(mc->cx, l, from) : accumulate(mc, from, w);
}
