/* strip_eval.c: the body of the loop, each of its operations once for a strip.
 *
 * What doesn't vary in the loop is evaluated once, when its first strip is
 * there: a loop without rounds evaluates nothing, and can't fault. If an
 * operation faults, the first lane in which any does is found; the run ends
 * there with the error that base operations would give. Loops inside are run for
 * all lanes at once: where they fault the lanes before that one go on, since what comes
 * behind those loops may fault in them.
 */
#include "strip.h"
#include <string.h>

/* What no function says: an integer of a subscript is too large. */
#define FAULT_COORDINATE ((fn_fault)(FAULT_HOST + 1))
/* What a loop inside has told already. */
#define FAULT_INSIDE ((fn_fault)(FAULT_HOST + 2))
/* A subscript leaves its tensor. */
#define FAULT_BOUNDED ((fn_fault)(FAULT_HOST + 3))

/* The first lane in which something fails, and what. */
static void note_fault(strip *s, int at_lane, fn_fault fault, const lop *at)
{
    if (s->fault && at_lane >= s->fault_lane) return;
    s->fault = fault;
    s->fault_lane = at_lane;
    s->fault_at = at;
}

void strip_fault_inside(strip *s, int at_lane)
{
    note_fault(s, at_lane, FAULT_INSIDE, NULL);
    s->n = s->fault_lane;
    s->told = true;
}

/* ---- integers and places ------------------------------------------------------- */

/* A column of consecutive integers stays one, if both its ends fit. */
static bool icol_steps(const strip *s, const icol *x, column *c)
{
    const column *a = &s->icol[x->a], *b = &s->icol[x->b];
    const bool first = a->form == COL_STEP && x->k == 1 && b->form == COL_FIXED;
    if (!first && !(a->form == COL_FIXED && b->form == COL_STEP)) return false;
    int64_t lo, last;
    if (__builtin_mul_overflow(a->base, x->k, &lo) ||
        __builtin_add_overflow(lo, b->base, &lo) || __builtin_add_overflow(lo, s->n, &last))
        return false;
    c->form = COL_STEP;
    c->base = lo;
    return true;
}

/* All bits of what the lanes of a column are from nought. */
static uint64_t magnitude(const column *c, int n)
{
    if (c->form != COL_ARRAY) return (uint64_t)(c->base ^ c->base >> 63);
    uint64_t all = 0;
    for (int k = 0; k < n; k++)
        all |= (uint64_t)(c->data[k] ^ c->data[k] >> 63);
    return all;
}

/* Lane by lane without a look at overflow, where nothing comes near it. */
static bool icol_plain(const strip *s, const icol *x, column *c)
{
    const column *a = &s->icol[x->a], *b = &s->icol[x->b];
    const uint64_t small = UINT64_C(1) << 30, far = UINT64_C(1) << 61;
    const int n = s->n;
    const int64_t k = x->k;
    int64_t *to = c->data;
    if ((uint64_t)(k ^ k >> 63) >= small || magnitude(a, n) >= small ||
        magnitude(b, n) >= far)
        return false;
    if (a->form == COL_ARRAY && b->form == COL_FIXED) {
        for (int e = 0; e < n; e++)
            to[e] = a->data[e] * k + b->base;
    } else if (a->form == COL_FIXED && b->form == COL_ARRAY) {
        for (int e = 0; e < n; e++)
            to[e] = a->base * k + b->data[e];
    } else if (a->form == COL_ARRAY && b->form == COL_ARRAY) {
        for (int e = 0; e < n; e++)
            to[e] = a->data[e] * k + b->data[e];
    } else {
        return false;
    }
    c->form = COL_ARRAY;
    return true;
}

