/* strip_fill.c: coordinates, masks and positions of the next strip.
 *
 * Whether fibers are plain memory is asked when the loop starts: one fiber of
 * coordinates (equal neighbours are one lane where it has any), a range, or several
 * fibers of coordinates (strip_keys.c) have fills of their own;
 * anything else is stepped by the base merge, which then only serves the
 * arithmetic in bulk. Filling stops at STRIP lanes, and goes on from there.
 */
#include "../core/ahead.h"
#include "../nest/fibers.h"
#include "strip.h"
#include <string.h>

enum { FILL_STEPS, FILL_COORDS, FILL_GROUPS, FILL_RANGE, FILL_EVERY, FILL_KEYS };

/* Subsections further off, or of larger levels, are stepped: their differences
 * could overflow. */
#define SHIFT_MAX ((int64_t)1 << 62)

/* The fiber at which an open, unmoved walker's parent stands, and what its
 * coordinates are ahead of the loop's index (a subsection: `C(i+j)`). */
static bool walker_view(const machine *mc, const merge_operand *o, fiber_view *v,
                        int64_t *shift)
{
    const mcursor *c = &mc->c[o->cursor];
    const level *lv = c->c.lv;
    const cursor *up = c->c.up;
    *shift = c->shift;
    if (c->coef != 1 || !lv->kind->view || !(lv->props & PROP_ORDERED)) return false;
    if (up && up->at == NONE) {
        *v = (fiber_view){.shape = VIEW_COORDS, .width = 4, .stride = 4};
        return true;
    }
    if (up && up->at_end != up->at + 1) return false;
    lv->kind->view(lv, up ? up->at : 0, up ? up->coord : 0, v);
    if (v->shape == VIEW_RANGE)
        return !__builtin_sub_overflow(v->lo, c->shift, &v->lo) &&
               !__builtin_sub_overflow(v->hi, c->shift, &v->hi);
    if (c->shift && lv->extent >= SHIFT_MAX) return false;
    return v->shape == VIEW_COORDS && c->shift > -SHIFT_MAX && c->shift < SHIFT_MAX;
}

/* The first of the fiber's positions whose coordinate is at least i. */
static int64_t lower_bound(const struct strip_walk *w, int64_t i)
{
    return coord_search(w->crd, w->width, w->stride, w->p, w->end, i + w->shift);
}

/* Cuts the fiber to the loop's range. */
static void trim(struct strip_walk *w, int64_t lo, int64_t hi)
{
    if (w->p < w->end && strip_coord(w, w->p) < lo) w->p = lower_bound(w, lo);
    if (w->p < w->end && strip_coord(w, w->end - 1) >= hi) w->end = lower_bound(w, hi);
}

/* A located operand: the fiber that it is located in is one range, so that
 * positions follow from coordinates, or is asked for many of them at once. */
static bool locate_view(machine *mc, const strip *s, const merge_operand *o)
{
    for (int k = 0; k < s->s.l->merge->count; k++)
        if (o->up == s->s.l->merge->operand[k].cursor &&
            s->s.l->merge->operand[k].role != MERGE_KNOWN)
            return false;
    if (o->up != ROOT && mc->c[o->up].c.at == NONE) return true;
    const cursor *up = o->up == ROOT ? NULL : &mc->c[o->up].c;
    const level *lv = &mc->slot[o->tensor].t->level[o->level];
    if (lv->kind->locate_many) return tensor_unique(mc->slot[o->tensor].t, o->level);
    if (!lv->kind->locate) return false; /* what stands above others is never ranged */
    fiber_view v;
    lv->kind->view(lv, up ? up->at : 0, up ? up->coord : 0, &v);
    return v.shape == VIEW_RANGE;
}

/* The summary's places begin with the root and the operands. */
static column *operand_column(strip *s, int b)
{
    return &s->place[1 + b];
}

/* One fiber is so much the longer that seeking in it beats walking it. */
static bool lopsided(const strip *s)
{
    const int64_t a = s->walk[0].end - s->walk[0].p, b = s->walk[1].end - s->walk[1].p;
    return s->nwalk == 2 && (a / 32 > b || b / 32 > a);
}

