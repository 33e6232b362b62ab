/* origin.c: tensors from sources: files, one value everywhere, random numbers.
 *
 * A source is a description (stc_source) whose strings are copied into an
 * origin, so that the tensor can be made later, when its shape is known.
 */
#include "structs.h"
#include "../io/io.h"
#include <math.h>
#include <string.h>

stc_status origin_copy(ctx *cx, const stc_source *from, origin *out)
{
    stc_source own, *const s = &own;
    stc_status st = struct_take(cx, "a source", from, SOURCE_0_2, s, sizeof own);
    if (st) return st;
    if (!s->type && !s->has_type) s->type = -1;
    if ((unsigned)s->kind > STC_SOURCE_RANDOM)
        return fail(cx, STC_ERR_ARGUMENT, "%d is no kind of source", (int)s->kind);
    if (s->kind == STC_SOURCE_FILE && !s->path) return fail_null(cx, "the source's path");
    if (s->kind == STC_SOURCE_VALUE && (unsigned)s->value_type >= TYPE_COUNT)
        return fail(cx, STC_ERR_ARGUMENT, "%d is no element type", (int)s->value_type);
    if (s->type < -1 || s->type >= TYPE_COUNT)
        return fail(cx, STC_ERR_ARGUMENT, "%d is no element type", s->type);
    if (s->fill && (unsigned)s->fill_type >= TYPE_COUNT)
        return fail(cx, STC_ERR_ARGUMENT, "%d is no element type", (int)s->fill_type);
    if (s->kind == STC_SOURCE_RANDOM && !(s->density >= 0 && s->density <= 1))
        return fail(cx, STC_ERR_ARGUMENT, "the density is %g; expected 0 to 1", s->density);
    origin o = {.kind = s->kind,
                .value_type = s->value_type,
                .scalar = s->scalar,
                .density = s->density,
                .seed = s->seed,
                .type = s->type,
                .has_fill = s->fill != NULL,
                .fill_type = s->fill_type};
    if (s->kind == STC_SOURCE_VALUE) o.v = value_from_public(s->value_type, s->value);
    if (s->fill) o.fill = value_from_public(s->fill_type, *s->fill);
    if (s->kind == STC_SOURCE_FILE && !(o.path = mem_strdup(cx, s->path)))
        return cx->diag.status;
    if (s->format && !(o.format = mem_strdup(cx, s->format))) {
        mem_strfree(cx, o.path);
        return cx->diag.status;
    }
    *out = o;
    return STC_OK;
}

void origin_free(ctx *cx, origin *o)
{
    mem_strfree(cx, o->path);
    mem_strfree(cx, o->format);
    o->path = o->format = NULL;
}

stc_type origin_type(const origin *o)
{
    if (o->type >= 0) return (stc_type)o->type;
    return o->kind == STC_SOURCE_VALUE ? o->value_type : STC_F64;
}

value origin_fill(const origin *o, stc_type type)
{
    if (!o->has_fill) return (value){0};
    return type_round(type,
                      class_convert(type_class(type), type_class(o->fill_type), o->fill));
}

stc_status origin_load(ctx *cx, const char *path, int order, const format *fmt, int type,
                       const origin *fill, tensor **out)
{
    io_result r;
    stc_status st = io_read_as(cx, path, type, &r);
    if (st) return st;
    const stc_type to = io_type(&r, type);
    const value v = fill ? origin_fill(fill, to) : (value){0};
    if (order >= 0 && order != r.order) io_reshape(&r, order);
    if (order >= 0) r.noted_order = r.order; /* the use decides */
    format f;
    if (fmt) {
        f = *fmt;
        if (!format_close(&f, r.order) && !(f.order >= 0 && io_reshape(&r, f.order)))
            st = fail_file(cx, STC_ERR_SHAPE, path, 0,
                           "the file holds a tensor of order %d; expected order %d",
                           r.order, f.order);
    } else if (order >= 0 && order != r.order) {
        st = fail_file(cx, STC_ERR_SHAPE, path, 0,
                       "the file holds a tensor of order %d; it is used as one of order %d",
                       r.order, order);
    }
    const bool filled = fill && fill->has_fill;
    if (!st) st = io_pack(&r, fmt ? &f : NULL, type, filled ? &v : NULL, out);
    io_free(&r);
    return st;
}

/* ---- random numbers ------------------------------------------------------------ */

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
 * generators, 2014): small, and the same on every machine. */
static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double random_unit(uint64_t *state)
{
    return (double)(random_next(state) >> 11) * 0x1p-53;
}