/* In the first lane in which it doesn't fit, the run ends; those before it go on. */
static void eval_icol(strip *s, int id)
{
    const icol *x = &s->s.icol[id];
    column *c = &s->icol[id];
    if (x->kind == ICOL_VALUE) {
        memcpy(c->data, strip_spread(s, x->a), (size_t)s->n * sizeof *c->data);
        c->form = COL_ARRAY;
        return;
    }
    const column *a = &s->icol[x->a], *b = &s->icol[x->b];
    if (x->varies && (icol_steps(s, x, c) || icol_plain(s, x, c))) return;
    const int n = x->varies ? s->n : 1;
    c->form = x->varies ? COL_ARRAY : COL_FIXED;
    for (int k = 0; k < n; k++) {
        int64_t v;
        if (__builtin_mul_overflow(column_get(a, k), x->k, &v) ||
            __builtin_add_overflow(v, column_get(b, k), &v)) {
            note_fault(s, k, FAULT_COORDINATE, x->at);
            s->n = k;
            return;
        }
        if (x->varies) {
            c->data[k] = v;
        } else {
            c->base = v;
        }
    }
}

/* Beyond 64 bits it is some other coordinate: nothing is stored there, so the place
 * has no position, and nobody asks. */
static int64_t affine_coord(int64_t i, int64_t coef, int64_t shift)
{
    return (int64_t)((uint64_t)i * (uint64_t)coef + (uint64_t)shift);
}

/* The level's coordinate at which a place stands in a lane. */
int64_t strip_place_coord(const machine *mc, const strip *s, int id, int k)
{
    const place *x = &s->s.place[id];
    if (x->kind == PLACE_GIVEN)
        return strip_place_coord(mc, s->around, s->link->up[id], s->rows[k]);
    if (x->kind == PLACE_FIXED) return mc->c[x->cursor].c.coord; /* not the root */
    if (x->kind != PLACE_OPERAND) return column_get(&s->icol[x->icol], k);
    const merge_operand *o = &s->s.l->merge->operand[x->operand];
    const int64_t i = column_get(&s->icol[0], k);
    if (o->role == MERGE_LOCATE && !s->around)
        return affine_coord(i, o->coef, o->shift == ROOT ? 0 : mc->i[o->shift]);
    if (!s->around) return affine_coord(i, mc->c[x->cursor].coef, mc->c[x->cursor].shift);
    uint16_t shift = s->link->shift[id];
    int64_t coef = o->coef;
    if (o->role != MERGE_LOCATE) {
        const place *opened = &s->around->s.place[s->link->up[id]];
        shift = opened->shift;
        coef = opened->coef;
    }
    return affine_coord(
        i, coef, shift == UNLINKED ? 0 : column_get(&s->around->icol[shift], s->rows[k]));
}

/* The cursor above an operand's place in lane k. */
static const cursor *above_operand(const machine *mc, const strip *s, int id, int k,
                                   cursor *c)
{
    const place *x = &s->s.place[id];
    const merge_operand *o = &s->s.l->merge->operand[x->operand];
    if (!s->around) {
        if (o->role != MERGE_LOCATE) return mc->c[x->cursor].c.up;
        return o->up == ROOT ? NULL : &mc->c[o->up].c;
    }
    uint16_t up = s->link->up[id];
    if (o->role != MERGE_LOCATE) up = s->around->s.place[up].up;
    return strip_stand(mc, s->around, up, s->rows[k], c);
}

const cursor *strip_stand(const machine *mc, const strip *s, int id, int k, cursor *c)
{
    const place *x = &s->s.place[id];
    const column *p = &s->place[id];
    if (id == PLACE_ROOT) return NULL;
    if (x->kind == PLACE_GIVEN)
        return strip_stand(mc, s->around, s->link->up[id], s->rows[k], c);
    *c = (cursor){.at = column_get(p, k), .coord = strip_place_coord(mc, s, id, k)};
    c->at_end = c->at == NONE ? NONE : p->ranged ? column_end(p, k) : c->at + 1;
    if (x->kind == PLACE_LOCATE || x->kind == PLACE_SEEK) {
        c->up = strip_stand(mc, s, x->up, k, c + 1);
    } else if (x->kind == PLACE_OPERAND) {
        c->up = above_operand(mc, s, id, k, c + 1);
    } else {
        c->up = mc->c[x->cursor].c.up;
    }
    return c;
}

/* A computed level, which has its parents' positions: where parent and
 * coordinate go on in steps of one, and the first and last lane have it, all do. */
