/* super_scatter_row.c: the fibers that a row scatters, found for its kernel.
 *
 * Of the operands of the loop over k, the shortest that has coordinates drives, the others
 * are located, or sought: by galloping, or, where all rows have the same fiber, by a table
 * (core/lookup.c); an operand that can't be searched (it is in no
 * order, has gaps, or lies below a group of equal coordinates, as in coo) drives if it
 * alone has coordinates. Factors and fibers of up to SCATTER_CHUNK k are found before
 * anything is scattered, so that fibers can be asked for ahead of time.
 */
#include "../core/coords.h"
#include "../core/open.h"
#include "../nest/fibers.h"
#include "../strips/strip.h"
#include "scatter.h"
#include "super.h"
#include <string.h>

/* Whether a coordinate was met before is guessed right where that holds for nearly all, or
 * nearly none (one in SHARE), as the lanes before tell; and where fibers are shorter than
 * BRIEF, since neighbours' are often alike then. Else nothing branches on it. */
enum { BRIEF = 8, SHARE = 8 };

/* Of so many fibers each is asked for eight ahead, as short ones take less time than memory
 * does; of fewer two ahead, since the first are never asked for. */
enum { MANY = 48 };

/* ---- tables of a run --------------------------------------------------------------- */

/* Whether an operand's fibers can be gone through, if not searched: they are in any order,
 * have gaps, or lie below a group of equal coordinates, one below each. */
static bool goes_through(const tensor *t, const scatter_operand *o)
{
    const level *lv = &t->level[o->level];
    const bool listed = o->f.shape == VIEW_COORDS || o->f.shape == VIEW_GAPS;
    const bool below_group = o->level && !tensor_unique(t, o->level - 1);
    return listed && o->f.stride == o->f.width && lv->props & PROP_UNIQUE &&
           (!below_group || lv->props & PROP_BRANCHLESS);
}

static bool ready_operand(const machine *mc, const scatter *sc, scatter_operand *o)
{
    const tensor *t = mc->slot[o->tensor].t;
    const level *lv = &t->level[o->level];
    int64_t lo, hi;
    merge_range(mc, sc->mid->merge, &lo, &hi);
    level_fibers(lv, &o->f);
    o->coords = !fibers_cover(t, o->level, lo, hi);
    o->lo = lv->base;
    o->size = lv->extent;
    if (!o->coords) return true;
    if (o->f.shape == VIEW_RANGE) return false;
    if (sc->everywhere >> (o - sc->operand) & 1 || !level_inside(lv, lo, hi)) return false;
    o->searched =
        fibers_listed(&o->f) && lv->props & PROP_ORDERED && tensor_unique(t, o->level);
    o->gaps = o->f.shape == VIEW_GAPS;
    o->same = o->searched && o->up == ROOT && lv->kind->locate_many;
    return o->searched || goes_through(t, o);
}

static bool ready_fiber(machine *mc, scatter *sc, bool listed)
{
    const tensor *t = mc->slot[sc->tensor].t;
    const level *lv = &t->level[sc->level];
    int64_t lo, hi;
    merge_range(mc, sc->inner->merge, &lo, &hi);
    level_fibers(lv, &sc->f);
    sc->lines = sc->inner->merge->universe;
    sc->lo = lo;
    sc->hi = hi;
    if (lo < 0 || !tensor_unique(t, sc->level)) return false;
    if (sc->lines ? listed || !fibers_cover(t, sc->level, lo, hi)
                  : !fibers_listed(&sc->f) || !level_inside(lv, lo, hi))
        return false;
    sc->kernel = (sc->lines || sc->f.width == 4) && sc->narrow ? sc->narrow : sc->wide;
    sc->crd = sc->f.crd;
    sc->ordered = lv->props & PROP_ORDERED;
    sc->vals = sc->valued ? t->vals : NULL;
    if (sc->sieve.there && !(sc->ordered && sieve_ready(mc, sc, lo, hi))) return false;
    sc->places = mc->slot[sc->work].own->shape[0];
    return sc->kernel && sc->places >= hi;
}

