/* outer_eval.c: the operations of a nest by lanes, each for a part of a row.
 *
 * A value is one for all lanes or a column, its own or the operand's memory. Where a mask
 * leaves lanes out, what they had from outside the loop stays; values that begin in the
 * loop may be anything there, and nobody reads them. What all lanes do may be put off
 * (outer_fold.c).
 */
#include "outer.h"
#include "../super/super.h"
#include <string.h>

/* ---- columns ----------------------------------------------------------------------- */

static const void *spread(outer *o, int v, vclass cls)
{
    vcolumn *c = &o->value[v];
    const void *p = outer_read(o, v);
    if (p) return p;
    outer_column(o, v);
    o->recording &= (o->const_columns >> o->column[v] & 1) != 0;
    class_fill(cls, c->data, c->spread, o->n, c->one);
    if (c->spread < o->n) c->spread = o->n;
    return c->data;
}

static const void *argument(outer *o, const outer_op *x, int k)
{
    return spread(o, x->arg[k], (vclass)x->arg_cls[k]);
}

static void set_one(outer *o, int to, value v)
{
    vcolumn *c = &o->value[to];
    o->put_off[to] = false;
    if (memcmp(&v, &c->one, sizeof v)) c->spread = 0;
    c->p = NULL;
    c->one = v;
}

/* What op x works out goes to its value's own column, or aside if lanes are left out. */
static void *target(outer *o, const outer_op *x, const uint8_t *in)
{
    return in && x->carried ? o->scratch : outer_column(o, x->to);
}

/* Lanes of `from`, a column or one value, into x's value. */
static void settle(outer *o, const outer_op *x, const uint8_t *in, const void *from)
{
    vcolumn *c = &o->value[x->to];
    const size_t size = class_size((vclass)x->cls);
    if (in && x->carried) {
        const void *was = spread(o, x->to, (vclass)x->cls);
        void *own = outer_column(o, x->to);
        if (was != own) memcpy(own, was, (size_t)o->n * size);
        outer_choose(size, c->data, from, in, o->n);
        from = c->data;
    }
    o->put_off[x->to] = false;
    c->p = from;
    if (from != c->data) return;
    c->spread = 0;
    o->owner[o->column[x->to]] = x->to; /* arguments may have been spread there */
}

static void settle_one(outer *o, const outer_op *x, const uint8_t *in, value v)
{
    if (!in || !x->carried) {
        set_one(o, x->to, v);
        return;
    }
    class_fill((vclass)x->cls, o->scratch, 0, o->n, v);
    settle(o, x, in, o->scratch);
}

/* ---- what is read and worked out ----------------------------------------------------- */

/* Lanes beyond an operand's edges are few enough to be done by themselves. */
static bool few_missing(const outer *o, int64_t from, int64_t to)
{
    return from - o->x <= OUTER_EDGE && o->x + o->n - to <= OUTER_EDGE;
}

static void load(const machine *mc, outer *o, const outer_op *x, const uint8_t *in)
{
    const tensor *t = mc->slot[x->a].t;
    const outer_stand *s = &o->stand[x->b];
    const vclass cls = (vclass)x->cls;
    const void *vals = s->vals ? s->vals : t->vals;
    const int64_t end = o->x + o->n;
    const int64_t from = s->from > o->x ? s->from : o->x, to = s->to < end ? s->to : end;
    if (from >= to || !s->step) {
        settle_one(o, x, in, from < to ? type_load(t->type, vals, s->base) : t->fill);
        outer_record_one(o, x->b);
        return;
    }
    const int64_t at = s->base + s->step * from;
    const bool whole = from == o->x && to == end;
    const bool late = !in && (o->recording || o->n >= OUTER_LONG);
    if (!late && whole && s->step == 1 && class_type(cls) == t->type) {
        o->recording = false;
        settle(o, x, in, (const char *)vals + at * (int64_t)class_size(cls));
        return;
    }
    if (late && few_missing(o, from, to)) {
        const char *first = (const char *)vals + at * (int64_t)type_size(t->type);
        outer_term e = {.x = first,
                        .from = (int)(from - o->x),
                        .to = (int)(to - o->x),
                        .fill = t->fill};
        outer_record_term(o, x->b, &e, type_size(t->type));
        outer_put_off_load(o, x->to, &e, s->step, t->type);
        return;
    }
    o->recording = false;
    char *out = target(o, x, in);
    outer_load(t->type, out + (from - o->x) * (int64_t)class_size(cls), vals, at, s->step,
               (int)(to - from));
    class_fill(cls, out, 0, from - o->x, t->fill);
    class_fill(cls, out, to - o->x, o->n, t->fill);
    settle(o, x, in, out);
}