static bool place_in_step(const machine *mc, strip *s, int id, const level *lv)
{
    const place *x = &s->s.place[id];
    const column *up = &s->place[x->up], *i = &s->icol[x->icol];
    if (!(lv->kind->props & PROP_BRANCHLESS) || lv->kind->arrays || up->form != COL_STEP ||
        i->form != COL_STEP || s->s.place[x->up].kind != PLACE_OPERAND)
        return false;
    cursor above[STC_MAX_ORDER], found = {0};
    for (int k = 0; k<s->n; k += s->n> 1 ? s->n - 1 : 1) {
        cursor_locate_any(&found, lv, strip_stand(mc, s, x->up, k, above), i->base + k);
        if (found.at != up->base + k) return false;
    }
    column *c = &s->place[id];
    c->form = COL_STEP;
    c->base = up->base;
    c->full = true;
    c->ranged = false;
    return true;
}

/* Positions of coordinates below as many parents; whether all are there. */
static bool ranges_of_arrays(int64_t *to, const int64_t *up, const int64_t *i, int64_t lo,
                             int64_t width, int n)
{
    const uint64_t rows = (uint64_t)width;
    int64_t out = 0; /* negative if one isn't */
    for (int k = 0; k < n; k++) {
        const uint64_t j = (uint64_t)i[k] - (uint64_t)lo;
        const int64_t none = (int64_t)(j | (rows - 1 - j) | (uint64_t)up[k]) >> 63;
        to[k] = (int64_t)((uint64_t)up[k] * rows + j) | none;
        out |= none;
    }
    return out == 0;
}

/* All lanes at once: a range under one parent, or a table of ranges. */
static bool place_in_ranges(const machine *mc, strip *s, int id, const level *lv)
{
    const place *x = &s->s.place[id];
    column *c = &s->place[id];
    const column *up = &s->place[x->up], *i = &s->icol[x->icol];
    fiber_table t;
    if (!lv->kind->table || !lv->kind->locate || up->ranged) return false;
    lv->kind->table(lv, &t);
    if (t.shape != VIEW_RANGE) return false;
    bool full = true;
    (void)mc;
    if (up->form == COL_FIXED && up->base >= 0 && i->form == COL_STEP && i->base >= t.lo &&
        i->base + s->n <= t.hi) {
        c->form = COL_STEP;
        c->base = up->base * (t.hi - t.lo) + (i->base - t.lo);
        c->full = true;
        c->ranged = false;
        return true;
    }
    const int64_t lo = t.lo, width = t.hi - t.lo;
    if (up->form == COL_ARRAY && i->form == COL_ARRAY) {
        full = ranges_of_arrays(c->data, up->data, i->data, lo, width, s->n);
    } else if (up->form != COL_FIXED || up->base < 0 ||
               !column_moved(i, s->n, lo, width, up->base * width, c->data)) {
        for (int k = 0; k < s->n; k++) {
            const int64_t p = column_get(up, k), j = column_get(i, k);
            const bool in = p >= 0 && j >= t.lo && j < t.hi;
            c->data[k] = in ? p * width + (j - lo) : NONE;
            full &= in;
        }
    }
    c->form = COL_ARRAY;
    c->full = full;
    c->ranged = false;
    return true;
}

bool strip_locate_runs(machine *mc, int which, const level *lv, const column *up,
                       const int *rows, const column *i, int n, column *c)
{
    int64_t there = 0;
    if (!lv->kind->locate_many || up->ranged || !(lv->props & PROP_UNIQUE)) return false;
    if (up->form == COL_STEP && !rows) return false; /* runs of one */
    for (int k = 0, end; k < n; k = end) {
        const int64_t p = column_get(up, rows ? rows[k] : k);
        for (end = k; end < n && column_get(up, rows ? rows[end] : end) == p; end++)
            c->data[end] = p < 0 ? NONE : column_get(i, end);
        if (p >= 0)
            there += machine_look_up(mc, which, lv, p, c->data + k, sizeof *c->data,
                                     sizeof *c->data, end - k, c->data + k);
    }
    c->form = COL_ARRAY;
    c->full = there == n;
    c->ranged = false;
    return true;
}

