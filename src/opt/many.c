/* many.c: statements that read more than a plan has room for.
 *
 * A sum of a hundred matrices, or any expression of so many operands, is cut where it reads
 * enough for one statement: the part becomes a step over its free indices, as if it had
 * been written so, whose fill and format are chosen like those of any statement without a
 * declared result. What is cut is evaluated wherever it differs from its fill, so it must
 * not fail, which opt_may() has seen to.
 */
#include "opt.h"

enum { MOST = 64, READS_OF_STEP = 32 }; /* a plan's; a step's, which leaves room */

bool same_access(const program *p, const bexpr *a, const bexpr *b)
{
    if (a->tensor != b->tensor || a->pad != b->pad) return false;
    for (int m = 0; m < p->tensor[a->tensor].order; m++)
        if (!affine_equal(&a->sub[m], &b->sub[m])) return false;
    return true;
}

/* Notes the accesses that differ, up to one more than a plan has room for. */
static int distinct(const program *p, const bexpr *e, const bexpr **seen, int n)
{
    int k = 0;
    if (e->kind == B_ACCESS) {
        while (k < n && !same_access(p, seen[k], e))
            k++;
        if (k == n && n <= MOST) seen[n++] = e;
    }
    for (k = 0; k < e->nargs && n <= MOST; k++)
        n = distinct(p, e->args[k], seen, n);
    return n;
}

bool many_needed(const program *p, const bstmt *s)
{
    const bexpr *seen[MOST + 1];
    return opt_accesses(s->value) > MOST && distinct(p, s->value, seen, 0) > MOST;
}

/* Whether e can be a tensor: over ranges from 0, and not too many. */
static bool can_be_step(const opt *o, const bexpr *e, uint64_t out)
{
    for (uint64_t set = out; set; set &= set - 1)
        if (o->s->index[__builtin_ctzll(set)].lo >= 0) return false;
    return e->nargs && __builtin_popcountll(out) <= STC_MAX_ORDER;
}

/* *at becomes a read of a step that computes it, its indices in the order of the left
 * side's, and then of their numbers. */
static stc_status cut(opt *o, bexpr **at, uint64_t out)
{
    int mode[64];
    bexpr *const e = *at;
    prog_tensor t = {.order = 0};
    t.type = e->type == STC_BOOL ? STC_BOOL : class_type(type_class(e->type));
    for (int k = 0; k < o->s->nsub; k++) {
        const affine *f = &o->s->sub[k];
        const uint64_t bit = f->terms ? UINT64_C(1) << f->term[0].index : 0;
        if (!(out & bit)) continue;
        out &= ~bit;
        mode[t.order++] = f->term[0].index;
    }
    for (; out; out &= out - 1)
        mode[t.order++] = __builtin_ctzll(out);
    for (int k = 0; k < t.order; k++)
        t.shape[k] = (uint16_t)o->s->index[mode[k]].hi;
    const int slot = step_slot(o, t);
    if (slot < 0) return o->p->cx->diag.status;
    bexpr *const read = step_read(o, slot, mode, e->at);
    opt_step *step = read ? step_add(o, slot, read->sub, e) : NULL;
    if (!step) return STC_ERR_MEMORY;
    e->type = t.type;
    step->s.format_given = step->s.fill_given = false;
    *at = read;
    return STC_OK;
}

/* Cuts below *at until it reads no more than a step may; *reads: how many that are. */
static stc_status cut_below(opt *o, bexpr **at, int *reads)
{
    bexpr *const e = *at;
    int below[8], all = e->kind == B_ACCESS;
    if (e->nargs > 8) {
        *reads = opt_accesses(e);
        return STC_OK;
    }
    for (int k = 0; k < e->nargs; k++) {
        const stc_status st = cut_below(o, &e->args[k], &below[k]);
        if (st) return st;
        all += below[k];
    }
    while (all > READS_OF_STEP) {
        int most = -1;
        for (int k = 0; k < e->nargs; k++)
            if (below[k] > 1 && (most < 0 || below[k] > below[most]) &&
                can_be_step(o, e->args[k], opt_indices(o->p, e->args[k])))
                most = k;
        if (most < 0) break;
        const uint64_t out = opt_indices(o->p, e->args[most]);
        const stc_status st = cut(o, &e->args[most], out);
        if (st) return st;
        all -= below[most] - 1;
        below[most] = 1;
    }
    *reads = all;
    return STC_OK;
}

stc_status opt_many(opt *o)
{
    int reads;
    bexpr *const own = copy_of(o, o->s->value);
    if (!own) return STC_ERR_MEMORY;
    o->s->value = own;
    return cut_below(o, &o->s->value, &reads);
}