static bool allocate(machine *mc, scatter *sc)
{
    if (sc->block) return true;
    sc->block_size =
        SCATTER_CHUNK * ((3 + SCATTER_OPERANDS) * sizeof(int64_t) + 2 * sizeof(value));
    sc->block = mem_alloc(mc->cx, sc->block_size);
    if (!sc->block) {
        diag_clear(mc->cx);
        return false;
    }
    sc->from = sc->block;
    sc->to = sc->from + SCATTER_CHUNK;
    sc->key = sc->to + SCATTER_CHUNK;
    for (int b = 0; b < SCATTER_OPERANDS; b++)
        sc->pos[b] = sc->key + (1 + b) * SCATTER_CHUNK;
    sc->by = (char *)(sc->key + (1 + SCATTER_OPERANDS) * SCATTER_CHUNK);
    sc->room = sc->by + SCATTER_CHUNK * sizeof(value);
    return true;
}

/* The only factor of an operand; NULL: there are others, or none. */
static const scatter_factor *own_factor(const scatter *sc)
{
    const scatter_factor *own = NULL;
    for (int j = 0; j < sc->nfactor; j++) {
        if (sc->factor[j].kind != FACTOR_OPERAND) continue;
        if (own) return NULL;
        own = &sc->factor[j];
    }
    return own;
}

/* The next lanes are so many behind those. */
static void hold(scatter *sc, int n)
{
    sc->held += n;
    sc->from += n;
    sc->to += n;
    sc->by += n * (int64_t)class_size((vclass)sc->cls);
}

/* The usual row: one operand has coordinates and is the only factor but for those that the
 * row has once, the fibers are below a range. Gives the factor, or NULL. */
static const scatter_factor *usual(const scatter *sc)
{
    const scatter_factor *const own = own_factor(sc); /* not the owner's: it has fibers */
    const bool is = own && sc->noperand == 2 && sc->owner >= 0 &&
                    !sc->operand[sc->owner].coords && sc->operand[1 - sc->owner].coords &&
                    sc->operand[1 - sc->owner].f.width == 4 &&
                    !sc->operand[1 - sc->owner].gaps &&
                    class_type((vclass)sc->cls) == (stc_type)sc->type;
    return is ? own : NULL;
}

bool scatter_ready(machine *mc, scatter *sc, bool listed)
{
    sc->list = NULL;
    sc->window = NULL;
    if ((!listed && !ws_is_vector(&mc->slot[sc->work])) || !ready_fiber(mc, sc, listed) ||
        !allocate(mc, sc))
        return false;
    int coords = 0;
    bool searched = true;
    for (int b = 0; b < sc->noperand; b++) {
        scatter_operand *o = &sc->operand[b];
        if (!ready_operand(mc, sc, o)) return false;
        coords += o->coords;
        searched &= !o->coords || o->searched;
    }
    sc->usual = usual(sc);
    hold(sc, -sc->held);
    sc->length = 0;
    return searched || coords == 1;
}

/* ---- the fibers of a row ------------------------------------------------------------ */

static int64_t place_of_cursor(const machine *mc, uint16_t reg)
{
    return reg == ROOT ? 0 : mc->c[reg].c.at;
}

/* Where the operands' fibers are in this row; false: one of them is empty. */
static bool open_operands(machine *mc, scatter *sc)
{
    for (int b = 0; b < sc->noperand; b++) {
        scatter_operand *o = &sc->operand[b];
        const int64_t up = place_of_cursor(mc, o->up);
        if (up < 0) return false;
        if (o->f.shape != VIEW_RANGE) machine_saw(mc, SEEN_FIBERS, 1);
        if (o->coords) {
            o->begin = fiber_bound(&o->f, up);
            o->end = fiber_bound(&o->f, o->up == ROOT ? 1 : mc->c[o->up].c.at_end);
            if (o->begin == o->end) return false;
        } else {
            o->begin = up * o->size;
        }
    }
    return true;
}

