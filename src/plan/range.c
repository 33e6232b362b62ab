/* range.c: comparisons of indices as sets: `i == j`, `i <= j + 3`, `lab(j) == l`.
 *
 * Where the other indices are known, such a comparison leaves a range of one: a loop over
 * that one runs over the range alone, and stores nothing elsewhere. The index has to stand
 * by itself, or with other indices and constants added or taken off; what it is compared
 * with may be anything that can be computed ahead of the loop without failing.
 *
 * A reduction over a range that grows from round to round of a loop, as that of a running
 * sum, goes on where it was: its temporary is begun ahead of the loop.
 */
#include "build.h"

static const int64_t far = INT64_C(1) << 40; /* a constant that can be taken off safely */

/* Whether e can be computed ahead of where it is asked for. */
static bool is_plain(const bexpr *e)
{
    const bool kind = e->kind == B_CONST || e->kind == B_INDEX || e->kind == B_EXTENT ||
                      e->kind == B_CONV || e->kind == B_CALL ||
                      (e->kind == B_ACCESS && !e->waits && !e->nargs);
    if (!kind || expr_may_fault(e)) return false;
    for (int k = 0; k < e->nargs; k++)
        if (!is_plain(e->args[k])) return false;
    return true;
}

/* Indices and constants, added or taken off: no sum of them is beyond 64 bits. */
static bool is_near(const bexpr *e)
{
    if (e->kind == B_INDEX) return true;
    if (e->kind == B_CONST) return e->value.i64 > -far && e->value.i64 < far;
    return e->kind == B_CALL && e->nargs == 2 && e->cls == CLASS_I64 &&
           fn_inverse(e->fn, 0) >= 0 &&
           fn_at(fn_inverse(e->fn, 0))->classes >> CLASS_I64 & 1 && is_near(e->args[0]) &&
           is_near(e->args[1]);
}

static bool has(const bexpr *e, int index)
{
    if (e->kind == B_INDEX) return e->index == index;
    for (int k = 0; k < e->nargs; k++)
        if (has(e->args[k], index)) return true;
    return false;
}

/* Takes off `e`, in which the index is once and not taken off, all but the index;
 * *other: what that leaves of it. */
static bool alone(plan *pl, const bexpr *e, int index, bexpr **other)
{
    while (e->kind == B_CALL) {
        const int side = has(e->args[0], index) ? 0 : 1;
        bexpr *const rest = e->args[1 - side];
        const int fn = fn_inverse(e->fn, side);
        if (fn < 0 || !is_near(e) || has(rest, index) || !is_near(*other)) return false;
        *other = expr_call(pl->a, fn, STC_I64, CLASS_I64, *other, rest);
        if (!*other) return false;
        e = e->args[side];
    }
    return e->kind == B_INDEX;
}

int range_solve(plan *pl, const bexpr *e, int index, uint64_t bound, bexpr **other)
{
    const uint64_t known = plan_bound(pl, bound), bit = UINT64_C(1) << index;
    if (known & bit) return -1;
    for (int side = 0; side < 2; side++) {
        if (!has(e->args[side], index)) continue;
        *other = e->args[1 - side];
        if (expr_indices(pl, e) & ~(known | bit)) return -1;
        if (expr_indices(pl, *other) & bit || !alone(pl, e->args[side], index, other))
            return -1;
        return side ? fn_turned(e->fn) : e->fn;
    }
    return -1;
}

/* Like range_solve(), but it makes nothing. */
double range_part(plan *pl, const bexpr *e, int index, uint64_t bound)
{
    const uint64_t bit = UINT64_C(1) << index, all = expr_indices(pl, e);
    const bool here = has(e->args[0], index) != has(e->args[1], index);
    if (!here || all & ~(plan_bound(pl, bound) | bit)) return 1;
    return e->fn == FN_EQ ? 0.001 : 0.5;
}

bool range_is_short(const plan *pl, int index)
{
    enum { SHORT = 64 };
    const int64_t n = pl->known[index];
    return format_stores_all(&pl->p->tensor[pl->s->target].fmt) && n > 0 && n < SHORT;
}

const pset *pset_where_not(plan *pl, const bexpr *e)
{
    const int fn = e->kind == B_CALL && e->nargs == 2 ? fn_complement(e->fn) : -1;
    const bexpr *const not =
        fn < 0 ? NULL : expr_call(pl->a, fn, e->type, e->cls, e->args[0], e->args[1]);
    return not ? pset_where(pl, not ) : NULL;
}

const pset *pset_where(plan *pl, const bexpr *e)
{
    const bool compares = e->kind == B_CALL && e->nargs == 2 &&
                          (e->fn == FN_EQ || e->fn == FN_LT || e->fn == FN_LE ||
                           e->fn == FN_GT || e->fn == FN_GE);
    if (!compares || e->cls != CLASS_I64 || !is_plain(e)) return NULL;
    const bool left = is_near(e->args[0]) && expr_indices(pl, e->args[0]);
    const bool right = is_near(e->args[1]) && expr_indices(pl, e->args[1]);
    if (!left && !right) return NULL;
    pset *s = arena_alloc(pl->a, sizeof *s);
    if (!s) return NULL;
    *s = (pset){.op = PS_WHERE, .of = e};
    pl->compares = true;
    return s;
}

/* ---- running reductions ------------------------------------------------------------ */

/* Grows with the index, by at least as much. */
static bool grows(const bexpr *e, int index, bool minus)
{
    if (e->kind == B_INDEX) return e->index == index && !minus;
    if (e->kind != B_CALL) return false;
    const int side = has(e->args[0], index) ? 0 : 1;
    return !has(e->args[1 - side], index) &&
           grows(e->args[side], index, minus != (e->fn == FN_SUB && side));
}

bexpr *range_running(plan *pl, const bexpr *r, int index, const bexpr **until)
{
    const bexpr *const e = r->args[0];
    value id;
    if (r->nindex != 1 || r->asked || !expr_selects(e) || e->args[2]->kind != B_CONST ||
        !reduce_identity(r, &id) || !class_equal(r->cls, id, e->args[2]->value) ||
        expr_has(e, B_REDUCE))
        return NULL;
    bexpr *mask = e->args[0], *rest = NULL;
    if (mask->kind == B_CALL && mask->fn == FN_AND) {
        const int side = has(mask->args[0], index) ? 0 : 1;
        rest = mask->args[1 - side];
        mask = mask->args[side];
    }
    const bool ends = mask->kind == B_CALL && mask->fn == FN_LT && mask->cls == CLASS_I64 &&
                      mask->args[0]->kind == B_INDEX &&
                      mask->args[0]->index == r->indices[0] && is_near(mask->args[1]) &&
                      grows(mask->args[1], index, false);
    const uint64_t bit = UINT64_C(1) << index;
    if (!ends || (expr_indices(pl, e->args[1]) | (rest ? expr_indices(pl, rest) : 0)) & bit)
        return NULL;
    *until = mask;
    if (!rest) return e->args[1];
    bexpr *const some = expr_new(pl->a, B_CALL, e->type, e->at, 3);
    if (!some) return NULL;
    some->fn = FN_SELECT;
    some->cls = e->cls;
    some->args[0] = rest;
    some->args[1] = e->args[1];
    some->args[2] = e->args[2];
    return some;
}