static void eval_place(machine *mc, strip *s, int id)
{
    const place *x = &s->s.place[id];
    column *c = &s->place[id];
    const level *lv = &mc->slot[x->tensor].t->level[x->level];
    if (x->varies && (place_in_ranges(mc, s, id, lv) || place_in_step(mc, s, id, lv) ||
                      strip_locate_runs(mc, x->tensor, lv, &s->place[x->up], NULL,
                                        &s->icol[x->icol], s->n, c)))
        return;
    const int n = x->varies ? s->n : 1;
    cursor up[STC_MAX_ORDER], found = {0};
    for (int k = 0; k < n; k++) {
        const cursor *at = strip_stand(mc, s, x->up, k, up);
        cursor_locate_any(&found, lv, at, column_get(&s->icol[x->icol], k));
        if (x->varies) {
            c->data[k] = found.at;
            c->end[k] = found.at_end;
        } else {
            c->base = found.at;
            c->end[0] = found.at_end;
        }
    }
    c->form = x->varies ? COL_ARRAY : COL_FIXED;
    c->full = false;
    c->ranged = !(lv->props & PROP_UNIQUE);
}

/* ---- values -------------------------------------------------------------------- */

const void *strip_spread(strip *s, int id)
{
    vcolumn *c = &s->node[id];
    if (c->p) return c->p;
    const vclass cls = (vclass)s->s.node[id].cls;
    class_fill(cls, c->data, c->spread, s->n, c->one);
    if (c->spread < s->n) c->spread = s->n;
    return c->data;
}

static value load_one(const tensor *t, const column *at, int k)
{
    const int64_t p = column_get(at, k);
    if (p == NONE) return t->fill;
    return at->ranged ? load_sum(t, p, column_end(at, k)) : type_load(t->type, t->vals, p);
}

/* The one value of a column: what was spread over its lanes holds if it was the same,
 * bit by bit. */
static void set_one(vcolumn *c, vclass cls, value v)
{
    const bool wide = cls == CLASS_F64 || cls == CLASS_I64 || cls == CLASS_U64;
    if (wide ? v.u64 != c->one.u64 : memcmp(&v, &c->one, class_size(cls)) != 0)
        c->spread = 0;
    c->one = v;
}

static void eval_load(machine *mc, strip *s, const node *x, vcolumn *c)
{
    const tensor *t = mc->slot[x->a].t;
    const column *at = &s->place[x->b];
    const void *vals = at->vals ? at->vals : t->vals;
    const vclass cls = (vclass)x->cls;
    if (!x->varies || at->form == COL_FIXED) {
        const value v = load_one(t, at, 0);
        if (c->p) c->spread = 0;
        set_one(c, cls, v);
        c->p = NULL;
        return;
    }
    c->spread = 0;
    c->p = c->data;
    if (at->ranged) {
        for (int k = 0; k < s->n; k++)
            class_put(cls, c->data, k, load_one(t, at, k));
    } else if (at->form == COL_STEP && class_type(cls) == t->type) {
        c->p = (const char *)vals + at->base * (int64_t)class_size(cls);
    } else if (at->form == COL_LINES) {
        strip_load_lines(t->type, c->data, vals, at->data, s->line_end, s->lines);
    } else if (t->nvals == 0) {
        for (int k = 0; k < s->n; k++)
            class_put(cls, c->data, k, t->fill);
    } else {
        strip_load(t->type, c->data, vals, at, s->n, t->fill);
    }
}

static value arg_one(const strip *s, const node *x, int k, int row)
{
    const vcolumn *c = &s->node[x->arg[k]];
    return c->p ? class_get((vclass)s->s.node[x->arg[k]].cls, c->p, row) : c->one;
}

/* Lane by lane up to the first that faults. */
static void find_fault(strip *s, const node *x, int n)
{
    const fn_scalar fn = fn_scalar_of(x->fn, (vclass)x->fn_cls);
    for (int k = 0; k < n; k++) {
        value a[3] = {{0}}, out;
        for (int j = 0; j < x->nargs; j++)
            a[j] = arg_one(s, x, j, k);
        const fn_fault f = fn(&out, &a[0], &a[1], &a[2]);
        if (!f) continue;
        note_fault(s, k, f, x->at);
        return;
    }
}