/* The first position from o->begin on with a coordinate of at least k; it is
 * where the next search begins. */
static int64_t gallop(scatter_operand *o, int64_t k)
{
    int64_t below = o->begin, stride = 1;
    if (below >= o->end || index_at(o->f.crd, o->f.width, below) >= k) return below;
    while (below + stride < o->end && index_at(o->f.crd, o->f.width, below + stride) < k) {
        below += stride;
        stride *= 2;
    }
    const int64_t above = below + stride < o->end ? below + stride : o->end;
    o->begin = coord_search(o->f.crd, o->f.width, o->f.width, below + 1, above, k);
    return o->begin;
}

/* The position of operand b, which has coordinates, at k; NONE: it isn't there. */
static int64_t position(scatter *sc, int b, int64_t k)
{
    scatter_operand *o = &sc->operand[b];
    const int64_t at = gallop(o, k);
    return at < o->end && index_at(o->f.crd, o->f.width, at) == k ? at : NONE;
}

/* The product of the factors that the row has once. */
static value fixed_factors(const machine *mc, const scatter *sc)
{
    const stc_type t = (stc_type)sc->type;
    const fn_scalar mul = fn_scalar_of(FN_MUL, (vclass)sc->cls);
    value by = {0};
    bool some = false;
    for (int j = 0; j < sc->nfactor; j++) {
        const scatter_factor *f = &sc->factor[j];
        value v;
        if (f->kind == FACTOR_OPERAND) continue;
        if (f->kind == FACTOR_LIVE) v = mc->v[f->a];
        if (f->kind == FACTOR_CONST) v = mc->p->konst[f->a].v;
        if (f->kind == FACTOR_FIXED) {
            const cursor root = {.at = 0, .at_end = 1};
            const cursor *c = f->a == ROOT ? &root : &mc->c[f->a].c;
            const tensor *from = mc->slot[f->tensor].t;
            v = c->at < 0 ? from->fill : load_sum(from, c->at, c->at_end);
        }
        if (f->fn >= 0) fn_scalar_of(f->fn, (vclass)sc->cls)(&v, &v, NULL, NULL);
        if (some)
            mul(&by, &by, &v, NULL);
        else
            by = v;
        some = true;
    }
    if (!some && sc->term == FN_MUL) fn_constant(FC_ONE, (vclass)sc->cls, t, &by);
    return by;
}

/* What is taken of so many values of a factor. */
static void apply(const scatter *sc, const scatter_factor *f, void *of, int n)
{
    if (f->fn >= 0) fn_array_of(f->fn, (vclass)sc->cls)(of, of, NULL, NULL, n);
}

/* The factors of n lanes: that of the row times those at the operands' positions. */
static void put_factors(const machine *mc, const scatter *sc, int n, value by)
{
    const vclass cls = (vclass)sc->cls;
    const fn_array mul = fn_array_of(FN_MUL, cls);
    bool first = sc->nfactor > 0;
    for (int j = 0; j < sc->nfactor; j++)
        first &= sc->factor[j].kind == FACTOR_OPERAND;
    if (!first) class_fill(cls, sc->by, 0, n, by);
    for (int j = 0; j < sc->nfactor; j++) {
        const scatter_factor *f = &sc->factor[j];
        if (f->kind != FACTOR_OPERAND) continue;
        const column at = {.form = COL_ARRAY, .full = true, .data = sc->pos[f->a]};
        const void *vals = mc->slot[f->tensor].t->vals;
        void *const to = first ? sc->by : sc->room;
        strip_load((stc_type)sc->type, to, vals, &at, n, by);
        apply(sc, f, to, n);
        if (!first) mul(sc->by, sc->by, sc->room, NULL, n);
        first = false;
    }
}

/* Whether n fibers, of so many elements in all, are in the row's window now. If not,
 * nothing of it is. */
