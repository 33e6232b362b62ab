/* super_sift.c: what a fiber that a row has once leaves of the fibers that are scattered
 * into it: the rows of masked products.
 *
 *     for k: for j in fiber(k) and mask: w(j) fold= term(factors(k), value(k,j))
 *
 * Of each fiber of a chunk the elements that the mask has, too, are listed beside each
 * other with their values, and the kernels of scatter.def scatter those. How they are found
 * is chosen by what there is to look at, fiber by fiber: the mask's coordinates are sought
 * in a fiber that is longer by far (which inner products of the mask's entries would save,
 * without columns to read); a fiber's in the mask, where all of the chunk's are few beside
 * it; else the mask is marked, once a row, and elements are looked up there (the marked
 * accumulator of GraphBLAS). All three give the same elements in the same order.
 */
#include "../core/coords.h"
#include "../nest/fibers.h"
#include "scatter.h"
#include "super_marks.h"
#include <string.h>

/* So many elements are sifted at a time, if they aren't one fiber's; fibers so far ahead
 * are asked for. */
enum { SIEVE_MOST = 1 << 12, AHEAD = 8 };

/* ---- one fiber ---------------------------------------------------------------------- */

/* SEEK: positions of what two fibers share, the short one's coordinates sought in the
 * other; LOOK: where marks have an element's coordinate, the fiber's and the mask's. */
#define SIFT(W)                                                                            \
    static int64_t seek_##W(const index_##W *few, int64_t p, int64_t pe,                   \
                            const index_##W *many, int64_t q, int64_t qe, int64_t *at_few, \
                            int64_t *at_many)                                              \
    {                                                                                      \
        int64_t n = 0;                                                                     \
        for (; p < pe && q < qe; p++) {                                                    \
            int64_t stride = 1;                                                            \
            while (stride < qe - q && many[q + stride] < few[p]) {                         \
                q += stride;                                                               \
                stride *= 2;                                                               \
            }                                                                              \
            const int64_t left = qe - q < stride + 1 ? qe - q : stride + 1;                \
            q += coords_below(many + q, W / 8, left, few[p]);                              \
            at_few[n] = p;                                                                 \
            at_many[n] = q;                                                                \
            n += q < qe && many[q] == few[p];                                              \
        }                                                                                  \
        return n;                                                                          \
    }                                                                                      \
    static int64_t look_##W(const marks *x, const index_##W *crd, int64_t p, int64_t e,    \
                            int64_t *own, int64_t *met)                                    \
    {                                                                                      \
        int64_t n = 0;                                                                     \
        while (p < e)                                                                      \
            n += marks_probe_##W(x, crd, &p, e, own + n);                                  \
        for (int64_t h = 0; h < n; h++)                                                    \
            met[h] = marks_place_##W(x, crd, own[h]);                                      \
        return n;                                                                          \
    }                                                                                      \
    static void mark_##W(index_##W *at, const index_##W *crd, int64_t p, int64_t e,        \
                         bool set)                                                         \
    {                                                                                      \
        for (; p < e; p++)                                                                 \
            at[crd[p]] = set ? (index_##W)(p + 1) : 0;                                     \
    }                                                                                      \
    static int64_t shared_##W(const scatter *sc, const marks *x, int64_t p, int64_t e,     \
                              int64_t *own, int64_t *met)                                  \
    {                                                                                      \
        const sieve *v = &sc->sieve;                                                       \
        if (e - p > LONGER * (v->e - v->p))                                                \
            return seek_##W(v->f.crd, v->p, v->e, v->all, p, e, met, own);                 \
        if (!v->marked) return seek_##W(v->all, p, e, v->f.crd, v->p, v->e, own, met);     \
        return look_##W(x, v->all, p, e, own, met);                                        \
    }
SIFT(32)
SIFT(64)

/* Elements of some size at positions `at`, side by side. */
static void gather(void *to, const void *from, const int64_t *at, int64_t n, size_t size)
{
#define GATHER(T)                                                                          \
    for (int64_t k = 0; k < n; k++)                                                        \
    ((T *)to)[k] = ((const T *)from)[at[k]]
    switch (size) {
    case 1:
        GATHER(uint8_t);
        break;
    case 2:
        GATHER(uint16_t);
        break;
    case 4:
        GATHER(uint32_t);
        break;
    case 16:
        GATHER(cdouble);
        break;
    default: /* 8 */
        GATHER(uint64_t);
        break;
    }
#undef GATHER
}

/* ---- of a run, of a row ---------------------------------------------------------------
 */

bool sieve_ready(machine *mc, scatter *sc, int64_t lo, int64_t hi)
{
    sieve *v = &sc->sieve;
    const tensor *t = mc->slot[v->tensor].t;
    const level *lv = &t->level[v->level];
    level_fibers(lv, &v->f);
    if (!fibers_listed(&v->f) || v->f.width != (sc->kernel == sc->narrow ? 4 : 8) ||
        !(lv->props & PROP_ORDERED) || !level_inside(lv, lo, hi) ||
        !tensor_unique(t, v->level))
        return false;
    v->vals = v->valued ? t->vals : NULL;
    v->all = sc->crd;
    v->all_vals = sc->vals;
    v->marked = false;
    v->places = 0;
    if (hi > MARKS_MAX) return true;
    if (marks_room(mc, hi, v->f.width))
        diag_clear(mc->cx); /* without marks, then */
    else
        v->places = hi;
    return true;
}

