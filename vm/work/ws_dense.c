/* ws_dense.c: the policy `dense`: an accumulator over all coordinates, a bit
 * for each, and the list of those that were touched.
 *
 * Gustavson's row, of any order (workspaces paper, §4.4): insertion finds
 * duplicates by their bit, so that there is nothing to merge, and the all
 * array is the list of touched coordinates, sorted. Several modes are numbered
 * through, the one stored outermost first. Strings of entries are added in two goes:
 * what is new to its place first, then folds of the rest.
 */
#include "ws.h"
#include <string.h>

/* An accumulator that was asked for may have so many coordinates. */
#define DENSE_LIMIT ((int64_t)1 << 28)

/* Words of a bitmap over so many coordinates. */
static int64_t bit_words(int64_t size)
{
    return size / 64 + 1;
}

static void drop(ctx *cx, workspace *w)
{
    mem_free(cx, w->set, (size_t)bit_words(w->extent) * sizeof *w->set);
    mem_free(cx, w->dense, (size_t)w->extent * w->size);
    w->set = NULL;
    w->dense = NULL;
    w->extent = 0;
}

static void dense_free(ctx *cx, workspace *w)
{
    if (w->set) drop(cx, w);
    mem_free(cx, w->touched, (size_t)w->cap * sizeof *w->touched);
    mem_free(cx, w->scratch, (size_t)w->scratch_cap * sizeof *w->scratch);
}

/* Numbers the coordinates; false: there are too many. */
static bool number(const tensor *t, int64_t *stride, int64_t *size)
{
    *size = 1;
    for (int l = t->fmt.levels - 1; l >= 0; l--) {
        const int m = t->fmt.level[l].map.mode;
        stride[m] = *size;
        if (!size_mul(*size, t->shape[m] > 0 ? t->shape[m] : 1, size)) return false;
    }
    return *size <= DENSE_LIMIT;
}

static bool dense_ready(machine *mc, slot *s)
{
    workspace *w = s->ws;
    ctx *cx = mc->cx;
    int64_t size;
    if (!number(s->own, w->stride, &size)) return false;
    if (w->set && w->extent >= size) return true;
    if (w->set) drop(cx, w);
    uint64_t *set = mem_zero(cx, bit_words(size), sizeof *set);
    void *dense = set ? mem_array(cx, size, w->size) : NULL;
    if (!dense) {
        mem_free(cx, set, (size_t)bit_words(size) * sizeof *set);
        diag_clear(cx); /* there is another way */
        return false;
    }
    w->set = set;
    w->dense = dense;
    w->extent = size;
    return true;
}

stc_status ws_touch_room(machine *mc, workspace *w, int64_t n)
{
    if (w->n + n <= w->cap) return STC_OK;
    return mem_grow(mc->cx, &w->touched, &w->cap, w->n + n, sizeof *w->touched);
}

void ws_spell_out(workspace *w)
{
    for (int64_t k = 0; w->alike && k < w->n; k++)
        memcpy((char *)w->dense + w->touched[k] * (int64_t)w->size, &w->one, w->size);
    w->alike = false;
}

void ws_give_values(const workspace *w, tensor *t, int64_t first, const int64_t *place)
{
    char *to = (char *)t->vals + first * (int64_t)type_size(t->type);
    ws_put_values(t->type, to, place, w->alike ? &w->one : w->dense, w->touched, w->n,
                  w->alike);
}

static stc_status put(machine *mc, workspace *w, int64_t i, const value *v, const lop *at)
{
    const uint64_t bit = UINT64_C(1) << (i & 63);
    if (w->set[i >> 6] & bit) {
        const fn_fault fault = ws_fold(w, w->dense, i, v);
        return fault ? machine_fault(mc, at, fault) : STC_OK;
    }
    if (ws_touch_room(mc, w, 1)) return mc->cx->diag.status;
    w->set[i >> 6] |= bit;
    w->touched[w->n++] = i;
    type_store(class_type(w->cls), w->dense, i, *v);
    return STC_OK;
}