static bool in_window(machine *mc, const scatter *sc, workspace *w, int n, int64_t all,
                      stc_status *st)
{
    row_window *const window = sc->window;
    row_list *const l = sc->list;
    if (!window || (l ? l->n : w->n)) return false;
    const bool open = window->open;
    if (window_fibers(mc, sc, window, n, all)) {
        if (l) l->rows += !open;
        return true;
    }
    if (open) *st = window_spread(mc, window, l, w);
    return false;
}

/* n fibers of `most` elements, `seen` of which were looked at. */
static stc_status put_rounds(machine *mc, scatter *sc, int n, int64_t most, int64_t seen)
{
    slot *s = &mc->slot[sc->work];
    workspace *w = s->ws;
    const int64_t rounds = seen + n;
    stc_status st = STC_OK;
    machine_saw(mc, SEEN_FIBERS, n);
    if (in_window(mc, sc, w, n, most, &st)) return machine_count(mc, rounds);
    if (st) return st;
    if (sc->list) {
        if (list_fibers(mc, sc, sc->list, n, most)) return mc->cx->diag.status;
        return machine_count(mc, rounds);
    }
    if (most > w->extent - w->n) most = w->extent - w->n;
    if (ws_use(mc, w, sc->fold, sc->at) || ws_touch_room(mc, w, most + 1))
        return mc->cx->diag.status;
    const int64_t had = w->n, all = most;
    sc->brief = all < n * BRIEF;
    sc->guess = !sc->mixed || sc->brief;
    sc->ahead = n < MANY ? 2 : 8;
    tally(mc, TALLY_SCATTER + sc->row[sc->kernel == sc->wide]);
    sc->kernel(sc, w, n);
    const int64_t anew = w->n - had;
    sc->mixed = anew > all / SHARE && all - anew > all / SHARE;
    return machine_count(mc, rounds);
}

/* The fibers that were held, and n more. */
static stc_status put_held(machine *mc, scatter *sc, int n)
{
    const int64_t all = sc->length;
    n += sc->held;
    hold(sc, -sc->held);
    sc->length = 0;
    return put_rounds(mc, sc, n, all, all);
}

/* The row's next n fibers; they may wait for those of the next round around. */
static stc_status flush(machine *mc, scatter *sc, int n)
{
    stc_status st = STC_OK;
    if (sc->naround && !sc->sieve.there && sc->held + n < SCATTER_CHUNK) {
        hold(sc, n);
        return STC_OK;
    }
    if (!sc->sieve.there) return put_held(mc, sc, n);
    for (int some = n; n > 0 && !st; n -= some) {
        int64_t seen, most = 0;
        some = n;
        st = sieve_fibers(mc, sc, &some, &seen);
        for (int k = 0; k < some; k++)
            most += sc->to[k] - sc->from[k];
        if (!st) st = put_rounds(mc, sc, some, most, seen);
        sieve_next(sc, some, n);
    }
    sc->length = 0;
    return st;
}

/* Lane k's fiber, below `up`; width 0: a line. Gives its length. */
INLINE int64_t put_fiber(const scatter *sc, int width, int k, int64_t up)
{
    const int64_t from = width ? index_at(sc->f.bounds, width, up)
                               : up * (sc->f.hi - sc->f.lo) + sc->lo - sc->f.lo;
    const int64_t to =
        width ? index_at(sc->f.bounds, width, up + 1) : from + sc->hi - sc->lo;
    sc->from[k] = from;
    sc->to[k] = to;
    return to - from;
}

/* The fibers of n lanes, below `up` (NULL: all below `below`). */
static void put_fibers(scatter *sc, int n, const int64_t *up, int64_t below)
{
    const int width = sc->f.bounds_width;
    int64_t length = 0;
    for (int k = 0; k < n && !width; k++)
        length += put_fiber(sc, 0, k, up ? up[k] : below);
    for (int k = 0; k < n && width == 4; k++)
        length += put_fiber(sc, 4, k, up ? up[k] : below);
    for (int k = 0; k < n && width == 8; k++)
        length += put_fiber(sc, 8, k, up ? up[k] : below);
    sc->length += length;
}

