/* affine_taps.c: the taps of an affine nest, listed.
 *
 * Takes the levels of the sparse operand with the indices that are tried at
 * each (affine.c), and gives for each choice of them where it leads to, as
 * offsets in the lines of the result, of the factors and of the solved
 * indices. Where a coefficient isn't ±1 (strides), a coordinate has taps by its
 * remainder only: the rows of taps are kept by these, the classes.
 *
 * Offsets don't depend on where the loops outside stand, so that a nest which runs
 * for each row of a result lists them once.
 */
#include "affine.h"
#include <string.h>

enum { TAPS_LISTED = 4096 }; /* rows, before they are joined */
enum { TAPS_TRIED = 1 << 20 };

typedef struct lister {
    machine *mc;
    affine *a;
    int tried[AFFINE_INDICES], ntried;
    bool even;                     /* the last of them moves all else in even steps */
    int64_t value[AFFINE_INDICES]; /* of all indices; those solved: 0               */
    int64_t least[STC_MAX_ORDER], most[STC_MAX_ORDER]; /* `back` of all taps         */
    int64_t last[AFFINE_CLASSES]; /* row of each class, -1: none                    */
    int64_t n, rows, taps;
    bool far; /* something led too far */
    stc_status status;
} lister;

static int64_t modulo(int64_t a, int64_t n)
{
    const int64_t r = a % n;
    return r < 0 ? r + n : r;
}

/* *sum += a * b; true far from what a sum of a few may reach. */
static bool add_times(int64_t *sum, int64_t a, int64_t b)
{
    const int64_t far = INT64_C(1) << 60;
    int64_t t;
    bool bad = __builtin_mul_overflow(a, b, &t);
    bad |= __builtin_add_overflow(*sum, t, sum);
    return bad | (t <= -far) | (t >= far) | (*sum <= -far) | (*sum >= far);
}

/* What a line has of the tried indices, and of the first `levels` solved ones. */
static int64_t part_of(lister *s, int line, const affine_tap *t, int levels)
{
    const affine *a = s->a;
    const int64_t *coef = a->line[line].coef;
    int64_t sum = 0;
    for (int k = 0; k < s->ntried; k++)
        s->far |= add_times(&sum, coef[s->tried[k]], s->value[s->tried[k]]);
    for (int l = 0; l < levels; l++)
        s->far |= add_times(&sum, coef[a->level[l].solved], -t->back[l]);
    return s->far ? 0 : sum; /* then the list isn't used */
}

/* What the indices in `value` lead to. */
static affine_tap lead(lister *s)
{
    const affine *a = s->a;
    affine_tap t = {.n = 1};
    for (int l = 0; l < a->nlevel; l++) {
        const affine_window *w = &a->window[l];
        const int64_t x = part_of(s, a->level[l].line, &t, l);
        const int64_t r = modulo(x, w->step < 0 ? -w->step : w->step);
        t.class += (int)(r * w->radix);
        t.back[l] = (x - r) / w->step;
    }
    for (int k = 0; k < a->nload; k++)
        t.at[k] = part_of(s, k, &t, a->nlevel);
    return t;
}

static void set_steps(affine_tap *t, const affine_tap *next)
{
    for (int k = 0; k < AFFINE_LOADS; k++)
        t->hop[k] = next->at[k] - t->at[k];
    for (int l = 0; l < STC_MAX_ORDER; l++)
        t->turn[l] = next->back[l] - t->back[l];
}

/* Whether x, one tap, goes on in the steps of t. */
static bool follows(const affine_tap *t, const affine_tap *x)
{
    for (int k = 0; k < AFFINE_LOADS; k++)
        if (x->at[k] != t->at[k] + t->n * t->hop[k]) return false;
    for (int l = 0; l < STC_MAX_ORDER; l++)
        if (x->back[l] != t->back[l] + t->n * t->turn[l]) return false;
    return true;
}

static bool add_row(lister *s, const affine_tap *x)
{
    affine *a = s->a;
    affine_tap *t = s->last[x->class] < 0 ? NULL : &a->draft[s->last[x->class]];
    for (int l = 0; l < a->nlevel; l++)
        for (int end = 0; end < 2; end++) {
            const int64_t back = x->back[l] + end * (x->n - 1) * x->turn[l];
            if (back < s->least[l]) s->least[l] = back;
            if (back > s->most[l]) s->most[l] = back;
        }
    if (t && x->n == 1) {
        if (t->n == 1) set_steps(t, x);
        if (follows(t, x)) {
            t->n++;
            return true;
        }
    }
    if (++s->rows > TAPS_LISTED) return false;
    if (s->n == a->draft_cap) {
        s->status =
            mem_grow(s->mc->cx, &a->draft, &a->draft_cap, s->n + 1, sizeof *a->draft);
        if (s->status) return false;
    }
    s->last[x->class] = s->n;
    a->draft[s->n++] = *x;
    return true;
}