static int choose_fill(machine *mc, strip *s, int64_t lo, int64_t hi)
{
    const merge_desc *m = s->s.l->merge;
    if (m->count > MERGE_TABLE_MAX || s->s.l->unordered) return FILL_STEPS;
    bool range = false, followed = false;
    s->nwalk = 0;
    s->next = lo;
    s->last = hi;
    for (int b = 0; b < m->count; b++) {
        const merge_operand *o = &m->operand[b];
        fiber_view v;
        int64_t shift;
        if (o->role == MERGE_LOCATE && !locate_view(mc, s, o)) return FILL_STEPS;
        if (!operand_walks(o)) continue;
        if (!walker_view(mc, o, &v, &shift) || range) return FILL_STEPS;
        if (v.shape == VIEW_RANGE) {
            if (s->nwalk > 0) return FILL_STEPS;
            range = true;
            if (v.lo > s->next) s->next = v.lo;
            if (v.hi < s->last) s->last = v.hi;
            s->walk[0].p = v.begin;
            s->walk[0].lo = v.lo;
            s->walk[0].operand = (uint16_t)b;
            continue;
        }
        followed |= o->role == MERGE_FOLLOW;
        struct strip_walk *w = &s->walk[s->nwalk++];
        *w = (struct strip_walk){.crd = v.crd,
                                 .width = v.width,
                                 .stride = v.stride,
                                 .p = v.begin,
                                 .end = v.end,
                                 .operand = (uint16_t)b,
                                 .shift = shift,
                                 .dups = !(mc->c[o->cursor].c.lv->props & PROP_UNIQUE),
                                 .key = w->key,
                                 .at = w->at,
                                 .ends = w->ends};
        trim(w, lo, hi);
    }
    if (range) return m->universe ? FILL_STEPS : FILL_RANGE;
    if (s->nwalk == 0) return m->universe ? FILL_RANGE : FILL_STEPS;
    if (m->universe && s->maybe >> s->known & 1) return FILL_EVERY;
    if (followed && lopsided(s)) return FILL_STEPS;
    return s->nwalk > 1 ? FILL_KEYS : s->walk[0].dups ? FILL_GROUPS : FILL_COORDS;
}

static bool on(strip *s, loop_state state)
{
    s->failed = state == LOOP_FAILED;
    return state == LOOP_ON;
}

/* What may produce, whatever of the located operands is there. */
static void find_tables(const machine *mc, strip *s)
{
    const merge_desc *m = s->s.l->merge;
    s->known = s->located = 0;
    s->produce = s->maybe = m->produce;
    for (int b = 0; b < m->count && m->count <= MERGE_TABLE_MAX; b++) {
        const merge_operand *o = &m->operand[b];
        if (o->role == MERGE_LOCATE) {
            s->located |= UINT64_C(1) << b;
            s->maybe = table_fix(s->maybe, b, true) | table_fix(s->maybe, b, false);
        }
        if (o->role == MERGE_KNOWN && mc->c[o->cursor].c.at != NONE)
            s->known |= UINT64_C(1) << b;
    }
}

static bool left(const strip *s)
{
    if (s->fill == FILL_STEPS) return s->more;
    if (s->fill == FILL_RANGE || s->fill == FILL_EVERY) return s->next < s->last;
    bool any = false;
    for (int k = 0; k < s->nwalk; k++)
        any |= s->walk[k].p < s->walk[k].end;
    return any;
}

bool strip_enter(machine *mc, strip *s)
{
    loop *l = s->s.l;
    const merge_desc *m = l->merge;
    s->entered = s->failed = false;
    if (s->fill == FILL_RANGE && machine_knows(mc, l, s->since)) {
        s->next = s->first;
        return left(s);
    }
    const int64_t lo = m->lo == ROOT ? 0 : mc->ext[m->lo], hi = mc->ext[m->hi];
    find_tables(mc, s);
    s->fill = choose_fill(mc, s, lo, hi);
    s->first = s->next;
    s->since = mc->bindings;
    if (s->fill == FILL_STEPS) {
        s->more = on(s, loop_start(mc, l));
        s->resume = l->i;
        return s->more;
    }
    return left(s);
}

/* ---- one strip ----------------------------------------------------------------- */