/* How many of the rounds that are left there are lanes for. */
static int next_lanes(const scatter *sc, int64_t left)
{
    const int room = SCATTER_CHUNK - sc->held;
    return left < room ? (int)left : room;
}

/* The fibers of n lanes below the coordinates of a usual row. */
INLINE void put_usual(scatter *sc, int width, const int32_t *crd, int64_t first, int n)
{
    int64_t length = 0;
    for (int j = 0; j < n; j++)
        length += put_fiber(sc, width, j, first + crd[j]);
    sc->length += length;
}

/* The usual row's factors of n lanes, other than the values as they lie. */
static void usual_factors(const machine *mc, const scatter *sc, const char *vals, int n)
{
    const vclass cls = (vclass)sc->cls;
    memcpy(sc->by, vals, (size_t)n * class_size(cls));
    apply(sc, sc->usual, sc->by, n);
    if (sc->nfactor == 1) return;
    class_fill(cls, sc->room, 0, n, fixed_factors(mc, sc));
    fn_array_of(FN_MUL, cls)(sc->by, sc->by, sc->room, NULL, n);
}

static stc_status usual_row(machine *mc, scatter *sc)
{
    const scatter_operand *o = &sc->operand[1 - sc->owner], *in = &sc->operand[sc->owner];
    const int32_t *crd = o->f.crd;
    const int64_t first = in->begin - in->lo;
    const int width = sc->f.bounds_width;
    char *vals = mc->slot[sc->usual->tensor].t->vals;
    const size_t size = type_size((stc_type)sc->type);
    const bool lie = sc->nfactor == 1 && sc->usual->fn < 0 && !sc->naround &&
                     !sc->sieve.there; /* values are factors where they are */
    for (int64_t p = o->begin; p < o->end;) {
        const int n = next_lanes(sc, o->end - p);
        if (width == 4)
            put_usual(sc, 4, crd + p, first, n);
        else if (width == 8)
            put_usual(sc, 8, crd + p, first, n);
        else
            put_usual(sc, 0, crd + p, first, n);
        char *const own = sc->by, *const at = vals + (size_t)p * size;
        if (lie)
            sc->by = at;
        else
            usual_factors(mc, sc, at, n);
        p += n;
        const stc_status st = flush(mc, sc, n);
        if (lie) sc->by = own;
        if (st) return st;
    }
    return STC_OK;
}

static stc_status one_fiber(machine *mc, scatter *sc)
{
    const int64_t parent = place_of_cursor(mc, sc->below);
    if (parent < 0) return STC_OK;
    put_fibers(sc, 1, NULL, parent);
    put_factors(mc, sc, 1, fixed_factors(mc, sc));
    return flush(mc, sc, 1);
}

/* The shortest of the operands that have coordinates; -1: none has. */
static int driver_of(const scatter *sc)
{
    int driver = -1;
    for (int b = 0; b < sc->noperand; b++) {
        const scatter_operand *o = &sc->operand[b],
                              *d = &sc->operand[driver < 0 ? b : driver];
        if (o->coords && (driver < 0 || o->end - o->begin < d->end - d->begin)) driver = b;
    }
    return driver;
}

/* Of n positions of a driver with gaps, those that aren't any, and the others', which have
 * all coordinates. */
static int between_gaps(scatter *sc, int driver, int64_t p, int n)
{
    int found = 0;
    for (int k = 0; k < n; k++) {
        if (sc->key[k] < sc->operand[driver].f.lo) continue;
        for (int b = 0; b < sc->noperand; b++) {
            const scatter_operand *o = &sc->operand[b];
            sc->pos[b][found] = b == driver ? p + k : o->begin - o->lo + sc->key[k];
        }
        found++;
    }
    return found;
}

/* Of n rounds, the driver's positions (or, without one, coordinates) from p on, those that
 * all operands have: how many, and their positions. */