/* Two numbers of the normal distribution (Box and Muller). */
static double complex random_normal(uint64_t *state)
{
    const double u = 1 - random_unit(state), v = 6.283185307179586 * random_unit(state);
    return sqrt(-2 * log(u)) * (cos(v) + I * sin(v));
}

static value random_drawn(uint64_t *state, const origin *o, stc_type type)
{
    value x = {.i64 = o->least};
    if (o->numbers == RANDOM_INTEGERS) {
        x.i64 += (int64_t)(random_next(state) % (uint64_t)o->range);
        return type_round(type, type_convert(type, STC_I64, x));
    }
    x.c128 = random_normal(state);
    if (type_is_complex(type)) return class_convert(type_class(type), CLASS_C128, x);
    x.f64 = creal(x.c128);
    return type_round(type, type_convert(type, STC_F64, x));
}

/* Floats in [0, 1), integers 1 to 9, bool true; or what is asked for. */
static value random_value(uint64_t *state, const origin *o, stc_type type)
{
    if (o->numbers) return random_drawn(state, o, type);
    value v = {0};
    if (type == STC_BOOL) {
        v.i64 = 1;
        return v;
    }
    const vclass cls = type_class(type);
    value x = {.f64 = random_unit(state)};
    if (type_is_complex(type)) {
        x.c128 = x.f64 + I * random_unit(state);
        return class_convert(cls, CLASS_C128, x);
    }
    if (!type_is_float(type)) {
        x.i64 = 1 + (int64_t)(random_next(state) % 9);
        return class_convert(cls, CLASS_I64, x);
    }
    return type_round(type, class_convert(cls, CLASS_F64, x));
}

/* How many places stay empty before the next that has a number, at most `limit`. */
static int64_t random_skip(uint64_t *state, double density, int64_t limit)
{
    if (density >= 1) return 0;
    const double u = 1 - random_unit(state); /* (0, 1] */
    const double skip = floor(log(u) / log1p(-density));
    return skip >= (double)limit ? limit : (int64_t)skip;
}

enum { NUMBERS = 1 << 12 }; /* in a batch */

/* Row-major, in batches by way of e. */
static stc_status random_entries(const origin *o, const tensor *t, int64_t places,
                                 entries *e, entry_stream *to)
{
    uint64_t state = o->seed;
    stc_status st = entries_reserve(e, NUMBERS);
    if (st || o->density <= 0) return st;
    for (int64_t at = 0;; at++) {
        const int64_t left = places - at, skip = random_skip(&state, o->density, left);
        if (skip >= left) return stream_put(to, e);
        at += skip;
        int64_t rest = at;
        for (int k = t->order - 1; k >= 0; k--) {
            e->coord[k][e->n] = rest % t->shape[k];
            rest /= t->shape[k];
        }
        type_store(t->type, e->vals, e->n++, random_value(&state, o, t->type));
        if (e->n < NUMBERS) continue;
        if ((st = stream_put(to, e))) return st;
        e->n = 0;
    }
}

static stc_status make_random(const origin *o, tensor *t, int64_t places)
{
    int row_major[STC_MAX_ORDER];
    for (int k = 0; k < t->order; k++)
        row_major[k] = k;
    entries e;
    entries_init(&e, t->cx, t->order, t->type);
    entry_stream to;
    stc_status st = stream_begin(&to, t, row_major, true,
                                 (int64_t)(o->density * (double)places * 1.01) + 8);
    if (!st) st = random_entries(o, t, places, &e, &to);
    if (!st) st = stream_finish(&to);
    stream_free(&to);
    entries_free(&e);
    return st;
}

/* ---- making ----------------------------------------------------------------------- */

stc_status origin_make(ctx *cx, const origin *o, const format *f, stc_type type,
                       const int64_t *shape, value fill, tensor **out)
{
    if (o->kind == STC_SOURCE_VALUE) {
        const value v = type_round(
            type, class_convert(type_class(type), type_class(o->value_type), o->v));
        return tensor_constant(cx, f, type, shape, v, fill, out);
    }
    int64_t places;
    if (!size_product(shape, f->order, &places))
        return fail(cx, STC_ERR_OVERFLOW,
                    "a random tensor of more than 2^63 elements; expected fewer");
    tensor *t = NULL;
    stc_status st = tensor_new(cx, f, type, shape, fill, &t);
    if (st) return st;
    if ((st = make_random(o, t, places))) {
        tensor_free(t);
        return st;
    }
    *out = t;
    return STC_OK;
}