static void eval_function(strip *s, const node *x, vcolumn *c)
{
    if (!x->varies) {
        value a[3] = {{0}}, v = {0};
        for (int j = 0; j < x->nargs; j++)
            a[j] = arg_one(s, x, j, 0);
        const fn_fault f = fn_scalar_of(x->fn, (vclass)x->fn_cls)(&v, &a[0], &a[1], &a[2]);
        if (f) note_fault(s, 0, f, x->at);
        set_one(c, (vclass)x->cls, v);
        return;
    }
    const void *a[3] = {NULL};
    for (int j = 0; j < x->nargs; j++)
        a[j] = strip_spread(s, x->arg[j]);
    const fn_array fn = fn_array_of(x->fn, (vclass)x->fn_cls);
    if ((fn_at(x->fn)->flags & FP_FAULTS) && x->fn_cls <= CLASS_U64) find_fault(s, x, s->n);
    fn(c->data, a[0], a[1], a[2], s->n);
    c->p = c->data;
    c->spread = 0;
}

/* Lane by lane up to the first that fails; the first of all if it was only the
 * strip as a whole. */
static void find_failure(strip *s, const node *x, int n, stc_status status, const char *why)
{
    int at = 0;
    for (int k = 0; k < n; k++) {
        value a[3] = {{0}}, out;
        const char *said;
        for (int j = 0; j < x->nargs; j++)
            a[j] = arg_one(s, x, j, k);
        const stc_status one = host_call_one(x->at->u.host, a, &out, &said);
        if (!one) continue;
        at = k;
        status = one;
        why = said;
        break;
    }
    if (s->fault && at >= s->fault_lane) return;
    note_fault(s, at, FAULT_HOST, x->at);
    s->host_status = status;
    s->host_why = why;
}

static void eval_host(strip *s, const node *x, vcolumn *c)
{
    const host_form *f = x->at->u.host;
    const void *a[3] = {NULL};
    value v = {0};
    for (int j = 0; j < x->nargs; j++)
        a[j] = x->varies ? strip_spread(s, x->arg[j]) : &s->node[x->arg[j]].one;
    const char *why;
    const int n = x->varies ? s->n : 1;
    const stc_status status = host_call(f, n, a, x->varies ? c->data : &v, &why);
    if (status) find_failure(s, x, n, status, why);
    if (!x->varies) set_one(c, (vclass)x->cls, v);
    if (x->varies) {
        c->p = c->data;
        c->spread = 0;
    }
}

/* A user's function, up to the first lane in which it fails: what it says then stands,
 * unless something else fails in a lane before that. What isn't a fault ends the strip. */
static void eval_call(machine *mc, strip *s, const node *x, vcolumn *c)
{
    const int n = x->varies ? s->n : 1;
    value out = c->one;
    for (int k = 0; k < n && !(s->fault && k >= s->fault_lane); k++) {
        value a[3] = {{0}};
        for (int j = 0; j < x->nargs; j++)
            a[j] = arg_one(s, x, j, k);
        strip_at_lane(mc, s, k);
        const stc_status st = machine_call(mc, x->at, NULL, a, &out);
        if (st) {
            const bool now =
                st == STC_ERR_MEMORY || st == STC_ERR_STEPS || st == STC_ERR_INTERRUPT;
            note_fault(s, now ? 0 : k, FAULT_INSIDE, NULL);
            s->n = s->fault_lane;
            break;
        }
        if (x->varies) class_put((vclass)x->cls, c->data, k, out);
    }
    c->spread = 0;
    c->one = out;
    c->p = x->varies ? c->data : NULL;
}

static void eval_one(machine *mc, strip *s, const node *x, vcolumn *c)
{
    value v = {0};
    switch (x->kind) {
    case NODE_LIVE:
        v = mc->v[x->a];
        break;
    case NODE_CONST:
        v = mc->p->konst[x->a].v;
        break;
    case NODE_EXTENT:
        v.i64 = mc->ext[x->a];
        break;
    case NODE_INDEX:
        v.i64 = s->icol[x->a].base;
        break;
    case NODE_START:
        reduction_start(x->fn, (vclass)x->cls, &v);
        break;
    case NODE_CONV:
        v = class_convert((vclass)x->cls, (vclass)x->fn_cls, s->node[x->arg[0]].one);
        break;
    default:
        v = type_round((stc_type)x->type, s->node[x->arg[0]].one);
        break;
    }
    set_one(c, (vclass)x->cls, v);
    c->p = NULL;
}