static stc_status dense_insert(machine *mc, slot *s, const int64_t *coords, const value *v,
                               const lop *at)
{
    int64_t i = 0;
    for (int m = 0; m < s->row->order; m++)
        i += coords[m] * s->ws->stride[m];
    if (s->ws->alike) ws_spell_out(s->ws);
    return put(mc, s->ws, i, v, at);
}

_Static_assert(DENSE_LIMIT <= INT32_MAX, "met has places in 32 bits");

/* Values at coordinates that were met before, left to be folded. */
typedef struct met {
    int n, at[WS_STRING], end[WS_STRING];
    value vals[WS_STRING]; /* the first bytes of it: values of their class */
} met;

/* First values take their places; the others wait. */
#define PUT_FIRST(BYTES, T)                                                                \
    static void put_first_##BYTES(workspace *w, const int64_t *coords, const void *vals,   \
                                  int n, met *m)                                           \
    {                                                                                      \
        T *acc = w->dense, *rest = (void *)m->vals;                                        \
        const T *x = vals;                                                                 \
        for (int k = 0; k < n; k++) {                                                      \
            const int64_t i = coords[k];                                                   \
            const uint64_t bit = UINT64_C(1) << (i & 63), word = w->set[i >> 6];           \
            if (word & bit) {                                                              \
                rest[m->n] = x[k];                                                         \
                m->at[m->n++] = (int)i;                                                    \
                m->end[m->n - 1] = m->n;                                                   \
                continue;                                                                  \
            }                                                                              \
            w->set[i >> 6] = word | bit;                                                   \
            acc[i] = x[k];                                                                 \
            w->touched[w->n++] = i;                                                        \
        }                                                                                  \
    }
PUT_FIRST(4, uint32_t)
PUT_FIRST(8, uint64_t)
PUT_FIRST(16, cdouble)

bool ws_add_vector(machine *mc, slot *s, const int64_t *coords, const void *vals, int n,
                   int fn, const lop *at, stc_status *st)
{
    workspace *w = s->ws;
    const fn_fold fold = fn_fold_of(fn, (vclass)w->cls);
    met m;
    if (!ws_is_vector(s) || !fold) return false;
    for (int k = 0; k < n; k++)
        if (coords[k] < 0 || coords[k] >= s->own->shape[0]) return false;
    *st = STC_OK;
    if (w->alike) ws_spell_out(w);
    if ((fn != w->fn && ws_use(mc, w, fn, at)) || ws_touch_room(mc, w, n)) {
        *st = mc->cx->diag.status;
        return true;
    }
    m.n = 0;
    if (w->size == 8) {
        put_first_8(w, coords, vals, n, &m);
    } else if (w->size == 4) {
        put_first_4(w, coords, vals, n, &m);
    } else {
        put_first_16(w, coords, vals, n, &m);
    }
    fold(w->dense, m.vals, m.at, m.end, NULL, m.n);
    return true;
}

/* Elements in a row, one word of bits at a time: those that were all met are folded, as
 * many as follow each other, and those of which none was take their places. */
stc_status ws_add_line(machine *mc, slot *s, int64_t lo, const void *vals, int64_t n,
                       const lop *at)
{
    workspace *w = s->ws;
    const size_t size = w->size;
    if (w->alike) ws_spell_out(w);
    for (int64_t k = 0, m; k < n; k += m) {
        const int64_t i = lo + k, room = 64 - (i & 63);
        m = n - k < room ? n - k : room;
        const uint64_t mask = (~UINT64_C(0) >> (64 - m)) << (i & 63);
        const uint64_t old = w->set[i >> 6] & mask;
        const char *from = (const char *)vals + (size_t)k * size;
        char *to = (char *)w->dense + (size_t)i * size;
        if (old == mask) {
            while (k + m < n && w->set[(i + m) >> 6] == ~UINT64_C(0))
                m += n - k - m < 64 ? n - k - m : 64;
            const fn_fault fault = ws_fold_all(w, to, from, (int)m);
            if (fault) return machine_fault(mc, at, fault);
        } else if (!old) {
            if (ws_touch_room(mc, w, m)) return mc->cx->diag.status;
            w->set[i >> 6] |= mask;
            memcpy(to, from, (size_t)m * size);
            for (int64_t e = 0; e < m; e++)
                w->touched[w->n++] = i + e;
        }
        for (int64_t e = 0; old && old != mask && e < m; e++) {
            const value v = type_load(class_type(w->cls), from, e);
            if (put(mc, w, i + e, &v, at)) return mc->cx->diag.status;
        }
    }
    return STC_OK;
}