static void fill_steps(machine *mc, strip *s)
{
    loop *l = s->s.l;
    int n = 0;
    l->i = s->resume; /* sinks stand it on their lanes */
    while (s->more && n < STRIP) {
        s->icol[0].data[n] = l->i;
        s->mask[n] = mc->m[l->mask];
        for (int k = 1; k < s->s.nplace; k++) {
            if (s->s.place[k].kind != PLACE_OPERAND) continue;
            const cursor *c = &mc->c[s->s.place[k].cursor].c;
            s->place[k].data[n] = c->at;
            s->place[k].end[n] = c->at_end;
        }
        n++;
        s->more = on(s, loop_next(mc, l));
    }
    for (int k = 1; k < s->s.nplace; k++) {
        if (s->s.place[k].kind != PLACE_OPERAND) continue;
        s->place[k].form = COL_ARRAY;
        s->place[k].full = false;
        const level *lv = mc->c[s->s.place[k].cursor].c.lv; /* NULL: never located */
        s->place[k].ranged = lv && !(lv->props & PROP_UNIQUE);
    }
    s->icol[0].form = COL_ARRAY;
    s->n = n;
    s->resume = l->i;
}

static void set_operand(strip *s, int b, column form)
{
    column *c = operand_column(s, b);
    form.data = c->data;
    form.end = c->end;
    *c = form;
}

/* Up to STRIP coordinates of one fiber into icol[0]. */
static void fill_coords(strip *s)
{
    struct strip_walk *w = &s->walk[0];
    const int64_t left = w->end - w->p;
    const int n = left < STRIP ? (int)left : STRIP;
    int64_t *to = s->icol[0].data;
    if (w->width == 4 && w->stride == 4) {
        const int32_t *crd = (const int32_t *)w->crd + w->p;
        fetch_far(w->crd, w->p, n, sizeof *crd);
        for (int k = 0; k < n; k++)
            to[k] = crd[k] - w->shift;
    } else {
        for (int k = 0; k < n; k++)
            to[k] = strip_coord(w, w->p + k);
    }
    s->icol[0].form = COL_ARRAY;
    set_operand(s, w->operand, (column){.form = COL_STEP, .full = true, .base = w->p});
    w->p += n;
    s->n = n;
}

/* The counting would cost as much as what is done. */
#if defined(__clang__)
#define UNROLLED
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif

/* Where the groups of equal coordinates from w->p on begin, up to STRIP of them, and what
 * they are; moves w->p past them. Without a branch on where that is. */
#define GROUPS(NAME, I)                                                                    \
    static int NAME(struct strip_walk *w, int64_t *start, int64_t *key)                    \
    {                                                                                      \
        const int64_t stride = w->stride / (int)sizeof(I), end = w->end;                   \
        const I *crd = (const void *)w->crd;                                               \
        int64_t p = w->p, n = 0;                                                           \
        for (start[n++] = p++; n < STRIP && p < end;) {                                    \
            const I *at = crd + p * stride;                                                \
            const int64_t left = end - p, room = STRIP - n, m = left < room ? left : room; \
            fetch_far(crd, p, m, w->stride);                                               \
            UNROLLED                                                                       \
            for (int64_t k = 0; k < m; k++) {                                              \
                start[n] = p + k;                                                          \
                n += at[k * stride] != at[(k - 1) * stride];                               \
            }                                                                              \
            p += m;                                                                        \
        }                                                                                  \
        while (p < end && crd[p * stride] == crd[(p - 1) * stride])                        \
            p++;                                                                           \
        for (int k = 0; k < n; k++)                                                        \
            key[k] = crd[start[k] * stride] - w->shift;                                    \
        w->p = p;                                                                          \
        return (int)n;                                                                     \
    }
GROUPS(groups_4, int32_t)
GROUPS(groups_8, int64_t)

/* The same for a fiber in which coordinates occur several times: each is one lane. */
static void fill_groups(strip *s)
{
    struct strip_walk *w = &s->walk[0];
    column *c = operand_column(s, w->operand), *i = &s->icol[0];
    const int n =
        w->width == 4 ? groups_4(w, c->data, i->data) : groups_8(w, c->data, i->data);
    memcpy(c->end, c->data + 1, (size_t)(n - 1) * sizeof *c->end);
    c->end[n - 1] = w->p;
    c->form = i->form = COL_ARRAY;
    c->full = c->ranged = true;
    s->n = n;
}