static void eval_node(machine *mc, strip *s, int id)
{
    const node *x = &s->s.node[id];
    vcolumn *c = &s->node[id];
    if (x->kind == NODE_LOAD) {
        eval_load(mc, s, x, c);
    } else if (x->kind == NODE_GIVEN) {
        return;
    } else if (x->kind == NODE_FN) {
        eval_function(s, x, c);
    } else if (x->kind == NODE_CALL) {
        const bool host = mc->p->fn[x->at->arg[1]].host;
        host ? eval_host(s, x, c) : eval_call(mc, s, x, c);
    } else if (!x->varies) {
        eval_one(mc, s, x, c);
    } else if (x->kind == NODE_INDEX) {
        int64_t *out = c->data;
        for (int k = 0; k < s->n; k++)
            out[k] = column_get(&s->icol[x->a], k);
        c->p = out;
    } else if (x->kind == NODE_CONV) {
        strip_conv((vclass)x->cls, (vclass)x->fn_cls, c->data, strip_spread(s, x->arg[0]),
                   s->n);
        c->p = c->data;
    } else {
        const vclass cls = (vclass)x->cls;
        const void *in = strip_spread(s, x->arg[0]);
        for (int k = 0; k < s->n; k++)
            class_put(cls, c->data, k,
                      type_round((stc_type)x->type, class_get(cls, in, k)));
        c->p = c->data;
    }
}

void strip_eval_unread(machine *mc, strip *s)
{
    for (int k = 0; k < s->s.nnode; k++)
        if (s->unread >> k & 1) eval_node(mc, s, k);
    s->unread = 0;
}

/* ---- masks --------------------------------------------------------------------- */

static void set_bit(uint64_t *mask, int bit, bool on)
{
    *mask = (*mask & ~(UINT64_C(1) << bit)) | (uint64_t)on << bit;
}

/* Masks are mostly bytes, one after another. */
static void fillbit_bytes(strip *s, int bit, const uint8_t *from, bool fill)
{
    for (int k = 0; k < s->n; k++)
        s->mask[k] &= ~((uint64_t)((from[k] != 0) == fill) << bit);
}

/* Clears the bit of each of n values that is the fill. */
#define FILLBITS(CLASS, ctype, same)                                                       \
    static void fillbits_##CLASS(uint64_t *mask, int bit, const ctype *v, ctype fill,      \
                                 int n)                                                    \
    {                                                                                      \
        for (int k = 0; k < n; k++)                                                        \
            mask[k] &= ~((uint64_t)(same) << bit);                                         \
    }
FILLBITS(U64, uint64_t, v[k] == fill)
FILLBITS(F64, double, (v[k] == fill) | ((v[k] != v[k]) & (fill != fill)))
FILLBITS(F32, float, (v[k] == fill) | ((v[k] != v[k]) & (fill != fill)))

static void eval_fillbit(machine *mc, strip *s, const step *x)
{
    const tensor *t = mc->slot[x->a].t;
    const column *at = &s->place[x->b];
    const vclass cls = type_class(t->type);
    if (at->form == COL_STEP && t->type == STC_BOOL) {
        fillbit_bytes(s, x->bit, (const uint8_t *)t->vals + at->base, t->fill.i64 != 0);
        return;
    }
    if (at->ranged || at->form == COL_FIXED || t->nvals == 0 || cls > CLASS_F64) {
        for (int k = 0; k < s->n; k++)
            if (class_equal(cls, load_one(t, at, k), t->fill))
                set_bit(&s->mask[k], x->bit, false);
        return;
    }
    void *const v = s->scratch;
    strip_load(t->type, v, t->vals, at, s->n, t->fill);
    if (cls <= CLASS_U64) fillbits_U64(s->mask, x->bit, v, t->fill.u64, s->n);
    if (cls == CLASS_F32) fillbits_F32(s->mask, x->bit, v, t->fill.f32, s->n);
    if (cls == CLASS_F64) fillbits_F64(s->mask, x->bit, v, t->fill.f64, s->n);
}