static int find_rounds(machine *mc, scatter *sc, int driver, int64_t p, int n)
{
    const scatter_operand *d = driver < 0 ? NULL : &sc->operand[driver];
    int64_t *key = sc->key;
    bool all = true;
    for (int k = 0; k < n; k++)
        key[k] = d ? index_at(d->f.crd, d->f.width, p + k) : p + k;
    if (d && d->gaps) return between_gaps(sc, driver, p, n);
    for (int b = 0; b < sc->noperand; b++) {
        const scatter_operand *o = &sc->operand[b];
        all &= b == driver || !o->coords;
        for (int k = 0; k < n && b == driver; k++)
            sc->pos[b][k] = p + k;
        for (int k = 0; k < n && !o->coords; k++)
            sc->pos[b][k] = o->begin - o->lo + key[k];
        if (b != driver && o->same)
            machine_look_up(mc, o->tensor, &mc->slot[o->tensor].t->level[o->level], 0, key,
                            sizeof *key, sizeof *key, n, sc->pos[b]);
    }
    if (all) return n;
    int found = 0;
    for (int k = 0; k < n; k++) {
        bool there = true;
        for (int b = 0; b < sc->noperand && there; b++) {
            const scatter_operand *o = &sc->operand[b];
            const bool sought = b != driver && o->coords && !o->same;
            const int64_t at = sought ? position(sc, b, key[k]) : sc->pos[b][k];
            sc->pos[b][found] = at;
            there = at != NONE;
        }
        found += there;
    }
    return found;
}

static stc_status many_fibers(machine *mc, scatter *sc)
{
    const int64_t below = place_of_cursor(mc, sc->below);
    if (sc->owner < 0 && below < 0) return STC_OK;
    const int driver = driver_of(sc);
    int64_t lo, hi;
    merge_range(mc, sc->mid->merge, &lo, &hi);
    const scatter_operand *d = driver < 0 ? NULL : &sc->operand[driver];
    const int64_t end = d ? d->end : hi;
    const value by = fixed_factors(mc, sc);
    for (int64_t p = d ? d->begin : lo; p < end;) {
        const int take = next_lanes(sc, end - p);
        const int n = find_rounds(mc, sc, driver, p, take);
        p += take;
        put_fibers(sc, n, sc->owner < 0 ? NULL : sc->pos[sc->owner], below);
        put_factors(mc, sc, n, by);
        if (n ? flush(mc, sc, n) : machine_count(mc, take)) return mc->cx->diag.status;
    }
    return machine_count(mc, 1);
}

static stc_status row(machine *mc, scatter *sc)
{
    const workspace *w = mc->slot[sc->work].ws;
    sc->settled = !w->n && !sc->lines;
    if (!sc->mid) return one_fiber(mc, sc);
    if (!open_operands(mc, sc)) return STC_OK;
    if (sc->sieve.there && !sieve_open(mc, sc)) return machine_count(mc, 1);
    const stc_status st = sc->usual ? usual_row(mc, sc) : many_fibers(mc, sc);
    if (sc->sieve.there) sieve_close(mc, sc);
    return st;
}

/* The rounds of the loops around, up to number k of them. */
static stc_status rounds(machine *mc, scatter *sc, int k)
{
    if (k == 0) return row(mc, sc);
    loop *const l = sc->around[k - 1];
    /* what is opened for the loop over k is found without cursors */
    const int end = k > 1 ? sc->around[k - 2]->first : l->first;
    loop_state state = loop_start(mc, l);
    for (; state == LOOP_ON; state = loop_next(mc, l)) {
        for (int i = l->first + 1; i < end; i++) {
            const uint16_t *a = mc->code[i].arg;
            open_cursor(&mc->c[a[0]], mc->slot[a[1]].t, a[2],
                        a[3] == ROOT ? NULL : &mc->c[a[3]], 1, 0);
        }
        stc_status st = rounds(mc, sc, k - 1);
        if (!st) st = machine_count(mc, 1);
        if (st) return st;
    }
    return state == LOOP_FAILED ? mc->cx->diag.status : STC_OK;
}

stc_status scatter_row(machine *mc, scatter *sc)
{
    const stc_status st = rounds(mc, sc, sc->naround);
    return st || !sc->held ? st : put_held(mc, sc, 0);
}
