/* interval_spell.c: rows element by element, where elements are what it comes to.
 *
 * Where an operand differs at each coordinate, or where all elements of a result are
 * added to, lanes are the elements of rows, one row after the other. Runs and tokens are
 * spelt out into strips as memory is filled, without a position for each; what isn't
 * compressed is read where it stands. A result of runs takes what differs from the
 * element before it. Where all operands are runs, however short, merging them costs less
 * than to spell them out and to find runs again: that was tried (2 to 4 times the time
 * at runs of 1 … 16 elements).
 */
#include "interval.h"
#include <string.h>

enum { SLACK = 16, LANES = STRIP - SLACK / 8 }; /* bytes written behind a run, at most */
/* ---- which loops -------------------------------------------------------------------- */

static bool spells(const machine *mc, const ivl_loop *v, const ivl_walk *w)
{
    const fiber_table *t = &w->t;
    const tensor *from = interval_loaded(mc, v, w->place);
    const size_t size = from ? type_size(from->type) : 0;
    const column *up = w->parent; /* every row must be there */
    if (!up ? w->root < 0 : up->form == COL_ARRAY ? !up->full : up->base < 0) return false;
    if (size < 1 || size > 8 || !w->plain) return false;
    if (t->shape == VIEW_RANGE) return t->lo <= v->begin && t->hi >= v->end;
    return (t->shape == VIEW_RUNS || t->shape == VIEW_TOKENS) && t->width == 4 &&
           t->lo == v->begin && t->hi == v->end;
}

bool spell_start(const machine *mc, ivl_loop *v)
{
    const merge_desc *m = v->g.s.l->merge;
    bool driven = m->universe, ranges = false;
    uint64_t mask = 0;
    if (v->led || v->repeats || v->summed != UNLINKED || m->count != v->nwalk ||
        v->begin >= v->end || v->end > INT32_MAX || !interval_takes_elements(mc, v))
        return false;
    for (int k = 0; k < v->nwalk; k++) {
        if (!spells(mc, v, &v->walk[k])) return false;
        ranges |= v->walk[k].t.shape == VIEW_RANGE;
        driven |= v->walk[k].drives;
        mask |= v->walk[k].bit;
    }
    if (!driven || !merge_produces(m, mask)) return false;
    v->i = v->begin;
    return ranges || v->g.s.sink[0].kind >= SINK_ACC;
}

/* ---- a strip ------------------------------------------------------------------------ */

/* `n` bytes of a word, and up to SLACK more. */
static inline void spread_word(char *to, int64_t n, uint64_t word)
{
    const uint64_t two[2] = {word, word};
    for (int64_t b = 0; b < n; b += SLACK)
        memcpy(to + b, two, SLACK);
}

static inline __attribute__((always_inline)) uint64_t repeat_value(const char *v,
                                                                   const size_t size)
{
    uint64_t word = 0;
    memcpy(&word, v, size);
    return size == 1   ? word * UINT64_C(0x0101010101010101)
           : size == 2 ? word * UINT64_C(0x0001000100010001)
           : size == 4 ? word * UINT64_C(0x0000000100000001)
                       : word;
}

/* Elements [i, e) of the row that an operand is in, at w->p. */
static inline __attribute__((always_inline)) void
spell_row(ivl_walk *w, int64_t i, int64_t e, const char *vals, char *to, const size_t size)
{
    const fiber_table *t = &w->t;
    const int32_t *crd = t->crd;
    while (i < e) {
        const int64_t hi = w->p + 1 < w->end ? crd[w->p + 1] : t->hi;
        const int64_t stop = hi < e ? hi : e, n = stop - i;
        int64_t at = w->p, period = 1;
        if (t->shape == VIEW_TOKENS) {
            at = index_at(t->aux, t->aux_width, 2 * w->p);
            period = index_at(t->aux, t->aux_width, 2 * w->p + 1);
        }
        if (period == 1) {
            spread_word(to, n * (int64_t)size,
                        repeat_value(vals + at * (int64_t)size, size));
        } else {
            int64_t off = i - crd[w->p];
            for (int64_t k = 0, left; k < n; k += left, off += left) {
                if (period) off %= period;
                left = period && period - off < n - k ? period - off : n - k;
                memcpy(to + k * (int64_t)size, vals + (at + off) * (int64_t)size,
                       (size_t)left * size);
            }
        }
        to += n * (int64_t)size;
        i = stop;
        w->p += stop == hi;
    }
}

static void spell_walk(ivl_walk *w, int64_t i, int64_t e, const char *vals, char *to,
                       size_t size)
{
    size == 1   ? spell_row(w, i, e, vals, to, 1)
    : size == 2 ? spell_row(w, i, e, vals, to, 2)
    : size == 4 ? spell_row(w, i, e, vals, to, 4)
                : spell_row(w, i, e, vals, to, 8);
}