bool sieve_open(machine *mc, scatter *sc)
{
    sieve *v = &sc->sieve;
    const int64_t up = v->up == ROOT ? 0 : mc->c[v->up].c.at;
    if (up < 0) return false;
    machine_saw(mc, SEEN_FIBERS, 1);
    v->p = fiber_bound(&v->f, up);
    v->e = fiber_bound(&v->f, up + 1);
    return v->p < v->e;
}

static void mark(machine *mc, const scatter *sc, bool set)
{
    const sieve *v = &sc->sieve;
    if (sc->kernel == sc->narrow)
        mark_32(mc->marks, v->f.crd, v->p, v->e, set);
    else
        mark_64(mc->marks, v->f.crd, v->p, v->e, set);
}

void sieve_close(machine *mc, scatter *sc)
{
    if (sc->sieve.marked) mark(mc, sc, false);
    sc->sieve.marked = false;
}

/* Room for n elements: positions and coordinates, eight bytes each, values and factors. */
static stc_status room(ctx *cx, sieve *v, int64_t n)
{
    enum { ARRAYS = 3 + 2 * sizeof(value) / sizeof(int64_t) };
    if (n <= v->cap) return STC_OK;
    sieve_free(cx, v);
    const int64_t cap = n < SCATTER_CHUNK ? SCATTER_CHUNK : n + n / 2;
    v->own = mem_array(cx, cap, ARRAYS * sizeof *v->own);
    if (!v->own) return cx->diag.status;
    v->size = (size_t)cap * ARRAYS * sizeof *v->own;
    v->cap = cap;
    v->met = v->own + cap;
    v->left = v->met + cap;
    v->val = v->own + 3 * cap;
    v->by = (value *)v->val + cap;
    return STC_OK;
}

void sieve_free(ctx *cx, sieve *v)
{
    mem_free(cx, v->own, v->size);
    v->own = NULL;
    v->cap = 0;
    v->size = 0;
}

/* ---- the fibers of a chunk ------------------------------------------------------------
 */

/* The values of n elements: the fibers', the mask's, or the term of both. */
static void put_values(scatter *sc, int64_t n)
{
    enum { PIECE = 1 << 12 };
    sieve *v = &sc->sieve;
    const size_t size = type_size((stc_type)sc->type);
    sc->vals = v->all_vals || v->vals ? v->val : NULL;
    if (v->all_vals) gather(v->val, v->all_vals, v->own, n, size);
    if (v->vals) gather(v->all_vals ? v->by : v->val, v->vals, v->met, n, size);
    for (int64_t k = 0; k < n && v->all_vals && v->vals; k += PIECE) {
        char *to = (char *)v->val + k * (int64_t)size,
             *by = (char *)v->by + k * (int64_t)size;
        const int some = n - k < PIECE ? (int)(n - k) : PIECE;
        fn_array_of(sc->term, (vclass)sc->cls)(to, to, by, NULL, some);
    }
}

/* How many of n fibers there is room for, one at least; how many elements they have. */
static int fitting(const scatter *sc, int n, int64_t *all, int64_t *looked)
{
    const int64_t mask = sc->sieve.e - sc->sieve.p;
    *all = *looked = 0;
    for (int k = 0; k < n; k++) {
        const int64_t size = sc->to[k] - sc->from[k];
        const int64_t least = size > LONGER * mask ? mask : size;
        if (k > 0 && *looked + least > SIEVE_MOST) return k;
        *all += size;
        *looked += least;
    }
    return n;
}

stc_status sieve_fibers(machine *mc, scatter *sc, int *n, int64_t *rounds)
{
    sieve *v = &sc->sieve;
    const bool narrow = sc->kernel == sc->narrow;
    const int width = narrow ? 4 : 8;
    int64_t all, found = 0;
    *n = fitting(sc, *n, &all, rounds);
    if (room(mc->cx, v, *rounds + MARK_PROBES)) return mc->cx->diag.status;
    if (!v->marked && v->places && v->e - v->p <= LONGER * all) {
        v->marked = true;
        mark(mc, sc, true);
    }
    const marks x = {.at = mc->marks};
    for (int k = 0; k < *n; k++) {
        const int64_t p = sc->from[k], e = sc->to[k];
        if (k + AHEAD < *n)
            __builtin_prefetch((const char *)v->all + sc->from[k + AHEAD] * width);
        sc->from[k] = found;
        found += narrow ? shared_32(sc, &x, p, e, v->own + found, v->met + found)
                        : shared_64(sc, &x, p, e, v->own + found, v->met + found);
        sc->to[k] = found;
    }
    gather(v->left, v->all, v->own, found, (size_t)width);
    sc->crd = v->left;
    put_values(sc, found);
    return STC_OK;
}

void sieve_next(scatter *sc, int n, int all)
{
    const size_t left = (size_t)(all - n), size = type_size(class_type((vclass)sc->cls));
    memmove(sc->from, sc->from + n, left * sizeof *sc->from);
    memmove(sc->to, sc->to + n, left * sizeof *sc->to);
    memmove(sc->by, sc->by + (size_t)n * size, left * size);
}