static void eval_mark(strip *s, const step *x)
{
    const int64_t *v = strip_spread(s, x->a);
    const uint64_t bit = UINT64_C(1) << x->bit;
    for (int k = 0; k < s->n; k++)
        s->mask[k] = (s->mask[k] & ~bit) | (v[k] ? bit : 0);
}

static void eval_skip(machine *mc, strip *s, const step *x)
{
    const merge_desc *m = &mc->p->merge[x->a];
    int n = 0;
    uint64_t differ = 0;
    for (int k = 1; k < s->n; k++)
        differ |= s->mask[k] ^ s->mask[0];
    if (!differ) {
        if (!merge_produces(m, s->mask[0])) strip_compact(s, 0); /* one that failed stays */
        return;
    }
    if (m->count <= MERGE_TABLE_MAX) { /* without a branch: masks are as good as random */
        for (int k = 0; k < s->n; k++) {
            s->keep[n] = k;
            n += m->produce >> s->mask[k] & 1;
        }
    } else {
        for (int k = 0; k < s->n; k++)
            if (merge_produces(m, s->mask[k])) s->keep[n++] = k;
    }
    if (n < s->n) strip_compact(s, n);
}

bool column_within(const column *i, int n, int64_t lo, int64_t wide)
{
    const uint64_t last = (uint64_t)wide - 1, first = (uint64_t)i->base - (uint64_t)lo;
    uint64_t out = 0; /* its sign, so that lanes are looked at side by side */
    if (wide <= 0) return n <= 0;
    if (i->form == COL_STEP) return first <= last && (uint64_t)(n - 1) <= last - first;
    if (i->form == COL_FIXED) return first <= last;
    for (int k = 0; k < n; k++) {
        const uint64_t at = (uint64_t)i->data[k] - (uint64_t)lo;
        out |= at | (last - at);
    }
    return !(out >> 63);
}

bool column_moved(const column *i, int n, int64_t lo, int64_t wide, int64_t to,
                  int64_t *out)
{
    const int64_t *const at = i->data, by = to - lo;
    if (i->form != COL_ARRAY || !column_within(i, n, lo, wide)) return false;
    for (int k = 0; k < n; k++)
        out[k] = at[k] + by;
    return true;
}

/* Lanes whose derived index is outside its extent are left out. */
static void eval_within(machine *mc, strip *s, const step *x)
{
    const column *i = &s->icol[x->a];
    const int64_t hi = mc->ext[x->b];
    int n = 0;
    if (column_within(i, s->n, 0, hi)) return;
    for (int k = 0; k < s->n; k++) {
        const int64_t at = column_get(i, k);
        if (at >= 0 && at < hi) s->keep[n++] = k;
    }
    if (n < s->n) strip_compact(s, n);
}

/* The first lane whose subscript is outside its extent is the last one. */
static void eval_bounded(machine *mc, strip *s, const step *x)
{
    const column *i = &s->icol[x->a];
    const int64_t hi = mc->ext[x->b];
    if (column_within(i, s->n, 0, hi)) return;
    for (int k = 0; k < s->n; k++) {
        if (i->data[k] >= 0 && i->data[k] < hi) continue;
        note_fault(s, k, FAULT_BOUNDED, s->s.icol[x->a].at);
        s->n = k;
        return;
    }
}

static stc_status eval_inner(machine *mc, strip *s, const step *x)
{
    s->done = x->b;
    for (int k = 0; k < x->b; k++)
        if (s->s.node[k].kind == NODE_INNER) s->node[k].p = s->node[k].data;
    if (s->fault) s->n = s->fault_lane; /* what comes before it goes on */
    s->told = false;
    const stc_status st = s->n > 0 ? s->inner(mc, s, x->a) : STC_OK;
    return s->told ? STC_OK : st;
}

