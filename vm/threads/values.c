/* values.c: whether what chunks or parts sum up may meet in a tensor's elements.
 *
 * Elements of narrow types have the low bits of what registers hold. Where parts are
 * combined as elements, that is the same as if all of it had been combined in a register
 * only if the function needs no other bits (FP_WRAPS), or if no register holds more than
 * the type does: so what each can hold is found, whoever writes it and whenever.
 */
#include "../code/text.h"
#include "parallel_find.h"

enum { PASSES = 8 }; /* what isn't settled by then can be anything */

static const span_of anything = {INT64_MIN, INT64_MAX};

span_of values_of_type(stc_type t)
{
    const vclass cls = type_class(t);
    value lo, hi;
    if (!fn_constant(FC_NINF, cls, t, &lo) || !fn_constant(FC_INF, cls, t, &hi) ||
        (cls != CLASS_I64 && cls != CLASS_U64) || hi.i64 < 0)
        return anything;
    return (span_of){lo.i64, hi.i64};
}

static span_of hull(span_of a, span_of b)
{
    return (span_of){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

static bool lies_in(span_of a, span_of b)
{
    return a.lo >= b.lo && a.hi <= b.hi;
}

/* A function that gives one of its arguments, or a truth; of truths, one again. */
static span_of of_call(const finder *f, const insn *in, int arity)
{
    const fn_info *fn = fn_at(in->arg[1]);
    const uint16_t *a = &in->arg[3];
    const span_of truth = values_of_type(STC_BOOL);
    if (in->arg[2] != CLASS_I64 && in->arg[2] != CLASS_U64) return anything;
    if (fn->typing == TY_COMPARE || fn->typing == TY_LOGIC || fn->typing == TY_TEST)
        return truth;
    if (fn->typing == TY_SELECT) return hull(f->holds[a[1]], f->holds[a[2]]);
    if (arity != 2 || !(fn->flags & FP_IDEMPOTENT)) return anything;
    const span_of both = hull(f->holds[a[0]], f->holds[a[1]]);
    return fn->typing == TY_NUMBER || lies_in(both, truth) ? both : anything;
}

static span_of of_constant(const constant *c)
{
    const bool fits = c->cls == CLASS_I64 || (c->cls == CLASS_U64 && c->v.i64 >= 0);
    return fits ? (span_of){c->v.i64, c->v.i64} : anything;
}

/* A load gives one element; it sums duplicates. */
static bool alone(const format *f)
{
    return !f->levels || format_props(f, f->levels - 1) & PROP_UNIQUE;
}

static span_of result_of(const finder *f, const insn *in)
{
    const uint16_t *a = in->arg;
    switch (in->op) {
    case OP_CONST:
        return of_constant(&f->p->konst[a[1]]);
    case OP_MOV:
        return f->holds[a[1]];
    case OP_LOAD:
        return alone(&f->p->tensor[a[1]].fmt) ? values_of_type(f->p->tensor[a[1]].type)
                                              : anything;
    case OP_WRAP:
        return values_of_type((stc_type)a[1]);
    case OP_FN2:
        return of_call(f, in, 2);
    case OP_FN3:
        return of_call(f, in, 3);
    default:
        return anything;
    }
}

static void anything_in(void *who, int reg)
{
    finder *f = who;
    if (reg < f->p->nv) f->holds[reg] = anything;
}

static void find_values(finder *f)
{
    bool more = true;
    for (int r = 0; r < f->p->nv; r++)
        f->holds[r] = (span_of){INT64_MAX, INT64_MIN}; /* nothing yet */
    for (int pass = 0; pass < PASSES && more; pass++) {
        more = false;
        for (int k = 0; k < f->mc->nmain; k++) {
            const insn *in = insn_of(f->mc, k);
            if (op_at(in->op)->operands[0] != 'V') {
                insn_each_write(f->p, in, anything_in, f);
                continue;
            }
            span_of *to = &f->holds[in->arg[0]];
            const span_of made = hull(*to, result_of(f, in));
            more |= !lies_in(made, *to);
            *to = made;
        }
    }
    for (int r = 0; r < f->p->nv && more; r++)
        f->holds[r] = anything;
}

span_of values_of(finder *f, int reg)
{
    if (!f->held) find_values(f);
    f->held = true;
    return f->holds[reg];
}

bool values_meet(int fn, span_of values, stc_type type)
{
    const span_of limits = values_of_type(type);
    if (type != STC_BOOL && (!type_is_integer(type) || type_size(type) == sizeof(int64_t)))
        return true;
    return lies_in(values, limits) || (type != STC_BOOL && fn_at(fn)->flags & FP_WRAPS);
}