/* All values of the k-th tried index, and of those after it. */
static bool list_from(lister *s, int k)
{
    const affine *a = s->a;
    affine_tap x, next;
    if (k == s->ntried) {
        x = lead(s);
        return !s->far && ++s->taps <= TAPS_TRIED && add_row(s, &x);
    }
    const int d = s->tried[k];
    if (k + 1 == s->ntried && s->even) {
        s->value[d] = a->lo[d];
        x = lead(s);
        x.n = a->hi[d] - a->lo[d];
        s->value[d] += x.n > 1;
        next = lead(s);
        set_steps(&x, &next);
        s->value[d] = a->hi[d] - 1; /* the farthest: it must not be too far */
        (void)lead(s);
        return add_row(s, &x);
    }
    for (s->value[d] = a->lo[d]; s->value[d] < a->hi[d]; s->value[d]++)
        if (!list_from(s, k + 1)) return false;
    return true;
}

/* Which coordinates have taps. */
static void set_windows(const lister *s)
{
    affine *a = s->a;
    for (int l = 0; l < a->nlevel; l++) {
        affine_window *w = &a->window[l];
        const int64_t lo = a->lo[a->level[l].solved], hi = a->hi[a->level[l].solved];
        const int64_t c = w->step, most = (c < 0 ? -c : c) - 1;
        w->some_lo = lo + s->least[l];
        w->some_hi = hi + s->most[l];
        w->all_lo = lo + s->most[l];
        w->all_hi = hi + s->least[l];
        w->min = c * (c > 0 ? w->some_lo : w->some_hi - 1);
        w->max = c * (c > 0 ? w->some_hi - 1 : w->some_lo) + most;
    }
}

static stc_status sort_rows(lister *s)
{
    affine *a = s->a;
    if (s->n > a->tap_cap &&
        mem_grow(s->mc->cx, &a->tap, &a->tap_cap, s->n, sizeof *a->tap))
        return s->mc->cx->diag.status;
    a->ntap = 0;
    for (int c = 0; c < AFFINE_CLASSES; c++) {
        a->first[c] = a->ntap;
        for (int64_t k = 0; k < s->n; k++)
            if (a->draft[k].class == c) a->tap[a->ntap++] = a->draft[k];
    }
    a->first[AFFINE_CLASSES] = a->ntap;
    return STC_OK;
}

/* Steps and classes; false: too many, or a level that solves nothing. */
static bool classes(lister *s)
{
    affine *a = s->a;
    int64_t radix = 1;
    for (int l = 0; l < a->nlevel; l++) {
        const affine_level *lv = &a->level[l];
        if (lv->solved < 0) return false;
        const int64_t c = a->line[lv->line].coef[lv->solved];
        if ((uint64_t)c + AFFINE_CLASSES > 2 * AFFINE_CLASSES) return false;
        a->window[l].step = c;
        a->window[l].radix = radix;
        radix *= c < 0 ? -c : c;
        if (radix > AFFINE_CLASSES) return false;
        if (lv->ntried) s->even = true;
        s->even = s->even && (c == 1 || c == -1);
        for (int k = 0; k < lv->ntried; k++)
            s->tried[s->ntried++] = lv->tried[k];
    }
    return true;
}

/* Whether the last list serves; else it is noted that one for this run is made. */
static bool listed(affine *a)
{
    const int lines = a->nload + a->nlevel;
    bool same = a->tapped || a->untapped;
    for (int k = 0; k < lines; k++) {
        same = same && !memcmp(a->listed[k].coef, a->line[k].coef, sizeof a->line[k].coef);
        a->listed[k] = a->line[k];
    }
    same = same && !memcmp(a->listed_lo, a->lo, sizeof a->lo) &&
           !memcmp(a->listed_hi, a->hi, sizeof a->hi);
    memcpy(a->listed_lo, a->lo, sizeof a->lo);
    memcpy(a->listed_hi, a->hi, sizeof a->hi);
    return same;
}

stc_status affine_list_taps(machine *mc, affine *a)
{
    if (listed(a)) return STC_OK;
    lister s = {.mc = mc, .a = a};
    a->tapped = a->untapped = false;
    for (int c = 0; c < AFFINE_CLASSES; c++)
        s.last[c] = -1;
    for (int l = 0; l < STC_MAX_ORDER; l++)
        s.least[l] = INT64_MAX, s.most[l] = INT64_MIN;
    if (!classes(&s) || !list_from(&s, 0) || s.far) {
        a->untapped = !s.status;
        return s.status;
    }
    if (sort_rows(&s)) return mc->cx->diag.status;
    set_windows(&s);
    a->tapped = true;
    return STC_OK;
}