/* An operand that isn't compressed: where it stands, if its rows follow each other. */
static void read_ranges(const ivl_loop *v, const ivl_walk *w, const char *vals, column *c,
                        size_t size)
{
    const int64_t width = w->t.hi - w->t.lo;
    bool follow = true;
    for (int f = 0; f < v->nfiber; f++) {
        const int64_t p =
            walk_parent(w, v->fiber[f]) * width + v->at[v->start[f]] - w->t.lo;
        if (f == 0) c->base = p;
        follow &= p == c->base + v->start[f];
    }
    for (int f = 0; !follow && f < v->nfiber; f++) {
        const int64_t p =
            walk_parent(w, v->fiber[f]) * width + v->at[v->start[f]] - w->t.lo;
        memcpy((char *)c->data + (size_t)v->start[f] * size, vals + p * (int64_t)size,
               (size_t)(v->start[f + 1] - v->start[f]) * size);
    }
    if (follow) return;
    c->base = 0;
    c->vals = c->data;
}

/* Which rows the next strip is of: from where they begin. */
static int next_rows(ivl_loop *v)
{
    int n = 0;
    v->nfiber = 0;
    while (n < LANES && v->lane < v->lanes) {
        const int64_t left = v->end - v->i;
        const int take = left < LANES - n ? (int)left : LANES - n;
        v->fiber[v->nfiber] = v->lane;
        v->start[v->nfiber++] = n;
        v->at[n] = (int32_t)v->i;
        n += take;
        v->i += take;
        v->next = v->i;
        if (v->i < v->end) break;
        v->i = v->begin;
        v->lane++;
    }
    v->start[v->nfiber] = n;
    return n;
}

void spell_fill(const machine *mc, ivl_loop *v)
{
    v->g.n = next_rows(v);
    for (int k = 0; k < v->nwalk; k++) {
        ivl_walk *w = &v->walk[k];
        column *c = &v->g.place[w->place];
        const tensor *t = interval_loaded(mc, v, w->place);
        const size_t size = type_size(t->type);
        c->form = COL_STEP;
        c->full = true;
        c->ranged = false;
        c->vals = NULL;
        if (w->t.shape == VIEW_RANGE) {
            read_ranges(v, w, t->vals, c, size);
            continue;
        }
        c->base = 0;
        c->vals = c->data;
        for (int f = 0; f < v->nfiber; f++) {
            const int from = v->start[f], n = v->start[f + 1] - from;
            const int64_t up = walk_parent(w, v->fiber[f]);
            if (v->at[from] == v->begin) w->p = fiber_bound(&w->t, up);
            w->end = fiber_bound(&w->t, up + 1);
            spell_walk(w, v->at[from], v->at[from] + n, walk_vals(w, t),
                       (char *)c->data + (size_t)from * size, size);
        }
    }
    v->g.icol[0].form = COL_ARRAY;
}

/* ---- runs again --------------------------------------------------------------------- */

/* Of lanes [from, to), the first of which has coordinate i: those that differ from the one
 * before, and the first, to `at` and `val`. Blocks in which none does are passed over. */
enum { BLOCK = 16 };
#define DIFFER(BITS)                                                                       \
    static int differ_##BITS(const void *in, int from, int to, int32_t i, int32_t *at,     \
                             void *val)                                                    \
    {                                                                                      \
        const uint##BITS##_t *e = (const uint##BITS##_t *)in;                              \
        uint##BITS##_t *v = val;                                                           \
        int n = 1;                                                                         \
        at[0] = i;                                                                         \
        v[0] = e[from];                                                                    \
        for (int k = from + 1; k < to; k++) {                                              \
            for (; k + BLOCK <= to; k += BLOCK) {                                          \
                uint##BITS##_t any = 0;                                                    \
                for (int j = 0; j < BLOCK; j++)                                            \
                    any |= (uint##BITS##_t)(e[k + j] ^ e[k + j - 1]);                      \
                if (any) break;                                                            \
            }                                                                              \
            for (const int end = to - k < BLOCK ? to : k + BLOCK; k < end; k++) {          \
                at[n] = i + k - from;                                                      \
                v[n] = e[k];                                                               \
                n += e[k] != e[k - 1];                                                     \
            }                                                                              \
            k--;                                                                           \
        }                                                                                  \
        return n;                                                                          \
    }
DIFFER(8)
DIFFER(16)
DIFFER(32)
DIFFER(64)

const void *spell_join(ivl_loop *v, const void *elems, size_t size)
{
    char *out = (char *)v->of->pos;
    int n = 0, from = 0;
    for (int f = 0, to; f < v->nfiber; f++, from = to) {
        const int32_t i = v->at[from];
        void *val = out + (size_t)n * size;
        to = v->start[f + 1];
        v->start[f] = n;
        n += size == 1   ? differ_8(elems, from, to, i, v->at + n, val)
             : size == 2 ? differ_16(elems, from, to, i, v->at + n, val)
             : size == 4 ? differ_32(elems, from, to, i, v->at + n, val)
                         : differ_64(elems, from, to, i, v->at + n, val);
    }
    v->start[v->nfiber] = n;
    v->g.n = n;
    return out;
}