static void fill_range(strip *s)
{
    const int64_t left = s->last - s->next;
    s->n = left < STRIP ? (int)left : STRIP;
    s->icol[0].form = COL_STEP;
    s->icol[0].base = s->next;
    const merge_desc *m = s->s.l->merge;
    for (int b = 0; b < m->count; b++) {
        if (!operand_walks(&m->operand[b])) continue;
        const int64_t p = s->walk[0].p + (s->next - s->walk[0].lo);
        set_operand(s, b, (column){.form = COL_STEP, .full = true, .base = p});
    }
    s->next += s->n;
}

/* The located operand's coordinate in each lane, as an array in c->data; one
 * beyond 64 bits is in no level. */
static void located_coords(const machine *mc, const strip *s, const merge_operand *o,
                           column *c)
{
    const int64_t shift = o->shift == ROOT ? 0 : mc->i[o->shift];
    const column *i = &s->icol[0];
    for (int k = 0; k < s->n; k++) {
        int64_t x;
        if (__builtin_mul_overflow(column_get(i, k), o->coef, &x) ||
            __builtin_add_overflow(x, shift, &x))
            x = INT64_MAX;
        c->data[k] = x;
    }
}

/* Positions of a located operand from the strip's coordinates. Lanes in which
 * it lies outside its level are absent. */
static void place_located(machine *mc, strip *s, int b)
{
    const merge_operand *o = &s->s.l->merge->operand[b];
    column *c = operand_column(s, b);
    const cursor *up = o->up == ROOT ? NULL : &mc->c[o->up].c;
    const level *lv = &mc->slot[o->tensor].t->level[o->level];
    fiber_view v;
    c->ranged = false;
    if (up && up->at == NONE) {
        c->form = COL_FIXED;
        c->base = NONE;
        return;
    }
    lv->kind->view(lv, up ? up->at : 0, up ? up->coord : 0, &v);
    if (!fiber_covers(lv, &v)) {
        located_coords(mc, s, o, c);
        c->form = COL_ARRAY;
        c->full = machine_look_up(mc, o->tensor, lv, up ? up->at : 0, c->data,
                                  sizeof *c->data, sizeof *c->data, s->n, c->data) == s->n;
        return;
    }
    const int64_t shift = o->shift == ROOT ? 0 : mc->i[o->shift];
    const column *i = &s->icol[0];
    c->full = true;
    int64_t at;
    if (o->coef == 1 && i->form == COL_STEP &&
        !__builtin_add_overflow(i->base, shift, &at) && at >= v.lo && at <= v.hi - s->n) {
        c->form = COL_STEP;
        c->base = v.begin + (at - v.lo);
        return;
    }
    c->form = COL_ARRAY;
    if (o->coef == 1 && shift == 0 &&
        column_moved(i, s->n, v.lo, v.hi - v.lo, v.begin, c->data))
        return;
    bool full = true;
    for (int k = 0; k < s->n; k++) {
        int64_t x;
        const bool in = !__builtin_mul_overflow(column_get(i, k), o->coef, &x) &&
                        !__builtin_add_overflow(x, shift, &x) && x >= v.lo && x < v.hi;
        c->data[k] = in ? v.begin + (x - v.lo) : NONE;
        full &= in;
    }
    c->full = full;
}

/* Filling has left out what can't produce whatever is located, and all that is
 * located is there: then all lanes produce. */
bool strip_settled(const merge_desc *m, uint64_t located, uint64_t sure, uint64_t maybe)
{
    uint64_t table = m->produce;
    if (m->count > MERGE_TABLE_MAX || located & ~sure) return false;
    for (int b = 0; located >> b; b++)
        if (located >> b & 1) table = table_fix(table, b, true);
    return table == maybe;
}

/* Operand by operand: a position that is there has no sign. */
void strip_masks(strip *s, uint64_t sure, uint64_t maybe)
{
    uint64_t *mask = s->mask;
    for (int k = 0; k < s->n; k++)
        mask[k] = sure;
    for (; maybe; maybe &= maybe - 1) {
        const int b = __builtin_ctzll(maybe);
        const int64_t *at = s->place[1 + b].data;
        for (int k = 0; k < s->n; k++)
            mask[k] |= (uint64_t)(at[k] >= 0) << b;
    }
}

