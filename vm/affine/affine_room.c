/* affine_room.c: a dense result under an affine nest gets its fills just ahead of
 * the walk, while that part of it is in the cache anyway; and where few entries
 * reach few of its lines, they are marked, so that the next run fills no others
 * (stains.c).
 */
#include "affine.h"

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Lines that a row of taps marks for one entry, at most. */
static int64_t lines_of(const affine_room *room, const affine_tap *t)
{
    const int64_t hop = t->hop[0] < 0 ? -t->hop[0] : t->hop[0];
    return hop >> room->shift ? 2 * t->n : (hop * (t->n - 1) >> room->shift) + 2;
}

/* Whether marking and filling lines one by one is less than to fill them all. */
static bool few(const affine *a, int64_t stored)
{
    int64_t lines = 0, all;
    for (int64_t k = 0; k < a->ntap; k++)
        if (__builtin_add_overflow(lines, lines_of(&a->room, &a->tap[k]), &lines))
            return false;
    return !__builtin_mul_overflow(lines, 4 * stored, &all) &&
           all <= a->room.places >> a->room.shift;
}

static void begin(const machine *mc, affine *a, int64_t last)
{
    tensor *t = mc->slot[a->sink.a].t;
    a->room = (affine_room){
        .places = last + 1,
        .shift = __builtin_ctz(STAIN_LINE / (unsigned)type_size(t->type)),
        .tensor = t,
    };
    a->out = t->vals;
}

stc_status affine_room_rows(machine *mc, affine *a, int64_t last)
{
    slot *s = &mc->slot[a->sink.a];
    begin(mc, a, last);
    if (s->t->vals_cap <= last) return asm_value(mc, s, last);
    if (a->alone) a->room.mark = stains_ask(s->t, tensor_places(s->t));
    return STC_OK;
}

stc_status affine_room_open(machine *mc, affine *a, int64_t last)
{
    slot *s = &mc->slot[a->sink.a];
    tensor *t = s->t;
    affine_room *room = &a->room;
    begin(mc, a, last);
    if (!a->fiber) {
        if (t->stains.on) t->stains.on = false; /* what is stored now isn't marked */
        return asm_value(mc, s, last);
    }
    room->tap_max = INT64_MIN;
    for (int64_t k = 0; k < a->ntap; k++) {
        const affine_tap *x = &a->tap[k];
        const int64_t far = x->at[0] + (x->hop[0] > 0 ? x->hop[0] * (x->n - 1) : 0);
        if (far > room->tap_max) room->tap_max = far;
    }
    const tensor *from = mc->slot[a->load[0].tensor].t;
    if (a->alone && t->vals_cap > last && (t->stains.on || few(a, from->nvals)))
        room->mark = stains_ask(t, tensor_places(t));
    return t->vals_cap > last ? STC_OK : asm_value(mc, s, last);
}

stc_status affine_room_fill(machine *mc, affine *a, const int64_t *at, int64_t last)
{
    const affine_room *room = &a->room;
    const int l = a->nlevel - 1;
    const affine_window *w = &a->window[l];
    const int64_t oj = a->line[0].coef[a->level[l].solved];
    int64_t x = oj > 0 ? w->some_hi - 1 : w->some_lo;
    if (room->tensor->nvals >= room->places) return STC_OK;
    if (oj > 0 && w->step == 1 && a->level[l].ordered)
        x = at_most(x, last - at[a->level[l].line]);
    const int64_t far = at[0] + oj * x + room->tap_max;
    if (far < room->tensor->nvals) return STC_OK;
    return asm_value(mc, &mc->slot[a->sink.a], at_most(far, room->places - 1));
}

/* The lines of places first … last, as far as there are any. */
static void mark(const affine_room *room, int64_t first, int64_t last)
{
    if (first < 0) first = 0;
    if (last >= room->places) last = room->places - 1;
    if (first > last) return;
    for (int64_t k = first >> room->shift; k <= last >> room->shift; k++)
        room->mark[k] = 1;
}

static void mark_taps(const affine *a, int class, int64_t at)
{
    const affine_room *room = &a->room;
    for (int64_t k = a->first[class]; k < a->first[class + 1]; k++) {
        const affine_tap *t = &a->tap[k];
        const int64_t hop = t->hop[0], width = hop * (t->n - 1), o = at + t->at[0];
        if (!((hop < 0 ? -hop : hop) >> room->shift)) {
            mark(room, o + at_most(width, 0), o + (width > 0 ? width : 0));
            continue;
        }
        for (int64_t q = 0; q < t->n; q++)
            mark(room, o + hop * q, o + hop * q);
    }
}

/* The fibers of plain filters whose rows are no longer than a line, from entry p on;
 * gives the first entry that isn't inside. */
static int64_t mark_filter(const affine *a, const int64_t *at, int64_t p, int64_t end)
{
    /* Copies: marks are bytes, which alias everything. */
    const affine_level lv = a->level[a->nlevel - 1];
    const int rows = a->filter.rows, taps = a->filter.taps;
    const int64_t *const to = a->filter.to;
    const int64_t lo = a->window[a->nlevel - 1].all_lo,
                  hi = a->window[a->nlevel - 1].all_hi;
    const int64_t oj = a->line[0].coef[lv.solved], width = a->filter.hop * (taps - 1);
    const int64_t base = at[lv.line], start = at[0];
    const int shift = a->room.shift;
    uint8_t *const line = a->room.mark;
    for (; p < end; p++) {
        const int64_t x = affine_coord(&lv, p) - base;
        if (x < lo || x >= hi) break;
        for (int r = 0; r < rows; r++) {
            const int64_t o = start + oj * x + to[r];
            line[o >> shift] = 1;
            line[(o + width) >> shift] = 1;
        }
    }
    return p;
}

static bool short_rows(const affine *a)
{
    const int64_t width = a->filter.hop * (a->filter.taps - 1);
    return a->filter.rows && !((width < 0 ? -width : width) >> a->room.shift);
}

void affine_room_mark(const affine *a, const int64_t *at, int64_t begin, int64_t end)
{
    const int l = a->nlevel - 1;
    const affine_window *w = &a->window[l];
    const int64_t oj = a->line[0].coef[a->level[l].solved],
                  n = w->step < 0 ? -w->step : w->step;
    const int class = l ? a->stand[l - 1].class : 0;
    if (n == 1 && !oj) {
        mark_taps(a, class, at[0]);
        return;
    }
    const bool plain = short_rows(a) && !(l && a->stand[l - 1].edges);
    for (int64_t p = begin; p < end; p++) {
        if (plain && (p = mark_filter(a, at, p, end)) == end) return;
        const int64_t y = affine_coord(&a->level[l], p) - at[a->level[l].line];
        const int64_t r = n == 1 ? 0 : y % n < 0 ? y % n + n : y % n;
        const int64_t x = w->step == 1 ? y : (y - r) / w->step;
        if (x < w->some_lo || x >= w->some_hi) continue;
        mark_taps(a, class + (int)(r * w->radix), at[0] + oj * x);
    }
}