stc_status ws_touch_line(machine *mc, slot *s, int64_t lo, int64_t n)
{
    workspace *w = s->ws;
    value nothing = {.c128 = 0};
    const uint8_t identity = fn_at(w->fn)->identity[0].value;
    const bool none = !fn_constant(identity, w->cls, class_type(w->cls), &nothing) ||
                      class_is_zero(w->cls, nothing);
    if (none && w->cls == CLASS_F32) nothing.f32 = -0.0f;
    if (none && w->cls == CLASS_F64) nothing.f64 = -0.0;
    if (none && w->cls == CLASS_C64) nothing.c64 = -(cfloat)0;
    if (none && w->cls == CLASS_C128) nothing.c128 = -(cdouble)0;
    if (w->alike) ws_spell_out(w);
    if (ws_touch_room(mc, w, n)) return mc->cx->diag.status;
    for (int64_t i = lo; i < lo + n; i++) {
        const uint64_t bit = UINT64_C(1) << (i & 63);
        if (w->set[i >> 6] & bit) continue;
        w->set[i >> 6] |= bit;
        w->touched[w->n++] = i;
        type_store(class_type(w->cls), w->dense, i, nothing);
    }
    return STC_OK;
}

/* The set bits in order, for accumulators that aren't nearly empty. Which words have any is
 * found without a branch, a block of them at a time: most have one, or none. */
static void scan_bits(const workspace *w, int64_t *out)
{
    enum { BLOCK = 64 };
    const int64_t words = bit_words(w->extent), most = w->n;
    int64_t n = 0;
    for (int64_t from = 0, m; n < most; from += m) {
        uint8_t some[BLOCK];
        int found = 0;
        m = words - from < BLOCK ? words - from : BLOCK;
        for (int k = 0; k < m; k++) {
            some[found] = (uint8_t)k;
            found += w->set[from + k] != 0;
        }
        for (int k = 0; k < found; k++) {
            const int64_t word = from + some[k];
            uint64_t b = w->set[word];
            do
                out[n++] = word * 64 + __builtin_ctzll(b);
            while (b &= b - 1);
        }
    }
}

void ws_touch_all(workspace *w, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        w->touched[k] = k;
    memset(w->set, 0xff, (size_t)(n >> 6) * sizeof *w->set);
    if (n & 63) w->set[n >> 6] = (UINT64_C(1) << (n & 63)) - 1;
    w->n = n;
}

stc_status ws_sort_touched(ctx *cx, workspace *w)
{
    int64_t k = 1; /* what comes in order is soon seen not to, if it doesn't */
    while (k < w->n && w->touched[k - 1] < w->touched[k])
        k++;
    if (k >= w->n) return STC_OK;
    if (w->n > 24 && w->n >= bit_words(w->extent) / 8) {
        scan_bits(w, w->touched);
        return STC_OK;
    }
    if (w->scratch_cap < w->n &&
        mem_grow(cx, &w->scratch, &w->scratch_cap, w->n, sizeof *w->scratch))
        return cx->diag.status;
    ws_sort_coords(w->touched, w->scratch, w->n, w->extent);
    return STC_OK;
}

void ws_untouch(workspace *w)
{
    for (int64_t k = 0; k < w->n; k++)
        w->set[w->touched[k] >> 6] = 0;
    w->n = 0;
    w->alike = false;
}

bool ws_is_vector(const slot *s)
{
    return s->row->order == 1 && s->ws->kind == &ws_kind_dense;
}

/* There is no accumulation array. */
static stc_status dense_sort(machine *mc, workspace *w)
{
    return ws_record_room(mc->cx, w, w->acc.n);
}

const ws_kind ws_kind_dense = {.name = "dense",
                               .ready = dense_ready,
                               .insert = dense_insert,
                               .sort = dense_sort,
                               .clear = ws_untouch,
                               .free = dense_free};