/* Masks of the strip, known from its columns; lanes that don't produce go. */
static void settle_masks(strip *s)
{
    const merge_desc *m = s->s.l->merge;
    uint64_t sure = s->known, maybe = 0;
    for (int b = 0; b < m->count; b++) {
        if (m->operand[b].role == MERGE_KNOWN) continue;
        const column *c = operand_column(s, b);
        if (c->form == COL_FIXED ? c->base != NONE : c->full) {
            sure |= UINT64_C(1) << b;
        } else if (c->form != COL_FIXED) {
            maybe |= UINT64_C(1) << b;
        }
    }
    if (!maybe && !(s->produce >> sure & 1)) s->n = 0;
    const bool sifts =
        maybe && (s->fill != FILL_KEYS || !strip_settled(m, s->located, sure, s->maybe));
    if (sifts || s->masks) strip_masks(s, sure, maybe);
    if (!sifts) return;
    int n = 0;
    for (int k = 0; k < s->n; k++) {
        s->keep[n] = k;
        n += (int)(s->produce >> s->mask[k] & 1);
    }
    s->done = -1; /* nothing but operands is there yet */
    if (n < s->n) strip_compact(s, n);
}

bool strip_next(machine *mc, strip *s)
{
    const merge_desc *m = s->s.l->merge;
    if (!left(s)) return false;
    switch (s->fill) {
    case FILL_STEPS:
        fill_steps(mc, s);
        return true;
    case FILL_COORDS:
        fill_coords(s);
        break;
    case FILL_GROUPS:
        fill_groups(s);
        break;
    case FILL_RANGE:
        fill_range(s);
        break;
    case FILL_EVERY:
        strip_fill_every(s);
        break;
    default:
        strip_fill_keys(s);
        break;
    }
    for (int b = 0; b < m->count; b++)
        if (m->operand[b].role == MERGE_LOCATE) place_located(mc, s, b);
    settle_masks(s);
    return true;
}

/* ---- leaving lanes out --------------------------------------------------------- */

static void compact_column(column *c, const int *keep, int n)
{
    if (c->form == COL_FIXED) return;
    for (int k = 0; k < n; k++) {
        if (c->ranged) c->end[k] = c->end[keep[k]];
        c->data[k] = column_get(c, keep[k]);
    }
    c->form = COL_ARRAY;
}

/* Keeps lanes keep[0 … n) of every column that is there: of the operands alone
 * if nothing else has been made yet (done < 0). Of a strip in which something failed
 * there go on those before it; its own lane comes behind them, to tell where that was. */
void strip_compact(strip *s, int n)
{
    const bool all = s->done >= 0;
    const int icols = all ? s->s.nicol : 1;
    const int places = all ? s->s.nplace : 1 + s->s.l->merge->count;
    int lanes = n;
    if (all && s->fault) {
        n = 0;
        while (n < lanes && s->keep[n] < s->fault_lane)
            n++;
        s->keep[n] = s->fault_lane;
        s->fault_lane = n;
        lanes = n + 1;
    }
    for (int k = 0; k < lanes; k++)
        s->mask[k] = s->mask[s->keep[k]];
    for (int k = 0; s->rows && k < lanes; k++)
        s->rows[k] = s->rows[s->keep[k]];
    for (int k = 0; s->len && k < lanes; k++)
        s->len[k] = s->len[s->keep[k]];
    for (int k = 0; k < icols; k++)
        if (s->s.icol[k].varies) compact_column(&s->icol[k], s->keep, lanes);
    for (int k = 1; k < places; k++)
        if (s->s.place[k].varies) compact_column(&s->place[k], s->keep, lanes);
    for (int k = 0; all && k < s->s.nnode; k++) {
        const node *x = &s->s.node[k];
        vcolumn *c = &s->node[k];
        if (!x->varies || !c->p || (k >= s->done && x->kind != NODE_GIVEN)) continue;
        class_gather((vclass)x->cls, c->data, c->p, s->keep, n);
        c->p = c->data;
    }
    s->n = n;
}