/* Apart from strip_eval, whose few registers it would take: short strips are many. */
static __attribute__((noinline)) stc_status eval_step(machine *mc, strip *s, const step *x)
{
    switch (x->kind) {
    case STEP_ICOL:
        if (!s->entered || s->s.icol[x->a].varies) eval_icol(s, x->a);
        return STC_OK;
    case STEP_PLACE: {
        const place *pl = &s->s.place[x->a];
        if (pl->kind == PLACE_AT)
            return s->stage ? s->result_place(mc, s->stage, x->a) : STC_OK;
        if (pl->varies || !s->entered) eval_place(mc, s, x->a);
        return STC_OK;
    }
    case STEP_INNER:
        return eval_inner(mc, s, x);
    case STEP_NODE:
        if (s->unread >> x->a & 1) return STC_OK;
        if (s->s.node[x->a].varies || !s->entered) eval_node(mc, s, x->a);
        s->done = x->a + 1;
        return STC_OK;
    case STEP_PRESENT: {
        const column *at = &s->place[x->a];
        const bool all = at->form != COL_ARRAY && at->base != NONE;
        for (int k = 0; all && k < s->n; k++)
            set_bit(&s->mask[k], x->bit, true);
        for (int k = 0; !all && k < s->n; k++)
            set_bit(&s->mask[k], x->bit, column_get(at, k) != NONE);
        return STC_OK;
    }
    case STEP_FILLBIT:
        eval_fillbit(mc, s, x);
        return STC_OK;
    case STEP_MARK:
        eval_mark(s, x);
        return STC_OK;
    case STEP_WITHIN:
        eval_within(mc, s, x);
        return STC_OK;
    case STEP_BOUNDED:
        eval_bounded(mc, s, x);
        return STC_OK;
    default:
        eval_skip(mc, s, x);
        return STC_OK;
    }
}

/* What the loop finds when it starts: registers and cursors. */
static void enter(machine *mc, strip *s)
{
    for (int k = 0; k < s->s.nicol; k++) {
        const icol *x = &s->s.icol[k];
        if (x->kind == ICOL_FIXED) s->icol[k].base = mc->i[x->a];
        if (x->kind == ICOL_CONST) s->icol[k].base = x->k;
    }
    for (int k = 0; k < s->s.nplace; k++) {
        const place *x = &s->s.place[k];
        column *c = &s->place[k];
        if (x->kind != PLACE_FIXED) continue;
        c->form = COL_FIXED;
        c->base = x->cursor == ROOT ? 0 : mc->c[x->cursor].c.at;
        c->end[0] = x->cursor == ROOT ? 1 : mc->c[x->cursor].c.at_end;
        c->ranged = c->base != NONE && c->end[0] != c->base + 1;
    }
    for (int k = 0; k < s->s.nnode; k++)
        if (s->s.node[k].kind == NODE_LIVE) eval_node(mc, s, k);
}

/* The loops stand where lane k is, for messages. */
void strip_at_lane(machine *mc, const strip *s, int k)
{
    for (;; k = s->rows[k], s = s->around) {
        loop *l = s->s.l;
        l->i = mc->i[l->index] = column_get(&s->icol[0], k);
        if (!s->around) return;
    }
}

static stc_status left_tensor(machine *mc, const strip *s)
{
    int id = 0;
    while (s->s.icol[id].at != s->fault_at)
        id++;
    return machine_unbounded(mc, s->fault_at, s->icol[id].data[s->fault_lane]);
}

stc_status strip_eval(machine *mc, strip *s)
{
    s->fault = FAULT_NONE;
    s->done = 0;
    if (!s->entered) enter(mc, s);
    for (int k = 0; k < s->s.nstep && s->n > 0; k++) {
        const stc_status st = eval_step(mc, s, &s->s.step[k]);
        if (!st) continue;
        s->fault = FAULT_NONE; /* this can't wait for lanes before one that faulted */
        return st;
    }
    if (s->n > 0 && !s->fault) s->entered = true;
    if (!s->fault) return STC_OK;
    if (s->fault == FAULT_INSIDE) return mc->cx->diag.status;
    strip_at_lane(mc, s, s->fault_lane);
    if (s->fault == FAULT_COORDINATE)
        return machine_fail(mc, s->fault_at, STC_ERR_OVERFLOW,
                            "a coordinate is beyond 64 bits");
    if (s->fault == FAULT_BOUNDED) return left_tensor(mc, s);
    if (s->fault == FAULT_HOST)
        return machine_host_failed(mc, s->fault_at, s->host_status, s->host_why);
    return machine_fault(mc, s->fault_at, s->fault);
}
