/* emit.c: instructions, registers, constants: the small change of lowering.
 *
 * A failure (no memory, no register left) is remembered in lo->status, and
 * what follows emits nothing, so that callers needn't test every step.
 */
#include "lower.h"

int lower_emit(lowering *lo, opcode op, int n, const int *args)
{
    uint16_t arg[7] = {0};
    for (int k = 0; k < n && k < 7; k++) {
        if (args[k] < 0 || args[k] > ROOT) {
            if (!lo->status)
                lo->status = fail(lo->p->cx, STC_ERR_PROGRAM,
                                  "the statement is too large for one program");
            return -1;
        }
        arg[k] = (uint16_t)args[k];
    }
    if (lo->status) return -1;
    int at = program_emit(lo->p, lo->at, op, arg, n);
    if (at < 0) lo->status = STC_ERR_MEMORY;
    return at;
}

static int reg(lowering *lo, int *next)
{
    if (*next >= ROOT) {
        if (!lo->status)
            lo->status = fail(lo->p->cx, STC_ERR_PROGRAM,
                              "the statement needs more than %d registers", ROOT);
        return 0;
    }
    return (*next)++;
}

int lower_ireg(lowering *lo)
{
    return reg(lo, &lo->ni);
}
int lower_vreg(lowering *lo)
{
    return reg(lo, &lo->nv);
}
int lower_mreg(lowering *lo)
{
    return reg(lo, &lo->nm);
}
int lower_creg(lowering *lo)
{
    return reg(lo, &lo->nc);
}

int lower_const(lowering *lo, vclass cls, value v)
{
    int k = program_const(lo->p, cls, v);
    if (k < 0 && !lo->status) lo->status = STC_ERR_MEMORY;
    return k < 0 ? 0 : k;
}

int lower_iconst(lowering *lo, int64_t k)
{
    return lower_const(lo, CLASS_I64, (value){.i64 = k});
}

int lower_zero(lowering *lo)
{
    int r = lower_ireg(lo);
    EMIT(lo, OP_ICONST, r, lower_iconst(lo, 0));
    return r;
}

int lower_affine(lowering *lo, const affine *f, int without, bool maybe_none)
{
    int left = 0, only = -1;
    lower_computed(lo, f);
    for (int t = 0; t < f->terms; t++)
        if (f->term[t].index != without) {
            left++;
            only = t;
        }
    if (left == 0 && f->constant == 0 && maybe_none) return ROOT;
    if (left == 1 && f->constant == 0 && f->term[only].coef == 1)
        return lo->index[f->term[only].index];
    int sum = lower_ireg(lo);
    EMIT(lo, OP_ICONST, sum, lower_iconst(lo, f->constant));
    for (int t = 0; t < f->terms; t++) {
        if (f->term[t].index == without) continue;
        int next = lower_ireg(lo);
        EMIT(lo, OP_IMULADD, next, lo->index[f->term[t].index],
             lower_iconst(lo, f->term[t].coef), sum);
        sum = next;
    }
    return sum;
}

int lower_extent_length(lowering *lo, int index)
{
    int length = plan_length(lo->pl, index);
    if (length < 0 && !lo->status) lo->status = STC_ERR_MEMORY;
    return length < 0 ? 0 : length;
}

int lower_rounds_of(lowering *lo, const bexpr *r)
{
    int all = ROOT;
    for (int k = 0; k < r->nindex; k++) {
        const int n = lower_vreg(lo), x = lower_vreg(lo);
        EMIT(lo, OP_EXTENT, n, lower_extent_length(lo, r->indices[k]));
        EMIT(lo, OP_CONV, x, CLASS_F64, CLASS_I64, n);
        if (k > 0) {
            const int both = lower_vreg(lo);
            EMIT(lo, OP_FN2, both, FN_MUL, CLASS_F64, all, x);
            all = both;
        } else {
            all = x;
        }
    }
    return all;
}