static bool all_one(const outer *o, const outer_op *x)
{
    for (int k = 0; k < x->nargs; k++)
        if (o->value[x->arg[k]].p) return false;
    return true;
}

/* A function of columns; false: it faults. */
static bool work_out(outer *o, const outer_op *x, void *out)
{
    const void *a[3] = {NULL};
    for (int k = 0; k < x->nargs; k++)
        a[k] = argument(o, x, k);
    if (o->recording) outer_record_fn(o, x, a, out);
    return !x->array(out, a[0], a[1], a[2], o->n);
}

static bool function(outer *o, const outer_op *x, const uint8_t *in)
{
    if (all_one(o, x)) {
        value a[3] = {{0}}, v = {0};
        for (int k = 0; k < x->nargs; k++)
            a[k] = o->value[x->arg[k]].one;
        const bool fault = x->scalar(&v, &a[0], &a[1], &a[2]);
        settle_one(o, x, in, v);
        return !fault;
    }
    if (!in && (o->recording || o->n >= OUTER_LONG) && outer_put_off_function(o, x))
        return true;
    void *out = target(o, x, in);
    const bool fine = work_out(o, x, out);
    settle(o, x, in, out);
    return fine;
}

/* What has one operand and no function. */
static void other(outer *o, const outer_op *x, const uint8_t *in)
{
    const vclass cls = (vclass)x->cls, was = (vclass)x->arg_cls[0];
    if (all_one(o, x)) {
        value v = o->value[x->arg[0]].one;
        if (x->kind == OUTER_CONV) v = class_convert(cls, was, v);
        if (x->kind == OUTER_WRAP) v = type_round((stc_type)x->a, v);
        settle_one(o, x, in, v);
        return;
    }
    const void *from = argument(o, x, 0);
    char *out = target(o, x, in);
    o->recording = false;
    const int n = o->n;
    if (x->kind == OUTER_CONV) {
        strip_conv(cls, was, out, from, n);
    } else {
        memmove(out, from, (size_t)n * class_size(cls));
    }
    for (int k = 0; k < n && x->kind == OUTER_WRAP; k++)
        class_put(cls, out, k, type_round((stc_type)x->a, class_get(cls, out, k)));
    settle(o, x, in, out);
}

/* ---- what is stored ----------------------------------------------------------------- */

/* The lanes that are: those of the round in whose subsections something is. */
static const uint8_t *lanes_stored(outer *o, const uint8_t *in)
{
    if (!o->partial) return in;
    memcpy(o->stored, o->seen, (size_t)o->n);
    if (in) outer_and(o->stored, in, o->n);
    return o->stored;
}

/* A column to places from `at` on. */
static void put(const outer *o, tensor *t, int64_t at, int64_t by, const void *from,
                const uint8_t *in)
{
    const vclass cls = type_class(t->type);
    const size_t size = class_size(cls);
    char *to = (char *)t->vals + at * (int64_t)type_size(t->type);
    if (by == 1 && !in) {
        strip_store(t->type, t->vals, at, from, cls, o->n);
    } else if (by == 1 && class_type(cls) == t->type) {
        outer_choose(size, to, from, in, o->n);
    } else if (!in) {
        for (int k = 0; k < o->n; k++)
            o->index[k] = k * by;
        strip_scatter(t->type, t->vals, at, o->index, from, o->n);
    } else {
        for (int k = 0; k < o->n; k++)
            if (in[k]) type_store(t->type, t->vals, at + k * by, class_get(cls, from, k));
    }
}

/* Places at … at + n - 1 of a result. Where they are the next ones, and all of them are
 * written now, they needn't be the fill first. */
stc_status outer_have_places(machine *mc, slot *r, int64_t at, int64_t n, bool written)
{
    tensor *t = r->t;
    if (!written || t->nvals != at || n > t->vals_cap - at || t->stains.old)
        return asm_value(mc, r, at + n - 1);
    t->nvals = at + n;
    return STC_OK;
}

/* SUPER_REPLAY: places that the result doesn't have. */
static stc_status store(machine *mc, outer *o, const outer_op *x, const uint8_t *in)
{
    slot *r = &mc->slot[x->a];
    const outer_stand *s = &o->stand[x->b];
    const vclass cls = (vclass)x->cls;
    if (s->from > o->x || s->to < o->x + o->n) return SUPER_REPLAY;
    in = lanes_stored(o, in);
    const int64_t at = s->base + s->step * o->x, end = at + s->step * (o->n - 1);
    r->stores += (uint64_t)o->n;
    const bool all = x->kind == OUTER_STORE && s->step == 1 && !in;
    if (outer_have_places(mc, r, at < end ? at : end,
                          at < end ? end - at + 1 : at - end + 1, all))
        return mc->cx->diag.status;
    if (all && o->put_off[x->arg[0]] && class_type(cls) == r->t->type) {
        outer_settle_at(o, x->arg[0], (char *)r->t->vals + at * (int64_t)class_size(cls));
        outer_record_store(o, x);
        return STC_OK;
    }
    o->recording = false;
    const void *from = spread(o, x->arg[0], cls);
    if (x->kind == OUTER_ACC) {
        outer_load(r->t->type, o->scratch, r->t->vals, at, s->step, o->n);
        x->array(o->scratch, o->scratch, from, NULL, o->n);
        from = o->scratch;
    }
    put(o, r->t, at, s->step, from, in);
    return STC_OK;
}

/* Values that nobody reads any more. */
static void leave(outer *o, const outer_op *x)
{
    for (int k = 0; x->dies >> k; k++)
        if (x->dies >> k & 1) {
            o->put_off[x->arg[k]] = false;
            o->value[x->arg[k]].p = NULL;
        }
}

bool outer_sink(machine *mc, outer *o, const outer_op *x, const uint8_t *in, stc_status *st)
{
    const outer_op *to = x + 1;
    slot *r = &mc->slot[to->a];
    const outer_stand *s = &o->stand[to->b];
    if (in || o->partial || s->step != 1 || class_type((vclass)x->cls) != r->t->type ||
        s->from > o->x || s->to < o->x + o->n || all_one(o, x))
        return false;
    if ((o->recording || o->n >= OUTER_LONG) && outer_put_off_function(o, x)) {
        leave(o, x);
        *st = store(mc, o, to, in);
        leave(o, to);
        return true;
    }
    const int64_t at = s->base + o->x;
    *st = outer_have_places(mc, r, at, o->n, true);
    if (*st) return true;
    r->stores += (uint64_t)o->n;
    char *out = (char *)r->t->vals + at * (int64_t)class_size((vclass)x->cls);
    if (!work_out(o, x, out)) *st = SUPER_REPLAY;
    outer_record_store(o, to);
    leave(o, x);
    return true;
}

static stc_status operation(machine *mc, outer *o, const outer_op *x, const uint8_t *in)
{
    switch ((outer_kind)x->kind) {
    case OUTER_CONST:
        settle_one(o, x, in, mc->p->konst[x->a].v);
        return STC_OK;
    case OUTER_EXTENT:
        settle_one(o, x, in, (value){.i64 = mc->ext[x->a]});
        return STC_OK;
    case OUTER_LOAD:
        load(mc, o, x, in);
        return STC_OK;
    case OUTER_FN:
        return function(o, x, in) ? STC_OK : SUPER_REPLAY;
    case OUTER_STORE:
    case OUTER_ACC:
        return store(mc, o, x, in);
    default:
        other(o, x, in);
        return STC_OK;
    }
}

stc_status outer_eval(machine *mc, outer *o, const outer_op *x, const uint8_t *in)
{
    const stc_status st = operation(mc, o, x, in);
    leave(o, x);
    return st;
}
